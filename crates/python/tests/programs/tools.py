"""What the programs beside this file share. They run under Python 3.7 with TensorFlow 1.15 as well as with Millstream."""


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


def caught(function, *says):
    """What `function()` raises: the class, its code if it has one, and those of the phrases `says` that the message has."""
    try:
        value = function()
    except Exception as error:
        code = getattr(error, "error_code", None)
        record = [type(error).__name__] + ([] if code is None else [code])
        text = str(error)
        return record + [part if part in text else "NOT SAID: %s IN: %s" % (part, text) for part in says]
    return ["nothing was raised", repr(value)]


def static(*tensors):
    """What is known of tensors before they are computed."""
    return [[t.dtype.name, str(t.get_shape())] for t in tensors]


def nodes(tf):
    """The default graph's operations, in the order they were made."""
    return ["%s = %s" % (op.name, op.type) for op in tf.get_default_graph().get_operations()]


def rows(array):
    """Rows in sorted order, for what comes in any order."""
    return sorted(array.tolist())
