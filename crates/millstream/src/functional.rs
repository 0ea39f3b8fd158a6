//! Functions over the rows of tensors: [`HigherOrder::map_fn`], folds and [`HigherOrder::scan`], as loops.
//!
//! The input is a [`Nest`] of values with the same number of rows (dimension 0). The function gets one row of
//! each, in the same structure, and may return another structure. All are ordinary loops over
//! [`TensorArray`]s, so gradients of any order flow through them.

use crate::ops::OutputOps;
use crate::options::{Options, Start};
use crate::tensor_array::TensorArray;
use millstream_graph::nest::{Converter, Leaf, Values};
use millstream_graph::{Graph, IntoNest, Nest, Output, WhileContext};
use millstream_tensor::{PartialShape, Result, Tensor, invalid};
use std::panic::Location;

/// Functions over rows.
///
/// ```
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let x = g.constant([1, 2, 3]);
/// let squares = g.map_fn(x).run(|x| x * x)?;
/// let total = g.foldl(squares).run(|a, b| a + b)?;
/// assert_eq!(Session::new(&g)?.run::<i32>(total, feed![])?, 14);
/// # Ok::<(), millstream::Error>(())
/// ```
pub trait HigherOrder<'g>: Start<'g> {
    /// Maps every row of `elems` to a row of the result: options, then [`Map::run`]. Rows are independent, so
    /// up to `parallel_iterations` of them run at the same time.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([[1.0f32, 2.0], [3.0, 4.0]]);
    /// let (sums, twice) = g.map_fn(x).run(|row| (row.reduce_sum(()), row * 2.0))?;
    /// let (sums, twice): (Vec<f32>, Tensor) = Session::new(&g)?.run((sums, twice), feed![])?;
    /// assert_eq!(sums, [3.0, 7.0]);
    /// assert_eq!(twice.as_slice::<f32>()?, [2.0, 4.0, 6.0, 8.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn map_fn<E: IntoNest<'g>>(self, elems: E) -> Map<'g, E> {
        Map(Over::new(self.options(), elems, "map"))
    }

    /// Folds the rows, `fn(fn(fn(row 0, row 1), row 2), ..)`: [`Fold::run`], or [`Fold::run_from`] with an
    /// initial value.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([1.0f32, 2.0, 3.0]);
    /// let left = g.foldl(x).run(|acc, x| acc * 10.0 + x)?;
    /// let right = g.foldr(x).run_from(0.0f32, |acc, x| acc * 10.0 + x)?;
    /// assert_eq!(Session::new(&g)?.run::<(f32, f32)>((left, right), feed![])?, (123.0, 321.0));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn foldl<E: IntoNest<'g>>(self, elems: E) -> Fold<'g, E> {
        Fold(Over::new(self.options(), elems, "foldl"))
    }

    /// As [`HigherOrder::foldl`], from the last row to the first.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let digits = g.constant([1, 2, 3]);
    /// let number = g.foldr(digits).run(|number, digit| number * 10 + digit)?;
    /// assert_eq!(Session::new(&g)?.run::<i32>(number, feed![])?, 321);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn foldr<E: IntoNest<'g>>(self, elems: E) -> Fold<'g, E> {
        Fold(Over { reverse: true, ..Over::new(self.options(), elems, "foldr") })
    }

    /// Returns all intermediate values of a fold as rows: [`Scan::run`] (the first of them is the first row),
    /// or [`Scan::run_from`] with an initial value (which is not one of them).
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([1, 2, 3, 4]);
    /// let sums = g.scan(x).run(|sum, x| sum + x)?;
    /// let (_, fibonacci) = g.scan(x).run_from((1, 0), |(a, b), _| (a + b, a))?;
    /// let (sums, fibonacci): (Vec<i32>, Vec<i32>) = Session::new(&g)?.run((sums, fibonacci), feed![])?;
    /// assert_eq!(sums, [1, 3, 6, 10]);
    /// assert_eq!(fibonacci, [1, 1, 2, 3]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn scan<E: IntoNest<'g>>(self, elems: E) -> Scan<'g, E> {
        Scan(Over::new(self.options(), elems, "scan"))
    }
}

impl<'g, S: Start<'g>> HigherOrder<'g> for S {}

/// The options that maps, folds and scans share.
struct Over<'g, E> {
    graph: &'g Graph,
    elems: E,
    name: String,
    parallel_iterations: i64,
    back_prop: bool,
    swap_memory: bool,
    infer_shape: bool,
    reverse: bool,
    at: &'static Location<'static>,
}

/// A builder of a map.
///
/// ```
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let x = g.constant([1, 2, 3]);
/// let twice = g.map_fn(x).parallel_iterations(1).run(|x| x * 2)?;
/// assert_eq!(Session::new(&g)?.run::<Vec<i32>>(twice, feed![])?, [2, 4, 6]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "`run` adds the loop"]
pub struct Map<'g, E>(Over<'g, E>);

impl<E> std::fmt::Debug for Map<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Map").finish_non_exhaustive()
    }
}

/// A builder of a fold.
///
/// ```
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let x = g.constant([1, 2, 3]);
/// let total = g.foldl(x).run_from(g.constant(10), |sum, x| sum + x)?;
/// assert_eq!(Session::new(&g)?.run::<i32>(total, feed![])?, 16);
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "`run` or `run_from` adds the loop"]
pub struct Fold<'g, E>(Over<'g, E>);

impl<E> std::fmt::Debug for Fold<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fold").finish_non_exhaustive()
    }
}

/// A builder of a scan.
///
/// ```
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let x = g.constant([1, 2, 3]);
/// let sums = g.scan(x).reverse(true).run(|sum, x| sum + x)?;
/// assert_eq!(Session::new(&g)?.run::<Vec<i32>>(sums, feed![])?, [6, 5, 3]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "`run` or `run_from` adds the loop"]
pub struct Scan<'g, E>(Over<'g, E>);

impl<E> std::fmt::Debug for Scan<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scan").finish_non_exhaustive()
    }
}

macro_rules! loop_options {
    ($($t:ident)*) => { $(
        impl<'g, E: IntoNest<'g>> $t<'g, E> {
            /// Sets how many rows may run at the same time; 10 by default.
            ///
            /// ```
            /// use millstream::prelude::*;
            /// let g = Graph::new();
            /// let x = g.constant([1, 2, 3]);
            /// let twice = g.map_fn(x).parallel_iterations(2).run(|x| x * 2)?;
            /// assert_eq!(Session::new(&g)?.run::<Vec<i32>>(twice, feed![])?, [2, 4, 6]);
            /// # Ok::<(), millstream::Error>(())
            /// ```
            pub fn parallel_iterations(mut self, n: i64) -> Self {
                self.0.parallel_iterations = n;
                self
            }

            /// Sets whether gradients may flow through; true by default.
            ///
            /// ```
            /// use millstream::prelude::*;
            /// let g = Graph::new();
            /// let x = g.constant([1.0f32, 2.0]);
            /// let y = g.map_fn(x).back_prop(false).run(|x| x * x)?;
            /// assert_eq!(Session::new(&g)?.run::<Vec<f32>>(y, feed![])?, [1.0, 4.0]);
            /// # Ok::<(), millstream::Error>(())
            /// ```
            pub fn back_prop(mut self, yes: bool) -> Self {
                self.0.back_prop = yes;
                self
            }

            /// Sets whether values saved for the gradient may be swapped out of memory; false by default.
            ///
            /// ```
            /// use millstream::prelude::*;
            /// let g = Graph::new();
            /// let x = g.constant([1.0f32, 2.0]);
            /// let y = g.map_fn(x).swap_memory(true).run(|x| x * x)?;
            /// assert_eq!(Session::new(&g)?.run::<Vec<f32>>(y, feed![])?, [1.0, 4.0]);
            /// # Ok::<(), millstream::Error>(())
            /// ```
            pub fn swap_memory(mut self, yes: bool) -> Self {
                self.0.swap_memory = yes;
                self
            }
        }
    )* };
}
loop_options!(Map Fold Scan);

/// The rows of a nest, read one at a time.
struct Rows<'g, N> {
    nest: N,
    arrays: Vec<TensorArray<'g>>,
    /// The number of rows.
    n: Output<'g>,
}

impl<'g, N: Nest<'g>> Rows<'g, N> {
    fn of(graph: &'g Graph, nest: N, at: &'static Location<'static>) -> Result<Rows<'g, N>> {
        let values = values_of(&nest);
        let Some(first) = values.first() else {
            return Err(invalid!("`elems` has no tensors: its structure is {}", nest.structure()).at_line(at));
        };
        for other in &values {
            let (a, b) = (first.shape(), other.shape());
            if b.rank() == Some(0) {
                return Err(invalid!("`{}` is a scalar: it has no rows", other.name()).at_line(at));
            }
            if let (Some(n), Some(m)) = (a.dim(0), b.dim(0))
                && n != m
            {
                return Err(
                    invalid!("`{}` has {n} rows but `{}` has {m}", first.name(), other.name()).at_line(at)
                );
            }
        }
        let arrays: Vec<TensorArray<'g>> = values.iter().map(|x| TensorArray::of_rows(*x)).collect();
        let n = match first.shape().dim(0).and_then(|n| i32::try_from(n).ok()) {
            Some(n) => graph.constant_tensor("n", Tensor::scalar(n)),
            None => arrays[0].size(),
        };
        graph.check()?;
        Ok(Rows { nest, arrays, n })
    }

    /// Returns row `i`.
    fn at(&self, i: Output<'g>) -> Result<N> {
        self.nest.rebuild(&mut Values::new(self.arrays.iter().map(|a| a.read(i)).collect()))
    }
}

fn values_of<'g>(nest: &impl Nest<'g>) -> Vec<Output<'g>> {
    let mut leaves = Vec::new();
    nest.flatten(&mut leaves);
    let value = |leaf| match leaf {
        Leaf::Output(output) => output,
        Leaf::Op(op) => op.output(0),
    };
    leaves.into_iter().map(value).collect()
}

fn stacked<'g, N: Nest<'g>>(nest: &N, arrays: &[TensorArray<'g>]) -> Result<N> {
    nest.rebuild(&mut Values::new(arrays.iter().map(TensorArray::stack).collect()))
}

impl<'g, E: IntoNest<'g>> Over<'g, E> {
    #[track_caller]
    fn new(options: Options<'g>, elems: E, name: &str) -> Over<'g, E> {
        Over {
            graph: options.graph(),
            elems,
            name: options.name_or(name),
            parallel_iterations: 10,
            back_prop: true,
            swap_memory: false,
            infer_shape: true,
            reverse: false,
            at: Location::caller(),
        }
    }

    /// Calls `build` with the rows, in the name scope.
    fn scoped<R>(self, build: impl FnOnce(Over<'g, ()>, Rows<'g, E::Nest>) -> Result<R>) -> Result<R> {
        let (graph, at) = (self.graph, self.at);
        graph.check()?;
        let name = self.name.clone();
        let result = graph.name_scope(&name, || {
            let elems = self.elems.into_nest(&Converter::new(graph, at, &[]))?;
            let rows = Rows::of(graph, elems, at)?;
            let over = Over {
                graph,
                elems: (),
                name: self.name,
                parallel_iterations: self.parallel_iterations,
                back_prop: self.back_prop,
                swap_memory: self.swap_memory,
                infer_shape: self.infer_shape,
                reverse: self.reverse,
                at,
            };
            build(over, rows)
        })?;
        graph.check()?;
        Ok(result)
    }
}

impl<'g> Over<'g, ()> {
    /// Adds the loop over the rows. `next` returns the next accumulator and arrays, given the index, the
    /// accumulator, the arrays and the row.
    fn go<A: Nest<'g>, N: Nest<'g>, R>(
        &self,
        rows: &Rows<'g, N>,
        skip_one: bool,
        init: (A, Vec<TensorArray<'g>>),
        next: impl FnOnce(Output<'g>, A, Vec<TensorArray<'g>>, N) -> Result<R>,
    ) -> Result<(A, Vec<TensorArray<'g>>)>
    where
        R: IntoNest<'g, Nest = (A, Vec<TensorArray<'g>>)>,
        (A, Vec<TensorArray<'g>>): IntoNest<'g, Nest = (A, Vec<TensorArray<'g>>)>,
    {
        let g = self.graph;
        let (begin, step) = match self.reverse {
            false => (g.constant(i32::from(skip_one)), 1),
            true => (rows.n - if skip_one { 2 } else { 1 }, -1),
        };
        let the_loop = g
            .while_loop((begin, init))
            .parallel_iterations(self.parallel_iterations)
            .back_prop(self.back_prop)
            .swap_memory(self.swap_memory);
        let more = |i: Output<'g>| match self.reverse {
            false => i.less(rows.n),
            true => i.greater_equal(0),
        };
        let (_, result) = the_loop.run(
            |(i, _)| more(i),
            |(i, (acc, arrays))| -> Result<_> { Ok((i + step, next(i, acc, arrays, rows.at(i)?)?)) },
        )?;
        Ok(result)
    }
}

impl<'g, E: IntoNest<'g>> Map<'g, E> {
    /// Adds the loop. `each` is called once; the result has the structure and dtypes that it returns.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// // Rows of two tensors in, two tensors out.
    /// let (a, b) = (g.constant([1, 2]), g.constant([10, 20]));
    /// let (sums, products) = g.map_fn((a, b)).run(|(a, b)| (a + b, a * b))?;
    /// let (sums, products): (Vec<i32>, Vec<i32>) = Session::new(&g)?.run((sums, products), feed![])?;
    /// assert_eq!((sums, products), (vec![11, 22], vec![10, 40]));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn run<N: IntoNest<'g>>(self, each: impl FnOnce(E::Nest) -> N) -> Result<N::Nest> {
        self.0.scoped(|over, rows| {
            let g = over.graph;
            if over.parallel_iterations < 1 {
                return Err(invalid!(
                    "`parallel_iterations` is {}; it must be a positive integer",
                    over.parallel_iterations
                )
                .at_line(over.at));
            }
            // The dtypes of the arrays are known once `each` has been called, so the arrays become loop
            // variables after that.
            let options = WhileContext {
                parallel_iterations: over.parallel_iterations,
                back_prop: Some(over.back_prop),
                swap_memory: Some(over.swap_memory),
                ..WhileContext::default()
            };
            g.name_scope("while", || {
                let zero = g.constant(0);
                let the_loop = g.new_loop("while_context", &options);
                let inside = Some(the_loop.context());
                let mut counter = the_loop.enter(zero, PartialShape::scalar())?;
                let more = g.inside(inside, || counter.merged().less(rows.n));
                the_loop.decide(more)?;
                let i = the_loop.body_value(&mut counter)?;
                let (result, next) = g.inside(inside, || -> Result<_> {
                    let row = rows.at(i)?;
                    let result = each(row).into_nest(&Converter::new(g, over.at, &[]))?;
                    g.check()?;
                    Ok((result, i + 1))
                })?;
                let around = g.current_context();
                let mut arrays = Vec::new();
                for value in values_of(&result) {
                    let array = g.inside(around, || {
                        TensorArray::of_dtype(g, value.dtype()?, rows.n)
                            .element_shape(value.shape())
                            .build()
                            .checked()
                    })?;
                    let mut var = the_loop.enter(array.flow(), PartialShape::scalar())?;
                    let list = the_loop.body_value(&mut var)?;
                    let written = g.inside(inside, || array.at(list).write(i, value));
                    arrays.push(array.at(the_loop.close(var, written.flow())?));
                }
                the_loop.close(counter, next)?;
                g.check()?;
                stacked(&result, &arrays)
            })
        })
    }
}

impl<'g, E: IntoNest<'g>> Fold<'g, E> {
    /// Adds the loop, starting with the first row (for `foldr`, the last). There must be at least one row.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let largest = g.foldl(g.constant([3, 9, 4])).run(|a, b| g.maximum(a, b))?;
    /// assert_eq!(Session::new(&g)?.run::<i32>(largest, feed![])?, 9);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn run<N>(self, next: impl FnOnce(E::Nest, E::Nest) -> N) -> Result<E::Nest>
    where
        E::Nest: IntoNest<'g, Nest = E::Nest>,
        N: IntoNest<'g, Nest = E::Nest>,
    {
        self.0.scoped(|over, rows| {
            let first = if over.reverse { rows.n - 1 } else { over.graph.constant(0) };
            let init = rows.at(first)?;
            let body = |_, acc, arrays, row| Ok((next(acc, row), arrays));
            Ok(over.go(&rows, true, (init, Vec::new()), body)?.0)
        })
    }

    /// Adds the loop, starting with an initial value.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let count = g.foldl(g.constant([3.0f32, 9.0, 4.0])).run_from(g.constant(0), |n, _| n + 1)?;
    /// assert_eq!(Session::new(&g)?.run::<i32>(count, feed![])?, 3);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn run_from<A, N>(self, init: A, next: impl FnOnce(A::Nest, E::Nest) -> N) -> Result<A::Nest>
    where
        A: IntoNest<'g>,
        A::Nest: IntoNest<'g, Nest = A::Nest>,
        N: IntoNest<'g, Nest = A::Nest>,
    {
        self.0.scoped(|over, rows| {
            let init = init.into_nest(&Converter::new(over.graph, over.at, &[]))?;
            let body = |_, acc, arrays, row| Ok((next(acc, row), arrays));
            Ok(over.go(&rows, false, (init, Vec::new()), body)?.0)
        })
    }
}

impl<'g, E: IntoNest<'g>> Scan<'g, E> {
    /// Sets whether the scan runs from the last row to the first; each result keeps the index of its row.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let sums = g.scan(g.constant([1, 2, 3])).reverse(true).run(|sum, x| sum + x)?;
    /// assert_eq!(Session::new(&g)?.run::<Vec<i32>>(sums, feed![])?, [6, 5, 3]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn reverse(mut self, yes: bool) -> Self {
        self.0.reverse = yes;
        self
    }

    /// Sets whether all values have the same shape; true by default.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([1, 2, 3]);
    /// let sums = g.scan(x).infer_shape(false).run(|sum, x| sum + x)?;
    /// assert_eq!(Session::new(&g)?.run::<Vec<i32>>(sums, feed![])?, [1, 3, 6]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn infer_shape(mut self, yes: bool) -> Self {
        self.0.infer_shape = yes;
        self
    }

    /// Adds the loop, starting with the first row (in reverse, the last). There must be at least one row.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let sums = g.scan(g.constant([1, 2, 3])).run(|sum, x| sum + x)?;
    /// assert_eq!(Session::new(&g)?.run::<Vec<i32>>(sums, feed![])?, [1, 3, 6]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn run<N>(self, next: impl FnOnce(E::Nest, E::Nest) -> N) -> Result<E::Nest>
    where
        E::Nest: IntoNest<'g, Nest = E::Nest> + Clone,
        N: IntoNest<'g, Nest = E::Nest>,
    {
        self.0.scoped(|over, rows| {
            let first = if over.reverse { rows.n - 1 } else { over.graph.constant(0) };
            let init = rows.at(first)?;
            let arrays = over.arrays(&rows, &init)?;
            let arrays = write_all(arrays, first, &init);
            over.scan(&rows, true, init, arrays, next)
        })
    }

    /// Adds the loop, starting with an initial value.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let rates = g.constant([0.1f32, 0.5]);
    /// let capital = g.scan(rates).run_from(g.constant(100.0f32), |c, rate| c + c * rate)?;
    /// assert_eq!(Session::new(&g)?.run::<Vec<f32>>(capital, feed![])?, [110.0, 165.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn run_from<A, N>(self, init: A, next: impl FnOnce(A::Nest, E::Nest) -> N) -> Result<A::Nest>
    where
        A: IntoNest<'g>,
        A::Nest: IntoNest<'g, Nest = A::Nest> + Clone,
        N: IntoNest<'g, Nest = A::Nest>,
    {
        self.0.scoped(|over, rows| {
            let init = init.into_nest(&Converter::new(over.graph, over.at, &[]))?;
            let arrays = over.arrays(&rows, &init)?;
            over.scan(&rows, false, init, arrays, next)
        })
    }
}

impl<'g> Over<'g, ()> {
    /// Returns an array for each value of `like`.
    fn arrays<N>(&self, rows: &Rows<'g, N>, like: &impl Nest<'g>) -> Result<Vec<TensorArray<'g>>> {
        let array = |value: Output<'g>| {
            let array =
                TensorArray::of_dtype(self.graph, value.dtype()?, rows.n).infer_shape(self.infer_shape);
            let shape = if self.infer_shape { value.shape() } else { PartialShape::unknown() };
            array.element_shape(shape).build().checked()
        };
        values_of(like).into_iter().map(array).collect()
    }

    fn scan<A, N, E: Nest<'g>>(
        &self,
        rows: &Rows<'g, E>,
        skip_one: bool,
        init: A,
        arrays: Vec<TensorArray<'g>>,
        next: impl FnOnce(A, E) -> N,
    ) -> Result<A>
    where
        A: Nest<'g> + IntoNest<'g, Nest = A> + Clone,
        N: IntoNest<'g, Nest = A>,
    {
        let g = self.graph;
        let body = |i, acc: A, arrays, row| -> Result<(A, Vec<TensorArray<'g>>)> {
            let dtypes: Result<Vec<_>> = values_of(&acc).iter().map(Output::dtype).collect();
            let acc = next(acc, row).into_nest(&Converter::new(g, self.at, &dtypes?))?;
            let arrays = write_all(arrays, i, &acc);
            Ok((acc, arrays))
        };
        let (acc, arrays) = self.go(rows, skip_one, (init, arrays), body)?;
        stacked(&acc, &arrays)
    }
}

/// Writes each value of a nest to its array.
fn write_all<'g>(arrays: Vec<TensorArray<'g>>, i: Output<'g>, nest: &impl Nest<'g>) -> Vec<TensorArray<'g>> {
    arrays.into_iter().zip(values_of(nest)).map(|(array, value)| array.write(i, value)).collect()
}
