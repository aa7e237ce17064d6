// SPDX-License-Identifier: MIT
//! SPIR-V validation, once for each module.

use super::options::BlockLayout;
use super::tools::{Context, Layouts};
use crate::Error;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

/// How many valid modules are remembered by their hashes; about 64 bytes each.
const REMEMBERED: usize = 8192;

/// Copies of modules that passed lately, each in a place that a quick hash gives: comparing takes a tenth of the time
/// of a hash that can be trusted.
const PLACES: usize = 1024;

/// Words of the largest module that is copied, so that all copies together stay below 16 MiB.
const MOST_COPIED: usize = 1 << 12;

/// A module that passed.
struct Copy {
    layout: BlockLayout,
    words: Box<[u32]>,
}

#[derive(Default)]
struct Passed {
    /// The oldest is the first to go.
    set: HashSet<blake3::Hash>,
    order: VecDeque<blake3::Hash>,
    copies: HashMap<usize, Copy>,
}

impl Passed {
    fn has_copy(&self, words: &[u32], layout: BlockLayout) -> bool {
        let copy = self.copies.get(&place(words));
        copy.is_some_and(|copy| copy.layout == layout && *copy.words == *words)
    }

    fn keep_copy(&mut self, words: &[u32], layout: BlockLayout) {
        if words.len() <= MOST_COPIED {
            let copy = Copy {
                layout,
                words: words.into(),
            };
            self.copies.insert(place(words), copy);
        }
    }

    fn remember(&mut self, hash: blake3::Hash) {
        if self.set.insert(hash) {
            self.order.push_back(hash);
            if self.order.len() > REMEMBERED
                && let Some(oldest) = self.order.pop_front()
            {
                self.set.remove(&oldest);
            }
        }
    }
}

/// Where the copy of a module is, if there is one.
fn place(words: &[u32]) -> usize {
    let mix = |sum: u64, part: u64| (sum.rotate_left(5) ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (pairs, rest) = words.as_chunks();
    let sum = pairs.iter().fold(0, |sum, &[low, high]| {
        mix(sum, u64::from(low) | u64::from(high) << 32)
    });
    let sum = rest.iter().fold(sum, |sum, &word| mix(sum, word.into()));
    (sum >> 32) as usize % PLACES
}

static RUNS: AtomicU64 = AtomicU64::new(0);

static PASSED: LazyLock<Mutex<Passed>> = LazyLock::new(Mutex::default);

fn with_passed<R>(f: impl FnOnce(&mut Passed) -> R) -> R {
    f(&mut PASSED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Validate a module for Vulkan 1.3 unless the same module has passed before under the same layout rules.
pub fn validate_spirv(words: &[u32], layout: BlockLayout) -> Result<(), Error> {
    let layouts = match layout {
        BlockLayout::Relaxed => Layouts {
            uniform_standard: false,
            scalar: false,
        },
        BlockLayout::UniformStandard => Layouts {
            uniform_standard: true,
            scalar: false,
        },
        BlockLayout::Scalar => Layouts {
            uniform_standard: true,
            scalar: true,
        },
    };
    if with_passed(|p| p.has_copy(words, layout)) {
        return Ok(());
    }
    let hash = hash(words, layout);
    if !with_passed(|p| p.set.contains(&hash)) {
        RUNS.fetch_add(1, Ordering::Relaxed);
        Context::new()
            .validate(words, layouts)
            .map_err(Error::Invalid)?;
    }
    with_passed(|p| {
        p.remember(hash);
        p.keep_copy(words, layout);
    });
    Ok(())
}

/// Forget which modules have passed, so that each is validated again. For benchmarks and tests.
pub fn forget_validated_modules() {
    with_passed(|p| *p = Passed::default());
}

/// How often the validator has run in this process. For tests.
#[doc(hidden)]
#[must_use]
pub fn validator_runs() -> u64 {
    RUNS.load(Ordering::Relaxed)
}

fn hash(words: &[u32], layout: BlockLayout) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[layout as u8]);
    // SAFETY: any initialised u32 is four initialised bytes, and bytes need no alignment.
    hasher.update(unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) });
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_depends_on_words_and_layout() {
        let a = hash(&[1, 2], BlockLayout::Relaxed);
        assert_eq!(a, hash(&[1, 2], BlockLayout::Relaxed));
        assert_ne!(a, hash(&[1, 3], BlockLayout::Relaxed));
        assert_ne!(a, hash(&[1, 2], BlockLayout::Scalar));
    }
}
