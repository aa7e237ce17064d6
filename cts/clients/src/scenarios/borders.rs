// SPDX-License-Identifier: MIT
//! What is outside of textures: border colours of samplers' own, and views that swizzle them.

use ash::vk;

use super::scenario;
use super::textures::{Kind, TEXEL, WEIGHTED, Walk, check, text};
use crate::image::{Model, Shape};
use crate::resources::{Probe, Resource};
use crate::sampling::{Sampling, Texture};
use crate::scenario::Scenario;
use crate::scope::Scope;
use crate::texel::{self, Coding};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("borders.fixed", fixed),
    scenario("borders.custom", custom),
    scenario("borders.custom_integers", custom_integers),
    scenario("borders.custom_solid", custom_solid),
    scenario("borders.swizzled", swizzled),
    scenario("borders.swizzled_custom", swizzled_custom),
];

const fn coding(format: vk::Format, kind: texel::Kind, fields: &'static [(usize, u32)]) -> Coding {
    Coding {
        format,
        kind,
        fields,
    }
}

const BYTES: &[(usize, u32)] = &[(0, 8), (1, 8), (2, 8), (3, 8)];

const FLOATS: [Coding; 7] = [
    coding(vk::Format::R8G8B8A8_UNORM, texel::Kind::Unorm, BYTES),
    coding(
        vk::Format::B8G8R8A8_UNORM,
        texel::Kind::Unorm,
        &[(2, 8), (1, 8), (0, 8), (3, 8)],
    ),
    coding(vk::Format::R8_UNORM, texel::Kind::Unorm, &[(0, 8)]),
    coding(
        vk::Format::R8G8_UNORM,
        texel::Kind::Unorm,
        &[(0, 8), (1, 8)],
    ),
    coding(
        vk::Format::B5G6R5_UNORM_PACK16,
        texel::Kind::Unorm,
        &[(0, 5), (1, 6), (2, 5)],
    ),
    coding(
        vk::Format::A2B10G10R10_UNORM_PACK32,
        texel::Kind::Unorm,
        &[(0, 10), (1, 10), (2, 10), (3, 2)],
    ),
    coding(vk::Format::R8G8B8A8_SRGB, texel::Kind::Srgb, BYTES),
];

const INTEGERS: [Coding; 6] = [
    coding(vk::Format::R8G8B8A8_UINT, texel::Kind::Uint, BYTES),
    coding(vk::Format::R8G8B8A8_SINT, texel::Kind::Sint, BYTES),
    coding(vk::Format::R16_UINT, texel::Kind::Uint, &[(0, 16)]),
    coding(
        vk::Format::R16G16_SINT,
        texel::Kind::Sint,
        &[(0, 16), (1, 16)],
    ),
    coding(
        vk::Format::R16G16B16A16_UINT,
        texel::Kind::Uint,
        &[(0, 16), (1, 16), (2, 16), (3, 16)],
    ),
    coding(vk::Format::R16_SINT, texel::Kind::Sint, &[(0, 16)]),
];

const IDENTITY: [vk::ComponentSwizzle; 4] = [vk::ComponentSwizzle::IDENTITY; 4];

fn mapping([r, g, b, a]: [vk::ComponentSwizzle; 4]) -> vk::ComponentMapping {
    vk::ComponentMapping { r, g, b, a }
}

/// What a view makes of a colour.
fn through(swizzle: [vk::ComponentSwizzle; 4], colour: [f64; 4]) -> [f64; 4] {
    std::array::from_fn(|at| match swizzle[at] {
        vk::ComponentSwizzle::ZERO => 0.0,
        vk::ComponentSwizzle::ONE => 1.0,
        vk::ComponentSwizzle::R => colour[0],
        vk::ComponentSwizzle::G => colour[1],
        vk::ComponentSwizzle::B => colour[2],
        vk::ComponentSwizzle::A => colour[3],
        _ => colour[at],
    })
}

/// A border colour: one of Vulkan's, or numbers with or without the format that they are for.
#[derive(Clone, Copy)]
enum Border {
    Fixed(vk::BorderColor),
    Custom([f64; 4], bool),
}

impl Border {
    /// As texels of a format have it: what they lack is as of any texel (Vulkan 1.3, 16.5.2, 16.6).
    fn colour(self, coding: &Coding) -> [f64; 4] {
        let all = match self {
            Border::Custom(colour, _) => colour,
            Border::Fixed(
                vk::BorderColor::FLOAT_OPAQUE_WHITE | vk::BorderColor::INT_OPAQUE_WHITE,
            ) => [1.0; 4],
            Border::Fixed(
                vk::BorderColor::FLOAT_OPAQUE_BLACK | vk::BorderColor::INT_OPAQUE_BLACK,
            ) => [0.0, 0.0, 0.0, 1.0],
            Border::Fixed(_) => [0.0; 4],
        };
        let mut colour = [0.0, 0.0, 0.0, 1.0];
        for (component, _) in coding.fields {
            colour[*component] = all[*component];
        }
        colour
    }
}

/// What is sampled and how.
struct Case<'a> {
    coding: &'a Coding,
    kind: Kind,
    border: Border,
    filter: vk::Filter,
    swizzle: [vk::ComponentSwizzle; 4],
    /// Whether the sampler is told the swizzle.
    told: bool,
}

/// Textures of formats, and programs that sample them.
struct Bordered<'s, 'g> {
    s: &'s Scope<'g>,
    probe: Probe<'s, 'g>,
}

impl<'s, 'g> Bordered<'s, 'g> {
    unsafe fn new(s: &'s Scope<'g>, coding: &Coding, kind: Kind) -> anyhow::Result<Self> {
        let sampler = match coding.kind {
            texel::Kind::Uint => format!("u{}", kind.sampler),
            texel::Kind::Sint => format!("i{}", kind.sampler),
            _ => kind.sampler.to_owned(),
        };
        let sample = format!("vec4(textureLod(t, {}, lod))", kind.place);
        let resource = Resource::Texture(vk::ImageView::null(), vk::Sampler::null());
        Ok(Bordered {
            s,
            probe: Probe::new(s, &text(&sampler, &sample), &[resource], 64)?,
        })
    }

    unsafe fn check(&self, name: &str, case: &Case<'_>) -> anyhow::Result<()> {
        let (s, coding) = (self.s, case.coding);
        let shape: Shape = case.kind.shape(coding.format, coding.bytes(), 3);
        let model = Model::new(shape, 770);
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let none = vk::ImageUsageFlags::empty();
        let image = s.filled(&model, none, case.kind.flags(), commands)?;
        let texture = Texture::new(&model, case.kind.view, |texel| coding.decode(texel));
        let view = s.view_as(image, case.kind.view, coding.format, mapping(case.swizzle))?;
        let sampling = Sampling {
            mag: case.filter,
            min: case.filter,
            address: [vk::SamplerAddressMode::CLAMP_TO_BORDER; 3],
            border: case.border.colour(coding),
            ..Sampling::default()
        };
        let mut info = sampling.info();
        let mut custom = vk::SamplerCustomBorderColorCreateInfoEXT::default();
        let mut told = vk::SamplerBorderColorComponentMappingCreateInfoEXT::default()
            .components(mapping(case.swizzle))
            .srgb(coding.kind == texel::Kind::Srgb);
        info.border_color = match case.border {
            Border::Fixed(colour) => colour,
            Border::Custom(colour, with_format) => {
                if with_format {
                    custom = custom.format(coding.format);
                }
                custom.custom_border_color = match coding.kind {
                    texel::Kind::Uint => vk::ClearColorValue {
                        uint32: colour.map(|c| c as u32),
                    },
                    texel::Kind::Sint => vk::ClearColorValue {
                        int32: colour.map(|c| c as i32),
                    },
                    _ => vk::ClearColorValue {
                        float32: colour.map(|c| c as f32),
                    },
                };
                match coding.is_integer() {
                    true => vk::BorderColor::INT_CUSTOM_EXT,
                    false => vk::BorderColor::FLOAT_CUSTOM_EXT,
                }
            }
        };
        if matches!(case.border, Border::Custom(..)) {
            info = info.push_next(&mut custom);
        }
        if case.told {
            info = info.push_next(&mut told);
        }
        let sampler = s.sampler(&info)?;
        let walk = Walk {
            more: [-0.375, 0.25, 0.0, 0.0],
            ..Walk::AROUND
        };
        let set = [Resource::Texture(view, sampler)];
        let got = self.probe.run_after(commands, &set, &walk.bytes())?;
        let expected = |x, y| {
            let sample = sampling.sample(&texture, &walk.at(x, y))?;
            Some(through(case.swizzle, sample))
        };
        let exact = case.filter == vk::Filter::NEAREST;
        let tolerance = match (coding.is_integer(), exact) {
            (true, _) => 0.0,
            (false, true) => TEXEL,
            // The curve of sRGB is steep: more than what weights are away.
            (false, false) => WEIGHTED,
        };
        check(s, name, &got, expected, tolerance, false)
    }
}

const FIXED: [[vk::BorderColor; 2]; 3] = [
    [
        vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
        vk::BorderColor::INT_TRANSPARENT_BLACK,
    ],
    [
        vk::BorderColor::FLOAT_OPAQUE_BLACK,
        vk::BorderColor::INT_OPAQUE_BLACK,
    ],
    [
        vk::BorderColor::FLOAT_OPAQUE_WHITE,
        vk::BorderColor::INT_OPAQUE_WHITE,
    ],
];

/// The three that all devices have.
unsafe fn fixed(s: &Scope<'_>) -> anyhow::Result<()> {
    for coding in FLOATS.iter().chain(&INTEGERS) {
        let bordered = Bordered::new(s, coding, Kind::FLAT)?;
        for border in FIXED {
            let border = Border::Fixed(border[usize::from(coding.is_integer())]);
            each_filter(&bordered, coding, Kind::FLAT, border, IDENTITY, false)?;
        }
    }
    Ok(())
}

unsafe fn each_filter(
    bordered: &Bordered<'_, '_>,
    coding: &Coding,
    kind: Kind,
    border: Border,
    swizzle: [vk::ComponentSwizzle; 4],
    told: bool,
) -> anyhow::Result<()> {
    for filter in [vk::Filter::NEAREST, vk::Filter::LINEAR] {
        if filter == vk::Filter::LINEAR && coding.is_integer() {
            continue;
        }
        let said = match border {
            Border::Fixed(colour) => format!("{colour:?}"),
            Border::Custom(colour, with) => format!("{colour:?} with format {with}"),
        };
        let name = format!(
            "{:?} {:?} {filter:?} {said} {swizzle:?} told {told}",
            kind.view, coding.format
        );
        let case = Case {
            coding,
            kind,
            border,
            filter,
            swizzle,
            told,
        };
        bordered.check(&name, &case)?;
    }
    Ok(())
}

/// Numbers of few bits.
const COLOURS: [[f64; 4]; 3] = [
    [0.25, 0.75, 0.5, 0.125],
    [1.0, 0.0, 0.375, 0.0],
    [0.0, 0.625, 1.0, 1.0],
];

unsafe fn custom(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::custom_border_color::NAME)?;
    for coding in &FLOATS {
        let bordered = Bordered::new(s, coding, Kind::FLAT)?;
        for colour in COLOURS {
            for with_format in [false, true] {
                // Without a format a driver cannot know where this one's components are (Vulkan 1.3, 16.1).
                let packed = coding.format == vk::Format::B5G6R5_UNORM_PACK16;
                if packed && !with_format {
                    continue;
                }
                let border = Border::Custom(colour, with_format);
                each_filter(&bordered, coding, Kind::FLAT, border, IDENTITY, false)?;
            }
        }
    }
    Ok(())
}

/// A colour that all of a format's integers can be.
fn integers(coding: &Coding, at: usize) -> [f64; 4] {
    let negative = coding.kind == texel::Kind::Sint;
    let colour = [
        [1.0, 2.0, 3.0, 4.0],
        [100.0, 0.0, 127.0, 77.0],
        [127.0, 90.0, 1.0, 0.0],
    ][at];
    let mut signed = colour;
    if negative {
        signed[0] = -colour[0];
        signed[2] = -colour[2];
    }
    signed
}

unsafe fn custom_integers(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::custom_border_color::NAME)?;
    for coding in &INTEGERS {
        let bordered = Bordered::new(s, coding, Kind::FLAT)?;
        for at in 0..3 {
            for with_format in [false, true] {
                let border = Border::Custom(integers(coding, at), with_format);
                each_filter(&bordered, coding, Kind::FLAT, border, IDENTITY, false)?;
            }
        }
    }
    Ok(())
}

/// Other kinds of textures.
unsafe fn custom_solid(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::custom_border_color::NAME)?;
    for kind in [Kind::SOLID, Kind::ROW] {
        let coding = &FLOATS[0];
        let bordered = Bordered::new(s, coding, kind)?;
        for colour in COLOURS {
            let border = Border::Custom(colour, true);
            each_filter(&bordered, coding, kind, border, IDENTITY, false)?;
        }
    }
    Ok(())
}

const SWIZZLES: [[vk::ComponentSwizzle; 4]; 3] = {
    use vk::ComponentSwizzle as C;
    [
        [C::B, C::G, C::R, C::A],
        [C::A, C::R, C::ONE, C::G],
        [C::ZERO, C::IDENTITY, C::G, C::R],
    ]
};

unsafe fn swizzled_borders(s: &Scope<'_>, custom: bool) -> anyhow::Result<()> {
    for (at, coding) in [FLOATS[0], FLOATS[3], INTEGERS[0], INTEGERS[3]]
        .iter()
        .enumerate()
    {
        let bordered = Bordered::new(s, coding, Kind::FLAT)?;
        for swizzle in SWIZZLES {
            for told in [false, true] {
                let integer = coding.is_integer();
                let border = match custom {
                    false => Border::Fixed(FIXED[1 + at % 2][usize::from(integer)]),
                    true if integer => Border::Custom(integers(coding, 0), true),
                    true => Border::Custom(COLOURS[0], true),
                };
                each_filter(&bordered, coding, Kind::FLAT, border, swizzle, told)?;
            }
        }
    }
    Ok(())
}

/// Views that swizzle, with samplers that know it and ones that do not.
unsafe fn swizzled(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::border_color_swizzle::NAME)?;
    swizzled_borders(s, false)
}

unsafe fn swizzled_custom(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::border_color_swizzle::NAME)?;
    s.gpu.needs(ash::ext::custom_border_color::NAME)?;
    swizzled_borders(s, true)
}
