"""`tf.contrib.training`: batches of similar examples, loops that train and evaluate, `HParams`."""

from __future__ import annotations

import functools
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from millstream.contrib.training.evaluation import (
    StopAfterNEvalsHook,
    SummaryAtEndHook,
    evaluate_once,
    evaluate_repeatedly,
    get_or_create_eval_step,
    wait_for_new_checkpoint,
)
from millstream.contrib.training.hparams import HParams, parse_values
from millstream.contrib.training.placement import GreedyLoadBalancingStrategy, byte_size_load_fn
from millstream.contrib.training.steps import (
    add_gradients_summaries,
    clip_gradient_norms,
    clip_gradient_norms_fn,
    create_train_op,
    multiply_gradients,
    train,
)
from millstream.framework import (
    constant,
    control_dependencies,
    convert_to_tensor,
    dtypes,
    errors,
    get_static_value,
    name_scope,
    namespaces,
    node_counts,
)
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape
from millstream.io import summaries
from millstream.ops import array_ops, control_flow, math_ops, reduction_ops
from millstream.ops.data_flow import PaddingFIFOQueue
from millstream.train import input as pipeline
from millstream.train.queue_runner import QueueRunner, add_queue_runner
from millstream.train.supervisor import checkpoints_iterator

__all__ = [
    "GreedyLoadBalancingStrategy",
    "HParams",
    "StopAfterNEvalsHook",
    "SummaryAtEndHook",
    "add_gradients_summaries",
    "bucket",
    "bucket_by_sequence_length",
    "byte_size_load_fn",
    "checkpoints_iterator",
    "clip_gradient_norms",
    "clip_gradient_norms_fn",
    "create_train_op",
    "evaluate_once",
    "evaluate_repeatedly",
    "get_or_create_eval_step",
    "multiply_gradients",
    "parse_values",
    "train",
    "wait_for_new_checkpoint",
]

# Errors of a source queue that mean the end of input.
_ENDS = (errors.OutOfRangeError, errors.CancelledError)


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
) -> Tuple[Any, Any]:
    """Puts each example into one of `num_buckets` queues; each full bucket gives a batch with the bucket's
    number.

    An example whose `which_bucket` is outside `[0, num_buckets)` ends the pipeline with an error; TensorFlow
    drops it silently.

    Args:
      tensors: One example: a list or dict of tensors.
      which_bucket: An `int32` scalar: the example's bucket.
      batch_size: An int, the number of examples in a batch, or a list with an int for each bucket.
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

    Returns:
      A pair: the bucket's number, an `int32` scalar, and the batch: a list or dict like `tensors` (the tensor
        itself if the list has one), with an additional first axis.

    Raises:
      ValueError: A list has a length other than `num_buckets`, or `tensors` is empty.

    Example:
      >>> number = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
      >>> bucket, rows = tf.contrib.training.bucket([number, number * 10], which_bucket=number % 2,
      ...     batch_size=2, num_buckets=2)
      >>> with tf.train.MonitoredSession() as sess:
      ...     batches = [sess.run([bucket] + rows) for _ in range(2)]
      >>> sorted((int(b), x.tolist(), y.tolist()) for b, x, y in batches)
      [(0, [0, 2], [0, 20]), (1, [1, 3], [10, 30])]
    """
    each_its_own = isinstance(batch_size, (list, tuple))
    if each_its_own and len(batch_size) != num_buckets:
        raise ValueError("If batch_size is a list it must have num_buckets elements")
    sizes: List[Any] = list(batch_size) if each_its_own else [batch_size] * num_buckets
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
        layout = pipeline.laid_out([converted], False, keep_input)
        (example,) = layout.sets
        sizes = [_static(s) for s in sizes]
        types = pipeline.types_of([example])
        shapes = pipeline.shapes_of([example], shapes, False)
        which_bucket = convert_to_tensor(which_bucket, dtype=dtypes.int32, name="which_bucket")
        buckets = [
            pipeline.queue_kind(dynamic_pad)(
                capacity=bucket_capacities[i],
                dtypes=types,
                shapes=shapes,
                shared_name=None if shared_name is None else f"{shared_name}_{i}",
                name=f"bucket_queue_{i}",
            )
            for i in range(num_buckets)
        ]
        known = not allow_smaller_final_batch and not each_its_own and isinstance(sizes[0], int)
        rows = TensorShape([sizes[0] if known else None])
        top = PaddingFIFOQueue(
            capacity=capacity,
            dtypes=[dtypes.int32] + types,
            shapes=[TensorShape([])] + [rows.concatenate(s) for s in buckets[0].shapes],
            shared_name=shared_name,
            name="top_queue",
        )
        fill = _fill(buckets, top, example, which_bucket, keep_input, num_threads)
        _move(buckets, top, sizes, allow_smaller_final_batch)
        add_queue_runner(fill)
        for queue in buckets:
            summaries.scalar(f"bucket/{queue.name}/size", math_ops.cast(top.size(), dtypes.float32))
        full = math_ops.cast(top.size(), dtypes.float32) * (1.0 / capacity)
        summaries.scalar(f"bucket/{top.name}/fraction_of_{capacity}_full", full)

        which, *batch = top.dequeue(name="dequeue_top")
        out = pipeline.restored(batch[0] if len(batch) == 1 else batch, layout.sparse)
        return which, pipeline.as_given(tensors, out)


def _static(size: Any) -> Any:
    value = get_static_value(convert_to_tensor(size, dtype=dtypes.int32, name="batch_size"))
    return size if value is None else int(value)


def _fill(
    buckets: Sequence[Any], top: Any, example: Sequence[Any], which: Any, keep_input: Any, n_threads: int
) -> QueueRunner:
    """Returns the runner that fills the buckets. It has the name of the top queue, and closes the buckets."""

    def into_its_bucket() -> Any:
        # TensorFlow drops other examples without a word, and makes no nodes to ask.
        with node_counts.counted_as(0):
            inside = op("LogicalAnd")(op("LessEqual")(0, which), op("Less")(which, len(buckets)))
            said = [f"which_bucket must be in [0, {len(buckets)}), but is", which]
            with control_dependencies([control_flow.assert_(inside, said)]):
                here = array_ops.identity(which)
        puts = [
            control_flow.cond(math_ops.equal(here, i), functools.partial(_enqueue, buckets[i], example), control_flow.no_op)
            for i in range(len(buckets))
        ]
        return control_flow.group(*puts, name="group_enqueues")

    put = pipeline.either(keep_input, into_its_bucket, control_flow.no_op)
    return QueueRunner(
        top,
        [put] * n_threads,
        close_op=control_flow.group(*[q.close() for q in buckets]),
        cancel_op=control_flow.group(*[q.close(cancel_pending_enqueues=True) for q in buckets]),
        queue_closed_exception_types=_ENDS,
    )


def _enqueue(queue: Any, example: Sequence[Any]) -> Any:
    return queue.enqueue(example)


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
) -> Tuple[Any, Any]:
    """Batches examples of similar length. The other arguments are those of `bucket`.

    Args:
      input_length: An `int32` scalar: the example's length.
      tensors: One example: a list or dict of tensors.
      batch_size: An int, the number of examples in a batch, or a list with an int for each bucket.
      bucket_boundaries: A list of increasing ints: the lengths at which the next bucket starts.

    Returns:
      A pair: the lengths of a batch's examples, an `int32` vector, and the batch.

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
        limits = np.iinfo(np.int32)
        lows = [limits.min] + list(bucket_boundaries)
        highs = list(bucket_boundaries) + [limits.max]
        inside = op("LogicalAnd")(op("LessEqual")(lows, input_length), op("Less")(input_length, highs))
        which = math_ops.cast(reduction_ops.reduce_min(array_ops.where(inside)), dtypes.int32)
        _, batch = bucket(
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
        )
        # The single tensor of a dict is returned in a list, as in TensorFlow.
        return batch[0], pipeline.as_given(tensors, batch[1:])


__dir__ = namespaces.dir_of(globals())
