// SPDX-License-Identifier: MIT
//! State that commands set: each picture is that of a pipeline that has the state itself. What the pipeline
//! says of dynamic state is wrong on purpose, since it must not count.

use ash::vk;

use super::pictures::{BLUE, COMPARE, FLAT, GREEN, Picture, RED, quads};
use super::scenario;
use crate::picture::Draw;
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("dynamic.topology", topology),
    scenario("dynamic.restart", restart),
    scenario("dynamic.depth", depth),
    scenario("dynamic.depth_bias", depth_bias),
    scenario("dynamic.stencil", stencil),
    scenario("dynamic.discard", discard),
    scenario("dynamic.strides", strides),
    scenario("dynamic.blend_constants", blend_constants),
    scenario("dynamic.line_width", line_width),
    scenario("dynamic.counts", counts),
    scenario("dynamic.kept", kept),
];

type D = vk::DynamicState;

/// Commands of a picture: what sets state, or draws.
type Record<'a> = &'a dyn Fn(&ash::Device, vk::CommandBuffer);

/// One state, as a pipeline has it and as commands set it.
struct Case<'a> {
    name: &'a str,
    /// With depth and stencil.
    deep: bool,
    vertex: &'a str,
    /// What all pipelines have.
    common: &'a dyn Fn(&mut Draw<'_>),
    /// What the one without dynamic state has.
    fixed: &'a dyn Fn(&mut Draw<'_>),
    dynamic: &'a [D],
    set: Record<'a>,
    draw: Record<'a>,
}

/// Both pictures of a case.
unsafe fn alike(s: &Scope<'_>, case: &Case<'_>) -> anyhow::Result<()> {
    let mut pictures = Vec::new();
    for dynamic in [false, true] {
        let picture = match case.deep {
            true => Picture::deep(s, vk::Format::D32_SFLOAT_S8_UINT, 0.5, 0x5a)?,
            false => Picture::plain(s)?,
        };
        let mut draw = picture.quads(case.vertex);
        (case.common)(&mut draw);
        match dynamic {
            true => draw.dynamic = case.dynamic.to_vec(),
            false => (case.fixed)(&mut draw),
        }
        picture.clear();
        picture.bind(&draw)?;
        if dynamic {
            (case.set)(s.device(), picture.commands);
        }
        (case.draw)(s.device(), picture.commands);
        let pixels = picture.read()?;
        for (part, bytes) in [
            ("colour", pixels.colour.first()),
            ("depth", pixels.depth.as_ref()),
            ("stencil", pixels.stencil.as_ref()),
        ] {
            if let Some(bytes) = bytes {
                pictures.push((part, bytes.clone()));
            }
        }
    }
    let half = pictures.len() / 2;
    for ((part, fixed), (_, dynamic)) in pictures[..half].iter().zip(&pictures[half..]) {
        let name = format!("{}: {part}", case.name);
        s.report.expect(&name, dynamic.clone(), fixed)?;
    }
    Ok(())
}

/// Points in a zigzag, coloured by number.
const ZIGZAG: &str = "
layout(location = 0) flat out vec4 colour;
void main() {
    int i = gl_VertexIndex & 63;
    vec2 at = vec2(float(i) * 6.0 + 3.25, (i & 1) == 0 ? 5.5 : 50.5);
    gl_PointSize = 3.0;
    gl_Position = vec4(at / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(float(i) / 16.0, 1.0, 0.0, 1.0);
}
";

/// Topologies of a class.
unsafe fn topology(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::PrimitiveTopology as T;
    for (of, topology) in [
        (T::TRIANGLE_FAN, T::TRIANGLE_LIST),
        (T::TRIANGLE_LIST, T::TRIANGLE_STRIP),
        (T::TRIANGLE_LIST, T::TRIANGLE_FAN),
        (T::LINE_STRIP, T::LINE_LIST),
        (T::LINE_LIST, T::LINE_STRIP),
        (T::POINT_LIST, T::POINT_LIST),
    ] {
        let case = Case {
            name: &format!("{topology:?}"),
            deep: false,
            vertex: ZIGZAG,
            common: &|draw| draw.topology = of,
            fixed: &|draw| draw.topology = topology,
            dynamic: &[D::PRIMITIVE_TOPOLOGY],
            set: &|device, commands| device.cmd_set_primitive_topology(commands, topology),
            draw: &|device, commands| device.cmd_draw(commands, 9, 1, 0, 0),
        };
        // Where diagonal lines end is left open.
        let lines = matches!(topology, T::LINE_LIST | T::LINE_STRIP);
        match lines {
            true => same_on_one_driver(s, &case)?,
            false => alike(s, &case)?,
        }
    }
    Ok(())
}

/// [`alike`] of what drivers may draw differently.
unsafe fn same_on_one_driver(s: &Scope<'_>, case: &Case<'_>) -> anyhow::Result<()> {
    let report = crate::scenario::Report::default();
    let scope = Scope::new(s.gpu, &report);
    alike(&scope, case)
}

/// Indices of all ones end strips, or are vertices.
unsafe fn restart(s: &Scope<'_>) -> anyhow::Result<()> {
    let indices = [0_u16, 1, 2, u16::MAX, 5, 6, 7, 8, u16::MAX, 3, 4];
    let buffer = s.buffer_for(22, vk::BufferUsageFlags::INDEX_BUFFER)?;
    buffer.write(0, &indices.map(u16::to_le_bytes).concat());
    for enabled in [true, false] {
        alike(
            s,
            &Case {
                name: &format!("restart {enabled}"),
                deep: false,
                vertex: ZIGZAG,
                common: &|draw| draw.restart = !enabled,
                fixed: &|draw| draw.restart = enabled,
                dynamic: &[D::PRIMITIVE_RESTART_ENABLE],
                set: &|device, commands| {
                    device.cmd_set_primitive_restart_enable(commands, enabled);
                },
                draw: &|device, commands| {
                    let kind = vk::IndexType::UINT16;
                    device.cmd_bind_index_buffer(commands, buffer.handle, 0, kind);
                    device.cmd_draw_indexed(commands, 11, 1, 0, 0, 0);
                },
            },
        )?;
    }
    Ok(())
}

/// Quads before, at and behind the cleared depth, which meet.
fn steps() -> String {
    quads(&[
        ([4.0, 4.0, 30.0, 60.0], 0.25, RED),
        ([20.0, 10.0, 50.0, 40.0], 0.5, GREEN),
        ([40.0, 4.0, 60.0, 60.0], 0.75, BLUE),
    ])
}

/// Tests, writes and comparisons of depth.
unsafe fn depth(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = steps();
    for op in COMPARE {
        for (test, write) in [(true, true), (true, false), (false, true), (false, false)] {
            alike(
                s,
                &Case {
                    name: &format!("{op:?} test {test} write {write}"),
                    deep: true,
                    vertex: &vertex,
                    common: &|draw| {
                        draw.depth = (draw.depth.depth_test_enable(!test))
                            .depth_write_enable(!write)
                            .depth_compare_op(vk::CompareOp::GREATER);
                    },
                    fixed: &|draw| {
                        draw.depth = (draw.depth.depth_test_enable(test))
                            .depth_write_enable(write)
                            .depth_compare_op(op);
                    },
                    dynamic: &[
                        D::DEPTH_TEST_ENABLE,
                        D::DEPTH_WRITE_ENABLE,
                        D::DEPTH_COMPARE_OP,
                    ],
                    set: &|device, commands| {
                        device.cmd_set_depth_test_enable(commands, test);
                        device.cmd_set_depth_write_enable(commands, write);
                        device.cmd_set_depth_compare_op(commands, op);
                    },
                    draw: &|device, commands| device.cmd_draw(commands, 4, 3, 0, 0),
                },
            )?;
        }
    }
    Ok(())
}

/// A bias that is on or off.
unsafe fn depth_bias(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = steps();
    for enabled in [false, true] {
        alike(
            s,
            &Case {
                name: &format!("bias {enabled}"),
                deep: true,
                vertex: &vertex,
                common: &|draw| {
                    draw.raster = (draw.raster.depth_bias_enable(!enabled))
                        .depth_bias_constant_factor(-4096.0);
                    draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
                        .depth_compare_op(vk::CompareOp::LESS);
                },
                fixed: &|draw| draw.raster = draw.raster.depth_bias_enable(enabled),
                dynamic: &[D::DEPTH_BIAS_ENABLE],
                set: &|device, commands| device.cmd_set_depth_bias_enable(commands, enabled),
                draw: &|device, commands| device.cmd_draw(commands, 4, 3, 0, 0),
            },
        )?;
    }
    Ok(())
}

/// Stencil tests and their operations.
unsafe fn stencil(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::StencilOp as O;
    let vertex = steps();
    for (test, fail, pass, depth_fail, compare) in [
        (true, O::ZERO, O::REPLACE, O::INVERT, vk::CompareOp::EQUAL),
        (
            true,
            O::INCREMENT_AND_WRAP,
            O::DECREMENT_AND_CLAMP,
            O::REPLACE,
            vk::CompareOp::NOT_EQUAL,
        ),
        (true, O::KEEP, O::INVERT, O::ZERO, vk::CompareOp::ALWAYS),
        (false, O::ZERO, O::REPLACE, O::INVERT, vk::CompareOp::NEVER),
    ] {
        let state = vk::StencilOpState {
            fail_op: fail,
            pass_op: pass,
            depth_fail_op: depth_fail,
            compare_op: compare,
            compare_mask: 0xff,
            write_mask: 0xff,
            reference: 0x5a,
        };
        let wrong = vk::StencilOpState {
            fail_op: O::INCREMENT_AND_CLAMP,
            pass_op: O::ZERO,
            depth_fail_op: O::KEEP,
            compare_op: vk::CompareOp::LESS,
            ..state
        };
        alike(
            s,
            &Case {
                name: &format!("{test} {fail:?} {pass:?} {depth_fail:?} {compare:?}"),
                deep: true,
                vertex: &vertex,
                common: &|draw| {
                    draw.depth = (draw.depth.depth_test_enable(true))
                        .depth_compare_op(vk::CompareOp::LESS_OR_EQUAL)
                        .stencil_test_enable(!test)
                        .front(wrong)
                        .back(wrong);
                },
                fixed: &|draw| {
                    draw.depth = (draw.depth.stencil_test_enable(test).front(state)).back(state);
                },
                dynamic: &[D::STENCIL_TEST_ENABLE, D::STENCIL_OP],
                set: &|device, commands| {
                    let faces = vk::StencilFaceFlags::FRONT_AND_BACK;
                    device.cmd_set_stencil_test_enable(commands, test);
                    device.cmd_set_stencil_op(commands, faces, fail, pass, depth_fail, compare);
                },
                draw: &|device, commands| device.cmd_draw(commands, 4, 3, 0, 0),
            },
        )?;
    }
    Ok(())
}

/// Draws of which some are not rasterised.
unsafe fn discard(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = steps();
    let picture = Picture::plain(s)?;
    let mut draw = picture.quads(&vertex);
    draw.dynamic = vec![D::RASTERIZER_DISCARD_ENABLE];
    picture.clear();
    picture.bind(&draw)?;
    let (device, commands) = (s.device(), picture.commands);
    for (instance, discarded) in [(0, false), (1, true), (2, false), (1, true)] {
        device.cmd_set_rasterizer_discard_enable(commands, discarded);
        device.cmd_draw(commands, 4, 1, 0, instance);
    }
    let got = picture.end("some")?.colour.remove(0);
    let other = Picture::plain(s)?;
    other.clear();
    other.bind(&other.quads(&vertex))?;
    for instance in [0, 2] {
        device.cmd_draw(other.commands, 4, 1, 0, instance);
    }
    let expected = other.read()?.colour.remove(0);
    s.report.check("some", &got, &expected)
}

/// Strides and sizes of vertex buffers.
unsafe fn strides(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = "
layout(location = 0) in vec2 at;
layout(location = 1) in vec4 tint;
layout(location = 0) flat out vec4 colour;
void main() {
    gl_Position = vec4(at * 2.0 - 1.0, 0.0, 1.0);
    colour = tint;
}
";
    let buffer = s.buffer_for(256, vk::BufferUsageFlags::VERTEX_BUFFER)?;
    let noise: Vec<u8> = (0..256_u32).map(|n| (n * 73 + n * n * 5) as u8).collect();
    buffer.write(0, &noise);
    for (name, strides, offsets) in [
        ("tight", [2, 4], [0, 64]),
        ("wide", [12, 16], [5, 30]),
        ("together", [6, 6], [10, 12]),
        ("none", [4, 0], [1, 77]),
    ] {
        let describe = |draw: &mut Draw<'_>, strides: [u32; 2]| {
            draw.topology = vk::PrimitiveTopology::TRIANGLE_LIST;
            draw.bindings = (0..2)
                .map(|binding| vk::VertexInputBindingDescription {
                    binding,
                    stride: strides[binding as usize],
                    input_rate: vk::VertexInputRate::VERTEX,
                })
                .collect();
            draw.attributes = [vk::Format::R8G8_UNORM, vk::Format::R8G8B8A8_UNORM]
                .into_iter()
                .zip(0..)
                .map(|(format, at)| vk::VertexInputAttributeDescription {
                    location: at,
                    binding: at,
                    format,
                    offset: 0,
                })
                .collect();
        };
        let buffers = [buffer.handle; 2];
        let sizes = [8 * u64::from(strides[0]) + 2, 8 * u64::from(strides[1]) + 4];
        let case = Case {
            name,
            deep: false,
            vertex,
            common: &|draw| describe(draw, [8, 8]),
            fixed: &|draw| describe(draw, strides),
            dynamic: &[D::VERTEX_INPUT_BINDING_STRIDE],
            set: &|device, commands| {
                let all = strides.map(u64::from);
                device.cmd_bind_vertex_buffers2(
                    commands,
                    0,
                    &buffers,
                    &offsets,
                    Some(&sizes),
                    Some(&all),
                );
            },
            draw: &|device, commands| device.cmd_draw(commands, 9, 1, 0, 0),
        };
        // The pipeline's own strides need their buffers, too.
        let fixed_draw = |device: &ash::Device, commands| {
            device.cmd_bind_vertex_buffers(commands, 0, &buffers, &offsets);
            device.cmd_draw(commands, 9, 1, 0, 0);
        };
        let mut pictures = Vec::new();
        for dynamic in [false, true] {
            let picture = Picture::plain(s)?;
            let mut draw = picture.quads(case.vertex);
            match dynamic {
                false => (case.fixed)(&mut draw),
                true => {
                    (case.common)(&mut draw);
                    draw.dynamic = case.dynamic.to_vec();
                }
            }
            picture.clear();
            picture.bind(&draw)?;
            match dynamic {
                false => fixed_draw(s.device(), picture.commands),
                true => {
                    (case.set)(s.device(), picture.commands);
                    (case.draw)(s.device(), picture.commands);
                }
            }
            pictures.push(picture.read()?.colour.remove(0));
        }
        let dynamic = pictures.pop().unwrap_or_default();
        s.report.expect(name, dynamic, &pictures[0])?;
    }
    Ok(())
}

/// Constants that are factors.
unsafe fn blend_constants(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = steps();
    for constants in [[0.0, 0.25, 0.5, 1.0], [1.0, 0.75, 0.0, 0.25]] {
        alike(
            s,
            &Case {
                name: &format!("{constants:?}"),
                deep: false,
                vertex: &vertex,
                common: &|draw| {
                    draw.blend[0] = vk::PipelineColorBlendAttachmentState::default()
                        .blend_enable(true)
                        .src_color_blend_factor(vk::BlendFactor::CONSTANT_COLOR)
                        .dst_color_blend_factor(vk::BlendFactor::ZERO)
                        .src_alpha_blend_factor(vk::BlendFactor::CONSTANT_ALPHA)
                        .dst_alpha_blend_factor(vk::BlendFactor::ZERO)
                        .color_write_mask(vk::ColorComponentFlags::RGBA);
                    draw.constants = [0.125; 4];
                },
                fixed: &|draw| draw.constants = constants,
                dynamic: &[D::BLEND_CONSTANTS],
                set: &|device, commands| device.cmd_set_blend_constants(commands, &constants),
                draw: &|device, commands| device.cmd_draw(commands, 4, 3, 0, 0),
            },
        )?;
    }
    Ok(())
}

/// Widths of lines along the axes; between pixels an even width reaches as far on both sides.
unsafe fn line_width(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.wide_lines)?;
    let vertex = "
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at[4] = vec2[](vec2(4.25, 10.5), vec2(40.25, 10.5), vec2(50.5, 4.25), vec2(50.5, 60.25));
    gl_Position = vec4(at[gl_VertexIndex] / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(1.0, 0.0, 0.0, 1.0);
}
";
    for width in [1.0, 3.0, 7.0] {
        alike(
            s,
            &Case {
                name: &format!("width {width}"),
                deep: false,
                vertex,
                common: &|draw| {
                    draw.topology = vk::PrimitiveTopology::LINE_LIST;
                    draw.raster = draw.raster.line_width(5.0);
                },
                fixed: &|draw| draw.raster = draw.raster.line_width(width),
                dynamic: &[D::LINE_WIDTH],
                set: &|device, commands| device.cmd_set_line_width(commands, width),
                draw: &|device, commands| device.cmd_draw(commands, 4, 1, 0, 0),
            },
        )?;
    }
    Ok(())
}

/// One viewport and one scissor whose count commands set.
unsafe fn counts(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = steps();
    let viewport = vk::Viewport {
        x: 8.0,
        y: 4.0,
        width: 48.0,
        height: 32.0,
        min_depth: 0.0,
        max_depth: 1.0,
    };
    let scissor = super::pictures::area(10, 5, 40, 30);
    alike(
        s,
        &Case {
            name: "one of each",
            deep: false,
            vertex: &vertex,
            common: &|draw| draw.counted = true,
            fixed: &|draw| {
                draw.counted = false;
                (draw.viewport, draw.scissor) = (viewport, scissor);
            },
            dynamic: &[D::VIEWPORT_WITH_COUNT, D::SCISSOR_WITH_COUNT],
            set: &|device, commands| {
                device.cmd_set_viewport_with_count(commands, &[viewport]);
                device.cmd_set_scissor_with_count(commands, &[scissor]);
            },
            draw: &|device, commands| device.cmd_draw(commands, 4, 3, 0, 0),
        },
    )
}

/// State stays when a pipeline is bound that has the same dynamic; one with its own state replaces it.
unsafe fn kept(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = steps();
    let picture = Picture::plain(s)?;
    let (device, commands) = (s.device(), picture.commands);
    let mut first = picture.quads(&vertex);
    first.dynamic = vec![D::SCISSOR, D::CULL_MODE, D::FRONT_FACE];
    let mut second = first.clone();
    let other = FLAT.replace("= tint", "= tint.brga");
    second.fragment = Some(&other);
    let mut own = picture.quads(&vertex);
    own.scissor = super::pictures::area(0, 50, 64, 5);
    let [first, second, own] = [s.graphics(&first)?, s.graphics(&second)?, s.graphics(&own)?];
    let bind = |pipeline| {
        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
    };
    let scissor = |y: i32| {
        device.cmd_set_scissor(commands, 0, &[super::pictures::area(0, y, 64, 8)]);
    };
    picture.clear();
    // Before any pipeline is there.
    scissor(4);
    device.cmd_set_cull_mode(commands, vk::CullModeFlags::NONE);
    device.cmd_set_front_face(commands, vk::FrontFace::CLOCKWISE);
    bind(first);
    device.cmd_draw(commands, 4, 1, 0, 0);
    bind(second);
    device.cmd_draw(commands, 4, 1, 0, 1);
    device.cmd_draw(commands, 4, 1, 0, 2);
    scissor(20);
    bind(first);
    device.cmd_draw(commands, 4, 3, 0, 0);
    bind(own);
    device.cmd_draw(commands, 4, 3, 0, 0);
    scissor(36);
    bind(second);
    device.cmd_draw(commands, 4, 3, 0, 0);
    picture.end("kept")?;
    Ok(())
}
