//! `AdjustContrastv2`: scales the distance of each channel of an image from its mean.

use super::colours::{factor, image_checked, infer_adjusted};
use crate::number::no_kernel;
use crate::shared::casting::cast;
use crate::shared::elementwise::fresh;
use crate::shared::pieces::in_pieces;
use millstream_graph::op::spec::{OneOf, Spec};
use millstream_graph::op::{Cost, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F16, F32};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, Tensor};
use smallvec::{SmallVec, smallvec};

pub(crate) fn def() -> OpDef {
    OpDef::new("AdjustContrastv2")
        .doc(
            "Computes `(x - mean) * contrast_factor + mean` for each channel of images, whose last three axes are \
             height, width and channels.",
        )
        .input("images", "T")
        .input("contrast_factor", F32)
        .output("output", "T")
        .attr("T", OneOf(&[F16, F32]).or(F32))
        .infer(infer_adjusted)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(4.0)))
        .gradient(Gradient::Missing("TensorFlow has none either"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    image_checked(cx)?;
    let factor = factor(cx)?;
    let images = cx.take(0);
    let (shape, dtype) = (images.shape().clone(), images.dtype());
    if !matches!(dtype, F16 | F32) {
        return Err(no_kernel("AdjustContrastv2", dtype));
    }
    let images = cast(&images, F32)?;
    let &[.., height, width, depth] = shape.dims() else { return Ok(()) };
    let (cells, size) = (images.as_slice::<f32>()?, height * width * depth);
    let mut out = Tensor::anything(F32, shape.clone())?;
    in_pieces(cx.env, fresh::<f32>(&mut out)?, size, cells.len() as f64 * 4.0, |i, image| {
        let cells = &cells[i * size..][..size];
        let (mut means, mut pace): (SmallVec<[f64; 4]>, _) = (smallvec![0.0; depth], Pace::new());
        for pixel in cells.chunks_exact(depth) {
            pace.spend(depth)?;
            means.iter_mut().zip(pixel).for_each(|(sum, x)| *sum += f64::from(*x));
        }
        means.iter_mut().for_each(|sum| *sum /= (height * width) as f64);
        for (out, pixel) in image.chunks_exact_mut(depth).zip(cells.chunks_exact(depth)) {
            pace.spend(depth)?;
            for ((y, x), mean) in out.iter_mut().zip(pixel).zip(&means) {
                let mean = *mean as f32;
                *y = (x - mean) * factor + mean;
            }
        }
        Ok(())
    })?;
    cx.set(0, cast(&out, dtype)?);
    Ok(())
}

cases! {
    more: "AdjustContrastv2([[[1.0 0.0] [3.0 4.0]]], 2.0) = [[[0.0 -2.0] [4.0 6.0]]]",
    of_halves: "AdjustContrastv2(f16[2,1,2,1] [[[[1.0] [3.0]]] [[[5.0] [5.0]]]], 0.5) = f16[2,1,2,1] [[[[1.5] [2.5]]] [[[5.0] [5.0]]]]",
    infers: "AdjustContrastv2(f32[?,?,?,3], f32[]) : f32[?,?,?,3]",
    factor_is_one: "AdjustContrastv2([[[1.0]]], [2.0]) ! `contrast_factor` must be a scalar",
}
