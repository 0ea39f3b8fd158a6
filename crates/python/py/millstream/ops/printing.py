"""`tf.print`: prints values of tensors at run time."""

from __future__ import annotations

import sys
from typing import Any, List

from millstream._engine import Operation, Tensor
from millstream.framework import SparseTensor, convert_to_tensor, logging, nest
from millstream.framework.op_functions import op

__all__ = ["print"]

_STREAMS = ("sys.stdout", "sys.stderr", "tf.logging.info", "tf.logging.warning", "tf.logging.error")
_LOGS = {"info": "log(info)", "warning": "log(warning)", "warn": "log(warning)", "error": "log(error)"}


class _Place:
    """A placeholder for a tensor in a structure to print."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def print(*inputs: Any, **kwargs: Any) -> Operation:  # noqa: A001
    """Returns an operation that prints tensors' values, also within structures, and Python objects.

    It prints when it runs: make other operations depend on it.

    Args:
      *inputs: The objects to print.
      output_stream: `sys.stderr` (the default), `sys.stdout`, `tf.logging.info` and its like, or
        `"file:///path"`.
      summarize: The number of elements to print at each end of a dimension; by default 3; -1 for all.
      sep: The separator; by default a space.
      end: The text to print at the end; by default a newline.
      name: A name for the operation.

    Returns:
      The `Operation`.

    Raises:
      ValueError: A keyword argument is unknown, or the stream is none of these.

    Example:
      >>> x = tf.constant([1, 2, 3])
      >>> with tf.control_dependencies([tf.print("x is", x)]):  # To the standard error: x is [1 2 3]
      ...     y = x + 1
      >>> print(tf.Session().run(y))
      [2 3 4]
    """
    stream, name = kwargs.pop("output_stream", sys.stderr), kwargs.pop("name", None)
    summarize, sep, end = kwargs.pop("summarize", 3), kwargs.pop("sep", " "), kwargs.pop("end", "\n")
    if kwargs:
        raise ValueError("Unrecognized keyword arguments for tf.print: %s" % kwargs)
    word = _stream(stream)
    if len(inputs) == 1 and _is_tensor(inputs[0]) and inputs[0].dtype == "string" and inputs[0].get_shape().ndims == 0:
        text = convert_to_tensor(inputs[0])
    else:
        tensors: List[Tensor] = []
        # A placeholder that does not occur in the arguments' text.
        sign = "{}"
        while any(sign in repr(leaf) or (isinstance(leaf, str) and sign in leaf) for leaf in nest.flatten(list(inputs)) if not _is_tensor(leaf)):
            sign = "{-" + sign.strip("{}") + "-}"
        template = sep.join(_shown(item, sign, tensors) for item in inputs)
        text = op("StringFormat")(tensors, template=template, placeholder=sign, summarize=summarize)
    return op("PrintV2")(text, output_stream=word, end=end, name=name)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


def _shown(item: Any, sign: str, tensors: List[Tensor]) -> str:
    """Returns an argument's text with a placeholder for each tensor, and appends the tensors to `tensors`."""

    def leaf(value: Any) -> Any:
        if isinstance(value, SparseTensor):
            tensors.extend([value.indices, value.values, value.dense_shape])
            return "SparseTensor(indices=%s, values=%s, shape=%s)" % (sign, sign, sign)
        if _is_tensor(value):
            tensors.append(convert_to_tensor(value))
            return _Place(sign)
        return value

    if isinstance(item, str):
        return item
    shown = nest.map_structure(leaf, item)
    if isinstance(shown, str) and not isinstance(item, SparseTensor):
        return shown
    import pprint  # Imported late: most programs do not need it.

    return pprint.pformat(shown)


def _stream(stream: Any) -> str:
    if stream is sys.stdout or stream == "stdout":
        return "stdout"
    if stream is sys.stderr or stream == "stderr":
        return "stderr"
    for word, level in _LOGS.items():
        if stream is getattr(logging, word, None):
            return level
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    raise ValueError(
        "Unsupported output stream, logging level, or file.%s. Supported streams are %s. File needs to be in the form of 'file://<filepath>'."
        % (stream, ", ".join(_STREAMS))
    )
