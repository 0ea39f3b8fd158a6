//! What `LRN` and `LRNGrad` share: the attributes, and sums over neighbouring channels.

use crate::number::FloatElement;
use millstream_graph::Attrs;
use millstream_graph::Output;
use millstream_graph::op::spec::{Float, Int, OneOf, Spec};
use millstream_graph::op::{GradCx, KernelCx, OpDef};
use millstream_tensor::DType::{BF16, F16, F32};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, ensure};

/// The attributes: channel `i` has the neighbours `i - radius ..= i + radius`.
#[derive(Clone, Copy)]
pub(super) struct Response {
    pub radius: usize,
    pub bias: f32,
    pub alpha: f32,
    pub beta: f32,
}

impl Response {
    pub fn of(attrs: &Attrs) -> Result<Response> {
        let radius = attrs.int("depth_radius")?;
        ensure!(0 <= radius, "`depth_radius` is {radius}, and must not be negative");
        Ok(Response {
            radius: radius as usize,
            bias: attrs.float("bias")?,
            alpha: attrs.float("alpha")?,
            beta: attrs.float("beta")?,
        })
    }

    /// Sets each entry of `out` to the sum of the entries of `row` at its neighbours.
    pub fn sums<W: num_traits::Float>(&self, row: &[W], out: &mut [W], pace: &mut Pace) -> Result<()> {
        let n = row.len();
        for (i, out) in out.iter_mut().enumerate() {
            let near = &row[i.saturating_sub(self.radius)..i.saturating_add(self.radius + 1).min(n)];
            pace.spend(near.len())?;
            *out = near.iter().fold(W::zero(), |sum, v| sum + *v);
        }
        Ok(())
    }

    /// Sets `norms` to `bias + alpha * sums of squares`. `squares` is scratch.
    pub fn norms<T: FloatElement>(
        &self,
        row: &[T],
        [squares, norms]: [&mut [T::Work]; 2],
        pace: &mut Pace,
    ) -> Result<()> {
        squares.iter_mut().zip(row).for_each(|(square, x)| *square = x.work() * x.work());
        self.sums(squares, norms, pace)?;
        let [bias, alpha] = [self.bias, self.alpha].map(work::<T>);
        norms.iter_mut().for_each(|n| *n = bias + alpha * *n);
        Ok(())
    }
}

/// An attribute in the type that a kernel computes in.
pub(super) fn work<T: FloatElement>(value: f32) -> T::Work {
    super::activation::constant(value.into())
}

/// Declares the attributes.
pub(super) fn attrs(def: OpDef) -> OpDef {
    def.attr("depth_radius", Int.or(5))
        .attr("bias", Float.or(1.0f32))
        .attr("alpha", Float.or(1.0f32))
        .attr("beta", Float.or(0.5f32))
        .attr("T", OneOf(&[F16, BF16, F32]).or(F32))
}

/// Checks that input `i` has rank 4.
pub(super) fn check_images(cx: &KernelCx, i: usize) -> Result<()> {
    let (name, shape) = (cx.name_of(i), cx.input(i).shape());
    ensure!(shape.rank() == 4, "in must be 4-dimensional"; "`{name}` has shape {shape}: it must be `[batch, rows, columns, channels]`");
    Ok(())
}

/// The sums of neighbouring channels as nodes: a product with a band of ones.
pub(super) struct Band<'g> {
    band: Output<'g>,
    shape: Output<'g>,
    flat: Output<'g>,
}

impl<'g> Band<'g> {
    /// For tensors of the shape of input `i`.
    pub fn of(cx: &mut GradCx<'g, '_>, i: usize, radius: usize) -> Band<'g> {
        let (shape, dtype) = (cx.shape_of_input(i), cx.dtype(i));
        let n = cx.call("Slice", [shape, cx.ints(&[3]), cx.ints(&[1])]);
        let joined = |parts: [Output<'g>; 2]| cx.op("ConcatV2").inputs(parts).input(0).output();
        let ones = cx.call("Fill", [joined([n, n]), cx.scalar(dtype, 1.0)]);
        // A band wider than the matrix is the whole matrix.
        let reach = i64::try_from(radius).unwrap_or(i64::MAX);
        let last = cx.op("Cast").input(n - 1).attr("DstT", millstream_tensor::DType::I64).output();
        let reach = cx
            .op("Minimum")
            .input(cx.op("Reshape").input(last).input(Vec::<i32>::new()).output())
            .input(reach)
            .output();
        let band = cx.call("MatrixBandPart", [ones, reach, reach]);
        Band { band, shape, flat: joined([cx.ints(&[-1]), n]) }
    }

    pub fn sums(&self, cx: &GradCx<'g, '_>, x: Output<'g>) -> Output<'g> {
        let rows = cx.call("Reshape", [x, self.flat]);
        cx.call("Reshape", [cx.call("MatMul", [rows, self.band]), self.shape])
    }
}
