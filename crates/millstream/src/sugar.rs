//! [`Functions`] and [`Methods`]: what TensorFlow's Python functions do on top of the ops, with the node names they give.

use crate::axes::Axes;
use crate::options::{Options, Start};
use crate::value::Value;
use millstream_graph::{Arg, Graph, Op, Output};
use millstream_tensor::{DType, Element, PartialShape, Shape, Tensor};
use std::ops::Range;
use std::panic::Location;

/// The graph-level seed where only an op has one.
pub const DEFAULT_GRAPH_SEED: i64 = 87_654_321;

/// Functions of a graph that take more than one op, or choose between ops.
pub trait Functions<'g>: Start<'g> {
    /// A value to be fed, of dtype `T`; its feeds must fit `shape`.
    #[track_caller]
    fn placeholder<T: Element>(self, name: &str, shape: impl Into<PartialShape>) -> Output<'g> {
        self.start_as("Placeholder", name).attr("dtype", T::DTYPE).attr("shape", shape.into()).output()
    }

    /// Zeros.
    #[track_caller]
    fn zeros<T: Element>(self, shape: impl Into<Shape>) -> Output<'g> {
        filled(self.options(), "zeros", zero::<T>(), shape.into())
    }

    /// Ones.
    #[track_caller]
    fn ones<T: Element + From<bool>>(self, shape: impl Into<Shape>) -> Output<'g> {
        filled(self.options(), "ones", Tensor::scalar(T::from(true)), shape.into())
    }

    /// The values one after another along `axis`, which they have already.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.concat(0, [g.constant([1, 2]), g.constant([3])]);
    /// let x: Vec<i32> = Session::new(&g)?.run(x, feed![])?;
    /// assert_eq!(x, [1, 2, 3]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn concat(
        self,
        axis: impl Into<Arg<'g>>,
        values: impl IntoIterator<Item = impl Into<Arg<'g>>>,
    ) -> Output<'g> {
        let mut values: Vec<Arg<'g>> = values.into_iter().map(Into::into).collect();
        match values.len() {
            1 => self.start_as("Identity", "concat").inputs(values.pop()).output(),
            _ => self.start_as("ConcatV2", "concat").inputs(values).input(axis).output(),
        }
    }

    /// The values beside each other along a new axis.
    #[track_caller]
    fn stack(self, values: impl IntoIterator<Item = impl Into<Arg<'g>>>, axis: i64) -> Output<'g> {
        self.start_as("Pack", "stack").inputs(values).attr("axis", axis).output()
    }

    /// The numbers from `start` up to but without `limit`, `delta` apart.
    #[track_caller]
    fn range(
        self,
        start: impl Into<Arg<'g>>,
        limit: impl Into<Arg<'g>>,
        delta: impl Into<Arg<'g>>,
    ) -> Output<'g> {
        self.start_as("Range", "range").input(start).input(limit).input(delta).output()
    }

    /// Passes `x` on and shows `message` with the values of `data`, whenever it runs.
    #[track_caller]
    fn print(
        self,
        x: impl Into<Arg<'g>>,
        data: impl IntoIterator<Item = impl Into<Arg<'g>>>,
        message: &str,
    ) -> Output<'g> {
        self.start_as("Print", "Print").input(x).inputs(data).attr("message", message).output()
    }

    /// Fails when it runs while `condition` is false, showing the values of `data`. Make what depends on it run after it:
    /// `g.control_dependencies([checked], || ..)`.
    #[track_caller]
    fn assert_that(
        self,
        condition: impl Into<Arg<'g>>,
        data: impl IntoIterator<Item = impl Into<Arg<'g>>>,
    ) -> Op<'g> {
        self.start_as("Assert", "Assert").input(condition).inputs(data).finish()
    }

    /// An operation that is done when all of these are.
    #[track_caller]
    fn group(self, ops: impl IntoIterator<Item = impl Into<Op<'g>>>) -> Op<'g> {
        let node = self.start_as("NoOp", "group_deps");
        ops.into_iter().fold(node, |node, op| node.control(op)).finish()
    }

    /// Numbers spread evenly over `min <= x < max`: floats or integers, as `T` says.
    ///
    /// Without a `seed` of its own the op takes the graph's ([`Graph::set_seed`]) and how many nodes there are; without that one
    /// either, every session gives other numbers.
    #[track_caller]
    fn random_uniform<T: Element>(
        self,
        shape: impl Into<Value<'g>>,
        min: T,
        max: T,
        seed: Option<i64>,
    ) -> Output<'g> {
        uniform(self.options(), shape.into(), [Tensor::scalar(min), Tensor::scalar(max)], seed)
    }

    /// Numbers of the normal distribution. For seeds see [`Functions::random_uniform`].
    #[track_caller]
    fn random_normal<T: Element>(
        self,
        shape: impl Into<Value<'g>>,
        mean: T,
        stddev: T,
        seed: Option<i64>,
    ) -> Output<'g> {
        let numbers = [Tensor::scalar(mean), Tensor::scalar(stddev)];
        normal(self.options(), "random_normal", "RandomStandardNormal", shape.into(), numbers, seed)
    }

    /// Numbers of the normal distribution, none further than two standard deviations from the mean. For seeds see
    /// [`Functions::random_uniform`].
    #[track_caller]
    fn truncated_normal<T: Element>(
        self,
        shape: impl Into<Value<'g>>,
        mean: T,
        stddev: T,
        seed: Option<i64>,
    ) -> Output<'g> {
        let numbers = [Tensor::scalar(mean), Tensor::scalar(stddev)];
        normal(self.options(), "truncated_normal", "TruncatedNormal", shape.into(), numbers, seed)
    }

    /// The sum over some axes, or all: `g.with("keep_dims", true).reduce_sum(x, 0)`.
    #[track_caller]
    fn reduce_sum(self, x: Output<'g>, axes: impl Into<Axes<'g>>) -> Output<'g> {
        reduce(self.options(), "Sum", x, axes.into())
    }

    /// The mean over some axes, or all.
    #[track_caller]
    fn reduce_mean(self, x: Output<'g>, axes: impl Into<Axes<'g>>) -> Output<'g> {
        reduce(self.options(), "Mean", x, axes.into())
    }

    /// The product over some axes, or all.
    #[track_caller]
    fn reduce_prod(self, x: Output<'g>, axes: impl Into<Axes<'g>>) -> Output<'g> {
        reduce(self.options(), "Prod", x, axes.into())
    }

    /// The largest over some axes, or all.
    #[track_caller]
    fn reduce_max(self, x: Output<'g>, axes: impl Into<Axes<'g>>) -> Output<'g> {
        reduce(self.options(), "Max", x, axes.into())
    }

    /// The smallest over some axes, or all.
    #[track_caller]
    fn reduce_min(self, x: Output<'g>, axes: impl Into<Axes<'g>>) -> Output<'g> {
        reduce(self.options(), "Min", x, axes.into())
    }

    /// Whether all hold, over some axes, or all.
    #[track_caller]
    fn reduce_all(self, x: Output<'g>, axes: impl Into<Axes<'g>>) -> Output<'g> {
        reduce(self.options(), "All", x, axes.into())
    }

    /// Whether any holds, over some axes, or all.
    #[track_caller]
    fn reduce_any(self, x: Output<'g>, axes: impl Into<Axes<'g>>) -> Output<'g> {
        reduce(self.options(), "Any", x, axes.into())
    }

    /// The matrix product; of stacks of matrices, each with its own. `g.with("transpose_b", true)` transposes one of two matrices.
    #[track_caller]
    fn matmul(self, a: Output<'g>, b: Output<'g>) -> Output<'g> {
        let stacked = |x: Output<'g>| x.shape().rank().is_some_and(|rank| 2 < rank);
        let op = if stacked(a) || stacked(b) { "BatchMatMulV2" } else { "MatMul" };
        self.start_as(op, "MatMul").input(a).input(b).output()
    }

    /// The rows of `x` (its entries along `axis`) at these indices.
    #[track_caller]
    fn gather(self, x: Output<'g>, indices: impl Into<Arg<'g>>, axis: impl Into<Arg<'g>>) -> Output<'g> {
        self.start("GatherV2").input(x).input(indices).input(axis).output()
    }

    /// The axes in another order: `perm[i]` becomes axis `i`; with `()` the order is reversed.
    #[track_caller]
    fn transpose(self, x: Output<'g>, perm: impl Into<Axes<'g>>) -> Output<'g> {
        let options = self.options();
        let (g, at) = (options.graph(), Location::caller());
        let perm = match (perm.into(), x.shape().rank()) {
            (Axes::These(perm), _) => perm,
            (Axes::All, Some(rank)) => (0..rank as i32).rev().collect::<Vec<i32>>().into(),
            (Axes::All, None) => {
                let rank = g.op("Rank").at(at).input(x).output();
                let last = g.op("Sub").name("sub").at(at).input(rank).input(1).output();
                let all = g.op("Range").name("Range").at(at).input(0).input(rank).input(1).output();
                g.op("Sub").name("sub").at(at).input(last).input(all).output().into()
            }
        };
        options.start_as("Transpose", "transpose").input(x).input(perm).output()
    }

    /// `n` equal parts along `axis`.
    #[track_caller]
    fn split(self, x: Output<'g>, n: i64, axis: impl Into<Arg<'g>>) -> Vec<Output<'g>> {
        let parts = self.start_as("Split", "split").input(axis).input(x).attr("num_split", n).finish();
        (0..u32::try_from(n).unwrap_or(0)).map(|i| parts.output(i)).collect()
    }

    /// The entries along `axis`, whose length must be known.
    #[track_caller]
    fn unstack(self, x: Output<'g>, axis: i64) -> Vec<Output<'g>> {
        let options = self.options();
        let shape = x.shape();
        let rank = shape.rank().unwrap_or(0) as i64;
        let place = usize::try_from(if axis < 0 { axis + rank } else { axis }).ok();
        let n = place.and_then(|i| shape.dims()?.get(i).copied()).flatten();
        let node = options.start_as("Unpack", "unstack").input(x).attr("axis", axis);
        match n {
            Some(n) => node.attr("num", n).finish().outputs(),
            // Refused by the graph, which says that `num` is wanted.
            None => node.finish().outputs(),
        }
    }
}

impl<'g, S: Start<'g>> Functions<'g> for S {}

/// The same as methods of a value: `x.cast::<f64>()`, `x.reduce_sum(0)`.
pub trait Methods<'g>: Into<Output<'g>> {
    /// As another dtype; nothing is done where it is that already.
    #[track_caller]
    fn cast<T: Element>(self) -> Output<'g> {
        self.cast_to(T::DTYPE)
    }

    /// As another dtype that is known only when the program runs.
    #[track_caller]
    fn cast_to(self, dtype: DType) -> Output<'g> {
        let x = self.into();
        match x.dtype() {
            Ok(same) if same == dtype && !x.is_ref() => x,
            _ => x.graph().op("Cast").input(x).attr("DstT", dtype).output(),
        }
    }

    /// The matrix product, see [`Functions::matmul`].
    #[track_caller]
    fn matmul(self, other: Output<'g>) -> Output<'g> {
        let x = self.into();
        x.graph().matmul(x, other)
    }

    /// The sum over some axes, or all (`()`).
    #[track_caller]
    fn reduce_sum(self, axes: impl Into<Axes<'g>>) -> Output<'g> {
        let x = self.into();
        x.graph().reduce_sum(x, axes)
    }

    /// The mean over some axes, or all (`()`).
    #[track_caller]
    fn reduce_mean(self, axes: impl Into<Axes<'g>>) -> Output<'g> {
        let x = self.into();
        x.graph().reduce_mean(x, axes)
    }

    /// The largest over some axes, or all (`()`).
    #[track_caller]
    fn reduce_max(self, axes: impl Into<Axes<'g>>) -> Output<'g> {
        let x = self.into();
        x.graph().reduce_max(x, axes)
    }

    /// The smallest over some axes, or all (`()`).
    #[track_caller]
    fn reduce_min(self, axes: impl Into<Axes<'g>>) -> Output<'g> {
        let x = self.into();
        x.graph().reduce_min(x, axes)
    }

    /// The rows at these indices.
    #[track_caller]
    fn gather(self, indices: impl Into<Arg<'g>>) -> Output<'g> {
        let x = self.into();
        x.graph().gather(x, indices, 0)
    }

    /// The axes in another order, see [`Functions::transpose`].
    #[track_caller]
    fn transpose(self, perm: impl Into<Axes<'g>>) -> Output<'g> {
        let x = self.into();
        x.graph().transpose(x, perm)
    }

    /// Entry `index` along the first axis, which goes away; counted from the end where negative.
    #[track_caller]
    fn index(self, index: i32) -> Output<'g> {
        // Behind the last entry there is no index 0: it is taken to the end.
        let to_end = i64::from(index == -1);
        strided(self.into(), [vec![index], vec![index.wrapping_add(1)], vec![1]], 0, to_end, 1)
    }

    /// The entries `range.start <= i < range.end` along an axis.
    #[track_caller]
    fn slice_axis(self, axis: usize, range: Range<i32>) -> Output<'g> {
        let at = |last: i32, fill: i32| -> Vec<i32> {
            (0..=axis).map(|i| if i == axis { last } else { fill }).collect()
        };
        // The axes before are taken whole.
        let whole = 1i64.checked_shl(axis as u32).map_or(0, |bit| bit - 1);
        strided(self.into(), [at(range.start, 0), at(range.end, 0), at(1, 1)], whole, whole, 0)
    }
}

impl<'g> Methods<'g> for Output<'g> {}

/// A small constant, or `Fill` where writing all elements down would make the graph large.
#[track_caller]
pub(crate) fn filled<'g>(options: Options<'g>, name: &str, one: Tensor, shape: Shape) -> Output<'g> {
    const LARGE: usize = 1000;
    let (g, at, dtype) = (options.graph(), Location::caller(), one.dtype());
    if shape.elements() < LARGE {
        let node = options.start_as("Const", name).attr("dtype", dtype);
        return match one.broadcast_to(shape) {
            Ok(value) => node.attr("value", value).output(),
            // Too few bytes left for a thousand elements: the missing value is the graph's error.
            Err(_) => node.output(),
        };
    }
    g.name_scope(&options.name_or(name), || {
        let dims: Vec<i64> = shape.to_signed().to_vec();
        let small: Option<Vec<i32>> = dims.iter().map(|&d| i32::try_from(d).ok()).collect();
        let dims = small.map_or(Value::from(dims), Value::from).place(g, "shape_as_tensor", at);
        let one = Value::from(one).place(g, "Const", at);
        g.op("Fill").name(g.scope()).at(at).input(dims).input(one).output()
    })
}

/// The zero of a dtype.
fn zero<T: Element>() -> Tensor {
    Tensor::scalar(T::default())
}

/// A strided slice whose bounds are constants, named as TensorFlow names them.
#[track_caller]
fn strided<'g>(
    x: Output<'g>,
    bounds: [Vec<i32>; 3],
    begin_mask: i64,
    end_mask: i64,
    shrink: i64,
) -> Output<'g> {
    let (g, at) = (x.graph(), Location::caller());
    g.name_scope("strided_slice", || {
        let bounds = bounds.map(|bound| Value::from(bound).place(g, "stack", at));
        let slice = g.op("StridedSlice").name(g.scope()).at(at).input(x).inputs(bounds);
        let slice = slice.attr("begin_mask", begin_mask).attr("end_mask", end_mask);
        slice.attr("shrink_axis_mask", shrink).output()
    })
}

/// Column `index` of a matrix.
#[track_caller]
pub(crate) fn column<'g>(x: Output<'g>, index: i32) -> Output<'g> {
    strided(x, [vec![0, index], vec![0, index.wrapping_add(1)], vec![1, 1]], 1, 1, 2)
}

/// Reduces over some axes; all of them are a constant where their number is known.
#[track_caller]
fn reduce<'g>(options: Options<'g>, op: &'static str, x: Output<'g>, axes: Axes<'g>) -> Output<'g> {
    let (g, at) = (options.graph(), Location::caller());
    let axes = match (axes, x.shape().rank()) {
        (Axes::These(axes), _) => axes,
        (Axes::All, Some(rank)) => g.constant((0..rank as i32).collect::<Vec<i32>>()).into(),
        (Axes::All, None) => {
            let rank = g.op("Rank").at(at).input(x).output();
            g.op("Range").name("range").at(at).input(0).input(rank).input(1).output().into()
        }
    };
    options.start(op).input(x).input(axes).output()
}

/// Numbers spread evenly between two, which have the dtype wanted.
#[track_caller]
pub(crate) fn uniform<'g>(
    options: Options<'g>,
    shape: Value<'g>,
    [min, max]: [Tensor; 2],
    seed: Option<i64>,
) -> Output<'g> {
    let (g, name, at) = (options.graph(), options.name_or("random_uniform"), Location::caller());
    g.name_scope(&name, || {
        let dtype = min.dtype();
        let shape = shape.place(g, "shape", at);
        let min = Value::from(min).place(g, "min", at);
        let max = Value::from(max).place(g, "max", at);
        let (seed, seed2) = seeds(g, seed);
        let node = |op| g.op(op).at(at).attr("seed", seed).attr("seed2", seed2).input(shape);
        if matches!(dtype, DType::I32 | DType::I64) {
            return node("RandomUniformInt").name(g.scope()).input(min).input(max).output();
        }
        let unit = node("RandomUniform").attr("dtype", dtype).output();
        let span = g.op("Sub").name("sub").at(at).input(max).input(min).output();
        let scaled = g.op("Mul").name("mul").at(at).input(unit).input(span).output();
        g.op("Add").name(g.scope()).at(at).input(scaled).input(min).output()
    })
}

/// Numbers of a distribution like the normal one, of the mean and standard deviation given.
#[track_caller]
pub(crate) fn normal<'g>(
    options: Options<'g>,
    name: &str,
    op: &'static str,
    shape: Value<'g>,
    [mean, stddev]: [Tensor; 2],
    seed: Option<i64>,
) -> Output<'g> {
    let (g, at) = (options.graph(), Location::caller());
    g.name_scope(&options.name_or(name), || {
        let dtype = mean.dtype();
        let shape = shape.place(g, "shape", at);
        let mean = Value::from(mean).place(g, "mean", at);
        let stddev = Value::from(stddev).place(g, "stddev", at);
        let (seed, seed2) = seeds(g, seed);
        let node = g.op(op).at(at).attr("seed", seed).attr("seed2", seed2).attr("dtype", dtype);
        let unit = node.input(shape).output();
        let scaled = g.op("Mul").name("mul").at(at).input(unit).input(stddev).output();
        g.op("Add").name(g.scope()).at(at).input(scaled).input(mean).output()
    })
}

/// The seeds of an op from the graph's and its own, as TensorFlow derives them.
pub(crate) fn seeds(g: &Graph, op_seed: Option<i64>) -> (i64, i64) {
    let pair = match (g.seed(), op_seed) {
        (Some(graph), Some(op)) => (graph, op),
        (Some(graph), None) => (graph, g.len() as i64),
        (None, Some(op)) => (DEFAULT_GRAPH_SEED, op),
        (None, None) => return (0, 0),
    };
    // Both zero would mean "any".
    if pair == (0, 0) { (0, i64::from(i32::MAX)) } else { pair }
}
