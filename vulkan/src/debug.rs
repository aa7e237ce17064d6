// SPDX-License-Identifier: MIT
//! `CORTLAND_DEBUG` and what the driver says, on standard error and to the application's messengers.

use std::fmt::Display;
use std::sync::LazyLock;

use ash::vk;

use crate::debug_utils;

bitflags::bitflags! {
    /// What `CORTLAND_DEBUG`, a comma-separated list, asks for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) struct Flags: u32 {
        /// Print each shader's NIR.
        const NIR = 1 << 0;
        /// Print each shader's SSA form before register allocation.
        const IR = 1 << 1;
        /// Print each shader's machine code.
        const ASM = 1 << 2;
        /// Print each shader's statistics.
        const STATS = 1 << 3;
        /// Print each submit: commands, waits, signals.
        const SUBMIT = 1 << 4;
        /// Print each command as it is recorded.
        const CMD = 1 << 5;
        /// Run the SPIR-V validator on every module.
        const VALIDATE = 1 << 6;
        /// Wait for each submit to complete before returning from it.
        const SYNC = 1 << 7;
        /// Neither read nor write the shader cache on disk.
        const NOCACHE = 1 << 8;
        /// Share presented images with window systems as if the simulated GPU's memory were dma-bufs.
        const DMABUF = 1 << 9;
        /// Render each subpass by itself.
        const NOMERGE = 1 << 10;
    }
}

/// Names in `CORTLAND_DEBUG`.
const NAMES: &[(&str, Flags)] = &[
    ("nir", Flags::NIR),
    ("ir", Flags::IR),
    ("asm", Flags::ASM),
    ("stats", Flags::STATS),
    ("submit", Flags::SUBMIT),
    ("cmd", Flags::CMD),
    ("validate", Flags::VALIDATE),
    ("sync", Flags::SYNC),
    ("nocache", Flags::NOCACHE),
    ("dmabuf", Flags::DMABUF),
    ("nomerge", Flags::NOMERGE),
];

static FLAGS: LazyLock<Flags> = LazyLock::new(|| {
    let text = std::env::var("CORTLAND_DEBUG").unwrap_or_default();
    let (flags, unknown) = parse(&text);
    for name in unknown {
        let known: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
        warn(&format_args!(
            "CORTLAND_DEBUG: there is no {name:?}; there are {}",
            known.join(", ")
        ));
    }
    flags
});

/// The flags, and the names that are none.
fn parse(text: &str) -> (Flags, Vec<&str>) {
    let mut flags = Flags::empty();
    let mut unknown = Vec::new();
    for name in text.split([',', ' ', ':']).filter(|name| !name.is_empty()) {
        match NAMES.iter().find(|(known, _)| *known == name) {
            Some((_, flag)) => flags |= *flag,
            None => unknown.push(name),
        }
    }
    (flags, unknown)
}

/// Whether `CORTLAND_DEBUG` asks for it.
pub(crate) fn has(flag: Flags) -> bool {
    FLAGS.intersects(flag)
}

/// Prints what was asked for.
pub(crate) fn print(text: &dyn Display) {
    eprintln!("cortland: {text}");
}

/// Something went wrong that the application or user should know of.
pub(crate) fn error(text: &dyn Display) {
    eprintln!("cortland: error: {text}");
    debug_utils::deliver(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR, text);
}

/// Something is odd.
pub(crate) fn warn(text: &dyn Display) {
    eprintln!("cortland: warning: {text}");
    debug_utils::deliver(vk::DebugUtilsMessageSeverityFlagsEXT::WARNING, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_unknown_ones_told() {
        assert_eq!(parse(""), (Flags::empty(), vec![]));
        assert_eq!(parse("nir,asm"), (Flags::NIR | Flags::ASM, vec![]));
        assert_eq!(parse("sync, nope"), (Flags::SYNC, vec!["nope"]));
        for (name, flag) in NAMES {
            assert_eq!(parse(name), (*flag, vec![]));
        }
        assert_eq!(
            NAMES.iter().fold(Flags::empty(), |all, (_, f)| all | *f),
            Flags::all()
        );
    }
}
