// SPDX-License-Identifier: MIT
//! What vertex shaders are given: the numbers of a draw, attributes by instance, indices of bytes, and
//! which vertex of a primitive flat outputs are of.

use ash::vk;

use super::pictures::{FLAT, GREY, Picture, SIDE, expect_pixel};
use super::scenario;
use crate::model;
use crate::picture::Draw;
use crate::scenario::Scenario;
use crate::scope::{Buffer, Scope};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("inputs.draw_parameters", draw_parameters),
    scenario("inputs.draw_numbers", draw_numbers),
    scenario("inputs.divisors", divisors),
    scenario("inputs.divisors_from_an_instance", divisors_from),
    scenario("inputs.byte_indices", byte_indices),
    scenario("inputs.provoking_vertex", provoking_vertex),
];

/// Columns of three pixels: each draw has a row of its own (its place among those of a command), and in
/// it each base instance and each instance has its own. The colour says all that is known.
const NUMBERED: &str = "
layout(location = 0) flat out vec4 colour;
void main() {
    int corner = gl_VertexIndex - gl_BaseVertex;
    int instance = gl_InstanceIndex - gl_BaseInstance;
    vec2 at = vec2(gl_BaseInstance % 8 * 8 + instance * 3, gl_DrawID * 6 + gl_BaseVertex % 4);
    at += vec2(corner & 1, corner >> 1) * vec2(2.0, 2.0);
    gl_Position = vec4(at / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(gl_BaseVertex, gl_BaseInstance, gl_DrawID, gl_InstanceIndex) / 255.0;
}
";

/// One draw of [`NUMBERED`].
#[derive(Clone, Copy)]
struct Numbered {
    base_vertex: u32,
    base_instance: u32,
    instances: u32,
}

/// The draws of a command.
const DRAWS: [Numbered; 7] = {
    const fn one(base_vertex: u32, base_instance: u32, instances: u32) -> Numbered {
        Numbered {
            base_vertex,
            base_instance,
            instances,
        }
    }
    [
        one(0, 0, 1),
        one(3, 1, 2),
        one(101, 7, 1),
        one(2, 18, 2),
        one(0, 0, 0),
        one(50, 250, 1),
        one(1, 5, 2),
    ]
};

/// What they draw, when they are draws of so many commands.
fn numbered(draws: &[Numbered], one_command: bool) -> Vec<u8> {
    let grey = GREY.map(|c| (c * 255.0).round() as u8);
    let mut all = grey.repeat((SIDE * SIDE) as usize);
    for (number, draw) in (0..).zip(draws) {
        let number = if one_command { number } else { 0 };
        for instance in 0..draw.instances {
            let left = draw.base_instance % 8 * 8 + instance * 3;
            let top = number * 6 + draw.base_vertex % 4;
            let tint = [
                draw.base_vertex,
                draw.base_instance,
                number,
                draw.base_instance + instance,
            ];
            for (y, x) in (top..top + 2).flat_map(|y| (left..left + 2).map(move |x| (y, x))) {
                if x < SIDE && y < SIDE {
                    let at = 4 * (y * SIDE + x) as usize;
                    all[at..at + 4].copy_from_slice(&tint.map(|c| c as u8));
                }
            }
        }
    }
    all
}

/// Indices 0 to 3 from the third on.
unsafe fn corners(s: &Scope<'_>) -> anyhow::Result<Buffer> {
    let indices = s.buffer_for(16, vk::BufferUsageFlags::INDEX_BUFFER)?;
    indices.write(0, &[9, 9, 9, 9, 0, 0, 1, 0, 2, 0, 3, 0, 9, 9, 9, 9]);
    Ok(indices)
}

/// Draws one after the other, with and without indices, from arguments and from buffers.
unsafe fn draw_parameters(s: &Scope<'_>) -> anyhow::Result<()> {
    // Commands are of draw 0: rows are told apart by the base vertex.
    let draws = [DRAWS[0], DRAWS[1], DRAWS[3], DRAWS[5], DRAWS[6]];
    for (indexed, indirect) in [(false, false), (true, false), (false, true), (true, true)] {
        let picture = Picture::plain(s)?;
        let indices = corners(s)?;
        let arguments = s.buffer(20 * draws.len() as u64)?;
        picture.clear();
        picture.bind(&picture.quads(NUMBERED))?;
        let (device, commands) = (s.device(), picture.commands);
        device.cmd_bind_index_buffer(commands, indices.handle, 0, vk::IndexType::UINT16);
        for (at, draw) in draws.iter().enumerate() {
            let (count, instance) = (draw.instances, draw.base_instance);
            let offset = 20 * at;
            let words = match indexed {
                true => vec![4, count, 2, draw.base_vertex, instance],
                false => vec![4, count, draw.base_vertex, instance],
            };
            arguments.write(offset, &model::to_bytes(&words));
            let (buffer, offset) = (arguments.handle, offset as u64);
            match (indexed, indirect) {
                (false, false) => device.cmd_draw(commands, 4, count, draw.base_vertex, instance),
                (true, false) => {
                    let vertex = draw.base_vertex as i32;
                    device.cmd_draw_indexed(commands, 4, count, 2, vertex, instance);
                }
                (false, true) => device.cmd_draw_indirect(commands, buffer, offset, 1, 0),
                (true, true) => device.cmd_draw_indexed_indirect(commands, buffer, offset, 1, 0),
            }
        }
        let got = picture.read()?.colour.remove(0);
        let name = format!("indexed {indexed} indirect {indirect}");
        s.report.expect(&name, got, &numbered(&draws, false))?;
    }
    Ok(())
}

/// Many draws of one command, with strides and offsets; draws of none between them.
unsafe fn draw_numbers(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.multi_draw_indirect)?;
    for (indexed, stride, offset) in [
        (false, 16, 0),
        (false, 20, 4),
        (false, 64, 12),
        (true, 20, 0),
        (true, 24, 8),
        (true, 128, 20),
    ] {
        let picture = Picture::plain(s)?;
        let indices = corners(s)?;
        let arguments = s.buffer((offset + stride * DRAWS.len()) as u64)?;
        arguments.write(0, &vec![0xee; offset + stride * DRAWS.len()]);
        for (at, draw) in DRAWS.iter().enumerate() {
            let (count, instance) = (draw.instances, draw.base_instance);
            let words = match indexed {
                true => vec![4, count, 2, draw.base_vertex, instance],
                false => vec![4, count, draw.base_vertex, instance],
            };
            arguments.write(offset + at * stride, &model::to_bytes(&words));
        }
        picture.clear();
        picture.bind(&picture.quads(NUMBERED))?;
        let (device, commands) = (s.device(), picture.commands);
        device.cmd_bind_index_buffer(commands, indices.handle, 0, vk::IndexType::UINT16);
        let (buffer, offset) = (arguments.handle, offset as u64);
        for count in [0, DRAWS.len() as u32] {
            let stride = stride as u32;
            match indexed {
                false => device.cmd_draw_indirect(commands, buffer, offset, count, stride),
                true => device.cmd_draw_indexed_indirect(commands, buffer, offset, count, stride),
            }
        }
        let got = picture.read()?.colour.remove(0);
        let name = format!("indexed {indexed} stride {stride} offset {offset}");
        s.report.expect(&name, got, &numbered(&DRAWS, true))?;
    }
    Ok(())
}

/// Attributes that are of 1, 2, 3 instances and of all.
unsafe fn divisors(s: &Scope<'_>) -> anyhow::Result<()> {
    divided(s, 0)
}

/// The same from a first instance on.
unsafe fn divisors_from(s: &Scope<'_>) -> anyhow::Result<()> {
    divided(s, 5)
}

unsafe fn divided(s: &Scope<'_>, first: u32) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::vertex_attribute_divisor::NAME)?;
    let vertex = "
layout(location = 0) in uint zero;
layout(location = 1) in uint one;
layout(location = 2) in uint two;
layout(location = 3) in uint three;
layout(location = 4) in vec2 corner;
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at = corner * 4.0 + vec2(gl_InstanceIndex % 8, gl_InstanceIndex / 8) * 6.0;
    gl_Position = vec4(at / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(zero, one, two, three) / 255.0;
}
";
    let usage = vk::BufferUsageFlags::VERTEX_BUFFER;
    let corners = s.buffer_for(8, usage)?;
    corners.write(0, &[0, 0, 255, 0, 0, 255, 255, 255]);
    let elements = s.buffer_for(64, usage)?;
    elements.write(0, &(0..64).map(|n| n * 3 + 1).collect::<Vec<u8>>());
    let count = 17;
    for (name, indirect) in [("direct", false), ("indirect", true)] {
        let picture = Picture::plain(s)?;
        let mut draw = picture.quads(vertex);
        let rate = vk::VertexInputRate::INSTANCE;
        let binding = |binding, stride, input_rate| vk::VertexInputBindingDescription {
            binding,
            stride,
            input_rate,
        };
        draw.bindings = (0..4).map(|n| binding(n, 1, rate)).collect();
        draw.bindings
            .push(binding(4, 2, vk::VertexInputRate::VERTEX));
        draw.attributes = (0..5)
            .map(|n| vk::VertexInputAttributeDescription {
                location: n,
                binding: n,
                format: match n {
                    4 => vk::Format::R8G8_UNORM,
                    _ => vk::Format::R8_UINT,
                },
                offset: 0,
            })
            .collect();
        draw.divisors = [0, 2, 3]
            .map(|divisor| vk::VertexInputBindingDivisorDescriptionEXT {
                binding: divisor,
                divisor,
            })
            .to_vec();
        let arguments = s.buffer_of(&[4, count, 0, first])?;
        picture.clear();
        picture.bind(&draw)?;
        let (device, commands) = (s.device(), picture.commands);
        // Each binding begins elsewhere.
        device.cmd_bind_vertex_buffers(
            commands,
            0,
            &[
                elements.handle,
                elements.handle,
                elements.handle,
                elements.handle,
                corners.handle,
            ],
            &[10, 0, 20, 30, 0],
        );
        match indirect {
            true => device.cmd_draw_indirect(commands, arguments.handle, 0, 1, 0),
            false => device.cmd_draw(commands, 4, count, 0, first),
        }
        let got = picture.read()?.colour.remove(0);
        let grey = GREY.map(|c| (c * 255.0).round() as u8);
        let mut expected = grey.repeat((SIDE * SIDE) as usize);
        for instance in first..first + count {
            // Vulkan 1.3, 22.2: the first instance and one more for each so many after it.
            let later = instance - first;
            let tint = [
                10 + first,
                instance,
                20 + first + later / 2,
                30 + first + later / 3,
            ]
            .map(|element| (element * 3 + 1) as u8);
            let (left, top) = (instance % 8 * 6, instance / 8 * 6);
            for (y, x) in (top..top + 4).flat_map(|y| (left..left + 4).map(move |x| (y, x))) {
                let at = 4 * (y * SIDE + x) as usize;
                expected[at..at + 4].copy_from_slice(&tint);
            }
        }
        s.report.expect(name, got, &expected)?;
    }
    Ok(())
}

/// Indices of 8 bits, with restarts and without, from any byte on.
unsafe fn byte_indices(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::PrimitiveTopology as T;
    s.gpu.needs(ash::ext::index_type_uint8::NAME)?;
    let vertex = "
layout(location = 0) flat out vec4 colour;
void main() {
    int i = gl_VertexIndex & 63;
    vec2 at = vec2(float(i % 8) * 8.0 + 1.25, float(i / 8) * 8.0 + 3.5);
    gl_Position = vec4(at / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(float(gl_VertexIndex) / 255.0, 1.0, 0.0, 1.0);
}
";
    // 0xff and 0x3f are vertex 63 where nothing is restarted.
    let strip = [
        0, 8, 1, 9, 0xff, 3, 12, 4, 13, 5, 0xff, 0xff, 20, 30, 21, 0xff, 1, 2, 0xff, 33, 41, 34, 42,
    ];
    let list = [0, 8, 1, 2, 10, 3, 0xff, 54, 62, 17, 25, 18, 20, 21];
    for (name, topology, restart, indices, offset, first, base) in [
        ("strip", T::TRIANGLE_STRIP, true, &strip[..], 0_u64, 0, 0),
        ("fan", T::TRIANGLE_FAN, true, &strip[..], 0, 0, 0),
        ("strip, odd", T::TRIANGLE_STRIP, true, &strip[..], 3, 0, 0),
        ("strip, later", T::TRIANGLE_STRIP, true, &strip[..], 1, 5, 0),
        ("strip, base", T::TRIANGLE_STRIP, true, &strip[..], 2, 0, 9),
        ("list", T::TRIANGLE_LIST, false, &list[..], 1, 0, 0),
        ("list, later", T::TRIANGLE_LIST, false, &list[..], 2, 3, 0),
        ("list, base", T::TRIANGLE_LIST, false, &list[..], 0, 0, 64),
        (
            "lines",
            T::LINE_LIST,
            false,
            &[0, 4, 9, 13, 18, 20][..],
            0,
            0,
            0,
        ),
    ] {
        let picture = Picture::plain(s)?;
        let mut draw = Draw::new(&picture.target, vertex, FLAT);
        draw.topology = topology;
        draw.restart = restart;
        let buffer = s.buffer_for(40, vk::BufferUsageFlags::INDEX_BUFFER)?;
        buffer.write(0, &[0x11; 40]);
        buffer.write(offset as usize, indices);
        picture.clear();
        picture.bind(&draw)?;
        let (device, commands) = (s.device(), picture.commands);
        let kind = vk::IndexType::UINT8_EXT;
        device.cmd_bind_index_buffer(commands, buffer.handle, offset, kind);
        let count = indices.len() as u32 - first;
        device.cmd_draw_indexed(commands, count, 1, first, base, 0);
        picture.end(name)?;
    }
    Ok(())
}

/// Which vertex a primitive's flat colour is of, in all topologies, from the first and from the last.
unsafe fn provoking_vertex(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::PrimitiveTopology as T;
    let points = |list: &[[f32; 2]]| {
        let list: Vec<_> = list
            .iter()
            .map(|[x, y]| format!("vec2({x:?}, {y:?})"))
            .collect();
        format!(
            "
layout(location = 0) flat out vec4 colour;
const vec2 at[{0}] = vec2[]({1});
void main() {{
    gl_Position = vec4(at[gl_VertexIndex] / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(float(gl_VertexIndex) / 255.0, 1.0, 0.0, 1.0);
}}
",
            list.len(),
            list.join(", ")
        )
    };
    let zigzag: Vec<[f32; 2]> = (0..7)
        .map(|n| [4.0 + 8.0 * n as f32, if n % 2 == 0 { 5.25 } else { 57.25 }])
        .collect();
    let list: Vec<[f32; 2]> = (0..9)
        .map(|n| [[2.25, 2.25], [18.25, 2.25], [2.25, 50.25]][n % 3])
        .zip(0..)
        .map(|([x, y], n)| [x + 20.0 * (n / 3) as f32, y])
        .collect();
    let fan = vec![
        [30.25, 33.25],
        [60.25, 30.0],
        [40.0, 3.25],
        [4.0, 10.25],
        [9.0, 55.25],
        [50.25, 60.0],
    ];
    let rows: Vec<[f32; 2]> = (0..8)
        .map(|n| {
            [
                if n % 2 == 0 { 4.25 } else { 40.25 },
                4.5 + 8.0 * (n / 2) as f32,
            ]
        })
        .collect();
    let steps: Vec<[f32; 2]> = (0..5).map(|n| [4.25 + 12.0 * n as f32, 9.5]).collect();
    let middle = |list: &[[f32; 2]], corners: &[usize]| {
        let sum = |axis: usize| corners.iter().map(|at| list[*at][axis]).sum::<f32>();
        let count = corners.len() as f32;
        [sum(0) / count, sum(1) / count].map(|v| v as usize)
    };
    for (name, topology, at, primitives) in [
        (
            "list",
            T::TRIANGLE_LIST,
            &list,
            (0..3)
                .map(|n| vec![3 * n, 3 * n + 1, 3 * n + 2])
                .collect::<Vec<_>>(),
        ),
        (
            "strip",
            T::TRIANGLE_STRIP,
            &zigzag,
            (0..5).map(|n| vec![n, n + 1, n + 2]).collect(),
        ),
        // The vertex that is common to all provokes none.
        (
            "fan",
            T::TRIANGLE_FAN,
            &fan,
            (0..4).map(|n| vec![n + 1, 0, n + 2]).collect(),
        ),
        (
            "lines",
            T::LINE_LIST,
            &rows,
            (0..4).map(|n| vec![2 * n, 2 * n + 1]).collect(),
        ),
        (
            "line strip",
            T::LINE_STRIP,
            &steps,
            (0..4).map(|n| vec![n, n + 1]).collect(),
        ),
    ] {
        for mode in [
            None,
            Some(vk::ProvokingVertexModeEXT::FIRST_VERTEX),
            Some(vk::ProvokingVertexModeEXT::LAST_VERTEX),
        ] {
            if mode.is_some() {
                s.gpu.needs(ash::ext::provoking_vertex::NAME)?;
            }
            let mut info = vk::PipelineRasterizationProvokingVertexStateCreateInfoEXT::default();
            let picture = Picture::plain(s)?;
            let text = points(at);
            let mut draw = Draw::new(&picture.target, &text, FLAT);
            draw.topology = topology;
            if let Some(mode) = mode {
                info = info.provoking_vertex_mode(mode);
                draw.raster = draw.raster.push_next(&mut info);
            }
            picture.clear();
            picture.draw(&draw, at.len() as u32, 1)?;
            let name = format!("{name} {mode:?}");
            let got = picture.end(&name)?.colour.remove(0);
            for corners in &primitives {
                let last = mode == Some(vk::ProvokingVertexModeEXT::LAST_VERTEX);
                let vertex = if last {
                    corners.last()
                } else {
                    corners.first()
                };
                let [x, y] = middle(at, corners);
                let tint = [*vertex.unwrap_or(&0) as f32 / 255.0, 1.0, 0.0, 1.0];
                expect_pixel(&name, &got, x, y, tint)?;
            }
        }
    }
    Ok(())
}
