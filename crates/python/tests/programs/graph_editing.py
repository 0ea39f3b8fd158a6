"""`tf.contrib.graph_editor`: selecting, walking, copying and rewiring."""

import numpy as np

from programs.tools import mistakes, run


def _net(tf):
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    w = tf.get_variable("w", [2, 2], initializer=tf.constant_initializer(0.5))
    with tf.name_scope("a"):
        y = tf.nn.relu(tf.matmul(x, w, name="m"), name="r")
    z = tf.add(y, 1.0, name="z")
    return x, w, y, z


def _ops(items):
    return sorted(item.name for item in items)


def _edges(graph, prefix):
    return sorted(
        [op.name, op.type, op.device, [t.name for t in op.inputs], sorted(c.name for c in op.control_inputs)] for op in graph.get_operations() if op.name.startswith(prefix)
    )


def selecting(tf):
    ge = tf.contrib.graph_editor
    x, w, y, z = _net(tf)
    graph = tf.get_default_graph()
    return [
        _ops(ge.select_ops("^a/", graph=graph)),
        _ops(ge.select_ops("^a/", x.op, [y.op, z], graph=graph)),
        _ops(ge.select_ops(graph, positive_filter=lambda op: op.type == "Const")),
        _ops(ge.select_ops("(?#ops)^a", "^x", "(?#ts)w", graph=graph, restrict_ops_regex=True)),
        _ops(ge.select_ts("^a/", z, graph=graph)),
        _ops(ge.select_ts("^a/", "(?#ts)^x", graph=graph, restrict_ts_regex=True)),
        [_ops(found) for found in ge.select_ops_and_ts("^a/", "(?#ts)^x", graph=graph)],
        _ops(ge.get_name_scope_ops(graph, "a/")),
        _ops(ge.filter_ops(graph, True)) == _ops(graph.get_operations()),
        _ops(ge.filter_ts(graph, lambda t: "Const" in t.op.type)),
        _ops(ge.filter_ops_from_regex(graph, "read")),
        [_ops(found) for found in ge.compute_boundary_ts(ge.select_ops("^a/", graph=graph))],
        _ops(ge.get_ops_ios(y.op)),
        _ops(ge.get_tensors(graph)) == _ops(t for op in graph.get_operations() for t in op.outputs),
        _ops(ge.get_generating_ops([y, z])),
        _ops(ge.get_consuming_ops([y, x])),
        ge.can_be_regex("a"),
        ge.can_be_regex(3),
    ]


def walking(tf):
    ge = tf.contrib.graph_editor
    x, w, y, z = _net(tf)
    with tf.control_dependencies([z]):
        after = tf.identity(x, name="after")
    cios = ge.ControlOutputs(tf.get_default_graph())
    return [
        _ops(ge.get_forward_walk_ops(x.op)),
        _ops(ge.get_forward_walk_ops(x, inclusive=False)),
        _ops(ge.get_forward_walk_ops([z.op], control_outputs=cios)),
        _ops(ge.get_forward_walk_ops(x.op, stop_at_ts=[y])),
        _ops(ge.get_forward_walk_ops(x.op, within_ops=[x.op, y.op.inputs[0].op])),
        _ops(ge.get_backward_walk_ops(y)),
        _ops(ge.get_backward_walk_ops([after.op], control_inputs=True)),
        _ops(ge.get_backward_walk_ops([after.op], inclusive=False)),
        _ops(ge.get_backward_walk_ops([z.op], within_ops_fn=lambda op: "r" in op.name)),
        _ops(ge.get_walks_intersection_ops(x, z)),
        _ops(ge.get_walks_intersection_ops(x, after, control_ios=cios)),
        _ops(ge.get_walks_union_ops([y.op], [y.op])),
        _ops(ge.get_within_boundary_ops(tf.get_default_graph(), [y.op], [z.op])),
        _ops(ge.get_within_boundary_ops(tf.get_default_graph(), [y.op], [z.op], inclusive=False)),
        _ops(cios.get(z.op)),
        _ops(cios.get_all()),
    ]


def viewing(tf):
    ge = tf.contrib.graph_editor
    x, w, y, z = _net(tf)
    graph = tf.get_default_graph()
    view = ge.sgv("^a/", "(?#ts)^z/y", graph=graph)
    def parts(v):
        return [v.__str__().split("\n", 1)[1], [t.name for t in v.inputs], [t.name for t in v.outputs], _ops(v.ops), _ops(v.passthroughs)]
    return [
        parts(view),
        parts(view.remap_inputs([1, 0])),
        parts(view.remap(new_output_indices=[0, 0])),
        parts(view.remap_inputs([0]).remap_default()),
        parts(view.remap_outputs_to_consumers()),
        parts(ge.sgv_scope("a", graph)),
        _ops(view.consumers()),
        [t.name for t in view.connected_inputs],
        str(ge.SubGraphView()),
        bool(ge.SubGraphView()),
        view.input_index(x),
        view.find_op_by_name("a/r").type,
    ]


def replacing(tf):
    ge = tf.contrib.graph_editor
    x, w, y, z = _net(tf)
    tf.add_to_collection("mine", z)
    tf.add_to_collection(tf.GraphKeys.LOSSES, z)
    one = ge.graph_replace(z, {x: tf.ones([2, 2])}, dst_scope="one")
    two = ge.graph_replace({"y": [y], "z": (z, x)}, {x: -x}, dst_scope="two")
    gradient = tf.gradients(one, w)[0]
    names = [one.name, two["y"][0].name, two["z"][0].name, two["z"][1].name]
    keys = sorted(k for k in tf.get_default_graph().get_all_collection_keys() if "mine" in k)
    return names, keys, [t.name for t in tf.get_collection(tf.GraphKeys.LOSSES)], run(tf, [one, two, gradient], {x: np.eye(2)}), _edges(one.graph, "one"), _edges(one.graph, "two")


def checkpointing(tf):
    """As memory-saving gradients do: a copy of the forward pass that waits for the backward pass."""
    ge = tf.contrib.graph_editor
    x = tf.constant(np.arange(4, dtype=np.float32).reshape(2, 2) / 4, name="x")
    w = tf.get_variable("w", [2, 2], initializer=tf.constant_initializer(0.5))
    layers = [x]
    for i in range(4):
        layers.append(tf.tanh(tf.matmul(layers[-1], w), name="layer_%d" % i))
    loss = tf.reduce_sum(layers[-1])
    middle = tf.stop_gradient(layers[2], name="checkpoint")
    ops = ge.get_backward_walk_ops([loss.op], inclusive=True, stop_at_ts=[layers[2]], within_ops=ge.get_forward_walk_ops([layers[2].op]))
    copied, info = ge.copy_with_input_replacements(ge.sgv([op for op in ops if op != layers[2].op]), {layers[2]: middle})
    again = info._transformed_ops[loss.op].outputs[0]
    ge.add_control_inputs(info._transformed_ops[layers[3].op], [layers[2].op])
    ge.reroute_ts([middle], [layers[2]], can_modify=[again.op])
    top = tf.gradients(again, [middle, w])
    bottom = tf.gradients(layers[2], w, grad_ys=top[0])
    whole = tf.gradients(loss, w)
    return sorted(op.name for op in info._transformed_ops.values()), run(tf, [top[1] + bottom[0], whole[0], again])


def copying(tf):
    ge = tf.contrib.graph_editor
    _net(tf)
    graph, other = tf.get_default_graph(), tf.Graph()
    view, info = ge.copy(ge.sgv_scope("a", graph), other, "b", "a")
    again, _ = ge.copy(ge.sgv_scope("a", graph), other, "b", "a")
    third, _ = ge.copy(ge.sgv_scope("a", graph), other, "b", "a", reuse_dst_scope=True)
    here, of_here = ge.copy(ge.sgv_scope("a", graph))
    renamed = ge.Transformer()
    renamed.transform_op_handler = lambda info, op, ins: ge.copy_op_handler(info, op, ins, copy_shape=True, nodedef_fn=_sigmoid)
    fourth, _ = renamed(ge.sgv(graph.get_operation_by_name("a/r")), graph, "fourth")
    shown = [str(v).split("\n", 1)[1] for v in (view, again, third, here, fourth)]
    told = str(info).split("\n", 2)[2], str(of_here).split("]", 1)[1]
    return shown, told, _edges(other, ""), _edges(graph, "")


def _sigmoid(node):
    node.op = "Sigmoid"
    return node


def copying_loops(tf):
    ge = tf.contrib.graph_editor
    x = tf.constant([1.0, 2.0], name="x")
    z = tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z * 2.0), [0, x])[1]
    y = tf.cond(tf.reduce_sum(x) > 1.0, lambda: z + x, lambda: z - x)
    made = ge.graph_replace([y, z], {x: tf.constant([3.0, -5.0])}, dst_scope="copy")
    return [t.name for t in made], run(tf, y), run(tf, made)


def rerouting(tf):
    ge = tf.contrib.graph_editor

    def values(change):
        with tf.Graph().as_default():
            a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
            c, d = tf.negative(a, name="c"), tf.exp(b, name="d")
            e, f = tf.abs(c, name="e"), tf.square(d, name="f")
            result = change(a, b, c, d, e, f)
            return result, [[[t.name for t in op.inputs] for op in (c.op, d.op, e.op, f.op)], run(tf, [e, f])]

    def views(change):
        def changed(a, b, c, d, e, f):
            return [[[t.name for t in v.inputs], [t.name for t in v.outputs]] for v in change(ge.sgv(c.op), ge.sgv(d.op))]

        return values(changed)

    return [
        values(lambda a, b, c, d, e, f: ge.reroute_ts(a, b)),
        values(lambda a, b, c, d, e, f: ge.swap_ts([a], [b])),
        values(lambda a, b, c, d, e, f: ge.swap_ts([a], [b], can_modify=[c.op])),
        values(lambda a, b, c, d, e, f: ge.swap_ts([a], [b], cannot_modify=[c.op])),
        views(ge.swap_inputs),
        views(ge.reroute_inputs),
        views(ge.swap_outputs),
        views(ge.reroute_outputs),
        views(ge.swap_ios),
        views(ge.reroute_ios),
    ]


def control_edges(tf):
    ge = tf.contrib.graph_editor
    a, b, c = tf.no_op(name="a"), tf.no_op(name="b"), tf.no_op(name="c")
    ge.add_control_inputs(c, [a, b])
    seen = [_ops(c.control_inputs)]
    ge.remove_control_inputs(c, a)
    seen.append(_ops(c.control_inputs))
    ge.detach_control_inputs([c])
    seen.append(_ops(c.control_inputs))
    ge.add_control_inputs(c, b)
    ge.detach_control_outputs(b, ge.ControlOutputs(b.graph))
    return seen, _ops(c.control_inputs)


def detaching(tf):
    ge = tf.contrib.graph_editor
    x, w, y, z = _net(tf)
    view, inputs = ge.detach_inputs(ge.sgv_scope("a", x.graph))
    _, outputs = ge.detach_outputs(ge.sgv_scope("a", x.graph))
    u = tf.negative(tf.abs(z, name="abs"), name="u")
    _, before, after = ge.detach(u.op.inputs[0].op)
    return [t.name for t in inputs + outputs + before + after], str(view).split("\n", 1)[1], _edges(x.graph, "")


def connecting(tf):
    ge = tf.contrib.graph_editor
    x, w, y, z = _net(tf)
    hole = tf.placeholder(tf.float32, [2, 2], name="hole")
    u = tf.negative(hole, name="u")
    first, second = ge.connect(ge.sgv_scope("a", x.graph), u.op)
    value = run(tf, u, {x: np.eye(2)})
    ge.connect(ge.sgv_scope("a", x.graph), u.op, disconnect_first=True)
    v = tf.abs(tf.exp(u, name="exp"), name="abs")
    _, made = ge.bypass(v.op.inputs[0].op)
    return value, [t.name for t in made], _edges(x.graph, "")


def placeholders(tf):
    ge = tf.contrib.graph_editor
    x = tf.constant([1.0], name="a/x")
    return [
        ge.placeholder_name(x),
        ge.placeholder_name(x, scope="b"),
        ge.placeholder_name(),
        ge.make_placeholder_from_tensor(x, scope="").name,
        ge.ph(tf.int32, [3], scope="s").name,
        str(ge.ph(tf.int32, [3]).shape),
    ]


def mistaken(tf):
    ge = tf.contrib.graph_editor

    def other(tf):
        a = tf.constant(1.0)
        with tf.Graph().as_default():
            return ge.sgv(a.op, tf.constant(1.0).op)

    def twice(tf):
        a, b = tf.no_op(name="a"), tf.no_op(name="b")
        ge.add_control_inputs(a, [b])
        ge.add_control_inputs(a, [b])

    def strange(tf):
        ge.remove_control_inputs(tf.no_op(name="a"), tf.no_op(name="b"))

    def part_of_a_loop(tf):
        x = tf.constant(1.0, name="x")
        z = tf.while_loop(lambda z: z < 5.0, lambda z: z * x, [tf.constant(2.0)])
        return ge.graph_replace(z, {x: tf.constant(3.0)}, dst_scope="c")

    return mistakes(
        tf,
        other=lambda: other(tf),
        twice=lambda: twice(tf),
        strange=lambda: strange(tf),
        regex=lambda: ge.select_ops("^a"),
        keyword=lambda: ge.select_ops("^a", what=1),
        no_graph=lambda: ge.select_ops("^a", graph=3),
        lengths=lambda: ge.reroute_ts([tf.constant(1)], []),
        dtypes=lambda: ge.reroute_ts([tf.constant(1)], [tf.constant(1.0)]),
        shapes=lambda: ge.reroute_ts([tf.constant([1])], [tf.constant([1, 2])]),
        repeated=lambda: ge.sgv(tf.negative(1.0).op).remap_inputs([0, 0]),
        outside=lambda: ge.sgv(tf.negative(1.0).op).remap_outputs([5]),
        not_here=lambda: ge.sgv(tf.no_op(name="n")).find_op_by_name("m"),
        unconnected=lambda: ge.graph_replace(tf.constant(1.0), {tf.constant(2.0): tf.constant(3.0)}),
        scope=lambda: ge.copy(tf.no_op(name="n"), src_scope="m"),
        copied=lambda: ge.copy(tf.no_op(name="n"), dst_graph=3),
        boundary=lambda: ge.get_within_boundary_ops(tf.get_default_graph(), [tf.no_op(name="n")], tf.get_default_graph()),
        cios=lambda: ge.check_cios(control_ios=1),
        in_place=lambda: _in_place(tf),
        part_of_a_loop=lambda: part_of_a_loop(tf),
    )


def _in_place(tf):
    ge = tf.contrib.graph_editor
    transformer = ge.Transformer()
    transformer.transform_op_handler = lambda info, op, inputs: (op, op.outputs)
    return transformer(tf.no_op(name="n"), tf.get_default_graph(), "d")
