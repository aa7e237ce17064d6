// SPDX-License-Identifier: MIT
// One triangle over everything; what of it is drawn the scissor says, and how deep it is the viewport.
#version 460
#ifdef LAYERED
#extension GL_ARB_shader_viewport_layer_array : require
#endif
void main()
{
   vec2 corner = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
   gl_Position = vec4(2 * corner - 1, 0, 1);
#ifdef LAYERED
   gl_Layer = gl_InstanceIndex;
#endif
}
