// SPDX-License-Identifier: MIT
//! Views that see a part of an image, or see it as something else.

use ash::vk;

use super::scenario;
use super::textures::{Kind, TEXEL, check};
use crate::image::{Image, Model, Shape};
use crate::resources::{Probe, Resource};
use crate::sampling::{Sampling, Texture};
use crate::scenario::Scenario;
use crate::scope::Scope;
use crate::texel::{self, Coding};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("views.levels", levels),
    scenario("views.layers", layers),
    scenario("views.cubes", cubes),
    scenario("views.formats", formats),
    scenario("views.swizzles", swizzles),
    scenario("views.storage", storage),
];

type V = vk::ImageViewType;

/// A view of some levels and layers.
unsafe fn part(
    s: &Scope<'_>,
    image: Image,
    kind: V,
    format: vk::Format,
    levels: [u32; 2],
    layers: [u32; 2],
) -> anyhow::Result<vk::ImageView> {
    let info = vk::ImageViewCreateInfo::default()
        .image(image.handle)
        .view_type(kind)
        .format(format)
        .subresource_range(vk::ImageSubresourceRange {
            aspect_mask: image.shape.aspect,
            base_mip_level: levels[0],
            level_count: levels[1],
            base_array_layer: layers[0],
            layer_count: layers[1],
        });
    let view = s.device().create_image_view(&info, None)?;
    s.at_end(move |device| device.destroy_image_view(view, None));
    Ok(view)
}

/// An image of random bytes.
unsafe fn filled(
    s: &Scope<'_>,
    shape: Shape,
    flags: vk::ImageCreateFlags,
    usage: vk::ImageUsageFlags,
) -> anyhow::Result<(Image, Model)> {
    let model = Model::new(shape, 970);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let image = s.filled(&model, usage, flags, commands)?;
    s.finish(commands)?;
    Ok((image, model))
}

/// A fragment shader with a texture; `p` is the pixel.
fn text(sampler: &str, sample: &str) -> String {
    format!(
        "
layout(set = 0, binding = 0) uniform {sampler} t;
void main() {{
    ivec2 p = ivec2(gl_FragCoord.xy);
    colour = {sample};
}}
"
    )
}

/// What a shader sees through a view.
unsafe fn seen(
    s: &Scope<'_>,
    view: vk::ImageView,
    sampler: &str,
    sample: &str,
) -> anyhow::Result<Vec<[f32; 4]>> {
    let handle = s.sampler(&Sampling::default().info())?;
    let list = [Resource::Texture(view, handle)];
    Probe::new(s, &text(sampler, sample), &list, 0)?.run(&list, &[])
}

const NONE: vk::ImageCreateFlags = vk::ImageCreateFlags::empty();
const UNUSED: vk::ImageUsageFlags = vk::ImageUsageFlags::empty();
const BYTES: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// Views whose first level is another one; levels beyond the last are the last.
unsafe fn levels(s: &Scope<'_>) -> anyhow::Result<()> {
    let shape = Shape::flat(BYTES, 4, 64, 32).stacked(6, 1);
    let (image, model) = filled(s, shape, NONE, UNUSED)?;
    let texture = Texture::new(&model, V::TYPE_2D, Texture::unorm);
    for (first, count) in [(0, 6), (1, 5), (2, 3), (3, 1), (5, 1)] {
        let view = part(s, image, V::TYPE_2D, BYTES, [first, count], [0, 1])?;
        for (kind, sample) in [
            (
                "fetch",
                "texelFetch(t, p % textureSize(t, (p.y / 8) % COUNT), (p.y / 8) % COUNT)",
            ),
            (
                "sample",
                "textureLod(t, (vec2(p) + 0.5) / vec2(textureSize(t, min(p.y / 8, COUNT - 1))), float(p.y / 8))",
            ),
        ] {
            let sample = sample.replace("COUNT", &count.to_string());
            let got = seen(s, view, "sampler2D", &sample)?;
            let model = |x: usize, y: usize| {
                let row = (y / 8) as u32;
                let level = match kind {
                    "fetch" => first + row % count,
                    _ => first + row.min(count - 1),
                };
                let [width, height, _] = shape.texels(level);
                let at = match kind {
                    "fetch" => [x % width as usize, y % height as usize],
                    _ => [x.min(width as usize - 1), y.min(height as usize - 1)],
                };
                Some(texture.fetch(level as usize, [at[0] as i64, at[1] as i64, 0]))
            };
            let name = format!("{kind} of {count} from {first}");
            check(s, &name, &got, model, TEXEL, true)?;
        }
    }
    Ok(())
}

/// Single layers and parts of arrays.
unsafe fn layers(s: &Scope<'_>) -> anyhow::Result<()> {
    let shape = Shape::flat(BYTES, 4, 32, 32).stacked(2, 7);
    let (image, model) = filled(s, shape, NONE, UNUSED)?;
    let texture = Texture::new(&model, V::TYPE_2D_ARRAY, Texture::unorm);
    for (first, count, level) in [(0, 7, 0), (3, 1, 0), (6, 1, 1), (2, 4, 0), (4, 3, 1)] {
        let level_count = 2 - level;
        let range = ([level, level_count], [first, count]);
        let mut kinds = vec![(
            V::TYPE_2D_ARRAY,
            "sampler2DArray",
            format!(
                "texelFetch(t, ivec3(p & {}, (p.x + p.y) % {count}), 0)",
                31 >> level
            ),
        )];
        if count == 1 {
            let sample = format!("texelFetch(t, p & {}, 0)", 31 >> level);
            kinds.push((V::TYPE_2D, "sampler2D", sample));
        }
        for (kind, sampler, sample) in kinds {
            let view = part(s, image, kind, BYTES, range.0, range.1)?;
            let got = seen(s, view, sampler, &sample)?;
            let model = |x: usize, y: usize| {
                let layer = first as usize + (x + y) % count as usize;
                let mask = 31 >> level;
                let at = [x & mask, y & mask, layer].map(|v| v as i64);
                Some(texture.fetch(level as usize, at))
            };
            let name = format!("{kind:?} {count} from {first} level {level}");
            check(s, &name, &got, model, TEXEL, true)?;
        }
    }
    Ok(())
}

/// Cubes out of the layers of an array, and the array behind a cube.
unsafe fn cubes(s: &Scope<'_>) -> anyhow::Result<()> {
    let shape = Shape::flat(BYTES, 4, 32, 32).stacked(1, 20);
    let (image, model) = filled(s, shape, vk::ImageCreateFlags::CUBE_COMPATIBLE, UNUSED)?;
    let texture = Texture::new(&model, V::TYPE_2D_ARRAY, Texture::unorm);
    // The face towards +Z has s along x and t against y.
    let at = "vec3((vec2(p) + 0.5) / 16.0 - 1.0, 1.0) * vec3(1.0, -1.0, 1.0)";
    for first in [0_u32, 2, 7, 14] {
        let view = part(s, image, V::CUBE, BYTES, [0, 1], [first, 6])?;
        let got = seen(s, view, "samplerCube", &format!("textureLod(t, {at}, 0.0)"))?;
        let model =
            |x: usize, y: usize| Some(texture.fetch(0, [x as i64, y as i64, i64::from(first) + 4]));
        check(s, &format!("cube from {first}"), &got, model, TEXEL, true)?;
    }
    for first in [0_u32, 5] {
        let view = part(s, image, V::CUBE_ARRAY, BYTES, [0, 1], [first, 12])?;
        let sample = format!("textureLod(t, vec4({at}, float(p.x & 1)), 0.0)");
        let got = seen(s, view, "samplerCubeArray", &sample)?;
        let model = |x: usize, y: usize| {
            let layer = i64::from(first) + 4 + 6 * (x as i64 & 1);
            Some(texture.fetch(0, [x as i64, y as i64, layer]))
        };
        check(s, &format!("cubes from {first}"), &got, model, TEXEL, true)?;
    }
    let view = part(s, image, V::TYPE_2D_ARRAY, BYTES, [0, 1], [3, 9])?;
    let got = seen(
        s,
        view,
        "sampler2DArray",
        "texelFetch(t, ivec3(p, p.x % 9), 0)",
    )?;
    let model = |x: usize, y: usize| Some(texture.fetch(0, [x, y, 3 + x % 9].map(|v| v as i64)));
    check(s, "faces as layers", &got, model, TEXEL, true)
}

/// The same bytes in formats of the same size.
unsafe fn formats(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::Format as F;
    const EIGHT: &[(usize, u32)] = &[(0, 8), (1, 8), (2, 8), (3, 8)];
    const TURNED: &[(usize, u32)] = &[(2, 8), (1, 8), (0, 8), (3, 8)];
    const SIXTEEN: &[(usize, u32)] = &[(0, 16), (1, 16)];
    const TEN: &[(usize, u32)] = &[(0, 10), (1, 10), (2, 10), (3, 2)];
    for of in [F::R8G8B8A8_UNORM, F::R32_UINT, F::R16G16_UNORM] {
        let shape = Shape::flat(of, 4, 32, 32);
        let (image, model) = filled(s, shape, vk::ImageCreateFlags::MUTABLE_FORMAT, UNUSED)?;
        for (format, kind, fields) in [
            (F::R8G8B8A8_UNORM, texel::Kind::Unorm, EIGHT),
            (F::R8G8B8A8_UINT, texel::Kind::Uint, EIGHT),
            (F::R8G8B8A8_SRGB, texel::Kind::Srgb, EIGHT),
            (F::B8G8R8A8_UNORM, texel::Kind::Unorm, TURNED),
            (F::R16G16_UNORM, texel::Kind::Unorm, SIXTEEN),
            (F::R16G16_UINT, texel::Kind::Uint, SIXTEEN),
            (F::A2B10G10R10_UNORM_PACK32, texel::Kind::Unorm, TEN),
        ] {
            let coding = Coding {
                format,
                kind,
                fields,
            };
            let view = part(s, image, V::TYPE_2D, format, [0, 1], [0, 1])?;
            let sampler = match coding.is_integer() {
                true => "usampler2D",
                false => "sampler2D",
            };
            let got = seen(s, view, sampler, "vec4(texelFetch(t, p, 0))")?;
            let texture = Texture::new(&model, V::TYPE_2D, |texel| coding.decode(texel));
            let model = |x: usize, y: usize| Some(texture.fetch(0, [x as i64, y as i64, 0]));
            let name = format!("{of:?} as {format:?}");
            check(s, &name, &got, model, TEXEL, false)?;
        }
    }
    Ok(())
}

/// Components in other orders, zero and one.
unsafe fn swizzles(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::ComponentSwizzle as C;
    let (image, model) = filled(s, Shape::flat(BYTES, 4, 32, 32), NONE, UNUSED)?;
    let texture = Texture::new(&model, V::TYPE_2D, Texture::unorm);
    for swizzle in [
        [C::B, C::G, C::R, C::A],
        [C::R, C::R, C::R, C::ONE],
        [C::ZERO, C::ONE, C::A, C::IDENTITY],
        [C::G, C::IDENTITY, C::ZERO, C::R],
    ] {
        let [r, g, b, a] = swizzle;
        let components = vk::ComponentMapping { r, g, b, a };
        let view = s.view_as(image, V::TYPE_2D, BYTES, components)?;
        let through = |texel: [f64; 4]| -> [f64; 4] {
            std::array::from_fn(|at| match swizzle[at] {
                C::ZERO => 0.0,
                C::ONE => 1.0,
                C::R => texel[0],
                C::G => texel[1],
                C::B => texel[2],
                C::A => texel[3],
                _ => texel[at],
            })
        };
        for (name, sample) in [
            ("fetch", "texelFetch(t, p, 0)"),
            ("sample", "textureLod(t, (vec2(p) + 0.5) / 32.0, 0.0)"),
        ] {
            let got = seen(s, view, "sampler2D", sample)?;
            let model =
                |x: usize, y: usize| Some(through(texture.fetch(0, [x as i64, y as i64, 0])));
            check(s, &format!("{name} {swizzle:?}"), &got, model, TEXEL, true)?;
        }
        // A gather takes the component that the view shows in the place.
        for component in 0..4 {
            let sample = format!("textureGather(t, vec2(p | 1) / 32.0, {component})");
            let got = seen(s, view, "sampler2D", &sample)?;
            let model = |x: usize, y: usize| {
                let [x, y] = [x as i64 | 1, y as i64 | 1];
                let mut four = [0.0; 4];
                for (to, [dx, dy]) in four.iter_mut().zip([[-1, 0], [0, 0], [0, -1], [-1, -1]]) {
                    *to = through(texture.fetch(0, [x + dx, y + dy, 0]))[component];
                }
                Some(four)
            };
            let name = format!("gather {component} {swizzle:?}");
            check(s, &name, &got, model, TEXEL, true)?;
        }
    }
    Ok(())
}

/// Storage images of all kinds, read in fragment shaders.
unsafe fn storage(s: &Scope<'_>) -> anyhow::Result<()> {
    let array = |kind: Kind, view, layers| Kind {
        view,
        layers,
        ..kind
    };
    for (kind, image, load) in [
        (Kind::ROW, "image1D", "imageLoad(t, p.x & 15)"),
        (
            array(Kind::ROW, V::TYPE_1D_ARRAY, 5),
            "image1DArray",
            "imageLoad(t, ivec2(p.x & 15, p.y % 5))",
        ),
        (Kind::FLAT, "image2D", "imageLoad(t, p & 15)"),
        (
            array(Kind::FLAT, V::TYPE_2D_ARRAY, 5),
            "image2DArray",
            "imageLoad(t, ivec3(p & 15, p.y % 5))",
        ),
        (
            Kind::SOLID,
            "image3D",
            "imageLoad(t, ivec3(p.x & 15, p.y & 7, p.y >> 2))",
        ),
        (
            Kind::CUBE,
            "imageCube",
            "imageLoad(t, ivec3(p & 15, p.y % 6))",
        ),
        (
            array(Kind::CUBE, V::CUBE_ARRAY, 12),
            "imageCubeArray",
            "imageLoad(t, ivec3(p & 15, p.y % 12))",
        ),
    ] {
        let shape = kind.shape(BYTES, 4, 1);
        let (of, model) = filled(s, shape, kind.flags(), vk::ImageUsageFlags::STORAGE)?;
        let texture = Texture::new(&model, kind.view, Texture::unorm);
        let view = s.view(of, kind.view, shape.aspect)?;
        let list = [Resource::Image(view)];
        let shader = format!(
            "
layout(set = 0, binding = 0, rgba8) uniform readonly {image} t;
void main() {{
    ivec2 p = ivec2(gl_FragCoord.xy);
    colour = {load};
}}
"
        );
        let got = Probe::new(s, &shader, &list, 0)?.run(&list, &[])?;
        let expected = |x: usize, y: usize| {
            let at = match image {
                "image1D" => [x & 15, 0, 0],
                "image1DArray" => [x & 15, 0, y % 5],
                "image2D" => [x & 15, y & 15, 0],
                "image2DArray" => [x & 15, y & 15, y % 5],
                "image3D" => [x & 15, y & 7, y >> 2],
                "imageCube" => [x & 15, y & 15, y % 6],
                _ => [x & 15, y & 15, y % 12],
            };
            Some(texture.fetch(0, at.map(|v| v as i64)))
        };
        check(s, image, &got, expected, TEXEL, true)?;
    }
    Ok(())
}
