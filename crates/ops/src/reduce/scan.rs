//! The declaration, the kernel and the gradient of cumulative ops along an axis, as `Cumsum` and `Cumprod`.

use crate::number::Number;
use millstream_graph::Output;
use millstream_graph::op::spec::{Bool, IndexType, Number as NumberType, Spec};
use millstream_graph::op::{GradCx, InferCx, Kernel, KernelCx, OpDef, RunFn};
use millstream_tensor::DType::I32;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, Tensor, ensure};

/// Returns the declaration that cumulative ops share.
pub(super) fn scan(name: &'static str, run: RunFn) -> OpDef {
    OpDef::new(name)
        .input("x", "T")
        .input("axis", "Tidx")
        .on_host()
        .output("out", "T")
        .attr("exclusive", Bool.or(false))
        .attr("reverse", Bool.or(false))
        .attr("T", NumberType)
        .attr("Tidx", IndexType.or(I32))
        .infer(infer)
        .kernel(Kernel::pure(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    // TensorFlow reports an axis that is no scalar or out of range only in the run.
    cx.same_as_input()
}

/// Replaces each element by the fold with `join`, starting from `start`, of all elements up to and including
/// it (`exclusive`: before it).
pub(super) fn run<T: Number>(
    cx: &mut KernelCx,
    start: T::Wide,
    join: impl Fn(T::Wide, T::Wide) -> T::Wide,
) -> Result<Tensor> {
    let (exclusive, reverse) = (cx.attrs().bool("exclusive")?, cx.attrs().bool("reverse")?);
    ensure!(cx.input(1).rank() == 0, "ScanOp: axis must be a scalar, not {}", cx.input(1).shape(); "`axis` must be a scalar but has shape {}", cx.input(1).shape());
    let axis = cx.int(1)?;
    let mut x = cx.take(0);
    let shape = x.shape().clone();
    let rank = shape.rank();
    let axis = crate::shared::axes::input_axis("axis", axis, rank).map_err(|e| {
        let least = -(rank as i64);
        e.led_by(format!("ScanOp: Expected scan axis in the range [{least}, {rank}), but got {axis}"))
    })?;
    if shape.elements() == 0 {
        return Ok(x);
    }
    let n = shape[axis];
    let inner: usize = shape[axis + 1..].iter().product();
    let cells = x.make_mut_or_copy::<T>()?;
    let mut running = vec![start; inner.min(STRIP)];
    let mut pace = Pace::new();
    for plane in cells.chunks_exact_mut(n * inner) {
        for at in (0..inner).step_by(STRIP) {
            let running = &mut running[..STRIP.min(inner - at)];
            running.fill(start);
            for i in 0..n {
                pace.spend(running.len())?;
                let i = if reverse { n - 1 - i } else { i };
                let row = &mut plane[i * inner + at..];
                for (acc, x) in running.iter_mut().zip(row) {
                    let next = join(*acc, x.widen());
                    *x = T::narrow(if exclusive { *acc } else { next });
                    *acc = next;
                }
            }
        }
    }
    Ok(x)
}

/// The number of columns processed together, so that their accumulators stay in the first-level cache.
const STRIP: usize = 1024;

/// Returns the cumulative sums in the opposite direction: the gradient of a cumulative sum.
pub(super) fn turned_round<'g>(cx: &GradCx<'g, '_>, dy: Output<'g>, axis: Output<'g>) -> Result<Output<'g>> {
    let (exclusive, reverse) = (cx.attrs().bool("exclusive")?, cx.attrs().bool("reverse")?);
    let sums = cx.op("Cumsum").input(dy).input(axis);
    Ok(sums.attr("exclusive", exclusive).attr("reverse", !reverse).output())
}
