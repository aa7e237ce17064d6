// SPDX-License-Identifier: MIT
//! Resolves on the simulated GPU, of samples that the CPU puts into memory and by what it makes of them.

use std::slice::from_ref;

use agx_hw::layout::Position;
use ash::vk;

use super::*;
use crate::testing::Driver;

const COLOUR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const DEPTH: vk::ImageAspectFlags = vk::ImageAspectFlags::DEPTH;
const STENCIL: vk::ImageAspectFlags = vk::ImageAspectFlags::STENCIL;
const WIDTH: u32 = 45;
const HEIGHT: u32 = 37;
const LAYERS: u32 = 2;

/// An image with its memory in the CPU's sight.
pub(in crate::command) struct Sight {
    pub(in crate::command) image: vk::Image,
    view: vk::ImageView,
    memory: vk::DeviceMemory,
    start: *mut u8,
}

pub(in crate::command) fn driver() -> Driver {
    let queue = vk::DeviceQueueCreateInfo::default().queue_priorities(&[0.5]);
    let info = vk::DeviceCreateInfo::default();
    Driver::with(&info.queue_create_infos(from_ref(&queue)), None)
}

impl Sight {
    pub(in crate::command) fn new(
        driver: &Driver,
        format: vk::Format,
        aspect: vk::ImageAspectFlags,
        samples: vk::SampleCountFlags,
    ) -> Sight {
        let device = &driver.device;
        let usage = match aspect {
            COLOUR => vk::ImageUsageFlags::COLOR_ATTACHMENT,
            _ => vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        };
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D {
                width: WIDTH,
                height: HEIGHT,
                depth: 1,
            })
            .mip_levels(1)
            .array_layers(LAYERS)
            .samples(samples)
            .usage(usage);
        // SAFETY: valid structures and live handles.
        unsafe {
            let image = device.create_image(&info, None).expect("an image");
            let needs = device.get_image_memory_requirements(image);
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size);
            let memory = device.allocate_memory(&info, None).expect("memory");
            let flags = vk::MemoryMapFlags::empty();
            let start = device
                .map_memory(memory, 0, vk::WHOLE_SIZE, flags)
                .expect("mapped");
            start.cast::<u8>().write_bytes(0, needs.size as usize);
            device.bind_image_memory(image, memory, 0).expect("bound");
            let info = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D_ARRAY)
                .format(format)
                .subresource_range(vk::ImageSubresourceRange {
                    aspect_mask: aspect,
                    level_count: 1,
                    layer_count: LAYERS,
                    ..Default::default()
                });
            Sight {
                image,
                view: device.create_image_view(&info, None).expect("a view"),
                memory,
                start: start.cast(),
            }
        }
    }

    /// A sample of a plane.
    pub(in crate::command) fn at<const SIZE: usize>(
        &self,
        aspect: vk::ImageAspectFlags,
        [x, y, layer]: [u32; 3],
        sample: u8,
    ) -> *mut [u8; SIZE] {
        // SAFETY: a live image.
        let image = unsafe { object::get::<Image>(self.image) };
        let plane = image.plane(aspect).expect("the aspect");
        assert_eq!(usize::from(plane.format.element().bytes), SIZE);
        let offset = plane.memory.offset(Position {
            x,
            y,
            layer,
            sample,
            level: 0,
        });
        let offset = plane.offset + offset.expect("inside");
        // SAFETY: inside of the image's memory.
        unsafe { self.start.add(offset as usize).cast() }
    }

    pub(in crate::command) fn destroy(self, driver: &Driver) {
        // SAFETY: nothing uses them any more.
        unsafe {
            driver.device.destroy_image_view(self.view, None);
            driver.device.destroy_image(self.image, None);
            driver.device.free_memory(self.memory, None);
        }
    }
}

/// Records and runs.
pub(in crate::command) fn run(driver: &Driver, record: impl FnOnce(vk::CommandBuffer)) {
    let device = &driver.device;
    // SAFETY: valid structures; everything is destroyed when it is not in use any more.
    unsafe {
        let pool = vk::CommandPoolCreateInfo::default();
        let pool = device.create_command_pool(&pool, None).expect("a pool");
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        let buffer = device.allocate_command_buffers(&info).expect("one")[0];
        let begin = vk::CommandBufferBeginInfo::default();
        device.begin_command_buffer(buffer, &begin).expect("begun");
        record(buffer);
        device.end_command_buffer(buffer).expect("recorded");
        let fence = device.create_fence(&vk::FenceCreateInfo::default(), None);
        let fence = fence.expect("a fence");
        let queue = device.get_device_queue(0, 0);
        let info = vk::CommandBufferSubmitInfo::default().command_buffer(buffer);
        let submit = vk::SubmitInfo2::default().command_buffer_infos(from_ref(&info));
        device.queue_submit2(queue, &[submit], fence).expect("sent");
        device
            .wait_for_fences(&[fence], true, u64::MAX)
            .expect("run");
        device.destroy_fence(fence, None);
        device.destroy_command_pool(pool, None);
    }
}

/// Bytes that depend on the place, the sample and nothing else.
pub(in crate::command) fn noise([x, y, layer]: [u32; 3], sample: u32) -> u32 {
    let mut word = x | y << 8 | layer << 16 | sample << 24;
    for _ in 0..3 {
        word = (word ^ word >> 15).wrapping_mul(0x2c1b_3c6d);
    }
    word ^ word >> 13
}

pub(in crate::command) fn places() -> impl Iterator<Item = [u32; 3]> {
    let layer = |layer| {
        let row = move |y| (0..WIDTH).map(move |x| [x, y, layer]);
        (0..HEIGHT).flat_map(row)
    };
    (0..LAYERS).flat_map(layer)
}

/// An area that is not all, and begins inside of a tile.
const AREA: vk::Rect2D = vk::Rect2D {
    offset: vk::Offset2D { x: 3, y: 5 },
    extent: vk::Extent2D {
        width: 40,
        height: 29,
    },
};

fn is_inside_area([x, y, _]: [u32; 3]) -> bool {
    (3..43).contains(&x) && (5..34).contains(&y)
}

/// Resolves an aspect of views. `put` makes the bytes of a sample, `check` compares a resolved one with those that it
/// is made of; what is outside of the area is to stay.
fn resolve_views<const SIZE: usize>(
    format: vk::Format,
    aspect: vk::ImageAspectFlags,
    mode: vk::ResolveModeFlags,
    put: impl Fn(u32) -> [u8; SIZE],
    check: impl Fn(&[[u8; SIZE]], [u8; SIZE]) -> bool,
) {
    let driver = driver();
    for samples in [2, 4] {
        let all = match format {
            vk::Format::D32_SFLOAT_S8_UINT => DEPTH | STENCIL,
            _ => aspect,
        };
        let flags = vk::SampleCountFlags::from_raw(samples);
        let from = Sight::new(&driver, format, all, flags);
        let to = Sight::new(&driver, format, all, vk::SampleCountFlags::TYPE_1);
        for place in places() {
            for sample in 0..samples {
                let value = put(noise(place, sample));
                // SAFETY: in sight, and nothing else looks.
                unsafe { from.at::<SIZE>(aspect, place, sample as u8).write(value) };
            }
        }
        run(&driver, |buffer| {
            // SAFETY: being recorded.
            let this = unsafe { object::get_mut::<CommandBuffer>(buffer) };
            // SAFETY: live views.
            let views = unsafe { (object::get(from.view), object::get(to.view)) };
            let resolved = this.resolve([views.0, views.1], aspect, AREA, LAYERS, 0, mode);
            resolved.expect("recorded");
        });
        for place in places() {
            // SAFETY: in sight, and everything has ended.
            let got = unsafe { to.at::<SIZE>(aspect, place, 0).read() };
            if !is_inside_area(place) {
                assert_eq!(got, [0; SIZE], "{place:?} is outside");
                continue;
            }
            let of: Vec<_> = (0..samples)
                .map(|sample| put(noise(place, sample)))
                .collect();
            assert!(
                check(&of, got),
                "{format:?} {mode:?} at {place:?}: {got:?} of {of:?}"
            );
        }
        from.destroy(&driver);
        to.destroy(&driver);
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

#[test]
fn colours_are_averaged() {
    let mode = vk::ResolveModeFlags::AVERAGE;
    let near = |of: &[[u8; 4]], got: [u8; 4], decode: &dyn Fn(usize, u8) -> f64, step: f64| {
        (0..4).all(|at| {
            let expected = mean(of.iter().map(|bytes| decode(at, bytes[at])));
            (decode(at, got[at]) - expected).abs() <= step
        })
    };
    resolve_views(
        vk::Format::B8G8R8A8_UNORM,
        COLOUR,
        mode,
        u32::to_le_bytes,
        // To the nearest, ties either way.
        |of, got| near(of, got, &|_, byte| f64::from(byte), 0.5),
    );
    let linear = |at: usize, byte: u8| {
        let value = f64::from(byte) / 255.0;
        match (at, value <= 0.04045) {
            (3, _) => value,
            (_, true) => value / 12.92,
            _ => ((value + 0.055) / 1.055).powf(2.4),
        }
    };
    resolve_views(
        vk::Format::R8G8B8A8_SRGB,
        COLOUR,
        mode,
        u32::to_le_bytes,
        // The curve's steps are this large at most.
        |of, got| near(of, got, &linear, 2.3 / 255.0),
    );
    let float = |word: u32| (word >> 8) as f32 / 65536.0 - 100.0;
    resolve_views(
        vk::Format::R32_SFLOAT,
        COLOUR,
        mode,
        |word| float(word).to_le_bytes(),
        |of, got| {
            let expected = mean(of.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))));
            (f64::from(f32::from_le_bytes(got)) - expected).abs() <= 1e-4
        },
    );
}

#[test]
fn integers_are_those_of_the_first_sample() {
    for format in [vk::Format::R32_UINT, vk::Format::R16G16_SINT] {
        resolve_views(
            format,
            COLOUR,
            vk::ResolveModeFlags::SAMPLE_ZERO,
            u32::to_le_bytes,
            |of, got| got == of[0],
        );
    }
}

#[test]
fn depth_and_stencil_have_modes() {
    let depth = |word: u32| ((word >> 8) as f32 / 16_777_216.0).to_le_bytes();
    let value = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes);
    let format = vk::Format::D32_SFLOAT_S8_UINT;
    let (zero, min, max) = (
        vk::ResolveModeFlags::SAMPLE_ZERO,
        vk::ResolveModeFlags::MIN,
        vk::ResolveModeFlags::MAX,
    );
    resolve_views(format, DEPTH, zero, depth, |of, got| got == of[0]);
    resolve_views(format, DEPTH, min, depth, |of, got| {
        value(&got) == of.iter().map(value).fold(f32::INFINITY, f32::min)
    });
    resolve_views(format, DEPTH, max, depth, |of, got| {
        value(&got) == of.iter().map(value).fold(f32::NEG_INFINITY, f32::max)
    });
    let average = vk::ResolveModeFlags::AVERAGE;
    resolve_views(format, DEPTH, average, depth, |of, got| {
        let mean = of.iter().map(value).sum::<f32>() / of.len() as f32;
        (value(&got) - mean).abs() < 1.0e-6
    });
    let byte = |word: u32| [word as u8];
    resolve_views(format, STENCIL, zero, byte, |of, got| got == of[0]);
    resolve_views(format, STENCIL, min, byte, |of, got| {
        Some(&got) == of.iter().min()
    });
    resolve_views(format, STENCIL, max, byte, |of, got| {
        Some(&got) == of.iter().max()
    });
    let short = |word: u32| (word as u16).to_le_bytes();
    resolve_views(vk::Format::D16_UNORM, DEPTH, max, short, |of, got| {
        let most = of.iter().map(|bytes| u16::from_le_bytes(*bytes)).max();
        Some(u16::from_le_bytes(got)) == most
    });
}

/// vkCmdResolveImage, from one place to another and from one layer to another.
#[test]
fn images_are_resolved_in_parts() {
    let driver = driver();
    let format = vk::Format::R8_UNORM;
    let from = Sight::new(&driver, format, COLOUR, vk::SampleCountFlags::TYPE_4);
    let to = Sight::new(&driver, format, COLOUR, vk::SampleCountFlags::TYPE_1);
    for place in places() {
        for sample in 0..4 {
            let value = [noise(place, sample) as u8];
            // SAFETY: in sight, and nothing else looks.
            unsafe { from.at::<1>(COLOUR, place, sample as u8).write(value) };
        }
    }
    let layer = |base_array_layer| vk::ImageSubresourceLayers {
        aspect_mask: COLOUR,
        mip_level: 0,
        base_array_layer,
        layer_count: 1,
    };
    let region = vk::ImageResolve {
        src_subresource: layer(0),
        src_offset: vk::Offset3D { x: 2, y: 7, z: 0 },
        dst_subresource: layer(1),
        dst_offset: vk::Offset3D { x: 11, y: 1, z: 0 },
        extent: vk::Extent3D {
            width: 33,
            height: 30,
            depth: 1,
        },
    };
    // What reaches outside is left out.
    let outside = vk::ImageResolve {
        extent: vk::Extent3D {
            width: 35,
            ..region.extent
        },
        dst_subresource: layer(0),
        ..region
    };
    let general = vk::ImageLayout::GENERAL;
    run(&driver, |buffer| {
        let regions = [region, outside];
        // SAFETY: live images.
        unsafe {
            let device = &driver.device;
            device.cmd_resolve_image(buffer, from.image, general, to.image, general, &regions);
        }
    });
    for place in places() {
        // SAFETY: in sight, and everything has ended.
        let [got] = unsafe { to.at::<1>(COLOUR, place, 0).read() };
        let [x, y, layer] = place;
        if layer != 1 || !(11..44).contains(&x) || !(1..31).contains(&y) {
            assert_eq!(got, 0, "{place:?} is outside");
            continue;
        }
        let of = (0..4).map(|sample| f64::from(noise([x - 9, y + 6, 0], sample) as u8));
        let expected = mean(of);
        assert!(
            (f64::from(got) - expected).abs() <= 0.5,
            "{place:?}: {got}, not {expected}"
        );
    }
    from.destroy(&driver);
    to.destroy(&driver);
}
