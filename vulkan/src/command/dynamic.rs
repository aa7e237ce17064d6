// SPDX-License-Identifier: MIT
//! State that commands set, and the buffers of vertices and indices.

use agx_hw::vdm::IndexSize;
use ash::vk;

use super::buffer::{CommandBuffer, record_everywhere};
use super::draw::{Drawing, IndexBuffer, VertexBuffer};
use super::replay::{record_inside, record_slice_inside};
use crate::buffer::Buffer;
use crate::debug;
use crate::entry;
use crate::error::VkResult;
use crate::host::OUT_OF_HOST;
use crate::object;
use crate::pipeline::{StencilFace, primitive};

/// Records a change of state.
///
/// # Safety
/// The handle is valid and externally synchronised.
unsafe fn set(
    name: &'static str,
    buffer: vk::CommandBuffer,
    change: impl Fn(&mut Drawing) + 'static,
) {
    // SAFETY: the caller's promise.
    unsafe {
        record_inside(name, buffer, move |this| {
            change(&mut this.drawing);
            this.drawing.state_changed();
            Ok(())
        });
    }
}

/// Records a change of viewports or scissors.
///
/// # Safety
/// The handle is valid and externally synchronised, and the array has so many elements.
unsafe fn set_viewports<T: Copy + 'static>(
    name: &'static str,
    buffer: vk::CommandBuffer,
    (values, count): (*const T, u32),
    change: impl Fn(&mut Drawing, &[T]) + 'static,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let values = entry::slice(values, count);
        record_slice_inside(name, buffer, values, move |this, values| {
            change(&mut this.drawing, values);
            this.drawing.viewports_changed();
            Ok(())
        });
    }
}

/// Commands that set one value.
macro_rules! setters {
    ($($function:ident $name:literal ($($argument:ident: $kind:ty),*) |$drawing:ident| $body:expr;)*) => {$(
        #[doc = concat!($name, ".")]
        pub(crate) unsafe extern "system" fn $function(
            buffer: vk::CommandBuffer,
            $($argument: $kind),*
        ) {
            // SAFETY: valid and externally synchronised by the specification.
            unsafe { set($name, buffer, move |$drawing| $body) };
        }
    )*};
}

setters! {
    cmd_set_line_width "vkCmdSetLineWidth" (width: f32) |d| d.state.line_width = width;
    cmd_set_depth_bias "vkCmdSetDepthBias" (constant: f32, clamp: f32, slope: f32)
        |d| d.state.depth_bias = [constant, clamp, slope];
    cmd_set_depth_bounds "vkCmdSetDepthBounds" (_min: f32, _max: f32) |_d| ();
    cmd_set_depth_bounds_test_enable "vkCmdSetDepthBoundsTestEnable" (_enable: vk::Bool32) |_d| ();
    cmd_set_cull_mode "vkCmdSetCullMode" (mode: vk::CullModeFlags) |d| d.state.cull = mode;
    cmd_set_front_face "vkCmdSetFrontFace" (face: vk::FrontFace) |d| d.state.front = face;
    cmd_set_depth_test_enable "vkCmdSetDepthTestEnable" (enable: vk::Bool32)
        |d| d.state.depth_test = enable == vk::TRUE;
    cmd_set_depth_write_enable "vkCmdSetDepthWriteEnable" (enable: vk::Bool32)
        |d| d.state.depth_write = enable == vk::TRUE;
    cmd_set_depth_compare_op "vkCmdSetDepthCompareOp" (op: vk::CompareOp)
        |d| d.state.depth_compare = op;
    cmd_set_stencil_test_enable "vkCmdSetStencilTestEnable" (enable: vk::Bool32)
        |d| d.state.stencil_test = enable == vk::TRUE;
    cmd_set_rasterizer_discard_enable "vkCmdSetRasterizerDiscardEnable" (enable: vk::Bool32)
        |d| d.state.discard = enable == vk::TRUE;
    cmd_set_depth_bias_enable "vkCmdSetDepthBiasEnable" (enable: vk::Bool32)
        |d| d.state.depth_bias_enable = enable == vk::TRUE;
    cmd_set_primitive_restart_enable "vkCmdSetPrimitiveRestartEnable" (enable: vk::Bool32)
        |d| d.state.restart = enable == vk::TRUE;
    cmd_set_primitive_topology "vkCmdSetPrimitiveTopology" (topology: vk::PrimitiveTopology)
        |d| match primitive(topology) {
            Some(topology) => d.state.topology = topology,
            None => debug::error(&format_args!("{topology:?} is not offered")),
        };
    cmd_set_stencil_compare_mask "vkCmdSetStencilCompareMask" (faces: vk::StencilFaceFlags, mask: u32)
        |d| stencil(d, faces, |face| face.compare_mask = mask as u8);
    cmd_set_stencil_write_mask "vkCmdSetStencilWriteMask" (faces: vk::StencilFaceFlags, mask: u32)
        |d| stencil(d, faces, |face| face.write_mask = mask as u8);
    cmd_set_stencil_reference "vkCmdSetStencilReference" (faces: vk::StencilFaceFlags, reference: u32)
        |d| stencil(d, faces, |face| face.reference = reference as u8);
    cmd_set_stencil_op "vkCmdSetStencilOp" (
        faces: vk::StencilFaceFlags,
        fail: vk::StencilOp,
        pass: vk::StencilOp,
        depth_fail: vk::StencilOp,
        compare: vk::CompareOp
    ) |d| stencil(d, faces, |face| {
        (face.fail, face.pass) = (fail, pass);
        (face.depth_fail, face.compare) = (depth_fail, compare);
    });
}

fn stencil(drawing: &mut Drawing, faces: vk::StencilFaceFlags, change: impl Fn(&mut StencilFace)) {
    let [front, back] = &mut drawing.state.stencil;
    if faces.contains(vk::StencilFaceFlags::FRONT) {
        change(front);
    }
    if faces.contains(vk::StencilFaceFlags::BACK) {
        change(back);
    }
}

/// vkCmdSetBlendConstants.
pub(crate) unsafe extern "system" fn cmd_set_blend_constants(
    buffer: vk::CommandBuffer,
    constants: *const [f32; 4],
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        let constants = *constants;
        set("vkCmdSetBlendConstants", buffer, move |drawing| {
            drawing.state.blend_constants = constants;
            drawing.blend_constants_changed();
        });
    }
}

/// Puts values into a list from an index on; what is between is as it was, or nothing.
fn put_list<T: Copy + Default>(
    to: &mut arrayvec::ArrayVec<T, 16>,
    first: u32,
    values: &[T],
    whole: bool,
) {
    if whole {
        to.clear();
    }
    for (at, value) in values.iter().enumerate() {
        let at = first as usize + at;
        while to.len() <= at && !to.is_full() {
            to.push(T::default());
        }
        if let Some(place) = to.get_mut(at) {
            *place = *value;
        }
    }
}

/// vkCmdSetViewport.
pub(crate) unsafe extern "system" fn cmd_set_viewport(
    buffer: vk::CommandBuffer,
    first: u32,
    count: u32,
    viewports: *const vk::Viewport,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        set_viewports(
            "vkCmdSetViewport",
            buffer,
            (viewports, count),
            move |drawing, values| {
                put_list(&mut drawing.state.viewports, first, values, false);
            },
        );
    }
}

/// vkCmdSetViewportWithCount.
pub(crate) unsafe extern "system" fn cmd_set_viewport_with_count(
    buffer: vk::CommandBuffer,
    count: u32,
    viewports: *const vk::Viewport,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        set_viewports(
            "vkCmdSetViewportWithCount",
            buffer,
            (viewports, count),
            |drawing, values| {
                put_list(&mut drawing.state.viewports, 0, values, true);
            },
        );
    }
}

/// vkCmdSetScissor.
pub(crate) unsafe extern "system" fn cmd_set_scissor(
    buffer: vk::CommandBuffer,
    first: u32,
    count: u32,
    scissors: *const vk::Rect2D,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        set_viewports(
            "vkCmdSetScissor",
            buffer,
            (scissors, count),
            move |drawing, values| {
                put_list(&mut drawing.state.scissors, first, values, false);
            },
        );
    }
}

/// vkCmdSetScissorWithCount.
pub(crate) unsafe extern "system" fn cmd_set_scissor_with_count(
    buffer: vk::CommandBuffer,
    count: u32,
    scissors: *const vk::Rect2D,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        set_viewports(
            "vkCmdSetScissorWithCount",
            buffer,
            (scissors, count),
            |drawing, values| {
                put_list(&mut drawing.state.scissors, 0, values, true);
            },
        );
    }
}

/// A vertex buffer, and its stride where a command sets that.
type Bind = (VertexBuffer, Option<u32>);

impl VertexBuffer {
    /// A part of a buffer; nothing of none.
    fn new(buffer: Option<&Buffer>, offset: u64, size: u64) -> VertexBuffer {
        buffer.map_or_else(VertexBuffer::default, |buffer| VertexBuffer {
            address: buffer.address + offset,
            size: buffer.range(offset, size).min(u32::MAX.into()) as u32,
        })
    }
}

impl Drawing {
    fn bind_vertex_buffers(&mut self, first: usize, all: impl Iterator<Item = Bind>) {
        for (at, (buffer, stride)) in all.enumerate() {
            if let Some(place) = self.vertex_buffers.get_mut(first + at) {
                *place = buffer;
            }
            if let (Some(stride), Some(place)) = (stride, self.state.strides.get_mut(first + at)) {
                *place = stride;
            }
        }
        self.buffers_changed();
    }
}

impl CommandBuffer {
    /// Binds vertex buffers from an index on, or keeps them to be bound.
    fn bind_vertex_buffers(
        &mut self,
        first: usize,
        all: impl ExactSizeIterator<Item = Bind>,
    ) -> VkResult {
        if !self.keeps() {
            self.drawing.bind_vertex_buffers(first, all);
            return Ok(());
        }
        let mut kept = self.host().vec::<Bind>();
        kept.try_reserve_exact(all.len()).map_err(|_| OUT_OF_HOST)?;
        kept.extend(all);
        self.keep_command(move |this| {
            this.drawing
                .bind_vertex_buffers(first, kept.iter().copied());
            Ok(())
        })
    }
}

/// vkCmdBindVertexBuffers.
pub(crate) unsafe extern "system" fn cmd_bind_vertex_buffers(
    buffer: vk::CommandBuffer,
    first: u32,
    count: u32,
    buffers: *const vk::Buffer,
    offsets: *const vk::DeviceSize,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_everywhere("vkCmdBindVertexBuffers", buffer, |this| {
            let pairs = entry::slice(buffers, count)
                .iter()
                .zip(entry::slice(offsets, count));
            let all = pairs.map(|(buffer, offset)| {
                let buffer = object::get_optional::<Buffer>(*buffer);
                (VertexBuffer::new(buffer, *offset, vk::WHOLE_SIZE), None)
            });
            this.bind_vertex_buffers(first as usize, all)
        });
    }
}

/// vkCmdBindVertexBuffers2.
pub(crate) unsafe extern "system" fn cmd_bind_vertex_buffers2(
    buffer: vk::CommandBuffer,
    first: u32,
    count: u32,
    buffers: *const vk::Buffer,
    offsets: *const vk::DeviceSize,
    sizes: *const vk::DeviceSize,
    strides: *const vk::DeviceSize,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_everywhere("vkCmdBindVertexBuffers2", buffer, |this| {
            let pairs = entry::slice(buffers, count)
                .iter()
                .zip(entry::slice(offsets, count));
            let all = pairs.enumerate().map(|(at, (buffer, offset))| {
                let size = match sizes.is_null() {
                    true => vk::WHOLE_SIZE,
                    false => *sizes.add(at),
                };
                let stride = (!strides.is_null()).then(|| *strides.add(at) as u32);
                let buffer = object::get_optional::<Buffer>(*buffer);
                (VertexBuffer::new(buffer, *offset, size), stride)
            });
            this.bind_vertex_buffers(first as usize, all)
        });
    }
}

/// vkCmdBindIndexBuffer.
pub(crate) unsafe extern "system" fn cmd_bind_index_buffer(
    buffer: vk::CommandBuffer,
    indices: vk::Buffer,
    offset: vk::DeviceSize,
    kind: vk::IndexType,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_inside("vkCmdBindIndexBuffer", buffer, move |this| {
            let indices = object::get_optional::<Buffer>(indices);
            this.drawing.index_buffer = index_buffer(indices, offset, kind)?;
            Ok(())
        });
    }
}

fn index_buffer(
    buffer: Option<&Buffer>,
    offset: u64,
    kind: vk::IndexType,
) -> VkResult<Option<IndexBuffer>> {
    let Some(buffer) = buffer else {
        return Ok(None);
    };
    let Some(alias) = &buffer.window else {
        debug::error(&"a buffer that was not made for indices");
        return Err(vk::Result::ERROR_UNKNOWN);
    };
    Ok(Some(IndexBuffer {
        address: alias.address() + offset,
        size: buffer.range(offset, vk::WHOLE_SIZE),
        index: match kind {
            vk::IndexType::UINT8_EXT => IndexSize::U8,
            vk::IndexType::UINT16 => IndexSize::U16,
            _ => IndexSize::U32,
        },
    }))
}
