// SPDX-License-Identifier: MIT
//! Memory, semaphores and fences that leave as file descriptors and come back.

use std::os::fd::{AsRawFd as _, FromRawFd as _, IntoRawFd as _, OwnedFd};

use anyhow::ensure;
use ash::vk;

use super::{STEP, scenario, stepped};
use crate::gpu::require;
use crate::model::{bytes, to_bytes};
use crate::scenario::Scenario;
use crate::scope::{Scope, TIMEOUT, USAGE};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("external.memory_opaque", memory_opaque),
    scenario("external.memory_dma_buf", memory_dma_buf),
    scenario("external.semaphore_opaque", semaphore_opaque),
    scenario("external.semaphore_timeline", semaphore_timeline),
    scenario("external.semaphore_sync_fd", semaphore_sync_fd),
    scenario("external.fence_opaque", fence_opaque),
    scenario("external.fence_sync_fd", fence_sync_fd),
];

type MemoryType = vk::ExternalMemoryHandleTypeFlags;
type SemaphoreType = vk::ExternalSemaphoreHandleTypeFlags;
type FenceType = vk::ExternalFenceHandleTypeFlags;

unsafe fn memory_opaque(s: &Scope<'_>) -> anyhow::Result<()> {
    memory(s, MemoryType::OPAQUE_FD)
}

unsafe fn memory_dma_buf(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::external_memory_dma_buf::NAME)?;
    memory(s, MemoryType::DMA_BUF_EXT)
}

/// Memory of one buffer, exported and imported for another: both show the same bytes.
unsafe fn memory(s: &Scope<'_>, ty: MemoryType) -> anyhow::Result<()> {
    s.gpu.needs(ash::khr::external_memory_fd::NAME)?;
    let external = ash::khr::external_memory_fd::Device::new(&s.gpu.instance, s.device());
    let device = s.device();
    let query = vk::PhysicalDeviceExternalBufferInfo::default()
        .usage(USAGE)
        .handle_type(ty);
    let mut properties = vk::ExternalBufferProperties::default();
    s.gpu
        .instance
        .get_physical_device_external_buffer_properties(s.gpu.physical, &query, &mut properties);
    let features = properties
        .external_memory_properties
        .external_memory_features;
    let both =
        vk::ExternalMemoryFeatureFlags::EXPORTABLE | vk::ExternalMemoryFeatureFlags::IMPORTABLE;
    require(
        features.contains(both),
        &format!("export and import of {ty:?}"),
    )?;
    let size = 1 << 16;
    let create = || -> anyhow::Result<vk::Buffer> {
        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(ty);
        let info = vk::BufferCreateInfo::default()
            .size(size)
            .usage(USAGE)
            .push_next(&mut external);
        // SAFETY: the device is open.
        let buffer = unsafe { device.create_buffer(&info, None) }?;
        // SAFETY: destroyed after its last use, which the scope waits for.
        s.at_end(move |device| unsafe { device.destroy_buffer(buffer, None) });
        Ok(buffer)
    };
    let (first, second) = (create()?, create()?);
    let needs = device.get_buffer_memory_requirements(first);
    let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let mut memory_type = s.memory_type(needs.memory_type_bits, host)?;
    let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(ty);
    let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().buffer(first);
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(memory_type)
        .push_next(&mut export)
        .push_next(&mut dedicated);
    let exported = device.allocate_memory(&info, None)?;
    s.at_end(move |device| device.free_memory(exported, None));
    device.bind_buffer_memory(first, exported, 0)?;
    let get = vk::MemoryGetFdInfoKHR::default()
        .memory(exported)
        .handle_type(ty);
    // SAFETY: a new descriptor, which is the caller's.
    let fd = OwnedFd::from_raw_fd(external.get_memory_fd(&get)?);
    if ty != MemoryType::OPAQUE_FD {
        let mut properties = vk::MemoryFdPropertiesKHR::default();
        external.get_memory_fd_properties(ty, fd.as_raw_fd(), &mut properties)?;
        memory_type = s.memory_type(needs.memory_type_bits & properties.memory_type_bits, host)?;
    }
    let mut import = vk::ImportMemoryFdInfoKHR::default()
        .handle_type(ty)
        .fd(fd.into_raw_fd());
    let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().buffer(second);
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(memory_type)
        .push_next(&mut import)
        .push_next(&mut dedicated);
    let imported = device.allocate_memory(&info, None)?;
    s.at_end(move |device| device.free_memory(imported, None));
    device.bind_buffer_memory(second, imported, 0)?;
    // The host writes by one mapping; the GPU copies from the other to a third buffer and fills
    // the first.
    let data = bytes(400, size as usize);
    let flags = vk::MemoryMapFlags::empty();
    let mapped = device.map_memory(exported, 0, vk::WHOLE_SIZE, flags)?;
    std::ptr::copy_nonoverlapping(data.as_ptr(), mapped.cast(), data.len());
    let target = s.buffer(size)?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let copy = [vk::BufferCopy::default().size(size)];
    device.cmd_copy_buffer(commands, second, target.handle, &copy);
    s.barrier(commands);
    device.cmd_fill_buffer(commands, first, 0, 4096, 0x5566_7788);
    s.finish(commands)?;
    s.report.expect("copied", target.bytes(), &data)?;
    let again = device.map_memory(imported, 0, vk::WHOLE_SIZE, flags)?;
    let seen = std::slice::from_raw_parts(again.cast::<u8>(), size as usize).to_vec();
    let mut expected = data;
    crate::model::fill(&mut expected, 0, 4096, 0x5566_7788);
    s.report.expect("imported", seen, &expected)
}

unsafe fn semaphore_for(
    s: &Scope<'_>,
    ty: SemaphoreType,
    timeline: Option<u64>,
) -> anyhow::Result<(ash::khr::external_semaphore_fd::Device, vk::Semaphore)> {
    s.gpu.needs(ash::khr::external_semaphore_fd::NAME)?;
    let kind = |timeline: Option<u64>| match timeline {
        None => vk::SemaphoreTypeCreateInfo::default(),
        Some(value) => vk::SemaphoreTypeCreateInfo::default()
            .semaphore_type(vk::SemaphoreType::TIMELINE)
            .initial_value(value),
    };
    let mut query_kind = kind(timeline);
    let query = vk::PhysicalDeviceExternalSemaphoreInfo::default()
        .handle_type(ty)
        .push_next(&mut query_kind);
    let mut properties = vk::ExternalSemaphoreProperties::default();
    s.gpu
        .instance
        .get_physical_device_external_semaphore_properties(s.gpu.physical, &query, &mut properties);
    let both = vk::ExternalSemaphoreFeatureFlags::EXPORTABLE
        | vk::ExternalSemaphoreFeatureFlags::IMPORTABLE;
    require(
        properties.external_semaphore_features.contains(both),
        &format!("export and import of {ty:?}"),
    )?;
    let mut create_kind = kind(timeline);
    let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(ty);
    let info = vk::SemaphoreCreateInfo::default()
        .push_next(&mut create_kind)
        .push_next(&mut export);
    let semaphore = s.device().create_semaphore(&info, None)?;
    s.at_end(move |device| device.destroy_semaphore(semaphore, None));
    let device = ash::khr::external_semaphore_fd::Device::new(&s.gpu.instance, s.device());
    Ok((device, semaphore))
}

/// Two submissions that step values by 1 and 2, ordered by what the first signals and the second
/// waits for; `between` runs when the first is submitted.
unsafe fn handed_over(
    s: &Scope<'_>,
    signal: vk::Semaphore,
    wait: vk::Semaphore,
    between: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let kernel = s.kernel(STEP, 1, 4)?;
    let values = s.buffer(4096)?;
    let set = s.bind(&kernel, &[&values])?;
    let mut recorded = Vec::new();
    for add in 1..=2_u32 {
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let stage = vk::ShaderStageFlags::COMPUTE;
        s.device()
            .cmd_push_constants(commands, kernel.layout, stage, 0, &add.to_le_bytes());
        s.dispatch(commands, &kernel, set, 32);
        s.barrier(commands);
        s.device().end_command_buffer(commands)?;
        recorded.push([commands]);
    }
    let (signals, waits) = ([signal], [wait]);
    let stages = [vk::PipelineStageFlags::ALL_COMMANDS];
    let first = [vk::SubmitInfo::default()
        .command_buffers(&recorded[0])
        .signal_semaphores(&signals)];
    let second = [vk::SubmitInfo::default()
        .command_buffers(&recorded[1])
        .wait_semaphores(&waits)
        .wait_dst_stage_mask(&stages)];
    let device = s.device();
    device.queue_submit(s.gpu.queue, &first, vk::Fence::null())?;
    between()?;
    let fence = s.fence(vk::FenceCreateFlags::empty())?;
    device.queue_submit(s.gpu.queue, &second, fence)?;
    s.wait(&[fence])?;
    let value = stepped(0, [1, 2]);
    s.report
        .expect("values", values.bytes(), &to_bytes(&[value; 1024]))
}

/// Two binary semaphores with one payload.
unsafe fn semaphore_opaque(s: &Scope<'_>) -> anyhow::Result<()> {
    let ty = SemaphoreType::OPAQUE_FD;
    let (external, exported) = semaphore_for(s, ty, None)?;
    let imported = s.semaphore(None)?;
    let get = vk::SemaphoreGetFdInfoKHR::default()
        .semaphore(exported)
        .handle_type(ty);
    let fd = external.get_semaphore_fd(&get)?;
    let import = vk::ImportSemaphoreFdInfoKHR::default()
        .semaphore(imported)
        .handle_type(ty)
        .fd(fd);
    external.import_semaphore_fd(&import)?;
    handed_over(s, exported, imported, || Ok(()))
}

/// Two timeline semaphores with one counter.
unsafe fn semaphore_timeline(s: &Scope<'_>) -> anyhow::Result<()> {
    require(s.gpu.features.timeline_semaphore, "timelineSemaphore")?;
    let ty = SemaphoreType::OPAQUE_FD;
    let (external, exported) = semaphore_for(s, ty, Some(5))?;
    let imported = s.semaphore(Some(0))?;
    let get = vk::SemaphoreGetFdInfoKHR::default()
        .semaphore(exported)
        .handle_type(ty);
    let fd = external.get_semaphore_fd(&get)?;
    let import = vk::ImportSemaphoreFdInfoKHR::default()
        .semaphore(imported)
        .handle_type(ty)
        .fd(fd);
    external.import_semaphore_fd(&import)?;
    let device = s.device();
    ensure!(
        device.get_semaphore_counter_value(imported)? == 5,
        "the counter"
    );
    let signal = vk::SemaphoreSignalInfo::default()
        .semaphore(imported)
        .value(9);
    device.signal_semaphore(&signal)?;
    let (semaphores, values) = ([exported], [9]);
    let wait = vk::SemaphoreWaitInfo::default()
        .semaphores(&semaphores)
        .values(&values);
    Ok(device.wait_semaphores(&wait, TIMEOUT)?)
}

/// A snapshot of pending work as a sync file, imported for one wait.
unsafe fn semaphore_sync_fd(s: &Scope<'_>) -> anyhow::Result<()> {
    let ty = SemaphoreType::SYNC_FD;
    let (external, exported) = semaphore_for(s, ty, None)?;
    let imported = s.semaphore(None)?;
    handed_over(s, exported, imported, || {
        let get = vk::SemaphoreGetFdInfoKHR::default()
            .semaphore(exported)
            .handle_type(ty);
        // SAFETY: its signal is submitted, as sync files need it.
        let fd = unsafe { external.get_semaphore_fd(&get) }?;
        let import = vk::ImportSemaphoreFdInfoKHR::default()
            .semaphore(imported)
            .flags(vk::SemaphoreImportFlags::TEMPORARY)
            .handle_type(ty)
            .fd(fd);
        // SAFETY: the semaphore is idle; the descriptor goes to the driver.
        Ok(unsafe { external.import_semaphore_fd(&import) }?)
    })
}

unsafe fn exported_fence(
    s: &Scope<'_>,
    ty: FenceType,
) -> anyhow::Result<(ash::khr::external_fence_fd::Device, vk::Fence)> {
    s.gpu.needs(ash::khr::external_fence_fd::NAME)?;
    let query = vk::PhysicalDeviceExternalFenceInfo::default().handle_type(ty);
    let mut properties = vk::ExternalFenceProperties::default();
    s.gpu
        .instance
        .get_physical_device_external_fence_properties(s.gpu.physical, &query, &mut properties);
    let both =
        vk::ExternalFenceFeatureFlags::EXPORTABLE | vk::ExternalFenceFeatureFlags::IMPORTABLE;
    require(
        properties.external_fence_features.contains(both),
        &format!("export and import of {ty:?}"),
    )?;
    let mut export = vk::ExportFenceCreateInfo::default().handle_types(ty);
    let info = vk::FenceCreateInfo::default().push_next(&mut export);
    let fence = s.device().create_fence(&info, None)?;
    s.at_end(move |device| device.destroy_fence(fence, None));
    let device = ash::khr::external_fence_fd::Device::new(&s.gpu.instance, s.device());
    Ok((device, fence))
}

unsafe fn fence_opaque(s: &Scope<'_>) -> anyhow::Result<()> {
    let (external, exported) = exported_fence(s, FenceType::OPAQUE_FD)?;
    let imported = s.fence(vk::FenceCreateFlags::empty())?;
    let get = vk::FenceGetFdInfoKHR::default()
        .fence(exported)
        .handle_type(FenceType::OPAQUE_FD);
    let fd = external.get_fence_fd(&get)?;
    let import = vk::ImportFenceFdInfoKHR::default()
        .fence(imported)
        .handle_type(FenceType::OPAQUE_FD)
        .fd(fd);
    external.import_fence_fd(&import)?;
    s.device().queue_submit(s.gpu.queue, &[], exported)?;
    s.wait(&[imported])?;
    s.wait(&[exported])
}

unsafe fn fence_sync_fd(s: &Scope<'_>) -> anyhow::Result<()> {
    let ty = FenceType::SYNC_FD;
    let (external, exported) = exported_fence(s, ty)?;
    let imported = s.fence(vk::FenceCreateFlags::empty())?;
    s.device().queue_submit(s.gpu.queue, &[], exported)?;
    let get = vk::FenceGetFdInfoKHR::default()
        .fence(exported)
        .handle_type(ty);
    let fd = external.get_fence_fd(&get)?;
    let import = vk::ImportFenceFdInfoKHR::default()
        .fence(imported)
        .flags(vk::FenceImportFlags::TEMPORARY)
        .handle_type(ty)
        .fd(fd);
    external.import_fence_fd(&import)?;
    s.wait(&[imported])?;
    // The export has reset the fence, and the reset gives the other one its own payload back.
    let now = s.device().get_fence_status(exported)?;
    ensure!(
        !now,
        "a fence that was exported as a sync file is signalled"
    );
    s.device().reset_fences(&[imported])?;
    ensure!(!s.device().get_fence_status(imported)?, "still signalled");
    Ok(())
}
