// SPDX-License-Identifier: MIT
//! Checking `layout` vectors: sizes and offsets in tiled images, computed by agx-hw.
//!
//! The vectors count square tiles: where a page is two squares wide, agx-hw's tile is both of them
//! (docs/hw images, 7.1), so columns and widths are converted here.

use agx_hw::format::Element;
use agx_hw::layout::{Image, Level, Position, Samples, Stack, Tiled, is_compressible};
use serde_json::Value;

use super::Outcome;
use super::bind::Problem;
use super::descriptor::{Inputs, Stated};
use super::value::{boolean, integer, string};

/// What a vector's operation gives: numbers, truths and texts by key.
enum Got {
    Number(u64),
    Truth(bool),
    Text(&'static str),
}

/// Checks one vector.
pub(super) fn check(json: Value) -> Outcome {
    let problem = match Stated::from_json(json) {
        Ok(vector) => check_vector(&vector).err(),
        Err(problem) => Some(problem),
    };
    match problem {
        None => Outcome::Passed { hint_taken: false },
        Some(problem) => Outcome::Failed(problem),
    }
}

fn check_vector(vector: &Stated) -> Result<(), Problem> {
    if vector.hex.is_some() || vector.len.is_some() {
        return Err("a layout has no bytes".to_owned());
    }
    let mut inputs = Inputs::new(&vector.inputs);
    let (tiled, results) = compute(vector, &mut inputs)?;
    inputs.finish()?;
    for (key, value) in &vector.expected {
        let found = results.iter().find(|(name, _)| name == key);
        let (_, got) = found.ok_or_else(|| format!("`{key}` has no meaning in `{}`", vector.op))?;
        let (same, shown) = match got {
            Got::Number(n) => (integer(value)? == *n, format!("{n:#x}")),
            Got::Truth(b) => (boolean(value)? == *b, b.to_string()),
            Got::Text(text) => (string(value)? == *text, (*text).to_owned()),
        };
        if !same {
            return Err(format!("`{key}`: expected {value}, got {shown}"));
        }
    }
    match (vector.note.as_deref(), &tiled) {
        (Some(note), Some(tiled)) => check_note(note, tiled),
        _ => Ok(()),
    }
}

type Computed = (Option<Tiled>, Vec<(&'static str, Got)>);

fn compute(vector: &Stated, inputs: &mut Inputs) -> Result<Computed, Problem> {
    let families: &[&str] = match vector.op.as_str() {
        "level_size" => &["block_compressed", "twiddle"],
        "compression_allowed" => &["compression"],
        "mip_offset" | "chain_size" => &["mip_chain"],
        "tile_edge" => &["multisample", "tile_shape"],
        "layer_stride" | "padded_plane_width" => &["plane_stack"],
        "tile_columns" | "texel_order" | "texel_offset" | "padded_dimension" => &["twiddle"],
        other => return Err(format!("operation `{other}` is not known")),
    };
    vector.check_family(families)?;
    if vector.op == "compression_allowed" {
        let allowed = is_compressible(inputs.size("width")?, inputs.size("height")?);
        return Ok((None, vec![("allowed", Got::Truth(allowed))]));
    }
    let image = describe(vector, inputs)?;
    let tiled = Tiled::new(image).map_err(|e| e.to_string())?;
    let level = &tiled.levels()[0];
    let number = Got::Number;
    let results = match vector.op.as_str() {
        "level_size" => vec![
            ("bytes", number(level.size)),
            ("tile_edge_blocks", number(edge(level))),
            ("tile_columns", number(columns(level))),
        ],
        "mip_offset" => {
            let at = inputs.number("level")?;
            let level = usize::try_from(at)
                .ok()
                .and_then(|at| tiled.levels().get(at));
            let level = level.ok_or_else(|| format!("the image has no level {at}"))?;
            vec![("byte_offset", number(level.offset))]
        }
        "chain_size" => vec![("bytes", number(tiled.tree_size()))],
        "tile_edge" => {
            let mut results = vec![
                ("tile_edge", number(edge(level))),
                (
                    "column_granularity_tiles",
                    number(u64::from(level.tile_width) / edge(level)),
                ),
            ];
            if image.samples != Samples::One {
                results.push(("order", Got::Text(sample_order(&tiled))));
            }
            results
        }
        "layer_stride" => vec![("bytes", number(tiled.layer_stride()))],
        "padded_plane_width" => vec![("padded_width", number(padded_width(level)))],
        "tile_columns" => vec![("tile_columns", number(columns(level)))],
        "padded_dimension" => vec![("padded", number(padded_width(level)))],
        _ => {
            let at = Position {
                x: inputs.size("x")?,
                y: inputs.size("y")?,
                ..Position::default()
            };
            let offset = tiled.offset(at).ok_or("the texel is outside the image")?;
            if tiled.locate(offset) != Some(at) {
                return Err(format!("{offset:#x} does not lead back to {at:?}"));
            }
            vec![
                ("byte_offset", number(offset)),
                (
                    "texel_index",
                    number(offset / u64::from(image.element.bytes)),
                ),
            ]
        }
    };
    // Each operation states the values that are its own.
    let results = match vector.op.as_str() {
        "texel_order" => results
            .into_iter()
            .filter(|r| r.0 == "texel_index")
            .collect(),
        "texel_offset" => results
            .into_iter()
            .filter(|r| r.0 == "byte_offset")
            .collect(),
        _ => results,
    };
    Ok((Some(tiled), results))
}

/// The image that a vector describes. What it leaves out is large enough for whole tiles.
fn describe(vector: &Stated, inputs: &mut Inputs) -> Result<Image, Problem> {
    const LARGE: u32 = 1024;
    let mut image = Image {
        width: LARGE,
        height: LARGE,
        stack: Stack::Layers(1),
        element: Element::texel(1),
        samples: Samples::One,
        mipmapped: false,
        page_aligned: false,
    };
    if vector.family == "block_compressed" {
        let bytes = bytes_of(inputs, "bytes_per_block")?;
        image.element = Element::block(4, 4, bytes);
        for (size, key) in [
            (&mut image.width, "width_blocks"),
            (&mut image.height, "height_blocks"),
        ] {
            let texels = inputs.size(key)?.checked_mul(4);
            *size = texels.ok_or_else(|| format!("input `{key}` is too large"))?;
        }
        return Ok(image);
    }
    image.element = Element::texel(bytes_of(inputs, "bytes_per_texel")?);
    match vector.op.as_str() {
        "tile_edge" => {
            if vector.family == "multisample" {
                image.samples = match inputs.number("samples")? {
                    2 => Samples::Two,
                    4 => Samples::Four,
                    other => return Err(format!("{other} samples do not exist")),
                };
            }
        }
        "layer_stride" => {
            if inputs.text("type")? != "1d_array" {
                return Err("input `type` is not `1d_array`".to_owned());
            }
            image.width = inputs.size("width")?;
            image.height = 1;
            image.stack = Stack::Layers(2);
        }
        "padded_plane_width" => {
            if inputs.text("type")? != "3d" {
                return Err("input `type` is not `3d`".to_owned());
            }
            image.width = inputs.size("width")?;
            image.height = inputs.size("height")?;
            image.stack = Stack::Slices(2);
        }
        "tile_columns" => image.width = inputs.size("width")?,
        "padded_dimension" => {
            image.width = inputs.size("dimension")?;
            image.height = image.width;
        }
        _ => {
            image.width = inputs.size("width")?;
            image.height = inputs.size("height")?;
            if vector.op != "texel_order" {
                image.mipmapped = mipmapped(&image, &inputs.take("mips")?)?;
            }
        }
    }
    Ok(image)
}

fn bytes_of(inputs: &mut Inputs, key: &str) -> Result<u8, Problem> {
    let bytes = inputs.number(key)?;
    u8::try_from(bytes).map_err(|_| format!("input `{key}`: an element has no {bytes} bytes"))
}

/// A number of levels, or `full`: whether there are several. The image must have them.
fn mipmapped(image: &Image, mips: &Value) -> Result<bool, Problem> {
    if mips == "full" {
        return Ok(true);
    }
    let count = integer(mips).map_err(|p| format!("input `mips`: {p}"))?;
    let full = Tiled::new(Image {
        mipmapped: true,
        ..*image
    });
    let full = full.map_err(|e| e.to_string())?.levels().len() as u64;
    if !(1..=full).contains(&count) {
        return Err(format!("the image has at most {full} levels, not {count}"));
    }
    Ok(count > 1)
}

/// The edge of a square tile: a tile is one, or two side by side.
fn edge(level: &Level) -> u64 {
    level.tile_width.min(level.tile_height).into()
}

/// Square tiles in a row.
fn columns(level: &Level) -> u64 {
    padded_width(level) / edge(level)
}

/// Elements in a row of whole tiles.
fn padded_width(level: &Level) -> u64 {
    u64::from(level.columns) * u64::from(level.tile_width)
}

/// How the samples of a pixel lie to each other.
fn sample_order(tiled: &Tiled) -> &'static str {
    let bytes = u64::from(tiled.image().element.bytes);
    let offset = |x, sample| {
        tiled.offset(Position {
            x,
            sample,
            ..Position::default()
        })
    };
    let samples: u8 = match tiled.image().samples {
        Samples::One => 1,
        Samples::Two => 2,
        Samples::Four => 4,
    };
    let adjacent = (0..4).all(|x| {
        let first = offset(x, 0);
        (0..samples)
            .all(|sample| offset(x, sample) == first.map(|first| first + u64::from(sample) * bytes))
    });
    if adjacent {
        "samples of a texel are adjacent"
    } else {
        "samples of a texel are apart"
    }
}

/// Notes that state a rule. Other notes are remarks.
fn check_note(note: &str, tiled: &Tiled) -> Result<(), Problem> {
    let levels = tiled.levels();
    let level = &levels[0];
    let bytes = u64::from(tiled.image().element.bytes);
    let holds = match note {
        "smallest slot is 0x80 bytes" => {
            let ends = levels.iter().skip(1).map(|level| level.offset);
            let ends = ends.chain([tiled.tree_size()]);
            let slots = levels
                .iter()
                .zip(ends)
                .map(|(level, end)| end - level.offset);
            slots.min() == Some(0x80)
        }
        "the tail of small levels starts at a multiple of 0x8000" => levels
            .get(usize::from(tiled.first_small()))
            .is_some_and(|level| level.offset.is_multiple_of(0x8000)),
        "planes are stacked at padded_width*padded_height*bytes" => {
            let rows = u64::from(level.height.div_ceil(level.tile_height));
            let height = rows * u64::from(level.tile_height);
            tiled.layer_stride() == padded_width(level) * height * bytes
        }
        "x occupies the even bits" => (0..edge(level).ilog2()).all(|bit| {
            level.index(1 << bit, 0) == 1 << (2 * bit)
                && level.index(0, 1 << bit) == 1 << (2 * bit + 1)
        }),
        "next power of two below one tile, otherwise a multiple of the tile edge (mip levels and \
         stacked planes)" => {
            let (width, padded) = (u64::from(level.width), padded_width(level));
            if tiled.first_small() == 0 {
                padded == width.next_power_of_two()
            } else {
                padded.is_multiple_of(edge(level)) && padded - width < u64::from(level.tile_width)
            }
        }
        _ => true,
    };
    if holds {
        Ok(())
    } else {
        Err(format!("the note does not hold: {note}"))
    }
}
