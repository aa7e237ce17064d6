// SPDX-License-Identifier: MIT
//! A case's buffers in device memory.

use anyhow::{Context as _, ensure};
use ash::vk;

use super::instance::Instance;
use super::scope::Scope;
use crate::case::{BufferKind, Case};

/// Unused bytes behind each buffer, at least: a write that goes astray must not reach the next.
const GAP: u64 = 256;
/// Bytes of the buffer for elements of descriptor arrays that the case does not name.
const SPARE: u64 = 256;

/// The buffers of one run, in one allocation.
pub(super) struct Buffers {
    handles: Vec<vk::Buffer>,
    addresses: Vec<u64>,
    offsets: Vec<usize>,
    /// The CPU's mapping of the allocation; null when there are no buffers.
    mapping: *const u8,
}

impl Buffers {
    /// Creates and fills them.
    pub(super) fn new(
        instance: &Instance,
        scope: &mut Scope<'_>,
        case: &Case,
    ) -> anyhow::Result<Buffers> {
        case.check()?;
        let device = scope.device();
        let mut buffers = Buffers {
            handles: Vec::new(),
            addresses: Vec::new(),
            offsets: Vec::new(),
            mapping: std::ptr::null(),
        };
        let mut usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::UNIFORM_BUFFER;
        if instance.has_addresses() {
            usage |= vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        }
        let (mut end, mut types) = (0, u32::MAX);
        if case.buffers.is_empty() {
            return Ok(buffers);
        }
        let mut create = |size: u64| {
            let info = vk::BufferCreateInfo::default().size(size).usage(usage);
            let handle = scope.buffer(&info)?;
            // SAFETY: just made.
            let needs = unsafe { device.get_buffer_memory_requirements(handle) };
            let offset = u64::next_multiple_of(end, needs.alignment);
            types &= needs.memory_type_bits;
            end = offset + needs.size + GAP;
            buffers.handles.push(handle);
            buffers.offsets.push(usize::try_from(offset)?);
            anyhow::Ok(())
        };
        for (index, buffer) in case.buffers.iter().enumerate() {
            let size = buffer.bytes.len() as u64;
            let limit = match buffer.kind {
                BufferKind::Uniform => u64::from(instance.limits().max_uniform_buffer_range),
                BufferKind::Storage => u64::from(instance.limits().max_storage_buffer_range),
                BufferKind::Address => u64::MAX,
            };
            let name = buffer.describe(index);
            ensure!(size <= limit, "{name} has {size} bytes, more than {limit}");
            ensure!(
                instance.has_addresses()
                    || buffer.kind != BufferKind::Address && buffer.address_at.is_none(),
                "{name}: lavapipe has no buffer addresses"
            );
            create(size)?;
        }
        create(SPARE)?;
        let mut flags = vk::MemoryAllocateFlagsInfo::default();
        if instance.has_addresses() {
            flags = flags.flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        }
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(end)
            .memory_type_index(instance.host_memory(types)?)
            .push_next(&mut flags);
        let memory = scope.memory(&info)?;
        let whole = vk::MemoryMapFlags::empty();
        // SAFETY: the memory is host visible and not mapped yet.
        let mapping = unsafe { device.map_memory(memory, 0, vk::WHOLE_SIZE, whole) }
            .context("vkMapMemory")?
            .cast::<u8>();
        buffers.mapping = mapping;
        for (index, handle) in buffers.handles.iter().copied().enumerate() {
            let offset = buffers.offsets[index];
            let content = case
                .buffers
                .get(index)
                .map_or(&[][..], |buffer| &buffer.bytes);
            // SAFETY: the buffer's range lies in the allocation, and nothing uses it yet.
            unsafe {
                device.bind_buffer_memory(handle, memory, offset as u64)?;
                let at = mapping.add(offset);
                std::ptr::copy_nonoverlapping(content.as_ptr(), at, content.len());
            }
            let info = vk::BufferDeviceAddressInfo::default().buffer(handle);
            let address = if instance.has_addresses() {
                // SAFETY: the buffer is bound and was made for that.
                unsafe { device.get_buffer_device_address(&info) }
            } else {
                0
            };
            buffers.addresses.push(address);
        }
        Ok(buffers)
    }

    pub(super) fn handle(&self, index: usize) -> vk::Buffer {
        self.handles[index]
    }

    /// What the elements of descriptor arrays get that the case does not name; only when there are
    /// buffers.
    pub(super) fn spare(&self) -> vk::Buffer {
        self.handles[self.handles.len() - 1]
    }

    pub(super) fn address(&self, index: usize) -> u64 {
        self.addresses[index]
    }

    /// Their bytes; no command may be running.
    pub(super) fn read(&self, case: &Case) -> Vec<Vec<u8>> {
        let pairs = case.buffers.iter().zip(&self.offsets);
        let read = pairs.map(|(buffer, offset)| {
            let length = buffer.bytes.len();
            // SAFETY: the mapping lives until the scope ends and has these bytes.
            unsafe { std::slice::from_raw_parts(self.mapping.add(*offset), length) }.to_vec()
        });
        read.collect()
    }
}
