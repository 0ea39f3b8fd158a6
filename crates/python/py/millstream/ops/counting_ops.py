"""Sorting, searching and counting: `sort`, `searchsorted`, `bincount`, histograms."""

from __future__ import annotations

from typing import Any, Optional

from millstream._engine import Tensor
from millstream.framework import SparseTensor, constant_value, convert_to_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.ops import array_ops, clip_ops, math_ops, reduction_ops, sparse_ops
from millstream.ops import weights as broadcasting
from millstream.ops.check_ops import assert_less, assert_non_negative
from millstream.ops.control_flow import with_dependencies

__all__ = [
    "argsort",
    "bincount",
    "confusion_matrix",
    "histogram_fixed_width",
    "histogram_fixed_width_bins",
    "searchsorted",
    "sort",
]


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: Optional[str] = None) -> Tensor:
    """Sorts values along an axis.

    Args:
      values: A tensor of numbers.
      axis: An int: the axis to sort along.
      direction: `"ASCENDING"` or `"DESCENDING"`.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(*tf.Session().run([tf.sort([30, 10, 20]), tf.sort([30, 10, 20], direction="DESCENDING")]))
      [10 20 30] [30 20 10]
    """
    with name_scope(name, "sort"):
        return _sorted(values, axis, direction, places=False)


def argsort(values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: Optional[str] = None) -> Tensor:
    """Returns the indices that sort values along an axis; the sort is stable.

    Args:
      values: A tensor of numbers.
      axis: An int: the axis to sort along.
      direction: `"ASCENDING"` or `"DESCENDING"`.
      stable: Ignored: the sort is always stable.
      name: The name scope of the new operations.

    Returns:
      An `int32` tensor of the same shape.

    Example:
      >>> print(tf.Session().run(tf.argsort([30, 10, 20])))
      [1 2 0]
    """
    del stable
    with name_scope(name, "argsort"):
        return _sorted(values, axis, direction, places=True)


def _sorted(values: Any, axis: Any, direction: str, places: bool) -> Tensor:
    """Returns the sorted values, or the places where they were."""
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError("Unknown direction: %s; it must be ASCENDING or DESCENDING" % direction)
    known = constant_value(convert_to_tensor(axis, name="axis"))
    values = convert_to_tensor(values, name="values")
    rank = values.shape.ndims
    if known is None or rank is None and int(known) != -1:
        raise ValueError("`axis` and the rank of the values must be known")
    axis = int(known)
    if rank is not None and not -rank <= axis < rank:
        raise ValueError("`axis` is %d, but the values have rank %d" % (axis, rank))
    # The op returns the largest values first.
    turned = direction == "ASCENDING"
    if turned:
        values = _reversed_order(values)
    count = array_ops.shape(values)[axis]
    array_ops.rank(values)  # As in TensorFlow, so that the seeds of later random operations are the same.
    transposition = None
    if rank is not None and axis % rank != rank - 1:
        axis %= rank
        order = [rank - 1 if at == axis else axis if at == rank - 1 else at for at in range(rank)]
        transposition = convert_to_tensor(order, name="transposition")
        values = array_ops.transpose(values, transposition)
    found = op("TopKV2")(values, count)[int(places)]
    if transposition is not None:
        found = array_ops.transpose(found, transposition)
    return _reversed_order(found) if turned and not places else found


def _reversed_order(values: Tensor) -> Tensor:
    """Maps values so that their order is reversed; it is its own inverse.

    Integers are complemented, since the smallest has no negative.
    """
    if values.dtype.is_unsigned:
        return values.dtype.max - values
    return -1 - values if values.dtype.is_integer else -values


def searchsorted(sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = dtypes.int32, name: Optional[str] = None) -> Tensor:
    """Returns the indices at which to insert values so that rows stay sorted.

    Args:
      sorted_sequence: A tensor of numbers with sorted rows.
      values: A tensor with the same number of rows.
      side: `"left"` (before equal elements) or `"right"` (after them).
      out_type: `tf.int32` or `tf.int64`.
      name: The name scope of the new operations.

    Returns:
      A tensor of `out_type`, of the shape of `values`.

    Raises:
      ValueError: `side` is invalid.

    Example:
      >>> print(tf.Session().run(tf.searchsorted([1, 3, 5], [0, 3, 9])))
      [0 1 3]
    """
    if side not in ("left", "right"):
        raise ValueError("side must be either 'right' or 'left'.  Saw: %s." % side)
    sequence, values = convert_to_tensor(sorted_sequence), convert_to_tensor(values)
    rows = array_ops.reshape(sequence, array_ops.stack([convert_to_tensor(-1), array_ops.shape(sequence)[-1]]))
    found = array_ops.reshape(values, array_ops.stack([convert_to_tensor(-1), array_ops.shape(values)[-1]]))
    places = op("UpperBound" if side == "right" else "LowerBound")(rows, found, out_type=out_type, name=name)
    return array_ops.reshape(places, array_ops.shape(values))


def bincount(
    arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = dtypes.int32, name: Optional[str] = None
) -> Tensor:
    """Counts the occurrences of each integer from 0; with weights, sums their weights.

    Args:
      arr: An `int32` tensor of nonnegative integers.
      weights: A tensor of the same shape. The result has a gradient with respect to it.
      minlength: The minimum length of the result.
      maxlength: The maximum length of the result. Larger integers are ignored; with `weights` they are an
        `InvalidArgumentError` of the run, as in TensorFlow.
      dtype: The `DType` of the result if `weights` is None.
      name: Ignored.

    Returns:
      A vector.

    Example:
      >>> print(tf.Session().run(tf.bincount([1, 3, 1])))
      [0 2 0 1]
    """
    with name_scope(name, "bincount"):
        arr = convert_to_tensor(arr, dtypes.int32)
        is_there = reduction_ops.reduce_prod(array_ops.shape(arr)) > 0
        size = math_ops.cast(is_there, dtypes.int32) * (reduction_ops.reduce_max(arr) + 1)
        if minlength is not None:
            size = op("Maximum")(convert_to_tensor(minlength, dtypes.int32, name="minlength"), size)
        if maxlength is not None:
            size = op("Minimum")(convert_to_tensor(maxlength, dtypes.int32, name="maxlength"), size)
        if weights is not None:
            return op("UnsortedSegmentSum")(convert_to_tensor(weights, name="weights"), arr, size)
        return op("Bincount")(arr, size, convert_to_tensor([], dtype))


def confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any = None, dtype: Any = dtypes.int32, name: Optional[str] = None, weights: Any = None
) -> Tensor:
    """Returns the confusion matrix: rows are labels, columns are predictions.

    Args:
      labels: An integer vector.
      predictions: An integer vector of the same length.
      num_classes: An int: the number of classes. Defaults to one more than the largest class.
      dtype: The dtype of the result.
      name: The name scope of the new operations.
      weights: A vector: the weight of each prediction.

    Returns:
      A matrix of shape `[num_classes, num_classes]`.

    Example:
      >>> print(tf.Session().run(tf.confusion_matrix([0, 1, 1], [0, 1, 0])))
      [[1 0]
       [1 1]]
    """
    with name_scope(name, "confusion_matrix"):
        labels, predictions = broadcasting.squeeze_pair(labels, predictions)
        predictions, labels = math_ops.cast(predictions, dtypes.int64), math_ops.cast(labels, dtypes.int64)
        labels = with_dependencies([assert_non_negative(labels, message="`labels` contains negative values")], labels)
        predictions = with_dependencies([assert_non_negative(predictions, message="`predictions` contains negative values")], predictions)
        if num_classes is None:
            num_classes = op("Maximum")(reduction_ops.reduce_max(predictions), reduction_ops.reduce_max(labels)) + 1
        else:
            n = math_ops.cast(num_classes, dtypes.int64)
            labels = with_dependencies([assert_less(labels, n, message="`labels` out of bound")], labels)
            predictions = with_dependencies([assert_less(predictions, n, message="`predictions` out of bound")], predictions)
        if weights is not None:
            weights = convert_to_tensor(weights)
            predictions.get_shape().assert_is_compatible_with(weights.get_shape())
            weights = math_ops.cast(weights, dtype)
        shape = array_ops.stack([num_classes, num_classes])
        places = array_ops.stack([labels, predictions], axis=1)
        ones = array_ops.ones_like(predictions, dtype) if weights is None else weights
        entries = SparseTensor(places, ones, math_ops.cast(shape, dtypes.int64))
        return sparse_ops.sparse_add(array_ops.zeros(math_ops.cast(shape, dtypes.int32), dtype), entries)


def histogram_fixed_width_bins(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32, name: Optional[str] = None) -> Tensor:
    """Returns the index of the histogram bin of each value.

    Values outside the range are in the first or last bin.

    Args:
      values: A tensor of numbers.
      value_range: A vector of length 2: the lower and upper limit.
      nbins: An int: the number of bins of equal width.
      dtype: `tf.int32` or `tf.int64`.
      name: The name scope of the new operations.

    Returns:
      A tensor of `dtype`, of the shape of `values`.

    Example:
      >>> print(tf.Session().run(tf.histogram_fixed_width_bins([0.0, 1.2, 9.0], [0.0, 5.0], nbins=5)))
      [0 1 4]
    """
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        low_high = convert_to_tensor(value_range, values.dtype, "value_range")
        n = math_ops.cast(convert_to_tensor(nbins, dtypes.int32), values.dtype)
        scaled = op("FloorDiv")((values - low_high[0]) * n, low_high[1] - low_high[0]) if values.dtype.is_integer else op("Floor")((values - low_high[0]) / (low_high[1] - low_high[0]) * n)
        return math_ops.cast(clip_ops.clip_by_value(scaled, convert_to_tensor(0, values.dtype), n - 1), dtype)


def histogram_fixed_width(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32, name: Optional[str] = None) -> Tensor:
    """Returns a histogram of values with bins of equal width.

    Args:
      values: A tensor of numbers.
      value_range: A vector of length 2: the lower and upper limit. Values outside are in the first or last
        bin.
      nbins: An int: the number of bins.
      dtype: `tf.int32` or `tf.int64`.
      name: A name for the operation.

    Returns:
      A vector of length `nbins`.

    Example:
      >>> print(tf.Session().run(tf.histogram_fixed_width([0.0, 1.2, 1.4, 9.0], [0.0, 5.0], nbins=5)))
      [1 2 0 0 1]
    """
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as name:
        return op("HistogramFixedWidth")(values, value_range, nbins, dtype, name=name)
