// SPDX-License-Identifier: MIT
//! Names the build: what the driver makes of a shader depends on these sources and no others. And
//! compiles the driver's own shaders to SPIR-V.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where sources are, seen from this crate.
const SOURCES: [&str; 7] = [
    "src",
    "../compiler/agx/src",
    "../compiler/nir/mesa",
    "../compiler/nir/shim",
    "../compiler/nir/src",
    "../hw/isa/src",
    "../hw/stream/src",
];

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
    name_build();
    compile_shaders();
}

fn name_build() {
    let mut hash = blake3::Hasher::new();
    for directory in SOURCES {
        println!("cargo::rerun-if-changed={directory}");
        for file in files(Path::new(directory)) {
            let contents = read(&file);
            let name = file.to_string_lossy();
            for part in [name.as_bytes(), &contents] {
                hash.update(&(part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
    }
    let version = env!("CARGO_PKG_VERSION");
    let hash = hash.finalize().to_hex();
    println!("cargo::rustc-env=CORTLAND_DRIVER_BUILD={version}-{hash}");
}

fn compile_shaders() {
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
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

fn read(file: &Path) -> Vec<u8> {
    std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// All files in a directory, sorted.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("a directory that can be read").path())
        .collect();
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.push(path);
        }
    }
    all
}
