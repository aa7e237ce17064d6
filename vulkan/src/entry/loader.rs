// SPDX-License-Identifier: MIT
//! What the loader calls (loader-driver interface of the Vulkan-Loader project, version 7).
//!
//! The crate `cortland` exports these under the names that the interface gives them.

use std::ffi::{CStr, c_char};

use ash::vk;

use super::{guard, lookup};
use crate::debug;

/// The newest version of the interface that the driver follows. From 7 on, the loader need not find
/// its functions among the exported symbols.
const NEWEST: u32 = 7;
/// The oldest: before it, the loader itself refuses applications that ask for more than Vulkan 1.0.
const OLDEST: u32 = 5;

/// vk_icdNegotiateLoaderICDInterfaceVersion: the loader offers its newest version and gets the one
/// to use.
///
/// # Safety
/// `version` is valid.
pub unsafe extern "system" fn negotiate(version: *mut u32) -> vk::Result {
    guard("vk_icdNegotiateLoaderICDInterfaceVersion", || {
        // SAFETY: the caller's promise.
        let version = unsafe { &mut *version };
        if *version < OLDEST {
            debug::error(&format_args!(
                "the Vulkan loader is too old: it offers version {version} of its interface to \
                 drivers, this one needs {OLDEST}"
            ));
            return vk::Result::ERROR_INCOMPATIBLE_DRIVER;
        }
        *version = NEWEST.min(*version);
        vk::Result::SUCCESS
    })
}

/// vk_icdGetInstanceProcAddr.
///
/// # Safety
/// `instance` is null or a live instance, `name` a valid string.
pub unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller's promise.
    unsafe { lookup::get_instance_proc_addr(instance, name) }
}

/// vk_icdGetPhysicalDeviceProcAddr.
///
/// # Safety
/// As for [`get_instance_proc_addr`].
pub unsafe extern "system" fn get_physical_device_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller's promise.
    unsafe { lookup::get_physical_device_proc_addr(instance, name) }
}

type Negotiate = unsafe extern "system" fn(*mut u32) -> vk::Result;

/// The interface's own functions, which a loader of version 7 asks for by name.
pub(super) fn function(name: &CStr) -> vk::PFN_vkVoidFunction {
    use super::table::erase;
    Some(match name.to_bytes() {
        b"vk_icdNegotiateLoaderICDInterfaceVersion" => erase::<Negotiate>(negotiate),
        b"vk_icdGetInstanceProcAddr" => {
            erase::<vk::PFN_vkGetInstanceProcAddr>(get_instance_proc_addr)
        }
        b"vk_icdGetPhysicalDeviceProcAddr" => {
            erase::<vk::PFN_vkGetInstanceProcAddr>(get_physical_device_proc_addr)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn negotiated(mut version: u32) -> Result<u32, vk::Result> {
        // SAFETY: a valid number.
        unsafe { negotiate(&raw mut version) }.result_with_success(version)
    }

    #[test]
    fn the_older_of_the_two_newest_versions_is_used() {
        assert_eq!(negotiated(9), Ok(7));
        assert_eq!(negotiated(7), Ok(7));
        assert_eq!(negotiated(6), Ok(6));
        assert_eq!(
            negotiated(OLDEST - 1),
            Err(vk::Result::ERROR_INCOMPATIBLE_DRIVER)
        );
    }

    #[test]
    fn version_7_finds_the_functions_by_name() {
        for name in [
            c"vk_icdNegotiateLoaderICDInterfaceVersion",
            c"vk_icdGetInstanceProcAddr",
            c"vk_icdGetPhysicalDeviceProcAddr",
            c"vkCreateInstance",
            c"vkGetInstanceProcAddr",
        ] {
            // SAFETY: no instance, a valid string.
            let found = unsafe { get_instance_proc_addr(vk::Instance::null(), name.as_ptr()) };
            assert!(found.is_some(), "{name:?}");
        }
        for name in [c"vkDestroyInstance", c"vkGetDeviceProcAddr", c"vkNothing"] {
            // SAFETY: no instance, a valid string.
            let found = unsafe { get_instance_proc_addr(vk::Instance::null(), name.as_ptr()) };
            assert!(found.is_none(), "{name:?}");
        }
    }
}
