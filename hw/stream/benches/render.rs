// SPDX-License-Identifier: MIT
//! Benchmarks: recording draws into a vertex stream, and reading them back.

use agx_hw::arena::BlockOffset;
use agx_hw::coefficient::{Inputs, Interpolation, TABLE_SIZE, Table};
use agx_hw::launcher::{Frame, Launcher, SLOT_SIZE, Samples};
use agx_hw::ppp::{
    self, Cull, Fragment, FragmentControl, FragmentControl2, Indices, Outputs, RegionClip,
    VaryingCounts, Viewport, Viewports, WClamp,
};
use agx_hw::vdm::{
    Draw, Draws, Primitive, Provoking, Record, Template, VdmStream, VertexState, Vertices, Walker,
};
use agx_hw::window::{CodeAddress, ContextAddress, LauncherAddress};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// Draws in the streams that are read.
const DRAWS: usize = 100;
const STREAM: u32 = 0x410_0000;
const RECORD: u32 = 0x400_0000;

fn context(offset: u32) -> ContextAddress {
    ContextAddress::from_offset(offset).unwrap()
}

fn launcher() -> LauncherAddress {
    LauncherAddress::from_units(0x90_0100 / 64).unwrap()
}

fn viewport() -> Viewport {
    let region = RegionClip::of_pixels([0; 2], [64; 2]).unwrap();
    Viewport::new([0.0; 2], [64.0; 2], [0.0, 1.0], region)
}

fn record() -> ppp::Record {
    ppp::Record {
        varyings: VaryingCounts::all(4),
        fragment: Fragment {
            bindings: 2,
            table: CodeAddress::from_offset(0x90_0400),
            launcher: launcher(),
            resources: Fragment::resources(4),
        },
        outputs: Outputs {
            words: 8,
            ..Outputs::default()
        },
        control: FragmentControl::default(),
        control2: FragmentControl2::default(),
        viewports: Viewports::one(viewport()),
        w_clamp: WClamp::default(),
        cull: Cull::default(),
        indices: Indices::default(),
    }
}

fn vertex() -> VertexState {
    VertexState {
        launcher: launcher(),
        outputs: 8,
        provoking: Provoking::First,
        primitive_id: false,
    }
}

fn triangle() -> Draw {
    Draw {
        primitive: Primitive::Triangles,
        vertices: Vertices::Direct {
            first: 0,
            count: 3,
            instances: 1,
        },
    }
}

/// A stream of canonical draws, and the record of all of them.
fn stream() -> (Vec<u8>, Vec<u8>) {
    let mut memory = vec![0; 0x80 * DRAWS];
    let mut stream = VdmStream::new(&mut memory, context(STREAM)).unwrap();
    let template = Template::new(&vertex()).unwrap();
    stream.barrier().unwrap();
    for _ in 0..DRAWS {
        stream
            .state(&template, launcher(), context(RECORD))
            .unwrap();
        stream.draw(triangle()).unwrap();
    }
    let size = (stream.terminate().unwrap() - context(STREAM).address()) as usize;
    memory.truncate(size);
    let mut bytes = vec![0; ppp::RECORD_SIZE];
    record().pack(&mut bytes).unwrap();
    (memory, bytes)
}

/// Reads both.
fn read<'a>(stream: &'a [u8], record: &'a [u8]) -> impl FnMut(u64, &mut [u8]) -> bool + 'a {
    let (first, second) = (context(STREAM).address(), context(RECORD).address());
    move |address, out| {
        let (bytes, base) = if address >= first {
            (stream, first)
        } else {
            (record, second)
        };
        let start = address.wrapping_sub(base) as usize;
        match bytes.get(start..start.saturating_add(out.len())) {
            Some(part) => {
                out.copy_from_slice(part);
                true
            }
            None => false,
        }
    }
}

/// State and draw, as a driver records them: from the pipeline's template.
#[divan::bench]
fn record_draw(bencher: Bencher<'_, '_>) {
    let template = Template::new(&vertex()).unwrap();
    let mut memory = [0; 0x80];
    bencher.counter(ItemsCount::new(1u32)).bench_local(|| {
        let mut stream = VdmStream::new(&mut memory, context(STREAM)).unwrap();
        let record = black_box(context(RECORD));
        stream.state(&template, launcher(), record).unwrap();
        stream.draw(black_box(triangle()))
    });
}

/// The same without a template: eleven records.
#[divan::bench]
fn record_draw_by_records(bencher: Bencher<'_, '_>) {
    let mut memory = [0; 0x80];
    bencher.counter(ItemsCount::new(1u32)).bench_local(|| {
        let mut stream = VdmStream::new(&mut memory, context(STREAM)).unwrap();
        stream.vertex(black_box(vertex())).unwrap();
        for update in ppp::Record::updates(black_box(context(RECORD))).unwrap() {
            stream.update(update).unwrap();
        }
        stream.draw(black_box(triangle()))
    });
}

/// Fixed-function state of a draw from the pipeline's template, with a new viewport and scissor.
#[divan::bench]
fn record_state(bencher: Bencher<'_, '_>) {
    let template = ppp::Template::new(&record()).unwrap();
    let viewport = viewport();
    let mut bytes = [0; ppp::RECORD_SIZE];
    bencher.counter(ItemsCount::new(1u32)).bench_local(|| {
        let mut template = template.clone();
        template.set_viewport(black_box(&viewport));
        template.set_indices(black_box(Indices {
            scissor: 1,
            depth_bias: 0,
        }));
        template.set_stencil_references(black_box(1), black_box(2));
        template.write(&mut bytes)
    });
}

#[divan::bench]
fn pack_ppp_record(bencher: Bencher<'_, '_>) {
    let record = record();
    let mut bytes = [0; ppp::RECORD_SIZE];
    bencher
        .counter(ItemsCount::new(1u32))
        .bench_local(|| black_box(&record).pack(&mut bytes));
}

#[divan::bench]
fn unpack_ppp_record(bencher: Bencher<'_, '_>) {
    let mut bytes = [0; ppp::RECORD_SIZE];
    record().pack(&mut bytes).unwrap();
    bencher
        .counter(ItemsCount::new(1u32))
        .bench_local(|| ppp::Record::unpack(black_box(&bytes)).is_ok());
}

#[divan::bench]
fn pack_draw_record(bencher: Bencher<'_, '_>) {
    let record = Record::Draw(triangle());
    let mut bytes = [0; Record::MAX_SIZE];
    bencher
        .counter(ItemsCount::new(1u32))
        .bench_local(|| black_box(&record).pack(&mut bytes));
}

#[divan::bench]
fn unpack_draw_record(bencher: Bencher<'_, '_>) {
    let mut bytes = [0; Record::MAX_SIZE];
    Record::Draw(triangle()).pack(&mut bytes).unwrap();
    bencher
        .counter(ItemsCount::new(1u32))
        .bench_local(|| Record::unpack(black_box(&bytes)));
}

/// Records of a stream of a hundred draws.
#[divan::bench]
fn walk_records(bencher: Bencher<'_, '_>) {
    let (stream, record) = stream();
    bencher
        .counter(ItemsCount::new(DRAWS))
        .bench_local(|| Walker::new(context(STREAM), read(&stream, &record)).count());
}

/// Draws of the same stream with their state.
#[divan::bench]
fn walk_draws(bencher: Bencher<'_, '_>) {
    let (stream, record) = stream();
    bencher.counter(ItemsCount::new(DRAWS)).bench_local(|| {
        let mut draws = Draws::new(context(STREAM), read(&stream, &record));
        let mut count = 0;
        while let Ok(Some(call)) = draws.next_draw() {
            black_box(call.state);
            count += 1;
        }
        assert_eq!(count, DRAWS);
    });
}

#[divan::bench]
fn coefficient_table(bencher: Bencher<'_, '_>) {
    let scalars = [Interpolation::Smooth; 16];
    let mut bytes = [0; TABLE_SIZE];
    bencher.counter(ItemsCount::new(1u32)).bench_local(|| {
        let table = Table::new(&Inputs {
            scalars: black_box(&scalars),
            provoking: Provoking::First,
            primitive_id: false,
            fragment_z: false,
            point_coordinate: false,
        })
        .unwrap();
        table.pack(&mut bytes)
    });
}

/// The launcher of a draw's bindings, from the shader's template.
#[divan::bench]
fn launcher_from_template(bencher: Bencher<'_, '_>) {
    let entry = BlockOffset::FIRST.entry();
    let launcher = Launcher::fragment(8, entry, Frame::default(), Samples::One, 4).unwrap();
    let template = agx_hw::launcher::Template::new(&launcher).unwrap();
    let mut bytes = [0; SLOT_SIZE];
    bencher
        .counter(ItemsCount::new(1u32))
        .bench_local(|| template.write(black_box(0x100_0090_0000), &mut bytes[..0x100]));
}
