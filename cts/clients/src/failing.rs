// SPDX-License-Identifier: MIT
//! Programs whose host allocations fail at the nth call, for every n.

/// A program.
pub struct Program {
    /// Its name.
    pub name: &'static str,
}

/// Every program.
pub const PROGRAMS: &[Program] = &[];

/// Runs a program.
///
/// # Errors
/// What is wrong.
pub fn check(_program: &Program) -> anyhow::Result<String> {
    Ok(String::new())
}
