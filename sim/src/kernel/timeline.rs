// SPDX-License-Identifier: MIT
//! Timelines of syncobjs: rows of fences with rising points.
//!
//! The DRM core links fences into a chain (`dma_fence_chain`), each link of which is signalled when
//! its own fence and everything before it are, and forgets links whose own fence is signalled while
//! it walks the chain. Here a row is a queue; what it answers is the same, which a test below checks
//! against a chain.

use std::collections::VecDeque;
use std::sync::Arc;

use agx_uapi::Errno;

use super::fence::Fence;

/// A row of points. Never without a point.
#[derive(Debug)]
pub(super) struct Timeline {
    /// What was there before the row: a fence, or all of another row.
    before: Option<Arc<Fence>>,
    points: VecDeque<Point>,
}

#[derive(Debug)]
struct Point {
    value: u64,
    /// The point before in this row; stays when that point is forgotten.
    previous: u64,
    own: Arc<Fence>,
    /// Signalled when this point and all before it are.
    done: Arc<Fence>,
}

impl Timeline {
    /// A row of one point.
    pub(super) fn new(before: Option<Arc<Fence>>, own: &Arc<Fence>, value: u64) -> Timeline {
        let done = match &before {
            Some(before) => Fence::both(before, own),
            None => own.clone(),
        };
        let point = Point {
            value,
            previous: 0,
            own: own.clone(),
            done,
        };
        Timeline {
            before,
            points: VecDeque::from([point]),
        }
    }

    fn last(&self) -> &Point {
        self.points.back().expect("a timeline has a point")
    }

    /// Adds a point. One that is not above the last starts a new row at the last value, behind
    /// everything so far; the DRM core calls that "unordered".
    pub(super) fn add(&mut self, own: &Arc<Fence>, value: u64) {
        let last = self.last();
        if value <= last.value {
            *self = Timeline::new(Some(last.done.clone()), own, last.value);
            return;
        }
        let done = Fence::both(&last.done, own);
        let previous = last.value;
        self.points.push_back(Point {
            value,
            previous,
            own: own.clone(),
            done,
        });
        self.forget_signalled();
    }

    fn forget_signalled(&mut self) {
        while self.points.len() > 1 && self.points[0].own.is_signalled() {
            self.points.pop_front();
        }
        if self
            .before
            .as_ref()
            .is_some_and(|before| before.is_signalled())
        {
            self.before = None;
        }
    }

    /// The fence of a point; of the whole row for point 0.
    ///
    /// # Errors
    /// `EINVAL` when the row has not come to that point.
    pub(super) fn find(&mut self, value: u64) -> Result<Arc<Fence>, Errno> {
        self.forget_signalled();
        if value == 0 {
            return Ok(self.last().done.clone());
        }
        let index = self.points.partition_point(|point| point.value < value);
        let point = self.points.get(index).ok_or(Errno::EINVAL)?;
        if point.previous < value {
            return Ok(point.done.clone());
        }
        // The point itself is forgotten; what was before the row may not be over.
        Ok(self.before.clone().unwrap_or_else(Fence::signalled))
    }

    /// The highest point reached.
    pub(super) fn reached(&mut self) -> u64 {
        self.forget_signalled();
        let first = &self.points[0];
        if first.done.is_signalled() {
            first.value
        } else {
            first.previous
        }
    }

    /// The highest point that has a fence.
    pub(super) fn submitted(&self) -> u64 {
        self.last().value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::syncobj::Syncobj;
    use proptest::prelude::*;

    /// The chain: a list of links, each of which remembers the value of the link before if that
    /// belongs to the same row.
    #[derive(Default)]
    struct Links {
        /// (value, value before, row, fence)
        links: Vec<(u64, u64, usize, usize)>,
        rows: usize,
    }

    impl Links {
        fn add(&mut self, value: u64, fence: usize) {
            let link = match self.links.last() {
                Some(&(last, _, row, _)) if row > 0 && value > last => (value, last, row, fence),
                last => {
                    self.rows += 1;
                    let at_least = last.map_or(0, |link| link.0);
                    (value.max(at_least), 0, self.rows, fence)
                }
            };
            self.links.push(link);
        }

        fn replace(&mut self, fence: Option<usize>) {
            // Row 0 is a plain fence.
            self.links = fence.map(|fence| (0, 0, 0, fence)).into_iter().collect();
        }

        fn is_chain(&self) -> bool {
            self.links.last().is_some_and(|link| link.2 > 0)
        }

        fn is_done(&self, index: usize, fences: &[bool]) -> bool {
            self.links[..=index].iter().all(|link| fences[link.3])
        }

        /// From the last link back, without those whose own fence is signalled.
        fn walk<'a>(&'a self, fences: &'a [bool]) -> impl Iterator<Item = usize> + 'a {
            let last = self.links.len() - 1;
            (0..=last)
                .rev()
                .filter(move |&index| index == last || !fences[self.links[index].3])
        }

        fn find(&self, value: u64, fences: &[bool]) -> Option<bool> {
            let last = self.links.len().checked_sub(1)?;
            if value == 0 {
                return Some(self.is_done(last, fences));
            }
            if !self.is_chain() || self.links[last].0 < value {
                return None;
            }
            let row = self.links[last].2;
            let found = self
                .walk(fences)
                .find(|&index| self.links[index].2 != row || self.links[index].1 < value);
            Some(found.is_none_or(|index| self.is_done(index, fences)))
        }

        fn query(&self, fences: &[bool]) -> (u64, u64) {
            if !self.is_chain() {
                return (0, 0);
            }
            let last = self.links[self.links.len() - 1];
            let reached = self
                .walk(fences)
                .take_while(|&index| self.links[index].2 == last.2)
                .last();
            let reached = reached.expect("the last link is of its own row");
            let (value, before, ..) = self.links[reached];
            let reached = if self.is_done(reached, fences) {
                value
            } else {
                before
            };
            (reached, last.0)
        }
    }

    /// Who learns of a fence first may ask for a timeline at once: the point must be reached then,
    /// whether or not the signaller has got round to the timeline.
    #[test]
    fn a_point_is_reached_at_the_moment_its_fences_are() {
        use std::sync::Mutex;
        let (syncobj, copy) = (Syncobj::new(false), Syncobj::new(false));
        let fences: Vec<_> = (0..3).map(|_| Fence::new()).collect();
        for (value, fence) in (1..).zip(&fences) {
            syncobj.add_point(fence, value);
        }
        copy.add_point(&Fence::new(), 1);
        copy.replace(Some(syncobj.find(3).unwrap()));
        copy.add_point(&fences[2], 7);
        let seen = Arc::new(Mutex::new(Vec::new()));
        for index in [1, 0, 2] {
            let (syncobj, copy, seen) = (syncobj.clone(), copy.clone(), seen.clone());
            fences[index].on_signal(move |_| {
                let done = syncobj.find(3).unwrap().outcome();
                let both = [syncobj.query(false), copy.query(false)];
                seen.lock().unwrap().push((both, done));
            });
        }
        for index in [1, 0, 2] {
            fences[index].signal(if index == 2 { Err(Errno::EIO) } else { Ok(()) });
        }
        let expected = [
            ([0, 0], None),
            ([2, 0], None),
            ([3, 7], Some(Err(Errno::EIO))),
        ];
        assert_eq!(*seen.lock().unwrap(), expected);
    }

    #[derive(Clone, Debug)]
    enum Op {
        Add(u64),
        Replace,
        Reset,
        Signal(usize),
    }

    proptest! {
        #[test]
        fn as_the_chain_of_the_drm_core(ops in prop::collection::vec(
            prop_oneof![
                6 => (0u64..24).prop_map(Op::Add),
                1 => Just(Op::Replace),
                1 => Just(Op::Reset),
                6 => (0usize..30).prop_map(Op::Signal),
            ],
            1..40,
        )) {
            let syncobj = Syncobj::new(false);
            let mut links = Links::default();
            let mut fences: Vec<Arc<Fence>> = Vec::new();
            let mut signalled: Vec<bool> = Vec::new();
            // Values rise mostly, as they should, with the odd one out.
            let mut base = 0;
            for op in ops {
                let new = fences.len();
                match op {
                    Op::Add(step) => {
                        base += if step > 3 { step } else { 0 };
                        fences.push(Fence::new());
                        signalled.push(false);
                        syncobj.add_point(&fences[new], base + 1 - step.min(1));
                        links.add(base + 1 - step.min(1), new);
                    }
                    Op::Replace => {
                        fences.push(Fence::new());
                        signalled.push(false);
                        syncobj.replace(Some(fences[new].clone()));
                        links.replace(Some(new));
                    }
                    Op::Reset => {
                        syncobj.replace(None);
                        links.replace(None);
                    }
                    Op::Signal(back) => {
                        // Mostly of the oldest, sometimes of a later one.
                        let pending: Vec<_> = (0..new).filter(|n| !signalled[*n]).collect();
                        let Some(&fence) = pending.get(back / 12).or(pending.first()) else { continue };
                        fences[fence].signal(Ok(()));
                        signalled[fence] = true;
                    }
                }
                for value in 0..base + 3 {
                    let found = syncobj.find(value).ok().map(|fence| fence.is_signalled());
                    prop_assert_eq!(found, links.find(value, &signalled), "point {}", value);
                }
                let (reached, submitted) = links.query(&signalled);
                prop_assert_eq!(syncobj.query(false), reached);
                prop_assert_eq!(syncobj.query(true), submitted);
            }
        }
    }
}
