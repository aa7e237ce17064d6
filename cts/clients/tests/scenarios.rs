// SPDX-License-Identifier: MIT
//! Every scenario on lavapipe and on Cortland, each run in a process of its own: both pass, both
//! compute the same bytes, and the validation layer has nothing to say.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{anyhow, ensure};
use cortland_clients::drivers::Driver;
use cortland_clients::outcome::{Outcome, Verdict, difference};
use cortland_clients::scenarios;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cortland-clients");

/// Scenarios that Debian 12's lavapipe (Mesa 22.3.6) gets wrong by itself; Cortland is then held
/// to what the scenario expects alone.
const LAVAPIPE_IS_WRONG: &[(&str, &str)] = &[
    (
        "robustness.storage",
        "it computes byte offsets in 32 bits: index 0x40000000 reads element 0 instead of zero",
    ),
    (
        "blit.conversions",
        "its sRGB curve is an approximation: 0.9292 instead of 0.9301, as a half float",
    ),
    (
        "blit.solid",
        "it blits a layer to more slices than the one that is asked for",
    ),
    ("present.alpha", "its windows of depth 32 get no alpha"),
    (
        "varyings.offsets",
        "it goes from the middle of a pixel along derivatives, which curves with perspective leave",
    ),
    (
        "subpasses.layers",
        "its input attachments are of the first layer, whatever the fragment's is",
    ),
    (
        "textures.cubes_apart",
        "it does not wrap coordinates within the faces of cubes that are not seamless",
    ),
];

/// Why the layer is wrong about copies between images of which one has blocks.
const TEXELS_OF_THE_SOURCE: &str = "the layer takes texels of the source for those of the target";

/// Messages that say nothing about client or driver.
const SAYS_NOTHING: &[(&str, &str)] = &[
    (
        "This is most likely a validation bug",
        "the layer waits for its own bookkeeping of timeline values and says itself what it thinks of it",
    ),
    (
        "`VK_FORMAT_UNDEFINED` does not match fragment shader output",
        "an output goes nowhere where there is no attachment, which is what undefined formats say",
    ),
    ("VUID-vkCmdCopyImage-dstImage-01732", TEXELS_OF_THE_SOURCE),
    ("VUID-vkCmdCopyImage-dstOffset-00150", TEXELS_OF_THE_SOURCE),
    ("VUID-vkCmdCopyImage-dstOffset-00151", TEXELS_OF_THE_SOURCE),
    ("VUID-vkCmdCopyImage-dstOffset-01784", TEXELS_OF_THE_SOURCE),
];

/// Scenarios that the layer of Debian 12 (1.3.239) crashes on by itself, on either driver, or is wrong about.
const LAYER_IS_NO_HELP: &[(&str, &str)] = &[
    (
        "library.discard",
        "it crashes in vkCmdDraw, with a pipeline that was linked without fragments",
    ),
    (
        "modifiers.shared",
        "it takes an image that comes from a queue family outside for one without contents",
    ),
];

/// Runs a check for every scenario that `CORTLAND_SCENARIO` (a part of a name) chooses, two at a
/// time; all that is wrong in one panic.
fn each(check: impl Fn(&str) -> anyhow::Result<()> + Sync) {
    let chosen = std::env::var("CORTLAND_SCENARIO").unwrap_or_default();
    let names: Vec<&str> = scenarios::all().iter().map(|s| s.name).collect();
    let names: Vec<&str> = names.into_iter().filter(|n| n.contains(&chosen)).collect();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = check(name) {
                        let mut wrong = wrong.lock().unwrap();
                        wrong.push(format!("{name}: {error:#}"));
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    assert!(
        wrong.is_empty(),
        "{} of {} scenarios:\n{}",
        wrong.len(),
        names.len(),
        wrong.join("\n")
    );
}

fn run(driver: &Driver, name: &str, validate: bool) -> anyhow::Result<Outcome> {
    driver.run(Path::new(PROGRAM), name, validate)
}

fn passed(driver: &Driver, name: &str, outcome: &Outcome) -> anyhow::Result<()> {
    match &outcome.verdict {
        Verdict::Passed => Ok(()),
        // What lavapipe lacks is compared with the scenario's own model alone.
        Verdict::Skipped(_) if driver.name == "lavapipe" => Ok(()),
        Verdict::Failed(_) if known_wrong(driver, name) => Ok(()),
        Verdict::Skipped(why) => Err(anyhow!("{} lacks {why}", driver.name)),
        Verdict::Failed(why) => Err(anyhow!("{}: {why}", driver.name)),
    }
}

fn known_wrong(driver: &Driver, name: &str) -> bool {
    driver.name == "lavapipe" && LAVAPIPE_IS_WRONG.iter().any(|(wrong, _)| *wrong == name)
}

/// Under the validation layer: passed, and silence.
fn silent(driver: &Driver, name: &str) -> anyhow::Result<()> {
    if LAYER_IS_NO_HELP.iter().any(|(at, _)| *at == name) {
        return Ok(());
    }
    let outcome = run(driver, name, true)?;
    passed(driver, name, &outcome)?;
    let says_something =
        |message: &&String| !SAYS_NOTHING.iter().any(|(part, _)| message.contains(part));
    let messages: Vec<&String> = outcome.messages.iter().filter(says_something).collect();
    ensure!(
        messages.is_empty(),
        "{}: {} messages, the first: {}",
        driver.name,
        messages.len(),
        messages[0]
    );
    Ok(())
}

#[test]
fn both_drivers_compute_the_same() {
    let lavapipe = Driver::lavapipe().unwrap();
    let cortland = Driver::cortland().unwrap();
    each(|name| {
        let theirs = run(&lavapipe, name, false)?;
        passed(&lavapipe, name, &theirs)?;
        let ours = run(&cortland, name, false)?;
        passed(&cortland, name, &ours)?;
        if theirs.verdict != Verdict::Passed {
            return Ok(());
        }
        ensure!(
            ours.results.keys().eq(theirs.results.keys()),
            "results {:?} and {:?}",
            ours.results.keys(),
            theirs.results.keys()
        );
        for (result, bytes) in &ours.results {
            if let Some(difference) = difference(bytes, &theirs.results[result]) {
                return Err(anyhow!("{result}: Cortland and lavapipe: {difference}"));
            }
        }
        Ok(())
    });
}

#[test]
fn the_validation_layer_is_silent_about_the_clients() {
    let lavapipe = Driver::lavapipe().unwrap();
    each(|name| silent(&lavapipe, name));
}

#[test]
fn the_validation_layer_is_silent_about_the_driver() {
    let cortland = Driver::cortland().unwrap();
    each(|name| silent(&cortland, name));
}

/// What of the scenarios draws.
const GRAPHICS: [&str; 24] = [
    "borders.",
    "clears.",
    "draw.",
    "dynamic.",
    "feedback.",
    "fragments.",
    "inputs.",
    "layers.",
    "library.",
    "occlusion.",
    "passes.",
    "raster.",
    "rendered.",
    "resolves.",
    "reuse.",
    "samplers.",
    "secondary.",
    "shaders.",
    "stages.",
    "states.",
    "subpasses.",
    "textures.",
    "varyings.",
    "views.",
];

/// A GPU whose memory for geometry is full renders what it has, in the middle of a pass (graphics, 12).
/// No picture may tell.
#[test]
fn partial_renders_change_no_picture() {
    let whole = Driver::cortland().unwrap();
    let partial = Driver {
        partial_renders: true,
        ..whole.clone()
    };
    each(|name| {
        if !GRAPHICS.iter().any(|theme| name.starts_with(theme)) {
            return Ok(());
        }
        let [expected, got] = [&whole, &partial].map(|driver| run(driver, name, false));
        let (expected, got) = (expected?, got?);
        passed(&partial, name, &got)?;
        for (result, bytes) in &expected.results {
            let got = got.results.get(result).map_or(&[][..], Vec::as_slice);
            if let Some(difference) = difference(got, bytes) {
                return Err(anyhow!("{result}: with partial renders: {difference}"));
            }
        }
        Ok(())
    });
}
