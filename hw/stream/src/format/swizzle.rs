// SPDX-License-Identifier: MIT
//! Order of components: of a texture's result, of a store's memory.

use crate::error::{Result, illegal};

crate::codes::codes! {
    /// Where an output component of a texture comes from (images, 2; HW). Codes 6 and 7 fault.
    Source, "texture swizzle", "0..=5 (6 and 7 fault)";
    /// Component 0 of memory.
    R = 0,
    /// Component 1 of memory.
    G = 1,
    /// Component 2 of memory.
    B = 2,
    /// Component 3 of memory.
    A = 3,
    /// The constant 1: an integer for integer formats (images, 11; INFERRED).
    One = 4,
    /// The constant 0.
    Zero = 5,
}

/// Sources of the four output components of a texture, red first (images, 2; HW).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Swizzle(pub [Source; 4]);

impl Swizzle {
    /// Every component from its own place.
    pub const IDENTITY: Swizzle = Swizzle([Source::R, Source::G, Source::B, Source::A]);

    /// The 12-bit field.
    #[must_use]
    pub const fn code(self) -> u16 {
        let [r, g, b, a] = self.0;
        r.code() as u16 | (g.code() as u16) << 3 | (b.code() as u16) << 6 | (a.code() as u16) << 9
    }

    /// What a 12-bit field means.
    ///
    /// # Errors
    /// When the field has more bits or holds one of the codes that fault.
    pub fn from_code(code: u16) -> Result<Swizzle> {
        if code >> 12 != 0 {
            return illegal("texture swizzle", "field", code.into(), "12 bits");
        }
        let source = |shift: u16| Source::from_code((code >> shift & 7) as u8);
        Ok(Swizzle([source(0)?, source(3)?, source(6)?, source(9)?]))
    }

    /// This swizzle seen through a view's: components that the view selects come from here,
    /// constants stay (images, 5.5; HW).
    #[must_use]
    pub const fn view(self, view: Swizzle) -> Swizzle {
        let mut out = view.0;
        let mut i = 0;
        while i < 4 {
            out[i] = match view.0[i] {
                Source::R => self.0[0],
                Source::G => self.0[1],
                Source::B => self.0[2],
                Source::A => self.0[3],
                constant => constant,
            };
            i += 1;
        }
        Swizzle(out)
    }

    /// This swizzle with components in the API's order instead of memory's: those that are not constant come
    /// from their own place. Seen through a view's it tells where a border's colour goes.
    #[must_use]
    pub const fn in_order(self) -> Swizzle {
        let mut out = self.0;
        let mut i = 0;
        while i < 4 {
            if out[i].code() < 4 {
                out[i] = Self::IDENTITY.0[i];
            }
            i += 1;
        }
        Swizzle(out)
    }

    /// The opposite direction: for each component of memory the output component that shows it, 0
    /// for those that none shows.
    pub(super) const fn inverse(self) -> StoreSwizzle {
        let mut code = 0;
        let mut i = 4;
        while i > 0 {
            i -= 1;
            let source = self.0[i].code();
            if source < 4 {
                code = code & !(3 << (2 * source)) | (i as u8) << (2 * source);
            }
        }
        StoreSwizzle(code)
    }
}

impl std::fmt::Debug for Swizzle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Swizzle(")?;
        for source in self.0 {
            f.write_str(match source {
                Source::R => "R",
                Source::G => "G",
                Source::B => "B",
                Source::A => "A",
                Source::One => "1",
                Source::Zero => "0",
            })?;
        }
        f.write_str(")")
    }
}

/// The swizzle byte of a store record: which component of the shader or tile goes to each
/// component of memory, two bits each, memory component 0 lowest, unused ones 0 (images, 3; HW).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StoreSwizzle(pub u8);

impl StoreSwizzle {
    /// Every component to its own place; also what already packed tile words need (images, 3.2; HW).
    pub const IDENTITY: StoreSwizzle = StoreSwizzle(0xe4);
}

impl std::fmt::Debug for StoreSwizzle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StoreSwizzle({:#04x})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_are_in_the_order_of_the_api() {
        // Blue, green, red and no alpha in memory.
        let format = Swizzle([Source::B, Source::G, Source::R, Source::One]);
        let border = format.in_order();
        assert_eq!(
            border,
            Swizzle([Source::R, Source::G, Source::B, Source::One])
        );
        let view = Swizzle([Source::A, Source::B, Source::Zero, Source::R]);
        let seen = Swizzle([Source::One, Source::B, Source::Zero, Source::R]);
        assert_eq!(border.view(view), seen);
    }
}
