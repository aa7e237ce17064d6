// SPDX-License-Identifier: MIT
//! Structures to bytes and back.

/// A plain structure of the kernel interface.
///
/// # Safety
///
/// The type has no padding, no pointer, no interior mutability, and every bit pattern of its size
/// is a valid value of it.
pub unsafe trait Abi: Copy + 'static {
    /// The value of which every byte is zero.
    #[must_use]
    fn zeroed() -> Self {
        // SAFETY: every bit pattern is valid.
        unsafe { core::mem::zeroed() }
    }

    /// The bytes in memory order. (All supported machines are little-endian, as the interface is.)
    fn as_bytes(&self) -> &[u8] {
        // SAFETY: the type has no padding, so each of its bytes is initialised.
        unsafe { core::slice::from_raw_parts((&raw const *self).cast(), size_of::<Self>()) }
    }

    /// The bytes, to write to.
    fn as_bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: no padding, and every bit pattern that is written is valid.
        unsafe { core::slice::from_raw_parts_mut((&raw mut *self).cast(), size_of::<Self>()) }
    }

    /// Reads the structure as the kernel does (section 4): a shorter record is extended with zeros,
    /// a longer one must hold nothing but zeros behind the structure.
    ///
    /// # Errors
    ///
    /// [`NonzeroTail`] when a byte behind the known structure is not zero.
    fn from_bytes_extended(bytes: &[u8]) -> Result<Self, NonzeroTail> {
        let mut value = Self::zeroed();
        let known = bytes.len().min(size_of::<Self>());
        value.as_bytes_mut()[..known].copy_from_slice(&bytes[..known]);
        if bytes[known..].iter().any(|&byte| byte != 0) {
            return Err(NonzeroTail);
        }
        Ok(value)
    }
}

// The structures are copied as they stand in memory; a big-endian machine would need swaps, and no
// machine with this GPU is one.
#[cfg(not(target_endian = "little"))]
compile_error!("the kernel interface is little-endian");

/// A record is longer than the known structure and its tail is not zero.
///
/// The kernels answer with [`Chip::long_record`](crate::Chip::long_record).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonzeroTail;

impl core::fmt::Display for NonzeroTail {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("nonzero bytes behind the known structure")
    }
}

impl core::error::Error for NonzeroTail {}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        // SAFETY: integers have no padding and every bit pattern is a value.
        unsafe impl Abi for $ty {}
    )*};
}

integers!(u8 u16 u32 u64 i32 i64);

// SAFETY: arrays have no padding between elements, and each element is Abi.
unsafe impl<T: Abi, const N: usize> Abi for [T; N] {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Timestamps;

    #[test]
    fn short_records_are_extended_with_zeros() {
        let value = Timestamps::from_bytes_extended(&[1, 2, 3, 4, 5]).unwrap();
        assert_eq!(value.start.handle, 0x0403_0201);
        assert_eq!(value.start.offset, 5);
        assert_eq!(value.end.as_bytes(), [0; 8]);
        assert_eq!(
            Timestamps::from_bytes_extended(&[]),
            Ok(Timestamps::zeroed())
        );
    }

    #[test]
    fn long_records_need_a_zero_tail() {
        let mut bytes = [0x11; 32];
        assert_eq!(Timestamps::from_bytes_extended(&bytes), Err(NonzeroTail));
        bytes[16..].fill(0);
        let value = Timestamps::from_bytes_extended(&bytes).unwrap();
        assert_eq!(value.as_bytes(), [0x11; 16]);
        bytes[31] = 0x80;
        assert_eq!(Timestamps::from_bytes_extended(&bytes), Err(NonzeroTail));
    }
}
