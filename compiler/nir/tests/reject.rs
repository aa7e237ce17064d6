// SPDX-License-Identifier: MIT
//! What is refused, and with which message; what options change.

mod common;

use common::{CASES, KEY, case, compute, options, with_stack, without};
use mesa_nir::{
    Capability, Error, SpecConstant, SpirvOptions, Stage, UnsupportedCapability, Validation,
    spirv_to_nir,
};
use std::fmt::Write;

#[test]
fn each_capability_can_be_switched_off() {
    for case in CASES {
        let words = case.words();
        let declared = case
            .text
            .lines()
            .filter_map(|l| l.strip_prefix("OpCapability "));
        for name in declared {
            let capability: Capability = name.parse().expect("a capability");
            match case.translate(&words, &without(capability)) {
                Err(Error::UnsupportedCapability(named)) => assert_eq!(named, name),
                other => panic!("{} without {name}: {other:?}", case.name),
            }
        }
        let all_off = case.translate(&words, &SpirvOptions::none());
        assert!(matches!(all_off, Err(Error::UnsupportedCapability(_))));
    }
}

#[test]
fn a_capability_that_is_off_can_be_a_warning() {
    let case = case("compute_ints");
    let spirv = SpirvOptions {
        unsupported_capability: UnsupportedCapability::Warn,
        ..without(Capability::Int8)
    };
    let shader = case.translate(&case.words(), &spirv).expect("translates");
    let about = |w: &&String| w.contains("Int8");
    assert_eq!(
        shader.warnings().iter().filter(about).count(),
        1,
        "{:?}",
        shader.warnings()
    );
}

#[test]
fn a_missing_entry_point_names_what_there_is() {
    let case = case("fragment_images");
    let words = case.words();
    for (stage, name) in [
        (Stage::Fragment, "nothing"),
        (Stage::Compute, "main"),
        (Stage::Vertex, "main"),
        (Stage::Mesh, ""),
    ] {
        let error = spirv_to_nir(
            &words,
            stage,
            name,
            &[],
            &SpirvOptions::vulkan_1_3(),
            options(),
        )
        .expect_err("none");
        let message = error.to_string();
        assert!(
            message.contains("fragment \"main\", vertex \"vmain\""),
            "{message}"
        );
    }
    let interior = spirv_to_nir(
        &words,
        Stage::Fragment,
        "ma\0in",
        &[],
        &SpirvOptions::vulkan_1_3(),
        options(),
    );
    assert!(matches!(interior, Err(Error::EntryPointNotFound { .. })));
}

#[test]
fn the_validator_has_its_say() {
    // Stores to an input: well-formed, and nothing that Mesa's front end looks for.
    let case = case("vertex");
    let text = case.text.replace("OpStore %vcol %mul", "OpStore %col %mul");
    let words = mesa_nir::assemble(&text).expect("assembles");
    let error = case
        .translate(&words, &SpirvOptions::vulkan_1_3())
        .expect_err("invalid");
    assert!(
        matches!(&error, Error::Invalid(m) if m.contains("read-only") || m.contains("Input")),
        "{error}"
    );

    let skip = SpirvOptions {
        // SAFETY: Mesa translates stores to anything alike; this one is known to do no harm.
        validation: unsafe { Validation::skip() },
        ..SpirvOptions::vulkan_1_3()
    };
    case.translate(&words, &skip).expect("nobody looked");
}

#[test]
fn specialisation_changes_values_and_ignores_unknown_constants() {
    let case = case("compute_shared");
    let with = |specialization: &[SpecConstant]| {
        compute(case.text, specialization)
            .expect("translates")
            .info()
            .workgroup_size
    };
    assert_eq!(with(&[]), [64, 1, 1]);
    assert_eq!(with(&[SpecConstant { id: 0, bits: 128 }]), [128, 1, 1]);
    assert_eq!(with(&[SpecConstant { id: 4242, bits: 7 }]), [64, 1, 1]);
}

#[test]
fn a_division_that_overflows_in_a_constant_is_harmless() {
    // %sdiv is %sw / -1 and the constant 9 sets %sw: the quotient of the smallest integer does not exist.
    let case = case("compute_shared");
    for op in ["SDiv", "SRem", "SMod"] {
        let text = case
            .text
            .replace("SDiv %sw %im1", &format!("{op} %sw %im1"));
        let specialization = [SpecConstant {
            id: 9,
            bits: u64::from(i32::MIN as u32),
        }];
        compute(&text, &specialization).unwrap_or_else(|e| panic!("{op}: {e}"));
    }
}

#[test]
fn an_array_specialised_to_nothing_is_an_error() {
    let case = case("compute_shared");
    let error = compute(case.text, &[SpecConstant { id: 0, bits: 0 }]).expect_err("no length");
    assert!(error.to_string().contains("length 0"), "{error}");
}

/// A compute module around these types, constants and body.
fn module(globals: &str, body: &str) -> String {
    format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\" %g\n\
         OpExecutionMode %main LocalSize 1 1 1\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
         %u32 = OpTypeInt 32 0\n%bool = OpTypeBool\n%true = OpConstantTrue %bool\n{globals}\n\
         %main = OpFunction %void None %fn\n%entry = OpLabel\n{body}OpReturn\nOpFunctionEnd\n"
    )
}

#[test]
fn a_few_words_cannot_ask_for_gigabytes() {
    for length in [1_u64 << 21, (1 << 32) - 1] {
        let globals = format!(
            "%n = OpConstant %u32 {length}\n%a = OpTypeArray %u32 %n\n%p = OpTypePointer Private %a\n\
             %z = OpConstantNull %a\n%g = OpVariable %p Private %z"
        );
        let error = compute(&module(&globals, ""), &[]).expect_err("too large");
        assert!(matches!(error, Error::TooLarge(_)), "{error}");
    }
    // The same array as a mere variable costs nothing.
    let globals = "%n = OpConstant %u32 2000000\n%a = OpTypeArray %u32 %n\n%p = OpTypePointer Private %a\n\
                   %g = OpVariable %p Private";
    compute(&module(globals, ""), &[]).expect("cheap");
}

#[test]
fn types_that_double_at_each_level_are_refused() {
    let mut globals = String::from("%t0 = OpTypeStruct %u32 %u32\n");
    for level in 1..60 {
        writeln!(globals, "%t{level} = OpTypeStruct %t{0} %t{0}", level - 1).expect("a string");
    }
    globals += "%p = OpTypePointer Private %t59\n%g = OpVariable %p Private";
    let error = compute(&module(&globals, ""), &[]).expect_err("too large");
    assert!(matches!(error, Error::TooLarge(_)), "{error}");
}

#[test]
fn deep_nesting_does_not_exhaust_a_small_stack() {
    // The system's validator takes time cubic in the depth: 25 seconds for 900.
    let depth = 300;
    let mut body = String::new();
    for level in 0..depth {
        write!(
            body,
            "OpSelectionMerge %m{level} None\nOpBranchConditional %true %t{level} %m{level}\n%t{level} = OpLabel\n"
        )
        .expect("a string");
    }
    for level in (0..depth).rev() {
        write!(body, "OpBranch %m{level}\n%m{level} = OpLabel\n").expect("a string");
    }
    let text = module(
        "%p = OpTypePointer Private %u32\n%g = OpVariable %p Private",
        &body,
    );
    with_stack(128 << 10, move || {
        let shader = compute(&text, &[]).expect("translates");
        let shader = shader.validate().expect("valid");
        let printed = shader.print().expect("prints");
        let blob = shader.serialize(&KEY, false).expect("serialises");
        let back = mesa_nir::Shader::deserialize(&blob, &KEY, options()).expect("deserialises");
        assert_eq!(back.print().expect("prints"), printed);
        drop(shader.try_clone().expect("clones"));
    });
}

#[test]
fn a_wide_structure_does_not_exhaust_a_small_stack() {
    let mut globals = String::from("%s = OpTypeStruct");
    globals += &" %u32".repeat(16_000);
    globals += "\n%p = OpTypePointer Private %s\n%g = OpVariable %p Private";
    let text = module(&globals, "");
    with_stack(256 << 10, move || compute(&text, &[]).map(drop)).expect("translates");
}

#[test]
fn what_runs_on_the_callers_stack_needs_little_of_it() {
    // As much of everything as limits.rs calls shallow.
    let mut body = String::new();
    for level in 0..48 {
        write!(
            body,
            "OpSelectionMerge %m{level} None\nOpBranchConditional %true %t{level} %m{level}\n%t{level} = OpLabel\n"
        )
        .expect("a string");
    }
    for level in (0..48).rev() {
        write!(body, "OpBranch %m{level}\n%m{level} = OpLabel\n").expect("a string");
    }
    let mut globals = format!(
        "%n = OpConstant %u32 2\n%a0 = OpTypeStruct{}\n",
        " %u32".repeat(128)
    );
    for level in 1..20 {
        writeln!(globals, "%a{level} = OpTypeStruct %a{}", level - 1).expect("a string");
    }
    globals += "%p = OpTypePointer Private %a19\n%g = OpVariable %p Private";
    let text = module(&globals, &body);
    with_stack(128 << 10, move || {
        let shader = compute(&text, &[])
            .expect("translates")
            .validate()
            .expect("valid");
        let blob = shader.serialize(&KEY, false).expect("serialises");
        let back = mesa_nir::Shader::deserialize(&blob, &KEY, options()).expect("deserialises");
        let copy = back.try_clone().expect("clones");
        assert_eq!(
            copy.print().expect("prints"),
            shader.print().expect("prints")
        );
    });
}

#[test]
fn too_many_selections_are_refused() {
    let mut body = String::new();
    for n in 0..8200 {
        write!(
            body,
            "OpSelectionMerge %m{n} None\nOpBranchConditional %true %t{n} %m{n}\n%t{n} = OpLabel\nOpBranch %m{n}\n%m{n} = OpLabel\n"
        )
        .expect("a string");
    }
    let globals = "%p = OpTypePointer Private %u32\n%g = OpVariable %p Private";
    let error = compute(&module(globals, &body), &[]).expect_err("too many");
    assert!(matches!(error, Error::TooLarge(_)), "{error}");
}

#[test]
fn an_identifier_bound_out_of_proportion_is_refused() {
    let globals = "%p = OpTypePointer Private %u32\n%g = OpVariable %p Private";
    let mut words = mesa_nir::assemble(&module(globals, "")).expect("assembles");
    words[3] = 0x3f_ffff;
    let error = spirv_to_nir(
        &words,
        Stage::Compute,
        "main",
        &[],
        &SpirvOptions::vulkan_1_3(),
        options(),
    )
    .expect_err("too large");
    assert!(matches!(error, Error::TooLarge(_)), "{error}");
}

#[test]
fn a_capability_that_is_off_does_not_come_in_by_implication() {
    let text = module(
        "%u64 = OpTypeInt 64 0\n%p = OpTypePointer Private %u64\n%g = OpVariable %p Private",
        "%x = OpLoad %u64 %g\nOpStore %g %x\n",
    );
    let text = text.replace(
        "OpCapability Shader",
        "OpCapability Shader\nOpCapability Int64Atomics",
    );
    let words = mesa_nir::assemble(&text).expect("assembles");
    let translate =
        |spirv: &SpirvOptions| spirv_to_nir(&words, Stage::Compute, "main", &[], spirv, options());
    translate(&SpirvOptions::vulkan_1_3()).expect("with Int64");
    let error = translate(&without(Capability::Int64)).expect_err("without Int64");
    assert!(
        matches!(&error, Error::UnsupportedCapability(name) if name.starts_with("Int64 ")),
        "{error}"
    );
}

#[test]
fn a_boolean_is_specialised_by_32_bits() {
    let text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
                OpExecutionModeId %main LocalSizeId %x %one %one\nOpDecorate %b SpecId 0\n%void = OpTypeVoid\n\
                %fn = OpTypeFunction %void\n%u32 = OpTypeInt 32 0\n%bool = OpTypeBool\n%one = OpConstant %u32 1\n\
                %two = OpConstant %u32 2\n%b = OpSpecConstantFalse %bool\n%x = OpSpecConstantOp %u32 Select %b %two %one\n\
                %main = OpFunction %void None %fn\n%entry = OpLabel\nOpReturn\nOpFunctionEnd\n";
    let size = |bits| {
        let shader = compute(text, &[SpecConstant { id: 0, bits }]).expect("translates");
        shader.info().workgroup_size[0]
    };
    assert_eq!([size(0), size(1), size(7), size(1 << 32)], [1, 2, 2, 1]);
}
