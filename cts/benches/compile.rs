// SPDX-License-Identifier: MIT
//! How long the driver's compiler takes for the corpus, against lavapipe in the same run.
//!
//! Both sides begin with the same SPIR-V words and end with a pipeline that can be dispatched. Ours is translation,
//! lowering and compilation to machine code. lavapipe translates and lowers in `vkCreateComputePipelines` but makes
//! machine code at the first dispatch, so both are shown: the call alone, and with the first dispatch of one workgroup.
//! The SPIR-V validator runs in neither. NIR's validator, which looks at each translation that was not asked to skip
//! validation, runs in ours, and is shown by itself.
//!
//! `cargo bench -p cortland-cts --bench compile [-- [--no-dispatch] PART-OF-A-NAME]`

use std::time::{Duration, Instant};

use agx_compiler::compile_program;
use cortland_cts::case::{Case, Device as _};
use cortland_cts::corpus;
use cortland_cts::device::agx::{key, translate};
use cortland_cts::device::lavapipe::Lavapipe;
use cortland_cts::device::layout::Layout;

/// As in the driver: the compiler's many small blocks come from the allocator that it is built with.
#[global_allocator]
static ALLOCATOR: mesa_nir::Allocator = mesa_nir::Allocator;

/// How often each shader is compiled; the median counts.
const ROUNDS: usize = 7;
/// The same for first dispatches, which are slow.
const DISPATCHES: usize = 3;

/// The stages of ours.
const STAGES: [&str; 4] = [
    "translation, checked",
    "of that, NIR's checks",
    "lowering and export",
    "back end",
];

/// Medians for one shader.
struct Times {
    name: String,
    ours: Duration,
    stages: [Duration; STAGES.len()],
    pipeline: Duration,
    dispatch: Option<Duration>,
}

fn main() -> anyhow::Result<()> {
    // SAFETY: no other thread runs yet. Without it lavapipe would find its code on the disk.
    unsafe { std::env::set_var("MESA_SHADER_CACHE_DISABLE", "true") };
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let dispatches = match arguments.iter().any(|a| a == "--no-dispatch") {
        true => 0,
        false => DISPATCHES,
    };
    let filter = arguments.iter().find(|a| !a.starts_with('-'));
    let filter = filter.map_or("", String::as_str);
    let lavapipe = Lavapipe::shared()?;
    println!("lavapipe is {}", lavapipe.description());
    let mut all = Vec::new();
    for entry in corpus::load_all(&corpus::directory())? {
        if !entry.name.contains(filter) || !entry.lavapipe {
            continue;
        }
        match measure(&entry.name, &entry.case()?, lavapipe, dispatches) {
            Ok(times) => all.push(times),
            Err(error) => println!("{}: left out: {error:#}", entry.name),
        }
    }
    anyhow::ensure!(!all.is_empty(), "nothing could be measured");
    print_shaders(&all);
    print_summary(&all);
    Ok(())
}

fn print_shaders(all: &[Times]) {
    println!(
        "{:32} {:>12} {:>12} {:>12}",
        "shader", "ours", "pipeline", "1st dispatch"
    );
    for times in all {
        let dispatch = times.dispatch.map(|d| format!("{d:.1?}"));
        println!(
            "{:32} {:>12.1?} {:>12.1?} {:>12}",
            times.name,
            times.ours,
            times.pipeline,
            dispatch.unwrap_or_default()
        );
    }
}

fn print_summary(all: &[Times]) {
    println!("{} shaders", all.len());
    println!(
        "{:34} {:>12} {:>12} {:>18}",
        "", "median", "sum", "median of ratios"
    );
    let line = |name: &str, of: &dyn Fn(&Times) -> Option<Duration>| {
        let times: Vec<Duration> = all.iter().filter_map(of).collect();
        if times.is_empty() {
            return;
        }
        let ratios = all
            .iter()
            .filter_map(|t| Some(t.ours.as_secs_f64() / of(t)?.as_secs_f64().max(1e-9)));
        println!(
            "{name:34} {:>12.1?} {:>12.1?} {:>18.2}",
            median(times.clone()),
            times.iter().sum::<Duration>(),
            median(ratios.collect())
        );
    };
    println!("ours, and ours / stage:");
    line("  all", &|t| Some(t.ours));
    for (index, name) in STAGES.iter().enumerate() {
        line(&format!("  {name}"), &|t| Some(t.stages[index]));
    }
    println!("lavapipe, and ours / lavapipe:");
    line("  vkCreateComputePipelines", &|t| Some(t.pipeline));
    line("  the same and the first dispatch", &|t| t.dispatch);
}

fn measure(
    name: &str,
    case: &Case,
    lavapipe: &Lavapipe,
    num_dispatches: usize,
) -> anyhow::Result<Times> {
    let layout = Layout::of(case)?;
    let key = key(case, &layout, false);
    let one_group = Case {
        groups: [1; 3],
        ..case.clone()
    };
    let (mut ours, mut pipelines, mut dispatches) = (Vec::new(), Vec::new(), Vec::new());
    let mut stages = [const { Vec::new() }; STAGES.len()];
    // The module goes through the SPIR-V validator here.
    drop(translate(case)?);
    for round in 0..ROUNDS {
        let start = Instant::now();
        let shader = translate(case)?;
        let translated = Instant::now();
        let program = shader.lower_compute(&key.lowering)?.into_program()?;
        let lowered = Instant::now();
        drop(compile_program(&program, &key, None)?);
        let end = Instant::now();
        ours.push(end - start);
        stages[0].push(translated - start);
        stages[2].push(lowered - translated);
        stages[3].push(end - lowered);

        let shader = translate(case)?;
        let start = Instant::now();
        drop(shader.validate()?);
        stages[1].push(start.elapsed());

        pipelines.push(lavapipe.compile(case)?);
        if round < num_dispatches {
            let start = Instant::now();
            lavapipe.run(&one_group)?;
            dispatches.push(start.elapsed());
        }
    }
    Ok(Times {
        name: name.to_owned(),
        ours: median(ours),
        stages: stages.map(median),
        pipeline: median(pipelines),
        dispatch: (!dispatches.is_empty()).then(|| median(dispatches)),
    })
}

/// The middle one; the larger of two.
fn median<T: PartialOrd + Copy>(mut values: Vec<T>) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).expect("no NaN: times are not zero"));
    values[values.len() / 2]
}
