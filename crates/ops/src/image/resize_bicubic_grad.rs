//! `ResizeBicubicGrad`: the gradient of `ResizeBicubic`.

use super::resizer::{Grid, attrs, grad_of_grad, infer_original, run_scatter};
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Cost, Gradient, Kernel, OpDef};
use millstream_tensor::DType::{F32, F64};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("ResizeBicubicGrad")
        .doc(
            "Distributes `grads`, the gradient of a ResizeBicubic of `original_image`, to the pixels of the image \
             by their weights.",
        )
        .input("grads", F32)
        .input("original_image", "T")
        .output("output", "T")
        .attr("T", OneOf(&[F32, F64]));
    attrs(def)
        .infer(infer_original)
        .kernel(Kernel::pure(|cx| run_scatter(cx, Grid::cubic, true)).cost(Cost::PerElement(40.0)))
        .gradient(Gradient::of(|cx| grad_of_grad(cx, "ResizeBicubic")))
}

cases! {
    of_a_larger: "ResizeBicubicGrad([[[[1.0] [2.0] [4.0] [8.0]]]], [[[[0.0] [0.0]]]]) = [[[[1.25] [13.75]]]]",
    of_doubles: "ResizeBicubicGrad([[[[1.0] [2.0] [4.0] [8.0]]]], f64[1,1,2,1] [[[[0.0] [0.0]]]]; half_pixel_centers=true) ~ f64[1,1,2,1] [[[[2.79663879] [12.20336213]]]]",
    infers: "ResizeBicubicGrad(f32[?,4,4,3], f64[?,?,2,3]) : f64[?,?,2,3]",
    batches_fit: "ResizeBicubicGrad([[[[1.0]]]], [[[[1.0]]] [[[1.0]]]]) ! `grads` has shape [1,1,1,1]",
}
