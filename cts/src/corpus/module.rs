// SPDX-License-Identifier: MIT
//! The little that tests must know about a SPIR-V module.

use std::collections::{HashMap, HashSet};

use spirv::{Capability, Decoration, Op};

/// Instructions of a module: opcode and operands.
fn instructions(words: &[u32]) -> impl Iterator<Item = (Option<Op>, &[u32])> {
    let mut rest = words.get(5..).unwrap_or(&[]);
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let length = (first >> 16) as usize;
        // A length of 0, or beyond the end, is malformed: the module ends here.
        let instruction = rest.get(..length.max(1))?;
        rest = &rest[instruction.len()..];
        Some((Op::from_u32(first & 0xffff), &instruction[1..]))
    })
}

/// Bytes of each specialisation constant, by its ID: Booleans have 4, as Vulkan wants them.
#[must_use]
pub fn specialization_sizes(words: &[u32]) -> HashMap<u32, usize> {
    let mut spec_ids: HashMap<u32, u32> = HashMap::new();
    let mut widths: HashMap<u32, u32> = HashMap::new();
    let mut sizes = HashMap::new();
    for (op, operands) in instructions(words) {
        match (op, operands) {
            (Some(Op::Decorate), &[target, decoration, id, ..])
                if decoration == Decoration::SpecId as u32 =>
            {
                spec_ids.insert(target, id);
            }
            (Some(Op::TypeInt | Op::TypeFloat), &[result, width, ..]) => {
                widths.insert(result, width);
            }
            (Some(Op::SpecConstantTrue | Op::SpecConstantFalse), &[_, result, ..]) => {
                if let Some(id) = spec_ids.get(&result) {
                    sizes.insert(*id, 4);
                }
            }
            (Some(Op::SpecConstant), &[ty, result, ..]) => {
                if let (Some(id), Some(width)) = (spec_ids.get(&result), widths.get(&ty)) {
                    sizes.insert(*id, *width as usize / 8);
                }
            }
            _ => {}
        }
    }
    sizes
}

/// The capabilities that the module declares.
#[must_use]
pub fn capabilities(words: &[u32]) -> HashSet<Capability> {
    instructions(words)
        .filter(|(op, _)| *op == Some(Op::Capability))
        .filter_map(|(_, operands)| Capability::from_u32(*operands.first()?))
        .collect()
}

/// True when results can depend on how invocations are grouped: lavapipe's subgroups have 4 or 8
/// of them, those of the GPU 32.
#[must_use]
pub fn uses_subgroups(words: &[u32]) -> bool {
    let found = capabilities(words);
    [
        Capability::GroupNonUniform,
        Capability::GroupNonUniformVote,
        Capability::GroupNonUniformArithmetic,
        Capability::GroupNonUniformBallot,
        Capability::GroupNonUniformShuffle,
        Capability::GroupNonUniformShuffleRelative,
        Capability::GroupNonUniformClustered,
        Capability::GroupNonUniformQuad,
        Capability::GroupNonUniformRotateKHR,
        Capability::SubgroupBallotKHR,
        Capability::SubgroupVoteKHR,
    ]
    .iter()
    .any(|capability| found.contains(capability))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "OpCapability Shader\nOpCapability Int64\nOpCapability GroupNonUniformVote\n\
         OpMemoryModel Logical GLSL450\n\
         OpDecorate %a SpecId 3\nOpDecorate %b SpecId 4\nOpDecorate %c SpecId 9\n\
         %bool = OpTypeBool\n%u64 = OpTypeInt 64 0\n%f32 = OpTypeFloat 32\n\
         %a = OpSpecConstantTrue %bool\n%b = OpSpecConstant %u64 1\n%c = OpSpecConstant %f32 2\n\
         %d = OpSpecConstant %f32 2\n";

    #[test]
    fn sizes_of_specialisation_constants() {
        let words = mesa_nir::assemble(TEXT).unwrap();
        let sizes = specialization_sizes(&words);
        assert_eq!(sizes, HashMap::from([(3, 4), (4, 8), (9, 4)]));
    }

    #[test]
    fn subgroups_are_noticed() {
        assert!(uses_subgroups(&mesa_nir::assemble(TEXT).unwrap()));
        let without = TEXT.replace("OpCapability GroupNonUniformVote\n", "");
        let words = mesa_nir::assemble(&without).unwrap();
        assert!(!uses_subgroups(&words));
        assert!(capabilities(&words).contains(&Capability::Int64));
    }

    #[test]
    fn malformed_modules_end_early() {
        for words in [&[][..], &[1, 2, 3], &[0; 6], &[0, 0, 0, 0, 0, 0xffff_0011]] {
            assert_eq!(capabilities(words).len(), 0);
            assert_eq!(specialization_sizes(words).len(), 0);
        }
    }
}
