//! [`OpBuilder`]: a node, described step by step: `g.op("Tile").input(x).input([2, 2]).output()`.

use crate::attr::{Attr, Attrs};
use crate::graph::{Graph, GraphData, Naming, NodeSpec};
use crate::ids::{NodeId, Port};
use crate::op::{Count, OpDef, TypeSpec};
use crate::output::{Op, Output};
use millstream_tensor::{DType, Element, Error, Result, Tensor, invalid};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::panic::Location;
use std::sync::Arc;

/// An input: a value of the graph, or a literal that becomes a constant.
#[derive(Clone, Debug)]
pub struct Arg<'g>(pub(crate) ArgKind<'g>);

#[derive(Clone, Debug)]
pub(crate) enum ArgKind<'g> {
    Output(Output<'g>),
    /// `weak` marks a number literal, which takes the dtype that the op expects if no element changes its
    /// value.
    Literal {
        value: Result<Tensor>,
        weak: bool,
    },
    /// A back edge that is closed later.
    Open,
}

impl<'g> From<Output<'g>> for Arg<'g> {
    fn from(output: Output<'g>) -> Self {
        Arg(ArgKind::Output(output))
    }
}

impl<'g> From<&Output<'g>> for Arg<'g> {
    fn from(output: &Output<'g>) -> Self {
        Arg(ArgKind::Output(*output))
    }
}

impl<'g> From<Tensor> for Arg<'g> {
    fn from(value: Tensor) -> Self {
        Arg(ArgKind::Literal { value: Ok(value), weak: false })
    }
}

impl<'g> From<&str> for Arg<'g> {
    fn from(value: &str) -> Self {
        Arg(ArgKind::Literal { value: Ok(Tensor::str(value)), weak: false })
    }
}

impl<'g> From<String> for Arg<'g> {
    fn from(value: String) -> Self {
        Arg(ArgKind::Literal { value: Ok(Tensor::str(value)), weak: false })
    }
}

impl<'g, const N: usize> From<[&str; N]> for Arg<'g> {
    fn from(values: [&str; N]) -> Self {
        let value = Tensor::strings([N], values.map(Into::into).into());
        Arg(ArgKind::Literal { value, weak: false })
    }
}

macro_rules! literal_args {
    ($($t:ty),*) => { $(
        impl<'g> From<$t> for Arg<'g> {
            fn from(value: $t) -> Self {
                Arg(ArgKind::Literal { value: Ok(Tensor::scalar(value)), weak: true })
            }
        }
        impl<'g> From<Vec<$t>> for Arg<'g> {
            fn from(value: Vec<$t>) -> Self {
                Arg(ArgKind::Literal { value: Tensor::vector(&value), weak: true })
            }
        }
        impl<'g> From<&[$t]> for Arg<'g> {
            fn from(value: &[$t]) -> Self {
                Arg(ArgKind::Literal { value: Tensor::vector(value), weak: true })
            }
        }
        impl<'g, const N: usize> From<[$t; N]> for Arg<'g> {
            fn from(value: [$t; N]) -> Self {
                Arg(ArgKind::Literal { value: Tensor::vector(&value), weak: true })
            }
        }
        impl<'g, const N: usize, const M: usize> From<[[$t; M]; N]> for Arg<'g> {
            fn from(value: [[$t; M]; N]) -> Self {
                Arg(ArgKind::Literal { value: Tensor::from_slice([N, M], value.as_flattened()), weak: true })
            }
        }
    )* };
}
literal_args!(f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool);

impl<'g> Arg<'g> {
    /// The back edge of a `Merge`, closed later by [`Graph::close_back_edge`].
    pub fn open() -> Arg<'g> {
        Arg(ArgKind::Open)
    }
}

/// A node being described. Ends with [`OpBuilder::output`], [`OpBuilder::finish`] or
/// [`OpBuilder::try_finish`].
#[must_use = "the node is made by `output`, `finish` or `try_finish`"]
pub struct OpBuilder<'g> {
    graph: &'g Graph,
    op: Cow<'static, str>,
    name: Option<String>,
    exact: bool,
    raw: bool,
    args: SmallVec<[Arg<'g>; 3]>,
    controls: SmallVec<[NodeId; 2]>,
    attrs: Attrs,
    device: Option<Arc<str>>,
    context: Option<crate::context::ContextId>,
    at: &'static Location<'static>,
}

impl std::fmt::Debug for OpBuilder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpBuilder")
            .field("op", &self.op)
            .field("name", &self.name)
            .field("attrs", &self.attrs)
            .finish_non_exhaustive()
    }
}

impl Graph {
    /// Starts a node of this op type.
    #[track_caller]
    pub fn op(&self, op: impl Into<Cow<'static, str>>) -> OpBuilder<'_> {
        OpBuilder {
            graph: self,
            op: op.into(),
            name: None,
            exact: false,
            raw: false,
            args: SmallVec::new(),
            controls: SmallVec::new(),
            attrs: Attrs::new(),
            device: None,
            context: None,
            at: Location::caller(),
        }
    }
}

impl<'g> OpBuilder<'g> {
    /// Adds an input.
    pub fn input(mut self, arg: impl Into<Arg<'g>>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds inputs.
    pub fn inputs(mut self, args: impl IntoIterator<Item = impl Into<Arg<'g>>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an attribute.
    pub fn attr(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Attr>) -> Self {
        self.attrs.set(name, value);
        self
    }

    /// Sets several attributes.
    pub fn attrs(mut self, attrs: Attrs) -> Self {
        for (name, value) in attrs.iter() {
            self.attrs.set(name.to_owned(), value.clone());
        }
        self
    }

    /// Asks for a name, which is made unique in the current scope. The default, also for an empty name, is
    /// the op type's name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into()).filter(|n| !n.is_empty());
        self
    }

    /// Adds a control input: the node runs after this operation.
    pub fn control(mut self, op: impl Into<Op<'g>>) -> Self {
        self.controls.push(op.into().id());
        self
    }

    /// Asks for a device.
    pub fn device(mut self, device: &str) -> Self {
        self.device = Some(device.into());
        self
    }

    /// Sets the source line that errors name. The default is the caller's.
    pub fn at(mut self, at: &'static Location<'static>) -> Self {
        self.at = at;
        self
    }

    /// Makes the node exactly as described: with this name, no scopes and no captures. For importers.
    pub fn exact(mut self) -> Self {
        self.exact = true;
        self.raw = true;
        self
    }

    /// Makes the node with exactly this name, but otherwise like any other node of the loop or branch being
    /// built. For importers.
    pub fn exact_here(mut self) -> Self {
        self.exact = true;
        self
    }

    /// Makes the node in this context, without captures. The name is made unique. For loop builders.
    pub fn raw(mut self, context: Option<crate::context::ContextId>) -> Self {
        self.raw = true;
        self.context = context;
        self
    }

    /// Makes the node and returns its first output. The graph remembers a mistake.
    pub fn output(self) -> Output<'g> {
        self.finish().output(0)
    }

    /// Makes the node. The graph remembers a mistake.
    pub fn finish(self) -> Op<'g> {
        let graph = self.graph;
        let poisoned = self.is_poisoned();
        match self.try_finish() {
            Ok(op) => op,
            Err(error) => {
                // The graph already remembers the mistake that made an input unusable.
                if !poisoned {
                    graph.remember(error);
                }
                Op::new(graph, NodeId::POISON)
            }
        }
    }

    fn is_poisoned(&self) -> bool {
        self.controls.contains(&NodeId::POISON)
            || self.args.iter().any(|a| matches!(&a.0, ArgKind::Output(o) if o.port().node == NodeId::POISON))
    }

    /// Makes the node, or returns its mistake at once.
    pub fn try_finish(mut self) -> Result<Op<'g>> {
        self.at = self.graph.line(self.at);
        let at = self.at;
        for arg in &mut self.args {
            if let ArgKind::Output(o) = &arg.0
                && !o.graph().same(self.graph)
            {
                if !self.graph.is_open_body() {
                    return Err(invalid!("an input of {} is from another graph", self.op).at_line(at));
                }
                arg.0 = ArgKind::Output(self.graph.capture(*o).map_err(|e| e.at_line(at))?);
            }
        }
        let graph = self.graph;
        let id = self.build(&mut graph.lock()).map_err(|e| e.at_line(at))?;
        Ok(Op::new(graph, id))
    }

    fn build(self, g: &mut GraphData) -> Result<NodeId> {
        let def = g.registry().get(&self.op);
        let wanted = self.name.unwrap_or_else(|| self.op.clone().into_owned());
        let naming = match self.exact {
            true => Naming::Exact(wanted),
            false => Naming::Reserved(match wanted.strip_suffix('/') {
                Some(full) if g.find(full).is_ok() => {
                    return Err(Error::new(
                        millstream_tensor::Code::AlreadyExists,
                        format!("Duplicate node name in graph: '{full}'"),
                    )
                    .with_help(
                        "a name that ends in `/` is used as it is; without the `/` it is made unique",
                    ));
                }
                Some(full) => full.to_owned(),
                None => g.unique_name(&wanted),
            }),
        };
        // Constants of literals, and captures, are named under the node, as in TensorFlow.
        let scope = match &naming {
            // A constant has neither. Captures of its control inputs are named beside it.
            Naming::Reserved(_) if self.op == "Const" => g.current_scope().to_owned(),
            Naming::Reserved(name) => format!("{name}/"),
            Naming::Exact(name) if !self.raw => format!("{name}/"),
            _ => String::new(),
        };
        let hints = def.map(|def| dtype_hints(g, def, &self.args, &self.attrs)).unwrap_or_default();
        let (controls, attrs, device, at, raw) = (self.controls, self.attrs, self.device, self.at, self.raw);
        let (op, args, context) = (self.op, self.args, self.context);
        g.with_scope(scope, |g| {
            let mut inputs: SmallVec<[Port; 2]> = SmallVec::new();
            let n_args = args.len();
            for (i, arg) in args.into_iter().enumerate() {
                inputs.push(match arg.0 {
                    ArgKind::Output(o) => o.port(),
                    ArgKind::Open => Port::OPEN,
                    ArgKind::Literal { value, weak } => {
                        let hint = hints.get(i).copied().flatten();
                        let value = value?;
                        let value = match hint {
                            Some(dtype) if weak => weak_cast(&value, dtype)?,
                            _ => value,
                        };
                        g.literal(literal_name(def, &attrs, i, n_args), value, at)?
                    }
                });
            }
            let mut spec = NodeSpec::new(op, naming).inputs(inputs).attrs(attrs).at(at).context(context);
            spec.controls = controls;
            spec.device = device;
            match raw {
                true => g.insert(spec),
                false => g.add(spec),
            }
        })
    }
}

impl GraphData {
    pub(crate) fn literal(
        &mut self,
        name: String,
        value: Tensor,
        at: &'static Location<'static>,
    ) -> Result<Port> {
        let mut attrs = Attrs::new();
        attrs.set("dtype", value.dtype());
        attrs.set("value", value);
        let id = self.add(NodeSpec::new("Const", Naming::Scoped(name)).attrs(attrs).at(at))?;
        Ok(Port::new(id, 0))
    }
}

/// The name of the constant made of argument `i` of `n`, a literal: the argument's name, numbered in a list.
fn literal_name(def: Option<&OpDef>, attrs: &Attrs, i: usize, n: usize) -> String {
    let Some(def) = def else { return "Const".into() };
    let mut at = 0usize;
    for (arg, len) in def.inputs.iter().zip(list_lengths(def, attrs, n)) {
        if i < at.saturating_add(len) {
            return match arg.count {
                Count::One => arg.name.to_owned(),
                _ => format!("{}_{}", arg.name, i - at),
            };
        }
        at = at.saturating_add(len);
    }
    "Const".into()
}

/// The number of values, `n` in all, that each input argument of an op takes. Attributes determine it; lists
/// without an attribute share the rest equally.
fn list_lengths(def: &OpDef, attrs: &Attrs, n: usize) -> Vec<usize> {
    let said = |count| match count {
        Count::One => Some(1),
        Count::Number(name) => usize::try_from(attrs.int(name).ok()?).ok(),
        Count::List(name) => Some(attrs.dtypes(name).ok()?.len()),
    };
    let lengths: Vec<Option<usize>> = def.inputs.iter().map(|a| said(a.count)).collect();
    let known = lengths.iter().flatten().fold(0usize, |sum, n| sum.saturating_add(*n));
    let unknown = lengths.iter().filter(|n| n.is_none()).count().max(1);
    let each = n.saturating_sub(known) / unknown;
    lengths.into_iter().map(|length| length.unwrap_or(each).min(n)).collect()
}

/// The dtype that each argument should have, as far as attributes and other arguments determine it.
fn dtype_hints(g: &GraphData, def: &OpDef, args: &[Arg], attrs: &Attrs) -> Vec<Option<DType>> {
    // One entry per value; a list argument has an entry for each of its values.
    let mut specs = Vec::with_capacity(args.len());
    for (arg, n) in def.inputs.iter().zip(list_lengths(def, attrs, args.len())) {
        specs.extend(std::iter::repeat_n((arg.ty, arg.count), n));
    }
    let known = |attr: &str| {
        if let Ok(dtype) = attrs.dtype(attr) {
            return Some(dtype);
        }
        let same = |(ty, count): &(TypeSpec, Count)| {
            matches!(ty, TypeSpec::Attr(a) if *a == attr) && !matches!(count, Count::List(_))
        };
        let given = |strong: bool| {
            specs.iter().zip(args).filter(|(s, _)| same(s)).find_map(|(_, a)| match &a.0 {
                ArgKind::Output(o) => g.type_of(o.port()).ok().map(|t| t.dtype),
                ArgKind::Literal { value: Ok(v), weak } if !strong || !weak => Some(v.dtype()),
                _ => None,
            })
        };
        given(true).or_else(|| given(false))
    };
    specs
        .iter()
        .map(|(ty, count)| match (ty, count) {
            (_, Count::List(_)) => None,
            (TypeSpec::Fixed(dtype), _) => Some(*dtype),
            (TypeSpec::Attr(attr), _) => known(attr),
        })
        .collect()
}

/// A number literal converted to another dtype. An error if an element would change its value.
pub fn weak_cast(value: &Tensor, dtype: DType) -> Result<Tensor> {
    if value.dtype() == dtype || !value.dtype().is_number() || !dtype.is_number() {
        return Ok(value.clone());
    }
    let lossy = || -> Error {
        invalid!("the literal {value} cannot be represented as {dtype}")
            .with_help(format!("write it as a {dtype}"))
    };
    let numbers: Vec<f64> = as_f64(value).ok_or_else(lossy)?;
    from_f64(value, &numbers, dtype).ok_or_else(lossy)
}

fn as_f64(value: &Tensor) -> Option<Vec<f64>> {
    macro_rules! via {
        ($($d:ident => $f:expr),*) => {
            match value.dtype() {
                $(DType::$d => Some(value.as_slice().ok()?.iter().map($f).collect()),)*
                _ => None,
            }
        };
    }
    via! {
        F32 => |&v: &f32| f64::from(v), F64 => |&v: &f64| v,
        I8 => |&v: &i8| f64::from(v), I16 => |&v: &i16| f64::from(v), I32 => |&v: &i32| f64::from(v),
        U8 => |&v: &u8| f64::from(v), U16 => |&v: &u16| f64::from(v), U32 => |&v: &u32| f64::from(v),
        I64 => |&v: &i64| v as f64, U64 => |&v: &u64| v as f64
    }
}

/// Floats take any number, rounded as literals are. Integers take only whole numbers in their range.
fn from_f64(value: &Tensor, numbers: &[f64], dtype: DType) -> Option<Tensor> {
    use millstream_tensor::{Complex, bf16, f16};
    fn make<T: Element>(
        value: &Tensor,
        numbers: &[f64],
        convert: impl Fn(f64) -> Option<T>,
    ) -> Option<Tensor> {
        let converted: Option<Vec<T>> = numbers.iter().map(|&v| convert(v)).collect();
        Tensor::from_slice(value.shape().clone(), &converted?).ok()
    }
    macro_rules! int {
        ($t:ty) => {
            make::<$t>(value, numbers, |v| {
                let whole = v as $t;
                (v.fract() == 0.0 && whole as f64 == v).then_some(whole)
            })
        };
    }
    match dtype {
        DType::F16 => make(value, numbers, |v| Some(f16::from_f64(v))),
        DType::BF16 => make(value, numbers, |v| Some(bf16::from_f64(v))),
        DType::F32 => make(value, numbers, |v| Some(v as f32)),
        DType::F64 => make(value, numbers, Some),
        DType::C64 => make(value, numbers, |v| Some(Complex::new(v as f32, 0.0))),
        DType::C128 => make(value, numbers, |v| Some(Complex::new(v, 0.0))),
        DType::I8 => int!(i8),
        DType::I16 => int!(i16),
        DType::I32 => int!(i32),
        DType::I64 => int!(i64),
        DType::U8 => int!(u8),
        DType::U16 => int!(u16),
        DType::U32 => int!(u32),
        DType::U64 => int!(u64),
        _ => None,
    }
}
