// SPDX-License-Identifier: MIT
//! Copies and fills of buffers, by shaders of the driver.

use arrayvec::ArrayVec;
use ash::vk;

use super::buffer::{CommandBuffer, record};
use super::chunk::Use;
use crate::buffer::Buffer;
use crate::entry;
use crate::error::VkResult;
use crate::internal::{Kind, WORKGROUP};
use crate::object;

/// Workgroups in a row of the grid, at most; longer jobs have more rows.
const ROW: u64 = 0x8000;
/// Most units of one launch.
const MAX_UNITS: u64 = ROW * WORKGROUP * 0xffff;

/// A grid for so many threads: workgroups, and threads in a row.
fn grid(threads: u64) -> ([u32; 3], u32) {
    let groups = threads.div_ceil(WORKGROUP);
    let columns = groups.min(ROW);
    let rows = groups.div_ceil(columns.max(1));
    (
        [columns as u32, rows as u32, 1],
        (columns * WORKGROUP) as u32,
    )
}

/// A part of a copy: the unit that both of its ends allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    unit: u64,
    offset: u64,
    bytes: u64,
}

/// The parts of a copy: what is before the first whole unit, the units, what is behind the last.
///
/// Units are as large as the distance between source and target allows. Nothing outside of the
/// target is written, so whatever else happens there is undisturbed.
fn parts(from: u64, to: u64, bytes: u64) -> impl Iterator<Item = Part> {
    let apart = from ^ to;
    let unit = [16, 4, 1]
        .into_iter()
        .find(|unit| apart.is_multiple_of(*unit) && bytes >= *unit)
        .unwrap_or(1);
    let head = (to.next_multiple_of(unit) - to).min(bytes);
    let middle = (bytes - head) / unit * unit;
    let tail = bytes - head - middle;
    // Ends are short: words where they can be, else bytes.
    let end_unit = if apart.is_multiple_of(4)
        && head.is_multiple_of(4)
        && tail.is_multiple_of(4)
        && to.is_multiple_of(4)
    {
        4
    } else {
        1
    };
    [
        Part {
            unit: end_unit,
            offset: 0,
            bytes: head,
        },
        Part {
            unit,
            offset: head,
            bytes: middle,
        },
        Part {
            unit: end_unit,
            offset: head + middle,
            bytes: tail,
        },
    ]
    .into_iter()
    .filter(|part| part.bytes != 0)
}

/// Push constants of a copying or filling shader.
type Constants = ArrayVec<u8, 40>;

impl CommandBuffer {
    /// Launches a shader for all units of a part: `constants` makes its push constants for the bytes
    /// from an offset on, so many units, in rows of so many threads.
    fn launch_part(
        &mut self,
        kind: Kind,
        part: Part,
        constants: impl Fn(u64, u64, u32) -> Constants,
    ) -> VkResult {
        let program = self.internal(kind)?;
        let units = part.bytes / part.unit;
        let mut done = 0;
        while done < units {
            let count = (units - done).min(MAX_UNITS);
            let (groups, row) = grid(count);
            let constants = constants(part.offset + done * part.unit, count, row);
            self.launch_internal(program, &constants, groups)?;
            done += count;
        }
        Ok(())
    }

    /// Copies bytes from address to address.
    pub(super) fn copy(&mut self, from: u64, to: u64, bytes: u64) -> VkResult {
        for part in parts(from, to, bytes) {
            let kind = match part.unit {
                16 => Kind::Copy16,
                4 => Kind::Copy4,
                _ => Kind::Copy1,
            };
            self.launch_part(kind, part, |offset, count, row| {
                let mut all = Constants::new();
                all.extend((from + offset).to_le_bytes());
                all.extend((to + offset).to_le_bytes());
                all.extend(count.to_le_bytes());
                all.extend(row.to_le_bytes());
                all
            })?;
        }
        Ok(())
    }

    /// Fills memory with a word, again and again; the address is a multiple of 4.
    pub(super) fn fill(&mut self, to: u64, bytes: u64, value: u32) -> VkResult {
        self.fill_units(to, bytes, [value; 4])
    }

    /// Fills memory with four words, again and again. Where they differ, the address and the size
    /// are multiples of 16.
    pub(super) fn fill_units(&mut self, to: u64, bytes: u64, value: [u32; 4]) -> VkResult {
        // A value repeats in every unit, so the parts are those of a copy of the place to itself.
        for part in parts(to, to, bytes / 4 * 4) {
            let kind = match part.unit {
                16 => Kind::Fill16,
                _ => Kind::Fill4,
            };
            self.launch_part(kind, part, |offset, count, row| {
                let mut all = Constants::new();
                all.extend((to + offset).to_le_bytes());
                all.extend(count.to_le_bytes());
                all.extend(value.into_iter().flat_map(u32::to_le_bytes));
                all.extend(row.to_le_bytes());
                all
            })?;
        }
        Ok(())
    }

    /// Copies a part of a buffer to another; nothing past either's end.
    fn copy_region(
        &mut self,
        from: &Buffer,
        to: &Buffer,
        from_at: u64,
        to_at: u64,
        size: u64,
    ) -> VkResult {
        let size = from.range(from_at, size).min(to.range(to_at, size));
        self.copy(from.address + from_at, to.address + to_at, size)
    }
}

/// vkCmdCopyBuffer.
pub(crate) unsafe extern "system" fn cmd_copy_buffer(
    buffer: vk::CommandBuffer,
    from: vk::Buffer,
    to: vk::Buffer,
    count: u32,
    regions: *const vk::BufferCopy,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdCopyBuffer", buffer, |this| {
            let (from, to) = (object::get::<Buffer>(from), object::get::<Buffer>(to));
            for region in entry::slice(regions, count) {
                this.copy_region(from, to, region.src_offset, region.dst_offset, region.size)?;
            }
            Ok(())
        });
    }
}

/// vkCmdCopyBuffer2.
pub(crate) unsafe extern "system" fn cmd_copy_buffer2(
    buffer: vk::CommandBuffer,
    info: *const vk::CopyBufferInfo2<'_>,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdCopyBuffer2", buffer, |this| {
            let info = &*info;
            let from = object::get::<Buffer>(info.src_buffer);
            let to = object::get::<Buffer>(info.dst_buffer);
            for region in entry::slice(info.p_regions, info.region_count) {
                this.copy_region(from, to, region.src_offset, region.dst_offset, region.size)?;
            }
            Ok(())
        });
    }
}

/// vkCmdFillBuffer.
pub(crate) unsafe extern "system" fn cmd_fill_buffer(
    buffer: vk::CommandBuffer,
    to: vk::Buffer,
    offset: vk::DeviceSize,
    size: vk::DeviceSize,
    value: u32,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdFillBuffer", buffer, |this| {
            let to = object::get::<Buffer>(to);
            this.fill(to.address + offset, to.range(offset, size), value)
        });
    }
}

/// vkCmdUpdateBuffer.
pub(crate) unsafe extern "system" fn cmd_update_buffer(
    buffer: vk::CommandBuffer,
    to: vk::Buffer,
    offset: vk::DeviceSize,
    size: vk::DeviceSize,
    data: *const std::ffi::c_void,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdUpdateBuffer", buffer, |this| {
            let to = object::get::<Buffer>(to);
            let size = to.range(offset, size);
            // At most 65536 by the specification.
            let data = entry::slice(data.cast::<u8>(), size as u32);
            let target = to.address + offset;
            // The data lies as the target does, so that it is copied in large units.
            let skew = (target % 16) as usize;
            let piece = this.take(Use::Data, data.len() + skew, 16)?;
            piece.bytes()[skew..].copy_from_slice(data);
            this.copy(piece.address + skew as u64, target, size)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The parts of a copy follow one another, cover all of it, and are aligned for their unit.
        #[test]
        fn parts_cover_a_copy(from in 0u64..100, to in 0u64..100, bytes in 0u64..200) {
            let mut at = 0;
            for part in parts(from, to, bytes) {
                prop_assert_eq!(part.offset, at);
                prop_assert!(part.bytes.is_multiple_of(part.unit));
                prop_assert!((from + at).is_multiple_of(part.unit));
                prop_assert!((to + at).is_multiple_of(part.unit));
                at += part.bytes;
            }
            prop_assert_eq!(at, bytes);
        }

        /// What lies alike is copied in large units but for its ends.
        #[test]
        fn most_of_a_copy_is_in_large_units(to in 0u64..1000, apart in 0u64..50, bytes in 64u64..2000) {
            let small = |unit| parts(to + unit * apart, to, bytes).filter(|p| p.unit < unit).map(|p| p.bytes).sum::<u64>();
            prop_assert!(small(16) < 32);
            prop_assert!(small(4) < 32);
        }

        /// A grid has a thread for every unit, and no more rows and columns than there can be.
        #[test]
        fn grids_cover_their_threads(threads in prop_oneof![1..100_000u64, 1..=MAX_UNITS]) {
            let ([columns, rows, depth], row) = grid(threads);
            prop_assert!(columns <= 65535 && rows <= 65535 && depth == 1);
            prop_assert_eq!(u64::from(columns) * WORKGROUP, u64::from(row));
            prop_assert!(u64::from(row) * u64::from(rows) >= threads);
            prop_assert!(u64::from(row) * u64::from(rows - 1) < threads);
        }
    }
}
