// SPDX-License-Identifier: MIT
//! Order between commands (section 11.4).

use core::num::NonZeroU16;

use crate::abi::{BARRIER_EARLIER_SUBMITS, BARRIER_NONE, cmd_type};

/// What a command waits for on one subqueue, weakest first: a subqueue runs in order, so waiting
/// for a later command covers the earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Barrier {
    /// Nothing.
    #[default]
    None,
    /// All that earlier submits of the queue put on the subqueue.
    EarlierSubmits,
    /// The n-th command of the subqueue in this submit, counted from 1.
    Command(NonZeroU16),
}

impl Barrier {
    /// From a header field.
    #[must_use]
    pub const fn from_raw(raw: u16) -> Barrier {
        match (raw, NonZeroU16::new(raw)) {
            (BARRIER_NONE, _) => Barrier::None,
            (_, None) => Barrier::EarlierSubmits,
            (_, Some(n)) => Barrier::Command(n),
        }
    }

    /// As a header field.
    #[must_use]
    pub const fn raw(self) -> u16 {
        match self {
            Barrier::None => BARRIER_NONE,
            Barrier::EarlierSubmits => BARRIER_EARLIER_SUBMITS,
            Barrier::Command(n) => n.get(),
        }
    }

    /// Waits for the last of `count` commands of this submit, or for earlier submits when there is
    /// none.
    #[must_use]
    pub const fn after_first(count: u16) -> Barrier {
        match NonZeroU16::new(count) {
            Some(n) => Barrier::Command(n),
            None => Barrier::EarlierSubmits,
        }
    }

    /// Whether the command waited for, if any, is among the first `count` of the submit.
    pub(crate) const fn within(self, count: u16) -> bool {
        match self {
            Barrier::None | Barrier::EarlierSubmits => true,
            Barrier::Command(n) => n.get() <= count,
        }
    }
}

/// What a command waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Barriers {
    /// On the render subqueue.
    pub vdm: Barrier,
    /// On the compute subqueue.
    pub cdm: Barrier,
}

impl Barriers {
    /// Nothing.
    pub const NONE: Barriers = Barriers {
        vdm: Barrier::None,
        cdm: Barrier::None,
    };
    /// All earlier submits of the queue.
    pub const EARLIER_SUBMITS: Barriers = Barriers {
        vdm: Barrier::EarlierSubmits,
        cdm: Barrier::EarlierSubmits,
    };

    /// Waits for a command of this submit too.
    #[must_use]
    pub fn after(mut self, command: Index) -> Barriers {
        let (side, n) = match command {
            Index::Render(n) => (&mut self.vdm, n),
            Index::Compute(n) => (&mut self.cdm, n),
        };
        *side = (*side).max(Barrier::Command(n));
        self
    }
}

/// A hardware command's place on its subqueue in its submit, counted from 1 (section 11.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    /// On the render subqueue.
    Render(NonZeroU16),
    /// On the compute subqueue.
    Compute(NonZeroU16),
}

/// Whose attachments an attachment command names (section 11.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Vertex shaders.
    Vertex,
    /// Fragment shaders and tile programs.
    Fragment,
    /// Compute shaders.
    Compute,
}

impl Stage {
    /// The command that names this stage's attachments.
    #[must_use]
    pub const fn cmd_type(self) -> u16 {
        match self {
            Stage::Vertex => cmd_type::SET_VERTEX_ATTACHMENTS,
            Stage::Fragment => cmd_type::SET_FRAGMENT_ATTACHMENTS,
            Stage::Compute => cmd_type::SET_COMPUTE_ATTACHMENTS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_commands_cover_earlier_ones() {
        let n = |n| NonZeroU16::new(n).unwrap();
        let barriers = Barriers::NONE
            .after(Index::Render(n(3)))
            .after(Index::Render(n(2)))
            .after(Index::Compute(n(1)));
        assert_eq!((barriers.vdm.raw(), barriers.cdm.raw()), (3, 1));
        let barriers = Barriers::EARLIER_SUBMITS.after(Index::Compute(n(7)));
        assert_eq!((barriers.vdm.raw(), barriers.cdm.raw()), (0, 7));
        assert_eq!(
            (Barriers::NONE.vdm.raw(), Barriers::NONE.cdm.raw()),
            (0xffff, 0xffff)
        );
    }

    #[test]
    fn raw_values_come_back() {
        for raw in 0..=u16::MAX {
            assert_eq!(Barrier::from_raw(raw).raw(), raw);
        }
    }
}
