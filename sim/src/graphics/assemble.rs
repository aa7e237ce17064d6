// SPDX-License-Identifier: MIT
//! Which vertices a draw shades, and which primitives they make up (graphics, 3.5 and 3.6).
//!
//! A draw is cut into [`Chunk`]s of primitives, which other threads then work on; where it is cut does
//! not depend on their number. A vertex that several primitives of a chunk share is usually shaded
//! once. Vertex numbers include the first or base vertex (isa-3, 1.4; INFERRED), wrapping at 32 bits;
//! the restart index is compared before that (graphics, 17 row 5). Primitives are numbered from 0 in each
//! instance, restarts notwithstanding (Vulkan).
//!
//! The order of corners is Vulkan's, so that the provoking vertex stands at the place that the draw's
//! convention names: the last vertex of a strip's or fan's triangle is its newest (INFERRED for odd ones
//! with last-vertex convention). Quads (INFERRED) are two triangles.
//!
//! Indices beyond the record's extent read as 0 (graphics, 17 row 4: open); strict mode faults, also on
//! memory that is not mapped.

use agx_hw::vdm::{DrawArguments, IndexedDrawArguments, Indices, Primitive, Provoking, Vertices};

use super::walk::Call;
use super::{refuse, strict};
use crate::fault::Fault;
use crate::memory::Mappings;

/// Most primitives of a chunk.
const MAX_PRIMITIVES: usize = 512;
/// Entries of the table that finds shaded vertices again.
const REUSE: usize = 256;
/// Bytes of indices that are fetched at once.
const BLOCK: usize = 4096;

/// Primitives of a draw, and the vertices that they need.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    /// Vertex and instance of each invocation of the vertex shader.
    pub(super) invocations: Vec<[u32; 2]>,
    /// Invocations at the corners; of points and lines the first one or two count.
    pub(super) primitives: Vec<[u32; 3]>,
    /// Their numbers.
    pub(super) ids: Vec<u32>,
}

/// What a draw draws, once indirect arguments are read.
struct Counts {
    first: u32,
    count: u32,
    instances: u32,
    /// Index of the first index.
    skip: u32,
}

/// Cuts a draw into chunks.
pub(super) fn chunks(
    provoking: Provoking,
    call: &Call<'_>,
    mappings: &Mappings,
    is_strict: bool,
    emit: &mut dyn FnMut(Chunk) -> Result<(), Box<Fault>>,
) -> Result<(), Box<Fault>> {
    let at = call.record;
    let counts = counts(call, mappings)?;
    let restart = match call.draw.vertices.indices() {
        Some(indices) if indices.restart => match call.state.restart {
            Some(index) => Some(index),
            None => return Err(refuse(at, "restart without a comparand".to_owned())),
        },
        Some(_) if is_strict && call.state.restart.is_none() => {
            return Err(strict(
                at,
                "an indexed draw without a restart record".to_owned(),
            ));
        }
        _ => None,
    };
    let mut builder = Builder {
        topology: call.draw.primitive,
        provoking,
        chunk: Chunk::default(),
        reuse: vec![(0, 0, 0); REUSE],
        epoch: 1,
        instance: 0,
        recent: [0; 4],
        since: 0,
        first: 0,
        id: 0,
        emit,
    };
    let instances = if counts.count == 0 {
        0
    } else {
        counts.instances
    };
    for instance in 0..instances {
        builder.start(instance);
        match call.draw.vertices.indices() {
            None => {
                for vertex in 0..counts.count {
                    builder.vertex(counts.first.wrapping_add(vertex))?;
                }
            }
            Some(indices) => {
                let mut reader = IndexReader::new(indices, mappings, is_strict, at);
                for number in 0..counts.count {
                    let number = u64::from(counts.skip) + u64::from(number);
                    let index = reader.get(number)?;
                    if Some(index) == restart {
                        builder.restart()?;
                    } else {
                        builder.vertex(index.wrapping_add(counts.first))?;
                    }
                }
            }
        }
        builder.restart()?;
    }
    builder.finish()
}

fn counts(call: &Call<'_>, mappings: &Mappings) -> Result<Counts, Box<Fault>> {
    let at = call.record;
    let mut bytes = [0; IndexedDrawArguments::SIZE];
    if let Some((address, size)) = call.draw.vertices.arguments()
        && !mappings.read(address.get(), &mut bytes[..size])
    {
        let address = address.get();
        let reason = format!("indirect arguments at {address:#x} are not readable");
        return Err(refuse(at, reason));
    }
    let wrong = |error: agx_hw::Error| refuse(at, error.to_string());
    Ok(match call.draw.vertices {
        Vertices::Direct {
            first,
            count,
            instances,
        } => Counts {
            first,
            count,
            instances,
            skip: 0,
        },
        Vertices::Indexed {
            base,
            count,
            instances,
            ..
        } => Counts {
            first: base.cast_unsigned(),
            count,
            instances,
            skip: 0,
        },
        Vertices::Indirect { .. } => {
            let arguments = DrawArguments::unpack(&bytes).map_err(wrong)?;
            Counts {
                first: arguments.first,
                count: arguments.count,
                instances: arguments.instances,
                skip: 0,
            }
        }
        Vertices::IndexedIndirect { .. } => {
            let arguments = IndexedDrawArguments::unpack(&bytes).map_err(wrong)?;
            Counts {
                first: arguments.base.cast_unsigned(),
                count: arguments.count,
                instances: arguments.instances,
                skip: arguments.first,
            }
        }
    })
}

/// Reads indices, a block at a time.
struct IndexReader<'m> {
    mappings: &'m Mappings,
    strict: bool,
    record: u64,
    address: u64,
    bytes: u64,
    readable: u64,
    block: Vec<u8>,
    /// Offset in the index buffer of the block.
    at: u64,
}

impl<'m> IndexReader<'m> {
    fn new(
        indices: &Indices,
        mappings: &'m Mappings,
        strict: bool,
        record: u64,
    ) -> IndexReader<'m> {
        IndexReader {
            mappings,
            strict,
            record,
            address: indices.address.address(),
            bytes: indices.size.bytes().into(),
            readable: indices.readable(),
            block: Vec::new(),
            at: 0,
        }
    }

    #[inline]
    fn get(&mut self, number: u64) -> Result<u32, Box<Fault>> {
        let offset = number * self.bytes;
        if offset < self.at || offset + self.bytes > self.at + self.block.len() as u64 {
            self.fetch(offset)?;
        }
        let from = (offset - self.at) as usize;
        let Some(bytes) = self.block.get(from..from + self.bytes as usize) else {
            if self.strict {
                let reason = format!("index {number} lies beyond the extent of the draw's indices");
                return Err(strict(self.record, reason));
            }
            return Ok(0);
        };
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        Ok(u32::from_le_bytes(word))
    }

    #[cold]
    fn fetch(&mut self, offset: u64) -> Result<(), Box<Fault>> {
        let left = self.readable.saturating_sub(offset).min(BLOCK as u64);
        // Whole indices only.
        let left = left / self.bytes * self.bytes;
        self.at = offset;
        self.block.clear();
        self.block.resize(left as usize, 0);
        if self.mappings.read(self.address + offset, &mut self.block) {
            return Ok(());
        }
        if self.strict {
            let address = self.address + offset;
            return Err(strict(
                self.record,
                format!("indices at {address:#x} are not readable"),
            ));
        }
        // Up to where it is mapped.
        for (by, byte) in self.block.iter_mut().enumerate() {
            let mut one = [0];
            *byte = match self
                .mappings
                .read(self.address + offset + by as u64, &mut one)
            {
                true => one[0],
                false => 0,
            };
        }
        Ok(())
    }
}

struct Builder<'e> {
    topology: Primitive,
    provoking: Provoking,
    chunk: Chunk,
    /// Vertex, invocation, and the epoch in which that was so.
    reuse: Vec<(u32, u32, u32)>,
    /// Counts chunks and instances.
    epoch: u32,
    instance: u32,
    /// The last vertices, the newest at the end.
    recent: [u32; 4],
    /// Vertices since the last restart.
    since: u32,
    /// The first of them.
    first: u32,
    id: u32,
    emit: &'e mut dyn FnMut(Chunk) -> Result<(), Box<Fault>>,
}

impl Builder<'_> {
    fn start(&mut self, instance: u32) {
        self.instance = instance;
        self.epoch += 1;
        self.since = 0;
        self.id = 0;
    }

    /// Ends the strip, fan or loop.
    fn restart(&mut self) -> Result<(), Box<Fault>> {
        if self.topology == Primitive::LineLoop && self.since > 1 {
            let [.., last] = self.recent;
            self.primitive([last, self.first, self.first])?;
        }
        self.since = 0;
        Ok(())
    }

    #[inline]
    fn vertex(&mut self, vertex: u32) -> Result<(), Box<Fault>> {
        let [_, a, b, c] = self.recent;
        self.recent = [a, b, c, vertex];
        if self.since == 0 {
            self.first = vertex;
        }
        self.since += 1;
        let (since, first) = (self.since, self.first);
        let last = self.provoking == Provoking::Last;
        match self.topology {
            Primitive::Points => self.primitive([vertex; 3]),
            Primitive::Lines if since % 2 == 0 => self.primitive([c, vertex, vertex]),
            Primitive::LineStrip | Primitive::LineLoop if since > 1 => {
                self.primitive([c, vertex, vertex])
            }
            Primitive::Triangles if since % 3 == 0 => self.primitive([b, c, vertex]),
            Primitive::TriangleStrip if since > 2 => {
                // The third vertex makes triangle 0.
                self.primitive(match (since % 2 == 1, last) {
                    (true, _) => [b, c, vertex],
                    (false, false) => [b, vertex, c],
                    (false, true) => [c, b, vertex],
                })
            }
            Primitive::TriangleFan if since > 2 => self.primitive(match last {
                false => [c, vertex, first],
                true => [first, c, vertex],
            }),
            Primitive::Quads if since % 4 == 0 => self.quad([a, b, c, vertex], last),
            Primitive::QuadStrip if since > 3 && since % 2 == 0 => {
                self.quad([a, b, vertex, c], last)
            }
            _ => Ok(()),
        }
    }

    /// Four corners in order around the quad.
    fn quad(&mut self, [a, b, c, d]: [u32; 4], last: bool) -> Result<(), Box<Fault>> {
        let id = self.id;
        let triangles = match last {
            false => [[a, b, c], [a, c, d]],
            true => [[a, b, d], [b, c, d]],
        };
        for triangle in triangles {
            self.id = id;
            self.primitive(triangle)?;
        }
        Ok(())
    }

    fn primitive(&mut self, vertices: [u32; 3]) -> Result<(), Box<Fault>> {
        if self.chunk.primitives.len() == MAX_PRIMITIVES {
            self.cut()?;
        }
        let corners = vertices.map(|vertex| self.invocation(vertex));
        self.chunk.primitives.push(corners);
        self.chunk.ids.push(self.id);
        self.id = self.id.wrapping_add(1);
        Ok(())
    }

    #[inline]
    fn invocation(&mut self, vertex: u32) -> u32 {
        let entry = &mut self.reuse[vertex as usize % REUSE];
        if entry.0 == vertex && entry.2 == self.epoch {
            return entry.1;
        }
        let invocation = self.chunk.invocations.len() as u32;
        self.chunk.invocations.push([vertex, self.instance]);
        *entry = (vertex, invocation, self.epoch);
        invocation
    }

    fn cut(&mut self) -> Result<(), Box<Fault>> {
        self.epoch += 1;
        (self.emit)(std::mem::take(&mut self.chunk))
    }

    fn finish(mut self) -> Result<(), Box<Fault>> {
        if self.chunk.primitives.is_empty() {
            return Ok(());
        }
        self.cut()
    }
}
