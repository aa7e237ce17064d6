// SPDX-License-Identifier: MIT
//! Descriptors: layouts of sets, pools, sets, and the ways to write them.
//!
//! A set is a piece of its pool's GPU memory. In it, each buffer has 16 bytes, `{u64 address, u32
//! size, u32 0}`, and an inline uniform block its own bytes; shaders find them at offsets that the
//! layout fixes ([`BindingLayout`](mesa_nir::BindingLayout)). Writing a descriptor writes that
//! memory at once: there is nothing to do when a set is bound or when it changes afterwards.
//!
//! Dynamic buffers have no place in that memory, because their addresses are known when they are
//! bound. The set keeps them for the CPU, and binding puts them into a table with the offsets
//! applied.
//!
//! Images, samplers and texel buffers do not exist yet, so no descriptor of them can be written and
//! no shader that uses one compiles. Layouts and pools with such descriptors are accepted all the
//! same, and give them no memory: every implementation must accept layouts within limits that are
//! at least 16 images and samplers (Vulkan 1.3, 33.2 "Required Limits", and
//! vkGetDescriptorSetLayoutSupport), creation has no error for "not supported", and applications
//! make one layout or pool for everything and use only parts of it.

mod layout;
mod pool;
mod ranges;
mod set;
mod template;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use self::layout::{
    Layout, SetLayout, create_descriptor_set_layout, destroy_descriptor_set_layout,
    get_descriptor_set_layout_support,
};
pub(crate) use self::pool::{
    allocate_descriptor_sets, create_descriptor_pool, destroy_descriptor_pool,
    free_descriptor_sets, reset_descriptor_pool,
};
pub(crate) use self::set::{
    DescriptorSet, update_descriptor_set_with_template, update_descriptor_sets,
};
pub(crate) use self::template::{
    UpdateTemplate, create_descriptor_update_template, destroy_descriptor_update_template,
};
pub(crate) use self::write::DynamicBuffer;

/// Bytes of a buffer descriptor.
pub(crate) const DESCRIPTOR_SIZE: u32 = 16;
/// What the memory of a set and of an inline uniform block is aligned to.
pub(crate) const ALIGNMENT: u32 = 16;
/// Most bytes of a set's memory: what all descriptors that it may have need, and inline blocks.
pub(crate) const MAX_SET_BYTES: u32 = 1 << 28;
