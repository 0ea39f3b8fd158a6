//! Where the loops of a run are: see `progress.rs`.

use super::Machine;
use crate::plan::Plan;
use crate::progress::LoopCount;

impl Machine {
    /// The loops that are alive, outer ones first; of the iterations of one the oldest counts. At most so many.
    pub(crate) fn counts(&self, plan: &Plan, most: usize) -> Vec<LoopCount> {
        let mut counts = Vec::new();
        let mut inside = vec![(0, 0)];
        while let Some((iteration, depth)) = inside.pop() {
            let Some(it) = self.iterations.get(iteration as usize) else { continue };
            for &(_, instance) in &it.children {
                let Some(frame) = self.frames.get(instance as usize) else { continue };
                let Some(&oldest) = frame.iterations.front() else { continue };
                if counts.len() == most {
                    return counts;
                }
                counts.push(LoopCount {
                    name: plan.frames[frame.of as usize].name.clone(),
                    depth,
                    iterations: self.iterations[oldest as usize].number,
                });
                inside.push((oldest, depth + 1));
            }
        }
        counts
    }
}
