# SPDX-License-Identifier: MIT
"""Compares two pictures that screenshot.py made:

    difference.py ONE OTHER MOST PERCENT [MAP]

Prints the largest difference of each channel and how many pixels differ. Fails when more than so many
percent of the pixels have a channel that is more than MOST apart. MAP becomes a picture of the differences,
red, green and blue for themselves, sixteen times as strong.
"""

import struct
import sys
import zlib

from screenshot import png


def read(path):
    """Width, height and RGB bytes of a PNG whose rows are not filtered."""
    with open(path, "rb") as file:
        data = file.read()
    at, parts = 8, b""
    while at < len(data):
        (length,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        elif kind == b"IDAT":
            parts += body
        at += 12 + length
    rows, stride = zlib.decompress(parts), 3 * width + 1
    lines = [rows[row * stride : (row + 1) * stride] for row in range(height)]
    if any(line[0] for line in lines):
        raise SystemExit(f"{path} is not of screenshot.py")
    return width, height, b"".join(line[1:] for line in lines)


def main():
    one, other, most, percent = sys.argv[1:5]
    width, height, first = read(one)
    size = (width, height)
    width, height, second = read(other)
    if size != (width, height):
        raise SystemExit(f"{one} is {size}, {other} is {(width, height)}")
    apart = bytes(abs(a - b) for a, b in zip(first, second))
    channels = [max(apart[channel::3]) for channel in range(3)]
    worst = [max(apart[at : at + 3]) for at in range(0, len(apart), 3)]
    all_of, more = len(worst), sum(value > int(most) for value in worst)
    print(
        f"{sum(value > 0 for value in worst)} of {all_of} pixels differ, {more} of them"
        f" ({100 * more / all_of:.2f} %) by more than {most} of 255, at most {channels}"
    )
    if len(sys.argv) > 5:
        strong = bytes(min(16 * value, 255) for value in apart)
        rows = [strong[3 * width * row : 3 * width * (row + 1)] for row in range(height)]
        with open(sys.argv[5], "wb") as file:
            file.write(png(rows, width, height))
    raise SystemExit(100 * more > float(percent) * all_of)


if __name__ == "__main__":
    main()
