// SPDX-License-Identifier: MIT
//! A stack that is large enough, whatever thread the application calls from.
//!
//! Mesa recurses over nested control flow and types and keeps per-member arrays on the stack. The limits in
//! `spirv::limits` bound the depth, but an application may call from a thread with a stack of a few pages, so shaders
//! that the limits call deep are worked on in a thread of our own.

use crate::Error;

/// Enough for the deepest shader that the limits allow, several times over. Only touched pages cost memory.
const DEEP_STACK: usize = 256 << 20;

/// Run `f` on a stack of [`DEEP_STACK`] bytes if `deep`, else right here.
pub(crate) fn run<R: Send>(deep: bool, f: impl FnOnce() -> R + Send) -> Result<R, Error> {
    if !deep {
        return Ok(f());
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("nir-deep".into())
            .stack_size(DEEP_STACK)
            .spawn_scoped(scope, f)
            .map_err(|e| Error::TooLarge(format!("no thread for a deeply nested shader: {e}")))?;
        match thread.join() {
            Ok(result) => Ok(result),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
