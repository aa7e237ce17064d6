// SPDX-License-Identifier: MIT
//! Checking `launch` vectors: launch programs and records as [`agx_hw`] writes them.
//!
//! Launcher vectors count offsets from the "call": the entry field of `TARGET` (docs/hw launch, 4.5 to
//! 4.7). Inputs that a vector's note calls rejected must be rejected.

use agx_hw::cdm::{Grid, LocalSize};
use agx_hw::launcher::{Frame, Launcher, Samples, Storage};
use agx_hw::root::{Direct, Groups, RECORD_SIZE};
use agx_hw::window::{CodeAddress, EntryOffset, LauncherAddress};
use serde_json::Value;

use super::Outcome;
use super::bind::Problem;
use super::load::{Launch, packed_hex};
use super::value::integer;
use crate::input::hex;

/// The inputs of a launcher; what a vector does not mention is none.
#[derive(Clone, Copy, Default)]
struct Inputs {
    entry_offset: u64,
    publications: u64,
    extent_a: u64,
    extent_b: u64,
    threadgroup_bytes: u64,
    /// Samples and tile bytes of a sample: a fragment launcher.
    tile: Option<(u64, u64)>,
}

/// A number in the field's width.
fn narrow<T: TryFrom<u64>>(value: u64) -> Result<T, Problem> {
    T::try_from(value).map_err(|_| format!("{value} does not fit"))
}

impl Inputs {
    fn storage(&self) -> Result<Storage, Problem> {
        let refused = |error: agx_hw::Error| error.to_string();
        if let Some((samples, bytes)) = self.tile {
            let samples = match samples {
                1 => Samples::One,
                2 => Samples::Two,
                4 => Samples::Four,
                _ => return Err(format!("{samples} samples")),
            };
            return Storage::tile(samples, narrow(bytes)?).map_err(refused);
        }
        if self.threadgroup_bytes == 0 {
            return Ok(Storage::None);
        }
        // The vectors speak of the sizes that ran with generated launchers; 32768 ran with a native
        // one (launch, 4.5).
        let bytes: u32 = narrow(self.threadgroup_bytes)?;
        let storage = Storage::Threadgroup { bytes };
        if storage.is_tested() && bytes <= 1024 {
            Ok(storage)
        } else {
            Err(format!("{bytes} bytes of threadgroup memory"))
        }
    }

    /// The launch program, and the offset of the call in it. It must read back as it was.
    fn code(&self) -> Result<(Vec<u8>, usize), Problem> {
        let refused = |error: agx_hw::Error| error.to_string();
        let entry = EntryOffset::new(narrow(self.entry_offset)?).map_err(refused)?;
        let mut launcher = Launcher::new(0x1000, 2, entry);
        launcher.storage = self.storage()?;
        launcher.frame = Frame::new(
            narrow(self.publications)?,
            narrow(self.extent_a)?,
            narrow(self.extent_b)?,
        )
        .map_err(refused)?;
        let at = LauncherAddress::new(CodeAddress::from_offset(0x90_0000)).map_err(refused)?;
        let code = launcher.to_vec(at).map_err(refused)?;
        let (back, _) = Launcher::unpack(at, &code).map_err(refused)?;
        if back != launcher {
            return Err("the launch program does not read back as it was written".to_owned());
        }
        let call = launcher.entry_field_offset().map_err(refused)?;
        Ok((code, call))
    }
}

/// Checks one vector.
pub(super) fn check(vector: &Launch) -> Outcome {
    let checked = match vector.op.as_str() {
        "compute_geometry_record" => check_geometry(vector),
        "launcher_call_entry"
        | "launcher_frame"
        | "launcher_publication_capacity"
        | "launcher_threadgroup_bytes"
        | "launcher_tile_mode" => check_launcher(vector),
        other => Err(format!("operation `{other}` is not known")),
    };
    match checked {
        Ok(()) => Outcome::Passed { hint_taken: false },
        Err(problem) => Outcome::Failed(problem),
    }
}

/// Three numbers.
fn triple(value: Option<&Value>) -> Result<[u32; 3], Problem> {
    let list = value.and_then(Value::as_array).ok_or("no list of three")?;
    let mut numbers = Vec::new();
    for number in list {
        numbers.push(narrow(integer(number)?)?);
    }
    numbers
        .try_into()
        .map_err(|_| "no list of three".to_owned())
}

/// The resource record of a direct dispatch (launch, 6.2).
fn check_geometry(vector: &Launch) -> Result<(), Problem> {
    let refused = |error: agx_hw::Error| error.to_string();
    for key in vector.inputs.keys() {
        if !["threads", "local", "record_address"].contains(&key.as_str()) {
            return Err(format!("input `{key}` has no meaning in `{}`", vector.op));
        }
    }
    let threads = triple(vector.inputs.get("threads"))?;
    let local = LocalSize::new(triple(vector.inputs.get("local"))?).map_err(refused)?;
    let grid = Grid::new(threads, local).map_err(refused)?;
    let address = vector.inputs.get("record_address").ok_or("no address")?;
    let mut record = [0; RECORD_SIZE];
    Direct::new(Groups::Direct(grid.groups()), &[0x2000])
        .and_then(|direct| direct.pack(integer(address).unwrap_or(0), &mut record))
        .map_err(refused)?;
    if vector.expected.is_empty() {
        return Err("states nothing".to_owned());
    }
    for (key, value) in &vector.expected {
        let (first, stated) = match key.as_str() {
            "u64_at_0x00" => (0, integer(value)?.to_le_bytes().to_vec()),
            "u32_at_0xc0" => {
                let words = triple(Some(value))?;
                (0xc0, words.iter().flat_map(|w| w.to_le_bytes()).collect())
            }
            _ => return Err(format!("`{key}` has no meaning")),
        };
        let got = &record[first..first + stated.len()];
        if got != stated {
            return Err(format!(
                "`{key}`: expected {}, got {}",
                hex(&stated),
                hex(got)
            ));
        }
    }
    Ok(())
}

fn inputs(vector: &Launch) -> Result<Inputs, Problem> {
    let mut launcher = Inputs {
        entry_offset: 0x3c0,
        ..Inputs::default()
    };
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
        _ => Err("lies outside the launch program".to_owned()),
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
fn check_note(note: &str, launcher: Inputs) -> Result<(), Problem> {
    let expect = |input: String, launcher: Inputs, accepted: bool| match launcher.code() {
        Ok(_) if !accepted => Err(format!("the note has {input} rejected, it was accepted")),
        Err(p) if accepted => Err(format!("the note has {input} accepted: {p}")),
        _ => Ok(()),
    };
    if let Some(text) = note.strip_suffix(" are rejected")
        && let Some((accepted, rejected)) = text.split_once(" are accepted; ")
    {
        for (list, good) in [(accepted, true), (rejected, false)] {
            for bytes in numbers(list) {
                let other = Inputs {
                    threadgroup_bytes: bytes,
                    ..launcher
                };
                expect(format!("{bytes} bytes"), other, good)?;
            }
        }
    } else if note == "0x80 per started pair of publications; 1023 is rejected" {
        expect(
            "1023".to_owned(),
            Inputs {
                publications: 1023,
                ..launcher
            },
            false,
        )?;
        expect(
            "1022".to_owned(),
            Inputs {
                publications: 1022,
                ..launcher
            },
            true,
        )?;
    } else if note == "fragment launcher; samples 1, 2 or 4 only, at most 128 bytes" {
        for samples in [0, 3, 5, 8] {
            let other = Inputs {
                tile: Some((samples, 8)),
                ..launcher
            };
            expect(format!("{samples} samples"), other, false)?;
        }
        for (bytes, good) in [(128, true), (129, false)] {
            let other = Inputs {
                tile: Some((1, bytes)),
                ..launcher
            };
            expect(format!("{bytes} bytes"), other, good)?;
        }
    }
    Ok(())
}
