// SPDX-License-Identifier: MIT
//! Reads what `shim/export.c` writes of a stage.

use super::{Reader, malformed};
use crate::program::{DepthLayout, FragmentInfo, StageInfo, Varying, VaryingMode, VertexInfo};
use crate::{Error, Stage, ffi};

fn byte(word: u32) -> Result<u8, Error> {
    u8::try_from(word).map_err(|_| malformed("a count of the stage"))
}

pub(super) fn decode(reader: &mut Reader<'_>) -> Result<StageInfo, Error> {
    let stage = Stage::from_mesa(reader.word()?.cast_signed());
    let flags = reader.word()?;
    let has = |flag: u32| flags & flag != 0;
    let [outputs, user_scalars, clip_distances, depth_layout] = [
        reader.word()?,
        reader.word()?,
        reader.word()?,
        reader.word()?,
    ];
    let count = reader.count()?;
    let varyings = reader.many(count, varying)?;
    match stage {
        Some(Stage::Compute) => Ok(StageInfo::Compute),
        Some(Stage::Vertex) => Ok(StageInfo::Vertex(VertexInfo {
            outputs: byte(outputs)?,
            user_scalars: byte(user_scalars)?,
            point_size: has(ffi::CORTLAND_VERTEX_POINT_SIZE),
            layer: has(ffi::CORTLAND_VERTEX_LAYER),
            viewport: has(ffi::CORTLAND_VERTEX_VIEWPORT),
            clip_distances: byte(clip_distances)?,
            uses_draw_parameters: has(ffi::CORTLAND_VERTEX_DRAW_PARAMETERS),
        })),
        Some(Stage::Fragment) => Ok(StageInfo::Fragment(FragmentInfo {
            varyings,
            uses_frag_z: has(ffi::CORTLAND_FRAGMENT_Z),
            uses_point_coord: has(ffi::CORTLAND_FRAGMENT_POINT_COORD),
            uses_primitive_id: has(ffi::CORTLAND_FRAGMENT_PRIMITIVE_ID),
            late_tests: has(ffi::CORTLAND_FRAGMENT_LATE_TESTS),
            writes_depth: has(ffi::CORTLAND_FRAGMENT_WRITES_DEPTH),
            depth_layout: match depth_layout {
                ffi::gl_frag_depth_layout_FRAG_DEPTH_LAYOUT_GREATER => DepthLayout::Greater,
                ffi::gl_frag_depth_layout_FRAG_DEPTH_LAYOUT_LESS => DepthLayout::Less,
                ffi::gl_frag_depth_layout_FRAG_DEPTH_LAYOUT_UNCHANGED => DepthLayout::Unchanged,
                _ => DepthLayout::Any,
            },
            reads_tile: has(ffi::CORTLAND_FRAGMENT_READS_TILE),
            needs_helpers: has(ffi::CORTLAND_FRAGMENT_NEEDS_HELPERS),
            has_side_effects: has(ffi::CORTLAND_FRAGMENT_SIDE_EFFECTS),
            early_fragment_tests: has(ffi::CORTLAND_FRAGMENT_EARLY_TESTS),
            writes_colour: has(ffi::CORTLAND_FRAGMENT_WRITES_COLOUR),
            runs_per_sample: has(ffi::CORTLAND_FRAGMENT_PER_SAMPLE),
            uses_layer: has(ffi::CORTLAND_FRAGMENT_LAYER),
            uses_sample_mask_in: has(ffi::CORTLAND_FRAGMENT_SAMPLE_MASK_IN),
        })),
        _ => Err(malformed("the stage")),
    }
}

fn varying(reader: &mut Reader<'_>) -> Result<Varying, Error> {
    let [location, component, mode, _] = reader.word()?.to_le_bytes();
    let mode = match u32::from(mode) {
        ffi::cortland_varying_mode_CORTLAND_VARYING_SMOOTH => VaryingMode::Smooth,
        ffi::cortland_varying_mode_CORTLAND_VARYING_FLAT => VaryingMode::Flat,
        ffi::cortland_varying_mode_CORTLAND_VARYING_LINEAR => VaryingMode::Linear,
        _ => return Err(malformed("the mode of a varying")),
    };
    Ok(Varying {
        location,
        component,
        mode,
    })
}
