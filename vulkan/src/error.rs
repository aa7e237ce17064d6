// SPDX-License-Identifier: MIT
//! From the kernel's and the project's own errors to Vulkan's.

use agx_uapi::Errno;
use ash::vk;

use crate::debug;

/// What a command returns.
pub(crate) type VkResult<T = ()> = Result<T, vk::Result>;

/// Turns kernel errors into Vulkan's, with a message that says which call failed.
pub(crate) fn kernel(call: &'static str) -> impl Fn(Errno) -> vk::Result {
    move |errno| {
        let result = match errno {
            Errno::ENOMEM | Errno::ENOSPC => vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
            Errno::EMFILE | Errno::ENFILE => vk::Result::ERROR_TOO_MANY_OBJECTS,
            Errno::EIO | Errno::ENODEV => vk::Result::ERROR_DEVICE_LOST,
            Errno::EACCES | Errno::EPERM | Errno::ENOENT => vk::Result::ERROR_INITIALIZATION_FAILED,
            _ => vk::Result::ERROR_UNKNOWN,
        };
        debug::error(&format_args!("{call}: {errno} ({result:?})"));
        result
    }
}

/// A record that agx-hw refuses to pack: a fault of the driver.
pub(crate) fn record(error: agx_hw::Error) -> vk::Result {
    debug::error(&format_args!("{error}"));
    vk::Result::ERROR_UNKNOWN
}

/// What an entry point gives the application.
pub(crate) fn code(result: VkResult) -> vk::Result {
    result.err().unwrap_or(vk::Result::SUCCESS)
}
