"""Expressions without an engine, compared with TensorFlow 1.15's recorded results."""

import json
import sys
import types

import pytest

import expressions_golden
from millstream import compat, dtypes, errors, logging, version
from millstream.framework import graph_keys, nest, protos, shapes
from millstream.framework.devices import DeviceSpec

with open(expressions_golden.GOLDEN) as source:
    ANSWERS = json.load(source)


def namespace():
    """Returns only the names that these expressions use, so that no built engine is needed."""
    tf = types.SimpleNamespace(**{n: v for n, v in vars(dtypes).items() if isinstance(v, dtypes.DType)})
    tf.DType, tf.as_dtype, tf.dtypes, tf.QUANTIZED_DTYPES = dtypes.DType, dtypes.as_dtype, dtypes, dtypes.QUANTIZED_DTYPES
    tf.VERSION, tf.GRAPH_DEF_VERSION = version.VERSION, version.GRAPH_DEF_VERSION
    for name in ("TensorShape", "Dimension", "TensorSpec", "dimension_value", "dimension_at_index"):
        setattr(tf, name, getattr(shapes, name))
    for name in ("ConfigProto", "GraphOptions", "OptimizerOptions", "RunOptions", "RunMetadata", "GraphDef", "NodeDef", "AttrValue", "Summary", "GPUOptions"):
        setattr(tf, name, getattr(protos, name))
    tf.DeviceSpec, tf.GraphKeys, tf.version, tf.logging = DeviceSpec, graph_keys.GraphKeys, version, logging
    tf.errors, tf.nest = errors, nest
    tf.compat = compat
    tf.SparseTensorValue = __import__("collections").namedtuple("SparseTensorValue", "indices values dense_shape")
    return expressions_golden.names_for(tf, nest)


NAMES = namespace()

# Intended differences, and their reasons.
OURS = {
    # Python's own message for the same error changed after 3.7.
    "tf.errors.InvalidArgumentError(None, None)": "message",
    "tf.errors.AbortedError(None, None, \"m\", 3)": "message",
    "tf.Dimension([1])": "message",
    'tf.DeviceSpec(job="a").replace(foo=3)': "message",
    "tf.TensorShape([1])[\"a\"]": "message",
    # TensorFlow's message only says that a list is unhashable.
    "tf.float32 == [1]": "value",
    # Our message describes the error in the keys.
    'nest.flatten({1: "a", "b": 2})': "message",
    'nest.flatten([{1: "a", "b": 2}])': "message",
    # Ours is a TypeError, too: conversions tell it as one.
    "tf.resource.as_numpy_dtype": "value",
    "tf.variant.as_numpy_dtype": "value",
    # Ours also traverses `attrs` objects.
    "nest.flatten_up_to(Point(0, 0), Point([1], 2))": "value",
    "nest.assert_shallow_structure(Pair(0, 0), Pair(1, [2]))": "value",
    # Our message names the dtype.
    "tf.string.limits": "message",
    "tf.complex64.limits": "message",
    "tf.qint8.limits": "message",
    # Ours reports that an unhashable value is not a dtype.
    "tf.float32.is_compatible_with([])": "message",
    "tf.as_dtype(np.array([1.0]))": "message",
    "tf.as_dtype([])": "message",
    "tf.as_dtype({})": "message",
    # Python 3.8 and newer use `__index__`.
    "float(tf.Dimension(3))": "value",
}
if sys.version_info < (3, 10):
    # In Python 3.8 and 3.9 `list` calls `__len__` first, and a missing argument is reported without the class
    # name.
    OURS.update({"list(tf.TensorShape(None))": "message", "tf.DType()": "message"})


@pytest.mark.parametrize("topic", expressions_golden.topics())
def test_topic(topic):
    wrong = []
    for text in expressions_golden.expressions(topic):
        want, got = ANSWERS[topic][text], expressions_golden.answer(text, NAMES)
        if OURS.get(text) == "message":
            want, got = want[:2], got[:2]
        if want != got and OURS.get(text) != "value":
            wrong.append(f"{text}\n  TensorFlow {want}\n  ours       {got}")
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong)
