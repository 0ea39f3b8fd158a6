//! `GRUBlockCell`: one step of a gated recurrent unit.

use super::block_cells::{
    CellFloat, FLOATS, add_rows, beside, columns, dims, floats, product, sigmoid, tensor,
};
use crate::number::{Number, no_kernel};
use millstream_graph::Output;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::budget::Charged;
use millstream_tensor::{PartialShape, Result, with_element};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("GRUBlockCell").doc(
        "Computes one step of a gated recurrent unit (Cho and others, 2014): the gates \
         `[r u] = sigmoid([x h_prev] w_ru + b_ru)`, the candidate `c = tanh([x r * h_prev] w_c + b_c)`, and the \
         output `h = u * h_prev + (1 - u) * c`.",
    );
    let def =
        ["x", "h_prev", "w_ru", "w_c", "b_ru", "b_c"].into_iter().fold(def, |def, name| def.input(name, "T"));
    ["r", "u", "c", "h"]
        .into_iter()
        .fold(def, |def, name| def.output(name, "T"))
        .attr("T", OneOf(FLOATS))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(4.0)))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (x, h) = (cx.with_rank(0, 2)?, cx.with_rank(1, 2)?);
    let shape = PartialShape::new([x.dim(0).or(h.dim(0)), h.dim(1)]);
    for i in 0..4 {
        cx.set(i, shape.clone());
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let dtype = cx.input(0).dtype();
    with_element!(dtype, T in [F16 F32 F64] => step::<T>(cx), else => Err(no_kernel("GRUBlockCell", dtype)))
}

fn step<T: CellFloat>(cx: &mut KernelCx) -> Result<()> {
    let ([batch, inputs], [_, n]) = (dims(cx, 0)?, dims(cx, 1)?);
    let rows = inputs + n;
    let x = floats::<T>(cx, 0, &[batch, inputs])?;
    let h_prev = floats::<T>(cx, 1, &[batch, n])?;
    let (w_ru, w_c) = (floats::<T>(cx, 2, &[rows, 2 * n])?, floats::<T>(cx, 3, &[rows, n])?);
    let (b_ru, b_c) = (floats::<T>(cx, 4, &[2 * n])?, floats::<T>(cx, 5, &[n])?);
    let host = &*cx.env.host;
    let xh = beside(&x, inputs, &h_prev, n)?;
    let mut gates = product(host, (&xh, batch, rows, false), (&w_ru, rows, 2 * n, false))?;
    add_rows(&mut gates, &b_ru);
    gates.iter_mut().for_each(|g| *g = sigmoid(*g));
    let (r, u) = (columns(&gates, 2 * n, 0, n)?, columns(&gates, 2 * n, n, n)?);
    let reset = Charged::of(r.iter().zip(&*h_prev).map(|(r, h)| *r * *h))?;
    let xr = beside(&x, inputs, &reset, n)?;
    let mut c = product(host, (&xr, batch, rows, false), (&w_c, rows, n, false))?;
    add_rows(&mut c, &b_c);
    c.iter_mut().for_each(|c| *c = num_traits::Float::tanh(*c));
    let h = u.iter().zip(&*h_prev).zip(&*c).map(|((u, h), c)| *u * *h + (T::Work::ONE - *u) * *c);
    let h = Charged::of(h)?;
    for (i, values) in [r, u, c, h].iter().enumerate() {
        cx.set(i, tensor::<T>(&[batch, n], values)?);
    }
    Ok(())
}

// h = u h_prev + (1 - u) c, and back from there; gradients that flow into r, u and c themselves are added.
fn grad<'g>(cx: &mut GradCx<'g, '_>) -> Result<()> {
    let (x, before) = (cx.input(0), cx.input(1));
    let (w_ru, w_c) = (cx.input(2), cx.input(3));
    let (r, u, c) = (cx.output(0), cx.output(1), cx.output(2));
    let dh = cx.grad(3);
    let dc = own(cx, 2, dh * (1 - u)) * (1 - c * c);
    let du = own(cx, 1, dh * (before - c)) * u * (1 - u);
    let (of_x, of_h) = (cx.shape_of_input(0), cx.shape_of_input(1));
    let width =
        cx.op("StridedSlice").input(of_x).inputs([cx.ints(&[1]), cx.ints(&[2]), cx.ints(&[1])]).output();
    let start = cx.op("ConcatV2").inputs([cx.ints(&[0]), width]).input(0).attr("N", 2).output();
    let parts = |cx: &mut GradCx<'g, '_>, sums: Output<'g>, w: Output<'g>| {
        let both = cx.op("MatMul").inputs([sums, w]).attr("transpose_b", true).output();
        let of_x = cx.op("Slice").inputs([both, cx.ints(&[0, 0]), of_x]).output();
        (of_x, cx.op("Slice").inputs([both, start, of_h]).output())
    };
    let (x_of_c, h_of_c) = parts(cx, dc, w_c);
    let dr = own(cx, 0, h_of_c * before) * r * (1 - r);
    let gates = cx.op("ConcatV2").inputs([dr, du]).input(1).attr("N", 2).output();
    let (x_of_gates, h_of_gates) = parts(cx, gates, w_ru);
    cx.give(0, x_of_gates + x_of_c);
    cx.give(1, dh * u + h_of_gates + h_of_c * r);
    let weights = |cx: &mut GradCx<'g, '_>, h: Output<'g>, sums: Output<'g>| {
        let xh = cx.op("ConcatV2").inputs([x, h]).input(1).attr("N", 2).output();
        cx.op("MatMul").inputs([xh, sums]).attr("transpose_a", true).output()
    };
    if cx.wants(2) {
        let d = weights(cx, before, gates);
        cx.give(2, d);
    }
    if cx.wants(3) {
        let d = weights(cx, before * r, dc);
        cx.give(3, d);
    }
    for (k, sums) in [(4, gates), (5, dc)] {
        if cx.wants(k) {
            let d = cx.op("BiasAddGrad").input(sums).output();
            cx.give(k, d);
        }
    }
    Ok(())
}

/// Returns `x` and the gradient that flows into output `k`, if one does.
pub(super) fn own<'g>(cx: &mut GradCx<'g, '_>, k: usize, x: Output<'g>) -> Output<'g> {
    if cx.has_grad(k) { cx.grad(k) + x } else { x }
}

cases! {
    a_step: "GRUBlockCell([[1.0]], [[0.5]], [[0.1 0.2] [0.3 0.4]], [[0.5] [0.6]], [0.1 0.2], [0.3]) ~ [[0.5866176]], [[0.6456563]], [[0.7513227]], [[0.5890546]]",
    infers: "GRUBlockCell(f32[?,3], f32[2,5], f32[?,?], f32[?,?], f32[?], f32[?]) : f32[2,5], f32[2,5], f32[2,5], f32[2,5]",
    weights_fit: "GRUBlockCell([[1.0]], [[0.5]], [[0.1 0.2]], [[0.5] [0.6]], [0.1 0.2], [0.3]) ! w_ru.dims are [1,2] but must be [2,2]",
}
