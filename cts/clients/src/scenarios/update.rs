// SPDX-License-Identifier: MIT
//! Descriptors written by other means than `vkUpdateDescriptorSets`: templates, pushes, inline data.

use ash::vk;

use super::{COMBINE, combined, scenario};
use crate::gpu::require;
use crate::model::{to_bytes, words};
use crate::scenario::Scenario;
use crate::scope::{Buffer, Kernel, Scope};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("update.template", template),
    scenario("update.push", push),
    scenario("update.push_template", push_template),
    scenario("update.inline_uniform", inline_uniform),
    scenario("update.inline_template", inline_template),
];

const STORAGE: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;
const INLINE: vk::DescriptorType = vk::DescriptorType::INLINE_UNIFORM_BLOCK;
const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;

/// What applications hand to templates: descriptors among other things, at a stride of their own.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Record {
    before: u64,
    info: vk::DescriptorBufferInfo,
    after: u32,
}

fn entry(
    binding: u32,
    ty: vk::DescriptorType,
    count: u32,
    offset: usize,
) -> vk::DescriptorUpdateTemplateEntry {
    vk::DescriptorUpdateTemplateEntry {
        dst_binding: binding,
        dst_array_element: 0,
        descriptor_count: count,
        descriptor_type: ty,
        offset,
        stride: size_of::<Record>(),
    }
}

fn records(buffers: &[Buffer]) -> Vec<Record> {
    let record = |buffer: &Buffer| Record {
        before: u64::MAX,
        info: buffer.whole(),
        after: u32::MAX,
    };
    buffers.iter().map(record).collect()
}

unsafe fn combine_buffers(s: &Scope<'_>, seed: u32) -> anyhow::Result<([Buffer; 3], Vec<u8>)> {
    let (a, b) = (words(seed, 64), words(seed + 1, 64));
    let buffers = [s.buffer_of(&a)?, s.buffer_of(&b)?, s.buffer(256)?];
    Ok((buffers, to_bytes(&combined(&a, &b))))
}

unsafe fn template(s: &Scope<'_>) -> anyhow::Result<()> {
    let (buffers, expected) = combine_buffers(s, 40)?;
    let kernel = s.kernel(COMBINE, 3, 0)?;
    let at = std::mem::offset_of!(Record, info);
    let entries: Vec<_> = (0..3)
        .map(|i| entry(i, STORAGE, 1, at + i as usize * size_of::<Record>()))
        .collect();
    let info = vk::DescriptorUpdateTemplateCreateInfo::default()
        .descriptor_update_entries(&entries)
        .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
        .descriptor_set_layout(kernel.set_layout);
    let template = s.device().create_descriptor_update_template(&info, None)?;
    s.at_end(move |device| device.destroy_descriptor_update_template(template, None));
    let set = s.set(kernel.set_layout)?;
    let records = records(&buffers);
    s.device()
        .update_descriptor_set_with_template(set, template, records.as_ptr().cast());
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    s.dispatch(commands, &kernel, set, 2);
    s.finish(commands)?;
    s.report.expect("c", buffers[2].bytes(), &expected)
}

/// COMBINE with pushed descriptors.
unsafe fn push_kernel(s: &Scope<'_>) -> anyhow::Result<Kernel> {
    s.gpu.needs(ash::khr::push_descriptor::NAME)?;
    let set_layout = s.set_layout(
        &[(0, STORAGE, 1), (1, STORAGE, 1), (2, STORAGE, 1)],
        vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR,
    )?;
    let layout = s.pipeline_layout(&[set_layout], 0)?;
    Ok(Kernel {
        pipeline: s.pipeline(COMBINE, layout)?,
        layout,
        set_layout,
    })
}

/// Pushes that replace some of the descriptors between dispatches of one command buffer.
unsafe fn push(s: &Scope<'_>) -> anyhow::Result<()> {
    let kernel = push_kernel(s)?;
    let push = ash::khr::push_descriptor::Device::new(&s.gpu.instance, s.device());
    let inputs: Vec<Vec<u32>> = (0..6).map(|seed| words(50 + seed, 64)).collect();
    let mut sources = Vec::new();
    for input in &inputs {
        sources.push(s.buffer_of(input)?);
    }
    let results = [s.buffer(256)?, s.buffer(256)?, s.buffer(256)?];
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    s.device()
        .cmd_bind_pipeline(commands, COMPUTE, kernel.pipeline);
    let write = |binding: u32, buffer: &Buffer| {
        let info = [buffer.whole()];
        let write = vk::WriteDescriptorSet::default()
            .dst_binding(binding)
            .descriptor_type(STORAGE)
            .buffer_info(&info);
        push.cmd_push_descriptor_set(commands, COMPUTE, kernel.layout, 0, &[write]);
    };
    write(0, &sources[0]);
    for (round, result) in results.iter().enumerate() {
        // Binding 0 stays in the second round.
        if round == 2 {
            write(0, &sources[4]);
        }
        write(1, &sources[2 * round + 1]);
        write(2, result);
        s.device().cmd_dispatch(commands, 2, 1, 1);
    }
    s.finish(commands)?;
    for (round, result) in results.iter().enumerate() {
        let a = &inputs[if round == 2 { 4 } else { 0 }];
        let expected = combined(a, &inputs[2 * round + 1]);
        let name = format!("round {round}");
        s.report
            .expect(&name, result.bytes(), &to_bytes(&expected))?;
    }
    Ok(())
}

unsafe fn push_template(s: &Scope<'_>) -> anyhow::Result<()> {
    let kernel = push_kernel(s)?;
    let push = ash::khr::push_descriptor::Device::new(&s.gpu.instance, s.device());
    let (buffers, expected) = combine_buffers(s, 60)?;
    let at = std::mem::offset_of!(Record, info);
    let entries: Vec<_> = (0..3)
        .map(|i| entry(i, STORAGE, 1, at + i as usize * size_of::<Record>()))
        .collect();
    let info = vk::DescriptorUpdateTemplateCreateInfo::default()
        .descriptor_update_entries(&entries)
        .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
        .pipeline_bind_point(COMPUTE)
        .pipeline_layout(kernel.layout)
        .set(0);
    let template = s.device().create_descriptor_update_template(&info, None)?;
    s.at_end(move |device| device.destroy_descriptor_update_template(template, None));
    let records = records(&buffers);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    s.device()
        .cmd_bind_pipeline(commands, COMPUTE, kernel.pipeline);
    push.cmd_push_descriptor_set_with_template(
        commands,
        template,
        kernel.layout,
        0,
        records.as_ptr().cast(),
    );
    s.device().cmd_dispatch(commands, 2, 1, 1);
    s.finish(commands)?;
    s.report.expect("c", buffers[2].bytes(), &expected)
}

/// An inline uniform block between two buffers, and a set of it in a pool that has room for it.
unsafe fn inline_set(s: &Scope<'_>) -> anyhow::Result<(Kernel, vk::DescriptorSet)> {
    require(s.gpu.features.inline_uniform_block, "inlineUniformBlock")?;
    let set_layout = s.set_layout(
        &[
            (0, STORAGE, 1),
            (1, INLINE, 192),
            (2, INLINE, 16),
            (5, STORAGE, 1),
        ],
        vk::DescriptorSetLayoutCreateFlags::empty(),
    )?;
    let layout = s.pipeline_layout(&[set_layout], 0)?;
    let pipeline = s.pipeline(
        "
layout(local_size_x = 48) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1, std140) uniform B { uvec4 b[12]; };
layout(set = 0, binding = 2, std140) uniform C { uint c, d; };
layout(set = 0, binding = 5) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    r[i] = a[i] + b[i / 4][i & 3] * c + d;
}
",
        layout,
    )?;
    let sizes = [
        vk::DescriptorPoolSize {
            ty: STORAGE,
            descriptor_count: 2,
        },
        vk::DescriptorPoolSize {
            ty: INLINE,
            descriptor_count: 208,
        },
    ];
    let mut blocks = vk::DescriptorPoolInlineUniformBlockCreateInfo::default()
        .max_inline_uniform_block_bindings(2);
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(1)
        .pool_sizes(&sizes)
        .push_next(&mut blocks);
    let pool = s.device().create_descriptor_pool(&info, None)?;
    s.at_end(move |device| device.destroy_descriptor_pool(pool, None));
    let layouts = [set_layout];
    let info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(&layouts);
    let set = s.device().allocate_descriptor_sets(&info)?[0];
    let kernel = Kernel {
        pipeline,
        layout,
        set_layout,
    };
    Ok((kernel, set))
}

fn inline_expected(a: &[u32], b: &[u32], c: u32, d: u32) -> Vec<u8> {
    let value = |i: usize| a[i].wrapping_add(b[i].wrapping_mul(c)).wrapping_add(d);
    to_bytes(&(0..48).map(value).collect::<Vec<u32>>())
}

/// Blocks written whole and in parts.
unsafe fn inline_uniform(s: &Scope<'_>) -> anyhow::Result<()> {
    let (kernel, set) = inline_set(s)?;
    let (a, b, c) = (words(70, 48), words(71, 48), words(72, 4));
    let (source, result) = (s.buffer_of(&a)?, s.buffer(192)?);
    s.write(set, 0, STORAGE, 0, &[source.whole()]);
    s.write(set, 5, STORAGE, 0, &[result.whole()]);
    let write = |binding: u32, offset: u32, data: &[u8]| {
        let mut block = vk::WriteDescriptorSetInlineUniformBlock::default().data(data);
        let mut write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(binding)
            .dst_array_element(offset)
            .descriptor_type(INLINE)
            .push_next(&mut block);
        write.descriptor_count = data.len() as u32;
        s.device().update_descriptor_sets(&[write], &[]);
    };
    let block = to_bytes(&b);
    write(1, 0, &[0xff; 192]);
    write(1, 64, &block[64..]);
    write(1, 0, &block[..64]);
    write(2, 0, &to_bytes(&c));
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    s.dispatch(commands, &kernel, set, 1);
    s.finish(commands)?;
    let expected = inline_expected(&a, &b, c[0], c[1]);
    s.report.expect("result", result.bytes(), &expected)
}

/// Blocks written by a template, together with buffers.
unsafe fn inline_template(s: &Scope<'_>) -> anyhow::Result<()> {
    #[repr(C)]
    struct Data {
        source: vk::DescriptorBufferInfo,
        blocks: [u32; 52],
        result: vk::DescriptorBufferInfo,
    }
    let (kernel, set) = inline_set(s)?;
    let (a, b, c) = (words(73, 48), words(74, 48), words(75, 4));
    let (source, result) = (s.buffer_of(&a)?, s.buffer(192)?);
    let mut data = Data {
        source: source.whole(),
        blocks: [0; 52],
        result: result.whole(),
    };
    data.blocks[..48].copy_from_slice(&b);
    data.blocks[48..].copy_from_slice(&c);
    let blocks = std::mem::offset_of!(Data, blocks);
    let entries = [
        entry(0, STORAGE, 1, std::mem::offset_of!(Data, source)),
        entry(1, INLINE, 192, blocks),
        entry(2, INLINE, 16, blocks + 192),
        entry(5, STORAGE, 1, std::mem::offset_of!(Data, result)),
    ];
    let info = vk::DescriptorUpdateTemplateCreateInfo::default()
        .descriptor_update_entries(&entries)
        .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
        .descriptor_set_layout(kernel.set_layout);
    let template = s.device().create_descriptor_update_template(&info, None)?;
    s.at_end(move |device| device.destroy_descriptor_update_template(template, None));
    s.device()
        .update_descriptor_set_with_template(set, template, (&raw const data).cast());
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    s.dispatch(commands, &kernel, set, 1);
    s.finish(commands)?;
    let expected = inline_expected(&a, &b, c[0], c[1]);
    s.report.expect("result", result.bytes(), &expected)
}
