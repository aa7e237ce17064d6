// SPDX-License-Identifier: MIT
//! The reference's own tables and dumps (docs/hw/kernel-uapi.md), against the crate.

use agx_uapi::abi::*;
use agx_uapi::command::*;
use agx_uapi::{Abi, Chip};

const REFERENCE: &str = include_str!("../../../docs/hw/kernel-uapi.md");

/// The text from the heading that begins with `heading` to the next heading.
fn section(heading: &str) -> &'static str {
    let mark = format!("\n{heading}");
    let start = REFERENCE
        .find(&mark)
        .unwrap_or_else(|| panic!("no section {heading}"))
        + 1;
    let body = &REFERENCE[start + heading.len()..];
    let end = body.find("\n#").unwrap_or(body.len());
    &body[..end]
}

/// The cells of the table rows in a text.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    // A cell may hold an escaped bar, but no test needs that cell.
    text.lines()
        .filter(|line| line.starts_with("| "))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim_matches('`').replace('_', "");
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[test]
fn request_numbers() {
    let mut found = 0;
    for row in rows(section("## 3. ")) {
        let [index, name, direction, size, encoded] = row[..] else {
            panic!("{row:?}")
        };
        let Some(index) = number(index) else { continue };
        let name = format!("DRM_IOCTL_ASAHI_{name}");
        let (_, request) = *ioctl::REQUESTS
            .iter()
            .find(|(n, _)| *n == name)
            .expect(&name);
        assert_eq!(Some(u64::from(request)), number(encoded), "{name}");
        assert_eq!(Some(ioctl::size(request) as u64), number(size), "{name}");
        assert_eq!(u64::from(ioctl::number(request)), 0x40 + index, "{name}");
        assert_eq!(ioctl::kind(request), b'd', "{name}");
        assert_eq!(ioctl::writes_back(request), direction == "in/out", "{name}");
        assert_eq!(ioctl::name(request), Some(name.as_str()));
        found += 1;
    }
    assert_eq!(found, 11);
}

#[test]
fn a_request_keeps_its_name_when_its_size_differs() {
    // SYNCOBJ_WAIT before Linux 6.6 had no deadline.
    assert_eq!(ioctl::name(0xc020_64c3), Some("DRM_IOCTL_SYNCOBJ_WAIT"));
    assert_eq!(ioctl::name(0xc020_62c3), None);
    assert_eq!(ioctl::name(0xc018_644b), None);
}

/// Compares the `off`, `size`, name rows of a section with a structure. Returns how many rows
/// there were.
fn compare(heading: &str, layout: &Layout) -> usize {
    let mut found = 0;
    for row in rows(section(heading)) {
        let (Some(offset), Some(size)) = (number(row[0]), number(row[1])) else {
            continue;
        };
        // "core_masks[64]", "depth {base u64, ...}": the name comes first.
        let end = row[2].find(['[', ' ', '{']).unwrap_or(row[2].len());
        let name = row[2][..end].to_ascii_lowercase();
        let field = layout
            .fields
            .iter()
            .find(|field| field.name == name)
            .unwrap_or_else(|| panic!("{}: no field {name}", layout.name));
        assert_eq!(
            (field.offset as u64, field.size as u64),
            (offset, size),
            "{name}"
        );
        found += 1;
    }
    found
}

#[test]
fn structures() {
    for (heading, layout) in [
        ("### 5.1 ", ParamsGlobal::LAYOUT),
        ("### 7.1 ", VmCreate::LAYOUT),
        ("### 7.5 ", GemBindOp::LAYOUT),
        ("### 8.1 ", GemCreate::LAYOUT),
        ("## 9. ", GemBindObject::LAYOUT),
        ("### 10.1 ", QueueCreate::LAYOUT),
        ("### 11.1 ", SubmitArgs::LAYOUT),
        ("### 11.3 ", CmdHeader::LAYOUT),
        ("## 12. ", CmdRender::LAYOUT),
        ("## 13. ", CmdCompute::LAYOUT),
    ] {
        assert_eq!(compare(heading, &layout), layout.fields.len(), "{heading}");
    }
}

/// The values of 5.1 that are numbers in the M4's column.
#[test]
fn limits_are_those_of_the_parameters() {
    let value = |field: &str| {
        let row = rows(section("### 5.1 ")).find(|row| row.len() > 3 && row[2] == field);
        let cell = row.unwrap_or_else(|| panic!("{field}"))[3];
        number(&cell.split(' ').next().unwrap_or_default().replace(',', ""))
    };
    assert_eq!(value("vm_start"), Some(limits::VM_START));
    assert_eq!(value("vm_end"), Some(limits::VM_END));
    assert_eq!(
        value("vm_kernel_min_size"),
        Some(limits::VM_KERNEL_MIN_SIZE)
    );
    assert_eq!(
        value("max_commands_per_submission"),
        Some(limits::MAX_COMMANDS.into())
    );
    assert_eq!(
        value("max_attachments"),
        Some(limits::MAX_ATTACHMENTS.into())
    );
    assert_eq!(
        value("command_timestamp_frequency_hz"),
        Some(limits::TIMESTAMP_FREQUENCY_HZ)
    );
}

/// The reserved ranges as 7.2 writes them: `a + size`, `a .. b`, and eleven tiler blocks.
#[test]
fn reserved_addresses() {
    let mut expected = Vec::new();
    for row in rows(section("### 7.2 ")) {
        let text = row[0];
        if let Some((base, rest)) = text.split_once(" + i*") {
            let (stride, rest) = rest.split_once(", ").unwrap();
            let size = rest.split(' ').next().unwrap();
            for i in 0..11 {
                let start = number(base).unwrap() + i * number(stride).unwrap();
                expected.push(start..start + number(size).unwrap());
            }
        } else if let Some((start, size)) = text.split_once(" + ") {
            let start = number(start).unwrap();
            expected.push(start..start + number(size).unwrap());
        } else if let Some((start, end)) = text.split_once(" .. ") {
            expected.push(number(start).unwrap()..number(end).unwrap());
        }
    }
    expected.sort_by_key(|range| range.start);
    let ours: Vec<_> = limits::M4_RESERVED
        .iter()
        .map(|r| r.range.clone())
        .collect();
    assert_eq!(ours, expected);
}

/// The bytes of the dump that follows `title` in a section: lines of an offset, two spaces, and
/// bytes or "00 xN", up to two further spaces and a remark.
fn dump(heading: &str, title: &str) -> Vec<u8> {
    let text = section(heading);
    let text = &text[text.find(title).expect("title")..];
    let block = text.split("```").nth(1).expect("a dump follows");
    let mut bytes = Vec::new();
    for line in block.lines().filter(|line| !line.is_empty()) {
        let (offset, rest) = line.split_at(4);
        assert_eq!(
            u64::from_str_radix(offset, 16),
            Ok(bytes.len() as u64),
            "{line}"
        );
        let mut words = rest.split_whitespace().peekable();
        // Two bytes as hexadecimal digits; the remark begins at the first other word.
        while let Some(byte) = words.next_if(|word| word.len() == 2).map(|word| {
            u8::from_str_radix(word, 16).unwrap_or_else(|_| panic!("not a byte in: {line}"))
        }) {
            let repeat = words
                .next_if(|word| word.starts_with('x'))
                .map_or(1, |word| word[1..].parse().unwrap());
            bytes.extend(std::iter::repeat_n(byte, repeat));
        }
    }
    bytes
}

fn timestamp(offset: u32) -> Timestamp {
    Timestamp { handle: 1, offset }
}

/// Section 14.1.
fn compute_example() -> CmdCompute {
    CmdCompute {
        cdm_ctrl_stream_base: 0x20_0000_0000,
        cdm_ctrl_stream_end: 0x20_0000_0030,
        ts: Timestamps {
            start: timestamp(0),
            end: timestamp(8),
        },
        ..CmdCompute::default()
    }
}

/// Section 14.2.
fn render_example() -> CmdRender {
    let program = |usc, rsrc_spec| BgEot { usc, rsrc_spec };
    CmdRender {
        flags: RenderFlags::PROCESS_EMPTY_TILES,
        vdm_ctrl_stream_base: 0x10_4000_0000,
        isp_scissor_base: 0x10_4001_0000,
        isp_dbias_base: 0x10_4001_0100,
        ppp_multisamplectl: 0x88,
        ppp_ctrl: 0x202,
        width_px: 64,
        height_px: 64,
        layers: 1,
        utile_width_px: 32,
        utile_height_px: 32,
        samples: 1,
        sample_size_b: 4,
        isp_merge_upper_x: CmdRender::merge_upper(64),
        isp_merge_upper_y: CmdRender::merge_upper(64),
        bg: program(0x0001_0004, 0x10c),
        eot: program(0x0001_0104, 0x112),
        partial_bg: program(0x0001_0204, 0x10c),
        partial_eot: program(0x0001_0304, 0x112),
        isp_bgobjdepth: 1f32.to_bits(),
        ts_frag: Timestamps {
            end: timestamp(0x10),
            ..Timestamps::default()
        },
        ..CmdRender::default()
    }
}

#[test]
fn compute_submit() {
    let mut buffer = CommandBuffer::new();
    buffer
        .compute(Barriers::EARLIER_SUBMITS, &compute_example())
        .unwrap();
    let bytes = dump("### 14.1 ", "Command buffer");
    assert_eq!(bytes.len(), 72);
    assert_eq!(buffer.as_bytes(), bytes);
    let command = parse(&bytes, Chip::M4).next().unwrap().unwrap();
    assert_eq!(command.barriers, Barriers::EARLIER_SUBMITS);
    assert_eq!(
        command.payload,
        Payload::Compute(std::num::NonZeroU16::MIN, compute_example())
    );

    let syncs = dump("### 14.1 ", "Sync array");
    let record = |handle, timeline_value| SyncRecord {
        sync_type: sync_type::TIMELINE_SYNCOBJ,
        handle,
        timeline_value,
    };
    assert_eq!(
        [record(5, 41).as_bytes(), record(6, 42).as_bytes()].concat(),
        syncs
    );

    let submit = SubmitArgs {
        syncs: 0x7f00_0000_1000,
        cmdbuf: 0x7f00_0000_2000,
        queue_id: 1,
        in_sync_count: 1,
        out_sync_count: 1,
        cmdbuf_size: 72,
        ..SubmitArgs::default()
    };
    assert_eq!(submit.as_bytes(), dump("### 14.1 ", "SUBMIT argument"));
}

#[test]
fn render_submit() {
    let mut buffer = CommandBuffer::new();
    buffer
        .render(Barriers::EARLIER_SUBMITS, &render_example())
        .unwrap();
    let bytes = dump("### 14.2 ", "Command buffer");
    assert_eq!(bytes.len(), 248);
    assert_eq!(buffer.as_bytes(), bytes);
    let command = parse(&bytes, Chip::A18Pro).next().unwrap().unwrap();
    assert_eq!(
        command.payload,
        Payload::Render(std::num::NonZeroU16::MIN, render_example())
    );
}
