// SPDX-License-Identifier: MIT
//! Running the `agx` program.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What a run printed, and its exit status.
pub(crate) struct Run {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: Option<i32>,
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            out: String::from_utf8(output.stdout).expect("text output"),
            err: String::from_utf8(output.stderr).expect("text output"),
            code: output.status.code(),
        }
    }
}

/// Runs `agx` with arguments and standard input.
pub(crate) fn agx_raw(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_agx"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("agx starts");
    // A program that does not read its input may be gone already.
    let _ = child.stdin.take().expect("piped").write_all(input);
    child.wait_with_output().expect("agx ends")
}

/// The same, with text output.
pub(crate) fn agx(args: &[&str], input: &[u8]) -> Run {
    agx_raw(args, input).into()
}

/// A path inside the repository, relative to this crate.
pub(crate) fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

/// A scratch file that goes away with the value.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str, contents: &str) -> Scratch {
        let name = format!("agx-test-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, contents).expect("scratch file");
        Scratch(path)
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.to_str().expect("unicode path")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// `0c a0` or `0ca0` as bytes.
pub(crate) fn bytes(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).expect("hexadecimal"))
        .collect()
}
