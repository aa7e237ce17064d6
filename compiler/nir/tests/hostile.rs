// SPDX-License-Identifier: MIT
//! Modules that the validator lets through, or that are valid, and that once did harm inside Mesa.

mod common;

use common::compute;
use mesa_nir::{Error, SpecConstant};

macro_rules! module {
    ($name:literal) => {
        include_str!(concat!("spirv/hostile/", $name, ".spvasm"))
    };
}

fn refused(text: &str, specialization: &[SpecConstant]) -> Error {
    match compute(text, specialization) {
        Err(error) => error,
        Ok(shader) => panic!("accepted: {shader:?}"),
    }
}

fn value(id: u32, bits: u64) -> [SpecConstant; 1] {
    [SpecConstant { id, bits }]
}

#[test]
fn composite_operations_on_constants_stay_within_their_operands() {
    // Each passes SPIRV-Tools 2023.1; newer ones refuse some of them first.
    for (name, text) in [
        ("extract array", module!("extract_array_at_length")),
        ("extract struct", module!("extract_struct_at_length")),
        ("extract type", module!("extract_other_type")),
        ("insert", module!("insert_at_length")),
        ("insert type", module!("insert_other_type")),
        ("many literals", module!("shuffle_many_literals")),
        ("few literals", module!("shuffle_short")),
        ("matrices", module!("select_of_matrices")),
    ] {
        let error = refused(text, &[]);
        assert!(
            matches!(error, Error::Translation(_) | Error::Invalid(_)),
            "{name}: {error:?}"
        );
    }
}

#[test]
fn lengths_are_computed_as_mesa_does() {
    // 1 << 62 is 1 << 30 to Mesa, and so on: too long for a null constant, whoever notices.
    for text in [module!("shift"), module!("shift54"), module!("shift56")] {
        let error = refused(text, &[]);
        assert!(matches!(error, Error::TooLarge(_)), "{error:?}");
    }
    compute(module!("spec_id_in_group"), &[]).expect("four elements");
    let error = refused(module!("spec_id_in_group"), &value(0, 1_000_000_000));
    assert!(matches!(error, Error::TooLarge(_)), "{error:?}");
}

#[test]
fn a_spec_id_cannot_replace_an_operation() {
    // Among them VectorShuffle (79), CompositeExtract (81), CompositeInsert (82) and IAdd itself (128).
    for bits in [0, 79, 81, 82, 128, u64::MAX] {
        let error = refused(module!("spec_id_of_an_operation"), &value(0, bits));
        assert!(
            matches!(&error, Error::Malformed(m) if m.contains("SpecId"))
                || matches!(error, Error::Invalid(_)),
            "{error:?}"
        );
    }
}

#[test]
fn lengths_that_come_from_composites_are_known() {
    let text = module!("array_of_workgroup_size");
    compute(text, &[]).expect("four elements");
    compute(text, &value(0, 1000)).expect("a thousand");
    let error = refused(text, &value(0, 1 << 30));
    assert!(matches!(error, Error::TooLarge(_)), "{error:?}");
}

#[test]
fn no_array_is_specialised_to_nothing() {
    for text in [
        module!("array_of_workgroup_size"),
        module!("zero_length_block"),
        module!("zero_length_descriptors"),
    ] {
        compute(text, &[]).expect("four elements");
        let error = refused(text, &value(0, 0)).to_string();
        assert!(error.contains("length 0"), "{error}");
    }
}

#[test]
fn a_workgroup_size_is_neither_truncated_nor_zero() {
    let says = "workgroup size";
    for (text, specialization) in [
        (module!("localsizeid"), vec![]),
        (module!("localsize_builtin"), vec![]),
        (module!("localsize_builtin"), value(0, 0).to_vec()),
        (module!("localsize_builtin"), value(0, 1 << 16).to_vec()),
        (module!("local_size_id_zero"), value(0, 0).to_vec()),
        (module!("local_size_id_zero"), value(0, 1 << 16).to_vec()),
    ] {
        let error = refused(text, &specialization).to_string();
        assert!(error.contains(says), "{error}");
    }
    let shader = compute(module!("localsize_builtin"), &value(0, 65_535)).expect("fits");
    assert_eq!(shader.info().workgroup_size, [65_535, 1, 1]);
    let shader = compute(module!("local_size_id_zero"), &[]).expect("fits");
    assert_eq!(shader.info().workgroup_size, [1, 4, 1]);
}
