// SPDX-License-Identifier: MIT
//! Runs a lowered shader: one workgroup of at most one subgroup, in lockstep, by the meaning that NIR and the contract
//! of lowering give to each operation. Independent of Mesa, of the back end and of the simulator.
#![allow(dead_code, unreachable_pub)]

use mesa_nir::program::{
    Alu, AluOp, AtomicOp, DefId, IndexKind, Instr, Intrinsic, IntrinsicOp, Node, Program,
};
use std::collections::BTreeMap;

const LANES: usize = 32;
type Lanes = [u64; LANES];

/// The end of all addresses: nothing may reach past it.
const VA_END: u64 = 1 << 42;

/// Memory and roots of a run.
pub struct Machine {
    /// Device memory by address; what is not there reads as 0 and drops stores.
    pub memory: BTreeMap<u64, Vec<u8>>,
    /// What `load_preamble` gives, by BASE.
    pub roots: BTreeMap<i64, u64>,
    pub workgroup: [u32; 3],
    program: Program,
    defs: Vec<Vec<Lanes>>,
    /// Bits of each value.
    bits: Vec<u8>,
    shared: Vec<u32>,
    scratch: Vec<[u32; LANES]>,
    /// The block that each lane was in last.
    from: [u32; LANES],
}

fn float(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

pub fn half_to_f32(half: u16) -> f32 {
    let sign = if half & 0x8000 != 0 { -1.0 } else { 1.0 };
    let (exponent, mantissa) = (i32::from(half >> 10 & 31), f32::from(half & 0x3ff));
    match exponent {
        0 => sign * mantissa * 2.0_f32.powi(-24),
        31 if mantissa == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        e => sign * (1.0 + mantissa / 1024.0) * 2.0_f32.powi(e - 15),
    }
}

/// To the nearest, ties to even.
pub fn f32_to_half(value: f32) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    if value.is_nan() {
        return 0x7e00;
    }
    let magnitude = f64::from(value.abs());
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    let exponent = (magnitude.log2().floor() as i32).max(-14);
    let units = (magnitude / 2.0_f64.powi(exponent - 10)).round_ties_even() as u32;
    let biased = if units < 1024 {
        units
    } else {
        units - 1024 + (((exponent + 15) as u32) << 10)
    };
    sign | biased as u16
}

fn mask(bits: u8) -> u64 {
    u64::MAX >> (64 - u32::from(bits))
}

fn signed(value: u64, bits: u8) -> i64 {
    let shift = 64 - u32::from(bits);
    ((value << shift) as i64) >> shift
}

impl Machine {
    pub fn new(program: Program) -> Self {
        let size = program.workgroup_size.map(usize::from);
        assert!(size[0] <= LANES && size[1] == 1 && size[2] == 1);
        let defs = vec![Vec::new(); program.num_defs as usize];
        let mut bits = vec![0; program.num_defs as usize];
        gather_bits(&program.body, &mut bits);
        Self {
            memory: BTreeMap::new(),
            roots: BTreeMap::new(),
            workgroup: [0; 3],
            shared: vec![0xdead_beef; program.shared_bytes as usize / 4],
            scratch: vec![[0xdead_beef; LANES]; program.scratch_bytes as usize / 4],
            defs,
            bits,
            from: [u32::MAX; LANES],
            program,
        }
    }

    /// Put bytes at an address.
    pub fn map(&mut self, address: u64, bytes: Vec<u8>) {
        self.memory.insert(address, bytes);
    }

    /// The words at an address.
    pub fn words(&self, address: u64) -> Vec<u32> {
        let bytes = self.memory[&address].chunks_exact(4);
        bytes
            .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
            .collect()
    }

    pub fn run(&mut self) {
        let lanes = u32::from(self.program.workgroup_size[0]);
        let body = std::mem::take(&mut self.program.body);
        let all = u32::MAX >> (32 - lanes);
        self.list(&body, all, &mut 0, &mut 0);
        self.program.body = body;
    }

    fn byte(&mut self, address: u64) -> Option<&mut u8> {
        assert!(address < VA_END, "an access at {address:#x}");
        let (start, bytes) = self.memory.range_mut(..=address).next_back()?;
        bytes.get_mut((address - start) as usize)
    }

    fn read(&mut self, address: u64, bytes: u32) -> u64 {
        assert_eq!(
            address % u64::from(bytes),
            0,
            "unaligned access at {address:#x}"
        );
        (0..bytes).fold(0, |value, i| {
            value | u64::from(self.byte(address + u64::from(i)).map_or(0, |b| *b)) << (8 * i)
        })
    }

    fn write(&mut self, address: u64, bytes: u32, value: u64) {
        assert_eq!(
            address % u64::from(bytes),
            0,
            "unaligned access at {address:#x}"
        );
        for i in 0..bytes {
            if let Some(byte) = self.byte(address + u64::from(i)) {
                *byte = (value >> (8 * i)) as u8;
            }
        }
    }

    fn get(&self, def: DefId, component: usize, lane: usize) -> u64 {
        self.defs[def.0 as usize][component][lane]
    }

    /// Run a list; the lanes that come out of its end. `broke` and `continued` gather those that jump.
    fn list(
        &mut self,
        nodes: &[Node],
        mut active: u32,
        broke: &mut u32,
        continued: &mut u32,
    ) -> u32 {
        for node in nodes {
            if active == 0 {
                return 0;
            }
            match node {
                Node::Block(block) => {
                    self.phis(&block.instrs, active);
                    for lane in (0..LANES).filter(|l| active >> l & 1 != 0) {
                        self.from[lane] = block.id.0;
                    }
                    for instr in &block.instrs {
                        match instr {
                            Instr::Break => {
                                *broke |= active;
                                active = 0;
                            }
                            Instr::Continue => {
                                *continued |= active;
                                active = 0;
                            }
                            _ => self.instr(instr, active),
                        }
                    }
                }
                Node::If(node) => {
                    let taken = (0..LANES).fold(0, |m, lane| {
                        let on = active >> lane & 1 != 0 && self.get(node.condition, 0, lane) != 0;
                        m | u32::from(on) << lane
                    });
                    if !node.divergent {
                        assert!(
                            taken == 0 || taken == active,
                            "an if that is not convergent"
                        );
                    }
                    let then = self.list(&node.then_body, taken, broke, continued);
                    let other = self.list(&node.else_body, active & !taken, broke, continued);
                    active = then | other;
                }
                Node::Loop(node) => {
                    let (mut inside, mut out) = (active, 0);
                    let mut rounds = 0;
                    while inside != 0 {
                        rounds += 1;
                        assert!(rounds < 100_000, "an endless loop");
                        let mut again = 0;
                        let left = self.list(&node.body, inside, &mut out, &mut again);
                        inside = left | again;
                    }
                    active = out;
                }
            }
        }
        active
    }

    fn phis(&mut self, instrs: &[Instr], active: u32) {
        let mut values = Vec::new();
        for instr in instrs {
            let Instr::Phi(def, sources) = instr else {
                break;
            };
            let mut result = vec![[0; LANES]; usize::from(def.components)];
            for lane in (0..LANES).filter(|l| active >> l & 1 != 0) {
                let from = sources.iter().find(|(b, _)| b.0 == self.from[lane]);
                let (_, source) = from.expect("a source for the block that the lane came from");
                for (c, result) in result.iter_mut().enumerate() {
                    result[lane] = self.get(*source, c, lane);
                }
            }
            values.push((def.id, result));
        }
        for (id, value) in values {
            self.set(id, value, active);
        }
    }

    fn set(&mut self, id: DefId, value: Vec<Lanes>, active: u32) {
        let slot = &mut self.defs[id.0 as usize];
        slot.resize(value.len(), [0; LANES]);
        for (slot, value) in slot.iter_mut().zip(value) {
            for lane in (0..LANES).filter(|l| active >> l & 1 != 0) {
                slot[lane] = value[lane];
            }
        }
    }

    fn instr(&mut self, instr: &Instr, active: u32) {
        let lanes = (0..LANES).filter(move |l| active >> l & 1 != 0);
        match instr {
            Instr::Const(def, values) => {
                self.set(def.id, values.iter().map(|&v| [v; LANES]).collect(), active);
            }
            Instr::Undef(def) => {
                let value = vec![
                    [0x5a5a_5a5a_5a5a_5a5a & mask(def.bits); LANES];
                    usize::from(def.components)
                ];
                self.set(def.id, value, active);
            }
            Instr::Alu(alu) => {
                let mut result = vec![[0; LANES]; usize::from(alu.def.components)];
                for lane in lanes {
                    for (c, value) in self.alu(alu, lane).into_iter().enumerate() {
                        result[c][lane] = value & mask(alu.def.bits);
                    }
                }
                if !alu.def.divergent {
                    self.check_convergent(&result, active, &format!("{alu:?}"));
                }
                self.set(alu.def.id, result, active);
            }
            Instr::Intrinsic(intrinsic) => self.intrinsic(intrinsic, active),
            Instr::Tex(tex) => panic!("{tex:?}: this machine has no texture unit"),
            Instr::Phi(..) | Instr::Break | Instr::Continue => {}
        }
    }

    fn check_convergent(&self, value: &[Lanes], active: u32, what: &str) {
        let first = active.trailing_zeros() as usize;
        for lane in (0..LANES).filter(|l| active >> l & 1 != 0) {
            assert!(
                value.iter().all(|v| v[lane] == v[first]),
                "not convergent: {what}"
            );
        }
    }

    #[allow(clippy::too_many_lines)]
    fn alu(&self, alu: &Alu, lane: usize) -> Vec<u64> {
        let src = |i: usize, c: usize| {
            self.get(alu.srcs[i].def, usize::from(alu.srcs[i].swizzle[c]), lane)
        };
        let components = usize::from(alu.def.components);
        let bits = alu.def.bits;
        use AluOp as Op;
        match alu.op {
            Op::vec2 | Op::vec3 | Op::vec4 => return (0..components).map(|i| src(i, 0)).collect(),
            Op::mov => return (0..components).map(|c| src(0, c)).collect(),
            _ => {}
        }
        assert_eq!(components, 1, "{alu:?}");
        let (a, b, c) = (
            src(0, 0),
            alu.srcs.get(1).map_or(0, |_| src(1, 0)),
            alu.srcs.get(2).map_or(0, |_| src(2, 0)),
        );
        let half = bits == 16;
        let (fa, fb, fc) = if half || alu.op == Op::f2f32 {
            (
                half_to_f32(a as u16),
                half_to_f32(b as u16),
                half_to_f32(c as u16),
            )
        } else {
            (float(a), float(b), float(c))
        };
        let f = |x: f32| {
            u64::from(if half {
                u32::from(f32_to_half(x))
            } else {
                x.to_bits()
            })
        };
        let (ia, ib) = (a as u32 as i32, b as u32 as i32);
        let (ua, ub) = (a as u32, b as u32);
        let int = |x: i32| u64::from(x as u32);
        vec![match alu.op {
            Op::fadd => f(fa + fb),
            Op::fmul => f(fa * fb),
            Op::ffma if half => f((f64::from(fa) * f64::from(fb) + f64::from(fc)) as f32),
            Op::ffma => f(fa.mul_add(fb, fc)),
            Op::fmin => f(fa.min(fb)),
            Op::fmax => f(fa.max(fb)),
            Op::frcp => f(1.0 / fa),
            Op::frsq => f(1.0 / fa.sqrt()),
            Op::fsqrt => f(fa.sqrt()),
            Op::fexp2 => f(fa.exp2()),
            Op::flog2 => f(fa.log2()),
            Op::ffloor => f(fa.floor()),
            Op::fceil => f(fa.ceil()),
            Op::ftrunc => f(fa.trunc()),
            Op::fround_even => f(fa.round_ties_even()),
            Op::fabs => f(fa.abs()),
            Op::fneg => f(-fa),
            Op::fsat => f(if fa.is_nan() { 0.0 } else { fa.clamp(0.0, 1.0) }),
            Op::fsin_agx => {
                assert!(fa.is_nan() || fa.abs() <= 1.0, "fsin_agx of {fa}");
                f((f64::from(fa) * std::f64::consts::FRAC_PI_2).sin() as f32)
            }
            Op::f2f16 => u64::from(f32_to_half(float(a))),
            Op::f2f32 => u64::from(fa.to_bits()),
            Op::f2i32 => int(fa as i32),
            Op::f2u32 => u64::from(fa as u32),
            Op::i2f32 => f(ia as f32),
            Op::u2f32 => f(ua as f32),
            Op::flt => u64::from(self.compare(alu, lane, |x, y| x < y)),
            Op::fge => u64::from(self.compare(alu, lane, |x, y| x >= y)),
            Op::feq => u64::from(self.compare(alu, lane, |x, y| x == y)),
            Op::fneu => u64::from(self.compare(alu, lane, |x, y| x != y)),
            Op::ilt => u64::from(ia < ib),
            Op::ige => u64::from(ia >= ib),
            Op::ieq => u64::from(a == b),
            Op::ine => u64::from(a != b),
            Op::ult => u64::from(ua < ub),
            Op::uge => u64::from(ua >= ub),
            Op::bcsel => {
                if a != 0 {
                    b
                } else {
                    c
                }
            }
            Op::b2i32 | Op::b2i16 | Op::b2i8 => a,
            Op::b2f32 => f(a as f32),
            Op::b2f16 => f(a as f32),
            Op::iand => a & b,
            Op::ior => a | b,
            Op::ixor => a ^ b,
            Op::inot => !a,
            Op::ineg => a.wrapping_neg(),
            Op::iabs => int(ia.wrapping_abs()),
            Op::imin => int(ia.min(ib)),
            Op::imax => int(ia.max(ib)),
            Op::umin => u64::from(ua.min(ub)),
            Op::umax => u64::from(ua.max(ub)),
            Op::ishl => u64::from(ua.wrapping_shl(ub)),
            Op::ishr => int(ia.wrapping_shr(ub)),
            Op::ushr => u64::from(ua.wrapping_shr(ub)),
            Op::urol => u64::from(ua.rotate_left(ub & 31)),
            Op::iadd => a.wrapping_add(b),
            Op::isub => a.wrapping_sub(b),
            Op::imul => a.wrapping_mul(b),
            Op::umul_high => (u64::from(ua) * u64::from(ub)) >> 32,
            Op::imul_high => ((i64::from(ia) * i64::from(ib)) >> 32) as u64,
            Op::umul_2x32_64 => u64::from(ua) * u64::from(ub),
            Op::imul_2x32_64 => (i64::from(ia) * i64::from(ib)) as u64,
            Op::bit_count => u64::from(ua.count_ones()),
            Op::ufind_msb => int(31 - ua.leading_zeros() as i32),
            Op::bitfield_reverse => u64::from(ua.reverse_bits()),
            Op::u2u8 | Op::u2u16 | Op::u2u32 => a,
            Op::i2i8 | Op::i2i16 | Op::i2i32 => signed(a, self.width(alu.srcs[0].def)) as u64,
            Op::pack_64_2x32_split => a | b << 32,
            Op::unpack_64_2x32_split_x => a,
            Op::unpack_64_2x32_split_y => a >> 32,
            Op::pack_32_2x16_split => a | b << 16,
            Op::unpack_32_2x16_split_x => a,
            Op::unpack_32_2x16_split_y => a >> 16,
            op => panic!("the machine does not know {op:?}"),
        }]
    }

    fn compare(&self, alu: &Alu, lane: usize, op: impl Fn(f32, f32) -> bool) -> bool {
        let value = |i: usize| {
            let source = &alu.srcs[i];
            let bits = self.get(source.def, usize::from(source.swizzle[0]), lane);
            if self.width(source.def) == 16 {
                half_to_f32(bits as u16)
            } else {
                float(bits)
            }
        };
        op(value(0), value(1))
    }

    fn width(&self, def: DefId) -> u8 {
        self.bits[def.0 as usize]
    }

    fn intrinsic(&mut self, i: &Intrinsic, active: u32) {
        let lanes = || (0..LANES).filter(move |l| active >> l & 1 != 0);
        let components = i.def.map_or(0, |d| usize::from(d.components));
        let bits = i.def.map_or(32, |d| d.bits);
        let mut result = vec![[0; LANES]; components];
        let base = i.index(IndexKind::BASE);
        // Base, index and their split of an access whose address is source `at`.
        let address = |machine: &Self, at: usize, lane: usize| {
            let index = machine.get(i.srcs[at + 1], 0, lane);
            assert!(index >> 32 == 0);
            machine
                .get(i.srcs[at], 0, lane)
                .wrapping_add(index << (base & 7))
                .wrapping_add((base >> 3) as u64)
        };
        match i.op {
            IntrinsicOp::load_preamble => result[0] = [self.roots[&base]; LANES],
            IntrinsicOp::load_agx | IntrinsicOp::load_constant_agx => {
                assert!((base & 7) <= 4 && i16::try_from(base >> 3).is_ok());
                for lane in lanes() {
                    let at = address(self, 0, lane);
                    for (c, value) in result.iter_mut().enumerate() {
                        let size = u32::from(bits / 8);
                        value[lane] =
                            self.read(at.wrapping_add((c as u64) * u64::from(size)), size);
                    }
                }
            }
            IntrinsicOp::store_agx => {
                assert!((base & 7) <= 4 && i16::try_from(base >> 3).is_ok());
                let size = u32::from(self.width(i.srcs[0]) / 8);
                for lane in lanes() {
                    let at = address(self, 1, lane);
                    for c in 0..self.defs[i.srcs[0].0 as usize].len() {
                        let value = self.get(i.srcs[0], c, lane);
                        self.write(at.wrapping_add((c as u64) * u64::from(size)), size, value);
                    }
                }
            }
            IntrinsicOp::global_atomic_agx | IntrinsicOp::global_atomic_swap_agx => {
                let op = AtomicOp::from_number(i.index(IndexKind::ATOMIC_OP) as u32)
                    .expect("an operation");
                for lane in lanes() {
                    let index = self.get(i.srcs[1], 0, lane);
                    let at = self.get(i.srcs[0], 0, lane).wrapping_add(index << 2);
                    let old = self.read(at, 4) as u32;
                    let data = self.get(i.srcs[2], 0, lane) as u32;
                    let new = match op {
                        AtomicOp::iadd => old.wrapping_add(data),
                        AtomicOp::imin => (old as i32).min(data as i32) as u32,
                        AtomicOp::imax => (old as i32).max(data as i32) as u32,
                        AtomicOp::umin => old.min(data),
                        AtomicOp::umax => old.max(data),
                        AtomicOp::iand => old & data,
                        AtomicOp::ior => old | data,
                        AtomicOp::ixor => old ^ data,
                        AtomicOp::xchg => data,
                        AtomicOp::fadd => (f32::from_bits(old) + f32::from_bits(data)).to_bits(),
                        AtomicOp::cmpxchg if old == data => self.get(i.srcs[3], 0, lane) as u32,
                        AtomicOp::cmpxchg => old,
                        other => panic!("{other:?}"),
                    };
                    self.write(at, 4, u64::from(new));
                    result[0][lane] = u64::from(old);
                }
            }
            IntrinsicOp::load_shared | IntrinsicOp::load_scratch => {
                for lane in lanes() {
                    let at = self.get(i.srcs[0], 0, lane) as u32;
                    let at = at.wrapping_add(base as u32);
                    assert_eq!(at % 4, 0);
                    result[0][lane] = u64::from(match i.op {
                        IntrinsicOp::load_shared => self.shared[at as usize / 4],
                        _ => self.scratch[at as usize / 4][lane],
                    });
                }
            }
            IntrinsicOp::store_shared | IntrinsicOp::store_scratch => {
                for lane in lanes() {
                    let at = self.get(i.srcs[1], 0, lane) as u32;
                    let at = at.wrapping_add(base as u32);
                    assert_eq!(at % 4, 0);
                    let value = self.get(i.srcs[0], 0, lane) as u32;
                    match i.op {
                        IntrinsicOp::store_shared => self.shared[at as usize / 4] = value,
                        _ => self.scratch[at as usize / 4][lane] = value,
                    }
                }
            }
            IntrinsicOp::load_workgroup_id => {
                for (value, id) in result.iter_mut().zip(self.workgroup) {
                    *value = [u64::from(id); LANES];
                }
            }
            IntrinsicOp::load_global_invocation_id => {
                for (c, value) in result.iter_mut().enumerate() {
                    let first = self.workgroup[c] * u32::from(self.program.workgroup_size[c]);
                    *value = std::array::from_fn(|l| {
                        u64::from(first) + if c == 0 { l as u64 } else { 0 }
                    });
                }
            }
            IntrinsicOp::load_local_invocation_id
            | IntrinsicOp::load_local_invocation_index
            | IntrinsicOp::load_subgroup_invocation => {
                result[0] = std::array::from_fn(|l| l as u64)
            }
            IntrinsicOp::load_subgroup_id => {}
            // Lockstep needs none.
            IntrinsicOp::barrier => {}
            IntrinsicOp::ballot => {
                let value = lanes().fold(0, |m, l| m | (self.get(i.srcs[0], 0, l) & 1) << l);
                result[0] = [value; LANES];
            }
            IntrinsicOp::shuffle | IntrinsicOp::shuffle_xor => {
                for lane in lanes() {
                    let index = self.get(i.srcs[1], 0, lane) as usize;
                    let index = if i.op == IntrinsicOp::shuffle {
                        index
                    } else {
                        lane ^ index
                    };
                    // An inactive lane gives what it likes.
                    result[0][lane] = if active >> index & 1 != 0 {
                        self.get(i.srcs[0], 0, index)
                    } else {
                        0x0bad_0bad
                    };
                }
            }
            IntrinsicOp::reduce => {
                let op = AluOp::from_number(i.index(IndexKind::REDUCTION_OP) as u32)
                    .expect("an operation");
                let value =
                    lanes()
                        .map(|l| self.get(i.srcs[0], 0, l) as u32)
                        .reduce(|a, b| match op {
                            AluOp::iadd => a.wrapping_add(b),
                            AluOp::iand => a & b,
                            AluOp::ior => a | b,
                            AluOp::ixor => a ^ b,
                            AluOp::imin => (a as i32).min(b as i32) as u32,
                            AluOp::imax => (a as i32).max(b as i32) as u32,
                            AluOp::umin => a.min(b),
                            AluOp::umax => a.max(b),
                            AluOp::fadd => (f32::from_bits(a) + f32::from_bits(b)).to_bits(),
                            AluOp::fmul => (f32::from_bits(a) * f32::from_bits(b)).to_bits(),
                            other => panic!("{other:?}"),
                        });
                result[0] = [u64::from(value.expect("an active lane")); LANES];
            }
            IntrinsicOp::exclusive_scan => {
                let mut sum = 0_u32;
                for lane in lanes() {
                    result[0][lane] = u64::from(sum);
                    sum = sum.wrapping_add(self.get(i.srcs[0], 0, lane) as u32);
                }
            }
            other => panic!("the machine does not know {other:?}"),
        }
        if let Some(def) = i.def {
            if !def.divergent {
                self.check_convergent(&result, active, &format!("{i:?}"));
            }
            self.set(def.id, result, active);
        }
    }
}

fn gather_bits(nodes: &[Node], bits: &mut [u8]) {
    for node in nodes {
        match node {
            Node::Block(block) => {
                for instr in &block.instrs {
                    let def = match instr {
                        Instr::Alu(alu) => Some(alu.def),
                        Instr::Const(d, _) | Instr::Undef(d) | Instr::Phi(d, _) => Some(*d),
                        Instr::Intrinsic(i) => i.def,
                        Instr::Tex(tex) => Some(tex.def),
                        Instr::Break | Instr::Continue => None,
                    };
                    if let Some(def) = def {
                        bits[def.id.0 as usize] = def.bits;
                    }
                }
            }
            Node::If(node) => {
                gather_bits(&node.then_body, bits);
                gather_bits(&node.else_body, bits);
            }
            Node::Loop(node) => gather_bits(&node.body, bits),
        }
    }
}
