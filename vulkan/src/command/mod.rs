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
//! root      root records and launch programs of graphics stages
//! render    render passes, from their beginning to their command
//! draw      draws: what stands in front of them, and they themselves
//! launchers  launch programs of draws, kept while they hold
//! fixed_state  records of fixed-function state, kept while they hold
//! changes   when what these depend on changed
//! multi_draw  several draws of one command
//! draw_count  indirect draws whose number lies in memory
//! dynamic   what commands set of it, vertex and index buffers
//! dispatch  root records, launch programs, launches
//! transfer  copies and fills of buffers, by the driver's own shaders
//! image_transfer  copies and clears of images
//! blit      scaled copies of images
//! resolve   one sample of several
//! query     timestamps and their results
//! render_pass  which instances of rendering begin and end
//! order     barriers and events
//! execute   secondary command buffers
//! replay    those of them that are inside of a render pass
//! ```
//!
//! Every launch is followed by a full barrier, the only one that is proven to make writes visible
//! (launch, 8.5; HW): commands of a command buffer run one after the other, and Vulkan's barriers
//! ask for nothing more.

mod binding_table;
mod blit;
mod bound;
mod buffer;
mod changes;
mod chunk;
mod clear;
mod dispatch;
mod draw;
mod draw_count;
mod dynamic;
mod execute;
mod fixed_state;
mod image_transfer;
mod launchers;
mod multi_draw;
mod order;
mod pool;
mod query;
mod render;
mod render_pass;
mod replay;
mod resolve;
mod root;
mod segment;
mod stream;
mod transfer;

pub(crate) use self::binding_table::BoundSet;
pub(crate) use self::buffer::CommandBuffer;
pub(crate) use self::render::TileProgram;
pub(crate) use self::segment::{Segment, Stamp, Work};

/// The entry points, for the table.
pub(crate) mod entries {
    pub(crate) use super::blit::*;
    pub(crate) use super::bound::*;
    pub(crate) use super::buffer::*;
    pub(crate) use super::clear::*;
    pub(crate) use super::dispatch::*;
    pub(crate) use super::draw::{
        cmd_draw, cmd_draw_indexed, cmd_draw_indexed_indirect, cmd_draw_indirect,
    };
    pub(crate) use super::draw_count::{cmd_draw_indexed_indirect_count, cmd_draw_indirect_count};
    pub(crate) use super::dynamic::*;
    pub(crate) use super::execute::*;
    pub(crate) use super::image_transfer::*;
    pub(crate) use super::multi_draw::{cmd_draw_multi, cmd_draw_multi_indexed};
    pub(crate) use super::order::*;
    pub(crate) use super::pool::*;
    pub(crate) use super::query::*;
    pub(crate) use super::render_pass::*;
    pub(crate) use super::resolve::*;
    pub(crate) use super::transfer::*;
}
