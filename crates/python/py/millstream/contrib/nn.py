"""`tf.contrib.nn`: cross entropies with the arguments in the order that they had before TensorFlow 1.0."""

from __future__ import annotations

from typing import Any, Optional

from millstream._engine import Tensor
from millstream.framework import namespaces
from millstream.nn import functions

__all__ = [
    "deprecated_flipped_sigmoid_cross_entropy_with_logits",
    "deprecated_flipped_softmax_cross_entropy_with_logits",
    "deprecated_flipped_sparse_softmax_cross_entropy_with_logits",
]


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
