// SPDX-License-Identifier: MIT
//! Small pictures: their attachments, what they show, and words that scenes draw with.

use anyhow::ensure;
use ash::vk;

use crate::image::{Image, Shape};
use crate::picture::{Attachment, Draw, Target};
use crate::scope::{Buffer, Scope};

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
