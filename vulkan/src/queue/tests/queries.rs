// SPDX-License-Identifier: MIT
//! Timestamps that firmware writes, events, and clocks.

use ash::vk;

use super::rig::Rig;
use crate::event::{self, Event};
use crate::query_pool::{self, QueryPool};
use crate::{calibration, object};

const OK: vk::Result = vk::Result::SUCCESS;
const LOST: vk::Result = vk::Result::ERROR_DEVICE_LOST;
const NOT_READY: vk::Result = vk::Result::NOT_READY;

type Flags = vk::QueryResultFlags;

/// A query that a command stamps.
type Stamped = Option<(vk::QueryPool, u32)>;

impl Rig {
    fn pool_of(&self, kind: vk::QueryType, count: u32) -> Result<vk::QueryPool, vk::Result> {
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(kind)
            .query_count(count);
        let mut pool = vk::QueryPool::null();
        // SAFETY: valid arguments.
        let result = unsafe {
            query_pool::create_query_pool(
                self.device,
                &raw const info,
                std::ptr::null(),
                &raw mut pool,
            )
        };
        result.result_with_success(pool)
    }

    fn pool(&self, count: u32) -> vk::QueryPool {
        self.pool_of(vk::QueryType::TIMESTAMP, count).unwrap()
    }

    fn destroy_pool(&self, pool: vk::QueryPool) {
        // SAFETY: not used any more.
        unsafe { query_pool::destroy_query_pool(self.device, pool, std::ptr::null()) };
    }

    /// Runs commands with stamps at their begin or end.
    fn run(&self, commands: &[(u64, Stamped, Stamped)]) {
        // SAFETY: live by the test's doing.
        let stamp = |(pool, query)| unsafe { object::get::<QueryPool>(pool) }.stamp(query);
        let mut batches = self.queue().batches();
        batches.begin(false).unwrap();
        for (n, begun, ended) in commands {
            let mut segment = self.segment(*n);
            segment.begun = begun.map(stamp);
            segment.ended = ended.map(stamp);
            batches.segment(&segment).unwrap();
        }
        // SAFETY: no fence.
        unsafe { self.queue().finish(batches, vk::Fence::null()) }.unwrap();
    }

    /// Results into memory full of `fill`.
    fn results<T: Copy>(
        &self,
        pool: vk::QueryPool,
        queries: std::ops::Range<u32>,
        fill: T,
        per_query: usize,
        flags: Flags,
    ) -> (vk::Result, Vec<T>) {
        let mut data = vec![fill; per_query * queries.len()];
        // SAFETY: the data is as large as the size says.
        let result = unsafe {
            query_pool::get_query_pool_results(
                self.device,
                pool,
                queries.start,
                queries.len() as u32,
                size_of_val(&*data),
                data.as_mut_ptr().cast(),
                (per_query * size_of::<T>()) as u64,
                flags,
            )
        };
        (result, data)
    }

    fn reset_queries(&self, pool: vk::QueryPool, first: u32, count: u32) {
        // SAFETY: live by the test's doing.
        unsafe { query_pool::reset_query_pool(self.device, pool, first, count) };
    }
}

#[test]
fn timestamps_come_in_the_order_of_commands() {
    let rig = Rig::new();
    let pool = rig.pool(200);
    let before = rig.device().kernel.time().unwrap();
    let commands: Vec<_> = (0..100)
        .map(|n| {
            (
                n,
                Some((pool, 2 * n as u32)),
                Some((pool, 2 * n as u32 + 1)),
            )
        })
        .collect();
    rig.run(&commands);
    let (result, times) = rig.results(pool, 0..200, 0u64, 1, Flags::TYPE_64 | Flags::WAIT);
    let after = rig.device().kernel.time().unwrap();
    assert_eq!(result, OK);
    assert!(before <= times[0] && times[199] <= after);
    assert!(times.is_sorted(), "{times:?}");
    rig.destroy_pool(pool);
}

#[test]
fn results_in_every_form() {
    let rig = Rig::new();
    let pool = rig.pool(4);
    rig.run(&[(0, Some((pool, 1)), Some((pool, 2)))]);
    assert_eq!(rig.idle(), OK);
    let (result, wide) = rig.results(pool, 0..4, 7u64, 1, Flags::TYPE_64);
    assert_eq!((result, wide[0], wide[3]), (NOT_READY, 7, 7));
    assert!(wide[1] > 7 && wide[2] >= wide[1]);
    // Of an available one the availability tells, of the others nothing else is written.
    let flags = Flags::TYPE_64 | Flags::WITH_AVAILABILITY;
    let (result, pairs) = rig.results(pool, 0..4, 7u64, 2, flags);
    assert_eq!(result, NOT_READY);
    assert_eq!(pairs, [7, 0, wide[1], 1, wide[2], 1, 7, 0]);
    let (result, narrow) = rig.results(pool, 1..3, 7u32, 1, Flags::empty());
    assert_eq!(result, OK);
    assert_eq!(narrow, [wide[1] as u32, wide[2] as u32]);
    let (result, pairs) = rig.results(
        pool,
        0..2,
        7u32,
        2,
        Flags::WITH_AVAILABILITY | Flags::PARTIAL,
    );
    assert_eq!((result, pairs), (NOT_READY, vec![0, 0, wide[1] as u32, 1]));
    rig.reset_queries(pool, 1, 1);
    let (result, wide) = rig.results(pool, 1..3, 0u64, 1, Flags::TYPE_64);
    assert_eq!((result, wide[0]), (NOT_READY, 0));
    assert_ne!(wide[1], 0);
    // What the GPU sees is what the host reset.
    let bytes = |query| {
        // SAFETY: live by the test's doing.
        let pool = unsafe { object::get::<QueryPool>(pool) };
        (pool.address(query), pool.stamp(query).offset)
    };
    assert_eq!(bytes(3).0 - bytes(0).0, 24);
    assert_eq!(bytes(3).1 - bytes(0).1, 24);
    rig.destroy_pool(pool);
}

#[test]
fn a_wait_for_results_lasts_until_they_are_there() {
    let rig = Rig::new();
    let pool = rig.pool(1);
    rig.close(0);
    let flags = Flags::TYPE_64 | Flags::WAIT;
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| rig.results(pool, 0..1, 0u64, 1, flags));
        rig.run(&[(0, None, Some((pool, 0)))]);
        rig.open(0);
        let (result, times) = waiting.join().unwrap();
        assert_eq!(result, OK);
        assert_ne!(times[0], 0);
    });
    rig.destroy_pool(pool);
}

#[test]
fn a_wait_for_results_ends_with_the_device() {
    let rig = Rig::new();
    let pool = rig.pool(2);
    rig.fail(0);
    rig.run(&[(0, None, Some((pool, 0)))]);
    let flags = Flags::TYPE_64 | Flags::WAIT;
    assert_eq!(rig.results(pool, 1..2, 0u64, 1, flags).0, LOST);
    assert_eq!(rig.results(pool, 1..2, 0u64, 1, Flags::TYPE_64).0, LOST);
    rig.destroy_pool(pool);
}

/// Pools are cut from buffers that are bound once: 64 MiB are all that there is, and the kernel
/// does not take them back (kernel-uapi, 9).
#[test]
fn pools_come_and_go_without_using_up_the_aperture() {
    let rig = Rig::new();
    let kept = rig.pool(5000);
    for round in 0..3000 {
        let pools = [1, 100, 4000].map(|count| rig.pool(count));
        if round % 100 == 0 {
            rig.run(&[(0, Some((pools[2], 3999)), None)]);
            assert_eq!(rig.idle(), OK);
            let (result, _) = rig.results(pools[2], 3999..4000, 0u32, 1, Flags::empty());
            assert_eq!(result, OK);
            // A new pool has nothing of an old one in it.
            let (_, old) = rig.results(pools[1], 0..100, 9u64, 1, Flags::TYPE_64);
            assert_eq!(old, [9; 100]);
        }
        pools.into_iter().for_each(|pool| rig.destroy_pool(pool));
    }
    // Sizes that are no round numbers; as large as it gets, and larger.
    for count in [8193, 10_007, 1_000_001] {
        let pool = rig.pool(count);
        rig.destroy_pool(pool);
    }
    let large = rig.pool(4 << 20);
    rig.destroy_pool(large);
    let refused = rig.pool_of(vk::QueryType::TIMESTAMP, 16 << 20);
    assert_eq!(refused, Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
    rig.destroy_pool(kept);
}

#[test]
fn other_kinds_than_timestamps_and_occlusion_are_refused() {
    let rig = Rig::new();
    let refused = rig.pool_of(vk::QueryType::PIPELINE_STATISTICS, 1);
    assert_eq!(refused, Err(vk::Result::ERROR_FEATURE_NOT_PRESENT));
}

#[test]
fn there_are_so_many_counters_of_occlusion() {
    let rig = Rig::new();
    let pool = |count| rig.pool_of(vk::QueryType::OCCLUSION, count);
    let first = pool(1 << 14).expect("half of the counters");
    let second = pool(1 << 14).expect("the other half");
    assert_eq!(pool(1), Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
    rig.destroy_pool(second);
    let third = pool(3).expect("some of what was freed");
    rig.destroy_pool(third);
    rig.destroy_pool(first);
}

#[test]
fn events_are_words_that_the_host_sets() {
    let rig = Rig::new();
    let info = vk::EventCreateInfo::default();
    let mut made = [vk::Event::null(); 2];
    // SAFETY: valid arguments throughout.
    unsafe {
        for event in &mut made {
            let result = event::create_event(rig.device, &raw const info, std::ptr::null(), event);
            assert_eq!(result, OK);
            assert_eq!(
                event::get_event_status(rig.device, *event),
                vk::Result::EVENT_RESET
            );
        }
        let address = |n: usize| object::get::<Event>(made[n]).address();
        assert!(address(0).is_multiple_of(4) && address(0) != address(1));
        assert_eq!(event::set_event(rig.device, made[0]), OK);
        assert_eq!(
            event::get_event_status(rig.device, made[0]),
            vk::Result::EVENT_SET
        );
        assert_eq!(
            event::get_event_status(rig.device, made[1]),
            vk::Result::EVENT_RESET
        );
        assert_eq!(event::reset_event(rig.device, made[0]), OK);
        assert_eq!(
            event::get_event_status(rig.device, made[0]),
            vk::Result::EVENT_RESET
        );
        for event in made {
            event::destroy_event(rig.device, event, std::ptr::null());
        }
    }
}

/// Timestamps of commands lie between calibrated ones of the device, and those of the host's clock
/// beside them are as close as the deviation says.
#[test]
fn clocks_agree() {
    let rig = Rig::new();
    let domains = [
        vk::TimeDomainKHR::CLOCK_MONOTONIC,
        vk::TimeDomainKHR::DEVICE,
        vk::TimeDomainKHR::CLOCK_MONOTONIC_RAW,
    ];
    let infos = domains.map(|domain| vk::CalibratedTimestampInfoKHR::default().time_domain(domain));
    let read = || {
        let (mut times, mut deviation) = ([0; 3], 0);
        // SAFETY: valid arguments.
        let result = unsafe {
            calibration::get_calibrated_timestamps(
                rig.device,
                3,
                infos.as_ptr(),
                times.as_mut_ptr(),
                &raw mut deviation,
            )
        };
        assert_eq!(result, OK);
        (times, deviation)
    };
    let pool = rig.pool(1);
    let (before, deviation) = read();
    rig.run(&[(0, Some((pool, 0)), None)]);
    let (_, stamp) = rig.results(pool, 0..1, 0u64, 1, Flags::TYPE_64 | Flags::WAIT);
    let (after, _) = read();
    assert!(before[1] <= stamp[0] && stamp[0] <= after[1]);
    // The simulated GPU's clock is this one.
    assert!(before[0].abs_diff(before[1]) <= deviation);
    assert!(
        before
            .iter()
            .zip(&after)
            .all(|(before, after)| before < after)
    );
    let mut count = 0;
    // SAFETY: valid arguments.
    let result = unsafe {
        calibration::get_physical_device_calibrateable_time_domains(
            vk::PhysicalDevice::null(),
            &raw mut count,
            std::ptr::null_mut(),
        )
    };
    assert_eq!((result, count), (OK, 3));
    rig.destroy_pool(pool);
}
