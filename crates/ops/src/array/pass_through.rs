//! Ops that return their input unchanged: `StopGradient`, `PreventGradient`, `Snapshot`, `GuaranteeConst`,
//! `DeepCopy`, and `IdentityN` for several inputs.

use millstream_graph::op::spec::{AnyType, Spec, Text, TypesFrom1};
use millstream_graph::op::{GradCx, Gradient, Kernel, KernelCx, Lowering, OpDef};
use millstream_tensor::{Error, Result};

pub(crate) fn def() -> [OpDef; 6] {
    let one = |name, doc, input, output| {
        OpDef::new(name)
            .doc(doc)
            .input(input, "T")
            .output(output, "T")
            .attr("T", AnyType)
            .infer(|cx| cx.same_as_input())
            .kernel(Kernel::pure(run).lowered(|_| Some(Lowering::SameElements)))
            .gradient(Gradient::pass())
    };
    [
        one("StopGradient", "Returns `input` unchanged. Its gradient is zero.", "input", "output")
            .gradient(Gradient::none("gradients end here")),
        one(
            "PreventGradient",
            "Returns `input` unchanged. Computing its gradient fails with `message`.",
            "input",
            "output",
        )
        .attr("message", Text.or(""))
        .gradient(Gradient::of(prevent)),
        one("Snapshot", "Returns the current value of `input`.", "input", "output"),
        one(
            "GuaranteeConst",
            "Returns `input` unchanged, with the caller's promise that its value never changes.",
            "input",
            "output",
        ),
        one(
            "DeepCopy",
            "Returns a copy of `x`. Values are immutable, so the copy may share the memory of `x`.",
            "x",
            "y",
        ),
        OpDef::new("IdentityN")
            .doc("Returns all inputs unchanged.")
            .input_list("input", "T")
            .output_list("output", "T")
            .attr("T", TypesFrom1)
            .infer(|cx| {
                for (i, shape) in cx.inputs().iter().enumerate() {
                    cx.set(i, shape.clone());
                    if let Some(known) = cx.known(i) {
                        cx.set_known(i, known.clone());
                    }
                }
                Ok(())
            })
            .kernel(Kernel::pure(run).lowered(|_| Some(Lowering::SameElements)))
            .gradient(Gradient::of(grad)),
    ]
}

fn run(cx: &mut KernelCx) -> Result<()> {
    for i in 0..cx.n_inputs() {
        let value = cx.take(i);
        cx.set(i, value);
    }
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    for i in 0..cx.n_inputs() {
        if let Some(dy) = cx.grad_as_it_is(i) {
            cx.give(i, dy);
        }
    }
    Ok(())
}

fn prevent(cx: &mut GradCx) -> Result<()> {
    let message = cx.attrs().str("message")?.text();
    Err(Error::unimplemented(format!("the graph prevents this gradient: {message}"))
        .led_by(format!("Gradient explicitly disabled. Reason: b'{message}'")))
}

cases! {
    stops: "StopGradient([1.5]) = [1.5]",
    prevents: "PreventGradient('a'; message=\"no\") = 'a'",
    snaps: "Snapshot(true) = true",
    guarantees: "GuaranteeConst([1 2]) = [1 2]",
    copies: "DeepCopy([1 2]) = [1 2]",
    many: "IdentityN(1, 'a', [2.5]) = 1, 'a', [2.5]",
    infers: "IdentityN(f32[?,3], i32[..]) : f32[?,3], i32[..]",
    one_inferred: "StopGradient(f32[?,3]) : f32[?,3]",
    takes_one: "Snapshot(1, 2) ! 1 input",
}
