//! Helpers of the ops on barriers: the declarations that they share.

use crate::shared::handles::{By, one_handle, share};
use millstream_graph::op::{Gradient, InferCx, KernelCx, OpDef};
use millstream_state::Barrier;
use millstream_tensor::{DType, PartialShape, Result, Tensor};
use std::sync::Arc;

/// Declares an op that uses a barrier.
pub(super) fn user(name: &'static str) -> OpDef {
    By::Reference
        .input(OpDef::new(name), "handle")
        .infer(one_handle)
        .gradient(Gradient::none("of barriers there is none, as in TensorFlow"))
}

/// Returns the barrier that input 0 refers to.
pub(super) fn barrier(cx: &KernelCx) -> Result<Arc<Barrier>> {
    share(cx, 0)
}

/// Declares the number that an op returns.
pub(super) fn counts(def: OpDef) -> OpDef {
    def.output("size", DType::I32).infer(|cx: &mut InferCx| {
        cx.set(0, PartialShape::unknown_of_rank(0));
        one_handle(cx)
    })
}

/// A number of elements, as an output.
pub(super) fn size(n: usize) -> Tensor {
    Tensor::scalar(i32::try_from(n).unwrap_or(i32::MAX))
}
