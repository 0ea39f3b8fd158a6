//! `StatelessRandomGetKeyCounter` and `StatelessRandomGetKeyCounterAlg`: a key and a counter made of a seed.

use super::fill::check_seed;
use crate::shared::philox::{PHILOX, from_seed, key_and_counter};
use millstream_graph::op::spec::{IndexType, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I32, I64, U64};
use millstream_tensor::{PartialShape, Result, Tensor};

pub(crate) fn def() -> [OpDef; 2] {
    let plain = |name| {
        OpDef::new(name)
            .doc("Scrambles a seed into the key and the counter at which a Philox stream starts.")
            .input("seed", "Tseed")
            .on_host()
            .output("key", U64)
            .output("counter", U64)
            .attr("Tseed", IndexType.or(I64))
            .infer(infer)
            .kernel(Kernel::pure(run))
    };
    [plain("StatelessRandomGetKeyCounter"), plain("StatelessRandomGetKeyCounterAlg").output("alg", I32)]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    check_seed(cx, 0)?;
    cx.set(0, [1]);
    cx.set(1, [2]);
    if cx.n_outputs() == 3 {
        cx.set(2, PartialShape::scalar());
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (key, counter) = key_and_counter(&from_seed(cx, 0)?);
    cx.set(0, Tensor::vector(&key)?);
    cx.set(1, Tensor::vector(&counter)?);
    if cx.n_outputs() == 3 {
        cx.set(2, Tensor::scalar(PHILOX));
    }
    Ok(())
}

cases! {
    draws_as_tensorflow_does: "StatelessRandomGetKeyCounter(i32[2] [0 0]; ) = u64[1] [16103252647613272195], u64[2] [0 18388005586443337812]",
    sizes_are_fixed: "StatelessRandomGetKeyCounterAlg(i64[2]) : u64[1], u64[2], i32[]",
    seed_is_two_integers: "StatelessRandomGetKeyCounter([1]) ! `seed` must be two integers but has shape [1]",
}
