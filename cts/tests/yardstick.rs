// SPDX-License-Identifier: MIT
//! The hand-written kernels compute what the corpus expects of them, as do compiled ones, which are hardly longer.

use cortland_cts::case::Device as _;
use cortland_cts::corpus::{self, CompareWith, yardstick};
use cortland_cts::device::agx::AgxCompiler;
use cortland_cts::device::lavapipe::Lavapipe;
use cortland_cts::device::layout::Layout;
use cortland_cts::device::simulated::{Compiler as _, Options, SimulatedDevice};

#[test]
fn hand_written_kernels_compute_what_is_expected() {
    let directory = corpus::directory();
    let entries = corpus::load_all(&directory).expect("the corpus");
    let names = yardstick::names(&directory).expect("the yardsticks");
    assert!(names.len() >= 8, "{names:?}");
    let device = SimulatedDevice::new(AgxCompiler::default(), Options::default());
    for name in names {
        let entry = entries.iter().find(|entry| entry.name == name);
        let entry = entry.unwrap_or_else(|| panic!("{name} measures no shader of the corpus"));
        let case = entry.case().expect("a case");
        let layout = Layout::of(&case).expect("a layout");
        let compiled = device.compiler().compile(&case, &layout);
        let compiled = compiled.unwrap_or_else(|e| panic!("{e:#}"));
        let hand = yardstick::load(&directory, &name, &compiled).expect("assembly");
        let reference = match entry.compare_with {
            CompareWith::Lavapipe => {
                let lavapipe = Lavapipe::shared().unwrap_or_else(|e| panic!("{e:#}"));
                lavapipe.run(&case).unwrap_or_else(|e| panic!("{e:#}"))
            }
            _ => Vec::new(),
        };
        // The bar of the project: at most a tenth more instructions than by hand, and nothing spilled.
        let (ours, theirs) = (compiled.stats.instructions, hand.stats.instructions);
        assert!(
            10 * ours <= 11 * theirs,
            "{name}: {ours} instructions, {theirs} by hand"
        );
        assert_eq!(compiled.stats.spills, 0, "{name}");
        for binary in [&hand, &compiled] {
            let (results, executed) = device
                .run_counted(binary, &case, &layout)
                .unwrap_or_else(|e| panic!("{e:#}"));
            entry
                .judge(&results, &reference)
                .unwrap_or_else(|e| panic!("{name}: {e:#}"));
            assert!(executed > 0);
        }
    }
}
