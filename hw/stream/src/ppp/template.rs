// SPDX-License-Identifier: MIT
//! Records of draws that differ in little: what dynamic state and bindings change.

use super::control::occlusion_word;
use super::{
    Indices, Kind, LineWidth, RECORD_SIZE, Record, RegionClip, Stencil, Viewport, Visibility,
};
use crate::bytes::{head_mut, word};
use crate::coefficient::TABLE_ALIGN;
use crate::error::{Result, illegal};
use crate::window::{CodeAddress, LauncherAddress};

/// Index of a word in the record.
const fn index(kind: Kind, word: usize) -> usize {
    kind.record_offset() as usize / 4 + word
}

const TABLE: usize = index(Kind::Fragment, 2);
const LAUNCHER: usize = index(Kind::Fragment, 5);
const CONTROL: usize = index(Kind::FragmentControl, 1);
const FRONT: usize = index(Kind::FragmentControl, 2);
const BACK: usize = index(Kind::FragmentControl, 4);
const OCCLUSION: usize = index(Kind::FragmentControl, 6);
const CONTROL_2: usize = index(Kind::FragmentControl2, 1);
const REGION: usize = index(Kind::Viewports, 1);
const TRANSFORM: usize = index(Kind::Viewports, 4);
const INDICES: usize = index(Kind::Indices, 1);

/// A [`Record`] as words, of which single fields are replaced.
///
/// A driver makes one for each pipeline. Recording a draw is then a copy, the fields that dynamic state
/// and bindings change, and a copy into GPU memory; nothing is allocated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    words: [u32; RECORD_SIZE / 4],
}

impl Template {
    /// The template of a record.
    ///
    /// # Errors
    /// When the record is not legal.
    pub fn new(record: &Record) -> Result<Template> {
        let mut bytes = [0; RECORD_SIZE];
        record.pack(&mut bytes)?;
        let mut words = [0; RECORD_SIZE / 4];
        for (i, place) in words.iter_mut().enumerate() {
            *place = word(&bytes, 4 * i);
        }
        Ok(Template { words })
    }

    fn replace(&mut self, index: usize, mask: u32, value: u32) {
        self.words[index] = self.words[index] & !mask | value;
    }

    /// Replaces the program that starts the fragment shader.
    pub fn set_launcher(&mut self, launcher: LauncherAddress) {
        self.words[LAUNCHER] = launcher.units();
    }

    /// Replaces the coefficient table, which has as many bindings.
    ///
    /// # Errors
    /// When the address is not a multiple of 64.
    pub fn set_table(&mut self, table: CodeAddress) -> Result<()> {
        if !table.offset().is_multiple_of(TABLE_ALIGN) {
            let (field, legal) = ("coefficient table", "a multiple of 0x40");
            return illegal("PPP fragment shader", field, table.address(), legal);
        }
        self.words[TABLE] = table.offset();
        Ok(())
    }

    /// Replaces viewport and region clip.
    pub fn set_viewport(&mut self, viewport: &Viewport) {
        let (region, transform) = viewport.words();
        self.words[REGION..REGION + 2].copy_from_slice(&region);
        self.words[TRANSFORM..TRANSFORM + 6].copy_from_slice(&transform);
    }

    /// Replaces the region clip.
    pub fn set_region(&mut self, region: RegionClip) {
        let (translate, scale) = ([0.0; 3], [0.0; 3]);
        let (region, _) = Viewport {
            region,
            translate,
            scale,
        }
        .words();
        self.words[REGION..REGION + 2].copy_from_slice(&region);
    }

    /// Replaces the indices of scissor and depth bias.
    pub fn set_indices(&mut self, indices: Indices) {
        self.words[INDICES] = u32::from(indices.scissor) | u32::from(indices.depth_bias) << 16;
    }

    /// Switches the depth bias.
    pub fn set_depth_bias(&mut self, enable: bool) {
        self.replace(CONTROL, 1 << 17, u32::from(enable) << 17);
    }

    /// Replaces mode and index of the occlusion query, in both control words.
    ///
    /// # Errors
    /// When the index is 32768 or more.
    pub fn set_occlusion(&mut self, visibility: Visibility, index: u16) -> Result<()> {
        self.words[OCCLUSION] = occlusion_word(index)?;
        for control in [CONTROL, CONTROL_2] {
            self.replace(control, 3 << 14, u32::from(visibility.code()) << 14);
        }
        Ok(())
    }

    /// Replaces the stencil references of front and back faces.
    pub fn set_stencil_references(&mut self, front: u8, back: u8) {
        self.replace(FRONT, 0xff, front.into());
        self.replace(BACK, 0xff, back.into());
    }

    /// Replaces the stencil tests of front and back faces.
    pub fn set_stencil(&mut self, front: &Stencil, back: &Stencil) {
        self.words[FRONT + 1] = front.word();
        self.words[BACK + 1] = back.word();
    }

    /// Replaces the width of lines, in both faces.
    pub fn set_line_width(&mut self, width: LineWidth) {
        for face in [FRONT, BACK] {
            self.replace(face, 0xff00, u32::from(width.0) << 8);
        }
    }

    /// Writes the record into the first 256 bytes of `buffer`.
    ///
    /// # Errors
    /// When `buffer` is too small.
    pub fn write(&self, buffer: &mut [u8]) -> Result<()> {
        let out = head_mut("PPP record", buffer, RECORD_SIZE)?;
        for (place, word) in out.chunks_exact_mut(4).zip(self.words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        Ok(())
    }
}
