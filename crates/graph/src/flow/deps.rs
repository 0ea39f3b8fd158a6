//! Ordering: [`Graph::group`], [`Graph::tuple`], [`Graph::with_dependencies`].

use crate::graph::Graph;
use crate::nest::{Leaf, Nest, Values};
use crate::output::{Op, Output};
use millstream_tensor::{Result, invalid};
use std::panic::Location;

impl Graph {
    /// Returns an operation that runs when all of these have run.
    #[track_caller]
    pub fn group<'g>(&'g self, ops: impl IntoIterator<Item = impl Into<Op<'g>>>) -> Op<'g> {
        let ops: Vec<Op<'g>> = ops.into_iter().map(Into::into).collect();
        self.group_named("group_deps", &ops, Location::caller())
    }

    fn group_named<'g>(&'g self, name: &str, ops: &[Op<'g>], at: &'static Location<'static>) -> Op<'g> {
        ops.iter().fold(self.op("NoOp").name(name).at(at), |node, &op| node.control(op)).finish()
    }

    /// Returns `value`, available once these operations have run.
    #[track_caller]
    pub fn with_dependencies<'g>(
        &'g self,
        ops: impl IntoIterator<Item = impl Into<Op<'g>>>,
        value: Output<'g>,
    ) -> Output<'g> {
        let op = if value.is_ref() { "RefIdentity" } else { "Identity" };
        let node = self.op(op).name("control_dependency").input(value).at(Location::caller());
        ops.into_iter().fold(node, |node, op| node.control(op)).output()
    }

    /// Returns the same values, each available only once all of them are.
    #[track_caller]
    pub fn tuple<'g, N: Nest<'g>>(&'g self, values: N) -> Result<N> {
        let at = Location::caller();
        self.check()?;
        let mut leaves = Vec::new();
        values.flatten(&mut leaves);
        if leaves.is_empty() {
            return Err(invalid!("`tuple` needs at least one value").at_line(at));
        }
        let mut ops: Vec<Op<'g>> = Vec::new();
        for leaf in &leaves {
            let op = match leaf {
                Leaf::Output(output) => output.op(),
                Leaf::Op(op) => *op,
            };
            if !ops.iter().any(|o| o.id() == op.id()) {
                ops.push(op);
            }
        }
        ops.sort_by_key(|op| op.id());
        let made = self.name_scope("tuple", || {
            let gate = self.group_named("group_deps", &ops, at);
            let one = |leaf| match leaf {
                Leaf::Output(output) => self.with_dependencies([gate], output),
                Leaf::Op(op) => self.with_dependencies([gate], op.output(0)),
            };
            leaves.into_iter().map(one).collect()
        });
        let result = values.rebuild(&mut Values::new(made))?;
        self.check()?;
        Ok(result)
    }
}
