"""Checkpoints: saving, restoring, finding, errors."""

import os
import tempfile

import numpy as np

from programs.tools import caught, initialize, nodes, run


def _dir():
    return tempfile.mkdtemp()


def save_and_restore(tf):
    v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable(3, name="w", use_resource=True)
    saver = tf.train.Saver()
    path = os.path.join(_dir(), "model")
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run([v.assign([5.0, 6.0]), w.assign(7)])
        said = saver.save(sess, path)
    with tf.Session() as sess:
        saver.restore(sess, path)
        return said == path, sess.run([v, w]), os.path.exists(path + ".index"), os.path.exists(path + ".meta")


def numbered(tf):
    v = tf.Variable(1.0, name="v")
    saver = tf.train.Saver(max_to_keep=2)
    folder = _dir()
    with tf.Session() as sess:
        initialize(tf, sess)
        names = [os.path.basename(saver.save(sess, os.path.join(folder, "m"), global_step=n, write_meta_graph=False)) for n in (1, 2, 3)]
    kept = sorted(n for n in os.listdir(folder) if n.endswith(".index"))
    return names, kept, os.path.basename(tf.train.latest_checkpoint(folder)), [os.path.basename(p) for p in saver.last_checkpoints]


def some_variables(tf):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    saver = tf.train.Saver({"other": v})
    path = os.path.join(_dir(), "m")
    with tf.Session() as sess:
        initialize(tf, sess)
        saver.save(sess, path)
        return tf.train.list_variables(path), tf.train.load_variable(path, "other")


def reader(tf):
    v = tf.Variable([[1.0, 2.0]], name="v")
    path = os.path.join(_dir(), "m")
    with tf.Session() as sess:
        initialize(tf, sess)
        tf.train.Saver().save(sess, path)
    r = tf.train.NewCheckpointReader(path)
    return r.get_variable_to_shape_map(), r.has_tensor("v"), r.has_tensor("w"), r.get_tensor("v")


def missing_file(tf):
    tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        return caught(lambda: saver.restore(sess, os.path.join(_dir(), "nope")), "The passed save_path is not a valid checkpoint")


def missing_variable(tf):
    path = os.path.join(_dir(), "m")
    with tf.Graph().as_default():
        tf.Variable(1.0, name="v")
        saver = tf.train.Saver()
        with tf.Session() as sess:
            initialize(tf, sess)
            saver.save(sess, path)
    tf.Variable(1.0, name="w")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        return caught(lambda: saver.restore(sess, path), "Key w not found in checkpoint")


def another_shape(tf):
    path = os.path.join(_dir(), "m")
    with tf.Graph().as_default():
        tf.Variable([1.0], name="v")
        saver = tf.train.Saver()
        with tf.Session() as sess:
            initialize(tf, sess)
            saver.save(sess, path)
    tf.Variable([1.0, 2.0], name="v")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        return caught(lambda: saver.restore(sess, path))


def no_variables(tf):
    return caught(lambda: tf.train.Saver(), "No variables to save"), tf.train.Saver(allow_empty=True) is not None


def checkpoint_state(tf):
    folder = _dir()
    before = tf.train.get_checkpoint_state(folder), tf.train.latest_checkpoint(folder)
    v = tf.Variable(1.0, name="v")
    with tf.Session() as sess:
        initialize(tf, sess)
        tf.train.Saver().save(sess, os.path.join(folder, "m"), global_step=5)
    state = tf.train.get_checkpoint_state(folder)
    return before, os.path.basename(state.model_checkpoint_path), tf.train.checkpoint_exists(state.model_checkpoint_path), type(state).__name__


def meta_graph_beside_a_checkpoint(tf):
    path = os.path.join(_dir(), "m")
    with tf.Graph().as_default():
        v = tf.Variable(4.0, name="v")
        tf.multiply(v, 2.0, name="y")
        saver = tf.train.Saver()
        with tf.Session() as sess:
            initialize(tf, sess)
            saver.save(sess, path)
    saver = tf.train.import_meta_graph(path + ".meta")
    with tf.Session() as sess:
        saver.restore(sess, path)
        return sess.run("y:0")


def optimizer_state_is_saved(tf):
    v = tf.Variable(1.0, name="v")
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(v * v)
    path = os.path.join(_dir(), "m")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(train)
        saver.save(sess, path)
        sess.run(train)
        want = sess.run(v)
    with tf.Session() as sess:
        saver.restore(sess, path)
        sess.run(train)
        return sorted(n for n, _ in tf.train.list_variables(path)), bool(sess.run(v) == want)


def node_names(tf):
    tf.Variable(1.0, name="v")
    tf.train.Saver()
    return nodes(tf)


def saver_def(tf):
    tf.Variable(1.0, name="v")
    d = tf.train.Saver(max_to_keep=3).saver_def
    return d.filename_tensor_name, d.save_tensor_name, d.restore_op_name, d.max_to_keep


def graph_written_as_text(tf):
    tf.constant(1, name="c")
    folder = _dir()
    path = tf.train.write_graph(tf.get_default_graph(), folder, "g.pbtxt")
    with open(path) as f:
        text = f.read()
    binary = tf.train.write_graph(tf.get_default_graph().as_graph_def(), folder, "g.pb", as_text=False)
    d = tf.GraphDef()
    with open(binary, "rb") as f:
        d.ParseFromString(f.read())
    return 'name: "c"' in text, [n.name for n in d.node]
