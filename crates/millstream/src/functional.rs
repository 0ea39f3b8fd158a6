//! Functions over the rows of tensors: [`HigherOrder::map_fn`], folds and [`HigherOrder::scan`], as loops.
//!
//! What goes in is a [`Nest`] of values of one length (dimension 0); a function sees one row of each, in the same structure, and may give
//! another structure. All are ordinary loops over [`TensorArray`]s, so gradients of any order go through.

use crate::options::{Options, Start};
use crate::tensor_array::TensorArray;
use millstream_graph::nest::{Converter, Leaf, Values};
use millstream_graph::{Graph, IntoNest, Nest, Output, WhileContext};
use millstream_tensor::{PartialShape, Result, Tensor, invalid};
use std::panic::Location;

/// Functions over rows.
pub trait HigherOrder<'g>: Start<'g> {
    /// `fn(row)` of every row of `elems`, as rows again: options, then [`Map::run`]. The rows are independent, so that up to
    /// `parallel_iterations` of them are worked on at a time.
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

    /// `fn(fn(fn(first, row 1), row 2), ..)`: [`Fold::run`], or [`Fold::run_from`] an initial value.
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
    #[track_caller]
    fn foldr<E: IntoNest<'g>>(self, elems: E) -> Fold<'g, E> {
        Fold(Over { reverse: true, ..Over::new(self.options(), elems, "foldr") })
    }

    /// All values that a fold goes through, as rows: [`Scan::run`] (the first of them is the first row), or [`Scan::run_from`] an
    /// initial value (which is not one of them).
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

/// What all of them are told.
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

/// A map being described.
#[must_use = "it is made by `run`"]
pub struct Map<'g, E>(Over<'g, E>);

/// A fold being described.
#[must_use = "it is made by `run` or `run_from`"]
pub struct Fold<'g, E>(Over<'g, E>);

/// A scan being described.
#[must_use = "it is made by `run` or `run_from`"]
pub struct Scan<'g, E>(Over<'g, E>);

macro_rules! loop_options {
    ($($t:ident)*) => { $(
        impl<'g, E: IntoNest<'g>> $t<'g, E> {
            /// How many rows may be worked on at the same time, 10 by default.
            pub fn parallel_iterations(mut self, n: i64) -> Self {
                self.0.parallel_iterations = n;
                self
            }

            /// Whether gradients may go through; they may by default.
            pub fn back_prop(mut self, yes: bool) -> Self {
                self.0.back_prop = yes;
                self
            }

            /// Whether values saved for the gradient may leave memory; by default they stay.
            pub fn swap_memory(mut self, yes: bool) -> Self {
                self.0.swap_memory = yes;
                self
            }
        }
    )* };
}
loop_options!(Map Fold Scan);

/// Rows, one at a time.
struct Rows<'g, N> {
    nest: N,
    arrays: Vec<TensorArray<'g>>,
    /// How many.
    n: Output<'g>,
}

impl<'g, N: Nest<'g>> Rows<'g, N> {
    fn of(graph: &'g Graph, nest: N, at: &'static Location<'static>) -> Result<Rows<'g, N>> {
        let values = values_of(&nest);
        let Some(first) = values.first() else {
            return Err(invalid!("there are no rows: the structure of the elements is {}", nest.structure())
                .at_line(at));
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

    /// Row `i`.
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

    /// Prepares the rows and builds with them, in the name scope.
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
    /// Goes over the rows: `next` makes the accumulator and the arrays of the accumulator, the row and where it is.
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
            false => g.op("Less").input(i).input(rows.n).output(),
            true => g.op("GreaterEqual").input(i).input(0).output(),
        };
        let (_, result) = the_loop.run(
            |(i, _)| more(i),
            |(i, (acc, arrays))| -> Result<_> { Ok((i + step, next(i, acc, arrays, rows.at(i)?)?)) },
        )?;
        Ok(result)
    }
}

impl<'g, E: IntoNest<'g>> Map<'g, E> {
    /// Makes the loop. The results have the structure and dtypes that `each` gives, which is called once.
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
            // What the arrays hold is known only when `each` has been called: they become variables of the loop after that.
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
                let more = g.inside(inside, || g.op("Less").inputs([counter.merged(), rows.n]).output());
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
                            .make()
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
    /// Makes the loop, from the first row on (a fold from the right: from the last one back). There must be one at least.
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

    /// Makes the loop, from an initial value on.
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
    /// From the last row to the first; the results stand where their rows do.
    pub fn reverse(mut self, yes: bool) -> Self {
        self.0.reverse = yes;
        self
    }

    /// Whether (by default) all values have one shape.
    pub fn infer_shape(mut self, yes: bool) -> Self {
        self.0.infer_shape = yes;
        self
    }

    /// Makes the loop, from the first row on (in reverse, from the last one back). There must be one at least.
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

    /// Makes the loop, from an initial value on.
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
    /// An array for each value of `like`.
    fn arrays<N>(&self, rows: &Rows<'g, N>, like: &impl Nest<'g>) -> Result<Vec<TensorArray<'g>>> {
        let array = |value: Output<'g>| {
            let array =
                TensorArray::of_dtype(self.graph, value.dtype()?, rows.n).infer_shape(self.infer_shape);
            let shape = if self.infer_shape { value.shape() } else { PartialShape::unknown() };
            array.element_shape(shape).make().checked()
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
