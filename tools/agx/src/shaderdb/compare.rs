// SPDX-License-Identifier: MIT
//! How two runs over the corpus differ.

use std::io::Write;

use super::record::{METRICS, Metric, Numbers, Outcome, Record};

/// Prints gains and losses of each shader and in total. Returns false when a shader compiled before
/// and does not now.
pub(super) fn print(old: &Record, new: &Record, out: &mut impl Write) -> anyhow::Result<bool> {
    let lost = print_changed_sets(old, new, out)?;
    let pairs: Vec<(&str, &Numbers, &Numbers)> = new
        .compiled()
        .filter_map(|(name, after)| match &old.find(name)?.outcome {
            Outcome::Compiled(before) => Some((name, before, after)),
            Outcome::Error(_) => None,
        })
        .collect();
    for metric in METRICS.iter().filter(|metric| metric.exact) {
        print_changes(*metric, &pairs, out)?;
    }
    print_totals(&pairs, out)?;
    Ok(lost == 0)
}

/// Shaders that are new, gone, compile now or no longer. Returns how many no longer compile.
fn print_changed_sets(old: &Record, new: &Record, out: &mut impl Write) -> anyhow::Result<usize> {
    let mut lost = 0;
    for shader in &new.shaders {
        let name = &shader.name;
        let before = old.find(name).map(|shader| &shader.outcome);
        match (before, &shader.outcome) {
            (None, Outcome::Compiled(_)) => writeln!(out, "new: {name}")?,
            (None, Outcome::Error(error)) => {
                writeln!(out, "new, does not compile: {name}: {error}")?
            }
            (Some(Outcome::Error(_)), Outcome::Compiled(_)) => {
                writeln!(out, "compiles now: {name}")?
            }
            (Some(Outcome::Compiled(_)), Outcome::Error(error)) => {
                lost += 1;
                writeln!(out, "NO LONGER COMPILES: {name}: {error}")?;
            }
            _ => {}
        }
    }
    for shader in old.shaders.iter().filter(|s| new.find(&s.name).is_none()) {
        writeln!(out, "gone: {}", shader.name)?;
    }
    Ok(lost)
}

/// Every shader for which a number changed, the largest gain first.
fn print_changes(
    metric: Metric,
    pairs: &[(&str, &Numbers, &Numbers)],
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let mut changes: Vec<(&str, u64, u64)> = pairs
        .iter()
        .map(|(name, old, new)| (*name, (metric.get)(old), (metric.get)(new)))
        .filter(|(_, old, new)| old != new)
        .collect();
    if changes.is_empty() {
        return Ok(());
    }
    changes.sort_by(|a, b| {
        ratio(a.1, a.2)
            .total_cmp(&ratio(b.1, b.2))
            .then(a.0.cmp(b.0))
    });
    let better = changes.iter().filter(|(_, old, new)| new < old).count();
    let worse = changes.len() - better;
    if metric.less_is_better {
        writeln!(out, "{}: {better} better, {worse} worse", metric.name)?;
    } else {
        writeln!(out, "{}: {better} fewer, {worse} more", metric.name)?;
    }
    for (name, old, new) in changes {
        writeln!(out, "  {name}: {old} -> {new}{}", percent(old, new))?;
    }
    Ok(())
}

fn print_totals(pairs: &[(&str, &Numbers, &Numbers)], out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(
        out,
        "totals of {} shaders that compile in both:",
        pairs.len()
    )?;
    for metric in METRICS {
        let old: u64 = pairs.iter().map(|(_, old, _)| (metric.get)(old)).sum();
        let new: u64 = pairs.iter().map(|(_, _, new)| (metric.get)(new)).sum();
        let change = match (old == new, metric.exact) {
            (true, _) => " (same)".to_owned(),
            (_, true) => percent(old, new),
            (_, false) => format!("{} (time: depends on the machine)", percent(old, new)),
        };
        writeln!(out, "  {:8} {old} -> {new}{change}", metric.name)?;
    }
    Ok(())
}

/// Below 1: less than before.
fn ratio(old: u64, new: u64) -> f64 {
    match (old, new) {
        (0, 0) => 1.0,
        (0, _) => f64::INFINITY,
        _ => new as f64 / old as f64,
    }
}

fn percent(old: u64, new: u64) -> String {
    if old == 0 {
        return String::new();
    }
    format!(" ({:+.2} %)", 100.0 * (ratio(old, new) - 1.0))
}

#[cfg(test)]
mod tests {
    use super::super::record::Shader;
    use super::super::record::tests::shader;
    use super::*;

    fn failed(name: &str) -> Shader {
        Shader {
            name: name.to_owned(),
            outcome: Outcome::Error("why".to_owned()),
        }
    }

    fn compared(old: Vec<Shader>, new: Vec<Shader>) -> (bool, String) {
        let mut out = Vec::new();
        let (old, new) = (Record { shaders: old }, Record { shaders: new });
        let good = print(&old, &new, &mut out).unwrap();
        (good, String::from_utf8(out).unwrap())
    }

    #[test]
    fn gains_and_losses() {
        let old = vec![
            shader("a", 100),
            shader("b", 100),
            shader("c", 5),
            shader("d", 0),
        ];
        let new = vec![
            shader("a", 150),
            shader("b", 75),
            shader("c", 5),
            shader("d", 2),
        ];
        let (good, text) = compared(old, new);
        assert!(good);
        let expected = "instrs: 1 better, 2 worse\n  b: 100 -> 75 (-25.00 %)\n  a: 100 -> 150 (+50.00 %)\n  \
                        d: 0 -> 2\ntotals of 4 shaders that compile in both:\n  \
                        instrs   205 -> 232 (+13.17 %)\n  bytes    0 -> 0 (same)\n";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn shaders_that_come_and_go() {
        let old = vec![shader("a", 1), failed("b"), shader("c", 1), failed("e")];
        let new = vec![failed("a"), shader("b", 1), shader("d", 1), failed("e")];
        let (good, text) = compared(old, new);
        assert!(!good);
        for line in [
            "NO LONGER COMPILES: a: why",
            "compiles now: b",
            "gone: c",
            "new: d",
            "totals of 0 shaders",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }

    #[test]
    fn the_same_is_no_change() {
        let (good, text) = compared(vec![shader("a", 3)], vec![shader("a", 3)]);
        assert!(good);
        assert!(text.starts_with("totals of 1 shaders"), "{text}");
    }
}
