// SPDX-License-Identifier: MIT
//! Taking a command buffer apart as the kernels do.

use core::num::NonZeroU16;

use super::{Barrier, Barriers, Index, Stage};
use crate::abi::{Attachment, CmdCompute, CmdHeader, CmdRender, cmd_type, limits};
use crate::{Abi, Chip, Errno};

/// Takes a command buffer apart.
///
/// The iterator checks what the kernel checks while it parses (sections 11.3, 11.4, 11.6; steps 2
/// and 3 of 11.7): framing, types, barriers, the number of hardware commands, and the form of
/// attachment records. It yields commands up to the first violation, then the error that `chip`'s
/// kernel answers with, then nothing. A buffer without a hardware command ends with EINVAL.
///
/// What needs the device's state (timestamps, coverage, fields of hardware commands) is left to the
/// caller.
#[must_use]
pub fn parse(bytes: &[u8], chip: Chip) -> Commands<'_> {
    Commands {
        rest: bytes,
        chip,
        renders: 0,
        computes: 0,
        ended: false,
    }
}

/// The commands of a buffer; see [`parse`].
#[derive(Clone, Debug)]
pub struct Commands<'a> {
    rest: &'a [u8],
    chip: Chip,
    renders: u16,
    computes: u16,
    ended: bool,
}

/// One command of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Command<'a> {
    /// What it waits for. Commands named here came before; attachments wait for nothing.
    pub barriers: Barriers,
    /// What it does.
    pub payload: Payload<'a>,
}

/// What a command does.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload<'a> {
    /// A render pass, and its place on the render subqueue.
    Render(NonZeroU16, CmdRender),
    /// Compute work, and its place on the compute subqueue.
    Compute(NonZeroU16, CmdCompute),
    /// Names what a stage writes.
    Attachments(Stage, Attachments<'a>),
}

impl Command<'_> {
    /// The place of a hardware command on its subqueue.
    #[must_use]
    pub fn index(&self) -> Option<Index> {
        match self.payload {
            Payload::Render(n, _) => Some(Index::Render(n)),
            Payload::Compute(n, _) => Some(Index::Compute(n)),
            Payload::Attachments(..) => None,
        }
    }
}

/// Attachment records; an iterator. At most 16, each with `pad` and `flags` 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachments<'a> {
    /// Whole records.
    bytes: &'a [u8],
}

impl Iterator for Attachments<'_> {
    type Item = Attachment;

    fn next(&mut self) -> Option<Attachment> {
        let (record, rest) = self.bytes.split_at_checked(size_of::<Attachment>())?;
        self.bytes = rest;
        Attachment::from_bytes_extended(record).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.bytes.len() / size_of::<Attachment>();
        (count, Some(count))
    }
}

impl ExactSizeIterator for Attachments<'_> {}

impl<'a> Commands<'a> {
    fn command(&mut self) -> Result<Command<'a>, Errno> {
        let truncated = Errno::EINVAL;
        let (header, rest) = self
            .rest
            .split_at_checked(size_of::<CmdHeader>())
            .ok_or(truncated)?;
        let header = CmdHeader::from_bytes_extended(header).map_err(|_| truncated)?;
        let (payload, rest) = rest.split_at_checked(header.size.into()).ok_or(truncated)?;
        self.rest = rest;

        let barriers = Barriers {
            vdm: Barrier::from_raw(header.vdm_barrier),
            cdm: Barrier::from_raw(header.cdm_barrier),
        };
        let payload = match header.cmd_type {
            cmd_type::RENDER => {
                self.hardware(barriers)?;
                let render = self.record(payload)?;
                Payload::Render(next(&mut self.renders)?, render)
            }
            cmd_type::COMPUTE => {
                self.hardware(barriers)?;
                let compute = self.record(payload)?;
                Payload::Compute(next(&mut self.computes)?, compute)
            }
            cmd_type::SET_VERTEX_ATTACHMENTS => attachments(Stage::Vertex, barriers, payload)?,
            cmd_type::SET_FRAGMENT_ATTACHMENTS => attachments(Stage::Fragment, barriers, payload)?,
            cmd_type::SET_COMPUTE_ATTACHMENTS => attachments(Stage::Compute, barriers, payload)?,
            _ => return Err(self.chip.unknown_command()),
        };
        Ok(Command { barriers, payload })
    }

    /// Checks what render and compute commands have in common: there is room for one more, and
    /// barriers name commands that have already appeared.
    fn hardware(&self, barriers: Barriers) -> Result<(), Errno> {
        let room = self.hardware_commands() < limits::MAX_COMMANDS;
        let ordered = barriers.vdm.within(self.renders) && barriers.cdm.within(self.computes);
        if room && ordered {
            Ok(())
        } else {
            Err(Errno::EINVAL)
        }
    }

    fn hardware_commands(&self) -> u32 {
        u32::from(self.renders) + u32::from(self.computes)
    }

    fn record<T: Abi>(&self, payload: &[u8]) -> Result<T, Errno> {
        T::from_bytes_extended(payload).map_err(|_| self.chip.long_record())
    }
}

impl<'a> Iterator for Commands<'a> {
    type Item = Result<Command<'a>, Errno>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let result = if self.rest.is_empty() {
            self.ended = true;
            if self.hardware_commands() != 0 {
                return None;
            }
            Err(Errno::EINVAL)
        } else {
            self.command()
        };
        self.ended |= result.is_err();
        Some(result)
    }
}

impl core::iter::FusedIterator for Commands<'_> {}

/// Counts one more command and returns its place.
fn next(count: &mut u16) -> Result<NonZeroU16, Errno> {
    *count += 1;
    NonZeroU16::new(*count).ok_or(Errno::EINVAL)
}

/// An attachment command (section 11.6). That ranges are not empty and mapped is checked later.
fn attachments(stage: Stage, barriers: Barriers, bytes: &[u8]) -> Result<Payload<'_>, Errno> {
    let list = Attachments { bytes };
    let whole = bytes.len().is_multiple_of(size_of::<Attachment>());
    if barriers != Barriers::NONE
        || !whole
        || list.len() > limits::MAX_ATTACHMENTS as usize
        || list
            .clone()
            .any(|record| record.pad != 0 || record.flags != 0)
    {
        return Err(Errno::EINVAL);
    }
    Ok(Payload::Attachments(stage, list))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A buffer of one command with this header and `payload` bytes of `fill`.
    fn one<const N: usize>(header: [u16; 4], fill: u8) -> [u8; N] {
        let mut bytes = [fill; N];
        for (field, value) in bytes.chunks_exact_mut(2).zip(header) {
            field.copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    fn first(bytes: &[u8], chip: Chip) -> Result<Command<'_>, Errno> {
        parse(bytes, chip).next().expect("nonempty or EINVAL")
    }

    const NONE: u16 = 0xffff;

    #[test]
    fn empty_and_truncated_buffers() {
        for chip in [Chip::M4, Chip::A18Pro] {
            assert_eq!(first(&[], chip), Err(Errno::EINVAL));
            let whole: [u8; 72] = one([1, 64, NONE, NONE], 0);
            assert!(first(&whole, chip).is_ok());
            for len in 1..72 {
                assert_eq!(first(&whole[..len], chip), Err(Errno::EINVAL), "{len}");
            }
        }
    }

    #[test]
    fn unknown_types() {
        for kind in [5, 6, 0x100, NONE] {
            let bytes: [u8; 8] = one([kind, 0, NONE, NONE], 0);
            assert_eq!(first(&bytes, Chip::M4), Err(Errno(524)));
            assert_eq!(first(&bytes, Chip::A18Pro), Err(Errno(95)));
        }
    }

    #[test]
    fn short_payloads_are_extended() {
        let bytes: [u8; 13] = one([1, 5, NONE, NONE], 0xaa);
        let Payload::Compute(_, compute) = first(&bytes, Chip::M4).unwrap().payload else {
            panic!("type 1 is compute");
        };
        assert_eq!((compute.flags, compute.sampler_count), (0xaaaa_aaaa, 0xaa));
        assert_eq!(compute.as_bytes()[5..], [0; 59]);
        let bytes: [u8; 8] = one([0, 0, NONE, NONE], 0);
        let command = first(&bytes, Chip::M4).unwrap();
        assert_eq!(
            command.payload,
            Payload::Render(NonZeroU16::MIN, CmdRender::default())
        );
    }

    #[test]
    fn long_payloads_need_a_zero_tail() {
        for (kind, size) in [(0u16, 240usize), (1, 64)] {
            let mut bytes: [u8; 300] = one([kind, 292, NONE, NONE], 0);
            assert!(first(&bytes, Chip::M4).is_ok());
            bytes[8 + size - 1] = 1;
            assert!(first(&bytes, Chip::A18Pro).is_ok());
            bytes[8 + size] = 1;
            assert_eq!(first(&bytes, Chip::M4), Err(Errno::EINVAL));
            assert_eq!(first(&bytes, Chip::A18Pro), Err(Errno::E2BIG));
        }
    }

    #[test]
    fn barriers_name_commands_that_came_before() {
        let render = |vdm, cdm| one::<8>([0, 0, vdm, cdm], 0);
        let compute = |vdm, cdm| one::<8>([1, 0, vdm, cdm], 0);
        let ends_with = |list: &[[u8; 8]]| {
            let bytes: &[u8] = list.as_flattened();
            parse(bytes, Chip::M4)
                .last()
                .unwrap()
                .map(|command| command.index())
        };
        let n = |n| NonZeroU16::new(n).unwrap();
        let first = render(0, 0);
        assert_eq!(
            ends_with(&[first, render(1, NONE)]),
            Ok(Some(Index::Render(n(2))))
        );
        assert_eq!(
            ends_with(&[first, compute(1, NONE)]),
            Ok(Some(Index::Compute(n(1))))
        );
        // Itself, a later one, and one of the other subqueue.
        assert_eq!(ends_with(&[render(1, 0)]), Err(Errno::EINVAL));
        assert_eq!(ends_with(&[first, render(2, 0)]), Err(Errno::EINVAL));
        assert_eq!(ends_with(&[first, compute(0, 1)]), Err(Errno::EINVAL));
        assert_eq!(ends_with(&[first, compute(0xfffe, 0)]), Err(Errno::EINVAL));
    }

    #[test]
    fn one_to_64_hardware_commands() {
        let mut bytes = [0u8; 65 * 8];
        for (n, header) in bytes.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            *header = one([n as u16 % 2, 0, NONE, NONE], 0);
        }
        assert_eq!(
            parse(&bytes[..64 * 8], Chip::M4)
                .filter(Result::is_ok)
                .count(),
            64
        );
        assert_eq!(parse(&bytes[..64 * 8], Chip::M4).count(), 64);
        assert_eq!(parse(&bytes, Chip::M4).nth(64), Some(Err(Errno::EINVAL)));
        // Attachments alone are no work, and nothing follows the error.
        let bytes: [u8; 32] = one([2, 24, NONE, NONE], 0);
        let mut commands = parse(&bytes, Chip::M4);
        assert!(commands.next().unwrap().is_ok());
        assert_eq!(commands.next(), Some(Err(Errno::EINVAL)));
        assert_eq!(commands.next(), None);
    }

    #[test]
    fn attachment_commands() {
        let max: [u8; 8 + 16 * 24] = one([3, 16 * 24, NONE, NONE], 0);
        let Payload::Attachments(Stage::Fragment, list) = first(&max, Chip::M4).unwrap().payload
        else {
            panic!("type 3 names fragment attachments");
        };
        assert_eq!(list.len(), 16);
        assert_eq!(list.count(), 16);
        let more: [u8; 8 + 17 * 24] = one([3, 17 * 24, NONE, NONE], 0);
        assert_eq!(first(&more, Chip::M4), Err(Errno::EINVAL));
        let ragged: [u8; 8 + 30] = one([3, 30, NONE, NONE], 0);
        assert_eq!(first(&ragged, Chip::M4), Err(Errno::EINVAL));
        for barriers in [[0, NONE], [NONE, 0]] {
            let bytes: [u8; 32] = one([4, 24, barriers[0], barriers[1]], 0);
            assert_eq!(first(&bytes, Chip::M4), Err(Errno::EINVAL));
        }
        for byte in 16..24 {
            let mut bytes: [u8; 32] = one([2, 24, NONE, NONE], 0);
            bytes[8 + byte] = 0x80;
            assert_eq!(
                first(&bytes, Chip::M4),
                Err(Errno::EINVAL),
                "pad and flags are 0"
            );
        }
    }
}
