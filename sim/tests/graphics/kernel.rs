// SPDX-License-Identifier: MIT
//! The whole way: a render command through the kernel's interface, and back as pixels and times.

use std::sync::Arc;
use std::time::Duration;

use agx_hw::format::Format;
use agx_hw::launcher::Samples;
use agx_hw::layout::Position;
use agx_sim::config::SimConfig;
use agx_sim::kernel::SimDevice;
use agx_uapi::abi::{Timestamp, limits};
use agx_uapi::command::{Barriers, CommandBuffer};
use agx_uapi::{Access, Bind, Caching, Kernel, Mapping, Priority, Submit, SyncPoint, WaitFlags};

use crate::depth::{cover, draw_of};
use crate::shaders;
use crate::studio::{Memory, Studio, gpu};

fn read(mapping: &Mapping, offset: usize) -> u64 {
    assert!(offset + 8 <= mapping.len());
    // SAFETY: inside the mapping; who wrote it has been waited for.
    unsafe { mapping.as_ptr().add(offset).cast::<u64>().read_unaligned() }
}

#[test]
fn a_render_command_through_the_kernel() {
    let mut studio = Studio::with_images([40, 40], Samples::One, 4, 0x1_0000);
    let image = studio.image(Format::from_name("R32_UINT").unwrap());
    studio.tile_programs(&[3], &[(&image, 0)]);
    let fragment = shaders::constant(&mut studio, 7);
    let mut corners = cover(0.5, [0.0; 4]);
    corners[1].position[0] = 0.0;
    corners[2].position[0] = -1.0;
    let setup = draw_of(&mut studio, &corners, fragment);
    studio.draw(&setup);
    let mut render = studio.finish().render;

    let device = SimDevice::new(SimConfig::m4(), Arc::new(gpu(2)));
    let kernel = device.kernel();
    let vm = kernel.vm_create(limits::KERNEL_WINDOW).unwrap();
    let mut images = None;
    for memory in studio.all() {
        let Memory {
            va, ref bo, write, ..
        } = *memory;
        let size = bo.size();
        let gem = kernel.gem_create(size, Caching::WriteBack, None).unwrap();
        let mapping = kernel.gem_map(gem, size as usize).unwrap();
        let bytes = memory.read(va, size as usize);
        // SAFETY: the mapping is as long, and nothing else uses it yet.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), mapping.as_ptr(), bytes.len()) };
        let access = if write {
            Access::ReadWrite
        } else {
            Access::Read
        };
        let bind = Bind::Object {
            addr: va,
            size,
            gem,
            offset: 0,
            access,
        };
        kernel.vm_bind(vm, &[bind]).unwrap();
        if va == studio.images.va {
            images = Some(mapping);
        }
    }
    let images = images.unwrap();
    let times = kernel.gem_create(0x4000, Caching::WriteBack, None).unwrap();
    let times_mapping = kernel.gem_map(times, 0x4000).unwrap();
    let object = kernel.timestamp_bind(times, 0..0x4000).unwrap().raw();
    let slot = |offset| Timestamp {
        handle: object,
        offset,
    };
    render.ts_vtx.start = slot(0);
    render.ts_vtx.end = slot(8);
    render.ts_frag.start = slot(16);
    render.ts_frag.end = slot(24);
    let mut commands = CommandBuffer::new();
    commands.render(Barriers::NONE, &render).unwrap();
    let queue = kernel.queue_create(vm, Priority::Medium).unwrap();
    let done = kernel.syncobj_create(false).unwrap();
    let before = kernel.time().unwrap();
    kernel
        .submit(&Submit {
            queue,
            waits: &[],
            signals: &[SyncPoint::Binary(done)],
            commands: commands.as_bytes(),
        })
        .unwrap();
    let patience = agx_uapi::Deadline::after(Duration::from_secs(60));
    kernel
        .syncobj_wait(&[done], WaitFlags::ALL, patience)
        .unwrap();
    let after = kernel.time().unwrap();
    assert!(device.last_fault().is_none(), "{:?}", device.last_fault());
    let written: Vec<u64> = [0, 8, 16, 24].map(|at| read(&times_mapping, at)).to_vec();
    let times = [&[before], &written[..], &[after]].concat();
    assert!(times.is_sorted() && times[1] > 0, "{times:?}");
    for (x, y) in [(0, 0), (5, 30), (39, 0), (39, 39)] {
        let at = Position {
            x,
            y,
            ..Position::default()
        };
        let offset = image.address - studio.images.va + image.layout.offset(at).unwrap();
        let pixel = read(&images, offset as usize & !7) >> (offset % 8 * 8) as u32;
        let expected = if x < 20 && (x, y) != (39, 39) { 7 } else { 3 };
        assert_eq!(pixel as u32, expected, "{x} {y}");
    }
}
