// SPDX-License-Identifier: MIT
//! Binaries as bytes, and which bytes are binaries that are safe to launch.

use agx_compiler::binary::{Pointer, Resource, SamplerSlot, ShaderBinary, Statistics, TextureSlot};
use agx_hw::launcher::{
    MAX_POINTERS, MAX_PUBLICATIONS, MAX_SCRATCH, MAX_THREADGROUP_BYTES, MIN_POINTERS,
};

use super::key::Key;
use crate::physical_device::limits;

mod stage;

/// Bytes of the checksum in front.
const CHECKSUM: usize = 32;

/// Most bytes of code that are believed.
const MAX_CODE: usize = 64 << 20;

/// Most slots of a texture table: an index has 8 bits (isa-4, 1.2).
const MAX_TEXTURES: usize = 256;
/// Most slots of a sampler table: an index has 5 bits (isa-4, 1.2; HW).
const MAX_SAMPLERS: usize = 32;

/// A binary as bytes that [`decode`] takes for the same key only.
pub(super) fn encode(key: &Key, binary: &ShaderBinary) -> Vec<u8> {
    let mut out = Writer(vec![0; CHECKSUM]);
    let ShaderBinary {
        code,
        stage,
        workgroup_size,
        pointers,
        publications,
        textures,
        samplers,
        scratch_bytes,
        spill_bytes,
        threadgroup_bytes,
        workgroup_buffer_bytes,
        resources,
        stats,
    } = binary;
    out.u32(code.len() as u32);
    out.0.extend_from_slice(code);
    stage::put(&mut out, stage);
    workgroup_size.iter().for_each(|size| out.u16(*size));
    out.u32(pointers.len() as u32);
    for pointer in pointers {
        out.u16(pointer_code(*pointer));
    }
    out.u16(*publications);
    out.u32(textures.len() as u32);
    for slot in textures {
        out.u32(slot.set.into());
        out.u32(slot.offset);
    }
    out.u32(samplers.len() as u32);
    for slot in samplers {
        match slot {
            SamplerSlot::Descriptor { set, offset } => {
                out.u32((*set).into());
                out.u32(*offset);
            }
            SamplerSlot::Fetch => {
                out.u32(u32::MAX);
                out.u32(0);
            }
        }
    }
    out.u16(*scratch_bytes);
    out.u16(*spill_bytes);
    out.u32(*threadgroup_bytes);
    out.u32(*workgroup_buffer_bytes);
    out.u32(resources.len() as u32);
    for resource in resources {
        out.u32(resource.set);
        out.u32(resource.binding);
    }
    numbers(stats)
        .into_iter()
        .for_each(|number| out.u32(number));
    out.0.extend_from_slice(&stats.cycles.to_le_bytes());
    let checksum = checksum(key, &out.0[CHECKSUM..]);
    out.0[..CHECKSUM].copy_from_slice(checksum.as_bytes());
    out.0
}

/// The binary that bytes are; nothing when they were cut off, changed, made for another key, or ask
/// for what no launch can set up.
pub(super) fn decode(key: &Key, bytes: &[u8]) -> Option<ShaderBinary> {
    let (sum, body) = bytes.split_at_checked(CHECKSUM)?;
    if checksum(key, body) != *sum {
        return None;
    }
    let binary = parse(body)?;
    is_launchable(&binary).then_some(binary)
}

fn checksum(key: &Key, body: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_keyed(&key.0);
    hasher.update(body);
    hasher.finalize()
}

fn parse(body: &[u8]) -> Option<ShaderBinary> {
    let mut from = Reader(body);
    let length = from.u32()? as usize;
    let code = from.take(length)?.to_vec();
    let stage = stage::parse(&mut from)?;
    let workgroup_size = [from.u16()?, from.u16()?, from.u16()?];
    let pointers = from.list(2, |from| pointer(from.u16()?))?;
    let publications = from.u16()?;
    let textures = from.list(8, |from| {
        Some(TextureSlot {
            set: u8::try_from(from.u32()?).ok()?,
            offset: from.u32()?,
        })
    })?;
    let samplers = from.list(8, |from| match (from.u32()?, from.u32()?) {
        (u32::MAX, 0) => Some(SamplerSlot::Fetch),
        (set, offset) => Some(SamplerSlot::Descriptor {
            set: u8::try_from(set).ok()?,
            offset,
        }),
    })?;
    let scratch_bytes = from.u16()?;
    let spill_bytes = from.u16()?;
    let threadgroup_bytes = from.u32()?;
    let workgroup_buffer_bytes = from.u32()?;
    let resources = from.list(8, |from| {
        Some(Resource {
            set: from.u32()?,
            binding: from.u32()?,
        })
    })?;
    let mut next = || from.u32();
    let stats = Statistics {
        instructions: next()?,
        bytes: next()?,
        waits: next()?,
        moves: next()?,
        gprs: next()?,
        spills: next()?,
        fills: next()?,
        scratch: next()?,
        loops: next()?,
        cycles: u64::from(next()?) | u64::from(next()?) << 32,
    };
    from.0.is_empty().then_some(ShaderBinary {
        code,
        stage,
        workgroup_size,
        pointers,
        publications,
        textures,
        samplers,
        scratch_bytes,
        spill_bytes,
        threadgroup_bytes,
        workgroup_buffer_bytes,
        resources,
        stats,
    })
}

/// Whether a binary keeps the limits that uploading and launching it rely on.
fn is_launchable(binary: &ShaderBinary) -> bool {
    let pointers = usize::from(MIN_POINTERS)..=usize::from(MAX_POINTERS);
    let is_known = |pointer: &Pointer| match pointer {
        Pointer::DescriptorSet(set) => u32::from(*set) < limits::SETS,
        _ => true,
    };
    let slots = binary.textures.len() <= MAX_TEXTURES && binary.samplers.len() <= MAX_SAMPLERS;
    slots
        && (1..=MAX_CODE).contains(&binary.code.len())
        && binary.code.len().is_multiple_of(2)
        && stage::is_launchable(binary)
        && pointers.contains(&binary.pointers.len())
        && binary.pointers.iter().all(is_known)
        && binary.publications <= MAX_PUBLICATIONS
        && binary.scratch_bytes <= MAX_SCRATCH
        && binary.spill_bytes <= MAX_SCRATCH
        && binary.threadgroup_bytes <= MAX_THREADGROUP_BYTES
}

fn numbers(stats: &Statistics) -> [u32; 9] {
    let Statistics {
        instructions,
        bytes,
        waits,
        moves,
        gprs,
        spills,
        fills,
        scratch,
        loops,
        cycles: _,
    } = *stats;
    [
        instructions,
        bytes,
        waits,
        moves,
        gprs,
        spills,
        fills,
        scratch,
        loops,
    ]
}

/// Kinds of pointers; those of sets have the set in the upper byte.
const POINTERS: [Pointer; 13] = [
    Pointer::Unused,
    Pointer::WorkgroupCounts,
    Pointer::ThreadgroupRoot,
    Pointer::PushConstants,
    Pointer::BaseWorkgroup,
    Pointer::DynamicBuffers,
    Pointer::WorkgroupBuffer,
    Pointer::TextureTable,
    Pointer::SamplerTable,
    Pointer::VertexBuffers,
    Pointer::DrawParameters,
    Pointer::BlendConstants,
    Pointer::DrawNumber,
];
const SET: u16 = POINTERS.len() as u16;

fn pointer_code(pointer: Pointer) -> u16 {
    match pointer {
        Pointer::Unused => 0,
        Pointer::WorkgroupCounts => 1,
        Pointer::ThreadgroupRoot => 2,
        Pointer::PushConstants => 3,
        Pointer::BaseWorkgroup => 4,
        Pointer::DynamicBuffers => 5,
        Pointer::WorkgroupBuffer => 6,
        Pointer::TextureTable => 7,
        Pointer::SamplerTable => 8,
        Pointer::VertexBuffers => 9,
        Pointer::DrawParameters => 10,
        Pointer::BlendConstants => 11,
        Pointer::DrawNumber => 12,
        Pointer::DescriptorSet(set) => SET | u16::from(set) << 8,
    }
}

fn pointer(code: u16) -> Option<Pointer> {
    if code & 0xff == SET {
        return Some(Pointer::DescriptorSet((code >> 8) as u8));
    }
    POINTERS.get(usize::from(code)).copied()
}

struct Writer(Vec<u8>);

impl Writer {
    fn u16(&mut self, value: u16) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// The first in bit 0.
    fn flags(&mut self, flags: &[bool]) {
        let bits = flags.iter().enumerate();
        self.u32(bits.fold(0, |all, (at, flag)| all | u32::from(*flag) << at));
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    /// So many, and no others.
    fn flags<const N: usize>(&mut self) -> Option<[bool; N]> {
        let bits = self.u32()?;
        (bits >> N == 0).then(|| std::array::from_fn(|at| bits >> at & 1 != 0))
    }

    /// A list with its length, of elements of so many bytes.
    fn list<T>(
        &mut self,
        size: usize,
        one: impl Fn(&mut Reader<'a>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let count = self.u32()? as usize;
        // Before anything is allocated for it.
        if count > self.0.len() / size {
            return None;
        }
        (0..count).map(|_| one(self)).collect()
    }
}

#[cfg(test)]
pub(super) mod tests;
