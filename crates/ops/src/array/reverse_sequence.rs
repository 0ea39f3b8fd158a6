//! `ReverseSequence`: reverses the beginning of each sequence of a batch.

use crate::shared::axes::vector;
use millstream_graph::Attrs;
use millstream_graph::op::spec::{AnyType, IndexType, Int, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, Shape, ensure};
use smallvec::SmallVec;

pub(crate) fn def() -> OpDef {
    OpDef::new("ReverseSequence")
        .doc(
            "Reverses the first `seq_lengths[i]` elements along axis `seq_dim` of slice `i` along axis \
             `batch_dim`. The elements behind them are copied unchanged.",
        )
        .input("input", "T")
        .input("seq_lengths", "Tlen")
        .output("output", "T")
        .attr("seq_dim", Int)
        .attr("batch_dim", Int.or(0i64))
        .attr("T", AnyType)
        .attr("Tlen", IndexType.or(DType::I64))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

/// Returns the time axis and the batch axis. Negative numbers are errors, as in TensorFlow.
fn axes(attrs: &Attrs, rank: usize) -> Result<(usize, usize)> {
    let get = |what: &str| -> Result<usize> {
        let a = attrs.int(what)?;
        ensure!(a >= 0, "`{what}` is {a} but must not be negative");
        crate::shared::axes::axis(what, a, rank)
            .map_err(|e| e.led_by(format!("{what} must be < input rank: {a} vs. {rank}")))
    };
    let (batch, seq) = (get("batch_dim")?, get("seq_dim")?);
    Ok((seq, batch))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let lengths = cx.vector(1)?;
    let Some(dims) = cx.input(0).dims() else { return Ok(()) };
    let (_, batch) = axes(cx.attrs(), dims.len())?;
    if let (Some(n), Some(size)) = (lengths, dims[batch]) {
        ensure!(n == size, "Dimensions must be equal, but are {size} and {n}"; "`seq_lengths` has {n} entries but axis {batch} of `input` has size {size}");
    }
    let shape = crate::shared::axes::dim_replaced(dims, batch, dims[batch].or(lengths));
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    vector("seq_lengths", cx.input(1))
        .map_err(|e| e.led_by(format!("seq_lens input must be 1-dim, not {}", cx.input(1).rank())))?;
    let lengths = cx.ints(1)?;
    let input = cx.take(0);
    let shape = input.shape();
    let (seq, batch) = axes(cx.attrs(), shape.rank())?;
    ensure!(
        seq != batch,
        "batch_dim == seq_dim == {seq}";
        "`seq_dim` and `batch_dim` are both {seq}; they must differ"
    );
    ensure!(
        lengths.len() == shape[batch],
        "len(seq_lens) != input.dims({batch}), ({} vs. {})",
        lengths.len(),
        shape[batch];
        "`seq_lengths` has {} entries but axis {batch} of `input` has size {}",
        lengths.len(),
        shape[batch]
    );
    let forward: SmallVec<[isize; 4]> = shape.strides().iter().map(|&s| s as isize).collect();
    let mut backward = forward.clone();
    backward[seq] = -backward[seq];
    let mut out = input.clone();
    for (i, &length) in lengths.iter().enumerate() {
        let len = usize::try_from(length).ok().filter(|&l| l <= shape[seq]);
        ensure!(
            len.is_some(),
            "seq_lens({i}) {}",
            if length < 0 { "< 0".to_owned() } else { format!("> input.dims({seq})") };
            "`seq_lengths` {i} is {length}, which is not in 0..={}", shape[seq]
        );
        let len = len.unwrap_or(0);
        if len < 2 || input.elements() == 0 {
            continue;
        }
        let part = Shape::new(shape.iter().enumerate().map(|(a, &d)| match a {
            a if a == seq => len,
            a if a == batch => 1,
            _ => d,
        }));
        let start = i as isize * forward[batch];
        let last = start + (len - 1) as isize * forward[seq];
        let reversed = input.strided(part.clone(), last, &backward)?;
        out.assign_strided(start, &forward, part, &reversed)?;
    }
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, lengths) = (cx.grad(0), cx.input(1));
    let (seq, batch) = (cx.attrs().int("seq_dim")?, cx.attrs().int("batch_dim")?);
    let dx = cx.op("ReverseSequence").input(dy).input(lengths).attr("seq_dim", seq).attr("batch_dim", batch);
    cx.give(0, dx.output());
    Ok(())
}

cases! {
    by_row: "ReverseSequence([[1 2 3] [4 5 6]], i64 [2 3]; seq_dim=1) = [[2 1 3] [6 5 4]]",
    time_first: "ReverseSequence([[1 2] [3 4] [5 6]], [3 0]; seq_dim=0, batch_dim=1) = [[5 2] [3 4] [1 6]]",
    strings: "ReverseSequence([['a' 'b']], [2]; seq_dim=1) = [['b' 'a']]",
    infers: "ReverseSequence(f32[?,3], i64[2]; seq_dim=1) : f32[2,3]",
    too_long: "ReverseSequence([[1 2]], [3]; seq_dim=1) ! `seq_lengths` 0 is 3, which is not in 0..=2",
    negative: "ReverseSequence([[1 2]], [-1]; seq_dim=1) ! `seq_lengths` 0 is -1",
    same_axis: "ReverseSequence([[1 2]], [1]; seq_dim=0) ! they must differ",
}
