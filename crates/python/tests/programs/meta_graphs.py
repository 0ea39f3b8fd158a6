"""Export and import: `export_meta_graph`, `import_meta_graph`, `import_graph_def`, `write_graph`."""

import os
import tempfile

import numpy as np

from programs.tools import WHOLE, caught, initialize, nodes, run, static


def _model(tf):
    v = tf.Variable(2.0, name="v")
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.multiply(v, x, name="y")
    tf.add_to_collection("ends", y)
    tf.add_to_collection("numbers", 7)
    tf.add_to_collection("words", "abc")
    return v, x, y


def exported(tf):
    _model(tf)
    meta = tf.train.export_meta_graph()
    return sorted(meta.collection_def), [n.name for n in meta.graph_def.node], meta.meta_info_def.tensorflow_version[:4], len(meta.meta_info_def.stripped_op_list.op) > 0


def exported_collections(tf):
    _model(tf)
    meta = tf.train.export_meta_graph()
    return [(k, meta.collection_def[k].WhichOneof("kind")) for k in sorted(meta.collection_def)], list(meta.collection_def["ends"].node_list.value), list(meta.collection_def["numbers"].int64_list.value), list(meta.collection_def["words"].bytes_list.value)


def exported_some_collections(tf):
    _model(tf)
    return sorted(tf.train.export_meta_graph(collection_list=["ends"]).collection_def)


def exported_to_a_file(tf):
    _model(tf)
    folder = tempfile.mkdtemp()
    a, b = os.path.join(folder, "a.meta"), os.path.join(folder, "b.meta")
    tf.train.export_meta_graph(a)
    tf.train.export_meta_graph(b, as_text=True)
    with open(b) as f:
        text = f.read()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(a)
        n = len(nodes(tf))
    return 'name: "x"' in text, n


def imported(tf):
    with tf.Graph().as_default():
        _model(tf)
        meta = tf.train.export_meta_graph()
    saver = tf.train.import_meta_graph(meta)
    (end,) = tf.get_collection("ends")
    with tf.Session() as sess:
        initialize(tf, sess)
        return type(saver).__name__, end.name, sess.run(end, {"x:0": [1.0, 2.0]}), [v.name for v in tf.trainable_variables()], tf.get_collection("numbers"), tf.get_collection("words")


def imported_without_variables(tf):
    with tf.Graph().as_default():
        tf.constant(1, name="c")
        meta = tf.train.export_meta_graph()
    return tf.train.import_meta_graph(meta), nodes(tf)


def imported_into_a_scope(tf):
    with tf.Graph().as_default():
        _model(tf)
        meta = tf.train.export_meta_graph()
    saver = tf.train.import_meta_graph(meta, import_scope="in")
    (end,) = tf.get_collection("ends")
    with tf.Session() as sess:
        initialize(tf, sess)
        return end.name, sess.run(end, {"in/x:0": [3.0]}), [v.name for v in tf.global_variables()], saver is not None


def imported_with_an_input_map(tf):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [], name="x")
        tf.add(x, 1.0, name="y")
        meta = tf.train.export_meta_graph()
    z = tf.constant(5.0)
    tf.train.import_meta_graph(meta, input_map={"x:0": z})
    return run(tf, "y:0")


def import_refused(tf):
    return (
        caught(lambda: tf.train.import_meta_graph("no/such/file.meta")),
        caught(lambda: tf.train.import_meta_graph(os.path.join(tempfile.mkdtemp(), "x"))),
    )


def trained_on_after_import(tf):
    path = os.path.join(tempfile.mkdtemp(), "m")
    with tf.Graph().as_default():
        v = tf.Variable(2.0, name="v")
        loss = tf.square(v, name="loss")
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        tf.add_to_collection("train", train)
        with tf.Session() as sess:
            initialize(tf, sess)
            sess.run(train)
            tf.train.Saver().save(sess, path)
    saver = tf.train.import_meta_graph(path + ".meta")
    (train,) = tf.get_collection("train")
    with tf.Session() as sess:
        saver.restore(sess, path)
        sess.run(train)
        return sess.run("v:0")


def loops_survive(tf):
    with tf.Graph().as_default():
        n = tf.placeholder(tf.int32, [], name="n")
        i, s = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), [0, 0])
        tf.identity(s, name="sum")
        meta = tf.train.export_meta_graph()
    tf.train.import_meta_graph(meta)
    return run(tf, "sum:0", {"n:0": 5})


def gradients_of_an_imported_loop(tf):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [], name="x")
        _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, tf.constant(1.0)])
        tf.identity(y, name="y")
        meta = tf.train.export_meta_graph()
    tf.train.import_meta_graph(meta)
    g = tf.get_default_graph()
    (d,) = tf.gradients(g.get_tensor_by_name("y:0"), g.get_tensor_by_name("x:0"))
    return run(tf, d, {"x:0": 2.0})


def conds_survive(tf):
    with tf.Graph().as_default():
        p = tf.placeholder(tf.bool, [], name="p")
        tf.identity(tf.cond(p, lambda: 1, lambda: 2), name="r")
        meta = tf.train.export_meta_graph()
    back = tf.train.import_meta_graph(meta, import_scope="in")
    return back, [run(tf, "in/r:0", {"in/p:0": b}) for b in (True, False)], sorted(meta.collection_def)


def saver_in_the_meta_graph(tf):
    v, _, _ = _model(tf)
    saver = tf.train.Saver(max_to_keep=3)
    meta = saver.export_meta_graph()
    return meta.HasField("saver_def"), meta.saver_def.max_to_keep, meta.saver_def.save_tensor_name


def cleared_devices(tf):
    with tf.device("/job:ps/task:1"):
        tf.constant(1, name="c")
    kept, cleared = tf.train.export_meta_graph(), tf.train.export_meta_graph(clear_devices=True)
    return [n.device for n in kept.graph_def.node], [n.device for n in cleared.graph_def.node]


def stripped_of_defaults(tf):
    tf.reduce_sum(tf.placeholder(tf.float32, [2], name="x"), 0, name="s")
    full, less = tf.train.export_meta_graph(), tf.train.export_meta_graph(strip_default_attrs=True)
    return [sorted(m.graph_def.node[-1].attr) for m in (full, less)], less.meta_info_def.stripped_default_attrs


def graph_def_given(tf):
    tf.constant(1, name="a")
    d = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        meta = tf.train.export_meta_graph(graph_def=d)
        return [n.name for n in meta.graph_def.node]


def written_graphs(tf):
    tf.constant(1, name="c")
    folder = tempfile.mkdtemp()
    paths = [
        tf.train.write_graph(tf.get_default_graph(), folder, "a.pbtxt"),
        tf.train.write_graph(tf.get_default_graph().as_graph_def(), os.path.join(folder, "sub"), "b.pb", as_text=False),
        tf.io.write_graph(tf.get_default_graph(), folder, "c.pbtxt", True),
    ]
    return [os.path.relpath(p, folder) for p in paths], [os.path.getsize(p) > 0 for p in paths]


def import_graph_def_elements(tf):
    with tf.Graph().as_default() as g:
        a = tf.placeholder(tf.float32, [], name="a")
        tf.add(a, 1.0, name="b")
        d = g.as_graph_def()
    out = tf.import_graph_def(d, input_map={"a": tf.constant(3.0)}, return_elements=["b:0", "b"], name="in")
    return [o.name for o in out], run(tf, out[0]), tf.import_graph_def(d, name="again")


def import_graph_def_refused(tf):
    with tf.Graph().as_default() as g:
        a = tf.placeholder(tf.float32, [], name="a")
        tf.add(a, 1.0, name="b")
        d = g.as_graph_def()
    return (
        caught(lambda: tf.import_graph_def("text"), WHOLE),
        caught(lambda: tf.import_graph_def(d, input_map={"nope": tf.constant(1.0)}), WHOLE),
        caught(lambda: tf.import_graph_def(d, input_map=[1]), WHOLE),
        caught(lambda: tf.import_graph_def(d, return_elements=["nope"]), WHOLE),
        caught(lambda: tf.import_graph_def(d, return_elements=[3]), WHOLE),
        caught(lambda: tf.import_graph_def(d, input_map={"a:0": tf.constant(1)}), WHOLE),
    )
