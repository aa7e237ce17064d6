// SPDX-License-Identifier: MIT
//! A case's pipeline, its layout and its descriptor sets.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use ash::vk;

use super::images::{self, Images};
use super::instance::Instance;
use super::resources::Buffers;
use super::scope::Scope;
use crate::case::{BufferKind, Case};
use crate::corpus::module;

/// A compute pipeline.
pub(super) struct Pipeline {
    pub(super) handle: vk::Pipeline,
    pub(super) layout: vk::PipelineLayout,
    /// Layout of each set from 0 on.
    sets: Vec<vk::DescriptorSetLayout>,
    /// How long `vkCreateComputePipelines` took.
    pub(super) creation: Duration,
}

fn descriptor_type(kind: BufferKind) -> Option<vk::DescriptorType> {
    match kind {
        BufferKind::Uniform => Some(vk::DescriptorType::UNIFORM_BUFFER),
        BufferKind::Storage => Some(vk::DescriptorType::STORAGE_BUFFER),
        BufferKind::Address => None,
    }
}

/// A binding of a set: type, length of the array.
struct Binding {
    ty: vk::DescriptorType,
    length: u32,
}

fn bindings(case: &Case) -> BTreeMap<u32, BTreeMap<u32, Binding>> {
    let mut sets: BTreeMap<u32, BTreeMap<u32, Binding>> = BTreeMap::new();
    for buffer in &case.buffers {
        let Some(ty) = descriptor_type(buffer.kind) else {
            continue;
        };
        let set = sets.entry(buffer.set).or_default();
        let binding = set
            .entry(buffer.binding)
            .or_insert(Binding { ty, length: 0 });
        binding.length = binding.length.max(buffer.element.saturating_add(1));
    }
    for image in &case.images {
        let set = sets.entry(image.set).or_default();
        let ty = images::descriptor_type(image.kind);
        let binding = set
            .entry(image.binding)
            .or_insert(Binding { ty, length: 0 });
        binding.length = binding.length.max(image.element.saturating_add(1));
    }
    sets
}

impl Pipeline {
    pub(super) fn new(
        instance: &Instance,
        scope: &mut Scope<'_>,
        case: &Case,
    ) -> anyhow::Result<Pipeline> {
        case.check()?;
        let limits = instance.limits();
        let push_size = case.push_constants.len() as u32;
        ensure!(
            push_size <= limits.max_push_constants_size && push_size.is_multiple_of(4),
            "{push_size} bytes of push constants; whole words up to {} are allowed",
            limits.max_push_constants_size
        );
        let sets = set_layouts(instance, scope, case)?;
        let push = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
            .size(push_size)];
        let push = if push_size == 0 { &[][..] } else { &push };
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&sets)
            .push_constant_ranges(push);
        let layout = scope.pipeline_layout(&info)?;

        let info = vk::ShaderModuleCreateInfo::default().code(&case.spirv);
        let module = scope.shader_module(&info)?;
        let entry = std::ffi::CString::new(case.entry.as_str()).context("the entry point")?;
        let sizes = module::specialization_sizes(&case.spirv);
        let (mut entries, mut data) = (Vec::new(), Vec::new());
        for constant in &case.specialization {
            // One that the module does not have does nothing.
            let Some(size) = sizes.get(&constant.id) else {
                continue;
            };
            entries.push(vk::SpecializationMapEntry {
                constant_id: constant.id,
                offset: data.len() as u32,
                size: *size,
            });
            data.extend_from_slice(&constant.bits.to_le_bytes()[..*size]);
        }
        let specialization = vk::SpecializationInfo::default()
            .map_entries(&entries)
            .data(&data);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(&entry)
            .specialization_info(&specialization);
        let info = vk::ComputePipelineCreateInfo::default()
            .flags(vk::PipelineCreateFlags::DISPATCH_BASE)
            .stage(stage)
            .layout(layout);
        let device = scope.device();
        let start = Instant::now();
        let cache = vk::PipelineCache::null();
        // SAFETY: the layout and the module live in the scope; the module is valid SPIR-V: cases
        // are validated when they are made.
        let created = unsafe { device.create_compute_pipelines(cache, &[info], None) };
        let creation = start.elapsed();
        let handle = match created {
            Ok(pipelines) => pipelines[0],
            Err((pipelines, error)) => {
                for pipeline in pipelines {
                    scope.own_pipeline(pipeline);
                }
                return Err(error).context("vkCreateComputePipelines");
            }
        };
        scope.own_pipeline(handle);
        Ok(Pipeline {
            handle,
            layout,
            sets,
            creation,
        })
    }

    /// The sets from 0 on, with the case's buffers in them.
    pub(super) fn descriptor_sets(
        &self,
        scope: &mut Scope<'_>,
        case: &Case,
        buffers: &Buffers,
        images: &Images,
    ) -> anyhow::Result<Vec<vk::DescriptorSet>> {
        if self.sets.is_empty() {
            return Ok(Vec::new());
        }
        let described = bindings(case);
        let mut counts: BTreeMap<vk::DescriptorType, u32> = BTreeMap::new();
        for binding in described.values().flat_map(BTreeMap::values) {
            *counts.entry(binding.ty).or_default() += binding.length;
        }
        let sizes: Vec<_> = counts
            .into_iter()
            .map(|(ty, count)| {
                vk::DescriptorPoolSize::default()
                    .ty(ty)
                    .descriptor_count(count)
            })
            .collect();
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(self.sets.len() as u32)
            .pool_sizes(&sizes);
        let pool = scope.descriptor_pool(&info)?;
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(pool)
            .set_layouts(&self.sets);
        let device = scope.device();
        // SAFETY: pool and layouts live in the scope; the sets go with the pool.
        let sets = unsafe { device.allocate_descriptor_sets(&info) }?;
        // SAFETY: the set's layout was made from the same case; nothing uses the set yet.
        let write = |set: u32, binding: u32, element: u32, ty, buffer, size| unsafe {
            let info = [vk::DescriptorBufferInfo::default()
                .buffer(buffer)
                .range(size)];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(sets[set as usize])
                .dst_binding(binding)
                .dst_array_element(element)
                .descriptor_type(ty)
                .buffer_info(&info);
            device.update_descriptor_sets(&[write], &[]);
        };
        for (set, bindings) in &described {
            let is_buffer = |binding: &&Binding| {
                matches!(
                    binding.ty,
                    vk::DescriptorType::STORAGE_BUFFER | vk::DescriptorType::UNIFORM_BUFFER
                )
            };
            for (number, binding) in bindings.iter().filter(|(_, binding)| is_buffer(binding)) {
                for element in 0..binding.length {
                    write(
                        *set,
                        *number,
                        element,
                        binding.ty,
                        buffers.spare(),
                        vk::WHOLE_SIZE,
                    );
                }
            }
        }
        for (index, buffer) in case.buffers.iter().enumerate() {
            let (handle, size) = (buffers.handle(index), buffer.bytes.len() as u64);
            if let Some(ty) = descriptor_type(buffer.kind) {
                write(buffer.set, buffer.binding, buffer.element, ty, handle, size);
            }
        }
        images.write(device, case, &sets);
        Ok(sets)
    }
}

fn set_layouts(
    instance: &Instance,
    scope: &mut Scope<'_>,
    case: &Case,
) -> anyhow::Result<Vec<vk::DescriptorSetLayout>> {
    let described = bindings(case);
    let Some(last) = described.keys().next_back() else {
        return Ok(Vec::new());
    };
    let limit = instance.limits().max_bound_descriptor_sets;
    ensure!(*last < limit, "set {last}: there are {limit} sets");
    let none = BTreeMap::new();
    let mut layouts = Vec::new();
    for set in 0..=*last {
        let list: Vec<_> = described
            .get(&set)
            .unwrap_or(&none)
            .iter()
            .map(|(number, binding)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(*number)
                    .descriptor_type(binding.ty)
                    .descriptor_count(binding.length)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&list);
        layouts.push(scope.set_layout(&info)?);
    }
    Ok(layouts)
}
