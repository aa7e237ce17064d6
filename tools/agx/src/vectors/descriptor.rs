// SPDX-License-Identifier: MIT
//! Checking `descriptor` vectors: fields of texture, store ("write") and sampler records.
//!
//! The record is packed by agx-hw from the vector's inputs and must unpack to the same value; then the
//! stated bits are compared. A stated place must also be the field's: which bits a field has is
//! found by packing it with different values, so a vector that reads zeros beside it does not pass.

use agx_hw::format::{Channels, Encoding, Format, Numeric, Source, StoreFrom, Swizzle};
use agx_hw::sampler::{
    self, Anisotropy, Border, Compare, Filter, LodRange, MipFilter, Sampler, Wrap,
};
use agx_hw::store::{self, Store};
use agx_hw::texture::{self, Dimension, Levels, MAX_SIZE, Multisample, Texture, Tiling};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Outcome;
use super::bind::Problem;
use super::load::packed_hex;
use super::value::{boolean, integer, string};
use crate::input::hex;

/// A vector that states fields for inputs: kinds `descriptor` and `layout`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(
    dead_code,
    reason = "fields that only state where a fact comes from are still required"
)]
pub(super) struct Stated {
    id: String,
    kind: String,
    pub(super) family: String,
    pub(super) op: String,
    pub(super) inputs: Map<String, Value>,
    pub(super) expected: Map<String, Value>,
    target: String,
    source: String,
    pub(super) note: Option<String>,
    basis: Option<String>,
    pub(super) hex: Option<String>,
    pub(super) len: Option<usize>,
}

impl Stated {
    /// Reads the vector.
    ///
    /// # Errors
    /// Missing, superfluous or malformed members; nothing stated.
    pub(super) fn from_json(json: Value) -> Result<Stated, Problem> {
        let vector: Stated = serde_json::from_value(json).map_err(|e| e.to_string())?;
        if vector.expected.is_empty() {
            return Err("states nothing".to_owned());
        }
        Ok(vector)
    }

    /// Refuses a family that does not go with the operation.
    pub(super) fn check_family(&self, families: &[&str]) -> Result<(), Problem> {
        if families.contains(&self.family.as_str()) {
            return Ok(());
        }
        Err(format!(
            "operation `{}` is not known in family `{}`",
            self.op, self.family
        ))
    }
}

/// Inputs, taken one by one.
pub(super) struct Inputs(Map<String, Value>);

impl Inputs {
    pub(super) fn new(inputs: &Map<String, Value>) -> Inputs {
        Inputs(inputs.clone())
    }

    pub(super) fn take(&mut self, key: &str) -> Result<Value, Problem> {
        let missing = || format!("input `{key}` is missing");
        self.0.remove(key).ok_or_else(missing)
    }

    fn with<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&Value) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        read(&self.take(key)?).map_err(|p| format!("input `{key}`: {p}"))
    }

    pub(super) fn number(&mut self, key: &str) -> Result<u64, Problem> {
        self.with(key, integer)
    }

    /// A number of 32 bits.
    pub(super) fn size(&mut self, key: &str) -> Result<u32, Problem> {
        let small = |value: &Value| u32::try_from(integer(value)?).map_err(|e| e.to_string());
        self.with(key, small)
    }

    fn boolean(&mut self, key: &str) -> Result<bool, Problem> {
        self.with(key, boolean)
    }

    fn float(&mut self, key: &str) -> Result<f32, Problem> {
        let float = |value: &Value| {
            value
                .as_f64()
                .ok_or_else(|| format!("`{value}` is no number"))
        };
        Ok(self.with(key, float)? as f32)
    }

    pub(super) fn text(&mut self, key: &str) -> Result<String, Problem> {
        self.with(key, |value| string(value).map(str::to_owned))
    }

    /// A word of a list.
    fn word<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> Result<T, Problem> {
        self.with(key, |value| word(value, words))
    }

    /// Refuses what was not taken.
    pub(super) fn finish(self) -> Result<(), Problem> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(key) => Err(format!("input `{key}` has no meaning here")),
        }
    }
}

fn word<T: Copy>(value: &Value, words: &[(&str, T)]) -> Result<T, Problem> {
    let text = string(value)?;
    let found = words.iter().find(|(word, _)| *word == text);
    found
        .map(|(_, meaning)| *meaning)
        .ok_or_else(|| format!("`{text}` is not known"))
}

/// The words that vectors use.
const WRAPS: &[(&str, Wrap)] = &[
    ("edge", Wrap::ClampToEdge),
    ("clamp_to_edge", Wrap::ClampToEdge),
    ("repeat", Wrap::Repeat),
    ("mirror_repeat", Wrap::MirroredRepeat),
    ("clamp_to_zero_or_border", Wrap::ClampToBorder),
    ("mirror_clamp_to_edge", Wrap::MirrorClampToEdge),
];
const FILTERS: &[(&str, Filter)] = &[("nearest", Filter::Nearest), ("linear", Filter::Linear)];
const MIPS: &[(&str, MipFilter)] = &[
    ("none", MipFilter::None),
    ("nearest", MipFilter::Nearest),
    ("linear", MipFilter::Linear),
];
const COMPARES: &[(&str, Compare)] = &[
    ("less_equal", Compare::LessOrEqual),
    ("greater_equal", Compare::GreaterOrEqual),
    ("less", Compare::Less),
    ("greater", Compare::Greater),
    ("equal", Compare::Equal),
    ("not_equal", Compare::NotEqual),
    ("always", Compare::Always),
    ("never", Compare::Never),
];
const BORDERS: &[(&str, Border)] = &[
    ("transparent_black", Border::TransparentBlack),
    ("opaque_black", Border::OpaqueBlack),
    ("opaque_white", Border::OpaqueWhite),
];
const DIMENSIONS: &[(&str, Dimension)] = &[
    ("1d", Dimension::D1),
    ("1d_array", Dimension::D1Array { layers: 1 }),
    ("2d", Dimension::D2),
    ("2d_array", Dimension::D2Array { layers: 1 }),
    (
        "2d_multisample",
        Dimension::D2Multisample {
            samples: Multisample::X2,
        },
    ),
    ("3d", Dimension::D3 { depth: 1 }),
    ("cube", Dimension::Cube),
    ("cube_array", Dimension::CubeArray { cubes: 1 }),
    (
        "2d_multisample_array",
        Dimension::D2MultisampleArray {
            samples: Multisample::X2,
            layers: 1,
        },
    ),
];

/// Formats as Metal names them, where that is not Vulkan's name in small letters without the rest.
const FORMATS: &[(&str, Format)] = &[
    ("a1bgr5unorm", Format::R5G5B5A1UnormPack16),
    ("abgr4unorm", Format::R4G4B4A4UnormPack16),
    ("b5g6r5unorm", Format::R5G6B5UnormPack16),
    ("bc1_rgba", Format::Bc1RgbaUnormBlock),
    ("bc3_rgba", Format::Bc3UnormBlock),
    ("bc4_rsnorm", Format::Bc4SnormBlock),
    ("bc5_rgunorm", Format::Bc5UnormBlock),
    ("bc6h_rgbfloat", Format::Bc6HSfloatBlock),
    ("bc6h_rgbufloat", Format::Bc6HUfloatBlock),
    ("depth32float", Format::D32Sfloat),
    ("eac_rg11snorm", Format::EacR11G11SnormBlock),
    ("etc2_rgb8", Format::Etc2R8G8B8UnormBlock),
    ("rg11b10float", Format::B10G11R11UfloatPack32),
    ("rgb10a2uint", Format::A2B10G10R10UintPack32),
    ("rgb10a2unorm", Format::A2B10G10R10UnormPack32),
    ("stencil8", Format::S8Uint),
];

/// Formats that Vulkan's table lacks: codes, and whether they were captured with tiles.
const CAPTURED: &[(&str, (Channels, Numeric, bool))] = &[
    ("bgr10_xr", (Channels::R10G10B10A2, Numeric::Xr, true)),
    ("bgra10_xr", (Channels::R10G10B10A10Xr, Numeric::Xr, true)),
    ("gbgr422", (Channels::Gbgr422, Numeric::Unorm, false)),
    ("bgrg422", (Channels::Bgrg422, Numeric::Unorm, false)),
];

/// Vulkan's name of `rg16float`, `astc_4x4_hdr`, `eac_r11unorm` and the like.
fn vulkan_name(name: &str) -> Option<String> {
    if let Some(size) = name.strip_prefix("astc_") {
        return Some(match size.strip_suffix("_hdr") {
            Some(size) => format!("ASTC_{size}_SFLOAT_BLOCK"),
            None => format!("ASTC_{size}_UNORM_BLOCK"),
        });
    }
    if let Some(rest) = name.strip_prefix("eac_r11") {
        return Some(format!("EAC_R11_{}_BLOCK", rest.to_uppercase()));
    }
    let digit = name.find(|c: char| c.is_ascii_digit())?;
    let (components, rest) = name.split_at(digit);
    let kind = rest.find(|c: char| !c.is_ascii_digit())?;
    let (bits, kind) = rest.split_at(kind);
    let kind = if kind == "float" { "sfloat" } else { kind };
    let components: String = components.chars().map(|c| format!("{c}{bits}")).collect();
    Some(format!("{components}_{kind}").to_uppercase())
}

fn format_record(name: &str, dimension: Dimension) -> Result<Texture, Problem> {
    if let Some((_, (channels, numeric, tiled))) = CAPTURED.iter().find(|(n, _)| *n == name) {
        let mut texture = if *tiled {
            Texture::tiled(Format::R8Unorm, dimension, 16, 16, 0)
        } else if dimension == Dimension::D2 {
            Texture::linear(Format::R8Unorm, 16, 16, 0, 64)
        } else {
            return Err(format!("`{name}` was captured in two dimensions only"));
        };
        texture.encoding = Encoding::new(*channels, *numeric).map_err(|e| e.to_string())?;
        return Ok(texture);
    }
    let by_rule = || Format::from_name(&vulkan_name(name)?);
    let format = match FORMATS.iter().find(|(n, _)| *n == name) {
        Some((_, format)) => Some(*format),
        None => by_rule(),
    };
    let format = format.ok_or_else(|| format!("format `{name}` is not known"))?;
    Ok(Texture::tiled(format, dimension, 16, 16, 0))
}

/// The words of a record, 32 bits each.
type Words = [u32; 8];

fn to_words(bytes: &[u8; 32]) -> Words {
    let (words, _) = bytes.as_chunks();
    let mut out = [0; 8];
    for (out, word) in out.iter_mut().zip(words) {
        *out = u32::from_le_bytes(*word);
    }
    out
}

/// A record: packed, and unpacked again.
#[derive(Clone, Copy)]
enum Record {
    Texture(Texture),
    Store(Store),
    Sampler(Sampler),
}

impl Record {
    fn words(&self) -> Result<Words, Problem> {
        let mut bytes = [0; 32];
        let text = |e: agx_hw::Error| e.to_string();
        let same = match self {
            Record::Texture(texture) => {
                texture.pack(&mut bytes).map_err(text)?;
                Texture::unpack(&bytes).map_err(text)? == *texture
            }
            Record::Store(store) => {
                store.pack(&mut bytes).map_err(text)?;
                Store::unpack(&bytes).map_err(text)? == *store
            }
            Record::Sampler(sampler) => {
                sampler.pack(&mut bytes).map_err(text)?;
                Sampler::unpack(&bytes).map_err(text)? == *sampler
            }
        };
        if same {
            Ok(to_words(&bytes))
        } else {
            Err(format!("{} does not unpack to itself", hex(&bytes)))
        }
    }
}

/// A texture, a store and a sampler to change one field of.
fn plain_texture() -> Texture {
    Texture::tiled(Format::R8Unorm, Dimension::D2, 1, 1, 0)
}

fn plain_store() -> Result<Store, Problem> {
    let dimension = store::Dimension::D2;
    Store::tiled(Format::R8Unorm, StoreFrom::Tile, dimension, 1, 1, 0).map_err(|e| e.to_string())
}

fn tiled(dimension: Dimension, levels: Levels, compression: Option<u64>) -> texture::Memory {
    texture::Memory::Tiled(Tiling {
        dimension,
        levels,
        page_aligned: false,
        compression,
    })
}

/// Values of a field, as records that differ in nothing else.
type Probes = (&'static str, Vec<Record>);

fn powers(last: u32) -> impl Iterator<Item = u32> + Clone {
    (0..=last).map(|n| 1 << n)
}

fn texture_probes() -> Vec<Probes> {
    let plain = plain_texture();
    let of = Record::Texture;
    let memory = |memory| of(Texture { memory, ..plain });
    let single = Levels::Single;
    let array = |layers| memory(tiled(Dimension::D2Array { layers }, single, None));
    let big = |first, last| {
        of(Texture {
            width: MAX_SIZE,
            memory: tiled(Dimension::D2, Levels::View { first, last }, None),
            ..plain
        })
    };
    let large = |levels, compression| {
        of(Texture {
            width: 16,
            height: 16,
            memory: tiled(Dimension::D2, levels, compression),
            ..plain
        })
    };
    let view = Levels::View { first: 0, last: 0 };
    let encodings = Format::ALL.iter().map(|format| {
        of(Texture {
            encoding: format.encoding(),
            ..plain
        })
    });
    let swizzles = (0..4).flat_map(|i| {
        Source::ALL.iter().map(move |source| {
            let mut swizzle = plain.swizzle;
            swizzle.0[i] = *source;
            Texture { swizzle, ..plain }
        })
    });
    let samples = |samples| memory(tiled(Dimension::D2Multisample { samples }, single, None));
    let strides = powers(16).map(|n| memory(texture::Memory::Linear { stride: 16 * n }));
    let types = DIMENSIONS
        .iter()
        .map(|(_, dimension)| memory(tiled(*dimension, single, None)));
    let with_page = |page_aligned| {
        memory(texture::Memory::Tiled(Tiling {
            dimension: Dimension::D2,
            levels: single,
            page_aligned,
            compression: None,
        }))
    };
    vec![
        ("type", types.collect()),
        ("format", encodings.collect()),
        ("swizzle", swizzles.map(of).collect()),
        (
            "width",
            powers(14)
                .map(|width| of(Texture { width, ..plain }))
                .collect(),
        ),
        (
            "height",
            powers(14)
                .map(|height| of(Texture { height, ..plain }))
                .collect(),
        ),
        (
            "samples",
            vec![samples(Multisample::X2), samples(Multisample::X4)],
        ),
        ("mipmapped", vec![large(single, None), large(view, None)]),
        (
            "compressed",
            vec![large(single, None), large(single, Some(0))],
        ),
        (
            "address",
            (4..42)
                .map(|n| {
                    of(Texture {
                        address: 1 << n,
                        ..plain
                    })
                })
                .collect(),
        ),
        (
            "srgb",
            vec![
                of(plain),
                of(Texture {
                    srgb: true,
                    ..plain
                }),
            ],
        ),
        ("depth", powers(11).map(array).collect()),
        ("stride", strides.collect()),
        ("page", vec![with_page(false), with_page(true)]),
        (
            "aux",
            (4..42).map(|n| large(single, Some(1 << n))).collect(),
        ),
        ("first level", (0..=14).map(|n| big(n, 14)).collect()),
        ("last level", (0..=14).map(|n| big(0, n)).collect()),
    ]
}

fn store_probes() -> Result<Vec<Probes>, Problem> {
    let plain = plain_store()?;
    let of = Record::Store;
    let memory = |memory| of(Store { memory, ..plain });
    let tiled = |dimension, levels| memory(store::Memory::Tiled { dimension, levels });
    let single = store::Levels::Single;
    let array = |layers| tiled(store::Dimension::D2Array { layers }, single);
    let level = |level, last| tiled(store::Dimension::D2, store::Levels::Level { level, last });
    let strides = powers(16).map(|n| memory(store::Memory::Linear { stride: 16 * n }));
    let formats = Format::ALL.iter().map(|format| format.encoding());
    let formats = formats.filter(|encoding| encoding.attachment().is_colour());
    Ok(vec![
        (
            "format",
            formats
                .map(|encoding| of(Store { encoding, ..plain }))
                .collect(),
        ),
        (
            "swizzle",
            (0..=u8::MAX)
                .map(|code| {
                    of(Store {
                        swizzle: agx_hw::format::StoreSwizzle(code),
                        ..plain
                    })
                })
                .collect(),
        ),
        (
            "width",
            powers(14)
                .map(|width| of(Store { width, ..plain }))
                .collect(),
        ),
        (
            "height",
            powers(14)
                .map(|height| of(Store { height, ..plain }))
                .collect(),
        ),
        (
            "address",
            (4..42)
                .map(|n| {
                    of(Store {
                        address: 1 << n,
                        ..plain
                    })
                })
                .collect(),
        ),
        ("layers", powers(11).map(array).collect()),
        ("stride", strides.collect()),
        ("level", (0..=14).map(|n| level(n, 14)).collect()),
        ("last level", (1..=14).map(|n| level(0, n)).collect()),
    ])
}

fn sampler_probes() -> Vec<Probes> {
    let plain = Sampler::default();
    let of = Record::Sampler;
    let lod = |min: u16, max: u8| {
        // In order by construction, so always a range.
        let lod = LodRange::from_fields(min.min(8 * u16::from(max)), max).unwrap_or(LodRange::FULL);
        of(Sampler { lod, ..plain })
    };
    let wraps = |axis: usize| -> Vec<Record> {
        let all = Wrap::ALL.iter().map(|wrap| {
            let mut sampler = plain;
            sampler.wrap[axis] = *wrap;
            of(sampler)
        });
        all.collect()
    };
    macro_rules! each {
        ($field:ident, $all:expr) => {
            $all.iter()
                .map(|value| {
                    of(Sampler {
                        $field: *value,
                        ..plain
                    })
                })
                .collect()
        };
    }
    vec![
        ("lod_min", (0..=896).map(|n| lod(n, 112)).collect()),
        ("lod_max", (0..=112).map(|n| lod(0, n)).collect()),
        ("anisotropy", each!(anisotropy, Anisotropy::ALL)),
        ("mag", each!(mag, Filter::ALL)),
        ("min", each!(min, Filter::ALL)),
        ("mip", each!(mip, MipFilter::ALL)),
        ("s", wraps(0)),
        ("t", wraps(1)),
        ("r", wraps(2)),
        ("unnormalised", each!(unnormalised, [false, true])),
        ("compare", each!(compare, Compare::ALL)),
        ("border", each!(border, Border::ALL)),
        ("seam", each!(non_seamless, [false, true])),
    ]
}

/// The bits that differ between records.
fn mask(records: &[Record]) -> Result<Words, Problem> {
    let mut mask = [0; 8];
    let mut first = None;
    for record in records {
        let words = record.words()?;
        let first = *first.get_or_insert(words);
        for (i, mask) in mask.iter_mut().enumerate() {
            *mask |= words[i] ^ first[i];
        }
    }
    Ok(mask)
}

fn zip(a: Words, b: Words, f: impl Fn(u32, u32) -> u32) -> Words {
    let mut out = a;
    for (out, b) in out.iter_mut().zip(b) {
        *out = f(*out, b);
    }
    out
}

/// Where the fields that a vector speaks of are.
struct Places {
    /// Their bits.
    own: Words,
    /// Bits above them that are always 0, which vectors count among them.
    reserved: Words,
    /// Bits of all other fields.
    other: Words,
}

/// Fields that vectors state with bits that are always 0 (docs/hw images, 2 and 4): field, word, bits.
const RESERVED: &[(&str, usize, u32)] = &[("lod_min", 0, 7 << 10), ("samples", 1, 1 << 25)];

impl Places {
    /// `fields` of the record's kind.
    fn of(record: &Record, fields: &[&str]) -> Result<Places, Problem> {
        let probes = match record {
            Record::Texture(_) => texture_probes(),
            Record::Store(_) => store_probes()?,
            Record::Sampler(_) => sampler_probes(),
        };
        let mut masks = Vec::new();
        for (name, records) in probes {
            masks.push((name, mask(&records)?));
        }
        // What levels and compression have in common is a field by itself.
        let find = |name| masks.iter().position(|(n, _)| *n == name);
        if let (Some(a), Some(b)) = (find("mipmapped"), find("compressed")) {
            let extended = zip(masks[a].1, masks[b].1, |a, b| a & b);
            for i in [a, b] {
                masks[i].1 = zip(masks[i].1, extended, |a, b| a & !b);
            }
            masks.push(("extended", extended));
        }
        let mut places = Places {
            own: [0; 8],
            reserved: [0; 8],
            other: [0; 8],
        };
        for (field, word, bits) in RESERVED {
            if fields == [*field] {
                places.reserved[*word] |= bits;
            }
        }
        for field in fields {
            if !masks.iter().any(|(name, _)| name == field) {
                return Err(format!("field `{field}` has no bits"));
            }
        }
        for (name, mask) in masks {
            let side = if fields.contains(&name) {
                &mut places.own
            } else {
                &mut places.other
            };
            *side = zip(*side, mask, |a, b| a | b);
        }
        // Linear strides and layer counts share bits; a record has one of them.
        places.other = zip(places.other, places.own, |a, b| a & !b);
        Ok(places)
    }

    /// Refuses a range of a word's bits that touches other fields or misses the own ones.
    fn check(&self, word: usize, first: u32, last: u32) -> Result<(), Problem> {
        let range = ones(first, last)?;
        if self.other[word] & range != 0 {
            return Err("the bits belong to another field".to_owned());
        }
        if self.own[word] & range == 0 {
            return Err("the bits are not the field's".to_owned());
        }
        Ok(())
    }
}

/// Ones in bits `first..=last` of a word.
fn ones(first: u32, last: u32) -> Result<u32, Problem> {
    if first > last || last > 31 {
        return Err(format!("{first}..{last} are no bits of a word"));
    }
    Ok(u32::MAX >> (31 - (last - first)) << first)
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
    let mut inputs = Inputs::new(&vector.inputs);
    let (records, fields) = build(vector, &mut inputs)?;
    inputs.finish()?;
    for record in &records {
        let words = record.words()?;
        let places = Places::of(record, &fields)?;
        check_expected(&vector.expected, &words, &places)?;
        check_hex(vector, record, &words)?;
    }
    match vector.note.as_deref() {
        Some(note) => check_note(note, &records),
        None => Ok(()),
    }
}

/// The records that a vector describes, and the fields that it speaks of.
fn build(
    vector: &Stated,
    inputs: &mut Inputs,
) -> Result<(Vec<Record>, Vec<&'static str>), Problem> {
    let family = match vector.op.as_str() {
        "texture_format" => "texture_format",
        op if op.starts_with("sampler") => "sampler_descriptor",
        op if op.starts_with("texture_") => "texture_descriptor",
        op if op.starts_with("write_texture_") => "write_descriptor",
        op => return Err(format!("operation `{op}` is not known")),
    };
    vector.check_family(&[family])?;
    match family {
        "sampler_descriptor" => {
            let (sampler, fields) = build_sampler(&vector.op, inputs)?;
            Ok((vec![Record::Sampler(sampler)], fields))
        }
        "write_descriptor" => {
            let (store, fields) = build_store(&vector.op, inputs)?;
            Ok((vec![Record::Store(store)], fields))
        }
        _ => {
            let (textures, fields) = build_textures(&vector.op, inputs)?;
            Ok((textures.into_iter().map(Record::Texture).collect(), fields))
        }
    }
}

fn anisotropy(inputs: &mut Inputs) -> Result<Anisotropy, Problem> {
    let samples = inputs.number("anisotropy")?;
    let exact = |anisotropy: &&Anisotropy| u64::from(anisotropy.samples()) == samples;
    let found = Anisotropy::ALL.iter().find(exact);
    found
        .copied()
        .ok_or_else(|| format!("anisotropy {samples} does not exist"))
}

fn build_sampler(op: &str, inputs: &mut Inputs) -> Result<(Sampler, Vec<&'static str>), Problem> {
    let mut sampler = Sampler::default();
    let fields = match op {
        "sampler" => {
            sampler.min = inputs.word("min", FILTERS)?;
            sampler.mag = inputs.word("mag", FILTERS)?;
            sampler.mip = inputs.word("mip", MIPS)?;
            let address = inputs.take("address")?;
            let address = address.as_array().filter(|list| list.len() == 3);
            let address = address.ok_or("input `address` is no list of three")?;
            for (wrap, value) in sampler.wrap.iter_mut().zip(address) {
                *wrap = word(value, WRAPS)?;
            }
            sampler.lod = LodRange::new(inputs.float("lod_min")?, inputs.float("lod_max")?);
            sampler.anisotropy = anisotropy(inputs)?;
            sampler.compare = inputs.word("compare", COMPARES)?;
            sampler.unnormalised = !inputs.boolean("normalized")?;
            vec![
                "lod_min",
                "lod_max",
                "anisotropy",
                "mag",
                "min",
                "mip",
                "s",
                "t",
                "r",
                "unnormalised",
                "compare",
            ]
        }
        "sampler_address" => {
            let (axis, field) =
                inputs.word("axis", &[("s", (0, "s")), ("t", (1, "t")), ("r", (2, "r"))])?;
            sampler.wrap[axis] = inputs.word("mode", WRAPS)?;
            vec![field]
        }
        "sampler_anisotropy" => {
            sampler.anisotropy = anisotropy(inputs)?;
            vec!["anisotropy"]
        }
        "sampler_border" => {
            sampler.border = inputs.word("border", BORDERS)?;
            vec!["border"]
        }
        "sampler_compare" => {
            sampler.compare = inputs.word("compare", COMPARES)?;
            vec!["compare"]
        }
        "sampler_lod_max" => {
            sampler.lod = LodRange::new(0.0, inputs.float("lod_max")?);
            vec!["lod_max"]
        }
        "sampler_lod_min" => {
            sampler.lod = LodRange::new(inputs.float("lod_min")?, LodRange::LIMIT);
            vec!["lod_min"]
        }
        "sampler_mag" => {
            sampler.mag = inputs.word("mag", FILTERS)?;
            vec!["mag"]
        }
        "sampler_min" => {
            sampler.min = inputs.word("min", FILTERS)?;
            vec!["min"]
        }
        "sampler_mip" => {
            sampler.mip = inputs.word("mip", MIPS)?;
            vec!["mip"]
        }
        "sampler_unnormalized" => {
            sampler.unnormalised = !inputs.boolean("normalized")?;
            vec!["unnormalised"]
        }
        other => return Err(format!("operation `{other}` is not known")),
    };
    Ok((sampler, fields))
}

/// A linear record's row, in bytes.
fn linear_stride(inputs: &mut Inputs) -> Result<u32, Problem> {
    inputs.word("layout", &[("linear", ())])?;
    inputs.size("bytes_per_row")
}

fn build_store(op: &str, inputs: &mut Inputs) -> Result<(Store, Vec<&'static str>), Problem> {
    let mut store = plain_store()?;
    let fields = match op {
        "write_texture_size" => {
            store.width = inputs.size("width")?;
            store.height = inputs.size("height")?;
            vec!["width", "height"]
        }
        "write_texture_stride" => {
            let stride = linear_stride(inputs)?;
            store.memory = store::Memory::Linear { stride };
            vec!["stride"]
        }
        other => return Err(format!("operation `{other}` is not known")),
    };
    Ok((store, fields))
}

fn build_textures(
    op: &str,
    inputs: &mut Inputs,
) -> Result<(Vec<Texture>, Vec<&'static str>), Problem> {
    let mut texture = plain_texture();
    let single = Levels::Single;
    let fields = match op {
        "texture_format" => {
            let dimension = inputs.word("type", DIMENSIONS)?;
            texture = format_record(&inputs.text("format")?, dimension)?;
            vec!["type", "format"]
        }
        "texture_type" => {
            let dimension = inputs.word("type", DIMENSIONS)?;
            texture.memory = tiled(dimension, single, None);
            vec!["type"]
        }
        "texture_swizzle" => {
            let text = inputs.text("swizzle")?;
            let sources: Vec<Source> = text
                .chars()
                .map(|c| {
                    Some(match c {
                        'r' => Source::R,
                        'g' => Source::G,
                        'b' => Source::B,
                        'a' => Source::A,
                        '1' => Source::One,
                        '0' => Source::Zero,
                        _ => return None,
                    })
                })
                .collect::<Option<_>>()
                .ok_or_else(|| format!("`{text}` is no swizzle"))?;
            let sources = sources.try_into();
            texture.swizzle = Swizzle(sources.map_err(|_| "a swizzle has four components")?);
            vec!["swizzle"]
        }
        "texture_width" => {
            texture.width = inputs.size("width")?;
            vec!["width"]
        }
        "texture_height" => {
            texture.height = inputs.size("height")?;
            vec!["height"]
        }
        "texture_address" => {
            texture.address = inputs.number("va")?;
            vec!["address"]
        }
        "texture_depth_or_layers" => {
            // Both meanings of the count.
            let count = inputs.size("depth_or_layers")?;
            let array = tiled(Dimension::D2Array { layers: count }, single, None);
            let volume = tiled(Dimension::D3 { depth: count }, single, None);
            let textures = [array, volume].map(|memory| Texture { memory, ..texture });
            return Ok((textures.to_vec(), vec!["depth"]));
        }
        "texture_linear_stride" => {
            let stride = linear_stride(inputs)?;
            texture.memory = texture::Memory::Linear { stride };
            vec!["stride"]
        }
        "texture_samples" => {
            let samples = match inputs.number("samples")? {
                2 => Multisample::X2,
                4 => Multisample::X4,
                other => return Err(format!("{other} samples do not exist")),
            };
            texture.memory = tiled(Dimension::D2Multisample { samples }, single, None);
            vec!["samples"]
        }
        "texture_mip_count" => {
            texture.width = MAX_SIZE;
            let levels = match inputs.number("mips")? {
                1 => single,
                n @ 2..=15 => Levels::View {
                    first: 0,
                    last: n as u8 - 1,
                },
                other => return Err(format!("{other} levels do not exist")),
            };
            texture.memory = tiled(Dimension::D2, levels, None);
            vec!["last level"]
        }
        "texture_mipmapped" => {
            inputs.word("mips", &[("more than 1", ())])?;
            texture.width = 2;
            let levels = Levels::View { first: 0, last: 1 };
            texture.memory = tiled(Dimension::D2, levels, None);
            vec!["mipmapped"]
        }
        "texture_compressed" | "texture_aux_address" => {
            (texture.width, texture.height) = (16, 16);
            let (metadata, fields) = if op == "texture_compressed" {
                let compressed = inputs.boolean("compressed")?;
                (compressed.then_some(0), vec!["compressed"])
            } else {
                (Some(inputs.number("aux_va")?), vec!["aux", "extended"])
            };
            texture.memory = tiled(Dimension::D2, single, metadata);
            fields
        }
        other => return Err(format!("operation `{other}` is not known")),
    };
    Ok((vec![texture], fields))
}

fn compare(expected: u64, got: u64) -> Result<(), Problem> {
    if expected == got {
        Ok(())
    } else {
        Err(format!("expected {expected:#x}, got {got:#x}"))
    }
}

/// Bits of one word of the record.
fn bits(words: &Words, word: usize, first: u32, last: u32) -> Result<u64, Problem> {
    Ok(u64::from((words[word] & ones(first, last)?) >> first))
}

fn check_expected(
    expected: &Map<String, Value>,
    words: &Words,
    places: &Places,
) -> Result<(), Problem> {
    if expected.contains_key("bits") || expected.contains_key("value") {
        check_field(expected, words, places)?;
    } else if expected.contains_key("word") {
        return Err("`word` without `bits`".to_owned());
    }
    for (key, value) in expected {
        let wrong = |p: Problem| format!("`{key}`: {p}");
        match key.as_str() {
            "word" | "bits" | "value" => {}
            _ => check_key(key, value, words, places).map_err(wrong)?,
        }
    }
    Ok(())
}

/// `{word, bits, value}`: the whole field, wherever it is.
fn check_field(
    expected: &Map<String, Value>,
    words: &Words,
    places: &Places,
) -> Result<(), Problem> {
    let range: Option<Vec<u64>> = expected.get("bits").and_then(|bits| {
        let list = bits.as_array()?;
        list.iter().map(Value::as_u64).collect()
    });
    let Some([first, last]) = range.as_deref() else {
        return Err("`bits` are not two numbers".to_owned());
    };
    // Without a word: bits of the 64-bit sampler.
    let base = match expected.get("word") {
        Some(word) => 32 * integer(word)?,
        None => 0,
    };
    let (first, last) = (base + first, base + last);
    let word = (first / 32) as usize;
    let wrong = |p: Problem| format!("bits {first}..{last}: {p}");
    if first > last || last / 32 != first / 32 || word >= words.len() {
        // Sampler fields 32.. are in the second word; none crosses.
        return Err(wrong("not in one word of the record".to_owned()));
    }
    let (first, last) = ((first % 32) as u32, (last % 32) as u32);
    let mut range = [0; 8];
    range[word] = ones(first, last)?;
    if range != places.own && range != zip(places.own, places.reserved, |a, b| a | b) {
        return Err(wrong("not the bits of the field".to_owned()));
    }
    let value = expected.get("value").ok_or("`bits` without `value`")?;
    compare(integer(value)?, bits(words, word, first, last)?).map_err(wrong)
}

/// `N` or `A_B` as first and last bit.
fn range(text: &str) -> Option<(u32, u32)> {
    match text.split_once('_') {
        Some((first, last)) => Some((first.parse().ok()?, last.parse().ok()?)),
        None => text.parse().ok().map(|bit| (bit, bit)),
    }
}

fn check_key(key: &str, value: &Value, words: &Words, places: &Places) -> Result<(), Problem> {
    let [byte0, byte1, ..] = words[0].to_le_bytes();
    match key {
        "byte0" => return compare(integer(value)?, byte0.into()),
        "byte1" => return compare(integer(value)?, byte1.into()),
        // The capture's terms for bits of these bytes (images, 2).
        "arrangement" => return compare(integer(value)?, (byte0 >> 5).into()),
        "numeric_type" => return compare(integer(value)?, (byte1 >> 5).into()),
        "size_class" => return compare(integer(value)?, (byte1 & 0x1f).into()),
        "components" => {
            let list = value.as_array().filter(|list| list.len() == 4);
            for (i, code) in list.ok_or("is no list of four")?.iter().enumerate() {
                let first = 16 + 3 * i as u32;
                places.check(0, first, first + 2)?;
                compare(integer(code)?, bits(words, 0, first, first + 2)?)?;
            }
            return Ok(());
        }
        "word_values" => {
            let list = value.as_array().filter(|list| !list.is_empty());
            let list = list.ok_or("is no list")?;
            for (i, word) in words.iter().enumerate() {
                // Words behind the stated ones are 0.
                let stated = list.get(i).map_or(Ok(0), integer)?;
                compare(stated, u64::from(*word))?;
            }
            return if list.len() <= words.len() {
                Ok(())
            } else {
                Err("the record has eight words".to_owned())
            };
        }
        _ => {}
    }
    // bit_N, bits_A_B of the 64-bit sampler.
    let sampler = key.strip_prefix("bits_").or(key.strip_prefix("bit_"));
    if let Some((first, last)) = sampler.and_then(range) {
        let word = (first / 32) as usize;
        if word > 1 || last / 32 != first / 32 {
            return Err("not in one word of the sampler".to_owned());
        }
        return check_bits(value, words, places, word, (first % 32, last % 32));
    }
    // wordN and its parts.
    let rest = key.strip_prefix("word").ok_or("has no meaning")?;
    let digits = rest.find('_').unwrap_or(rest.len());
    let (word, part) = rest.split_at(digits);
    let word: usize = word.parse().map_err(|_| "has no meaning")?;
    if word >= words.len() {
        return Err("the record has eight words".to_owned());
    }
    if part.is_empty() {
        return check_bits(value, words, places, word, (0, 31));
    }
    if let Some(shift) = part.strip_prefix("_value_shifted_by_") {
        let shift: u32 = shift.parse().map_err(|_| "has no meaning")?;
        if places.own[word] == 0 || places.own[word].trailing_zeros() != shift {
            return Err("the field begins at another bit".to_owned());
        }
        return compare(integer(value)?, bits(words, word, shift, 31)?);
    }
    let bits = part.strip_prefix("_bits_").or(part.strip_prefix("_bit_"));
    let range = bits.and_then(range).ok_or("has no meaning")?;
    check_bits(value, words, places, word, range)
}

/// Some bits of a field.
fn check_bits(
    value: &Value,
    words: &Words,
    places: &Places,
    word: usize,
    (first, last): (u32, u32),
) -> Result<(), Problem> {
    places.check(word, first, last)?;
    compare(integer(value)?, bits(words, word, first, last)?)
}

/// `hex` and `len`: the bytes of the record that mean something.
fn check_hex(vector: &Stated, record: &Record, words: &Words) -> Result<(), Problem> {
    let size = match record {
        Record::Texture(_) => texture::RECORD_SIZE,
        Record::Store(_) => store::RECORD_SIZE,
        Record::Sampler(_) => sampler::RECORD_SIZE,
    };
    let stated = match (&vector.hex, vector.len) {
        (None, None) => return Ok(()),
        (Some(hex), Some(len)) => (hex, len),
        _ => return Err("`hex` and `len` belong together".to_owned()),
    };
    let bytes = packed_hex(stated.0).ok_or("`hex` is no byte string")?;
    if bytes.len() != stated.1 || stated.1 != size {
        return Err(format!("a record has {size} bytes"));
    }
    let got: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    if got[..size] == bytes {
        Ok(())
    } else {
        Err(format!(
            "expected {}, got {}",
            hex(&bytes),
            hex(&got[..size])
        ))
    }
}

/// Notes that say how values round. Other notes are remarks.
fn check_note(note: &str, records: &[Record]) -> Result<(), Problem> {
    for record in records {
        let Record::Sampler(sampler) = record else {
            continue;
        };
        let lod = sampler.lod;
        let holds = match note {
            "1/8 steps, saturates at 14" => {
                let above = LodRange::new(0.0, lod.max() + 0.125);
                above.max_field() == (lod.max_field() + 1).min(112)
                    && above.max() <= LodRange::LIMIT
            }
            "1/64 steps, truncated" => {
                let between = LodRange::new(lod.min() + 0.015, LodRange::LIMIT);
                let above = LodRange::new(lod.min() + 1.0 / 64.0, LodRange::LIMIT);
                between == lod && above.min_field() == lod.min_field() + 1
            }
            _ => true,
        };
        if !holds {
            return Err(format!("the note does not hold: {note}"));
        }
    }
    Ok(())
}
