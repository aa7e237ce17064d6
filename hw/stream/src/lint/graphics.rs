// SPDX-License-Identifier: MIT
//! What the reference demands of a render stream.
//!
//! No kernel looks into render streams, and hardware draws something else, or nothing, when their parts
//! disagree. [`report`] walks a stream as hardware does and says what is wrong with it: records and
//! pieces that are not legal, state that a draw lacks, numbers that two records must agree on, and memory
//! that cannot be read.

use super::is_readable;
use crate::coefficient::{self, Source, Table};
use crate::depth_bias;
use crate::error::Error;
use crate::launcher::{Launcher, Samples, Storage};
use crate::ppp::{self, ObjectType, PolygonMode, RegionClip};
use crate::scissor::{self, Scissor};
use crate::vdm::{
    Barrier, Cause, Draw, Primitive, READ_AHEAD, Record, State, VertexState, WalkError, Walker,
};
use crate::window::{ContextAddress, LauncherAddress, RENDER_RESERVED};

/// What a submit says of the pass, as far as its stream depends on it (graphics, 11.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// `vdm_ctrl_stream_base`.
    pub base: u64,
    /// `isp_scissor_base`.
    pub scissors: u64,
    /// `isp_dbias_base`; 0 for none.
    pub depth_biases: u64,
    /// `isp_oclqry_base`; 0 for none.
    pub occlusion: u64,
    /// Pixels of the framebuffer, x and y.
    pub size: [u16; 2],
    /// Samples of a pixel.
    pub samples: Samples,
    /// Bytes of tile memory of a sample.
    pub sample_size: u8,
}

/// A stage with a launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The vertex shader.
    Vertex,
    /// The fragment shader.
    Fragment,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Stage::Vertex => "vertex",
            Stage::Fragment => "fragment",
        })
    }
}

/// Something wrong, and where: a record, a piece, or for what a draw lacks the draw.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{address:#x}: {fault}")]
pub struct Finding {
    /// The address.
    pub address: u64,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong (sections are of graphics-stream).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// 11.1: the stream begins outside the render context, or not at a multiple of 4.
    #[error("the stream begins outside the render context or at an odd address")]
    Base,
    /// A record or piece that cannot be read, or is not legal.
    #[error(transparent)]
    Walk(#[from] Cause),
    /// 2: stream or state in the part of the render context that is the kernel's.
    #[error("in the kernel's part of the render context")]
    Reserved,
    /// 3.2: the stream does not begin with a barrier of all three domains.
    #[error("not a barrier of all three domains at the stream's start")]
    Barrier,
    /// 2: memory behind a terminator or link is not mapped.
    #[error("0x800 bytes behind a terminator or link are not readable")]
    ReadAhead,
    /// 3.10: state that was never set.
    #[error("a draw without {0}")]
    Missing(&'static str),
    /// 3.3: no restart record between an indexed draw and the draw before it.
    #[error("an indexed draw without a restart record")]
    Restart,
    /// 3.5: indices that cannot be read.
    #[error("indices are not readable")]
    Indices,
    /// 3.5: arguments that cannot be read.
    #[error("indirect arguments at {0:#x} are not readable")]
    Arguments(u64),
    /// 5.1: vertex state and outputs piece count different words.
    #[error("vertex state has {vertex} output words, the outputs piece {piece}")]
    OutputWords {
        /// Vertex state.
        vertex: u8,
        /// The piece.
        piece: u8,
    },
    /// 5.1: varying counts and outputs piece count different scalars.
    #[error("{counts} varyings are counted, {words} words are theirs")]
    Varyings {
        /// The counts.
        counts: u16,
        /// What the outputs piece leaves for them.
        words: u16,
    },
    /// 7.3: vertex state, cull word and flat coefficients name different vertices.
    #[error("different provoking vertices")]
    Provoking,
    /// 3.3, 6.9, 5.3: vertex state, second cull word and coefficients disagree about primitive numbers.
    #[error("primitive numbers in some places, not in others")]
    PrimitiveId,
    /// 6.5, 6.6: two words that say the same differ.
    #[error("pieces 4 and 5 differ in {0}")]
    Controls(&'static str),
    /// 6.8: the object type is not what is drawn.
    #[error("object type {object:?} for {primitive:?}")]
    Object {
        /// In the piece.
        object: ObjectType,
        /// In the draw.
        primitive: Primitive,
    },
    /// 6.5: merging of triangles where there are none, or of polygon modes.
    #[error("merging of triangles is on")]
    Merge,
    /// 13: an opaque draw in a pass with several samples.
    #[error("an opaque pass type with several samples")]
    Translucent,
    /// 7.6: points without a size.
    #[error("points without a size")]
    PointSize,
    /// 5.3: the coefficient table cannot be read.
    #[error("the coefficient table at {0:#x} is not readable")]
    TableUnreadable(u64),
    /// 5.3: the coefficient table is not legal.
    #[error(transparent)]
    Table(Error),
    /// 5.3: the table binds other scalars than there are.
    #[error("{bound} scalars are bound, {counted} are counted")]
    Bound {
        /// In the table.
        bound: u16,
        /// In the varying counts.
        counted: u16,
    },
    /// 5.3, 6.4: depth is selected without being bound, or bound without being selected.
    #[error("depth is read in the coefficient table or the outputs piece, not in both")]
    FragmentZ,
    /// 4.4: a launcher that cannot be read or is no legal one.
    #[error("{stage} launcher at {at:#x}: {source}")]
    Launcher {
        /// The stage.
        stage: Stage,
        /// Its address.
        at: u64,
        /// Why.
        source: Error,
    },
    /// 4.4: a launcher that allocates other storage than its stage and pass have.
    #[error("{stage} launcher at {at:#x}: storage {storage:?}")]
    Storage {
        /// The stage.
        stage: Stage,
        /// Its address.
        at: u64,
        /// What it allocates.
        storage: Storage,
    },
    /// 7.4: the scissor entry cannot be read.
    #[error("the scissor entry at {0:#x} is not readable")]
    ScissorUnreadable(u64),
    /// 7.4: the scissor entry is not legal.
    #[error(transparent)]
    Scissor(Error),
    /// 7.4: the scissor is off, or lies outside the framebuffer.
    #[error("no scissor, or one that is larger than the framebuffer")]
    Framebuffer,
    /// 7.4: the region clip does not cover the scissor.
    #[error("the region clip does not cover the scissor")]
    Region,
    /// 7.5: the depth-bias entry cannot be read.
    #[error("the depth-bias entry at {0:#x} is not readable")]
    DepthBias(u64),
    /// 7.9: the occlusion result cannot be read.
    #[error("the occlusion result at {0:#x} is not readable")]
    Occlusion(u64),
}

/// What a stream holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Records walked, of a stream without loops.
    pub records: u64,
    /// Draws among them.
    pub draws: u64,
    /// Things that are wrong.
    pub findings: u64,
}

/// Walks the stream of a pass; the first thing that is wrong is an error.
///
/// `read` copies GPU memory at an address into the slice and says whether all of it is mapped
/// readable.
///
/// # Errors
/// The first of what [`report`] finds.
pub fn check(pass: &Pass, read: impl FnMut(u64, &mut [u8]) -> bool) -> Result<Summary, Finding> {
    let mut first = None;
    let summary = report(pass, read, |finding| {
        first.get_or_insert(finding);
    });
    first.map_or(Ok(summary), Err)
}

/// Walks the stream of a pass and tells `found` of everything that is wrong with it; what ends the walk
/// comes last.
pub fn report(
    pass: &Pass,
    read: impl FnMut(u64, &mut [u8]) -> bool,
    found: impl FnMut(Finding),
) -> Summary {
    let mut summary = Summary::default();
    let mut found = found;
    let mut count = 0;
    let mut sink = |address: u64, fault: Fault| {
        count += 1;
        found(Finding { address, fault });
    };
    match ContextAddress::new(pass.base) {
        Ok(base) => walk(pass, base, read, &mut summary, &mut sink),
        Err(_) => sink(pass.base, Fault::Base),
    }
    summary.findings = count;
    summary
}

/// Takes findings.
type Sink<'a> = dyn FnMut(u64, Fault) + 'a;

fn walk(
    pass: &Pass,
    base: ContextAddress,
    read: impl FnMut(u64, &mut [u8]) -> bool,
    summary: &mut Summary,
    sink: &mut Sink<'_>,
) {
    let mut walker = Walker::new(base, read);
    let mut state = State::default();
    let mut restart = false;
    while let Some(item) = walker.next() {
        let (at, record) = match item {
            Ok(item) => item,
            Err(WalkError { address, cause }) => return sink(address, cause.into()),
        };
        let address = at.address();
        summary.records += 1;
        if summary.records == 1 {
            if !matches!(record, Record::Barrier(barrier) if barrier.is_full()) {
                sink(address, Fault::Barrier);
            }
            check_reserved(at, sink);
        }
        match record {
            Record::Barrier(Barrier { .. }) => {}
            Record::Vertex(vertex) => state.vertex = Some(vertex),
            Record::Restart(index) => {
                state.restart = Some(index);
                restart = true;
            }
            Record::Update(update) => {
                check_reserved(update.at(), sink);
                if let Err(WalkError { address, cause }) = walker.apply(update, &mut state.ppp) {
                    return sink(address, cause.into());
                }
            }
            Record::Link(link) => {
                check_read_ahead(&mut walker, address + record.size() as u64, sink);
                check_reserved(link.target, sink);
            }
            Record::Terminate => {
                check_read_ahead(&mut walker, address + record.size() as u64, sink);
            }
            Record::Draw(draw) => {
                summary.draws += 1;
                if draw.vertices.indices().is_some() && !restart {
                    sink(address, Fault::Restart);
                }
                restart = false;
                let mut checker = Checker {
                    pass,
                    walker: &mut walker,
                    address,
                    sink,
                };
                checker.draw(&draw, &state);
            }
        }
    }
}

fn check_reserved(at: ContextAddress, sink: &mut Sink<'_>) {
    if at.offset() < RENDER_RESERVED {
        sink(at.address(), Fault::Reserved);
    }
}

fn check_read_ahead<R: FnMut(u64, &mut [u8]) -> bool>(
    walker: &mut Walker<R>,
    behind: u64,
    sink: &mut Sink<'_>,
) {
    let mut read = |address: u64, bytes: &mut [u8]| walker.read(address, bytes);
    if !is_readable(&mut read, behind, READ_AHEAD) {
        sink(behind, Fault::ReadAhead);
    }
}

/// Checks one draw.
struct Checker<'a, 's, R> {
    pass: &'a Pass,
    walker: &'a mut Walker<R>,
    address: u64,
    sink: &'a mut Sink<'s>,
}

impl<R: FnMut(u64, &mut [u8]) -> bool> Checker<'_, '_, R> {
    fn fault(&mut self, fault: Fault) {
        (self.sink)(self.address, fault);
    }

    fn fault_if(&mut self, wrong: bool, fault: Fault) {
        if wrong {
            self.fault(fault);
        }
    }

    fn is_readable(&mut self, start: u64, size: u64) -> bool {
        let mut read = |address: u64, bytes: &mut [u8]| self.walker.read(address, bytes);
        is_readable(&mut read, start, size)
    }

    fn draw(&mut self, draw: &Draw, state: &State) {
        self.vertices(draw);
        let Some(vertex) = &state.vertex else {
            return self.fault(Fault::Missing("vertex state"));
        };
        if let Some(kind) = state.ppp.missing() {
            return self.fault(Fault::Missing(kind.name()));
        }
        let Some(record) = state.ppp.record() else {
            return;
        };
        self.outputs(vertex, &record);
        self.controls(draw, &record);
        self.coefficients(vertex, &record);
        self.scissors(&record);
        self.arrays(&record);
        self.launcher(Stage::Vertex, vertex.launcher, Storage::None);
        let units = self.pass.sample_size.div_ceil(8);
        let samples = self.pass.samples;
        let storage = Storage::Tile { samples, units };
        self.launcher(Stage::Fragment, record.fragment.launcher, storage);
    }

    /// 3.5.
    fn vertices(&mut self, draw: &Draw) {
        if let Some(indices) = draw.vertices.indices() {
            let readable = self.is_readable(indices.address.address(), indices.readable());
            self.fault_if(!readable, Fault::Indices);
        }
        if let Some((arguments, size)) = draw.vertices.arguments() {
            let readable = self.is_readable(arguments.get(), size as u64);
            self.fault_if(!readable, Fault::Arguments(arguments.get()));
        }
    }

    /// 5.1 and 7.6.
    fn outputs(&mut self, vertex: &VertexState, record: &ppp::Record) {
        let piece = record.outputs.words;
        let words = Fault::OutputWords {
            vertex: vertex.outputs,
            piece,
        };
        self.fault_if(vertex.outputs != piece, words);
        let scalars = record.outputs.layout().map_or(0, |layout| layout.scalars);
        let varyings = Fault::Varyings {
            counts: record.varyings.total(),
            words: scalars.into(),
        };
        let wrong = record.varyings.total() != u16::from(scalars);
        self.fault_if(wrong, varyings);
    }

    /// 6.5 to 6.8, 7.6, 13.
    fn controls(&mut self, draw: &Draw, record: &ppp::Record) {
        let (first, second) = (&record.control, &record.control2);
        let differ = [
            ("visibility", first.visibility != second.visibility),
            ("tag writes", first.no_tag_write != second.no_tag_write),
            (
                "polygon mode",
                first.front.polygon != second.front.polygon
                    || first.back.polygon != second.back.polygon
                    || first.front.polygon != first.back.polygon,
            ),
            ("object type", second.front.object != second.back.object),
        ];
        for (what, wrong) in differ {
            self.fault_if(wrong, Fault::Controls(what));
        }
        let polygon = first.front.polygon;
        let object = second.front.object;
        let primitive = draw.primitive;
        self.fault_if(
            !is_object(object, primitive, polygon),
            Fault::Object { object, primitive },
        );
        let outlined = polygon != PolygonMode::Fill;
        let apart = object != ObjectType::Triangle || outlined;
        let wrong = apart && !second.no_merge || outlined != first.no_merge;
        self.fault_if(wrong, Fault::Merge);
        let multisampled = self.pass.samples != Samples::One;
        let wrong = multisampled && !second.pass.is_translucent();
        self.fault_if(wrong, Fault::Translucent);
        let points = primitive == Primitive::Points;
        self.fault_if(points && !record.outputs.point_size, Fault::PointSize);
    }

    /// 5.3, 7.3 and what goes with primitive numbers.
    fn coefficients(&mut self, vertex: &VertexState, record: &ppp::Record) {
        let wrong = vertex.provoking != record.cull.provoking;
        self.fault_if(wrong, Fault::Provoking);
        let mut bytes = [0; coefficient::TABLE_SIZE];
        let at = record.fragment.table.address();
        if !self.walker.read(at, &mut bytes) {
            return self.fault(Fault::TableUnreadable(at));
        }
        let table = match Table::unpack(&bytes, record.fragment.bindings) {
            Ok(table) => table,
            Err(error) => return self.fault(Fault::Table(error)),
        };
        let varyings = table.bindings().iter().skip(1);
        let varyings = varyings.filter(|binding| binding.source == Source::Varying);
        let flat = varyings.clone().filter_map(|b| b.shade.provoking());
        let wrong = flat.into_iter().any(|flat| flat != vertex.provoking);
        // Once is enough.
        self.fault_if(
            wrong && vertex.provoking == record.cull.provoking,
            Fault::Provoking,
        );
        let bound = varyings.map(|binding| u16::from(binding.components)).sum();
        let counted = record.varyings.total();
        self.fault_if(bound != counted, Fault::Bound { bound, counted });
        let depth = table.register_of(Source::FragmentZ).is_some();
        self.fault_if(depth != record.outputs.fragment_z, Fault::FragmentZ);
        let number = table.register_of(Source::PrimitiveId).is_some();
        let wrong = number != vertex.primitive_id || number != record.w_clamp.primitive_id;
        self.fault_if(wrong, Fault::PrimitiveId);
    }

    /// 7.4.
    fn scissors(&mut self, record: &ppp::Record) {
        self.fault_if(!record.control.scissor, Fault::Framebuffer);
        for (i, viewport) in record.viewports.0.iter().enumerate() {
            let index = u64::from(record.indices.scissor) + i as u64;
            let at = entry(self.pass.scissors, index, scissor::ENTRY_SIZE);
            let mut bytes = [0; scissor::ENTRY_SIZE];
            if !self.walker.read(at, &mut bytes) {
                self.fault(Fault::ScissorUnreadable(at));
                continue;
            }
            let scissor = match Scissor::unpack(&bytes) {
                Ok(scissor) => scissor,
                Err(error) => {
                    self.fault(Fault::Scissor(error));
                    continue;
                }
            };
            let [right, bottom] = scissor.max();
            let [width, height] = self.pass.size;
            self.fault_if(right > width || bottom > height, Fault::Framebuffer);
            self.fault_if(!covers(viewport.region, &scissor), Fault::Region);
        }
    }

    /// 7.5 and 7.9.
    fn arrays(&mut self, record: &ppp::Record) {
        if record.control.depth_bias {
            let size = depth_bias::ENTRY_SIZE;
            let index = record.indices.depth_bias.into();
            let at = entry(self.pass.depth_biases, index, size);
            let readable = self.pass.depth_biases != 0 && self.is_readable(at, size as u64);
            self.fault_if(!readable, Fault::DepthBias(at));
        }
        if record.control.visibility != ppp::Visibility::None {
            let at = entry(self.pass.occlusion, record.control.occlusion.into(), 8);
            let readable = self.pass.occlusion != 0 && self.is_readable(at, 8);
            self.fault_if(!readable, Fault::Occlusion(at));
        }
    }

    /// 4.4.
    fn launcher(&mut self, stage: Stage, launcher: LauncherAddress, expected: Storage) {
        let at = launcher.code().address();
        let mut bytes = [0; Launcher::MAX_SIZE];
        let mut len = 0;
        // What is mapped of it: launchers are shorter than the longest.
        for chunk in bytes.chunks_mut(LauncherAddress::ALIGN as usize) {
            if !self.walker.read(at + len as u64, chunk) {
                break;
            }
            len += chunk.len();
        }
        match Launcher::unpack(launcher, &bytes[..len]) {
            Err(source) => self.fault(Fault::Launcher { stage, at, source }),
            Ok((launcher, _)) => {
                let storage = launcher.storage;
                let wrong = storage != expected;
                self.fault_if(wrong, Fault::Storage { stage, at, storage });
            }
        }
    }
}

/// The address of an array's entry.
const fn entry(base: u64, index: u64, size: usize) -> u64 {
    base.saturating_add(index * size as u64)
}

/// Whether the object type is that of the primitive (6.8).
const fn is_object(object: ObjectType, primitive: Primitive, polygon: PolygonMode) -> bool {
    match primitive {
        Primitive::Points => matches!(object, ObjectType::PointUv10 | ObjectType::PointUv01),
        Primitive::Lines | Primitive::LineStrip | Primitive::LineLoop => {
            matches!(object, ObjectType::Line)
        }
        Primitive::Triangles
        | Primitive::TriangleStrip
        | Primitive::TriangleFan
        | Primitive::Quads
        | Primitive::QuadStrip => matches!(
            (object, polygon),
            (ObjectType::Triangle, PolygonMode::Fill)
                | (ObjectType::LineFilled, PolygonMode::Line)
                | (ObjectType::PointFilled, PolygonMode::Point)
        ),
    }
}

/// Whether the tiles hold all pixels of the scissor (7.4).
fn covers(region: RegionClip, scissor: &Scissor) -> bool {
    if scissor.is_empty() {
        return true;
    }
    let tiles = |pixels: [u16; 2]| pixels.map(|pixel| pixel / ppp::TILE);
    let (first, last) = (
        tiles(scissor.min()),
        tiles(scissor.max().map(|end| end - 1)),
    );
    [0, 1]
        .iter()
        .all(|&i| region.min()[i] <= first[i] && last[i] <= region.max()[i])
}
