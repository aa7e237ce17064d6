// SPDX-License-Identifier: MIT
//! Putting a command buffer together.

use core::fmt;
use core::num::NonZeroU16;
use core::ops::Range;
use std::vec::Vec;

use super::{Barrier, Barriers, Index, Stage};
use crate::Abi;
use crate::abi::{Attachment, CmdCompute, CmdHeader, CmdRender, cmd_type, limits};

/// The commands of one submit, as bytes.
///
/// Framing and barriers are right by construction; what the payloads say is the caller's.
///
/// ```
/// use agx_uapi::abi::{CmdCompute, CmdRender};
/// use agx_uapi::command::{Barriers, CommandBuffer};
///
/// let mut commands = CommandBuffer::new();
/// let upload = commands.compute(Barriers::EARLIER_SUBMITS, &CmdCompute::default())?;
/// commands.render(Barriers::NONE.after(upload), &CmdRender::default())?;
/// assert_eq!(commands.as_bytes().len(), 8 + 64 + 8 + 240);
/// # Ok::<(), agx_uapi::command::BuildError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandBuffer {
    bytes: Vec<u8>,
    renders: u16,
    computes: u16,
}

/// Why a command cannot be added; the buffer is as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The submit has [`MAX_COMMANDS`](limits::MAX_COMMANDS) hardware commands. Submit and begin
    /// anew.
    Full,
    /// The buffer would exceed [`MAX_COMMAND_BYTES`](limits::MAX_COMMAND_BYTES).
    TooLong,
    /// A barrier names a command that has not been added.
    UnknownCommand,
    /// There are more than [`MAX_ATTACHMENTS`](limits::MAX_ATTACHMENTS) attachments.
    TooManyAttachments,
    /// An attachment has no bytes.
    EmptyAttachment,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Full => {
                write!(
                    f,
                    "a submit holds at most {} hardware commands",
                    limits::MAX_COMMANDS
                )
            }
            BuildError::TooLong => {
                write!(
                    f,
                    "a command buffer holds at most {} bytes",
                    limits::MAX_COMMAND_BYTES
                )
            }
            BuildError::UnknownCommand => {
                f.write_str("a barrier names a command that is not in the submit yet")
            }
            BuildError::TooManyAttachments => {
                write!(
                    f,
                    "a command names at most {} attachments",
                    limits::MAX_ATTACHMENTS
                )
            }
            BuildError::EmptyAttachment => f.write_str("an attachment is empty"),
        }
    }
}

impl std::error::Error for BuildError {}

impl CommandBuffer {
    /// No commands.
    #[must_use]
    pub fn new() -> CommandBuffer {
        CommandBuffer::default()
    }

    /// The bytes for a submit.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Number of render and compute commands.
    #[must_use]
    pub fn hardware_commands(&self) -> u32 {
        u32::from(self.renders) + u32::from(self.computes)
    }

    /// Whether no further hardware command fits.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.hardware_commands() >= limits::MAX_COMMANDS
    }

    /// Whether there is nothing to submit: a submit needs a hardware command.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hardware_commands() == 0
    }

    /// Barriers that make the next command wait for all before it: those in this buffer, and on
    /// subqueues without one those of earlier submits.
    #[must_use]
    pub fn after_all(&self) -> Barriers {
        Barriers {
            vdm: Barrier::after_first(self.renders),
            cdm: Barrier::after_first(self.computes),
        }
    }

    /// Adds a render pass.
    ///
    /// # Errors
    ///
    /// [`BuildError`]: full, too long, or a barrier that names no command of this buffer.
    pub fn render(&mut self, barriers: Barriers, render: &CmdRender) -> Result<Index, BuildError> {
        self.hardware(cmd_type::RENDER, barriers, render.as_bytes())?;
        self.renders += 1;
        Ok(Index::Render(
            NonZeroU16::MIN.saturating_add(self.renders - 1),
        ))
    }

    /// Adds compute work.
    ///
    /// # Errors
    ///
    /// As for [`render`](Self::render).
    pub fn compute(
        &mut self,
        barriers: Barriers,
        compute: &CmdCompute,
    ) -> Result<Index, BuildError> {
        self.hardware(cmd_type::COMPUTE, barriers, compute.as_bytes())?;
        self.computes += 1;
        Ok(Index::Compute(
            NonZeroU16::MIN.saturating_add(self.computes - 1),
        ))
    }

    /// Names the addresses that a stage of the following commands writes. They must be mapped for
    /// GPU writes when the buffer is submitted.
    ///
    /// # Errors
    ///
    /// [`BuildError`]: too many, too long, or an empty range.
    pub fn attachments(&mut self, stage: Stage, ranges: &[Range<u64>]) -> Result<(), BuildError> {
        if ranges.len() > limits::MAX_ATTACHMENTS as usize {
            return Err(BuildError::TooManyAttachments);
        }
        if ranges.iter().any(Range::is_empty) {
            return Err(BuildError::EmptyAttachment);
        }
        let mut payload = Vec::with_capacity(size_of::<Attachment>() * ranges.len());
        for range in ranges {
            let record = Attachment {
                pointer: range.start,
                size: range.end - range.start,
                ..Attachment::default()
            };
            payload.extend_from_slice(record.as_bytes());
        }
        self.push(stage.cmd_type(), Barriers::NONE, &payload)
    }

    fn hardware(
        &mut self,
        cmd_type: u16,
        barriers: Barriers,
        payload: &[u8],
    ) -> Result<(), BuildError> {
        if self.is_full() {
            return Err(BuildError::Full);
        }
        if !barriers.vdm.within(self.renders) || !barriers.cdm.within(self.computes) {
            return Err(BuildError::UnknownCommand);
        }
        self.push(cmd_type, barriers, payload)
    }

    fn push(
        &mut self,
        cmd_type: u16,
        barriers: Barriers,
        payload: &[u8],
    ) -> Result<(), BuildError> {
        let header = CmdHeader {
            cmd_type,
            size: u16::try_from(payload.len()).map_err(|_| BuildError::TooLong)?,
            vdm_barrier: barriers.vdm.raw(),
            cdm_barrier: barriers.cdm.raw(),
        };
        let end = self.bytes.len() + size_of::<CmdHeader>() + payload.len();
        if end > limits::MAX_COMMAND_BYTES as usize {
            return Err(BuildError::TooLong);
        }
        self.bytes.extend_from_slice(header.as_bytes());
        self.bytes.extend_from_slice(payload);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chip;
    use crate::command::{Payload, parse};

    use proptest::prelude::*;

    /// A command as a test wants it.
    #[derive(Clone, Debug, PartialEq)]
    enum Wanted {
        Render(Barriers, CmdRender),
        Compute(Barriers, CmdCompute),
        Attachments(Stage, Vec<Range<u64>>),
    }

    fn barrier() -> impl Strategy<Value = Barrier> {
        // Small numbers, so that many name a command that is there.
        prop_oneof![
            Just(Barrier::None),
            Just(Barrier::EarlierSubmits),
            (1u16..6).prop_map(Barrier::after_first),
            (1u16..0xffff).prop_map(Barrier::after_first),
        ]
    }

    fn barriers() -> impl Strategy<Value = Barriers> {
        (barrier(), barrier()).prop_map(|(vdm, cdm)| Barriers { vdm, cdm })
    }

    fn structure<T: Abi + core::fmt::Debug>() -> impl Strategy<Value = T> {
        prop::collection::vec(any::<u8>(), size_of::<T>())
            .prop_map(|bytes| T::from_bytes_extended(&bytes).unwrap())
    }

    fn wanted() -> impl Strategy<Value = Wanted> {
        let stage = prop_oneof![
            Just(Stage::Vertex),
            Just(Stage::Fragment),
            Just(Stage::Compute)
        ];
        let range = (any::<u64>(), any::<u64>()).prop_map(|(a, b)| a.min(b)..a.max(b));
        prop_oneof![
            (barriers(), structure()).prop_map(|(b, r)| Wanted::Render(b, r)),
            (barriers(), structure()).prop_map(|(b, c)| Wanted::Compute(b, c)),
            (stage, prop::collection::vec(range, 0..18))
                .prop_map(|(s, list)| Wanted::Attachments(s, list)),
        ]
    }

    fn add(buffer: &mut CommandBuffer, wanted: &Wanted) -> Result<Option<Index>, BuildError> {
        match wanted {
            Wanted::Render(barriers, render) => buffer.render(*barriers, render).map(Some),
            Wanted::Compute(barriers, compute) => buffer.compute(*barriers, compute).map(Some),
            Wanted::Attachments(stage, list) => buffer.attachments(*stage, list).map(|()| None),
        }
    }

    proptest! {
        /// What is built is parsed to the same; what is refused leaves no trace.
        #[test]
        fn parse_returns_what_was_built(list in prop::collection::vec(wanted(), 0..90)) {
            let mut buffer = CommandBuffer::new();
            let mut accepted = Vec::new();
            for wanted in list {
                let before = buffer.clone();
                match add(&mut buffer, &wanted) {
                    Ok(index) => accepted.push((wanted, index)),
                    Err(_) => prop_assert_eq!(&buffer, &before),
                }
            }
            for chip in [Chip::M4, Chip::A18Pro] {
                let mut commands = parse(buffer.as_bytes(), chip);
                for (wanted, index) in &accepted {
                    let command = commands.next().unwrap().unwrap();
                    prop_assert_eq!(command.index(), *index);
                    let found = match command.payload {
                        Payload::Render(_, render) => Wanted::Render(command.barriers, render),
                        Payload::Compute(_, compute) => Wanted::Compute(command.barriers, compute),
                        Payload::Attachments(stage, list) => Wanted::Attachments(
                            stage,
                            list.map(|a| a.pointer..a.pointer + a.size).collect(),
                        ),
                    };
                    prop_assert_eq!(&found, wanted);
                }
                let end = buffer.is_empty().then_some(Err(crate::Errno::EINVAL));
                prop_assert_eq!(commands.next(), end);
            }
        }

        /// Any bytes are commands or an error, never a panic, and errors end the iteration.
        #[test]
        fn parse_is_total(
            bytes in prop::collection::vec(prop_oneof![4 => Just(0u8), 1 => 0u8..40, 1 => any::<u8>()], 0..600),
        ) {
            for chip in [Chip::M4, Chip::A18Pro] {
                let list: Vec<_> = parse(&bytes, chip).collect();
                prop_assert!(list.iter().rev().skip(1).all(Result::is_ok));
                prop_assert!(!list.is_empty());
            }
        }

        /// A cut inside the last command is always noticed.
        #[test]
        fn cuts_are_noticed(list in prop::collection::vec(wanted(), 1..6), cut in any::<prop::sample::Index>()) {
            let mut buffer = CommandBuffer::new();
            let mut start = 0;
            for wanted in &list {
                let before = buffer.as_bytes().len();
                if add(&mut buffer, wanted).is_ok() {
                    start = before;
                }
            }
            let len = buffer.as_bytes().len();
            prop_assume!(len > start + 1);
            let cut = start + 1 + cut.index(len - start - 1);
            let last = parse(&buffer.as_bytes()[..cut], Chip::M4).last();
            prop_assert_eq!(last, Some(Err(crate::Errno::EINVAL)));
        }
    }

    #[test]
    fn a_full_buffer_takes_attachments_but_no_work() {
        let mut buffer = CommandBuffer::new();
        for n in 0..64 {
            assert_eq!(buffer.hardware_commands(), n);
            assert!(!buffer.is_full());
            buffer
                .compute(buffer.after_all(), &CmdCompute::default())
                .unwrap();
        }
        assert!(buffer.is_full());
        assert_eq!(
            buffer.render(Barriers::NONE, &CmdRender::default()),
            Err(BuildError::Full)
        );
        buffer.attachments(Stage::Vertex, &[0..1, 7..9]).unwrap();
        let waits: Vec<_> = parse(buffer.as_bytes(), Chip::M4)
            .map(|command| command.unwrap().barriers)
            .map(|barriers| (barriers.vdm.raw(), barriers.cdm.raw()))
            .collect();
        let serial: Vec<_> = (0..64).map(|n| (0, n)).chain([(0xffff, 0xffff)]).collect();
        assert_eq!(waits, serial);
    }

    #[test]
    fn attachments_are_few_and_not_empty() {
        let mut buffer = CommandBuffer::new();
        let many = [const { 0..1 }; 17];
        let refused = buffer.attachments(Stage::Fragment, &many);
        assert_eq!(refused, Err(BuildError::TooManyAttachments));
        let refused = buffer.attachments(Stage::Fragment, &[0..1, 5..5]);
        assert_eq!(refused, Err(BuildError::EmptyAttachment));
        assert_eq!(buffer, CommandBuffer::new());
    }

    #[test]
    fn length_limit() {
        let mut buffer = CommandBuffer::new();
        let full = [const { 0..1 }; 16];
        // 2674 commands of 392 bytes and one of 368 make exactly 1 MiB.
        for _ in 0..2674 {
            buffer.attachments(Stage::Compute, &full).unwrap();
        }
        buffer.attachments(Stage::Compute, &full[..15]).unwrap();
        assert_eq!(buffer.as_bytes().len(), 1 << 20);
        assert_eq!(
            buffer.attachments(Stage::Compute, &[]),
            Err(BuildError::TooLong)
        );
        assert_eq!(buffer.as_bytes().len(), 1 << 20);
    }
}
