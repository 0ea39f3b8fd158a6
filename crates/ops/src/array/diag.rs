//! `Diag` and `DiagPart`: a diagonal tensor of twice the rank, and its diagonal.

use crate::shared::axes::product;
use millstream_graph::op::spec::Number;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{PartialShape, Result, Shape, Tensor, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("Diag")
            .doc(
                "Returns a tensor of twice the rank with `diagonal` on its diagonal and zeros elsewhere: \
                 `output[i.., i..] = diagonal[i..]`.",
            )
            .input("diagonal", "T")
            .output("output", "T")
            .infer(infer_diag)
            .kernel(Kernel::pure(run_diag))
            .gradient(Gradient::of(|cx| grad(cx, "DiagPart"))),
        OpDef::new("DiagPart")
            .doc(
                "Returns the diagonal of a tensor whose shape consists of two equal halves: \
                 `diagonal[i..] = input[i.., i..]`.",
            )
            .input("input", "T")
            .output("diagonal", "T")
            .infer(infer_part)
            .kernel(Kernel::pure(run_part))
            .gradient(Gradient::of(|cx| grad(cx, "Diag"))),
    ]
    .map(|def| def.attr("T", Number))
}

fn infer_diag(cx: &mut InferCx) -> Result<()> {
    let Some(dims) = cx.input(0).dims() else { return Ok(()) };
    ensure!(!dims.is_empty(), "{}", cx.input(0).below_rank(1); "`diagonal` must have at least rank 1");
    cx.set(0, crate::shared::axes::joined(&[dims, dims]));
    Ok(())
}

fn run_diag(cx: &mut KernelCx) -> Result<()> {
    let diagonal = cx.input(0);
    let n = diagonal.elements();
    ensure!(diagonal.rank() > 0, "`diagonal` must have at least rank 1");
    let dims = diagonal.shape();
    let mut out = Tensor::zeros(diagonal.dtype(), Shape::new(dims.iter().chain(dims.iter()).copied()))?;
    out.assign_strided(0, &[n as isize + 1], [n], diagonal)?;
    cx.set(0, out);
    Ok(())
}

fn infer_part(cx: &mut InferCx) -> Result<()> {
    let input = cx.input(0);
    let Some(dims) = input.dims() else { return Ok(()) };
    ensure!(
        dims.len().is_multiple_of(2) && !dims.is_empty(),
        "Input must have even and non-zero rank, input rank is {}", dims.len();
        "`input` has shape {input}, which is not a shape repeated twice"
    );
    let (front, back) = dims.split_at(dims.len() / 2);
    let (front, back) = (PartialShape::new(front.iter().copied()), PartialShape::new(back.iter().copied()));
    let half = front.merge(&back);
    ensure!(half.is_some(), "{}", front.unlike_dims(&back); "`input` has shape {input}, which is not a shape repeated twice");
    cx.set(0, half.unwrap_or_default());
    Ok(())
}

fn run_part(cx: &mut KernelCx) -> Result<()> {
    let input = cx.input(0);
    let (front, back) = input.shape().split_at(input.rank() / 2);
    ensure!(
        front == back && !front.is_empty(),
        "`input` has shape {}, which is not a shape repeated twice",
        input.shape()
    );
    let n = product(front);
    let out = input.strided([n], 0, &[n as isize + 1])?.into_shape(Shape::from(front))?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx, back: &'static str) -> Result<()> {
    let dy = cx.grad(0);
    cx.give(0, cx.call(back, [dy]));
    Ok(())
}

cases! {
    of_a_vector: "Diag([1 2]) = [[1 0] [0 2]]",
    of_a_matrix: "Diag([[1.5 2.5]]) = [[[[1.5 0.0]] [[0.0 2.5]]]]",
    of_nothing: "Diag(f32[0] []) = f32[0,0] []",
    infers: "Diag(f32[?,3]) : f32[?,3,?,3]",
    not_of_a_scalar: "Diag(1) ! at least rank 1",
    part: "DiagPart([[1 2] [3 4]]) = [1 4]",
    part_of_rank_4: "DiagPart([[[[1 2]] [[3 4]]]]) = [[1 4]]",
    part_infers: "DiagPart(f32[?,3,2,?]) : f32[2,3]",
    part_not_square: "DiagPart([[1 2]]) ! which is not a shape repeated twice",
    part_of_odd_rank: "DiagPart([1 2]) ! which is not a shape repeated twice",
}
