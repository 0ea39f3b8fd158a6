//! `LSTMBlockCellGrad`: the gradients of a step of `LSTMBlockCell`.

use super::block_cells::{CellFloat, FLOATS, Gates, ICFO, Lstm, dims, floats, lstm_inputs, tensor};
use super::lstm_block_cell::PLACES;
use crate::number::no_kernel;
use millstream_graph::op::spec::{Bool, OneOf};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::budget::Charged;
use millstream_tensor::{PartialShape, Result, with_element};
use num_traits::FromPrimitive;

pub(crate) fn def() -> OpDef {
    let def = lstm_inputs(OpDef::new("LSTMBlockCellGrad").doc(
        "Computes the gradients of a step of `LSTMBlockCell` from those of its memory and output, `cs_grad` \
         and `h_grad`: by the memory before the step, by the sums of the gates (`dicfo`, from which those of \
         the weights follow), and by the peepholes.",
    ));
    let def = ["i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad"]
        .into_iter()
        .fold(def, |def, name| def.input(name, "T"));
    ["cs_prev_grad", "dicfo", "wci_grad", "wcf_grad", "wco_grad"]
        .into_iter()
        .fold(def, |def, name| def.output(name, "T"))
        .attr("use_peephole", Bool)
        .attr("T", OneOf(FLOATS))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(4.0)))
        .gradient(Gradient::Missing("TensorFlow defines none; the gradient of LSTMBlockCell has one"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (x, cs) = (cx.with_rank(0, 2)?, cx.with_rank(1, 2)?);
    let (batch, units) = (x.dim(0).or(cs.dim(0)), cs.dim(1));
    cx.set(0, PartialShape::new([batch, units]));
    cx.set(1, PartialShape::new([batch, units.map(|n| n * 4)]));
    for i in 2..5 {
        cx.set(i, PartialShape::new([units]));
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let dtype = cx.input(0).dtype();
    with_element!(dtype, T in [F16 F32 F64] => back::<T>(cx), else => Err(no_kernel("LSTMBlockCellGrad", dtype)))
}

fn back<T: CellFloat>(cx: &mut KernelCx) -> Result<()>
where
    T::Work: FromPrimitive,
{
    let [batch, inputs] = dims(cx, 0)?;
    let lstm = Lstm::<T::Work>::of::<T>(cx, &PLACES, [batch, inputs], ICFO)?;
    let n = lstm.units;
    let shape = [batch, n];
    let all = |k: usize| floats::<T>(cx, k, &shape);
    let gates = Gates::of_list([all(8)?, all(9)?, all(10)?, all(11)?, all(12)?, all(13)?, Charged::new()]);
    let grads = lstm.step_back(&gates, &all(1)?, &all(14)?, &all(15)?)?;
    cx.set(0, tensor::<T>(&shape, &grads.cs_prev)?);
    cx.set(1, tensor::<T>(&[batch, 4 * n], &grads.gates)?);
    for (k, values) in grads.peepholes.iter().enumerate() {
        cx.set(k + 2, tensor::<T>(&[n], values)?);
    }
    Ok(())
}

cases! {
    a_step: "i cs f o ci co h <- LSTMBlockCell([[1.0]], [[0.5]], [[0.25]], [[0.1 0.2 0.3 0.4] [0.5 0.6 0.7 0.8]], [0.0], [0.0], [0.0], [0.1 0.1 0.1 0.1]) | \
         LSTMBlockCellGrad([[1.0]], [[0.5]], [[0.25]], [[0.1 0.2 0.3 0.4] [0.5 0.6 0.7 0.8]], [0.0], [0.0], [0.0], [0.1 0.1 0.1 0.1], i, cs, f, o, ci, co, [[1.0]], [[1.0]]; use_peephole=false) \
         ~ [[1.197258]], [[0.1484664 0.6896105 0.1026677 0.1281092]], [0.0], [0.0], [0.0]",
    infers: "LSTMBlockCellGrad(f32[?,3], f32[2,5], f32[?,?], f32[?,?], f32[?], f32[?], f32[?], f32[20], f32[?,?], f32[?,?], f32[?,?], f32[?,?], f32[?,?], f32[?,?], f32[?,?], f32[?,?]; use_peephole=true) : f32[2,5], f32[2,20], f32[5], f32[5], f32[5]",
    weights_fit: "LSTMBlockCellGrad([[1.0]], [[0.5]], [[0.25]], [[0.1 0.2 0.3 0.4]], [0.0], [0.0], [0.0], [0.1 0.1 0.1 0.1], [[0.0]], [[0.0]], [[0.0]], [[0.0]], [[0.0]], [[0.0]], [[0.0]], [[0.0]]; use_peephole=false) ! w.dims are [1,4] but must be [2,4]",
}
