// SPDX-License-Identifier: MIT
// compare-exchange loop and the other atomics of storage buffers
struct State { highest: atomic<i32>, lowest: atomic<i32>, bits: atomic<u32>, sum: atomic<u32>, squares: atomic<u32> }
@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read_write> state: State;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = a[id.x];
    atomicMax(&state.highest, x);
    atomicMin(&state.lowest, x);
    atomicOr(&state.bits, 1u << (u32(x) & 31u));
    atomicSub(&state.sum, u32(x));
    var old = atomicLoad(&state.squares);
    loop {
        let result = atomicCompareExchangeWeak(&state.squares, old, old + u32(x * x));
        if result.exchanged {
            break;
        }
        old = result.old_value;
    }
}
