// SPDX-License-Identifier: MIT
//! Piece 2: the fragment shader and its coefficients.

use super::{piece, zero};
use crate::bits::Word;
use crate::coefficient::{MAX_SCALARS, TABLE_ALIGN};
use crate::error::{Result, illegal};
use crate::vdm::USC_SELECTOR;
use crate::window::{CodeAddress, LauncherAddress};

/// Most bindings that the count's seven bits hold.
const MAX_BINDINGS: u8 = 127;
/// In the count's word, where older parts count texture states (graphics, 6.2; OPAQUE).
const CONSTANT: u32 = 0x100;

/// The fragment shader (graphics, 6.2; HW on G16G). On G17P the table follows the program words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fragment {
    /// Bindings in the coefficient table, 1..=127: the seven bits of their count.
    pub bindings: u8,
    /// The coefficient table, a multiple of 64.
    pub table: CodeAddress,
    /// The program that starts the shader.
    pub launcher: LauncherAddress,
    /// A count of resources, 1..=16, whose formula is not known: [`Fragment::resources`] works for all
    /// numbers of varyings, with and without textures (OPAQUE).
    pub resources: u8,
}

piece!(Fragment, "PPP fragment shader", 7);

impl Fragment {
    const MAX_RESOURCES: u8 = MAX_SCALARS / 8;

    /// What [`Fragment::resources`] is for so many user scalars (graphics, 6.2; OPAQUE).
    #[must_use]
    pub const fn resources(scalars: u8) -> u8 {
        match scalars / 8 {
            0 => 1,
            eighth => eighth,
        }
    }

    fn check(&self) -> Result<()> {
        if !(1..=MAX_BINDINGS).contains(&self.bindings) {
            return illegal(Self::NAME, "bindings", self.bindings.into(), "1..=127");
        }
        if !self.table.offset().is_multiple_of(TABLE_ALIGN) {
            let legal = "a multiple of 0x40";
            return illegal(Self::NAME, "coefficient table", self.table.address(), legal);
        }
        if !(1..=Self::MAX_RESOURCES).contains(&self.resources) {
            return illegal(Self::NAME, "resources", self.resources.into(), "1..=16");
        }
        Ok(())
    }

    fn payload(&self) -> Result<[u32; 6]> {
        self.check()?;
        Ok([
            CONSTANT | u32::from(self.bindings) << 16,
            self.table.offset(),
            0,
            USC_SELECTOR,
            self.launcher.units(),
            self.resources.into(),
        ])
    }

    fn of_payload(words: [u32; 6]) -> Result<Fragment> {
        let [counts, table, zeros, constant, launcher, resources] = words;
        let mut counts = Word::new(Self::NAME, counts);
        counts.ones(CONSTANT, "0x100")?;
        let bindings = counts.take(16, 22) as u8;
        counts.finish()?;
        zero(Self::NAME, "word 3", zeros)?;
        if constant != USC_SELECTOR {
            let legal = "0x01000000";
            return illegal(Self::NAME, "constant", constant.into(), legal);
        }
        let fragment = Fragment {
            bindings,
            table: CodeAddress::from_offset(table),
            launcher: LauncherAddress::from_units(launcher)?,
            resources: match u8::try_from(resources) {
                Ok(resources) => resources,
                Err(_) => return illegal(Self::NAME, "resources", resources.into(), "1..=16"),
            },
        };
        fragment.check()?;
        Ok(fragment)
    }
}
