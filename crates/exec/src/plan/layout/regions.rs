//! The loops that run as regions instead of by tokens.

use super::Layout;
use crate::errors::of_node;
use crate::ids::PlanNode;
use crate::plan::prepare;
use crate::region::{Late, LoopPlan, Made, RegionPlan, Way, raise_loops};
use millstream_graph::op::KernelBody;
use millstream_graph::{Dense, Index};
use millstream_state::Resources;
use millstream_tensor::{Error, Result};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Layout<'_> {
    /// Raises loops to regions. What looks at single nodes keeps all loops with the machine.
    pub(super) fn raise_regions(&mut self, kernel_state: &Resources) -> Result<()> {
        let (program, options) = (self.builder.program, self.builder.options);
        let n = program.frames().len();
        self.ways = Dense::filled(Way::Machine, n);
        self.regions = std::iter::repeat_with(|| None).take(n).collect();
        let looked_at = options.keep_all || options.watch_all || !program.watched().is_empty();
        if !options.regions.enabled || looked_at {
            return Ok(());
        }
        let raised = raise_loops(program);
        self.ways = raised.ways;
        let position = &self.builder.position;
        let places = |nodes: &[Index]| -> Vec<PlanNode> { nodes.iter().map(|n| position[*n]).collect() };
        for region in raised.regions {
            let (enters, exits) = (places(&region.enters), places(&region.exits));
            let kernels = region.code.calls.iter().map(|call| {
                let node = program.node(call.node);
                let info =
                    node.info().ok_or_else(|| Error::internal("a region calls a node without a kernel"))?;
                prepare(info, kernel_state).map_err(|e| of_node(e, node))
            });
            let kernels = kernels.map(|kernel| kernel.map(Arc::new)).collect::<Result<Vec<_>>>()?;
            let made = RegionPlan::new(region.code, kernels, options.regions.clone());
            let made = Made::Before(Arc::new(made));
            self.regions[region.frame] = Some(Box::new(LoopPlan { enters, exits, made }));
        }
        for entering in raised.late {
            let (enters, exits) = (places(&entering.enters), places(&entering.exits));
            let mut prepared = BTreeMap::new();
            for &n in entering.nodes() {
                let node = program.node(n);
                if let Some(info) =
                    node.info().filter(|info| matches!(info.op.kernel.body, KernelBody::Build(_)))
                {
                    let kernel = prepare(info, kernel_state).map_err(|e| of_node(e, node))?;
                    prepared.insert(n, Arc::new(kernel));
                }
            }
            let frame = entering.frame;
            let made = Made::Late(Box::new(Late::new(entering, prepared, options.regions.clone())));
            self.regions[frame] = Some(Box::new(LoopPlan { enters, exits, made }));
        }
        Ok(())
    }
}
