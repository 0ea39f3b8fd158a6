"""What the expressions beside this file may use, besides `tf`. Runs under Python 3.7 as well, since TensorFlow 1.15 needs it."""

import collections

import numpy as np

try:
    import attr

    @attr.s
    class Point:
        x = attr.ib()
        y = attr.ib()

except ImportError:  # the recorder refuses to run without it
    attr = None

AB = collections.namedtuple("AB", "a, b")
AB2 = collections.namedtuple("AB", "a, b")
AC = collections.namedtuple("AC", "a, c")
Other = collections.namedtuple("Other", "a, b")
Empty = collections.namedtuple("Empty", "")


class MyList(list):
    pass


class MyTuple(tuple):
    pass


class DerivedAB(AB):
    pass


def ordered(*pairs):
    return collections.OrderedDict(pairs)


def kind(value):
    """The type's name beside the value, for structures whose types matter."""
    return type(value).__name__, value


class Op:
    """Stands for an operation of a graph."""

    name = "add"
    traceback = [("model.py", 3, "build", "x = tf.add(a, b)")]


def changed(spec, field, value):
    """An object after one of its fields was set."""
    setattr(spec, field, value)
    return spec


def merged(spec, other):
    """A device spec after `merge_from`."""
    spec.merge_from(other)
    return spec
