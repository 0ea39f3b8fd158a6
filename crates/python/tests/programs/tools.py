"""What the programs beside this file share. They run under Python 3.7 with TensorFlow 1.15 as well as with Millstream."""

from programs.raised import WHOLE, caught, mistakes  # noqa: F401 (handed on)


def run(tf, fetches, feed_dict=None):
    """The values of `fetches` in a new session whose variables are initialized."""
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(fetches, feed_dict)


def initialize(tf, sess):
    """Initializes the variables, if there are any: a graph without them stays as it is."""
    if tf.global_variables():
        sess.run(tf.global_variables_initializer())
    if tf.local_variables():
        sess.run(tf.local_variables_initializer())


def static(*tensors):
    """What is known of tensors before they are computed."""
    return [[t.dtype.name, str(t.get_shape())] for t in tensors]


def nodes(tf):
    """The default graph's operations, in the order they were made."""
    return ["%s = %s" % (op.name, op.type) for op in tf.get_default_graph().get_operations()]


def names(tf):
    """The default graph's operations, by name."""
    return sorted(nodes(tf))


def rows(array):
    """Rows in sorted order, for what comes in any order."""
    return sorted(array.tolist())


def late(tf, value, dtype=None):
    """A tensor of which nothing is known before it runs."""
    return tf.placeholder_with_default(tf.constant(value, dtype), None)
