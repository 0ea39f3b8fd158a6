"""Helpers of the programs, which run under Python 3.7 with TensorFlow 1.15 and with Millstream."""

import importlib
import sys

from programs.raised import WHOLE, caught, mistakes  # noqa: F401 (handed on)


def run(tf, fetches, feed_dict=None):
    """Returns the values of `fetches` in a new session with initialized variables."""
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(fetches, feed_dict)


def initialize(tf, sess):
    """Initializes the variables; adds no nodes to a graph without variables."""
    if tf.global_variables():
        sess.run(tf.global_variables_initializer())
    if tf.local_variables():
        sess.run(tf.local_variables_initializer())


def static(*tensors):
    """Returns the static dtypes and shapes of tensors."""
    return [[t.dtype.name, str(t.get_shape())] for t in tensors]


def nodes(tf):
    """Returns the operations of the default graph in order of creation."""
    return ["%s = %s" % (op.name, op.type) for op in tf.get_default_graph().get_operations()]


def names(tf):
    """Returns the names of the operations of the default graph."""
    return sorted(nodes(tf))


def rows(array):
    """Returns rows in sorted order, for results in any order."""
    return sorted(array.tolist())


def late(tf, value, dtype=None):
    """Returns a tensor with unknown static value and shape."""
    return tf.placeholder_with_default(tf.constant(value, dtype), None)


def inside(path):
    """Returns an internal module, of TensorFlow or Millstream: `inside("python.ops.math_ops")`."""
    if "millstream" not in sys.modules:
        return importlib.import_module("tensorflow." + path)
    return importlib.import_module("millstream.programs.hook")._Module("tensorflow." + path)
