// SPDX-License-Identifier: MIT
//! Writing descriptors: no allocation, no lock, and nothing outside the memory of the set.

use ash::vk;

use super::DESCRIPTOR_SIZE;
use super::layout::{Binding, Kind, Layout};
use crate::buffer::Buffer;
use crate::buffer_view::BufferView;
use crate::image::ImageView;
use crate::image::descriptor::TEXTURE_SIZE;
use crate::object::{self, Object};
use crate::physical_device::limits;
use crate::sampler::Sampler;
use crate::{debug, entry};

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

/// The memory of a set, and the bindings in it that are found by their number alone.
///
/// Valid writes find everything here: this and an object's header are one cache line.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Target {
    bytes: *mut u8,
    dynamic: *mut DynamicBuffer,
    /// The layout's bindings by number, as many as are all in the memory.
    whole: *const Binding,
    whole_count: u32,
    size: u32,
    dynamic_count: u32,
}

impl Target {
    /// Memory, and the bindings that [`Layout::whole`] says are in it; not all need be given.
    pub(super) fn new(
        whole: &[Binding],
        memory: &mut [u8],
        dynamic: &mut [DynamicBuffer],
    ) -> Target {
        // SAFETY: the slices are as long as they say, and exclusive.
        unsafe {
            Target::of_parts(
                whole,
                (memory.as_mut_ptr(), memory.len()),
                (dynamic.as_mut_ptr(), dynamic.len()),
            )
        }
    }

    /// The same for pointers with their numbers of bytes and dynamic buffers.
    ///
    /// # Safety
    /// There are so many, and they are neither read nor written by others where the target is used.
    /// The bindings live as long as the target is used.
    pub(super) unsafe fn of_parts(
        whole: &[Binding],
        (bytes, size): (*mut u8, usize),
        (dynamic, dynamic_count): (*mut DynamicBuffer, usize),
    ) -> Target {
        Target {
            bytes,
            dynamic,
            whole: whole.as_ptr(),
            whole_count: whole.len() as u32,
            size: u32::try_from(size).unwrap_or(u32::MAX),
            dynamic_count: u32::try_from(dynamic_count).unwrap_or(u32::MAX),
        }
    }

    /// The binding of this number, if all its elements are in the memory. Others may be there, too.
    #[inline]
    fn whole(&self, number: u32) -> Option<&Binding> {
        // SAFETY: below the count, of bindings that live as long as the target is used.
        (number < self.whole_count).then(|| unsafe { &*self.whole.add(number as usize) })
    }

    /// Whether a piece is in the memory.
    pub(super) fn has(&self, piece: Piece) -> bool {
        piece.end() <= self.end(piece.kind)
    }

    /// Where pieces of a kind must end.
    pub(super) fn end(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Dynamic => self.dynamic_count.into(),
            Kind::Absent => u64::MAX,
            _ => self.size.into(),
        }
    }

    /// Where a piece begins: bytes, or a [`DynamicBuffer`].
    ///
    /// # Safety
    /// The piece is in the memory.
    #[inline(always)]
    unsafe fn place(&self, kind: Kind, start: u32) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe {
            match kind {
                Kind::Dynamic => self.dynamic.add(start as usize).cast(),
                _ => self.bytes.add(start as usize),
            }
        }
    }

    /// Writes the elements of a piece from an application's array, whose elements need not be
    /// aligned; the bytes of an inline uniform block follow one another.
    ///
    /// # Errors
    /// A handle of another kind of object; what comes before it is written.
    ///
    /// # Safety
    /// The piece is in the memory, and `from` is valid for its elements.
    #[inline(always)]
    pub(super) unsafe fn put(
        &self,
        piece: Piece,
        from: *const u8,
        stride: usize,
    ) -> Result<(), Wrong> {
        // SAFETY: in the memory, the caller's promise.
        unsafe {
            let to = self.place(piece.kind, piece.start);
            put(piece.kind, to, from, piece.count as usize, stride)
        }
    }

    /// Carries out a write as nearly all are: of one buffer that exists and is not huge, in a
    /// binding that is all there. Whether it did.
    ///
    /// There is no message in here and no panic. This is the shortest way that checks everything:
    /// nearly every comparison is with memory, and every one is a branch that is never taken.
    ///
    /// # Safety
    /// As for [`write_set`].
    #[inline(always)]
    pub(super) unsafe fn write_one(&self, write: &vk::WriteDescriptorSet<'_>) -> bool {
        let Some(binding) = self.whole(write.dst_binding) else {
            return false;
        };
        let (element, info) = (write.dst_array_element, write.p_buffer_info);
        if binding.in_set != write.descriptor_type
            || element >= binding.count
            || write.descriptor_count != 1
            || info.is_null()
        {
            return false;
        }
        // SAFETY: the element is in the memory; the caller's promise.
        unsafe {
            let info = &*info;
            let Ok(Some(buffer)) = object::find_optional::<Buffer>(info.buffer) else {
                return false;
            };
            if info.offset > buffer.size {
                return false;
            }
            let size = info.range.min(buffer.size - info.offset);
            if size > u64::from(limits::STORAGE_BUFFER_RANGE) {
                return false;
            }
            let to = self
                .bytes
                .add((binding.start + element * DESCRIPTOR_SIZE) as usize);
            put_buffer(to, buffer.address.wrapping_add(info.offset), size as u32);
        }
        true
    }

    /// Carries out a write of buffers in a binding that is all there. Whether it did; if not, some
    /// of the descriptors may be written.
    ///
    /// There is no message in here and no panic.
    ///
    /// # Safety
    /// As for [`write_set`].
    #[inline(never)]
    pub(super) unsafe fn write_some(&self, write: &vk::WriteDescriptorSet<'_>) -> bool {
        let Some(binding) = self.whole(write.dst_binding) else {
            return false;
        };
        let (element, count) = (write.dst_array_element, write.descriptor_count);
        let inside = u64::from(element) + u64::from(count) <= u64::from(binding.count);
        let from = write.p_buffer_info.cast::<u8>();
        if binding.descriptor_type != write.descriptor_type
            || !inside
            || from.is_null()
            || !matches!(binding.kind, Kind::Buffer | Kind::Dynamic)
        {
            return false;
        }
        let piece = Piece {
            kind: binding.kind,
            start: binding.start + element * binding.kind.step(),
            count,
        };
        let stride = size_of::<vk::DescriptorBufferInfo>();
        // SAFETY: the elements are in the memory; the caller's promise.
        unsafe { self.put(piece, from, stride) }.is_ok()
    }
}

/// Writes elements of a kind from an application's array.
///
/// # Errors
/// The first handle of another kind of object; what comes before it is written.
///
/// # Safety
/// There is room for so many elements, and `from` is valid for them.
#[inline(always)]
unsafe fn put(
    kind: Kind,
    to: *mut u8,
    from: *const u8,
    count: usize,
    stride: usize,
) -> Result<(), Wrong> {
    // SAFETY: the caller's promise.
    unsafe {
        match kind {
            Kind::Buffer => each(count, from, stride, |index, buffer| {
                let to = to.add(DESCRIPTOR_SIZE as usize * index);
                put_buffer(to, buffer.address, buffer.size);
            }),
            Kind::Dynamic => each(count, from, stride, |index, buffer| {
                to.cast::<DynamicBuffer>().add(index).write(buffer);
            }),
            Kind::Inline => {
                to.copy_from_nonoverlapping(from, count);
                Ok(())
            }
            Kind::Absent | Kind::FixedSampler => Ok(()),
            _ => put_objects(kind, to, from, count, stride),
        }
    }
}

/// Writes elements that are images, samplers or texel buffers.
///
/// # Errors
/// As [`put`].
///
/// # Safety
/// As [`put`].
#[inline(never)]
unsafe fn put_objects(
    kind: Kind,
    to: *mut u8,
    from: *const u8,
    count: usize,
    stride: usize,
) -> Result<(), Wrong> {
    let step = kind.stride() as usize;
    for index in 0..count {
        let from = from.wrapping_add(index.wrapping_mul(stride));
        // SAFETY: the caller's promise; handles are null or of live objects by the specification.
        unsafe {
            let to = to.add(index * step);
            if kind == Kind::TexelBuffer {
                let view = from.cast::<vk::BufferView>().read_unaligned();
                copy_from(to, view, |view: &BufferView| &view.descriptor)?;
                continue;
            }
            let info = from.cast::<vk::DescriptorImageInfo>().read_unaligned();
            match kind {
                Kind::Texture | Kind::FixedCombined => {
                    copy_from(to, info.image_view, |view: &ImageView| &view.texture)?;
                }
                Kind::Sampler => {
                    copy_from(to, info.sampler, |sampler: &Sampler| &sampler.descriptor)?;
                }
                Kind::Combined => {
                    copy_from(to, info.image_view, |view: &ImageView| &view.texture)?;
                    copy_from(to.add(TEXTURE_SIZE), info.sampler, |sampler: &Sampler| {
                        &sampler.descriptor
                    })?;
                }
                _ => copy_from(to, info.image_view, |view: &ImageView| &view.storage)?,
            }
        }
    }
    Ok(())
}

/// Does something with each buffer of an application's array.
///
/// # Errors
/// The first handle that is not a buffer's.
///
/// # Safety
/// `from` is valid for so many elements of [`vk::DescriptorBufferInfo`], aligned or not.
#[inline(always)]
unsafe fn each(
    count: usize,
    from: *const u8,
    stride: usize,
    mut run: impl FnMut(usize, DynamicBuffer),
) -> Result<(), Wrong> {
    for index in 0..count {
        let info = from.wrapping_add(index.wrapping_mul(stride));
        // SAFETY: the caller's promise.
        let info = unsafe { info.cast::<vk::DescriptorBufferInfo>().read_unaligned() };
        // SAFETY: as above.
        run(index, unsafe { locate(&info) }?);
    }
    Ok(())
}

/// Writes a descriptor of a buffer.
///
/// # Safety
/// There is room for one.
#[inline(always)]
unsafe fn put_buffer(to: *mut u8, address: u64, size: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        let to = to.cast::<u64>();
        to.write_unaligned(address.to_le());
        to.add(1).write_unaligned(u64::from(size).to_le());
    }
}

/// What happens to descriptors that have no place in a set's memory: nothing, and a message.
#[cold]
pub(super) fn too_few(piece: Piece) {
    debug::error(&format_args!(
        "a set is too small for {} descriptors at {}: ignored",
        piece.count, piece.start
    ));
}

/// What a descriptor gives of a buffer, nothing for none.
///
/// # Errors
/// The handle, when it is not a buffer's.
///
/// # Safety
/// The handle is null or of a live object.
#[inline(always)]
unsafe fn locate(info: &vk::DescriptorBufferInfo) -> Result<DynamicBuffer, Wrong> {
    // SAFETY: the caller's promise.
    let buffer = unsafe { object::find_optional::<Buffer>(info.buffer) };
    let Some(buffer) = buffer.map_err(|_| Wrong::of(info.buffer))? else {
        return Ok(DynamicBuffer::default());
    };
    let offset = info.offset.min(buffer.size);
    // VK_WHOLE_SIZE is more than any rest.
    let size = info.range.min(buffer.size - offset);
    Ok(DynamicBuffer {
        address: buffer.address.wrapping_add(offset),
        size: size.min(u64::from(limits::STORAGE_BUFFER_RANGE)) as u32,
    })
}

/// Writes the descriptor that an object has ready, zeros for none.
///
/// # Errors
/// The handle, when it is of another kind of object.
///
/// # Safety
/// There is room, and the handle is null or of a live object.
#[inline(always)]
unsafe fn copy_from<T: Object, const SIZE: usize>(
    to: *mut u8,
    handle: T::Handle,
    descriptor: impl FnOnce(&T) -> &[u8; SIZE],
) -> Result<(), Wrong> {
    // SAFETY: the caller's promise.
    let found = unsafe { object::find_optional::<T>(handle) };
    let to = to.cast::<[u8; SIZE]>();
    // SAFETY: as above.
    unsafe {
        match found.map_err(|_| Wrong::of(handle))? {
            Some(found) => to.write_unaligned(*descriptor(found)),
            None => to.write_unaligned([0; SIZE]),
        }
    }
    Ok(())
}

/// A handle of another kind of object than a descriptor is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrong {
    handle: u64,
    kind: vk::ObjectType,
}

impl Wrong {
    fn of<H: vk::Handle>(handle: H) -> Wrong {
        Wrong {
            handle: handle.as_raw(),
            kind: H::TYPE,
        }
    }

    /// Stops the entry point.
    #[cold]
    pub(super) fn stop(self) -> ! {
        panic!("the handle {:#x} is no {:?}", self.handle, self.kind);
    }
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

impl Piece {
    /// Where it ends: an offset or an index, as its start is.
    pub(super) fn end(&self) -> u64 {
        u64::from(self.start) + u64::from(self.count) * u64::from(self.kind.step())
    }
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
        if found.plain() != kind.plain() || most == 0 {
            return None;
        }
        let binding = self.bindings.first()?;
        let piece = Piece {
            kind: found,
            start: binding.start + self.element * found.step(),
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
/// The structure and what it refers to are valid, and nobody else uses the descriptors. The target
/// is of this layout.
#[inline]
pub(super) unsafe fn write_set(
    layout: &Layout,
    target: &Target,
    write: &vk::WriteDescriptorSet<'_>,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if !target.write_one(write) && !target.write_some(write) {
            write_pieces(layout, target, write);
        }
    }
}

/// Carries out any write, binding by binding.
///
/// # Safety
/// As for [`write_set`].
#[inline(never)]
unsafe fn write_pieces(layout: &Layout, target: &Target, write: &vk::WriteDescriptorSet<'_>) {
    let kind = Kind::of(write.descriptor_type);
    if kind == Kind::Absent {
        // There are no such objects, so that it can only be null descriptors.
        return;
    }
    let (number, element) = (write.dst_binding, write.dst_array_element);
    let Some(mut cursor) = layout.cursor(number, element) else {
        return nowhere(number, element, write.descriptor_type);
    };
    let (from, stride, total) = match kind {
        Kind::Inline => {
            type Block<'a> = vk::WriteDescriptorSetInlineUniformBlock<'a>;
            // SAFETY: the caller's promise.
            let block = unsafe { entry::find::<Block<'_>>(write.p_next) };
            match block.filter(|block| !block.p_data.is_null()) {
                Some(block) => (
                    block.p_data.cast::<u8>(),
                    1,
                    write.descriptor_count.min(block.data_size),
                ),
                None => return,
            }
        }
        Kind::Buffer | Kind::Dynamic => (
            write.p_buffer_info.cast::<u8>(),
            size_of::<vk::DescriptorBufferInfo>(),
            write.descriptor_count,
        ),
        Kind::TexelBuffer => (
            write.p_texel_buffer_view.cast::<u8>(),
            size_of::<vk::BufferView>(),
            write.descriptor_count,
        ),
        _ => (
            write.p_image_info.cast::<u8>(),
            size_of::<vk::DescriptorImageInfo>(),
            write.descriptor_count,
        ),
    };
    if from.is_null() {
        return;
    }
    let mut done = 0;
    while done < total {
        let Some(piece) = cursor.next(kind, total - done) else {
            return nowhere(number, element.saturating_add(done), write.descriptor_type);
        };
        if target.has(piece) {
            let from = from.wrapping_add(stride * done as usize);
            // SAFETY: as many elements as the structure says; the caller's promise.
            unsafe {
                if let Err(wrong) = target.put(piece, from, stride) {
                    wrong.stop();
                }
            }
        } else {
            too_few(piece);
        }
        done += piece.count;
    }
}

/// Carries out a copy.
///
/// # Safety
/// Nobody else uses the descriptors.
#[inline(never)]
pub(super) unsafe fn copy_set(
    source: (&Layout, &Target),
    target: (&Layout, &Target),
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
        if !source.1.has(read) || !target.1.has(written) {
            return bad_copy(copy);
        }
        // SAFETY: inside the memory of either set; the two may be one.
        unsafe {
            let from = source.1.place(kind, read.start);
            let to = target.1.place(kind, written.start);
            match written.kind {
                Kind::Dynamic => {
                    let to = to.cast::<DynamicBuffer>();
                    to.copy_from(from.cast(), count as usize);
                }
                Kind::Absent | Kind::FixedSampler => {}
                // The sampler stays the layout's.
                Kind::FixedCombined => {
                    let step = written.kind.stride() as usize;
                    for element in 0..count as usize {
                        let from = from.add(element * step);
                        to.add(element * step).copy_from(from, TEXTURE_SIZE);
                    }
                }
                kind => to.copy_from(from, count as usize * kind.stride() as usize),
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
