//! Folding the elements of all ranks, in the order of the ranks.

use super::Reduction;
use millstream_tensor::{DType, Error, Result, bf16, f16};

/// The number of elements that are folded at a time: few enough to stay in the nearest cache.
const BLOCK: usize = 1024;

/// Where the part of one rank is.
#[derive(Clone, Copy)]
pub(super) enum Part<'a> {
    /// In memory of its own.
    At(&'a [u8]),
    /// Where the result goes.
    InPlace,
}

/// Sets `out` to the reduction of the parts, each of which has its length.
pub(super) fn fold(reduction: Reduction, dtype: DType, parts: &[Part], out: &mut [u8]) -> Result<()> {
    match dtype {
        DType::F16 => by::<f16>(reduction, parts, out),
        DType::BF16 => by::<bf16>(reduction, parts, out),
        // Sums and means of complex numbers are those of their parts.
        DType::F32 | DType::C64 => by::<f32>(reduction, parts, out),
        DType::F64 | DType::C128 => by::<f64>(reduction, parts, out),
        DType::I8 => by::<i8>(reduction, parts, out),
        DType::I16 => by::<i16>(reduction, parts, out),
        DType::I32 => by::<i32>(reduction, parts, out),
        DType::I64 => by::<i64>(reduction, parts, out),
        DType::U8 => by::<u8>(reduction, parts, out),
        DType::U16 => by::<u16>(reduction, parts, out),
        DType::U32 => by::<u32>(reduction, parts, out),
        DType::U64 => by::<u64>(reduction, parts, out),
        _ => return Err(Error::internal(format!("a reduction of {dtype}"))),
    }
    Ok(())
}

/// An element, and the type in which it is computed with.
trait Word {
    type Wide: Copy + Default;
    const SIZE: usize;
    fn elements(bytes: &[u8]) -> impl Iterator<Item = Self::Wide>;
    fn write(values: &[Self::Wide], end: impl Fn(Self::Wide) -> Self::Wide, bytes: &mut [u8]);
    fn sum(a: Self::Wide, b: Self::Wide) -> Self::Wide;
    fn less(a: Self::Wide, b: Self::Wide) -> bool;
    fn part(sum: Self::Wide, n: usize) -> Self::Wide;
    fn is_nan(_: Self::Wide) -> bool {
        false
    }
}

/// A wide value as an element.
macro_rules! narrowing {
    (f16, $value:expr) => {
        f16::from_f32($value)
    };
    (bf16, $value:expr) => {
        bf16::from_f32($value)
    };
    ($t:ident, $value:expr) => {
        $value
    };
}

macro_rules! words {
    ($($t:ident as $wide:ty: $sum:expr, $part:expr $(, $nan:expr)?;)*) => { $(
        impl Word for $t {
            type Wide = $wide;
            const SIZE: usize = size_of::<$t>();
            // Arrays instead of slices: the optimiser makes vector instructions of these loops.
            #[inline(always)]
            fn elements(bytes: &[u8]) -> impl Iterator<Item = $wide> {
                let (elements, _) = bytes.as_chunks::<{ size_of::<$t>() }>();
                elements.iter().map(|element| <$wide>::from(<$t>::from_ne_bytes(*element)))
            }
            #[inline(always)]
            fn write(values: &[$wide], end: impl Fn($wide) -> $wide, bytes: &mut [u8]) {
                let (elements, _) = bytes.as_chunks_mut::<{ size_of::<$t>() }>();
                for (value, element) in values.iter().zip(elements) {
                    *element = narrowing!($t, end(*value)).to_ne_bytes();
                }
            }
            #[inline(always)]
            fn sum(a: $wide, b: $wide) -> $wide {
                $sum(a, b)
            }
            #[inline(always)]
            fn less(a: $wide, b: $wide) -> bool {
                a < b
            }
            #[inline(always)]
            fn part(sum: $wide, n: usize) -> $wide {
                $part(sum, n)
            }
            $(#[inline(always)]
            fn is_nan(value: $wide) -> bool {
                $nan(value)
            })?
        }
    )* };
}

words! {
    f16 as f32: |a: f32, b: f32| a + b, |sum: f32, n: usize| sum / n as f32, f32::is_nan;
    bf16 as f32: |a: f32, b: f32| a + b, |sum: f32, n: usize| sum / n as f32, f32::is_nan;
    f32 as f32: |a: f32, b: f32| a + b, |sum: f32, n: usize| sum / n as f32, f32::is_nan;
    f64 as f64: |a: f64, b: f64| a + b, |sum: f64, n: usize| sum / n as f64, f64::is_nan;
    i8 as i8: i8::wrapping_add, |sum, _| sum;
    i16 as i16: i16::wrapping_add, |sum, _| sum;
    i32 as i32: i32::wrapping_add, |sum, _| sum;
    i64 as i64: i64::wrapping_add, |sum, _| sum;
    u8 as u8: u8::wrapping_add, |sum, _| sum;
    u16 as u16: u16::wrapping_add, |sum, _| sum;
    u32 as u32: u32::wrapping_add, |sum, _| sum;
    u64 as u64: u64::wrapping_add, |sum, _| sum;
}

fn by<W: Word>(reduction: Reduction, parts: &[Part], out: &mut [u8]) {
    let n = parts.len();
    let less = |a, b| if W::less(a, b) || W::is_nan(a) { a } else { b };
    let more = |a, b| if W::less(b, a) || W::is_nan(a) { a } else { b };
    match reduction {
        Reduction::Sum => blocks::<W>(parts, out, W::sum, |sum| sum),
        Reduction::Mean => blocks::<W>(parts, out, W::sum, |sum| W::part(sum, n)),
        Reduction::Min => blocks::<W>(parts, out, less, |least| least),
        Reduction::Max => blocks::<W>(parts, out, more, |most| most),
    }
}

fn blocks<W: Word>(
    parts: &[Part],
    out: &mut [u8],
    join: impl Fn(W::Wide, W::Wide) -> W::Wide,
    end: impl Fn(W::Wide) -> W::Wide,
) {
    let mut wide = [W::Wide::default(); BLOCK];
    for (i, out) in out.chunks_mut(BLOCK * W::SIZE).enumerate() {
        let start = i * BLOCK * W::SIZE;
        let wide = &mut wide[..out.len() / W::SIZE];
        for (k, part) in parts.iter().enumerate() {
            let part = match part {
                Part::At(bytes) => &bytes[start..start + out.len()],
                Part::InPlace => &*out,
            };
            match k {
                0 => wide.iter_mut().zip(W::elements(part)).for_each(|(w, e)| *w = e),
                _ => wide.iter_mut().zip(W::elements(part)).for_each(|(w, e)| *w = join(*w, e)),
            }
        }
        W::write(wide, &end, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_ne_bytes()).collect()
    }

    #[test]
    fn parts_are_folded_in_order() {
        // 1e8 + 1 - 1e8 depends on the order: from the left it is 0.
        let (a, c) = (bytes(&[1e8, f32::NAN, 3.]), bytes(&[-1e8, 1., 1.]));
        let parts = [Part::At(&a), Part::InPlace, Part::At(&c)];
        let folded = |reduction| {
            let mut out = bytes(&[1., 2., 2.]);
            fold(reduction, DType::F32, &parts, &mut out).unwrap();
            out.chunks_exact(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect::<Vec<_>>()
        };
        assert_eq!((folded(Reduction::Sum)[0], folded(Reduction::Sum)[2]), (0., 6.));
        assert_eq!(folded(Reduction::Mean)[2], 2.);
        assert_eq!((folded(Reduction::Min)[0], folded(Reduction::Min)[2]), (-1e8, 1.));
        assert_eq!((folded(Reduction::Max)[0], folded(Reduction::Max)[2]), (1e8, 3.));
        assert!(folded(Reduction::Min)[1].is_nan() && folded(Reduction::Max)[1].is_nan());
    }

    /// 2048 + 1 rounds to 2048 in f16: rounded once, 2048 + 1 + 1 is 2050.
    #[test]
    fn halves_are_rounded_once() {
        let half = |v: f32| f16::from_f32(v).to_ne_bytes();
        let (big, one) = (half(2048.), half(1.));
        let mut out = one;
        fold(Reduction::Sum, DType::F16, &[Part::At(&big), Part::At(&one), Part::InPlace], &mut out).unwrap();
        assert_eq!(f16::from_ne_bytes(out).to_f32(), 2050.);
    }
}
