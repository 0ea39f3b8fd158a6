//! `Betainc`: the regularized incomplete beta function.

use crate::number::gamma::betainc;
use crate::number::{Field, Lane};
use crate::shared::elementwise::{Source, fresh};
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Error, PartialShape, Result, Shape, Tensor, dtypes, invalid, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("Betainc")
        .doc(
            "Computes the regularized incomplete beta function: the cumulative distribution function at `x` \
             of the beta distribution with parameters `a` and `b`. Arguments that are not scalars must have \
             the same shape. The result is NaN unless `a` and `b` are positive and finite and `x` is in \
             0..=1. A gradient flows to `x` alone, as in TensorFlow.",
        )
        .input("a", "T")
        .input("b", "T")
        .input("x", "T")
        .output("z", "T")
        .attr("T", OneOf(dtypes!(singles)))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn differ(a: &PartialShape, b: &PartialShape) -> Error {
    invalid!("`a`, `b` and `x` must have one shape where they are not scalars, but have shapes {a} and {b}")
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let mut shape = PartialShape::scalar();
    for other in cx.inputs() {
        shape = match (shape.rank(), other.rank()) {
            (_, Some(0)) => shape,
            (Some(0), _) => other.clone(),
            (Some(_), Some(_)) => {
                shape.merge(other).ok_or_else(|| differ(&shape, other).led_by(shape.difference(other)))?
            }
            // A shape of unknown rank may be a scalar's.
            (_, Some(_)) => other.clone(),
            _ => shape,
        };
    }
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let mut shape = Shape::scalar();
    for other in cx.inputs().iter().map(Tensor::shape).filter(|s| s.rank() > 0) {
        if shape.rank() > 0 && shape != *other {
            return Err(differ(&(&shape).into(), &other.into()));
        }
        shape = other.clone();
    }
    let out = with_element!(cx.input(0).dtype(), T in singles => each::<T>(cx, shape), else => Err(crate::shared::elementwise::unsupported(cx)))?;
    cx.set(0, out);
    Ok(())
}

fn each<T: Lane + Field + Into<f64>>(cx: &KernelCx, shape: Shape) -> Result<Tensor> {
    let mut out = Tensor::zeros(T::DTYPE, shape.clone())?;
    let all = |i: usize| Ok::<_, Error>((cx.input(i).as_slice::<T>()?, cx.input(i).shape()));
    let ((a, b), x) = ((all(0)?, all(1)?), all(2)?);
    let [a, b, x] = [a, b, x].map(|(data, own)| Source::new(data, own, &shape));
    let mut pace = Pace::new();
    for (i, out) in fresh::<T>(&mut out)?.iter_mut().enumerate() {
        // Up to thousands of steps an element.
        pace.spend(16)?;
        let [a, b, x] = [&a, &b, &x].map(|s| {
            let mut one = [T::default()];
            s.copy(i, &mut one);
            one[0].into()
        });
        *out = T::lit(betainc(a, b, x));
    }
    Ok(out)
}

// The derivative by x is the density of the beta distribution. As in TensorFlow, no gradient flows to `a`
// and `b`.
fn grad(cx: &mut GradCx) -> Result<()> {
    if !cx.wants(2) {
        return Ok(());
    }
    let (dz, a, b, x) = (cx.grad(0), cx.input(0), cx.input(1), cx.input(2));
    let lgamma = |v| cx.call("Lgamma", [v]);
    let beta = lgamma(a) + lgamma(b) - lgamma(a + b);
    let density =
        cx.call("Exp", [(b - 1.0) * cx.call("Log1p", [-x]) + (a - 1.0) * cx.call("Log", [x]) - beta]);
    cx.give_summed(2, dz * density);
    Ok(())
}

cases! {
    values: "Betainc(f64 [2.0 50.0 0.01], f64 [3.0 50.0 0.01], f64 [0.5 0.4 0.3]) ~ f64 [0.6875 0.02193044 0.49582361]",
    scalars_spread: "Betainc(2.0, [1.0 2.0], 0.5) ~ [0.25 0.5]",
    edges: "Betainc(2.0, 3.0, [0.0 1.0 -0.1 nan]) = [0.0 1.0 nan nan]",
    outside: "Betainc([0.0 -1.0], 2.0, 0.5) = [nan nan]",
    shapes: "Betainc(f32[], f32[?,3], f32[2,?]) : f32[2,3]",
    shapes_agree: "Betainc([1.0], [1.0 2.0], 0.5) ! must have one shape",
    refuses_integers: "Betainc(1, 2, 1) ! `T`",
}
