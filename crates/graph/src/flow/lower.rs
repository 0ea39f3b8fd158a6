//! Lowers a loop to primitives, in TensorFlow's order: Enters, Merges, the condition, LoopCond, Switches, Identities, the body,
//! NextIterations, Exits.
//!
//! ```text
//! init ─► Enter ─► Merge ─┬────────────────► Switch ─false─► Exit ─► result
//!                   ▲     │                   ▲  │
//!                   │     └─► cond ─► LoopCond┘  └─true─► Identity ─► body ─┐
//!                   └──────────────────── NextIteration ◄──────────────────┘
//! ```

use super::fixpoint;
use super::invariants::Invariant;
use super::while_loop::Checkpoint;
use crate::context::{Context, ContextId, ContextKind, WhileContext};
use crate::graph::{CollectionItem, Graph, GraphData, Naming, NodeSpec};
use crate::ids::{NodeId, Port};
use crate::output::Output;
use millstream_tensor::{DType, Error, PartialShape, Result, invalid};
use std::fmt::Write;
use std::panic::Location;

/// What a loop is made of.
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

/// A loop on its way.
pub(super) struct Loop<'g> {
    spec: LoopSpec<'g>,
    context: ContextId,
    dtypes: Vec<DType>,
    /// What is known of the initial values.
    initial: Vec<PartialShape>,
    merges: Vec<Port>,
    switches: Vec<NodeId>,
}

/// `op`, or its form for references.
pub(super) fn op_for(g: &GraphData, op: &'static str, value: Port) -> Result<&'static str> {
    Ok(match (g.type_of(value)?.is_ref, op) {
        (false, op) => op,
        (true, "Merge") => "RefMerge",
        (true, "Switch") => "RefSwitch",
        (true, "Identity") => "RefIdentity",
        (true, "NextIteration") => "RefNextIteration",
        (true, "Exit") => "RefExit",
        (true, op) => op,
    })
}

impl<'g> Loop<'g> {
    /// Makes the Enters and Merges.
    pub fn enter(spec: LoopSpec<'g>) -> Result<Loop<'g>> {
        let graph = spec.graph;
        let mut g = graph.lock();
        let parent = g.current;
        let context = g.add_context(Context {
            name: spec.frame.clone(),
            parent,
            kind: ContextKind::While(WhileContext {
                parallel_iterations: spec.parallel_iterations,
                back_prop: Some(spec.back_prop),
                swap_memory: Some(spec.swap_memory),
                maximum_iterations: spec.maximum_iterations,
                ..WhileContext::default()
            }),
            external: Default::default(),
        });
        let mut real = Vec::with_capacity(spec.vars.len());
        for var in &spec.vars {
            real.push(g.capture(parent, var.port())?);
        }
        let (mut dtypes, mut initial, mut enters) = (Vec::new(), Vec::new(), Vec::new());
        for &value in &real {
            dtypes.push(g.type_of(value)?.dtype);
            initial.push(g.shape_of(value));
            enters.push(Port::new(g.insert_enter(context, value, false)?, 0));
        }
        let mut this = Loop { spec, context, dtypes, initial, merges: Vec::new(), switches: Vec::new() };
        for (i, &enter) in enters.iter().enumerate() {
            this.check_entry(&g, i)?;
            g.set_shape(enter, this.spec.invariants[i].shape.clone());
        }
        g.set_current(Some(context));
        let merges: Result<Vec<Port>> =
            enters.iter().map(|&enter| open_merge(&mut g, enter, this.spec.at)).collect();
        g.set_current(parent);
        this.merges = merges?;
        let first = this.merges.first().copied();
        g.edit_while(context, |w| {
            w.enters = enters;
            w.pivot_for_pred = first;
        });
        Ok(this)
    }

    /// The loop's context.
    pub fn context(&self) -> ContextId {
        self.context
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
        self.merges.iter().map(|&p| Output::new(self.spec.graph, p)).collect()
    }

    /// Makes the LoopCond, Switches and Identities; gives the variables as the body sees them.
    pub fn decide(&mut self, pred: Output<'g>) -> Result<Vec<Output<'g>>> {
        let (graph, at) = (self.spec.graph, self.spec.at);
        self.check_pred(pred)?;
        let current = graph.in_context(self.context, || -> Result<Vec<Output<'g>>> {
            let mut g = graph.lock();
            let mut loop_cond = NodeSpec::new("LoopCond", Naming::Scoped("LoopCond".into()));
            if let Some(checkpoint) = self.spec.checkpoint {
                loop_cond.attrs.set(Checkpoint::ATTR, checkpoint.to_attr());
            }
            let pivot = Port::new(g.add_scoped(loop_cond.inputs([pred.port()]).at(at))?, 0);
            g.edit_while(self.context, |w| w.pivot = Some(pivot));
            for &merge in &self.merges {
                let op = op_for(&g, "Switch", merge)?;
                let spec = NodeSpec::new(op, Naming::Scoped(op.into())).inputs([merge, pivot]).at(at);
                let spec = g.beside(merge, spec)?;
                self.switches.push(g.add_scoped(spec)?);
            }
            let mut current = Vec::new();
            for &switch in &self.switches {
                let live = Port::new(switch, 1);
                let op = op_for(&g, "Identity", live)?;
                let spec = NodeSpec::new(op, Naming::Scoped(op.into())).inputs([live]).at(at);
                current.push(Output::new(graph, Port::new(g.add_scoped(spec)?, 0)));
            }
            Ok(current)
        })?;
        let first = current.first().map(|o| o.port());
        graph.lock().edit_while(self.context, |w| w.pivot_for_body = first);
        Ok(current)
    }

    /// Makes the NextIterations and Exits, closes the back edges; gives the results.
    pub fn close(self, next: &[Output<'g>]) -> Result<Vec<Output<'g>>> {
        let (graph, at) = (self.spec.graph, self.spec.at);
        if next.len() != self.merges.len() {
            return Err(invalid!(
                "the body of the loop `{}` returns {} values for {} variables",
                self.spec.name,
                next.len(),
                self.merges.len()
            )
            .at_line(at));
        }
        let nexts = graph.in_context(self.context, || -> Result<Vec<Port>> {
            let mut g = graph.lock();
            let mut nexts = Vec::new();
            for (i, value) in next.iter().enumerate() {
                self.check_next_dtype(&g, i, value.port())?;
                let op = op_for(&g, "NextIteration", value.port())?;
                let spec = NodeSpec::new(op, Naming::Scoped(op.into())).inputs([value.port()]).at(at);
                nexts.push(Port::new(g.add_scoped(spec)?, 0));
            }
            Ok(nexts)
        })?;
        let mut g = graph.lock();
        for (&merge, &next) in self.merges.iter().zip(&nexts) {
            g.close_merge(merge.node, next)?;
        }
        fixpoint::relax_held(&mut g, &self.merges, &nexts)?;
        self.check_next_shapes(&mut g, next, &nexts)?;
        let mut exits = Vec::new();
        let outer = g.context_parent(self.context);
        for &switch in &self.switches {
            let done = Port::new(switch, 0);
            let op = op_for(&g, "Exit", done)?;
            let spec = NodeSpec::new(op, Naming::Scoped(op.into())).inputs([done]).context(outer).at(at);
            let exit = g.insert(spec)?;
            g.note_seen(exit);
            exits.push(Port::new(exit, 0));
        }
        g.edit_while(self.context, |w| w.exits = exits.clone());
        if outer.is_none() {
            g.collect("while_context", CollectionItem::Context(self.context));
        }
        Ok(exits.into_iter().map(|p| Output::new(graph, p)).collect())
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
            DType::Bool => error.with_help("reduce it: `all` or `any` of its elements"),
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
            "{} enters as {dtype}{initial}, which its shape invariant {dtype}{invariant} does not admit",
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
        let wanted_ref = g.type_of(self.merges[i])?.is_ref;
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

    /// Every variable must fit its invariant again after an iteration.
    fn check_next_shapes(&self, g: &mut GraphData, returned: &[Output<'g>], nexts: &[Port]) -> Result<()> {
        let kept = |g: &GraphData, i: usize| g.shape_of(self.merges[i]).contains(&g.shape_of(nexts[i]));
        let Some(mut bad) = (0..nexts.len()).find(|&i| !kept(g, i)) else { return Ok(()) };
        let shown: Vec<PartialShape> = nexts.iter().map(|&p| g.shape_of(p)).collect();
        let before = fixpoint::save(g, &self.merges);
        let found = fixpoint::relax(g, &self.merges, nexts);
        let least: Vec<PartialShape> = self.merges.iter().map(|&p| g.shape_of(p)).collect();
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

    /// The error of a variable that does not fit its invariant after an iteration.
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
        // Where the body keeps the shape itself, another variable had to give way first.
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

/// The Merge of a loop variable, whose back edge is still open.
pub(super) fn open_merge(g: &mut GraphData, enter: Port, at: &'static Location<'static>) -> Result<Port> {
    let op = op_for(g, "Merge", enter)?;
    // With the Enter twice, inference knows what will hold of the back edge too, as it is checked when it is closed.
    let spec = NodeSpec::new(op, Naming::Scoped(op.into())).inputs([enter, enter]).at(at);
    let merge = g.add_scoped(spec)?;
    g.open_back_edge(merge);
    Ok(Port::new(merge, 0))
}

/// Where two shapes differ, in words.
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

/// A shape as one writes it in a program.
fn as_rust(shape: &PartialShape) -> String {
    let Some(dims) = shape.dims() else { return "PartialShape::unknown()".into() };
    let dims: Vec<String> = dims.iter().map(|d| d.map_or("_".into(), |d| d.to_string())).collect();
    format!("shape![{}]", dims.join(", "))
}
