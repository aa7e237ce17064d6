// SPDX-License-Identifier: MIT
//! Conversions and bit casts.

use crate::ops::lanes::Lanes;
use crate::ops::module::{Controls, Id};
use crate::ops::reference::expect::{Allowed, Expect};
use crate::ops::reference::format::{self, Round};
use crate::ops::test::OpTest;
use crate::ops::types::{FLOATS, INTEGERS, SIGNED, Scalar, Ty, UNSIGNED};

pub(super) fn tests(list: &mut Vec<OpTest>) {
    for from in INTEGERS {
        for to in INTEGERS {
            if from.bits() != to.bits() {
                list.extend(between_integers(from, to));
            }
        }
        for to in FLOATS {
            list.push(from_integer(from, to));
        }
    }
    for from in FLOATS {
        for to in SIGNED.into_iter().chain(UNSIGNED) {
            list.push(to_integer(from, to));
        }
    }
    list.push(between_floats(Scalar::F32, Scalar::F16));
    list.push(between_floats(Scalar::F16, Scalar::F32));
    list.push(quantize());
    list.push(booleans());
    list.push(stored_booleans());
    let all: Vec<Scalar> = INTEGERS.into_iter().chain(FLOATS).collect();
    for from in &all {
        for to in &all {
            if from.bits() == to.bits() && from != to {
                let cast = Lanes::new("OpBitcast", &[*from], &[*to]).op("OpBitcast");
                list.push(cast.reference(|v| Expect::bits(v[0])));
            }
        }
    }
    reinterpretations(list);
}

/// The result's type says nothing of the sign: OpSConvert extends it, OpUConvert does not.
fn between_integers(from: Scalar, to: Scalar) -> Vec<OpTest> {
    let mut list = Vec::new();
    // OpUConvert has unsigned results.
    if !to.is_signed() {
        let lanes = Lanes::new("OpUConvert", &[from], &[to]).op("OpUConvert");
        list.push(lanes.reference(move |v| Expect::bits(v[0] & to.mask())));
    }
    let signed = match from.bits() {
        8 => Scalar::I8,
        16 => Scalar::I16,
        32 => Scalar::I32,
        _ => Scalar::I64,
    };
    let lanes = Lanes::new("OpSConvert", &[from], &[to]).op("OpSConvert");
    list.push(lanes.reference(move |v| Expect::bits(to.wrap(signed.integer(v[0])))));
    list
}

fn from_integer(from: Scalar, to: Scalar) -> OpTest {
    let op = if from.is_signed() {
        "OpConvertSToF"
    } else {
        "OpConvertUToF"
    };
    let format = format::of(to);
    Lanes::new(op, &[from], &[to]).op(op).reference(move |v| {
        // To f64 rounded to odd, so that rounding again is right.
        let value = from.integer(v[0]);
        let magnitude = value.unsigned_abs();
        let excess = (128 - magnitude.leading_zeros()).saturating_sub(53);
        let kept = magnitude >> excess;
        let sticky = u128::from(kept << excess != magnitude);
        let rounded = (kept | sticky) as f64 * 2f64.powi(excess as i32);
        let value = if value < 0 { -rounded } else { rounded };
        let bits = format.round(value);
        let mut allowed = vec![Allowed::Bits(bits)];
        if format.is_infinite(bits) {
            // Too large: an infinity or the greatest number, by the direction of rounding.
            allowed.push(Allowed::Bits(bits - 1));
        }
        Expect::Float(allowed)
    })
}

fn to_integer(from: Scalar, to: Scalar) -> OpTest {
    let op = if to.is_signed() {
        "OpConvertFToS"
    } else {
        "OpConvertFToU"
    };
    let format = format::of(from);
    Lanes::new(op, &[from], &[to]).op(op).reference(move |v| {
        let value = format.decode(v[0]).trunc();
        let (low, high) = to.limits();
        // NaN and what the type does not hold are undefined.
        if value.is_nan() || value < low as f64 || value >= high as f64 + 1.0 {
            return Expect::Any;
        }
        Expect::bits(to.wrap(value as i128))
    })
}

fn between_floats(from: Scalar, to: Scalar) -> OpTest {
    let (source, format) = (format::of(from), format::of(to));
    // A half denormal is a normal single, and a single denormal far below the least half.
    Lanes::new("OpFConvert", &[from], &[to])
        .op("OpFConvert")
        .reference(move |v| {
            let all = source.flushed(v[0]);
            Expect::float(
                format,
                all.iter().map(|bits| format.round(source.decode(*bits))),
            )
        })
}

/// To half and back; what half cannot hold as a normal number may be zero.
fn quantize() -> OpTest {
    let (half, single) = (format::of(Scalar::F16), format::of(Scalar::F32));
    Lanes::new("OpQuantizeToF16", &[Scalar::F32], &[Scalar::F32])
        .op("OpQuantizeToF16")
        .reference(move |v| {
            let value = single.decode(v[0]);
            if value.is_nan() {
                return Expect::Float(vec![Allowed::Nan]);
            }
            let mut allowed = Vec::new();
            for way in [Round::Down, Round::NearestEven, Round::Up] {
                let quantized = half.round_value(value, way);
                allowed.push(Allowed::Bits(single.round(quantized)));
                if quantized.abs() < half.min_normal() {
                    allowed.push(Allowed::Zero);
                }
            }
            Expect::Float(allowed)
        })
}

/// Booleans made numbers by selection, which compilers turn into conversions.
fn booleans() -> OpTest {
    let types = [
        Scalar::I8,
        Scalar::U16,
        Scalar::I32,
        Scalar::U64,
        Scalar::F16,
        Scalar::F32,
    ];
    let one = |s: Scalar| {
        if s.is_float() {
            format::of(s).round(1.0)
        } else {
            1
        }
    };
    Lanes::new("OpSelect of one and zero", &[Scalar::Bool], &types)
        .body(move |m, width, v| {
            let each = types.map(|s| {
                let ty = Ty::new(s, width);
                let (one, zero) = (m.splat(ty, one(s)), m.splat(ty, 0));
                m.op("OpSelect", ty, &[v[0].clone(), one, zero])
            });
            each.to_vec()
        })
        .references(move |v| {
            types
                .map(|s| Expect::bits(if v[0] != 0 { one(s) } else { 0 }))
                .to_vec()
        })
}

/// The same stored by itself: bytes and half-words that lie next to each other are stored as words.
fn stored_booleans() -> OpTest {
    let types = [Scalar::U8, Scalar::U16, Scalar::F16];
    let one = |s: Scalar| match s {
        Scalar::F16 => format::of(s).round(1.0),
        _ => 1,
    };
    OpTest {
        name: "OpSelect of one and zero bool -> single u8 u16 f16".into(),
        operands: vec![Ty::from(Scalar::Bool)],
        results: types.map(Ty::from).to_vec(),
        controls: Controls::Preserve,
        specialization: Vec::new(),
        body: Box::new(move |m, v| {
            let each = types.map(|s| {
                let (one, zero) = (m.constant(s, one(s)), m.constant(s, 0));
                m.op("OpSelect", s, &[v[0].clone(), one, zero])
            });
            each.to_vec()
        }),
        reference: Box::new(move |v| {
            let each = types.map(|s| vec![Expect::bits(if v[0][0] != 0 { one(s) } else { 0 })]);
            each.to_vec()
        }),
        inputs: Box::new(|| vec![(0..64).map(|i| i / 3 % 2).collect()]),
    }
}

/// Bit casts between vectors and scalars of different component sizes.
fn reinterpretations(list: &mut Vec<OpTest>) {
    let small = [
        (Scalar::U8, 4, Scalar::U32, 1),
        (Scalar::I8, 4, Scalar::F32, 1),
        (Scalar::U8, 2, Scalar::I16, 1),
        (Scalar::I8, 2, Scalar::F16, 1),
        (Scalar::U8, 4, Scalar::F16, 2),
        (Scalar::U16, 2, Scalar::I32, 1),
        (Scalar::F16, 2, Scalar::F32, 1),
        (Scalar::F16, 4, Scalar::U64, 1),
        (Scalar::F16, 4, Scalar::F32, 2),
        (Scalar::U16, 4, Scalar::U32, 2),
        (Scalar::I16, 4, Scalar::I64, 1),
        (Scalar::U32, 2, Scalar::U64, 1),
        (Scalar::F32, 2, Scalar::I64, 1),
        (Scalar::U32, 4, Scalar::U64, 2),
    ];
    for (a, a_width, b, b_width) in small {
        list.push(reinterpretation(Ty::new(a, a_width), Ty::new(b, b_width)));
        list.push(reinterpretation(Ty::new(b, b_width), Ty::new(a, a_width)));
    }
}

fn reinterpretation(from: Ty, to: Ty) -> OpTest {
    let name = format!(
        "OpBitcast {}x{} -> {}x{}",
        from.scalar, from.width, to.scalar, to.width
    );
    let seed = name.clone();
    OpTest {
        name,
        operands: vec![from],
        results: vec![to],
        controls: Controls::Preserve,
        specialization: Vec::new(),
        body: Box::new(move |m, operands: &[Id]| vec![m.op("OpBitcast", to, operands)]),
        reference: Box::new(move |operands| {
            let mut bytes = Vec::new();
            for bits in operands[0] {
                bytes.extend_from_slice(&bits.to_le_bytes()[..from.scalar.bytes()]);
            }
            let components = bytes.chunks(to.scalar.bytes()).map(|bytes| {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                Expect::bits(u64::from_le_bytes(word))
            });
            vec![components.collect()]
        }),
        inputs: Box::new(move || {
            let mut random = crate::ops::inputs::Random::new(&seed);
            let edges = crate::ops::inputs::edges(from.scalar);
            let count = 1024 * from.width as usize;
            vec![
                (0..count)
                    .map(|_| random.mixed(from.scalar, &edges))
                    .collect(),
            ]
        }),
    }
}
