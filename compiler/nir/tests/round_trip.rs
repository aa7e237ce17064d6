// SPDX-License-Identifier: MIT
//! Every test module through every operation on a shader.

mod common;

use common::{CASES, KEY, case, options};
use mesa_nir::{Error, Shader};

#[test]
fn every_module_becomes_valid_nir() {
    for case in CASES {
        let shader = case
            .shader()
            .validate()
            .unwrap_or_else(|e| panic!("{}: {e}", case.name));
        assert_eq!(shader.stage(), case.stage);
        assert_eq!(shader.warnings(), &[] as &[String], "{}", case.name);
        let info = shader.info();
        assert_eq!(info.entry_point.as_deref(), Some(case.entry_point));
        assert!(info.instructions > 0);
        let text = shader.print().expect("prints");
        assert!(text.starts_with("shader: MESA_SHADER_"), "{text}");
    }
}

/// For each module some texts that its NIR must hold.
const FEATURES: &[(&str, &str)] = &[
    (
        "compute_ints",
        "deref_atomic|idiv|imod|bit_count|loop {|call |atomic_op=umax|uint8_t|int16_t|uint64_t",
    ),
    (
        "compute_shared",
        "@reduce|@exclusive_scan|@shuffle|@quad_|@vote_any|@ballot|@barrier|shared",
    ),
    (
        "compute_pointers",
        "ffma|fsqrt|f2f16|push_const|deref_cast (block *)%2 (global block)|f16vec4",
    ),
    (
        "compute_values",
        "phi|bcsel|udot_4x8_uadd_sat|sdot_4x8_iadd|@deref_buffer_array_length|frexp_sig|pack_half_2x16|shared struct",
    ),
    (
        "vertex",
        "VARYING_SLOT_POS|SYSTEM_VALUE_BASE_INSTANCE|@load_deref|fmul",
    ),
    (
        "fragment",
        "txb|txd|txl|txf|tg4|lod |txs|@demote|ddx_fine|ddy_coarse|interp_deref_at_offset|texture non-uniform",
    ),
    (
        "fragment_images",
        "@image_deref_load|@image_deref_store|@image_deref_atomic|image_dim=Subpass|txf",
    ),
    ("geometry", "@emit_vertex|@end_primitive|VARYING_SLOT_LAYER"),
    (
        "tessellation",
        "VARYING_SLOT_TESS_LEVEL_OUTER|patch|@barrier",
    ),
];

#[test]
fn the_features_that_the_modules_use_arrive_in_nir() {
    let mut missing = Vec::new();
    for (name, wanted) in FEATURES {
        let case = case(name);
        let text = case.shader().print().expect("prints");
        let absent = wanted.split('|').filter(|w| !text.contains(w));
        missing.extend(absent.map(|w| format!("{name}: {w}")));
    }
    assert_eq!(missing, [""; 0]);
}

#[test]
fn clone_prints_the_same_and_outlives_its_original() {
    for case in CASES {
        let shader = case.shader();
        let text = shader.print();
        let copy = shader.try_clone().expect("clones");
        drop(shader);
        assert_eq!(copy.print(), text, "{}", case.name);
        copy.validate().expect("valid");
    }
}

#[test]
fn serialise_and_deserialise_print_the_same() {
    for case in CASES {
        let shader = case.shader();
        let blob = shader.serialize(&KEY, false).expect("serialises");
        assert_eq!(
            blob,
            shader.serialize(&KEY, false).expect("serialises"),
            "the same bytes each time"
        );
        let back = Shader::deserialize(&blob, &KEY, options()).expect("deserialises");
        assert_eq!(back.print(), shader.print(), "{}", case.name);
        assert_eq!(back.info(), shader.info());
        back.validate().expect("valid");

        let stripped = shader.serialize(&KEY, true).expect("serialises");
        assert!(
            stripped.len() < blob.len(),
            "{}: names were stripped",
            case.name
        );
        Shader::deserialize(&stripped, &KEY, options())
            .expect("deserialises")
            .validate()
            .expect("valid");
    }
}

#[test]
fn what_is_no_blob_is_an_error() {
    for bytes in [
        &b""[..],
        b"CortNIR2",
        b"garbage that is long enough to hold a header and a body too........",
    ] {
        assert!(matches!(
            Shader::deserialize(bytes, &KEY, options()),
            Err(Error::BadBlob(_))
        ));
    }
}

#[test]
fn translation_is_deterministic() {
    for case in CASES {
        let blob = case.shader().serialize(&KEY, false).expect("serialises");
        assert_eq!(
            blob,
            case.shader().serialize(&KEY, false).expect("serialises"),
            "{}",
            case.name
        );
    }
}

#[test]
fn shaders_are_made_and_used_in_several_threads_at_once() {
    let expected: Vec<_> = CASES.iter().map(|c| c.shader().print()).collect();
    std::thread::scope(|scope| {
        for first in 0..8 {
            let expected = &expected;
            scope.spawn(move || {
                for round in 0..20 {
                    let at = (first + round) % CASES.len();
                    let shader = CASES[at].shader();
                    let copy = shader.try_clone().expect("clones");
                    assert_eq!(copy.print(), expected[at]);
                    shader.validate().expect("valid");
                    // A shader dies in another thread than it was made in.
                    scope.spawn(move || drop(copy));
                }
            });
        }
    });
}
