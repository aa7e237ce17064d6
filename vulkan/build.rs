// SPDX-License-Identifier: MIT
//! Names the build for shader caches: a hash of all sources that a compiled shader depends on.

use std::io;
use std::path::{Path, PathBuf};

/// The compiler, what it is built from, and how its results are kept.
const INPUTS: &[&str] = &[
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
    let mut files = Vec::new();
    for input in INPUTS {
        println!("cargo:rerun-if-changed={input}");
        list(Path::new(input), &mut files)?;
    }
    // The order of a directory's entries is the file system's.
    files.sort();
    let mut hasher = blake3::Hasher::new();
    for file in files {
        let text = std::fs::read(&file)?;
        hasher.update(file.to_string_lossy().as_bytes());
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(&text);
    }
    println!(
        "cargo:rustc-env=CORTLAND_DRIVER_BUILD={}",
        hasher.finalize().to_hex()
    );
    Ok(())
}

fn list(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            list(&entry?.path(), files)?;
        }
    } else if path.exists() {
        files.push(path.to_owned());
    }
    Ok(())
}
