//! `ExtractImagePatches`: the windows of images, laid out along the channels.

use super::windows::{Layout, Windows};
use crate::number::no_kernel;
use crate::shared::elementwise::fresh;
use crate::shared::pieces::in_pieces;
use millstream_graph::Attrs;
use millstream_graph::Output;
use millstream_graph::op::spec::{IntList, RealNumber, Words};
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef, StepEnv};
use millstream_tensor::{Code, Element, Error, PartialShape, Result, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("ExtractImagePatches")
        .doc(
            "Returns, for each window of `ksizes` pixels whose pixels are `rates` apart, its pixels along the \
             channels. Pixels beyond the image are zeros.",
        )
        .input("images", "T")
        .output("patches", "T")
        .attr("ksizes", IntList)
        .attr("strides", IntList)
        .attr("rates", IntList)
        .attr("T", RealNumber)
        .attr("padding", Words(&["SAME", "VALID"]))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(8.0)))
        .gradient(Gradient::of(grad))
}

/// Reads the attributes: the layout, and the size of a window.
fn layout(attrs: &Attrs) -> Result<(Layout, [usize; 2])> {
    let listed = |name: &str| -> Result<Vec<i64>> {
        let list = attrs.ints(name)?;
        ensure!(
            list.len() == 4,
            "Attr '{name}' of 'ExtractImagePatches' Op passed list of length {} less than minimum 4.", list.len();
            "`{name}` is {list:?}, which must have four entries"
        );
        if list[0] != 1 || list[3] != 1 {
            return Err(Error::unimplemented(format!(
                "Only support {name} across space.\n`{name}` is {list:?}"
            )));
        }
        Ok(list)
    };
    let (sizes, rates) = (listed("ksizes")?, listed("rates")?);
    listed("strides")?;
    let size = |v: i64| {
        let size = usize::try_from(v).ok().filter(|v| (1..=1 << 30).contains(v));
        size.ok_or_else(|| invalid!("`ksizes` is {sizes:?}: windows must have at least one pixel"))
    };
    let mut attrs = attrs.clone();
    attrs.set("data_format", "NHWC");
    attrs.set("dilations", rates);
    Ok((Layout::of("ExtractImagePatches", &attrs, 2)?, [size(sizes[1])?, size(sizes[2])?]))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (layout, window) = match layout(cx.attrs()) {
        // As in TensorFlow, what no kernel computes is an error of the run.
        Err(error) if error.code() == Code::Unimplemented => return Ok(()),
        found => found?,
    };
    let (batch, spatial, depth) = layout.parts(&cx.with_rank(0, 4)?);
    let rows = layout.output(0, spatial[0], Some(window[0]))?;
    let columns = layout.output(1, spatial[1], Some(window[1]))?;
    let depth = match depth {
        Some(d) => Some(patch(window, d)?),
        None => None,
    };
    cx.set(0, PartialShape::from([batch, rows, columns, depth]));
    Ok(())
}

/// The number of elements of a window.
fn patch([rows, columns]: [usize; 2], depth: usize) -> Result<usize> {
    let n = rows.checked_mul(columns).and_then(|n| n.checked_mul(depth));
    n.ok_or_else(|| invalid!("windows of {rows} x {columns} pixels with {depth} channels are too large"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let images = cx.take(0);
    let (shape, dtype) = (images.shape().clone(), images.dtype());
    ensure!(shape.rank() == 4, "`images` must have rank 4 but has shape {shape}");
    let (layout, window) = layout(cx.attrs())?;
    let windows = layout.windows_over(&shape, &window)?;
    let out_shape = layout.output_shape(&windows, patch(window, shape[3])?);
    out_shape.checked_elements()?;
    let mut out = Tensor::zeros(dtype, out_shape)?;
    with_element!(dtype, T in reals => gather::<T>(cx.env, &windows, images.as_slice()?, fresh(&mut out)?),
        else => Err(no_kernel("ExtractImagePatches", dtype)))?;
    cx.set(0, out);
    Ok(())
}

pub(super) fn gather<T: Element + Copy + Default + Send + Sync>(
    env: &StepEnv,
    windows: &Windows,
    images: &[T],
    out: &mut [T],
) -> Result<()> {
    let width = windows.width();
    let rows = ((1 << 14) / width.max(1)).max(1);
    in_pieces(env, out, rows * width, images.len() as f64 * 4.0, |i, piece| {
        windows.gather(images, i * rows, piece);
        Ok(())
    })
}

/// Integers joined to a vector.
pub(super) fn joined<'g>(cx: &GradCx<'g, '_>, parts: Vec<Output<'g>>) -> Output<'g> {
    cx.op("ConcatV2").inputs(parts).input(0).output()
}

// A patch is what a convolution of each channel with filters of one pixel gives, with the channels behind the
// pixels.
fn grad<'g>(cx: &mut GradCx<'g, '_>) -> Result<()> {
    let (dy, dtype) = (cx.grad(0), cx.dtype(0));
    let (sizes, attrs) = (cx.attrs().ints("ksizes")?, cx.attrs().clone());
    let side = |i: usize| i32::try_from(sizes[i]).map_err(|_| invalid!("`ksizes` is {sizes:?}"));
    let (rows, columns) = (side(1)?, side(2)?);
    let n = rows.checked_mul(columns).ok_or_else(|| invalid!("`ksizes` is {sizes:?}"))?;
    let depth: Output<'g> = match cx.input_shape(0).dim(3).and_then(|d| i32::try_from(d).ok()) {
        Some(d) => cx.ints(&[d]),
        None => {
            let shape = cx.shape_of_input(0);
            cx.call("Slice", [shape, cx.ints(&[3]), cx.ints(&[1])])
        }
    };
    let split = joined(cx, vec![cx.ints(&[-1, n]), depth]);
    let by_channel = cx.call("Transpose", [cx.call("Reshape", [dy, split]), cx.ints(&[0, 2, 1])]);
    let by_channel = cx.call("Reshape", [by_channel, cx.shape_of(dy)]);
    let ones = cx.call("Fill", [cx.ints(&[n]), cx.scalar(dtype, 1.0)]);
    let filter = cx.call("Reshape", [cx.call("MatrixDiag", [ones]), cx.ints(&[rows, columns, 1, n])]);
    let filter = cx.call("Tile", [filter, joined(cx, vec![cx.ints(&[1, 1]), depth, cx.ints(&[1])])]);
    let shape = cx.shape_of_input(0);
    let mut node = cx.op("DepthwiseConv2dNativeBackpropInput").inputs([shape, filter, by_channel]);
    for (to, from) in [("strides", "strides"), ("dilations", "rates"), ("padding", "padding")] {
        if let Some(value) = attrs.get(from) {
            node = node.attr(to, value.clone());
        }
    }
    cx.give(0, node.output());
    Ok(())
}

cases! {
    each_window: "ExtractImagePatches([[[[1 2] [3 4] [5 6]]]]; ksizes={1, 1, 2, 1}, strides={1, 1, 1, 1}, rates={1, 1, 1, 1}, padding=\"VALID\") = [[[[1 2 3 4] [3 4 5 6]]]]",
    apart: "ExtractImagePatches([[[[1.0] [2.0] [3.0]]]]; ksizes={1, 1, 2, 1}, strides={1, 1, 1, 1}, rates={1, 1, 2, 1}, padding=\"SAME\") = [[[[0.0 2.0] [1.0 3.0] [2.0 0.0]]]]",
    infers: "ExtractImagePatches(f32[?,7,?,3]; ksizes={1, 2, 2, 1}, strides={1, 2, 2, 1}, rates={1, 1, 1, 1}, padding=\"VALID\") : f32[?,3,?,12]",
    across_space: "ExtractImagePatches([[[[1]]]]; ksizes={2, 1, 1, 1}, strides={1, 1, 1, 1}, rates={1, 1, 1, 1}, padding=\"VALID\") ! Only support ksizes across space.",
    four_sizes: "ExtractImagePatches([[[[1]]]]; ksizes={1, 1}, strides={1, 1, 1, 1}, rates={1, 1, 1, 1}, padding=\"VALID\") ! `ksizes` is [1, 1]",
}
