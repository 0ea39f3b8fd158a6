"""`ConditionalAccumulator` and `SparseConditionalAccumulator` gather gradients of several runs."""

from __future__ import annotations

from typing import Any, Optional

from millstream._engine import Operation, Tensor
from millstream.framework import IndexedSlices, convert_to_tensor, dtypes
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape
from millstream.ops import math_ops

__all__ = ["ConditionalAccumulator", "ConditionalAccumulatorBase", "SparseConditionalAccumulator"]


class ConditionalAccumulatorBase:
    """The base class of accumulators of gradients.

    An accumulator has a step, 0 at first. A gradient of an older step is dropped; taking gradients begins the
    next step.

    Args:
      dtype: The dtype of the gradients.
      shape: A shape that they fit.
      accumulator_ref: The handle.

    Example:
      >>> a: tf.ConditionalAccumulatorBase = tf.ConditionalAccumulator(tf.float32, shape=[], name="losses")
      >>> a.name, a.dtype, a.accumulator_ref.dtype
      ('losses', tf.float32, tf.resource)
      >>> late, count = a.apply_grad(1.0, local_step=2), a.num_accumulated()
      >>> with tf.Session() as sess:
      ...     sess.run(a.set_global_step(3))
      ...     sess.run(late)
      ...     print(sess.run(count))
      0
    """

    _NUMBER, _SET_STEP = "AccumulatorNumAccumulated", "AccumulatorSetGlobalStep"

    def __init__(self, dtype: Any, shape: Any, accumulator_ref: Tensor) -> None:
        self._dtype = dtype
        self._shape = TensorShape(shape) if shape is not None else TensorShape(None)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.split("/")[-1]

    @property
    def accumulator_ref(self) -> Tensor:
        """The handle of the accumulator."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """The name of its node."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The dtype of the gradients."""
        return self._dtype

    def num_accumulated(self, name: Optional[str] = None) -> Tensor:
        """Returns the number of gradients that the accumulator holds, an `int32` scalar.

        Args:
          name: A name for the operation.

        Returns:
          The number.
        """
        return op(self._NUMBER)(self._accumulator_ref, name=name or self._name + "_NumAccumulated")

    def set_global_step(self, new_global_step: Any, name: Optional[str] = None) -> Operation:
        """Returns the operation that sets the step of the accumulator.

        Args:
          new_global_step: An integer.
          name: A name for the operation.

        Returns:
          The operation.
        """
        return op(self._SET_STEP)(self._accumulator_ref, _step(new_global_step), name=name)


def _step(value: Any) -> Tensor:
    """Returns a step as an `int64` tensor."""
    return math_ops.cast(convert_to_tensor(value), dtypes.int64)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """An accumulator of whole gradients.

    Args:
      dtype: The dtype of the gradients.
      shape: A shape that they fit.
      shared_name: If given, sessions with the same resources share the accumulator of this name.
      name: A name for the operation.
      reduction_type: `"MEAN"`, or `"SUM"`.

    Example:
      >>> accumulator = tf.ConditionalAccumulator(tf.float32, shape=[2])
      >>> apply, mean = accumulator.apply_grad([1.0, 2.0]), accumulator.take_grad(2)
      >>> with tf.Session() as sess:
      ...     for _ in range(2):
      ...         sess.run(apply)
      ...     print(sess.run(mean), sess.run(accumulator.num_accumulated()))
      [1. 2.] 0
    """

    _NUMBER, _SET_STEP = "ResourceAccumulatorNumAccumulated", "ResourceAccumulatorSetGlobalStep"

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: Optional[str] = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        ref = op("ResourceConditionalAccumulator")(
            dtype=dtype, shape=TensorShape(shape), shared_name=shared_name or "", name=name, reduction_type=reduction_type
        )
        super().__init__(dtype, shape, ref)

    def apply_grad(self, grad: Any, local_step: Any = 0, name: Optional[str] = None) -> Operation:
        """Returns the operation that adds a gradient, or drops it if its step is over.

        Args:
          grad: The gradient.
          local_step: The step for which it was computed.
          name: A name for the operation.

        Returns:
          The operation.

        Raises:
          ValueError: The gradient does not fit the shape.
        """
        grad = convert_to_tensor(grad, self._dtype)
        grad.get_shape().assert_is_compatible_with(self._shape)
        return op("ResourceAccumulatorApplyGradient")(self._accumulator_ref, _step(local_step), grad, name=name)

    def take_grad(self, num_required: Any, name: Optional[str] = None) -> Tensor:
        """Returns the mean of the gradients, or their sum, once there are enough, and begins the next step.

        Args:
          num_required: The number of gradients to wait for.
          name: A name for the operation.

        Returns:
          A tensor.

        Raises:
          InvalidArgumentError: When run: `num_required` is not positive.
        """
        out = op("ResourceAccumulatorTakeGradient")(self._accumulator_ref, num_required, dtype=self._dtype, name=name)
        out.set_shape(self._shape)
        return out


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """An accumulator of gradients that are rows of tensors.

    The mean of a row is that of the gradients that have it.

    Args:
      dtype: The dtype of the gradients.
      shape: A shape that the whole gradients fit.
      shared_name: If given, sessions with the same resources share the accumulator of this name.
      name: A name for the operation.
      reduction_type: `"MEAN"`, or `"SUM"`.

    Example:
      >>> accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 1])
      >>> apply = accumulator.apply_grad([0, 3], [[1.0], [2.0]], [4, 1])
      >>> slices = tf.IndexedSlices([[4.0]], [3], dense_shape=[4, 1])
      >>> more = accumulator.apply_indexed_slices_grad(slices)
      >>> rows = accumulator.take_indexed_slices_grad(2)  # `accumulator.take_grad(2)` is a plain named tuple.
      >>> with tf.Session() as sess:
      ...     sess.run([apply, more])
      ...     mean = sess.run(rows)
      [None, None]
      >>> mean.indices, mean.values.tolist()
      (array([0, 3]), [[1.0], [3.0]])
    """

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: Optional[str] = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        ref = op("SparseConditionalAccumulator")(
            dtype=dtype, shape=TensorShape(shape), shared_name=shared_name or "", name=name, reduction_type=reduction_type
        )
        super().__init__(dtype, shape, ref)

    def apply_indexed_slices_grad(self, grad: IndexedSlices, local_step: Any = 0, name: Optional[str] = None) -> Operation:
        """Returns the operation that adds the rows of an `IndexedSlices`; see `apply_grad`.

        Args:
          grad: The gradient.
          local_step: The step for which it was computed.
          name: A name for the operation.

        Returns:
          The operation.
        """
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(
        self, grad_indices: Any, grad_values: Any, grad_shape: Any = None, local_step: Any = 0, name: Optional[str] = None
    ) -> Operation:
        """Returns the operation that adds rows of a gradient, or drops them if their step is over.

        Args:
          grad_indices: The places of the rows, ascending.
          grad_values: The rows.
          grad_shape: The shape of the whole gradient.
          local_step: The step for which it was computed.
          name: A name for the operation.

        Returns:
          The operation.

        Raises:
          InvalidArgumentError: When run: the rows do not fit the shape, or are none.
        """
        return op("SparseAccumulatorApplyGradient")(
            self._accumulator_ref,
            _step(local_step),
            math_ops.cast(grad_indices, dtypes.int64),
            grad_values,
            math_ops.cast([] if grad_shape is None else grad_shape, dtypes.int64),
            has_known_shape=grad_shape is not None,
            name=name,
        )

    def take_grad(self, num_required: Any, name: Optional[str] = None) -> Any:
        """Returns the rows that gradients have, once there are enough, and begins the next step.

        Args:
          num_required: The number of gradients to wait for.
          name: A name for the operation.

        Returns:
          A named tuple of `indices`, `values` and `shape`.

        Raises:
          InvalidArgumentError: When run: `num_required` is not positive.
        """
        return op("SparseAccumulatorTakeGradient")(self._accumulator_ref, num_required, dtype=self._dtype, name=name)

    def take_indexed_slices_grad(self, num_required: Any, name: Optional[str] = None) -> IndexedSlices:
        """Returns what `take_grad` does, as an `IndexedSlices`.

        Args:
          num_required: The number of gradients to wait for.
          name: A name for the operation.

        Returns:
          An `IndexedSlices`.
        """
        found = self.take_grad(num_required, name)
        return IndexedSlices(values=found.values, indices=found.indices, dense_shape=found.shape)
