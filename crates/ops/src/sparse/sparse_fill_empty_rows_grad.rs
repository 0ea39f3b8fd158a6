//! `SparseFillEmptyRowsGrad`: the gradient of `SparseFillEmptyRows`.

use crate::number::{Lane, Num};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I64;
use millstream_tensor::{Result, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("SparseFillEmptyRowsGrad")
        .doc(
            "Computes the gradients of the values and of the default value of SparseFillEmptyRows: those at \
             the positions in `reverse_index_map`, and the sum of all others.",
        )
        .input("reverse_index_map", I64)
        .input("grad_values", "T")
        .output("d_values", "T")
        .output("d_default_value", "T")
        .attr("T", AnyType)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let n = cx.vector(0)?;
    cx.vector(1)?;
    cx.set(0, [n]);
    cx.set(1, millstream_tensor::PartialShape::scalar());
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    for i in [0, 1] {
        ensure!(
            cx.input(i).rank() == 1,
            "`{}` must be a vector but has shape {}",
            cx.name_of(i),
            cx.input(i).shape()
        );
    }
    let grad = cx.input(1);
    let given = cx.ints(0)?;
    let places = given.iter().map(|&at| match usize::try_from(at) {
        Ok(at) if at < grad.elements() => Ok(at),
        _ => Err(invalid!("`reverse_index_map` has {at}, but `grad_values` has {} entries", grad.elements())),
    });
    let places = places.collect::<Result<Vec<usize>>>()?;
    let values = grad.take([places.len()], &places)?;
    let rest = with_element!(grad.dtype(), T in numbers => sum_of_others::<T>(grad, &places),
        else => Err(crate::shared::elementwise::unsupported(cx)))?;
    cx.set(0, values);
    cx.set(1, rest);
    Ok(())
}

fn sum_of_others<T: Lane + Num>(grad: &Tensor, places: &[usize]) -> Result<Tensor> {
    let mut visited = vec![false; grad.elements()];
    places.iter().for_each(|at| visited[*at] = true);
    let others = grad.as_slice::<T>()?.iter().zip(&visited).filter(|(_, visited)| !**visited);
    Ok(Tensor::scalar(others.fold(T::int(0), |sum, (v, _)| sum.add(*v))))
}

// The gradients of the values return to their positions; that of the default value goes to all others.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dvalues, ddefault, places) = (cx.grad(0), cx.grad(1), cx.input(0));
    let shape = cx.shape_of_input(1);
    let all = cx.op("Fill").inputs([shape, ddefault]).output();
    let rows = cx.op("ExpandDims").input(places).input(-1).output();
    cx.give(1, cx.call("TensorScatterUpdate", [all, rows, dvalues]));
    Ok(())
}

cases! {
    sorts_apart: "SparseFillEmptyRowsGrad(i64 [2 0], [1.0 2.0 3.0 4.0]) = [3.0 1.0], 6.0",
    infers: "SparseFillEmptyRowsGrad(i64[3], f32[?]) : f32[3], f32[]",
    inside: "SparseFillEmptyRowsGrad(i64[1] [4], [1.0 2.0]) ! `reverse_index_map` has 4, but `grad_values` has 2 entries",
}
