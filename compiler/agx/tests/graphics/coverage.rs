// SPDX-License-Identifier: MIT
//! Discards, sample masks, alpha to coverage, depth, shading of samples.

use agx_compiler::binary::{DepthLayout, StageInfo};
use agx_hw::launcher::Samples;
use mesa_nir::{BindingKind, BindingLayout, FragmentLowering, Place};

use crate::pipeline::{COVER, Draw, Scene, format, fragment};
use crate::studio::count;

const ALL: [Samples; 3] = [Samples::One, Samples::Two, Samples::Four];

fn scene(samples: Samples) -> Scene {
    Scene::new([16, 16], samples, &[format("R32_UINT")], [7; 4])
}

fn word(scene: &Scene, x: u32, y: u32, sample: u8) -> u32 {
    u32::from_le_bytes(scene.texel(0, x, y, sample).try_into().unwrap())
}

/// Draws it and asks for every sample of every pixel.
fn each(samples: Samples, draw: &Draw, mut expected: impl FnMut(u32, u32, u8) -> u32) {
    let mut scene = scene(samples);
    scene.draw(draw, |_| {});
    scene.render();
    for y in 0..16 {
        for x in 0..16 {
            for sample in 0..count(samples) as u8 {
                let got = word(&scene, x, y, sample);
                assert_eq!(got, expected(x, y, sample), "{samples:?}: {x} {y} {sample}");
            }
        }
    }
}

#[test]
fn discards() {
    let kill = "layout(location = 0) out uint o;
        void main() { uvec2 p = uvec2(gl_FragCoord.xy); if ((p.x + p.y) % 3 == 0) discard; o = p.x; }";
    let in_loop = "layout(location = 0) out uint o;
        void main() {
            uvec2 p = uvec2(gl_FragCoord.xy);
            uint n = 0;
            for (;;) {
                if (n == p.x) break;
                if (n * n == p.y) discard;
                n++;
            }
            o = n;
        }";
    for samples in ALL {
        each(samples, &Draw::new(COVER, kill), |x, y, _| {
            if (x + y) % 3 == 0 { 7 } else { x }
        });
        each(samples, &Draw::new(COVER, in_loop), |x, y, _| {
            if (0..x).any(|n| n * n == y) { 7 } else { x }
        });
    }
}

#[test]
fn demoted_invocations_go_on_as_helpers() {
    let text = "#extension GL_EXT_demote_to_helper_invocation : require
        layout(location = 0) out uint o;
        void main() {
            uvec2 p = uvec2(gl_FragCoord.xy);
            bool before = helperInvocationEXT();
            float f = p.x * p.x;
            if (p.x % 2 == 1) demote;
            // The neighbour still takes part.
            o = uint(dFdx(f)) * 4u + (helperInvocationEXT() ? 2u : 0u) + (before ? 1u : 0u);
        }";
    for samples in ALL {
        each(samples, &Draw::new(COVER, text), |x, _, _| {
            if x % 2 == 1 {
                7
            } else {
                ((x + 1) * (x + 1) - x * x) * 4
            }
        });
    }
}

#[test]
fn masks_of_samples() {
    let out = "layout(location = 0) out uint o;
        void main() { uvec2 p = uvec2(gl_FragCoord.xy); gl_SampleMask[0] = int(p.x); o = p.y + 100; }";
    let masked = "layout(location = 0) out uint o; void main() { o = gl_SampleMaskIn[0]; }";
    for samples in ALL {
        each(samples, &Draw::new(COVER, out), |x, y, s| {
            if x >> s & 1 == 1 { y + 100 } else { 7 }
        });
        for mask in [0, 1, 2, 5, 10] {
            let mut draw = Draw::new(COVER, masked);
            draw.lowering.sample_mask = mask;
            let all = (1 << count(samples)) - 1;
            each(samples, &draw, |_, _, s| {
                if mask >> s & 1 == 1 { mask & all } else { 7 }
            });
        }
    }
}

#[test]
fn alpha_to_coverage() {
    let text = "layout(location = 0) out vec4 o; void main() { o = vec4(1, 1, 1, gl_FragCoord.x / 16.0); }";
    for samples in ALL {
        for one in [false, true] {
            let mut scene = Scene::new([16, 16], samples, &[format("R32G32B32A32_SFLOAT")], [0; 4]);
            let mut draw = Draw::new(COVER, text);
            draw.lowering.alpha_to_coverage = true;
            draw.lowering.alpha_to_one = one;
            scene.draw(&draw, |_| {});
            scene.render();
            for x in 0..16u32 {
                let alpha = (x as f32 + 0.5) / 16.0;
                let covered = (alpha * count(samples) as f32 + 0.5) as u32;
                for sample in 0..count(samples) {
                    let got = scene.floats(0, x, 3, sample as u8);
                    let written = if one { 1.0 } else { alpha };
                    let expected = if sample < covered {
                        [1.0, written]
                    } else {
                        [0.0, 0.0]
                    };
                    assert_eq!([got[0], got[3]], expected, "{samples:?} {x} {sample}");
                }
            }
        }
    }
}

#[test]
fn shaders_for_each_sample() {
    let text = "layout(location = 0) out uint o;
        void main() {
            uvec2 p = uvec2(gl_FragCoord.xy);
            if (gl_SampleID == 1 && p.x == 3) discard;
            o = p.x + 100u * gl_SampleID + 1000u * gl_SampleMaskIn[0];
        }";
    for samples in ALL {
        each(samples, &Draw::new(COVER, text), |x, _, s| {
            let s = u32::from(s);
            if s == 1 && x == 3 {
                7
            } else {
                x + 100 * s + 1000 * (1 << s)
            }
        });
    }
    // A number that nothing comes of asks for it, too (Vulkan 1.3, 25.7 "Sample Shading").
    let unused = "layout(location = 0) out uint o;
        void main() { gl_SampleID; o = uint(gl_FragCoord.x * 1000.0); }";
    let places = |x: u32, _: u32, s: u8| x * 1000 + [375, 875, 125, 625][usize::from(s)];
    each(Samples::Four, &Draw::new(COVER, unused), places);
    // Asked for by the pipeline.
    let plain =
        "layout(location = 0) out uint o; void main() { o = uint(gl_FragCoord.x * 1000.0); }";
    let mut draw = Draw::new(COVER, plain);
    draw.lowering.sample_shading = true;
    each(Samples::Four, &draw, places);
}

/// An output that is not written has the value that its declaration gives it.
#[test]
fn outputs_have_initial_values() {
    let text = "OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint Fragment %main \"main\" %at %o
        OpExecutionMode %main OriginUpperLeft
        OpDecorate %at BuiltIn FragCoord
        OpDecorate %o Location 0
        %void = OpTypeVoid
        %signature = OpTypeFunction %void
        %bool = OpTypeBool
        %float = OpTypeFloat 32
        %vec4 = OpTypeVector %float 4
        %uint = OpTypeInt 32 0
        %in_vec4 = OpTypePointer Input %vec4
        %in_float = OpTypePointer Input %float
        %out_uint = OpTypePointer Output %uint
        %at = OpVariable %in_vec4 Input
        %zero = OpConstant %uint 0
        %five = OpConstant %uint 5
        %initial = OpConstant %uint 42
        %o = OpVariable %out_uint Output %initial
        %main = OpFunction %void None %signature
        %entry = OpLabel
        %px = OpAccessChain %in_float %at %zero
        %fx = OpLoad %float %px
        %x = OpConvertFToU %uint %fx
        %low = OpULessThan %bool %x %five
        OpSelectionMerge %end None
        OpBranchConditional %low %write %end
        %write = OpLabel
        OpStore %o %x
        OpBranch %end
        %end = OpLabel
        OpReturn
        OpFunctionEnd";
    for samples in ALL {
        each(
            samples,
            &Draw::new(COVER, text),
            |x, _, _| {
                if x < 5 { x } else { 42 }
            },
        );
    }
}

#[test]
fn early_tests_leave_coverage_alone() {
    let text = "layout(early_fragment_tests) in;
        layout(location = 0) out uint o;
        void main() {
            uvec2 p = uvec2(gl_FragCoord.xy);
            if (p.x == 5) discard;
            gl_SampleMask[0] = p.y == 3 ? 2 : -1;
            o = p.x;
        }";
    for samples in ALL {
        each(samples, &Draw::new(COVER, text), |x, y, s| {
            if x == 5 || y == 3 && s != 1 { 7 } else { x }
        });
    }
    let lowering = FragmentLowering {
        attachments: scene(Samples::One).attachments(),
        ..FragmentLowering::default()
    };
    let StageInfo::Fragment(info) = fragment(text, &lowering).unwrap().stage else {
        panic!("no fragment shader");
    };
    assert!(info.early_fragment_tests && !info.late_tests && !info.writes_depth);
}

#[test]
fn written_depth_takes_the_place_of_the_test() {
    let text = "layout(depth_less) out float gl_FragDepth;
        layout(location = 0) out uint o;
        void main() {
            uvec2 p = uvec2(gl_FragCoord.xy);
            if (p.x == 5) discard;
            gl_FragDepth = gl_FragCoord.z * 0.5;
            o = p.x;
        }";
    for samples in ALL {
        each(
            samples,
            &Draw::new(COVER, text),
            |x, _, _| if x == 5 { 7 } else { x },
        );
    }
    let lowering = FragmentLowering {
        attachments: scene(Samples::One).attachments(),
        ..FragmentLowering::default()
    };
    let StageInfo::Fragment(info) = fragment(text, &lowering).unwrap().stage else {
        panic!("no fragment shader");
    };
    assert!(info.late_tests && info.writes_depth && info.uses_frag_z);
    assert_eq!(info.depth_layout, DepthLayout::Less);
}

#[test]
fn side_effects_come_before_tests() {
    // Unless the shader wants the tests first: Vulkan, "Late Per-Fragment Tests".
    let body = "buffer B { uint count; };
        layout(location = 0) out uint o;
        void main() { atomicAdd(count, 1u); o = 3u; }";
    for (layout, late) in [("", true), ("layout(early_fragment_tests) in;", false)] {
        let text = format!("{layout} layout(set = 0, binding = 0) {body}");
        let lowering = FragmentLowering {
            attachments: scene(Samples::One).attachments(),
            bindings: vec![BindingLayout {
                set: 0,
                binding: 0,
                place: Place::Set(0),
                offset: 0,
                stride: 16,
                count: 1,
                kind: BindingKind::Buffer,
            }],
            ..FragmentLowering::default()
        };
        let StageInfo::Fragment(info) = fragment(&text, &lowering).unwrap().stage else {
            panic!("no fragment shader");
        };
        assert!(info.has_side_effects);
        assert_eq!(info.late_tests, late);
    }
}
