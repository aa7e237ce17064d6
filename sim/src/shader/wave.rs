// SPDX-License-Identifier: MIT
//! A SIMD group: its registers, its masks, and the loop that executes it.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use super::control::Scope;
use super::fragment::Fragments;
use super::group::Workgroup;
use super::lanes::{LANES, Lanes};
use super::microop::Step;
use super::observe::Observer;
use super::operand::{Dst, Place, Src};
use super::program::Program;
use super::vertex::VertexLanes;
use crate::fault::{Fault, FaultKind, ShaderPlace};

/// General registers (isa-1, 1.2; HW).
pub const GPRS: usize = 96;
/// Publication words (isa-1, 1.4; HW).
pub const PUBLICATIONS: usize = 128;
/// Predicate banks (isa-1, 1.5; HW).
pub const BANKS: usize = 6;
/// How often a running SIMD group looks whether the device was lost, in instructions.
const CANCEL_PERIOD: u64 = 0x1000;

/// Why [`Wave::run`] returned.
#[derive(Debug)]
pub enum Exit {
    /// The program ended.
    Stop,
    /// The SIMD group reached a workgroup barrier.
    Barrier,
    /// Its share of instructions is used up; it wants to go on.
    Yield,
    /// It failed.
    Fault(Box<Fault>),
}

/// A SIMD group of 32 lanes.
pub struct Wave<'g> {
    /// The general registers.
    pub gprs: [Lanes; GPRS],
    /// All bits set in active lanes: `active`, spread out.
    active_lanes: Lanes,
    active: u32,
    /// The lanes that were active at the start ("L0", isa-2, 6.1).
    pub initial: u32,
    /// Predicate banks P0..P5, one bit a lane.
    pub predicates: [u32; BANKS],
    /// The execution-mask stack.
    pub stack: Vec<Scope>,
    /// Return addresses of calls, as micro-op indices.
    pub links: Vec<u32>,
    /// Index of the micro-op to execute next.
    pub pc: u32,
    /// The workgroup.
    pub group: &'g Workgroup<'g>,
    /// Index of this SIMD group in its workgroup.
    pub simd_group: u32,
    /// What went wrong, when a micro-op returned [`Step::Fault`]; with the lane, if one is to blame.
    pub fault: Option<(FaultKind, Option<u8>)>,
    /// The old values of a returning device atomic, until its ATOMIC_RESULT (isa-2, 5.3).
    pub atomic_result: Option<Lanes>,
    /// Each lane's scratch frame: word w of lane l is at `w * 32 + l`. Grows on use.
    pub scratch: Vec<u32>,
    /// In strict mode, addresses of elements that image stores wrote since the last texture fence: loads
    /// do not see them yet (isa-4, 2.1).
    pub unfenced: RefCell<HashSet<u64>>,
    publications: Option<Box<[Lanes; PUBLICATIONS]>>,
    /// What a SIMD group of vertices works on; others have none. Who sets it clears it.
    pub vertex: Option<Box<VertexLanes>>,
    /// The same of fragments.
    pub fragments: Option<Box<Fragments>>,
    /// Lanes whose stores and atomics do not happen (isa-4, 8; HW): helpers of fragment quads. The
    /// start is with none.
    pub helpers: u32,
    /// What the launch blocks said, in a launch program.
    pub launch: super::control::LaunchState,
    /// Registers that the programs run since the start may have written.
    dirty: u128,
    executed: u64,
    serial: u64,
}

/// A number that no SIMD group of this process had before. Threads take numbers in blocks, so that
/// they do not contend for one counter.
fn next_serial() -> u64 {
    const BLOCK: u64 = 1 << 20;
    static NEXT_BLOCK: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static NEXT: Cell<u64> = const { Cell::new(0) };
    }
    NEXT.with(|next| {
        let mut serial = next.get();
        if serial.is_multiple_of(BLOCK) {
            serial = NEXT_BLOCK.fetch_add(BLOCK, Ordering::Relaxed);
        }
        next.set(serial + 1);
        serial
    })
}

impl<'g> Wave<'g> {
    /// A SIMD group at the first micro-op, with these lanes active and all registers zero (the
    /// hardware's are undefined, isa-2, 10.4).
    #[must_use]
    pub fn new(group: &'g Workgroup<'g>, simd_group: u32, active: u32) -> Box<Wave<'g>> {
        let mut wave = Box::new(Wave {
            gprs: [Lanes::ZERO; GPRS],
            active_lanes: Lanes::ZERO,
            active,
            initial: active,
            predicates: [0; BANKS],
            stack: Vec::new(),
            links: Vec::new(),
            pc: 0,
            group,
            simd_group,
            fault: None,
            atomic_result: None,
            scratch: Vec::new(),
            unfenced: RefCell::default(),
            publications: None,
            vertex: None,
            fragments: None,
            helpers: 0,
            launch: super::control::LaunchState::default(),
            dirty: 0,
            executed: 0,
            serial: next_serial(),
        });
        wave.set_active(active);
        wave
    }

    /// Makes it another SIMD group at its start, as [`Wave::new`] would, without allocating. Registers
    /// that no program wrote are not looked at: whoever sets them from outside makes a new one.
    pub fn restart(&mut self, group: &'g Workgroup<'g>, simd_group: u32, active: u32) {
        // Most programs write few registers, and clearing all takes longer than a short program.
        let mut dirty = std::mem::take(&mut self.dirty);
        while dirty != 0 {
            self.gprs[dirty.trailing_zeros() as usize] = Lanes::ZERO;
            dirty &= dirty - 1;
        }
        debug_assert!(self.gprs.iter().all(|reg| *reg == Lanes::ZERO));
        self.predicates = [0; BANKS];
        self.stack.clear();
        self.links.clear();
        self.pc = 0;
        self.group = group;
        self.simd_group = simd_group;
        self.fault = None;
        self.helpers = 0;
        self.scratch.fill(0);
        self.unfenced.get_mut().clear();
        self.atomic_result = None;
        if let Some(words) = &mut self.publications {
            words.fill(Lanes::ZERO);
        }
        self.launch = super::control::LaunchState::default();
        self.initial = active;
        self.executed = 0;
        self.serial = next_serial();
        self.set_active(active);
    }

    /// The active lanes, one bit each.
    #[inline(always)]
    #[must_use]
    pub fn active(&self) -> u32 {
        self.active
    }

    /// The active lanes whose stores happen.
    #[inline(always)]
    #[must_use]
    pub fn storing(&self) -> u32 {
        self.active & !self.helpers
    }

    /// All bits set in the active lanes.
    #[inline(always)]
    #[must_use]
    pub fn active_lanes(&self) -> &Lanes {
        &self.active_lanes
    }

    /// Changes the active lanes.
    pub fn set_active(&mut self, active: u32) {
        self.active = active;
        self.active_lanes = Lanes::from_mask(active);
    }

    /// Instructions executed so far.
    #[must_use]
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// Different for every SIMD group that ever starts, restarted ones included: observers tell by it
    /// whose instruction they see.
    #[inline(always)]
    #[must_use]
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// A source's value in every lane. Plain registers are lent as they stand, others are made in
    /// `temp`.
    #[inline(always)]
    pub fn read<'a>(&'a self, src: &Src, temp: &'a mut Lanes) -> &'a Lanes {
        if src.is_plain() {
            return self.gpr(src.index);
        }
        match src.place {
            Place::Constant => {
                *temp = Lanes::splat(src.xor);
                return temp;
            }
            Place::Uniform => {
                *temp = Lanes::splat(self.uniform(src.index) & src.and ^ src.xor);
                return temp;
            }
            Place::Gpr => *temp = *self.gpr(src.index),
            Place::Low => {
                let reg = self.gpr(src.index);
                for lane in 0..LANES {
                    temp.0[lane] = reg.0[lane] & 0xffff;
                }
            }
            Place::High => {
                let reg = self.gpr(src.index);
                for lane in 0..LANES {
                    temp.0[lane] = reg.0[lane] >> 16;
                }
            }
            Place::LowFloat => {
                let reg = self.gpr(src.index);
                for lane in 0..LANES {
                    temp.0[lane] = super::alu::half::widen(reg.0[lane] & 0xffff);
                }
            }
            Place::HighFloat => {
                let reg = self.gpr(src.index);
                for lane in 0..LANES {
                    temp.0[lane] = super::alu::half::widen(reg.0[lane] >> 16);
                }
            }
        }
        for lane in 0..LANES {
            temp.0[lane] = temp.0[lane] & src.and ^ src.xor;
        }
        temp
    }

    /// A register. Lowering has refused numbers above r95; the mask only spares the bounds check.
    #[inline(always)]
    #[must_use]
    pub fn gpr(&self, index: u8) -> &Lanes {
        &self.gprs[usize::from(index)]
    }

    /// A uniform word.
    #[inline(always)]
    #[must_use]
    pub fn uniform(&self, index: u8) -> u32 {
        self.group.dispatch.uniforms.get(index)
    }

    /// A publication word; 0 when none was ever written.
    #[must_use]
    pub fn publication(&self, index: u8) -> Lanes {
        match &self.publications {
            Some(words) => words[usize::from(index) % PUBLICATIONS],
            None => Lanes::ZERO,
        }
    }

    /// Writes a result in the active lanes.
    #[inline(always)]
    pub fn write(&mut self, dst: Dst, value: &Lanes) {
        match dst {
            Dst::Gpr(index) => {
                let reg = &mut self.gprs[usize::from(index)];
                if self.active == !0 {
                    *reg = *value;
                } else {
                    blend(reg, value, &self.active_lanes);
                }
            }
            Dst::Low(index) => {
                let reg = &mut self.gprs[usize::from(index)];
                for lane in 0..LANES {
                    let mask = self.active_lanes.0[lane] & 0xffff;
                    reg.0[lane] = reg.0[lane] & !mask | value.0[lane] & mask;
                }
            }
            Dst::High(index) => {
                let reg = &mut self.gprs[usize::from(index)];
                for lane in 0..LANES {
                    let mask = self.active_lanes.0[lane] & 0xffff_0000;
                    reg.0[lane] = reg.0[lane] & !mask | value.0[lane] << 16 & mask;
                }
            }
            Dst::None => {}
            Dst::Publication(_) | Dst::Uniform(_) => self.write_elsewhere(dst, value),
        }
    }

    #[inline(never)]
    fn write_elsewhere(&mut self, dst: Dst, value: &Lanes) {
        match dst {
            Dst::Publication(index) => {
                let words = self
                    .publications
                    .get_or_insert_with(|| Box::new([Lanes::ZERO; PUBLICATIONS]));
                blend(
                    &mut words[usize::from(index) % PUBLICATIONS],
                    value,
                    &self.active_lanes,
                );
            }
            Dst::Uniform(index) if self.active != 0 => {
                let lane = self.active.trailing_zeros() as usize;
                self.group.dispatch.uniforms.set(index, value.0[lane]);
            }
            _ => {}
        }
    }

    /// Records a fault; the micro-op returns what this returns.
    #[cold]
    pub fn fail(&mut self, kind: FaultKind, lane: Option<u8>) -> Step {
        self.fault = Some((kind, lane));
        Step::Fault
    }

    /// Executes up to about `budget` instructions.
    pub fn run<O: Observer>(&mut self, program: &Program, budget: u64, observer: &mut O) -> Exit {
        self.dirty |= program.written_gprs();
        let limit = self.group.dispatch.watchdog;
        let mut left = budget;
        loop {
            let chunk = left
                .min(CANCEL_PERIOD)
                .min(limit.saturating_sub(self.executed).saturating_add(1));
            match self.run_chunk(program, chunk, observer) {
                None => {}
                Some(exit) => return exit,
            }
            left -= chunk;
            if self.executed > limit {
                let fault = FaultKind::Watchdog { limit };
                return Exit::Fault(self.place(program, self.pc, fault, None));
            }
            if left == 0 {
                return Exit::Yield;
            }
            let cancel = self.group.dispatch.cancel;
            if cancel.load(std::sync::atomic::Ordering::Relaxed) {
                return Exit::Stop;
            }
        }
    }

    /// Executes `count` instructions; `None` when none of them ended the run.
    #[inline(always)]
    fn run_chunk<O: Observer>(
        &mut self,
        program: &Program,
        count: u64,
        observer: &mut O,
    ) -> Option<Exit> {
        let ops = program.ops();
        let mut pc = self.pc;
        let mut left = count;
        let exit = loop {
            if left == 0 {
                break None;
            }
            left -= 1;
            let op = &ops[pc as usize];
            if O::ACTIVE {
                self.pc = pc;
                if let Err(fault) = observer.before(self, program, pc as usize) {
                    break Some(Exit::Fault(self.place(program, pc, fault, None)));
                }
            }
            // SAFETY: `exec` comes from `kernel!`, which picks what this CPU has.
            let step = unsafe { (op.exec)(self, op) };
            if O::ACTIVE && step != Step::Fault {
                observer.after(self, program, pc as usize);
            }
            match step {
                Step::Next => pc += 1,
                Step::Jump => pc = op.target,
                Step::Indirect => pc = self.pc,
                Step::Barrier => {
                    pc += 1;
                    break Some(Exit::Barrier);
                }
                Step::Stop => break Some(Exit::Stop),
                Step::Fault => {
                    let refused = || {
                        let reason = program.refusal(pc as usize).to_owned();
                        (FaultKind::IllegalInstruction(reason), None)
                    };
                    let (kind, lane) = self.fault.take().unwrap_or_else(refused);
                    break Some(Exit::Fault(self.place(program, pc, kind, lane)));
                }
            }
        };
        self.pc = pc;
        self.executed += count - left;
        exit
    }

    /// The fault with its place.
    #[cold]
    fn place(&self, program: &Program, pc: u32, kind: FaultKind, lane: Option<u8>) -> Box<Fault> {
        let (address, instruction) = program.describe(pc as usize);
        Box::new(Fault {
            kind,
            shader: Some(Box::new(ShaderPlace {
                stage: self.group.dispatch.stage.name(),
                pc: address,
                instruction,
                lane,
                workgroup: self.group.id,
                simd_group: self.simd_group,
            })),
            record: None,
        })
    }
}

/// `reg = mask ? value : reg` in each lane.
#[inline(always)]
fn blend(reg: &mut Lanes, value: &Lanes, mask: &Lanes) {
    for lane in 0..LANES {
        let mask = mask.0[lane];
        reg.0[lane] = reg.0[lane] & !mask | value.0[lane] & mask;
    }
}
