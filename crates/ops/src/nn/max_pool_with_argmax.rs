//! `MaxPoolWithArgmax`: the largest cell of each window, and its index; and the ops of its gradient,
//! `MaxPoolGradWithArgmax` and `MaxPoolGradGradWithArgmax`.
//!
//! The index of a cell is `(row * columns + column) * channels + channel`, or, if `include_batch_in_index` is
//! true, that of the cell in the whole batch.

use super::pool::{Call, cost, infer_input, infer_output, largest, node, output_of};
use crate::number::{Num as _, RealElement as _, no_kernel};
use crate::shared::casting::cast;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{Bool, IndexType, IntList, RealNumber, Spec, Words};
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I64;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, Tensor, invalid, with_element};
use std::ops::Range;

pub(crate) fn def() -> [OpDef; 3] {
    let attrs = |def: OpDef| {
        def.attr("ksize", IntList)
            .attr("strides", IntList)
            .attr("padding", Words(&["SAME", "VALID"]))
            .attr("include_batch_in_index", Bool.or(false))
            .attr("T", RealNumber)
    };
    let back = |name| {
        let def = OpDef::new(name).input("input", "T").input("grad", "T").input("argmax", "Targmax");
        attrs(def.output("output", "T")).attr("Targmax", IndexType)
    };
    [
        attrs(OpDef::new("MaxPoolWithArgmax").input("input", "T").output("output", "T").output("argmax", "Targmax"))
            .attr("Targmax", IndexType.or(I64))
            .doc(
                "Returns, for each window of `ksize` cells and each channel, the largest cell of `input`, and its \
                 index `(row * columns + column) * channels + channel`. With `include_batch_in_index`, indices \
                 count over all images.",
            )
            .infer(infer)
            .kernel(Kernel::pure(run).scratch(8).cost(Cost::Estimate(cost)))
            .gradient(Gradient::of(grad)),
        back("MaxPoolGradWithArgmax")
            .doc("Adds `grad`, the gradient of each window of a MaxPoolWithArgmax, to the cell at `argmax`.")
            .infer(infer_grad)
            .kernel(Kernel::pure(run_grad).scratch(8).cost(Cost::Estimate(cost)))
            .gradient(Gradient::of(|cx| grad_of(cx, "MaxPoolGradGradWithArgmax"))),
        back("MaxPoolGradGradWithArgmax")
            .doc("Returns, for each window of a MaxPoolWithArgmax, the cell of `grad` at `argmax`.")
            .infer(infer_back)
            .kernel(Kernel::pure(run_back).scratch(8).cost(Cost::Estimate(cost)))
            .gradient(Gradient::of(|cx| grad_of(cx, "MaxPoolGradWithArgmax"))),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = output_of(cx, 2)?;
    cx.set(0, shape.clone());
    cx.set(1, shape);
    Ok(())
}

fn infer_grad(cx: &mut InferCx) -> Result<()> {
    cx.merge(1, 2)?;
    infer_input(cx, 2)
}

fn infer_back(cx: &mut InferCx) -> Result<()> {
    cx.merge(0, 1)?;
    infer_output(cx, 2)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let call = Call::of(cx, 2, cx.input(0).shape(), false)?;
    let (images, wanted) = (cx.attrs().bool("include_batch_in_index")?, cx.attrs().dtype("Targmax")?);
    let input = cx.take(0);
    let mut argmax = Tensor::zeros(I64, call.output.clone())?;
    let mut out = Tensor::anything(input.dtype(), call.output.clone())?;
    with_element!(input.dtype(), T in reals => {
        let (cells, places) = (input.as_slice::<T>()?, fresh::<i64>(&mut argmax)?);
        call.each_window(places, |n, p, row| {
            largest(&call.windows, call.image(cells, n), p, |c, at| row[c] = at as i64);
        })?;
        for (i, (out, at)) in fresh::<T>(&mut out)?.iter_mut().zip(places).enumerate() {
            let image = image_of(&call, i);
            *out = cells.get(image.start + *at as usize).copied().unwrap_or(T::LEAST_FINITE);
            *at += if images { image.start as i64 } else { 0 };
        }
        Ok(())
    }, else => Err(no_kernel(cx.node.op.name, input.dtype())))?;
    cx.set(0, out);
    cx.set(1, cast(&argmax, wanted)?);
    Ok(())
}

/// The positions in the batch of the cells of the image that cell `i` of the output belongs to.
fn image_of(call: &Call, i: usize) -> Range<usize> {
    let per_image = call.windows.per_image() * call.windows.channels;
    let first = i / per_image.max(1) * call.windows.image();
    first..first + call.windows.image()
}

/// The position in the batch of the cell that `argmax` names for cell `i` of the output.
fn place(call: &Call, i: usize, argmax: i64, images: bool) -> Result<usize> {
    let image = image_of(call, i);
    let place =
        usize::try_from(argmax).ok().and_then(|at| at.checked_add(if images { 0 } else { image.start }));
    place.filter(|at| image.contains(at)).ok_or_else(|| {
        invalid!(
            "Invalid input backprop index: {argmax}, {}, {}", image.start, image.end;
            "`argmax` names a cell that is not in the image of its window"
        )
    })
}

fn run_grad(cx: &mut KernelCx) -> Result<()> {
    let call = Call::of(cx, 2, cx.input(0).shape(), false)?;
    call.expect(cx, 1, false)?;
    call.expect(cx, 2, false)?;
    let images = cx.attrs().bool("include_batch_in_index")?;
    let (grads, argmax) = (cx.input(1), cast(cx.input(2), I64)?);
    let mut out = Tensor::zeros(grads.dtype(), cx.input(0).shape().clone())?;
    with_element!(grads.dtype(), T in reals => {
        let (cells, mut pace) = (fresh::<T>(&mut out)?, Pace::new());
        for (i, (g, at)) in grads.as_slice::<T>()?.iter().zip(argmax.as_slice::<i64>()?).enumerate() {
            pace.spend(1)?;
            let at = place(&call, i, *at, images)?;
            cells[at] = cells[at].add(*g);
        }
        Ok(())
    }, else => Err(no_kernel(cx.node.op.name, grads.dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn run_back(cx: &mut KernelCx) -> Result<()> {
    let call = Call::of(cx, 2, cx.input(0).shape(), false)?;
    call.expect(cx, 1, true)?;
    call.expect(cx, 2, false)?;
    let images = cx.attrs().bool("include_batch_in_index")?;
    let (grads, argmax) = (cx.input(1), cast(cx.input(2), I64)?);
    let mut out = Tensor::zeros(grads.dtype(), call.output.clone())?;
    with_element!(grads.dtype(), T in reals => {
        let (grads, mut pace) = (grads.as_slice::<T>()?, Pace::new());
        for (i, (out, at)) in fresh::<T>(&mut out)?.iter_mut().zip(argmax.as_slice::<i64>()?).enumerate() {
            pace.spend(1)?;
            *out = grads[place(&call, i, *at, images)?];
        }
        Ok(())
    }, else => Err(no_kernel(cx.node.op.name, grads.dtype())))?;
    cx.set(0, out);
    Ok(())
}

// Which cell is the largest changes nowhere but at ties.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (input, argmax, dy) = (cx.input(0), cx.output(1), cx.grad(0));
    let dx = node(cx, "MaxPoolGradWithArgmax", [input, dy, argmax]);
    cx.give(0, dx);
    Ok(())
}

// Both are linear in `grad` and each other's transpose.
fn grad_of(cx: &mut GradCx, back: &'static str) -> Result<()> {
    if cx.wants(1) {
        let (input, argmax, dy) = (cx.input(0), cx.input(2), cx.grad(0));
        let ddy = node(cx, back, [input, dy, argmax]);
        cx.give(1, ddy);
    }
    if cx.wants(0) {
        let zeros = cx.zeros_like_input(0);
        cx.give(0, zeros);
    }
    Ok(())
}

cases! {
    overlapping: "MaxPoolWithArgmax([[[[12.0 38.0] [9.0 45.0] [31.0 28.0] [13.0 46.0]] [[43.0 6.0] [36.0 23.0] [37.0 18.0] [4.0 25.0]] [[16.0 15.0] [30.0 11.0] [7.0 39.0] [27.0 34.0]]] [[[44.0 5.0] [41.0 1.0] [35.0 2.0] [22.0 33.0]] [[17.0 26.0] [14.0 29.0] [20.0 32.0] [47.0 40.0]] [[10.0 19.0] [21.0 0.0] [8.0 3.0] [24.0 42.0]]]]; ksize={1, 2, 3, 1}, strides={1, 1, 2, 1}, padding=\"SAME\") = [[[[43.0 45.0] [37.0 46.0]] [[43.0 39.0] [37.0 39.0]] [[30.0 39.0] [27.0 39.0]]] [[[44.0 32.0] [47.0 40.0]] [[21.0 32.0] [47.0 42.0]] [[21.0 19.0] [24.0 42.0]]]], i64 [[[[8 3] [12 7]] [[8 21] [12 21]] [[18 21] [22 21]]] [[[0 13] [14 15]] [[18 13] [14 23]] [[18 17] [22 23]]]]",
    over_images: "MaxPoolWithArgmax([[[[12.0 38.0] [9.0 45.0] [31.0 28.0] [13.0 46.0]] [[43.0 6.0] [36.0 23.0] [37.0 18.0] [4.0 25.0]] [[16.0 15.0] [30.0 11.0] [7.0 39.0] [27.0 34.0]]] [[[44.0 5.0] [41.0 1.0] [35.0 2.0] [22.0 33.0]] [[17.0 26.0] [14.0 29.0] [20.0 32.0] [47.0 40.0]] [[10.0 19.0] [21.0 0.0] [8.0 3.0] [24.0 42.0]]]]; ksize={1, 2, 3, 1}, strides={1, 1, 2, 1}, padding=\"SAME\", include_batch_in_index=true) = [[[[43.0 45.0] [37.0 46.0]] [[43.0 39.0] [37.0 39.0]] [[30.0 39.0] [27.0 39.0]]] [[[44.0 32.0] [47.0 40.0]] [[21.0 32.0] [47.0 42.0]] [[21.0 19.0] [24.0 42.0]]]], i64 [[[[8 3] [12 7]] [[8 21] [12 21]] [[18 21] [22 21]]] [[[24 37] [38 39]] [[42 37] [38 47]] [[42 41] [46 47]]]]",
    narrow_indices: "MaxPoolWithArgmax([[[[12.0 38.0] [9.0 45.0] [31.0 28.0] [13.0 46.0]] [[43.0 6.0] [36.0 23.0] [37.0 18.0] [4.0 25.0]] [[16.0 15.0] [30.0 11.0] [7.0 39.0] [27.0 34.0]]]]; ksize={1, 2, 3, 1}, strides={1, 1, 2, 1}, padding=\"SAME\", Targmax=i32) = [[[[43.0 45.0] [37.0 46.0]] [[43.0 39.0] [37.0 39.0]] [[30.0 39.0] [27.0 39.0]]]], [[[[8 3] [12 7]] [[8 21] [12 21]] [[18 21] [22 21]]]]",
    first_of_equals: "MaxPoolWithArgmax([[[[1.0] [1.0]]]]; ksize={1, 1, 2, 1}, strides={1, 1, 1, 1}, padding=\"VALID\") = [[[[1.0]]]], i64 [[[[0]]]]",
    to_argmax: "MaxPoolGradWithArgmax([[[[12.0 38.0] [9.0 45.0] [31.0 28.0] [13.0 46.0]] [[43.0 6.0] [36.0 23.0] [37.0 18.0] [4.0 25.0]] [[16.0 15.0] [30.0 11.0] [7.0 39.0] [27.0 34.0]]] [[[44.0 5.0] [41.0 1.0] [35.0 2.0] [22.0 33.0]] [[17.0 26.0] [14.0 29.0] [20.0 32.0] [47.0 40.0]] [[10.0 19.0] [21.0 0.0] [8.0 3.0] [24.0 42.0]]]], [[[[4.0 3.0] [1.0 -3.0]] [[-3.0 -3.0] [1.0 1.0]] [[3.0 0.0] [-1.0 -4.0]]] [[[-4.0 -4.0] [-4.0 -2.0]] [[-2.0 3.0] [-4.0 1.0]] [[-4.0 -3.0] [0.0 -3.0]]]], i64 [[[[8 3] [12 7]] [[8 21] [12 21]] [[18 21] [22 21]]] [[[0 13] [14 15]] [[18 13] [14 23]] [[18 17] [22 23]]]]; ksize={1, 2, 3, 1}, strides={1, 1, 2, 1}, padding=\"SAME\") = [[[[0.0 0.0] [0.0 3.0] [0.0 0.0] [0.0 -3.0]] [[1.0 0.0] [0.0 0.0] [2.0 0.0] [0.0 0.0]] [[0.0 0.0] [3.0 0.0] [0.0 -6.0] [-1.0 0.0]]] [[[-4.0 0.0] [0.0 0.0] [0.0 0.0] [0.0 0.0]] [[0.0 0.0] [0.0 0.0] [0.0 -1.0] [-8.0 -2.0]] [[0.0 -3.0] [-6.0 0.0] [0.0 0.0] [0.0 -2.0]]]]",
    to_argmax_over_images: "MaxPoolGradWithArgmax([[[[12.0 38.0] [9.0 45.0] [31.0 28.0] [13.0 46.0]] [[43.0 6.0] [36.0 23.0] [37.0 18.0] [4.0 25.0]] [[16.0 15.0] [30.0 11.0] [7.0 39.0] [27.0 34.0]]] [[[44.0 5.0] [41.0 1.0] [35.0 2.0] [22.0 33.0]] [[17.0 26.0] [14.0 29.0] [20.0 32.0] [47.0 40.0]] [[10.0 19.0] [21.0 0.0] [8.0 3.0] [24.0 42.0]]]], [[[[4.0 3.0] [1.0 -3.0]] [[-3.0 -3.0] [1.0 1.0]] [[3.0 0.0] [-1.0 -4.0]]] [[[-4.0 -4.0] [-4.0 -2.0]] [[-2.0 3.0] [-4.0 1.0]] [[-4.0 -3.0] [0.0 -3.0]]]], i64 [[[[8 3] [12 7]] [[8 21] [12 21]] [[18 21] [22 21]]] [[[24 37] [38 39]] [[42 37] [38 47]] [[42 41] [46 47]]]]; ksize={1, 2, 3, 1}, strides={1, 1, 2, 1}, padding=\"SAME\", include_batch_in_index=true) = [[[[0.0 0.0] [0.0 3.0] [0.0 0.0] [0.0 -3.0]] [[1.0 0.0] [0.0 0.0] [2.0 0.0] [0.0 0.0]] [[0.0 0.0] [3.0 0.0] [0.0 -6.0] [-1.0 0.0]]] [[[-4.0 0.0] [0.0 0.0] [0.0 0.0] [0.0 0.0]] [[0.0 0.0] [0.0 0.0] [0.0 -1.0] [-8.0 -2.0]] [[0.0 -3.0] [-6.0 0.0] [0.0 0.0] [0.0 -2.0]]]]",
    of_argmax: "MaxPoolGradGradWithArgmax([[[[12.0 38.0] [9.0 45.0] [31.0 28.0] [13.0 46.0]] [[43.0 6.0] [36.0 23.0] [37.0 18.0] [4.0 25.0]] [[16.0 15.0] [30.0 11.0] [7.0 39.0] [27.0 34.0]]] [[[44.0 5.0] [41.0 1.0] [35.0 2.0] [22.0 33.0]] [[17.0 26.0] [14.0 29.0] [20.0 32.0] [47.0 40.0]] [[10.0 19.0] [21.0 0.0] [8.0 3.0] [24.0 42.0]]]], [[[[-2.0 -2.0] [0.0 4.0] [-4.0 2.0] [-4.0 0.0]] [[-3.0 1.0] [-3.0 4.0] [4.0 3.0] [-4.0 -4.0]] [[-3.0 3.0] [4.0 3.0] [0.0 -4.0] [-4.0 0.0]]] [[[-1.0 -4.0] [4.0 -2.0] [3.0 -2.0] [-3.0 -1.0]] [[-2.0 0.0] [-3.0 -2.0] [-2.0 3.0] [-1.0 0.0]] [[-3.0 2.0] [3.0 -3.0] [-4.0 -4.0] [1.0 4.0]]]], i64 [[[[8 3] [12 7]] [[8 21] [12 21]] [[18 21] [22 21]]] [[[0 13] [14 15]] [[18 13] [14 23]] [[18 17] [22 23]]]]; ksize={1, 2, 3, 1}, strides={1, 1, 2, 1}, padding=\"SAME\") = [[[[-3.0 4.0] [4.0 0.0]] [[-3.0 -4.0] [4.0 -4.0]] [[4.0 -4.0] [-4.0 -4.0]]] [[[-1.0 3.0] [-1.0 0.0]] [[3.0 3.0] [-1.0 4.0]] [[3.0 2.0] [1.0 4.0]]]]",
    of_argmax_over_images: "MaxPoolGradGradWithArgmax([[[[12.0 38.0] [9.0 45.0] [31.0 28.0] [13.0 46.0]] [[43.0 6.0] [36.0 23.0] [37.0 18.0] [4.0 25.0]] [[16.0 15.0] [30.0 11.0] [7.0 39.0] [27.0 34.0]]] [[[44.0 5.0] [41.0 1.0] [35.0 2.0] [22.0 33.0]] [[17.0 26.0] [14.0 29.0] [20.0 32.0] [47.0 40.0]] [[10.0 19.0] [21.0 0.0] [8.0 3.0] [24.0 42.0]]]], [[[[-2.0 -2.0] [0.0 4.0] [-4.0 2.0] [-4.0 0.0]] [[-3.0 1.0] [-3.0 4.0] [4.0 3.0] [-4.0 -4.0]] [[-3.0 3.0] [4.0 3.0] [0.0 -4.0] [-4.0 0.0]]] [[[-1.0 -4.0] [4.0 -2.0] [3.0 -2.0] [-3.0 -1.0]] [[-2.0 0.0] [-3.0 -2.0] [-2.0 3.0] [-1.0 0.0]] [[-3.0 2.0] [3.0 -3.0] [-4.0 -4.0] [1.0 4.0]]]], i64 [[[[8 3] [12 7]] [[8 21] [12 21]] [[18 21] [22 21]]] [[[24 37] [38 39]] [[42 37] [38 47]] [[42 41] [46 47]]]]; ksize={1, 2, 3, 1}, strides={1, 1, 2, 1}, padding=\"SAME\", include_batch_in_index=true) = [[[[-3.0 4.0] [4.0 0.0]] [[-3.0 -4.0] [4.0 -4.0]] [[4.0 -4.0] [-4.0 -4.0]]] [[[-1.0 3.0] [-1.0 0.0]] [[3.0 3.0] [-1.0 4.0]] [[3.0 2.0] [1.0 4.0]]]]",
    infers: "MaxPoolWithArgmax(f32[?,7,8,3]; ksize={1, 3, 3, 1}, strides={1, 2, 2, 1}, padding=\"SAME\") : f32[?,4,4,3], i64[?,4,4,3]",
    infers_input: "MaxPoolGradWithArgmax(f32[?,7,8,3], f32[..], i64[..]; ksize={1, 3, 3, 1}, strides={1, 2, 2, 1}, padding=\"SAME\") : f32[?,7,8,3]",
    infers_back: "MaxPoolGradGradWithArgmax(f32[?,7,8,3], f32[..], i64[..]; ksize={1, 3, 3, 1}, strides={1, 2, 2, 1}, padding=\"SAME\") : f32[?,4,4,3]",
    within_the_image: "MaxPoolGradWithArgmax([[[[1.0] [1.0]]]], [[[[1.0]]]], i64 [[[[2]]]]; ksize={1, 1, 2, 1}, strides={1, 1, 1, 1}, padding=\"VALID\") ! Invalid input backprop index: 2, 0, 2",
    not_negative: "MaxPoolGradGradWithArgmax([[[[1.0] [1.0]]]], [[[[1.0] [2.0]]]], i64 [[[[-1]]]]; ksize={1, 1, 2, 1}, strides={1, 1, 1, 1}, padding=\"VALID\") ! Invalid input backprop index: -1, 0, 2",
    not_of_channels: "MaxPoolWithArgmax([[[[1.0 2.0]]]]; ksize={1, 1, 1, 2}, strides={1, 1, 1, 2}, padding=\"VALID\") ! Non-spatial pooling",
    four_sizes: "MaxPoolWithArgmax(f32[1,2,2,1]; ksize={1, 2, 2}, strides={1, 1, 1, 1}, padding=\"VALID\") ! passed list of length 3 less than minimum 4",
}
