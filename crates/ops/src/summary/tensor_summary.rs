//! `TensorSummary`: a tensor under the name of its node.

use super::message::give;
use crate::shared::messages::room_to_encode;
use millstream_checkpoint::message;
use millstream_graph::Attr;
use millstream_graph::op::spec::{AnyType, Spec, Text, TextList};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_proto::summary::{Value, value};
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorSummary")
        .doc(
            "Returns a summary with `tensor` under the name of the node. The attributes `description`, \
             `labels` and `display_name` have no effect; TensorSummaryV2 has metadata for display.",
        )
        .input("tensor", "T")
        .output("summary", DType::Str)
        .attr("T", AnyType)
        .attr("description", Text.or(""))
        .attr("labels", TextList.or(Attr::List(Vec::new())))
        .attr("display_name", Text.or(""))
        .infer(|cx| cx.scalars())
        .kernel(Kernel::pure(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let _room = room_to_encode(cx.input(0), 2)?;
    let tensor = value::Value::Tensor(Box::new(message::encode(cx.input(0))?));
    let node_name = cx.node.name.to_string();
    give(cx, vec![Value { node_name, value: Some(tensor), ..Value::default() }])
}

cases! {
    is_a_scalar: "TensorSummary(i32[..]) : str[]",
    plain_values: "TensorSummary(OptionalNone()) ! a tensor of variant cannot be written to a message",
}

#[cfg(test)]
mod tests {
    use millstream_graph::Attrs;
    use millstream_graph::op::NodeInfo;
    use millstream_graph::op::lone;
    use millstream_proto::{Summary, decode};
    use millstream_tensor::{DType, Tensor};

    #[test]
    fn has_the_name_of_its_node() {
        let def = crate::registry().get("TensorSummary").expect("declared");
        let node = NodeInfo::resolve(def, "a/b", &[DType::I32.into()], Attrs::new()).expect("a node");
        let made = lone::run(&node, &lone::env(), &[Tensor::scalar(3i32)]).expect("a summary");
        let summary: Summary = decode(&made[0].as_strs().expect("a string")[0]).expect("a message");
        assert_eq!((&*summary.value[0].node_name, &*summary.value[0].tag), ("a/b", ""));
    }
}
