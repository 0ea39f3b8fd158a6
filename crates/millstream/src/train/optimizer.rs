//! [`Optimizer`]: computing gradients and applying them to variables.

use super::rules::{Rate, Rule, current};
use crate::initializer::Initializer;
use crate::ops::{Ops, OutputOps};
use crate::options::Start;
use crate::sugar::Functions;
use crate::value::Value;
use crate::variable::{TRAIN_OP, Variable, Variables};
use crate::variable_scope::{GetVariable, VariableScopes};
use millstream_autodiff::Gradients;
use millstream_graph::{Arg, CollectionItem, Grad, Graph, IndexedSlices, Op, Output};
use millstream_tensor::{DType, Result, Tensor, ensure, invalid};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::panic::Location;

/// A variable with the gradient of the loss; `None` if the loss does not depend on it.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::train::Optimizer;
/// let g = Graph::new();
/// let w = g.variable("w", 3.0f32);
/// let found = Optimizer::gradient_descent(0.1).compute_gradients(w.value().square())?;
/// let (gradient, variable) = &found[0];
/// assert!(gradient.is_some());
/// assert_eq!(variable.name(), "w");
/// # Ok::<(), millstream::Error>(())
/// ```
pub type GradAndVar<'g> = (Option<Grad<'g>>, Variable<'g>);

/// Updates variables to reduce a loss. Its state for each variable (a *slot*) is also a variable, with
/// TensorFlow's name, so that checkpoints can be exchanged.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::VariableScopes;
/// use millstream::train::Optimizer;
///
/// let g = Graph::new();
/// let w = g.variable("w", [5.0f32, -3.0]);
/// let loss = w.value().square().reduce_sum(());
/// let step = g.global_step()?;
/// let train = Optimizer::momentum(0.05, 0.9).minimize(loss, Some(step))?;
/// let init = g.global_variables_initializer();
///
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// for _ in 0..200 {
///     session.run::<()>(train, feed![])?;
/// }
/// let (loss, step): (f32, i64) = session.run((loss, step.value()), feed![])?;
/// assert!(loss < 1e-3 && step == 200);
/// # Ok::<(), millstream::Error>(())
/// ```
pub struct Optimizer<'g> {
    rule: Rule<'g>,
    name: String,
    use_locking: bool,
    decay: Option<Rate<'g>>,
    decay_only: Option<Vec<Variable<'g>>>,
    /// Slots by their name and their variable's name, and variables of the optimizer itself.
    slots: Mutex<BTreeMap<(String, String), Variable<'g>>>,
}

impl std::fmt::Debug for Optimizer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Optimizer")
            .field("name", &self.name)
            .field("use_locking", &self.use_locking)
            .finish_non_exhaustive()
    }
}

impl<'g> Optimizer<'g> {
    fn new(name: &str, rule: Rule<'g>) -> Optimizer<'g> {
        Optimizer {
            rule,
            name: name.into(),
            use_locking: false,
            decay: None,
            decay_only: None,
            slots: Mutex::new(BTreeMap::new()),
        }
    }

    /// Returns an optimizer that descends along the gradient.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let train = Optimizer::gradient_descent(0.25).minimize(w.value().square(), None)?;
    /// let init = g.global_variables_initializer();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// session.run::<()>(train, feed![])?;
    /// let found: f32 = session.run(w.read(), feed![])?;
    /// assert!((found - 0.5).abs() < 1e-4, "{found}");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn gradient_descent(rate: impl Into<Rate<'g>>) -> Optimizer<'g> {
        Self::new("GradientDescent", Rule::GradientDescent { rate: rate.into() })
    }

    /// Returns an optimizer that descends along a sum of gradients with decay `momentum`.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let train = Optimizer::momentum(0.1, 0.9).minimize(w.value().square(), None)?;
    /// let init = g.global_variables_initializer();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// for _ in 0..2 {
    ///     session.run::<()>(train, feed![])?;
    /// }
    /// let found: f32 = session.run(w.read(), feed![])?;
    /// assert!((found - 0.46).abs() < 1e-4, "{found}");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn momentum(rate: impl Into<Rate<'g>>, momentum: impl Into<Rate<'g>>) -> Optimizer<'g> {
        let rule = Rule::Momentum { rate: rate.into(), momentum: momentum.into(), nesterov: false };
        Self::new("Momentum", rule)
    }

    /// As [`Optimizer::momentum`], with Nesterov's lookahead.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let train = Optimizer::nesterov(0.1, 0.9).minimize(w.value().square(), None)?;
    /// let init = g.global_variables_initializer();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// session.run::<()>(train, feed![])?;
    /// let found: f32 = session.run(w.read(), feed![])?;
    /// assert!((found - 0.62).abs() < 1e-4, "{found}");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn nesterov(rate: impl Into<Rate<'g>>, momentum: impl Into<Rate<'g>>) -> Optimizer<'g> {
        let rule = Rule::Momentum { rate: rate.into(), momentum: momentum.into(), nesterov: true };
        Self::new("Momentum", rule)
    }

    /// Returns Adagrad: steps divided by the root of the sum of squared gradients, which starts at `initial`
    /// (TensorFlow's default is 0.1).
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let train = Optimizer::adagrad(0.5, 0.1).minimize(w.value().square(), None)?;
    /// let init = g.global_variables_initializer();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// session.run::<()>(train, feed![])?;
    /// let found: f32 = session.run(w.read(), feed![])?;
    /// assert!((found - 0.50617).abs() < 1e-4, "{found}");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn adagrad(rate: impl Into<Rate<'g>>, initial: f64) -> Optimizer<'g> {
        Self::new("Adagrad", Rule::Adagrad { rate: rate.into(), initial })
    }

    /// Returns RMSProp: steps divided by the root of the mean of squared gradients, which decays by `decay`
    /// (TensorFlow's defaults: `decay` 0.9, `momentum` 0, `epsilon` 1e-10).
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let train = Optimizer::rms_prop(0.1, 0.9, 0.0, 1e-10).minimize(w.value().square(), None)?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(g.global_variables_initializer(), feed![])?;
    /// session.run::<()>(train, feed![])?;
    /// let found: f32 = session.run(w.read(), feed![])?;
    /// assert!(found < 1.0, "{found}");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn rms_prop(
        rate: impl Into<Rate<'g>>,
        decay: impl Into<Rate<'g>>,
        momentum: impl Into<Rate<'g>>,
        epsilon: impl Into<Rate<'g>>,
    ) -> Optimizer<'g> {
        let (rate, decay, momentum, epsilon) = (rate.into(), decay.into(), momentum.into(), epsilon.into());
        Self::new("RMSProp", Rule::RmsProp { rate, decay, momentum, epsilon, centered: false })
    }

    /// As [`Optimizer::rms_prop`], with the variance instead of the mean of squares.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let train = Optimizer::centered_rms_prop(0.01, 0.9, 0.0, 1e-10).minimize(w.value().square(), None)?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(g.global_variables_initializer(), feed![])?;
    /// session.run::<()>(train, feed![])?;
    /// let found: f32 = session.run(w.read(), feed![])?;
    /// assert!(found < 1.0, "{found}");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn centered_rms_prop(
        rate: impl Into<Rate<'g>>,
        decay: impl Into<Rate<'g>>,
        momentum: impl Into<Rate<'g>>,
        epsilon: impl Into<Rate<'g>>,
    ) -> Optimizer<'g> {
        let (rate, decay, momentum, epsilon) = (rate.into(), decay.into(), momentum.into(), epsilon.into());
        Self::new("RMSProp", Rule::RmsProp { rate, decay, momentum, epsilon, centered: true })
    }

    /// Returns Adam with TensorFlow's defaults: `beta1` 0.9, `beta2` 0.999, `epsilon` 1e-8.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let train = Optimizer::adam(0.1).minimize(w.value().square(), None)?;
    /// let init = g.global_variables_initializer();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// session.run::<()>(train, feed![])?;
    /// let found: f32 = session.run(w.read(), feed![])?;
    /// assert!((found - 0.9).abs() < 1e-4, "{found}");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn adam(rate: impl Into<Rate<'g>>) -> Optimizer<'g> {
        Self::adam_with(rate, 0.9, 0.999, 1e-8)
    }

    /// As [`Optimizer::adam`], with other parameters.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let train = Optimizer::adam_with(0.1, 0.8, 0.99, 1e-8).minimize(w.value().square(), None)?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(g.global_variables_initializer(), feed![])?;
    /// session.run::<()>(train, feed![])?;
    /// let found: f32 = session.run(w.read(), feed![])?;
    /// assert!((found - 0.9).abs() < 1e-4, "{found}"); // the first step is the rate
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn adam_with(
        rate: impl Into<Rate<'g>>,
        beta1: f64,
        beta2: f64,
        epsilon: impl Into<Rate<'g>>,
    ) -> Optimizer<'g> {
        let (rate, epsilon) = (rate.into(), epsilon.into());
        Self::new("Adam", Rule::Adam { rate, beta1, beta2, epsilon })
    }

    /// Returns [`Optimizer::adam`] with [`Optimizer::weight_decay`].
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let train = Optimizer::adam_w(0.01, 0.1).minimize(w.value().square(), None)?;
    /// let init = g.global_variables_initializer();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// session.run::<()>(train, feed![])?;
    /// let found: f32 = session.run(w.read(), feed![])?;
    /// assert!((found - 0.89).abs() < 1e-4, "{found}");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn adam_w(weight_decay: impl Into<Rate<'g>>, rate: impl Into<Rate<'g>>) -> Optimizer<'g> {
        Optimizer { name: "AdamW".into(), ..Self::adam(rate) }.weight_decay(weight_decay)
    }

    /// Sets decoupled weight decay: before each step, variables are reduced by this share of their value.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let train = Optimizer::gradient_descent(0.0).weight_decay(0.1).minimize(w.value().square(), None)?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(g.global_variables_initializer(), feed![])?;
    /// session.run::<()>(train, feed![])?;
    /// let found: f32 = session.run(w.read(), feed![])?;
    /// assert!((found - 0.9).abs() < 1e-6, "{found}");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn weight_decay(mut self, decay: impl Into<Rate<'g>>) -> Self {
        self.decay = Some(decay.into());
        self
    }

    /// Restricts weight decay to these variables.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let (w, bias) = (g.variable("w", 1.0f32), g.variable("bias", 1.0f32));
    /// let loss = (w.value() + bias.value()).square();
    /// let train = Optimizer::gradient_descent(0.0).weight_decay(0.1).decay_only(&[w]).minimize(loss, None)?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(g.global_variables_initializer(), feed![])?;
    /// session.run::<()>(train, feed![])?;
    /// assert_eq!(session.run::<f32>(bias.read(), feed![])?, 1.0);
    /// assert!(session.run::<f32>(w.read(), feed![])? < 1.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn decay_only(mut self, variables: &[Variable<'g>]) -> Self {
        self.decay_only = Some(variables.to_vec());
        self
    }

    /// Sets the name of its operations and slots.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let train = Optimizer::gradient_descent(0.1).named("descend").minimize(w.value().square(), None)?;
    /// assert!(train.name().starts_with("descend"));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn named(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the attribute `use_locking` of its operations. Here each update of a variable is atomic either
    /// way.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// Optimizer::gradient_descent(0.1).use_locking(true).minimize(w.value().square(), None)?;
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn use_locking(mut self, use_locking: bool) -> Self {
        self.use_locking = use_locking;
        self
    }

    /// Adds an operation that updates all trainable variables to reduce `loss`, and then increments
    /// `global_step`.
    ///
    /// ```
    /// use millstream::VariableScopes as _;
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let w = g.variable("w", 4.0f32);
    /// let step = g.global_step()?;
    /// let train = Optimizer::gradient_descent(0.25).minimize((w.value() - 3.0).square(), Some(step))?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(g.global_variables_initializer(), feed![])?;
    /// for _ in 0..20 {
    ///     session.run::<()>(train, feed![])?;
    /// }
    /// assert!((session.run::<f32>(w.value(), feed![])? - 3.0).abs() < 1e-4);
    /// assert_eq!(session.run::<i64>(step.value(), feed![])?, 20);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn minimize(&self, loss: Output<'g>, global_step: Option<Variable<'g>>) -> Result<Op<'g>> {
        self.minimize_over(loss, global_step, &loss.graph().trainable_variables())
    }

    /// As [`Optimizer::minimize`], for these variables.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let (w, fixed) = (g.variable("w", 1.0f32), g.variable("fixed", 1.0f32));
    /// let loss = (w.value() * fixed.value()).square();
    /// let train = Optimizer::gradient_descent(0.1).minimize_over(loss, None, &[w])?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(g.global_variables_initializer(), feed![])?;
    /// session.run::<()>(train, feed![])?;
    /// assert_eq!(session.run::<f32>(fixed.read(), feed![])?, 1.0);
    /// assert!((session.run::<f32>(w.read(), feed![])? - 0.8).abs() < 1e-6);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn minimize_over(
        &self,
        loss: Output<'g>,
        global_step: Option<Variable<'g>>,
        variables: &[Variable<'g>],
    ) -> Result<Op<'g>> {
        let grads = self.compute_gradients_of(loss, variables)?;
        if grads.iter().all(|(grad, _)| grad.is_none()) {
            let names: Vec<String> = variables.iter().map(|v| v.name()).collect();
            return Err(invalid!(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, between \
                 variables [{}] and loss {}.",
                names.join(", "),
                loss.name()
            ));
        }
        self.apply_gradients(grads, global_step)
    }

    /// Returns the gradients of `loss` with respect to all trainable variables.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let w = g.variable("w", 3.0f32);
    /// let optimizer = Optimizer::gradient_descent(0.1);
    /// let found = optimizer.compute_gradients(w.value().square())?;
    /// assert_eq!(found.len(), 1);
    /// let train = optimizer.apply_gradients(found, None)?;
    /// let init = g.global_variables_initializer();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// session.run::<()>(train, feed![])?;
    /// assert!((session.run::<f32>(w.read(), feed![])? - 2.4).abs() < 1e-6);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn compute_gradients(&self, loss: Output<'g>) -> Result<Vec<GradAndVar<'g>>> {
        self.compute_gradients_of(loss, &loss.graph().trainable_variables())
    }

    /// Returns the gradients of `loss` with respect to these variables.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let (w, unused) = (g.variable("w", 3.0f32), g.variable("unused", 1.0f32));
    /// let optimizer = Optimizer::gradient_descent(0.1);
    /// let found = optimizer.compute_gradients_of(w.value().square(), &[w, unused])?;
    /// assert!(found[0].0.is_some());
    /// assert!(found[1].0.is_none()); // the loss does not depend on it
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn compute_gradients_of(
        &self,
        loss: Output<'g>,
        variables: &[Variable<'g>],
    ) -> Result<Vec<GradAndVar<'g>>> {
        loss.graph().check()?;
        ensure!(!variables.is_empty(), "No variables to optimize.");
        let dtype = loss.dtype()?;
        ensure!(dtype.is_float(), "the loss `{}` is {dtype}; it must be a float", loss.name());
        let grads = loss.graph().gradients([loss], variables).run()?;
        Ok(grads.into_iter().zip(variables.iter().copied()).collect())
    }

    /// Adds an operation that applies the gradients to their variables, and then increments `global_step`.
    /// Variables without a gradient do not change.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::{Clipping as _, Optimizer};
    /// let g = Graph::new();
    /// let w = g.variable("w", 3.0f32);
    /// let optimizer = Optimizer::gradient_descent(1.0);
    /// let (gradients, variables): (Vec<_>, Vec<_>) =
    ///     optimizer.compute_gradients(w.value().square())?.into_iter().unzip();
    /// let (clipped, _) = g.clip_by_global_norm(&gradients, 1.0f32)?;
    /// let train = optimizer.apply_gradients(clipped.into_iter().zip(variables), None)?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(g.global_variables_initializer(), feed![])?;
    /// session.run::<()>(train, feed![])?;
    /// assert_eq!(session.run::<f32>(w.read(), feed![])?, 2.0); // the gradient 6 became 1
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn apply_gradients(
        &self,
        grads: impl IntoIterator<Item = GradAndVar<'g>>,
        global_step: Option<Variable<'g>>,
    ) -> Result<Op<'g>> {
        let at = Location::caller();
        let grads: Vec<GradAndVar<'g>> = grads.into_iter().collect();
        let given: Vec<(Grad<'g>, Variable<'g>)> =
            grads.iter().filter_map(|(g, v)| Some(((*g)?, *v))).collect();
        let Some((_, first)) = given.first() else {
            let names: Vec<String> = grads.iter().map(|(_, v)| v.name()).collect();
            return Err(
                invalid!("No gradients provided for any variable: [{}].", names.join(", ")).at_line(at)
            );
        };
        let g = first.graph();
        for (grad, variable) in &given {
            self.check(grad, variable).map_err(|e| e.at_line(at))?;
        }
        let variables: Vec<Variable<'g>> = given.iter().map(|(_, v)| *v).collect();
        self.rule.make_slots(self, g, &variables)?;
        let done = g.name_scope(&self.name, || {
            let scope = g.scope();
            let numbers = Numbers::place(self, g);
            let mut updates = Vec::new();
            for (grad, variable) in &given {
                let update = g.name_scope(&format!("update_{}", variable.name()), || {
                    self.update(&numbers, *grad, *variable)
                });
                updates.push(update?);
            }
            let Some(step) = global_step else { return self.rule.finish(self, &numbers, g, updates, &scope) };
            let all = self.rule.finish(self, &numbers, g, updates, "update")?;
            g.control_dependencies([all], || {
                let one = Value::from(match step.dtype()? {
                    DType::I32 => Tensor::scalar(1i32),
                    DType::I64 => Tensor::scalar(1i64),
                    other => {
                        return Err(invalid!(
                            "the global step `{}` is {other}; it must be an integer",
                            step.name()
                        ));
                    }
                });
                let op = if step.is_ref() { "AssignAdd" } else { "AssignAddVariableOp" };
                let name = if step.is_ref() { "value" } else { "Const" };
                let one = if step.is_ref() {
                    g.name_scope(&scope, || one.place(g, name, at))
                } else {
                    one.place(g, name, at)
                };
                let node = g.op(op).name(&scope).at(at).input(step.handle()).input(one);
                Ok(node.finish())
            })
        });
        let done = done.map_err(|e| e.at_line(at))?;
        g.check()?;
        g.add_to_collection(TRAIN_OP, CollectionItem::Node(done.name()));
        Ok(done)
    }

    /// Returns the slot of a variable, if it exists: `optimizer.slot(&w, "momentum")`.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let w = g.variable("w", 3.0f32);
    /// let optimizer = Optimizer::momentum(0.1, 0.9);
    /// assert!(optimizer.slot(&w, "momentum").is_none());
    /// optimizer.minimize(w.value().square(), None)?;
    /// assert!(optimizer.slot(&w, "momentum").is_some());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn slot(&self, variable: &Variable<'g>, name: &str) -> Option<Variable<'g>> {
        self.slots.lock().get(&(name.to_owned(), variable.name())).copied()
    }

    /// Returns all variables of the optimizer, sorted by name.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Optimizer;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let optimizer = Optimizer::momentum(0.1, 0.9);
    /// optimizer.minimize(w.value().square(), None)?;
    /// assert_eq!(optimizer.variables().len(), 1);
    /// assert!(optimizer.slot(&w, "momentum").is_some());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn variables(&self) -> Vec<Variable<'g>> {
        let mut all: Vec<Variable<'g>> = self.slots.lock().values().copied().collect();
        all.sort_by_key(|v| v.name());
        all
    }

    fn check(&self, grad: &Grad<'g>, variable: &Variable<'g>) -> Result<()> {
        let value = match grad {
            Grad::Dense(grad) => *grad,
            Grad::Slices(slices) => slices.values,
            Grad::Item(_) => return Err(invalid!("the gradient of `{}` is that of a list", variable.name())),
        };
        let (own, dtype) = (value.dtype()?, variable.dtype()?);
        ensure!(dtype.is_float(), "`{}` is {dtype}; only floats are trained", variable.name());
        ensure!(own == dtype, "the gradient of `{}` is {own} but the variable is {dtype}", variable.name());
        Ok(())
    }

    fn update(&self, numbers: &Numbers<'g>, grad: Grad<'g>, variable: Variable<'g>) -> Result<Op<'g>> {
        match grad {
            Grad::Dense(grad) => self.after_decay(numbers, variable, None, grad, || {
                self.rule.dense(self, numbers, grad, variable)
            }),
            Grad::Slices(slices) if self.rule.takes_rows_twice() => {
                self.after_decay(numbers, variable, Some(slices.indices), slices.values, || {
                    self.rule.sparse(self, numbers, slices, variable)
                })
            }
            Grad::Slices(slices) => {
                let slices = summed(slices);
                self.after_decay(numbers, variable, Some(slices.indices), slices.values, || {
                    self.rule.sparse(self, numbers, slices, variable)
                })
            }
            Grad::Item(_) => Err(invalid!("the gradient of `{}` is that of a list", variable.name())),
        }
    }

    /// Decays the variable, or the rows of it that are updated, before the step.
    fn after_decay(
        &self,
        numbers: &Numbers<'g>,
        variable: Variable<'g>,
        rows: Option<Output<'g>>,
        grad: Output<'g>,
        update: impl FnOnce() -> Result<Op<'g>>,
    ) -> Result<Op<'g>> {
        let decays = self.decay_only.as_ref().is_none_or(|only| only.contains(&variable));
        let (Some(decay), true) = (&self.decay, decays) else { return update() };
        let g = variable.graph();
        let part = numbers.of("weight_decay", decay, variable.dtype()?)?;
        // The gradient is that of the variable before its decay; in TensorFlow the order is undefined.
        let decayed = g.control_dependencies([grad], || -> Result<Op<'g>> {
            match rows {
                None => Ok(variable.assign_sub(part * current(&variable))),
                Some(rows) => {
                    let gathered = g.gather(current(&variable), rows, 0);
                    scatter_add(variable, rows, -part * gathered)
                }
            }
        })?;
        g.control_dependencies([decayed], update)
    }

    /// Returns a slot of a variable, adding it if there is none.
    pub(super) fn make_slot(
        &self,
        variable: &Variable<'g>,
        slot: &str,
        initializer: Initializer,
    ) -> Result<Variable<'g>> {
        let key = (slot.to_owned(), variable.name());
        if let Some(slot) = self.slots.lock().get(&key) {
            return Ok(*slot);
        }
        let g = variable.graph();
        let shape = variable.shape().full().ok_or_else(|| {
            invalid!(
                "the shape of `{}` must be known for an optimizer, not {}",
                variable.name(),
                variable.shape()
            )
        })?;
        let dtype = variable.dtype()?;
        let made = g.without_control(|| {
            g.unique_variable_scope(&format!("{}/{}", variable.name(), self.name)).run(|_| {
                let new = GetVariable::whole_scope(g, shape).dtype(dtype).initializer(initializer);
                new.trainable(false).use_resource(!variable.is_ref()).build()
            })
        })?;
        self.slots.lock().insert(key, made);
        Ok(made)
    }

    /// Returns a variable of the optimizer itself.
    pub(super) fn make_own(&self, name: &str, value: f32, like: &Variable<'g>) -> Variable<'g> {
        let key = (name.to_owned(), String::new());
        if let Some(own) = self.slots.lock().get(&key) {
            return *own;
        }
        let made = like.graph().untrained(name, Tensor::scalar(value), !like.is_ref());
        self.slots.lock().insert(key, made);
        made
    }

    pub(super) fn own(&self, name: &str) -> Result<Variable<'g>> {
        let found = self.slots.lock().get(&(name.to_owned(), String::new())).copied();
        found.ok_or_else(|| invalid!("the optimizer has no variable `{name}`"))
    }

    pub(super) fn slot_of(&self, variable: &Variable<'g>, name: &str) -> Result<Variable<'g>> {
        self.slot(variable, name).ok_or_else(|| invalid!("`{}` has no slot `{name}`", variable.name()))
    }

    pub(super) fn locking(&self) -> bool {
        self.use_locking
    }
}

/// The parameters of a rule as tensors, each added once.
pub(super) struct Numbers<'g> {
    placed: BTreeMap<&'static str, Output<'g>>,
    graph: &'g Graph,
}

impl<'g> Numbers<'g> {
    fn place(optimizer: &Optimizer<'g>, graph: &'g Graph) -> Numbers<'g> {
        let mut placed = BTreeMap::new();
        let decay = optimizer.decay.as_ref().map(|decay| ("weight_decay", decay.clone()));
        for (name, rate) in decay.into_iter().chain(optimizer.rule.numbers()) {
            placed.insert(name, rate.place(graph, name));
        }
        Numbers { placed, graph }
    }

    /// Returns a parameter as a tensor of this dtype.
    pub(super) fn of(&self, name: &'static str, rate: &Rate<'g>, dtype: DType) -> Result<Output<'g>> {
        let placed = self.placed.get(name).copied().unwrap_or_else(|| rate.place(self.graph, name));
        if placed.dtype()? == dtype {
            return Ok(placed);
        }
        Ok(self.graph.math().cast(placed, dtype))
    }

    pub(super) fn get(&self, name: &'static str, dtype: DType) -> Result<Output<'g>> {
        let placed = self.placed.get(name).copied();
        let placed = placed.ok_or_else(|| invalid!("the optimizer has no hyperparameter `{name}`"))?;
        if placed.dtype()? == dtype {
            return Ok(placed);
        }
        Ok(self.graph.math().cast(placed, dtype))
    }
}

/// Sums the slices of equal index.
fn summed(slices: IndexedSlices<'_>) -> IndexedSlices<'_> {
    let g = slices.values.graph();
    let [indices, place] = slices.indices.unique();
    let n = first_dim(indices);
    let values = g.segment().unsorted_segment_sum(slices.values, place, n);
    IndexedSlices { values, indices, dense_shape: slices.dense_shape }
}

fn first_dim(x: Output<'_>) -> Output<'_> {
    let g = x.graph();
    let shape = g.array().shape(x);
    g.name_scope("strided_slice", || {
        let at = Location::caller();
        let bounds = [[0], [1], [1]].map(|b: [i32; 1]| Value::from(b).place(g, "stack", at));
        let [begin, end, strides] = bounds;
        g.named(g.scope()).with("shrink_axis_mask", 1).array().strided_slice(shape, begin, end, strides)
    })
}

/// Adds to rows of a variable.
pub(super) fn scatter_add<'g>(
    variable: Variable<'g>,
    rows: Output<'g>,
    values: Output<'g>,
) -> Result<Op<'g>> {
    let op = if variable.is_ref() { "ScatterAdd" } else { "ResourceScatterAdd" };
    scatter(variable, op, rows, values)
}

pub(super) fn scatter<'g>(
    variable: Variable<'g>,
    op: &'static str,
    rows: Output<'g>,
    values: impl Into<Arg<'g>>,
) -> Result<Op<'g>> {
    let node = variable.graph().op(op).input(variable.handle()).input(rows).input(values);
    Ok(match variable.is_ref() {
        true => node.finish(),
        false => node.attr("dtype", variable.dtype()?).finish(),
    })
}

/// Untrained variables of optimizers.
trait Untrained {
    fn untrained(&self, name: &str, value: Tensor, use_resource: bool) -> Variable<'_>;
}

impl Untrained for Graph {
    fn untrained(&self, name: &str, value: Tensor, use_resource: bool) -> Variable<'_> {
        use crate::variable::{GLOBAL_VARIABLES, Listing, by_handle, by_ref};
        let at = Location::caller();
        let listing = Listing { trainable: false, collections: vec![GLOBAL_VARIABLES.into()] };
        let initial = |g| Value::from(value).place(g, "initial_value", at);
        // As in TensorFlow, the nodes are in the enclosing name scope, not in the optimizer's.
        match use_resource {
            true => by_handle(self.options().graph(), name, listing, at, initial),
            false => by_ref(self.options().graph(), name, listing, at, initial),
        }
    }
}
