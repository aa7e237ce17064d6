// SPDX-License-Identifier: MIT
//! Compiles the driver's own shaders to SPIR-V.

use std::path::Path;
use std::process::Command;

/// Module, source, macros.
const SHADERS: &[(&str, &str, &[&str])] = &[
    ("copy16", "copy", &["-DTYPE=u32vec4", "-DSIZE=16"]),
    ("copy4", "copy", &["-DTYPE=uint32_t", "-DSIZE=4"]),
    ("copy1", "copy", &["-DTYPE=uint8_t", "-DSIZE=1"]),
    ("fill16", "fill", &["-DTYPE=u32vec4", "-DSIZE=16"]),
    ("fill4", "fill", &["-DTYPE=uint32_t", "-DSIZE=4"]),
    ("query", "query", &[]),
];

fn main() {
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
    println!("cargo::rerun-if-changed=src/internal");
    for (module, source, macros) in SHADERS {
        let source = format!("src/internal/{source}.comp");
        let output = Path::new(&out).join(format!("{module}.spv"));
        let result = Command::new("glslangValidator")
            .args(["--target-env", "vulkan1.3", "-S", "comp"])
            .args(*macros)
            .arg("-o")
            .arg(&output)
            .arg(&source)
            .output();
        match result {
            Ok(result) if result.status.success() => {}
            Ok(result) => panic!("{source}: {}", String::from_utf8_lossy(&result.stdout)),
            Err(error) => panic!(
                "glslangValidator, which compiles the driver's own shaders, does not run ({error}); \
                 Debian has it in glslang-tools"
            ),
        }
    }
}
