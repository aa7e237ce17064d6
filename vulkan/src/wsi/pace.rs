// SPDX-License-Identifier: MIT
//! FIFO where nothing tells when a screen is refreshed: pictures are shown no faster than it is.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Turns at regular times.
pub(super) struct Pace {
    period: Duration,
    next: Mutex<Option<Instant>>,
}

impl Pace {
    pub(super) fn new(period: Duration) -> Pace {
        Pace {
            period,
            next: Mutex::default(),
        }
    }

    /// Sleeps until it is the caller's turn.
    pub(super) fn await_turn(&self) {
        let now = Instant::now();
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = turn(*next, now);
        *next = Some(turn + self.period);
        drop(next);
        std::thread::sleep(turn.saturating_duration_since(now));
    }
}

/// When something is shown that comes now: who is late does not catch up.
fn turn(next: Option<Instant>, now: Instant) -> Instant {
    next.map_or(now, |next| next.max(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_early_waits_and_who_is_late_does_not_catch_up() {
        let now = Instant::now();
        let later = now + Duration::from_millis(10);
        assert_eq!(turn(None, now), now);
        assert_eq!(turn(Some(later), now), later);
        assert_eq!(turn(Some(now), later), later);
    }

    #[test]
    fn each_turn_is_a_period_after_the_one_before() {
        let pace = Pace::new(Duration::from_micros(50));
        let next = || pace.next.lock().unwrap().unwrap();
        pace.await_turn();
        let first = next();
        pace.await_turn();
        assert!(next() >= first + pace.period);
    }
}
