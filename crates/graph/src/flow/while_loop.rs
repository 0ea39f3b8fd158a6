//! [`WhileBuilder`]: a loop being described.

use super::invariants::{Given, ShapeNest, VarPath};
use super::lower::{Loop, LoopSpec};
use crate::builder::{Arg, ArgKind};
use crate::graph::Graph;
use crate::nest::{Converter, IntoNest, Leaf, Nest, Structure, Values};
use crate::op::Operator;
use crate::output::Output;
use millstream_tensor::{DType, PartialShape, Result, Tensor, invalid};
use std::panic::Location;

/// A loop being described: the options, then [`WhileBuilder::run`].
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

/// What the gradient of a loop keeps of its iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkpoint {
    /// The variables before every so many iterations.
    Every(i64),
    /// The variables at a growing distance.
    Auto {
        /// What lies between two kept states is treated so itself.
        nested: bool,
    },
}

impl Checkpoint {
    /// The attribute of a loop's `LoopCond` that says it: how many iterations, 0 for [`Checkpoint::Auto`], -1 without `nested`.
    pub const ATTR: &str = "_checkpoint_every";

    /// The value of the attribute.
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

    /// What a value of the attribute means.
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
    /// Other than this, `cond` and `body` are called once each, while the graph is built; iterations may overlap where the data lets
    /// them (at most [`WhileBuilder::parallel_iterations`] at a time); each variable keeps its dtype, its place in the structure, and its
    /// shape as far as the [invariant](WhileBuilder::shape_invariants) says.
    ///
    /// Values from outside may be used inside; they are the same in every iteration.
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
    /// What holds of the shape of each variable in every iteration, in the structure of the variables; by default what holds of the
    /// initial value. A `SparseTensor` takes the shape of its `dense_shape` (`[rank]`), `IndexedSlices` take that of their `values`.
    pub fn shape_invariants(mut self, shapes: impl ShapeNest) -> Self {
        self.given.all = Some(shapes.into_shapes());
        self
    }

    /// The shape invariant of one variable, by its position or its name as errors give it (`1`, `"1.j"`, `"p"`).
    pub fn shape_of(mut self, var: impl Into<VarPath>, shape: impl Into<PartialShape>) -> Self {
        self.given.some.push((var.into(), shape.into()));
        self
    }

    /// Takes as invariants the least ones that the body keeps, where none are given. What the body itself reads of its variables'
    /// shapes while it is built is still what holds on entry.
    pub fn infer_invariants(mut self) -> Self {
        self.infer_invariants = true;
        self
    }

    /// How many iterations may run at the same time: a positive integer, 10 by default.
    pub fn parallel_iterations(mut self, n: i64) -> Self {
        self.parallel_iterations = n;
        self
    }

    /// Whether gradients may go through the loop; they may by default.
    pub fn back_prop(mut self, yes: bool) -> Self {
        self.back_prop = yes;
        self
    }

    /// Whether values saved for the gradient may leave memory; by default they stay.
    pub fn swap_memory(mut self, yes: bool) -> Self {
        self.swap_memory = yes;
        self
    }

    /// For the gradient, keeps the variables only before every `k`-th iteration and computes what lies between anew, `k` iterations at
    /// a time: memory for `n / k + k` iterations instead of `n`, for one more forward pass. The gradient has the same bits. What the
    /// body does must be repeatable: no random numbers, no assignments.
    pub fn checkpoint_every(self, k: i64) -> Self {
        self.checkpoint(Some(Checkpoint::Every(k)))
    }

    /// As [`WhileBuilder::checkpoint_every`], for loops of unknown length: keeps about `√n / 2` states of `n` iterations, and computes
    /// what lies between anew twice.
    pub fn checkpoint_auto(self) -> Self {
        self.checkpoint(Some(Checkpoint::Auto { nested: true }))
    }

    /// What the gradient keeps: everything it needs of each iteration, or [checkpoints](Checkpoint).
    pub fn checkpoint(mut self, checkpoint: Option<Checkpoint>) -> Self {
        self.checkpoint = checkpoint;
        self
    }

    /// Stops after this many iterations at the latest: a number, or a scalar `i32` or `i64` of the graph.
    pub fn maximum_iterations(mut self, n: impl Into<Arg<'g>>) -> Self {
        self.maximum_iterations = Some(n.into());
        self
    }

    /// The name scope of the loop's nodes, `while` by default.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        if !name.is_empty() {
            self.name = name;
        }
        self
    }

    /// Makes the loop. Gives the variables after the last iteration, in the structure of the initial ones.
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
            let more = bound.map(|(_, max)| graph.op("Less").inputs([merged[0], max]).at(at).output());
            let pred = cond(inside(&merged)?).into_nest(&Converter::new(graph, at, &[DType::Bool]))?;
            graph.check()?;
            Ok(match more {
                Some(more) => graph.op("LogicalAnd").inputs([more, pred]).at(at).output(),
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
        // What the body learned about its variables (of a TensorArray, the shape of what was written) holds of the results.
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
    let (zero, shape) = match dtype {
        DType::I32 => (Tensor::scalar(0i32), max.shape()),
        DType::I64 => (Tensor::scalar(0i64), max.shape()),
        _ => {
            return Err(invalid!("`maximum_iterations` must be an i32 or i64, not {dtype}").at_line(at));
        }
    };
    if !shape.is_compatible(&PartialShape::scalar()) {
        return Err(invalid!("`maximum_iterations` must be a scalar but has shape {shape}").at_line(at));
    }
    let counter =
        graph.op("Const").name("iteration_counter").attr("dtype", dtype).attr("value", zero).at(at).output();
    Ok((counter, max))
}

fn add_one<'g>(counter: Output<'g>, at: &'static Location<'static>) -> Result<Output<'g>> {
    let graph = counter.graph();
    let add = graph.registry().by_operator(Operator::Add).map_or("AddV2", |d| d.name);
    let next = graph.op(add).name(Operator::Add.node_name()).input(counter).input(1).at(at).output();
    graph.check()?;
    Ok(next)
}

/// The outputs of a nest; operations cannot be carried by a loop.
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
    Err(invalid!("the body of the loop `{name}` returns another structure than its variables have")
        .at_line(at)
        .note(format!("variables    {vars}"))
        .note(format!("returned     {result}"))
        .with_help("return one value for each variable, in the same structure"))
}
