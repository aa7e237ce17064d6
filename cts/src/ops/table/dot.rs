// SPDX-License-Identifier: MIT
//! Integer dot products (SPV_KHR_integer_dot_product, core in SPIR-V 1.6).

use crate::ops::inputs::{Random, edges};
use crate::ops::module::{Controls, Id, Module};
use crate::ops::reference::expect::Expect;
use crate::ops::test::OpTest;
use crate::ops::types::{Scalar, Ty};

/// Which operands are signed.
#[derive(Clone, Copy, PartialEq)]
enum Signs {
    Both,
    None,
    First,
}

#[derive(Clone, Copy)]
struct Dot {
    signs: Signs,
    saturating: bool,
    /// Bits and number of components; packed ones are four of 8 in a word.
    bits: u32,
    width: u32,
    packed: bool,
    result: Scalar,
}

fn integer(bits: u32, signed: bool) -> Scalar {
    match (bits, signed) {
        (8, true) => Scalar::I8,
        (8, false) => Scalar::U8,
        (16, true) => Scalar::I16,
        (16, false) => Scalar::U16,
        (32, true) => Scalar::I32,
        (32, false) => Scalar::U32,
        (_, true) => Scalar::I64,
        (_, false) => Scalar::U64,
    }
}

pub(super) fn tests(list: &mut Vec<OpTest>) {
    for signs in [Signs::Both, Signs::None, Signs::First] {
        for saturating in [false, true] {
            for bits in [8, 16, 32, 64] {
                for result in [8, 16, 32, 64] {
                    if result < bits {
                        continue;
                    }
                    let result = integer(result, signs != Signs::None);
                    for width in [2, 3, 4] {
                        let dot = Dot {
                            signs,
                            saturating,
                            bits,
                            width,
                            packed: false,
                            result,
                        };
                        list.push(dot.test());
                    }
                    if bits == 8 {
                        let dot = Dot {
                            signs,
                            saturating,
                            bits,
                            width: 4,
                            packed: true,
                            result,
                        };
                        list.push(dot.test());
                    }
                }
            }
        }
    }
}

impl Dot {
    fn op(self) -> String {
        let signs = match self.signs {
            Signs::Both => "S",
            Signs::None => "U",
            Signs::First => "SU",
        };
        format!(
            "Op{signs}Dot{}",
            if self.saturating { "AccSat" } else { "" }
        )
    }

    fn scalars(self) -> [Scalar; 2] {
        [
            integer(self.bits, self.signs != Signs::None),
            integer(self.bits, self.signs == Signs::Both),
        ]
    }

    fn test(self) -> OpTest {
        let scalars = self.scalars();
        let mut operands: Vec<Ty> = match self.packed {
            true => vec![Scalar::U32.into(); 2],
            false => scalars.map(|s| Ty::new(s, self.width)).to_vec(),
        };
        if self.saturating {
            operands.push(self.result.into());
        }
        let name = match self.packed {
            true => format!("{} packed 4x8 -> {}", self.op(), self.result),
            false => format!(
                "{} {}x{} -> {}",
                self.op(),
                scalars[0],
                self.width,
                self.result
            ),
        };
        let seed = name.clone();
        OpTest {
            name,
            operands,
            results: vec![self.result.into()],
            controls: Controls::None,
            specialization: Vec::new(),
            body: Box::new(move |m, v| vec![self.body(m, v)]),
            reference: Box::new(move |v| vec![vec![self.reference(v)]]),
            inputs: Box::new(move || self.inputs(&seed)),
        }
    }

    fn body(self, m: &mut Module, v: &[Id]) -> Id {
        m.capability("DotProduct");
        m.capability(match (self.packed, self.bits, self.width) {
            (true, ..) => "DotProductInput4x8BitPacked",
            (_, 8, 4) => "DotProductInput4x8Bit",
            _ => "DotProductInputAll",
        });
        let ty = m.ty(self.result);
        let format = if self.packed {
            " PackedVectorFormat4x8Bit"
        } else {
            ""
        };
        m.raw(&self.op(), &ty, &format!("{}{format}", v.join(" ")))
    }

    fn reference(self, v: &[&[u64]]) -> Expect {
        let components = |at: usize| -> Vec<i128> {
            let s = self.scalars()[at];
            match self.packed {
                true => (0..4)
                    .map(|i| s.integer(v[at][0] >> (8 * i) & 0xff))
                    .collect(),
                false => v[at].iter().map(|bits| s.integer(*bits)).collect(),
            }
        };
        let (x, y) = (components(0), components(1));
        if !self.saturating {
            // The low bits of the exact sum.
            let sum = x
                .iter()
                .zip(&y)
                .fold(0i128, |sum, (x, y)| sum.wrapping_add(x.wrapping_mul(*y)));
            return Expect::bits(self.result.wrap(sum));
        }
        let (low, high) = self.result.limits();
        let mut sum = 0i128;
        for (x, y) in x.iter().zip(&y) {
            // Undefined where anything but the accumulation overflows.
            let product = x.checked_mul(*y).filter(|p| (low..=high).contains(p));
            let Some(next) = product.and_then(|p| sum.checked_add(p)) else {
                return Expect::Any;
            };
            if !(low..=high).contains(&next) {
                return Expect::Any;
            }
            sum = next;
        }
        // The order of the sum is open: no part of it may overflow.
        let parts = x.iter().zip(&y).map(|(x, y)| (x * y).abs());
        if parts.fold(0i128, i128::saturating_add) > high {
            return Expect::Any;
        }
        let total = sum + self.result.integer(v[2][0]);
        Expect::bits(self.result.wrap(total.clamp(low, high)))
    }

    fn inputs(self, seed: &str) -> Vec<Vec<u64>> {
        const ELEMENTS: usize = 1024;
        let mut random = Random::new(seed);
        let scalars = self.scalars();
        let mut all = Vec::new();
        for s in scalars {
            let edges = edges(s);
            let mut list = Vec::new();
            for element in 0..ELEMENTS {
                let mut components: Vec<u64> = (0..self.width)
                    .map(|_| {
                        let value = random.mixed(s, &edges);
                        // Some small, so that nothing but the accumulation overflows.
                        let keep = s.bits().min(self.result.bits()) / 2 - 1;
                        match element % 3 {
                            0 => value,
                            _ => s.wrap(s.integer(value) >> (s.bits() - keep)),
                        }
                    })
                    .collect();
                if self.packed {
                    let word = components
                        .iter()
                        .rev()
                        .fold(0, |word, byte| word << 8 | byte);
                    components = vec![word];
                }
                list.extend(components);
            }
            all.push(list);
        }
        if self.saturating {
            let edges = edges(self.result);
            all.push(
                (0..ELEMENTS)
                    .map(|_| random.mixed(self.result, &edges))
                    .collect(),
            );
        }
        all
    }
}
