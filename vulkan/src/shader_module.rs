// SPDX-License-Identifier: MIT
//! VkShaderModule: a copy of SPIR-V, and its hash.
//!
//! Nothing looks at the words before a pipeline is made of them: then mesa-nir checks and validates
//! them, each distinct module once in the life of the process. A pipeline that comes from a cache
//! needs only the hash.

use ash::vk;

use crate::device::{self, Device};
use crate::entry;
use crate::host::HostVec;
use crate::object::{self, Object};

/// A shader module.
pub(crate) struct ShaderModule {
    code: HostVec<u32>,
    hash: blake3::Hash,
}

impl Object for ShaderModule {
    type Handle = vk::ShaderModule;
}

/// SPIR-V as pipelines take it.
#[derive(Clone, Copy)]
pub(crate) struct Spirv<'a> {
    /// Its words.
    pub(crate) words: &'a [u32],
    /// Of its words; what identifies it.
    pub(crate) hash: blake3::Hash,
}

impl<'a> Spirv<'a> {
    /// Words with their hash.
    pub(crate) fn new(words: &'a [u32]) -> Spirv<'a> {
        // SAFETY: any initialised word is four initialised bytes.
        let bytes =
            unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) };
        let hash = blake3::hash(bytes);
        Spirv { words, hash }
    }

    /// That of a creation structure.
    ///
    /// # Safety
    /// The structure is valid for `'a`.
    pub(crate) unsafe fn of(info: &vk::ShaderModuleCreateInfo<'a>) -> Spirv<'a> {
        let count = u32::try_from(info.code_size / 4).unwrap_or(u32::MAX);
        // SAFETY: the caller's promise.
        Spirv::new(unsafe { entry::slice(info.p_code, count) })
    }
}

impl ShaderModule {
    /// Its SPIR-V.
    pub(crate) fn spirv(&self) -> Spirv<'_> {
        Spirv {
            words: &self.code,
            hash: self.hash,
        }
    }
}

/// vkCreateShaderModule.
pub(crate) unsafe extern "system" fn create_shader_module(
    device: vk::Device,
    info: *const vk::ShaderModuleCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    module: *mut vk::ShaderModule,
) -> vk::Result {
    entry::try_guard("vkCreateShaderModule", || {
        // SAFETY: valid by the specification.
        unsafe {
            let host = object::get::<Device>(device).allocator(allocator);
            let spirv = Spirv::of(&*info);
            let made = ShaderModule {
                code: host.copied(spirv.words)?,
                hash: spirv.hash,
            };
            *module = object::create(host, made)?;
        }
        Ok(())
    })
}

/// vkDestroyShaderModule.
pub(crate) unsafe extern "system" fn destroy_shader_module(
    device: vk::Device,
    module: vk::ShaderModule,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe {
        device::destroy_object::<ShaderModule>("vkDestroyShaderModule", device, module, allocator)
    };
}

/// vkGetShaderModuleIdentifierEXT.
pub(crate) unsafe extern "system" fn get_shader_module_identifier(
    _device: vk::Device,
    module: vk::ShaderModule,
    identifier: *mut vk::ShaderModuleIdentifierEXT<'_>,
) {
    entry::guard("vkGetShaderModuleIdentifierEXT", || {
        // SAFETY: valid by the specification.
        unsafe {
            let module = object::get::<ShaderModule>(module);
            identify(module.hash, &mut *identifier);
        }
    });
}

/// vkGetShaderModuleCreateInfoIdentifierEXT.
pub(crate) unsafe extern "system" fn get_shader_module_create_info_identifier(
    _device: vk::Device,
    info: *const vk::ShaderModuleCreateInfo<'_>,
    identifier: *mut vk::ShaderModuleIdentifierEXT<'_>,
) {
    entry::guard("vkGetShaderModuleCreateInfoIdentifierEXT", || {
        // SAFETY: valid by the specification.
        unsafe { identify(Spirv::of(&*info).hash, &mut *identifier) };
    });
}

fn identify(hash: blake3::Hash, identifier: &mut vk::ShaderModuleIdentifierEXT<'_>) {
    let bytes = hash.as_bytes();
    identifier.identifier[..bytes.len()].copy_from_slice(bytes);
    identifier.identifier_size = bytes.len() as u32;
}
