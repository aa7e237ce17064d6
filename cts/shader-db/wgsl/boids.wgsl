// SPDX-License-Identifier: MIT
// flocking: a step of particles in structures, uniform parameters
struct Particle { position: vec2<f32>, velocity: vec2<f32> }
struct Params { dt: f32, distances: vec3<f32>, scales: vec3<f32> }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> from_: array<Particle>;
@group(0) @binding(2) var<storage, read_write> to_: array<Particle>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let total = arrayLength(&from_);
    let me = from_[id.x];
    var mass = vec2(0.0);
    var velocity = vec2(0.0);
    var apart = vec2(0.0);
    var neighbours = 0;
    for (var i = 0u; i < total; i++) {
        if i == id.x {
            continue;
        }
        let other = from_[i];
        let d = distance(other.position, me.position);
        if d < params.distances.x {
            mass += other.position;
            neighbours += 1;
        }
        if d < params.distances.y {
            apart -= other.position - me.position;
        }
        if d < params.distances.z {
            velocity += other.velocity;
        }
    }
    if neighbours > 0 {
        mass = mass / f32(neighbours) - me.position;
    }
    var v = me.velocity + mass * params.scales.x + apart * params.scales.y + velocity * params.scales.z;
    v = normalize(v) * clamp(length(v), 0.01, 0.1);
    var p = me.position + v * params.dt;
    p = select(select(p, vec2(-1.0), p > vec2(1.0)), vec2(1.0), p < vec2(-1.0));
    to_[id.x] = Particle(p, v);
}
