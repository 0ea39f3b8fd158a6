"""Input pipelines of queues: producers that enqueue the rows of a tensor, and functions that batch examples.

Each adds a queue, and a `QueueRunner` that fills it to the graph's collection; `start_queue_runners` starts
them. The eight batch functions share one implementation (`_batched`): with one set of tensors or several
(`_join`), in order or shuffled (`shuffle_`), with all examples or only some (`maybe_`).

The module does not use `millstream::train`, the same functions in Rust with the same nodes, because a
pipeline leaves Python objects behind. The epoch counter is a variable made by the program's
`variable_creator` and device function, collections hold `QueueRunner`s and tensors of Python, arguments are
converted by `register_tensor_conversion_function`, and errors are `TypeError` or `ValueError`, raised where
TensorFlow raises them. Rust's functions also refuse more: sources of different structures, shapes that differ
between sources, and a capacity of 0.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

from millstream.framework import (
    SparseTensor,
    SparseTensorValue,
    constant,
    control_dependencies,
    convert_to_tensor,
    dtypes,
    get_static_value,
    name_scope,
)
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op, raw
from millstream.framework.shapes import dimension_value
from millstream.io import summaries
from millstream.ops import array_ops, control_flow, indexing_ops, math_ops, random_ops, sparse_ops
from millstream.ops.data_flow import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue
from millstream.train.queue_runner import QueueRunner, add_queue_runner
from millstream.variables.variable import Variable

# Producers.


def limit_epochs(tensor: Any, num_epochs: Optional[int] = None, name: Optional[str] = None) -> Any:
    """Returns `tensor`, limited to `num_epochs` evaluations, which a local variable counts.

    Args:
      tensor: A tensor.
      num_epochs: The number of evaluations; None for no limit.
      name: A name for the new operations.

    Returns:
      A tensor of the same value.

    Raises:
      ValueError: `num_epochs` is not positive.
      tf.errors.OutOfRangeError: When run: the limit is reached.

    Example:
      >>> x = tf.train.limit_epochs(tf.constant("row"), num_epochs=2)
      >>> sess = tf.Session()
      >>> sess.run(tf.local_variables_initializer())
      >>> sess.run(x), sess.run(x)
      (b'row', b'row')
      >>> sess.run(x)
      Traceback (most recent call last):
        ...
      millstream.errors.OutOfRangeError: Reached limit of 2
      ...
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as name:
        epochs = Variable(
            constant(0, dtypes.int64), name="epochs", trainable=False, collections=[GraphKeys.LOCAL_VARIABLES]
        )
        with control_dependencies([epochs.count_up_to(num_epochs)]):
            return array_ops.identity(tensor, name=name)


def input_producer(
    input_tensor: Any,
    element_shape: Any = None,
    num_epochs: Optional[int] = None,
    shuffle: bool = True,
    seed: Optional[int] = None,
    capacity: int = 32,
    shared_name: Optional[str] = None,
    summary_name: Optional[str] = None,
    name: Optional[str] = None,
    cancel_op: Any = None,
) -> Any:
    """Returns a queue of the rows of `input_tensor`, epoch after epoch.

    The queue has a runner: start it with `start_queue_runners`. With `num_epochs`, the epoch counter is a
    local variable, which must be initialized.

    Args:
      input_tensor: A tensor of rank 1 or more.
      element_shape: The shape of a row, if not known from the tensor.
      num_epochs: The number of epochs, after which the queue is closed; None for no limit.
      shuffle: If true, rows are shuffled in each epoch.
      seed: A seed for shuffling.
      capacity: The capacity of the queue.
      shared_name: The name under which sessions share the queue.
      summary_name: The name of a summary of how full the queue is.
      name: The name scope of the new operations.
      cancel_op: The operation that closes the queue when its threads are stopped.

    Returns:
      A `FIFOQueue`.

    Raises:
      ValueError: The shape of a row is unknown.

    Example:
      >>> q = tf.train.input_producer(tf.constant([[1, 2], [3, 4]]), shuffle=False)
      >>> row = q.dequeue()
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(*[sess.run(row) for _ in range(3)])
      [1 2] [3 4] [1 2]
    """
    with name_scope(name, "input_producer", [input_tensor]):
        input_tensor = convert_to_tensor(input_tensor, name="input_tensor")
        element_shape = input_tensor.get_shape()[1:].merge_with(element_shape)
        if not element_shape.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined shape or `element_shape` must be specified")
        if shuffle:
            input_tensor = random_ops.random_shuffle(input_tensor, seed=seed)
        input_tensor = limit_epochs(input_tensor, num_epochs)
        queue = FIFOQueue(
            capacity=capacity,
            dtypes=[input_tensor.dtype.base_dtype],
            shapes=[element_shape],
            shared_name=shared_name,
            name=name,
        )
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([input_tensor])], cancel_op=cancel_op))
        if summary_name is not None:
            _summarize(summary_name, math_ops.cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        return queue


def string_input_producer(
    string_tensor: Any,
    num_epochs: Optional[int] = None,
    shuffle: bool = True,
    seed: Optional[int] = None,
    capacity: int = 32,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
    cancel_op: Any = None,
) -> Any:
    """Returns a queue of strings, such as file names. Other arguments are those of `input_producer`.

    Args:
      string_tensor: A vector of strings.

    Returns:
      A `FIFOQueue` of strings.

    Raises:
      ValueError: `string_tensor` is None or an empty list.
      tf.errors.InvalidArgumentError: When run: the tensor is empty.

    Example:
      >>> q = tf.train.string_input_producer(["a.txt", "b.txt"], num_epochs=1, shuffle=False)
      >>> name = q.dequeue()
      >>> with tf.train.MonitoredSession() as sess:
      ...     while not sess.should_stop():
      ...         print(sess.run(name))
      b'a.txt'
      b'b.txt'
    """
    empty = "string_input_producer requires a non-null input tensor"
    if string_tensor is None or isinstance(string_tensor, (str, bytes, list, tuple)) and not len(string_tensor):
        raise ValueError(empty)
    with name_scope(name, "input_producer", [string_tensor]) as name:
        string_tensor = convert_to_tensor(string_tensor, dtype=dtypes.string)
        with control_dependencies([control_flow.assert_(op("Greater")(array_ops.size(string_tensor), 0), [empty])]):
            string_tensor = array_ops.identity(string_tensor)
        return input_producer(
            string_tensor,
            element_shape=[],
            num_epochs=num_epochs,
            shuffle=shuffle,
            seed=seed,
            capacity=capacity,
            shared_name=shared_name,
            name=name,
            summary_name=f"fraction_of_{capacity}_full",
            cancel_op=cancel_op,
        )


def range_input_producer(
    limit: Any,
    num_epochs: Optional[int] = None,
    shuffle: bool = True,
    seed: Optional[int] = None,
    capacity: int = 32,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """Returns a queue of the numbers from 0 to `limit - 1`. Other arguments are those of `input_producer`.

    Args:
      limit: An `int32` scalar.

    Returns:
      A `FIFOQueue` of `int32` scalars.

    Example:
      >>> number = tf.train.range_input_producer(3, shuffle=False).dequeue()
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(*[sess.run(number) for _ in range(4)])
      0 1 2 0
    """
    with name_scope(name, "input_producer", [limit]) as name:
        fraction = f"fraction_of_{capacity}_full"
        return input_producer(math_ops.range(limit), [], num_epochs, shuffle, seed, capacity, shared_name, fraction, name)


def slice_input_producer(
    tensor_list: Sequence[Any],
    num_epochs: Optional[int] = None,
    shuffle: bool = True,
    seed: Optional[int] = None,
    capacity: int = 32,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> List[Any]:
    """Returns the same row of every tensor, one row after another.

    Other arguments are those of `input_producer`.

    Args:
      tensor_list: A list of tensors with the same number of rows.

    Returns:
      A list of tensors: a row of each.

    Raises:
      ValueError: `tensor_list` is empty.
      TypeError: `tensor_list` is not a list.

    Example:
      >>> image, label = tf.train.slice_input_producer([[[0, 0], [1, 1]], ["a", "b"]], shuffle=False)
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(*sess.run([image, label]))
      ...     print(*sess.run([image, label]))
      [0 0] b'a'
      [1 1] b'b'
    """
    with name_scope(name, "input_producer", tensor_list):
        if not isinstance(tensor_list, (list, tuple)):
            raise TypeError("values must be a sequence.")
        tensor_list = [convert_to_tensor(t) for t in tensor_list]
        if not tensor_list:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        n_rows = array_ops.shape(tensor_list[0])[0]
        queue = range_input_producer(
            n_rows, num_epochs=num_epochs, shuffle=shuffle, seed=seed, capacity=capacity, shared_name=shared_name
        )
        index = queue.dequeue()
        return [indexing_ops.gather(t, index) for t in tensor_list]


# Batches.


class Sparse(NamedTuple):
    """A SparseTensor in a queue: a handle of the map that `map_op` stores it in."""

    map_op: Any
    # The number of dimensions of an example; None if unknown.
    rank: Optional[int]


class Layout(NamedTuple):
    """The contents of a queue: the tensors of each set (handles for sparse ones), and their kinds."""

    sets: List[List[Any]]
    sparse: List[Optional[Sparse]]


def as_tensor(value: Any) -> Any:
    """Converts a value to a Tensor or SparseTensor."""
    if isinstance(value, SparseTensor):
        return value
    return SparseTensor.from_value(value) if isinstance(value, SparseTensorValue) else convert_to_tensor(value)


def as_list(tensors: Any) -> List[Any]:
    """The tensors of a list, or of a dict in the order of its keys."""
    return [tensors[k] for k in sorted(tensors, key=str)] if isinstance(tensors, dict) else tensors


def as_given(given: Any, tensors: Any) -> Any:
    """Returns tensors in the structure of `given`."""
    if not isinstance(given, dict):
        return tensors
    if len(given) == 1:
        tensors = [tensors]
    return {k: tensors[i] for i, k in enumerate(sorted(given, key=str))}


def checked_keep_input(keep_input: Any, enqueue_many: bool) -> Any:
    """Returns `keep_input` as a boolean tensor: a scalar, or a vector with an element for each row."""
    keep_input = convert_to_tensor(keep_input)
    rank = keep_input.get_shape().ndims
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if rank == 1 and not enqueue_many:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if 1 < rank:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep_input


def either(predicate: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
    """As `cond`, but builds only one branch if the predicate is known."""
    value = get_static_value(predicate)
    if value is None:
        return control_flow.cond(predicate, yes, no)
    return yes() if value else no()


def laid_out(sets: Sequence[Sequence[Any]], enqueue_many: bool, keep_input: Any) -> Layout:
    """Converts sets of tensors to what a queue holds. All sets use the maps of the first."""
    converted = [[as_tensor(t) for t in tensors] for tensors in sets]
    # A set with more tensors than the first one is refused by the queue when it runs.
    sparse: List[Optional[Sparse]] = [None] * max(map(len, converted))
    out: List[List[Any]] = []
    for tensors in converted:
        stored = []
        for i, tensor in enumerate(tensors):
            if not isinstance(tensor, SparseTensor):
                if sparse[i] is not None:
                    raise ValueError(f"Inconsistent SparseTensors list: {converted[0]} vs. {tensors}")
                stored.append(tensor)
                continue
            if sparse[i] is None and out:
                raise ValueError(f"Inconsistent SparseTensors list: {converted[0]} vs. {tensors}")
            handle, info = _store_sparse(tensor, enqueue_many, keep_input, sparse[i])
            sparse[i] = sparse[i] or info
            stored.append(handle)
        out.append(stored)
    return Layout(out, sparse)


def _store_sparse(tensor: Any, enqueue_many: bool, keep_input: Any, info: Optional[Sparse]) -> Any:
    """Stores a SparseTensor in a map. Returns its handle and the map: that of `info`, or a new one."""
    shared_name = info.map_op.name if info else None
    stored_by: List[Any] = []

    def store() -> Any:
        add = raw("AddManySparseToTensorsMap") if enqueue_many else raw("AddSparseToTensorsMap")
        handle = add(
            sparse_indices=tensor.indices,
            sparse_values=tensor.values,
            sparse_shape=tensor.dense_shape,
            shared_name=shared_name or "",
        )
        stored_by.append(handle.op)
        return handle

    if keep_input.get_shape().ndims == 1:
        rows = indexing_ops.gather(keep_input, tensor.indices[:, 0])
        tensor = sparse_ops.sparse_retain(tensor, rows)
        handle = store()
    elif enqueue_many:
        handle = either(keep_input, store, lambda: -1 * array_ops.ones(tensor.dense_shape[0:1], dtypes.int64))
        handle.set_shape([None])
    else:
        handle = either(keep_input, store, lambda: constant(-1, dtypes.int64))
    # A new map is named after the op that fills it; the op that takes from it receives that name.
    rank = dimension_value(tensor.dense_shape.get_shape().with_rank(1)[0])
    if rank is not None and enqueue_many:
        rank -= 1
    # A scalar component would become one vector for the batch; as vectors of length 1, handles stay apart.
    return array_ops.expand_dims(handle, [-1]), Sparse(stored_by[0] if stored_by else handle.op, rank)


def restored(tensors: Any, sparse: Sequence[Optional[Sparse]]) -> Any:
    """Returns dequeued tensors, with SparseTensors taken from their maps."""
    many = isinstance(tensors, (list, tuple))
    out = [_restore(t, s) for t, s in zip(tensors if many else [tensors], sparse)]
    if any(s is not None for s in sparse):
        # All components are taken together: an entry left in a map would never be freed.
        taken = [t.values.op if isinstance(t, SparseTensor) else t.op for t in out]
        with control_dependencies(taken):
            out = [
                SparseTensor(*map(_after, (t.indices, t.values, t.dense_shape)))
                if isinstance(t, SparseTensor)
                else _after(t)
                for t in out
            ]
    return out if many else out[0]


def _after(tensor: Any) -> Any:
    """Returns the tensor after the current control dependencies, under TensorFlow's name for it."""
    return array_ops.identity(tensor, name="control_dependency")


def _restore(tensor: Any, info: Optional[Sparse]) -> Any:
    if info is None:
        return tensor
    handles = array_ops.squeeze(tensor, [1])
    taken = raw("TakeManySparseFromTensorsMap")(
        sparse_handles=handles,
        dtype=info.map_op.get_attr("T"),
        container=info.map_op.get_attr("container").decode(),
        shared_name=info.map_op.get_attr("shared_name").decode() or info.map_op.name,
    )
    indices, values, shape = taken
    rank = None if info.rank is None else info.rank + 1
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


def types_of(sets: Sequence[Sequence[Any]]) -> List[Any]:
    """The dtypes that all sets share."""
    types = [t.dtype.base_dtype for t in sets[0]]
    for other in sets[1:]:
        theirs = [t.dtype.base_dtype for t in other]
        if any(a != b for a, b in zip(types, theirs)):
            raise TypeError(
                "Expected types to be consistent: {} vs. {}.".format(
                    ", ".join(x.name for x in types), ", ".join(x.name for x in theirs)
                )
            )
    return types


def shapes_of(sets: Sequence[Sequence[Any]], shapes: Any, enqueue_many: bool) -> Any:
    """The shapes of an example's tensors: the given ones, or those that all sets agree on."""
    if shapes is not None:
        return shapes
    out: List[List[Optional[int]]] = []
    for tensors in zip(*sets):
        known = []
        for tensor in tensors:
            shape = tensor.get_shape()
            if shape.ndims is None:
                raise ValueError(f"Cannot infer Tensor's rank: {tensor}")
            known.append(shape.with_rank_at_least(1)[1:] if enqueue_many else shape)
        for other in known[1:]:
            known[0].merge_with(other)
        out.append(known[0].as_list())
    return out


def queue_kind(dynamic_pad: bool) -> Any:
    """The queue class for tensors of fixed or of varying shape."""
    return PaddingFIFOQueue if dynamic_pad else FIFOQueue


def _summarize(name: str, value: Any) -> None:
    summaries.scalar(name, value)


class _Shuffle(NamedTuple):
    min_after_dequeue: int
    seed: Optional[int]


def _batched(
    word: str,
    given: Any,
    sets: Any,
    keep_input: Any,
    batch_size: Any,
    n_threads: int,
    capacity: int,
    enqueue_many: bool,
    shapes: Any,
    dynamic_pad: bool,
    allow_smaller_final_batch: bool,
    shared_name: Optional[str],
    name: Optional[str],
    shuffle: Optional[_Shuffle] = None,
) -> Any:
    """Batches the sets of tensors; the result has the structure of `given`."""
    flat = [t for tensors in sets for t in tensors]
    with name_scope(name, word, flat + [keep_input]) as name:
        if not word.endswith("_join"):
            if shuffle is not None and capacity <= shuffle.min_after_dequeue:
                raise ValueError(
                    f"capacity {capacity} must be bigger than min_after_dequeue {shuffle.min_after_dequeue}."
                )
            if not flat:
                raise ValueError("Expected at least one tensor in batch().")
        converted = [[as_tensor(t) for t in tensors] for tensors in sets]
        keep_input = checked_keep_input(keep_input, enqueue_many)
        layout = laid_out(converted, enqueue_many, keep_input)
        types = types_of(layout.sets)
        shapes = shapes_of(layout.sets, shapes, enqueue_many)
        common: Dict[str, Any] = dict(capacity=capacity, dtypes=types, shapes=shapes, shared_name=shared_name)
        if shuffle is None:
            queue = queue_kind(dynamic_pad)(**common)
        else:
            queue = RandomShuffleQueue(min_after_dequeue=shuffle.min_after_dequeue, seed=shuffle.seed, **common)
        puts = [_put(queue, tensors, enqueue_many, keep_input) for tensors in layout.sets]
        add_queue_runner(QueueRunner(queue, puts * n_threads))
        if shuffle is None:
            _summarize(f"fraction_of_{capacity}_full", math_ops.cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        else:
            least, room = shuffle.min_after_dequeue, capacity - shuffle.min_after_dequeue
            over = math_ops.cast(op("Maximum")(0, queue.size() - least), dtypes.float32) * (1.0 / room)
            _summarize(f"fraction_over_{least}_of_{room}_full", over)
        take = queue.dequeue_up_to if allow_smaller_final_batch else queue.dequeue_many
        return as_given(given, restored(take(batch_size, name=name), layout.sparse))


def _put(queue: Any, tensors: Sequence[Any], enqueue_many: bool, keep_input: Any) -> Any:
    put = queue.enqueue_many if enqueue_many else queue.enqueue
    if keep_input.get_shape().ndims == 1:
        which = math_ops.cast(keep_input, dtypes.int32)
        return put([op("DynamicPartition")(t, which, num_partitions=2)[1] for t in tensors])
    return either(keep_input, lambda: put(tensors), control_flow.no_op)


def _sets(tensors_list: Any) -> List[List[Any]]:
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    if isinstance(tensors_list[0], dict):
        keys = set(tensors_list[0])
        if any(set(tensors.keys()) != keys for tensors in tensors_list[1:]):
            raise ValueError("All dictionaries in tensors_list must have the same keys")
    return [list(as_list(tensors)) for tensors in tensors_list]


def batch(
    tensors: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """Batches examples with a queue that is filled by threads.

    Start the threads with `start_queue_runners`, or use a `MonitoredSession`. After the end of input, batches
    raise `OutOfRangeError`.

    All eight functions of this kind take these arguments. `_join` functions take a list of examples, each
    enqueued by a thread of its own; `shuffle_` functions draw examples at random; `maybe_` functions drop
    some.

    Args:
      tensors: One example: a list or dict of tensors, or a tensor.
      batch_size: An int or a scalar tensor: the number of examples in a batch.
      num_threads: The number of threads that enqueue.
      capacity: The capacity of the queue, in examples.
      enqueue_many: If true, `tensors` holds many examples, along its first axis.
      shapes: The shapes of an example, if not known.
      dynamic_pad: If true, dimensions of unknown size may vary; shorter examples are padded with zeros.
      allow_smaller_final_batch: If true, the last batch may be smaller; otherwise the remaining examples are
        dropped.
      shared_name: The name under which sessions share the queue.
      name: The name scope of the new operations.

    Returns:
      A structure like `tensors`, with an additional first axis of length `batch_size`.

    Raises:
      ValueError: `tensors` is empty, or shapes are unknown.

    Example:
      >>> number = tf.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
      >>> batch = tf.train.batch([number, number * 10], batch_size=2, allow_smaller_final_batch=True)
      >>> with tf.train.MonitoredSession() as sess:
      ...     while not sess.should_stop():
      ...         print(*sess.run(batch))
      [0 1] [ 0 10]
      [2 3] [20 30]
      [4] [40]
    """
    return maybe_batch(
        tensors,
        True,
        batch_size,
        num_threads,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_batch(
    tensors: Any,
    keep_input: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """As `batch`, for examples where `keep_input` is true.

    Args:
      tensors: One example. The other arguments are those of `batch`.
      keep_input: A boolean scalar; with `enqueue_many`, a boolean vector is allowed as well.

    Returns:
      A structure like `tensors`, with an additional first axis of length `batch_size`.

    Example:
      >>> number = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
      >>> odd = tf.train.maybe_batch([number], keep_input=tf.equal(number % 2, 1), batch_size=3)
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sess.run(odd))
      [1 3 5]
    """
    return _batched(
        "batch",
        tensors,
        [list(as_list(tensors))],
        keep_input,
        batch_size,
        num_threads,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """As `batch`, for several sets of tensors, each enqueued by a thread of its own.

    Args:
      tensors_list: A list of examples with the same structure and dtypes. The other arguments are those of
        `batch`.

    Returns:
      A structure like one example, with an additional first axis.

    Raises:
      ValueError: `tensors_list` is empty, or its examples differ.

    Example:
      >>> batch = tf.train.batch_join([[tf.constant(1)], [tf.constant(2)]], batch_size=4)
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sess.run(batch).shape)
      (4,)
    """
    return maybe_batch_join(
        tensors_list,
        True,
        batch_size,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_batch_join(
    tensors_list: Any,
    keep_input: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """As `batch_join`, for examples where `keep_input` is true.

    The other arguments are those of `batch_join`.

    Args:
      keep_input: A boolean scalar; with `enqueue_many`, a boolean vector is allowed as well.

    Example:
      >>> batch = tf.train.maybe_batch_join([[tf.constant(1)], [tf.constant(2)]], keep_input=True,
      ...     batch_size=4)
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sess.run(batch).shape)
      (4,)
    """
    sets = _sets(tensors_list)
    return _batched(
        "batch_join",
        tensors_list[0],
        sets,
        keep_input,
        batch_size,
        1,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: Optional[int] = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """As `batch`, for examples drawn at random from the queue.

    Args:
      tensors: One example. The other arguments are those of `batch`.
      min_after_dequeue: The number of examples that stay in the queue, which ensures mixing.
      seed: A seed for the order.

    Returns:
      A structure like `tensors`, with an additional first axis of length `batch_size`.

    Example:
      >>> number = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
      >>> batch = tf.train.shuffle_batch([number], batch_size=6, capacity=10, min_after_dequeue=3)
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sorted(sess.run(batch).tolist()))
      [0, 1, 2, 3, 4, 5]
    """
    return maybe_shuffle_batch(
        tensors,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        num_threads,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    num_threads: int = 1,
    seed: Optional[int] = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """As `shuffle_batch`, for examples where `keep_input` is true.

    The other arguments are those of `shuffle_batch`.

    Args:
      keep_input: A boolean scalar; with `enqueue_many`, a boolean vector is allowed as well.

    Example:
      >>> number = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
      >>> odd = tf.train.maybe_shuffle_batch([number], 3, 10, 1, keep_input=tf.equal(number % 2, 1))
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sorted(sess.run(odd).tolist()))
      [1, 3, 5]
    """
    return _batched(
        "shuffle_batch",
        tensors,
        [list(as_list(tensors))],
        keep_input,
        batch_size,
        num_threads,
        capacity,
        enqueue_many,
        shapes,
        False,
        allow_smaller_final_batch,
        shared_name,
        name,
        _Shuffle(min_after_dequeue, seed),
    )


def shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    seed: Optional[int] = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """As `shuffle_batch`, for several sets of tensors, each enqueued by a thread of its own.

    Args:
      tensors_list: A list of examples with the same structure and dtypes. The other arguments are those of
        `batch` and `shuffle_batch`.

    Returns:
      A structure like one example, with an additional first axis.

    Example:
      >>> batch = tf.train.shuffle_batch_join([[tf.constant(1)], [tf.constant(2)]], batch_size=4, capacity=10,
      ...     min_after_dequeue=2)
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sess.run(batch).shape)
      (4,)
    """
    return maybe_shuffle_batch_join(
        tensors_list,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    seed: Optional[int] = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """As `shuffle_batch_join`, for examples where `keep_input` is true.

    The other arguments are those of `shuffle_batch_join`.

    Args:
      keep_input: A boolean scalar; with `enqueue_many`, a boolean vector is allowed as well.

    Example:
      >>> batch = tf.train.maybe_shuffle_batch_join([[tf.constant(1)], [tf.constant(2)]], 4, 10, 2,
      ...     keep_input=True)
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sess.run(batch).shape)
      (4,)
    """
    sets = _sets(tensors_list)
    return _batched(
        "shuffle_batch_join",
        tensors_list[0],
        sets,
        keep_input,
        batch_size,
        1,
        capacity,
        enqueue_many,
        shapes,
        False,
        allow_smaller_final_batch,
        shared_name,
        name,
        _Shuffle(min_after_dequeue, seed),
    )
