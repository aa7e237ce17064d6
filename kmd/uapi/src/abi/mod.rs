// SPDX-License-Identifier: MIT
//! The interface byte for byte: structures, flags, request numbers, constants.
//!
//! Field names are those of the kernel's headers. Size and offsets of every structure are stated
//! beside its fields, as the reference states them, and are checked at compile time; so is that no
//! structure has padding.

mod attachment;
mod command;
mod compute;
mod drm;
mod gem;
pub mod ioctl;
mod layout;
pub mod limits;
mod params;
mod queue;
mod render;
mod submit;
mod sync;
mod time;
mod timestamp;
mod vm;

pub use attachment::Attachment;
pub use command::{BARRIER_EARLIER_SUBMITS, BARRIER_NONE, CmdHeader, cmd_type};
pub use compute::CmdCompute;
pub use drm::{
    DmaBufAccess, DmaBufExportSyncFile, DmaBufImportSyncFile, DrmVersion, FdToHandleFlags,
    GemClose, HandleToFdFlags, PrimeFlags, PrimeHandle, SyncFenceInfo, SyncFileInfo, SyncobjArray,
    SyncobjCreate, SyncobjCreateFlags, SyncobjDestroy, SyncobjHandle, SyncobjQueryFlags,
    SyncobjTimelineArray, SyncobjTimelineWait, SyncobjTransfer, SyncobjWait, SyncobjWaitFlags,
};
pub use gem::{GemCreate, GemFlags, GemMmapOffset};
pub use layout::{Field, LAYOUTS, Layout};
pub use params::{Features, GetParams, ParamsGlobal};
pub use queue::{QueueCreate, QueueDestroy, priority};
pub use render::{BgEot, CmdRender, HelperProgram, RenderFlags, ZlsBuffer, ZlsControl};
pub use submit::SubmitArgs;
pub use sync::{SyncRecord, sync_type};
pub use time::GetTime;
pub use timestamp::{BindObjectFlags, GemBindObject, Timestamp, Timestamps, bind_object_op};
pub use vm::{BindFlags, GemBindOp, VmBind, VmCreate, VmDestroy};
