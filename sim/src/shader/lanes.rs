// SPDX-License-Identifier: MIT
//! 32 lanes as one value, and functions over them compiled for what the host CPU can do.

use std::sync::LazyLock;

/// Lanes of a SIMD group (isa-1, 1.1; HW).
pub const LANES: usize = 32;

/// One 32-bit register of a SIMD group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Lanes(pub [u32; LANES]);

impl Lanes {
    /// Zero in every lane.
    pub const ZERO: Lanes = Lanes([0; LANES]);

    /// The same value in every lane.
    #[inline(always)]
    #[must_use]
    pub const fn splat(value: u32) -> Lanes {
        Lanes([value; LANES])
    }

    /// A value for each lane.
    #[inline(always)]
    #[must_use]
    pub fn from_fn(mut f: impl FnMut(usize) -> u32) -> Lanes {
        let mut out = Lanes::ZERO;
        for lane in 0..LANES {
            out.0[lane] = f(lane);
        }
        out
    }

    /// A mask with all bits set in the lanes of `mask`.
    #[inline(always)]
    #[must_use]
    pub fn from_mask(mask: u32) -> Lanes {
        Lanes::from_fn(|lane| (mask >> lane & 1).wrapping_neg())
    }

    /// One bit for each lane: is its value nonzero?
    #[inline(always)]
    #[must_use]
    pub fn nonzero(&self) -> u32 {
        let mut bits = 0;
        for lane in 0..LANES {
            bits |= u32::from(self.0[lane] != 0) << lane;
        }
        bits
    }
}

/// Instruction set levels of the host for which micro-op functions are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// What the compilation target guarantees: SSE2 on x86-64, NEON with fused multiply-add on
    /// aarch64.
    Portable,
    /// x86-64 with AVX2, FMA, F16C, BMI and LZCNT.
    #[cfg(target_arch = "x86_64")]
    V3,
}

impl Level {
    /// The best level of this CPU. `CORTLAND_SIM_LEVEL=portable` forces the lowest.
    #[must_use]
    pub fn host() -> Level {
        static HOST: LazyLock<Level> = LazyLock::new(|| {
            #[cfg(target_arch = "x86_64")]
            {
                let portable =
                    std::env::var_os("CORTLAND_SIM_LEVEL").is_some_and(|v| v == "portable");
                if !portable
                    && is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("f16c")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
                {
                    return Level::V3;
                }
            }
            Level::Portable
        });
        *HOST
    }
}

/// Defines micro-op functions: `kernel!(name = path)` makes `pub(crate) fn name() -> Exec`, which
/// answers the version of the `#[inline(always)]` function `path` for the host's level.
///
/// `path` is `fn(&mut Wave<'_>, &MicroOp) -> Step`, possibly with const generic arguments.
#[macro_export]
macro_rules! kernel {
    ($($name:ident = $body:expr;)+) => {
        $(
            pub(crate) fn $name() -> $crate::shader::microop::Exec {
                unsafe fn portable(
                    wave: &mut $crate::shader::wave::Wave<'_>,
                    op: &$crate::shader::microop::MicroOp,
                ) -> $crate::shader::microop::Step {
                    $body(wave, op)
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
                unsafe fn v3(
                    wave: &mut $crate::shader::wave::Wave<'_>,
                    op: &$crate::shader::microop::MicroOp,
                ) -> $crate::shader::microop::Step {
                    $body(wave, op)
                }
                match $crate::shader::lanes::Level::host() {
                    $crate::shader::lanes::Level::Portable => portable,
                    #[cfg(target_arch = "x86_64")]
                    $crate::shader::lanes::Level::V3 => v3,
                }
            }
        )+
    };
}
