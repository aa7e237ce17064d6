// SPDX-License-Identifier: MIT
//! VK_EXT_debug_utils: who gets the driver's messages, and labels.
//!
//! Names, tags and labels are for tools between the application and the driver. The driver itself
//! only prints labels among the commands that `CORTLAND_DEBUG` asks for.

use std::ffi::{CStr, CString, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ash::vk;

use crate::debug::{self, Flags};
use crate::entry;
use crate::error::VkResult;
use crate::host::{HostAllocator, OUT_OF_HOST};
use crate::instance::Instance;
use crate::object::{self, Object};

/// A function of the application that gets messages, and which.
#[derive(Clone, Copy)]
struct Listener {
    id: u64,
    /// Whose messages it gets through vkSubmitDebugUtilsMessageEXT; null: none's.
    instance: vk::Instance,
    severities: vk::DebugUtilsMessageSeverityFlagsEXT,
    types: vk::DebugUtilsMessageTypeFlagsEXT,
    callback: vk::PFN_vkDebugUtilsMessengerCallbackEXT,
    user_data: *mut c_void,
}

// SAFETY: the application's function may be called from any thread, with this pointer
// (Vulkan 1.3, 4.2 on messengers: the application synchronises the callback's own data).
unsafe impl Send for Listener {}
// SAFETY: as above.
unsafe impl Sync for Listener {}

/// All listeners of the process: what goes wrong in the driver is not always some instance's.
static LISTENERS: RwLock<Vec<Listener>> = RwLock::new(Vec::new());

fn listeners() -> RwLockReadGuard<'static, Vec<Listener>> {
    LISTENERS.read().unwrap_or_else(PoisonError::into_inner)
}

fn change_listeners() -> RwLockWriteGuard<'static, Vec<Listener>> {
    LISTENERS.write().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the driver's own message to whoever wants it. The callback runs under the lock, so that
/// it is not called once its messenger is destroyed.
pub(crate) fn deliver(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    text: &dyn std::fmt::Display,
) {
    let listeners = listeners();
    if listeners.is_empty() {
        return;
    }
    let text = CString::new(text.to_string().replace('\0', " ")).unwrap_or_default();
    let data = vk::DebugUtilsMessengerCallbackDataEXT::default()
        .message_id_name(c"cortland")
        .message(&text);
    for listener in listeners.iter() {
        listener.tell(severity, vk::DebugUtilsMessageTypeFlagsEXT::GENERAL, &data);
    }
}

impl Listener {
    fn tell(
        &self,
        severity: vk::DebugUtilsMessageSeverityFlagsEXT,
        types: vk::DebugUtilsMessageTypeFlagsEXT,
        data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    ) {
        let Some(callback) = self.callback else {
            return;
        };
        if self.severities.intersects(severity) && self.types.intersects(types) {
            // SAFETY: the application's function with its own data; `data` is valid. What it
            // returns is for layers.
            let _ = unsafe { callback(severity, types, data, self.user_data) };
        }
    }
}

/// A listener for as long as it exists.
pub(crate) struct Listening {
    id: u64,
}

impl Listening {
    fn start(
        instance: vk::Instance,
        info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>,
    ) -> VkResult<Listening> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut listeners = change_listeners();
        listeners.try_reserve(1).map_err(|_| OUT_OF_HOST)?;
        listeners.push(Listener {
            id,
            instance,
            severities: info.message_severity,
            types: info.message_type,
            callback: info.pfn_user_callback,
            user_data: info.p_user_data,
        });
        Ok(Listening { id })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        change_listeners().retain(|listener| listener.id != self.id);
    }
}

/// A listener that is only there while its instance is created and destroyed: one in the chain of
/// VkInstanceCreateInfo.
#[derive(Clone, Copy)]
pub(crate) struct AtBirthAndDeath {
    severities: vk::DebugUtilsMessageSeverityFlagsEXT,
    types: vk::DebugUtilsMessageTypeFlagsEXT,
    callback: vk::PFN_vkDebugUtilsMessengerCallbackEXT,
    user_data: *mut c_void,
}

// SAFETY: as for `Listener`.
unsafe impl Send for AtBirthAndDeath {}
// SAFETY: as for `Listener`.
unsafe impl Sync for AtBirthAndDeath {}

impl AtBirthAndDeath {
    /// The first in a chain.
    ///
    /// # Safety
    /// `chain` is null or valid.
    pub(crate) unsafe fn find(chain: *const c_void) -> Option<AtBirthAndDeath> {
        // SAFETY: the caller's promise.
        let info = unsafe { entry::find::<vk::DebugUtilsMessengerCreateInfoEXT<'_>>(chain) }?;
        Some(AtBirthAndDeath {
            severities: info.message_severity,
            types: info.message_type,
            callback: info.pfn_user_callback,
            user_data: info.p_user_data,
        })
    }

    /// Listens until the result is dropped.
    ///
    /// # Errors
    /// When there is no memory.
    pub(crate) fn listen(&self) -> VkResult<Listening> {
        let info = vk::DebugUtilsMessengerCreateInfoEXT {
            message_severity: self.severities,
            message_type: self.types,
            pfn_user_callback: self.callback,
            p_user_data: self.user_data,
            ..Default::default()
        };
        Listening::start(vk::Instance::null(), &info)
    }
}

/// A messenger.
struct Messenger {
    _listening: Listening,
}

impl Object for Messenger {
    type Handle = vk::DebugUtilsMessengerEXT;
}

/// vkCreateDebugUtilsMessengerEXT.
pub(crate) unsafe extern "system" fn create_messenger(
    instance: vk::Instance,
    info: *const vk::DebugUtilsMessengerCreateInfoEXT<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    messenger: *mut vk::DebugUtilsMessengerEXT,
) -> vk::Result {
    entry::try_guard("vkCreateDebugUtilsMessengerEXT", || {
        // SAFETY: valid by the specification.
        let (host, info) = unsafe { (of_instance(instance, allocator), &*info) };
        let made = Messenger {
            _listening: Listening::start(instance, info)?,
        };
        let handle = object::create(host, made)?;
        // SAFETY: valid by the specification.
        unsafe { *messenger = handle };
        Ok(())
    })
}

/// vkDestroyDebugUtilsMessengerEXT.
pub(crate) unsafe extern "system" fn destroy_messenger(
    instance: vk::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    entry::guard("vkDestroyDebugUtilsMessengerEXT", || {
        // SAFETY: valid by the specification, and no one else's.
        unsafe { object::destroy::<Messenger>(of_instance(instance, allocator), messenger) };
    });
}

/// The allocator of an object of an instance.
///
/// # Safety
/// Both are valid by the specification.
unsafe fn of_instance(
    instance: vk::Instance,
    allocator: *const vk::AllocationCallbacks<'_>,
) -> HostAllocator {
    // SAFETY: the caller's promise.
    unsafe {
        let parent = &object::get::<Instance>(instance).host;
        HostAllocator::choose(allocator, parent, vk::SystemAllocationScope::OBJECT)
    }
}

/// vkSubmitDebugUtilsMessageEXT.
pub(crate) unsafe extern "system" fn submit_message(
    instance: vk::Instance,
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
) {
    entry::guard("vkSubmitDebugUtilsMessageEXT", || {
        let listeners = listeners();
        for listener in listeners.iter().filter(|it| it.instance == instance) {
            listener.tell(severity, types, data);
        }
    });
}

/// vkSetDebugUtilsObjectNameEXT.
pub(crate) unsafe extern "system" fn set_object_name(
    _device: vk::Device,
    _info: *const vk::DebugUtilsObjectNameInfoEXT<'_>,
) -> vk::Result {
    vk::Result::SUCCESS
}

/// vkSetDebugUtilsObjectTagEXT.
pub(crate) unsafe extern "system" fn set_object_tag(
    _device: vk::Device,
    _info: *const vk::DebugUtilsObjectTagInfoEXT<'_>,
) -> vk::Result {
    vk::Result::SUCCESS
}

/// Prints a label among what `CORTLAND_DEBUG` asks for.
///
/// # Safety
/// `info` is valid.
unsafe fn print_label(among: Flags, what: &str, info: *const vk::DebugUtilsLabelEXT<'_>) {
    if debug::has(among) {
        // SAFETY: the caller's promise.
        let name = unsafe { CStr::from_ptr((*info).p_label_name) };
        debug::print(&format_args!("{what} {:?}", name.to_string_lossy()));
    }
}

/// vkQueueBeginDebugUtilsLabelEXT.
pub(crate) unsafe extern "system" fn queue_begin_label(
    _queue: vk::Queue,
    info: *const vk::DebugUtilsLabelEXT<'_>,
) {
    entry::guard("vkQueueBeginDebugUtilsLabelEXT", || {
        // SAFETY: valid by the specification.
        unsafe { print_label(Flags::SUBMIT, "queue: begin", info) };
    });
}

/// vkQueueEndDebugUtilsLabelEXT.
pub(crate) unsafe extern "system" fn queue_end_label(_queue: vk::Queue) {
    entry::guard("vkQueueEndDebugUtilsLabelEXT", || {
        if debug::has(Flags::SUBMIT) {
            debug::print(&"queue: end");
        }
    });
}

/// vkQueueInsertDebugUtilsLabelEXT.
pub(crate) unsafe extern "system" fn queue_insert_label(
    _queue: vk::Queue,
    info: *const vk::DebugUtilsLabelEXT<'_>,
) {
    entry::guard("vkQueueInsertDebugUtilsLabelEXT", || {
        // SAFETY: valid by the specification.
        unsafe { print_label(Flags::SUBMIT, "queue: label", info) };
    });
}

/// vkCmdBeginDebugUtilsLabelEXT.
pub(crate) unsafe extern "system" fn cmd_begin_label(
    _commands: vk::CommandBuffer,
    info: *const vk::DebugUtilsLabelEXT<'_>,
) {
    entry::guard("vkCmdBeginDebugUtilsLabelEXT", || {
        // SAFETY: valid by the specification.
        unsafe { print_label(Flags::CMD, "begin", info) };
    });
}

/// vkCmdEndDebugUtilsLabelEXT.
pub(crate) unsafe extern "system" fn cmd_end_label(_commands: vk::CommandBuffer) {
    entry::guard("vkCmdEndDebugUtilsLabelEXT", || {
        if debug::has(Flags::CMD) {
            debug::print(&"end");
        }
    });
}

/// vkCmdInsertDebugUtilsLabelEXT.
pub(crate) unsafe extern "system" fn cmd_insert_label(
    _commands: vk::CommandBuffer,
    info: *const vk::DebugUtilsLabelEXT<'_>,
) {
    entry::guard("vkCmdInsertDebugUtilsLabelEXT", || {
        // SAFETY: valid by the specification.
        unsafe { print_label(Flags::CMD, "label", info) };
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    static HEARD: Mutex<Vec<(usize, String)>> = Mutex::new(Vec::new());

    unsafe extern "system" fn hear(
        _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
        _types: vk::DebugUtilsMessageTypeFlagsEXT,
        data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
        user_data: *mut c_void,
    ) -> vk::Bool32 {
        // SAFETY: the driver's own data.
        let text = unsafe { CStr::from_ptr((*data).p_message) };
        let mut heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
        heard.push((user_data.addr(), text.to_string_lossy().into_owned()));
        vk::FALSE
    }

    fn heard_by(who: usize) -> Vec<String> {
        let heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
        let of = heard.iter().filter(|(by, _)| *by == who);
        of.map(|(_, text)| text.clone()).collect()
    }

    fn listener(
        severity: vk::DebugUtilsMessageSeverityFlagsEXT,
        who: usize,
    ) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
        vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(severity)
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::GENERAL)
            .pfn_user_callback(Some(hear))
            .user_data(std::ptr::without_provenance_mut(who))
    }

    #[test]
    fn messages_reach_those_who_want_them_until_they_are_gone() {
        use vk::DebugUtilsMessageSeverityFlagsEXT as Severity;
        let start = |info| Listening::start(vk::Instance::null(), &info).expect("memory");
        let errors = start(listener(Severity::ERROR, 101));
        let warnings = start(listener(Severity::WARNING, 102));
        debug::error(&"test of messengers: an error");
        debug::warn(&"test of messengers: a warning");
        drop(errors);
        debug::error(&"test of messengers: no one hears this");
        // Other tests make the driver say things, too.
        let about = |texts: Vec<String>| -> Vec<String> {
            let ours = |text: &String| text.starts_with("test of messengers");
            texts.into_iter().filter(ours).collect()
        };
        assert_eq!(about(heard_by(101)), ["test of messengers: an error"]);
        assert_eq!(about(heard_by(102)), ["test of messengers: a warning"]);
        drop(warnings);
    }
}
