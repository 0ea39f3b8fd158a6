//! Values that are looked at, and what follows when a watch finds something: see `probe.rs`.

use super::Machine;
use crate::order::{Moment, Path};
use crate::plan::{Kind, Plan};
use millstream_tensor::{Error, Result, Tensor};

impl Machine {
    /// A probe shows a value to the observer.
    #[cold]
    pub(super) fn show(&mut self, plan: &Plan, at: u32, k: u32, value: Tensor) -> Result<()> {
        let path = self.path(at);
        let (Some(probes), Some(observer)) = (&plan.probes, &mut self.observer) else { return Ok(()) };
        let had = observer.has_found();
        observer.see(probes, k as usize, &path, value)?;
        if !had && observer.has_found() {
            self.drop_late_tasks(plan);
        }
        Ok(())
    }

    /// A node of a watched run has failed: an end, unless there is an earlier one.
    pub(super) fn found(&mut self, plan: &Plan, n: u32, at: u32, error: Error) {
        let moment = self.moment(plan, n, at);
        if let Some(observer) = &mut self.observer {
            observer.found(moment, error);
        }
        self.drop_late_tasks(plan);
    }

    /// Whether a node's turn is later than what was found: it is left out then.
    pub(super) fn is_late(&self, plan: &Plan, n: u32, at: u32) -> bool {
        self.observer.as_ref().is_some_and(|o| o.is_late(|| self.moment(plan, n, at)))
    }

    /// Whether a watched run is to end.
    pub(crate) fn has_found(&self) -> bool {
        self.observer.as_ref().is_some_and(|o| o.has_found())
    }

    fn drop_late_tasks(&mut self, plan: &Plan) {
        let mut tasks = std::mem::take(&mut self.tasks);
        tasks.retain(|task| !self.is_late(plan, task.node, task.at));
        self.tasks = tasks;
    }

    fn moment(&self, plan: &Plan, n: u32, at: u32) -> Moment {
        let (Some(probes), Some(&origin)) = (&plan.probes, plan.origins.get(n as usize)) else {
            return Moment::new();
        };
        match plan.nodes[n as usize].kind {
            Kind::Probe(k) => probes.moment_of_probe(&self.path(at), k as usize),
            _ => probes.moment(&self.path(at), origin),
        }
    }

    fn path(&self, mut at: u32) -> Path {
        let mut path = Path::new();
        while let Some(it) = self.iterations.get(at as usize) {
            let frame = &self.frames[it.frame as usize];
            if frame.of == 0 {
                break;
            }
            path.push((frame.of, it.number));
            at = frame.parent;
        }
        path.reverse();
        path
    }
}
