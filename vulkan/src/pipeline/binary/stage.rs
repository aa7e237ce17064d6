// SPDX-License-Identifier: MIT
//! What a binary says of its stage, as bytes, and what of that is believed.

use agx_compiler::binary::{
    DepthLayout, FragmentInfo, Pointer, ShaderBinary, StageInfo, VIEWPORT_LOCATION, Varying,
    VaryingMode, VertexInfo,
};
use agx_hw::cdm::MAX_THREADS;
use agx_hw::{coefficient, uvs};

use super::{Reader, Writer};

/// The stages by number.
const COMPUTE: u32 = 0;
const VERTEX: u32 = 1;
const FRAGMENT: u32 = 2;

pub(super) fn put(out: &mut Writer, stage: &StageInfo) {
    match stage {
        StageInfo::Compute => out.u32(COMPUTE),
        StageInfo::Vertex(info) => {
            let VertexInfo {
                outputs,
                user_scalars,
                point_size,
                layer,
                viewport,
                clip_distances,
                uses_draw_parameters,
            } = *info;
            out.u32(VERTEX);
            for number in [outputs, user_scalars, clip_distances] {
                out.u32(number.into());
            }
            out.flags(&[point_size, layer, viewport, uses_draw_parameters]);
        }
        StageInfo::Fragment(info) => {
            let FragmentInfo {
                varyings,
                uses_frag_z,
                uses_point_coord,
                uses_primitive_id,
                late_tests,
                writes_depth,
                depth_layout,
                reads_tile,
                needs_helpers,
                has_side_effects,
                early_fragment_tests,
                writes_colour,
                runs_per_sample,
                uses_layer,
                uses_sample_mask_in,
            } = info;
            out.u32(FRAGMENT);
            out.u32(varyings.len() as u32);
            for Varying {
                location,
                component,
                mode,
            } in varyings
            {
                out.u32(u32::from_le_bytes([
                    *location,
                    *component,
                    mode_code(*mode),
                    0,
                ]));
            }
            out.u32(match depth_layout {
                DepthLayout::Any => 0,
                DepthLayout::Greater => 1,
                DepthLayout::Less => 2,
                DepthLayout::Unchanged => 3,
            });
            out.flags(&[
                *uses_frag_z,
                *uses_point_coord,
                *uses_primitive_id,
                *late_tests,
                *writes_depth,
                *reads_tile,
                *needs_helpers,
                *has_side_effects,
                *early_fragment_tests,
                *writes_colour,
                *runs_per_sample,
                *uses_layer,
                *uses_sample_mask_in,
            ]);
        }
    }
}

pub(super) fn parse(from: &mut Reader<'_>) -> Option<StageInfo> {
    match from.u32()? {
        COMPUTE => Some(StageInfo::Compute),
        VERTEX => {
            let mut byte = || u8::try_from(from.u32()?).ok();
            let (outputs, user_scalars, clip_distances) = (byte()?, byte()?, byte()?);
            let [point_size, layer, viewport, uses_draw_parameters] = from.flags()?;
            Some(StageInfo::Vertex(VertexInfo {
                outputs,
                user_scalars,
                point_size,
                layer,
                viewport,
                clip_distances,
                uses_draw_parameters,
            }))
        }
        FRAGMENT => {
            let varyings = from.list(4, |from| varying(from.u32()?))?;
            let depth_layout = match from.u32()? {
                0 => DepthLayout::Any,
                1 => DepthLayout::Greater,
                2 => DepthLayout::Less,
                3 => DepthLayout::Unchanged,
                _ => return None,
            };
            let [
                uses_frag_z,
                uses_point_coord,
                uses_primitive_id,
                late_tests,
                writes_depth,
                reads_tile,
                needs_helpers,
                has_side_effects,
                early_fragment_tests,
                writes_colour,
                runs_per_sample,
                uses_layer,
                uses_sample_mask_in,
            ] = from.flags()?;
            Some(StageInfo::Fragment(FragmentInfo {
                varyings,
                uses_frag_z,
                uses_point_coord,
                uses_primitive_id,
                late_tests,
                writes_depth,
                depth_layout,
                reads_tile,
                needs_helpers,
                has_side_effects,
                early_fragment_tests,
                writes_colour,
                runs_per_sample,
                uses_layer,
                uses_sample_mask_in,
            }))
        }
        _ => None,
    }
}

fn mode_code(mode: VaryingMode) -> u8 {
    match mode {
        VaryingMode::Smooth => 0,
        VaryingMode::Flat => 1,
        VaryingMode::Linear => 2,
    }
}

fn varying(word: u32) -> Option<Varying> {
    let [location, component, mode, 0] = word.to_le_bytes() else {
        return None;
    };
    Some(Varying {
        location,
        component,
        mode: match mode {
            0 => VaryingMode::Smooth,
            1 => VaryingMode::Flat,
            2 => VaryingMode::Linear,
            _ => return None,
        },
    })
}

/// Whether a binary keeps what launches and draws of its stage rely on.
pub(super) fn is_launchable(binary: &ShaderBinary) -> bool {
    let ShaderBinary {
        stage,
        workgroup_size,
        pointers,
        threadgroup_bytes,
        workgroup_buffer_bytes,
        ..
    } = binary;
    let is_compute = *stage == StageInfo::Compute;
    let gives = |pointer: &Pointer| match pointer {
        Pointer::WorkgroupCounts
        | Pointer::ThreadgroupRoot
        | Pointer::BaseWorkgroup
        | Pointer::WorkgroupBuffer => is_compute,
        Pointer::VertexBuffers
        | Pointer::DrawParameters
        | Pointer::DrawNumber
        | Pointer::BlendConstants => !is_compute,
        _ => true,
    };
    if !pointers.iter().all(gives) {
        return false;
    }
    match stage {
        StageInfo::Compute => {
            let threads: u64 = workgroup_size.map(u64::from).iter().product();
            return (1..=u64::from(MAX_THREADS)).contains(&threads);
        }
        StageInfo::Vertex(info) => {
            let layout = uvs::Layout {
                scalars: info.user_scalars,
                point_size: info.point_size,
                layer_viewport: info.layer || info.viewport,
                clip_distances: info.clip_distances,
            };
            if layout.words().ok() != Some(info.outputs) {
                return false;
            }
        }
        StageInfo::Fragment(info) => {
            // As the compiler lists them: by mode, location and component, each once.
            let place = |varying: &Varying| (varying.mode, varying.location, varying.component);
            let is_known =
                |varying: &Varying| varying.location <= VIEWPORT_LOCATION && varying.component < 4;
            if info.varyings.len() > usize::from(coefficient::MAX_SCALARS)
                || !info.varyings.iter().all(is_known)
                || !info.varyings.is_sorted_by(|a, b| place(a) < place(b))
            {
                return false;
            }
        }
    }
    *threadgroup_bytes == 0 && *workgroup_buffer_bytes == 0
}
