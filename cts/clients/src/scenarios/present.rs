// SPDX-License-Identifier: MIT
//! Swapchains: what is presented to windows is read back from them.

use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use ash::vk;
use wayland_server::protocol::wl_shm;

use super::scenario;
use crate::compositor::{Compositor, DmaBufs};
use crate::gpu::require;
use crate::model::bytes;
use crate::scenario::Scenario;
use crate::scope::{Buffer, Scope, TIMEOUT};
use crate::sharing_server::SharingServer;
use crate::window::{Server, Window, Xlib};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("present.modes", modes),
    scenario("present.formats", formats),
    scenario("present.alpha", alpha),
    scenario("present.resize", resize),
    scenario("present.xlib", xlib),
    scenario("present.wayland", wayland),
    scenario("present.wayland_dma_buf", wayland_dma_buf),
    scenario("present.x11_dma_buf", x11_dma_buf),
    scenario("present.no_shared_memory", no_shared_memory),
    scenario("present.two_windows", two_windows),
    scenario("present.acquire", acquire),
    scenario("present.lost", lost),
    scenario("present.headless", headless),
    scenario("present.bound", bound),
];

type Size = (u16, u16);

/// Sizes that end within tiles.
const SIZE: Size = (147, 75);
const ALL_MODES: [vk::PresentModeKHR; 3] = [
    vk::PresentModeKHR::FIFO,
    vk::PresentModeKHR::IMMEDIATE,
    vk::PresentModeKHR::MAILBOX,
];
const UNORM: vk::Format = vk::Format::B8G8R8A8_UNORM;
const COLOUR: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

/// The functions of surfaces.
fn surfaces(s: &Scope<'_>) -> ash::khr::surface::Instance {
    ash::khr::surface::Instance::new(&s.gpu.entry, &s.gpu.instance)
}

/// Has a surface destroyed at the end, and what it is on after that.
fn keep(s: &Scope<'_>, surface: vk::SurfaceKHR, on: impl Send + 'static) -> vk::SurfaceKHR {
    let functions = surfaces(s);
    s.at_end(move |_| {
        // SAFETY: swapchains were made later and are gone.
        unsafe { functions.destroy_surface(surface, None) };
        drop(on);
    });
    surface
}

/// A window and its surface.
unsafe fn window(
    s: &Scope<'_>,
    server: &Arc<Server>,
    depth: u8,
    size: Size,
) -> anyhow::Result<(Window, vk::SurfaceKHR)> {
    s.gpu.needs(ash::khr::swapchain::NAME)?;
    s.gpu.needs_of_instance(ash::khr::xcb_surface::NAME)?;
    let window = server.window(depth, 5, size)?;
    let functions = ash::khr::xcb_surface::Instance::new(&s.gpu.entry, &s.gpu.instance);
    let supported = functions.get_physical_device_xcb_presentation_support(
        s.gpu.physical,
        s.gpu.family,
        &mut *server.raw().cast(),
        server.visual(depth)?,
    );
    ensure!(supported, "windows of depth {depth} are not supported");
    let info = vk::XcbSurfaceCreateInfoKHR::default()
        .connection(server.raw())
        .window(window.id);
    let surface = keep(
        s,
        functions.create_xcb_surface(&info, None)?,
        server.clone(),
    );
    check_surface(s, surface, Some(size))?;
    Ok((window, surface))
}

/// What every surface must answer.
unsafe fn check_surface(
    s: &Scope<'_>,
    surface: vk::SurfaceKHR,
    size: Option<Size>,
) -> anyhow::Result<()> {
    let functions = surfaces(s);
    let physical = s.gpu.physical;
    ensure!(functions.get_physical_device_surface_support(physical, s.gpu.family, surface)?);
    let capabilities = functions.get_physical_device_surface_capabilities(physical, surface)?;
    let current = capabilities.current_extent;
    // Without a size of its own it has all ones.
    let expected = size.map_or((u32::MAX, u32::MAX), |(w, h)| (w.into(), h.into()));
    ensure!(
        (current.width, current.height) == expected,
        "the surface's size is {current:?}"
    );
    let usage = vk::ImageUsageFlags::TRANSFER_DST;
    ensure!(capabilities.supported_usage_flags.contains(usage));
    let formats = functions.get_physical_device_surface_formats(physical, surface)?;
    ensure!(
        formats.iter().any(|format| format.format == UNORM),
        "formats are {formats:?}"
    );
    let modes = functions.get_physical_device_surface_present_modes(physical, surface)?;
    ensure!(
        modes.contains(&vk::PresentModeKHR::FIFO),
        "modes are {modes:?}"
    );
    // The newer questions have the same answers.
    s.gpu
        .needs_of_instance(ash::khr::get_surface_capabilities2::NAME)?;
    let newer = ash::khr::get_surface_capabilities2::Instance::new(&s.gpu.entry, &s.gpu.instance);
    let info = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(surface);
    let mut again = vk::SurfaceCapabilities2KHR::default();
    newer.get_physical_device_surface_capabilities2(physical, &info, &mut again)?;
    let again = again.surface_capabilities;
    ensure!(again.current_extent == current);
    ensure!(again.supported_usage_flags == capabilities.supported_usage_flags);
    let count = newer.get_physical_device_surface_formats2_len(physical, &info)?;
    ensure!(count == formats.len());
    let mut list = vec![vk::SurfaceFormat2KHR::default(); count];
    newer.get_physical_device_surface_formats2(physical, &info, &mut list)?;
    let list = list.iter().map(|it| it.surface_format.format);
    ensure!(list.eq(formats.iter().map(|it| it.format)));
    Ok(())
}

/// What a swapchain is asked to be.
#[derive(Clone, Copy)]
struct Plan {
    size: Size,
    format: vk::Format,
    mode: vk::PresentModeKHR,
    images: u32,
    /// With what is behind the surface, by alpha.
    blends: bool,
}

impl Plan {
    fn new(size: Size) -> Plan {
        Plan {
            size,
            format: UNORM,
            mode: vk::PresentModeKHR::FIFO,
            images: 2,
            blends: false,
        }
    }

    fn bytes(&self) -> usize {
        4 * usize::from(self.size.0) * usize::from(self.size.1)
    }

    fn extent(&self) -> vk::Extent2D {
        vk::Extent2D {
            width: self.size.0.into(),
            height: self.size.1.into(),
        }
    }
}

/// A swapchain with its images, and what its frames need.
struct Chain<'a, 'b> {
    s: &'a Scope<'b>,
    functions: ash::khr::swapchain::Device,
    handle: vk::SwapchainKHR,
    images: Vec<vk::Image>,
    plan: Plan,
    acquired: vk::Semaphore,
    drawn: vk::Semaphore,
    pixels: Buffer,
}

/// What is drawn.
#[derive(Clone, Copy)]
enum Picture {
    /// One colour, by a clear: bytes as in memory of the BGRA format.
    Solid([u8; 4]),
    /// Noise, by a copy from a buffer.
    Noise(u32),
}

impl Picture {
    fn bytes(self, count: usize) -> Vec<u8> {
        match self {
            Picture::Solid(pixel) => pixel.repeat(count / 4),
            Picture::Noise(seed) => bytes(seed, count),
        }
    }
}

impl<'a, 'b> Chain<'a, 'b> {
    /// A swapchain; the old one, if there is any, is retired.
    unsafe fn new(
        s: &'a Scope<'b>,
        surface: vk::SurfaceKHR,
        plan: Plan,
        old: vk::SwapchainKHR,
    ) -> anyhow::Result<Chain<'a, 'b>> {
        let functions = ash::khr::swapchain::Device::new(&s.gpu.instance, s.device());
        let capabilities =
            surfaces(s).get_physical_device_surface_capabilities(s.gpu.physical, surface)?;
        let mut alpha = [
            vk::CompositeAlphaFlagsKHR::OPAQUE,
            vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED,
        ];
        if plan.blends {
            alpha.reverse();
        }
        let alpha = alpha
            .into_iter()
            .find(|alpha| capabilities.supported_composite_alpha.contains(*alpha))
            .context("neither opaque nor premultiplied")?;
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface)
            .min_image_count(plan.images.max(capabilities.min_image_count))
            .image_format(plan.format)
            .image_color_space(vk::ColorSpaceKHR::SRGB_NONLINEAR)
            .image_extent(plan.extent())
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC)
            .image_sharing_mode(vk::SharingMode::EXCLUSIVE)
            .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
            .composite_alpha(alpha)
            .present_mode(plan.mode)
            .clipped(true)
            .old_swapchain(old);
        let handle = functions
            .create_swapchain(&info, None)
            .context("vkCreateSwapchainKHR")?;
        let destroy = functions.clone();
        s.at_end(move |_| destroy.destroy_swapchain(handle, None));
        let images = functions.get_swapchain_images(handle)?;
        ensure!(images.len() >= plan.images as usize);
        Ok(Chain {
            s,
            handle,
            images,
            plan,
            acquired: s.semaphore(None)?,
            drawn: s.semaphore(None)?,
            pixels: s.buffer(plan.bytes() as u64)?,
            functions,
        })
    }

    /// Acquires an image for the semaphore; whether the surface fits.
    unsafe fn acquire(&self) -> Result<(u32, bool), vk::Result> {
        let (index, suboptimal) = self.functions.acquire_next_image(
            self.handle,
            TIMEOUT,
            self.acquired,
            vk::Fence::null(),
        )?;
        Ok((index, !suboptimal))
    }

    /// Draws into an acquired image, after the semaphore of the acquisition.
    unsafe fn draw(&self, image: u32, picture: Picture) -> anyhow::Result<()> {
        let (s, device) = (self.s, self.s.device());
        let image = self.images[image as usize];
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        self.layout(
            commands,
            image,
            vk::ImageLayout::UNDEFINED,
            vk::ImageLayout::TRANSFER_DST_OPTIMAL,
        );
        match picture {
            Picture::Solid([blue, green, red, alpha]) => {
                let colour = [red, green, blue, alpha].map(|byte| f32::from(byte) / 255.0);
                device.cmd_clear_color_image(
                    commands,
                    image,
                    vk::ImageLayout::TRANSFER_DST_OPTIMAL,
                    &vk::ClearColorValue { float32: colour },
                    &[COLOUR],
                );
            }
            Picture::Noise(_) => {
                self.pixels.write(0, &picture.bytes(self.plan.bytes()));
                let region = vk::BufferImageCopy::default()
                    .image_subresource(vk::ImageSubresourceLayers {
                        aspect_mask: vk::ImageAspectFlags::COLOR,
                        mip_level: 0,
                        base_array_layer: 0,
                        layer_count: 1,
                    })
                    .image_extent(self.plan.extent().into());
                device.cmd_copy_buffer_to_image(
                    commands,
                    self.pixels.handle,
                    image,
                    vk::ImageLayout::TRANSFER_DST_OPTIMAL,
                    &[region],
                );
            }
        }
        self.layout(
            commands,
            image,
            vk::ImageLayout::TRANSFER_DST_OPTIMAL,
            vk::ImageLayout::PRESENT_SRC_KHR,
        );
        device.end_command_buffer(commands)?;
        let (waits, buffers, signals) = ([self.acquired], [commands], [self.drawn]);
        let submit = vk::SubmitInfo::default()
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&[vk::PipelineStageFlags::TRANSFER])
            .command_buffers(&buffers)
            .signal_semaphores(&signals);
        Ok(device.queue_submit(s.gpu.queue, &[submit], vk::Fence::null())?)
    }

    unsafe fn layout(
        &self,
        commands: vk::CommandBuffer,
        image: vk::Image,
        old: vk::ImageLayout,
        new: vk::ImageLayout,
    ) {
        let barrier = vk::ImageMemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .old_layout(old)
            .new_layout(new)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(image)
            .subresource_range(COLOUR);
        self.s.device().cmd_pipeline_barrier(
            commands,
            vk::PipelineStageFlags::TRANSFER,
            vk::PipelineStageFlags::TRANSFER,
            vk::DependencyFlags::empty(),
            &[],
            &[],
            &[barrier],
        );
    }

    /// Presents an image that was drawn; whether the surface fits.
    unsafe fn present(&self, image: u32) -> Result<bool, vk::Result> {
        let (waits, chains, images) = ([self.drawn], [self.handle], [image]);
        let info = vk::PresentInfoKHR::default()
            .wait_semaphores(&waits)
            .swapchains(&chains)
            .image_indices(&images);
        let suboptimal = self.functions.queue_present(self.s.gpu.queue, &info)?;
        Ok(!suboptimal)
    }

    /// A whole frame, after which nothing is under way; whether the surface fits.
    unsafe fn frame(&self, picture: Picture) -> anyhow::Result<Result<bool, vk::Result>> {
        let (image, fits) = match self.acquire() {
            Ok(acquired) => acquired,
            Err(error) => return Ok(Err(error)),
        };
        self.draw(image, picture)?;
        let presented = self.present(image).map(|still| still && fits);
        self.s.device().queue_wait_idle(self.s.gpu.queue)?;
        Ok(presented)
    }

    /// A frame that is as it should be, and seen.
    unsafe fn show(&self, window: &Window, name: &str, picture: Picture) -> anyhow::Result<()> {
        let fits = self.frame(picture)?;
        ensure!(fits == Ok(true), "{name}: {fits:?}");
        let expected = picture.bytes(self.plan.bytes());
        window
            .await_pixels(self.plan.size, &expected)
            .with_context(|| name.to_owned())?;
        let shown = window.pixels(self.plan.size)?;
        self.s.report.result(name, shown);
        Ok(())
    }
}

/// Colours of frames.
const COLOURS: [[u8; 4]; 4] = [
    [255, 0, 0, 255],
    [0, 255, 0, 255],
    [51, 102, 204, 255],
    [255, 255, 255, 255],
];

/// More frames than images, by clears and copies.
unsafe fn frames(chain: &Chain<'_, '_>, window: &Window, name: &str) -> anyhow::Result<()> {
    for (number, colour) in (0..).zip(COLOURS) {
        let name = |kind| format!("{name}: {kind} {number}");
        chain.show(window, &name("solid"), Picture::Solid(colour))?;
        chain.show(window, &name("noise"), Picture::Noise(500 + number))?;
    }
    Ok(())
}

/// Every present mode, with few and with many images.
unsafe fn modes(s: &Scope<'_>) -> anyhow::Result<()> {
    let server = Server::start(&[])?;
    let (window, surface) = window(s, &server, 24, SIZE)?;
    let offered = surfaces(s).get_physical_device_surface_present_modes(s.gpu.physical, surface)?;
    let mut old = vk::SwapchainKHR::null();
    for mode in ALL_MODES {
        require(offered.contains(&mode), &format!("{mode:?}"))?;
        for images in [2, 5] {
            let plan = Plan {
                mode,
                images,
                ..Plan::new(SIZE)
            };
            let chain = Chain::new(s, surface, plan, old)?;
            old = chain.handle;
            frames(&chain, &window, &format!("{mode:?} with {images}"))?;
        }
    }
    Ok(())
}

/// Both formats of the visual: copies keep bytes, and clears encode.
unsafe fn formats(s: &Scope<'_>) -> anyhow::Result<()> {
    let server = Server::start(&[])?;
    let mut old = vk::SwapchainKHR::null();
    let (window, surface) = window(s, &server, 24, SIZE)?;
    for format in [UNORM, vk::Format::B8G8R8A8_SRGB] {
        let plan = Plan {
            format,
            ..Plan::new(SIZE)
        };
        let chain = Chain::new(s, surface, plan, old)?;
        old = chain.handle;
        let name = |kind| format!("{format:?}: {kind}");
        chain.show(&window, &name("noise"), Picture::Noise(510))?;
        // Ends of the scale are the same in both.
        for colour in [[255, 0, 255, 255], [0, 255, 0, 255]] {
            chain.show(&window, &name("solid"), Picture::Solid(colour))?;
        }
    }
    Ok(())
}

/// A window with alpha.
unsafe fn alpha(s: &Scope<'_>) -> anyhow::Result<()> {
    let server = Server::start(&[])?;
    let (window, surface) = window(s, &server, 32, SIZE)?;
    let capabilities =
        surfaces(s).get_physical_device_surface_capabilities(s.gpu.physical, surface)?;
    let premultiplied = vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED;
    ensure!(
        capabilities
            .supported_composite_alpha
            .contains(premultiplied)
    );
    let chain = Chain::new(s, surface, Plan::new(SIZE), vk::SwapchainKHR::null())?;
    frames(&chain, &window, "depth 32")
}

/// The window gets other sizes: the swapchain says so, and one of the new size fits again.
unsafe fn resize(s: &Scope<'_>) -> anyhow::Result<()> {
    let server = Server::start(&[])?;
    let (window, surface) = window(s, &server, 24, SIZE)?;
    let mut chain = Chain::new(s, surface, Plan::new(SIZE), vk::SwapchainKHR::null())?;
    frames(&chain, &window, "before")?;
    for size in [(320, 200), (64, 64), (33, 301)] {
        window.resize(size)?;
        let mut seen = false;
        for attempt in 0..20 {
            match chain.frame(Picture::Noise(520 + attempt))? {
                Ok(true) => continue,
                Ok(false) | Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => seen = true,
                Err(error) => bail!("{error}"),
            }
            break;
        }
        ensure!(seen, "the swapchain fits a window of another size");
        check_surface(s, surface, Some(size))?;
        chain = Chain::new(s, surface, Plan::new(size), chain.handle)?;
        frames(&chain, &window, &format!("{size:?}"))?;
    }
    Ok(())
}

/// The same through Xlib.
unsafe fn xlib(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::khr::swapchain::NAME)?;
    s.gpu.needs_of_instance(ash::khr::xlib_surface::NAME)?;
    let server = Server::start(&[])?;
    let window = server.window(24, 5, SIZE)?;
    let xlib = Xlib::open(server.name())?;
    let functions = ash::khr::xlib_surface::Instance::new(&s.gpu.entry, &s.gpu.instance);
    let supported = functions.get_physical_device_xlib_presentation_support(
        s.gpu.physical,
        s.gpu.family,
        xlib.raw(),
        server.visual(24)?,
    );
    ensure!(supported);
    let info = vk::XlibSurfaceCreateInfoKHR::default()
        .dpy(xlib.raw())
        .window(window.id.into());
    let surface = functions.create_xlib_surface(&info, None)?;
    let surface = keep(s, surface, (xlib, server));
    check_surface(s, surface, Some(SIZE))?;
    let chain = Chain::new(s, surface, Plan::new(SIZE), vk::SwapchainKHR::null())?;
    frames(&chain, &window, "Xlib")
}

/// A Wayland compositor gets every picture, in order, in each mode and with alpha.
unsafe fn wayland(s: &Scope<'_>) -> anyhow::Result<()> {
    on_wayland(s, DmaBufs::Unknown)
}

/// The same, through buffers that it imports, and through memory when it does not import them after all.
unsafe fn wayland_dma_buf(s: &Scope<'_>) -> anyhow::Result<()> {
    on_wayland(s, DmaBufs::Imported)?;
    on_wayland(s, DmaBufs::Refused)?;
    // A warning of the driver is no fault.
    let _ = s.gpu.take_messages();
    Ok(())
}

unsafe fn on_wayland(s: &Scope<'_>, dma_bufs: DmaBufs) -> anyhow::Result<()> {
    s.gpu.needs(ash::khr::swapchain::NAME)?;
    s.gpu.needs_of_instance(ash::khr::wayland_surface::NAME)?;
    let functions = ash::khr::wayland_surface::Instance::new(&s.gpu.entry, &s.gpu.instance);
    for (mode, blends) in [
        (vk::PresentModeKHR::FIFO, false),
        (vk::PresentModeKHR::MAILBOX, true),
    ] {
        let compositor = Arc::new(Compositor::start(dma_bufs)?);
        let supported = functions.get_physical_device_wayland_presentation_support(
            s.gpu.physical,
            s.gpu.family,
            &mut *compositor.display().cast(),
        );
        ensure!(supported);
        let info = vk::WaylandSurfaceCreateInfoKHR::default()
            .display(compositor.display())
            .surface(compositor.surface());
        let surface = functions.create_wayland_surface(&info, None)?;
        let surface = keep(s, surface, compositor.clone());
        check_surface(s, surface, None)?;
        let plan = Plan {
            mode,
            blends,
            images: 4,
            ..Plan::new(SIZE)
        };
        let chain = Chain::new(s, surface, plan, vk::SwapchainKHR::null())?;
        let format = match blends {
            true => wl_shm::Format::Argb8888,
            false => wl_shm::Format::Xrgb8888,
        };
        // More than there are buffers: those that are given back are used again.
        for number in 0..8 {
            let picture = Picture::Noise(590 + number as u32);
            let fits = chain.frame(picture)?;
            ensure!(fits == Ok(true), "{mode:?}: {fits:?}");
            let shown = compositor.await_pictures(number + 1)?;
            let shown = &shown[number];
            ensure!(shown.size == (SIZE.0.into(), SIZE.1.into()));
            ensure!(shown.format == format, "{:?}", shown.format);
            let shares = dma_bufs == DmaBufs::Imported && s.gpu.driver().starts_with("Cortland");
            ensure!(shown.in_dma_buf == shares);
            s.report.expect(
                &format!("{dma_bufs:?}: {mode:?}: {number}"),
                shown.pixels.clone(),
                &picture.bytes(plan.bytes()),
            )?;
        }
    }
    Ok(())
}

/// An X server gets every picture in a pixmap that it shares with the GPU; in requests when it imports none after all.
unsafe fn x11_dma_buf(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::khr::swapchain::NAME)?;
    s.gpu.needs_of_instance(ash::khr::xcb_surface::NAME)?;
    require(
        s.gpu.driver().starts_with("Cortland"),
        "buffers of a CPU are no dma-bufs",
    )?;
    let functions = ash::khr::xcb_surface::Instance::new(&s.gpu.entry, &s.gpu.instance);
    for dma_bufs in [DmaBufs::Imported, DmaBufs::Refused, DmaBufs::Unknown] {
        let server = Arc::new(SharingServer::start(dma_bufs, SIZE)?);
        let info = vk::XcbSurfaceCreateInfoKHR::default()
            .connection(server.raw())
            .window(server.window());
        let surface = functions.create_xcb_surface(&info, None)?;
        let surface = keep(s, surface, server.clone());
        check_surface(s, surface, Some(SIZE))?;
        let plan = Plan::new(SIZE);
        let chain = Chain::new(s, surface, plan, vk::SwapchainKHR::null())?;
        // More than there are pixmaps.
        for number in 0..8 {
            let picture = Picture::Noise(600 + number as u32);
            let fits = chain.frame(picture)?;
            ensure!(fits == Ok(true), "{dma_bufs:?}: {fits:?}");
            let shown = server.shown();
            ensure!(shown.len() == number + 1, "{} pictures", shown.len());
            let shown = &shown[number];
            ensure!(shown.in_dma_buf == (dma_bufs == DmaBufs::Imported));
            let expected = picture.bytes(plan.bytes());
            let name = format!("{dma_bufs:?}: {number}");
            s.report.check(&name, &shown.pixels, &expected)?;
        }
    }
    // A warning of the driver is no fault.
    let _ = s.gpu.take_messages();
    Ok(())
}

/// A server that shares no memory, with a picture of more than one request.
unsafe fn no_shared_memory(s: &Scope<'_>) -> anyhow::Result<()> {
    let server = Server::start(&["-extension", "MIT-SHM"])?;
    let size = (600, 400);
    let (window, surface) = window(s, &server, 24, size)?;
    let chain = Chain::new(s, surface, Plan::new(size), vk::SwapchainKHR::null())?;
    chain.show(&window, "noise", Picture::Noise(530))?;
    chain.show(&window, "solid", Picture::Solid(COLOURS[2]))
}

/// One present for two windows.
unsafe fn two_windows(s: &Scope<'_>) -> anyhow::Result<()> {
    let server = Server::start(&[])?;
    let sizes = [(100, 60), (90, 70)];
    let (first, surface) = window(s, &server, 24, sizes[0])?;
    let one = Chain::new(s, surface, Plan::new(sizes[0]), vk::SwapchainKHR::null())?;
    let server = Server::start(&[])?;
    let (second, surface) = window(s, &server, 24, sizes[1])?;
    let two = Chain::new(s, surface, Plan::new(sizes[1]), vk::SwapchainKHR::null())?;
    for seed in 540..546 {
        let images = [one.acquire()?.0, two.acquire()?.0];
        one.draw(images[0], Picture::Noise(seed))?;
        two.draw(images[1], Picture::Noise(seed + 10))?;
        let (waits, chains) = ([one.drawn, two.drawn], [one.handle, two.handle]);
        let mut results = [vk::Result::ERROR_UNKNOWN; 2];
        let info = vk::PresentInfoKHR::default()
            .wait_semaphores(&waits)
            .swapchains(&chains)
            .image_indices(&images)
            .results(&mut results);
        one.functions.queue_present(s.gpu.queue, &info)?;
        ensure!(results == [vk::Result::SUCCESS; 2], "{results:?}");
        s.device().queue_wait_idle(s.gpu.queue)?;
        let expected = |chain: &Chain<'_, '_>, seed| bytes(seed, chain.plan.bytes());
        first.await_pixels(sizes[0], &expected(&one, seed))?;
        second.await_pixels(sizes[1], &expected(&two, seed + 10))?;
    }
    s.report.result("first", first.pixels(sizes[0])?);
    s.report.result("second", second.pixels(sizes[1])?);
    Ok(())
}

/// Acquiring with a fence, through both commands.
unsafe fn acquire(s: &Scope<'_>) -> anyhow::Result<()> {
    let server = Server::start(&[])?;
    let (window, surface) = window(s, &server, 24, SIZE)?;
    let chain = Chain::new(s, surface, Plan::new(SIZE), vk::SwapchainKHR::null())?;
    for (number, newer) in (0..).zip([false, true, true, false]) {
        let fence = s.fence(vk::FenceCreateFlags::empty())?;
        let (image, _) = if newer {
            let info = vk::AcquireNextImageInfoKHR::default()
                .swapchain(chain.handle)
                .timeout(TIMEOUT)
                .semaphore(chain.acquired)
                .fence(fence)
                .device_mask(1);
            chain.functions.acquire_next_image2(&info)?
        } else {
            let (semaphore, handle) = (chain.acquired, chain.handle);
            chain
                .functions
                .acquire_next_image(handle, TIMEOUT, semaphore, fence)?
        };
        s.wait(&[fence])?;
        let picture = Picture::Noise(560 + number);
        chain.draw(image, picture)?;
        ensure!(chain.present(image)?);
        s.device().queue_wait_idle(s.gpu.queue)?;
        let expected = picture.bytes(chain.plan.bytes());
        window.await_pixels(SIZE, &expected)?;
    }
    s.report.result("last", window.pixels(SIZE)?);
    Ok(())
}

/// The window is destroyed under its surface: an error, and no crash.
unsafe fn lost(s: &Scope<'_>) -> anyhow::Result<()> {
    let server = Server::start(&[])?;
    let (window, surface) = window(s, &server, 24, SIZE)?;
    window.destroy()?;
    let asked = surfaces(s).get_physical_device_surface_capabilities(s.gpu.physical, surface);
    // What the driver says of that is no fault.
    let _ = s.gpu.take_messages();
    let asked = asked.map(drop);
    ensure!(
        asked == Err(vk::Result::ERROR_SURFACE_LOST_KHR),
        "{asked:?}"
    );
    Ok(())
}

pub(super) unsafe fn headless_surface(s: &Scope<'_>) -> anyhow::Result<vk::SurfaceKHR> {
    s.gpu.needs(ash::khr::swapchain::NAME)?;
    s.gpu.needs_of_instance(ash::ext::headless_surface::NAME)?;
    let functions = ash::ext::headless_surface::Instance::new(&s.gpu.entry, &s.gpu.instance);
    let info = vk::HeadlessSurfaceCreateInfoEXT::default();
    let surface = keep(s, functions.create_headless_surface(&info, None)?, ());
    check_surface(s, surface, None)?;
    Ok(surface)
}

/// Without a window, all modes and formats; images run out and come back.
unsafe fn headless(s: &Scope<'_>) -> anyhow::Result<()> {
    let surface = headless_surface(s)?;
    let formats = surfaces(s).get_physical_device_surface_formats(s.gpu.physical, surface)?;
    let mut old = vk::SwapchainKHR::null();
    for (mode, format) in ALL_MODES
        .iter()
        .flat_map(|mode| formats.iter().map(move |format| (*mode, format.format)))
    {
        let plan = Plan {
            mode,
            format,
            images: 3,
            ..Plan::new(SIZE)
        };
        let chain = Chain::new(s, surface, plan, old)?;
        old = chain.handle;
        for seed in 0..7 {
            let fits = chain.frame(Picture::Noise(570 + seed))?;
            ensure!(fits == Ok(true), "{mode:?}: {fits:?}");
        }
        // All images but those that the surface may keep.
        let mut taken = Vec::new();
        let result = loop {
            let fence = s.fence(vk::FenceCreateFlags::empty())?;
            let none = vk::Semaphore::null();
            match chain
                .functions
                .acquire_next_image(chain.handle, 0, none, fence)
            {
                Ok((image, _)) => {
                    s.wait(&[fence])?;
                    ensure!(!taken.contains(&image), "image {image} twice");
                    taken.push(image);
                }
                Err(result) => break result,
            }
            ensure!(taken.len() <= chain.images.len());
        };
        ensure!(result == vk::Result::NOT_READY, "{result:?}");
        let min = 2;
        ensure!(taken.len() > chain.images.len() - min);
    }
    Ok(())
}

/// An image of the application's that is bound to a swapchain's memory sees what is drawn there.
unsafe fn bound(s: &Scope<'_>) -> anyhow::Result<()> {
    let surface = headless_surface(s)?;
    let plan = Plan::new(SIZE);
    let chain = Chain::new(s, surface, plan, vk::SwapchainKHR::null())?;
    let (index, _) = chain.acquire()?;
    let mut of = vk::ImageSwapchainCreateInfoKHR::default().swapchain(chain.handle);
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(plan.format)
        .extent(plan.extent().into())
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(vk::ImageTiling::OPTIMAL)
        .usage(vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC)
        .push_next(&mut of);
    let image = s.device().create_image(&info, None)?;
    s.at_end(move |device| device.destroy_image(image, None));
    let mut to = vk::BindImageMemorySwapchainInfoKHR::default()
        .swapchain(chain.handle)
        .image_index(index);
    let bind = vk::BindImageMemoryInfo::default()
        .image(image)
        .push_next(&mut to);
    s.device().bind_image_memory2(&[bind])?;
    let picture = Picture::Noise(580);
    chain.draw(index, picture)?;
    let back = s.buffer(plan.bytes() as u64)?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    s.barrier(commands);
    let source = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
    chain.layout(commands, image, vk::ImageLayout::PRESENT_SRC_KHR, source);
    let region = vk::BufferImageCopy::default()
        .image_subresource(vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: 0,
            base_array_layer: 0,
            layer_count: 1,
        })
        .image_extent(plan.extent().into());
    s.barrier(commands);
    s.device()
        .cmd_copy_image_to_buffer(commands, image, source, back.handle, &[region]);
    s.finish(commands)?;
    s.report.expect(
        "through the bound image",
        back.bytes(),
        &picture.bytes(plan.bytes()),
    )
}
