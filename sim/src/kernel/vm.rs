// SPDX-License-Identifier: MIT
//! Virtual address spaces (kernel-uapi, 7).

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use agx_uapi::abi::{BindFlags, GemBindOp, VmBind, VmCreate, VmDestroy, limits};
use agx_uapi::{Abi, Chip, Errno};

use super::address_space::AddressSpace;
use super::node::SimNode;
use super::user;
use crate::memory::{Bo, Mappings, PAGE_SIZE, Region};

/// An address space. Open files name it until VM_DESTROY, queues as long as they exist.
#[derive(Debug)]
pub(crate) struct Vm {
    /// Unique in the device.
    pub(crate) uid: u64,
    /// The kernel's window.
    pub(crate) kernel: Range<u64>,
    state: Mutex<VmState>,
}

#[derive(Debug, Default)]
struct VmState {
    space: AddressSpace,
    /// Queues bound to it.
    queues: usize,
    /// Its ID is gone.
    destroyed: bool,
    /// The private ranges could not be made: nothing runs here any more (kernel-uapi, 11.7).
    broken: bool,
    rendering: Option<RenderSlot>,
}

/// The private-memory slots of the device, of which each VM that has rendered holds one.
#[derive(Debug, Default)]
pub(crate) struct RenderSlots(AtomicU32);

#[derive(Debug)]
struct RenderSlot(Arc<RenderSlots>);

impl Drop for RenderSlot {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Vm {
    pub(crate) fn new(uid: u64, kernel: Range<u64>) -> Arc<Vm> {
        Arc::new(Vm {
            uid,
            kernel,
            state: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, VmState> {
        self.state.lock().unwrap()
    }

    /// The mappings as they are now.
    pub(crate) fn mappings(&self) -> Arc<Mappings> {
        self.state().space.snapshot()
    }

    /// Removes all mappings of a buffer.
    pub(crate) fn unbind_buffer(&self, bo: &Arc<Bo>) {
        self.state().space.unbind_buffer(bo);
    }

    /// Counts a queue in; `false` when the VM is destroyed.
    pub(crate) fn add_queue(&self) -> bool {
        let mut state = self.state();
        if !state.destroyed {
            state.queues += 1;
        }
        !state.destroyed
    }

    /// Counts a queue out; `true` when it was the last and the VM is destroyed.
    pub(crate) fn remove_queue(&self) -> bool {
        let mut state = self.state();
        state.queues -= 1;
        state.queues == 0 && state.destroyed
    }

    /// Whether it is marked broken.
    pub(crate) fn is_broken(&self) -> bool {
        self.state().broken
    }

    /// Makes the private ranges of render work if there are none yet (kernel-uapi, 11.7 step 11).
    ///
    /// # Errors
    /// `ENOSPC` when too many VMs have rendered (section 15); the VM is broken then.
    pub(crate) fn prepare_render(&self, slots: &Arc<RenderSlots>) -> Result<(), Errno> {
        let mut state = self.state();
        if state.rendering.is_some() {
            return Ok(());
        }
        let taken = |used: u32| (used < limits::MAX_RENDERING_VMS).then_some(used + 1);
        if slots
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken)
            .is_err()
        {
            state.broken = true;
            return Err(Errno::ENOSPC);
        }
        state.rendering = Some(RenderSlot(slots.clone()));
        Ok(())
    }

    /// Whether a range may carry user mappings (kernel-uapi, 7.2).
    fn permits(&self, chip: Chip, range: &Range<u64>) -> bool {
        let inside = limits::VM_START <= range.start && range.end <= limits::VM_END;
        let clear = range.end <= self.kernel.start || self.kernel.end <= range.start;
        let reserved = chip == Chip::M4 && limits::m4_reserved(range).is_some();
        inside && clear && !reserved
    }
}

impl SimNode {
    /// The VM of an ID.
    ///
    /// # Errors
    /// `ENOENT`.
    pub(super) fn vm(&self, id: u32) -> Result<Arc<Vm>, Errno> {
        self.tables().vms.get(id).cloned().ok_or(Errno::ENOENT)
    }

    /// VM_CREATE (kernel-uapi, 7.1).
    pub(super) fn vm_create(&self, args: &mut VmCreate) -> Result<(), Errno> {
        let kernel = args.kernel_start..args.kernel_end;
        let aligned = (kernel.start | kernel.end).is_multiple_of(PAGE_SIZE);
        let inside = kernel.start >= limits::VM_START && kernel.end <= limits::VM_END;
        let size = kernel.end.checked_sub(kernel.start);
        let large = size.is_some_and(|size| size >= limits::VM_KERNEL_MIN_SIZE);
        if args.pad != 0 || !aligned || !inside || !large {
            return Err(Errno::EINVAL);
        }
        let vm = Vm::new(self.device.new_uid(), kernel);
        let inserted = self.tables().vms.insert(vm);
        args.vm_id = inserted.map_err(|_| self.chip().ids_exhausted())?;
        Ok(())
    }

    /// VM_DESTROY (kernel-uapi, 7.4).
    pub(super) fn vm_destroy(&self, args: &VmDestroy) -> Result<(), Errno> {
        if args.pad != 0 {
            return Err(Errno::EINVAL);
        }
        let (vm, queues) = {
            let mut tables = self.tables();
            let vm = tables.vms.get(args.vm_id).ok_or(Errno::ENOENT)?;
            let mut state = vm.state();
            if self.chip() == Chip::A18Pro && (state.queues > 0 || !state.space.is_empty()) {
                return Err(Errno::EBUSY);
            }
            state.destroyed = true;
            let queues = state.queues;
            drop(state);
            (tables.vms.remove(args.vm_id).expect("just found"), queues)
        };
        if queues > 0 {
            // Hidden but alive, until the last queue goes.
            return Ok(());
        }
        self.tear_down(&vm)
    }

    /// Ends a VM that nothing names any more. With mappings in place the M4 driver first waits for
    /// all work of the device.
    ///
    /// # Errors
    /// `ETIMEDOUT`.
    pub(super) fn tear_down(&self, vm: &Vm) -> Result<(), Errno> {
        let mapped = !vm.state().space.is_empty();
        if mapped && self.chip() == Chip::M4 {
            self.device
                .scheduler
                .wait_device(self.device.config.internal_wait)?;
        }
        // Of accepted work nothing is left that would look at it.
        let destroyed = VmState {
            destroyed: true,
            ..VmState::default()
        };
        let state = std::mem::replace(&mut *vm.state(), destroyed);
        drop(state);
        Ok(())
    }

    /// VM_BIND (kernel-uapi, 7.5).
    ///
    /// # Safety
    /// As for [`agx_uapi::Node::ioctl`].
    pub(super) unsafe fn vm_bind(&self, args: &VmBind) -> Result<(), Errno> {
        let size = u64::from(args.stride) * u64::from(args.num_binds);
        let fits = match self.chip() {
            Chip::M4 => {
                let few = args.num_binds <= limits::MAX_BINDS && size <= limits::MAX_BIND_BYTES;
                args.stride != 0 && few
            }
            Chip::A18Pro => args.stride as usize >= size_of::<GemBindOp>(),
        };
        if args.pad != 0 || !fits {
            return Err(Errno::EINVAL);
        }
        if self.device.scheduler.is_lost() {
            return Err(Errno::EIO);
        }
        let vm = self.vm(args.vm_id)?;
        if args.num_binds == 0 {
            return Ok(());
        }
        let known = size_of::<GemBindOp>().min(args.stride as usize);
        let unknown = u64::from(args.stride) - known as u64;
        for index in 0..u64::from(args.num_binds) {
            let address = args.userptr.wrapping_add(index * u64::from(args.stride));
            let tail = address.wrapping_add(known as u64);
            let mut op = GemBindOp::zeroed();
            // SAFETY: the caller vouches for `num_binds` records of `stride` bytes.
            unsafe {
                user::read_into(address, &mut op.as_bytes_mut()[..known])?;
                if !user::is_zero(tail, unknown)? {
                    return Err(self.chip().long_record());
                }
            }
            self.bind_one(&vm, &op)?;
        }
        Ok(())
    }

    fn bind_one(&self, vm: &Vm, op: &GemBindOp) -> Result<(), Errno> {
        let unbind = op.flags.contains(BindFlags::UNBIND);
        let flags_fit = if unbind {
            op.flags == BindFlags::UNBIND && op.handle == 0 && op.offset == 0
        } else {
            op.flags.unknown() == 0 && op.flags.intersects(BindFlags::READ | BindFlags::WRITE)
        };
        let aligned = (op.offset | op.range | op.addr).is_multiple_of(PAGE_SIZE);
        let end = op.addr.checked_add(op.range).ok_or(Errno::EINVAL)?;
        let range = op.addr..end;
        if !flags_fit || !aligned || op.range == 0 || !vm.permits(self.chip(), &range) {
            return Err(Errno::EINVAL);
        }
        if unbind {
            self.unbind_range(vm, &range)
        } else {
            self.bind_range(vm, op, range)
        }
    }

    fn bind_range(&self, vm: &Vm, op: &GemBindOp, range: Range<u64>) -> Result<(), Errno> {
        let gem = self.gem(op.handle)?;
        if gem.private_to.is_some_and(|owner| owner != vm.uid) {
            return Err(Errno::EINVAL);
        }
        let single_page = op.flags.contains(BindFlags::SINGLE_PAGE);
        let bytes = if single_page { PAGE_SIZE } else { op.range };
        if op
            .offset
            .checked_add(bytes)
            .is_none_or(|end| end > gem.bo.size())
        {
            return Err(Errno::EINVAL);
        }
        let mut state = vm.state();
        if !state.space.is_free(&range) {
            return Err(self.chip().overlapping_bind());
        }
        let region = Region {
            start: range.start,
            end: range.end,
            bo: gem.bo.clone(),
            offset: op.offset,
            single_page,
            read: op.flags.contains(BindFlags::READ),
            write: op.flags.contains(BindFlags::WRITE),
        };
        state.space.bind(region, self.device.config.pin);
        Ok(())
    }

    fn unbind_range(&self, vm: &Vm, range: &Range<u64>) -> Result<(), Errno> {
        let scheduler = &self.device.scheduler;
        match self.chip() {
            Chip::M4 => scheduler.wait_vm(vm.uid, self.device.config.internal_wait)?,
            Chip::A18Pro if scheduler.vm_is_busy(vm.uid) => return Err(Errno::EBUSY),
            Chip::A18Pro => {}
        }
        vm.state().space.unbind(range);
        Ok(())
    }
}
