// SPDX-License-Identifier: MIT
//! What fragment shaders do with the colours of attachments (isa-3, 4.6; HW).

use agx_hw::format::Format;
use agx_hw::launcher::Samples;
use agx_hw::tile::Layout as TileLayout;
use ash::vk;
use mesa_nir::{
    Attachment, Blend, BlendEquation, BlendFactor, BlendOp, ColourFormat, LogicOp, TileInput,
};

use super::refuse;
use crate::error::{VkResult, record};
use crate::image::format;
use crate::rendering::{AttachmentFormats, MAX_COLOUR};

/// The colour attachments of a pipeline in the tile.
pub(super) struct Targets<'a> {
    formats: &'a AttachmentFormats,
    /// By place in the tile.
    colour: Vec<Option<Format>>,
    pub(super) tile: TileLayout,
}

impl<'a> Targets<'a> {
    /// # Errors
    /// When the hardware has no such attachments, or no tile for them.
    pub(super) fn new(formats: &'a AttachmentFormats, samples: Samples) -> VkResult<Targets<'a>> {
        let one = |format: &vk::Format| match *format {
            vk::Format::UNDEFINED => Ok(None),
            other => match format::single(other) {
                Some(format) if format.tile_word().is_some() => Ok(Some(format)),
                _ => refuse(&format_args!("{other:?} is no colour attachment")),
            },
        };
        let colour: Vec<_> = formats.tile().iter().map(one).collect::<VkResult<_>>()?;
        let tile = TileLayout::new(&colour, samples).map_err(record)?;
        Ok(Targets {
            formats,
            colour,
            tile,
        })
    }

    /// What is at a place in the tile: its format and its first word.
    fn at(&self, place: usize) -> VkResult<Option<(ColourFormat, u8)>> {
        let placed = self.tile.attachments().get(place).copied().flatten();
        let (Some(Some(format)), Some(placed)) = (self.colour.get(place), placed) else {
            return Ok(None);
        };
        match agx_compiler::colour_format(*format) {
            Some(of) => Ok(Some((of, placed.offset / 4))),
            None => refuse(&format_args!("no tile format of {}", format.name())),
        }
    }

    /// Where the attachments lie in the tile, and how they blend: by the location of the fragment shader's
    /// output. Without locations it is the attachment's number.
    ///
    /// # Errors
    /// When there is no tile format.
    pub(super) fn attachments(
        &self,
        states: &[vk::PipelineColorBlendAttachmentState],
        locations: Option<&[u32]>,
    ) -> VkResult<[Option<Attachment>; MAX_COLOUR]> {
        let mut all = [None; MAX_COLOUR];
        for at in 0..self.formats.colour.len() {
            let Some(place) = self.formats.place(at) else {
                continue;
            };
            let Some((format, word)) = self.at(place)? else {
                continue;
            };
            let location = match locations {
                None => at,
                // `ATTACHMENT_UNUSED` is none.
                Some(locations) => locations.get(at).map_or(usize::MAX, |to| *to as usize),
            };
            let Some(to) = all.get_mut(location) else {
                continue;
            };
            let state = states.get(at);
            *to = Some(Attachment {
                format,
                word,
                write_mask: state.map_or(0xf, |state| state.color_write_mask.as_raw() as u8 & 0xf),
                blend: state
                    .filter(|state| state.blend_enable == vk::TRUE)
                    .map(|state| Blend {
                        colour: BlendEquation {
                            op: blend_op(state.color_blend_op),
                            src: blend_factor(state.src_color_blend_factor),
                            dst: blend_factor(state.dst_color_blend_factor),
                        },
                        alpha: BlendEquation {
                            op: blend_op(state.alpha_blend_op),
                            src: blend_factor(state.src_alpha_blend_factor),
                            dst: blend_factor(state.dst_alpha_blend_factor),
                        },
                    }),
            });
        }
        Ok(all)
    }

    /// The input attachments that are in the tile.
    ///
    /// # Errors
    /// When there is no tile format.
    pub(super) fn inputs(&self) -> VkResult<Vec<TileInput>> {
        let mut all = Vec::new();
        for input in self.formats.merged.iter().flat_map(|merged| &merged.inputs) {
            if let Some((format, word)) = self.at(input.place.into())? {
                all.push(TileInput {
                    index: input.index,
                    format,
                    word,
                });
            }
        }
        Ok(all)
    }

    /// Whether fragments that write some attachments leave something of what is in the tile already: hardware
    /// must shade what they cover, too (graphics, 6.5: the pass type; HW).
    pub(super) fn shows_below(&self, written: &[Option<Attachment>; MAX_COLOUR]) -> bool {
        let merged = self.formats.merged.as_ref();
        let drawn = merged.map_or(u8::MAX, |merged| merged.drawn);
        let is_covered = |word: u8| {
            written.iter().flatten().any(|attachment| {
                let all = (1u8 << attachment.format.components) - 1;
                attachment.word == word && attachment.write_mask & all == all
            })
        };
        let mut there = (0..).zip(self.tile.attachments());
        there.any(|(place, attachment)| {
            drawn >> place & 1 == 1
                && attachment.is_some_and(|attachment| !is_covered(attachment.offset / 4))
        })
    }
}

fn blend_op(op: vk::BlendOp) -> BlendOp {
    match op {
        vk::BlendOp::SUBTRACT => BlendOp::Subtract,
        vk::BlendOp::REVERSE_SUBTRACT => BlendOp::ReverseSubtract,
        vk::BlendOp::MIN => BlendOp::Min,
        vk::BlendOp::MAX => BlendOp::Max,
        _ => BlendOp::Add,
    }
}

fn blend_factor(factor: vk::BlendFactor) -> BlendFactor {
    use vk::BlendFactor as F;
    match factor {
        F::ONE => BlendFactor::One,
        F::SRC_COLOR => BlendFactor::SrcColour,
        F::ONE_MINUS_SRC_COLOR => BlendFactor::OneMinusSrcColour,
        F::DST_COLOR => BlendFactor::DstColour,
        F::ONE_MINUS_DST_COLOR => BlendFactor::OneMinusDstColour,
        F::SRC_ALPHA => BlendFactor::SrcAlpha,
        F::ONE_MINUS_SRC_ALPHA => BlendFactor::OneMinusSrcAlpha,
        F::DST_ALPHA => BlendFactor::DstAlpha,
        F::ONE_MINUS_DST_ALPHA => BlendFactor::OneMinusDstAlpha,
        F::CONSTANT_COLOR => BlendFactor::ConstantColour,
        F::ONE_MINUS_CONSTANT_COLOR => BlendFactor::OneMinusConstantColour,
        F::CONSTANT_ALPHA => BlendFactor::ConstantAlpha,
        F::ONE_MINUS_CONSTANT_ALPHA => BlendFactor::OneMinusConstantAlpha,
        F::SRC_ALPHA_SATURATE => BlendFactor::SrcAlphaSaturate,
        F::SRC1_COLOR => BlendFactor::Src1Colour,
        F::ONE_MINUS_SRC1_COLOR => BlendFactor::OneMinusSrc1Colour,
        F::SRC1_ALPHA => BlendFactor::Src1Alpha,
        F::ONE_MINUS_SRC1_ALPHA => BlendFactor::OneMinusSrc1Alpha,
        _ => BlendFactor::Zero,
    }
}

pub(super) fn logic_op(op: vk::LogicOp) -> LogicOp {
    match op {
        vk::LogicOp::AND => LogicOp::And,
        vk::LogicOp::AND_REVERSE => LogicOp::AndReverse,
        vk::LogicOp::COPY => LogicOp::Copy,
        vk::LogicOp::AND_INVERTED => LogicOp::AndInverted,
        vk::LogicOp::NO_OP => LogicOp::NoOp,
        vk::LogicOp::XOR => LogicOp::Xor,
        vk::LogicOp::OR => LogicOp::Or,
        vk::LogicOp::NOR => LogicOp::Nor,
        vk::LogicOp::EQUIVALENT => LogicOp::Equivalent,
        vk::LogicOp::INVERT => LogicOp::Invert,
        vk::LogicOp::OR_REVERSE => LogicOp::OrReverse,
        vk::LogicOp::COPY_INVERTED => LogicOp::CopyInverted,
        vk::LogicOp::OR_INVERTED => LogicOp::OrInverted,
        vk::LogicOp::NAND => LogicOp::Nand,
        vk::LogicOp::SET => LogicOp::Set,
        _ => LogicOp::Clear,
    }
}
