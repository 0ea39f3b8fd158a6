//! `RandomGamma`: gamma-distributed floats, from the node's stream.

use super::per_output::{Draws, infer, run};
use crate::number::no_kernel;
use crate::shared::gradient::at_least_single;
use crate::shared::philox::Stream;
use millstream_graph::op::spec::{IndexType, Int, OneOf, Spec};
use millstream_graph::op::{BuildCx, Effect, GradCx, Gradient, Kernel, KernelCx, OpDef, Run};
use millstream_tensor::DType::{F16, F32, F64};
use millstream_tensor::{Result, with_element};
use num_traits::{NumCast, ToPrimitive};

pub(crate) fn def() -> OpDef {
    OpDef::new("RandomGamma")
        .doc(
            "Draws floats from gamma distributions of rate 1: samples of shape `shape` for each shape \
             parameter in `alpha`. Each run continues the random stream of the node, which starts from \
             `seed` and `seed2`, or from random seeds if both are 0.",
        )
        .input("shape", "S")
        .on_host()
        .input("alpha", "T")
        .output("output", "T")
        .attr("seed", Int.or(0))
        .attr("seed2", Int.or(0))
        .attr("S", IndexType)
        .attr("T", OneOf(&[F16, F32, F64]))
        .infer(infer)
        .kernel(Kernel::build(Effect::Stateful, build))
        .gradient(Gradient::of(grad))
}

fn build(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let stream = Stream::of(cx)?;
    Ok(Box::new(move |cx: &mut KernelCx| {
        with_element!(cx.input(1).dtype(), T in [F16 F32 F64] => run(cx, &stream, |alpha: T| {
            let law = Gamma::new(ToPrimitive::to_f64(&alpha).unwrap_or(f64::NAN));
            move |draws: &mut Draws| <T as NumCast>::from(law.sample(draws)).unwrap_or_default()
        }), else => Err(no_kernel(cx.node.op.name, cx.input(1).dtype())))
    }))
}

/// The constants of Marsaglia and Tsang's method ("A simple method for generating gamma variables", 2000).
struct Gamma {
    alpha: f64,
    d: f64,
    c: f64,
}

impl Gamma {
    fn new(alpha: f64) -> Gamma {
        // For alpha below one, alpha + 1 is used, and the sample is scaled down by a power of a uniform
        // variable.
        let d = alpha + if alpha < 1.0 { 2.0 / 3.0 } else { -1.0 / 3.0 };
        Gamma { alpha, d, c: 1.0 / 3.0 / d.sqrt() }
    }

    fn sample(&self, draws: &mut Draws) -> f64 {
        if self.alpha == 1.0 {
            return -(-draws.uniform()).ln_1p();
        }
        // With such parameters, every sample would be rejected.
        if !(self.d > 0.0 && self.d.is_finite()) {
            return f64::NAN;
        }
        loop {
            let x = draws.normal();
            let v = 1.0 + self.c * x;
            if v <= 0.0 {
                continue;
            }
            let v = v * v * v;
            let u = draws.uniform();
            // The polynomial test accepts nine samples in ten without a logarithm.
            if u < 1.0 - 0.0331 * (x * x) * (x * x) || u.ln() < 0.5 * x * x + self.d * (1.0 - v + v.ln()) {
                let scale = if self.alpha < 1.0 { draws.uniform().powf(1.0 / self.alpha) } else { 1.0 };
                return self.d * v * scale;
            }
        }
    }
}

// The gradient moves a sample so that its quantile stays the same as `alpha` changes.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, alpha, samples) = (cx.grad(0), cx.input(1), cx.output(0));
    let moves = at_least_single(cx, "RandomGammaGrad", [alpha, samples]);
    cx.give_unstretched(1, dy * moves);
    Ok(())
}

cases! {
    takes_both_shapes: "RandomGamma([2], f32[3,?]) : f32[2,3,?]",
    none_of_many: "RandomGamma([0], [1.0 2.0]; seed=1) = f32[0,2] []",
    shape_is_a_vector: "RandomGamma(2, [1.0 2.0]; seed=1) ! `shape` must have rank 1",
}
