"""`tf.print`: its output."""

import collections
import os
import re
import sys
import tempfile

import numpy as np

from programs.tools import caught, initialize

Pair = collections.namedtuple("Pair", "x y")


def _seen(work, stream=2):
    """Returns what `work` writes to standard error (or output), without log messages of libraries."""
    path = os.path.join(tempfile.mkdtemp(), "out.txt")
    before, kept = sys.stderr, os.dup(stream)
    with open(path, "w") as out:
        os.dup2(out.fileno(), stream)
        sys.stderr = out if stream == 2 else before
        try:
            work()
        finally:
            sys.stderr = before
            os.dup2(kept, stream)
            os.close(kept)
    with open(path) as f:
        return "".join(line for line in f if not re.match(r"\d{4}-\d\d-\d\d .*: [IWE] ", line))


def _written(tf, *make, **options):
    """Returns the output of several `tf.print` operations run in order."""
    ops = [tf.print(*m, **options) for m in make]
    with tf.Session() as sess:
        initialize(tf, sess)
        return _seen(lambda: [sess.run(op) for op in ops]), [op.type for op in ops]


def values(tf):
    c = tf.constant
    return _written(tf, [c([1, 2, 3, 4, 5, 6, 7, 8, 9])], [c([[1, 2], [3, 4]])], [c("just text")], [c(["a", "b"])], [tf.Variable(3.5)], [c(True)])


def mixed(tf):
    c = tf.constant
    return _written(tf, ["a", c(1), 2.5, [3, "x"]], ["t:", [c([1, 2]), {"k": c("s"), "j": 3}]], ["{} braces", c(1)], [(c(True), np.array([1, 2]))], [])


def structures(tf):
    return _written(tf, [Pair(tf.constant(1), tf.constant([2.5, 3.0]))], [tf.SparseTensor([[0, 1]], [5], [2, 2])], sep="|", end="END\n")


def summarized(tf):
    x = tf.constant(np.arange(20))
    return _written(tf, [x], summarize=2), _written(tf, [x], summarize=-1)


def as_a_dependency(tf):
    def body(i):
        with tf.control_dependencies([tf.print("i =", i)]):
            return i + 1

    r = tf.while_loop(lambda i: i < 3, body, [0])
    with tf.Session() as sess:
        return _seen(lambda: sess.run(r))


def streams(tf):
    """What goes to the standard output, to a file, and to the log."""
    path = os.path.join(tempfile.mkdtemp(), "printed.txt")
    x = tf.constant([1, 2])
    to_file = [tf.print("a", x, output_stream="file://" + path), tf.print("b", output_stream="file://" + path, end="")]
    to_out, to_log = tf.print("out", x, output_stream=sys.stdout), tf.print("logged", output_stream=tf.logging.warning)
    with tf.Session() as sess:
        for op in to_file * 2:
            sess.run(op)
        with open(path) as f:
            written = f.read()
        out = _seen(lambda: sess.run(to_out), 1)
        return written, out, _seen(lambda: sess.run(to_out)), _seen(lambda: sess.run(to_log), 1)


def refused(tf):
    return (
        caught(lambda: tf.print(1, output_stream="nope"), "Unsupported output stream, logging level, or file.nope. Supported streams are"),
        caught(lambda: tf.print(1, bad=1), "Unrecognized keyword arguments for tf.print: {'bad': 1}"),
    )


def switches(tf):
    return tf.executing_eagerly(), tf.compat.v1.executing_eagerly(), tf.control_flow_v2_enabled(), tf.disable_v2_behavior(), tf.disable_control_flow_v2(), tf.Dimension(3).value, tf.dimension_value(tf.Dimension(3)), tf.dimension_at_index(tf.TensorShape([2, 3]), 1)


def parts_of_variables(tf):
    out = []
    for use_resource in (False, True):
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], use_resource=use_resource)
        with tf.Session() as sess:
            initialize(tf, sess)
            out.append(sess.run(tf.scatter_nd_update(v, [[0, 1], [2, 0]], [9.0, 8.0])))
            out.append(sess.run(tf.scatter_nd_add(v, [[1]], [[1.0, 1.0]])))
            out.append(sess.run(tf.scatter_nd_sub(v, [[0], [0]], [[1.0, 0.5], [1.0, 0.5]])))
            out.append(sess.run(tf.batch_scatter_update(v, [[1], [0], [1]], [[7.0], [6.0], [5.0]])))
            out.append(sess.run(v))
    return out
