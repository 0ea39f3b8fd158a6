//! Where a run is that is called off: the iterations of its loops, and the nodes that wait.

use super::Machine;
use crate::errors::{in_iteration, waits};
use crate::ids::IterationId;
use crate::plan::{Kind, Plan};
use millstream_graph::FrameId;
use millstream_tensor::Error;

/// The most loops, and the most waiting nodes, that an error names.
const MOST: usize = 4;

impl Machine {
    /// The error that ends the run early, with notes about where the run is. What waits at a queue has its
    /// note already.
    #[cold]
    pub(crate) fn called_off(&self, plan: &Plan, mut error: Error) -> Error {
        for place in self.innermost(plan) {
            error = error.note(format!("the run was in {place}"));
        }
        let labels = self.waiting.iter().map(|(node, _)| &plan.labels[*node]);
        let told = |error: &Error, waits: &str| error.notes().iter().any(|note| note.starts_with(waits));
        for label in labels.take(MOST) {
            if !told(&error, &waits(&label.name, "")) {
                error = error.note(waits(&label.name, label.op));
            }
        }
        error
    }

    /// The oldest iterations of the innermost loops that are alive, with the iterations around them.
    fn innermost(&self, plan: &Plan) -> Vec<String> {
        let mut places = Vec::new();
        let mut inside = vec![IterationId::ROOT];
        while let Some(at) = inside.pop()
            && places.len() < MOST
        {
            let Some(it) = self.iterations.get(at) else { continue };
            let before = (inside.len(), places.len());
            for &(_, id) in &it.children {
                let Some(instance) = self.instances.get(id) else { continue };
                match self.region_of(id).map(|region| region.iterations()) {
                    // A region does not say how far the loops within it are.
                    Some(number) => {
                        let mut place = in_iteration(number, &plan.frames[instance.of].name);
                        if let Some(inner) = loop_within(plan, instance.of) {
                            place += &format!(" (which contains `{inner}`)");
                        }
                        if at != IterationId::ROOT {
                            place += &format!(", in {}", self.place(plan, at));
                        }
                        places.push(place);
                    }
                    None => inside.extend(instance.iterations.front()),
                }
            }
            if at != IterationId::ROOT && before == (inside.len(), places.len()) {
                places.push(self.place(plan, at));
            }
        }
        places
    }
}

/// The first loop of a loop's body.
fn loop_within(plan: &Plan, frame: FrameId) -> Option<&str> {
    let inner = plan.nodes_of(frame).find_map(|(_, node)| match node.kind {
        Kind::Enter(inner, _) | Kind::EnterConstant(inner, _) => Some(inner),
        _ => None,
    });
    inner.map(|inner| plan.frames[inner].name.as_str())
}
