// SPDX-License-Identifier: MIT
//! Formats against Vulkan: their numbers, what its specification demands of them, and the layout that
//! their names state.

use std::collections::BTreeSet;

use agx_hw::format::{
    Attachment, Capabilities, Component, Format, Planes, VertexFormat, VertexNumeric,
};

/// Vulkan's core formats: the number of each is its place.
const CORE: &str = "
    UNDEFINED R4G4_UNORM_PACK8 R4G4B4A4_UNORM_PACK16 B4G4R4A4_UNORM_PACK16 R5G6B5_UNORM_PACK16
    B5G6R5_UNORM_PACK16 R5G5B5A1_UNORM_PACK16 B5G5R5A1_UNORM_PACK16 A1R5G5B5_UNORM_PACK16
    R8_UNORM R8_SNORM R8_USCALED R8_SSCALED R8_UINT R8_SINT R8_SRGB R8G8_UNORM R8G8_SNORM
    R8G8_USCALED R8G8_SSCALED R8G8_UINT R8G8_SINT R8G8_SRGB R8G8B8_UNORM R8G8B8_SNORM
    R8G8B8_USCALED R8G8B8_SSCALED R8G8B8_UINT R8G8B8_SINT R8G8B8_SRGB B8G8R8_UNORM B8G8R8_SNORM
    B8G8R8_USCALED B8G8R8_SSCALED B8G8R8_UINT B8G8R8_SINT B8G8R8_SRGB R8G8B8A8_UNORM
    R8G8B8A8_SNORM R8G8B8A8_USCALED R8G8B8A8_SSCALED R8G8B8A8_UINT R8G8B8A8_SINT R8G8B8A8_SRGB
    B8G8R8A8_UNORM B8G8R8A8_SNORM B8G8R8A8_USCALED B8G8R8A8_SSCALED B8G8R8A8_UINT B8G8R8A8_SINT
    B8G8R8A8_SRGB A8B8G8R8_UNORM_PACK32 A8B8G8R8_SNORM_PACK32 A8B8G8R8_USCALED_PACK32
    A8B8G8R8_SSCALED_PACK32 A8B8G8R8_UINT_PACK32 A8B8G8R8_SINT_PACK32 A8B8G8R8_SRGB_PACK32
    A2R10G10B10_UNORM_PACK32 A2R10G10B10_SNORM_PACK32 A2R10G10B10_USCALED_PACK32
    A2R10G10B10_SSCALED_PACK32 A2R10G10B10_UINT_PACK32 A2R10G10B10_SINT_PACK32
    A2B10G10R10_UNORM_PACK32 A2B10G10R10_SNORM_PACK32 A2B10G10R10_USCALED_PACK32
    A2B10G10R10_SSCALED_PACK32 A2B10G10R10_UINT_PACK32 A2B10G10R10_SINT_PACK32 R16_UNORM
    R16_SNORM R16_USCALED R16_SSCALED R16_UINT R16_SINT R16_SFLOAT R16G16_UNORM R16G16_SNORM
    R16G16_USCALED R16G16_SSCALED R16G16_UINT R16G16_SINT R16G16_SFLOAT R16G16B16_UNORM
    R16G16B16_SNORM R16G16B16_USCALED R16G16B16_SSCALED R16G16B16_UINT R16G16B16_SINT
    R16G16B16_SFLOAT R16G16B16A16_UNORM R16G16B16A16_SNORM R16G16B16A16_USCALED
    R16G16B16A16_SSCALED R16G16B16A16_UINT R16G16B16A16_SINT R16G16B16A16_SFLOAT R32_UINT
    R32_SINT R32_SFLOAT R32G32_UINT R32G32_SINT R32G32_SFLOAT R32G32B32_UINT R32G32B32_SINT
    R32G32B32_SFLOAT R32G32B32A32_UINT R32G32B32A32_SINT R32G32B32A32_SFLOAT R64_UINT R64_SINT
    R64_SFLOAT R64G64_UINT R64G64_SINT R64G64_SFLOAT R64G64B64_UINT R64G64B64_SINT
    R64G64B64_SFLOAT R64G64B64A64_UINT R64G64B64A64_SINT R64G64B64A64_SFLOAT
    B10G11R11_UFLOAT_PACK32 E5B9G9R9_UFLOAT_PACK32 D16_UNORM X8_D24_UNORM_PACK32 D32_SFLOAT
    S8_UINT D16_UNORM_S8_UINT D24_UNORM_S8_UINT D32_SFLOAT_S8_UINT BC1_RGB_UNORM_BLOCK
    BC1_RGB_SRGB_BLOCK BC1_RGBA_UNORM_BLOCK BC1_RGBA_SRGB_BLOCK BC2_UNORM_BLOCK BC2_SRGB_BLOCK
    BC3_UNORM_BLOCK BC3_SRGB_BLOCK BC4_UNORM_BLOCK BC4_SNORM_BLOCK BC5_UNORM_BLOCK
    BC5_SNORM_BLOCK BC6H_UFLOAT_BLOCK BC6H_SFLOAT_BLOCK BC7_UNORM_BLOCK BC7_SRGB_BLOCK
    ETC2_R8G8B8_UNORM_BLOCK ETC2_R8G8B8_SRGB_BLOCK ETC2_R8G8B8A1_UNORM_BLOCK
    ETC2_R8G8B8A1_SRGB_BLOCK ETC2_R8G8B8A8_UNORM_BLOCK ETC2_R8G8B8A8_SRGB_BLOCK
    EAC_R11_UNORM_BLOCK EAC_R11_SNORM_BLOCK EAC_R11G11_UNORM_BLOCK EAC_R11G11_SNORM_BLOCK
    ASTC_4X4_UNORM_BLOCK ASTC_4X4_SRGB_BLOCK ASTC_5X4_UNORM_BLOCK ASTC_5X4_SRGB_BLOCK
    ASTC_5X5_UNORM_BLOCK ASTC_5X5_SRGB_BLOCK ASTC_6X5_UNORM_BLOCK ASTC_6X5_SRGB_BLOCK
    ASTC_6X6_UNORM_BLOCK ASTC_6X6_SRGB_BLOCK ASTC_8X5_UNORM_BLOCK ASTC_8X5_SRGB_BLOCK
    ASTC_8X6_UNORM_BLOCK ASTC_8X6_SRGB_BLOCK ASTC_8X8_UNORM_BLOCK ASTC_8X8_SRGB_BLOCK
    ASTC_10X5_UNORM_BLOCK ASTC_10X5_SRGB_BLOCK ASTC_10X6_UNORM_BLOCK ASTC_10X6_SRGB_BLOCK
    ASTC_10X8_UNORM_BLOCK ASTC_10X8_SRGB_BLOCK ASTC_10X10_UNORM_BLOCK ASTC_10X10_SRGB_BLOCK
    ASTC_12X10_UNORM_BLOCK ASTC_12X10_SRGB_BLOCK ASTC_12X12_UNORM_BLOCK ASTC_12X12_SRGB_BLOCK
";

/// The number of a format by its name.
fn number(name: &str) -> Option<u32> {
    let extensions = [
        ("A4R4G4B4_UNORM_PACK16", 1_000_340_000),
        ("A4B4G4R4_UNORM_PACK16", 1_000_340_001),
        ("A1B5G5R5_UNORM_PACK16", 1_000_470_000),
        ("A8_UNORM", 1_000_470_001),
    ];
    if let Some((_, number)) = extensions.into_iter().find(|(other, _)| *other == name) {
        return Some(number);
    }
    if let Some(size) = name
        .strip_suffix("_SFLOAT_BLOCK")
        .filter(|n| n.starts_with("ASTC"))
    {
        // In the order of the LDR formats, which come in pairs.
        let first = number("ASTC_4x4_UNORM_BLOCK")?;
        return Some(1_000_066_000 + (number(&format!("{size}_UNORM_BLOCK"))? - first) / 2);
    }
    // Vulkan writes sizes of blocks with a small x.
    let place = CORE
        .split_whitespace()
        .position(|other| other.eq_ignore_ascii_case(name))?;
    Some(place as u32)
}

#[test]
fn numbers() {
    assert_eq!(CORE.split_whitespace().count(), 185);
    assert_eq!(number("ASTC_12x12_SRGB_BLOCK"), Some(184));
    let mut seen = BTreeSet::new();
    for format in Format::ALL {
        assert_eq!(
            Some(format.vulkan()),
            number(format.name()),
            "{}",
            format.name()
        );
        assert_eq!(Format::from_vulkan(format.vulkan()), Some(*format));
        assert!(seen.insert(format.vulkan()));
    }
    for format in VertexFormat::ALL {
        assert_eq!(
            Some(format.vulkan()),
            number(format.name()),
            "{}",
            format.name()
        );
        assert_eq!(VertexFormat::from_vulkan(format.vulkan()), Some(*format));
    }
    let known = (0..200).filter_map(Format::from_vulkan).count();
    let extensions = Format::ALL
        .iter()
        .filter(|format| format.vulkan() >= 1000)
        .count();
    assert_eq!(known + extensions, Format::ALL.len());
    assert_eq!(extensions, 4 + 14);
    assert_eq!(Format::from_vulkan(0), None);
    assert_eq!(Format::from_vulkan(u32::MAX), None);
}

/// What Vulkan's tables of mandatory formats demand, a letter each: `s`ampled, `f`iltered, s`t`orage,
/// `a`tomic, `c`olour, `b`lend, `d`epth or stencil, `v`ertex, `u`niform and `w`ritable texel buffers.
/// Storage of formats that `shaderStorageImageExtendedFormats` adds is `x`.
const MANDATORY: &str = "
    B4G4R4A4_UNORM_PACK16 sf      R5G6B5_UNORM_PACK16 sfcb     A1R5G5B5_UNORM_PACK16 sfcb
    A4R4G4B4_UNORM_PACK16 sf      A4B4G4R4_UNORM_PACK16 sf
    R8_UNORM sfxcbvu              R8_SNORM sfxvu               R8_UINT sxcvu
    R8_SINT sxcvu                 R8G8_UNORM sfxcbvu           R8G8_SNORM sfxvu
    R8G8_UINT sxcvu               R8G8_SINT sxcvu
    R8G8B8A8_UNORM sftcbvuw       R8G8B8A8_SNORM sftvuw        R8G8B8A8_UINT stcvuw
    R8G8B8A8_SINT stcvuw          R8G8B8A8_SRGB sfcb           B8G8R8A8_UNORM sfcbvu
    B8G8R8A8_SRGB sfcb            A8B8G8R8_UNORM_PACK32 sfcbvuw A8B8G8R8_SNORM_PACK32 sfvuw
    A8B8G8R8_UINT_PACK32 scvuw    A8B8G8R8_SINT_PACK32 scvuw   A8B8G8R8_SRGB_PACK32 sfcb
    A2B10G10R10_UNORM_PACK32 sfxcbvu A2B10G10R10_UINT_PACK32 sxcu
    R16_UNORM xv                  R16_SNORM xv                 R16_UINT sxcvu
    R16_SINT sxcvu                R16_SFLOAT sfxcbvu           R16G16_UNORM xv
    R16G16_SNORM xv               R16G16_UINT sxcvu            R16G16_SINT sxcvu
    R16G16_SFLOAT sfxcbvu         R16G16B16A16_UNORM xv        R16G16B16A16_SNORM xv
    R16G16B16A16_UINT stcvuw      R16G16B16A16_SINT stcvuw     R16G16B16A16_SFLOAT sftcbvuw
    R32_UINT stacvuw              R32_SINT stacvuw             R32_SFLOAT stcvuw
    R32G32_UINT stcvuw            R32G32_SINT stcvuw           R32G32_SFLOAT stcvuw
    R32G32B32_UINT v              R32G32B32_SINT v             R32G32B32_SFLOAT v
    R32G32B32A32_UINT stcvuw      R32G32B32A32_SINT stcvuw     R32G32B32A32_SFLOAT stcvuw
    B10G11R11_UFLOAT_PACK32 sfxu  E5B9G9R9_UFLOAT_PACK32 sf
    D16_UNORM sd                  D32_SFLOAT sd                D32_SFLOAT_S8_UINT d
    BC1_RGB_UNORM_BLOCK sf        BC3_SRGB_BLOCK sf            BC6H_UFLOAT_BLOCK sf
    BC7_SRGB_BLOCK sf             ETC2_R8G8B8A8_SRGB_BLOCK sf  EAC_R11G11_SNORM_BLOCK sf
    ASTC_4x4_UNORM_BLOCK sf       ASTC_12x12_SRGB_BLOCK sf
";

#[test]
fn mandatory_formats() {
    let words: Vec<_> = MANDATORY.split_whitespace().collect();
    assert!(words.len() > 120);
    for pair in words.chunks_exact(2) {
        let (name, demands) = (pair[0], pair[1]);
        let number = number(name).unwrap_or_else(|| panic!("{name}"));
        let can = Capabilities::of_vulkan(number);
        for demand in demands.chars() {
            let met = match demand {
                's' => can.sampled,
                'f' => can.filter,
                't' | 'x' => can.storage,
                'a' => can.atomic,
                'c' => can.colour,
                'b' => can.blend,
                'd' => can.depth_stencil,
                'v' => can.vertex,
                'u' => can.texel_buffer,
                'w' => can.storage_texel_buffer,
                other => panic!("{other}"),
            };
            assert!(met, "{name} {demand}");
        }
    }
}

/// What must not be offered, whatever Vulkan would allow (images, 5.3).
#[test]
fn not_offered() {
    for name in [
        "UNDEFINED",
        "X8_D24_UNORM_PACK32",
        "D24_UNORM_S8_UINT",
        "R8G8B8_UNORM",
        "R16G16B16_SFLOAT",
        "R64_SFLOAT",
        "R8_USCALED",
        "A2R10G10B10_SINT_PACK32",
    ] {
        let can = Capabilities::of_vulkan(number(name).unwrap());
        let vertex = can.vertex;
        assert_eq!(
            can,
            Capabilities {
                vertex,
                ..Capabilities::default()
            },
            "{name}"
        );
    }
    for number in [2000, 1_000_156_000, u32::MAX] {
        assert_eq!(Capabilities::of_vulkan(number), Capabilities::default());
    }
    for format in Format::ALL {
        let can = format.capabilities();
        let integer = format.encoding().numeric().is_integer();
        assert!(!(integer && (can.filter || can.blend)), "{}", format.name());
        assert!(!(format.is_compressed() && (can.colour || can.storage || can.linear)));
        assert!(!(format.is_srgb() && can.storage));
        assert!(!can.blend || can.colour);
        assert_eq!(
            can.atomic,
            matches!(format, Format::R32Uint | Format::R32Sint)
        );
        // Whatever is exported has a place in the tile and a swizzle.
        assert!(!can.colour || format.tile_word().is_some());
        if format.attachment() == Attachment::Doubtful {
            assert!(!can.colour && !can.storage);
        }
    }
}

#[test]
fn planes() {
    let of = |name| Planes::of_vulkan(number(name).unwrap());
    assert_eq!(
        of("D32_SFLOAT_S8_UINT"),
        Some(Planes::DepthStencil {
            depth: Format::D32Sfloat,
            stencil: Format::S8Uint
        })
    );
    assert_eq!(of("D16_UNORM"), Some(Planes::One(Format::D16Unorm)));
    assert_eq!(of("D24_UNORM_S8_UINT"), None);
    assert!(Capabilities::of_vulkan(130).depth_stencil);
    assert!(!Capabilities::of_vulkan(130).linear);
}

/// The layout that a name states: arrays in the order of the name, packed words from the top.
#[test]
fn vertex_layouts() {
    for format in VertexFormat::ALL {
        let name = format.name();
        let (components, rest) = name.split_once('_').unwrap();
        let kind = rest.trim_end_matches("_PACK32");
        let mut list: Vec<(char, u8)> = Vec::new();
        let mut rest_of = components;
        while let Some(letter) = rest_of.chars().next() {
            let digits: String = rest_of[1..]
                .chars()
                .take_while(char::is_ascii_digit)
                .collect();
            rest_of = &rest_of[1 + digits.len()..];
            list.push((letter, digits.parse().unwrap()));
        }
        if name.ends_with("_PACK32") {
            list.reverse();
        }
        let mut first = 0;
        let mut places = Vec::new();
        for (letter, bits) in list {
            places.push((letter, Component { first, bits }));
            first += bits;
        }
        let expected: Vec<_> = "RGBA"
            .chars()
            .filter_map(|letter| places.iter().find(|(other, _)| *other == letter))
            .map(|(_, component)| *component)
            .collect();
        assert_eq!(format.components(), expected, "{name}");
        assert_eq!(format.bytes(), first / 8, "{name}");
        let numeric = match kind {
            "UNORM" => VertexNumeric::Unorm,
            "SNORM" => VertexNumeric::Snorm,
            "USCALED" => VertexNumeric::Uscaled,
            "SSCALED" => VertexNumeric::Sscaled,
            "UINT" => VertexNumeric::Uint,
            "SINT" => VertexNumeric::Sint,
            "SFLOAT" | "UFLOAT" => VertexNumeric::Float,
            other => panic!("{other}"),
        };
        assert_eq!(format.numeric(), numeric, "{name}");
        let alignment = if name.ends_with("_PACK32") {
            first / 8
        } else {
            expected[0].bits / 8
        };
        let packed_bytes = name.starts_with("A8B8G8R8");
        assert_eq!(
            format.alignment(),
            if packed_bytes { 1 } else { alignment },
            "{name}"
        );
    }
}
