// SPDX-License-Identifier: MIT
//! Which GPU: an Asahi render node, or the simulated M4.
//!
//! `CORTLAND_DEVICE` chooses: `auto` takes a render node when there is one and the simulated M4
//! otherwise, `hw` insists on a render node, `sim` and `sim:a18pro` on a simulated GPU.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use agx_sim::config::SimConfig;
use agx_sim::kernel::SimDevice;
use agx_uapi::{Chip, DrmKernel, Kernel};
use ash::vk;

use crate::debug;
use crate::error::VkResult;

/// What the environment asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Auto,
    Hardware,
    Simulated(Chip),
}

impl Wanted {
    fn from_text(text: &str) -> Option<Wanted> {
        Some(match text {
            "" | "auto" => Wanted::Auto,
            "hw" => Wanted::Hardware,
            "sim" | "sim:m4" => Wanted::Simulated(Chip::M4),
            "sim:a18pro" => Wanted::Simulated(Chip::A18Pro),
            _ => return None,
        })
    }
}

/// A GPU that can be opened as often as one likes.
#[derive(Clone)]
pub(crate) enum Backend {
    /// A render node.
    Hardware(PathBuf),
    /// The simulator, in this process.
    Simulated(Arc<SimDevice>),
}

impl Backend {
    /// The GPU that the environment asks for; none when there is no such.
    pub(crate) fn choose() -> Option<Backend> {
        let text = std::env::var("CORTLAND_DEVICE").unwrap_or_default();
        let wanted = Wanted::from_text(&text).or_else(|| {
            debug::error(&format_args!(
                "CORTLAND_DEVICE is {text:?}; it can be auto, hw, sim or sim:a18pro"
            ));
            None
        })?;
        match wanted {
            Wanted::Auto => hardware().ok().or_else(|| simulated(Chip::M4)),
            Wanted::Hardware => hardware()
                .inspect_err(|why| debug::error(&format_args!("CORTLAND_DEVICE=hw: {why}")))
                .ok(),
            Wanted::Simulated(chip) => simulated(chip),
        }
    }

    /// Opens the device anew: what belongs to one open file is no one else's.
    ///
    /// # Errors
    /// [`vk::Result::ERROR_INITIALIZATION_FAILED`] when it cannot be opened any more.
    pub(crate) fn open(&self) -> VkResult<Arc<dyn Kernel>> {
        match self {
            Backend::Hardware(path) => match DrmKernel::open(path) {
                Ok(kernel) => Ok(Arc::new(kernel)),
                Err(error) => {
                    debug::error(&format_args!("{error}"));
                    Err(vk::Result::ERROR_INITIALIZATION_FAILED)
                }
            },
            Backend::Simulated(device) => Ok(Arc::new(device.kernel())),
        }
    }

    /// Whether it is the simulator.
    pub(crate) fn is_simulated(&self) -> bool {
        matches!(self, Backend::Simulated(_))
    }

    /// What the GPU stumbled over, as far as the backend knows.
    pub(crate) fn fault(&self) -> Option<String> {
        match self {
            Backend::Hardware(_) => None,
            Backend::Simulated(device) => device.last_fault().map(|fault| fault.to_string()),
        }
    }
}

/// The first render node of the Asahi driver.
fn hardware() -> Result<Backend, agx_uapi::OpenError> {
    let kernel = DrmKernel::open_first()?;
    Ok(Backend::Hardware(kernel.node().path().to_owned()))
}

/// The process's simulated GPU: one of each kind, as a machine has one, so that instances share
/// it as they would share hardware. A lost one is replaced, where hardware would be rebooted.
fn simulated(chip: Chip) -> Option<Backend> {
    static DEVICES: Mutex<Vec<(Chip, Weak<SimDevice>)>> = Mutex::new(Vec::new());
    let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    devices.retain(|(_, device)| device.upgrade().is_some_and(|device| !device.is_lost()));
    let there = devices.iter().find(|(of, _)| *of == chip);
    if let Some(device) = there.and_then(|(_, device)| device.upgrade()) {
        return Some(Backend::Simulated(device));
    }
    let config = match chip {
        Chip::M4 => SimConfig::m4(),
        Chip::A18Pro => SimConfig::a18_pro(),
    };
    match SimDevice::simulated(config) {
        Ok(device) => {
            devices.push((chip, Arc::downgrade(&device)));
            Some(Backend::Simulated(device))
        }
        Err(error) => {
            debug::error(&format_args!("the simulated GPU does not start: {error}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices() {
        assert_eq!(Wanted::from_text(""), Some(Wanted::Auto));
        assert_eq!(Wanted::from_text("auto"), Some(Wanted::Auto));
        assert_eq!(Wanted::from_text("hw"), Some(Wanted::Hardware));
        assert_eq!(Wanted::from_text("sim"), Some(Wanted::Simulated(Chip::M4)));
        assert_eq!(
            Wanted::from_text("sim:a18pro"),
            Some(Wanted::Simulated(Chip::A18Pro))
        );
        assert_eq!(Wanted::from_text("sim:m9"), None);
    }

    #[test]
    fn a_process_has_one_simulated_gpu_of_a_kind_until_it_is_lost() {
        let of = |backend: &Option<Backend>| match backend {
            Some(Backend::Simulated(device)) => Arc::as_ptr(device),
            _ => panic!("no simulated device"),
        };
        let first = simulated(Chip::A18Pro);
        let second = simulated(Chip::A18Pro);
        assert_eq!(of(&first), of(&second));
        if let Some(Backend::Simulated(device)) = &first {
            device.lose();
        }
        assert_ne!(of(&first), of(&simulated(Chip::A18Pro)));
    }
}
