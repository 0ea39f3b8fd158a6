"""`batch_sequences_with_states`: batches of segments of sequences, with a state carried between segments.

A `SequenceQueueingStateSaver` cuts each sequence into segments and puts them into a barrier
(`ops.barriers`). The first segment is complete when it is inserted; each of the others lacks its state until
`NextQueuedSequenceBatch.save_state` has been run for the segment before it.
"""

from __future__ import annotations

import numbers
from typing import Any, Dict, List, Optional, Tuple

from millstream._engine import Operation, Tensor
from millstream.framework import SparseTensor, SparseTensorValue, control_dependencies, convert_to_tensor, dtypes, errors, name_scope
from millstream.framework.op_functions import op
from millstream.io import summaries
from millstream.ops import array_ops, check_ops, control_flow, indexing_ops, math_ops, random_ops, reduction_ops, sparse_ops
from millstream.ops.barriers import Barrier
from millstream.ops.data_flow import FIFOQueue
from millstream.train.queue_runner import QueueRunner, add_queue_runner

__all__ = ["NextQueuedSequenceBatch", "SequenceQueueingStateSaver", "batch_sequences_with_states"]

# The components of a segment besides its sequences, context and states.
_FIXED = {
    "length": dtypes.int32,
    "total_length": dtypes.int32,
    "next_key": dtypes.string,
    "sequence": dtypes.int32,
    "sequence_count": dtypes.int32,
}


class NextQueuedSequenceBatch:
    """A batch of segments, whose states are read and saved by name.

    It is the `state_saver` of `tf.nn.static_state_saving_rnn`. A `SequenceQueueingStateSaver` makes it.

    Args:
      state_saver: The `SequenceQueueingStateSaver`.

    Example:
      >>> key = tf.train.string_input_producer(["a"], num_epochs=1).dequeue()
      >>> batch = tf.contrib.training.batch_sequences_with_states(key, {"x": tf.range(5)}, {"id": tf.constant(7)}, None,
      ...     {"sum": tf.constant(0)}, num_unroll=2, batch_size=1, num_threads=1, capacity=1, make_keys_unique=False)
      >>> total = batch.state("sum") + tf.reduce_sum(batch.sequences["x"], 1)
      >>> save = batch.save_state("sum", total)
      >>> named = [batch.key, batch.next_key]
      >>> numbered = [batch.sequence, batch.sequence_count, batch.length, batch.total_length]
      >>> whole = [batch.batch_size, batch.insertion_index - tf.int64.min, batch.context["id"]]
      >>> coord = tf.train.Coordinator()
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     threads = tf.train.start_queue_runners(sess, coord)
      ...     for _ in range(3):
      ...         print(*sess.run(named + numbered + whole + [total, save])[:-1])
      ...     coord.request_stop()
      ...     coord.join(threads)
      [b'00000_of_00003:a'] [b'00001_of_00003:a'] [0] [3] [2] [5] 1 [0] [7] [1]
      [b'00001_of_00003:a'] [b'00002_of_00003:a'] [1] [3] [2] [5] 1 [0] [7] [6]
      [b'00002_of_00003:a'] [b'STOP:a'] [2] [3] [1] [5] 1 [0] [7] [10]
    """

    def __init__(self, state_saver: "SequenceQueueingStateSaver") -> None:
        self._state_saver = state_saver

    def _fixed(self, name: str) -> Tensor:
        return self._state_saver._received["fixed", name]

    @property
    def total_length(self) -> Tensor:
        """The lengths of the whole sequences, without their padding."""
        return self._fixed("total_length")

    @property
    def length(self) -> Tensor:
        """The lengths of the segments, without their padding."""
        return self._fixed("length")

    @property
    def batch_size(self) -> Tensor:
        """The number of segments in the batch, an `int32` scalar."""
        return self._state_saver._received_batch_size

    @property
    def insertion_index(self) -> Tensor:
        """The numbers of the examples, counted from -2**63. Segments of earlier examples come first."""
        return self._state_saver._received_indices

    @property
    def key(self) -> Tensor:
        """The keys of the segments: `"00001_of_00003:KEY"` for the second of three segments of `KEY`."""
        return self._state_saver._received_keys

    @property
    def next_key(self) -> Tensor:
        """The keys of the segments that follow; `"STOP:KEY"` after the last."""
        return self._fixed("next_key")

    @property
    def sequence(self) -> Tensor:
        """The numbers of the segments within their sequences, from 0."""
        return self._fixed("sequence")

    @property
    def sequence_count(self) -> Tensor:
        """The numbers of segments that the sequences have."""
        return self._fixed("sequence_count")

    @property
    def context(self) -> Dict[str, Any]:
        """The context of each segment's example: tensors of shape `[batch_size, ..]` by name."""
        return self._state_saver._received_context

    @property
    def sequences(self) -> Dict[str, Any]:
        """The segments of each sequence: tensors of shape `[batch_size, num_unroll, ..]` by name."""
        return self._state_saver._received_sequences

    def state(self, state_name: str) -> Tensor:
        """Returns the state that each segment begins with.

        Args:
          state_name: A key of `initial_states`.

        Returns:
          A tensor of shape `[batch_size, ..]`: the initial state, or what `save_state` kept for the segment.

        Raises:
          KeyError: There is no state of this name.
        """
        return self._state_saver._state(state_name)

    def save_state(self, state_name: str, value: Any, name: Optional[str] = None) -> Operation:
        """Returns the operation that keeps a state for the segments that follow.

        It must be run for every batch. The next segment of a sequence waits for it.

        Args:
          state_name: A key of `initial_states`.
          value: The state at the end of the segments, of the dtype and shape of `state(state_name)`.
          name: A name for the operations.

        Returns:
          The `Operation`.

        Raises:
          KeyError: There is no state of this name.
          TypeError: `value` has another dtype.
          ValueError: `value` has another shape.
        """
        saver = self._state_saver
        state = saver._state(state_name)
        with name_scope(name, "InputQueueingStateSaver_SaveState"):
            value = convert_to_tensor(value)
            if value.dtype.base_dtype != state.dtype:
                raise TypeError(f"state '{state_name}' is {state.dtype.name}, but the value to save is {value.dtype.base_dtype.name}")
            if not value.shape.is_compatible_with(state.shape):
                raise ValueError(f"Shape check failed for state '{state_name}': it has shape {state.shape}, but the value to save {value.shape}")
            same = check_ops.assert_equal(
                array_ops.shape(value), array_ops.shape(state), message=f"the value to save of state '{state_name}' must have its shape:"
            )
            with control_dependencies([same]):
                going_on = array_ops.reshape(array_ops.where(op("LogicalNot")(saver._sequence_is_done)), [-1])
            keys, kept = indexing_ops.gather(self.next_key, going_on), indexing_ops.gather(value, going_on)
            number = saver._number["state", state_name]
            return saver.barrier.insert_many(number, keys, kept, name=f"BarrierInsertState_{state_name}")


class SequenceQueueingStateSaver:
    """Cuts sequences into segments, and keeps the state that each segment begins with.

    `prefetch_op` inserts one example. `next_batch` is a batch of segments of several examples.
    `batch_sequences_with_states` makes a saver, pads the sequences, and adds a queue runner.

    Args:
      batch_size: The number of segments in a batch: an int or a scalar tensor.
      num_unroll: The number of steps in a segment.
      input_length: The length of the sequence without its padding, an `int32` scalar.
      input_key: The key of the example, a string scalar. Keys must be unique among the examples in the saver.
      input_sequences: A dict of tensors with the same number of rows, a multiple of `num_unroll`. The
        other dimensions must be known.
      input_context: A dict of tensors of known shapes, which are the same for all segments.
      initial_states: A dict of tensors of known shapes, the states that the first segment begins with.
      capacity: The number of examples in the saver, at least `batch_size`; None for no limit.
      allow_small_batch: If true, the segments that are left when the saver is closed make smaller batches.
      name: A name for the operations.

    Raises:
      TypeError: An argument is not a dict, a key is not a string, or a dtype is not as above.
      ValueError: A key has a colon, a shape is not known, there is no sequence or no state, or `capacity` is
        less than `batch_size`.

    Example:
      >>> saver = tf.contrib.training.SequenceQueueingStateSaver(1, 2, input_length=3, input_key="a",
      ...     input_sequences={"x": [1, 2, 3, 0]}, input_context={"y": 7}, initial_states={"s": [0.0]})
      >>> put, batch = saver.prefetch_op, saver.next_batch
      >>> with tf.Session() as sess:
      ...     sess.run(put)
      ...     print(*sess.run([batch.sequences["x"], batch.context["y"], batch.state("s"), batch.total_length]))
      ...     sess.run(saver.close())  # no more examples
      [[1 2]] [7] [[0.]] [3]
      >>> saver.batch_size, saver.num_unroll, saver.name, saver.barrier.name
      (1, 2, 'InputQueueingStateSaver/', 'InputQueueingStateSaver/barrier')
    """

    def __init__(
        self,
        batch_size: Any,
        num_unroll: int,
        input_length: Any,
        input_key: Any,
        input_sequences: Dict[str, Any],
        input_context: Dict[str, Any],
        initial_states: Dict[str, Any],
        capacity: Optional[int] = None,
        allow_small_batch: bool = False,
        name: Optional[str] = None,
    ) -> None:
        _check_unroll(num_unroll)
        enough = []
        if capacity is not None and isinstance(batch_size, Tensor):
            message = "capacity needs to be >= batch_size."
            enough = [check_ops.assert_greater_equal(math_ops.cast(capacity, dtypes.int64), math_ops.cast(batch_size, dtypes.int64), message=message)]
        elif capacity is not None and capacity < batch_size:
            raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}")
        _check_names(initial_states, "state name", "initial_states must be a dictionary")
        if not initial_states:
            raise ValueError("initial_states may not be empty: at least one state variable is required to carry on from segment to segment")
        # A token for each example that has segments in the barrier.
        self._capacity_queue = FIFOQueue(-1 if capacity is None else capacity, [dtypes.int32], shapes=[[]])
        self._batch_size, self._num_unroll, self._allow_small_batch = batch_size, num_unroll, allow_small_batch
        with name_scope(name, "InputQueueingStateSaver") as scope:
            self._scope = scope
            with control_dependencies(enough):
                self._key = array_ops.identity(_scalar(input_key, "key", dtypes.string))
            sequences = _tensors(input_sequences, "sequence", "sequences must be a dict", rows=True)
            if not sequences:
                raise ValueError("must have at least one sequence tensor")
            self._context = _tensors(input_context, "context", "context must be a dict")
            self._states = _tensors(initial_states, "state", "initial_states must be a dictionary")
            length = _scalar(input_length, "length", dtypes.int32)
            first = next(iter(sequences.values()))
            self._padded_length = array_ops.identity(array_ops.shape(first)[0], name="padded_length")
            with control_dependencies(self._checks(sequences, length)):
                self._length = array_ops.identity(length)
                self._sequences = {k: array_ops.identity(v) for k, v in sequences.items()}
            self._number, types, shapes = self._components()
            self._barrier = Barrier(types, shapes=shapes)
        self._prefetch_op: Optional[Operation] = None
        self._next_batch: Optional[NextQueuedSequenceBatch] = None

    name = property(lambda self: self._scope, doc="The name scope of the operations.")
    barrier = property(lambda self: self._barrier, doc="The barrier that holds the segments.")
    batch_size = property(lambda self: self._batch_size, doc="The number of segments in a batch.")
    num_unroll = property(lambda self: self._num_unroll, doc="The number of steps in a segment.")

    def _checks(self, sequences: Dict[str, Tensor], length: Tensor) -> List[Operation]:
        """Returns operations that fail unless all sequences have one length, a multiple of `num_unroll`."""
        padded, unroll = self._padded_length, self._num_unroll
        whole = op("LogicalAnd")(math_ops.equal(padded % unroll, 0), math_ops.not_equal(padded, 0))
        message = f"Tensor {padded.name} should be a multiple of: {unroll}, but saw value: "
        checks = [
            op("Assert")(whole, [message, padded, ". Consider setting pad=True."]),
            op("Assert")(length <= padded, ["Input length should be <= than length from sequences:", length, " vs. ", padded]),
        ]
        for name, value in sequences.items():
            rows = array_ops.shape(value)[0]
            message = f"Dimension 0 of tensor labeled sorted_sequences_{name} should be: "
            checks.append(op("Assert")(math_ops.equal(rows, padded), [message, padded, ", shape received: ", array_ops.shape(value)]))
        return checks

    def _components(self) -> Tuple[Dict[Tuple[str, str], int], List[Any], List[Any]]:
        """Returns the numbers of the barrier's components, their dtypes and their shapes."""
        parts: List[Tuple[Tuple[str, str], Any, Any]] = [(("fixed", k), dtype, []) for k, dtype in _FIXED.items()]
        parts += [(("sequence", k), v.dtype, [self._num_unroll] + v.shape.as_list()[1:]) for k, v in self._sequences.items()]
        parts += [(("context", k), v.dtype, v.shape.as_list()) for k, v in self._context.items()]
        parts += [(("state", k), v.dtype, v.shape.as_list()) for k, v in self._states.items()]
        return {part[0]: i for i, part in enumerate(parts)}, [part[1] for part in parts], [part[2] for part in parts]

    @property
    def prefetch_op(self) -> Operation:
        """The operation that inserts one example; waits while the saver is full."""
        if self._prefetch_op is None:
            with name_scope(self._scope):
                self._prefetch_op = self._inserts()
        return self._prefetch_op

    @property
    def next_batch(self) -> NextQueuedSequenceBatch:
        """The `NextQueuedSequenceBatch`. Its tensors wait until there are enough segments with a state."""
        if self._next_batch is None:
            _ = self.prefetch_op
            with name_scope(self._scope):
                self._take()
            self._next_batch = NextQueuedSequenceBatch(self)
        return self._next_batch

    def close(self, cancel_pending_enqueues: bool = False, name: Optional[str] = None) -> Operation:
        """Closes the saver: no example can be inserted any more, and those inside go on to their ends.

        Args:
          cancel_pending_enqueues: If true, the segments that have no state yet are dropped.
          name: A name for the operation.

        Returns:
          The `Operation`.
        """
        with name_scope(name, "SQSSClose") as scope:
            closes = [
                self._barrier.close(cancel_pending_enqueues, "BarrierClose"),
                self._capacity_queue.close(cancel_pending_enqueues, "FIFOClose"),
            ]
            return control_flow.group(*closes, name=scope)

    def _inserts(self) -> Operation:
        """Returns the operation that inserts all segments of an example, and the state of the first."""
        unroll = self._num_unroll
        count = self._padded_length // unroll
        segments = math_ops.range(count)
        lengths = op("Minimum")(unroll, op("Maximum")(0, self._length - unroll * segments))

        def five_digits(value: Tensor) -> Tensor:
            return op("AsString")(value, width=5, fill="0")

        keys = op("StringJoin")([five_digits(segments), "_of_", five_digits(count), ":", self._key], name="StringJoinCurrentKeys")
        stop = op("StringJoin")(["STOP:", self._key], name="StringJoinStop")
        values: Dict[Tuple[str, str], Tensor] = {
            ("fixed", "length"): lengths,
            ("fixed", "total_length"): array_ops.fill([count], self._length),
            ("fixed", "next_key"): array_ops.concat([keys[1:], [stop]], 0),
            ("fixed", "sequence"): segments,
            ("fixed", "sequence_count"): array_ops.fill([count], count),
        }
        for name, value in self._sequences.items():
            row = value.shape[1:].as_list() or []
            values["sequence", name] = array_ops.reshape(value, [-1, unroll] + row)
        for name, value in self._context.items():
            values["context", name] = op("Tile")(value[None], array_ops.stack([count, *([1] * (value.shape.ndims or 0))]))
        inserts = {
            part: self._barrier.insert_many(self._number[part], keys, value, name=f"BarrierInsert_{part[0]}_{part[1]}")
            for part, value in values.items()
        }
        token = self._capacity_queue.enqueue(0)
        # The segments of an example get one index, that of the first insertion, which must have all of them.
        with control_dependencies([inserts["fixed", "sequence"], token]):
            states = [
                self._barrier.insert_many(self._number["state", name], keys[:1], value[None], name=f"BarrierInitialInsertState_{name}")
                for name, value in self._states.items()
            ]
        return control_flow.group(token, *inserts.values(), *states, name="StateSaverPrefetchGroup")

    def _take(self) -> None:
        """Makes the tensors of a batch."""
        indices, keys, values = self._barrier.take_many(self._batch_size, self._allow_small_batch, name="BarrierTakeMany")
        self._received_indices, self._received_keys = indices, keys
        self._received: Dict[Tuple[str, str], Tensor] = {part: values[i] for part, i in self._number.items()}
        self._received_sequences: Dict[str, Any] = {k: self._received["sequence", k] for k in self._sequences}
        self._received_context: Dict[str, Any] = {k: self._received["context", k] for k in self._context}
        self._received_batch_size = array_ops.shape(self._received["fixed", "length"])[0]
        self._sequence_is_done = self._received["fixed", "sequence"] + 1 >= self._received["fixed", "sequence_count"]
        n_done = reduction_ops.reduce_sum(math_ops.cast(self._sequence_is_done, dtypes.int32))
        # Examples at their end make room for others.
        with control_dependencies([self._capacity_queue.dequeue_many(n_done)]):
            self._received_states = {k: array_ops.identity(self._received["state", k]) for k in self._states}

    def _state(self, name: str) -> Tensor:
        if name not in self._received_states:
            raise KeyError(f"state was not declared: {name}; `initial_states` has {sorted(self._received_states)}")
        return self._received_states[name]


def batch_sequences_with_states(
    input_key: Any,
    input_sequences: Dict[str, Any],
    input_context: Dict[str, Any],
    input_length: Any,
    initial_states: Dict[str, Any],
    num_unroll: int,
    batch_size: Any,
    num_threads: int = 3,
    capacity: int = 1000,
    allow_small_batch: bool = True,
    pad: bool = True,
    make_keys_unique: bool = False,
    make_keys_unique_seed: Optional[int] = None,
    name: Optional[str] = None,
) -> NextQueuedSequenceBatch:
    """Returns batches of segments of sequences, each with the state that the segment before it ended with.

    A queue runner reads examples, cuts their sequences into segments of `num_unroll` steps, and keeps the
    segments in a `SequenceQueueingStateSaver`. A batch has one segment of each of `batch_size` examples.
    Segments of an example come in order, and a segment waits until the state of the one before it is saved.

    Args:
      input_key: The key of the example, a string scalar. Keys must be unique among the examples in the saver;
        see `make_keys_unique`.
      input_sequences: A dict of tensors with the same number of rows, or of `SparseTensor`s. All dimensions
        of the tensors but the first must be known.
      input_context: A dict of tensors of known shapes, or of `SparseTensor`s, which are the same for all
        segments.
      input_length: The number of rows without padding, an `int32` scalar; if it is None and `pad` is true,
        the number of rows.
      initial_states: A dict of tensors of known shapes.
      num_unroll: The number of steps in a segment, a positive int.
      batch_size: The number of segments in a batch: an int or a scalar tensor.
      num_threads: The number of threads that read examples.
      capacity: The number of examples in the saver, at least `batch_size`.
      allow_small_batch: If true, the segments that are left at the end of the input make smaller batches.
      pad: If true, sequences are padded with zeros, false or empty strings to a multiple of `num_unroll`.
      make_keys_unique: If true, a random number is appended to each key.
      make_keys_unique_seed: The seed of those numbers.
      name: A name for the operations.

    Returns:
      A `NextQueuedSequenceBatch`.

    Raises:
      TypeError: An argument is not a dict, a key is not a string, or a dtype is not as above.
      ValueError: A key has a colon, a shape is not known, there is no sequence or no state, `num_unroll` is
        not a positive int, or `capacity` is less than `batch_size`.

    Example:
      >>> words = tf.train.slice_input_producer([["a", "b"], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]], 1, shuffle=False)
      >>> batch = tf.contrib.training.batch_sequences_with_states(words[0], {"x": words[1]}, {}, None,
      ...     {"sum": tf.zeros([])}, num_unroll=2, batch_size=2, num_threads=1)
      >>> total = batch.state("sum") + tf.reduce_sum(batch.sequences["x"], 1)
      >>> save, init = batch.save_state("sum", total), tf.local_variables_initializer()
      >>> with tf.train.MonitoredSession() as sess:
      ...     while not sess.should_stop():
      ...         print(*sess.run([batch.key, total, save])[:2])
      [b'00000_of_00002:a' b'00000_of_00002:b'] [3. 9.]
      [b'00001_of_00002:a' b'00001_of_00002:b'] [ 6. 15.]
    """
    _check_unroll(num_unroll)
    _check_names(input_sequences, "sequence key", "sequences must be a dict")
    _check_names(input_context, "context key", "context must be a dict")
    with name_scope(name, "batch_sequences_with_states"):
        sequences = {k: _as_given(v) for k, v in sorted(input_sequences.items())}
        if pad and sequences:
            length, sequences = _padded(sequences, num_unroll)
            input_length = length if input_length is None else input_length
        if input_length is None:
            raise ValueError("`input_length` must be given unless `pad` is true: the number of steps of the sequence without its padding")
        context = {k: _as_given(v) for k, v in sorted(input_context.items())}
        if make_keys_unique:
            number = random_ops.random_uniform((), minval=0, maxval=100000000, dtype=dtypes.int32, seed=make_keys_unique_seed)
            input_key = op("StringJoin")([input_key, op("AsString")(number)])
        # A sparse tensor travels as strings: a row for each step, or one for the context.
        sparse = {k: v for k, v in sequences.items() if isinstance(v, SparseTensor)}
        sparse_context = {k: v for k, v in context.items() if isinstance(v, SparseTensor)}
        saver = SequenceQueueingStateSaver(
            batch_size,
            num_unroll,
            input_length=input_length,
            input_key=input_key,
            input_sequences={k: sparse_ops.serialize_many_sparse(v) if k in sparse else v for k, v in sequences.items()},
            input_context={k: sparse_ops.serialize_sparse(v) if k in sparse_context else v for k, v in context.items()},
            initial_states=initial_states,
            capacity=capacity,
            allow_small_batch=allow_small_batch,
        )
        ready = math_ops.cast(saver.barrier.ready_size(), dtypes.float32)
        summaries.scalar(f"queue/{saver.barrier.name}/ready_segment_batches_", ready)
        closed = (errors.OutOfRangeError, errors.CancelledError)
        add_queue_runner(QueueRunner(saver, [saver.prefetch_op] * num_threads, queue_closed_exception_types=closed))
        batch = saver.next_batch
        for name, value in sparse.items():
            batch.sequences[name] = _sparse(batch.sequences[name], value)
        for name, value in sparse_context.items():
            batch.context[name] = _sparse(batch.context[name], value)
        return batch


def _sparse(rows: Tensor, like: SparseTensor) -> SparseTensor:
    """Returns the sparse tensor that strings describe. The dimensions of the strings come first."""
    tensor = SparseTensor(*op("DeserializeSparse")(rows, like.dtype))
    rank = like.dense_shape.shape[0].value
    if rank is not None:
        # Those are the batch, and of sequences the steps, which are among those of `like`.
        tensor.indices.set_shape([None, rank + 1])
        tensor.dense_shape.set_shape([rank + 1])
    return tensor


def _check_unroll(num_unroll: Any) -> None:
    if not isinstance(num_unroll, numbers.Integral):
        raise ValueError(f"Unsupported num_unroll expected int, got: {num_unroll}")
    if num_unroll < 1:
        raise ValueError(f"num_unroll must be positive, but is {num_unroll}: it is the number of steps in a segment")


def _check_names(values: Any, what: str, not_a_dict: str) -> None:
    if not isinstance(values, dict):
        raise TypeError(f"{not_a_dict}, but is {values!r}")
    for name in values:
        if not isinstance(name, str):
            raise TypeError(f"{what} must be string: {name}")
        if ":" in name:
            raise ValueError(f"{what} may not have a colon: '{name}'")


def _tensors(values: Any, what: str, not_a_dict: str, rows: bool = False) -> Dict[str, Tensor]:
    """Returns the values as tensors, in the order of their names. Their dimensions must be known.

    Of values with a row for each step, the first dimension may be unknown.
    """
    _check_names(values, "state name" if what == "state" else f"{what} key", not_a_dict)
    tensors = {k: convert_to_tensor(v, name=f"{what}_{k}") for k, v in sorted(values.items())}
    for name, value in tensors.items():
        shape = value.shape
        if rows and shape.ndims == 0:
            raise ValueError(f"Shape for {what} {name} must have a dimension for the steps: it is a scalar")
        if not (shape[1:] if rows else shape).is_fully_defined():
            which = "(ignoring first dimension)" if rows else ""
            raise ValueError(f"Shape for {what} {name} is not fully defined {which}: {shape}")
    return tensors


def _scalar(value: Any, what: str, dtype: Any) -> Tensor:
    tensor = convert_to_tensor(value, name=what)
    if tensor.dtype.base_dtype != dtype:
        raise TypeError(f"{what} dtype must be {dtype.name}, but received: {tensor.dtype!r}")
    if tensor.shape.ndims is None:
        with control_dependencies([check_ops.assert_rank(tensor, 0, message=f"{what} must be a scalar.")]):
            tensor = array_ops.identity(tensor)
        tensor.set_shape([])
    elif tensor.shape.ndims != 0:
        raise ValueError(f"Rank check failed for {what}: it must be a scalar, but has shape {tensor.shape}")
    return tensor


def _as_given(value: Any) -> Any:
    if isinstance(value, (SparseTensor, SparseTensorValue)):
        return SparseTensor.from_value(value)
    return convert_to_tensor(value)


def _padded(sequences: Dict[str, Any], num_unroll: int) -> Tuple[Tensor, Dict[str, Any]]:
    """Returns the number of rows of the sequences, and the sequences padded to a multiple of `num_unroll`."""
    dense = {k: array_ops.shape(v)[0] for k, v in sequences.items() if not isinstance(v, SparseTensor)}
    rows = list(dense.values()) or [reduction_ops.reduce_max([math_ops.cast(v.dense_shape[0], dtypes.int32) for v in sequences.values()])]
    message = f"All sequence lengths must match, but received lengths of {list(dense)}:"
    with control_dependencies([op("Assert")(math_ops.equal(n, rows[0]), [message, *rows]) for n in rows[1:]]):
        length = array_ops.identity(rows[0])
    n_more = (-length) % num_unroll
    padded: Dict[str, Any] = {}
    for name, value in sequences.items():
        if isinstance(value, SparseTensor):
            whole = array_ops.concat([[math_ops.cast(length + n_more, dtypes.int64)], value.dense_shape[1:]], 0)
            padded[name] = SparseTensor(value.indices, value.values, whole)
            continue
        more = array_ops.zeros(array_ops.concat([[n_more], array_ops.shape(value)[1:]], 0), value.dtype)
        padded[name] = array_ops.concat([value, more], 0)
        if value.shape.ndims is not None:
            padded[name].set_shape([None] + value.shape.as_list()[1:])
    return length, padded
