//! `ParallelConcat`: concatenation of rows to a tensor of a given shape.

use millstream_graph::op::spec::{AnyShape, AnyType, AtLeast};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{PartialShape, Result, Shape, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("ParallelConcat")
        .doc(
            "Concatenates the values, each of which has a first axis of size 1, along that axis. `shape` is the \
             shape of the result, and all shapes must be known before the graph runs.",
        )
        .inputs("values", "N", "T")
        .output("output", "T")
        .attr("N", AtLeast(1))
        .attr("T", AnyType)
        .attr("shape", AnyShape)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

/// Returns the shape of the result, for values of the shape of input `i`.
fn fitted(whole: &PartialShape, i: usize, row: &Shape, count: usize) -> Result<Shape> {
    let whole = whole.full().ok_or_else(|| {
        invalid!("All input shapes must be fully defined."; "`shape` is {whole}, which is not known in full")
    })?;
    let [1, rest @ ..] = row.dims() else {
        return Err(invalid!("Size of first dimension must be 1."; "`values` {i} has shape {row}"));
    };
    let wanted = Shape::new([1].into_iter().chain(whole.dims().iter().skip(1).copied()));
    ensure!(
        whole.dims().split_first().is_some_and(|(n, others)| *n == count && others == rest),
        "{}\n\tFrom merging shape {i} with other shapes.", PartialShape::from(row).difference(&PartialShape::from(wanted));
        "`shape` is {whole}, but {count} values of shape {row} make {count} rows of it"
    );
    Ok(whole)
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let whole = cx.attrs().shape("shape")?.clone();
    for (i, row) in cx.inputs().iter().enumerate() {
        let row = row.full().ok_or_else(
            || invalid!("All input shapes must be fully defined."; "`values` {i} has shape {row}"),
        )?;
        fitted(&whole, i, &row, cx.n_inputs())?;
    }
    cx.set(0, whole);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let whole = cx.attrs().shape("shape")?.clone();
    let (first, n) = (cx.input(0), cx.n_inputs());
    let mut out = Tensor::zeros(first.dtype(), fitted(&whole, 0, first.shape(), n)?)?;
    for (i, row) in cx.inputs().iter().enumerate() {
        fitted(&whole, i, row.shape(), n)?;
        if row.elements() > 0 {
            out.scatter_runs(row.elements(), &[i * row.elements()], row)?;
        }
    }
    cx.set(0, out);
    Ok(())
}

// Each value is a row.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, n) = (cx.grad(0), cx.n_inputs());
    let rows = cx.op("Split").input(0).input(dy).attr("num_split", n as i64).finish();
    for (i, row) in rows.outputs().into_iter().enumerate() {
        cx.give(i, row);
    }
    Ok(())
}

cases! {
    stacks: "ParallelConcat([[1.0 2.0]], [[3.0 4.0]]; shape=shape[2,2]) = [[1.0 2.0] [3.0 4.0]]",
    one: "ParallelConcat(['a']; shape=shape[1]) = ['a']",
    empty_rows: "ParallelConcat(f32[1,0] [], f32[1,0] []; shape=shape[2,0]) = f32[2,0] []",
    infers: "ParallelConcat(f32[1,3], f32[1,3]; shape=shape[2,3]) : f32[2,3]",
    one_row_each: "ParallelConcat([[1] [2]]; shape=shape[2,1]) ! Size of first dimension must be 1",
    no_scalars: "ParallelConcat(1; shape=shape[1]) ! Size of first dimension must be 1",
    all_rows: "ParallelConcat([[1 2]]; shape=shape[2,2]) ! 1 values of shape [1,2] make 1 rows",
    known_shapes: "ParallelConcat(f32[1,?]; shape=shape[1,2]) ! All input shapes must be fully defined",
}
