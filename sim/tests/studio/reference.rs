// SPDX-License-Identifier: MIT
//! An independent rasteriser in double precision and whole 1/256 pixels.
