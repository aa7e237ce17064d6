// SPDX-License-Identifier: MIT
//! A pipeline of two compiled shaders on the studio's GPU: what a driver does, as far as these tests need it.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use agx_compiler::binary::{Pointer, SamplerSlot, ShaderBinary, StageInfo, VaryingMode};
use agx_compiler::tile::{Background, BackgroundAttachment, Fill, Store, StoreAttachment};
use agx_compiler::{colour_format, compile_fragment, compile_vertex};
use agx_hw::coefficient::Interpolation;
use agx_hw::format::Format;
use agx_hw::launcher::{Frame, Launcher, Samples};
use agx_hw::ppp::PassType;
use agx_hw::sampler::Sampler;
use agx_hw::uvs::Layout;
use agx_hw::vdm::Vertices;
use agx_hw::window::LauncherAddress;
use mesa_nir::{
    Attachment, Attribute, CompilerOptions, FragmentLowering, Rate, SpirvOptions, Stage,
    VertexLowering, spirv_to_nir,
};

use crate::studio::{Image2, Memory, Studio, gpu, program, words};

/// A module from GLSL, by glslangValidator, or from SPIR-V's own text.
pub(crate) fn spirv(stage: Stage, text: &str) -> Vec<u32> {
    if text.starts_with("OpCapability") {
        return mesa_nir::assemble(text).unwrap();
    }
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let base = std::env::temp_dir().join(format!("agx-stage-{}-{number}", std::process::id()));
    let (name, source) = match stage {
        Stage::Vertex => ("vert", base.with_extension("vert")),
        _ => ("frag", base.with_extension("frag")),
    };
    let out = base.with_extension(format!("{name}.spv"));
    std::fs::write(&source, format!("#version 460\n{text}")).unwrap();
    let run = Command::new("glslangValidator")
        .args(["--target-env", "vulkan1.3", "-V", "--quiet", "-o"])
        .args([&out, &source])
        .output()
        .expect("glslangValidator (Debian package glslang-tools)");
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status.success(), "{text}");
    let bytes = std::fs::read(&out).unwrap();
    let _ = (std::fs::remove_file(&source), std::fs::remove_file(&out));
    let words = bytes
        .chunks_exact(4)
        .map(|w| u32::from_le_bytes(w.try_into().unwrap()));
    words.collect()
}

pub(crate) fn fragment(
    text: &str,
    lowering: &FragmentLowering,
) -> Result<ShaderBinary, agx_compiler::Error> {
    let options = Arc::new(CompilerOptions::apple9());
    let graphics = SpirvOptions::apple9_graphics();
    let module = spirv(Stage::Fragment, text);
    let shader = spirv_to_nir(&module, Stage::Fragment, "main", &[], &graphics, &options)?;
    compile_fragment(shader, lowering, None)
}

pub(crate) fn vertex(
    text: &str,
    lowering: &VertexLowering,
) -> Result<ShaderBinary, agx_compiler::Error> {
    let options = Arc::new(CompilerOptions::apple9());
    let graphics = SpirvOptions::apple9_graphics();
    let module = spirv(Stage::Vertex, text);
    let shader = spirv_to_nir(&module, Stage::Vertex, "main", &[], &graphics, &options)?;
    compile_vertex(shader, lowering, None)
}

/// A vertex buffer as the table has it.
#[derive(Clone)]
pub(crate) struct VertexBuffer {
    pub(crate) bytes: Vec<u8>,
    /// As the table says, which may be less than there is.
    pub(crate) size: u32,
    pub(crate) stride: u32,
}

impl VertexBuffer {
    pub(crate) fn new(bytes: Vec<u8>, stride: u32) -> VertexBuffer {
        let size = bytes.len() as u32;
        VertexBuffer {
            bytes,
            size,
            stride,
        }
    }
}

/// A draw.
#[derive(Clone)]
pub(crate) struct Draw {
    pub(crate) vertex: String,
    pub(crate) vertex_lowering: VertexLowering,
    pub(crate) fragment: String,
    /// Without attachments: those of the scene are put in, with what `edit` does to them.
    pub(crate) lowering: FragmentLowering,
    pub(crate) buffers: Vec<VertexBuffer>,
    pub(crate) vertices: Vertices,
    /// Base vertex, base instance, draw number.
    pub(crate) parameters: [u32; 3],
    pub(crate) blend_constants: [f32; 4],
    /// The memory of set 0, from which the tables of textures and samplers are made.
    pub(crate) set: Vec<u8>,
}

/// A triangle that covers everything, whose place is its vertex's number.
pub(crate) const COVER: &str = "void main() {
    gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0.5, 1);
}";

impl Draw {
    /// Of a triangle over everything.
    pub(crate) fn new(vertex: &str, fragment: &str) -> Draw {
        Draw {
            vertex: vertex.into(),
            vertex_lowering: VertexLowering::default(),
            fragment: fragment.into(),
            lowering: FragmentLowering::default(),
            buffers: Vec::new(),
            vertices: Vertices::Direct {
                first: 0,
                count: 3,
                instances: 1,
            },
            parameters: [0; 3],
            blend_constants: [0.0; 4],
            set: Vec::new(),
        }
    }

    /// With an attribute of every vertex.
    pub(crate) fn attribute(mut self, location: u8, format: i32, buffer: VertexBuffer) -> Draw {
        self.vertex_lowering.attributes.push(Attribute {
            location,
            binding: self.buffers.len() as u8,
            offset: 0,
            format,
            rate: Rate::Vertex,
        });
        self.buffers.push(buffer);
        self
    }
}

/// A pass.
pub(crate) struct Scene {
    pub(crate) studio: Studio,
    pub(crate) images: Vec<Image2>,
    /// First words of the attachments.
    pub(crate) places: Vec<u8>,
}

/// Words of a format in the tile.
fn tile_words(format: Format) -> u8 {
    format.tile_word().expect("a colour attachment").bytes() / 4
}

impl Scene {
    /// Attachments of these formats, cleared to these words of 32 bits.
    pub(crate) fn new(
        size: [u16; 2],
        samples: Samples,
        formats: &[Format],
        clear: [u32; 4],
    ) -> Scene {
        let mut places = Vec::new();
        let mut next = 0;
        for format in formats {
            places.push(next);
            next += tile_words(*format);
        }
        let mut studio = Studio::new(size, samples, u32::from(next) * 4);
        let images: Vec<Image2> = formats.iter().map(|f| studio.image(*f)).collect();
        let mut scene = Scene {
            studio,
            images,
            places,
        };
        scene.tile_programs(clear);
        scene
    }

    fn samples(&self) -> u8 {
        crate::studio::count(self.studio.samples) as u8
    }

    fn tile_programs(&mut self, clear: [u32; 4]) {
        let all = || self.images.iter().zip(&self.places);
        let mut background = Background {
            attachments: [None; 8],
            samples: self.samples(),
            layered: false,
        };
        let mut store = Store {
            attachments: [None; 8],
            samples: self.samples(),
            layered: false,
        };
        let mut records = Vec::new();
        for (i, (image, word)) in all().enumerate() {
            background.attachments[i] = Some(BackgroundAttachment {
                format: colour_format(image.format).unwrap(),
                word: *word,
                fill: Fill::Clear,
            });
            store.attachments[i] = Some(StoreAttachment {
                word: *word,
                export_code: image.format.tile_word().unwrap().export_code(),
            });
            let mut record = [0; 32];
            image.store.pack(&mut record).unwrap();
            records.extend(record);
        }
        let colours = self.studio.data.place(&words(&clear.repeat(8)), 64);
        let table = self.studio.data.place(&records, 64);
        let background = background.compile().unwrap_or_else(|e| panic!("{e}"));
        let background = self.launcher(&background, true, |pointer| match pointer {
            Pointer::PushConstants => colours,
            _ => 0,
        });
        let store = store.compile().unwrap_or_else(|e| panic!("{e}"));
        let store = self.launcher(&store, true, |pointer| match pointer {
            Pointer::TextureTable => table,
            _ => 0,
        });
        self.studio.command.bg = program(background);
        self.studio.command.partial_bg = program(background);
        self.studio.command.eot = program(store);
        self.studio.command.partial_eot = program(store);
    }

    fn launcher(
        &mut self,
        binary: &ShaderBinary,
        tile: bool,
        address: impl Fn(Pointer) -> u64,
    ) -> LauncherAddress {
        let entry = self.studio.code(&binary.code);
        let mut root = [0; 0x100];
        for (place, pointer) in root.chunks_exact_mut(8).zip(&binary.pointers) {
            place.copy_from_slice(&address(*pointer).to_le_bytes());
        }
        let frame = Frame::new(
            binary.publications,
            binary.scratch_bytes,
            binary.spill_bytes,
        );
        let (frame, pointers) = (frame.unwrap(), binary.pointers.len() as u8);
        let (samples, bytes) = (self.studio.samples, self.studio.tile_bytes);
        self.studio.launcher_with(&root, |table| {
            let launcher = match tile {
                true => Launcher::fragment(table, entry, frame, samples, bytes).unwrap(),
                false => Launcher::vertex(table, entry, frame),
            };
            Launcher {
                pointers,
                ..launcher
            }
        })
    }

    /// The attachments of the pass for a lowering.
    pub(crate) fn attachments(&self) -> [Option<Attachment>; 8] {
        std::array::from_fn(|i| {
            let image = self.images.get(i)?;
            Some(Attachment {
                format: colour_format(image.format)?,
                word: self.places[i],
                write_mask: 15,
                blend: None,
            })
        })
    }

    /// Draws, with attachments as the function makes them.
    pub(crate) fn draw(&mut self, draw: &Draw, edit: impl Fn(&mut [Option<Attachment>; 8])) {
        let mut lowering = draw.lowering.clone();
        lowering.samples = self.samples();
        lowering.attachments = self.attachments();
        edit(&mut lowering.attachments);
        let binary = fragment(&draw.fragment, &lowering).unwrap_or_else(|e| panic!("{e}"));
        let StageInfo::Fragment(info) = binary.stage.clone() else {
            panic!("{:?}", binary.stage);
        };
        let varyings = info.varyings.iter().map(|v| (v.location, v.component));
        let vertex_lowering = VertexLowering {
            varyings: Some(varyings.collect()),
            ..draw.vertex_lowering.clone()
        };
        let vertex = vertex(&draw.vertex, &vertex_lowering).unwrap_or_else(|e| panic!("{e}"));
        let StageInfo::Vertex(outputs) = vertex.stage.clone() else {
            panic!("{:?}", vertex.stage);
        };
        let mut table = Vec::new();
        for buffer in &draw.buffers {
            let at = self.studio.data.place(&buffer.bytes, 64);
            table.extend(at.to_le_bytes());
            table.extend(words(&[buffer.size, buffer.stride]));
        }
        let buffers = self.studio.data.place(&table, 64);
        let parameters = self.studio.data.place(&words(&draw.parameters), 64);
        let constants = draw.blend_constants.map(f32::to_bits);
        let constants = self.studio.data.place(&words(&constants), 64);
        let part = |offset: u32, count: usize| {
            let mut bytes = draw.set[offset as usize..][..count].to_vec();
            bytes.resize(32, 0);
            bytes
        };
        let textures = binary.textures.iter().flat_map(|t| part(t.offset, 32));
        let textures = self.studio.data.place(&textures.collect::<Vec<_>>(), 64);
        let samplers = binary.samplers.iter().flat_map(|s| match s {
            SamplerSlot::Descriptor { offset, .. } => part(*offset, 8),
            SamplerSlot::Fetch => {
                let mut bytes = Sampler::fetch().bits().to_le_bytes().to_vec();
                bytes.resize(32, 0);
                bytes
            }
        });
        let samplers = self.studio.data.place(&samplers.collect::<Vec<_>>(), 64);
        let set = self.studio.data.place(&draw.set, 64);
        let address = |pointer| match pointer {
            Pointer::TextureTable => textures,
            Pointer::SamplerTable => samplers,
            Pointer::DescriptorSet(0) => set,
            Pointer::VertexBuffers => buffers,
            Pointer::DrawParameters => parameters,
            // Behind them.
            Pointer::DrawNumber => parameters + 8,
            Pointer::BlendConstants => constants,
            _ => 0,
        };
        let vertex = self.launcher(&vertex, false, address);
        let fragment = self.launcher(&binary, true, address);
        let none = self.studio.code(&[0x0e, 0, 0, 0]);
        let mut setup = self.studio.setup(none, none, 0, outputs.user_scalars);
        setup.vertices = draw.vertices;
        setup.layout = Layout {
            scalars: outputs.user_scalars,
            point_size: outputs.point_size,
            layer_viewport: outputs.layer || outputs.viewport,
            clip_distances: outputs.clip_distances,
        };
        let interpolation = info.varyings.iter().map(|v| match v.mode {
            VaryingMode::Smooth => Interpolation::Smooth,
            VaryingMode::Flat => Interpolation::Flat,
            VaryingMode::Linear => Interpolation::Linear,
        });
        setup.interpolation = interpolation.collect();
        setup.fragment_z = info.uses_frag_z;
        setup.point_coordinate = info.uses_point_coord;
        setup.primitive_id = info.uses_primitive_id;
        setup.control2.no_merge = info.late_tests || info.needs_helpers || info.has_side_effects;
        setup.control2.colour = info.writes_colour;
        let translucent = info.reads_tile || self.samples() > 1;
        setup.control2.pass = match (info.late_tests || info.writes_depth, translucent) {
            (false, false) => PassType::Opaque,
            (false, true) => PassType::Translucent,
            (true, false) => PassType::PunchThrough,
            (true, true) => PassType::TranslucentPunchThrough,
        };
        self.studio.draw_with(&setup, vertex, fragment);
    }

    pub(crate) fn render(&mut self) {
        // The page of zeros of what lies out of bounds.
        self.studio
            .extra
            .push(Memory::new(mesa_nir::ZERO_PAGE, 0x4000, false));
        let result = self.studio.render(&gpu(1));
        result.unwrap_or_else(|fault| panic!("{fault}"));
    }

    pub(crate) fn texel(&self, attachment: usize, x: u32, y: u32, sample: u8) -> Vec<u8> {
        self.studio.texel(&self.images[attachment], x, y, 0, sample)
    }

    /// A texel of 32-bit floats.
    pub(crate) fn floats(&self, attachment: usize, x: u32, y: u32, sample: u8) -> Vec<f32> {
        let bytes = self.texel(attachment, x, y, sample);
        let floats = bytes
            .chunks_exact(4)
            .map(|w| f32::from_le_bytes(w.try_into().unwrap()));
        floats.collect()
    }
}

pub(crate) fn format(name: &str) -> Format {
    Format::from_name(name).unwrap_or_else(|| panic!("{name}"))
}
