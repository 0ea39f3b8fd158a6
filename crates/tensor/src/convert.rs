//! Conversion of Rust values to tensors and back: [`IntoTensor`] and [`FromTensor`].
//!
//! A [`Datum`] is the Rust type of one element: plain data or text. Elements may come as a single value, a
//! slice, a vector, an array up to three deep, or an `ndarray` of any dimension (with the feature `arrays`).
//! Conversion never changes the dtype.

use crate::{Element, Result, Shape, Str, Tensor, ensure, invalid};

/// A Rust type that converts to one element of a tensor: an [`Element`], `&str`, `String` or [`Str`].
pub trait Datum: Clone {
    /// A tensor of these elements.
    fn tensor(shape: Shape, values: &[Self]) -> Result<Tensor>;
}

/// A Rust type that one element of a tensor converts to: an [`Element`], `String` (if it is UTF-8) or
/// [`Str`].
pub trait OwnedDatum: Datum {
    /// The elements in row-major order; an error if they are of another dtype.
    fn values(tensor: &Tensor) -> Result<Vec<Self>>;
}

/// A value that can be fed as a tensor.
pub trait IntoTensor {
    /// Converts the value to a tensor; an error if it is not rectangular or memory runs out.
    fn into_tensor(self) -> Result<Tensor>;
}

/// A type that a fetched tensor converts to.
pub trait FromTensor: Sized {
    /// Converts the tensor; an error if its dtype or rank does not fit.
    fn from_tensor(tensor: Tensor) -> Result<Self>;
}

impl<T: Element> Datum for T {
    fn tensor(shape: Shape, values: &[T]) -> Result<Tensor> {
        Tensor::from_slice(shape, values)
    }
}

impl<T: Element> OwnedDatum for T {
    fn values(tensor: &Tensor) -> Result<Vec<T>> {
        tensor.as_slice().map(<[T]>::to_vec)
    }
}

macro_rules! text {
    ($($t:ty),*) => { $(
        impl Datum for $t {
            fn tensor(shape: Shape, values: &[Self]) -> Result<Tensor> {
                Tensor::strings(shape, values.iter().map(|s| Str::from(s.clone())).collect())
            }
        }
    )* };
}
text!(&str, String, Str);

impl OwnedDatum for Str {
    fn values(tensor: &Tensor) -> Result<Vec<Str>> {
        let strs = tensor.as_strs();
        strs.map(<[Str]>::to_vec)
            .ok_or_else(|| invalid!("expected a tensor of str, got {}{}", tensor.dtype(), tensor.shape()))
    }
}

impl OwnedDatum for String {
    fn values(tensor: &Tensor) -> Result<Vec<String>> {
        let text = |s: Str| {
            String::from_utf8(s.to_vec()).map_err(|_| {
                invalid!("{s:?} is not UTF-8").with_help("fetch it as `Str`, which holds any bytes")
            })
        };
        Str::values(tensor)?.into_iter().map(text).collect()
    }
}

impl<D: Datum> IntoTensor for D {
    fn into_tensor(self) -> Result<Tensor> {
        D::tensor(Shape::scalar(), std::slice::from_ref(&self))
    }
}

impl IntoTensor for Tensor {
    fn into_tensor(self) -> Result<Tensor> {
        Ok(self)
    }
}

impl IntoTensor for &Tensor {
    fn into_tensor(self) -> Result<Tensor> {
        Ok(self.clone())
    }
}

impl<D: Datum> IntoTensor for &[D] {
    fn into_tensor(self) -> Result<Tensor> {
        D::tensor([self.len()].into(), self)
    }
}

impl<D: Datum> IntoTensor for Vec<D> {
    fn into_tensor(self) -> Result<Tensor> {
        self.as_slice().into_tensor()
    }
}

impl<D: Datum> IntoTensor for &Vec<D> {
    fn into_tensor(self) -> Result<Tensor> {
        self.as_slice().into_tensor()
    }
}

impl<D: Datum> IntoTensor for Vec<Vec<D>> {
    fn into_tensor(self) -> Result<Tensor> {
        let cols = self.first().map_or(0, Vec::len);
        if let Some((i, row)) = self.iter().enumerate().find(|(_, row)| row.len() != cols) {
            return Err(invalid!("row 0 has {cols} elements but row {i} has {}", row.len()));
        }
        D::tensor([self.len(), cols].into(), &self.concat())
    }
}

impl<D: Datum, const A: usize> IntoTensor for [D; A] {
    fn into_tensor(self) -> Result<Tensor> {
        D::tensor([A].into(), &self)
    }
}

impl<D: Datum, const A: usize> IntoTensor for &[D; A] {
    fn into_tensor(self) -> Result<Tensor> {
        D::tensor([A].into(), self)
    }
}

impl<D: Datum, const A: usize, const B: usize> IntoTensor for [[D; B]; A] {
    fn into_tensor(self) -> Result<Tensor> {
        D::tensor([A, B].into(), self.as_flattened())
    }
}

impl<D: Datum, const A: usize, const B: usize, const C: usize> IntoTensor for [[[D; C]; B]; A] {
    fn into_tensor(self) -> Result<Tensor> {
        D::tensor([A, B, C].into(), self.as_flattened().as_flattened())
    }
}

impl FromTensor for Tensor {
    fn from_tensor(tensor: Tensor) -> Result<Tensor> {
        Ok(tensor)
    }
}

impl<D: OwnedDatum> FromTensor for D {
    fn from_tensor(tensor: Tensor) -> Result<D> {
        expect_rank(&tensor, 0)?;
        D::values(&tensor)?.pop().ok_or_else(|| crate::Error::internal("a scalar without its element"))
    }
}

impl<D: OwnedDatum> FromTensor for Vec<D> {
    fn from_tensor(tensor: Tensor) -> Result<Vec<D>> {
        expect_rank(&tensor, 1)?;
        D::values(&tensor)
    }
}

impl<D: OwnedDatum> FromTensor for Vec<Vec<D>> {
    fn from_tensor(tensor: Tensor) -> Result<Vec<Vec<D>>> {
        expect_rank(&tensor, 2)?;
        let (rows, cols) = (tensor.shape()[0], tensor.shape()[1]);
        let values = D::values(&tensor)?;
        Ok(match cols {
            0 => vec![Vec::new(); rows],
            _ => values.chunks_exact(cols).map(<[D]>::to_vec).collect(),
        })
    }
}

impl<D: OwnedDatum, const A: usize> FromTensor for [D; A] {
    fn from_tensor(tensor: Tensor) -> Result<[D; A]> {
        expect_rank(&tensor, 1)?;
        let values = D::values(&tensor)?;
        values
            .try_into()
            .map_err(|_| invalid!("expected {A} elements, got {}{}", tensor.dtype(), tensor.shape()))
    }
}

fn expect_rank(tensor: &Tensor, rank: usize) -> Result<()> {
    let what = match rank {
        0 => "a scalar",
        1 => "a vector",
        2 => "a matrix",
        _ => "another rank",
    };
    ensure!(
        tensor.rank() == rank,
        "expected {what} (rank {rank}), got {}{} of rank {}",
        tensor.dtype(),
        tensor.shape(),
        tensor.rank()
    );
    Ok(())
}

#[cfg(feature = "arrays")]
mod arrays {
    use super::*;
    use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};

    impl<D: Datum, S: Data<Elem = D>, N: Dimension> IntoTensor for &ArrayBase<S, N> {
        fn into_tensor(self) -> Result<Tensor> {
            let shape = Shape::from(self.shape());
            match self.as_slice() {
                Some(values) => D::tensor(shape, values),
                None => D::tensor(shape, &self.iter().cloned().collect::<Vec<_>>()),
            }
        }
    }

    impl<D: Datum, S: Data<Elem = D>, N: Dimension> IntoTensor for ArrayBase<S, N> {
        fn into_tensor(self) -> Result<Tensor> {
            (&self).into_tensor()
        }
    }

    impl<D: OwnedDatum, N: Dimension> FromTensor for ndarray::Array<D, N> {
        fn from_tensor(tensor: Tensor) -> Result<Self> {
            if let Some(rank) = N::NDIM {
                expect_rank(&tensor, rank)?;
            }
            let shape = IxDyn(tensor.shape());
            ArrayD::from_shape_vec(shape, D::values(&tensor)?)
                .and_then(|a| a.into_dimensionality())
                .map_err(|e| invalid!("{}{} does not fit an ndarray: {e}", tensor.dtype(), tensor.shape()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{C64, QInt8, bf16};
    use ndarray::{Array1, Array2, ArrayD, array, s};

    /// Checks that the value converts to the tensor that prints as `text`, and back to itself.
    #[track_caller]
    fn check<V: IntoTensor + FromTensor + Clone + PartialEq + std::fmt::Debug>(value: V, text: &str) {
        let t = value.clone().into_tensor().unwrap();
        assert_eq!(t.to_string(), text);
        assert_eq!(V::from_tensor(t).unwrap(), value);
    }

    #[track_caller]
    fn into(value: impl IntoTensor, text: &str) {
        assert_eq!(value.into_tensor().unwrap().to_string(), text);
    }

    #[test]
    fn both_ways() {
        check(1.5f32, "f32 1.5");
        check(true, "bool true");
        check(C64::new(1.0, -1.0), "c64 1-1i");
        check(bf16::ONE, "bf16 1");
        check(QInt8(3), "qi8 3");
        check(String::from("a"), "str \"a\"");
        check(Str::from(vec![255u8]), "str \"\\xff\"");
        check(vec![1i64, 2], "i64[2] [1 2]");
        check(Vec::<u8>::new(), "u8[0] []");
        check(vec![String::from("a"), String::new()], "str[2] [\"a\" \"\"]");
        check(vec![vec![1i32, 2], vec![3, 4]], "i32[2,2] [[1 2] [3 4]]");
        check(vec![Vec::<i32>::new(); 2], "i32[2,0] []");
        check([1u8, 2], "u8[2] [1 2]");
        check(array![[1.0f64, 2.0]], "f64[1,2] [[1 2]]");
        check(Array1::from_vec(vec![1i8]), "i8[1] [1]");
        check(ArrayD::from_elem(vec![1, 1, 2], 3u16), "u16[1,1,2] [[[3 3]]]");
        check(ArrayD::from_elem(vec![], 3u16), "u16 3");
    }

    #[test]
    fn one_way() {
        into("a", "str \"a\"");
        into(vec!["a", "b"], "str[2] [\"a\" \"b\"]");
        into(["a", "b"], "str[2] [\"a\" \"b\"]");
        into([["a"], ["b"]], "str[2,1] [[\"a\"] [\"b\"]]");
        into([[1, 2, 3], [4, 5, 6]], "i32[2,3] [[1 2 3] [4 5 6]]");
        into([[[1], [2]]], "i32[1,2,1] [[[1] [2]]]");
        let (array, vec, scalar) = (&[1, 2], vec![1, 2], Tensor::scalar(2u8));
        into(array, "i32[2] [1 2]");
        into(&[1, 2][..], "i32[2] [1 2]");
        into(&vec, "i32[2] [1 2]");
        into(&scalar, "u8 2");
        let a = array![[1, 2, 3], [4, 5, 6]];
        into(&a, "i32[2,3] [[1 2 3] [4 5 6]]");
        into(a.t(), "i32[3,2] [[1 4] [2 5] [3 6]]");
        into(a.slice(s![.., ..;-2]), "i32[2,2] [[3 1] [6 4]]");
        into(a.view().into_dyn(), "i32[2,3] [[1 2 3] [4 5 6]]");
    }

    #[track_caller]
    fn refused<V: FromTensor>(value: impl IntoTensor, words: &str) {
        match value.into_tensor().and_then(V::from_tensor) {
            Ok(_) => panic!("expected: {words}"),
            Err(e) => assert_eq!(e.message(), words),
        }
    }

    #[test]
    fn refusals() {
        refused::<f32>(1i32, "expected a tensor of f32, got i32[]");
        refused::<f32>([1f32], "expected a scalar (rank 0), got f32[1] of rank 1");
        refused::<Vec<f32>>(1f32, "expected a vector (rank 1), got f32[] of rank 0");
        refused::<String>(1f32, "expected a tensor of str, got f32[]");
        refused::<String>(Str::from(vec![0xff]), "\"\\xff\" is not UTF-8");
        refused::<[i32; 2]>([1], "expected 2 elements, got i32[1]");
        refused::<Array2<i32>>([1], "expected a matrix (rank 2), got i32[1] of rank 1");
        refused::<Tensor>(vec![vec![1], vec![]], "row 0 has 1 elements but row 1 has 0");
    }
}
