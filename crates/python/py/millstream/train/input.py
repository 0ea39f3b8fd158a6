"""Input pipelines of queues: producers that give out a tensor's rows one by one, and functions that put single examples together
to batches. Each adds a queue, and a `QueueRunner` that fills it to the graph's collection; `start_queue_runners` starts them.

The eight batch functions are one (`_batched`): with one set of tensors or several (`_join`), in order or shuffled (`shuffle_`), all
examples or only those to keep (`maybe_`).

Why not `millstream::train`, the same functions in Rust, which make the same nodes: what a pipeline leaves behind is Python's. The count of
epochs is a variable of whatever `variable_creator` and device function the program has set, collections hold the program's `QueueRunner`s
and tensors, what is given is converted by `register_tensor_conversion_function`, and a refusal is a `TypeError` or a `ValueError` from where
TensorFlow raises it. And Rust's refuse more: sources of different structures, shapes that differ between sources, a capacity of 0.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

import millstream as tf
from millstream.graph_keys import GraphKeys
from millstream.shapes import dimension_value
from millstream.train.queue_runner import QueueRunner, add_queue_runner

# Producers. ------------------------------------------------------------------------------------------------------------


def match_filenames_once(pattern: Any, name: Optional[str] = None) -> Any:
    """The names of the files that match, looked up once.

    Args:
      pattern: A pattern as the shell's, or a list of them.
      name: A name for what is made.

    Returns:
      A local variable, a vector of strings: initialize it before use.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> for n in "ab":
      ...     open(os.path.join(folder, n + ".txt"), "w").close()
      >>> names = tf.train.match_filenames_once(os.path.join(folder, "*.txt"))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print([os.path.basename(n) for n in sorted(sess.run(names))])
      [b'a.txt', b'b.txt']
    """
    with tf.name_scope(name, "matching_filenames", [pattern]) as name:
        return tf.Variable(
            tf.matching_files(pattern),
            name=name,
            trainable=False,
            validate_shape=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )


def limit_epochs(tensor: Any, num_epochs: Optional[int] = None, name: Optional[str] = None) -> Any:
    """`tensor`, which can be read `num_epochs` times; then `OutOfRangeError`. It counts in a local variable.

    Args:
      tensor: Any tensor.
      num_epochs: How often; None for ever.
      name: A name for what is made.

    Returns:
      A tensor of the same value.

    Raises:
      ValueError: `num_epochs` is not positive.
      tf.errors.OutOfRangeError: When run once too often.

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
    with tf.name_scope(name, "limit_epochs", [tensor]) as name:
        epochs = tf.Variable(
            tf.constant(0, tf.int64), name="epochs", trainable=False, collections=[GraphKeys.LOCAL_VARIABLES]
        )
        with tf.control_dependencies([epochs.count_up_to(num_epochs)]):
            return tf.identity(tensor, name=name)


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
    """A queue of the rows of `input_tensor`, epoch after epoch.

    The queue gets a runner: start it with `start_queue_runners`. If `num_epochs` is given, the count is a local
    variable to initialize.

    Args:
      input_tensor: A tensor of rank 1 or more.
      element_shape: The shape of a row, where the tensor's shape does not say it.
      num_epochs: How often every row comes; then the queue is closed. None for ever.
      shuffle: Whether rows come in another order in each epoch.
      seed: A seed for it.
      capacity: How many rows the queue holds.
      shared_name: The queue's name among sessions.
      summary_name: The name of the summary that says how full the queue is.
      name: The name scope of what is made.
      cancel_op: What closes the queue when threads are told to stop.

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
    with tf.name_scope(name, "input_producer", [input_tensor]):
        input_tensor = tf.convert_to_tensor(input_tensor, name="input_tensor")
        element_shape = input_tensor.get_shape()[1:].merge_with(element_shape)
        if not element_shape.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined shape or `element_shape` must be specified")
        if shuffle:
            input_tensor = tf.random_shuffle(input_tensor, seed=seed)
        input_tensor = limit_epochs(input_tensor, num_epochs)
        queue = tf.FIFOQueue(
            capacity=capacity,
            dtypes=[input_tensor.dtype.base_dtype],
            shapes=[element_shape],
            shared_name=shared_name,
            name=name,
        )
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([input_tensor])], cancel_op=cancel_op))
        if summary_name is not None:
            _summarize(summary_name, tf.cast(queue.size(), tf.float32) * (1.0 / capacity))
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
    """A queue of strings, such as the names of files. Other arguments are those of `input_producer`.

    Args:
      string_tensor: A vector of strings.

    Returns:
      A `FIFOQueue` of strings.

    Raises:
      ValueError: The list is empty.
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
    with tf.name_scope(name, "input_producer", [string_tensor]) as name:
        string_tensor = tf.convert_to_tensor(string_tensor, dtype=tf.string)
        with tf.control_dependencies([tf.Assert(tf.greater(tf.size(string_tensor), 0), [empty])]):
            string_tensor = tf.identity(string_tensor)
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
    """A queue of the numbers from 0 up to `limit`. Other arguments are those of `input_producer`.

    Args:
      limit: An int32 scalar.

    Returns:
      A `FIFOQueue` of int32 scalars.

    Example:
      >>> number = tf.train.range_input_producer(3, shuffle=False).dequeue()
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(*[sess.run(number) for _ in range(4)])
      0 1 2 0
    """
    with tf.name_scope(name, "input_producer", [limit]) as name:
        fraction = f"fraction_of_{capacity}_full"
        return input_producer(tf.range(limit), [], num_epochs, shuffle, seed, capacity, shared_name, fraction, name)


def slice_input_producer(
    tensor_list: Sequence[Any],
    num_epochs: Optional[int] = None,
    shuffle: bool = True,
    seed: Optional[int] = None,
    capacity: int = 32,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> List[Any]:
    """The same row of every tensor, one after another. Other arguments are those of `input_producer`.

    Args:
      tensor_list: A list of tensors with as many rows each.

    Returns:
      A list of tensors: a row of each.

    Raises:
      ValueError: There is no tensor.
      TypeError: `tensor_list` is no list.

    Example:
      >>> image, label = tf.train.slice_input_producer([[[0, 0], [1, 1]], ["a", "b"]], shuffle=False)
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(*sess.run([image, label]))
      ...     print(*sess.run([image, label]))
      [0 0] b'a'
      [1 1] b'b'
    """
    with tf.name_scope(name, "input_producer", tensor_list):
        if not isinstance(tensor_list, (list, tuple)):
            raise TypeError("values must be a sequence.")
        tensor_list = [tf.convert_to_tensor(t) for t in tensor_list]
        if not tensor_list:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        n_rows = tf.shape(tensor_list[0])[0]
        queue = range_input_producer(
            n_rows, num_epochs=num_epochs, shuffle=shuffle, seed=seed, capacity=capacity, shared_name=shared_name
        )
        index = queue.dequeue()
        return [tf.gather(t, index) for t in tensor_list]


# Batches. --------------------------------------------------------------------------------------------------------------


class Sparse(NamedTuple):
    """How a SparseTensor goes through a queue: as a handle of the map that `map_op` keeps it in."""

    map_op: Any
    # How many dimensions an example has; None if unknown.
    rank: Optional[int]


class Layout(NamedTuple):
    """What goes through the queue: for each set, its tensors (handles for sparse ones), and what each stands for."""

    sets: List[List[Any]]
    sparse: List[Optional[Sparse]]


def as_tensor(value: Any) -> Any:
    """A tensor or SparseTensor."""
    if isinstance(value, tf.SparseTensor):
        return value
    return tf.SparseTensor.from_value(value) if isinstance(value, tf.SparseTensorValue) else tf.convert_to_tensor(value)


def as_list(tensors: Any) -> List[Any]:
    """The tensors of a list, or of a dict in the order of its keys."""
    return [tensors[k] for k in sorted(tensors, key=str)] if isinstance(tensors, dict) else tensors


def as_given(given: Any, tensors: Any) -> Any:
    """Tensors in the structure that `given` had."""
    if not isinstance(given, dict):
        return tensors
    if len(given) == 1:
        tensors = [tensors]
    return {k: tensors[i] for i, k in enumerate(sorted(given, key=str))}


def checked_keep_input(keep_input: Any, enqueue_many: bool) -> Any:
    """`keep_input` as a tensor: one bool, or one for each row."""
    keep_input = tf.convert_to_tensor(keep_input)
    rank = keep_input.get_shape().ndims
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if rank == 1 and not enqueue_many:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if 1 < rank:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep_input


def either(predicate: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
    """`cond`, unless it is known now which way it goes."""
    value = tf.get_static_value(predicate)
    if value is None:
        return tf.cond(predicate, yes, no)
    return yes() if value else no()


def laid_out(sets: Sequence[Sequence[Any]], enqueue_many: bool, keep_input: Any) -> Layout:
    """Sets of tensors as they go through a queue. All sets use the maps of the first."""
    converted = [[as_tensor(t) for t in tensors] for tensors in sets]
    # What a set has beyond the first one is the queue's to refuse, when it runs.
    sparse: List[Optional[Sparse]] = [None] * max(map(len, converted))
    out: List[List[Any]] = []
    for tensors in converted:
        stored = []
        for i, tensor in enumerate(tensors):
            if not isinstance(tensor, tf.SparseTensor):
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
    """The handle of a SparseTensor put into a map, and the map: that of `info`, or a new one."""
    shared_name = info.map_op.name if info else None
    stored_by: List[Any] = []

    def store() -> Any:
        add = tf.raw_ops.AddManySparseToTensorsMap if enqueue_many else tf.raw_ops.AddSparseToTensorsMap
        handle = add(
            sparse_indices=tensor.indices,
            sparse_values=tensor.values,
            sparse_shape=tensor.dense_shape,
            shared_name=shared_name or "",
        )
        stored_by.append(handle.op)
        return handle

    if keep_input.get_shape().ndims == 1:
        rows = tf.gather(keep_input, tensor.indices[:, 0])
        tensor = tf.sparse_retain(tensor, rows)
        handle = store()
    elif enqueue_many:
        handle = either(keep_input, store, lambda: -1 * tf.ones(tensor.dense_shape[0:1], tf.int64))
        handle.set_shape([None])
    else:
        handle = either(keep_input, store, lambda: tf.constant(-1, tf.int64))
    # A map of its own is named after the op that fills it, as the op that takes from it is told.
    rank = dimension_value(tensor.dense_shape.get_shape().with_rank(1)[0])
    if rank is not None and enqueue_many:
        rank -= 1
    # A scalar component would be one tensor for the batch: as vectors of one, handles keep their own.
    return tf.expand_dims(handle, [-1]), Sparse(stored_by[0] if stored_by else handle.op, rank)


def restored(tensors: Any, sparse: Sequence[Optional[Sparse]]) -> Any:
    """What was dequeued, with SparseTensors taken out of their maps again."""
    many = isinstance(tensors, (list, tuple))
    out = [_restore(t, s) for t, s in zip(tensors if many else [tensors], sparse)]
    if any(s is not None for s in sparse):
        # Nobody may take one and leave another: what stays in a map is never freed.
        taken = [t.values.op if isinstance(t, tf.SparseTensor) else t.op for t in out]
        with tf.control_dependencies(taken):
            out = [
                tf.SparseTensor(*map(_after, (t.indices, t.values, t.dense_shape)))
                if isinstance(t, tf.SparseTensor)
                else _after(t)
                for t in out
            ]
    return out if many else out[0]


def _after(tensor: Any) -> Any:
    """The tensor, once what controls the graph now is done; by the name that it has in TensorFlow."""
    return tf.identity(tensor, name="control_dependency")


def _restore(tensor: Any, info: Optional[Sparse]) -> Any:
    if info is None:
        return tensor
    handles = tf.squeeze(tensor, [1])
    taken = tf.raw_ops.TakeManySparseFromTensorsMap(
        sparse_handles=handles,
        dtype=info.map_op.get_attr("T"),
        container=info.map_op.get_attr("container").decode(),
        shared_name=info.map_op.get_attr("shared_name").decode() or info.map_op.name,
    )
    indices, values, shape = taken
    rank = None if info.rank is None else info.rank + 1
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return tf.SparseTensor(indices, values, shape)


def types_of(sets: Sequence[Sequence[Any]]) -> List[Any]:
    """The dtypes of all sets."""
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
    """The shapes of an example's tensors: those given, or what all sets agree in."""
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
    """The queue for tensors of one shape, or of several."""
    return tf.PaddingFIFOQueue if dynamic_pad else tf.FIFOQueue


def _summarize(name: str, value: Any) -> None:
    tf.summary.scalar(name, value)


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
    """Batches of what the sets of tensors give; `given` is the structure that they are to be returned in."""
    flat = [t for tensors in sets for t in tensors]
    with tf.name_scope(name, word, flat + [keep_input]) as name:
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
            queue = tf.RandomShuffleQueue(min_after_dequeue=shuffle.min_after_dequeue, seed=shuffle.seed, **common)
        puts = [_put(queue, tensors, enqueue_many, keep_input) for tensors in layout.sets]
        add_queue_runner(QueueRunner(queue, puts * n_threads))
        if shuffle is None:
            _summarize(f"fraction_of_{capacity}_full", tf.cast(queue.size(), tf.float32) * (1.0 / capacity))
        else:
            least, room = shuffle.min_after_dequeue, capacity - shuffle.min_after_dequeue
            over = tf.cast(tf.maximum(0, queue.size() - least), tf.float32) * (1.0 / room)
            _summarize(f"fraction_over_{least}_of_{room}_full", over)
        take = queue.dequeue_up_to if allow_smaller_final_batch else queue.dequeue_many
        return as_given(given, restored(take(batch_size, name=name), layout.sparse))


def _put(queue: Any, tensors: Sequence[Any], enqueue_many: bool, keep_input: Any) -> Any:
    put = queue.enqueue_many if enqueue_many else queue.enqueue
    if keep_input.get_shape().ndims == 1:
        which = tf.cast(keep_input, tf.int32)
        return put([tf.dynamic_partition(t, which, num_partitions=2)[1] for t in tensors])
    return either(keep_input, lambda: put(tensors), tf.no_op)


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
    """Batches of examples, put together in a queue by threads of their own.

    Start the threads with `start_queue_runners`, or use a `MonitoredSession`. When the input ends, so do the batches,
    with `OutOfRangeError`.

    All eight functions of this kind take these arguments. Those in `_join` take a list of examples, and enqueue each
    by its own thread; `shuffle_` ones draw at random; `maybe_` ones leave some out.

    Args:
      tensors: One example: a list or dict of tensors, or a tensor.
      batch_size: How many examples a batch has: an int, or a scalar tensor.
      num_threads: How many threads enqueue.
      capacity: How many examples the queue holds.
      enqueue_many: Whether `tensors` are many examples, along their first axis.
      shapes: The shapes of an example, where they are not known.
      dynamic_pad: Whether examples may differ in dimensions of unknown size: shorter ones are padded with zeros.
      allow_smaller_final_batch: Whether what is left at the end comes as a smaller batch; else it is dropped.
      shared_name: The queue's name among sessions.
      name: The name scope of what is made.

    Returns:
      A structure like `tensors`, with a first axis of length `batch_size` more.

    Raises:
      ValueError: There is no tensor, or shapes are unknown.

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
    """`batch` of those examples for which `keep_input` holds.

    Args:
      tensors: One example, as for `batch`, of which the other arguments are.
      keep_input: A boolean scalar; with `enqueue_many`, a vector of them is allowed, too.

    Returns:
      A structure like `tensors`, with a first axis of length `batch_size` more.

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
    """`batch` of what several sets of tensors give, each enqueued by a thread of its own.

    Args:
      tensors_list: A list of examples, alike in structure and dtypes. The other arguments are those of `batch`.

    Returns:
      A structure like one of them, with a first axis more.

    Raises:
      ValueError: There is no example, or they differ.

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
    """`batch_join` of those examples for which `keep_input` holds. The other arguments are those of `batch_join`.

    Args:
      keep_input: A boolean scalar; with `enqueue_many`, a vector of them is allowed, too.

    Example:
      >>> batch = tf.train.maybe_batch_join([[tf.constant(1)], [tf.constant(2)]], keep_input=True, batch_size=4)
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
    """`batch` of examples drawn at random from a queue.

    Args:
      tensors: One example, as for `batch`, of which the other arguments are.
      min_after_dequeue: How many examples stay in the queue, for them to be mixed well.
      seed: A seed for the order.

    Returns:
      A structure like `tensors`, with a first axis of length `batch_size` more.

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
    """`shuffle_batch` of those examples for which `keep_input` holds. The other arguments are those of `shuffle_batch`.

    Args:
      keep_input: A boolean scalar; with `enqueue_many`, a vector of them is allowed, too.

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
    """`shuffle_batch` of what several sets of tensors give, each enqueued by a thread of its own.

    Args:
      tensors_list: A list of examples, alike in structure and dtypes. The other arguments are those of `batch` and
        `shuffle_batch`.

    Returns:
      A structure like one of them, with a first axis more.

    Example:
      >>> batch = tf.train.shuffle_batch_join([[tf.constant(1)], [tf.constant(2)]], batch_size=4, capacity=10, min_after_dequeue=2)
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
    """`shuffle_batch_join` of those examples for which `keep_input` holds. The other arguments are those of
    `shuffle_batch_join`.

    Args:
      keep_input: A boolean scalar; with `enqueue_many`, a vector of them is allowed, too.

    Example:
      >>> batch = tf.train.maybe_shuffle_batch_join([[tf.constant(1)], [tf.constant(2)]], 4, 10, 2, keep_input=True)
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
