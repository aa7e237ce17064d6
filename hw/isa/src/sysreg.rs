// SPDX-License-Identifier: MIT
//! System registers (isa-0, 5).

use crate::form::Mark;

/// One system register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemRegister {
    /// Selector, 0x80..=0xff.
    pub number: u8,
    /// Name in assembly text.
    pub name: &'static str,
    /// Read with `get_sr16` and `zext16` instead of `get_sr`.
    pub narrow: bool,
    /// Delivered late, on a completion slot.
    pub asynchronous: bool,
    /// Evidence; `None` = INFERRED.
    pub mark: Option<Mark>,
}

const fn sr(number: u8, name: &'static str, narrow: bool, mark: Option<Mark>) -> SystemRegister {
    SystemRegister {
        number,
        name,
        narrow,
        asynchronous: matches!(number, 0xc2 | 0xd8 | 0xdd),
        mark,
    }
}

/// isa-0, 5. In the fragment stage 0xa0 and 0xa1 are the pixel, in end-of-tile programs 0x9c and
/// 0x9d are the tile.
pub static SYSTEM_REGISTERS: &[SystemRegister] = &[
    sr(0x82, "lane", true, Some(Mark::Hw)),
    sr(0x84, "is_helper", true, Some(Mark::HwA18)),
    sr(0x85, "subgroup_index", true, Some(Mark::Hw)),
    sr(0x88, "base_vertex", false, None),
    sr(0x8a, "base_instance", false, None),
    sr(0x95, "active_rank", true, None),
    sr(0x97, "sample_id", false, None),
    sr(0x98, "workgroup_size_x", true, Some(Mark::Hw)),
    sr(0x99, "workgroup_size_y", true, Some(Mark::Hw)),
    sr(0x9a, "workgroup_size_z", true, Some(Mark::Hw)),
    sr(0x9c, "workgroup_id_x", false, Some(Mark::Hw)),
    sr(0x9d, "workgroup_id_y", false, Some(Mark::Hw)),
    sr(0x9e, "workgroup_id_z", false, Some(Mark::Hw)),
    sr(0xa0, "global_id_x", false, Some(Mark::Hw)),
    sr(0xa1, "global_id_y", false, Some(Mark::Hw)),
    sr(0xa2, "global_id_z", false, Some(Mark::Hw)),
    sr(0xa4, "local_id_x", true, Some(Mark::Hw)),
    sr(0xa5, "local_id_y", true, Some(Mark::Hw)),
    sr(0xa6, "local_id_z", true, Some(Mark::Hw)),
    sr(0xa7, "local_index", true, Some(Mark::Hw)),
    sr(0xa8, "workgroup_count_x", false, Some(Mark::HwA18)),
    sr(0xa9, "workgroup_count_y", false, Some(Mark::HwA18)),
    sr(0xaa, "workgroup_count_z", false, Some(Mark::HwA18)),
    sr(0xc2, "coverage", false, Some(Mark::Hw)),
    sr(0xc3, "layer", false, Some(Mark::Hw)),
    sr(0xc5, "back_facing", false, Some(Mark::Hw)),
    sr(0xd8, "instance_id", false, Some(Mark::Hw)),
    sr(0xdd, "vertex_id", false, Some(Mark::Hw)),
];

/// The register with this selector.
#[must_use]
pub fn system_register(number: u8) -> Option<&'static SystemRegister> {
    SYSTEM_REGISTERS.iter().find(|r| r.number == number)
}
