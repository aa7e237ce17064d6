// SPDX-License-Identifier: MIT
//! Which bytes of a pool are free.
//!
//! An allocator that rounds sizes to bins may miss a hole that fits exactly, but a pool must hold
//! what it was made for. So: first fit in a list of holes. Sets of one pool are mostly of one size,
//! and the first hole does.

use crate::error::VkResult;
use crate::host::{HostAllocator, HostVec, OUT_OF_HOST};

/// A hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hole {
    start: u32,
    size: u32,
}

/// The holes of a range, by start; no two touch.
pub(super) struct Ranges {
    holes: HostVec<Hole>,
    /// Pieces that are out: there can be one hole more than that.
    out: usize,
    free: u32,
    size: u32,
}

/// Why there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// There are not so many bytes.
    Bytes,
    /// There are, but not in one piece.
    Fragmented,
    /// There is no host memory to keep account with.
    Host,
}

impl Ranges {
    /// All of a range.
    ///
    /// # Errors
    /// When the callbacks refuse memory.
    pub(super) fn new(host: HostAllocator, size: u32) -> VkResult<Ranges> {
        let mut holes = host.vec();
        holes.try_reserve(1).map_err(|_| OUT_OF_HOST)?;
        let mut ranges = Ranges {
            holes,
            out: 0,
            free: size,
            size,
        };
        ranges.reset();
        Ok(ranges)
    }

    /// Everything is free again.
    pub(super) fn reset(&mut self) {
        self.holes.clear();
        if self.size != 0 {
            // There is room for one at least.
            self.holes.push(Hole {
                start: 0,
                size: self.size,
            });
        }
        self.free = self.size;
        self.out = 0;
    }

    /// Takes bytes; the offset.
    pub(super) fn take(&mut self, size: u32) -> Result<u32, Full> {
        if size == 0 {
            return Ok(0);
        }
        if size > self.free {
            return Err(Full::Bytes);
        }
        // So that giving back needs no memory.
        let most = self.out + 2;
        let more = most.saturating_sub(self.holes.len());
        self.holes.try_reserve(more).map_err(|_| Full::Host)?;
        let at = self.holes.iter().position(|hole| hole.size >= size);
        let at = at.ok_or(Full::Fragmented)?;
        let hole = &mut self.holes[at];
        let start = hole.start;
        hole.start += size;
        hole.size -= size;
        if hole.size == 0 {
            self.holes.remove(at);
        }
        self.free -= size;
        self.out += 1;
        Ok(start)
    }

    /// Gives back what [`Ranges::take`] gave.
    pub(super) fn give_back(&mut self, start: u32, size: u32) {
        if size == 0 {
            return;
        }
        self.free += size;
        self.out -= 1;
        let at = self.holes.partition_point(|hole| hole.start < start);
        let end = start + size;
        let joins_next = self.holes.get(at).is_some_and(|next| next.start == end);
        let before = at.checked_sub(1).map(|before| self.holes[before]);
        let joins_before = before.is_some_and(|hole| hole.start + hole.size == start);
        match (joins_before, joins_next) {
            (true, true) => {
                self.holes[at - 1].size += size + self.holes[at].size;
                self.holes.remove(at);
            }
            (true, false) => self.holes[at - 1].size += size,
            (false, true) => {
                self.holes[at].start = start;
                self.holes[at].size += size;
            }
            // There is room: take() saw to it.
            (false, false) => self.holes.insert(at, Hole { start, size }),
        }
    }
}

#[cfg(test)]
mod tests {
    use ash::vk;
    use proptest::prelude::*;

    use super::*;

    fn ranges(size: u32) -> Ranges {
        let host = HostAllocator::global(vk::SystemAllocationScope::OBJECT);
        Ranges::new(host, size).expect("memory")
    }

    #[test]
    fn a_range_holds_exactly_what_it_is_made_for() {
        for count in [1, 7, 1000, 1001] {
            let mut all = ranges(count * 48);
            for at in 0..count {
                assert_eq!(all.take(48), Ok(at * 48));
            }
            assert_eq!(all.take(16), Err(Full::Bytes));
            all.give_back(0, 48);
            assert_eq!(all.take(48), Ok(0));
        }
        assert_eq!(ranges(16 * 1009).take(16 * 1009), Ok(0));
    }

    #[test]
    fn holes_that_do_not_touch_are_fragments() {
        let mut all = ranges(64);
        for _ in 0..4 {
            all.take(16).expect("room");
        }
        all.give_back(0, 16);
        all.give_back(32, 16);
        assert_eq!(all.take(32), Err(Full::Fragmented));
        all.give_back(16, 16);
        assert_eq!(all.take(48), Ok(0));
    }

    proptest! {
        /// Pieces never overlap, bytes are never lost, and room that is there is found.
        #[test]
        fn pieces_do_not_overlap(steps in prop::collection::vec((any::<bool>(), 1u32..12, any::<prop::sample::Index>()), 1..200)) {
            let size = 64 * 16;
            let mut all = ranges(size);
            let mut owner = [false; 64];
            let mut held: Vec<(u32, u32)> = Vec::new();
            for (take, units, which) in steps {
                if take {
                    let longest = owner.split(|taken| *taken).map(<[bool]>::len).max().unwrap_or(0);
                    match all.take(units * 16) {
                        Ok(start) => {
                            for unit in &mut owner[start as usize / 16..][..units as usize] {
                                prop_assert!(!*unit);
                                *unit = true;
                            }
                            held.push((start, units * 16));
                        }
                        Err(why) => {
                            prop_assert!(longest < units as usize);
                            let free = owner.iter().filter(|taken| !**taken).count();
                            let expected = if free < units as usize { Full::Bytes } else { Full::Fragmented };
                            prop_assert_eq!(why, expected);
                        }
                    }
                } else if !held.is_empty() {
                    let (start, size) = held.swap_remove(which.index(held.len()));
                    owner[start as usize / 16..][..size as usize / 16].fill(false);
                    all.give_back(start, size);
                }
            }
            for (start, size) in held {
                all.give_back(start, size);
            }
            prop_assert_eq!(all.take(size), Ok(0));
        }
    }
}
