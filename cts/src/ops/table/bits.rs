// SPDX-License-Identifier: MIT
//! Bit fields, counting and finding bits.

use crate::ops::lanes::Lanes;
use crate::ops::module::Module;
use crate::ops::reference::expect::Expect;
use crate::ops::test::OpTest;
use crate::ops::types::{INTEGERS, Scalar, Ty};

/// A field of a value by offset and count.
type Extract = fn(Scalar, u64, u32, u32) -> u64;

pub(super) fn tests(list: &mut Vec<OpTest>) {
    list.push(rotations());
    // Vulkan without maintenance9 has these for 32 bits only.
    for s in [Scalar::I32, Scalar::U32] {
        list.push(insert(s));
        let (extract, op): (Extract, _) = match s.is_signed() {
            true => (signed_field, "OpBitFieldSExtract"),
            false => (unsigned_field, "OpBitFieldUExtract"),
        };
        list.push(extract_test(op, s, extract));
        list.push(constant_insert(s));
        list.push(constant_extract(op, s, extract));
        let reverse = Lanes::new("OpBitReverse", &[s], &[s]).op("OpBitReverse");
        list.push(
            reverse.reference(move |v| Expect::bits((v[0] << (64 - s.bits())).reverse_bits())),
        );
        let lowest = Lanes::new("FindILsb", &[s], &[Scalar::I32]).ext("FindILsb");
        list.push(lowest.reference(move |v| match v[0] {
            0 => Expect::bits(0xffff_ffff),
            bits => Expect::bits(bits.trailing_zeros().into()),
        }));
    }
    for s in [Scalar::I32, Scalar::U32] {
        let count = Lanes::new("OpBitCount", &[s], &[s]).op("OpBitCount");
        list.push(count.reference(|v| Expect::bits(v[0].count_ones().into())));
    }
    let highest = |bits: u64| match bits {
        0 => Expect::bits(0xffff_ffff),
        bits => Expect::bits(u64::from(63 - bits.leading_zeros())),
    };
    let find = Lanes::new("FindUMsb", &[Scalar::U32], &[Scalar::I32]).ext("FindUMsb");
    list.push(find.reference(move |v| highest(v[0])));
    let find = Lanes::new("FindSMsb", &[Scalar::I32], &[Scalar::I32]).ext("FindSMsb");
    list.push(find.reference(move |v| {
        let negative = v[0] >> 31 != 0;
        highest(if negative { !v[0] & 0xffff_ffff } else { v[0] })
    }));
    // Rotations and byte swaps, which compilers put together from shifts.
    for s in INTEGERS.into_iter().filter(|s| !s.is_signed()) {
        list.push(rotate(s));
    }
}

/// Whether the field lies in the value.
fn is_field(s: Scalar, offset: u32, count: u32) -> bool {
    u64::from(offset) + u64::from(count) <= u64::from(s.bits())
}

fn ones(count: u32) -> u64 {
    if count == 0 {
        0
    } else {
        u64::MAX >> (64 - count)
    }
}

fn unsigned_field(_: Scalar, value: u64, offset: u32, count: u32) -> u64 {
    if count == 0 {
        0
    } else {
        value >> offset & ones(count)
    }
}

fn signed_field(s: Scalar, value: u64, offset: u32, count: u32) -> u64 {
    if count == 0 {
        return 0;
    }
    let top = 64 - count;
    (((value >> offset) << top) as i64 >> top) as u64 & s.mask()
}

fn inserted(s: Scalar, base: u64, insert: u64, offset: u32, count: u32) -> u64 {
    if count == 0 {
        return base;
    }
    let mask = ones(count) << offset;
    (base & !mask | insert << offset & mask) & s.mask()
}

/// Offsets or counts.
fn positions() -> Vec<u64> {
    vec![0, 1, 5, 8, 15, 16, 17, 24, 31, 32, 33, 0xffff_ffff]
}

/// Both directions, as the shifts that compilers know a rotation by.
fn rotations() -> OpTest {
    let u = Scalar::U32;
    Lanes::new("rotation", &[u, u], &[u, u])
        .shared(&[1])
        .extra(vec![Vec::new(), (1..32).collect()])
        .body(move |m, width, v| {
            let ty = Ty::new(u, width);
            let mut amount = v[1].clone();
            if width > 1 {
                amount = m.op("OpCompositeConstruct", ty, &vec![amount; width as usize]);
            }
            let bits = m.splat(ty, 32);
            let rest = m.op("OpISub", ty, &[bits, amount.clone()]);
            let each = [[&amount, &rest], [&rest, &amount]].map(|[left, right]| {
                let high = m.op("OpShiftLeftLogical", ty, &[v[0].clone(), left.clone()]);
                let low = m.op("OpShiftRightLogical", ty, &[v[0].clone(), right.clone()]);
                m.op("OpBitwiseOr", ty, &[high, low])
            });
            each.to_vec()
        })
        .references(|v| {
            let (value, amount) = (v[0] as u32, v[1] as u32);
            let both = [value.rotate_left(amount), value.rotate_right(amount)];
            both.map(|bits| Expect::bits(bits.into())).to_vec()
        })
}

fn insert(s: Scalar) -> OpTest {
    Lanes::new("OpBitFieldInsert", &[s, s, Scalar::U32, Scalar::U32], &[s])
        .op("OpBitFieldInsert")
        .shared(&[2, 3])
        .extra(vec![Vec::new(), Vec::new(), positions(), positions()])
        .reference(move |v| {
            let (offset, count) = (v[2] as u32, v[3] as u32);
            match is_field(s, offset, count) {
                true => Expect::bits(inserted(s, v[0], v[1], offset, count)),
                false => Expect::Any,
            }
        })
}

fn extract_test(op: &'static str, s: Scalar, extract: Extract) -> OpTest {
    Lanes::new(op, &[s, Scalar::I32, Scalar::U32], &[s])
        .op(op)
        .shared(&[1, 2])
        .extra(vec![Vec::new(), positions(), positions()])
        .reference(move |v| {
            let (offset, count) = (v[1] as u32, v[2] as u32);
            match is_field(s, offset, count) {
                true => Expect::bits(extract(s, v[0], offset, count)),
                false => Expect::Any,
            }
        })
}

/// Constant offsets and counts.
const FIELDS: [(u32, u32); 8] = [
    (0, 0),
    (31, 0),
    (0, 8),
    (8, 8),
    (16, 16),
    (0, 32),
    (31, 1),
    (7, 13),
];

fn constant_field(m: &mut Module, (offset, count): (u32, u32)) -> [String; 2] {
    [offset, count].map(|value| m.constant(Scalar::U32, value.into()))
}

fn constant_insert(s: Scalar) -> OpTest {
    let results = [s; FIELDS.len()];
    Lanes::new("OpBitFieldInsert with constants", &[s, s], &results)
        .scalars_only()
        .body(move |m, width, operands| {
            let each = FIELDS.map(|field| {
                let [offset, count] = constant_field(m, field);
                let operands = [operands[0].clone(), operands[1].clone(), offset, count];
                m.op("OpBitFieldInsert", Ty::new(s, width), &operands)
            });
            each.to_vec()
        })
        .references(move |v| {
            FIELDS
                .map(|(o, c)| Expect::bits(inserted(s, v[0], v[1], o, c)))
                .to_vec()
        })
}

fn constant_extract(op: &'static str, s: Scalar, extract: Extract) -> OpTest {
    let results = [s; FIELDS.len()];
    Lanes::new(&format!("{op} with constants"), &[s], &results)
        .scalars_only()
        .body(move |m, width, operands| {
            let each = FIELDS.map(|field| {
                let [offset, count] = constant_field(m, field);
                m.op(op, Ty::new(s, width), &[operands[0].clone(), offset, count])
            });
            each.to_vec()
        })
        .references(move |v| {
            FIELDS
                .map(|(o, c)| Expect::bits(extract(s, v[0], o, c)))
                .to_vec()
        })
}

fn rotate(s: Scalar) -> OpTest {
    let bits = u64::from(s.bits());
    Lanes::new("rotation by shifts", &[s, s], &[s])
        .body(move |m, width, operands| {
            let ty = Ty::new(s, width);
            let mask = m.splat(ty, bits - 1);
            let left = m.op("OpBitwiseAnd", ty, &[operands[1].clone(), mask.clone()]);
            let back = m.op("OpSNegate", ty, &[operands[1].clone()]);
            let right = m.op("OpBitwiseAnd", ty, &[back, mask]);
            let high = m.op("OpShiftLeftLogical", ty, &[operands[0].clone(), left]);
            let low = m.op("OpShiftRightLogical", ty, &[operands[0].clone(), right]);
            vec![m.op("OpBitwiseOr", ty, &[high, low])]
        })
        .reference(move |v| {
            let left = v[1] % bits;
            let right = (bits - left) % bits;
            Expect::bits((v[0] << left | v[0] >> right) & s.mask())
        })
}
