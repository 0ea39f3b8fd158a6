"""`tf.contrib.losses.metric_learning`: losses that bring embeddings of the same label together."""

from __future__ import annotations

from typing import Any

from millstream.framework import dtypes, namespaces
from millstream.framework.op_functions import op
from millstream.nn import functions
from millstream.ops import array_ops, math_ops, reduction_ops
from millstream.ops.control_flow import Print
from millstream.ops.math_ops import matmul

__all__ = ["contrastive_loss", "lifted_struct_loss", "npairs_loss", "pairwise_distance", "triplet_semihard_loss"]

__dir__ = namespaces.dir_of(globals())


def _sum(x: Any, axis: Any = None) -> Any:
    return reduction_ops.reduce_sum(x, axis, keepdims=axis is not None)


def _number(x: Any) -> Any:
    return math_ops.cast(x, dtypes.float32)


def pairwise_distance(feature: Any, squared: bool = False) -> Any:
    """Returns the distances between all pairs of rows.

    Args:
      feature: A matrix of `float32`.
      squared: If true, the squares of the distances.

    Returns:
      A square matrix.

    Example:
      >>> metric_learning = tf.contrib.losses.metric_learning
      >>> print(tf.Session().run(metric_learning.pairwise_distance([[0.0, 0.0], [3.0, 4.0]])))
      [[0. 5.]
       [5. 0.]]
    """
    turned = array_ops.transpose(feature)
    both = _sum(op("Square")(feature), [1]) + _sum(op("Square")(turned), [0])
    squares = op("Maximum")(both - 2.0 * matmul(feature, turned), 0.0)
    # The gradient of a root at zero is infinite.
    none = op("LessEqual")(squares, 0.0)
    distances = squares if squared else op("Sqrt")(squares + _number(none) * 1e-16)
    distances = math_ops.multiply(distances, _number(op("LogicalNot")(none)))
    return math_ops.multiply(distances, array_ops.ones_like(distances) - _identity(array_ops.shape(feature)[0]))


def _identity(n: Any) -> Any:
    return op("Diag")(array_ops.ones([n]))


def contrastive_loss(labels: Any, embeddings_anchor: Any, embeddings_positive: Any, margin: float = 1.0) -> Any:
    """Returns the contrastive loss of pairs (Hadsell and others, 2006).

    Args:
      labels: A vector: 1 for a pair of the same class, else 0.
      embeddings_anchor: A matrix of `float32`, with a row for the first of each pair.
      embeddings_positive: The same for the second.
      margin: The distance that other pairs should have.

    Returns:
      A scalar.

    Example:
      >>> loss = tf.contrib.losses.metric_learning.contrastive_loss
      >>> print(tf.Session().run(loss([1, 0], [[0.0], [0.0]], [[1.0], [0.5]])))
      0.625
    """
    distances = op("Sqrt")(reduction_ops.reduce_sum(op("SquaredDifference")(embeddings_anchor, embeddings_positive), 1))
    same = math_ops.cast(labels, distances.dtype)
    far = op("Square")(op("Maximum")(margin - distances, 0.0))
    return reduction_ops.reduce_mean(same * op("Square")(distances) + (1.0 - same) * far, name="contrastive_loss")


def _adjacency(labels: Any) -> Any:
    """Returns which pairs have the same label."""
    labels = array_ops.reshape(labels, [array_ops.shape(labels)[0], 1])
    return math_ops.equal(labels, array_ops.transpose(labels))


def triplet_semihard_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """Returns the triplet loss with semi-hard negatives (Schroff and others, 2015).

    For each pair of the same label, the negative is the nearest embedding of another label that is farther
    than the positive; the farthest one if there is none.

    Args:
      labels: A vector of integers.
      embeddings: A matrix of `float32`, with a row for each label.
      margin: The distance by which a negative should be farther.

    Returns:
      A scalar.

    Example:
      >>> loss = tf.contrib.losses.metric_learning.triplet_semihard_loss
      >>> print(tf.Session().run(loss([0, 0, 1], [[0.0], [1.0], [1.5]])))
      0.875
    """
    same = _adjacency(labels)
    others = op("LogicalNot")(same)
    n = array_ops.size(labels)
    distances = pairwise_distance(embeddings, squared=True)
    # A row for each pair (j, i): the distances from i.
    tiled = op("Tile")(distances, [n, 1])
    farther = op("Greater")(tiled, array_ops.reshape(array_ops.transpose(distances), [-1, 1]))
    mask = _number(op("LogicalAnd")(op("Tile")(others, [n, 1]), farther))
    has_any = array_ops.transpose(array_ops.reshape(op("Greater")(_sum(mask, 1), 0.0), [n, n]))
    most = reduction_ops.reduce_max(tiled, 1, keepdims=True)
    nearest = reduction_ops.reduce_min(math_ops.multiply(tiled - most, mask), 1, keepdims=True) + most
    nearest = array_ops.transpose(array_ops.reshape(nearest, [n, n]))
    least = reduction_ops.reduce_min(distances, 1, keepdims=True)
    farthest = reduction_ops.reduce_max(math_ops.multiply(distances - least, _number(others)), 1, keepdims=True) + least
    negatives = array_ops.where(has_any, nearest, op("Tile")(farthest, [1, n]))
    terms = margin + (distances - negatives)
    positives = _number(same) - _identity(n)
    count = _sum(positives)
    return math_ops.truediv(_sum(op("Maximum")(math_ops.multiply(terms, positives), 0.0)), count, name="triplet_semihard_loss")


def lifted_struct_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """Returns the lifted structured loss (Song and others, 2015).

    Args:
      labels: A vector of integers.
      embeddings: A matrix of `float32`, with a row for each label.
      margin: The distance that embeddings of other labels should have.

    Returns:
      A scalar.

    Example:
      >>> loss = tf.contrib.losses.metric_learning.lifted_struct_loss
      >>> print(tf.Session().run(loss([0, 0, 1], [[0.0], [1.0], [1.5]])).round(4))
      1.644
    """
    same = _adjacency(labels)
    n = array_ops.size(labels)
    distances = pairwise_distance(embeddings)
    diff = margin - distances
    mask = _number(op("LogicalNot")(same))
    least = reduction_ops.reduce_min(diff, 1, keepdims=True)
    most = reduction_ops.reduce_max(math_ops.multiply(diff - least, mask), 1, keepdims=True) + least
    most = op("Maximum")(most, array_ops.transpose(most))
    each = array_ops.reshape(array_ops.transpose(most), [-1, 1])
    powers = math_ops.multiply(op("Exp")(op("Tile")(diff, [n, 1]) - each), op("Tile")(mask, [n, 1]))
    left = array_ops.reshape(_sum(powers, 1), [n, n])
    terms = most + op("Log")(left + array_ops.transpose(left)) + distances
    positives = _number(same) - _identity(n)
    count = _sum(positives) / 2.0
    total = _sum(op("Square")(op("Maximum")(math_ops.multiply(terms, positives), 0.0)))
    return math_ops.truediv(0.25 * total, count, name="liftedstruct_loss")


def npairs_loss(labels: Any, embeddings_anchor: Any, embeddings_positive: Any, reg_lambda: float = 0.002, print_losses: bool = False) -> Any:
    """Returns the n-pairs loss (Sohn, 2016).

    Args:
      labels: A vector of integers.
      embeddings_anchor: A matrix of `float32`, with a row for each label.
      embeddings_positive: A second matrix of embeddings with these labels.
      reg_lambda: The weight of the squares of the embeddings.
      print_losses: If true, each run prints both terms.

    Returns:
      A scalar.

    Example:
      >>> loss = tf.contrib.losses.metric_learning.npairs_loss
      >>> print(tf.Session().run(loss([0, 1], [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]])).round(4))
      0.3143
    """
    sizes = [reduction_ops.reduce_mean(reduction_ops.reduce_sum(op("Square")(x), 1)) for x in (embeddings_anchor, embeddings_positive)]
    regularizer = math_ops.multiply(0.25 * reg_lambda, sizes[0] + sizes[1], name="l2loss")
    similarity = matmul(embeddings_anchor, embeddings_positive, transpose_b=True)
    same = _number(_adjacency(labels))
    same /= _sum(same, 1)
    entropy = functions.softmax_cross_entropy_with_logits(logits=similarity, labels=same)
    entropy = reduction_ops.reduce_mean(entropy, name="xentropy")
    if print_losses:
        entropy = Print(entropy, ["cross entropy:", entropy, "l2loss:", regularizer])
    return regularizer + entropy
