//! `BlockLSTM`, `BlockLSTMV2`: a long short-term memory over all steps of a sequence.

use super::block_cells::{
    CellFloat, ICFO, IFCO, Lstm, Places, dims, floats, infer_lstm, lstm_attrs, lstm_inputs, lstm_outputs,
    tensor,
};
use crate::number::no_kernel;
use millstream_graph::op::spec::{Float, Spec};
use millstream_graph::op::{Cost, GradCx, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I64;
use millstream_tensor::budget::Charged;
use millstream_tensor::{Error, Result, ensure, with_element};
use num_traits::FromPrimitive;

pub(super) const PLACES: Places = Places { x: 1, is_sequence: true };

pub(crate) fn def() -> [OpDef; 2] {
    let first = declared("BlockLSTM").attr("forget_bias", Float.or(1.0f32));
    [
        lstm_attrs(first, 3.0).kernel(kernel(run)).gradient(Gradient::of(grad)),
        lstm_attrs(declared("BlockLSTMV2"), 0.0).kernel(kernel(run_v2)).gradient(Gradient::of(grad_v2)),
    ]
}

/// What the versions share.
fn declared(name: &'static str) -> OpDef {
    let def = OpDef::new(name).doc(
        "Computes `seq_len_max` steps of an LSTM as [`LSTMBlockCell`] does, and returns what that returns for \
         each step. The memory and the output are zero after them. `x` has shape `[time, batch, inputs]`. \
         `BlockLSTMV2` has no `forget_bias`, and the columns of its weights are those of the input gate, the \
         forget gate, the new memory and the output gate.",
    );
    lstm_outputs(lstm_inputs(def.input("seq_len_max", I64).on_host())).infer(|cx| {
        cx.scalar(0)?;
        infer_lstm(cx, &PLACES)
    })
}

fn kernel(run: fn(&mut KernelCx) -> Result<()>) -> Kernel {
    Kernel::pure(run).cost(Cost::PerElement(100.0))
}

/// Returns the number of steps, at most those of `x`.
pub(super) fn steps(cx: &KernelCx, time: usize) -> Result<usize> {
    let most = cx.int(0)?;
    ensure!(0 <= most && most <= time as i64, "`seq_len_max` is {most}, but `x` has {time} steps");
    Ok(most as usize)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    in_order(cx, ICFO)
}

fn run_v2(cx: &mut KernelCx) -> Result<()> {
    in_order(cx, IFCO)
}

fn in_order(cx: &mut KernelCx, order: [usize; 4]) -> Result<()> {
    let dtype = cx.input(1).dtype();
    with_element!(dtype, T in [F16 F32 F64] => sequence::<T>(cx, order), else => Err(no_kernel("BlockLSTM", dtype)))
}

/// `order` is that of the columns of the weights.
fn sequence<T: CellFloat>(cx: &mut KernelCx, order: [usize; 4]) -> Result<()>
where
    T::Work: FromPrimitive,
{
    let [time, batch, inputs] = dims(cx, 1)?;
    let steps = steps(cx, time)?;
    let lstm = Lstm::<T::Work>::of::<T>(cx, &PLACES, [batch, inputs], order)?;
    let n = lstm.units;
    let x = floats::<T>(cx, 1, &[time, batch, inputs])?;
    let (mut cs, mut h) = (floats::<T>(cx, 2, &[batch, n])?, floats::<T>(cx, 3, &[batch, n])?);
    let mut out: [Charged<T::Work>; 7] = Default::default();
    for t in 0..steps {
        cx.env.cancel.check()?;
        let x = &x[t * batch * inputs..][..batch * inputs];
        let gates = lstm.step(&*cx.env.host, x, &cs, &h)?;
        (cs, h) = (Charged::copy_of(&gates.cs)?, Charged::copy_of(&gates.h)?);
        for (all, step) in out.iter_mut().zip(gates.into_list()) {
            all.reserve(time * batch * n)?;
            all.extend_from_slice(&step)?;
        }
    }
    let zero = T::ZERO.work();
    for (i, mut values) in out.into_iter().enumerate() {
        values.resize_with(time * batch * n, || zero)?;
        cx.set(i, tensor::<T>(&[time, batch, n], &values)?);
    }
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    grad_by(cx, "BlockLSTMGrad")
}

fn grad_v2(cx: &mut GradCx) -> Result<()> {
    grad_by(cx, "BlockLSTMGradV2")
}

/// Adds the op that computes all gradients.
fn grad_by(cx: &mut GradCx, op: &'static str) -> Result<()> {
    if [0, 2, 3, 4, 5].into_iter().any(|k| cx.has_grad(k)) {
        return Err(Error::unimplemented(
            "the gradient of a BlockLSTM is defined for `cs` and `h` only, not for its gates",
        )
        .with_help("TensorFlow ignores gradients of the gates"));
    }
    let inputs: Vec<_> = (0..9).map(|i| cx.input(i)).collect();
    let outputs: Vec<_> = (0..7).map(|i| cx.output(i)).collect();
    let (dcs, dh) = (cx.grad(1), cx.grad(6));
    let peephole = cx.attrs().bool("use_peephole")?;
    let all =
        cx.op(op).inputs(inputs).inputs(outputs).inputs([dcs, dh]).attr("use_peephole", peephole).finish();
    for i in 0..8 {
        cx.give(i + 1, all.output(i as u32));
    }
    Ok(())
}

cases! {
    two_steps: "i cs f o ci co h <- BlockLSTM(i64 2, [[[1.0]] [[0.5]]], [[0.5]], [[0.25]], [[0.1 0.2 0.3 0.4] [0.5 0.6 0.7 0.8]], [0.0], [0.0], [0.0], [0.1 0.1 0.1 0.1]) | AddV2(h, 0.0) ~ [[[0.3860896]] [[0.4223004]]]",
    ends_early: "i cs f o ci co h <- BlockLSTM(i64 1, [[[1.0]] [[0.5]]], [[0.5]], [[0.25]], [[0.1 0.2 0.3 0.4] [0.5 0.6 0.7 0.8]], [0.0], [0.0], [0.0], [0.1 0.1 0.1 0.1]) | AddV2(h, 0.0) ~ [[[0.3860896]] [[0.0]]]",
    other_order: "i cs f o ci co h <- BlockLSTMV2(i64 1, [[[1.0]]], [[0.5]], [[0.25]], [[0.1 0.3 0.2 0.4] [0.5 0.7 0.6 0.8]], [0.0], [0.0], [0.0], [0.1 1.1 0.1 0.1]) | AddV2(h, 0.0) ~ [[[0.3860896]]]",
    infers: "BlockLSTM(i64[], f32[7,?,3], f32[2,?], f32[?,?], f32[?,?], f32[?], f32[?], f32[?], f32[20]) : f32[7,2,5], f32[7,2,5], f32[7,2,5], f32[7,2,5], f32[7,2,5], f32[7,2,5], f32[7,2,5]",
    not_so_long: "BlockLSTM(i64 2, [[[1.0]]], [[0.5]], [[0.25]], [[0.1 0.2 0.3 0.4] [0.5 0.6 0.7 0.8]], [0.0], [0.0], [0.0], [0.1 0.1 0.1 0.1]) ! `seq_len_max` is 2, but `x` has 1 steps",
}
