// SPDX-License-Identifier: MIT
//! Render passes: what is between the beginning and the end of an instance of rendering becomes one render
//! command.
//!
//! Before a tile is shaded a *background* program fills it, from memory or with clear values; behind it
//! an *end-of-tile* program stores it (graphics, 9; HW). Both are compiled once for each combination of
//! formats. Where the rendering area is not the whole of the attachments, tiles reach beyond it: they are
//! loaded then, and what is to be cleared is cleared by drawing.

use std::sync::Arc;

use agx_compiler::tile::{Background, BackgroundAttachment, Fill, Store, StoreAttachment};
use agx_hw::launcher::Samples;
use agx_hw::layout::Memory;
use agx_hw::pass::{self, DepthFormat, PppControl, SamplePositions, Surface, ZlsControl};
use agx_hw::tile::{self, Layout as TileLayout};
use agx_hw::vdm::{Barrier, Link, Record};
use agx_hw::window::{ContextAddress, LauncherAddress, READ_AHEAD};
use agx_hw::{depth_bias, scissor};
use agx_uapi::abi::{BgEot, CmdRender, RenderFlags, ZlsBuffer};
use ash::vk;

use super::buffer::CommandBuffer;
use super::chunk::{CHUNK, Piece, Use};
use super::dispatch::put_words;
use super::segment::{Segment, Stamp, Work};
use crate::debug;
use crate::error::{VkResult, record};
use crate::host::{HostVec, push};
use crate::image::{ImageView, description};
use crate::program::Program;
use crate::rendering::{MAX_COLOUR, Merged, Rendering, Target};

/// Bytes of a slot in a table of textures.
const SLOT: usize = 32;
/// Bytes of a clear value in the memory of a background program.
const CLEAR: usize = 16;
/// What must stay free in a chunk behind a draw: a link, and what command fetch reads ahead.
const TAIL: usize = 8 + READ_AHEAD as usize;

/// A render pass that is being recorded.
pub(super) struct Pass {
    pub(super) rendering: Rendering,
    /// Pixels of the attachments.
    pub(super) size: [u16; 2],
    layers: u16,
    samples: Samples,
    tile: TileLayout,
    /// The first record of the vertex stream.
    base: u64,
    chunk: Piece,
    used: usize,
    pub(super) scissors: HostVec<[u8; scissor::ENTRY_SIZE]>,
    pub(super) depth_biases: HostVec<[u8; depth_bias::ENTRY_SIZE]>,
    /// Counters of queries that ended, and their queries.
    pub(super) counted: HostVec<(u64, u64)>,
    /// Timestamps to write when it has ended.
    pub(super) stamps: HostVec<Stamp>,
}

/// The background and end-of-tile programs of a device.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TileProgram {
    Background(Background),
    Store(Store),
}

impl CommandBuffer {
    /// Begins rendering.
    ///
    /// # Errors
    /// When there is no memory, or the attachments cannot be rendered to.
    pub(super) fn begin_rendering(&mut self, mut rendering: Rendering) -> VkResult {
        if rendering.view_mask != 0 {
            rendering.layers = u32::BITS - rendering.view_mask.leading_zeros();
        }
        self.cut(None)?;
        // What is cleared first is cleared for all subpasses.
        let merged = rendering.merged.take();
        let views = rendering
            .colour
            .iter()
            .flatten()
            .chain(&rendering.depth)
            .chain(&rendering.stencil);
        let mut size = None::<[u32; 2]>;
        let mut samples = Samples::One;
        for target in views {
            let view = target.view();
            let extent = view.extent();
            // Of several sizes the largest, of which the area is a part then: all of a tile is stored.
            size = Some(size.map_or(extent, |size| {
                [size[0].max(extent[0]), size[1].max(extent[1])]
            }));
            samples =
                description::samples(view.image().description.samples).unwrap_or(Samples::One);
        }
        let area = rendering.area;
        let size = size.unwrap_or([
            area.offset.x as u32 + area.extent.width,
            area.offset.y as u32 + area.extent.height,
        ]);
        let size = size.map(|size| size.clamp(1, 16384) as u16);
        let formats: arrayvec::ArrayVec<_, MAX_COLOUR> = rendering
            .colour
            .iter()
            .map(|target| target.as_ref().map(|target| target.view().format))
            .collect();
        let tile = TileLayout::new(&formats, samples).map_err(record)?;
        let chunk = self.take(Use::Context, CHUNK as usize, 64)?;
        let host = self.host();
        let layers = rendering.layers.clamp(1, 2048) as u16;
        let mut pass = Pass {
            rendering,
            size,
            layers,
            samples,
            tile,
            base: chunk.address,
            chunk,
            used: 0,
            scissors: host.vec(),
            depth_biases: host.vec(),
            counted: host.vec(),
            stamps: host.vec(),
        };
        pass.write(Record::Barrier(Barrier::START))?;
        let partial = !pass.covers();
        self.drawing.pass = Some(pass);
        if partial {
            self.clear_area()?;
        }
        self.go_on_rendering(merged);
        Ok(())
    }

    /// Goes on with another subpass in the same pass: what is bound and set for draws stays, but attachments
    /// are others.
    pub(super) fn go_on_rendering(&mut self, merged: Option<Merged>) {
        if let Some(pass) = &mut self.drawing.pass {
            pass.rendering.merged = merged;
        }
        self.drawing.forget();
    }

    /// Ends rendering: the pass becomes a command.
    ///
    /// # Errors
    /// When there is no memory.
    pub(super) fn end_rendering(&mut self) -> VkResult {
        let Some(mut pass) = self.drawing.pass.take() else {
            return Ok(());
        };
        pass.write(Record::Terminate)?;
        // What draws had copied for them comes first.
        self.cut(None)?;
        let render = self.render_command(&pass)?;
        let mut stamps = pass.stamps.iter();
        push(
            &mut self.segments,
            Segment {
                work: Work::Render(render),
                begun: None,
                ended: stamps.next().copied(),
            },
        )?;
        for (counter, query) in &pass.counted {
            self.make_available(*counter, *query)?;
        }
        for stamp in stamps {
            self.stamp_now(*stamp)?;
        }
        self.resolve_attachments(&pass.rendering)
    }

    /// Ends rendering and goes on with it in another command, which sees what this one wrote: for barriers in
    /// rendering, that attachments are read after.
    ///
    /// # Errors
    /// When there is no memory.
    pub(super) fn split_rendering(&mut self) -> VkResult {
        let Some(pass) = &mut self.drawing.pass else {
            return Ok(());
        };
        let mut second = pass.rendering.clone();
        for target in second.targets_mut() {
            target.load = vk::AttachmentLoadOp::LOAD;
        }
        for target in pass.rendering.targets_mut() {
            target.store = vk::AttachmentStoreOp::STORE;
            target.resolve = None;
        }
        self.end_rendering()?;
        self.begin_rendering(second)
    }

    /// What is resolved when rendering ends.
    fn resolve_attachments(&mut self, rendering: &Rendering) -> VkResult {
        let of = |aspect| move |target| (target, aspect);
        let targets = (rendering.colour.iter())
            .map(of(vk::ImageAspectFlags::COLOR))
            .chain([
                (&rendering.depth, vk::ImageAspectFlags::DEPTH),
                (&rendering.stencil, vk::ImageAspectFlags::STENCIL),
            ]);
        for (target, aspect) in targets {
            let Some((target, resolve)) = target.as_ref().and_then(|t| Some((t, t.resolve?)))
            else {
                continue;
            };
            // SAFETY: views live as long as command buffers use them, by the specification.
            let to = unsafe { resolve.view.as_ref() };
            let (area, layers) = (rendering.area, rendering.layers);
            let views = rendering.view_mask;
            self.resolve(
                [target.view(), to],
                aspect,
                area,
                layers,
                views,
                resolve.mode,
            )?;
        }
        Ok(())
    }

    fn render_command(&mut self, pass: &Pass) -> VkResult<CmdRender> {
        let mut render = CmdRender {
            vdm_ctrl_stream_base: pass.base,
            ppp_multisamplectl: SamplePositions::standard(pass.samples).pack(),
            ppp_ctrl: PppControl::default().pack(),
            width_px: pass.size[0],
            height_px: pass.size[1],
            layers: pass.layers,
            samples: pass.samples.count() as u8,
            sample_size_b: pass.tile.sample_size(),
            isp_merge_upper_x: pass::merge_upper(pass.size[0]),
            isp_merge_upper_y: pass::merge_upper(pass.size[1]),
            isp_bgobjvals: pass::BACKGROUND_VALUES,
            ..CmdRender::default()
        };
        let [width, height] = tile::size(pass.samples);
        (render.utile_width_px, render.utile_height_px) = (width as u8, height as u8);
        render.isp_oclqry_base = self.device().occlusion.address().unwrap_or(0);
        render.isp_scissor_base = self.array(&pass.scissors)?;
        render.isp_dbias_base = match pass.depth_biases.is_empty() {
            true => 0,
            false => self.array(&pass.depth_biases)?,
        };
        self.depth_stencil(pass, &mut render)?;
        let whole = pass.covers();
        let colour = || pass.rendering.colour.iter().enumerate();
        let fill = |target: &Target| match target.load {
            vk::AttachmentLoadOp::CLEAR if whole => Some(Fill::Clear),
            vk::AttachmentLoadOp::DONT_CARE if whole => None,
            // Without an operation, too: what is not drawn to keeps its contents.
            _ => Some(Fill::Load),
        };
        let mut background = [None; MAX_COLOUR];
        let mut reload = [None; MAX_COLOUR];
        let (mut store, mut save) = ([None; MAX_COLOUR], [None; MAX_COLOUR]);
        let mut clears = false;
        for (at, target) in colour() {
            let (Some(target), Some(Some(placed))) = (target, pass.tile.attachments().get(at))
            else {
                continue;
            };
            let Some(format) = agx_compiler::colour_format(target.view().format) else {
                continue;
            };
            let word = placed.offset / 4;
            let filled = |fill| BackgroundAttachment { format, word, fill };
            background[at] = fill(target).map(filled);
            clears |= fill(target) == Some(Fill::Clear) && is_stored(target);
            reload[at] = Some(filled(Fill::Load));
            let stored = StoreAttachment {
                word,
                export_code: placed.word.export_code(),
            };
            save[at] = Some(stored);
            store[at] = is_stored(target).then_some(stored);
        }
        let program = |attachments: [Option<BackgroundAttachment>; MAX_COLOUR]| {
            let key = Background {
                attachments,
                samples: pass.samples.count() as u8,
                layered: pass.layers > 1,
            };
            let any = attachments.iter().any(Option::is_some);
            any.then_some(TileProgram::Background(key))
        };
        let export = |attachments| {
            TileProgram::Store(Store {
                attachments,
                samples: pass.samples.count() as u8,
                layered: pass.layers > 1,
            })
        };
        let (background, reload) = (program(background), program(reload));
        render.bg = self.tile_program(pass, background)?;
        // A pass that begins with whatever is there still goes on with what it drew.
        render.partial_bg = match background == reload {
            true => render.bg,
            false => self.tile_program(pass, reload)?,
        };
        render.eot = self.tile_program(pass, Some(export(store)))?;
        // What is not stored at the end is needed until then.
        render.partial_eot = match store == save {
            true => render.eot,
            false => self.tile_program(pass, Some(export(save)))?,
        };
        if clears {
            render.flags |= RenderFlags::PROCESS_EMPTY_TILES;
        }
        Ok(render)
    }

    /// Writes the array that a pass's draws index.
    fn array<const SIZE: usize>(&mut self, entries: &[[u8; SIZE]]) -> VkResult<u64> {
        let piece = self.take(Use::Data, (SIZE * entries.len()).max(SIZE), 64)?;
        // SAFETY: just taken.
        let bytes = unsafe { piece.bytes() };
        bytes.fill(0);
        for (to, entry) in bytes.chunks_exact_mut(SIZE).zip(entries) {
            to.copy_from_slice(entry);
        }
        Ok(piece.address)
    }

    /// Depth and stencil: what is loaded, cleared, stored, and where it lies.
    fn depth_stencil(&mut self, pass: &Pass, render: &mut CmdRender) -> VkResult {
        let rendering = &pass.rendering;
        let whole = pass.covers();
        let surface = |target: &Option<Target>| match target {
            None => Surface::default(),
            Some(target) => Surface {
                // What is not rendered keeps its contents.
                load: !whole
                    || matches!(
                        target.load,
                        vk::AttachmentLoadOp::LOAD | vk::AttachmentLoadOp::NONE_EXT
                    ),
                store: is_stored(target) || !whole,
                ..Surface::default()
            },
        };
        let mut control = ZlsControl {
            depth: surface(&rendering.depth),
            stencil: surface(&rendering.stencil),
            format: DepthFormat::Float32,
        };
        let cleared =
            |target: &Target| target.load == vk::AttachmentLoadOp::CLEAR && is_stored(target);
        if let Some(target) = &rendering.depth {
            let view = target.view();
            render.depth = zls_buffer(view, vk::ImageAspectFlags::DEPTH, pass.layers)?;
            // SAFETY: the union's member for depth formats.
            let clear = unsafe { target.clear.depth_stencil.depth };
            render.isp_bgobjdepth = match view.vulkan_format {
                vk::Format::D16_UNORM => {
                    control.format = DepthFormat::Unorm16;
                    render.flags |= RenderFlags::DBIAS_IS_INT;
                    (f64::from(clear.clamp(0.0, 1.0)) * 65535.0).round_ties_even() as u32
                }
                _ => clear.to_bits(),
            };
            if cleared(target) {
                render.flags |= RenderFlags::PROCESS_EMPTY_TILES;
            }
        }
        if let Some(target) = &rendering.stencil {
            let view = target.view();
            render.stencil = zls_buffer(view, vk::ImageAspectFlags::STENCIL, pass.layers)?;
            // SAFETY: as above.
            let clear = unsafe { target.clear.depth_stencil.stencil };
            render.isp_bgobjvals |= clear & 0xff;
            if cleared(target) {
                render.flags |= RenderFlags::PROCESS_EMPTY_TILES;
            }
        }
        if let Some(target) = rendering.depth.as_ref().or(rendering.stencil.as_ref()) {
            let [width, height] = target.view().extent();
            render.isp_zls_pixels = pass::pixels(width, height).map_err(record)?;
            render.zls_ctrl = agx_uapi::abi::ZlsControl::from_bits_retain(control.pack());
        }
        Ok(())
    }

    /// A background or end-of-tile program of a pass, ready to be launched; nothing for none.
    fn tile_program(&mut self, pass: &Pass, which: Option<TileProgram>) -> VkResult<BgEot> {
        let Some(which) = which else {
            return Ok(BgEot::default());
        };
        let program = self
            .device()
            .tile_programs
            .get(self.device(), which, &pass.tile)?;
        let layered = pass.layers > 1;
        let mut textures = [[0; SLOT]; MAX_COLOUR];
        let mut clears = [[0; CLEAR]; MAX_COLOUR];
        for (at, target) in pass.rendering.colour.iter().enumerate() {
            let Some(target) = target else { continue };
            textures[at] = match which {
                TileProgram::Background(_) => target.view().load_record(layered)?,
                TileProgram::Store(_) => target.view().store_record(layered)?,
            };
            // SAFETY: a union of four words, of which only the bits count.
            let words = unsafe { target.clear.color.uint32 };
            put_words(&mut clears[at], &words);
        }
        let launcher = self.launch_tile_program(&program, &textures, &clears)?;
        Ok(BgEot {
            usc: pass::program(launcher),
            rsrc_spec: 0,
        })
    }

    /// Writes the tables and the launch program of a program of tiles.
    fn launch_tile_program(
        &mut self,
        program: &Arc<Program>,
        textures: &[[u8; SLOT]; MAX_COLOUR],
        clears: &[[u8; CLEAR]; MAX_COLOUR],
    ) -> VkResult<LauncherAddress> {
        let slots = program.textures.len() + program.samplers.len();
        let table = self.take(Use::Data, (SLOT * slots).max(SLOT), 64)?;
        // SAFETY: just taken.
        let bytes = unsafe { table.bytes() };
        bytes.fill(0);
        let samplers = SLOT * program.textures.len();
        for (slot, to) in program.textures.iter().zip(bytes.chunks_exact_mut(SLOT)) {
            // Descriptors are as far apart as those of sampled images.
            let at = slot.offset as usize / 64;
            to.copy_from_slice(textures.get(at).unwrap_or(&[0; SLOT]));
        }
        for to in bytes[samplers..].chunks_exact_mut(SLOT) {
            let fetch = agx_hw::sampler::Sampler::fetch().bits();
            to[..8].copy_from_slice(&fetch.to_le_bytes());
        }
        let constants = clears.concat();
        self.write_root(
            program,
            &super::root::Special {
                textures: table.address,
                samplers: table.address + samplers as u64,
                constants: Some(&constants),
                ..super::root::Special::default()
            },
        )
    }
}

/// Whether what was rendered goes to memory: resolves read it there, whatever becomes of it then.
fn is_stored(target: &Target) -> bool {
    target.store == vk::AttachmentStoreOp::STORE || target.resolve.is_some()
}

/// Where a depth or stencil attachment lies.
fn zls_buffer(view: &ImageView, aspect: vk::ImageAspectFlags, layers: u16) -> VkResult<ZlsBuffer> {
    let image = view.image();
    let (Some(plane), level) = (image.plane(aspect), view.level as usize) else {
        return Ok(ZlsBuffer::default());
    };
    let Memory::Tiled(tiled) = &plane.memory else {
        debug::error(&"a depth attachment that is linear");
        return Err(vk::Result::ERROR_UNKNOWN);
    };
    let Some(level) = tiled.levels().get(level) else {
        return Err(vk::Result::ERROR_UNKNOWN);
    };
    let layer = u64::from(view.layer) * tiled.layer_stride();
    Ok(ZlsBuffer {
        base: image.address + plane.offset + layer + level.offset,
        stride: match layers {
            1 => 0,
            _ => pass::layer_stride(tiled.layer_stride()).map_err(record)?,
        },
        ..ZlsBuffer::default()
    })
}

impl Pass {
    /// Whether the area that is rendered is all of the attachments.
    fn covers(&self) -> bool {
        let area = self.rendering.area;
        // Layers that are no views keep their contents.
        let mask = self.rendering.view_mask;
        mask & mask.wrapping_add(1) == 0
            && area.offset.x <= 0
            && area.offset.y <= 0
            && i64::from(area.offset.x) + i64::from(area.extent.width) >= self.size[0].into()
            && i64::from(area.offset.y) + i64::from(area.extent.height) >= self.size[1].into()
    }

    /// Layers of the attachments.
    pub(super) fn layers(&self) -> u16 {
        self.layers
    }

    /// Samples of a pixel.
    pub(super) fn samples(&self) -> Samples {
        self.samples
    }

    /// Whether there is room for so many bytes of records.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.used + bytes + TAIL <= CHUNK as usize
    }

    /// Goes on in another chunk.
    pub(super) fn go_on(&mut self, chunk: Piece) -> VkResult {
        let target = ContextAddress::new(chunk.address).map_err(record)?;
        self.write(Record::Link(Link {
            target,
            with_return: false,
        }))?;
        (self.chunk, self.used) = (chunk, 0);
        Ok(())
    }

    /// Appends a record.
    pub(super) fn write(&mut self, what: Record) -> VkResult {
        let used = self.used;
        self.used += what.pack(&mut self.rest()[..]).map_err(record)?;
        debug_assert!(used <= self.used);
        Ok(())
    }

    /// So many bytes more have records in them.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.used += bytes;
    }

    /// What is left of the chunk.
    pub(super) fn rest(&mut self) -> &mut [u8] {
        // SAFETY: the chunk is of the command buffer that is being recorded; no other reference
        // lives.
        unsafe { self.chunk.bytes() }
            .get_mut(self.used..)
            .unwrap_or_default()
    }
}
