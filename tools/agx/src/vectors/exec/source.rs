// SPDX-License-Identifier: MIT
//! Operations that take several instructions: a program is built for each, by the rules of isa-1,
//! section 6 and isa-4, section 7, and only its result is compared.

use agx_isa::asm::assemble;
use agx_sim::rig::{DATA, Rig};
use agx_sim::shader::{Exit, LANES, Lanes};
use serde_json::Value;

use super::Exec;
use super::number::{self, Number, Tolerance};
use crate::vectors::load::packed_hex;

/// A program: inputs in the named registers, one lane for each element, the result in `r0` (and
/// `r1`, for 64 bits).
struct Recipe {
    op: &'static str,
    inputs: &'static [(&'static str, u8)],
    text: &'static str,
}

const RECIPES: &[Recipe] = &[
    Recipe {
        op: "f32_to_i32",
        inputs: &[("src0", 1)],
        text: "f2i.s32.f32.rtz r0, r1",
    },
    Recipe {
        op: "f32_to_u32",
        inputs: &[("src0", 1)],
        text: "f2i.u32.f32.rtz r0, r1",
    },
    Recipe {
        op: "f32_to_i8",
        inputs: &[("src0", 1)],
        text: "f2i.s8.f32.rtz r0, r1
            shl r0, r0, #24
            asr r0, r0, #24",
    },
    Recipe {
        op: "clz",
        inputs: &[("src0", 1)],
        text: "find_msb r0, r1
            mov_imm r2, #31
            isub r0, r2, r0",
    },
    // A register amount of 32 or more shifts everything out (isa-1, 4.13); a width of exactly 32
    // answers the input whatever the offset.
    Recipe {
        op: "extract_bits_unsigned",
        inputs: &[("a", 1), ("offset", 2), ("width", 3)],
        text: "mov_imm r4, #1
            mov_imm r5, #32
            shr r0, r1, r2
            shl r6, r4, r3
            isub r6, r6, r4
            and r0, r0, r6
            select.10.ieq r0, r3, r5, r1, r0",
    },
    Recipe {
        op: "extract_bits_signed",
        inputs: &[("a", 1), ("offset", 2), ("width", 3)],
        text: "mov_imm r4, #1
            mov_imm r5, #32
            shr r0, r1, r2
            shl r6, r4, r3
            isub r6, r6, r4
            and r0, r0, r6
            select.10.ieq r0, r3, r5, r1, r0
            umin r3, r3, r5
            isub r3, r5, r3
            shl r0, r0, r3
            asr r0, r0, r3",
    },
    Recipe {
        op: "rotate_left_variable",
        inputs: &[("a", 1), ("amount", 2)],
        text: "mov_imm r4, #31
            mov_imm r5, #0
            and r2, r2, r4
            isub r3, r5, r2
            and r3, r3, r4
            shl r0, r1, r2
            shr r1, r1, r3
            or r0, r0, r1",
    },
    Recipe {
        op: "u32_mul_to_u64",
        inputs: &[("a", 2), ("b", 3)],
        text: "imul_wide r0, r2, r3",
    },
    Recipe {
        op: "round_half_away_f32",
        inputs: &[("src0", 1)],
        text: "mov_imm r2, #0x80000000
            mov_imm r3, #0x3f000000
            mov_imm r4, #0x4b000000
            mov_imm r5, #0
            and r2, r2, r1
            or r2, r2, r3
            fadd r2, r1, r2
            trunc.f32.d32 r2, r2
            fadd r2, r2, r5
            select.14.flt r0, |r1|, r4, r2, r1",
    },
    Recipe {
        op: "sqrt_fast_f32",
        inputs: &[("src0", 1)],
        text: "sqrt_factor.f32.d32 r0, r1
            fmul r0, r0, r1",
    },
    Recipe {
        op: "predicate_feq",
        inputs: &[("a", 1), ("b", 2)],
        text: "mov_imm r0, #0
            pcmp.10.feq P0, r1, r2
            push.if P0
            mov_imm r0, #1
            else
            pop.if",
    },
    Recipe {
        op: "predicate_fge",
        inputs: &[("a", 1), ("b", 2)],
        text: "mov_imm r0, #0
            pcmp.10.fge P0, r1, r2
            push.if P0
            mov_imm r0, #1
            else
            pop.if",
    },
];

/// Checks the vector; `None` when the operation is not known.
pub(super) fn check(vector: &Exec) -> Option<Result<(), String>> {
    if let Some(recipe) = RECIPES.iter().find(|recipe| recipe.op == vector.op) {
        return Some(check_recipe(vector, recipe));
    }
    Some(match vector.op.as_str() {
        "hfma_x2" | "hmul_x2" => check_halves(vector),
        "mul_i16x2" => check_shorts(vector),
        "device_load_alignment" => check_alignment(vector),
        "predicate_invert_rules" => check_inversions(vector),
        "image_atomic_add" => check_contention(vector),
        "cube_face_select" => check_cube_face(vector),
        "sinpi_f32" | "cospi_f32" => check_sine_in_turns(vector),
        "sin_fast_f32" => check_fast_sine(vector),
        op => match op.strip_prefix("device_atomic_") {
            Some(op) => check_atomic(vector, op),
            None => return None,
        },
    })
}

/// Runs `text` with registers set and answers `count` registers from r0 on.
fn run(text: &str, inputs: &[(u8, &[u32])], rig: impl FnOnce(&mut Rig)) -> Result<Outputs, String> {
    let code = assemble(&format!("{text}\nstop\n")).map_err(|e| e.to_string())?;
    let mut bench = Rig::with(code, 0x1000).map_err(|e| e.to_string())?;
    rig(&mut bench);
    let registers = bench.execute(
        |wave| {
            for (reg, values) in inputs {
                wave.gprs[usize::from(*reg)].0[..values.len()].copy_from_slice(values);
            }
        },
        |wave, exit| match exit {
            Exit::Stop => Ok([wave.gprs[0], wave.gprs[1]]),
            Exit::Fault(fault) => Err(fault.to_string()),
            other => Err(format!("the program ended with {other:?}")),
        },
    );
    Ok(Outputs {
        registers: registers.map_err(|e| e.to_string())??,
        rig: bench,
    })
}

/// What a program left behind.
struct Outputs {
    /// r0 and r1.
    registers: [Lanes; 2],
    rig: Rig,
}

fn words(numbers: &[Number]) -> Vec<u32> {
    numbers.iter().map(|n| n.word()).collect()
}

fn differs(index: usize, result: u64, expected: Number) -> String {
    format!("element {index}: {result:#x}, expected {expected:x?}")
}

fn check_recipe(vector: &Exec, recipe: &Recipe) -> Result<(), String> {
    let tolerance = Tolerance::read(&vector.tolerance)?;
    let expected = vector.expected_list()?;
    let mut inputs = Vec::new();
    for (name, reg) in recipe.inputs {
        inputs.push((*reg, words(&vector.list(name)?)));
    }
    if inputs.len() != vector.inputs.len() {
        return Err("the vector has inputs that the operation has not".to_owned());
    }
    for start in (0..expected.len()).step_by(LANES) {
        let end = expected.len().min(start + LANES);
        let mut chunk = Vec::new();
        for (reg, values) in &inputs {
            chunk.push((*reg, values.get(start..end).ok_or("an input is too short")?));
        }
        let out = run(recipe.text, &chunk, |_| {})?;
        for (lane, value) in expected[start..end].iter().enumerate() {
            let wide = matches!(value, Number::Bits(_, 33..));
            let [low, high] = out.registers.map(|reg| u64::from(reg.0[lane]));
            let (bits, result) = if wide {
                (64, low | high << 32)
            } else {
                (32, low)
            };
            if !number::agrees(result, bits, *value, tolerance) {
                return Err(differs(start + lane, result, *value));
            }
        }
    }
    Ok(())
}

/// Pairs of fp16, the first in the low half.
fn pairs(vector: &Exec, name: &str) -> Result<Vec<u32>, String> {
    let numbers = vector.list(name)?;
    let (pairs, rest) = numbers.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(format!("`{name}` holds no pairs"));
    }
    let pack = |[low, high]: &[Number; 2]| low.word() & 0xffff | high.word() << 16;
    Ok(pairs.iter().map(pack).collect())
}

fn check_halves(vector: &Exec) -> Result<(), String> {
    let (a, b) = (pairs(vector, "a")?, pairs(vector, "b")?);
    let c = match vector.op.as_str() {
        "hfma_x2" => pairs(vector, "c")?,
        _ => vec![0; a.len()],
    };
    // The addend is always a low half.
    let text = match vector.op.as_str() {
        "hfma_x2" => {
            "shr r4, r3, #16
            hfma r0.l, r1.l, r2.l, r3.l
            hfma r0.h, r1.h, r2.h, r4.l"
        }
        _ => {
            "hmul r0.l, r1.l, r2.l
            hmul r0.h, r1.h, r2.h"
        }
    };
    compare_pairs(vector, &run(text, &[(1, &a), (2, &b), (3, &c)], |_| {})?)
}

fn check_shorts(vector: &Exec) -> Result<(), String> {
    let (a, b) = (pairs(vector, "a")?, pairs(vector, "b")?);
    let text = "mov_imm r7, #0
        mov_imm r6, #0xffff
        shr r3, r1, #16
        shr r4, r2, #16
        imad r1, r1, r2, r7
        imad r3, r3, r4, r7
        and r1, r1, r6
        shl r3, r3, #16
        or r0, r1, r3";
    compare_pairs(vector, &run(text, &[(1, &a), (2, &b)], |_| {})?)
}

fn compare_pairs(vector: &Exec, out: &Outputs) -> Result<(), String> {
    for (index, value) in vector.expected_list()?.iter().enumerate() {
        let half = out.registers[0].0[index / 2] >> (16 * (index % 2)) & 0xffff;
        if half != value.word() & 0xffff {
            return Err(differs(index, half.into(), *value));
        }
    }
    Ok(())
}

/// Member `name` of the expected object.
fn expected_member(vector: &Exec, name: &str) -> Result<Vec<Number>, String> {
    let value = vector.expected.get(name);
    number::list(value.ok_or_else(|| format!("`{name}` is not expected"))?)
}

fn check_atomic(vector: &Exec, op: &str) -> Result<(), String> {
    let memory = words(&vector.list("memory")?);
    let operand = words(&vector.list("operand")?);
    let text = format!(
        "get_sr r2, %global_id_x
        device_atomic.{op}.ret ^r1, u0:u1, ^r2
        atomic_result r0, slot=6
        or r0, r0, r0, wait=6"
    );
    let out = run(&text, &[(1, &operand)], |rig| {
        rig.pointer(0, DATA);
        rig.write_words(0, &memory);
        rig.active = u32::MAX >> (32 - operand.len().clamp(1, 32));
    })?;
    for (index, value) in expected_member(vector, "returned")?.iter().enumerate() {
        if out.registers[0].0[index] != value.word() {
            return Err(differs(index, out.registers[0].0[index].into(), *value));
        }
    }
    let after = expected_member(vector, "memory_after")?;
    let left = out.rig.read_words(0, after.len());
    for (index, (value, word)) in after.iter().zip(left).enumerate() {
        if word != value.word() {
            return Err(format!("memory, {}", differs(index, word.into(), *value)));
        }
    }
    Ok(())
}

/// Many threads on one word: image atomics on buffer-like images are device atomics (isa-2, 5.5).
fn check_contention(vector: &Exec) -> Result<(), String> {
    let number = |name: &str| {
        let value = vector.inputs.get(name).and_then(Value::as_u64);
        value.ok_or_else(|| format!("input `{name}` is missing"))
    };
    let (initial, operand) = (number("initial")? as u32, number("operand")? as u32);
    let groups = number("threads")? / LANES as u64;
    let text = "mov_imm r2, #0
        device_atomic.add.void ^r1, u0:u1, ^r2";
    let mut word = initial;
    for _ in 0..groups {
        let out = run(text, &[(1, &[operand; LANES])], |rig| {
            rig.pointer(0, DATA);
            rig.write_words(0, &[word]);
        })?;
        word = out.rig.read_words(0, 1)[0];
    }
    let expected = Number::read(&vector.expected)?;
    if word == expected.word() {
        Ok(())
    } else {
        Err(differs(0, word.into(), expected))
    }
}

fn check_alignment(vector: &Exec) -> Result<(), String> {
    let hex = |value: Option<&Value>| {
        let text = value.and_then(Value::as_str);
        text.and_then(packed_hex).ok_or("no byte string")
    };
    let memory = hex(vector.inputs.get("memory_hex"))?;
    let expected = hex(vector.expected.get("loaded_hex"))?;
    let number = |name: &str| vector.inputs.get(name).and_then(Value::as_u64);
    let address = number("byte_address_offset").ok_or("no address")?;
    let format = match number("total_bits") {
        Some(8) => "i8 r0.l",
        Some(16) => "i16 r0.l",
        Some(32) => "i32 r0",
        Some(64) => "i32x2 r0",
        Some(128) => "i32x4 r0",
        _ => return Err("no such width".to_owned()),
    };
    // All lanes load the same; the registers are stored back to be compared as bytes.
    let registers = expected.len().div_ceil(4);
    let variant = ["i32", "i32x2", "i32x3", "i32x4"][registers - 1];
    let text = format!(
        "device_load.{format}, u0:u1, r8, scale=lsl0, slot=6
        or r0, r0, r0, wait=6
        device_store.{variant} r0, u2:u3, r9"
    );
    let out = run(&text, &[(8, &[address as u32; LANES])], |rig| {
        rig.pointer(0, DATA);
        rig.pointer(1, DATA + 0x800);
        rig.write_bytes(0, &memory);
    })?;
    let loaded = out.rig.read_bytes(0x800, expected.len());
    if loaded == expected {
        Ok(())
    } else {
        Err(format!("loaded {loaded:02x?}, expected {expected:02x?}"))
    }
}

fn check_inversions(vector: &Exec) -> Result<(), String> {
    let flags = |name| vector.list(name).map(|list| words(&list));
    let predicate = flags("predicate_inverted")?;
    let push = flags("push_inverted")?;
    let expected = vector.expected.as_array().ok_or("no list is expected")?;
    for (index, value) in expected.iter().enumerate() {
        let inverted = if predicate[index] == 1 { ", inv" } else { "" };
        let minus = if push[index] == 1 { "-" } else { "" };
        let text = format!(
            "mov_imm r0, #0
            pcmp.6.ult P0, r1, r2{inverted}
            push.if {minus}P0
            mov_imm r0, #1
            else
            pop.if"
        );
        let lanes: Vec<u32> = (0..LANES as u32).collect();
        let out = run(&text, &[(1, &lanes), (2, &[9; LANES])], |_| {})?;
        let complement = value.as_str() == Some("complement");
        for (lane, result) in out.registers[0].0.iter().enumerate() {
            if *result != u32::from((lane < 9) != complement) {
                return Err(format!("row {index}, lane {lane}: {result}"));
            }
        }
    }
    Ok(())
}

fn check_cube_face(vector: &Exec) -> Result<(), String> {
    let direction = vector.inputs.get("direction").and_then(Value::as_array);
    let component = |v: &Value| v.as_f64().map(|v| (v as f32).to_bits());
    let direction: Option<Vec<u32>> = direction.and_then(|d| d.iter().map(component).collect());
    let [x, y, z] = direction
        .and_then(|d| <[u32; 3]>::try_from(d).ok())
        .ok_or("`direction` is no vector")?;
    let text = "cube_face r4, r6, r7, r8
        or r0, r5, r5";
    let splat = |value| [value; LANES];
    let inputs: [(u8, &[u32]); 3] = [(6, &splat(x)), (7, &splat(y)), (8, &splat(z))];
    let out = run(text, &inputs, |_| {})?;
    let face = Number::read(vector.expected.get("face").unwrap_or(&Value::Null))?;
    let result = out.registers[0].0[0] & 0xffff;
    if result == face.word() {
        Ok(())
    } else {
        Err(differs(0, result.into(), face))
    }
}

/// sin(pi x) or cos(pi x) by the reduction of isa-1, 6.2, in turns.
///
/// q is the number of quarter turns of |x|, plus one for the cosine, modulo 4; p folds it into
/// [-1, 1]; the sine of p quarter turns is p times p's factor. A sine takes the sign of x; adding -0
/// makes NaN canonical again.
fn check_sine_in_turns(vector: &Exec) -> Result<(), String> {
    let cosine = vector.op == "cospi_f32";
    let text = format!(
        "mov_imm r10, #0x3f000000
        mov_imm r11, #0x40800000
        mov_imm r12, #0x3e800000
        mov_imm r13, #{offset:#x}
        mov_imm r14, #{sign:#x}
        mov_imm r15, #0x3f800000
        mov_imm r16, #0x40000000
        mov_imm r17, #0x40400000
        mov_imm r18, #0x80000000
        fmul.12 r2, |r1|, |r10|
        floor.f32.d32 r3, r2
        fadd r2, r2, -r3
        fmul r2, r2, r11
        fadd r2, r2, r13
        fmul r3, r2, r12
        floor.f32.d32 r3, r3
        fmul r3, r3, r11
        fadd r2, r2, -r3
        fadd r4, r16, -r2
        fadd r5, r2, -r11
        select.10.flt r6, r2, r17, r4, r5
        select.10.flt r6, r2, r15, r2, r6
        sin_factor.f32.d32 r7, r6
        fmul r7, r6, r7
        and r8, r1, r14
        xor r7, r7, r8
        fadd r0, r7, r18",
        offset = if cosine { 1.0f32.to_bits() } else { 0 },
        sign = if cosine { 0 } else { 0x8000_0000u32 },
    );
    // Half of the smallest normal numbers is flushed; the recorded sequence reduces without halving.
    check_function(vector, &text, |x| {
        (0x0080_0000..0x0100_0000).contains(&(x & 0x7fff_ffff))
    })
}

/// sin(x) with a three-term reduction by quarter turns: k = round(|x| * 2 / pi), r = |x| - k * pi / 2,
/// then the sine or cosine of r by k modulo 4.
fn check_fast_sine(vector: &Exec) -> Result<(), String> {
    // pi / 2 in three parts, the first two short enough that their products with k are exact.
    let half_pi = std::f64::consts::FRAC_PI_2;
    let short = |value: f64| f32::from_bits((value as f32).to_bits() & 0xffff_f000);
    let first = short(half_pi);
    let second = short(half_pi - f64::from(first));
    let third = (half_pi - f64::from(first) - f64::from(second)) as f32;
    let text = format!(
        "mov_imm r10, #{first:#x}
        mov_imm r11, #{second:#x}
        mov_imm r12, #{third:#x}
        mov_imm r13, #{inverse:#x}
        mov_imm r14, #0x7fffffff
        mov_imm r15, #0x3f800000
        mov_imm r16, #0x40000000
        mov_imm r17, #0x3e800000
        mov_imm r18, #0x40800000
        mov_imm r19, #0x80000000
        and r2, r1, r14
        fmul r3, r2, r13
        round_even.f32.d32 r3, r3
        fma.8 r4, r3, r10, -r2
        fma.8 r4, r3, r11, r4
        fma.8 r4, r3, r12, r4
        xor r4, r4, r19
        fmul r4, r4, r13
        fmul r5, r3, r17
        floor.f32.d32 r5, r5
        fma.8 r5, r5, r18, r3, negP
        mov_imm r6, #0x3f000000
        fmul r7, r5, r6
        floor.f32.d32 r7, r7
        fma.8 r8, r7, r16, r5, negP
        and r9, r4, r14
        fadd r9, r15, -r9
        select.10.fgt r4, r8, r6, r9, r4
        sin_factor.f32.d32 r9, r4
        fmul r0, r4, r9
        select.10.fgt r7, r7, r6, r19, r24
        xor r0, r0, r7
        and r1, r1, r19
        xor r0, r0, r1",
        first = first.to_bits(),
        second = second.to_bits(),
        third = third.to_bits(),
        inverse = std::f32::consts::FRAC_2_PI.to_bits(),
    );
    // The recorded sequence answers 0 for what it cannot reduce, and tiny inputs unchanged.
    check_function(vector, &text, |x| !f32::from_bits(x).is_normal())
}

/// A function of one operand, in r1, to r0; inputs for which `special` holds are another sequence's
/// matter.
fn check_function(vector: &Exec, text: &str, special: impl Fn(u32) -> bool) -> Result<(), String> {
    let tolerance = Tolerance::read(&vector.tolerance)?;
    let inputs = words(&vector.list("src0")?);
    let out = run(text, &[(1, &inputs)], |_| {})?;
    for (lane, value) in vector.expected_list()?.iter().enumerate() {
        let result = out.registers[0].0[lane];
        if !special(inputs[lane]) && !number::agrees(result.into(), 32, *value, tolerance) {
            return Err(differs(lane, result.into(), *value));
        }
    }
    Ok(())
}
