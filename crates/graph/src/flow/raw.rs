//! The primitives one by one, for loops that are built by hand. The back edge is closed later, through a
//! [`BackEdge`].
//!
//! ```text
//! let (i, back) = g.loop_var(g.enter(zero, "frame"));     // Merge
//! let more = g.loop_cond(less(i, ten));
//! let (done, go) = g.switch(i, more);
//! back.close(g.next_iteration(go + one));
//! let result = g.exit(done);
//! ```

use super::open::open_merge;
use super::primitive::Primitive;
use crate::graph::Graph;
use crate::ids::{NodeId, Port};
use crate::output::{Op, Output};
use millstream_tensor::{Result, invalid};
use std::panic::Location;

/// The open back edge of a loop variable. If it is dropped without [`BackEdge::close`], the graph remembers
/// an error that names the variable's line, so a loop cannot be left open.
#[must_use = "a loop variable needs its next value: `close`"]
pub struct BackEdge<'g> {
    graph: &'g Graph,
    merge: Port,
    at: &'static Location<'static>,
    closed: bool,
}

impl std::fmt::Debug for BackEdge<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BackEdge").field("merge", &self.merge).finish_non_exhaustive()
    }
}

impl<'g> BackEdge<'g> {
    /// Gives the variable its next value, the output of a `NextIteration`.
    #[track_caller]
    pub fn close(mut self, next: Output<'g>) -> Result<()> {
        self.closed = true;
        self.graph.check()?;
        if !next.graph().same(self.graph) {
            return Err(invalid!("the next value belongs to another graph").at_line(Location::caller()));
        }
        let merge = Output::new(self.graph, self.merge);
        let (old, new) = (merge.shape(), next.shape());
        self.graph.close_back_edge(merge.op(), next)?;
        if !old.contains(&new) {
            return Err(invalid!(
                "the loop variable `{}` has shape {old} but its next value `{}` has {new}",
                merge.op().name(),
                next.op().name()
            )
            .at_line(self.at)
            .with_help("give the variable an initial shape that fits both"));
        }
        Ok(())
    }
}

impl Drop for BackEdge<'_> {
    fn drop(&mut self) {
        if self.closed || std::thread::panicking() || self.merge.node == NodeId::POISON {
            return;
        }
        let merge = Output::new(self.graph, self.merge).op().name();
        self.graph.remember(
            invalid!("the back edge of the loop variable `{merge}` was dropped without being closed")
                .at_line(self.at)
                .with_help("give the variable its next value: `back.close(g.next_iteration(..))`"),
        );
    }
}

impl Graph {
    /// Makes the node of a primitive. An error is remembered by the graph.
    fn node_of<'g>(&'g self, primitive: Primitive<Output<'g>>, at: &'static Location<'static>) -> Op<'g> {
        let op = primitive.op_for(primitive.inputs[0].is_ref());
        self.op(op).inputs(primitive.inputs).attrs(primitive.attrs).at(at).finish()
    }

    /// `Enter`: returns `value` as the first value of a variable of the frame `frame_name`.
    #[track_caller]
    pub fn enter<'g>(&'g self, value: Output<'g>, frame_name: &str) -> Output<'g> {
        self.enter_as(value, frame_name, false, 10)
    }

    /// `Enter` with all its attributes.
    #[track_caller]
    pub fn enter_as<'g>(
        &'g self,
        value: Output<'g>,
        frame_name: &str,
        is_constant: bool,
        parallel_iterations: i64,
    ) -> Output<'g> {
        let enter = Primitive::enter(value, frame_name, is_constant, parallel_iterations);
        self.node_of(enter, Location::caller()).output(0)
    }

    /// `Exit`: returns `value` outside of its frame.
    #[track_caller]
    pub fn exit<'g>(&'g self, value: Output<'g>) -> Output<'g> {
        self.node_of(Primitive::exit(value), Location::caller()).output(0)
    }

    /// `NextIteration`: returns `value` in the next iteration.
    #[track_caller]
    pub fn next_iteration<'g>(&'g self, value: Output<'g>) -> Output<'g> {
        self.node_of(Primitive::next_iteration(value), Location::caller()).output(0)
    }

    /// `LoopCond`: returns `pred` as the predicate of a loop.
    #[track_caller]
    pub fn loop_cond<'g>(&'g self, pred: Output<'g>) -> Output<'g> {
        self.node_of(Primitive::loop_cond(pred), Location::caller()).output(0)
    }

    /// `Switch`: returns `value` twice, alive if `pred` is false, and alive if `pred` is true.
    #[track_caller]
    pub fn switch<'g>(&'g self, value: Output<'g>, pred: Output<'g>) -> (Output<'g>, Output<'g>) {
        let node = self.node_of(Primitive::switch(value, pred), Location::caller());
        (node.output(0), node.output(1))
    }

    /// `Merge`: returns the value that arrives, and its position.
    #[track_caller]
    pub fn merge<'g>(&'g self, values: &[Output<'g>]) -> (Output<'g>, Output<'g>) {
        let by_ref = !values.is_empty() && values.iter().all(Output::is_ref);
        let op = if by_ref { "RefMerge" } else { "Merge" };
        let node = self.op(op).inputs(values.iter().copied()).at(Location::caller()).finish();
        (node.output(0), node.output(1))
    }

    /// Returns a loop variable, the `Merge` of what entered and what comes back. [`BackEdge::close`] gives
    /// the latter.
    #[track_caller]
    pub fn loop_var<'g>(&'g self, entered: Output<'g>) -> (Output<'g>, BackEdge<'g>) {
        let at = Location::caller();
        let foreign = !entered.graph().same(self);
        let made = match foreign {
            true => Err(invalid!("the loop variable belongs to another graph").at_line(at)),
            false => open_merge(&mut self.lock(), entered.port(), at),
        };
        let merge = made.unwrap_or_else(|error| {
            if entered.port().node != NodeId::POISON {
                self.remember(error);
            }
            Port::new(NodeId::POISON, 0)
        });
        (Output::new(self, merge), BackEdge { graph: self, merge, at, closed: false })
    }
}
