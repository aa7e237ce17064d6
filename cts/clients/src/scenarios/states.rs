// SPDX-License-Identifier: MIT
//! Small pictures of one fixed-function state each. Geometry lies so that Vulkan defines which
//! pixels it covers, and numbers are such that results are exact; what is not is compared here
//! with a tolerance, on each driver by itself.

use anyhow::ensure;
use ash::vk;

use super::scenario;
use super::stencil::stencil_at;
use crate::image::{Image, Shape};
use crate::picture::{Attachment, Draw, Target};
use crate::scenario::Scenario;
use crate::scope::{Buffer, Scope};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("states.topology", topology),
    scenario("states.restart", restart),
    scenario("states.cull", cull),
    scenario("states.polygon_mode", polygon_mode),
    scenario("states.viewport", viewport),
    scenario("states.scissor", scissor),
    scenario("states.depth_compare", depth_compare),
    scenario("states.depth_bias", depth_bias),
    scenario("states.depth_clamp", depth_clamp),
    scenario("states.clear_attachments", clear_attachments),
    scenario("states.render_area", render_area),
    scenario("states.load_operations", load_operations),
    scenario("states.occlusion", occlusion),
];

/// Pixels of a side; a power of two, so that pixels are exact in clip coordinates.
pub(super) const SIDE: u32 = 64;
/// The colour behind everything.
pub(super) const GREY: [f32; 4] = [0.2, 0.4, 0.6, 1.0];
pub(super) const RGBA8: vk::Format = vk::Format::R8G8B8A8_UNORM;
pub(super) const RGBA16: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
pub(super) const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;

/// A picture that is being drawn.
pub(super) struct Picture<'s, 'g> {
    pub(super) s: &'s Scope<'g>,
    pub(super) commands: vk::CommandBuffer,
    pub(super) target: Target,
    /// Where samples are resolved to.
    pub(super) resolved: Vec<Attachment>,
}

/// What is reported of a picture: colour attachments, depth, stencil.
pub(super) struct Pixels {
    pub(super) colour: Vec<Vec<u8>>,
    pub(super) depth: Option<Vec<u8>>,
    pub(super) stencil: Option<Vec<u8>>,
}

/// A colour attachment: format, bytes of a pixel, what it is cleared to.
pub(super) type Colour = (vk::Format, u32, vk::ClearColorValue);

/// A colour of floats.
pub(super) const fn floats(float32: [f32; 4]) -> vk::ClearColorValue {
    vk::ClearColorValue { float32 }
}

impl<'s, 'g> Picture<'s, 'g> {
    /// Of one colour attachment of bytes.
    pub(super) unsafe fn plain(s: &'s Scope<'g>) -> anyhow::Result<Self> {
        Self::new(s, &[(RGBA8, 4, floats(GREY))], None, ONE)
    }

    /// The same with depth or stencil and what they are cleared to.
    pub(super) unsafe fn deep(
        s: &'s Scope<'g>,
        format: vk::Format,
        depth: f32,
        stencil: u32,
    ) -> anyhow::Result<Self> {
        let clear = vk::ClearDepthStencilValue { depth, stencil };
        Self::new(s, &[(RGBA8, 4, floats(GREY))], Some((format, clear)), ONE)
    }

    /// Of any attachments.
    pub(super) unsafe fn new(
        s: &'s Scope<'g>,
        colours: &[Colour],
        depth: Option<(vk::Format, vk::ClearDepthStencilValue)>,
        samples: vk::SampleCountFlags,
    ) -> anyhow::Result<Self> {
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let size = [SIDE, SIDE];
        let (mut colour, mut resolved) = (Vec::new(), Vec::new());
        for (format, bytes, clear) in colours {
            let single = s.colour(*format, *bytes, size, *clear, commands)?;
            if samples == ONE {
                colour.push(single);
                continue;
            }
            resolved.push(single);
            let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
            let image = s.image_of_samples(single.image.shape, samples, usage, commands)?;
            colour.push(Attachment {
                image,
                view: s.view(
                    image,
                    vk::ImageViewType::TYPE_2D,
                    vk::ImageAspectFlags::COLOR,
                )?,
                clear: single.clear,
            });
        }
        let depth = match depth {
            None => None,
            Some((format, clear)) => Some(s.depth_stencil(format, size, clear, commands)?),
        };
        Ok(Picture {
            s,
            commands,
            target: Target {
                size,
                samples,
                colour,
                depth,
            },
            resolved,
        })
    }

    /// Begins a pass over everything.
    pub(super) unsafe fn begin(&self, load: vk::AttachmentLoadOp) {
        if self.resolved.is_empty() {
            self.s.render(self.commands, &self.target, load);
            return;
        }
        let colour: Vec<_> = (self.target.colour.iter().zip(&self.resolved))
            .map(|(attachment, resolved)| {
                vk::RenderingAttachmentInfo::default()
                    .image_view(attachment.view)
                    .image_layout(vk::ImageLayout::GENERAL)
                    .load_op(load)
                    .store_op(vk::AttachmentStoreOp::STORE)
                    .resolve_mode(vk::ResolveModeFlags::AVERAGE)
                    .resolve_image_view(resolved.view)
                    .resolve_image_layout(vk::ImageLayout::GENERAL)
                    .clear_value(attachment.clear)
            })
            .collect();
        let info = vk::RenderingInfo::default()
            .render_area(area(0, 0, SIDE, SIDE))
            .layer_count(1)
            .color_attachments(&colour);
        self.s.device().cmd_begin_rendering(self.commands, &info);
    }

    /// Begins a pass that clears everything.
    pub(super) unsafe fn clear(&self) {
        self.begin(vk::AttachmentLoadOp::CLEAR);
    }

    /// Binds a pipeline.
    pub(super) unsafe fn bind(&self, draw: &Draw<'_>) -> anyhow::Result<()> {
        let pipeline = self.s.graphics(draw)?;
        let graphics = vk::PipelineBindPoint::GRAPHICS;
        (self.s.device()).cmd_bind_pipeline(self.commands, graphics, pipeline);
        Ok(())
    }

    /// Binds a pipeline and draws.
    pub(super) unsafe fn draw(
        &self,
        draw: &Draw<'_>,
        vertices: u32,
        instances: u32,
    ) -> anyhow::Result<()> {
        self.bind(draw)?;
        self.s
            .device()
            .cmd_draw(self.commands, vertices, instances, 0, 0);
        Ok(())
    }

    /// A pipeline that draws [`quads`].
    pub(super) fn quads<'a>(&self, vertex: &'a str) -> Draw<'a> {
        let mut draw = Draw::new(&self.target, vertex, FLAT);
        draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
        draw
    }

    /// Ends the pass and runs the commands.
    pub(super) unsafe fn read(&self) -> anyhow::Result<Pixels> {
        self.s.device().cmd_end_rendering(self.commands);
        self.read_after()
    }

    /// Runs the commands, after all passes.
    pub(super) unsafe fn read_after(&self) -> anyhow::Result<Pixels> {
        let images = match self.resolved.is_empty() {
            true => &self.target.colour,
            false => &self.resolved,
        };
        let mut colour: Vec<Buffer> = Vec::new();
        for attachment in images {
            colour.push(self.s.read_back(self.commands, attachment.image)?);
        }
        let (mut depth, mut stencil) = (None, None);
        if let Some(attachment) = &self.target.depth {
            for (aspect, to) in [
                (vk::ImageAspectFlags::DEPTH, &mut depth),
                (vk::ImageAspectFlags::STENCIL, &mut stencil),
            ] {
                let mut image = attachment.image;
                if image.shape.aspect.contains(aspect) {
                    image.shape.aspect = aspect;
                    if aspect == vk::ImageAspectFlags::STENCIL {
                        image.shape.element.2 = 1;
                    }
                    *to = Some(self.s.read_back(self.commands, image)?);
                }
            }
        }
        self.s.finish(self.commands)?;
        Ok(Pixels {
            colour: colour.iter().map(Buffer::bytes).collect(),
            depth: depth.map(|buffer| buffer.bytes()),
            stencil: stencil.map(|buffer| buffer.bytes()),
        })
    }

    /// Ends the pass, runs the commands and reports everything, which is not of one colour.
    pub(super) unsafe fn end(&self, name: &str) -> anyhow::Result<Pixels> {
        let pixels = self.read()?;
        self.report(name, &pixels)?;
        Ok(pixels)
    }

    /// Reports pixels.
    pub(super) fn report(&self, name: &str, pixels: &Pixels) -> anyhow::Result<()> {
        for (at, (bytes, attachment)) in pixels.colour.iter().zip(&self.target.colour).enumerate() {
            varied(
                &format!("{name}: colour {at}"),
                bytes,
                attachment.image.shape.element.2,
            )?;
            let name = format!("{name}: colour {at}");
            self.s.report.result(&name, bytes.clone());
        }
        if let Some(bytes) = &pixels.depth {
            (self.s.report).result(&format!("{name}: depth"), bytes.clone());
        }
        if let Some(bytes) = &pixels.stencil {
            (self.s.report).result(&format!("{name}: stencil"), bytes.clone());
        }
        Ok(())
    }
}

impl Scope<'_> {
    /// An image of several samples, as [`Scope::image`] makes others.
    unsafe fn image_of_samples(
        &self,
        shape: Shape,
        samples: vk::SampleCountFlags,
        usage: vk::ImageUsageFlags,
        commands: vk::CommandBuffer,
    ) -> anyhow::Result<Image> {
        let empty = vk::ImageCreateFlags::empty();
        self.image_with(shape, samples, usage, empty, commands)
    }
}

/// That pixels are not all alike: something was drawn.
pub(super) fn varied(name: &str, bytes: &[u8], pixel: u32) -> anyhow::Result<()> {
    let pixel = pixel as usize;
    let first = &bytes[..pixel];
    let all = bytes.chunks_exact(pixel).all(|other| other == first);
    ensure!(!all, "{name}: all pixels are {first:?}");
    Ok(())
}

pub(super) fn area(x: i32, y: i32, width: u32, height: u32) -> vk::Rect2D {
    vk::Rect2D {
        offset: vk::Offset2D { x, y },
        extent: vk::Extent2D { width, height },
    }
}

/// A vertex shader that draws, for each instance, a rectangle (left, top, right, bottom in pixels)
/// at a depth with a colour: strips of four vertices.
pub(super) fn quads(list: &[([f32; 4], f32, [f32; 4])]) -> String {
    let vector = |v: &[f32; 4]| format!("vec4({:?}, {:?}, {:?}, {:?})", v[0], v[1], v[2], v[3]);
    let count = list.len();
    let rectangles: Vec<_> = list.iter().map(|(at, _, _)| vector(at)).collect();
    let depths: Vec<_> = list.iter().map(|(_, z, _)| format!("{z:?}")).collect();
    let colours: Vec<_> = list.iter().map(|(_, _, tint)| vector(tint)).collect();
    format!(
        "
layout(location = 0) flat out vec4 colour;
const vec4 rectangles[{count}] = vec4[]({});
const float depths[{count}] = float[]({});
const vec4 tints[{count}] = vec4[]({});
void main() {{
    vec4 r = rectangles[gl_InstanceIndex];
    vec2 at = vec2((gl_VertexIndex & 1) == 0 ? r.x : r.z, (gl_VertexIndex & 2) == 0 ? r.y : r.w);
    gl_Position = vec4(at / 32.0 - 1.0, depths[gl_InstanceIndex], 1.0);
    colour = tints[gl_InstanceIndex];
}}
",
        rectangles.join(", "),
        depths.join(", "),
        colours.join(", ")
    )
}

/// The colour that comes from the vertex shader.
pub(super) const FLAT: &str = "
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() { colour = tint; }
";

pub(super) const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
pub(super) const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];
pub(super) const BLUE: [f32; 4] = [0.0, 0.0, 1.0, 1.0];

/// Points of odd and even sizes, lines along the axes, triangles. Points lie where the edges of
/// their squares are edges of pixels; lines of width 1 run through pixels' middles and end
/// inside pixels, where strict and other lines cover the same ones.
unsafe fn topology(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::PrimitiveTopology as T;
    let points = "
layout(location = 0) flat out vec4 colour;
void main() {
    float size[5] = float[](1.0, 2.0, 3.0, 8.0, 15.0);
    vec2 at[5] = vec2[](vec2(3.5), vec2(10.0, 4.0), vec2(20.5, 6.5), vec2(40.0, 12.0), vec2(30.5, 40.5));
    gl_PointSize = size[gl_VertexIndex];
    gl_Position = vec4(at[gl_VertexIndex] / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(float(gl_VertexIndex) / 5.0, 1.0, 0.0, 1.0);
}
";
    let lines = "
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at[6] = vec2[](vec2(4.25, 4.5), vec2(20.25, 4.5), vec2(30.5, 10.25), vec2(30.5, 60.25), vec2(24.75, 7.5), vec2(7.75, 7.5));
    gl_PointSize = 1.0;
    gl_Position = vec4(at[gl_VertexIndex] / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(1.0, float(gl_VertexIndex / 2) * 0.4, 0.0, 1.0);
}
";
    // Its segments end inside pixels, which both of two segments may or may not cover: all of it is
    // of one colour, and ends are covered by others.
    let grid = "
layout(location = 0) flat out vec4 colour;
void main() {
    int i = gl_VertexIndex;
    vec2 at = vec2(float(i / 2) * 13.0 + 3.0, (i & 1) == 0 ? 5.0 : 50.0 + float(i));
    gl_Position = vec4(at / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(float(i) * 0.125, 0.0, 1.0, 1.0);
}
";
    let fan = "
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at[6] = vec2[](vec2(30.25, 33.25), vec2(60.25, 30), vec2(40, 3.25), vec2(4, 10.25), vec2(9, 55.25), vec2(50.25, 60));
    gl_Position = vec4(at[gl_VertexIndex] / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(float(gl_VertexIndex) * 0.125, 1.0, 0.0, 1.0);
}
";
    for (name, topology, vertex, count) in [
        ("points", T::POINT_LIST, points, 5),
        ("lines", T::LINE_LIST, lines, 6),
        ("lines, one over", T::LINE_LIST, lines, 5),
        ("triangles", T::TRIANGLE_LIST, fan, 6),
        ("triangles, two over", T::TRIANGLE_LIST, fan, 5),
        ("strip", T::TRIANGLE_STRIP, grid, 8),
        ("strip of three", T::TRIANGLE_STRIP, grid, 3),
        ("fan", T::TRIANGLE_FAN, fan, 6),
        ("fan of three", T::TRIANGLE_FAN, fan, 3),
    ] {
        let picture = Picture::plain(s)?;
        let mut draw = Draw::new(&picture.target, vertex, FLAT);
        draw.topology = topology;
        picture.clear();
        picture.draw(&draw, count, 1)?;
        picture.end(name)?;
    }
    // A strip along the edges of a square: its corners belong to one of two segments, or to both.
    let corners = "
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at[4] = vec2[](vec2(4.0, 4.5), vec2(40.5, 4.5), vec2(40.5, 30.5), vec2(10.0, 30.5));
    gl_Position = vec4(at[gl_VertexIndex] / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(1.0, 0.0, 0.0, 1.0);
}
";
    let picture = Picture::plain(s)?;
    let mut draw = Draw::new(&picture.target, corners, FLAT);
    draw.topology = T::LINE_STRIP;
    picture.clear();
    picture.draw(&draw, 4, 1)?;
    let got = picture.read()?.colour.remove(0);
    for (x, y, drawn) in [
        (4, 4, true),
        (20, 4, true),
        (39, 4, true),
        (40, 10, true),
        (40, 29, true),
        (38, 30, true),
        (10, 30, true),
        (8, 30, false),
        (4, 10, false),
        (20, 20, false),
    ] {
        expect_pixel("line strip", &got, x, y, if drawn { RED } else { GREY })?;
    }
    Ok(())
}

/// That a pixel of bytes is a colour.
pub(super) fn expect_pixel(
    name: &str,
    bytes: &[u8],
    x: usize,
    y: usize,
    colour: [f32; 4],
) -> anyhow::Result<()> {
    let at = 4 * (y * SIDE as usize + x);
    let got = &bytes[at..at + 4];
    let expected = colour.map(|c| (c * 255.0).round() as u8);
    ensure!(
        got == expected,
        "{name}: pixel {x}, {y} is {got:?} instead of {expected:?}"
    );
    Ok(())
}

/// Restarts with indices of 16 and 32 bits; the same index without restart is a vertex.
unsafe fn restart(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::PrimitiveTopology as T;
    let vertex = "
layout(location = 0) flat out vec4 colour;
void main() {
    int i = gl_VertexIndex & 63;
    vec2 at = vec2(float(i % 8) * 8.0 + 1.25, float(i / 8) * 8.0 + 3.5);
    gl_Position = vec4(at / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(float(i) / 64.0, 1.0, 0.0, 1.0);
}
";
    let none = u32::MAX;
    let indices = [
        0, 8, 1, 9, none, 3, 12, 4, 13, 5, none, none, 20, 30, 21, none, 1, 2, none,
    ];
    for topology in [T::TRIANGLE_STRIP, T::TRIANGLE_FAN] {
        for wide in [false, true] {
            let picture = Picture::plain(s)?;
            let mut draw = Draw::new(&picture.target, vertex, FLAT);
            draw.topology = topology;
            draw.restart = true;
            let bytes: Vec<u8> = match wide {
                true => indices.iter().flat_map(|i: &u32| i.to_le_bytes()).collect(),
                false => (indices.iter())
                    .flat_map(|i| (*i as u16).to_le_bytes())
                    .collect(),
            };
            let buffer = s.buffer_for(bytes.len() as u64, vk::BufferUsageFlags::INDEX_BUFFER)?;
            buffer.write(0, &bytes);
            let kind = match wide {
                true => vk::IndexType::UINT32,
                false => vk::IndexType::UINT16,
            };
            picture.clear();
            picture.bind(&draw)?;
            let device = s.device();
            device.cmd_bind_index_buffer(picture.commands, buffer.handle, 0, kind);
            device.cmd_draw_indexed(picture.commands, indices.len() as u32, 1, 0, 0, 0);
            picture.end(&format!("{topology:?} {kind:?}"))?;
        }
    }
    Ok(())
}

/// Two triangles of either winding, coloured by `gl_FrontFacing`.
unsafe fn cull(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = "
void main() {
    vec2 at[6] = vec2[](vec2(3, 5.25), vec2(30, 9.25), vec2(9, 50.25), vec2(33, 5.25), vec2(39, 50.25), vec2(60, 9.25));
    gl_Position = vec4(at[gl_VertexIndex] / 32.0 - 1.0, 0.0, 1.0);
}
";
    let fragment = "
layout(location = 0) out vec4 colour;
void main() { colour = gl_FrontFacing ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0, 0.0, 0.0, 1.0); }
";
    let modes = vk::CullModeFlags::NONE.as_raw()..=vk::CullModeFlags::FRONT_AND_BACK.as_raw();
    for mode in modes.map(vk::CullModeFlags::from_raw) {
        for face in [vk::FrontFace::CLOCKWISE, vk::FrontFace::COUNTER_CLOCKWISE] {
            for dynamic in [false, true] {
                let picture = Picture::plain(s)?;
                let mut draw = Draw::new(&picture.target, vertex, fragment);
                if dynamic {
                    draw.dynamic = vec![vk::DynamicState::CULL_MODE, vk::DynamicState::FRONT_FACE];
                } else {
                    draw.raster = draw.raster.cull_mode(mode).front_face(face);
                }
                picture.clear();
                picture.bind(&draw)?;
                if dynamic {
                    s.device().cmd_set_cull_mode(picture.commands, mode);
                    s.device().cmd_set_front_face(picture.commands, face);
                }
                s.device().cmd_draw(picture.commands, 6, 1, 0, 0);
                let name = format!("{mode:?} {face:?} dynamic {dynamic}");
                let got = picture.read()?.colour.remove(0);
                let clockwise = face == vk::FrontFace::CLOCKWISE;
                // The first triangle is clockwise on the screen, where y points down.
                for (x, front) in [(10, clockwise), (40, !clockwise)] {
                    let culled = match front {
                        true => mode.contains(vk::CullModeFlags::FRONT),
                        false => mode.contains(vk::CullModeFlags::BACK),
                    };
                    let colour = match (culled, front) {
                        (true, _) => GREY,
                        (false, true) => GREEN,
                        (false, false) => RED,
                    };
                    expect_pixel(&name, &got, x, 15, colour)?;
                }
                s.report.result(&name, got);
            }
        }
    }
    Ok(())
}

/// Corners and edges of triangles. Lines have freedom at their ends: middles are looked at.
unsafe fn polygon_mode(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.fill_mode_non_solid)?;
    let vertex = "
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at[3] = vec2[](vec2(4.5, 5.5), vec2(50.5, 5.5), vec2(4.5, 40.5));
    gl_PointSize = 1.0;
    gl_Position = vec4(at[gl_VertexIndex] / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(1.0, 0.0, 0.0, 1.0);
}
";
    for mode in [
        vk::PolygonMode::FILL,
        vk::PolygonMode::LINE,
        vk::PolygonMode::POINT,
    ] {
        let picture = Picture::plain(s)?;
        let mut draw = Draw::new(&picture.target, vertex, FLAT);
        draw.raster = draw.raster.polygon_mode(mode);
        picture.clear();
        picture.draw(&draw, 3, 1)?;
        let got = picture.read()?.colour.remove(0);
        let name = format!("{mode:?}");
        let edge = mode != vk::PolygonMode::POINT;
        let inside = mode == vk::PolygonMode::FILL;
        for (x, y, drawn) in [
            (20, 5, edge),
            (4, 20, edge),
            (10, 12, inside),
            (60, 60, false),
        ] {
            // A filled triangle's edge through pixels' middles may leave them out.
            if !inside || (x, y) == (10, 12) {
                expect_pixel(&name, &got, x, y, if drawn { RED } else { GREY })?;
            }
        }
        if mode == vk::PolygonMode::POINT {
            for (x, y) in [(4, 5), (50, 5), (4, 40)] {
                expect_pixel(&name, &got, x, y, RED)?;
            }
            s.report.result(&name, got);
        }
    }
    Ok(())
}

/// Viewports with offsets, parts outside, upside down, and with depth ranges.
unsafe fn viewport(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = "
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at[3] = vec2[](vec2(-0.75, -0.875), vec2(0.75, -0.25), vec2(-0.25, 0.75));
    gl_Position = vec4(at[gl_VertexIndex % 3], 0.25 + 0.5 * float(gl_InstanceIndex), 1.0);
    colour = vec4(1.0, float(gl_InstanceIndex), 0.0, 1.0);
}
";
    for (name, x, y, width, height, near, far) in [
        ("whole", 0.0, 0.0, 64.0, 64.0, 0.0, 1.0),
        ("part", 8.0, 16.0, 32.0, 40.0, 0.0, 1.0),
        ("fractions", 8.25, 16.5, 31.5, 40.25, 0.0, 1.0),
        ("larger", -32.0, -16.0, 128.0, 128.0, 0.0, 1.0),
        ("upside down", 0.0, 64.0, 64.0, -64.0, 0.0, 1.0),
        ("upside down part", 4.0, 40.0, 48.0, -32.0, 0.0, 1.0),
        ("depth range", 0.0, 0.0, 64.0, 64.0, 0.25, 0.75),
        ("depth reversed", 0.0, 0.0, 64.0, 64.0, 1.0, 0.0),
        ("depth alike", 0.0, 0.0, 64.0, 64.0, 0.5, 0.5),
    ] {
        for dynamic in [false, true] {
            let picture = Picture::deep(s, vk::Format::D32_SFLOAT, 1.0, 0)?;
            let mut draw = Draw::new(&picture.target, vertex, FLAT);
            let viewport = vk::Viewport {
                x,
                y,
                width,
                height,
                min_depth: near,
                max_depth: far,
            };
            if dynamic {
                draw.dynamic = vec![vk::DynamicState::VIEWPORT];
            } else {
                draw.viewport = viewport;
            }
            draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
                .depth_compare_op(vk::CompareOp::LESS);
            picture.clear();
            picture.bind(&draw)?;
            if dynamic {
                (s.device()).cmd_set_viewport(picture.commands, 0, &[viewport]);
            }
            s.device().cmd_draw(picture.commands, 3, 2, 0, 0);
            picture.end(&format!("{name} dynamic {dynamic}"))?;
        }
    }
    Ok(())
}

/// Scissors of all sizes, the empty one included; what is outside stays.
unsafe fn scissor(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = quads(&[([-10.0, -10.0, 80.0, 80.0], 0.0, RED)]);
    for scissor in [
        area(0, 0, 64, 64),
        area(5, 7, 20, 30),
        area(31, 33, 1, 1),
        area(32, 0, 32, 64),
        area(60, 60, 100, 100),
        area(7, 9, 0, 0),
        area(0, 0, 0x7fff_ffff, 3),
    ] {
        for dynamic in [false, true] {
            let picture = Picture::plain(s)?;
            let mut draw = picture.quads(&vertex);
            if dynamic {
                draw.dynamic = vec![vk::DynamicState::SCISSOR];
            } else {
                draw.scissor = scissor;
            }
            picture.clear();
            picture.bind(&draw)?;
            if dynamic {
                (s.device()).cmd_set_scissor(picture.commands, 0, &[scissor]);
            }
            s.device().cmd_draw(picture.commands, 4, 1, 0, 0);
            let got = picture.read()?.colour.remove(0);
            let mut expected = Vec::new();
            let (x, y) = (scissor.offset.x as u32, scissor.offset.y as u32);
            for row in 0..SIDE {
                for column in 0..SIDE {
                    let inside = column >= x
                        && row >= y
                        && column - x < scissor.extent.width
                        && row - y < scissor.extent.height;
                    let colour = if inside { RED } else { GREY };
                    expected.extend(colour.map(|c| (c * 255.0).round() as u8));
                }
            }
            let name = format!("{scissor:?} dynamic {dynamic}");
            s.report.expect(&name, got, &expected)?;
        }
    }
    Ok(())
}

/// Whether a comparison passes.
pub(super) fn passes(op: vk::CompareOp, a: f32, b: f32) -> bool {
    match op {
        vk::CompareOp::NEVER => false,
        vk::CompareOp::LESS => a < b,
        vk::CompareOp::EQUAL => a == b,
        vk::CompareOp::LESS_OR_EQUAL => a <= b,
        vk::CompareOp::GREATER => a > b,
        vk::CompareOp::NOT_EQUAL => a != b,
        vk::CompareOp::GREATER_OR_EQUAL => a >= b,
        _ => true,
    }
}

pub(super) const COMPARE: [vk::CompareOp; 8] = [
    vk::CompareOp::NEVER,
    vk::CompareOp::LESS,
    vk::CompareOp::EQUAL,
    vk::CompareOp::LESS_OR_EQUAL,
    vk::CompareOp::GREATER,
    vk::CompareOp::NOT_EQUAL,
    vk::CompareOp::GREATER_OR_EQUAL,
    vk::CompareOp::ALWAYS,
];

/// All comparisons of depth, with and without writes, against three depths around the cleared one.
unsafe fn depth_compare(s: &Scope<'_>) -> anyhow::Result<()> {
    let near = [0.25_f32, 0.5, 0.75];
    let list: Vec<_> = (near.iter().enumerate())
        .map(|(at, z)| {
            let left = 4.0 + 20.0 * at as f32;
            ([left, 4.0, left + 16.0, 60.0], *z, RED)
        })
        .collect();
    let vertex = quads(&list);
    for (format, bytes) in [(vk::Format::D32_SFLOAT, 4), (vk::Format::D16_UNORM, 2)] {
        for op in COMPARE {
            for (test, write) in [(true, true), (true, false), (false, true)] {
                let picture = Picture::deep(s, format, 0.5, 0)?;
                let mut draw = picture.quads(&vertex);
                draw.depth = (draw.depth.depth_test_enable(test).depth_write_enable(write))
                    .depth_compare_op(op);
                picture.clear();
                picture.draw(&draw, 4, 3)?;
                let pixels = picture.read()?;
                let name = format!("{format:?} {op:?} test {test} write {write}");
                let depths = pixels.depth.clone().unwrap_or_default();
                for (at, z) in near.into_iter().enumerate() {
                    // 0.5 is no number of 16 bits: the cleared and the drawn may be rounded apart.
                    if bytes == 2 && z == 0.5 {
                        continue;
                    }
                    let drawn = !test || passes(op, z, 0.5);
                    let x = 10 + 20 * at;
                    let colour = if drawn { RED } else { GREY };
                    expect_pixel(&name, &pixels.colour[0], x, 30, colour)?;
                    let start = bytes * (30 * SIDE as usize + x);
                    let word = &depths[start..start + bytes];
                    let got = match word {
                        [a, b] => f32::from(u16::from_le_bytes([*a, *b])) / 65535.0,
                        [a, b, c, d] => f32::from_le_bytes([*a, *b, *c, *d]),
                        _ => f32::NAN,
                    };
                    let written = drawn && test && write;
                    let expected = if written { z } else { 0.5 };
                    let tolerance = if bytes == 2 { 1.0 / 65535.0 } else { 0.0 };
                    ensure!(
                        (got - expected).abs() <= tolerance,
                        "{name}: depth {got} instead of {expected}"
                    );
                }
                if bytes == 4 {
                    s.report.result(&name, pixels.colour[0].clone());
                }
            }
        }
    }
    Ok(())
}

/// Depths with bias. Vulkan says of a float format: the unit is that of the primitive's largest
/// depth's exponent; of the slope: an approximation from 1 to sqrt 2, exact along an axis.
unsafe fn depth_bias(s: &Scope<'_>) -> anyhow::Result<()> {
    let flat = quads(&[([4.0, 4.0, 60.0, 60.0], 0.5, RED)]);
    let sloped = "
layout(location = 0) flat out vec4 colour;
void main() {
    float x = (gl_VertexIndex & 1) == 0 ? -0.5 : 0.5;
    gl_Position = vec4(x, (gl_VertexIndex & 2) == 0 ? -0.5 : 0.5, x * 0.5 + 0.5, 1.0);
    colour = vec4(1.0, 0.0, 0.0, 1.0);
}
";
    let clamps = s.gpu_features().depth_bias_clamp == vk::TRUE;
    // In 0.25 .. 0.75 over 32 pixels the slope is 1 / 64.
    for (name, vertex, constant, slope, clamp, expected) in [
        ("none", &*flat, 0.0, 0.0, 0.0, 0.0),
        ("constant", &*flat, 1024.0, 0.0, 0.0, 1024.0 / 16_777_216.0),
        (
            "negative",
            &*flat,
            -2048.0,
            0.0,
            0.0,
            -2048.0 / 16_777_216.0,
        ),
        ("slope of none", &*flat, 0.0, 8.0, 0.0, 0.0),
        ("slope", sloped, 0.0, 4.0, 0.0, 4.0 / 64.0),
        ("slope down", sloped, 0.0, -4.0, 0.0, -4.0 / 64.0),
        ("clamped", sloped, 0.0, 4.0, 0.03125, 0.03125),
        ("clamped below", sloped, 0.0, -4.0, -0.03125, -0.03125),
    ] {
        if clamp != 0.0 && !clamps {
            continue;
        }
        for dynamic in [false, true] {
            let picture = Picture::deep(s, vk::Format::D32_SFLOAT, 1.0, 0)?;
            let mut draw = picture.quads(vertex);
            draw.raster = draw.raster.depth_bias_enable(true);
            if dynamic {
                draw.dynamic = vec![vk::DynamicState::DEPTH_BIAS];
            } else {
                draw.raster = (draw.raster)
                    .depth_bias_constant_factor(constant)
                    .depth_bias_slope_factor(slope)
                    .depth_bias_clamp(clamp);
            }
            draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
                .depth_compare_op(vk::CompareOp::LESS);
            picture.clear();
            picture.bind(&draw)?;
            if dynamic {
                (s.device()).cmd_set_depth_bias(picture.commands, constant, clamp, slope);
            }
            s.device().cmd_draw(picture.commands, 4, 1, 0, 0);
            let pixels = picture.read()?;
            expect_pixel(name, &pixels.colour[0], 30, 30, RED)?;
            let depth = pixels.depth.unwrap_or_default();
            let at = 4 * (30 * SIDE as usize + 30);
            let got = f32::from_le_bytes([depth[at], depth[at + 1], depth[at + 2], depth[at + 3]]);
            let before = match vertex == sloped {
                true => 0.25 + 0.5 * 14.5 / 32.0,
                false => 0.5,
            };
            // Half a unit of the constant's for interpolation and sum.
            ensure!(
                (got - before - expected).abs() < 1.0e-6,
                "{name} dynamic {dynamic}: bias {} instead of {expected}",
                got - before
            );
        }
    }
    Ok(())
}

/// Depths outside of 0 to 1 are clipped away, or clamped.
unsafe fn depth_clamp(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.depth_clamp)?;
    let vertex = quads(&[
        ([2.0, 4.0, 18.0, 60.0], -0.5, RED),
        ([22.0, 4.0, 40.0, 60.0], 0.5, GREEN),
        ([42.0, 4.0, 60.0, 60.0], 1.5, BLUE),
    ]);
    for clamp in [false, true] {
        for (near, far) in [(0.0, 1.0), (0.25, 0.75)] {
            let picture = Picture::deep(s, vk::Format::D32_SFLOAT, 0.625, 0)?;
            let mut draw = picture.quads(&vertex);
            draw.viewport.min_depth = near;
            draw.viewport.max_depth = far;
            draw.raster = draw.raster.depth_clamp_enable(clamp);
            draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
                .depth_compare_op(vk::CompareOp::ALWAYS);
            picture.clear();
            picture.draw(&draw, 4, 3)?;
            let pixels = picture.end(&format!("clamp {clamp} {near} {far}"))?;
            let outside = if clamp { RED } else { GREY };
            expect_pixel("before the near plane", &pixels.colour[0], 10, 30, outside)?;
        }
    }
    Ok(())
}

/// Rectangles cleared inside a pass, colour and depth, after and before draws.
unsafe fn clear_attachments(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = quads(&[
        ([4.0, 4.0, 40.0, 40.0], 0.5, RED),
        ([20.0, 20.0, 60.0, 60.0], 0.25, BLUE),
    ]);
    let format = vk::Format::D32_SFLOAT_S8_UINT;
    let picture = Picture::deep(s, format, 1.0, 3)?;
    let mut draw = picture.quads(&vertex);
    draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
        .depth_compare_op(vk::CompareOp::LESS);
    picture.clear();
    let clear = |aspect, value: vk::ClearValue, rect| {
        let attachment = vk::ClearAttachment {
            aspect_mask: aspect,
            color_attachment: 0,
            clear_value: value,
        };
        let rect = vk::ClearRect {
            rect,
            base_array_layer: 0,
            layer_count: 1,
        };
        s.device()
            .cmd_clear_attachments(picture.commands, &[attachment], &[rect]);
    };
    let depth = |depth, stencil| vk::ClearValue {
        depth_stencil: vk::ClearDepthStencilValue { depth, stencil },
    };
    let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
    clear(
        vk::ImageAspectFlags::DEPTH,
        depth(0.125, 9),
        area(10, 0, 5, 64),
    );
    picture.draw(&draw, 4, 2)?;
    let white = vk::ClearValue {
        color: floats([1.0; 4]),
    };
    clear(vk::ImageAspectFlags::COLOR, white, area(30, 10, 7, 9));
    clear(both, depth(0.75, 0xa5), area(50, 50, 14, 14));
    clear(
        vk::ImageAspectFlags::STENCIL,
        depth(0.5, 0x17),
        area(0, 0, 3, 5),
    );
    let pixels = picture.end("cleared")?;
    expect_pixel("colour", &pixels.colour[0], 33, 12, [1.0; 4])?;
    expect_pixel("behind the cleared depth", &pixels.colour[0], 12, 12, GREY)?;
    ensure!(stencil_at(&pixels, 55, 55) == 0xa5, "stencil of both");
    ensure!(stencil_at(&pixels, 1, 1) == 0x17, "stencil alone");
    ensure!(stencil_at(&pixels, 30, 1) == 3, "stencil elsewhere");
    Ok(())
}

/// A pass over a part clears and draws there only.
unsafe fn render_area(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = quads(&[([10.0, 10.0, 60.0, 25.0], 0.5, RED)]);
    for (at, part) in [
        area(0, 0, 64, 64),
        area(16, 8, 32, 40),
        area(5, 7, 23, 31),
        area(33, 1, 31, 63),
        area(63, 0, 1, 64),
    ]
    .into_iter()
    .enumerate()
    {
        let mut picture = Picture::plain(s)?;
        picture.clear();
        s.device().cmd_end_rendering(picture.commands);
        s.barrier(picture.commands);
        picture.target.colour[0].clear = vk::ClearValue {
            color: floats(GREEN),
        };
        let colour = [vk::RenderingAttachmentInfo::default()
            .image_view(picture.target.colour[0].view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(picture.target.colour[0].clear)];
        let info = vk::RenderingInfo::default()
            .render_area(part)
            .layer_count(1)
            .color_attachments(&colour);
        s.device().cmd_begin_rendering(picture.commands, &info);
        let mut draw = picture.quads(&vertex);
        // Vulkan wants draws inside of the area.
        draw.scissor = part;
        picture.draw(&draw, 4, 1)?;
        let got = picture.read()?.colour.remove(0);
        let mut expected = Vec::new();
        for y in 0..SIDE as i32 {
            for x in 0..SIDE as i32 {
                let (dx, dy) = (x - part.offset.x, y - part.offset.y);
                let inside = dx >= 0
                    && dy >= 0
                    && dx < part.extent.width as i32
                    && dy < part.extent.height as i32;
                let drawn = (10..60).contains(&x) && (10..25).contains(&y);
                let colour = match (inside, drawn) {
                    (false, _) => GREY,
                    (true, true) => RED,
                    (true, false) => GREEN,
                };
                expected.extend(colour.map(|c| (c * 255.0).round() as u8));
            }
        }
        s.report.expect(&format!("area {at}"), got, &expected)?;
    }
    Ok(())
}

/// What was drawn is there after a load, drawn over; passes without draws; what is not stored may
/// be anything and is drawn over entirely.
unsafe fn load_operations(s: &Scope<'_>) -> anyhow::Result<()> {
    let first = quads(&[([4.0, 4.0, 40.0, 40.0], 0.5, RED)]);
    let second = quads(&[([20.0, 20.0, 60.0, 60.0], 0.75, BLUE)]);
    let all = quads(&[([0.0, 0.0, 64.0, 64.0], 0.75, GREEN)]);
    let picture = Picture::deep(s, vk::Format::D32_SFLOAT, 1.0, 0)?;
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(true)
        .depth_write_enable(true)
        .depth_compare_op(vk::CompareOp::LESS);
    let device = s.device();
    picture.clear();
    let mut draw = picture.quads(&first);
    draw.depth = depth;
    picture.draw(&draw, 4, 1)?;
    for text in [None, Some(&second), None] {
        device.cmd_end_rendering(picture.commands);
        s.barrier(picture.commands);
        picture.begin(vk::AttachmentLoadOp::LOAD);
        if let Some(text) = text {
            let mut draw = picture.quads(text);
            draw.depth = depth;
            picture.draw(&draw, 4, 1)?;
        }
    }
    let pixels = picture.end("loaded")?;
    expect_pixel("hidden", &pixels.colour[0], 30, 30, RED)?;
    expect_pixel("second", &pixels.colour[0], 50, 50, BLUE)?;
    let picture = Picture::plain(s)?;
    picture.begin(vk::AttachmentLoadOp::DONT_CARE);
    picture.draw(&picture.quads(&all), 4, 1)?;
    picture.draw(&picture.quads(&first), 4, 1)?;
    picture.end("not loaded")?;
    Ok(())
}

/// Samples that pass, precise; and whether some do.
unsafe fn occlusion(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.occlusion_query_precise)?;
    let device = s.device();
    let info = vk::QueryPoolCreateInfo::default()
        .query_type(vk::QueryType::OCCLUSION)
        .query_count(8);
    let pool = device.create_query_pool(&info, None)?;
    s.at_end(move |device| device.destroy_query_pool(pool, None));
    let picture = Picture::deep(s, vk::Format::D32_SFLOAT, 0.5, 0)?;
    let near = quads(&[([4.0, 4.0, 24.0, 34.0], 0.25, RED)]);
    let far = quads(&[([30.0, 4.0, 40.0, 34.0], 0.75, BLUE)]);
    device.cmd_reset_query_pool(picture.commands, pool, 0, 8);
    picture.clear();
    let precise = vk::QueryControlFlags::PRECISE;
    let mut expected = Vec::new();
    for (query, (text, flags, count)) in [
        (Some(&near), precise, 600),
        (Some(&far), precise, 0),
        (Some(&near), vk::QueryControlFlags::empty(), 1),
        (Some(&far), vk::QueryControlFlags::empty(), 0),
        (None, precise, 0),
        (Some(&near), precise, 600),
    ]
    .into_iter()
    .enumerate()
    {
        device.cmd_begin_query(picture.commands, pool, query as u32, flags);
        if let Some(text) = text {
            let mut draw = picture.quads(text);
            draw.depth = (draw.depth.depth_test_enable(true)).depth_compare_op(vk::CompareOp::LESS);
            picture.draw(&draw, 4, 1)?;
        }
        device.cmd_end_query(picture.commands, pool, query as u32);
        expected.push(count);
    }
    let pixels = picture.read()?;
    expect_pixel("near", &pixels.colour[0], 10, 10, RED)?;
    let mut results = [0_u64; 6];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
    device.get_query_pool_results(pool, 0, &mut results, flags)?;
    // Not precise: any number that is not zero.
    results[2] = results[2].min(1);
    ensure!(
        results == expected[..],
        "{results:?} instead of {expected:?}"
    );
    let bytes = results.iter().flat_map(|count| count.to_le_bytes());
    s.report.result("counts", bytes.collect());
    Ok(())
}

impl Scope<'_> {
    /// The device's features of Vulkan 1.0, all of which are enabled.
    pub(super) unsafe fn gpu_features(&self) -> vk::PhysicalDeviceFeatures {
        (self.gpu.instance).get_physical_device_features(self.gpu.physical)
    }

    /// Ends the scenario as skipped when a feature is not offered.
    pub(super) unsafe fn gpu_feature(
        &self,
        feature: impl Fn(&vk::PhysicalDeviceFeatures) -> vk::Bool32,
    ) -> anyhow::Result<()> {
        let offered = feature(&self.gpu_features()) == vk::TRUE;
        crate::gpu::require(offered, "a feature of Vulkan 1.0")
    }
}
