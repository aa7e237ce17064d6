// SPDX-License-Identifier: MIT
//! The shader cache on disk: one file for each key, in the user's cache directory.
//!
//! Any number of processes use it at once, without locks: a file appears whole, by renaming, and its
//! name says what is in it. What is in it is checked like anything from outside (`binary`); a
//! damaged file is removed. When the directory cannot be written the cache is silently off: it is
//! there to save time, and nothing else depends on it.
//!
//! The size is bounded. A process looks at the directory when it first writes to it and whenever it
//! has written a part of the bound, and removes the oldest files, so that together `n` processes may
//! exceed the bound by `n` such parts.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use agx_compiler::binary::ShaderBinary;

use super::binary;
use super::key::Key;
use crate::debug::{self, Flags};

/// Most bytes of all files.
const LIMIT: u64 = 256 << 20;
/// The part of the bound after whose writing the directory is looked at again.
const PART: u64 = 16;
/// Most bytes of a file that are read.
const MAX_FILE: u64 = 64 << 20;
/// The age at which a file that was never renamed is a crashed process's.
const ABANDONED: Duration = Duration::from_secs(3600);
/// How names of files that are being written end.
const UNFINISHED: &str = "tmp";

/// A cache in a directory.
pub(super) struct DiskCache {
    directory: PathBuf,
    limit: u64,
    /// Nothing can be written: there is no use in trying again.
    is_off: AtomicBool,
    /// Bytes that this process has written since it looked at the directory; nothing before the
    /// first time.
    written: Mutex<Option<u64>>,
}

/// The user's cache; none when `CORTLAND_DEBUG=nocache` says so, and for programs with more rights
/// than their user, which must not do what the user's environment says.
pub(super) fn user_cache() -> Option<&'static DiskCache> {
    static CACHE: LazyLock<Option<DiskCache>> = LazyLock::new(|| {
        // Unit tests make their own, in directories of their own.
        if cfg!(test) || debug::has(Flags::NOCACHE) || has_more_rights() {
            return None;
        }
        let absolute = |name| {
            let path = PathBuf::from(std::env::var_os(name)?);
            path.is_absolute().then_some(path)
        };
        // XDG Base Directory Specification: relative paths are ignored.
        let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
        Some(DiskCache::new(base.join("cortland"), LIMIT))
    });
    CACHE.as_ref()
}

/// Whether the program runs with rights that its user does not have.
fn has_more_rights() -> bool {
    // SAFETY: reads what the kernel gave the process when it started it.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

impl DiskCache {
    fn new(directory: PathBuf, limit: u64) -> DiskCache {
        DiskCache {
            directory,
            limit,
            is_off: AtomicBool::new(false),
            written: Mutex::new(None),
        }
    }

    fn path(&self, key: &Key) -> PathBuf {
        let name = blake3::Hash::from_bytes(key.0).to_hex();
        self.directory.join(name.as_str())
    }

    /// The binary of a key, and its bytes. A damaged file is removed.
    pub(super) fn find(&self, key: &Key) -> Option<(ShaderBinary, Vec<u8>)> {
        let bytes = self.read(key)?;
        let found = binary::decode(key, &bytes);
        if found.is_none() {
            // If it cannot be removed it is ignored again the next time.
            let _ = fs::remove_file(self.path(key));
        }
        Some((found?, bytes))
    }

    fn read(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.path(key);
        let is_small = fs::metadata(&path).ok()?.len() <= MAX_FILE;
        is_small.then(|| fs::read(&path).ok())?
    }

    /// Keeps bytes for a key.
    pub(super) fn write(&self, key: &Key, bytes: &[u8]) {
        if self.is_off.load(Ordering::Relaxed) {
            return;
        }
        if self.try_write(key, bytes).is_err() {
            self.is_off.store(true, Ordering::Relaxed);
        }
    }

    fn try_write(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        // Private to the user, as the specification of the directory says.
        let mut builder = DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(&self.directory)?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{count}.{UNFINISHED}", std::process::id());
        let unfinished = self.directory.join(name);
        let written = self.write_and_rename(&unfinished, &self.path(key), bytes);
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written?;
        let mut since = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let total = since.map(|since| since + bytes.len() as u64);
        *since = match total {
            Some(total) if total <= self.limit / PART => Some(total),
            _ => {
                self.evict()?;
                Some(0)
            }
        };
        Ok(())
    }

    fn write_and_rename(&self, from: &Path, to: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        // Process numbers are used again, and differ between containers that share a directory.
        let mut file = options.write(true).create_new(true).mode(0o600);
        let mut file = match file.open(from) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(from)?;
                file = &mut options;
                file.open(from)?
            }
            opened => opened?,
        };
        file.write_all(bytes)?;
        drop(file);
        fs::rename(from, to)
    }

    /// Removes the oldest files until those that stay are within the bound, and files that crashed
    /// processes left.
    fn evict(&self) -> io::Result<()> {
        let mut files = Vec::new();
        let mut total = 0;
        for entry in fs::read_dir(&self.directory)? {
            // What another process has removed meanwhile is gone.
            let Ok(entry) = entry else { continue };
            let Ok(data) = entry.metadata() else { continue };
            if !data.is_file() {
                continue;
            }
            let modified = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let path = entry.path();
            if path.extension() == Some(OsStr::new(UNFINISHED)) {
                let age = modified.elapsed().unwrap_or_default();
                if age > ABANDONED {
                    let _ = fs::remove_file(&path);
                }
                continue;
            }
            total += data.len();
            files.push((modified, data.len(), path));
        }
        if total <= self.limit {
            return Ok(());
        }
        files.sort();
        // A quarter less, so that it is not done for each file.
        let goal = self.limit / 4 * 3;
        for (_, size, path) in files {
            if total <= goal {
                break;
            }
            // Removed by another process is as good.
            let _ = fs::remove_file(path);
            total -= size;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that is gone at the end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let name = format!("cortland-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let _ = fs::remove_dir_all(&path);
            Scratch(path)
        }

        fn files(&self) -> Vec<PathBuf> {
            let entries = fs::read_dir(&self.0).expect("a directory");
            entries
                .map(|entry| entry.expect("an entry").path())
                .collect()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn key(number: u8) -> Key {
        Key([number; 32])
    }

    #[test]
    fn what_is_written_is_read_by_other_processes() {
        let scratch = Scratch::new("read");
        let cache = DiskCache::new(scratch.0.join("deep/er"), LIMIT);
        assert_eq!(cache.read(&key(1)), None);
        cache.write(&key(1), b"one");
        cache.write(&key(2), b"two");
        cache.write(&key(1), b"one again");
        let other = DiskCache::new(scratch.0.join("deep/er"), LIMIT);
        assert_eq!(other.read(&key(1)).as_deref(), Some(&b"one again"[..]));
        assert_eq!(other.read(&key(2)).as_deref(), Some(&b"two"[..]));
    }

    #[test]
    fn damaged_files_are_removed() {
        let scratch = Scratch::new("damaged");
        let cache = DiskCache::new(scratch.0.clone(), LIMIT);
        let sample = binary::tests::sample();
        let good = binary::encode(&key(1), &sample);
        for at in 0..=good.len() {
            let mut bytes = good.clone();
            match bytes.get_mut(at) {
                Some(byte) => *byte ^= 1 << (at % 8),
                None => bytes.truncate(at / 2),
            }
            cache.write(&key(1), &bytes);
            assert_eq!(cache.find(&key(1)), None);
            assert!(!cache.path(&key(1)).exists());
        }
        cache.write(&key(1), &good);
        assert_eq!(cache.find(&key(1)), Some((sample, good.clone())));
        // A whole one of another key.
        cache.write(&key(2), &good);
        assert_eq!(cache.find(&key(2)), None);
        assert!(!cache.path(&key(2)).exists());
    }

    #[test]
    fn the_oldest_files_go_when_there_are_too_many() {
        let scratch = Scratch::new("evict");
        let cache = DiskCache::new(scratch.0.clone(), 1600);
        let old = SystemTime::now() - Duration::from_secs(86_400);
        for number in 0..100u8 {
            cache.write(&key(number), &[number; 100]);
            let written = cache.path(&key(number));
            let file = fs::File::options()
                .write(true)
                .open(written)
                .expect("just written");
            file.set_modified(old + Duration::from_secs(number.into()))
                .expect("a time");
            let total: u64 = scratch
                .files()
                .iter()
                .map(|path| fs::metadata(path).expect("there").len())
                .sum();
            assert!(total <= 1600 + 1600 / PART + 100, "{total}");
        }
        assert!(cache.read(&key(99)).is_some());
        assert_eq!(cache.read(&key(0)), None);
        let kept: Vec<_> = (0..100)
            .filter(|number| cache.read(&key(*number)).is_some())
            .collect();
        assert!(
            kept.windows(2).all(|pair| pair[1] == pair[0] + 1),
            "{kept:?}"
        );
    }

    #[test]
    fn abandoned_files_are_removed_and_fresh_ones_left() {
        let scratch = Scratch::new("abandoned");
        fs::create_dir_all(&scratch.0).expect("a directory");
        let (old, fresh) = (scratch.0.join("1-1.tmp"), scratch.0.join("1-2.tmp"));
        for path in [&old, &fresh] {
            fs::write(path, b"half").expect("written");
        }
        let then = SystemTime::now() - 2 * ABANDONED;
        let file = fs::File::options().write(true).open(&old).expect("there");
        file.set_modified(then).expect("a time");
        DiskCache::new(scratch.0.clone(), LIMIT).write(&key(1), b"one");
        assert!(!old.exists());
        assert!(fresh.exists());
    }

    #[test]
    fn a_directory_that_cannot_be_made_turns_the_cache_off() {
        let scratch = Scratch::new("off");
        fs::write(&scratch.0, b"a file").expect("written");
        let cache = DiskCache::new(scratch.0.join("below"), LIMIT);
        cache.write(&key(1), b"one");
        assert!(cache.is_off.load(Ordering::Relaxed));
        assert_eq!(cache.read(&key(1)), None);
        fs::remove_file(&scratch.0).expect("there");
    }

    #[test]
    fn many_writers_leave_whole_files() {
        let scratch = Scratch::new("many");
        std::thread::scope(|scope| {
            for writer in 0..4u8 {
                let directory = scratch.0.clone();
                scope.spawn(move || {
                    let cache = DiskCache::new(directory, 40_000);
                    for round in 0..50u8 {
                        let which = key(round % 5);
                        cache.write(&which, &vec![writer; 1000 + usize::from(round)]);
                        if let Some(found) = cache.read(&which) {
                            assert!(found.len() >= 1000);
                            assert!(found.iter().all(|byte| *byte == found[0]));
                        }
                    }
                    assert!(!cache.is_off.load(Ordering::Relaxed));
                });
            }
        });
        let unfinished = |path: &PathBuf| path.extension().is_some();
        assert_eq!(
            scratch
                .files()
                .iter()
                .filter(|path| unfinished(path))
                .count(),
            0
        );
    }
}
