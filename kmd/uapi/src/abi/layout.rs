// SPDX-License-Identifier: MIT
//! One description per structure, from which declaration and compile-time checks come.

/// Where the bytes of a structure are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Name in the kernel's header.
    pub name: &'static str,
    /// Size in bytes.
    pub size: usize,
    /// Fields in order of their offsets.
    pub fields: &'static [Field],
}

/// One field of a [`Layout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name in the kernel's header, in lower case.
    pub name: &'static str,
    /// Offset in bytes.
    pub offset: usize,
    /// Size in bytes.
    pub size: usize,
}

/// Declares a `repr(C)` structure with its name in the header, its size and its fields' offsets.
///
/// Fails to compile when the compiler lays it out differently, when it has padding, or when a
/// field's type is not [`Abi`](crate::Abi).
macro_rules! abi_struct {
    (
        $(#[$meta:meta])*
        pub struct $name:ident = $c_name:literal, $size:literal {
            $($(#[$field_meta:meta])* $offset:literal => $field:ident: $ty:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(C)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $ty,)*
        }

        impl $name {
            /// Name, size and offsets, for comparison with the kernel's header.
            pub const LAYOUT: $crate::abi::Layout = $crate::abi::Layout {
                name: $c_name,
                size: $size,
                fields: &[$($crate::abi::Field {
                    name: stringify!($field),
                    offset: $offset,
                    size: size_of::<$ty>(),
                },)*],
            };
        }

        const _: () = {
            assert!(size_of::<$name>() == $size, "size differs from the reference");
            assert!(0 $(+ size_of::<$ty>())* == $size, "the structure has padding");
            assert!(align_of::<$name>() <= 8);
            $(assert!(core::mem::offset_of!($name, $field) == $offset);)*
            const fn is_abi<T: $crate::Abi>() {}
            $(is_abi::<$ty>();)*
        };

        // SAFETY: checked above: the structure has no padding and every field is Abi, so every bit
        // pattern is a value of it.
        unsafe impl $crate::Abi for $name {}

        impl Default for $name {
            /// All zero.
            fn default() -> $name {
                <$name as $crate::Abi>::zeroed()
            }
        }
    };
}

/// Declares flags that keep unknown bits, usable as a field of a structure.
macro_rules! abi_flags {
    (
        $(#[$meta:meta])*
        pub struct $name:ident: $ty:ty {
            $($(#[$($flag_meta:tt)*])* const $flag:ident = $value:expr;)*
        }
    ) => {
        bitflags::bitflags! {
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
            #[repr(transparent)]
            pub struct $name: $ty {
                $($(#[$($flag_meta)*])* const $flag = $value;)*
            }
        }

        impl $name {
            /// The bits that this interface does not define.
            #[must_use]
            pub const fn unknown(self) -> $ty {
                self.bits() & !Self::all().bits()
            }
        }

        // SAFETY: a transparent integer; unknown bits are kept, so every bit pattern is a value.
        unsafe impl $crate::Abi for $name {}
    };
}

pub(crate) use {abi_flags, abi_struct};

use super::*;

/// Every structure of the interface.
pub const LAYOUTS: &[Layout] = &[
    ParamsGlobal::LAYOUT,
    GetParams::LAYOUT,
    GetTime::LAYOUT,
    VmCreate::LAYOUT,
    VmDestroy::LAYOUT,
    VmBind::LAYOUT,
    GemBindOp::LAYOUT,
    GemCreate::LAYOUT,
    GemMmapOffset::LAYOUT,
    GemBindObject::LAYOUT,
    QueueCreate::LAYOUT,
    QueueDestroy::LAYOUT,
    SubmitArgs::LAYOUT,
    SyncRecord::LAYOUT,
    CmdHeader::LAYOUT,
    CmdRender::LAYOUT,
    CmdCompute::LAYOUT,
    HelperProgram::LAYOUT,
    ZlsBuffer::LAYOUT,
    BgEot::LAYOUT,
    Timestamp::LAYOUT,
    Timestamps::LAYOUT,
    Attachment::LAYOUT,
    DrmVersion::LAYOUT,
    GemClose::LAYOUT,
    PrimeHandle::LAYOUT,
    SyncobjCreate::LAYOUT,
    SyncobjDestroy::LAYOUT,
    SyncobjHandle::LAYOUT,
    SyncobjTransfer::LAYOUT,
    SyncobjWait::LAYOUT,
    SyncobjTimelineWait::LAYOUT,
    SyncobjArray::LAYOUT,
    SyncobjTimelineArray::LAYOUT,
    DmaBufExportSyncFile::LAYOUT,
    DmaBufImportSyncFile::LAYOUT,
    SyncFileInfo::LAYOUT,
    SyncFenceInfo::LAYOUT,
];
