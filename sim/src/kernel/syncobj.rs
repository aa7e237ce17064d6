// SPDX-License-Identifier: MIT
//! DRM synchronisation objects, binary and timeline, as the DRM core defines them.
//!
//! A syncobj holds at most one thing: a fence (binary use) or a timeline, a row of fences with
//! rising points of which each is signalled only after all before it.

use std::sync::{Arc, Mutex, OnceLock};

use agx_uapi::Errno;

use super::fence::{Fence, Waiter};
use super::time::Deadline;
use super::timeline::Timeline;

/// One synchronisation object; shared by every handle and file descriptor that names it.
#[derive(Debug, Default)]
pub(crate) struct Syncobj {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    payload: Payload,
    /// Who waits for something to be submitted.
    waiters: Vec<Arc<Wanted>>,
}

/// A point without a fence that a thread waits for. The fence that comes first stays, whatever
/// becomes of the syncobj before the thread runs.
#[derive(Debug)]
struct Wanted {
    point: u64,
    fence: OnceLock<Arc<Fence>>,
    waiter: Arc<Waiter>,
}

#[derive(Debug, Default)]
enum Payload {
    #[default]
    Empty,
    Fence(Arc<Fence>),
    Timeline(Timeline),
}

impl Payload {
    fn find(&mut self, value: u64) -> Result<Arc<Fence>, Errno> {
        match self {
            Payload::Timeline(timeline) => timeline.find(value),
            Payload::Fence(fence) if value == 0 => Ok(fence.clone()),
            Payload::Fence(_) | Payload::Empty => Err(Errno::EINVAL),
        }
    }
}

impl Syncobj {
    /// A syncobj without a fence, or with one that is signalled.
    #[must_use]
    pub(crate) fn new(signalled: bool) -> Arc<Syncobj> {
        let syncobj = Arc::new(Syncobj::default());
        if signalled {
            syncobj.replace(Some(Fence::signalled()));
        }
        syncobj
    }

    fn update(&self, change: impl FnOnce(&mut Payload)) {
        let mut state = self.state.lock().unwrap();
        let State { payload, waiters } = &mut *state;
        change(payload);
        waiters.retain(|wanted| {
            let Ok(fence) = payload.find(wanted.point) else {
                return true;
            };
            let _ = wanted.fence.set(fence);
            wanted.waiter.wake();
            false
        });
    }

    /// Puts a fence, or nothing, in the place of whatever is there.
    pub(crate) fn replace(&self, fence: Option<Arc<Fence>>) {
        self.update(|payload| {
            *payload = match fence {
                Some(fence) => Payload::Fence(fence),
                None => Payload::Empty,
            };
        });
    }

    /// Adds a point to the timeline; whatever else is there becomes what was before it.
    pub(crate) fn add_point(&self, fence: &Arc<Fence>, value: u64) {
        self.update(|payload| match payload {
            Payload::Timeline(timeline) => timeline.add(fence, value),
            Payload::Empty => *payload = Payload::Timeline(Timeline::new(None, fence, value)),
            Payload::Fence(before) => {
                let before = before.clone();
                *payload = Payload::Timeline(Timeline::new(Some(before), fence, value));
            }
        });
    }

    /// The fence of a point; of the whole object for point 0.
    ///
    /// # Errors
    /// `EINVAL` when there is no fence, or the timeline has not come to that point.
    pub(crate) fn find(&self, value: u64) -> Result<Arc<Fence>, Errno> {
        self.state.lock().unwrap().payload.find(value)
    }

    /// Whether it is used as a timeline.
    #[must_use]
    pub(crate) fn is_timeline(&self) -> bool {
        matches!(self.state.lock().unwrap().payload, Payload::Timeline(_))
    }

    /// The fence of a point, which is waited for if it is not there yet.
    ///
    /// # Errors
    /// `ETIME`: the deadline has passed.
    pub(crate) fn find_in_time(&self, point: u64, deadline: Deadline) -> Result<Arc<Fence>, Errno> {
        let waiter = Waiter::new();
        let wanted = self.want(point, &waiter);
        while wanted.fence.get().is_none() && waiter.sleep(deadline) {}
        self.forget(&wanted);
        wanted.fence.get().cloned().ok_or(Errno::ETIME)
    }

    /// The highest point reached, or with `last_submitted` the highest that has a fence; 0 for what
    /// is no timeline.
    #[must_use]
    pub(crate) fn query(&self, last_submitted: bool) -> u64 {
        match &mut self.state.lock().unwrap().payload {
            Payload::Timeline(timeline) if last_submitted => timeline.submitted(),
            Payload::Timeline(timeline) => timeline.reached(),
            Payload::Fence(_) | Payload::Empty => 0,
        }
    }

    /// Has the waiter woken when the point has a fence; it may have one already.
    fn want(&self, point: u64, waiter: &Arc<Waiter>) -> Arc<Wanted> {
        let mut state = self.state.lock().unwrap();
        let fence = state.payload.find(point).ok();
        let lacking = fence.is_none();
        let wanted = Arc::new(Wanted {
            point,
            fence: fence.map_or_else(OnceLock::new, OnceLock::from),
            waiter: waiter.clone(),
        });
        if lacking {
            state.waiters.push(wanted.clone());
        }
        wanted
    }

    /// Takes a waiter off the list.
    fn forget(&self, wanted: &Arc<Wanted>) {
        let mut state = self.state.lock().unwrap();
        if let Some(index) = state
            .waiters
            .iter()
            .position(|other| Arc::ptr_eq(other, wanted))
        {
            state.waiters.swap_remove(index);
        }
    }
}

/// What a wait is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    /// All of them, not just one.
    pub(crate) all: bool,
    /// What has no fence yet is waited for; without this it is an error.
    pub(crate) for_submit: bool,
    /// It is enough that the fence is there.
    pub(crate) available: bool,
    /// Until when.
    pub(crate) deadline: Deadline,
}

/// Waits for points of syncobjs; the index of one that is signalled, `u32::MAX` when all were asked
/// for and none was at first.
///
/// # Errors
/// `EINVAL`: no fence and neither `for_submit` nor `available`. `ETIME`: the deadline has passed.
pub(crate) fn wait(entries: &[(Arc<Syncobj>, u64)], wait: Wait) -> Result<u32, Errno> {
    let may_lack = wait.for_submit || wait.available;
    let is_over = |fence: &Arc<Fence>| wait.available || fence.is_signalled();
    let mut fences = Vec::with_capacity(entries.len());
    let (mut over, mut first) = (0, u32::MAX);
    for (index, (syncobj, point)) in entries.iter().enumerate() {
        let fence = match syncobj.find(*point) {
            Ok(fence) => Some(fence),
            Err(_) if may_lack => None,
            Err(errno) => return Err(errno),
        };
        if fence.as_ref().is_some_and(is_over) {
            if over == 0 {
                first = index as u32;
            }
            over += 1;
        }
        fences.push(fence);
    }
    let enough = |over: usize| over == entries.len() || (over > 0 && !wait.all);
    if enough(over) {
        return Ok(first);
    }
    if wait.deadline.left().is_none() {
        return Err(Errno::ETIME);
    }

    let waiter = Waiter::new();
    let mut watched = vec![None; entries.len()];
    let wanted: Vec<_> = entries
        .iter()
        .zip(&fences)
        .map(|((syncobj, point), fence)| {
            let lacking = fence.is_none();
            lacking.then(|| syncobj.want(*point, &waiter))
        })
        .collect();
    let mut expired = false;
    let result = loop {
        over = 0;
        for index in 0..entries.len() {
            if let (None, Some(wanted)) = (&fences[index], &wanted[index]) {
                fences[index] = wanted.fence.get().cloned();
            }
            let Some(fence) = &fences[index] else {
                continue;
            };
            let mut signalled = is_over(fence);
            if !signalled && watched[index].is_none() {
                watched[index] = fence.watch(&waiter);
                signalled = watched[index].is_none();
            }
            if signalled {
                over += 1;
                if !wait.all {
                    first = index as u32;
                    break;
                }
            }
        }
        if enough(over) {
            break Ok(first);
        }
        if expired {
            break Err(Errno::ETIME);
        }
        // What was signalled while the deadline passed still counts.
        expired = !waiter.sleep(wait.deadline);
    };
    for (index, (syncobj, _)) in entries.iter().enumerate() {
        if let Some(wanted) = &wanted[index] {
            syncobj.forget(wanted);
        }
        if let (Some(fence), Some(token)) = (&fences[index], watched[index]) {
            fence.forget(token);
        }
    }
    result
}
