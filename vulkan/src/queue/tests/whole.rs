// SPDX-License-Identifier: MIT
//! Command buffers on the simulated GPU, with what this part of the driver gives them.

use std::slice::from_ref;

use ash::vk;

use crate::testing::Driver;

/// A command buffer that `record` filled, run to its end.
fn run(driver: &Driver, record: impl FnOnce(vk::CommandBuffer)) {
    let device = &driver.device;
    // SAFETY: valid structures; everything is destroyed when it is not in use any more.
    unsafe {
        let pool = device
            .create_command_pool(&vk::CommandPoolCreateInfo::default(), None)
            .unwrap();
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        let buffer = device.allocate_command_buffers(&info).unwrap()[0];
        device
            .begin_command_buffer(buffer, &vk::CommandBufferBeginInfo::default())
            .unwrap();
        record(buffer);
        device.end_command_buffer(buffer).unwrap();
        let fence = device
            .create_fence(&vk::FenceCreateInfo::default(), None)
            .unwrap();
        let queue = device.get_device_queue(0, 0);
        let info = vk::CommandBufferSubmitInfo::default().command_buffer(buffer);
        let submit = vk::SubmitInfo2::default().command_buffer_infos(from_ref(&info));
        device.queue_submit2(queue, &[submit], fence).unwrap();
        device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
        device.destroy_fence(fence, None);
        device.destroy_command_pool(pool, None);
    }
}

fn driver() -> Driver {
    let queue = vk::DeviceQueueCreateInfo::default().queue_priorities(&[0.5]);
    let info = vk::DeviceCreateInfo::default();
    Driver::with(&info.queue_create_infos(from_ref(&queue)), None)
}

#[test]
fn command_buffers_set_and_reset_events() {
    let driver = driver();
    let device = &driver.device;
    // SAFETY: valid structures; destroyed when not in use any more.
    unsafe {
        let info = vk::EventCreateInfo::default();
        let events = [(); 3].map(|()| device.create_event(&info, None).unwrap());
        device.set_event(events[1]).unwrap();
        run(&driver, |buffer| {
            let stage = vk::PipelineStageFlags::COMPUTE_SHADER;
            device.cmd_set_event(buffer, events[0], stage);
            device.cmd_reset_event(buffer, events[1], stage);
        });
        let set = events.map(|event| device.get_event_status(event).unwrap());
        assert_eq!(set, [true, false, false]);
        for event in events {
            device.destroy_event(event, None);
        }
    }
}

#[test]
fn command_buffers_write_timestamps_and_reset_them() {
    let driver = driver();
    let device = &driver.device;
    // SAFETY: valid structures; destroyed when not in use any more.
    unsafe {
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(80);
        let pool = device.create_query_pool(&info, None).unwrap();
        let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
        // More segments than a submit of the kernel takes.
        run(&driver, |buffer| {
            for query in 0..80 {
                device.cmd_write_timestamp(buffer, stage, pool, query);
            }
        });
        let flags = vk::QueryResultFlags::TYPE_64;
        let mut times = [0u64; 80];
        device
            .get_query_pool_results(pool, 0, &mut times, flags)
            .unwrap();
        assert!(times.is_sorted(), "{times:?}");
        run(&driver, |buffer| {
            device.cmd_reset_query_pool(buffer, pool, 1, 78);
            device.cmd_write_timestamp(buffer, stage, pool, 40);
        });
        let flags = flags | vk::QueryResultFlags::WITH_AVAILABILITY;
        let mut pairs = [[7u64; 2]; 80];
        let result = device.get_query_pool_results(pool, 0, &mut pairs, flags);
        assert_eq!(result, Err(vk::Result::NOT_READY));
        for (query, pair) in pairs.iter().enumerate() {
            match query {
                0 | 79 => assert_eq!(*pair, [times[query], 1]),
                40 => assert!(pair[0] > times[79] && pair[1] == 1),
                _ => assert_eq!(*pair, [7, 0]),
            }
        }
        device.destroy_query_pool(pool, None);
    }
}
