// SPDX-License-Identifier: MIT
//! What Vulkan's layers, loader and drivers say through VK_EXT_debug_utils, kept.

use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ash::vk;

/// Messages. Must stay where they are while a messenger keeps them here.
#[derive(Debug, Default)]
pub struct Messages(Mutex<Vec<String>>);

impl Messages {
    /// A messenger that keeps its messages here.
    pub fn messenger(
        &self,
        severities: vk::DebugUtilsMessageSeverityFlagsEXT,
        types: vk::DebugUtilsMessageTypeFlagsEXT,
    ) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
        vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(severities)
            .message_type(types)
            .pfn_user_callback(Some(note))
            .user_data(std::ptr::from_ref(self).cast_mut().cast())
    }

    /// Those since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The messenger's callback: keeps the message.
unsafe extern "system" fn note(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: `messenger` gave the address of messages that outlive it; the caller gives data with
    // a NUL-terminated message or none.
    let (messages, text) = unsafe {
        let text = (*data).message_as_c_str().unwrap_or(c"no message");
        (&*user.cast_const().cast::<Messages>(), text)
    };
    messages.lock().push(text.to_string_lossy().into_owned());
    vk::FALSE
}
