//! [`Word`]: elements as the words that compiled code computes with.

use crate::{DType, Element, Result, Tensor, bf16, f16, invalid};

/// An element type that compiled code computes with: a bool, an integer or a float.
///
/// The word of an element has its bits in the low end, and zeros above them.
pub trait Word: Element {
    /// The width in bits.
    const WIDTH: u32;
    /// The word of the element.
    fn word(self) -> u64;
    /// The element of a word. The bits above [`Word::WIDTH`] are not looked at.
    fn of_word(word: u64) -> Self;
}

macro_rules! words {
    ($($t:ty, $width:literal: |$v:ident| $to:expr, |$w:ident| $from:expr;)*) => { $(
        impl Word for $t {
            const WIDTH: u32 = $width;
            #[inline(always)]
            fn word(self) -> u64 { let $v = self; $to }
            #[inline(always)]
            fn of_word($w: u64) -> Self { $from }
        }
    )* };
}
words! {
    bool, 1: |v| u64::from(v), |w| w & 1 != 0;
    i8, 8: |v| u64::from(v as u8), |w| w as i8;
    i16, 16: |v| u64::from(v as u16), |w| w as i16;
    i32, 32: |v| u64::from(v as u32), |w| w as i32;
    i64, 64: |v| v as u64, |w| w as i64;
    u8, 8: |v| u64::from(v), |w| w as u8;
    u16, 16: |v| u64::from(v), |w| w as u16;
    u32, 32: |v| u64::from(v), |w| w as u32;
    u64, 64: |v| v, |w| w;
    f16, 16: |v| u64::from(v.to_bits()), |w| f16::from_bits(w as u16);
    bf16, 16: |v| u64::from(v.to_bits()), |w| bf16::from_bits(w as u16);
    f32, 32: |v| u64::from(v.to_bits()), |w| f32::from_bits(w as u32);
    f64, 64: |v| v.to_bits(), |w| f64::from_bits(w);
}

/// As [`with_element!`](crate::with_element!), for the dtypes whose elements are [words](Word).
#[macro_export]
macro_rules! with_word {
    ($dtype:expr, $T:ident => $body:expr, else => $other:expr $(,)?) => {
        $crate::with_element!(
            $dtype, $T in [F16 BF16 F32 F64 I8 I16 I32 I64 U8 U16 U32 U64 Bool] => $body, else => $other
        )
    };
}

impl DType {
    /// Whether elements of this dtype are [words](Word).
    pub fn is_word(self) -> bool {
        with_word!(self, T => T::WIDTH > 0, else => false)
    }
}

impl Tensor {
    /// Writes the words of the elements to `out`. Returns false if the dtype has no words or the numbers of
    /// elements differ.
    pub fn write_words(&self, out: &mut [u64]) -> bool {
        if self.elements() != out.len() {
            return false;
        }
        with_word!(self.dtype(), T => {
            let Ok(from) = self.as_slice::<T>() else { return false };
            out.iter_mut().zip(from).for_each(|(to, from)| *to = from.word());
            true
        }, else => false)
    }

    /// A tensor of elements given as words.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` if the dtype has no words or the number of words is not that of the shape.
    pub fn of_words(dtype: DType, shape: impl Into<crate::Shape>, words: &[u64]) -> Result<Tensor> {
        let shape = shape.into();
        if shape.checked_elements()? != words.len() {
            return Err(invalid!("{} words do not make a tensor of shape {shape}", words.len()));
        }
        with_word!(dtype, T => {
            if let [word] = words && shape.rank() == 0 {
                return Ok(Tensor::scalar(T::of_word(*word)));
            }
            Tensor::from_iter(shape, words.iter().map(|word| T::of_word(*word)))
        }, else => Err(invalid!("elements of {dtype} are not words: only bools, integers and floats are")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_the_bits() {
        let tensors = [
            Tensor::vector(&[f32::NAN, -0.0, 1.5]).unwrap(),
            Tensor::vector(&[i8::MIN, -1, 7]).unwrap(),
            Tensor::vector(&[true, false]).unwrap(),
            Tensor::vector(&[f16::from_f32(-2.5)]).unwrap(),
            Tensor::scalar(u64::MAX),
        ];
        for t in tensors {
            let mut words = vec![0; t.elements()];
            assert!(t.write_words(&mut words));
            assert!(Tensor::of_words(t.dtype(), t.shape().clone(), &words).unwrap().bits_eq(&t), "{t}");
        }
        assert!(!Tensor::scalar(C64::default()).write_words(&mut [0]));
        assert!(!Tensor::scalar(1i32).write_words(&mut [0, 0]));
        assert!(Tensor::of_words(DType::Str, [1], &[0]).is_err());
        assert!(Tensor::of_words(DType::F32, [2], &[0]).is_err());
    }

    use crate::C64;
}
