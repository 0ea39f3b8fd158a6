//! `NthElement`: the n-th smallest element of each row.

use super::softmax_rows::sum_of_rows;
use crate::number::{RealElement, no_kernel};
use millstream_graph::op::spec::{Bool, RealNumber, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I32;
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::sorting::partition_at;
use millstream_tensor::{PartialShape, Result, Shape, Tensor, ensure, invalid, with_element};
use std::cmp::Ordering;

pub(crate) fn def() -> OpDef {
    OpDef::new("NthElement")
        .doc(
            "Returns the element at index `n` of each innermost row in ascending order, or in descending \
             order if `reverse` is true. NaN counts as the greatest.",
        )
        .input("input", "T")
        .input("n", I32)
        .on_host()
        .output("values", "T")
        .attr("reverse", Bool.or(false))
        .attr("T", RealNumber)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn place(n: i64, len: Option<usize>) -> Result<usize> {
    let at = usize::try_from(n).ok().filter(|at| len.is_none_or(|len| *at < len));
    at.ok_or_else(|| match len {
        Some(len) => invalid!("`n` is {n} but must be in 0..{len}"),
        None => invalid!("`n` is {n} but must not be negative"),
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    ensure!(
        cx.input(0).rank() != Some(0),
        "{}", cx.input(0).below_rank(1);
        "`input` must have rank 1 or more but is a scalar"
    );
    cx.scalar(1)?;
    if let Some([batch @ .., len]) = cx.input(0).dims() {
        cx.int(1).map(|n| place(n, *len)).transpose()?;
        cx.set(0, PartialShape::new(batch.iter().copied()));
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (input, reverse) = (cx.input(0), cx.attrs().bool("reverse")?);
    let Some((&len, batch)) = input.shape().split_last() else {
        return Err(invalid!("`input` must have rank 1 or more but is a scalar"));
    };
    let at = place(cx.int(1)?, Some(len))?;
    let at = if reverse { len - 1 - at } else { at };
    let out = with_element!(input.dtype(), T in reals => pick::<T>(input, len, at, Shape::from(batch)), else => Err(no_kernel("NthElement", input.dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn pick<T: RealElement>(input: &Tensor, len: usize, at: usize, shape: Shape) -> Result<Tensor> {
    // NaN is ordered last, at any position.
    let order = |a: &T, b: &T| {
        let nan = |v: &T| v.partial_cmp(v).is_none();
        a.partial_cmp(b).unwrap_or_else(|| nan(a).cmp(&nan(b)))
    };
    let least: fn(&T, &T) -> Ordering = order;
    let mut out = Tensor::zeros(T::DTYPE, shape)?;
    let mut pace = Pace::new();
    let mut row = Charged::with_room(len)?;
    for (out, from) in out.make_mut_or_copy::<T>()?.iter_mut().zip(input.as_slice::<T>()?.chunks_exact(len)) {
        pace.spend(len)?;
        row.resize_with(0, T::default)?;
        row.extend_from_slice(from)?;
        partition_at(&mut row, at, least)?;
        *out = row[at];
    }
    Ok(out)
}

// The elements of a row that equal the result share its gradient.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x, y) = (cx.grad(0), cx.input(0), cx.output(0));
    let column = |v| cx.op("ExpandDims").input(v).input(-1).output();
    let chosen = cx.op("Cast").input(cx.call("Equal", [column(y), x])).attr("DstT", cx.dtype(0)).output();
    cx.give(0, chosen / sum_of_rows(cx, chosen) * column(dy));
    Ok(())
}

cases! {
    least: "NthElement([[3.0 1.0 2.0] [9.0 7.0 8.0]], 0) = [1.0 7.0]",
    from_the_greatest: "NthElement([3 1 2], 1; reverse=true) = 2",
    equal_ones: "NthElement([4 4 1], 1) = 4",
    infers: "NthElement(f32[?,3], 1) : f32[?]",
    in_range: "NthElement([1 2], 2) ! `n` is 2 but must be in 0..2",
    not_negative: "NthElement(f32[?], -1) ! `n` is -1",
    needs_an_axis: "NthElement(1, 0) ! rank 1 or more",
}
