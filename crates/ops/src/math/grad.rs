//! What the ops that compute `dx` from `y = f(x)` and `dy` share.

use millstream_graph::op::{Kernel, OpDef};

/// An op `z = g(y, dy)` on tensors of one shape.
pub(crate) fn gradient_op(name: &'static str, kernel: Kernel) -> OpDef {
    OpDef::new(name)
        .input("y", "T")
        .input("dy", "T")
        .output("z", "T")
        .attr("T", dtypes!(fields))
        .infer(|cx| {
            let shape = cx.merge(0, 1)?;
            cx.set(0, shape);
            Ok(())
        })
        .kernel(kernel)
}
