// SPDX-License-Identifier: MIT
//! All nine pieces of a draw in one record of 256 bytes.

use super::{
    Cull, Fragment, FragmentControl, FragmentControl2, Indices, Kind, Outputs, VaryingCounts,
    Viewports, WClamp,
};
use crate::bytes::{head, head_mut, zeros};
use crate::error::{Result, illegal};
use crate::vdm::Update;
use crate::window::ContextAddress;

/// Bytes in a record (graphics, 6; HW).
pub const RECORD_SIZE: usize = 0x100;
/// Bytes that records are aligned to (graphics, 2; HW).
pub const RECORD_ALIGN: u32 = 64;

const NAME: &str = "PPP record";

/// The state of a draw as the proven driver keeps it: every piece at a fixed place, with one viewport
/// (graphics, 6.2; HW). Hardware knows the pieces only.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// How many varyings there are.
    pub varyings: VaryingCounts,
    /// The fragment shader and its coefficients.
    pub fragment: Fragment,
    /// What the vertex shader writes.
    pub outputs: Outputs,
    /// Tests, faces, occlusion.
    pub control: FragmentControl,
    /// Pass type, shader depth, object type.
    pub control2: FragmentControl2,
    /// The viewport and the tiles that it covers: exactly one, more do not fit.
    pub viewports: Viewports,
    /// Clamping of w, and what goes with clipping.
    pub w_clamp: WClamp,
    /// Culling and depth clip.
    pub cull: Cull,
    /// Indices into the pass's arrays.
    pub indices: Indices,
}

impl Record {
    /// Writes the record into the first 256 bytes of `buffer`.
    ///
    /// # Errors
    /// When `buffer` is too small, there is not exactly one viewport, or a piece is not legal.
    pub fn pack(&self, buffer: &mut [u8]) -> Result<()> {
        let record = head_mut(NAME, buffer, RECORD_SIZE)?;
        let viewports = self.viewports.0.len();
        if viewports != 1 {
            return illegal(NAME, "viewports", viewports as u64, "1");
        }
        record.fill(0);
        fn at(record: &mut [u8], kind: Kind) -> &mut [u8] {
            record
                .get_mut(kind.record_offset() as usize..)
                .unwrap_or_default()
        }
        self.varyings.pack(at(record, Kind::VaryingCounts))?;
        self.fragment.pack(at(record, Kind::Fragment))?;
        self.outputs.pack(at(record, Kind::Outputs))?;
        self.control.pack(at(record, Kind::FragmentControl))?;
        self.control2.pack(at(record, Kind::FragmentControl2))?;
        self.viewports.pack(at(record, Kind::Viewports))?;
        self.w_clamp.pack(at(record, Kind::WClamp))?;
        self.cull.pack(at(record, Kind::Cull))?;
        self.indices.pack(at(record, Kind::Indices))?;
        Ok(())
    }

    /// The record in the first 256 bytes.
    ///
    /// # Errors
    /// When the bytes are too few, a piece is not legal or not at its place, or a byte between them is
    /// not zero.
    pub fn unpack(bytes: &[u8]) -> Result<Record> {
        let record = head(NAME, bytes, RECORD_SIZE)?;
        let mut places = Kind::ALL.map(|kind| {
            let start = kind.record_offset() as usize;
            (start, start + 4 * usize::from(kind.words()))
        });
        places.sort_unstable();
        let mut end = 0;
        for (start, behind) in places {
            zeros(NAME, record, end, start)?;
            end = behind;
        }
        zeros(NAME, record, end, RECORD_SIZE)?;
        let at = |kind: Kind| {
            let start = kind.record_offset() as usize;
            &record[start..start + 4 * usize::from(kind.words())]
        };
        Ok(Record {
            varyings: VaryingCounts::unpack(at(Kind::VaryingCounts))?,
            fragment: Fragment::unpack(at(Kind::Fragment))?,
            outputs: Outputs::unpack(at(Kind::Outputs))?,
            control: FragmentControl::unpack(at(Kind::FragmentControl))?,
            control2: FragmentControl2::unpack(at(Kind::FragmentControl2))?,
            viewports: Viewports::unpack(at(Kind::Viewports))?,
            w_clamp: WClamp::unpack(at(Kind::WClamp))?,
            cull: Cull::unpack(at(Kind::Cull))?,
            indices: Indices::unpack(at(Kind::Indices))?,
        })
    }

    /// The nine updates that apply a record at `at`, in the proven order (graphics, 6.1; HW).
    ///
    /// # Errors
    /// When `at` is not a multiple of 64 or the record does not end in the window.
    pub fn updates(at: ContextAddress) -> Result<[Update; 9]> {
        check_address(at)?;
        let mut updates = [Update::new(at, Kind::VaryingCounts.words())?; 9];
        for (update, kind) in updates.iter_mut().zip(Kind::ALL) {
            let piece = ContextAddress::from_offset(at.offset() + kind.record_offset())?;
            *update = Update::new(piece, kind.words())?;
        }
        Ok(updates)
    }
}

/// A multiple of 64 lies a whole number of records' alignments below the window's end, so the only
/// records that could reach past it are the last three.
pub(crate) fn check_address(at: ContextAddress) -> Result<()> {
    let legal = "a multiple of 0x40, 0x100 bytes in the render context";
    let inside = at.words_behind(RECORD_SIZE as u32 / 4 - 1).is_some();
    if at.offset().is_multiple_of(RECORD_ALIGN) && inside {
        Ok(())
    } else {
        illegal(NAME, "address", at.address(), legal)
    }
}
