//! Slicing as in `x[a:b:c, ..., new, i]`: the five masks of StridedSlice and similar ops, resolved against a
//! shape.
//!
//! [`Subscript`] is the index as the node holds it. [`Subscript::resolve`] computes the positions selected
//! along each axis of the input, and the axes of the output. Kernels (which know all numbers) and inference
//! (which may not) share these rules.

use super::axes::{Sizes, ints, product};
use millstream_graph::Attrs;
use millstream_graph::OpBuilder;
use millstream_graph::op::spec::{Int, Spec};
use millstream_graph::op::{GradCx, InferCx, Known, OpDef};
use millstream_tensor::{Dim, PartialShape, Result, Shape, Tensor, ensure, invalid};
use smallvec::SmallVec;

/// A number of an index, if it is known.
type Number = Option<i64>;

/// Adds the attributes of the masks.
pub(crate) fn masks(def: OpDef) -> OpDef {
    MASKS.into_iter().fold(def, |def, name| def.attr(name, Int.or(0i64)))
}

const MASKS: [&str; 5] = ["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"];

/// Copies the masks of the differentiated node to `op`, which has the same index.
pub(crate) fn masks_of<'g>(cx: &GradCx<'g, '_>, op: OpBuilder<'g>) -> Result<OpBuilder<'g>> {
    MASKS.into_iter().try_fold(op, |op, name| Ok(op.attr(name, cx.attrs().int(name)?)))
}

/// An index with a begin, an end and a stride for each entry. Bit `i` of a mask applies to entry `i`.
pub(crate) struct Subscript {
    pub begin: SmallVec<[Number; 4]>,
    pub end: SmallVec<[Number; 4]>,
    pub strides: SmallVec<[Number; 4]>,
    begin_mask: i64,
    end_mask: i64,
    ellipsis: i64,
    new_axis: i64,
    shrink: i64,
}

/// The selection along one axis of the input: `size` positions from `begin` in steps of `stride`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Picked {
    /// The first position. Meaningful only if the size is known and not 0. Of a single number that is not
    /// known yet it is [`Picked::UNKNOWN`].
    pub begin: i64,
    pub stride: i64,
    pub size: Dim,
    /// True if a single number indexes the axis, so that the output lacks it.
    pub shrunk: bool,
    /// True if the whole axis is selected, in order.
    pub whole: bool,
}

impl Picked {
    /// No position.
    const UNKNOWN: i64 = -1;
}

/// An index resolved against a shape.
pub(crate) struct Selection {
    /// The selection along each axis of the input.
    pub axes: SmallVec<[Picked; 4]>,
    /// For each axis of the output, the axis of the input that it comes from, or `None` for a new axis of
    /// size 1.
    pub out: SmallVec<[Option<usize>; 4]>,
}

/// One entry of an index.
struct Entry {
    begin: Number,
    end: Number,
    stride: Number,
    from_start: bool,
    to_end: bool,
    shrink: bool,
}

/// The limit on entries: TensorFlow holds the masks in 32 bits and refuses longer indices.
pub(crate) const MAX_ENTRIES: usize = 32;

fn bit(mask: i64, i: usize) -> bool {
    i < MAX_ENTRIES && (mask >> i) & 1 == 1
}

/// Returns TensorFlow's message for begins, ends and strides of different lengths.
fn different_lengths([begin, end, strides]: [usize; 3]) -> String {
    let begins = PartialShape::from([begin]);
    begins.difference(&[if begin == end { strides } else { end }].into())
}

impl Subscript {
    /// Makes an index of numbers, some of which may be unknown.
    pub(crate) fn new(
        attrs: &Attrs,
        begin: SmallVec<[Number; 4]>,
        end: SmallVec<[Number; 4]>,
        strides: SmallVec<[Number; 4]>,
    ) -> Result<Subscript> {
        ensure!(
            begin.len() == end.len() && begin.len() == strides.len(),
            "{}",
            different_lengths([begin.len(), end.len(), strides.len()]);
            "`begin` has {} entries, `end` {} and `strides` {}: they must have equally many",
            begin.len(),
            end.len(),
            strides.len()
        );
        ensure!(
            begin.len() < MAX_ENTRIES,
            "`begin` has {} entries; at most {} are possible",
            begin.len(),
            MAX_ENTRIES - 1
        );
        Ok(Subscript {
            begin,
            end,
            strides,
            begin_mask: attrs.int("begin_mask")?,
            end_mask: attrs.int("end_mask")?,
            ellipsis: attrs.int("ellipsis_mask")?,
            new_axis: attrs.int("new_axis_mask")?,
            shrink: attrs.int("shrink_axis_mask")?,
        })
    }

    /// Makes an index of a running kernel's input tensors.
    pub(crate) fn of(attrs: &Attrs, begin: &Tensor, end: &Tensor, strides: &Tensor) -> Result<Subscript> {
        let read = |what: &str, t: &Tensor| -> Result<SmallVec<[Number; 4]>> {
            super::axes::vector(what, t)?;
            Ok(ints(t)?.into_iter().map(Some).collect())
        };
        if begin.rank() != 1 || begin.shape() != end.shape() || begin.shape() != strides.shape() {
            return Err(invalid!(
                "Expected begin, end, and strides to be 1D equal size tensors, but got shapes {}, {}, and {} instead.",
                begin.shape(), end.shape(), strides.shape();
                "`begin` has {} entries, `end` {} and `strides` {}: they must be vectors with equally many",
                begin.elements(), end.elements(), strides.elements()
            ));
        }
        Subscript::new(attrs, read("begin", begin)?, read("end", end)?, read("strides", strides)?)
    }

    /// Assigns entries to axes. Returns, for each axis of an input of this rank, its entry (`None` for the
    /// whole axis), and, for each axis of the output, the input axis it comes from (`None` for a new one).
    #[expect(clippy::type_complexity, reason = "two lists, used once")]
    fn spread(&self, rank: usize) -> Result<(SmallVec<[Option<Entry>; 4]>, SmallVec<[Option<usize>; 4]>)> {
        let n = self.begin.len();
        let is_ellipsis = |i| bit(self.ellipsis, i);
        ensure!(
            self.ellipsis == 0 || self.ellipsis as u64 & (self.ellipsis as u64 - 1) == 0,
            "Multiple ellipses in slice spec not allowed";
            "an index may have one ellipsis, not several"
        );
        // Without an ellipsis, one is implied after the last entry.
        let ellipsis = (0..n).find(|&i| is_ellipsis(i)).unwrap_or(n);
        let used = (0..n).filter(|&i| i != ellipsis && !bit(self.new_axis, i)).count();
        ensure!(
            used <= rank,
            "Index out of range using input dim {rank}; input has only {rank} dims";
            "the index has entries for {used} axes, but the input has rank {rank}"
        );
        let mut axes: SmallVec<[Option<Entry>; 4]> = SmallVec::with_capacity(rank);
        let mut out = SmallVec::new();
        for i in 0..=n {
            if i == ellipsis {
                for _ in 0..rank - used {
                    out.push(Some(axes.len()));
                    axes.push(None);
                }
            } else if i < n && bit(self.new_axis, i) {
                out.push(None);
            } else if i < n {
                let shrink = bit(self.shrink, i);
                if !shrink {
                    out.push(Some(axes.len()));
                }
                axes.push(Some(Entry {
                    begin: self.begin[i],
                    end: self.end[i],
                    stride: self.strides[i],
                    from_start: bit(self.begin_mask, i),
                    to_end: bit(self.end_mask, i),
                    shrink,
                }));
            }
        }
        Ok((axes, out))
    }

    /// Resolves the index for an input with these dimensions.
    pub(crate) fn resolve(&self, dims: impl ExactSizeIterator<Item = Dim>) -> Result<Selection> {
        let (entries, out) = self.spread(dims.len())?;
        let axes = entries
            .into_iter()
            .zip(dims)
            .enumerate()
            .map(|(axis, (entry, dim))| match entry {
                Some(entry) => entry.resolve(axis, dim),
                None => Ok(Picked { begin: 0, stride: 1, size: dim, shrunk: false, whole: true }),
            })
            .collect::<Result<_>>()?;
        Ok(Selection { axes, out })
    }
}

impl Entry {
    fn resolve(&self, axis: usize, dim: Dim) -> Result<Picked> {
        ensure!(self.stride != Some(0), "strides[{axis}] must be non-zero"; "the stride of axis {axis} is 0: it must step");
        if self.shrink {
            return self.at(axis, dim);
        }
        let unknown = Picked { begin: 0, stride: 1, size: None, shrunk: false, whole: false };
        let (Some(dim), Some(stride)) = (dim, self.stride) else { return Ok(unknown) };
        let len = dim as i64;
        // The valid positions, the exclusive end included: 0..=len forwards, -1..=len-1 backwards.
        let (low, high) = if stride > 0 { (0, len) } else { (-1, len - 1) };
        let clamp = |v: i64| (if v < 0 { v + len } else { v }).clamp(low, high);
        let (first, last) = if stride > 0 { (low, high) } else { (high, low) };
        let begin = if self.from_start { Some(first) } else { self.begin.map(clamp) };
        let end = if self.to_end { Some(last) } else { self.end.map(clamp) };
        let (Some(begin), Some(end)) = (begin, end) else { return Ok(unknown) };
        let way = end - begin;
        let size = if way == 0 || (way < 0) != (stride < 0) {
            0
        } else {
            way.unsigned_abs().div_ceil(stride.unsigned_abs()) as usize
        };
        Ok(Picked { begin, stride, size: Some(size), shrunk: false, whole: stride == 1 && size == dim })
    }

    /// Selects a single position of an axis.
    fn at(&self, axis: usize, dim: Dim) -> Result<Picked> {
        if let Some(stride) = self.stride {
            ensure!(
                stride > 0,
                "only stride 1 allowed on non-range indexing.";
                "axis {axis} is indexed by a single number with stride {stride}: the stride must be 1"
            );
        }
        let begin = match (self.begin, dim) {
            (Some(begin), Some(dim)) => {
                let len = dim as i64;
                let place = if begin < 0 { begin + len } else { begin };
                if !(0..len).contains(&place) {
                    return Err(
                        invalid!("slice index {place} of dimension {axis} out of bounds."; "index {begin} is out of bounds for axis {axis} of size {dim}"),
                    );
                }
                place
            }
            _ => Picked::UNKNOWN,
        };
        Ok(Picked { begin, stride: 1, size: Some(1), shrunk: true, whole: false })
    }
}

/// A selection as strided memory, for the kernels.
pub(crate) struct Strides {
    /// The selected size along each axis of the input.
    pub shape: Shape,
    pub offset: isize,
    pub strides: SmallVec<[isize; 4]>,
}

impl Selection {
    /// Returns the shape of the output, as far as it is known.
    pub(crate) fn shape(&self) -> PartialShape {
        PartialShape::new(self.out.iter().map(|o| match o {
            Some(axis) => self.axes[*axis].size,
            None => Some(1),
        }))
    }

    /// Returns the shape of the output, or an error if it is not fully known.
    pub(crate) fn full_shape(&self) -> Result<Shape> {
        let sizes: Option<Sizes> =
            self.out.iter().map(|o| o.map_or(Some(1), |axis| self.axes[axis].size)).collect();
        sizes.map(Shape::new).ok_or_else(|| invalid!("the index is not known"))
    }

    /// Returns the layout of the selected elements in an input of this shape, or `None` if there are none.
    pub(crate) fn strides(&self, input: &Shape) -> Option<Strides> {
        let sizes: Sizes = self.axes.iter().map(|p| p.size.unwrap_or(0)).collect();
        if product(&sizes) == 0 {
            return None;
        }
        let mut offset = 0isize;
        let strides = self.axes.iter().zip(input.strides()).map(|(p, step)| {
            // All positions are inside the input, so the products do not overflow. The stride of a single
            // position is never used.
            offset += p.begin as isize * step as isize;
            if p.size == Some(1) { 0 } else { p.stride as isize * step as isize }
        });
        let strides = strides.collect();
        Some(Strides { shape: Shape::new(sizes), offset, strides })
    }
}

/// Returns the index in inputs `i`, `i + 1` and `i + 2`, as far as it is known, or `None` if not even its
/// length is.
pub(crate) fn inferred(cx: &InferCx, i: usize) -> Result<Option<Subscript>> {
    let shape = [i + 1, i + 2].into_iter().try_fold(cx.with_rank(i, 1)?, |shape, j| {
        let other = cx.with_rank(j, 1)?;
        shape.merge(&other).ok_or_else(|| {
            invalid!("`{}` has shape {shape} but `{}` has {other}", cx.name_of(i), cx.name_of(j))
                .led_by(shape.difference(&other))
        })
    })?;
    let Some(n) = shape.dim(0).or_else(|| known_len(cx, i)) else { return Ok(None) };
    let read = |j: usize| -> SmallVec<[Option<i64>; 4]> {
        let unknown = || SmallVec::from_elem(None, n.min(MAX_ENTRIES));
        cx.known(j).and_then(Known::entries).unwrap_or_else(unknown)
    };
    Subscript::new(cx.attrs(), read(i), read(i + 1), read(i + 2)).map(Some)
}

fn known_len(cx: &InferCx, i: usize) -> Option<usize> {
    (i..i + 3).find_map(|j| cx.known(j).and_then(Known::entries)).map(|e| e.len())
}
