// SPDX-License-Identifier: MIT
//! A sphere of triangles, drawn many times.

use std::f32::consts::PI;

use ash::vk;

use crate::scope::{Buffer, Scope};

/// Vertices, which are their own normals, and indices.
pub(super) struct Mesh {
    vertices: Buffer,
    indices: Buffer,
    count: u32,
}

impl Mesh {
    /// A sphere of columns and rows of quadrangles.
    ///
    /// # Safety
    /// The scope's device is open.
    pub(super) unsafe fn sphere(s: &Scope<'_>, columns: u32, rows: u32) -> anyhow::Result<Mesh> {
        let corner = |column: u32, row: u32| {
            let (around, down) = (
                2.0 * PI * column as f32 / columns as f32,
                PI * row as f32 / rows as f32,
            );
            [
                down.sin() * around.cos(),
                down.cos(),
                down.sin() * around.sin(),
            ]
        };
        let vertices: Vec<u8> = (0..=rows)
            .flat_map(|row| (0..=columns).flat_map(move |column| corner(column, row)))
            .flat_map(f32::to_le_bytes)
            .collect();
        let number = |column: u32, row: u32| (row * (columns + 1) + column) as u16;
        let quadrangles = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
        let indices: Vec<u8> = quadrangles
            .flat_map(|(x, y)| {
                let [a, b, c, d] =
                    [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| number(x + i, y + j));
                [a, c, b, b, c, d]
            })
            .flat_map(u16::to_le_bytes)
            .collect();
        let vertex_buffer =
            s.buffer_for(vertices.len() as u64, vk::BufferUsageFlags::VERTEX_BUFFER)?;
        vertex_buffer.write(0, &vertices);
        let index_buffer =
            s.buffer_for(indices.len() as u64, vk::BufferUsageFlags::INDEX_BUFFER)?;
        index_buffer.write(0, &indices);
        Ok(Mesh {
            vertices: vertex_buffer,
            indices: index_buffer,
            count: 6 * columns * rows,
        })
    }

    /// Draws one for each instance.
    ///
    /// # Safety
    /// A pipeline with [`input`] is bound.
    pub(super) unsafe fn draw(
        &self,
        device: &ash::Device,
        commands: vk::CommandBuffer,
        instances: &Buffer,
    ) {
        let buffers = [self.vertices.handle, instances.handle];
        device.cmd_bind_vertex_buffers(commands, 0, &buffers, &[0, 0]);
        device.cmd_bind_index_buffer(commands, self.indices.handle, 0, vk::IndexType::UINT16);
        let count = super::scene::COUNT * super::scene::COUNT;
        device.cmd_draw_indexed(commands, self.count, count, 0, 0, 0);
    }
}

/// Corners at location 0; of an instance the place and radius at 1, colour and roughness at 2, and
/// whether it is metal at 3.
pub(super) fn input() -> (
    Vec<vk::VertexInputBindingDescription>,
    Vec<vk::VertexInputAttributeDescription>,
) {
    let binding = |binding, stride, input_rate| vk::VertexInputBindingDescription {
        binding,
        stride,
        input_rate,
    };
    let attribute = |location, binding, format, offset| vk::VertexInputAttributeDescription {
        location,
        binding,
        format,
        offset,
    };
    let bindings = vec![
        binding(0, 12, vk::VertexInputRate::VERTEX),
        binding(1, 36, vk::VertexInputRate::INSTANCE),
    ];
    let attributes = vec![
        attribute(0, 0, vk::Format::R32G32B32_SFLOAT, 0),
        attribute(1, 1, vk::Format::R32G32B32A32_SFLOAT, 0),
        attribute(2, 1, vk::Format::R32G32B32A32_SFLOAT, 16),
        attribute(3, 1, vk::Format::R32_SFLOAT, 32),
    ];
    (bindings, attributes)
}
