// SPDX-License-Identifier: MIT
//! The rules of render streams: one pass that satisfies all, and one that breaks each.

use agx_hw::Error;
use agx_hw::arena::BlockOffset;
use agx_hw::coefficient::{self, Inputs, Interpolation, Table};
use agx_hw::depth_bias::DepthBias;
use agx_hw::launcher::{Frame, GRAPHICS_SLOT_SIZE, Launcher, Samples, Storage};
use agx_hw::lint::graphics::{Fault, Finding, Pass, Stage, Summary, check, report};
use agx_hw::ppp::{
    self, Cull, Fragment, FragmentControl, FragmentControl2, Indices, ObjectType, Outputs,
    PassType, PolygonMode, RegionClip, VaryingCounts, Viewport, Viewports, Visibility, WClamp,
};
use agx_hw::scissor::{ENTRY_SIZE, Scissor};
use agx_hw::uvs;
use agx_hw::vdm::{
    Barrier, Cause, Draw, IndexSize, Indices as IndexBuffer, IndirectAddress, Link, Primitive,
    Provoking, Record, Update, VdmStream, VertexState, Vertices,
};
use agx_hw::window::{CodeAddress, ContextAddress, LauncherAddress};

const STREAM: u32 = 0x401_0000;
const SECOND: u32 = 0x402_0000;
const RECORD: u32 = 0x400_0000;
const TABLE: u32 = 0x90_0400;
const VERTEX: u32 = 0x90_0100;
const FRAGMENT: u32 = 0x90_0300;
const INDEX_BUFFER: u32 = 0x100_0000;
const SCISSORS: u64 = 0x20_0004_0000;
const BIASES: u64 = 0x20_0005_0000;
const OCCLUSION: u64 = 0x20_0006_0000;
const ARGUMENTS: u64 = 0x20_0007_0000;

fn code(offset: u32) -> CodeAddress {
    CodeAddress::from_offset(offset)
}

fn context(offset: u32) -> ContextAddress {
    ContextAddress::from_offset(offset).unwrap()
}

fn launcher_at(offset: u32) -> LauncherAddress {
    LauncherAddress::new(code(offset)).unwrap()
}

/// A draw and everything that it needs; a test changes something before it is written to memory.
struct Scene {
    pass: Pass,
    vertex: VertexState,
    record: ppp::Record,
    inputs: Vec<Interpolation>,
    fragment_z: bool,
    primitive_id: bool,
    coefficient_provoking: Provoking,
    scissor: Scissor,
    vertex_launcher: Launcher,
    fragment_launcher: Launcher,
    /// Records between state and terminator.
    draws: Vec<Record>,
    start: Record,
    /// Where memory is not mapped.
    holes: Vec<(u64, u64)>,
}

const TRIANGLES: Draw = Draw {
    primitive: Primitive::Triangles,
    vertices: Vertices::Direct {
        first: 0,
        count: 3,
        instances: 1,
    },
};

fn indexed() -> Draw {
    let indices = IndexBuffer::new(code(INDEX_BUFFER), IndexSize::U16, false, 6).unwrap();
    Draw {
        primitive: Primitive::Triangles,
        vertices: Vertices::Indexed {
            indices,
            base: 0,
            count: 3,
            instances: 1,
        },
    }
}

impl Scene {
    fn new() -> Scene {
        let layout = uvs::Layout {
            scalars: 5,
            ..uvs::Layout::default()
        };
        let entry = BlockOffset::FIRST.entry();
        let frame = Frame::default();
        let fragment = Launcher::fragment(0x90_0200, entry, frame, Samples::One, 4).unwrap();
        Scene {
            pass: Pass {
                base: context(STREAM).address(),
                scissors: SCISSORS,
                depth_biases: BIASES,
                occlusion: OCCLUSION,
                size: [64, 64],
                samples: Samples::One,
                sample_size: 8,
            },
            vertex: VertexState {
                launcher: launcher_at(VERTEX),
                outputs: layout.words().unwrap(),
                provoking: Provoking::First,
                primitive_id: false,
            },
            record: ppp::Record {
                varyings: VaryingCounts::all(5),
                fragment: Fragment {
                    bindings: 0,
                    table: code(TABLE),
                    launcher: launcher_at(FRAGMENT),
                    resources: Fragment::resources(5),
                },
                outputs: Outputs::new(&layout, false).unwrap(),
                control: FragmentControl::default(),
                control2: FragmentControl2::default(),
                viewports: Viewports::one(Viewport::new(
                    [0.0; 2],
                    [64.0; 2],
                    [0.0, 1.0],
                    RegionClip::of_pixels([0; 2], [64; 2]).unwrap(),
                )),
                w_clamp: WClamp::default(),
                cull: Cull::default(),
                indices: Indices {
                    scissor: 3,
                    depth_bias: 2,
                },
            },
            inputs: vec![
                Interpolation::Smooth,
                Interpolation::Smooth,
                Interpolation::Flat,
                Interpolation::Flat,
                Interpolation::Linear,
            ],
            fragment_z: false,
            primitive_id: false,
            coefficient_provoking: Provoking::First,
            scissor: Scissor::new([0; 2], [64; 2], [0.0, 1.0]).unwrap(),
            vertex_launcher: Launcher::vertex(0x90_0000, entry, frame),
            fragment_launcher: fragment,
            draws: vec![Record::Draw(TRIANGLES)],
            start: Record::Barrier(Barrier::START),
            holes: Vec::new(),
        }
    }

    /// Memory: parts at their addresses, zeros between them.
    fn parts(&self) -> Vec<(u64, Vec<u8>)> {
        let table = Table::new(&Inputs {
            scalars: &self.inputs,
            provoking: self.coefficient_provoking,
            primitive_id: self.primitive_id,
            fragment_z: self.fragment_z,
            point_coordinate: false,
        })
        .unwrap();
        let mut table_bytes = vec![0; coefficient::TABLE_SIZE];
        table.pack(&mut table_bytes).unwrap();
        let mut record = self.record.clone();
        if record.fragment.bindings == 0 {
            record.fragment.bindings = table.count();
        }
        let mut record_bytes = vec![0; ppp::RECORD_SIZE];
        record.pack(&mut record_bytes).unwrap();

        let mut stream_bytes = vec![0; 0x400];
        let mut stream = VdmStream::new(&mut stream_bytes, context(STREAM)).unwrap();
        stream.push(self.start).unwrap();
        stream.vertex(self.vertex).unwrap();
        for update in ppp::Record::updates(context(RECORD)).unwrap() {
            stream.update(update).unwrap();
        }
        for draw in &self.draws {
            stream.push(*draw).unwrap();
        }
        stream.terminate().unwrap();
        let terminator = 0xc000_0000u32.to_le_bytes();

        let mut parts = vec![
            (code(TABLE).address(), table_bytes),
            (context(RECORD).address(), record_bytes),
            (context(STREAM).address(), stream_bytes),
            (context(SECOND).address(), terminator.to_vec()),
        ];
        for (at, launcher) in [
            (VERTEX, &self.vertex_launcher),
            (FRAGMENT, &self.fragment_launcher),
        ] {
            let mut bytes = vec![0; GRAPHICS_SLOT_SIZE];
            launcher.pack(launcher_at(at), &mut bytes).unwrap();
            parts.push((code(at).address(), bytes));
        }
        let mut bytes = vec![0; ENTRY_SIZE];
        self.scissor.pack(&mut bytes).unwrap();
        parts.push((SCISSORS + 3 * 16, bytes));
        let mut bytes = vec![0; 12];
        DepthBias::default().pack(&mut bytes).unwrap();
        parts.push((BIASES + 2 * 12, bytes));
        parts
    }

    fn findings(&self) -> (Summary, Vec<Finding>) {
        self.findings_in(self.parts())
    }

    fn findings_in(&self, parts: Vec<(u64, Vec<u8>)>) -> (Summary, Vec<Finding>) {
        let read = |address: u64, out: &mut [u8]| {
            let end = address + out.len() as u64;
            if self
                .holes
                .iter()
                .any(|(from, to)| address < *to && end > *from)
            {
                return false;
            }
            for (i, byte) in out.iter_mut().enumerate() {
                let at = address + i as u64;
                *byte = parts
                    .iter()
                    .find_map(|(base, bytes)| bytes.get(at.checked_sub(*base)? as usize))
                    .copied()
                    .unwrap_or(0);
            }
            true
        };
        let mut findings = Vec::new();
        let summary = report(&self.pass, read, |finding| findings.push(finding));
        assert_eq!(summary.findings, findings.len() as u64);
        let first = check(&self.pass, read);
        assert_eq!(first, findings.first().cloned().map_or(Ok(summary), Err));
        for finding in &findings {
            assert!(finding.to_string().starts_with("0x"), "{finding}");
        }
        (summary, findings)
    }

    /// The faults, all of the draw.
    fn faults(&self) -> Vec<Fault> {
        let (_, findings) = self.findings();
        findings.into_iter().map(|finding| finding.fault).collect()
    }

    #[track_caller]
    fn assert(&self, expected: &[Fault]) {
        assert_eq!(self.faults(), expected);
    }
}

#[test]
fn a_legal_pass() {
    let scene = Scene::new();
    let (summary, findings) = scene.findings();
    assert_eq!(findings, []);
    let expected = Summary {
        records: 13,
        draws: 1,
        findings: 0,
    };
    assert_eq!(summary, expected);
    let mut scene = Scene::new();
    let arguments = IndirectAddress::new(ARGUMENTS).unwrap();
    let indices = *indexed().vertices.indices().unwrap();
    scene.draws = vec![
        Record::Draw(TRIANGLES),
        Record::Restart(0xffff),
        Record::Draw(indexed()),
        Record::Draw(Draw {
            primitive: Primitive::TriangleStrip,
            vertices: Vertices::Indirect { arguments },
        }),
        Record::Restart(0xffff),
        Record::Draw(Draw {
            primitive: Primitive::TriangleFan,
            vertices: Vertices::IndexedIndirect { indices, arguments },
        }),
        Record::Link(Link {
            target: context(SECOND),
            with_return: false,
        }),
    ];
    // Depth bias, counting, depth in the shader, several samples, a preamble.
    scene.record.control.depth_bias = true;
    scene.record.control.visibility = Visibility::Counting;
    scene.record.control2.visibility = Visibility::Counting;
    scene.fragment_z = true;
    scene.record.outputs.fragment_z = true;
    scene.pass.samples = Samples::Four;
    scene.record.control2.pass = PassType::Translucent;
    scene.fragment_launcher.storage = Storage::tile(Samples::Four, 8).unwrap();
    scene.vertex_launcher.preamble = Some(code(0x80_0000));
    let (summary, findings) = scene.findings();
    assert_eq!(findings, []);
    assert_eq!((summary.records, summary.draws), (11 + 7 + 1, 4));
}

#[test]
fn where_a_stream_is() {
    let mut scene = Scene::new();
    scene.pass.base += 1;
    scene.assert(&[Fault::Base]);
    scene.pass.base = 0x20_0000_0000;
    scene.assert(&[Fault::Base]);
    // In the kernel's part: base and the state of an update.
    let mut scene = Scene::new();
    let mut parts = scene.parts();
    for part in &mut parts {
        if part.0 == context(STREAM).address() {
            part.0 = context(0x10_0000).address();
        }
    }
    scene.pass.base = context(0x10_0000).address();
    let (_, findings) = scene.findings_in(parts);
    let fault = Fault::Reserved;
    assert_eq!(
        findings,
        [Finding {
            address: scene.pass.base,
            fault
        }]
    );
    let mut scene = Scene::new();
    let update = Update::new(context(0x100), 5).unwrap();
    scene.draws.insert(0, Record::Update(update));
    let faults = scene.faults();
    assert_eq!(faults[0], Fault::Reserved);
    assert!(matches!(
        faults[1],
        Fault::Walk(Cause::Record(Error::Field { value: 0, .. }))
    ));
    assert_eq!(faults.len(), 2);
}

#[test]
fn how_a_stream_begins_and_ends() {
    let mut scene = Scene::new();
    scene.start = Record::Barrier(Barrier::new(0x12).unwrap());
    scene.assert(&[Fault::Barrier]);
    scene.start = Record::Restart(0);
    scene.assert(&[Fault::Barrier]);
    let mut scene = Scene::new();
    // The terminator is the last word of its page; the next one is not mapped.
    let behind = context(STREAM).address() + 0x7c;
    scene.holes = vec![(behind + 0x7fc, behind + 0x10_0000)];
    scene.pass.base = context(STREAM).address();
    // One word of each page is asked for: the hole has none of them.
    scene.assert(&[]);
    scene.holes = vec![(behind, behind + 0x10_0000)];
    scene.assert(&[Fault::ReadAhead]);
    let mut scene = Scene::new();
    let call = Link {
        target: context(SECOND),
        with_return: true,
    };
    scene.draws = vec![Record::Link(call)];
    scene.assert(&[Fault::Walk(Cause::Terminator)]);
    let jump = Link {
        target: context(STREAM),
        with_return: false,
    };
    scene.draws = vec![Record::Link(jump)];
    scene.assert(&[Fault::Walk(Cause::Loop)]);
    scene.holes = vec![(scene.pass.base, scene.pass.base + 4)];
    scene.assert(&[Fault::Walk(Cause::Unreadable)]);
}

#[test]
fn missing_state() {
    // Without vertex state, and with a draw in front of all state.
    let mut scene = Scene::new();
    scene.start = Record::Draw(TRIANGLES);
    let (_, findings) = scene.findings();
    assert_eq!(findings[0].fault, Fault::Barrier);
    assert_eq!(findings[1].fault, Fault::Missing("vertex state"));
    assert_eq!(findings.len(), 2);
    // Without one of the pieces: its update is another's.
    let mut scene = Scene::new();
    let mut parts = scene.parts();
    let stream = &mut parts[2].1;
    // Barrier, vertex state, then updates of 8 bytes: the last becomes the first.
    stream.copy_within(4 + 28..4 + 28 + 8, 4 + 28 + 8 * 8);
    let (_, findings) = scene.findings_in(parts);
    let faults: Vec<_> = findings.into_iter().map(|finding| finding.fault).collect();
    assert_eq!(faults, [Fault::Missing("scissor and depth-bias indices")]);
    scene.draws.clear();
    scene.assert(&[]);
}

#[test]
fn vertices_of_draws() {
    let mut scene = Scene::new();
    scene.draws = vec![Record::Draw(indexed())];
    scene.assert(&[Fault::Restart]);
    scene.draws = vec![
        Record::Restart(0xffff),
        Record::Draw(indexed()),
        Record::Draw(indexed()),
    ];
    scene.assert(&[Fault::Restart]);
    scene.draws.pop();
    let indices = code(INDEX_BUFFER).address();
    scene.holes = vec![(indices, indices + 0x4000)];
    scene.assert(&[Fault::Indices]);
    let arguments = IndirectAddress::new(ARGUMENTS).unwrap();
    scene.draws = vec![Record::Draw(Draw {
        primitive: Primitive::Triangles,
        vertices: Vertices::Indirect { arguments },
    })];
    scene.holes = vec![(ARGUMENTS, ARGUMENTS + 0x4000)];
    scene.assert(&[Fault::Arguments(ARGUMENTS)]);
}

#[test]
fn numbers_that_agree() {
    let mut scene = Scene::new();
    scene.vertex.outputs = 10;
    let (vertex, piece) = (10, 9);
    scene.assert(&[Fault::OutputWords { vertex, piece }]);
    let mut scene = Scene::new();
    scene.record.varyings = VaryingCounts {
        smooth: 2,
        flat: 2,
        linear: 0,
    };
    let (counts, words) = (4, 5);
    let (bound, counted) = (5, 4);
    scene.assert(&[
        Fault::Varyings { counts, words },
        Fault::Bound { bound, counted },
    ]);
    // Provoking vertices: each of the three places alone.
    let mut scene = Scene::new();
    scene.vertex.provoking = Provoking::Last;
    scene.assert(&[Fault::Provoking]);
    let mut scene = Scene::new();
    scene.record.cull.provoking = Provoking::Last;
    scene.assert(&[Fault::Provoking]);
    let mut scene = Scene::new();
    scene.coefficient_provoking = Provoking::Last;
    scene.assert(&[Fault::Provoking]);
    scene.vertex.provoking = Provoking::Last;
    scene.record.cull.provoking = Provoking::Last;
    scene.assert(&[]);
    // Primitive numbers.
    let mut scene = Scene::new();
    scene.primitive_id = true;
    scene.assert(&[Fault::PrimitiveId]);
    scene.vertex.primitive_id = true;
    scene.assert(&[Fault::PrimitiveId]);
    scene.record.w_clamp.primitive_id = true;
    scene.assert(&[]);
    // Depth.
    let mut scene = Scene::new();
    scene.fragment_z = true;
    scene.assert(&[Fault::FragmentZ]);
    let mut scene = Scene::new();
    scene.record.outputs.fragment_z = true;
    scene.assert(&[Fault::FragmentZ]);
}

#[test]
fn controls() {
    let mut scene = Scene::new();
    scene.record.control2.visibility = Visibility::Boolean;
    scene.assert(&[Fault::Controls("visibility")]);
    let mut scene = Scene::new();
    scene.record.control.no_tag_write = true;
    scene.assert(&[Fault::Controls("tag writes")]);
    let mut scene = Scene::new();
    scene.record.control2.front.polygon = PolygonMode::Line;
    scene.assert(&[Fault::Controls("polygon mode")]);
    let mut scene = Scene::new();
    scene.record.control2.back.object = ObjectType::Line;
    scene.assert(&[Fault::Controls("object type")]);
    // Lines that are triangles.
    let mut scene = Scene::new();
    scene.draws = vec![Record::Draw(Draw {
        primitive: Primitive::LineStrip,
        ..TRIANGLES
    })];
    let (object, primitive) = (ObjectType::Triangle, Primitive::LineStrip);
    scene.assert(&[Fault::Object { object, primitive }]);
    scene.record.control2.front.object = ObjectType::Line;
    scene.record.control2.back.object = ObjectType::Line;
    scene.assert(&[Fault::Merge]);
    scene.record.control2.no_merge = true;
    scene.assert(&[]);
    // Outlined triangles need all of it.
    let mut scene = Scene::new();
    let record = &mut scene.record;
    for polygon in [
        &mut record.control.front.polygon,
        &mut record.control.back.polygon,
        &mut record.control2.front.polygon,
        &mut record.control2.back.polygon,
    ] {
        *polygon = PolygonMode::Line;
    }
    for object in [
        &mut record.control2.front.object,
        &mut record.control2.back.object,
    ] {
        *object = ObjectType::LineFilled;
    }
    record.control2.no_merge = true;
    scene.assert(&[Fault::Merge]);
    scene.record.control.no_merge = true;
    scene.assert(&[]);
    // Points.
    let mut scene = Scene::new();
    scene.draws = vec![Record::Draw(Draw {
        primitive: Primitive::Points,
        ..TRIANGLES
    })];
    scene.record.control2.front.object = ObjectType::PointUv10;
    scene.record.control2.back.object = ObjectType::PointUv10;
    scene.record.control2.no_merge = true;
    scene.assert(&[Fault::PointSize]);
    // Several samples.
    let mut scene = Scene::new();
    scene.pass.samples = Samples::Two;
    scene.fragment_launcher.storage = Storage::tile(Samples::Two, 8).unwrap();
    scene.assert(&[Fault::Translucent]);
}

#[test]
fn tables_and_launchers() {
    let mut scene = Scene::new();
    let table = code(TABLE).address();
    scene.holes = vec![(table, table + 4)];
    // The fragment launcher lies in front of it, and its end is not asked for.
    scene.assert(&[Fault::TableUnreadable(table)]);
    let mut scene = Scene::new();
    scene.record.fragment.bindings = 2;
    assert!(matches!(scene.faults()[..], [Fault::Table(_)]));
    let mut scene = Scene::new();
    scene.vertex_launcher.storage = Storage::threadgroup(128).unwrap();
    let storage = scene.vertex_launcher.storage;
    let (stage, at) = (Stage::Vertex, code(VERTEX).address());
    scene.assert(&[Fault::Storage { stage, at, storage }]);
    let mut scene = Scene::new();
    scene.pass.sample_size = 16;
    let storage = scene.fragment_launcher.storage;
    let (stage, at) = (Stage::Fragment, code(FRAGMENT).address());
    scene.assert(&[Fault::Storage { stage, at, storage }]);
    let mut scene = Scene::new();
    scene.holes = vec![(at, at + 0x100)];
    assert!(matches!(
        scene.faults()[..],
        [Fault::Launcher {
            stage: Stage::Fragment,
            ..
        }]
    ));
}

#[test]
fn arrays() {
    let mut scene = Scene::new();
    let at = SCISSORS + 3 * 16;
    scene.holes = vec![(at, at + 16)];
    scene.assert(&[Fault::ScissorUnreadable(at)]);
    let mut scene = Scene::new();
    scene.pass.size = [64, 63];
    scene.assert(&[Fault::Framebuffer]);
    let mut scene = Scene::new();
    scene.record.control.scissor = false;
    scene.assert(&[Fault::Framebuffer]);
    let mut scene = Scene::new();
    scene.record.viewports.0[0].region = RegionClip::of_pixels([32, 0], [64; 2]).unwrap();
    scene.assert(&[Fault::Region]);
    scene.scissor = Scissor::new([32, 0], [64; 2], [0.0, 1.0]).unwrap();
    scene.assert(&[]);
    scene.scissor = Scissor::new([0; 2], [0; 2], [0.0, 1.0]).unwrap();
    scene.assert(&[]);
    let mut scene = Scene::new();
    scene.record.indices.scissor = 4;
    let mut parts = scene.parts();
    parts.push((SCISSORS + 4 * 16, vec![0, 0, 1, 0]));
    let (_, findings) = scene.findings_in(parts);
    assert!(matches!(
        findings[..],
        [Finding {
            fault: Fault::Scissor(_),
            ..
        }]
    ));
    // Depth bias and occlusion: no array, and an array that cannot be read.
    let mut scene = Scene::new();
    scene.record.control.depth_bias = true;
    let bias = BIASES + 2 * 12;
    scene.holes = vec![(bias, bias + 12)];
    scene.assert(&[Fault::DepthBias(bias)]);
    scene.pass.depth_biases = 0;
    scene.assert(&[Fault::DepthBias(24)]);
    let mut scene = Scene::new();
    scene.record.control.visibility = Visibility::Boolean;
    scene.record.control2.visibility = Visibility::Boolean;
    scene.record.control.occlusion = 100;
    let result = OCCLUSION + 800;
    scene.holes = vec![(result, result + 8)];
    scene.assert(&[Fault::Occlusion(result)]);
    scene.pass.occlusion = 0;
    scene.assert(&[Fault::Occlusion(800)]);
}
