// SPDX-License-Identifier: MIT
//! The owner of a NIR shader.

use crate::guarded::{self, Allocation, Types, take_string};
use crate::{CompilerOptions, Error, Stage, ffi, stack};
use std::ffi::CStr;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// One NIR shader and everything that it points to.
///
/// It can be sent to another thread but not used from two at once: NIR's own passes, printing among them, write to the
/// shader that they look at.
pub struct Shader {
    shader: NonNull<ffi::nir_shader>,
    options: Arc<CompilerOptions>,
    warnings: Vec<String>,
    deep: bool,
    /// Dropped after the shader, whose types it keeps alive.
    _types: Types,
}

// SAFETY: the shader is a tree of its own. What it shares with others, the table of types, has a lock of its own.
unsafe impl Send for Shader {}

/// A summary of a shader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// The shader's name, if it has one.
    pub name: Option<String>,
    /// The name of the entry point.
    pub entry_point: Option<String>,
    /// Workgroup size; zeros for stages without workgroups.
    pub workgroup_size: [u16; 3],
    /// The workgroup size is known at dispatch only.
    pub workgroup_size_variable: bool,
    /// Bytes of workgroup memory, once laid out.
    pub shared_size: u32,
    /// Uniform-buffer variables.
    pub ubos: u8,
    /// Storage-buffer variables.
    pub ssbos: u8,
    /// Bytes of push constants.
    pub push_constants: u32,
    /// Functions, the entry point among them.
    pub functions: u32,
    /// Variables outside functions.
    pub variables: u32,
    /// Instructions of all functions.
    pub instructions: u32,
    /// BLAKE3 of the SPIR-V words.
    pub source_hash: [u8; 32],
}

/// Pointers to C objects that a closure takes to another thread while this one waits.
struct Handle(*mut ffi::nir_shader);

// SAFETY: the thread that made it waits for the one that uses it.
unsafe impl Send for Handle {}

impl Handle {
    /// Through a method, so that closures capture the handle and not the pointer in it.
    fn get(&self) -> *mut ffi::nir_shader {
        self.0
    }
}

impl Shader {
    /// # Safety
    /// `shader` is owned by no one else and was made with `options` while `types` was held.
    pub(crate) unsafe fn from_raw(
        shader: NonNull<ffi::nir_shader>,
        types: Types,
        options: Arc<CompilerOptions>,
        deep: bool,
    ) -> Self {
        Self {
            shader,
            options,
            warnings: Vec::new(),
            deep,
            _types: types,
        }
    }

    pub(crate) fn with_warnings(mut self, warnings: Vec<String>) -> Self {
        self.warnings = warnings;
        self
    }

    fn handle(&self) -> Handle {
        Handle(self.shader.as_ptr())
    }

    /// The stage that it is for.
    #[must_use]
    pub fn stage(&self) -> Stage {
        // SAFETY: self owns a live shader.
        let stage = unsafe { ffi::cortland_shader_stage(self.shader.as_ptr()) };
        Stage::from_mesa(stage).expect("shaders are made for the stages of Stage only")
    }

    /// The options that it was made with.
    #[must_use]
    pub fn options(&self) -> &Arc<CompilerOptions> {
        &self.options
    }

    /// What the front end had to remark on the module.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// A summary.
    #[must_use]
    pub fn info(&self) -> Info {
        let mut info = ffi::cortland_info::default();
        // SAFETY: self owns a live shader; info is written.
        unsafe { ffi::cortland_shader_info(self.shader.as_ptr(), &raw mut info) };
        let string = |s: *const std::ffi::c_char| {
            // SAFETY: null or a NUL-terminated string of the live shader.
            (!s.is_null()).then(|| unsafe { CStr::from_ptr(s) }.to_string_lossy().into_owned())
        };
        Info {
            name: string(info.name),
            entry_point: string(info.entry_name),
            workgroup_size: info.workgroup_size,
            workgroup_size_variable: info.workgroup_size_variable,
            shared_size: info.shared_size,
            ubos: info.num_ubos,
            ssbos: info.num_ssbos,
            push_constants: info.num_uniforms,
            functions: info.num_functions,
            variables: info.num_variables,
            instructions: info.num_instructions,
            source_hash: info.source_blake3,
        }
    }

    /// The shader as NIR's printer writes it.
    pub fn print(&self) -> Result<String, Error> {
        let shader = self.handle();
        stack::run(self.deep, move || {
            // SAFETY: the handle is of a live shader, and the text is ours.
            let (text, failure) = guarded::call(|f| unsafe {
                take_string(ffi::cortland_shader_print(shader.get(), f))
            });
            text.ok_or_else(|| internal(failure))
        })?
    }

    /// Check the shader against the rules of NIR. The error holds the shader with the broken rules in place.
    pub fn validate(&self) -> Result<(), Error> {
        let shader = self.handle();
        stack::run(self.deep, move || {
            // SAFETY: the handle is of a live shader.
            match guarded::call(|f| unsafe { ffi::cortland_shader_validate(shader.get(), f) }) {
                (true, _) => Ok(()),
                (false, message) => Err(Error::BrokenNir(
                    message.unwrap_or_else(|| "no reason given".into()),
                )),
            }
        })?
    }

    /// A copy that shares nothing but the options.
    pub fn try_clone(&self) -> Result<Self, Error> {
        let (shader, types) = (self.handle(), Types::acquire());
        let copy = stack::run(self.deep, move || {
            // SAFETY: the handle is of a live shader.
            let (copy, failure) =
                guarded::call(|f| unsafe { ffi::cortland_shader_clone(shader.get(), f) });
            NonNull::new(copy)
                .map(|p| Handle(p.as_ptr()))
                .ok_or_else(|| internal(failure))
        })??;
        let copy = NonNull::new(copy.get()).expect("checked above");
        // SAFETY: the copy was made just now, with the same options, while types was held.
        let copy = unsafe { Self::from_raw(copy, types, self.options.clone(), self.deep) };
        Ok(copy.with_warnings(self.warnings.clone()))
    }

    /// The shader as bytes for [`Self::deserialize`]. `strip` leaves out names.
    pub fn serialize(&self, strip: bool) -> Result<Vec<u8>, Error> {
        let shader = self.handle();
        let body = stack::run(self.deep, move || {
            let (mut data, mut size) = (ptr::null_mut(), 0);
            // SAFETY: the handle is of a live shader; data and size are written on success.
            let (done, failure) = guarded::call(|f| unsafe {
                ffi::cortland_shader_serialize(shader.get(), strip, &raw mut data, &raw mut size, f)
            });
            if !done {
                return Err(internal(failure));
            }
            // SAFETY: on success the shim hands over `size` bytes.
            Ok(unsafe { Allocation::new(data, size) }.bytes().to_vec())
        })??;
        let mut blob = Header::of(&body, self.deep).bytes().to_vec();
        blob.extend_from_slice(&body);
        Ok(blob)
    }

    /// A shader from what [`Self::serialize`] gave. Bytes that are truncated, changed, or from a build with another
    /// Mesa are an error: they never reach Mesa, which would trust them.
    pub fn deserialize(bytes: &[u8], options: &Arc<CompilerOptions>) -> Result<Self, Error> {
        let (body, deep) = Header::check(bytes)?;
        let (types, compiler_options) = (Types::acquire(), options.clone());
        let shader = stack::run(deep, || {
            // SAFETY: the body is what the shim serialised (Header::check); the options live as long as the shader.
            let (shader, failure) = guarded::call(|f| unsafe {
                ffi::cortland_shader_deserialize(
                    compiler_options.as_ptr(),
                    body.as_ptr(),
                    body.len(),
                    f,
                )
            });
            NonNull::new(shader)
                .map(|p| Handle(p.as_ptr()))
                .ok_or_else(|| internal(failure))
        })??;
        let shader = NonNull::new(shader.get()).expect("checked above");
        // SAFETY: made just now, with these options, while types was held.
        Ok(unsafe { Self::from_raw(shader, types, options.clone(), deep) })
    }
}

impl Drop for Shader {
    fn drop(&mut self) {
        // SAFETY: self owns the shader and is the last to use it.
        unsafe { ffi::cortland_shader_free(self.shader.as_ptr()) }
    }
}

impl std::fmt::Debug for Shader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shader")
            .field("stage", &self.stage())
            .field("info", &self.info())
            .finish()
    }
}

fn internal(message: Option<String>) -> Error {
    Error::Internal(message.unwrap_or_else(|| "Mesa ran out of memory".into()))
}

/// What stands before the bytes that Mesa serialised.
struct Header([u8; Self::SIZE]);

impl Header {
    const SIZE: usize = 48;
    const MAGIC: &[u8; 8] = b"CortNIR1";
    /// Names the Mesa that wrote the bytes; build.rs takes it from the build's name.
    const BUILD: &str = env!("CORTLAND_MESA_KEY");

    fn of(body: &[u8], deep: bool) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher
            .update(Self::BUILD.as_bytes())
            .update(&[u8::from(deep)])
            .update(body);
        let mut header = [0; Self::SIZE];
        header[..8].copy_from_slice(Self::MAGIC);
        header[8] = u8::from(deep);
        header[16..].copy_from_slice(hasher.finalize().as_bytes());
        Self(header)
    }

    fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The body behind a header that fits it, and whether it is deep.
    fn check(blob: &[u8]) -> Result<(&[u8], bool), Error> {
        if !blob.starts_with(Self::MAGIC) {
            return Err(Error::BadBlob("it does not start with this crate's mark"));
        }
        let Some((header, body)) = blob.split_at_checked(Self::SIZE) else {
            return Err(Error::BadBlob("it ends inside its header"));
        };
        let deep = header[8] != 0;
        if Self::of(body, deep).bytes() != header {
            return Err(Error::BadBlob(
                "it was truncated, changed, or written by another build",
            ));
        }
        Ok((body, deep))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SpirvOptions, assemble, spirv_to_nir};

    fn shader() -> Shader {
        let words =
            assemble(include_str!("../tests/spirv/compute_ints.spvasm")).expect("assembles");
        let options = Arc::new(CompilerOptions::new());
        spirv_to_nir(
            &words,
            Stage::Compute,
            "main",
            &[],
            &SpirvOptions::vulkan_1_3(),
            &options,
        )
        .expect("translates")
    }

    #[test]
    fn validate_reports_broken_nir_and_leaves_the_process_alone() {
        // A wrong width, and a value used before it is defined.
        for (how, says) in [(0, "bit_size"), (1, "SRC_TAG_SEEN")] {
            let shader = shader();
            shader.validate().expect("sound so far");
            // SAFETY: a live shader that only this test uses.
            assert!(unsafe { ffi::cortland_test_break(shader.shader.as_ptr(), how) });
            let message = shader.validate().expect_err("broken").to_string();
            assert!(
                message.contains("error:") && message.contains(says),
                "{message}"
            );
            // Mesa must not look at it again: the list of instructions is no longer sound.
            std::mem::forget(shader);
        }
        self::shader()
            .validate()
            .expect("the validator still works");
    }

    #[test]
    fn a_failed_assertion_is_a_message() {
        // SAFETY: takes nothing but the place for its message.
        let ((), failure) = guarded::call(|f| unsafe { ffi::cortland_test_assert(f) });
        assert!(
            failure
                .expect("a message")
                .starts_with("Mesa assertion failed: test")
        );
    }

    #[test]
    fn blobs_that_are_not_whole_are_rejected() {
        let shader = shader();
        let blob = shader.serialize(false).expect("serialises");
        assert_eq!(
            Shader::deserialize(&blob, shader.options())
                .expect("whole")
                .print(),
            shader.print()
        );
        for length in 0..blob.len() {
            assert!(matches!(
                Shader::deserialize(&blob[..length], shader.options()),
                Err(Error::BadBlob(_))
            ));
        }
        for at in 0..blob.len() {
            let mut blob = blob.clone();
            blob[at] ^= 0x10;
            assert!(
                matches!(
                    Shader::deserialize(&blob, shader.options()),
                    Err(Error::BadBlob(_))
                ),
                "byte {at}"
            );
        }
    }
}
