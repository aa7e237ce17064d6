// SPDX-License-Identifier: MIT
//! Texture bundles and image stores (isa-3, 2 and 3; isa-4, 1, 2 and 6), as micro-ops over
//! [`crate::texture`].
//!
//! **Tables.** Records are reached through two tables of 32-byte entries: textures and store records at
//! argument pair 0, samplers at pair 1 (isa-4, 1.2; launch, 6.3). What is not mapped, and what was
//! never written, is an empty entry.
//!
//! **Faults.** A record that the hardware faults on or no proven driver writes (images, 10.1) ends the
//! command in any mode. Strict mode faults as well where the reference has no answer or the hardware
//! is silent about a mistake: tables and texels that are not mapped, a bundle for another kind of texture,
//! a fetch through a sampler that is not the neutral one, reserved bits of W3, coordinates of stores
//! that may wrap, layers of stores, loads of texels that the SIMD group stored and did not fence.

use agx_hw::sampler::Sampler;
use agx_isa::{FormId, Instr, Value};

use super::lanes::Lanes;
use super::microop::{MicroOp, Step};
use super::operand::Dst;
use super::wave::{GPRS, PUBLICATIONS, Wave};
use crate::fault::FaultKind;
use crate::texture::filter::{self, Inputs};
use crate::texture::lod::WORDS;
use crate::texture::record::{self, Record, SLOT_BYTES, Shape, Target, View};
use crate::texture::request::{self, Coordinates, Kind, Request};
use crate::texture::store;
use crate::texture::texel::{Memory, Position};

/// Argument pair of the texture table.
const TEXTURES: u8 = 0;
/// Argument pair of the sampler table.
const SAMPLERS: u8 = 1;

/// Coordinates of stores above this may wrap (isa-4, 2.2; INFERRED).
const MAX_STORE_COORDINATE: u32 = 0xffff;

/// The address of an entry of a table.
fn entry(wave: &Wave<'_>, table: u8, index: u32) -> u64 {
    let base = wave.group.dispatch.uniforms.pair(table);
    base.wrapping_add(SLOT_BYTES * u64::from(index))
}

/// Strict mode: the table's argument words were written and the record is mapped.
fn is_there(wave: &mut Wave<'_>, table: u8, va: u64, mapped: bool) -> Result<(), Step> {
    let dispatch = wave.group.dispatch;
    if !dispatch.strict {
        return Ok(());
    }
    if !dispatch.uniforms.is_written(2 * table) || !dispatch.uniforms.is_written(2 * table + 1) {
        let reason = format!("the table at argument pair {table} was never written");
        return Err(wave.fail(FaultKind::Strict(reason), None));
    }
    if !mapped {
        return Err(wave.fail(unmapped("record fetch", va, SLOT_BYTES as u32), None));
    }
    Ok(())
}

fn unmapped(access: &'static str, va: u64, bytes: u32) -> FaultKind {
    FaultKind::Memory {
        access,
        va,
        bytes,
        reason: "not mapped with this permission",
    }
}

/// A record that may be used; `None` of an empty entry.
fn usable<'r, T>(
    wave: &mut Wave<'_>,
    va: u64,
    record: &'r Record<T>,
) -> Result<Option<&'r T>, Step> {
    match record {
        Record::Valid(record) => Ok(Some(record)),
        Record::Empty => Ok(None),
        Record::Invalid(reason) => {
            let reason = reason.clone();
            Err(wave.fail(FaultKind::Record { va, reason }, None))
        }
    }
}

/// Strict mode: does the bundle fit the texture and the sampler?
#[cold]
#[inline(never)]
fn mismatch(
    request: &Request,
    view: &View,
    sampler: &Sampler,
    words: &[Lanes; WORDS],
    active: u32,
) -> Option<String> {
    let volume = request.coordinates == Coordinates::Volume;
    if volume != (view.shape == Shape::Volume) {
        return Some("a bundle for 3D textures and no others".to_owned());
    }
    if request.multisample != (view.shape == Shape::Multisample) {
        return Some("a bundle for multisampled textures and no others".to_owned());
    }
    if request.coordinates == Coordinates::Cube && view.shape != Shape::Cube {
        return Some("a bundle for cubes on another texture".to_owned());
    }
    if request.kind == Kind::Fetch && *sampler != Sampler::fetch() {
        return Some(format!(
            "a fetch through a sampler that may change its level: {sampler:?}"
        ));
    }
    if request.reads_w3() {
        let wrong = |lane: &usize| active >> lane & 1 == 1 && words[3].0[*lane] >> 28 != 0;
        if let Some(lane) = (0..32).find(wrong) {
            let w3 = words[3].0[lane];
            return Some(format!(
                "bits 28..31 of W3 are not 0 in lane {lane}: {w3:#x}"
            ));
        }
    }
    None
}

/// Immediate 0: parameter block, texture, sampler, components. Immediates 1 and 2: the request.
#[inline(always)]
fn run_texture(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let [registers, first, second, _] = op.imm;
    let request = Request::unpack([first, second]);
    let param = registers as u8;
    let va = entry(wave, TEXTURES, registers >> 8 & 0xff);
    let sampler_va = entry(wave, SAMPLERS, registers >> 16 & 0xff);
    let mask = registers >> 24;
    if wave.active() == 0 {
        return Step::Next;
    }
    let (record, mapped) = record::view_at(wave.group.tlb, va);
    if let Err(step) = is_there(wave, TEXTURES, va, mapped) {
        return step;
    }
    let view = match usable(wave, va, &record) {
        Ok(view) => view,
        Err(step) => return step,
    };
    let (sampler_record, mapped) = record::sampler_at(wave.group.tlb, sampler_va);
    if let Err(step) = is_there(wave, SAMPLERS, sampler_va, mapped) {
        return step;
    }
    let sampler = match usable(wave, sampler_va, &sampler_record) {
        Ok(sampler) => sampler,
        Err(step) => return step,
    };
    let mut out = [Lanes::ZERO; 4];
    if let (Some(view), Some(sampler)) = (view, sampler) {
        let mut words = [Lanes::ZERO; WORDS];
        for (number, word) in words.iter_mut().enumerate() {
            if request.words >> number & 1 == 1 {
                *word = wave.publication(param.wrapping_add(number as u8));
            }
        }
        let active = wave.active();
        let strict = wave.group.dispatch.strict;
        if strict && let Some(why) = mismatch(&request, view, sampler, &words, active) {
            return wave.fail(FaultKind::Strict(why), None);
        }
        let mut memory = Memory::new(wave.group.tlb);
        if strict {
            memory = memory.counting(&wave.unfenced);
        }
        out = filter::run(&Inputs {
            memory: &memory,
            view,
            sampler,
            request,
            words: &words,
            active,
            quads: wave.group.dispatch.stage.has_quads(),
        });
        let (stale, missed) = (memory.stale(), memory.missed());
        if strict && let Some((va, lane)) = stale {
            let reason =
                format!("loads the texel at {va:#x}, whose store no texture fence follows");
            return wave.fail(FaultKind::Strict(reason), Some(lane));
        }
        if strict && let Some((va, lane)) = missed {
            let bytes = view.surface.codec.bytes.into();
            return wave.fail(unmapped("texture read", va, bytes), Some(lane));
        }
    }
    let Dst::Gpr(mut dst) = op.dst else {
        return Step::Next;
    };
    for (component, value) in out.iter().enumerate() {
        if mask >> component & 1 == 1 {
            wave.write(Dst::Gpr(dst), value);
            dst += 1;
        }
    }
    Step::Next
}

/// Strict mode: does the store fit the record?
#[cold]
#[inline(never)]
fn store_mismatch(target: &Target, volume: bool, at: &Position, active: u32) -> Option<String> {
    if volume != (target.shape == Shape::Volume) {
        return Some("an image store of other coordinates than the record has".to_owned());
    }
    if target.layered {
        return Some(
            "an image store to a record of several layers: the layer's operand is not known \
             (isa-4, 2.2)"
                .to_owned(),
        );
    }
    let far = |lane: &usize| {
        let z = if volume { at.layer.0[*lane] } else { 0 };
        let most = at.x.0[*lane].max(at.y.0[*lane]).max(z);
        active >> lane & 1 == 1 && most > MAX_STORE_COORDINATE
    };
    let lane = (0..32).find(far)?;
    Some(format!(
        "the coordinates of an image store in lane {lane} are not clamped: they may wrap into the image"
    ))
}

/// Immediate 0: parameter block. Immediate 1: image. Immediate 2: 1 with three coordinates.
#[inline(always)]
fn run_store(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let param = op.imm[0] as u8;
    let va = entry(wave, TEXTURES, op.imm[1]);
    let volume = op.imm[2] == 1;
    let active = wave.active();
    if active == 0 {
        return Step::Next;
    }
    let (record, mapped) = record::target_at(wave.group.tlb, va);
    if let Err(step) = is_there(wave, TEXTURES, va, mapped) {
        return step;
    }
    let target = match usable(wave, va, &record) {
        // An image that is not bound: nothing is stored (isa-4, 2.2; HW).
        Ok(None) => return Step::Next,
        Ok(Some(target)) => target,
        Err(step) => return step,
    };
    if target.shape == Shape::Multisample {
        // Not native (images, 3).
        let reason = "a store of single texels to a multisampled image".to_owned();
        return wave.fail(FaultKind::Record { va, reason }, None);
    }
    let word = |number: u8| wave.publication(param.wrapping_add(number));
    // With two coordinates, word 4 is the natural place for a layer (isa-4, 2.2; INFERRED).
    let (colour, layer) = if volume {
        ([4, 5, 6, 7], word(2))
    } else if target.layered {
        ([2, 3, 6, 7], word(4))
    } else {
        ([2, 3, 6, 7], Lanes::ZERO)
    };
    let colour = colour.map(word);
    let at = Position {
        x: word(0),
        y: word(1),
        layer,
    };
    let strict = wave.group.dispatch.strict;
    if strict && let Some(why) = store_mismatch(target, volume, &at, active) {
        return wave.fail(FaultKind::Strict(why), None);
    }
    let mut memory = Memory::new(wave.group.tlb);
    if strict {
        memory = memory.counting(&wave.unfenced);
    }
    store::store(&memory, target, active, &at, &colour);
    let missed = memory.missed();
    if strict && let Some((va, lane)) = missed {
        let bytes = target.surface.codec.bytes.into();
        return wave.fail(unmapped("image store", va, bytes), Some(lane));
    }
    Step::Next
}

crate::kernel! {
    texture = run_texture;
    image_store = run_store;
}

/// The publication that a block begins at.
fn block(instr: &Instr, operand: usize) -> Option<u32> {
    match instr.arg(operand).value {
        Value::Reg(reg) if usize::from(reg.index) < PUBLICATIONS => Some(reg.index.into()),
        _ => None,
    }
}

pub(super) fn lower(instr: &Instr) -> Option<MicroOp> {
    match instr.id() {
        FormId::Tex => lower_texture(instr),
        FormId::ImageStore => {
            let volume = match instr.modifier("kind")? {
                4 => 0,
                8 => 1,
                // Of cubes the words are not known.
                _ => return None,
            };
            let param = block(instr, 0)?;
            if param as usize + 8 > PUBLICATIONS {
                return None;
            }
            let image = request::index(instr, 1)?;
            Some(MicroOp::new(image_store()).imms([param, image, volume]))
        }
        _ => None,
    }
}

fn lower_texture(instr: &Instr) -> Option<MicroOp> {
    let request = Request::of(instr)?;
    let mask = u32::from(instr.texture_components());
    let dst = Dst::of(instr, 0)?;
    let Dst::Gpr(number) = dst else {
        return None;
    };
    if u32::from(number) + mask.count_ones() > GPRS as u32 {
        return None;
    }
    let registers = block(instr, 1)?
        | request::index(instr, 2)? << 8
        | request::index(instr, 3)? << 16
        | mask << 24;
    let [first, second] = request.pack();
    Some(
        MicroOp::new(texture())
            .dst(dst)
            .imms([registers, first, second]),
    )
}
