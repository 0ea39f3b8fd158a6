//! `LSTMBlockCell`: one step of a long short-term memory.

use super::block_cells::{
    CellFloat, ICFO, Lstm, Places, dims, floats, infer_lstm, lstm_attrs, lstm_inputs, lstm_outputs, tensor,
};
use super::gru_block_cell::own;
use crate::number::no_kernel;
use millstream_graph::Output;
use millstream_graph::op::spec::{Float, Spec};
use millstream_graph::op::{Cost, GradCx, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::{Result, with_element};
use num_traits::FromPrimitive;

pub(super) const PLACES: Places = Places { x: 0, is_sequence: false };

pub(crate) fn def() -> OpDef {
    let def = lstm_outputs(lstm_inputs(OpDef::new("LSTMBlockCell").doc(
        "Computes one step of a long short-term memory (Hochreiter and Schmidhuber, 1997). `[x h_prev] w + b` \
         are the sums of the input gate, the new memory, the forget gate and the output gate, of as many \
         columns as there are units; `forget_bias` is added to those of the forget gate. With `use_peephole` \
         the gates see the memory, weighted by `wci`, `wcf` and `wco`. The memory `cs = ci * i + cs_prev * f` \
         is clipped to between `-cell_clip` and `cell_clip` if that is positive; `co = tanh(cs)`, and the \
         output is `h = co * o`.",
    )));
    lstm_attrs(def.attr("forget_bias", Float.or(1.0f32)), 3.0)
        .infer(|cx| infer_lstm(cx, &PLACES))
        .kernel(Kernel::pure(run).cost(Cost::PerElement(4.0)))
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let dtype = cx.input(0).dtype();
    with_element!(dtype, T in [F16 F32 F64] => step::<T>(cx), else => Err(no_kernel("LSTMBlockCell", dtype)))
}

fn step<T: CellFloat>(cx: &mut KernelCx) -> Result<()>
where
    T::Work: FromPrimitive,
{
    let [batch, inputs] = dims(cx, 0)?;
    let lstm = Lstm::<T::Work>::of::<T>(cx, &PLACES, [batch, inputs], ICFO)?;
    let shape = [batch, lstm.units];
    let x = floats::<T>(cx, 0, &[batch, inputs])?;
    let (cs_prev, h_prev) = (floats::<T>(cx, 1, &shape)?, floats::<T>(cx, 2, &shape)?);
    let gates = lstm.step(&*cx.env.host, &x, &cs_prev, &h_prev)?;
    for (i, values) in gates.into_list().iter().enumerate() {
        cx.set(i, tensor::<T>(&shape, values)?);
    }
    Ok(())
}

// With p = [pi pc pf po] the sums, whose gradient is found from the gates' own values:
// po = o (1 - o) (do + co dh), dcs + (1 - co²) (dco + o dh) + wco po is the memory's, and so on back.
fn grad<'g>(cx: &mut GradCx<'g, '_>) -> Result<()> {
    let peepholes = cx.attrs().bool("use_peephole")?;
    let [i, cs, f, o, ci, co] = [0, 1, 2, 3, 4, 5].map(|k| cx.output(k));
    let before = cx.input(1);
    let (mut d_o, mut dcs): (Option<Output<'g>>, Option<Output<'g>>) = (None, None);
    let add = |sum: &mut Option<Output<'g>>, x: Output<'g>| *sum = Some(sum.map_or(x, |sum| sum + x));
    if cx.has_grad(6) {
        let dh = cx.grad(6);
        add(&mut d_o, dh * co);
        add(&mut dcs, dh * o * (1 - co * co));
    }
    if cx.has_grad(3) {
        let g = cx.grad(3);
        add(&mut d_o, g);
    }
    if cx.has_grad(5) {
        let g = cx.grad(5);
        add(&mut dcs, g * (1 - co * co));
    }
    if cx.has_grad(1) {
        let g = cx.grad(1);
        add(&mut dcs, g);
    }
    let zeros = cx.zeros_like(o);
    let po = d_o.map_or(zeros, |d| d * o * (1 - o));
    if peepholes && d_o.is_some() {
        let wco = cx.input(6);
        add(&mut dcs, po * wco);
    }
    let dcs = dcs.unwrap_or(zeros);
    let pi = own(cx, 0, dcs * ci) * i * (1 - i);
    let pc = own(cx, 4, dcs * i) * (1 - ci * ci);
    let pf = own(cx, 2, dcs * before) * f * (1 - f);
    let sums = cx.op("ConcatV2").inputs([pi, pc, pf, po]).input(1).attr("N", 4).output();
    if cx.wants(1) {
        let mut back = dcs * f;
        if peepholes {
            back = back + pi * cx.input(4) + pf * cx.input(5);
        }
        cx.give(1, back);
    }
    let w = cx.input(3);
    if cx.wants(0) || cx.wants(2) {
        let both = cx.op("MatMul").inputs([sums, w]).attr("transpose_b", true).output();
        let (x, h) = (cx.shape_of_input(0), cx.shape_of_input(2));
        let width =
            cx.op("StridedSlice").input(x).inputs([cx.ints(&[1]), cx.ints(&[2]), cx.ints(&[1])]).output();
        let zero = cx.ints(&[0]);
        let start = cx.op("ConcatV2").inputs([zero, width]).input(0).attr("N", 2).output();
        let dx = cx.op("Slice").inputs([both, cx.ints(&[0, 0]), x]).output();
        let dh = cx.op("Slice").inputs([both, start, h]).output();
        cx.give(0, dx);
        cx.give(2, dh);
    }
    if cx.wants(3) {
        let (x, h) = (cx.input(0), cx.input(2));
        let xh = cx.op("ConcatV2").inputs([x, h]).input(1).attr("N", 2).output();
        let dw = cx.op("MatMul").inputs([xh, sums]).attr("transpose_a", true).output();
        cx.give(3, dw);
    }
    for (place, p, memory) in [(4, pi, before), (5, pf, before), (6, po, cs)] {
        if cx.wants(place) {
            let d = match peepholes {
                true => cx.op("Sum").input(p * memory).input(cx.ints(&[0])).output(),
                false => cx.zeros_like_input(place),
            };
            cx.give(place, d);
        }
    }
    if cx.wants(7) {
        let db = cx.op("BiasAddGrad").input(sums).output();
        cx.give(7, db);
    }
    Ok(())
}

cases! {
    a_step: "LSTMBlockCell([[1.0]], [[0.5]], [[0.25]], [[0.1 0.2 0.3 0.4] [0.5 0.6 0.7 0.8]], [0.0], [0.0], [0.0], [0.1 0.1 0.1 0.1]) \
         ~ [[0.5805423]], [[0.6591778]], [[0.8284953]], [[0.6681878]], [[0.421899]], [[0.577816]], [[0.3860896]]",
    peepholes: "LSTMBlockCell([[1.0]], [[0.5]], [[0.25]], [[0.1 0.2 0.3 0.4] [0.5 0.6 0.7 0.8]], [0.5], [-0.5], [0.25], [0.1 0.1 0.1 0.1]; use_peephole=true) \
         ~ [[0.6399161]], [[0.6649861]], [[0.7900124]], [[0.7039641]], [[0.421899]], [[0.5816721]], [[0.4094763]]",
    infers: "LSTMBlockCell(f32[?,3], f32[2,?], f32[?,?], f32[?,?], f32[?], f32[?], f32[?], f32[20]) : f32[2,5], f32[2,5], f32[2,5], f32[2,5], f32[2,5], f32[2,5], f32[2,5]",
    four_gates: "LSTMBlockCell(f32[?,3], f32[2,?], f32[?,?], f32[?,?], f32[?], f32[?], f32[?], f32[6]) ! `b` has 6 entries",
    weights_fit: "LSTMBlockCell([[1.0]], [[0.5]], [[0.25]], [[0.1 0.2 0.3 0.4]], [0.0], [0.0], [0.0], [0.1 0.1 0.1 0.1]) ! w.dims are [1,4] but must be [2,4]",
}
