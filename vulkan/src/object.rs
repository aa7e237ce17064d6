// SPDX-License-Identifier: MIT
//! Handles and the objects behind them.
//!
//! A handle is the address of an [`Allocation`]: a header and the object. Dispatchable handles need
//! the loader's word first (loader-driver interface, "ICD Dispatchable Object Creation"); all
//! objects have it, so one layout serves both kinds. The header also says what is behind the handle:
//! a handle of another kind or of a destroyed object that is still readable is found before it does
//! harm. Such a call is the application's fault; the panic ends at the entry point.

use std::ptr::NonNull;

use allocator_api2::alloc::{Allocator, Layout};
use ash::vk::{self, Handle};

use crate::host::{HostAllocator, OUT_OF_HOST};
use crate::private_data::PrivateData;

/// What the loader expects in the first word of a dispatchable object before it puts its own
/// dispatch table there (loader-driver interface, ICD_LOADER_MAGIC).
const LOADER_MAGIC: usize = 0x01CD_C0DE;

/// Something that the application holds a handle of.
pub(crate) trait Object: Sized {
    /// The handle's type.
    type Handle: Handle + Copy;
}

#[repr(C)]
struct Allocation<T> {
    header: Header,
    object: T,
}

/// What all objects have, whatever they are.
#[repr(C)]
struct Header {
    /// The loader's.
    loader: usize,
    /// What this is; [`vk::ObjectType::UNKNOWN`] once it is destroyed.
    kind: vk::ObjectType,
    /// The application's.
    private: PrivateData,
}

/// Puts an object on the heap and gives its handle.
///
/// # Errors
/// When the callbacks refuse memory; the object is dropped.
pub(crate) fn create<T: Object>(host: HostAllocator, object: T) -> Result<T::Handle, vk::Result> {
    let memory = host
        .allocate(Layout::new::<Allocation<T>>())
        .map_err(|_| OUT_OF_HOST)?;
    let start = memory.cast::<Allocation<T>>();
    // SAFETY: just allocated for this type.
    unsafe {
        start.write(Allocation {
            header: Header {
                loader: LOADER_MAGIC,
                kind: T::Handle::TYPE,
                private: PrivateData::default(),
            },
            object,
        });
    }
    Ok(T::Handle::from_raw(
        start.as_ptr().expose_provenance() as u64
    ))
}

#[inline]
fn locate<T: Object>(handle: T::Handle) -> Option<NonNull<Allocation<T>>> {
    NonNull::new(std::ptr::with_exposed_provenance_mut(
        handle.as_raw() as usize
    ))
}

#[inline]
fn check<T: Object>(at: NonNull<Allocation<T>>) {
    // SAFETY: the caller of the function that calls this promised a live object, or at least
    // readable memory.
    let kind = unsafe { (*at.as_ptr()).header.kind };
    if kind != T::Handle::TYPE {
        not_of_kind(at.as_ptr().addr(), T::Handle::TYPE);
    }
}

// Apart, so that what every entry point does first stays small.
#[cold]
#[inline(never)]
fn not_of_kind(handle: usize, kind: vk::ObjectType) -> ! {
    panic!("the handle {handle:#x} is no {kind:?}");
}

#[cold]
#[inline(never)]
fn null(kind: vk::ObjectType) -> ! {
    panic!("a null {kind:?}");
}

/// The object behind a handle.
///
/// # Panics
/// When the handle is null or of another kind.
///
/// # Safety
/// The handle is null or of an object that lives for `'a` and is not changed through [`get_mut`].
pub(crate) unsafe fn get<'a, T: Object + 'a>(handle: T::Handle) -> &'a T {
    // SAFETY: the caller's promise.
    unsafe { get_optional(handle) }.unwrap_or_else(|| null(T::Handle::TYPE))
}

/// The object behind a handle that may be null.
///
/// # Panics
/// When the handle is of another kind.
///
/// # Safety
/// As for [`get`].
pub(crate) unsafe fn get_optional<'a, T: Object + 'a>(handle: T::Handle) -> Option<&'a T> {
    let at = locate::<T>(handle)?;
    check(at);
    // SAFETY: the caller's promise.
    Some(unsafe { &at.as_ref().object })
}

/// A handle of another kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OtherKind;

/// The object behind a handle that may be null, without a panic: for what runs without a guard.
///
/// # Errors
/// When the handle is of another kind.
///
/// # Safety
/// As for [`get`].
#[inline]
pub(crate) unsafe fn find_optional<'a, T: Object + 'a>(
    handle: T::Handle,
) -> Result<Option<&'a T>, OtherKind> {
    let Some(at) = locate::<T>(handle) else {
        return Ok(None);
    };
    // SAFETY: the caller's promise.
    let at = unsafe { at.as_ref() };
    match at.header.kind == T::Handle::TYPE {
        true => Ok(Some(&at.object)),
        false => Err(OtherKind),
    }
}

/// The object behind a handle whose use the application synchronises.
///
/// # Panics
/// When the handle is null or of another kind.
///
/// # Safety
/// The handle is null or of a live object, and nothing else refers to it for `'a`: the command says
/// that access is externally synchronised.
pub(crate) unsafe fn get_mut<'a, T: Object + 'a>(handle: T::Handle) -> &'a mut T {
    let Some(mut at) = locate::<T>(handle) else {
        null(T::Handle::TYPE);
    };
    check(at);
    // SAFETY: the caller's promise.
    unsafe { &mut at.as_mut().object }
}

/// [`find_optional`] for a handle whose use the application synchronises.
///
/// # Errors
/// When the handle is of another kind.
///
/// # Safety
/// As for [`get_mut`].
#[inline]
pub(crate) unsafe fn find_optional_mut<'a, T: Object + 'a>(
    handle: T::Handle,
) -> Result<Option<&'a mut T>, OtherKind> {
    let Some(mut at) = locate::<T>(handle) else {
        return Ok(None);
    };
    // SAFETY: the caller's promise.
    let at = unsafe { at.as_mut() };
    match at.header.kind == T::Handle::TYPE {
        true => Ok(Some(&mut at.object)),
        false => Err(OtherKind),
    }
}

/// The private data of an object of any kind.
///
/// # Panics
/// When the handle is null or of another kind.
///
/// # Safety
/// The handle is null or of an object that lives for `'a`.
pub(crate) unsafe fn private_data<'a>(kind: vk::ObjectType, handle: u64) -> &'a PrivateData {
    let at: *const Header = std::ptr::with_exposed_provenance(handle as usize);
    // SAFETY: every object begins with its header; the caller's promise.
    let header = unsafe { at.as_ref() }.filter(|header| header.kind == kind);
    let Some(header) = header else {
        not_of_kind(handle as usize, kind);
    };
    &header.private
}

/// The handle of an object that [`create`] made.
pub(crate) fn handle_of<T: Object>(object: &T) -> T::Handle {
    let at = std::ptr::from_ref(object)
        .map_addr(|address| address - std::mem::offset_of!(Allocation<T>, object));
    T::Handle::from_raw(at.expose_provenance() as u64)
}

/// Drops the object behind a handle and frees its memory; nothing for a null handle.
///
/// # Panics
/// When the handle is of another kind.
///
/// # Safety
/// The handle is null or of a live object that no one uses any more, and `host` has callbacks
/// compatible with those it was created with.
pub(crate) unsafe fn destroy<T: Object>(host: HostAllocator, handle: T::Handle) {
    let Some(mut at) = locate::<T>(handle) else {
        return;
    };
    check(at);
    // SAFETY: a live object that is the caller's alone; its memory came from such callbacks.
    unsafe {
        at.as_mut().header.kind = vk::ObjectType::UNKNOWN;
        std::ptr::drop_in_place(at.as_ptr());
        host.deallocate(at.cast(), Layout::new::<Allocation<T>>());
    }
}
