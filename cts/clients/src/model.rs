// SPDX-License-Identifier: MIT
//! Data that tests start from and models of what commands do with memory, on the CPU.

/// Pseudo-random words (Marsaglia's xorshift, 32 bits) that depend on the seed only.
#[must_use]
pub fn words(seed: u32, count: usize) -> Vec<u32> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    (0..count).map(|_| next()).collect()
}

/// Pseudo-random bytes.
#[must_use]
pub fn bytes(seed: u32, count: usize) -> Vec<u8> {
    let mut bytes = to_bytes(&words(seed, count.div_ceil(4)));
    bytes.truncate(count);
    bytes
}

/// Words in memory order.
#[must_use]
pub fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Whole words from memory order.
#[must_use]
pub fn to_words(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// What `vkCmdFillBuffer` does: the word repeated from `offset`, whole words only.
pub fn fill(memory: &mut [u8], offset: usize, size: usize, word: u32) {
    for chunk in memory[offset..offset + size].chunks_exact_mut(4) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_bytes() {
        assert_eq!(to_words(&to_bytes(&[1, 0xdead_beef])), [1, 0xdead_beef]);
        assert_eq!(words(3, 8), words(3, 8));
        assert_ne!(words(3, 8), words(4, 8));
        assert_eq!(bytes(1, 5).len(), 5);
        let mut memory = [0; 12];
        fill(&mut memory, 4, 7, 0x0403_0201);
        assert_eq!(memory, [0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0]);
    }
}
