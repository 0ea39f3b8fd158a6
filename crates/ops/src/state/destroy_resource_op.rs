//! `DestroyResourceOp`: removes a resource's value.

use millstream_graph::op::spec::{Bool, Spec};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_state::Variable;
use millstream_tensor::{Code, DType, Error, Result};

// The variable stays registered under its name, without a value. Handles to it stay valid, as in TensorFlow,
// where a handle is a name.
pub(crate) fn def() -> OpDef {
    OpDef::new("DestroyResourceOp")
        .doc(
            "Clears the variable's value, or removes a resource of another kind. If there is none, fails \
             unless `ignore_lookup_error` is true.",
        )
        .input("resource", DType::Resource)
        .attr("ignore_lookup_error", Bool.or(true))
        .infer(|cx| cx.scalar(0))
        .kernel(Kernel::writes(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let handle = cx.handle(0)?;
    let was_there = match handle.get::<Variable>() {
        Some(variable) => {
            let has = variable.is_initialized();
            variable.clear();
            has
        }
        None => cx.env.resources.remove(&handle.container, &handle.name),
    };
    if was_there || cx.attrs().bool("ignore_lookup_error")? {
        return Ok(());
    }
    Err(Error::new(Code::NotFound, format!("there is no value of `{}` to remove", handle.name)))
}

cases! {
    destroys: "DestroyResourceOp(@f32[2] [1 2]) =",
    ignores: "DestroyResourceOp(@f32[2]) =",
    minds: "DestroyResourceOp(@f32[2]; ignore_lookup_error=false) ! there is no value of `variable_0` to remove",
    gives_nothing: "DestroyResourceOp(resource[]) :",
    wants_a_scalar: "DestroyResourceOp(resource[2]) ! `resource` must be a scalar",
}
