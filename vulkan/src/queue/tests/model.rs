// SPDX-License-Identifier: MIT
//! Fences and semaphores against a model of what the specification says of them.

use std::os::fd::IntoRawFd;

use ash::vk;
use proptest::prelude::*;

use super::rig::{PATIENCE, Rig};

const FENCES: usize = 3;

#[derive(Clone, Debug)]
enum Step {
    /// Submits with a fence, which is reset first when it is signalled.
    Submit(usize),
    Reset(usize),
    /// Copies the payload of one into another.
    SyncFile(usize, usize),
    /// Shares the payload of one with another.
    Opaque(usize, usize, bool),
    Signalled(usize),
}

/// A model of a fence: which payloads it has.
#[derive(Clone, Copy, Debug)]
struct Model {
    permanent: usize,
    temporary: Option<usize>,
}

impl Model {
    fn current(self) -> usize {
        self.temporary.unwrap_or(self.permanent)
    }
}

fn step() -> impl Strategy<Value = Step> {
    let fence = 0..FENCES;
    prop_oneof![
        4 => fence.clone().prop_map(Step::Submit),
        2 => fence.clone().prop_map(Step::Reset),
        1 => (fence.clone(), fence.clone()).prop_map(|(a, b)| Step::SyncFile(a, b)),
        1 => (fence.clone(), fence.clone(), any::<bool>()).prop_map(|(a, b, t)| Step::Opaque(a, b, t)),
        1 => fence.prop_map(Step::Signalled),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn fences_do_as_the_model(steps in prop::collection::vec(step(), 1..40)) {
        let rig = Rig::new();
        let fences: Vec<_> = (0..FENCES).map(|_| rig.fence(false)).collect();
        let mut payloads = vec![false; FENCES];
        let mut models: Vec<_> = (0..FENCES).map(|permanent| Model { permanent, temporary: None }).collect();
        for step in steps {
            match step {
                Step::Submit(n) => {
                    if payloads[models[n].current()] {
                        models[n].temporary = None;
                        payloads[models[n].permanent] = false;
                        rig.reset(fences[n]);
                    }
                    rig.submit(&[], &[0], &[], fences[n]);
                    prop_assert_eq!(rig.wait(&[fences[n]], true, PATIENCE), vk::Result::SUCCESS);
                    payloads[models[n].current()] = true;
                }
                Step::Reset(n) => {
                    rig.reset(fences[n]);
                    models[n].temporary = None;
                    payloads[models[n].permanent] = false;
                }
                Step::SyncFile(from, to) => {
                    // There must be something to copy.
                    if !payloads[models[from].current()] {
                        continue;
                    }
                    let kind = vk::ExternalFenceHandleTypeFlags::SYNC_FD;
                    let file = rig.export_fence(fences[from], kind);
                    let result = rig.import_fence(fences[to], kind, file.into_raw_fd(), true);
                    prop_assert_eq!(result, vk::Result::SUCCESS);
                    // As good as a reset of what was exported.
                    if models[from].temporary.take().is_none() {
                        payloads[models[from].permanent] = false;
                    }
                    payloads.push(true);
                    models[to].temporary = Some(payloads.len() - 1);
                }
                Step::Opaque(from, to, temporary) => {
                    let kind = vk::ExternalFenceHandleTypeFlags::OPAQUE_FD;
                    let file = rig.export_fence(fences[from], kind);
                    let result = rig.import_fence(fences[to], kind, file.into_raw_fd(), temporary);
                    prop_assert_eq!(result, vk::Result::SUCCESS);
                    let shared = models[from].current();
                    if temporary {
                        models[to].temporary = Some(shared);
                    } else {
                        models[to].permanent = shared;
                    }
                }
                Step::Signalled(n) => {
                    let kind = vk::ExternalFenceHandleTypeFlags::SYNC_FD;
                    prop_assert_eq!(rig.import_fence(fences[n], kind, -1, true), vk::Result::SUCCESS);
                    payloads.push(true);
                    models[n].temporary = Some(payloads.len() - 1);
                }
            }
            let mut signalled = 0;
            for (fence, model) in fences.iter().zip(&models) {
                let expected = payloads[model.current()];
                signalled += usize::from(expected);
                let status = if expected { vk::Result::SUCCESS } else { vk::Result::NOT_READY };
                prop_assert_eq!(rig.status(*fence), status, "{:?}", models);
            }
            let timeout = |ready: bool| if ready { vk::Result::SUCCESS } else { vk::Result::TIMEOUT };
            prop_assert_eq!(rig.wait(&fences, true, 0), timeout(signalled == FENCES));
            prop_assert_eq!(rig.wait(&fences, false, 0), timeout(signalled > 0));
        }
        rig.destroy(&fences, &[]);
    }

    /// Any mix of submits that wait for and signal points of a timeline runs in order, and all of it
    /// when the last point is signalled from the host, wherever the waits are ahead of their signals.
    #[test]
    fn waits_may_be_ahead(ahead in prop::collection::vec(0u64..4, 1..30)) {
        let rig = Rig::new();
        let (host, device) = (rig.timeline(0), rig.timeline(0));
        let mut needed = 0;
        for (n, ahead) in (0u64..).zip(&ahead) {
            // Waits for the host's timeline may never go back, or the model would need more than a
            // number.
            needed = needed.max(n / 2 + ahead);
            let waits: &[_] = if *ahead == 0 { &[] } else { &[(host, needed)] };
            rig.submit(waits, &[n], &[(device, n + 1)], vk::Fence::null());
            prop_assert_eq!(rig.signal(host, n + 1), vk::Result::SUCCESS);
        }
        let count = ahead.len() as u64;
        prop_assert_eq!(rig.signal(host, count + 100), vk::Result::SUCCESS);
        prop_assert_eq!(rig.wait_points(&[(device, count)], false, PATIENCE), vk::Result::SUCCESS);
        prop_assert_eq!(rig.ran(), (0..count).collect::<Vec<_>>());
        prop_assert_eq!(rig.counter(device), count);
        rig.destroy(&[], &[host, device]);
    }
}
