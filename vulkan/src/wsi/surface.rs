// SPDX-License-Identifier: MIT
//! VkSurfaceKHR, and what can be asked about one.

use ash::vk;

use super::target::Target;
use super::{headless, wayland, x11};
use crate::entry;
use crate::error::VkResult;
use crate::host::{HostAllocator, HostBox};
use crate::image::Most;
use crate::instance::Instance;
use crate::object::{self, Object};
use crate::physical_device::formats;

/// A surface.
///
/// The loader could make them, too; the driver's own have a connection that all its commands share.
pub(crate) struct Surface {
    window: Window,
}

/// What a surface is on.
pub(super) enum Window {
    Headless,
    X11(x11::Window),
    Wayland(Box<wayland::Window>),
}

impl Object for Surface {
    type Handle = vk::SurfaceKHR;
}

/// What a surface is like at the moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Description {
    /// Its size, when it has one of its own.
    pub(super) current: Option<vk::Extent2D>,
    /// The smallest swapchain.
    pub(super) min: vk::Extent2D,
    /// The largest swapchain.
    pub(super) max: vk::Extent2D,
    /// Formats of swapchains; none when nothing can be shown there.
    pub(super) formats: &'static [vk::Format],
    /// What becomes of alpha.
    pub(super) alpha: vk::CompositeAlphaFlagsKHR,
}

impl Description {
    /// Of a surface that has the size of its swapchain.
    pub(super) fn of_any_size(
        formats: &'static [vk::Format],
        alpha: vk::CompositeAlphaFlagsKHR,
    ) -> Description {
        let [width, height, _] = Most::of(vk::ImageType::TYPE_2D, vk::ImageTiling::OPTIMAL).extent;
        Description {
            current: None,
            min: vk::Extent2D {
                width: 1,
                height: 1,
            },
            max: vk::Extent2D { width, height },
            formats,
            alpha,
        }
    }
}

/// What a swapchain asks of its surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) extent: vk::Extent2D,
    pub(super) format: vk::Format,
    pub(super) alpha: vk::CompositeAlphaFlagsKHR,
    /// It may share buffers with the GPU, if the window system does.
    pub(super) shares: bool,
}

impl Request {
    /// Whether blue comes first; else red does.
    pub(super) fn is_bgra(&self) -> bool {
        matches!(
            self.format,
            vk::Format::B8G8R8A8_SRGB | vk::Format::B8G8R8A8_UNORM
        )
    }
}

/// Images that a swapchain has at least: one that is shown, one that is drawn.
pub(super) const MIN_IMAGES: u32 = 2;

/// Present modes. Each picture is copied into the window whole, at once or at its time.
const MODES: &[vk::PresentModeKHR] = &[
    vk::PresentModeKHR::FIFO,
    vk::PresentModeKHR::IMMEDIATE,
    vk::PresentModeKHR::MAILBOX,
];

/// Usage that may be asked for, where the format allows it.
const USAGES: &[vk::ImageUsageFlags] = &[
    vk::ImageUsageFlags::TRANSFER_SRC,
    vk::ImageUsageFlags::TRANSFER_DST,
    vk::ImageUsageFlags::SAMPLED,
    vk::ImageUsageFlags::STORAGE,
    vk::ImageUsageFlags::COLOR_ATTACHMENT,
    vk::ImageUsageFlags::INPUT_ATTACHMENT,
];

impl Surface {
    pub(super) fn new(window: Window) -> Surface {
        Surface { window }
    }

    /// What it is like.
    ///
    /// # Errors
    /// When it is lost.
    pub(super) fn describe(&self) -> VkResult<Description> {
        match &self.window {
            Window::Headless => Ok(headless::describe()),
            Window::X11(window) => window.describe(),
            Window::Wayland(window) => Ok(window.describe()),
        }
    }

    /// Where a swapchain's images go.
    ///
    /// # Errors
    /// When it is lost, or there is no memory.
    pub(super) fn target(
        &self,
        host: HostAllocator,
        request: &Request,
    ) -> VkResult<HostBox<dyn Target>> {
        Ok(match &self.window {
            Window::Headless => {
                allocator_api2::unsize_box!(host.boxed(headless::Nowhere)?)
            }
            Window::X11(window) => {
                allocator_api2::unsize_box!(host.boxed(window.target(request)?)?)
            }
            Window::Wayland(window) => {
                allocator_api2::unsize_box!(host.boxed(window.target(request)?)?)
            }
        })
    }
}

/// Gives the application a surface.
///
/// # Errors
/// When there is no host memory.
///
/// # Safety
/// As the specification says of a command that makes one.
pub(super) unsafe fn create(
    instance: vk::Instance,
    made: Surface,
    allocator: *const vk::AllocationCallbacks<'_>,
    surface: *mut vk::SurfaceKHR,
) -> VkResult {
    // SAFETY: the caller's promise.
    unsafe {
        let instance = object::get::<Instance>(instance);
        let scope = vk::SystemAllocationScope::OBJECT;
        let host = HostAllocator::choose(allocator, &instance.host, scope);
        *surface = object::create(host, made)?;
    }
    Ok(())
}

/// vkDestroySurfaceKHR.
pub(crate) unsafe extern "system" fn destroy_surface(
    instance: vk::Instance,
    surface: vk::SurfaceKHR,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    entry::guard("vkDestroySurfaceKHR", || {
        // SAFETY: null or a live handle that no one else uses, by the specification.
        unsafe {
            let instance = object::get::<Instance>(instance);
            let scope = vk::SystemAllocationScope::OBJECT;
            let host = HostAllocator::choose(allocator, &instance.host, scope);
            object::destroy::<Surface>(host, surface);
        }
    });
}

/// What images of one of the formats can be used for.
fn usages(physical: vk::PhysicalDevice, formats: &[vk::Format]) -> vk::ImageUsageFlags {
    let mut all = vk::ImageUsageFlags::empty();
    for (format, usage) in formats
        .iter()
        .flat_map(|f| USAGES.iter().map(move |u| (*f, *u)))
    {
        let mut most = vk::ImageFormatProperties::default();
        // SAFETY: a live handle by the caller's own command, and a valid structure.
        let result = unsafe {
            formats::get_image_format(
                physical,
                format,
                vk::ImageType::TYPE_2D,
                vk::ImageTiling::OPTIMAL,
                usage,
                vk::ImageCreateFlags::empty(),
                &raw mut most,
            )
        };
        if result == vk::Result::SUCCESS {
            all |= usage;
        }
    }
    all
}

fn capabilities(
    physical: vk::PhysicalDevice,
    surface: &Surface,
) -> VkResult<vk::SurfaceCapabilitiesKHR> {
    let description = surface.describe()?;
    Ok(vk::SurfaceCapabilitiesKHR {
        min_image_count: MIN_IMAGES,
        // As many as there is memory for.
        max_image_count: 0,
        // All ones: the swapchain decides.
        current_extent: description.current.unwrap_or(vk::Extent2D {
            width: u32::MAX,
            height: u32::MAX,
        }),
        min_image_extent: description.min,
        max_image_extent: description.max,
        max_image_array_layers: 1,
        supported_transforms: vk::SurfaceTransformFlagsKHR::IDENTITY,
        current_transform: vk::SurfaceTransformFlagsKHR::IDENTITY,
        supported_composite_alpha: description.alpha,
        supported_usage_flags: usages(physical, description.formats),
    })
}

/// vkGetPhysicalDeviceSurfaceSupportKHR: what a window can show, every queue can present.
pub(crate) unsafe extern "system" fn get_surface_support(
    _physical: vk::PhysicalDevice,
    _family: u32,
    surface: vk::SurfaceKHR,
    supported: *mut vk::Bool32,
) -> vk::Result {
    entry::try_guard("vkGetPhysicalDeviceSurfaceSupportKHR", || {
        // SAFETY: valid by the specification.
        unsafe {
            let description = object::get::<Surface>(surface).describe()?;
            *supported = vk::Bool32::from(!description.formats.is_empty());
        }
        Ok(())
    })
}

/// vkGetPhysicalDeviceSurfaceCapabilitiesKHR.
pub(crate) unsafe extern "system" fn get_surface_capabilities(
    physical: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
    to: *mut vk::SurfaceCapabilitiesKHR,
) -> vk::Result {
    entry::try_guard("vkGetPhysicalDeviceSurfaceCapabilitiesKHR", || {
        // SAFETY: valid by the specification.
        unsafe { *to = capabilities(physical, object::get::<Surface>(surface))? };
        Ok(())
    })
}

/// vkGetPhysicalDeviceSurfaceCapabilities2KHR.
pub(crate) unsafe extern "system" fn get_surface_capabilities2(
    physical: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceSurfaceInfo2KHR<'_>,
    to: *mut vk::SurfaceCapabilities2KHR<'_>,
) -> vk::Result {
    entry::try_guard("vkGetPhysicalDeviceSurfaceCapabilities2KHR", || {
        // SAFETY: valid by the specification.
        unsafe {
            let surface = object::get::<Surface>((*info).surface);
            (*to).surface_capabilities = capabilities(physical, surface)?;
        }
        Ok(())
    })
}

fn surface_formats(
    formats: &'static [vk::Format],
) -> impl ExactSizeIterator<Item = vk::SurfaceFormatKHR> {
    formats.iter().map(|format| vk::SurfaceFormatKHR {
        format: *format,
        color_space: vk::ColorSpaceKHR::SRGB_NONLINEAR,
    })
}

/// vkGetPhysicalDeviceSurfaceFormatsKHR.
pub(crate) unsafe extern "system" fn get_surface_formats(
    _physical: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
    count: *mut u32,
    formats: *mut vk::SurfaceFormatKHR,
) -> vk::Result {
    entry::try_guard("vkGetPhysicalDeviceSurfaceFormatsKHR", || {
        // SAFETY: valid by the specification.
        unsafe {
            let description = object::get::<Surface>(surface).describe()?;
            entry::enumerate(surface_formats(description.formats), count, formats)
        }
    })
}

/// vkGetPhysicalDeviceSurfaceFormats2KHR.
pub(crate) unsafe extern "system" fn get_surface_formats2(
    _physical: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceSurfaceInfo2KHR<'_>,
    count: *mut u32,
    formats: *mut vk::SurfaceFormat2KHR<'_>,
) -> vk::Result {
    entry::try_guard("vkGetPhysicalDeviceSurfaceFormats2KHR", || {
        // SAFETY: valid by the specification.
        unsafe {
            let description = object::get::<Surface>((*info).surface).describe()?;
            let all = surface_formats(description.formats);
            entry::enumerate_with(all, count, formats, |to, format| to.surface_format = format)
        }
    })
}

/// vkGetPhysicalDeviceSurfacePresentModesKHR.
pub(crate) unsafe extern "system" fn get_surface_present_modes(
    _physical: vk::PhysicalDevice,
    _surface: vk::SurfaceKHR,
    count: *mut u32,
    modes: *mut vk::PresentModeKHR,
) -> vk::Result {
    entry::try_guard("vkGetPhysicalDeviceSurfacePresentModesKHR", || {
        // SAFETY: valid by the specification.
        unsafe { entry::enumerate(MODES.iter().copied(), count, modes) }
    })
}

/// vkGetPhysicalDevicePresentRectanglesKHR: the whole surface, from the only device.
pub(crate) unsafe extern "system" fn get_present_rectangles(
    _physical: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
    count: *mut u32,
    rectangles: *mut vk::Rect2D,
) -> vk::Result {
    entry::try_guard("vkGetPhysicalDevicePresentRectanglesKHR", || {
        // SAFETY: valid by the specification.
        unsafe {
            let description = object::get::<Surface>(surface).describe()?;
            let whole = vk::Rect2D {
                offset: vk::Offset2D::default(),
                extent: description.current.unwrap_or(description.max),
            };
            entry::enumerate(std::iter::once(whole), count, rectangles)
        }
    })
}
