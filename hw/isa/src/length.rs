// SPDX-License-Identifier: MIT
//! The length of an instruction, from its first bytes (isa-0, 1.1 and 1.2).
//!
//! The rule is independent of the form table on purpose: a test checks one against the other.

/// What the first bytes of an instruction say about its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// This many bytes: 2, 4, 6, 8, 10, 12, 14 or 16.
    Bytes(u8),
    /// The rule needs at least this many bytes to decide.
    Short(u8),
    /// No known instruction begins so; there is no fallback that keeps the rest in step.
    Unknown,
}

/// Length of the instruction that starts `bytes`.
#[inline]
#[must_use]
pub fn instruction_length(bytes: &[u8]) -> Length {
    let [b0, b1, rest @ ..] = bytes else {
        return Length::Short(2);
    };
    let (b0, b1) = (*b0, *b1);
    let n = b0 & 15;
    // Two families are decided by two bytes; all others have at least four.
    if n == 12 && b1 < 0x80 {
        return Length::Bytes(2);
    }
    if n == 6 {
        return if b0 == 6 && b1 == 0 {
            Length::Bytes(2)
        } else {
            Length::Unknown
        };
    }
    let [b2, _, more @ ..] = rest else {
        return Length::Short(4);
    };
    let b2 = *b2;
    let op = b2 & 7;
    // Only the scattered families ask for byte 4, and only where the answer is longer than four.
    let k = more.first().map(|b4| b4 & 3);
    let by_k = |lengths: [u8; 4]| match k {
        None => Length::Short(6),
        Some(k) => match lengths[usize::from(k)] {
            0 => Length::Unknown,
            len => Length::Bytes(len),
        },
    };
    match n {
        0 | 8 => match op {
            0..=3 => Length::Bytes(4),
            4 => by_k([6, 8, 10, 0]),
            5 => by_k([6, 8, 0, 8]),
            6 => by_k([6, 8, 10, 12]),
            _ => Length::Unknown,
        },
        1 | 9 => match op {
            0..=3 => Length::Bytes(4),
            4 => by_k([6, 8, 10, 0]),
            5 => by_k([6, 8, 12, 0]),
            6 => by_k([6, 8, 10, 12]),
            _ => by_k([8, 0, 0, 0]),
        },
        2 => {
            if b2 & 1 == 0 {
                Length::Bytes(6)
            } else {
                by_k([8, 0, 10, 14])
            }
        }
        3 | 11 => Length::Bytes(if b2 & 6 == 6 { 10 } else { 4 }),
        // Selector 0xea is the ray-query family, which is longer and not decoded (isa-0, 3).
        4 if b2 & 0x38 == 0x10 && b1 >= 0x80 && b1 != 0xea => Length::Bytes(4),
        5 | 13 if b1 >= 0x80 && b2 & 0x3f == 0x0c => Length::Bytes(14),
        10 => Length::Bytes(if b2 & 1 == 0 { 6 } else { 10 }),
        12 => match b2 & 0x3f {
            0x10 => Length::Bytes(4),
            0x01 | 0x02 | 0x09 => Length::Bytes(8),
            0x23 => Length::Bytes(10),
            _ => Length::Unknown,
        },
        14 if b0 == 0x0e => Length::Bytes(4),
        7 | 15 => wide(b0, b1 & 15, b2 >> 2),
        _ => Length::Unknown,
    }
}

/// The wide families: key (byte 0, low nibble of byte 1), and for two keys bits 18..23.
#[inline]
fn wide(b0: u8, s: u8, f: u8) -> Length {
    let len = match (b0, s) {
        // Control fence of A18 Pro call sequences (isa-2, 11).
        (0x07, 2) if f == 0 => 4,
        // An indirect call shares its first bytes with a branch; only the branch is known
        // (isa-0, 7, row 1).
        (0x0f, 0) if f != 0x15 => return Length::Unknown,
        (0x0f, 4 | 5) | (0x8f, 2 | 4) | (0xf7, 3) => 4,
        (0x07, 2 | 4)
        | (0x0f, 6)
        | (0x1f, 3)
        | (0x57, 4)
        | (0x6f, 3)
        | (0x87, 2)
        | (0x8f, 5)
        | (0xd7, 4) => 6,
        (0x07, 0)
        | (0x17, 4)
        | (0x27, 5)
        | (0x37, 0..=4 | 6)
        | (0x57, 6)
        | (0x77, 0)
        | (0xa7, 4 | 5 | 7)
        | (0xaf, 4)
        | (0x3f | 0xb7 | 0xbf, 0..=7) => 8,
        (0x0f, 0 | 1)
        | (0x17, 7)
        | (0x1f, 1)
        | (0x27, 7)
        | (0x2f, 0 | 1 | 2 | 3 | 5 | 13)
        | (0x37, 5 | 7)
        | (0x47 | 0xc7, 0 | 1 | 4 | 5)
        | (0x77, 1)
        | (0x8f, 0)
        | (0x97, 4)
        | (0x9f, 1)
        | (0xa7, 1)
        | (0xaf, 0..=3)
        | (0xef, 0)
        | (0xf7, 0) => 10,
        (0x17, 1)
        | (0x27, 0 | 1)
        | (0x47 | 0xc7, 6)
        | (0x57, 0)
        | (0x67, 3 | 6 | 14)
        | (0x6f, 0)
        | (0x9f, 0)
        | (0xa7, 0)
        | (0xe7, 6) => 12,
        (0x67, 0..=2) | (0xe7, 0 | 2) => 14,
        (0xd7, 0) => 16,
        _ => return Length::Unknown,
    };
    Length::Bytes(len)
}

/// Byte strings of known length that no form describes (isa-0, 3, last paragraph): a disassembler
/// may step over them, a simulator stops. Returns the length and what is known.
#[must_use]
pub fn known_undecoded(bytes: &[u8]) -> Option<(u8, &'static str)> {
    match bytes {
        [0x60, 0x00, 0xe7, 0x02, ..] => Some((4, "marker in vendor spill code")),
        _ => {
            let Length::Bytes(len) = instruction_length(bytes) else {
                return None;
            };
            let what = match (bytes[0], bytes.get(1)?, bytes.get(2)?) {
                (b0, 2 | 4, 0x1c..=0x1e) if b0 & 15 == 1 => "bfloat16 arithmetic",
                (b0, _, _) if b0 & 15 == 0 && len >= 8 => "long fp16 form",
                // Bit 24 clear beside a uniform B.
                (b0, _, _) if b0 & 15 == 11 && len == 10 && bytes.get(3)? & 0x81 == 0 => {
                    "logic with a 16-bit uniform"
                }
                (b0, 0, 0x09) if b0 & 15 == 11 => "register move",
                (0x67 | 0xe7, b1, _) if b1 & 15 == 6 => "tile access from compute",
                (0x07, b1, 0x02) if b1 & 15 == 2 => "control fence of call sequences",
                _ => return None,
            };
            Some((len, what))
        }
    }
}
