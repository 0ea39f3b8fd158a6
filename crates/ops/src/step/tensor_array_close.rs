//! `TensorArrayClose` and its newer forms: releases the elements of a TensorArray.

use super::tensor_arrays::{HandleArg, array, kernel, versions};
use millstream_graph::op::OpDef;

pub(crate) fn def() -> [OpDef; 3] {
    versions(["TensorArrayClose", "TensorArrayCloseV2", "TensorArrayCloseV3"]).map(|(name, by)| {
        OpDef::new(name)
            .doc(
                "Releases the elements of a TensorArray before the step ends. The TensorArray cannot be \
                 used afterwards.",
            )
            .handle_in(by, "handle")
            .infer(|_| Ok(()))
            .kernel(kernel(|cx| {
                array(cx)?.close();
                Ok(())
            }))
    })
}

cases! {
    closes: "TensorArrayCloseV3(TensorArrayV3(1; dtype=i32)) =",
    closes_by_name: "TensorArrayCloseV2(TensorArrayV2(1; dtype=i32)) =",
    closes_by_reference: "TensorArrayClose(TensorArray(1; dtype=i32)) =",
    wants_an_array: "TensorArrayCloseV3(@i32 1) ! refers to a variable",
    unknown_name: "TensorArrayCloseV2(['a' 'b']) ! container `a` holds nothing under the name `b`",
}
