"""What the programs beside this file share. They run under Python 3.7 with TensorFlow 1.15 as well as with Millstream."""

import re


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
        # Without where the operation was made: the line of the program says the phrases, too.
        text = str(error).split("\n\nOriginal stack trace")[0]
        return record + [part if part in text else "NOT SAID: %s IN: %s" % (part, text) for part in says]
    return ["nothing was raised", repr(value)]


class Told:
    """What an error says: its class, its code and the first line of its message, which is to be part of ours."""

    def __init__(self, kind, code, text):
        self.kind, self.code, self.text = kind, code, text


def told(function):
    """What `function()` raises, with its message up to where it speaks of nodes, files and addresses."""
    try:
        value = function()
    except Exception as error:
        text = error.args[0] if isinstance(error, KeyError) and error.args else getattr(error, "message", None) or str(error)
        text = re.split(r"\s*\[\[|\n| \(defined at| at 0x|0x[0-9a-f]{6,}|(?<![\w:])/\w+/|\w+\.py", str(text))[0]
        return Told(type(error).__name__, getattr(error, "error_code", None), text)
    return ["nothing was raised", repr(value)]


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


def said(function):
    """As `told`, but without the modules of classes, and "fine" if nothing is raised."""
    answer = told(function)
    if not isinstance(answer, Told):
        return "fine"
    answer.text = re.sub(r"<class '([A-Za-z_0-9.<>]*\.)?([A-Za-z_0-9]+)'>", r"<class '\2'>", answer.text)
    return answer
