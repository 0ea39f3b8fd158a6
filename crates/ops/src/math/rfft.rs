//! `RFFT`, `IRFFT` and those of two and three dimensions: discrete Fourier transforms of real numbers, which
//! keep only the half of the innermost axis that is not the conjugate of the other.

use super::fft::{TRANSFORM_COST, axes_of, count_of, transform};
use crate::shared::elementwise::fresh;
use crate::shared::gradient::{part, whole_of_real};
use millstream_graph::Output;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{C64, F32, I32};
use millstream_tensor::budget::Room;
use millstream_tensor::{Complex, PartialShape, Result, Shape, Tensor, ensure, invalid};
use rustfft::FftDirection;

pub(crate) fn def() -> [OpDef; 6] {
    let forward = "Computes the discrete Fourier transform of real numbers over the innermost axes, one for each \
                   entry of `fft_length`. Each of these axes is cut to its length. Of the innermost one, only the \
                   first `fft_length / 2 + 1` elements are returned; the others are their conjugates.";
    let inverse = "Computes the inverse of the transform of real numbers: the real numbers of size `fft_length` \
                   along the innermost axes, whose transform begins with `input`.";
    ["RFFT", "RFFT2D", "RFFT3D", "IRFFT", "IRFFT2D", "IRFFT3D"].map(|name| {
        let inverts = name.starts_with('I');
        OpDef::new(name)
            .doc(if inverts { inverse } else { forward })
            .input("input", if inverts { C64 } else { F32 })
            .input("fft_length", I32)
            .on_host()
            .output("output", if inverts { F32 } else { C64 })
            .infer(infer)
            .kernel(Kernel::pure(run).cost(TRANSFORM_COST))
            .gradient(if inverts { Gradient::of(grad_of_inverse) } else { Gradient::of(grad) })
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let name = cx.node().op.name;
    let (axes, inverts) = (axes_of(name), name.starts_with('I'));
    cx.at_least_rank(0, axes)?;
    cx.with_rank(1, 1)?;
    if let Some(n) = cx.vector(1)? {
        ensure!(n == axes, "Dimension must be {axes} but is {n}"; "`fft_length` must have {axes} entries but has {n}");
    }
    let lengths = cx.ints(1);
    if let Some(dims) = cx.input(0).dims() {
        let batch = &dims[..dims.len() - axes];
        let size = |i: usize| {
            let n = lengths.as_ref().and_then(|lengths| usize::try_from(*lengths.get(i)?).ok())?;
            Some(if i + 1 == axes && !inverts && n != 0 { n / 2 + 1 } else { n })
        };
        cx.set(0, PartialShape::new(batch.iter().copied().chain((0..axes).map(size))));
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let name = cx.node.op.name;
    let (axes, inverts) = (axes_of(name), name.starts_with('I'));
    let lengths = cx.ints(1)?;
    let input = cx.input(0);
    let dims = input.shape().dims();
    ensure!(
        axes <= dims.len(),
        "{name}: `input` must have rank {axes} or more but has shape {}",
        input.shape()
    );
    ensure!(lengths.len() == axes, "fft_length must have shape [{axes}]"; "`fft_length` has {} entries", lengths.len());
    let lengths: Result<Vec<usize>> = lengths
        .iter()
        .map(|&n| usize::try_from(n).map_err(|_| invalid!("fft_length must be positive, got: {n}")))
        .collect();
    let lengths = lengths?;
    let (batch, inner) = dims.split_at(dims.len() - axes);
    let half = |n: usize| if n == 0 { 0 } else { n / 2 + 1 };
    for (i, (&n, &has)) in lengths.iter().zip(inner).enumerate() {
        let needs = if inverts && i + 1 == axes { half(n) } else { n };
        ensure!(
            has == 0 || needs <= has,
            "Input dimension {} must have length of at least {needs} but got: {has}",
            batch.len() + i
        );
    }
    let of =
        |last: usize| batch.iter().chain(&lengths[..axes - 1]).copied().chain([last]).collect::<Vec<usize>>();
    let n = lengths[axes - 1];
    let (full, short) = (of(n), of(half(n)));
    let shape = Shape::new(if inverts { full.clone() } else { short.clone() });
    let out = if input.elements() == 0 || shape.elements() == 0 {
        Tensor::zeros(if inverts { F32 } else { C64 }, shape)?
    } else if inverts {
        inverse(input, inner, &full, &short)?
    } else {
        forward(input, inner, &full, &short)?
    };
    cx.set(0, out);
    Ok(())
}

/// Calls `f` with the place of the first element of each row of a tensor of size `to`, and with that of the
/// same row in one whose inner axes have size `from`.
fn rows(to: &[usize], from: &[usize], mut f: impl FnMut(usize, usize)) {
    let (n, axes) = (to[to.len() - 1], from.len());
    let count: usize = to[..to.len() - 1].iter().product();
    for row in 0..count {
        let (mut rest, mut place, mut stride) = (row, 0, from[axes - 1]);
        for i in (0..axes - 1).rev() {
            place += rest % to[to.len() - axes + i] * stride;
            rest /= to[to.len() - axes + i];
            stride *= from[i];
        }
        f(row * n, place + rest * stride);
    }
}

fn forward(input: &Tensor, inner: &[usize], full: &[usize], short: &[usize]) -> Result<Tensor> {
    let from = input.as_slice::<f32>()?;
    let mut whole = Tensor::zeros(C64, Shape::new(full.iter().copied()))?;
    let cells = fresh::<Complex<f32>>(&mut whole)?;
    let n = full[full.len() - 1];
    rows(full, inner, |to, at| {
        cells[to..to + n]
            .iter_mut()
            .zip(&from[at..at + n])
            .for_each(|(to, from)| *to = Complex::new(*from, 0.0));
    });
    transform(cells, full, inner.len(), FftDirection::Forward)?;
    let mut out = Tensor::zeros(C64, Shape::new(short.iter().copied()))?;
    let kept = short[short.len() - 1];
    for (to, from) in
        fresh::<Complex<f32>>(&mut out)?.chunks_exact_mut(kept.max(1)).zip(cells.chunks_exact(n.max(1)))
    {
        to.copy_from_slice(&from[..kept]);
    }
    Ok(out)
}

fn inverse(input: &Tensor, inner: &[usize], full: &[usize], short: &[usize]) -> Result<Tensor> {
    let from = input.as_slice::<Complex<f32>>()?;
    let (n, kept, axes) = (full[full.len() - 1], short[short.len() - 1], inner.len());
    // The outer axes are transformed first: then each row is the half of that of real numbers.
    let mut half = Tensor::zeros(C64, Shape::new(short.iter().copied()))?;
    let cells = fresh::<Complex<f32>>(&mut half)?;
    rows(short, inner, |to, at| cells[to..to + kept].copy_from_slice(&from[at..at + kept]));
    if 1 < axes {
        let outer: Vec<usize> = short[..short.len() - 1].to_vec();
        over_outer_axes(cells, &outer, kept, axes - 1)?;
    }
    let mut whole = Tensor::zeros(C64, Shape::new(full.iter().copied()))?;
    let lines = fresh::<Complex<f32>>(&mut whole)?;
    for (line, from) in lines.chunks_exact_mut(n.max(1)).zip(cells.chunks_exact(kept.max(1))) {
        line[..kept].copy_from_slice(from);
        (kept..n).for_each(|k| line[k] = from[n - k].conj());
    }
    transform(lines, full, 1, FftDirection::Inverse)?;
    let mut out = Tensor::zeros(F32, Shape::new(full.iter().copied()))?;
    fresh::<f32>(&mut out)?.iter_mut().zip(lines).for_each(|(to, from)| *to = from.re);
    Ok(out)
}

/// Inverts the transform over `axes` axes that are followed by one of `last` elements.
fn over_outer_axes(cells: &mut [Complex<f32>], outer: &[usize], last: usize, axes: usize) -> Result<()> {
    let _room = Room::of(cells.len() / last.max(1) * size_of::<Complex<f32>>())?;
    let mut column = vec![Complex::new(0.0, 0.0); cells.len() / last.max(1)];
    for at in 0..last {
        column.iter_mut().zip(cells[at..].iter().step_by(last)).for_each(|(to, from)| *to = *from);
        transform(&mut column, outer, axes, FftDirection::Inverse)?;
        cells[at..].iter_mut().step_by(last).zip(&column).for_each(|(to, from)| *to = *from);
    }
    Ok(())
}

fn other(name: &str) -> (&'static str, &'static str) {
    match axes_of(name) {
        1 => ("RFFT", "IFFT"),
        2 => ("RFFT2D", "IFFT2D"),
        _ => ("RFFT3D", "IFFT3D"),
    }
}

/// Appends zeros, so that each of the last axes has the size that `x` has there.
fn grown_to<'g>(cx: &GradCx<'g, '_>, y: Output<'g>, shape: Output<'g>) -> Output<'g> {
    let more = shape - cx.shape_of(y);
    let pads = cx.op("Pack").inputs([cx.call("ZerosLike", [more]), more]).attr("axis", 1).output();
    cx.call("Pad", [y, pads])
}

// dx_n is the real part of the sum of dy_k e^(2πikn/N) over the k that are returned: N times the inverse
// transform of dy, filled with zeros.
fn grad(cx: &mut GradCx) -> Result<()> {
    let name = cx.node().op.name;
    let axes = axes_of(name);
    let (x, lengths, dy) = (cx.input(0), cx.input(1), cx.grad(0));
    let shape = cx.shape_of(x);
    let batch = cx
        .op("StridedSlice")
        .input(shape)
        .input(cx.ints(&[0]))
        .input(cx.ints(&[-(axes as i32)]))
        .input(cx.ints(&[1]));
    let batch = batch.attr("begin_mask", 1).output();
    let full = cx.op("ConcatV2").inputs([batch, lengths]).input(0).output();
    let filled = grown_to(cx, dy, full);
    let count = count_of(cx, filled, axes);
    let dx = part(cx, "Real", cx.call(other(name).1, [filled]) * count);
    cx.give(0, grown_to(cx, dx, shape));
    Ok(())
}

/// Returns the last element of a vector.
fn last<'g>(cx: &GradCx<'g, '_>, x: Output<'g>) -> Output<'g> {
    let at = cx.op("StridedSlice").input(x).input(cx.ints(&[-1])).input(cx.ints(&[0])).input(cx.ints(&[1]));
    at.attr("shrink_axis_mask", 1).output()
}

// Elements whose conjugates were left out count twice.
fn grad_of_inverse(cx: &mut GradCx) -> Result<()> {
    let name = cx.node().op.name;
    let axes = axes_of(name);
    let (x, lengths, dy) = (cx.input(0), cx.input(1), cx.grad(0));
    let spectrum = cx.call(other(name).0, [dy, lengths]);
    let (n, kept) = (last(cx, lengths), last(cx, cx.shape_of(spectrum)));
    let k = cx.op("Range").input(0).input(kept).input(1).output();
    // k = 0 and, if N is even, k = N / 2 are their own conjugates.
    let own =
        cx.call("LogicalOr", [cx.call("Equal", [k, cx.graph().constant(0)]), cx.call("Equal", [k * 2, n])]);
    let times = cx.graph().constant(2.0f32) - cx.op("Cast").input(own).attr("DstT", F32).output();
    let weighted = spectrum * whole_of_real(cx, times) / {
        let count = count_of(cx, dy, axes);
        whole_of_real(cx, count)
    };
    let shape = cx.shape_of(x);
    cx.give(0, grown_to(cx, weighted, shape));
    Ok(())
}

cases! {
    of_four: "RFFT([1.0 2.0 3.0 4.0], [4]) ~ c64 [10+0i -2+2i -2+0i]",
    of_three: "RFFT([1.0 0.0 2.0], [3]) ~ c64 [3+0i 0+1.7320508i]",
    cuts: "RFFT([1.0 1.0 7.0], [2]) ~ c64 [2 0]",
    too_short: "RFFT([1.0 1.0 1.0], [4]) ! Input dimension 0 must have length of at least 4 but got: 3",
    over_two_axes: "RFFT2D([[1.0 2.0] [3.0 4.0]], [2 2]) ~ c64 [[10 -2] [-4 0]]",
    cuts_rows: "RFFT2D([[1.0 2.0 9.0] [3.0 4.0 9.0] [9.0 9.0 9.0]], [2 2]) ~ c64 [[10 -2] [-4 0]]",
    of_each: "RFFT([[1.0 1.0] [1.0 -1.0]], [2]) ~ c64 [[2 0] [0 2]]",
    over_three_axes: "RFFT3D([[[1.0 2.0] [3.0 4.0]] [[0.0 0.0] [0.0 1.0]]], [2 2 2]) ~ c64 [[[11 -3] [-5 1]] [[9 -1] [-3 -1]]]",
    back: "IRFFT(c64 [10+0i -2+2i -2+0i], [4]) ~ [1.0 2.0 3.0 4.0]",
    back_to_an_odd_length: "IRFFT(c64 [3+0i 0+1.7320508i], [3]) ~ [1.0 0.0 2.0]",
    back_over_two_axes: "IRFFT2D(c64 [[10 -2] [-4 0]], [2 2]) ~ [[1.0 2.0] [3.0 4.0]]",
    back_over_three_axes: "IRFFT3D(c64 [[[11 -3] [-5 1]] [[9 -1] [-3 -1]]], [2 2 2]) ~ [[[1.0 2.0] [3.0 4.0]] [[0.0 0.0] [0.0 1.0]]]",
    to_nothing: "IRFFT2D(c64 [[10 -2] [-4 0]], [0 2]) = f32[0,2] []",
    to_no_rows: "RFFT2D([[1.0 2.0] [3.0 4.0]], [0 2]) = c64[0,2] []",
    to_no_columns: "IRFFT2D(c64 [[10 -2] [-4 0]], [2 0]) = f32[2,0] [[] []]",
    of_nothing: "RFFT(f32[2,0] [], [2]) = c64 [[0 0] [0 0]]",
    infers: "RFFT2D(f32[?,8,9], [4 6]) : c64[?,4,4]",
    infers_back: "IRFFT(c64[?,5], [8]) : f32[?,8]",
    a_length_for_each_axis: "RFFT(f32[4], [2 2]) ! Dimension must be 1 but is 2",
}
