//! The ops behind [`Builtin`]: what graph builders and gradients add to graphs.

use millstream_graph::op::Builtin;
use millstream_graph::{Arg, Graph, OpBuilder};

/// Starts the node of a builtin.
pub(crate) fn start<'g>(g: &'g Graph, builtin: Builtin<'g>) -> OpBuilder<'g> {
    match builtin {
        Builtin::Less(x, y) => g.op("Less").inputs([x, y]),
        Builtin::LessEqual(x, y) => g.op("LessEqual").inputs([x, y]),
        Builtin::And(x, y) => g.op("LogicalAnd").inputs([x, y]),
        Builtin::Select(condition, yes, no) => g.op("Select").input(condition).input(yes).input(no),
        Builtin::Stack(values) => g.op("Pack").inputs(values),
        Builtin::Cast(x, dtype) => g.op("Cast").input(x).attr("DstT", dtype),
        Builtin::Sum(x, axes) => g.op("Sum").input(x).input(axes).attr("keep_dims", false),
        Builtin::Assert { condition, message, data } => {
            g.op("Assert").input(condition).input(message).input(data)
        }
        Builtin::ZerosLike(x) => g.op("ZerosLike").input(x),
        Builtin::Shape(x) => g.op("Shape").input(x),
        Builtin::VariableShape(handle) => g.op("VariableShape").input(handle),
        Builtin::Fill(shape, value) => g.op("Fill").input(shape).input(value),
        Builtin::Conj(x) => g.op("Conj").input(x),
        Builtin::Reshape(x, shape) => g.op("Reshape").inputs([x, shape]),
        Builtin::StretchedAxes(a, b) => g.op("BroadcastGradientArgs").inputs([a, b]),
        Builtin::RowsOfShape(shape) => g
            .op("StridedSlice")
            .inputs([shape.into(), Arg::from([0]), Arg::from([1]), Arg::from([1])])
            .attr("shrink_axis_mask", 1),
        Builtin::SumRows { values, places, rows } => {
            g.op("UnsortedSegmentSum").inputs([values, places, rows])
        }
        Builtin::GrowList { list, index } => {
            let (length, wanted) = (g.op("TensorListLength").input(list).output(), index + 1);
            let size = g.op("Maximum").inputs([length, wanted]).output();
            g.op("TensorListResize").inputs([list, size])
        }
    }
}
