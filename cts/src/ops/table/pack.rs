// SPDX-License-Identifier: MIT
//! Packing of vectors into words.

use crate::ops::inputs::{Random, edges};
use crate::ops::lanes::Lanes;
use crate::ops::module::Controls;
use crate::ops::reference::expect::{Allowed, Expect};
use crate::ops::reference::format::{self, Round};
use crate::ops::test::OpTest;
use crate::ops::types::{Scalar, Ty};

/// A format of a word: components, their bits, what a component of 1.0 is, least component.
#[derive(Clone, Copy)]
struct Packing {
    name: &'static str,
    components: u32,
    one: f64,
    least: f64,
}

const NORMALIZED: [Packing; 4] = [
    Packing {
        name: "Snorm4x8",
        components: 4,
        one: 127.0,
        least: -1.0,
    },
    Packing {
        name: "Unorm4x8",
        components: 4,
        one: 255.0,
        least: 0.0,
    },
    Packing {
        name: "Snorm2x16",
        components: 2,
        one: 32767.0,
        least: -1.0,
    },
    Packing {
        name: "Unorm2x16",
        components: 2,
        one: 65535.0,
        least: 0.0,
    },
];

impl Packing {
    fn bits(self) -> u32 {
        32 / self.components
    }

    /// The component as a number.
    fn field(self, word: u64, at: usize) -> f64 {
        let bits = word >> (self.bits() as usize * at) & ((1 << self.bits()) - 1);
        match (self.least < 0.0, self.bits()) {
            (false, _) => bits as f64,
            (true, 8) => f64::from(bits as u8 as i8),
            (true, _) => f64::from(bits as u16 as i16),
        }
    }
}

pub(super) fn tests(list: &mut Vec<OpTest>) {
    for packing in NORMALIZED {
        list.push(pack(packing));
        list.push(unpack(packing));
    }
    list.push(pack_half());
    list.push(unpack_half());
}

fn test(
    name: String,
    operand: Ty,
    result: Ty,
    reference: impl Fn(&[u64]) -> Vec<Expect> + Send + Sync + 'static,
    inputs: impl Fn() -> Vec<u64> + Send + Sync + 'static,
) -> OpTest {
    let op = name.clone();
    OpTest {
        name,
        operands: vec![operand],
        results: vec![result],
        controls: Controls::Preserve,
        specialization: Vec::new(),
        body: Box::new(move |m, operands| vec![m.ext(&op, result, operands)]),
        reference: Box::new(move |operands| vec![reference(operands[0])]),
        inputs: Box::new(move || vec![inputs()]),
    }
}

/// The whole word is one component of the result, so the reference lists all words that components
/// allow.
fn pack(packing: Packing) -> OpTest {
    let format = format::of(Scalar::F32);
    let ty = Ty::new(Scalar::F32, packing.components);
    let reference = move |v: &[u64]| {
        let mut words = vec![0u64];
        for (at, bits) in v.iter().enumerate() {
            if format.is_nan(*bits) {
                return vec![Expect::Any];
            }
            let scaled = format.decode(*bits).clamp(packing.least, 1.0) * packing.one;
            // The product in single precision may round to a half, and halves go either way.
            let mut fields = Vec::new();
            for scaled in [scaled, format.decode(format.round(scaled))] {
                fields.extend([scaled.round_ties_even(), scaled.round()]);
            }
            fields.dedup();
            let place = packing.bits() as usize * at;
            let mask = (1u64 << packing.bits()) - 1;
            words = words
                .iter()
                .flat_map(|word| {
                    fields
                        .iter()
                        .map(move |f| word | (*f as i64 as u64 & mask) << place)
                })
                .collect();
        }
        vec![Expect::Bits(words)]
    };
    let inputs = move || {
        let mut values: Vec<u64> = edges(Scalar::F32);
        // About the halves between fields, and fields.
        for step in 0..=64 {
            let at = packing.least + (1.0 - packing.least) * f64::from(step) / 64.0;
            let field = (at * packing.one).floor();
            for value in [field, field + 0.5, field + 0.499, field + 0.501] {
                values.push(format.round(value / packing.one));
            }
        }
        let mut random = Random::new(packing.name);
        for _ in 0..2048 {
            values.push(format.round(random.between(-1.2, 1.2)));
        }
        values.truncate(values.len() / 4 * 4);
        // NaN only beside numbers in few elements: it makes the word undefined.
        values.retain(|bits| !format.is_nan(*bits));
        values.truncate(values.len() / 4 * 4);
        values
    };
    test(
        format!("Pack{}", packing.name),
        ty,
        Scalar::U32.into(),
        reference,
        inputs,
    )
}

/// The division is by a constant and correctly rounded or 2.5 ulp off, as divisions are.
fn unpack(packing: Packing) -> OpTest {
    let format = format::of(Scalar::F32);
    let ty = Ty::new(Scalar::F32, packing.components);
    let reference = move |v: &[u64]| {
        let components = (0..packing.components as usize).map(|at| {
            let value = (packing.field(v[0], at) / packing.one).max(-1.0);
            let error = 2.5 * format.ulp(value);
            if value == 0.0 || value.abs() == 1.0 {
                return Expect::Float(vec![Allowed::Range(value, value)]);
            }
            let low = format.round_value(value - error, Round::Down);
            Expect::Float(vec![Allowed::Range(
                low,
                format.round_value(value + error, Round::Up),
            )])
        });
        components.collect()
    };
    let inputs = move || {
        // All values of a component.
        let fields = 1u64 << packing.bits();
        let mut random = Random::new(packing.name);
        (0..fields)
            .map(|field| random.next() << packing.bits() & 0xffff_ffff | field)
            .collect()
    };
    test(
        format!("Unpack{}", packing.name),
        Scalar::U32.into(),
        ty,
        reference,
        inputs,
    )
}

fn pack_half() -> OpTest {
    let (half, single) = (format::of(Scalar::F16), format::of(Scalar::F32));
    // By parts, so that a NaN may be any.
    Lanes::new(
        "PackHalf2x16",
        &[Scalar::F32, Scalar::F32],
        &[Scalar::F16, Scalar::F16],
    )
    .scalars_only()
    .body(|m, _, v| {
        let both = m.op("OpCompositeConstruct", Ty::new(Scalar::F32, 2), v);
        let word = m.ext("PackHalf2x16", Scalar::U32, &[both]);
        let parts = m.op("OpBitcast", Ty::new(Scalar::F16, 2), &[word]);
        vec![
            m.extract(Scalar::F16, &parts, 0),
            m.extract(Scalar::F16, &parts, 1),
        ]
    })
    .references(move |v| {
        let one = |bits: &u64| {
            let all = single.flushed(*bits);
            Expect::float(
                half,
                all.iter().map(|bits| half.round(single.decode(*bits))),
            )
        };
        v.iter().map(one).collect()
    })
}

fn unpack_half() -> OpTest {
    let (half, single) = (format::of(Scalar::F16), format::of(Scalar::F32));
    let reference = move |v: &[u64]| {
        let halves = [v[0] & 0xffff, v[0] >> 16];
        let one = |bits: u64| {
            let expect = Expect::float(single, [single.round(half.decode(bits))]);
            match (half.is_denormal(bits), expect) {
                // GLSL.std.450 may flush them.
                (true, Expect::Float(mut allowed)) => {
                    allowed.push(Allowed::Zero);
                    Expect::Float(allowed)
                }
                (_, expect) => expect,
            }
        };
        halves.map(one).to_vec()
    };
    let inputs = || {
        let mut random = Random::new("UnpackHalf2x16");
        (0..0x1_0000u64)
            .map(|low| random.next() << 16 & 0xffff_0000 | low)
            .collect()
    };
    let name = "UnpackHalf2x16".to_owned();
    test(
        name,
        Scalar::U32.into(),
        Ty::new(Scalar::F32, 2),
        reference,
        inputs,
    )
}
