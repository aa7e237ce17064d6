// SPDX-License-Identifier: MIT
//! Small pictures of stencil operations, comparisons and masks.

use anyhow::ensure;
use ash::vk;

use super::pictures::{
    COMPARE, FLAT, GREY, Picture, Pixels, RED, SIDE, expect_pixel, passes, quads,
};
use super::scenario;
use crate::picture::Draw;
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("states.stencil_operations", stencil_operations),
    scenario("states.stencil_compare", stencil_compare),
    scenario("states.stencil_masks", stencil_masks),
    scenario("states.stencil_dynamic", stencil_dynamic),
];

const STENCIL: [vk::StencilOp; 8] = [
    vk::StencilOp::KEEP,
    vk::StencilOp::ZERO,
    vk::StencilOp::REPLACE,
    vk::StencilOp::INCREMENT_AND_CLAMP,
    vk::StencilOp::DECREMENT_AND_CLAMP,
    vk::StencilOp::INVERT,
    vk::StencilOp::INCREMENT_AND_WRAP,
    vk::StencilOp::DECREMENT_AND_WRAP,
];

/// What a stencil operation makes of a value.
fn stencilled(op: vk::StencilOp, value: u8, reference: u8) -> u8 {
    match op {
        vk::StencilOp::ZERO => 0,
        vk::StencilOp::REPLACE => reference,
        vk::StencilOp::INCREMENT_AND_CLAMP => value.saturating_add(1),
        vk::StencilOp::DECREMENT_AND_CLAMP => value.saturating_sub(1),
        vk::StencilOp::INVERT => !value,
        vk::StencilOp::INCREMENT_AND_WRAP => value.wrapping_add(1),
        vk::StencilOp::DECREMENT_AND_WRAP => value.wrapping_sub(1),
        _ => value,
    }
}

fn stencil_state(
    op: vk::CompareOp,
    fail: vk::StencilOp,
    pass: vk::StencilOp,
    depth_fail: vk::StencilOp,
    reference: u32,
) -> vk::StencilOpState {
    vk::StencilOpState {
        fail_op: fail,
        pass_op: pass,
        depth_fail_op: depth_fail,
        compare_op: op,
        compare_mask: 0xff,
        write_mask: 0xff,
        reference,
    }
}

pub(super) fn stencil_at(pixels: &Pixels, x: usize, y: usize) -> u8 {
    let at = y * SIDE as usize + x;
    (pixels.stencil.as_ref()).map_or(0, |bytes| bytes[at])
}

/// All operations in all three places, from values at the ends and between.
unsafe fn stencil_operations(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::StencilOp as O;
    let vertex = quads(&[
        ([4.0, 4.0, 30.0, 60.0], 0.25, RED),
        ([34.0, 4.0, 60.0, 60.0], 0.75, RED),
    ]);
    for format in [vk::Format::S8_UINT, vk::Format::D32_SFLOAT_S8_UINT] {
        for op in STENCIL {
            for value in [0_u8, 0xff, 0x5a] {
                for place in ["fail", "pass", "depth fail"] {
                    let with_depth = format != vk::Format::S8_UINT;
                    if place == "depth fail" && !with_depth {
                        continue;
                    }
                    let picture = Picture::deep(s, format, 0.5, value.into())?;
                    let mut draw = picture.quads(&vertex);
                    let state = match place {
                        "fail" => {
                            stencil_state(vk::CompareOp::NEVER, op, O::REPLACE, O::REPLACE, 0x33)
                        }
                        "pass" => stencil_state(vk::CompareOp::ALWAYS, O::ZERO, op, O::KEEP, 0x33),
                        _ => stencil_state(vk::CompareOp::ALWAYS, O::ZERO, O::KEEP, op, 0x33),
                    };
                    draw.depth = (draw.depth.depth_test_enable(with_depth))
                        .depth_compare_op(vk::CompareOp::LESS)
                        .stencil_test_enable(true)
                        .front(state)
                        .back(state);
                    picture.clear();
                    picture.draw(&draw, 4, 2)?;
                    let pixels = picture.read()?;
                    let name = format!("{format:?} {op:?} of {value:#x}: {place}");
                    let new = stencilled(op, value, 0x33);
                    let near = if place == "depth fail" { value } else { new };
                    let far = if place == "pass" && with_depth {
                        value
                    } else {
                        new
                    };
                    for (x, expected) in [(16, near), (48, far), (62, value)] {
                        let got = stencil_at(&pixels, x, 30);
                        ensure!(
                            got == expected,
                            "{name}: {got:#x} instead of {expected:#x} at {x}"
                        );
                    }
                    let drawn = place != "fail";
                    let colour = if drawn { RED } else { GREY };
                    expect_pixel(&name, &pixels.colour[0], 16, 30, colour)?;
                    s.report.result(&name, pixels.stencil.unwrap_or_default());
                }
            }
        }
    }
    Ok(())
}

/// All comparisons of stencil values.
unsafe fn stencil_compare(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::StencilOp as O;
    let vertex = quads(&[([4.0, 4.0, 30.0, 60.0], 0.25, RED)]);
    for op in COMPARE {
        for reference in [0x10_u8, 0x40, 0x80] {
            let picture = Picture::deep(s, vk::Format::S8_UINT, 0.0, 0x40)?;
            let mut draw = picture.quads(&vertex);
            let state = stencil_state(op, O::ZERO, O::REPLACE, O::INVERT, reference.into());
            draw.depth = (draw.depth.stencil_test_enable(true).front(state)).back(state);
            picture.clear();
            picture.draw(&draw, 4, 1)?;
            let pixels = picture.read()?;
            let name = format!("{op:?} {reference:#x}");
            let drawn = passes(op, reference.into(), 64.0);
            let colour = if drawn { RED } else { GREY };
            expect_pixel(&name, &pixels.colour[0], 16, 30, colour)?;
            let (got, expected) = (
                stencil_at(&pixels, 16, 30),
                if drawn { reference } else { 0 },
            );
            ensure!(got == expected, "{name}: {got:#x} instead of {expected:#x}");
            s.report.result(&name, pixels.colour[0].clone());
        }
    }
    Ok(())
}

/// Masks, references and operations of their own for each face.
unsafe fn stencil_masks(s: &Scope<'_>) -> anyhow::Result<()> {
    faces(s, false)
}

/// The same set by commands.
unsafe fn stencil_dynamic(s: &Scope<'_>) -> anyhow::Result<()> {
    faces(s, true)
}

unsafe fn faces(s: &Scope<'_>, dynamic: bool) -> anyhow::Result<()> {
    let vertex = "
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at[6] = vec2[](vec2(3, 5.25), vec2(30, 9.25), vec2(9, 50.25), vec2(33, 5.25), vec2(39, 50.25), vec2(60, 9.25));
    gl_Position = vec4(at[gl_VertexIndex] / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(1.0, 0.0, 0.0, 1.0);
}
";
    // Read mask, write mask, reference of the front and of the back; the values that follow when
    // the comparison "equal" replaces what is alike and inverts what is not.
    for (at, front, back) in [
        (0, (0xff, 0xff, 0x5a), (0xff, 0xff, 0x11)),
        (1, (0x0f, 0xf0, 0xaa), (0xf0, 0x0f, 0x5f)),
        (2, (0x00, 0x18, 0xff), (0xff, 0x00, 0x5a)),
        (3, (0xff, 0x81, 0x5b), (0x01, 0x7e, 0x00)),
    ] {
        let picture = Picture::deep(s, vk::Format::S8_UINT, 0.0, 0x5a)?;
        let mut draw = Draw::new(&picture.target, vertex, FLAT);
        let state = |(read, write, reference): (u32, u32, u32)| vk::StencilOpState {
            fail_op: vk::StencilOp::INVERT,
            pass_op: vk::StencilOp::REPLACE,
            depth_fail_op: vk::StencilOp::KEEP,
            compare_op: vk::CompareOp::EQUAL,
            compare_mask: read,
            write_mask: write,
            reference,
        };
        let (mut at_front, mut at_back) = (state(front), state(back));
        if dynamic {
            for face in [&mut at_front, &mut at_back] {
                face.compare_mask = 0x77;
                face.write_mask = 0x66;
                face.reference = 0x55;
            }
            draw.dynamic = vec![
                vk::DynamicState::STENCIL_COMPARE_MASK,
                vk::DynamicState::STENCIL_WRITE_MASK,
                vk::DynamicState::STENCIL_REFERENCE,
            ];
        }
        draw.raster = draw.raster.front_face(vk::FrontFace::CLOCKWISE);
        draw.depth = (draw.depth.stencil_test_enable(true).front(at_front)).back(at_back);
        picture.clear();
        picture.bind(&draw)?;
        if dynamic {
            let (device, commands) = (s.device(), picture.commands);
            for (face, (read, write, reference)) in [
                (vk::StencilFaceFlags::FRONT, front),
                (vk::StencilFaceFlags::BACK, back),
            ] {
                device.cmd_set_stencil_compare_mask(commands, face, read);
                device.cmd_set_stencil_write_mask(commands, face, write);
                device.cmd_set_stencil_reference(commands, face, reference);
            }
        }
        s.device().cmd_draw(picture.commands, 6, 1, 0, 0);
        let pixels = picture.read()?;
        for (x, (read, write, reference)) in [(10, front), (40, back)] {
            let alike = reference & read == 0x5a & read;
            let new = if alike { reference } else { !0x5a & 0xff };
            let expected = (0x5a & !write | new & write) as u8;
            let got = stencil_at(&pixels, x, 15);
            ensure!(
                got == expected,
                "masks {at} at {x}: {got:#x} instead of {expected:#x}"
            );
            let colour = if alike { RED } else { GREY };
            expect_pixel(&format!("masks {at}"), &pixels.colour[0], x, 15, colour)?;
        }
        let name = format!("masks {at}");
        s.report.result(&name, pixels.stencil.unwrap_or_default());
    }
    Ok(())
}
