//! `ApproximateEqual`: elementwise comparison with a tolerance.

use crate::number::Real;
use crate::shared::casting::To;
use crate::shared::elementwise::{Pair, unsupported};
use millstream_graph::op::spec::{Float, OneOf, Spec};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::Bool;
use millstream_tensor::{Result, Tensor, dtypes, ensure, with_element};

formula!(x, y: Real => x.sub(y).abs());

pub(crate) fn def() -> OpDef {
    OpDef::new("ApproximateEqual")
        .doc("Returns whether `|x - y| < tolerance`, elementwise. The shapes must be equal.")
        .input("x", "T")
        .input("y", "T")
        .output("z", Bool)
        .attr("T", OneOf(dtypes!(reals)))
        .attr("tolerance", Float.or(1e-5f32))
        .infer(|cx| {
            let shape = cx.merge(0, 1)?;
            cx.set(0, shape);
            Ok(())
        })
        .kernel(Kernel::pure(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let tolerance = cx.attrs().float("tolerance")?;
    let shape = cx.input(0).shape().clone();
    ensure!(
        shape == *cx.input(1).shape(),
        "ApproximateEqual: `x` has shape {shape} and `y` has shape {}; they must be equal",
        cx.input(1).shape()
    );
    let z = with_element!(cx.input(0).dtype(), T in reals => {
        let (x, y) = (cx.take(0), cx.take(1));
        let (apart, _) = const { &Pair::<T>::of::<Formula>() }.map(x, y, &shape)?;
        let limit: T = tolerance.to();
        Tensor::from_iter(shape, apart.as_slice::<T>()?.iter().map(|d| d.less(limit)))?
    }, else => return Err(unsupported(cx)));
    cx.set(0, z);
    Ok(())
}

cases! {
    nearly: "ApproximateEqual([1.0 1.0 nan], [1.000001 1.1 nan]) = [true false false]",
    as_told: "ApproximateEqual([1.0], [1.05]; tolerance=0.1) = [true]",
    keeps_the_shape: "ApproximateEqual(f32[?,3], f32[2,?]) : bool[2,3]",
    wants_equal_shapes: "ApproximateEqual([1.0], [1.0 2.0]) ! must be equal",
}
