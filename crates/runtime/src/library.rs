//! [`Functions`]: the functions of a session's graph, as its kernels call them.

use millstream_exec::region::Regions;
use millstream_exec::{PlanOptions, PreparedFunction};
use millstream_graph::op::{CallFunction, Effect, Library};
use millstream_graph::{FuncRef, Function, Graph};
use millstream_tensor::{Code, DType, Error, Result};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// Plans the functions of a graph. Functions run on the dataflow machine in every tier.
pub(crate) struct Functions {
    common: Arc<Common>,
    /// Whether functions whose nodes keep state are kept, too. A function that another function calls
    /// continues its random numbers from call to call, and a node that runs again starts from the first ones.
    keeps_all: bool,
    /// The functions that were planned. The lock is not held while one is.
    kept: Mutex<HashMap<String, Arc<dyn CallFunction>>>,
}

struct Common {
    graph: Graph,
    parallel_iterations: Option<u32>,
    regions: Regions,
}

impl Functions {
    pub(crate) fn new(graph: Graph, parallel_iterations: Option<u32>, regions: Regions) -> Functions {
        let common = Arc::new(Common { graph, parallel_iterations, regions });
        Functions { common, keeps_all: false, kept: Mutex::default() }
    }

    /// The library of a function that was planned: the functions that it calls keep their state as long as it
    /// does.
    fn within(&self) -> Functions {
        Functions { common: self.common.clone(), keeps_all: true, kept: Mutex::default() }
    }
}

impl Library for Functions {
    fn prepare(&self, function: &FuncRef) -> Result<Arc<dyn CallFunction>> {
        if let Some(kept) = self.kept.lock().get(&function.name) {
            return Ok(kept.clone());
        }
        let common = &self.common;
        let found = common.graph.function(&function.name).ok_or_else(|| {
            Error::new(Code::NotFound, format!("the graph has no function `{}`", function.name))
        })?;
        let options = PlanOptions {
            parallel_iterations: common.parallel_iterations,
            regions: common.regions.clone(),
            ..PlanOptions::default()
        };
        let prepared: Arc<dyn CallFunction> =
            Arc::new(PreparedFunction::new(&found, Arc::new(self.within()), &options)?);
        if self.keeps_all || keeps_nothing(&found) {
            let mut kept = self.kept.lock();
            return Ok(kept.entry(function.name.clone()).or_insert(prepared).clone());
        }
        Ok(prepared)
    }
}

/// Whether no node of the function keeps state between calls, as random generators do, or calls a function
/// that may.
fn keeps_nothing(function: &Function) -> bool {
    function.body.read(|g| {
        g.nodes().iter().all(|node| {
            let def = node.info.op;
            def.kernel.effect == Effect::Pure && def.outputs.iter().all(|arg| arg.ty != DType::Variant.into())
        })
    })
}
