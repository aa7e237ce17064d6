// SPDX-License-Identifier: MIT
//! Shader stages, as Vulkan, SPIR-V and Mesa each number them.

use crate::ffi;
use spirv::ExecutionModel;
use std::fmt;

/// A shader stage of Vulkan 1.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Vertex shader.
    Vertex,
    /// Tessellation control shader.
    TessControl,
    /// Tessellation evaluation shader.
    TessEval,
    /// Geometry shader.
    Geometry,
    /// Fragment shader.
    Fragment,
    /// Compute shader.
    Compute,
    /// Task shader (VK_EXT_mesh_shader).
    Task,
    /// Mesh shader (VK_EXT_mesh_shader).
    Mesh,
}

impl Stage {
    const ALL: [Self; 8] = [
        Self::Vertex,
        Self::TessControl,
        Self::TessEval,
        Self::Geometry,
        Self::Fragment,
        Self::Compute,
        Self::Task,
        Self::Mesh,
    ];

    pub(crate) fn to_mesa(self) -> ffi::gl_shader_stage {
        match self {
            Self::Vertex => ffi::pipe_shader_type_MESA_SHADER_VERTEX,
            Self::TessControl => ffi::pipe_shader_type_MESA_SHADER_TESS_CTRL,
            Self::TessEval => ffi::pipe_shader_type_MESA_SHADER_TESS_EVAL,
            Self::Geometry => ffi::pipe_shader_type_MESA_SHADER_GEOMETRY,
            Self::Fragment => ffi::pipe_shader_type_MESA_SHADER_FRAGMENT,
            Self::Compute => ffi::pipe_shader_type_MESA_SHADER_COMPUTE,
            Self::Task => ffi::pipe_shader_type_MESA_SHADER_TASK,
            Self::Mesh => ffi::pipe_shader_type_MESA_SHADER_MESH,
        }
    }

    pub(crate) fn from_mesa(stage: ffi::gl_shader_stage) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.to_mesa() == stage)
    }

    pub(crate) fn execution_model(self) -> ExecutionModel {
        match self {
            Self::Vertex => ExecutionModel::Vertex,
            Self::TessControl => ExecutionModel::TessellationControl,
            Self::TessEval => ExecutionModel::TessellationEvaluation,
            Self::Geometry => ExecutionModel::Geometry,
            Self::Fragment => ExecutionModel::Fragment,
            Self::Compute => ExecutionModel::GLCompute,
            Self::Task => ExecutionModel::TaskEXT,
            Self::Mesh => ExecutionModel::MeshEXT,
        }
    }

    pub(crate) fn from_execution_model(model: u32) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|s| s.execution_model() as u32 == model)
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vertex => "vertex",
            Self::TessControl => "tessellation control",
            Self::TessEval => "tessellation evaluation",
            Self::Geometry => "geometry",
            Self::Fragment => "fragment",
            Self::Compute => "compute",
            Self::Task => "task",
            Self::Mesh => "mesh",
        })
    }
}
