// SPDX-License-Identifier: MIT
//! Many inputs, the same bytes every time, what is refused by name, the outputs besides the position.

use agx_compiler::binary::{StageInfo, VaryingMode};
use agx_hw::launcher::Samples;
use mesa_nir::{Attachment, ColourEncoding, ColourFormat, FragmentLowering, VertexLowering};

use crate::pipeline::{Draw, Scene, format, fragment, vertex};

#[test]
fn as_many_scalars_as_there_are_words() {
    let count = 30;
    let mut vs = String::new();
    let (mut fs, mut sum) = (String::new(), String::new());
    for i in 0..count {
        vs += &format!("layout(location = {i}) out vec4 v{i};");
        fs += &format!("layout(location = {i}) in vec4 v{i};");
        sum += &format!("o += v{i} * {}.0;", i + 1);
    }
    vs += "void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0.5, 1);";
    for i in 0..count {
        vs += &format!("v{i} = vec4({i}, {i} + 1, {i} + 2, {i} + 3);");
    }
    vs += "}";
    // All of them are live at one time.
    fs += &format!(
        "layout(location = 0) out vec4 o;
         void main() {{ o = vec4(0); {sum} if (o.x < 0) {{ o = vec4(0); {sum} }} }}"
    );
    let mut scene = Scene::new(
        [8, 8],
        Samples::One,
        &[format("R32G32B32A32_SFLOAT")],
        [0; 4],
    );
    scene.draw(&Draw::new(&vs, &fs), |_| {});
    scene.render();
    let expected = |c: i32| (0..count).map(|i| (i + c) * (i + 1)).sum::<i32>() as f32;
    let got = scene.floats(0, 4, 4, 0);
    for (c, got) in (0..).zip(got) {
        assert!((got - expected(c)).abs() < 1.0, "{got} for {}", expected(c));
    }
}

#[test]
fn the_same_bytes_every_time() {
    let text = "layout(location = 2) in vec4 a; layout(location = 5) flat in uint b;
        layout(location = 7) noperspective in vec2 c; layout(location = 0) out vec4 o;
        void main() { o = a.wzyx * c.xyxy + vec4(b); }";
    let lowering = FragmentLowering {
        attachments: std::array::from_fn(|i| (i == 0).then_some(rgba8())),
        ..FragmentLowering::default()
    };
    let first = fragment(text, &lowering).unwrap();
    let StageInfo::Fragment(info) = &first.stage else {
        panic!("{:?}", first.stage);
    };
    let varyings: Vec<_> = info
        .varyings
        .iter()
        .map(|v| (v.location, v.component, v.mode))
        .collect();
    let smooth = (0..4).map(|c| (2, c, VaryingMode::Smooth));
    let linear = (0..2).map(|c| (7, c, VaryingMode::Linear));
    let expected: Vec<_> = smooth
        .chain([(5, 0, VaryingMode::Flat)])
        .chain(linear)
        .collect();
    assert_eq!(varyings, expected);
    for _ in 0..5 {
        assert_eq!(fragment(text, &lowering).unwrap(), first);
    }
}

const fn rgba8() -> Attachment {
    Attachment {
        format: ColourFormat {
            encoding: ColourEncoding::Unorm8,
            components: 4,
        },
        word: 0,
        write_mask: 15,
        blend: None,
    }
}

#[test]
fn refused_by_name() {
    let text = "out float gl_CullDistance[1];
        void main() { gl_Position = vec4(0); gl_CullDistance[0] = 1; }";
    let error = vertex(text, &VertexLowering::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("ull"), "{error}");
    let text = "layout(location = 0) out vec4 o; void main() { o = vec4(1); }";
    let mut lowering = FragmentLowering::default();
    lowering.attachments[0] = Some(Attachment {
        word: 32,
        ..rgba8()
    });
    let error = fragment(text, &lowering).unwrap_err().to_string();
    assert!(error.contains("32 words"), "{error}");
    lowering.samples = 3;
    let error = fragment(text, &lowering).unwrap_err().to_string();
    assert!(error.contains("3 samples"), "{error}");
    let mut attributes = VertexLowering::default();
    attributes.attributes.push(mesa_nir::Attribute {
        location: 0,
        binding: 0,
        offset: 0,
        format: 123,
        rate: mesa_nir::Rate::Vertex,
    });
    let text = "layout(location = 0) in vec4 a; void main() { gl_Position = a; }";
    let error = vertex(text, &attributes).unwrap_err().to_string();
    assert!(error.contains("format 123"), "{error}");
}

#[test]
fn the_order_of_outputs() {
    let text = "layout(location = 4) out vec2 a; layout(location = 1) out float b;
        out gl_PerVertex { vec4 gl_Position; float gl_PointSize; float gl_ClipDistance[3]; };
        void main() {
            gl_Position = vec4(1, 2, 3, 4); gl_PointSize = 9; a = vec2(5, 6); b = 7;
            gl_ClipDistance[0] = 10; gl_ClipDistance[1] = 11; gl_ClipDistance[2] = 12;
        }";
    let binary = vertex(text, &VertexLowering::default()).unwrap();
    let StageInfo::Vertex(info) = binary.stage else {
        panic!("{:?}", binary.stage);
    };
    assert_eq!(
        (info.outputs, info.user_scalars, info.clip_distances),
        (11, 3, 3)
    );
    assert!(info.point_size && !info.layer && !info.viewport && !info.uses_draw_parameters);
    // Points get a size all the same.
    let text = "void main() { gl_Position = vec4(0); }";
    for point_size in [false, true] {
        let lowering = VertexLowering {
            point_size,
            ..VertexLowering::default()
        };
        let StageInfo::Vertex(info) = vertex(text, &lowering).unwrap().stage else {
            panic!("no vertex shader");
        };
        assert_eq!(
            (info.point_size, info.outputs),
            (point_size, 4 + u8::from(point_size))
        );
    }
}
