"""Graphs as messages: `as_graph_def`, `import_graph_def`, `import_meta_graph`, and tools for them."""

import os
import tempfile

import numpy as np

from programs.tools import WHOLE, caught, initialize, nodes, run, static


def _text(message):
    """Returns a message as text, in a form independent of the protobuf version."""
    from google.protobuf import text_format

    return text_format.MessageToString(message)


def _def(tf, build):
    """Returns the `GraphDef` of a graph that `build` creates."""
    with tf.Graph().as_default() as g:
        build()
    return g.as_graph_def()


def _printed(tf, build):
    return [_text(n) for n in _def(tf, build).node]


# Export.


def written_constant(tf):
    return _printed(tf, lambda: tf.constant([1.0, 2.0], name="c")), _printed(tf, lambda: tf.constant(3, name="c")), _printed(tf, lambda: tf.constant("a", name="c"))


def written_constants_of_all_types(tf):
    def build():
        for k, value in enumerate([True, [True, False], 1.5, [1, 2, 3], np.float64(2.0), np.int64(7), 1j, ["a", "bc"], [], [[1.0], [2.0]], np.zeros([2, 2], np.int8), np.full([3], 7, np.int32)]):
            tf.constant(value, name="c%d" % k)

    return _printed(tf, build)


def written_placeholders(tf):
    def build():
        tf.placeholder(tf.float32, [None, 2], name="a")
        tf.placeholder(tf.string, name="b")
        tf.placeholder(tf.int64, [], name="c")
        tf.placeholder_with_default(1.0, [], name="d")

    return _printed(tf, build)


def written_arithmetic(tf):
    def build():
        x = tf.placeholder(tf.float32, [2, 2], name="x")
        tf.matmul(x, x, transpose_a=True)
        tf.reduce_sum(x, 1, keepdims=True)
        x + 1.0
        tf.concat([x, x], 0)
        tf.reshape(x, [4])
        tf.cast(x, tf.int32)
        x[0, 1:]

    return _printed(tf, build)


def written_controls_devices_and_classes(tf):
    def build():
        a, b = tf.no_op(name="a"), tf.constant(1, name="b")
        with tf.control_dependencies([a, b]), tf.device("/job:w/device:CPU:0"):
            c = tf.identity(b, name="c")
        with tf.control_dependencies([c, a]), tf.colocate_with(b):
            tf.add(b, c, name="d")

    return _printed(tf, build)


def written_variables(tf):
    def build():
        tf.Variable(1.0, name="v", use_resource=False)
        tf.Variable([1.0], name="r", use_resource=True)

    return [n.split("value {\n        dtype")[0] for n in _printed(tf, build)]


def written_loop(tf):
    return _printed(tf, lambda: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0, name="zero")], parallel_iterations=4))


def written_branch(tf):
    return _printed(tf, lambda: tf.cond(tf.placeholder(tf.bool, [], name="p"), lambda: tf.constant(1), lambda: tf.constant(2)))


def written_queue(tf):
    def build():
        q = tf.FIFOQueue(3, [tf.int32, tf.float32], shapes=[[], [2]], names=["a", "b"], shared_name="s", name="q")
        q.enqueue({"a": 1, "b": [1.0, 2.0]}, name="put")
        q.dequeue(name="get")
        q.close()
        q.size()

    return _printed(tf, build)


def written_from_a_version(tf):
    g = tf.get_default_graph()
    tf.constant(1, name="a")
    version = g.version
    tf.constant(2, name="b")
    return [n.name for n in g.as_graph_def(from_version=version).node], [n.name for n in g.as_graph_def(from_version=0).node], len(g.as_graph_def(from_version=g.version).node)


def written_with_shapes(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    tf.unstack(x, 2, 1, name="s")
    tf.placeholder(tf.float32, name="u")
    tf.no_op(name="n")
    d = tf.get_default_graph().as_graph_def(add_shapes=True)
    return [(n.name, _text(n.attr["_output_shapes"]) if "_output_shapes" in n.attr else None) for n in d.node]


def written_versions(tf):
    tf.constant(1)
    d = tf.get_default_graph().as_graph_def()
    return d.versions.producer == tf.version.GRAPH_DEF_VERSION, d.versions.min_consumer, list(d.versions.bad_consumers), len(d.library.function)


def written_empty(tf):
    d = tf.get_default_graph().as_graph_def()
    return len(d.node), d.versions.producer > 0


def written_after_it_was_changed(tf):
    a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
    y = tf.identity(a, name="y")
    y.op._update_input(0, b)
    y.op._add_control_input(a.op)
    y.op._set_attr("_x", tf.AttrValue(i=3))
    y.op._set_device("/cpu:0")
    return _text(tf.get_default_graph().as_graph_def().node[2])


def written_as_bytes(tf):
    tf.constant(1, name="a")
    d = tf.get_default_graph().as_graph_def()
    return tf.GraphDef.FromString(d.SerializeToString()) == d, d.ByteSize() == len(d.SerializeToString())


# Import.


def _adder(tf):
    """Returns the message of `y = x + c`."""

    def build():
        x = tf.placeholder(tf.float32, [], name="x")
        tf.add(x, tf.constant(2.0, name="c"), name="y")

    return _def(tf, build)


def imported_names(tf):
    d = _adder(tf)
    out = []
    for name in (None, "", "mine", "mine", "a/b", None):
        tf.import_graph_def(d, name=name) if name is not None else tf.import_graph_def(d)
        out.append(tf.get_default_graph().get_operations()[-1].name)
    return out


def imported_under_a_scope(tf):
    d = _adder(tf)
    with tf.name_scope("s"):
        tf.import_graph_def(d)
        tf.import_graph_def(d, name="n")
        tf.import_graph_def(d, name="")
    return nodes(tf)


def imported_names_that_are_taken(tf):
    tf.constant(1, name="x")
    with tf.name_scope("import"):
        tf.constant(1, name="x")
    d = _adder(tf)
    tf.import_graph_def(d)
    tf.import_graph_def(d, name="")
    return nodes(tf)


def imported_into_the_scope_again(tf):
    d = _adder(tf)
    tf.import_graph_def(d, name="n")
    tf.import_graph_def(d, name="n/")
    return nodes(tf)


def imported_elements(tf):
    d = _adder(tf)
    y, op, c = tf.import_graph_def(d, return_elements=["y:0", "y", "c"])
    again = tf.import_graph_def(d, return_elements=[])
    return y.name, type(y).__name__, op.name, type(op).__name__, c.type, again, tf.import_graph_def(d), y.op is op


def imported_elements_that_are_not_there(tf):
    d = _adder(tf)
    return [caught(lambda e=e: tf.import_graph_def(d, return_elements=[e]), WHOLE) for e in ("z", "z:0", "y:1", "y:a", "", "y:0:0")], caught(lambda: tf.import_graph_def(d, return_elements=[3]))


def imported_with_inputs(tf):
    d = _adder(tf)
    mine = tf.constant(5.0, name="mine")
    (a,) = tf.import_graph_def(d, {"x": mine}, ["y:0"])
    (b,) = tf.import_graph_def(d, input_map={"x:0": mine, "c:0": mine}, return_elements=["y:0"])
    return run(tf, [a, b]), [i.name for i in a.op.inputs], [i.name for i in b.op.inputs]


def imported_with_inputs_that_do_not_fit(tf):
    d = _adder(tf)
    one = tf.constant(1)
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    return (
        caught(lambda: tf.import_graph_def(d, {"x:0": one})),
        caught(lambda: tf.import_graph_def(d, {"nope:0": tf.constant(1.0)}), WHOLE),
        caught(lambda: tf.import_graph_def(d, {"x:7": tf.constant(1.0)}), WHOLE),
        caught(lambda: tf.import_graph_def(d, {"x:0": other})),
        caught(lambda: tf.import_graph_def(d, [("x", one)]), WHOLE),
        caught(lambda: tf.import_graph_def(d, {3: one})),
    )


def imported_with_numbers_for_inputs(tf):
    d = _adder(tf)
    (y,) = tf.import_graph_def(d, {"x:0": 4.0}, ["y:0"], name="n")
    return run(tf, y), nodes(tf)


def imported_with_a_control_input(tf):
    def build():
        a = tf.no_op(name="a")
        with tf.control_dependencies([a]):
            tf.constant(1, name="b")

    d = _def(tf, build)
    mine = tf.no_op(name="mine")
    (b,) = tf.import_graph_def(d, return_elements=["b"])
    return [c.name for c in b.control_inputs], caught(lambda: tf.import_graph_def(d, {"^a": mine}))[0] in ("TypeError", "ValueError", "nothing was raised")


def imported_in_control_dependencies(tf):
    d = _adder(tf)
    n = tf.no_op(name="n")
    with tf.control_dependencies([n]):
        (y,) = tf.import_graph_def(d, return_elements=["y"])
        (x,) = tf.import_graph_def(d, return_elements=["x"], name="second")
    return [c.name for c in y.control_inputs], [c.name for c in x.control_inputs]


def imported_on_a_device(tf):
    def build():
        tf.constant(1, name="a")
        with tf.device("/job:b"):
            tf.constant(1, name="b")

    d = _def(tf, build)
    with tf.device("/job:c/task:3"):
        a, b = tf.import_graph_def(d, return_elements=["a", "b"])
    return a.device, b.device


def imported_colocation(tf):
    def build():
        a = tf.constant(1, name="a")
        with tf.colocate_with(a):
            tf.constant(2, name="b")

    (b,) = tf.import_graph_def(_def(tf, build), return_elements=["b"], name="n")
    return b.colocation_groups()


def imported_loop(tf):
    def build():
        n = tf.placeholder(tf.int32, [], name="n")
        r = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), [0, 0], name="loop")
        tf.identity(r[1], name="out")

    d = _def(tf, build)
    (a,) = tf.import_graph_def(d, return_elements=["out:0"], name="a")
    with tf.Session() as sess:
        return sess.run(a, {"a/n:0": 4})


def imported_of_other_types(tf):
    d = _adder(tf)
    return caught(lambda: tf.import_graph_def(3), WHOLE), caught(lambda: tf.import_graph_def(None), WHOLE), caught(lambda: tf.import_graph_def("x"), WHOLE), caught(lambda: tf.import_graph_def(d.SerializeToString()), WHOLE), caught(lambda: tf.import_graph_def(d, name=3))


def imported_with_unknown_ops(tf):
    d = tf.GraphDef()
    d.node.add(name="a", op="NoSuchOp")
    return caught(lambda: tf.import_graph_def(d), "NoSuchOp")


def imported_with_missing_inputs(tf):
    d = tf.GraphDef()
    n = d.node.add(name="a", op="Identity", input=["b"])
    n.attr["T"].type = 1
    one = caught(lambda: tf.import_graph_def(d), WHOLE)
    del n.input[:]
    two = caught(lambda: tf.import_graph_def(d), WHOLE)
    n.input.extend(["a:0"])
    return one, two, caught(lambda: tf.import_graph_def(d))


def imported_with_missing_attributes(tf):
    d = tf.GraphDef()
    d.node.add(name="p", op="Placeholder")
    return caught(lambda: tf.import_graph_def(d), WHOLE)


def imported_with_attributes_of_another_kind(tf):
    d = tf.GraphDef()
    d.node.add(name="p", op="Placeholder").attr["dtype"].i = 3
    return caught(lambda: tf.import_graph_def(d), "dtype")


def imported_with_names_used_twice(tf):
    d = tf.GraphDef()
    for _ in range(2):
        d.node.add(name="n", op="NoOp")
    return caught(lambda: tf.import_graph_def(d), WHOLE)


def imported_with_names_that_are_not_valid(tf):
    out = []
    for name in ("a b", "", "a:0", "^a"):
        d = tf.GraphDef()
        d.node.add(name=name, op="NoOp")
        out.append(caught(lambda: tf.import_graph_def(d))[0])
    return out


def imported_in_any_order(tf):
    d = tf.GraphDef()
    n = d.node.add(name="b", op="Identity", input=["a"])
    n.attr["T"].type = tf.float32.as_datatype_enum
    p = d.node.add(name="a", op="Placeholder")
    p.attr["dtype"].type = tf.float32.as_datatype_enum
    (b,) = tf.import_graph_def(d, return_elements=["b:0"])
    with tf.Session() as sess:
        return sess.run(b, {"import/a:0": 3.0}), static(b)


def imported_with_default_attributes_left_out(tf):
    d = _adder(tf)
    m = d.node.add(name="m", op="MatMul", input=["p", "p"])
    m.attr["T"].type = tf.float32.as_datatype_enum
    p = d.node.add(name="p", op="Placeholder")
    p.attr["dtype"].type = tf.float32.as_datatype_enum
    (m,) = tf.import_graph_def(d, return_elements=["m"])
    return m.get_attr("transpose_a"), m.get_attr("transpose_b")


def imported_cycles(tf):
    d = tf.GraphDef()
    for a, b in ("ab", "ba"):
        d.node.add(name=a, op="Identity", input=[b]).attr["T"].type = 1
    return caught(lambda: tf.import_graph_def(d))[0]


def imported_into_a_finalized_graph(tf):
    d = _adder(tf)
    tf.get_default_graph().finalize()
    return caught(lambda: tf.import_graph_def(d))[0] != "nothing was raised"


def imported_leaves_nothing_after_an_error(tf):
    d = _adder(tf)
    d.node.add(name="z", op="Identity", input=["nope"]).attr["T"].type = 1
    caught(lambda: tf.import_graph_def(d))
    return [n for n in nodes(tf)]


def imported_shapes(tf):
    def build():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        tf.matmul(x, tf.ones([3, 2]), name="y")

    (y,) = tf.import_graph_def(_def(tf, build), return_elements=["y:0"])
    (z,) = tf.import_graph_def(_def(tf, build), {"x": tf.zeros([5, 3])}, ["y:0"])
    return static(y, z)


def imported_with_op_dict_and_producers(tf):
    d = _adder(tf)
    (y,) = tf.import_graph_def(d, return_elements=["y:0"], op_dict=None, producer_op_list=None)
    return y.name


def imported_stateful_things(tf):
    def build():
        v = tf.Variable(1.0, name="v", use_resource=False)
        tf.assign_add(v, 2.0, name="add")

    d = _def(tf, build)
    init, add = tf.import_graph_def(d, return_elements=["v/Assign", "add:0"])
    with tf.Session() as sess:
        sess.run(init)
        return sess.run(add), sess.run(add), len(tf.global_variables())


# Meta graphs.


def meta_of_collections(tf):
    tf.add_to_collection("numbers", 3)
    tf.add_to_collection("numbers", 4)
    tf.add_to_collection("floats", 1.5)
    tf.add_to_collection("words", "a")
    tf.add_to_collection("tensors", tf.constant(1, name="x"))
    tf.add_to_collection("ops", tf.no_op(name="n"))
    meta = tf.train.export_meta_graph()
    kinds = {k: meta.collection_def[k].WhichOneof("kind") for k in sorted(meta.collection_def)}
    with tf.Graph().as_default() as g:
        tf.train.import_meta_graph(meta)
        return kinds, {k: [getattr(v, "name", v) for v in g.get_collection(k)] for k in sorted(g.get_all_collection_keys())}


def meta_of_variables(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    tf.Variable(3, name="w", trainable=False, use_resource=True)
    tf.reduce_sum(v, name="sum")
    meta = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph(meta)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            return [x.name for x in tf.global_variables()], [x.name for x in tf.trainable_variables()], sess.run("sum:0"), type(saver).__name__


def meta_in_a_scope(tf):
    v = tf.Variable(2.0, name="v")
    tf.multiply(v, 3.0, name="y")
    meta = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta, import_scope="s")
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            return [x.name for x in tf.global_variables()], sess.run("s/y:0")


def meta_of_a_scope(tf):
    with tf.variable_scope("a"):
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
        tf.multiply(v, 3.0, name="y")
    tf.Variable(1.0, name="other")
    meta = tf.train.export_meta_graph(export_scope="a")
    return sorted(n.name for n in meta.graph_def.node), sorted(meta.collection_def)


def meta_without_devices(tf):
    with tf.device("/job:w"):
        tf.constant(1, name="a")
    kept, cleared = tf.train.export_meta_graph(), tf.train.export_meta_graph(clear_devices=True)
    device = kept.graph_def.node[0].device
    with tf.Graph().as_default() as g:
        tf.train.import_meta_graph(kept, clear_devices=True)
        return device, cleared.graph_def.node[0].device, g.get_operation_by_name("a").device


def meta_of_a_loop_and_a_branch(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.cond(y > 4.0, lambda: y + 1.0, lambda: y * 2.0)), [0, x])
    tf.identity(r[1], name="out")
    meta = tf.train.export_meta_graph()
    with tf.Graph().as_default() as g:
        tf.train.import_meta_graph(meta)
        with tf.Session() as sess:
            out = sess.run("out:0", {"x:0": 1.5})
        return out, sorted(k for k in meta.collection_def if "context" in k), [c.name for c in g.get_collection("while_context")]


def meta_in_a_file(tf):
    tf.constant([1.0], name="c")
    folder = tempfile.mkdtemp()
    binary, text = os.path.join(folder, "a.meta"), os.path.join(folder, "b.pbtxt")
    meta = tf.train.export_meta_graph(filename=binary)
    tf.train.export_meta_graph(filename=text, as_text=True)
    out = []
    for path in (binary, text):
        with tf.Graph().as_default() as g:
            tf.train.import_meta_graph(path)
            out.append([o.name for o in g.get_operations()])
    return out, type(meta).__name__, caught(lambda: tf.train.import_meta_graph(os.path.join(folder, "none.meta")))[0]


def meta_facts(tf):
    tf.constant(1)
    meta = tf.train.export_meta_graph()
    return meta.meta_info_def.tensorflow_version != "", type(meta.graph_def).__name__, meta.HasField("saver_def"), "_output_shapes" in meta.graph_def.node[0].attr


def meta_of_chosen_collections(tf):
    tf.add_to_collection("a", 1)
    tf.add_to_collection("b", 2)
    return sorted(tf.train.export_meta_graph(collection_list=["b"]).collection_def)


def meta_with_inputs(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    tf.multiply(x, 3.0, name="y")
    meta = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta, input_map={"x:0": tf.constant(7.0)}, import_scope="m")
        with tf.Session() as sess:
            return sess.run("m/y:0")


def meta_of_what_has_no_form(tf):
    tf.add_to_collection("things", object())
    tf.add_to_collection("mixed", 1)
    tf.add_to_collection("mixed", "a")
    tf.constant(1)
    return sorted(tf.train.export_meta_graph().collection_def)


def meta_control_contexts(tf):
    tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], parallel_iterations=7, name="w")
    tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2))
    g = tf.get_default_graph()
    whiles, conds = g.get_collection("while_context"), g.get_collection(tf.GraphKeys.COND_CONTEXT)
    return [c.name for c in whiles], [c.name for c in conds], whiles[0].parallel_iterations, whiles[0].to_proto().context_name, conds[0].to_proto().pred_name


# Files and tools.


def write_graph(tf):
    tf.constant([1.0, 2.0], name="c")
    folder = tempfile.mkdtemp()
    path = tf.io.write_graph(tf.get_default_graph(), folder, "g.pbtxt")
    again = tf.train.write_graph(tf.get_default_graph().as_graph_def(), os.path.join(folder, "deep", "er"), "g.pb", as_text=False)
    with open(path) as source:
        text = source.read()
    with open(again, "rb") as source:
        binary = source.read()
    return os.path.basename(path), text.startswith("node {"), [n.name for n in tf.GraphDef.FromString(binary).node], os.path.relpath(again, folder).replace(os.sep, "/")


def sub_graph(tf):
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    c = tf.add(a, b, name="c")
    with tf.control_dependencies([tf.no_op(name="n")]):
        tf.negative(c, name="d")
    tf.constant(5, name="unused")
    d = tf.get_default_graph().as_graph_def()
    extract = tf.graph_util.extract_sub_graph
    return [n.name for n in extract(d, ["d"]).node], [n.name for n in extract(d, ["a", "b"]).node], caught(lambda: extract(d, ["nope"]), WHOLE), caught(lambda: extract(d, "d"), WHOLE), caught(lambda: extract(3, ["d"]), WHOLE)


def constants_for_variables(tf):
    v = tf.Variable([2.0, 3.0], name="v", use_resource=False)
    r = tf.Variable(4.0, name="r", use_resource=True)
    tf.multiply(v, r, name="y")
    tf.constant(1, name="unused")
    with tf.Session() as sess:
        initialize(tf, sess)
        frozen = tf.graph_util.convert_variables_to_constants(sess, tf.get_default_graph().as_graph_def(), ["y"])
    with tf.Graph().as_default():
        (y,) = tf.import_graph_def(frozen, return_elements=["y:0"], name="")
        with tf.Session() as sess:
            return sess.run(y), sorted((n.name, n.op) for n in frozen.node)


def constants_for_some_variables(tf):
    a, b = tf.Variable(1.0, name="a", use_resource=False), tf.Variable(2.0, name="b", use_resource=False)
    tf.add(a, b, name="y")
    with tf.Session() as sess:
        initialize(tf, sess)
        convert = lambda **k: sorted((n.name, n.op) for n in tf.graph_util.convert_variables_to_constants(sess, tf.get_default_graph().as_graph_def(), ["y"], **k).node)
        return convert(variable_names_whitelist=["a"]), convert(variable_names_blacklist=["a"])


def without_training_nodes(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.identity(x, name="i")
    z = tf.negative(y, name="n")
    tf.identity(z, name="out")
    d = tf.graph_util.remove_training_nodes(tf.get_default_graph().as_graph_def())
    kept = tf.graph_util.remove_training_nodes(tf.get_default_graph().as_graph_def(), protected_nodes=["i", "out"])
    return [(n.name, list(n.input)) for n in d.node], [(n.name, list(n.input)) for n in kept.node]


def must_run_on_cpu(tf):
    must = tf.graph_util.must_run_on_cpu
    return must(tf.constant("a").op), must(tf.constant(1).op), must(tf.constant(1.0).op, pin_variables_on_cpu=True), must(tf.Variable(1.0, use_resource=False).op, True), must(tf.as_string(1).op), must(tf.get_default_graph().as_graph_def().node[0])


def shape_by_name(tf):
    tf.placeholder(tf.float32, [None, 3], name="x")
    return str(tf.graph_util.tensor_shape_from_node_def_name(tf.get_default_graph(), "x")), str(tf.graph_util.tensor_shape_from_node_def_name(tf.get_default_graph(), "x:0"))


# Messages.


def attribute_values(tf):
    a = tf.AttrValue(list=tf.AttrValue.ListValue(s=[b"a"], i=[1]))
    b = tf.AttrValue(type=tf.float32.as_datatype_enum)
    return list(a.list.s), list(a.list.i), b.type, b.WhichOneof("value"), tf.AttrValue().WhichOneof("value"), _text(b)


def messages_by_name(tf):
    return [getattr(tf, name).DESCRIPTOR.full_name for name in ("GraphDef", "NodeDef", "AttrValue", "ConfigProto", "RunOptions", "RunMetadata", "MetaGraphDef", "GPUOptions", "GraphOptions", "OptimizerOptions", "NameAttrList", "HistogramProto", "Summary", "Event", "SessionLog", "LogMessage")]


def messages_under_compat(tf):
    v1 = tf.compat.v1
    return v1.GraphDef is tf.GraphDef, v1.ConfigProto is tf.ConfigProto, v1.RunOptions.FULL_TRACE, v1.NodeDef.__name__


def node_made_by_hand(tf):
    n = tf.NodeDef(name="a", op="Placeholder", device="/cpu:0")
    n.attr["dtype"].type = tf.int32.as_datatype_enum
    n.attr["shape"].shape.dim.add().size = 3
    d = tf.GraphDef(node=[n])
    d.versions.producer = 27
    (a,) = tf.import_graph_def(d, return_elements=["a:0"], name="")
    return static(a), a.device, _text(n)


def tensor_messages(tf):
    p = tf.make_tensor_proto([[1, 2], [3, 4]])
    return p.dtype, [d.size for d in p.tensor_shape.dim], tf.make_ndarray(p), tf.make_ndarray(tf.make_tensor_proto("a")).tolist(), tf.make_tensor_proto(1.5).float_val[0], tf.make_ndarray(tf.make_tensor_proto([1], dtype=tf.float64))


def library_that_is_not_there(tf):
    return caught(lambda: tf.load_op_library("/nowhere/lib.so"))


def text_of_messages(tf):
    from google.protobuf import text_format

    d = text_format.Parse('node { name: "a" op: "NoOp" } node { name: "b" op: "NoOp" input: "^a" }', tf.GraphDef())
    tf.import_graph_def(d, name="")
    return [c.name for c in tf.get_default_graph().get_operation_by_name("b").control_inputs]
