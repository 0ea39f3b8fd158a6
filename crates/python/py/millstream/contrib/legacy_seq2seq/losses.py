"""Losses over lists of steps, and models for buckets of several lengths."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Tuple

from millstream.framework import name_scope
from millstream.nn import functions
from millstream.ops import array_ops, math_ops, reduction_ops
from millstream.variables.scopes import get_variable_scope, variable_scope

__all__ = ["model_with_buckets", "sequence_loss", "sequence_loss_by_example"]


def sequence_loss_by_example(
    logits: List[Any],
    targets: List[Any],
    weights: List[Any],
    average_across_timesteps: bool = True,
    softmax_loss_function: Optional[Callable[..., Any]] = None,
    name: Optional[str] = None,
) -> Any:
    """Returns the weighted cross entropy of each sequence.

    Args:
      logits: A list of tensors of shape `[batch, symbols]`, one for each step.
      targets: A list of integer vectors of shape `[batch]`.
      weights: A list of float vectors of shape `[batch]`.
      average_across_timesteps: If true, the sum is divided by that of the weights.
      softmax_loss_function: A function `(labels, logits)`; by default the sparse softmax cross entropy.
      name: A name for the operation.

    Returns:
      A float vector of shape `[batch]`.

    Raises:
      ValueError: The lists have different lengths.

    Example:
      >>> loss = tf.contrib.legacy_seq2seq.sequence_loss_by_example([tf.zeros([2, 4])] * 3,
      ...     [tf.constant([0, 1])] * 3, [tf.ones([2])] * 3)
      >>> print(tf.Session().run(loss).round(3))
      [1.386 1.386]
    """
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(
            "Lengths of logits, weights, and targets must be the same "
            f"{len(logits)}, {len(weights)}, {len(targets)}."
        )
    with name_scope(name, "sequence_loss_by_example", logits + targets + weights):
        losses = []
        for logit, target, weight in zip(logits, targets, weights):
            if softmax_loss_function is None:
                target = array_ops.reshape(target, [-1])
                loss = functions.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        total = math_ops.add_n(losses)
        if average_across_timesteps:
            # The small number is for sequences without weights.
            total /= math_ops.add_n(weights) + 1e-12
    return total


def sequence_loss(
    logits: List[Any],
    targets: List[Any],
    weights: List[Any],
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Optional[Callable[..., Any]] = None,
    name: Optional[str] = None,
) -> Any:
    """Returns the weighted cross entropy of all sequences together.

    The other arguments are those of `sequence_loss_by_example`.

    Args:
      logits: A list of tensors of shape `[batch, symbols]`, one for each step.
      targets: A list of integer vectors of shape `[batch]`.
      weights: A list of float vectors of shape `[batch]`.
      average_across_batch: If true, the sum is divided by the number of sequences.

    Returns:
      A float scalar.

    Example:
      >>> loss = tf.contrib.legacy_seq2seq.sequence_loss([tf.zeros([2, 4])] * 3, [tf.constant([0, 1])] * 3,
      ...     [tf.ones([2])] * 3)
      >>> print(tf.Session().run(loss).round(3))
      1.386
    """
    with name_scope(name, "sequence_loss", logits + targets + weights):
        each = sequence_loss_by_example(
            logits, targets, weights, average_across_timesteps, softmax_loss_function=softmax_loss_function
        )
        cost = reduction_ops.reduce_sum(each)
        if not average_across_batch:
            return cost
        return cost / math_ops.cast(array_ops.shape(targets[0])[0], cost.dtype)


def model_with_buckets(
    encoder_inputs: List[Any],
    decoder_inputs: List[Any],
    targets: List[Any],
    weights: List[Any],
    buckets: List[Any],
    seq2seq: Callable[[List[Any], List[Any]], Tuple[Any, Any]],
    softmax_loss_function: Optional[Callable[..., Any]] = None,
    per_example_loss: bool = False,
    name: Optional[str] = None,
) -> Tuple[List[Any], List[Any]]:
    """Builds a model once for each bucket of lengths, with the same variables.

    Args:
      encoder_inputs: A list of tensors, one for each step of the longest bucket.
      decoder_inputs: The same for the decoder.
      targets: The same for the targets of the decoder.
      weights: The same for the weights of the loss.
      buckets: A list of pairs: the number of inputs and of outputs, in ascending order.
      seq2seq: A function from encoder and decoder inputs to a pair: a list of outputs, and a state.
      softmax_loss_function: A function `(labels, logits)`; by default the sparse softmax cross entropy.
      per_example_loss: If true, losses are vectors, one value for each sequence.
      name: A name for the operation.

    Returns:
      A pair of lists: the outputs and the loss for each bucket.

    Raises:
      ValueError: A list is shorter than the last bucket.

    Example:
      >>> legacy = tf.contrib.legacy_seq2seq
      >>> def model(inputs, outputs):
      ...     return legacy.basic_rnn_seq2seq(inputs, outputs, tf.nn.rnn_cell.GRUCell(4))
      >>> steps, numbers = [tf.ones([2, 3])] * 4, [tf.constant([0, 1])] * 4
      >>> outputs, losses = legacy.model_with_buckets(steps, steps, numbers, [tf.ones([2])] * 4,
      ...     [(2, 3), (4, 4)], model)
      >>> [len(o) for o in outputs], len(losses)
      ([3, 4], 2)
    """
    inputs, outputs = buckets[-1]
    if len(encoder_inputs) < inputs:
        raise ValueError(
            f"Length of encoder_inputs ({len(encoder_inputs)}) must be at least that of last bucket ({inputs})."
        )
    for given, word in ((targets, "targets"), (weights, "weights")):
        if len(given) < outputs:
            raise ValueError(f"Length of {word} ({len(given)}) must be at least that of last bucket ({outputs}).")
    loss = sequence_loss_by_example if per_example_loss else sequence_loss
    all_outputs, losses = [], []
    with name_scope(name, "model_with_buckets", encoder_inputs + decoder_inputs + targets + weights):
        for i, (inputs, outputs) in enumerate(buckets):
            with variable_scope(get_variable_scope(), reuse=True if i > 0 else None):
                found, _ = seq2seq(encoder_inputs[:inputs], decoder_inputs[:outputs])
                all_outputs.append(found)
                losses.append(
                    loss(found, targets[:outputs], weights[:outputs], softmax_loss_function=softmax_loss_function)
                )
    return all_outputs, losses
