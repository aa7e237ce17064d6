// SPDX-License-Identifier: MIT
//! Queues, fences and semaphores together, through their entry points.

mod loss;
mod memory;
mod model;
mod order;
mod queries;
mod rig;
mod sharing;
mod whole;
