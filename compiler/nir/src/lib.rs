// SPDX-License-Identifier: MIT
//! Mesa's NIR and its SPIR-V front end, safely.
//!
//! A [`Shader`] owns one NIR shader. [`spirv_to_nir`] makes one from a SPIR-V module; it can then be printed,
//! validated, cloned and serialised. This is the only crate that knows Mesa's C.
//!
//! A driver runs inside other people's programs, so nothing that comes in may end the process: a module is checked by
//! the SPIR-V validator, unless the caller vouches for it ([`Validation`]), and by this crate's own limits before Mesa
//! sees it, and what Mesa asserts comes back as an [`Error`].

mod allocator;
mod apple9;
mod blob;
mod compiler_options;
mod error;
mod ffi;
mod graphics;
mod guarded;
pub mod program;
mod shader;
mod spirv;
mod stack;
mod stage;

pub use allocator::Allocator;
pub use apple9::{
    BindingKind, BindingLayout, ComputeLowering, MOST_SLICES, Place, SINK_PAGE, ZERO_PAGE,
};
pub use blob::BlobKey;
pub use compiler_options::{
    CompilerOptions, Divergence, IoOptions, LowerDoubles, LowerInt64, PackingOps, StageSet,
    VariableModes,
};
pub use error::Error;
pub use graphics::{
    Attachment, Attribute, Blend, BlendEquation, BlendFactor, BlendOp, ColourEncoding,
    ColourFormat, FragmentLowering, LogicOp, MAX_ATTACHMENTS, Rate, TileInput, VertexLowering,
};
pub use guarded::MEMORY_BUDGET;
pub use shader::{Info, Shader};
pub use spirv::assemble::assemble;
pub use spirv::options::{
    AddressFormat, BlockLayout, Capabilities, FloatControls, SpirvOptions, SubgroupSize,
    UnsupportedCapability, Validation,
};
pub use spirv::translate::{SpecConstant, spirv_to_nir};
#[doc(hidden)]
pub use spirv::validate::validator_runs;
pub use spirv::validate::{forget_validated_modules, validate_spirv};
pub use stage::Stage;

/// A SPIR-V capability, by the name that the SPIR-V specification gives it.
pub use ::spirv::Capability;
