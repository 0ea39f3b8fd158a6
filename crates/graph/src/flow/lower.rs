//! A `while_loop` as primitives, in TensorFlow's order: Enters, Merges, the condition, LoopCond, Switches,
//! Identities, the body, NextIterations, Exits. [`OpenLoop`] makes the nodes; here is what a `while_loop`
//! checks.
//!
//! ```text
//! init ─► Enter ─► Merge ─┬────────────────► Switch ─false─► Exit ─► result
//!                   ▲     │                   ▲  │
//!                   │     └─► cond ─► LoopCond┘  └─true─► Identity ─► body ─┐
//!                   └──────────────────── NextIteration ◄──────────────────┘
//! ```

use super::fixpoint;
use super::invariants::Invariant;
use super::open::{LoopVar, OpenLoop};
use super::while_loop::Checkpoint;
use crate::context::{ContextId, WhileContext};
use crate::graph::{Graph, GraphData};
use crate::ids::Port;
use crate::output::Output;
use millstream_tensor::{DType, Error, PartialShape, Result, invalid};
use std::fmt::Write;
use std::panic::Location;

/// The description of a loop that is to be made.
pub(super) struct LoopSpec<'g> {
    pub graph: &'g Graph,
    /// The name for messages.
    pub name: String,
    /// The name of the frame, already unique.
    pub frame: String,
    pub vars: Vec<Output<'g>>,
    pub var_names: Vec<String>,
    pub invariants: Vec<Invariant>,
    pub parallel_iterations: i64,
    pub back_prop: bool,
    pub swap_memory: bool,
    pub maximum_iterations: Option<Port>,
    pub checkpoint: Option<Checkpoint>,
    pub infer_invariants: bool,
    pub at: &'static Location<'static>,
}

/// A loop that is being made.
pub(super) struct Loop<'g> {
    spec: LoopSpec<'g>,
    open: OpenLoop<'g>,
    dtypes: Vec<DType>,
    /// The shapes of the initial values.
    initial: Vec<PartialShape>,
    vars: Vec<LoopVar<'g>>,
}

impl<'g> Loop<'g> {
    /// Makes the Enters and Merges.
    pub fn enter(spec: LoopSpec<'g>) -> Result<Loop<'g>> {
        let graph = spec.graph;
        let options = WhileContext {
            parallel_iterations: spec.parallel_iterations,
            back_prop: Some(spec.back_prop),
            swap_memory: Some(spec.swap_memory),
            maximum_iterations: spec.maximum_iterations,
            ..WhileContext::default()
        };
        let around = graph.current_context();
        let open = OpenLoop::open(graph, spec.frame.clone(), options, spec.at);
        let mut init = Vec::with_capacity(spec.vars.len());
        for var in &spec.vars {
            init.push(graph.brought_in(around, *var)?);
        }
        let dtypes = init.iter().map(Output::dtype).collect::<Result<_>>()?;
        let initial = init.iter().map(Output::shape).collect();
        let mut this = Loop { spec, open, dtypes, initial, vars: Vec::new() };
        for i in 0..init.len() {
            graph.read(|g| this.check_entry(g, i))?;
        }
        let shapes: Vec<PartialShape> = this.spec.invariants.iter().map(|i| i.shape.clone()).collect();
        this.vars = this.open.enter_all(&init, &shapes)?;
        Ok(this)
    }

    /// The loop's context.
    pub fn context(&self) -> ContextId {
        self.open.context()
    }

    /// The loop's name for messages.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// The dtypes of the variables.
    pub fn dtypes(&self) -> &[DType] {
        &self.dtypes
    }

    /// The variables as the condition sees them.
    pub fn merged(&self) -> Vec<Output<'g>> {
        self.vars.iter().map(LoopVar::merged).collect()
    }

    /// Makes the LoopCond, Switches and Identities. Returns the variables as the body sees them.
    pub fn decide(&mut self, pred: Output<'g>) -> Result<Vec<Output<'g>>> {
        self.check_pred(pred)?;
        self.open.decide_with(pred, self.spec.checkpoint)?;
        self.open.body_values(&mut self.vars)
    }

    /// Makes the NextIterations and Exits, and closes the back edges. Returns the results.
    pub fn close(self, next: &[Output<'g>]) -> Result<Vec<Output<'g>>> {
        let (graph, at) = (self.spec.graph, self.spec.at);
        if next.len() != self.vars.len() {
            return Err(invalid!(
                "the body of the loop `{}` returns {} values for {} variables",
                self.spec.name,
                next.len(),
                self.vars.len()
            )
            .at_line(at));
        }
        for (i, value) in next.iter().enumerate() {
            graph.read(|g| self.check_next_dtype(g, i, value.port()))?;
        }
        let nexts = self.open.next_values(&self.vars, next)?;
        {
            let mut g = graph.lock();
            fixpoint::relax_held(&mut g, &self.merges(), &nexts)?;
            self.check_next_shapes(&mut g, next, &nexts)?;
        }
        let exits = self.open.exits(&self.vars)?;
        self.open.collect();
        Ok(exits)
    }

    fn merges(&self) -> Vec<Port> {
        self.vars.iter().map(|var| var.merged().port()).collect()
    }

    fn check_pred(&self, pred: Output<'g>) -> Result<()> {
        let (dtype, shape) = (pred.dtype()?, pred.shape());
        if dtype == DType::Bool && shape.is_compatible(&PartialShape::scalar()) {
            return Ok(());
        }
        let at = pred.graph().read(|g| g.node(pred.port().node).map(|n| n.at)).unwrap_or(self.spec.at);
        let error = invalid!(
            "the condition of the loop `{}` is {dtype}{shape}; it must be a scalar bool",
            self.spec.name
        )
        .note(format!("returned by  `{}` ({}:{})", pred.op().name(), at.file(), at.line()));
        Err(match dtype {
            DType::Bool => error.with_help("reduce it to a scalar with `all` or `any`"),
            _ => error.with_help("compare: `less`, `equal`, .."),
        })
    }

    fn subject(&self, i: usize) -> String {
        format!("loop `{}`: variable `{}`", self.spec.name, self.spec.var_names[i])
    }

    /// The name of the value that a variable enters with.
    fn entering(&self, g: &GraphData, i: usize) -> String {
        let port = self.spec.vars[i].port();
        g.node(port.node)
            .map_or_else(|_| self.spec.var_names[i].clone(), |n| format!("{}:{}", n.name(), port.index))
    }

    fn entered_at(&self, g: &GraphData, i: usize) -> String {
        let at = g.node(self.spec.vars[i].port().node).map_or(self.spec.at, |n| n.at);
        format!("enters at    {}:{}", at.file(), at.line())
    }

    fn check_entry(&self, g: &GraphData, i: usize) -> Result<()> {
        let (initial, invariant) = (&self.initial[i], &self.spec.invariants[i].shape);
        if invariant.contains(initial) {
            return Ok(());
        }
        let dtype = self.dtypes[i];
        let error = invalid!(
            "{} enters as {dtype}{initial}, which does not match its shape invariant {dtype}{invariant}",
            self.subject(i)
        )
        .led_by(format!(
            "The shape invariant specified for {} is not compatible with the initial shape of the loop variable. It enters the loop with shape {}, but the specified shape invariant is {}.",
            self.entering(g, i),
            initial.as_tuple(),
            invariant.as_tuple()
        ))
        .note(self.entered_at(g, i))
        .note(format!("invariant at {}:{}", self.spec.at.file(), self.spec.at.line()))
        .note(difference(("invariant", invariant), ("initial value", initial)));
        let least = invariant.join(initial);
        Err(error.with_help(format!(
            "give it an initial value of shape {invariant}, or declare `.shape_of({:?}, {})`",
            self.spec.var_names[i],
            as_rust(&least)
        )))
    }

    fn returned_by(&self, g: &GraphData, value: Port) -> String {
        match g.node(value.node) {
            Ok(node) => format!("returned by  `{}` ({}:{})", node.name(), node.at.file(), node.at.line()),
            Err(_) => "returned by  a node that could not be made".into(),
        }
    }

    fn check_next_dtype(&self, g: &GraphData, i: usize, value: Port) -> Result<()> {
        let (wanted, given) = (self.dtypes[i], g.type_of(value)?);
        let wanted_ref = g.type_of(self.vars[i].merged().port())?.is_ref;
        if given.dtype == wanted && (given.is_ref == wanted_ref || given.is_ref) && wanted_ref <= given.is_ref
        {
            return Ok(());
        }
        let (shape, returned) = (&self.spec.invariants[i].shape, g.shape_of(value));
        let error =
            invalid!("{} enters as {wanted}{shape} but the body returns {given}{returned}", self.subject(i))
                .note(self.entered_at(g, i))
                .note(self.returned_by(g, value));
        Err(match given.dtype == wanted {
            true => error.with_help("the variable is a reference; return a reference"),
            false => error.with_help(format!("make the body return {wanted}: `Cast` converts")),
        })
    }

    /// Checks that every variable satisfies its invariant after an iteration.
    fn check_next_shapes(&self, g: &mut GraphData, returned: &[Output<'g>], nexts: &[Port]) -> Result<()> {
        let merges = self.merges();
        let kept = |g: &GraphData, i: usize| g.shape_of(merges[i]).contains(&g.shape_of(nexts[i]));
        let Some(mut bad) = (0..nexts.len()).find(|&i| !kept(g, i)) else { return Ok(()) };
        let shown: Vec<PartialShape> = nexts.iter().map(|&p| g.shape_of(p)).collect();
        let before = fixpoint::save(g, &merges);
        let found = fixpoint::relax(g, &merges, nexts);
        let least: Vec<PartialShape> = merges.iter().map(|&p| g.shape_of(p)).collect();
        if self.spec.infer_invariants {
            let broken = (0..nexts.len())
                .find(|&i| self.spec.invariants[i].declared && least[i] != self.spec.invariants[i].shape);
            match broken {
                None => return found,
                Some(i) => bad = i,
            }
        }
        fixpoint::restore(g, before);
        Err(self.broken(g, bad, &shown[bad], &least, returned[bad].port()))
    }

    /// The error for a variable that does not satisfy its invariant after an iteration.
    fn broken(
        &self,
        g: &GraphData,
        i: usize,
        shown: &PartialShape,
        least: &[PartialShape],
        returned: Port,
    ) -> Error {
        let invariant = &self.spec.invariants[i];
        let dtype = self.dtypes[i];
        let has = if invariant.declared { "has the shape invariant" } else { "enters as" };
        let shape = &invariant.shape;
        // If the body keeps this shape, another variable was generalised first.
        let shown = if shape.contains(shown) { &least[i] } else { shown };
        let side = if invariant.declared { "invariant" } else { "on entry" };
        let mut cure = String::new();
        for (j, least) in least.iter().enumerate().filter(|(j, l)| **l != self.spec.invariants[*j].shape) {
            // The variables are few; writing to a string cannot fail.
            let _ = write!(cure, ".shape_of({:?}, {})", self.spec.var_names[j], as_rust(least));
        }
        invalid!("{} {has} {dtype}{shape} but the body returns {dtype}{shown}", self.subject(i))
            .led_by(format!(
                "Input tensor '{}' enters the loop with shape {}, but has shape {} after one iteration. To allow the shape to vary across iterations, use the `shape_invariants` argument of tf.while_loop to specify a less-specific shape.",
                self.entering(g, i),
                self.initial[i].as_tuple(),
                shown.as_tuple()
            ))
            .note(self.entered_at(g, i))
            .note(self.returned_by(g, returned))
            .note(difference((side, shape), ("returned", shown)))
            .with_help(format!("make the body return {dtype}{shape}, or declare `{cure}`"))
    }
}

/// Describes where two shapes differ.
fn difference((a_name, a): (&str, &PartialShape), (b_name, b): (&str, &PartialShape)) -> String {
    let rank = |s: &PartialShape| s.rank().map_or("unknown".to_owned(), |r| r.to_string());
    if a.rank() != b.rank() {
        return format!("the rank is   {} ({a_name}), {} ({b_name})", rank(a), rank(b));
    }
    let dim = |d: Option<usize>| d.map_or("unknown".to_owned(), |d| d.to_string());
    let differs =
        (0..a.rank().unwrap_or(0)).find(|&i| a.dim(i).is_some() && a.dim(i) != b.dim(i)).unwrap_or(0);
    format!("dimension {differs}  {} ({a_name}), {} ({b_name})", dim(a.dim(differs)), dim(b.dim(differs)))
}

/// The shape as a Rust expression.
fn as_rust(shape: &PartialShape) -> String {
    let Some(dims) = shape.dims() else { return "PartialShape::unknown()".into() };
    let dims: Vec<String> = dims.iter().map(|d| d.map_or("_".into(), |d| d.to_string())).collect();
    format!("shape![{}]", dims.join(", "))
}
