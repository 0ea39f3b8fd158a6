//! `AudioSpectrogram`: how loud each frequency is, over time.

use crate::math::transform;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{Bool, Int, Spec};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{C128, F32};
use millstream_tensor::budget::Charged;
use millstream_tensor::{Complex, Dim, PartialShape, Result, Shape, Tensor, ensure, invalid};
use rustfft::FftDirection;
use std::f64::consts::TAU;

pub(crate) fn def() -> OpDef {
    OpDef::new("AudioSpectrogram")
        .doc(
            "Computes spectrograms of sounds `[samples, channels]`, of shape `[channels, slices, frequencies]`: the \
             magnitudes of the Fourier transforms of windows of `window_size` samples, `stride` apart. A window is \
             weighted with a Hann window, and zeros are appended up to the next power of 2. With \
             `magnitude_squared`, the magnitudes are squared.",
        )
        .input("input", F32)
        .output("spectrogram", F32)
        .attr("window_size", Int)
        .attr("stride", Int)
        .attr("magnitude_squared", Bool.or(false))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(100.0)))
        .gradient(Gradient::Missing("TensorFlow has none either: `Abs` of an `RFFT` of windows has one"))
}

/// The number of elements that are transformed by one plan: 1 MB.
const TOGETHER: usize = 1 << 16;

/// The number of frequencies: half of the next power of 2, and the constant part.
fn frequencies(window: usize) -> Dim {
    window.checked_next_power_of_two().map(|n| n / 2 + 1)
}

/// The number of windows that lie inside the sound.
fn slices(samples: usize, window: usize, stride: usize) -> usize {
    samples.checked_sub(window).and_then(|rest| rest.checked_div(stride)).map_or(0, |n| n + 1)
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let input = cx.with_rank(0, 2)?;
    let size =
        |name: &str| -> Result<Dim> { Ok(usize::try_from(cx.attrs().int(name)?).ok().filter(|n| 0 < *n)) };
    let (window, stride) = (size("window_size")?, size("stride")?);
    let height = match (input.dim(0), window, stride) {
        (Some(samples), Some(window), Some(stride)) => Some(slices(samples, window, stride)),
        _ => None,
    };
    cx.set(0, PartialShape::new([input.dim(1), height, window.and_then(frequencies)]));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (shape, squared) = (cx.input(0).shape(), cx.attrs().bool("magnitude_squared")?);
    ensure!(shape.rank() == 2, "input must be 2-dimensional{shape}"; "`input` must have rank 2: `[samples, channels]`");
    let (window, stride) = (cx.attrs().int("window_size")?, cx.attrs().int("stride")?);
    let sizes =
        (usize::try_from(window).ok().filter(|n| 2 <= *n), usize::try_from(stride).ok().filter(|n| 1 <= *n));
    let (Some(size), Some(step)) = sizes else {
        return Err(invalid!(
            "Spectrogram initialization failed for window size {window} and stride {stride}";
            "`window_size` must be 2 at least, and `stride` 1"
        ));
    };
    let (samples, channels) = (shape[0], shape[1]);
    let height = slices(samples, size, step);
    let width = frequencies(size).ok_or_else(|| invalid!("`window_size` is {window}, which is too large"))?;
    let shape = Shape::from([channels, height, width]);
    shape.checked_elements()?;
    let mut out = Tensor::zeros(F32, shape)?;
    if out.elements() != 0 {
        let n = 2 * (width - 1);
        let hann = Charged::of((0..size).map(|i| 0.5 - 0.5 * (TAU * i as f64 / size as f64).cos()))?;
        let together = (TOGETHER / n).clamp(1, channels * height);
        let mut lines = Tensor::zeros(C128, [together, n])?;
        let lines = fresh::<Complex<f64>>(&mut lines)?;
        let input = cx.input(0).as_slice::<f32>()?;
        for (i, block) in fresh::<f32>(&mut out)?.chunks_mut(together * width).enumerate() {
            let lines = &mut lines[..block.len() / width * n];
            lines.fill(Complex::new(0.0, 0.0));
            for (j, line) in lines.chunks_exact_mut(n).enumerate() {
                let slice = i * together + j;
                let (channel, start) = (slice / height, slice % height * step);
                let heard = input[start * channels + channel..].iter().step_by(channels);
                for (cell, (x, weight)) in line.iter_mut().zip(heard.zip(&*hann)) {
                    cell.re = f64::from(*x) * weight;
                }
            }
            transform(lines, &[n], 1, FftDirection::Forward)?;
            for (magnitudes, line) in block.chunks_exact_mut(width).zip(lines.chunks_exact(n)) {
                for (magnitude, v) in magnitudes.iter_mut().zip(line) {
                    let power = (v.re * v.re + v.im * v.im) as f32;
                    *magnitude = if squared { power } else { power.sqrt() };
                }
            }
        }
    }
    cx.set(0, out);
    Ok(())
}

cases! {
    of_a_tone: "AudioSpectrogram([[1.0] [0.0] [-1.0] [0.0] [1.0] [0.0] [-1.0] [0.0]]; window_size=4, stride=4) ~ [[[1.0 1.0 1.0] [1.0 1.0 1.0]]]",
    squared: "AudioSpectrogram([[0.0] [2.0] [4.0] [2.0]]; window_size=4, stride=1, magnitude_squared=true) ~ [[[36.0 16.0 4.0]]]",
    channels_apart: "AudioSpectrogram([[1.0 0.0] [2.0 1.0] [3.0 0.0]]; window_size=2, stride=1) ~ [[[2.0 2.0] [3.0 3.0]] [[1.0 1.0] [0.0 0.0]]]",
    filled_up: "AudioSpectrogram([[0.0] [1.0] [1.0]]; window_size=3, stride=1, magnitude_squared=true) ~ [[[2.25 1.125 0.0]]]",
    too_short: "AudioSpectrogram([[1.0]]; window_size=2, stride=1) = f32[1,0,2] []",
    infers: "AudioSpectrogram(f32[40,?]; window_size=5, stride=3) : f32[?,12,5]",
    of_sounds: "AudioSpectrogram(f32[5]; window_size=2, stride=1) ! must be rank 2 but is rank 1",
    of_two: "AudioSpectrogram([[1.0]]; window_size=1, stride=1) ! Spectrogram initialization failed for window size 1 and stride 1",
    going_on: "AudioSpectrogram([[1.0]]; window_size=2, stride=0) ! Spectrogram initialization failed for window size 2 and stride 0",
}
