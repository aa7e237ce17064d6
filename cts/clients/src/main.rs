// SPDX-License-Identifier: MIT
//! Runs one scenario and writes its outcome, for the process that compares drivers.

use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use cortland_clients::gpu::Options;
use cortland_clients::outcome::Verdict;
use cortland_clients::{failing, sample, scenario, scenarios};

const USAGE: &str = "usage: cortland-clients list
       cortland-clients run SCENARIO [--validate] [--output FILE]
       cortland-clients failing list
       cortland-clients failing PROGRAM
       cortland-clients sample PNG [--validate]

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
        ["sample", path] => sample(path, false),
        ["sample", path, "--validate"] => sample(path, true),
        _ => bail!("{USAGE}"),
    }
}

/// Draws the sample into a picture.
fn sample(path: &str, validation: bool) -> anyhow::Result<ExitCode> {
    let options = Options {
        validation,
        ..Options::default()
    };
    let (pixels, messages) = sample::draw(options)?;
    for message in &messages {
        eprintln!("{message}");
    }
    let [width, height] = sample::SIZE;
    let file = std::fs::File::create(path).context(path.to_owned())?;
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    // The scripts that compare pictures read rows as they are.
    encoder.set_filter(png::Filter::NoFilter);
    let rgb: Vec<u8> = pixels
        .chunks_exact(4)
        .flat_map(|pixel| [pixel[0], pixel[1], pixel[2]])
        .collect();
    encoder.write_header()?.write_image_data(&rgb)?;
    Ok(match messages.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
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
