//! `RandomPoissonV2` and its predecessor `RandomPoisson`: Poisson-distributed counts, from the node's stream.

use super::per_output::{Draws, infer, run};
use crate::number::no_kernel;
use crate::shared::philox::Stream;
use millstream_graph::op::spec::{IndexType, Int, OneOf, Spec};
use millstream_graph::op::{BuildCx, Effect, Gradient, Kernel, KernelCx, OpDef, Run};
use millstream_tensor::DType::{F16, F32, F64, I32, I64};
use millstream_tensor::{DType, Element, Result, f16, with_element};
use num_traits::ToPrimitive;

pub(crate) fn def() -> [OpDef; 2] {
    let plain = |name, rate, doc| {
        OpDef::new(name)
            .doc(doc)
            .input("shape", "S")
            .on_host()
            .input("rate", rate)
            .output("output", "dtype")
            .attr("seed", Int.or(0))
            .attr("seed2", Int.or(0))
            .attr("S", IndexType)
            .infer(infer)
            .kernel(Kernel::build(Effect::Stateful, build))
            .gradient(Gradient::Missing("TensorFlow has none either: counts move by steps"))
    };
    [
        plain(
            "RandomPoissonV2",
            "R",
            "Draws counts from Poisson distributions: samples of shape `shape` for each rate in `rate`. \
             Each run continues the random stream of the node, which starts from `seed` and `seed2`, or \
             from random seeds if both are 0.",
        )
        .attr("R", OneOf(&[F16, F32, F64, I32, I64]).or(F64))
        .attr("dtype", OneOf(&[F16, F32, F64, I32, I64]).or(I64)),
        plain("RandomPoisson", "dtype", "Draws counts as RandomPoissonV2 does, in the dtype of the rates.")
            .attr("dtype", OneOf(&[F16, F32, F64])),
    ]
}

fn build(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let stream = Stream::of(cx)?;
    let dtype = cx.node.attrs.dtype("dtype")?;
    Ok(Box::new(
        move |cx: &mut KernelCx| with_element!(cx.input(1).dtype(), R in [F16 F32 F64 I32 I64] => counts::<R>(cx, &stream, dtype), else => Err(no_kernel(cx.node.op.name, cx.input(1).dtype()))),
    ))
}

fn counts<R: Element + ToPrimitive>(cx: &mut KernelCx, stream: &Stream, dtype: DType) -> Result<()> {
    macro_rules! of {
        ($t:ty, $highest:expr, $from:expr) => {
            run(cx, stream, |rate: R| {
                let law = Poisson::new(rate.to_f64().unwrap_or(f64::NAN), $highest);
                move |draws: &mut Draws| -> $t { $from(law.sample(draws)) }
            })
        };
    }
    match dtype {
        F16 => of!(f16, f64::from(f16::MAX), f16::from_f64),
        F32 => of!(f32, f64::from(f32::MAX), |v| v as f32),
        F64 => of!(f64, f64::MAX, |v| v),
        I32 => of!(i32, f64::from(i32::MAX), |v| v as i32),
        I64 => of!(i64, i64::MAX as f64, |v| v as i64),
        other => Err(no_kernel(cx.node.op.name, other)),
    }
}

/// The constants of one rate. Samples of small rates are products of uniform variables (Knuth). Others use
/// transformed rejection (Hoermann, "The transformed rejection method for generating Poisson random
/// variables", 1993).
struct Poisson {
    rate: f64,
    /// The largest count that the dtype can hold.
    highest: f64,
    exp_neg_rate: f64,
    ln_rate: f64,
    a: f64,
    b: f64,
    inv_alpha: f64,
}

impl Poisson {
    fn new(rate: f64, highest: f64) -> Poisson {
        let b = 0.931 + 2.53 * rate.sqrt();
        Poisson {
            rate,
            highest,
            exp_neg_rate: (-rate).exp(),
            ln_rate: rate.ln(),
            a: -0.059 + 0.02483 * b,
            b,
            inv_alpha: 1.1239 + 1.1328 / (b - 3.4),
        }
    }

    fn sample(&self, draws: &mut Draws) -> f64 {
        match self.rate {
            // As in TensorFlow, nothing happens at a negative rate, and counts at an infinite one are NaN.
            r if r < 0.0 => 0.0,
            // With such rates, every count would be rejected.
            r if r.is_nan() || r.is_infinite() => f64::NAN,
            r if r > self.highest => f64::INFINITY,
            r if r < 10.0 => self.by_products(draws),
            _ => self.by_rejection(draws),
        }
    }

    fn by_products(&self, draws: &mut Draws) -> f64 {
        let (mut product, mut count) = (1.0, 0.0);
        loop {
            product *= draws.uniform();
            if product <= self.exp_neg_rate {
                return count;
            }
            count += 1.0;
        }
    }

    fn by_rejection(&self, draws: &mut Draws) -> f64 {
        let Poisson { rate, a, b, .. } = *self;
        loop {
            let u = draws.uniform() - 0.5;
            let v = draws.uniform();
            let edge = 0.5 - u.abs();
            let count = ((2.0 * a / edge + b) * u + rate + 0.43).floor();
            if count > self.highest {
                continue;
            }
            // This rectangle lies under the curve, so the count is accepted without a logarithm.
            if edge >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2.0) {
                return count;
            }
            if count < 0.0 || (edge < 0.013 && v > edge) {
                continue;
            }
            let s = (v * self.inv_alpha / (a / (edge * edge) + b)).ln();
            if s <= -rate + count * self.ln_rate - libm::lgamma(count + 1.0) {
                return count;
            }
        }
    }
}

cases! {
    takes_both_shapes: "RandomPoissonV2([2], f32[3,?]) : i64[2,3,?]",
    nothing_happens_at_rate_zero: "RandomPoissonV2([2], [0.0]; seed=1, dtype=i32) = i32[2,1] [[0] [0]]",
    nothing_happens_at_a_negative_rate: "RandomPoissonV2([1], [-1.0 inf]; seed=1, dtype=f32) = f32[1,2] [[0.0 nan]]",
    shape_is_a_vector: "RandomPoisson(2, [1.0 2.0]; seed=1) ! `shape` must have rank 1",
}
