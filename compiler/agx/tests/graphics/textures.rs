// SPDX-License-Identifier: MIT
//! Samples whose level follows from the quad: each level of the texture has one colour, its number.

use agx_hw::format::Format;
use agx_hw::launcher::Samples;
use agx_hw::layout::{Image, Position, Stack, Tiled};
use agx_hw::sampler::{MipFilter, Sampler};
use agx_hw::texture::{Dimension, Levels, Memory, Texture, Tiling};
use mesa_nir::{BindingKind, BindingLayout, Place};

use crate::pipeline::{COVER, Draw, Scene, format};
use crate::studio::Studio;

/// Texels along an edge of level 0.
const EDGE: u32 = 64;
/// 64 down to 1.
const LEVELS: u8 = 7;

/// A texture whose texels are the numbers of their levels: its record.
fn texture(studio: &mut Studio) -> [u8; 32] {
    let format = Format::from_name("R32_SFLOAT").unwrap();
    let layout = Tiled::new(Image {
        width: EDGE,
        height: EDGE,
        stack: Stack::Layers(1),
        element: format.element(),
        samples: Samples::One,
        mipmapped: true,
        page_aligned: false,
    })
    .unwrap();
    let address = studio.images.reserve(layout.size(), 0x4000);
    for level in 0..LEVELS {
        for y in 0..EDGE >> level {
            for x in 0..EDGE >> level {
                let at = Position {
                    x,
                    y,
                    layer: 0,
                    sample: 0,
                    level,
                };
                let offset = layout.offset(at).unwrap();
                studio
                    .images
                    .write(address + offset, &f32::from(level).to_le_bytes());
            }
        }
    }
    let tiling = Tiling {
        dimension: Dimension::D2,
        levels: Levels::View {
            first: 0,
            last: LEVELS - 1,
        },
        page_aligned: false,
        compression: None,
    };
    let record = Texture {
        memory: Memory::Tiled(tiling),
        ..Texture::tiled(format, Dimension::D2, EDGE, EDGE, address)
    };
    let mut bytes = [0; 32];
    record.pack(&mut bytes).unwrap();
    bytes
}

/// The descriptor of the texture with a sampler (the README of mesa-nir has its layout).
fn descriptor(record: [u8; 32], mip: MipFilter, bias: f32) -> Vec<u8> {
    let mut bytes = vec![0; 128];
    bytes[..32].copy_from_slice(&record);
    let mut word = |at: usize, value: u32| bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    for (i, value) in [EDGE, EDGE, 1, LEVELS.into(), 1].into_iter().enumerate() {
        word(32 + 4 * i, value);
    }
    word(64 + 40, bias.to_bits());
    word(64 + 44, u32::from(mip.code()) << 2);
    let sampler = Sampler {
        mip,
        ..Sampler::default()
    };
    bytes[64..72].copy_from_slice(&sampler.bits().to_le_bytes());
    bytes
}

#[test]
fn levels_follow_from_the_quad() {
    let fragment = "layout(set = 0, binding = 1) uniform sampler2D t;
        layout(location = 0) out vec4 o;
        void main() {
            // Texels of level 0 from pixel to pixel: 1, 2, 4, 8 in the quarters of the picture.
            float step = float(1 << (int(gl_FragCoord.x) / 4));
            vec2 uv = gl_FragCoord.xy * step / 64.0;
            o = vec4(texture(t, uv).x, texture(t, uv, 1.0).x, textureQueryLod(t, uv).y,
                     textureOffset(t, uv, ivec2(1, -1)).x);
        }";
    for (bias, mip) in [(0.0, MipFilter::Nearest), (1.0, MipFilter::Linear)] {
        let mut scene = Scene::new(
            [16, 16],
            Samples::One,
            &[format("R32G32B32A32_SFLOAT")],
            [0; 4],
        );
        let record = texture(&mut scene.studio);
        let mut draw = Draw::new(COVER, fragment);
        draw.set = vec![0; 128];
        draw.set.extend(descriptor(record, mip, bias));
        draw.lowering.bindings = vec![BindingLayout {
            set: 0,
            binding: 1,
            place: Place::Set(0),
            offset: 128,
            stride: 128,
            count: 1,
            kind: BindingKind::CombinedImageSampler,
        }];
        scene.draw(&draw, |_| {});
        scene.render();
        for x in 0..16 {
            let level = (x / 4) as f32 + bias;
            let got = scene.floats(0, x, 6, 0);
            let expected = [level, level + 1.0, level, level];
            for (got, expected) in got.iter().zip(expected) {
                assert!(
                    (got - expected).abs() < 0.02,
                    "{mip:?} {x}: {got} for {expected}"
                );
            }
        }
    }
}
