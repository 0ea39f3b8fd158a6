//! Fetches: any structure of outputs and operations, given back as the same structure of values.

use millstream_exec::Iterations;
use millstream_graph::{Asked, Graph, NodeId, Op, Output, Port};
use millstream_tensor::{DType, Error, FromTensor, Result, Tensor, invalid};
use std::cell::Cell;
use std::collections::BTreeMap;

/// A value to fetch, or an operation to run for its effect.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// let x = g.constant(2.0f32);
/// let targets = vec![Target::Value(x.port()), Target::Value((x * 2.0).port())];
/// let values: Vec<Tensor> = Session::new(&g)?.run(targets, feed![])?;
/// assert_eq!(values[1].to_scalar::<f32>()?, 4.0);
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A value.
    Value(Port),
    /// An operation; its value is `()`.
    Operation(NodeId),
    /// A value inside of loops in every iteration; its value is [`Iterations`].
    Every(Port),
}

/// The result of one fetch.
#[derive(Debug)]
pub enum Fetched {
    /// A value.
    Value(Tensor),
    /// The operation has run.
    Ran,
    /// The values of all iterations.
    Every(Iterations),
}

/// The values of an output in all iterations of the loops around it: see [`every`].
#[derive(Clone, Copy, Debug)]
pub struct Every(Port);

/// Fetches the values of an output inside of loops in all iterations: `session.run(every(x), ())`. The run
/// does what those loops need, and nothing else of the graph. Taken as a tensor (or as a type that a tensor
/// converts to) the values are stacked along a first axis, in order. Taken as [`Iterations`] they are
/// available one by one, and may differ in shape. They all count against the session's memory limit.
///
/// An output of a loop's body has one value for each time the body ran. An output of the condition, or a loop
/// variable as the condition sees it, has one more: the last, for which the condition was false.
///
/// ```
/// # use millstream_graph::{Graph, Output};
/// # use millstream_runtime::{Iterations, Session, every, feed};
/// # use std::cell::Cell;
/// # let g = Graph::with_ops(millstream_ops::registry());
/// # let less = |a, b: i32| g.op("Less").input(a).input(b).output();
/// let square = Cell::new(None);
/// g.while_loop(g.constant(1)).run(
///     |i| less(i, 5),
///     |i| {
///         square.set(Some(i * i));
///         i + 1
///     },
/// )?;
/// let square = square.get().unwrap(); // or by its name: g.output("while/mul:0")?
/// let session = Session::new(&g)?;
/// let all: Vec<i32> = session.run(every(square), feed![])?;
/// assert_eq!(all, [1, 4, 9, 16]);
/// let all: Iterations = session.run(every(square), feed![])?;
/// assert_eq!(all.get(&[2]).unwrap().to_string(), "i32 9");
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
pub fn every(output: Output<'_>) -> Every {
    Every(output.port())
}

impl Fetch for Every {
    fn list(&self, _graph: &Graph, list: &mut FetchList) -> Result<()> {
        list.0.push(Target::Every(self.0));
        Ok(())
    }
}

/// A flat list of fetches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FetchList(pub Vec<Target>);

/// Targets by what they are.
#[derive(Default)]
pub(crate) struct Targets {
    fetches: Vec<Port>,
    every: Vec<Port>,
    operations: Vec<NodeId>,
}

impl Targets {
    pub(crate) fn of(targets: &[Target]) -> Targets {
        let mut sorted = Targets::default();
        for target in targets {
            match target {
                Target::Value(port) => sorted.fetches.push(*port),
                Target::Operation(node) => sorted.operations.push(*node),
                Target::Every(port) => sorted.every.push(*port),
            }
        }
        sorted
    }

    /// What a program for these targets is made for.
    pub(crate) fn asked<'a>(&'a self, feeds: &'a [Port], watched: &'a [Port]) -> Asked<'a> {
        Asked { feeds, fetches: &self.fetches, every: &self.every, watched, targets: &self.operations }
    }
}

/// Anything that can be fetched: an output, [`every`] of one inside of loops, an operation, the name of one
/// (`"add:0"`), tuples, arrays, vectors and maps of these, `()`.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// let x = g.constant(2.0f32);
/// let session = Session::new(&g)?;
/// // An output, a tuple, an array, a name.
/// assert_eq!(session.run::<f32>(x, feed![])?, 2.0);
/// assert_eq!(session.run::<(f32, f32)>((x, x + 1.0), feed![])?, (2.0, 3.0));
/// assert_eq!(session.run::<[f32; 2]>([x, x * x], feed![])?, [2.0, 4.0]);
/// assert_eq!(session.run::<f32>("Const:0", feed![])?, 2.0);
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
pub trait Fetch {
    /// Appends the fetches, in order. `NOT_FOUND` for a name that the graph does not have.
    fn list(&self, graph: &Graph, list: &mut FetchList) -> Result<()>;
}

/// A type that fetched values convert to: the structure of the fetches with tensors or Rust values in it.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// let x = g.constant(vec![1.0f32, 2.0]);
/// let session = Session::new(&g)?;
/// let vector: Vec<f32> = session.run(x, feed![])?;
/// let tensor: Tensor = session.run(x, feed![])?;
/// assert_eq!(vector, tensor.as_slice::<f32>()?);
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
pub trait FromFetched: Sized {
    /// Takes the values that belong to it.
    fn take(values: &mut dyn Iterator<Item = Fetched>) -> Result<Self>;
}

impl Fetch for Output<'_> {
    fn list(&self, _graph: &Graph, list: &mut FetchList) -> Result<()> {
        list.0.push(Target::Value(self.port()));
        Ok(())
    }
}

impl Fetch for Op<'_> {
    fn list(&self, _graph: &Graph, list: &mut FetchList) -> Result<()> {
        list.0.push(Target::Operation(self.id()));
        Ok(())
    }
}

/// An output by its name, `node:0`, or an operation, `^node`. A name without a number is an operation if that
/// has no outputs, and otherwise its first output.
impl Fetch for str {
    fn list(&self, graph: &Graph, list: &mut FetchList) -> Result<()> {
        let target = match self.strip_prefix('^') {
            Some(node) => Target::Operation(graph.operation(node)?.id()),
            None => match graph.find(self).filter(|op| op.outputs().is_empty()) {
                Some(op) => Target::Operation(op.id()),
                None => Target::Value(graph.output(self)?.port()),
            },
        };
        list.0.push(target);
        Ok(())
    }
}

impl Fetch for String {
    fn list(&self, graph: &Graph, list: &mut FetchList) -> Result<()> {
        self.as_str().list(graph, list)
    }
}

impl Fetch for Target {
    fn list(&self, _graph: &Graph, list: &mut FetchList) -> Result<()> {
        list.0.push(*self);
        Ok(())
    }
}

impl Fetch for FetchList {
    fn list(&self, _graph: &Graph, list: &mut FetchList) -> Result<()> {
        list.0.extend(&self.0);
        Ok(())
    }
}

impl<F: Fetch + ?Sized> Fetch for &F {
    fn list(&self, graph: &Graph, list: &mut FetchList) -> Result<()> {
        (**self).list(graph, list)
    }
}

impl<F: Fetch> Fetch for [F] {
    fn list(&self, graph: &Graph, list: &mut FetchList) -> Result<()> {
        self.iter().try_for_each(|f| f.list(graph, list))
    }
}

impl<F: Fetch, const N: usize> Fetch for [F; N] {
    fn list(&self, graph: &Graph, list: &mut FetchList) -> Result<()> {
        self.as_slice().list(graph, list)
    }
}

impl<F: Fetch> Fetch for Vec<F> {
    fn list(&self, graph: &Graph, list: &mut FetchList) -> Result<()> {
        self.as_slice().list(graph, list)
    }
}

impl<K: Ord, F: Fetch> Fetch for BTreeMap<K, F> {
    fn list(&self, graph: &Graph, list: &mut FetchList) -> Result<()> {
        self.values().try_for_each(|f| f.list(graph, list))
    }
}

/// Takes all fetched values. A value left over is an error, since dropping it in silence would hide a
/// mistake. The error for a value of another type names its fetch.
pub(crate) fn take_all<V: FromFetched>(
    values: impl Iterator<Item = Fetched>,
    name: impl Fn(usize) -> Option<String>,
) -> Result<V> {
    let n_taken = Cell::new(0usize);
    let mut values = values.inspect(|_| n_taken.set(n_taken.get() + 1));
    let taken = V::take(&mut values).map_err(|e| match n_taken.get().checked_sub(1).and_then(&name) {
        Some(name) => e.note(format!("the value is that of the fetch {name}")),
        None => e,
    })?;
    match values.filter(|v| !matches!(v, Fetched::Ran)).count() {
        0 => Ok(taken),
        n => Err(invalid!("the fetches have {n} more value(s) than the result type")
            .with_help("use a tuple or an array with one entry per value, or `Vec<Tensor>` for any number")),
    }
}

fn next(values: &mut dyn Iterator<Item = Fetched>) -> Result<Tensor> {
    match values.next() {
        Some(Fetched::Value(value)) => Ok(value),
        Some(Fetched::Every(values)) => values.stack(),
        Some(Fetched::Ran) => Err(invalid!("an operation has no value").with_help("use `()` as its type")),
        None => Err(too_few()),
    }
}

fn too_few() -> Error {
    invalid!("the fetches have fewer values than the result type")
}

macro_rules! from_one {
    ($($t:ty),*) => { $(
        impl FromFetched for $t {
            fn take(values: &mut dyn Iterator<Item = Fetched>) -> Result<Self> {
                <$t>::from_tensor(next(values)?)
            }
        }
    )* };
}
from_one!(Tensor, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool, String);
from_one!(millstream_tensor::f16, millstream_tensor::bf16, millstream_tensor::C64, millstream_tensor::C128);

impl FromFetched for () {
    fn take(values: &mut dyn Iterator<Item = Fetched>) -> Result<Self> {
        // The place of an operation, or no place at all where nothing was fetched.
        match values.next() {
            None | Some(Fetched::Ran) => Ok(()),
            Some(_) => Err(invalid!("a value was fetched, but the result type is `()`")
                .with_help("name its type: `session.run::<f32>(..)`, or `let x: Tensor = session.run(..)?`")),
        }
    }
}

/// All remaining values, each as a tensor; operations are left out.
impl FromFetched for Vec<Tensor> {
    fn take(values: &mut dyn Iterator<Item = Fetched>) -> Result<Self> {
        values.filter(|v| !matches!(v, Fetched::Ran)).map(|v| next(&mut std::iter::once(v))).collect()
    }
}

/// All remaining values, unchanged.
impl FromFetched for Vec<Fetched> {
    fn take(values: &mut dyn Iterator<Item = Fetched>) -> Result<Self> {
        Ok(values.collect())
    }
}

impl FromFetched for Iterations {
    fn take(values: &mut dyn Iterator<Item = Fetched>) -> Result<Self> {
        match values.next() {
            Some(Fetched::Every(values)) => Ok(values),
            Some(_) => {
                Err(invalid!("the fetched value has no iterations").with_help("fetch it with `every(..)`"))
            }
            None => Err(too_few()),
        }
    }
}

macro_rules! from_vec {
    ($($t:ty),*) => { $(
        /// A vector's elements.
        impl FromFetched for Vec<$t> {
            fn take(values: &mut dyn Iterator<Item = Fetched>) -> Result<Self> {
                let value = next(values)?;
                if value.rank() > 1 {
                    return Err(invalid!("expected a vector, found shape {}", value.shape()));
                }
                Ok(value.as_slice::<$t>()?.to_vec())
            }
        }
    )* };
}
from_vec!(f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool);

/// A vector's strings, which must be UTF-8.
impl FromFetched for Vec<String> {
    fn take(values: &mut dyn Iterator<Item = Fetched>) -> Result<Self> {
        Vec::from_tensor(next(values)?)
    }
}

impl<V: FromFetched, const N: usize> FromFetched for [V; N] {
    fn take(values: &mut dyn Iterator<Item = Fetched>) -> Result<Self> {
        let taken: Vec<V> = (0..N).map(|_| V::take(values)).collect::<Result<_>>()?;
        taken.try_into().map_err(|_| Error::internal("an array of another length"))
    }
}

macro_rules! tuples {
    ($(($($name:ident $v:ident),+))*) => { $(
        impl<$($name: Fetch),+> Fetch for ($($name,)+) {
            fn list(&self, graph: &Graph, list: &mut FetchList) -> Result<()> {
                let ($($v,)+) = self;
                $($v.list(graph, list)?;)+
                Ok(())
            }
        }
        impl<$($name: FromFetched),+> FromFetched for ($($name,)+) {
            fn take(values: &mut dyn Iterator<Item = Fetched>) -> Result<Self> {
                Ok(($($name::take(values)?,)+))
            }
        }
    )* };
}
tuples! {
    (A a)
    (A a, B b)
    (A a, B b, C c)
    (A a, B b, C c, D d)
    (A a, B b, C c, D d, E e)
    (A a, B b, C c, D d, E e, F f)
    (A a, B b, C c, D d, E e, F f, G g)
    (A a, B b, C c, D d, E e, F f, G g, H h)
}

impl Fetch for () {
    fn list(&self, _graph: &Graph, _list: &mut FetchList) -> Result<()> {
        Ok(())
    }
}

/// The error for a feed of the wrong dtype.
pub(crate) fn wrong_dtype(name: &str, wanted: DType, got: &Tensor) -> Error {
    invalid!("`{name}` takes {wanted} but was fed {}{}", got.dtype(), got.shape())
        .with_help("convert the value to the dtype of the fed tensor")
}
