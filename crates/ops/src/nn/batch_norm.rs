//! Batch normalization: what `FusedBatchNorm` and `FusedBatchNormGrad` share. Statistics are those of each
//! channel over the batch and the positions. They are summed in f64, in blocks of rows whose sizes depend on
//! the shape alone.

use super::pieces::in_pieces;
use crate::shared::elementwise::fresh;
use millstream_graph::Attrs;
use millstream_graph::Output;
use millstream_graph::op::spec::{Bool, Float, OneOf, Spec, Words};
use millstream_graph::op::{GradCx, InferCx, KernelCx, OpDef, StepEnv};
use millstream_tensor::DType::{self, BF16, F16, F32};
use millstream_tensor::{Dim, PartialShape, Result, Shape, Tensor, ensure, invalid, unequal};
use smallvec::SmallVec;

/// Adds the attributes of version `version`. From the second on, images may have half-width floats.
pub(super) fn attrs(def: OpDef, version: usize) -> OpDef {
    let def = match version {
        1 => def.attr("T", OneOf(&[F32])),
        _ => def.attr("T", OneOf(&[F16, BF16, F32])).attr("U", OneOf(&[F32])),
    };
    def.attr("epsilon", Float.or(1e-4f32))
        .attr("data_format", Words(&["NHWC", "NCHW"]).or("NHWC"))
        .attr("is_training", Bool.or(true))
}

/// The type attribute of the statistics.
pub(super) fn stats(version: usize) -> &'static str {
    if version == 1 { "T" } else { "U" }
}

/// The axis of the channels of images.
pub(super) fn channels(attrs: &Attrs) -> Result<usize> {
    Ok(if **attrs.str("data_format")? == *b"NCHW" { 1 } else { 3 })
}

/// Returns the shape of the images at inputs `images`, and the number of channels, on which the vectors at
/// inputs `vectors` agree.
pub(super) fn infer_images(cx: &InferCx, images: &[usize], vectors: &[usize]) -> Result<(PartialShape, Dim)> {
    let axis = channels(cx.attrs())?;
    let mut shape = cx.with_rank(images[0], 4)?;
    for &i in &images[1..] {
        shape = shape.merge(&cx.with_rank(i, 4)?).ok_or_else(|| {
            invalid!(
                "`{}` has shape {} but `{}` has shape {}",
                cx.name_of(images[0]),
                cx.input(images[0]),
                cx.name_of(i),
                cx.input(i)
            )
        })?;
    }
    let mut depth = shape.dim(axis);
    for &i in vectors {
        depth = match (depth, cx.vector(i)?) {
            (Some(a), Some(b)) if a != b => {
                return Err(
                    invalid!("{}", unequal(a, b); "`{}` has {b} entries but there are {a} channels", cx.name_of(i)),
                );
            }
            (a, b) => a.or(b),
        };
    }
    let dims = (0..4).map(|i| if i == axis { depth } else { shape.dim(i) });
    Ok((PartialShape::new(dims), depth))
}

/// Images of a run as rows of channels.
pub(super) struct Rows {
    /// The number of channels.
    pub depth: usize,
    /// The number of rows.
    pub n: usize,
    first: bool,
    dtype: DType,
    shape: Shape,
}

impl Rows {
    /// Reads the shape of input `i`.
    pub fn of(cx: &KernelCx, i: usize) -> Result<Rows> {
        let shape = cx.input(i).shape().clone();
        ensure!(
            shape.rank() == 4,
            "input must be 4-dimensional{shape}";
            "{}: `{}` must have rank 4 but has shape {shape}", cx.node.op.name, cx.name_of(i)
        );
        let axis = channels(cx.attrs())?;
        let others = shape.iter().enumerate().filter(|(i, _)| *i != axis).map(|(_, d)| *d);
        let n = others.fold(1usize, usize::saturating_mul);
        Ok(Rows { depth: shape[axis], n, first: axis == 1, dtype: cx.input(i).dtype(), shape })
    }

    /// Takes input `i`, as rows of f32.
    pub fn take(&self, cx: &mut KernelCx, i: usize) -> Result<Tensor> {
        let images = cx.take(i);
        ensure!(
            images.shape() == &self.shape,
            "{}: `{}` has shape {} instead of {}",
            cx.node.op.name,
            cx.name_of(i),
            images.shape(),
            self.shape
        );
        let images = crate::shared::casting::cast(&images, F32)?;
        if !self.first {
            return Ok(images);
        }
        let (d, s) = (&self.shape, self.shape.strides());
        images.strided(
            [d[0], d[2], d[3], d[1]],
            0,
            &[s[0] as isize, s[2] as isize, s[3] as isize, s[1] as isize],
        )
    }

    /// Returns rows in the shape and dtype of the images.
    pub fn give(&self, rows: Tensor) -> Result<Tensor> {
        let rows = crate::shared::casting::cast(&rows, self.dtype)?;
        if !self.first {
            return rows.into_shape(self.shape.clone());
        }
        let d = &self.shape;
        let shape = Shape::from([d[0], d[2], d[3], d[1]]);
        let (rows, s) = (rows.into_shape(shape.clone())?, shape.strides());
        rows.strided(d.clone(), 0, &[s[0] as isize, s[3] as isize, s[1] as isize, s[2] as isize])
    }

    /// Reads input `i`, a vector with one entry for each channel.
    pub fn vector(&self, cx: &KernelCx, i: usize) -> Result<Tensor> {
        ensure!(
            cx.input(i).shape().dims() == [self.depth],
            "{}: `{}` has shape {}, but there are {} channels",
            cx.node.op.name,
            cx.name_of(i),
            cx.input(i).shape(),
            self.depth
        );
        Ok(cx.input(i).clone())
    }

    /// Returns the sums that `add` makes of all rows: `N` for each channel, one after another. `add` gets the
    /// sums, of which entry `k * depth + channel` is the k-th of a channel, and the number of a row.
    pub fn sums<const N: usize>(
        &self,
        env: &StepEnv,
        add: impl Fn(&mut [f64], usize) + Sync,
    ) -> Result<Tensor> {
        let width = N * self.depth;
        let block = (BLOCK / self.depth.max(1)).max(1);
        let n_blocks = self.n.div_ceil(block).max(1);
        let mut parts = Tensor::zeros(DType::F64, [n_blocks, width])?;
        let work = 4.0 * self.n as f64 * width as f64;
        in_pieces(env, fresh::<f64>(&mut parts)?, width, work, |i, sums| {
            (i * block..self.n.min((i + 1) * block)).for_each(|row| add(sums, row));
            Ok(())
        })?;
        let mut total = Tensor::zeros(DType::F64, [width])?;
        let sums = fresh::<f64>(&mut total)?;
        for part in parts.as_slice::<f64>()?.chunks_exact(width.max(1)) {
            sums.iter_mut().zip(part).for_each(|(sum, v)| *sum += *v);
        }
        Ok(total)
    }

    /// Fills new rows. `fill` gets a row and its number.
    pub fn map(&self, env: &StepEnv, fill: impl Fn(usize, &mut [f32]) + Sync) -> Result<Tensor> {
        let mut out = Tensor::anything(F32, [self.n, self.depth])?;
        let rows = (BLOCK / self.depth.max(1)).max(1);
        let work = 4.0 * self.n as f64 * self.depth as f64;
        in_pieces(env, fresh::<f32>(&mut out)?, rows * self.depth, work, |i, piece| {
            for (j, row) in piece.chunks_exact_mut(self.depth).enumerate() {
                fill(i * rows + j, row);
            }
            Ok(())
        })?;
        Ok(out)
    }
}

/// The number of elements of a block of rows.
const BLOCK: usize = 1 << 16;

/// Row `i` of rows of `depth` elements.
#[inline(always)]
pub(super) fn row(rows: &[f32], depth: usize, i: usize) -> &[f32] {
    &rows[i * depth..][..depth]
}

/// The formulas of gradients: images, and vectors with one entry for each channel.
pub(super) struct Formulas {
    axis: usize,
}

impl Formulas {
    pub fn of(cx: &GradCx) -> Result<Formulas> {
        Ok(Formulas { axis: channels(cx.attrs())? })
    }

    /// Images as f32.
    pub fn wide<'g>(&self, cx: &GradCx<'g, '_>, x: Output<'g>) -> Output<'g> {
        match x.dtype() {
            Ok(F32) => x,
            _ => cx.op("Cast").input(x).attr("DstT", F32).output(),
        }
    }

    /// Sums images over all but the channels.
    pub fn sum<'g>(&self, cx: &GradCx<'g, '_>, x: Output<'g>) -> Output<'g> {
        let axes: SmallVec<[i32; 3]> = (0..4).filter(|i| *i != self.axis as i32).collect();
        cx.call("Sum", [x, cx.ints(&axes)])
    }

    /// A vector in a shape that broadcasts to images.
    pub fn along<'g>(&self, cx: &GradCx<'g, '_>, v: Output<'g>) -> Output<'g> {
        match self.axis {
            1 => cx.call("Reshape", [v, cx.ints(&[-1, 1, 1])]),
            _ => v,
        }
    }

    /// Images times a vector.
    pub fn times<'g>(&self, cx: &GradCx<'g, '_>, x: Output<'g>, v: Output<'g>) -> Output<'g> {
        x * self.along(cx, v)
    }

    /// The number of elements of each channel, as an f32.
    pub fn count<'g>(&self, cx: &mut GradCx<'g, '_>, images: usize, vector: usize) -> Output<'g> {
        let shape = cx.input_shape(images);
        let known = (0..4)
            .filter(|i| *i != self.axis)
            .map(|i| shape.dim(i))
            .collect::<Option<SmallVec<[usize; 3]>>>();
        if let Some(dims) = known {
            return cx.scalar(F32, dims.iter().map(|d| *d as f64).product());
        }
        let (all, depth) = (cx.shape_of_input(images), cx.shape_of_input(vector));
        let size = |cx: &GradCx<'g, '_>, shape| {
            cx.op("Cast").input(cx.call("Prod", [shape, cx.ints(&[0])])).attr("DstT", F32).output()
        };
        size(cx, all) / size(cx, depth)
    }

    /// `1 / sqrt(variance + epsilon)`.
    pub fn rate<'g>(&self, cx: &GradCx<'g, '_>, variance: Output<'g>) -> Result<Output<'g>> {
        let epsilon = cx.scalar(F32, f64::from(cx.attrs().float("epsilon")?));
        Ok(cx.call("Rsqrt", [variance + epsilon]))
    }
}
