// SPDX-License-Identifier: MIT
//! Compiles the driver's own shaders to SPIR-V, and names the build for shader caches.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// Module, source, macros.
const SHADERS: &[(&str, &str, &[&str])] = &[
    ("copy16", "copy", &["-DTYPE=u32vec4", "-DSIZE=16"]),
    ("copy4", "copy", &["-DTYPE=uint32_t", "-DSIZE=4"]),
    ("copy1", "copy", &["-DTYPE=uint8_t", "-DSIZE=1"]),
    (
        "fill16",
        "fill",
        &["-DTYPE=u32vec4", "-DSIZE=16", "-DVALUE=value"],
    ),
    (
        "fill4",
        "fill",
        &["-DTYPE=uint32_t", "-DSIZE=4", "-DVALUE=value.x"],
    ),
    (
        "image_copy16",
        "image_copy",
        &["-DTYPE=u32vec4", "-DSIZE=16"],
    ),
    ("image_copy8", "image_copy", &["-DTYPE=u32vec2", "-DSIZE=8"]),
    (
        "image_copy4",
        "image_copy",
        &["-DTYPE=uint32_t", "-DSIZE=4"],
    ),
    (
        "image_copy2",
        "image_copy",
        &["-DTYPE=uint16_t", "-DSIZE=2"],
    ),
    ("image_copy1", "image_copy", &["-DTYPE=uint8_t", "-DSIZE=1"]),
    ("query", "query", &[]),
    ("draw_count", "draw_count", &[]),
    ("empty", "empty.frag", &[]),
    ("clear_vertex", "clear.vert", &[]),
    ("clear_vertex_layered", "clear.vert", &["-DLAYERED"]),
    ("clear_float", "clear.frag", &["-DTYPE=vec4"]),
    ("clear_sint", "clear.frag", &["-DTYPE=ivec4"]),
    ("clear_uint", "clear.frag", &["-DTYPE=uvec4"]),
    ("blit", "blit", &[]),
    ("blit_solid", "blit", &["-DSOLID"]),
    ("blit_integer", "blit", &["-DINTEGER"]),
    ("blit_solid_integer", "blit", &["-DSOLID", "-DINTEGER"]),
    ("resolve", "resolve", &[]),
    ("resolve_integer", "resolve", &["-DINTEGER"]),
];

/// What a compiled shader depends on: the compiler, what it is built from, how its results are kept.
const COMPILER: &[&str] = &[
    "build.rs",
    "src/pipeline",
    "../Cargo.lock",
    "../compiler/nir/build.rs",
    "../compiler/nir/mesa",
    "../compiler/nir/shim",
    "../compiler/nir/src",
    "../compiler/agx/src",
    "../hw/isa/src",
    "../hw/stream/src",
];

fn main() -> io::Result<()> {
    compile_shaders();
    name_build()
}

fn compile_shaders() {
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
    println!("cargo:rerun-if-changed=src/internal");
    for (module, source, macros) in SHADERS {
        let source = match source.contains('.') {
            true => format!("src/internal/{source}"),
            false => format!("src/internal/{source}.comp"),
        };
        let stage = Path::new(&source).extension().and_then(OsStr::to_str);
        let stage = stage.unwrap_or("comp");
        let output = Path::new(&out).join(format!("{module}.spv"));
        let result = Command::new("glslangValidator")
            .args(["--target-env", "vulkan1.3", "-S", stage])
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

/// A hash of all sources that a compiled shader depends on.
fn name_build() -> io::Result<()> {
    let mut files = Vec::new();
    for input in COMPILER {
        println!("cargo:rerun-if-changed={input}");
        list(Path::new(input), &mut files)?;
    }
    // The order of a directory's entries is the file system's.
    files.sort();
    let mut hasher = blake3::Hasher::new();
    for file in files {
        let text = fs::read(&file)?;
        hasher.update(file.to_string_lossy().as_bytes());
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(&text);
    }
    let (version, hash) = (env!("CARGO_PKG_VERSION"), hasher.finalize().to_hex());
    println!("cargo:rustc-env=CORTLAND_DRIVER_BUILD={version}-{hash}");
    Ok(())
}

fn list(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            list(&entry?.path(), files)?;
        }
    } else if path.exists() {
        files.push(path.to_owned());
    }
    Ok(())
}
