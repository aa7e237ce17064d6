// SPDX-License-Identifier: MIT
// A colour as memory holds it, in any format that is no block. Rounding is that of image/pack.rs, which
// clears images.

layout(buffer_reference, std430, buffer_reference_align = 1) writeonly buffer To1 { uint8_t unit; };
layout(buffer_reference, std430, buffer_reference_align = 2) writeonly buffer To2 { uint16_t unit; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer To4 { uint unit; };
layout(buffer_reference, std430, buffer_reference_align = 8) writeonly buffer To8 { uvec2 unit; };
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer To16 { uvec4 unit; };

// How a format holds colours.
struct Packing {
    // The component of memory of a number: bits 0 to 7: its width, 0 if there is none; 8 to 15: the lowest bit;
    // 16 to 17: which component of the colour it holds.
    uvec4 components;
    // One of those below; bit 8: red, green and blue are on the sRGB curve.
    uint kind;
};

const uint UNORM = 0u;
const uint SNORM = 1u;
const uint UINT = 2u;
const uint SINT = 3u;
const uint FLOAT = 4u;
const uint SHARED_EXPONENT = 5u;

uint mask_of(uint width)
{
    return 0xffffffffu >> (32u - width);
}

#ifdef INTEGER
#define COLOUR uvec4

uint encode(Packing packing, uint width, uint value, bool is_colour)
{
    uint most = mask_of(width);
    if (packing.kind == SINT) {
        int limit = int(most >> 1);
        return uint(clamp(int(value), -limit - 1, limit)) & most;
    }
    return min(value, most);
}
#else
#define COLOUR vec4

float encode_srgb(float value)
{
    value = clamp(value, 0.0, 1.0);
    return value <= 0.0031308 ? 12.92 * value : 1.055 * pow(value, 1.0 / 2.4) - 0.055;
}

// Two to a power that is a normal number.
float power_of_two(int exponent)
{
    return uintBitsToFloat(uint(exponent + 127) << 23);
}

// A float of 5 bits of exponent and some of mantissa, without a sign.
uint unsigned_float(float value, uint mantissa)
{
    uint infinity = 31u << mantissa;
    uint bits = floatBitsToUint(value);
    // Exponents as they are: comparisons of floats may take a NaN for anything.
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return infinity | 1u;
    if ((bits & 0x80000000u) != 0u)
        return 0u;
    if (bits == 0x7f800000u)
        return infinity;
    int exponent = max(int(bits >> 23) - 127, -14);
    // Beyond the range the result is the largest anyway, and the power of two stays normal.
    exponent = min(exponent, 16);
    float steps = min(value, 65536.0) * power_of_two(int(mantissa) - exponent);
    // A carry out of the mantissa raises the exponent by itself. Without the hidden bit it is a denormal.
    return min((uint(exponent + 14) << mantissa) + uint(roundEven(steps)), infinity - 1u);
}

uint encode(Packing packing, uint width, float value, bool is_colour)
{
    uint kind = packing.kind & 0xffu;
    if ((packing.kind & 0x100u) != 0u && is_colour)
        value = encode_srgb(value);
    uint most = mask_of(width);
    if (kind == UNORM)
        return uint(roundEven(clamp(value, 0.0, 1.0) * float(most)));
    if (kind == SNORM)
        return uint(int(roundEven(clamp(value, -1.0, 1.0) * float(most >> 1)))) & most;
    if (width == 32u)
        return floatBitsToUint(value);
    if (width == 16u)
        return packHalf2x16(vec2(value, 0.0)) & 0xffffu;
    return unsigned_float(value, width - 5u);
}

// Three mantissas of 9 bits with one exponent (Vulkan 1.3, "RGB to Shared Exponent Conversion").
uint shared_exponent(vec3 colour)
{
    colour = clamp(colour, 0.0, 65408.0);
    float largest = max(colour.r, max(colour.g, colour.b));
    int exponent = max(int(floatBitsToUint(largest) >> 23) - 127, -16) + 16;
    if (floor(largest * power_of_two(24 - exponent) + 0.5) == 512.0)
        exponent += 1;
    uvec3 scaled = uvec3(floor(colour * power_of_two(24 - exponent) + 0.5));
    return scaled.r | scaled.g << 9 | scaled.b << 18 | uint(exponent) << 27;
}
#endif

// Writes a colour to an address.
void store(uint64_t address, uint log2_bytes, Packing packing, COLOUR colour)
{
    uvec4 words = uvec4(0u);
#ifndef INTEGER
    if ((packing.kind & 0xffu) == SHARED_EXPONENT) {
        To4(address).unit = shared_exponent(colour.rgb);
        return;
    }
#endif
    for (uint index = 0u; index < 4u; index++) {
        uint component = packing.components[index];
        uint width = component & 0xffu;
        if (width == 0u)
            continue;
        uint lowest = component >> 8 & 0xffu;
        uint from = component >> 16 & 3u;
        uint bits = encode(packing, width, colour[from], from != 3u) << (lowest & 31u);
        // No component lies across words.
        words |= mix(uvec4(0u), uvec4(bits), equal(uvec4(lowest >> 5), uvec4(0u, 1u, 2u, 3u)));
    }
    switch (log2_bytes) {
    case 0u:
        To1(address).unit = uint8_t(words.x);
        break;
    case 1u:
        To2(address).unit = uint16_t(words.x);
        break;
    case 2u:
        To4(address).unit = words.x;
        break;
    case 3u:
        To8(address).unit = words.xy;
        break;
    default:
        To16(address).unit = words;
        break;
    }
}
