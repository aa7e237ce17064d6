// SPDX-License-Identifier: MIT
//! Multiply and add with one rounding.

use super::format::Format;

/// The bits of x * y + z, rounded once to nearest even.
///
/// The product of two singles or halves is exact in f64, the sum need not be. It is rounded to odd,
/// which has two bits more than single: then rounding again does no harm (Boldo and Melquiond,
/// "Emulation of FMA and correctly rounded sums", 2008).
pub(crate) fn mul_add(format: Format, x: f64, y: f64, z: f64) -> u64 {
    let product = x * y;
    let sum = product + z;
    if !sum.is_finite() || !product.is_finite() {
        return format.round(sum);
    }
    // Knuth's TwoSum: what the sum lost.
    let from_z = sum - product;
    let lost = (product - (sum - from_z)) + (z - from_z);
    if lost == 0.0 || sum.to_bits() & 1 == 1 {
        return format.round(sum);
    }
    let away = (lost > 0.0) == (sum > 0.0);
    let bits = if away {
        sum.to_bits() + 1
    } else {
        sum.to_bits() - 1
    };
    format.round(f64::from_bits(bits))
}

#[cfg(test)]
mod tests {
    use super::super::format;
    use super::*;
    use crate::ops::inputs::Random;
    use crate::ops::types::Scalar;

    #[test]
    fn single_is_as_the_standard_library_does() {
        let mut random = Random::new("fma");
        for _ in 0..300_000 {
            let [x, y, mut z] = [(); 3].map(|()| f32::from_bits(random.value(Scalar::F32) as u32));
            if random.next().is_multiple_of(2) {
                // A near cancellation.
                z = -(x * y) * (1.0 + f32::EPSILON * (random.next() % 3) as f32);
            }
            let bits = mul_add(format::of(Scalar::F32), x.into(), y.into(), z.into());
            let known = x.mul_add(y, z);
            assert!(
                known.is_nan() && f32::from_bits(bits as u32).is_nan()
                    || bits == u64::from(known.to_bits()),
                "{x:e} {y:e} {z:e}: {bits:#x}"
            );
        }
    }
}
