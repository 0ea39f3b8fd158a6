//! Gradients of single ops against central differences: the examples of the op library in f64, at points in
//! general position.
//!
//! The numbers of an example are moved a little, away from ties and corners, or drawn from the [`Domain`] of
//! the op. All inputs that have gradients are moved at once, in one random direction, and so are the incoming
//! gradients. Second derivatives are checked in the same way, as differences of the first. Gradients in
//! half-width floats are checked against those in f64.

use crate::json::Text;
use crate::tiers::DATAFLOW;
use millstream_autodiff::Gradients;
use millstream_graph::op::{ArgSpec, AttrKind, Count, Gradient, OpDef, TypeSpec};
use millstream_graph::{Attr, Attrs, Graph, Op, Output};
use millstream_ops::cases::{Arg, Call, Case};
use millstream_runtime::{FeedList, Session, Target};
use millstream_tensor::{C128, DType, Error, PartialShape, Shape, Tensor, bf16, f16};

/// The step of a difference, and the tolerance for the derivative.
const STEP: f64 = 1e-5;
const TOLERANCE: f64 = 2e-5;

/// The knowledge of input shapes and values while the gradient is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowing {
    /// All shapes, and the values of inputs without gradients.
    All,
    /// Nothing.
    Nothing,
}

/// The range of the numbers at which an op is differentiated.
pub type Domain = (f64, f64);

/// The requirements of an op.
#[derive(Clone, Copy, Debug, Default)]
pub struct Needs {
    /// The range of its inputs.
    pub domain: Option<Domain>,
    /// The indices of inputs that are not moved.
    pub held: &'static [usize],
}

/// An example at a point, ready to be differentiated: its op, and the calls before it.
pub struct Point {
    calls: Vec<Step>,
}

impl std::fmt::Debug for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Point").finish_non_exhaustive()
    }
}

/// A call of an op with its inputs.
struct Step {
    op: String,
    attrs: Attrs,
    args: Vec<Place>,
}

/// An input of a call.
enum Place {
    /// A value that differences move.
    Moving(Tensor),
    /// The value of a variable that differences move; the input is its handle.
    Variable(Tensor),
    /// A value that is not moved.
    Fixed(Tensor),
    /// An output of an earlier call: the index of the call, and of the output.
    Output(usize, usize),
}

/// Whether the op of this name has a gradient function.
pub fn is_differentiable(op: &str) -> bool {
    let op = millstream_ops::registry().get(op);
    matches!(op.and_then(OpDef::gradient_of), Some(Gradient::Of(_)))
}

impl Point {
    /// The point of an example; `None` unless its values are known and some input can be moved.
    pub fn of(case: &Case, needs: Needs, seed: u64) -> Text<Option<Point>> {
        let mut random = Random(seed);
        let mut calls = Vec::new();
        for call in case.calls() {
            match Step::of(call, needs, &mut random)? {
                Some(step) => calls.push(step),
                None => return Ok(None),
            }
        }
        let moves = |a: &Place| matches!(a, Place::Moving(_) | Place::Variable(_));
        if !calls.iter().any(|call| call.args.iter().any(moves)) {
            return Ok(None);
        }
        let point = Point { calls };
        let graph = Graph::with_ops(millstream_ops::registry());
        let has_value = !Probe::new(&graph, &point, Knowing::All)?.ys.is_empty();
        Ok(has_value.then_some(point))
    }

    /// A point for an op with two inputs of one type that broadcasts.
    pub fn broadcasting(
        op: &OpDef,
        (x, y): (&[usize], &[usize]),
        needs: Needs,
        seed: u64,
    ) -> Text<Option<Point>> {
        let [a, b] = op.inputs.as_slice() else { return Ok(None) };
        if a.ty != b.ty
            || a.count != Count::One
            || b.count != Count::One
            || wide_type(op, a, DType::F64).is_none()
        {
            return Ok(None);
        }
        let mut random = Random(seed);
        let mut value = |i: usize, shape: &[usize]| {
            let shape = Shape::from(shape);
            let numbers: Vec<f64> = (0..shape.elements()).map(|_| random.between(0.5, 2.5)).collect();
            let start = Tensor::from_slice(shape, &numbers).map_err(say)?;
            match needs.held.contains(&i) {
                // An input that is held is a count.
                true => tensor(DType::F64, start.shape(), &vec![2.0; numbers.len()]).map(Place::Fixed),
                false => general(&start, DType::F64, needs.domain, &mut random).map(Place::Moving),
            }
        };
        let args = vec![value(0, x)?, value(1, y)?];
        Ok(Some(Point { calls: vec![Step { op: op.name.to_owned(), attrs: Attrs::new(), args }] }))
    }

    /// Whether the op accepts these inputs.
    pub fn is_valid(&self) -> bool {
        let graph = Graph::with_ops(millstream_ops::registry());
        Probe::new(&graph, self, Knowing::All).is_ok_and(|probe| !probe.ys.is_empty())
    }

    /// Checks the first derivatives, and the second ones if `twice`.
    pub fn check(&self, knowing: Knowing, twice: bool, seed: u64) -> Text<()> {
        let mut random = Random(seed);
        let graph = Graph::with_ops(millstream_ops::registry());
        let probe = Probe::new(&graph, self, knowing)?;
        let start: Vec<Tensor> = self.moving();
        // The incoming gradients have the shapes of the values.
        let values = probe.run(&probe.ys, &start, &[], &[])?;
        let seeds: Vec<Output<'_>> =
            values.iter().map(|v| graph.placeholder_of("seed", v.dtype(), probe.shape(v))).collect();
        let seed_values: Vec<Tensor> = values.iter().map(|v| random.like(v)).collect::<Text<_>>()?;
        let grads = graph
            .gradients(probe.ys.clone(), probe.xs.clone())
            .grad_ys(seeds.iter().copied().map(Some))
            .run()
            .map_err(|e| format!("the gradient: {e}"))?;
        if grads.iter().all(Option::is_none) {
            return Err("no gradient flows to any input".into());
        }
        let grads = graph
            .gradients(probe.ys.clone(), probe.xs.clone())
            .grad_ys(seeds.iter().copied().map(Some))
            .dense()
            .map_err(|e| format!("the gradient, dense: {e}"))?;
        let mut direction: Vec<Tensor> = start.iter().map(|x| random.like(x)).collect::<Text<_>>()?;
        if self.calls.iter().any(|call| is_symmetric(&call.op)) {
            direction = direction.iter().map(symmetric).collect::<Text<_>>()?;
        }
        let at = |t: f64| moved(&start, &direction, t);
        let of = |ys: &[Tensor], ws: &[Tensor]| -> f64 { ys.iter().zip(ws).map(|(y, w)| dot(y, w)).sum() };
        let numeric = (of(&probe.run(&probe.ys, &at(STEP)?, &[], &[])?, &seed_values)
            - of(&probe.run(&probe.ys, &at(-STEP)?, &[], &[])?, &seed_values))
            / (2.0 * STEP);
        let first = probe.run(&grads, &start, &seeds, &seed_values)?;
        for (i, (g, x)) in first.iter().zip(&start).enumerate() {
            if g.shape() != x.shape() || g.dtype() != x.dtype() {
                return Err(format!(
                    "the gradient of moving input {i} is {}{} but the input {}{}",
                    g.dtype(),
                    g.shape(),
                    x.dtype(),
                    x.shape()
                ));
            }
        }
        agree("first derivative", of(&first, &direction), numeric)?;
        if !twice {
            return Ok(());
        }
        let outer: Vec<Output<'_>> =
            first.iter().map(|g| graph.placeholder_of("outer", g.dtype(), probe.shape(g))).collect();
        let outer_values: Vec<Tensor> = first.iter().map(|v| random.like(v)).collect::<Text<_>>()?;
        let by: Vec<Output<'_>> = probe.xs.iter().chain(&seeds).copied().collect();
        let second = graph
            .gradients(grads.clone(), by)
            .grad_ys(outer.iter().copied().map(Some))
            .dense()
            .map_err(|e| format!("the second gradient: {e}"))?;
        let seed_direction: Vec<Tensor> = seed_values.iter().map(|x| random.like(x)).collect::<Text<_>>()?;
        let inner_at = |t: f64| probe.run(&grads, &at(t)?, &seeds, &moved(&seed_values, &seed_direction, t)?);
        let numeric =
            (of(&inner_at(STEP)?, &outer_values) - of(&inner_at(-STEP)?, &outer_values)) / (2.0 * STEP);
        let all: Vec<Output<'_>> = seeds.iter().chain(&outer).copied().collect();
        let all_values: Vec<Tensor> = seed_values.iter().chain(&outer_values).cloned().collect();
        let second = probe.run(&second, &start, &all, &all_values)?;
        let directions: Vec<Tensor> = direction.iter().chain(&seed_direction).cloned().collect();
        agree("second derivative", of(&second, &directions), numeric)
    }

    /// Checks that the gradient in a half-width float is close to that in f64 at the same numbers. Returns
    /// false if the op does not accept the dtype.
    pub fn check_narrow(&self, dtype: DType, seed: u64) -> Text<bool> {
        let Some(narrow) = self.with(dtype)? else { return Ok(false) };
        let Some(reference) = narrow.with(DType::F64)? else { return Ok(false) };
        let graph = Graph::with_ops(millstream_ops::registry());
        let probe = Probe::new(&graph, &narrow, Knowing::All)?;
        let values = match probe.run(&probe.ys, &narrow.moving(), &[], &[]) {
            // As in TensorFlow, some declarations admit dtypes that no kernel supports.
            Err(e) if e.contains("does not compute with") => return Ok(false),
            values => values?,
        };
        let mut random = Random(seed);
        let seeds = values.iter().map(|v| random.like(v)).collect::<Text<Vec<Tensor>>>()?;
        let widened = seeds
            .iter()
            .map(|v| tensor(wide(v.dtype()), v.shape(), &numbers(v)))
            .collect::<Text<Vec<Tensor>>>()?;
        let tolerance = if dtype == DType::BF16 { 0.06 } else { 0.01 };
        for (i, (got, want)) in narrow.gradient(&seeds)?.iter().zip(reference.gradient(&widened)?).enumerate()
        {
            let (got_numbers, want_numbers) = (numbers(got), numbers(&want));
            let size = want_numbers.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * size;
            if got_numbers.len() != want_numbers.len() || !got_numbers.iter().zip(&want_numbers).all(near) {
                return Err(format!(
                    "the gradient of moving input {i} in {dtype} is {got} but in f64 {want}"
                ));
            }
        }
        Ok(true)
    }

    /// The gradients of the moving inputs for these incoming gradients.
    fn gradient(&self, seeds: &[Tensor]) -> Text<Vec<Tensor>> {
        let graph = Graph::with_ops(millstream_ops::registry());
        let probe = Probe::new(&graph, self, Knowing::All)?;
        let fed: Vec<Output<'_>> =
            seeds.iter().map(|v| graph.placeholder_of("seed", v.dtype(), probe.shape(v))).collect();
        let grads =
            graph.gradients(probe.ys.clone(), probe.xs.clone()).grad_ys(fed.iter().copied().map(Some));
        let grads = grads.dense().map_err(|e| format!("the gradient: {e}"))?;
        probe.run(&grads, &self.moving(), &fed, seeds)
    }

    /// The point with another float dtype; `None` if an op does not accept it.
    fn with(&self, dtype: DType) -> Text<Option<Point>> {
        let mut calls = Vec::new();
        for call in &self.calls {
            let Some(op) = millstream_ops::registry().get(&call.op) else { return Ok(None) };
            let takes = |attr: &str| match op.attr_spec(attr).map(|a| a.kind) {
                Some(AttrKind::Type(&[]) | AttrKind::TypeList(_)) => true,
                Some(AttrKind::Type(dtypes)) => dtypes.contains(&dtype),
                _ => false,
            };
            let mut attrs = call.attrs.clone();
            for (name, _) in &op.attrs {
                match attrs.dtype(name) {
                    Ok(old) if old.is_float() && takes(name) => attrs.set(*name, dtype),
                    Ok(old) if old.is_float() => return Ok(None),
                    _ => continue,
                };
            }
            let mut args = Vec::new();
            for (i, arg) in call.args.iter().enumerate() {
                args.push(match arg {
                    Place::Moving(v) | Place::Variable(v) | Place::Fixed(v) if v.dtype().is_float() => {
                        let taken = match spec_of(op, i, call.args.len()).map(|s| s.ty) {
                            Some(TypeSpec::Attr(name)) => takes(name),
                            Some(TypeSpec::Fixed(fixed)) => fixed == dtype || fixed == DType::Resource,
                            _ => false,
                        };
                        if !taken {
                            return Ok(None);
                        }
                        let value = tensor(dtype, v.shape(), &numbers(v))?;
                        match arg {
                            Place::Moving(_) => Place::Moving(value),
                            Place::Variable(_) => Place::Variable(value),
                            _ => Place::Fixed(value),
                        }
                    }
                    Place::Moving(_) | Place::Variable(_) => return Ok(None),
                    Place::Fixed(value) => Place::Fixed(value.clone()),
                    Place::Output(call, output) => Place::Output(*call, *output),
                });
            }
            calls.push(Step { op: call.op.clone(), attrs, args });
        }
        Ok(Some(Point { calls }))
    }

    fn moving(&self) -> Vec<Tensor> {
        let value = |a: &Place| match a {
            Place::Moving(value) | Place::Variable(value) => Some(value.clone()),
            Place::Fixed(_) | Place::Output(..) => None,
        };
        self.calls.iter().flat_map(|call| &call.args).filter_map(value).collect()
    }
}

impl Step {
    /// A call of an example; `None` unless its values are known.
    fn of(call: &Call, needs: Needs, random: &mut Random) -> Text<Option<Step>> {
        let Some(op) = millstream_ops::registry().get(&call.op) else { return Ok(None) };
        let mut attrs = call.attrs.clone();
        let mut args = Vec::new();
        for (i, arg) in call.args.iter().enumerate() {
            let spec = spec_of(op, i, call.args.len());
            args.push(match arg {
                Arg::Value(value) => match spec.and_then(|s| wide_type(op, s, value.dtype())) {
                    Some(dtype) if needs.held.contains(&i) => {
                        Place::Fixed(tensor(dtype, value.shape(), &numbers(value))?)
                    }
                    Some(dtype) => {
                        if let Some(ArgSpec { ty: TypeSpec::Attr(name), .. }) = spec {
                            retype(&mut attrs, name, dtype);
                        }
                        Place::Moving(general(value, dtype, needs.domain, random)?)
                    }
                    None => Place::Fixed(value.clone()),
                },
                Arg::Variable(variable) if !variable.by_ref => match &variable.value {
                    Some(value) if is_number(value.dtype()) => {
                        let dtype = wide(value.dtype());
                        retype(&mut attrs, "dtype", dtype);
                        Place::Variable(general(value, dtype, needs.domain, random)?)
                    }
                    _ => return Ok(None),
                },
                Arg::Output(call, output) => Place::Output(*call, *output),
                Arg::Type(..) | Arg::Variable(_) => return Ok(None),
            });
        }
        // Types that only outputs have become wide too.
        for (name, spec) in &op.attrs {
            let of_input = op.inputs.iter().any(|a| a.ty == TypeSpec::Attr(name));
            let default = || match &spec.default {
                Some(Attr::Type(default)) if !of_input => Some(default.dtype),
                _ => None,
            };
            let dtype = attrs.dtype(name).ok().or_else(default);
            // The element type of a list or a TensorArray becomes wide with its elements.
            let holds = *name == "element_dtype" || (*name == "dtype" && op.name.starts_with("TensorArray"));
            let dtype = dtype.filter(|d| d.is_float() || d.is_complex() || (holds && is_number(*d)));
            if let (AttrKind::Type(_), Some(dtype)) = (spec.kind, dtype) {
                attrs.set(*name, wide(dtype));
            }
        }
        if is_symmetric(&call.op) {
            for arg in &mut args {
                if let Place::Moving(value) = arg {
                    *value = symmetric(value)?;
                }
            }
        }
        if call.op == "SoftmaxCrossEntropyWithLogits"
            && let Some(Place::Moving(labels)) = args.get_mut(1)
        {
            *labels = probabilities(labels)?;
        }
        Ok(Some(Step { op: call.op.clone(), attrs, args }))
    }
}

/// A point in a graph, with the moving values as inputs.
struct Probe<'g> {
    graph: &'g Graph,
    knowing: Knowing,
    xs: Vec<Output<'g>>,
    ys: Vec<Output<'g>>,
    /// The placeholders of the moving values.
    feeds: Vec<Output<'g>>,
    fixed: Vec<(Output<'g>, Tensor)>,
    /// The operations that initialise the variables.
    init: Vec<Target>,
}

impl<'g> Probe<'g> {
    fn new(graph: &'g Graph, point: &Point, knowing: Knowing) -> Text<Probe<'g>> {
        let mut probe = Probe {
            graph,
            knowing,
            xs: Vec::new(),
            ys: Vec::new(),
            feeds: Vec::new(),
            fixed: Vec::new(),
            init: Vec::new(),
        };
        let mut nodes: Vec<Op<'g>> = Vec::new();
        for call in &point.calls {
            let mut inputs = Vec::new();
            for (i, arg) in call.args.iter().enumerate() {
                inputs.push(match arg {
                    Place::Output(call, output) => nodes[*call].output(*output as u32),
                    Place::Moving(value) => {
                        let x = graph.placeholder_of("x", value.dtype(), probe.shape(value));
                        probe.xs.push(x);
                        probe.feeds.push(x);
                        x
                    }
                    Place::Variable(value) => {
                        let shape = probe.shape(value);
                        let handle = graph
                            .op("VarHandleOp")
                            .name(format!("variable_{i}"))
                            .attr("dtype", value.dtype())
                            .attr("shape", shape)
                            .output();
                        let fed = graph.placeholder_of("value", value.dtype(), PartialShape::unknown());
                        let assign = graph.op("AssignVariableOp").input(handle).input(fed).finish();
                        probe.init.push(Target::Operation(assign.id()));
                        probe.xs.push(handle);
                        probe.feeds.push(fed);
                        handle
                    }
                    Place::Fixed(value) if knowing == Knowing::All => {
                        graph.constant_tensor("value", value.clone())
                    }
                    Place::Fixed(value) => {
                        let fed = graph.placeholder_of("fed", value.dtype(), PartialShape::unknown());
                        probe.fixed.push((fed, value.clone()));
                        fed
                    }
                });
            }
            let node = graph.op(call.op.clone()).inputs(inputs).attrs(call.attrs.clone()).try_finish();
            nodes.push(node.map_err(|e| format!("the op: {e}"))?);
        }
        let node = nodes[nodes.len() - 1];
        graph.check().map_err(say)?;
        let number = |o: &Output<'_>| o.dtype().is_ok_and(|d| d.is_float() || d.is_complex());
        probe.ys = node.outputs().into_iter().filter(number).collect();
        Ok(probe)
    }

    fn shape(&self, value: &Tensor) -> PartialShape {
        match self.knowing {
            Knowing::All => value.shape().into(),
            Knowing::Nothing => PartialShape::unknown(),
        }
    }

    fn run(
        &self,
        ys: &[Output<'_>],
        at: &[Tensor],
        also: &[Output<'_>],
        values: &[Tensor],
    ) -> Text<Vec<Tensor>> {
        let session: Session = DATAFLOW.session(self.graph, None).map_err(say)?;
        let feeds = || {
            let list = self.feeds.iter().zip(at).fold(FeedList::new(), |l, (x, v)| l.and(*x, v));
            let list = self.fixed.iter().fold(list, |l, (x, v)| l.and(*x, v));
            also.iter().zip(values).fold(list, |l, (x, v)| l.and(*x, v))
        };
        for &init in &self.init {
            session.run::<()>(init, feeds()).map_err(say)?;
        }
        let targets: Vec<Target> = ys.iter().map(|y| Target::Value(y.port())).collect();
        session.run::<Vec<Tensor>>(targets, feeds()).map_err(say)
    }
}

fn say(e: Error) -> String {
    e.to_string()
}

fn agree(what: &str, got: f64, want: f64) -> Text<()> {
    match (got - want).abs() <= TOLERANCE * want.abs().max(1.0) {
        true => Ok(()),
        false => Err(format!("{what} {got:e} but the difference is {want:e}")),
    }
}

/// The input that argument `i` of `n` belongs to.
fn spec_of(op: &OpDef, i: usize, n: usize) -> Option<&ArgSpec> {
    let single = op.inputs.iter().filter(|a| a.count == Count::One).count();
    let lists = op.inputs.len() - single;
    let each = n.saturating_sub(single).checked_div(lists).unwrap_or(0);
    let mut at = 0;
    op.inputs.iter().find(|a| {
        at += if a.count == Count::One { 1 } else { each };
        i < at
    })
}

/// The wide dtype that an argument can have instead of `dtype`, if it is a number that is not read on the
/// host.
fn wide_type(op: &OpDef, spec: &ArgSpec, dtype: DType) -> Option<DType> {
    let TypeSpec::Attr(name) = spec.ty else { return None };
    if spec.on_host || spec.is_ref || !is_number(dtype) {
        return None;
    }
    let wide = wide(dtype);
    match op.attr_spec(name)?.kind {
        AttrKind::Type(&[]) | AttrKind::TypeList(_) => Some(wide),
        AttrKind::Type(dtypes) => dtypes.contains(&wide).then_some(wide),
        _ => None,
    }
}

fn is_number(dtype: DType) -> bool {
    dtype.is_number()
}

fn wide(dtype: DType) -> DType {
    if dtype.is_complex() { DType::C128 } else { DType::F64 }
}

fn retype(attrs: &mut Attrs, name: &'static str, dtype: DType) {
    if attrs.get(name).is_some() {
        attrs.set(name, dtype);
    }
}

/// The numbers in a tensor; of complex numbers both parts.
fn numbers(t: &Tensor) -> Vec<f64> {
    macro_rules! of {
        ($($d:ident: $t:ty => $f:expr),* $(,)?) => {
            match t.dtype() {
                $(DType::$d => t.as_slice::<$t>().unwrap_or_default().iter().map($f).collect(),)*
                DType::C64 => t.as_slice::<millstream_tensor::C64>().unwrap_or_default().iter()
                    .flat_map(|v| [f64::from(v.re), f64::from(v.im)]).collect(),
                DType::C128 => t.as_slice::<C128>().unwrap_or_default().iter().flat_map(|v| [v.re, v.im]).collect(),
                _ => Vec::new(),
            }
        };
    }
    of! {
        F64: f64 => |v| *v, F32: f32 => |v| f64::from(*v), F16: f16 => |v| v.to_f64(), BF16: bf16 => |v| v.to_f64(),
        I8: i8 => |v| f64::from(*v), I16: i16 => |v| f64::from(*v), I32: i32 => |v| f64::from(*v), I64: i64 => |v| *v as f64,
        U8: u8 => |v| f64::from(*v), U16: u16 => |v| f64::from(*v), U32: u32 => |v| f64::from(*v), U64: u64 => |v| *v as f64,
    }
}

fn tensor(dtype: DType, shape: &Shape, numbers: &[f64]) -> Text<Tensor> {
    let made = match dtype {
        DType::C128 => {
            let pairs: Vec<C128> = numbers.chunks_exact(2).map(|p| C128::new(p[0], p[1])).collect();
            Tensor::from_slice(shape.clone(), &pairs)
        }
        DType::F16 => Tensor::from_iter(shape.clone(), numbers.iter().map(|v| f16::from_f64(*v))),
        DType::BF16 => Tensor::from_iter(shape.clone(), numbers.iter().map(|v| bf16::from_f64(*v))),
        _ => Tensor::from_slice(shape.clone(), numbers),
    };
    made.map_err(say)
}

/// A value of `dtype` in general position.
fn general(value: &Tensor, dtype: DType, domain: Option<Domain>, random: &mut Random) -> Text<Tensor> {
    let moved = |v: f64| match domain {
        Some((low, high)) => random.between(low, high),
        None if !v.is_finite() || v.abs() > 1e3 => random.between(0.5, 1.5),
        None => v + random.between(0.02, 0.2) * (0.2 + v.abs()) * random.sign(),
    };
    let moved: Vec<f64> = numbers(value).into_iter().map(moved).collect();
    tensor(dtype, value.shape(), &moved)
}

/// Whether the op assumes that its matrices are symmetric, and reads only one half of them.
fn is_symmetric(op: &str) -> bool {
    ["Cholesky", "BatchCholesky"].contains(&op)
}

/// The mean of each matrix and its adjoint.
fn symmetric(x: &Tensor) -> Text<Tensor> {
    let [.., n, m] = *x.shape().dims() else { return Ok(x.clone()) };
    let parts = if x.dtype().is_complex() { 2 } else { 1 };
    let old = numbers(x);
    let mut new = old.clone();
    for base in (0..old.len()).step_by((n * m * parts).max(1)) {
        for (i, j) in (0..n).flat_map(|i| (0..m).map(move |j| (i, j))) {
            for part in 0..parts {
                let at = |i: usize, j: usize| base + (i * m + j) * parts + part;
                let turned = if part == 1 { -old[at(j, i)] } else { old[at(j, i)] };
                new[at(i, j)] = (old[at(i, j)] + turned) / 2.0;
            }
        }
    }
    tensor(x.dtype(), x.shape(), &new)
}

/// Labels scaled so that each row sums to one, as the op assumes.
fn probabilities(labels: &Tensor) -> Text<Tensor> {
    let n = labels.shape().last().copied().unwrap_or(1).max(1);
    let rows: Vec<f64> = numbers(labels)
        .chunks(n)
        .flat_map(|row| {
            let sum: f64 = row.iter().map(|v| v.abs()).sum();
            row.iter().map(move |v| v.abs() / sum).collect::<Vec<f64>>()
        })
        .collect();
    tensor(labels.dtype(), labels.shape(), &rows)
}

/// The real part of the inner product.
fn dot(a: &Tensor, b: &Tensor) -> f64 {
    numbers(a).iter().zip(numbers(b)).map(|(a, b)| a * b).sum()
}

fn moved(start: &[Tensor], direction: &[Tensor], t: f64) -> Text<Vec<Tensor>> {
    let step = |(x, d): (&Tensor, &Tensor)| {
        let sum: Vec<f64> = numbers(x).iter().zip(numbers(d)).map(|(x, d)| x + t * d).collect();
        tensor(x.dtype(), x.shape(), &sum)
    };
    start.iter().zip(direction).map(step).collect()
}

/// A generator of numbers that are the same in every run: SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.next() >> 11) as f64 / (1u64 << 53) as f64)
    }

    fn sign(&mut self) -> f64 {
        if self.next() & 1 == 0 { 1.0 } else { -1.0 }
    }

    /// Numbers from -1 to 1, with the shape and dtype of `value`.
    fn like(&mut self, value: &Tensor) -> Text<Tensor> {
        let n = value.elements() * if value.dtype().is_complex() { 2 } else { 1 };
        let numbers: Vec<f64> = (0..n).map(|_| self.between(-1.0, 1.0)).collect();
        tensor(value.dtype(), value.shape(), &numbers)
    }
}
