//! Learning rate schedules.

use crate::ops::{Ops, OutputOps};
use crate::options::Start;
use crate::sugar::{Functions, Methods};
use millstream_graph::{Arg, Graph, Output, weak_cast};
use millstream_tensor::{DType, Result, Tensor, ensure};

/// Learning rates as functions of the step, f32 values for [`Optimizer`](super::Optimizer)s.
///
/// ```
/// use millstream::VariableScopes as _;
/// use millstream::prelude::*;
/// use millstream::train::{Optimizer, Schedules as _};
/// let g = Graph::new();
/// let w = g.variable("w", 1.0f32);
/// let step = g.global_step()?;
/// let rate = g.exponential_decay(0.1, step.value(), 100.0, 0.5, false);
/// Optimizer::gradient_descent(rate).minimize(w.value().square(), Some(step))?;
/// # Ok::<(), millstream::Error>(())
/// ```
pub trait Schedules<'g> {
    /// `rate * decay_rate ^ (step / decay_steps)`; with `staircase` the quotient is rounded down.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Schedules as _;
    /// let g = Graph::new();
    /// let step = g.placeholder::<i64>("step", shape![]);
    /// let smooth = g.exponential_decay(1.0, step, 10.0, 0.25, false);
    /// let stairs = g.exponential_decay(1.0, step, 10.0, 0.25, true);
    /// let rates: (f32, f32) = Session::new(&g)?.run((smooth, stairs), feed![step => 5i64])?;
    /// assert_eq!(rates, (0.5, 1.0));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn exponential_decay(
        self,
        rate: f32,
        step: Output<'g>,
        decay_steps: f32,
        decay_rate: f32,
        staircase: bool,
    ) -> Output<'g>;

    /// `rate * e ^ (-decay_rate * step / decay_steps)`.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Schedules as _;
    /// let g = Graph::new();
    /// let rate = g.natural_exp_decay(1.0, g.constant(10i64), 10.0, 1.0, false);
    /// let rate: f32 = Session::new(&g)?.run(rate, feed![])?;
    /// assert!((rate - (-1.0f32).exp()).abs() < 1e-6);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn natural_exp_decay(
        self,
        rate: f32,
        step: Output<'g>,
        decay_steps: f32,
        decay_rate: f32,
        staircase: bool,
    ) -> Output<'g>;

    /// `rate / (1 + decay_rate * step / decay_steps)`.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Schedules as _;
    /// let g = Graph::new();
    /// let rate = g.inverse_time_decay(1.0, g.constant(30i64), 10.0, 1.0, false);
    /// assert_eq!(Session::new(&g)?.run::<f32>(rate, feed![])?, 0.25);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn inverse_time_decay(
        self,
        rate: f32,
        step: Output<'g>,
        decay_steps: f32,
        decay_rate: f32,
        staircase: bool,
    ) -> Output<'g>;

    /// From `rate` to `end` in `decay_steps` steps, along a polynomial of this power (1 is linear). With
    /// `cycle`, `decay_steps` grows to the next multiple each time the step reaches it.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Schedules as _;
    /// let g = Graph::new();
    /// let rate = g.polynomial_decay(1.0, g.constant(5i64), 10.0, 0.5, 1.0, false)?;
    /// assert_eq!(Session::new(&g)?.run::<f32>(rate, feed![])?, 0.75);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn polynomial_decay(
        self,
        rate: f32,
        step: Output<'g>,
        decay_steps: f32,
        end: f32,
        power: f32,
        cycle: bool,
    ) -> Result<Output<'g>>;

    /// From `rate` to `alpha * rate` in `decay_steps` steps, along half a cosine wave.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Schedules as _;
    /// let g = Graph::new();
    /// let rate = g.cosine_decay(1.0, g.constant(5i64), 10.0, 0.0);
    /// let rate: f32 = Session::new(&g)?.run(rate, feed![])?;
    /// assert!((rate - 0.5).abs() < 1e-6);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn cosine_decay(self, rate: f32, step: Output<'g>, decay_steps: f32, alpha: f32) -> Output<'g>;

    /// `values[0]` up to and with step `boundaries[0]`, then `values[1]`, and so on: one more value than
    /// boundaries.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Schedules as _;
    /// let g = Graph::new();
    /// let step = g.placeholder::<i64>("step", shape![]);
    /// let rate = g.piecewise_constant(step, &[100], &[0.5, 0.25])?;
    /// let session = Session::new(&g)?;
    /// assert_eq!(session.run::<f32>(rate, feed![step => 100i64])?, 0.5);
    /// assert_eq!(session.run::<f32>(rate, feed![step => 101i64])?, 0.25);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn piecewise_constant(self, step: Output<'g>, boundaries: &[i64], values: &[f32]) -> Result<Output<'g>>;

    /// From 0 to `rate` linearly in `steps` steps, then `rate`.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Schedules as _;
    /// let g = Graph::new();
    /// let step = g.placeholder::<i64>("step", shape![]);
    /// let rate = g.linear_warm_up(0.5f32, step, 4.0);
    /// let session = Session::new(&g)?;
    /// assert_eq!(session.run::<f32>(rate, feed![step => 1i64])?, 0.125);
    /// assert_eq!(session.run::<f32>(rate, feed![step => 9i64])?, 0.5);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn linear_warm_up(self, rate: impl Into<Arg<'g>>, step: Output<'g>, steps: f32) -> Output<'g>;
}

impl<'g> Schedules<'g> for &'g Graph {
    fn exponential_decay(
        self,
        rate: f32,
        step: Output<'g>,
        decay_steps: f32,
        decay_rate: f32,
        staircase: bool,
    ) -> Output<'g> {
        self.name_scope("ExponentialDecay", || {
            let rate = self.constant_tensor("learning_rate", Tensor::scalar(rate));
            let p = passed(step, decay_steps, staircase);
            let factor = self.pow(decay_rate, p);
            self.named(self.scope()).mul(rate, factor)
        })
    }

    fn natural_exp_decay(
        self,
        rate: f32,
        step: Output<'g>,
        decay_steps: f32,
        decay_rate: f32,
        staircase: bool,
    ) -> Output<'g> {
        // As in TensorFlow: a power of a rounded number.
        let base = (-f64::from(decay_rate)).exp() as f32;
        self.exponential_decay(rate, step, decay_steps, base, staircase)
    }

    fn inverse_time_decay(
        self,
        rate: f32,
        step: Output<'g>,
        decay_steps: f32,
        decay_rate: f32,
        staircase: bool,
    ) -> Output<'g> {
        self.name_scope("InverseTimeDecay", || {
            let rate = self.constant_tensor("learning_rate", Tensor::scalar(rate));
            let p = passed(step, decay_steps, staircase);
            rate / (1.0f32 + decay_rate * p)
        })
    }

    fn polynomial_decay(
        self,
        rate: f32,
        step: Output<'g>,
        decay_steps: f32,
        end: f32,
        power: f32,
        cycle: bool,
    ) -> Result<Output<'g>> {
        self.name_scope("PolynomialDecay", || {
            let rate = self.constant_tensor("learning_rate", Tensor::scalar(rate));
            let end = self.constant_tensor("end_learning_rate", Tensor::scalar(end));
            let step = step.cast::<f32>();
            let (step, whole) = match cycle {
                false => (step.minimum(decay_steps), self.constant(decay_steps)),
                true => {
                    let first = step.equal(0.0f32);
                    let times =
                        self.cond(first, || self.constant(1.0f32), || self.ceil(step / decay_steps))?;
                    (step, times * decay_steps)
                }
            };
            let left = self.pow(1.0f32 - step / whole, power);
            Ok((rate - end) * left + end)
        })
    }

    fn cosine_decay(self, rate: f32, step: Output<'g>, decay_steps: f32, alpha: f32) -> Output<'g> {
        self.name_scope("CosineDecay", || {
            let rate = self.constant_tensor("learning_rate", Tensor::scalar(rate));
            let step = self.minimum(step.cast::<f32>(), decay_steps);
            let angle = (step / decay_steps) * std::f32::consts::PI;
            let wave = 0.5f32 * (1.0f32 + angle.cos());
            // Rounded once, like TensorFlow's Python numbers.
            let rest = (1.0 - f64::from(alpha)) as f32;
            rate * (rest * wave + alpha)
        })
    }

    fn piecewise_constant(self, step: Output<'g>, boundaries: &[i64], values: &[f32]) -> Result<Output<'g>> {
        ensure!(
            values.len() == boundaries.len() + 1,
            "{} boundaries separate {} values, but there are {}",
            boundaries.len(),
            boundaries.len() + 1,
            values.len()
        );
        ensure!(boundaries.is_sorted(), "the boundaries {boundaries:?} are not in order");
        let dtype = step.dtype()?;
        self.name_scope("PiecewiseConstant", || {
            // The index of the value is the number of boundaries passed.
            let bounds = weak_cast(&Tensor::vector(boundaries)?, dtype)?;
            let passed = step.greater(bounds);
            let passed = passed.cast_to(DType::I32).reduce_sum(0);
            Ok(self.gather(self.constant(values), passed, 0))
        })
    }

    fn linear_warm_up(self, rate: impl Into<Arg<'g>>, step: Output<'g>, steps: f32) -> Output<'g> {
        self.name_scope("LinearWarmUp", || {
            let part = self.minimum(step.cast::<f32>() / steps, 1.0f32);
            self.start_as("Mul", "mul").input(rate).input(part).output()
        })
    }
}

/// Returns `step / steps`, rounded down with `staircase`.
fn passed<'g>(step: Output<'g>, steps: f32, staircase: bool) -> Output<'g> {
    let p = step.cast::<f32>() / steps;
    if staircase { p.floor() } else { p }
}
