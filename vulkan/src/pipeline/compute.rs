// SPDX-License-Identifier: MIT
//! Compute pipelines.

use std::ffi::{CStr, c_void};
use std::sync::Arc;
use std::time::Instant;

use agx_compiler::Listing;
use agx_compiler::binary::{Pointer, Statistics};
use ash::vk;
use mesa_nir::{ComputeLowering, SpecConstant};

use super::Pipeline;
use super::cache::PipelineCache;
use super::compile::{compile, disassemble, is_wanted_anew, print};
use super::key::{Key, Source};
use super::store::Shader;
use super::{disk_cache, robustness};
use crate::debug::{self, Flags};
use crate::device::{self, Device};
use crate::entry;
use crate::error::VkResult;
use crate::host::{self, HostAllocator, HostVec};
use crate::object;
use crate::pipeline_layout::PipelineLayout;
use crate::program::Program;
use crate::shader_module::{ShaderModule, Spirv};

/// The only size of a subgroup.
const SUBGROUP_SIZE: u32 = 32;

/// A compute pipeline.
pub(crate) struct ComputePipeline {
    /// To launch its shader.
    pub(crate) program: Arc<Program>,
    /// Keeps it where equal ones find it.
    shader: Arc<Shader>,
    /// Texts of stages with their names, when the pipeline was made with
    /// `CAPTURE_INTERNAL_REPRESENTATIONS`.
    texts: HostVec<(&'static str, HostVec<u8>)>,
}

impl ComputePipeline {
    /// Statistics of its shader.
    pub(super) fn statistics(&self) -> &Statistics {
        &self.shader.stats
    }

    /// Texts of stages, with their names.
    pub(super) fn texts(&self) -> impl ExactSizeIterator<Item = (&'static str, &[u8])> {
        self.texts.iter().map(|(name, text)| (*name, &text[..]))
    }

    /// # Safety
    /// The structure is valid.
    unsafe fn new(
        device: &Device,
        host: HostAllocator,
        cache: Option<&PipelineCache>,
        info: &vk::ComputePipelineCreateInfo<'_>,
        flags: vk::PipelineCreateFlags,
        feedback: &mut Feedback,
    ) -> VkResult<ComputePipeline> {
        // SAFETY: the caller's promise.
        let (source, layout) = unsafe {
            let layout = object::get::<PipelineLayout>(info.layout);
            (source(device, info, flags, layout)?, layout)
        };
        let keeps_texts =
            flags.contains(vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR);
        let is_only_found =
            flags.contains(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED);
        let (shader, listing) =
            find_or_compile(device, cache, &source, keeps_texts, is_only_found, feedback)?;
        let reaches = |pointer: &Pointer| match pointer {
            Pointer::DescriptorSet(set) => usize::from(*set) < layout.sets.len(),
            _ => true,
        };
        if !shader.program.pointers.iter().all(reaches) {
            debug::error(&"a shader reaches a descriptor set that its layout does not have");
            return Err(vk::Result::ERROR_UNKNOWN);
        }
        let mut texts = host.vec();
        if let Some(listing) = listing {
            texts.try_reserve_exact(4).map_err(|_| host::OUT_OF_HOST)?;
            for (name, text) in listing {
                texts.push((name, host.copied(text.as_bytes())?));
            }
        }
        Ok(ComputePipeline {
            program: shader.program.clone(),
            shader,
            texts,
        })
    }
}

/// What VkPipelineCreationFeedback tells.
#[derive(Default)]
pub(super) struct Feedback {
    is_cache_hit: bool,
}

type Texts = [(&'static str, String); 4];

/// The shader of a source: one that is alive, one that some cache keeps, or a new one.
fn find_or_compile(
    device: &Device,
    cache: Option<&PipelineCache>,
    source: &Source<'_>,
    keeps_texts: bool,
    is_only_found: bool,
    feedback: &mut Feedback,
) -> VkResult<(Arc<Shader>, Option<Texts>)> {
    let key = source.key(device.chip);
    // Compiled anew also when it is known, because no cache keeps texts.
    if !keeps_texts
        && !is_wanted_anew()
        && let Some(shader) = find(device, cache, source, key, feedback)?
    {
        return Ok((shader, None));
    }
    // A stage that gives only a module's identifier has nothing to compile.
    if is_only_found || source.spirv.words.is_empty() {
        return Err(vk::Result::PIPELINE_COMPILE_REQUIRED);
    }
    let (made, listing) = compile(source, keeps_texts)?;
    print(source, &made);
    let shader = device.shaders.add(device, key, &made, None)?;
    if let Some(cache) = cache {
        // Without host memory for the cache there is still a pipeline.
        let _ = cache.insert(key, &shader.blob);
    }
    if let Some(disk) = disk_cache::user_cache() {
        disk.write(&key, &shader.blob);
    }
    let texts = listing.map(|listing| {
        let Listing {
            nir,
            ssa,
            registers,
        } = listing;
        [
            ("NIR", nir),
            ("SSA", ssa),
            ("Registers", registers),
            ("Assembly", disassemble(&made)),
        ]
    });
    Ok((shader, texts))
}

/// The shader of a key without compiling: nothing when no one has it.
fn find(
    device: &Device,
    cache: Option<&PipelineCache>,
    source: &Source<'_>,
    key: Key,
    feedback: &mut Feedback,
) -> VkResult<Option<Arc<Shader>>> {
    if debug::has(Flags::ASM | Flags::STATS) {
        // What is printed is not kept with shaders that are alive.
    } else if let Some(shader) = device.shaders.find(&key) {
        if let Some(cache) = cache {
            feedback.is_cache_hit = cache.has(&key);
            let _ = cache.insert(key, &shader.blob);
        }
        return Ok(Some(shader));
    }
    if let Some((found, blob)) = cache.and_then(|cache| cache.find(&key)) {
        feedback.is_cache_hit = true;
        print(source, &found);
        return Ok(Some(device.shaders.add(
            device,
            key,
            &found,
            Some(&blob),
        )?));
    }
    let Some((found, blob)) = disk_cache::user_cache().and_then(|disk| disk.find(&key)) else {
        return Ok(None);
    };
    print(source, &found);
    if let Some(cache) = cache {
        let _ = cache.insert(key, &blob);
    }
    Ok(Some(device.shaders.add(
        device,
        key,
        &found,
        Some(&blob),
    )?))
}

/// What a pipeline's shader is made from.
///
/// # Safety
/// The structure is valid for `'a`.
unsafe fn source<'a>(
    device: &Device,
    info: &vk::ComputePipelineCreateInfo<'a>,
    flags: vk::PipelineCreateFlags,
    layout: &PipelineLayout,
) -> VkResult<Source<'a>> {
    type Subgroup<'a> = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo<'a>;
    let stage = &info.stage;
    // SAFETY: the caller's promise.
    let (spirv, entry_point, constants, is_robust) = unsafe {
        if let Some(required) = entry::find::<Subgroup<'_>>(stage.p_next)
            && required.required_subgroup_size != SUBGROUP_SIZE
        {
            let size = required.required_subgroup_size;
            return refuse(&format_args!(
                "no subgroups of {size}, only of {SUBGROUP_SIZE}"
            ));
        }
        let Some(spirv) = spirv(stage) else {
            return refuse(&"no shader module, nor SPIR-V with the stage");
        };
        let constants = stage.p_specialization_info.as_ref();
        (
            spirv,
            CStr::from_ptr(stage.p_name),
            constants.map_or_else(Vec::new, |constants| self::constants(constants)),
            robustness::stage_is_robust(device, info.p_next, stage.p_next),
        )
    };
    let Ok(entry_point) = entry_point.to_str() else {
        return refuse(&format_args!("{entry_point:?} is not UTF-8"));
    };
    Ok(Source {
        spirv,
        entry_point,
        constants,
        lowering: ComputeLowering {
            bindings: layout.describe(),
            robust: is_robust,
            has_base_workgroup: flags.contains(vk::PipelineCreateFlags::DISPATCH_BASE),
            custom_border_colors: false,
        },
    })
}

fn refuse<T>(why: &dyn std::fmt::Display) -> VkResult<T> {
    debug::error(&format_args!("a compute pipeline: {why}"));
    Err(vk::Result::ERROR_UNKNOWN)
}

/// The SPIR-V of a stage: that of a module, or its own.
///
/// # Safety
/// The structure is valid for `'a`.
pub(super) unsafe fn spirv<'a>(stage: &vk::PipelineShaderStageCreateInfo<'a>) -> Option<Spirv<'a>> {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(module) = object::get_optional::<ShaderModule>(stage.module) {
            return Some(module.spirv());
        }
        if let Some(inline) = entry::find::<vk::ShaderModuleCreateInfo<'a>>(stage.p_next) {
            return Some(Spirv::of(inline));
        }
        let identifier =
            entry::find::<vk::PipelineShaderStageModuleIdentifierCreateInfoEXT<'a>>(stage.p_next)?;
        let bytes = entry::slice(identifier.p_identifier, identifier.identifier_size);
        Some(Spirv {
            words: &[],
            hash: blake3::Hash::from_bytes(bytes.try_into().ok()?),
        })
    }
}

/// The values that a structure gives to specialisation constants.
///
/// # Safety
/// The structure is valid.
pub(super) unsafe fn constants(info: &vk::SpecializationInfo<'_>) -> Vec<SpecConstant> {
    // SAFETY: the caller's promise.
    let (entries, data) = unsafe {
        let data: &[u8] = match info.data_size {
            0 => &[],
            size => std::slice::from_raw_parts(info.p_data.cast(), size),
        };
        let entries = entry::slice(info.p_map_entries, info.map_entry_count);
        (entries, data)
    };
    let one = |entry: &vk::SpecializationMapEntry| {
        let value = (entry.offset as usize)
            .checked_add(entry.size)
            .and_then(|end| data.get(entry.offset as usize..end))
            .filter(|value| matches!(value.len(), 1 | 2 | 4 | 8));
        let Some(value) = value else {
            debug::error(&format_args!(
                "specialisation constant {}: no {} bytes at {} of {}: ignored",
                entry.constant_id,
                entry.size,
                entry.offset,
                data.len()
            ));
            return None;
        };
        let mut bits = [0; 8];
        bits[..value.len()].copy_from_slice(value);
        Some(SpecConstant {
            id: entry.constant_id,
            bits: u64::from_le_bytes(bits),
        })
    };
    entries.iter().filter_map(one).collect()
}

/// The flags of a pipeline, in whichever structure they are.
///
/// # Safety
/// The chain is valid.
unsafe fn flags(own: vk::PipelineCreateFlags, chain: *const c_void) -> vk::PipelineCreateFlags {
    // SAFETY: the caller's promise.
    let more = unsafe { entry::find::<vk::PipelineCreateFlags2CreateInfoKHR<'_>>(chain) };
    // The lower half has the same flags.
    more.map_or(own, |more| {
        vk::PipelineCreateFlags::from_raw(more.flags.as_raw() as u32)
    })
}

/// Tells the application how a pipeline came about.
///
/// # Safety
/// The chain is valid.
unsafe fn give_feedback(chain: *const c_void, feedback: &Feedback, started: Instant) {
    type Info<'a> = vk::PipelineCreationFeedbackCreateInfo<'a>;
    // SAFETY: the caller's promise.
    let Some(to) = (unsafe { entry::find::<Info<'_>>(chain) }) else {
        return;
    };
    let mut flags = vk::PipelineCreationFeedbackFlags::VALID;
    if feedback.is_cache_hit {
        flags |= vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT;
    }
    let value = vk::PipelineCreationFeedback {
        flags,
        duration: u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX),
    };
    // SAFETY: the caller's promise: one for the pipeline, and an array for stages.
    unsafe {
        if let Some(pipeline) = to.p_pipeline_creation_feedback.as_mut() {
            *pipeline = value;
        }
        for stage in 0..to.pipeline_stage_creation_feedback_count {
            to.p_pipeline_stage_creation_feedbacks
                .add(stage as usize)
                .write(value);
        }
    }
}

/// The result of several pipelines: the first error, but errors before a compilation that was not
/// wanted.
fn first_error(earlier: VkResult, error: vk::Result) -> VkResult {
    match earlier {
        Err(earlier) if earlier != vk::Result::PIPELINE_COMPILE_REQUIRED => Err(earlier),
        _ => Err(error),
    }
}

/// Creates pipelines one after the other, with what all kinds of them have in common: `common` says the flags
/// and the chain of an info.
///
/// # Errors
/// As [`first_error`] says. Pipelines that were not made are null.
///
/// # Safety
/// There is room for as many pipelines as there are infos, whose chains are valid.
pub(super) unsafe fn create_each<Info>(
    host: HostAllocator,
    infos: &[Info],
    pipelines: *mut vk::Pipeline,
    common: impl Fn(&Info) -> (vk::PipelineCreateFlags, *const c_void),
    make: impl Fn(&Info, vk::PipelineCreateFlags, &mut Feedback) -> VkResult<Pipeline>,
) -> VkResult {
    let mut result = Ok(());
    for at in 0..infos.len() {
        // SAFETY: the caller's promise.
        unsafe { pipelines.add(at).write(vk::Pipeline::null()) };
    }
    for (at, info) in infos.iter().enumerate() {
        let started = Instant::now();
        let (own, chain) = common(info);
        // SAFETY: the caller's promise.
        let flags = unsafe { flags(own, chain) };
        let mut feedback = Feedback::default();
        let made = make(info, flags, &mut feedback);
        // SAFETY: as above.
        unsafe { give_feedback(chain, &feedback, started) };
        match made.and_then(|made| object::create(host, made)) {
            // SAFETY: as above.
            Ok(made) => unsafe { pipelines.add(at).write(made) },
            Err(error) => {
                result = first_error(result, error);
                if flags.contains(vk::PipelineCreateFlags::EARLY_RETURN_ON_FAILURE) {
                    break;
                }
            }
        }
    }
    result
}

/// vkCreateComputePipelines.
pub(crate) unsafe extern "system" fn create_compute_pipelines(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    entry::try_guard("vkCreateComputePipelines", || {
        // SAFETY: valid by the specification.
        unsafe {
            let device = object::get::<Device>(device);
            let cache = object::get_optional::<PipelineCache>(cache);
            let host = device.allocator(allocator);
            let infos = entry::slice(infos, count);
            let common = |info: &vk::ComputePipelineCreateInfo<'_>| (info.flags, info.p_next);
            create_each(host, infos, pipelines, common, |info, flags, feedback| {
                ComputePipeline::new(device, host, cache, info, flags, feedback)
                    .map(Pipeline::Compute)
            })
        }
    })
}

/// vkDestroyPipeline.
pub(crate) unsafe extern "system" fn destroy_pipeline(
    device: vk::Device,
    pipeline: vk::Pipeline,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe { device::destroy_object::<Pipeline>("vkDestroyPipeline", device, pipeline, allocator) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_every_size_are_read_and_others_ignored() {
        let data: Vec<u8> = (1..=16).collect();
        let entry = |constant_id, offset, size| vk::SpecializationMapEntry {
            constant_id,
            offset,
            size,
        };
        let entries = [
            entry(10, 0, 1),
            entry(11, 1, 2),
            entry(12, 4, 4),
            entry(13, 8, 8),
            entry(14, 9, 8),
            entry(15, 0, 3),
            entry(16, u32::MAX, 4),
            entry(17, 4, usize::MAX),
            entry(18, 16, 0),
        ];
        let info = vk::SpecializationInfo::default()
            .map_entries(&entries)
            .data(&data);
        // SAFETY: a valid structure.
        let read = unsafe { constants(&info) };
        let read: Vec<_> = read.iter().map(|read| (read.id, read.bits)).collect();
        assert_eq!(
            read,
            [
                (10, 0x01),
                (11, 0x0302),
                (12, 0x0807_0605),
                (13, 0x100f_0e0d_0c0b_0a09)
            ]
        );
    }
}
