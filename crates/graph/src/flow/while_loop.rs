//! [`WhileBuilder`]: the options of a `while_loop`.

use super::invariants::{Given, ShapeNest, VarPath};
use super::lower::{Loop, LoopSpec};
use crate::builder::{Arg, ArgKind};
use crate::graph::Graph;
use crate::nest::{Converter, IntoNest, Leaf, Nest, Structure, Values};
use crate::op::{Builtin, Operator};
use crate::output::Output;
use millstream_tensor::{DType, PartialShape, Result, Shape, Tensor, invalid};
use std::panic::Location;

/// The builder of a loop: options, then [`WhileBuilder::run`].
#[must_use = "the loop is made by `run`"]
pub struct WhileBuilder<'g, V> {
    graph: &'g Graph,
    vars: V,
    given: Given,
    parallel_iterations: i64,
    back_prop: bool,
    swap_memory: bool,
    maximum_iterations: Option<Arg<'g>>,
    checkpoint: Option<Checkpoint>,
    infer_invariants: bool,
    name: String,
    at: &'static Location<'static>,
}

impl<V> std::fmt::Debug for WhileBuilder<'_, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WhileBuilder")
            .field("name", &self.name)
            .field("parallel_iterations", &self.parallel_iterations)
            .field("back_prop", &self.back_prop)
            .field("swap_memory", &self.swap_memory)
            .finish_non_exhaustive()
    }
}

/// The checkpoints of a loop: what its gradient keeps of the iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkpoint {
    /// The variables before every `k`-th iteration.
    Every(i64),
    /// The variables at growing distances.
    Auto {
        /// Whether the iterations between two kept states are checkpointed in the same way.
        nested: bool,
    },
}

impl Checkpoint {
    /// The attribute of a loop's `LoopCond` that holds it: the number of iterations, 0 for
    /// [`Checkpoint::Auto`], -1 for it without `nested`.
    pub const ATTR: &str = "_checkpoint_every";

    /// Returns the value of the attribute.
    pub fn to_attr(self) -> i64 {
        match self {
            Checkpoint::Every(k) => k,
            Checkpoint::Auto { nested } => {
                if nested {
                    0
                } else {
                    -1
                }
            }
        }
    }

    /// Returns the checkpoints that a value of the attribute means.
    pub fn from_attr(value: i64) -> Checkpoint {
        if value > 0 { Checkpoint::Every(value) } else { Checkpoint::Auto { nested: value == 0 } }
    }
}

impl Graph {
    /// Repeats `body` while `cond` is true, starting from `vars`:
    ///
    /// ```text
    /// g.while_loop(vars).run(cond, body)
    ///
    /// let mut vars = vars;
    /// while cond(vars) {
    ///     vars = body(vars);
    /// }
    /// vars
    /// ```
    ///
    /// Unlike this, `cond` and `body` are called once each, while the graph is built; iterations may overlap
    /// as far as the data allows (at most [`WhileBuilder::parallel_iterations`] at a time); each variable
    /// keeps its dtype, its place in the structure, and its [shape
    /// invariant](WhileBuilder::shape_invariants).
    ///
    /// Values from outside may be used inside. They are the same in every iteration.
    #[track_caller]
    pub fn while_loop<'g, V: IntoNest<'g>>(&'g self, vars: V) -> WhileBuilder<'g, V> {
        WhileBuilder {
            graph: self,
            vars,
            given: Given::default(),
            parallel_iterations: 10,
            back_prop: true,
            swap_memory: false,
            maximum_iterations: None,
            checkpoint: None,
            infer_invariants: false,
            name: "while".into(),
            at: Location::caller(),
        }
    }
}

impl<'g, V: IntoNest<'g>> WhileBuilder<'g, V> {
    /// Sets the shape invariants: a shape for each variable that holds in every iteration, in the structure
    /// of the variables. The default is the shape of the initial value. A `SparseTensor` takes the shape of
    /// its `dense_shape` (`[rank]`), `IndexedSlices` take that of their `values`.
    pub fn shape_invariants(mut self, shapes: impl ShapeNest) -> Self {
        self.given.all = Some(shapes.into_shapes());
        self
    }

    /// Sets the shape invariant of one variable, by its position or its name as errors give it (`1`, `"1.j"`,
    /// `"p"`).
    pub fn shape_of(mut self, var: impl Into<VarPath>, shape: impl Into<PartialShape>) -> Self {
        self.given.some.push((var.into(), shape.into()));
        self
    }

    /// Infers the shape invariants that are not given: the most specific ones that the body keeps. While the
    /// body is built, its variables still have their shapes on entry.
    pub fn infer_invariants(mut self) -> Self {
        self.infer_invariants = true;
        self
    }

    /// Sets how many iterations may run at the same time: a positive integer, 10 by default.
    pub fn parallel_iterations(mut self, n: i64) -> Self {
        self.parallel_iterations = n;
        self
    }

    /// Sets whether gradients flow through the loop; true by default.
    pub fn back_prop(mut self, yes: bool) -> Self {
        self.back_prop = yes;
        self
    }

    /// Sets whether values saved for the gradient may leave memory; false by default.
    pub fn swap_memory(mut self, yes: bool) -> Self {
        self.swap_memory = yes;
        self
    }

    /// Keeps the variables for the gradient only before every `k`-th iteration, and recomputes the iterations
    /// in between, `k` at a time. This takes memory for `n / k + k` iterations instead of `n`, and one more
    /// forward pass. The gradient has the same bits. The body must be repeatable: no random numbers, no
    /// assignments.
    pub fn checkpoint_every(self, k: i64) -> Self {
        self.checkpoint(Some(Checkpoint::Every(k)))
    }

    /// Like [`WhileBuilder::checkpoint_every`], for loops of unknown length: keeps about `√n / 2` states of
    /// `n` iterations, and recomputes the iterations in between twice.
    pub fn checkpoint_auto(self) -> Self {
        self.checkpoint(Some(Checkpoint::Auto { nested: true }))
    }

    /// Sets what the gradient keeps: everything it needs of each iteration, or [checkpoints](Checkpoint).
    pub fn checkpoint(mut self, checkpoint: Option<Checkpoint>) -> Self {
        self.checkpoint = checkpoint;
        self
    }

    /// Sets the maximum number of iterations: a number, or a scalar `i32` or `i64` of the graph.
    pub fn maximum_iterations(mut self, n: impl Into<Arg<'g>>) -> Self {
        self.maximum_iterations = Some(n.into());
        self
    }

    /// Sets the name scope of the loop's nodes, `while` by default.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        if !name.is_empty() {
            self.name = name;
        }
        self
    }

    /// Makes the loop. Returns the variables after the last iteration, in the structure of the initial ones.
    #[track_caller]
    pub fn run<C, R, B, N>(self, cond: C, body: B) -> Result<V::Nest>
    where
        C: FnOnce(V::Nest) -> R,
        R: IntoNest<'g, Nest = Output<'g>>,
        B: FnOnce(V::Nest) -> N,
        N: IntoNest<'g, Nest = V::Nest>,
    {
        let graph = self.graph;
        graph.check()?;
        if self.parallel_iterations < 1 {
            return Err(invalid!(
                "`parallel_iterations` of the loop `{}` is {}; it must be a positive integer",
                self.name,
                self.parallel_iterations
            )
            .at_line(self.at));
        }
        if let Some(Checkpoint::Every(k)) = self.checkpoint
            && !(1..=i64::from(i32::MAX)).contains(&k)
        {
            return Err(invalid!(
                "`checkpoint_every` of the loop `{}` is {k}; it must be a positive 32-bit integer",
                self.name
            )
            .at_line(self.at));
        }
        let name = self.name.clone();
        let result = graph.name_scope(&name, || self.build(cond, body))?;
        graph.check()?;
        Ok(result)
    }

    fn build<C, R, B, N>(self, cond: C, body: B) -> Result<V::Nest>
    where
        C: FnOnce(V::Nest) -> R,
        R: IntoNest<'g, Nest = Output<'g>>,
        B: FnOnce(V::Nest) -> N,
        N: IntoNest<'g, Nest = V::Nest>,
    {
        let (graph, at) = (self.graph, self.at);
        let name = graph.scope().trim_end_matches('/').to_owned();
        let bound = self.maximum_iterations.map(|n| bound(graph, n, at)).transpose()?;
        let frame = graph.unique_name("while_context");
        let vars = self.vars.into_nest(&Converter::new(graph, at, &[]))?;
        let structure = vars.structure();
        let init = values_of(&vars, &name, at)?;
        if init.is_empty() {
            return Err(invalid!("the loop `{}` has no loop variables: its structure is {structure}", name)
                .at_line(at)
                .with_help("give it at least one value to carry from one iteration to the next"));
        }
        let mut names = structure.paths();
        let mut shapes = self.given.resolve(&structure, &init).map_err(|e| e.at_line(at))?;
        let mut all = init;
        if let Some((counter, _)) = bound {
            all.insert(0, counter);
            names.insert(0, "iteration_counter".into());
            shapes.insert(0, super::invariants::Invariant::given(PartialShape::scalar()));
        }
        let skip = usize::from(bound.is_some());
        let inside = |values: &[Output<'g>]| vars.rebuild(&mut Values::new(values[skip..].to_vec()));

        let mut the_loop = Loop::enter(LoopSpec {
            graph,
            name,
            frame,
            vars: all,
            var_names: names,
            invariants: shapes,
            parallel_iterations: self.parallel_iterations,
            back_prop: self.back_prop,
            swap_memory: self.swap_memory,
            maximum_iterations: bound.map(|(_, max)| max.port()),
            checkpoint: self.checkpoint,
            infer_invariants: self.infer_invariants,
            at,
        })?;
        let merged = the_loop.merged();
        let pred = graph.in_context(the_loop.context(), || -> Result<Output<'g>> {
            let more = bound
                .map(|(_, max)| graph.builtin(Builtin::Less(merged[0].into(), max.into())).at(at).output());
            let pred = cond(inside(&merged)?).into_nest(&Converter::new(graph, at, &[DType::Bool]))?;
            graph.check()?;
            Ok(match more {
                Some(more) => graph.builtin(Builtin::And(more, pred)).at(at).output(),
                None => pred,
            })
        })?;
        graph.check()?;
        let current = the_loop.decide(pred)?;
        let (result, next) =
            graph.in_context(the_loop.context(), || -> Result<(V::Nest, Vec<Output<'g>>)> {
                let mut next = Vec::new();
                if bound.is_some() {
                    next.push(add_one(current[0], at)?);
                }
                let dtypes = the_loop.dtypes()[skip..].to_vec();
                let result = body(inside(&current)?).into_nest(&Converter::new(graph, at, &dtypes))?;
                graph.check()?;
                same_structure(the_loop.name(), &structure, &result.structure(), at)?;
                next.extend(values_of(&result, the_loop.name(), at)?);
                Ok((result, next))
            })?;
        let exits = the_loop.close(&next)?;
        // What the body found out about its variables (the element shape of a TensorArray) holds of the
        // results too.
        result.rebuild(&mut Values::new(exits[skip..].to_vec()))
    }
}

/// The counter of a bounded loop, and the bound.
fn bound<'g>(
    graph: &'g Graph,
    n: Arg<'g>,
    at: &'static Location<'static>,
) -> Result<(Output<'g>, Output<'g>)> {
    let max = match n.0 {
        ArgKind::Output(output) => output,
        ArgKind::Literal { value, weak } => {
            let value = value?;
            let value =
                if weak { crate::builder::weak_cast(&value, DType::I32).unwrap_or(value) } else { value };
            graph
                .op("Const")
                .name("maximum_iterations")
                .attr("dtype", value.dtype())
                .attr("value", value)
                .at(at)
                .output()
        }
        ArgKind::Open => return Err(invalid!("`maximum_iterations` is an open back edge").at_line(at)),
    };
    graph.check()?;
    let dtype = max.dtype()?;
    // As in TensorFlow, the counter has the dtype of its bound: 2.5 is three iterations.
    if !(dtype.is_integer() || dtype.is_float()) {
        return Err(invalid!("`maximum_iterations` must be a real number, not {dtype}").at_line(at));
    }
    let (zero, shape) = (Tensor::zeros(dtype, Shape::scalar())?, max.shape());
    if !shape.is_compatible(&PartialShape::scalar()) {
        return Err(invalid!("`maximum_iterations` must be a scalar but has shape {shape}").at_line(at));
    }
    let counter =
        graph.op("Const").name("iteration_counter").attr("dtype", dtype).attr("value", zero).at(at).output();
    Ok((counter, max))
}

fn add_one<'g>(counter: Output<'g>, at: &'static Location<'static>) -> Result<Output<'g>> {
    let graph = counter.graph();
    let add = graph.registry().by_operator(Operator::Add).map_or(Operator::Add.node_name(), |d| d.name);
    let next = graph.op(add).name(Operator::Add.node_name()).input(counter).input(1).at(at).output();
    graph.check()?;
    Ok(next)
}

/// Returns the outputs of a nest. Operations cannot be loop variables.
fn values_of<'g>(
    nest: &impl Nest<'g>,
    name: &str,
    at: &'static Location<'static>,
) -> Result<Vec<Output<'g>>> {
    let mut leaves = Vec::new();
    nest.flatten(&mut leaves);
    let one = |leaf| match leaf {
        Leaf::Output(output) => Ok(output),
        Leaf::Op(op) => {
            Err(invalid!("the operation `{}` cannot be a variable of the loop `{name}`", op.name())
                .at_line(at)
                .with_help("carry a value, and run the operation before it: `control_dependencies`"))
        }
    };
    leaves.into_iter().map(one).collect()
}

fn same_structure(
    name: &str,
    vars: &Structure,
    result: &Structure,
    at: &'static Location<'static>,
) -> Result<()> {
    if vars == result {
        return Ok(());
    }
    Err(invalid!("the body of the loop `{name}` must return the structure of its variables")
        .at_line(at)
        .note(format!("variables    {vars}"))
        .note(format!("returned     {result}"))
        .with_help("return one value for each variable, in the same structure"))
}
