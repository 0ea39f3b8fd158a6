"""`Barrier`: elements whose components arrive one by one, and that leave once they are complete."""

from __future__ import annotations

import collections
from typing import Any, List, Optional, Tuple

from millstream._engine import Operation, Tensor
from millstream.framework import constant_value
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape
from millstream.ops.data_flow import _as_shapes, _as_types

__all__ = ["Barrier"]


BarrierTakeMany = collections.namedtuple("BarrierTakeMany", "indices keys values")


class Barrier:
    """A set of elements with a key and several components, which are inserted one by one.

    Elements that have all components can be taken, those whose keys came first before the others. TensorFlow
    has the class in `tensorflow.python.ops.data_flow_ops`.

    Args:
      types: A list of the components' dtypes, or a single one.
      shapes: A list of their shapes, which must be fully defined. Without it, the elements of a batch must
        have equal shapes.
      shared_name: If it is not empty, sessions on the same resources share the barrier under this name.
      name: A name for the operation.

    Raises:
      ValueError: `types` is empty, there is not a shape for each type, or a shape is not fully defined or has
        no elements.
      TypeError: An element of `types` is not a dtype.

    Example:
      >>> from millstream.ops.barriers import Barrier
      >>> b = Barrier([tf.float32, tf.string], shapes=[[], []], name="b")
      >>> values = b.insert_many(0, ["k1", "k2", "k3"], [1.0, 2.0, 3.0])
      >>> labels = b.insert_many(1, ["k3", "k1"], ["three", "one"])
      >>> indices, keys, (value, label) = b.take_many(2)
      >>> with tf.Session() as sess:
      ...     _ = sess.run(values), sess.run(labels)
      ...     print(*sess.run([keys, value, label]))
      ...     print(*sess.run([b.ready_size(), b.incomplete_size()]))
      [b'k3' b'k1'] [3. 1.] [b'three' b'one']
      0 1
      >>> b.name, b.barrier_ref.dtype
      ('b', tf.string_ref)
    """

    def __init__(self, types: Any, shapes: Any = None, shared_name: Optional[str] = None, name: str = "barrier") -> None:
        self._types = _as_types(types, "Barrier")
        self._shapes = _as_shapes(shapes, len(self._types))
        for i, shape in enumerate(self._shapes):
            if shape.num_elements() == 0:
                raise ValueError(f"Empty tensors are not supported, but received shape '{shape}' at index {i}")
        self._barrier_ref = op("Barrier")(
            component_types=self._types, shapes=self._shapes, shared_name=shared_name or "", name=name
        )
        self._name = self._barrier_ref.op.name.rpartition("/")[2]

    barrier_ref = property(lambda self: self._barrier_ref, doc="The handle of the barrier.")
    name = property(lambda self: self._barrier_ref.op.name, doc="The name of the barrier's operation.")

    def insert_many(self, component_index: int, keys: Any, values: Any, name: Optional[str] = None) -> Operation:
        """Inserts the rows of a tensor as one component, under the keys of their elements.

        Args:
          component_index: The number of the component.
          keys: A vector of strings.
          values: A tensor with a row for each key.
          name: A name for the operation.

        Returns:
          The `Operation`.

        Raises:
          ValueError: There is not a row for each key.
          tf.errors.InvalidArgumentError: When run: an element has the component already, a value does not
            match the barrier, or it has no elements. The rows before it are inserted.
          tf.errors.CancelledError: When run: the barrier is closed, and it does not have the key.

        Example:
          >>> from millstream.ops.barriers import Barrier
          >>> b = Barrier([tf.int32, tf.int32])
          >>> put = b.insert_many(0, ["a"], [1])
          >>> sess = tf.Session()
          >>> sess.run(put)
          >>> sess.run(put)
          Traceback (most recent call last):
            ...
          millstream.errors.InvalidArgumentError: Key a already has a value for component 0 in barrier barrier
          ...
        """
        name = name or f"{self._name}_BarrierInsertMany"
        return op("BarrierInsertMany")(self._barrier_ref, keys, values, component_index=component_index, name=name)

    def take_many(
        self, num_elements: Any, allow_small_batch: bool = False, timeout: Any = None, name: Optional[str] = None
    ) -> Tuple[Tensor, Tensor, List[Tensor]]:
        """Takes complete elements; waits for them.

        Args:
          num_elements: An int, or an integer scalar tensor.
          allow_small_batch: If true, and the barrier is closed, the elements that are complete make a smaller
            batch.
          timeout: None. Give the run a time limit instead.
          name: A name for the operation.

        Returns:
          A named tuple: `indices`, the numbers of the insertions that brought the keys, counted from -2**63;
            `keys`; and `values`, a list with a tensor for each component.

        Raises:
          ValueError: `num_elements` is negative.
          TypeError: `timeout` is not None.
          tf.errors.OutOfRangeError: When run: the barrier is closed, and cannot have as many elements.

        Example:
          >>> from millstream.ops.barriers import Barrier
          >>> b = Barrier(tf.float32, shapes=[2])
          >>> put, close = b.insert_many(0, ["a"], [[1.0, 2.0]]), b.close()
          >>> _, keys, [rows] = b.take_many(9, allow_small_batch=True)
          >>> rows.shape
          TensorShape([Dimension(None), Dimension(2)])
          >>> with tf.Session() as sess:
          ...     _ = sess.run(put), sess.run(close)
          ...     print(*sess.run([keys, rows]))
          [b'a'] [[1. 2.]]
        """
        if timeout is not None:
            raise TypeError(
                f"Expected bool for argument 'wait_for_incomplete' not {timeout!r}.\n  help: TensorFlow has no "
                "time limit for `take_many` either: give the run one, `tf.RunOptions(timeout_in_ms=..)`"
            )
        known = num_elements if isinstance(num_elements, int) else constant_value(num_elements)
        if known is not None and known < 0:
            raise ValueError(f"Dimension {known} must be >= 0\n  help: `num_elements` is the number of elements to take")
        indices, keys, values = op("BarrierTakeMany")(
            self._barrier_ref,
            num_elements,
            component_types=self._types,
            allow_small_batch=allow_small_batch,
            name=name or f"{self._name}_BarrierTakeMany",
        )
        rows = TensorShape([None if allow_small_batch or known is None else int(known)])
        indices.set_shape(rows)
        keys.set_shape(rows)
        for value, shape in zip(values, self._shapes):
            value.set_shape(rows.concatenate(shape))
        return BarrierTakeMany(indices, keys, values)

    def close(self, cancel_pending_enqueues: bool = False, name: Optional[str] = None) -> Operation:
        """Closes the barrier: new keys are refused, while incomplete elements can be completed.

        Args:
          cancel_pending_enqueues: If true, incomplete elements are dropped, and nothing can be inserted.
          name: A name for the operation.

        Returns:
          The `Operation`.

        Raises:
          tf.errors.CancelledError: When run: the barrier is closed already.

        Example:
          >>> from millstream.ops.barriers import Barrier
          >>> b = Barrier(tf.int32)
          >>> put, close = b.insert_many(0, ["a"], [1]), b.close()
          >>> sess = tf.Session()
          >>> sess.run(close)
          >>> sess.run(put)
          Traceback (most recent call last):
            ...
          millstream.errors.CancelledError: Barrier barrier is closed...
          ...
        """
        name = name or f"{self._name}_BarrierClose"
        return op("BarrierClose")(self._barrier_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name)

    def ready_size(self, name: Optional[str] = None) -> Tensor:
        """Returns the number of elements that have all components.

        Args:
          name: A name for the operation.

        Returns:
          An `int32` scalar tensor.
        """
        return op("BarrierReadySize")(self._barrier_ref, name=name or f"{self._name}_BarrierReadySize")

    def incomplete_size(self, name: Optional[str] = None) -> Tensor:
        """Returns the number of elements that lack a component.

        Args:
          name: A name for the operation.

        Returns:
          An `int32` scalar tensor.
        """
        return op("BarrierIncompleteSize")(self._barrier_ref, name=name or f"{self._name}_BarrierIncompleteSize")
