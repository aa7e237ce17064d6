// SPDX-License-Identifier: MIT
//! Rules of comparison, and how they are written.

use std::fmt;
use std::str::FromStr;

use crate::element::Element;

/// When a value counts as equal to the expected one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Always: the buffer is not compared.
    Nothing,
    /// When all bits are equal. The type is for the report.
    Bits(Element),
    /// Floats within limits, any of which suffices. NaN equals NaN, the zeros equal one another,
    /// infinities equal only themselves.
    Close(Tolerance),
}

/// How far a float may be from the expected one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Its type.
    pub element: Element,
    /// Representable values between the two, the farther one included.
    pub ulp: u64,
    /// Absolute difference.
    pub abs: f64,
    /// Difference relative to the expected value.
    pub rel: f64,
    /// Denormals equal zero: SPIR-V lets devices flush them unless a module says otherwise.
    pub flush: bool,
}

impl Rule {
    /// What values are read and printed as.
    #[must_use]
    pub fn element(&self) -> Element {
        match self {
            Rule::Nothing => Element::Unsigned(4),
            Rule::Bits(element) => *element,
            Rule::Close(tolerance) => tolerance.element,
        }
    }

    /// True when `got` counts as `expected`.
    #[must_use]
    pub fn accepts(&self, got: u64, expected: u64) -> bool {
        match self {
            Rule::Nothing => true,
            Rule::Bits(_) => got == expected,
            Rule::Close(tolerance) => tolerance.accepts(got, expected),
        }
    }
}

impl Tolerance {
    fn accepts(&self, got: u64, expected: u64) -> bool {
        let element = self.element;
        let nan = (element.is_nan(got), element.is_nan(expected));
        if nan.0 || nan.1 {
            return nan.0 && nan.1;
        }
        let flushed = |bits| {
            if self.flush && element.is_denormal(bits) {
                0
            } else {
                bits
            }
        };
        let (got, expected) = (flushed(got), flushed(expected));
        let (a, b) = (element.to_f64(got), element.to_f64(expected));
        if a == b {
            return true;
        }
        if a.is_infinite() || b.is_infinite() {
            // Overflow may happen a step earlier or later, which ULPs count; other measures are
            // infinite.
            return self.steps(got, expected) <= self.ulp.into();
        }
        let apart = (a - b).abs();
        self.steps(got, expected) <= self.ulp.into()
            || apart <= self.abs
            || apart <= self.rel * b.abs()
    }

    fn steps(&self, got: u64, expected: u64) -> u128 {
        let element = self.element;
        element.ordinal(got).abs_diff(element.ordinal(expected))
    }
}

impl FromStr for Rule {
    type Err = String;

    /// `none`, `bits`, `TYPE:bits`, or `TYPE:` and one or more of `ulp:N`, `abs:X`, `rel:X`, `ftz`.
    fn from_str(text: &str) -> Result<Rule, String> {
        match text {
            "none" => return Ok(Rule::Nothing),
            "bits" => return Ok(Rule::Bits(Element::Unsigned(4))),
            _ => {}
        }
        let wrong = |what: &str| format!("`{text}`: {what}");
        let mut parts = text.split(':');
        let element: Element = parts
            .next()
            .unwrap_or("")
            .parse()
            .map_err(|e: String| wrong(&e))?;
        let mut tolerance = Tolerance {
            element,
            ulp: 0,
            abs: 0.0,
            rel: 0.0,
            flush: false,
        };
        let mut first = parts
            .next()
            .ok_or_else(|| wrong("what about it? bits, ulp, abs, rel"))?;
        if first == "bits" && parts.next().is_none() {
            return Ok(Rule::Bits(element));
        }
        if !matches!(element, Element::Float(_)) {
            return Err(wrong("integers are compared as TYPE:bits"));
        }
        loop {
            let mut value = || parts.next().ok_or_else(|| wrong("a number is missing"));
            let limit = |text: &str| match text.parse::<f64>() {
                Ok(limit) if limit >= 0.0 => Ok(limit),
                _ => Err(wrong("a limit is no number from 0 on")),
            };
            match first {
                "ulp" => {
                    tolerance.ulp = value()?.parse().map_err(|_| wrong("ulp is no number"))?;
                }
                "abs" => tolerance.abs = limit(value()?)?,
                "rel" => tolerance.rel = limit(value()?)?,
                "ftz" => tolerance.flush = true,
                _ => return Err(wrong("only ulp:N, abs:X, rel:X and ftz are known")),
            }
            match parts.next() {
                Some(next) => first = next,
                None => return Ok(Rule::Close(tolerance)),
            }
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Nothing => write!(f, "none"),
            Rule::Bits(element) => write!(f, "{element}:bits"),
            Rule::Close(t) => {
                write!(f, "{}:ulp:{}", t.element, t.ulp)?;
                if t.abs != 0.0 {
                    write!(f, ":abs:{}", t.abs)?;
                }
                if t.rel != 0.0 {
                    write!(f, ":rel:{}", t.rel)?;
                }
                if t.flush {
                    write!(f, ":ftz")?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> Rule {
        text.parse().unwrap()
    }

    fn accepts(text: &str, got: f32, expected: f32) -> bool {
        rule(text).accepts(got.to_bits().into(), expected.to_bits().into())
    }

    #[test]
    fn rules_are_written_as_they_are_read() {
        for text in [
            "none",
            "u32:bits",
            "f16:bits",
            "f32:ulp:3",
            "f64:ulp:0:abs:0.5:rel:0.25:ftz",
        ] {
            assert_eq!(rule(text).to_string(), text);
        }
        assert_eq!(rule("bits"), rule("u32:bits"));
        assert_eq!(rule("f32:abs:0.5"), rule("f32:ulp:0:abs:0.5"));
    }

    #[test]
    fn bad_rules() {
        for bad in [
            "",
            "f32",
            "f32:",
            "f8:ulp:1",
            "u32:ulp:1",
            "f32:ulp",
            "f32:ulp:x",
            "f32:ulp:-1",
            "f32:abs:-1",
            "f32:abs:NaN",
            "f32:near:1",
            "f32:bits:1",
            "f32:ulp:1:bits",
        ] {
            assert!(bad.parse::<Rule>().is_err(), "{bad}");
        }
    }

    #[test]
    fn ulp() {
        let next = f32::from_bits(1.0f32.to_bits() + 1);
        assert!(!accepts("f32:ulp:0", next, 1.0));
        assert!(accepts("f32:ulp:1", next, 1.0));
        assert!(accepts("f32:ulp:0", -0.0, 0.0));
        // Across zero steps are counted on both sides.
        let least = f32::from_bits(1);
        assert!(accepts("f32:ulp:2", least, -least));
        assert!(!accepts("f32:ulp:1", least, -least));
        assert!(accepts("f32:ulp:1", f32::INFINITY, f32::MAX));
        assert!(!accepts("f32:ulp:0", f32::INFINITY, f32::MAX));
        assert!(!accepts("f32:ulp:1", f32::INFINITY, f32::NEG_INFINITY));
        assert!(rule("f16:ulp:1").accepts(0x3c01, 0x3c00));
        assert!(!rule("f16:ulp:1").accepts(0x3c02, 0x3c00));
        let double = |value: f64| value.to_bits();
        assert!(!rule("f64:ulp:1").accepts(double(1.0) + 2, double(1.0)));
    }

    #[test]
    fn nan_equals_nan_and_nothing_else() {
        let other_nan = f32::from_bits(0xffc0_1234);
        assert!(accepts("f32:ulp:0", f32::NAN, other_nan));
        assert!(!rule("f32:bits").accepts(0x7fc0_0000, 0xffc0_1234));
        for text in ["f32:ulp:4000000000", "f32:abs:inf", "f32:rel:inf"] {
            assert!(!accepts(text, f32::NAN, 1.0), "{text}");
            assert!(!accepts(text, 1.0, f32::NAN), "{text}");
        }
    }

    #[test]
    fn absolute_and_relative() {
        assert!(accepts("f32:abs:0.5", 1.5, 1.0));
        assert!(!accepts("f32:abs:0.25", 1.5, 1.0));
        assert!(accepts("f32:rel:0.01", 101.0, 100.0));
        assert!(!accepts("f32:rel:0.01", 102.0, 100.0));
        assert!(!accepts("f32:abs:1e30", f32::INFINITY, 1.0));
        assert!(accepts("f32:abs:0", f32::INFINITY, f32::INFINITY));
        // Any limit suffices.
        assert!(accepts("f32:ulp:1:abs:0.001", 0.0005, 0.0));
    }

    #[test]
    fn denormals_may_be_flushed() {
        let denormal = f32::from_bits(0x0040_0000);
        assert!(!accepts("f32:ulp:1", 0.0, denormal));
        assert!(accepts("f32:ulp:1:ftz", 0.0, denormal));
        assert!(accepts("f32:ulp:1:ftz", -denormal, denormal));
        assert!(!accepts("f32:ulp:1:ftz", f32::MIN_POSITIVE * 2.0, denormal));
    }
}
