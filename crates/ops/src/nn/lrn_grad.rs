//! `LRNGrad`: the gradient of `LRN`.

use super::local_response::{Band, Response, attrs, check_images, work};
use crate::number::{FloatElement, no_kernel};
use crate::shared::elementwise::fresh;
use crate::shared::pieces::in_pieces;
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, Tensor, ensure, with_element};
use num_traits::Float;

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("LRNGrad")
        .doc(
            "Computes the gradient of `LRN` from `input_grads`, the gradient of its output, `input_image`, its \
             input, and `output_image`, its output.",
        )
        .input("input_grads", "T")
        .input("input_image", "T")
        .input("output_image", "T")
        .output("output", "T");
    attrs(def)
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(80.0)))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let mut shape = cx.with_rank(0, 4)?;
    for i in 1..3 {
        cx.with_rank(i, 4)?;
        shape = cx.merge(0, i)?.merge(&shape).unwrap_or(shape);
    }
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let response = Response::of(cx.attrs())?;
    for i in 0..3 {
        check_images(cx, i)?;
        let (first, other) = (cx.input(0).shape(), cx.input(i).shape());
        ensure!(
            first == other,
            "input_grads, input_image, and out_image should have the same shape";
            "`input_grads` has shape {first} and `{}` has shape {other}", cx.name_of(i)
        );
    }
    let (dy, x, y) = (cx.take(0), cx.take(1), cx.take(2));
    let (dtype, n) = (x.dtype(), x.shape()[3]);
    let _rows = Room::of(n.saturating_mul(3 * size_of::<f64>()))?;
    let mut out = Tensor::anything(dtype, x.shape().clone())?;
    with_element!(dtype, T in floats => {
        let all = [dy.as_slice::<T>()?, x.as_slice::<T>()?, y.as_slice::<T>()?];
        let per_piece = ((1 << 14) / n.max(1)).max(1) * n;
        in_pieces(cx.env, fresh::<T>(&mut out)?, per_piece, all[0].len() as f64 * 32.0, |i, piece| {
            back(&response, all.map(|rows| &rows[i * per_piece..][..piece.len()]), piece, n)
        })
    }, else => Err(no_kernel("LRNGrad", dtype)))?;
    cx.set(0, out);
    Ok(())
}

// With N the norms and B the sums over neighbours: dx = dy N^-beta - 2 alpha beta x B(dy y / N).
fn back<T: FloatElement>(response: &Response, [dy, x, y]: [&[T]; 3], out: &mut [T], n: usize) -> Result<()> {
    let mut scratch = vec![work::<T>(0.0); 3 * n];
    let (shares, rest) = scratch.split_at_mut(n);
    let (norms, sums) = rest.split_at_mut(n);
    let (beta, mut pace) = (work::<T>(response.beta), Pace::new());
    let factor = -work::<T>(2.0) * work::<T>(response.alpha) * beta;
    let rows = dy.chunks_exact(n).zip(x.chunks_exact(n)).zip(y.chunks_exact(n)).zip(out.chunks_exact_mut(n));
    for (((dy, x), y), out) in rows {
        response.norms(x, [shares, norms], &mut pace)?;
        for (i, share) in shares.iter_mut().enumerate() {
            *share = dy[i].work() * y[i].work() / norms[i];
        }
        response.sums(shares, sums, &mut pace)?;
        for (i, out) in out.iter_mut().enumerate() {
            *out = T::of_work(dy[i].work() * norms[i].powf(-beta) + factor * x[i].work() * sums[i]);
        }
    }
    Ok(())
}

// z = g N^-beta + c x B(g y / N), N = bias + alpha B(x²), c = -2 alpha beta, and B is its own transpose:
//   dg = dz N^-beta + c (y / N) B(x dz)
//   dy = c (g / N) B(x dz)
//   dN = -beta dz g N^(-beta-1) - c (g y / N²) B(x dz)
//   dx = c dz B(g y / N) + 2 alpha x B(dN)
fn grad(cx: &mut GradCx) -> Result<()> {
    let of = Response::of(cx.attrs())?;
    let [alpha, beta] = [of.alpha, of.beta].map(f64::from);
    let c = -2.0 * alpha * beta;
    let (dz, g, x, y) = (cx.grad(0), cx.input(0), cx.input(1), cx.input(2));
    let band = Band::of(cx, 1, of.radius);
    let norms = band.sums(cx, cx.call("Square", [x])) * alpha + f64::from(of.bias);
    let share = band.sums(cx, x * dz) * c;
    let power = cx.call("Pow", [norms, cx.scalar(cx.dtype(0), -beta)]);
    if cx.wants(0) {
        cx.give(0, dz * power + y / norms * share);
    }
    if cx.wants(2) {
        cx.give(2, g / norms * share);
    }
    if cx.wants(1) {
        let through = dz * g * power / norms * -beta - g * y / cx.call("Square", [norms]) * share;
        let direct = dz * band.sums(cx, g * y / norms) * c;
        cx.give(1, direct + x * band.sums(cx, through) * (2.0 * alpha));
    }
    Ok(())
}

cases! {
    of_neighbours: "LRNGrad([[[[1.0 0.0]]]], [[[[1.0 1.0]]]], [[[[0.5 0.5]]]]; depth_radius=1, bias=2.0, alpha=1.0, beta=1.0) ~ [[[[0.0 -0.25]]]]",
    alone: "LRNGrad([[[[1.0]]]], [[[[2.0]]]], [[[[1.0]]]]; depth_radius=0, bias=0.0) ~ [[[[0.0]]]]",
    infers: "LRNGrad(f32[?,2,3,?], f32[5,?,?,?], f32[..]) : f32[5,2,3,?]",
    of_nothing: "LRNGrad(f32[0,1,1,2] [], f32[0,1,1,2] [], f32[0,1,1,2] []) = f32[0,1,1,2] []",
    equal_shapes: "LRNGrad([[[[1.0]]]], [[[[1.0 2.0]]]], [[[[1.0 2.0]]]]) ! must be equal",
}
