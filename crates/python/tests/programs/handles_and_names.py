"""Tensors and operations as values: copies, constructors, conversion functions, and internal helpers."""

import copy

from programs.tools import WHOLE, caught, inside


def copies(tf):
    t = tf.constant([1.0, 2.0], name="t")
    parts = tf.split(t, 2)
    twice = copy.copy(t)
    with tf.Session() as sess:
        return twice.name, twice.op.name, copy.copy(parts[1]).name, copy.copy(t.op).name, sess.run(twice)


def inputs_of_messages(tf):
    parts = tf.split(tf.constant([1.0, 2.0], name="t"), 2, name="s")
    return [x._as_node_def_input() for x in parts] + [tf.constant(1.0, name="a/b")._as_node_def_input()]


def tensors_made_by_hand(tf):
    ops = inside("python.framework.ops")
    parts = tf.split(tf.constant([1.0, 2.0]), 2, name="s")
    made = ops.Tensor(parts[0].op, 1, tf.float32)
    return made.name, made.shape, made.value_index, caught(lambda: ops.Tensor(1, 0, tf.float32), WHOLE)


def operations_made_by_hand(tf):
    g, c = tf.get_default_graph(), tf.constant(1, name="c")
    node = tf.NodeDef(name="a", op="Identity", device="/device:CPU:0")
    node.attr["T"].type = tf.int32.as_datatype_enum
    made = tf.Operation(node, g, [c], [tf.int32])
    plain = tf.Operation(tf.NodeDef(name="n", op="NoOp"), g, [], [], control_inputs=[c.op])
    with tf.Session() as sess:
        value = sess.run(made.outputs[0])
    return made.name, made.device, [i.name for i in made.inputs], plain.name, [i.name for i in plain.control_inputs], value, g.get_operation_by_name("n") == plain


def operations_that_cannot_be(tf):
    g, node = tf.get_default_graph(), tf.NodeDef(name="a", op="NoOp")
    return [
        caught(lambda: tf.Operation(3, g), WHOLE),
        caught(lambda: tf.Operation(node, 3), WHOLE),
        caught(lambda: tf.Operation(tf.NodeDef(name="a b", op="NoOp"), g), WHOLE),
        caught(lambda: tf.Operation(tf.NodeDef(name="", op="NoOp"), g), WHOLE),
        caught(lambda: tf.Operation(node, g, 3), WHOLE),
        caught(lambda: tf.Operation(node, g, [3], [tf.int32]), WHOLE),
    ]


class _Wrapped:
    def __init__(self, value):
        self.value = value


def functions_that_convert(tf):
    class Number(_Wrapped):
        pass

    class Wrong(_Wrapped):
        pass

    class Float(_Wrapped):
        pass

    tf.register_tensor_conversion_function(Number, lambda v, dtype=None, name=None, as_ref=False: tf.constant(v.value, dtype, name=name or "number"))
    tf.register_tensor_conversion_function(Wrong, lambda v, dtype=None, name=None, as_ref=False: v.value)
    tf.register_tensor_conversion_function(Float, lambda v, dtype=None, name=None, as_ref=False: tf.constant(1.0))
    return (
        tf.convert_to_tensor(Number(3)).name,
        caught(lambda: tf.convert_to_tensor(Wrong(3)), "returned non-Tensor: 3"),
        caught(lambda: tf.convert_to_tensor(Float(3), tf.int32), "returned incompatible dtype: requested = int32, actual = float32"),
    )


def helpers_of_graphs(tf):
    ops = inside("python.framework.ops")
    t, u = tf.constant(1, name="t"), tf.constant(2, name="u")
    other = tf.Graph()
    with other.as_default():
        w = tf.constant(3)
    with tf.Session() as sess:
        return (
            ops._assert_same_graph(t, u),
            caught(lambda: ops._assert_same_graph(t, w), "must be from the same graph"),
            ops._eval_using_default_session(t, None, tf.get_default_graph()),
            ops._eval_using_default_session(u, None, tf.get_default_graph(), sess),
            ops._run_using_default_session(t.op, None, tf.get_default_graph()),
            caught(lambda: ops._eval_using_default_session(w, None, other), "the tensor's graph is different from the session's graph"),
            caught(lambda: ops._run_using_default_session(w.op, None, other, sess), "the operation's graph is different from the session's graph"),
        )


def helpers_of_assertions(tf):
    check_ops = inside("python.ops.check_ops")
    x = tf.placeholder(tf.int32, [None, 2])
    return (
        list(check_ops._dimension_sizes(tf.constant([1, 2]))),
        [str(getattr(s, "name", s)) for s in check_ops._dimension_sizes(x)],
        list(check_ops._dimension_sizes(tf.constant(1))),
        [list(check_ops._symbolic_dimension_sizes(s)) for s in (None, (), "NM")],
        [check_ops._has_known_value(s) for s in (None, 1, "N")],
        [check_ops._is_symbol_for_any_size(s) for s in (None, 1, ".", "N")],
        check_ops._maybe_constant_value_string(tf.constant(1)),
        check_ops._shape_and_dtype_str(tf.constant([1, 2])),
    )


def helpers_of_initializers(tf):
    init_ops = inside("python.ops.init_ops")
    refused = [
        caught(lambda: tf.variance_scaling_initializer(dtype=tf.int32), WHOLE),
        caught(lambda: tf.orthogonal_initializer(dtype=tf.int32), WHOLE),
        caught(lambda: tf.random_normal_initializer(dtype=tf.int32), WHOLE),
        caught(lambda: tf.constant_initializer(object()), WHOLE),
    ]
    return [init_ops._compute_fans(s) for s in ([], [3], [3, 4], [5, 3, 4], [2, 5, 3, 4])], refused


def parts_of_variables(tf):
    scopes = inside("python.ops.variable_scope")
    info = scopes._PartitionInfo([4, 2], [2, 0])
    return (
        info.full_shape,
        info.var_offset,
        info.single_offset([2, 2]),
        info.single_slice_dim([2, 2]),
        caught(lambda: info.single_offset([1, 1]), WHOLE),
        caught(lambda: info.single_slice_dim([5, 2]), WHOLE),
        caught(lambda: info.single_slice_dim([1]), WHOLE),
        caught(lambda: scopes._PartitionInfo([4], [1, 2]), WHOLE),
        caught(lambda: scopes._PartitionInfo(3, [1]), WHOLE),
        caught(lambda: scopes._PartitionInfo([4], 3), WHOLE),
    )


def stores_of_variables(tf):
    scopes = inside("python.ops.variable_scope")
    tf.get_variable("a", [1])
    store = scopes._get_default_variable_store()
    return (
        sorted(store._vars),
        store.get_variable("b", [2]).name,
        store.get_variable("a", [1], reuse=True).name,
        caught(lambda: store.get_variable("a", [1], reuse=False), "Variable a already exists, disallowed."),
        scopes.default_variable_creator(None, initial_value=1.0).name,
        scopes.variable(1.0, name="q").name,
    )


def squeezed(tf):
    module = inside("python.ops.confusion_matrix")
    c = tf.constant
    out = [
        module.remove_squeezable_dimensions(c([[1], [2]]), c([1, 2])),
        module.remove_squeezable_dimensions(c([1, 2]), c([[1], [2]])),
        module.remove_squeezable_dimensions(c([[1], [2]]), c([[1, 2]]), expected_rank_diff=1),
    ]
    return [[(t.name, t.shape) for t in pair] for pair in out]
