//! Graphs with queues.

use millstream_graph::{Attr, Graph, Output};
use millstream_tensor::{DType, PartialShape, shape};

pub fn graph() -> Graph {
    Graph::with_ops(millstream_ops::registry())
}

pub fn list<T: Into<Attr>>(items: impl IntoIterator<Item = T>) -> Attr {
    Attr::List(items.into_iter().map(Into::into).collect())
}

pub fn fifo<'g>(g: &'g Graph, op: &'static str, capacity: i64, shape: PartialShape) -> Output<'g> {
    shared(g, op, capacity, shape, "")
}

pub fn shared<'g>(
    g: &'g Graph,
    op: &'static str,
    capacity: i64,
    shape: PartialShape,
    shared_name: &str,
) -> Output<'g> {
    g.op(op)
        .name("q")
        .attr("capacity", capacity)
        .attr("component_types", list([DType::I32]))
        .attr("shapes", list([shape]))
        .attr("shared_name", shared_name)
        .output()
}

pub fn dequeue<'g>(q: Output<'g>) -> Output<'g> {
    q.graph()
        .op("QueueDequeueV2")
        .input(q)
        .attr("component_types", list([DType::I32]))
        .output()
        .set_shape(shape![])
}
