// SPDX-License-Identifier: MIT
//! The state of draws that is not in shaders: what pipelines say and commands may change.

use agx_hw::vdm::Primitive;
use arrayvec::ArrayVec;
use ash::vk;

/// Most viewports and scissors (graphics, 7.2; TRACE).
pub(crate) const MAX_VIEWPORTS: usize = 16;
/// Most vertex buffers.
pub(crate) const MAX_VERTEX_BUFFERS: usize = 32;

bitflags::bitflags! {
    /// What commands set instead of the pipeline.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) struct Dynamic: u32 {
        const VIEWPORT = 1 << 0;
        const SCISSOR = 1 << 1;
        const LINE_WIDTH = 1 << 2;
        const DEPTH_BIAS = 1 << 3;
        const BLEND_CONSTANTS = 1 << 4;
        const STENCIL_COMPARE_MASK = 1 << 5;
        const STENCIL_WRITE_MASK = 1 << 6;
        const STENCIL_REFERENCE = 1 << 7;
        const CULL_MODE = 1 << 8;
        const FRONT_FACE = 1 << 9;
        const TOPOLOGY = 1 << 10;
        const STRIDE = 1 << 11;
        const DEPTH_TEST = 1 << 12;
        const DEPTH_WRITE = 1 << 13;
        const DEPTH_COMPARE = 1 << 14;
        const STENCIL_TEST = 1 << 15;
        const STENCIL_OP = 1 << 16;
        const DISCARD = 1 << 17;
        const DEPTH_BIAS_ENABLE = 1 << 18;
        const RESTART = 1 << 19;
        const DEPTH_BOUNDS = 1 << 20;
        const DEPTH_BOUNDS_TEST = 1 << 21;
    }
}

impl Dynamic {
    /// What a dynamic state means; nothing for those that are not known.
    pub(crate) fn of(state: vk::DynamicState) -> Option<Dynamic> {
        Some(match state {
            vk::DynamicState::VIEWPORT | vk::DynamicState::VIEWPORT_WITH_COUNT => Dynamic::VIEWPORT,
            vk::DynamicState::SCISSOR | vk::DynamicState::SCISSOR_WITH_COUNT => Dynamic::SCISSOR,
            vk::DynamicState::LINE_WIDTH => Dynamic::LINE_WIDTH,
            vk::DynamicState::DEPTH_BIAS => Dynamic::DEPTH_BIAS,
            vk::DynamicState::BLEND_CONSTANTS => Dynamic::BLEND_CONSTANTS,
            vk::DynamicState::DEPTH_BOUNDS => Dynamic::DEPTH_BOUNDS,
            vk::DynamicState::STENCIL_COMPARE_MASK => Dynamic::STENCIL_COMPARE_MASK,
            vk::DynamicState::STENCIL_WRITE_MASK => Dynamic::STENCIL_WRITE_MASK,
            vk::DynamicState::STENCIL_REFERENCE => Dynamic::STENCIL_REFERENCE,
            vk::DynamicState::CULL_MODE => Dynamic::CULL_MODE,
            vk::DynamicState::FRONT_FACE => Dynamic::FRONT_FACE,
            vk::DynamicState::PRIMITIVE_TOPOLOGY => Dynamic::TOPOLOGY,
            vk::DynamicState::VERTEX_INPUT_BINDING_STRIDE => Dynamic::STRIDE,
            vk::DynamicState::DEPTH_TEST_ENABLE => Dynamic::DEPTH_TEST,
            vk::DynamicState::DEPTH_WRITE_ENABLE => Dynamic::DEPTH_WRITE,
            vk::DynamicState::DEPTH_COMPARE_OP => Dynamic::DEPTH_COMPARE,
            vk::DynamicState::DEPTH_BOUNDS_TEST_ENABLE => Dynamic::DEPTH_BOUNDS_TEST,
            vk::DynamicState::STENCIL_TEST_ENABLE => Dynamic::STENCIL_TEST,
            vk::DynamicState::STENCIL_OP => Dynamic::STENCIL_OP,
            vk::DynamicState::RASTERIZER_DISCARD_ENABLE => Dynamic::DISCARD,
            vk::DynamicState::DEPTH_BIAS_ENABLE => Dynamic::DEPTH_BIAS_ENABLE,
            vk::DynamicState::PRIMITIVE_RESTART_ENABLE => Dynamic::RESTART,
            _ => return None,
        })
    }
}

/// The stencil state of a face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StencilFace {
    pub(crate) fail: vk::StencilOp,
    pub(crate) pass: vk::StencilOp,
    pub(crate) depth_fail: vk::StencilOp,
    pub(crate) compare: vk::CompareOp,
    pub(crate) compare_mask: u8,
    pub(crate) write_mask: u8,
    pub(crate) reference: u8,
}

/// All of it.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) topology: Primitive,
    pub(crate) restart: bool,
    /// Bytes from vertex to vertex, by buffer.
    pub(crate) strides: [u32; MAX_VERTEX_BUFFERS],
    pub(crate) viewports: ArrayVec<vk::Viewport, MAX_VIEWPORTS>,
    pub(crate) scissors: ArrayVec<vk::Rect2D, MAX_VIEWPORTS>,
    pub(crate) discard: bool,
    pub(crate) cull: vk::CullModeFlags,
    pub(crate) front: vk::FrontFace,
    pub(crate) depth_bias_enable: bool,
    /// Constant, clamp, slope.
    pub(crate) depth_bias: [f32; 3],
    pub(crate) line_width: f32,
    pub(crate) depth_test: bool,
    pub(crate) depth_write: bool,
    pub(crate) depth_compare: vk::CompareOp,
    pub(crate) stencil_test: bool,
    /// Front, back.
    pub(crate) stencil: [StencilFace; 2],
    pub(crate) blend_constants: [f32; 4],
}

impl Default for State {
    fn default() -> State {
        State {
            topology: Primitive::Triangles,
            restart: false,
            strides: [0; MAX_VERTEX_BUFFERS],
            viewports: ArrayVec::new(),
            scissors: ArrayVec::new(),
            discard: false,
            cull: vk::CullModeFlags::NONE,
            front: vk::FrontFace::COUNTER_CLOCKWISE,
            depth_bias_enable: false,
            depth_bias: [0.0; 3],
            line_width: 1.0,
            depth_test: false,
            depth_write: false,
            depth_compare: vk::CompareOp::ALWAYS,
            stencil_test: false,
            stencil: [StencilFace::default(); 2],
            blend_constants: [0.0; 4],
        }
    }
}

impl State {
    /// Takes over what a pipeline says itself.
    pub(crate) fn bind(&mut self, of: &State, dynamic: Dynamic) {
        macro_rules! take {
            ($($flag:ident $field:ident;)*) => {$(
                if !dynamic.contains(Dynamic::$flag) {
                    self.$field.clone_from(&of.$field);
                }
            )*};
        }
        take! {
            TOPOLOGY topology;
            RESTART restart;
            STRIDE strides;
            VIEWPORT viewports;
            SCISSOR scissors;
            DISCARD discard;
            CULL_MODE cull;
            FRONT_FACE front;
            DEPTH_BIAS_ENABLE depth_bias_enable;
            DEPTH_BIAS depth_bias;
            LINE_WIDTH line_width;
            DEPTH_TEST depth_test;
            DEPTH_WRITE depth_write;
            DEPTH_COMPARE depth_compare;
            STENCIL_TEST stencil_test;
            BLEND_CONSTANTS blend_constants;
        }
        for (to, from) in self.stencil.iter_mut().zip(of.stencil) {
            let old = *to;
            *to = from;
            if dynamic.contains(Dynamic::STENCIL_OP) {
                (to.fail, to.pass) = (old.fail, old.pass);
                (to.depth_fail, to.compare) = (old.depth_fail, old.compare);
            }
            if dynamic.contains(Dynamic::STENCIL_COMPARE_MASK) {
                to.compare_mask = old.compare_mask;
            }
            if dynamic.contains(Dynamic::STENCIL_WRITE_MASK) {
                to.write_mask = old.write_mask;
            }
            if dynamic.contains(Dynamic::STENCIL_REFERENCE) {
                to.reference = old.reference;
            }
        }
    }
}

/// The hardware's primitive; nothing for patches and adjacency.
pub(crate) fn primitive(topology: vk::PrimitiveTopology) -> Option<Primitive> {
    Some(match topology {
        vk::PrimitiveTopology::POINT_LIST => Primitive::Points,
        vk::PrimitiveTopology::LINE_LIST => Primitive::Lines,
        vk::PrimitiveTopology::LINE_STRIP => Primitive::LineStrip,
        vk::PrimitiveTopology::TRIANGLE_LIST => Primitive::Triangles,
        vk::PrimitiveTopology::TRIANGLE_STRIP => Primitive::TriangleStrip,
        vk::PrimitiveTopology::TRIANGLE_FAN => Primitive::TriangleFan,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vk::DynamicState as D;

    use super::*;

    /// What the command of a dynamic state sets: copies it from the second state into the first.
    type Set = fn(&mut State, &State);

    /// The dynamic states, by the specification.
    const ALL: &[(D, Set)] = &[
        (D::VIEWPORT, |to, of| {
            to.viewports = of.viewports.clone();
        }),
        (D::SCISSOR, |to, of| {
            to.scissors = of.scissors.clone();
        }),
        (D::VIEWPORT_WITH_COUNT, |to, of| {
            to.viewports = of.viewports.clone();
        }),
        (D::SCISSOR_WITH_COUNT, |to, of| {
            to.scissors = of.scissors.clone();
        }),
        (D::LINE_WIDTH, |to, of| to.line_width = of.line_width),
        (D::DEPTH_BIAS, |to, of| to.depth_bias = of.depth_bias),
        (D::BLEND_CONSTANTS, |to, of| {
            to.blend_constants = of.blend_constants;
        }),
        // There is no test against depth bounds.
        (D::DEPTH_BOUNDS, |_, _| {}),
        (D::DEPTH_BOUNDS_TEST_ENABLE, |_, _| {}),
        (D::STENCIL_COMPARE_MASK, |to, of| {
            for (to, of) in to.stencil.iter_mut().zip(&of.stencil) {
                to.compare_mask = of.compare_mask;
            }
        }),
        (D::STENCIL_WRITE_MASK, |to, of| {
            for (to, of) in to.stencil.iter_mut().zip(&of.stencil) {
                to.write_mask = of.write_mask;
            }
        }),
        (D::STENCIL_REFERENCE, |to, of| {
            for (to, of) in to.stencil.iter_mut().zip(&of.stencil) {
                to.reference = of.reference;
            }
        }),
        (D::CULL_MODE, |to, of| to.cull = of.cull),
        (D::FRONT_FACE, |to, of| to.front = of.front),
        (D::PRIMITIVE_TOPOLOGY, |to, of| to.topology = of.topology),
        (D::VERTEX_INPUT_BINDING_STRIDE, |to, of| {
            to.strides = of.strides;
        }),
        (D::DEPTH_TEST_ENABLE, |to, of| to.depth_test = of.depth_test),
        (D::DEPTH_WRITE_ENABLE, |to, of| {
            to.depth_write = of.depth_write;
        }),
        (D::DEPTH_COMPARE_OP, |to, of| {
            to.depth_compare = of.depth_compare;
        }),
        (D::STENCIL_TEST_ENABLE, |to, of| {
            to.stencil_test = of.stencil_test;
        }),
        (D::STENCIL_OP, |to, of| {
            for (to, of) in to.stencil.iter_mut().zip(&of.stencil) {
                let StencilFace {
                    fail,
                    pass,
                    depth_fail,
                    compare,
                    ..
                } = *of;
                *to = StencilFace {
                    fail,
                    pass,
                    depth_fail,
                    compare,
                    ..*to
                };
            }
        }),
        (D::RASTERIZER_DISCARD_ENABLE, |to, of| {
            to.discard = of.discard;
        }),
        (D::DEPTH_BIAS_ENABLE, |to, of| {
            to.depth_bias_enable = of.depth_bias_enable;
        }),
        (D::PRIMITIVE_RESTART_ENABLE, |to, of| {
            to.restart = of.restart;
        }),
    ];

    /// A state that differs from the default one everywhere.
    fn other() -> State {
        let face = |n: u8| StencilFace {
            fail: vk::StencilOp::INVERT,
            pass: vk::StencilOp::REPLACE,
            depth_fail: vk::StencilOp::ZERO,
            compare: vk::CompareOp::LESS,
            compare_mask: n,
            write_mask: n + 1,
            reference: n + 2,
        };
        State {
            topology: Primitive::LineStrip,
            restart: true,
            strides: std::array::from_fn(|n| 4 * (n as u32 + 1)),
            viewports: std::iter::once(vk::Viewport::default().width(5.0)).collect(),
            scissors: std::iter::once(vk::Rect2D::default()).collect(),
            discard: true,
            cull: vk::CullModeFlags::BACK,
            front: vk::FrontFace::CLOCKWISE,
            depth_bias_enable: true,
            depth_bias: [1.0, 2.0, 3.0],
            line_width: 2.0,
            depth_test: true,
            depth_write: true,
            depth_compare: vk::CompareOp::GREATER,
            stencil_test: true,
            stencil: [face(1), face(4)],
            blend_constants: [0.1, 0.2, 0.3, 0.4],
        }
    }

    fn text(state: &State) -> String {
        format!("{state:?}")
    }

    /// Binding a pipeline sets everything but what is dynamic in it.
    fn check(picked: &[(D, Set)]) -> Result<(), TestCaseError> {
        for (old, of) in [(State::default(), other()), (other(), State::default())] {
            let mut dynamic = Dynamic::empty();
            let mut expected = of.clone();
            for (state, set) in picked {
                dynamic |= Dynamic::of(*state).expect("is known");
                set(&mut expected, &old);
            }
            let mut bound = old.clone();
            bound.bind(&of, dynamic);
            prop_assert_eq!(text(&bound), text(&expected));
        }
        Ok(())
    }

    #[test]
    fn each_dynamic_state_keeps_its_own() {
        check(&[]).unwrap();
        for one in ALL {
            check(&[*one]).unwrap();
        }
        // There is nothing else, and nothing that the two states have in common.
        check(ALL).unwrap();
        let mut changed = State::default();
        for (_, set) in ALL {
            set(&mut changed, &other());
        }
        assert_eq!(text(&changed), text(&other()));
    }

    proptest! {
        #[test]
        fn dynamic_states_do_not_touch_each_other(
            picked in proptest::sample::subsequence(ALL.to_vec(), 0..=ALL.len()),
        ) {
            check(&picked)?;
        }
    }

    #[test]
    fn what_is_not_known_is_not_dynamic() {
        assert_eq!(Dynamic::of(D::SAMPLE_LOCATIONS_EXT), None);
        assert_eq!(Dynamic::of(D::LINE_STIPPLE_KHR), None);
    }

    #[test]
    fn patches_and_adjacency_are_no_primitives() {
        use vk::PrimitiveTopology as T;
        for topology in [
            T::LINE_LIST_WITH_ADJACENCY,
            T::LINE_STRIP_WITH_ADJACENCY,
            T::TRIANGLE_LIST_WITH_ADJACENCY,
            T::TRIANGLE_STRIP_WITH_ADJACENCY,
            T::PATCH_LIST,
        ] {
            assert!(primitive(topology).is_none());
        }
        assert!(matches!(
            primitive(T::TRIANGLE_STRIP),
            Some(Primitive::TriangleStrip)
        ));
    }
}
