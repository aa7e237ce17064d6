// SPDX-License-Identifier: MIT
//! The seam between the kernel model and the GPU model.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agx_uapi::abi::CmdRender;

use crate::fault::{Fault, FaultKind};
use crate::memory::Mappings;

/// One accepted compute command (kernel-uapi, 13).
#[derive(Clone, Debug)]
pub struct ComputeCommand {
    /// First record of the CDM stream.
    pub stream: u64,
    /// Address past the terminator of the first contiguous segment.
    pub stream_end: u64,
    /// The mappings of the compute root at the time of submission.
    pub mappings: Arc<Mappings>,
}

/// One accepted render command (kernel-uapi, 12).
#[derive(Clone, Debug)]
pub struct RenderCommand {
    /// What the caller supplied, checked by the kernel.
    pub render: CmdRender,
    /// The mappings of the render context at the time of submission.
    pub mappings: Arc<Mappings>,
}

/// Executes commands, on the calling thread, helped by threads of its own.
pub trait Processor: Send + Sync {
    /// Runs one compute command to its end. `cancel` becomes true when the device is lost meanwhile;
    /// the processor then stops as soon as it can and returns whatever it likes.
    ///
    /// # Errors
    /// What went wrong. The kernel model turns that into the loss of the device.
    fn compute(&self, command: &ComputeCommand, cancel: &AtomicBool) -> Result<(), Box<Fault>>;

    /// Runs one render command to its end, and calls `tiled` once between its vertex work and its
    /// fragment work; `cancel` as for [`Processor::compute`].
    ///
    /// # Errors
    /// As there. A processor that renders nothing says so.
    fn render(
        &self,
        command: &RenderCommand,
        cancel: &AtomicBool,
        tiled: &mut dyn FnMut(),
    ) -> Result<(), Box<Fault>> {
        let _ = (command, cancel, tiled);
        let reason = "this processor does not render".to_owned();
        Err(Box::new(Fault::new(FaultKind::Pass(reason))))
    }
}
