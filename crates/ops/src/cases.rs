//! The examples of the op library as data: parsing them, and checking them against the kernels. Other crates
//! run the same examples through sessions.
//!
//! An example is `Op(arg, arg; attr=value, attr=value) = out, out`. The relation is `=` (the same bits), `~`
//! (floats within 1e-5 relative or 1e-6 absolute), `:` (inferred types) or `!` (an error that contains the
//! text).
//!
//! An argument may be the first output of another op: `Op(Op(arg), arg) = out`. Other outputs, and outputs
//! with several uses, are named first: in `a b <- Op(arg) | Op(a, b) = out` they are `a` and `b`.
//!
//! The argument `&f32[2] [1 2]` is a reference to a variable with this value, `@f32[2] [1 2]` a resource
//! handle of one; with only a type (`@f32[?,2]`) the variable has no value yet. A reference among the outputs
//! is compared by its variable's value. The example of an op without outputs gives the values of its
//! variables after the call, in order.

use millstream_graph::op::{HandleShape, InferCx, Known, NodeInfo, lone};
use millstream_graph::{Attr, Attrs, FuncRef, ValueType};
use millstream_state::Variable;
use millstream_tensor::{DType, Handle, PartialShape, Result, Tensor, ensure, invalid};
use smallvec::SmallVec;
use std::sync::Arc;

/// An argument of an example.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A value.
    Value(Tensor),
    /// A type with a partial shape.
    Type(DType, PartialShape),
    /// A variable.
    Variable(VariableArg),
    /// An output of an earlier call: the number of the call, and of the output.
    Output(usize, usize),
}

/// One op with its inputs.
#[derive(Clone, Debug)]
pub struct Call {
    /// The op type.
    pub op: String,
    /// The inputs.
    pub args: Vec<Arg>,
    /// The attributes.
    pub attrs: Attrs,
}

/// A variable that is an argument of an example.
#[derive(Clone, Debug)]
pub struct VariableArg {
    /// Whether the argument is a reference instead of a resource handle.
    pub by_ref: bool,
    /// The dtype of its values.
    pub dtype: DType,
    /// The shape of its values.
    pub shape: PartialShape,
    /// Its value, if it has one.
    pub value: Option<Tensor>,
}

/// The expected result of an example.
#[derive(Clone, Debug)]
pub enum Expect {
    /// These values, bit for bit.
    Values(Vec<Tensor>),
    /// These values, within the tolerances of [`near`].
    Near(Vec<Tensor>),
    /// These types.
    Types(Vec<(DType, PartialShape)>),
    /// An error whose text contains this.
    Error(String),
}

/// A parsed example.
#[derive(Clone, Debug)]
pub struct Case {
    /// What is computed first, in order: a call's inputs come before it.
    pub before: Vec<Call>,
    /// The op that the example is about.
    pub call: Call,
    /// What must come out.
    pub expect: Expect,
}

impl Case {
    /// Parses an example.
    pub fn parse(text: &str) -> Result<Case> {
        let mut parser = Parser::default();
        let mut rest = text.trim_start();
        while let Some((names, call)) = named(rest) {
            let (call, after) = parser.call(call)?;
            for (output, name) in names.enumerate() {
                parser.names.push((name.to_owned(), parser.before.len(), output));
            }
            parser.before.push(call);
            let after = after.trim_start();
            let next = after.strip_prefix('|').ok_or_else(|| invalid!("`|` is missing in `{text}`"))?;
            rest = next.trim_start();
        }
        let (call, rest) = parser.call(rest)?;
        let mut chars = rest.trim_start().chars();
        let relation = chars.next().ok_or_else(|| invalid!("nothing is expected of `{text}`"))?;
        let right = chars.as_str().trim();
        Ok(Case {
            before: parser.before,
            call,
            expect: match relation {
                '=' => Expect::Values(list(right).map(Tensor::parse).collect::<Result<_>>()?),
                '~' => Expect::Near(list(right).map(Tensor::parse).collect::<Result<_>>()?),
                ':' => Expect::Types(
                    list(right)
                        .map(|t| parse_type(t).ok_or_else(|| invalid!("`{t}` is not a type")))
                        .collect::<Result<_>>()?,
                ),
                '!' => Expect::Error(right.to_owned()),
                other => return Err(invalid!("`{other}` is not a relation, in `{text}`")),
            },
        })
    }

    /// All calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.before.iter().chain([&self.call])
    }

    /// Whether some argument is only a type, so that there is nothing to compute.
    pub fn only_types(&self) -> bool {
        self.calls().any(|call| call.args.iter().any(|a| matches!(a, Arg::Type(..))))
    }
}

/// `a b <- Op(..)`: the names, and the text from the op on.
fn named(text: &str) -> Option<(impl Iterator<Item = &str>, &str)> {
    let (names, call) = text.split_once("<-")?;
    // A later arrow belongs to the expected text.
    (!names.contains('(')).then(|| (names.split_whitespace(), call.trim_start()))
}

#[derive(Default)]
struct Parser {
    before: Vec<Call>,
    /// The names of outputs, each with the number of its call and of the output.
    names: Vec<(String, usize, usize)>,
}

impl Parser {
    /// Parses `Op(arg, arg; attr=value)` at the start of `text`; returns the rest of the text too.
    fn call<'t>(&mut self, text: &'t str) -> Result<(Call, &'t str)> {
        let open = text.find('(').ok_or_else(|| invalid!("no `(` in `{text}`"))?;
        let close = matching(text, open)?;
        let inside = &text[open + 1..close];
        let (args, attrs) = match split(inside, ';').as_slice() {
            [args] => (*args, ""),
            [args, attrs] => (*args, *attrs),
            _ => return Err(invalid!("more than one `;` in `{text}`")),
        };
        let args = list(args).map(|arg| self.arg(arg)).collect::<Result<_>>()?;
        let call = Call { op: text[..open].trim().to_owned(), args, attrs: parse_attrs(attrs)? };
        Ok((call, &text[close + 1..]))
    }

    fn arg(&mut self, text: &str) -> Result<Arg> {
        if let Some((_, call, output)) = self.names.iter().rev().find(|(name, ..)| name == text) {
            return Ok(Arg::Output(*call, *output));
        }
        let word = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        if word.starts_with(|c: char| c.is_ascii_uppercase()) && text[word.len()..].starts_with('(') {
            let (call, _) = self.call(text)?;
            self.before.push(call);
            return Ok(Arg::Output(self.before.len() - 1, 0));
        }
        parse_arg(text)
    }
}

/// Returns the position of the bracket that closes the one at `open`. Brackets in quotes do not count.
fn matching(text: &str, open: usize) -> Result<usize> {
    let mut depth = 0usize;
    let mut quoted = false;
    let mut escaped = false;
    for (i, c) in text.char_indices().skip_while(|(i, _)| *i < open) {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Ok(i);
                }
            }
            _ => {}
        }
    }
    Err(invalid!("a bracket is not closed in `{text}`"))
}

/// Splits text at the separators `at` that are outside of brackets and quotes.
fn split(text: &str, at: char) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0usize);
    let (mut quoted, mut escaped) = (false, false);
    for (i, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            c if c == at && depth == 0 => {
                parts.push(&text[start..i]);
                start = i + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn list(text: &str) -> impl Iterator<Item = &str> {
    split(text, ',').into_iter().map(str::trim).filter(|s| !s.is_empty())
}

fn parse_arg(text: &str) -> Result<Arg> {
    if let Some(rest) = text.strip_prefix(['&', '@']) {
        let by_ref = text.starts_with('&');
        return Ok(Arg::Variable(match parse_type(rest) {
            Some((dtype, shape)) => VariableArg { by_ref, dtype, shape, value: None },
            None => {
                let value = Tensor::parse(rest)?;
                VariableArg { by_ref, dtype: value.dtype(), shape: value.shape().into(), value: Some(value) }
            }
        }));
    }
    match parse_type(text) {
        Some((dtype, shape)) => Ok(Arg::Type(dtype, shape)),
        None => Tensor::parse(text).map(Arg::Value),
    }
}

/// Parses a type: `f32[?,3]`, `f32[..]` (unknown rank), `f32[]`.
fn parse_type(text: &str) -> Option<(DType, PartialShape)> {
    let (name, rest) = text.split_once('[')?;
    Some((DType::parse(name.trim())?, parse_shape(&format!("[{rest}"))?))
}

fn parse_shape(text: &str) -> Option<PartialShape> {
    let dims = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    if dims.trim() == ".." {
        return Some(PartialShape::unknown());
    }
    let dims: Option<Vec<Option<usize>>> = dims
        .split(',')
        .map(str::trim)
        .filter(|d| !d.is_empty())
        .map(|d| if d == "?" { Some(None) } else { d.parse().ok().map(Some) })
        .collect();
    dims.map(PartialShape::new)
}

fn parse_attrs(text: &str) -> Result<Attrs> {
    let mut attrs = Attrs::new();
    for item in list(text) {
        let (name, value) = item.split_once('=').ok_or_else(|| invalid!("`{item}` is not an attribute"))?;
        attrs.set(name.trim().to_owned(), parse_attr(value.trim())?);
    }
    Ok(attrs)
}

/// Parses an attribute: `f32` is a type, `"a"` a string, `1` an int, `1.0` a float, `true`, `shape[1,?]`,
/// `tensor(..)`, `func(name)`, `{a b}` a list.
fn parse_attr(text: &str) -> Result<Attr> {
    if let Some(dtype) = DType::parse(text) {
        return Ok(dtype.into());
    }
    if let Some(inside) = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
        return Ok(Attr::List(list(inside).map(parse_attr).collect::<Result<_>>()?));
    }
    if let Some(inside) = text.strip_prefix("tensor(").and_then(|t| t.strip_suffix(')')) {
        return Ok(Tensor::parse(inside)?.into());
    }
    if let Some(inside) = text.strip_prefix("func(").and_then(|t| t.strip_suffix(')')) {
        return Ok(FuncRef { name: inside.to_owned(), attrs: Attrs::new() }.into());
    }
    if let Some(shape) = text.strip_prefix("shape").and_then(parse_shape) {
        return Ok(shape.into());
    }
    if let Some(inside) = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
        return Ok(inside.into());
    }
    match text {
        "true" => return Ok(true.into()),
        "false" => return Ok(false.into()),
        _ => {}
    }
    if let Ok(int) = text.parse::<i64>() {
        return Ok(int.into());
    }
    text.parse::<f32>().map(Attr::Float).map_err(|_| invalid!("`{text}` is not an attribute value"))
}

/// The inferred types of a call.
struct Inference {
    node: NodeInfo,
    shapes: SmallVec<[PartialShape; 2]>,
    known: SmallVec<[Option<Known>; 1]>,
}

/// Infers the types of an example's outputs.
pub fn infer(case: &Case) -> Result<(NodeInfo, Vec<(DType, PartialShape)>)> {
    let last = infer_all(case)?.pop().ok_or_else(|| invalid!("no call"))?;
    let types = last.node.output_types.iter().map(|t| t.dtype).zip(last.shapes).collect();
    Ok((last.node, types))
}

fn infer_all(case: &Case) -> Result<Vec<Inference>> {
    case.calls().try_fold(Vec::new(), |mut done, call| {
        let name =
            if done.len() == case.before.len() { "case".into() } else { format!("before_{}", done.len()) };
        done.push(infer_call(name, call, &done)?);
        Ok(done)
    })
}

fn infer_call(name: String, call: &Call, done: &[Inference]) -> Result<Inference> {
    let op = crate::registry().get(&call.op).ok_or_else(|| invalid!("there is no op `{}`", call.op))?;
    let (mut types, mut shapes, mut known) = (Vec::new(), Vec::new(), Vec::new());
    for arg in &call.args {
        let (ty, shape, what): (ValueType, PartialShape, Option<Known>) = match arg {
            Arg::Value(t) => (t.dtype().into(), t.shape().into(), Some(Known::Value(t.clone()))),
            Arg::Type(d, s) => ((*d).into(), s.clone(), None),
            Arg::Variable(v) if v.by_ref => (ValueType::reference(v.dtype), v.shape.clone(), None),
            Arg::Variable(v) => {
                let holds = HandleShape { dtype: v.dtype, shape: v.shape.clone() };
                (DType::Resource.into(), PartialShape::scalar(), Some(Known::Handle(holds)))
            }
            Arg::Output(call, output) => {
                let from = &done[*call];
                let ty = from.node.output_types.get(*output);
                let ty = ty.ok_or_else(|| invalid!("{} has no output {output}", from.node.op.name))?;
                (*ty, from.shapes[*output].clone(), from.known[*output].clone())
            }
        };
        types.push(ty);
        shapes.push(shape);
        known.push(what);
    }
    let node = NodeInfo::resolve(op, name, &types, call.attrs.clone())?;
    let (shapes, known) = InferCx::new(&node, &shapes, &known).infer()?;
    Ok(Inference { node, shapes, known })
}

/// Evaluates an example and checks the outputs against the inferred types.
pub fn evaluate(case: &Case) -> Result<Vec<Tensor>> {
    let env = lone::env();
    let mut variables = Vec::new();
    let mut done: Vec<Vec<Tensor>> = Vec::new();
    for (call, inference) in case.calls().zip(infer_all(case)?) {
        let node = &inference.node;
        let inputs = call.args.iter().enumerate().map(|(i, arg)| {
            let value = match arg {
                Arg::Value(t) => t.clone(),
                Arg::Type(d, s) => return Err(invalid!("{d}{s} has no value")),
                Arg::Output(call, output) => done[*call][*output].clone(),
                Arg::Variable(v) => {
                    let name = format!("variable_{i}");
                    let variable = Arc::new(Variable::new(name.as_str(), v.dtype, v.shape.clone()));
                    v.value.clone().map_or(Ok(()), |value| variable.assign(value))?;
                    variables.push(variable.clone());
                    Tensor::handle(Handle::new("", name, variable))
                }
            };
            // Like an executor, this reads a reference if the op takes a value.
            let by_ref = match arg {
                Arg::Variable(v) => v.by_ref,
                _ => false,
            };
            if by_ref && !node.input_types[i].is_ref { referred(&value) } else { Ok(value) }
        });
        let mut outputs = lone::run(node, &env, &inputs.collect::<Result<Vec<_>>>()?)?;
        for (i, (ty, shape)) in node.output_types.iter().zip(&inference.shapes).enumerate() {
            if ty.is_ref && done.len() == case.before.len() {
                outputs[i] = referred(&outputs[i])?;
            }
            let value = &outputs[i];
            ensure!(
                ty.is_ref || value.dtype() == ty.dtype && shape.contains(&value.shape().into()),
                "inferred {}{shape} but computed {}{}",
                ty.dtype,
                value.dtype(),
                value.shape()
            );
        }
        done.push(outputs);
    }
    let mut outputs = done.pop().unwrap_or_default();
    if outputs.is_empty() {
        outputs.extend(variables.iter().filter_map(|v| v.read().ok()));
    }
    Ok(outputs)
}

/// Returns the value of the variable of a reference.
fn referred(reference: &Tensor) -> Result<Tensor> {
    match reference.as_handles() {
        Some([handle]) => match handle.get::<Variable>() {
            Some(variable) => variable.read(),
            None => Err(invalid!("a reference refers to a {}", handle.kind())),
        },
        _ => Err(invalid!("a reference is {}{}", reference.dtype(), reference.shape())),
    }
}

/// Returns whether two tensors are equal: floats and complex numbers within 1e-5 relative or 1e-6 absolute.
pub fn near(a: &Tensor, b: &Tensor) -> bool {
    if a.dtype() != b.dtype() || a.shape() != b.shape() {
        return false;
    }
    let close =
        |x: f64, y: f64| x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= 1e-6 + 1e-5 * y.abs();
    macro_rules! all {
        ($t:ty, $to:expr) => {
            match (a.as_slice::<$t>(), b.as_slice::<$t>()) {
                (Ok(a), Ok(b)) => {
                    a.iter().zip(b).all(|(&x, &y)| $to(x).iter().zip($to(y)).all(|(x, y)| close(*x, y)))
                }
                _ => false,
            }
        };
    }
    use millstream_tensor::{C64, C128, bf16, f16};
    match a.dtype() {
        DType::F16 => all!(f16, |x: f16| [x.to_f64()]),
        DType::BF16 => all!(bf16, |x: bf16| [x.to_f64()]),
        DType::F32 => all!(f32, |x: f32| [f64::from(x)]),
        DType::F64 => all!(f64, |x: f64| [x]),
        DType::C64 => all!(C64, |x: C64| [f64::from(x.re), f64::from(x.im)]),
        DType::C128 => all!(C128, |x: C128| [x.re, x.im]),
        _ => a.bits_eq(b),
    }
}

/// Checks one example.
///
/// # Panics
/// If the example does not hold; this is for tests.
#[track_caller]
pub fn check(text: &str) {
    let case = Case::parse(text).unwrap_or_else(|e| panic!("{text}\n{e}"));
    match &case.expect {
        Expect::Values(want) => same(text, want, evaluate(&case), Tensor::bits_eq),
        Expect::Near(want) => same(text, want, evaluate(&case), near),
        Expect::Types(want) => match infer(&case) {
            Ok((_, got)) => assert_eq!(&got, want, "{text}"),
            Err(e) => panic!("{text}\n{e}"),
        },
        Expect::Error(want) => {
            let error = match case.only_types() {
                true => infer(&case).err(),
                false => evaluate(&case).err(),
            };
            match error {
                Some(e) => assert!(e.to_string().contains(want.as_str()), "{text}\ngot: {e}"),
                None => panic!("{text}\nno error"),
            }
        }
    }
}

#[track_caller]
fn same(text: &str, want: &[Tensor], got: Result<Vec<Tensor>>, eq: fn(&Tensor, &Tensor) -> bool) {
    let got = got.unwrap_or_else(|e| panic!("{text}\n{e}"));
    let show = |ts: &[Tensor]| ts.iter().map(|t| format!("{t}")).collect::<Vec<_>>().join(", ");
    assert!(
        got.len() == want.len() && got.iter().zip(want).all(|(g, w)| eq(g, w)),
        "{text}\ngot: {}",
        show(&got)
    );
}
