// SPDX-License-Identifier: MIT
//! What an instruction demands of its registers beyond the shapes of its groups.

use arrayvec::ArrayVec;

use crate::ir::{Dst, Instr, Shape, Src, Value};

/// May a destination lie in the register of a source whose value ends here?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Yes: one hardware instruction reads its sources before it writes.
    Any,
    /// No source's but a tied one's: the destination is written before the last source is read, or at any later time.
    Distinct,
    /// A destination pair may be exactly a source pair; else as [`Sharing::Distinct`].
    DistinctUnlessEqual,
}

/// Which of an instruction's source registers its destinations may take (isa-1, 1.2: "a destination never shares a
/// register with a source of the same multi-instruction sequence"; loads and atomics are asynchronous as well).
pub(crate) const fn sharing(instr: &Instr) -> Sharing {
    match instr {
        Instr::Load(_)
        | Instr::LoadHigh(_)
        | Instr::Atomic(_)
        | Instr::IMulWide(_)
        | Instr::UnpackNorm(_)
        | Instr::CubeFace(_)
        | Instr::PackNorm16(_)
        | Instr::PackNorm8(_)
        | Instr::PackNorm8High(_)
        | Instr::F32ToF16High(_) => Sharing::Distinct,
        Instr::IAdd64(_) => Sharing::DistinctUnlessEqual,
        _ => Sharing::Any,
    }
}

/// One source group: what must lie in consecutive registers. Members that are no values leave a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceGroup {
    pub(crate) members: ArrayVec<Option<Value>, 4>,
    pub(crate) shape: Shape,
}

impl SourceGroup {
    /// One operand that may be anywhere.
    pub(crate) fn single(value: Option<Value>) -> SourceGroup {
        SourceGroup {
            members: std::iter::once(value).collect(),
            shape: Shape::ANY,
        }
    }

    /// Nobody else may read or keep these registers: they hold something else behind the instruction.
    pub(crate) const fn is_exclusive(&self) -> bool {
        self.shape.is_exclusive()
    }
}

/// An instruction has at most this many source groups.
pub(crate) type SourceGroups = ArrayVec<SourceGroup, 4>;

/// The source groups, those without any value included, so that they count as in [`Instr::for_each_src`].
pub(crate) fn source_groups(instr: &Instr) -> SourceGroups {
    let mut groups = SourceGroups::new();
    instr.for_each_src(|group, shape| {
        let members = group.iter().map(Src::value).collect();
        groups.push(SourceGroup { members, shape });
    });
    groups
}

/// What an instruction makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Results {
    /// In consecutive registers.
    pub(crate) values: ArrayVec<Value, 4>,
    pub(crate) shape: Shape,
}

/// The only destination group that has members.
pub(crate) fn results(instr: &Instr) -> Results {
    let mut found = Results {
        values: ArrayVec::new(),
        shape: Shape::ANY,
    };
    instr.for_each_dst(|group, shape| {
        if !group.is_empty() {
            for value in group.iter().filter_map(Dst::value) {
                found.values.push(value);
            }
            found.shape = shape;
        }
    });
    found
}

/// Registers that the sources take before the instruction, beyond one for each value: copies for values that are
/// destroyed but live on, or that several consecutive groups want.
pub(crate) fn extra_registers(groups: &[SourceGroup], lives_on: impl Fn(Value) -> bool) -> u32 {
    let mut extra = 0;
    for_each_distinct(groups, |value| {
        let (mut exclusive, mut tuples, mut shared) = (0, 0, u32::from(lives_on(value)));
        for group in groups {
            let count = group.members.iter().filter(|m| **m == Some(value)).count() as u32;
            if group.is_exclusive() {
                exclusive += count;
            } else if group.members.len() > 1 {
                tuples += count;
            } else if count > 0 {
                shared = 1;
            }
        }
        extra += exclusive + tuples.max(shared) - 1;
    });
    extra
}

/// Each source value once, in the order of its first use.
pub(crate) fn for_each_distinct(groups: &[SourceGroup], mut f: impl FnMut(Value)) {
    let mut seen = ArrayVec::<Value, 16>::new();
    for value in groups.iter().flat_map(|g| g.members.iter().flatten()) {
        if !seen.contains(value) {
            seen.push(*value);
            f(*value);
        }
    }
}

/// How many registers an instruction needs at its worst, when `before` values are live before it (its sources among
/// them) and `across` of them behind it.
pub(crate) fn registers_needed(
    instr: &Instr,
    groups: &[SourceGroup],
    before: u32,
    across: u32,
    lives_on: impl Fn(Value) -> bool,
) -> u32 {
    let mut written = 0;
    instr.for_each_dst(|group, _| written += group.len() as u32);
    let read = before + extra_registers(groups, lives_on);
    match sharing(instr) {
        Sharing::Any => read.max(across + written),
        _ => {
            let tied = groups.iter().filter(|g| g.shape.tied).count() as u32;
            read + written - tied.min(written)
        }
    }
}
