"""`bucket` and `bucket_by_sequence_length`: batches of examples of the same bucket.

The graph is that of `millstream::contrib::training::bucket` in Rust: an element's queue is selected, and one
enqueue puts it there. TensorFlow asks each bucket in turn, with a `cond` each. Features that TensorFlow lacks
are in attributes that begin with `_`, which it ignores, so the graph runs there as well.
"""

from __future__ import annotations

import contextlib
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from millstream.framework import (
    constant,
    convert_to_tensor,
    dtypes,
    errors,
    get_default_graph,
    get_static_value,
    name_scope,
    node_counts,
    protos,
)
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape
from millstream.framework.tensor_util import make_tensor_proto
from millstream.io import summaries
from millstream.ops import array_ops, control_flow, math_ops, reduction_ops
from millstream.ops.data_flow import PaddingFIFOQueue, QueueBase
from millstream.train import input as pipeline
from millstream.train.queue_runner import QueueRunner, add_queue_runner

# Errors of a source queue that mean the end of input.
_ENDS = (errors.OutOfRangeError, errors.CancelledError)

# Integers up to here are exact as float32, the type of the boundaries of `Bucketize`.
_EXACT = 1 << 24


class MaxTokens:
    """A batch size: as many rows as fit in this many tokens, padding included.

    The tokens of a batch are its rows times the length of the longest. A row's length is its largest
    dimension of unknown size, so `dynamic_pad=True` is needed. An example longer than the limit is an error
    of its run.

    Args:
      tokens: A positive int.

    Raises:
      ValueError: `tokens` is not a positive int.

    Example:
      >>> n = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
      >>> _, rows = tf.contrib.training.bucket([tf.fill([n + 1], n)], n * 0, tf.contrib.training.MaxTokens(8), 1,
      ...     dynamic_pad=True, allow_smaller_final_batch=True)
      >>> with tf.train.MonitoredSession() as sess:
      ...     [sess.run(rows).shape for _ in range(4)]
      [(2, 2), (2, 4), (1, 5), (1, 6)]
    """

    def __init__(self, tokens: int) -> None:
        if isinstance(tokens, bool) or not isinstance(tokens, (int, np.integer)) or tokens <= 0:
            raise ValueError(f"MaxTokens takes a positive int, the most tokens of a batch, not {tokens!r}")
        self.tokens = int(tokens)

    def __repr__(self) -> str:
        return f"MaxTokens({self.tokens})"


class BucketStatistics(NamedTuple):
    """Counts of the examples of one bucket.

    Args:
      n_in: The number of examples that arrived.
      n_out: The number of examples that left in batches.
      waiting: The number of examples in the bucket, or in a batch that no run has taken yet.
      discarded: The number of examples that will never leave: too few for a batch at the end of the input, or
        in a batch when the runners stopped.
      batches: The number of batches.
      rows: The number of rows in the batches.
      batch_size: The batch size; None if it is not fixed.
      cells: The number of tensor elements in the batches, over all components.
      padding: The number of these that are padding.
    """

    n_in: int
    n_out: int
    waiting: int
    discarded: int
    batches: int
    rows: int
    batch_size: Optional[int]
    cells: int
    padding: int

    @property
    def fill(self) -> float:
        """How full the batches are: rows divided by the batch size; 1 without batches or a fixed size."""
        room = (self.batch_size or 0) * self.batches
        return self.rows / room if room else 1.0

    @property
    def padding_waste(self) -> float:
        """The share of padding in the batches, 0 to 1."""
        return self.padding / self.cells if self.cells else 0.0


class Statistics(NamedTuple):
    """Counts of the examples of a `bucket` at one moment.

    `came == out + waiting + dropped` whenever no example is in transit. Printed, it is a table.

    Args:
      buckets: A list of `BucketStatistics`, one for each bucket.
      filtered: The number of examples that `keep_input` skipped.
      out_of_range: The number of examples dropped because their `which_bucket` was out of range.
      table: The counts as text.

    Example:
      >>> n = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
      >>> bucketed = tf.contrib.training.bucket([n], which_bucket=n % 2, batch_size=2, num_buckets=2)
      >>> which, numbers = bucketed
      >>> with tf.train.MonitoredSession() as sess:
      ...     batches = [sess.run(numbers) for _ in range(2)]
      ...     counts = bucketed.statistics(sess)
      >>> counts.came, counts.out, counts.waiting + counts.dropped
      (4, 4, 0)
    """

    buckets: List[BucketStatistics]
    filtered: int
    out_of_range: int
    table: str

    @property
    def came(self) -> int:
        """The number of examples that arrived, including skipped ones."""
        return sum(b.n_in for b in self.buckets) + self.filtered + self.out_of_range

    @property
    def out(self) -> int:
        """The number of examples that left in batches."""
        return sum(b.n_out for b in self.buckets)

    @property
    def waiting(self) -> int:
        """The number of waiting examples."""
        return sum(b.waiting for b in self.buckets)

    @property
    def dropped(self) -> int:
        """The number of dropped examples, for any reason."""
        return sum(b.discarded for b in self.buckets) + self.filtered + self.out_of_range

    @property
    def padding_waste(self) -> float:
        """The share of padding in all batches, 0 to 1."""
        cells = sum(b.cells for b in self.buckets)
        return sum(b.padding for b in self.buckets) / cells if cells else 0.0

    def __str__(self) -> str:
        return self.table


class Bucketed(Tuple[Any, Any]):
    """What `bucket` returns: the pair `(which_bucket, batch)`, with the queues and their counts."""

    _queues: Sequence[Any]
    _top: Any
    _sizes: Sequence[Optional[int]]

    def __new__(cls, pair: Iterable[Any], queues: Sequence[Any] = (), top: Any = None, sizes: Sequence[Optional[int]] = ()) -> "Bucketed":
        made = super().__new__(cls, pair)  # type: ignore[type-var]
        made._queues, made._top, made._sizes = queues, top, sizes
        return made

    @property
    def bucket_queues(self) -> List[Any]:
        """The queue of each bucket."""
        return list(self._queues)

    @property
    def top_queue(self) -> Any:
        """The queue of batches."""
        return self._top

    def statistics(self, sess: Any) -> Statistics:
        """Reads the counts of all examples in a session, at most a batch apart while runners work.

        Args:
          sess: The session: a `Session` or a monitored one.

        Returns:
          A `Statistics`.

        Raises:
          ValueError: The pair holds values, not tensors: `sess.run` returned it.
        """
        if self._top is None:
            raise ValueError("These are values of a run, which have no counts: call `statistics` on what `bucket` returned")
        while hasattr(sess, "_tf_sess"):
            sess = sess._tf_sess()
        handles = [queue.queue_ref for queue in self._queues]
        buckets, filtered, out_of_range, table = sess._bucket_statistics(handles, self._top.queue_ref, list(self._sizes))
        return Statistics([BucketStatistics(*counts) for counts in buckets], filtered, out_of_range, table)


def bucket(
    tensors: Any,
    which_bucket: Any,
    batch_size: Any,
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Optional[Sequence[int]] = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
    *,
    drop_out_of_range: bool = False,
    padding_values: Optional[Dict[Any, Any]] = None,
    pad_to: Optional[Dict[Any, Sequence[int]]] = None,
) -> Bucketed:
    """Puts each example into one of `num_buckets` queues; each full bucket gives a batch with the bucket's
    number.

    An example whose `which_bucket` is outside `[0, num_buckets)` ends the pipeline with an error; TensorFlow
    drops it silently, and so does `drop_out_of_range=True`, which counts it in the statistics.

    Args:
      tensors: One example: a list or dict of tensors.
      which_bucket: An `int32` scalar: the example's bucket.
      batch_size: An int, the number of examples in a batch, or a list with an int for each bucket, or a
        `MaxTokens`.
      num_buckets: The number of buckets.
      num_threads: The number of threads that enqueue.
      capacity: The capacity of the queue of batches, and by default of each bucket.
      bucket_capacities: A list of the capacities of buckets, in examples.
      shapes: The shapes of an example, if not known.
      dynamic_pad: If true, dimensions of unknown size are padded.
      allow_smaller_final_batch: If true, the last batch of each bucket may be smaller.
      keep_input: A boolean scalar: false to drop the example.
      shared_name: The name under which sessions share the queues.
      name: The name scope of the new operations.
      drop_out_of_range: If true, examples whose `which_bucket` is out of range are dropped and counted.
      padding_values: A dict from a component, its key or its index in `tensors`, to the scalar that pads it
        instead of zero or an empty string.
      pad_to: A dict from a component to a list with the least size of its padded dimensions in each bucket.
        Batches of a bucket then have the same shape, unless an example is larger.

    Returns:
      A `Bucketed`, which is a pair: the bucket's number, an `int32` scalar, and the batch: a list or dict
        like `tensors` (the tensor itself if the list has one), with an additional first axis. Its method
        `statistics(sess)` counts the examples.

    Raises:
      ValueError: A list has a length other than `num_buckets`, `tensors` is empty, or `padding_values` or
        `pad_to` names a component that is not there, is sparse, or is not padded.

    Example:
      >>> number = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
      >>> bucket, rows = tf.contrib.training.bucket([number, number * 10], which_bucket=number % 2,
      ...     batch_size=2, num_buckets=2)
      >>> with tf.train.MonitoredSession() as sess:
      ...     batches = [sess.run([bucket] + rows) for _ in range(2)]
      >>> sorted((int(b), x.tolist(), y.tolist()) for b, x, y in batches)
      [(0, [0, 2], [0, 20]), (1, [1, 3], [10, 30])]
    """
    tokens = batch_size.tokens if isinstance(batch_size, MaxTokens) else None
    if tokens is not None and not dynamic_pad:
        raise ValueError(f"{batch_size} counts padded rows: set dynamic_pad=True")
    each_its_own = isinstance(batch_size, (list, tuple))
    if each_its_own and len(batch_size) != num_buckets:
        raise ValueError("If batch_size is a list it must have num_buckets elements")
    sizes: List[Any] = list(batch_size) if each_its_own else [tokens or batch_size] * num_buckets
    if bucket_capacities is None:
        bucket_capacities = [capacity] * num_buckets
    if len(bucket_capacities) != num_buckets:
        raise ValueError(
            f"The list bucket_capacities ({bucket_capacities}) must have exactly num_buckets ({num_buckets}) elements."
        )
    given = list(pipeline.as_list(tensors))
    with name_scope(name, "bucket", given):
        if not given:
            raise ValueError("Expected at least one tensor in bucket().")
        converted = [pipeline.as_tensor(t) for t in given]
        keep_input = pipeline.checked_keep_input(keep_input, enqueue_many=False)
        which_bucket = convert_to_tensor(which_bucket, dtype=dtypes.int32, name="which_bucket")
        one_of = None
        if drop_out_of_range:
            one_of = op("LogicalAnd")(op("LessEqual")(0, which_bucket), op("Less")(which_bucket, num_buckets))
        filtered = keep_input
        if one_of is not None and any(isinstance(t, pipeline.SparseTensor) for t in converted):
            # An example that is stored in a map must leave it again.
            filtered = op("LogicalAnd")(keep_input, one_of)
        layout = pipeline.laid_out([converted], False, filtered)
        (example,) = layout.sets
        sizes = [_static(s) for s in sizes]
        types = pipeline.types_of([example])
        shapes = pipeline.shapes_of([example], shapes, False)
        padding = _Padding(tensors, converted, types, shapes if dynamic_pad else None, padding_values, pad_to, num_buckets)
        buckets = []
        for i in range(num_buckets):
            with padding.attributes(i, tokens):
                queue = pipeline.queue_kind(dynamic_pad)(
                    capacity=bucket_capacities[i],
                    dtypes=types,
                    shapes=shapes,
                    shared_name=None if shared_name is None else f"{shared_name}_{i}",
                    name=f"bucket_queue_{i}",
                )
            buckets.append(queue)
        known = tokens is None and not allow_smaller_final_batch and not each_its_own and isinstance(sizes[0], int)
        rows = TensorShape([sizes[0] if known else None])
        top = PaddingFIFOQueue(
            capacity=capacity,
            dtypes=[dtypes.int32] + types,
            shapes=[TensorShape([])] + [rows.concatenate(s) for s in buckets[0].shapes],
            shared_name=shared_name,
            name="top_queue",
        )
        fill = _fill(buckets, top, example, which_bucket, keep_input, one_of, num_threads)
        _move(buckets, top, sizes, allow_smaller_final_batch)
        add_queue_runner(fill)
        for queue in buckets:
            summaries.scalar(f"bucket/{queue.name}/size", math_ops.cast(top.size(), dtypes.float32))
        full = math_ops.cast(top.size(), dtypes.float32) * (1.0 / capacity)
        summaries.scalar(f"bucket/{top.name}/fraction_of_{capacity}_full", full)

        with _attributes(_counts=_text("rows")):
            which, *batch = top.dequeue(name="dequeue_top")
        out = pipeline.restored(batch[0] if len(batch) == 1 else batch, layout.sparse)
        fixed = [size if tokens is None and isinstance(size, int) else None for size in sizes]
        return Bucketed((which, pipeline.as_given(tensors, out)), buckets, top, fixed)


def _static(size: Any) -> Any:
    value = get_static_value(convert_to_tensor(size, dtype=dtypes.int32, name="batch_size"))
    return size if value is None else int(value)


def _text(value: str) -> Any:
    return protos.AttrValue(s=value.encode())


def _attributes(**values: Any) -> Any:
    """A block whose operations have these attributes, which TensorFlow ignores."""
    return get_default_graph()._attr_scope(values)


class _Padding:
    """What pads each component, and to which size in each bucket."""

    def __init__(
        self,
        tensors: Any,
        converted: Sequence[Any],
        types: Sequence[Any],
        shapes: Any,
        values: Optional[Dict[Any, Any]],
        sizes: Optional[Dict[Any, Sequence[int]]],
        n_buckets: int,
    ) -> None:
        names = sorted(tensors, key=str) if isinstance(tensors, dict) else list(range(len(converted)))

        def index_of(argument: str, component: Any) -> int:
            if component not in names:
                raise ValueError(f"{argument} names the component {component!r}, but an example has {names}")
            i = names.index(component)
            if isinstance(converted[i], pipeline.SparseTensor):
                raise ValueError(f"{argument} names the component {component!r}, which is sparse: only dense ones are padded")
            if shapes is None or all(d is not None for d in TensorShape(shapes[i]).as_list()):
                why = "dynamic_pad is False" if shapes is None else f"its shape {shapes[i]} is known"
                raise ValueError(f"{argument} names the component {component!r}, which is not padded: {why}")
            return i

        self._values: List[Any] = []
        if values:
            given = {index_of("padding_values", component): value for component, value in values.items()}
            for i, dtype in enumerate(types):
                value = given.get(i, b"" if dtype == dtypes.string else 0)
                self._values.append(make_tensor_proto(value, dtype=dtype, shape=[]))
        self._sizes: List[Sequence[int]] = []
        if sizes:
            wanted = {index_of("pad_to", component): list(of) for component, of in sizes.items()}
            for i, of in wanted.items():
                if len(of) != n_buckets:
                    raise ValueError(f"pad_to of the component {names[i]!r} has {len(of)} sizes, but there are {n_buckets} buckets")
            self._sizes = [wanted.get(i, [0] * n_buckets) for i in range(len(types))]

    def attributes(self, bucket: int, tokens: Optional[int]) -> Any:
        """A block whose queue, that of a bucket, pads so."""
        attributes: Dict[str, Any] = {}
        if self._values:
            attributes["_padding_values"] = protos.AttrValue(list=protos.AttrValue.ListValue(tensor=self._values))
        if self._sizes:
            sizes = [int(of[bucket]) for of in self._sizes]
            attributes["_pad_to"] = protos.AttrValue(list=protos.AttrValue.ListValue(i=sizes))
        if tokens is not None:
            attributes["_max_tokens"] = protos.AttrValue(i=tokens)
        return _attributes(**attributes) if attributes else contextlib.nullcontext()


def _fill(
    buckets: Sequence[Any],
    top: Any,
    example: Sequence[Any],
    which: Any,
    keep_input: Any,
    one_of: Any,
    n_threads: int,
) -> QueueRunner:
    """Returns the runner that fills the buckets. It has the name of the top queue, and closes the buckets."""
    n = len(buckets)
    advice = (
        f"there are {n} buckets, and `which_bucket` must be one of 0 to {n - 1}: make it so, or let "
        "`drop_out_of_range=True` drop and count such examples"
    )

    def count(what: str) -> Any:
        with _attributes(_counts=_text(what)):
            return top.size(name=what).op

    def into_its_bucket() -> Any:
        with _attributes(_help=_text(advice)):
            queue = QueueBase.from_list(which, list(buckets))
        return control_flow.group(queue.enqueue(example, name="enqueue"), name="group_enqueues")

    def in_range() -> Any:
        if one_of is None:
            return into_its_bucket()
        return control_flow.cond(one_of, into_its_bucket, lambda: count("out_of_range"))

    # TensorFlow makes a cond for each bucket, whose nodes count for the seeds of later operations: a switch
    # for each value that the cond uses, and twelve others. Another cond is around them if there is a filter.
    values = len({id(value) for value in example})
    like_there = n * (12 + values) + 1
    if get_static_value(keep_input) is None:
        like_there += 8 + n + len({id(value) for value in [which, *example]})
    with node_counts.counted_as(like_there):
        put = pipeline.either(keep_input, in_range, lambda: count("filtered"))
    return QueueRunner(
        top,
        [put] * n_threads,
        close_op=control_flow.group(*[q.close() for q in buckets]),
        cancel_op=control_flow.group(*[q.close(cancel_pending_enqueues=True) for q in buckets]),
        queue_closed_exception_types=_ENDS,
    )


def _move(buckets: Sequence[Any], top: Any, sizes: Sequence[Any], allow_smaller: bool) -> None:
    """Adds the runner that moves full batches to the top queue, with a thread for each bucket."""
    moves = []
    for i, (queue, size) in enumerate(zip(buckets, sizes)):
        take = queue.dequeue_up_to if allow_smaller else queue.dequeue_many
        batch = take(size, name=f"read_bucket_{i}")
        batch = list(batch) if isinstance(batch, (list, tuple)) else [batch]
        moves.append(top.enqueue([constant(i)] + batch, name=f"enqueue_from_bucket_{i}"))
    add_queue_runner(
        QueueRunner(
            buckets[0],
            moves,
            close_op=top.close(),
            cancel_op=top.close(cancel_pending_enqueues=True),
            queue_closed_exception_types=_ENDS,
        )
    )


def bucket_by_sequence_length(
    input_length: Any,
    tensors: Any,
    batch_size: Any,
    bucket_boundaries: Sequence[int],
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Optional[Sequence[int]] = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
    *,
    padding_values: Optional[Dict[Any, Any]] = None,
    pad_to: Optional[Dict[Any, Sequence[int]]] = None,
    pad_to_boundary: Sequence[Any] = (),
) -> Bucketed:
    """Batches examples of similar length. The other arguments are those of `bucket`.

    Args:
      input_length: An `int32` scalar: the example's length.
      tensors: One example: a list or dict of tensors.
      batch_size: An int, the number of examples in a batch, or a list with an int for each bucket.
      bucket_boundaries: A list of increasing ints: the lengths at which the next bucket starts.
      pad_to_boundary: A list of components, keys or indices in `tensors`, that are padded to the largest
        length of their bucket. The last bucket has no bound: it pads to the longest example of the batch.

    Returns:
      A `Bucketed`, which is a pair: the lengths of a batch's examples, an `int32` vector, and the batch.

    Raises:
      TypeError: `bucket_boundaries` is not a list of ints.
      ValueError: `bucket_boundaries` is empty or not increasing.

    Example:
      >>> n = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
      >>> lengths, (rows,) = tf.contrib.training.bucket_by_sequence_length(n, [tf.range(n)], 2,
      ...     bucket_boundaries=[2, 4], dynamic_pad=True)
      >>> with tf.train.MonitoredSession() as sess:
      ...     batches = [sess.run([lengths, rows]) for _ in range(2)]
      >>> sorted(batch.tolist() for _, batch in batches)
      [[[0], [0]], [[0, 1, 0], [0, 1, 2]]]
    """
    if not isinstance(bucket_boundaries, (list, tuple)):
        raise TypeError(f"bucket_boundaries must be a list or tuple, but received: {bucket_boundaries}")
    if not bucket_boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for low, high in zip(bucket_boundaries[:-1], bucket_boundaries[1:]):
        if not isinstance(low, int) or not isinstance(high, int):
            raise TypeError(f"bucket boundaries must be integers, but saw: {low} and {high}")
        if high <= low:
            raise ValueError(f"Buckets must contain sequential increasing lengths, but saw: {low} before {high}")
    given = list(pipeline.as_list(tensors))
    with name_scope(name, "bucket_by_sequence_length", [input_length] + given):
        input_length = convert_to_tensor(input_length, dtype=dtypes.int32, name="input_length")
        which = _bucket_of(input_length, bucket_boundaries)
        # The length goes first, so that each component of `tensors` moves on by one.
        components = sorted(tensors, key=str) if isinstance(tensors, dict) else range(len(given))
        shift = {component: i + 1 for i, component in enumerate(components)}

        def shifted(argument: str, of: Optional[Dict[Any, Any]]) -> Dict[Any, Any]:
            for component in of or ():
                if component not in shift:
                    raise ValueError(f"{argument} names the component {component!r}, but an example has {list(shift)}")
            return {shift[component]: value for component, value in (of or {}).items()}

        to_boundary = {component: [max(high - 1, 0) for high in bucket_boundaries] + [0] for component in pad_to_boundary}
        bucketed = bucket(
            [input_length] + given,
            which,
            batch_size,
            len(bucket_boundaries) + 1,
            num_threads=num_threads,
            capacity=capacity,
            bucket_capacities=bucket_capacities,
            shapes=None if shapes is None else [TensorShape([])] + list(shapes),
            dynamic_pad=dynamic_pad,
            allow_smaller_final_batch=allow_smaller_final_batch,
            keep_input=keep_input,
            shared_name=shared_name,
            padding_values=shifted("padding_values", padding_values),
            pad_to={**shifted("pad_to", pad_to), **shifted("pad_to_boundary", to_boundary)},
        )
        _, batch = bucketed
        # The single tensor of a dict is returned in a list, as in TensorFlow.
        pair = (batch[0], pipeline.as_given(tensors, batch[1:]))
        return Bucketed(pair, bucketed._queues, bucketed._top, bucketed._sizes)


def _bucket_of(length: Any, boundaries: Sequence[int]) -> Any:
    """Returns the bucket of a length: the number of boundaries that it has reached."""
    # TensorFlow compares the length with the lower and upper bounds of all buckets, which takes nine nodes.
    with node_counts.counted_as(9):
        if all(abs(b) <= _EXACT for b in boundaries):
            return op("Bucketize")(length, boundaries=[float(b) for b in boundaries])
        return reduction_ops.reduce_sum(math_ops.cast(op("GreaterEqual")(length, list(boundaries)), dtypes.int32), 0)
