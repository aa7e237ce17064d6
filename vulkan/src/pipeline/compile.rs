// SPDX-License-Identifier: MIT
//! From SPIR-V to a binary, and what is printed on the way.

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use agx_compiler::binary::{ShaderBinary, Statistics};
use agx_compiler::{CompileKey, Listing};
use agx_isa::{Decoder, Mode};
use ash::vk;
use mesa_nir::{CompilerOptions, SpirvOptions, Validation, spirv_to_nir};

use super::source::{Lowering, Source};
use crate::debug::{self, Flags};
use crate::error::VkResult;

static OPTIONS: LazyLock<Arc<CompilerOptions>> =
    LazyLock::new(|| Arc::new(CompilerOptions::apple9()));
static COMPUTE: LazyLock<SpirvOptions> = LazyLock::new(|| trusting(SpirvOptions::apple9_compute()));
static GRAPHICS: LazyLock<SpirvOptions> =
    LazyLock::new(|| trusting(SpirvOptions::apple9_graphics()));

/// Without the SPIR-V validator, which takes as long as the compiler, unless it is asked for.
fn trusting(mut options: SpirvOptions) -> SpirvOptions {
    if !debug::has(Flags::VALIDATE) {
        // SAFETY: it is on the application that its modules are valid
        // (VUID-VkShaderModuleCreateInfo-pCode-08736 and those after it).
        options.validation = unsafe { Validation::nir_only() };
    }
    options
}

/// Whether `CORTLAND_DEBUG` asks for something that only a compilation gives.
pub(super) fn is_wanted_anew() -> bool {
    debug::has(Flags::NIR | Flags::IR | Flags::VALIDATE)
}

/// Compiles, and keeps the texts on the way when they are wanted.
///
/// # Errors
/// [`vk::Result::ERROR_OUT_OF_HOST_MEMORY`] when there is no memory. Everything else that can be
/// wrong with a shader, of the application's doing or the compiler's, is
/// [`vk::Result::ERROR_UNKNOWN`]: the specification lists no other for it ("either the application
/// has provided invalid input, or an implementation failure has occurred"). The message says what.
pub(super) fn compile(
    source: &Source<'_>,
    with_listing: bool,
) -> VkResult<(ShaderBinary, Option<Listing>)> {
    let is_printed = debug::has(Flags::NIR | Flags::IR);
    let mut listing = (with_listing || is_printed).then(Listing::default);
    let made = compile_plainly(source, listing.as_mut());
    // Those of a compilation that fails, too, as far as it came.
    if let Some(listing) = listing.as_ref().filter(|_| is_printed) {
        print_listing(source, listing);
    }
    match made {
        Ok(binary) => Ok((binary, listing.filter(|_| with_listing))),
        Err(error) => {
            debug::error(&format_args!("the {source}: {error}"));
            Err(match error {
                agx_compiler::Error::Nir(mesa_nir::Error::OutOfMemory) => {
                    vk::Result::ERROR_OUT_OF_HOST_MEMORY
                }
                _ => vk::Result::ERROR_UNKNOWN,
            })
        }
    }
}

fn compile_plainly(
    source: &Source<'_>,
    listing: Option<&mut Listing>,
) -> Result<ShaderBinary, agx_compiler::Error> {
    let module = source.module;
    let options = match source.lowering {
        Lowering::Compute(_) => &COMPUTE,
        Lowering::Vertex(_) | Lowering::Fragment(..) => &GRAPHICS,
    };
    let shader = spirv_to_nir(
        &module.words,
        source.lowering.stage(),
        &module.entry_point,
        &module.constants,
        options,
        &OPTIONS,
    )?;
    match &source.lowering {
        Lowering::Compute(lowering) => {
            let key = CompileKey {
                lowering: lowering.clone(),
            };
            let Some(listing) = listing else {
                return agx_compiler::compile(shader, &key);
            };
            let (binary, texts) = agx_compiler::compile_with_listing(shader, &key)?;
            *listing = texts;
            Ok(binary)
        }
        Lowering::Vertex(lowering) => agx_compiler::compile_vertex(shader, lowering, listing),
        Lowering::Fragment(lowering, _) => {
            agx_compiler::compile_fragment(shader, lowering, listing)
        }
    }
}

/// Prints the texts on the way that `CORTLAND_DEBUG` asks for.
fn print_listing(source: &Source<'_>, listing: &Listing) {
    for (flag, text) in [(Flags::NIR, &listing.nir), (Flags::IR, &listing.ssa)] {
        if debug::has(flag) && !text.is_empty() {
            debug::print(&format_args!("{source}:\n{text}"));
        }
    }
}

/// Prints what is known of any binary, compiled just now or not.
pub(super) fn print(source: &Source<'_>, binary: &ShaderBinary) {
    if debug::has(Flags::ASM) {
        debug::print(&format_args!("{source}:\n{}", disassemble(binary)));
    }
    if debug::has(Flags::STATS) {
        let numbers = describe(&binary.stats).map(|(name, _, value)| format!("{name} {value}"));
        debug::print(&format_args!("{source}: {}", numbers.join(", ")));
    }
}

/// Machine code as text, an instruction a line; without what fills up behind its end.
pub(super) fn disassemble(binary: &ShaderBinary) -> String {
    let end = binary.code.len().min(binary.stats.bytes as usize);
    let code = &binary.code[..end];
    let mut text = String::new();
    for item in Decoder::new(code, Mode::Lenient) {
        let written = match item {
            Ok((offset, instruction)) => writeln!(text, "{offset:#06x}  {instruction}"),
            Err(error) => writeln!(text, "{:#06x}  {error}", error.offset),
        };
        debug_assert!(written.is_ok(), "strings take all text");
    }
    text
}

/// Statistics with names and what they mean.
pub(super) fn describe(stats: &Statistics) -> [(&'static str, &'static str, u64); 10] {
    [
        (
            "instructions",
            "Machine instructions",
            stats.instructions.into(),
        ),
        ("bytes", "Bytes of machine code", stats.bytes.into()),
        (
            "waits",
            "Instructions that only wait for a load",
            stats.waits.into(),
        ),
        ("moves", "Moves between registers", stats.moves.into()),
        ("registers", "32-bit registers used", stats.gprs.into()),
        ("spills", "Values saved to scratch", stats.spills.into()),
        ("fills", "Values filled from scratch", stats.fills.into()),
        (
            "scratch",
            "Bytes of scratch of an invocation",
            stats.scratch.into(),
        ),
        ("loops", "Loops", stats.loops.into()),
        (
            "cycles",
            "Estimated cycles of a subgroup, loops taken as ten iterations",
            stats.cycles,
        ),
    ]
}
