// SPDX-License-Identifier: MIT
//! lavapipe, Mesa's Vulkan driver for CPUs, as the implementation that results are compared with.
//!
//! Its subgroups are as wide as its vectors, 4 or 8 invocations, so programs whose results depend
//! on the subgroup size cannot be compared with it.

mod images;
mod instance;
mod pipeline;
mod resources;
mod scope;

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use ash::vk;

use self::images::Images;
use self::instance::Instance;
use self::pipeline::Pipeline;
use self::resources::Buffers;
use self::scope::Scope;
use crate::case::{Case, Device};

/// How to open it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Check every call with the Khronos validation layer (Debian package
    /// vulkan-validationlayers); what it finds is an error of the run.
    pub validation: bool,
}

/// An open device. Runs from several threads work side by side, but for validation.
pub struct Lavapipe {
    instance: Instance,
    /// Queues are used by one thread at a time.
    queue: Mutex<vk::Queue>,
    /// Held during a run under validation, so that messages belong to it.
    one_at_a_time: Mutex<()>,
}

/// A run that takes longer has hung.
const TIMEOUT: Duration = Duration::from_secs(120);

impl Lavapipe {
    /// Opens it.
    ///
    /// # Errors
    /// When the Vulkan loader, lavapipe or the validation layer is not installed.
    pub fn open(options: Options) -> anyhow::Result<Lavapipe> {
        let instance = Instance::new(options).context(
            "lavapipe (Debian packages mesa-vulkan-drivers and libvulkan1) does not work: run \
             ./x setup",
        )?;
        let queue = Mutex::new(instance.queue());
        Ok(Lavapipe {
            instance,
            queue,
            one_at_a_time: Mutex::new(()),
        })
    }

    /// The one that all tests of a process share, with validation if `CORTLAND_CTS_VALIDATION` is
    /// set.
    ///
    /// # Errors
    /// As [`Lavapipe::open`].
    pub fn shared() -> anyhow::Result<&'static Lavapipe> {
        static SHARED: OnceLock<Result<Lavapipe, String>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| {
            let validation = std::env::var_os("CORTLAND_CTS_VALIDATION").is_some();
            Lavapipe::open(Options { validation }).map_err(|error| format!("{error:#}"))
        });
        shared.as_ref().map_err(|error| anyhow::anyhow!("{error}"))
    }

    /// True when it can be opened.
    #[must_use]
    pub fn is_there() -> bool {
        Lavapipe::shared().is_ok()
    }

    /// Invocations of a subgroup.
    #[must_use]
    pub fn subgroup_size(&self) -> u32 {
        self.instance.subgroup_size()
    }

    /// Name and version of the driver.
    #[must_use]
    pub fn description(&self) -> &str {
        self.instance.description()
    }

    /// Creates the case's pipeline and drops it again: for benchmarks of `vkCreateComputePipelines`.
    ///
    /// # Errors
    /// When the driver refuses the shader.
    pub fn compile(&self, case: &Case) -> anyhow::Result<Duration> {
        let mut scope = Scope::new(self.instance.device());
        Ok(Pipeline::new(&self.instance, &mut scope, case)?.creation)
    }

    fn execute(&self, case: &Case) -> anyhow::Result<Vec<Vec<u8>>> {
        let device = self.instance.device();
        let mut scope = Scope::new(device);
        let buffers = Buffers::new(&self.instance, &mut scope, case)?;
        let images = Images::new(&self.instance, &mut scope, case)?;
        let pipeline = Pipeline::new(&self.instance, &mut scope, case)?;
        let sets = pipeline.descriptor_sets(&mut scope, case, &buffers, &images)?;
        let push_constants = case.push_constants_with(|index| buffers.address(index))?;

        let pool_info = vk::CommandPoolCreateInfo::default().queue_family_index(0);
        let pool = scope.command_pool(&pool_info)?;
        let allocate = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        // SAFETY: the pool is alive, and this thread's.
        let commands = unsafe { device.allocate_command_buffers(&allocate) }?[0];
        // SAFETY: every handle is of this device and lives in `scope`, and the ranges were checked
        // when the layouts were made.
        unsafe {
            device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
            images.upload(device, commands);
            let point = vk::PipelineBindPoint::COMPUTE;
            device.cmd_bind_pipeline(commands, point, pipeline.handle);
            if !sets.is_empty() {
                device.cmd_bind_descriptor_sets(commands, point, pipeline.layout, 0, &sets, &[]);
            }
            if !push_constants.is_empty() {
                let stage = vk::ShaderStageFlags::COMPUTE;
                device.cmd_push_constants(commands, pipeline.layout, stage, 0, &push_constants);
            }
            let ([x, y, z], [bx, by, bz]) = (case.groups, case.base_group);
            device.cmd_dispatch_base(commands, bx, by, bz, x, y, z);
            let barrier = vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::SHADER_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ);
            device.cmd_pipeline_barrier(
                commands,
                vk::PipelineStageFlags::COMPUTE_SHADER,
                vk::PipelineStageFlags::HOST,
                vk::DependencyFlags::empty(),
                &[barrier],
                &[],
                &[],
            );
            images.download(device, commands);
            device.end_command_buffer(commands)?;
        }
        let fence = scope.fence(&vk::FenceCreateInfo::default())?;
        let command_list = [commands];
        let submit = vk::SubmitInfo::default().command_buffers(&command_list);
        {
            let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: the queue is locked; the command buffer and the fence live until it is done.
            unsafe { device.queue_submit(*queue, &[submit], fence) }?;
        }
        // SAFETY: the fence is alive.
        let waited = unsafe { device.wait_for_fences(&[fence], true, TIMEOUT.as_nanos() as u64) };
        if let Err(error) = waited {
            // The command may still be running: its resources must stay.
            scope.leak();
            bail!("{}: lavapipe did not finish: {error}", case.name);
        }
        let mut results = buffers.read(case);
        results.extend(images.read(case));
        Ok(results)
    }
}

impl Device for Lavapipe {
    fn run(&self, case: &Case) -> anyhow::Result<Vec<Vec<u8>>> {
        let validating = self.instance.is_validating();
        let _guard = validating.then(|| {
            self.one_at_a_time
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        });
        let result = self
            .execute(case)
            .with_context(|| format!("{} on lavapipe", case.name));
        let messages = self.instance.take_messages();
        ensure!(
            messages.is_empty(),
            "{}: the validation layer says: {}",
            case.name,
            messages.join("\n")
        );
        result
    }
}

#[cfg(test)]
mod tests;
