// SPDX-License-Identifier: MIT
//! VK_KHR_calibrated_timestamps: the GPU's clock beside those of the host.

use ash::vk;
use rustix::time::{ClockId, clock_gettime};

use crate::device::Device;
use crate::entry;
use crate::error::{VkResult, kernel};
use crate::object;

/// The clocks that can be read together.
const DOMAINS: [vk::TimeDomainKHR; 3] = [
    vk::TimeDomainKHR::DEVICE,
    vk::TimeDomainKHR::CLOCK_MONOTONIC,
    vk::TimeDomainKHR::CLOCK_MONOTONIC_RAW,
];

/// Nanoseconds between two ticks of the coarsest clock, rounded up: the counter that the GPU's time
/// comes from has 24 MHz on these machines (kernel-uapi, 6).
const TICK: u64 = 42;

fn clock(id: ClockId) -> u64 {
    let now = clock_gettime(id);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn read(device: &Device, domain: vk::TimeDomainKHR) -> VkResult<u64> {
    match domain {
        vk::TimeDomainKHR::DEVICE => device.kernel.time().map_err(kernel("GET_TIME")),
        vk::TimeDomainKHR::CLOCK_MONOTONIC => Ok(clock(ClockId::Monotonic)),
        vk::TimeDomainKHR::CLOCK_MONOTONIC_RAW => Ok(clock(ClockId::MonotonicRaw)),
        other => {
            crate::debug::error(&format_args!("there is no time domain {other:?}"));
            Err(vk::Result::ERROR_FEATURE_NOT_PRESENT)
        }
    }
}

/// vkGetPhysicalDeviceCalibrateableTimeDomainsKHR.
pub(crate) unsafe extern "system" fn get_physical_device_calibrateable_time_domains(
    _physical: vk::PhysicalDevice,
    count: *mut u32,
    domains: *mut vk::TimeDomainKHR,
) -> vk::Result {
    entry::try_guard("vkGetPhysicalDeviceCalibrateableTimeDomainsKHR", || {
        // SAFETY: valid by the specification.
        unsafe { entry::enumerate(DOMAINS.into_iter(), count, domains) }
    })
}

/// vkGetCalibratedTimestampsKHR.
pub(crate) unsafe extern "system" fn get_calibrated_timestamps(
    device: vk::Device,
    count: u32,
    infos: *const vk::CalibratedTimestampInfoKHR<'_>,
    timestamps: *mut u64,
    deviation: *mut u64,
) -> vk::Result {
    entry::try_guard("vkGetCalibratedTimestampsKHR", || {
        // SAFETY: valid by the specification.
        let (this, infos) = unsafe { (object::get::<Device>(device), entry::slice(infos, count)) };
        let begin = clock(ClockId::MonotonicRaw);
        for (index, info) in infos.iter().enumerate() {
            // SAFETY: as above.
            unsafe { *timestamps.add(index) = read(this, info.time_domain)? };
        }
        let end = clock(ClockId::MonotonicRaw);
        // All were read in between, each up to a tick after it was true.
        // SAFETY: as above.
        unsafe { *deviation = end.saturating_sub(begin) + TICK };
        Ok(())
    })
}
