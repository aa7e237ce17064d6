# SPDX-License-Identifier: MIT
"""Computes with wgpu on the Vulkan device and compares with numpy."""

import os
import sys

os.environ.setdefault("WGPU_BACKEND_TYPE", "Vulkan")

import numpy as np
import wgpu
from wgpu.backends.wgpu_native.extras import set_instance_extras

# wgpu hides drivers that have not passed Khronos's conformance test, unless it is told otherwise.
set_instance_extras(
    backends=["Vulkan"], flags=["Default", "AllowUnderlyingNoncompliantAdapter"]
)

USAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST


class Device:
    """A device and the few calls that the examples need."""

    def __init__(self):
        adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
        self.info = adapter.info
        if self.info["backend_type"] != "Vulkan":
            raise SystemExit(f"no Vulkan adapter: wgpu offers {dict(self.info)}")
        self.device = adapter.request_device_sync()

    def buffer(self, data, usage=USAGE):
        """A buffer with an array in it."""
        return self.device.create_buffer_with_data(data=data, usage=usage)

    def pipeline(self, code, constants=None):
        """A compute pipeline of WGSL with its layout taken from the code."""
        module = self.device.create_shader_module(code=code)
        compute = {"module": module, "entry_point": "main"}
        if constants:
            compute["constants"] = constants
        return self.device.create_compute_pipeline(layout="auto", compute=compute)

    def group(self, pipeline, buffers):
        """Bind group 0 of a pipeline: buffers at bindings 0, 1 and so on."""
        entries = [
            {"binding": index, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
            for index, buffer in enumerate(buffers)
        ]
        layout = pipeline.get_bind_group_layout(0)
        return self.device.create_bind_group(layout=layout, entries=entries)

    def run(self, *steps):
        """Dispatches (pipeline, group, workgroups) in order, each in a pass of its own."""
        encoder = self.device.create_command_encoder()
        for pipeline, group, workgroups in steps:
            compute = encoder.begin_compute_pass()
            compute.set_pipeline(pipeline)
            compute.set_bind_group(0, group)
            if isinstance(workgroups, tuple):
                compute.dispatch_workgroups(*workgroups)
            else:
                compute.dispatch_workgroups_indirect(workgroups, 0)
            compute.end()
        self.device.queue.submit([encoder.finish()])

    def read(self, buffer, dtype):
        """What is in a buffer."""
        return np.frombuffer(self.device.queue.read_buffer(buffer), dtype=dtype)


def product(device, random):
    """A matrix product by tiles in workgroup memory."""
    size, tile = 64, 16
    code = f"""
    @group(0) @binding(0) var<storage, read> a: array<f32>;
    @group(0) @binding(1) var<storage, read> b: array<f32>;
    @group(0) @binding(2) var<storage, read_write> c: array<f32>;
    var<workgroup> left: array<array<f32, {tile}>, {tile}>;
    var<workgroup> right: array<array<f32, {tile}>, {tile}>;
    @compute @workgroup_size({tile}, {tile})
    fn main(@builtin(global_invocation_id) at: vec3u, @builtin(local_invocation_id) l: vec3u) {{
        var sum = 0.0;
        for (var t = 0u; t < {size // tile}u; t++) {{
            left[l.y][l.x] = a[at.y * {size}u + t * {tile}u + l.x];
            right[l.y][l.x] = b[(t * {tile}u + l.y) * {size}u + at.x];
            workgroupBarrier();
            for (var k = 0u; k < {tile}u; k++) {{
                sum += left[l.y][k] * right[k][l.x];
            }}
            workgroupBarrier();
        }}
        c[at.y * {size}u + at.x] = sum;
    }}"""
    # Small whole numbers, so that every order of additions gives the same.
    a, b = random.integers(-8, 8, (2, size, size)).astype(np.float32)
    result = device.buffer(np.zeros_like(a))
    pipeline = device.pipeline(code)
    group = device.group(pipeline, [device.buffer(a), device.buffer(b), result])
    device.run((pipeline, group, (size // tile, size // tile, 1)))
    return device.read(result, np.float32), (a @ b).ravel()


def life(device, random):
    """Generations of Conway's Game of Life, two buffers in turn."""
    size, generations = 64, 12
    code = f"""
    override SIZE: u32;
    @group(0) @binding(0) var<storage, read> now: array<u32>;
    @group(0) @binding(1) var<storage, read_write> next: array<u32>;
    fn cell(x: u32, y: u32) -> u32 {{ return now[(y % SIZE) * SIZE + x % SIZE]; }}
    @compute @workgroup_size(8, 8)
    fn main(@builtin(global_invocation_id) at: vec3u) {{
        var count = 0u;
        for (var dy = 0u; dy < 3u; dy++) {{
            for (var dx = 0u; dx < 3u; dx++) {{
                count += cell(at.x + dx + SIZE - 1u, at.y + dy + SIZE - 1u);
            }}
        }}
        let alive = cell(at.x, at.y) == 1u;
        next[at.y * SIZE + at.x] = select(0u, 1u, count == 3u || (alive && count == 4u));
    }}"""
    cells = random.integers(0, 2, (size, size)).astype(np.uint32)
    buffers = [device.buffer(cells), device.buffer(np.zeros_like(cells))]
    pipeline = device.pipeline(code, {"SIZE": size})
    groups = [device.group(pipeline, buffers), device.group(pipeline, buffers[::-1])]
    workgroups = (size // 8, size // 8, 1)
    device.run(*[(pipeline, groups[index % 2], workgroups) for index in range(generations)])
    for _ in range(generations):
        shifts = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1)]
        count = sum(np.roll(cells, shift, (0, 1)) for shift in shifts)
        cells = ((count == 3) | ((cells == 1) & (count == 4))).astype(np.uint32)
    return device.read(buffers[generations % 2], np.uint32), cells.ravel()


def histogram(device, random):
    """A histogram with atomics in workgroup and storage memory."""
    code = """
    @group(0) @binding(0) var<storage, read> values: array<u32>;
    @group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>>;
    var<workgroup> local: array<atomic<u32>, 64>;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) at: vec3u, @builtin(local_invocation_index) l: u32) {
        workgroupBarrier();
        atomicAdd(&local[values[at.x] % 64u], 1u);
        workgroupBarrier();
        atomicAdd(&bins[l], atomicLoad(&local[l]));
    }"""
    values = random.integers(0, 2**32, 8192, dtype=np.uint32)
    bins = device.buffer(np.zeros(64, np.uint32))
    pipeline = device.pipeline(code)
    group = device.group(pipeline, [device.buffer(values), bins])
    device.run((pipeline, group, (len(values) // 64, 1, 1)))
    return device.read(bins, np.uint32), np.bincount(values % 64, minlength=64)


def collatz(device, random):
    """Loops of different lengths in each invocation, dispatched by numbers in memory."""
    code = """
    @group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
    @compute @workgroup_size(32)
    fn main(@builtin(global_invocation_id) at: vec3u) {
        var n = numbers[at.x];
        var steps = 0u;
        while n > 1u {
            if n % 2u == 0u { n = n / 2u; } else { n = 3u * n + 1u; }
            steps++;
        }
        numbers[at.x] = steps;
    }"""
    numbers = random.integers(1, 10_000, 1024).astype(np.uint32)
    buffer = device.buffer(numbers)
    size = np.array([len(numbers) // 32, 1, 1], np.uint32)
    indirect = device.buffer(size, USAGE | wgpu.BufferUsage.INDIRECT)
    pipeline = device.pipeline(code)
    device.run((pipeline, device.group(pipeline, [buffer]), indirect))

    def steps(n):
        count = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    return device.read(buffer, np.uint32), np.array([steps(int(n)) for n in numbers])


def main():
    """Runs all examples."""
    device = Device()
    print(f"wgpu: {device.info['device']} through {device.info['backend_type']}")
    wrong = 0
    for example in (product, life, histogram, collatz):
        got, expected = example(device, np.random.default_rng(7))
        differ = int(np.count_nonzero(got != expected))
        print(f"wgpu: {example.__name__}: {len(got)} values, {differ} differ")
        wrong += differ
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
