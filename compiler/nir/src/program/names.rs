// SPDX-License-Identifier: MIT
//! NIR's operations by name. The enumerations are generated from NIR's headers, in its order and spelling.

use crate::ffi;

/// An arithmetic operation: NIR's `nir_op` without that prefix.
pub use ffi::nir_op as AluOp;

/// The operation of an intrinsic: NIR's `nir_intrinsic_op` without `nir_intrinsic_`.
pub use ffi::nir_intrinsic_op as IntrinsicOp;

/// What a constant index of an intrinsic means: NIR's `nir_intrinsic_index_flag` without `NIR_INTRINSIC_`.
pub use ffi::nir_intrinsic_index_flag as IndexKind;

/// The operation of an atomic: NIR's `nir_atomic_op` without that prefix.
pub use ffi::nir_atomic_op as AtomicOp;

/// The operation of a reduction or scan is an arithmetic one.
pub use ffi::nir_op as ReduceOp;

/// Define the checked conversion of a generated enumeration from NIR's number.
macro_rules! from_number {
    ($($name:ident before $end:expr;)*) => {$(
        impl $name {
            /// The one that NIR gives this number, if there is one.
            #[must_use]
            pub fn from_number(number: u32) -> Option<Self> {
                // SAFETY: the enumerators are numbered from 0 without a gap (NIR uses them as indices of tables), so
                // every number below the end is one.
                (number < $end).then(|| unsafe { std::mem::transmute::<u32, Self>(number) })
            }
        }
    )*};
}

from_number! {
    AluOp before AluOp::nir_num_opcodes as u32;
    IntrinsicOp before IntrinsicOp::nir_num_intrinsics as u32;
    IndexKind before IndexKind::NUM_INDEX_FLAGS as u32;
    AtomicOp before AtomicOp::ordered_add_gfx12_amd as u32 + 1;
}
