// SPDX-License-Identifier: MIT
//! Descriptors: layouts of sets, pools, sets, and the ways to write them.
//!
//! A set is a piece of its pool's GPU memory. In it, each buffer has 16 bytes, `{u64 address, u32
//! size, u32 0}`, an inline uniform block its own bytes, and images, samplers and texel buffers what
//! [`image::descriptor`](crate::image::descriptor) says; shaders find them at offsets that the layout
//! fixes ([`BindingLayout`](mesa_nir::BindingLayout)). Writing a descriptor writes that memory at once.
//!
//! Dynamic buffers have no place in that memory, because their addresses are known when they are
//! bound. The set keeps them for the CPU, and binding puts them into a table with the offsets
//! applied.
//!
//! The texture unit reads records from tables of its own, one for a launch (isa-3, 2.9; HW), which are
//! gathered from the sets when a launch is recorded, or submitted where descriptors may be written until
//! then.

mod layout;
mod pool;
mod ranges;
mod set;
mod template;
#[cfg(test)]
mod tests;
mod write;

use crate::image::descriptor::{SAMPLER_SIZE, STORAGE_SIZE, TEXTURE_SIZE};

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
/// Bytes of the largest descriptor: of a combined image and sampler, or of a storage image.
pub(crate) const MAX_DESCRIPTOR: usize = STORAGE_SIZE;
const _: () = assert!(TEXTURE_SIZE + SAMPLER_SIZE <= MAX_DESCRIPTOR);
/// What the memory of a set and of an inline uniform block is aligned to.
pub(crate) const ALIGNMENT: u32 = 16;
/// Most bytes of a set's memory: what all descriptors that it may have need, and inline blocks.
pub(crate) const MAX_SET_BYTES: u32 = 1 << 28;
