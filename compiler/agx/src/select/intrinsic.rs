// SPDX-License-Identifier: MIT
//! Everything with effects or inputs: dispatch, system values, barriers.

use mesa_nir::program::{IndexKind, Intrinsic, IntrinsicOp};

use super::Selector;
use super::memory::result;
use crate::error::Error;
use crate::ir::{Barrier, BarrierOp, Src, SysReg};

/// NIR's scopes, in its order: none, invocation, subgroup, shader call, workgroup, queue family, device.
const SCOPE_WORKGROUP: i64 = 4;
/// Bits of NIR's variable modes.
const MODE_IMAGE: i64 = 1 << 4;
const MODE_SHARED: i64 = 1 << 19;
const MODES_DEVICE: i64 = 1 << 9 | 1 << 20;

impl Selector<'_> {
    pub(super) fn intrinsic(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        match intrinsic.op {
            IntrinsicOp::load_agx | IntrinsicOp::load_constant_agx => self.load(intrinsic),
            IntrinsicOp::store_agx => self.store(intrinsic),
            IntrinsicOp::global_atomic_agx | IntrinsicOp::global_atomic_swap_agx => {
                self.atomic(intrinsic)
            }
            IntrinsicOp::load_shared => self.load_shared(intrinsic),
            IntrinsicOp::store_shared => self.store_shared(intrinsic),
            IntrinsicOp::load_scratch => self.load_scratch(intrinsic),
            IntrinsicOp::store_scratch => self.store_scratch(intrinsic),
            IntrinsicOp::load_preamble => self.root_pointer(intrinsic),
            IntrinsicOp::ballot => self.ballot(intrinsic),
            IntrinsicOp::shuffle | IntrinsicOp::shuffle_xor | IntrinsicOp::read_invocation => {
                self.shuffle(intrinsic)
            }
            IntrinsicOp::reduce => self.reduce(intrinsic, false),
            IntrinsicOp::exclusive_scan => self.reduce(intrinsic, true),
            IntrinsicOp::barrier => self.barrier(intrinsic),
            // isa-0, 5 (HW).
            IntrinsicOp::load_workgroup_id => self.system(intrinsic, 0x9c, false),
            IntrinsicOp::load_global_invocation_id => self.system(intrinsic, 0xa0, false),
            IntrinsicOp::load_local_invocation_id => self.system(intrinsic, 0xa4, true),
            IntrinsicOp::load_local_invocation_index => self.system(intrinsic, 0xa7, true),
            IntrinsicOp::load_subgroup_invocation => self.system(intrinsic, 0x82, true),
            IntrinsicOp::load_subgroup_id => self.system(intrinsic, 0x85, true),
            _ => self.stage_intrinsic(intrinsic),
        }
    }

    /// Consecutive system registers, one a component.
    pub(super) fn system(
        &mut self,
        intrinsic: &Intrinsic,
        first: u8,
        narrow: bool,
    ) -> Result<(), Error> {
        let def = result(intrinsic)?;
        if def.bits != 32 || def.components > 3 {
            return Err(Error::unsupported(format!(
                "{:?} of {} bits",
                intrinsic.op, def.bits
            )));
        }
        let words: Vec<Src> = (0..def.components)
            .map(|component| {
                self.make(|dst| SysReg {
                    dst: dst.into(),
                    number: first + component,
                    narrow,
                })
            })
            .collect();
        self.define(&def, words);
        Ok(())
    }

    /// isa-4, 9.3. Lanes of a subgroup run in lock step and need no barrier among themselves.
    fn barrier(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        let modes = intrinsic.index(IndexKind::MEMORY_MODES);
        let orders = intrinsic.index(IndexKind::MEMORY_SEMANTICS) & 3 != 0
            && intrinsic.index(IndexKind::MEMORY_SCOPE) >= SCOPE_WORKGROUP;
        let meets = intrinsic.index(IndexKind::EXECUTION_SCOPE) >= SCOPE_WORKGROUP;
        // Images are written by stores to device memory. Without a rendezvous threadgroup memory has no fence of its own;
        // the one for device memory orders the accesses before and behind it all the same.
        let device = modes & (MODES_DEVICE | MODE_IMAGE) != 0 || modes & MODE_SHARED != 0 && !meets;
        if orders && device {
            self.emit(Barrier {
                op: BarrierOp::DeviceFence,
            });
        }
        if orders && modes & MODE_IMAGE != 0 {
            self.emit(Barrier {
                op: BarrierOp::TextureFence,
            });
        }
        if meets {
            self.emit(Barrier {
                op: BarrierOp::Workgroup,
            });
        }
        Ok(())
    }
}
