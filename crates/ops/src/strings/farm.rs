//! The 64-bit fingerprint of FarmHash (Pike). The only crate that provides it is wrong for lengths that are
//! multiples of 64 from 128 on.

use std::num::Wrapping;

type W = Wrapping<u64>;

const K0: W = Wrapping(0xC3A5_C85C_97CB_3127);
const K1: W = Wrapping(0xB492_B66F_BE98_F273);
const K2: W = Wrapping(0x9AE1_6A3B_2F90_404F);

/// Returns the fingerprint of a string.
pub(crate) fn fingerprint(s: &[u8]) -> u64 {
    let n = s.len();
    let mul = K2 + word(n) * Wrapping(2);
    let hash = match n {
        0 => K2,
        1..4 => {
            let at = |i: usize| Wrapping(u64::from(s.get(i).copied().unwrap_or(0)));
            mix(((at(0) + (at(n / 2) << 8)) * K2) ^ ((word(n) + (at(n - 1) << 2)) * K0)) * K2
        }
        4..8 => fold(word(n) + (half(s, 0) << 3), half(s, n - 4), mul),
        8..=16 => {
            let (a, b) = (get(s, 0) + K2, get(s, n - 8));
            fold(turn(b, 37) * mul + a, (turn(a, 25) + b) * mul, mul)
        }
        17..=32 => {
            let (a, b) = (get(s, 0) * K1, get(s, 8));
            let (c, d) = (get(s, n - 8) * mul, get(s, n - 16) * K2);
            fold(turn(a + b, 43) + turn(c, 30) + d, a + turn(b + K2, 18) + c, mul)
        }
        33..=64 => {
            let (a, b) = (get(s, 0) * K2, get(s, 8));
            let (c, d) = (get(s, n - 8) * mul, get(s, n - 16) * K2);
            let y = turn(a + b, 43) + turn(c, 30) + d;
            let z = fold(y, a + turn(b + K2, 18) + c, mul);
            let (e, f) = (get(s, 16) * mul, get(s, 24));
            let (g, h) = ((y + get(s, n - 32)) * mul, (z + get(s, n - 24)) * mul);
            fold(turn(e + f, 43) + turn(g, 30) + h, e + turn(f + a, 18) + g, mul)
        }
        _ => long(s),
    };
    hash.0
}

struct State {
    x: W,
    y: W,
    z: W,
    v: (W, W),
    w: (W, W),
}

impl State {
    /// Processes 64 bytes. The last block has `times` 9.
    fn block(&mut self, s: &[u8], mul: W, times: W) {
        self.x = turn(self.x + self.y + self.v.0 + get(s, 8), 37) * mul;
        self.y = turn(self.y + self.v.1 + get(s, 48), 42) * mul;
        self.x ^= self.w.1 * times;
        self.y += self.v.0 * times + get(s, 40);
        self.z = turn(self.z + self.w.0, 33) * mul;
        self.v = weak(s, 0, self.v.1 * mul, self.x + self.w.0);
        self.w = weak(s, 32, self.z + self.w.1, self.y + get(s, 16));
        std::mem::swap(&mut self.z, &mut self.x);
    }
}

fn long(s: &[u8]) -> W {
    let seed = Wrapping(81);
    let y = seed * K1 + Wrapping(113);
    let zero = Wrapping(0);
    let z = mix(y * K2 + Wrapping(113)) * K2;
    let mut state = State { x: seed * K2 + get(s, 0), y, z, v: (zero, zero), w: (zero, zero) };
    // Processes the whole blocks before the end. The last 64 bytes follow separately and may overlap them.
    let whole = (s.len() - 1) / 64;
    s.chunks(64).take(whole).for_each(|block| state.block(block, K1, Wrapping(1)));
    let mul = K1 + ((state.z & Wrapping(0xFF)) << 1);
    state.w.0 += word((s.len() - 1) % 64);
    state.v.0 += state.w.0;
    state.w.0 += state.v.0;
    state.block(s.get(s.len() - 64..).unwrap_or_default(), mul, Wrapping(9));
    let State { x, y, z, v, w } = state;
    fold(fold(v.0, w.0, mul) + mix(y) * K0 + z, fold(v.1, w.1, mul) + x, mul)
}

fn weak(s: &[u8], at: usize, a: W, b: W) -> (W, W) {
    let last = get(s, at + 24);
    let a = a + get(s, at);
    let b = turn(b + a + last, 21);
    let sum = a + get(s, at + 8) + get(s, at + 16);
    (sum + last, b + turn(sum, 44) + a)
}

fn word(n: usize) -> W {
    Wrapping(n as u64)
}

fn get(s: &[u8], at: usize) -> W {
    Wrapping(s.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |b| u64::from_le_bytes(*b)))
}

fn half(s: &[u8], at: usize) -> W {
    Wrapping(s.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |b| u32::from_le_bytes(*b).into()))
}

fn turn(v: W, by: u32) -> W {
    Wrapping(v.0.rotate_right(by))
}

fn mix(v: W) -> W {
    v ^ v >> 47
}

fn fold(u: W, v: W, mul: W) -> W {
    mix((v ^ mix((u ^ v) * mul)) * mul) * mul
}
