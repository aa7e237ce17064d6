// SPDX-License-Identifier: MIT
//! Every format, fetched, against what its Vulkan name says; compressed ones against other decoders.

use agx_hw::format::{Channels, Format, Numeric};
use agx_hw::layout::Position;
use agx_hw::sampler::Sampler;
use agx_hw::texture::{Dimension, Texture};
use agx_sim::texture::blocks;
use agx_sim::texture::format::Codec;

use crate::bench::{Bench, Image, TEXELS, hash};

/// A field of a texel: component letter, first bit, bits.
type Field = (char, u32, u32);

/// The fields that a name like `A2R10G10B10_UNORM_PACK32` or `R8G8_SINT` lists.
fn fields(name: &str) -> Vec<Field> {
    let (letters, rest) = name.split_once('_').unwrap();
    let mut list: Vec<(char, u32)> = Vec::new();
    for c in letters.chars() {
        match c.to_digit(10) {
            Some(digit) => {
                let (_, bits) = list.last_mut().unwrap();
                *bits = *bits * 10 + digit;
            }
            None => list.push((c, 0)),
        }
    }
    // Packed names begin with the highest bits, others with the first bytes.
    if rest.contains("PACK") {
        list.reverse();
    }
    let mut first = 0;
    let mut out = Vec::new();
    for (letter, bits) in list {
        out.push((letter, first, bits));
        first += bits;
    }
    out
}

fn get(bytes: &[u8], first: u32, bits: u32) -> u64 {
    let mut value = 0;
    for bit in 0..bits {
        let at = first + bit;
        value |= u64::from(bytes[at as usize / 8] >> (at % 8) & 1) << bit;
    }
    value
}

/// A float of so many bits of exponent and mantissa, with a sign or not.
fn float(code: u64, exponent: u32, mantissa: u32, sign: bool) -> f64 {
    let negative = sign && code >> (exponent + mantissa) & 1 == 1;
    let e = (code >> mantissa & ((1 << exponent) - 1)) as i32;
    let m = (code & ((1 << mantissa) - 1)) as f64 / f64::from(1u32 << mantissa);
    let bias = (1 << (exponent - 1)) - 1;
    let top = (1 << exponent) - 1;
    let magnitude = if e == top {
        if m == 0.0 { f64::INFINITY } else { f64::NAN }
    } else if e == 0 {
        m * 2f64.powi(1 - bias)
    } else {
        (1.0 + m) * 2f64.powi(e - bias)
    };
    if negative { -magnitude } else { magnitude }
}

fn srgb(c: f64) -> f64 {
    if c <= 0.04045 {
        c / 12.92
    } else {
        ((c + 0.055) / 1.055).powf(2.4)
    }
}

/// The four components as registers hold them, from the name alone.
fn expected(name: &str, bytes: &[u8]) -> [u32; 4] {
    let integer = name.contains("INT");
    let one = if integer { 1 } else { 1.0f32.to_bits() };
    let mut out = [0, 0, 0, one];
    if name.starts_with("E5B9G9R9") {
        let scale = 2f64.powi(get(bytes, 27, 5) as i32 - 24);
        for c in 0..3 {
            out[c] = ((get(bytes, 9 * c as u32, 9) as f64 * scale) as f32).to_bits();
        }
        return out;
    }
    for (letter, first, bits) in fields(name) {
        let c = match letter {
            'R' | 'D' | 'S' => 0,
            'G' => 1,
            'B' => 2,
            _ => 3,
        };
        let code = get(bytes, first, bits);
        let signed = (code << (64 - bits)) as i64 >> (64 - bits);
        let number = |value: f64| {
            let value = value as f32;
            if value.is_nan() {
                0x7fc0_0000
            } else {
                value.to_bits()
            }
        };
        out[c] = if name.contains("UNORM") || name.contains("SRGB") {
            let value = code as f64 / (2f64.powi(bits as i32) - 1.0);
            let curved = name.contains("SRGB") && c < 3;
            number(if curved { srgb(value) } else { value })
        } else if name.contains("SNORM") {
            number((signed as f64 / (2f64.powi(bits as i32 - 1) - 1.0)).max(-1.0))
        } else if name.contains("UINT") {
            code as u32
        } else if name.contains("SINT") {
            signed as u32
        } else if bits == 32 {
            code as u32
        } else if name.contains("UFLOAT") {
            number(float(code, 5, bits - 5, false))
        } else {
            number(float(code, 5, 10, true))
        };
    }
    out
}

#[test]
fn uncompressed() {
    let mut formats = 0;
    for &format in Format::ALL.iter().filter(|f| !f.is_compressed()) {
        formats += 1;
        let name = format.name();
        let bytes = usize::from(format.element().bytes);
        let texture = Texture::tiled(format, Dimension::D2, 32, 32, TEXELS);
        let image = Image::new(texture);
        let element = |x: u32, y: u32| -> Vec<u8> {
            let n = hash(u64::from(x + 32 * y));
            let wide = u128::from(n) | u128::from(hash(n)) << 64;
            // All codes of short formats, and the ends of all.
            let value = match (x + 32 * y, bytes) {
                (0, _) => 0,
                (1, _) => u128::MAX,
                (n, 1) => u128::from(n),
                _ => wide,
            };
            value.to_le_bytes()[..bytes].to_vec()
        };
        for y in 0..32 {
            for x in 0..32 {
                let at = Position {
                    x,
                    y,
                    ..Position::default()
                };
                image.put(at, &element(x, y));
            }
        }
        let mut bench = Bench::new("texture.2d_fetch.load r0:r3, p0, tex0, samp0", 4)
            .map(&image.texels)
            .texture(0, &image.texture)
            .sampler(0, &Sampler::fetch());
        for y in 0..32 {
            let got = bench.run(|word, lane| [lane as u32, y, 0, 0][word.min(3)]);
            for lane in 0..32 {
                let bytes = element(lane as u32, y);
                let want = expected(name, &bytes);
                let have = [0, 1, 2, 3].map(|c| got[c].0[lane]);
                assert_eq!(have, want, "{name} {bytes:x?}");
            }
        }
    }
    assert!(formats > 60, "{formats}");
}

/// Decodes a block of a format.
fn decoded(format: Format, block: &[u8]) -> Vec<[f32; 4]> {
    let mut padded = [0; 16];
    padded[..block.len()].copy_from_slice(block);
    let words = [0, 4, 8, 12]
        .map(|at| u32::from_le_bytes([padded[at], padded[at + 1], padded[at + 2], padded[at + 3]]));
    let codec = Codec::new(format.encoding(), format.is_srgb()).unwrap();
    let mut texels = Vec::new();
    blocks::decode(&codec, words, &mut texels);
    texels.iter().map(|t| t.map(f32::from_bits)).collect()
}

/// Blocks: random ones, and ones with few bits, which reach other modes.
fn some_blocks(bytes: usize, count: u64) -> impl Iterator<Item = Vec<u8>> {
    (0..count).map(move |n| {
        let mut wide = u128::from(hash(n)) | u128::from(hash(n ^ 0x55)) << 64;
        match n % 4 {
            1 => wide &= u128::from(hash(n + 1)) << 64 | u128::from(hash(n + 2)),
            2 => wide |= u128::from(hash(n + 1)) << 64 | u128::from(hash(n + 2)),
            // BC6H and BC7 tell modes apart by their lowest bits.
            3 => wide = wide & !0xff | 1 << (n / 4 % 8),
            _ => {}
        }
        wide.to_le_bytes()[..bytes].to_vec()
    })
}

/// Compares all texels with bytes: at most `steps` of 1/255 apart.
fn near(format: Format, block: &[u8], theirs: &[[u8; 4]], components: usize, steps: f32) {
    for (i, (ours, theirs)) in decoded(format, block).iter().zip(theirs).enumerate() {
        for c in 0..components {
            let difference = (ours[c] * 255.0 - f32::from(theirs[c])).abs();
            assert!(
                difference <= steps,
                "{format:?} {block:x?} texel {i}: {ours:?}, not {theirs:?}"
            );
        }
    }
}

#[test]
fn bc1_to_bc5() {
    for block in some_blocks(16, 4000) {
        let pixels = |f: fn(&[u8], &mut [u8], usize), block: &[u8]| -> Vec<[u8; 4]> {
            let mut out = [0; 64];
            f(block, &mut out, 16);
            out.as_chunks::<4>().0.to_vec()
        };
        let half = &block[..8];
        // Their fractions are rounded to bytes, ends and steps.
        let steps = 1.01;
        let bc1 = pixels(bcdec_rs::bc1, half);
        near(Format::Bc1RgbaUnormBlock, half, &bc1, 4, steps);
        near(
            Format::Bc2UnormBlock,
            &block,
            &pixels(bcdec_rs::bc2, &block),
            4,
            steps,
        );
        near(
            Format::Bc3UnormBlock,
            &block,
            &pixels(bcdec_rs::bc3, &block),
            4,
            steps,
        );
        for signed in [false, true] {
            let format = match signed {
                false => Format::Bc5UnormBlock,
                true => Format::Bc5SnormBlock,
            };
            let mut floats = [0.0; 32];
            bcdec_rs::bc5_float(&block, &mut floats, 8, signed);
            for (ours, theirs) in decoded(format, &block)
                .iter()
                .zip(floats.as_chunks::<2>().0)
            {
                for c in 0..2 {
                    assert!((ours[c] - theirs[c]).abs() < 2e-2, "{ours:?} {theirs:?}");
                }
            }
        }
    }
}

#[test]
fn bc6_and_bc7() {
    for block in some_blocks(16, 4000) {
        let mut theirs = [0u32; 16];
        texture2ddecoder::decode_bc7_block(&block, &mut theirs);
        let bgra = theirs.map(u32::to_le_bytes);
        let theirs = bgra.map(|[b, g, r, a]| [r, g, b, a]);
        // A reserved mode is transparent black (theirs leaves it alone).
        if block[0] != 0 {
            near(Format::Bc7UnormBlock, &block, &theirs, 4, 0.01);
        }
        for (format, signed) in [
            (Format::Bc6HSfloatBlock, true),
            (Format::Bc6HUfloatBlock, false),
        ] {
            let mut halves = [0u16; 48];
            bcdec_rs::bc6h_half(&block, &mut halves, 12, signed);
            for (ours, theirs) in decoded(format, &block)
                .iter()
                .zip(halves.as_chunks::<3>().0)
            {
                for c in 0..3 {
                    let want = float(theirs[c].into(), 5, 10, true);
                    assert_eq!(f64::from(ours[c]), want);
                    assert!(signed || ours[c] >= 0.0);
                }
            }
        }
    }
}

#[test]
fn etc2_and_eac() {
    let rgba = |theirs: [u32; 16]| {
        theirs.map(|t| {
            let [b, g, r, a] = t.to_le_bytes();
            [r, g, b, a]
        })
    };
    for block in some_blocks(16, 6000) {
        let half = &block[..8];
        let mut out = [0; 16];
        texture2ddecoder::decode_etc2_rgb_block(half, &mut out);
        near(Format::Etc2R8G8B8UnormBlock, half, &rgba(out), 3, 0.01);
        texture2ddecoder::decode_etc2_rgba1_block(half, &mut out);
        // Transparent texels are black (theirs keep a colour in two of the modes).
        let black = rgba(out).map(|t| if t[3] == 0 { [0; 4] } else { t });
        near(Format::Etc2R8G8B8A1UnormBlock, half, &black, 4, 0.01);
        texture2ddecoder::decode_etc2_rgba8_block(&block, &mut out);
        near(Format::Etc2R8G8B8A8UnormBlock, &block, &rgba(out), 4, 0.01);
        // Eleven bits and eight of the same block: the upper eight agree. (The other decoder reads the
        // indices of eleven-bit blocks in the wrong order.)
        if block[1] >> 4 != 0 {
            let eleven = decoded(Format::EacR11UnormBlock, half);
            let two = decoded(Format::EacR11G11UnormBlock, &block);
            for (i, texel) in rgba(out).iter().enumerate() {
                let code = (eleven[i][0] * 2047.0).round() as u32;
                assert_eq!(code >> 3, u32::from(texel[3]), "{block:x?}");
                assert_eq!(two[i][0], eleven[i][0]);
            }
            let green = decoded(Format::EacR11UnormBlock, &block[8..]);
            assert!(two.iter().zip(green).all(|(a, b)| a[1] == b[0]));
        }
    }
}

/// The signed blocks, and factor 0, worked out from the definition by hand.
#[test]
fn eac_by_hand() {
    // Base 127, factor 0, table 13, all indices 7 (modifier 9): 1016 + 9 is past the end.
    let all = |base: u8, factor: u8, index: u64| {
        let mut indices = 0u64;
        for _ in 0..16 {
            indices = indices << 3 | index;
        }
        let word = u64::from(base) << 56 | u64::from(factor) << 52 | 13 << 48 | indices;
        word.to_be_bytes()
    };
    let red = |format, block: [u8; 8]| decoded(format, &block)[5][0];
    assert_eq!(red(Format::EacR11SnormBlock, all(127, 0, 7)), 1.0);
    // 8 * 10 - 10.
    assert_eq!(red(Format::EacR11SnormBlock, all(10, 0, 3)), 70.0 / 1023.0);
    // -128 is -127.
    assert_eq!(
        red(Format::EacR11SnormBlock, all(0x80, 1, 4)),
        -1016.0 / 1023.0
    );
    // 8 * 10 + 4 + 9 * 2 * 8.
    assert_eq!(red(Format::EacR11UnormBlock, all(10, 2, 7)), 228.0 / 2047.0);
    assert_eq!(red(Format::EacR11UnormBlock, all(10, 0, 7)), 93.0 / 2047.0);
}

#[test]
fn astc() {
    let formats = Format::ALL
        .iter()
        .filter(|f| f.name().starts_with("ASTC") && f.encoding().numeric() == Numeric::Unorm);
    for &format in formats {
        let element = format.element();
        let mut good = 0;
        for block in some_blocks(16, 8000) {
            let ours = decoded(format, &block);
            // Bad blocks, and those with a partition of an HDR mode, which the other decoder cuts to bytes.
            if ours.contains(&[1.0, 0.0, 1.0, 1.0]) {
                continue;
            }
            good += 1;
            let mut theirs = vec![0; usize::from(element.width) * usize::from(element.height)];
            let (width, height) = (element.width.into(), element.height.into());
            texture2ddecoder::decode_astc_block(&block, width, height, &mut theirs);
            let rgba = |t: &u32| {
                let [b, g, r, a] = t.to_le_bytes();
                [r, g, b, a]
            };
            let theirs: Vec<[u8; 4]> = theirs.iter().map(rgba).collect();
            if !format.is_srgb() {
                near(format, &block, &theirs, 4, 1.01);
            }
        }
        assert!(good > 100, "{format:?}: {good}");
    }
}

/// HDR colours against the other decoder, which cuts them to bytes.
#[test]
fn astc_hdr() {
    let formats = Format::ALL
        .iter()
        .filter(|f| f.name().starts_with("ASTC") && f.encoding().numeric() == Numeric::Float);
    let mut beyond_one = 0;
    for &format in formats {
        let element = format.element();
        let (width, height) = (usize::from(element.width), usize::from(element.height));
        for block in some_blocks(16, 20_000) {
            // One partition; of the modes with two colours theirs extends signs to 16 bits only.
            let word = u128::from_le_bytes(block.as_slice().try_into().unwrap());
            let mode = word >> 13 & 15;
            if word >> 11 & 3 != 0 || matches!(mode, 11 | 14 | 15) {
                continue;
            }
            let ours = decoded(format, &block);
            if ours.iter().any(|t| t.iter().any(|c| c.is_nan())) {
                continue;
            }
            let mut theirs = vec![0; width * height];
            texture2ddecoder::decode_astc_block(&block, width, height, &mut theirs);
            for (ours, theirs) in ours.iter().zip(&theirs) {
                let [b, g, r, a] = theirs.to_le_bytes();
                for (c, theirs) in [r, g, b, a].into_iter().enumerate() {
                    beyond_one += u32::from(ours[c] > 1.0);
                    let cut = ours[c].clamp(0.0, 1.0) * 255.0;
                    assert!(
                        (cut - f32::from(theirs)).abs() <= 1.01,
                        "{format:?} {block:x?}: {ours:?}, not {theirs} in {c}"
                    );
                }
            }
        }
    }
    assert!(beyond_one > 1000, "{beyond_one}");
}

/// A block with three partitions, of which one has an HDR mode: without HDR, only its texels are bad. The second
/// partition has no texels.
#[test]
fn astc_hdr_partition() {
    let bad = |block: u128| {
        let texels = decoded(Format::Astc6x6UnormBlock, &block.to_le_bytes());
        let is_bad = |texel: &&[f32; 4]| **texel == [1.0, 0.0, 1.0, 1.0];
        texels.iter().filter(is_bad).count()
    };
    let block = 0x2eca_8f51_04bb_383e_9b61_005b_b080_d513;
    assert_eq!(bad(block), 0);
    // The first's mode, 1, becomes 2, and then the third's.
    let [first, third] = [(1 << 28) | (1 << 51), (1 << 54) | (1 << 55)];
    assert_eq!(bad(block ^ first) + bad(block ^ third), 36);
}

/// Worked out from the definition: void extents, and one partition of luminance.
#[test]
fn astc_by_hand() {
    let format = Format::Astc4x4UnormBlock;
    let hdr = Format::Astc4x4SfloatBlock;
    let extent = |colour: [u16; 4], float: bool| -> [u8; 16] {
        let mut word = 0xdfcu128 | u128::from(float) << 9 | ((1 << 52) - 1) << 12;
        for (i, c) in colour.iter().enumerate() {
            word |= u128::from(*c) << (64 + 16 * i);
        }
        word.to_le_bytes()
    };
    let solid = extent([0xffff, 0, 0x8000, 0x1235], false);
    // 16 bits over 65536, cut to eleven significant ones.
    let cut = (0x1235 >> 2 << 2) as f32 / 65536.0;
    assert_eq!(decoded(format, &solid)[7], [1.0, 0.0, 0.5, cut]);
    assert_eq!(decoded(hdr, &solid)[7], [1.0, 0.0, 0.5, cut]);
    let float = extent([0x3c00, 0x4000, 0xc000, 0x3800], true);
    assert_eq!(decoded(hdr, &float)[0], [1.0, 2.0, -2.0, 0.5]);
    assert_eq!(decoded(format, &float)[0], [1.0, 0.0, 1.0, 1.0]);
    assert_eq!(
        decoded(
            Format::Astc4x4SrgbBlock,
            &extent([0x8000, 0, 0xff00, 0xffff], false)
        )[0],
        [srgb(128.0 / 255.0) as f32, 0.0, 1.0, 1.0]
    );
}

/// Formats that only captures know have no conversion.
#[test]
fn unknown_conversions() {
    let xr = agx_hw::format::Encoding::new(Channels::R10G10B10A2, Numeric::Xr).unwrap();
    assert!(Codec::new(xr, false).is_err());
}

/// A compressed image is sampled through its blocks, in every format.
#[test]
fn compressed_images() {
    for &format in Format::ALL.iter().filter(|f| f.is_compressed()) {
        let texture = Texture::tiled(format, Dimension::D2, 50, 37, TEXELS);
        let image = Image::new(texture);
        let element = format.element();
        let (width, height) = (u32::from(element.width), u32::from(element.height));
        let blocks: Vec<Vec<u8>> = some_blocks(element.bytes.into(), 256).collect();
        let block = |x: u32, y: u32| &blocks[((x + 17 * y) % 256) as usize];
        for y in 0..37u32.div_ceil(height) {
            for x in 0..50u32.div_ceil(width) {
                let at = Position {
                    x,
                    y,
                    ..Position::default()
                };
                image.put(at, block(x, y));
            }
        }
        let mut bench = Bench::new("texture.2d.sample r0:r3, p0, tex0, samp0", 2)
            .map(&image.texels)
            .texture(0, &image.texture)
            .sampler(0, &Sampler::default());
        let place = |lane: usize| (lane as u32 * 13 % 50, lane as u32 * 11 % 37);
        let got = bench.run(|word, lane| {
            let (x, y) = place(lane);
            [(x as f32 + 0.5) / 50.0, (y as f32 + 0.5) / 37.0][word & 1].to_bits()
        });
        for lane in 0..32 {
            let (x, y) = place(lane);
            let texels = decoded(format, block(x / width, y / height));
            let texel = texels[(y % height * width + x % width) as usize];
            for (c, source) in format.swizzle().0.iter().enumerate() {
                let want = match source.code() {
                    4 => 1.0,
                    5 => 0.0,
                    code => texel[usize::from(code)],
                };
                let have = f32::from_bits(got[c].0[lane]);
                assert!(
                    have == want || (have.is_nan() && want.is_nan()),
                    "{format:?}"
                );
            }
        }
    }
}
