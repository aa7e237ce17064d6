// SPDX-License-Identifier: MIT
//! SPIR-V to NIR.

use super::limits::{self, Cost};
use super::module::{Module, capability_name};
use super::options::{SpirvOptions, UnsupportedCapability, with_implied};
use super::validate::validate_spirv;
use crate::guarded::{self, Owned, Types};
use crate::{CompilerOptions, Error, Shader, Stage, ffi, stack};
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::Arc;

/// The value of one specialisation constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpecConstant {
    /// Its SpecId. One that the module does not have is ignored, as Vulkan says.
    pub id: u32,
    /// The value's bits, zero-extended from the width of the constant. A Boolean is a `VkBool32`: true unless the low
    /// 32 bits are zero.
    pub bits: u64,
}

/// Translate one entry point of a module to NIR.
///
/// The module is checked first: its outer form, this crate's limits, its capabilities and, unless
/// [`crate::Validation::skip`] is given, the SPIR-V validator. What Mesa makes of it goes through NIR's validator. Then
/// no module ends the process, whatever it holds.
pub fn spirv_to_nir(
    words: &[u32],
    stage: Stage,
    entry_point: &str,
    specialization: &[SpecConstant],
    options: &SpirvOptions,
    compiler_options: &Arc<CompilerOptions>,
) -> Result<Shader, Error> {
    let module = Module::parse(words)?;
    module.require_entry_point(entry_point, stage)?;
    let mut warnings = check_capabilities(&module, options)?;
    let cost = limits::check(&module, specialization)?;
    stack::run(cost.deep, || {
        if options.validation.spirv {
            validate_spirv(words, options.block_layout)?;
        }
        let (shader, log) = translate(
            &module,
            stage,
            entry_point,
            specialization,
            options,
            compiler_options,
            cost,
        )?;
        warnings.extend(log);
        let shader = shader.with_warnings(warnings);
        // What only Mesa's own checks in debug builds would find must not reach its passes.
        match options.validation.nir {
            true => shader.validate(),
            false => Ok(shader),
        }
    })?
}

/// Reject or warn of capabilities that are not enabled.
fn check_capabilities(module: &Module<'_>, options: &SpirvOptions) -> Result<Vec<String>, Error> {
    let mut warnings = Vec::new();
    let mut declared = module.capabilities.iter();
    if declared.all(|&c| options.capabilities.has_with_implied(c)) {
        return Ok(warnings);
    }
    for capability in with_implied(&module.capabilities) {
        if options.capabilities.has(capability) {
            continue;
        }
        let mut name = capability_name(capability);
        if !module.capabilities.contains(&capability) {
            name += " (by implication)";
        }
        match options.unsupported_capability {
            UnsupportedCapability::Reject => return Err(Error::UnsupportedCapability(name)),
            UnsupportedCapability::Warn => {
                warnings.push(format!(
                    "the module declares the capability {name}, which is not enabled"
                ));
            }
        }
    }
    Ok(warnings)
}

fn translate(
    module: &Module<'_>,
    stage: Stage,
    entry_point: &str,
    specialization: &[SpecConstant],
    options: &SpirvOptions,
    compiler_options: &Arc<CompilerOptions>,
    cost: Cost,
) -> Result<(Shader, Vec<String>), Error> {
    let types = Types::acquire();
    let entry_point = CString::new(entry_point)
        .map_err(|e| Error::Malformed(format!("entry-point name: {e}")))?;
    let capabilities = options.capabilities.to_mesa(&module.capabilities);
    let mut log = Log::default();
    let mesa_options = mesa_options(options, &capabilities, &mut log);
    let mut constants: Vec<_> = specialization.iter().map(mesa_constant).collect();
    let (shader, failure) = guarded::call(|failure| {
        // SAFETY: every pointer is to a live object that outlasts the call, with its length where it has one; the
        // compiler options live as long as the shader, which holds them and is no one else's. Mesa finds only what
        // Module::parse, the limits and the validator (or the caller, by Validation's unsafe functions) have let through.
        unsafe {
            Owned::new(ffi::cortland_spirv_to_nir(
                module.words.as_ptr(),
                module.words.len(),
                constants.as_mut_ptr(),
                constants.len() as u32,
                stage.to_mesa(),
                entry_point.as_ptr(),
                &raw const mesa_options,
                compiler_options.as_ptr(),
                failure,
            ))
        }
    });
    let Some(shader) = shader else {
        return Err(failure.into_error(|| {
            Error::Translation(log.error.unwrap_or_else(|| "no reason given".into()))
        }));
    };
    // SAFETY: a shader made just now with these options, while types was held.
    let shader = unsafe { Shader::from_owned(shader, types, compiler_options.clone(), cost.deep) };
    Ok((shader, log.warnings))
}

fn mesa_constant(constant: &SpecConstant) -> ffi::nir_spirv_specialization {
    ffi::nir_spirv_specialization {
        id: constant.id,
        value: ffi::nir_const_value {
            u64_: constant.bits,
        },
        defined_on_module: false,
    }
}

fn mesa_options(
    o: &SpirvOptions,
    capabilities: &ffi::spirv_capabilities,
    log: &mut Log,
) -> ffi::spirv_to_nir_options {
    ffi::spirv_to_nir_options {
        environment: ffi::nir_spirv_execution_environment_NIR_SPIRV_VULKAN,
        view_index_is_input: o.view_index_is_input,
        float_controls_execution_mode: o.float_controls.0,
        subgroup_size: o.subgroup_size.to_mesa(),
        mediump_16bit_alu: o.mediump_16bit_alu,
        mediump_16bit_derivatives: o.mediump_16bit_derivatives,
        debug_info: o.debug_info,
        capabilities,
        ubo_addr_format: o.ubo_address.to_mesa(),
        ssbo_addr_format: o.ssbo_address.to_mesa(),
        phys_ssbo_addr_format: o.physical_ssbo_address.to_mesa(),
        push_const_addr_format: o.push_constant_address.to_mesa(),
        shared_addr_format: o.shared_address.to_mesa(),
        task_payload_addr_format: o.task_payload_address.to_mesa(),
        min_ubo_alignment: o.min_ubo_alignment,
        min_ssbo_alignment: o.min_ssbo_alignment,
        force_tex_non_uniform: o.force_tex_non_uniform,
        force_ssbo_non_uniform: o.force_ssbo_non_uniform,
        lower_terminate_to_discard: o.lower_terminate_to_discard,
        debug: ffi::spirv_to_nir_options__bindgen_ty_1 {
            func: Some(collect),
            private_data: (&raw mut *log).cast(),
        },
        ..Default::default()
    }
}

/// What Mesa says during a translation.
#[derive(Default)]
struct Log {
    warnings: Vec<String>,
    error: Option<String>,
}

/// Mesa's callback for messages.
unsafe extern "C" fn collect(
    log: *mut c_void,
    level: ffi::nir_spirv_debug_level,
    _offset: usize,
    message: *const c_char,
) {
    let is_error = level == ffi::nir_spirv_debug_level_NIR_SPIRV_DEBUG_LEVEL_ERROR;
    let is_warning = level == ffi::nir_spirv_debug_level_NIR_SPIRV_DEBUG_LEVEL_WARNING;
    if !is_error && !is_warning {
        return;
    }
    // SAFETY: mesa_options() gave a Log that outlasts the call and that nothing else uses meanwhile; the message is a
    // NUL-terminated string.
    let (log, message) = unsafe { (&mut *log.cast::<Log>(), CStr::from_ptr(message)) };
    let message = tidy(&message.to_string_lossy());
    if is_error {
        log.error = Some(message);
    } else {
        log.warnings.push(message);
    }
}

/// Mesa's messages are paragraphs made for a terminal: a heading, then indented lines.
fn tidy(message: &str) -> String {
    let lines = message.lines().map(str::trim).filter(|l| !l.is_empty());
    let body: Vec<_> = lines
        .filter(|l| !(l.starts_with("SPIR-V") && l.ends_with(':')))
        .collect();
    body.join("; ")
}
