// SPDX-License-Identifier: MIT
//! What is in a buffer before a run, and in push constants, as text.
//!
//! Pieces separated by blanks follow one another. A piece is `TYPE:values`, which is as long as its
//! values, or a generator, which fills up the rest and so comes last.

use crate::element::Element;

/// Bytes from a description. With `size`, exactly that many: what is left is zero.
///
/// # Errors
/// A message that names the piece that is wrong, or says that there is more content than room.
pub fn bytes(text: &str, size: Option<usize>) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut filled = false;
    for piece in text.split_whitespace() {
        if filled {
            return Err(format!("`{piece}` follows a piece that fills up the rest"));
        }
        if let Some(generator) = Generator::parse(piece)? {
            let size = size.ok_or_else(|| format!("`{piece}` needs a size in bytes"))?;
            let room = size.saturating_sub(bytes.len());
            generator.fill(room, &mut bytes)?;
            filled = true;
        } else {
            literal(piece, &mut bytes)?;
        }
    }
    if let Some(size) = size {
        if bytes.len() > size {
            let length = bytes.len();
            return Err(format!("`{text}` is {length} bytes, the buffer has {size}"));
        }
        bytes.resize(size, 0);
    }
    Ok(bytes)
}

/// `TYPE:v,v,v`, `words:v,v` (the same as `u32`); `first..last` stands for a range of integers, last
/// not included; `vxN` repeats a value.
fn literal(piece: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let (ty, values) = split(piece)?;
    let ty = if ty == "words" { "u32" } else { ty };
    let element: Element = ty.parse()?;
    let mut push = |bits: u64| {
        out.extend_from_slice(&bits.to_le_bytes()[..element.size()]);
        if out.len() > MAX_BYTES {
            Err(format!("`{piece}` is too long"))
        } else {
            Ok(())
        }
    };
    for value in values.split(',') {
        if let Some((first, last)) = value.split_once("..") {
            let number = |text: &str| text.parse::<i64>().map_err(|e| format!("`{value}`: {e}"));
            for value in number(first)?..number(last)? {
                push(element.parse(&value.to_string())?)?;
            }
        } else if let Some((value, times)) = repeated(value) {
            let bits = element.parse(value)?;
            for _ in 0..times {
                push(bits)?;
            }
        } else {
            push(element.parse(value)?)?;
        }
    }
    Ok(())
}

/// `vxN`; the `x` of `0x10` is none.
fn repeated(text: &str) -> Option<(&str, usize)> {
    let (value, times) = text.rsplit_once('x')?;
    if value == "0" || value == "-0" {
        // `0x10` is sixteen; `0.0x10` or `00x10` repeats zeros.
        return None;
    }
    Some((value, times.parse().ok()?))
}

fn split(piece: &str) -> Result<(&str, &str), String> {
    piece
        .split_once(':')
        .ok_or_else(|| format!("`{piece}` is neither TYPE:values nor a generator"))
}

/// Largest content, so that a typing error does not fill the memory.
pub(super) const MAX_BYTES: usize = 1 << 28;

enum Generator<'a> {
    Zero,
    /// The same value everywhere.
    Fill(Element, &'a str),
    /// `start + index * step`.
    Ramp(Element, &'a str, &'a str),
    /// Uniform bits.
    RandomBits(Element, u64),
    /// Uniform in a range, both ends included for integers.
    RandomRange(Element, u64, f64, f64),
    /// The type's edge values, again and again, each round shifted so that neighbours change.
    Edges(Element),
}

impl<'a> Generator<'a> {
    /// `None` when the piece is no generator.
    fn parse(piece: &'a str) -> Result<Option<Generator<'a>>, String> {
        let mut parts = piece.split(':');
        let name = parts.next().unwrap_or("");
        if !matches!(name, "zero" | "fill" | "ramp" | "random" | "edges") {
            return Ok(None);
        }
        let parts: Vec<&str> = parts.collect();
        let element = || parts.first().copied().unwrap_or("").parse::<Element>();
        let number = |text: &str| text.parse::<f64>().map_err(|e| format!("`{piece}`: {e}"));
        let seed = |text: &str| text.parse::<u64>().map_err(|e| format!("`{piece}`: {e}"));
        let generator = match (name, &parts[..]) {
            ("zero", []) => Generator::Zero,
            ("fill", [_, value]) => Generator::Fill(element()?, value),
            ("ramp", [_]) => Generator::Ramp(element()?, "0", "1"),
            ("ramp", [_, start]) => Generator::Ramp(element()?, start, "1"),
            ("ramp", [_, start, step]) => Generator::Ramp(element()?, start, step),
            ("random", [_]) => Generator::RandomBits(element()?, 0),
            ("random", [_, s]) => Generator::RandomBits(element()?, seed(s)?),
            ("random", [_, s, low, high]) => {
                let (low, high) = (number(low)?, number(high)?);
                if low > high {
                    return Err(format!("`{piece}`: the range is empty"));
                }
                Generator::RandomRange(element()?, seed(s)?, low, high)
            }
            ("edges", [_]) => Generator::Edges(element()?),
            _ => return Err(format!("`{piece}` has the wrong number of parts")),
        };
        Ok(Some(generator))
    }

    fn fill(&self, room: usize, out: &mut Vec<u8>) -> Result<(), String> {
        match *self {
            Generator::Zero => out.extend(std::iter::repeat_n(0, room)),
            Generator::Fill(element, value) => {
                let bits = element.parse(value)?;
                repeat(element, room, out, |_| bits);
            }
            Generator::Ramp(element, start, step) => {
                let (start, step) = (element.parse(start)?, element.parse(step)?);
                repeat(element, room, out, |i| match element {
                    Element::Float(_) => {
                        let (start, step) = (element.to_f64(start), element.to_f64(step));
                        element.from_f64(start + i as f64 * step)
                    }
                    _ => start.wrapping_add((i as u64).wrapping_mul(step)),
                });
            }
            Generator::RandomBits(element, seed) => {
                let mut random = Random(seed);
                repeat(element, room, out, |_| random.next());
            }
            Generator::RandomRange(element, seed, low, high) => {
                let mut random = Random(seed);
                repeat(element, room, out, |_| {
                    let unit = (random.next() >> 11) as f64 / (1u64 << 53) as f64;
                    match element {
                        Element::Float(_) => element.from_f64(low + unit * (high - low)),
                        _ => element.from_f64((low + unit * (high - low + 1.0)).floor().min(high)),
                    }
                });
            }
            Generator::Edges(element) => {
                let edges = element.edges();
                repeat(element, room, out, |i| {
                    edges[(i + i / edges.len()) % edges.len()]
                });
            }
        }
        Ok(())
    }
}

/// Writes values until `room` bytes are full; the last one may be cut.
fn repeat(element: Element, room: usize, out: &mut Vec<u8>, mut value: impl FnMut(usize) -> u64) {
    let end = out.len() + room;
    for index in 0..room.div_ceil(element.size()) {
        out.extend_from_slice(&value(index).to_le_bytes()[..element.size()]);
    }
    out.truncate(end);
}

/// SplitMix64 (public domain, Sebastiano Vigna): the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, count: usize) -> Vec<u32> {
        let bytes = bytes(text, Some(4 * count)).unwrap();
        let (words, _) = bytes.as_chunks::<4>();
        words.iter().map(|w| u32::from_le_bytes(*w)).collect()
    }

    fn floats(text: &str, count: usize) -> Vec<f32> {
        words(text, count).into_iter().map(f32::from_bits).collect()
    }

    #[test]
    fn literals() {
        assert_eq!(bytes("", None), Ok(vec![]));
        assert_eq!(bytes("u8:1,0x20,254", None), Ok(vec![1, 0x20, 254]));
        assert_eq!(bytes("u16:1 u8:2", None), Ok(vec![1, 0, 2]));
        assert_eq!(words("u32:1,2,3 f32:0.5", 6), [1, 2, 3, 0x3f00_0000, 0, 0]);
        assert_eq!(words("words:5..8", 3), [5, 6, 7]);
        assert_eq!(words("i32:-2..1", 3), [u32::MAX - 1, u32::MAX, 0]);
        assert_eq!(words("u32:7x3,0x10", 4), [7, 7, 7, 16]);
        assert_eq!(floats("f32:1.5x2,-0.5", 3), [1.5, 1.5, -0.5]);
    }

    #[test]
    fn generators() {
        assert_eq!(words("zero", 2), [0, 0]);
        assert_eq!(words("fill:u32:0xdead", 2), [0xdead, 0xdead]);
        assert_eq!(words("ramp:u32", 3), [0, 1, 2]);
        assert_eq!(words("ramp:u32:10:3", 3), [10, 13, 16]);
        assert_eq!(words("ramp:i32:1:-1", 3), [1, 0, u32::MAX]);
        assert_eq!(floats("ramp:f32:-1:0.5", 3), [-1.0, -0.5, 0.0]);
        assert_eq!(words("u32:9 ramp:u32", 3), [9, 0, 1]);
        assert_eq!(bytes("ramp:u16:0x0102", Some(3)), Ok(vec![2, 1, 3]));
        let range = floats("random:f32:1:-2:3", 1000);
        assert!(range.iter().all(|v| (-2.0..=3.0).contains(v)));
        assert!(range.iter().any(|v| *v < -1.9) && range.iter().any(|v| *v > 2.9));
        let range = words("random:u32:1:5:7", 1000);
        assert!([5, 6, 7].iter().all(|n| range.contains(n)));
        assert!(range.iter().all(|n| (5..=7).contains(n)));
        assert_ne!(words("random:u32:1", 4), words("random:u32:2", 4));
    }

    #[test]
    fn random_numbers_are_those_of_the_published_generator() {
        // The first outputs for seed 1234567, as many implementations list them.
        let mut random = Random(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn edges_meet_different_neighbours_each_round() {
        let edges = Element::Float(4).edges().len();
        let values = words("edges:f32", 2 * edges);
        assert_ne!(values[..edges], values[edges..]);
        assert!(values.contains(&f32::NEG_INFINITY.to_bits()));
    }

    #[test]
    fn errors_name_the_piece() {
        for bad in [
            "u32",
            "u7:1",
            "u8:256",
            "ramp",
            "ramp:u9",
            "random:u32:x",
            "random:f32:1:2",
            "random:f32:1:3:2",
            "zero:1",
            "fill:u32",
            "zero u32:1",
            "edges:u32:1",
            "u32:1,,2",
            "u8:0..99999999999",
        ] {
            assert!(bytes(bad, Some(64)).is_err(), "{bad}");
        }
        assert!(
            bytes("ramp:u32", None)
                .unwrap_err()
                .contains("needs a size")
        );
        assert!(bytes("u32:1,2", Some(4)).unwrap_err().contains("8 bytes"));
    }
}
