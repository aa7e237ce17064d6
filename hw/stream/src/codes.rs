// SPDX-License-Identifier: MIT
//! Enumerations whose values are hardware codes.

/// Declares an enumeration of hardware codes.
macro_rules! codes {
    (
        $(#[$meta:meta])*
        $name:ident, $structure:expr, $legal:literal;
        $($(#[$doc:meta])* $variant:ident = $code:literal,)*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$doc])* $variant = $code,)*
        }

        impl $name {
            /// All of them, in the order of their codes.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The code in a record.
            #[must_use]
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// What a code means.
            ///
            /// # Errors
            /// When the code has no meaning, or must not be used.
            pub fn from_code(code: u8) -> $crate::Result<$name> {
                match code {
                    $($code => Ok($name::$variant),)*
                    _ => $crate::error::illegal($structure, stringify!($name), code.into(), $legal),
                }
            }
        }
    };
}

pub(crate) use codes;
