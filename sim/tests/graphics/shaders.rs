// SPDX-License-Identifier: MIT
//! Programs of the tests, as assembly text.

// Each user needs its own part of this.
#![allow(dead_code, unreachable_pub)]

use crate::studio::{Shader, Studio};

/// A vertex shader that reads so many words (a multiple of 4) for each vertex from buffer 0 and writes all
/// of them. `instance`: of each instance, from buffer 1, word 0 of its position, which is added.
pub fn vertex(studio: &mut Studio, words: usize) -> Shader {
    let text = vertex_text(words, "");
    studio.shader(&text)
}

/// The same, with more text between loads and stores: the words are in r8 and up, the instance is in r6.
pub fn vertex_text(words: usize, middle: &str) -> String {
    assert!(words.is_multiple_of(4) && words <= 64);
    let quads = words / 4;
    let mut text = format!(
        "get_sr r0, %vertex_id
         or.10 r0, r0, r0, wait=1
         get_sr r6, %instance_id
         or.10 r6, r6, r6, wait=1
         device_load.i32x2 r2:r3, u4:u5, none, slot=2
         or.10 r2, r2, r2, wait=2
         mov_imm r4, #{quads}
         mov_imm r5, #0
         imad r1, r0, r4, r5\n"
    );
    for quad in 0..quads {
        let (first, last, offset) = (8 + 4 * quad, 11 + 4 * quad, 16 * quad);
        text += &format!(
            "device_load.i32x4 r{first}:r{last}, r2:r3, r1, scale=lsl4, offset={offset}, slot=3\n"
        );
    }
    text += "or.10 r1, r1, r1, wait=3\n";
    text += middle;
    text += "\n";
    for word in 0..words {
        let register = 8 + word;
        text += &format!(
            "or p{word}, r{register}, r{register}, slot=4\n vary_store out{word}, p{word}, wait=4\n"
        );
    }
    text + "stop"
}

/// Opens the tile, and has the coverage word in r12.
pub const OPEN: &str = "tile_access imm=0x600
    tile_access imm=0x80c
    get_sr r12, %coverage
    or.10 r12, r12, r12, wait=1\n";

/// Closes it.
pub const CLOSE: &str = "tile_fence imm=0x20c\n stop";

/// A fragment shader that stores its four smooth inputs as floats.
pub fn smooth(studio: &mut Studio) -> Shader {
    let mut text = OPEN.to_owned() + "iter r0, cf0, none\n rcp.f32.d32 r1, r0\n";
    for i in 0..4 {
        let cf = i + 1;
        text += &format!(
            "iter r2, cf{cf}, none\n fproject r3, r2, r1, cf{cf}\n tile_store tw{i}, r3, r12.l\n"
        );
    }
    studio.shader(&(text + CLOSE))
}

/// The same without perspective.
pub fn linear(studio: &mut Studio) -> Shader {
    let mut text = OPEN.to_owned();
    for i in 0..4 {
        let cf = i + 1;
        text += &format!("iter r2, cf{cf}, none\n tile_store tw{i}, r2, r12.l\n");
    }
    studio.shader(&(text + CLOSE))
}

/// The same at every sample's own place.
pub fn per_sample(studio: &mut Studio, samples: u32) -> Shader {
    let mut text = OPEN.to_owned();
    for sample in 0..samples {
        let mask = 1 << sample;
        text += &format!(
            "mov_imm r4, #{sample}
             interp_sample r5, r4
             mov_imm r6, #{mask}
             and r6, r6, r12
             iter r0, cf0, r5
             rcp.f32.d32 r1, r0\n"
        );
        for i in 0..4 {
            let cf = i + 1;
            text += &format!(
                "iter r2, cf{cf}, r5\n fproject r3, r2, r1, cf{cf}\n tile_store tw{i}, r3, r6.l\n"
            );
        }
    }
    studio.shader(&(text + CLOSE))
}

/// A fragment shader that stores the value of a flat input to word 0.
pub fn flat(studio: &mut Studio) -> Shader {
    flat_of(studio, 1)
}

/// That of another coefficient.
pub fn flat_of(studio: &mut Studio, cf: u32) -> Shader {
    let text = format!(
        "{OPEN} iter_flat r4:r6, cf{cf}, slot=2\n or.10 r6, r6, r6, wait=2\n tile_store tw0, r6, r12.l\n {CLOSE}"
    );
    studio.shader(&text)
}

/// A fragment shader that stores a constant to word 0.
pub fn constant(studio: &mut Studio, value: u32) -> Shader {
    let text = format!("{OPEN} mov_imm r4, #{value}\n tile_store tw0, r4, r12.l\n {CLOSE}");
    studio.shader(&text)
}

/// A fragment shader that adds 1 to word 0 of every covered sample.
pub fn counting(studio: &mut Studio, samples: u32) -> Shader {
    let mut text = OPEN.to_owned();
    for sample in 0..samples {
        let mask = 1 << sample;
        text += &format!(
            "tile_load r4, tw0, #{mask}, slot=1
             or.10 r4, r4, r4, wait=1
             mov_imm r5, #1
             iadd r4, r4, r5
             mov_imm r6, #{mask}
             and r6, r6, r12
             tile_store tw0, r4, r6.l\n"
        );
    }
    studio.shader(&(text + CLOSE))
}

/// A fragment shader with this text between opening and closing.
pub fn with(studio: &mut Studio, text: &str) -> Shader {
    studio.shader(&format!("{OPEN}{text}\n{CLOSE}"))
}
