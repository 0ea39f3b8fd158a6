//! `UnravelIndex`: the coordinates of positions in a flat tensor.

use millstream_graph::op::spec::{IndexType, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I32;
use millstream_tensor::pace::Pace;
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("UnravelIndex")
        .doc(
            "Returns the coordinates, in a tensor of shape `dims`, of the elements at the flat positions \
             `indices`: a matrix with a row for each axis and a column for each position, or a vector if \
             `indices` is a scalar.",
        )
        .input("indices", "Tidx")
        .input("dims", "Tidx")
        .output("output", "Tidx")
        .attr("Tidx", IndexType.or(I32))
        .infer(infer)
        .kernel(Kernel::pure(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let n = cx.vector(1)?;
    let shape = match cx.input(0).rank() {
        Some(0) => PartialShape::new([n]),
        Some(1) => PartialShape::new([n, cx.input(0).dim(0)]),
        Some(_) => {
            return Err(invalid!("`indices` must be a scalar or a vector but has shape {}", cx.input(0)));
        }
        None => PartialShape::unknown(),
    };
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (indices, dims) = (cx.input(0), cx.input(1));
    ensure!(
        indices.rank() <= 1,
        "The indices can only be scalar or vector, got \"{}\"", indices.shape();
        "`indices` has shape {}", indices.shape()
    );
    ensure!(
        dims.rank() == 1,
        "The indices can only be 1-D, got \"{}\"", dims.shape();
        "`dims` has shape {}: it must be a vector of sizes", dims.shape()
    );
    let sizes = cx.ints(1)?;
    let mut n = 1i64;
    for size in &sizes {
        ensure!(
            0 < *size,
            "Input dims cannot contain a dim of zero";
            "`dims` is {sizes:?}: all sizes must be positive"
        );
        n = n
            .checked_mul(*size)
            .ok_or_else(|| invalid!("`dims` is {sizes:?}, the shape of more than 2^63 elements"))?;
    }
    let positions = cx.ints(0)?;
    let (columns, mut pace) = (positions.len(), Pace::new());
    let shape: millstream_tensor::Shape = match indices.rank() {
        0 => [sizes.len()].into(),
        _ => [sizes.len(), columns].into(),
    };
    let mut out = Tensor::zeros(indices.dtype(), shape)?;
    millstream_tensor::with_element!(indices.dtype(), T in [I32 I64] => {
        let cells = crate::shared::elementwise::fresh::<T>(&mut out)?;
        for (column, position) in positions.iter().enumerate() {
            pace.spend(sizes.len())?;
            ensure!(
                (0..n).contains(position),
                "index is out of bound as with dims";
                "`indices` has the position {position}, and a tensor of shape {sizes:?} has {n} elements"
            );
            let mut rest = *position;
            for (row, size) in sizes.iter().enumerate().rev() {
                // A coordinate is less than its size, which is of this type.
                cells[row * columns + column] = (rest % size) as T;
                rest /= size;
            }
        }
        Ok(())
    }, else => Err(crate::number::no_kernel("UnravelIndex", indices.dtype())))?;
    cx.set(0, out);
    Ok(())
}

cases! {
    columns: "UnravelIndex([2 5 7], [3 3]) = [[0 1 2] [2 2 1]]",
    one: "UnravelIndex(i64 22, i64 [2 3 4]) = i64 [1 2 2]",
    no_axes: "UnravelIndex([0], i32[0] []) = i32[0,1] []",
    nothing: "UnravelIndex(i32[0] [], [2 3]) = i32[2,0] []",
    shapes: "UnravelIndex(i32[?], i32[3]) : i32[3,?]",
    shape_of_one: "UnravelIndex(i32[], i32[3]) : i32[3]",
    inside: "UnravelIndex([9], [3 3]) ! `indices` has the position 9",
    not_below: "UnravelIndex([-1], [3 3]) ! `indices` has the position -1",
    sizes: "UnravelIndex([0], [3 0]) ! all sizes must be positive",
    too_large: "UnravelIndex(i64[1] [0], i64 [4611686018427387904 4]) ! more than 2^63 elements",
    a_vector: "UnravelIndex([[0]], [3 3]) ! `indices` must be a scalar or a vector",
}
