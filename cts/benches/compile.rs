// SPDX-License-Identifier: MIT
//! How long the driver's compiler takes for the corpus, against lavapipe in the same run.
//!
//! Ours is translation, lowering and compilation to machine code. lavapipe translates and lowers in
//! `vkCreateComputePipelines` but makes machine code at the first dispatch, so both are shown: the
//! call alone, and with the first dispatch of one workgroup. The SPIR-V validator runs in neither.
//!
//! `cargo bench -p cortland-cts --bench compile [-- PART-OF-A-NAME]`

use std::time::{Duration, Instant};

use cortland_cts::case::{Case, Device as _};
use cortland_cts::corpus;
use cortland_cts::device::agx::AgxCompiler;
use cortland_cts::device::lavapipe::Lavapipe;
use cortland_cts::device::layout::Layout;
use cortland_cts::device::simulated::Compiler as _;

/// How often each shader is compiled; the median counts.
const ROUNDS: usize = 7;
/// The same for first dispatches, which are slow.
const DISPATCHES: usize = 3;

/// Medians for one shader.
struct Times {
    name: String,
    ours: Duration,
    pipeline: Duration,
    dispatch: Duration,
}

fn main() -> anyhow::Result<()> {
    // SAFETY: no other thread runs yet. Without it lavapipe would find its code on the disk.
    unsafe { std::env::set_var("MESA_SHADER_CACHE_DISABLE", "true") };
    let filter = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let filter = filter.unwrap_or_default();
    let lavapipe = Lavapipe::shared()?;
    println!("lavapipe is {}", lavapipe.description());
    let mut all = Vec::new();
    for entry in corpus::load_all(&corpus::directory())? {
        if !entry.name.contains(&filter) || !entry.lavapipe {
            continue;
        }
        match measure(&entry.name, &entry.case()?, lavapipe) {
            Ok(times) => all.push(times),
            Err(error) => println!("{}: left out: {error:#}", entry.name),
        }
    }
    anyhow::ensure!(!all.is_empty(), "nothing could be measured");
    println!(
        "{:32} {:>12} {:>12} {:>12}",
        "shader", "ours", "pipeline", "1st dispatch"
    );
    for times in &all {
        println!(
            "{:32} {:>12.1?} {:>12.1?} {:>12.1?}",
            times.name, times.ours, times.pipeline, times.dispatch
        );
    }
    let ratio = |of: fn(&Times) -> Duration| {
        let ratio = |t: &Times| t.ours.as_secs_f64() / of(t).as_secs_f64();
        median(all.iter().map(ratio).collect())
    };
    println!("{} shaders; medians of ours / lavapipe's:", all.len());
    println!(
        "  vkCreateComputePipelines            {:.2}",
        ratio(|t| t.pipeline)
    );
    println!(
        "  the same and the first dispatch     {:.2}",
        ratio(|t| t.dispatch)
    );
    let sum = |of: fn(&Times) -> Duration| all.iter().map(of).sum::<Duration>();
    println!(
        "sums: ours {:.1?}, vkCreateComputePipelines {:.1?}, with the first dispatch {:.1?}",
        sum(|t| t.ours),
        sum(|t| t.pipeline),
        sum(|t| t.dispatch)
    );
    Ok(())
}

fn measure(name: &str, case: &Case, lavapipe: &Lavapipe) -> anyhow::Result<Times> {
    let layout = Layout::of(case)?;
    let compiler = AgxCompiler::default();
    let one_group = Case {
        groups: [1; 3],
        ..case.clone()
    };
    let timed = |what: &dyn Fn() -> anyhow::Result<()>| {
        let start = Instant::now();
        what()?;
        anyhow::Ok(start.elapsed())
    };
    let (mut ours, mut pipelines, mut dispatches) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        ours.push(timed(&|| compiler.compile(case, &layout).map(drop))?);
        pipelines.push(lavapipe.compile(case)?);
        if round < DISPATCHES {
            dispatches.push(timed(&|| lavapipe.run(&one_group).map(drop))?);
        }
    }
    Ok(Times {
        name: name.to_owned(),
        ours: median(ours),
        pipeline: median(pipelines),
        dispatch: median(dispatches),
    })
}

/// The middle one; the larger of two.
fn median<T: PartialOrd + Copy>(mut values: Vec<T>) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).expect("no NaN: times are not zero"));
    values[values.len() / 2]
}
