//! Depthwise convolutions: the shape rules and kernels of `DepthwiseConv2dNative` and its gradients. Channel
//! `c` of the input is convolved with `multiplier` filters of its own, which make the channels
//! `c * multiplier + m` of the output.

use super::convolution::work_dtype;
use super::pieces::in_pieces;
use super::windows::{self, Layout, Windows};
use crate::number::no_kernel;
use crate::shared::casting::cast;
use crate::shared::elementwise::fresh;
use millstream_graph::Output;
use millstream_graph::op::spec::{FloatType, IntList, Spec, Words};
use millstream_graph::op::{GradCx, InferCx, KernelCx, OpDef, StepEnv};
use millstream_tensor::pace::look;
use millstream_tensor::{DType, PartialShape, Result, Shape, Tensor, ensure, invalid, unequal, with_element};
use smallvec::SmallVec;
use std::ops::{AddAssign, Mul};

/// Adds the attributes.
pub(super) fn attrs(def: OpDef) -> OpDef {
    def.attr("T", FloatType)
        .attr("strides", IntList)
        .attr("padding", Words(&["SAME", "VALID"]))
        .attr("data_format", Words(&["NHWC", "NCHW"]).or("NHWC"))
        .attr("dilations", IntList.or(vec![1i64; 4]))
}

/// The shape rule of the convolution.
pub(super) fn infer_output(cx: &mut InferCx) -> Result<()> {
    let (input, filter) = (cx.with_rank(0, 4)?, cx.with_rank(1, 4)?);
    let layout = Layout::of(cx.node().op.name, cx.attrs(), 2)?;
    let (batch, spatial, depth) = layout.parts(&input);
    let depth = match (depth, filter.dim(2)) {
        (Some(a), Some(b)) if a != b => {
            return Err(
                invalid!("{}", unequal(a, b); "`input` has {a} channels but `filter` of shape {filter} takes {b}"),
            );
        }
        (a, b) => a.or(b),
    };
    let depth = match (depth, filter.dim(3)) {
        (Some(depth), Some(m)) => {
            depth.checked_mul(m).map(Some).ok_or_else(|| invalid!("{depth} * {m} channels are too many"))?
        }
        _ => None,
    };
    let mut sizes: SmallVec<[Option<usize>; 3]> = SmallVec::new();
    for (i, size) in spatial.into_iter().enumerate() {
        sizes.push(layout.output(i, size, filter.dim(i))?);
    }
    cx.set(0, PartialShape::new(layout.shape(batch, &sizes, depth)));
    Ok(())
}

/// The shape rule of a gradient, whose shape is in input `i`.
pub(super) fn infer_sizes(cx: &mut InferCx, i: usize) -> Result<()> {
    Layout::of(cx.node().op.name, cx.attrs(), 2)?;
    for j in (0..3).filter(|j| *j != i) {
        cx.with_rank(j, 4)?;
    }
    windows::infer_sizes(cx, i, 4)
}

/// A call: the windows, and the shapes in the data format.
struct Call<'a> {
    env: &'a StepEnv,
    layout: Layout,
    windows: Windows,
    multiplier: usize,
    input: Shape,
    filter: Shape,
    output: Shape,
}

/// Reads input `i`, the shape of the input or the filter.
fn sizes(cx: &KernelCx, i: usize) -> Result<Shape> {
    windows::sizes(cx, i, 4, || format!("{} must be 4-dimensional", if i == 0 { "input" } else { "filter" }))
}

impl<'a> Call<'a> {
    fn new(cx: &KernelCx<'a>, input: &Shape, filter: &Shape) -> Result<Call<'a>> {
        let layout = Layout::of(cx.node.op.name, cx.attrs(), 2)?;
        layout.check_outer(cx.attrs())?;
        ensure!(input.rank() == 4, "input must be 4-dimensional{input}"; "`input` must have rank 4");
        ensure!(filter.rank() == 4, "filter must be 4-dimensional: {filter}"; "`filter` must have rank 4");
        let depth = input[layout.channels];
        ensure!(
            depth == filter[2],
            "input and filter must have the same depth: {depth} vs {}", filter[2];
            "`input` has shape {input} and `filter` has shape {filter}"
        );
        let windows = layout.windows_over(input, filter)?;
        let multiplier = filter[3];
        let out_depth = depth
            .checked_mul(multiplier)
            .ok_or_else(|| invalid!("{depth} * {multiplier} channels are too many"))?;
        let output = layout.output_shape(&windows, out_depth);
        output.checked_elements()?;
        let (input, filter) = (input.clone(), filter.clone());
        Ok(Call { env: cx.env, layout, windows, multiplier, input, filter, output })
    }

    fn behind(cx: &KernelCx<'a>, input: &Shape, filter: &Shape, dy: &Shape) -> Result<Call<'a>> {
        let call = Call::new(cx, input, filter)?;
        ensure!(
            call.output == *dy,
            "`out_backprop` has shape {dy}, but an input of shape {input} and a filter of shape {filter} give {}",
            call.output
        );
        Ok(call)
    }

    /// A shape in the data format, with the channels on the last axis.
    fn channels_last(&self, shape: &Shape) -> Shape {
        let channels = self.layout.channels;
        let others = shape.iter().enumerate().filter(|(i, _)| *i != channels).map(|(_, d)| *d);
        Shape::new(others.chain([shape[channels]]))
    }

    /// The number of channels of the output.
    fn out_depth(&self) -> usize {
        self.windows.channels * self.multiplier
    }

    fn work(&self) -> f64 {
        let w = &self.windows;
        4.0 * w.batch as f64 * w.per_image() as f64 * w.taps() as f64 * self.out_depth() as f64
    }

    /// The elements of image `n`.
    fn image<'t, T>(&self, cells: &'t [T], n: usize) -> &'t [T] {
        &cells[n * self.windows.image()..][..self.windows.image()]
    }
}

/// The kernel of the convolution.
pub(super) fn run_output(cx: &mut KernelCx) -> Result<()> {
    let call = Call::new(cx, cx.input(0).shape(), cx.input(1).shape())?;
    let dtype = cx.input(0).dtype();
    let input = cast(&call.layout.channels_last(cx.take(0))?, work_dtype(dtype))?;
    let filter = cast(cx.input(1), work_dtype(dtype))?;
    let out = with_element!(input.dtype(), T in [F32 F64] => {
        let mut out = Tensor::zeros(input.dtype(), call.channels_last(&call.output))?;
        call.output::<T>(input.as_slice()?, filter.as_slice()?, fresh(&mut out)?)?;
        call.layout.in_format(cast(&out, dtype)?)
    }, else => Err(no_kernel(cx.node.op.name, dtype)))?;
    cx.set(0, out);
    Ok(())
}

/// The kernel of the gradient by the input.
pub(super) fn run_to_input(cx: &mut KernelCx) -> Result<()> {
    let call = Call::behind(cx, &sizes(cx, 0)?, cx.input(1).shape(), cx.input(2).shape())?;
    let dtype: DType = cx.input(2).dtype();
    let filter = cast(cx.input(1), work_dtype(dtype))?;
    let dy = cast(&call.layout.channels_last(cx.take(2))?, work_dtype(dtype))?;
    let out = with_element!(dy.dtype(), T in [F32 F64] => {
        let mut out = Tensor::zeros(dy.dtype(), call.channels_last(&call.input))?;
        call.to_input::<T>(filter.as_slice()?, dy.as_slice()?, fresh(&mut out)?)?;
        call.layout.in_format(cast(&out, dtype)?)
    }, else => Err(no_kernel(cx.node.op.name, dtype)))?;
    cx.set(0, out);
    Ok(())
}

/// The kernel of the gradient by the filter.
pub(super) fn run_to_filter(cx: &mut KernelCx) -> Result<()> {
    let call = Call::behind(cx, cx.input(0).shape(), &sizes(cx, 1)?, cx.input(2).shape())?;
    let dtype: DType = cx.input(2).dtype();
    let input = cast(&call.layout.channels_last(cx.take(0))?, work_dtype(dtype))?;
    let dy = cast(&call.layout.channels_last(cx.take(2))?, work_dtype(dtype))?;
    let out = with_element!(dy.dtype(), T in [F32 F64] => {
        let mut out = Tensor::zeros(dy.dtype(), call.filter.clone())?;
        call.to_filter::<T>(input.as_slice()?, dy.as_slice()?, &mut out)?;
        cast(&out, dtype)
    }, else => Err(no_kernel(cx.node.op.name, dtype)))?;
    cx.set(0, out);
    Ok(())
}

/// The number of products between two looks at cancellation.
const PIECE: usize = 1 << 16;

/// The most parts whose sums make the gradient by the filter. There are as many on one thread.
const PARTS: usize = 8;

impl Call<'_> {
    /// The number of windows of a piece.
    fn windows_of_piece(&self) -> usize {
        (PIECE / (self.windows.taps() * self.out_depth()).max(1)).max(1)
    }

    fn output<T: Copy + Send + Sync + Mul<Output = T> + AddAssign>(
        &self,
        input: &[T],
        filter: &[T],
        out: &mut [T],
    ) -> Result<()> {
        let (w, depth, m) = (&self.windows, self.out_depth(), self.multiplier);
        if depth == 0 {
            return Ok(());
        }
        let rows = self.windows_of_piece();
        in_pieces(self.env, out, rows * depth, self.work(), |i, piece| {
            for (j, sums) in piece.chunks_exact_mut(depth).enumerate() {
                let p = i * rows + j;
                let image = self.image(input, p / w.per_image());
                w.taps_of(p % w.per_image(), |tap, cell| {
                    let (cells, filter) = (&image[cell..][..w.channels], &filter[tap * depth..][..depth]);
                    if m == 1 {
                        sums.iter_mut().zip(cells).zip(filter).for_each(|((sum, x), f)| *sum += *x * *f);
                        return;
                    }
                    for ((sums, x), filter) in sums.chunks_exact_mut(m).zip(cells).zip(filter.chunks_exact(m))
                    {
                        sums.iter_mut().zip(filter).for_each(|(sum, f)| *sum += *x * *f);
                    }
                });
            }
            Ok(())
        })
    }

    fn to_input<T: Copy + Send + Sync + Mul<Output = T> + AddAssign>(
        &self,
        filter: &[T],
        dy: &[T],
        out: &mut [T],
    ) -> Result<()> {
        let (w, depth, m) = (&self.windows, self.out_depth(), self.multiplier);
        if depth == 0 || out.is_empty() {
            return Ok(());
        }
        let steps = self.windows_of_piece();
        in_pieces(self.env, out, w.image(), self.work(), |n, image| {
            for p in 0..w.per_image() {
                if p.is_multiple_of(steps) {
                    look()?;
                }
                let dy = &dy[(n * w.per_image() + p) * depth..][..depth];
                w.taps_of(p, |tap, cell| {
                    let (cells, filter) = (&mut image[cell..][..w.channels], &filter[tap * depth..][..depth]);
                    for ((sum, filter), dy) in
                        cells.iter_mut().zip(filter.chunks_exact(m)).zip(dy.chunks_exact(m))
                    {
                        filter.iter().zip(dy).for_each(|(f, g)| *sum += *f * *g);
                    }
                });
            }
            Ok(())
        })
    }

    fn to_filter<T: millstream_tensor::Element + Mul<Output = T> + AddAssign>(
        &self,
        input: &[T],
        dy: &[T],
        out: &mut Tensor,
    ) -> Result<()> {
        let (w, depth, m) = (&self.windows, self.out_depth(), self.multiplier);
        let (count, size) = (w.batch * w.per_image(), w.taps() * depth);
        if size == 0 || count == 0 {
            return Ok(());
        }
        let steps = self.windows_of_piece();
        let each = count.div_ceil(PARTS).max(steps.min(count));
        let n_parts = count.div_ceil(each);
        let mut parts = Tensor::zeros(out.dtype(), [n_parts, size])?;
        let parts = fresh::<T>(&mut parts)?;
        in_pieces(self.env, parts, size, self.work(), |i, sums| {
            for p in i * each..count.min((i + 1) * each) {
                if p.is_multiple_of(steps) {
                    look()?;
                }
                let (image, dy) = (self.image(input, p / w.per_image()), &dy[p * depth..][..depth]);
                w.taps_of(p % w.per_image(), |tap, cell| {
                    let (cells, sums) = (&image[cell..][..w.channels], &mut sums[tap * depth..][..depth]);
                    for ((sums, x), dy) in sums.chunks_exact_mut(m).zip(cells).zip(dy.chunks_exact(m)) {
                        sums.iter_mut().zip(dy).for_each(|(sum, g)| *sum += *x * *g);
                    }
                });
            }
            Ok(())
        })?;
        let sums = fresh::<T>(out)?;
        for part in parts.chunks_exact(size) {
            sums.iter_mut().zip(part).for_each(|(sum, v)| *sum += *v);
        }
        Ok(())
    }
}

/// A node with the attributes of this one.
pub(super) fn node<'g, const N: usize>(
    cx: &GradCx<'g, '_>,
    op: &'static str,
    inputs: [Output<'g>; N],
) -> Output<'g> {
    cx.op(op).inputs(inputs).attrs(cx.attrs().clone()).output()
}
