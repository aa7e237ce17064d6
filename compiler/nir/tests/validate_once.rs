// SPDX-License-Identifier: MIT
//! How often the validator runs. Alone in its process, since it counts.

mod common;

use common::{CASES, case};
use mesa_nir::{BlockLayout, SpirvOptions, forget_validated_modules, validator_runs};

#[test]
fn a_module_is_validated_once() {
    let case = case("fragment_images");
    let other = CASES
        .iter()
        .rfind(|c| c.name == "fragment_images")
        .expect("a case");
    let words = case.words();
    let runs = |f: &dyn Fn()| {
        let before = validator_runs();
        f();
        validator_runs() - before
    };
    let vulkan = SpirvOptions::vulkan_1_3();
    let relaxed = SpirvOptions {
        block_layout: BlockLayout::Relaxed,
        ..vulkan.clone()
    };
    let translate = |spirv: &SpirvOptions| drop(case.translate(&words, spirv).expect("valid"));
    assert_eq!(runs(&|| translate(&vulkan)), 1);
    assert_eq!(runs(&|| translate(&vulkan)), 0);
    // Another entry point of the same module, and the same words elsewhere.
    assert_ne!(case.stage, other.stage);
    assert_eq!(
        runs(&|| drop(other.translate(&words.clone(), &vulkan).expect("valid"))),
        0
    );
    // Other layout rules, and another module.
    assert_eq!(runs(&|| translate(&relaxed)), 1);
    let mut changed = words.clone();
    changed[2] ^= 1; // The generator's number.
    assert_eq!(
        runs(&|| drop(case.translate(&changed, &vulkan).expect("valid"))),
        1
    );
    // What fails is not remembered.
    let broken = case.text.replacen("OpReturn\n", "", 1);
    let broken = mesa_nir::assemble(&broken).expect("assembles");
    for _ in 0..2 {
        assert_eq!(
            runs(&|| drop(case.translate(&broken, &vulkan).expect_err("invalid"))),
            1
        );
    }
    forget_validated_modules();
    assert_eq!(runs(&|| translate(&vulkan)), 1);
}
