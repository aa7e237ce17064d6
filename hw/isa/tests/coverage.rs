// SPDX-License-Identifier: MIT
//! Writes `COVERAGE.md`: for every form its evidence, how many measured vectors and how many byte
//! strings of the reference exercise it, and which forms have neither.
//!
//! The committed report must be what this test computes. After a change of the table or of the
//! vectors, run it once with `CORTLAND_BLESS=1` and commit the new report.

mod support;

use std::fmt::Write as _;
use std::path::Path;

use agx_isa::{Decoder, Emit, FORMS, FormId, Mode};
use support::{CHAPTERS, byte_strings, bytes, chapter};

fn count(code: &[u8], counts: &mut [usize]) {
    // Count a string only if all of it is instructions.
    let instrs: Result<Vec<_>, _> = Decoder::new(code, Mode::Lenient).collect();
    for (_, instr) in instrs.into_iter().flatten() {
        counts[instr.id() as usize] += 1;
    }
}

fn report() -> String {
    let mut vectors = vec![0; FORMS.len()];
    for line in include_str!("../vectors/encode.jsonl").lines() {
        let vector: serde_json::Value = serde_json::from_str(line).unwrap();
        count(
            &bytes(vector["hex"].as_str().unwrap()).unwrap(),
            &mut vectors,
        );
    }
    let mut examples = vec![0; FORMS.len()];
    for name in CHAPTERS {
        for code in byte_strings(&chapter(name)) {
            count(&code, &mut examples);
        }
    }
    let mut out = String::from(
        // Split so that licence checkers do not take it for this file's own line.
        concat!("<!-- SPDX-License-", "Identifier: MIT -->\n"),
    );
    out.push_str(
        "# Coverage of the instruction table\n\n\
         Written by `tests/coverage.rs`. For each form: its mark and section in docs/hw, the number \
         of measured encoding vectors that decode to it (vectors that state only some bits are not \
         counted; `agx vectors` checks them), and the number of byte strings of the reference that \
         do. Every form besides has random round-trip, bit-flip and illegal-operand tests.\n\n",
    );
    let bare: Vec<_> = FormId::ALL
        .iter()
        .filter(|&&id| vectors[id as usize] + examples[id as usize] == 0)
        .collect();
    writeln!(
        out,
        "## Forms with no vector and no worked example: {}\n",
        bare.len()
    )
    .unwrap();
    for id in bare {
        let form = id.form();
        writeln!(
            out,
            "* {} ({}; {}): {}",
            form.name,
            form.mark.as_str(),
            form.section,
            form.summary
        )
        .unwrap();
    }
    out.push_str(
        "\n## All forms\n\n| # | Form | Mark | Section | Vectors | Examples | Compiler may emit |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for (i, (form, id)) in FORMS.iter().zip(FormId::ALL).enumerate() {
        let emit = match form.emit {
            Emit::Yes => "yes".to_owned(),
            Emit::AfterValidation(what) => format!("after validation of {what}"),
            Emit::No(why) => format!("no: {why}"),
        };
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            i + 1,
            form.name,
            form.mark.as_str(),
            form.section,
            vectors[*id as usize],
            examples[*id as usize],
            emit
        )
        .unwrap();
    }
    out
}

#[test]
fn the_report_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("COVERAGE.md");
    let report = report();
    if std::env::var_os("CORTLAND_BLESS").is_some() {
        std::fs::write(&path, &report).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == report,
        "COVERAGE.md is out of date: rerun with CORTLAND_BLESS=1"
    );
}
