//! `StatelessRandomGetAlg`: the generator of the stateless ops.

use crate::shared::philox::PHILOX;
use millstream_graph::op::{Kernel, OpDef};
use millstream_tensor::DType::I32;
use millstream_tensor::Tensor;

pub(crate) fn def() -> OpDef {
    OpDef::new("StatelessRandomGetAlg")
        .doc("Returns the number of the generator of the stateless ops: 1, Philox.")
        .output("alg", I32)
        .infer(|cx| cx.scalars())
        .kernel(Kernel::pure(|cx| {
            cx.set(0, Tensor::scalar(PHILOX));
            Ok(())
        }))
}

cases! {
    is_philox: "StatelessRandomGetAlg() = 1",
    is_a_scalar: "StatelessRandomGetAlg() : i32[]",
    takes_nothing: "StatelessRandomGetAlg(1) ! takes no inputs, got 1",
}
