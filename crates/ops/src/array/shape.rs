//! `Shape` and `ShapeN`: the dimensions of tensors.

use crate::shared::axes::counts;
use millstream_graph::op::spec::{AnyType, AtLeast, IndexType, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("Shape")
            .doc("Returns the dimensions of `input`, outermost first.")
            .input("input", "T")
            .output("output", "out_type"),
        OpDef::new("ShapeN")
            .doc("Returns the dimensions of each input, outermost first.")
            .inputs("input", "N", "T")
            .outputs("output", "N", "out_type")
            .attr("N", AtLeast(1)),
    ]
    .map(|def| {
        def.attr("T", AnyType)
            .attr("out_type", IndexType.or(DType::I32))
            .infer(infer)
            .kernel(Kernel::pure(run))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    for (i, shape) in cx.inputs().iter().enumerate() {
        cx.set_known_shape(i, shape);
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let dtype = cx.attrs().dtype("out_type")?;
    for i in 0..cx.n_inputs() {
        let shape = cx.input(i).shape();
        let dims = counts(dtype, [shape.rank()], shape.iter().copied())?;
        cx.set(i, dims);
    }
    Ok(())
}

cases! {
    of_a_matrix: "Shape([[1 2 3] [4 5 6]]) = [2 3]",
    of_a_scalar: "Shape(1.0) = i32[0] []",
    as_i64: "Shape([1 2 3]; out_type=i64) = i64 [3]",
    of_strings: "Shape(['a' 'b']) = [2]",
    length_is_the_rank: "Shape(f32[?,3]) : i32[2]",
    rank_may_be_unknown: "Shape(f32[..]) : i32[?]",
    many: "ShapeN([1 2], [[3]]) = [2], [1 1]",
    many_inferred: "ShapeN(f32[..], f32[?,?]; out_type=i64) : i64[?], i64[2]",
    must_not_be_float: "Shape([1]; out_type=f32) ! may be i32, i64",
}
