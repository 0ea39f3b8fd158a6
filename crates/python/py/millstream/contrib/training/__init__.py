"""`tf.contrib.training`: `bucket` and `bucket_by_sequence_length`, batches of examples that are alike; loops that train and evaluate; `HParams`."""

from __future__ import annotations

import functools
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

import millstream as tf
from millstream import _namespaces, errors
from millstream.contrib.training.evaluation import (
    StopAfterNEvalsHook,
    SummaryAtEndHook,
    evaluate_once,
    evaluate_repeatedly,
    get_or_create_eval_step,
    wait_for_new_checkpoint,
)
from millstream.contrib.training.hparams import HParams, parse_values
from millstream.contrib.training.steps import add_gradients_summaries, clip_gradient_norms_fn, create_train_op, multiply_gradients, train
from millstream.shapes import TensorShape
from millstream.train import input as pipeline
from millstream.train.queue_runner import QueueRunner, add_queue_runner
from millstream.train.supervisor import checkpoints_iterator

__all__ = [
    "HParams",
    "StopAfterNEvalsHook",
    "SummaryAtEndHook",
    "add_gradients_summaries",
    "bucket",
    "bucket_by_sequence_length",
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

# A queue beneath that was closed, or whose end was reached, is the end of this one.
_ENDS = (errors.OutOfRangeError, errors.CancelledError)


def clip_gradient_norms(gradients_to_variables: Sequence[Tuple[Any, Any]], max_norm: Any) -> List[Tuple[Any, Any]]:
    """Pairs of gradient and variable, each gradient made no longer than `max_norm`.

    Args:
      gradients_to_variables: A list of pairs, as `compute_gradients` gives; a gradient may be None.
      max_norm: The greatest Euclidean norm.

    Returns:
      A list of pairs.

    Example:
      >>> v = tf.Variable([0.0, 0.0])
      >>> (clipped, _), = tf.contrib.training.clip_gradient_norms([(tf.constant([3.0, 4.0]), v)], max_norm=1.0)
      >>> print(tf.Session().run(clipped))
      [0.6 0.8]
    """
    out = []
    for grad, var in gradients_to_variables:
        if isinstance(grad, tf.IndexedSlices):
            grad = tf.IndexedSlices(tf.clip_by_norm(grad.values, max_norm), grad.indices, grad.dense_shape)
        elif grad is not None:
            grad = tf.clip_by_norm(grad, max_norm)
        out.append((grad, var))
    return out


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
    """Puts each example into one of `num_buckets` queues, and gives a batch, with its bucket's number, as soon as one is
    full.

    An example whose `which_bucket` is outside `[0, num_buckets)` ends the pipeline with an error (TensorFlow drops it
    without a word).

    Args:
      tensors: One example: a list or dict of tensors.
      which_bucket: An int32 scalar: the example's bucket.
      batch_size: How many examples a batch has: one int for all, or a list with one for each bucket.
      num_buckets: How many buckets there are.
      num_threads: How many threads enqueue.
      capacity: How many examples the queue before the buckets holds.
      bucket_capacities: A list: how many examples each bucket holds.
      shapes: The shapes of an example, where they are not known.
      dynamic_pad: Whether dimensions of unknown size are padded.
      allow_smaller_final_batch: Whether what is left at the end comes as smaller batches.
      keep_input: A boolean scalar: whether the example counts.
      shared_name: The queues' name among sessions.
      name: The name scope of what is made.

    Returns:
      A pair: the bucket's number, an int32 scalar, and the batch: a list or dict like `tensors` (the tensor itself if
        the list has one), with a first axis more.

    Raises:
      ValueError: A list has another length than `num_buckets`, or there is no tensor.

    Example:
      >>> number = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
      >>> bucket, rows = tf.contrib.training.bucket([number, number * 10], which_bucket=number % 2, batch_size=2, num_buckets=2)
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
    with tf.name_scope(name, "bucket", given):
        if not given:
            raise ValueError("Expected at least one tensor in bucket().")
        converted = [pipeline.as_tensor(t) for t in given]
        keep_input = pipeline.checked_keep_input(keep_input, enqueue_many=False)
        layout = pipeline.laid_out([converted], False, keep_input)
        (example,) = layout.sets
        sizes = [_static(s) for s in sizes]
        types = pipeline.types_of([example])
        shapes = pipeline.shapes_of([example], shapes, False)
        which_bucket = tf.convert_to_tensor(which_bucket, dtype=tf.int32, name="which_bucket")
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
        top = tf.PaddingFIFOQueue(
            capacity=capacity,
            dtypes=[tf.int32] + types,
            shapes=[TensorShape([])] + [rows.concatenate(s) for s in buckets[0].shapes],
            shared_name=shared_name,
            name="top_queue",
        )
        fill = _fill(buckets, top, example, which_bucket, keep_input, num_threads)
        _move(buckets, top, sizes, allow_smaller_final_batch)
        add_queue_runner(fill)
        for queue in buckets:
            tf.summary.scalar(f"bucket/{queue.name}/size", tf.cast(top.size(), tf.float32))
        full = tf.cast(top.size(), tf.float32) * (1.0 / capacity)
        tf.summary.scalar(f"bucket/{top.name}/fraction_of_{capacity}_full", full)

        which, *batch = top.dequeue(name="dequeue_top")
        out = pipeline.restored(batch[0] if len(batch) == 1 else batch, layout.sparse)
        return which, pipeline.as_given(tensors, out)


def _static(size: Any) -> Any:
    value = tf.get_static_value(tf.convert_to_tensor(size, dtype=tf.int32, name="batch_size"))
    return size if value is None else int(value)


def _fill(
    buckets: Sequence[Any], top: Any, example: Sequence[Any], which: Any, keep_input: Any, n_threads: int
) -> QueueRunner:
    """The runner that puts examples into their buckets. It runs under the top queue's name, and closes the buckets."""

    def into_its_bucket() -> Any:
        inside = tf.logical_and(tf.less_equal(0, which), tf.less(which, len(buckets)))
        said = [f"which_bucket must be in [0, {len(buckets)}), but is", which]
        with tf.control_dependencies([tf.Assert(inside, said)]):
            here = tf.identity(which)
        puts = [
            tf.cond(tf.equal(here, i), functools.partial(_enqueue, buckets[i], example), tf.no_op)
            for i in range(len(buckets))
        ]
        return tf.group(*puts, name="group_enqueues")

    put = pipeline.either(keep_input, into_its_bucket, tf.no_op)
    return QueueRunner(
        top,
        [put] * n_threads,
        close_op=tf.group(*[q.close() for q in buckets]),
        cancel_op=tf.group(*[q.close(cancel_pending_enqueues=True) for q in buckets]),
        queue_closed_exception_types=_ENDS,
    )


def _enqueue(queue: Any, example: Sequence[Any]) -> Any:
    return queue.enqueue(example)


def _move(buckets: Sequence[Any], top: Any, sizes: Sequence[Any], allow_smaller: bool) -> None:
    """The runner that moves full batches to the top queue, a thread for each bucket."""
    moves = []
    for i, (queue, size) in enumerate(zip(buckets, sizes)):
        take = queue.dequeue_up_to if allow_smaller else queue.dequeue_many
        batch = take(size, name=f"read_bucket_{i}")
        batch = list(batch) if isinstance(batch, (list, tuple)) else [batch]
        moves.append(top.enqueue([tf.constant(i)] + batch, name=f"enqueue_from_bucket_{i}"))
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
    """Batches of examples of about the same length. The other arguments are those of `bucket`.

    Args:
      input_length: An int32 scalar: the example's length.
      tensors: One example: a list or dict of tensors.
      batch_size: How many examples a batch has: one int for all, or a list with one for each bucket.
      bucket_boundaries: A list of the lengths at which the next bucket begins, increasing.

    Returns:
      A pair: the lengths of a batch's examples, an int32 vector, and the batch.

    Raises:
      TypeError: `bucket_boundaries` is no list of ints.
      ValueError: It is empty, or does not increase.

    Example:
      >>> n = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
      >>> lengths, (rows,) = tf.contrib.training.bucket_by_sequence_length(n, [tf.range(n)], 2, bucket_boundaries=[2, 4], dynamic_pad=True)
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
    with tf.name_scope(name, "bucket_by_sequence_length", [input_length] + given):
        input_length = tf.convert_to_tensor(input_length, dtype=tf.int32, name="input_length")
        limits = np.iinfo(np.int32)
        lows = [limits.min] + list(bucket_boundaries)
        highs = list(bucket_boundaries) + [limits.max]
        inside = tf.logical_and(tf.less_equal(lows, input_length), tf.less(input_length, highs))
        which = tf.cast(tf.reduce_min(tf.where(inside)), tf.int32)
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
        # The one tensor of a dict comes back in a list, as in TensorFlow.
        return batch[0], pipeline.as_given(tensors, batch[1:])


__dir__ = _namespaces.dir_of(globals())
