//! `BatchNormWithGlobalNormalization` and its gradient: normalization by given statistics, TensorFlow's
//! first op for it.

use crate::number::no_kernel;
use crate::shared::casting::cast;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{Bool, Float, Number};
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F16, F32, F64};
use millstream_tensor::pace::Pace;
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid, unequal};

pub(crate) fn def() -> [OpDef; 2] {
    let attrs = |def: OpDef| {
        def.attr("T", Number).attr("variance_epsilon", Float).attr("scale_after_normalization", Bool)
    };
    let forward = OpDef::new("BatchNormWithGlobalNormalization")
        .doc(
            "Normalizes each channel of the images `t` by its mean in `m` and its variance in `v`, multiplies by \
             `gamma` if `scale_after_normalization` is true, and adds `beta`: the result is \
             `(t - m) / sqrt(v + variance_epsilon) * gamma + beta`.",
        )
        .input("t", "T")
        .input("m", "T")
        .input("v", "T")
        .input("beta", "T")
        .input("gamma", "T")
        .output("result", "T");
    let back = OpDef::new("BatchNormWithGlobalNormalizationGrad")
        .doc(
            "Computes the gradients of `BatchNormWithGlobalNormalization` by its inputs `t`, `m`, `v`, `beta` and \
             `gamma`, from `backprop`, the gradient of its output.",
        )
        .input("t", "T")
        .input("m", "T")
        .input("v", "T")
        .input("gamma", "T")
        .input("backprop", "T")
        .output("dx", "T")
        .output("dm", "T")
        .output("dv", "T")
        .output("db", "T")
        .output("dg", "T");
    [
        attrs(forward)
            .infer(infer)
            .kernel(Kernel::pure(run).cost(Cost::PerElement(4.0)))
            .gradient(Gradient::of(grad)),
        attrs(back)
            .infer(infer_grad)
            .kernel(Kernel::pure(run_grad).cost(Cost::PerElement(8.0)))
            .gradient(Gradient::Missing("TensorFlow has none: the gradient of the op itself has gradients")),
    ]
}

/// Returns the shapes of the images and of the vectors, which are the other inputs but `other`.
fn shapes(cx: &InferCx, other: Option<usize>) -> Result<(PartialShape, PartialShape)> {
    let mut images = cx.with_rank(0, 4)?;
    if let Some(other) = other {
        cx.with_rank(other, 4)?;
        images = cx.merge(0, other)?.merge(&images).unwrap_or(images);
    }
    let mut depth = images.dim(3);
    for i in (1..5).filter(|i| Some(*i) != other) {
        match (depth, cx.vector(i)?) {
            (Some(a), Some(b)) if a != b => {
                return Err(
                    invalid!("{}", unequal(a, b); "`{}` has {b} entries but there are {a} channels", cx.name_of(i)),
                );
            }
            (a, b) => depth = a.or(b),
        }
    }
    let dims = (0..4).map(|i| if i == 3 { depth } else { images.dim(i) });
    Ok((PartialShape::new(dims), PartialShape::new([depth])))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (images, _) = shapes(cx, None)?;
    cx.set(0, images);
    Ok(())
}

fn infer_grad(cx: &mut InferCx) -> Result<()> {
    let (images, vector) = shapes(cx, Some(4))?;
    cx.set(0, images);
    (1..5).for_each(|i| cx.set(i, vector.clone()));
    Ok(())
}

/// The attributes, and the inputs as f64, in which both ops compute.
struct Inputs {
    wide: [Tensor; 5],
    epsilon: f64,
    scales: bool,
}

impl Inputs {
    fn of(cx: &KernelCx, other: Option<usize>) -> Result<Inputs> {
        let (dtype, images) = (cx.input(0).dtype(), cx.input(0).shape());
        if ![F16, F32, F64].contains(&dtype) {
            return Err(no_kernel(cx.node.op.name, dtype));
        }
        ensure!(images.rank() == 4, "input must be 4-dimensional{images}"; "`t` has shape {images}");
        for i in 1..5 {
            let shape = cx.input(i).shape();
            let fits = if Some(i) == other { shape == images } else { shape.dims() == [images[3]] };
            ensure!(
                fits,
                "`{}` has shape {shape}, which does not fit images of shape {images}",
                cx.name_of(i)
            );
        }
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|i| cast(cx.input(i), F64));
        let wide = [a?, b?, c?, d?, e?];
        let epsilon = f64::from(cx.attrs().float("variance_epsilon")?);
        Ok(Inputs { wide, epsilon, scales: cx.attrs().bool("scale_after_normalization")? })
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let Inputs { wide: [t, m, v, beta, gamma], epsilon, scales } = Inputs::of(cx, None)?;
    let [m, v, beta, gamma] = [m.as_slice::<f64>()?, v.as_slice()?, beta.as_slice()?, gamma.as_slice()?];
    let mut out = Tensor::zeros(F64, t.shape().clone())?;
    let (n, mut pace) = (m.len().max(1), Pace::new());
    let rows = t.as_slice::<f64>()?.chunks_exact(n).zip(fresh::<f64>(&mut out)?.chunks_exact_mut(n));
    for (row, out) in rows {
        pace.spend(4 * n)?;
        for (i, out) in out.iter_mut().enumerate() {
            let factor = (v[i] + epsilon).sqrt().recip() * if scales { gamma[i] } else { 1.0 };
            *out = (row[i] - m[i]) * factor + beta[i];
        }
    }
    let out = cast(&out, cx.input(0).dtype())?;
    cx.set(0, out);
    Ok(())
}

fn run_grad(cx: &mut KernelCx) -> Result<()> {
    let Inputs { wide: [t, m, v, gamma, dy], epsilon, scales } = Inputs::of(cx, Some(4))?;
    let shape = m.shape().clone();
    let [m, v, gamma] = [m.as_slice::<f64>()?, v.as_slice()?, gamma.as_slice()?];
    let mut dx = Tensor::zeros(F64, t.shape().clone())?;
    let mut vectors = Vec::with_capacity(4);
    for _ in 0..4 {
        vectors.push(Tensor::zeros(F64, shape.clone())?);
    }
    let n = m.len();
    if let [dm, dv, db, dg] = &mut vectors[..] {
        let [dm, dv, db, dg] = [fresh::<f64>(dm)?, fresh(dv)?, fresh(db)?, fresh(dg)?];
        let gain = |i: usize| if scales { gamma[i] } else { 1.0 };
        let root = |i: usize| (v[i] + epsilon).sqrt().recip();
        let mut pace = Pace::new();
        let rows =
            t.as_slice::<f64>()?.chunks_exact(n.max(1)).zip(dy.as_slice::<f64>()?.chunks_exact(n.max(1)));
        for ((t, dy), dx) in rows.zip(fresh::<f64>(&mut dx)?.chunks_exact_mut(n.max(1))) {
            pace.spend(8 * n)?;
            for i in 0..n {
                dx[i] = dy[i] * gain(i) * root(i);
                db[i] += dy[i];
                dg[i] += dy[i] * (t[i] - m[i]);
            }
        }
        for i in 0..n {
            dm[i] = -db[i] * gain(i) * root(i);
            dv[i] = -0.5 * dg[i] * gain(i) * root(i).powi(3);
            dg[i] = if scales { dg[i] * root(i) } else { 0.0 };
        }
    }
    let dtype = cx.input(0).dtype();
    for (i, out) in [dx].into_iter().chain(vectors).enumerate() {
        let out = cast(&out, dtype)?;
        cx.set(i, out);
    }
    Ok(())
}

// With r = 1 / sqrt(v + ε) and g = `gamma`, or 1: dt = dy g r, dm = -Σ dy g r, dv = -½ g r³ Σ dy (t - m),
// dβ = Σ dy, dγ = r Σ dy (t - m).
fn grad(cx: &mut GradCx) -> Result<()> {
    let (epsilon, scales) =
        (cx.attrs().float("variance_epsilon")?, cx.attrs().bool("scale_after_normalization")?);
    let (dy, t, m, v, gamma) = (cx.grad(0), cx.input(0), cx.input(1), cx.input(2), cx.input(4));
    let root = cx.call("Rsqrt", [v + f64::from(epsilon)]);
    let factor = if scales { root * gamma } else { root };
    let sum = |x| cx.call("Sum", [x, cx.ints(&[0, 1, 2])]);
    let (db, of_gamma) = (sum(dy), sum(dy * (t - m)));
    let dv = of_gamma * factor * root * root * -0.5;
    let dg = if scales { of_gamma * root } else { cx.zeros_like(gamma) };
    cx.give(0, dy * factor);
    cx.give(1, -(db * factor));
    cx.give(2, dv);
    cx.give(3, db);
    cx.give(4, dg);
    Ok(())
}

cases! {
    scales: "BatchNormWithGlobalNormalization([[[[1.0 2.0] [3.0 4.0]]]], [1.0 2.0], [3.0 0.0], [0.5 1.0], [2.0 3.0]; variance_epsilon=1.0, scale_after_normalization=true) ~ [[[[0.5 1.0] [2.5 7.0]]]]",
    does_not_scale: "BatchNormWithGlobalNormalization(f64 [[[[1.0 2.0] [3.0 4.0]]]], f64 [1.0 2.0], f64 [3.0 0.0], f64 [0.5 1.0], f64 [2.0 3.0]; variance_epsilon=1.0, scale_after_normalization=false) ~ f64 [[[[0.5 1.0] [1.5 3.0]]]]",
    of_nothing: "BatchNormWithGlobalNormalization(f32[0,1,1,1] [], [1.0], [3.0], [0.5], [2.0]; variance_epsilon=1.0, scale_after_normalization=true) = f32[0,1,1,1] []",
    infers: "BatchNormWithGlobalNormalization(f32[?,2,3,?], f32[?], f32[4], f32[?], f32[?]; variance_epsilon=1.0, scale_after_normalization=true) : f32[?,2,3,4]",
    channels: "BatchNormWithGlobalNormalization([[[[1.0 2.0]]]], [1.0], [3.0 0.0], [0.5 1.0], [2.0 3.0]; variance_epsilon=1.0, scale_after_normalization=true) ! `m` has 1 entries but there are 2 channels",
    gradients: "BatchNormWithGlobalNormalizationGrad([[[[1.0] [3.0]]]], [1.0], [3.0], [2.0], [[[[1.0] [4.0]]]]; variance_epsilon=1.0, scale_after_normalization=true) ~ [[[[1.0] [4.0]]]], [-5.0], [-1.0], [5.0], [4.0]",
    gradients_without_scale: "BatchNormWithGlobalNormalizationGrad([[[[1.0] [3.0]]]], [1.0], [3.0], [2.0], [[[[1.0] [4.0]]]]; variance_epsilon=1.0, scale_after_normalization=false) ~ [[[[0.5] [2.0]]]], [-2.5], [-0.5], [5.0], [0.0]",
    gradients_infer: "BatchNormWithGlobalNormalizationGrad(f32[?,2,3,?], f32[?], f32[4], f32[?], f32[5,?,?,?]; variance_epsilon=1.0, scale_after_normalization=true) : f32[5,2,3,4], f32[4], f32[4], f32[4], f32[4]",
    images: "BatchNormWithGlobalNormalization([[[1.0]]], [1.0], [3.0], [0.5], [2.0]; variance_epsilon=1.0, scale_after_normalization=true) ! rank",
}
