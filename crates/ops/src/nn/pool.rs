//! Pools: the shape rules and kernels that `MaxPool`, `AvgPool` and the ops of their gradients share.
//!
//! As in TensorFlow, the largest cell of a window is the first of equal ones, and a NaN is never larger or
//! smaller than another cell.

use super::pieces::in_pieces;
use super::windows::{self, Axis, Layout, Windows};
use crate::number::{Number, RealElement};
use crate::shared::axes::Sizes;
use millstream_graph::op::spec::{IntList, Spec, Words};
use millstream_graph::op::{GradCx, InferCx, KernelCx, NodeInfo, OpDef, StepEnv};
use millstream_graph::{Attrs, Output};
use millstream_tensor::pace::look;
use millstream_tensor::{Dim, Error, PartialShape, Result, Shape, Tensor, ensure, invalid};
use smallvec::SmallVec;

/// Adds the attributes of pools of images, but for the dtype.
pub(super) fn image_attrs(def: OpDef) -> OpDef {
    def.attr("ksize", IntList)
        .attr("strides", IntList)
        .attr("padding", Words(&["SAME", "VALID"]))
        .attr("data_format", Words(&["NHWC", "NCHW"]).or("NHWC"))
}

/// Adds the attributes of pools of volumes, but for the dtype.
pub(super) fn volume_attrs(def: OpDef) -> OpDef {
    def.attr("ksize", IntList)
        .attr("strides", IntList)
        .attr("padding", Words(&["SAME", "VALID"]))
        .attr("data_format", Words(&["NDHWC", "NCDHW"]).or("NDHWC"))
}

/// The attributes of a pool.
pub(super) struct Pool {
    layout: Layout,
    /// The size of a window along each spatial axis.
    window: Sizes,
    /// The number of channels of a window.
    depth: usize,
}

impl Pool {
    /// Reads the attributes of an op over images with `spatial` axes.
    fn of(op: &str, attrs: &Attrs, spatial: usize) -> Result<Pool> {
        let layout = Layout::of(op, attrs, spatial)?;
        let ksize = layout.listed(op, attrs, "ksize")?;
        let size = |axis: usize| usize::try_from(ksize[axis]).unwrap_or(0);
        let window = (0..spatial).map(|i| size(layout.axis(i))).collect();
        let depth = size(layout.channels);
        Ok(Pool { layout, window, depth })
    }

    /// Returns the windows over an input of this shape. Only a pool with `channels_too` may pool channels.
    fn windows(&self, op: &str, attrs: &Attrs, input: &Shape, channels_too: bool) -> Result<Windows> {
        let rank = self.layout.spatial + 2;
        ensure!(
            input.rank() == rank,
            "tensor_in_shape must have {} spatial dimensions. {} 0", self.layout.spatial, input.rank();
            "{op}: the input must have rank {rank} but has shape {input}"
        );
        let (ksize, strides) = (attrs.ints("ksize")?, attrs.ints("strides")?);
        if let Some(axis) = ksize.iter().position(|k| *k <= 0) {
            return Err(
                invalid!("Sliding window ksize for dimension {axis} was zero."; "`ksize` is {ksize:?}"),
            );
        }
        let refuse = |words: &str| {
            Error::unimplemented(format!("{words}\n`ksize` is {ksize:?}, `strides` is {strides:?}"))
        };
        if ksize[0] != 1 || strides[0] != 1 {
            return Err(refuse("Pooling is not yet supported on the batch dimension."));
        }
        let stride = strides[self.layout.channels];
        if self.depth == 1 && stride == 1 {
            return self.layout.windows_over(input, &self.window);
        }
        if !channels_too {
            return Err(refuse(match self.layout.spatial {
                2 => "Non-spatial pooling is not yet supported. Volunteers? :)",
                _ => "Pooling is not yet supported on the depth dimension.",
            }));
        }
        let spatial = (0..self.layout.spatial).map(|i| self.layout.axis(i));
        if spatial.clone().any(|a| ksize[a] != 1 || strides[a] != 1) {
            return Err(refuse(
                "MaxPooling supports exactly one of pooling across depth or pooling across width/height.",
            ));
        }
        let channels = input[self.layout.channels];
        if !channels.is_multiple_of(self.depth) {
            return Err(refuse(
                "Depthwise max pooling requires the depth window to evenly divide the input depth",
            ));
        }
        if stride != ksize[self.layout.channels] {
            return Err(refuse("Depthwise max pooling requires the depth window to equal the depth stride"));
        }
        // Each pixel is an image with a row of one channel.
        let pixels = spatial.fold(input[0], |n, a| n.saturating_mul(input[a]));
        Ok(Windows::of_rows(pixels, Axis::blocks(channels, self.depth)))
    }

    /// Returns the shape of the output of these windows.
    fn output(&self, input: &Shape, windows: &Windows) -> Shape {
        let channels = self.layout.channels;
        match self.depth {
            1 => self.layout.output_shape(windows, input[channels]),
            depth => {
                Shape::new(input.iter().enumerate().map(|(i, d)| if i == channels { d / depth } else { *d }))
            }
        }
    }
}

/// The shape rule of a pool.
pub(super) fn infer_output(cx: &mut InferCx, spatial: usize) -> Result<()> {
    let shape = output_of(cx, spatial)?;
    cx.set(0, shape);
    Ok(())
}

/// The shape of the output of a pool over input 0.
pub(super) fn output_of(cx: &InferCx, spatial: usize) -> Result<PartialShape> {
    output_with(cx, cx.attrs(), spatial)
}

/// The shape of the output of a pool with these attributes over input 0.
pub(super) fn output_with(cx: &InferCx, attrs: &Attrs, spatial: usize) -> Result<PartialShape> {
    let pool = Pool::of(cx.node().op.name, attrs, spatial)?;
    let (batch, sizes, depth) = pool.layout.parts(&cx.with_rank(0, spatial + 2)?);
    // A window of size 0 is an error of the run.
    if pool.window.contains(&0) || pool.depth == 0 {
        return Ok(PartialShape::unknown_of_rank(spatial + 2));
    }
    let mut out: SmallVec<[Dim; 3]> = SmallVec::new();
    for (i, size) in sizes.into_iter().enumerate() {
        out.push(pool.layout.output(i, size, Some(pool.window[i]))?);
    }
    let depth = depth.map(|d| d / pool.depth);
    Ok(PartialShape::new(pool.layout.shape(batch, &out, depth)))
}

/// The shape rule of a gradient by the input, which is input 0.
pub(super) fn infer_input(cx: &mut InferCx, spatial: usize) -> Result<()> {
    Pool::of(cx.node().op.name, cx.attrs(), spatial)?;
    let shape = cx.with_rank(0, spatial + 2)?;
    cx.set(0, shape);
    Ok(())
}

/// The shape rule of a gradient by the input, whose shape is input 0.
pub(super) fn infer_sizes(cx: &mut InferCx, spatial: usize) -> Result<()> {
    Pool::of(cx.node().op.name, cx.attrs(), spatial)?;
    cx.with_rank(1, spatial + 2)?;
    windows::infer_sizes(cx, 0, spatial + 2)
}

/// Reads input 0, the shape of a pool's input.
pub(super) fn sizes(cx: &KernelCx, rank: usize) -> Result<Shape> {
    windows::sizes(cx, 0, rank, || format!("out_backprop must be 1-dimensional and {rank} elements"))
}

/// A call: the attributes, the windows, and tensors with channels on the last axis.
pub(super) struct Call<'a> {
    pub env: &'a StepEnv,
    pool: Pool,
    pub windows: Windows,
    input: Shape,
    pub output: Shape,
}

impl<'a> Call<'a> {
    pub fn of(cx: &KernelCx<'a>, spatial: usize, input: &Shape, channels_too: bool) -> Result<Call<'a>> {
        Call::with(cx, cx.attrs(), spatial, input, channels_too)
    }

    /// As [`Call::of`], with other attributes than the node's.
    pub fn with(
        cx: &KernelCx<'a>,
        attrs: &Attrs,
        spatial: usize,
        input: &Shape,
        channels_too: bool,
    ) -> Result<Call<'a>> {
        let op = cx.node.op.name;
        let pool = Pool::of(op, attrs, spatial)?;
        let windows = pool.windows(op, attrs, input, channels_too)?;
        let output = pool.output(input, &windows);
        output.checked_elements()?;
        Ok(Call { env: cx.env, pool, windows, input: input.clone(), output })
    }

    /// Checks that input `i` has the shape of the input or the output.
    pub fn expect(&self, cx: &KernelCx, i: usize, whole: bool) -> Result<()> {
        let (wanted, what) = if whole { (&self.input, "input") } else { (&self.output, "output") };
        ensure!(
            cx.input(i).shape() == wanted,
            "{}: `{}` has shape {}, but the pool has an {what} of shape {wanted}",
            cx.node.op.name,
            cx.name_of(i),
            cx.input(i).shape()
        );
        Ok(())
    }

    /// Takes input `i`, with the channels on the last axis.
    pub fn take(&self, cx: &mut KernelCx, i: usize) -> Result<Tensor> {
        self.pool.layout.channels_last(cx.take(i))
    }

    /// Returns the result for `cells`, which have the channels on the last axis.
    pub fn in_format(&self, cells: Tensor) -> Result<Tensor> {
        self.pool.layout.in_format(cells)
    }

    /// The shape of the output, or of the input, with channels on the last axis.
    pub fn channels_last(&self, shape: &Shape) -> Shape {
        let channels = self.pool.layout.channels;
        let others = shape.iter().enumerate().filter(|(i, _)| *i != channels).map(|(_, d)| *d);
        Shape::new(others.chain([shape[channels]]))
    }

    fn work(&self) -> f64 {
        let w = &self.windows;
        10.0 * w.batch as f64 * w.per_image() as f64 * w.width() as f64
    }

    /// Calls `fill` with each window and its cells of the output, of which there is one for each channel. The
    /// window is given by its image and its number in the image.
    pub fn each_window<T: Send>(
        &self,
        out: &mut [T],
        fill: impl Fn(usize, usize, &mut [T]) + Sync,
    ) -> Result<()> {
        let (depth, per_image) = (self.windows.channels, self.windows.per_image());
        let rows = (PIECE / self.windows.width().max(1)).max(1);
        in_pieces(self.env, out, rows * depth, self.work(), |i, piece| {
            for (j, row) in piece.chunks_exact_mut(depth).enumerate() {
                let p = i * rows + j;
                fill(p / per_image, p % per_image, row);
            }
            Ok(())
        })
    }

    /// Calls `fill` with each image and its part of `out`.
    pub fn each_image<T: Send>(
        &self,
        out: &mut [T],
        fill: impl Fn(usize, &mut [T]) -> Result<()> + Sync,
    ) -> Result<()> {
        let size = self.windows.image();
        if size == 0 {
            return Ok(());
        }
        let images = (PIECE / size).max(1);
        in_pieces(self.env, out, images * size, self.work(), |i, piece| {
            piece.chunks_exact_mut(size).enumerate().try_for_each(|(j, image)| fill(i * images + j, image))
        })
    }

    /// The elements of image `n`.
    pub fn image<'t, T>(&self, cells: &'t [T], n: usize) -> &'t [T] {
        &cells[n * self.windows.image()..][..self.windows.image()]
    }

    /// The cells of the output of image `n`.
    pub fn results<'t, T>(&self, cells: &'t [T], n: usize) -> &'t [T] {
        let size = self.windows.per_image() * self.windows.channels;
        &cells[n * size..][..size]
    }

    /// Calls `take` for each window of an image.
    pub fn windows_of_image(&self, mut take: impl FnMut(usize)) -> Result<()> {
        let steps = (PIECE / self.windows.width().max(1)).max(1);
        for p in 0..self.windows.per_image() {
            if p.is_multiple_of(steps) {
                look()?;
            }
            take(p);
        }
        Ok(())
    }
}

/// The number of cells that are looked at between two looks at cancellation.
const PIECE: usize = 1 << 16;

/// The number of channels that are looked at together.
const LANES: usize = 64;

/// Calls `found` with each channel of window `p` and the position of its largest cell in the image.
pub(super) fn largest<T: RealElement>(
    windows: &Windows,
    image: &[T],
    p: usize,
    mut found: impl FnMut(usize, usize),
) {
    for from in (0..windows.channels).step_by(LANES) {
        let n = LANES.min(windows.channels - from);
        let (mut best, mut at) = ([T::ZERO; LANES], [usize::MAX; LANES]);
        let mut is_first = true;
        windows.cells(p, |cell| {
            let cell = cell + from;
            for (((best, at), x), i) in
                best[..n].iter_mut().zip(&mut at).zip(&image[cell..cell + n]).zip(cell..)
            {
                if is_first || *best < *x {
                    (*best, *at) = (*x, i);
                }
            }
            is_first = false;
        });
        at[..n].iter().zip(from..).filter(|(at, _)| **at != usize::MAX).for_each(|(at, c)| found(c, *at));
    }
}

/// Sets `row` to the largest cell of window `p` for each channel.
pub(super) fn maxima<T: RealElement>(windows: &Windows, image: &[T], p: usize, row: &mut [T]) {
    row.fill(T::LEAST_FINITE);
    windows.cells(p, |cell| {
        for (best, x) in row.iter_mut().zip(&image[cell..]) {
            if *best < *x {
                *best = *x;
            }
        }
    });
}

/// Sets `row` to the mean of window `p` for each channel. Cells beyond the image do not count.
pub(super) fn means<T: Number>(windows: &Windows, image: &[T], p: usize, row: &mut [T]) {
    row.fill(T::ZERO);
    let mut n = 0;
    windows.cells(p, |cell| {
        n += 1;
        row.iter_mut().zip(&image[cell..]).for_each(|(sum, x)| *sum = sum.add(*x));
    });
    let n = T::count(n);
    row.iter_mut().for_each(|sum| *sum = sum.over(n));
}

/// Adds to each cell of window `p` its part of the gradient of the mean.
pub(super) fn spread<T: Number>(windows: &Windows, image: &mut [T], p: usize, grads: &[T]) {
    let mut n = 0;
    windows.cells(p, |_| n += 1);
    let n = T::count(n);
    windows.cells(p, |cell| {
        image[cell..].iter_mut().zip(grads).for_each(|(sum, g)| *sum = sum.add(g.over(n)));
    });
}

/// The estimate of a pool's time: each cell is in a few windows.
pub(super) fn cost(_: &NodeInfo, inputs: &[Tensor]) -> f64 {
    inputs.iter().map(|t| t.elements() as f64).fold(0.0, f64::max) * 4.0
}

/// A node with the attributes of this one. The dtype of a pool's input, which only `MaxPool3DGrad` names, is
/// inferred.
pub(super) fn node<'g, const N: usize>(
    cx: &GradCx<'g, '_>,
    op: &'static str,
    inputs: [Output<'g>; N],
) -> Output<'g> {
    let mut attrs = cx.attrs().clone();
    attrs.remove("TInput");
    cx.op(op).inputs(inputs).attrs(attrs).output()
}
