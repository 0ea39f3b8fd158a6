"""Summaries of tensors, by their kind: scalars, histograms, activations."""

from __future__ import annotations

import functools
import re
from typing import Any, Callable, List, Optional, Sequence

from millstream.framework import dtypes, get_collection
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op as raw
from millstream.io import summaries as summary
from millstream.ops import math_ops, reduction_ops

__all__ = [
    "summarize_activation",
    "summarize_activations",
    "summarize_biases",
    "summarize_collection",
    "summarize_tensor",
    "summarize_tensors",
    "summarize_variables",
    "summarize_weights",
]


def _scalar(tensor: Any, tag: Optional[str] = None) -> Any:
    tensor.get_shape().assert_has_rank(0)
    return summary.scalar(tag or "%s_summary" % tensor.op.name, tensor)


def summarize_activation(op: Any) -> Any:
    """Summarizes an activation: a histogram, and the fraction of inputs that `relu` or `relu6` cut off.

    Args:
      op: A tensor, the output of an activation.

    Returns:
      The summary of the histogram.

    Example:
      >>> s = tf.contrib.layers.summarize_activation(tf.nn.relu([-1.0, 1.0], name="r"))
      >>> [t.op.name for t in tf.get_collection(tf.GraphKeys.SUMMARIES)]
      ['r/zeros', 'r/activation']
    """
    name, kind = op.op.name, op.op.type

    def fraction(test: Callable[[Any, Any], Any], bound: float, called: str) -> None:
        inputs = op.op.inputs[0]
        outside = math_ops.cast(test(inputs, math_ops.cast(bound, inputs.dtype)), dtypes.float32, name="ToFloat")
        _scalar(reduction_ops.reduce_mean(outside), "%s/%s" % (name, called))

    if kind in ("Relu", "Softplus", "Relu6"):
        fraction(raw("Less"), 0.0, "zeros")
    if kind == "Relu6":
        fraction(raw("Greater"), 6.0, "sixes")
    return summary.histogram("%s/activation" % name, op)


def summarize_tensor(tensor: Any, tag: Optional[str] = None) -> Any:
    """Summarizes a tensor: the value of a scalar, a histogram of others.

    Args:
      tensor: A tensor.
      tag: The name of the summary; by default that of the tensor's operation with `_summary`.

    Returns:
      A summary; None for strings and bools.

    Example:
      >>> tf.contrib.layers.summarize_tensor(tf.constant(1.0, name="c")).op.type
      'ScalarSummary'
    """
    if tensor.dtype.base_dtype in (dtypes.string, dtypes.bool):
        return None
    if tensor.get_shape().ndims == 0:
        return _scalar(tensor, tag)
    return summary.histogram(tag or "%s_summary" % tensor.op.name, tensor)


def summarize_tensors(tensors: Sequence[Any], summarizer: Callable[[Any], Any] = summarize_tensor) -> List[Any]:
    """Summarizes several tensors.

    Args:
      tensors: A list of tensors.
      summarizer: A function from a tensor to a summary.

    Returns:
      A list of summaries.

    Example:
      >>> len(tf.contrib.layers.summarize_tensors([tf.constant(1.0), tf.constant([2.0])]))
      2
    """
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(collection: str, name_filter: Optional[str] = None, summarizer: Callable[[Any], Any] = summarize_tensor) -> List[Any]:
    """Summarizes the tensors of a collection.

    Args:
      collection: A collection.
      name_filter: A regular expression that the names of operations begin with.
      summarizer: A function from a tensor to a summary.

    Returns:
      A list of summaries.

    Example:
      >>> tf.add_to_collection("mine", tf.constant(1.0, name="c"))
      >>> tf.contrib.layers.summarize_collection("mine")[0].op.name
      'c_summary'
    """
    chosen = [t for t in get_collection(collection) if name_filter is None or re.match(name_filter, t.op.name)]
    return summarize_tensors(chosen, summarizer)


summarize_variables = functools.partial(summarize_collection, GraphKeys.GLOBAL_VARIABLES)
summarize_weights = functools.partial(summarize_collection, GraphKeys.WEIGHTS)
summarize_biases = functools.partial(summarize_collection, GraphKeys.BIASES)


def summarize_activations(name_filter: Optional[str] = None, summarizer: Callable[[Any], Any] = summarize_activation) -> List[Any]:
    """Summarizes the collection `activations`.

    Args:
      name_filter: A regular expression that the names of operations begin with.
      summarizer: A function from a tensor to a summary.

    Returns:
      A list of summaries.

    Example:
      >>> tf.contrib.layers.summarize_activations()
      []
    """
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)
