//! Two hashes that no dependency provides: MurmurHash64A with TensorFlow's seed, and SipHash-2-4.

/// Returns up to eight bytes as a little-endian number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
}

/// Computes MurmurHash64A (Appleby).
pub(super) fn quick(bytes: &[u8]) -> u64 {
    const M: u64 = 0xC6A4_A793_5BD1_E995;
    let mut hash = 0xDE_CAFC_AFFE ^ (bytes.len() as u64).wrapping_mul(M);
    for chunk in bytes.chunks(8) {
        let k = number(chunk);
        if chunk.len() == 8 {
            let k = k.wrapping_mul(M);
            hash ^= (k ^ k >> 47).wrapping_mul(M);
        } else {
            hash ^= k;
        }
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 47;
    hash = hash.wrapping_mul(M);
    hash ^ hash >> 47
}

/// Computes SipHash-2-4 (Aumasson and Bernstein).
pub(super) fn sip(key: [u64; 2], bytes: &[u8]) -> u64 {
    let mut v = [
        key[0] ^ 0x736F_6D65_7073_6575,
        key[1] ^ 0x646F_7261_6E64_6F6D,
        key[0] ^ 0x6C79_6765_6E65_7261,
        key[1] ^ 0x7465_6462_7974_6573,
    ];
    let chunks = bytes.chunks_exact(8);
    let last = number(chunks.remainder()) | (bytes.len() as u64) << 56;
    for word in chunks.map(number).chain([last]) {
        v[3] ^= word;
        round(&mut v);
        round(&mut v);
        v[0] ^= word;
    }
    v[2] ^= 0xFF;
    (0..4).for_each(|_| round(&mut v));
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

fn round(v: &mut [u64; 4]) {
    v[0] = v[0].wrapping_add(v[1]);
    v[2] = v[2].wrapping_add(v[3]);
    v[1] = v[1].rotate_left(13) ^ v[0];
    v[3] = v[3].rotate_left(16) ^ v[2];
    v[0] = v[0].rotate_left(32);
    v[2] = v[2].wrapping_add(v[1]);
    v[0] = v[0].wrapping_add(v[3]);
    v[1] = v[1].rotate_left(17) ^ v[2];
    v[3] = v[3].rotate_left(21) ^ v[0];
    v[2] = v[2].rotate_left(32);
}
