// SPDX-License-Identifier: MIT
//! Where the shader of a pipeline comes from: one that is alive, a cache, or the compiler.

use std::sync::Arc;
use std::time::Instant;

use agx_compiler::Listing;
use ash::vk;

use super::cache::PipelineCache;
use super::compile::{compile, disassemble, is_wanted_anew, print};
use super::create::Feedback;
use super::disk_cache;
use super::key::Key;
use super::source::Source;
use super::store::Shader;
use crate::debug::{self, Flags};
use crate::device::Device;
use crate::error::VkResult;

/// Texts of stages of a compilation, with their names.
pub(super) type Texts = [(&'static str, String); 4];

/// How pipelines look for their shaders.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) device: &'a Device,
    /// The application's.
    pub(super) cache: Option<&'a PipelineCache>,
    /// Whether the texts of the compilation are wanted.
    pub(super) keeps_texts: bool,
    /// Whether there is no compiling.
    pub(super) is_only_found: bool,
}

impl<'a> Search<'a> {
    /// That of a pipeline with flags.
    pub(super) fn new(
        device: &'a Device,
        cache: Option<&'a PipelineCache>,
        flags: vk::PipelineCreateFlags,
    ) -> Search<'a> {
        Search {
            device,
            cache,
            keeps_texts: flags
                .contains(vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR),
            is_only_found: flags
                .contains(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED),
        }
    }

    /// The shader of a source.
    ///
    /// # Errors
    /// [`vk::Result::PIPELINE_COMPILE_REQUIRED`] when no one has it and it is not to be compiled, or
    /// cannot be; else as [`compile`].
    pub(super) fn shader(
        &self,
        source: &Source<'_>,
        feedback: &mut Feedback,
    ) -> VkResult<(Arc<Shader>, Option<Texts>)> {
        let started = Instant::now();
        let mut is_cache_hit = false;
        let found = self.find_or_compile(source, &mut is_cache_hit);
        feedback.note(source.lowering.stage(), is_cache_hit, started.elapsed());
        found
    }

    fn find_or_compile(
        &self,
        source: &Source<'_>,
        is_cache_hit: &mut bool,
    ) -> VkResult<(Arc<Shader>, Option<Texts>)> {
        let device = self.device;
        let key = source.key(device.chip);
        // Compiled anew also when it is known, because no cache keeps texts.
        if !self.keeps_texts
            && !is_wanted_anew()
            && let Some(shader) = self.find(source, key, is_cache_hit)?
        {
            return Ok((shader, None));
        }
        // A stage that gives only a module's identifier has nothing to compile.
        if self.is_only_found || source.module.words.is_empty() {
            return Err(vk::Result::PIPELINE_COMPILE_REQUIRED);
        }
        let (made, listing) = compile(source, self.keeps_texts)?;
        print(source, &made);
        let shader = device.shaders.add(device, source, key, &made, None)?;
        if let Some(cache) = self.cache {
            // Without host memory for the cache there is still a pipeline.
            let _ = cache.insert(key, &shader.blob);
        }
        if let Some(disk) = disk_cache::user_cache() {
            disk.write(&key, &shader.blob);
        }
        let texts = listing.map(|listing| {
            let Listing {
                nir,
                ssa,
                registers,
            } = listing;
            [
                ("NIR", nir),
                ("SSA", ssa),
                ("Registers", registers),
                ("Assembly", disassemble(&made)),
            ]
        });
        Ok((shader, texts))
    }

    /// The shader of a key without compiling: nothing when no one has it.
    fn find(
        &self,
        source: &Source<'_>,
        key: Key,
        is_cache_hit: &mut bool,
    ) -> VkResult<Option<Arc<Shader>>> {
        let store = &self.device.shaders;
        if debug::has(Flags::ASM | Flags::STATS) {
            // What is printed is not kept with shaders that are alive.
        } else if let Some(shader) = store.find(&key) {
            if let Some(cache) = self.cache {
                *is_cache_hit = cache.has(&key);
                let _ = cache.insert(key, &shader.blob);
            }
            return Ok(Some(shader));
        }
        let in_cache = self.cache.and_then(|cache| cache.find(&key));
        if let Some((found, blob)) = in_cache.filter(|(found, _)| source.fits(found)) {
            *is_cache_hit = true;
            print(source, &found);
            let shader = store.add(self.device, source, key, &found, Some(&blob))?;
            return Ok(Some(shader));
        }
        let on_disk = disk_cache::user_cache().and_then(|disk| disk.find(&key));
        let Some((found, blob)) = on_disk.filter(|(found, _)| source.fits(found)) else {
            return Ok(None);
        };
        print(source, &found);
        if let Some(cache) = self.cache {
            let _ = cache.insert(key, &blob);
        }
        let shader = store.add(self.device, source, key, &found, Some(&blob))?;
        Ok(Some(shader))
    }
}
