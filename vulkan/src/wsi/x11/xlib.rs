// SPDX-License-Identifier: MIT
//! The connection under an Xlib display.

use std::ffi::c_void;
use std::sync::LazyLock;

use ash::vk;
use libloading::Library;

use crate::debug;
use crate::error::VkResult;

type GetXcbConnection = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// XGetXCBConnection, from the library that goes with the application's libX11. It stays loaded.
static GET_XCB_CONNECTION: LazyLock<Result<GetXcbConnection, libloading::Error>> =
    LazyLock::new(|| {
        // SAFETY: the system's library is what its name says, and so is its function.
        unsafe {
            let library = Library::new("libX11-xcb.so.1")?;
            let function = *library.get::<GetXcbConnection>(b"XGetXCBConnection\0")?;
            std::mem::forget(library);
            Ok(function)
        }
    });

/// The connection of a display.
///
/// # Errors
/// When the library is not there.
///
/// # Safety
/// It is a display, which outlives the result.
pub(super) unsafe fn connection(display: *mut c_void) -> VkResult<*mut c_void> {
    match &*GET_XCB_CONNECTION {
        // SAFETY: the caller's promise.
        Ok(function) => Ok(unsafe { function(display) }),
        Err(error) => {
            debug::error(&format_args!("surfaces of Xlib need libX11-xcb: {error}"));
            Err(vk::Result::ERROR_INITIALIZATION_FAILED)
        }
    }
}
