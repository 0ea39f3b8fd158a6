"""`tf.contrib.data`: transformations of datasets, under their names before `tf.data.experimental`."""

from typing import Any, Callable

import numpy as np

from millstream.data import structure
from millstream.data.datasets import Dataset
from millstream.data.experimental import (
    AUTOTUNE,
    Counter,
    CsvDataset,
    Optional,
    RandomDataset,
    Reducer,
    batch_and_drop_remainder,
    bucket_by_sequence_length,
    choose_from_datasets,
    copy_to_device,
    dense_to_sparse_batch,
    enumerate_dataset,
    get_next_as_optional,
    get_single_element,
    group_by_reducer,
    group_by_window,
    ignore_errors,
    make_batched_features_dataset,
    make_csv_dataset,
    map_and_batch,
    padded_batch_and_drop_remainder,
    parallel_interleave,
    parse_example_dataset,
    prefetch_to_device,
    rejection_resample,
    sample_from_datasets,
    scan,
    shuffle_and_repeat,
    sloppy_interleave,
    unbatch,
    unique,
)
from millstream.framework import control_dependencies, namespaces, shapes
from millstream.framework.op_functions import op
from millstream.ops.check_ops import assert_equal

__all__ = [
    "AUTOTUNE",
    "Counter",
    "CsvDataset",
    "Optional",
    "RandomDataset",
    "Reducer",
    "assert_element_shape",
    "batch_and_drop_remainder",
    "bucket_by_sequence_length",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_sparse_batch",
    "enumerate_dataset",
    "get_next_as_optional",
    "get_single_element",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "map_and_batch",
    "padded_batch_and_drop_remainder",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "reduce_dataset",
    "rejection_resample",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "sliding_window_batch",
    "sloppy_interleave",
    "unbatch",
    "unique",
]


def assert_element_shape(expected_shapes: Any) -> Callable[[Any], Any]:
    """Returns a transformation to the same elements, whose shapes are checked and known.

    Args:
      expected_shapes: A structure of shapes like the elements. Unknown sizes are not checked.

    Returns:
      A function for `Dataset.apply`. What it returns raises a `ValueError` for static shapes that differ, and
      a run an `InvalidArgumentError` for others.

    Example:
      >>> d = tf.data.Dataset.from_tensor_slices([[1, 2]]).map(lambda row: tf.boolean_mask(row, row > 0))
      >>> d.apply(tf.contrib.data.assert_element_shape(tf.TensorShape([2]))).output_shapes
      TensorShape([Dimension(2)])
    """

    def checked(value: Any, shape: Any) -> Any:
        shape = shapes.TensorShape(shape)
        if not value.shape.is_compatible_with(shape):
            raise ValueError("Shapes %s and %s are not compatible" % (value.shape, shape))
        if shape.ndims is None:
            return value
        sizes = op("Shape")(value)
        with control_dependencies([assert_equal(op("Size")(sizes), shape.ndims)]):
            known = [size.value for size in shape.dims]
            same = [assert_equal(sizes[i], size) for i, size in enumerate(known) if size is not None]
        with control_dependencies(same):
            value = op("Identity")(value)
        value.set_shape(shape)
        return value

    def apply(dataset: Any) -> Any:
        structure.assert_same(dataset.output_types, structure.transform(lambda shape: shape, expected_shapes))
        wanted = structure.flatten(expected_shapes)

        def check(*element: Any) -> Any:
            made = element if isinstance(dataset.element_spec, tuple) else element[0]
            return structure.pack(dataset.element_spec, [checked(v, s) for v, s in zip(structure.flatten(made), wanted)])

        return dataset.map(check)

    return apply


def reduce_dataset(dataset: Any, reducer: Reducer) -> Any:
    """Returns the last state of a reducer for the elements of a dataset; as in TensorFlow, not finalized.

    Args:
      dataset: A dataset.
      reducer: A `Reducer`, whose `init_func` gets the number 0.

    Returns:
      A structure of tensors.

    Raises:
      TypeError: `dataset` is no dataset.

    Example:
      >>> total = tf.contrib.data.Reducer(lambda _: np.int64(0), lambda s, x: s + x, lambda s: s)
      >>> print(tf.Session().run(tf.contrib.data.reduce_dataset(tf.data.Dataset.range(5), total)))
      10
    """
    if not isinstance(dataset, Dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    return dataset.reduce(reducer.init_func(np.int64(0)), reducer.reduce_func)


def sliding_window_batch(window_size: Any, stride: Any = None, window_shift: Any = None, window_stride: Any = 1) -> Callable[[Any], Any]:
    """Returns a transformation to windows of a dataset, each of them a batch. Smaller ones are left out.

    Args:
      window_size: The number of elements of a window.
      stride: The former name of `window_shift`.
      window_shift: How many elements further a window begins than the one before; 1 if not given.
      window_stride: The distance of the elements of a window.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: `stride` and `window_shift` are both given.

    Example:
      >>> d = tf.data.Dataset.range(5).apply(tf.contrib.data.sliding_window_batch(2, window_shift=2))
      >>> x = d.make_one_shot_iterator().get_next()
      >>> with tf.Session() as sess:
      ...     print(sess.run(x), sess.run(x))
      [0 1] [2 3]
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    shift = 1 if stride is None and window_shift is None else window_shift if stride is None else stride

    def apply(dataset: Any) -> Any:
        windows = dataset.window(size=window_size, shift=shift, stride=window_stride, drop_remainder=True)

        def batch(*parts: Any) -> Any:
            batches = [part.batch(window_size) for part in structure.flatten(parts)]
            return batches[0] if len(batches) == 1 else Dataset.zip(structure.pack(windows.element_spec, batches))

        return windows.flat_map(batch)

    return apply


__getattr__ = namespaces.getattr_of(__name__)
__dir__ = namespaces.dir_of(globals())
