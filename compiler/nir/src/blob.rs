// SPDX-License-Identifier: MIT
//! What stands before the bytes of a serialised shader, so that only what this crate wrote ever reaches Mesa.

use crate::Error;

/// The secret that makes serialised shaders trustworthy.
///
/// Mesa believes every byte that it deserialises, so bytes that someone else made may do anything to the process. Each
/// serialised shader therefore carries a BLAKE3 hash that is keyed with these 32 bytes: who does not have them cannot
/// make one that is accepted. Who has them can do with the process what they like. A driver makes a random key for each
/// installation and user, keeps it where only that user can read it, and never takes one out of a cache file.
#[derive(Clone)]
pub struct BlobKey([u8; 32]);

impl BlobKey {
    /// A key of these bytes, which must be random.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl std::fmt::Debug for BlobKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BlobKey(..)")
    }
}

const MAGIC: &[u8; 8] = b"CortNIR2";
const HASH: usize = 16;
const HEADER: usize = 48;

/// Names the Mesa and the shim that wrote the bytes; see build.rs.
const BUILD: &str = env!("CORTLAND_BUILD_ID");

/// Bytes that [`open`] takes back.
pub(crate) fn seal(body: &[u8], deep: bool, key: &BlobKey) -> Vec<u8> {
    let mut blob = Vec::with_capacity(HEADER + body.len());
    blob.extend_from_slice(MAGIC);
    blob.push(u8::from(deep));
    blob.resize(HASH, 0);
    blob.extend_from_slice(hash(&blob[..HASH], body, key).as_bytes());
    blob.extend_from_slice(body);
    blob
}

/// The body of what [`seal`] made with this key in this build, and whether it is deep.
pub(crate) fn open<'a>(blob: &'a [u8], key: &BlobKey) -> Result<(&'a [u8], bool), Error> {
    if !blob.starts_with(MAGIC) {
        return Err(Error::BadBlob("it does not start with this crate's mark"));
    }
    let Some((header, body)) = blob.split_at_checked(HEADER) else {
        return Err(Error::BadBlob("it ends inside its header"));
    };
    // This comparison takes the same time wherever the difference is.
    if hash(&header[..HASH], body, key) != header[HASH..] {
        return Err(Error::BadBlob(
            "it was truncated, changed, or written by another build or with another key",
        ));
    }
    Ok((body, header[MAGIC.len()] != 0))
}

fn hash(start: &[u8], body: &[u8], key: &BlobKey) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_keyed(&key.0);
    hasher
        .update(&(BUILD.len() as u64).to_le_bytes())
        .update(BUILD.as_bytes())
        .update(start)
        .update(body);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_blob_opens_and_only_with_its_key() {
        let key = BlobKey::new([7; 32]);
        let blob = seal(b"some body", true, &key);
        assert_eq!(open(&blob, &key).expect("whole"), (&b"some body"[..], true));
        open(&blob, &BlobKey::new([8; 32])).expect_err("another key");
        for length in 0..blob.len() {
            open(&blob[..length], &key).expect_err("truncated");
        }
        for bit in 0..blob.len() * 8 {
            let mut blob = blob.clone();
            blob[bit / 8] ^= 1 << (bit % 8);
            open(&blob, &key).expect_err("changed");
        }
    }

    #[test]
    fn a_forger_without_the_key_fails() {
        // What everybody can know: the format, the build, the unkeyed hash.
        let key = BlobKey::new([7; 32]);
        let mut blob = seal(b"some body", false, &key);
        blob[HEADER] ^= 1;
        let unkeyed = blake3::Hasher::new()
            .update(&(BUILD.len() as u64).to_le_bytes())
            .update(BUILD.as_bytes())
            .update(&blob[..HASH])
            .update(&blob[HEADER..])
            .finalize();
        blob[HASH..HEADER].copy_from_slice(unkeyed.as_bytes());
        open(&blob, &key).expect_err("forged");
    }
}
