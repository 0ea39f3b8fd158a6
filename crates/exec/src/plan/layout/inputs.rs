//! Pass 3: where each node reads its inputs.
//!
//! Afterwards every input has its place: a slot of the node's own iteration, a constant of the plan or an
//! invariant of the frame. The first two are in the node itself.

use super::*;
use crate::plan::Place;
use crate::plan::builder::Origin;

impl Layout<'_> {
    pub(super) fn place_inputs(&mut self) -> Result<()> {
        for here in self.drafts.ids() {
            let places = self.drafts[here].inputs.iter().enumerate();
            let places = places.map(|(i, value)| Input::new(self.place(*value), self.derefs(here, i)));
            let places = places.collect::<Result<Vec<_>>>()?;
            let node = &mut self.nodes[here];
            for (leading, input) in node.leading.iter_mut().zip(&places) {
                *leading = *input;
            }
            node.inputs = Span::append(&mut self.inputs, places);
        }
        Ok(())
    }

    fn place(&self, value: Value) -> Place {
        let source = match value {
            Value::Constant(constant) => return Place::Constant(constant),
            Value::Source(source) => source,
        };
        let maker = self.maker(source);
        match self.invariants[maker] {
            InvariantId::NONE => {
                let first = self.nodes[maker].outputs.start.index();
                Place::Slot(self.slots[OutputId::new(first + self.output(source))])
            }
            invariant => Place::Invariant(invariant),
        }
    }

    /// Whether the input is a reference and the node takes the variable's value.
    fn derefs(&self, here: PlanNode, i: usize) -> bool {
        let draft = &self.drafts[here];
        match (draft.origin, draft.inputs[i]) {
            // A constant is never a reference, and the value of a Const that is kept is no input of the
            // program's node.
            (_, Value::Constant(_)) => false,
            // Neither of two nodes that are computed at once reads a reference.
            (Origin::Node(n), _) if self.builder.fused.contains_key(&n) => false,
            // Nor does one of a group.
            (Origin::Node(n), _) if self.builder.groups.contains_key(&n) => false,
            (Origin::Node(n), Value::Source(_)) => self.builder.reads_ref(n, i),
            // A fetched variable is read at the end of the run.
            (Origin::Fetch(..), Value::Source(_)) => false,
            (Origin::Probe(..), Value::Source(s)) => self.builder.node(s.node).output_is_ref(s.index),
        }
    }
}
