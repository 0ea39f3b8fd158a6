//! The update rules of the optimizers: slots, parameters, and the steps for dense gradients and for slices.

use super::optimizer::{Numbers, Optimizer, scatter, scatter_add};
use crate::initializer::Initializer;
use crate::ops::{Ops, OutputOps};
use crate::options::Start;
use crate::variable::Variable;
use millstream_graph::{Graph, IndexedSlices, Op, OpBuilder, Output};
use millstream_tensor::{DType, Result, Tensor, ensure};

/// A parameter of an optimizer: a number, or a value of the graph such as a schedule.
///
/// ```
/// use millstream::VariableScopes as _;
/// use millstream::prelude::*;
/// use millstream::train::{Optimizer, Schedules as _};
/// let g = Graph::new();
/// let w = g.variable("w", 1.0f32);
/// let step = g.global_step()?;
/// // A number, or a value of the graph.
/// Optimizer::gradient_descent(0.1).minimize(w.value().square(), None)?;
/// let rate = g.exponential_decay(0.1, step.value(), 100.0, 0.5, false);
/// Optimizer::gradient_descent(rate).minimize(w.value().square(), Some(step))?;
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone)]
pub struct Rate<'g>(Kind<'g>);

impl std::fmt::Debug for Rate<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rate").finish_non_exhaustive()
    }
}

#[derive(Clone)]
enum Kind<'g> {
    Number(f64),
    Value(Output<'g>),
}

impl From<f64> for Rate<'_> {
    fn from(number: f64) -> Self {
        Rate(Kind::Number(number))
    }
}

impl From<f32> for Rate<'_> {
    fn from(number: f32) -> Self {
        Rate(Kind::Number(number.into()))
    }
}

impl<'g> From<Output<'g>> for Rate<'g> {
    fn from(value: Output<'g>) -> Self {
        Rate(Kind::Value(value))
    }
}

impl<'g> Rate<'g> {
    /// Returns the parameter as a tensor: an f32 constant of this name, or the value.
    pub(super) fn place(&self, g: &'g Graph, name: &str) -> Output<'g> {
        match self.0 {
            Kind::Number(number) => g.constant_tensor(name, Tensor::scalar(number as f32)),
            Kind::Value(value) => value,
        }
    }
}

pub(super) enum Rule<'g> {
    GradientDescent { rate: Rate<'g> },
    Momentum { rate: Rate<'g>, momentum: Rate<'g>, nesterov: bool },
    Adagrad { rate: Rate<'g>, initial: f64 },
    RmsProp { rate: Rate<'g>, decay: Rate<'g>, momentum: Rate<'g>, epsilon: Rate<'g>, centered: bool },
    Adam { rate: Rate<'g>, beta1: f64, beta2: f64, epsilon: Rate<'g> },
}

use Rule::*;

impl<'g> Rule<'g> {
    /// Returns the parameters in the order in which TensorFlow adds their tensors.
    pub(super) fn numbers(&self) -> Vec<(&'static str, Rate<'g>)> {
        match self {
            GradientDescent { rate } | Adagrad { rate, .. } => vec![("learning_rate", rate.clone())],
            Momentum { rate, momentum, .. } => {
                vec![("learning_rate", rate.clone()), ("momentum", momentum.clone())]
            }
            RmsProp { rate, decay, momentum, epsilon, .. } => vec![
                ("learning_rate", rate.clone()),
                ("decay", decay.clone()),
                ("momentum", momentum.clone()),
                ("epsilon", epsilon.clone()),
            ],
            Adam { rate, beta1, beta2, epsilon } => vec![
                ("learning_rate", rate.clone()),
                ("beta1", (*beta1).into()),
                ("beta2", (*beta2).into()),
                ("epsilon", epsilon.clone()),
            ],
        }
    }

    pub(super) fn make_slots(
        &self,
        optimizer: &Optimizer<'g>,
        g: &'g Graph,
        variables: &[Variable<'g>],
    ) -> Result<()> {
        if let Adagrad { initial, .. } = self {
            ensure!(0.0 < *initial, "initial_accumulator_value must be positive: {initial}");
        }
        if let (Adam { beta1, beta2, .. }, Some(first)) = (self, variables.iter().min_by_key(|v| v.name())) {
            g.without_control(|| {
                optimizer.make_own("beta1_power", *beta1 as f32, first);
                optimizer.make_own("beta2_power", *beta2 as f32, first);
            });
        }
        for variable in variables {
            let slots = match self {
                GradientDescent { .. } => vec![],
                Momentum { .. } => vec![("momentum", Initializer::zeros())],
                Adagrad { initial, .. } => {
                    vec![("accumulator", Initializer::constant(Tensor::scalar(*initial)))]
                }
                RmsProp { centered: false, .. } => {
                    vec![("rms", Initializer::ones()), ("momentum", Initializer::zeros())]
                }
                RmsProp { centered: true, .. } => {
                    vec![
                        ("rms", Initializer::ones()),
                        ("mg", Initializer::zeros()),
                        ("momentum", Initializer::zeros()),
                    ]
                }
                Adam { .. } => vec![("m", Initializer::zeros()), ("v", Initializer::zeros())],
            };
            for (name, initializer) in slots {
                optimizer.make_slot(variable, name, initializer)?;
            }
        }
        Ok(())
    }

    /// Returns whether slices may contain a row twice; otherwise duplicate rows are summed first.
    pub(super) fn takes_rows_twice(&self) -> bool {
        matches!(self, GradientDescent { .. })
    }

    /// Adds the step for a dense gradient.
    pub(super) fn dense(
        &self,
        optimizer: &Optimizer<'g>,
        numbers: &Numbers<'g>,
        grad: Output<'g>,
        variable: Variable<'g>,
    ) -> Result<Op<'g>> {
        let step = Step { optimizer, numbers, variable, dtype: variable.dtype()? };
        match self {
            GradientDescent { .. } => {
                let node = step.node("GradientDescent", &[])?;
                Ok(node.input(step.number("learning_rate")?).input(grad).finish())
            }
            Momentum { nesterov, .. } => {
                let node =
                    step.node("Momentum", &["momentum"])?.input(step.number("learning_rate")?).input(grad);
                Ok(node.input(step.number("momentum")?).attr("use_nesterov", *nesterov).finish())
            }
            Adagrad { .. } => {
                let node = step.node("Adagrad", &["accumulator"])?;
                Ok(node.input(step.number("learning_rate")?).input(grad).finish())
            }
            RmsProp { centered, .. } => Ok(step.rms(*centered, false)?.input(grad).finish()),
            Adam { .. } => {
                let node = step.node("Adam", &["m", "v"])?;
                let powers = [step.power("beta1_power")?, step.power("beta2_power")?];
                let node = node.inputs(powers).inputs(step.adam_numbers()?);
                Ok(node.input(grad).finish())
            }
        }
    }

    /// Adds the step for slices.
    pub(super) fn sparse(
        &self,
        optimizer: &Optimizer<'g>,
        numbers: &Numbers<'g>,
        slices: IndexedSlices<'g>,
        variable: Variable<'g>,
    ) -> Result<Op<'g>> {
        let step = Step { optimizer, numbers, variable, dtype: variable.dtype()? };
        let (grad, indices) = (slices.values, slices.indices);
        match self {
            GradientDescent { .. } => {
                let rate = step.number("learning_rate")?;
                match variable.is_ref() {
                    true => scatter(variable, "ScatterSub", indices, grad * rate),
                    false => scatter_add(variable, indices, -grad * rate),
                }
            }
            Momentum { nesterov, .. } => {
                let node = step.sparse("Momentum", &["momentum"])?.input(step.number("learning_rate")?);
                let node = node.input(grad).input(indices).input(step.number("momentum")?);
                Ok(node.attr("use_nesterov", *nesterov).finish())
            }
            Adagrad { .. } => {
                let node = step.sparse("Adagrad", &["accumulator"])?.input(step.number("learning_rate")?);
                Ok(node.input(grad).input(indices).finish())
            }
            RmsProp { centered, .. } => Ok(step.rms(*centered, true)?.input(grad).input(indices).finish()),
            Adam { .. } => step.adam_rows(grad, indices),
        }
    }

    /// Adds the operation that runs after all updates, and the updates of the optimizer's own variables.
    pub(super) fn finish(
        &self,
        optimizer: &Optimizer<'g>,
        numbers: &Numbers<'g>,
        g: &'g Graph,
        mut updates: Vec<Op<'g>>,
        name: &str,
    ) -> Result<Op<'g>> {
        if let Adam { .. } = self {
            let powers = g.control_dependencies(updates.clone(), || -> Result<[Op<'g>; 2]> {
                let update = |power: &str, beta| -> Result<Op<'g>> {
                    let power = optimizer.own(power)?;
                    let next = current(&power) * numbers.get(beta, DType::F32)?;
                    Ok(power.assign(next))
                };
                Ok([update("beta1_power", "beta1")?, update("beta2_power", "beta2")?])
            })?;
            updates.extend(powers);
        }
        let node = g.start_as("NoOp", name);
        Ok(updates.into_iter().fold(node, |node, op| node.control(op)).finish())
    }
}

/// Returns a variable's value as TensorFlow's operators read it: the shared read of a reference, a new read
/// of a handle.
pub(super) fn current<'g>(variable: &Variable<'g>) -> Output<'g> {
    if variable.is_ref() { variable.value() } else { variable.read() }
}

/// The step of one variable.
struct Step<'g, 'a> {
    optimizer: &'a Optimizer<'g>,
    numbers: &'a Numbers<'g>,
    variable: Variable<'g>,
    dtype: DType,
}

impl<'g> Step<'g, '_> {
    fn node(&self, kind: &str, slots: &[&str]) -> Result<OpBuilder<'g>> {
        self.start(if self.variable.is_ref() { "Apply" } else { "ResourceApply" }, kind, slots)
    }

    fn sparse(&self, kind: &str, slots: &[&str]) -> Result<OpBuilder<'g>> {
        self.start(if self.variable.is_ref() { "SparseApply" } else { "ResourceSparseApply" }, kind, slots)
    }

    /// Starts the op with the variable and its slots.
    fn start(&self, form: &str, kind: &str, slots: &[&str]) -> Result<OpBuilder<'g>> {
        let mut node = self.variable.graph().op(format!("{form}{kind}")).input(self.variable.handle());
        for slot in slots {
            node = node.input(self.optimizer.slot_of(&self.variable, slot)?.handle());
        }
        Ok(node.attr("use_locking", self.optimizer.locking()))
    }

    fn number(&self, name: &'static str) -> Result<Output<'g>> {
        self.numbers.get(name, self.dtype)
    }

    fn power(&self, name: &str) -> Result<Output<'g>> {
        let power = self.optimizer.own(name)?;
        let value = current(&power);
        Ok(match value.dtype()? == self.dtype {
            true => value,
            false => self.variable.graph().math().cast(value, self.dtype),
        })
    }

    fn rms(&self, centered: bool, sparse: bool) -> Result<OpBuilder<'g>> {
        let (kind, slots): (_, &[&str]) = match centered {
            true => ("CenteredRMSProp", &["mg", "rms", "momentum"]),
            false => ("RMSProp", &["rms", "momentum"]),
        };
        let node = if sparse { self.sparse(kind, slots)? } else { self.node(kind, slots)? };
        let names = ["learning_rate", "decay", "momentum", "epsilon"];
        names.into_iter().try_fold(node, |node, name| Ok(node.input(self.number(name)?)))
    }

    fn adam_numbers(&self) -> Result<Vec<Output<'g>>> {
        ["learning_rate", "beta1", "beta2", "epsilon"].into_iter().map(|name| self.number(name)).collect()
    }

    /// Adds Adam's step for slices: the whole slots decay, and the whole variable is updated.
    fn adam_rows(&self, grad: Output<'g>, rows: Output<'g>) -> Result<Op<'g>> {
        let g = self.variable.graph();
        let [power1, power2] = [self.power("beta1_power")?, self.power("beta2_power")?];
        let [rate, beta1, beta2, epsilon] = <[Output<'g>; 4]>::try_from(self.adam_numbers()?)
            .map_err(|_| millstream_tensor::Error::internal("Adam has four numbers"))?;
        let root = g.sqrt(1.0f64 - power2);
        let rate = rate * root / (1.0f64 - power1);
        let fade = |slot: &str, beta: Output<'g>, rows_of: Output<'g>| -> Result<(Op<'g>, Output<'g>)> {
            let slot = self.optimizer.slot_of(&self.variable, slot)?;
            let faded = slot.assign(current(&slot) * beta);
            let added = g.control_dependencies([faded], || scatter_add(slot, rows, rows_of))?;
            let value = match slot.is_ref() {
                true => added.output(0),
                false => g.control_dependencies([added], || slot.read()),
            };
            Ok((added, value))
        };
        let (m_done, m) = fade("m", beta1, grad * (1.0f64 - beta1))?;
        let (v_done, v) = fade("v", beta2, (grad * grad) * (1.0f64 - beta2))?;
        let root = v.sqrt();
        let moved = self.variable.assign_sub(rate * m / (root + epsilon));
        let node = g.start_as("NoOp", "group_deps");
        Ok([moved, m_done, v_done].into_iter().fold(node, |node, op| node.control(op)).finish())
    }
}
