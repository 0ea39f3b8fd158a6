//! `ExtractVolumePatches`: the windows of volumes, laid out along the channels.

use super::extract_image_patches::{gather, joined};
use super::windows::Layout;
use crate::number::no_kernel;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{IntList, RealNumber, Words};
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_graph::{Attrs, Output};
use millstream_tensor::{Code, Error, PartialShape, Result, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("ExtractVolumePatches")
        .doc(
            "Returns, for each window of `ksizes` cells of the volumes `[batch, planes, rows, columns, channels]`, \
             its cells along the channels. Cells beyond the volume are zeros.",
        )
        .input("input", "T")
        .output("patches", "T")
        .attr("ksizes", IntList)
        .attr("strides", IntList)
        .attr("T", RealNumber)
        .attr("padding", Words(&["SAME", "VALID"]))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(8.0)))
        .gradient(Gradient::of(grad))
}

/// Reads the attributes: the layout, and the size of a window.
fn layout(attrs: &Attrs) -> Result<(Layout, [usize; 3])> {
    let mut sizes = [0; 3];
    for name in ["ksizes", "strides"] {
        let list = attrs.ints(name)?;
        ensure!(
            list.len() == 5,
            "Attr '{name}' of 'ExtractVolumePatches' Op passed list of length {} less than minimum 5.", list.len();
            "`{name}` is {list:?}, which must have five entries"
        );
        if list[0] != 1 || list[4] != 1 {
            return Err(Error::unimplemented(format!(
                "Only support {name} across space.\n`{name}` is {list:?}"
            )));
        }
        if name == "ksizes" {
            for (size, given) in sizes.iter_mut().zip(&list[1..]) {
                *size =
                    usize::try_from(*given).ok().filter(|v| (1..=1 << 20).contains(v)).ok_or_else(|| {
                        invalid!("`ksizes` is {list:?}: windows must have at least one cell along each axis")
                    })?;
            }
        }
    }
    Ok((Layout::of("ExtractVolumePatches", attrs, 3)?, sizes))
}

/// The number of elements of a window.
fn patch(window: [usize; 3], depth: usize) -> Result<usize> {
    let n = window.iter().try_fold(depth, |n, size| n.checked_mul(*size));
    n.ok_or_else(|| invalid!("windows of {window:?} cells with {depth} channels are too large"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (layout, window) = match layout(cx.attrs()) {
        // As in TensorFlow, what no kernel computes is an error of the run.
        Err(error) if error.code() == Code::Unimplemented => return Ok(()),
        found => found?,
    };
    let (batch, spatial, depth) = layout.parts(&cx.with_rank(0, 5)?);
    let mut dims = vec![batch];
    for i in 0..3 {
        dims.push(layout.output(i, spatial[i], Some(window[i]))?);
    }
    dims.push(depth.map(|d| patch(window, d)).transpose()?);
    cx.set(0, PartialShape::new(dims));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let volumes = cx.take(0);
    let (shape, dtype) = (volumes.shape().clone(), volumes.dtype());
    ensure!(
        shape.rank() == 5,
        "input must be 5-dimensional{shape}";
        "`input` must be volumes `[batch, planes, rows, columns, channels]`"
    );
    let (layout, window) = layout(cx.attrs())?;
    let windows = layout.windows_over(&shape, &window)?;
    let out_shape = layout.output_shape(&windows, patch(window, shape[4])?);
    out_shape.checked_elements()?;
    let mut out = Tensor::zeros(dtype, out_shape)?;
    with_element!(dtype, T in reals => gather::<T>(cx.env, &windows, volumes.as_slice()?, fresh(&mut out)?),
        else => Err(no_kernel("ExtractVolumePatches", dtype)))?;
    cx.set(0, out);
    Ok(())
}

// With each channel as a volume of its own, a patch is what a convolution with filters of one cell gives.
fn grad<'g>(cx: &mut GradCx<'g, '_>) -> Result<()> {
    let (dy, dtype) = (cx.grad(0), cx.dtype(0));
    let sizes = cx.attrs().ints("ksizes")?;
    let side = |i: usize| i32::try_from(sizes[i]).map_err(|_| invalid!("`ksizes` is {sizes:?}"));
    let [planes, rows, columns] = [side(1)?, side(2)?, side(3)?];
    let n = planes.checked_mul(rows).and_then(|n| n.checked_mul(columns));
    let n = n.ok_or_else(|| invalid!("`ksizes` is {sizes:?}"))?;
    let shape = cx.shape_of_input(0);
    let part = |of: Output<'g>, at: i32, len: i32| cx.call("Slice", [of, cx.ints(&[at]), cx.ints(&[len])]);
    let (batch, space, depth) = (part(shape, 0, 1), part(shape, 1, 3), part(shape, 4, 1));
    let places = part(cx.shape_of(dy), 1, 3);
    let split = joined(cx, vec![batch, places, cx.ints(&[n]), depth]);
    let by_channel = cx.call("Transpose", [cx.call("Reshape", [dy, split]), cx.ints(&[0, 5, 1, 2, 3, 4])]);
    let single = batch * depth;
    let by_channel = cx.call("Reshape", [by_channel, joined(cx, vec![single, places, cx.ints(&[n])])]);
    let ones = cx.call("Fill", [cx.ints(&[n]), cx.scalar(dtype, 1.0)]);
    let filter = cx.call("Reshape", [cx.call("MatrixDiag", [ones]), cx.ints(&[planes, rows, columns, 1, n])]);
    let volumes = joined(cx, vec![single, space, cx.ints(&[1])]);
    let mut node = cx.op("Conv3DBackpropInputV2").inputs([volumes, filter, by_channel]);
    for name in ["strides", "padding"] {
        if let Some(value) = cx.attrs().get(name) {
            node = node.attr(name, value.clone());
        }
    }
    let dx = cx.call("Reshape", [node.output(), joined(cx, vec![batch, depth, space])]);
    cx.give(0, cx.call("Transpose", [dx, cx.ints(&[0, 2, 3, 4, 1])]));
    Ok(())
}

cases! {
    each_window: "ExtractVolumePatches([[[[[1 2] [3 4] [5 6]]]]]; ksizes={1, 1, 1, 2, 1}, strides={1, 1, 1, 1, 1}, padding=\"VALID\") = [[[[[1 2 3 4] [3 4 5 6]]]]]",
    of_planes: "ExtractVolumePatches([[[[[1.0 2.0]]] [[[3.0 4.0]]] [[[5.0 6.0]]]]]; ksizes={1, 2, 1, 1, 1}, strides={1, 2, 1, 1, 1}, padding=\"SAME\") = [[[[[1.0 2.0 3.0 4.0]]] [[[5.0 6.0 0.0 0.0]]]]]",
    infers: "ExtractVolumePatches(f32[?,7,9,?,3]; ksizes={1, 2, 2, 2, 1}, strides={1, 2, 3, 2, 1}, padding=\"VALID\") : f32[?,3,3,?,24]",
    across_space: "ExtractVolumePatches([[[[[1]]]]]; ksizes={1, 1, 1, 1, 2}, strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! Only support ksizes across space.",
    five_sizes: "ExtractVolumePatches([[[[[1]]]]]; ksizes={1, 1}, strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! `ksizes` is [1, 1]",
}
