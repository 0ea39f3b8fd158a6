//! [`Nest`]: structures of graph values, which loops carry and branches return; [`IntoNest`]: values that
//! convert to one.
//!
//! An [`Output`] is a nest, and so are tuples, arrays, `Vec`, `BTreeMap<String, _>` and structs of nests
//! (`#[derive(Nest)]`), [`IndexedSlices`], [`SparseTensor`], and for branches [`Op`]. Where a nest is
//! expected, number literals and tensors may take the place of outputs; they become constants. A `Result` of
//! a nest is accepted too, and its error is passed on.
//!
//! The type of a literal without a suffix is ambiguous, so the compiler may ask for a type annotation where
//! methods are called on the result of a loop over `(0, x)`. Write `0i32` or `g.constant(0)` instead.
//!
//! A front end whose structures are dynamic uses `Vec<Output>` and keeps the structure itself.

use crate::attr::Attrs;
use crate::builder::weak_cast;
use crate::composite::{IndexedSlices, SparseTensor};
use crate::graph::{Graph, Naming, NodeSpec};
use crate::ids::Port;
use crate::output::{Op, Output};
use millstream_tensor::{DType, Tensor, invalid};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;

pub use millstream_tensor::Result;

/// A structure of graph values.
pub trait Nest<'g>: Sized {
    /// Its structure, for comparisons and messages.
    fn structure(&self) -> Structure;

    /// Appends its values, in the order of the structure.
    fn flatten(&self, leaves: &mut Vec<Leaf<'g>>);

    /// The same structure with other values.
    fn rebuild(&self, values: &mut Values<'g>) -> Result<Self>;
}

/// A value that converts to a [`Nest`]: a nest itself, or a nest with literals in place of outputs.
pub trait IntoNest<'g> {
    /// The resulting nest.
    type Nest: Nest<'g>;

    /// Converts the literals in it to constants.
    fn into_nest(self, cx: &Converter<'g, '_>) -> Result<Self::Nest>;
}

/// A value in a nest.
#[derive(Clone, Copy, Debug)]
pub enum Leaf<'g> {
    /// An output.
    Output(Output<'g>),
    /// An operation: the result of a branch that exists for its effect.
    Op(Op<'g>),
}

/// The structure of a nest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Structure {
    /// One output.
    Value,
    /// One operation.
    Operation,
    /// [`IndexedSlices`]: values, indices and optionally the dense shape.
    Slices {
        /// Whether it has its dense shape.
        with_shape: bool,
    },
    /// [`SparseTensor`]: indices, values, dense shape.
    Sparse,
    /// A TensorArray: a list of tensors, held in one value.
    Array,
    /// A tuple.
    Tuple(Vec<Structure>),
    /// An array or a `Vec`.
    List(Vec<Structure>),
    /// A map, by key.
    Map(Vec<(String, Structure)>),
    /// A struct: its name and its fields.
    Struct(&'static str, Vec<(&'static str, Structure)>),
}

/// The values that [`Nest::rebuild`] takes, in order.
#[derive(Debug)]
pub struct Values<'g>(std::vec::IntoIter<Output<'g>>);

/// Converts literals to constants while a nest is converted.
pub struct Converter<'g, 'a> {
    graph: &'g Graph,
    at: &'static Location<'static>,
    /// For each leaf, the dtype that a number literal takes if it keeps its value.
    wanted: &'a [DType],
    leaf: Cell<usize>,
}

impl fmt::Debug for Converter<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Converter")
            .field("wanted", &self.wanted)
            .field("leaf", &self.leaf)
            .finish_non_exhaustive()
    }
}

impl<'g, 'a> Converter<'g, 'a> {
    /// A converter for `graph`. Errors name the line `at`. A number literal takes the dtype that `wanted` has
    /// for its leaf if it keeps its value.
    pub fn new(graph: &'g Graph, at: &'static Location<'static>, wanted: &'a [DType]) -> Self {
        Converter { graph, at, wanted, leaf: Cell::new(0) }
    }

    /// The graph.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// Counts leaves that need no conversion, so that later literals have the right position, and checks that
    /// they belong to the graph.
    pub fn pass<N: Nest<'g>>(&self, nest: N) -> Result<N> {
        let mut leaves = Vec::new();
        nest.flatten(&mut leaves);
        self.leaf.set(self.leaf.get() + leaves.len());
        for leaf in leaves {
            let graph = match leaf {
                Leaf::Output(o) => o.graph(),
                Leaf::Op(op) => op.graph(),
            };
            if !graph.same(self.graph) {
                return Err(invalid!("a value belongs to another graph").at_line(self.at));
            }
        }
        Ok(nest)
    }

    /// Makes a constant, the next leaf.
    pub fn constant(&self, value: Tensor, weak: bool) -> Result<Output<'g>> {
        let leaf = self.leaf.replace(self.leaf.get() + 1);
        let value = match self.wanted.get(leaf) {
            Some(&dtype) if weak => weak_cast(&value, dtype).map_err(|e| e.at_line(self.at))?,
            _ => value,
        };
        let mut attrs = Attrs::new();
        attrs.set("dtype", value.dtype());
        attrs.set("value", value);
        let spec = NodeSpec::new("Const", Naming::Scoped("Const".into())).attrs(attrs).at(self.at);
        let id = self.graph.lock().add(spec)?;
        Ok(Output::new(self.graph, Port::new(id, 0)))
    }
}

impl<'g> Values<'g> {
    /// These values.
    pub fn new(values: Vec<Output<'g>>) -> Self {
        Values(values.into_iter())
    }

    /// The next value.
    pub fn take(&mut self) -> Result<Output<'g>> {
        self.0.next().ok_or_else(|| invalid!("the structure has more leaves than there are values"))
    }
}

impl Structure {
    /// The number of values in it.
    pub fn n_values(&self) -> usize {
        match self {
            Structure::Value | Structure::Operation | Structure::Array => 1,
            Structure::Slices { with_shape } => 2 + usize::from(*with_shape),
            Structure::Sparse => 3,
            Structure::Tuple(parts) | Structure::List(parts) => parts.iter().map(Structure::n_values).sum(),
            Structure::Map(parts) => parts.iter().map(|(_, p)| p.n_values()).sum(),
            Structure::Struct(_, parts) => parts.iter().map(|(_, p)| p.n_values()).sum(),
        }
    }

    /// The name of each value: positions and field names, joined by dots (`1.j`). A structure that is one
    /// value is `0`.
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::with_capacity(self.n_values());
        self.add_paths(String::new(), &mut paths);
        paths
    }

    /// The parts of a structure with their names; none for a single or composite value.
    pub fn parts(&self) -> Vec<(String, &Structure)> {
        match self {
            Structure::Tuple(parts) | Structure::List(parts) => {
                parts.iter().enumerate().map(|(i, p)| (i.to_string(), p)).collect()
            }
            Structure::Map(parts) => parts.iter().map(|(k, p)| (k.clone(), p)).collect(),
            Structure::Struct(_, parts) => parts.iter().map(|(k, p)| ((*k).to_owned(), p)).collect(),
            _ => Vec::new(),
        }
    }

    /// The names of a composite value's components.
    pub(crate) fn components(&self) -> &'static [&'static str] {
        match self {
            Structure::Slices { with_shape: false } => &["values", "indices"],
            Structure::Slices { with_shape: true } => &["values", "indices", "dense_shape"],
            Structure::Sparse => &["indices", "values", "dense_shape"],
            _ => &[],
        }
    }

    fn add_paths(&self, prefix: String, paths: &mut Vec<String>) {
        match self {
            Structure::Value | Structure::Operation | Structure::Array if prefix.is_empty() => {
                paths.push("0".into());
            }
            Structure::Value | Structure::Operation | Structure::Array => paths.push(prefix),
            Structure::Slices { .. } | Structure::Sparse => {
                paths.extend(self.components().iter().map(|c| join_path(&prefix, c)));
            }
            _ => {
                for (name, part) in self.parts() {
                    part.add_paths(join_path(&prefix, &name), paths);
                }
            }
        }
    }
}

pub(crate) fn join_path(prefix: &str, name: &str) -> String {
    match prefix {
        "" => name.to_owned(),
        _ => format!("{prefix}.{name}"),
    }
}

/// Prints values as `*`, and structures as in Rust: `(*, Pair { j: *, k: * }, [*, *])`.
impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<T>(
            f: &mut fmt::Formatter<'_>,
            parts: &[T],
            mut one: impl FnMut(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
        ) -> fmt::Result {
            for (i, part) in parts.iter().enumerate() {
                if i > 0 {
                    f.write_str(", ")?;
                }
                one(f, part)?;
            }
            Ok(())
        }
        match self {
            Structure::Value => f.write_str("*"),
            Structure::Operation => f.write_str("operation"),
            Structure::Slices { with_shape: false } => f.write_str("IndexedSlices"),
            Structure::Slices { with_shape: true } => f.write_str("IndexedSlices with dense_shape"),
            Structure::Sparse => f.write_str("SparseTensor"),
            Structure::Array => f.write_str("TensorArray"),
            Structure::Tuple(parts) => {
                f.write_str("(")?;
                list(f, parts, |f, p| write!(f, "{p}"))?;
                f.write_str(if parts.len() == 1 { ",)" } else { ")" })
            }
            Structure::List(parts) => {
                f.write_str("[")?;
                list(f, parts, |f, p| write!(f, "{p}"))?;
                f.write_str("]")
            }
            Structure::Map(parts) => {
                f.write_str("{")?;
                list(f, parts, |f, (k, p)| write!(f, "{k:?}: {p}"))?;
                f.write_str("}")
            }
            Structure::Struct(name, parts) => {
                write!(f, "{name} {{ ")?;
                list(f, parts, |f, (k, p)| write!(f, "{k}: {p}"))?;
                f.write_str(" }")
            }
        }
    }
}

impl<'g> Nest<'g> for Output<'g> {
    fn structure(&self) -> Structure {
        Structure::Value
    }
    fn flatten(&self, leaves: &mut Vec<Leaf<'g>>) {
        leaves.push(Leaf::Output(*self));
    }
    fn rebuild(&self, values: &mut Values<'g>) -> Result<Self> {
        values.take()
    }
}

impl<'g> Nest<'g> for Op<'g> {
    fn structure(&self) -> Structure {
        Structure::Operation
    }
    fn flatten(&self, leaves: &mut Vec<Leaf<'g>>) {
        leaves.push(Leaf::Op(*self));
    }
    fn rebuild(&self, values: &mut Values<'g>) -> Result<Self> {
        values.take().map(|v| v.op())
    }
}

impl<'g> Nest<'g> for IndexedSlices<'g> {
    fn structure(&self) -> Structure {
        Structure::Slices { with_shape: self.dense_shape.is_some() }
    }
    fn flatten(&self, leaves: &mut Vec<Leaf<'g>>) {
        leaves.extend([self.values, self.indices].map(Leaf::Output));
        leaves.extend(self.dense_shape.map(Leaf::Output));
    }
    fn rebuild(&self, values: &mut Values<'g>) -> Result<Self> {
        Ok(IndexedSlices {
            values: values.take()?,
            indices: values.take()?,
            dense_shape: self.dense_shape.map(|_| values.take()).transpose()?,
        })
    }
}

impl<'g> Nest<'g> for SparseTensor<'g> {
    fn structure(&self) -> Structure {
        Structure::Sparse
    }
    fn flatten(&self, leaves: &mut Vec<Leaf<'g>>) {
        leaves.extend([self.indices, self.values, self.dense_shape].map(Leaf::Output));
    }
    fn rebuild(&self, values: &mut Values<'g>) -> Result<Self> {
        Ok(SparseTensor { indices: values.take()?, values: values.take()?, dense_shape: values.take()? })
    }
}

macro_rules! leaves_as_they_are {
    ($($t:ident),*) => { $(
        impl<'g> IntoNest<'g> for $t<'g> {
            type Nest = $t<'g>;
            fn into_nest(self, cx: &Converter<'g, '_>) -> Result<$t<'g>> {
                cx.pass(self)
            }
        }
        impl<'g> IntoNest<'g> for &$t<'g> {
            type Nest = $t<'g>;
            fn into_nest(self, cx: &Converter<'g, '_>) -> Result<$t<'g>> {
                cx.pass(*self)
            }
        }
    )* };
}
leaves_as_they_are!(Output, Op, IndexedSlices, SparseTensor);

macro_rules! literals {
    ($($t:ty),*) => { $(
        impl<'g> IntoNest<'g> for $t {
            type Nest = Output<'g>;
            fn into_nest(self, cx: &Converter<'g, '_>) -> Result<Output<'g>> {
                cx.constant(Tensor::scalar(self), true)
            }
        }
    )* };
}
literals!(f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool);

impl<'g> IntoNest<'g> for Tensor {
    type Nest = Output<'g>;
    fn into_nest(self, cx: &Converter<'g, '_>) -> Result<Output<'g>> {
        cx.constant(self, false)
    }
}

impl<'g> IntoNest<'g> for &Tensor {
    type Nest = Output<'g>;
    fn into_nest(self, cx: &Converter<'g, '_>) -> Result<Output<'g>> {
        cx.constant(self.clone(), false)
    }
}

impl<'g> IntoNest<'g> for &str {
    type Nest = Output<'g>;
    fn into_nest(self, cx: &Converter<'g, '_>) -> Result<Output<'g>> {
        cx.constant(Tensor::str(self), false)
    }
}

/// Lets a body end in a fallible call and use `?`.
impl<'g, N: IntoNest<'g>> IntoNest<'g> for Result<N> {
    type Nest = N::Nest;
    fn into_nest(self, cx: &Converter<'g, '_>) -> Result<N::Nest> {
        self?.into_nest(cx)
    }
}

impl<'g, T: Nest<'g>> Nest<'g> for Vec<T> {
    fn structure(&self) -> Structure {
        Structure::List(self.iter().map(T::structure).collect())
    }
    fn flatten(&self, leaves: &mut Vec<Leaf<'g>>) {
        self.iter().for_each(|part| part.flatten(leaves));
    }
    fn rebuild(&self, values: &mut Values<'g>) -> Result<Self> {
        self.iter().map(|part| part.rebuild(values)).collect()
    }
}

impl<'g, T: IntoNest<'g>> IntoNest<'g> for Vec<T> {
    type Nest = Vec<T::Nest>;
    fn into_nest(self, cx: &Converter<'g, '_>) -> Result<Self::Nest> {
        self.into_iter().map(|part| part.into_nest(cx)).collect()
    }
}

impl<'g, T: Nest<'g>, const N: usize> Nest<'g> for [T; N] {
    fn structure(&self) -> Structure {
        Structure::List(self.iter().map(T::structure).collect())
    }
    fn flatten(&self, leaves: &mut Vec<Leaf<'g>>) {
        self.iter().for_each(|part| part.flatten(leaves));
    }
    fn rebuild(&self, values: &mut Values<'g>) -> Result<Self> {
        let parts: Vec<T> = self.iter().map(|part| part.rebuild(values)).collect::<Result<_>>()?;
        array_of(parts)
    }
}

impl<'g, T: IntoNest<'g>, const N: usize> IntoNest<'g> for [T; N] {
    type Nest = [T::Nest; N];
    fn into_nest(self, cx: &Converter<'g, '_>) -> Result<Self::Nest> {
        let parts: Vec<T::Nest> = self.into_iter().map(|part| part.into_nest(cx)).collect::<Result<_>>()?;
        array_of(parts)
    }
}

fn array_of<T, const N: usize>(parts: Vec<T>) -> Result<[T; N]> {
    let n = parts.len();
    parts.try_into().map_err(|_| invalid!("expected {N} parts, found {n}"))
}

impl<'g, T: Nest<'g>> Nest<'g> for BTreeMap<String, T> {
    fn structure(&self) -> Structure {
        Structure::Map(self.iter().map(|(k, part)| (k.clone(), part.structure())).collect())
    }
    fn flatten(&self, leaves: &mut Vec<Leaf<'g>>) {
        self.values().for_each(|part| part.flatten(leaves));
    }
    fn rebuild(&self, values: &mut Values<'g>) -> Result<Self> {
        self.iter().map(|(k, part)| Ok((k.clone(), part.rebuild(values)?))).collect()
    }
}

impl<'g, T: IntoNest<'g>> IntoNest<'g> for BTreeMap<String, T> {
    type Nest = BTreeMap<String, T::Nest>;
    fn into_nest(self, cx: &Converter<'g, '_>) -> Result<Self::Nest> {
        self.into_iter().map(|(k, part)| Ok((k, part.into_nest(cx)?))).collect()
    }
}

macro_rules! tuples {
    ($( ($($t:ident . $i:tt),*) )*) => { $(
        impl<'g, $($t: Nest<'g>),*> Nest<'g> for ($($t,)*) {
            fn structure(&self) -> Structure {
                Structure::Tuple(vec![$(self.$i.structure()),*])
            }
            fn flatten(&self, leaves: &mut Vec<Leaf<'g>>) {
                $(self.$i.flatten(leaves);)*
                let _ = leaves;
            }
            fn rebuild(&self, values: &mut Values<'g>) -> Result<Self> {
                let _ = &values;
                Ok(($(self.$i.rebuild(values)?,)*))
            }
        }
        impl<'g, $($t: IntoNest<'g>),*> IntoNest<'g> for ($($t,)*) {
            type Nest = ($($t::Nest,)*);
            fn into_nest(self, cx: &Converter<'g, '_>) -> Result<Self::Nest> {
                let _ = cx;
                Ok(($(self.$i.into_nest(cx)?,)*))
            }
        }
    )* };
}
tuples! {
    ()
    (A.0)
    (A.0, B.1)
    (A.0, B.1, C.2)
    (A.0, B.1, C.2, D.3)
    (A.0, B.1, C.2, D.3, E.4)
    (A.0, B.1, C.2, D.3, E.4, F.5)
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6)
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7)
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7, I.8)
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7, I.8, J.9)
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7, I.8, J.9, K.10)
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7, I.8, J.9, K.10, L.11)
}
