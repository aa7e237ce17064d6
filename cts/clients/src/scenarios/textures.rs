// SPDX-License-Identifier: MIT
//! Sampling in fragment shaders, with all filters and address modes, compared with what Vulkan's formulas
//! give. A weight has 8 bits: results may be as far away as that makes them.

use anyhow::ensure;
use ash::vk;

use super::scenario;
use crate::image::{Model, Shape};
use crate::resources::{PROBE, Probe, Resource};
use crate::sampling::{At, Sample, Sampling, Texture, direction};
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("textures.filters_1d", filters_1d),
    scenario("textures.filters_2d", filters_2d),
    scenario("textures.filters_3d", filters_3d),
    scenario("textures.filters_cube", filters_cube),
    scenario("textures.filters_arrays", filters_arrays),
    scenario("textures.cubes_apart", cubes_apart),
    scenario("textures.cube_edges", cube_edges),
    scenario("textures.lods", lods),
    scenario("textures.lods_implicit", lods_implicit),
];

pub(super) const MODES: [vk::SamplerAddressMode; 5] = [
    vk::SamplerAddressMode::REPEAT,
    vk::SamplerAddressMode::MIRRORED_REPEAT,
    vk::SamplerAddressMode::CLAMP_TO_EDGE,
    vk::SamplerAddressMode::CLAMP_TO_BORDER,
    vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
];
pub(super) const FILTERS: [vk::Filter; 2] = [vk::Filter::NEAREST, vk::Filter::LINEAR];

/// Coordinates that depend on the pixel; all of few bits, so that they are exact.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walk {
    pub(super) base: [f32; 4],
    pub(super) dx: [f32; 4],
    pub(super) dy: [f32; 4],
    /// The level of detail of the first row and its step, which begins again after 16; a third and a
    /// fourth number for the shader.
    pub(super) more: [f32; 4],
}

impl Walk {
    /// Over all sides of what is between 0 and 1, in texels of a power of two.
    pub(super) const AROUND: Walk = Walk {
        base: [-1.498_046_9, -1.373_046_9, -0.748_046_9, 0.0],
        dx: [0.128_906_25, 0.015_625, 0.078_125, 0.0],
        dy: [0.011_718_75, 0.132_812_5, -0.035_156_25, 0.0],
        more: [-0.875, 0.25, 0.0, 0.0],
    };

    pub(super) fn bytes(&self) -> Vec<u8> {
        let all = [self.base, self.dx, self.dy, self.more].concat();
        all.iter().flat_map(|f| f.to_le_bytes()).collect()
    }

    /// Where the sample of a pixel is.
    pub(super) fn at(&self, x: usize, y: usize) -> At {
        let one = |c: usize| {
            f64::from(self.base[c])
                + x as f64 * f64::from(self.dx[c])
                + y as f64 * f64::from(self.dy[c])
        };
        At {
            coordinates: std::array::from_fn(one),
            lod: f64::from(self.more[0]) + (y & 15) as f64 * f64::from(self.more[1]),
            reference: f64::from(self.more[2]),
            offset: [0; 2],
        }
    }
}

/// A fragment shader that samples; `c` are the coordinates, `lod` is the level of detail.
pub(super) fn text(sampler: &str, sample: &str) -> String {
    format!(
        "
layout(set = 0, binding = 0) uniform {sampler} t;
layout(push_constant) uniform Walk {{ vec4 base; vec4 dx; vec4 dy; vec4 more; }};
void main() {{
    ivec2 p = ivec2(gl_FragCoord.xy);
    vec4 c = base + float(p.x) * dx + float(p.y) * dy;
    float lod = more.x + float(p.y & 15) * more.y;
    colour = {sample};
}}
"
    )
}

/// That samples are what they must be, up to a tolerance, wherever Vulkan says it. Those that must be
/// one texel are compared between drivers as bytes, too.
pub(super) fn check(
    s: &Scope<'_>,
    name: &str,
    got: &[[f32; 4]],
    expected: impl Fn(usize, usize) -> Sample,
    tolerance: f64,
    exact: bool,
) -> anyhow::Result<()> {
    let (mut said, mut bytes) = (0, Vec::new());
    for (at, pixel) in got.iter().enumerate() {
        let (x, y) = (at % PROBE as usize, at / PROBE as usize);
        let Some(expected) = expected(x, y) else {
            bytes.extend([0; 4]);
            continue;
        };
        said += 1;
        bytes.extend(pixel.map(|c| (c * 255.0).round() as u8));
        let near = pixel
            .iter()
            .zip(expected)
            .all(|(got, expected)| (f64::from(*got) - expected).abs() <= tolerance);
        ensure!(
            near,
            "{name}: {pixel:?} instead of {expected:?} at {x}, {y}"
        );
    }
    ensure!(
        said * 3 > got.len(),
        "{name}: only {said} samples are defined"
    );
    if exact {
        s.report.result(name, bytes);
    }
    Ok(())
}

/// Half a step of 8 bits: what one texel may be away.
pub(super) const TEXEL: f64 = 0.5 / 255.0;
/// Weights of 8 bits on all axes, and rounding to 8 bits on the way.
pub(super) const WEIGHTED: f64 = 4.0 / 256.0 + 2.0 / 255.0;

/// A kind of texture.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) view: vk::ImageViewType,
    pub(super) sampler: &'static str,
    /// What coordinates are.
    pub(super) place: &'static str,
    pub(super) image: vk::ImageType,
    pub(super) extent: [u32; 3],
    pub(super) layers: u32,
}

impl Kind {
    pub(super) const FLAT: Kind = Kind {
        view: vk::ImageViewType::TYPE_2D,
        sampler: "sampler2D",
        place: "c.xy",
        image: vk::ImageType::TYPE_2D,
        extent: [16, 16, 1],
        layers: 1,
    };
    pub(super) const SOLID: Kind = Kind {
        view: vk::ImageViewType::TYPE_3D,
        sampler: "sampler3D",
        place: "c.xyz",
        image: vk::ImageType::TYPE_3D,
        extent: [16, 8, 8],
        layers: 1,
    };
    pub(super) const CUBE: Kind = Kind {
        view: vk::ImageViewType::CUBE,
        sampler: "samplerCube",
        place: "c.xyz",
        image: vk::ImageType::TYPE_2D,
        extent: [16, 16, 1],
        layers: 6,
    };
    pub(super) const ROW: Kind = Kind {
        view: vk::ImageViewType::TYPE_1D,
        sampler: "sampler1D",
        place: "c.x",
        image: vk::ImageType::TYPE_1D,
        extent: [16, 1, 1],
        layers: 1,
    };

    pub(super) fn shape(&self, format: vk::Format, bytes: u32, levels: u32) -> Shape {
        Shape {
            kind: self.image,
            extent: self.extent,
            ..Shape::flat(format, bytes, 1, 1).stacked(levels, self.layers)
        }
    }

    pub(super) fn flags(&self) -> vk::ImageCreateFlags {
        match self.view {
            vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY => {
                vk::ImageCreateFlags::CUBE_COMPATIBLE
            }
            _ => vk::ImageCreateFlags::empty(),
        }
    }
}

/// A texture on the device and what it is on the CPU.
pub(super) struct Sampled {
    pub(super) view: vk::ImageView,
    pub(super) texture: Texture,
}

/// A texture of random bytes.
pub(super) unsafe fn noise(
    s: &Scope<'_>,
    kind: Kind,
    levels: u32,
    seed: u32,
) -> anyhow::Result<Sampled> {
    let model = Model::new(kind.shape(vk::Format::R8G8B8A8_UNORM, 4, levels), seed);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let none = vk::ImageUsageFlags::empty();
    let image = s.filled(&model, none, kind.flags(), commands)?;
    s.finish(commands)?;
    Ok(Sampled {
        view: s.view(image, kind.view, model.shape.aspect)?,
        texture: Texture::new(&model, kind.view, Texture::unorm),
    })
}

/// Samples with all filters and address modes, at levels of detail around those that there are.
unsafe fn filters(s: &Scope<'_>, kind: Kind, walks: &[Walk]) -> anyhow::Result<()> {
    let levels = kind.extent[0].ilog2() + 1;
    let sampled = noise(s, kind, levels, 700)?;
    let sample = format!("textureLod(t, {}, lod)", kind.place);
    let resource = Resource::Texture(sampled.view, vk::Sampler::null());
    let probe = Probe::new(s, &text(kind.sampler, &sample), &[resource], 64)?;
    for (at, mode) in MODES.into_iter().enumerate() {
        for mag in FILTERS {
            for min in FILTERS {
                for mip in [
                    vk::SamplerMipmapMode::NEAREST,
                    vk::SamplerMipmapMode::LINEAR,
                ] {
                    let sampling = Sampling {
                        mag,
                        min,
                        mip,
                        address: [mode, MODES[(at + 2) % 5], MODES[(at + 4) % 5]],
                        border: [[0.0; 4], [0.0, 0.0, 0.0, 1.0], [1.0; 4]][at % 3],
                        ..Sampling::default()
                    };
                    let sampler = s.sampler(&sampling.info())?;
                    for (number, walk) in walks.iter().enumerate() {
                        let set = [Resource::Texture(sampled.view, sampler)];
                        let got = probe.run(&set, &walk.bytes())?;
                        let name = format!(
                            "{:?} {mode:?} {mag:?} {min:?} {mip:?} walk {number}",
                            kind.view
                        );
                        let model = |x, y| sampling.sample(&sampled.texture, &walk.at(x, y));
                        let exact = mag == min
                            && mag == vk::Filter::NEAREST
                            && mip == vk::SamplerMipmapMode::NEAREST;
                        let tolerance = if exact { TEXEL } else { WEIGHTED };
                        check(s, &name, &got, model, tolerance, exact)?;
                    }
                }
            }
        }
    }
    Ok(())
}

unsafe fn filters_1d(s: &Scope<'_>) -> anyhow::Result<()> {
    filters(s, Kind::ROW, &[Walk::AROUND])
}

unsafe fn filters_2d(s: &Scope<'_>) -> anyhow::Result<()> {
    filters(s, Kind::FLAT, &[Walk::AROUND])?;
    let narrow = Kind {
        extent: [32, 4, 1],
        ..Kind::FLAT
    };
    filters(s, narrow, &[Walk::AROUND])
}

unsafe fn filters_3d(s: &Scope<'_>) -> anyhow::Result<()> {
    filters(s, Kind::SOLID, &[Walk::AROUND])
}

/// Over each face and a part of its neighbours.
pub(super) fn around_cube() -> Vec<Walk> {
    let one = |face| {
        // From -1.25 to 1.25 along either axis of the face.
        let corner = direction(face, [-1.246_093_8, -1.246_093_8]);
        let along = |s, t| {
            let (a, b) = (direction(face, [0.0, 0.0]), direction(face, [s, t]));
            [b[0] - a[0], b[1] - a[1], b[2] - a[2]]
        };
        let four = |[x, y, z]: [f64; 3]| [x as f32, y as f32, z as f32, 0.0];
        Walk {
            base: four(corner),
            dx: four(along(0.078_125, 0.003_906_25)),
            dy: four(along(0.011_718_75, 0.078_125)),
            more: Walk::AROUND.more,
        }
    };
    (0..6).map(one).collect()
}

unsafe fn filters_cube(s: &Scope<'_>) -> anyhow::Result<()> {
    filters(s, Kind::CUBE, &around_cube())
}

/// Arrays: the layer is the nearest one that there is.
unsafe fn filters_arrays(s: &Scope<'_>) -> anyhow::Result<()> {
    let mut walk = Walk::AROUND;
    // From below the first to above the last, not near to halves.
    (walk.base[2], walk.dx[2], walk.dy[2]) = (-0.875, 0.125, 0.031_25);
    let flat = Kind {
        view: vk::ImageViewType::TYPE_2D_ARRAY,
        sampler: "sampler2DArray",
        place: "c.xyz",
        layers: 3,
        ..Kind::FLAT
    };
    filters_of_layers(s, flat, &[walk], 2)?;
    let mut walk = Walk::AROUND;
    (walk.base[1], walk.dx[1], walk.dy[1]) = (-0.875, 0.125, 0.031_25);
    let row = Kind {
        view: vk::ImageViewType::TYPE_1D_ARRAY,
        sampler: "sampler1DArray",
        place: "c.xy",
        layers: 3,
        ..Kind::ROW
    };
    filters_of_layers(s, row, &[walk], 1)?;
    let cube = Kind {
        view: vk::ImageViewType::CUBE_ARRAY,
        sampler: "samplerCubeArray",
        place: "c",
        layers: 18,
        ..Kind::CUBE
    };
    let mut walks = around_cube();
    for walk in &mut walks {
        (walk.base[3], walk.dx[3], walk.dy[3]) = (-0.875, 0.125, 0.031_25);
    }
    filters_of_layers(s, cube, &walks[1..4], 3)
}

/// [`filters`] of some samplers, without samples between two layers.
unsafe fn filters_of_layers(
    s: &Scope<'_>,
    kind: Kind,
    walks: &[Walk],
    axis: usize,
) -> anyhow::Result<()> {
    let sampled = noise(s, kind, 5, 710)?;
    let sample = format!("textureLod(t, {}, lod)", kind.place);
    let resource = Resource::Texture(sampled.view, vk::Sampler::null());
    let probe = Probe::new(s, &text(kind.sampler, &sample), &[resource], 64)?;
    for (at, mode) in MODES.into_iter().enumerate() {
        for filter in FILTERS {
            let sampling = Sampling {
                mag: filter,
                min: filter,
                address: [mode, MODES[(at + 2) % 5], mode],
                border: [1.0; 4],
                ..Sampling::default()
            };
            let sampler = s.sampler(&sampling.info())?;
            for (number, walk) in walks.iter().enumerate() {
                let set = [Resource::Texture(sampled.view, sampler)];
                let got = probe.run(&set, &walk.bytes())?;
                let name = format!("{:?} {mode:?} {filter:?} walk {number}", kind.view);
                let model = |x, y| {
                    let at = walk.at(x, y);
                    let layer = at.coordinates[axis];
                    let between = ((layer - layer.floor()) - 0.5).abs() < 0.01;
                    if between {
                        None
                    } else {
                        sampling.sample(&sampled.texture, &at)
                    }
                };
                let exact = filter == vk::Filter::NEAREST;
                let tolerance = if exact { TEXEL } else { WEIGHTED };
                check(s, &name, &got, model, tolerance, exact)?;
            }
        }
    }
    Ok(())
}

/// Cubes whose faces are by themselves, with the sampler's address modes.
unsafe fn cubes_apart(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::non_seamless_cube_map::NAME)?;
    let sampled = noise(s, Kind::CUBE, 5, 720)?;
    let shader = text("samplerCube", "textureLod(t, c.xyz, lod)");
    let resource = Resource::Texture(sampled.view, vk::Sampler::null());
    let probe = Probe::new(s, &shader, &[resource], 64)?;
    for (at, mode) in MODES.into_iter().enumerate() {
        for filter in FILTERS {
            let sampling = Sampling {
                mag: filter,
                min: filter,
                address: [mode, MODES[(at + 3) % 5], mode],
                border: [1.0; 4],
                apart: true,
                ..Sampling::default()
            };
            let sampler = s.sampler(&sampling.info())?;
            for (number, walk) in around_cube().iter().enumerate() {
                let set = [Resource::Texture(sampled.view, sampler)];
                let got = probe.run(&set, &walk.bytes())?;
                let name = format!("{mode:?} {filter:?} face {number}");
                let model = |x, y| sampling.sample(&sampled.texture, &walk.at(x, y));
                let exact = filter == vk::Filter::NEAREST;
                let tolerance = if exact { TEXEL } else { WEIGHTED };
                check(s, &name, &got, model, tolerance, exact)?;
            }
        }
    }
    Ok(())
}

/// Cubes all of one colour: where two or three faces meet there is no other, whatever the sampler says of what lies
/// outside.
unsafe fn cube_edges(s: &Scope<'_>) -> anyhow::Result<()> {
    let texel = [200, 120, 40, 255];
    let array = Kind {
        view: vk::ImageViewType::CUBE_ARRAY,
        layers: 12,
        // Sizes whose last texel begins at no number of few bits.
        extent: [5, 5, 1],
        ..Kind::CUBE
    };
    let (unorm, uint) = (vk::Format::R8G8B8A8_UNORM, vk::Format::R8G8B8A8_UINT);
    for (kind, format, sampler, sample) in [
        (
            Kind::CUBE,
            unorm,
            "samplerCube",
            "textureLod(t, c.xyz, 0.0)",
        ),
        (array, unorm, "samplerCubeArray", "textureLod(t, c, 0.0)"),
        (
            array,
            uint,
            "usamplerCubeArray",
            "vec4(textureLod(t, c, 0.0)) / 255.0",
        ),
    ] {
        let mut model = Model::new(kind.shape(format, 4, 1), 1);
        let whole = model.shape.all(0);
        model.put(whole, &texel.repeat(model.shape.size() / 4));
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let none = vk::ImageUsageFlags::empty();
        let image = s.filled(&model, none, kind.flags(), commands)?;
        s.finish(commands)?;
        let view = s.view(image, kind.view, model.shape.aspect)?;
        let resource = Resource::Texture(view, vk::Sampler::null());
        let probe = Probe::new(s, &text(sampler, sample), &[resource], 64)?;
        for mode in MODES {
            for filter in FILTERS {
                if format == uint && filter == vk::Filter::LINEAR {
                    continue;
                }
                let sampling = Sampling {
                    mag: filter,
                    min: filter,
                    address: [mode; 3],
                    ..Sampling::default()
                };
                let sampler = s.sampler(&sampling.info())?;
                // A plane at a time of a lattice, of which many points are on edges and corners.
                for z in [-4.0, -1.0, 0.125, 4.0] {
                    let walk = Walk {
                        base: [-4.0, -4.0, z, 1.0],
                        dx: [0.125, 0.0, 0.0, 0.0],
                        dy: [0.0, 0.125, 0.0, 0.0],
                        more: [0.0; 4],
                    };
                    let got = probe.run(&[Resource::Texture(view, sampler)], &walk.bytes())?;
                    let name = format!("{:?} {format:?} {mode:?} {filter:?} {z}", kind.view);
                    let model = |_, _| Some(texel.map(|byte| f64::from(byte) / 255.0));
                    check(s, &name, &got, model, TEXEL, false)?;
                }
            }
        }
    }
    Ok(())
}

/// Explicit levels of detail with biases and clamps of the sampler; biases of the shader do not count.
unsafe fn lods(s: &Scope<'_>) -> anyhow::Result<()> {
    let sampled = noise(s, Kind::FLAT, 5, 730)?;
    let shader = text("sampler2D", "textureLod(t, c.xy, lod)");
    let resource = Resource::Texture(sampled.view, vk::Sampler::null());
    let probe = Probe::new(s, &shader, &[resource], 64)?;
    for (bias, low, high) in [
        (0.0, 0.0, 1000.0),
        (0.75, 0.0, 1000.0),
        (-1.25, 0.0, 1000.0),
        (3.0, 0.0, 1000.0),
        (0.0, 1.125, 1000.0),
        (0.0, 0.0, 1.625),
        (0.5, 0.875, 2.125),
        (0.0, 2.125, 2.125),
        (-4.0, 3.0, 3.0),
        (0.0, 6.0, 9.0),
    ] {
        for filter in FILTERS {
            for mip in [
                vk::SamplerMipmapMode::NEAREST,
                vk::SamplerMipmapMode::LINEAR,
            ] {
                let sampling = Sampling {
                    mag: vk::Filter::LINEAR,
                    min: filter,
                    mip,
                    bias,
                    lods: [low, high],
                    ..Sampling::default()
                };
                let sampler = s.sampler(&sampling.info())?;
                let walk = Walk::AROUND;
                let set = [Resource::Texture(sampled.view, sampler)];
                let got = probe.run(&set, &walk.bytes())?;
                let name = format!("{filter:?} {mip:?} bias {bias} from {low} to {high}");
                let model = |x, y| sampling.sample(&sampled.texture, &walk.at(x, y));
                check(s, &name, &got, model, WEIGHTED, false)?;
            }
        }
    }
    Ok(())
}

/// Levels of detail from derivatives and gradients, with biases of shader and sampler. Scales are the same
/// on both axes, where all of the formulas that Vulkan allows agree.
unsafe fn lods_implicit(s: &Scope<'_>) -> anyhow::Result<()> {
    let sampled = noise(s, Kind::FLAT, 5, 740)?;
    let resource = Resource::Texture(sampled.view, vk::Sampler::null());
    for (kind, sample, added) in [
        ("implicit", "texture(t, c.xy)", 0.0),
        ("bias", "texture(t, c.xy, 1.25)", 1.25),
        ("bias down", "texture(t, c.xy, -1.75)", -1.75),
        ("gradients", "textureGrad(t, c.xy, dx.xy, dy.xy)", 0.0),
        ("offset", "textureOffset(t, c.xy, ivec2(-3, 2))", 0.0),
        (
            "projected",
            "textureProj(t, vec4(c.xy * 2.0, 0.0, 2.0))",
            0.0,
        ),
        (
            "offset of a level",
            "textureLodOffset(t, c.xy, more.z, ivec2(5, -8))",
            0.0,
        ),
    ] {
        let probe = Probe::new(s, &text("sampler2D", sample), &[resource], 64)?;
        for (scale, turned) in [
            (1.0 / 128.0, false),
            (3.0 / 64.0, false),
            (5.0 / 64.0, true),
            (9.0 / 64.0, false),
            (19.0 / 64.0, true),
            (37.0 / 64.0, false),
        ] {
            for bias in [0.0, 0.625, -0.375] {
                let sampling = Sampling {
                    mag: vk::Filter::LINEAR,
                    address: [vk::SamplerAddressMode::REPEAT; 3],
                    bias,
                    ..Sampling::default()
                };
                let sampler = s.sampler(&sampling.info())?;
                let (along, down) = match turned {
                    false => ([scale, 0.0], [0.0, scale]),
                    true => ([0.0, scale], [-scale, 0.0]),
                };
                let lod = match kind {
                    "offset of a level" => 1.25,
                    _ => (f64::from(scale) * 16.0).log2() + added,
                };
                let walk = Walk {
                    base: [0.251_953_13, 0.126_953_13, 0.0, 0.0],
                    dx: [along[0], along[1], 0.0, 0.0],
                    dy: [down[0], down[1], 0.0, 0.0],
                    more: [0.0, 0.0, 1.25, 0.0],
                };
                let set = [Resource::Texture(sampled.view, sampler)];
                let got = probe.run(&set, &walk.bytes())?;
                let name = format!("{kind} scale {scale} turned {turned} bias {bias}");
                // Not near a choice: levels of detail may be a sixteenth away.
                let sum = lod + bias;
                if (sum.fract().abs() - 0.5).abs() < 0.07 || sum.abs() < 0.07 {
                    continue;
                }
                let model = |x, y| {
                    let mut at = walk.at(x, y);
                    at.lod = lod;
                    at.offset = match kind {
                        "offset" => [-3, 2],
                        "offset of a level" => [5, -8],
                        _ => [0, 0],
                    };
                    sampling.sample(&sampled.texture, &at)
                };
                check(s, &name, &got, model, WEIGHTED, false)?;
            }
        }
    }
    Ok(())
}
