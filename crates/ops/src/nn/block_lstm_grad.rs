//! `BlockLSTMGrad`, `BlockLSTMGradV2`: the gradients of a long short-term memory over a sequence.

use super::block_cells::{
    CellFloat, FLOATS, Gates, ICFO, IFCO, Lstm, add, beside, columns, dims, floats, lstm_inputs, product,
    sum_of_rows, tensor, zeros,
};
use super::block_lstm::{PLACES, steps};
use crate::number::no_kernel;
use millstream_graph::op::spec::{Bool, OneOf};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I64;
use millstream_tensor::budget::Charged;
use millstream_tensor::{Result, with_element};
use num_traits::FromPrimitive;

pub(crate) fn def() -> [OpDef; 2] {
    [declared("BlockLSTMGrad", run), declared("BlockLSTMGradV2", run_v2)]
}

fn declared(name: &'static str, run: fn(&mut KernelCx) -> Result<()>) -> OpDef {
    let def = OpDef::new(name)
        .doc(
            "Computes the gradients of `BlockLSTM` or `BlockLSTMV2` from those of all memories and outputs, \
             `cs_grad` and `h_grad`.",
        )
        .input("seq_len_max", I64)
        .on_host();
    let def = ["i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"]
        .into_iter()
        .fold(lstm_inputs(def), |def, name| def.input(name, "T"));
    ["x_grad", "cs_prev_grad", "h_prev_grad", "w_grad", "wci_grad", "wcf_grad", "wco_grad", "b_grad"]
        .into_iter()
        .fold(def, |def, name| def.output(name, "T"))
        .attr("use_peephole", Bool)
        .attr("T", OneOf(FLOATS))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(200.0)))
        .gradient(Gradient::Missing("TensorFlow defines none"))
}

// Each gradient has the shape of its input.
fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    cx.with_rank(1, 3)?;
    for i in 0..8 {
        cx.set(i, cx.input(i + 1).clone());
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    in_order(cx, ICFO)
}

fn run_v2(cx: &mut KernelCx) -> Result<()> {
    in_order(cx, IFCO)
}

fn in_order(cx: &mut KernelCx, order: [usize; 4]) -> Result<()> {
    let dtype = cx.input(1).dtype();
    with_element!(dtype, T in [F16 F32 F64] => back::<T>(cx, order), else => Err(no_kernel("BlockLSTMGrad", dtype)))
}

/// `order` is that of the columns of the weights.
fn back<T: CellFloat>(cx: &mut KernelCx, order: [usize; 4]) -> Result<()>
where
    T::Work: FromPrimitive,
{
    let [time, batch, inputs] = dims(cx, 1)?;
    let steps = steps(cx, time)?;
    let lstm = Lstm::<T::Work>::of::<T>(cx, &PLACES, [batch, inputs], order)?;
    let n = lstm.units;
    let (rows, width, cells) = (inputs + n, 4 * n, batch * n);
    let x = floats::<T>(cx, 1, &[time, batch, inputs])?;
    let (first_cs, first_h) = (floats::<T>(cx, 2, &[batch, n])?, floats::<T>(cx, 3, &[batch, n])?);
    // i, cs, f, o, ci, co, h, then the gradients of cs and of h.
    let all: Vec<Charged<T::Work>> =
        (9..18).map(|k| floats::<T>(cx, k, &[time, batch, n])).collect::<Result<_>>()?;
    let mut x_grad = zeros(time * batch * inputs)?;
    let mut w_grad = zeros(rows * width)?;
    let mut b_grad = zeros(width)?;
    let mut peepholes = [zeros(n)?, zeros(n)?, zeros(n)?];
    let (mut dcs, mut dh) = (zeros(cells)?, zeros(cells)?);
    for t in (0..steps).rev() {
        cx.env.cancel.check()?;
        let step = |k: usize, t: usize| &all[k][t * cells..][..cells];
        let of = |k: usize| Charged::copy_of(step(k, t));
        let gates = Gates::of_list([of(0)?, of(1)?, of(2)?, of(3)?, of(4)?, of(5)?, of(6)?]);
        let (cs_prev, h_prev) = match t {
            0 => (&*first_cs, &*first_h),
            _ => (step(1, t - 1), step(6, t - 1)),
        };
        add(&mut dcs, step(7, t));
        add(&mut dh, step(8, t));
        let grads = lstm.step_back(&gates, cs_prev, &dcs, &dh)?;
        let host = &*cx.env.host;
        let xh_grad = product(host, (&grads.gates, batch, width, false), (&lstm.w, rows, width, true))?;
        let of_x = columns(&xh_grad, rows, 0, inputs)?;
        x_grad[t * batch * inputs..][..batch * inputs].copy_from_slice(&of_x);
        dh = columns(&xh_grad, rows, inputs, n)?;
        dcs = grads.cs_prev;
        let xh = beside(&x[t * batch * inputs..][..batch * inputs], inputs, h_prev, n)?;
        add(&mut w_grad, &product(host, (&xh, batch, rows, true), (&grads.gates, batch, width, false))?);
        add(&mut b_grad, &sum_of_rows(&grads.gates, width)?);
        for (sum, step) in peepholes.iter_mut().zip(&grads.peepholes) {
            add(sum, step);
        }
    }
    let [wci, wcf, wco] = &peepholes;
    let shapes: [&[usize]; 8] =
        [&[time, batch, inputs], &[batch, n], &[batch, n], &[rows, width], &[n], &[n], &[n], &[width]];
    for (i, (shape, values)) in
        shapes.into_iter().zip([&x_grad, &dcs, &dh, &w_grad, wci, wcf, wco, &b_grad]).enumerate()
    {
        cx.set(i, tensor::<T>(shape, values)?);
    }
    Ok(())
}

cases! {
    infers: "BlockLSTMGrad(i64[], f32[7,2,3], f32[2,5], f32[2,5], f32[8,20], f32[5], f32[5], f32[5], f32[20], f32[7,2,5], f32[7,2,5], f32[7,2,5], f32[7,2,5], f32[7,2,5], f32[7,2,5], f32[7,2,5], f32[7,2,5], f32[7,2,5]; use_peephole=false) \
         : f32[7,2,3], f32[2,5], f32[2,5], f32[8,20], f32[5], f32[5], f32[5], f32[20]",
    one_step: "i cs f o ci co h <- BlockLSTM(i64 1, [[[1.0]]], [[0.5]], [[0.25]], [[0.1 0.2 0.3 0.4] [0.5 0.6 0.7 0.8]], [0.0], [0.0], [0.0], [0.1 0.1 0.1 0.1]) | \
         BlockLSTMGrad(i64 1, [[[1.0]]], [[0.5]], [[0.25]], [[0.1 0.2 0.3 0.4] [0.5 0.6 0.7 0.8]], [0.0], [0.0], [0.0], [0.1 0.1 0.1 0.1], i, cs, f, o, ci, co, h, [[[1.0]]], [[[1.0]]]; use_peephole=false) \
         ~ [[[0.2348127]]], [[1.197258]], [[0.6623543]], [[0.1484664 0.6896105 0.1026677 0.1281092] [0.0371166 0.1724026 0.02566692 0.03202731]], [0.0], [0.0], [0.0], [0.1484664 0.6896105 0.1026677 0.1281092]",
    not_so_long: "BlockLSTMGrad(i64 2, [[[1.0]]], [[0.5]], [[0.25]], [[0.1 0.2 0.3 0.4] [0.5 0.6 0.7 0.8]], [0.0], [0.0], [0.0], [0.1 0.1 0.1 0.1], [[[0.0]]], [[[0.0]]], [[[0.0]]], [[[0.0]]], [[[0.0]]], [[[0.0]]], [[[0.0]]], [[[0.0]]], [[[0.0]]]; use_peephole=false) ! `seq_len_max` is 2, but `x` has 1 steps",
}
