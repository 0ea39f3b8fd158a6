"""`tf.contrib.sparsemax`: a softmax that gives zeros, and its loss."""

from __future__ import annotations

from typing import Any, Optional

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, dtypes, name_scope, namespaces
from millstream.framework.op_functions import op
from millstream.nn import functions
from millstream.ops import array_ops, indexing_ops, math_ops, reduction_ops

__all__ = ["sparsemax", "sparsemax_loss"]

__dir__ = namespaces.dir_of(globals())


def sparsemax(logits: Any, name: Optional[str] = None) -> Tensor:
    """Returns, for each row, the probabilities that are nearest to it. Small logits have probability zero.

    Rows with NaN, and rows whose largest logits are infinite, give NaN.

    Args:
      logits: A tensor of floats of shape `[batch, classes]`.
      name: A name for the operations.

    Example:
      >>> print(tf.Session().run(tf.contrib.sparsemax.sparsemax([[0.0, 0.5, 2.0], [1.0, 1.0, 1.5]])).round(3))
      [[0.    0.    1.   ]
       [0.167 0.167 0.667]]
    """
    with name_scope(name, "sparsemax", [logits]):
        z = convert_to_tensor(logits, name="logits")
        rows, n = array_ops.shape(z)[0], array_ops.shape(z)[1]
        descending, _ = functions.top_k(z, k=n)
        sums = reduction_ops.cumsum(descending, axis=1)
        k = math_ops.range(1, math_ops.cast(n, z.dtype) + 1, dtype=z.dtype)
        # The number of classes whose probability is not zero.
        n_used = op("Sum")(math_ops.cast(1 + k * descending > sums, dtypes.int32), 1)
        last = array_ops.stack([math_ops.range(0, rows), op("Maximum")(n_used, 1) - 1], axis=1)
        shift = (indexing_ops.gather_nd(sums, last) - 1) / math_ops.cast(n_used, z.dtype)
        p = op("Maximum")(math_ops.cast(0, z.dtype), z - array_ops.expand_dims(shift, 1))
        invalid = op("LogicalOr")(math_ops.equal(n_used, 0), op("IsNan")(sums[:, -1]))
        return array_ops.where(invalid, array_ops.fill([rows, n], math_ops.cast(float("nan"), z.dtype)), p)


def sparsemax_loss(logits: Any, sparsemax: Any, labels: Any, name: Optional[str] = None) -> Tensor:
    """Returns the loss whose gradient is `sparsemax(logits) - labels`, for each row.

    Args:
      logits: A tensor of floats of shape `[batch, classes]`.
      sparsemax: What `sparsemax(logits)` returned.
      labels: The probabilities that are wanted, of the same shape.
      name: A name for the operations.

    Example:
      >>> logits = tf.constant([[0.0, 0.5, 2.0]])
      >>> p = tf.contrib.sparsemax.sparsemax(logits)
      >>> print(tf.Session().run(tf.contrib.sparsemax.sparsemax_loss(logits, p, [[0.0, 1.0, 0.0]])))
      [1.5]
    """
    with name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        z = convert_to_tensor(logits, name="logits")
        p = convert_to_tensor(sparsemax, name="sparsemax")
        q = convert_to_tensor(labels, name="labels")
        # Zero times infinity is zero here.
        of_p = array_ops.where(op("LogicalOr")(p > 0, op("IsNan")(p)), p * (z - 0.5 * p), array_ops.zeros_like(p))
        of_q = array_ops.where(op("LogicalAnd")(math_ops.equal(q, 0), op("IsInf")(z)), array_ops.zeros_like(z), q * (0.5 * q - z))
        return op("Sum")(of_p + of_q, 1)
