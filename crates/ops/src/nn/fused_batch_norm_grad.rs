//! `FusedBatchNormGrad` in its versions: the gradient of `FusedBatchNorm`.

use super::batch_norm::{Formulas, Rows, attrs, infer_images, row, stats};
use crate::shared::elementwise::fresh;
use millstream_graph::Output;
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::F32;
use millstream_tensor::{PartialShape, Result, Tensor};

pub(crate) fn def() -> [OpDef; 3] {
    [("FusedBatchNormGrad", 1), ("FusedBatchNormGradV2", 2), ("FusedBatchNormGradV3", 3)].map(|(name, version)| {
        let u = stats(version);
        let def = OpDef::new(name).input("y_backprop", "T").input("x", "T");
        let def = if version == 1 { def.input("scale", "T") } else { def.input("scale", F32) };
        let def = def.input("reserve_space_1", u).input("reserve_space_2", u);
        let def = if version == 3 { def.input("reserve_space_3", u) } else { def };
        let def = def.output("x_backprop", "T").output("scale_backprop", u).output("offset_backprop", u);
        let def = match version {
            3 => def.output("reserve_space_4", u).output("reserve_space_5", u),
            _ => def.output("reserve_space_3", u).output("reserve_space_4", u),
        };
        attrs(def, version)
            .doc(
                "Computes the gradients of FusedBatchNorm by `x`, `scale` and `offset`. `reserve_space_1` and \
                 `reserve_space_2` are the mean and the variance that it used. The last two outputs are zeros.",
            )
            .infer(infer)
            .kernel(Kernel::pure(run).cost(Cost::PerElement(4.0)))
            .gradient(Gradient::of(grad))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (shape, depth) = infer_images(cx, &[0, 1], &[2, 3, 4])?;
    cx.set(0, shape);
    cx.set(1, PartialShape::new([depth]));
    cx.set(2, PartialShape::new([depth]));
    cx.set(3, PartialShape::scalar());
    cx.set(4, PartialShape::scalar());
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let rows = Rows::of(cx, 1)?;
    let (scale, mean, variance) = (rows.vector(cx, 2)?, rows.vector(cx, 3)?, rows.vector(cx, 4)?);
    let (dy, x) = (rows.take(cx, 0)?, rows.take(cx, 1)?);
    let training = cx.attrs().bool("is_training")?;
    let epsilon = cx.attrs().float("epsilon")?;
    let (depth, n) = (rows.depth, rows.n as f64);
    let (grads, cells, means) = (dy.as_slice::<f32>()?, x.as_slice::<f32>()?, mean.as_slice::<f32>()?);
    // Σ dy, and behind it Σ dy (x - m).
    let sums = rows.sums::<2>(cx.env, |sums, i| {
        let (of_dy, of_product) = sums.split_at_mut(depth);
        for ((((a, b), g), x), m) in
            of_dy.iter_mut().zip(of_product).zip(row(grads, depth, i)).zip(row(cells, depth, i)).zip(means)
        {
            *a += f64::from(*g);
            *b += f64::from(*g) * (f64::from(*x) - f64::from(*m));
        }
    })?;
    let (of_dy, of_product) = sums.as_slice::<f64>()?.split_at(depth);
    let rates =
        Tensor::from_iter([depth], variance.as_slice::<f32>()?.iter().map(|v| 1.0 / (v + epsilon).sqrt()))?;
    let rates = rates.as_slice::<f32>()?;
    // dx = (dy - shift - (x - m) slope) s r, where training makes the mean and the variance depend on x.
    let mut parts = Tensor::zeros(F32, [3 * depth])?;
    let (shift, rest) = fresh::<f32>(&mut parts)?.split_at_mut(depth);
    let (slope, factor) = rest.split_at_mut(depth);
    for (c, (r, s)) in rates.iter().zip(scale.as_slice::<f32>()?).enumerate() {
        factor[c] = r * s;
        if training {
            shift[c] = (of_dy[c] / n) as f32;
            slope[c] = (of_product[c] / n * f64::from(*r) * f64::from(*r)) as f32;
        }
    }
    let dx = rows.map(cx.env, |i, out| {
        let (grads, cells) = (row(grads, depth, i), row(cells, depth, i));
        let (grads, cells, means) = (&grads[..out.len()], &cells[..out.len()], &means[..out.len()]);
        for c in 0..out.len() {
            out[c] = (grads[c] - shift[c] - (cells[c] - means[c]) * slope[c]) * factor[c];
        }
    })?;
    let dscale = of_product.iter().zip(rates).map(|(sum, r)| (sum * f64::from(*r)) as f32);
    cx.set(1, Tensor::from_iter([depth], dscale)?);
    cx.set(2, Tensor::from_iter([depth], of_dy.iter().map(|sum| *sum as f32))?);
    cx.set(0, rows.give(dx)?);
    cx.set(3, Tensor::scalar(0f32));
    cx.set(4, Tensor::scalar(0f32));
    Ok(())
}

// With c = x - m, r = 1/sqrt(v + epsilon), A = Σ dy, B = Σ dy c, G = Σ g, H = Σ g c and D = Σ g dy, where g
// is the gradient of dx, u that of dscale and w that of doffset:
//
//     dx = s r (dy - A/n - r² c B/n), dscale = r B, doffset = A
//
//     by dy: s r (g - G/n - r² c H/n) + u r c + w     by m: the sum over -(by x)
//     by x:  u r dy - s r³ (dy H + g B)/n             by r: s (D - A G/n) - 3 s r² B H/n + u B
//     by s:  r (D - A G/n - r² B H/n)                 by v: -r³/2 times that
//
// Without training, the terms over n are not there.
fn grad(cx: &mut GradCx) -> Result<()> {
    let f = Formulas::of(cx)?;
    let training = cx.attrs().bool("is_training")?;
    let [dy, x, s, m, v] = [0, 1, 2, 3, 4].map(|i| cx.input(i));
    let [g, u, w] = [0, 1, 2].map(|i| cx.has_grad(i).then(|| cx.grad(i)));
    let (dy, c) = (f.wide(cx, dy), f.wide(cx, x) - f.along(cx, m));
    let r = f.rate(cx, v)?;
    let b = f.sum(cx, dy * c);
    let mut sums: [Option<Output>; 5] = [None; 5];
    let mut add = |i: usize, grad| sums[i] = Some(sums[i].map_or(grad, |sum| sum + grad));
    let (minus_half, cube) = (cx.scalar(F32, -0.5), r * r * r);
    if let Some(g) = g {
        let g = f.wide(cx, g);
        let d = f.sum(cx, g * dy);
        add(0, f.times(cx, g, s * r));
        add(2, r * d);
        add(4, s * d * cube * minus_half);
        if training {
            let n = f.count(cx, 1, 2);
            let (a, gs, h) = (f.sum(cx, dy), f.sum(cx, g), f.sum(cx, g * c));
            let slope = s * cube / n;
            add(0, -f.along(cx, s * r * gs / n));
            add(0, -f.times(cx, c, slope * h));
            add(1, -(f.times(cx, dy, slope * h) + f.times(cx, g, slope * b)));
            add(2, -(r * a * gs / n + cube * b * h / n));
            add(3, slope * (a * h + gs * b));
            let three = cx.scalar(F32, 3.0);
            add(4, (s * a * gs / n + three * s * r * r * b * h / n) * cube * -minus_half);
        }
    }
    if let Some(u) = u {
        add(0, f.times(cx, c, u * r));
        add(1, f.times(cx, dy, u * r));
        let a = f.sum(cx, dy);
        add(3, -(u * r * a));
        add(4, u * b * cube * minus_half);
    }
    if let Some(w) = w {
        let spread = f.along(cx, w) + cx.zeros_like(dy);
        add(0, spread);
    }
    for (i, grad) in sums.into_iter().enumerate().filter_map(|(i, grad)| Some((i, grad?))) {
        let narrow = i < 2 && cx.dtype(i) != F32;
        let grad = if narrow { cx.op("Cast").input(grad).attr("DstT", cx.dtype(i)).output() } else { grad };
        cx.give(i, grad);
    }
    Ok(())
}

cases! {
    in_training: "FusedBatchNormGrad([[[[1.0 -2.0] [0.5 3.0] [2.0 1.0]]]], [[[[1.0 2.0] [3.0 5.0] [4.0 4.5]]]], [2.0 3.0], [0.5 0.6], [1.5 2.5]; epsilon=0.0001) ~ [[[[-1.8596302 -10.123943] [-9.025992 -11.489587] [-9.751532 -13.475529]]]], [7.1441073 9.043933], [3.5 2.0], 0.0, 0.0",
    given: "FusedBatchNormGradV2([[[[1.0 -2.0] [0.5 3.0] [2.0 1.0]]]], [[[[1.0 2.0] [3.0 5.0] [4.0 4.5]]]], [2.0 3.0], [0.5 0.6], [1.5 2.5]; epsilon=0.0001, is_training=false) ~ [[[[1.6329387 -3.7946572] [0.8164694 5.691986] [3.2658775 1.8973286]]]], [7.144107 9.043934], [3.5 2.0], 0.0, 0.0",
    channels_first: "FusedBatchNormGradV3([[[[1.0 0.5 2.0]] [[-2.0 3.0 1.0]]]], [[[[1.0 3.0 4.0]] [[2.0 5.0 4.5]]]], [2.0 3.0], [0.5 0.6], [1.5 2.5], 0.0; epsilon=0.0001, data_format=\"NCHW\") ~ [[[[-1.8596302 -9.025992 -9.751532]] [[-10.123943 -11.489587 -13.475529]]]], [7.1441073 9.043933], [3.5 2.0], 0.0, 0.0",
    infers: "FusedBatchNormGrad(f32[?,3,4,?], f32[2,?,?,?], f32[5], f32[..], f32[..]) : f32[2,3,4,5], f32[5], f32[5], f32[], f32[]",
    images_fit: "FusedBatchNormGrad([[[[1.0]]]], [[[[1.0] [2.0]]]], [1.0], [1.0], [1.0]) ! has shape",
}
