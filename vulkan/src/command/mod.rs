// SPDX-License-Identifier: MIT
//! VkCommandPool and VkCommandBuffer: recording into memory that the GPU reads as it is.
//!
//! ```text
//! pool      VkCommandPool: owns command buffers and the chunks none of them uses
//! buffer    VkCommandBuffer: begin, end, reset; the state that commands share
//! chunk     memory for what is recorded
//! stream    records, and where one segment ends and the next begins
//! segment   what a queue takes
//! binding_table  what the texture unit reads
//! bound     pipelines, descriptor sets, push constants: what dispatches use
//! dispatch  root records, launch programs, launches
//! transfer  copies and fills of buffers, by the driver's own shaders
//! image_transfer  copies and clears of images
//! query     timestamps and their results
//! order     barriers and events
//! execute   secondary command buffers
//! ```
//!
//! Every launch is followed by a full barrier, the only one that is proven to make writes visible
//! (launch, 8.5; HW): commands of a command buffer run one after the other, and Vulkan's barriers
//! ask for nothing more.

mod binding_table;
mod bound;
mod buffer;
mod chunk;
mod dispatch;
mod execute;
mod image_transfer;
mod order;
mod pool;
mod query;
mod segment;
mod stream;
mod transfer;

pub(crate) use self::binding_table::BoundSet;
pub(crate) use self::buffer::CommandBuffer;
pub(crate) use self::segment::{Segment, Stamp};

/// The entry points, for the table.
pub(crate) mod entries {
    pub(crate) use super::bound::*;
    pub(crate) use super::buffer::*;
    pub(crate) use super::dispatch::*;
    pub(crate) use super::execute::*;
    pub(crate) use super::image_transfer::*;
    pub(crate) use super::order::*;
    pub(crate) use super::pool::*;
    pub(crate) use super::query::*;
    pub(crate) use super::transfer::*;
}
