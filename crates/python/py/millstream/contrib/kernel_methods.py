"""`tf.contrib.kernel_methods`: features of a Gaussian kernel, and the hinge loss of several classes."""

from __future__ import annotations

import abc
import math
from typing import Any, Optional, Tuple

import numpy as np

from millstream._engine import Tensor
from millstream.framework import constant, convert_to_tensor, dtypes, name_scope, namespaces
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.losses import Reduction, compute_weighted_loss
from millstream.ops import array_ops, math_ops, reduction_ops

__all__ = ["RandomFourierFeatureMapper", "sparse_multiclass_hinge_loss"]

__dir__ = namespaces.dir_of(globals())


class InvalidShapeError(Exception):
    """A tensor does not have the shape that a mapper maps."""


class DenseKernelMapper(abc.ABC):
    """A map of the rows of a matrix to the features of a kernel: `map`, `name` and `output_dim`."""

    @abc.abstractmethod
    def map(self, input_tensor: Any) -> Tensor:
        """Returns the features of the rows of a matrix."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of the mapper."""

    @property
    @abc.abstractmethod
    def output_dim(self) -> int:
        """The number of features."""


class RandomFourierFeatureMapper(DenseKernelMapper):
    """A map to features whose inner products are about a Gaussian kernel of the rows.

    Args:
      input_dim: The number of columns of the matrix.
      output_dim: The number of features: the more there are, the closer is the kernel.
      stddev: The standard deviation of the kernel.
      seed: The seed of the random directions.
      name: The name of the mapper; a number of its own if it is None.

    Example:
      >>> mapper = tf.contrib.kernel_methods.RandomFourierFeatureMapper(2, 4000, stddev=2.0, seed=3)
      >>> features = mapper.map(tf.constant([[1.0, 2.0], [1.5, 2.5]]))
      >>> kernel = tf.reduce_sum(features[0] * features[1])
      >>> bool(abs(tf.Session().run(kernel) - 2.718 ** (-0.5 / 8)) < 0.05)
      True
    """

    def __init__(self, input_dim: int, output_dim: int, stddev: float = 1.0, seed: int = 1, name: Optional[str] = None) -> None:
        self._input_dim = input_dim
        self._output_dim = output_dim
        self._stddev = stddev
        self._seed = seed
        self._name = name

    @property
    def name(self) -> str:
        """The name of the mapper."""
        return self._name or str(id(self))

    @property
    def input_dim(self) -> int:
        """The number of columns of the matrix."""
        return self._input_dim

    @property
    def output_dim(self) -> int:
        """The number of features."""
        return self._output_dim

    def map(self, input_tensor: Any) -> Tensor:
        """Returns the features of the rows of a matrix.

        Args:
          input_tensor: A matrix of floats with `input_dim` columns.

        Raises:
          InvalidShapeError: It has another number of columns.

        Example:
          >>> mapper = tf.contrib.kernel_methods.RandomFourierFeatureMapper(2, 5)
          >>> mapper.map(tf.ones([3, 2])).shape.as_list()
          [3, 5]
        """
        input_tensor = convert_to_tensor(input_tensor)
        shape = input_tensor.get_shape()
        if shape.ndims != 2:
            raise InvalidShapeError("The shape of the tensor should be 2. Got %s instead. `input_tensor` is a matrix, a row for each example." % shape.ndims)
        columns = shape[1].value if hasattr(shape[1], "value") else shape[1]
        if columns != self._input_dim:
            raise InvalidShapeError("Invalid dimension: expected %s input features, got %s instead. `input_dim` is the number of columns." % (self._input_dim, columns))
        # The directions are constants, drawn from the seed: equal mappers map alike in any graph.
        drawn = np.random.RandomState(self._seed)
        directions = drawn.normal(scale=1.0 / self._stddev, size=[self._input_dim, self._output_dim])
        shifts = drawn.uniform(low=0.0, high=2 * np.pi, size=self._output_dim)
        products = math_ops.matmul(input_tensor, constant(directions, dtype=input_tensor.dtype))
        return math.sqrt(2.0 / self._output_dim) * op("Cos")(op("Add")(products, constant(shifts, dtype=input_tensor.dtype)))


def sparse_multiclass_hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: Optional[str] = None,
    loss_collection: Optional[str] = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Returns the hinge loss of several classes.

    The loss of an example is 1 plus the largest logit of another class minus the label's, if positive.

    Args:
      labels: A tensor of shape `[batch]` or `[batch, 1]`: the classes, int32 or int64.
      logits: A tensor of floats of shape `[batch, classes]`.
      weights: The weights of examples: a scalar, or a tensor of shape `[batch]` or `[batch, 1]`.
      scope: A name for the operations.
      loss_collection: The collection of the loss.
      reduction: How the losses of examples are reduced; see `tf.losses.Reduction`.

    Returns:
      A scalar; without a reduction, a tensor of the shape of `labels`.

    Raises:
      ValueError: An argument is None, or their shapes or dtypes do not fit.

    Example:
      >>> loss = tf.contrib.kernel_methods.sparse_multiclass_hinge_loss([0, 1], [[2.0, 1.5], [0.0, 3.0]])
      >>> print(tf.Session().run(loss))
      0.25
    """
    with name_scope(scope, "sparse_multiclass_hinge_loss", [logits, labels]) as scope:
        logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
        classes, labels = _checked(labels, logits)
        correct = op("OneHot")(labels, classes, convert_to_tensor(True), convert_to_tensor(False))
        logits = math_ops.cast(logits, dtypes.float32)
        own = reduction_ops.reduce_sum(array_ops.where(correct, logits, array_ops.zeros_like(logits)), axis=1, keepdims=True)
        others = array_ops.where(correct, array_ops.zeros_like(logits), 1.0 + logits - own)
        losses = reduction_ops.reduce_max(op("Relu")(others), axis=1)
        weights = convert_to_tensor(weights)
        if weights.shape.ndims == 2:
            weights = array_ops.squeeze(weights, [1])
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def _checked(labels: Tensor, logits: Tensor) -> Tuple[Any, Tensor]:
    """Returns the number of classes, and the labels as a vector."""
    if logits.dtype not in (dtypes.float32, dtypes.float64):
        raise ValueError("logits dtype should be either float32 or float64: `logits` is %s" % logits.dtype.name)
    if labels.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError("Invalid labels dtype: `labels` is %s; use int32 or int64" % labels.dtype.name)
    if logits.shape.ndims != 2:
        raise ValueError("logits should have rank 2 ([batch_size, num_classes]). Given rank is %s: `logits` has a row for each example" % logits.shape.ndims)
    if labels.shape.ndims == 2:
        if labels.shape[1] != 1:
            raise ValueError("Expected labels to have shape [batch_size, 1]: `labels` has shape %s" % labels.shape)
        labels = array_ops.squeeze(labels, [1])
    elif labels.shape.ndims != 1:
        raise ValueError("labels should have rank 1 or 2: `labels` has shape %s; it has one class for each example" % labels.shape)
    labels.shape.assert_is_compatible_with(logits.shape[:1])
    known = logits.shape.as_list()[1]
    return (array_ops.shape(logits)[1] if known is None else known), labels
