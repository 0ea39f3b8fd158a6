"""`tensorflow.python.tools.freeze_graph` and other internal modules that programs import."""

import os
import tempfile

from programs.tools import caught, initialize


def _saved(tf):
    folder = tempfile.mkdtemp()
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.get_variable("w", initializer=[[1.0], [2.0]])
        b = tf.get_variable("b", initializer=[0.5])
        tf.add(tf.matmul(x, w), b, name="y")
        step = tf.train.get_or_create_global_step()
        saver = tf.train.Saver()
        with tf.Session() as sess:
            initialize(tf, sess)
            sess.run(tf.assign(step, 7))
            path = saver.save(sess, os.path.join(folder, "model"), global_step=step)
        tf.train.write_graph(graph.as_graph_def(), folder, "graph.pb", as_text=False)
        tf.train.write_graph(graph.as_graph_def(), folder, "graph.pbtxt")
        return folder, path, graph.as_graph_def(), saver.as_saver_def()


def _run(tf, graph_def):
    with tf.Graph().as_default():
        [y] = tf.import_graph_def(graph_def, return_elements=["y:0"], name="")
        with tf.Session() as sess:
            return sess.run(y, {"x:0": [[1.0, 1.0], [2.0, 0.0]]}), sorted({n.op for n in graph_def.node})


def _freezer(tf):
    if tf.__name__ == "millstream":
        from millstream.programs import freezing

        return freezing
    from tensorflow.python.tools import freeze_graph

    return freeze_graph


def of_messages(tf):
    folder, path, graph_def, saver_def = _saved(tf)
    out = os.path.join(folder, "frozen.pb")
    tools = _freezer(tf)
    made = []
    for saver in (saver_def, None):
        with tf.Graph().as_default():
            made.append(tools.freeze_graph_with_def_protos(graph_def, saver, path, "y", "", "", out, True, ""))
    with open(out, "rb") as source:
        read = tf.GraphDef.FromString(source.read())
    with tf.Graph().as_default():
        partly = tools.freeze_graph_with_def_protos(graph_def, None, path, "y", "", "", "", True, "", variable_names_blacklist="b")
    return [_run(tf, g) for g in made + [read]], sorted(n.name for n in partly.node if "Variable" in n.op)


def of_files(tf):
    folder, path, _, _ = _saved(tf)
    tools = _freezer(tf)
    found = []
    for graph, binary in (("graph.pb", True), ("graph.pbtxt", False)):
        with tf.Graph().as_default():
            out = os.path.join(folder, "frozen.pb")
            tools.freeze_graph(os.path.join(folder, graph), "", binary, path, "y", "save/restore_all", "save/Const:0", out, False, "")
            with open(out, "rb") as source:
                found.append(_run(tf, tf.GraphDef.FromString(source.read())))
    return found


def _stripper(tf):
    if tf.__name__ == "millstream":
        from millstream.programs import stripping

        return stripping
    from tensorflow.python.tools import strip_unused_lib

    return strip_unused_lib


def _branched(tf):
    with tf.Graph().as_default() as graph:
        a = tf.placeholder(tf.float32, [2, 3], name="a")
        with tf.device("/cpu:0"):
            b = tf.identity(a * 2.0, name="b")
        d = tf.cast(tf.add(b, 1.0, name="d"), tf.int32, name="e")
        tf.add(d, tf.placeholder(tf.int32, name="p"), name="f")
        return graph.as_graph_def()


def stripped(tf):
    tools, kind = _stripper(tf), tf.float32.as_datatype_enum
    found = []
    for inputs, outputs, kinds in ((["b"], ["d"], kind), (["b", "p"], ["f"], [kind, tf.int32.as_datatype_enum]), (["a"], ["d", "a"], kind), ([], ["e"], kind)):
        made = tools.strip_unused(_branched(tf), inputs, outputs, kinds)
        found.append([(n.name, n.op, n.device, n.attr["dtype"].type, "shape" in n.attr) for n in made.node])
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.import_graph_def(tools.strip_unused(_branched(tf), ["b"], ["d"], kind), name="")
        return found, sess.run("d:0", {graph.get_tensor_by_name("b:0"): [1.0, 2.0]})


def stripped_of_files(tf):
    tools, folder = _stripper(tf), tempfile.mkdtemp()
    before, after = os.path.join(folder, "graph.pb"), os.path.join(folder, "part.pb")
    with open(before, "wb") as file:
        file.write(_branched(tf).SerializeToString())
    tools.strip_unused_from_files(before, True, after, True, "b", "d,e", tf.float32.as_datatype_enum)
    with open(after, "rb") as file:
        return [(n.name, n.op) for n in tf.GraphDef.FromString(file.read()).node]


def wrong_of_stripping(tf):
    tools, kind = _stripper(tf), tf.float32.as_datatype_enum
    return (
        caught(lambda: tools.strip_unused(_branched(tf), ["b:0"], ["d"], kind), "Name 'b:0' appears to refer to a Tensor, not a Operation"),
        caught(lambda: tools.strip_unused(_branched(tf), ["zz"], ["d"], kind), "The following input nodes were not found:"),
        caught(lambda: tools.strip_unused(_branched(tf), ["b"], ["yy"], kind), "yy is not in graph"),
    )


def wrong(tf):
    folder, path, graph_def, _ = _saved(tf)
    tools = _freezer(tf)
    return (
        caught(lambda: tools.freeze_graph_with_def_protos(graph_def, None, folder + "/none", "y", "", "", "", True, ""), "doesn't exist!"),
        caught(lambda: tools.freeze_graph_with_def_protos(graph_def, None, path, "", "", "", "", True, ""), "You need to supply the name of a node to --output_node_names."),
    )


