#!/bin/sh
# SPDX-License-Identifier: MIT
# Build one program with cargo for meson.build: source directory, output file, then arguments of `cargo build`.
# The program has the output file's name; CARGO_TARGET_DIR says where cargo builds.
set -eu

source=$1
output=$(realpath -m "$2")
shift 2
cd "$source"
cargo build --release "$@"
cp "$CARGO_TARGET_DIR/release/$(basename "$output")" "$output"
