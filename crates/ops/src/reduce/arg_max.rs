//! `ArgMax`, `ArgMin`: the index of the greatest or least element along an axis.

use crate::number::no_kernel;
use crate::shared::casting::cast;
use millstream_graph::op::spec::{IndexType, OneOf, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef, RunFn};
use millstream_tensor::DType::*;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Element, PartialShape, Result, Shape, Tensor, ensure, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    let def = |name, doc, run: RunFn| {
        OpDef::new(name)
            .doc(doc)
            .input("input", "T")
            .input("dimension", "Tidx")
            .on_host()
            .output("output", "output_type")
            .attr("T", OneOf(&[F16, BF16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Bool]))
            .attr("Tidx", IndexType.or(I32))
            .attr("output_type", OneOf(&[I16, U16, I32, I64]).or(I64))
            .infer(infer)
            .kernel(Kernel::pure(run))
    };
    [
        def(
            "ArgMax",
            "Returns the index of the greatest element along `dimension`. If several are equal, returns the \
             first. NaNs are ignored, unless all elements are NaN.",
            |cx| run(cx, false),
        ),
        def(
            "ArgMin",
            "Returns the index of the least element along `dimension`. If several are equal, returns the \
             first. NaNs are ignored, unless all elements are NaN.",
            |cx| run(cx, true),
        ),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    let Some(dims) = cx.input(0).dims() else { return Ok(()) };
    // TensorFlow checks the axis of a scalar or a vector only in the run.
    if dims.len() <= 1 {
        cx.set(0, PartialShape::scalar());
        return Ok(());
    }
    let shape = match cx.int(1) {
        Some(axis) => {
            let rank = dims.len();
            let axis = crate::shared::axes::input_axis("dimension", axis, rank).map_err(|e| {
                e.led_by(format!(
                    "Dimension ({axis}) must be in the range [-{rank}, {rank}), where {rank} is the number of dimensions in the input."
                ))
            })?;
            PartialShape::new(dims.iter().enumerate().filter(|(i, _)| *i != axis).map(|(_, d)| *d))
        }
        None => PartialShape::unknown_of_rank(dims.len().saturating_sub(1)),
    };
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx, least: bool) -> Result<()> {
    ensure!(
        cx.input(1).rank() == 0,
        "dim must be a scalar, but received tensor of shape: {}", cx.input(1).shape();
        "`dimension` must be a scalar but has shape {}", cx.input(1).shape()
    );
    let (input, op) = (cx.input(0), cx.node.op.name);
    let (axis, rank) = (cx.int(1)?, input.rank());
    let axis = crate::shared::axes::input_axis("dimension", axis, rank).map_err(|e| {
        e.led_by(format!("Expected dimension in the range [{}, {rank}), but got {axis}", -(rank as i64)))
    })?;
    ensure!(input.shape()[axis] != 0, "Reduction axis {axis} is empty in shape {}", input.shape(); "{op}: axis {axis} of shape {} is empty", input.shape());
    let index = cx.attrs().dtype("output_type")?;
    let out = with_element!(input.dtype(), T in [F16 F32 F64 BF16 I8 I16 I32 I64 U8 U16 U32 U64 Bool] => match least {
        false => positions(input, axis, T::gt),
        true => positions(input, axis, T::lt),
    }, else => Err(no_kernel(op, input.dtype())))?;
    cx.set(0, cast(&out, index)?);
    Ok(())
}

/// Returns the index of the best element along `axis`, as I64.
fn positions<T: Element>(input: &Tensor, axis: usize, better: impl Fn(&T, &T) -> bool) -> Result<Tensor> {
    let shape = input.shape();
    let n = shape[axis];
    let inner: usize = shape[axis + 1..].iter().product();
    let out = Shape::new(shape.iter().enumerate().filter(|(i, _)| *i != axis).map(|(_, d)| *d));
    let xs = input.as_slice::<T>()?;
    // An empty input has an empty result.
    if xs.is_empty() {
        return Tensor::zeros(I64, out);
    }
    let mut out = Tensor::zeros(I64, out)?;
    let places = out.make_mut_or_copy::<i64>()?;
    let mut pace = Pace::new();
    for (places, plane) in places.chunks_exact_mut(inner).zip(xs.chunks_exact(n * inner)) {
        for (j, place) in places.iter_mut().enumerate() {
            let mut best = (0, plane[j]);
            let mut start = false;
            #[expect(clippy::eq_op, reason = "only NaN differs from itself")]
            for (i, &x) in plane[j..].iter().step_by(inner).enumerate() {
                pace.spend(1)?;
                // A NaN at the start is replaced by the first number.
                if better(&x, &best.1) || (!start && best.1 != best.1 && x == x) {
                    best = (i, x);
                }
                start |= x == x;
            }
            *place = best.0 as i64;
        }
    }
    Ok(out)
}

cases! {
    of_columns: "ArgMax([[1 5] [4 3]], 0) = i64[2] [1 0]",
    of_rows: "ArgMax([[1.0 5.0] [4.0 3.0]], -1; output_type=i32) = [1 0]",
    first_of_equals: "ArgMax([2 7 7], 0) = i64[] 1",
    nan_is_passed_over: "ArgMax([nan 1.0 2.0], 0) = i64[] 2",
    only_nan: "ArgMax([nan nan], 0) = i64[] 0",
    least: "ArgMin([[1 5] [4 3]], 0) = i64[2] [0 1]",
    least_with_nan: "ArgMin([nan 1.0 2.0], 0) = i64[] 1",
    shape: "ArgMax(f32[?,3,5], 1) : i64[?,5]",
    unknown_axis: "ArgMin(f32[?,3,5], i32[]) : i64[?,?]",
    axis_out_of_range: "ArgMax([1], 1) ! `dimension` is 1 but the input has rank 1",
    empty_axis: "ArgMax(f32[0,2], 0) : i64[2]",
    of_nothing: "ArgMax(f32[0] [], 0) ! axis 0 of shape [0] is empty",
}
