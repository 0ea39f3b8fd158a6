//! The inverse cosine transform of blocks of 8 by 8 coefficients, in libjpeg's two integer forms. Both
//! transform columns, then rows; results are centered at 128.

/// A transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Method {
    /// After Arai, Agui and Nakajima, with 8 bits of the factors. Part of the scaling is in the table.
    Fast,
    /// After Loeffler, Ligtenberg and Moschytz, with 13 bits of the factors.
    Accurate,
}

/// A transform, with the factors that coefficients are multiplied by.
pub(super) struct Transform {
    method: Method,
    table: [i32; 64],
}

/// The bits of the factors of the accurate transform, and of the values between its passes.
const BITS: u32 = 13;
const BETWEEN: u32 = 2;

/// `x` with this many bits of fraction.
const fn fixed(x: f64, bits: u32) -> i32 {
    (x * (1i64 << bits) as f64 + 0.5) as i32
}

impl Transform {
    pub fn new(method: Method, table: &[u16; 64]) -> Transform {
        let mut factors = [0; 64];
        for (i, (factor, q)) in factors.iter_mut().zip(table).enumerate() {
            *factor = match method {
                Method::Accurate => (*q).into(),
                // With 14 bits of the scale, of which 2 are kept.
                Method::Fast => ((i64::from(*q) * scale(i / 8, i % 8) + (1 << 11)) >> 12) as i32,
            };
        }
        Transform { method, table: factors }
    }

    /// Writes the samples of a block to lines that are `stride` apart.
    pub fn block(&self, block: &[i16], out: &mut [u8], stride: usize) {
        let mut cells = [0i32; 64];
        for ((cell, c), factor) in cells.iter_mut().zip(block).zip(&self.table) {
            *cell = i32::from(*c).wrapping_mul(*factor);
        }
        let pass = match self.method {
            Method::Fast => fast,
            Method::Accurate => accurate,
        };
        let (first, second) = match self.method {
            Method::Fast => ((0, 0), (0, BETWEEN + 3)),
            Method::Accurate => {
                let round = |bits: u32| (1 << (bits - 1), bits);
                (round(BITS - BETWEEN), round(BITS + BETWEEN + 3))
            }
        };
        let shift = |v: i32, (half, bits): (i32, u32)| v.wrapping_add(half) >> bits;
        for x in 0..8 {
            let column = pass(std::array::from_fn(|y| cells[8 * y + x]));
            for (y, v) in column.into_iter().enumerate() {
                cells[8 * y + x] = shift(v, first);
            }
        }
        for (y, row) in cells.chunks_exact(8).enumerate() {
            let row = pass(std::array::from_fn(|x| row[x]));
            for (out, v) in out[y * stride..][..8].iter_mut().zip(row) {
                *out = shift(v, second).saturating_add(128).clamp(0, 255) as u8;
            }
        }
    }
}

/// The scale of a coefficient in the fast transform, with 14 bits: `cos(k pi / 16) * sqrt(2)` for each of row
/// and column, but 1 for the first.
fn scale(row: usize, column: usize) -> i64 {
    let factor = |k: usize| match k {
        0 => 1.0,
        k => (k as f64 * std::f64::consts::PI / 16.0).cos() * std::f64::consts::SQRT_2,
    };
    fixed(factor(row) * factor(column), 14).into()
}

/// One pass of the fast transform.
fn fast(v: [i32; 8]) -> [i32; 8] {
    let times = |x: i32, factor: i32| x.wrapping_mul(factor) >> 8;
    let (add, sub) = (i32::wrapping_add, i32::wrapping_sub);
    let root = fixed(std::f64::consts::SQRT_2, 8);
    let (sum, difference) = (add(v[0], v[4]), sub(v[0], v[4]));
    let third = add(v[2], v[6]);
    let second = sub(times(sub(v[2], v[6]), root), third);
    let even = [add(sum, third), add(difference, second), sub(difference, second), sub(sum, third)];
    let (z13, z10) = (add(v[5], v[3]), sub(v[5], v[3]));
    let (z11, z12) = (add(v[1], v[7]), sub(v[1], v[7]));
    let o7 = add(z11, z13);
    let middle = times(sub(z11, z13), root);
    let z5 = times(add(z10, z12), fixed(1.847759065, 8));
    let low = sub(times(z12, fixed(1.082392200, 8)), z5);
    let high = add(times(z10, -fixed(2.613125930, 8)), z5);
    let o6 = sub(high, o7);
    let o5 = sub(middle, o6);
    let o4 = add(low, o5);
    [
        add(even[0], o7),
        add(even[1], o6),
        add(even[2], o5),
        sub(even[3], o4),
        add(even[3], o4),
        sub(even[2], o5),
        sub(even[1], o6),
        sub(even[0], o7),
    ]
}

/// One pass of the accurate transform. Results have `BITS` more bits of fraction.
fn accurate(v: [i32; 8]) -> [i32; 8] {
    const fn f(x: f64) -> i32 {
        fixed(x, BITS)
    }
    let (add, sub, mul) = (i32::wrapping_add, i32::wrapping_sub, i32::wrapping_mul);
    let z = mul(add(v[2], v[6]), f(0.541196100));
    let (t2, t3) = (sub(z, mul(v[6], f(1.847759065))), add(z, mul(v[2], f(0.765366865))));
    let (t0, t1) = (mul(add(v[0], v[4]), 1 << BITS), mul(sub(v[0], v[4]), 1 << BITS));
    let even = [add(t0, t3), add(t1, t2), sub(t1, t2), sub(t0, t3)];
    let [o0, o1, o2, o3] = [v[7], v[5], v[3], v[1]];
    let z5 = mul(add(add(o0, o2), add(o1, o3)), f(1.175875602));
    let z1 = mul(add(o0, o3), -f(0.899976223));
    let z2 = mul(add(o1, o2), -f(2.562915447));
    let z3 = add(mul(add(o0, o2), -f(1.961570560)), z5);
    let z4 = add(mul(add(o1, o3), -f(0.390180644)), z5);
    let odd = [
        add(mul(o3, f(1.501321110)), add(z1, z4)),
        add(mul(o2, f(3.072711026)), add(z2, z3)),
        add(mul(o1, f(2.053119869)), add(z2, z4)),
        add(mul(o0, f(0.298631336)), add(z1, z3)),
    ];
    std::array::from_fn(|i| match i {
        0..4 => add(even[i], odd[i]),
        _ => sub(even[7 - i], odd[7 - i]),
    })
}

/// The coefficients of a block, scaled by 8.
pub(super) struct Coefficients([i32; 64]);

impl Coefficients {
    /// A coefficient divided by `q` and rounded, halves away from zero.
    pub fn quantized(&self, place: usize, q: i32) -> i16 {
        let (v, divisor) = (self.0[place], q * 8);
        let size = (v.abs() + divisor / 2) / divisor;
        (if v < 0 { -size } else { size }) as i16
    }
}

/// The transform of a block of samples that are centered at 0, in the accurate form.
pub(super) fn forward(mut cells: [i32; 64]) -> Coefficients {
    for row in cells.chunks_exact_mut(8) {
        let v = forward_pass(std::array::from_fn(|x| row[x]), BITS - BETWEEN, |v| v << BETWEEN);
        row.copy_from_slice(&v);
    }
    for x in 0..8 {
        let column = std::array::from_fn(|y| cells[8 * y + x]);
        let v = forward_pass(column, BITS + BETWEEN, |v| (v + (1 << (BETWEEN - 1))) >> BETWEEN);
        v.into_iter().enumerate().for_each(|(y, v)| cells[8 * y + x] = v);
    }
    Coefficients(cells)
}

/// One pass. Products lose `bits` bits; sums are scaled by `scaled`.
fn forward_pass(v: [i32; 8], bits: u32, scaled: impl Fn(i32) -> i32) -> [i32; 8] {
    const fn f(x: f64) -> i32 {
        fixed(x, BITS)
    }
    let round = |v: i32| (v + (1 << (bits - 1))) >> bits;
    let [s0, s1, s2, s3] = std::array::from_fn(|i| v[i] + v[7 - i]);
    let [d0, d1, d2, d3] = std::array::from_fn(|i| v[i] - v[7 - i]);
    let (a, b, c, d) = (s0 + s3, s1 + s2, s1 - s2, s0 - s3);
    let z = (c + d) * f(0.541196100);
    let z5 = (d3 + d1 + d2 + d0) * f(1.175875602);
    let z1 = (d3 + d0) * -f(0.899976223);
    let z2 = (d2 + d1) * -f(2.562915447);
    let z3 = (d3 + d1) * -f(1.961570560) + z5;
    let z4 = (d2 + d0) * -f(0.390180644) + z5;
    [
        scaled(a + b),
        round(d0 * f(1.501321110) + z1 + z4),
        round(z + d * f(0.765366865)),
        round(d1 * f(3.072711026) + z2 + z3),
        scaled(a - b),
        round(d2 * f(2.053119869) + z2 + z4),
        round(z - c * f(1.847759065)),
        round(d3 * f(0.298631336) + z1 + z3),
    ]
}
