//! `FFT`, `IFFT` and those of two and three dimensions: discrete Fourier transforms of complex numbers. Also
//! [`transform`], which those of real numbers share. The transforms are those of the crate `rustfft`. Nothing
//! interrupts them, so that of a long line goes on [apart].

use crate::number::no_kernel;
use millstream_graph::Output;
use millstream_graph::op::spec::{OneOf, Spec};
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_state::apart;
use millstream_tensor::DType::{C64, C128};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Complex, Result, ensure};
use num_traits::Float;
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};
use std::sync::Arc;

/// The length from which a transform takes more than a few milliseconds.
const LONG: usize = 1 << 18;

/// The cost of transforms: some nanoseconds for each element.
pub(super) const TRANSFORM_COST: Cost =
    Cost::Estimate(|_, inputs| inputs.first().map_or(0.0, |x| 10.0 * x.elements() as f64));

/// The transforms of one, two and three axes, each with its inverse.
const PAIRS: [[&str; 2]; 3] = [["FFT", "IFFT"], ["FFT2D", "IFFT2D"], ["FFT3D", "IFFT3D"]];

pub(crate) fn def() -> [OpDef; 6] {
    [
        ("FFT", "Computes the discrete Fourier transform of each innermost row."),
        ("IFFT", "Computes the inverse discrete Fourier transform of each innermost row."),
        ("FFT2D", "Computes the discrete Fourier transform over the two innermost axes."),
        ("IFFT2D", "Computes the inverse discrete Fourier transform over the two innermost axes."),
        ("FFT3D", "Computes the discrete Fourier transform over the three innermost axes."),
        ("IFFT3D", "Computes the inverse discrete Fourier transform over the three innermost axes."),
    ]
    .map(|(name, doc)| {
        OpDef::new(name)
            .doc(doc)
            .input("input", "Tcomplex")
            .output("output", "Tcomplex")
            .attr("Tcomplex", OneOf(&[C64, C128]).or(C64))
            .infer(infer)
            .kernel(Kernel::pure(run).cost(TRANSFORM_COST))
            .gradient(Gradient::of(grad))
    })
}

/// Returns the number of transformed axes of an op.
pub(super) fn axes_of(name: &str) -> usize {
    match name.as_bytes() {
        [.., b'2', b'D'] => 2,
        [.., b'3', b'D'] => 3,
        _ => 1,
    }
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.at_least_rank(0, axes_of(cx.node().op.name))?;
    cx.same_as_input()
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let name = cx.node.op.name;
    let (axes, direction) = (axes_of(name), direction(name));
    let mut x = cx.take(0);
    ensure!(
        axes <= x.shape().rank(),
        "{name}: `input` must have rank {axes} or more but has shape {}",
        x.shape()
    );
    let dims = x.shape().dims().to_vec();
    match x.dtype() {
        C64 => transform::<f32>(x.make_mut_or_copy()?, &dims, axes, direction)?,
        C128 => transform::<f64>(x.make_mut_or_copy()?, &dims, axes, direction)?,
        other => return Err(no_kernel(name, other)),
    }
    cx.set(0, x);
    Ok(())
}

fn direction(name: &str) -> FftDirection {
    if name.starts_with('I') { FftDirection::Inverse } else { FftDirection::Forward }
}

/// Transforms the last `axes` axes of a tensor of size `dims` in place. The inverse transform is divided by
/// the number of elements.
pub(crate) fn transform<T: FftNum + Float>(
    cells: &mut [Complex<T>],
    dims: &[usize],
    axes: usize,
    direction: FftDirection,
) -> Result<()> {
    if cells.is_empty() {
        return Ok(());
    }
    let (mut planner, mut pace) = (FftPlanner::new(), Pace::new());
    let inner = &dims[dims.len() - axes..];
    for (axis, &n) in inner.iter().enumerate().rev() {
        let stride: usize = inner[axis + 1..].iter().product();
        let room = Arc::new(Room::of(n.saturating_mul(lines_for(n) * size_of::<Complex<T>>()))?);
        if LONG <= n {
            long_lines(cells, n, stride, direction, &room)?;
            continue;
        }
        let plan = planner.plan_fft(n, direction);
        let mut scratch = vec![Complex::new(T::zero(), T::zero()); plan.get_inplace_scratch_len()];
        if stride == 1 {
            for line in cells.chunks_exact_mut(n) {
                pace.spend(4 * n)?;
                plan.process_with_scratch(line, &mut scratch);
            }
            continue;
        }
        let mut line = vec![Complex::new(T::zero(), T::zero()); n];
        for block in cells.chunks_exact_mut(n * stride) {
            for at in 0..stride {
                pace.spend(6 * n)?;
                line.iter_mut().zip(block[at..].iter().step_by(stride)).for_each(|(to, from)| *to = *from);
                plan.process_with_scratch(&mut line, &mut scratch);
                block[at..].iter_mut().step_by(stride).zip(&line).for_each(|(to, from)| *to = *from);
            }
        }
    }
    if direction == FftDirection::Inverse {
        let count = T::from_usize(inner.iter().product()).unwrap_or_else(T::one);
        let by = T::one() / count;
        cells.iter_mut().for_each(|v| *v = Complex::new(v.re * by, v.im * by));
    }
    Ok(())
}

/// How many lines of `n` elements a transform works with: the twiddle factors, two lines and what the
/// transform asks for, which was 5 in all for a length that is a product of small primes. For others it is
/// a convolution of up to four times the length: 11 for a prime of 10^6 (2026-11).
fn lines_for(n: usize) -> usize {
    let rest = [2, 3, 5, 7, 11, 13].into_iter().fold(n, |mut rest, prime| {
        while rest > 1 && rest.is_multiple_of(prime) {
            rest /= prime;
        }
        rest
    });
    if rest <= 1 { 7 } else { 20 }
}

/// Transforms lines of `n` elements, `stride` apart, one after another on threads [apart].
fn long_lines<T: FftNum + Float>(
    cells: &mut [Complex<T>],
    n: usize,
    stride: usize,
    direction: FftDirection,
    room: &Arc<Room>,
) -> Result<()> {
    let held = room.clone();
    let plan = apart(move || {
        let _held = held;
        Ok(FftPlanner::<T>::new().plan_fft(n, direction))
    })?;
    let mut pace = Pace::new();
    for block in cells.chunks_exact_mut(n * stride) {
        for at in 0..stride {
            pace.spend(6 * n)?;
            let mut line: Vec<Complex<T>> = block[at..].iter().step_by(stride).copied().collect();
            let (plan, held): (Arc<dyn Fft<T>>, _) = (plan.clone(), room.clone());
            let line = apart(move || {
                let _held = held;
                plan.process(&mut line);
                Ok(line)
            })?;
            block[at..].iter_mut().step_by(stride).zip(&line).for_each(|(to, from)| *to = *from);
        }
    }
    Ok(())
}

/// Returns how many elements are transformed together, as a number of the dtype of `x`.
pub(super) fn count_of<'g>(cx: &GradCx<'g, '_>, x: Output<'g>, axes: usize) -> Output<'g> {
    let shape = cx.shape_of(x);
    let sizes = cx
        .op("StridedSlice")
        .input(shape)
        .input(cx.ints(&[-(axes as i32)]))
        .input(cx.ints(&[0]))
        .input(cx.ints(&[1]));
    let sizes = sizes.attr("end_mask", 1).output();
    let count = cx.op("Prod").input(sizes).input(cx.ints(&[0])).output();
    cx.op("Cast").input(count).attr("DstT", x.dtype().unwrap_or(C64)).output()
}

// The transform's matrix is symmetric, and its adjoint is the inverse times the number of elements.
fn grad(cx: &mut GradCx) -> Result<()> {
    let name = cx.node().op.name;
    let dy = cx.grad(0);
    let count = count_of(cx, dy, axes_of(name));
    let dx = match direction(name) {
        FftDirection::Forward => cx.call(other_way(name), [dy]) * count,
        FftDirection::Inverse => cx.call(other_way(name), [dy]) / count,
    };
    cx.give(0, dx);
    Ok(())
}

// The inverse of a forward transform, and the other way round.
fn other_way(name: &'static str) -> &'static str {
    PAIRS
        .iter()
        .find(|pair| pair.contains(&name))
        .map_or(name, |&[forward, inverse]| if name == forward { inverse } else { forward })
}

cases! {
    of_four: "FFT(c64 [1 2 3 4]) ~ c64 [10+0i -2+2i -2+0i -2-2i]",
    back: "IFFT(c64 [10+0i -2+2i -2+0i -2-2i]) ~ c64 [1 2 3 4]",
    of_three_in_f64: "FFT(c128 [1 0+1i 2]) ~ c128 [3+1i 0.8660254038+1.232050808i -0.8660254038-2.232050808i]",
    of_each_row: "FFT(c64 [[1 1] [1 -1]]) ~ c64 [[2 0] [0 2]]",
    over_two_axes: "FFT2D(c64 [[1 2] [3 4]]) ~ c64 [[10 -2] [-4 0]]",
    back_over_two_axes: "IFFT2D(c64 [[10 -2] [-4 0]]) ~ c64 [[1 2] [3 4]]",
    over_three_axes: "FFT3D(c64 [[[1 2] [3 4]] [[0 0] [0 1]]]) ~ c64 [[[11 -3] [-5 1]] [[9 -1] [-3 -1]]]",
    back_over_three_axes: "IFFT3D(c128 [[[8]]]) ~ c128 [[[8]]]",
    of_nothing: "FFT(c64[2,0] []) = c64[2,0] []",
    keeps_unknowns: "FFT2D(c64[?,3,?]) : c64[?,3,?]",
    needs_an_axis: "FFT(c64 1) ! `input` must have rank 1 or more",
    needs_axes: "IFFT3D(c64[2,2]) ! `input` must have rank 3 or more",
}
