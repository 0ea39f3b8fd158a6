//! Integers in formulas.

use super::{Int, Num, Real};

macro_rules! ints {
    ($sign:ident: $($t:ident),*) => { $(
        impl Num for $t {
            #[inline(always)]
            fn int(v: i8) -> Self { v as $t }
            #[inline(always)]
            fn add(self, o: Self) -> Self { self.wrapping_add(o) }
            #[inline(always)]
            fn sub(self, o: Self) -> Self { self.wrapping_sub(o) }
            #[inline(always)]
            fn mul(self, o: Self) -> Self { self.wrapping_mul(o) }
            #[inline(always)]
            fn neg(self) -> Self { self.wrapping_neg() }
            #[inline(always)]
            fn div(self, o: Self) -> Self { if o == 0 { 0 } else { self.wrapping_div(o) } }
            #[inline(always)]
            fn divides_nothing(self) -> bool { self == 0 }
            #[inline]
            fn pow(self, mut o: Self) -> Self {
                if ints!(@negative $sign o) { return 0; }
                let (mut base, mut out): ($t, $t) = (self, 1);
                while o != 0 {
                    if o & 1 == 1 { out = out.wrapping_mul(base); }
                    base = base.wrapping_mul(base);
                    o >>= 1;
                }
                out
            }
            #[inline(always)]
            fn is_no_exponent(self) -> bool { ints!(@negative $sign self) }
            #[inline(always)]
            fn conj(self) -> Self { self }
            #[inline(always)]
            fn sign(self) -> Self { ints!(@sign $sign self) }
            #[inline(always)]
            fn round(self) -> Self { self }
        }

        impl Real for $t {
            #[inline(always)]
            fn less(self, o: Self) -> bool { self < o }
            #[inline(always)]
            fn less_equal(self, o: Self) -> bool { self <= o }
            #[inline(always)]
            fn max(self, o: Self) -> Self { Ord::max(self, o) }
            #[inline(always)]
            fn min(self, o: Self) -> Self { Ord::min(self, o) }
            #[inline(always)]
            fn abs(self) -> Self { ints!(@abs $sign self) }
            #[inline(always)]
            fn floor_div(self, o: Self) -> Self { ints!(@floor_div $sign self, o) }
            #[inline(always)]
            fn floor_mod(self, o: Self) -> Self { self.wrapping_sub(Real::floor_div(self, o).wrapping_mul(o)) }
            #[inline(always)]
            fn trunc_mod(self, o: Self) -> Self { if o == 0 { 0 } else { self.wrapping_rem(o) } }
        }

        impl Int for $t {
            #[inline(always)]
            fn bit_and(self, o: Self) -> Self { self & o }
            #[inline(always)]
            fn bit_or(self, o: Self) -> Self { self | o }
            #[inline(always)]
            fn bit_xor(self, o: Self) -> Self { self ^ o }
            #[inline(always)]
            fn invert(self) -> Self { !self }
            #[inline(always)]
            fn shl(self, o: Self) -> Self { self << ints!(@shift $sign $t, o) }
            #[inline(always)]
            fn shr(self, o: Self) -> Self { self >> ints!(@shift $sign $t, o) }
            #[inline(always)]
            fn ones(self) -> u8 { self.count_ones() as u8 }
        }
    )* };
    (@negative signed $v:expr) => { $v < 0 };
    (@negative unsigned $v:expr) => { false };
    (@sign signed $v:expr) => { $v.signum() };
    (@sign unsigned $v:expr) => { Ord::min($v, 1) };
    (@abs signed $v:expr) => { $v.wrapping_abs() };
    (@abs unsigned $v:expr) => { $v };
    (@floor_div signed $x:expr, $y:expr) => {{
        let q = Num::div($x, $y);
        // Rounded towards zero where the signs differ and something is left: one too many.
        if ($x < 0) != ($y < 0) && q.wrapping_mul($y) != $x && $y != 0 { q.wrapping_sub(1) } else { q }
    }};
    (@floor_div unsigned $x:expr, $y:expr) => { Num::div($x, $y) };
    (@shift signed $t:ident, $o:expr) => { $o.clamp(0, ($t::BITS - 1) as $t) as u32 };
    (@shift unsigned $t:ident, $o:expr) => { Ord::min($o, ($t::BITS - 1) as $t) as u32 };
}
ints!(signed: i8, i16, i32, i64);
ints!(unsigned: u8, u16, u32, u64);
