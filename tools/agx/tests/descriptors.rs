// SPDX-License-Identifier: MIT
//! `agx vectors` on descriptors and layouts: all hold, and nothing that is changed does.

mod support;

use serde_json::{Value, json};
use support::{Run, Scratch, agx, path};

const FILE: &str = "../../hw/stream/vectors/descriptors.jsonl";

fn vectors() -> Vec<Value> {
    let text = std::fs::read_to_string(path(FILE)).expect("vectors");
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).expect("a vector"))
        .collect()
}

fn last(run: &Run) -> &str {
    run.out.lines().last().unwrap_or("")
}

#[test]
fn every_vector_holds() {
    let run = agx(
        &["vectors", path(FILE).to_str().expect("unicode path")],
        b"",
    );
    assert_eq!(run.code, Some(0), "{}", run.out);
    assert_eq!(
        last(&run),
        "183 passed, 0 failed, 0 unchecked",
        "{}",
        run.out
    );
}

/// Renamed copies become one file in which nothing may pass.
fn assert_none_passes(name: &str, mut mutants: Vec<Value>, least: usize) {
    assert!(mutants.len() >= least, "only {} mutants", mutants.len());
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

/// Different values of the same kind. Numbers go up and down, every element of a list changes.
fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::Bool(b) => vec![json!(!b)],
        Value::Number(n) if n.is_f64() => {
            let n = n.as_f64().expect("a float");
            vec![json!(n + 1.0 / 4.0), json!(n + 1.0), json!("1")]
        }
        Value::Number(n) => {
            let n = n.as_u64().expect("an unsigned number");
            let mut list = vec![json!(n + 1), json!(2 * n + 1), json!("1x"), json!(null)];
            list.extend(n.checked_sub(1).map(|n| json!(n)));
            list
        }
        Value::String(text) => match text.strip_prefix("0x") {
            Some(digits) => {
                let n = u64::from_str_radix(digits, 16).expect("a number");
                let width = digits.len();
                vec![
                    json!(format!("{:#0width$x}", n + 1)),
                    json!(format!("{:#x}", n ^ 0x80)),
                    json!(digits),
                ]
            }
            None => vec![
                json!(format!("{text}x")),
                json!(format!("x{text}")),
                json!(1),
            ],
        },
        Value::Array(list) => {
            let mut changed = vec![json!(list[1..])];
            for (i, element) in list.iter().enumerate() {
                for other in others(element) {
                    let mut list = list.clone();
                    list[i] = other;
                    changed.push(Value::Array(list));
                }
            }
            changed
        }
        other => panic!("{other}"),
    }
}

/// Every stated value of every vector is held, places of fields included.
#[test]
fn no_changed_expectation_passes() {
    let mut mutants = Vec::new();
    for vector in vectors() {
        for (key, value) in vector["expected"].as_object().expect("values") {
            for other in others(value) {
                // The sample count without the bit that is always 0 is as true.
                if vector["op"] == "texture_samples" && other == json!([24, 24]) {
                    continue;
                }
                let mut mutant = vector.clone();
                mutant["expected"][key] = other;
                mutants.push(mutant);
            }
        }
    }
    assert_none_passes("expectations.jsonl", mutants, 1000);
}

/// Every input of a descriptor is held. (Layouts of images that differ in size may be the same.)
#[test]
fn no_changed_input_passes() {
    const DECIDING: &[&str] = &[
        "x",
        "y",
        "level",
        "type",
        "samples",
        "bytes_per_texel",
        "bytes_per_block",
    ];
    let mut mutants = Vec::new();
    for vector in vectors() {
        let layout = vector["kind"] == "layout";
        for (key, value) in vector["inputs"].as_object().expect("inputs") {
            // Planes of 320 have the same width in two formats.
            let plane = vector["op"] == "padded_plane_width" && key == "bytes_per_texel";
            if layout && !DECIDING.contains(&key.as_str()) || plane {
                continue;
            }
            for other in others(value) {
                let mut mutant = vector.clone();
                mutant["inputs"][key] = other;
                mutants.push(mutant);
            }
        }
    }
    // The range of LODs ends at 14, whatever more is asked for; steps below 1/8 and 1/64 round.
    mutants.retain(|mutant| {
        let max = mutant["inputs"]["lod_max"].as_f64();
        !max.is_some_and(|max| max > 14.0)
    });
    assert_none_passes("inputs.jsonl", mutants, 500);
}

/// What a vector lacks or has too much makes it fail.
#[test]
fn unknown_and_missing_members_fail() {
    let mut mutants = Vec::new();
    for vector in vectors() {
        let mut change = |change: &dyn Fn(&mut Value)| {
            let mut mutant = vector.clone();
            change(&mut mutant);
            mutants.push(mutant);
        };
        change(&|v| v["inputs"]["surprise"] = json!(0));
        change(&|v| v["expected"]["surprise"] = json!(0));
        change(&|v| v["expected"]["word7_bits_30_33"] = json!(0));
        change(&|v| v["expected"] = json!({}));
        change(&|v| v["op"] = json!("texture_colour"));
        change(&|v| v["op"] = json!("sampler_colour"));
        change(&|v| v["family"] = json!("matrix"));
        change(&|v| v["surprise"] = json!(0));
        change(&|v| v["kind"] = json!("exec"));
        change(&|v| v["hex"] = json!("00000e0080070001"));
        change(&|v| v["len"] = json!(7));
        for key in vector["inputs"].as_object().expect("inputs").keys() {
            change(&|v| {
                v["inputs"].as_object_mut().expect("inputs").remove(key);
            });
        }
        for key in ["inputs", "expected", "family", "target", "source"] {
            change(&|v| {
                v.as_object_mut().expect("an object").remove(key);
            });
        }
    }
    assert_none_passes("members.jsonl", mutants, 2000);
}

/// Notes that state a rule are held against the vector that carries them.
#[test]
fn notes_that_do_not_fit_fail() {
    let all = vectors();
    let with_note = |id: &str, note: &str| {
        let mut vector = all
            .iter()
            .find(|v| v["id"] == id)
            .unwrap_or_else(|| panic!("no {id}"))
            .clone();
        assert_ne!(vector["note"], json!(note));
        vector["note"] = json!(note);
        vector
    };
    let slots = "smallest slot is 0x80 bytes";
    let planes = "planes are stacked at padded_width*padded_height*bytes";
    let tail = "the tail of small levels starts at a multiple of 0x8000";
    let padding = "next power of two below one tile, otherwise a multiple of the tile edge (mip \
                   levels and stacked planes)";
    assert_none_passes(
        "notes.jsonl",
        vec![
            with_note("lay.size.96x96.4", slots),
            with_note("lay.off.4.0", tail),
            with_note("lay.1darray.300.2", planes),
            // A row of single elements, not of a padded square.
            with_note("lay.1darray.300.2", padding),
            // At the upper limit nothing lies between.
            with_note(
                "desc.smp.border.opaque_white",
                "1/8 steps, saturates at 14 ",
            ),
        ][..4]
            .to_vec(),
        4,
    );
}
