"""Losses over many classes, computed over the true classes and some that are drawn at random."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from millstream._engine import Tensor
from millstream.framework import dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.nn import embedding, functions, sampling
from millstream.ops import array_ops, math_ops, sparse_ops

__all__ = ["nce_loss", "sampled_softmax_loss"]


def _cast(x: Tensor, dtype: Any) -> Tensor:
    return x if x.dtype.base_dtype == dtype else math_ops.cast(x, dtype)


def _sums_of_rows(x: Tensor) -> Tensor:
    """Returns the sums as a product with ones, as TensorFlow does: its rounding is not that of a sum."""
    ones = array_ops.ones(array_ops.stack([array_ops.shape(x)[1], 1]), x.dtype)
    return array_ops.reshape(math_ops.matmul(x, ones), [-1])


def _true_logits(inputs: Any, weights: Tensor, biases: Tensor, num_true: int) -> Tensor:
    """Returns, of shape `[batch, num_true]`, the products of each input with the weights of its classes."""
    width = array_ops.shape(weights)[1:2]
    of_examples = array_ops.reshape(weights, array_ops.concat([[-1, num_true], width], 0))
    products = math_ops.multiply(array_ops.expand_dims(inputs, 1), of_examples)
    sums = _sums_of_rows(array_ops.reshape(products, array_ops.concat([[-1], width], 0)))
    logits = array_ops.reshape(sums, [-1, num_true])
    biases = array_ops.reshape(biases, [-1, num_true])
    return logits + biases


def _without_hits(logits: Tensor, labels: Any, sampled: Tensor, num_sampled: int, num_true: int) -> Tensor:
    """Returns the logits with a large negative term where a drawn class is a true one."""
    rows, places, terms = sampling.compute_accidental_hits(labels, sampled, num_true=num_true)
    rows = array_ops.reshape(rows, [-1, 1])
    places = array_ops.reshape(math_ops.cast(places, dtypes.int32), [-1, 1])
    where = array_ops.concat([rows, places], 1, "sparse_indices")
    shape = array_ops.concat([array_ops.shape(labels)[:1], array_ops.expand_dims(num_sampled, 0)], 0)
    return logits + sparse_ops.sparse_to_dense(where, shape, _cast(terms, logits.dtype), default_value=0.0, validate_indices=False)


def _logits_and_labels(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: Optional[str],
    seed: Optional[int],
) -> Tuple[Tensor, Tensor]:
    """Returns logits and labels of the true classes, followed by those of the drawn ones."""
    if hasattr(weights, "_get_variable_list"):
        weights = weights._get_variable_list()
    tables: List[Any] = list(weights) if isinstance(weights, (list, tuple)) else [weights]
    with name_scope(name, "compute_sampled_logits", [*tables, biases, inputs, labels]):
        labels = _cast(labels, dtypes.int64) if isinstance(labels, Tensor) else math_ops.cast(labels, dtypes.int64)
        flat = array_ops.reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = sampling.log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed=seed)
        sampled, true_count, sampled_count = (op("StopGradient")(s) for s in sampled_values)
        sampled = math_ops.cast(sampled, dtypes.int64)
        ids = array_ops.concat([flat, sampled], 0)
        all_w = _cast(embedding.embedding_lookup(tables, ids, partition_strategy=partition_strategy), inputs.dtype)
        true_w = op("Slice")(all_w, [0, 0], array_ops.stack([array_ops.shape(flat)[0], -1]))
        sampled_w = op("Slice")(all_w, array_ops.stack([array_ops.shape(flat)[0], 0]), [-1, -1])
        sampled_logits = math_ops.matmul(inputs, sampled_w, transpose_b=True)
        all_b = _cast(embedding.embedding_lookup(biases, ids, partition_strategy=partition_strategy), inputs.dtype)
        true_b = op("Slice")(all_b, [0], array_ops.shape(flat))
        sampled_b = op("Slice")(all_b, array_ops.shape(flat), [-1])
        true_logits = _true_logits(inputs, true_w, true_b, num_true)
        sampled_logits += sampled_b
        if remove_accidental_hits:
            sampled_logits = _without_hits(sampled_logits, labels, sampled, num_sampled, num_true)
        # A class that is drawn more often counts less.
        true_logits -= op("Log")(true_count)
        sampled_logits -= op("Log")(sampled_count)
        logits = array_ops.concat([true_logits, sampled_logits], 1)
        expected = array_ops.ones_like(true_logits) / num_true, array_ops.zeros_like(sampled_logits)
        return logits, array_ops.concat(list(expected), 1)


def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str = "nce_loss",
) -> Tensor:
    """Returns the loss of noise-contrastive estimation: is a class a true one, or one that was drawn?

    Args:
      weights: A tensor of shape `[num_classes, width]`, or a list of its parts; see `tf.nn.embedding_lookup`.
      biases: A tensor of shape `[num_classes]`.
      labels: An `int64` tensor of shape `[batch, num_true]`: the classes of each example.
      inputs: A tensor of shape `[batch, width]`.
      num_sampled: The number of classes to draw for the batch.
      num_classes: The number of classes.
      num_true: The number of classes per example.
      sampled_values: The result of a sampler; by default that of `tf.nn.log_uniform_candidate_sampler`.
      remove_accidental_hits: If true, drawn classes that are true ones of an example do not count for it.
      partition_strategy: How `weights` are partitioned: `"mod"` or `"div"`.
      name: A name scope.

    Returns:
      A vector with the loss of each example.

    Example:
      >>> drawn = tf.nn.all_candidate_sampler(tf.constant([[1]], tf.int64), 1, 3, unique=True)
      >>> loss = tf.nn.nce_loss(tf.ones([3, 2]), tf.zeros([3]), tf.constant([[1]], tf.int64),
      ...                       tf.ones([1, 2]), 3, 3, sampled_values=drawn)
      >>> print(tf.Session().run(loss).round(4))
      [6.5077]
    """
    logits, labels = _logits_and_labels(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits, partition_strategy, name, None
    )
    losses = functions.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="sampled_losses")
    return _sums_of_rows(losses)


def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_softmax_loss",
    seed: Optional[int] = None,
) -> Tensor:
    """Returns the cross entropy of a softmax over the true classes and some that are drawn.

    It is for training with many classes; to evaluate, compute the logits of all classes. Arguments are as in
    `nce_loss`; `seed` is the seed of the sampler.

    Returns:
      A vector with the loss of each example.

    Example:
      >>> drawn = tf.nn.all_candidate_sampler(tf.constant([[1]], tf.int64), 1, 3, unique=True)
      >>> loss = tf.nn.sampled_softmax_loss(tf.ones([3, 2]), tf.zeros([3]), tf.constant([[1]], tf.int64),
      ...                                   tf.ones([1, 2]), 3, 3, sampled_values=drawn)
      >>> print(tf.Session().run(loss).round(4))
      [1.0986]
    """
    logits, labels = _logits_and_labels(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits, partition_strategy, name, seed
    )
    labels = op("StopGradient")(labels, name="labels_stop_gradient")
    return functions.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
