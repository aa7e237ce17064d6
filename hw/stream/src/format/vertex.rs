// SPDX-License-Identifier: MIT
//! Formats of vertex attributes.
//!
//! Hardware has no vertex fetch: shaders load attributes as words and convert them (graphics, 4.6; HW,
//! ISA part 3, 5.1). So these formats have no codes; what a compiler needs is where components lie and how
//! they are to be read.

/// How a component is to be read (ISA part 3, 5.1; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VertexNumeric {
    /// 0..1.
    Unorm,
    /// -1..1.
    Snorm,
    /// Unsigned, as float.
    Uscaled,
    /// Signed, as float.
    Sscaled,
    /// Unsigned.
    Uint,
    /// Signed.
    Sint,
    /// Floating point of 32, 16, 11 or 10 bits; the last two have no sign.
    Float,
}

impl VertexNumeric {
    /// Whether shaders see integers.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self, VertexNumeric::Uint | VertexNumeric::Sint)
    }
}

/// Where a component lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Component {
    /// Bits below it.
    pub first: u8,
    /// Its bits.
    pub bits: u8,
}

struct Row {
    name: &'static str,
    number: u32,
    numeric: VertexNumeric,
    components: &'static [Component],
}

/// The table: variant, name, number in Vulkan, reading, and for red, green, blue and alpha `first:bits`.
macro_rules! formats {
    ($($variant:ident $name:literal $number:literal $numeric:ident [$($first:literal:$bits:literal)*];)*) => {
        /// A format of vertex attributes, named as Vulkan names it: one to four components of 8, 16 or 32
        /// bits, or of a packed word.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum VertexFormat {
            $(#[doc = concat!("`VK_FORMAT_", $name, "`")] $variant,)*
        }

        impl VertexFormat {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [VertexFormat] = &[$(VertexFormat::$variant),*];

            /// The format with this `VkFormat` number; `None` when attributes cannot have it.
            #[must_use]
            pub const fn from_vulkan(number: u32) -> Option<VertexFormat> {
                match number {
                    $($number => Some(VertexFormat::$variant),)*
                    _ => None,
                }
            }

            const fn row(self) -> Row {
                match self {
                    $(VertexFormat::$variant => Row {
                        name: $name,
                        number: $number,
                        numeric: VertexNumeric::$numeric,
                        components: &[$(Component { first: $first, bits: $bits }),*],
                    },)*
                }
            }
        }
    };
}

formats! {
    R8Unorm                  "R8_UNORM"                     9 Unorm   [0:8];
    R8Snorm                  "R8_SNORM"                    10 Snorm   [0:8];
    R8Uscaled                "R8_USCALED"                  11 Uscaled [0:8];
    R8Sscaled                "R8_SSCALED"                  12 Sscaled [0:8];
    R8Uint                   "R8_UINT"                     13 Uint    [0:8];
    R8Sint                   "R8_SINT"                     14 Sint    [0:8];
    R8G8Unorm                "R8G8_UNORM"                  16 Unorm   [0:8 8:8];
    R8G8Snorm                "R8G8_SNORM"                  17 Snorm   [0:8 8:8];
    R8G8Uscaled              "R8G8_USCALED"                18 Uscaled [0:8 8:8];
    R8G8Sscaled              "R8G8_SSCALED"                19 Sscaled [0:8 8:8];
    R8G8Uint                 "R8G8_UINT"                   20 Uint    [0:8 8:8];
    R8G8Sint                 "R8G8_SINT"                   21 Sint    [0:8 8:8];
    R8G8B8Unorm              "R8G8B8_UNORM"                23 Unorm   [0:8 8:8 16:8];
    R8G8B8Snorm              "R8G8B8_SNORM"                24 Snorm   [0:8 8:8 16:8];
    R8G8B8Uscaled            "R8G8B8_USCALED"              25 Uscaled [0:8 8:8 16:8];
    R8G8B8Sscaled            "R8G8B8_SSCALED"              26 Sscaled [0:8 8:8 16:8];
    R8G8B8Uint               "R8G8B8_UINT"                 27 Uint    [0:8 8:8 16:8];
    R8G8B8Sint               "R8G8B8_SINT"                 28 Sint    [0:8 8:8 16:8];
    B8G8R8Unorm              "B8G8R8_UNORM"                30 Unorm   [16:8 8:8 0:8];
    B8G8R8Snorm              "B8G8R8_SNORM"                31 Snorm   [16:8 8:8 0:8];
    B8G8R8Uscaled            "B8G8R8_USCALED"              32 Uscaled [16:8 8:8 0:8];
    B8G8R8Sscaled            "B8G8R8_SSCALED"              33 Sscaled [16:8 8:8 0:8];
    B8G8R8Uint               "B8G8R8_UINT"                 34 Uint    [16:8 8:8 0:8];
    B8G8R8Sint               "B8G8R8_SINT"                 35 Sint    [16:8 8:8 0:8];
    R8G8B8A8Unorm            "R8G8B8A8_UNORM"              37 Unorm   [0:8 8:8 16:8 24:8];
    R8G8B8A8Snorm            "R8G8B8A8_SNORM"              38 Snorm   [0:8 8:8 16:8 24:8];
    R8G8B8A8Uscaled          "R8G8B8A8_USCALED"            39 Uscaled [0:8 8:8 16:8 24:8];
    R8G8B8A8Sscaled          "R8G8B8A8_SSCALED"            40 Sscaled [0:8 8:8 16:8 24:8];
    R8G8B8A8Uint             "R8G8B8A8_UINT"               41 Uint    [0:8 8:8 16:8 24:8];
    R8G8B8A8Sint             "R8G8B8A8_SINT"               42 Sint    [0:8 8:8 16:8 24:8];
    B8G8R8A8Unorm            "B8G8R8A8_UNORM"              44 Unorm   [16:8 8:8 0:8 24:8];
    B8G8R8A8Snorm            "B8G8R8A8_SNORM"              45 Snorm   [16:8 8:8 0:8 24:8];
    B8G8R8A8Uscaled          "B8G8R8A8_USCALED"            46 Uscaled [16:8 8:8 0:8 24:8];
    B8G8R8A8Sscaled          "B8G8R8A8_SSCALED"            47 Sscaled [16:8 8:8 0:8 24:8];
    B8G8R8A8Uint             "B8G8R8A8_UINT"               48 Uint    [16:8 8:8 0:8 24:8];
    B8G8R8A8Sint             "B8G8R8A8_SINT"               49 Sint    [16:8 8:8 0:8 24:8];
    A8B8G8R8UnormPack32      "A8B8G8R8_UNORM_PACK32"       51 Unorm   [0:8 8:8 16:8 24:8];
    A8B8G8R8SnormPack32      "A8B8G8R8_SNORM_PACK32"       52 Snorm   [0:8 8:8 16:8 24:8];
    A8B8G8R8UscaledPack32    "A8B8G8R8_USCALED_PACK32"     53 Uscaled [0:8 8:8 16:8 24:8];
    A8B8G8R8SscaledPack32    "A8B8G8R8_SSCALED_PACK32"     54 Sscaled [0:8 8:8 16:8 24:8];
    A8B8G8R8UintPack32       "A8B8G8R8_UINT_PACK32"        55 Uint    [0:8 8:8 16:8 24:8];
    A8B8G8R8SintPack32       "A8B8G8R8_SINT_PACK32"        56 Sint    [0:8 8:8 16:8 24:8];
    A2R10G10B10UnormPack32   "A2R10G10B10_UNORM_PACK32"    58 Unorm   [20:10 10:10 0:10 30:2];
    A2R10G10B10SnormPack32   "A2R10G10B10_SNORM_PACK32"    59 Snorm   [20:10 10:10 0:10 30:2];
    A2R10G10B10UscaledPack32 "A2R10G10B10_USCALED_PACK32"  60 Uscaled [20:10 10:10 0:10 30:2];
    A2R10G10B10SscaledPack32 "A2R10G10B10_SSCALED_PACK32"  61 Sscaled [20:10 10:10 0:10 30:2];
    A2R10G10B10UintPack32    "A2R10G10B10_UINT_PACK32"     62 Uint    [20:10 10:10 0:10 30:2];
    A2R10G10B10SintPack32    "A2R10G10B10_SINT_PACK32"     63 Sint    [20:10 10:10 0:10 30:2];
    A2B10G10R10UnormPack32   "A2B10G10R10_UNORM_PACK32"    64 Unorm   [0:10 10:10 20:10 30:2];
    A2B10G10R10SnormPack32   "A2B10G10R10_SNORM_PACK32"    65 Snorm   [0:10 10:10 20:10 30:2];
    A2B10G10R10UscaledPack32 "A2B10G10R10_USCALED_PACK32"  66 Uscaled [0:10 10:10 20:10 30:2];
    A2B10G10R10SscaledPack32 "A2B10G10R10_SSCALED_PACK32"  67 Sscaled [0:10 10:10 20:10 30:2];
    A2B10G10R10UintPack32    "A2B10G10R10_UINT_PACK32"     68 Uint    [0:10 10:10 20:10 30:2];
    A2B10G10R10SintPack32    "A2B10G10R10_SINT_PACK32"     69 Sint    [0:10 10:10 20:10 30:2];
    R16Unorm                 "R16_UNORM"                   70 Unorm   [0:16];
    R16Snorm                 "R16_SNORM"                   71 Snorm   [0:16];
    R16Uscaled               "R16_USCALED"                 72 Uscaled [0:16];
    R16Sscaled               "R16_SSCALED"                 73 Sscaled [0:16];
    R16Uint                  "R16_UINT"                    74 Uint    [0:16];
    R16Sint                  "R16_SINT"                    75 Sint    [0:16];
    R16Sfloat                "R16_SFLOAT"                  76 Float   [0:16];
    R16G16Unorm              "R16G16_UNORM"                77 Unorm   [0:16 16:16];
    R16G16Snorm              "R16G16_SNORM"                78 Snorm   [0:16 16:16];
    R16G16Uscaled            "R16G16_USCALED"              79 Uscaled [0:16 16:16];
    R16G16Sscaled            "R16G16_SSCALED"              80 Sscaled [0:16 16:16];
    R16G16Uint               "R16G16_UINT"                 81 Uint    [0:16 16:16];
    R16G16Sint               "R16G16_SINT"                 82 Sint    [0:16 16:16];
    R16G16Sfloat             "R16G16_SFLOAT"               83 Float   [0:16 16:16];
    R16G16B16Unorm           "R16G16B16_UNORM"             84 Unorm   [0:16 16:16 32:16];
    R16G16B16Snorm           "R16G16B16_SNORM"             85 Snorm   [0:16 16:16 32:16];
    R16G16B16Uscaled         "R16G16B16_USCALED"           86 Uscaled [0:16 16:16 32:16];
    R16G16B16Sscaled         "R16G16B16_SSCALED"           87 Sscaled [0:16 16:16 32:16];
    R16G16B16Uint            "R16G16B16_UINT"              88 Uint    [0:16 16:16 32:16];
    R16G16B16Sint            "R16G16B16_SINT"              89 Sint    [0:16 16:16 32:16];
    R16G16B16Sfloat          "R16G16B16_SFLOAT"            90 Float   [0:16 16:16 32:16];
    R16G16B16A16Unorm        "R16G16B16A16_UNORM"          91 Unorm   [0:16 16:16 32:16 48:16];
    R16G16B16A16Snorm        "R16G16B16A16_SNORM"          92 Snorm   [0:16 16:16 32:16 48:16];
    R16G16B16A16Uscaled      "R16G16B16A16_USCALED"        93 Uscaled [0:16 16:16 32:16 48:16];
    R16G16B16A16Sscaled      "R16G16B16A16_SSCALED"        94 Sscaled [0:16 16:16 32:16 48:16];
    R16G16B16A16Uint         "R16G16B16A16_UINT"           95 Uint    [0:16 16:16 32:16 48:16];
    R16G16B16A16Sint         "R16G16B16A16_SINT"           96 Sint    [0:16 16:16 32:16 48:16];
    R16G16B16A16Sfloat       "R16G16B16A16_SFLOAT"         97 Float   [0:16 16:16 32:16 48:16];
    R32Uint                  "R32_UINT"                    98 Uint    [0:32];
    R32Sint                  "R32_SINT"                    99 Sint    [0:32];
    R32Sfloat                "R32_SFLOAT"                 100 Float   [0:32];
    R32G32Uint               "R32G32_UINT"                101 Uint    [0:32 32:32];
    R32G32Sint               "R32G32_SINT"                102 Sint    [0:32 32:32];
    R32G32Sfloat             "R32G32_SFLOAT"              103 Float   [0:32 32:32];
    R32G32B32Uint            "R32G32B32_UINT"             104 Uint    [0:32 32:32 64:32];
    R32G32B32Sint            "R32G32B32_SINT"             105 Sint    [0:32 32:32 64:32];
    R32G32B32Sfloat          "R32G32B32_SFLOAT"           106 Float   [0:32 32:32 64:32];
    R32G32B32A32Uint         "R32G32B32A32_UINT"          107 Uint    [0:32 32:32 64:32 96:32];
    R32G32B32A32Sint         "R32G32B32A32_SINT"          108 Sint    [0:32 32:32 64:32 96:32];
    R32G32B32A32Sfloat       "R32G32B32A32_SFLOAT"        109 Float   [0:32 32:32 64:32 96:32];
    B10G11R11UfloatPack32    "B10G11R11_UFLOAT_PACK32"    122 Float   [0:11 11:11 22:10];
}

impl VertexFormat {
    /// The name without `VK_FORMAT_`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The `VkFormat` number.
    #[must_use]
    pub const fn vulkan(self) -> u32 {
        self.row().number
    }

    /// How components are to be read.
    #[must_use]
    pub const fn numeric(self) -> VertexNumeric {
        self.row().numeric
    }

    /// Red, green, blue, alpha, as far as they are there. Missing ones read 0, 0, 0, 1
    /// (ISA part 3, 5.1; HW).
    #[must_use]
    pub const fn components(self) -> &'static [Component] {
        self.row().components
    }

    /// Bytes of an attribute.
    #[must_use]
    pub const fn bytes(self) -> u8 {
        let components = self.components();
        let (mut bits, mut i) = (0, 0);
        while i < components.len() {
            bits += components[i].bits;
            i += 1;
        }
        bits / 8
    }

    /// Bytes that attributes are aligned to: those of a component, or of a packed word that is none of
    /// bytes.
    #[must_use]
    pub const fn alignment(self) -> u8 {
        match self.components()[0].bits {
            8 => 1,
            16 => 2,
            _ => 4,
        }
    }
}
