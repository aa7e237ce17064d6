// SPDX-License-Identifier: MIT
//! The system has no memory left. Alone in its process, whose address space it limits, and without the address space
//! that the allocator would otherwise reserve when the process starts.

mod common;

use common::compute;
use mesa_nir::Error;
use std::process::Command;

#[test]
fn refused_memory_is_an_error() {
    const RESERVE: &str = "MIMALLOC_ARENA_RESERVE";
    if std::env::var_os(RESERVE).is_none() {
        let done = Command::new(std::env::current_exe().expect("a path"))
            .args(["--exact", "refused_memory_is_an_error"])
            .env(RESERVE, "0")
            .status();
        assert!(done.is_ok_and(|status| status.success()));
        return;
    }
    // A million constants, which need several hundred megabytes.
    let text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\" %g\n\
                OpExecutionMode %main LocalSize 1 1 1\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
                %u32 = OpTypeInt 32 0\n%n = OpConstant %u32 500000\n%a = OpTypeArray %u32 %n\n\
                %p = OpTypePointer Private %a\n%z = OpConstantNull %a\n%g = OpVariable %p Private %z\n\
                %main = OpFunction %void None %fn\n%entry = OpLabel\nOpReturn\nOpFunctionEnd\n";
    let small = text.replace("500000", "50");
    compute(&small, &[]).expect("enough memory");
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let size = status
        .lines()
        .find_map(|l| l.strip_prefix("VmSize:"))
        .expect("a size");
    let size: usize = size
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .expect("a number");
    let limit = (size << 10) + (48 << 20);
    let done = Command::new("prlimit")
        .args([
            format!("--as={limit}"),
            format!("--pid={}", std::process::id()),
        ])
        .status();
    if !done.is_ok_and(|s| s.success()) {
        eprintln!("no prlimit here: not tested");
        return;
    }
    for _ in 0..3 {
        match compute(text, &[]) {
            Err(Error::OutOfMemory) => {}
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it fitted"),
        }
        compute(&small, &[]).expect("as before");
    }
}
