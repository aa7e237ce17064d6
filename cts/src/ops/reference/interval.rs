// SPDX-License-Identifier: MIT
//! Interval arithmetic with the errors that Vulkan allows ("Precision and Operation of SPIR-V
//! Instructions"): what a formula may give whose steps have those errors.
//!
//! Ends are rounded outward, so that it does not matter whether an implementation fuses steps, and
//! an interval that touches the denormals of a flushing format reaches zero.

use super::expect::{Allowed, Expect};
use super::format::{Format, Round};

/// The results that a step of a formula may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    format: Format,
    low: f64,
    high: f64,
    /// Nothing is known: undefined, or maybe a NaN.
    undefined: bool,
}

impl Interval {
    /// An operand, flushed or not.
    pub(crate) fn operand(format: Format, bits: u64) -> Interval {
        let value = format.decode(bits);
        Interval::new(format, value, value)
    }

    /// A number that the format need not hold.
    pub(crate) fn constant(format: Format, value: f64) -> Interval {
        Interval::new(format, value, value)
    }

    pub(crate) fn undefined(format: Format) -> Interval {
        Interval {
            format,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            undefined: true,
        }
    }

    pub(crate) fn constant_like(self, value: f64) -> Interval {
        Interval::constant(self.format, value)
    }

    pub(crate) fn undefined_like(self) -> Interval {
        Interval::undefined(self.format)
    }

    /// From one number to the other, rounded outward and flushed.
    fn new(format: Format, low: f64, high: f64) -> Interval {
        if low.is_nan() || high.is_nan() {
            return Interval::undefined(format);
        }
        let low = format.round_value(low, Round::Down);
        Interval::within(format, low, format.round_value(high, Round::Up))
    }

    /// The numbers of the format from one number to the other, flushed or overflowed.
    fn within(format: Format, mut low: f64, mut high: f64) -> Interval {
        let max = format.max();
        if high > max {
            (low, high) = (low.min(max), f64::INFINITY);
        }
        if low < -max {
            (low, high) = (f64::NEG_INFINITY, high.max(-max));
        }
        if format.flushes {
            let least = format.min_normal();
            if low > 0.0 && low < least {
                low = 0.0;
            }
            if high < 0.0 && high > -least {
                high = 0.0;
            }
        }
        Interval {
            format,
            low,
            high,
            undefined: false,
        }
    }

    /// The hull of a function's values, not rounded.
    fn hull(format: Format, values: impl IntoIterator<Item = f64>) -> Interval {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            if value.is_nan() {
                return Interval::undefined(format);
            }
            low = low.min(value);
            high = high.max(value);
        }
        Interval {
            format,
            low,
            high,
            undefined: false,
        }
    }

    /// What a function that has its extremes at the ends gives, not rounded.
    fn image(self, function: impl Fn(f64) -> f64) -> Interval {
        if self.undefined {
            return self;
        }
        Interval::hull(self.format, [function(self.low), function(self.high)])
    }

    /// The same, rounded.
    fn monotone(self, function: impl Fn(f64) -> f64) -> Interval {
        self.image(function).rounded()
    }

    fn rounded(self) -> Interval {
        if self.undefined {
            return self;
        }
        Interval::new(self.format, self.low, self.high)
    }

    /// With an error instead of rounding.
    fn widened(self, error: impl Fn(f64) -> f64) -> Interval {
        if self.undefined {
            return self;
        }
        let move_by = |value: f64, sign: f64| match value.is_infinite() {
            true => value,
            false => value + sign * error(value),
        };
        Interval::within(
            self.format,
            move_by(self.low, -1.0),
            move_by(self.high, 1.0),
        )
    }

    fn ulps(self, count: f64) -> Interval {
        let format = self.format;
        self.widened(|value| count * format.ulp(value))
    }

    fn largest(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// What a binary operation that has its extremes at the corners gives, not rounded.
    fn image_of_corners(self, other: Interval, function: impl Fn(f64, f64) -> f64) -> Interval {
        if self.undefined || other.undefined {
            return Interval::undefined(self.format);
        }
        let ends = |i: Interval| [i.low, i.high];
        let pairs = ends(self)
            .into_iter()
            .flat_map(|x| ends(other).map(|y| (x, y)));
        Interval::hull(self.format, pairs.map(|(x, y)| function(x, y)))
    }

    /// The same, rounded.
    fn corners(self, other: Interval, function: impl Fn(f64, f64) -> f64) -> Interval {
        self.image_of_corners(other, function).rounded()
    }

    pub(crate) fn add(self, other: Interval) -> Interval {
        self.corners(other, |x, y| x + y)
    }

    pub(crate) fn sub(self, other: Interval) -> Interval {
        self.corners(other, |x, y| x - y)
    }

    pub(crate) fn mul(self, other: Interval) -> Interval {
        let zero_by_infinity =
            |x: Interval, y: Interval| x.contains(0.0) && !y.largest().is_finite();
        if zero_by_infinity(self, other) || zero_by_infinity(other, self) {
            return Interval::undefined(self.format);
        }
        self.corners(other, |x, y| x * y)
    }

    pub(crate) fn neg(self) -> Interval {
        self.monotone(|x| -x)
    }

    /// 2.5 ulp for divisors in the range of the table, undefined for others.
    pub(crate) fn div(self, other: Interval) -> Interval {
        let least = self.format.min_normal();
        let greatest = 1.0 / least;
        let size = other.low.abs().min(other.high.abs());
        if other.undefined || other.contains(0.0) || size < least || other.largest() > greatest {
            return Interval::undefined(self.format);
        }
        self.image_of_corners(other, |x, y| x / y).ulps(2.5)
    }

    pub(crate) fn clamp(self, low: f64, high: f64) -> Interval {
        self.monotone(|x| x.clamp(low, high))
    }

    pub(crate) fn trunc(self) -> Interval {
        self.monotone(f64::trunc)
    }

    pub(crate) fn floor(self) -> Interval {
        self.monotone(f64::floor)
    }

    /// 2 ulp.
    pub(crate) fn inverse_sqrt(self) -> Interval {
        if self.low < 0.0 {
            return Interval::undefined(self.format);
        }
        self.image(|x| 1.0 / x.sqrt()).ulps(2.0)
    }

    /// As 1 / inversesqrt(x), and 0 for 0. A difference that should not be below zero may be by
    /// its rounding; that counts as zero.
    pub(crate) fn sqrt(self) -> Interval {
        if self.high < 0.0 {
            return Interval::undefined(self.format);
        }
        // The relative errors of both steps add up; an ulp is at most twice as much in one number
        // as in another, relatively.
        let error = (2.0 * 2.0 + 2.5) * self.format.epsilon();
        let root = self.image(|x| x.max(0.0).sqrt());
        root.widened(|value| value * error).monotone(|x| x.max(0.0))
    }

    fn exponential(self, function: impl Fn(f64) -> f64) -> Interval {
        let base = if self.format.is_half() { 1.0 } else { 3.0 };
        let size = self.largest().min(1e6);
        self.image(function).ulps(base + 2.0 * size)
    }

    /// 3 + 2|x| ulp; half: 1 + 2|x| ulp.
    pub(crate) fn exp2(self) -> Interval {
        self.exponential(f64::exp2)
    }

    /// As exp2.
    pub(crate) fn exp(self) -> Interval {
        self.exponential(f64::exp)
    }

    fn logarithm(self, function: impl Fn(f64) -> f64) -> Interval {
        if self.undefined || self.low < 0.0 {
            return Interval::undefined(self.format);
        }
        let format = self.format;
        let near_one = if format.is_half() {
            2f64.powi(-7)
        } else {
            2f64.powi(-21)
        };
        let one = |x: f64| {
            let near = (0.5..=2.0).contains(&x);
            Interval::hull(format, [function(x)]).widened(|value| match near {
                true => near_one,
                false => 3.0 * format.ulp(value),
            })
        };
        // Some implementations count a denormal as another number below the normal ones.
        let top = if self.low == 0.0 {
            self.high.max(format.min_normal())
        } else {
            self.high
        };
        let (low, high) = (one(self.low), one(top));
        Interval::within(format, low.low, high.high)
    }

    /// 3 ulp outside of 0.5 to 2, absolute inside.
    pub(crate) fn log2(self) -> Interval {
        self.logarithm(f64::log2)
    }

    /// As log2.
    pub(crate) fn log(self) -> Interval {
        self.logarithm(f64::ln)
    }

    pub(crate) fn sin(self) -> Interval {
        self.wave(f64::sin, std::f64::consts::FRAC_PI_2)
    }

    pub(crate) fn cos(self) -> Interval {
        self.wave(f64::cos, 0.0)
    }

    /// Absolute error of 2^-11 (half: 2^-7) for operands from -pi to pi; outside of that the table
    /// says nothing, but a wave it is. `peak` is where it has 1.
    fn wave(self, function: impl Fn(f64) -> f64, peak: f64) -> Interval {
        use std::f64::consts::PI;
        if self.undefined || !self.largest().is_finite() {
            return Interval::undefined(self.format);
        }
        let error = if self.format.is_half() {
            2f64.powi(-7)
        } else {
            2f64.powi(-11)
        };
        if self.largest() > PI * (1.0 + self.format.epsilon()) {
            return Interval::new(self.format, -1.0 - error, 1.0 + error);
        }
        let peaks = [-PI, 0.0, PI].map(|from| from + peak);
        let inside = peaks
            .into_iter()
            .filter(|x| self.contains(*x))
            .map(|x| function(x).round());
        let ends = [function(self.low), function(self.high)];
        Interval::hull(self.format, inside.chain(ends)).widened(|_| error)
    }

    /// 4096 ulp; half: 5 ulp.
    fn arc(self) -> Interval {
        self.ulps(if self.format.is_half() { 5.0 } else { 4096.0 })
    }

    pub(crate) fn atan(self) -> Interval {
        self.image(f64::atan).arc()
    }

    /// The angle of the point whose ordinate this is.
    pub(crate) fn atan2(self, x: Interval) -> Interval {
        // Denormals count as zero, in halves too: no execution mode asks to preserve them.
        let least = self.format.min_normal();
        let is_tiny = |i: Interval| i.low < least && i.high > -least;
        let at_origin = is_tiny(self) && is_tiny(x);
        let across_the_cut = self.contains(0.0) && x.low < 0.0;
        if self.undefined || x.undefined || at_origin {
            return Interval::undefined(self.format);
        }
        if across_the_cut {
            let pi = std::f64::consts::PI;
            return Interval::new(self.format, -pi, pi).arc();
        }
        self.image_of_corners(x, f64::atan2).arc()
    }

    /// The sum of products in any order.
    pub(crate) fn dot(pairs: &[(Interval, Interval)]) -> Interval {
        let format = pairs[0].0.format;
        let (mut low, mut high, mut size) = (0.0, 0.0, 0.0);
        for (x, y) in pairs {
            let product = x.mul(*y);
            if product.undefined {
                return product;
            }
            low += product.low;
            high += product.high;
            size += product.largest();
        }
        if size > format.max() {
            return Interval::undefined(format);
        }
        let error = pairs.len() as f64 * format.epsilon() * size
            + if format.flushes {
                pairs.len() as f64 * format.min_normal()
            } else {
                0.0
            };
        Interval::new(format, low - error, high + error)
    }

    /// The smallest interval with both.
    pub(crate) fn or(self, other: Interval) -> Interval {
        if self.undefined || other.undefined {
            return Interval::undefined(self.format);
        }
        Interval {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            ..self
        }
    }

    pub(crate) fn low(self) -> f64 {
        self.low
    }

    pub(crate) fn high(self) -> f64 {
        self.high
    }

    pub(crate) fn is_undefined(self) -> bool {
        self.undefined
    }

    /// As a result.
    pub(crate) fn expect(self) -> Expect {
        if self.undefined {
            return Expect::Any;
        }
        Expect::Float(vec![Allowed::Range(self.low, self.high)])
    }
}

#[cfg(test)]
mod tests {
    use super::super::format;
    use super::*;
    use crate::ops::types::Scalar;

    fn interval(value: f64) -> Interval {
        Interval::constant(format::of(Scalar::F32), value)
    }

    #[test]
    fn holds_the_true_value_and_no_more_than_the_error() {
        let quotient = interval(1.0).div(interval(3.0));
        assert!(quotient.contains(1.0 / 3.0));
        assert!(quotient.high - quotient.low < 7.0 * 2f64.powi(-25));
        let sine = interval(1.0).sin();
        assert!(sine.contains(1f64.sin()) && sine.high - sine.low < 2f64.powi(-9));
        assert!(interval(1.6).sin().contains(1.0 - 2f64.powi(-12)));
    }

    #[test]
    fn a_zero_divisor_is_undefined() {
        assert_eq!(interval(1.0).div(interval(0.0)).expect(), Expect::Any);
        assert_eq!(interval(0.0).atan2(interval(0.0)).expect(), Expect::Any);
    }

    #[test]
    fn denormals_may_be_zero() {
        let product = interval(1e-30).mul(interval(1e-10));
        assert!(product.contains(0.0) && product.high < 1.1e-40);
    }
}
