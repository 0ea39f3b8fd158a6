"""Graphs: names and scopes, collections, control dependencies, devices, messages, import and export."""

import numpy as np

from programs.tools import caught, initialize, nodes, run, static


def default_graph(tf):
    g = tf.Graph()
    before = tf.get_default_graph()
    with g.as_default() as inner:
        inside = tf.get_default_graph() is g, inner is g, tf.constant(1).graph is g
    return inside, tf.get_default_graph() is before


def reset_default_graph(tf):
    return caught(lambda: tf.reset_default_graph())


def two_graphs_do_not_mix(tf):
    a = tf.constant(1)
    g = tf.Graph()
    with g.as_default():
        b = tf.constant(2)
    return caught(lambda: a + b, "must be from the same graph as")


def fetch_from_another_graph(tf):
    with tf.Graph().as_default():
        x = tf.constant(1)
    tf.constant(2)
    with tf.Session() as sess:
        return caught(lambda: sess.run(x), "is not an element of this graph")


def unique_names(tf):
    g = tf.get_default_graph()
    return [g.unique_name("a"), g.unique_name("a"), g.unique_name("b", mark_as_used=False), g.unique_name("b"), tf.constant(1, name="a").name]


def bad_names(tf):
    return caught(lambda: tf.constant(1, name="a b")), caught(lambda: tf.constant(1, name="_x")), caught(lambda: tf.name_scope("?").__enter__())


def name_scopes(tf):
    with tf.name_scope("a") as scope:
        x = tf.constant(1, name="x")
        with tf.name_scope("b"):
            y = tf.constant(1, name="x")
    with tf.name_scope("a"):
        z = tf.constant(1, name="x")
    with tf.name_scope(scope):
        w = tf.constant(1, name="w")
    with tf.name_scope(None):
        v = tf.constant(1, name="x")
    return scope, [t.name for t in (x, y, z, w, v)]


def name_scope_with_a_default(tf):
    def layer(value, name=None):
        with tf.name_scope(name, "layer", [value]) as scope:
            return scope, tf.add(value, 1).name

    x = tf.constant(1)
    return layer(x), layer(x), layer(x, "mine")


def graph_name_scope(tf):
    g = tf.get_default_graph()
    with g.name_scope("s") as scope:
        return scope, tf.constant(1).name, g.get_name_scope()


def op_scope_of_variables_and_ops(tf):
    with tf.variable_scope("v"):
        with tf.name_scope("n"):
            return tf.constant(1).name, tf.get_variable("x", [1]).name


def lookup_by_name(tf):
    x = tf.constant(1, name="x")
    g = tf.get_default_graph()
    return (
        g.get_tensor_by_name("x:0") is x,
        g.get_operation_by_name("x") is x.op,
        g.as_graph_element("x:0") is x,
        g.as_graph_element("x") is x.op,
        caught(lambda: g.get_tensor_by_name("y:0"), "The name 'y:0' refers to a Tensor which does not exist."),
        caught(lambda: g.get_operation_by_name("y"), "The name 'y' refers to an Operation not in the graph."),
        caught(lambda: g.get_tensor_by_name("x"), "Tensor names must be of the form"),
        caught(lambda: g.get_operation_by_name("x:0")),
        caught(lambda: g.get_tensor_by_name("x:1")),
        caught(lambda: g.as_graph_element(3)),
    )


def operations(tf):
    x = tf.constant([1.0, 2.0], name="x")
    y = tf.add(x, x, name="y")
    op = y.op
    return op.name, op.type, [t.name for t in op.inputs], [t.name for t in op.outputs], op.graph is tf.get_default_graph(), [c.name for c in x.consumers()], op.values()[0] is y, str(op.get_attr("T"))


def attributes_of_operations(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.reduce_sum(x, 1, keepdims=True)
    missing = caught(lambda: y.op.get_attr("nope"))
    return x.op.get_attr("dtype").name, y.op.get_attr("keep_dims"), missing


def node_def(tf):
    y = tf.add(tf.constant(1, name="a"), tf.constant(2, name="b"), name="y")
    d = y.op.node_def
    return d.name, d.op, list(d.input), sorted(d.attr), d.attr["T"].type


def op_repr(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    return repr(x.op), repr(x), str(x)


def collections(tf):
    g = tf.get_default_graph()
    tf.add_to_collection("c", 1)
    g.add_to_collections(["c", "d"], 2)
    g.add_to_collection("c", "three")
    got = tf.get_collection("c")
    got.append("changed")
    reference = tf.get_collection_ref("c")
    reference.append(4)
    return tf.get_collection("c"), tf.get_collection("d"), tf.get_collection("empty"), sorted(map(str, g.get_all_collection_keys()))


def collections_by_scope(tf):
    with tf.name_scope("a"):
        tf.add_to_collection("c", tf.constant(1, name="x"))
    tf.add_to_collection("c", tf.constant(1, name="y"))
    return [t.name for t in tf.get_collection("c", scope="a")], len(tf.get_collection("c"))


def clear_collection(tf):
    g = tf.get_default_graph()
    g.add_to_collection("c", 1)
    g.clear_collection("c")
    return g.get_collection("c")


def control_dependencies(tf):
    a = tf.no_op(name="a")
    with tf.control_dependencies([a]):
        b = tf.constant(1, name="b")
        with tf.control_dependencies([b]):
            c = tf.identity(2, name="c")
        with tf.control_dependencies(None):
            d = tf.constant(3, name="d")
    return [[i.name for i in t.op.control_inputs] for t in (b, c, d)], list(c.op.node_def.input)


def control_dependencies_of_data_inputs_are_left_out(tf):
    a = tf.constant(1, name="a")
    with tf.control_dependencies([a]):
        b = tf.identity(a, name="b")
    return [i.name for i in b.op.control_inputs]


def control_dependencies_of_what_is_no_op(tf):
    return caught(lambda: tf.control_dependencies([3]).__enter__())


def control_dependencies_in_order(tf):
    v = tf.Variable(1.0, use_resource=True)
    with tf.control_dependencies([v.assign(2.0)]):
        with tf.control_dependencies([v.assign_add(10.0)]):
            out = v.read_value()
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(out)


def devices(tf):
    with tf.device("/cpu:0"):
        a = tf.constant(1)
        with tf.device("/job:worker/task:1"):
            b = tf.constant(1)
        with tf.device(None):
            c = tf.constant(1)
    with tf.device(lambda op: "/device:CPU:0" if op.type == "Const" else ""):
        d = tf.constant(1)
        e = tf.no_op()
    with tf.device(tf.DeviceSpec(device_type="CPU", device_index=0)):
        f = tf.constant(1)
    return [t.device for t in (a, b, c, d, e, f)]


def run_on_a_device(tf):
    with tf.device("/cpu:0"):
        return run(tf, tf.constant(1) + 2)


def colocation(tf):
    a = tf.constant(1, name="a")
    with tf.colocate_with(a.op):
        b = tf.constant(2, name="b")
    return b.op.colocation_groups(), b.op.node_def.attr["_class"].list.s[0]


def finalized(tf):
    g = tf.get_default_graph()
    x = tf.constant(1)
    g.finalize()
    return g.finalized, caught(lambda: tf.constant(2), "Graph is finalized and cannot be modified."), run(tf, x)


def prevented_feeding_and_fetching(tf):
    g = tf.get_default_graph()
    x = tf.constant(1.0)
    g.prevent_feeding(x)
    y = tf.constant(2.0)
    g.prevent_fetching(y.op)
    with tf.Session() as sess:
        return g.is_feedable(x), g.is_fetchable(y.op), caught(lambda: sess.run(x, {x: 2.0}), "may not be fed"), caught(lambda: sess.run(y))


def as_graph_def(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    tf.add(x, 1.0, name="y")
    d = tf.get_default_graph().as_graph_def()
    return [(n.name, n.op, list(n.input)) for n in d.node], d.versions.producer > 0, type(d).__name__


def as_graph_def_with_shapes(tf):
    tf.placeholder(tf.float32, [None, 2], name="x")
    d = tf.get_default_graph().as_graph_def(add_shapes=True)
    return [dim.size for dim in d.node[0].attr["_output_shapes"].list.shape[0].dim]


def import_and_run(tf):
    with tf.Graph().as_default() as g:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.multiply(x, 3.0, name="y")
    d = g.as_graph_def()
    (y,) = tf.import_graph_def(d, return_elements=["y:0"])
    with tf.Session() as sess:
        return y.name, sess.run(y, {"import/x:0": 2.0})


def import_with_a_name(tf):
    with tf.Graph().as_default() as g:
        tf.constant(1, name="a")
    tf.import_graph_def(g.as_graph_def(), name="mine")
    tf.import_graph_def(g.as_graph_def(), name="")
    tf.import_graph_def(g.as_graph_def(), name="mine")
    return nodes(tf)


def import_with_an_input_map(tf):
    with tf.Graph().as_default() as g:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.multiply(x, 3.0, name="y")
    mine = tf.constant(7.0)
    y, op = tf.import_graph_def(g.as_graph_def(), input_map={"x": mine}, return_elements=["y:0", "y"])
    return op.type, run(tf, y)


def import_with_errors(tf):
    with tf.Graph().as_default() as g:
        tf.constant(1, name="a")
    d = g.as_graph_def()
    return caught(lambda: tf.import_graph_def(d, return_elements=["nope:0"])), caught(lambda: tf.import_graph_def(3)), caught(lambda: tf.import_graph_def(d, input_map={"nope:0": tf.constant(1)}))


def import_of_a_loop(tf):
    with tf.Graph().as_default() as g:
        n = tf.placeholder(tf.int32, [], name="n")
        r = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), [0, 0])
        tf.identity(r[1], name="out")
    (out,) = tf.import_graph_def(g.as_graph_def(), return_elements=["out:0"])
    with tf.Session() as sess:
        return [sess.run(out, {"import/n:0": k}) for k in (0, 3, 10)]


def graph_def_round_trip_of_bytes(tf):
    tf.constant([1.0, 2.0], name="c")
    data = tf.get_default_graph().as_graph_def().SerializeToString()
    d = tf.GraphDef()
    d.ParseFromString(data)
    (c,) = tf.import_graph_def(d, name="again", return_elements=["c:0"])
    return run(tf, c)


def hand_made_graph_def(tf):
    d = tf.GraphDef()
    node = d.node.add(name="p", op="Placeholder")
    node.attr["dtype"].type = tf.float32.as_datatype_enum
    two = d.node.add(name="sq", op="Square", input=["p"])
    two.attr["T"].type = tf.float32.as_datatype_enum
    (y,) = tf.import_graph_def(d, return_elements=["sq:0"])
    with tf.Session() as sess:
        return static(y), sess.run(y, {"import/p:0": 3.0})


def meta_graph_round_trip(tf):
    v = tf.Variable(3.0, name="v")
    tf.multiply(v, 2.0, name="y")
    meta = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            return [x.name for x in tf.global_variables()], sess.run("y:0")


def meta_graph_with_a_loop(tf):
    x = tf.constant(2.0, name="x")
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, 1.0])
    tf.identity(r[1], name="out")
    meta = tf.train.export_meta_graph()
    with tf.Graph().as_default() as g:
        tf.train.import_meta_graph(meta)
        out, x = g.get_tensor_by_name("out:0"), g.get_tensor_by_name("x:0")
        return run(tf, [out] + tf.gradients(out, x))


def seeds(tf):
    g = tf.get_default_graph()
    before = g.seed
    tf.set_random_seed(7)
    return before, g.seed, tf.get_seed(3), tf.get_seed(None)


def containers(tf):
    with tf.container("c"):
        v = tf.Variable(1.0, name="v")
    return v.op.get_attr("container"), tf.Variable(1.0).op.get_attr("container")


def switch_to_thread_local(tf):
    g = tf.get_default_graph()
    g.switch_to_thread_local()
    with g.name_scope("s"):
        return tf.constant(1).name


def update_input(tf):
    a, b = tf.constant(1, name="a"), tf.constant(5, name="b")
    y = tf.identity(a)
    y.op._update_input(0, b)
    return y.op.inputs[0].name, run(tf, y)


def version_counts(tf):
    g = tf.get_default_graph()
    before = g.version
    tf.constant(1)
    return before, g.version


def building_function(tf):
    return tf.get_default_graph().building_function


def tensor_is_hashable(tf):
    a, b = tf.constant(1), tf.constant(1)
    return len({a, b, a}), a in [a], b in {a: 1}
