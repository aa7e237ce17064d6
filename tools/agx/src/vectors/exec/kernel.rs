// SPDX-License-Identifier: MIT
//! Whole programs: buffer N is argument pair N, the threadgroup root follows the last buffer.

use std::collections::BTreeMap;

use agx_sim::rig::{DATA, Rig};
use agx_sim::shader::Exit;
use serde_json::Value;

use super::Exec;
use super::number::{self, Number, Tolerance};
use crate::vectors::load::packed_hex;

/// Bytes set aside for each buffer.
const BUFFER: usize = 0x1000;
/// The pointer that shared accesses use as their base (launch, 6.2; HW).
const THREADGROUP_ROOT: u64 = 0x8000_0000;

pub(super) fn check(vector: &Exec) -> Result<(), String> {
    let hex = vector.hex.as_deref().ok_or("the program is missing")?;
    let code = packed_hex(hex).ok_or("`hex` is no byte string")?;
    let threads = vector.inputs.get("threads").and_then(Value::as_u64);
    let threads = threads
        .filter(|n| (1..=32).contains(n))
        .ok_or("`threads` must be 1 to 32")?;
    let mut inputs = BTreeMap::new();
    for (key, value) in &vector.inputs {
        if key != "threads" {
            inputs.insert(buffer_number(key)?, number::list(value)?);
        }
    }
    let expected = vector.expected.as_object();
    let mut outputs = BTreeMap::new();
    for (key, value) in expected.ok_or("`expected` names no buffers")? {
        outputs.insert(buffer_number(key)?, number::list(value)?);
    }
    let tolerance = Tolerance::read(&vector.tolerance)?;
    let bits = vector.element_bits.unwrap_or(32);
    run(code, threads as u32, &inputs, &outputs, bits, tolerance)
}

/// Runs a program on one SIMD group and compares the buffers.
pub(super) fn run(
    code: Vec<u8>,
    threads: u32,
    inputs: &BTreeMap<u8, Vec<Number>>,
    outputs: &BTreeMap<u8, Vec<Number>>,
    element_bits: u32,
    tolerance: Tolerance,
) -> Result<(), String> {
    let buffers = 1 + inputs.keys().chain(outputs.keys()).max().unwrap_or(&0);
    let bytes = usize::from(buffers) * BUFFER;
    let mut rig = Rig::with(code, bytes as u64).map_err(|e| e.to_string())?;
    rig.active = u32::MAX >> (32 - threads);
    rig.local = [threads, 1, 1];
    // The programs state no size; the largest there is does for all.
    rig.threadgroup_bytes = 32768;
    for buffer in 0..buffers {
        rig.pointer(buffer, DATA + u64::from(buffer) * BUFFER as u64);
    }
    rig.pointer(buffers, THREADGROUP_ROOT);
    for (buffer, values) in inputs {
        let bytes: Vec<u8> = values.iter().flat_map(|n| n.buffer_bytes()).collect();
        if bytes.len() > BUFFER {
            return Err(format!("buffer {buffer} has more than {BUFFER} bytes"));
        }
        rig.write_bytes(usize::from(*buffer) * BUFFER, &bytes);
    }
    let exit = rig.execute(|_| {}, |_, exit| exit);
    match exit.map_err(|e| e.to_string())? {
        Exit::Stop => {}
        Exit::Fault(fault) => return Err(fault.to_string()),
        other => return Err(format!("the program ended with {other:?}")),
    }
    let size = element_bits as usize / 8;
    for (buffer, values) in outputs {
        let start = usize::from(*buffer) * BUFFER;
        for (index, value) in values.iter().enumerate() {
            let mut raw = [0; 8];
            raw[..size].copy_from_slice(&rig.read_bytes(start + index * size, size));
            let result = u64::from_le_bytes(raw);
            if !number::agrees(result, element_bits, *value, tolerance) {
                return Err(format!(
                    "buffer {buffer}, element {index}: {result:#x}, expected {value:x?}"
                ));
            }
        }
        let end = values.len() * size;
        if !inputs.contains_key(buffer)
            && rig
                .read_bytes(start + end, BUFFER - end)
                .iter()
                .any(|b| *b != 0)
        {
            return Err(format!("buffer {buffer} was written past its last element"));
        }
    }
    Ok(())
}

fn buffer_number(key: &str) -> Result<u8, String> {
    key.strip_prefix("buffer")
        .and_then(|n| n.parse().ok())
        .filter(|n| *n < 64)
        .ok_or_else(|| format!("`{key}` is no buffer"))
}
