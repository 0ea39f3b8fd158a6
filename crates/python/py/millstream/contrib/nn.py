"""`tf.contrib.nn`: losses over sampled classes, activations, and cross entropies with the arguments in the
order of before TensorFlow 1.0.
"""

from __future__ import annotations

import numbers
from typing import Any, List, Optional

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, dtypes, name_scope, namespaces
from millstream.framework.constant_values import constant_value
from millstream.framework.op_functions import op
from millstream.nn import functions, sampled_losses, sampling
from millstream.nn.convolutions import conv1d_transpose
from millstream.nn.embedding import embedding_lookup
from millstream.ops import array_ops, indexing_ops, math_ops, random_ops, reduction_ops
from millstream.ops.custom_gradients import custom_gradient
from millstream.ops.gradients import gradients

__all__ = [
    "alpha_dropout",
    "conv1d_transpose",
    "deprecated_flipped_sigmoid_cross_entropy_with_logits",
    "deprecated_flipped_softmax_cross_entropy_with_logits",
    "deprecated_flipped_sparse_softmax_cross_entropy_with_logits",
    "nth_element",
    "rank_sampled_softmax_loss",
    "sampled_sparse_softmax_loss",
    "scaled_softplus",
]


def alpha_dropout(x: Any, keep_prob: Any, noise_shape: Any = None, seed: Optional[int] = None, name: Optional[str] = None) -> Tensor:
    """Returns a tensor in which some elements have the lowest value of `selu`; mean and variance stay.

    Args:
      x: A tensor of floats.
      keep_prob: The probability that an element is kept.
      noise_shape: The shape of the choices, which broadcasts; by default that of `x`.
      seed: A seed.
      name: A name for the operations.

    Raises:
      ValueError: `keep_prob` is not in (0, 1].

    Example:
      >>> print(tf.Session().run(tf.contrib.nn.alpha_dropout([1.0, 2.0], 1.0)))
      [1. 2.]
    """
    with name_scope(name, "alpha_dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if isinstance(keep_prob, numbers.Real) and not 0 < float(keep_prob) <= 1.0:
            raise ValueError("keep_prob must be a scalar tensor or a float in the range (0, 1], got %g" % keep_prob)
        keep_prob = convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep_prob.get_shape().assert_has_rank(0)
        if constant_value(keep_prob) == 1:
            return x  # type: ignore[no-any-return]
        lowest = -1.7580993408473766
        drawn = random_ops.random_uniform(array_ops.shape(x) if noise_shape is None else noise_shape, seed=seed, dtype=x.dtype)
        kept = math_ops.cast(drawn >= 1 - keep_prob, x.dtype)
        scale = (keep_prob + keep_prob * (1 - keep_prob) * lowest**2) ** (-0.5)
        return scale * (x * kept + lowest * (1 - kept)) - scale * lowest * (1 - keep_prob)


def fwd_gradients(ys: List[Any], xs: List[Any], grad_xs: Any = None, assert_unused: bool = False) -> List[Any]:
    """Returns the derivatives of `ys` in the direction of `grad_xs`, by two gradients.

    Args:
      ys: Tensors.
      xs: Tensors.
      grad_xs: The direction: a tensor for each x; by default ones.
      assert_unused: Ignored: the value of the first gradients is never used.
    """
    us = [array_ops.zeros_like(y) + float("nan") for y in ys]
    found = [array_ops.zeros_like(x) if g is None else convert_to_tensor(g) for x, g in zip(xs, gradients(ys, xs, grad_ys=us))]
    for x, g in zip(xs, found):
        g.set_shape(x.shape)
    return gradients(found, us, grad_ys=grad_xs)


def nth_element(input: Any, n: Any, reverse: bool = False, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """Returns the n-th smallest element of each row.

    Args:
      input: A tensor of numbers of rank 1 or more.
      n: An int scalar, from 0.
      reverse: Whether it is the n-th largest.
      name: A name for the operation.

    Example:
      >>> print(tf.Session().run(tf.contrib.nn.nth_element([3.0, 1.0, 2.0], 0)))
      1.0
    """
    return op("NthElement")(input, n, reverse=reverse, name=name)  # type: ignore[no-any-return]


def rank_sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_resampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    resampling_temperature: Any,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: Optional[str] = None,
) -> Tensor:
    """Returns the sampled softmax loss over the classes with the largest logits among those that were drawn.

    Args:
      weights: A tensor of shape `[num_classes, width]`, or a list of its parts; see `tf.nn.embedding_lookup`.
      biases: A tensor of shape `[num_classes]`.
      labels: An `int64` tensor of shape `[batch, num_true]`: the classes of each example.
      inputs: A tensor of shape `[batch, width]`.
      num_sampled: The number of classes that were drawn for the batch.
      num_resampled: The number of those to keep, less than `num_sampled`.
      num_classes: The number of classes.
      num_true: The number of classes per example.
      sampled_values: The result of a sampler; if it is None, that of
        `tf.nn.learned_unigram_candidate_sampler`.
      resampling_temperature: The number by which inputs are divided before classes are chosen.
      remove_accidental_hits: If true, drawn classes that are true ones of an example do not count for it.
      partition_strategy: How `weights` are partitioned: `"mod"` or `"div"`.
      name: A name scope.

    Raises:
      ValueError: A number of classes is too large, or there is no such strategy.

    Example:
      >>> labels = tf.constant([[1]], tf.int64)
      >>> drawn = tf.nn.all_candidate_sampler(labels, 1, 3, unique=True)
      >>> loss = tf.contrib.nn.rank_sampled_softmax_loss(tf.ones([3, 2]), tf.zeros([3]), labels, tf.ones([1, 2]), 3, 2, 3, 1,
      ...                                                drawn, 1.0, False, "mod")
      >>> print(tf.Session().run(loss).round(4))
      [1.0986]
    """
    if num_sampled > num_classes:
        raise ValueError("num_sampled ({}) cannot be greater than num_classes ({})".format(num_sampled, num_classes))
    if num_sampled <= num_resampled:
        raise ValueError("num_resampled ({}) must be less than num_sampled ({})".format(num_resampled, num_sampled))
    if partition_strategy not in ("div", "mod"):
        raise ValueError("unsupported partition_strategy ({})".format(partition_strategy))
    if not sampled_values:
        sampled_values = ()
    with name_scope(name, "rank_sampled_softmax_loss", [weights, biases, labels, inputs, *sampled_values]) as scope:
        sampled_values = sampled_values or sampling.learned_unigram_candidate_sampler(labels, num_true, num_sampled, True, num_classes)
        stop = op("StopGradient")
        sampled = math_ops.cast(stop(sampled_values[0]), dtypes.int64)
        of_true, of_sampled = stop(sampled_values[1]), stop(sampled_values[2])
        rows = embedding_lookup(weights, sampled, partition_strategy)
        logits = reduction_ops.reduce_logsumexp(math_ops.matmul(rows, inputs / resampling_temperature, transpose_b=True), axis=1)
        logits += array_ops.reshape(embedding_lookup(biases, sampled, partition_strategy), [-1]) / resampling_temperature
        _, largest = functions.top_k(logits, k=num_resampled, sorted=False)
        resampled = (indexing_ops.gather(sampled, largest), of_true, indexing_ops.gather(of_sampled, largest))
        return sampled_losses.sampled_softmax_loss(
            weights, biases, labels, inputs, num_resampled, num_classes, num_true, resampled, remove_accidental_hits, partition_strategy, scope
        )


def sampled_sparse_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_sparse_softmax_loss",
) -> Tensor:
    """Returns `tf.nn.sampled_softmax_loss` for one class per example, by a sparse cross entropy.

    Args:
      weights: A tensor of shape `[num_classes, width]`, or a list of its parts; see `tf.nn.embedding_lookup`.
      biases: A tensor of shape `[num_classes]`.
      labels: An `int64` tensor of shape `[batch, 1]`.
      inputs: A tensor of shape `[batch, width]`.
      num_sampled: The number of classes to draw for the batch.
      num_classes: The number of classes.
      sampled_values: The result of a sampler; by default that of `tf.nn.log_uniform_candidate_sampler`.
      remove_accidental_hits: If true, drawn classes that are true ones of an example do not count for it.
      partition_strategy: How `weights` are partitioned: `"mod"` or `"div"`.
      name: A name scope.

    Example:
      >>> labels = tf.constant([[1], [0]], tf.int64)
      >>> drawn = tf.nn.all_candidate_sampler(labels, 1, 3, unique=True)
      >>> loss = tf.contrib.nn.sampled_sparse_softmax_loss(tf.ones([3, 2]), tf.zeros([3]), labels, tf.ones([2, 2]), 3, 3, drawn)
      >>> print(tf.Session().run(loss).round(4))
      [1.0986 1.0986]
    """
    logits, _ = sampled_losses._logits_and_labels(
        weights, biases, labels, inputs, num_sampled, num_classes, 1, sampled_values, remove_accidental_hits, partition_strategy, name, None
    )
    first = array_ops.fill([array_ops.shape(logits)[0], 1], math_ops.cast(0, dtypes.int64))
    return functions.sparse_softmax_cross_entropy_with_logits(labels=array_ops.squeeze(first), logits=logits)


def _summed_as(g: Any, x: Any) -> Any:
    """Returns the sum of a gradient over the axes along which `x` was broadcast."""
    axes, _ = op("BroadcastGradientArgs")(array_ops.shape(x), array_ops.shape(g))
    return array_ops.reshape(op("Sum")(g, axes), array_ops.shape(x))


def scaled_softplus(x: Any, alpha: Any, clip: Any = None, name: Optional[str] = None) -> Tensor:
    """Returns `alpha * softplus(x / alpha)`, which is near `max(x, 0)` for a small `alpha`.

    Args:
      x: A tensor of floats.
      alpha: A tensor of positive floats that broadcasts.
      clip: The largest result, or None.
      name: A name for the operations.

    Example:
      >>> print(tf.Session().run(tf.contrib.nn.scaled_softplus([0.0, 100.0], 1.0, clip=6.0)).round(4))
      [0.6931 6.    ]
    """
    with name_scope(name, "scaled_softplus", [x, alpha] + ([] if clip is None else [clip])):
        x = convert_to_tensor(x, name="x")
        given = [x, convert_to_tensor(alpha, dtype=x.dtype, name="alpha")]
        given += [] if clip is None else [convert_to_tensor(clip, dtype=x.dtype, name="clip")]

        @custom_gradient  # type: ignore[misc]
        def softplus(x: Any, alpha: Any, *clip: Any) -> Any:
            y = alpha * op("Softplus")(x / alpha)
            if clip:
                y = op("Minimum")(y, clip[0])

            def grad(g: Any) -> Any:
                more = []
                if clip:
                    free = math_ops.cast(y < clip[0], g.dtype)
                    more = [_summed_as(g * (1.0 - free), clip[0])]
                    g = g * free
                # The slope is that of a sigmoid, from the result.
                ratio = y / alpha
                low = op("Exp")(-ratio)
                by_alpha = ratio * low - (1.0 - low) * op("Log")(1.0 - low + 1e-8)
                return [_summed_as(g * (1.0 - low), x), _summed_as(g * by_alpha, alpha), *more]

            return y, grad

        return softplus(*given)  # type: ignore[no-any-return]


def deprecated_flipped_softmax_cross_entropy_with_logits(logits: Any, labels: Any, dim: int = -1, name: Optional[str] = None) -> Tensor:
    """Returns `tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)`.

    Args:
      logits: A tensor of floats.
      labels: A tensor of probabilities.
      dim: The axis of the classes.
      name: A name for the operation.

    Returns:
      A tensor of the shape of `labels` without the axis.

    Example:
      >>> loss = tf.contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits([0.0, 0.0], [1.0, 0.0])
      >>> print(tf.Session().run(loss))
      0.6931472
    """
    return functions.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits: Any, labels: Any, name: Optional[str] = None) -> Tensor:
    """Returns `tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)`.

    Args:
      logits: A tensor of floats.
      labels: A tensor of ints: the classes.
      name: A name for the operation.

    Returns:
      A tensor of the shape of `labels`.

    Example:
      >>> loss = tf.contrib.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits([[0.0, 0.0]], [1])
      >>> print(tf.Session().run(loss))
      [0.6931472]
    """
    return functions.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(logits: Any, targets: Any, name: Optional[str] = None) -> Tensor:
    """Returns `tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits)`.

    Args:
      logits: A tensor of floats.
      targets: A tensor of floats of the same shape.
      name: A name for the operation.

    Returns:
      A tensor of this shape.

    Example:
      >>> loss = tf.contrib.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits([0.0], [1.0])
      >>> print(tf.Session().run(loss))
      [0.6931472]
    """
    return functions.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


__dir__ = namespaces.dir_of(globals())
