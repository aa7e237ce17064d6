// SPDX-License-Identifier: MIT
//! The two chips, where their kernel drivers answer differently.

use crate::Errno;

/// Whose kernel driver's rules to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Chip {
    /// G16G.
    M4,
    /// G17P.
    A18Pro,
}

impl Chip {
    /// The answer to a record with a nonzero tail behind the known structure (sections 4, 11.3).
    #[must_use]
    pub const fn long_record(self) -> Errno {
        match self {
            Chip::M4 => Errno::EINVAL,
            Chip::A18Pro => Errno::E2BIG,
        }
    }

    /// The answer to an unknown command type (section 11.3).
    #[must_use]
    pub const fn unknown_command(self) -> Errno {
        match self {
            Chip::M4 => Errno::ENOTSUPP,
            Chip::A18Pro => Errno::EOPNOTSUPP,
        }
    }

    /// The answer to a helper program or flag that the driver does not take (sections 4, 12, 16).
    #[must_use]
    pub const fn unsupported_field(self) -> Errno {
        match self {
            Chip::M4 => Errno::ENOTSUPP,
            Chip::A18Pro => Errno::EINVAL,
        }
    }

    /// The answer to a bind over an existing mapping (section 7.5).
    #[must_use]
    pub const fn overlapping_bind(self) -> Errno {
        match self {
            Chip::M4 => Errno::EEXIST,
            Chip::A18Pro => Errno::EINVAL,
        }
    }

    /// The answer when the IDs of a file are used up (section 4).
    #[must_use]
    pub const fn ids_exhausted(self) -> Errno {
        match self {
            Chip::M4 => Errno::ENOSPC,
            Chip::A18Pro => Errno::EOVERFLOW,
        }
    }
}
