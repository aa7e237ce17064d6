// SPDX-License-Identifier: MIT
//! A studio for tests of graphics: memory laid out as in graphics, 15, draws, passes and targets, and what
//! a driver writes into memory for them.

// Each test binary uses its own part of this.
#![allow(dead_code, unreachable_pub)]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agx_hw::arena::{Block, BlockOffset, Header, Kind, Target as Jump};
use agx_hw::coefficient::{Inputs, Interpolation, TABLE_SIZE, Table};
use agx_hw::depth_bias::DepthBias;
use agx_hw::format::{Format, StoreFrom};
use agx_hw::launcher::{Frame, Launcher, Samples};
use agx_hw::layout::{Image, Position, Stack, Tiled};
use agx_hw::pass::{SamplePositions, clear_stencil, merge_upper};
use agx_hw::ppp::{
    self, Cull, Face2, Fragment, FragmentControl, FragmentControl2, Indices as ArrayIndices,
    ObjectType, Outputs, Piece, RegionClip, VaryingCounts, Viewport, Viewports, WClamp,
};
use agx_hw::root::Graphics;
use agx_hw::scissor::{self, Scissor};
use agx_hw::store::{Dimension, Multisample, Store};
use agx_hw::uvs::Layout;
use agx_hw::vdm::{Draw, Primitive, Provoking, Record, Update, VertexState, Vertices};
use agx_hw::window::{CodeAddress, ContextAddress, EntryOffset, LauncherAddress};
use agx_isa::asm::assemble;
use agx_sim::fault::Fault;
use agx_sim::gpu::{Gpu, GpuConfig};
use agx_sim::memory::{Bo, Mappings, Region};
use agx_sim::processor::{Processor, RenderCommand};
use agx_sim::shader::strict::Options;
use agx_uapi::abi::{BgEot, CmdRender, RenderFlags};

/// The execution window's start: the entry arena.
pub const ARENA: u64 = 1 << 40;
/// Where bodies lie.
pub const BODIES: u64 = ARENA + 0x80_0000;
/// Where launchers, root tables, coefficient tables and indices lie.
pub const HEAP: u64 = ARENA + 0x100_0000;
/// Where the stream lies.
pub const STREAM: u64 = 0x10_0400_0000;
/// Where pieces of state lie.
pub const STATE: u64 = 0x10_0480_0000;
/// Where vertices and tables lie.
pub const DATA: u64 = 0x20_0001_0000;
/// Where images lie.
pub const IMAGES: u64 = 0x20_1000_0000;

/// Memory of the GPU at one address.
#[derive(Clone)]
pub struct Memory {
    pub va: u64,
    pub bo: Arc<Bo>,
    pub write: bool,
    next: u64,
}

impl Memory {
    pub fn new(va: u64, size: u64, write: bool) -> Memory {
        let size = size.next_multiple_of(0x4000);
        let bo = Arc::new(Bo::new(size).unwrap());
        Memory {
            va,
            bo,
            write,
            next: va,
        }
    }

    /// Room for so many bytes.
    pub fn reserve(&mut self, bytes: u64, align: u64) -> u64 {
        let at = self.next.next_multiple_of(align);
        self.next = at + bytes;
        assert!(self.next <= self.va + self.bo.size(), "out of test memory");
        at
    }

    /// Places bytes.
    pub fn place(&mut self, bytes: &[u8], align: u64) -> u64 {
        let at = self.reserve(bytes.len() as u64, align);
        self.write(at, bytes);
        at
    }

    pub fn write(&self, va: u64, bytes: &[u8]) {
        let offset = va.checked_sub(self.va).unwrap();
        assert!(offset + bytes.len() as u64 <= self.bo.size());
        // SAFETY: inside the object; nothing else writes to it now.
        unsafe {
            let at = self.bo.base().add(offset as usize);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len());
        }
    }

    pub fn read(&self, va: u64, count: usize) -> Vec<u8> {
        let offset = va.checked_sub(self.va).unwrap();
        assert!(offset + count as u64 <= self.bo.size());
        let mut bytes = vec![0; count];
        // SAFETY: inside the object; nothing runs.
        unsafe {
            let at = self.bo.base().add(offset as usize);
            std::ptr::copy_nonoverlapping(at, bytes.as_mut_ptr(), count);
        }
        bytes
    }

    pub fn word(&self, va: u64) -> u32 {
        u32::from_le_bytes(self.read(va, 4).try_into().unwrap())
    }

    fn region(&self) -> Region {
        Region {
            start: self.va,
            end: self.va + self.bo.size(),
            bo: Arc::clone(&self.bo),
            offset: 0,
            single_page: false,
            read: true,
            write: self.write,
        }
    }
}

pub fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

pub fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// Hexadecimal text as bytes.
pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// A colour target in memory.
#[derive(Clone)]
pub struct Image2 {
    pub address: u64,
    pub layout: Tiled,
    pub format: Format,
    pub store: Store,
}

/// A shader with its entry.
pub type Shader = EntryOffset;

/// How a draw is made; the rest is defaults.
#[derive(Clone)]
pub struct Setup {
    pub topology: Primitive,
    pub vertices: Vertices,
    pub vertex: Shader,
    pub fragment: Shader,
    /// Address of the buffer table.
    pub buffers: u64,
    pub layout: Layout,
    pub interpolation: Vec<Interpolation>,
    pub fragment_z: bool,
    pub point_coordinate: bool,
    pub primitive_id: bool,
    pub provoking: Provoking,
    pub control: FragmentControl,
    pub control2: FragmentControl2,
    pub cull: Cull,
    pub viewports: Vec<Viewport>,
    pub scissors: Vec<Scissor>,
    pub bias: Option<DepthBias>,
    pub restart: Option<u32>,
}

/// Everything in memory.
pub struct Studio {
    pub arena: Memory,
    pub bodies: Memory,
    pub heap: Memory,
    pub stream: Memory,
    pub state: Memory,
    pub data: Memory,
    pub images: Memory,
    /// Memory that only some tests have.
    pub extra: Vec<Memory>,
    next_block: u32,
    pub size: [u16; 2],
    pub layers: u16,
    pub samples: Samples,
    pub tile_bytes: u32,
    pub records: Vec<u8>,
    scissors: Vec<u8>,
    biases: Vec<u8>,
    pub command: CmdRender,
}

/// A GPU as tests want it: strict.
pub fn gpu(threads: usize) -> Gpu {
    gpu_with(threads, None)
}

pub fn gpu_with(threads: usize, partial_renders: Option<u32>) -> Gpu {
    Gpu::new(GpuConfig {
        threads,
        watchdog: 10_000_000,
        strict: Some(Options::COMPILER),
        partial_renders,
        ..GpuConfig::default()
    })
    .unwrap()
}

/// One that has next to no memory for what is binned.
pub fn small_gpu(threads: usize) -> Gpu {
    Gpu::new(GpuConfig {
        threads,
        strict: Some(Options::COMPILER),
        parameter_words: 1000,
        ..GpuConfig::default()
    })
    .unwrap()
}

pub fn count(samples: Samples) -> u32 {
    match samples {
        Samples::One => 1,
        Samples::Two => 2,
        Samples::Four => 4,
    }
}

impl Studio {
    pub fn new(size: [u16; 2], samples: Samples, tile_bytes: u32) -> Studio {
        Studio::with_images(size, samples, tile_bytes, 0x200_0000)
    }

    pub fn with_images(
        size: [u16; 2],
        samples: Samples,
        tile_bytes: u32,
        image_bytes: u64,
    ) -> Studio {
        let studio = Studio {
            arena: Memory::new(ARENA, 0x1_0000, false),
            bodies: Memory::new(BODIES, 0x4_0000, false),
            heap: Memory::new(HEAP, 0x40_0000, false),
            stream: Memory::new(STREAM, 0x40_0000, false),
            state: Memory::new(STATE, 0x40_0000, false),
            data: Memory::new(DATA, 0x80_0000, true),
            images: Memory::new(IMAGES, image_bytes, true),
            extra: Vec::new(),
            next_block: BlockOffset::FIRST.get(),
            size,
            layers: 1,
            samples,
            tile_bytes,
            records: words(&[0x2000_0013]),
            scissors: Vec::new(),
            biases: Vec::new(),
            command: CmdRender::default(),
        };
        let mut header = [0; 0x340];
        Header::default().pack(&mut header).unwrap();
        studio.arena.write(ARENA, &header);
        studio
    }

    /// Places machine code and makes an entry for it.
    pub fn code(&mut self, bytes: &[u8]) -> Shader {
        let body = CodeAddress::new(self.bodies.place(bytes, 64)).unwrap();
        let at = BlockOffset::new(self.next_block).unwrap();
        let block = Block {
            kind: Kind::Graphics,
            target: Jump::Jump(body),
        };
        let mut bytes = [0; 0xc0];
        block.pack(at, &mut bytes).unwrap();
        self.arena.write(ARENA + u64::from(at.get()), &bytes);
        self.next_block += 0xc0;
        at.entry()
    }

    pub fn shader(&mut self, text: &str) -> Shader {
        let bytes = assemble(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        self.code(&bytes)
    }

    /// A launcher with its root table.
    fn launcher(&mut self, root: Graphics, make: impl FnOnce(u64) -> Launcher) -> LauncherAddress {
        let mut bytes = [0; 0x100];
        root.pack(&mut bytes).unwrap();
        self.launcher_with(&bytes, make)
    }

    /// A launcher with these bytes as its root table.
    pub fn launcher_with(
        &mut self,
        root: &[u8; 0x100],
        make: impl FnOnce(u64) -> Launcher,
    ) -> LauncherAddress {
        let table = self.heap.reserve(0x100, 64);
        let at = self.heap.reserve(0x200, 64);
        self.heap.write(table, root);
        let address = LauncherAddress::new(CodeAddress::new(at).unwrap()).unwrap();
        let mut bytes = [0; 0x200];
        make(table).pack(address, &mut bytes).unwrap();
        self.heap.write(at, &bytes);
        address
    }

    pub fn vertex_launcher(&mut self, entry: Shader, buffers: u64) -> LauncherAddress {
        let root = Graphics {
            buffers,
            ..Graphics::default()
        };
        let frame = Frame::new(128, 64, 64).unwrap();
        self.launcher(root, |table| Launcher::vertex(table, entry, frame))
    }

    pub fn fragment_launcher(&mut self, entry: Shader, root: Graphics) -> LauncherAddress {
        let frame = Frame::new(128, 64, 64).unwrap();
        let (samples, bytes) = (self.samples, self.tile_bytes);
        self.launcher(root, |table| {
            Launcher::fragment(table, entry, frame, samples, bytes).unwrap()
        })
    }

    /// A buffer table.
    pub fn buffers(&mut self, addresses: &[u64]) -> u64 {
        let bytes: Vec<u8> = addresses.iter().flat_map(|at| at.to_le_bytes()).collect();
        self.data.place(&bytes, 64)
    }

    /// A tiled image of the framebuffer's size, zeroed.
    pub fn image(&mut self, format: Format) -> Image2 {
        let [width, height] = self.size.map(u32::from);
        let multi = match self.samples {
            Samples::One => None,
            Samples::Two => Some(Multisample::X2),
            Samples::Four => Some(Multisample::X4),
        };
        let layers = u32::from(self.layers);
        let dimension = match (multi, layers) {
            (None, 1) => Dimension::D2,
            (None, layers) => Dimension::D2Array { layers },
            (Some(samples), 1) => Dimension::D2Multisample { samples },
            (Some(samples), layers) => Dimension::D2MultisampleArray { samples, layers },
        };
        let layout = Tiled::new(Image {
            width,
            height,
            stack: Stack::Layers(layers),
            element: format.element(),
            samples: self.samples,
            mipmapped: false,
            page_aligned: layers > 1,
        })
        .unwrap();
        let address = self.images.reserve(layout.size(), 0x4000);
        let store =
            Store::tiled(format, StoreFrom::Tile, dimension, width, height, address).unwrap();
        Image2 {
            address,
            layout,
            format,
            store,
        }
    }

    /// The programs around tiles: the background stores these words to all samples, the end stores one
    /// image for each, with its tile offset.
    pub fn tile_programs(&mut self, clear: &[u32], targets: &[(&Image2, u32)]) {
        let background = self.background(clear);
        let root = Graphics::default();
        let background = self.fragment_launcher(background, root);
        self.command.bg = program(background);
        self.end_of_tile(targets);
        // Reloading needs textures: partial renders are for the tests that say so.
        self.command.partial_bg = program(background);
    }

    pub fn end_of_tile(&mut self, targets: &[(&Image2, u32)]) {
        let mut table = Vec::new();
        for (image, _) in targets {
            let mut record = [0; 32];
            image.store.pack(&mut record).unwrap();
            table.extend(record);
        }
        let table = self.data.place(&table, 64);
        let text = self.end_text(targets);
        let entry = self.shader(&text);
        let root = Graphics {
            textures: table,
            ..Graphics::default()
        };
        let end = self.fragment_launcher(entry, root);
        self.command.eot = program(end);
        self.command.partial_eot = program(end);
    }

    fn background(&mut self, clear: &[u32]) -> Shader {
        let mask = (1 << count(self.samples)) - 1;
        let mut text = "tile_access imm=0x600\n tile_access imm=0x80c\n".to_owned();
        for (word, value) in clear.iter().enumerate() {
            text += &format!("mov_imm r0, #{value}\n tile_store tw{word}, r0, #{mask}\n");
        }
        text += "tile_fence imm=0x20c\n stop";
        self.shader(&text)
    }

    fn end_text(&self, targets: &[(&Image2, u32)]) -> String {
        let height = if self.samples == Samples::Four {
            16
        } else {
            32
        };
        let multi = self.samples != Samples::One;
        let layered = self.layers > 1;
        let mut text = format!(
            "tile_access imm=0x700
             get_sr r0, %workgroup_id_x
             get_sr r1, %workgroup_id_y
             mov_imm r2, #32
             mov_imm r3, #{height}
             mov_imm r4, #0
             imad r0, r0, r2, r4
             imad r1, r1, r3, r4\n"
        );
        text += if layered {
            "get_sr r5, %layer\n"
        } else {
            "mov_imm r5, #0\n"
        };
        let mode = match (multi, layered) {
            (false, false) => "2d",
            (true, false) => "2d_ms",
            (false, true) => "2d_array",
            (true, true) => "2d_ms_array",
        };
        for (index, (image, offset)) in targets.iter().enumerate() {
            let code = match image.format.tile_word().unwrap().export_code() {
                7 => "norm8",
                5 => "int8",
                1 => "w16",
                _ => "w32",
            };
            let word = offset << 16;
            text += &format!("mov_imm r6, #{word}\n");
            let third = if multi || layered { "r5" } else { "r6" };
            text += &format!(
                "or p0, r0, r0, slot=1
                 or p1, r1, r1, slot=1
                 or p2, {third}, {third}, slot=1
                 or p3, r6, r6, slot=1
                 or r6, r6, r6, wait=1
                 block_store.{mode}.{code} p0, img{index}, wait=1
                 tile_fence imm=0x300, wait=1\n"
            );
        }
        text + "stop"
    }

    /// A viewport over the whole framebuffer.
    pub fn viewport(&self) -> Viewport {
        let [width, height] = self.size;
        let region = RegionClip::of_pixels([0, 0], [width, height]).unwrap();
        Viewport::new(
            [0.0, 0.0],
            [f32::from(width), f32::from(height)],
            [0.0, 1.0],
            region,
        )
    }

    /// A draw of triangles with this many smooth scalars.
    pub fn setup(&self, vertex: Shader, fragment: Shader, buffers: u64, scalars: u8) -> Setup {
        Setup {
            topology: Primitive::Triangles,
            vertices: Vertices::Direct {
                first: 0,
                count: 3,
                instances: 1,
            },
            vertex,
            fragment,
            buffers,
            layout: Layout {
                scalars,
                ..Layout::default()
            },
            interpolation: vec![Interpolation::Smooth; scalars.into()],
            fragment_z: false,
            point_coordinate: false,
            primitive_id: false,
            provoking: Provoking::First,
            control: FragmentControl::default(),
            control2: FragmentControl2::default(),
            cull: Cull::default(),
            viewports: vec![self.viewport()],
            scissors: vec![Scissor::new([0, 0], self.size, [0.0, 1.0]).unwrap()],
            bias: None,
            restart: None,
        }
    }

    fn update(&mut self, piece: &Piece) {
        let mut bytes = [0; 4 * ppp::MAX_WORDS];
        let size = piece.pack(&mut bytes).unwrap();
        let at = self.state.place(&bytes[..size], 4);
        let at = ContextAddress::new(at).unwrap();
        let update = Update::new(at, (size / 4) as u8).unwrap();
        self.record(&Record::Update(update));
    }

    pub fn record(&mut self, record: &Record) {
        let mut bytes = [0; Record::MAX_SIZE];
        let size = record.pack(&mut bytes).unwrap();
        self.records.extend(&bytes[..size]);
    }

    /// Records a draw with all of its state.
    pub fn draw(&mut self, setup: &Setup) {
        let vertex = self.vertex_launcher(setup.vertex, setup.buffers);
        let root = Graphics {
            buffers: setup.buffers,
            ..Graphics::default()
        };
        let fragment = self.fragment_launcher(setup.fragment, root);
        self.draw_with(setup, vertex, fragment);
    }

    /// The same with launchers of the caller's own.
    pub fn draw_with(&mut self, setup: &Setup, vertex: LauncherAddress, fragment: LauncherAddress) {
        let table = Table::new(&Inputs {
            scalars: &setup.interpolation,
            provoking: setup.provoking,
            primitive_id: setup.primitive_id,
            fragment_z: setup.fragment_z,
            point_coordinate: setup.point_coordinate,
        })
        .unwrap();
        let mut bytes = [0; TABLE_SIZE];
        table.pack(&mut bytes).unwrap();
        let table_at = self.heap.place(&bytes, 64);
        let outputs = setup.layout.words().unwrap();
        self.record(&Record::Vertex(VertexState {
            launcher: vertex,
            outputs,
            provoking: setup.provoking,
            primitive_id: setup.primitive_id,
        }));
        let scissor = (self.scissors.len() / scissor::ENTRY_SIZE) as u16;
        for entry in &setup.scissors {
            let mut bytes = [0; scissor::ENTRY_SIZE];
            entry.pack(&mut bytes).unwrap();
            self.scissors.extend(bytes);
        }
        let depth_bias = (self.biases.len() / 12) as u16;
        let mut control = setup.control;
        if let Some(bias) = setup.bias {
            let mut bytes = [0; 12];
            bias.pack(&mut bytes).unwrap();
            self.biases.extend(bytes);
            control.depth_bias = true;
        }
        let mut control2 = setup.control2;
        control2.visibility = control.visibility;
        let mut cull = setup.cull;
        cull.provoking = setup.provoking;
        for piece in [
            Piece::VaryingCounts(VaryingCounts::all(setup.layout.scalars)),
            Piece::Fragment(Fragment {
                bindings: table.count(),
                table: CodeAddress::new(table_at).unwrap(),
                launcher: fragment,
                resources: Fragment::resources(setup.layout.scalars),
            }),
            Piece::Outputs(Outputs::new(&setup.layout, setup.fragment_z).unwrap()),
            Piece::FragmentControl(control),
            Piece::FragmentControl2(control2),
            Piece::Viewports(Viewports(setup.viewports.iter().copied().collect())),
            Piece::WClamp(WClamp {
                primitive_id: setup.primitive_id,
                ..WClamp::default()
            }),
            Piece::Cull(cull),
            Piece::Indices(ArrayIndices {
                scissor,
                depth_bias,
            }),
        ] {
            self.update(&piece);
        }
        if setup.vertices.indices().is_some() {
            self.record(&Record::Restart(setup.restart.unwrap_or(u32::MAX)));
        }
        self.record(&Record::Draw(Draw {
            primitive: setup.topology,
            vertices: setup.vertices,
        }));
    }

    /// The command of all that was recorded.
    pub fn finish(&mut self) -> RenderCommand {
        let mut records = self.records.clone();
        let mut bytes = [0; 4];
        Record::Terminate.pack(&mut bytes).unwrap();
        records.extend(bytes);
        self.stream.write(STREAM, &records);
        let scissors = self.data.place(&self.scissors.clone(), 64);
        let biases = self.data.place(&self.biases.clone(), 64);
        let [width, height] = self.size;
        let command = &mut self.command;
        command.flags |= RenderFlags::PROCESS_EMPTY_TILES;
        command.vdm_ctrl_stream_base = STREAM;
        command.isp_scissor_base = scissors;
        command.isp_dbias_base = biases;
        command.ppp_multisamplectl = SamplePositions::standard(self.samples).pack();
        command.ppp_ctrl = 0x202;
        command.width_px = width;
        command.height_px = height;
        command.layers = self.layers;
        command.utile_width_px = 32;
        command.utile_height_px = if self.samples == Samples::Four {
            16
        } else {
            32
        };
        command.samples = count(self.samples) as u8;
        command.sample_size_b = self.tile_bytes.next_multiple_of(8) as u8;
        command.isp_merge_upper_x = merge_upper(width);
        command.isp_merge_upper_y = merge_upper(height);
        command.isp_bgobjvals |= clear_stencil(0);
        RenderCommand {
            render: *command,
            mappings: self.mappings(),
        }
    }

    /// All of its memory.
    pub fn all(&self) -> [&Memory; 7] {
        [
            &self.arena,
            &self.bodies,
            &self.heap,
            &self.stream,
            &self.state,
            &self.data,
            &self.images,
        ]
    }

    pub fn mappings(&self) -> Arc<Mappings> {
        let all = self.all().into_iter().chain(&self.extra);
        let mut regions: Vec<Region> = all.map(Memory::region).collect();
        regions.sort_by_key(|region| region.start);
        Arc::new(Mappings::new(regions))
    }

    /// Renders all that was recorded.
    pub fn render(&mut self, gpu: &Gpu) -> Result<(), Box<Fault>> {
        let command = self.finish();
        gpu.render(&command, &AtomicBool::new(false), &mut || {})
    }

    /// The bytes of a texel.
    pub fn texel(&self, image: &Image2, x: u32, y: u32, layer: u32, sample: u8) -> Vec<u8> {
        let at = Position {
            x,
            y,
            layer,
            sample,
            level: 0,
        };
        let offset = image.layout.offset(at).unwrap();
        let bytes = usize::from(image.format.element().bytes);
        self.images.read(image.address + offset, bytes)
    }

    /// The first word of a texel.
    pub fn pixel(&self, image: &Image2, x: u32, y: u32) -> u32 {
        let bytes = self.texel(image, x, y, 0, 0);
        u32::from_le_bytes(bytes[..4].try_into().unwrap())
    }
}

pub fn program(launcher: LauncherAddress) -> BgEot {
    BgEot {
        usc: launcher.code().offset(),
        rsrc_spec: 0,
    }
}

/// Object type of a topology.
pub fn object(control2: &mut FragmentControl2, object: ObjectType) {
    control2.front = Face2 {
        object,
        ..control2.front
    };
    control2.back = Face2 {
        object,
        ..control2.back
    };
    control2.no_merge = object != ObjectType::Triangle;
}
