// SPDX-License-Identifier: MIT
//! VkDevice: an open GPU with its address space.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agx_uapi::{Chip, Kernel};
use ash::vk;

use crate::backend::Backend;
use crate::clear_pipelines::ClearPipelines;
use crate::debug;
use crate::entry;
use crate::error::VkResult;
use crate::extensions::{self, Set};
use crate::gpu::{Bo, Gpu};
use crate::host::{HostAllocator, HostVec, OUT_OF_HOST};
use crate::instance::Instance;
use crate::internal::Internal;
use crate::object::{self, Object};
use crate::occlusion;
use crate::physical_device::PhysicalDevice;
use crate::physical_device::features::Enabled;
use crate::pipeline;
use crate::program::Arena;
use crate::query_pool;
use crate::queue::{self, Place, Queue};
use crate::tile_programs::TilePrograms;

/// A device.
pub(crate) struct Device {
    /// Where memory of its objects comes from when the application does not say.
    pub(crate) host: HostAllocator,
    /// The GPU that it is one use of. Outlives the device: the instance does.
    pub(crate) physical: vk::PhysicalDevice,
    /// Which of the two it is.
    pub(crate) chip: Chip,
    /// Features that the application turned on.
    pub(crate) features: Enabled,
    /// Extensions that it enabled.
    pub(crate) extensions: Set,
    /// The open file.
    pub(crate) kernel: Arc<dyn Kernel>,
    /// Its memory.
    pub(crate) gpu: Arc<Gpu>,
    /// Where shaders are entered.
    pub(crate) arena: Arc<Arena>,
    /// Where their accesses out of bounds go.
    _bounds_pages: [Bo; 2],
    /// The driver's own shaders.
    pub(crate) internal: Internal,
    /// Programs that begin and end tiles.
    pub(crate) tile_programs: TilePrograms,
    pub(crate) occlusion: occlusion::Counters,
    pub(crate) clear_pipelines: ClearPipelines,
    /// Its shaders.
    pub(crate) shaders: pipeline::Store,
    /// Where firmware writes timestamps.
    pub(crate) timestamps: query_pool::Heap,
    backend: Backend,
    lost: AtomicBool,
    queues: HostVec<vk::Queue>,
}

impl Object for Device {
    type Handle = vk::Device;
}

impl Device {
    /// The instance that it comes from.
    pub(crate) fn instance(&self) -> &Instance {
        // SAFETY: both outlive the device and are not changed while it lives.
        unsafe {
            let physical = object::get::<PhysicalDevice>(self.physical);
            object::get::<Instance>(physical.instance)
        }
    }

    /// The allocator for an object of this device.
    ///
    /// # Safety
    /// `callbacks` is null or points to valid callbacks.
    pub(crate) unsafe fn allocator(
        &self,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) -> HostAllocator {
        // SAFETY: the caller's promise.
        unsafe { HostAllocator::choose(callbacks, &self.host, vk::SystemAllocationScope::OBJECT) }
    }

    /// Whether its buffers are dma-bufs, which other drivers can import. Those of a simulated GPU are
    /// files in memory, which do for those who know.
    pub(crate) fn shares_buffers(&self) -> bool {
        !self.backend.is_simulated() || debug::has(debug::Flags::DMABUF)
    }

    /// Declares the device lost, which it then stays (Vulkan 1.3, 5.2.3 "Lost Device").
    pub(crate) fn lose(&self, why: &dyn std::fmt::Display) -> vk::Result {
        if !self.lost.swap(true, Ordering::AcqRel) {
            debug::error(&format_args!("the device is lost: {why}"));
            if let Some(fault) = self.backend.fault() {
                debug::error(&fault);
            }
        }
        vk::Result::ERROR_DEVICE_LOST
    }

    /// Says so when the device is lost.
    ///
    /// # Errors
    /// [`vk::Result::ERROR_DEVICE_LOST`].
    pub(crate) fn check(&self) -> VkResult {
        if self.lost.load(Ordering::Acquire) {
            return Err(vk::Result::ERROR_DEVICE_LOST);
        }
        Ok(())
    }

    fn create_queues(&mut self, handle: vk::Device, info: &vk::DeviceCreateInfo<'_>) -> VkResult {
        // SAFETY: valid by the specification.
        let wanted =
            unsafe { entry::slice(info.p_queue_create_infos, info.queue_create_info_count) };
        for info in wanted {
            // SAFETY: as above.
            let priorities = unsafe { entry::slice(info.p_queue_priorities, info.queue_count) };
            for (index, priority) in (0..).zip(priorities) {
                let place = Place {
                    family: info.queue_family_index,
                    index,
                    flags: info.flags,
                };
                self.queues.try_reserve(1).map_err(|_| OUT_OF_HOST)?;
                let queue = Queue::new(handle, &self.gpu, self.host, place, *priority)?;
                self.queues.push(object::create(self.host, queue)?);
            }
        }
        Ok(())
    }

    /// Its queues.
    pub(crate) fn queues(&self) -> impl Iterator<Item = &Queue> {
        // SAFETY: they are destroyed with the device.
        self.queues
            .iter()
            .map(|queue| unsafe { object::get(*queue) })
    }

    /// The queue at a place; null when there is none.
    pub(crate) fn queue(&self, place: Place) -> vk::Queue {
        let found = self.queues().find(|queue| queue.place == place);
        found.map_or(vk::Queue::null(), object::handle_of)
    }

    /// Looks how submits ended that are over. For whoever has seen that something is.
    ///
    /// # Errors
    /// [`vk::Result::ERROR_DEVICE_LOST`] when one failed.
    pub(crate) fn inspect(&self) -> VkResult {
        for queue in self.queues() {
            queue.inspect().map_err(|errno| queue::lost(self, errno))?;
        }
        self.check()
    }
}

/// Destroys an object of a device: all that vkDestroyX does for most X.
///
/// # Safety
/// The device is valid, the handle is null or of a live object that no one else uses, and the
/// callbacks are null or valid and compatible with those that it was created with.
pub(crate) unsafe fn destroy_object<T: Object>(
    command: &'static str,
    device: vk::Device,
    handle: T::Handle,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    entry::guard(command, || {
        // SAFETY: the caller's promise.
        unsafe {
            let host = object::get::<Device>(device).allocator(allocator);
            object::destroy::<T>(host, handle);
        }
    });
}

/// Destroys a device and its queues.
///
/// # Safety
/// No one uses them any more.
unsafe fn destroy(host: HostAllocator, device: vk::Device) {
    // SAFETY: the caller's promise. Threads of queues use the device until they have ended.
    unsafe {
        let this = object::get::<Device>(device);
        this.queues().for_each(Queue::stop);
        for queue in &this.queues {
            object::destroy::<Queue>(this.host, *queue);
        }
        object::destroy::<Device>(host, device);
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.gpu.close();
    }
}

/// vkCreateDevice.
pub(crate) unsafe extern "system" fn create_device(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
) -> vk::Result {
    entry::try_guard("vkCreateDevice", || {
        // SAFETY: valid by the specification.
        let (this, info, host) = unsafe {
            let this = object::get::<PhysicalDevice>(physical);
            let instance = object::get::<Instance>(this.instance);
            let scope = vk::SystemAllocationScope::DEVICE;
            let host = HostAllocator::choose(allocator, &instance.host, scope);
            (this, &*info, host)
        };
        // SAFETY: valid by the specification.
        let (extensions, features) = unsafe {
            (
                extensions::device_enabled(info)?,
                Enabled::from_create_info(info)?,
            )
        };
        let kernel = this.backend.open()?;
        let gpu = Gpu::new(kernel.clone())?;
        let arena = Arena::new(&gpu)?;
        let bounds_pages = gpu.bounds_pages()?;
        let handle = object::create(
            host,
            Device {
                host,
                physical,
                chip: this.chip,
                features,
                extensions,
                kernel,
                gpu,
                arena,
                _bounds_pages: bounds_pages,
                internal: Internal::new(this.chip),
                tile_programs: TilePrograms::default(),
                occlusion: occlusion::Counters::default(),
                clear_pipelines: ClearPipelines::default(),
                shaders: pipeline::Store::default(),
                backend: this.backend.clone(),
                lost: AtomicBool::new(false),
                timestamps: query_pool::Heap::default(),
                queues: host.vec(),
            },
        )?;
        // SAFETY: just created and not known to anyone else.
        let made = unsafe { object::get_mut::<Device>(handle) };
        if let Err(error) = made.create_queues(handle, info) {
            // SAFETY: as above.
            unsafe { destroy(host, handle) };
            return Err(error);
        }
        // SAFETY: valid by the specification.
        unsafe { *device = handle };
        Ok(())
    })
}

/// vkDestroyDevice.
pub(crate) unsafe extern "system" fn destroy_device(
    device: vk::Device,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    entry::guard("vkDestroyDevice", || {
        // SAFETY: null or a live handle that no one else uses, by the specification.
        unsafe {
            let Some(this) = object::get_optional::<Device>(device) else {
                return;
            };
            let scope = vk::SystemAllocationScope::DEVICE;
            let host = HostAllocator::choose(allocator, &this.host, scope);
            destroy(host, device);
        }
    });
}
