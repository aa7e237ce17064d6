// SPDX-License-Identifier: MIT
//! Operands: edges of each type and pseudo-random values.

use super::reference::format;
use super::types::Scalar;

/// A small deterministic generator (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator whose sequence depends on the text.
    pub(crate) fn new(seed: &str) -> Random {
        // FNV-1a.
        let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        Random(seed.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, hash))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// From 0 up to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From one number to the other.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A value of a type: of all magnitudes, with more in the middle than at the ends.
    pub(crate) fn value(&mut self, scalar: Scalar) -> u64 {
        match scalar {
            Scalar::Bool => self.next() & 1,
            Scalar::F16 | Scalar::F32 => match self.next() % 4 {
                0 => self.next() & scalar.mask(),
                1 => format::of(scalar).round(self.between(-8.0, 8.0)),
                2 => format::of(scalar).round(self.between(-300.0, 300.0)),
                _ => format::of(scalar).round(self.between(-8.0, 8.0).exp2()),
            },
            _ => match self.next() % 3 {
                0 => self.next() & scalar.mask(),
                choice => {
                    let shift = self.next() % u64::from(scalar.bits());
                    let value = (self.next() & scalar.mask()) >> shift;
                    let value = if choice == 1 {
                        value
                    } else {
                        value.wrapping_neg()
                    };
                    value & scalar.mask()
                }
            },
        }
    }

    /// An edge or a random value.
    pub(crate) fn mixed(&mut self, scalar: Scalar, edges: &[u64]) -> u64 {
        match self.next() % 3 {
            0 if !edges.is_empty() => edges[self.below(edges.len())],
            _ => self.value(scalar),
        }
    }
}

/// Values where implementations differ, the most telling first.
pub(crate) fn edges(scalar: Scalar) -> Vec<u64> {
    let mut list = match scalar {
        Scalar::Bool => vec![0, 1],
        Scalar::F16 | Scalar::F32 => floats(scalar),
        _ => integers(scalar),
    };
    let mut seen = std::collections::HashSet::new();
    list.retain(|bits| seen.insert(*bits));
    list
}

fn integers(scalar: Scalar) -> Vec<u64> {
    let (low, high) = scalar.limits();
    let mut list = vec![
        0,
        1,
        -1,
        2,
        low,
        high,
        3,
        -2,
        low + 1,
        high - 1,
        7,
        -7,
        10,
        100,
    ];
    for power in [3, 4, 5, 7, 8, 15, 16, 23, 24, 31, 32, 33, 47, 62, 63] {
        if power < scalar.bits() {
            let value = 1i128 << power;
            list.extend([value - 1, value, value + 1, -value]);
        }
    }
    list.extend([
        0x5555_5555_5555_5555,
        -0x5555_5555_5555_5555,
        0x1234_5678_9abc_def0,
    ]);
    list.iter().map(|value| scalar.wrap(*value)).collect()
}

fn floats(scalar: Scalar) -> Vec<u64> {
    let format = format::of(scalar);
    let (sign, infinity) = (format.sign(), format.infinity());
    let one = format.round(1.0);
    let normal = format.round(format.min_normal());
    let max = infinity - 1;
    let mut list = vec![0, one, infinity, format.nan(), normal, 1, max, normal - 1];
    for value in [2.0, 0.5, 1.5, 2.5, 3.0, 0.1, 100.0, 1000.5] {
        list.push(format.round(value));
    }
    list.extend([one + 1, one - 1, normal + 1, infinity + 1, max - 1]);
    // Limits of integers and of the mantissa.
    for power in [7, 8, 10, 11, 15, 16, 22, 23, 24, 31, 32, 63, 64] {
        let bits = format.round(2f64.powi(power));
        if bits < infinity {
            list.extend([bits, bits - 1]);
        }
    }
    let consts = [
        std::f64::consts::PI,
        std::f64::consts::FRAC_PI_2,
        std::f64::consts::LN_2,
    ];
    list.extend(consts.map(|value| format.round(value)));
    list.iter().flat_map(|bits| [*bits, bits | sign]).collect()
}

/// All combinations of values, the last list's fastest.
pub(crate) fn product(lists: &[Vec<u64>]) -> Vec<Vec<u64>> {
    lists.iter().fold(vec![Vec::new()], |rows, list| {
        rows.iter()
            .flat_map(|row| {
                list.iter().map(|value| {
                    let mut row = row.clone();
                    row.push(*value);
                    row
                })
            })
            .collect()
    })
}

/// How many random rows follow the edges.
const RANDOM_ROWS: usize = 1024;
/// Rows of edges, about.
const EDGE_ROWS: usize = 3000;

/// Rows of operands: all of them if there are at most 65536, or else combinations of edges and
/// random values.
pub(crate) fn rows(name: &str, operands: &[Scalar], extra: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let bits: u32 = operands
        .iter()
        .map(|scalar| {
            if *scalar == Scalar::Bool {
                1
            } else {
                scalar.bits()
            }
        })
        .sum();
    if bits <= 16 {
        let all: Vec<Vec<u64>> = operands
            .iter()
            .map(|scalar| match scalar {
                Scalar::Bool => vec![0, 1],
                _ => (0..=scalar.mask()).collect(),
            })
            .collect();
        return product(&all);
    }
    let each = match operands.len() {
        1 => usize::MAX,
        n => (EDGE_ROWS as f64).powf(1.0 / n as f64) as usize,
    };
    let lists: Vec<Vec<u64>> = operands
        .iter()
        .enumerate()
        .map(|(index, scalar)| {
            let mut list = extra.get(index).cloned().unwrap_or_default();
            list.extend(edges(*scalar));
            list
        })
        .collect();
    let short: Vec<Vec<u64>> = lists
        .iter()
        .map(|list| list[..list.len().min(each)].to_vec())
        .collect();
    let mut rows = product(&short);
    let mut random = Random::new(name);
    for _ in 0..RANDOM_ROWS {
        let row = operands.iter().zip(&lists);
        rows.push(
            row.map(|(scalar, edges)| random.mixed(*scalar, edges))
                .collect(),
        );
    }
    rows
}
