// SPDX-License-Identifier: MIT
//! Checking `launch` vectors that state instruction bytes.
//!
//! They describe a launcher by offsets from its "call": the entry field of `TARGET`, two bytes into
//! that instruction. In front of it stands `ALLOC` (8 bytes), behind it `FRAME` (10 bytes), see
//! docs/hw launch, 4.5 to 4.7. The three are built through the instruction table and the stated
//! bytes are compared; inputs that a vector's note calls rejected must be rejected.

use agx_isa::{FormId, Instr, Mode, decode};
use serde_json::Value;

use super::Outcome;
use super::bind::{Problem, set_modifier};
use super::load::{Launch, packed_hex};
use super::value::integer;
use crate::input::hex;

/// Bytes of `TARGET` in front of the entry field.
const ENTRY_FIELD: usize = 2;

/// The inputs of a launcher; what a vector does not mention is none.
#[derive(Clone, Copy, Default)]
struct Launcher {
    entry_offset: u64,
    publications: u64,
    extent_a: u64,
    extent_b: u64,
    threadgroup_bytes: u64,
    /// Samples and tile bytes of a sample: a fragment launcher.
    tile: Option<(u64, u64)>,
}

impl Launcher {
    fn alloc(&self) -> Result<Instr, Problem> {
        let mut alloc = Instr::new(FormId::Alloc);
        let mut set = |name, value| set_modifier(&mut alloc, name, value);
        if let Some((samples, bytes)) = self.tile {
            let units = bytes.div_ceil(8);
            match samples {
                1 => {
                    set("config", 0x4b)?;
                    set("units", 0x41 + 2 * units)?;
                }
                // 64 bytes a sample: the largest tile record is 128 bytes a pixel.
                2 if bytes <= 64 => {
                    set("config", 0x4b)?;
                    set("units", 0x40 + 2 * units)?;
                }
                4 if bytes <= 64 => {
                    set("config", 0x43)?;
                    set("units", 2 * units)?;
                    set("f23", 1)?;
                }
                _ => return Err(format!("{samples} samples of {bytes} bytes")),
            }
        } else if self.threadgroup_bytes != 0 {
            // The sizes tested with generated launchers (launch, 4.5).
            let bytes = self.threadgroup_bytes;
            if !bytes.is_power_of_two() || !(128..=1024).contains(&bytes) {
                return Err(format!("{bytes} bytes of threadgroup memory"));
            }
            set("config", 0x80)?;
            set("tg128", bytes / 128)?;
        }
        Ok(alloc)
    }

    fn target(&self) -> Result<Instr, Problem> {
        let mut target = Instr::new(FormId::Target);
        let field = self
            .entry_offset
            .checked_mul(2)
            .and_then(|twice| twice.checked_add(0x2a));
        set_modifier(&mut target, "t", field.ok_or("entry offset")?)?;
        Ok(target)
    }

    fn frame(&self) -> Result<Instr, Problem> {
        let mut frame = Instr::new(FormId::Frame);
        set_modifier(&mut frame, "pairs", self.publications.div_ceil(2))?;
        set_modifier(&mut frame, "a", self.extent_a)?;
        set_modifier(&mut frame, "b", self.extent_b)?;
        Ok(frame)
    }

    /// The three instructions, and the offset of the call in them.
    fn code(&self) -> Result<(Vec<u8>, usize), Problem> {
        let mut code = Vec::new();
        let mut call = 0;
        for instr in [self.alloc()?, self.target()?, self.frame()?] {
            let bytes = instr.encode().map_err(|e| e.to_string())?;
            if decode(&bytes, Mode::Strict).map_err(|e| e.to_string())? != instr {
                return Err(format!("{} does not decode to itself", hex(&bytes)));
            }
            if instr.id() == FormId::Target {
                call = code.len() + ENTRY_FIELD;
            }
            code.extend_from_slice(&bytes);
        }
        Ok((code, call))
    }
}

/// Checks one vector.
pub(super) fn check(vector: &Launch) -> Outcome {
    let reason = match vector.op.as_str() {
        "compute_geometry_record" => "launch records (no instruction bytes)",
        "launcher_call_entry"
        | "launcher_frame"
        | "launcher_publication_capacity"
        | "launcher_threadgroup_bytes"
        | "launcher_tile_mode" => {
            return match check_launcher(vector) {
                Ok(()) => Outcome::Passed { hint_taken: false },
                Err(problem) => Outcome::Failed(problem),
            };
        }
        other => return Outcome::Failed(format!("operation `{other}` is not known")),
    };
    Outcome::Unchecked(reason.to_owned())
}

fn inputs(vector: &Launch) -> Result<Launcher, Problem> {
    let mut launcher = Launcher::default();
    let (mut samples, mut tile_bytes) = (None, None);
    for (key, value) in &vector.inputs {
        let number = integer(value).map_err(|p| format!("input `{key}`: {p}"))?;
        match (vector.op.as_str(), key.as_str()) {
            ("launcher_call_entry", "entry_offset") => launcher.entry_offset = number,
            ("launcher_frame", "frame_extent_a") => launcher.extent_a = number,
            ("launcher_frame", "frame_extent_b") => launcher.extent_b = number,
            ("launcher_publication_capacity", "publication_count") => {
                launcher.publications = number;
            }
            ("launcher_threadgroup_bytes", "threadgroup_memory_bytes") => {
                launcher.threadgroup_bytes = number;
            }
            ("launcher_tile_mode", "samples") => samples = Some(number),
            // By the values of launch, 4.5 these are the bytes of one sample.
            ("launcher_tile_mode", "tile_bytes_per_pixel") => tile_bytes = Some(number),
            _ => return Err(format!("input `{key}` has no meaning in `{}`", vector.op)),
        }
    }
    if let (Some(samples), Some(bytes)) = (samples, tile_bytes) {
        launcher.tile = Some((samples, bytes));
    } else if vector.op == "launcher_tile_mode" {
        return Err("samples and tile_bytes_per_pixel are both needed".to_owned());
    }
    Ok(launcher)
}

fn check_launcher(vector: &Launch) -> Result<(), Problem> {
    let launcher = inputs(vector)?;
    let (code, call) = launcher.code()?;
    if vector.expected.is_empty() {
        return Err("states nothing".to_owned());
    }
    for (key, value) in &vector.expected {
        let wrong = |p: String| format!("`{key}`: {p}");
        check_expected(key, value, &code, call).map_err(wrong)?;
    }
    match vector.note.as_deref() {
        Some(note) => check_note(note, launcher),
        None => Ok(()),
    }
}

/// The bytes from `call + first` to `call + last`.
fn range(code: &[u8], call: usize, first: i64, last: i64) -> Result<&[u8], Problem> {
    let at = |offset: i64| usize::try_from(call as i64 + offset).ok();
    match (at(first), at(last)) {
        (Some(first), Some(last)) if first <= last && last < code.len() => Ok(&code[first..=last]),
        _ => Err("lies outside the three instructions".to_owned()),
    }
}

fn check_expected(key: &str, value: &Value, code: &[u8], call: usize) -> Result<(), Problem> {
    let offset = |text: &str| -> Result<i64, Problem> {
        text.parse().map_err(|_| format!("`{text}` is no offset"))
    };
    let little_endian = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0u64, |value, byte| value << 8 | u64::from(*byte))
    };
    let (got, as_hex) = if key == "value" {
        // The entry field as a number.
        (range(code, call, 0, 2)?, false)
    } else if key == "call_bytes_0_2" {
        (range(code, call, 0, 2)?, true)
    } else if let Some(at) = key.strip_prefix("u16_at_call") {
        let at = offset(at)?;
        (range(code, call, at, at + 1)?, false)
    } else if let Some(at) = key.strip_prefix("byte_at_call") {
        let at = offset(at)?;
        (range(code, call, at, at)?, false)
    } else if let Some((first, last)) = key
        .strip_prefix("bytes_at_call")
        .and_then(|rest| rest.split_once(".."))
    {
        (range(code, call, offset(first)?, offset(last)?)?, true)
    } else {
        return Err("has no meaning".to_owned());
    };
    if as_hex {
        let expected = value
            .as_str()
            .and_then(packed_hex)
            .ok_or("is no byte string")?;
        if expected == got {
            return Ok(());
        }
        return Err(format!("expected {}, got {}", hex(&expected), hex(got)));
    }
    let (expected, got) = (integer(value)?, little_endian(got));
    if expected == got {
        Ok(())
    } else {
        Err(format!("expected {expected:#x}, got {got:#x}"))
    }
}

/// Numbers in a sentence.
fn numbers(text: &str) -> Vec<u64> {
    text.split(|c: char| !c.is_ascii_digit())
        .filter_map(|word| word.parse().ok())
        .collect()
}

/// Notes that name accepted and rejected inputs. Other notes are remarks.
fn check_note(note: &str, launcher: Launcher) -> Result<(), Problem> {
    let expect = |input: String, launcher: Launcher, accepted: bool| match launcher.code() {
        Ok(_) if !accepted => Err(format!("the note has {input} rejected, it was accepted")),
        Err(p) if accepted => Err(format!("the note has {input} accepted: {p}")),
        _ => Ok(()),
    };
    if let Some(text) = note.strip_suffix(" are rejected")
        && let Some((accepted, rejected)) = text.split_once(" are accepted; ")
    {
        for (list, good) in [(accepted, true), (rejected, false)] {
            for bytes in numbers(list) {
                let other = Launcher {
                    threadgroup_bytes: bytes,
                    ..launcher
                };
                expect(format!("{bytes} bytes"), other, good)?;
            }
        }
    } else if note == "0x80 per started pair of publications; 1023 is rejected" {
        expect(
            "1023".to_owned(),
            Launcher {
                publications: 1023,
                ..launcher
            },
            false,
        )?;
        expect(
            "1022".to_owned(),
            Launcher {
                publications: 1022,
                ..launcher
            },
            true,
        )?;
    } else if note == "fragment launcher; samples 1, 2 or 4 only, at most 128 bytes" {
        for samples in [0, 3, 5, 8] {
            let other = Launcher {
                tile: Some((samples, 8)),
                ..launcher
            };
            expect(format!("{samples} samples"), other, false)?;
        }
        for (bytes, good) in [(128, true), (129, false)] {
            let other = Launcher {
                tile: Some((1, bytes)),
                ..launcher
            };
            expect(format!("{bytes} bytes"), other, good)?;
        }
    }
    Ok(())
}
