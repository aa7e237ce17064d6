// SPDX-License-Identifier: MIT
//! System registers of compute programs (isa-0, 5; isa-2, 10.3; launch, 6.5).
//!
//! * Lane L of SIMD group G is invocation 32 G + L of the workgroup, x running fastest; the position
//!   in the grid is workgroup index times workgroup size plus the position in the workgroup (launch,
//!   6.5 and 11; INFERRED formulas).
//! * Both read forms deliver every register. The 16-bit one writes the low half of the destination
//!   with the low half of the value; the reference lists each register with one form only.
//! * The access kind of the 16-bit form (isa-0, 3) changes nothing. The helper-lane flag is 0, as no
//!   invocation of a compute program is a helper.
//! * The rank among the active lanes (0x95) counts the active lanes below (INFERRED).
//! * A launch program belongs to no workgroup: what speaks of grid or workgroup is 0 there. The
//!   reference does not say; no launch program reads it.
//! * Vertex shaders have the numbers of vertex and instance, fragment shaders pixel, coverage word,
//!   layer, facing and helper flag (isa-3, 1.4). In the coverage word bits 4..7 repeat bits 0..3 (isa-3, 9
//!   row 9). End-of-tile programs have the tile in the workgroup's place (graphics, 9.3).
//! * Registers of other stages fault, and so do those of which the reference has guesses only: base vertex,
//!   base instance and sample number (isa-3, 9 row 13).

use agx_isa::{FormId, Instr, system_register};

use super::super::group::Stage;
use super::super::lanes::{LANES, Lanes};
use super::super::microop::{MicroOp, Step};
use super::super::operand::Dst;
use super::super::wave::Wave;
use crate::fault::FaultKind;

/// The registers that [`value`] knows in a compute program.
const COMPUTE: [u32; 20] = [
    0x82, 0x84, 0x85, 0x95, 0x98, 0x99, 0x9a, 0x9c, 0x9d, 0x9e, 0xa0, 0xa1, 0xa2, 0xa4, 0xa5, 0xa6,
    0xa7, 0xa8, 0xa9, 0xaa,
];

/// Position in the workgroup along `axis` of 32 invocations from `first` on.
///
/// Divides for the first only, then counts: many shaders begin with this.
fn positions(size: [u32; 3], axis: usize, first: u32) -> Lanes {
    let [width, height, _] = size.map(|n| n.max(1));
    let (mut x, row) = (first % width, first / width);
    let (mut y, mut z) = (row % height, row / height);
    if LANES as u32 <= width - x {
        // All in one row.
        return match axis {
            0 => Lanes::from_fn(|lane| x + lane as u32),
            1 => Lanes::splat(y),
            _ => Lanes::splat(z),
        };
    }
    Lanes::from_fn(|_| {
        let position = [x, y, z][axis];
        x += 1;
        if x == width {
            x = 0;
            y += 1;
            if y == height {
                y = 0;
                z = z.wrapping_add(1);
            }
        }
        position
    })
}

/// Those of vertex, fragment and end-of-tile programs; of background programs those of fragments.
const VERTEX: [u32; 4] = [0x82, 0x95, 0xd8, 0xdd];
const FRAGMENT: [u32; 8] = [0x82, 0x84, 0x95, 0xa0, 0xa1, 0xc2, 0xc3, 0xc5];
const END_OF_TILE: [u32; 5] = [0x82, 0x95, 0x9c, 0x9d, 0xc3];

/// Has the register a value in the stage?
fn has(stage: Stage, register: u32) -> bool {
    let registers: &[u32] = match stage {
        Stage::Launcher | Stage::Compute => &COMPUTE,
        Stage::Vertex => &VERTEX,
        Stage::Fragment | Stage::Background => &FRAGMENT,
        Stage::EndOfTile => &END_OF_TILE,
    };
    registers.contains(&register)
}

/// The value of a register that only graphics stages have.
fn graphics_value(wave: &Wave<'_>, register: u32) -> Option<Lanes> {
    if let Some(vertex) = &wave.vertex {
        return Some(match register {
            0xd8 => Lanes(vertex.instance),
            0xdd => Lanes(vertex.vertex),
            _ => return None,
        });
    }
    let fragments = wave.fragments.as_ref()?;
    Some(match register {
        0x84 => Lanes::from_fn(|lane| wave.helpers >> lane & 1),
        0xa0 | 0xa1 => {
            let axis = (register - 0xa0) as usize;
            Lanes::from_fn(|lane| fragments.pixel(lane)[axis])
        }
        0xc2 => Lanes::from_fn(|lane| u32::from(fragments.covered[lane]) * 0x11),
        0xc3 => Lanes::splat(fragments.tile.layer),
        0xc5 => Lanes::from_fn(|lane| {
            let primitive = fragments
                .primitives
                .get(fragments.quads[lane / 4].primitive);
            u32::from(primitive.is_some_and(|primitive| primitive.back))
        }),
        _ => return None,
    })
}

/// A register's value in each lane.
fn value(wave: &Wave<'_>, register: u32) -> Lanes {
    let dispatch = wave.group.dispatch;
    let active = wave.active();
    match register {
        0x82 => return Lanes::from_fn(|lane| lane as u32),
        0x95 => return Lanes::from_fn(|lane| (active & ((1 << lane) - 1)).count_ones()),
        _ if dispatch.stage == Stage::Launcher => return Lanes::ZERO,
        _ => {}
    }
    if let Some(value) = graphics_value(wave, register) {
        return value;
    }
    let first = wave.simd_group.wrapping_mul(LANES as u32);
    let axis = |first: u32| (register - first) as usize % 3;
    match register {
        0x85 => Lanes::splat(wave.simd_group),
        0x98..=0x9a => Lanes::splat(dispatch.local[axis(0x98)]),
        0x9c..=0x9e => Lanes::splat(wave.group.id[axis(0x9c)]),
        0xa0..=0xa2 => {
            let axis = axis(0xa0);
            let start = wave.group.id[axis].wrapping_mul(dispatch.local[axis]);
            let position = positions(dispatch.local, axis, first);
            Lanes::from_fn(|lane| start.wrapping_add(position.0[lane]))
        }
        0xa4..=0xa6 => positions(dispatch.local, axis(0xa4), first),
        0xa7 => Lanes::from_fn(|lane| first.wrapping_add(lane as u32)),
        0xa8..=0xaa => Lanes::splat(dispatch.groups[axis(0xa8)]),
        // The helper flag.
        _ => Lanes::ZERO,
    }
}

#[inline(always)]
fn run_read(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    if !has(wave.group.dispatch.stage, op.imm[0]) {
        return refuse(wave, op.imm[0]);
    }
    let value = value(wave, op.imm[0]);
    wave.write(op.dst, &value);
    Step::Next
}

#[cold]
fn refuse(wave: &mut Wave<'_>, number: u32) -> Step {
    let name = match u8::try_from(number).ok().and_then(system_register) {
        Some(register) => register.name,
        None => "unknown",
    };
    let reason = format!(
        "system register {number:#x} ({name}) has no value in a {} program",
        wave.group.dispatch.stage.name()
    );
    wave.fail(FaultKind::IllegalInstruction(reason), None)
}

crate::kernel! {
    read = run_read;
}

pub(in super::super) fn lower(instr: &Instr) -> Option<MicroOp> {
    if !matches!(instr.id(), FormId::GetSr32 | FormId::GetSr16) {
        return None;
    }
    let number = instr.raw(1) as u32;
    Some(MicroOp::new(read()).imms([number]).dst(Dst::of(instr, 0)?))
}
