// SPDX-License-Identifier: MIT
//! Copies, fills and updates of buffers, against a model on the CPU.

use ash::vk;

use super::scenario;
use crate::model::{bytes, fill, to_bytes, words};
use crate::scenario::Scenario;
use crate::scope::{Buffer, Scope};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("transfer.copy_small", copy_small),
    scenario("transfer.copy_regions", copy_regions),
    scenario("transfer.copy_large", copy_large),
    scenario("transfer.copy2", copy2),
    scenario("transfer.fill", fill_),
    scenario("transfer.update", update),
    scenario("transfer.order", order),
];

/// A buffer with bytes in it.
unsafe fn filled(s: &Scope<'_>, data: &[u8]) -> anyhow::Result<Buffer> {
    let buffer = s.buffer(data.len() as u64)?;
    buffer.write(0, data);
    Ok(buffer)
}

fn region(from: usize, to: usize, size: usize) -> vk::BufferCopy {
    vk::BufferCopy {
        src_offset: from as u64,
        dst_offset: to as u64,
        size: size as u64,
    }
}

/// Every alignment of source and target modulo 16 that differs modulo 4 in every way, and every
/// size up to 36 bytes and around 64: one region each, in one buffer.
unsafe fn copy_small(s: &Scope<'_>) -> anyhow::Result<()> {
    let source_bytes = bytes(200, 256);
    let source = filled(s, &source_bytes)?;
    let sizes: Vec<usize> = (1..=36).chain(61..=67).collect();
    let alignments: Vec<(usize, usize)> = (0..16)
        .flat_map(|from| [0, 1, 2, 3, 4, 7, 13].map(|to| (from, to)))
        .collect();
    let slot = 96;
    let size = slot * sizes.len() * alignments.len();
    let mut expected = bytes(201, size);
    let target = filled(s, &expected)?;
    let mut regions = Vec::new();
    let mut at = 0;
    for size in &sizes {
        for (from, to) in &alignments {
            let copy = region(*from, at + to, *size);
            expected[at + to..at + to + size].copy_from_slice(&source_bytes[*from..from + size]);
            regions.push(copy);
            at += slot;
        }
    }
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    for regions in regions.chunks(100) {
        s.device()
            .cmd_copy_buffer(commands, source.handle, target.handle, regions);
    }
    s.finish(commands)?;
    s.report.expect("target", target.bytes(), &expected)
}

/// Many regions in one command, some of a byte, some of pages, within one buffer.
unsafe fn copy_regions(s: &Scope<'_>) -> anyhow::Result<()> {
    let half = 1 << 18;
    let start = bytes(202, 2 * half);
    let buffer = filled(s, &start)?;
    let mut expected = start.clone();
    let mut regions = Vec::new();
    let mut at = 0;
    for word in words(203, 300) {
        let size = match word % 4 {
            0 => 1 + (word >> 8) as usize % 15,
            1 => 1 + (word >> 8) as usize % 200,
            2 => 4 * (1 + (word >> 8) as usize % 100),
            _ => 1 + (word >> 8) as usize % 4000,
        };
        let from = (word >> 5) as usize % (half - size);
        let to = half + at + (word >> 3) as usize % 5;
        if to + size > 2 * half {
            break;
        }
        regions.push(region(from, to, size));
        expected[to..to + size].copy_from_slice(&start[from..from + size]);
        at = to + size - half;
    }
    anyhow::ensure!(regions.len() > 100, "only {} regions", regions.len());
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    s.device()
        .cmd_copy_buffer(commands, buffer.handle, buffer.handle, &regions);
    s.finish(commands)?;
    s.report.expect("buffer", buffer.bytes(), &expected)
}

/// Some megabytes, aligned and not.
unsafe fn copy_large(s: &Scope<'_>) -> anyhow::Result<()> {
    let size = (1 << 20) + 256;
    let start = bytes(204, size);
    let source = filled(s, &start)?;
    for (name, from, to, length) in [
        ("aligned", 0, 0, size),
        ("words", 4, 12, size - 12),
        ("bytes", 1, 6, size - 9),
    ] {
        let mut expected = vec![0xa5; size];
        let target = filled(s, &expected)?;
        expected[to..to + length].copy_from_slice(&start[from..from + length]);
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let copy = [region(from, to, length)];
        s.device()
            .cmd_copy_buffer(commands, source.handle, target.handle, &copy);
        s.finish(commands)?;
        let got = target.bytes();
        let wrong = crate::outcome::difference(&got, &expected);
        anyhow::ensure!(wrong.is_none(), "{name}: {}", wrong.unwrap_or_default());
    }
    Ok(())
}

unsafe fn copy2(s: &Scope<'_>) -> anyhow::Result<()> {
    let start = bytes(205, 512);
    let (source, target) = (filled(s, &start)?, s.buffer(512)?);
    let regions = [(3, 8, 40), (100, 101, 77)].map(|(from, to, size)| {
        vk::BufferCopy2::default()
            .src_offset(from)
            .dst_offset(to)
            .size(size)
    });
    let info = vk::CopyBufferInfo2::default()
        .src_buffer(source.handle)
        .dst_buffer(target.handle)
        .regions(&regions);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    s.device().cmd_copy_buffer2(commands, &info);
    s.finish(commands)?;
    let mut expected = vec![0; 512];
    expected[8..48].copy_from_slice(&start[3..43]);
    expected[101..178].copy_from_slice(&start[100..177]);
    s.report.expect("target", target.bytes(), &expected)
}

/// Offsets and sizes of words, to the end, and to the end of buffers whose size is no multiple of 4.
unsafe fn fill_(s: &Scope<'_>) -> anyhow::Result<()> {
    let mut expected = bytes(206, 64 * 1024);
    let buffer = filled(s, &expected)?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let device = s.device();
    let mut at = 0;
    for round in 0..80_usize {
        let (gap, size) = (4 * (round % 5), 4 * (1 + round % 23) + 128 * (round / 20));
        let word = 0x0102_0304_u32.wrapping_mul(round as u32 + 1);
        at += gap;
        device.cmd_fill_buffer(commands, buffer.handle, at as u64, size as u64, word);
        fill(&mut expected, at, size, word);
        at += size;
    }
    // The rest, after what is left as it was.
    at += 12;
    device.cmd_fill_buffer(
        commands,
        buffer.handle,
        at as u64,
        vk::WHOLE_SIZE,
        0xdead_beef,
    );
    let rest = expected.len() - at;
    fill(&mut expected, at, rest, 0xdead_beef);
    let mut odd = Vec::new();
    for size in [5_usize, 6, 7, 16, 1027] {
        let mut expected = bytes(207, size);
        let buffer = filled(s, &expected)?;
        device.cmd_fill_buffer(commands, buffer.handle, 4, vk::WHOLE_SIZE, 0x8070_6050);
        let whole = (size - 4) & !3;
        fill(&mut expected, 4, whole, 0x8070_6050);
        odd.push((size, buffer, expected));
    }
    s.finish(commands)?;
    s.report.expect("buffer", buffer.bytes(), &expected)?;
    for (size, buffer, expected) in odd {
        let name = format!("of {size} bytes");
        s.report.expect(&name, buffer.bytes(), &expected)?;
    }
    Ok(())
}

/// From one word to the most there may be.
unsafe fn update(s: &Scope<'_>) -> anyhow::Result<()> {
    let mut expected = bytes(208, 256 * 1024);
    let buffer = filled(s, &expected)?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let mut at = 4;
    for (round, size) in [4, 8, 12, 16, 20, 60, 64, 68, 1024, 4100, 65_536]
        .iter()
        .enumerate()
    {
        let mut data = bytes(210 + round as u32, *size);
        s.device()
            .cmd_update_buffer(commands, buffer.handle, at as u64, &data);
        expected[at..at + size].copy_from_slice(&data);
        // The command has taken its copy.
        data.fill(0xee);
        at += size + 4 * (1 + round % 3);
    }
    s.finish(commands)?;
    s.report.expect("buffer", buffer.bytes(), &expected)
}

/// Transfers and dispatches on the same bytes, in order because of barriers.
unsafe fn order(s: &Scope<'_>) -> anyhow::Result<()> {
    let kernel = s.kernel(super::STEP, 1, 4)?;
    let (a, b) = (s.buffer(1024)?, s.buffer(1024)?);
    let set = s.bind(&kernel, &[&a])?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let device = s.device();
    let mut model = [vec![0_u32; 256], vec![0_u32; 256]];
    for round in 0..12_u32 {
        match round % 4 {
            0 => {
                device.cmd_fill_buffer(commands, a.handle, 256, 256, round + 1);
                model[0][64..128].fill(round + 1);
            }
            1 => {
                let stage = vk::ShaderStageFlags::COMPUTE;
                let add = round.to_le_bytes();
                device.cmd_push_constants(commands, kernel.layout, stage, 0, &add);
                s.dispatch(commands, &kernel, set, 8);
                for value in &mut model[0] {
                    *value = super::stepped(*value, [round]);
                }
            }
            2 => {
                let copy = [region(0, 4, 1020)];
                device.cmd_copy_buffer(commands, a.handle, b.handle, &copy);
                let (from, to) = model.split_at_mut(1);
                to[0][1..].copy_from_slice(&from[0][..255]);
            }
            _ => {
                let data = words(220 + round, 32);
                device.cmd_update_buffer(commands, b.handle, 512, &to_bytes(&data));
                model[1][128..160].copy_from_slice(&data);
                s.barrier(commands);
                let copy = [region(512, 0, 512)];
                device.cmd_copy_buffer(commands, b.handle, a.handle, &copy);
                let (to, from) = model.split_at_mut(1);
                to[0][..128].copy_from_slice(&from[0][128..]);
            }
        }
        s.barrier(commands);
    }
    s.finish(commands)?;
    s.report.expect("a", a.bytes(), &to_bytes(&model[0]))?;
    s.report.expect("b", b.bytes(), &to_bytes(&model[1]))
}
