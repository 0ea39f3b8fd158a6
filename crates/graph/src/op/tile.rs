//! [`Tile`]: the elements that steps of [expressions](super::Expression) compute with at a time.

use millstream_tensor::{DType, Element, Spread, Tensor, Word};

/// Computes a step for each element. An operand has as many elements as the result, or one for all. Returns
/// false if a dtype or a length is not what the step expects.
pub type TileFn = fn(TileMut<'_>, &[TileRef<'_>]) -> bool;

/// As [`TileFn`], of one or two operands of the result's type. An operand that is `None` is what the result's
/// place holds.
pub type SliceFn<T> = fn(&mut [T], Option<&[T]>, Option<&[T]>) -> bool;

/// The functions of a step for many elements.
#[derive(Clone, Copy, Debug)]
pub struct TileFns {
    /// The function for all tiles.
    pub any: TileFn,
    /// The same for slices of `f32`, where operands and result are that.
    pub floats: Option<SliceFn<f32>>,
}

impl TileFns {
    /// Of a step that has no function for slices.
    pub const fn of(any: TileFn) -> TileFns {
        TileFns { any, floats: None }
    }

    /// Of a step that computes by a function for slices.
    pub fn of_slices<T: TileElement>(any: TileFn, slices: SliceFn<T>) -> TileFns {
        let slices: &dyn std::any::Any = &slices;
        TileFns { any, floats: slices.downcast_ref::<SliceFn<f32>>().copied() }
    }
}

macro_rules! tiles {
    ($($name:ident: $t:ty),*) => {
        /// Elements that are computed.
        #[derive(Clone, Debug)]
        pub enum Tile { $(#[doc = concat!("Of `", stringify!($t), "`.")] $name(Vec<$t>)),* }

        /// Elements to read.
        #[derive(Clone, Copy, Debug)]
        pub enum TileRef<'a> {
            $(#[doc = concat!("Of `", stringify!($t), "`.")] $name(&'a [$t]),)*
            /// Those that the result's place holds: the step works in place.
            Result,
        }

        /// Elements to write.
        #[derive(Debug)]
        pub enum TileMut<'a> { $(#[doc = concat!("Of `", stringify!($t), "`.")] $name(&'a mut [$t])),* }

        $(impl TileElement for $t {
            fn tile(n: usize) -> Tile {
                Tile::$name(vec![<$t>::default(); n])
            }
            #[inline]
            fn read<'a>(tile: TileRef<'a>) -> Option<&'a [$t]> {
                match tile { TileRef::$name(slice) => Some(slice), _ => None }
            }
            #[inline]
            fn write<'a>(tile: TileMut<'a>) -> Option<&'a mut [$t]> {
                match tile { TileMut::$name(slice) => Some(slice), _ => None }
            }
        })*

        impl Tile {
            /// Room for `n` elements; `None` if tiles cannot hold this dtype.
            pub fn new(dtype: DType, n: usize) -> Option<Tile> {
                $(if dtype == <$t as Element>::DTYPE { return Some(<$t>::tile(n)); })*
                None
            }

            /// Makes it one of at least `n` elements of this dtype. What it holds is lost.
            #[inline]
            pub fn suit(&mut self, dtype: DType, n: usize) {
                match self {
                    $(Tile::$name(v) if dtype == <$t as Element>::DTYPE => {
                        if v.len() < n {
                            v.resize(n, <$t>::default());
                        }
                    })*
                    _ => *self = Tile::new(dtype, n).unwrap_or_default(),
                }
            }

            /// The first `n` elements.
            #[inline]
            pub fn get(&self, n: usize) -> TileRef<'_> {
                match self { $(Tile::$name(v) => TileRef::$name(v.get(..n).unwrap_or(&[]))),* }
            }

            /// The first `n` elements, to be written.
            #[inline]
            pub fn get_mut(&mut self, n: usize) -> TileMut<'_> {
                match self { $(Tile::$name(v) => TileMut::$name(v.get_mut(..n).unwrap_or(&mut []))),* }
            }

        }

        impl<'a> TileRef<'a> {
            /// All elements of a tensor; `None` if tiles cannot hold its dtype.
            #[inline]
            pub fn of(tensor: &'a Tensor) -> Option<TileRef<'a>> {
                $(if tensor.dtype() == <$t as Element>::DTYPE {
                    return tensor.as_slice::<$t>().ok().map(TileRef::$name);
                })*
                None
            }

            /// The `n` elements that start at `at`; an empty slice if they reach past the end.
            #[inline]
            pub fn part(self, at: usize, n: usize) -> TileRef<'a> {
                match self {
                    $(TileRef::$name(v) => TileRef::$name(v.get(at..at + n).unwrap_or(&[])),)*
                    TileRef::Result => TileRef::Result,
                }
            }

            /// The dtype of the elements; `None` of [`TileRef::Result`].
            #[inline]
            pub fn dtype(self) -> Option<DType> {
                match self {
                    $(TileRef::$name(_) => Some(<$t as Element>::DTYPE),)*
                    TileRef::Result => None,
                }
            }
        }

        impl<'a> TileMut<'a> {
            /// All elements of a tensor; `None` if it is shared or tiles cannot hold its dtype.
            #[inline]
            pub fn of(tensor: &'a mut Tensor) -> Option<TileMut<'a>> {
                $(if tensor.dtype() == <$t as Element>::DTYPE {
                    return tensor.make_mut::<$t>().map(TileMut::$name);
                })*
                None
            }

            /// The `n` elements that start at `at`; an empty slice if they reach past the end.
            #[inline]
            pub fn part(&mut self, at: usize, n: usize) -> TileMut<'_> {
                match self {
                    $(TileMut::$name(v) => TileMut::$name(v.get_mut(at..at + n).unwrap_or(&mut []))),*
                }
            }

            /// The same elements, to be read.
            #[inline]
            pub fn as_ref(&self) -> TileRef<'_> {
                match self { $(TileMut::$name(v) => TileRef::$name(v)),* }
            }

            /// Sets all elements to one.
            #[inline]
            pub fn fill(self, word: u64) {
                match self { $(TileMut::$name(v) => v.fill(<$t>::of_word(word))),* }
            }

            /// Copies elements of the same dtype and number, or one to all. Returns false if they are not.
            #[inline]
            pub fn copy(self, from: TileRef<'_>) -> bool {
                match (self, from) {
                    (_, TileRef::Result) => true,
                    $((TileMut::$name(to), TileRef::$name(&[one])) => {
                        to.fill(one);
                        true
                    })*
                    $((TileMut::$name(to), TileRef::$name(from)) if to.len() == from.len() => {
                        to.copy_from_slice(from);
                        true
                    })*
                    _ => false,
                }
            }

            /// Copies what the output's elements from `at` on read of an operand that is repeated along some
            /// axes. Returns false if the dtypes differ.
            pub fn copy_spread(self, from: TileRef<'_>, spread: &Spread, at: usize) -> bool {
                match (self, from) {
                    $((TileMut::$name(to), TileRef::$name(from)) => {
                        spread.copy(from, at, to);
                        true
                    })*
                    _ => false,
                }
            }
        }
    };
}
tiles!(F32: f32, F64: f64, I32: i32, I64: i64, Bool: bool);

impl Default for Tile {
    fn default() -> Tile {
        Tile::Bool(Vec::new())
    }
}

/// A type whose elements tiles hold.
pub trait TileElement: Word {
    /// Room for `n` elements.
    fn tile(n: usize) -> Tile;
    /// The elements, if they are of this type.
    fn read(tile: TileRef<'_>) -> Option<&[Self]>;
    /// The elements to be written, if they are of this type.
    fn write(tile: TileMut<'_>) -> Option<&mut [Self]>;
}
