//! `VarHandleOp`: a handle to a resource variable.

use super::variable::named;
use millstream_graph::Attr;
use millstream_graph::op::spec::{AnyShape, AnyType, Spec, Text, TextList};
use millstream_graph::op::{InferCx, Kernel, OpDef};
use millstream_tensor::{DType, PartialShape, Result};

pub(crate) fn def() -> OpDef {
    OpDef::new("VarHandleOp")
        .doc(
            "Returns a handle to the variable `shared_name` (by default, the node's name) in `container`, \
             which is created if it does not exist. Its values have dtype `dtype` and match `shape`.",
        )
        .output("resource", DType::Resource)
        .attr("container", Text.or(""))
        .attr("shared_name", Text.or(""))
        .attr("debug_name", Text.or(""))
        .attr("dtype", AnyType)
        .attr("shape", AnyShape)
        .attr("allowed_devices", TextList.or(Attr::List(Vec::new())))
        .infer(infer)
        .kernel(Kernel::opens(|cx| named(cx, PartialShape::clone)))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.set_handle(0, cx.attrs().dtype("dtype")?, cx.attrs().shape("shape")?.clone());
    Ok(())
}

cases! {
    is_a_scalar: "VarHandleOp(; dtype=f32, shape=shape[?,3]) : resource[]",
    needs_a_shape: "VarHandleOp(; dtype=f32) ! VarHandleOp needs the attribute `shape`",
    needs_a_dtype: "VarHandleOp(; shape=shape[]) ! VarHandleOp needs the attribute `dtype`",
}

#[cfg(test)]
mod tests {
    use millstream_graph::op::lone;
    use millstream_graph::op::{BuildCx, InferCx, KernelBody, KernelCx, NodeInfo};
    use millstream_graph::{Attr, Attrs};
    use millstream_state::Variable;
    use millstream_tensor::{DType, Handle, PartialShape, Tensor, shape};
    use smallvec::SmallVec;

    fn node(name: &str, shared: &str, dtype: DType) -> NodeInfo {
        let mut attrs = Attrs::new();
        attrs.set("dtype", dtype);
        attrs.set("shape", shape![2]);
        attrs.set("shared_name", shared);
        let op = crate::registry().get("VarHandleOp").expect("declared");
        NodeInfo::resolve(op, name, &[], attrs).expect("resolves")
    }

    #[test]
    fn one_name_is_one_variable() {
        let env = lone::env();
        let handle = |name, shared| lone::run(&node(name, shared, DType::F32), &env, &[]).expect("runs");
        let (a, b, c) = (handle("a", "v"), handle("b", "v"), handle("c", ""));
        let same = |x: &Tensor, y: &Tensor| match (x.as_handles(), y.as_handles()) {
            (Some([x]), Some([y])) => x.same(y),
            _ => false,
        };
        assert!(same(&a[0], &b[0]) && !same(&a[0], &c[0]));
        assert_eq!(env.resources.get::<Variable>("", "c").expect("named as its node").name(), "c");
        let error = lone::run(&node("d", "v", DType::I32), &env, &[]).expect_err("another dtype");
        assert!(error.message().contains("`v` holds f32"), "{error}");
    }

    #[test]
    fn a_cleared_container_holds_another_variable() {
        let (env, node) = (lone::env(), node("v", "", DType::F32));
        let KernelBody::Build(make) = node.op.kernel.body else { panic!("prepared once") };
        let kernel = make(&BuildCx { node: &node, kernel_state: &env.kernel_state }).expect("prepares");
        let handle = || {
            let mut outputs: SmallVec<[Option<Tensor>; 4]> = SmallVec::from_elem(None, 1);
            kernel.run(&mut KernelCx::new(&node, &env, &mut Vec::new(), &mut outputs)).expect("runs");
            outputs[0].as_ref().and_then(|t| t.as_handles()?.first().cloned()).expect("a handle")
        };
        let first = handle();
        assert!(first.same(&handle()));
        env.resources.clear("");
        let second = handle();
        assert!(!first.same(&second));
        assert!(second.same(&Handle::new(
            "",
            "v",
            env.resources.get::<Variable>("", "v").expect("made anew")
        )));
    }

    #[test]
    fn readers_learn_dtype_and_shape() {
        let handle = node("v", "", DType::F32);
        let (shapes, known) = InferCx::new(&handle, &[], &[]).infer().expect("infers");
        let op = crate::registry().get("ReadVariableOp").expect("declared");
        let mut attrs = Attrs::new();
        attrs.set("dtype", Attr::from(DType::F32));
        let read = NodeInfo::resolve(op, "r", &[DType::Resource.into()], attrs).expect("resolves");
        let (shapes, _) = InferCx::new(&read, &shapes, &known).infer().expect("infers");
        assert_eq!(shapes.as_slice(), [PartialShape::from([2])]);
    }
}
