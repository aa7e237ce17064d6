// SPDX-License-Identifier: MIT
//! What Vulkan says that sampling gives (1.3, 16.5 to 16.9), in double precision: for samplers whose
//! texels and weights a test compares with those of drivers.

use ash::vk;

use crate::image::Model;

/// A texture on the CPU.
#[derive(Debug, Clone)]
pub struct Texture {
    /// How it is looked at.
    pub view: vk::ImageViewType,
    /// Sizes of levels: width, height, slices or layers.
    sizes: Vec<[i64; 3]>,
    /// Texels of levels.
    levels: Vec<Vec<[f64; 4]>>,
}

/// A sampler on the CPU.
#[derive(Debug, Clone, Copy)]
pub struct Sampling {
    /// Filter of what is larger than on the texture.
    pub mag: vk::Filter,
    /// Of what is smaller.
    pub min: vk::Filter,
    /// Of levels.
    pub mip: vk::SamplerMipmapMode,
    /// What becomes of coordinates outside.
    pub address: [vk::SamplerAddressMode; 3],
    /// Texels outside.
    pub border: [f64; 4],
    /// Added to levels of detail.
    pub bias: f64,
    /// The range of levels of detail.
    pub lods: [f64; 2],
    /// The comparison.
    pub compare: Option<vk::CompareOp>,
    /// Faces of cubes are by themselves.
    pub apart: bool,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling {
            mag: vk::Filter::NEAREST,
            min: vk::Filter::NEAREST,
            mip: vk::SamplerMipmapMode::NEAREST,
            address: [vk::SamplerAddressMode::CLAMP_TO_EDGE; 3],
            border: [0.0; 4],
            bias: 0.0,
            lods: [0.0, 1000.0],
            compare: None,
            apart: false,
        }
    }
}

/// Where a sample is taken.
#[derive(Debug, Clone, Copy)]
pub struct At {
    /// Coordinates: of arrays the last one is the layer, of cubes they are a direction.
    pub coordinates: [f64; 4],
    /// The level of detail, before bias and clamps.
    pub lod: f64,
    /// What is compared.
    pub reference: f64,
    /// Texels that are added to coordinates.
    pub offset: [i64; 2],
}

/// A sample, or that Vulkan leaves open what it is: near a choice between texels or levels.
pub type Sample = Option<[f64; 4]>;

/// How near to a choice is too near, in texels and levels.
const NEAR: f64 = 1.0 / 64.0;

impl Texture {
    /// Of a model, whose texels a function decodes.
    pub fn new(model: &Model, view: vk::ImageViewType, texel: impl Fn(&[u8]) -> [f64; 4]) -> Self {
        let shape = model.shape;
        let (mut sizes, mut levels) = (Vec::new(), Vec::new());
        for level in 0..shape.levels {
            let part = shape.all(level);
            sizes.push(part.size.map(i64::from));
            let bytes = model.part(part);
            let texels = bytes.chunks_exact(shape.element.2 as usize).map(&texel);
            levels.push(texels.collect());
        }
        Texture {
            view,
            sizes,
            levels,
        }
    }

    /// Bytes as numbers from 0 to 1.
    #[must_use]
    pub fn unorm(bytes: &[u8]) -> [f64; 4] {
        std::array::from_fn(|at| f64::from(bytes[at]) / 255.0)
    }

    fn cube(&self) -> bool {
        matches!(
            self.view,
            vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY
        )
    }

    /// Axes that are filtered.
    fn axes(&self) -> usize {
        match self.view {
            vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_1D_ARRAY => 1,
            vk::ImageViewType::TYPE_3D => 3,
            _ => 2,
        }
    }

    /// A texel that is there.
    #[must_use]
    pub fn fetch(&self, level: usize, at: [i64; 3]) -> [f64; 4] {
        let [width, height, _] = self.sizes[level];
        self.levels[level][((at[2] * height + at[1]) * width + at[0]) as usize]
    }
}

/// The place of a texel after its address mode; none is the border.
fn wrap(mode: vk::SamplerAddressMode, at: i64, size: i64) -> Option<i64> {
    let mirror = |n: i64| if n >= 0 { n } else { -(1 + n) };
    match mode {
        vk::SamplerAddressMode::REPEAT => Some(at.rem_euclid(size)),
        vk::SamplerAddressMode::MIRRORED_REPEAT => {
            Some(size - 1 - mirror(at.rem_euclid(2 * size) - size))
        }
        vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE => Some(mirror(at).min(size - 1)),
        vk::SamplerAddressMode::CLAMP_TO_BORDER => (0..size).contains(&at).then_some(at),
        _ => Some(at.clamp(0, size - 1)),
    }
}

/// A face of a cube and the place on it, from -1 to 1 (table 16.2 of Vulkan 1.3).
fn face([x, y, z]: [f64; 3]) -> (i64, [f64; 2]) {
    let [a, b, c] = [x.abs(), y.abs(), z.abs()];
    match () {
        () if c >= a && c >= b && z >= 0.0 => (4, [x / c, -y / c]),
        () if c >= a && c >= b => (5, [-x / c, -y / c]),
        () if b >= a && y >= 0.0 => (2, [x / b, z / b]),
        () if b >= a => (3, [x / b, -z / b]),
        () if x >= 0.0 => (0, [-z / a, -y / a]),
        () => (1, [z / a, -y / a]),
    }
}

/// The direction of a place on a face.
#[must_use]
pub fn direction(face: i64, [s, t]: [f64; 2]) -> [f64; 3] {
    match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    }
}

impl Sampling {
    /// The same for Vulkan.
    pub fn info(&self) -> vk::SamplerCreateInfo<'static> {
        let mut info = vk::SamplerCreateInfo::default()
            .mag_filter(self.mag)
            .min_filter(self.min)
            .mipmap_mode(self.mip)
            .address_mode_u(self.address[0])
            .address_mode_v(self.address[1])
            .address_mode_w(self.address[2])
            .mip_lod_bias(self.bias as f32)
            .min_lod(self.lods[0] as f32)
            .max_lod(self.lods[1] as f32)
            .border_color(match self.border {
                [_, _, _, 0.0] => vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
                [0.0, _, _, _] => vk::BorderColor::FLOAT_OPAQUE_BLACK,
                _ => vk::BorderColor::FLOAT_OPAQUE_WHITE,
            });
        if let Some(op) = self.compare {
            info = info.compare_enable(true).compare_op(op);
        }
        if self.apart {
            info = info.flags(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT);
        }
        info
    }

    /// A sample.
    #[must_use]
    pub fn sample(&self, texture: &Texture, at: &At) -> Sample {
        let lod = (at.lod + self.bias).clamp(self.lods[0], self.lods[1].max(self.lods[0]));
        // At a constant clamp the choice of filters is exact, elsewhere it is not near 0.
        if lod != 0.0 && lod.abs() < NEAR {
            return None;
        }
        let filter = if lod <= 0.0 { self.mag } else { self.min };
        let last = texture.levels.len() - 1;
        let lod = lod.clamp(0.0, last as f64);
        if self.mip == vk::SamplerMipmapMode::LINEAR {
            let (level, part) = (lod.floor(), lod.fract());
            let first = self.filtered(texture, level as usize, filter, at)?;
            if part == 0.0 {
                return Some(first);
            }
            let second = self.filtered(texture, level as usize + 1, filter, at)?;
            return Some(std::array::from_fn(|c| {
                first[c] * (1.0 - part) + second[c] * part
            }));
        }
        if (lod.fract() - 0.5).abs() < NEAR {
            return None;
        }
        self.filtered(texture, lod.round() as usize, filter, at)
    }

    /// The four texels of the first level that bilinear filtering would weigh, each one component, in the
    /// order of gathers.
    #[must_use]
    pub fn gather(&self, texture: &Texture, at: &At, component: usize) -> Sample {
        let (place, slice) = place(texture, 0, at)?;
        let [u, v] = [place[0] - 0.5, place[1] - 0.5];
        let near = |x: f64| (x - x.round()).abs() < NEAR;
        if near(u) || near(v) {
            return None;
        }
        let [i, j] = [
            u.floor() as i64 + at.offset[0],
            v.floor() as i64 + at.offset[1],
        ];
        let mut four = [0.0; 4];
        for (to, [di, dj]) in four.iter_mut().zip([[0, 1], [1, 1], [1, 0], [0, 0]]) {
            *to = self.texel(texture, 0, [i + di, j + dj, slice], at)?[component];
        }
        Some(four)
    }

    fn filtered(&self, texture: &Texture, level: usize, filter: vk::Filter, at: &At) -> Sample {
        let (place, slice) = place(texture, level, at)?;
        let axes = texture.axes();
        let mut base = [0, 0, slice];
        let mut weights = [0.0; 3];
        for axis in 0..axes {
            let place = place[axis] + at.offset.get(axis).map_or(0.0, |offset| *offset as f64);
            if filter == vk::Filter::LINEAR {
                base[axis] = (place - 0.5).floor() as i64;
                weights[axis] = place - 0.5 - base[axis] as f64;
            } else {
                if (place - place.round()).abs() < NEAR {
                    return None;
                }
                base[axis] = place.floor() as i64;
            }
        }
        if axes == 1 {
            base[1] = 0;
        }
        let mut sum = [0.0; 4];
        for corner in 0..1 << axes {
            let mut weight = 1.0;
            let mut texel = base;
            for axis in 0..axes {
                let upper = corner >> axis & 1;
                texel[axis] += upper;
                weight *= if upper == 1 {
                    weights[axis]
                } else {
                    1.0 - weights[axis]
                };
            }
            if weight > 0.0 {
                let value = self.texel(texture, level, texel, at)?;
                sum = std::array::from_fn(|c| sum[c] + weight * value[c]);
            }
        }
        Some(sum)
    }

    /// A texel at any place, compared if that is wanted.
    fn texel(&self, texture: &Texture, level: usize, at: [i64; 3], sample: &At) -> Sample {
        let size = texture.sizes[level];
        let value = if texture.cube() && !self.apart {
            texture.fetch(level, across(at, size[0])?)
        } else {
            let mut inside = Some(at);
            for axis in 0..texture.axes() {
                let place = wrap(self.address[axis], at[axis], size[axis]);
                inside = inside.zip(place).map(|(mut all, place)| {
                    all[axis] = place;
                    all
                });
            }
            inside.map_or(self.border, |at| texture.fetch(level, at))
        };
        let Some(op) = self.compare else {
            return Some(value);
        };
        let (a, b) = (sample.reference, value[0]);
        let passes = match op {
            vk::CompareOp::NEVER => false,
            vk::CompareOp::LESS => a < b,
            vk::CompareOp::EQUAL => a == b,
            vk::CompareOp::LESS_OR_EQUAL => a <= b,
            vk::CompareOp::GREATER => a > b,
            vk::CompareOp::NOT_EQUAL => a != b,
            vk::CompareOp::GREATER_OR_EQUAL => a >= b,
            _ => true,
        };
        let passes = f64::from(u8::from(passes));
        Some([passes, 0.0, 0.0, 1.0])
    }
}

/// Texel coordinates on a level, and the layer or face.
fn place(texture: &Texture, level: usize, at: &At) -> Option<([f64; 3], i64)> {
    let size = texture.sizes[level];
    let [x, y, z, w] = at.coordinates;
    if texture.cube() {
        let mut order = [x.abs(), y.abs(), z.abs()];
        order.sort_by(f64::total_cmp);
        if order[2] - order[1] < NEAR * order[2] {
            return None;
        }
        let (face, [s, t]) = face([x, y, z]);
        let scale = |v: f64| (v * 0.5 + 0.5) * size[0] as f64;
        let cube = match texture.view {
            vk::ImageViewType::CUBE_ARRAY => {
                w.round_ties_even().clamp(0.0, (size[2] / 6 - 1) as f64)
            }
            _ => 0.0,
        };
        return Some(([scale(s), scale(t), 0.0], face + 6 * cube as i64));
    }
    let layer = match texture.view {
        vk::ImageViewType::TYPE_1D_ARRAY => y,
        vk::ImageViewType::TYPE_2D_ARRAY => z,
        _ => 0.0,
    };
    let layer = layer.round_ties_even().clamp(0.0, (size[2] - 1) as f64) as i64;
    let places = std::array::from_fn(|axis| [x, y, z][axis] * size[axis] as f64);
    Some((places, layer))
}

/// The texel of a cube that is meant by one beyond the edge of a face; at corners there is none.
fn across([x, y, slice]: [i64; 3], size: i64) -> Option<[i64; 3]> {
    let outside = |v: i64| !(0..size).contains(&v);
    match (outside(x), outside(y)) {
        (false, false) => return Some([x, y, slice]),
        (true, true) => return None,
        _ => {}
    }
    let place = |v: i64| (2 * v + 1 - size) as f64 / size as f64;
    let (face, [s, t]) = face(direction(slice % 6, [place(x), place(y)]));
    let texel = |v: f64| (((v * 0.5 + 0.5) * size as f64).floor() as i64).clamp(0, size - 1);
    Some([texel(s), texel(t), slice - slice % 6 + face])
}
