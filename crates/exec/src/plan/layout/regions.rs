//! The loops that run as regions instead of by tokens.

use super::Layout;
use crate::ids::PlanNode;
use crate::region::{RegionPlan, Way, raise_loops};
use millstream_graph::{Dense, Index};

impl Layout<'_> {
    /// Raises loops to regions. What looks at single nodes keeps all loops with the machine.
    pub(super) fn raise_regions(&mut self) {
        let (program, options) = (self.builder.program, self.builder.options);
        let n = program.frames().len();
        self.ways = Dense::filled(Way::Machine, n);
        self.regions = std::iter::repeat_with(|| None).take(n).collect();
        let looked_at = options.keep_all || options.watch_all || !program.watched().is_empty();
        if !options.regions.enabled || looked_at {
            return;
        }
        let raised = raise_loops(program);
        self.ways = raised.ways;
        for region in raised.regions {
            let places = |nodes: &[Index]| -> Vec<PlanNode> {
                nodes.iter().map(|n| self.builder.position[*n]).collect()
            };
            let (enters, exits) = (places(&region.enters), places(&region.exits));
            let plan = RegionPlan::new(region.code, enters, exits, options.regions.clone());
            self.regions[region.frame] = Some(Box::new(plan));
        }
    }
}
