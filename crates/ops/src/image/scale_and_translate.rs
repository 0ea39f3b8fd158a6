//! `ScaleAndTranslate` and `ScaleAndTranslateGrad`: images resampled by a kernel, and the gradient.
//!
//! A pixel of the result is the sum of a *span* of pixels of the image along each axis, with weights that are
//! one in sum. The image's rows are combined first, then its columns. Everything is computed in f32 and in
//! TensorFlow's order, which gives its bits.

use super::resizer::{IMAGES, image_size};
use crate::number::no_kernel;
use crate::shared::casting::To;
use crate::shared::elementwise::fresh;
use crate::shared::pieces::in_pieces;
use millstream_graph::op::spec::{Bool, OneOf, Spec, Text};
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef, StepEnv};
use millstream_graph::{Attrs, OpBuilder, Output};
use millstream_tensor::DType::{self, BF16, Bool as BOOL, F16, F32, F64, I32, I64};
use millstream_tensor::pace::Pace;
use millstream_tensor::{
    Dim, Element, Error, PartialShape, Result, Shape, Tensor, ensure, invalid, with_element,
};

pub(crate) fn def() -> [OpDef; 2] {
    let common = |def: OpDef| {
        def.input("scale", F32)
            .on_host()
            .input("translation", F32)
            .on_host()
            .attr("kernel_type", Text.or("lanczos3"))
            .attr("antialias", Bool.or(true))
    };
    [
        common(OpDef::new("ScaleAndTranslate").input("images", "T").input("size", I32).on_host())
            .doc(
                "Resamples images, `[batch, height, width, channels]`, to `size`, a height and a width. The place \
                 `p` of the image comes to `p * scale + translation`; both are given for the rows and the columns. \
                 `kernel_type` is \"lanczos1\", \"lanczos3\", \"lanczos5\", \"gaussian\", \"box\", \"triangle\", \
                 \"keyscubic\" or \"mitchellcubic\". With `antialias` the kernel is stretched where the image \
                 becomes smaller. Pixels from beyond the image are zero.",
            )
            .output("resized_images", F32)
            .attr("T", OneOf(IMAGES))
            .infer(infer)
            .kernel(Kernel::pure(run).cost(Cost::PerElement(20.0)))
            .gradient(Gradient::of(grad)),
        common(OpDef::new("ScaleAndTranslateGrad").input("grads", "T").input("original_image", "T"))
            .doc(
                "Distributes `grads`, the gradient of a ScaleAndTranslate of `original_image`, to the pixels of the \
                 image by their weights.",
            )
            .output("output", "T")
            .attr("T", OneOf(&[F32]))
            .infer(infer_grad)
            .kernel(Kernel::pure(run_grad).cost(Cost::PerElement(20.0)))
            .gradient(Gradient::of(grad_of_grad)),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let images = cx.with_rank(0, 4)?;
    infer_pairs(cx)?;
    if let Some(n) = cx.vector(1)? {
        ensure!(n == 2, "Dimension must be 2 but is {n}"; "`size` must be a height and a width");
    }
    let size = cx.ints(1);
    let side = |i: usize| -> Dim { usize::try_from(*size.as_ref()?.get(i)?).ok() };
    cx.set(0, PartialShape::from([images.dim(0), side(0), side(1), images.dim(3)]));
    Ok(())
}

fn infer_grad(cx: &mut InferCx) -> Result<()> {
    cx.with_rank(0, 4)?;
    let image = cx.with_rank(1, 4)?;
    infer_pairs(cx)?;
    cx.set(0, image);
    Ok(())
}

fn infer_pairs(cx: &InferCx) -> Result<()> {
    for i in [2, 3] {
        if let Some(n) = cx.vector(i)? {
            ensure!(n == 2, "Dimension must be 2 but is {n}"; "`{}` has an entry for rows and one for columns", cx.name_of(i));
        }
    }
    Ok(())
}

/// The weight of a pixel by its distance.
#[derive(Clone, Copy, Debug)]
enum Weights {
    Lanczos(f32),
    Gaussian,
    Square,
    Triangle,
    Keys,
    Mitchell,
}

impl Weights {
    fn of(attrs: &Attrs) -> Result<Weights> {
        let name: &[u8] = attrs.str("kernel_type")?;
        Ok(match name {
            b"lanczos1" => Weights::Lanczos(1.0),
            b"lanczos3" => Weights::Lanczos(3.0),
            b"lanczos5" => Weights::Lanczos(5.0),
            b"gaussian" => Weights::Gaussian,
            b"box" => Weights::Square,
            b"triangle" => Weights::Triangle,
            b"keyscubic" => Weights::Keys,
            b"mitchellcubic" => Weights::Mitchell,
            other => {
                let other = String::from_utf8_lossy(other);
                return Err(invalid!(
                    "Unrecognized kernel type: {other}";
                    "`kernel_type` must be lanczos1, lanczos3, lanczos5, gaussian, box, triangle, keyscubic or mitchellcubic"
                ));
            }
        })
    }

    /// The distance from which on weights are zero.
    fn radius(self) -> f32 {
        match self {
            Weights::Lanczos(radius) => radius,
            Weights::Gaussian => 1.5,
            Weights::Square | Weights::Triangle => 1.0,
            Weights::Keys | Weights::Mitchell => 2.0,
        }
    }

    /// The weight at distance `x`, which is not negative.
    fn at(self, x: f32) -> f32 {
        match self {
            Weights::Lanczos(radius) => {
                if radius < x {
                    0.0
                } else if f64::from(x) <= 1e-3 {
                    1.0
                } else {
                    let pi = std::f32::consts::PI;
                    radius * (pi * x).sin() * (pi * x / radius).sin() / (pi * pi * x * x)
                }
            }
            Weights::Gaussian => {
                let sigma = f64::from(self.radius() / 3.0);
                if self.radius() <= x {
                    0.0
                } else {
                    (f64::from(-x * x) / (2.0 * sigma * sigma)).exp() as f32
                }
            }
            Weights::Square if x < 0.5 => 1.0,
            Weights::Square if x == 0.5 => 0.5,
            Weights::Square => 0.0,
            Weights::Triangle => {
                if x < 1.0 {
                    1.0 - x
                } else {
                    0.0
                }
            }
            Weights::Keys if 2.0 <= x => 0.0,
            Weights::Keys if 1.0 <= x => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
            Weights::Keys => ((1.5 * x - 2.5) * x) * x + 1.0,
            Weights::Mitchell if 2.0 <= x => 0.0,
            Weights::Mitchell if 1.0 <= x => (((-7.0 / 18.0) * x + 2.0) * x - 10.0 / 3.0) * x + 16.0 / 9.0,
            Weights::Mitchell => (((7.0 / 6.0) * x - 2.0) * x) * x + 8.0 / 9.0,
        }
    }
}

/// The pixels along one axis that each pixel of a result is the sum of.
struct Spans {
    /// The number of pixels of a span.
    size: usize,
    /// The first pixel of each span.
    starts: Tensor,
    /// The weights of each span, one after another. Those that a short span does not need are zero.
    weights: Tensor,
}

/// What is asked of one axis.
#[derive(Clone, Copy)]
struct Axis {
    from: usize,
    to: usize,
    scale: f32,
    translation: f32,
}

impl Spans {
    fn of(kernel: Weights, axis: Axis, antialias: bool) -> Result<Spans> {
        let inverse = 1.0 / axis.scale;
        let shift = -inverse * axis.translation;
        let stretch = if antialias { inverse.max(1.0) } else { 1.0 };
        let reach = kernel.radius() * stretch;
        let last = axis.from as i64 - 1;
        let most = 2.0 * f64::from(reach.ceil()) + 1.0;
        let size = if most < axis.from as f64 { most as usize } else { axis.from };
        let shape = Shape::from([axis.to, size]);
        shape.checked_elements()?;
        let (mut starts, mut weights) = (Tensor::zeros(I64, [axis.to])?, Tensor::zeros(F32, shape)?);
        let narrowing = 1.0 / stretch;
        let all = fresh::<f32>(&mut weights)?;
        let mut pace = Pace::new();
        for (x, start) in fresh::<i64>(&mut starts)?.iter_mut().enumerate() {
            let at = (x as f32 + 0.5) * inverse + shift;
            // A place beyond the image has no pixels. A place that is no number neither.
            if !(0.0..=axis.from as f32).contains(&at) {
                continue;
            }
            let first = ((at - reach - 0.5).ceil() as i64).clamp(0, last);
            let behind = ((at + reach - 0.5).floor() as i64).clamp(0, last) + 1;
            let span = &mut all[x * size..][..size];
            let n = usize::try_from(behind - first).unwrap_or(0);
            if size < n {
                return Err(Error::internal(format!("Span is too large: {n} vs {size}.")));
            }
            pace.spend(n)?;
            let mut sum = 0f32;
            for (i, weight) in span[..n].iter_mut().enumerate() {
                let distance = (first + i as i64) as f32 + 0.5 - at;
                *weight = kernel.at((distance * narrowing).abs());
                sum += *weight;
            }
            let by = if 1000.0 * f32::MIN_POSITIVE <= sum.abs() { 1.0 / sum } else { 0.0 };
            span[..n].iter_mut().for_each(|weight| *weight = if by == 0.0 { 0.0 } else { *weight * by });
            *start = first;
        }
        Ok(Spans { size, starts, weights })
    }

    /// The spans of the gradient: the pixels of the result that each pixel of an image of `from` pixels is
    /// part of.
    fn transposed(&self, from: usize) -> Result<Spans> {
        let (starts, weights) = (self.starts.as_slice::<i64>()?, self.weights.as_slice::<f32>()?);
        let used = |take: &mut dyn FnMut(usize, usize, f32)| -> Result<()> {
            let mut pace = Pace::new();
            for (x, start) in starts.iter().enumerate() {
                pace.spend(self.size)?;
                for (i, weight) in weights[x * self.size..][..self.size].iter().enumerate() {
                    let at = *start as usize + i;
                    if *weight != 0.0 && at < from {
                        take(at, x, *weight);
                    }
                }
            }
            Ok(())
        };
        // The results come in order, so the first one of a pixel is the start of its span.
        let (mut first, mut size) = (Tensor::zeros(I64, [from])?, 0usize);
        let mut seen = Tensor::zeros(BOOL, [from])?;
        let (list, seen) = (fresh::<i64>(&mut first)?, fresh::<bool>(&mut seen)?);
        used(&mut |at, x, _| {
            if !seen[at] {
                (seen[at], list[at]) = (true, x as i64);
            }
            size = size.max(x - list[at] as usize + 1);
        })?;
        let shape = Shape::from([from, size]);
        shape.checked_elements()?;
        let mut back = Tensor::zeros(F32, shape)?;
        let cells = fresh::<f32>(&mut back)?;
        used(&mut |at, x, weight| cells[at * size + x - list[at] as usize] += weight)?;
        Ok(Spans { size, starts: first, weights: back })
    }

    /// The first pixel of span `x` in an axis of `from` pixels, and its weights.
    fn span(&self, x: usize, from: usize) -> Result<(usize, &[f32])> {
        let start = self.starts.as_slice::<i64>()?[x] as usize;
        let weights = &self.weights.as_slice::<f32>()?[x * self.size..][..self.size.min(from - start)];
        Ok((start, weights))
    }
}

/// Combines the rows of images, then their columns.
fn gather<T: Element + To<f32> + Sync>(
    env: &StepEnv,
    images: &[T],
    image: [usize; 4],
    to: [usize; 2],
    rows: &Spans,
    columns: &Spans,
) -> Result<Tensor> {
    let [batch, height, width, depth] = image;
    let half = Shape::from([batch, to[0], width, depth]);
    let whole = Shape::from([batch, to[0], to[1], depth]);
    half.checked_elements()?;
    whole.checked_elements()?;
    let (mut between, mut out) = (Tensor::zeros(F32, half)?, Tensor::zeros(F32, whole)?);
    let row = width * depth;
    let work = (batch * to[0] * row) as f64 * rows.size as f64;
    in_pieces(env, fresh::<f32>(&mut between)?, row, work, |i, cells| {
        let (b, y) = (i / to[0], i % to[0]);
        let (start, weights) = rows.span(y, height)?;
        for (k, weight) in weights.iter().enumerate() {
            let pixels = &images[(b * height + start + k) * row..][..row];
            cells.iter_mut().zip(pixels).for_each(|(cell, v)| *cell += To::<f32>::to(*v) * weight);
        }
        Ok(())
    })?;
    let between = between.as_slice::<f32>()?;
    let work = (batch * to[0] * to[1] * depth) as f64 * columns.size as f64;
    in_pieces(env, fresh::<f32>(&mut out)?, to[1] * depth, work, |i, cells| {
        let pixels = &between[i * row..][..row];
        for (x, cells) in cells.chunks_exact_mut(depth).enumerate() {
            let (start, weights) = columns.span(x, width)?;
            for (k, weight) in weights.iter().enumerate() {
                let pixel = &pixels[(start + k) * depth..][..depth];
                cells.iter_mut().zip(pixel).for_each(|(cell, v)| *cell += v * weight);
            }
        }
        Ok(())
    })?;
    Ok(out)
}

/// Reads inputs 2 and 3, the scale and the translation of rows and columns.
fn axes(cx: &KernelCx, from: [usize; 2], to: [usize; 2]) -> Result<[Axis; 2]> {
    let pair = |i: usize| -> Result<[f32; 2]> {
        let t = cx.input(i);
        let name = cx.name_of(i);
        ensure!(t.rank() == 1, "t must be 1-dimensional{}", t.shape(); "`{name}` must be a vector");
        match t.as_slice::<f32>()? {
            &[a, b] => Ok([a, b]),
            _ => Err(
                invalid!("t must have two elements{}", t.shape(); "`{name}` has an entry for rows and one for columns"),
            ),
        }
    };
    let (scale, translation) = (pair(2)?, pair(3)?);
    ensure!(scale.iter().all(|s| 0.0 < *s), "Scale must be greater than zero."; "`scale` is {scale:?}");
    Ok([0, 1].map(|i| Axis { from: from[i], to: to[i], scale: scale[i], translation: translation[i] }))
}

/// The dimensions of input `i`, which TensorFlow's words call `name`.
fn dims(cx: &KernelCx, i: usize, name: &str) -> Result<[usize; 4]> {
    let shape = cx.input(i).shape();
    let dims: [usize; 4] = shape.dims().try_into().map_err(
        |_| invalid!("{name} must be 4-dimensional{shape}"; "`{}` must have rank 4", cx.name_of(i)),
    )?;
    ensure!(
        dims.iter().all(|d| *d < i32::MAX as usize),
        "input sizes must be between 0 and max int32"; "`{}` has shape {shape}", cx.name_of(i)
    );
    Ok(dims)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let kernel = Weights::of(cx.attrs())?;
    let antialias = cx.attrs().bool("antialias")?;
    let image = dims(cx, 0, "input")?;
    let sides = cx.input(1).shape();
    ensure!(sides.rank() == 1, "output_shape_t must be 1-dimensional{sides}"; "`size` must be a vector");
    ensure!(sides[0] == 2, "output_shape_t must have two elements{sides}"; "`size` must be a height and a width");
    let sides = cx.ints(1)?;
    let (height, width) = (sides[0], sides[1]);
    let side = |v: i64| usize::try_from(v).ok().filter(|v| 0 < *v);
    let (Some(height), Some(width)) = (side(height), side(width)) else {
        return Err(invalid!("output dimensions must be positive"; "`size` is [{height} {width}]"));
    };
    ensure!(0 < image[3], "image must have at least one channel"; "`images` has shape {}", cx.input(0).shape());
    ensure!(
        0 < image[1] && 0 < image[2],
        "input image must be of non-zero size"; "`images` has shape {}", cx.input(0).shape()
    );
    let [rows, columns] = axes(cx, [image[1], image[2]], [height, width])?;
    let (rows, columns) = (Spans::of(kernel, rows, antialias)?, Spans::of(kernel, columns, antialias)?);
    let images = cx.take(0);
    let out = with_element!(images.dtype(), T in [I8 U8 I16 U16 I32 I64 BF16 F16 F32 F64] =>
        gather::<T>(cx.env, images.as_slice()?, image, [height, width], &rows, &columns),
        else => Err(no_kernel("ScaleAndTranslate", images.dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn run_grad(cx: &mut KernelCx) -> Result<()> {
    let kernel = Weights::of(cx.attrs())?;
    let antialias = cx.attrs().bool("antialias")?;
    let grads = dims(cx, 0, "input_grad")?;
    let image = dims(cx, 1, "original_image")?;
    ensure!(
        grads[0] == image[0] && grads[3] == image[3],
        "`grads` has shape {} but `original_image` has shape {}: batch and channels must be equal",
        cx.input(0).shape(),
        cx.input(1).shape()
    );
    ensure!(
        image.iter().chain(&grads).all(|d| 0 < *d),
        "`grads` has shape {} and `original_image` has shape {}: they must not be empty",
        cx.input(0).shape(),
        cx.input(1).shape()
    );
    let [rows, columns] = axes(cx, [image[1], image[2]], [grads[1], grads[2]])?;
    let rows = Spans::of(kernel, rows, antialias)?.transposed(image[1])?;
    let columns = Spans::of(kernel, columns, antialias)?.transposed(image[2])?;
    let t = cx.take(0);
    let out = gather::<f32>(cx.env, t.as_slice()?, grads, [image[1], image[2]], &rows, &columns)?;
    cx.set(0, out);
    Ok(())
}

fn with_kernel<'g>(cx: &GradCx<'g, '_>, mut node: OpBuilder<'g>) -> Output<'g> {
    for name in ["kernel_type", "antialias"] {
        if let Some(value) = cx.attrs().get(name) {
            node = node.attr(name, value.clone());
        }
    }
    node.output()
}

fn cast<'g>(cx: &GradCx<'g, '_>, x: Output<'g>, to: DType) -> Output<'g> {
    cx.op("Cast").input(x).attr("DstT", to).output()
}

// TensorFlow's op takes images of f32 alone. The image matters for its shape only, so others are converted.
fn grad(cx: &mut GradCx) -> Result<()> {
    if !cx.wants(0) || !matches!(cx.dtype(0), F16 | BF16 | F32 | F64) {
        return Ok(());
    }
    let (dy, scale, translation) = (cx.grad(0), cx.input(2), cx.input(3));
    let dtype = cx.dtype(0);
    let mut image = cx.input(0);
    if dtype != F32 {
        image = cast(cx, image, F32);
    }
    let node = cx.op("ScaleAndTranslateGrad").inputs([dy, image, scale, translation]);
    let mut dx = with_kernel(cx, node);
    if dtype != F32 {
        dx = cast(cx, dx, dtype);
    }
    cx.give(0, dx);
    Ok(())
}

// The gradient is linear in `grads`.
fn grad_of_grad(cx: &mut GradCx) -> Result<()> {
    if cx.wants(0) {
        let (dy, size, scale, translation) = (cx.grad(0), image_size(cx, 0), cx.input(2), cx.input(3));
        let node = cx.op("ScaleAndTranslate").inputs([dy, size, scale, translation]);
        let dg = with_kernel(cx, node);
        cx.give(0, dg);
    }
    Ok(())
}

cases! {
    larger: "ScaleAndTranslate([[[[1.0] [3.0]]]], [1 4], [1.0 2.0], [0.0 0.0]; kernel_type=\"triangle\") ~ [[[[1.0] [1.5] [2.5] [3.0]]]]",
    smaller: "ScaleAndTranslate([[[[1.0] [3.0] [5.0] [7.0]]]], [1 2], [1.0 0.5], [0.0 0.0]; kernel_type=\"box\") ~ [[[[2.0] [6.0]]]]",
    moved: "ScaleAndTranslate(u8[1,1,3,1] [[[[1] [3] [5]]]], [1 3], [1.0 1.0], [0.0 1.0]; kernel_type=\"triangle\", antialias=false) ~ [[[[0.0] [1.0] [3.0]]]]",
    back: "ScaleAndTranslateGrad([[[[1.0] [2.0] [3.0] [4.0]]]], [[[[0.0] [0.0]]]], [1.0 2.0], [0.0 0.0]; kernel_type=\"triangle\") ~ [[[[3.25] [6.75]]]]",
    infers: "ScaleAndTranslate(u8[?,?,?,3], [2 3], f32[2], f32[2]) : f32[?,2,3,3]",
    infers_back: "ScaleAndTranslateGrad(f32[?,?,?,3], f32[2,7,?,3], f32[2], f32[2]) : f32[2,7,?,3]",
    two_sides: "ScaleAndTranslate(f32[1,2,2,1], [2 3 4], f32[2], f32[2]) ! Dimension must be 2 but is 3",
    larger_than_zero: "ScaleAndTranslate([[[[1.0]]]], [1 1], [1.0 0.0], [0.0 0.0]) ! Scale must be greater than zero.",
    positive: "ScaleAndTranslate([[[[1.0]]]], [0 1], [1.0 1.0], [0.0 0.0]) ! output dimensions must be positive",
    known_kernel: "ScaleAndTranslate([[[[1.0]]]], [1 1], [1.0 1.0], [0.0 0.0]; kernel_type=\"cubic\") ! Unrecognized kernel type: cubic",
    channels_fit: "ScaleAndTranslateGrad([[[[1.0 1.0]]]], [[[[1.0]]]], [1.0 1.0], [0.0 0.0]) ! `grads` has shape [1,1,1,2]",
}
