//! `FusedBatchNorm` in its versions: normalizes each channel by the mean and the variance of the batch, or by
//! given ones.

use super::batch_norm::{Formulas, Rows, attrs, infer_images, row, stats};
use crate::shared::elementwise::fresh;
use millstream_graph::Output;
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::F32;
use millstream_tensor::{PartialShape, Result, Tensor, ensure};

pub(crate) fn def() -> [OpDef; 3] {
    [("FusedBatchNorm", 1), ("FusedBatchNormV2", 2), ("FusedBatchNormV3", 3)].map(|(name, version)| {
        let u = stats(version);
        let def = OpDef::new(name)
            .doc(
                "Normalizes each channel of `x`: subtracts a mean, divides by `sqrt(variance + epsilon)`, multiplies \
                 by `scale`, adds `offset`. With `is_training`, mean and variance are those of the batch, which are \
                 also returned: `batch_variance` without bias, `reserve_space_2` as it was used. Otherwise they are \
                 `mean` and `variance`, which are passed on.",
            )
            .input("x", "T")
            .input("scale", u)
            .input("offset", u)
            .input("mean", u)
            .input("variance", u)
            .output("y", "T")
            .output("batch_mean", u)
            .output("batch_variance", u)
            .output("reserve_space_1", u)
            .output("reserve_space_2", u);
        let def = if version == 3 { def.output("reserve_space_3", u) } else { def };
        attrs(def, version)
            .infer(infer)
            .kernel(Kernel::pure(run).cost(Cost::PerElement(4.0)))
            .gradient(Gradient::of(match version {
                1 => |cx| grad(cx, "FusedBatchNormGrad"),
                2 => |cx| grad(cx, "FusedBatchNormGradV2"),
                _ => |cx| grad(cx, "FusedBatchNormGradV3"),
            }))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let vectors: &[usize] = if cx.attrs().bool("is_training")? { &[1, 2] } else { &[1, 2, 3, 4] };
    let (shape, depth) = infer_images(cx, &[0], vectors)?;
    cx.set(0, shape);
    for i in 1..5 {
        cx.set(i, PartialShape::new([depth]));
    }
    if cx.n_outputs() == 6 {
        cx.set(5, PartialShape::scalar());
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let rows = Rows::of(cx, 0)?;
    let (scale, offset) = (rows.vector(cx, 1)?, rows.vector(cx, 2)?);
    let x = rows.take(cx, 0)?;
    let [mean, variance, batch_variance] = match cx.attrs().bool("is_training")? {
        false => {
            let (mean, variance) = (rows.vector(cx, 3)?, rows.vector(cx, 4)?);
            [mean, variance.clone(), variance]
        }
        true => {
            for (i, what) in [(3, "estimated_mean"), (4, "estimated_variance")] {
                ensure!(
                    cx.input(i).elements() == 0,
                    "{what} must be empty for training{}", cx.input(i).shape();
                    "{}: `{}` is used only without `is_training`", cx.node.op.name, cx.name_of(i)
                );
            }
            moments(cx, &rows, x.as_slice()?)?
        }
    };
    let epsilon = cx.attrs().float("epsilon")?;
    let mut factor = Tensor::anything(F32, [rows.depth])?;
    let factors = fresh::<f32>(&mut factor)?;
    for ((f, v), s) in factors.iter_mut().zip(variance.as_slice::<f32>()?).zip(scale.as_slice::<f32>()?) {
        *f = s / (v + epsilon).sqrt();
    }
    let (cells, means, offsets) = (x.as_slice::<f32>()?, mean.as_slice::<f32>()?, offset.as_slice::<f32>()?);
    let y = rows.map(cx.env, |i, out| {
        let xs = row(cells, rows.depth, i);
        for ((((y, x), m), f), o) in out.iter_mut().zip(xs).zip(means).zip(&*factors).zip(offsets) {
            *y = (x - m) * f + o;
        }
    })?;
    cx.set(0, rows.give(y)?);
    cx.set(1, mean.clone());
    cx.set(2, batch_variance);
    cx.set(3, mean);
    cx.set(4, variance);
    if cx.n_outputs() == 6 {
        cx.set(5, Tensor::scalar(0f32));
    }
    Ok(())
}

/// Returns the mean, the variance, and the variance without bias.
fn moments(cx: &KernelCx, rows: &Rows, cells: &[f32]) -> Result<[Tensor; 3]> {
    let (depth, n) = (rows.depth, rows.n as f64);
    let sums = rows.sums::<1>(cx.env, |sums, i| {
        sums.iter_mut().zip(row(cells, depth, i)).for_each(|(sum, x)| *sum += f64::from(*x));
    })?;
    let mean = Tensor::from_iter([depth], sums.as_slice::<f64>()?.iter().map(|s| (s / n) as f32))?;
    let means = mean.as_slice::<f32>()?;
    let sums = rows.sums::<1>(cx.env, |sums, i| {
        for ((sum, x), m) in sums.iter_mut().zip(row(cells, depth, i)).zip(means) {
            let d = f64::from(*x) - f64::from(*m);
            *sum += d * d;
        }
    })?;
    let sums = sums.as_slice::<f64>()?;
    let variance = Tensor::from_iter([depth], sums.iter().map(|s| (s / n) as f32))?;
    // As in TensorFlow, the variance of one element is not divided by zero.
    let unbiased = Tensor::from_iter(
        [depth],
        sums.iter().map(|s| (s / if n == 0.0 { n } else { (n - 1.0).max(1.0) }) as f32),
    )?;
    Ok([mean, variance, unbiased])
}

// The gradient op gives those by x, scale and offset. As in TensorFlow, given statistics have none, and those
// of the statistics that are outputs 1 and 2 are dropped: by these, the gradients of the inputs are zero. The
// gradient op reads outputs 3 and 4, whose gradients flow on to x in the second derivative.
fn grad(cx: &mut GradCx, op: &'static str) -> Result<()> {
    let training = cx.attrs().bool("is_training")?;
    let f = Formulas::of(cx)?;
    let mut sums: [Option<Output>; 5] = [None; 5];
    let mut add = |i: usize, grad| sums[i] = Some(sums[i].map_or(grad, |sum| sum + grad));
    if (0..3).any(|i| cx.has_grad(i)) {
        let (dy, x, scale, mean, variance) =
            (cx.grad(0), cx.input(0), cx.input(1), cx.output(3), cx.output(4));
        let mut node = cx.op(op).inputs([dy, x, scale, mean, variance]);
        if cx.n_outputs() == 6 {
            node = node.input(cx.output(5));
        }
        let back = node.attrs(cx.attrs().clone()).finish();
        (0..3).for_each(|i| add(i as usize, back.output(i)));
    }
    if training {
        through_batch(cx, &f, &mut add)?;
    }
    for (i, grad) in sums.into_iter().enumerate().filter_map(|(i, grad)| Some((i, grad?))) {
        cx.give(i, grad);
    }
    Ok(())
}

// Of n elements of a channel, the mean gives each 1/n of its gradient, the variance 2 (x - m)/n.
fn through_batch<'g>(
    cx: &mut GradCx<'g, '_>,
    f: &Formulas,
    add: &mut impl FnMut(usize, Output<'g>),
) -> Result<()> {
    if !cx.has_grad(3) && !cx.has_grad(4) {
        return Ok(());
    }
    let (n, dtype) = (f.count(cx, 0, 1), cx.dtype(0));
    let narrow = |cx: &GradCx<'g, '_>, x| {
        if dtype == F32 { x } else { cx.op("Cast").input(x).attr("DstT", dtype).output() }
    };
    let images = cx.input(0);
    let x = f.wide(cx, images);
    if cx.has_grad(3) {
        let each = cx.grad(3) / n;
        let spread = f.along(cx, each) + cx.zeros_like(x);
        add(0, narrow(cx, spread));
    }
    if cx.has_grad(4) {
        let mean = cx.output(3);
        let centered = x - f.along(cx, mean);
        let factor = cx.grad(4) * cx.scalar(F32, 2.0) / n;
        let grad = centered * f.along(cx, factor);
        add(0, narrow(cx, grad));
    }
    Ok(())
}

cases! {
    of_a_batch: "FusedBatchNorm([[[[1.0 2.0] [3.0 5.0] [4.0 4.5]]]], [2.0 3.0], [0.1 0.2], f32[0] [], f32[0] []; epsilon=0.0001) ~ [[[[-2.5725267 -3.9908826] [0.6345052 2.8669248] [2.238021 1.723957]]]], [2.6666667 3.8333335], [2.3333335 2.5833333], [2.6666667 3.8333335], [1.5555557 1.7222222]",
    of_a_batch_of_halves: "FusedBatchNormV2(f16[1,1,2,1] [[[[1.0] [3.0]]]], [1.0], [0.0], f32[0] [], f32[0] []; epsilon=0.0) ~ f16[1,1,2,1] [[[[-1.0] [1.0]]]], [2.0], [2.0], [2.0], [1.0]",
    given: "FusedBatchNormV3([[[[1.0 2.0]]]], [2.0 3.0], [0.5 0.5], [0.0 1.0], [4.0 9.0]; epsilon=0.0, is_training=false) ~ [[[[1.5 1.5]]]], [0.0 1.0], [4.0 9.0], [0.0 1.0], [4.0 9.0], 0.0",
    channels_first: "FusedBatchNormV3([[[[1.0 3.0]] [[2.0 2.0]]]], [1.0 1.0], [0.0 5.0], f32[0] [], f32[0] []; epsilon=0.0001, data_format=\"NCHW\") ~ [[[[-0.99995 0.99995]] [[5.0 5.0]]]], [2.0 2.0], [2.0 0.0], [2.0 2.0], [1.0 0.0], 0.0",
    infers: "FusedBatchNorm(f32[?,3,4,?], f32[2], f32[2], f32[0], f32[0]) : f32[?,3,4,2], f32[2], f32[2], f32[2], f32[2]",
    vectors_fit: "FusedBatchNorm(f32[1,1,3,2], f32[1], f32[2], f32[0], f32[0]) ! Dimensions must be equal, but are 2 and 1",
    nothing_is_given_in_training: "FusedBatchNorm([[[[1.0]]]], [1.0], [1.0], [1.0], [1.0]) ! estimated_mean must be empty for training[1]",
    images_only: "FusedBatchNorm([[[1.0]]], [1.0], [1.0], f32[0] [], f32[0] []) ! `x` must have rank 4",
}
