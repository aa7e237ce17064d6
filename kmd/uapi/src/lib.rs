// SPDX-License-Identifier: MIT
//! The Asahi DRM user interface of Apple9 GPUs.
