// SPDX-License-Identifier: MIT
//! Memory: mapping, suballocation, budgets, an allocator as programs use it, large buffers.

use anyhow::{Context as _, ensure};
use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{
    AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};

use super::{COMBINE, combined, scenario};
use crate::gpu::require;
use crate::model::{bytes, to_bytes, words};
use crate::scenario::Scenario;
use crate::scope::{Scope, USAGE};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("memory.map", map),
    scenario("memory.suballocate", suballocate),
    scenario("memory.alias", alias),
    scenario("memory.requirements", requirements),
    scenario("memory.budget", budget),
    scenario("memory.private_data", private_data),
    scenario("memory.gpu_allocator", gpu_allocator),
    scenario("memory.many", many),
    scenario("memory.four_gib", four_gib),
];

fn host() -> vk::MemoryPropertyFlags {
    vk::MemoryPropertyFlags::HOST_VISIBLE
}

/// Mapped in part, flushed and invalidated, unmapped and mapped again, freed while mapped.
unsafe fn map(s: &Scope<'_>) -> anyhow::Result<()> {
    let device = s.device();
    let atom = s.gpu.properties.limits.non_coherent_atom_size.max(4);
    let size = 64 * 1024;
    let buffer = s.bare_buffer(size, USAGE)?;
    let needs = device.get_buffer_memory_requirements(buffer);
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(s.memory_type(needs.memory_type_bits, host())?);
    let memory = device.allocate_memory(&info, None)?;
    s.at_end(move |device| device.free_memory(memory, None));
    device.bind_buffer_memory(buffer, memory, 0)?;
    let data = bytes(700, size as usize);
    let flags = vk::MemoryMapFlags::empty();
    for (offset, length) in [
        (0, 4096),
        (4096, 8 * atom),
        (4096 + 8 * atom, vk::WHOLE_SIZE),
    ] {
        let mapped = device
            .map_memory(memory, offset, length, flags)?
            .cast::<u8>();
        let end = match length {
            vk::WHOLE_SIZE => size,
            _ => offset + length,
        };
        let part = &data[offset as usize..end as usize];
        std::ptr::copy_nonoverlapping(part.as_ptr(), mapped, part.len());
        let range = vk::MappedMemoryRange::default()
            .memory(memory)
            .offset(offset)
            .size(length);
        device.flush_mapped_memory_ranges(&[range])?;
        device.unmap_memory(memory);
    }
    let target = s.buffer(size)?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let copy = [vk::BufferCopy::default().size(size)];
    device.cmd_copy_buffer(commands, buffer, target.handle, &copy);
    s.barrier(commands);
    device.cmd_fill_buffer(commands, buffer, 0, size, 0x0a0b_0c0d);
    s.finish(commands)?;
    s.report.expect("copied", target.bytes(), &data)?;
    let mapped = device.map_memory(memory, 0, vk::WHOLE_SIZE, flags)?;
    let range = vk::MappedMemoryRange::default()
        .memory(memory)
        .size(vk::WHOLE_SIZE);
    device.invalidate_mapped_memory_ranges(&[range])?;
    let seen = std::slice::from_raw_parts(mapped.cast::<u8>(), size as usize).to_vec();
    s.report.expect(
        "filled",
        seen,
        &to_bytes(&vec![0x0a0b_0c0d; size as usize / 4]),
    )
}

/// Many buffers of odd sizes in one allocation, as close as their alignment allows.
unsafe fn suballocate(s: &Scope<'_>) -> anyhow::Result<()> {
    let device = s.device();
    let mut buffers = Vec::new();
    let (mut at, mut types) = (0_u64, u32::MAX);
    for index in 0..100_u64 {
        let size = 4 * (1 + index * 37 % 301);
        let buffer = s.bare_buffer(size, USAGE)?;
        let needs = device.get_buffer_memory_requirements(buffer);
        ensure!(
            needs.alignment.is_power_of_two() && needs.size >= size,
            "{needs:?} for {size} bytes"
        );
        at = at.next_multiple_of(needs.alignment);
        buffers.push((buffer, at, size));
        at += needs.size;
        types &= needs.memory_type_bits;
    }
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(at)
        .memory_type_index(s.memory_type(types, host())?);
    let memory = device.allocate_memory(&info, None)?;
    s.at_end(move |device| device.free_memory(memory, None));
    let binds: Vec<_> = buffers
        .iter()
        .map(|(buffer, offset, _)| {
            vk::BindBufferMemoryInfo::default()
                .buffer(*buffer)
                .memory(memory)
                .memory_offset(*offset)
        })
        .collect();
    device.bind_buffer_memory2(&binds)?;
    let mapped = device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
    std::ptr::write_bytes(mapped.cast::<u8>(), 0xcc, at as usize);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    for (index, (buffer, _, _)) in buffers.iter().enumerate() {
        device.cmd_fill_buffer(commands, *buffer, 0, vk::WHOLE_SIZE, index as u32 + 1);
    }
    s.finish(commands)?;
    let all = std::slice::from_raw_parts(mapped.cast::<u8>(), at as usize);
    let mut contents = Vec::new();
    let mut expected = Vec::new();
    for (index, (_, offset, size)) in buffers.iter().enumerate() {
        contents.extend_from_slice(&all[*offset as usize..(offset + size) as usize]);
        expected.extend(to_bytes(&vec![index as u32 + 1; *size as usize / 4]));
    }
    s.report.expect("contents", contents, &expected)
}

/// Two buffers over the same bytes.
unsafe fn alias(s: &Scope<'_>) -> anyhow::Result<()> {
    let device = s.device();
    let first = s.buffer(8192)?;
    let second = s.bare_buffer(4096, USAGE)?;
    let needs = device.get_buffer_memory_requirements(second);
    let offset = needs.alignment.max(1024);
    device.bind_buffer_memory(second, first.memory, offset)?;
    let data = bytes(701, 8192);
    first.write(0, &data);
    let target = s.buffer(4096)?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let copy = [vk::BufferCopy::default().size(4096)];
    device.cmd_copy_buffer(commands, second, target.handle, &copy);
    s.finish(commands)?;
    let from = offset as usize;
    s.report
        .expect("seen", target.bytes(), &data[from..from + 4096])
}

/// Requirements, by all ways of asking, are the same.
unsafe fn requirements(s: &Scope<'_>) -> anyhow::Result<()> {
    let device = s.device();
    for size in [1, 4, 255, 4096, 1 << 20] {
        let buffer = s.bare_buffer(size, USAGE)?;
        let old = device.get_buffer_memory_requirements(buffer);
        let mut dedicated = vk::MemoryDedicatedRequirements::default();
        let mut new = vk::MemoryRequirements2::default().push_next(&mut dedicated);
        let info = vk::BufferMemoryRequirementsInfo2::default().buffer(buffer);
        device.get_buffer_memory_requirements2(&info, &mut new);
        let new = new.memory_requirements;
        let same = |a: &vk::MemoryRequirements, b: &vk::MemoryRequirements| {
            (a.size, a.alignment, a.memory_type_bits) == (b.size, b.alignment, b.memory_type_bits)
        };
        ensure!(same(&old, &new), "{size} bytes: {old:?} and {new:?}");
        if s.gpu.features.maintenance4 {
            let create = vk::BufferCreateInfo::default().size(size).usage(USAGE);
            let info = vk::DeviceBufferMemoryRequirements::default().create_info(&create);
            let mut before = vk::MemoryRequirements2::default();
            device.get_device_buffer_memory_requirements(&info, &mut before);
            let before = before.memory_requirements;
            ensure!(same(&old, &before), "{size} bytes: {old:?} and {before:?}");
        }
    }
    Ok(())
}

/// The budget is no more than the heap, and memory that is allocated counts as used.
unsafe fn budget(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::memory_budget::NAME)?;
    let ask = || {
        let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
        let mut properties = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
        let (instance, physical) = (&s.gpu.instance, s.gpu.physical);
        // SAFETY: of this instance; the chain is live.
        unsafe { instance.get_physical_device_memory_properties2(physical, &mut properties) };
        (budget.heap_budget[0], budget.heap_usage[0])
    };
    let heap = s.gpu.memory.memory_heaps[0].size;
    let (budget, before) = ask();
    ensure!(
        budget > 0 && budget <= heap,
        "a budget of {budget} in a heap of {heap}"
    );
    let size = 32 << 20;
    let _buffer = s.buffer(size)?;
    let (_, after) = ask();
    ensure!(
        after >= before + size,
        "{after} bytes used after {size} more than {before}"
    );
    Ok(())
}

/// Private data slots of objects.
unsafe fn private_data(s: &Scope<'_>) -> anyhow::Result<()> {
    require(s.gpu.features.private_data, "privateData")?;
    let device = s.device();
    let info = vk::PrivateDataSlotCreateInfo::default();
    let slots = [
        device.create_private_data_slot(&info, None)?,
        device.create_private_data_slot(&info, None)?,
    ];
    s.at_end(move |device| {
        for slot in slots {
            device.destroy_private_data_slot(slot, None);
        }
    });
    let buffers = [s.buffer(64)?, s.buffer(64)?];
    for (index, buffer) in buffers.iter().enumerate() {
        for (number, slot) in slots.iter().enumerate() {
            let unset = device.get_private_data(buffer.handle, *slot);
            ensure!(unset == 0, "{unset} before anything was set");
            let value = 1 + u64::MAX / 7 * (2 * index as u64 + number as u64);
            device.set_private_data(buffer.handle, *slot, value)?;
        }
    }
    for (index, buffer) in buffers.iter().enumerate() {
        for (number, slot) in slots.iter().enumerate() {
            let value = 1 + u64::MAX / 7 * (2 * index as u64 + number as u64);
            let got = device.get_private_data(buffer.handle, *slot);
            ensure!(got == value, "{got} instead of {value}");
        }
    }
    Ok(())
}

/// Hundreds of allocations of a real allocator, made and freed in an order of no pattern, with
/// buffers that compute in them.
unsafe fn gpu_allocator(s: &Scope<'_>) -> anyhow::Result<()> {
    let device = s.device();
    let mut allocator = Allocator::new(&AllocatorCreateDesc {
        instance: s.gpu.instance.clone(),
        device: device.clone(),
        physical_device: s.gpu.physical,
        debug_settings: gpu_allocator::AllocatorDebugSettings::default(),
        buffer_device_address: s.gpu.features.buffer_device_address,
        allocation_sizes: gpu_allocator::AllocationSizes::default(),
    })?;
    let kernel = s.kernel(COMBINE, 3, 0)?;
    let mut live = Vec::new();
    let mut round = 0_u32;
    let random = words(710, 400);
    for word in &random {
        round += 1;
        let size = match word % 16 {
            0 => 1 << 20,
            1..=4 => 65_536,
            _ => 4 * u64::from(1 + word % 2000),
        };
        let location = match (word >> 8) % 3 {
            0 => MemoryLocation::GpuToCpu,
            1 => MemoryLocation::CpuToGpu,
            _ => MemoryLocation::GpuOnly,
        };
        let info = vk::BufferCreateInfo::default().size(size).usage(USAGE);
        let buffer = device.create_buffer(&info, None)?;
        let requirements = device.get_buffer_memory_requirements(buffer);
        let allocation = allocator.allocate(&AllocationCreateDesc {
            name: "client",
            requirements,
            location,
            linear: true,
            allocation_scheme: match (word >> 12) % 8 {
                0 => AllocationScheme::DedicatedBuffer(buffer),
                _ => AllocationScheme::GpuAllocatorManaged,
            },
        })?;
        device.bind_buffer_memory(buffer, allocation.memory(), allocation.offset())?;
        live.push((buffer, allocation, size, round));
        if word >> 30 == 0 && live.len() > 4 {
            let (buffer, allocation, _, _) = live.swap_remove(*word as usize % live.len());
            device.destroy_buffer(buffer, None);
            allocator.free(allocation)?;
        }
    }
    ensure!(live.len() > 200, "only {} buffers live", live.len());
    // All are filled with their numbers and read back, so that none lies on another.
    let total: u64 = live.iter().map(|(_, _, size, _)| (*size).min(512)).sum();
    let result = s.buffer(total)?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    for (buffer, _, _, number) in &live {
        device.cmd_fill_buffer(commands, *buffer, 0, vk::WHOLE_SIZE, *number);
    }
    s.barrier(commands);
    let (mut at, mut expected) = (0, Vec::new());
    for (buffer, _, size, number) in &live {
        let tail = (*size).min(512);
        let copy = [vk::BufferCopy::default()
            .src_offset(size - tail)
            .dst_offset(at)
            .size(tail)];
        device.cmd_copy_buffer(commands, *buffer, result.handle, &copy);
        at += tail;
        expected.extend(to_bytes(&vec![*number; tail as usize / 4]));
    }
    s.finish(commands)?;
    let tails = s.report.expect("tails", result.bytes(), &expected);
    // A mapped allocation computes.
    let mapped = live
        .iter()
        .filter(|(_, allocation, size, _)| allocation.mapped_ptr().is_some() && *size >= 65_536)
        .take(3)
        .collect::<Vec<_>>();
    ensure!(mapped.len() == 3, "too few mapped buffers");
    let inputs = [words(720, 1024), words(721, 1024)];
    let pointer = |index: usize| {
        let pointer = mapped[index].1.mapped_ptr().context("a mapped allocation");
        pointer.map(|pointer| pointer.as_ptr().cast::<u8>())
    };
    for (index, input) in inputs.iter().enumerate() {
        let data = to_bytes(input);
        std::ptr::copy_nonoverlapping(data.as_ptr(), pointer(index)?, data.len());
    }
    let set = s.set(kernel.set_layout)?;
    for (binding, (buffer, _, _, _)) in mapped.iter().enumerate() {
        let info = vk::DescriptorBufferInfo {
            buffer: *buffer,
            offset: 0,
            range: vk::WHOLE_SIZE,
        };
        let ty = vk::DescriptorType::STORAGE_BUFFER;
        s.write(set, binding as u32, ty, 0, &[info]);
    }
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    s.dispatch(commands, &kernel, set, 32);
    s.finish(commands)?;
    let got = std::slice::from_raw_parts(pointer(2)?, 4096).to_vec();
    let computed = s.report.expect(
        "computed",
        got,
        &to_bytes(&combined(&inputs[0], &inputs[1])),
    );
    for (buffer, allocation, _, _) in live {
        device.destroy_buffer(buffer, None);
        allocator.free(allocation)?;
    }
    drop(allocator);
    tails.and(computed)
}

/// Thousands of small allocations alive at once, each with a value of its own.
unsafe fn many(s: &Scope<'_>) -> anyhow::Result<()> {
    let count = s
        .gpu
        .properties
        .limits
        .max_memory_allocation_count
        .min(3000);
    let mut buffers = Vec::new();
    for _ in 0..count.saturating_sub(2) {
        buffers.push(s.buffer(256)?);
    }
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    for (index, buffer) in buffers.iter().enumerate() {
        s.device()
            .cmd_fill_buffer(commands, buffer.handle, 0, vk::WHOLE_SIZE, index as u32);
    }
    s.finish(commands)?;
    for (index, buffer) in buffers.iter().enumerate() {
        ensure!(
            buffer.words() == [index as u32; 64],
            "buffer {index} of {count}"
        );
    }
    Ok(())
}

/// A buffer of 4 GiB, written and read at its start, its end and around 2 and 4 GiB by addresses.
/// Memory that nothing touches costs nothing, but the machine must have some to spare.
unsafe fn four_gib(s: &Scope<'_>) -> anyhow::Result<()> {
    require(s.gpu.features.buffer_device_address, "bufferDeviceAddress")?;
    require(s.gpu.features.maintenance4, "maintenance4")?;
    let size = 4_u64 << 30;
    let mut maintenance3 = vk::PhysicalDeviceMaintenance3Properties::default();
    let mut maintenance4 = vk::PhysicalDeviceMaintenance4Properties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default()
        .push_next(&mut maintenance3)
        .push_next(&mut maintenance4);
    s.gpu
        .instance
        .get_physical_device_properties2(s.gpu.physical, &mut properties);
    require(maintenance4.max_buffer_size >= size, "buffers of 4 GiB")?;
    require(
        maintenance3.max_memory_allocation_size >= size,
        "memory of 4 GiB",
    )?;
    let heap = s.gpu.memory.memory_heaps[0].size;
    require(heap >= size + (1 << 30), "a heap of 5 GiB")?;
    let device = s.device();
    let usage = USAGE | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    let buffer = s.bare_buffer(size, usage)?;
    let needs = device.get_buffer_memory_requirements(buffer);
    let mut flags =
        vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(s.memory_type(needs.memory_type_bits, host())?)
        .push_next(&mut flags);
    let memory = device.allocate_memory(&info, None)?;
    s.at_end(move |device| device.free_memory(memory, None));
    device.bind_buffer_memory(buffer, memory, 0)?;
    let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
    let address = device.get_buffer_device_address(&info);
    let layout = s.pipeline_layout(&[], 16)?;
    let pipeline = s.pipeline(
        "
layout(local_size_x = 32) in;
layout(buffer_reference, scalar) buffer Words { uint w[]; };
layout(push_constant, scalar) uniform P { Words words; uint64_t first; };
void main() {
    uint i = uint(first) + gl_LocalInvocationIndex;
    words.w[i] = i * 3u + words.w[i];
}
",
        layout,
    )?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
    let places = [0, 1 << 29, (1 << 29) - 16, 3 << 28, (1 << 30) - 32];
    for place in places {
        device.cmd_fill_buffer(commands, buffer, 4 * place, 128, 7);
        s.barrier(commands);
    }
    for place in places {
        let constants = [address.to_le_bytes(), place.to_le_bytes()].concat();
        let stage = vk::ShaderStageFlags::COMPUTE;
        device.cmd_push_constants(commands, layout, stage, 0, &constants);
        device.cmd_dispatch(commands, 1, 1, 1);
        s.barrier(commands);
    }
    let target = s.buffer(128 * places.len() as u64)?;
    for (index, place) in places.iter().enumerate() {
        let copy = [vk::BufferCopy::default()
            .src_offset(4 * place)
            .dst_offset(128 * index as u64)
            .size(128)];
        device.cmd_copy_buffer(commands, buffer, target.handle, &copy);
    }
    s.finish(commands)?;
    let mut expected = Vec::new();
    for place in places {
        for i in place..place + 32 {
            // Places 1 and 2 overlap in 16 words.
            let times = places
                .iter()
                .filter(|p| (**p..**p + 32).contains(&i))
                .count();
            expected.push(
                (i as u32)
                    .wrapping_mul(3)
                    .wrapping_mul(times as u32)
                    .wrapping_add(7),
            );
        }
    }
    s.report
        .expect("target", target.bytes(), &to_bytes(&expected))
}
