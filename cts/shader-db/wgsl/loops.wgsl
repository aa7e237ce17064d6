// SPDX-License-Identifier: MIT
// loop with continuing and break if, while, switch without fall-through
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> r: array<u32>;

fn step(x: u32) -> u32 {
    switch x & 7u {
        case 0u, 3u: { return x / 2u; }
        case 1u: { return x * 3u + 1u; }
        default: {}
        case 5u: { return x ^ 0xffu; }
    }
    return x + 5u;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = a[id.x] & 0xffffu;
    var count = 0u;
    loop {
        if (x & 15u) == 9u {
            x += 3u;
            continue;
        }
        x = step(x);
        continuing {
            count++;
            break if count >= 12u + (x & 3u);
        }
    }
    while x > 100u {
        x = x >> 1u;
        count += 16u;
    }
    for (var k = 0u; ; k++) {
        if k > x % 7u {
            break;
        }
        count += k << 16u;
    }
    r[id.x] = count * 256u + x;
}
