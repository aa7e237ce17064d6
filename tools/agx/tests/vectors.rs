// SPDX-License-Identifier: MIT
//! `agx vectors`: the golden vectors hold, and nothing that is wrong passes.

mod support;

use serde_json::{Value, json};
use support::{Run, Scratch, agx, path};

fn check(file: &str) -> Run {
    agx(
        &["vectors", path(file).to_str().expect("unicode path")],
        b"",
    )
}

/// Lines as a file, checked.
fn check_lines(name: &str, lines: &[String]) -> Run {
    let file = Scratch::new(name, &lines.join("\n"));
    agx(&["vectors", file.as_str()], b"")
}

fn last(run: &Run) -> &str {
    run.out.lines().last().unwrap_or("")
}

fn vectors(file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path(file)).expect("vectors");
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).expect("a vector"))
        .collect()
}

fn vector(id: &str) -> Value {
    vectors("../../hw/isa/vectors/encode.jsonl")
        .into_iter()
        .find(|v| v["id"] == id)
        .unwrap_or_else(|| panic!("no vector {id}"))
}

#[test]
fn every_encoding_vector_holds() {
    let run = check("../../hw/isa/vectors/encode.jsonl");
    assert_eq!(run.code, Some(0), "{}", run.out);
    assert_eq!(
        last(&run),
        "527 passed, 0 failed, 0 unchecked",
        "{}",
        run.out
    );
}

#[test]
fn every_launch_vector_holds() {
    let run = check("../../hw/stream/vectors/launch.jsonl");
    assert_eq!(run.code, Some(0), "{}", run.out);
    assert_eq!(
        last(&run),
        "16 passed, 0 failed, 0 unchecked",
        "{}",
        run.out
    );
}

#[test]
fn every_execution_vector_holds() {
    let run = check("../../hw/isa/vectors/exec.jsonl");
    assert_eq!(run.code, Some(0), "{}", run.out);
    assert_eq!(
        last(&run),
        "297 passed, 0 failed, 0 unchecked",
        "{}",
        run.out
    );
}

/// Changes the first leaf of an expectation so that no tolerance covers it.
fn spoil(value: &mut Value) {
    match value {
        Value::Array(list) => spoil(&mut list[0]),
        Value::Object(members) => spoil(members.values_mut().next().unwrap()),
        Value::Bool(b) => *b = !*b,
        Value::Number(n) => {
            *value = match n.as_i64() {
                Some(n) => json!(n + 1),
                None => json!(n.as_f64().unwrap() + 1.0),
            }
        }
        Value::String(text) => match text.strip_prefix("0x") {
            Some(digits) => {
                let bits = u64::from_str_radix(digits, 16).unwrap() ^ 0x40;
                *text = format!("0x{bits:0width$x}", width = digits.len());
            }
            None if text == "normal" => *text = "complement".to_owned(),
            None => *text = "0x00000001".to_owned(),
        },
        Value::Null => panic!("no expectation"),
    }
}

#[test]
fn changed_execution_vectors_fail() {
    let passed = check("../../hw/isa/vectors/exec.jsonl").out;
    assert!(passed.contains("297 passed"), "{passed}");
    let mut spoiled = 0;
    let lines: Vec<String> = vectors("../../hw/isa/vectors/exec.jsonl")
        .into_iter()
        .map(|mut vector| {
            spoil(&mut vector["expected"]);
            spoiled += 1;
            vector.to_string()
        })
        .collect();
    let run = check_lines("spoiled-exec.jsonl", &lines);
    assert_eq!(spoiled, 297);
    assert_eq!(
        last(&run),
        "0 passed, 297 failed, 0 unchecked",
        "{}",
        run.out
    );
}

#[test]
fn whole_programs_hold() {
    let file = path("../../../shared/hw/vectors/encode.jsonl");
    if !file.exists() {
        eprintln!("skipped: {} does not exist", file.display());
        return;
    }
    let kernels: Vec<String> = vectors("../../../shared/hw/vectors/encode.jsonl")
        .iter()
        .filter(|v| v["family"] == "kernel")
        .map(Value::to_string)
        .collect();
    let run = check_lines("kernels.jsonl", &kernels);
    assert_eq!(run.code, Some(0), "{}", run.out);
    assert_eq!(
        last(&run),
        format!("{} passed, 0 failed, 0 unchecked", kernels.len())
    );
}

#[test]
fn what_the_reference_does_not_decode_is_counted_as_unchecked() {
    let run = check("../../hw/isa/vectors/outside.jsonl");
    assert_eq!(run.code, Some(0), "{}", run.out);
    let expected = "0 passed, 0 failed, 11 unchecked";
    assert_eq!(last(&run), expected, "{}", run.out);
    assert!(run.out.contains("unchecked "), "{}", run.out);
}

/// One broken line fails, is named, and makes the exit status non-zero; good lines around it pass.
fn assert_fails(what: &str, line: String, complaint: &str) {
    let mut good = vector("enc.fadd.live0");
    let first = good.to_string();
    good["id"] = json!("another");
    let run = check_lines(
        &format!("{}.jsonl", what.replace(' ', "-")),
        &[first, line.clone(), good.to_string()],
    );
    assert_eq!(run.code, Some(1), "{what}: {}", run.out);
    assert_eq!(
        last(&run),
        "2 passed, 1 failed, 0 unchecked",
        "{what}: {}",
        run.out
    );
    let failure = run
        .out
        .lines()
        .find(|l| l.starts_with("FAILED"))
        .expect("a failure");
    assert!(failure.contains(":2"), "{what}: {failure}");
    assert!(failure.contains(complaint), "{what}: {failure}");
}

/// `enc.fma.live0`, changed.
fn fma(change: impl FnOnce(&mut Value)) -> String {
    let mut vector = vector("enc.fma.live0");
    change(&mut vector);
    vector.to_string()
}

#[test]
fn a_wrong_operand_fails() {
    assert_fails(
        "register",
        fma(|v| v["operands"]["dst"] = json!("r5")),
        "expected 49 05",
    );
    assert_fails(
        "kill",
        fma(|v| v["operands"]["last_use"] = json!([true, true, false])),
        "got",
    );
    assert_fails(
        "slot",
        fma(|v| v["operands"]["wait_slot"] = json!(2)),
        "got",
    );
    assert_fails(
        "hint",
        fma(|v| v["operands"]["hint_bit21"] = json!(false)),
        "got",
    );
    assert_fails(
        "half",
        fma(|v| v["operands"]["src0"] = json!("r2 low half")),
        "operand `src0`",
    );
    assert_fails(
        "file",
        fma(|v| v["operands"]["src0"] = json!("u2")),
        "without release",
    );
}

#[test]
fn a_value_that_cannot_be_read_fails() {
    assert_fails(
        "text",
        fma(|v| v["operands"]["dst"] = json!("x4")),
        "`x4` is no register",
    );
    assert_fails(
        "number",
        fma(|v| v["operands"]["dst"] = json!(4)),
        "is no text",
    );
    assert_fails(
        "null",
        fma(|v| v["operands"]["wait_slot"] = json!(null)),
        "is no integer",
    );
    assert_fails(
        "range",
        fma(|v| v["operands"]["wait_slot"] = json!(7)),
        "7 is no slot",
    );
    assert_fails(
        "remark",
        fma(|v| v["operands"]["dst"] = json!("r4 (maybe)")),
        "no known meaning",
    );
    assert_fails(
        "list",
        fma(|v| v["operands"]["last_use"] = json!([])),
        "0 values for 3 sources",
    );
}

#[test]
fn a_wrong_byte_fails() {
    assert_fails(
        "byte",
        fma(|v| v["hex"] = json!("49053e07810a0208")),
        "FAILED",
    );
    assert_fails(
        "form",
        fma(|v| v["hex"] = json!("49053d07810a0200")),
        "FAILED",
    );
    assert_fails(
        "short",
        fma(|v| v["hex"] = json!("49053e07810a02")),
        "`len` says 8",
    );
    assert_fails(
        "digits",
        fma(|v| v["hex"] = json!("49053e07810a02zz")),
        "no byte string",
    );
    assert_fails("empty", fma(|v| v["hex"] = json!("")), "no byte string");
}

#[test]
fn an_unknown_operation_fails() {
    assert_fails(
        "operation",
        fma(|v| v["op"] = json!("fmadd")),
        "operation `fmadd` is not known",
    );
    // The families that are left out are known by operation and family.
    assert_fails(
        "family",
        fma(|v| v["family"] = json!("matrix")).replace("\"op\":\"fma\"", "\"op\":\"matrix_mul\""),
        "is not known",
    );
}

#[test]
fn an_unknown_operand_key_fails() {
    assert_fails(
        "key",
        fma(|v| v["operands"]["src3"] = json!("r1")),
        "operand key `src3` has no meaning in `fma`",
    );
    // Known elsewhere, but not a part of this form.
    assert_fails(
        "elsewhere",
        fma(|v| v["operands"]["buffer"] = json!(0)),
        "no meaning in `fma`",
    );
    assert_fails(
        "sat",
        fma(|v| v["operands"]["sat"] = json!(true)),
        "has no field sat",
    );
}

#[test]
fn a_line_that_is_no_vector_fails() {
    assert_fails("json", "{\"id\": \"x\", ".to_owned(), "no JSON");
    assert_fails("array", "[1, 2]".to_owned(), "no vector");
    assert_fails(
        "kind",
        fma(|v| v["kind"] = json!("encoding")),
        "kind `encoding` is not known",
    );
    assert_fails(
        "member",
        fma(|v| v["surprise"] = json!(1)),
        "unknown field `surprise`",
    );
    assert_fails(
        "asserts",
        fma(|v| v["asserts"] = json!("nothing")),
        "unknown variant `nothing`",
    );
    assert_fails(
        "missing",
        fma(|v| {
            v.as_object_mut().expect("an object").remove("complete");
        }),
        "missing field `complete`",
    );
    assert_fails(
        "twice",
        vector("enc.fadd.live0").to_string(),
        "the id stands twice",
    );
}

#[test]
fn a_file_without_vectors_fails() {
    let run = check_lines("empty.jsonl", &[String::new()]);
    assert_eq!(run.code, Some(1), "{}", run.out);
}

/// Vectors with `count` renamed copies become one file in which nothing may pass.
fn assert_none_passes(name: &str, mut mutants: Vec<Value>) {
    for (n, mutant) in mutants.iter_mut().enumerate() {
        mutant["id"] = json!(format!("{} #{n}", mutant["id"].as_str().unwrap_or("")));
    }
    let lines: Vec<String> = mutants.iter().map(Value::to_string).collect();
    let file = Scratch::new(name, &lines.join("\n"));
    let run = agx(&["vectors", "-v", file.as_str()], b"");
    let passed: Vec<_> = run
        .out
        .lines()
        .filter(|l| l.starts_with("passed"))
        .collect();
    assert!(
        passed.is_empty(),
        "{} pass:\n{}",
        passed.len(),
        passed.join("\n")
    );
    assert_eq!(
        last(&run),
        format!("0 passed, {} failed, 0 unchecked", mutants.len())
    );
}

/// Every single bit of every complete vector is held: flipping it fails. The one exception is the
/// destination hint in bit 32 of the wide forms where no operand states it.
#[test]
fn no_flipped_bit_of_a_complete_vector_passes() {
    let mut mutants = Vec::new();
    for vector in vectors("../../hw/isa/vectors/encode.jsonl") {
        if vector["complete"] != json!(true) {
            continue;
        }
        let mut bytes = support::bytes(vector["hex"].as_str().expect("bytes"));
        let wide = matches!(bytes[0] & 15, 7 | 15);
        let hint_stated = vector["operands"].get("hint_bit32").is_some();
        for bit in 0..8 * bytes.len() {
            if bit == 32 && wide && !hint_stated {
                continue;
            }
            bytes[bit / 8] ^= 1 << (bit % 8);
            let mut mutant = vector.clone();
            let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
            mutant["hex"] = json!(hex);
            mutants.push(mutant);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
    assert!(mutants.len() > 10_000, "only {} mutants", mutants.len());
    assert_none_passes("bits.jsonl", mutants);
}

/// A different value of the same kind.
fn other(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Bool(b) => json!(!b),
        Value::Number(n) if n.is_f64() => json!(if n.as_f64()? == 0.0 {
            1.0
        } else {
            -n.as_f64()?
        }),
        Value::Number(n) => json!(n.as_i64()? + 1),
        Value::String(text) => {
            // The last number in the text becomes another one; text without one gets a letter.
            let end = text.rfind(|c: char| c.is_ascii_digit());
            match end {
                Some(end) => {
                    let digit = text.as_bytes()[end];
                    let changed = if digit == b'1' { '3' } else { '1' };
                    json!(format!("{}{changed}{}", &text[..end], &text[end + 1..]))
                }
                None => json!(format!("{text}x")),
            }
        }
        Value::Array(list) => {
            let mut list = list.clone();
            *list.first_mut()? = other(list.first()?)?;
            Value::Array(list)
        }
        _ => return None,
    })
}

/// Every operand of every vector is held: changing it fails, unless the vector asserts so little
/// that both values fit (its mask leaves out the operand's bits).
#[test]
fn no_changed_operand_passes() {
    let mut mutants = Vec::new();
    for vector in vectors("../../hw/isa/vectors/encode.jsonl") {
        // Masked vectors name operands whose bits they do not assert.
        if vector.get("mask").is_some() {
            continue;
        }
        for (key, value) in vector["operands"].as_object().expect("operands") {
            // Class and length only; the undecoded form shows no operands.
            if vector["op"] == "ior_imm" && key != "imm_encoded_byte3" {
                continue;
            }
            let mut mutant = vector.clone();
            mutant["operands"][key] = other(value).unwrap_or_else(|| panic!("{key}: {value}"));
            mutants.push(mutant);
        }
    }
    assert!(mutants.len() > 1_000, "only {} mutants", mutants.len());
    assert_none_passes("operands.jsonl", mutants);
}

/// Operands of masked vectors whose bits the mask leaves out: by the vectors' rules another value
/// contradicts nothing. (Vectors that begin so, keys.)
const UNASSERTED: &[(&str, &[&str])] = &[
    (
        "enc.atomic_xor.noret.wait6",
        &["data", "index", "buffer", "returns_old"],
    ),
    ("enc.iadd_src.3", &["dst", "gpr_sources_last_use"]),
    ("enc.iadd_src.", &["dst"]),
    ("enc.imad_src.", &["dst"]),
    ("enc.logic.wait", &["dst", "src0", "src1"]),
    ("enc.device_load_u32.wait", &["dst", "index", "buffer"]),
    ("enc.mem_addr.", &["components"]),
    ("g17.enc.load_idx_off", &["index"]),
    // Bits 16 and 17 of the wait mask are asserted, those of slots 1 to 4 are not.
    ("enc.device_store_u32.r17.", &["components", "wait_slot"]),
    (
        "enc.select_ult.wait",
        &["dst", "cmp_a", "cmp_b", "if_true", "if_false"],
    ),
    ("g17.enc.sr.", &["dst"]),
    // The slot's lowest bit is outside the mask.
    ("enc.tile_load_coords.", &["signal_slot"]),
    ("enc.fma_uniform.255_128", &["dst"]),
    ("enc.fma_uniform.255_None", &["dst", "src2"]),
    ("enc.fma_uniform0.", &["dst", "src1"]),
    ("enc.logic_uniform.", &["dst"]),
];

#[test]
fn no_changed_operand_of_a_masked_vector_passes() {
    let mut mutants = Vec::new();
    for vector in vectors("../../hw/isa/vectors/encode.jsonl") {
        if vector.get("mask").is_none() {
            continue;
        }
        let id = vector["id"].as_str().expect("an id");
        for (key, value) in vector["operands"].as_object().expect("operands") {
            let unasserted = |(start, keys): &(&str, &[&str])| {
                id.starts_with(start) && keys.contains(&key.as_str())
            };
            if UNASSERTED.iter().any(unasserted) {
                continue;
            }
            let mut mutant = vector.clone();
            mutant["operands"][key] = other(value).unwrap_or_else(|| panic!("{key}: {value}"));
            mutants.push(mutant);
        }
    }
    assert!(mutants.len() > 300, "only {} mutants", mutants.len());
    assert_none_passes("masked-operands.jsonl", mutants);
}

/// The asserted bits of masked vectors are held too: flipping all of one byte's fails.
#[test]
fn no_flipped_byte_of_a_masked_vector_passes() {
    let mut mutants = Vec::new();
    for vector in vectors("../../hw/isa/vectors/encode.jsonl") {
        let Some(mask) = vector
            .get("mask")
            .and_then(Value::as_str)
            .map(support::bytes)
        else {
            continue;
        };
        let hex = support::bytes(vector["hex"].as_str().expect("bytes"));
        for (n, mask) in mask.iter().enumerate().filter(|(_, mask)| **mask != 0) {
            let mut bytes = hex.clone();
            bytes[n] ^= mask;
            let mut mutant = vector.clone();
            mutant["hex"] = json!(bytes.iter().map(|b| format!("{b:02x}")).collect::<String>());
            mutants.push(mutant);
        }
    }
    assert!(mutants.len() > 300, "only {} mutants", mutants.len());
    assert_none_passes("masked.jsonl", mutants);
}

/// Launch vectors: every stated value and every input is held.
#[test]
fn no_changed_launch_value_passes() {
    let mut mutants = Vec::new();
    for vector in vectors("../../hw/stream/vectors/launch.jsonl") {
        if vector["op"] == "compute_geometry_record" {
            continue;
        }
        for key in vector["expected"].as_object().expect("values").keys() {
            let mut mutant = vector.clone();
            mutant["expected"][key] = other(&vector["expected"][key]).expect("a value");
            mutants.push(mutant);
        }
        let mut unknown = vector.clone();
        unknown["inputs"]["frame_extent_c"] = json!(0);
        mutants.push(unknown);
        let mut unknown = vector.clone();
        unknown["expected"]["u16_at_call+99"] = json!(0);
        mutants.push(unknown);
    }
    assert_none_passes("launch.jsonl", mutants);
}
