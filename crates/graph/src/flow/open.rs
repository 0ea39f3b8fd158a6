//! [`OpenLoop`]: the builder of loops. It makes a loop's primitives, all variables at a time for
//! `while_loop`, or variable by variable for code that writes loops around existing graphs (gradients). It
//! also adds variables to loops that were finished before.
//!
//! ```text
//! let mut l = g.new_loop("count_down", 10)?;
//! let n = l.enter(start)?;                         // Enter, Merge
//! l.decide(positive(n.merged()))?;                 // LoopCond
//! let inside = l.body_value(&n)?;                  // Switch, Identity
//! let result = l.close(n, inside - 1)?;            // NextIteration, Exit
//! ```

use super::primitive::Primitive;
use super::while_loop::Checkpoint;
use crate::context::{CondContext, Context, ContextId, ContextKind, WhileContext};
use crate::graph::{CollectionItem, Graph, GraphData};
use crate::ids::{NodeId, Port};
use crate::output::Output;
use millstream_tensor::{Error, PartialShape, Result, invalid};
use std::panic::Location;

/// A loop that can be given variables.
pub struct OpenLoop<'g> {
    graph: &'g Graph,
    context: ContextId,
    at: &'static Location<'static>,
}

impl std::fmt::Debug for OpenLoop<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenLoop").field("context", &self.context).finish_non_exhaustive()
    }
}

/// A variable of an open loop, without its next value yet.
#[derive(Debug)]
#[must_use = "a loop variable needs its next value: `OpenLoop::close`"]
pub struct LoopVar<'g> {
    merge: Output<'g>,
    switch: Option<NodeId>,
}

impl<'g> LoopVar<'g> {
    /// The variable as the loop's condition sees it.
    pub fn merged(&self) -> Output<'g> {
        self.merge
    }
}

impl Graph {
    /// Makes a loop without variables in the current context.
    #[track_caller]
    pub fn new_loop(&self, name: &str, options: &WhileContext) -> OpenLoop<'_> {
        let options = WhileContext {
            parallel_iterations: options.parallel_iterations,
            back_prop: options.back_prop.or(Some(true)),
            swap_memory: options.swap_memory,
            ..WhileContext::default()
        };
        let frame = self.lock().unique_name(name);
        let open = OpenLoop::open(self, frame, options, Location::caller());
        open.collect();
        open
    }

    /// Opens a loop of the graph again, for more variables. Fails if the context is no loop, or has no
    /// condition.
    #[track_caller]
    pub fn reopen_loop(&self, context: ContextId) -> Result<OpenLoop<'_>> {
        let known = self.read(|g| g.contexts().get(context.0 as usize)?.as_while()?.pivot);
        known.ok_or_else(|| invalid!("the context is not a loop with a condition"))?;
        Ok(OpenLoop { graph: self, context, at: Location::caller() })
    }

    /// Runs `build` in this context: the nodes that it makes belong to that loop or branch.
    pub fn inside<R>(&self, context: Option<ContextId>, build: impl FnOnce() -> R) -> R {
        let old = std::mem::replace(&mut self.lock().current, context);
        let _back = crate::graph::OnDrop(|| self.lock().current = old);
        build()
    }

    /// Returns `value` as it is seen in a context, captured if necessary.
    pub fn brought_in<'g>(&'g self, context: Option<ContextId>, value: Output<'g>) -> Result<Output<'g>> {
        let port = self.lock().capture(context, value.port())?;
        Ok(Output::new(self, port))
    }

    /// Makes a branch of a cond in the current context: it runs if `pred` is false (`branch` 0) or true (1).
    #[track_caller]
    pub fn new_branch(&self, name: &str, pred: Output<'_>, branch: u32) -> Result<ContextId> {
        let at = Location::caller();
        let switch = self.op("Switch").inputs([pred, pred]).at(at).finish();
        let pivot = self.op("Identity").name("pivot").input(switch.output(branch)).at(at).output();
        self.check()?;
        let mut g = self.lock();
        let (name, parent) = (g.unique_name(name), g.current);
        let pred = g.capture(parent, pred.port())?;
        let context = g.add_context(Context {
            name,
            parent,
            kind: ContextKind::Cond(CondContext {
                pred,
                pivot: Some(pivot.port()),
                branch,
                captures: Vec::new(),
            }),
            external: [(pred, pred)].into_iter().collect(),
        });
        g.set_context(pivot.port().node, context);
        if parent.is_none() {
            g.collect("cond_context", CollectionItem::Context(context));
        }
        Ok(context)
    }
}

impl<'g> OpenLoop<'g> {
    /// Adds the context of a loop with this frame in the current context.
    pub(super) fn open(
        graph: &'g Graph,
        frame: String,
        options: WhileContext,
        at: &'static Location<'static>,
    ) -> OpenLoop<'g> {
        let mut g = graph.lock();
        let (parent, kind) = (g.current, ContextKind::While(options));
        let context = g.add_context(Context { name: frame, parent, kind, external: Default::default() });
        OpenLoop { graph, context, at }
    }

    /// Adds the loop to the collection of the outermost loops, if it is one.
    pub(super) fn collect(&self) {
        let mut g = self.graph.lock();
        if g.context_parent(self.context).is_none() {
            g.collect("while_context", CollectionItem::Context(self.context));
        }
    }

    /// The loop's context.
    pub fn context(&self) -> ContextId {
        self.context
    }

    /// Makes nodes in the loop.
    fn inside<R>(&self, make: impl FnOnce(&mut GraphData) -> Result<R>) -> Result<R> {
        self.graph.check()?;
        let mut g = self.graph.lock();
        let current = g.current;
        g.set_current(Some(self.context));
        let made = make(&mut g);
        g.set_current(current);
        made
    }

    /// Adds a variable: its Enter and Merge. `shape` is its shape invariant.
    pub fn enter(&self, init: Output<'g>, shape: PartialShape) -> Result<LoopVar<'g>> {
        let mut vars = self.enter_all(&[init], &[shape])?;
        vars.pop().ok_or_else(|| Error::internal("a value enters as a variable"))
    }

    /// Adds variables: all Enters, then all Merges.
    pub(super) fn enter_all(&self, init: &[Output<'g>], shapes: &[PartialShape]) -> Result<Vec<LoopVar<'g>>> {
        let merges = self.inside(|g| {
            let outer = g.context_parent(self.context);
            let init: Vec<Port> = init.iter().map(|o| g.capture(outer, o.port())).collect::<Result<_>>()?;
            let mut enters = Vec::with_capacity(init.len());
            for (&value, shape) in init.iter().zip(shapes) {
                let enter = Port::new(g.insert_enter(self.context, value, false)?, 0);
                g.set_shape(enter, shape.clone());
                enters.push(enter);
            }
            let merges: Vec<Port> =
                enters.iter().map(|&enter| open_merge(g, enter, self.at)).collect::<Result<_>>()?;
            g.edit_while(self.context, |w| {
                w.enters.extend(enters);
                w.pivot_for_pred = w.pivot_for_pred.or(merges.first().copied());
            });
            Ok(merges)
        })?;
        Ok(merges.into_iter().map(|m| LoopVar { merge: Output::new(self.graph, m), switch: None }).collect())
    }

    /// Makes the LoopCond: the loop continues while `pred` is true.
    pub fn decide(&self, pred: Output<'g>) -> Result<()> {
        self.decide_with(pred, None)
    }

    /// Like [`OpenLoop::decide`], with what the loop's gradient keeps.
    pub(super) fn decide_with(&self, pred: Output<'g>, checkpoint: Option<Checkpoint>) -> Result<()> {
        self.inside(|g| {
            let mut loop_cond = Primitive::loop_cond(pred.port());
            if let Some(checkpoint) = checkpoint {
                loop_cond.attrs.set(Checkpoint::ATTR, checkpoint.to_attr());
            }
            let spec = g.primitive(loop_cond, self.at)?;
            let pivot = Port::new(g.add_scoped(spec)?, 0);
            g.edit_while(self.context, |w| w.pivot = Some(pivot));
            Ok(())
        })
    }

    /// Returns the variable as the body sees it: makes its Switch and Identity.
    pub fn body_value(&self, var: &mut LoopVar<'g>) -> Result<Output<'g>> {
        let mut values = self.body_values(std::slice::from_mut(var))?;
        values.pop().ok_or_else(|| Error::internal("a variable has a value in the body"))
    }

    /// Returns the variables as the body sees them: all Switches are made, then all Identities.
    pub(super) fn body_values(&self, vars: &mut [LoopVar<'g>]) -> Result<Vec<Output<'g>>> {
        let values = self.inside(|g| {
            let pivot = g.contexts[self.context.0 as usize].as_while().and_then(|w| w.pivot);
            let pivot =
                pivot.ok_or_else(|| invalid!("set the loop's condition with `decide` before its body"))?;
            let mut switches = Vec::with_capacity(vars.len());
            for var in &mut *vars {
                let merge = var.merge.port();
                let spec = g.primitive(Primitive::switch(merge, pivot), self.at)?;
                let spec = g.beside(merge, spec)?;
                let switch = g.add_scoped(spec)?;
                var.switch = Some(switch);
                switches.push(switch);
            }
            let mut values = Vec::with_capacity(vars.len());
            for switch in switches {
                let spec = g.primitive(Primitive::identity(Port::new(switch, 1)), self.at)?;
                values.push(Port::new(g.add_scoped(spec)?, 0));
            }
            g.edit_while(self.context, |w| w.pivot_for_body = w.pivot_for_body.or(values.first().copied()));
            Ok(values)
        })?;
        Ok(values.into_iter().map(|p| Output::new(self.graph, p)).collect())
    }

    /// Gives the variable its next value. Returns its value after the last iteration.
    pub fn close(&self, var: LoopVar<'g>, next: Output<'g>) -> Result<Output<'g>> {
        let vars = [var];
        let next = self.next_values(&vars, &[next])?[0];
        let merge = vars[0].merge.port();
        self.graph.read(|g| {
            let (old, new) = (g.shape_of(merge), g.shape_of(next));
            match old.contains(&new) {
                true => Ok(()),
                false => Err(invalid!(
                    "the loop variable `{}` has shape {old} but its next value has {new}",
                    g.node(merge.node)?.name()
                )),
            }
        })?;
        let mut exits = self.exits(&vars)?;
        exits.pop().ok_or_else(|| Error::internal("a variable leaves its loop"))
    }

    /// Gives the variables their next values: makes the NextIterations and closes the back edges.
    pub(super) fn next_values(&self, vars: &[LoopVar<'g>], next: &[Output<'g>]) -> Result<Vec<Port>> {
        self.inside(|g| {
            if vars.iter().any(|var| var.switch.is_none()) {
                return Err(invalid!("a loop variable that the body never saw"));
            }
            let mut nexts = Vec::with_capacity(next.len());
            for value in next {
                let spec = g.primitive(Primitive::next_iteration(value.port()), self.at)?;
                nexts.push(Port::new(g.add_scoped(spec)?, 0));
            }
            for (var, next) in vars.iter().zip(&nexts) {
                g.close_merge(var.merge.port().node, *next)?;
            }
            Ok(nexts)
        })
    }

    /// Returns the variables after the last iteration: makes the Exits.
    pub(super) fn exits(&self, vars: &[LoopVar<'g>]) -> Result<Vec<Output<'g>>> {
        let mut g = self.graph.lock();
        let outer = g.context_parent(self.context);
        let mut exits = Vec::with_capacity(vars.len());
        for switch in vars.iter().filter_map(|var| var.switch) {
            let spec = g.primitive(Primitive::exit(Port::new(switch, 0)), self.at)?;
            let exit = g.insert(spec.context(outer))?;
            g.note_seen(exit);
            exits.push(Port::new(exit, 0));
        }
        g.edit_while(self.context, |w| w.exits.extend(&exits));
        Ok(exits.into_iter().map(|p| Output::new(self.graph, p)).collect())
    }
}

/// Makes the Merge of a loop variable, with an open back edge.
pub(super) fn open_merge(g: &mut GraphData, enter: Port, at: &'static Location<'static>) -> Result<Port> {
    // With the Enter as both inputs, inference assumes of the back edge what is checked when it is closed.
    let spec = g.primitive(Primitive::merge(enter, enter), at)?;
    let merge = g.add_scoped(spec)?;
    g.open_back_edge(merge);
    Ok(Port::new(merge, 0))
}
