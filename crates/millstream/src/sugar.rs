//! [`Functions`] and [`Methods`]: TensorFlow's Python functions on top of the ops, with the node names that
//! they give.

use crate::axes::Axes;
use crate::ops::Ops;
use crate::options::{Options, Start};
use crate::value::Value;
use millstream_graph::{Arg, Graph, Op, Output};
use millstream_tensor::{DType, Element, PartialShape, Shape, Tensor};
use std::ops::Range;
use std::panic::Location;

/// The graph-level seed of an op that has a seed of its own in a graph without one.
pub const DEFAULT_GRAPH_SEED: i64 = 87_654_321;

/// Functions that add several nodes, or choose between ops.
///
/// ```
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let x = g.stack([g.constant(1.0f32), g.constant(2.0f32)], 0);
/// let total: f32 = Session::new(&g)?.run(g.reduce_sum(x, ()), feed![])?;
/// assert_eq!(total, 3.0);
/// # Ok::<(), millstream::Error>(())
/// ```
pub trait Functions<'g>: Start<'g> {
    /// Adds a placeholder: a value of dtype `T` that runs feed, of a shape that `shape` contains.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.placeholder::<f32>("x", shape![_]); // a vector of any length
    /// let total = x.reduce_sum(());
    /// let session = Session::new(&g)?;
    /// assert_eq!(session.run::<f32>(total, feed![x => [1.0f32, 2.0]])?, 3.0);
    /// assert_eq!(session.run::<f32>(total, feed![x => [1.0f32, 2.0, 3.0]])?, 6.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn placeholder<T: Element>(self, name: &str, shape: impl Into<PartialShape>) -> Output<'g> {
        self.start_as("Placeholder", name).attr("dtype", T::DTYPE).attr("shape", shape.into()).output()
    }

    /// Returns zeros of this shape.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x: Tensor = Session::new(&g)?.run(g.zeros::<i32>([2, 3]), feed![])?;
    /// assert_eq!(x.to_string(), "i32[2,3] [[0 0 0] [0 0 0]]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn zeros<T: Element>(self, shape: impl Into<Shape>) -> Output<'g> {
        filled(self.options(), "zeros", zero::<T>(), shape.into())
    }

    /// Returns ones of this shape.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x: Vec<f32> = Session::new(&g)?.run(g.ones::<f32>([2]), feed![])?;
    /// assert_eq!(x, [1.0, 1.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn ones<T: Element + From<bool>>(self, shape: impl Into<Shape>) -> Output<'g> {
        filled(self.options(), "ones", Tensor::scalar(T::from(true)), shape.into())
    }

    /// Concatenates the values along `axis`, an axis that they have.
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

    /// Stacks the values along a new axis.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let (a, b) = (g.constant([1, 2]), g.constant([3, 4]));
    /// let session = Session::new(&g)?;
    /// assert_eq!(session.run::<Tensor>(g.stack([a, b], 0), feed![])?.to_string(), "i32[2,2] [[1 2] [3 4]]");
    /// assert_eq!(session.run::<Tensor>(g.stack([a, b], 1), feed![])?.to_string(), "i32[2,2] [[1 3] [2 4]]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn stack(self, values: impl IntoIterator<Item = impl Into<Arg<'g>>>, axis: i64) -> Output<'g> {
        self.start_as("Pack", "stack").inputs(values).attr("axis", axis).output()
    }

    /// Returns the numbers `start`, `start + delta`, .. below `limit`.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x: Vec<i32> = Session::new(&g)?.run(g.range(0, 10, 3), feed![])?;
    /// assert_eq!(x, [0, 3, 6, 9]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn range(
        self,
        start: impl Into<Arg<'g>>,
        limit: impl Into<Arg<'g>>,
        delta: impl Into<Arg<'g>>,
    ) -> Output<'g> {
        self.start_as("Range", "range").input(start).input(limit).input(delta).output()
    }

    /// Returns `x`, and prints `message` and the values of `data` each time it runs.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant(2.0f32);
    /// let shown = g.print(x, [x], "x is "); // prints "x is [2]" to the standard error
    /// assert_eq!(Session::new(&g)?.run::<f32>(shown, feed![])?, 2.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn print(
        self,
        x: impl Into<Arg<'g>>,
        data: impl IntoIterator<Item = impl Into<Arg<'g>>>,
        message: &str,
    ) -> Output<'g> {
        self.start_as("Print", "Print").input(x).inputs(data).attr("message", message).output()
    }

    /// Adds an operation that fails if `condition` is false, with the values of `data` in the error. Nodes
    /// that depend on it must run after it: `g.control_dependencies([checked], || ..)`.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.placeholder::<f32>("x", shape![]);
    /// let checked = g.assert_that(x.greater(0.0), [x]);
    /// let root = g.control_dependencies([checked], || x.sqrt());
    /// let session = Session::new(&g)?;
    /// assert_eq!(session.run::<f32>(root, feed![x => 4.0f32])?, 2.0);
    /// assert!(session.run::<f32>(root, feed![x => -1.0f32]).is_err());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn assert_that(
        self,
        condition: impl Into<Arg<'g>>,
        data: impl IntoIterator<Item = impl Into<Arg<'g>>>,
    ) -> Op<'g> {
        self.start_as("Assert", "Assert").input(condition).inputs(data).finish()
    }

    /// Adds an operation that has run once all of these have.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let (a, b) = (g.variable("a", 0.0f32), g.variable("b", 0.0f32));
    /// let both = g.group([a.assign(1.0f32), b.assign(2.0f32)]);
    /// let session = Session::new(&g)?;
    /// session.run::<()>(both, feed![])?;
    /// assert_eq!(session.run::<(f32, f32)>((a.value(), b.value()), feed![])?, (1.0, 2.0));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn group(self, ops: impl IntoIterator<Item = impl Into<Op<'g>>>) -> Op<'g> {
        let node = self.start_as("NoOp", "group_deps");
        ops.into_iter().fold(node, |node, op| node.control(op)).finish()
    }

    /// Returns numbers of the uniform distribution over `min <= x < max`, floats or integers.
    ///
    /// Without a `seed` the op derives one from the graph's seed ([`Graph::set_seed`]) and the number of
    /// nodes. If the graph has no seed either, every session draws other numbers.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let dice = g.random_uniform([100], 1, 7, Some(42));
    /// let thrown: Vec<i32> = Session::new(&g)?.run(dice, feed![])?;
    /// assert!(thrown.iter().all(|n| (1..=6).contains(n)));
    /// // Another session draws the same numbers, because the op has a seed.
    /// assert_eq!(Session::new(&g)?.run::<Vec<i32>>(dice, feed![])?, thrown);
    /// # Ok::<(), millstream::Error>(())
    /// ```
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

    /// Returns numbers of the normal distribution. For seeds see [`Functions::random_uniform`].
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.random_normal([10_000], 5.0f32, 2.0, Some(1)).reduce_mean(());
    /// let mean: f32 = Session::new(&g)?.run(x, feed![])?;
    /// assert!((mean - 5.0).abs() < 0.1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
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

    /// Returns numbers of the normal distribution, redrawn until they lie within two standard deviations of
    /// the mean. For seeds see [`Functions::random_uniform`].
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.truncated_normal([1000], 0.0f32, 1.0, Some(1)).abs().reduce_max(());
    /// let largest: f32 = Session::new(&g)?.run(x, feed![])?;
    /// assert!(largest <= 2.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
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

    /// Returns the sum over some axes, or all: `g.with("keep_dims", true).reduce_sum(x, 0)`.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([[1.0f32, 2.0], [3.0, 4.0]]);
    /// let session = Session::new(&g)?;
    /// assert_eq!(session.run::<f32>(g.reduce_sum(x, ()), feed![])?, 10.0);
    /// assert_eq!(session.run::<Vec<f32>>(g.reduce_sum(x, 0), feed![])?, [4.0, 6.0]);
    /// let kept: Tensor = session.run(g.with("keep_dims", true).reduce_sum(x, 1), feed![])?;
    /// assert_eq!(kept.to_string(), "f32[2,1] [[3] [7]]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn reduce_sum(self, x: Output<'g>, axes: impl Into<Axes<'g>>) -> Output<'g> {
        reduce(self.options(), "Sum", x, axes.into())
    }

    /// Returns the mean over some axes, or all.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(Session::new(&g)?.run::<Vec<f32>>(g.reduce_mean(x, 0), feed![])?, [2.0, 3.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn reduce_mean(self, x: Output<'g>, axes: impl Into<Axes<'g>>) -> Output<'g> {
        reduce(self.options(), "Mean", x, axes.into())
    }

    /// Returns the product over some axes, or all.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(Session::new(&g)?.run::<f32>(g.reduce_prod(x, ()), feed![])?, 24.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn reduce_prod(self, x: Output<'g>, axes: impl Into<Axes<'g>>) -> Output<'g> {
        reduce(self.options(), "Prod", x, axes.into())
    }

    /// Returns the maximum over some axes, or all.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(Session::new(&g)?.run::<Vec<f32>>(g.reduce_max(x, 1), feed![])?, [2.0, 4.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn reduce_max(self, x: Output<'g>, axes: impl Into<Axes<'g>>) -> Output<'g> {
        reduce(self.options(), "Max", x, axes.into())
    }

    /// Returns the minimum over some axes, or all.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(Session::new(&g)?.run::<Vec<f32>>(g.reduce_min(x, -1), feed![])?, [1.0, 3.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn reduce_min(self, x: Output<'g>, axes: impl Into<Axes<'g>>) -> Output<'g> {
        reduce(self.options(), "Min", x, axes.into())
    }

    /// Returns whether all elements along some axes, or all axes, are true.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([1.0f32, 2.0]);
    /// assert!(!Session::new(&g)?.run::<bool>(g.reduce_all(x.greater(1.0), ()), feed![])?);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn reduce_all(self, x: Output<'g>, axes: impl Into<Axes<'g>>) -> Output<'g> {
        reduce(self.options(), "All", x, axes.into())
    }

    /// Returns whether any element along some axes, or all axes, is true.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([1.0f32, 2.0]);
    /// assert!(Session::new(&g)?.run::<bool>(g.reduce_any(x.greater(1.0), ()), feed![])?);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn reduce_any(self, x: Output<'g>, axes: impl Into<Axes<'g>>) -> Output<'g> {
        reduce(self.options(), "Any", x, axes.into())
    }

    /// Returns the matrix product; for stacks of matrices, one product per pair. `g.with("transpose_b",
    /// true)` transposes the second of two matrices.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let (a, b) = (g.constant([[1.0f32, 2.0], [3.0, 4.0]]), g.constant([[0.0f32, 1.0], [1.0, 0.0]]));
    /// let product: Tensor = Session::new(&g)?.run(g.matmul(a, b), feed![])?;
    /// assert_eq!(product.to_string(), "f32[2,2] [[2 1] [4 3]]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn matmul(self, a: Output<'g>, b: Output<'g>) -> Output<'g> {
        let stacked = |x: Output<'g>| x.shape().rank().is_some_and(|rank| 2 < rank);
        let op = if stacked(a) || stacked(b) { "BatchMatMulV2" } else { "MatMul" };
        self.start_as(op, "MatMul").input(a).input(b).output()
    }

    /// Returns the entries of `x` along `axis` at these indices.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([[1, 2, 3], [4, 5, 6]]);
    /// let columns: Tensor = Session::new(&g)?.run(g.gather(x, [2, 0], 1), feed![])?;
    /// assert_eq!(columns.to_string(), "i32[2,2] [[3 1] [6 4]]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn gather(self, x: Output<'g>, indices: impl Into<Arg<'g>>, axis: impl Into<Arg<'g>>) -> Output<'g> {
        self.start("GatherV2").input(x).input(indices).input(axis).output()
    }

    /// Permutes the axes: axis `perm[i]` becomes axis `i`. With `()` their order is reversed.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([[1, 2, 3], [4, 5, 6]]);
    /// let turned: Tensor = Session::new(&g)?.run(g.transpose(x, [1, 0]), feed![])?;
    /// assert_eq!(turned.to_string(), "i32[3,2] [[1 4] [2 5] [3 6]]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn transpose(self, x: Output<'g>, perm: impl Into<Axes<'g>>) -> Output<'g> {
        let options = self.options();
        let (g, at) = (options.graph(), Location::caller());
        let perm = match (perm.into(), x.shape().rank()) {
            (Axes::These(perm), _) => perm,
            (Axes::All, Some(rank)) => (0..rank as i32).rev().collect::<Vec<i32>>().into(),
            (Axes::All, None) => {
                let rank = g.at(at).rank(x);
                let last = g.named("sub").at(at).sub(rank, 1);
                let all = g.named("Range").at(at).reduce().range(0, rank, 1);
                g.named("sub").at(at).sub(last, all).into()
            }
        };
        options.start_as("Transpose", "transpose").input(x).input(perm).output()
    }

    /// Splits `x` into `n` equal parts along `axis`.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let parts = g.split(g.constant([1, 2, 3, 4]), 2, 0);
    /// assert_eq!(Session::new(&g)?.run::<Vec<i32>>(parts[1], feed![])?, [3, 4]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn split(self, x: Output<'g>, n: i64, axis: impl Into<Arg<'g>>) -> Vec<Output<'g>> {
        let parts = self.start_as("Split", "split").input(axis).input(x).attr("num_split", n).finish();
        (0..u32::try_from(n).unwrap_or(0)).map(|i| parts.output(i)).collect()
    }

    /// Returns the entries along `axis`, whose length must be known.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let rows = g.unstack(g.constant([[1, 2], [3, 4]]), 0);
    /// assert_eq!(rows.len(), 2);
    /// assert_eq!(Session::new(&g)?.run::<Vec<i32>>(rows[1], feed![])?, [3, 4]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
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
            // The graph refuses the node and asks for `num`.
            None => node.finish().outputs(),
        }
    }
}

impl<'g, S: Start<'g>> Functions<'g> for S {}

/// The functions of [`Functions`] on one value, as its methods: `x.cast::<f64>()`, `x.reduce_sum(0)`.
///
/// ```
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let x = g.constant([[1.0f32, 2.0], [3.0, 4.0]]);
/// let y = x.matmul(x).reduce_sum(0).cast::<i32>();
/// assert_eq!(Session::new(&g)?.run::<Vec<i32>>(y, feed![])?, [22, 32]);
/// # Ok::<(), millstream::Error>(())
/// ```
pub trait Methods<'g>: Into<Output<'g>> {
    /// Converts to another dtype; adds no node if the value has that dtype.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([1.9f32, -1.9]);
    /// assert_eq!(Session::new(&g)?.run::<Vec<i32>>(x.cast::<i32>(), feed![])?, [1, -1]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn cast<T: Element>(self) -> Output<'g> {
        self.cast_to(T::DTYPE)
    }

    /// As [`Methods::cast`], with the dtype as a value.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([1, 2]).cast_to(DType::F64);
    /// assert_eq!(x.dtype()?, DType::F64);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn cast_to(self, dtype: DType) -> Output<'g> {
        let x = self.into();
        match x.dtype() {
            Ok(same) if same == dtype && !x.is_ref() => x,
            _ => x.graph().math().cast(x, dtype),
        }
    }

    /// Returns the matrix product, see [`Functions::matmul`].
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([[1.0f32, 2.0], [3.0, 4.0]]);
    /// let y = g.constant([[1.0f32], [1.0]]);
    /// assert_eq!(Session::new(&g)?.run::<Tensor>(x.matmul(y), feed![])?.to_string(), "f32[2,1] [[3] [7]]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn matmul(self, other: Output<'g>) -> Output<'g> {
        let x = self.into();
        x.graph().matmul(x, other)
    }

    /// Returns the sum over some axes, or all (`()`).
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(Session::new(&g)?.run::<Vec<f32>>(x.reduce_sum(1), feed![])?, [3.0, 7.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn reduce_sum(self, axes: impl Into<Axes<'g>>) -> Output<'g> {
        let x = self.into();
        x.graph().reduce_sum(x, axes)
    }

    /// Returns the mean over some axes, or all (`()`).
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(Session::new(&g)?.run::<f32>(x.reduce_mean(()), feed![])?, 2.5);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn reduce_mean(self, axes: impl Into<Axes<'g>>) -> Output<'g> {
        let x = self.into();
        x.graph().reduce_mean(x, axes)
    }

    /// Returns the maximum over some axes, or all (`()`).
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([3.0f32, 7.0, 5.0]);
    /// assert_eq!(Session::new(&g)?.run::<f32>(x.reduce_max(()), feed![])?, 7.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn reduce_max(self, axes: impl Into<Axes<'g>>) -> Output<'g> {
        let x = self.into();
        x.graph().reduce_max(x, axes)
    }

    /// Returns the minimum over some axes, or all (`()`).
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([3.0f32, 7.0, 5.0]);
    /// assert_eq!(Session::new(&g)?.run::<f32>(x.reduce_min(()), feed![])?, 3.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn reduce_min(self, axes: impl Into<Axes<'g>>) -> Output<'g> {
        let x = self.into();
        x.graph().reduce_min(x, axes)
    }

    /// Returns the rows at these indices.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let words = g.constant([10, 20, 30]);
    /// assert_eq!(Session::new(&g)?.run::<Vec<i32>>(words.gather([2, 0, 2]), feed![])?, [30, 10, 30]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn gather(self, indices: impl Into<Arg<'g>>) -> Output<'g> {
        let x = self.into();
        x.graph().gather(x, indices, 0)
    }

    /// Permutes the axes, see [`Functions::transpose`].
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([[1, 2, 3]]);
    /// let turned: Tensor = Session::new(&g)?.run(x.transpose(()), feed![])?;
    /// assert_eq!(turned.to_string(), "i32[3,1] [[1] [2] [3]]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn transpose(self, perm: impl Into<Axes<'g>>) -> Output<'g> {
        let x = self.into();
        x.graph().transpose(x, perm)
    }

    /// Returns entry `index` along the first axis, without that axis. A negative index counts from the end.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([[1, 2], [3, 4], [5, 6]]);
    /// let session = Session::new(&g)?;
    /// assert_eq!(session.run::<Vec<i32>>(x.index(0), feed![])?, [1, 2]);
    /// assert_eq!(session.run::<Vec<i32>>(x.index(-1), feed![])?, [5, 6]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn index(self, index: i32) -> Output<'g> {
        // The end of the last entry, -1 + 1, would be index 0: the mask takes the slice to the end.
        let to_end = i64::from(index == -1);
        strided(self.into(), [vec![index], vec![index.wrapping_add(1)], vec![1]], 0, to_end, 1)
    }

    /// Returns the entries `range.start <= i < range.end` along an axis.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([[1, 2, 3], [4, 5, 6]]);
    /// let right: Tensor = Session::new(&g)?.run(x.slice_axis(1, 1..3), feed![])?;
    /// assert_eq!(right.to_string(), "i32[2,2] [[2 3] [5 6]]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn slice_axis(self, axis: usize, range: Range<i32>) -> Output<'g> {
        let at = |last: i32, fill: i32| -> Vec<i32> {
            (0..=axis).map(|i| if i == axis { last } else { fill }).collect()
        };
        // The axes before it are taken whole.
        let whole = 1i64.checked_shl(axis as u32).map_or(0, |bit| bit - 1);
        strided(self.into(), [at(range.start, 0), at(range.end, 0), at(1, 1)], whole, whole, 0)
    }
}

impl<'g> Methods<'g> for Output<'g> {}

/// Returns a constant, or a `Fill` if the constant would make the graph large.
#[track_caller]
pub(crate) fn filled<'g>(options: Options<'g>, name: &str, one: Tensor, shape: Shape) -> Output<'g> {
    const LARGE: usize = 1000;
    let (g, at, dtype) = (options.graph(), Location::caller(), one.dtype());
    if shape.elements() < LARGE {
        let node = options.start_as("Const", name).attr("dtype", dtype);
        return match one.broadcast_to(shape) {
            Ok(value) => node.attr("value", value).output(),
            // Memory for a thousand elements is not left: the missing value becomes the graph's error.
            Err(_) => node.output(),
        };
    }
    g.name_scope(&options.name_or(name), || {
        let dims: Vec<i64> = shape.to_signed().to_vec();
        let small: Option<Vec<i32>> = dims.iter().map(|&d| i32::try_from(d).ok()).collect();
        let dims = small.map_or(Value::from(dims), Value::from).place(g, "shape_as_tensor", at);
        let one = Value::from(one).place(g, "Const", at);
        g.named(g.scope()).at(at).fill(dims, one)
    })
}

/// Returns the zero of a dtype.
fn zero<T: Element>() -> Tensor {
    Tensor::scalar(T::default())
}

/// Returns a strided slice with constant bounds, named as in TensorFlow.
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
        let slice = g.named(g.scope()).at(at).with("begin_mask", begin_mask).with("end_mask", end_mask);
        let [begin, end, strides] = bounds;
        slice.with("shrink_axis_mask", shrink).array().strided_slice(x, begin, end, strides)
    })
}

/// Returns column `index` of a matrix.
#[track_caller]
pub(crate) fn column<'g>(x: Output<'g>, index: i32) -> Output<'g> {
    strided(x, [vec![0, index], vec![0, index.wrapping_add(1)], vec![1, 1]], 1, 1, 2)
}

/// Reduces over some axes. If the rank is known, all axes are a constant.
#[track_caller]
fn reduce<'g>(options: Options<'g>, op: &'static str, x: Output<'g>, axes: Axes<'g>) -> Output<'g> {
    let (g, at) = (options.graph(), Location::caller());
    let axes = match (axes, x.shape().rank()) {
        (Axes::These(axes), _) => axes,
        (Axes::All, Some(rank)) => g.constant((0..rank as i32).collect::<Vec<i32>>()).into(),
        (Axes::All, None) => {
            let rank = g.at(at).rank(x);
            g.named("range").at(at).reduce().range(0, rank, 1).into()
        }
    };
    options.start(op).input(x).input(axes).output()
}

/// Returns numbers of the uniform distribution between two of the same dtype.
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
        let seeded = g.at(at).with("seed", seed).with("seed2", seed2);
        if matches!(dtype, DType::I32 | DType::I64) {
            return seeded.named(g.scope()).random().random_uniform_int(shape, min, max);
        }
        let unit = seeded.random().random_uniform(shape, dtype);
        let span = g.named("sub").at(at).sub(max, min);
        let scaled = g.named("mul").at(at).mul(unit, span);
        g.named(g.scope()).at(at).add(scaled, min)
    })
}

/// Returns numbers of the distribution `op` (normal or truncated normal), scaled to this mean and standard
/// deviation.
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
        let seeded = g.at(at).with("seed", seed).with("seed2", seed2);
        let unit = seeded.start(op).input(shape).attr("dtype", dtype).output();
        let scaled = g.named("mul").at(at).mul(unit, stddev);
        g.named(g.scope()).at(at).add(scaled, mean)
    })
}

/// Returns the seeds of an op, derived from the graph's and its own as in TensorFlow.
pub(crate) fn seeds(g: &Graph, op_seed: Option<i64>) -> (i64, i64) {
    let pair = match (g.seed(), op_seed) {
        (Some(graph), Some(op)) => (graph, op),
        (Some(graph), None) => (graph, g.len() as i64),
        (None, Some(op)) => (DEFAULT_GRAPH_SEED, op),
        (None, None) => return (0, 0),
    };
    // Two zeros would mean a random seed.
    if pair == (0, 0) { (0, i64::from(i32::MAX)) } else { pair }
}
