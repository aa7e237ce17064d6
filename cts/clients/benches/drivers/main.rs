// SPDX-License-Identifier: MIT
//! How fast Cortland is, on the simulated GPU, as ratios to lavapipe in the same run.
//!
//! Each driver is measured in processes of its own, in turn, and its best rates count: what else
//! the machine does only makes them worse. An argument names the parts that are measured: "driver",
//! "kernels", "frames" (or of these "cube", "mesh", "layers", "samples"), "draws"; without one it is all of them.

mod driver;
mod graphics;
mod kernels;

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context as _, ensure};
use cortland_clients::drivers::Driver;
use cortland_clients::gpu::{Gpu, Options};
use cortland_clients::scenario::Report;
use cortland_clients::scope::Scope;

/// Rates by the order and name of what is measured.
type Rates = BTreeMap<(usize, String), f64>;

/// Processes for each driver.
const ROUNDS: usize = 3;

/// The bars of the project: least ratios to lavapipe, by the beginning of the name.
const BARS: [(&str, f64); 4] = [
    ("record", 1.0),
    ("descriptors", 1.0),
    ("kernel", 0.05),
    ("frame", 0.05),
];

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let parts: Vec<&str> = (arguments.iter().map(String::as_str))
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    if arguments.iter().any(|argument| argument == "--measure") {
        return measure(&parts);
    }
    let drivers = [Driver::cortland()?, Driver::lavapipe()?];
    let mut best = [Rates::new(), Rates::new()];
    for _ in 0..ROUNDS {
        for (driver, best) in drivers.iter().zip(&mut best) {
            for (name, rate) in run(driver, &parts)? {
                let best = best.entry(name).or_insert(rate);
                *best = best.max(rate);
            }
        }
    }
    print(&best);
    Ok(())
}

/// The rates of one process on a driver.
fn run(driver: &Driver, parts: &[&str]) -> anyhow::Result<Rates> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--measure").args(parts);
    driver.choose(&mut command);
    command.env_remove("CORTLAND_SIM_STRICT");
    let output = command.output().context("a process that measures")?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success(),
        "{}: {}\n{said}{}",
        driver.name,
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    let mut rates = Rates::new();
    for line in said.lines() {
        if let Some((name, rate)) = line.rsplit_once('\t') {
            rates.insert((rates.len(), name.to_owned()), rate.parse()?);
        }
    }
    Ok(rates)
}

/// In the process of one driver: a line for each rate.
fn measure(parts: &[&str]) -> anyhow::Result<()> {
    let gpu = Gpu::open(Options {
        unchecked: true,
        ..Options::default()
    })?;
    let report = Report::default();
    let scope = Scope::new(&gpu, &report);
    let note = |name: &str, rate: f64| println!("{name}\t{rate}");
    // SAFETY: the device is open; all that is measured keeps to Vulkan's rules.
    unsafe {
        let wanted = |part: &str| parts.is_empty() || parts.contains(&part);
        if wanted("driver") {
            driver::measure(&scope, note)?;
        }
        if wanted("kernels") {
            kernels::measure(&scope, note)?;
        }
        graphics::measure(&scope, note, |scene| wanted("frames") || wanted(scene))?;
        if wanted("draws") {
            graphics::measure_draws(&scope, note)?;
        }
    }
    drop(scope);
    let _ = gpu.close();
    Ok(())
}

fn print([ours, theirs]: &[Rates; 2]) {
    println!(
        "{:<34} {:>12} {:>12} {:>8} {:>6}",
        "per second", "Cortland", "lavapipe", "ratio", "bar"
    );
    for ((order, name), ours) in ours {
        let Some(theirs) = theirs.get(&(*order, name.clone())) else {
            continue;
        };
        let bar = BARS.iter().find(|(start, _)| name.starts_with(start));
        let ratio = ours / theirs;
        let bar = match bar {
            Some((_, least)) if ratio < *least => format!("{least} !"),
            Some((_, least)) => format!("{least}"),
            None => String::new(),
        };
        let [ours, theirs] = [*ours, *theirs].map(readable);
        println!("{name:<34} {ours:>12} {theirs:>12} {ratio:>8.3} {bar:>6}");
    }
}

fn readable(rate: f64) -> String {
    match rate {
        1e9.. => format!("{:.2} G", rate / 1e9),
        1e6.. => format!("{:.2} M", rate / 1e6),
        1e3.. => format!("{:.2} k", rate / 1e3),
        _ => format!("{rate:.2}"),
    }
}
