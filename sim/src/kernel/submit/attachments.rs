// SPDX-License-Identifier: MIT
//! Attachments (kernel-uapi, 11.6): hints, but validated ones.

use agx_uapi::Errno;
use agx_uapi::abi::Attachment;

use crate::memory::{Access, Mappings};

/// Each range must hold something and be writable everywhere.
pub(super) fn check(
    mut attachments: impl Iterator<Item = Attachment>,
    mappings: &Mappings,
) -> Result<(), Errno> {
    let covered = attachments.all(|attachment| {
        attachment.size != 0 && mappings.covers(attachment.pointer, attachment.size, Access::Write)
    });
    if covered { Ok(()) } else { Err(Errno::EINVAL) }
}
