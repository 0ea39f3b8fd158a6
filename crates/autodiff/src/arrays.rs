//! [`ArrayMaker`]: the TensorArrays of TensorFlow 1's graphs, a handle and a flow.
//!
//! An array is written once at each index, so the flow, a number that only carries order, represents
//! everything written before it. Its gradient is a list of the gradients of the elements. The gradient never
//! uses the handle, so it does not matter what the forward graph reads once, clears or closes, and gradients
//! of gradients are those of lists. The list is as long as the array; for an array that grows, as long as was
//! necessary so far.

use millstream_graph::op::Forward;
use millstream_graph::{Graph, GraphData, Output, Port};
use millstream_tensor::{DType, PartialShape, Result};

/// The node that made a TensorArray.
pub(crate) struct ArrayMaker {
    size: Port,
    dtype: DType,
    element_shape: PartialShape,
    /// Whether the array may grow.
    pub grows: bool,
}

impl ArrayMaker {
    /// Returns the maker of the array whose flow this value is. `None` if it is no flow.
    pub fn of(g: &GraphData, flow: Port) -> Option<ArrayMaker> {
        let ty = g.type_of(flow).ok()?;
        if ty.dtype != DType::F32 || g.shape_of(flow).rank().is_some_and(|rank| rank != 0) {
            return None;
        }
        let at = g.origin(flow)?;
        let node = g.node(at.node).ok()?;
        let maker = match node.op() {
            "TensorArrayV3" if at.index == 1 => node,
            "TensorArrayWriteV3" | "TensorArrayScatterV3" | "TensorArraySplitV3" => {
                g.node(g.origin(*node.inputs.first()?)?.node).ok().filter(|n| n.op() == "TensorArrayV3")?
            }
            _ => return None,
        };
        let attrs = &maker.info.attrs;
        Some(ArrayMaker {
            size: *maker.inputs.first()?,
            dtype: attrs.dtype("dtype").ok()?,
            element_shape: attrs.shape("element_shape").ok()?.clone(),
            grows: attrs.bool("dynamic_size").ok()?,
        })
    }
}

/// Returns zeros for the array whose flow this value is: a list of unwritten items. `None` if it is no flow.
pub(crate) fn zeros<'g>(
    graph: &'g Graph,
    port: Port,
    forward: &mut dyn Forward<'g>,
) -> Result<Option<Output<'g>>> {
    let Some(array) = graph.read(|g| ArrayMaker::of(g, port)) else { return Ok(None) };
    let size = if array.grows { graph.constant(0) } else { forward.value(array.size)? };
    let shape = graph.element_shape(&array.element_shape);
    let list = graph.op("TensorListReserve").input(shape).input(size).attr("element_dtype", array.dtype);
    Ok(Some(list.output()))
}

/// Returns the lists, each extended to the length of the longest.
pub(crate) fn filled_up<'g>(lists: &[Output<'g>]) -> Vec<Output<'g>> {
    let length = |list: &Output<'g>| list.graph().op("TensorListLength").input(*list).output();
    let longest = lists.iter().map(length).reduce(|a, b| a.graph().op("Maximum").inputs([a, b]).output());
    let Some(size) = longest else { return Vec::new() };
    lists.iter().map(|list| list.graph().op("TensorListResize").inputs([*list, size]).output()).collect()
}
