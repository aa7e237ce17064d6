// SPDX-License-Identifier: MIT
//! The command buffer taken apart (kernel-uapi, 11.3, 11.4, 11.6).

use agx_uapi::abi::{
    Attachment, BARRIER_EARLIER_SUBMITS, BARRIER_NONE, CmdCompute, CmdHeader, CmdRender, cmd_type,
    limits,
};
use agx_uapi::{Abi, Chip, Errno};

use crate::kernel::scheduler::{Barrier, Subqueue};

/// The payload of a hardware command.
#[derive(Clone, Debug)]
pub(super) enum Hardware {
    Render(Box<CmdRender>),
    Compute(CmdCompute),
}

/// A hardware command.
#[derive(Clone, Debug)]
pub(super) struct HardwareCommand {
    pub(super) barriers: [Barrier; 2],
    pub(super) payload: Hardware,
}

/// A command buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct Parsed {
    pub(super) hardware: Vec<HardwareCommand>,
    pub(super) attachments: Vec<Attachment>,
}

/// Takes a command buffer apart.
///
/// # Errors
/// `EINVAL`; the chips' own numbers for unknown commands and for nonzero bytes behind a payload.
pub(super) fn parse(mut bytes: &[u8], chip: Chip) -> Result<Parsed, Errno> {
    let mut parsed = Parsed::default();
    // Commands so far on each subqueue.
    let mut counts = [0u16; 2];
    while !bytes.is_empty() {
        let (header, rest) = bytes
            .split_at_checked(size_of::<CmdHeader>())
            .ok_or(Errno::EINVAL)?;
        let header = CmdHeader::from_bytes_extended(header).expect("of its size");
        let (payload, rest) = rest
            .split_at_checked(usize::from(header.size))
            .ok_or(Errno::EINVAL)?;
        bytes = rest;
        match header.cmd_type {
            cmd_type::RENDER => {
                let render = Box::new(extended(payload, chip)?);
                parsed.push(
                    &header,
                    Subqueue::Render,
                    Hardware::Render(render),
                    &mut counts,
                )?;
            }
            cmd_type::COMPUTE => {
                let compute = extended(payload, chip)?;
                parsed.push(
                    &header,
                    Subqueue::Compute,
                    Hardware::Compute(compute),
                    &mut counts,
                )?;
            }
            cmd_type::SET_VERTEX_ATTACHMENTS
            | cmd_type::SET_FRAGMENT_ATTACHMENTS
            | cmd_type::SET_COMPUTE_ATTACHMENTS => parsed.push_attachments(&header, payload)?,
            _ => return Err(chip.unknown_command()),
        }
    }
    Ok(parsed)
}

fn extended<T: Abi>(payload: &[u8], chip: Chip) -> Result<T, Errno> {
    T::from_bytes_extended(payload).map_err(|_| chip.long_record())
}

/// A barrier of a header; a command that it names must have appeared.
fn barrier(value: u16, so_far: u16) -> Result<Barrier, Errno> {
    match value {
        BARRIER_NONE => Ok(Barrier::None),
        BARRIER_EARLIER_SUBMITS => Ok(Barrier::EarlierSubmits),
        number if number <= so_far => Ok(Barrier::Command(number)),
        _ => Err(Errno::EINVAL),
    }
}

impl Parsed {
    fn push(
        &mut self,
        header: &CmdHeader,
        subqueue: Subqueue,
        payload: Hardware,
        counts: &mut [u16; 2],
    ) -> Result<(), Errno> {
        let barriers = [
            barrier(header.vdm_barrier, counts[0])?,
            barrier(header.cdm_barrier, counts[1])?,
        ];
        if self.hardware.len() == limits::MAX_COMMANDS as usize {
            return Err(Errno::EINVAL);
        }
        counts[subqueue as usize] += 1;
        self.hardware.push(HardwareCommand { barriers, payload });
        Ok(())
    }

    fn push_attachments(&mut self, header: &CmdHeader, payload: &[u8]) -> Result<(), Errno> {
        let records = payload.chunks_exact(size_of::<Attachment>());
        let whole =
            records.remainder().is_empty() && records.len() <= limits::MAX_ATTACHMENTS as usize;
        if [header.vdm_barrier, header.cdm_barrier] != [BARRIER_NONE; 2] || !whole {
            return Err(Errno::EINVAL);
        }
        for record in records {
            let record = Attachment::from_bytes_extended(record).expect("of its size");
            if record.pad != 0 || record.flags != 0 {
                return Err(Errno::EINVAL);
            }
            self.attachments.push(record);
        }
        Ok(())
    }
}
