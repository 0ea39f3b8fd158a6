//! `LinSpace`: evenly spaced numbers between two ends.

use crate::number::{FloatElement, no_kernel};
use millstream_graph::op::spec::{FloatType, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I32;
use millstream_tensor::{Error, PartialShape, Result, Tensor, ensure, invalid, with_element};
use num_traits::NumCast;

pub(crate) fn def() -> OpDef {
    OpDef::new("LinSpace")
        .doc("Returns `num` evenly spaced numbers from `start` to `stop`, both included.")
        .input("start", "T")
        .input("stop", "T")
        .input("num", "Tidx")
        .on_host()
        .output("output", "T")
        .attr("T", FloatType)
        .attr("Tidx", IndexType.or(I32))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    (0..3).try_for_each(|i| cx.scalar(i))?;
    let num = cx.int(2).map(count).transpose()?;
    cx.set(0, PartialShape::new([num]));
    Ok(())
}

fn count(num: i64) -> Result<usize> {
    usize::try_from(num)
        .ok()
        .filter(|n| 0 < *n)
        .ok_or_else(|| invalid!("Requires num > 0: {num}"; "`num` is {num} but must be at least 1"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    for i in 0..3 {
        ensure!(
            cx.input(i).rank() == 0,
            "`{}` must be a scalar but has shape {}",
            cx.name_of(i),
            cx.input(i).shape()
        );
    }
    let num = count(cx.int(2)?)?;
    let out = with_element!(cx.input(0).dtype(), T in floats => {
        spaced::<T>(cx.input(0).to_scalar()?, cx.input(1).to_scalar()?, num)
    }, else => Err(no_kernel("LinSpace", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn spaced<T: FloatElement>(start: T, stop: T, num: usize) -> Result<Tensor> {
    let number = |n: usize| {
        <T::Work as NumCast>::from(n).ok_or_else(|| Error::internal("a count that is not a float"))
    };
    let last = num - 1;
    let (a, b) = (start.work(), stop.work());
    let step = if last == 0 { T::Work::default() } else { (b - a) / number(last)? };
    number(last)?;
    let values = (0..num).map(|i| match i {
        0 => start,
        i if i == last => stop,
        i => T::of_work(a + step * number(i).unwrap_or_default()),
    });
    Tensor::from_iter([num], values)
}

// Each number is a weighted mean of the two ends.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, dtype, num) = (cx.grad(0), cx.dtype(0), cx.input(2));
    let (zero, one) = (cx.scalar(dtype, 0.0), cx.scalar(dtype, 1.0));
    for (i, from, to) in [(0, one, zero), (1, zero, one)] {
        if cx.wants(i) {
            let share = cx.call("LinSpace", [from, to, num]);
            cx.give(i, cx.op("Sum").input(dy * share).input([0]).output());
        }
    }
    Ok(())
}

cases! {
    spaces: "LinSpace(0.0, 1.0, 4) = [0.0 0.33333334 0.6666667 1.0]",
    one_is_the_start: "LinSpace(1.0, 5.0, 1) = [1.0]",
    downwards: "LinSpace(1.0, -1.0, 3) = [1.0 0.0 -1.0]",
    shape: "LinSpace(f32[], f32[], 7) : f32[7]",
    unknown_count: "LinSpace(f32[], f32[], i32[]) : f32[?]",
    needs_one: "LinSpace(0.0, 1.0, 0) ! `num` is 0 but must be at least 1",
    needs_scalars: "LinSpace(f32[1], f32[], i32[]) ! `start` must be a scalar",
}
