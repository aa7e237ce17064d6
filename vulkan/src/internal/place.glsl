// SPDX-License-Identifier: MIT
// Where the elements of images and buffers are.

// One side of a copy.
struct Side {
    // Bits 0 to 7: logarithm of a tile's width, 8 to 15: of its height, 16 to 23: of a pixel's bytes, 24 to
    // 30: of its samples; bit 31: no tiles but rows.
    uint order;
    // Tiles in a row, or elements from row to row.
    uint pitch;
    // The box's corner.
    uint x, y;
};

// The bits of a value below 2^8, apart.
uint spread(uint value)
{
    value = (value | value << 4) & 0x0f0fu;
    value = (value | value << 2) & 0x3333u;
    return (value | value << 1) & 0x5555u;
}

// The bytes from element (0, 0) of a layer to the one at a place in the box.
uint64_t pixel_offset(Side side, uvec2 at)
{
    uint x = at.x + side.x;
    uint y = at.y + side.y;
    uint64_t pixel;
    if ((side.order & 0x80000000u) != 0u) {
        pixel = uint64_t(y) * side.pitch + x;
    } else {
        // Morton order as far as both axes go, then the rest of the longer one (images, 7.2).
        uint log2_width = side.order & 0xffu;
        uint log2_height = side.order >> 8 & 0xffu;
        uint both = min(log2_width, log2_height);
        uint in_x = bitfieldExtract(x, 0, int(log2_width));
        uint in_y = bitfieldExtract(y, 0, int(log2_height));
        uint mask = (1u << both) - 1u;
        uint element = spread(in_x & mask) | spread(in_y & mask) << 1;
        element |= ((in_x >> both) | (in_y >> both)) << 2 * both;
        uint tile = (y >> log2_height) * side.pitch + (x >> log2_width);
        pixel = (uint64_t(tile) << (log2_width + log2_height)) + element;
    }
    return pixel << (side.order >> 16 & 0xffu);
}
