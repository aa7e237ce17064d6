// SPDX-License-Identifier: MIT
//! The fragment shader, and the tests around it.

use ash::vk;
use mesa_nir::BindingLayout;

use crate::pipeline::graphics_state::StencilFace;
use crate::pipeline::source::Module;

/// What a pipeline says of its fragments.
#[derive(Clone)]
pub(super) struct Fragment<'a> {
    /// Nothing: fragments do nothing but what tests do.
    pub(super) module: Option<Module<'a>>,
    pub(super) bindings: Vec<BindingLayout>,
    /// The smallest part of the samples that have an invocation of their own, if any.
    pub(super) sample_shading: Option<f32>,
    pub(super) tests: Tests,
}

/// Depth and stencil.
#[derive(Clone, Copy)]
pub(super) struct Tests {
    pub(super) depth: bool,
    pub(super) depth_write: bool,
    pub(super) depth_compare: vk::CompareOp,
    pub(super) stencil: bool,
    /// Front, back.
    pub(super) faces: [StencilFace; 2],
}

impl Tests {
    /// All pass.
    pub(super) const NONE: Tests = Tests {
        depth: false,
        depth_write: false,
        depth_compare: vk::CompareOp::ALWAYS,
        stencil: false,
        faces: [StencilFace {
            fail: vk::StencilOp::KEEP,
            pass: vk::StencilOp::KEEP,
            depth_fail: vk::StencilOp::KEEP,
            compare: vk::CompareOp::NEVER,
            compare_mask: 0,
            write_mask: 0,
            reference: 0,
        }; 2],
    };

    pub(super) fn of(state: &vk::PipelineDepthStencilStateCreateInfo<'_>) -> Tests {
        Tests {
            depth: state.depth_test_enable == vk::TRUE,
            depth_write: state.depth_write_enable == vk::TRUE,
            depth_compare: state.depth_compare_op,
            stencil: state.stencil_test_enable == vk::TRUE,
            faces: [state.front, state.back].map(|face| StencilFace {
                fail: face.fail_op,
                pass: face.pass_op,
                depth_fail: face.depth_fail_op,
                compare: face.compare_op,
                compare_mask: face.compare_mask as u8,
                write_mask: face.write_mask as u8,
                reference: face.reference as u8,
            }),
        }
    }
}

/// What a pipeline asks of sample shading.
pub(super) fn sample_shading(
    multisample: &vk::PipelineMultisampleStateCreateInfo<'_>,
) -> Option<f32> {
    (multisample.sample_shading_enable == vk::TRUE).then_some(multisample.min_sample_shading)
}
