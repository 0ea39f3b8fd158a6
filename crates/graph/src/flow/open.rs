//! [`OpenLoop`]: a loop variable by variable, for those who write loops around graphs that exist (gradients): a new one, or one that
//! was built long ago and takes another variable.
//!
//! ```text
//! let mut l = g.new_loop("count_down", 10)?;
//! let n = l.enter(start)?;                         // Enter, Merge
//! l.decide(positive(n.merged()))?;                 // LoopCond
//! let inside = l.body_value(&n)?;                  // Switch, Identity
//! let result = l.close(n, inside - 1)?;            // NextIteration, Exit
//! ```

use super::lower::{op_for, open_merge};
use crate::context::{CondContext, Context, ContextId, ContextKind, WhileContext};
use crate::graph::{CollectionItem, Graph, Naming, NodeSpec};
use crate::ids::{NodeId, Port};
use crate::output::Output;
use millstream_tensor::{PartialShape, Result, invalid};
use std::panic::Location;

/// A loop that takes variables.
pub struct OpenLoop<'g> {
    graph: &'g Graph,
    context: ContextId,
    at: &'static Location<'static>,
}

/// A variable of an open loop, still without its next value.
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
    /// A loop without variables yet, in the current context.
    #[track_caller]
    pub fn new_loop(&self, name: &str, options: &WhileContext) -> OpenLoop<'_> {
        let mut g = self.lock();
        let parent = g.current;
        let name = g.unique_name(name);
        let kind = ContextKind::While(WhileContext {
            parallel_iterations: options.parallel_iterations,
            back_prop: options.back_prop.or(Some(true)),
            swap_memory: options.swap_memory,
            ..WhileContext::default()
        });
        let context = g.add_context(Context { name, parent, kind, external: Default::default() });
        if parent.is_none() {
            g.collect("while_context", CollectionItem::Context(context));
        }
        OpenLoop { graph: self, context, at: Location::caller() }
    }

    /// A loop of the graph, to take more variables. An error if the context is no loop, or one without a condition.
    #[track_caller]
    pub fn reopen_loop(&self, context: ContextId) -> Result<OpenLoop<'_>> {
        let known = self.read(|g| g.contexts().get(context.0 as usize)?.as_while()?.pivot);
        known.ok_or_else(|| invalid!("the context is no loop with a condition"))?;
        Ok(OpenLoop { graph: self, context, at: Location::caller() })
    }

    /// Runs `build` in this context: what it makes belongs to that loop or branch.
    pub fn inside<R>(&self, context: Option<ContextId>, build: impl FnOnce() -> R) -> R {
        let old = std::mem::replace(&mut self.lock().current, context);
        let _back = crate::graph::OnDrop(|| self.lock().current = old);
        build()
    }

    /// What stands for `value` in a context: brought in if need be.
    pub fn brought_in<'g>(&'g self, context: Option<ContextId>, value: Output<'g>) -> Result<Output<'g>> {
        let port = self.lock().capture(context, value.port())?;
        Ok(Output::new(self, port))
    }

    /// A branch of a cond in the current context, run when `pred` is what `branch` says.
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
    /// The loop's context.
    pub fn context(&self) -> ContextId {
        self.context
    }

    /// A variable: its Enter and Merge. `shape` is what holds in every iteration.
    pub fn enter(&self, init: Output<'g>, shape: PartialShape) -> Result<LoopVar<'g>> {
        self.graph.check()?;
        let mut g = self.graph.lock();
        let outer = g.context_parent(self.context);
        let init = g.capture(outer, init.port())?;
        let enter = Port::new(g.insert_enter(self.context, init, false)?, 0);
        g.set_shape(enter, shape);
        let current = g.current;
        g.set_current(Some(self.context));
        let merge = open_merge(&mut g, enter, self.at);
        g.set_current(current);
        let merge = merge?;
        g.edit_while(self.context, |w| {
            w.enters.push(enter);
            w.pivot_for_pred.get_or_insert(merge);
        });
        Ok(LoopVar { merge: Output::new(self.graph, merge), switch: None })
    }

    /// The loop goes on while `pred` is true.
    pub fn decide(&self, pred: Output<'g>) -> Result<()> {
        self.graph.check()?;
        let mut g = self.graph.lock();
        let current = g.current;
        g.set_current(Some(self.context));
        let spec =
            NodeSpec::new("LoopCond", Naming::Scoped("LoopCond".into())).inputs([pred.port()]).at(self.at);
        let pivot = g.add_scoped(spec);
        g.set_current(current);
        let pivot = Port::new(pivot?, 0);
        g.edit_while(self.context, |w| w.pivot = Some(pivot));
        Ok(())
    }

    /// The variable as the body sees it.
    pub fn body_value(&self, var: &mut LoopVar<'g>) -> Result<Output<'g>> {
        self.graph.check()?;
        let mut g = self.graph.lock();
        let pivot = g.contexts[self.context.0 as usize].as_while().and_then(|w| w.pivot);
        let pivot = pivot.ok_or_else(|| invalid!("a loop's condition comes before its body: `decide`"))?;
        let merge = var.merge.port();
        let current = g.current;
        g.set_current(Some(self.context));
        let mut make = |op: &'static str, inputs: &[Port]| {
            let op = op_for(&g, op, inputs[0])?;
            let spec =
                NodeSpec::new(op, Naming::Scoped(op.into())).inputs(inputs.iter().copied()).at(self.at);
            let spec = if op.ends_with("Switch") { g.beside(merge, spec)? } else { spec };
            g.add_scoped(spec)
        };
        let made = make("Switch", &[merge, pivot])
            .and_then(|switch| Ok((switch, Port::new(make("Identity", &[Port::new(switch, 1)])?, 0))));
        g.set_current(current);
        let (switch, value) = made?;
        g.edit_while(self.context, |w| {
            w.pivot_for_body.get_or_insert(value);
        });
        var.switch = Some(switch);
        Ok(Output::new(self.graph, value))
    }

    /// Gives the variable its next value; its value after the last iteration.
    pub fn close(&self, var: LoopVar<'g>, next: Output<'g>) -> Result<Output<'g>> {
        self.graph.check()?;
        let mut g = self.graph.lock();
        let switch = var.switch.ok_or_else(|| invalid!("a loop variable that the body never saw"))?;
        let current = g.current;
        g.set_current(Some(self.context));
        let op = op_for(&g, "NextIteration", next.port());
        let made = op.and_then(|op| {
            let spec = NodeSpec::new(op, Naming::Scoped(op.into())).inputs([next.port()]).at(self.at);
            g.add_scoped(spec)
        });
        g.set_current(current);
        let next = Port::new(made?, 0);
        g.close_merge(var.merge.port().node, next)?;
        let (old, new) = (g.shape_of(var.merge.port()), g.shape_of(next));
        if !old.contains(&new) {
            let name = g.node(var.merge.port().node)?.name().to_owned();
            return Err(invalid!("the loop variable `{name}` has shape {old} but its next value has {new}"));
        }
        let outer = g.context_parent(self.context);
        let done = Port::new(switch, 0);
        let op = op_for(&g, "Exit", done)?;
        let spec = NodeSpec::new(op, Naming::Scoped(op.into())).inputs([done]).context(outer).at(self.at);
        let exit = Port::new(g.insert(spec)?, 0);
        g.note_seen(exit.node);
        g.edit_while(self.context, |w| w.exits.push(exit));
        Ok(Output::new(self.graph, exit))
    }
}
