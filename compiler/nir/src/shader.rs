// SPDX-License-Identifier: MIT
//! The owner of a NIR shader.

use crate::blob::{self, BlobKey};
use crate::guarded::{self, Allocation, Owned, Types, Words, take_string};
use crate::program::{Program, decode};
use crate::{
    CompilerOptions, ComputeLowering, Error, FragmentLowering, Stage, VertexLowering, ffi, stack,
};
use std::ffi::CStr;
use std::ptr;
use std::sync::Arc;

/// One NIR shader and everything that it points to.
///
/// It can be sent to another thread but not used from two at once: NIR's own passes, printing among them, write to the
/// shader that they look at.
pub struct Shader {
    shader: Owned,
    options: Arc<CompilerOptions>,
    warnings: Vec<String>,
    deep: bool,
    /// Dropped after the shader, whose types it keeps alive.
    types: Types,
}

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
}

/// A pointer to a shader that a closure takes to another thread while this one, which owns the shader, waits.
struct Handle(*mut ffi::nir_shader);

// SAFETY: the thread that owns the shader waits for the one that uses it.
unsafe impl Send for Handle {}

impl Handle {
    /// Through a method, so that closures capture the handle and not the pointer in it.
    fn get(&self) -> *mut ffi::nir_shader {
        self.0
    }
}

impl Shader {
    /// # Safety
    /// `shader` was made with `options` while `types` was held.
    pub(crate) unsafe fn from_owned(
        shader: Owned,
        types: Types,
        options: Arc<CompilerOptions>,
        deep: bool,
    ) -> Self {
        Self {
            shader,
            options,
            warnings: Vec::new(),
            deep,
            types,
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
            text.ok_or_else(|| failure.error())
        })?
    }

    /// Check the shader against the rules of NIR and give it back. One that breaks them is gone, as nothing may touch
    /// it any more; the error holds its text with the broken rules in place.
    pub fn validate(self) -> Result<Self, Error> {
        // SAFETY: the shim frees the shader unless it returns true.
        unsafe { self.change(|shader, f| ffi::cortland_shader_validate(shader, f)) }
    }

    /// Lower a compute shader to what the Apple9 back end takes. One that cannot be lowered is gone; the error says
    /// what it holds that is not supported.
    pub fn lower_compute(self, lowering: &ComputeLowering) -> Result<Self, Error> {
        let bindings = lowering.mesa_bindings();
        let mesa = lowering.to_mesa(&bindings);
        // SAFETY: the lowering is complete and outlasts the call; the shim frees the shader unless it returns true.
        unsafe { self.change(|shader, f| ffi::cortland_lower_compute(shader, mesa.as_ptr(), f)) }
    }

    /// The same for a vertex shader.
    pub fn lower_vertex(self, lowering: &VertexLowering) -> Result<Self, Error> {
        let mut memory = lowering.to_shim()?;
        let mesa = memory.vertex();
        // SAFETY: the lowering is complete and, with what it points to, outlasts the call; the shim frees the shader
        // unless it returns true.
        unsafe { self.change(|shader, f| ffi::cortland_lower_vertex(shader, mesa.as_ptr(), f)) }
    }

    /// The same for a fragment shader.
    pub fn lower_fragment(self, lowering: &FragmentLowering) -> Result<Self, Error> {
        let mut memory = lowering.to_shim()?;
        let mesa = memory.fragment();
        // SAFETY: as in `lower_vertex`.
        unsafe { self.change(|shader, f| ffi::cortland_lower_fragment(shader, mesa.as_ptr(), f)) }
    }

    /// Let a shim function change the shader.
    ///
    /// # Safety
    /// `change` may be called with a live shader that no one else uses; it frees it unless it returns true.
    unsafe fn change(
        self,
        change: impl FnOnce(*mut ffi::nir_shader, *mut ffi::cortland_failure) -> bool + Send,
    ) -> Result<Self, Error> {
        let Self {
            shader,
            options,
            warnings,
            deep,
            types,
        } = self;
        let shader = stack::run(deep, move || {
            let shader = Handle(shader.into_raw());
            let (kept, failure) = guarded::call(|f| change(shader.get(), f));
            // SAFETY: it is the shader that was given up above.
            let shader = kept.then(|| unsafe { Owned::new(shader.get()) });
            shader.flatten().ok_or_else(|| failure.error())
        })??;
        Ok(Self {
            shader,
            options,
            warnings,
            deep,
            types,
        })
    }

    /// The shader as plain data for a back end. It must be lowered: one function, no dereferences, no textures; what it
    /// holds of these is an [`Error::Unsupported`]. Divergence is that within a subgroup.
    pub fn export(&self) -> Result<Program, Error> {
        decode(self.export_words()?.as_slice())
    }

    pub(crate) fn export_words(&self) -> Result<Words, Error> {
        let shader = self.handle();
        // SAFETY: the handle is of a live shader; words and count are written on success.
        stack::run(self.deep, move || unsafe {
            take_words(|words, count, f| ffi::cortland_shader_export(shader.get(), words, count, f))
        })?
    }

    /// The same as [`Self::export`] for a shader that nobody needs any more, which saves a copy.
    pub fn into_program(self) -> Result<Program, Error> {
        let Self {
            shader,
            options,
            deep,
            types,
            ..
        } = self;
        let words = stack::run(deep, move || {
            let shader = Handle(shader.into_raw());
            // SAFETY: the shader was given up above and is freed by the shim; words and count are written on success.
            unsafe {
                take_words(|words, count, f| {
                    ffi::cortland_shader_into_words(shader.get(), words, count, f)
                })
            }
        })??;
        // The shader pointed into both.
        drop((options, types));
        decode(words.as_slice())
    }

    /// A copy that shares nothing but the options.
    pub fn try_clone(&self) -> Result<Self, Error> {
        let (shader, types) = (self.handle(), Types::acquire());
        let copy = stack::run(self.deep, move || {
            // SAFETY: the handle is of a live shader, and the copy is no one else's.
            let (copy, failure) = guarded::call(|f| unsafe {
                Owned::new(ffi::cortland_shader_clone(shader.get(), f))
            });
            copy.ok_or_else(|| failure.error())
        })??;
        // SAFETY: the copy was made just now, with the same options, while types was held.
        let copy = unsafe { Self::from_owned(copy, types, self.options.clone(), self.deep) };
        Ok(copy.with_warnings(self.warnings.clone()))
    }

    /// The shader as bytes for [`Self::deserialize`] with the same key. `strip` leaves out names.
    pub fn serialize(&self, key: &BlobKey, strip: bool) -> Result<Vec<u8>, Error> {
        let shader = self.handle();
        let body = stack::run(self.deep, move || {
            let (mut data, mut size) = (ptr::null_mut(), 0);
            // SAFETY: the handle is of a live shader; data and size are written on success.
            let (done, failure) = guarded::call(|f| unsafe {
                ffi::cortland_shader_serialize(shader.get(), strip, &raw mut data, &raw mut size, f)
            });
            if !done {
                return Err(failure.error());
            }
            // SAFETY: on success the shim hands over `size` bytes.
            Ok(unsafe { Allocation::new(data, size) })
        })??;
        Ok(blob::seal(body.bytes(), self.deep, key))
    }

    /// A shader from what [`Self::serialize`] gave. Bytes that are truncated, changed, or from another build or key are
    /// an error: they never reach Mesa, which would trust them. See [`BlobKey`] for what the key must be.
    pub fn deserialize(
        bytes: &[u8],
        key: &BlobKey,
        options: &Arc<CompilerOptions>,
    ) -> Result<Self, Error> {
        let (body, deep) = blob::open(bytes, key)?;
        let (types, compiler_options) = (Types::acquire(), options.clone());
        let shader = stack::run(deep, || {
            // SAFETY: the body is what the shim serialised (blob::open and BlobKey's contract); the options live as
            // long as the shader, which is no one else's.
            let (shader, failure) = guarded::call(|f| unsafe {
                Owned::new(ffi::cortland_shader_deserialize(
                    compiler_options.as_ptr(),
                    body.as_ptr(),
                    body.len(),
                    f,
                ))
            });
            shader.ok_or_else(|| {
                failure.into_error(|| Error::BadBlob("it ends before its shader does"))
            })
        })??;
        // SAFETY: made just now, with these options, while types was held.
        Ok(unsafe { Self::from_owned(shader, types, options.clone(), deep) })
    }
}

/// The words that a shim function exports.
///
/// # Safety
/// If `export` returns true, it has written a pointer that is ours to free, and how many words are there.
unsafe fn take_words(
    export: impl FnOnce(*mut *mut u32, *mut usize, *mut ffi::cortland_failure) -> bool,
) -> Result<Words, Error> {
    let (mut words, mut count) = (ptr::null_mut(), 0);
    let (done, failure) = guarded::call(|f| export(&raw mut words, &raw mut count, f));
    if !done {
        return Err(failure.error());
    }
    // SAFETY: the contract above.
    Ok(unsafe { Words::new(words, count) })
}

impl std::fmt::Debug for Shader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shader")
            .field("stage", &self.stage())
            .field("info", &self.info())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guarded::live_bytes;
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
    fn validate_reports_broken_nir_and_frees_the_shader() {
        // A wrong width, and a value used before it is defined.
        let _types = Types::acquire();
        for (how, says) in [(0, "bit_size"), (1, "SRC_TAG_SEEN")] {
            drop(shader());
            let before = live_bytes();
            let shader = shader().validate().expect("sound so far");
            // SAFETY: a live shader that only this test uses.
            assert!(unsafe { ffi::cortland_test_break(shader.shader.as_ptr(), how) });
            let message = shader.validate().expect_err("broken").to_string();
            assert!(
                message.contains("error:") && message.contains(says),
                "{message}"
            );
            assert_eq!(live_bytes(), before);
        }
        shader().validate().expect("the validator still works");
    }

    /// Every operation on a shader; what they give together.
    fn exercise() -> Result<(String, Vec<u8>), Error> {
        let key = BlobKey::new([1; 32]);
        let options = Arc::new(CompilerOptions::new());
        let words = assemble(include_str!("../tests/spirv/compute_shared.spvasm"))?;
        let vulkan = SpirvOptions::vulkan_1_3();
        let shader = spirv_to_nir(&words, Stage::Compute, "main", &[], &vulkan, &options)?;
        let blob = shader.serialize(&key, false)?;
        let copy = shader.try_clone()?;
        let back = Shader::deserialize(&blob, &key, &options)?.validate()?;
        assert_eq!(copy.print()?, back.print()?);
        Ok((shader.print()?, blob))
    }

    #[test]
    fn running_out_of_the_budget_anywhere_frees_everything_and_harms_nothing() {
        // Held here so that the table of types, which outlives calls, is complete before anything is counted.
        let _types = Types::acquire();
        let expected = exercise().expect("with the budget that there is");
        let before = live_bytes();
        let (mut budget, mut failures) = (0, 0);
        loop {
            // SAFETY: sets a number of this thread's.
            unsafe { ffi::cortland_test_set_budget(budget) };
            match exercise() {
                Err(Error::TooLarge(_)) => failures += 1,
                Err(other) => panic!("budget {budget}: {other}"),
                Ok(result) => {
                    assert_eq!(result, expected);
                    break;
                }
            }
            assert_eq!(live_bytes(), before, "budget {budget}");
            budget += 211;
        }
        // SAFETY: as above.
        unsafe { ffi::cortland_test_set_budget(guarded::MEMORY_BUDGET) };
        assert!(failures > 300, "only {failures} failures");
        assert_eq!(exercise().expect("as before"), expected);
        assert_eq!(live_bytes(), before);
    }

    #[test]
    fn a_lock_is_free_again_after_running_out_under_it() {
        // Types that no other test has: each is made under the lock of the table.
        for budget in (0..200_000).step_by(997) {
            let text = format!(
                "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
                 OpExecutionMode %main LocalSize 1 1 1\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
                 %u32 = OpTypeInt 32 0\n%n = OpConstant %u32 {}\n%a = OpTypeArray %u32 %n\n\
                 %s = OpTypeStruct %a %u32 %a\n%p = OpTypePointer Function %s\n%main = OpFunction %void None %fn\n\
                 %entry = OpLabel\n%v = OpVariable %p Function\nOpReturn\nOpFunctionEnd\n",
                7_000_000 + budget
            );
            let words = assemble(&text).expect("assembles");
            let options = Arc::new(CompilerOptions::new());
            for budget in [budget, guarded::MEMORY_BUDGET] {
                // SAFETY: sets a number of this thread's.
                unsafe { ffi::cortland_test_set_budget(budget) };
                let vulkan = SpirvOptions::vulkan_1_3();
                let result = spirv_to_nir(&words, Stage::Compute, "main", &[], &vulkan, &options);
                if budget == guarded::MEMORY_BUDGET {
                    result.expect("translates");
                }
            }
        }
    }

    #[test]
    fn blobs_that_are_not_whole_are_rejected() {
        let key = BlobKey::new([3; 32]);
        let shader = shader();
        let blob = shader.serialize(&key, false).expect("serialises");
        let open = |blob: &[u8]| Shader::deserialize(blob, &key, shader.options());
        assert_eq!(open(&blob).expect("whole").print(), shader.print());
        for length in 0..blob.len() {
            assert!(matches!(open(&blob[..length]), Err(Error::BadBlob(_))));
        }
        for at in 0..blob.len() {
            let mut blob = blob.clone();
            blob[at] ^= 0x10;
            assert!(matches!(open(&blob), Err(Error::BadBlob(_))), "byte {at}");
        }
        let other = BlobKey::new([4; 32]);
        let result = Shader::deserialize(&blob, &other, shader.options());
        assert!(matches!(result, Err(Error::BadBlob(_))));
    }
}
