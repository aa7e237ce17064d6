// SPDX-License-Identifier: MIT
//! The C interface of SPIRV-Tools: the few calls that validate and assemble.
//!
//! Declared here rather than taken from the spirv-tools crate, so that the system's library serves as well.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

#[cfg(feature = "bundled-spirv-tools")]
use spirv_tools_sys as _;

/// `SPV_ENV_VULKAN_1_3`.
const VULKAN_1_3: c_int = 25;

#[repr(C)]
struct ConstBinary {
    code: *const u32,
    word_count: usize,
}

#[repr(C)]
struct Binary {
    code: *mut u32,
    word_count: usize,
}

#[repr(C)]
struct Diagnostic {
    line: usize,
    column: usize,
    index: usize,
    error: *mut c_char,
    is_text: bool,
}

// SAFETY: the declarations of spirv-tools/libspirv.h, whose interface is stable.
unsafe extern "C" {
    fn spvContextCreate(env: c_int) -> *mut c_void;
    fn spvContextDestroy(context: *mut c_void);
    fn spvValidatorOptionsCreate() -> *mut c_void;
    fn spvValidatorOptionsDestroy(options: *mut c_void);
    fn spvValidatorOptionsSetScalarBlockLayout(options: *mut c_void, on: bool);
    fn spvValidatorOptionsSetWorkgroupScalarBlockLayout(options: *mut c_void, on: bool);
    fn spvValidatorOptionsSetUniformBufferStandardLayout(options: *mut c_void, on: bool);
    fn spvValidatorOptionsSetAllowLocalSizeId(options: *mut c_void, on: bool);
    fn spvValidateWithOptions(
        context: *const c_void,
        options: *const c_void,
        binary: *const ConstBinary,
        diagnostic: *mut *mut Diagnostic,
    ) -> c_int;
    fn spvTextToBinaryWithOptions(
        context: *const c_void,
        text: *const c_char,
        length: usize,
        options: u32,
        binary: *mut *mut Binary,
        diagnostic: *mut *mut Diagnostic,
    ) -> c_int;
    fn spvBinaryDestroy(binary: *mut Binary);
    fn spvDiagnosticDestroy(diagnostic: *mut Diagnostic);
}

/// Keep the numbers of identifiers that are numbers in the text: `SPV_TEXT_TO_BINARY_OPTION_PRESERVE_NUMERIC_IDS`.
const PRESERVE_NUMERIC_IDS: u32 = 2;

/// A context for Vulkan 1.3. It is not shared between threads.
pub(crate) struct Context(*mut c_void);

/// The layout rules that the validator should grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layouts {
    pub(crate) uniform_standard: bool,
    pub(crate) scalar: bool,
}

impl Context {
    pub(crate) fn new() -> Self {
        // SAFETY: a valid environment number.
        Self(unsafe { spvContextCreate(VULKAN_1_3) })
    }

    /// Validate; the error is the validator's message.
    pub(crate) fn validate(&self, words: &[u32], layouts: Layouts) -> Result<(), String> {
        let binary = ConstBinary {
            code: words.as_ptr(),
            word_count: words.len(),
        };
        let mut diagnostic = ptr::null_mut();
        // SAFETY: the options live until they are destroyed below; binary describes `words`; diagnostic receives null
        // or an object that take_message() destroys.
        let result = unsafe {
            let options = spvValidatorOptionsCreate();
            spvValidatorOptionsSetUniformBufferStandardLayout(options, layouts.uniform_standard);
            spvValidatorOptionsSetScalarBlockLayout(options, layouts.scalar);
            spvValidatorOptionsSetWorkgroupScalarBlockLayout(options, layouts.scalar);
            spvValidatorOptionsSetAllowLocalSizeId(options, true);
            let result =
                spvValidateWithOptions(self.0, options, &raw const binary, &raw mut diagnostic);
            spvValidatorOptionsDestroy(options);
            result
        };
        // SAFETY: as the call above left it.
        let message = unsafe { take_message(diagnostic) };
        if result == 0 {
            Ok(())
        } else {
            Err(message.unwrap_or_else(|| format!("error {result}")))
        }
    }

    /// Assemble; the error is the assembler's message.
    pub(crate) fn assemble(&self, text: &str) -> Result<Vec<u32>, String> {
        let (mut binary, mut diagnostic) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: text is given with its length; binary and diagnostic receive null or objects destroyed below.
        let result = unsafe {
            spvTextToBinaryWithOptions(
                self.0,
                text.as_ptr().cast(),
                text.len(),
                PRESERVE_NUMERIC_IDS,
                &raw mut binary,
                &raw mut diagnostic,
            )
        };
        // SAFETY: as the call above left it.
        let message = unsafe { take_message(diagnostic) };
        if result != 0 || binary.is_null() {
            return Err(message.unwrap_or_else(|| format!("error {result}")));
        }
        // SAFETY: on success binary describes that many words, copied before it is destroyed.
        unsafe {
            let words = std::slice::from_raw_parts((*binary).code, (*binary).word_count).to_vec();
            spvBinaryDestroy(binary);
            Ok(words)
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made in new() and used by no one after this.
        unsafe { spvContextDestroy(self.0) }
    }
}

/// # Safety
/// `diagnostic` is null or one that SPIRV-Tools made, which this destroys.
unsafe fn take_message(diagnostic: *mut Diagnostic) -> Option<String> {
    if diagnostic.is_null() {
        return None;
    }
    // SAFETY: the contract above; the message is a NUL-terminated string.
    unsafe {
        let error = CStr::from_ptr((*diagnostic).error).to_string_lossy();
        let text = if (*diagnostic).is_text {
            format!("line {}: {error}", (*diagnostic).line + 1)
        } else {
            error.trim_end().to_owned()
        };
        spvDiagnosticDestroy(diagnostic);
        Some(text)
    }
}
