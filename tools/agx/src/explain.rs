// SPDX-License-Identifier: MIT
//! `agx explain`: every field of one instruction.

use std::fmt::Write as _;
use std::io::Write;

use agx_isa::{
    Access, AccessKind, Alt, Arg, Bits, Class, Completion, Drain, Emit, File, Flow, Half, Instr,
    Legal, Length, Mode, Operand, Release, Role, SlotMask, Value, decode, instruction_length,
    known_undecoded,
};
use anyhow::bail;

use crate::dis::reason;
use crate::input::hex;

/// Explains the instruction that `bytes` hold.
pub(crate) fn run(bytes: &[u8], out: &mut impl Write) -> anyhow::Result<()> {
    let instr = match decode(bytes, Mode::Lenient) {
        Ok(instr) => instr,
        Err(error) => {
            let length = match (known_undecoded(bytes), instruction_length(bytes)) {
                (Some((len, _)), _) => format!("{len} bytes"),
                (None, Length::Bytes(len)) => format!("{len} bytes"),
                (None, Length::Short(need)) => format!("at least {need} bytes"),
                (None, Length::Unknown) => "unknown".to_owned(),
            };
            bail!(
                "{}: {} (length by the length rule: {length})",
                hex(bytes),
                reason(&error)
            );
        }
    };
    let form = instr.form();
    let len = usize::from(form.len);
    if bytes.len() > len {
        bail!(
            "{}: the instruction has {len} bytes, {} were given",
            hex(bytes),
            bytes.len()
        );
    }
    writeln!(out, "{instr}")?;
    writeln!(out)?;
    let mut facts = Facts(out);
    facts.line("bytes", &format!("{} ({len})", hex(bytes)))?;
    facts.line("form", form.name)?;
    if !form.aliases.is_empty() {
        facts.line("also called", &form.aliases.join(", "))?;
    }
    facts.line("meaning", form.summary)?;
    facts.line(
        "reference",
        &format!("{}, mark {}", form.section, form.mark.as_str()),
    )?;
    facts.line("operation", &operation(&instr))?;
    facts.line("control flow", &flow(&instr))?;
    facts.line("waits for", &waits(&instr))?;
    facts.line("completes", &completes(&instr))?;
    match instr.drain() {
        Drain::No => {}
        Drain::Before => facts.line("drain point", "every slot must be idle before it")?,
        Drain::OwnWait => {
            facts.line(
                "drain point",
                "every slot must be idle before it, or waited for by it",
            )?;
        }
    }
    if let Some((space, op)) = instr.memory() {
        facts.line("memory", &format!("{op:?}, {space:?}").to_lowercase())?;
    }
    facts.line(
        "emit",
        &match instr.emit() {
            Emit::Yes => "a compiler may use it".to_owned(),
            Emit::AfterValidation(what) => format!("after validation on an M4 of {what}"),
            Emit::No(why) => format!("never by a compiler: {why}"),
        },
    )?;
    if let Err(error) = decode(bytes, Mode::Strict) {
        facts.line(
            "strict decoding",
            &format!("refuses it: {}", reason(&error)),
        )?;
    }
    fields(&instr, out)?;
    accesses(&instr, out)?;
    Ok(())
}

/// The block of facts at the top.
struct Facts<'w, W: Write>(&'w mut W);

impl<W: Write> Facts<'_, W> {
    fn line(&mut self, name: &str, text: &str) -> std::io::Result<()> {
        writeln!(self.0, "{name:<16}{text}")
    }
}

/// `24..31` or `4..7, 22..23, 44`.
fn ranges(bits: &Bits) -> String {
    // Runs that cross bit 64 are stored in two pieces.
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for (lo, hi) in bits.ranges() {
        match merged.last_mut() {
            Some(last) if last.1 + 1 == lo => last.1 = hi,
            _ => merged.push((lo, hi)),
        }
    }
    let text = |(lo, hi)| {
        if lo == hi {
            format!("{lo}")
        } else {
            format!("{lo}..{hi}")
        }
    };
    merged.into_iter().map(text).collect::<Vec<_>>().join(", ")
}

fn operation(instr: &Instr) -> String {
    let opcode = &instr.form().opcode;
    if opcode.bits.is_none() {
        return instr.op_name().to_owned();
    }
    let value = opcode.bits.get(instr.bits());
    format!(
        "{} (bits {} = {value:#x})",
        instr.op_name(),
        ranges(&opcode.bits)
    )
}

fn flow(instr: &Instr) -> String {
    let displacement = || match instr.displacement() {
        Some(d) => format!("{d:+} bytes from its own first byte"),
        None => String::new(),
    };
    match instr.flow() {
        Flow::Next => "goes on with the next instruction".to_owned(),
        Flow::Stop => "ends the program; in a launcher, starts the main program".to_owned(),
        Flow::Branch => format!("may jump {}", displacement()),
        Flow::Call => format!("calls {}", displacement()),
        Flow::Return => "returns to the caller".to_owned(),
        Flow::Push => "pushes a scope of active lanes".to_owned(),
        Flow::Else => "exchanges the two sides of the top conditional scope".to_owned(),
        Flow::Pop => "pops a scope of active lanes".to_owned(),
        Flow::LoopUpdate => "drops lanes from the innermost loop".to_owned(),
        Flow::Break => "drops lanes through several scopes".to_owned(),
        Flow::Trap => "must never be executed".to_owned(),
    }
}

fn slots(mask: SlotMask) -> String {
    let list: Vec<String> = mask.iter().map(|slot| slot.to_string()).collect();
    match list.len() {
        0 => "nothing".to_owned(),
        1 => format!("slot {}", list[0]),
        _ => format!("slots {}", list.join(", ")),
    }
}

fn waits(instr: &Instr) -> String {
    let wait = &instr.form().wait;
    if wait.bits.is_none() {
        return "nothing: the form cannot wait".to_owned();
    }
    let kind = if wait.mask { "mask" } else { "index" };
    let proven = match SlotMask::from_bits(wait.proven) {
        Some(SlotMask::ALL) => String::new(),
        Some(some) if !some.is_empty() => format!(", proven on M4 for {}", slots(some)),
        _ => ", not proven on M4: settle operands first".to_owned(),
    };
    let value = wait.bits.get(instr.bits());
    format!(
        "{} ({kind} in bits {} = {value:#x}{proven})",
        slots(instr.waits()),
        ranges(&wait.bits)
    )
}

fn completes(instr: &Instr) -> String {
    let bits = instr.form().completion.bits();
    let field = if bits.is_none() {
        String::new()
    } else {
        format!(" (bits {} = {:#x})", ranges(&bits), bits.get(instr.bits()))
    };
    match (instr.completes(), instr.form().completion) {
        (Some(slot), Completion::Fixed(_) | Completion::FixedIf(..)) => {
            format!("slot {slot}, always this one")
        }
        (Some(slot), _) => format!("slot {slot}, when its result has arrived{field}"),
        (None, Completion::None) if instr.wants_atomic_result() => {
            "in the atomic_result that must follow".to_owned()
        }
        (None, Completion::None) => "nothing: its results are there at once".to_owned(),
        (None, _) => format!("nothing: its results are there at once{field}"),
    }
}

/// One row of the field table.
struct Row {
    name: String,
    bits: String,
    value: String,
    meaning: String,
}

fn fields(instr: &Instr, out: &mut impl Write) -> anyhow::Result<()> {
    let form = instr.form();
    let mut rows = Vec::new();
    for (index, op) in form.operands.iter().enumerate() {
        operand_rows(instr, index, op, &mut rows);
    }
    for (index, m) in form.modifiers.iter().enumerate() {
        let value = instr.modifier_at(index);
        rows.push(Row {
            name: m.name.to_owned(),
            bits: ranges(&m.bits),
            value: format!("{value:#x}"),
            meaning: modifier_meaning(instr, index),
        });
    }
    if form.opcode.bits.width() > 0 {
        rows.push(Row {
            name: "(operation)".to_owned(),
            bits: ranges(&form.opcode.bits),
            value: format!("{:#x}", form.opcode.bits.get(instr.bits())),
            meaning: instr.op_name().to_owned(),
        });
    }
    let stray = instr.stray_bits();
    for bit in (0..128).filter(|bit| stray >> bit & 1 == 1) {
        rows.push(Row {
            name: "(stray)".to_owned(),
            bits: bit.to_string(),
            value: format!("{:#x}", instr.bits() >> bit & 1),
            meaning: "differs from the form's constant; kept as it is".to_owned(),
        });
    }
    if rows.is_empty() {
        writeln!(out, "\nno fields: every bit is fixed")?;
        return Ok(());
    }
    let width = |get: fn(&Row) -> &str, title: &str| {
        rows.iter()
            .map(|row| get(row).len())
            .max()
            .unwrap_or(0)
            .max(title.len())
    };
    let (n, b, v) = (
        width(|r| &r.name, "field"),
        width(|r| &r.bits, "bits"),
        width(|r| &r.value, "raw"),
    );
    writeln!(
        out,
        "\n{:<n$}  {:<b$}  {:<v$}  meaning",
        "field", "bits", "raw"
    )?;
    for row in &rows {
        let line = format!(
            "{:<n$}  {:<b$}  {:<v$}  {}",
            row.name, row.bits, row.value, row.meaning
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn operand_rows(instr: &Instr, index: usize, op: &Operand, rows: &mut Vec<Row>) {
    let arg = instr.arg(index);
    let name = op.name;
    rows.push(Row {
        name: name.to_owned(),
        bits: ranges(&op.index),
        value: format!("{:#x}", instr.raw(index)),
        meaning: operand_meaning(instr, index, op, &arg),
    });
    let mut part = |suffix: &str, bits: Bits, meaning: &str| {
        if !bits.is_none() {
            rows.push(Row {
                name: format!("{name}.{suffix}"),
                bits: ranges(&bits),
                value: format!("{:#x}", bits.get(instr.bits())),
                meaning: meaning.to_owned(),
            });
        }
    };
    let other_file = match arg.value {
        Value::Reg(r) => r.file != File::Gpr,
        _ => true,
    };
    let number = matches!(op.alt, Alt::Scattered { .. } | Alt::Wide { .. }) && other_file;
    part(
        "half",
        op.half.bits(),
        if op.half.get(instr.bits()) {
            "high half"
        } else {
            "low half"
        },
    );
    part(
        "size",
        op.size.bits(),
        if op.size.get(instr.bits()) {
            "32 bits"
        } else {
            "16 bits"
        },
    );
    part(
        "release",
        op.release.bits(),
        match arg.kill {
            _ if number => "belongs to the number of this operand",
            true => "last use: the register's value is lost",
            false => "the register keeps its value",
        },
    );
    part(
        "keep",
        op.keep.bit().bits(),
        if number {
            "belongs to the number of this operand"
        } else {
            "cache hint without effect on values"
        },
    );
    part(
        "neg",
        op.neg.bits(),
        if arg.neg { "negated" } else { "not negated" },
    );
    part(
        "abs",
        op.abs.bits(),
        if arg.abs {
            "absolute value"
        } else {
            "sign kept"
        },
    );
    part(
        "present",
        op.present.bits,
        match arg.value {
            Value::Absent(_) => "this instruction has no such operand",
            _ => "the operand is there",
        },
    );
    match op.alt {
        Alt::None => {}
        Alt::Scattered { file, .. } => part("file", file.bits(), file_name(&arg)),
        Alt::Wide { gpr, .. } => part("file", gpr.bits(), file_name(&arg)),
        Alt::Address { gpr } => part("file", gpr, file_name(&arg)),
        Alt::Literal { gpr, .. } => part("file", gpr, file_name(&arg)),
        Alt::Export(bit) => part("file", bit.bits(), file_name(&arg)),
    }
}

const fn file_name(arg: &Arg) -> &'static str {
    match arg.value {
        Value::Reg(r) => match r.file {
            File::Gpr => "general register",
            File::Uniform => "uniform word",
            File::UniformPair => "64-bit pointer in two uniform words",
            File::Publication => "publication word",
            File::Predicate => "predicate bank",
            File::SysReg => "system register",
            File::Scratch => "scratch word",
            File::Coefficient => "interpolation coefficient",
            File::Output => "vertex output word",
            File::TileWord => "word of the tile record",
            File::Texture => "entry of the texture table",
            File::Sampler => "entry of the sampler table",
            File::Image => "entry of the image records",
            File::SampleMask => "set of samples",
            File::Imm => "immediate",
        },
        Value::Int(_) => "integer constant",
        Value::Float(_) => "8-bit float constant",
        Value::Absent(_) => "absent",
    }
}

fn operand_meaning(instr: &Instr, index: usize, op: &Operand, arg: &Arg) -> String {
    let role = match op.role {
        Role::Def => "written",
        Role::Use => "read",
        Role::UseDef => "read and written",
    };
    let count = instr.register_count(index);
    let what = match arg.value {
        Value::Reg(r) => {
            let half = match r.half {
                Half::Whole => "",
                Half::Low => ", low half",
                Half::High => ", high half",
            };
            let number = match r.file {
                File::UniformPair => format!("words {} and {}", 2 * r.index, 2 * r.index + 1),
                File::SysReg => match agx_isa::system_register(r.index as u8) {
                    Some(sr) => format!("{:#x} ({})", r.index, sr.name),
                    None => format!("{:#x}", r.index),
                },
                File::Predicate if r.index == 6 => "always true".to_owned(),
                File::Predicate if r.index == 7 => "always false".to_owned(),
                File::Gpr if count > 1 => {
                    format!("{} to {}", r.index, r.index + u16::from(count) - 1)
                }
                _ => r.index.to_string(),
            };
            format!("{} {number}{half}", file_name(arg))
        }
        Value::Int(v) => format!("{} {v} ({v:#x})", file_name(arg)),
        Value::Float(v) => format!("{} {:?}", file_name(arg), v.to_f32()),
        Value::Absent(_) => return "absent".to_owned(),
    };
    let lost = match op.release {
        Release::Always => ", always lost",
        Release::DestroyedIf(_) if arg.kill => ", lost in this form",
        _ => "",
    };
    format!("{role}: {what}{lost}")
}

fn modifier_meaning(instr: &Instr, index: usize) -> String {
    let m = &instr.form().modifiers[index];
    let value = instr.modifier_at(index);
    let mut text = match m.legal {
        Legal::Names(names) => match names.iter().find(|(v, _)| *v == value) {
            Some((_, name)) => (*name).to_owned(),
            None => "a value without a known meaning".to_owned(),
        },
        Legal::Signed | Legal::SignedEven => {
            format!("{:+}", instr.signed_modifier_at(index) as i64)
        }
        _ if m.bits.width() == 1 => (if value == 1 { "yes" } else { "no" }).to_owned(),
        _ => value.to_string(),
    };
    text += match m.class {
        Class::Semantic => "",
        Class::Hint => "; a hint without effect on values",
        Class::Ignored => "; the hardware ignores it",
        Class::Derived => "; follows from the other fields",
        Class::Opaque => "; meaning unknown",
    };
    if value != m.default {
        let _ = write!(text, " (usually {:#x})", m.default);
    }
    text
}

fn accesses(instr: &Instr, out: &mut impl Write) -> anyhow::Result<()> {
    let list: Vec<Access> = instr.accesses().collect();
    if list.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nregisters touched")?;
    for access in list {
        let name = instr.form().operands[access.operand].name;
        let what = Arg::new(Value::Reg(access.reg));
        let kind = match access.kind {
            AccessKind::Read if access.held => "read until the slot completes",
            AccessKind::Read => "read at issue",
            AccessKind::Write => "written before the next instruction",
            AccessKind::LateWrite => "written when the slot completes",
        };
        let last = match access.count {
            0 | 1 => String::new(),
            n => format!(" to {}", access.reg.index + u16::from(n) - 1),
        };
        let half = match access.reg.half {
            Half::Whole => "",
            Half::Low => " (low half)",
            Half::High => " (high half)",
        };
        let lost = if access.kill { ", then lost" } else { "" };
        let text = format!(
            "{} {}{last}{half}: {kind}{lost}",
            file_name(&what),
            access.reg.index
        );
        writeln!(out, "  {name:<8}{text}")?;
    }
    Ok(())
}
