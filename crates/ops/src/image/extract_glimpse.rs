//! `ExtractGlimpse`: windows of images around given places. Where a window leaves its image it holds noise.

use crate::shared::elementwise::fresh;
use crate::shared::philox::Words;
use millstream_graph::Attrs;
use millstream_graph::op::spec::{Bool, Spec, Text};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, I32};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Dim, PartialShape, Result, Shape, Tensor, ensure, invalid, unequal};

pub(crate) fn def() -> OpDef {
    OpDef::new("ExtractGlimpse")
        .doc(
            "Returns one window of `size` (a height and a width) of each image of `input`, `[batch, height, width, \
             channels]`. A row of `offsets`, `[batch, 2]`, is the place of the window's center: its row and its \
             column. With `normalized` the places are parts of the height and the width, and with `centered` they \
             are measured from the center of the image, so that -1 and 1 are its sides. Where a window leaves its \
             image it holds `noise`: \"uniform\" between the least and the greatest value of the image, \
             \"gaussian\" with the mean and the deviation of each channel, or \"zero\". `uniform_noise` must be \
             false for the last two.",
        )
        .input("input", F32)
        .input("size", I32)
        .on_host()
        .input("offsets", F32)
        .output("glimpse", F32)
        .attr("centered", Bool.or(true))
        .attr("normalized", Bool.or(true))
        .attr("uniform_noise", Bool.or(true))
        .attr("noise", Text.or("uniform"))
        .infer(infer)
        .kernel(Kernel::stateful(run).cost(Cost::PerElement(2.0)))
        .gradient(Gradient::none("as in TensorFlow, glimpses are not differentiable"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (images, offsets) = (cx.with_rank(0, 4)?, cx.with_rank(2, 2)?);
    let batch = match (images.dim(0), offsets.dim(0)) {
        (Some(a), Some(b)) if a != b => {
            return Err(invalid!("{}", unequal(a, b); "there are {a} images but {b} rows in `offsets`"));
        }
        (a, b) => a.or(b),
    };
    if let Some(n) = offsets.dim(1) {
        ensure!(n == 2, "Dimension must be 2 but is {n}"; "a row of `offsets` is a row and a column of an image");
    }
    check_noise(cx.attrs())?;
    if let Some(n) = cx.vector(1)? {
        ensure!(n == 2, "Dimension must be 2 but is {n}"; "`size` must be a height and a width");
    }
    let size = cx.ints(1);
    let side = |i: usize| -> Dim { usize::try_from(*size.as_ref()?.get(i)?).ok() };
    cx.set(0, PartialShape::from([batch, side(0), side(1), images.dim(3)]));
    Ok(())
}

/// What fills a window beyond its image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noise {
    Uniform,
    Gaussian,
    Zero,
}

fn check_noise(attrs: &Attrs) -> Result<()> {
    let noise: &[u8] = attrs.str("noise")?;
    ensure!(
        !attrs.bool("uniform_noise")? || matches!(noise, b"" | b"uniform"),
        "The uniform_noise and noise should not be specified at the same time";
        "`uniform_noise` must be false with `noise` \"{}\"", String::from_utf8_lossy(noise)
    );
    Ok(())
}

impl Noise {
    fn of(attrs: &Attrs) -> Result<Noise> {
        check_noise(attrs)?;
        let (uniform, noise): (bool, &[u8]) = (attrs.bool("uniform_noise")?, attrs.str("noise")?);
        match noise {
            b"uniform" => Ok(Noise::Uniform),
            b"gaussian" => Ok(Noise::Gaussian),
            b"zero" => Ok(Noise::Zero),
            b"" if uniform => Ok(Noise::Uniform),
            b"" => Ok(Noise::Gaussian),
            other => Err(invalid!(
                "The noise could only be uniform, gaussian, or zero, got{}", String::from_utf8_lossy(other);
                "`noise` must be \"uniform\", \"gaussian\" or \"zero\""
            )),
        }
    }

    /// Fills a window of `image`.
    fn fill(self, image: &[f32], depth: usize, window: &mut [f32]) -> Result<()> {
        if image.is_empty() || self == Noise::Zero {
            window.fill(0.0);
            return Ok(());
        }
        let mut words = Words::seeded(0, 0)?;
        let mut unit = || words.word() as f32 / u32::MAX as f32;
        if self == Noise::Uniform {
            let least = image.iter().copied().fold(f32::INFINITY, f32::min);
            let range = image.iter().copied().fold(f32::NEG_INFINITY, f32::max) - least;
            window.iter_mut().for_each(|v| *v = least + unit() * range);
            return Ok(());
        }
        for c in 0..depth {
            let channel = || image.iter().skip(c).step_by(depth).map(|v| f64::from(*v));
            let n = (image.len() / depth) as f64;
            let mean = channel().sum::<f64>() / n;
            let sigma = (channel().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt();
            for v in window.iter_mut().skip(c).step_by(depth) {
                let (radius, angle) = (f64::from(unit()).max(1e-7), f64::from(unit()));
                let normal = (-2.0 * radius.ln()).sqrt() * (2.0 * std::f64::consts::PI * angle).cos();
                *v = (mean + normal * sigma) as f32;
            }
        }
        Ok(())
    }
}

/// The part of a window along an axis that lies in the image.
struct Part {
    /// The first pixel in the image.
    image: usize,
    /// The first pixel in the window.
    window: usize,
    count: usize,
    /// Whether there is a pixel of the window beyond the image.
    is_partial: bool,
}

impl Part {
    /// The part of a window of `n` pixels around `at`, in an axis of `size` pixels.
    fn of(at: f32, n: usize, size: usize, centered: bool, normalized: bool) -> Part {
        let mut at = if normalized { at * size as f32 } else { at };
        if centered {
            at = at / 2.0 + size as f32 / 2.0;
        }
        at -= n as f32 / 2.0;
        let (n, size) = (n as i64, size as i64);
        // A place that is no number is far outside. Truncated, as the kernel's conversion to an integer does.
        let start = if at.is_nan() { i64::MIN / 2 } else { (at as i64).clamp(i64::MIN / 2, i64::MAX / 2) };
        let (image, inside, is_partial) = if start < 0 {
            (0, (n + start).max(0), true)
        } else if size <= start + n {
            (start.min(size), (size - start).max(0), start + n != size)
        } else {
            (start, n, false)
        };
        let window = if start < 0 { n - inside } else { 0 };
        let count = inside.min(size);
        Part {
            image: image as usize,
            window: window as usize,
            count: count as usize,
            is_partial: is_partial || count < n,
        }
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let noise = Noise::of(cx.attrs())?;
    let (centered, normalized) = (cx.attrs().bool("centered")?, cx.attrs().bool("normalized")?);
    let (shape, offsets) = (cx.input(0).shape(), cx.input(2).shape());
    let &[batch, height, width, depth] = shape.dims() else {
        return Err(
            invalid!("input must be 4-dimensional (batch_size, height, width, depth){shape}"; "`input` must have rank 4"),
        );
    };
    let size = cx.input(1).shape();
    ensure!(
        size.dims() == [2],
        "input must be a vector of size 2 (height, width){size}"; "`size` must be a height and a width"
    );
    let sides = cx.ints(1)?;
    let side = |i: usize| {
        usize::try_from(sides[i]).map_err(|_| invalid!("`size` must not be negative but is {sides:?}"))
    };
    let (rows, columns) = (side(0)?, side(1)?);
    ensure!(offsets.rank() == 2, "input must be a matrix{offsets}"; "`offsets` must have shape [{batch},2]");
    ensure!(offsets[0] == batch, "first dimension should be batch{offsets}"; "`offsets` must have shape [{batch},2]");
    ensure!(
        offsets[1] == 2,
        "second dimension should be of size 2 (y,x){offsets}"; "`offsets` must have shape [{batch},2]"
    );
    let shape = Shape::from([batch, rows, columns, depth]);
    shape.checked_elements()?;
    let (images, offsets) = (cx.take(0), cx.take(2));
    let (images, offsets) = (images.as_slice::<f32>()?, offsets.as_slice::<f32>()?);
    let mut out = Tensor::zeros(F32, shape)?;
    let glimpse = rows * columns * depth;
    if glimpse != 0 {
        let mut pace = Pace::new();
        for (b, window) in fresh::<f32>(&mut out)?.chunks_exact_mut(glimpse).enumerate() {
            let image = &images[b * height * width * depth..][..height * width * depth];
            let y = Part::of(offsets[2 * b], rows, height, centered, normalized);
            let x = Part::of(offsets[2 * b + 1], columns, width, centered, normalized);
            if y.is_partial || x.is_partial {
                pace.spend(glimpse + image.len())?;
                noise.fill(image, depth, window)?;
            }
            for row in 0..if x.count == 0 { 0 } else { y.count } {
                pace.spend(x.count * depth)?;
                let from = ((y.image + row) * width + x.image) * depth;
                let to = ((y.window + row) * columns + x.window) * depth;
                window[to..to + x.count * depth].copy_from_slice(&image[from..from + x.count * depth]);
            }
        }
    }
    cx.set(0, out);
    Ok(())
}

cases! {
    of_pixels: "ExtractGlimpse([[[[1.0] [2.0] [3.0]] [[4.0] [5.0] [6.0]] [[7.0] [8.0] [9.0]]]], [2 2], [[2.0 1.0]]; centered=false, normalized=false) = [[[[4.0] [5.0]] [[7.0] [8.0]]]]",
    of_the_center: "ExtractGlimpse([[[[1.0] [2.0] [3.0]] [[4.0] [5.0] [6.0]] [[7.0] [8.0] [9.0]]]], [1 1], [[0.0 0.0]]) = [[[[5.0]]]]",
    beyond_the_corner: "ExtractGlimpse([[[[1.0] [2.0] [3.0]] [[4.0] [5.0] [6.0]] [[7.0] [8.0] [9.0]]]], [2 2], [[-1.0 1.0]]; uniform_noise=false, noise=\"zero\") = [[[[0.0] [0.0]] [[3.0] [0.0]]]]",
    in_parts: "ExtractGlimpse([[[[1.0] [2.0] [3.0]] [[4.0] [5.0] [6.0]] [[7.0] [8.0] [9.0]]]], [3 1], [[0.5 1.0]]; centered=false, uniform_noise=false, noise=\"zero\") = [[[[3.0]] [[6.0]] [[9.0]]]]",
    noise_of_one_value: "ExtractGlimpse([[[[4.0] [4.0]]]], [2 2], [[9.0 9.0]]) = [[[[4.0] [4.0]] [[4.0] [4.0]]]]",
    of_nothing: "ExtractGlimpse(f32[0,3,3,1] [], [2 2], f32[0,2] []) = f32[0,2,2,1] []",
    infers: "ExtractGlimpse(f32[?,5,5,3], [2 3], f32[7,2]) : f32[7,2,3,3]",
    infers_nothing: "ExtractGlimpse(f32[?,?,?,?], i32[2], f32[?,2]) : f32[?,?,?,?]",
    a_place_each: "ExtractGlimpse(f32[2,1,1,1], i32[2], f32[3,2]) ! Dimensions must be equal, but are 2 and 3",
    one_kind_of_noise: "ExtractGlimpse(f32[1,1,1,1], i32[2], f32[1,2]; noise=\"zero\") ! The uniform_noise and noise should not be specified at the same time",
    known_noise: "ExtractGlimpse([[[[0.0]]]], [1 1], [[0.0 0.0]]; noise=\"pink\", uniform_noise=false) ! The noise could only be uniform, gaussian, or zero, gotpink",
    two_sides: "ExtractGlimpse(f32[1,1,1,1], i32[3], f32[1,2]) ! Dimension must be 2 but is 3",
    no_negative_size: "ExtractGlimpse([[[[0.0]]]], [-1 2], [[0.0 0.0]]) ! `size` must not be negative",
}
