//! `LRN`: local response normalization.

use super::local_response::{Response, attrs, check_images, work};
use crate::number::{FloatElement, no_kernel};
use crate::shared::elementwise::fresh;
use crate::shared::pieces::in_pieces;
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, Tensor, with_element};
use num_traits::Float;

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("LRN")
        .doc(
            "Divides each channel of `input` by `(bias + alpha * sum)^beta`, where `sum` is that of the squares \
             of the channel and of those at most `depth_radius` channels away.",
        )
        .input("input", "T")
        .output("output", "T");
    attrs(def)
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(40.0)))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = cx.with_rank(0, 4)?;
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let response = Response::of(cx.attrs())?;
    check_images(cx, 0)?;
    let x = cx.take(0);
    let (dtype, n) = (x.dtype(), x.shape()[3]);
    let _rows = Room::of(n.saturating_mul(2 * size_of::<f64>()))?;
    let mut out = Tensor::anything(dtype, x.shape().clone())?;
    with_element!(dtype, T in floats => {
        let rows = x.as_slice::<T>()?;
        let per_piece = ((1 << 14) / n.max(1)).max(1) * n;
        in_pieces(cx.env, fresh::<T>(&mut out)?, per_piece, rows.len() as f64 * 16.0, |i, piece| {
            normalize(&response, &rows[i * per_piece..][..piece.len()], piece, n)
        })
    }, else => Err(no_kernel("LRN", dtype)))?;
    cx.set(0, out);
    Ok(())
}

fn normalize<T: FloatElement>(response: &Response, rows: &[T], out: &mut [T], n: usize) -> Result<()> {
    let (mut squares, mut norms) = (vec![work::<T>(0.0); n], vec![work::<T>(0.0); n]);
    let (beta, mut pace) = (work::<T>(response.beta), Pace::new());
    for (row, out) in rows.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
        response.norms(row, [&mut squares, &mut norms], &mut pace)?;
        for ((out, x), norm) in out.iter_mut().zip(row).zip(&norms) {
            *out = T::of_work(x.work() * norm.powf(-beta));
        }
    }
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x, y) = (cx.grad(0), cx.input(0), cx.output(0));
    cx.give(0, cx.op("LRNGrad").inputs([dy, x, y]).attrs(cx.attrs().clone()).output());
    Ok(())
}

cases! {
    divides_by_neighbours: "LRN([[[[1.0 2.0 2.0]]]]; depth_radius=1, bias=0.0) ~ [[[[0.4472136 0.6666667 0.70710677]]]]",
    alone: "LRN([[[[3.0 -4.0]]]]; depth_radius=0, bias=0.0) ~ [[[[1.0 -1.0]]]]",
    all_channels: "LRN([[[[3.0 4.0]]]]; depth_radius=9223372036854775807, bias=0.0) ~ [[[[0.6 0.8]]]]",
    infers: "LRN(f32[?,2,3,?]) : f32[?,2,3,?]",
    of_nothing: "LRN(f32[2,0,3,4] []) = f32[2,0,3,4] []",
    no_channels: "LRN(f32[2,1,3,0] []) = f32[2,1,3,0] []",
    images: "LRN([1.0]) ! must have rank 4",
    no_negative_radius: "LRN([[[[1.0]]]]; depth_radius=-1) ! `depth_radius` is -1",
}
