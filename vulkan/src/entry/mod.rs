// SPDX-License-Identifier: MIT
//! The boundary to the application: which functions there are, and that no panic crosses it.

pub mod loader;
pub(crate) mod lookup;
pub mod table;

use std::panic::{AssertUnwindSafe, catch_unwind};

use ash::vk;

use crate::debug;
use crate::error::{VkResult, code};

/// What an entry point returns when it panicked.
pub(crate) trait OnPanic {
    /// The value that does least harm.
    fn on_panic() -> Self;
}

impl OnPanic for vk::Result {
    fn on_panic() -> vk::Result {
        vk::Result::ERROR_UNKNOWN
    }
}

impl OnPanic for () {
    fn on_panic() {}
}

impl OnPanic for u32 {
    fn on_panic() -> u32 {
        0
    }
}

impl OnPanic for u64 {
    fn on_panic() -> u64 {
        0
    }
}

impl OnPanic for vk::PFN_vkVoidFunction {
    fn on_panic() -> vk::PFN_vkVoidFunction {
        None
    }
}

/// Runs the body of an entry point. A panic, which is a fault of the driver or a call that the
/// specification forbids, is printed and becomes an error.
pub(crate) fn guard<R: OnPanic>(name: &'static str, body: impl FnOnce() -> R) -> R {
    // Objects that a panic left half-changed are behind locks that ignore poisoning, or belong to
    // the call that failed.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        let message = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        debug::error(&format_args!("{name} stopped: {message}"));
        R::on_panic()
    })
}

/// The same for a body with `?`.
pub(crate) fn try_guard(name: &'static str, body: impl FnOnce() -> VkResult) -> vk::Result {
    guard(name, || code(body()))
}

/// Writes a string into one of the specification's arrays, cut to what fits, with its zero.
pub(crate) fn text(from: &std::ffi::CStr, to: &mut [std::ffi::c_char]) {
    to.fill(0);
    let room = to.len().saturating_sub(1);
    for (to, byte) in to.iter_mut().zip(from.to_bytes().iter().take(room)) {
        *to = *byte as std::ffi::c_char;
    }
}

/// Copies a list to the application as the specification's enumerations do: with a null array its
/// length, otherwise as much as fits.
///
/// # Errors
/// [`vk::Result::INCOMPLETE`] when not all fits.
///
/// # Safety
/// `count` is valid, and `array` is null or valid for so many elements.
pub(crate) unsafe fn enumerate<T>(
    items: impl ExactSizeIterator<Item = T>,
    count: *mut u32,
    array: *mut T,
) -> VkResult {
    // SAFETY: the caller's promise.
    unsafe { enumerate_with(items, count, array, |to, item| *to = item) }
}

/// The same for structures of which only some fields are written, because they are chained.
///
/// # Errors
/// [`vk::Result::INCOMPLETE`] when not all fits.
///
/// # Safety
/// As for [`enumerate`]; the elements are initialised.
pub(crate) unsafe fn enumerate_with<T, U>(
    items: impl ExactSizeIterator<Item = T>,
    count: *mut u32,
    array: *mut U,
    write: impl Fn(&mut U, T),
) -> VkResult {
    let total = u32::try_from(items.len()).unwrap_or(u32::MAX);
    if array.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *count = total };
        return Ok(());
    }
    // SAFETY: the caller's promise.
    let room = unsafe { *count };
    let given = room.min(total);
    for (index, item) in items.take(given as usize).enumerate() {
        // SAFETY: below the caller's count.
        write(unsafe { &mut *array.add(index) }, item);
    }
    // SAFETY: as above.
    unsafe { *count = given };
    if given < total {
        return Err(vk::Result::INCOMPLETE);
    }
    Ok(())
}

/// An array that an application passed; empty when it is null or has no elements.
///
/// # Safety
/// When `count` is not 0, `array` is null or valid for so many elements for `'a`.
pub(crate) unsafe fn slice<'a, T>(array: *const T, count: u32) -> &'a [T] {
    if array.is_null() || count == 0 {
        &[]
    } else {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(array, count as usize) }
    }
}

/// The structures of a `pNext` chain.
///
/// # Safety
/// `chain` is null or the first of a valid chain that lives for `'a`.
pub(crate) unsafe fn chain<'a>(
    chain: *const std::ffi::c_void,
) -> impl Iterator<Item = &'a vk::BaseInStructure<'a>> {
    // SAFETY: the caller's promise.
    let first = unsafe { chain.cast::<vk::BaseInStructure<'a>>().as_ref() };
    // SAFETY: as above.
    std::iter::successors(first, |link| unsafe {
        link.p_next.cast::<vk::BaseInStructure<'a>>().as_ref()
    })
}

/// The structure of a type in a `pNext` chain.
///
/// # Safety
/// As for [`chain`].
pub(crate) unsafe fn find<'a, T: vk::TaggedStructure + 'a>(
    start: *const std::ffi::c_void,
) -> Option<&'a T> {
    // SAFETY: the caller's promise.
    let mut links = unsafe { chain(start) };
    let found = links.find(|link| link.s_type == T::STRUCTURE_TYPE)?;
    // SAFETY: its type says that it is one.
    Some(unsafe { &*std::ptr::from_ref(found).cast::<T>() })
}

/// The structures of an output `pNext` chain, to be cast by their type and written.
///
/// # Safety
/// `start` is null or the first of a valid chain that no one else uses.
pub(crate) unsafe fn chain_mut(
    start: *mut std::ffi::c_void,
) -> impl Iterator<Item = *mut vk::BaseOutStructure<'static>> {
    let there = |link: *mut vk::BaseOutStructure<'static>| (!link.is_null()).then_some(link);
    std::iter::successors(there(start.cast()), move |link| {
        // SAFETY: not null, and the caller's promise.
        there(unsafe { (**link).p_next })
    })
}

/// Writes an output structure, but for its place in the chain.
///
/// # Safety
/// `link` is a structure of this type that no one else uses.
pub(crate) unsafe fn put<T: vk::TaggedStructure>(
    link: *mut vk::BaseOutStructure<'static>,
    value: T,
) {
    // SAFETY: the caller's promise; every structure with a type begins as the base structure does.
    unsafe {
        debug_assert_eq!((*link).s_type, T::STRUCTURE_TYPE);
        let next = (*link).p_next;
        link.cast::<T>().write(value);
        (*link).p_next = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_errors() {
        assert_eq!(
            try_guard("vkTest", || panic!("expected")),
            vk::Result::ERROR_UNKNOWN
        );
        assert_eq!(try_guard("vkTest", || Ok(())), vk::Result::SUCCESS);
    }

    #[test]
    fn enumerations_give_the_count_the_whole_or_a_part() {
        let items = [7u32, 8, 9];
        let run = |array: Option<&mut [u32]>, mut count: u32| {
            let array = array.map_or(std::ptr::null_mut(), <[u32]>::as_mut_ptr);
            // SAFETY: as many elements as the count says, or none.
            let result = unsafe { enumerate(items.into_iter(), &raw mut count, array) };
            (code(result), count)
        };
        assert_eq!(run(None, 77), (vk::Result::SUCCESS, 3));
        let mut room = [0; 4];
        assert_eq!(run(Some(&mut room), 4), (vk::Result::SUCCESS, 3));
        assert_eq!(room, [7, 8, 9, 0]);
        let mut room = [0; 2];
        assert_eq!(run(Some(&mut room), 2), (vk::Result::INCOMPLETE, 2));
        assert_eq!(room, [7, 8]);
    }

    #[test]
    fn chains_are_walked_to_their_end() {
        let mut last = vk::PhysicalDeviceVulkan12Features::default();
        let first = vk::PhysicalDeviceVulkan11Features {
            p_next: (&raw mut last).cast(),
            ..Default::default()
        };
        let start = (&raw const first).cast();
        // SAFETY: a valid chain of two.
        unsafe {
            assert_eq!(chain(start).count(), 2);
            assert!(find::<vk::PhysicalDeviceVulkan12Features<'_>>(start).is_some());
            assert!(find::<vk::PhysicalDeviceVulkan13Features<'_>>(start).is_none());
            assert_eq!(chain(std::ptr::null()).count(), 0);
            assert_eq!(chain_mut(std::ptr::null_mut()).count(), 0);
        }
    }

    #[test]
    fn output_chains_are_written_and_stay_linked() {
        let mut last = vk::PhysicalDeviceVulkan12Features::default();
        let mut first = vk::PhysicalDeviceVulkan11Features {
            p_next: (&raw mut last).cast(),
            ..Default::default()
        };
        // SAFETY: a valid chain of two.
        unsafe {
            let links: Vec<_> = chain_mut((&raw mut first).cast()).collect();
            assert_eq!(links.len(), 2);
            let value = vk::PhysicalDeviceVulkan11Features::default().multiview(true);
            put(links[0], value);
        }
        assert_eq!(first.multiview, vk::TRUE);
        assert_eq!(first.p_next, (&raw mut last).cast());
    }

    #[test]
    fn texts_are_cut_and_terminated() {
        let mut to = [1; 4];
        text(c"ab", &mut to);
        assert_eq!(to.map(|c| c as u8), *b"ab\0\0");
        text(c"abcdef", &mut to);
        assert_eq!(to.map(|c| c as u8), *b"abc\0");
    }
}
