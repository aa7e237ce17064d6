// SPDX-License-Identifier: MIT
//! Host allocations that fail, one after another, in programs on Cortland.

use std::process::Command;

use cortland_clients::drivers::{Driver, TIME_LIMIT, finish};
use cortland_clients::failing;

#[test]
fn failed_host_allocations_are_reported_and_nothing_leaks() {
    let cortland = Driver::cortland().unwrap();
    let mut wrong = Vec::new();
    for program in failing::programs() {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cortland-clients"));
        command.args(["failing", program.name]);
        cortland.choose(&mut command);
        match finish(command, TIME_LIMIT) {
            Ok(said) if said.contains(failing::SUCCESS) => {}
            Ok(said) => wrong.push(format!("{}: {said}", program.name)),
            Err(error) => wrong.push(format!("{}: {error:#}", program.name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
