// SPDX-License-Identifier: MIT
//! Every change of what a binary depends on is another key.

use agx_hw::launcher::Samples;
use mesa_nir::{BlendFactor, BlendOp, ColourEncoding, LogicOp, SpecConstant};

use super::*;
use crate::pipeline::source::Module;

/// A source, its module with it.
#[derive(Clone)]
struct Whole {
    chip: Chip,
    module: Module<'static>,
    lowering: Lowering,
}

impl Whole {
    fn key(&self) -> Key {
        let source = Source {
            module: &self.module,
            lowering: self.lowering.clone(),
        };
        source.key(self.chip)
    }

    fn compute(&mut self) -> &mut ComputeLowering {
        match &mut self.lowering {
            Lowering::Compute(lowering) => lowering,
            other => panic!("{other:?}"),
        }
    }

    fn vertex(&mut self) -> &mut VertexLowering {
        match &mut self.lowering {
            Lowering::Vertex(lowering) => lowering,
            other => panic!("{other:?}"),
        }
    }

    fn fragment(&mut self) -> &mut FragmentLowering {
        match &mut self.lowering {
            Lowering::Fragment(lowering, _) => lowering,
            other => panic!("{other:?}"),
        }
    }

    fn attachment(&mut self) -> &mut Attachment {
        self.fragment().attachments[1].as_mut().expect("there")
    }

    fn input(&mut self) -> &mut TileInput {
        &mut self.fragment().inputs[0]
    }

    fn colour(&mut self) -> &mut BlendEquation {
        &mut self.attachment().blend.as_mut().expect("there").colour
    }

    fn alpha(&mut self) -> &mut BlendEquation {
        &mut self.attachment().blend.as_mut().expect("there").alpha
    }

    fn bindings(&mut self) -> &mut Vec<BindingLayout> {
        match &mut self.lowering {
            Lowering::Compute(lowering) => &mut lowering.bindings,
            Lowering::Vertex(lowering) => &mut lowering.bindings,
            Lowering::Fragment(lowering, _) => &mut lowering.bindings,
        }
    }
}

fn whole(lowering: Lowering) -> Whole {
    Whole {
        chip: Chip::M4,
        module: Module {
            words: Vec::new().into(),
            hash: blake3::hash(b"module"),
            entry_point: "main".into(),
            constants: vec![SpecConstant { id: 3, bits: 4 }],
            robust: false,
            custom_border_colors: false,
        },
        lowering,
    }
}

fn bindings() -> Vec<BindingLayout> {
    vec![BindingLayout {
        set: 1,
        binding: 2,
        place: Place::Set(1),
        offset: 32,
        stride: 16,
        count: 1,
        kind: BindingKind::Buffer,
    }]
}

fn compute() -> Whole {
    whole(Lowering::Compute(ComputeLowering {
        bindings: bindings(),
        robust: false,
        has_base_workgroup: false,
        custom_border_colors: false,
    }))
}

fn vertex() -> Whole {
    whole(Lowering::Vertex(VertexLowering {
        bindings: bindings(),
        attributes: vec![
            Attribute {
                location: 1,
                binding: 2,
                offset: 3,
                format: 4,
                rate: Rate::Vertex,
            };
            2
        ],
        varyings: Some(vec![(1, 2), (3, 0)]),
        ..VertexLowering::default()
    }))
}

fn fragment() -> Whole {
    let mut attachments = [None; mesa_nir::MAX_ATTACHMENTS];
    let equation = BlendEquation {
        op: BlendOp::Add,
        src: BlendFactor::One,
        dst: BlendFactor::Zero,
    };
    attachments[1] = Some(Attachment {
        format: ColourFormat {
            encoding: ColourEncoding::Unorm8,
            components: 4,
        },
        word: 0,
        write_mask: 15,
        blend: Some(Blend {
            colour: equation,
            alpha: equation,
        }),
    });
    let lowering = FragmentLowering {
        bindings: bindings(),
        attachments,
        inputs: vec![TileInput {
            index: 0,
            format: ColourFormat {
                encoding: ColourEncoding::Unorm8,
                components: 4,
            },
            word: 1,
        }],
        ..FragmentLowering::default()
    };
    let storage = Storage::Tile {
        samples: Samples::One,
        units: 1,
    };
    whole(Lowering::Fragment(lowering, storage))
}

type Change = fn(&mut Whole);

/// What all stages have.
const COMMON: &[Change] = &[
    |w| w.chip = Chip::A18Pro,
    |w| w.module.hash = blake3::hash(b"other"),
    |w| w.module.entry_point = "mains".into(),
    |w| w.module.constants.clear(),
    |w| w.module.constants[0] = SpecConstant { id: 4, bits: 3 },
    |w| w.module.constants.push(SpecConstant { id: 3, bits: 4 }),
    |w| w.bindings().clear(),
    |w| w.bindings().extend(bindings()),
    |w| w.bindings()[0].set = 0,
    |w| w.bindings()[0].binding = 3,
    |w| w.bindings()[0].place = Place::Set(2),
    |w| w.bindings()[0].place = Place::Dynamic,
    |w| w.bindings()[0].offset = 48,
    |w| w.bindings()[0].stride = 32,
    |w| w.bindings()[0].count = 2,
    |w| w.bindings()[0].kind = BindingKind::InlineUniform,
];

const COMPUTE: &[Change] = &[
    |w| w.compute().robust = true,
    |w| w.compute().has_base_workgroup = true,
    |w| w.compute().custom_border_colors = true,
];

const VERTEX: &[Change] = &[
    |w| w.vertex().robust = true,
    |w| w.vertex().custom_border_colors = true,
    |w| w.vertex().point_size = true,
    |w| w.vertex().view = Some(0),
    |w| w.vertex().view = Some(1),
    |w| w.vertex().varyings = None,
    |w| w.vertex().varyings = Some(Vec::new()),
    |w| w.vertex().varyings = Some(vec![(3, 0), (1, 2)]),
    |w| w.vertex().varyings = Some(vec![(1, 2), (3, 1)]),
    |w| w.vertex().varyings = Some(vec![(1, 2), (3, 0), (4, 0)]),
    |w| w.vertex().attributes.truncate(1),
    |w| w.vertex().attributes[1].location = 2,
    |w| w.vertex().attributes[1].binding = 1,
    |w| w.vertex().attributes[1].offset = 4,
    |w| w.vertex().attributes[1].format = 3,
    |w| w.vertex().attributes[1].rate = Rate::Instance { divisor: 0 },
    |w| w.vertex().attributes[1].rate = Rate::Instance { divisor: 1 },
    |w| w.vertex().attributes[0].rate = Rate::Instance { divisor: 1 },
];

const FRAGMENT: &[Change] = &[
    |w| w.fragment().robust = true,
    |w| w.fragment().custom_border_colors = true,
    |w| w.fragment().samples = 4,
    |w| w.fragment().sample_shading = true,
    |w| w.fragment().alpha_to_coverage = true,
    |w| w.fragment().alpha_to_one = true,
    |w| w.fragment().full_coverage = true,
    |w| w.fragment().sample_mask = 1,
    |w| w.fragment().logic_op = Some(LogicOp::Clear),
    |w| w.fragment().logic_op = Some(LogicOp::Xor),
    |w| w.fragment().view = Some(0),
    |w| w.fragment().view = Some(1),
    |w| w.fragment().attachments[1] = None,
    |w| w.fragment().attachments.swap(0, 1),
    |w| w.fragment().attachments[0] = w.fragment().attachments[1],
    |w| w.attachment().format.encoding = ColourEncoding::Srgb8,
    |w| w.attachment().format.components = 3,
    |w| w.attachment().word = 1,
    |w| w.attachment().write_mask = 7,
    |w| w.fragment().inputs.clear(),
    |w| w.input().index = 1,
    |w| w.input().format.encoding = ColourEncoding::Srgb8,
    |w| w.input().format.components = 3,
    |w| w.input().word = 0,
    |w| {
        let second = *w.input();
        w.fragment().inputs.push(second);
    },
    |w| w.attachment().blend = None,
    |w| w.colour().op = BlendOp::Max,
    |w| w.colour().src = BlendFactor::Src1Alpha,
    |w| w.colour().dst = BlendFactor::Src1Alpha,
    |w| w.alpha().op = BlendOp::Max,
    |w| w.alpha().src = BlendFactor::Src1Alpha,
    |w| w.alpha().dst = BlendFactor::Src1Alpha,
    |w| w.storage(Samples::One, 2),
    |w| w.storage(Samples::Two, 1),
];

impl Whole {
    fn storage(&mut self, samples: Samples, units: u8) {
        match &mut self.lowering {
            Lowering::Fragment(_, storage) => *storage = Storage::Tile { samples, units },
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn keys_depend_on_everything() {
    let mut keys = Vec::new();
    type Case = (fn() -> Whole, &'static [Change]);
    let of: [Case; 3] = [(compute, COMPUTE), (vertex, VERTEX), (fragment, FRAGMENT)];
    for (make, own) in of {
        let plain = make().key();
        assert_eq!(plain, make().key());
        keys.push(plain);
        for change in COMMON.iter().chain(own) {
            let mut changed = make();
            change(&mut changed);
            keys.push(changed.key());
        }
    }
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count);
}

/// The same words are another shader in another stage.
#[test]
fn stages_have_keys_of_their_own() {
    let mut bare = [compute(), vertex(), fragment()];
    bare[0].lowering = Lowering::Compute(ComputeLowering::default());
    bare[1].lowering = Lowering::Vertex(VertexLowering::default());
    bare[2].lowering = Lowering::Fragment(FragmentLowering::default(), Storage::None);
    let [compute, vertex, fragment] = bare.map(|whole| whole.key());
    assert!(compute != vertex && vertex != fragment && fragment != compute);
}
