"""`tf.data.experimental`: transformations for `Dataset.apply`."""

from __future__ import annotations

import typing
from typing import Any, Callable, List

import numpy as np

from millstream.data import structure as _structure
from millstream.data.arguments import AUTOTUNE, batched, int64, seeds
from millstream.data.datasets import Dataset
from millstream.data.functions import Function
from millstream.data.interleaving import parallel_interleave
from millstream.data.iterators import _packed
from millstream.data.csv_files import CsvDataset, make_csv_dataset
from millstream.data.example_files import make_batched_features_dataset, parse_example_dataset
from millstream.data.optional import Optional, OptionalSpec, get_next_as_optional
from millstream.data.options import DistributeOptions, MapVectorizationOptions, OptimizationOptions, StatsOptions, ThreadingOptions
from millstream.data.rejection import rejection_resample
from millstream.data.selections import cardinality, choose_from_datasets, sample_from_datasets, take_while, unique
from millstream.data.shuffling import shuffle_and_repeat as _shuffle_and_repeat
from millstream.data.states import scan as _scan
from millstream.framework import SparseTensor, constant, control_dependencies, convert_to_tensor, dtypes, namespaces, shapes
from millstream.framework.constant_values import constant_value
from millstream.framework.op_functions import op
from millstream.framework.type_specs import SparseTensorSpec
from millstream.ops.array_ops import where
from millstream.ops.check_ops import assert_less, assert_less_equal
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

    return lambda dataset: _shuffle_and_repeat(dataset, buffer_size, count, seed)


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
        element_spec = _structure.transform(lambda s: batched(s, known), f.output_spec)
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
    key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: Any = None, window_size_func: typing.Optional[Callable[..., Any]] = None
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
        group = (shapes.TensorSpec([], dtypes.int64), _structure.DatasetSpec(dataset.element_spec))
        reduced = Function(reduce_func, label, group, returns=_reduced)
        functions = {"key_func": key.name, "reduce_func": reduced.name, "window_size_func": size.name}
        captured = key.captured, reduced.captured, size.captured
        return dataset._to("GroupByWindowDataset", reduced.output.element_spec, *captured, **functions)

    return apply


class Reducer:
    """The functions of `group_by_reducer`: for the first state, each next state and the result.

    Args:
      init_func: A function of a key, a scalar int64, that returns a state.
      reduce_func: A function of a state and an element that returns the next state.
      finalize_func: A function of a state that returns the result.

    Example:
      >>> total = tf.data.experimental.Reducer(lambda key: np.int64(0), lambda s, x: s + x, lambda s: s)
      >>> int(total.init_func(3)), total.reduce_func(3, 4), total.finalize_func(7)
      (0, 7, 7)
    """

    def __init__(self, init_func: Callable[..., Any], reduce_func: Callable[..., Any], finalize_func: Callable[..., Any]) -> None:
        self._init_func, self._reduce_func, self._finalize_func = init_func, reduce_func, finalize_func

    @property
    def init_func(self) -> Callable[..., Any]:
        """The function of a key."""
        return self._init_func

    @property
    def reduce_func(self) -> Callable[..., Any]:
        """The function of a state and an element."""
        return self._reduce_func

    @property
    def finalize_func(self) -> Callable[..., Any]:
        """The function of the last state."""
        return self._finalize_func


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> _Transformation:
    """Returns a transformation to one result for each key, in the order of the keys.

    Args:
      key_func: A function of the components of an element that returns its key, an int64.
      reducer: A `Reducer`, which makes a result of the elements of a key.

    Returns:
      A function for `Dataset.apply`. The elements are kept until the end of the dataset.

    Example:
      >>> total = tf.data.experimental.Reducer(lambda key: np.int64(0), lambda s, x: s + x, lambda s: s)
      >>> sums = tf.data.Dataset.range(6).apply(tf.data.experimental.group_by_reducer(lambda x: x % 2, total))
      >>> print(tf.Session().run(sums.batch(9).make_one_shot_iterator().get_next()))
      [6 9]
    """

    def of_key(key: Any, group: Any) -> Any:
        state = group.reduce(reducer.init_func(key), reducer.reduce_func)
        finalize = reducer.finalize_func
        return Dataset.from_tensors(finalize(*state) if isinstance(state, tuple) and not hasattr(state, "_fields") else finalize(state))

    return group_by_window(key_func, of_key, np.iinfo(np.int64).max)


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> _Transformation:
    """Returns a transformation to batches of tensors of different shapes, as sparse tensors.

    Args:
      batch_size: The number of elements.
      row_shape: The dense shape of a row. None (or -1) in it is the largest size in the batch.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      TypeError: When applied: elements have several components.
      tf.errors.InvalidArgumentError: When run: an element is larger than `row_shape`.

    Example:
      >>> rows = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n))
      >>> batches = rows.apply(tf.data.experimental.dense_to_sparse_batch(2, [3]))
      >>> print(*tf.Session().run(batches.make_one_shot_iterator().get_next()))
      [[0 0]
       [1 0]
       [1 1]] [1 2 2] [2 3]
    """
    row = shapes.TensorShape([None if d is None or d == -1 else d for d in shapes.as_shape(row_shape).as_list()] if not hasattr(row_shape, "dtype") else constant_value(row_shape))
    known = constant([-1 if d is None else d for d in row.as_list()], dtypes.int64)

    def sparse(value: Any) -> Any:
        size = op("Shape")(value, out_type=dtypes.int64)
        wanted = where(op("Less")(known, constant(0, dtypes.int64)), size, known)
        with control_dependencies([assert_less_equal(size, wanted, message="the size of an element is larger than the row shape")]):
            indices = where(op("Fill")(size, True))
        return SparseTensor(indices, op("Reshape")(value, [-1]), wanted)

    def apply(dataset: Any) -> Any:
        if not isinstance(dataset.element_spec, shapes.TensorSpec):
            raise TypeError("DenseToSparseDataset requires an input whose elements have a single component, whereas the input has %r." % (dataset.output_types,))
        made = dataset.map(sparse).batch(batch_size)
        made._element_spec = SparseTensorSpec(shapes.TensorShape([None]).concatenate(row), dataset.element_spec.dtype)
        return made

    return apply


def prefetch_to_device(device: Any, buffer_size: Any = None) -> _Transformation:
    """Returns a transformation that makes elements ahead: memory is the CPU's, of whatever device.

    Args:
      device: The name of a device.
      buffer_size: The number of elements that may be made ahead.

    Returns:
      A function for `Dataset.apply`.

    Example:
      >>> ahead = tf.data.Dataset.range(3).apply(tf.data.experimental.prefetch_to_device("/gpu:0"))
      >>> print(tf.Session().run(ahead.make_one_shot_iterator().get_next()))
      0
    """
    return lambda dataset: dataset.prefetch(buffer_size)


def copy_to_device(target_device: Any, source_device: Any = "/cpu:0") -> _Transformation:
    """Returns a transformation to the same elements: memory is the CPU's, of whatever device.

    Args:
      target_device: The name of a device.
      source_device: The name of the device of the elements.

    Returns:
      A function for `Dataset.apply`.

    Example:
      >>> same = tf.data.Dataset.range(3).apply(tf.data.experimental.copy_to_device("/gpu:0"))
      >>> print(tf.Session().run(same.make_one_shot_iterator().get_next()))
      0
    """
    return lambda dataset: dataset._made(dataset.element_spec)


def from_variant(variant: Any, structure: Any) -> Any:  # noqa: F811
    """Returns the dataset that a variant tensor holds.

    Args:
      variant: A scalar tensor of dtype `tf.variant`, as `to_variant` returns it.
      structure: The types of the elements, as `get_structure` returns them.

    Returns:
      A `Dataset`.

    Example:
      >>> numbers = tf.data.Dataset.range(3)
      >>> variant = tf.data.experimental.to_variant(numbers)
      >>> same = tf.data.experimental.from_variant(variant, tf.data.experimental.get_structure(numbers))
      >>> print(tf.Session().run(same.batch(9).make_one_shot_iterator().get_next()))
      [0 1 2]
    """
    return _structure.made_of(variant, structure)


def to_variant(dataset: Any) -> Any:
    """Returns the variant tensor that holds a dataset.

    Args:
      dataset: A `Dataset`.

    Returns:
      A scalar tensor of dtype `tf.variant`.

    Example:
      >>> tf.data.experimental.to_variant(tf.data.Dataset.range(3)).dtype
      tf.variant
    """
    return dataset._variant_tensor


def get_structure(dataset_or_iterator: Any) -> Any:
    """Returns the types of the elements of a dataset or iterator, as a structure of `tf.TensorSpec`s.

    Args:
      dataset_or_iterator: A `Dataset` or an `Iterator`.

    Returns:
      A structure.

    Raises:
      TypeError: It is something else.

    Example:
      >>> tf.data.experimental.get_structure(tf.data.Dataset.range(3))
      TensorSpec(shape=(), dtype=tf.int64, name=None)
    """
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            "`dataset_or_iterator` must be a Dataset or Iterator object, but got %s." % type(dataset_or_iterator)
        ) from None


def TensorStructure(dtype: Any, shape: Any) -> Any:  # noqa: N802
    """Returns `tf.TensorSpec(shape, dtype)`, under its former name.

    Args:
      dtype: A dtype.
      shape: A shape.

    Example:
      >>> tf.data.experimental.TensorStructure(tf.int32, [2])
      TensorSpec(shape=(2,), dtype=tf.int32, name=None)
    """
    return shapes.TensorSpec(shape, dtype)


def SparseTensorStructure(dtype: Any, shape: Any) -> Any:  # noqa: N802
    """Returns `tf.SparseTensorSpec(shape, dtype)`, under its former name.

    Args:
      dtype: A dtype.
      shape: A shape.

    Example:
      >>> tf.data.experimental.SparseTensorStructure(tf.int32, [2]).dtype
      tf.int32
    """
    return SparseTensorSpec(shape, dtype)


# The former names of types.
DatasetStructure = _structure.DatasetSpec
OptionalStructure = OptionalSpec
Structure = shapes.TypeSpec

# What `tf.data.experimental.cardinality` says of datasets without end, and of others whose size is not known.
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


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
        for shape in _structure.flatten_up_to(spec, padded_shapes if padded_shapes is not None else _structure.shapes_of(spec)):
            dims = shapes.as_shape(shape).as_list()
            made.append([filler if d is None else d for d in dims])
        if filler is None:
            return _structure.pack(spec, [shapes.TensorShape(dims) for dims in made])
        return _structure.pack(spec, [convert_to_tensor([int64(d, "d") for d in dims], dtype=dtypes.int64) if dims else shapes.TensorShape([]) for dims in made])

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
    "CsvDataset",
    "DatasetStructure",
    "DistributeOptions",
    "INFINITE_CARDINALITY",
    "MapVectorizationOptions",
    "OptimizationOptions",
    "Optional",
    "OptionalStructure",
    "RandomDataset",
    "Reducer",
    "SparseTensorStructure",
    "StatsOptions",
    "Structure",
    "TensorStructure",
    "ThreadingOptions",
    "UNKNOWN_CARDINALITY",
    "batch_and_drop_remainder",
    "bucket_by_sequence_length",
    "cardinality",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_sparse_batch",
    "enumerate_dataset",
    "from_variant",
    "get_next_as_optional",
    "get_single_element",
    "get_structure",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "map_and_batch",
    "map_and_batch_with_legacy_function",
    "padded_batch_and_drop_remainder",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "rejection_resample",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "sloppy_interleave",
    "take_while",
    "to_variant",
    "unbatch",
    "unique",
]

__dir__ = namespaces.dir_of(globals())
