// SPDX-License-Identifier: MIT
//! `libvulkan_cortland.so`: what the Vulkan loader opens.
//!
//! Three symbols are all that it exports (loader-driver interface, version 7). Everything behind
//! them is in the crate `agx-vulkan`, where it can be tested; only the choice of the process's
//! allocator for Rust code is made here, because a library has none to make.

use std::ffi::c_char;

use agx_vulkan::entry::loader;
use ash::vk;
use mesa_nir::Allocator;

/// The allocator of the driver's own code. The application's is not touched.
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// The loader offers its newest version of the interface and gets the one to use.
///
/// # Safety
/// `version` is valid.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdNegotiateLoaderICDInterfaceVersion(
    version: *mut u32,
) -> vk::Result {
    // SAFETY: the caller's promise.
    unsafe { loader::negotiate(version) }
}

/// Finds the driver's functions.
///
/// # Safety
/// `instance` is null or a live instance of this driver, `name` a valid string.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetInstanceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller's promise.
    unsafe { loader::get_instance_proc_addr(instance, name) }
}

/// Finds the driver's functions that are called on physical devices.
///
/// # Safety
/// As for [`vk_icdGetInstanceProcAddr`].
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetPhysicalDeviceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller's promise.
    unsafe { loader::get_physical_device_proc_addr(instance, name) }
}
