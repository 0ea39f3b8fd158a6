"""Operations and tensors: lookup, attributes, mutation; collections; properties of graphs."""

import numpy as np

from programs.tools import WHOLE, caught, run


# Lookup.


def the_same_objects(tf):
    x = tf.constant(1, name="x")
    y = tf.add(x, x, name="y")
    g = tf.get_default_graph()
    op = x.op
    return [
        op.outputs[0] is x,
        x.op is op,
        g.get_operations()[0] is op,
        y.op.inputs[0] is x,
        y.op.inputs[0] is y.op.inputs[1],
        x.consumers()[0] is y.op,
        g.get_tensor_by_name("x:0") is x,
        g.get_operation_by_name("y") is y.op,
        op.values()[0] is x,
        g.as_graph_element(x) is x,
        g.as_graph_element(op) is op,
        g.as_graph_element("x:0") is x,
    ]


def attributes_of_ones_own(tf):
    x = tf.constant(1, name="x")
    x.mine = 3
    x.op.also = "a"
    g = tf.get_default_graph()
    again = g.get_tensor_by_name("x:0")
    y = tf.identity(x)
    return again.mine, y.op.inputs[0].mine, g.get_operation_by_name("x").also, hasattr(y, "mine"), caught(lambda: y.mine, WHOLE)


def attributes_of_operations_that_nobody_held(tf):
    tf.constant(1, name="x").op.mark = [1]
    return tf.get_default_graph().get_operations()[0].mark


def tensors_as_keys(tf):
    x, y = tf.constant(1), tf.constant(1)
    d = {x: "x", y: "y", x.op: "op"}
    return d[tf.get_default_graph().get_tensor_by_name("Const:0")], d[y], d[x.op], x == x, x == y, x != y, x == 1, x is None, x in [y], x in [y, x]


def controls_are_the_same_objects(tf):
    a = tf.no_op(name="a")
    with tf.control_dependencies([a]):
        b = tf.no_op()
    return b.control_inputs[0] is a, tf.get_default_graph().get_operation_by_name("a") is a


def lookup_of_names(tf):
    tf.constant(1, name="x")
    tf.no_op(name="n")
    g = tf.get_default_graph()
    by_tensor = [caught(lambda n=n: g.get_tensor_by_name(n), WHOLE) for n in ("y:0", "x:1", "x", "n:0", "x:a", ":0", "x:", "x:0:0", "", "^x", "n")]
    by_op = [caught(lambda n=n: g.get_operation_by_name(n), WHOLE) for n in ("y", "x:0", "", "x:", "^x", "y:0")]
    return by_tensor, by_op


def lookup_of_other_things(tf):
    g = tf.get_default_graph()
    x = tf.constant(1, name="x")
    return [caught(lambda n=n: g.get_tensor_by_name(n), WHOLE) for n in (3, None, x, ["x:0"])], [caught(lambda n=n: g.get_operation_by_name(n), WHOLE) for n in (3, None, x, x.op)]


def lookup_by_bytes(tf):
    x = tf.constant(1, name="x")
    g = tf.get_default_graph()
    return caught(lambda: g.get_tensor_by_name(b"x:0"), WHOLE), caught(lambda: g.get_operation_by_name(b"x"), WHOLE), g.as_graph_element(b"x:0") is x


def elements_of_all_kinds(tf):
    g = tf.get_default_graph()
    x = tf.constant(1, name="x")
    v, r = tf.Variable(1.0, name="v", use_resource=False), tf.Variable(1.0, name="r", use_resource=True)

    class Mine(object):
        def _as_graph_element(self):
            return x

    return g.as_graph_element(Mine()) is x, g.as_graph_element(v).name, g.as_graph_element(r).name, g.as_graph_element(x.op).name


def elements_that_are_not_there(tf):
    g = tf.get_default_graph()
    x = tf.constant(1, name="x")
    with tf.Graph().as_default():
        other = tf.constant(1, name="x")
    only_tensor = lambda e: caught(lambda: g.as_graph_element(e, allow_operation=False), WHOLE)
    only_op = lambda e: caught(lambda: g.as_graph_element(e, allow_tensor=False), WHOLE)
    both = lambda e: caught(lambda: g.as_graph_element(e), WHOLE)
    return [
        [f(e) for e in (3, None, [x], object(), other, other.op, "nope", "nope:0", "x:7", "a:b", np.int32(1))] for f in (only_tensor, only_op, both)
    ], only_tensor(x.op), only_op(x), only_tensor("x"), only_op("x:0"), caught(lambda: g.as_graph_element(x, False, False), WHOLE)


def element_of_a_variable_as_an_operation(tf):
    v = tf.Variable(1.0, name="v", use_resource=False)
    g = tf.get_default_graph()
    return g.as_graph_element(v, allow_operation=False).name, caught(lambda: g.as_graph_element(v, allow_tensor=False), WHOLE)


def a_name_taken_by_lookup(tf):
    g = tf.get_default_graph()
    caught(lambda: g.get_operation_by_name("a"))
    return tf.constant(1, name="a").name


# Operations.


def operation_said(tf):
    a = tf.no_op(name="a")
    with tf.control_dependencies([a]):
        x = tf.split(tf.constant([1, 2, 3, 4], name="c"), 2, name="s")[0]
    op = x.op
    return {
        "name": op.name,
        "type": op.type,
        "inputs": [i.name for i in op.inputs],
        "outputs": [o.name for o in op.outputs],
        "values": [o.name for o in op.values()],
        "control": [c.name for c in op.control_inputs],
        "device": op.device,
        "n": (len(op.inputs), len(op.outputs)),
        "graph": op.graph is tf.get_default_graph(),
        "repr": repr(op),
        "index": [o.value_index for o in op.outputs],
    }


def operation_as_text(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    return str(tf.matmul(x, x, transpose_b=True, name="m").op)


def types_of_what_an_operation_has(tf):
    x = tf.constant(1) + 1
    op = x.op
    return isinstance(op.outputs, list), isinstance(op.values(), tuple), isinstance(op.control_inputs, list), isinstance(op.inputs[0], tf.Tensor), isinstance(op, tf.Operation)


def inputs_cannot_be_changed(tf):
    x = tf.constant(1) + 1
    before = list(x.op.inputs)
    x.op.outputs.append(3)
    return len(before), len(tf.identity(x).op.inputs)


def attribute_kinds(tf):
    g = tf.get_default_graph()
    x = tf.placeholder(tf.float32, [None, 3, 2, 1], name="x")
    part = tf.strided_slice(x, [0, 0, 0, 0], [1, 1, 1, 1])
    s = tf.squeeze(x, [3])
    q = tf.FIFOQueue(3, [tf.int32, tf.float32], shapes=[[], [2, 3]], shared_name="q").queue_ref
    c = tf.constant([1, 2], name="c")
    a = tf.cast(c, tf.float64)
    return {
        "list(int)": s.op.get_attr("squeeze_dims"),
        "int": part.op.get_attr("begin_mask"),
        "shape": str(x.op.get_attr("shape")),
        "type": repr(a.op.get_attr("DstT")),
        "list(type)": [repr(t) for t in q.op.get_attr("component_types")],
        "capacity": q.op.get_attr("capacity"),
        "shared": q.op.get_attr("shared_name"),
        "bool": a.op.get_attr("Truncate"),
        "shapes": [type(p).__name__ for p in q.op.get_attr("shapes")],
    }


def attribute_that_is_a_tensor(tf):
    c = tf.constant([[1, 2]], name="c")
    value = c.op.get_attr("value")
    return type(value).__name__, value.dtype, [d.size for d in value.tensor_shape.dim], value.tensor_content, tf.make_ndarray(value)


def attribute_that_is_a_shape(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    shape = x.op.get_attr("shape")
    y = tf.placeholder(tf.float32, name="y").op.get_attr("shape")
    return type(shape).__name__, [d.size for d in shape.dim], shape.unknown_rank, y.unknown_rank


def attribute_that_is_a_float(tf):
    x = tf.nn.leaky_relu(tf.constant([1.0]), alpha=0.25)
    return x.op.get_attr("alpha"), type(x.op.get_attr("alpha")).__name__


def attribute_missing(tf):
    x = tf.constant(1, name="x")
    return caught(lambda: x.op.get_attr("nope"), WHOLE), caught(lambda: x.op.get_attr("_class"), WHOLE)


def attribute_set_by_hand(tf):
    x = tf.constant(1, name="x")
    x.op._set_attr("_mine", tf.AttrValue(s=b"v"))
    x.op._set_attr("_list", tf.AttrValue(list=tf.AttrValue.ListValue(i=[1, 2])))
    x.op._set_attr("_on", tf.AttrValue(b=True))
    return x.op.get_attr("_mine"), x.op.get_attr("_list"), x.op.get_attr("_on"), sorted(k for k in x.op.node_def.attr if k.startswith("_")), run(tf, x)


def node_def_is_a_copy(tf):
    x = tf.constant(1, name="x")
    d = x.op.node_def
    d.name = "changed"
    return x.op.name, x.op.node_def.name


def op_def_of_an_operation(tf):
    d = tf.add(1, 2).op.op_def
    return d.name, [a.name for a in d.input_arg], [a.name for a in d.output_arg], [a.name for a in d.attr], d.input_arg[0].type_attr, d.is_stateful


def op_def_of_a_stateful_operation(tf):
    v = tf.Variable(1.0, use_resource=True)
    d = v.handle.op.op_def
    return d.name, d.is_stateful, sorted(a.name for a in d.attr)


def operation_that_runs(tf):
    v = tf.Variable(1, use_resource=True)
    add = v.assign_add(2)
    with tf.Session() as sess:
        v.initializer.run()
        nothing = add.op.run() if hasattr(add, "op") else add.run()
        tf.group(add).run(session=sess)
        return nothing, sess.run(v)


def operation_run_with_a_feed(tf):
    x = tf.placeholder(tf.int32, [])
    v = tf.Variable(0, use_resource=False)
    assign = v.assign(x)
    with tf.Session():
        v.initializer.run()
        assign.op.run({x: 5})
        one = v.eval()
        assign.op.run(feed_dict={x: 6})
        return one, v.eval()


def traceback_of_an_operation(tf):
    x = tf.constant(1)
    frames = x.op.traceback
    return frames[-1][2] != "", any("elements.py" in f[0] and f[2] == "traceback_of_an_operation" for f in frames), "elements" in str(x.op.traceback[-1]) or len(frames) > 0


def operations_compare(tf):
    a, b = tf.no_op(), tf.no_op()
    return a == a, a == b, a != b, len({a, b, a}), a in [b, a]


def operation_in_no_loop(tf):
    x = tf.constant(1)
    g = tf.get_default_graph()
    inside = []
    tf.while_loop(lambda i: i < 2, lambda i: inside.append((i.op, g._get_control_flow_context())) or i + 1, [x])
    op, context = inside[0]
    return x.op._get_control_flow_context(), context.name, type(context).__name__, op._get_control_flow_context() is context, g._get_control_flow_context()


def operation_in_a_branch(tf):
    g = tf.get_default_graph()
    seen = []
    tf.cond(tf.constant(True), lambda: seen.append(g._get_control_flow_context()) or tf.constant(1), lambda: tf.constant(2))
    return type(seen[0]).__name__, seen[0].name, seen[0].pred.name, seen[0].branch, seen[0].outer_context


def contexts_nested(tf):
    g = tf.get_default_graph()
    seen = []

    def body(i):
        tf.while_loop(lambda j: j < 2, lambda j: seen.append(g._get_control_flow_context()) or j + 1, [0], name="inner")
        return i + 1

    tf.while_loop(lambda i: i < 2, body, [0], name="outer")
    inner = seen[0]
    return inner.name, inner.outer_context.name, inner.outer_context.outer_context, inner.parallel_iterations, inner.back_prop, inner.swap_memory


def context_left_and_entered(tf):
    g = tf.get_default_graph()
    seen = []

    def body(i):
        context = g._get_control_flow_context()
        g._set_control_flow_context(None)
        seen.append(tf.constant(7, name="outside"))
        g._set_control_flow_context(context)
        return i + seen[0]

    r = tf.while_loop(lambda i: i < 20, body, [0])
    return run(tf, [r, seen[0]]), seen[0].op._get_control_flow_context()


def input_replaced(tf):
    a, b = tf.constant(1, name="a"), tf.constant(5, name="b")
    y = tf.add(a, a, name="y")
    y.op._update_input(1, b)
    return [i.name for i in y.op.inputs], [c.name for c in b.consumers()], [c.name for c in a.consumers()], run(tf, y)


def input_replaced_wrongly(tf):
    a, b = tf.constant(1, name="a"), tf.constant(5.0, name="b")
    y = tf.identity(a, name="y")
    with tf.Graph().as_default():
        other = tf.constant(1)
    return caught(lambda: y.op._update_input(1, a)), caught(lambda: y.op._update_input(0, other), "must be from the same graph as"), caught(lambda: y.op._update_input(0, 3))


def consumers_of_tensors(tf):
    x = tf.constant(1, name="x")
    a = tf.add(x, x, name="a")
    tf.negative(x, name="b")
    with tf.control_dependencies([x]):
        tf.no_op(name="c")
    return [c.name for c in x.consumers()], a.consumers()


# Tensors.


def tensor_said(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    return [repr(x), str(x), x.name, x.value_index, x.device, x.dtype.name, str(x.shape), x.op.name, x.graph is tf.get_default_graph(), x.shape.ndims, str(x.get_shape())]


def tensors_as_text(tf):
    with tf.device("/cpu:0"):
        a = tf.constant([1.0], name="a")
    b = tf.placeholder(tf.string, name="b")
    c = tf.Variable(1.0, name="v", use_resource=False)
    return [str(a), repr(a), str(b), repr(b), repr(c._ref() if hasattr(c, "_ref") else c), str(tf.split([1, 2], 2)[1])]


def shape_refined(tf):
    x = tf.placeholder(tf.float32, name="x")
    x.set_shape([None, 3])
    first = str(x.shape)
    x.set_shape(tf.TensorShape([2, None]))
    x.set_shape(None)
    return first, str(x.shape), x.shape.as_list()


def shape_refined_wrongly(tf):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    return caught(lambda: x.set_shape([3, 3]), WHOLE), caught(lambda: x.set_shape([2]), WHOLE), caught(lambda: x.set_shape("a"), WHOLE), caught(lambda: x.set_shape([-1, 3]), WHOLE)


def shape_refined_reaches_what_comes_later(tf):
    x = tf.placeholder(tf.float32, name="x")
    before = tf.identity(x)
    x.set_shape([2])
    return str(before.shape), str(tf.identity(x).shape)


def shape_as_list_of_tensor(tf):
    x = tf.placeholder(tf.float32, [None, 3])
    return x._shape_as_list(), tf.placeholder(tf.float32)._shape_as_list(), x._rank(), tf.placeholder(tf.float32)._rank()


def tensors_are_no_arrays(tf):
    x = tf.constant([1, 2])
    return caught(lambda: bool(x), WHOLE), caught(lambda: list(x), WHOLE), caught(lambda: np.array(x), WHOLE), caught(lambda: len(x), WHOLE), caught(lambda: int(x)), caught(lambda: [1, 2][x]), caught(lambda: x.nope, WHOLE)


def if_of_a_tensor(tf):
    x = tf.constant(True)

    def use():
        if x:
            return 1

    return caught(use, WHOLE), caught(lambda: x and 1, WHOLE), caught(lambda: not x, WHOLE)


def eval_of_tensors(tf):
    x = tf.placeholder(tf.int32, [])
    y = x * 2
    with tf.Session() as sess:
        return y.eval({x: 2}), y.eval(feed_dict={"Placeholder:0": 3}), y.eval({x: 4}, sess), y.eval(session=sess, feed_dict={x: 5})


def eval_in_a_session_of_another_graph(tf):
    x = tf.constant(1, name="x")
    with tf.Graph().as_default():
        tf.constant(2)
        with tf.Session() as sess:
            return caught(lambda: x.eval(), WHOLE), caught(lambda: x.eval(session=sess), WHOLE), caught(lambda: x.op.run(), WHOLE)


def eval_without_any_session(tf):
    x = tf.constant(1)
    return caught(lambda: x.eval(), WHOLE), caught(lambda: x.op.run(), WHOLE), caught(lambda: tf.SparseTensor([[0]], [1], [1]).eval(), WHOLE)


def tensor_of_another_graph(tf):
    x = tf.constant(1, name="x")
    with tf.Graph().as_default():
        y = tf.constant(2, name="y")
    return caught(lambda: x + y, WHOLE), caught(lambda: tf.add(x, y), WHOLE), caught(lambda: tf.stack([x, y]), WHOLE), caught(lambda: tf.identity_n([x, y]), WHOLE), caught(lambda: tf.while_loop(lambda i: i < y, lambda i: i + 1, [x]), WHOLE)


def inputs_decide_the_graph(tf):
    x = tf.constant(1, name="x")
    with tf.Graph().as_default():
        y = tf.identity(x)
        z = x + 1
    return y.graph is x.graph, z.graph is x.graph


def tensors_of_variables(tf):
    v, r = tf.Variable(1.0, name="v", use_resource=False), tf.Variable(1.0, name="r", use_resource=True)
    return v.op.type, r.op.type, v.name, r.name, v.graph is tf.get_default_graph(), r.handle.dtype.name, v.value().name, r.value().op.type, v.device, r.device


def ref_types_of_tensors(tf):
    v = tf.Variable(1.0, name="v", use_resource=False)
    return v.op.outputs[0].dtype.name, v.value().dtype.name, v.op.outputs[0].dtype._is_ref_dtype, repr(v.op.outputs[0])


# Collections.


def collection_values_and_scopes(tf):
    g = tf.get_default_graph()
    with tf.name_scope("a"):
        x = tf.constant(1, name="x")
        with tf.name_scope("b"):
            y = tf.constant(1, name="y")
    z = tf.constant(1, name="ab")
    for t in (x, y, z, 3, "word"):
        g.add_to_collection("c", t)
    names = lambda scope: [t.name for t in g.get_collection("c", scope)]
    return names("a"), names("a/"), names("a/b"), names(".*y"), names("b"), names("nope"), names(""), len(g.get_collection("c"))


def collection_is_a_copy(tf):
    g = tf.get_default_graph()
    g.add_to_collection("c", 1)
    g.get_collection("c").append(2)
    ref = g.get_collection_ref("c")
    ref.append(3)
    g.get_collection_ref("new").append(4)
    return g.get_collection("c"), g.get_collection("new"), g.get_collection_ref("c") is ref


def collection_keys(tf):
    g = tf.get_default_graph()
    before = list(g.get_all_collection_keys())
    g.get_collection("asked")
    g.get_collection_ref("empty")
    g.add_to_collection("full", 1)
    g.add_to_collection(("t", 1), 1)
    g.add_to_collection(3, 1)
    return before, sorted(g.get_all_collection_keys()), sorted(map(str, g.collections))


def collections_many(tf):
    g = tf.get_default_graph()
    g.add_to_collections(["a", "b", "a"], 1)
    g.add_to_collections("word", 2)
    g.add_to_collections(("b",), 3)
    tf.add_to_collections(["a", "z"], 4)
    return g.get_collection("a"), g.get_collection("b"), g.get_collection("word"), g.get_collection("z"), g.get_collection("w")


def collection_cleared(tf):
    g = tf.get_default_graph()
    g.add_to_collection("c", 1)
    ref = g.get_collection_ref("c")
    g.clear_collection("c")
    g.clear_collection("never")
    g.add_to_collection("c", 2)
    return g.get_collection("c"), ref


def collections_when_finalized(tf):
    g = tf.get_default_graph()
    g.add_to_collection("c", 1)
    g.finalize()
    return caught(lambda: g.add_to_collection("c", 2), WHOLE), caught(lambda: g.add_to_collections(["c"], 2), WHOLE), caught(lambda: g.clear_collection("c"), WHOLE), g.get_collection("c")


def collection_of_nothing(tf):
    g = tf.get_default_graph()
    g.add_to_collection("c", None)
    return g.get_collection("c"), g.get_collection("c", scope="a")


def collections_of_the_library(tf):
    tf.Variable(1.0, name="a")
    tf.Variable(1.0, name="b", trainable=False)
    tf.Variable(1.0, name="l", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    tf.summary.scalar("s", 1.0)
    tf.train.add_queue_runner(tf.train.QueueRunner(tf.FIFOQueue(1, [tf.int32]), [tf.no_op()]))
    g = tf.get_default_graph()
    return {k: len(g.get_collection(k)) for k in sorted(g.get_all_collection_keys())}


def graph_keys(tf):
    return {k: getattr(tf.GraphKeys, k) for k in dir(tf.GraphKeys) if k.isupper() and not k.startswith("_")}


# The graph.


def graph_finalized(tf):
    g = tf.get_default_graph()
    x = tf.constant(1, name="x")
    before = g.finalized
    g.finalize()
    g.finalize()
    out = [
        caught(lambda: tf.constant(2), WHOLE),
        caught(lambda: x + 1, WHOLE),
        caught(lambda: tf.Variable(1.0), WHOLE),
        caught(lambda: tf.while_loop(lambda i: i < 2, lambda i: i + 1, [x]), WHOLE),
        caught(lambda: tf.no_op(), WHOLE),
        caught(lambda: tf.placeholder(tf.float32), WHOLE),
        caught(lambda: tf.import_graph_def(tf.GraphDef(node=[x.op.node_def])), WHOLE),
    ]
    return before, g.finalized, out, len(g.get_operations())


def graph_no_longer_finalized(tf):
    g = tf.get_default_graph()
    g.finalize()
    g._unsafe_unfinalize()
    return g.finalized, tf.constant(1).name


def finalized_graph_still_runs(tf):
    x = tf.constant(1) + 2
    tf.get_default_graph().finalize()
    with tf.Session() as sess:
        return sess.run(x), sess.run("add:0")


def names_in_a_finalized_graph(tf):
    g = tf.get_default_graph()
    g.finalize()
    with g.name_scope("a") as scope:
        return scope, g.unique_name("x"), g.as_graph_def().ByteSize() >= 0


def version_of_a_graph(tf):
    g = tf.get_default_graph()
    out = [g.version]
    tf.constant(1)
    out.append(g.version)
    tf.constant(1.0) + 2.0
    out.append(g.version)
    g.unique_name("a")
    out.append(g.version)
    return out


def versions_of_the_message(tf):
    v = tf.get_default_graph().graph_def_versions
    return v.producer == tf.GRAPH_DEF_VERSION if hasattr(tf, "GRAPH_DEF_VERSION") else tf.version.GRAPH_DEF_VERSION == v.producer, v.min_consumer, list(v.bad_consumers)


def seed_of_a_graph(tf):
    g = tf.get_default_graph()
    out = [g.seed]
    g.seed = 5
    out.append(g.seed)
    with g.as_default():
        tf.set_random_seed(9)
    out.append(g.seed)
    x = tf.multinomial([[1.0]], 1)
    return out, x.op.get_attr("seed"), x.op.get_attr("seed2")


def seeds_of_operations(tf):
    g = tf.get_default_graph()
    tf.set_random_seed(1)
    a = tf.multinomial([[1.0]], 1)
    b = tf.multinomial([[1.0]], 1, seed=7)
    c = tf.multinomial([[1.0]], 1)
    return [[t.op.get_attr(k) for k in ("seed", "seed2")] for t in (a, b, c)]


def graph_is_not_a_function(tf):
    g = tf.get_default_graph()
    return g.building_function, g.finalized, repr(type(g).__name__)


def operations_in_order(tf):
    x = tf.constant(1.0) + 2.0
    g = tf.get_default_graph()
    ops = g.get_operations()
    ops.append(None)
    return [o.name for o in g.get_operations()], [o._id for o in g.get_operations()]


def feedable_and_fetchable(tf):
    g = tf.get_default_graph()
    x, y = tf.constant(1), tf.constant(2)
    g.prevent_feeding(x)
    g.prevent_fetching(y.op)
    return g.is_feedable(x), g.is_feedable(y), g.is_fetchable(x), g.is_fetchable(y), g.is_fetchable(y.op), g.is_fetchable(x.op)


def feedable_of_other_things(tf):
    g = tf.get_default_graph()
    x = tf.constant(1)
    return g.is_fetchable(x.op), g.is_fetchable(3), g.is_feedable(3)


def graphs_are_not_copied(tf):
    import copy
    import pickle

    g = tf.get_default_graph()
    return caught(lambda: pickle.dumps(g)), caught(lambda: copy.deepcopy(g)), caught(lambda: pickle.dumps(tf.constant(1)))


def element_of_a_sparse_tensor(tf):
    s = tf.SparseTensor([[0]], [1.0], [2])
    g = tf.get_default_graph()
    return caught(lambda: g.as_graph_element(s), WHOLE), s.op.name, s.graph is g, s.values.name


def op_created_by_hand(tf):
    g = tf.get_default_graph()
    x = tf.constant([1.0, 4.0], name="x")
    op = g.create_op("Sqrt", [x], [tf.float32], name="root", attrs={"T": tf.AttrValue(type=tf.float32.as_datatype_enum)})
    again = g.create_op("Sqrt", [x], [tf.float32], attrs={"T": tf.AttrValue(type=tf.float32.as_datatype_enum)})
    return op.name, again.name, op.type, [o.name for o in op.outputs], run(tf, op.outputs[0])


def op_created_in_a_scope(tf):
    g = tf.get_default_graph()
    with g.name_scope("s"):
        op = g.create_op("NoOp", [], [], name="n")
        exact = g.create_op("NoOp", [], [], name="free/")
    return op.name, exact.name


def op_created_of_an_unknown_type(tf):
    return caught(lambda: tf.get_default_graph().create_op("NoSuchOp", [], [], name="n"), "Op type not registered 'NoSuchOp' in binary")


def reference_to_the_default(tf):
    return tf.get_default_graph() is tf.get_default_graph(), isinstance(tf.get_default_graph(), tf.Graph)
