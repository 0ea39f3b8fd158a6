//! `UnicodeScript`: the scripts of characters.

use super::scripts::script_of;
use crate::shared::elementwise::fresh;
use millstream_graph::op::{Cost, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I32;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, Tensor};

pub(crate) fn def() -> OpDef {
    OpDef::new("UnicodeScript")
        .doc(
            "Returns the number that ICU gives to the script of each code point, such as 25 for Latin, 14 for \
             Greek and 17 for Han; -1 for numbers that are no code points.",
        )
        .input("input", I32)
        .output("output", I32)
        .infer(|cx| cx.same_as_input())
        .kernel(Kernel::pure(run).cost(Cost::PerElement(20.0)))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let codes = cx.take(0);
    let (mut out, mut pace) = (Tensor::zeros(I32, codes.shape().clone())?, Pace::new());
    for (out, code) in fresh::<i32>(&mut out)?.iter_mut().zip(codes.as_slice::<i32>()?) {
        pace.spend(8)?;
        *out = script_of(*code).unwrap_or(-1);
    }
    cx.set(0, out);
    Ok(())
}

cases! {
    scripts: "UnicodeScript([65 945 19990 48 888]) = [25 14 17 0 103]",
    no_characters: "UnicodeScript([-1 1114112 55296]) = [-1 -1 103]",
    infers: "UnicodeScript(i32[?,2]) : i32[?,2]",
}
