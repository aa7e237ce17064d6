// SPDX-License-Identifier: MIT
//! Tests of whole shaders: a corpus, single operations, generated programs, and the devices that run them.

pub mod case;
pub mod compare;
pub mod corpus;
pub mod device;
pub mod element;
pub mod image;
pub mod messages;
pub mod mutate;
pub mod ops;
pub mod random;
