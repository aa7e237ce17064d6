// SPDX-License-Identifier: MIT
//! Which formats a window's pixels are of.

use ash::vk;
use x11rb::protocol::xproto::{ImageOrder, Setup, VisualClass, Visualtype};

/// What pixels of a visual are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Visual {
    /// Formats that store pixels as the server does.
    pub(super) formats: &'static [vk::Format],
    /// Whether a pixel has more bits than its colours.
    pub(super) has_alpha: bool,
}

const BGRA: &[vk::Format] = &[vk::Format::B8G8R8A8_SRGB, vk::Format::B8G8R8A8_UNORM];
const RGBA: &[vk::Format] = &[vk::Format::R8G8B8A8_SRGB, vk::Format::R8G8B8A8_UNORM];

/// Bits of a pixel as it is sent, and what rows are multiples of: rows are then as long as their
/// pixels.
const PIXEL_BITS: u8 = 32;

impl Visual {
    /// The visual of an ID; nothing when its pixels are of no format of the driver's.
    pub(super) fn find(setup: &Setup, id: u32) -> Option<Visual> {
        // Bytes of the server's pixels are then in the order of those in memory.
        if setup.image_byte_order != ImageOrder::LSB_FIRST {
            return None;
        }
        let depths = setup.roots.iter().flat_map(|screen| &screen.allowed_depths);
        let (depth, visual) = depths
            .flat_map(|depth| {
                depth
                    .visuals
                    .iter()
                    .map(move |visual| (depth.depth, visual))
            })
            .find(|(_, visual)| visual.visual_id == id)?;
        let mut kinds = setup.pixmap_formats.iter();
        let sent = kinds.find(|format| format.depth == depth)?;
        if (sent.bits_per_pixel, sent.scanline_pad) != (PIXEL_BITS, PIXEL_BITS) {
            return None;
        }
        Visual::of(depth, visual)
    }

    fn of(depth: u8, visual: &Visualtype) -> Option<Visual> {
        if !matches!(depth, 24 | 32)
            || !matches!(
                visual.class,
                VisualClass::TRUE_COLOR | VisualClass::DIRECT_COLOR
            )
        {
            return None;
        }
        let formats = match (visual.red_mask, visual.green_mask, visual.blue_mask) {
            (0xff_0000, 0xff00, 0xff) => BGRA,
            (0xff, 0xff00, 0xff_0000) => RGBA,
            _ => return None,
        };
        Some(Visual {
            formats,
            has_alpha: depth == 32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visual(red: u32, green: u32, blue: u32) -> Visualtype {
        Visualtype {
            visual_id: 1,
            class: VisualClass::TRUE_COLOR,
            bits_per_rgb_value: 8,
            colormap_entries: 256,
            red_mask: red,
            green_mask: green,
            blue_mask: blue,
        }
    }

    #[test]
    fn masks_tell_the_order_of_bytes() {
        let of = |depth, visual: &Visualtype| Visual::of(depth, visual).map(|it| it.formats);
        assert_eq!(of(24, &visual(0xff_0000, 0xff00, 0xff)), Some(BGRA));
        assert_eq!(of(32, &visual(0xff, 0xff00, 0xff_0000)), Some(RGBA));
        assert_eq!(of(16, &visual(0xf800, 0x7e0, 0x1f)), None);
        assert_eq!(of(30, &visual(0x3ff0_0000, 0xf_fc00, 0x3ff)), None);
        let mut palette = visual(0xff_0000, 0xff00, 0xff);
        palette.class = VisualClass::PSEUDO_COLOR;
        assert_eq!(of(24, &palette), None);
    }

    #[test]
    fn only_the_deeper_visual_has_alpha() {
        let visual = visual(0xff_0000, 0xff00, 0xff);
        assert!(Visual::of(32, &visual).unwrap().has_alpha);
        assert!(!Visual::of(24, &visual).unwrap().has_alpha);
    }
}
