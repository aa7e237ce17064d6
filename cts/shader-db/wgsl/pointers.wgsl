// SPDX-License-Identifier: MIT
// functions that take pointers to private and function memory, arrays of structures
struct Stack { items: array<u32, 12>, depth: u32 }
var<private> calls: u32;
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> r: array<u32>;

fn push(s: ptr<function, Stack>, x: u32) {
    (*s).items[(*s).depth] = x;
    (*s).depth += 1u;
    calls += 1u;
}

fn pop(s: ptr<function, Stack>) -> u32 {
    (*s).depth -= 1u;
    calls += 256u;
    return (*s).items[(*s).depth];
}

// Reverse Polish notation, four bits a symbol.
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var s: Stack;
    var x = a[id.x];
    push(&s, id.x);
    for (var k = 0u; k < 8u; k++) {
        let symbol = x & 15u;
        x = x >> 4u;
        if symbol < 10u || s.depth < 2u {
            push(&s, symbol);
        } else {
            let q = pop(&s);
            let p = pop(&s);
            switch symbol {
                case 10u: { push(&s, p + q); }
                case 11u: { push(&s, p - q); }
                case 12u: { push(&s, p * q); }
                default: { push(&s, max(p, q) * 2u); }
            }
        }
    }
    var sum = 0u;
    while s.depth > 0u {
        sum = sum * 7u + pop(&s);
    }
    r[id.x * 2u] = sum;
    r[id.x * 2u + 1u] = calls;
}
