// SPDX-License-Identifier: MIT
// Clears one attachment, which the pipeline's write masks choose.
#version 460
layout(push_constant) uniform Constants
{
   TYPE value;
};
layout(location = 0) out TYPE colours[8];
void main()
{
   for (int i = 0; i < 8; i++)
      colours[i] = value;
}
