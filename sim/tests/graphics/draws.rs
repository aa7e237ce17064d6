// SPDX-License-Identifier: MIT
//! Draw records: topologies, indices, restart, instances, indirect arguments, links.

use agx_hw::coefficient::Interpolation;
use agx_hw::format::Format;
use agx_hw::launcher::Samples;
use agx_hw::ppp::ObjectType;
use agx_hw::vdm::{
    DrawArguments, IndexSize, IndexedDrawArguments, Indices, IndirectAddress, Link, Primitive,
    Provoking, Record, Vertices,
};
use agx_hw::window::{CodeAddress, ContextAddress};

use crate::reference::Corner;
use crate::shaders;
use crate::studio::{STREAM, Setup, Studio, gpu, words};
use crate::triangles::{Random, bytes, corner, draw_count};

const SIZE: [u16; 2] = [48, 40];

/// Vertices anywhere, each with its own number as attribute.
fn vertices(random: &mut Random, count: usize) -> Vec<Corner> {
    (0..count)
        .map(|i| {
            // Any bits will do for a flat value; these are no NaN.
            let tag = f32::from_bits(0x4000_0000 + i as u32);
            let place = [random.signed(), random.signed(), 0.5, 1.0];
            corner(place, [f64::from(tag); 4])
        })
        .collect()
}

struct Scene {
    studio: Studio,
    setup: Setup,
    image: crate::studio::Image2,
}

fn scene(corners: &[Corner], topology: Primitive, provoking: Provoking) -> Scene {
    let mut studio = Studio::new(SIZE, Samples::One, 4);
    let image = studio.image(Format::from_name("R32_UINT").unwrap());
    studio.tile_programs(&[0], &[(&image, 0)]);
    let data = studio.data.place(&bytes(corners), 64);
    let buffers = studio.buffers(&[data]);
    let vertex = shaders::vertex(&mut studio, 8);
    let fragment = shaders::flat(&mut studio);
    let mut setup = studio.setup(vertex, fragment, buffers, 4);
    setup.interpolation = vec![Interpolation::Flat; 4];
    setup.provoking = provoking;
    setup.topology = topology;
    setup.vertices = draw_count(corners.len() as u32);
    let lines = matches!(
        topology,
        Primitive::Lines | Primitive::LineStrip | Primitive::LineLoop
    );
    if lines {
        crate::studio::object(&mut setup.control2, ObjectType::Line);
    }
    Scene {
        studio,
        setup,
        image,
    }
}

impl Scene {
    fn picture(mut self) -> Vec<u32> {
        self.studio.draw(&self.setup.clone());
        self.rendered()
    }

    fn rendered(mut self) -> Vec<u32> {
        let result = self.studio.render(&gpu(2));
        result.unwrap_or_else(|fault| panic!("{fault}"));
        let mut pixels = Vec::new();
        for y in 0..SIZE[1] {
            for x in 0..SIZE[0] {
                pixels.push(self.studio.pixel(&self.image, x.into(), y.into()));
            }
        }
        pixels
    }

    /// Draws with these indices instead.
    fn indexed(&mut self, indices: &[u32], size: IndexSize, restart: bool, base: i32) {
        self.setup.vertices = Vertices::Indexed {
            indices: place(&mut self.studio, indices, size, restart),
            base,
            count: indices.len() as u32,
            instances: 1,
        };
    }
}

fn place(studio: &mut Studio, indices: &[u32], size: IndexSize, restart: bool) -> Indices {
    let bytes: Vec<u8> = indices
        .iter()
        .flat_map(|index| index.to_le_bytes()[..size.bytes() as usize].to_vec())
        .collect();
    // At any address.
    let at = studio.heap.reserve(bytes.len() as u64 + 8, 16) + u64::from(size.bytes());
    studio.heap.write(at, &bytes);
    let address = CodeAddress::new(at).unwrap();
    Indices::new(address, size, restart, bytes.len() as u64).unwrap()
}

/// Vulkan's tables of primitive topologies: vertices of each primitive, the provoking one first or last.
fn expand(topology: Primitive, n: usize, last: bool) -> Vec<Vec<usize>> {
    let mut out = Vec::new();
    match topology {
        Primitive::Lines => (0..n / 2).for_each(|i| out.push(vec![2 * i, 2 * i + 1])),
        Primitive::LineStrip => (1..n).for_each(|i| out.push(vec![i - 1, i])),
        Primitive::LineLoop => {
            (1..n).for_each(|i| out.push(vec![i - 1, i]));
            if n > 1 {
                out.push(vec![n - 1, 0]);
            }
        }
        Primitive::Triangles => {
            (0..n / 3).for_each(|i| out.push(vec![3 * i, 3 * i + 1, 3 * i + 2]))
        }
        Primitive::TriangleStrip => {
            for i in 0..n.saturating_sub(2) {
                out.push(match (i % 2, last) {
                    (0, _) => vec![i, i + 1, i + 2],
                    (_, false) => vec![i, i + 2, i + 1],
                    (_, true) => vec![i + 1, i, i + 2],
                });
            }
        }
        Primitive::TriangleFan => {
            for i in 1..n.saturating_sub(1) {
                out.push(match last {
                    false => vec![i, i + 1, 0],
                    true => vec![0, i, i + 1],
                });
            }
        }
        other => panic!("{other:?}"),
    }
    out
}

fn list(topology: Primitive) -> Primitive {
    match topology {
        Primitive::Lines | Primitive::LineStrip | Primitive::LineLoop => Primitive::Lines,
        _ => Primitive::Triangles,
    }
}

const ALL: [Primitive; 6] = [
    Primitive::Lines,
    Primitive::LineStrip,
    Primitive::LineLoop,
    Primitive::Triangles,
    Primitive::TriangleStrip,
    Primitive::TriangleFan,
];

#[test]
fn topologies_are_lists_in_vulkans_order() {
    let mut random = Random(11);
    for topology in ALL {
        for provoking in [Provoking::First, Provoking::Last] {
            for count in [1, 2, 3, 4, 5, 9] {
                let corners = vertices(&mut random, count);
                let expanded = expand(topology, count, provoking == Provoking::Last);
                let native = scene(&corners, topology, provoking).picture();
                let flat: Vec<Corner> = expanded.concat().iter().map(|&i| corners[i]).collect();
                if flat.is_empty() {
                    assert!(
                        native.iter().all(|pixel| *pixel == 0),
                        "{topology:?} {count}"
                    );
                    continue;
                }
                let listed = scene(&flat, list(topology), provoking).picture();
                assert_eq!(native, listed, "{topology:?} {provoking:?} {count}");
                // The provoking vertex is the first or last of its primitive.
                let place = if provoking == Provoking::Last {
                    expanded[0].len() - 1
                } else {
                    0
                };
                for pixel in native.iter().filter(|pixel| **pixel != 0) {
                    let number = (pixel - 0x4000_0000) as usize;
                    assert!(expanded.iter().any(|primitive| primitive[place] == number));
                }
            }
        }
    }
}

#[test]
fn a_long_strip_is_cut_where_nobody_sees_it() {
    // More triangles than a chunk has.
    let corners: Vec<Corner> = (0..3000)
        .map(|i| {
            let x = 2.0 * f64::from(i) / 3000.0 - 1.0;
            let y = if i % 2 == 0 { -1.0 } else { 1.0 };
            let tag = f32::from_bits(0x4000_0000 + i);
            corner([x, y, 0.5, 1.0], [f64::from(tag); 4])
        })
        .collect();
    let expanded = expand(Primitive::TriangleStrip, corners.len(), false);
    let native = scene(&corners, Primitive::TriangleStrip, Provoking::First).picture();
    let flat: Vec<Corner> = expanded.concat().iter().map(|&i| corners[i]).collect();
    let listed = scene(&flat, Primitive::Triangles, Provoking::First).picture();
    assert_eq!(native, listed);
    assert!(native.iter().filter(|pixel| **pixel != 0).count() > 1800);
}

#[test]
fn indices_of_all_sizes() {
    let mut random = Random(12);
    let corners = vertices(&mut random, 20);
    for size in [IndexSize::U8, IndexSize::U16, IndexSize::U32] {
        for base in [0i32, 3, -2] {
            let indices: Vec<u32> = (0..12).map(|_| 2 + random.next() % 14).collect();
            let mut indexed = scene(&corners, Primitive::Triangles, Provoking::First);
            indexed.indexed(&indices, size, false, base);
            let flat: Vec<Corner> = indices
                .iter()
                .map(|index| corners[(*index as i32 + base) as usize])
                .collect();
            let direct = scene(&flat, Primitive::Triangles, Provoking::First);
            assert_eq!(indexed.picture(), direct.picture(), "{size:?} {base}");
        }
    }
}

#[test]
fn restart_ends_primitives() {
    let mut random = Random(13);
    for topology in ALL {
        for (size, restart) in [
            (IndexSize::U8, 0xff),
            (IndexSize::U16, 0xffff),
            (IndexSize::U32, 0xffff_ffff),
            // The comparand is free.
            (IndexSize::U16, 7),
        ] {
            for gaps in [
                vec![],
                vec![0],
                vec![4],
                vec![4, 5],
                vec![0, 1, 12],
                vec![12],
                vec![3, 7],
            ] {
                let corners = vertices(&mut random, 13);
                let mut indices: Vec<u32> = (0..13).map(|i| if i == 7 { 8 } else { i }).collect();
                for gap in &gaps {
                    indices[*gap] = restart;
                }
                let mut restarted = scene(&corners, topology, Provoking::First);
                restarted.indexed(&indices, size, true, 0);
                restarted.setup.restart = Some(restart);
                let mut flat = Vec::new();
                for run in indices.split(|index| *index == restart) {
                    for primitive in expand(topology, run.len(), false) {
                        flat.extend(primitive.iter().map(|&i| corners[run[i] as usize]));
                    }
                }
                let picture = restarted.picture();
                if flat.is_empty() {
                    assert!(picture.iter().all(|pixel| *pixel == 0));
                    continue;
                }
                let listed = scene(&flat, list(topology), Provoking::First).picture();
                assert_eq!(picture, listed, "{topology:?} {size:?} {gaps:?}");
            }
        }
    }
}

#[test]
fn without_restart_the_comparand_is_an_index() {
    let mut random = Random(14);
    let corners = vertices(&mut random, 8);
    let mut scene = scene(&corners, Primitive::Triangles, Provoking::First);
    scene.indexed(&[5, 7, 6], IndexSize::U16, false, 0);
    scene.setup.restart = Some(7);
    let picture = scene.picture();
    assert!(picture.contains(&0x4000_0005));
}

#[test]
fn first_vertex_instances_and_indirect_arguments() {
    let mut random = Random(15);
    let corners = vertices(&mut random, 12);
    let expected = scene(&corners[3..9], Primitive::Triangles, Provoking::First).picture();
    assert!(expected.iter().any(|pixel| *pixel != 0));

    let mut direct = scene(&corners, Primitive::Triangles, Provoking::First);
    direct.setup.vertices = Vertices::Direct {
        first: 3,
        count: 6,
        instances: 2,
    };
    assert_eq!(direct.picture(), expected);

    let mut indirect = scene(&corners, Primitive::Triangles, Provoking::First);
    let mut arguments = [0; DrawArguments::SIZE];
    DrawArguments {
        count: 6,
        instances: 1,
        first: 3,
        first_instance: 9,
    }
    .pack(&mut arguments)
    .unwrap();
    let at = indirect.studio.data.place(&arguments, 4);
    indirect.setup.vertices = Vertices::Indirect {
        arguments: IndirectAddress::new(at).unwrap(),
    };
    assert_eq!(indirect.picture(), expected);

    let mut indexed = scene(&corners, Primitive::Triangles, Provoking::First);
    let indices = place(
        &mut indexed.studio,
        &[0, 0, 1, 2, 3, 4, 5, 6],
        IndexSize::U16,
        false,
    );
    let mut arguments = [0; IndexedDrawArguments::SIZE];
    IndexedDrawArguments {
        count: 6,
        instances: 1,
        first: 2,
        base: 2,
        first_instance: 0,
    }
    .pack(&mut arguments)
    .unwrap();
    let at = indexed.studio.data.place(&arguments, 4);
    indexed.setup.vertices = Vertices::IndexedIndirect {
        indices,
        arguments: IndirectAddress::new(at).unwrap(),
    };
    assert_eq!(indexed.picture(), expected);

    // Counts of 0 draw nothing.
    for arguments in [[0, 1, 0, 0], [3, 0, 0, 0]] {
        let mut empty = scene(&corners, Primitive::Triangles, Provoking::First);
        let at = empty.studio.data.place(&words(&arguments), 4);
        empty.setup.vertices = Vertices::Indirect {
            arguments: IndirectAddress::new(at).unwrap(),
        };
        assert!(empty.picture().iter().all(|pixel| *pixel == 0));
    }
}

#[test]
fn instances_have_numbers() {
    // Each instance is a triangle of its own, its number the attribute.
    let corners =
        [[-1.0, -1.0], [-0.5, -1.0], [-1.0, 1.0]].map(|[x, y]| corner([x, y, 0.5, 1.0], [0.0; 4]));
    let mut scene = scene(&corners, Primitive::Triangles, Provoking::First);
    // x += instance / 2; the first attribute is the instance.
    let middle = "or.10 r12, r6, r6
        u2f.f32 r24, r6
        fmul.6 r24, r24, #0.5
        fadd.6 r8, r8, r24";
    scene.setup.vertex = scene.studio.shader(&shaders::vertex_text(8, middle));
    scene.setup.vertices = Vertices::Direct {
        first: 0,
        count: 3,
        instances: 4,
    };
    let picture = scene.picture();
    for instance in 0..4 {
        // A pixel near the upper left corner of each.
        let at = usize::from(SIZE[0]) + instance * 12 + 1;
        assert_eq!(picture[at], instance as u32, "{instance}");
    }
}

#[test]
fn primitives_have_numbers() {
    let mut random = Random(16);
    let corners = vertices(&mut random, 30);
    let mut scene = scene(&corners, Primitive::Triangles, Provoking::First);
    scene.setup.primitive_id = true;
    // Coefficient 5, behind 1/w and four scalars.
    scene.setup.fragment = shaders::flat_of(&mut scene.studio, 5);
    let picture = scene.picture();
    let tagged = super::draws::scene(&corners, Primitive::Triangles, Provoking::First).picture();
    for (number, tag) in picture.iter().zip(&tagged) {
        if *tag != 0 {
            assert_eq!(*number, (tag - 0x4000_0000) / 3);
        }
    }
}

#[test]
fn links_lead_on() {
    let mut random = Random(17);
    let corners = vertices(&mut random, 6);
    let expected = scene(&corners, Primitive::Triangles, Provoking::First).picture();
    let mut linked = scene(&corners, Primitive::Triangles, Provoking::First);
    // The draw's records lie behind a link.
    let target = STREAM + 0x8000;
    let start = linked.studio.records.clone();
    linked.studio.records.clear();
    linked.studio.draw(&linked.setup.clone());
    let mut bytes = [0; 4];
    Record::Terminate.pack(&mut bytes).unwrap();
    linked.studio.records.extend(bytes);
    linked
        .studio
        .stream
        .write(target, &linked.studio.records.clone());
    linked.studio.records = start;
    linked.studio.record(&Record::Link(Link {
        target: ContextAddress::new(target).unwrap(),
        with_return: false,
    }));
    assert_eq!(linked.rendered(), expected);
}
