// SPDX-License-Identifier: MIT
//! Descriptor indexing, and descriptors that are null.

use ash::vk;

use super::scenario;
use crate::gpu::require;
use crate::model::{to_bytes, words};
use crate::scenario::Scenario;
use crate::scope::{Buffer, Kernel, Scope};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("indexing.non_uniform", non_uniform),
    scenario("indexing.update_after_bind", update_after_bind),
    scenario("indexing.variable_count", variable_count),
    scenario("indexing.partially_bound", partially_bound),
    scenario("indexing.null", null),
];

const STORAGE: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;
const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;
type Flags = vk::DescriptorBindingFlags;

/// Gathers: invocation i reads element i of buffer choice[i].
const GATHER: &str = "
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer Choice { uint choice[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(set = 0, binding = 2) buffer Source { uint values[]; } sources[];
void main() {
    uint i = gl_GlobalInvocationID.x;
    result[i] = sources[nonuniformEXT(choice[i])].values[i];
}
";

/// Most descriptors of the array.
const SOURCES: u32 = 1000;

struct Gather {
    kernel: Kernel,
    set: vk::DescriptorSet,
    choice: Buffer,
    result: Buffer,
    inputs: Vec<Vec<u32>>,
    buffers: Vec<Buffer>,
}

/// A set whose array has `count` descriptors, of which none is written yet.
unsafe fn gather(s: &Scope<'_>, flags: Flags, count: u32) -> anyhow::Result<Gather> {
    let features = &s.gpu.features;
    require(
        features.storage_buffer_array_non_uniform_indexing,
        "shaderStorageBufferArrayNonUniformIndexing",
    )?;
    require(features.runtime_descriptor_array, "runtimeDescriptorArray")?;
    let uab = flags.contains(Flags::UPDATE_AFTER_BIND);
    let (mut layout_flags, mut pool_flags) = (
        vk::DescriptorSetLayoutCreateFlags::empty(),
        vk::DescriptorPoolCreateFlags::empty(),
    );
    if uab {
        require(
            features.storage_buffer_update_after_bind,
            "descriptorBindingStorageBufferUpdateAfterBind",
        )?;
        layout_flags |= vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL;
        pool_flags |= vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND;
    }
    let variable = flags.contains(Flags::VARIABLE_DESCRIPTOR_COUNT);
    let declared = if variable { SOURCES } else { count };
    let set_layout = s.set_layout_with(
        &[(0, STORAGE, 1), (1, STORAGE, 1), (2, STORAGE, declared)],
        layout_flags,
        &[Flags::empty(), Flags::empty(), flags],
    )?;
    let layout = s.pipeline_layout(&[set_layout], 0)?;
    let kernel = Kernel {
        pipeline: s.pipeline(GATHER, layout)?,
        layout,
        set_layout,
    };
    let pool = s.pool(1, count + 2, pool_flags)?;
    let (layouts, counts) = ([set_layout], [count]);
    let mut variable_info =
        vk::DescriptorSetVariableDescriptorCountAllocateInfo::default().descriptor_counts(&counts);
    let mut info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(&layouts);
    if variable {
        info = info.push_next(&mut variable_info);
    }
    let set = s.device().allocate_descriptor_sets(&info)?[0];
    let (choice, result) = (s.buffer(512)?, s.buffer(512)?);
    s.write(set, 0, STORAGE, 0, &[choice.whole()]);
    s.write(set, 1, STORAGE, 0, &[result.whole()]);
    let inputs: Vec<Vec<u32>> = (0..8).map(|seed| words(80 + seed, 128)).collect();
    let mut buffers = Vec::new();
    for input in &inputs {
        buffers.push(s.buffer_of(input)?);
    }
    Ok(Gather {
        kernel,
        set,
        choice,
        result,
        inputs,
        buffers,
    })
}

impl Gather {
    /// Chooses for every invocation one of the elements, each of which has the buffer of its
    /// number modulo 8; what the result must be.
    fn choose(&self, elements: &[u32]) -> Vec<u8> {
        let random = words(90, 128);
        let choice: Vec<u32> = random
            .iter()
            .map(|r| elements[*r as usize % elements.len()])
            .collect();
        self.choice.write(0, &to_bytes(&choice));
        let value = |i: usize| self.inputs[choice[i] as usize % 8][i];
        to_bytes(&(0..128).map(value).collect::<Vec<u32>>())
    }

    unsafe fn write(&self, s: &Scope<'_>, element: u32) {
        let info = [self.buffers[element as usize % 8].whole()];
        s.write(self.set, 2, STORAGE, element, &info);
    }
}

unsafe fn non_uniform(s: &Scope<'_>) -> anyhow::Result<()> {
    let gather = gather(s, Flags::empty(), 8)?;
    for element in 0..8 {
        gather.write(s, element);
    }
    let expected = gather.choose(&[0, 1, 2, 3, 4, 5, 6, 7]);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    s.dispatch(commands, &gather.kernel, gather.set, 4);
    s.finish(commands)?;
    s.report.expect("result", gather.result.bytes(), &expected)
}

/// Descriptors written after the set was bound in a command buffer that is recorded already.
unsafe fn update_after_bind(s: &Scope<'_>) -> anyhow::Result<()> {
    let flags = Flags::UPDATE_AFTER_BIND | Flags::PARTIALLY_BOUND;
    require(
        s.gpu.features.partially_bound,
        "descriptorBindingPartiallyBound",
    )?;
    let gather = gather(s, flags, 64)?;
    let commands = s.commands(vk::CommandBufferUsageFlags::empty())?;
    s.dispatch(commands, &gather.kernel, gather.set, 4);
    s.barrier(commands);
    s.device().end_command_buffer(commands)?;
    for (round, elements) in [[1, 2, 33], [60, 61, 62], [7, 2, 60]].iter().enumerate() {
        for element in elements {
            gather.write(s, *element);
        }
        let expected = gather.choose(elements);
        s.submit(&[commands])?;
        let name = format!("round {round}");
        s.report.expect(&name, gather.result.bytes(), &expected)?;
    }
    Ok(())
}

unsafe fn variable_count(s: &Scope<'_>) -> anyhow::Result<()> {
    let features = &s.gpu.features;
    require(
        features.variable_descriptor_count,
        "descriptorBindingVariableDescriptorCount",
    )?;
    for count in [1_u32, 13, SOURCES] {
        let gather = gather(s, Flags::VARIABLE_DESCRIPTOR_COUNT, count)?;
        for element in 0..count {
            gather.write(s, element);
        }
        let elements: Vec<u32> = (0..count).collect();
        let expected = gather.choose(&elements);
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        s.dispatch(commands, &gather.kernel, gather.set, 4);
        s.finish(commands)?;
        let name = format!("{count} descriptors");
        s.report.expect(&name, gather.result.bytes(), &expected)?;
    }
    Ok(())
}

/// Most descriptors are never written.
unsafe fn partially_bound(s: &Scope<'_>) -> anyhow::Result<()> {
    require(
        s.gpu.features.partially_bound,
        "descriptorBindingPartiallyBound",
    )?;
    let gather = gather(s, Flags::PARTIALLY_BOUND, 100)?;
    let elements = [3, 50, 99];
    for element in elements {
        gather.write(s, element);
    }
    let expected = gather.choose(&elements);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    s.dispatch(commands, &gather.kernel, gather.set, 4);
    s.finish(commands)?;
    s.report.expect("result", gather.result.bytes(), &expected)
}

/// Null descriptors read as zero, have no length, and swallow writes.
unsafe fn null(s: &Scope<'_>) -> anyhow::Result<()> {
    require(s.gpu.features.null_descriptor, "nullDescriptor")?;
    let bindings = [
        (0, STORAGE, 1),
        (1, vk::DescriptorType::UNIFORM_BUFFER, 1),
        (2, STORAGE, 1),
        (3, vk::DescriptorType::STORAGE_BUFFER_DYNAMIC, 1),
    ];
    let layout = s.set_layout(&bindings, vk::DescriptorSetLayoutCreateFlags::empty())?;
    let pipeline_layout = s.pipeline_layout(&[layout], 0)?;
    let pipeline = s.pipeline(
        "
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) uniform B { uvec4 b[4]; };
layout(set = 0, binding = 2) buffer R { uint r[]; };
layout(set = 0, binding = 3) buffer C { uint c[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    a[i] = 5u;
    c[i * 1000u] = 6u;
    r[i] = a[i] + b[i & 3].x + uint(a.length()) + uint(c.length()) + c[i] + 7u;
}
",
        pipeline_layout,
    )?;
    let set = s.set(layout)?;
    let nothing = vk::DescriptorBufferInfo {
        buffer: vk::Buffer::null(),
        offset: 0,
        range: vk::WHOLE_SIZE,
    };
    let result = s.buffer(128)?;
    for (binding, ty, _) in bindings {
        let info = if binding == 2 {
            result.whole()
        } else {
            nothing
        };
        s.write(set, binding, ty, 0, &[info]);
    }
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let device = s.device();
    device.cmd_bind_pipeline(commands, COMPUTE, pipeline);
    device.cmd_bind_descriptor_sets(commands, COMPUTE, pipeline_layout, 0, &[set], &[0]);
    device.cmd_dispatch(commands, 1, 1, 1);
    s.finish(commands)?;
    s.report
        .expect("result", result.bytes(), &to_bytes(&[7; 32]))
}
