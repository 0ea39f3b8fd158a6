//! `GRUBlockCellGrad`: the gradients of a step of `GRUBlockCell`.

use super::block_cells::{CellFloat, FLOATS, beside, columns, dims, floats, product, tensor};
use crate::number::{Number, no_kernel};
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::budget::Charged;
use millstream_tensor::{PartialShape, Result, with_element};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("GRUBlockCellGrad").doc(
        "Computes the gradients of a step of `GRUBlockCell` from that of its output, `d_h`: by the input, by \
         the output of the step before, and by the sums of the candidate and of the gates, from which those of \
         the weights follow.",
    );
    let def = ["x", "h_prev", "w_ru", "w_c", "b_ru", "b_c", "r", "u", "c", "d_h"]
        .into_iter()
        .fold(def, |def, name| def.input(name, "T"));
    ["d_x", "d_h_prev", "d_c_bar", "d_r_bar_u_bar"]
        .into_iter()
        .fold(def, |def, name| def.output(name, "T"))
        .attr("T", OneOf(FLOATS))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(4.0)))
        .gradient(Gradient::Missing("TensorFlow defines none; the gradient of GRUBlockCell has one"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (x, h) = (cx.with_rank(0, 2)?, cx.with_rank(1, 2)?);
    let (batch, n) = (x.dim(0).or(h.dim(0)), h.dim(1));
    cx.set(0, PartialShape::new([batch, x.dim(1)]));
    cx.set(1, PartialShape::new([batch, n]));
    cx.set(2, PartialShape::new([batch, n]));
    cx.set(3, PartialShape::new([batch, n.map(|n| 2 * n)]));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let dtype = cx.input(0).dtype();
    with_element!(dtype, T in [F16 F32 F64] => back::<T>(cx), else => Err(no_kernel("GRUBlockCellGrad", dtype)))
}

fn back<T: CellFloat>(cx: &mut KernelCx) -> Result<()> {
    let ([batch, inputs], [_, n]) = (dims(cx, 0)?, dims(cx, 1)?);
    let rows = inputs + n;
    let h_prev = floats::<T>(cx, 1, &[batch, n])?;
    let (w_ru, w_c) = (floats::<T>(cx, 2, &[rows, 2 * n])?, floats::<T>(cx, 3, &[rows, n])?);
    let of = |k: usize| floats::<T>(cx, k, &[batch, n]);
    let (r, u, c, dh) = (of(6)?, of(7)?, of(8)?, of(9)?);
    let one = T::Work::ONE;
    let each = |f: &dyn Fn(usize) -> T::Work| Charged::of((0..batch * n).map(f));
    let dc = each(&|k| dh[k] * (one - u[k]) * (one - c[k] * c[k]))?;
    let du = each(&|k| dh[k] * (h_prev[k] - c[k]) * u[k] * (one - u[k]))?;
    let host = &*cx.env.host;
    let of_c = product(host, (&dc, batch, n, false), (&w_c, rows, n, true))?;
    let (x_of_c, h_of_c) = (columns(&of_c, rows, 0, inputs)?, columns(&of_c, rows, inputs, n)?);
    let dr = each(&|k| h_of_c[k] * h_prev[k] * r[k] * (one - r[k]))?;
    let gates = beside(&dr, n, &du, n)?;
    let of_gates = product(host, (&gates, batch, 2 * n, false), (&w_ru, rows, 2 * n, true))?;
    let x_of_gates = columns(&of_gates, rows, 0, inputs)?;
    let h_of_gates = columns(&of_gates, rows, inputs, n)?;
    let dx = Charged::of(x_of_gates.iter().zip(&*x_of_c).map(|(a, b)| *a + *b))?;
    let dh_prev = each(&|k| dh[k] * u[k] + h_of_gates[k] + h_of_c[k] * r[k])?;
    let out = [
        tensor::<T>(&[batch, inputs], &dx)?,
        tensor::<T>(&[batch, n], &dh_prev)?,
        tensor::<T>(&[batch, n], &dc)?,
        tensor::<T>(&[batch, 2 * n], &gates)?,
    ];
    out.into_iter().enumerate().for_each(|(i, out)| cx.set(i, out));
    Ok(())
}

cases! {
    a_step: "r u c h <- GRUBlockCell([[1.0]], [[0.5]], [[0.1 0.2] [0.3 0.4]], [[0.5] [0.6]], [0.1 0.2], [0.3]) | \
         GRUBlockCellGrad([[1.0]], [[0.5]], [[0.1 0.2] [0.3 0.4]], [[0.5] [0.6]], [0.1 0.2], [0.3], r, u, c, [[1.0]]) ~ [[0.0667838]], [[0.6803415]], [[0.1543217]], [[0.01122678 -0.05749867]]",
    infers: "GRUBlockCellGrad(f32[?,3], f32[2,5], f32[?,?], f32[?,?], f32[?], f32[?], f32[?,?], f32[?,?], f32[?,?], f32[?,?]) : f32[2,3], f32[2,5], f32[2,5], f32[2,10]",
    weights_fit: "GRUBlockCellGrad([[1.0]], [[0.5]], [[0.1 0.2]], [[0.5] [0.6]], [0.1 0.2], [0.3], [[0.0]], [[0.0]], [[0.0]], [[0.0]]) ! w_ru.dims are [1,2] but must be [2,2]",
}
