// SPDX-License-Identifier: MIT
//! The assembler: what it takes, what it refuses and says, and which form it picks.

use agx_isa::asm::{assemble, assemble_one};

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn the_shortest_form_that_a_compiler_may_use() {
    for (text, form) in [
        ("fadd r4, ^r2, ^r3", "F2.4"),
        ("fadd r4, r2, r70", "F2.6"),
        ("fadd r4, #2.0, r3", "F2I.6"),
        ("fadd r4, -r2, r3", "F2.8"),
        ("fadd r4, |r2|, r3", "FADDABS.10"),
        ("fma r4, r2, r3, r5", "FMA.6"),
        ("fma r4, r2, r3, -r5", "FMA.8"),
        ("mov_imm r3, #127", "MOV_IMM7"),
        ("mov_imm r3, #128", "MOV_IMM32"),
        ("mov_imm r16, #1", "MOV_IMM32"),
        // Shorter encodings exist that no compiler may use.
        ("or r0, r1, r2", "LOGIC.10"),
        ("hadd r0.l, r1.l, r2.l", "H2.6"),
        ("shl r0, r1, #3", "LSI.12"),
        ("shl r0, r1, r2", "LSR.12"),
        // Nothing else fits.
        ("and r0, r1, #255", "LOGICI.10"),
        // Named by its length.
        ("or.4 r0, r1, r2", "LOGIC.4"),
    ] {
        let instr = assemble_one(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(instr.form().name, form, "{text}");
    }
}

#[test]
fn programs() {
    for (source, bytes) in [
        ("", ""),
        ("  ; nothing\n// more of it\n", ""),
        ("stop", "0e 00 00 00"),
        ("stop\r\nstop\r\n", "0e 00 00 00 0e 00 00 00"),
        ("a: b: stop ; two labels", "0e 00 00 00"),
        (
            "top: mov_imm r0, #1\n br_any top",
            "0c 01 0f 00 54 fe ff ff ff ff ff 00",
        ),
        (
            "br_none end\n.bytes 06 00\nend:",
            "0f 01 54 0c 00 00 00 00 00 00 06 00",
        ),
        ("br_any .+16", "0f 00 54 10 00 00 00 00 00 00"),
        ("mov_imm r0, #-1", "0c ff 02 fe 1e 0c ff 0f"),
        ("push.loop true", "0f 05 54 1a"),
        ("push.if -P0", "0f 05 54 21"),
    ] {
        let code = assemble(source).unwrap_or_else(|e| panic!("{source}: {e}"));
        assert_eq!(hex(&code), bytes, "{source}");
    }
}

/// Each line, and what the message must mention.
#[test]
fn refusals_say_what_is_wrong() {
    for (source, what) in [
        ("frobnicate r0", "no operation is called `frobnicate`"),
        ("fadd.10 r0", "wants 3 operands"),
        ("fadd.5 r0, r1, r2", "no form of that length"),
        ("fadd.+6 r0, r1, r2", "behind the mnemonic"),
        ("fadd r0, r1", "wants 3 operands"),
        ("fadd r0, r1, r2, bogus=1", "no field is called `bogus`"),
        ("fadd r0, r1, q2", "`q2` is no operand"),
        ("fadd r0, r1, r96", "B = 96: legal is 0..=95"),
        ("fadd r0, |r1, r2", "second bar"),
        ("iadd r0, r1, r2, wait=1, wait=2", "`wait` is given twice"),
        ("iadd r0, r1, r2, wait=7", "not a slot"),
        ("iadd r0, r1, r2,", "no field is called ``"),
        ("iadd r0, ^u1, r2", "only registers can be released"),
        ("iadd r0, r1, r95:r96", "takes 1 registers"),
        ("iadd r0, r1, r2:r1", "no operand"),
        ("get_sr r0, %5", "128..=255"),
        ("get_sr r0, %0x1ff", "128..=255"),
        ("device_load.i33 r0, u0:u1, r0", "not a value of format"),
        (
            "device_load.i32 r0, u0:u1, r0, offset=65535",
            "-32768..=32767",
        ),
        ("device_load.i32x4 r94, u0:u1, r0", "tuple"),
        ("device_load.i32 r0, u1:u2, r1", "even word"),
        (
            "texture.2d.sample r6:r7, ^p0, tex0, samp0",
            "takes 4 registers",
        ),
        ("texture.2d_lod.sample r0, p1, tex0, samp0", "multiple of 4"),
        ("texture.2d.load r0, p0, tex0, samp0", "gather"),
        ("u2f.f32 r1.l, r2", "r1"),
        ("rcp.f32.d32 r1, r2.l", "r2"),
        ("imax r0, r1, -r2", "integer"),
        ("select.10.ult r0, r1, -r2, r3, r4", "float condition"),
        ("select.10.flt r0, r1, r2.l, r3, r4", "same as A32"),
        ("tile_load_at r0, tw0, #3, r1", "1, 2, 4, 8"),
        ("pcmp.6.ult P6, r0, r1", "0..=5"),
        ("br_any", "target"),
        ("br_any .+3", "even"),
        ("br_any .+4, .+8", "already given"),
        ("br_any nowhere", "`nowhere` does not exist"),
        ("a: stop\na: stop", "line 2: label `a` is defined twice"),
        (".bytes 5", "two hexadecimal digits"),
        (".bytes +5", "two hexadecimal digits"),
        ("STOP", "no operation is called `STOP`"),
        ("\u{1F600}", ""),
    ] {
        let error = assemble(source).expect_err(source).to_string();
        assert!(error.contains(what), "{source}: {error}");
        assert!(error.starts_with("line "), "{source}: {error}");
    }
}

/// A long program takes time in proportion, and offsets beyond 64 KiB branch correctly.
#[test]
fn long_programs() {
    let mut source = String::from("top:\n");
    for _ in 0..20_000 {
        source.push_str("mov_imm r0, #0x12345678\n");
    }
    source.push_str("br_any top\n");
    let code = assemble(&source).unwrap();
    assert_eq!(code.len(), 160_010);
    assert_eq!(hex(&code[160_000..]), "0f 00 54 00 8f fd ff ff ff 00");
}
