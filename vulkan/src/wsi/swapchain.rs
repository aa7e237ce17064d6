// SPDX-License-Identifier: MIT
//! VkSwapchainKHR: images that take turns on a surface.
//!
//! Presenting ends with the image copied or not needed any more, so that an image is either with the
//! application or free at once: what an acquired image's semaphore and fence stand for has happened.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agx_uapi::SyncPoint;
use ash::vk;

use super::copies::Copies;
use super::pace::Pace;
use super::surface::{MIN_IMAGES, Request, Surface};
use super::target::{Fit, Picture, Takes, Target};
use crate::debug;
use crate::device::Device;
use crate::entry;
use crate::error::{VkResult, kernel};
use crate::fence::{self, Fence};
use crate::host::{HostAllocator, HostBox, HostVec, OUT_OF_HOST, push};
use crate::image;
use crate::memory;
use crate::object::{self, Object};
use crate::semaphore::Semaphore;

/// A swapchain.
pub(crate) struct Swapchain {
    images: HostVec<Slot>,
    /// Unless nothing is seen.
    copies: Option<Copies>,
    /// What presenting waits with.
    pub(super) fence: vk::Fence,
    target: HostBox<dyn Target>,
    /// Of FIFO.
    pace: Option<Pace>,
    state: Mutex<State>,
    /// An image is free.
    freed: Condvar,
}

/// An image with its memory.
#[derive(Clone, Copy)]
struct Slot {
    image: vk::Image,
    memory: vk::DeviceMemory,
}

struct State {
    /// Images that nobody has; the first was shown before the others.
    free: HostVec<u32>,
    /// Another swapchain has taken the surface.
    retired: bool,
    /// What was found when an image was last shown.
    fit: Fit,
}

impl Object for Swapchain {
    type Handle = vk::SwapchainKHR;
}

impl Swapchain {
    /// Without images.
    fn new(
        host: HostAllocator,
        surface: &Surface,
        info: &vk::SwapchainCreateInfoKHR<'_>,
        shares: bool,
    ) -> VkResult<Swapchain> {
        let unknown = info.flags & !vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT;
        if !unknown.is_empty() {
            debug::error(&format_args!(
                "vkCreateSwapchainKHR: {unknown:?} is not supported"
            ));
            return Err(vk::Result::ERROR_FEATURE_NOT_PRESENT);
        }
        let description = surface.describe()?;
        if !description.formats.contains(&info.image_format) {
            debug::error(&format_args!(
                "vkCreateSwapchainKHR: the surface does not show {:?}, only {:?}",
                info.image_format, description.formats
            ));
            return Err(vk::Result::ERROR_INITIALIZATION_FAILED);
        }
        let target = surface.target(host, &request(info, shares))?;
        let period = target.refresh_period();
        let fifo = info.present_mode == vk::PresentModeKHR::FIFO;
        Ok(Swapchain {
            images: host.vec(),
            copies: None,
            fence: vk::Fence::null(),
            target,
            pace: period.filter(|_| fifo).map(Pace::new),
            state: Mutex::new(State {
                free: host.vec(),
                retired: false,
                fit: Fit::Exact,
            }),
            freed: Condvar::new(),
        })
    }

    /// Makes the images and what reads them. After an error it can only be destroyed.
    ///
    /// # Safety
    /// As vkCreateSwapchainKHR.
    unsafe fn fill(
        &mut self,
        device: vk::Device,
        info: &vk::SwapchainCreateInfoKHR<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
    ) -> VkResult {
        let count = info.min_image_count.max(MIN_IMAGES);
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let room = state.free.try_reserve_exact(count as usize);
        room.map_err(|_| OUT_OF_HOST)?;
        state.free.extend(0..count);
        let room = self.images.try_reserve_exact(count as usize);
        room.map_err(|_| OUT_OF_HOST)?;
        // SAFETY: the caller's promise.
        unsafe {
            for _ in 0..count {
                self.images.push(Slot {
                    image: vk::Image::null(),
                    memory: vk::DeviceMemory::null(),
                });
                if let Some(slot) = self.images.last_mut() {
                    slot.fill(device, info, allocator)?;
                }
            }
            self.record_copies(device, info, allocator)?;
            let unsignalled = vk::FenceCreateInfo::default();
            fence::create_fence(
                device,
                &raw const unsignalled,
                allocator,
                &raw mut self.fence,
            )
            .result()
        }
    }

    /// Makes what the images are copied to.
    ///
    /// # Safety
    /// As vkCreateSwapchainKHR; the images are there.
    unsafe fn record_copies(
        &mut self,
        device: vk::Device,
        info: &vk::SwapchainCreateInfoKHR<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
    ) -> VkResult {
        let images = self.images.iter().map(|slot| slot.image);
        let extent = info.image_extent;
        // SAFETY: the caller's promise.
        unsafe {
            let host = object::get::<Device>(device).allocator(allocator);
            if let Takes::DmaBufs(count) = self.target.takes() {
                let copies = self.copies.insert(Copies::to_dma_bufs(host, extent));
                copies.record(device, allocator, count, images.clone())?;
                let mut buffers = host.vec();
                for page in 0..count {
                    push(&mut buffers, copies.dma_buf(page)?)?;
                }
                if !self.target.share(&buffers)? {
                    debug::warn(&"the display server refuses dma-bufs; it gets copies in memory");
                    copies.destroy(device, allocator);
                    self.copies = None;
                    let surface = object::get::<Surface>(info.surface);
                    self.target = surface.target(host, &request(info, false))?;
                }
            }
            if self.target.takes() == Takes::Rows {
                let copies = self.copies.insert(Copies::to_host(host, extent));
                copies.record(device, allocator, 1, images)?;
            }
        }
        Ok(())
    }

    /// Destroys the images and what reads them.
    ///
    /// # Safety
    /// No one uses them any more; the callbacks are compatible with those they were made with.
    unsafe fn empty(&mut self, device: vk::Device, allocator: *const vk::AllocationCallbacks<'_>) {
        // SAFETY: the caller's promise; null handles are fine.
        unsafe {
            fence::destroy_fence(device, self.fence, allocator);
            if let Some(copies) = &self.copies {
                copies.destroy(device, allocator);
            }
            for slot in self.images.drain(..) {
                image::destroy_image(device, slot.image, allocator);
                memory::free_memory(device, slot.memory, allocator);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The memory of an image, for another one that is bound to it.
    pub(crate) fn memory_of(&self, index: u32) -> Option<vk::DeviceMemory> {
        self.images.get(index as usize).map(|slot| slot.memory)
    }

    /// Where the next image that is shown is copied to. This waits for the window system.
    ///
    /// # Errors
    /// When the surface is lost.
    pub(super) fn next_page(&self) -> VkResult<usize> {
        self.target.next()
    }

    /// What copies an image before it is shown.
    pub(super) fn copy_of(&self, index: u32, page: usize) -> Option<vk::CommandBuffer> {
        self.copies.as_ref()?.commands(index, page)
    }

    /// An image that nobody has. Images that the application presents meanwhile, on another thread,
    /// are waited for.
    fn acquire(&self, timeout: Duration) -> VkResult<(u32, Fit)> {
        // None: for ever.
        let end = Instant::now().checked_add(timeout);
        let mut state = self.lock();
        loop {
            if state.retired {
                return Err(vk::Result::ERROR_OUT_OF_DATE_KHR);
            }
            if !state.free.is_empty() {
                return Ok((state.free.remove(0), state.fit));
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            state = match left {
                Some(Duration::ZERO) if timeout.is_zero() => {
                    return Err(vk::Result::NOT_READY);
                }
                Some(Duration::ZERO) => return Err(vk::Result::TIMEOUT),
                Some(left) => {
                    let waited = self.freed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let waited = self.freed.wait(state);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }

    /// Shows an image that was copied to `page`, unless that has failed. It is free then, whatever becomes of it.
    ///
    /// # Errors
    /// When the surface is lost, or no longer what it was: [`vk::Result::SUBOPTIMAL_KHR`].
    ///
    /// # Safety
    /// The copy is over.
    pub(super) unsafe fn show(&self, index: u32, page: VkResult<usize>) -> VkResult {
        if let Some(pace) = self.pace.as_ref().filter(|_| page.is_ok()) {
            pace.await_turn();
        }
        let shown = page.and_then(|page| {
            let picture = match (self.target.takes(), &self.copies) {
                (Takes::DmaBufs(_), _) => Picture::DmaBuf(page),
                // SAFETY: the caller's promise; the application presents to a swapchain from one
                // thread at a time.
                (_, Some(copies)) => Picture::Rows(unsafe { copies.rows(page) }),
                (_, None) => Picture::Rows(&[]),
            };
            self.target.show(picture)
        });
        let mut state = self.lock();
        let known = (index as usize) < self.images.len();
        if known && !state.free.contains(&index) {
            // There is room for all.
            state.free.push(index);
        }
        self.freed.notify_all();
        state.fit = shown?;
        fits(state.fit)
    }
}

/// What commands say of it.
fn fits(fit: Fit) -> VkResult {
    match fit {
        Fit::Exact => Ok(()),
        Fit::Stale => Err(vk::Result::SUBOPTIMAL_KHR),
    }
}

fn request(info: &vk::SwapchainCreateInfoKHR<'_>, shares: bool) -> Request {
    Request {
        extent: info.image_extent,
        format: info.image_format,
        alpha: info.composite_alpha,
        shares,
    }
}

impl Slot {
    /// # Safety
    /// As vkCreateSwapchainKHR.
    unsafe fn fill(
        &mut self,
        device: vk::Device,
        info: &vk::SwapchainCreateInfoKHR<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
    ) -> VkResult {
        // What the specification says that the images are as if created with; copies read them.
        let mutable = info.flags & vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT;
        let create = vk::ImageCreateInfo {
            // Both come with it (VK_KHR_swapchain_mutable_format).
            flags: match mutable.is_empty() {
                true => vk::ImageCreateFlags::empty(),
                false => {
                    vk::ImageCreateFlags::MUTABLE_FORMAT | vk::ImageCreateFlags::EXTENDED_USAGE
                }
            },
            image_type: vk::ImageType::TYPE_2D,
            format: info.image_format,
            extent: info.image_extent.into(),
            mip_levels: 1,
            array_layers: info.image_array_layers,
            samples: vk::SampleCountFlags::TYPE_1,
            tiling: vk::ImageTiling::OPTIMAL,
            usage: info.image_usage | vk::ImageUsageFlags::TRANSFER_SRC,
            sharing_mode: info.image_sharing_mode,
            queue_family_index_count: info.queue_family_index_count,
            p_queue_family_indices: info.p_queue_family_indices,
            ..Default::default()
        };
        let mut needs = vk::MemoryRequirements::default();
        // SAFETY: the caller's promise; all structures are valid.
        unsafe {
            image::create_image(device, &raw const create, allocator, &raw mut self.image)
                .result()?;
            image::get_image_memory_requirements(device, self.image, &raw mut needs);
            let allocate = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(needs.memory_type_bits.trailing_zeros());
            memory::allocate_memory(device, &raw const allocate, allocator, &raw mut self.memory)
                .result()?;
            image::bind_image_memory(device, self.image, self.memory, 0).result()
        }
    }
}

/// vkCreateSwapchainKHR.
pub(crate) unsafe extern "system" fn create_swapchain(
    device: vk::Device,
    info: *const vk::SwapchainCreateInfoKHR<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    swapchain: *mut vk::SwapchainKHR,
) -> vk::Result {
    entry::try_guard("vkCreateSwapchainKHR", || {
        // SAFETY: valid by the specification.
        unsafe {
            let info = &*info;
            let owner = object::get::<Device>(device);
            let host = owner.allocator(allocator);
            // Even when no new one comes of it.
            if let Some(old) = object::get_optional::<Swapchain>(info.old_swapchain) {
                old.lock().retired = true;
                old.freed.notify_all();
            }
            let surface = object::get::<Surface>(info.surface);
            let handle = object::create(
                host,
                Swapchain::new(host, surface, info, owner.shares_buffers())?,
            )?;
            let made = object::get_mut::<Swapchain>(handle);
            if let Err(error) = made.fill(device, info, allocator) {
                made.empty(device, allocator);
                object::destroy::<Swapchain>(host, handle);
                return Err(error);
            }
            *swapchain = handle;
        }
        Ok(())
    })
}

/// vkDestroySwapchainKHR.
pub(crate) unsafe extern "system" fn destroy_swapchain(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    entry::guard("vkDestroySwapchainKHR", || {
        if swapchain == vk::SwapchainKHR::null() {
            return;
        }
        // SAFETY: a live handle that no one else uses, by the specification.
        unsafe {
            object::get_mut::<Swapchain>(swapchain).empty(device, allocator);
            let host = object::get::<Device>(device).allocator(allocator);
            object::destroy::<Swapchain>(host, swapchain);
        }
    });
}

/// vkGetSwapchainImagesKHR.
pub(crate) unsafe extern "system" fn get_swapchain_images(
    _device: vk::Device,
    swapchain: vk::SwapchainKHR,
    count: *mut u32,
    images: *mut vk::Image,
) -> vk::Result {
    entry::try_guard("vkGetSwapchainImagesKHR", || {
        // SAFETY: valid by the specification.
        unsafe {
            let this = object::get::<Swapchain>(swapchain);
            entry::enumerate(this.images.iter().map(|slot| slot.image), count, images)
        }
    })
}

/// Acquires an image, and signals what is to be signalled.
///
/// # Safety
/// As vkAcquireNextImage2KHR.
unsafe fn acquire(
    device: vk::Device,
    info: &vk::AcquireNextImageInfoKHR<'_>,
    index: *mut u32,
) -> VkResult {
    // SAFETY: the caller's promise.
    unsafe {
        let device = object::get::<Device>(device);
        device.check()?;
        let this = object::get::<Swapchain>(info.swapchain);
        let (image, fit) = this.acquire(Duration::from_nanos(info.timeout))?;
        let semaphore = object::get_optional::<Semaphore>(info.semaphore);
        if let Some(SyncPoint::Binary(sync)) = semaphore.and_then(|semaphore| semaphore.point(0)) {
            let signalled = device.kernel.syncobj_signal(&[sync]);
            signalled.map_err(kernel("SYNCOBJ_SIGNAL"))?;
        }
        if let Some(fence) = object::get_optional::<Fence>(info.fence) {
            let signalled = device.kernel.syncobj_signal(&[fence.sync()]);
            signalled.map_err(kernel("SYNCOBJ_SIGNAL"))?;
        }
        *index = image;
        fits(fit)
    }
}

/// vkAcquireNextImageKHR.
pub(crate) unsafe extern "system" fn acquire_next_image(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    timeout: u64,
    semaphore: vk::Semaphore,
    fence: vk::Fence,
    index: *mut u32,
) -> vk::Result {
    entry::try_guard("vkAcquireNextImageKHR", || {
        let info = vk::AcquireNextImageInfoKHR::default()
            .swapchain(swapchain)
            .timeout(timeout)
            .semaphore(semaphore)
            .fence(fence);
        // SAFETY: valid by the specification.
        unsafe { acquire(device, &info, index) }
    })
}

/// vkAcquireNextImage2KHR.
pub(crate) unsafe extern "system" fn acquire_next_image2(
    device: vk::Device,
    info: *const vk::AcquireNextImageInfoKHR<'_>,
    index: *mut u32,
) -> vk::Result {
    entry::try_guard("vkAcquireNextImage2KHR", || {
        // SAFETY: valid by the specification.
        unsafe { acquire(device, &*info, index) }
    })
}
