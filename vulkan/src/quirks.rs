// SPDX-License-Identifier: MIT
//! What the driver does otherwise for certain programs, because they would fail through faults of
//! their own. Each is keyed by the name that the program gives its engine, as Mesa's drirc does it.

use std::ffi::CStr;

use ash::vk;

bitflags::bitflags! {
    /// Differences.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) struct Quirks: u32 {
        /// The queue family says that it has graphics, which it has not. ncnn reads the properties
        /// of family number -1 where no family has, and crashes; it never draws. wgpu takes no
        /// device whose first family has none, even for programs that only compute; one that draws
        /// is told when it makes a pipeline.
        const CLAIM_GRAPHICS = 1 << 0;
    }
}

/// Engines and what they need.
const ENGINES: &[(&CStr, Quirks)] = &[
    (c"ncnn", Quirks::CLAIM_GRAPHICS),
    (c"wgpu-hal", Quirks::CLAIM_GRAPHICS),
];

impl Quirks {
    /// What a program needs that describes itself like this.
    ///
    /// # Safety
    /// The structure is valid.
    pub(crate) unsafe fn of(application: Option<&vk::ApplicationInfo<'_>>) -> Quirks {
        let Some(name) = application.filter(|info| !info.p_engine_name.is_null()) else {
            return Quirks::empty();
        };
        // SAFETY: a string by the specification.
        let name = unsafe { CStr::from_ptr(name.p_engine_name) };
        let known = ENGINES.iter().find(|(engine, _)| *engine == name);
        known.map_or(Quirks::empty(), |(_, quirks)| *quirks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quirks_are_for_the_engines_that_need_them() {
        let of = |name: Option<&CStr>| {
            let mut info = vk::ApplicationInfo::default();
            if let Some(name) = name {
                info = info.engine_name(name);
            }
            // SAFETY: valid.
            unsafe { Quirks::of(Some(&info)) }
        };
        assert_eq!(of(Some(c"ncnn")), Quirks::all());
        assert_eq!(of(Some(c"wgpu-hal")), Quirks::CLAIM_GRAPHICS);
        assert_eq!(of(Some(c"ncnn2")), Quirks::empty());
        assert_eq!(of(None), Quirks::empty());
        // SAFETY: nothing.
        assert_eq!(unsafe { Quirks::of(None) }, Quirks::empty());
    }
}
