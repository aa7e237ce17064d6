// SPDX-License-Identifier: MIT
//! What the creation of pipelines of all kinds has in common: flags, results, feedback.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use arrayvec::ArrayVec;
use ash::vk;
use mesa_nir::Stage;

use super::Pipeline;
use crate::entry;
use crate::error::VkResult;
use crate::host::HostAllocator;
use crate::object;

/// What VkPipelineCreationFeedback tells.
#[derive(Default)]
pub(super) struct Feedback {
    stages: ArrayVec<StageFeedback, 2>,
}

struct StageFeedback {
    stage: vk::ShaderStageFlags,
    is_cache_hit: bool,
    duration: Duration,
}

impl Feedback {
    /// That a stage was found or compiled; a stage of several views comes several times.
    pub(super) fn note(&mut self, stage: Stage, is_cache_hit: bool, duration: Duration) {
        let stage = match stage {
            Stage::Vertex => vk::ShaderStageFlags::VERTEX,
            Stage::Fragment => vk::ShaderStageFlags::FRAGMENT,
            _ => vk::ShaderStageFlags::COMPUTE,
        };
        match self.stages.iter_mut().find(|noted| noted.stage == stage) {
            Some(noted) => {
                noted.is_cache_hit &= is_cache_hit;
                noted.duration += duration;
            }
            None => self.stages.push(StageFeedback {
                stage,
                is_cache_hit,
                duration,
            }),
        }
    }

    /// Of a whole pipeline, after its creation.
    fn whole(&self, duration: Duration) -> vk::PipelineCreationFeedback {
        let is_cache_hit = self.stages.iter().all(|stage| stage.is_cache_hit);
        feedback(is_cache_hit && !self.stages.is_empty(), duration)
    }

    /// Of a stage; without a word if nothing came to it.
    fn stage(&self, stage: vk::ShaderStageFlags) -> vk::PipelineCreationFeedback {
        let noted = self.stages.iter().find(|noted| noted.stage == stage);
        noted.map_or_else(vk::PipelineCreationFeedback::default, |noted| {
            feedback(noted.is_cache_hit, noted.duration)
        })
    }
}

fn feedback(is_cache_hit: bool, duration: Duration) -> vk::PipelineCreationFeedback {
    let mut flags = vk::PipelineCreationFeedbackFlags::VALID;
    if is_cache_hit {
        flags |= vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT;
    }
    vk::PipelineCreationFeedback {
        flags,
        duration: u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX),
    }
}

/// A structure that a pipeline is created from.
pub(super) trait CreateInfo {
    fn own_flags(&self) -> vk::PipelineCreateFlags;
    fn chain(&self) -> *const c_void;
    /// The stages, in the order in which feedback is given.
    ///
    /// # Safety
    /// The structure is valid.
    unsafe fn stages(&self) -> &[vk::PipelineShaderStageCreateInfo<'_>];
}

impl CreateInfo for vk::ComputePipelineCreateInfo<'_> {
    fn own_flags(&self) -> vk::PipelineCreateFlags {
        self.flags
    }

    fn chain(&self) -> *const c_void {
        self.p_next
    }

    unsafe fn stages(&self) -> &[vk::PipelineShaderStageCreateInfo<'_>] {
        std::slice::from_ref(&self.stage)
    }
}

impl CreateInfo for vk::GraphicsPipelineCreateInfo<'_> {
    fn own_flags(&self) -> vk::PipelineCreateFlags {
        self.flags
    }

    fn chain(&self) -> *const c_void {
        self.p_next
    }

    unsafe fn stages(&self) -> &[vk::PipelineShaderStageCreateInfo<'_>] {
        // SAFETY: the caller's promise.
        unsafe { entry::slice(self.p_stages, self.stage_count) }
    }
}

/// The flags of a pipeline, in whichever structure they are.
///
/// # Safety
/// The structure is valid.
unsafe fn flags(info: &impl CreateInfo) -> vk::PipelineCreateFlags {
    // SAFETY: the caller's promise.
    let more = unsafe { entry::find::<vk::PipelineCreateFlags2CreateInfoKHR<'_>>(info.chain()) };
    // The lower half has the same flags.
    more.map_or(info.own_flags(), |more| {
        vk::PipelineCreateFlags::from_raw(more.flags.as_raw() as u32)
    })
}

/// Tells the application how a pipeline came about.
///
/// # Safety
/// The structure is valid.
unsafe fn give_feedback(info: &impl CreateInfo, feedback: &Feedback, started: Instant) {
    type Info<'a> = vk::PipelineCreationFeedbackCreateInfo<'a>;
    // SAFETY: the caller's promise.
    let Some(to) = (unsafe { entry::find::<Info<'_>>(info.chain()) }) else {
        return;
    };
    // SAFETY: the caller's promise: one for the pipeline, and an array for stages, as long as theirs
    // or empty.
    unsafe {
        if let Some(pipeline) = to.p_pipeline_creation_feedback.as_mut() {
            *pipeline = feedback.whole(started.elapsed());
        }
        let count = to.pipeline_stage_creation_feedback_count as usize;
        if count == 0 {
            return;
        }
        for (at, stage) in info.stages().iter().take(count).enumerate() {
            to.p_pipeline_stage_creation_feedbacks
                .add(at)
                .write(feedback.stage(stage.stage));
        }
    }
}

/// The result of several pipelines: the first error, but errors before a compilation that was not
/// wanted.
fn first_error(earlier: VkResult, error: vk::Result) -> VkResult {
    match earlier {
        Err(earlier) if earlier != vk::Result::PIPELINE_COMPILE_REQUIRED => Err(earlier),
        _ => Err(error),
    }
}

/// Creates pipelines one after the other.
///
/// # Errors
/// As [`first_error`] says. Pipelines that were not made are null.
///
/// # Safety
/// There is room for as many pipelines as there are infos, which are valid.
pub(super) unsafe fn create_each<Info: CreateInfo>(
    host: HostAllocator,
    infos: &[Info],
    pipelines: *mut vk::Pipeline,
    make: impl Fn(&Info, vk::PipelineCreateFlags, &mut Feedback) -> VkResult<Pipeline>,
) -> VkResult {
    let mut result = Ok(());
    for at in 0..infos.len() {
        // SAFETY: the caller's promise.
        unsafe { pipelines.add(at).write(vk::Pipeline::null()) };
    }
    for (at, info) in infos.iter().enumerate() {
        let started = Instant::now();
        // SAFETY: the caller's promise.
        let flags = unsafe { flags(info) };
        let mut feedback = Feedback::default();
        let made = make(info, flags, &mut feedback);
        // SAFETY: as above.
        unsafe { give_feedback(info, &feedback, started) };
        match made.and_then(|made| object::create(host, made)) {
            // SAFETY: as above.
            Ok(made) => unsafe { pipelines.add(at).write(made) },
            Err(error) => {
                result = first_error(result, error);
                if flags.contains(vk::PipelineCreateFlags::EARLY_RETURN_ON_FAILURE) {
                    break;
                }
            }
        }
    }
    result
}
