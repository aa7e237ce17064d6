// SPDX-License-Identifier: MIT
//! Writing descriptors: no allocation, no lock, and nothing outside the memory of the set.

use std::cell::UnsafeCell;

use ash::vk;

use super::DESCRIPTOR_SIZE;
use super::layout::{Binding, Kind, Layout};
use crate::buffer::Buffer;
use crate::physical_device::limits;
use crate::{debug, entry, object};

/// A buffer whose address is not final: an offset is added when its set is bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct DynamicBuffer {
    /// Where it begins for an offset of 0; 0 when there is no buffer.
    pub(crate) address: u64,
    /// Bytes that shaders may access, wherever it begins.
    pub(crate) size: u32,
}

impl DynamicBuffer {
    /// Begun further on; nothing when it is nothing.
    pub(crate) fn moved(self, offset: u32) -> DynamicBuffer {
        match self.address {
            0 => self,
            address => DynamicBuffer {
                address: address + u64::from(offset),
                size: self.size,
            },
        }
    }

    /// As shaders read it.
    pub(crate) fn descriptor(&self) -> [u8; DESCRIPTOR_SIZE as usize] {
        let mut bytes = [0; DESCRIPTOR_SIZE as usize];
        bytes[..8].copy_from_slice(&self.address.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.size.to_le_bytes());
        bytes
    }
}

/// The memory of a set.
#[derive(Clone, Copy)]
pub(super) struct Target {
    bytes: *mut u8,
    size: u32,
    dynamic: *mut DynamicBuffer,
    dynamic_count: u32,
}

impl Target {
    pub(super) fn new(memory: &mut [u8], dynamic: &mut [DynamicBuffer]) -> Target {
        Target {
            bytes: memory.as_mut_ptr(),
            size: u32::try_from(memory.len()).unwrap_or(u32::MAX),
            dynamic: dynamic.as_mut_ptr(),
            dynamic_count: u32::try_from(dynamic.len()).unwrap_or(u32::MAX),
        }
    }

    /// # Safety
    /// The memory has so many bytes, and is neither read nor written by others where it is used.
    pub(super) unsafe fn of_parts(
        bytes: *mut u8,
        size: u32,
        dynamic: &[UnsafeCell<DynamicBuffer>],
    ) -> Target {
        Target {
            bytes,
            size,
            dynamic: UnsafeCell::raw_get(dynamic.as_ptr()),
            dynamic_count: dynamic.len() as u32,
        }
    }

    /// The memory of a piece; nothing when it is not all there.
    fn bytes(&self, piece: Piece) -> Option<*mut u8> {
        let bytes = u64::from(piece.count) * u64::from(piece.kind.stride());
        let end = u64::from(piece.start) + bytes;
        // SAFETY: inside the memory.
        (end <= u64::from(self.size)).then(|| unsafe { self.bytes.add(piece.start as usize) })
    }

    /// The dynamic buffers of a piece; nothing when they are not all there.
    fn dynamic(&self, piece: Piece) -> Option<*mut DynamicBuffer> {
        let end = u64::from(piece.start) + u64::from(piece.count);
        // SAFETY: inside the array.
        (end <= u64::from(self.dynamic_count))
            .then(|| unsafe { self.dynamic.add(piece.start as usize) })
    }

    /// Writes buffers; a null one where `infos` gives none.
    ///
    /// # Safety
    /// What `infos` gives is valid.
    unsafe fn put_buffers(
        &self,
        piece: Piece,
        infos: impl Iterator<Item = vk::DescriptorBufferInfo>,
    ) {
        match piece.kind {
            Kind::Buffer => {
                let Some(to) = self.bytes(piece) else {
                    return too_few(piece);
                };
                for (at, info) in infos.take(piece.count as usize).enumerate() {
                    // SAFETY: inside the piece, by take(); the caller's promise.
                    unsafe {
                        let (address, size) = locate(&info);
                        let to = to.add(at * DESCRIPTOR_SIZE as usize).cast::<[u64; 2]>();
                        to.write_unaligned([address.to_le(), u64::from(size).to_le()]);
                    }
                }
            }
            Kind::Dynamic => {
                let Some(to) = self.dynamic(piece) else {
                    return too_few(piece);
                };
                for (at, info) in infos.take(piece.count as usize).enumerate() {
                    // SAFETY: as above.
                    unsafe {
                        let (address, size) = locate(&info);
                        to.add(at).write(DynamicBuffer { address, size });
                    }
                }
            }
            Kind::Inline | Kind::Absent => {}
        }
    }

    /// Copies the bytes of an inline uniform block.
    ///
    /// # Safety
    /// `from` has `piece.count` bytes.
    unsafe fn put_bytes(&self, piece: Piece, from: *const u8) {
        let Some(to) = self.bytes(piece) else {
            return too_few(piece);
        };
        // SAFETY: inside the memory; the caller's promise.
        unsafe { to.copy_from_nonoverlapping(from, piece.count as usize) };
    }
}

#[cold]
fn too_few(piece: Piece) {
    debug::error(&format_args!(
        "a set is too small for {} descriptors at {}: ignored",
        piece.count, piece.start
    ));
}

/// The address and size that a descriptor of a buffer gives.
///
/// # Safety
/// The buffer is null or live.
#[inline]
unsafe fn locate(info: &vk::DescriptorBufferInfo) -> (u64, u32) {
    // SAFETY: the caller's promise.
    let Some(buffer) = (unsafe { object::get_optional::<Buffer>(info.buffer) }) else {
        return (0, 0);
    };
    let offset = info.offset.min(buffer.size);
    // VK_WHOLE_SIZE is more than any rest.
    let size = info.range.min(buffer.size - offset);
    let size = size.min(u64::from(limits::STORAGE_BUFFER_RANGE)) as u32;
    (buffer.address.wrapping_add(offset), size)
}

/// A place in a layout from which elements are counted, across bindings: what exceeds a binding
/// goes on in the next one (Vulkan 1.3, 14.2.5 "Descriptor Set Updates", consecutive binding
/// updates).
pub(super) struct Cursor<'a> {
    bindings: &'a [Binding],
    element: u32,
}

/// Elements that follow one another in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    /// An offset in the set's memory, or an index of a dynamic buffer.
    pub(super) start: u32,
    /// Elements; bytes of an inline uniform block.
    pub(super) count: u32,
}

impl<'a> Cursor<'a> {
    /// At an element of the first of these bindings.
    pub(super) fn new(bindings: &'a [Binding], element: u32) -> Cursor<'a> {
        Cursor { bindings, element }
    }

    /// How many elements there are until the binding ends, its kind; goes on to the next binding at
    /// the end of one. Nothing at the end of the layout.
    fn here(&mut self) -> Option<(Kind, u32)> {
        loop {
            let binding = self.bindings.first()?;
            if self.element < binding.count {
                return Some((binding.kind, binding.count - self.element));
            }
            self.element -= binding.count;
            self.bindings = &self.bindings[1..];
        }
    }

    /// The next elements of a kind, at most so many and at least one; nothing when there are none.
    pub(super) fn next(&mut self, kind: Kind, most: u32) -> Option<Piece> {
        let (found, room) = self.here()?;
        if found != kind || most == 0 {
            return None;
        }
        let binding = self.bindings.first()?;
        let step = match kind {
            Kind::Dynamic => 1,
            Kind::Buffer | Kind::Inline | Kind::Absent => kind.stride(),
        };
        let piece = Piece {
            kind,
            start: binding.start + self.element * step,
            count: room.min(most),
        };
        self.element += piece.count;
        Some(piece)
    }
}

/// What happens to descriptors that have no place in a layout: nothing, and a message.
#[cold]
pub(super) fn nowhere(binding: u32, element: u32, descriptor_type: vk::DescriptorType) {
    debug::error(&format_args!(
        "the set has no {descriptor_type:?} at binding {binding}, element {element} and on: ignored"
    ));
}

/// Carries out a write.
///
/// # Safety
/// The structure and what it refers to are valid, and nobody else uses the descriptors.
pub(super) unsafe fn write_set(
    layout: &Layout,
    target: Target,
    write: &vk::WriteDescriptorSet<'_>,
) {
    let kind = Kind::of(write.descriptor_type);
    if kind == Kind::Absent {
        // There are no such objects, so that it can only be null descriptors.
        return;
    }
    let (number, element) = (write.dst_binding, write.dst_array_element);
    let Some(mut cursor) = layout.cursor(number, element) else {
        return nowhere(number, element, write.descriptor_type);
    };
    // SAFETY: the caller's promise.
    let inline = unsafe {
        match kind {
            Kind::Inline => {
                match entry::find::<vk::WriteDescriptorSetInlineUniformBlock<'_>>(write.p_next) {
                    Some(block) => entry::slice(block.p_data.cast::<u8>(), block.data_size),
                    None => &[],
                }
            }
            _ => &[],
        }
    };
    let total = match kind {
        Kind::Inline => write.descriptor_count.min(inline.len() as u32),
        _ if write.p_buffer_info.is_null() => 0,
        _ => write.descriptor_count,
    };
    let mut done = 0;
    while done < total {
        let Some(piece) = cursor.next(kind, total - done) else {
            return nowhere(number, element.saturating_add(done), write.descriptor_type);
        };
        // SAFETY: as many elements as the structure says; the caller's promise.
        unsafe {
            if kind == Kind::Inline {
                target.put_bytes(piece, inline.as_ptr().add(done as usize));
            } else {
                let infos = write.p_buffer_info.add(done as usize);
                let infos = entry::slice(infos, piece.count);
                target.put_buffers(piece, infos.iter().copied());
            }
        }
        done += piece.count;
    }
}

/// Writes a piece from an application's array with a stride.
///
/// # Safety
/// `from` is valid for the elements, or bytes of an inline uniform block.
pub(super) unsafe fn write_strided(target: Target, piece: Piece, from: *const u8, stride: usize) {
    // SAFETY: the caller's promise. Applications need not align what they point to.
    unsafe {
        match piece.kind {
            Kind::Inline => target.put_bytes(piece, from),
            Kind::Buffer | Kind::Dynamic => {
                let info = |at: u32| {
                    let info = from.wrapping_add((at as usize).wrapping_mul(stride));
                    info.cast::<vk::DescriptorBufferInfo>().read_unaligned()
                };
                target.put_buffers(piece, (0..piece.count).map(info));
            }
            Kind::Absent => {}
        }
    }
}

/// Carries out a copy.
///
/// # Safety
/// Nobody else uses the descriptors.
pub(super) unsafe fn copy_set(
    source: (&Layout, Target),
    target: (&Layout, Target),
    copy: &vk::CopyDescriptorSet<'_>,
) {
    let cursors = (
        source.0.cursor(copy.src_binding, copy.src_array_element),
        target.0.cursor(copy.dst_binding, copy.dst_array_element),
    );
    let (Some(mut from), Some(mut to)) = cursors else {
        return bad_copy(copy);
    };
    let mut left = copy.descriptor_count;
    while left != 0 {
        let (Some((kind, there)), Some((_, here))) = (from.here(), to.here()) else {
            return bad_copy(copy);
        };
        let count = left.min(there).min(here);
        let (Some(read), Some(written)) = (from.next(kind, count), to.next(kind, count)) else {
            return bad_copy(copy);
        };
        left -= count;
        // SAFETY: inside the memory of either set; the two may be one.
        unsafe {
            match kind {
                Kind::Buffer | Kind::Inline => {
                    let (Some(read), Some(to)) = (source.1.bytes(read), target.1.bytes(written))
                    else {
                        return bad_copy(copy);
                    };
                    to.copy_from(read, count as usize * kind.stride() as usize);
                }
                Kind::Dynamic => {
                    let (Some(read), Some(to)) =
                        (source.1.dynamic(read), target.1.dynamic(written))
                    else {
                        return bad_copy(copy);
                    };
                    to.copy_from(read, count as usize);
                }
                Kind::Absent => {}
            }
        }
    }
}

#[cold]
fn bad_copy(copy: &vk::CopyDescriptorSet<'_>) {
    debug::error(&format_args!(
        "{} descriptors do not go from binding {} to binding {}: ignored",
        copy.descriptor_count, copy.src_binding, copy.dst_binding
    ));
}
