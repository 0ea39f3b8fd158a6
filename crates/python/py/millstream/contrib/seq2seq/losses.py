"""The loss of sequences, with weights."""

from __future__ import annotations

from typing import Any, Callable, Optional

from millstream.framework import name_scope
from millstream.framework.op_functions import op
from millstream.nn.functions import sparse_softmax_cross_entropy_with_logits
from millstream.ops import array_ops, math_ops, reduction_ops

__all__ = ["sequence_loss"]


def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Optional[Callable[..., Any]] = None,
    name: Optional[str] = None,
) -> Any:
    """Returns the weighted cross entropy of sequences of logits.

    Averages are divided by the sum of weights, and sums by the number of weights that are not zero.

    Args:
      logits: A tensor of floats of shape `[batch, time, classes]`.
      targets: An integer tensor of shape `[batch, time]`.
      weights: A tensor of floats of shape `[batch, time]`, for instance 0 after the end of a sequence.
      average_across_timesteps: If true, the loss is averaged over time.
      average_across_batch: If true, the loss is averaged over the batch.
      sum_over_timesteps: If true, the loss is summed over time.
      sum_over_batch: If true, the loss is summed over the batch.
      softmax_loss_function: A function of `labels` and `logits`, given by name, that returns losses; by
        default `tf.nn.sparse_softmax_cross_entropy_with_logits`.
      name: The name scope of the new operations.

    Returns:
      A tensor of the dtype of `logits`: a scalar, or a vector or matrix if dimensions are neither averaged
      nor
        summed.

    Raises:
      ValueError: A rank is wrong, or a dimension is both averaged and summed.

    Example:
      >>> loss = tf.contrib.seq2seq.sequence_loss(logits=tf.zeros([2, 3, 4]), targets=tf.zeros([2, 3], tf.int32),
      ...     weights=tf.constant([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]))
      >>> print(tf.Session().run(loss).round(4))  # log(4)
      1.3863
    """
    _check(logits, targets, weights)
    for average, total, word in (
        (average_across_timesteps, sum_over_timesteps, "timesteps"),
        (average_across_batch, sum_over_batch, "batch"),
    ):
        if average and total:
            raise ValueError(f"average_across_{word} and sum_over_{word} cannot be set to True at same time.")
    with name_scope(name, "sequence_loss", [logits, targets, weights]):
        classes = array_ops.shape(logits)[2]
        rows, labels = array_ops.reshape(logits, [-1, classes]), array_ops.reshape(targets, [-1])
        loss = softmax_loss_function or sparse_softmax_cross_entropy_with_logits
        losses = loss(labels=labels, logits=rows) * array_ops.reshape(weights, [-1])
        axis = None
        if not (average_across_timesteps and average_across_batch or sum_over_timesteps and sum_over_batch):
            losses = array_ops.reshape(losses, array_ops.shape(logits)[0:2])
            averaged = average_across_timesteps or average_across_batch
            if not averaged and not sum_over_timesteps and not sum_over_batch:
                return losses
            axis = [0] if (average_across_batch if averaged else sum_over_batch) else [1]
        total_loss = reduction_ops.reduce_sum(losses, axis=axis)
        if average_across_timesteps or average_across_batch:
            size = reduction_ops.reduce_sum(weights, axis=axis)
        else:
            size = math_ops.cast(reduction_ops.count_nonzero(weights, axis=axis), losses.dtype)
        return op("DivNoNan")(total_loss, size, name="div_no_nan")


def _check(logits: Any, targets: Any, weights: Any) -> None:
    for word, value, rank, shape in (
        ("Logits", logits, 3, "batch_size x sequence_length x logits"),
        ("Targets", targets, 2, "batch_size x sequence_length"),
        ("Weights", weights, 2, "batch_size x sequence_length"),
    ):
        if len(value.get_shape()) != rank:
            raise ValueError(f"{word} must be a [{shape}] tensor")
