//! `InplaceUpdate`, `InplaceAdd`, `InplaceSub`: tensors with rows replaced or changed. Values are immutable
//! here: the input stays as it is, unless nothing else reads it.

use super::tensor_scatter::{Combine, combine};
use crate::shared::places::Places;
use millstream_graph::Output;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I32;
use millstream_tensor::{Result, ensure};

pub(crate) fn def() -> [OpDef; 3] {
    let op = |name, doc| {
        OpDef::new(name)
            .doc(doc)
            .input("x", "T")
            .input("i", I32)
            .input("v", "T")
            .output("y", "T")
            .attr("T", AnyType)
            .infer(infer)
    };
    [
        op(
            "InplaceUpdate",
            "Returns `x` with the rows of `v` in place of the rows at the indices `i`. An index is taken modulo \
             the number of rows. Of several rows for an index, the last is used. The tensor `x` itself does not \
             change.",
        )
        .kernel(Kernel::pure(|cx| run(cx, Combine::Replace)))
        .gradient(Gradient::of(grad_of_update)),
        op(
            "InplaceAdd",
            "Returns `x` with the rows of `v` added to the rows at the indices `i`, which are taken modulo the \
             number of rows. The tensor `x` itself does not change.",
        )
        .kernel(Kernel::pure(|cx| run(cx, Combine::Add)))
        .gradient(Gradient::of(|cx| grad_of_sum(cx, false))),
        op(
            "InplaceSub",
            "Returns `x` with the rows of `v` subtracted from the rows at the indices `i`, which are taken modulo \
             the number of rows. The tensor `x` itself does not change.",
        )
        .kernel(Kernel::pure(|cx| run(cx, Combine::Sub)))
        .gradient(Gradient::of(|cx| grad_of_sum(cx, true))),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    // TensorFlow reports shapes that do not fit only in the run.
    cx.same_as_input()
}

fn run(cx: &mut KernelCx, how: Combine) -> Result<()> {
    let dtype = cx.input(0).dtype();
    let computes = !matches!(how, Combine::Replace);
    ensure!(
        !computes || dtype.is_number(),
        "Unsupported data type: {dtype}";
        "{} needs numbers", cx.node.op.name
    );
    let (x, i, v) = (cx.input(0).shape(), cx.input(1).shape(), cx.input(2).shape());
    ensure!(i.rank() == 1, "i must be a vector. {i}"; "`i` has shape {i}");
    ensure!(
        x.rank() > 0 && x.rank() == v.rank() && x[1..] == v[1..],
        "x and v shape doesn't match: {x} vs. {v}";
        "`x` has shape {x} and `v` has shape {v}: their rows must have one shape"
    );
    ensure!(
        i[0] == v[0],
        "i and x shape doesn't match at index 0: {i} vs. {v}";
        "`i` has {} entries for {} rows in `v`", i[0], v[0]
    );
    let (n, run) = (x[0] as i64, x[1..].iter().product::<usize>());
    ensure!(n > 0 || i[0] == 0, "`x` has no rows: row {} cannot be changed", cx.ints(1)?[0]);
    // The indices are within the rows, so the products are within the tensor.
    let starts = cx.ints(1)?.iter().map(|i| i.rem_euclid(n) as usize * run).collect();
    let mut out = cx.take(0);
    if cx.input(2).elements() > 0 {
        combine(&mut out, how, &Places { starts, run, skipped: Vec::new() }, cx.input(2))?;
    }
    cx.set(0, out);
    Ok(())
}

/// The indices, from zero on.
fn rows<'g>(cx: &mut GradCx<'g, '_>) -> Output<'g> {
    let (i, shape) = (cx.input(1), cx.shape_of_input(0));
    let n = cx.call("Slice", [shape, cx.ints(&[0]), cx.ints(&[1])]);
    cx.call("FloorMod", [i, n])
}

// As in `TensorScatterUpdate`, every row for an index gets the gradient.
fn grad_of_update(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    if cx.wants(0) {
        let (i, v) = (cx.input(1), cx.zeros_like_input(2));
        cx.give(0, cx.call("InplaceUpdate", [dy, i, v]));
    }
    if cx.wants(2) {
        let rows = rows(cx);
        cx.give(2, cx.op("GatherV2").input(dy).input(rows).input(0).output());
    }
    Ok(())
}

fn grad_of_sum(cx: &mut GradCx, negative: bool) -> Result<()> {
    let dy = cx.grad(0);
    cx.give(0, dy);
    if cx.wants(2) {
        let rows = rows(cx);
        let dv = cx.op("GatherV2").input(dy).input(rows).input(0).output();
        cx.give(2, if negative { -dv } else { dv });
    }
    Ok(())
}

cases! {
    updates: "InplaceUpdate([[1.0 2.0] [3.0 4.0] [5.0 6.0]], [0 2], [[10.0 20.0] [30.0 40.0]]) = [[10.0 20.0] [3.0 4.0] [30.0 40.0]]",
    the_last_one_stays: "InplaceUpdate([1 2 3], [1 1], [7 8]) = [1 8 3]",
    from_the_end: "InplaceUpdate([1.0 2.0 3.0], [-1 4], [7.0 8.0]) = [1.0 8.0 7.0]",
    updates_strings: "InplaceUpdate(['a' 'b'], [0], ['c']) = ['c' 'b']",
    adds: "InplaceAdd([[1.0 2.0] [3.0 4.0]], [1 -1], [[10.0 20.0] [30.0 40.0]]) = [[1.0 2.0] [43.0 64.0]]",
    subtracts: "InplaceSub([1.0 2.0 3.0], [0 2], [10.0 20.0]) = [-9.0 2.0 -17.0]",
    nothing: "InplaceAdd([1.0 2.0], i32[0] [], f32[0] []) = [1.0 2.0]",
    infers: "InplaceAdd(f32[?,3], i32[?], f32[?,3]) : f32[?,3]",
    no_strings: "InplaceAdd(['a'], [0], ['b']) ! Unsupported data type",
    a_vector: "InplaceUpdate([1.0], 0, [2.0]) ! i must be a vector",
    one_row_each: "InplaceUpdate([1.0 2.0], [0 1], [2.0]) ! `i` has 2 entries for 1 rows",
    equal_rows: "InplaceSub([[1.0 2.0]], [0], [[2.0]]) ! their rows must have one shape",
    without_rows: "InplaceUpdate(f32[0] [], [0], [2.0]) ! `x` has no rows",
}
