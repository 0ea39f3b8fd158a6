"""The number of float operations of an operation, as TensorFlow's profiler counts them."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Optional

_Count = Callable[[Any], int]


class _Unknown(Exception):
    """A shape is not known."""


def _size(tensor: Any) -> int:
    n = tensor.get_shape().num_elements()
    if n is None:
        raise _Unknown
    return int(n)


def _dims(tensor: Any) -> Any:
    if not tensor.get_shape().is_fully_defined():
        raise _Unknown
    return tensor.get_shape().as_list()


def _each_input(n: int, less: int = 0) -> _Count:
    return lambda op: n * _size(op.inputs[0]) - less


def _each_output(n: int) -> _Count:
    return lambda op: n * _size(op.outputs[0])


def _reduction(each: int, last: int) -> _Count:
    return lambda op: each * _size(op.inputs[0]) + (last - each) * _size(op.outputs[0])


def _product(op: Any) -> int:
    rows, columns = _dims(op.inputs[0])
    return 2 * _size(op.outputs[0]) * int(rows if op.get_attr("transpose_a") else columns)


def _convolution(op: Any) -> int:
    height, width, depth, _ = _dims(op.inputs[1])
    return 2 * _size(op.outputs[0]) * int(height * width * depth)


def _depthwise(op: Any) -> int:
    height, width, _, _ = _dims(op.inputs[1])
    return 2 * _size(op.outputs[0]) * int(height * width)


def _convolution_of_gradients(op: Any) -> int:
    height, width, depth, _ = _dims(op.inputs[1]) if op.type == "Conv2DBackpropInput" else _dims(op.outputs[0])
    return 2 * _size(op.inputs[2]) * int(height * width * depth)


def _pool(op: Any) -> int:
    return math.prod(op.get_attr("ksize")) * _size(op.outputs[0])


_BINARY = "Add Sub Mul RealDiv Maximum Minimum Pow GreaterEqual Greater LessEqual Less Equal NotEqual".split()
_COUNTS: Dict[str, _Count] = {
    **{kind: _each_output(1) for kind in _BINARY},
    **{kind: _each_input(1) for kind in ("Reciprocal", "Square", "Log", "Neg", "AssignSub", "AssignAdd", "BiasAdd")},
    "AddN": lambda op: (len(op.inputs) - 1) * _size(op.outputs[0]),
    "ArgMax": _reduction(1, 0),
    "ArgMin": _reduction(1, 0),
    "AvgPool": _pool,
    "BiasAddGrad": _reduction(1, 0),
    "Conv2D": _convolution,
    "Conv2DBackpropFilter": _convolution_of_gradients,
    "Conv2DBackpropInput": _convolution_of_gradients,
    "DepthwiseConv2dNative": _depthwise,
    "L2Loss": _each_input(3, 1),
    "MatMul": _product,
    "MaxPool": _pool,
    "Mean": _reduction(1, 1),
    "Rsqrt": _each_input(2),
    "RsqrtGrad": _each_output(4),
    "Softmax": _each_input(5),
    "SquaredDifference": _each_output(2),
    "Sum": _reduction(1, 0),
}


def of_operation(op: Any) -> Optional[int]:
    """Returns the number of float operations; None for a kind that is not counted or an unknown shape."""
    count = _COUNTS.get(op.type)
    try:
        return None if count is None else count(op)
    except _Unknown:
        return None
