// SPDX-License-Identifier: MIT
//! VK_KHR_pipeline_executable_properties: what became of a pipeline's shaders. A compute pipeline
//! has one executable.

use std::ffi::{c_char, c_void};

use ash::vk;

use super::Pipeline;
use super::compile::describe;
use crate::entry;
use crate::object;

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
        let write = |to: &mut vk::PipelineExecutablePropertiesKHR<'_>, stage| {
            let (name, description) = match stage {
                vk::ShaderStageFlags::VERTEX => ("vertex", "Vertex shader"),
                vk::ShaderStageFlags::FRAGMENT => ("fragment", "Fragment shader"),
                _ => ("compute", "Compute shader"),
            };
            to.stages = stage;
            put(&mut to.name, name);
            put(&mut to.description, description);
            to.subgroup_size = 32;
        };
        // SAFETY: valid by the specification.
        unsafe {
            entry::enumerate_with(
                pipeline.executables().map(|e| e.0),
                count,
                properties,
                write,
            )
        }
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
        let pipeline = unsafe { object::get::<Pipeline>((*info).pipeline) };
        let write = |to: &mut Statistic<'_>, (name, description, value): (&str, &str, u64)| {
            put(&mut to.name, name);
            put(&mut to.description, description);
            to.format = vk::PipelineExecutableStatisticFormatKHR::UINT64;
            to.value = vk::PipelineExecutableStatisticValueKHR { u64: value };
        };
        // SAFETY: as above.
        let index = unsafe { (*info).executable_index } as usize;
        let Some((_, stats)) = pipeline.executables().nth(index) else {
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        let all = describe(stats).into_iter();
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
        let pipeline = unsafe { object::get::<Pipeline>((*info).pipeline) };
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
        // SAFETY: as above.
        unsafe { entry::enumerate_with(pipeline.texts(), count, representations, write)? };
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
