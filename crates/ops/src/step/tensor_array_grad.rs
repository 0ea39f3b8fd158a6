//! `TensorArrayGrad` and its newer forms: a TensorArray that accumulates the gradients of another.

use super::tensor_arrays::{By, HandleArg, array, flow_on, handle_to, kernel, pass_array};
use millstream_graph::op::spec::Text;
use millstream_graph::op::{Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::{DType, PartialShape, Result, Shape};

pub(crate) fn def() -> [OpDef; 3] {
    [
        ("TensorArrayGrad", By::Strings, By::Reference),
        ("TensorArrayGradV2", By::Strings, By::Strings),
        ("TensorArrayGradV3", By::Resource, By::Resource),
    ]
    .map(|(name, from, to)| {
        let def = OpDef::new(name)
            .doc(
                "Returns the TensorArray that accumulates the gradients of this one, which is created on \
                 the first request for `source`. It has the size and the element shapes of this one, whose \
                 size is fixed from then on.",
            )
            .handle_in(from, "handle")
            .input("flow_in", DType::F32)
            .handle_out(to, "grad_handle");
        let def = if to == By::Resource { def.output("flow_out", DType::F32) } else { def };
        def.attr("source", Text).infer(infer).kernel(kernel(run).undoable()).gradient(Gradient::Missing("build gradients of gradients with `gradients` from the forward graph, they need no TensorArrayGrad"))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    if cx.n_outputs() > 1 {
        pass_array(cx);
        cx.set(1, PartialShape::scalar());
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let gradient = array(cx)?.gradient(&cx.attrs().str("source")?.text(), &Shape::scalar())?;
    let handle = handle_to(cx, gradient)?;
    cx.set(0, handle);
    if cx.n_outputs() > 1 {
        flow_on(cx, 1, 1);
    }
    Ok(())
}

cases! {
    sums: "a f <- TensorArrayV3(2; dtype=i32) | g h <- TensorArrayGradV3(a, TensorArrayWriteV3(a, 0, [1 2], f); source=\"s\") \
           | TensorArrayReadV3(g, 0, TensorArrayWriteV3(g, 0, [2 1], TensorArrayWriteV3(g, 0, [1 1], h)); dtype=i32) = [3 2]",
    zeros_at_first: "a f <- TensorArrayV3(2; dtype=i32) | g h <- TensorArrayGradV3(a, TensorArrayWriteV3(a, 0, [1 2], f); source=\"s\") | TensorArrayReadV3(g, 0, h; dtype=i32) = [0 0]",
    one_for_each_source: "a f <- TensorArrayV3(1; dtype=i32, element_shape=shape[]) | g h <- TensorArrayGradV3(a, f; source=\"s\") | k l <- TensorArrayGradV3(a, TensorArrayWriteV3(g, 0, 5, h); source=\"t\") \
                          | TensorArrayReadV3(k, 0, l; dtype=i32) = 0",
    the_same_for_one_source: "a f <- TensorArrayV3(1; dtype=i32, element_shape=shape[]) | g h <- TensorArrayGradV3(a, f; source=\"s\") | k l <- TensorArrayGradV3(a, TensorArrayWriteV3(g, 0, 5, h); source=\"s\") \
                              | TensorArrayReadV3(k, 0, l; dtype=i32) = 5",
    by_name: "a <- TensorArrayV2(1; dtype=i32) | f <- TensorArrayWriteV2(a, 0, 3, 0.0) | g <- TensorArrayGradV2(a, f; source=\"s\") \
              | TensorArrayReadV2(g, 0, TensorArrayWriteV2(g, 0, 7, 0.0); dtype=i32) = 7",
    infers: "TensorArrayGradV3(resource[], f32[]; source=\"s\") : resource[..], f32[]",
    of_one_shape: "a f <- TensorArrayV3(2; dtype=i32) | g h <- TensorArrayGradV3(a, TensorArrayWriteV3(a, 0, [1 2], f); source=\"s\") \
                   | TensorArrayWriteV3(g, 0, [1], h) ! index 0 has shape [2], so a value of shape [1] cannot be added",
    no_longer_grows: "a f <- TensorArrayV3(2; dtype=i32, dynamic_size=true) | g h <- TensorArrayGradV3(a, f; source=\"s\") | TensorArrayWriteV3(a, 5, 1, h) ! index 5 cannot be written: there are 2 elements",
    none_of_a_sum: "a f <- TensorArrayV3(1; dtype=i32) | g h <- TensorArrayGradV3(a, f; source=\"s\") \
                    | TensorArrayGradV3(g, TensorArrayWriteV3(g, 0, 1, TensorArrayWriteV3(g, 0, 1, h)); source=\"s\") ! it has no gradient",
}
