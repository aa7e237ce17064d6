// SPDX-License-Identifier: MIT
//! Small pictures of blending, write masks, logical operations and several attachments. Numbers are such that
//! results are exact, or they are compared with a tolerance.

use anyhow::ensure;
use ash::vk;

use super::pictures::{
    Colour, GREEN, GREY, ONE, Picture, RED, RGBA8, RGBA16, SIDE, expect_pixel, floats, quads,
    varied,
};
use super::scenario;
use crate::image::Shape;
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("states.blend_factors", blend_factors),
    scenario("states.blend_operations", blend_operations),
    scenario("states.blend_unorm", blend_unorm),
    scenario("states.write_masks", write_masks),
    scenario("states.logic", logic),
    scenario("states.targets", targets),
    scenario("states.independent_blend", independent_blend),
];

const FACTORS: [vk::BlendFactor; 15] = [
    vk::BlendFactor::ZERO,
    vk::BlendFactor::ONE,
    vk::BlendFactor::SRC_COLOR,
    vk::BlendFactor::ONE_MINUS_SRC_COLOR,
    vk::BlendFactor::DST_COLOR,
    vk::BlendFactor::ONE_MINUS_DST_COLOR,
    vk::BlendFactor::SRC_ALPHA,
    vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
    vk::BlendFactor::DST_ALPHA,
    vk::BlendFactor::ONE_MINUS_DST_ALPHA,
    vk::BlendFactor::CONSTANT_COLOR,
    vk::BlendFactor::ONE_MINUS_CONSTANT_COLOR,
    vk::BlendFactor::CONSTANT_ALPHA,
    vk::BlendFactor::ONE_MINUS_CONSTANT_ALPHA,
    vk::BlendFactor::SRC_ALPHA_SATURATE,
];
const DUAL: [vk::BlendFactor; 4] = [
    vk::BlendFactor::SRC1_COLOR,
    vk::BlendFactor::ONE_MINUS_SRC1_COLOR,
    vk::BlendFactor::SRC1_ALPHA,
    vk::BlendFactor::ONE_MINUS_SRC1_ALPHA,
];
const BLEND: [vk::BlendOp; 5] = [
    vk::BlendOp::ADD,
    vk::BlendOp::SUBTRACT,
    vk::BlendOp::REVERSE_SUBTRACT,
    vk::BlendOp::MIN,
    vk::BlendOp::MAX,
];

/// Few bits each, so that products and sums are exact in 16 bits.
const SOURCE: [f32; 4] = [0.5, 0.25, 1.0, 0.625];
const SECOND: [f32; 4] = [0.75, 0.5, 0.125, 0.25];
const BEHIND: [f32; 4] = [0.25, 1.0, 0.5, 0.75];
const CONSTANT: [f32; 4] = [0.5, 0.125, 0.75, 0.375];

/// A factor for a component.
fn factor(factor: vk::BlendFactor, source: [f32; 4], behind: [f32; 4], at: usize) -> f32 {
    use vk::BlendFactor as F;
    match factor {
        F::ZERO => 0.0,
        F::SRC_COLOR => source[at],
        F::ONE_MINUS_SRC_COLOR => 1.0 - source[at],
        F::DST_COLOR => behind[at],
        F::ONE_MINUS_DST_COLOR => 1.0 - behind[at],
        F::SRC_ALPHA => source[3],
        F::ONE_MINUS_SRC_ALPHA => 1.0 - source[3],
        F::DST_ALPHA => behind[3],
        F::ONE_MINUS_DST_ALPHA => 1.0 - behind[3],
        F::CONSTANT_COLOR => CONSTANT[at],
        F::ONE_MINUS_CONSTANT_COLOR => 1.0 - CONSTANT[at],
        F::CONSTANT_ALPHA => CONSTANT[3],
        F::ONE_MINUS_CONSTANT_ALPHA => 1.0 - CONSTANT[3],
        F::SRC_ALPHA_SATURATE if at < 3 => source[3].min(1.0 - behind[3]),
        F::SRC1_COLOR => SECOND[at],
        F::ONE_MINUS_SRC1_COLOR => 1.0 - SECOND[at],
        F::SRC1_ALPHA => SECOND[3],
        F::ONE_MINUS_SRC1_ALPHA => 1.0 - SECOND[3],
        _ => 1.0,
    }
}

/// What blending makes of [`SOURCE`] over a colour, before the format's own conversion.
fn blended(state: &vk::PipelineColorBlendAttachmentState, behind: [f32; 4]) -> [f32; 4] {
    std::array::from_fn(|at| {
        let (src, dst, op) = match at {
            3 => (
                state.src_alpha_blend_factor,
                state.dst_alpha_blend_factor,
                state.alpha_blend_op,
            ),
            _ => (
                state.src_color_blend_factor,
                state.dst_color_blend_factor,
                state.color_blend_op,
            ),
        };
        let a = SOURCE[at] * factor(src, SOURCE, behind, at);
        let b = behind[at] * factor(dst, SOURCE, behind, at);
        match op {
            vk::BlendOp::SUBTRACT => a - b,
            vk::BlendOp::REVERSE_SUBTRACT => b - a,
            vk::BlendOp::MIN => SOURCE[at].min(behind[at]),
            vk::BlendOp::MAX => SOURCE[at].max(behind[at]),
            _ => a + b,
        }
    })
}

fn blend_state(
    colour: (vk::BlendFactor, vk::BlendFactor, vk::BlendOp),
    alpha: (vk::BlendFactor, vk::BlendFactor, vk::BlendOp),
) -> vk::PipelineColorBlendAttachmentState {
    vk::PipelineColorBlendAttachmentState {
        blend_enable: vk::TRUE,
        src_color_blend_factor: colour.0,
        dst_color_blend_factor: colour.1,
        color_blend_op: colour.2,
        src_alpha_blend_factor: alpha.0,
        dst_alpha_blend_factor: alpha.1,
        alpha_blend_op: alpha.2,
        color_write_mask: vk::ColorComponentFlags::RGBA,
    }
}

/// A float of 16 bits.
fn half(bits: u16) -> f32 {
    let magnitude = match (bits >> 10) & 31 {
        0 => f32::from(bits & 0x3ff) / 16_777_216.0,
        31 => f32::NAN,
        exponent => f32::from(0x400 | bits & 0x3ff) * 2.0_f32.powi(i32::from(exponent) - 25),
    };
    if bits & 0x8000 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// Blends [`SOURCE`] over [`BEHIND`] in a format and compares with the model, up to a tolerance.
unsafe fn blend_with(
    s: &Scope<'_>,
    format: vk::Format,
    state: vk::PipelineColorBlendAttachmentState,
    name: &str,
    dynamic: bool,
) -> anyhow::Result<()> {
    let wide = format == RGBA16;
    let bytes = if wide { 8 } else { 4 };
    let picture = Picture::new(s, &[(format, bytes, floats(BEHIND))], None, ONE)?;
    let vertex = quads(&[([4.0, 4.0, 60.0, 60.0], 0.0, SOURCE)]);
    let fragment = "
layout(location = 0) flat in vec4 tint;
layout(location = 0, index = 0) out vec4 colour;
layout(location = 0, index = 1) out vec4 second;
void main() { colour = tint; second = vec4(0.75, 0.5, 0.125, 0.25); }
";
    let dual = [
        state.src_color_blend_factor,
        state.dst_color_blend_factor,
        state.src_alpha_blend_factor,
        state.dst_alpha_blend_factor,
    ];
    let dual = dual.iter().any(|factor| DUAL.contains(factor));
    let mut draw = picture.quads(&vertex);
    if dual {
        draw.fragment = Some(fragment);
    }
    draw.blend = vec![state];
    if dynamic {
        draw.dynamic = vec![vk::DynamicState::BLEND_CONSTANTS];
    } else {
        draw.constants = CONSTANT;
    }
    picture.clear();
    picture.bind(&draw)?;
    if dynamic {
        s.device()
            .cmd_set_blend_constants(picture.commands, &CONSTANT);
    }
    s.device().cmd_draw(picture.commands, 4, 1, 0, 0);
    let got = picture.read()?.colour.remove(0);
    let behind = match wide {
        true => BEHIND,
        false => BEHIND.map(|c| (c * 255.0).round() / 255.0),
    };
    let mut expected = blended(&state, behind);
    if !wide {
        expected = expected.map(|c| c.clamp(0.0, 1.0));
    }
    let at = bytes as usize * (30 * SIDE as usize + 30);
    for (component, expected) in expected.into_iter().enumerate() {
        let (got, tolerance) = match wide {
            true => {
                let at = at + 2 * component;
                (half(u16::from_le_bytes([got[at], got[at + 1]])), 0.0)
            }
            // Vulkan asks for no more than the format's precision: one step.
            false => (f32::from(got[at + component]) / 255.0, 1.01 / 255.0),
        };
        ensure!(
            (got - expected).abs() <= tolerance,
            "{name}: component {component} is {got} instead of {expected}"
        );
    }
    if wide {
        s.report.result(name, got);
    }
    Ok(())
}

/// Each factor for source and for destination, of colour and of alpha.
unsafe fn blend_factors(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::{BlendFactor as F, BlendOp as O};
    let dual = s.gpu_features().dual_src_blend == vk::TRUE;
    let second: &[F] = if dual { &DUAL } else { &[] };
    for (at, factor) in FACTORS.iter().chain(second).copied().enumerate() {
        let other = FACTORS[(at * 7 + 3) % FACTORS.len()];
        let states = [
            (
                "source",
                blend_state((factor, F::ZERO, O::ADD), (factor, F::ZERO, O::ADD)),
            ),
            (
                "destination",
                blend_state((F::ZERO, factor, O::ADD), (F::ZERO, factor, O::ADD)),
            ),
            (
                "both",
                blend_state((factor, other, O::ADD), (other, factor, O::ADD)),
            ),
        ];
        for (place, state) in states {
            let name = format!("{factor:?} {place}");
            blend_with(s, RGBA16, state, &name, at % 2 == 1)?;
        }
    }
    Ok(())
}

/// All operations, of colour and of alpha, in all pairs.
unsafe fn blend_operations(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::BlendFactor as F;
    for colour in BLEND {
        for alpha in BLEND {
            let state = blend_state(
                (F::ONE, F::SRC_ALPHA, colour),
                (F::DST_ALPHA, F::ONE, alpha),
            );
            blend_with(s, RGBA16, state, &format!("{colour:?} {alpha:?}"), false)?;
        }
    }
    Ok(())
}

/// Factors and operations in a format of bytes, within a step.
unsafe fn blend_unorm(s: &Scope<'_>) -> anyhow::Result<()> {
    for (at, factor) in FACTORS.into_iter().enumerate() {
        let other = FACTORS[(at * 4 + 1) % FACTORS.len()];
        for op in BLEND {
            let state = blend_state((factor, other, op), (other, factor, op));
            blend_with(s, RGBA8, state, &format!("{factor:?} {op:?}"), false)?;
        }
    }
    Ok(())
}

/// All 16 masks of components that are written, with and without blending.
unsafe fn write_masks(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::{BlendFactor as F, BlendOp as O};
    let vertex = quads(&[([4.0, 4.0, 60.0, 60.0], 0.0, [1.0, 0.0, 0.2, 0.4])]);
    for mask in 0..16 {
        for blend in [false, true] {
            let picture = Picture::plain(s)?;
            let mut draw = picture.quads(&vertex);
            let mut state = blend_state((F::ONE, F::ZERO, O::ADD), (F::ONE, F::ZERO, O::ADD));
            state.blend_enable = blend.into();
            state.color_write_mask = vk::ColorComponentFlags::from_raw(mask);
            draw.blend = vec![state];
            picture.clear();
            picture.draw(&draw, 4, 1)?;
            let got = picture.read()?.colour.remove(0);
            let new = [1.0, 0.0, 0.2, 0.4];
            let colour = std::array::from_fn(|at| {
                if mask >> at & 1 == 1 {
                    new[at]
                } else {
                    GREY[at]
                }
            });
            let name = format!("mask {mask:#x} blend {blend}");
            expect_pixel(&name, &got, 30, 30, colour)?;
            s.report.result(&name, got);
        }
    }
    Ok(())
}

/// All logical operations on formats of bytes, with a mask, and on integers.
unsafe fn logic(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.logic_op)?;
    let float = "
layout(location = 0) out vec4 colour;
void main() { colour = vec4(240.0, 15.0, 165.0, 51.0) / 255.0; }
";
    let integer = "
layout(location = 0) out uvec4 colour;
void main() { colour = uvec4(240u, 15u, 165u, 51u); }
";
    let source = [240_u8, 15, 165, 51];
    let behind = [170_u8, 204, 15, 85];
    let vertex = quads(&[([4.0, 4.0, 60.0, 60.0], 0.0, RED)]);
    for (format, fragment) in [(RGBA8, float), (vk::Format::R8G8B8A8_UINT, integer)] {
        for raw in 0..16 {
            for mask in [15, 5] {
                let op = vk::LogicOp::from_raw(raw);
                let clear = match format == RGBA8 {
                    true => floats(behind.map(|c| f32::from(c) / 255.0)),
                    false => vk::ClearColorValue {
                        uint32: behind.map(u32::from),
                    },
                };
                let picture = Picture::new(s, &[(format, 4, clear)], None, ONE)?;
                let mut draw = picture.quads(&vertex);
                draw.fragment = Some(fragment);
                draw.logic = Some(op);
                draw.blend[0].color_write_mask = vk::ColorComponentFlags::from_raw(mask);
                picture.clear();
                picture.draw(&draw, 4, 1)?;
                let got = picture.read()?.colour.remove(0);
                let name = format!("{format:?} {op:?} mask {mask:#x}");
                let at = 4 * (30 * SIDE as usize + 30);
                for component in 0..4 {
                    let (a, b) = (source[component], behind[component]);
                    let new = match op {
                        vk::LogicOp::CLEAR => 0,
                        vk::LogicOp::AND => a & b,
                        vk::LogicOp::AND_REVERSE => a & !b,
                        vk::LogicOp::COPY => a,
                        vk::LogicOp::AND_INVERTED => !a & b,
                        vk::LogicOp::NO_OP => b,
                        vk::LogicOp::XOR => a ^ b,
                        vk::LogicOp::OR => a | b,
                        vk::LogicOp::NOR => !(a | b),
                        vk::LogicOp::EQUIVALENT => !(a ^ b),
                        vk::LogicOp::INVERT => !b,
                        vk::LogicOp::OR_REVERSE => a | !b,
                        vk::LogicOp::COPY_INVERTED => !a,
                        vk::LogicOp::OR_INVERTED => !a | b,
                        vk::LogicOp::NAND => !(a & b),
                        _ => 0xff,
                    };
                    let expected = if mask >> component & 1 == 1 { new } else { b };
                    let got = got[at + component];
                    ensure!(
                        got == expected,
                        "{name}: component {component} is {got:#x} instead of {expected:#x}"
                    );
                }
                s.report.result(&name, got);
            }
        }
    }
    Ok(())
}

/// A fragment shader with four outputs and what each gets.
const FOUR: &str = "
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 b;
layout(location = 2) out uvec4 c;
layout(location = 3) out vec4 d;
void main() {
    a = tint;
    b = tint * 2.0 - 0.5;
    c = uvec4(tint * 1000.0) + uvec4(1u, 2u, 3u, 0xfffffff0u);
    d = tint * 3.0 - 1.0;
}
";

/// Several attachments of unlike formats and sizes of pixels at once, then one format after the
/// other with colours that all formats hold exactly.
unsafe fn targets(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::Format as F;
    let vertex = quads(&[
        ([4.0, 4.0, 40.0, 40.0], 0.0, [1.0, 0.0, 0.5, 0.0]),
        ([20.0, 20.0, 60.0, 60.0], 0.0, [0.0, 1.0, 1.0, 0.25]),
    ]);
    let numbers = vk::ClearColorValue {
        uint32: [7, 8, 9, 10],
    };
    for formats in [
        [
            (RGBA8, 4),
            (F::R16G16_SFLOAT, 4),
            (F::R32_UINT, 4),
            (F::R32G32B32A32_SFLOAT, 16),
        ],
        [
            (F::R8_UNORM, 1),
            (RGBA16, 8),
            (F::R8G8B8A8_UINT, 4),
            (F::R16_SFLOAT, 2),
        ],
        [
            (F::B8G8R8A8_UNORM, 4),
            (F::R32_SFLOAT, 4),
            (F::R32G32_UINT, 8),
            (F::R32G32_SFLOAT, 8),
        ],
    ] {
        let colours: Vec<Colour> = (formats.iter().enumerate())
            .map(|(at, (format, bytes))| match at {
                2 => (*format, *bytes, numbers),
                _ => (*format, *bytes, floats([0.0, 1.0, 0.0, 1.0])),
            })
            .collect();
        let picture = Picture::new(s, &colours, None, ONE)?;
        let mut draw = picture.quads(&vertex);
        // Blue at 0.5 lies between two bytes: whole numbers only.
        let text = match formats[0].0 {
            F::R8_UNORM => FOUR.to_owned(),
            _ => FOUR.replace("a = tint", "a = floor(tint)"),
        };
        draw.fragment = Some(&text);
        let words = draw.blend.len();
        draw.blend = vec![draw.blend[0]; words];
        picture.clear();
        picture.draw(&draw, 4, 2)?;
        picture.end(&format!("{formats:?}"))?;
    }
    let vertex = quads(&[
        ([4.0, 4.0, 40.0, 40.0], 0.0, [1.0, 0.0, 1.0, 0.0]),
        ([20.0, 20.0, 60.0, 60.0], 0.0, [0.0, 1.0, 1.0, 1.0]),
    ]);
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    for (format, bytes) in [
        (F::A2B10G10R10_UNORM_PACK32, 4),
        (F::R5G6B5_UNORM_PACK16, 2),
        (F::B5G6R5_UNORM_PACK16, 2),
        (F::A1R5G5B5_UNORM_PACK16, 2),
        (F::R4G4B4A4_UNORM_PACK16, 2),
        (F::B4G4R4A4_UNORM_PACK16, 2),
        (F::R8G8B8A8_SRGB, 4),
        (F::B8G8R8A8_SRGB, 4),
        (F::B8G8R8A8_UNORM, 4),
        (F::R8G8_UNORM, 2),
        (F::R8G8B8A8_SNORM, 4),
        (F::R16_UNORM, 2),
        (F::R16G16_UNORM, 4),
        (F::R16G16B16A16_UNORM, 8),
        (F::R16G16B16A16_SNORM, 8),
        (F::B10G11R11_UFLOAT_PACK32, 4),
        (F::A2R10G10B10_UNORM_PACK32, 4),
    ] {
        let shape = Shape::flat(format, bytes, SIDE, SIDE);
        let properties = s
            .gpu
            .instance
            .get_physical_device_format_properties(s.gpu.physical, format);
        let attachment = vk::FormatFeatureFlags::COLOR_ATTACHMENT;
        if !properties.optimal_tiling_features.contains(attachment)
            || !s.has_image(&shape, usage | vk::ImageUsageFlags::TRANSFER_DST)
        {
            continue;
        }
        let clear = floats([0.0, 0.0, 1.0, 1.0]);
        let picture = Picture::new(s, &[(format, bytes, clear)], None, ONE)?;
        picture.clear();
        picture.draw(&picture.quads(&vertex), 4, 2)?;
        let pixels = picture.read()?;
        varied(&format!("{format:?}"), &pixels.colour[0], bytes)?;
        if ONLY_SOME.contains(&format) {
            (s.report).result(&format!("{format:?}"), pixels.colour[0].clone());
        }
    }
    Ok(())
}

/// Formats of single attachments that both drivers offer.
const ONLY_SOME: [vk::Format; 7] = [
    vk::Format::A2B10G10R10_UNORM_PACK32,
    vk::Format::B5G6R5_UNORM_PACK16,
    vk::Format::R8G8B8A8_SRGB,
    vk::Format::B8G8R8A8_SRGB,
    vk::Format::B8G8R8A8_UNORM,
    vk::Format::R8G8_UNORM,
    vk::Format::B10G11R11_UFLOAT_PACK32,
];

/// Attachments that blend, that do not, that are masked, and one without an output.
unsafe fn independent_blend(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::{BlendFactor as F, BlendOp as O};
    let clear = floats([0.0, 1.0, 0.0, 1.0]);
    let colours = [
        (RGBA8, 4, clear),
        (RGBA16, 8, clear),
        (RGBA8, 4, clear),
        (RGBA8, 4, clear),
    ];
    let vertex = quads(&[([4.0, 4.0, 40.0, 40.0], 0.0, [1.0, 0.0, 1.0, 0.0])]);
    let fragment = "
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 b;
layout(location = 2) out vec4 c;
void main() { a = tint; b = tint * 0.5; c = tint.bgra; }
";
    let picture = Picture::new(s, &colours, None, ONE)?;
    let mut draw = picture.quads(&vertex);
    draw.fragment = Some(fragment);
    draw.blend[0] = blend_state((F::ONE, F::ONE, O::ADD), (F::ONE, F::ONE, O::ADD));
    draw.blend[1] = blend_state((F::ONE, F::ONE, O::SUBTRACT), (F::ZERO, F::ONE, O::ADD));
    draw.blend[2].color_write_mask = vk::ColorComponentFlags::R | vk::ColorComponentFlags::A;
    draw.blend[3].color_write_mask = vk::ColorComponentFlags::empty();
    picture.clear();
    picture.draw(&draw, 4, 1)?;
    let pixels = picture.read()?;
    expect_pixel("sum", &pixels.colour[0], 20, 20, [1.0, 1.0, 1.0, 1.0])?;
    expect_pixel("masked", &pixels.colour[2], 20, 20, [1.0, 1.0, 0.0, 0.0])?;
    expect_pixel("no output", &pixels.colour[3], 20, 20, GREEN)?;
    for (at, bytes) in pixels.colour.into_iter().enumerate() {
        s.report.result(&format!("attachment {at}"), bytes);
    }
    Ok(())
}
