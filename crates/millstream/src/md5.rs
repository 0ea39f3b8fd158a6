//! MD5, which TensorFlow uses to derive a seed from a shared name. It protects nothing.

/// The rotations of the steps of each round, in a cycle of four.
const TURNS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// Returns the first four bytes of the digest as a big-endian number.
pub(crate) fn head(message: &[u8]) -> u32 {
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() < message.len() + 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let len = padded.len();
    padded[len - 8..].copy_from_slice(&(message.len() as u64).wrapping_mul(8).to_le_bytes());
    let mut state = [0x6745_2301u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded.chunks_exact(64) {
        let word = |i: usize| {
            u32::from_le_bytes([block[4 * i], block[4 * i + 1], block[4 * i + 2], block[4 * i + 3]])
        };
        let [mut a, mut b, mut c, mut d] = state;
        for i in 0..64 {
            let (mixed, from) = match i / 16 {
                0 => ((b & c) | (!b & d), i),
                1 => ((d & b) | (!d & c), (5 * i + 1) % 16),
                2 => (b ^ c ^ d, (3 * i + 5) % 16),
                _ => (c ^ (b | !d), (7 * i) % 16),
            };
            let constant = (((i + 1) as f64).sin().abs() * 4_294_967_296.0) as u32;
            let sum = mixed.wrapping_add(a).wrapping_add(constant).wrapping_add(word(from));
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(TURNS[i / 16][i % 4]));
        }
        for (old, new) in state.iter_mut().zip([a, b, c, d]) {
            *old = old.wrapping_add(new);
        }
    }
    state[0].swap_bytes()
}

#[cfg(test)]
mod tests {
    #[test]
    fn digests_begin_as_published() {
        let begin = |text: &str, head: u32| assert_eq!(super::head(text.as_bytes()), head, "{text}");
        begin("", 0xd41d_8cd9);
        begin("a", 0x0cc1_75b9);
        begin("message digest", 0xf96b_697d);
        begin("abcdefghijklmnopqrstuvwxyz", 0xc3fc_d3d7);
        begin(
            "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
            0x57ed_f4a2,
        );
        begin(&"x".repeat(55), 0x0436_4420);
        begin(&"x".repeat(56), 0x668a_72d5);
        begin(&"x".repeat(64), 0xc1bb_4f81);
    }
}
