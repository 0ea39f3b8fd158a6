//! `Cross`: the cross product.

use crate::number::{Lane, Num};
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::RealNumber;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{Code, Error, Result, Tensor, ensure, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("Cross")
        .doc("Computes the cross products of the 3-element vectors in the last axes of `a` and `b`.")
        .input("a", "T")
        .input("b", "T")
        .output("product", "T")
        .attr("T", RealNumber)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    for i in [0, 1] {
        ensure!(
            cx.input(i).rank() != Some(0),
            "{}", cx.input(i).below_rank(1);
            "`{}` must have rank 1 or more but is a scalar", cx.name_of(i)
        );
    }
    let shape = cx.merge(0, 1)?;
    if let Some(&[.., Some(n)]) = shape.dims() {
        ensure!(n == 3, "Dimension must be 3 but is {n}"; "the last axes of `a` and `b` must have size 3, but their shape is {shape}");
    }
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (a, b) = (cx.input(0), cx.input(1));
    ensure!(a.shape() == b.shape(), "`a` has shape {} but `b` has {}", a.shape(), b.shape());
    if a.shape().last() != Some(&3) {
        // TensorFlow's error code for this.
        let message =
            format!("the last axes of `a` and `b` must have size 3, but their shape is {}", a.shape());
        return Err(Error::new(Code::FailedPrecondition, message));
    }
    let out = with_element!(a.dtype(), T in reals => cross::<T>(a, b), else => Err(crate::shared::elementwise::unsupported(cx)))?;
    cx.set(0, out);
    Ok(())
}

fn cross<T: Lane + Num>(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let mut out = Tensor::zeros(T::DTYPE, a.shape().clone())?;
    let vectors = a.as_slice::<T>()?.chunks_exact(3).zip(b.as_slice::<T>()?.chunks_exact(3));
    for (out, (a, b)) in fresh::<T>(&mut out)?.chunks_exact_mut(3).zip(vectors) {
        for (i, out) in out.iter_mut().enumerate() {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            *out = a[j].mul(b[k]).sub(a[k].mul(b[j]));
        }
    }
    Ok(out)
}

// d(a × b) = da × b + a × db
fn grad(cx: &mut GradCx) -> Result<()> {
    let dz = cx.grad(0);
    if cx.wants(0) {
        let b = cx.input(1);
        cx.give(0, cx.call("Cross", [b, dz]));
    }
    if cx.wants(1) {
        let a = cx.input(0);
        cx.give(1, cx.call("Cross", [dz, a]));
    }
    Ok(())
}

cases! {
    of_axes: "Cross([1.0 0.0 0.0], [0.0 1.0 0.0]) = [0.0 0.0 1.0]",
    of_each: "Cross([[1 2 3] [4 5 6]], [[4 5 6] [1 2 3]]) = [[-3 6 -3] [3 -6 3]]",
    infers: "Cross(f32[?,3], f32[2,?]) : f32[2,3]",
    takes_three: "Cross([1 2], [3 4]) ! must have size 3",
    shapes_agree: "Cross([1 2 3], [[1 2 3]]) ! `b`",
}
