// SPDX-License-Identifier: MIT
//! Syncobjs and fences behind file descriptors.
//!
//! The descriptor is one end of a socket pair, since that has all that is needed: an identity of its
//! own (device and inode number), which duplicates share and which also survives a trip to another
//! thread or library; readability, so that a sync file can be polled for its fence; a way to tell,
//! from the other end, that nobody holds it any more; and, unlike a pipe, no signal when one writes
//! too late. What each stands for is kept here, for the whole process, because descriptors wander
//! between devices and open files.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, LazyLock, Mutex};

use agx_uapi::Errno;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::fstat;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socketpair};

use super::fence::Fence;
use super::syncobj::Syncobj;

/// What a file is, whichever descriptor names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// The identity of an open file.
    ///
    /// # Errors
    /// `EBADF` when it is not open.
    #[allow(
        clippy::useless_conversion,
        reason = "the types differ between machines"
    )]
    pub(crate) fn of(file: BorrowedFd<'_>) -> Result<Identity, Errno> {
        let stat = fstat(file)?;
        Ok(Identity {
            device: u64::from(stat.st_dev),
            inode: u64::from(stat.st_ino),
        })
    }
}

/// What a descriptor stands for.
#[derive(Clone, Debug)]
pub(crate) enum Shared {
    Syncobj(Arc<Syncobj>),
    SyncFile(Arc<Fence>),
}

struct Entry {
    shared: Shared,
    /// The other end; hung up when nobody holds the descriptor any more.
    end: Arc<OwnedFd>,
}

#[derive(Default)]
struct Registry {
    entries: HashMap<Identity, Entry>,
    /// Exports until entries that nobody refers to are looked for.
    until_sweep: usize,
}

/// Orphans hold descriptors, of which a process has few: not many may gather, however many entries
/// there are.
const SWEEP_INTERVAL: usize = 64;

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);

impl Registry {
    fn sweep(&mut self) {
        let keys: Vec<Identity> = self.entries.keys().copied().collect();
        let orphans: Vec<Identity> = {
            let mut polled: Vec<_> = keys
                .iter()
                .map(|key| PollFd::new(&*self.entries[key].end, PollFlags::empty()))
                .collect();
            let at_once = Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            if poll(&mut polled, Some(&at_once)).is_err() {
                return;
            }
            let is_orphan = |fd: &PollFd<'_>| fd.revents().contains(PollFlags::HUP);
            keys.iter()
                .zip(&polled)
                .filter(|(_, fd)| is_orphan(fd))
                .map(|(key, _)| *key)
                .collect()
        };
        for key in orphans {
            self.entries.remove(&key);
        }
    }
}

/// A new descriptor for a syncobj or a fence; it closes on exec.
///
/// # Errors
/// Those of socketpair: `EMFILE`, `ENFILE`, `ENOMEM`.
pub(crate) fn export(shared: Shared) -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (file, end) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    let identity = Identity::of(file.as_fd())?;
    let end = Arc::new(end);
    if let Shared::SyncFile(fence) = &shared {
        // The fence may last longer than the file.
        let end = Arc::downgrade(&end);
        fence.on_signal(move |_| {
            if let Some(end) = end.upgrade() {
                // Fails only when nobody can see it any more.
                let _ = send(&*end, &[1], SendFlags::NOSIGNAL);
            }
        });
    }
    let mut registry = REGISTRY.lock().unwrap();
    registry.until_sweep = match registry.until_sweep.checked_sub(1) {
        Some(left) => left,
        None => {
            registry.sweep();
            SWEEP_INTERVAL
        }
    };
    registry.entries.insert(identity, Entry { shared, end });
    Ok(file)
}

/// What a descriptor stands for, if anything.
pub(crate) fn find(file: BorrowedFd<'_>) -> Option<Shared> {
    let identity = Identity::of(file).ok()?;
    let registry = REGISTRY.lock().unwrap();
    registry
        .entries
        .get(&identity)
        .map(|entry| entry.shared.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readable(file: &OwnedFd) -> bool {
        let mut polled = [PollFd::new(file, PollFlags::IN)];
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        poll(&mut polled, Some(&at_once)).unwrap();
        polled[0].revents().contains(PollFlags::IN)
    }

    #[test]
    fn duplicates_are_the_same_file() {
        let syncobj = Syncobj::new(false);
        let file = export(Shared::Syncobj(syncobj.clone())).unwrap();
        let other = file.try_clone().unwrap();
        drop(file);
        match find(other.as_fd()) {
            Some(Shared::Syncobj(found)) => assert!(Arc::ptr_eq(&found, &syncobj)),
            found => panic!("{found:?}"),
        }
        let unrelated = std::fs::File::open("/dev/null").unwrap();
        assert!(find(unrelated.as_fd()).is_none());
    }

    #[test]
    fn sync_files_become_readable_with_their_fence() {
        let fence = Fence::new();
        let file = export(Shared::SyncFile(fence.clone())).unwrap();
        assert!(!readable(&file));
        fence.signal(Err(Errno::EIO));
        assert!(readable(&file));
        assert!(readable(
            &export(Shared::SyncFile(Fence::signalled())).unwrap()
        ));
    }

    #[test]
    fn closed_files_are_forgotten() {
        let syncobj = Syncobj::new(false);
        let kept = export(Shared::Syncobj(syncobj.clone())).unwrap();
        for _ in 0..1000 {
            drop(export(Shared::Syncobj(syncobj.clone())).unwrap());
        }
        REGISTRY.lock().unwrap().sweep();
        // This handle and the kept file.
        assert_eq!(Arc::strong_count(&syncobj), 2);
        assert!(find(kept.as_fd()).is_some());
    }
}
