# SPDX-License-Identifier: MIT
"""Makes a PNG of a window dump of X (xwd, version 7, 24-bit colour) and says what it shows:

    screenshot.py DUMP X Y WIDTH HEIGHT PNG

Prints how many colours the rectangle has. A picture that was not drawn yet has few.
"""

import struct
import sys
import zlib


def crop(dump, x, y, width, height):
    """Rows of RGB bytes of a rectangle of a dump."""
    header = struct.unpack(">25I", dump[:100])
    header_size, version, depth = header[0], header[1], header[3]
    bits, stride, colours = header[11], header[12], header[19]
    # 24 bits where windows have several visuals.
    if version != 7 or depth != 24 or bits not in (24, 32):
        raise SystemExit(f"a dump of version {version}, depth {depth}, {bits} bits per pixel")
    size, pixels = bits // 8, header_size + 12 * colours
    for row in range(y, y + height):
        start = pixels + row * stride + size * x
        line = dump[start : start + size * width]
        rgb = bytearray(3 * width)
        # Blue comes first where the server's bytes are little-endian, as its 32-bit pixels are then.
        order = (2, 1, 0) if header[7] == 0 else (size - 3, size - 2, size - 1)
        for to, source in enumerate(order):
            rgb[to::3] = line[source::size]
        yield bytes(rgb)


def png(rows, width, height):
    """The bytes of a PNG file."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    size = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def main():
    source, x, y, width, height, target = sys.argv[1:]
    x, y, width, height = map(int, (x, y, width, height))
    with open(source, "rb") as file:
        rows = list(crop(file.read(), x, y, width, height))
    with open(target, "wb") as file:
        file.write(png(rows, width, height))
    pixels = b"".join(rows)
    print(len({pixels[at : at + 3] for at in range(0, len(pixels), 3)}))


if __name__ == "__main__":
    main()
