//! `ResizeBilinearGrad`: the gradient of `ResizeBilinear`.

use super::resizer::{attrs, grad_of_grad, infer_original, linear_taps, run_scatter};
use millstream_graph::op::spec::FloatType;
use millstream_graph::op::{Cost, Gradient, Kernel, OpDef};
use millstream_tensor::DType::F32;

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("ResizeBilinearGrad")
        .doc(
            "Distributes `grads`, the gradient of a ResizeBilinear of `original_image`, to the pixels of the image \
             by their shares.",
        )
        .input("grads", F32)
        .input("original_image", "T")
        .output("output", "T")
        .attr("T", FloatType);
    attrs(def)
        .infer(infer_original)
        .kernel(Kernel::pure(|cx| run_scatter(cx, linear_taps, false)).cost(Cost::PerElement(8.0)))
        .gradient(Gradient::of(|cx| grad_of_grad(cx, "ResizeBilinear")))
}

cases! {
    of_a_larger: "ResizeBilinearGrad([[[[1.0] [2.0] [4.0] [8.0]]]], [[[[0.0] [0.0]]]]) = [[[[2.0] [13.0]]]]",
    of_halves: "ResizeBilinearGrad([[[[1.0] [2.0] [4.0] [8.0]]]], f16[1,1,2,1] [[[[0.0] [0.0]]]]; half_pixel_centers=true) = f16[1,1,2,1] [[[[3.5] [11.5]]]]",
    corners_aligned: "ResizeBilinearGrad([[[[1.0] [2.0] [4.0]] [[1.0] [1.0] [1.0]]]], [[[[0.0] [0.0]] [[0.0] [0.0]]]]; align_corners=true) = [[[[2.0] [5.0]] [[1.5] [1.5]]]]",
    infers: "ResizeBilinearGrad(f32[?,4,4,3], f64[?,?,2,3]) : f64[?,?,2,3]",
    channels_fit: "ResizeBilinearGrad([[[[1.0 1.0]]]], [[[[1.0]]]]) ! `grads` has shape [1,1,1,2]",
}
