// SPDX-License-Identifier: MIT
//! The texture unit: samples, fetches, gathers, level queries, image stores.
//!
//! ```text
//!  TEX bundle --(request)--> Request        tables --(record)--> View, Sampler, Target
//!                               \            /
//!            words of the block  v          v
//!    filter: lod -> coordinates -> texel -> format / blocks -> weights -> swizzle
//!    fetch:         coordinates -> texel -> format / blocks -> swizzle
//!    store:         coordinates -> encode -> texel
//! ```
//!
//! Everything works on 32 lanes at once: [`crate::shader::texture`] hands over the publications of a
//! SIMD group and gets registers back. Records are unpacked once and remembered ([`record`]), and so
//! are compressed blocks ([`blocks`]); nothing is allocated for a texel.
//!
//! Facts are those of `docs/hw`: isa-3, 2 and 3, isa-4, 1, 2 and 6, and the image chapter, whose
//! section 10 is the model that is followed here. Where it is silent, the API's rules apply; such
//! places say INFERRED.

pub mod blocks;
pub mod coordinates;
pub mod encode;
pub mod fetch;
pub mod filter;
pub mod format;
pub mod lod;
pub mod record;
pub mod request;
pub mod srgb;
pub mod store;
pub mod texel;
