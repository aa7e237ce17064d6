// SPDX-License-Identifier: MIT
//! The results that the specifications allow.

use super::format::{self, Format};
use crate::ops::types::Scalar;

/// What one component of a result may be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expect {
    /// Undefined: anything.
    Any,
    /// One of these.
    Bits(Vec<u64>),
    /// One of these floats.
    Float(Vec<Allowed>),
}

/// A set of floats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Allowed {
    Nan,
    Bits(u64),
    /// Of either sign.
    Zero,
    /// Numbers from one to the other; a zero has no sign.
    Range(f64, f64),
}

impl Expect {
    pub(crate) fn bits(bits: u64) -> Expect {
        Expect::Bits(vec![bits])
    }

    pub(crate) fn boolean(value: bool) -> Expect {
        Expect::bits(u64::from(value))
    }

    /// A float result: these bits, or any NaN if they are one; and zero if it is a denormal of a
    /// format that is flushed.
    pub(crate) fn float(format: Format, bits: impl IntoIterator<Item = u64>) -> Expect {
        let mut allowed = Vec::new();
        for bits in bits {
            if format.is_nan(bits) {
                allowed.push(Allowed::Nan);
                continue;
            }
            allowed.push(Allowed::Bits(bits));
            if format.flushes && format.is_denormal(bits) {
                allowed.push(Allowed::Zero);
            }
        }
        Expect::Float(allowed)
    }

    /// The same where the sign of a zero does not matter.
    pub(crate) fn unsigned_zero(self, format: Format) -> Expect {
        let Expect::Float(mut allowed) = self else {
            return self;
        };
        let zero = |a: &Allowed| matches!(a, Allowed::Bits(bits) if bits & !format.sign() == 0);
        if allowed.iter().any(zero) {
            allowed.push(Allowed::Zero);
        }
        Expect::Float(allowed)
    }

    /// What is left of it without SignedZeroInfNanPreserve.
    pub(crate) fn fast(self, scalar: Scalar) -> Expect {
        if !scalar.is_float() {
            return self;
        }
        let format = format::of(scalar);
        match &self {
            Expect::Float(allowed) if allowed.iter().any(|a| !a.is_finite(format)) => Expect::Any,
            Expect::Bits(bits) if bits.iter().any(|b| b & !format.sign() >= format.infinity()) => {
                Expect::Any
            }
            _ => self.unsigned_zero(format),
        }
    }

    /// Whether a result is allowed.
    pub(crate) fn accepts(&self, scalar: Scalar, bits: u64) -> bool {
        match self {
            Expect::Any => true,
            Expect::Bits(all) => all.contains(&bits),
            Expect::Float(allowed) => {
                let format = format::of(scalar);
                allowed.iter().any(|allowed| allowed.accepts(format, bits))
            }
        }
    }

    pub(crate) fn show(&self, scalar: Scalar) -> String {
        let list: Vec<_> = match self {
            Expect::Any => return "anything".into(),
            Expect::Bits(all) => all.iter().map(|bits| scalar.show(*bits)).collect(),
            Expect::Float(allowed) => allowed
                .iter()
                .map(|allowed| match allowed {
                    Allowed::Nan => "NaN".into(),
                    Allowed::Bits(bits) => scalar.show(*bits),
                    Allowed::Zero => "0 or -0".into(),
                    Allowed::Range(low, high) => {
                        let format = format::of(scalar);
                        let show = |value| scalar.show(format.round(value));
                        format!("{} to {}", show(*low), show(*high))
                    }
                })
                .collect(),
        };
        list.join(" or ")
    }
}

impl Allowed {
    fn accepts(self, format: Format, bits: u64) -> bool {
        let value = format.decode(bits);
        match self {
            Allowed::Nan => value.is_nan(),
            Allowed::Bits(allowed) => bits == allowed,
            Allowed::Zero => value == 0.0,
            Allowed::Range(low, high) => low <= value && value <= high,
        }
    }

    fn is_finite(self, format: Format) -> bool {
        match self {
            Allowed::Nan => false,
            Allowed::Bits(bits) => bits & !format.sign() < format.infinity(),
            Allowed::Zero => true,
            Allowed::Range(low, high) => low.is_finite() && high.is_finite(),
        }
    }
}
