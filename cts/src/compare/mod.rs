// SPDX-License-Identifier: MIT
//! When two results are the same, and where they first differ.

mod rule;

use std::fmt;

pub use rule::Rule;

use crate::element::Element;

/// How a buffer differs from what it should be.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The rule that was broken.
    pub rule: Rule,
    /// Elements that differ.
    pub count: usize,
    /// Elements compared.
    pub of: usize,
    /// The first element that differs.
    pub first: usize,
    /// Its bits in the result.
    pub got: u64,
    /// The bits that were expected.
    pub expected: u64,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let element = self.rule.element();
        write!(
            f,
            "{} of {} {element} differ; the first is element {} at byte {}: got {}, expected {}",
            self.count,
            self.of,
            self.first,
            self.first * element.size(),
            element.print(self.got),
            element.print(self.expected),
        )?;
        if matches!(element, Element::Float(_)) {
            let apart = element.ordinal(self.got) - element.ordinal(self.expected);
            write!(f, ", {apart:+} ulp")?;
        }
        write!(f, "; rule {}", self.rule)
    }
}

/// Compares a result with what it should be. Bytes behind the last whole element are compared as
/// they are.
///
/// # Errors
/// Says where they differ; buffers of different length differ at the first byte that one lacks.
pub fn compare(got: &[u8], expected: &[u8], rule: Rule) -> Result<(), Box<Difference>> {
    if rule == Rule::Nothing {
        return Ok(());
    }
    if got.len() != expected.len() {
        return Err(different_length(got, expected));
    }
    let size = rule.element().size();
    let whole = got.len() - got.len() % size;
    let mut difference: Option<Box<Difference>> = None;
    // Most results are equal to the bit, which needs no look at elements.
    if got[..whole] != expected[..whole] {
        let pairs = got[..whole]
            .chunks_exact(size)
            .zip(expected.chunks_exact(size));
        for (index, (got, expected)) in pairs.enumerate() {
            let (got, expected) = (bits(got), bits(expected));
            if rule.accepts(got, expected) {
                continue;
            }
            let difference = difference.get_or_insert_with(|| {
                Box::new(Difference {
                    rule,
                    count: 0,
                    of: whole / size,
                    first: index,
                    got,
                    expected,
                })
            });
            difference.count += 1;
        }
    }
    if let Some(difference) = difference {
        return Err(difference);
    }
    match (whole..got.len()).find(|i| got[*i] != expected[*i]) {
        Some(at) => Err(byte_difference(got, expected, at)),
        None => Ok(()),
    }
}

fn bits(bytes: &[u8]) -> u64 {
    let mut raw = [0; 8];
    raw[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(raw)
}

fn byte_difference(got: &[u8], expected: &[u8], first: usize) -> Box<Difference> {
    let length = got.len().min(expected.len());
    let count = (first..length).filter(|i| got[*i] != expected[*i]).count();
    Box::new(Difference {
        rule: Rule::Bits(Element::Unsigned(1)),
        count: count + got.len().abs_diff(expected.len()),
        of: got.len().max(expected.len()),
        first,
        got: got.get(first).copied().unwrap_or(0).into(),
        expected: expected.get(first).copied().unwrap_or(0).into(),
    })
}

fn different_length(got: &[u8], expected: &[u8]) -> Box<Difference> {
    byte_difference(got, expected, got.len().min(expected.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> Rule {
        text.parse().unwrap()
    }

    fn f32s(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    fn u32s(values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    #[test]
    fn equal_bits_satisfy_every_rule() {
        let bytes = f32s(&[1.0, f32::NAN, f32::INFINITY, -0.0]);
        for text in [
            "bits",
            "none",
            "u64:bits",
            "f32:ulp:0",
            "f32:abs:0",
            "f64:rel:0",
            "f16:ulp:0",
        ] {
            assert_eq!(compare(&bytes, &bytes, rule(text)), Ok(()), "{text}");
        }
    }

    #[test]
    fn the_first_difference_is_reported_and_all_are_counted() {
        let expected = u32s(&[1, 2, 3, 4, 5]);
        let got = u32s(&[1, 2, 9, 4, 0]);
        let difference = compare(&got, &expected, rule("bits")).unwrap_err();
        assert_eq!(
            (difference.first, difference.count, difference.of),
            (2, 2, 5)
        );
        let text = difference.to_string();
        assert!(text.contains("2 of 5 u32 differ"), "{text}");
        assert!(text.contains("element 2 at byte 8"), "{text}");
        assert!(
            text.contains("got 9 (0x00000009), expected 3 (0x00000003)"),
            "{text}"
        );
    }

    #[test]
    fn a_float_report_counts_steps() {
        let got = f32s(&[f32::from_bits(1.0f32.to_bits() + 5)]);
        let difference = compare(&got, &f32s(&[1.0]), rule("f32:ulp:4")).unwrap_err();
        assert!(difference.to_string().contains("+5 ulp"), "{difference}");
        assert!(difference.to_string().contains("rule f32:ulp:4"));
        assert_eq!(compare(&got, &f32s(&[1.0]), rule("f32:ulp:5")), Ok(()));
    }

    #[test]
    fn nothing_is_compared_under_none() {
        assert_eq!(compare(&[1], &[2, 3], Rule::Nothing), Ok(()));
    }

    #[test]
    fn lengths_must_agree() {
        let difference = compare(&[1, 2, 3], &[1, 2, 3, 4], rule("bits")).unwrap_err();
        assert_eq!((difference.first, difference.count), (3, 1));
    }

    #[test]
    fn bytes_behind_the_last_element_count() {
        let mut got = f32s(&[1.0]);
        got.push(7);
        let mut expected = got.clone();
        assert_eq!(compare(&got, &expected, rule("f32:ulp:1")), Ok(()));
        expected[4] = 8;
        let difference = compare(&got, &expected, rule("f32:ulp:1")).unwrap_err();
        assert_eq!(difference.first, 4);
    }
}
