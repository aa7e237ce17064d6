// SPDX-License-Identifier: MIT
// For pipelines without a fragment shader: there is always a program to start.
#version 460
void main()
{
}
