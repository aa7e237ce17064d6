// SPDX-License-Identifier: MIT
//! Runs one scenario and writes its outcome, for the process that compares drivers.

use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use cortland_clients::gpu::Options;
use cortland_clients::outcome::Verdict;
use cortland_clients::{failing, scenario, scenarios};

const USAGE: &str = "usage: cortland-clients list
       cortland-clients run SCENARIO [--validate] [--output FILE]
       cortland-clients failing list
       cortland-clients failing PROGRAM

The driver is the one that VK_DRIVER_FILES or VK_ICD_FILENAMES names.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match command(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("cortland-clients: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn command(arguments: &[&str]) -> anyhow::Result<ExitCode> {
    match arguments {
        ["list"] => {
            for scenario in scenarios::all() {
                println!("{}", scenario.name);
            }
            Ok(ExitCode::SUCCESS)
        }
        ["run", name, options @ ..] => run(name, options),
        ["failing", "list"] => {
            for program in failing::programs() {
                println!("{}", program.name);
            }
            Ok(ExitCode::SUCCESS)
        }
        ["failing", name] => {
            let program = failing::programs().into_iter().find(|p| p.name == *name);
            let program = program.ok_or_else(|| anyhow!("no program {name}"))?;
            println!("{}", failing::check(&program)?);
            Ok(ExitCode::SUCCESS)
        }
        _ => bail!("{USAGE}"),
    }
}

fn run(name: &str, options: &[&str]) -> anyhow::Result<ExitCode> {
    let scenario = scenarios::all().into_iter().find(|s| s.name == name);
    let scenario = scenario.ok_or_else(|| anyhow!("no scenario {name}"))?;
    let mut open = Options::default();
    let mut output = None;
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match *option {
            "--validate" => open.validation = true,
            "--output" => output = Some(*options.next().context(USAGE)?),
            _ => bail!("{USAGE}"),
        }
    }
    let outcome = scenario::run(&scenario, open);
    for message in &outcome.messages {
        eprintln!("{message}");
    }
    match &outcome.verdict {
        Verdict::Passed => println!("{name}: passed on {}", outcome.driver),
        Verdict::Skipped(why) => println!("{name}: skipped on {}: {why}", outcome.driver),
        Verdict::Failed(why) => println!("{name}: failed on {}: {why}", outcome.driver),
    }
    if let Some(output) = output {
        std::fs::write(output, serde_json::to_vec(&outcome)?).context(output.to_owned())?;
    }
    Ok(match outcome.verdict {
        Verdict::Failed(_) => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    })
}
