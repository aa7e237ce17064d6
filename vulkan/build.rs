// SPDX-License-Identifier: MIT
//! Names the build: what the driver makes of a shader depends on these sources and no others.

use std::path::{Path, PathBuf};

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

fn main() {
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
