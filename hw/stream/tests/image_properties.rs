// SPDX-License-Identifier: MIT
//! Descriptors come back from their bytes and bytes from their descriptors; texels of random images
//! have addresses of their own, inside the image.

use std::collections::BTreeSet;

use agx_hw::format::{
    Attachment, Channels, Element, Encoding, Numeric, Source, StoreSwizzle, Swizzle,
};
use agx_hw::layout::{Image, Linear, Memory, Position, Samples, Stack, Tiled, Usage};
use agx_hw::sampler::{
    Anisotropy, Border, Compare, Filter, LodRange, MipFilter, SLOT_SIZE, Sampler, Wrap,
};
use agx_hw::store::{self, Store};
use agx_hw::texture::{
    self, Dimension, MAX_SIZE, MAX_SIZE_3D, Multisample, RECORD_SIZE, Texture, Tiling,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// At least 1000 cases; `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    config.cases = config.cases.max(1000);
    config
}

fn encodings() -> Vec<Encoding> {
    let pairs = Channels::ALL.iter().flat_map(|channels| {
        Numeric::ALL
            .iter()
            .map(move |numeric| (*channels, *numeric))
    });
    pairs
        .filter_map(|(channels, numeric)| Encoding::new(channels, numeric).ok())
        .collect()
}

fn swizzle() -> impl Strategy<Value = Swizzle> {
    let source = || select(Source::ALL);
    [source(), source(), source(), source()].prop_map(Swizzle)
}

fn address() -> impl Strategy<Value = u64> {
    (0..1u64 << 38).prop_map(|n| 16 * n)
}

/// Sizes: the limits and everything between, small ones as likely as large ones.
fn size(limit: u32) -> impl Strategy<Value = u32> {
    prop_oneof![
        1..=limit,
        1..=64u32,
        Just(limit),
        (0..=limit.ilog2()).prop_map(|n| 1 << n)
    ]
}

fn multisample() -> impl Strategy<Value = Multisample> {
    select(&[Multisample::X2, Multisample::X4][..])
}

fn dimension() -> impl Strategy<Value = Dimension> {
    let layers = || size(2048);
    prop_oneof![
        Just(Dimension::D1),
        layers().prop_map(|layers| Dimension::D1Array { layers }),
        Just(Dimension::D2),
        layers().prop_map(|layers| Dimension::D2Array { layers }),
        multisample().prop_map(|samples| Dimension::D2Multisample { samples }),
        layers().prop_map(|depth| Dimension::D3 { depth }),
        Just(Dimension::Cube),
        (1..=341u32).prop_map(|cubes| Dimension::CubeArray { cubes }),
        (multisample(), layers())
            .prop_map(|(samples, layers)| Dimension::D2MultisampleArray { samples, layers }),
    ]
}

/// Legal textures, most of them tiled.
fn texture() -> impl Strategy<Value = Texture> {
    let fields = (
        select(encodings()),
        swizzle(),
        any::<bool>(),
        size(MAX_SIZE),
        size(MAX_SIZE),
        address(),
    );
    let tiling = (
        dimension(),
        proptest::option::of((0..=14u8, 0..=14u8)),
        any::<bool>(),
        proptest::option::weighted(0.2, address()),
    );
    (fields, tiling, 0..4u8, 1..=0x1_0000u32).prop_map(
        |((encoding, swizzle, srgb, mut width, mut height, address), tiling, pick, stride)| {
            let channels = encoding.channels();
            let linear = pick == 0 && !channels.is_compressed() || channels.is_subsampled();
            let (mut dimension, levels, page_aligned, compression) = tiling;
            if channels.is_compressed()
                && matches!(
                    dimension,
                    Dimension::D2Multisample { .. } | Dimension::D2MultisampleArray { .. }
                )
            {
                dimension = Dimension::D2;
            }
            let mut axis = 1;
            let mut mipmaps = !linear;
            if !linear {
                match dimension {
                    Dimension::D1 | Dimension::D1Array { .. } => height = 1,
                    Dimension::D3 { depth } => {
                        width = width.min(MAX_SIZE_3D);
                        height = height.min(MAX_SIZE_3D);
                        axis = depth;
                    }
                    Dimension::Cube | Dimension::CubeArray { .. } => height = width,
                    Dimension::D2Multisample { .. } | Dimension::D2MultisampleArray { .. } => {
                        mipmaps = false;
                    }
                    _ => {}
                }
            }
            let top = width.max(height).max(axis).ilog2() as u8;
            let levels = match levels.filter(|_| mipmaps) {
                None => texture::Levels::Single,
                Some((a, b)) => {
                    let (a, b) = (a % (top + 1), b % (top + 1));
                    texture::Levels::View {
                        first: a.min(b),
                        last: a.max(b),
                    }
                }
            };
            Texture {
                encoding,
                swizzle,
                srgb: srgb && encoding.numeric() == Numeric::Unorm,
                width,
                height,
                address,
                memory: if linear {
                    texture::Memory::Linear {
                        stride: 16 * stride,
                    }
                } else {
                    texture::Memory::Tiled(Tiling {
                        dimension,
                        levels,
                        page_aligned,
                        compression: compression.filter(|_| width.min(height) >= 16),
                    })
                },
            }
        },
    )
}

fn store_dimension() -> impl Strategy<Value = store::Dimension> {
    use store::Dimension;
    let layers = || size(2048);
    prop_oneof![
        Just(Dimension::D1),
        layers().prop_map(|layers| Dimension::D1Array { layers }),
        Just(Dimension::D2),
        layers().prop_map(|layers| Dimension::D2Array { layers }),
        multisample().prop_map(|samples| Dimension::D2Multisample { samples }),
        layers().prop_map(|depth| Dimension::D3 { depth }),
        (multisample(), layers())
            .prop_map(|(samples, layers)| Dimension::D2MultisampleArray { samples, layers }),
    ]
}

/// Legal stores.
fn store() -> impl Strategy<Value = Store> {
    use store::{Dimension, Levels, Memory};
    let colours: Vec<_> = encodings()
        .into_iter()
        .filter(|encoding| encoding.attachment() >= Attachment::Doubtful)
        .collect();
    let tiled = (
        store_dimension(),
        proptest::option::of((1..=14u8, 0..=14u8)),
    );
    let memory = prop_oneof![
        1 => (1..=0x1_0000u32).prop_map(|n| Memory::Linear { stride: 16 * n }),
        3 => tiled.prop_map(|(dimension, levels)| {
            let multisampled = matches!(
                dimension,
                Dimension::D2Multisample { .. } | Dimension::D2MultisampleArray { .. }
            );
            let levels = match levels {
                Some((last, level)) if !multisampled => Levels::Level {
                    level: level.min(last),
                    last,
                },
                _ => Levels::Single,
            };
            Memory::Tiled { dimension, levels }
        }),
    ];
    let fields = (
        select(colours),
        any::<u8>(),
        size(MAX_SIZE),
        size(MAX_SIZE),
        address(),
        memory,
    );
    fields.prop_map(
        |(encoding, swizzle, mut width, mut height, address, memory)| {
            if let Memory::Tiled { dimension, .. } = memory {
                match dimension {
                    Dimension::D1 | Dimension::D1Array { .. } => height = 1,
                    Dimension::D3 { .. } => {
                        width = width.min(MAX_SIZE_3D);
                        height = height.min(MAX_SIZE_3D);
                    }
                    _ => {}
                }
            }
            Store {
                encoding,
                swizzle: StoreSwizzle(swizzle),
                width,
                height,
                address,
                memory,
            }
        },
    )
}

fn sampler() -> impl Strategy<Value = Sampler> {
    let filters = (
        select(Filter::ALL),
        select(Filter::ALL),
        select(MipFilter::ALL),
        select(Anisotropy::ALL),
    );
    let wrap = || select(Wrap::ALL);
    let rest = (
        [wrap(), wrap(), wrap()],
        any::<(bool, bool)>(),
        select(Compare::ALL),
        select(Border::ALL),
        (0..=112u8).prop_flat_map(|max| (0..=8 * u16::from(max), Just(max))),
    );
    (filters, rest).prop_map(
        |((mag, min, mip, anisotropy), (wrap, flags, compare, border, (from, to)))| Sampler {
            lod: LodRange::from_fields(from, to).unwrap(),
            anisotropy,
            mag,
            min,
            mip,
            wrap,
            unnormalised: flags.0,
            compare,
            border,
            non_seamless: flags.1,
        },
    )
}

/// Changes of single bits.
fn flips() -> impl Strategy<Value = Vec<usize>> {
    vec(0..8 * RECORD_SIZE, 1..4)
}

fn flipped(mut bytes: [u8; RECORD_SIZE], flips: &[usize]) -> [u8; RECORD_SIZE] {
    for bit in flips {
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    bytes
}

/// Whatever unpacks packs to the same bytes.
fn bytes_survive(bytes: &[u8; RECORD_SIZE]) -> Result<(), TestCaseError> {
    let mut again = [0xff; RECORD_SIZE];
    if let Ok(texture) = Texture::unpack(bytes) {
        texture.pack(&mut again).unwrap();
        prop_assert_eq!(again, *bytes);
        let _ = texture.layout();
    }
    if let Ok(store) = Store::unpack(bytes) {
        store.pack(&mut again).unwrap();
        prop_assert_eq!(again, *bytes);
        let _ = store.layout();
    }
    if let Ok(sampler) = Sampler::unpack(bytes) {
        sampler.pack(&mut again).unwrap();
        prop_assert_eq!(again, *bytes);
    }
    Ok(())
}

/// An image small enough to visit every texel, or of any size.
fn image(limit: u32, layers: u32) -> impl Strategy<Value = Image> {
    let element = prop_oneof![
        3 => select(&[1u8, 2, 4, 8, 16][..]).prop_map(Element::texel),
        2 => select(
            Channels::ALL
                .iter()
                .filter(|channels| channels.is_compressed())
                .map(|channels| channels.element())
                .collect::<Vec<_>>()
        ),
    ];
    let sizes = (size(limit), size(limit), size(layers), any::<bool>());
    let samples = select(&[Samples::One, Samples::One, Samples::Two, Samples::Four][..]);
    (element, sizes, samples, any::<bool>(), any::<bool>()).prop_map(
        |(element, (width, height, layers, volume), samples, mipmapped, page_aligned)| {
            let samples = if element.is_block() {
                Samples::One
            } else {
                samples
            };
            let volume = volume && samples == Samples::One;
            let cut = |n: u32| if volume { n.min(MAX_SIZE_3D) } else { n };
            Image {
                width: cut(width),
                height: cut(height),
                stack: if volume {
                    Stack::Slices(layers)
                } else {
                    Stack::Layers(layers)
                },
                element,
                samples,
                mipmapped: mipmapped && samples == Samples::One,
                page_aligned,
            }
        },
    )
}

fn samples(image: &Image) -> u8 {
    match image.samples {
        Samples::One => 1,
        Samples::Two => 2,
        Samples::Four => 4,
    }
}

/// One place of an image, drawn by four numbers.
fn place(tiled: &Tiled, draw: (u8, u32, u32, u32, u8)) -> Position {
    let (level, x, y, layer, sample) = draw;
    let level = level % tiled.levels().len() as u8;
    let size = tiled.levels()[usize::from(level)];
    Position {
        x: x % size.width,
        y: y % size.height,
        layer: layer % tiled.layers(level),
        sample: sample % samples(tiled.image()),
        level,
    }
}

/// The squares of images, 7.4, shortcut (a): where a single level reaches a big tile on both axes, it is
/// a grid of square tiles, with an even number of columns where two make a page.
fn by_square_tiles(image: &Image, at: Position) -> u64 {
    let bytes = u64::from(image.element.bytes) * u64::from(samples(image));
    let mut edge = 1u64;
    while 4 * edge * edge * bytes <= 0x4000 {
        edge *= 2;
    }
    let width = u64::from(image.width.div_ceil(image.element.width.into()));
    let mut columns = width.div_ceil(edge);
    if edge * edge * bytes == 0x2000 {
        columns = columns.next_multiple_of(2);
    }
    let (x, y) = (u64::from(at.x), u64::from(at.y));
    let mut inside = 0;
    for bit in 0..edge.ilog2() {
        inside |= (x >> bit & 1) << (2 * bit) | (y >> bit & 1) << (2 * bit + 1);
    }
    let tile = y / edge * columns + x / edge;
    (tile * edge * edge + inside) * bytes + u64::from(at.sample) * u64::from(image.element.bytes)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn textures(texture in texture(), flips in flips()) {
        let mut bytes = [0xff; RECORD_SIZE + 1];
        texture.pack(&mut bytes).unwrap();
        prop_assert_eq!(bytes[RECORD_SIZE], 0xff);
        prop_assert_eq!(Texture::unpack(&bytes), Ok(texture));
        prop_assert!(texture.pack(&mut bytes[..RECORD_SIZE - 1]).is_err());
        prop_assert!(Texture::unpack(&bytes[..RECORD_SIZE - 1]).is_err());
        let bytes = *bytes.first_chunk().unwrap();
        bytes_survive(&flipped(bytes, &flips))?;
        // Where its texels are: nothing is known of the compressed and the subsampled, and linear rows
        // may be too short.
        let compressed = matches!(
            texture.memory,
            texture::Memory::Tiled(Tiling { compression: Some(_), .. })
        );
        let bytes_per_row = texture.width * u32::from(texture.encoding.element().bytes);
        let known = match texture.memory {
            texture::Memory::Linear { stride } => {
                !texture.encoding.channels().is_subsampled() && stride >= bytes_per_row
            }
            texture::Memory::Tiled(_) => !compressed,
        };
        prop_assert_eq!(texture.layout().is_ok(), known);
        if let Ok(Memory::Tiled(tiled)) = texture.layout() {
            prop_assert_eq!(tiled.image().width, texture.width);
            prop_assert_eq!(tiled.image().height, texture.height);
        }
    }

    /// Pack refuses or succeeds, whatever the fields.
    #[test]
    fn wild_textures(
        encoding in select(encodings()),
        swizzle in swizzle(),
        sizes in prop_oneof![any::<(u32, u32)>(), (0..20_000u32, 0..20_000u32), (0..9u32, 0..9u32)],
        address in prop_oneof![any::<u64>(), address()],
        (pick, count, flag) in (0..10u8, prop_oneof![any::<u32>(), 0..3000u32], any::<bool>()),
        levels in proptest::option::of((0..16u8, 0..16u8)),
        compression in proptest::option::of(any::<u64>()),
    ) {
        let samples = Multisample::X2;
        let dimension = match pick {
            0 => Dimension::D1,
            1 => Dimension::D1Array { layers: count },
            2 => Dimension::D2,
            3 => Dimension::D2Array { layers: count },
            4 => Dimension::D2Multisample { samples },
            5 => Dimension::D3 { depth: count },
            6 => Dimension::Cube,
            7 => Dimension::CubeArray { cubes: count },
            _ => Dimension::D2MultisampleArray { samples, layers: count },
        };
        let levels = match levels {
            None => texture::Levels::Single,
            Some((first, last)) => texture::Levels::View { first, last },
        };
        let memory = if pick == 9 {
            texture::Memory::Linear { stride: count }
        } else {
            texture::Memory::Tiled(Tiling { dimension, levels, page_aligned: flag, compression })
        };
        let (width, height) = sizes;
        let texture = Texture { encoding, swizzle, srgb: flag, width, height, address, memory };
        let mut bytes = [0; RECORD_SIZE];
        if texture.pack(&mut bytes).is_ok() {
            prop_assert_eq!(Texture::unpack(&bytes), Ok(texture));
        } else {
            prop_assert_eq!(bytes, texture::EMPTY);
            let _ = texture.layout();
        }
    }

    #[test]
    fn stores(store in store(), flips in flips()) {
        let mut bytes = [0xff; RECORD_SIZE + 1];
        store.pack(&mut bytes).unwrap();
        prop_assert_eq!(bytes[RECORD_SIZE], 0xff);
        prop_assert_eq!(Store::unpack(&bytes), Ok(store));
        prop_assert!(store.pack(&mut bytes[..RECORD_SIZE - 1]).is_err());
        prop_assert!(Store::unpack(&bytes[..RECORD_SIZE - 1]).is_err());
        let bytes = *bytes.first_chunk().unwrap();
        bytes_survive(&flipped(bytes, &flips))?;
        if let store::Memory::Tiled { .. } = store.memory {
            prop_assert!(store.layout().is_ok());
        }
    }

    #[test]
    fn wild_stores(
        encoding in select(encodings()),
        sizes in prop_oneof![any::<(u32, u32)>(), (0..20_000u32, 0..20_000u32), (0..9u32, 0..9u32)],
        address in prop_oneof![any::<u64>(), address()],
        (pick, count, swizzle) in (0..8u8, prop_oneof![any::<u32>(), 0..3000u32], any::<u8>()),
        levels in proptest::option::of((0..16u8, 0..16u8)),
    ) {
        use store::{Dimension, Levels, Memory};
        let samples = Multisample::X4;
        let dimension = match pick {
            0 => Dimension::D1,
            1 => Dimension::D1Array { layers: count },
            2 => Dimension::D2,
            3 => Dimension::D2Array { layers: count },
            4 => Dimension::D2Multisample { samples },
            5 => Dimension::D3 { depth: count },
            _ => Dimension::D2MultisampleArray { samples, layers: count },
        };
        let levels = match levels {
            None => Levels::Single,
            Some((level, last)) => Levels::Level { level, last },
        };
        let memory = if pick == 7 {
            Memory::Linear { stride: count }
        } else {
            Memory::Tiled { dimension, levels }
        };
        let (width, height) = sizes;
        let swizzle = StoreSwizzle(swizzle);
        let store = Store { encoding, swizzle, width, height, address, memory };
        let mut bytes = [0; RECORD_SIZE];
        if store.pack(&mut bytes).is_ok() {
            prop_assert_eq!(Store::unpack(&bytes), Ok(store));
        } else {
            prop_assert_eq!(bytes, store::EMPTY);
            let _ = store.layout();
        }
    }

    #[test]
    fn samplers(sampler in sampler(), flips in flips(), wild in any::<u64>()) {
        let mut bytes = [0xff; SLOT_SIZE];
        sampler.pack(&mut bytes).unwrap();
        prop_assert_eq!(Sampler::unpack(&bytes), Ok(sampler));
        prop_assert_eq!(Sampler::from_bits(sampler.bits()), Ok(sampler));
        prop_assert!(sampler.pack(&mut bytes[..SLOT_SIZE - 1]).is_err());
        prop_assert!(Sampler::unpack(&bytes[..SLOT_SIZE - 1]).is_err());
        bytes_survive(&flipped(bytes, &flips))?;
        if let Ok(sampler) = Sampler::from_bits(wild) {
            prop_assert_eq!(sampler.bits(), wild);
        }
    }

    #[test]
    fn records_of_any_bytes(bytes in any::<[u8; RECORD_SIZE]>()) {
        bytes_survive(&bytes)?;
    }

    /// A range of any two numbers is legal, close to them, and keeps its ends in order.
    #[test]
    fn lod_ranges(min in any::<f32>(), max in any::<f32>(), a in -1.0..16f32, b in -1.0..16f32) {
        for (min, max) in [(min, max), (a, b)] {
            let range = LodRange::new(min, max);
            let again = LodRange::from_fields(range.min_field(), range.max_field());
            prop_assert_eq!(again, Ok(range));
            let to = if max.is_nan() { 0.0 } else { max.clamp(0.0, 14.0) };
            prop_assert!((range.max() - to).abs() <= 1.0 / 16.0);
            let from = if min.is_nan() { 0.0 } else { min.clamp(0.0, 14.0) };
            if from < range.max() {
                prop_assert!(range.min() <= from && from < range.min() + 1.0 / 64.0);
            } else {
                prop_assert_eq!(range.min(), range.max());
            }
        }
    }

    /// Every address of a drawn texel is inside its level and layer, aligned, and leads back.
    #[test]
    fn addresses_lead_back(
        image in image(MAX_SIZE, 2048),
        draws in vec(any::<(u8, u32, u32, u32, u8)>(), 16),
    ) {
        let tiled = Tiled::new(image).unwrap();
        let bytes = u64::from(image.element.bytes);
        let mut end = 0;
        for level in tiled.levels() {
            prop_assert_eq!(level.offset % 0x80, 0);
            prop_assert!(level.offset >= end);
            end = level.offset + level.size;
        }
        prop_assert!(end <= tiled.tree_size() && tiled.tree_size() <= tiled.layer_stride());
        prop_assert_eq!(tiled.layer_stride() % if image.page_aligned { 0x4000 } else { 0x80 }, 0);
        for draw in draws {
            let at = place(&tiled, draw);
            let offset = tiled.offset(at).unwrap();
            prop_assert_eq!(offset % bytes, 0);
            prop_assert!(offset + bytes <= tiled.size());
            let level = tiled.levels()[usize::from(at.level)];
            let in_layer = offset - u64::from(at.layer) * tiled.layer_stride();
            prop_assert!(in_layer >= level.offset);
            prop_assert!(in_layer + bytes <= level.offset + level.size);
            for byte in [0, bytes - 1] {
                prop_assert_eq!(tiled.locate(offset + byte), Some(at));
            }
        }
        // Outside.
        let last = tiled.levels().len() as u8;
        prop_assert_eq!(tiled.offset(Position { level: last, ..Position::default() }), None);
        let one_off = [
            Position { x: tiled.levels()[0].width, ..Position::default() },
            Position { y: tiled.levels()[0].height, ..Position::default() },
            Position { layer: image.stack.count(), ..Position::default() },
            Position { sample: samples(&image), ..Position::default() },
        ];
        for at in one_off {
            prop_assert_eq!(tiled.offset(at), None);
        }
        if matches!(image.stack, Stack::Slices(_)) && last > 1 {
            let half = (image.stack.count() / 2).max(1);
            let at = |layer| Position { layer, level: 1, ..Position::default() };
            prop_assert!(tiled.offset(at(half - 1)).is_some());
            prop_assert_eq!(tiled.offset(at(half)), None);
        }
    }

    /// Whatever byte is looked up, it belongs to what is found.
    #[test]
    fn bytes_lead_to_texels(image in image(MAX_SIZE, 2048), draws in vec(any::<u64>(), 16)) {
        let tiled = Tiled::new(image).unwrap();
        for draw in draws {
            prop_assert_eq!(tiled.locate(draw.max(tiled.size())), None);
            let offset = draw % tiled.size();
            if let Some(at) = tiled.locate(offset) {
                let start = tiled.offset(at).unwrap();
                prop_assert!((start..start + u64::from(image.element.bytes)).contains(&offset));
            }
        }
    }

    #[test]
    fn square_tiles(
        image in image(MAX_SIZE, 1),
        draws in vec(any::<(u8, u32, u32, u32, u8)>(), 16),
    ) {
        // Large enough for a big tile on both axes.
        let image = Image {
            width: image.width.max(128 * u32::from(image.element.width)),
            height: image.height.max(128 * u32::from(image.element.height)),
            mipmapped: false,
            ..image
        };
        let tiled = Tiled::new(image).unwrap();
        prop_assert!(tiled.first_small() >= 1);
        for draw in draws {
            let at = Position { layer: 0, ..place(&tiled, draw) };
            prop_assert_eq!(tiled.offset(at), Some(by_square_tiles(&image, at)));
        }
    }

    #[test]
    fn linear_images(
        width in size(MAX_SIZE),
        height in size(MAX_SIZE),
        bytes in select(&[1u8, 2, 4, 8, 16][..]),
        slack in 0..64u32,
        draws in vec(any::<(u32, u32, u64)>(), 16),
    ) {
        let element = Element::texel(bytes);
        let default = Linear::default_stride(width, element).unwrap();
        prop_assert!(default.is_multiple_of(128) && default >= width * u32::from(bytes));
        prop_assert!(default - width * u32::from(bytes) < 128);
        let stride = (default + 16 * slack).min(0x10_0000);
        let linear = Linear::new(width, height, element, stride).unwrap();
        let bytes = u64::from(bytes);
        for (x, y, draw) in draws {
            let (x, y) = (x % width, y % height);
            let offset = linear.offset(x, y).unwrap();
            prop_assert_eq!(offset, u64::from(y) * u64::from(stride) + u64::from(x) * bytes);
            prop_assert!(offset + bytes <= linear.size());
            let at = Position { x, y, ..Position::default() };
            prop_assert_eq!(linear.locate(offset + bytes - 1), Some(at));
            prop_assert_eq!(linear.offset(width, y), None);
            prop_assert_eq!(linear.offset(x, height), None);
            prop_assert_eq!(linear.locate(draw.max(linear.size())), None);
            if let Some(at) = linear.locate(draw % linear.size()) {
                let start = linear.offset(at.x, at.y).unwrap();
                prop_assert!((start..start + bytes).contains(&(draw % linear.size())));
            }
        }
        let row = u32::try_from(bytes).unwrap() * width;
        if row > 16 {
            prop_assert!(Linear::new(width, height, element, (row - 1) / 16 * 16).is_err());
        }
    }

    #[test]
    fn usage_only_sets_the_flag(image in image(MAX_SIZE, 2048), bits in any::<(bool, bool, bool)>()) {
        let (storage, attachment, depth_stencil) = bits;
        let usage = Usage { storage, attachment, depth_stencil };
        let tiled = Tiled::for_usage(image, usage).unwrap();
        let flag = tiled.image().page_aligned;
        prop_assert_eq!(Tiled::new(Image { page_aligned: flag, ..image }), Ok(tiled));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: config().cases / 10, ..config() })]

    /// No two samples of a whole image share a byte, and all are inside.
    #[test]
    fn addresses_are_unique(image in image(40, 3)) {
        let tiled = Tiled::new(image).unwrap();
        let bytes = u64::from(image.element.bytes);
        let mut taken = BTreeSet::new();
        for (number, level) in tiled.levels().iter().enumerate() {
            for layer in 0..tiled.layers(number as u8) {
                for (y, x) in (0..level.height).flat_map(|y| (0..level.width).map(move |x| (y, x))) {
                    for sample in 0..samples(&image) {
                        let at = Position { x, y, layer, sample, level: number as u8 };
                        let offset = tiled.offset(at).unwrap();
                        prop_assert!(offset + bytes <= tiled.size());
                        prop_assert_eq!(offset % bytes, 0);
                        prop_assert!(taken.insert(offset), "{:?}", at);
                    }
                }
            }
        }
        // And the bytes that are not taken lead nowhere.
        for offset in (0..tiled.size()).step_by(image.element.bytes.into()) {
            prop_assert_eq!(tiled.locate(offset).is_some(), taken.contains(&offset));
        }
    }
}

#[test]
fn descriptions_that_are_refused() {
    let good = Image {
        width: 64,
        height: 64,
        stack: Stack::Layers(1),
        element: Element::texel(4),
        samples: Samples::One,
        mipmapped: false,
        page_aligned: false,
    };
    assert!(Tiled::new(good).is_ok());
    let bad = [
        Image { width: 0, ..good },
        Image { height: 0, ..good },
        Image {
            width: 16385,
            ..good
        },
        Image {
            height: u32::MAX,
            ..good
        },
        Image {
            width: 2049,
            stack: Stack::Slices(1),
            ..good
        },
        Image {
            stack: Stack::Layers(0),
            ..good
        },
        Image {
            stack: Stack::Layers(2049),
            ..good
        },
        Image {
            stack: Stack::Slices(2049),
            ..good
        },
        Image {
            element: Element::texel(0),
            ..good
        },
        Image {
            element: Element::texel(3),
            ..good
        },
        Image {
            element: Element::texel(32),
            ..good
        },
        Image {
            element: Element::block(0, 4, 8),
            ..good
        },
        Image {
            samples: Samples::Two,
            mipmapped: true,
            ..good
        },
        Image {
            samples: Samples::Four,
            element: Element::block(4, 4, 8),
            ..good
        },
        Image {
            samples: Samples::Four,
            stack: Stack::Slices(4),
            ..good
        },
    ];
    for image in bad {
        assert!(Tiled::new(image).is_err(), "{image:?}");
        assert!(
            Tiled::for_usage(image, Usage::default()).is_err(),
            "{image:?}"
        );
    }
    let linear = |width, height, element, stride| Linear::new(width, height, element, stride);
    assert!(linear(4, 4, Element::texel(4), 16).is_ok());
    assert!(linear(4, 4, Element::texel(4), 24).is_err());
    assert!(linear(4, 4, Element::texel(4), 0).is_err());
    assert!(linear(5, 4, Element::texel(4), 16).is_err());
    assert!(linear(0, 4, Element::texel(4), 16).is_err());
    assert!(linear(4, 4, Element::block(4, 4, 8), 64).is_err());
    assert!(linear(16384, 16384, Element::texel(16), 0x10_0000).is_ok());
    assert_eq!(
        Linear::default_stride(16384, Element::texel(16)),
        Some(0x4_0000)
    );
    assert_eq!(Linear::default_stride(0, Element::texel(4)), None);
    assert_eq!(Linear::default_stride(1 << 31, Element::texel(4)), None);
}
