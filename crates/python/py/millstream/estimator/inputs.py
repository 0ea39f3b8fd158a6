"""`tf.estimator.inputs`: input functions that read arrays."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

import numpy as np

from millstream.framework import namespaces, node_counts
from millstream.ops import host_functions
from millstream.train.input import range_input_producer

__all__ = ["numpy_input_fn", "pandas_input_fn"]


def _batches(arrays: List[np.ndarray], batch_size: int, num_epochs: Optional[int], shuffle: bool, capacity: int) -> List[Any]:
    """Returns the next rows of arrays, as tensors."""
    places = range_input_producer(len(arrays[0]), num_epochs, shuffle, capacity=capacity)
    rows = places.dequeue_many(batch_size) if num_epochs is None else places.dequeue_up_to(batch_size)
    # The arrays stay with the program: as constants they would be part of every saved graph.
    kinds = [a.dtype for a in arrays]
    found = host_functions.py_func(lambda i: [a[i] for a in arrays], [rows], kinds, stateful=False)
    for tensor, array in zip(found, arrays):
        tensor.set_shape([batch_size if num_epochs is None else None, *array.shape[1:]])
    return found


def _check_shuffle(shuffle: Any) -> None:
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for training); "
            "got %s" % shuffle
        )


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: Optional[int] = 1,
    shuffle: Optional[bool] = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """Returns an input function that reads NumPy arrays in batches.

    Args:
      x: An array, or a dict from names to arrays of one length: the features.
      y: An array, or a dict of arrays: the labels; None for none.
      batch_size: The number of rows of a batch.
      num_epochs: The number of passes over the data; None for no limit.
      shuffle: If true, rows come in random order. It must be given.
      queue_capacity: The capacity of the queue of rows.
      num_threads: Ignored.

    Returns:
      A function without arguments that returns the features, or a pair of features and labels.

    Raises:
      ValueError: `shuffle` is not given. When called: the lengths differ, or a dict is empty.
      TypeError: When called: `x` is neither an array nor a dict.

    Example:
      >>> make = tf.estimator.inputs.numpy_input_fn({"x": np.arange(3)}, np.arange(3) * 10, batch_size=2, shuffle=False)
      >>> features, labels = make()
      >>> with tf.train.MonitoredSession() as sess:
      ...     while not sess.should_stop():
      ...         print(*sess.run([features["x"], labels]))
      [0 1] [ 0 10]
      [2] [20]
    """
    _check_shuffle(shuffle)

    def input_fn() -> Any:
        features, labels = _features(x), _labels(y)
        together = set(features) & set(labels)
        if together and isinstance(y, dict):
            words = "%d duplicate keys are found in both x and y: %s"
            raise ValueError(words % (len(together), together))
        arrays = [*features.values(), *labels.values()]
        if len({len(a) for a in arrays}) != 1:
            shape_of_y = None if y is None else {k: v.shape for k, v in labels.items()} if isinstance(y, dict) else y.shape
            raise ValueError(
                "Length of tensors in x and y is mismatched. All elements in x and y must have the same length.\n"
                "Shapes in x: %s\nShapes in y: %s\n" % ({k: v.shape for k, v in features.items()}, shape_of_y)
            )
        # TensorFlow feeds a queue: each thread has placeholders of rows and their numbers, and an enqueue.
        with node_counts.counted_as(15 + num_threads * (2 + len(arrays))):
            found = _batches(arrays, batch_size, num_epochs, bool(shuffle), queue_capacity)
        n = len(features)
        of_x = dict(zip(features, found[:n])) if isinstance(x, dict) else found[0]
        if y is None:
            return of_x
        return of_x, dict(zip(labels, found[n:])) if isinstance(y, dict) else found[n]

    return input_fn


def _features(x: Any) -> Dict[str, Any]:
    if isinstance(x, dict):
        if not x:
            raise ValueError("x cannot be an empty dict")
        return dict(sorted(x.items()))
    if isinstance(x, np.ndarray):
        if x.size == 0:
            raise ValueError("x cannot be an empty array")
        return {"__direct_np_input__": x}
    raise TypeError("x must be a dict or array; got %s" % type(x).__name__)


def _labels(y: Any) -> Dict[str, Any]:
    if y is None:
        return {}
    if isinstance(y, dict):
        if not y:
            raise ValueError("y cannot be empty dict, use None instead.")
        return dict(sorted(y.items()))
    return {"__target_key__": y}


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: Optional[int] = 1,
    shuffle: Optional[bool] = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """Returns an input function that reads a Pandas `DataFrame` in batches.

    Args:
      x: A `DataFrame`: the features.
      y: A `Series` or a `DataFrame` of the same index: the labels; None for none.
      batch_size: The number of rows of a batch.
      num_epochs: The number of passes over the data; None for no limit.
      shuffle: If true, rows come in random order. It must be given.
      queue_capacity: The capacity of the queue of rows.
      num_threads: Ignored.
      target_column: A name for the labels.

    Returns:
      A function without arguments that returns a dict of features, or a pair of these and the labels.

    Raises:
      ValueError: `shuffle` is not given, or the indices of `x` and `y` differ.

    Example:
      >>> class Frame(dict):  # As a `DataFrame`.
      ...     columns = ["a"]
      ...     index = np.arange(2)
      >>> features = tf.estimator.inputs.pandas_input_fn(Frame(a=np.array([1.5, 2.5])), shuffle=False)()
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sess.run(features["a"]))
      [1.5 2.5]
    """
    _check_shuffle(shuffle)
    features = {column: np.asarray(x[column]) for column in x.columns}
    if y is not None and not np.array_equal(x.index, y.index):
        raise ValueError("Index for x and y are mismatched.\nIndex for x: %s\nIndex for y: %s\n" % (x.index, y.index))
    labels: Any = None
    if y is not None:
        labels = {column: np.asarray(y[column]) for column in y.columns} if hasattr(y, "columns") else np.asarray(y)
    return numpy_input_fn(features, labels, batch_size, num_epochs, shuffle, queue_capacity, num_threads)


__dir__ = namespaces.dir_of(globals())
