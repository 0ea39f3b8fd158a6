//! `Dilation2D`, `Dilation2DBackpropInput`, `Dilation2DBackpropFilter`: grayscale dilation, and its
//! gradients.

use super::windows::{Layout, Windows};
use crate::number::{Num as _, RealElement, no_kernel};
use crate::shared::elementwise::fresh;
use crate::shared::pieces::in_pieces;
use millstream_graph::Attrs;
use millstream_graph::op::spec::{IntList, RealNumber, Words};
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, NodeInfo, OpDef};
use millstream_tensor::pace::Pace;
use millstream_tensor::{
    Code, Dim, Error, PartialShape, Result, Shape, Tensor, ensure, invalid, with_element,
};

pub(crate) fn def() -> [OpDef; 3] {
    let op = |name, out| {
        let def = OpDef::new(name).input("input", "T").input("filter", "T");
        let def = if out == "output" { def } else { def.input("out_backprop", "T") };
        def.output(out, "T")
            .attr("T", RealNumber)
            .attr("strides", IntList)
            .attr("rates", IntList)
            .attr("padding", Words(&["SAME", "VALID"]))
    };
    [
        op("Dilation2D", "output")
            .doc(
                "Returns, for each window of the images and each channel, the largest sum of a pixel and the \
                 filter's entry `[row, column, channel]` there. The pixels of a window are `rates` apart, and \
                 windows `strides`. The dilation of negated images with a mirrored filter is a negated erosion.",
            )
            .infer(infer)
            .kernel(Kernel::pure(run).cost(Cost::Estimate(cost)))
            .gradient(Gradient::of(grad)),
        op("Dilation2DBackpropInput", "in_backprop")
            .doc("Adds `out_backprop`, the gradient of each window of a Dilation2D, to the pixel of the largest sum.")
            .infer(|cx| infer_like(cx, 0))
            .kernel(Kernel::pure(run_to_input).cost(Cost::Estimate(cost)))
            .gradient(Gradient::Missing("as in TensorFlow, a dilation has no second derivative")),
        op("Dilation2DBackpropFilter", "filter_backprop")
            .doc(
                "Adds `out_backprop`, the gradient of each window of a Dilation2D, to the filter's entry of the \
                 largest sum.",
            )
            .infer(|cx| infer_like(cx, 1))
            .kernel(Kernel::pure(run_to_filter).cost(Cost::Estimate(cost)))
            .gradient(Gradient::Missing("as in TensorFlow, a dilation has no second derivative")),
    ]
}

/// Reads the attributes.
fn layout(op: &str, attrs: &Attrs) -> Result<Layout> {
    for (name, words) in [
        ("strides", "Current implementation does not yet support strides in the batch and depth dimensions."),
        ("rates", "Current implementation does not yet support rates in the batch and depth dimensions."),
    ] {
        let list = attrs.ints(name)?;
        ensure!(
            4 <= list.len(),
            "Attr '{name}' of '{op}' Op passed list of length {} less than minimum 4.", list.len();
            "`{name}` is {list:?}, which must have four entries"
        );
        ensure!(list.len() == 4, "`{name}` is {list:?}, which must have four entries");
        if list[0] != 1 || list[3] != 1 {
            return Err(Error::unimplemented(format!("{words}\n`{name}` is {list:?}")));
        }
    }
    let mut attrs = attrs.clone();
    attrs.set("data_format", "NHWC");
    attrs.set("dilations", attrs.ints("rates")?);
    Layout::of(op, &attrs, 2)
}

fn same_depth(input: Dim, filter: Dim) -> Result<()> {
    match (input, filter) {
        (Some(a), Some(b)) if a != b => Err(invalid!(
            "input and filter must have the same depth: {a} vs {b}";
            "the images have {a} channels, and the filter, `[rows, columns, channels]`, has {b}"
        )),
        _ => Ok(()),
    }
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (images, filter) = (cx.with_rank(0, 4)?, cx.with_rank(1, 3)?);
    let layout = match layout(cx.node().op.name, cx.attrs()) {
        // As in TensorFlow, what no kernel computes is an error of the run.
        Err(error) if error.code() == Code::Unimplemented => return Ok(()),
        found => found?,
    };
    let (batch, spatial, depth) = layout.parts(&images);
    same_depth(depth, filter.dim(2))?;
    let rows = layout.output(0, spatial[0], filter.dim(0))?;
    let columns = layout.output(1, spatial[1], filter.dim(1))?;
    cx.set(0, PartialShape::from([batch, rows, columns, depth.or(filter.dim(2))]));
    Ok(())
}

fn infer_like(cx: &mut InferCx, i: usize) -> Result<()> {
    let shapes = [cx.with_rank(0, 4)?, cx.with_rank(1, 3)?];
    cx.with_rank(2, 4)?;
    cx.set(0, shapes[i].clone());
    Ok(())
}

/// Each pixel is in a few windows.
fn cost(_: &NodeInfo, inputs: &[Tensor]) -> f64 {
    inputs.iter().map(|t| t.elements() as f64).fold(0.0, f64::max) * 8.0
}

/// The windows of a call, and the shape of its output.
fn windows(cx: &KernelCx) -> Result<(Windows, Shape)> {
    let (images, filter) = (cx.input(0).shape(), cx.input(1).shape());
    ensure!(
        images.rank() == 4,
        "input must be 4-dimensional: {images}";
        "`input` must be images `[batch, rows, columns, channels]`"
    );
    ensure!(
        filter.rank() == 3,
        "filter must be 3-dimensional: {filter}";
        "`filter` must be `[rows, columns, channels]`"
    );
    let layout = layout(cx.node.op.name, cx.attrs())?;
    same_depth(Some(images[3]), Some(filter[2]))?;
    let windows = layout.windows_over(images, &filter[..2])?;
    let output = layout.output_shape(&windows, images[3]);
    output.checked_elements()?;
    if cx.n_inputs() == 3 {
        ensure!(
            *cx.input(2).shape() == output,
            "out_backprop has incompatible size.";
            "`out_backprop` has shape {}, and the dilation {output}", cx.input(2).shape()
        );
    }
    Ok((windows, output))
}

/// The elements between two looks at cancellation.
const PIECE: usize = 1 << 16;

fn run(cx: &mut KernelCx) -> Result<()> {
    let (windows, shape) = windows(cx)?;
    let dtype = cx.input(0).dtype();
    let mut out = Tensor::zeros(dtype, shape)?;
    let (depth, per_image) = (windows.channels, windows.per_image());
    let rows = (PIECE / windows.width().max(1)).max(1);
    let work = windows.batch as f64 * per_image as f64 * windows.width() as f64 * 4.0;
    with_element!(dtype, T in reals => {
        let (images, filter) = (cx.input(0).as_slice::<T>()?, cx.input(1).as_slice::<T>()?);
        let out = fresh::<T>(&mut out)?;
        if !out.is_empty() {
            in_pieces(cx.env, out, rows * depth, work, |i, piece| {
                for (j, row) in piece.chunks_exact_mut(depth).enumerate() {
                    let p = i * rows + j;
                    let image = &images[p / per_image * windows.image()..][..windows.image()];
                    row.fill(T::LEAST_FINITE);
                    windows.taps_of(p % per_image, |tap, at| {
                        for ((best, x), f) in row.iter_mut().zip(&image[at..]).zip(&filter[tap * depth..]) {
                            let sum = x.add(*f);
                            if *best < sum {
                                *best = sum;
                            }
                        }
                    });
                }
                Ok(())
            })?;
        }
    }, else => return Err(no_kernel(cx.node.op.name, dtype)));
    cx.set(0, out);
    Ok(())
}

/// Calls `found` with each window's gradients: the gradient's place, and those of the pixel and of the
/// filter's entry whose sum was the largest.
fn each_largest<T: RealElement>(
    windows: &Windows,
    images: &[T],
    filter: &[T],
    mut found: impl FnMut(usize, usize, usize),
) -> Result<()> {
    let (depth, per_image) = (windows.channels, windows.per_image());
    let mut pace = Pace::new();
    for n in 0..windows.batch {
        let image = &images[n * windows.image()..][..windows.image()];
        for p in 0..per_image {
            pace.spend(windows.width())?;
            for c in 0..depth {
                // A NaN is never the largest. Where all sums are NaN, or negative infinity, it is the first.
                let mut largest = T::LEAST_FINITE;
                let mut places: Option<(usize, usize)> = None;
                windows.taps_of(p, |tap, at| {
                    let sum = image[at + c].add(filter[tap * depth + c]);
                    if places.is_none() || largest < sum {
                        places = Some((at + c, tap * depth + c));
                        if largest < sum {
                            largest = sum;
                        }
                    }
                });
                if let Some((at, entry)) = places {
                    found((n * per_image + p) * depth + c, n * windows.image() + at, entry);
                }
            }
        }
    }
    Ok(())
}

fn run_to_input(cx: &mut KernelCx) -> Result<()> {
    run_back(cx, 0)
}

fn run_to_filter(cx: &mut KernelCx) -> Result<()> {
    run_back(cx, 1)
}

/// The gradient by input `i`.
fn run_back(cx: &mut KernelCx, i: usize) -> Result<()> {
    let (windows, _) = windows(cx)?;
    let dtype = cx.input(0).dtype();
    let mut out = Tensor::zeros(dtype, cx.input(i).shape().clone())?;
    with_element!(dtype, T in reals => {
        let (images, filter) = (cx.input(0).as_slice::<T>()?, cx.input(1).as_slice::<T>()?);
        let (grads, out) = (cx.input(2).as_slice::<T>()?, fresh::<T>(&mut out)?);
        each_largest(&windows, images, filter, |from, pixel, entry| {
            let to = if i == 0 { pixel } else { entry };
            out[to] = out[to].add(grads[from]);
        })?;
    }, else => return Err(no_kernel(cx.node.op.name, dtype)));
    cx.set(0, out);
    Ok(())
}

// The largest sum grows with its pixel and its filter entry alike.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (x, filter, dy) = (cx.input(0), cx.input(1), cx.grad(0));
    for (i, op) in ["Dilation2DBackpropInput", "Dilation2DBackpropFilter"].into_iter().enumerate() {
        if cx.wants(i) {
            let back = cx.op(op).inputs([x, filter, dy]).attrs(cx.attrs().clone()).output();
            cx.give(i, back);
        }
    }
    Ok(())
}

cases! {
    largest_sums: "Dilation2D([[[[1.0] [5.0] [2.0]]]], [[[0.5] [1.0]]]; strides={1, 1, 1, 1}, rates={1, 1, 1, 1}, padding=\"VALID\") = [[[[6.0] [5.5]]]]",
    beyond_the_image: "Dilation2D([[[[-1.0] [-5.0]]]], [[[0.0] [0.0] [0.0]]]; strides={1, 1, 1, 1}, rates={1, 1, 1, 1}, padding=\"SAME\") = [[[[-1.0] [-1.0]]]]",
    apart: "Dilation2D([[[[1] [7] [2] [9]]]], [[[0] [10]]]; strides={1, 1, 1, 1}, rates={1, 1, 2, 1}, padding=\"VALID\") = [[[[12] [19]]]]",
    infers: "Dilation2D(f32[?,7,?,3], f32[2,2,?]; strides={1, 2, 2, 1}, rates={1, 1, 1, 1}, padding=\"VALID\") : f32[?,3,?,3]",
    to_the_pixel: "Dilation2DBackpropInput([[[[1.0] [5.0] [2.0]]]], [[[0.5] [1.0]]], [[[[10.0] [20.0]]]]; strides={1, 1, 1, 1}, rates={1, 1, 1, 1}, padding=\"VALID\") = [[[[0.0] [30.0] [0.0]]]]",
    to_the_entry: "Dilation2DBackpropFilter([[[[1.0] [5.0] [2.0]]]], [[[0.5] [1.0]]], [[[[10.0] [20.0]]]]; strides={1, 1, 1, 1}, rates={1, 1, 1, 1}, padding=\"VALID\") = [[[20.0] [10.0]]]",
    not_to_nan: "Dilation2DBackpropInput([[[[nan] [5.0] [2.0]]]], [[[0.5] [1.0]]], [[[[10.0] [20.0]]]]; strides={1, 1, 1, 1}, rates={1, 1, 1, 1}, padding=\"VALID\") = [[[[0.0] [30.0] [0.0]]]]",
    like_the_filter: "Dilation2DBackpropFilter(f32[?,7,?,3], f32[2,2,3], f32[..]; strides={1, 2, 2, 1}, rates={1, 1, 1, 1}, padding=\"VALID\") : f32[2,2,3]",
    gradient_fits: "Dilation2DBackpropInput([[[[1.0] [5.0] [2.0]]]], [[[0.5] [1.0]]], [[[[10.0]]]]; strides={1, 1, 1, 1}, rates={1, 1, 1, 1}, padding=\"VALID\") ! out_backprop has incompatible size.",
    one_depth: "Dilation2D([[[[1.0 2.0]]]], [[[0.5]]]; strides={1, 1, 1, 1}, rates={1, 1, 1, 1}, padding=\"VALID\") ! input and filter must have the same depth: 2 vs 1",
    four_strides: "Dilation2D([[[[1.0]]]], [[[0.5]]]; strides={1, 1}, rates={1, 1, 1, 1}, padding=\"VALID\") ! `strides` is [1, 1]",
    across_space: "Dilation2D([[[[1.0]]]], [[[0.5]]]; strides={1, 1, 1, 1}, rates={2, 1, 1, 1}, padding=\"VALID\") ! rates in the batch and depth",
}
