// SPDX-License-Identifier: MIT
//! VK_KHR_pipeline_executable_properties: what became of a pipeline's shaders. Each stage is an
//! executable; of several views it is the first one's.

use std::ffi::{c_char, c_void};

use std::sync::Arc;

use ash::vk;

use super::Pipeline;
use super::compile::describe;
use super::find::Texts;
use super::store::Shader;
use crate::entry;
use crate::error::VkResult;
use crate::host::{HostAllocator, HostVec, OUT_OF_HOST};
use crate::object;

/// A stage of a pipeline.
pub(super) struct Executable {
    pub(super) stage: vk::ShaderStageFlags,
    pub(super) shader: Arc<Shader>,
    /// Texts of its compilation with their names, when the pipeline was made with
    /// `CAPTURE_INTERNAL_REPRESENTATIONS`.
    texts: HostVec<(&'static str, HostVec<u8>)>,
}

impl Executable {
    /// # Errors
    /// When the callbacks refuse memory.
    pub(super) fn new(
        host: HostAllocator,
        stage: vk::ShaderStageFlags,
        shader: Arc<Shader>,
        compiled: Option<Texts>,
    ) -> VkResult<Executable> {
        let mut texts = host.vec();
        if let Some(compiled) = compiled {
            texts
                .try_reserve_exact(compiled.len())
                .map_err(|_| OUT_OF_HOST)?;
            for (name, text) in compiled {
                texts.push((name, host.copied(text.as_bytes())?));
            }
        }
        Ok(Executable {
            stage,
            shader,
            texts,
        })
    }
}

/// The executable that a structure asks for.
///
/// # Errors
/// When there is none.
///
/// # Safety
/// The structure is valid for `'a`.
unsafe fn asked<'a>(info: *const vk::PipelineExecutableInfoKHR<'_>) -> VkResult<&'a Executable> {
    // SAFETY: the caller's promise.
    let (pipeline, index) = unsafe {
        let info = &*info;
        (
            object::get::<Pipeline>(info.pipeline),
            info.executable_index as usize,
        )
    };
    let executable = pipeline.executables().get(index);
    executable.ok_or(vk::Result::ERROR_UNKNOWN)
}

/// Writes text into a fixed array, cut off where it does not fit.
fn put(to: &mut [c_char; vk::MAX_DESCRIPTION_SIZE], text: &str) {
    to.fill(0);
    let most = to.len() - 1;
    for (to, byte) in to.iter_mut().zip(text.bytes().take(most)) {
        *to = byte as c_char;
    }
}

/// vkGetPipelineExecutablePropertiesKHR.
pub(crate) unsafe extern "system" fn get_pipeline_executable_properties(
    _device: vk::Device,
    info: *const vk::PipelineInfoKHR<'_>,
    count: *mut u32,
    properties: *mut vk::PipelineExecutablePropertiesKHR<'_>,
) -> vk::Result {
    entry::try_guard("vkGetPipelineExecutablePropertiesKHR", || {
        // SAFETY: valid by the specification.
        let pipeline = unsafe { object::get::<Pipeline>((*info).pipeline) };
        let write = |to: &mut vk::PipelineExecutablePropertiesKHR<'_>, executable: &Executable| {
            let (name, description) = match executable.stage {
                vk::ShaderStageFlags::VERTEX => ("vertex", "Vertex shader"),
                vk::ShaderStageFlags::FRAGMENT => ("fragment", "Fragment shader"),
                _ => ("compute", "Compute shader"),
            };
            to.stages = executable.stage;
            put(&mut to.name, name);
            put(&mut to.description, description);
            to.subgroup_size = 32;
        };
        let all = pipeline.executables().iter();
        // SAFETY: valid by the specification.
        unsafe { entry::enumerate_with(all, count, properties, write) }
    })
}

/// vkGetPipelineExecutableStatisticsKHR.
pub(crate) unsafe extern "system" fn get_pipeline_executable_statistics(
    _device: vk::Device,
    info: *const vk::PipelineExecutableInfoKHR<'_>,
    count: *mut u32,
    statistics: *mut vk::PipelineExecutableStatisticKHR<'_>,
) -> vk::Result {
    type Statistic<'a> = vk::PipelineExecutableStatisticKHR<'a>;
    entry::try_guard("vkGetPipelineExecutableStatisticsKHR", || {
        // SAFETY: valid by the specification.
        let executable = unsafe { asked(info)? };
        let write = |to: &mut Statistic<'_>, (name, description, value): (&str, &str, u64)| {
            put(&mut to.name, name);
            put(&mut to.description, description);
            to.format = vk::PipelineExecutableStatisticFormatKHR::UINT64;
            to.value = vk::PipelineExecutableStatisticValueKHR { u64: value };
        };
        let all = describe(&executable.shader.stats).into_iter();
        // SAFETY: as above.
        unsafe { entry::enumerate_with(all, count, statistics, write) }
    })
}

/// vkGetPipelineExecutableInternalRepresentationsKHR.
pub(crate) unsafe extern "system" fn get_pipeline_executable_internal_representations(
    _device: vk::Device,
    info: *const vk::PipelineExecutableInfoKHR<'_>,
    count: *mut u32,
    representations: *mut vk::PipelineExecutableInternalRepresentationKHR<'_>,
) -> vk::Result {
    type Representation<'a> = vk::PipelineExecutableInternalRepresentationKHR<'a>;
    entry::try_guard("vkGetPipelineExecutableInternalRepresentationsKHR", || {
        // SAFETY: valid by the specification.
        let executable = unsafe { asked(info)? };
        let is_cut = std::cell::Cell::new(false);
        let write = |to: &mut Representation<'_>, (name, text): (&str, &[u8])| {
            put(&mut to.name, name);
            put(
                &mut to.description,
                "Text of the shader at this stage of its compilation",
            );
            to.is_text = vk::TRUE;
            // SAFETY: null, or as many bytes as it says.
            is_cut.set(unsafe { put_text(to.p_data, &mut to.data_size, text) } || is_cut.get());
        };
        let texts = executable.texts.iter();
        let all = texts.map(|(name, text)| (*name, &text[..]));
        // SAFETY: as above.
        unsafe { entry::enumerate_with(all, count, representations, write)? };
        match is_cut.get() {
            true => Err(vk::Result::INCOMPLETE),
            false => Ok(()),
        }
    })
}

/// Gives a text and the NUL behind it, or its size; whether not all fitted.
///
/// # Safety
/// `data` is null or valid for `size` bytes.
unsafe fn put_text(data: *mut c_void, size: &mut usize, text: &[u8]) -> bool {
    let whole = text.len() + 1;
    if data.is_null() {
        *size = whole;
        return false;
    }
    let Some(most) = size.checked_sub(1) else {
        return true;
    };
    let length = most.min(text.len());
    let data = data.cast::<u8>();
    // SAFETY: at most size bytes; the caller's promise.
    unsafe {
        data.copy_from_nonoverlapping(text.as_ptr(), length);
        data.add(length).write(0);
    }
    *size = length + 1;
    length < text.len()
}
