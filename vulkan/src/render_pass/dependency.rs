// SPDX-License-Identifier: MIT
//! Dependencies between subpasses, and which are local to pixels (Vulkan 1.3, 7.1 "Framebuffer Region
//! Dependencies").

use ash::vk;

use crate::entry;

/// A synchronisation scope: stages, and what they access.
#[derive(Clone, Copy, Debug)]
struct Scope {
    stages: vk::PipelineStageFlags2,
    accesses: vk::AccessFlags2,
}

impl Scope {
    /// The flags of version 1.0 have the same numbers.
    fn new(stages: vk::PipelineStageFlags, accesses: vk::AccessFlags) -> Scope {
        Scope {
            stages: vk::PipelineStageFlags2::from_raw(stages.as_raw().into()),
            accesses: vk::AccessFlags2::from_raw(accesses.as_raw().into()),
        }
    }

    /// Whether it is of attachments only.
    fn is_of_attachments(self) -> bool {
        use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
        let stages = S::FRAGMENT_SHADER
            | S::EARLY_FRAGMENT_TESTS
            | S::LATE_FRAGMENT_TESTS
            | S::COLOR_ATTACHMENT_OUTPUT;
        let accesses = A::INPUT_ATTACHMENT_READ
            | A::COLOR_ATTACHMENT_READ
            | A::COLOR_ATTACHMENT_WRITE
            | A::DEPTH_STENCIL_ATTACHMENT_READ
            | A::DEPTH_STENCIL_ATTACHMENT_WRITE;
        stages.contains(self.stages) && accesses.contains(self.accesses)
    }
}

/// A dependency between subpasses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dependency {
    pub(super) from: u32,
    pub(super) to: u32,
    before: Scope,
    after: Scope,
    flags: vk::DependencyFlags,
}

impl Dependency {
    pub(super) fn new(of: &vk::SubpassDependency) -> Dependency {
        Dependency {
            from: of.src_subpass,
            to: of.dst_subpass,
            before: Scope::new(of.src_stage_mask, of.src_access_mask),
            after: Scope::new(of.dst_stage_mask, of.dst_access_mask),
            flags: of.dependency_flags,
        }
    }

    /// # Safety
    /// The structure is valid.
    pub(super) unsafe fn new2(of: &vk::SubpassDependency2<'_>) -> Dependency {
        // SAFETY: the caller's promise.
        let instead = unsafe { entry::find::<vk::MemoryBarrier2<'_>>(of.p_next) };
        let (before, after) = match instead {
            Some(barrier) => (
                Scope {
                    stages: barrier.src_stage_mask,
                    accesses: barrier.src_access_mask,
                },
                Scope {
                    stages: barrier.dst_stage_mask,
                    accesses: barrier.dst_access_mask,
                },
            ),
            None => (
                Scope::new(of.src_stage_mask, of.src_access_mask),
                Scope::new(of.dst_stage_mask, of.dst_access_mask),
            ),
        };
        Dependency {
            from: of.src_subpass,
            to: of.dst_subpass,
            before,
            after,
            flags: of.dependency_flags,
        }
    }

    /// Whether it is between accesses of attachments at the same pixel. (Without `BY_REGION` it is also a
    /// dependency of whatever fragment shaders did not write, at any pixel.)
    pub(super) fn is_local(&self) -> bool {
        self.flags.contains(vk::DependencyFlags::BY_REGION)
            && self.before.is_of_attachments()
            && self.after.is_of_attachments()
    }
}
