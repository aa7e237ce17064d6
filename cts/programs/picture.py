# SPDX-License-Identifier: MIT
"""A picture to upscale: gradients, edges like those of letters, and circles."""

import numpy as np
from PIL import Image

# Letters of 5 by 7 dots, a row of bits each.
LETTERS = {
    "A": (0b01110, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001),
    "G": (0b01110, 0b10001, 0b10000, 0b10111, 0b10001, 0b10001, 0b01110),
    "X": (0b10001, 0b10001, 0b01010, 0b00100, 0b01010, 0b10001, 0b10001),
}


def disc(size, x, y, radius):
    """How much of each pixel a disc covers."""
    down, across = np.mgrid[0:size, 0:size] + 0.5
    distance = np.hypot(across - x * size, down - y * size)
    return np.clip(radius * size - distance + 0.5, 0, 1)[..., None]


def draw(size):
    """The picture as an RGB image of `size` by `size` pixels."""
    down, across = np.mgrid[0:size, 0:size] / (size - 1)
    picture = np.stack([40 + 160 * across, 60 + 120 * down, 200 - 150 * across * down], axis=-1)
    for x, y, radius, colour in (
        (0.3, 0.32, 0.22, (250, 220, 60)),
        (0.38, 0.26, 0.1, (40, 30, 90)),
        (0.75, 0.7, 0.16, (230, 60, 50)),
    ):
        cover = disc(size, x, y, radius)
        picture = picture * (1 - cover) + np.array(colour) * cover
    ring = disc(size, 0.72, 0.3, 0.2) - disc(size, 0.72, 0.3, 0.15)
    picture = picture * (1 - ring) + np.array((245, 245, 245)) * ring
    dot = max(size // 32, 1)
    left = size // 12
    for letter in "AGX":
        for row, bits in enumerate(LETTERS[letter]):
            for column in range(5):
                if bits >> (4 - column) & 1:
                    top = size - (9 - row) * dot
                    at = left + column * dot
                    picture[top : top + dot, at : at + dot] = (15, 15, 20)
        left += 6 * dot
    # Away from black and white: sharpened edges overshoot, and what the program's shader does with
    # negative values is undefined.
    picture = 56 + picture * (144 / 255)
    return Image.fromarray(np.rint(picture).astype(np.uint8))
