// SPDX-License-Identifier: MIT
//! The hardware, shared by all open files.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use agx_uapi::{Drm, Errno};

use super::files::Identity;
use super::gem::Gem;
use super::node::SimNode;
use super::scheduler::Scheduler;
use super::timestamp::Aperture;
use super::vm::RenderSlots;
use crate::config::SimConfig;
use crate::fault::Fault;
use crate::gpu::Gpu;
use crate::memory::{Bo, Budget, PAGE_SIZE};
use crate::processor::Processor;

/// A simulated GPU with its kernel driver. Open files ([`SimNode`]) keep it alive; its threads end
/// with it.
pub struct SimDevice {
    pub(super) config: SimConfig,
    pub(super) budget: Arc<Budget>,
    pub(super) scheduler: Arc<Scheduler>,
    pub(super) aperture: Arc<Aperture>,
    pub(super) render_slots: Arc<RenderSlots>,
    next_uid: AtomicU64,
    next_offset: AtomicU64,
    /// Buffers that have been exported or imported.
    shared: Mutex<HashMap<Identity, Weak<Gem>>>,
}

impl std::fmt::Debug for SimDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimDevice")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl SimDevice {
    /// A GPU of the simulator's own, as configured.
    ///
    /// # Errors
    /// When its threads cannot be started.
    pub fn simulated(config: SimConfig) -> io::Result<Arc<SimDevice>> {
        let gpu = Gpu::new(config.gpu.clone())?;
        Ok(SimDevice::new(config, Arc::new(gpu)))
    }

    /// A GPU whose commands the processor executes.
    #[must_use]
    pub fn new(config: SimConfig, processor: Arc<dyn Processor>) -> Arc<SimDevice> {
        Arc::new(SimDevice {
            budget: Budget::new(config.memory_limit),
            scheduler: Scheduler::new(config.chip, processor),
            aperture: Arc::default(),
            render_slots: Arc::default(),
            next_uid: AtomicU64::new(1),
            // As DRM does, above what is no buffer.
            next_offset: AtomicU64::new(1 << 32),
            shared: Mutex::default(),
            config,
        })
    }

    /// Opens the device node.
    #[must_use]
    pub fn open(self: &Arc<Self>) -> SimNode {
        SimNode::new(self.clone())
    }

    /// Opens the device node behind the typed interface.
    ///
    /// # Panics
    /// Never: the driver's name is right.
    #[must_use]
    pub fn kernel(self: &Arc<Self>) -> Drm<SimNode> {
        Drm::new(self.open()).expect("the driver is the Asahi driver")
    }

    /// How the GPU is configured.
    #[must_use]
    pub fn config(&self) -> &SimConfig {
        &self.config
    }

    /// True once the device is lost: every submit fails from then on.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.scheduler.is_lost()
    }

    /// The fault that lost the device, if one did.
    #[must_use]
    pub fn last_fault(&self) -> Option<Fault> {
        self.scheduler.last_fault()
    }

    /// Loses the device, as a crash of the firmware does: accepted fences get `EIO`.
    pub fn lose(&self) {
        self.scheduler.lose(Errno::EIO, None);
    }

    /// Bytes and number of the buffers that this device has made and that still exist.
    #[must_use]
    pub fn memory_in_use(&self) -> (u64, usize) {
        (self.budget.bytes(), self.budget.objects())
    }

    /// A number that no other object of the device has.
    pub(super) fn new_uid(&self) -> u64 {
        self.next_uid.fetch_add(1, Ordering::Relaxed)
    }

    /// A buffer around an object.
    pub(super) fn gem(&self, bo: Arc<Bo>, private_to: Option<u64>) -> Arc<Gem> {
        let space = bo.size() + PAGE_SIZE;
        let mmap_offset = self
            .next_offset
            .fetch_add(space.next_multiple_of(1 << 16), Ordering::Relaxed);
        Arc::new(Gem {
            bo,
            private_to,
            mmap_offset,
        })
    }

    /// Makes a buffer findable by the file that holds it.
    pub(super) fn share(&self, identity: Identity, gem: &Arc<Gem>) {
        let mut shared = self.shared.lock().unwrap();
        shared.retain(|_, gem| gem.strong_count() > 0);
        shared.insert(identity, Arc::downgrade(gem));
    }

    /// The buffer of a file; `make` makes it when the device has none.
    pub(super) fn shared(
        &self,
        identity: Identity,
        make: impl FnOnce() -> Result<Arc<Gem>, Errno>,
    ) -> Result<Arc<Gem>, Errno> {
        let mut shared = self.shared.lock().unwrap();
        if let Some(gem) = shared.get(&identity).and_then(Weak::upgrade) {
            return Ok(gem);
        }
        let gem = make()?;
        shared.retain(|_, gem| gem.strong_count() > 0);
        shared.insert(identity, Arc::downgrade(&gem));
        Ok(gem)
    }
}

impl Drop for SimDevice {
    fn drop(&mut self) {
        self.scheduler.stop();
    }
}
