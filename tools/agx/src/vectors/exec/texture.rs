// SPDX-License-Identifier: MIT
//! Vectors of the texture families: an image of marked texels or levels, one texture bundle, and what
//! it must answer. Levels are told by their number as the texels' value.

use std::sync::Arc;

use agx_hw::format::Format;
use agx_hw::layout::Position;
use agx_hw::sampler::{Compare, Filter, LodRange, MipFilter, Sampler};
use agx_hw::texture::{Dimension, Levels, Memory, Texture, Tiling};
use agx_isa::asm::assemble;
use agx_sim::memory::{Bo, Mappings, Region, Tlb};
use agx_sim::rig::{DATA, Rig};
use agx_sim::shader::{Exit, LANES, Lanes};
use agx_sim::texture::filter::{self, Inputs};
use agx_sim::texture::lod::WORDS;
use agx_sim::texture::record::{self, Record};
use agx_sim::texture::request::{Coordinates, Detail, Kind, Request};
use agx_sim::texture::texel;
use serde_json::Value;

use super::Exec;

/// Where texels lie.
const TEXELS: u64 = DATA + (1 << 30);

/// Checks the vector; `None` when the operation is not known.
pub(super) fn check(vector: &Exec) -> Option<Result<(), String>> {
    Some(match vector.op.as_str() {
        "sample_compare_nearest" => check_compare(vector),
        "gather" => check_gather(vector),
        "texture_lod_bias" | "texture_lod_clamp" => check_bias(vector),
        "texture_gradient_lod" => check_gradient(vector),
        "texture_query_lod" => check_query(vector),
        "cube_gradient_lod" => check_cube_gradient(vector),
        _ => return None,
    })
}

/// An image in memory.
struct Image {
    texture: Texture,
    bo: Arc<Bo>,
}

impl Image {
    /// An image whose elements `element` gives.
    fn new(
        format: Format,
        dimension: Dimension,
        [width, height]: [u32; 2],
        levels: u8,
        element: impl Fn(Position) -> u32,
    ) -> Result<Image, String> {
        let mut texture = Texture::tiled(format, dimension, width, height, TEXELS);
        if levels > 1 {
            let last = levels - 1;
            texture.memory = Memory::Tiled(Tiling {
                dimension,
                levels: Levels::View { first: 0, last },
                page_aligned: false,
                compression: None,
            });
        }
        let layout = texture.layout().map_err(|e| e.to_string())?;
        let bo = Bo::new(layout.size()).map_err(|e| e.to_string())?;
        for offset in (0..layout.size()).step_by(4) {
            if let Some(at) = layout.locate(offset) {
                let word = element(at).to_le_bytes();
                // SAFETY: inside the object, and nobody else knows of it yet.
                unsafe {
                    let target = bo.base().add(offset as usize);
                    std::ptr::copy_nonoverlapping(word.as_ptr(), target, word.len());
                }
            }
        }
        Ok(Image {
            texture,
            bo: Arc::new(bo),
        })
    }

    /// A square image of 256 texels whose texels say their level.
    fn of_levels(count: u8) -> Result<Image, String> {
        let level = |at: Position| f32::from(at.level).to_bits();
        Image::new(Format::R32Sfloat, Dimension::D2, [256; 2], count, level)
    }

    fn region(&self) -> Region {
        Region {
            start: TEXELS,
            end: TEXELS + self.bo.size(),
            bo: Arc::clone(&self.bo),
            offset: 0,
            single_page: false,
            read: true,
            write: true,
        }
    }

    /// Executes one bundle with the words of its parameter block by lane; r0..r3.
    fn run(
        &self,
        bundle: &str,
        sampler: &Sampler,
        word: impl Fn(usize, usize) -> u32,
    ) -> Result<[[f32; LANES]; 4], String> {
        let mut text = String::new();
        for index in 0..8 {
            let register = 32 + index;
            text += &format!("or.10 p{index}, r{register}, r{register}, slot=1\n");
        }
        text += &format!("{bundle}, wait=1, slot=1\nstop\n");
        let code = assemble(&text).map_err(|e| e.to_string())?;
        let mut rig = Rig::with(code, 0x4000).map_err(|e| e.to_string())?;
        rig.pointer(0, DATA);
        rig.pointer(1, DATA + 0x1000);
        let mut slot = [0; 32];
        self.texture.pack(&mut slot).map_err(|e| e.to_string())?;
        rig.write_bytes(0, &slot);
        sampler.pack(&mut slot).map_err(|e| e.to_string())?;
        rig.write_bytes(0x1000, &slot);
        rig.more.push(self.region());
        let result = rig.execute(
            |wave| {
                for index in 0..8 {
                    wave.gprs[32 + index] = Lanes::from_fn(|lane| word(index, lane));
                }
            },
            |wave, exit| match exit {
                Exit::Stop => Ok([0, 1, 2, 3].map(|c| wave.gprs[c].0.map(f32::from_bits))),
                Exit::Fault(fault) => Err(fault.to_string()),
                other => Err(format!("the program ended with {other:?}")),
            },
        );
        result.map_err(|e| e.to_string())?
    }
}

/// A number, which may be spelled out.
fn float(value: Option<&Value>) -> Result<f32, String> {
    match value {
        Some(Value::String(text)) => match text.as_str() {
            "inf" => Ok(f32::INFINITY),
            "nan" => Ok(f32::NAN),
            "default" => Ok(LodRange::LIMIT),
            other => Err(format!("`{other}` is no number")),
        },
        Some(value) => value
            .as_f64()
            .map(|value| value as f32)
            .ok_or_else(|| format!("{value} is no number")),
        None => Err("a number is missing".to_owned()),
    }
}

fn floats(value: Option<&Value>) -> Result<Vec<f32>, String> {
    let list = value.and_then(Value::as_array).ok_or("a list is missing")?;
    list.iter().map(|value| float(Some(value))).collect()
}

impl Exec {
    fn input(&self, name: &str) -> Result<f32, String> {
        float(self.inputs.get(name)).map_err(|why| format!("input `{name}`: {why}"))
    }

    /// What results may differ by.
    fn absolute(&self) -> Result<f32, String> {
        match self.tolerance.as_str() {
            Some("exact") => Ok(0.0),
            Some(text) => text.parse().map_err(|_| format!("tolerance `{text}`")),
            None => Err("the tolerance is no text".to_owned()),
        }
    }

    fn near(&self, what: &str, have: f32, want: f32) -> Result<(), String> {
        if (have - want).abs() <= self.absolute()? {
            Ok(())
        } else {
            Err(format!("{what}: {have}, expected {want}"))
        }
    }

    /// The sampler that a level vector describes.
    fn level_sampler(&self) -> Result<Sampler, String> {
        Ok(Sampler {
            mag: Filter::Linear,
            min: Filter::Linear,
            mip: MipFilter::Linear,
            lod: LodRange::new(self.input("lod_min")?, self.input("lod_max")?),
            ..Sampler::default()
        })
    }
}

/// The level operand by the recipe of isa-3, 2.2: the maximum first, so that NaN is the lower end.
fn level_operand(lod: f32) -> u32 {
    let clamped = lod.max(-32.0).min(2047.0 / 64.0);
    ((clamped * 64.0).floor() as i32 as u32 & 0xfff) << 16
}

/// Texels side by side, each compared with one reference.
fn check_compare(vector: &Exec) -> Result<(), String> {
    let texels = floats(vector.inputs.get("texels"))?;
    let expected = floats(Some(&vector.expected))?;
    let name = vector.inputs.get("compare").and_then(Value::as_str);
    let compare = match name {
        Some("always") => Compare::Always,
        Some("equal") => Compare::Equal,
        Some("greater") => Compare::Greater,
        Some("less") => Compare::Less,
        Some("less_equal") => Compare::LessOrEqual,
        Some("not_equal") => Compare::NotEqual,
        other => return Err(format!("comparison {other:?}")),
    };
    if texels.len() > LANES || texels.len() != expected.len() {
        return Err("the lists do not fit".to_owned());
    }
    let width = texels.len() as u32;
    let value = |at: Position| texels[at.x as usize].to_bits();
    let image = Image::new(Format::D32Sfloat, Dimension::D2, [width, 1], 1, value)?;
    let sampler = Sampler {
        compare,
        ..Sampler::default()
    };
    let reference = vector.input("reference")?;
    let bundle = "texture.2d_cmp.load r0, p0, tex0, samp0, sel=0";
    let out = image.run(bundle, &sampler, |word, lane| match word {
        0 => ((lane as f32 + 0.5) / width as f32).to_bits(),
        1 => 0.5f32.to_bits(),
        _ => reference.to_bits(),
    })?;
    for (lane, want) in expected.into_iter().enumerate() {
        vector.near(&format!("texel {lane}"), out[0][lane], want)?;
    }
    Ok(())
}

/// The image that the vector describes in words, gathered at the left edge of a column.
fn check_gather(vector: &Exec) -> Result<(), String> {
    let component = vector.inputs.get("component").and_then(Value::as_str);
    if component != Some("red") {
        return Err(format!("component {component:?}"));
    }
    let texel = |at: Position| 16 * at.x & 255 | (64 * at.x & 255) << 8 | 255 << 24;
    let image = Image::new(Format::R8G8B8A8Unorm, Dimension::D2, [16; 2], 1, texel)?;
    let column = vector.input("column_of_sample_point")?;
    let bundle = "texture.2d.load r0:r3, p0, tex0, samp0, gather=1, sel=0";
    let out = image.run(bundle, &Sampler::default(), |word, _| match word {
        0 => (column / 16.0).to_bits(),
        _ => 0.5f32.to_bits(),
    })?;
    for (number, want) in floats(Some(&vector.expected))?.into_iter().enumerate() {
        vector.near(&format!("texel {number}"), out[number][0], want)?;
    }
    Ok(())
}

fn check_bias(vector: &Exec) -> Result<(), String> {
    let image = Image::of_levels(vector.input("mip_count")? as u8)?;
    if vector.input("base_lod")? != 0.0 {
        return Err("a compute program has level 0 before the bias".to_owned());
    }
    let operand = level_operand(vector.input("bias")?);
    let bundle = "texture.2d_bias.sample r0, p0, tex0, samp0, sel=0";
    let out = image.run(bundle, &vector.level_sampler()?, |word, _| match word {
        0 | 1 => 0.4f32.to_bits(),
        _ => operand,
    })?;
    vector.near("level", out[0][0], float(Some(&vector.expected))?)
}

fn check_gradient(vector: &Exec) -> Result<(), String> {
    let (dx, dy) = (
        floats(vector.inputs.get("dx"))?,
        floats(vector.inputs.get("dy"))?,
    );
    let (&[dxx, dxy], &[dyx, dyy]) = (&dx[..], &dy[..]) else {
        return Err("gradients are not of two coordinates".to_owned());
    };
    if floats(vector.inputs.get("size"))? != [256.0; 2] {
        return Err("another size than 256".to_owned());
    }
    let image = Image::of_levels(vector.input("mip_count")? as u8)?;
    let sampler = Sampler {
        mip: MipFilter::Linear,
        ..Sampler::default()
    };
    let bundle = "texture.2d_grad.sample r0, p0, tex0, samp0, sel=0";
    let out = image.run(bundle, &sampler, |word, _| {
        [0.4, 0.4, 0.0, 0.0, dxx, dyx, dxy, dyy][word].to_bits()
    })?;
    vector.near("level", out[0][0], float(Some(&vector.expected))?)
}

fn check_query(vector: &Exec) -> Result<(), String> {
    let image = Image::of_levels(vector.input("mip_count")? as u8)?;
    let operand = level_operand(vector.input("base_lod")?);
    let bundle = "texture.2d_lod.query r0:r1, p0, tex0, samp0, sel=5";
    let out = image.run(bundle, &vector.level_sampler()?, |word, _| match word {
        0 | 1 => 0.4f32.to_bits(),
        _ => operand,
    })?;
    vector.near("clamped", out[0][0], float(vector.expected.get("clamped"))?)?;
    vector.near(
        "unclamped",
        out[1][0],
        float(vector.expected.get("unclamped"))?,
    )
}

/// A quad around a direction of the named kind, on a cube of 256 texels. Compute programs have no quads, so
/// this goes to the texture unit itself.
fn check_cube_gradient(vector: &Exec) -> Result<(), String> {
    let direction = match vector.inputs.get("direction_class").and_then(Value::as_str) {
        Some("face_center") => [1.0, 0.0, 0.0],
        Some("at_edge") => [0.5f32.sqrt(), 0.5f32.sqrt(), 0.0],
        Some("at_corner") => [(1.0f32 / 3.0).sqrt(); 3],
        other => return Err(format!("direction {other:?}")),
    };
    let magnitude = vector.input("gradient_magnitude")?;
    let image = Image::new(Format::R32Sfloat, Dimension::Cube, [256; 2], 9, |_| 0)?;
    let mut slot = [0; 32];
    image.texture.pack(&mut slot).map_err(|e| e.to_string())?;
    let Record::Valid(view) = record::view(&slot) else {
        return Err("the record is not valid".to_owned());
    };
    let mappings = Mappings::new(vec![image.region()]);
    let tlb = Tlb::new(&mappings);
    let mut words = [Lanes::ZERO; WORDS];
    for lane in 0..LANES {
        let [x, y, z] = direction;
        // To the right the direction turns away from the corner, along the face.
        let z = z - if lane % 2 == 1 { magnitude } else { 0.0 };
        // Face 0: s runs along -z, t along -y.
        words[0].0[lane] = (-z / x * 0.5 + 0.5).to_bits();
        words[1].0[lane] = (-y / x * 0.5 + 0.5).to_bits();
    }
    let out = filter::run(&Inputs {
        memory: &texel::Memory::new(&tlb),
        view: &view,
        sampler: &Sampler::default(),
        request: Request {
            kind: Kind::Query,
            coordinates: Coordinates::Cube,
            detail: Detail::Bias,
            immediate: None,
            compare: false,
            multisample: false,
            component: 0,
            offset: [0; 2],
            words: 0b1011,
        },
        words: &words,
        active: !0,
        quads: true,
    });
    let level = f32::from_bits(out[1].0[0]);
    vector.near("level", level, float(Some(&vector.expected))?)
}
