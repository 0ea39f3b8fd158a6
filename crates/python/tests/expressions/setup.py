"""Definitions for the expressions in this directory; it also runs under Python 3.7 for TensorFlow 1.15."""

import collections
import collections.abc
import copy
import logging as logging_
import pathlib
import pickle
import types as types_
import typing

import numpy as np

try:
    import attr

    @attr.s
    class Point:
        x = attr.ib()
        y = attr.ib()

    @attr.s
    class Pair:
        second = attr.ib()
        first = attr.ib()

    @attr.s
    class Single:
        only = attr.ib()

    @attr.s(frozen=True)
    class Frozen:
        a = attr.ib()
        b = attr.ib(default=0)

except ImportError:  # the recorder refuses to run without it
    attr = None

AB = collections.namedtuple("AB", "a, b")
AB2 = collections.namedtuple("AB", "a, b")
AC = collections.namedtuple("AC", "a, c")
Other = collections.namedtuple("Other", "a, b")
Empty = collections.namedtuple("Empty", "")


class Typed(typing.NamedTuple):
    a: int
    b: list


class OnlyMapping(collections.abc.Mapping):
    """A mapping that is no dict."""

    def __init__(self, *pairs, **items):
        self._items = dict(*pairs, **items)

    def __getitem__(self, key):
        return self._items[key]

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)

    def __repr__(self):
        return "OnlyMapping(%r)" % sorted(self._items.items())


class OnlySequence(collections.abc.Sequence):
    """A sequence that is no list."""

    def __init__(self, items):
        self._items = list(items)

    def __getitem__(self, index):
        return self._items[index]

    def __len__(self):
        return len(self._items)

    def __repr__(self):
        return "OnlySequence(%r)" % self._items


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
    # Pythons differ in how they show an OrderedDict.
    return type(value).__name__, list(value.items()) if isinstance(value, collections.OrderedDict) else value


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


def pickled(value):
    """A value written and read again."""
    return pickle.loads(pickle.dumps(value))


def copied(value):
    """A deep copy."""
    return copy.deepcopy(value)


def within(block, work):
    """What `work()` gives inside a `with` block."""
    with block:
        return work()


def a_pair(a, b):
    """What two values were, taken apart."""
    return int(a), int(b)


class _Kept(logging_.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append((record.levelname, record.getMessage()))


def logged(log, work):
    """What `work(log)` gives, and what is logged meanwhile. The level is as it was afterwards."""
    kept = _Kept()
    before = log.get_verbosity()
    log.set_verbosity(log.INFO)
    # The module that TensorFlow shows is not named after its logger.
    for name in ("tensorflow", "millstream"):
        logging_.getLogger(name).addHandler(kept)
    try:
        result = work(log)
    finally:
        for name in ("tensorflow", "millstream"):
            logging_.getLogger(name).removeHandler(kept)
        log.set_verbosity(before)
    return result, kept.lines
