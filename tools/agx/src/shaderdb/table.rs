// SPDX-License-Identifier: MIT
//! The table of `agx shaderdb run`.

use std::io::{self, Write};

use super::record::{METRICS, Outcome, Record};

/// Prints a line for each shader and the sums.
pub(super) fn print(record: &Record, out: &mut impl Write) -> io::Result<()> {
    let names = record.shaders.iter().map(|shader| shader.name.len());
    let width = names.max().unwrap_or(0).max("shader".len());
    write!(out, "{:width$}", "shader")?;
    for metric in METRICS {
        write!(out, " {:>8}", metric.name)?;
    }
    writeln!(out)?;
    for shader in &record.shaders {
        write!(out, "{:width$}", shader.name)?;
        match &shader.outcome {
            Outcome::Compiled(numbers) => {
                for metric in METRICS {
                    write!(out, " {:>8}", (metric.get)(numbers))?;
                }
                writeln!(out)?;
            }
            Outcome::Error(error) => writeln!(out, " {}", error.replace('\n', " "))?,
        }
    }
    write!(out, "{:width$}", "total")?;
    for metric in METRICS {
        let sum: u64 = record.compiled().map(|(_, n)| (metric.get)(n)).sum();
        write!(out, " {sum:>8}")?;
    }
    writeln!(out)?;
    let (failed, all) = (record.failures(), record.shaders.len());
    if failed > 0 {
        writeln!(out, "{failed} of {all} shaders do not compile")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::record::Shader;
    use super::super::record::tests::shader;
    use super::*;

    #[test]
    fn lines_sums_and_failures() {
        let failed = Shader {
            name: "c".to_owned(),
            outcome: Outcome::Error("too\nlarge".to_owned()),
        };
        let record = Record {
            shaders: vec![shader("a/long-name", 7), shader("b", 30), failed],
        };
        let mut out = Vec::new();
        print(&record, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with("shader        instrs    bytes"),
            "{text}"
        );
        assert!(
            lines[1].starts_with("a/long-name        7        0"),
            "{text}"
        );
        assert_eq!(lines[3], "c           too large");
        assert!(
            lines[4].starts_with("total             37        0"),
            "{text}"
        );
        assert_eq!(lines[5], "1 of 3 shaders do not compile");
    }
}
