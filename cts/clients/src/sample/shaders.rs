// SPDX-License-Identifier: MIT
//! The sample's shaders.

/// A shader that begins with what all passes see.
macro_rules! with_scene {
    ($text:literal) => {
        concat!(
            "
layout(set = 0, binding = 0, std140) uniform Scene {
    mat4 camera;
    mat4 light;
    vec4 eye;
    vec4 sun;
};
layout(set = 0, binding = 1) uniform sampler2D stone;
layout(set = 0, binding = 2) uniform sampler2DShadow shadows;
layout(set = 0, binding = 3) uniform sampler2D image;

// The light of the sky from a direction.
vec3 sky(vec3 d) {
    float up = clamp(d.y * 0.5 + 0.5, 0.0, 1.0);
    vec3 above = mix(vec3(0.55, 0.62, 0.72), vec3(0.10, 0.25, 0.60), smoothstep(0.5, 1.0, up));
    return mix(vec3(0.22, 0.20, 0.18), above, smoothstep(0.44, 0.52, up));
}

// How much of the sun reaches a point: nine comparisons, each between four texels.
float sunlight(vec3 p) {
    vec4 at = light * vec4(p, 1.0);
    vec3 uvz = vec3(at.xy * 0.5 + 0.5, at.z);
    float sum = 0.0;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            sum += textureLod(shadows, uvz + vec3(vec2(x, y) / 512.0, 0.0), 0.0);
    return sum / 9.0;
}
",
            $text
        )
    };
}

/// Spheres as the light sees them.
pub(super) const SHADOW_VERTEX: &str = with_scene!(
    "
layout(location = 0) in vec3 corner;
layout(location = 1) in vec4 place;
void main() { gl_Position = light * vec4(corner * place.w + place.xyz, 1.0); }
"
);

/// Spheres as the eye sees them.
pub(super) const SPHERE_VERTEX: &str = with_scene!(
    "
layout(location = 0) in vec3 corner;
layout(location = 1) in vec4 place;
layout(location = 2) in vec4 material;
layout(location = 3) in float metal;
layout(location = 0) out vec3 point;
layout(location = 1) out vec3 normal;
layout(location = 2) flat out vec4 tint;
layout(location = 3) flat out float metallic;
void main() {
    point = corner * place.w + place.xyz;
    normal = corner;
    tint = material;
    metallic = metal;
    gl_Position = camera * vec4(point, 1.0);
}
"
);

/// The distribution of Trowbridge and Reitz, Smith's shadowing, Schlick's approximation of Fresnel.
pub(super) const SPHERE: &str = with_scene!(
    "
layout(location = 0) in vec3 point;
layout(location = 1) in vec3 normal;
layout(location = 2) flat in vec4 tint;
layout(location = 3) flat in float metallic;
layout(location = 0) out vec4 colour;
const float PI = 3.14159265;
void main() {
    vec3 n = normalize(normal), v = normalize(eye.xyz - point), l = sun.xyz, h = normalize(v + l);
    float nl = max(dot(n, l), 0.0), nv = max(dot(n, v), 0.01), nh = max(dot(n, h), 0.0);
    float a = tint.w * tint.w, a2 = a * a;
    float d = nh * nh * (a2 - 1.0) + 1.0;
    float distribution = a2 / (PI * d * d);
    float k = (tint.w + 1.0) * (tint.w + 1.0) / 8.0;
    float shadowing = 0.25 / ((nl * (1.0 - k) + k) * (nv * (1.0 - k) + k));
    vec3 f0 = mix(vec3(0.04), tint.rgb, metallic);
    vec3 fresnel = f0 + (1.0 - f0) * pow(1.0 - max(dot(h, v), 0.0), 5.0);
    vec3 diffuse = tint.rgb * (1.0 - metallic) / PI;
    float lit = nl > 0.0 ? sunlight(point + n * 0.02) : 0.0;
    vec3 direct = (diffuse * (1.0 - fresnel) + fresnel * distribution * shadowing) * nl * 4.0 * lit;
    vec3 around = f0 + (max(vec3(1.0 - tint.w), f0) - f0) * pow(1.0 - nv, 5.0);
    vec3 mirrored = mix(sky(reflect(-v, n)), sky(n), tint.w) * around;
    float open = 0.5 + 0.5 * smoothstep(-0.8, 0.4, n.y);
    colour = vec4(direct + (diffuse * PI * sky(n) * 0.6 + mirrored) * open, 1.0);
}
"
);

/// A square of ground.
pub(super) const GROUND_VERTEX: &str = with_scene!(
    "
layout(location = 0) out vec3 point;
void main() {
    vec2 at = (vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0 - 1.0) * 6.0;
    point = vec3(at.x, 0.0, at.y);
    gl_Position = camera * vec4(point, 1.0);
}
"
);

/// Stone in sun and shadow.
pub(super) const GROUND: &str = with_scene!(
    "
layout(location = 0) in vec3 point;
layout(location = 0) out vec4 colour;
void main() {
    vec3 tint = texture(stone, point.xz * 0.25).rgb;
    float lit = sunlight(point);
    colour = vec4(tint * (sun.y * 1.6 * lit + 0.5 * sky(vec3(0.0, 1.0, 0.0))), 1.0);
}
"
);

/// A triangle over everything.
pub(super) const SCREEN_VERTEX: &str = with_scene!(
    "
layout(location = 0) out vec2 at;
void main() {
    at = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0;
    gl_Position = vec4(at * 2.0 - 1.0, 1.0, 1.0);
}
"
);

/// The sky behind everything.
pub(super) const SKY: &str = with_scene!(
    "
layout(location = 0) in vec2 at;
layout(location = 0) out vec4 colour;
void main() { colour = vec4(sky(normalize(vec3(0.0, 0.55 - at.y, 1.0))), 1.0); }
"
);

/// Light as bright as a screen can show it.
pub(super) const SCREEN: &str = with_scene!(
    "
layout(location = 0) in vec2 at;
layout(location = 0) out vec4 colour;
void main() {
    vec3 x = texelFetch(image, ivec2(gl_FragCoord.xy), 0).rgb * 0.9;
    // Narkowicz's fit of the film curve of ACES.
    colour = vec4(clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0), 1.0);
}
"
);
