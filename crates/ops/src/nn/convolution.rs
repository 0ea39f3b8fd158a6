//! Convolutions and their gradients: the shape rules and kernels that `Conv2D`, `Conv3D` and the ops of their
//! gradients share. `spatial` is the number of spatial axes.
//!
//! A convolution is a product: row `p` of the left matrix holds the cells under window `p`, and the filter is
//! the right matrix. Only a tile of the left matrix exists at a time. How it is cut depends on the sizes
//! alone, so the bits of a result do not depend on threads.
//!
//! ```text
//! output          = windows * filter                     tiles of windows
//! input gradient  = scatter(dy * filter^T)               tiles of windows of an image, images in any order
//! filter gradient = windows^T * dy                       tiles of windows, summed in order
//! ```
//!
//! Half-precision floats are converted to f32 first, and the result is rounded once.

use super::pieces::{OneThread, in_pieces, threads};
use super::windows::{self, Layout, Windows};
use crate::linalg::product::{Matrix, Product};
use crate::number::no_kernel;
use crate::shared::casting::cast;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{Bool, FloatType, IntList, Spec, Words};
use millstream_graph::op::{GradCx, InferCx, KernelCx, NodeInfo, OpDef, StepEnv, StepHost};
use millstream_graph::{Attr, Attrs, Output};
use millstream_tensor::pace::look;
use millstream_tensor::{DType, Error, PartialShape, Result, Shape, Tensor, ensure, invalid, with_element};
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::ops::AddAssign;

/// The ops of a convolution over some number of axes, whose gradients refer to each other.
#[derive(Clone, Copy)]
pub(super) struct Family {
    pub spatial: usize,
    pub forward: &'static str,
    pub to_input: &'static str,
    pub to_filter: &'static str,
}

/// Convolutions of images.
pub(super) const IMAGES: Family = Family {
    spatial: 2,
    forward: "Conv2D",
    to_input: "Conv2DBackpropInput",
    to_filter: "Conv2DBackpropFilter",
};

/// Convolutions of volumes.
pub(super) const VOLUMES: Family = Family {
    spatial: 3,
    forward: "Conv3D",
    to_input: "Conv3DBackpropInputV2",
    to_filter: "Conv3DBackpropFilterV2",
};

/// Adds the attributes of `Conv2D` and its gradients.
pub(super) fn image_attrs(def: OpDef) -> OpDef {
    def.attr("T", FloatType)
        .attr("strides", IntList)
        .attr("use_cudnn_on_gpu", Bool.or(true))
        .attr("padding", Words(&["SAME", "VALID", "EXPLICIT"]))
        .attr("explicit_paddings", IntList.or(Attr::List(Vec::new())))
        .attr("data_format", Words(&["NHWC", "NCHW"]).or("NHWC"))
        .attr("dilations", IntList.or(vec![1i64; 4]))
}

/// Adds the attributes of `Conv3D` and its gradients.
pub(super) fn volume_attrs(def: OpDef) -> OpDef {
    def.attr("T", FloatType)
        .attr("strides", IntList)
        .attr("padding", Words(&["SAME", "VALID"]))
        .attr("data_format", Words(&["NDHWC", "NCDHW"]).or("NDHWC"))
        .attr("dilations", IntList.or(vec![1i64; 5]))
}

// Shapes.

/// The shape rule of a convolution.
pub(super) fn infer_output(cx: &mut InferCx, family: Family) -> Result<()> {
    let rank = family.spatial + 2;
    let (input, filter) = (cx.with_rank(0, rank)?, cx.with_rank(1, rank)?);
    let shape = output_of(cx, family, &input, &filter)?;
    cx.set(0, shape);
    Ok(())
}

/// The shape of the convolution of images of this shape with the filter that is input `i`.
pub(crate) fn infer_convolved(cx: &InferCx, images: &PartialShape, i: usize) -> Result<PartialShape> {
    output_of(cx, IMAGES, images, &cx.with_rank(i, 4)?)
}

fn output_of(
    cx: &InferCx,
    family: Family,
    input: &PartialShape,
    filter: &PartialShape,
) -> Result<PartialShape> {
    let layout = Layout::of(cx.node().op.name, cx.attrs(), family.spatial)?;
    let (batch, spatial, depth) = layout.parts(input);
    let (filter_depth, out_depth) = (filter.dim(family.spatial), filter.dim(family.spatial + 1));
    if let (Some(depth), Some(filter_depth)) = (depth, filter_depth) {
        check_depths(depth, filter_depth, out_depth)?;
    }
    let mut sizes: SmallVec<[Option<usize>; 3]> = SmallVec::new();
    for (i, size) in spatial.into_iter().enumerate() {
        sizes.push(layout.output(i, size, filter.dim(i))?);
    }
    Ok(PartialShape::new(layout.shape(batch, &sizes, out_depth)))
}

fn check_depths(depth: usize, filter_depth: usize, out_depth: Option<usize>) -> Result<()> {
    let groups = depth.checked_div(filter_depth).filter(|groups| depth == groups * filter_depth);
    let groups = groups.or((depth == 0 && filter_depth == 0).then_some(1));
    let groups = groups.ok_or_else(|| {
        invalid!(
            "Depth of input ({depth}) is not a multiple of input depth of filter ({filter_depth})";
            "a filter `[.., in, out]` needs an input with `in` channels"
        )
    })?;
    match out_depth {
        Some(out) if groups != 0 && !out.is_multiple_of(groups) => Err(invalid!(
            "Depth of output ({out}) is not a multiple of the number of groups ({groups})";
            "`input` has {depth} channels and `filter` takes {filter_depth}"
        )),
        _ => Ok(()),
    }
}

/// The shape rule of a gradient, whose shape is in input `i`.
pub(super) fn infer_sizes(cx: &mut InferCx, i: usize, family: Family) -> Result<()> {
    let (op, rank) = (cx.node().op.name, family.spatial + 2);
    Layout::of(op, cx.attrs(), family.spatial)?;
    for j in (0..3).filter(|j| *j != i) {
        cx.with_rank(j, rank)?;
    }
    windows::infer_sizes(cx, i, rank)
}

/// The windows of a call, with the shapes of the tensors in the data format.
struct Call {
    layout: Layout,
    windows: Windows,
    out_depth: usize,
    output: Shape,
}

impl Call {
    fn new(cx: &KernelCx, family: Family, input: &Shape, filter: &Shape) -> Result<Call> {
        let (op, rank) = (cx.node.op.name, family.spatial + 2);
        let layout = Layout::of(op, cx.attrs(), family.spatial)?;
        layout.check_outer(cx.attrs())?;
        ensure!(input.rank() == rank, "input must be {rank}-dimensional{input}"; "`input` must have rank {rank}");
        ensure!(filter.rank() == rank, "filter must be {rank}-dimensional: {filter}"; "`filter` must have rank {rank}");
        let (depth, filter_depth) = (input[layout.channels], filter[family.spatial]);
        if filter_depth == 0 && depth != 0 || filter_depth != 0 && !depth.is_multiple_of(filter_depth) {
            return Err(invalid!(
                "input depth must be evenly divisible by filter depth: {depth} vs {filter_depth}";
                "Depth of input ({depth}) is not a multiple of input depth of filter ({filter_depth})"
            ));
        }
        check_depths(depth, filter_depth, Some(filter[family.spatial + 1]))?;
        if depth != filter_depth {
            let message = format!(
                "The {op} op currently does not support grouped convolutions on the CPU. A grouped convolution was \
                 attempted to be run because the input depth of {depth} does not match the filter input depth of \
                 {filter_depth}"
            );
            return Err(Error::unimplemented(message).with_help(
                "split `input` and `filter` along their channels, convolve the parts, and concatenate",
            ));
        }
        let windows = layout.windows_over(input, filter)?;
        let out_depth = filter[family.spatial + 1];
        let output = layout.output_shape(&windows, out_depth);
        output.checked_elements()?;
        Ok(Call { layout, windows, out_depth, output })
    }

    /// The call whose output had the gradient `dy`, which must have the output's shape.
    fn behind(cx: &KernelCx, family: Family, input: &Shape, filter: &Shape, dy: &Shape) -> Result<Call> {
        let call = Call::new(cx, family, input, filter)?;
        ensure!(
            call.output == *dy,
            "{}", call.mismatch(cx.node.op.name, dy);
            "`out_backprop` has shape {dy}, but an input of shape {input} and a filter of shape {filter} give {}", call.output
        );
        Ok(call)
    }

    /// TensorFlow's words for a gradient that does not have the output's shape.
    fn mismatch(&self, op: &str, dy: &Shape) -> String {
        let op = op.replace("Conv2DBackprop", "Conv2DCustomBackprop");
        let (out, layout) = (&self.output, &self.layout);
        if dy.rank() != out.rank() {
            return format!("{op}: out_backprop must be {}-dimensional", out.rank());
        }
        if dy[0] != out[0] {
            return format!(
                "{op}: input and out_backprop must have the same batch sizeinput batch: {}outbackprop batch: {} batch_dim: 0",
                out[0], dy[0]
            );
        }
        if dy[layout.channels] != out[layout.channels] {
            return format!("{op}: filter and out_backprop must have the same out_depth");
        }
        let wrong = (0..layout.spatial).find(|i| dy[layout.axis(*i)] != out[layout.axis(*i)]).unwrap_or(0);
        let axis = self.windows.axes[3 - layout.spatial + wrong];
        format!(
            "{op}: Size of out_backprop doesn't match computed: actual = {actual}, computed = {} spatial_dim: {} input: {} filter: {} output: {actual} stride: {} dilation: {}",
            axis.output,
            layout.axis(wrong),
            axis.input,
            axis.filter,
            axis.stride,
            axis.dilation,
            actual = dy[layout.axis(wrong)],
        )
    }
}

/// Reads input `i`, the shape of the input or the filter.
fn sizes(cx: &KernelCx, i: usize, rank: usize) -> Result<Shape> {
    windows::sizes(cx, i, rank, || {
        let op = cx.node.op.name.replace("Conv2DBackprop", "Conv2DCustomBackprop");
        format!("{op}: {} must be {rank}-dimensional", if i == 0 { "input" } else { "filter" })
    })
}

// Kernels.

/// The dtype that a convolution is computed in.
pub(super) fn work_dtype(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    }
}

/// The kernel of a convolution.
pub(super) fn run_output(cx: &mut KernelCx, family: Family) -> Result<()> {
    let input = cx.take(0);
    let out = output(cx, family, input, cx.input(1))?;
    cx.set(0, out);
    Ok(())
}

/// The convolution of images with a filter, for ops that make the images of their inputs.
pub(crate) fn convolved(cx: &KernelCx, images: Tensor, filter: &Tensor) -> Result<Tensor> {
    output(cx, IMAGES, images, filter)
}

fn output(cx: &KernelCx, family: Family, input: Tensor, filter: &Tensor) -> Result<Tensor> {
    let call = Call::new(cx, family, input.shape(), filter.shape())?;
    let (dtype, shape) = (input.dtype(), channels_last(&call));
    let input = cast(&call.layout.channels_last(input)?, work_dtype(dtype))?;
    let filter = cast(filter, work_dtype(dtype))?;
    let out = with_element!(input.dtype(), T in [I32 F32 F64] => {
        let job = Job { env: cx.env, windows: &call.windows, out_depth: call.out_depth };
        job.output::<T>(&input, &filter, shape)
    }, else => Err(no_kernel(cx.node.op.name, dtype)))?;
    call.layout.in_format(cast(&out, dtype)?)
}

/// The kernel of the gradient by the input.
pub(super) fn run_to_input(cx: &mut KernelCx, family: Family) -> Result<()> {
    let shape = sizes(cx, 0, family.spatial + 2)?;
    to_input(cx, family, &shape)
}

/// The kernel of the gradient by the input, which is input 0.
pub(super) fn run_like_input(cx: &mut KernelCx, family: Family) -> Result<()> {
    let shape = shape_like(cx, 0, family)?;
    to_input(cx, family, &shape)
}

/// The shape of input `i`, which is that of the result.
fn shape_like(cx: &KernelCx, i: usize, family: Family) -> Result<Shape> {
    let (shape, rank) = (cx.input(i).shape(), family.spatial + 2);
    ensure!(shape.rank() == rank, "`{}` must have rank {rank} but has shape {shape}", cx.name_of(i));
    Ok(shape.clone())
}

fn to_input(cx: &mut KernelCx, family: Family, shape: &Shape) -> Result<()> {
    let call = Call::behind(cx, family, shape, cx.input(1).shape(), cx.input(2).shape())?;
    let dtype = cx.input(2).dtype();
    let filter = cast(cx.input(1), work_dtype(dtype))?;
    let dy = cast(&call.layout.channels_last(cx.take(2))?, work_dtype(dtype))?;
    let axes = &call.windows.axes[3 - family.spatial..];
    let dims = std::iter::once(shape[0]).chain(axes.iter().map(|a| a.input)).chain([call.windows.channels]);
    let shape = Shape::new(dims);
    let out = with_element!(dy.dtype(), T in [F32 F64] => {
        let job = Job { env: cx.env, windows: &call.windows, out_depth: call.out_depth };
        job.to_input::<T>(&filter, &dy, shape)
    }, else => Err(no_kernel(cx.node.op.name, dtype)))?;
    finish(cx, &call.layout, out, dtype)
}

/// The kernel of the gradient by the filter.
pub(super) fn run_to_filter(cx: &mut KernelCx, family: Family) -> Result<()> {
    let shape = sizes(cx, 1, family.spatial + 2)?;
    to_filter(cx, family, shape)
}

/// The kernel of the gradient by the filter, which is input 1.
pub(super) fn run_like_filter(cx: &mut KernelCx, family: Family) -> Result<()> {
    let shape = shape_like(cx, 1, family)?;
    to_filter(cx, family, shape)
}

fn to_filter(cx: &mut KernelCx, family: Family, shape: Shape) -> Result<()> {
    let call = Call::behind(cx, family, cx.input(0).shape(), &shape, cx.input(2).shape())?;
    let dtype = cx.input(2).dtype();
    let input = cast(&call.layout.channels_last(cx.take(0))?, work_dtype(dtype))?;
    let dy = cast(&call.layout.channels_last(cx.take(2))?, work_dtype(dtype))?;
    let out = with_element!(dy.dtype(), T in [F32 F64] => {
        let job = Job { env: cx.env, windows: &call.windows, out_depth: call.out_depth };
        job.to_filter::<T>(&input, &dy, shape)
    }, else => Err(no_kernel(cx.node.op.name, dtype)))?;
    cx.set(0, cast(&out, dtype)?);
    Ok(())
}

/// The shape of the output with the channels on the last axis.
fn channels_last(call: &Call) -> Shape {
    let axes = &call.windows.axes[3 - call.layout.spatial..];
    let dims =
        std::iter::once(call.windows.batch).chain(axes.iter().map(|a| a.output)).chain([call.out_depth]);
    Shape::new(dims)
}

fn finish(cx: &mut KernelCx, layout: &Layout, out: Tensor, dtype: DType) -> Result<()> {
    let out = layout.in_format(cast(&out, dtype)?)?;
    cx.set(0, out);
    Ok(())
}

/// The number of elements of a tile: 1 MB of f32, which the second-level cache holds.
const TILE: usize = 1 << 18;
/// The number of windows that a tile has in any case, unless it then has more than [`MOST`] elements. Each
/// product packs the filter again, which costs as much as a few dozen windows.
const LEAST_WINDOWS: usize = 128;
const MOST: usize = 1 << 22;

/// The number of windows of a tile.
fn tile(width: usize) -> usize {
    let width = width.max(1);
    (TILE / width).max(LEAST_WINDOWS.min(MOST / width)).max(1)
}

/// The types that convolutions are computed in.
trait Work: Product + Default + AddAssign {}
impl Work for i32 {}
impl Work for f32 {}
impl Work for f64 {}

/// A convolution with channels on the last axis.
struct Job<'a> {
    env: &'a StepEnv,
    windows: &'a Windows,
    out_depth: usize,
}

impl Job<'_> {
    /// The number of multiplications.
    fn work(&self) -> f64 {
        let w = self.windows;
        w.batch as f64 * w.per_image() as f64 * w.width() as f64 * self.out_depth as f64
    }

    /// Whether there is nothing to add up.
    fn is_empty(&self) -> bool {
        self.windows.channels == 0
            || self.out_depth == 0
            || self.windows.batch == 0
            || self.windows.per_image() == 0
    }

    fn output<T: Work>(&self, input: &Tensor, filter: &Tensor, shape: Shape) -> Result<Tensor> {
        if self.is_empty() {
            return Tensor::zeros(T::DTYPE, shape);
        }
        let (input, filter) = (input.as_slice::<T>()?, filter.as_slice::<T>()?);
        let (width, depth) = (self.windows.width(), self.out_depth);
        let filter = Matrix::new(filter, width, depth)?;
        let mut out = Tensor::anything(T::DTYPE, shape)?;
        let rows = tile(width).min(self.windows.batch * self.windows.per_image());
        let tiles = fresh::<T>(&mut out)?;
        self.tiles(tiles, rows * depth, rows * width, |host, scratch, i, piece| {
            let count = piece.len() / depth;
            let left = self.gathered(input, i * rows, count, scratch);
            T::multiply(host, Matrix::new(left, count, width)?, filter, piece)
        })?;
        Ok(out)
    }

    fn to_input<T: Work>(&self, filter: &Tensor, dy: &Tensor, shape: Shape) -> Result<Tensor> {
        let mut out = Tensor::zeros(T::DTYPE, shape)?;
        if self.is_empty() || out.elements() == 0 {
            return Ok(out);
        }
        let (filter, dy) = (filter.as_slice::<T>()?, dy.as_slice::<T>()?);
        let (w, width, depth) = (self.windows, self.windows.width(), self.out_depth);
        let filter = Matrix::new(filter, width, depth)?.transposed(true);
        let rows = tile(width).min(w.per_image());
        self.tiles(fresh::<T>(&mut out)?, w.image(), rows * width, |host, scratch, i, image| {
            let dy = &dy[i * w.per_image() * depth..][..w.per_image() * depth];
            for (tile, dy) in dy.chunks(rows * depth).enumerate() {
                look()?;
                let count = dy.len() / depth;
                let dy = Matrix::new(dy, count, depth)?;
                if w.are_identity() {
                    T::multiply(host, dy, filter, &mut image[tile * rows * width..][..count * width])?;
                    continue;
                }
                let cells = &mut scratch[..count * width];
                T::multiply(host, dy, filter, cells)?;
                w.scatter(cells, tile * rows, image);
            }
            Ok(())
        })?;
        Ok(out)
    }

    fn to_filter<T: Work>(&self, input: &Tensor, dy: &Tensor, shape: Shape) -> Result<Tensor> {
        let mut out = Tensor::zeros(T::DTYPE, shape)?;
        if self.is_empty() || out.elements() == 0 {
            return Ok(out);
        }
        let (input, dy) = (input.as_slice::<T>()?, dy.as_slice::<T>()?);
        let (width, depth) = (self.windows.width(), self.out_depth);
        // Each tile adds a whole filter, so a tile has more windows than the filter has rows, if it may.
        let rows =
            tile(width).max((2 * width).min(MOST / width)).min(self.windows.batch * self.windows.per_image());
        let mut scratch = Tensor::anything(T::DTYPE, [rows * width])?;
        let mut part = Tensor::anything(T::DTYPE, [width * depth])?;
        let (scratch, part) = (fresh::<T>(&mut scratch)?, fresh::<T>(&mut part)?);
        let sums = fresh::<T>(&mut out)?;
        for (i, dy) in dy.chunks(rows * depth).enumerate() {
            look()?;
            let count = dy.len() / depth;
            if !self.windows.are_identity() {
                self.gather_shared(input, i * rows, &mut scratch[..count * width])?;
            }
            let left = match self.windows.are_identity() {
                true => &input[i * rows * width..][..count * width],
                false => &scratch[..count * width],
            };
            let left = Matrix::new(left, count, width)?.transposed(true);
            T::multiply(&*self.env.host, left, Matrix::new(dy, count, depth)?, part)?;
            sums.iter_mut().zip(&*part).for_each(|(sum, v)| *sum += *v);
        }
        Ok(out)
    }

    /// Returns the rows of `count` windows, in `scratch` unless the input has them as they are.
    fn gathered<'s, T: Work>(
        &self,
        input: &'s [T],
        from: usize,
        count: usize,
        scratch: &'s mut [T],
    ) -> &'s [T] {
        let width = self.windows.width();
        if self.windows.are_identity() {
            return &input[from * width..][..count * width];
        }
        let rows = &mut scratch[..count * width];
        self.windows.gather(input, from, rows);
        rows
    }

    /// Fills `rows` with the rows of windows, on several threads.
    fn gather_shared<T: Work>(&self, input: &[T], from: usize, rows: &mut [T]) -> Result<()> {
        const WINDOWS: usize = 64;
        let width = self.windows.width();
        // Copying an element costs as much as several multiplications.
        let work = 8.0 * rows.len() as f64;
        in_pieces(self.env, rows, WINDOWS * width, work, |i, piece| {
            self.windows.gather(input, from + i * WINDOWS, piece);
            Ok(())
        })
    }

    /// Calls `fill` with each piece of `size` elements of `out`, and with scratch memory of `scratch`
    /// elements. With few pieces the products use the threads; with many, each thread fills pieces of its
    /// own.
    fn tiles<T: Work>(
        &self,
        out: &mut [T],
        size: usize,
        scratch: usize,
        fill: impl Fn(&dyn StepHost, &mut [T], usize, &mut [T]) -> Result<()> + Sync,
    ) -> Result<()> {
        let scratch = if self.windows.are_identity() { 0 } else { scratch };
        let n_pieces = out.len().div_ceil(size);
        let n_threads = threads(&*self.env.host, self.work(), n_pieces);
        if n_threads == 1 || n_pieces < 2 * n_threads {
            let mut scratch = Tensor::anything(T::DTYPE, [scratch])?;
            let scratch = fresh::<T>(&mut scratch)?;
            for (i, piece) in out.chunks_mut(size).enumerate() {
                look()?;
                fill(&*self.env.host, scratch, i, piece)?;
            }
            return Ok(());
        }
        // Made here, once for each thread.
        let made = (0..n_threads).map(|_| Tensor::anything(T::DTYPE, [scratch]));
        let free = Mutex::new(made.collect::<Result<Vec<Tensor>>>()?);
        in_pieces(self.env, out, size, self.work(), |i, piece| {
            let taken = { free.lock().pop() };
            let mut own = taken.ok_or_else(|| Error::internal("more threads than were asked for"))?;
            let done = fill(&OneThread, fresh::<T>(&mut own)?, i, piece);
            free.lock().push(own);
            done
        })
    }
}

// Estimates of the time, at 50 multiplications per nanosecond.

fn size_over(tensor: &Tensor, axis: impl Fn(usize) -> usize) -> f64 {
    let axis = axis(tensor.rank());
    tensor.elements() as f64 / tensor.shape().get(axis).copied().unwrap_or(1).max(1) as f64
}

/// The time of a convolution, as if its strides were 1.
pub(super) fn cost_of_output(node: &NodeInfo, inputs: &[Tensor]) -> f64 {
    let [input, filter] = inputs else { return 0.0 };
    let channels = Layout::of(node.op.name, &node.attrs, input.rank().saturating_sub(2));
    let channels = channels.map_or(0, |layout| layout.channels);
    size_over(input, |_| channels) * filter.elements() as f64 / 50.0
}

/// The time of the gradient by the input.
pub(super) fn cost_of_to_input(_: &NodeInfo, inputs: &[Tensor]) -> f64 {
    let [_, filter, dy] = inputs else { return 0.0 };
    dy.elements() as f64 * size_over(filter, |rank| rank.saturating_sub(1)) / 50.0
}

/// The time of the gradient by the filter.
pub(super) fn cost_of_to_filter(_: &NodeInfo, inputs: &[Tensor]) -> f64 {
    let [_, sizes, dy] = inputs else { return 0.0 };
    let sizes = sizes.as_slice::<i32>().unwrap_or(&[]);
    let width: f64 = sizes.iter().rev().skip(1).map(|d| f64::from(*d)).product();
    dy.elements() as f64 * width / 50.0
}

// Gradients.

/// A node of the family, with the attributes of this one.
fn node<'g>(cx: &GradCx<'g, '_>, op: &'static str, inputs: [Output<'g>; 3], n: usize) -> Output<'g> {
    let mut attrs: Attrs = cx.attrs().clone();
    attrs.remove("Tshape");
    cx.op(op).inputs(inputs.into_iter().take(n)).attrs(attrs).output()
}

// y = conv(x, f) is linear in both: dx is the scattered product with the filter, df that with the windows.
pub(super) fn grad_output(cx: &mut GradCx, family: Family) -> Result<()> {
    let dy = cx.grad(0);
    if cx.wants(0) {
        let (shape, filter) = (cx.shape_of_input(0), cx.input(1));
        let dx = node(cx, family.to_input, [shape, filter, dy], 3);
        cx.give(0, dx);
    }
    if cx.wants(1) {
        let (input, shape) = (cx.input(0), cx.shape_of_input(1));
        let df = node(cx, family.to_filter, [input, shape, dy], 3);
        cx.give(1, df);
    }
    Ok(())
}

// The gradient g of dx = scatter(dy fᵀ) is an input: df takes its windows, and ddy convolves it.
pub(super) fn grad_to_input(cx: &mut GradCx, family: Family) -> Result<()> {
    let g = cx.grad(0);
    if cx.wants(1) {
        let (shape, dy) = (cx.shape_of_input(1), cx.input(2));
        let df = node(cx, family.to_filter, [g, shape, dy], 3);
        cx.give(1, df);
    }
    if cx.wants(2) {
        let filter = cx.input(1);
        let ddy = node(cx, family.forward, [g, filter, g], 2);
        cx.give(2, ddy);
    }
    Ok(())
}

// The gradient g of df = windows(x)ᵀ dy is a filter: dx scatters with it, and ddy convolves with it.
pub(super) fn grad_to_filter(cx: &mut GradCx, family: Family) -> Result<()> {
    let g = cx.grad(0);
    if cx.wants(0) {
        let (shape, dy) = (cx.shape_of_input(0), cx.input(2));
        let dx = node(cx, family.to_input, [shape, g, dy], 3);
        cx.give(0, dx);
    }
    if cx.wants(2) {
        let input = cx.input(0);
        let ddy = node(cx, family.forward, [input, g, g], 2);
        cx.give(2, ddy);
    }
    Ok(())
}
