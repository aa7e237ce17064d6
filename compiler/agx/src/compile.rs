// SPDX-License-Identifier: MIT
//! The whole way from NIR to a binary.

use agx_hw::cdm::MAX_THREADS;
use agx_hw::launcher::{MAX_POINTERS, MAX_SCRATCH, MAX_THREADGROUP_BYTES, MIN_POINTERS};
use mesa_nir::program::Program;
use mesa_nir::{BindingLayout, ComputeLowering, FragmentLowering, Shader, VertexLowering};

use crate::analysis::Liveness;
use crate::binary::{Pointer, Resource, ShaderBinary, Statistics};
use crate::error::Error;
use crate::ir::{Function, validate};
use crate::{emit, legalize, opt, regalloc, select, spill};

/// How many values spilling leaves in registers; the rest is room for tuples to move about. The lower limits are for
/// shaders in which so many lanes wait with so much that there is no room for operands that an instruction destroys.
const SPILL_LIMITS: [u32; 5] = [92, 72, 56, 40, 28];

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

/// Compiles a vertex shader.
///
/// # Errors
/// As [`compile`].
pub fn compile_vertex(
    shader: Shader,
    lowering: &VertexLowering,
    listing: Option<&mut Listing>,
) -> Result<ShaderBinary, Error> {
    compile_lowered(shader.lower_vertex(lowering)?, &lowering.bindings, listing)
}

/// Compiles a fragment shader.
///
/// # Errors
/// As [`compile`].
pub fn compile_fragment(
    shader: Shader,
    lowering: &FragmentLowering,
    listing: Option<&mut Listing>,
) -> Result<ShaderBinary, Error> {
    compile_lowered(
        shader.lower_fragment(lowering)?,
        &lowering.bindings,
        listing,
    )
}

fn compile_lowered(
    shader: Shader,
    bindings: &[BindingLayout],
    mut listing: Option<&mut Listing>,
) -> Result<ShaderBinary, Error> {
    if let Some(listing) = &mut listing {
        listing.nir = shader.print()?;
    }
    let key = CompileKey {
        lowering: ComputeLowering {
            bindings: bindings.to_vec(),
            ..ComputeLowering::default()
        },
    };
    compile_program(&shader.into_program()?, &key, listing)
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
        function,
        mut pointers,
        textures,
        samplers,
    } = select::select(program)?;
    within_limits(program, &pointers)?;
    let assembled = assemble(function, &mut listing)?;
    let least = usize::from(MIN_POINTERS).max(pointers.len());
    pointers.resize(least, Pointer::Unused);
    Ok(ShaderBinary {
        code: assembled.code,
        stage: program.stage.clone(),
        workgroup_size: program.workgroup_size,
        pointers,
        publications: assembled.publications,
        textures,
        samplers,
        scratch_bytes: assembled.scratch,
        spill_bytes: assembled.scratch,
        threadgroup_bytes: program.shared_bytes,
        workgroup_buffer_bytes: program.workgroup_buffer_bytes,
        resources: resources(key),
        stats: assembled.stats,
    })
}

/// Machine code and what its launch must know.
pub(crate) struct Assembled {
    /// STOP included.
    pub(crate) code: Vec<u8>,
    /// Bytes of scratch.
    pub(crate) scratch: u16,
    /// One more than the highest publication.
    pub(crate) publications: u16,
    /// What was emitted.
    pub(crate) stats: Statistics,
}

/// All that comes behind selection.
pub(crate) fn assemble(
    mut function: Function,
    listing: &mut Option<&mut Listing>,
) -> Result<Assembled, Error> {
    check(&function, "selection")?;
    opt::factor_rotates(&mut function);
    opt::eliminate_dead_code(&mut function);
    check(&function, "dead-code elimination")?;
    // Nothing is dead behind it: it takes no use away, and what it makes is read.
    legalize::legalize(&mut function);
    check(&function, "legalisation")?;
    let liveness = opt::schedule(&mut function);
    check(&function, "scheduling")?;
    select::texture::mark_last_reads(&mut function);
    let function = assign_registers(&function, &liveness, listing)?;
    if let Some(listing) = listing {
        listing.registers = function.to_string();
    }
    let code = emit::run(&function).map_err(|what| Error::Internal {
        pass: "emission",
        what,
    })?;
    let scratch = scratch_bytes(code.scratch_words)?;
    Ok(Assembled {
        publications: select::texture::publications(&function),
        code: code.bytes,
        scratch,
        stats: Statistics {
            scratch: scratch.into(),
            ..code.stats
        },
    })
}

/// Refuses what no launch program can set up.
fn within_limits(program: &Program, pointers: &[Pointer]) -> Result<(), Error> {
    if pointers.len() > usize::from(MAX_POINTERS) {
        let is_set = |p: &&Pointer| matches!(p, Pointer::DescriptorSet(_));
        return Err(Error::Limit(format!(
            "{} pointers, {} of them to descriptor sets, of {MAX_POINTERS} that a launch can give",
            pointers.len(),
            pointers.iter().filter(is_set).count()
        )));
    }
    if program.shared_bytes > MAX_THREADGROUP_BYTES {
        return Err(Error::Limit(format!(
            "{} bytes of threadgroup memory, of {MAX_THREADGROUP_BYTES}",
            program.shared_bytes
        )));
    }
    let invocations: u64 = program.workgroup_size.map(u64::from).iter().product();
    if invocations > u64::from(MAX_THREADS) {
        return Err(Error::Limit(format!(
            "{invocations} invocations of a workgroup, of {MAX_THREADS}"
        )));
    }
    Ok(())
}

/// Allocates registers, and spills before if there are too few.
fn assign_registers(
    function: &Function,
    liveness: &Liveness,
    listing: &mut Option<&mut Listing>,
) -> Result<Function, Error> {
    // Most functions fit, and when few registers are taken there is no need to ask how many it would take.
    let whole = regalloc::run_with(function, liveness, regalloc::FILE as u8);
    let pressure = match &whole {
        Ok(allocated) => {
            spill::pressure_with(function, liveness, allocated.registers, SPILL_LIMITS[0])
        }
        Err(_) => spill::pressure(function),
    };
    let mut whole = Some(whole.map(|allocated| allocated.function));
    let mut limits = SPILL_LIMITS.into_iter().peekable();
    let mut last = None;
    while let Some(limit) = limits.next() {
        let done = if pressure > limit {
            let mut attempt = function.clone();
            spill::run(&mut attempt, limit).map_err(Error::Limit)?;
            check(&attempt, "spilling")?;
            list(&attempt, listing);
            regalloc::run(&attempt)
        } else if let Some(whole) = whole.take() {
            list(function, listing);
            whole
        } else {
            continue;
        };
        match done {
            Ok(function) => return Ok(function),
            Err(failure @ regalloc::Failure::Room(_)) if limits.peek().is_some() => {
                last = Some(failure);
            }
            Err(failure) => return Err(no_registers(&failure)),
        }
    }
    // There is a limit, so that something was tried.
    Err(last.map_or_else(
        || Error::Limit("no limit for spilling is left".into()),
        |failure| no_registers(&failure),
    ))
}

fn no_registers(failure: &regalloc::Failure) -> Error {
    Error::Internal {
        pass: "register allocation",
        what: failure.to_string(),
    }
}

/// Keeps the text of what registers are allocated for.
fn list(function: &Function, listing: &mut Option<&mut Listing>) {
    if let Some(listing) = listing {
        listing.ssa = function.to_string();
    }
}

/// Bytes of a scratch frame of so many words.
fn scratch_bytes(words: u32) -> Result<u16, Error> {
    // The proven driver rounds up to 16 (isa-2, 4; HW).
    let bytes = words.saturating_mul(4).next_multiple_of(16);
    match u16::try_from(bytes) {
        Ok(fits) if fits <= MAX_SCRATCH => Ok(fits),
        _ => Err(Error::Limit(format!(
            "{bytes} bytes of scratch for each invocation, of {MAX_SCRATCH}"
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
