//! `MaxPoolV2`, `MaxPoolGradV2`, `MaxPoolGradGradV2`: `MaxPool` and its gradients with windows that are
//! inputs.

use super::pool::{Call, cost, output_with};
use super::{max_pool, max_pool_grad};
use millstream_graph::op::spec::{OneOf, RealNumber, Spec, Words};
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_graph::{Attrs, Output};
use millstream_tensor::DType::{BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16};
use millstream_tensor::{PartialShape, Result, ensure};

pub(crate) fn def() -> [OpDef; 3] {
    let sized = |def: OpDef| {
        def.input("ksize", I32)
            .on_host()
            .input("strides", I32)
            .on_host()
            .output("output", "T")
            .attr("padding", Words(&["SAME", "VALID"]))
            .attr("data_format", Words(&["NHWC", "NCHW"]).or("NHWC"))
    };
    let back =
        |name| sized(OpDef::new(name).input("orig_input", "T").input("orig_output", "T").input("grad", "T"));
    [
        sized(OpDef::new("MaxPoolV2").input("input", "T"))
            .doc("Returns what MaxPool returns, with windows and strides that are inputs.")
            .attr("T", OneOf(&[F16, BF16, F32, F64, I32, I64, U8, I16, I8, U16]).or(F32))
            .infer(infer)
            .kernel(
                Kernel::pure(|cx| {
                    let call = call(cx, 1)?;
                    max_pool::run_call(cx, &call)
                })
                .cost(Cost::Estimate(cost)),
            )
            .gradient(Gradient::of(grad)),
        back("MaxPoolGradV2")
            .doc("Returns what MaxPoolGrad returns, with windows and strides that are inputs.")
            .attr("T", RealNumber.or(F32))
            .infer(|cx| {
                sizes_fit(cx, 3)?;
                let shape = cx.with_rank(0, 4)?;
                cx.set(0, shape);
                Ok(())
            })
            .kernel(
                Kernel::pure(|cx| {
                    let call = call(cx, 3)?;
                    max_pool_grad::run_call(cx, &call)
                })
                .cost(Cost::Estimate(cost)),
            )
            .gradient(Gradient::of(|cx| grad_back(cx, "MaxPoolGradGradV2"))),
        back("MaxPoolGradGradV2")
            .doc("Returns what MaxPoolGradGrad returns, with windows and strides that are inputs.")
            .attr("T", RealNumber)
            .infer(|cx| {
                sizes_fit(cx, 3)?;
                cx.merge(0, 2)?;
                let shape = cx.with_rank(1, 4)?;
                cx.set(0, shape);
                Ok(())
            })
            .kernel(
                Kernel::pure(|cx| {
                    let call = call(cx, 3)?;
                    max_pool_grad::run_back_call(cx, &call)
                })
                .cost(Cost::Estimate(cost)),
            )
            .gradient(Gradient::of(|cx| grad_back(cx, "MaxPoolGradV2"))),
    ]
}

/// The attributes of a pool with these windows and strides.
fn sized(attrs: &Attrs, ksize: Vec<i64>, strides: Vec<i64>) -> Attrs {
    let mut attrs = attrs.clone();
    attrs.set("ksize", ksize);
    attrs.set("strides", strides);
    attrs
}

/// Reads the windows and strides, which are inputs `i` and `i + 1`.
fn call<'a>(cx: &KernelCx<'a>, i: usize) -> Result<Call<'a>> {
    for (i, what) in [(i, "ksize"), (i + 1, "stride")] {
        ensure!(
            cx.input(i).shape().dims() == [4],
            "Sliding window {what} field must specify 4 dimensions";
            "`{}` has shape {}", cx.name_of(i), cx.input(i).shape()
        );
    }
    let attrs = sized(cx.attrs(), cx.ints(i)?.to_vec(), cx.ints(i + 1)?.to_vec());
    Call::with(cx, &attrs, 2, cx.input(0).shape(), true)
}

fn sizes_fit(cx: &InferCx, i: usize) -> Result<()> {
    for i in [i, i + 1] {
        let n = cx.vector(i)?;
        ensure!(n.is_none_or(|n| n == 4), "`{}` must have four entries", cx.name_of(i));
    }
    Ok(())
}

fn infer(cx: &mut InferCx) -> Result<()> {
    sizes_fit(cx, 1)?;
    cx.with_rank(0, 4)?;
    let shape = match (cx.ints(1), cx.ints(2)) {
        (Some(ksize), Some(strides)) => output_with(cx, &sized(cx.attrs(), ksize, strides), 2)?,
        _ => PartialShape::unknown_of_rank(4),
    };
    cx.set(0, shape);
    Ok(())
}

/// A node over these images with this node's windows, which are inputs `i` and `i + 1`.
fn node<'g>(cx: &mut GradCx<'g, '_>, op: &'static str, images: [Output<'g>; 3], i: usize) -> Output<'g> {
    let sizes = [cx.input(i), cx.input(i + 1)];
    cx.op(op).inputs(images).inputs(sizes).attrs(cx.attrs().clone()).output()
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let images = [cx.input(0), cx.output(0), cx.grad(0)];
    let dx = node(cx, "MaxPoolGradV2", images, 1);
    cx.give(0, dx);
    Ok(())
}

// As of MaxPoolGrad: both are linear in `grad` and each other's transpose.
fn grad_back(cx: &mut GradCx, back: &'static str) -> Result<()> {
    if cx.wants(2) {
        let images = [cx.input(0), cx.input(1), cx.grad(0)];
        let ddy = node(cx, back, images, 3);
        cx.give(2, ddy);
    }
    for i in 0..2 {
        if cx.wants(i) {
            let zeros = cx.zeros_like_input(i);
            cx.give(i, zeros);
        }
    }
    Ok(())
}

cases! {
    largest_of_each_window: "MaxPoolV2([[[[1.0] [5.0] [2.0] [3.0]] [[4.0] [0.0] [9.0] [8.0]]]], [1 2 2 1], [1 2 2 1]; padding=\"VALID\") = [[[[5.0] [9.0]]]]",
    infers: "MaxPoolV2(f32[?,7,8,3], [1 3 3 1], [1 2 2 1]; padding=\"SAME\") : f32[?,4,4,3]",
    infers_less: "MaxPoolV2(f32[?,7,8,3], i32[4], i32[4]; padding=\"SAME\") : f32[?,?,?,?]",
    to_the_largest: "MaxPoolGradV2([[[[1.0] [5.0] [2.0] [3.0]] [[4.0] [0.0] [9.0] [8.0]]]], [[[[5.0] [9.0]]]], [[[[10.0] [20.0]]]], [1 2 2 1], [1 2 2 1]; padding=\"VALID\") = [[[[0.0] [10.0] [0.0] [0.0]] [[0.0] [0.0] [20.0] [0.0]]]]",
    from_the_largest: "MaxPoolGradGradV2([[[[1.0] [5.0] [2.0] [3.0]] [[4.0] [0.0] [9.0] [8.0]]]], [[[[5.0] [9.0]]]], [[[[1.0] [2.0] [3.0] [4.0]] [[5.0] [6.0] [7.0] [8.0]]]], [1 2 2 1], [1 2 2 1]; padding=\"VALID\") = [[[[2.0] [7.0]]]]",
    not_of_batches: "MaxPoolV2([[[[1.0]]]], [2 1 1 1], [1 1 1 1]; padding=\"VALID\") ! not yet supported on the batch dimension",
    four_sizes: "MaxPoolV2([[[[1.0]]]], [2 1 1], [1 1 1 1]; padding=\"VALID\") ! `ksize` must have four entries",
}
