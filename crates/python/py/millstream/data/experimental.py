"""`tf.data.experimental`: transformations for `Dataset.apply`."""

from __future__ import annotations

from typing import Any, Callable, List, Optional

import numpy as np

from millstream.data import structure
from millstream.data.arguments import AUTOTUNE, batched, int64, seeds
from millstream.data.datasets import Dataset
from millstream.data.functions import Function
from millstream.data.interleaving import parallel_interleave
from millstream.data.iterators import _packed
from millstream.data.options import DistributeOptions, OptimizationOptions, ThreadingOptions
from millstream.data.states import scan as _scan
from millstream.framework import constant, control_dependencies, convert_to_tensor, dtypes, namespaces, shapes
from millstream.framework.constant_values import constant_value
from millstream.framework.op_functions import op
from millstream.ops.array_ops import where
from millstream.ops.check_ops import assert_less
from millstream.ops.reduction_ops import reduce_min

_Transformation = Callable[[Any], Any]


def batch_and_drop_remainder(batch_size: Any) -> _Transformation:
    """Returns a transformation to batches, without a last one that is smaller.

    Args:
      batch_size: The number of elements.

    Returns:
      A function for `Dataset.apply`.

    Example:
      >>> dataset = tf.data.Dataset.range(5).apply(tf.data.experimental.batch_and_drop_remainder(2))
      >>> dataset.output_shapes
      TensorShape([Dimension(2)])
    """
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size: Any, padded_shapes: Any, padding_values: Any = None) -> _Transformation:
    """Returns a transformation to padded batches, without a last one that is smaller.

    Args:
      batch_size: The number of elements.
      padded_shapes: See `Dataset.padded_batch`.
      padding_values: See `Dataset.padded_batch`.

    Returns:
      A function for `Dataset.apply`.

    Example:
      >>> dataset = tf.data.Dataset.range(5).map(lambda n: tf.fill([n], n))
      >>> dataset.apply(tf.data.experimental.padded_batch_and_drop_remainder(2, [None])).output_shapes.as_list()
      [2, None]
    """
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def enumerate_dataset(start: Any = 0) -> _Transformation:
    """Returns the transformation `Dataset.enumerate`.

    Args:
      start: The number of the first element.

    Returns:
      A function for `Dataset.apply`.

    Example:
      >>> tf.data.Dataset.from_tensors(1.0).apply(tf.data.experimental.enumerate_dataset()).output_types
      (tf.int64, tf.float32)
    """
    return lambda dataset: dataset.enumerate(start)


def unbatch() -> _Transformation:
    """Returns a transformation to the slices of elements along their first axis.

    Returns:
      A function for `Dataset.apply`.

    Example:
      >>> dataset = tf.data.Dataset.from_tensors([1, 2]).apply(tf.data.experimental.unbatch())
      >>> x = dataset.make_one_shot_iterator().get_next()
      >>> with tf.Session() as sess:
      ...     print(sess.run(x), sess.run(x))
      1 2
    """
    return lambda dataset: dataset.unbatch()


def ignore_errors() -> _Transformation:
    """Returns a transformation that leaves out the elements whose making fails.

    Returns:
      A function for `Dataset.apply`.

    Example:
      >>> dataset = tf.data.Dataset.from_tensor_slices([1.0, 0.0, 4.0])
      >>> dataset = dataset.map(lambda x: tf.check_numerics(1.0 / x, "none"))
      >>> dataset = dataset.apply(tf.data.experimental.ignore_errors()).batch(9)
      >>> print(tf.Session().run(dataset.make_one_shot_iterator().get_next()))
      [1.   0.25]
    """
    return lambda dataset: dataset._same("IgnoreErrorsDataset")


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> _Transformation:
    """Returns a transformation to shuffled repetitions, whose buffer spans them.

    Args:
      buffer_size: The number of elements of the buffer.
      count: How often; None or -1 for ever.
      seed: The seed of the order.

    Returns:
      A function for `Dataset.apply`.

    Example:
      >>> dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.shuffle_and_repeat(3, 2, seed=1)).batch(9)
      >>> sorted(tf.Session().run(dataset.make_one_shot_iterator().get_next()).tolist())
      [0, 0, 1, 1, 2, 2]
    """

    def apply(dataset: Any) -> Any:
        size = int64(buffer_size, "buffer_size")
        first, second = seeds(seed)
        return dataset._same("ShuffleAndRepeatDataset", size, first, second, int64(-1 if count is None else count, "count"))

    return apply


def map_and_batch(
    map_func: Callable[..., Any], batch_size: Any, num_parallel_batches: Any = None, drop_remainder: Any = False, num_parallel_calls: Any = None
) -> _Transformation:
    """Returns a transformation to batches of what a function returns for each element.

    Args:
      map_func: A function of the components of an element.
      batch_size: The number of elements.
      num_parallel_batches: Ignored but checked: the result is the same for any number.
      drop_remainder: Whether a last batch that is smaller is left out.
      num_parallel_calls: Ignored but checked.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: Both numbers of calls are given.

    Example:
      >>> dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.map_and_batch(lambda x: x + 1, 2))
      >>> print(tf.Session().run(dataset.make_one_shot_iterator().get_next()))
      [1 2]
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError("The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive.")
    calls = num_parallel_calls
    if calls is None:
        calls = batch_size if num_parallel_batches is None else batch_size * num_parallel_batches

    def apply(dataset: Any) -> Any:
        f = Function(map_func, "tf_data_experimental_map_and_batch", dataset.element_spec)
        inputs = int64(batch_size, "batch_size"), int64(calls, "num_parallel_calls")
        drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        known = constant_value(inputs[0]) if constant_value(drop) else None
        element_spec = structure.transform(lambda s: batched(s, known), f.output_spec)
        return dataset._to("MapAndBatchDataset", element_spec, f.captured, *inputs, drop, f=f.name, preserve_cardinality=True)

    return apply


def map_and_batch_with_legacy_function(
    map_func: Callable[..., Any], batch_size: Any, num_parallel_batches: Any = None, drop_remainder: Any = False, num_parallel_calls: Any = None
) -> _Transformation:
    """Returns `map_and_batch` with the same arguments, under TensorFlow's earlier name.

    Example:
      >>> increase = tf.data.experimental.map_and_batch_with_legacy_function(lambda x: x + 1, 2)
      >>> tf.data.Dataset.range(4).apply(increase).output_shapes.as_list()
      [None]
    """
    return map_and_batch(map_func, batch_size, num_parallel_batches, drop_remainder, num_parallel_calls)


def sloppy_interleave(map_func: Callable[..., Any], cycle_length: Any, block_length: Any = 1) -> _Transformation:
    """Returns `parallel_interleave` with the same arguments and `sloppy`, under TensorFlow's earlier name.

    Example:
      >>> both = tf.data.experimental.sloppy_interleave(tf.data.Dataset.from_tensors, 2)
      >>> tf.data.Dataset.range(4).apply(both).output_types
      tf.int64
    """
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> _Transformation:
    """Returns a transformation to what a function returns that carries a state from element to element.

    Args:
      initial_state: The state before the first element.
      scan_func: A function of a state and an element that returns the next state and a result.

    Returns:
      A function for `Dataset.apply`.

    Example:
      >>> sums = tf.data.experimental.scan(np.int64(0), lambda s, x: (s + x, s + x))
      >>> print(tf.Session().run(tf.data.Dataset.range(5).apply(sums).batch(9).make_one_shot_iterator().get_next()))
      [ 0  1  3  6 10]
    """
    return lambda dataset: _scan(dataset, initial_state, scan_func)


def group_by_window(
    key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: Any = None, window_size_func: Optional[Callable[..., Any]] = None
) -> _Transformation:
    """Returns a transformation that handles elements of one key together.

    Args:
      key_func: A function of the components of an element that returns its key, an int64.
      reduce_func: A function of a key and a dataset of elements with that key that returns a `Dataset`.
      window_size: The number of elements of a key that are handled at a time.
      window_size_func: A function of a key that returns that number, instead.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: None or both of `window_size` and `window_size_func` are given.

    Example:
      >>> by_parity = tf.data.experimental.group_by_window(lambda x: x % 2, lambda key, group: group.batch(3), 3)
      >>> x = tf.data.Dataset.range(6).apply(by_parity).make_one_shot_iterator().get_next()
      >>> with tf.Session() as sess:
      ...     print(sess.run(x), sess.run(x))
      [0 2 4] [1 3 5]
    """
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Must pass either window_size or window_size_func.")
    size_func: Any = window_size_func if window_size_func is not None else (lambda _: window_size)

    def key_wrapper(*element: Any) -> Any:
        return _scalar(key_func(*element), "key_func")

    def size_wrapper(key: Any) -> Any:
        return _scalar(size_func(key), "window_size_func")

    def apply(dataset: Any) -> Any:
        label = "tf_data_experimental_group_by_window"
        key = Function(key_wrapper, label, dataset.element_spec)
        size = Function(size_wrapper, label, shapes.TensorSpec([], dtypes.int64))
        group = (shapes.TensorSpec([], dtypes.int64), structure.DatasetSpec(dataset.element_spec))
        reduced = Function(reduce_func, label, group, returns=_reduced)
        functions = {"key_func": key.name, "reduce_func": reduced.name, "window_size_func": size.name}
        captured = key.captured, reduced.captured, size.captured
        return dataset._to("GroupByWindowDataset", reduced.output.element_spec, *captured, **functions)

    return apply


def _reduced(value: Any) -> Any:
    if not isinstance(value, Dataset):
        raise TypeError("`reduce_func` must return a `Dataset` object.")
    return value


def _scalar(value: Any, what: str) -> Any:
    tensor = convert_to_tensor(value, dtype=dtypes.int64)
    if tensor.dtype != dtypes.int64 or not tensor.shape.is_compatible_with([]):
        raise ValueError("`%s` must return a single tf.int64 tensor. Got type=%s and shape=%s" % (what, tensor.dtype, tensor.shape))
    return tensor


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: List[int],
    bucket_batch_sizes: List[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> _Transformation:
    """Returns a transformation to batches of elements of similar length.

    Args:
      element_length_func: A function of the components of an element that returns its length, an int32.
      bucket_boundaries: The upper bounds of the lengths in all buckets but the last, ascending.
      bucket_batch_sizes: The batch size of each bucket, one more than there are boundaries.
      padded_shapes: See `Dataset.padded_batch`; None is the shapes of elements.
      padding_values: See `Dataset.padded_batch`.
      pad_to_bucket_boundary: Whether unknown sizes are padded to the bucket's bound minus 1.
      no_padding: Whether elements are not padded.
      drop_remainder: Whether batches that are smaller are left out.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: The number of batch sizes is wrong.

    Example:
      >>> dataset = tf.data.Dataset.range(1, 5).map(lambda n: tf.fill([n], n))
      >>> buckets = tf.data.experimental.bucket_by_sequence_length(tf.size, [3], [2, 2])
      >>> x = dataset.apply(buckets).make_one_shot_iterator().get_next()
      >>> print(tf.Session().run(x))
      [[1 0]
       [2 2]]
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError("len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1")
    sizes = constant(bucket_batch_sizes, dtypes.int64)

    def to_bucket(*element: Any) -> Any:
        length = element_length_func(*element)
        bounds = list(bucket_boundaries)
        low = constant([np.iinfo(np.int32).min] + bounds, dtypes.int32)
        high = constant(bounds + [np.iinfo(np.int32).max], dtypes.int32)
        inside = op("LogicalAnd")(op("LessEqual")(low, length), op("Less")(length, high))
        return reduce_min(where(inside))

    def size_of(bucket: Any) -> Any:
        return sizes[bucket]

    def shapes_for(spec: Any, filler: Any) -> Any:
        made = []
        for shape in structure.flatten_up_to(spec, padded_shapes if padded_shapes is not None else structure.shapes_of(spec)):
            dims = shapes.as_shape(shape).as_list()
            made.append([filler if d is None else d for d in dims])
        if filler is None:
            return structure.pack(spec, [shapes.TensorShape(dims) for dims in made])
        return structure.pack(spec, [convert_to_tensor([int64(d, "d") for d in dims], dtype=dtypes.int64) if dims else shapes.TensorShape([]) for dims in made])

    def to_batch(bucket: Any, group: Any) -> Any:
        size = size_of(bucket)
        if no_padding:
            return group.batch(size, drop_remainder=drop_remainder)
        filler = None
        if pad_to_bucket_boundary:
            message = "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
            check = assert_less(bucket, constant(len(bucket_batch_sizes) - 1, dtypes.int64), message=message)
            with control_dependencies([check]):
                filler = constant(bucket_boundaries, dtypes.int64)[bucket] - 1
        return group.padded_batch(size, shapes_for(group.element_spec, filler), padding_values, drop_remainder=drop_remainder)

    def apply(dataset: Any) -> Any:
        return dataset.apply(group_by_window(to_bucket, to_batch, window_size_func=size_of))

    return apply


def get_single_element(dataset: Any) -> Any:
    """Returns the only element of a dataset, as a structure of tensors.

    Args:
      dataset: A `Dataset`.

    Returns:
      A structure of tensors.

    Raises:
      TypeError: `dataset` is something else.
      tf.errors.InvalidArgumentError: When run: there is no element, or another.

    Example:
      >>> print(tf.Session().run(tf.data.experimental.get_single_element(tf.data.Dataset.range(3).batch(9))))
      [0 1 2]
    """
    if not isinstance(dataset, Dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    return _packed(dataset.element_spec, op("DatasetToSingleElement")(dataset._variant_tensor, **dataset._flat()))


class RandomDataset(Dataset):
    """A dataset of random int64 numbers from 0 to 2^32 - 1, without end.

    Args:
      seed: The seed of the numbers, together with that of the graph.

    Example:
      >>> x = tf.data.experimental.RandomDataset(seed=3).make_one_shot_iterator().get_next()
      >>> print(tf.Session().run(x))
      3534849767
    """

    def __init__(self, seed: Any = None) -> None:
        first, second = seeds(seed)
        element_spec = shapes.TensorSpec([], dtypes.int64)
        super().__init__(op("RandomDataset")(first, second, output_types=[dtypes.int64], output_shapes=[[]]), element_spec)


def Counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64) -> Any:  # noqa: N802
    """Returns a dataset of numbers from `start` by `step`, without end.

    Args:
      start: The first number.
      step: The difference of numbers.
      dtype: The dtype of the numbers.

    Returns:
      A `Dataset`.

    Example:
      >>> x = tf.data.experimental.Counter(5, 2).take(3).batch(9).make_one_shot_iterator().get_next()
      >>> print(tf.Session().run(x))
      [5 7 9]
    """
    first, by = convert_to_tensor(start, dtype=dtype, name="start"), convert_to_tensor(step, dtype=dtype, name="step")
    return Dataset.from_tensors(0).repeat(None).apply(scan(first, lambda state, _: (state + by, state)))


__all__ = [
    "AUTOTUNE",
    "Counter",
    "DistributeOptions",
    "OptimizationOptions",
    "RandomDataset",
    "ThreadingOptions",
    "batch_and_drop_remainder",
    "bucket_by_sequence_length",
    "enumerate_dataset",
    "get_single_element",
    "group_by_window",
    "ignore_errors",
    "map_and_batch",
    "map_and_batch_with_legacy_function",
    "padded_batch_and_drop_remainder",
    "parallel_interleave",
    "scan",
    "shuffle_and_repeat",
    "sloppy_interleave",
    "unbatch",
]

__dir__ = namespaces.dir_of(globals())
