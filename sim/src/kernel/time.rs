// SPDX-License-Identifier: MIT
//! The one clock of the interface: nanoseconds of `CLOCK_MONOTONIC`.
//!
//! GET_TIME, command timestamps (kernel-uapi, 6 and 9) and the absolute deadlines of syncobj waits
//! are all in this domain.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Now.
#[must_use]
pub(crate) fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The point at which a wait gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deadline(u64);

impl Deadline {
    /// So far away that it never comes.
    pub(crate) const NEVER: Deadline = Deadline(u64::MAX);

    /// An absolute time as the syncobj ioctls pass it; what is not after now, 0 and negative values
    /// among it, means "look once".
    #[must_use]
    pub(crate) fn absolute(nanoseconds: i64) -> Deadline {
        Deadline(u64::try_from(nanoseconds).unwrap_or(0))
    }

    /// This long from now.
    #[must_use]
    pub(crate) fn after(duration: Duration) -> Deadline {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Deadline(now().saturating_add(nanoseconds))
    }

    /// What is left until then; `None` when nothing is.
    #[must_use]
    pub(crate) fn left(self) -> Option<Duration> {
        let left = self.0.checked_sub(now())?;
        (left > 0).then(|| Duration::from_nanos(left))
    }
}
