// SPDX-License-Identifier: MIT
//! VkPipelineLayout: which sets a pipeline uses, and where their dynamic buffers are.

use ash::vk;

use crate::descriptor::{Layout, SetLayout};
use crate::device::{self, Device};
use crate::error::VkResult;
use crate::host::{self, HostVec};
use crate::object::{self, Object};
use crate::physical_device::limits::{PUSH_CONSTANT_BYTES, SETS};
use crate::shared::Shared;
use crate::{debug, entry};

/// A pipeline layout.
pub(crate) struct PipelineLayout {
    /// By number.
    pub(crate) sets: HostVec<Set>,
}

/// A set of a pipeline layout.
pub(crate) struct Set {
    /// Nothing where the application gave no layout.
    pub(crate) layout: Option<Shared<Layout>>,
    /// Where its dynamic buffers begin in the table of all of them.
    pub(crate) dynamic_start: u32,
}

impl Object for PipelineLayout {
    type Handle = vk::PipelineLayout;
}

impl PipelineLayout {
    /// # Safety
    /// The structure is valid.
    unsafe fn new(
        host: host::HostAllocator,
        info: &vk::PipelineLayoutCreateInfo<'_>,
    ) -> VkResult<PipelineLayout> {
        // SAFETY: the caller's promise.
        let (layouts, ranges) = unsafe {
            (
                entry::slice(info.p_set_layouts, info.set_layout_count),
                entry::slice(info.p_push_constant_ranges, info.push_constant_range_count),
            )
        };
        let end = ranges
            .iter()
            .map(|range| range.offset.saturating_add(range.size));
        let push_constant_bytes = end.max().unwrap_or(0);
        if info.set_layout_count > SETS || push_constant_bytes > PUSH_CONSTANT_BYTES {
            debug::error(&format_args!(
                "a pipeline layout with {} sets of at most {SETS} and {push_constant_bytes} \
                 bytes of push constants of at most {PUSH_CONSTANT_BYTES}",
                info.set_layout_count
            ));
            return Err(vk::Result::ERROR_UNKNOWN);
        }
        let mut sets = host.vec();
        sets.try_reserve_exact(layouts.len())
            .map_err(|_| host::OUT_OF_HOST)?;
        let mut dynamic_start = 0u32;
        for layout in layouts {
            // SAFETY: null or live by the specification.
            let layout = unsafe { object::get_optional::<SetLayout>(*layout) };
            sets.push(Set {
                layout: layout.map(|layout| layout.layout.clone()),
                dynamic_start,
            });
            dynamic_start += layout.map_or(0, |layout| layout.dynamic_count());
        }
        Ok(PipelineLayout { sets })
    }

    /// The layout of a set.
    pub(crate) fn set(&self, number: u32) -> Option<&Layout> {
        let set = self.sets.get(number as usize)?;
        set.layout.as_deref()
    }

    /// Where the compiler finds each binding.
    pub(crate) fn describe(&self) -> Vec<mesa_nir::BindingLayout> {
        let sets = self.sets.iter().zip(0..);
        sets.filter_map(|(set, number)| {
            let layout = set.layout.as_deref()?;
            Some(layout.describe(number, set.dynamic_start))
        })
        .flatten()
        .collect()
    }
}

/// vkCreatePipelineLayout.
pub(crate) unsafe extern "system" fn create_pipeline_layout(
    device: vk::Device,
    info: *const vk::PipelineLayoutCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    layout: *mut vk::PipelineLayout,
) -> vk::Result {
    entry::try_guard("vkCreatePipelineLayout", || {
        // SAFETY: valid by the specification.
        unsafe {
            let host = object::get::<Device>(device).allocator(allocator);
            *layout = object::create(host, PipelineLayout::new(host, &*info)?)?;
        }
        Ok(())
    })
}

/// vkDestroyPipelineLayout.
pub(crate) unsafe extern "system" fn destroy_pipeline_layout(
    device: vk::Device,
    layout: vk::PipelineLayout,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe {
        device::destroy_object::<PipelineLayout>(
            "vkDestroyPipelineLayout",
            device,
            layout,
            allocator,
        )
    };
}
