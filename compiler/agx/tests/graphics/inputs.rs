// SPDX-License-Identifier: MIT
//! Input attachments that are read in the tile (isa-3, 8: TILE_LOAD).

use agx_hw::launcher::Samples;
use mesa_nir::{ColourFormat, TileInput};

use crate::pipeline::{COVER, Draw, Scene, format};
use crate::studio::count;

const ALL: [Samples; 3] = [Samples::One, Samples::Two, Samples::Four];
const WORD: &str = "R32_UINT";

/// The attachment of a scene that an input is.
fn input(scene: &Scene, index: u32, attachment: usize) -> TileInput {
    let of = scene.attachments()[attachment].expect("an attachment");
    TileInput {
        index,
        format: of.format,
        word: of.word,
    }
}

/// A draw over everything that reads inputs and writes only the first attachments.
fn draw(scene: &mut Scene, text: &str, inputs: Vec<TileInput>, outputs: usize) {
    let mut draw = Draw::new(COVER, text);
    draw.lowering.inputs = inputs;
    scene.draw(&draw, |attachments| attachments[outputs..].fill(None));
}

fn word(scene: &Scene, attachment: usize, x: u32, y: u32, sample: u8) -> u32 {
    let bytes = scene.texel(attachment, x, y, sample);
    u32::from_le_bytes(bytes.try_into().expect("a word"))
}

/// One that the shader writes itself, and one that it does not; a draw that writes nothing at all reads, too.
#[test]
fn pixels_are_their_own() {
    let first = "layout(location = 0) out uint a;
        layout(location = 1) out uint b;
        void main() { uvec2 p = uvec2(gl_FragCoord.xy); a = p.x; b = p.y * 100u; }";
    let second =
        "layout(input_attachment_index = 2, set = 0, binding = 0) uniform usubpassInput i;
        layout(input_attachment_index = 7, set = 0, binding = 1) uniform usubpassInput j;
        layout(location = 0) out uint o;
        void main() { if (subpassLoad(i).x == 5u) discard; o = subpassLoad(i).x * 3u + subpassLoad(j).x; }";
    let mut scene = Scene::new([16, 16], Samples::One, &[format(WORD); 2], [7; 4]);
    draw(&mut scene, first, Vec::new(), 2);
    let inputs = vec![input(&scene, 2, 0), input(&scene, 7, 1)];
    draw(&mut scene, second, inputs, 1);
    scene.render();
    for (y, x) in (0..16).flat_map(|y| (0..16).map(move |x| (y, x))) {
        let expected = if x == 5 { 5 } else { x * 3 + y * 100 };
        assert_eq!(word(&scene, 0, x, y, 0), expected, "{x} {y}");
        assert_eq!(word(&scene, 1, x, y, 0), y * 100, "{x} {y}");
    }
}

/// Any sample may be asked for, in shaders that run once and in those that run for each sample.
#[test]
fn samples_are_those_asked_for() {
    let first = "layout(location = 1) out uint b;
        layout(location = 0) out uint a;
        void main() { a = 0u; b = uint(gl_FragCoord.x) * 10u + uint(gl_SampleID); }";
    let of = |sample: &str| {
        format!(
            "layout(input_attachment_index = 0, set = 0, binding = 0) uniform usubpassInputMS i;
            layout(location = 0) out uint o;
            void main() {{ o = subpassLoad(i, {sample}).x + 1u; }}"
        )
    };
    type Expected = fn(u32, u32) -> u32;
    let cases: [(&str, Expected); 3] = [
        ("gl_SampleID", |_, sample| sample),
        ("1 - (gl_SampleID & 1)", |_, sample| 1 - sample % 2),
        ("int(gl_FragCoord.x) & 1", |x, _| x & 1),
    ];
    for samples in [Samples::Two, Samples::Four] {
        for (sample, expected) in cases {
            let mut scene = Scene::new([16, 16], samples, &[format(WORD); 2], [7; 4]);
            draw(&mut scene, first, Vec::new(), 2);
            let inputs = vec![input(&scene, 0, 1)];
            draw(&mut scene, &of(sample), inputs, 1);
            scene.render();
            for x in 0..16 {
                for own in 0..count(samples) as u8 {
                    let want = x * 10 + expected(x, own.into()) + 1;
                    assert_eq!(word(&scene, 0, x, 5, own), want, "{sample} {x} {own}");
                }
            }
        }
    }
}

/// Elements of arrays have indices one after the other.
#[test]
fn elements_are_told_apart() {
    let first = "layout(location = 0) out uint a;
        layout(location = 1) out uint b;
        layout(location = 2) out uint c;
        void main() { uint x = uint(gl_FragCoord.x); a = x; b = 100u + x; c = 200u + x; }";
    let second =
        "layout(input_attachment_index = 3, set = 0, binding = 0) uniform usubpassInput i[3];
        layout(location = 0) out uint o;
        void main() { o = subpassLoad(i[1]).x * 2u + subpassLoad(i[2]).x; }";
    let mut scene = Scene::new([16, 16], Samples::One, &[format(WORD); 3], [7; 4]);
    draw(&mut scene, first, Vec::new(), 3);
    let inputs = (0..3).map(|n| input(&scene, 3 + n, n as usize)).collect();
    draw(&mut scene, second, inputs, 1);
    scene.render();
    for x in 0..16 {
        let expected = (100 + x) * 2 + 200 + x;
        assert_eq!(word(&scene, 0, x, 3, 0), expected, "{x}");
    }
}

/// What is read is what memory would hold, where a tile holds more.
#[test]
fn colours_are_as_memory_has_them() {
    let first = "layout(location = 0) out vec4 a;
        layout(location = 1) out vec4 b;
        void main() {
            vec2 p = gl_FragCoord.xy / 16.0;
            a = vec4(0.0);
            b = vec4(p.x * 1.1 - 0.05, p.y, p.x * p.y, 1.0 - p.x * 0.7);
        }";
    let second = "layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput i;
        layout(location = 0) out vec4 o;
        void main() { o = subpassLoad(i); }";
    // Bits of the components, R first, and whether they have a sign.
    type Case = (&'static str, &'static [(u32, u32)], bool);
    let cases: [Case; 5] = [
        ("R5G6B5_UNORM_PACK16", &[(11, 5), (5, 6), (0, 5)], false),
        (
            "R4G4B4A4_UNORM_PACK16",
            &[(12, 4), (8, 4), (4, 4), (0, 4)],
            false,
        ),
        ("R16G16_UNORM", &[(0, 16), (16, 16)], false),
        ("R16G16_SNORM", &[(0, 16), (16, 16)], true),
        ("R8G8B8A8_UNORM", &[(0, 8), (8, 8), (16, 8), (24, 8)], false),
    ];
    for samples in ALL {
        for (name, components, is_signed) in cases {
            let formats = [format("R32G32B32A32_SFLOAT"), format(name)];
            let mut scene = Scene::new([16, 16], samples, &formats, [0; 4]);
            draw(&mut scene, first, Vec::new(), 2);
            let text = match samples {
                Samples::One => second.to_owned(),
                _ => second
                    .replace("subpassInput", "subpassInputMS")
                    .replace("subpassLoad(i)", "subpassLoad(i, 0)"),
            };
            let inputs = vec![input(&scene, 0, 1)];
            draw(&mut scene, &text, inputs, 1);
            scene.render();
            for (y, x) in (0..16).flat_map(|y| (0..16).map(move |x| (y, x))) {
                let mut stored = scene.texel(1, x, y, 0);
                stored.resize(4, 0);
                let stored = u32::from_le_bytes(stored.try_into().expect("a word"));
                let got = scene.floats(0, x, y, 0);
                let mut expected = [0.0, 0.0, 0.0, 1.0];
                for (to, (place, bits)) in expected.iter_mut().zip(components) {
                    let part = stored << (32 - place - bits);
                    *to = match is_signed {
                        true => f64::from(part.cast_signed() >> (32 - bits)) / 32767.0,
                        false => f64::from(part >> (32 - bits)) / f64::from((1 << bits) - 1),
                    };
                }
                for (got, expected) in got.iter().zip(expected) {
                    let error = (f64::from(*got) - expected).abs();
                    assert!(error < 1e-6, "{name} {x} {y}: {got} {expected}");
                }
            }
        }
    }
}

/// What no input says is in the tile is fetched, and asks for a texture.
#[test]
fn others_are_textures() {
    let text = "layout(input_attachment_index = 1, set = 0, binding = 0) uniform usubpassInput i;
        layout(location = 0) out uint o;
        void main() { o = subpassLoad(i).x; }";
    let scene = Scene::new([16, 16], Samples::One, &[format(WORD)], [7; 4]);
    for (index, textures) in [(0, 1), (1, 0)] {
        let mut lowering = Draw::new(COVER, text).lowering;
        lowering.attachments = scene.attachments();
        lowering.bindings = vec![mesa_nir::BindingLayout {
            set: 0,
            binding: 0,
            place: mesa_nir::Place::Set(0),
            offset: 0,
            stride: 64,
            count: 1,
            kind: mesa_nir::BindingKind::Texture,
        }];
        lowering.inputs = vec![TileInput {
            index,
            format: ColourFormat {
                ..input(&scene, 0, 0).format
            },
            word: 0,
        }];
        let binary = crate::pipeline::fragment(text, &lowering).expect("compiles");
        assert_eq!(binary.textures.len(), textures, "{index}");
    }
}
