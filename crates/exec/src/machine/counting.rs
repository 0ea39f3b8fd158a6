//! How far the loops of a run are: see `progress.rs`.

use super::Machine;
use crate::ids::IterationId;
use crate::plan::Plan;
use crate::progress::LoopCount;

impl Machine {
    /// At most `most` of the loops that are alive, outer ones first, each with its oldest iteration.
    pub(crate) fn counts(&self, plan: &Plan, most: usize) -> Vec<LoopCount> {
        let mut counts = Vec::new();
        let mut inside = vec![(IterationId::ROOT, 0)];
        while let Some((iteration, depth)) = inside.pop() {
            let Some(it) = self.iterations.get(iteration) else { continue };
            for &(_, instance) in &it.children {
                let region = self.region_of(instance);
                let Some(instance) = self.instances.get(instance) else { continue };
                if counts.len() == most {
                    return counts;
                }
                if let Some(region) = region {
                    let name = plan.frames[instance.of].name.clone();
                    counts.push(LoopCount { name, depth, iterations: region.iterations() });
                    continue;
                }
                let Some(&oldest) = instance.iterations.front() else { continue };
                counts.push(LoopCount {
                    name: plan.frames[instance.of].name.clone(),
                    depth,
                    iterations: self.iterations[oldest].number,
                });
                inside.push((oldest, depth + 1));
            }
        }
        counts
    }
}
