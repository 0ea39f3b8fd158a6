//! `FractionalMaxPool` and `FractionalMaxPoolGrad`: the largest cells of windows of two sizes, and the
//! gradient.
//!
//! As in TensorFlow, the largest cell of a window is the first of equal ones, and a NaN is never larger than
//! another cell.

use super::fractional::{CELLS, Call, Draws, pool};
use crate::number::{RealElement, no_kernel};
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{Bool, OneOf, Spec};
use millstream_graph::op::{BuildCx, Cost, Effect, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef, Run};
use millstream_tensor::DType::I64;
use millstream_tensor::{Element, Result, Tensor, ensure, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    [
        pool(OpDef::new("FractionalMaxPool"))
            .doc(
                "Returns the largest element of each window and each channel of images, `[batch, rows, columns, \
                 channels]`. The windows are those of FractionalAvgPool.",
            )
            .kernel(Kernel::build(Effect::Stateful, build).cost(Cost::PerElement(4.0)))
            .gradient(Gradient::of(grad)),
        OpDef::new("FractionalMaxPoolGrad")
            .doc(
                "Adds `out_backprop`, the gradient of each window of a FractionalMaxPool of `orig_input`, to the \
                 largest cell of the window.",
            )
            .input("orig_input", "T")
            .input("orig_output", "T")
            .input("out_backprop", "T")
            .input("row_pooling_sequence", I64)
            .input("col_pooling_sequence", I64)
            .output("output", "T")
            .attr("overlapping", Bool.or(false))
            .attr("T", OneOf(CELLS))
            .infer(infer_grad)
            .kernel(Kernel::pure(run_grad).cost(Cost::PerElement(8.0)))
            .gradient(Gradient::Missing("as in TensorFlow, a fractional pool has no second derivative")),
    ]
}

fn infer_grad(cx: &mut InferCx) -> Result<()> {
    let shape = cx.with_rank(0, 4)?;
    cx.set(0, shape);
    Ok(())
}

fn build(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let draws = Draws::of(cx)?;
    Ok(Box::new(move |cx: &mut KernelCx| {
        let call = Call::draw(cx, &draws, "max")?;
        let value = cx.take(0);
        let out = with_element!(value.dtype(), T in [F32 F64 I32 I64] => maxima::<T>(&call, value.as_slice()?),
            else => Err(no_kernel("FractionalMaxPool", value.dtype())))?;
        cx.set(0, out);
        cx.set(1, call.borders(0)?);
        cx.set(2, call.borders(1)?);
        Ok(())
    }))
}

fn maxima<T: Element + RealElement>(call: &Call, image: &[T]) -> Result<Tensor> {
    let mut out = Tensor::zeros(T::DTYPE, call.output)?;
    let (cells, depth) = (fresh::<T>(&mut out)?, call.output[3]);
    call.each(|p| {
        let row = &mut cells[p * depth..][..depth];
        row.fill(T::LEAST_FINITE);
        call.cells(p, |at| {
            for (best, x) in row.iter_mut().zip(&image[at..]) {
                if *best < *x {
                    *best = *x;
                }
            }
        });
    })?;
    Ok(out)
}

fn run_grad(cx: &mut KernelCx) -> Result<()> {
    let (output, grads) = (cx.input(1).shape(), cx.input(2).shape());
    ensure!(
        output == grads,
        "`orig_output` has shape {output} but its gradient `out_backprop` has shape {grads}"
    );
    let call = Call::given(cx, 3, &cx.input(0).shape().clone())?;
    let (image, grads) = (cx.take(0), cx.take(2));
    let out = with_element!(image.dtype(), T in [F32 F64 I32 I64] => spread::<T>(&call, image.as_slice()?, grads.as_slice()?),
        else => Err(no_kernel("FractionalMaxPoolGrad", image.dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn spread<T: Element + RealElement>(call: &Call, image: &[T], grads: &[T]) -> Result<Tensor> {
    let mut out = Tensor::zeros(T::DTYPE, call.input)?;
    let (sums, depth) = (fresh::<T>(&mut out)?, call.output[3]);
    call.each(|p| {
        for (c, g) in grads[p * depth..][..depth].iter().enumerate() {
            let mut best: Option<(usize, T)> = None;
            call.cells(p, |at| {
                let x = image[at + c];
                if best.is_none_or(|(_, best)| best < x) {
                    best = Some((at + c, x));
                }
            });
            if let Some((at, _)) = best {
                sums[at] = sums[at].add(*g);
            }
        }
    })?;
    Ok(out)
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x, y, rows, columns) = (cx.grad(0), cx.input(0), cx.output(0), cx.output(1), cx.output(2));
    let node = cx.op("FractionalMaxPoolGrad").inputs([x, y, dy, rows, columns]);
    let dx = node.attr("overlapping", cx.attrs().bool("overlapping")?).output();
    cx.give(0, dx);
    Ok(())
}

cases! {
    of_equal_windows: "FractionalMaxPool([[[[1.0] [2.0] [3.0] [4.0]] [[5.0] [6.0] [7.0] [-8.0]]]]; pooling_ratio={1.0, 2.0, 2.0, 1.0}) = [[[[6.0] [7.0]]]], i64[2] [0 2], i64[3] [0 2 4]",
    of_one_window: "FractionalMaxPool([[[[1.0] [7.0] [6.0]]]]; pooling_ratio={1.0, 1.0, 2.5, 1.0}, pseudo_random=true, deterministic=true, seed=3) = [[[[7.0]]]], i64[2] [0 1], i64[2] [0 3]",
    overlapping: "FractionalMaxPool(i64[1,1,4,1] [[[[1] [2] [9] [4]]]]; pooling_ratio={1.0, 1.0, 2.0, 1.0}, overlapping=true) = i64[1,1,2,1] [[[[9] [9]]]], i64[2] [0 1], i64[3] [0 2 4]",
    back: "FractionalMaxPoolGrad([[[[1.0] [5.0] [5.0]]]], [[[[5.0] [5.0]]]], [[[[3.0] [4.0]]]], i64[2] [0 1], i64[3] [0 1 3]; overlapping=true) = [[[[0.0] [7.0] [0.0]]]]",
    infers: "FractionalMaxPool(f32[?,7,?,3]; pooling_ratio={1.0, 1.5, 2.0, 1.0}) : f32[?,4,?,3], i64[5], i64[?]",
    infers_back: "FractionalMaxPoolGrad(f64[1,?,3,4], f64[..], f64[..], i64[?], i64[?]) : f64[1,?,3,4]",
    four_ratios: "FractionalMaxPool(f32[1,2,2,1]; pooling_ratio={1.0, 1.0, 1.0, 1.0, 1.0}) ! pooling_ratio field must specify 4 dimensions",
    a_window_is_left: "FractionalMaxPool([[[[1.0]]]]; pooling_ratio={1.0, 1.0, 2.0, 1.0}) ! Pooling ratio is higher than input dimension size for dimension 2",
    gradient_fits: "FractionalMaxPoolGrad([[[[1.0] [5.0] [5.0]]]], [[[[5.0] [5.0]]]], [[[[3.0]]]], i64[2] [0 1], i64[3] [0 1 3]) ! `orig_output` has shape [1,1,2,1]",
    within_the_image: "FractionalMaxPoolGrad([[[[1.0] [5.0] [5.0]]]], [[[[5.0] [5.0]]]], [[[[3.0] [4.0]]]], i64[2] [0 1], i64[3] [0 -1 3]) ! `col_pooling_sequence` must increase from 0 to at most 3",
    windows_fit: "FractionalMaxPoolGrad([[[[1.0] [5.0] [5.0]]]], [[[[5.0] [5.0]]]], [[[[3.0] [4.0]]]], i64[2] [0 1], i64[2] [0 3]) ! `col_pooling_sequence` has shape [2]",
}
