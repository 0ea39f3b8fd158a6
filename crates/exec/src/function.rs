//! [`PreparedFunction`]: the plan of a function, which nodes call within their step.

use crate::machine::Machine;
use crate::plan::{Plan, PlanOptions};
use crate::step::{RunOptions, Runner};
use millstream_graph::op::{CallFunction, Library, StepEnv};
use millstream_graph::{Asked, Function, Program};
use millstream_state::{Activity, HostFunctions, Resources};
use millstream_tensor::pace::ShortWork;
use millstream_tensor::{DType, PartialShape, Result, Tensor, budget, ensure};
use parking_lot::Mutex;
use std::sync::Arc;

/// A function with its plan. It refers to no session: a call uses the resources of the caller's step, so that
/// resources may hold functions.
pub struct PreparedFunction {
    name: String,
    runner: Runner,
    arguments: Vec<(DType, PartialShape)>,
    /// The state that the function's nodes keep between calls.
    state: Arc<Resources>,
    /// The functions of the host program that the body's nodes call.
    functions: Arc<HostFunctions>,
    /// The functions that the body's nodes call.
    library: Arc<dyn Library>,
    spare: Mutex<Vec<Machine>>,
}

impl std::fmt::Debug for PreparedFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreparedFunction").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PreparedFunction {
    /// Plans a function. Nodes of its body call functions of `library`.
    pub fn new(
        function: &Function,
        library: Arc<dyn Library>,
        options: &PlanOptions,
    ) -> Result<PreparedFunction> {
        let effects = function.effects();
        let asked = Asked {
            feeds: &function.inputs,
            fetches: &function.outputs,
            targets: &effects,
            ..Asked::default()
        };
        let (program, arguments) = function.body.read(|g| -> Result<_> {
            let argument = |port| Ok((g.type_of(port)?.dtype, g.shape_of(port)));
            let arguments = function.inputs.iter().map(|p| argument(*p)).collect::<Result<Vec<_>>>()?;
            Ok((Program::new(g, &asked)?, arguments))
        })?;
        let state = Arc::new(Resources::new());
        let plan = Plan::new(&program, &state, options)?;
        Ok(PreparedFunction {
            name: function.name.clone(),
            runner: Runner::new(Arc::new(plan)),
            arguments,
            state,
            functions: function.body.extension::<HostFunctions>(),
            library,
            spare: Mutex::new(Vec::new()),
        })
    }

    fn check(&self, inputs: &[Tensor]) -> Result<()> {
        ensure!(
            inputs.len() == self.arguments.len(),
            "the function `{}` takes {} arguments but is given {}",
            self.name,
            self.arguments.len(),
            inputs.len()
        );
        for (i, (value, (dtype, shape))) in inputs.iter().zip(&self.arguments).enumerate() {
            ensure!(
                value.dtype() == *dtype && shape.contains(&value.shape().into()),
                "argument {i} of the function `{}` is {}{}, but {dtype}{shape} is wanted",
                self.name,
                value.dtype(),
                value.shape()
            );
        }
        Ok(())
    }
}

impl CallFunction for PreparedFunction {
    fn call(&self, inputs: Vec<Tensor>, env: &StepEnv) -> Result<Vec<Tensor>> {
        self.check(&inputs)?;
        let _looks = ShortWork::looks();
        let env = StepEnv {
            step_resources: Arc::new(Resources::new()),
            kernel_state: self.state.clone(),
            functions: self.functions.clone(),
            library: self.library.clone(),
            // Its thread need not be the caller's, which may be asleep meanwhile.
            activity: Activity::default(),
            ..env.clone()
        };
        let options = RunOptions { deadline: budget::deadline(), ..RunOptions::default() };
        let result = self.runner.run_within(inputs, &env, &options, &self.spare);
        env.step_resources.clear_all();
        result.map_err(|error| error.inside(&self.name))
    }
}
