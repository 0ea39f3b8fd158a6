"""Private names of TensorFlow that tests and tools use."""


def of_operations(tf):
    a = tf.constant(1, name="a")
    b = tf.add(a, 2, name="b")
    with tf.control_dependencies([b]):
        tf.no_op("c")
    o = b.op
    return (
        [x.name for x in o._control_outputs],
        [x.name for x in tf.get_default_graph().get_operation_by_name("c")._control_inputs],
        [x.name for x in o._outputs],
        o._id_value == o._id,
        o._graph is o.graph,
        o._op_def.name,
        [t.name for t in o._input_types],
        o._output_types,
        o._is_stateful,
    )


def of_tensors(tf):
    x = tf.zeros([2, 3])
    y = tf.placeholder(tf.float32)
    same = x.experimental_ref() == x.experimental_ref(), x.experimental_ref() == y.experimental_ref(), x.experimental_ref().deref() is x
    return x._shape_tuple(), y._shape_tuple(), str(x._shape), x._dtype.name, x._value_index, x._id != y._id, same, len({x.experimental_ref(), x.experimental_ref()})


def of_graphs(tf):
    a = tf.constant(1, name="a")
    g = tf.get_default_graph()
    return g._nodes_by_name["a"] is a.op, g._nodes_by_id[a.op._id] is a.op, sorted(g._nodes_by_name), g._last_id, g._control_flow_context


def of_sparse_tensors(tf):
    s = tf.SparseTensor([[0, 1]], [2.0], [3, 3])
    tf.identity(s.values, name="one")
    tf.identity(s.indices, name="two")
    return sorted(o.name for o in s.consumers())


def of_variables(tf):
    v = tf.Variable(1.0)
    w = tf.Variable(1.0, use_resource=True)
    return [(x._initializer_op is x.initializer, x.synchronization.name, x.aggregation.name, x.experimental_ref().deref() is x) for x in (v, w)], [m.name for m in tf.VariableSynchronization], [m.name for m in tf.VariableAggregation]
