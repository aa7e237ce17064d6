// SPDX-License-Identifier: MIT
//! A draw's state, read and checked: what the rest of the pipeline works with.
//!
//! A piece of state that was never applied, output counts that differ, a coefficient that no vertex shader
//! writes, and an object type of another topology fault. What "must agree" although hardware does not
//! check it (provoking vertex, visibility, the scissor and its region) is for strict mode.

use agx_hw::coefficient::{Source, TABLE_SIZE, Table};
use agx_hw::depth_bias::{self, DepthBias};
use agx_hw::ppp::{
    Compare, Cull, Face, Face2, ObjectType, ShaderDepth, Stencil, StencilOp, TILE, Viewport,
    Visibility,
};
use agx_hw::scissor::{self, Scissor};
use agx_hw::uvs::Layout;
use agx_hw::vdm::{Primitive, Provoking};

use super::walk::Call;
use super::{Context, refuse, strict};
use crate::fault::Fault;
use crate::shader::fragment::depth::{DepthRange, StencilTest, Tests};

/// Pixels from `min` up to `max`, which is not included; x and y.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rect {
    pub(super) min: [i32; 2],
    pub(super) max: [i32; 2],
}

impl Rect {
    pub(super) fn intersect(self, other: Rect) -> Rect {
        Rect {
            min: [0, 1].map(|axis| self.min[axis].max(other.min[axis])),
            max: [0, 1].map(|axis| self.max[axis].min(other.max[axis])),
        }
    }

    pub(super) fn is_empty(self) -> bool {
        self.min[0] >= self.max[0] || self.min[1] >= self.max[1]
    }
}

/// A viewport with its scissor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) viewport: Viewport,
    /// Pixels of framebuffer, scissor and region clip.
    pub(super) clip: Rect,
    /// What depth is kept to.
    pub(super) range: DepthRange,
}

/// What becomes of a primitive's corners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    Points,
    Lines,
    Triangles,
    /// The edges of triangles.
    Edges,
    /// Their corners.
    Corners,
}

/// A draw.
#[derive(Debug)]
pub(super) struct Draw {
    pub(super) record: u64,
    pub(super) vertex_launcher: u64,
    pub(super) fragment_launcher: u64,
    pub(super) object: Object,
    /// Output words of a vertex.
    pub(super) words: usize,
    pub(super) layout: Layout,
    pub(super) table: Table,
    pub(super) fragment_z: bool,
    pub(super) provoking: Provoking,
    pub(super) windows: Vec<Window>,
    pub(super) cull: Cull,
    /// Width of lines in pixels.
    pub(super) line_width: f32,
    /// Points count their coordinate from below.
    pub(super) flip_points: bool,
    /// Lines are rectangles, not Bresenham's.
    pub(super) rectangular_lines: bool,
    pub(super) bias: Option<DepthBias>,
    /// Nothing is drawn.
    pub(super) discard: bool,
    /// Do not put quads of different primitives into one SIMD group.
    pub(super) no_merge: bool,
    /// The shader asks for the tests.
    pub(super) late: bool,
    pub(super) tests: [Tests; 2],
    /// The occlusion result that counts, and whether it only becomes 1.
    pub(super) occlusion: Option<(u16, bool)>,
}

impl Draw {
    pub(super) fn new<F>(context: &Context<'_, F>, call: &Call<'_>) -> Result<Draw, Box<Fault>> {
        let at = call.record;
        let is_strict = context.gpu.config.strict.is_some();
        let pass = context.pass;
        let state = &call.state.ppp;
        let Some(vertex) = call.state.vertex else {
            return Err(refuse(at, "a draw without vertex state".to_owned()));
        };
        if let Some(missing) = state.missing() {
            let missing = missing.name();
            return Err(refuse(
                at,
                format!("a draw without the piece \"{missing}\""),
            ));
        }
        let (
            Some(varyings),
            Some(fragment),
            Some(outputs),
            Some(control),
            Some(control2),
            Some(viewports),
            Some(clamp),
            Some(cull),
            Some(indices),
        ) = (
            state.varyings,
            state.fragment,
            state.outputs,
            state.control,
            state.control2,
            state.viewports.as_ref(),
            state.w_clamp,
            state.cull,
            state.indices,
        )
        else {
            return Err(refuse(at, "a draw without all pieces".to_owned()));
        };
        if outputs.words != vertex.outputs {
            return Err(refuse(
                at,
                format!(
                    "vertex state has {} output words, the outputs piece {}",
                    vertex.outputs, outputs.words
                ),
            ));
        }
        let Some(layout) = outputs.layout() else {
            return Err(refuse(
                at,
                "output words fewer than what is selected".to_owned(),
            ));
        };
        if clamp.least != 0.0 {
            return Err(refuse(
                at,
                format!("w clamp {}: only 0 is known", clamp.least),
            ));
        }
        let mappings = &*context.command.mappings;
        let mut bytes = [0; TABLE_SIZE];
        let address = fragment.table.address();
        if !mappings.read(address, &mut bytes) {
            let reason = format!("coefficient table at {address:#x} is not readable");
            return Err(refuse(at, reason));
        }
        let table = Table::unpack(&bytes, fragment.bindings)
            .map_err(|error| refuse(at, format!("coefficient table at {address:#x}: {error}")))?;
        let scalars = 1 + u16::from(outputs.fragment_z) + u16::from(layout.scalars);
        for binding in table.bindings() {
            let end = u16::from(binding.slot) + u16::from(binding.components);
            if binding.source == Source::Varying && end > scalars {
                let reason = format!("a coefficient of source slot {}, of {scalars}", end - 1);
                return Err(refuse(at, reason));
            }
        }
        let object = object(call.draw.primitive, control2.front, at)?;
        let sized = layout.point_size || pass.default_point_size;
        if is_strict && matches!(object, Object::Points | Object::Corners) && !sized {
            return Err(strict(at, "points whose size nothing says".to_owned()));
        }
        if is_strict {
            let agree = [
                ("the provoking vertex", vertex.provoking == cull.provoking),
                ("visibility", control.visibility == control2.visibility),
                ("tag writes", control.no_tag_write == control2.no_tag_write),
                (
                    "object types",
                    control2.front.object == control2.back.object,
                ),
                (
                    "varying counts and output words",
                    varyings.total() == layout.scalars.into(),
                ),
            ];
            if let Some((what, _)) = agree.into_iter().find(|(_, agree)| !agree) {
                return Err(strict(at, format!("pieces of state disagree about {what}")));
            }
        }
        let occlusion = match control.visibility {
            Visibility::None => None,
            Visibility::Counting => Some((control.occlusion, false)),
            Visibility::Boolean => Some((control.occlusion, true)),
        };
        if occlusion.is_some() && pass.occlusion == 0 {
            return Err(refuse(
                at,
                "an occlusion query in a pass without results".to_owned(),
            ));
        }
        let windows = windows(context, at, &viewports.0, indices.scissor, &control, &cull)?;
        let bias = match control.depth_bias {
            true => Some(bias(context, at, indices.depth_bias)?),
            false => None,
        };
        let shader_depth = [control2.front, control2.back]
            .iter()
            .any(|face| face.shader_depth != ShaderDepth::Unchanged);
        Ok(Draw {
            record: at,
            vertex_launcher: vertex.launcher.code().address(),
            fragment_launcher: fragment.launcher.code().address(),
            object,
            words: usize::from(vertex.outputs),
            layout,
            table,
            fragment_z: outputs.fragment_z,
            provoking: vertex.provoking,
            windows,
            cull,
            line_width: control.front.line_width.pixels(),
            flip_points: control2.front.object == ObjectType::PointUv10,
            rectangular_lines: pass.samples > 1 && !cull.primitive_msaa,
            bias,
            discard: cull.discard || clamp.discard || control.no_tag_write,
            no_merge: control.no_merge || control2.no_merge,
            late: control2.pass.is_punch_through() || shader_depth,
            tests: [
                tests(&control.front, &control2.front, control.stencil),
                tests(&control.back, &control2.back, control.stencil),
            ],
            occlusion,
        })
    }
}

fn object(topology: Primitive, face: Face2, at: u64) -> Result<Object, Box<Fault>> {
    let lines = matches!(
        topology,
        Primitive::Lines | Primitive::LineStrip | Primitive::LineLoop
    );
    Ok(match face.object {
        ObjectType::PointUv10 | ObjectType::PointUv01 if topology == Primitive::Points => {
            Object::Points
        }
        ObjectType::Line if lines => Object::Lines,
        ObjectType::Triangle if !lines && topology != Primitive::Points => Object::Triangles,
        ObjectType::LineFilled if !lines && topology != Primitive::Points => Object::Edges,
        ObjectType::PointFilled if !lines && topology != Primitive::Points => Object::Corners,
        other => {
            return Err(refuse(
                at,
                format!("object type {other:?} with {topology:?}"),
            ));
        }
    })
}

fn tests(face: &Face, face2: &Face2, stencil: bool) -> Tests {
    Tests {
        depth: [face.depth, face2.depth],
        depth_write: face.depth_write || face2.depth_write,
        stencil: (stencil && acts(&face.stencil)).then_some(StencilTest {
            state: face.stencil,
            reference: face.reference,
        }),
    }
}

/// Whether a stencil test can fail or change anything.
fn acts(stencil: &Stencil) -> bool {
    let keeps = stencil.pass == StencilOp::Keep && stencil.depth_fail == StencilOp::Keep;
    stencil.compare != Compare::Always || !keeps
}

fn windows<F>(
    context: &Context<'_, F>,
    at: u64,
    viewports: &[Viewport],
    first: u16,
    control: &agx_hw::ppp::FragmentControl,
    cull: &Cull,
) -> Result<Vec<Window>, Box<Fault>> {
    let pass = context.pass;
    let framebuffer = Rect {
        min: [0; 2],
        max: pass.size.map(|pixels| pixels as i32),
    };
    let mut windows = Vec::with_capacity(viewports.len());
    for (index, viewport) in viewports.iter().enumerate() {
        let address =
            pass.scissors + (u64::from(first) + index as u64) * scissor::ENTRY_SIZE as u64;
        let mut bytes = [0; scissor::ENTRY_SIZE];
        if !context.command.mappings.read(address, &mut bytes) {
            let reason = format!("scissor entry at {address:#x} is not readable");
            return Err(refuse(at, reason));
        }
        let scissor = Scissor::unpack(&bytes)
            .map_err(|error| refuse(at, format!("scissor entry at {address:#x}: {error}")))?;
        let region = Rect {
            min: viewport.region.min().map(|tile| i32::from(tile * TILE)),
            max: viewport
                .region
                .max()
                .map(|tile| (i32::from(tile) + 1) * i32::from(TILE)),
        };
        let mut clip = framebuffer;
        if control.scissor {
            clip = clip.intersect(Rect {
                min: scissor.min().map(i32::from),
                max: scissor.max().map(i32::from),
            });
        }
        let kept = clip.intersect(region);
        if context.gpu.config.strict.is_some() && !clip.is_empty() && kept != clip {
            let reason = format!("the region clip of viewport {index} does not cover its scissor");
            return Err(strict(at, reason));
        }
        // With the clamp depth stays in the entry's range; without it in that of a depth buffer (Vulkan;
        // INFERRED).
        let [low, high] = match cull.depth_clamp {
            true => scissor.depth,
            false => [0.0, 1.0],
        };
        windows.push(Window {
            viewport: *viewport,
            clip: kept,
            range: DepthRange {
                low: low.min(high),
                high: high.max(low),
            },
        });
    }
    Ok(windows)
}

fn bias<F>(context: &Context<'_, F>, at: u64, index: u16) -> Result<DepthBias, Box<Fault>> {
    let address = context.pass.biases + u64::from(index) * depth_bias::ENTRY_SIZE as u64;
    let mut bytes = [0; depth_bias::ENTRY_SIZE];
    if context.pass.biases == 0 || !context.command.mappings.read(address, &mut bytes) {
        let reason = format!("depth-bias entry at {address:#x} is not readable");
        return Err(refuse(at, reason));
    }
    DepthBias::unpack(&bytes).map_err(|error| refuse(at, error.to_string()))
}
