//! The methods of the numeric tower as functions of [words](Word), by their names: what compiled code calls
//! where it has no instruction of its own. They compute by the very methods that kernels use.

use super::tiles;
use super::{Field, Float, Int, Math, Num, Real};
use millstream_graph::op::TileFns;
use millstream_graph::op::expression::WordFn;
use millstream_tensor::{DType, Word, bf16, f16};

/// The functions of one dtype.
pub(super) struct Table {
    /// The function of a method.
    pub method: fn(&str) -> Option<Method>,
    /// The functions of a method for many elements at a time, where there are some.
    pub tile: fn(&str) -> Option<TileFns>,
    /// A small integer.
    pub int: fn(i8) -> Option<u64>,
    /// A number; floats only.
    pub lit: fn(f64) -> Option<u64>,
}

/// A method as a function of words.
pub(super) struct Method {
    pub run: WordFn,
    /// Whether its result is a bool.
    pub asks: bool,
}

/// The functions of a dtype; `None` if its elements are not words.
pub(super) fn table(dtype: DType) -> Option<&'static Table> {
    Some(match dtype {
        DType::F16 => const { &floats::<f16>() },
        DType::BF16 => const { &floats::<bf16>() },
        DType::F32 => const { &Table { tile: tiles::of_float::<f32>, ..floats::<f32>() } },
        DType::F64 => const { &Table { tile: tiles::of_float::<f64>, ..floats::<f64>() } },
        DType::I8 => const { &integers::<i8>() },
        DType::I16 => const { &integers::<i16>() },
        DType::I32 => const { &Table { tile: tiles::of_int::<i32>, ..integers::<i32>() } },
        DType::I64 => const { &Table { tile: tiles::of_int::<i64>, ..integers::<i64>() } },
        DType::U8 => const { &integers::<u8>() },
        DType::U16 => const { &integers::<u16>() },
        DType::U32 => const { &integers::<u32>() },
        DType::U64 => const { &integers::<u64>() },
        DType::Bool => &Table { method: of_any::<bool>, tile: |_| None, int: |_| None, lit: |_| None },
        _ => return None,
    })
}

const fn floats<T: Word + Float + Math<Mask = bool>>() -> Table {
    Table {
        method: |name| of_real::<T>(name).or_else(|| of_field::<T>(name)).or_else(|| of_float::<T>(name)),
        tile: |_| None,
        int: |v| Some(T::int(v).word()),
        lit: |v| Some(T::lit(v).word()),
    }
}

const fn integers<T: Word + Int + Math<Mask = bool>>() -> Table {
    Table {
        method: |name| of_real::<T>(name).or_else(|| of_int::<T>(name)),
        tile: |_| None,
        int: |v| Some(T::int(v).word()),
        lit: |_| None,
    }
}

/// Declares the function that finds a trait's methods: of one argument, of two, and those that answer a
/// question.
macro_rules! methods {
    ($find:ident: $bound:path;
     $($trait:ident: [$($one:ident),*] [$($two:ident),*] [$($asks:ident),*] [$($asks_two:ident),*];)*) => {
        fn $find<T: Word + $bound>(name: &str) -> Option<Method> {
            $($(
                if name == stringify!($one) {
                    extern "C" fn run<T: Word + $bound>(a: u64, _: u64, _: u64) -> u64 {
                        <T as $trait>::$one(T::of_word(a)).word()
                    }
                    return Some(Method { run: run::<T>, asks: false });
                }
            )* $(
                if name == stringify!($two) {
                    extern "C" fn run<T: Word + $bound>(a: u64, b: u64, _: u64) -> u64 {
                        <T as $trait>::$two(T::of_word(a), T::of_word(b)).word()
                    }
                    return Some(Method { run: run::<T>, asks: false });
                }
            )* $(
                if name == stringify!($asks) {
                    extern "C" fn run<T: Word + $bound>(a: u64, _: u64, _: u64) -> u64 {
                        u64::from(<T as $trait>::$asks(T::of_word(a)))
                    }
                    return Some(Method { run: run::<T>, asks: true });
                }
            )* $(
                if name == stringify!($asks_two) {
                    extern "C" fn run<T: Word + $bound>(a: u64, b: u64, _: u64) -> u64 {
                        u64::from(<T as $trait>::$asks_two(T::of_word(a), T::of_word(b)))
                    }
                    return Some(Method { run: run::<T>, asks: true });
                }
            )*)*
            None
        }
    };
}

methods! { of_any: Math<Mask = bool>;
    Math: [] [] [] [equal];
}
methods! { of_real: RealWord;
    Math: [] [] [] [equal];
    Num: [neg, sign, round] [add, sub, mul, div, pow] [divides_nothing, is_no_exponent] [];
    Real: [abs] [max, min, floor_div, floor_mod, trunc_mod] [] [less, less_equal];
}
methods! { of_int: IntWord;
    Int: [invert] [bit_and, bit_or, bit_xor, shl, shr] [] [];
}
methods! { of_field: FloatWord;
    Field: [exp, expm1, log, log1p, sqrt, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh,
        sigmoid, rsqrt] [] [] [];
}
methods! { of_float: FloatWord;
    Float: [floor, ceil, erf, erfc, lgamma, digamma, erfinv, ndtri, bessel_i0e, bessel_i1e]
        [igamma, igammac, igamma_grad_a, random_gamma_grad, zeta, polygamma, atan2, next_after]
        [is_nan, is_inf, is_finite] [];
}

/// Numbers with an order whose comparisons are bools.
trait RealWord: Real + Math<Mask = bool> {}
impl<T: Real + Math<Mask = bool>> RealWord for T {}

/// Integers whose comparisons are bools.
trait IntWord: Int + Math<Mask = bool> {}
impl<T: Int + Math<Mask = bool>> IntWord for T {}

/// Floats whose comparisons are bools.
trait FloatWord: Float + Math<Mask = bool> {}
impl<T: Float + Math<Mask = bool>> FloatWord for T {}
