//! [`Primitive`]: the nodes that a loop is made of, each with its inputs and attributes. The only place that
//! spells them, for graphs and for messages that become graphs.

use crate::attr::Attrs;
use crate::graph::{GraphData, Naming, NodeSpec};
use crate::ids::Port;
use millstream_tensor::Result;
use std::panic::Location;

/// A primitive of control flow that is to be made. `V` is a value: a port of a graph, or the name of one.
#[derive(Clone, Debug)]
pub struct Primitive<V> {
    /// The op type, in its form for values.
    pub op: &'static str,
    /// The inputs.
    pub inputs: Vec<V>,
    /// The attributes that do not follow from the inputs.
    pub attrs: Attrs,
}

impl<V> Primitive<V> {
    fn new(op: &'static str, inputs: impl Into<Vec<V>>) -> Self {
        Primitive { op, inputs: inputs.into(), attrs: Attrs::new() }
    }

    /// `Enter`: brings a value into a frame; a constant one into each of its iterations.
    pub fn enter(value: V, frame_name: &str, is_constant: bool, parallel_iterations: i64) -> Self {
        let mut enter = Primitive::new("Enter", [value]);
        enter.attrs.set("frame_name", frame_name);
        enter.attrs.set("is_constant", is_constant);
        enter.attrs.set("parallel_iterations", parallel_iterations);
        enter
    }

    /// `Merge`: a loop variable, from what entered and from what comes back.
    pub fn merge(entered: V, back: V) -> Self {
        Primitive::new("Merge", [entered, back])
    }

    /// `LoopCond`: whether there is another iteration.
    pub fn loop_cond(pred: V) -> Self {
        Primitive::new("LoopCond", [pred])
    }

    /// `Switch`: output 0 where the predicate is false, output 1 where it is true.
    pub fn switch(value: V, pred: V) -> Self {
        Primitive::new("Switch", [value, pred])
    }

    /// `Identity`: a loop variable in the body, from output 1 of its Switch.
    pub fn identity(live: V) -> Self {
        Primitive::new("Identity", [live])
    }

    /// `NextIteration`: a value in the next iteration.
    pub fn next_iteration(value: V) -> Self {
        Primitive::new("NextIteration", [value])
    }

    /// `Exit`: a value outside of its frame, from output 0 of a Switch.
    pub fn exit(done: V) -> Self {
        Primitive::new("Exit", [done])
    }

    /// The op type in its form for references to variables.
    pub(super) fn op_for(&self, is_ref: bool) -> &'static str {
        match (is_ref, self.op) {
            (true, "Enter") => "RefEnter",
            (true, "Merge") => "RefMerge",
            (true, "Switch") => "RefSwitch",
            (true, "Identity") => "RefIdentity",
            (true, "NextIteration") => "RefNextIteration",
            (true, "Exit") => "RefExit",
            (_, op) => op,
        }
    }
}

impl GraphData {
    /// The primitive as a node to be made in the current scope, in the form that its first input asks for.
    pub(crate) fn primitive(
        &self,
        primitive: Primitive<Port>,
        at: &'static Location<'static>,
    ) -> Result<NodeSpec> {
        let op = primitive.op_for(self.type_of(primitive.inputs[0])?.is_ref);
        let spec = NodeSpec::new(op, Naming::Scoped(op.into())).inputs(primitive.inputs);
        Ok(spec.attrs(primitive.attrs).at(at))
    }
}
