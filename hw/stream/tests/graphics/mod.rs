// SPDX-License-Identifier: MIT
//! What the tests of graphics-stream share: reading the reference's text, and the records of its worked
//! example.
#![allow(dead_code, reason = "each test uses a part")]

use agx_hw::ppp::{
    self, Cull, Fragment, FragmentControl, FragmentControl2, Indices, Outputs, RegionClip,
    VaryingCounts, Viewport, Viewports, WClamp,
};
use agx_hw::vdm::{Draw, Primitive, Provoking, Record, VertexState, Vertices};
use agx_hw::window::{CodeAddress, ContextAddress, LauncherAddress};
pub(crate) const REFERENCE: &str = include_str!("../../../../docs/hw/graphics-stream.md");

pub(crate) const RECORD: u32 = 0x400_0000;
pub(crate) const STREAM: u32 = 0x401_0000;

/// The text of a section, its heading's number given.
pub(crate) fn section(number: &str) -> &'static str {
    let heading = format!("# {number} ");
    let start = REFERENCE
        .find(&format!("\n##{heading}"))
        .or_else(|| REFERENCE.find(&format!("\n#{heading}")))
        .unwrap_or_else(|| panic!("no section {number}"));
    let text = &REFERENCE[start + 1..];
    text.find("\n#").map_or(text, |end| &text[..end])
}

/// The cells of a section's table rows, the heading left out. `heading` is the first cell of the table.
pub(crate) fn rows(number: &str, heading: &str) -> Vec<Vec<&'static str>> {
    let text = section(number);
    let start = text
        .find(&format!("| {heading} |"))
        .unwrap_or_else(|| panic!("{number} has no table {heading}"));
    let rows: Vec<Vec<_>> = text[start..]
        .lines()
        .map(str::trim_start)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells = line.trim_matches('|').split('|');
            cells.map(str::trim).collect()
        })
        .collect();
    assert!(rows.len() > 2, "{number} {heading} is empty");
    rows[2..].to_vec()
}

pub(crate) fn hex(text: &str) -> u64 {
    let digits = text.trim_matches('`').trim_start_matches("0x");
    u64::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("{text}"))
}

/// Numbers of so many digits that begin a text.
pub(crate) fn numbers(text: &str, digits: usize) -> Vec<u32> {
    text.split_whitespace()
        .map_while(|word| {
            (word.len() == digits)
                .then(|| u32::from_str_radix(word, 16).ok())
                .flatten()
        })
        .collect()
}

pub(crate) fn le(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

pub(crate) fn code(offset: u32) -> CodeAddress {
    CodeAddress::from_offset(offset)
}

pub(crate) fn launcher_at(offset: u32) -> LauncherAddress {
    LauncherAddress::new(code(offset)).unwrap()
}

pub(crate) fn context(offset: u32) -> ContextAddress {
    ContextAddress::from_offset(offset).unwrap()
}

pub(crate) fn pack(record: Record) -> Vec<u8> {
    let mut bytes = [0; Record::MAX_SIZE];
    let size = record.pack(&mut bytes).unwrap();
    assert_eq!(Record::unpack(&bytes), Ok((record, size)));
    bytes[..size].to_vec()
}

pub(crate) fn header(record: Record) -> u32 {
    u32::from_le_bytes(pack(record)[..4].try_into().unwrap())
}

pub(crate) fn example_record() -> ppp::Record {
    ppp::Record {
        varyings: VaryingCounts::all(4),
        fragment: Fragment {
            bindings: 2,
            table: code(0x90_0400),
            launcher: launcher_at(0x90_0300),
            resources: Fragment::resources(4),
        },
        outputs: Outputs {
            words: 8,
            ..Outputs::default()
        },
        control: FragmentControl::default(),
        control2: FragmentControl2::default(),
        viewports: Viewports::one(Viewport::new(
            [0.0; 2],
            [64.0; 2],
            [0.0, 1.0],
            RegionClip::of_pixels([0; 2], [64; 2]).unwrap(),
        )),
        w_clamp: WClamp::default(),
        cull: Cull {
            front_counter_clockwise: true,
            ..Cull::default()
        },
        indices: Indices::default(),
    }
}

pub(crate) fn example_vertex() -> VertexState {
    VertexState {
        launcher: launcher_at(0x90_0100),
        outputs: 8,
        provoking: Provoking::First,
        primitive_id: false,
    }
}

pub(crate) const TRIANGLE: Draw = Draw {
    primitive: Primitive::Triangles,
    vertices: Vertices::Direct {
        first: 0,
        count: 3,
        instances: 1,
    },
};
