// SPDX-License-Identifier: MIT
//! Fields and coverage of a compute command (kernel-uapi, 13).

use agx_uapi::abi::{CmdCompute, HelperProgram, limits};
use agx_uapi::{Chip, Errno};

use crate::memory::{Access, Mappings};

/// The checks of one command. Contents of memory, the stream's records among them, are not looked
/// at.
pub(super) fn check(command: &CmdCompute, chip: Chip, mappings: &Mappings) -> Result<(), Errno> {
    if command.flags != 0 || command.helper != HelperProgram::default() {
        return Err(chip.unsupported_field());
    }
    check_samplers(command.sampler_heap, command.sampler_count, mappings)?;
    let (base, end) = (command.cdm_ctrl_stream_base, command.cdm_ctrl_stream_end);
    let size = end
        .checked_sub(base)
        .filter(|&size| size >= 4)
        .ok_or(Errno::EINVAL)?;
    let aligned = (base | end).is_multiple_of(4);
    if !aligned || !mappings.covers(base, size, Access::Read) {
        return Err(Errno::EINVAL);
    }
    Ok(())
}

/// The sampler heap of a compute or render command.
pub(super) fn check_samplers(heap: u64, count: u32, mappings: &Mappings) -> Result<(), Errno> {
    let fits =
        count <= limits::MAX_SAMPLERS && (count == 0) == (heap == 0) && heap.is_multiple_of(8);
    if !fits || !mappings.covers(heap, u64::from(count) * 8, Access::Read) {
        return Err(Errno::EINVAL);
    }
    Ok(())
}
