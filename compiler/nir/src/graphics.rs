// SPDX-License-Identifier: MIT
//! How [`crate::Shader::lower_vertex`] and [`crate::Shader::lower_fragment`] lower the stages of graphics pipelines.

use crate::apple9::MesaLowering;
use crate::{BindingLayout, ComputeLowering, Error, ffi};

/// How a vertex shader is lowered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VertexLowering {
    /// Where each binding's descriptors are.
    pub bindings: Vec<BindingLayout>,
    /// Check accesses of buffers that descriptors name, as in [`ComputeLowering::robust`]. Fetches of attributes are
    /// always checked against the size in the table of vertex buffers.
    pub robust: bool,
    /// As in [`ComputeLowering::custom_border_colors`].
    pub custom_border_colors: bool,
    /// The attributes that vertex buffers give. An input that none of them names is 0, 0, 0, 1.
    pub attributes: Vec<Attribute>,
    /// What the fragment shader reads ([`FragmentInfo::varyings`](crate::program::FragmentInfo)), in its order: what the
    /// vertex shader does not write of it is 0. `None`: all that the vertex shader writes, by location and component.
    pub varyings: Option<Vec<(u8, u8)>>,
    /// Points are drawn: a shader that writes no point size exports 1.0.
    pub point_size: bool,
    /// The view that it is for, where there is more than the one: ViewIndex, and the layer.
    pub view: Option<u32>,
}

/// A vertex attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribute {
    /// The location of the shader's input.
    pub location: u8,
    /// The vertex buffer: the entry of the table.
    pub binding: u8,
    /// Bytes from the start of a vertex.
    pub offset: u32,
    /// Vulkan's number of the format.
    pub format: i32,
    /// What counts.
    pub rate: Rate,
}

/// What an attribute advances with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// The vertex.
    Vertex,
    /// The instance.
    Instance {
        /// Instances that have the same value; 0: all of them.
        divisor: u32,
    },
}

/// The most colour attachments.
pub const MAX_ATTACHMENTS: usize = ffi::CORTLAND_MOST_ATTACHMENTS as usize;

/// How a fragment shader is lowered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentLowering {
    /// Where each binding's descriptors are.
    pub bindings: Vec<BindingLayout>,
    /// As in [`ComputeLowering::robust`].
    pub robust: bool,
    /// As in [`ComputeLowering::custom_border_colors`].
    pub custom_border_colors: bool,
    /// Samples of a pixel: 1, 2 or 4.
    pub samples: u8,
    /// The colour attachments of the subpass, by output location.
    pub attachments: [Option<Attachment>; MAX_ATTACHMENTS],
    /// The input attachments that are in the tile; others are textures.
    pub inputs: Vec<TileInput>,
    /// Run the shader for each sample, whether it asks for that or not.
    pub sample_shading: bool,
    /// Coverage follows from the alpha of output 0.
    pub alpha_to_coverage: bool,
    /// Then that alpha is 1.
    pub alpha_to_one: bool,
    /// The pipeline's sample mask.
    pub sample_mask: u32,
    /// In place of blending, on attachments of integers and normalised numbers.
    pub logic_op: Option<LogicOp>,
    /// Every sample of every pixel is covered, whatever hardware says: of programs that fill whole tiles.
    pub full_coverage: bool,
    /// The view that it is for, where there is more than the one.
    pub view: Option<u32>,
}

impl Default for FragmentLowering {
    fn default() -> Self {
        Self {
            bindings: Vec::new(),
            robust: false,
            custom_border_colors: false,
            samples: 1,
            attachments: [None; MAX_ATTACHMENTS],
            inputs: Vec::new(),
            sample_shading: false,
            alpha_to_coverage: false,
            alpha_to_one: false,
            sample_mask: u32::MAX,
            logic_op: None,
            full_coverage: false,
            view: None,
        }
    }
}

/// A colour attachment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attachment {
    /// What it holds.
    pub format: ColourFormat,
    /// Its first 32-bit word in the record of a sample.
    pub word: u8,
    /// Components that are written, bit 0 = R.
    pub write_mask: u8,
    /// How it blends.
    pub blend: Option<Blend>,
}

/// An input attachment that is read in the tile, at the fragment's own pixel, as a colour attachment of the same pass of
/// the hardware. It need not be an output of the shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileInput {
    /// The input attachment index.
    pub index: u32,
    /// What it holds.
    pub format: ColourFormat,
    /// Its first 32-bit word in the record of a sample.
    pub word: u8,
}

/// What a colour attachment holds of a pixel (images, 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ColourFormat {
    /// How.
    pub encoding: ColourEncoding,
    /// Components, 1 to 4, in the order R, G, B, A.
    pub components: u8,
}

/// Define an enumeration together with the numbers that the shim has for it.
macro_rules! shim_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $number:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            const fn to_shim(self) -> u32 {
                match self { $(Self::$variant => ffi::$number,)* }
            }
        }
    };
}

shim_enum! {
    /// How the components of a colour attachment are encoded, and what of that the shader does.
    ColourEncoding {
        /// Bytes of [0, 1].
        Unorm8 = cortland_colour_CORTLAND_COLOUR_UNORM8,
        /// Bytes of [-1, 1].
        Snorm8 = cortland_colour_CORTLAND_COLOUR_SNORM8,
        /// Bytes, R, G and B encoded as sRGB says.
        Srgb8 = cortland_colour_CORTLAND_COLOUR_SRGB8,
        /// Unsigned bytes.
        Uint8 = cortland_colour_CORTLAND_COLOUR_UINT8,
        /// Signed bytes.
        Sint8 = cortland_colour_CORTLAND_COLOUR_SINT8,
        /// Unsigned, 16 bits.
        Uint16 = cortland_colour_CORTLAND_COLOUR_UINT16,
        /// Signed, 16 bits.
        Sint16 = cortland_colour_CORTLAND_COLOUR_SINT16,
        /// fp16.
        Float16 = cortland_colour_CORTLAND_COLOUR_FLOAT16,
        /// Unsigned, 32 bits.
        Uint32 = cortland_colour_CORTLAND_COLOUR_UINT32,
        /// Signed, 32 bits.
        Sint32 = cortland_colour_CORTLAND_COLOUR_SINT32,
        /// fp32.
        Float32 = cortland_colour_CORTLAND_COLOUR_FLOAT32,
        /// 16 bits of [0, 1]; fp32 in the tile.
        Unorm16 = cortland_colour_CORTLAND_COLOUR_UNORM16,
        /// 16 bits of [-1, 1]; fp32 in the tile.
        Snorm16 = cortland_colour_CORTLAND_COLOUR_SNORM16,
        /// 5, 6 and 5 bits of [0, 1]; four fp16 in the tile.
        Unorm565 = cortland_colour_CORTLAND_COLOUR_UNORM565,
        /// 5, 5, 5 and 1 bits of [0, 1]; four fp16 in the tile.
        Unorm5551 = cortland_colour_CORTLAND_COLOUR_UNORM5551,
        /// 4 bits of [0, 1]; four fp16 in the tile.
        Unorm4444 = cortland_colour_CORTLAND_COLOUR_UNORM4444,
        /// 10, 10, 10 and 2 bits of [0, 1], R in the lowest.
        A2B10G10R10Unorm = cortland_colour_CORTLAND_COLOUR_A2B10G10R10_UNORM,
        /// The same, B in the lowest.
        A2R10G10B10Unorm = cortland_colour_CORTLAND_COLOUR_A2R10G10B10_UNORM,
        /// Unsigned, 10, 10, 10 and 2 bits; four of 16 bits in the tile.
        Uint10A2 = cortland_colour_CORTLAND_COLOUR_UINT10_A2,
        /// Small floats without sign, R in the lowest bits.
        B10G11R11Float = cortland_colour_CORTLAND_COLOUR_B10G11R11_FLOAT,
    }
}

shim_enum! {
    /// A factor of blending.
    BlendFactor {
        /// 0
        Zero = cortland_factor_CORTLAND_FACTOR_ZERO,
        /// 1
        One = cortland_factor_CORTLAND_FACTOR_ONE,
        /// The source colour.
        SrcColour = cortland_factor_CORTLAND_FACTOR_SRC_COLOUR,
        /// 1 - it.
        OneMinusSrcColour = cortland_factor_CORTLAND_FACTOR_ONE_MINUS_SRC_COLOUR,
        /// The destination colour.
        DstColour = cortland_factor_CORTLAND_FACTOR_DST_COLOUR,
        /// 1 - it.
        OneMinusDstColour = cortland_factor_CORTLAND_FACTOR_ONE_MINUS_DST_COLOUR,
        /// The source alpha.
        SrcAlpha = cortland_factor_CORTLAND_FACTOR_SRC_ALPHA,
        /// 1 - it.
        OneMinusSrcAlpha = cortland_factor_CORTLAND_FACTOR_ONE_MINUS_SRC_ALPHA,
        /// The destination alpha.
        DstAlpha = cortland_factor_CORTLAND_FACTOR_DST_ALPHA,
        /// 1 - it.
        OneMinusDstAlpha = cortland_factor_CORTLAND_FACTOR_ONE_MINUS_DST_ALPHA,
        /// The constant colour.
        ConstantColour = cortland_factor_CORTLAND_FACTOR_CONSTANT_COLOUR,
        /// 1 - it.
        OneMinusConstantColour = cortland_factor_CORTLAND_FACTOR_ONE_MINUS_CONSTANT_COLOUR,
        /// The constant alpha.
        ConstantAlpha = cortland_factor_CORTLAND_FACTOR_CONSTANT_ALPHA,
        /// 1 - it.
        OneMinusConstantAlpha = cortland_factor_CORTLAND_FACTOR_ONE_MINUS_CONSTANT_ALPHA,
        /// The smaller of the source alpha and 1 - the destination alpha; of alpha: 1.
        SrcAlphaSaturate = cortland_factor_CORTLAND_FACTOR_SRC_ALPHA_SATURATE,
        /// The second source colour.
        Src1Colour = cortland_factor_CORTLAND_FACTOR_SRC1_COLOUR,
        /// 1 - it.
        OneMinusSrc1Colour = cortland_factor_CORTLAND_FACTOR_ONE_MINUS_SRC1_COLOUR,
        /// The second source alpha.
        Src1Alpha = cortland_factor_CORTLAND_FACTOR_SRC1_ALPHA,
        /// 1 - it.
        OneMinusSrc1Alpha = cortland_factor_CORTLAND_FACTOR_ONE_MINUS_SRC1_ALPHA,
    }
}

shim_enum! {
    /// An operation of blending.
    BlendOp {
        /// Source + destination, each times its factor.
        Add = cortland_blend_op_CORTLAND_BLEND_ADD,
        /// Source - destination.
        Subtract = cortland_blend_op_CORTLAND_BLEND_SUBTRACT,
        /// Destination - source.
        ReverseSubtract = cortland_blend_op_CORTLAND_BLEND_REVERSE_SUBTRACT,
        /// The smaller one; factors do not count.
        Min = cortland_blend_op_CORTLAND_BLEND_MIN,
        /// The larger one; factors do not count.
        Max = cortland_blend_op_CORTLAND_BLEND_MAX,
    }
}

shim_enum! {
    /// A logic operation of source s and destination d, in Vulkan's order.
    LogicOp {
        /// 0
        Clear = cortland_logic_op_CORTLAND_LOGIC_CLEAR,
        /// s & d
        And = cortland_logic_op_CORTLAND_LOGIC_AND,
        /// s & ~d
        AndReverse = cortland_logic_op_CORTLAND_LOGIC_AND_REVERSE,
        /// s
        Copy = cortland_logic_op_CORTLAND_LOGIC_COPY,
        /// ~s & d
        AndInverted = cortland_logic_op_CORTLAND_LOGIC_AND_INVERTED,
        /// d
        NoOp = cortland_logic_op_CORTLAND_LOGIC_NO_OP,
        /// s ^ d
        Xor = cortland_logic_op_CORTLAND_LOGIC_XOR,
        /// s | d
        Or = cortland_logic_op_CORTLAND_LOGIC_OR,
        /// ~(s | d)
        Nor = cortland_logic_op_CORTLAND_LOGIC_NOR,
        /// ~(s ^ d)
        Equivalent = cortland_logic_op_CORTLAND_LOGIC_EQUIVALENT,
        /// ~d
        Invert = cortland_logic_op_CORTLAND_LOGIC_INVERT,
        /// s | ~d
        OrReverse = cortland_logic_op_CORTLAND_LOGIC_OR_REVERSE,
        /// ~s
        CopyInverted = cortland_logic_op_CORTLAND_LOGIC_COPY_INVERTED,
        /// ~s | d
        OrInverted = cortland_logic_op_CORTLAND_LOGIC_OR_INVERTED,
        /// ~(s & d)
        Nand = cortland_logic_op_CORTLAND_LOGIC_NAND,
        /// All ones.
        Set = cortland_logic_op_CORTLAND_LOGIC_SET,
    }
}

/// How an attachment blends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blend {
    /// R, G and B.
    pub colour: BlendEquation,
    /// Alpha.
    pub alpha: BlendEquation,
}

/// What becomes of source and destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlendEquation {
    /// The operation.
    pub op: BlendOp,
    /// The source's factor.
    pub src: BlendFactor,
    /// The destination's factor.
    pub dst: BlendFactor,
}

impl BlendEquation {
    const fn to_shim(self) -> ffi::cortland_blend_equation {
        ffi::cortland_blend_equation {
            op: self.op.to_shim(),
            src: self.src.to_shim(),
            dst: self.dst.to_shim(),
        }
    }
}

/// A format of vertex attributes, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AttributeFormat {
    numeric: u32,
    components: u8,
    /// Of one component, or of the word of a packed format.
    bits: u8,
    packing: u32,
}

/// Numeric kinds in the order in which Vulkan numbers the formats of one layout, up to integers.
const NUMERICS: [u32; 6] = [
    ffi::cortland_numeric_CORTLAND_NUMERIC_UNORM,
    ffi::cortland_numeric_CORTLAND_NUMERIC_SNORM,
    ffi::cortland_numeric_CORTLAND_NUMERIC_USCALED,
    ffi::cortland_numeric_CORTLAND_NUMERIC_SSCALED,
    ffi::cortland_numeric_CORTLAND_NUMERIC_UINT,
    ffi::cortland_numeric_CORTLAND_NUMERIC_SINT,
];

impl AttributeFormat {
    /// Of Vulkan's number (Vulkan, `VkFormat`).
    fn of(format: i32) -> Option<Self> {
        const PLAIN: u32 = ffi::cortland_packing_CORTLAND_PACKING_NONE;
        const BGR: u32 = ffi::cortland_packing_CORTLAND_PACKING_BGR;
        const A2B10: u32 = ffi::cortland_packing_CORTLAND_PACKING_A2B10G10R10;
        const A2R10: u32 = ffi::cortland_packing_CORTLAND_PACKING_A2R10G10B10;
        const B10G11R11: u32 = ffi::cortland_packing_CORTLAND_PACKING_B10G11R11;
        const FLOAT: u32 = ffi::cortland_numeric_CORTLAND_NUMERIC_FLOAT;
        let format = u32::try_from(format).ok()?;
        // First number of a layout, how many follow it, components, bits, packing.
        const LAYOUTS: [(u32, u32, u8, u8, u32); 18] = [
            (9, 6, 1, 8, PLAIN),
            (16, 6, 2, 8, PLAIN),
            (23, 6, 3, 8, PLAIN),
            (30, 6, 3, 8, BGR),
            (37, 6, 4, 8, PLAIN),
            (44, 6, 4, 8, BGR),
            (51, 6, 4, 8, PLAIN),
            (58, 6, 4, 32, A2R10),
            (64, 6, 4, 32, A2B10),
            (70, 7, 1, 16, PLAIN),
            (77, 7, 2, 16, PLAIN),
            (84, 7, 3, 16, PLAIN),
            (91, 7, 4, 16, PLAIN),
            (98, 3, 1, 32, PLAIN),
            (101, 3, 2, 32, PLAIN),
            (104, 3, 3, 32, PLAIN),
            (107, 3, 4, 32, PLAIN),
            (122, 1, 3, 32, B10G11R11),
        ];
        let row = |(first, count, ..): &&(u32, u32, u8, u8, u32)| {
            (*first..*first + *count).contains(&format)
        };
        let &(first, count, components, bits, packing) = LAYOUTS.iter().find(row)?;
        let place = (format - first) as usize;
        let numeric = match (bits, count) {
            (_, 1) => FLOAT,
            (32, 3) => [NUMERICS[4], NUMERICS[5], FLOAT][place],
            _ => NUMERICS.get(place).copied().unwrap_or(FLOAT),
        };
        Some(Self {
            numeric,
            components,
            bits,
            packing,
        })
    }
}

/// What the shim reads of a lowering, and what it points into.
pub(crate) struct Memory {
    bindings: Vec<ffi::cortland_binding>,
    attributes: Vec<ffi::cortland_attribute>,
    varyings: Vec<u32>,
    inputs: Vec<ffi::cortland_tile_input>,
    vertex: ffi::cortland_vertex_lowering,
    fragment: ffi::cortland_fragment_lowering,
    robust: bool,
    custom_border_colors: bool,
}

impl VertexLowering {
    pub(crate) fn to_shim(&self) -> Result<Memory, Error> {
        let attribute = |a: &Attribute| {
            let format = AttributeFormat::of(a.format).ok_or_else(|| {
                Error::Unsupported(format!("a vertex attribute of format {}", a.format))
            })?;
            let (instanced, divisor) = match a.rate {
                Rate::Vertex => (false, 0),
                Rate::Instance { divisor } => (true, divisor),
            };
            Ok(ffi::cortland_attribute {
                location: a.location.into(),
                binding: a.binding.into(),
                offset: a.offset,
                numeric: format.numeric,
                components: format.components.into(),
                bits: format.bits.into(),
                packing: format.packing,
                instanced,
                divisor,
            })
        };
        let varyings = self.varyings.iter().flatten();
        let varyings =
            varyings.map(|(location, component)| u32::from(*location) | u32::from(*component) << 8);
        Ok(Memory {
            bindings: mesa_bindings(&self.bindings),
            attributes: self
                .attributes
                .iter()
                .map(attribute)
                .collect::<Result<_, Error>>()?,
            varyings: varyings.collect(),
            inputs: Vec::new(),
            vertex: ffi::cortland_vertex_lowering {
                has_varyings: self.varyings.is_some(),
                point_size: self.point_size,
                has_view: self.view.is_some(),
                view: self.view.unwrap_or(0),
                ..ffi::cortland_vertex_lowering::default()
            },
            fragment: ffi::cortland_fragment_lowering::default(),
            robust: self.robust,
            custom_border_colors: self.custom_border_colors,
        })
    }
}

impl FragmentLowering {
    pub(crate) fn to_shim(&self) -> Result<Memory, Error> {
        if !matches!(self.samples, 1 | 2 | 4) {
            let samples = self.samples;
            return Err(Error::Unsupported(format!("{samples} samples of a pixel")));
        }
        let attachment = |a: &Option<Attachment>| match a {
            None => ffi::cortland_attachment::default(),
            Some(a) => ffi::cortland_attachment {
                present: true,
                encoding: a.format.encoding.to_shim(),
                components: a.format.components.clamp(1, 4).into(),
                word: a.word.into(),
                write_mask: (a.write_mask & 15).into(),
                blends: a.blend.is_some(),
                colour: a.blend.map(|b| b.colour.to_shim()).unwrap_or_default(),
                alpha: a.blend.map(|b| b.alpha.to_shim()).unwrap_or_default(),
            },
        };
        let input = |input: &TileInput| ffi::cortland_tile_input {
            index: input.index,
            held: ffi::cortland_attachment {
                present: true,
                encoding: input.format.encoding.to_shim(),
                components: input.format.components.clamp(1, 4).into(),
                word: input.word.into(),
                ..ffi::cortland_attachment::default()
            },
        };
        Ok(Memory {
            bindings: mesa_bindings(&self.bindings),
            attributes: Vec::new(),
            varyings: Vec::new(),
            inputs: self.inputs.iter().map(input).collect(),
            vertex: ffi::cortland_vertex_lowering::default(),
            fragment: ffi::cortland_fragment_lowering {
                samples: self.samples.into(),
                attachments: std::array::from_fn(|i| attachment(&self.attachments[i])),
                sample_shading: self.sample_shading,
                alpha_to_coverage: self.alpha_to_coverage,
                alpha_to_one: self.alpha_to_one,
                sample_mask: self.sample_mask,
                has_logic_op: self.logic_op.is_some(),
                logic_op: self.logic_op.map_or(0, LogicOp::to_shim),
                full_coverage: self.full_coverage,
                has_view: self.view.is_some(),
                view: self.view.unwrap_or(0),
                ..ffi::cortland_fragment_lowering::default()
            },
            robust: self.robust,
            custom_border_colors: self.custom_border_colors,
        })
    }
}

fn mesa_bindings(bindings: &[BindingLayout]) -> Vec<ffi::cortland_binding> {
    let compute = ComputeLowering {
        bindings: bindings.to_vec(),
        ..ComputeLowering::default()
    };
    compute.mesa_bindings()
}

impl Memory {
    fn common(&self) -> ffi::cortland_compute_lowering {
        ffi::cortland_compute_lowering {
            bindings: self.bindings.as_ptr(),
            num_bindings: self.bindings.len(),
            robust: self.robust,
            custom_border_colors: self.custom_border_colors,
            ..ffi::cortland_compute_lowering::default()
        }
    }

    /// Which points into this.
    pub(crate) fn vertex(&mut self) -> MesaLowering {
        self.vertex.attributes = self.attributes.as_ptr();
        self.vertex.num_attributes = self.attributes.len();
        self.vertex.varyings = self.varyings.as_ptr();
        self.vertex.num_varyings = self.varyings.len();
        MesaLowering(ffi::cortland_compute_lowering {
            vertex: &raw const self.vertex,
            ..self.common()
        })
    }

    /// Which points into this.
    pub(crate) fn fragment(&mut self) -> MesaLowering {
        self.fragment.inputs = self.inputs.as_ptr();
        self.fragment.num_inputs = self.inputs.len();
        MesaLowering(ffi::cortland_compute_lowering {
            fragment: &raw const self.fragment,
            ..self.common()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_attributes() {
        let of = |format| AttributeFormat::of(format).map(|f| (f.numeric, f.components, f.bits));
        let float = ffi::cortland_numeric_CORTLAND_NUMERIC_FLOAT;
        assert_eq!(of(37), Some((NUMERICS[0], 4, 8)));
        assert_eq!(of(41), Some((NUMERICS[4], 4, 8)));
        assert_eq!(of(76), Some((float, 1, 16)));
        assert_eq!(of(97), Some((float, 4, 16)));
        assert_eq!(of(98), Some((NUMERICS[4], 1, 32)));
        assert_eq!(of(106), Some((float, 3, 32)));
        assert_eq!(of(109), Some((float, 4, 32)));
        assert_eq!(of(122), Some((float, 3, 32)));
        // sRGB, 64-bit and compressed ones are none, nor is nonsense.
        for none in [0, 15, 43, 57, 110, 121, 123, 131, -1] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
