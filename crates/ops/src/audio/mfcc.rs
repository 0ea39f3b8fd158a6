//! `Mfcc`: the mel-frequency cepstral coefficients of spectrograms.

use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{Float, Int, Spec};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, I32};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{PartialShape, Result, Shape, Tensor, ensure, invalid};
use std::f64::consts::PI;

pub(crate) fn def() -> OpDef {
    OpDef::new("Mfcc")
        .doc(
            "Computes the mel-frequency cepstral coefficients of squared spectrograms `[channels, slices, \
             frequencies]`: the first `dct_coefficient_count` coefficients of the cosine transform of the logarithms \
             of `filterbank_channel_count` sums, each over a triangle of frequencies between the two limits, which \
             are equally spaced as one hears them.",
        )
        .input("spectrogram", F32)
        .input("sample_rate", I32)
        .output("output", F32)
        .attr("upper_frequency_limit", Float.or(4000.0f32))
        .attr("lower_frequency_limit", Float.or(20.0f32))
        .attr("filterbank_channel_count", Int.or(40))
        .attr("dct_coefficient_count", Int.or(13))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(20.0)))
        .gradient(Gradient::Missing("TensorFlow has none either: `tf.signal.mfccs_from_log_mel_spectrograms` has one"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let spectrogram = cx.with_rank(0, 3)?;
    cx.scalar(1)?;
    let coefficients = usize::try_from(cx.attrs().int("dct_coefficient_count")?).ok();
    cx.set(0, PartialShape::new([spectrogram.dim(0), spectrogram.dim(1), coefficients]));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (shape, of_rate) = (cx.input(0).shape(), cx.input(1).shape());
    ensure!(shape.rank() == 3, "spectrogram must be 3-dimensional{shape}"; "`spectrogram` must have rank 3");
    ensure!(
        of_rate.rank() == 0,
        "Input sample_rate should be a scalar tensor, got {of_rate} instead."; "`sample_rate` is one number"
    );
    let (width, rate) = (shape[2], cx.int(1)?);
    let failed = format!("Mfcc initialization failed for channel count {width} and sample rate {rate}");
    let (filters, cosines) = prepared(cx, width, rate).map_err(|e| e.led_by(failed))?;
    let out_shape = Shape::from([shape[0], shape[1], cosines.len() / filters.channels]);
    let mut out = Tensor::zeros(F32, out_shape)?;
    let spectra = cx.input(0).as_slice::<f32>()?.chunks_exact(width);
    let coefficients = cosines.len() / filters.channels;
    let mut pace = Pace::new();
    let mut sums = Charged::of((0..filters.channels).map(|_| 0.0))?;
    for (spectrum, row) in spectra.zip(fresh::<f32>(&mut out)?.chunks_exact_mut(coefficients)) {
        pace.spend(width + cosines.len())?;
        // Frequencies that the spectrum does not have give no coefficients.
        if !filters.apply(spectrum, &mut sums) {
            continue;
        }
        sums.iter_mut().for_each(|sum| *sum = if *sum < FLOOR { FLOOR } else { *sum }.ln());
        for (coefficient, cosines) in row.iter_mut().zip(cosines.chunks_exact(filters.channels)) {
            *coefficient = cosines.iter().zip(&*sums).fold(0.0, |sum, (c, x)| sum + c * x) as f32;
        }
    }
    cx.set(0, out);
    Ok(())
}

/// The least sum whose logarithm is taken.
const FLOOR: f64 = 1e-12;

/// Reads the attributes: returns the filters, and the rows of the cosine transform.
fn prepared(cx: &KernelCx, width: usize, rate: i64) -> Result<(Filters, Charged<f64>)> {
    let attrs = cx.attrs();
    let count = |name: &str| -> Result<usize> {
        let n = attrs.int(name)?;
        usize::try_from(n)
            .ok()
            .filter(|n| 0 < *n)
            .ok_or_else(|| invalid!("`{name}` is {n}, and must be positive"))
    };
    let (channels, coefficients) = (count("filterbank_channel_count")?, count("dct_coefficient_count")?);
    let limits =
        ["lower_frequency_limit", "upper_frequency_limit"].map(|name| attrs.float(name).map(f64::from));
    let [low, high] = limits;
    let (low, high) = (low?, high?);
    ensure!(0 < rate, "`sample_rate` is {rate}, and must be positive");
    ensure!(2 <= width, "`spectrogram` has {width} frequencies, and must have 2 at least");
    ensure!(
        0.0 <= low && low < high && high.is_finite(),
        "the frequencies from `lower_frequency_limit`, {low}, to `upper_frequency_limit`, {high}, are no range"
    );
    ensure!(
        coefficients <= channels,
        "`dct_coefficient_count` is {coefficients}, but there are only {channels} channels (`filterbank_channel_count`)"
    );
    let filters = Filters::new(channels, width, rate as f64, low, high)?;
    let (norm, step) = ((2.0 / channels as f64).sqrt(), PI / channels as f64);
    let rows = (0..coefficients)
        .flat_map(|i| (0..channels).map(move |j| norm * (i as f64 * step * (j as f64 + 0.5)).cos()));
    let mut cosines = Charged::with_room(coefficients.saturating_mul(channels))?;
    let mut pace = Pace::new();
    for cosine in rows {
        pace.spend(4)?;
        cosines.push(cosine)?;
    }
    Ok((filters, cosines))
}

/// The place of a frequency on the mel scale, on which equal distances sound equal.
fn mel(frequency: f64) -> f64 {
    1127.0 * (frequency / 700.0).ln_1p()
}

/// Triangles of frequencies: each begins at the center of the one before, and ends at that of the next.
struct Filters {
    channels: usize,
    /// The first frequency that counts.
    start: usize,
    /// Whether the last one is among those of a spectrum.
    fits: bool,
    /// For each that counts: the number of centers below it, and its weight in the triangle of the last one.
    places: Charged<(usize, f64)>,
}

impl Filters {
    fn new(channels: usize, width: usize, rate: f64, low: f64, high: f64) -> Result<Filters> {
        let (mel_low, mel_high) = (mel(low), mel(high));
        let spacing = (mel_high - mel_low) / (channels as f64 + 1.0);
        let center = |i: usize| mel_low + spacing * (i as f64 + 1.0);
        let each = 0.5 * rate / (width as f64 - 1.0);
        // The constant part never counts.
        let (start, end) = ((1.5 + low / each) as usize, (high / each) as usize);
        let fits = end < width;
        let last = if fits { end + 1 } else { start };
        let mut places = Charged::with_room(last.saturating_sub(start))?;
        let (mut below, mut pace) = (0, Pace::new());
        for i in start..last {
            pace.spend(4)?;
            let at = mel(i as f64 * each);
            while below < channels && center(below) < at {
                pace.spend(1)?;
                below += 1;
            }
            let lower = below.checked_sub(1).map_or(mel_low, center);
            places.push((below, (center(below) - at) / (center(below) - lower)))?;
        }
        Ok(Filters { channels, start, fits, places })
    }

    /// Sets `sums` to the sum of each triangle. Returns false if the spectrum is too short.
    fn apply(&self, spectrum: &[f32], sums: &mut [f64]) -> bool {
        sums.fill(0.0);
        for ((below, weight), power) in self.places.iter().zip(spectrum.get(self.start..).unwrap_or_default())
        {
            let magnitude = f64::from(*power).sqrt();
            let falling = magnitude * weight;
            if let Some(i) = below.checked_sub(1) {
                sums[i] += falling;
            }
            if let Some(sum) = sums.get_mut(*below) {
                *sum += magnitude - falling;
            }
        }
        self.fits
    }
}

cases! {
    of_silence: "Mfcc([[[0.0 0.0 0.0 0.0 0.0]]], 16000; filterbank_channel_count=2, dct_coefficient_count=1) ~ [[[-55.262043]]]",
    of_noise: "Mfcc([[[1.0 4.0 1.0 4.0 1.0]]], 8000; filterbank_channel_count=2, dct_coefficient_count=2) ~ [[[1.1001292 -0.4596918]]]",
    beyond_the_spectrum: "Mfcc([[[1.0 4.0 1.0 4.0 1.0]]], 8000; upper_frequency_limit=5000.0, filterbank_channel_count=2, dct_coefficient_count=2) = [[[0.0 0.0]]]",
    of_no_slices: "Mfcc(f32[1,0,5] [], 8000) = f32[1,0,13] []",
    infers: "Mfcc(f32[?,7,?], i32[]; dct_coefficient_count=5) : f32[?,7,5]",
    of_spectrograms: "Mfcc(f32[2,3], i32[]) ! must be rank 3 but is rank 2",
    few_coefficients: "Mfcc([[[1.0 2.0]]], 8000; dct_coefficient_count=50) ! Mfcc initialization failed for channel count 2 and sample rate 8000",
    a_range: "Mfcc([[[1.0 2.0]]], 8000; lower_frequency_limit=5000.0) ! are no range",
    of_frequencies: "Mfcc([[[1.0]]], 8000) ! must have 2 at least",
    at_a_rate: "Mfcc([[[1.0 2.0]]], 0) ! `sample_rate` is 0",
}
