// SPDX-License-Identifier: MIT
//! The table of formats: images, 5.2, without the columns that follow from others.

use super::{Attachment, Channels, Encoding, Numeric, Swizzle};

/// A row of the table.
pub(super) struct Row {
    pub(super) name: &'static str,
    /// `VkFormat`.
    pub(super) number: u32,
    pub(super) encoding: Encoding,
    pub(super) srgb: bool,
    pub(super) swizzle: Swizzle,
    pub(super) attachment: Attachment,
    /// The codes were measured (HW), not composed (INFERRED).
    pub(super) measured: bool,
}

/// Swizzles as the table writes them.
mod swizzle {
    use super::super::Source::{A, B, G, One, R, Zero};
    use super::Swizzle;

    pub(super) const R001: Swizzle = Swizzle([R, Zero, Zero, One]);
    pub(super) const _000R: Swizzle = Swizzle([Zero, Zero, Zero, R]);
    pub(super) const RG01: Swizzle = Swizzle([R, G, Zero, One]);
    pub(super) const RGB1: Swizzle = Swizzle([R, G, B, One]);
    pub(super) const BGR1: Swizzle = Swizzle([B, G, R, One]);
    pub(super) const RGBA: Swizzle = Swizzle([R, G, B, A]);
    pub(super) const BGRA: Swizzle = Swizzle([B, G, R, A]);
    pub(super) const ABGR: Swizzle = Swizzle([A, B, G, R]);
    pub(super) const GBAR: Swizzle = Swizzle([G, B, A, R]);
}

/// The table: variant, name, number in Vulkan, channels, type, colour space, swizzle, attachment, evidence.
macro_rules! formats {
    (@space linear) => { false };
    (@space srgb) => { true };
    (@evidence HW) => { true };
    (@evidence INFERRED) => { false };
    ($($variant:ident $name:literal $number:literal $channels:ident $numeric:ident $space:tt $swizzle:ident
        $attachment:ident $evidence:tt;)*) => {
        /// A format, named as Vulkan names it (images, 5.2).
        ///
        /// What is not here cannot be sampled or stored: no 24-bit depth, no three components of 8, 16 or
        /// 32 bits, nothing scaled, no 64-bit components (images, 5.3; HW). A depth format with
        /// stencil is two images.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Format {
            $(#[doc = concat!("`VK_FORMAT_", $name, "`")] $variant,)*
        }

        impl Format {
            /// All of them, in the table's order.
            pub const ALL: &'static [Format] = &[$(Format::$variant),*];

            /// The format with this `VkFormat` number; `None` when hardware has no image of it.
            #[must_use]
            pub const fn from_vulkan(number: u32) -> Option<Format> {
                match number {
                    $($number => Some(Format::$variant),)*
                    _ => None,
                }
            }

            pub(super) const fn row(self) -> Row {
                match self {
                    $(Format::$variant => Row {
                        name: $name,
                        number: $number,
                        encoding: Encoding::of(Channels::$channels, Numeric::$numeric),
                        srgb: formats!(@space $space),
                        swizzle: swizzle::$swizzle,
                        attachment: Attachment::$attachment,
                        measured: formats!(@evidence $evidence),
                    },)*
                }
            }
        }
    };
}

formats! {
    R8Unorm                "R8_UNORM"                           9 R8           Unorm linear R001  Proven       HW;
    R8Snorm                "R8_SNORM"                          10 R8           Snorm linear R001  Unproven     HW;
    R8Uint                 "R8_UINT"                           13 R8           Uint  linear R001  Proven       HW;
    R8Sint                 "R8_SINT"                           14 R8           Sint  linear R001  Proven       HW;
    R8Srgb                 "R8_SRGB"                           15 R8           Unorm srgb   R001  Unproven     INFERRED;
    A8Unorm                "A8_UNORM"                  1000470001 R8           Unorm linear _000R Unproven     HW;
    R8G8Unorm              "R8G8_UNORM"                        16 R8G8         Unorm linear RG01  Proven       HW;
    R8G8Snorm              "R8G8_SNORM"                        17 R8G8         Snorm linear RG01  Unproven     HW;
    R8G8Uint               "R8G8_UINT"                         20 R8G8         Uint  linear RG01  Proven       HW;
    R8G8Sint               "R8G8_SINT"                         21 R8G8         Sint  linear RG01  Proven       HW;
    R8G8Srgb               "R8G8_SRGB"                         22 R8G8         Unorm srgb   RG01  Unproven     INFERRED;
    R8G8B8A8Unorm          "R8G8B8A8_UNORM"                    37 R8G8B8A8     Unorm linear RGBA  Proven       HW;
    R8G8B8A8Snorm          "R8G8B8A8_SNORM"                    38 R8G8B8A8     Snorm linear RGBA  Unproven     HW;
    R8G8B8A8Uint           "R8G8B8A8_UINT"                     41 R8G8B8A8     Uint  linear RGBA  Proven       HW;
    R8G8B8A8Sint           "R8G8B8A8_SINT"                     42 R8G8B8A8     Sint  linear RGBA  Proven       HW;
    R8G8B8A8Srgb           "R8G8B8A8_SRGB"                     43 R8G8B8A8     Unorm srgb   RGBA  Proven       HW;
    A8B8G8R8UnormPack32    "A8B8G8R8_UNORM_PACK32"             51 R8G8B8A8     Unorm linear RGBA  Proven       HW;
    A8B8G8R8SnormPack32    "A8B8G8R8_SNORM_PACK32"             52 R8G8B8A8     Snorm linear RGBA  Unproven     HW;
    A8B8G8R8UintPack32     "A8B8G8R8_UINT_PACK32"              55 R8G8B8A8     Uint  linear RGBA  Proven       HW;
    A8B8G8R8SintPack32     "A8B8G8R8_SINT_PACK32"              56 R8G8B8A8     Sint  linear RGBA  Proven       HW;
    A8B8G8R8SrgbPack32     "A8B8G8R8_SRGB_PACK32"              57 R8G8B8A8     Unorm srgb   RGBA  Proven       HW;
    B8G8R8A8Unorm          "B8G8R8A8_UNORM"                    44 R8G8B8A8     Unorm linear BGRA  Proven       HW;
    B8G8R8A8Srgb           "B8G8R8A8_SRGB"                     50 R8G8B8A8     Unorm srgb   BGRA  Proven       HW;
    R4G4B4A4UnormPack16    "R4G4B4A4_UNORM_PACK16"              2 R4G4B4A4     Unorm linear ABGR  Unproven     HW;
    B4G4R4A4UnormPack16    "B4G4R4A4_UNORM_PACK16"              3 R4G4B4A4     Unorm linear GBAR  Unproven     HW;
    A4R4G4B4UnormPack16    "A4R4G4B4_UNORM_PACK16"     1000340000 R4G4B4A4     Unorm linear BGRA  Proven       HW;
    A4B4G4R4UnormPack16    "A4B4G4R4_UNORM_PACK16"     1000340001 R4G4B4A4     Unorm linear RGBA  Proven       HW;
    R5G6B5UnormPack16      "R5G6B5_UNORM_PACK16"                4 R5G6B5       Unorm linear BGR1  Proven       HW;
    B5G6R5UnormPack16      "B5G6R5_UNORM_PACK16"                5 R5G6B5       Unorm linear RGB1  Proven       HW;
    R5G5B5A1UnormPack16    "R5G5B5A1_UNORM_PACK16"              6 A1R5G5B5     Unorm linear ABGR  Unproven     INFERRED;
    B5G5R5A1UnormPack16    "B5G5R5A1_UNORM_PACK16"              7 A1R5G5B5     Unorm linear GBAR  Unproven     INFERRED;
    A1R5G5B5UnormPack16    "A1R5G5B5_UNORM_PACK16"              8 R5G5B5A1     Unorm linear BGRA  Proven       HW;
    A1B5G5R5UnormPack16    "A1B5G5R5_UNORM_PACK16"     1000470000 R5G5B5A1     Unorm linear RGBA  Proven       HW;
    R16Unorm               "R16_UNORM"                         70 R16          Unorm linear R001  Proven       HW;
    R16Snorm               "R16_SNORM"                         71 R16          Snorm linear R001  Proven       HW;
    R16Uint                "R16_UINT"                          74 R16          Uint  linear R001  Proven       HW;
    R16Sint                "R16_SINT"                          75 R16          Sint  linear R001  Proven       HW;
    R16Sfloat              "R16_SFLOAT"                        76 R16          Float linear R001  Proven       HW;
    R16G16Unorm            "R16G16_UNORM"                      77 R16G16       Unorm linear RG01  Proven       HW;
    R16G16Snorm            "R16G16_SNORM"                      78 R16G16       Snorm linear RG01  Proven       HW;
    R16G16Uint             "R16G16_UINT"                       81 R16G16       Uint  linear RG01  Proven       HW;
    R16G16Sint             "R16G16_SINT"                       82 R16G16       Sint  linear RG01  Proven       HW;
    R16G16Sfloat           "R16G16_SFLOAT"                     83 R16G16       Float linear RG01  Proven       HW;
    R16G16B16A16Unorm      "R16G16B16A16_UNORM"                91 R16G16B16A16 Unorm linear RGBA  Proven       HW;
    R16G16B16A16Snorm      "R16G16B16A16_SNORM"                92 R16G16B16A16 Snorm linear RGBA  Proven       HW;
    R16G16B16A16Uint       "R16G16B16A16_UINT"                 95 R16G16B16A16 Uint  linear RGBA  Proven       HW;
    R16G16B16A16Sint       "R16G16B16A16_SINT"                 96 R16G16B16A16 Sint  linear RGBA  Proven       HW;
    R16G16B16A16Sfloat     "R16G16B16A16_SFLOAT"               97 R16G16B16A16 Float linear RGBA  Proven       HW;
    R32Uint                "R32_UINT"                          98 R32          Uint  linear R001  Proven       HW;
    R32Sint                "R32_SINT"                          99 R32          Sint  linear R001  Proven       HW;
    R32Sfloat              "R32_SFLOAT"                       100 R32          Float linear R001  Proven       HW;
    R32G32Uint             "R32G32_UINT"                      101 R32G32       Uint  linear RG01  Proven       HW;
    R32G32Sint             "R32G32_SINT"                      102 R32G32       Sint  linear RG01  Proven       HW;
    R32G32Sfloat           "R32G32_SFLOAT"                    103 R32G32       Float linear RG01  Proven       HW;
    R32G32B32A32Uint       "R32G32B32A32_UINT"                107 R32G32B32A32 Uint  linear RGBA  Proven       HW;
    R32G32B32A32Sint       "R32G32B32A32_SINT"                108 R32G32B32A32 Sint  linear RGBA  Proven       HW;
    R32G32B32A32Sfloat     "R32G32B32A32_SFLOAT"              109 R32G32B32A32 Float linear RGBA  Proven       HW;
    A2B10G10R10UnormPack32 "A2B10G10R10_UNORM_PACK32"          64 R10G10B10A2  Unorm linear RGBA  Proven       HW;
    A2B10G10R10UintPack32  "A2B10G10R10_UINT_PACK32"           68 R10G10B10A2  Uint  linear RGBA  Proven       HW;
    A2R10G10B10UnormPack32 "A2R10G10B10_UNORM_PACK32"          58 R10G10B10A2  Unorm linear BGRA  Proven       HW;
    A2R10G10B10UintPack32  "A2R10G10B10_UINT_PACK32"           62 R10G10B10A2  Uint  linear BGRA  Unproven     INFERRED;
    B10G11R11UfloatPack32  "B10G11R11_UFLOAT_PACK32"          122 R11G11B10    Float linear RGB1  Proven       HW;
    E5B9G9R9UfloatPack32   "E5B9G9R9_UFLOAT_PACK32"           123 R9G9B9E5     Float linear RGB1  Doubtful     HW;
    D16Unorm               "D16_UNORM"                        124 R16          Unorm linear R001  DepthStencil HW;
    D32Sfloat              "D32_SFLOAT"                       126 R32          Float linear R001  DepthStencil HW;
    S8Uint                 "S8_UINT"                          127 R8           Uint  linear R001  DepthStencil HW;
    Bc1RgbUnormBlock       "BC1_RGB_UNORM_BLOCK"              131 Bc1          Unorm linear RGB1  No           HW;
    Bc1RgbSrgbBlock        "BC1_RGB_SRGB_BLOCK"               132 Bc1          Unorm srgb   RGB1  No           HW;
    Bc1RgbaUnormBlock      "BC1_RGBA_UNORM_BLOCK"             133 Bc1          Unorm linear RGBA  No           HW;
    Bc1RgbaSrgbBlock       "BC1_RGBA_SRGB_BLOCK"              134 Bc1          Unorm srgb   RGBA  No           HW;
    Bc2UnormBlock          "BC2_UNORM_BLOCK"                  135 Bc2          Unorm linear RGBA  No           HW;
    Bc2SrgbBlock           "BC2_SRGB_BLOCK"                   136 Bc2          Unorm srgb   RGBA  No           HW;
    Bc3UnormBlock          "BC3_UNORM_BLOCK"                  137 Bc3          Unorm linear RGBA  No           HW;
    Bc3SrgbBlock           "BC3_SRGB_BLOCK"                   138 Bc3          Unorm srgb   RGBA  No           HW;
    Bc4UnormBlock          "BC4_UNORM_BLOCK"                  139 Bc4          Unorm linear R001  No           HW;
    Bc4SnormBlock          "BC4_SNORM_BLOCK"                  140 Bc4          Snorm linear R001  No           HW;
    Bc5UnormBlock          "BC5_UNORM_BLOCK"                  141 Bc5          Unorm linear RG01  No           HW;
    Bc5SnormBlock          "BC5_SNORM_BLOCK"                  142 Bc5          Snorm linear RG01  No           HW;
    Bc6HSfloatBlock        "BC6H_SFLOAT_BLOCK"                144 Bc6H         Float linear RGB1  No           HW;
    Bc6HUfloatBlock        "BC6H_UFLOAT_BLOCK"                143 Bc6HU        Float linear RGB1  No           HW;
    Bc7UnormBlock          "BC7_UNORM_BLOCK"                  145 Bc7          Unorm linear RGBA  No           HW;
    Bc7SrgbBlock           "BC7_SRGB_BLOCK"                   146 Bc7          Unorm srgb   RGBA  No           HW;
    Etc2R8G8B8UnormBlock   "ETC2_R8G8B8_UNORM_BLOCK"          147 Etc2Rgb8     Unorm linear RGB1  No           HW;
    Etc2R8G8B8SrgbBlock    "ETC2_R8G8B8_SRGB_BLOCK"           148 Etc2Rgb8     Unorm srgb   RGB1  No           HW;
    Etc2R8G8B8A1UnormBlock "ETC2_R8G8B8A1_UNORM_BLOCK"        149 Etc2Rgb8A1   Unorm linear RGBA  No           HW;
    Etc2R8G8B8A1SrgbBlock  "ETC2_R8G8B8A1_SRGB_BLOCK"         150 Etc2Rgb8A1   Unorm srgb   RGBA  No           HW;
    Etc2R8G8B8A8UnormBlock "ETC2_R8G8B8A8_UNORM_BLOCK"        151 Etc2Rgba8    Unorm linear RGBA  No           HW;
    Etc2R8G8B8A8SrgbBlock  "ETC2_R8G8B8A8_SRGB_BLOCK"         152 Etc2Rgba8    Unorm srgb   RGBA  No           HW;
    EacR11UnormBlock       "EAC_R11_UNORM_BLOCK"              153 EacR11       Unorm linear R001  No           HW;
    EacR11SnormBlock       "EAC_R11_SNORM_BLOCK"              154 EacR11       Snorm linear R001  No           HW;
    EacR11G11UnormBlock    "EAC_R11G11_UNORM_BLOCK"           155 EacRg11      Unorm linear RG01  No           HW;
    EacR11G11SnormBlock    "EAC_R11G11_SNORM_BLOCK"           156 EacRg11      Snorm linear RG01  No           HW;
    Astc4x4UnormBlock      "ASTC_4x4_UNORM_BLOCK"             157 Astc4x4      Unorm linear RGBA  No           HW;
    Astc4x4SrgbBlock       "ASTC_4x4_SRGB_BLOCK"              158 Astc4x4      Unorm srgb   RGBA  No           HW;
    Astc5x4UnormBlock      "ASTC_5x4_UNORM_BLOCK"             159 Astc5x4      Unorm linear RGBA  No           HW;
    Astc5x4SrgbBlock       "ASTC_5x4_SRGB_BLOCK"              160 Astc5x4      Unorm srgb   RGBA  No           HW;
    Astc5x5UnormBlock      "ASTC_5x5_UNORM_BLOCK"             161 Astc5x5      Unorm linear RGBA  No           HW;
    Astc5x5SrgbBlock       "ASTC_5x5_SRGB_BLOCK"              162 Astc5x5      Unorm srgb   RGBA  No           HW;
    Astc6x5UnormBlock      "ASTC_6x5_UNORM_BLOCK"             163 Astc6x5      Unorm linear RGBA  No           HW;
    Astc6x5SrgbBlock       "ASTC_6x5_SRGB_BLOCK"              164 Astc6x5      Unorm srgb   RGBA  No           HW;
    Astc6x6UnormBlock      "ASTC_6x6_UNORM_BLOCK"             165 Astc6x6      Unorm linear RGBA  No           HW;
    Astc6x6SrgbBlock       "ASTC_6x6_SRGB_BLOCK"              166 Astc6x6      Unorm srgb   RGBA  No           HW;
    Astc8x5UnormBlock      "ASTC_8x5_UNORM_BLOCK"             167 Astc8x5      Unorm linear RGBA  No           HW;
    Astc8x5SrgbBlock       "ASTC_8x5_SRGB_BLOCK"              168 Astc8x5      Unorm srgb   RGBA  No           HW;
    Astc8x6UnormBlock      "ASTC_8x6_UNORM_BLOCK"             169 Astc8x6      Unorm linear RGBA  No           HW;
    Astc8x6SrgbBlock       "ASTC_8x6_SRGB_BLOCK"              170 Astc8x6      Unorm srgb   RGBA  No           HW;
    Astc8x8UnormBlock      "ASTC_8x8_UNORM_BLOCK"             171 Astc8x8      Unorm linear RGBA  No           HW;
    Astc8x8SrgbBlock       "ASTC_8x8_SRGB_BLOCK"              172 Astc8x8      Unorm srgb   RGBA  No           HW;
    Astc10x5UnormBlock     "ASTC_10x5_UNORM_BLOCK"            173 Astc10x5     Unorm linear RGBA  No           HW;
    Astc10x5SrgbBlock      "ASTC_10x5_SRGB_BLOCK"             174 Astc10x5     Unorm srgb   RGBA  No           HW;
    Astc10x6UnormBlock     "ASTC_10x6_UNORM_BLOCK"            175 Astc10x6     Unorm linear RGBA  No           HW;
    Astc10x6SrgbBlock      "ASTC_10x6_SRGB_BLOCK"             176 Astc10x6     Unorm srgb   RGBA  No           HW;
    Astc10x8UnormBlock     "ASTC_10x8_UNORM_BLOCK"            177 Astc10x8     Unorm linear RGBA  No           HW;
    Astc10x8SrgbBlock      "ASTC_10x8_SRGB_BLOCK"             178 Astc10x8     Unorm srgb   RGBA  No           HW;
    Astc10x10UnormBlock    "ASTC_10x10_UNORM_BLOCK"           179 Astc10x10    Unorm linear RGBA  No           HW;
    Astc10x10SrgbBlock     "ASTC_10x10_SRGB_BLOCK"            180 Astc10x10    Unorm srgb   RGBA  No           HW;
    Astc12x10UnormBlock    "ASTC_12x10_UNORM_BLOCK"           181 Astc12x10    Unorm linear RGBA  No           HW;
    Astc12x10SrgbBlock     "ASTC_12x10_SRGB_BLOCK"            182 Astc12x10    Unorm srgb   RGBA  No           HW;
    Astc12x12UnormBlock    "ASTC_12x12_UNORM_BLOCK"           183 Astc12x12    Unorm linear RGBA  No           HW;
    Astc12x12SrgbBlock     "ASTC_12x12_SRGB_BLOCK"            184 Astc12x12    Unorm srgb   RGBA  No           HW;
    Astc4x4SfloatBlock     "ASTC_4x4_SFLOAT_BLOCK"     1000066000 Astc4x4      Float linear RGBA  No           HW;
    Astc5x4SfloatBlock     "ASTC_5x4_SFLOAT_BLOCK"     1000066001 Astc5x4      Float linear RGBA  No           HW;
    Astc5x5SfloatBlock     "ASTC_5x5_SFLOAT_BLOCK"     1000066002 Astc5x5      Float linear RGBA  No           HW;
    Astc6x5SfloatBlock     "ASTC_6x5_SFLOAT_BLOCK"     1000066003 Astc6x5      Float linear RGBA  No           HW;
    Astc6x6SfloatBlock     "ASTC_6x6_SFLOAT_BLOCK"     1000066004 Astc6x6      Float linear RGBA  No           HW;
    Astc8x5SfloatBlock     "ASTC_8x5_SFLOAT_BLOCK"     1000066005 Astc8x5      Float linear RGBA  No           HW;
    Astc8x6SfloatBlock     "ASTC_8x6_SFLOAT_BLOCK"     1000066006 Astc8x6      Float linear RGBA  No           HW;
    Astc8x8SfloatBlock     "ASTC_8x8_SFLOAT_BLOCK"     1000066007 Astc8x8      Float linear RGBA  No           HW;
    Astc10x5SfloatBlock    "ASTC_10x5_SFLOAT_BLOCK"    1000066008 Astc10x5     Float linear RGBA  No           HW;
    Astc10x6SfloatBlock    "ASTC_10x6_SFLOAT_BLOCK"    1000066009 Astc10x6     Float linear RGBA  No           HW;
    Astc10x8SfloatBlock    "ASTC_10x8_SFLOAT_BLOCK"    1000066010 Astc10x8     Float linear RGBA  No           HW;
    Astc10x10SfloatBlock   "ASTC_10x10_SFLOAT_BLOCK"   1000066011 Astc10x10    Float linear RGBA  No           HW;
    Astc12x10SfloatBlock   "ASTC_12x10_SFLOAT_BLOCK"   1000066012 Astc12x10    Float linear RGBA  No           HW;
    Astc12x12SfloatBlock   "ASTC_12x12_SFLOAT_BLOCK"   1000066013 Astc12x12    Float linear RGBA  No           HW;
}
