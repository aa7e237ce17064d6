// SPDX-License-Identifier: MIT
//! Names and numbers by which programs know the GPU and the driver.

use agx_uapi::Chip;
use ash::vk;

use super::PhysicalDevice;
use crate::entry;

/// Apple's number among PCI vendors.
pub(crate) const VENDOR_ID: u32 = 0x106b;

/// The chip's number, as GET_PARAMS gives it (kernel-uapi, 5.1).
pub(crate) fn device_id(chip: Chip) -> u32 {
    match chip {
        Chip::M4 => 0x8132,
        Chip::A18Pro => 0x8140,
    }
}

/// What cached pipelines depend on: the driver's build and the chip.
pub(crate) fn pipeline_cache_uuid(chip: Chip) -> [u8; vk::UUID_SIZE] {
    let chip = device_id(chip).to_le_bytes();
    uuid("cortland pipeline cache UUID", &[BUILD.as_bytes(), &chip])
}

/// The sources that the driver was built from, shader compiler included, as a hash.
pub(crate) const BUILD: &str = env!("CORTLAND_DRIVER_BUILD");

/// The crate's version in Vulkan's packing.
pub(crate) const DRIVER_VERSION: u32 = vk::make_api_version(
    0,
    number(env!("CARGO_PKG_VERSION_MAJOR")),
    number(env!("CARGO_PKG_VERSION_MINOR")),
    number(env!("CARGO_PKG_VERSION_PATCH")),
);

const fn number(digits: &str) -> u32 {
    match u32::from_str_radix(digits, 10) {
        Ok(number) => number,
        Err(_) => panic!("versions are numbers"),
    }
}

/// A UUID that says all that it is made of and nothing else.
fn uuid(purpose: &str, parts: &[&[u8]]) -> [u8; vk::UUID_SIZE] {
    let mut hash = blake3::Hasher::new_derive_key(purpose);
    for part in parts {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut uuid = [0; vk::UUID_SIZE];
    hash.finalize_xof().fill(&mut uuid);
    uuid
}

/// How modules are identified: by BLAKE3 of their words.
pub(crate) fn module_identifier_uuid() -> [u8; vk::UUID_SIZE] {
    uuid(
        "cortland shader module identifier UUID: BLAKE3 of the words",
        &[],
    )
}

/// Which driver: two builds may disagree on what lies in exported memory.
pub(crate) fn driver_uuid() -> [u8; vk::UUID_SIZE] {
    uuid("cortland driver UUID", &[BUILD.as_bytes()])
}

impl PhysicalDevice {
    fn number(&self) -> u32 {
        device_id(self.chip)
    }

    fn name(&self) -> String {
        let name = match self.chip {
            Chip::M4 => "Apple M4 (G16G)",
            Chip::A18Pro => "Apple A18 Pro (G17P)",
        };
        if self.backend.is_simulated() {
            format!("{name} [simulated]")
        } else {
            name.to_owned()
        }
    }

    /// Which GPU: machines have one of a kind.
    pub(crate) fn uuid(&self) -> [u8; vk::UUID_SIZE] {
        let simulated = [u8::from(self.backend.is_simulated())];
        let chip = self.number().to_le_bytes();
        uuid("cortland device UUID", &[&chip, &simulated])
    }

    /// The part of VkPhysicalDeviceProperties that tells who it is.
    pub(super) fn identify(&self, properties: &mut vk::PhysicalDeviceProperties) {
        properties.api_version = crate::instance::API_VERSION;
        properties.driver_version = DRIVER_VERSION;
        properties.vendor_id = VENDOR_ID;
        properties.device_id = self.number();
        properties.device_type = if self.backend.is_simulated() {
            vk::PhysicalDeviceType::CPU
        } else {
            vk::PhysicalDeviceType::INTEGRATED_GPU
        };
        if let Ok(name) = std::ffi::CString::new(self.name()) {
            entry::text(&name, &mut properties.device_name);
        }
        properties.pipeline_cache_uuid = pipeline_cache_uuid(self.chip);
    }
}
