// SPDX-License-Identifier: MIT
//! vkQueuePresentKHR.

use ash::vk;

use super::swapchain::Swapchain;
use crate::device::Device;
use crate::entry;
use crate::error::VkResult;
use crate::fence;
use crate::host::push;
use crate::object;
use crate::queue::{self, Queue};

/// One swapchain's part of a present.
struct Part<'a> {
    swapchain: &'a Swapchain,
    image: u32,
    /// Where it is copied to, unless its surface is lost.
    page: VkResult<usize>,
}

/// Waits for the application's semaphores, copies the images, and waits until that is over.
///
/// # Safety
/// As vkQueuePresentKHR.
unsafe fn copy(queue: vk::Queue, waits: &[vk::Semaphore], parts: &[Part<'_>]) -> VkResult {
    let Some(first) = parts.first() else {
        return Ok(());
    };
    // SAFETY: the caller's promise.
    unsafe {
        let handle = object::get::<Queue>(queue).device;
        let mut commands = object::get::<Device>(handle).host.for_command().vec();
        for part in parts {
            let Ok(page) = part.page else { continue };
            if let Some(copy) = part.swapchain.copy_of(part.image, page) {
                push(&mut commands, copy)?;
            }
        }
        let submit = vk::SubmitInfo::default()
            .wait_semaphores(waits)
            .command_buffers(&commands);
        let done = first.swapchain.fence;
        queue::queue_submit(queue, 1, &raw const submit, done).result()?;
        fence::wait_for_fences(handle, 1, &raw const done, vk::TRUE, u64::MAX).result()?;
        fence::reset_fences(handle, 1, &raw const done).result()
    }
}

/// The one of two results that says more: errors come before [`vk::Result::SUBOPTIMAL_KHR`].
fn worse(one: VkResult, other: VkResult) -> VkResult {
    match (one, other) {
        (Err(error), _) if error.as_raw() < 0 => one,
        (_, Err(_)) => other,
        _ => one,
    }
}

/// vkQueuePresentKHR.
pub(crate) unsafe extern "system" fn queue_present(
    queue: vk::Queue,
    info: *const vk::PresentInfoKHR<'_>,
) -> vk::Result {
    entry::try_guard("vkQueuePresentKHR", || {
        // SAFETY: valid by the specification: handles and arrays.
        unsafe {
            let info = &*info;
            let swapchains = entry::slice(info.p_swapchains, info.swapchain_count);
            let images = entry::slice(info.p_image_indices, info.swapchain_count);
            let waits = entry::slice(info.p_wait_semaphores, info.wait_semaphore_count);
            let device = object::get::<Device>(object::get::<Queue>(queue).device);
            let mut parts = device.host.for_command().vec();
            for (swapchain, image) in swapchains.iter().zip(images) {
                let swapchain = object::get::<Swapchain>(*swapchain);
                let part = Part {
                    swapchain,
                    image: *image,
                    page: swapchain.next_page(),
                };
                push(&mut parts, part)?;
            }
            let copied = copy(queue, waits, &parts);
            let mut all = Ok(());
            for (at, part) in parts.iter().enumerate() {
                let page = copied.and(part.page);
                let shown = part.swapchain.show(part.image, page);
                if !info.p_results.is_null() {
                    *info.p_results.add(at) = crate::error::code(shown);
                }
                all = worse(all, shown);
            }
            all
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_more_than_hints() {
        let hint = Err(vk::Result::SUBOPTIMAL_KHR);
        let lost = Err(vk::Result::ERROR_SURFACE_LOST_KHR);
        assert_eq!(worse(Ok(()), Ok(())), Ok(()));
        assert_eq!(worse(Ok(()), hint), hint);
        assert_eq!(worse(hint, Ok(())), hint);
        assert_eq!(worse(hint, lost), lost);
        assert_eq!(worse(lost, hint), lost);
    }
}
