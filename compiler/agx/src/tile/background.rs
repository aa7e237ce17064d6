// SPDX-License-Identifier: MIT
//! The program that fills a tile: a fragment shader without inputs (graphics, 9.2 and 9.4).
//!
//! It is written as SPIR-V and compiled as other fragment shaders are, so that colours become tile words by the same code.

use std::fmt::Write;
use std::sync::Arc;

use mesa_nir::{
    Attachment, BindingKind, BindingLayout, ColourEncoding, ColourFormat, CompilerOptions,
    FragmentLowering, MAX_ATTACHMENTS, Place, SpirvOptions, Stage, assemble, spirv_to_nir,
};

use crate::binary::ShaderBinary;
use crate::compile::compile_fragment;
use crate::error::Error;

/// Bytes of a texture's descriptor.
const DESCRIPTOR: u32 = 64;

/// What fills the tile at the start of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Background {
    /// The colour attachments.
    pub attachments: [Option<BackgroundAttachment>; MAX_ATTACHMENTS],
    /// Samples of a pixel: 1, 2 or 4.
    pub samples: u8,
    /// Loaded attachments are arrays, of which the layer that is rendered is loaded.
    pub layered: bool,
}

/// An attachment that a program fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BackgroundAttachment {
    /// What it holds.
    pub format: ColourFormat,
    /// Its first word in the record of a sample.
    pub word: u8,
    /// With what.
    pub fill: Fill,
}

/// What fills an attachment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fill {
    /// What its image holds, through a texture record without sRGB.
    Load,
    /// A constant.
    Clear,
}

/// The type of a colour.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Float,
    Int,
    Uint,
}

impl Kind {
    fn of(encoding: ColourEncoding) -> Kind {
        match encoding {
            ColourEncoding::Sint8 | ColourEncoding::Sint16 | ColourEncoding::Sint32 => Kind::Int,
            ColourEncoding::Uint8
            | ColourEncoding::Uint16
            | ColourEncoding::Uint32
            | ColourEncoding::Uint10A2 => Kind::Uint,
            _ => Kind::Float,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Kind::Float => "float",
            Kind::Int => "int",
            Kind::Uint => "uint",
        }
    }
}

impl Background {
    /// The program. [`crate::binary::Pointer::PushConstants`] points to 16 bytes for each attachment, the clear values as
    /// they come; [`crate::binary::TextureSlot`]s are of set 0 at 64 times the number of the attachment.
    ///
    /// # Errors
    /// As [`crate::compile_fragment`].
    pub fn compile(&self) -> Result<ShaderBinary, Error> {
        let words = assemble(&self.spirv())?;
        let options = Arc::new(CompilerOptions::apple9());
        let spirv = SpirvOptions::apple9_graphics();
        let shader = spirv_to_nir(&words, Stage::Fragment, "main", &[], &spirv, &options)?;
        let binding = |binding| BindingLayout {
            set: 0,
            binding,
            place: Place::Set(0),
            offset: DESCRIPTOR * binding,
            stride: DESCRIPTOR,
            count: 1,
            kind: BindingKind::Texture,
        };
        let attachment = |a: BackgroundAttachment| {
            // What is loaded is encoded already.
            let encoding = match (a.format.encoding, a.fill) {
                (ColourEncoding::Srgb8, Fill::Load) => ColourEncoding::Unorm8,
                (encoding, _) => encoding,
            };
            Attachment {
                format: ColourFormat {
                    encoding,
                    ..a.format
                },
                word: a.word,
                write_mask: 15,
                blend: None,
            }
        };
        let lowering = FragmentLowering {
            bindings: (0..MAX_ATTACHMENTS as u32).map(binding).collect(),
            samples: self.samples,
            attachments: self.attachments.map(|a| a.map(attachment)),
            full_coverage: true,
            ..FragmentLowering::default()
        };
        compile_fragment(shader, &lowering, None)
    }

    fn filled(&self) -> impl Iterator<Item = (usize, BackgroundAttachment)> {
        let all = self.attachments.into_iter().enumerate();
        all.filter_map(|(i, a)| Some((i, a?)))
    }

    /// The program in SPIR-V assembly.
    fn spirv(&self) -> String {
        let loads = self.filled().any(|(_, a)| a.fill == Fill::Load);
        let (ms, per_sample) = (u32::from(self.samples > 1), self.samples > 1 && loads);
        let layered = self.layered && loads;
        let mut head = String::from("OpCapability Shader\n");
        let mut types = String::from(
            "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%float = OpTypeFloat 32\n%int = OpTypeInt 32 1\n\
             %uint = OpTypeInt 32 0\n%v2int = OpTypeVector %int 2\n%v3int = OpTypeVector %int 3\n\
             %v4float = OpTypeVector %float 4\n%v4int = OpTypeVector %int 4\n%v4uint = OpTypeVector %uint 4\n\
             %int_0 = OpConstant %int 0\n%in_v4float = OpTypePointer Input %v4float\n\
             %in_int = OpTypePointer Input %int\n%fragcoord = OpVariable %in_v4float Input\n",
        );
        let mut names = String::from("OpDecorate %fragcoord BuiltIn FragCoord\n");
        let mut body = String::new();
        let mut interface = String::from(" %fragcoord");
        if per_sample {
            head.push_str("OpCapability SampleRateShading\n");
            interface.push_str(" %sample");
            names.push_str("OpDecorate %sample BuiltIn SampleId\nOpDecorate %sample Flat\n");
            types.push_str("%sample = OpVariable %in_int Input\n");
            body.push_str("%s = OpLoad %int %sample\n");
        }
        if layered {
            head.push_str("OpCapability Geometry\n");
            interface.push_str(" %layer");
            names.push_str("OpDecorate %layer BuiltIn Layer\nOpDecorate %layer Flat\n");
            types.push_str("%layer = OpVariable %in_int Input\n");
            body.push_str("%l = OpLoad %int %layer\n");
        }
        if loads {
            body.push_str(
                "%place = OpLoad %v4float %fragcoord\n%whole = OpConvertFToS %v4int %place\n\
                 %xy = OpVectorShuffle %v2int %whole %whole 0 1\n",
            );
            if layered {
                body.push_str("%at = OpCompositeConstruct %v3int %xy %l\n");
            }
        }
        let clears: Vec<usize> = self
            .filled()
            .filter(|(_, a)| a.fill == Fill::Clear)
            .map(|(i, _)| i)
            .collect();
        self.declare_clears(&clears, &mut names, &mut types, &mut interface);
        let mut kinds: Vec<Kind> = self
            .filled()
            .map(|(_, a)| Kind::of(a.format.encoding))
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            let kind = kind.name();
            let _ = write!(
                types,
                "%out_{kind} = OpTypePointer Output %v4{kind}\n\
                 %image_{kind} = OpTypeImage %{kind} 2D 0 {} {ms} 1 Unknown\n\
                 %p_image_{kind} = OpTypePointer UniformConstant %image_{kind}\n",
                u32::from(layered)
            );
        }
        for (i, a) in self.filled() {
            let kind = Kind::of(a.format.encoding).name();
            let _ = write!(interface, " %o{i}");
            let _ = writeln!(names, "OpDecorate %o{i} Location {i}");
            let _ = writeln!(types, "%o{i} = OpVariable %out_{kind} Output");
            match a.fill {
                Fill::Load => {
                    let at = if layered { "%at" } else { "%xy" };
                    let operands = if per_sample {
                        "Sample %s"
                    } else {
                        "Lod %int_0"
                    };
                    let _ = write!(interface, " %t{i}");
                    let _ = write!(
                        names,
                        "OpDecorate %t{i} DescriptorSet 0\nOpDecorate %t{i} Binding {i}\n"
                    );
                    let _ = writeln!(types, "%t{i} = OpVariable %p_image_{kind} UniformConstant");
                    let _ = write!(
                        body,
                        "%i{i} = OpLoad %image_{kind} %t{i}\n\
                         %c{i} = OpImageFetch %v4{kind} %i{i} {at} {operands}\n"
                    );
                }
                Fill::Clear => {
                    let _ = write!(
                        body,
                        "%q{i} = OpAccessChain %p_colour %clears %member_{i}\n\
                         %w{i} = OpLoad %v4uint %q{i}\n%c{i} = Op{} %v4{kind} %w{i}\n",
                        if kind == "uint" {
                            "CopyObject"
                        } else {
                            "Bitcast"
                        }
                    );
                }
            }
            let _ = writeln!(body, "OpStore %o{i} %c{i}");
        }
        format!(
            "{head}OpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %main \"main\"{interface}\n\
             OpExecutionMode %main OriginUpperLeft\n{names}{types}\
             %main = OpFunction %void None %fn\n%entry = OpLabel\n{body}OpReturn\nOpFunctionEnd\n"
        )
    }

    /// The block of clear values.
    fn declare_clears(
        &self,
        clears: &[usize],
        names: &mut String,
        types: &mut String,
        interface: &mut String,
    ) {
        let Some(last) = clears.last() else {
            return;
        };
        interface.push_str(" %clears");
        names.push_str("OpDecorate %block Block\n");
        for i in 0..=*last {
            let _ = writeln!(names, "OpMemberDecorate %block {i} Offset {}", 16 * i);
            let _ = writeln!(types, "%member_{i} = OpConstant %int {i}");
        }
        let _ = write!(
            types,
            "%block = OpTypeStruct{}\n%p_block = OpTypePointer PushConstant %block\n\
             %p_colour = OpTypePointer PushConstant %v4uint\n%clears = OpVariable %p_block PushConstant\n",
            " %v4uint".repeat(last + 1)
        );
    }
}
