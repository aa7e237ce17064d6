// SPDX-License-Identifier: MIT
//! SUBMIT (kernel-uapi, 11): the checks in their order, then acceptance.

mod attachments;
mod compute;
mod render;
mod syncs;

use std::sync::Arc;

use agx_uapi::abi::{CmdRender, SubmitArgs, limits};
use agx_uapi::command::{self, Payload};
use agx_uapi::{Chip, Errno};

use super::fence::Fence;
use super::node::SimNode;
use super::scheduler::{Command, Subqueue, Times, Work};
use super::user;
use crate::processor::{ComputeCommand, RenderCommand};

impl SimNode {
    /// SUBMIT. The numbers are the steps of kernel-uapi, 11.7; before step 12 nothing is visible to
    /// anybody.
    ///
    /// # Safety
    /// As for [`agx_uapi::Node::ioctl`].
    pub(super) unsafe fn submit(&self, args: &SubmitArgs) -> Result<(), Errno> {
        let chip = self.chip();

        // 1: argument fields.
        let sizes_fit = args.in_sync_count <= limits::MAX_SYNCS
            && args.out_sync_count <= limits::MAX_SYNCS
            && (1..=limits::MAX_COMMAND_BYTES).contains(&args.cmdbuf_size);
        if args.flags != 0 || args.pad != 0 || !sizes_fit {
            return Err(Errno::EINVAL);
        }

        // 2: the whole command buffer. 3: at least one hardware command.
        // SAFETY: the caller vouches for `cmdbuf_size` bytes.
        let bytes = unsafe { user::read_bytes(args.cmdbuf, args.cmdbuf_size as usize)? };
        let parsed = command::parse(&bytes, chip).collect::<Result<Vec<_>, _>>()?;

        // 4: sync records and their fences.
        // SAFETY: the caller vouches for the records.
        let (inputs, outputs) = unsafe { self.syncs(args)? };

        // 5: device. 6: queue.
        if self.device.scheduler.is_lost() {
            return Err(Errno::EIO);
        }
        let queue = self
            .tables()
            .queues
            .get(args.queue_id)
            .cloned()
            .ok_or(Errno::ENOENT)?;
        let vm = &queue.vm;

        // 7: timestamps. 8: VM.
        let times = parsed
            .iter()
            .map(|command| self.command_times(&command.payload));
        let times = times.collect::<Result<Vec<_>, _>>()?;
        if vm.is_broken() {
            return Err(Errno::EIO);
        }

        // 9: attachments. 10: fields and coverage of each command.
        let mappings = vm.mappings();
        for command in &parsed {
            if let Payload::Attachments(_, list) = &command.payload {
                attachments::check(list.clone(), &mappings)?;
            }
        }
        let mut renders = false;
        for command in &parsed {
            match &command.payload {
                Payload::Render(_, render) => {
                    render::check(render, chip, &vm.kernel, &mappings)?;
                    renders = true;
                }
                Payload::Compute(_, compute) => compute::check(compute, chip, &mappings)?,
                Payload::Attachments(..) => {}
            }
        }

        // 11: private ranges. Those of compute work always fit.
        if renders && chip == Chip::M4 {
            vm.prepare_render(&self.device.render_slots)?;
        }

        // 12: accept.
        let commands = parsed.iter().zip(times).filter_map(|(command, times)| {
            let mappings = mappings.clone();
            let (subqueue, work) = match &command.payload {
                Payload::Render(_, render) => {
                    let command = RenderCommand {
                        render: placed(render),
                        mappings,
                    };
                    (Subqueue::Render, Work::Render(Box::new(command)))
                }
                Payload::Compute(_, compute) => {
                    let command = ComputeCommand {
                        stream: compute.cdm_ctrl_stream_base,
                        stream_end: compute.cdm_ctrl_stream_end,
                        mappings,
                    };
                    (Subqueue::Compute, Work::Compute(command))
                }
                Payload::Attachments(..) => return None,
            };
            Some(Command {
                subqueue,
                barriers: command.barriers,
                work,
                times,
            })
        });
        let fence = Fence::new();
        let scheduler = &self.device.scheduler;
        let job = scheduler.accept(
            queue.key,
            vm.uid,
            inputs.len(),
            commands.collect(),
            fence.clone(),
        );
        for (syncobj, point) in outputs {
            match point {
                None => syncobj.replace(Some(fence.clone())),
                Some(point) => syncobj.add_point(&fence, point),
            }
        }
        if let Some(job) = job {
            scheduler.release(queue.key, job, &inputs);
        }
        Ok(())
    }

    /// Where the times of a command go.
    fn command_times(&self, payload: &Payload<'_>) -> Result<Times, Errno> {
        match payload {
            Payload::Render(_, render) => {
                let vertex = self.times(&render.ts_vtx)?;
                let fragment = self.times(&render.ts_frag)?;
                Ok(Times {
                    start: vertex.start,
                    between: [vertex.end, fragment.start],
                    end: fragment.end,
                })
            }
            Payload::Compute(_, compute) => self.times(&compute.ts),
            Payload::Attachments(..) => Ok(Times::default()),
        }
    }
}

/// A render command whose stream lies where the hardware looks for it: the A18 Pro's kernel moves low
/// addresses up (kernel-uapi, 16).
fn placed(render: &CmdRender) -> CmdRender {
    let mut render = *render;
    let base = &mut render.vdm_ctrl_stream_base;
    if *base < limits::RENDER_CONTEXT.start {
        *base += limits::RENDER_CONTEXT.start;
    }
    render
}

/// A syncobj to signal, and its point if it is used as a timeline.
type Output = (Arc<super::syncobj::Syncobj>, Option<u64>);
