// SPDX-License-Identifier: MIT
//! Textures and images in lowered shaders: slots, trees of branches, and what is refused. What they compute is tested on
//! the simulated GPU, in `cts/tests/textures.rs`.

mod common;

use common::{APPLE9, apple9_lowering, apple9_shader};
use mesa_nir::program::{Instr, Node, Program, SamplerSlot, Tex, TexOp, TextureSlot};
use mesa_nir::{BindingKind, ComputeLowering, Error, assemble};

fn lower(name: &str, lowering: &ComputeLowering) -> Result<Program, Error> {
    let (_, text) = APPLE9.iter().find(|(n, _)| *n == name).expect("a module");
    let words = assemble(text).unwrap_or_else(|e| panic!("{name}: {e}"));
    let shader = apple9_shader(&words, "main").unwrap_or_else(|e| panic!("{name}: {e}"));
    shader.lower_compute(lowering)?.into_program()
}

fn gather(nodes: &[Node], found: &mut Vec<Tex>) {
    for node in nodes {
        match node {
            Node::Block(block) => found.extend(block.instrs.iter().filter_map(|i| match i {
                Instr::Tex(tex) => Some(tex.clone()),
                _ => None,
            })),
            Node::If(branch) => {
                gather(&branch.then_body, found);
                gather(&branch.else_body, found);
            }
            Node::Loop(body) => gather(&body.body, found),
        }
    }
}

fn bundles(program: &Program) -> Vec<Tex> {
    let mut found = Vec::new();
    gather(&program.body, &mut found);
    found
}

#[test]
fn what_is_sampled_has_a_slot_and_no_descriptor_has_two() {
    let program = lower("textures", &apple9_lowering(false)).expect("lowers");
    let mut textures = program.textures.clone();
    textures.sort();
    let open = [0, 128, 256].map(|element| 8 * 4096 + element);
    let expected = [0, 4096, 4224, 4352, 4480, 4608, 4 * 4096, 6 * 4096];
    let expected = [&expected[..], &open].concat();
    let expected: Vec<_> = expected
        .into_iter()
        .map(|offset| TextureSlot { set: 3, offset })
        .collect();
    assert_eq!(textures, expected);
    let mut samplers = program.samplers.clone();
    samplers.sort();
    let described = [64, 2 * 4096 + 128].map(|offset| SamplerSlot::Descriptor { set: 3, offset });
    assert_eq!(samplers, [&described[..], &[SamplerSlot::Fetch]].concat());
    for tex in bundles(&program) {
        if let TexOp::Bundle { mode, kind, .. } = tex.op {
            assert!(agx_mode_is_known(mode) && kind < 2, "{tex:?}");
            assert!((tex.texture as usize) < program.textures.len());
            let fetches = program.samplers[tex.sampler as usize] == SamplerSlot::Fetch;
            // Fetches are those whose mode has bit 7 (2D, arrays, 3D).
            assert_eq!(fetches, mode & 0x80 != 0 && mode != 0x2188, "{tex:?}");
        }
    }
}

/// Modes that the lowering makes.
fn agx_mode_is_known(mode: u16) -> bool {
    matches!(
        mode,
        0x0000
            | 0x0100
            | 0x0104
            | 0x0508
            | 0x2188
            | 0x0300
            | 0x2480
            | 0x24a0
            | 0x0198
            | 0x1480
            | 0x14a0
            | 0x0201
    )
}

#[test]
fn an_index_at_run_time_is_a_tree_over_all_elements_with_one_parameter_block() {
    let program = lower("textures", &apple9_lowering(false)).expect("lowers");
    let all = bundles(&program);
    let many = |tex: &&Tex| {
        let slot = program.textures[tex.texture as usize];
        (4096..4096 + 32 * 128).contains(&slot.offset)
            && matches!(tex.op, TexOp::Bundle { kind: 0, .. })
    };
    let leaves: Vec<_> = all.iter().filter(many).collect();
    assert_eq!(leaves.len(), 5);
    assert!(leaves.iter().all(|leaf| leaf.params == leaves[0].params));
}

#[test]
fn images_need_no_slots_but_for_fetches() {
    let program = lower("images", &apple9_lowering(true)).expect("lowers");
    // The one without a format; the others are accessed in memory.
    let expected = TextureSlot {
        set: 3,
        offset: 7 * 4096,
    };
    assert_eq!(program.textures, [expected]);
    assert_eq!(bundles(&program).len(), 1);
}

fn refused(name: &str, change: impl Fn(&mut ComputeLowering)) -> String {
    let mut lowering = apple9_lowering(false);
    change(&mut lowering);
    match lower(name, &lowering) {
        Err(Error::Unsupported(what)) => what,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn what_cannot_be_done_is_named() {
    let binding = |l: &mut ComputeLowering, binding: u32| {
        let at = l
            .bindings
            .iter()
            .position(|b| b.set == 3 && b.binding == binding);
        at.expect("a binding")
    };
    let missing = refused("textures", |l| {
        let at = binding(l, 0);
        l.bindings.remove(at);
    });
    assert!(
        missing.contains("set 3, binding 0, which the layout does not have"),
        "{missing}"
    );
    let kind = refused("textures", |l| {
        let at = binding(l, 0);
        l.bindings[at].kind = BindingKind::StorageImage;
    });
    assert!(
        kind.contains("set 3, binding 0, which is something else"),
        "{kind}"
    );
    let unknown = refused("textures", |l| {
        let at = binding(l, 8);
        l.bindings[at].count = 0;
    });
    assert!(
        unknown.contains("set 3, binding 8, from an array of unknown length"),
        "{unknown}"
    );
    let long = refused("textures", |l| {
        let at = binding(l, 8);
        l.bindings[at].count = 129;
    });
    assert!(
        long.contains("129 textures at set 3, binding 8, indexed at run time (at most 128)"),
        "{long}"
    );
    let together = refused("textures", |l| {
        let at = binding(l, 8);
        l.bindings[at].count = 126;
    });
    assert!(together.contains("more than 128 textures"), "{together}");
}
