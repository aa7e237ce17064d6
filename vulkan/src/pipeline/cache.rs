// SPDX-License-Identifier: MIT
//! VkPipelineCache: binaries that the application keeps, and may store.
//!
//! Its data is the header that the specification fixes (Vulkan 1.3, 10.7.4 "Pipeline Cache Header"),
//! then entries one after another: key, 32-bit length, binary. Data of another driver, build or chip
//! is ignored, and so is every entry whose binary is not what was written (`binary`); what follows a
//! damaged length is lost.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use agx_compiler::binary::ShaderBinary;
use agx_uapi::Chip;
use ash::vk;

use super::binary;
use super::key::Key;
use crate::device::{self, Device};
use crate::entry;
use crate::error::VkResult;
use crate::host::{HostAllocator, HostVec, OUT_OF_HOST};
use crate::object::{self, Object};
use crate::physical_device::identity::{VENDOR_ID, device_id, pipeline_cache_uuid};

/// Bytes of the header.
const HEADER: usize = 32;
/// Bytes of an entry in front of its binary.
const ENTRY: usize = 36;

/// A pipeline cache.
pub(crate) struct PipelineCache {
    host: HostAllocator,
    chip: Chip,
    /// By key. Also with `EXTERNALLY_SYNCHRONIZED`, where the lock is never contended.
    entries: Mutex<HostVec<Entry>>,
}

struct Entry {
    key: Key,
    blob: HostVec<u8>,
}

impl Object for PipelineCache {
    type Handle = vk::PipelineCache;
}

fn header(chip: Chip) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    let version = vk::PipelineCacheHeaderVersion::ONE.as_raw() as u32;
    let words = [HEADER as u32, version, VENDOR_ID, device_id(chip)];
    for (to, word) in header.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    header[16..].copy_from_slice(&pipeline_cache_uuid(chip));
    header
}

/// The entries of data that this build has written for this chip, as far as they can be made out.
fn entries(chip: Chip, data: &[u8]) -> impl Iterator<Item = (Key, &[u8])> {
    let mut rest = data.strip_prefix(&header(chip)).unwrap_or(&[]);
    std::iter::from_fn(move || {
        let (key, after) = rest.split_first_chunk::<32>()?;
        let (length, after) = after.split_first_chunk::<4>()?;
        let (blob, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        rest = after;
        Some((Key(*key), blob))
    })
}

impl PipelineCache {
    fn new(host: HostAllocator, chip: Chip, data: &[u8]) -> VkResult<PipelineCache> {
        let mut found = host.vec();
        for (key, blob) in entries(chip, data) {
            // Damaged ones are not kept, and so not handed on.
            if binary::decode(&key, blob).is_none() {
                continue;
            }
            let blob = host.copied(blob)?;
            crate::host::push(&mut found, Entry { key, blob })?;
        }
        found.sort_unstable_by_key(|entry: &Entry| entry.key);
        found.dedup_by_key(|entry| entry.key);
        Ok(PipelineCache {
            host,
            chip,
            entries: Mutex::new(found),
        })
    }

    /// The binary of a key, and its bytes.
    pub(super) fn find(&self, key: &Key) -> Option<(ShaderBinary, Vec<u8>)> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let at = entries.binary_search_by_key(key, |entry| entry.key).ok()?;
        let blob = &entries[at].blob;
        Some((binary::decode(key, blob)?, blob.to_vec()))
    }

    /// Whether it has the binary of a key.
    pub(super) fn has(&self, key: &Key) -> bool {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.binary_search_by_key(key, |entry| entry.key).is_ok()
    }

    /// How many binaries it has.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.len()
    }

    /// Keeps a binary, unless it has it.
    ///
    /// # Errors
    /// When the callbacks refuse memory.
    pub(super) fn insert(&self, key: Key, blob: &[u8]) -> VkResult {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        insert(&mut entries, self.host, key, blob)
    }
}

fn insert(entries: &mut HostVec<Entry>, host: HostAllocator, key: Key, blob: &[u8]) -> VkResult {
    if let Err(at) = entries.binary_search_by_key(&key, |entry| entry.key) {
        entries.try_reserve(1).map_err(|_| OUT_OF_HOST)?;
        let blob = host.copied(blob)?;
        entries.insert(at, Entry { key, blob });
    }
    Ok(())
}

/// vkCreatePipelineCache.
pub(crate) unsafe extern "system" fn create_pipeline_cache(
    device: vk::Device,
    info: *const vk::PipelineCacheCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    cache: *mut vk::PipelineCache,
) -> vk::Result {
    entry::try_guard("vkCreatePipelineCache", || {
        // SAFETY: valid by the specification.
        unsafe {
            let device = object::get::<Device>(device);
            let host = device.allocator(allocator);
            let data: &[u8] = match (*info).initial_data_size {
                0 => &[],
                size => std::slice::from_raw_parts((*info).p_initial_data.cast(), size),
            };
            let made = PipelineCache::new(host, device.chip, data)?;
            *cache = object::create(host, made)?;
        }
        Ok(())
    })
}

/// vkDestroyPipelineCache.
pub(crate) unsafe extern "system" fn destroy_pipeline_cache(
    device: vk::Device,
    cache: vk::PipelineCache,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe {
        device::destroy_object::<PipelineCache>("vkDestroyPipelineCache", device, cache, allocator)
    };
}

/// vkGetPipelineCacheData.
pub(crate) unsafe extern "system" fn get_pipeline_cache_data(
    _device: vk::Device,
    cache: vk::PipelineCache,
    size: *mut usize,
    data: *mut c_void,
) -> vk::Result {
    entry::try_guard("vkGetPipelineCacheData", || {
        // SAFETY: valid by the specification.
        let (cache, size, data) = unsafe {
            let room = if data.is_null() { 0 } else { *size };
            let data = (!data.is_null()).then(|| std::slice::from_raw_parts_mut(data.cast(), room));
            (object::get::<PipelineCache>(cache), &mut *size, data)
        };
        let entries = cache.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(data) = data else {
            let bytes = entries.iter().map(|entry| ENTRY + entry.blob.len());
            *size = HEADER + bytes.sum::<usize>();
            return Ok(());
        };
        *size = 0;
        let mut append = |parts: &[&[u8]]| -> VkResult {
            let length: usize = parts.iter().map(|part| part.len()).sum();
            let mut to = data
                .get_mut(*size..)
                .and_then(|rest| rest.get_mut(..length))
                .ok_or(vk::Result::INCOMPLETE)?;
            for part in parts {
                let (here, rest) = to.split_at_mut(part.len());
                here.copy_from_slice(part);
                to = rest;
            }
            *size += length;
            Ok(())
        };
        append(&[&header(cache.chip)])?;
        for Entry { key, blob } in entries.iter() {
            append(&[&key.0, &(blob.len() as u32).to_le_bytes(), blob])?;
        }
        Ok(())
    })
}

/// vkMergePipelineCaches.
pub(crate) unsafe extern "system" fn merge_pipeline_caches(
    _device: vk::Device,
    target: vk::PipelineCache,
    count: u32,
    sources: *const vk::PipelineCache,
) -> vk::Result {
    entry::try_guard("vkMergePipelineCaches", || {
        // SAFETY: valid by the specification; a target is not among the sources.
        unsafe {
            let to = object::get::<PipelineCache>(target);
            for source in entry::slice(sources, count) {
                // Locking it twice would wait for ever.
                if *source == target {
                    continue;
                }
                let from = object::get::<PipelineCache>(*source);
                let from = from.entries.lock().unwrap_or_else(PoisonError::into_inner);
                for Entry { key, blob } in from.iter() {
                    to.insert(*key, blob)?;
                }
            }
        }
        Ok(())
    })
}
