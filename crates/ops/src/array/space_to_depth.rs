//! `SpaceToDepth`, `DepthToSpace`: blocks of an image moved into the channels, and back.

use millstream_graph::Attrs;
use millstream_graph::op::spec::{AnyType, AtLeast, Spec, Words};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{Dim, Error, PartialShape, Result, Shape, Tensor, ensure, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("SpaceToDepth")
            .doc(
                "Divides the rows and columns of images into blocks of `block_size`, and moves the \
                 positions within a block into the channels.",
            )
            .infer(|cx| infer(cx, to_depth))
            .kernel(Kernel::pure(run_to_depth))
            .gradient(Gradient::of(|cx| grad(cx, "DepthToSpace"))),
        OpDef::new("DepthToSpace")
            .doc(
                "The inverse of SpaceToDepth: lays out groups of channels as blocks of `block_size` rows \
                 and columns.",
            )
            .infer(|cx| infer(cx, to_space))
            .kernel(Kernel::pure(run_to_space))
            .gradient(Gradient::of(|cx| grad(cx, "SpaceToDepth"))),
    ]
    .map(|def| {
        def.input("input", "T")
            .output("output", "T")
            .attr("T", AnyType)
            .attr("block_size", AtLeast(2))
            .attr("data_format", Words(&["NHWC", "NCHW", "NCHW_VECT_C"]).or("NHWC"))
    })
}

/// The axes of channels, rows and columns of an image, and the block size.
struct Layout {
    channels: usize,
    rows: usize,
    columns: usize,
    block: usize,
}

fn layout(attrs: &Attrs) -> Result<Layout> {
    let block = attrs.int("block_size")?;
    // The bound keeps its square in range.
    let block = usize::try_from(block).ok().filter(|b| *b <= 1 << 24);
    let block = block.ok_or_else(|| invalid!("`block_size` is too large"))?;
    match &**attrs.str("data_format")? {
        b"NHWC" => Ok(Layout { rows: 1, columns: 2, channels: 3, block }),
        b"NCHW" => Ok(Layout { channels: 1, rows: 2, columns: 3, block }),
        other => Err(Error::unimplemented(format!(
            "data format {} is not supported: use NHWC or NCHW",
            String::from_utf8_lossy(other)
        ))),
    }
}

fn divide(dim: Dim, by: usize, what: &str) -> Result<Dim> {
    let Some(d) = dim else { return Ok(None) };
    ensure!(d.is_multiple_of(by), "Dimension size must be evenly divisible by {by} but is {d}"; "`input` has {d} {what}, which cannot be cut into {by} equal parts");
    Ok(Some(d / by))
}

fn times(dim: Dim, by: usize) -> Result<Dim> {
    let Some(d) = dim else { return Ok(None) };
    d.checked_mul(by).map(Some).ok_or_else(|| invalid!("{d} * {by} is too large for a dimension"))
}

fn to_depth(l: &Layout, dims: &mut [Dim; 4]) -> Result<()> {
    dims[l.rows] = divide(dims[l.rows], l.block, "rows")?;
    dims[l.columns] = divide(dims[l.columns], l.block, "columns")?;
    dims[l.channels] = times(dims[l.channels], l.block * l.block)?;
    Ok(())
}

fn to_space(l: &Layout, dims: &mut [Dim; 4]) -> Result<()> {
    dims[l.rows] = times(dims[l.rows], l.block)?;
    dims[l.columns] = times(dims[l.columns], l.block)?;
    dims[l.channels] = divide(dims[l.channels], l.block * l.block, "channels")?;
    Ok(())
}

fn infer(cx: &mut InferCx, rule: fn(&Layout, &mut [Dim; 4]) -> Result<()>) -> Result<()> {
    let Ok(layout) = layout(cx.attrs()) else { return Ok(()) };
    let shape = cx.with_rank(0, 4)?;
    let mut dims = [0, 1, 2, 3].map(|i| shape.dim(i));
    rule(&layout, &mut dims)?;
    cx.set(0, PartialShape::from(dims));
    Ok(())
}

/// Returns the input, the layout and the shape of the result. `theirs` is TensorFlow's message about the
/// block and the rows, columns and channels that it does not divide.
fn prepare(
    cx: &mut KernelCx,
    rule: fn(&Layout, &mut [Dim; 4]) -> Result<()>,
    theirs: fn(usize, [usize; 3]) -> String,
) -> Result<(Tensor, Layout, Shape)> {
    let layout = layout(cx.attrs())?;
    let input = cx.take(0);
    let &[a, b, c, d] = &input.shape()[..] else {
        return Err(invalid!("`input` must have rank 4 but has shape {}", input.shape()));
    };
    let mut dims = [a, b, c, d].map(Some);
    let sizes = [layout.rows, layout.columns, layout.channels].map(|a| input.shape()[a]);
    rule(&layout, &mut dims).map_err(|e| e.led_by(theirs(layout.block, sizes)))?;
    let shape = Shape::new(dims.into_iter().flatten());
    shape.checked_elements()?;
    Ok((input, layout, shape))
}

fn run_to_depth(cx: &mut KernelCx) -> Result<()> {
    let (input, l, shape) = prepare(cx, to_depth, |block, [rows, columns, _]| {
        format!("Image width {columns} and height {rows} should be divisible by block_size: {block}")
    })?;
    let (s, block) = (input.shape().strides(), l.block);
    let step = |a: usize, by: usize| s[a].saturating_mul(by) as isize;
    let n = (input.shape()[0], step(0, 1));
    let (rows, columns) = ((shape[l.rows], step(l.rows, block)), (shape[l.columns], step(l.columns, block)));
    let (row, column) = ((block, step(l.rows, 1)), (block, step(l.columns, 1)));
    let channels = (input.shape()[l.channels], step(l.channels, 1));
    let walk = match l.channels {
        3 => [n, rows, columns, row, column, channels],
        _ => [n, row, column, channels, rows, columns],
    };
    give(cx, &input, walk, shape)
}

fn run_to_space(cx: &mut KernelCx) -> Result<()> {
    let (input, l, shape) = prepare(cx, to_space, |block, [_, _, channels]| {
        format!("Input depth dimension {channels} should be divisible by: {}", block * block)
    })?;
    let (s, block) = (input.shape().strides(), l.block);
    let depth = shape[l.channels];
    let step = |a: usize, by: usize| s[a].saturating_mul(by) as isize;
    let n = (input.shape()[0], step(0, 1));
    let (rows, columns) =
        ((input.shape()[l.rows], step(l.rows, 1)), (input.shape()[l.columns], step(l.columns, 1)));
    let column = (block, step(l.channels, depth));
    let row = (block, step(l.channels, depth.saturating_mul(block)));
    let channels = (depth, step(l.channels, 1));
    let walk = match l.channels {
        3 => [n, rows, row, columns, column, channels],
        _ => [n, channels, rows, row, columns, column],
    };
    give(cx, &input, walk, shape)
}

/// Sets output 0 to the elements of `input` in the order of the walk, a list of sizes and strides.
fn give(cx: &mut KernelCx, input: &Tensor, walk: [(usize, isize); 6], shape: Shape) -> Result<()> {
    let out = match shape.elements() {
        0 => crate::shared::axes::empty(input.dtype(), shape)?,
        _ => input.strided(walk.map(|w| w.0), 0, &walk.map(|w| w.1))?.into_shape(shape)?,
    };
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx, back: &'static str) -> Result<()> {
    let dy = cx.grad(0);
    let mut attrs = cx.attrs().clone();
    attrs.set("T", cx.dtype(0));
    cx.give(0, cx.op(back).input(dy).attrs(attrs).output());
    Ok(())
}

cases! {
    to_the_channels: "SpaceToDepth([[[[1] [2]] [[3] [4]]]]; block_size=2) = [[[[1 2 3 4]]]]",
    channels_stay_together: "SpaceToDepth([[[[1 2] [3 4]] [[5 6] [7 8]]]]; block_size=2) = [[[[1 2 3 4 5 6 7 8]]]]",
    channels_first: "SpaceToDepth([[[[1 3] [5 7]] [[2 4] [6 8]]]]; block_size=2, data_format=\"NCHW\") = [[[[1]] [[2]] [[3]] [[4]] [[5]] [[6]] [[7]] [[8]]]]",
    to_the_image: "DepthToSpace([[[[1 2 3 4]]]]; block_size=2) = [[[[1] [2]] [[3] [4]]]]",
    to_the_image_first: "DepthToSpace([[[[1]] [[2]] [[3]] [[4]]]]; block_size=2, data_format=\"NCHW\") = [[[[1 2] [3 4]]]]",
    infers: "SpaceToDepth(f32[?,4,6,3]; block_size=2) : f32[?,2,3,12]",
    space_infers: "DepthToSpace(f32[?,?,3,12]; block_size=2) : f32[?,?,6,3]",
    does_not_divide: "SpaceToDepth([[[[1]]]]; block_size=2) ! `input` has 1 rows",
    channels_do_not_divide: "DepthToSpace([[[[1]]]]; block_size=2) ! `input` has 1 channels",
    wants_images: "SpaceToDepth([1]; block_size=2) ! `input` must have rank 4",
    block_of_one: "SpaceToDepth([[[[1]]]]; block_size=1) ! must be at least 2",
}
