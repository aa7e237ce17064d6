// SPDX-License-Identifier: MIT
//! SPIR-V validation, once for each module.

use super::options::BlockLayout;
use super::tools::{Context, Layouts};
use crate::Error;
use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

/// How many valid modules are remembered; about 64 bytes each.
const REMEMBERED: usize = 8192;

/// Hashes of modules that passed, the oldest first to go.
#[derive(Default)]
struct Passed {
    set: HashSet<blake3::Hash>,
    order: VecDeque<blake3::Hash>,
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
    let hash = hash(words, layout);
    if with_passed(|p| p.set.contains(&hash)) {
        return Ok(());
    }
    RUNS.fetch_add(1, Ordering::Relaxed);
    Context::new()
        .validate(words, layouts)
        .map_err(Error::Invalid)?;
    with_passed(|p| {
        if p.set.insert(hash) {
            p.order.push_back(hash);
            if p.order.len() > REMEMBERED
                && let Some(oldest) = p.order.pop_front()
            {
                p.set.remove(&oldest);
            }
        }
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
