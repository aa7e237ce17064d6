// SPDX-License-Identifier: MIT
//! The whole way from NIR to a binary.

use mesa_nir::program::Program;
use mesa_nir::{ComputeLowering, Shader};

use crate::binary::{Pointer, Resource, ShaderBinary, Statistics};
use crate::error::Error;
use crate::ir::{Function, validate};
use crate::{emit, legalize, opt, regalloc, select, spill};

/// Registers that spilling leaves for values; the rest is room for tuples to move about.
const REGISTERS: u32 = 92;

/// What a binary depends on besides the shader.
#[derive(Debug, Clone, Default)]
pub struct CompileKey {
    /// How the front end lowers it: the layout of descriptor sets, robustness.
    pub lowering: ComputeLowering,
}

/// Texts of the stages that a shader goes through.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Lowered NIR, as NIR prints it.
    pub nir: String,
    /// The SSA form before register allocation.
    pub ssa: String,
    /// On registers.
    pub registers: String,
}

/// Compiles a compute shader.
///
/// # Errors
/// When the shader needs something that the hardware or this compiler does not have, or more of something than there
/// is; the error names it.
pub fn compile(shader: Shader, key: &CompileKey) -> Result<ShaderBinary, Error> {
    let shader = shader.lower_compute(&key.lowering)?;
    let program = shader.into_program()?;
    compile_program(&program, key, None)
}

/// The same, and the texts on the way.
///
/// # Errors
/// As [`compile`].
pub fn compile_with_listing(
    shader: Shader,
    key: &CompileKey,
) -> Result<(ShaderBinary, Listing), Error> {
    let shader = shader.lower_compute(&key.lowering)?;
    let mut listing = Listing {
        nir: shader.print()?,
        ..Listing::default()
    };
    let program = shader.into_program()?;
    let binary = compile_program(&program, key, Some(&mut listing))?;
    Ok((binary, listing))
}

/// Compiles a lowered program.
///
/// # Errors
/// As [`compile`].
pub fn compile_program(
    program: &Program,
    key: &CompileKey,
    mut listing: Option<&mut Listing>,
) -> Result<ShaderBinary, Error> {
    let select::Selected {
        mut function,
        mut pointers,
    } = select::select(program)?;
    check(&function, "selection")?;
    opt::factor_rotates(&mut function);
    opt::eliminate_dead_code(&mut function);
    check(&function, "dead-code elimination")?;
    legalize::legalize(&mut function);
    opt::eliminate_dead_code(&mut function);
    check(&function, "legalisation")?;
    opt::schedule(&mut function);
    check(&function, "scheduling")?;
    spill::run(&mut function, REGISTERS).map_err(Error::Limit)?;
    check(&function, "spilling")?;
    if let Some(listing) = &mut listing {
        listing.ssa = function.to_string();
    }
    regalloc::run(&mut function).map_err(|what| Error::Internal {
        pass: "register allocation",
        what,
    })?;
    if let Some(listing) = &mut listing {
        listing.registers = function.to_string();
    }
    let code = emit::run(&function).map_err(|what| Error::Internal {
        pass: "emission",
        what,
    })?;
    // The tested range of launch programs begins at two pointers (launch, 6.2; HW).
    while pointers.len() < 2 {
        pointers.push(Pointer::Unused);
    }
    let scratch = scratch_bytes(code.scratch_words)?;
    let stats = Statistics {
        scratch: scratch.into(),
        ..code.stats
    };
    Ok(ShaderBinary {
        code: code.bytes,
        workgroup_size: program.workgroup_size,
        pointers,
        publications: 0,
        scratch_bytes: scratch,
        spill_bytes: scratch,
        threadgroup_bytes: program.shared_bytes,
        workgroup_buffer_bytes: program.workgroup_buffer_bytes,
        resources: resources(key),
        stats,
    })
}

/// Largest scratch frame (launch, 9; HW).
const MAX_SCRATCH_BYTES: u32 = 0x8000;
fn scratch_bytes(words: u32) -> Result<u16, Error> {
    // The proven driver rounds up to 16 (isa-2, 4; HW).
    let bytes = words.saturating_mul(4).next_multiple_of(16);
    match u16::try_from(bytes) {
        Ok(fits) if bytes <= MAX_SCRATCH_BYTES => Ok(fits),
        _ => Err(Error::Limit(format!(
            "{bytes} bytes of scratch for each invocation, of {MAX_SCRATCH_BYTES}"
        ))),
    }
}

fn resources(key: &CompileKey) -> Vec<Resource> {
    let all = key.lowering.bindings.iter();
    all.map(|b| Resource {
        set: b.set,
        binding: b.binding,
    })
    .collect()
}

/// In debug builds, the rules of the SSA form after a pass.
fn check(function: &Function, pass: &'static str) -> Result<(), Error> {
    if cfg!(debug_assertions) {
        validate::validate(function).map_err(|what| Error::Internal { pass, what })?;
    }
    Ok(())
}
