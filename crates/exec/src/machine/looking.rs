//! Values that are looked at, and what follows when a watch finds something: see `probe.rs`.

use super::Machine;
use crate::ids::{IterationId, PlanNode, ProbeId};
use crate::order::{Moment, Path};
use crate::plan::{Kind, Plan};
use millstream_graph::FrameId;
use millstream_tensor::{Error, Result, Tensor};

impl Machine {
    /// A probe shows a value to the observer.
    #[cold]
    pub(super) fn show(&mut self, plan: &Plan, at: IterationId, probe: ProbeId, value: Tensor) -> Result<()> {
        let path = self.path(at);
        let (Some(probes), Some(observer)) = (&plan.probes, &mut self.observer) else { return Ok(()) };
        let had = observer.has_found();
        observer.see(probes, probe, &path, value)?;
        if !had && observer.has_found() {
            self.drop_late_tasks(plan);
        }
        Ok(())
    }

    /// A node of a watched run has failed. That ends the run, unless something earlier does.
    pub(super) fn found(&mut self, plan: &Plan, n: PlanNode, at: IterationId, error: Error) {
        let moment = self.moment(plan, n, at);
        if let Some(observer) = &mut self.observer {
            observer.found(moment, error);
        }
        self.drop_late_tasks(plan);
    }

    /// Whether a node's turn is later than what was found. Such a turn is left out.
    pub(super) fn is_late(&self, plan: &Plan, n: PlanNode, at: IterationId) -> bool {
        self.observer.as_ref().is_some_and(|o| o.is_late(|| self.moment(plan, n, at)))
    }

    /// Whether something was found that ends the run.
    pub(crate) fn has_found(&self) -> bool {
        self.observer.as_ref().is_some_and(|o| o.has_found())
    }

    fn drop_late_tasks(&mut self, plan: &Plan) {
        let mut tasks = std::mem::take(&mut self.tasks);
        tasks.retain(|task| !self.is_late(plan, task.node, task.at));
        self.tasks = tasks;
    }

    fn moment(&self, plan: &Plan, n: PlanNode, at: IterationId) -> Moment {
        let (Some(probes), Some(&origin)) = (&plan.probes, plan.origins.get(n)) else {
            return Moment::new();
        };
        match plan.nodes[n].kind {
            Kind::Probe(probe) => probes.moment_of_probe(&self.path(at), probe),
            _ => probes.moment(&self.path(at), origin),
        }
    }

    fn path(&self, mut at: IterationId) -> Path {
        let mut path = Path::new();
        while let Some(it) = self.iterations.get(at) {
            let instance = &self.instances[it.instance];
            if instance.of == FrameId::ROOT {
                break;
            }
            path.push((instance.of, it.number));
            at = instance.parent;
        }
        path.reverse();
        path
    }
}
