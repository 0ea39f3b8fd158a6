"""`with_space_to_batch`: a function of windows, applied to cells that are some distance apart."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple

import numpy as np

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, dtypes, get_static_value, node_counts
from millstream.framework.op_functions import op as node
from millstream.ops import array_ops, shape_ops

__all__ = ["with_space_to_batch"]


def with_space_to_batch(
    input: Any,  # noqa: A002
    dilation_rate: Any,
    padding: str,
    op: Callable[[Any, int, str], Any],
    filter_shape: Any = None,
    spatial_dims: Any = None,
    data_format: Optional[str] = None,
) -> Any:
    """Applies a function of windows to cells that are `dilation_rate` apart.

    The cells are moved into the batch, so that those of a window are neighbours, and back afterwards.

    Args:
      input: A tensor with the batch on its first axis.
      dilation_rate: The distance of the cells, a vector of ints: one for each spatial axis.
      padding: `"SAME"` or `"VALID"`.
      op: A function of the moved input, the number of spatial axes, and the padding `"VALID"`. With all rates
        1, it is called with the input and the padding as they are.
      filter_shape: The shape of the filter, its spatial sizes first; needed for `"SAME"`.
      spatial_dims: The spatial axes, in order; by default those after the batch, or after the channels.
      data_format: Channels are on axis 1 if it starts with `"NC"`.

    Returns:
      What `op` returns, with its cells moved back.

    Raises:
      ValueError: A rate is not positive, an axis is not one of the input, the padding is unknown, or the
        shape of the filter is needed and missing.

    Example:
      >>> x = tf.reshape([1.0, 2.0, 3.0, 4.0, 5.0], [1, 5, 1])
      >>> pairs = lambda x, n, padding: tf.nn.pool(x, [2], "MAX", padding)
      >>> print(tf.Session().run(tf.nn.with_space_to_batch(x, [2], "VALID", pairs)).ravel())
      [3. 4. 5.]
    """
    input = convert_to_tensor(input, name="input")  # noqa: A001
    rate = convert_to_tensor(dilation_rate, dtypes.int32, name="dilation_rate")
    n = _length(rate)
    axes = _axes(spatial_dims, n, data_format)
    rank = input.get_shape().ndims
    if rank is not None and rank < axes[-1] + 1:
        raise ValueError("input tensor must have rank %d at least" % (axes[-1] + 1))
    known = get_static_value(rate)
    if known is not None and (known < 1).any():
        raise ValueError("dilation_rate must be positive")
    if known is not None and (known == 1).all():
        return op(input, n, padding)
    if filter_shape is not None and padding == "SAME":
        filter_shape = convert_to_tensor(filter_shape, name="filter_shape")
    graph = input.graph
    start = node_counts.count(graph)
    margins = _margins(padding, filter_shape, n, rate)
    shape = input.get_shape()
    if rank is None or any(shape.as_list()[axis] is None for axis in axes):
        sizes: Any = array_ops.stack([array_ops.shape(input)[axis] for axis in axes])
    else:
        sizes = np.array([shape.as_list()[axis] for axis in axes])
    paddings, crops = _paddings(sizes, rate if known is None else known, margins)
    block, paddings, crops = _filled(axes, rate if known is None else known, paddings, crops)
    moved = node("SpaceToBatchND")(input, block_shape=block, paddings=paddings)
    made = node_counts.count(graph) - start
    result = convert_to_tensor(op(moved, n, "VALID"), name="result")
    start = node_counts.count(graph) - made
    back = node("BatchToSpaceND")(result, block_shape=block, crops=crops)
    made = node_counts.count(graph) - start
    node_counts.count_more(graph, _n_nodes(n, padding == "SAME", known is not None, isinstance(sizes, Tensor), axes[0] > 1) - made)
    return back


def nodes_of_dilation(shape: Any, rates: Sequence[int], padding: str, channels_first: bool) -> int:
    """Returns the number of nodes by which TensorFlow moves cells into the batch, and back."""
    sizes: List[Optional[int]] = [None] if shape.ndims is None else shape.as_list()[2:] if channels_first else shape.as_list()[1:-1]
    same = padding == "SAME"  # The rates are a constant, and so is the shape of the filter.
    return 1 + same + _n_nodes(len(rates), same, True, None in sizes, channels_first)


def _n_nodes(n: int, same: bool, rates_known: bool, sizes_unknown: bool, channels_first: bool) -> int:
    """Returns the number of nodes that move cells into the batch and back in TensorFlow.

    It takes constants where all is known, and else computes the paddings of each axis.
    """
    if rates_known:
        return 35 + 19 * n + 2 * channels_first if sizes_unknown else 10
    return 38 + 15 * n + (11 + 9 * n) * same + (1 + 4 * n) * sizes_unknown + 3 * channels_first


def _length(rate: Tensor) -> int:
    dims = rate.get_shape()
    if dims.ndims is None:
        raise ValueError("rate must have known rank")
    if dims.ndims != 1:
        raise ValueError("rate must be rank 1")
    if not dims.is_fully_defined():
        raise ValueError("rate must have known shape")
    return int(dims.as_list()[0])


def _axes(given: Any, n: int, data_format: Optional[str]) -> List[int]:
    """Returns the spatial axes, in order."""
    start = 2 if data_format is not None and data_format.startswith("NC") else 1
    axes = list(range(start, start + n)) if given is None else [int(axis) for axis in given]
    if axes != sorted(set(axes)) or any(axis < 1 for axis in axes):
        raise ValueError("spatial_dims must be a montonically increasing sequence of positive integers")
    if len(axes) != n:
        raise ValueError("Shapes (%d,) and [%d] are incompatible: there is one axis in spatial_dims for each dilation_rate" % (len(axes), n))
    return axes


def _margins(padding: str, filter_shape: Any, n: int, rate: Any) -> Any:
    """Returns the numbers of zeros before and after each axis that the padding asks for."""
    if padding == "VALID":
        return np.zeros([n, 2], np.int32)
    if padding != "SAME":
        raise ValueError("Invalid padding method %r" % padding)
    if filter_shape is None:
        raise ValueError("filter_shape must be specified for SAME padding")
    filter_shape = convert_to_tensor(filter_shape, name="filter_shape")
    known, steps = get_static_value(filter_shape), get_static_value(rate)
    if known is None or steps is None:
        more = (filter_shape[:n] - 1) * rate
        half = more // 2
        return array_ops.stack([half, more - half], axis=1)
    more = (known[:n] - 1) * steps
    half = more // 2
    return np.stack([half, more - half], axis=1).astype(np.int32)


def _paddings(sizes: Any, blocks: Any, margins: Any) -> Tuple[Any, Any]:
    """Returns paddings that make the sizes multiples of the blocks, and the crops that undo them."""
    if any(isinstance(value, Tensor) for value in (sizes, blocks, margins)):
        return shape_ops.required_space_to_batch_paddings(sizes, blocks, margins)
    more = -(sizes + margins.sum(1)) % blocks
    none = np.zeros_like(more)
    after = margins[:, 1] + more
    return np.stack([margins[:, 0], after], axis=1).astype(np.int32), np.stack([none, more], axis=1).astype(np.int32)


def _filled(axes: List[int], blocks: Any, paddings: Any, crops: Any) -> Tuple[Any, Any, Any]:
    """Returns blocks, paddings and crops of all axes from the second to the last of `axes`."""
    if axes == list(range(1, len(axes) + 1)):
        return blocks, paddings, crops
    places = [axes.index(axis) if axis in axes else None for axis in range(1, axes[-1] + 1)]
    found = []
    for value, other in ((blocks, 1), (paddings, [0, 0]), (crops, [0, 0])):
        rows = [other if place is None else value[place] for place in places]
        found.append(array_ops.stack(rows) if isinstance(value, Tensor) else np.array(rows, np.int32))
    return found[0], found[1], found[2]
