"""`tf.contrib.staging`: a `StagingArea`, which keeps values ahead of a step. It is a queue in memory."""

from __future__ import annotations

from typing import Any, List, Optional

from millstream.framework import control_dependencies, dtypes, namespaces, shapes
from millstream.ops import control_flow
from millstream.ops.data_flow import FIFOQueue

__all__ = ["StagingArea"]

_UNLIMITED = 2**31 - 1


class StagingArea:
    """An area for values that a later step takes, in the order in which they were put.

    Args:
      dtypes: The dtypes of the values.
      shapes: Their shapes, or None.
      names: Their names, for values in dictionaries, or None.
      shared_name: If it is not empty, sessions on the same resources share the area under this name.
      capacity: How many elements `put` stages before it waits; 0 for no limit.
      memory_limit: 0. The memory limit of the session applies.

    Raises:
      ValueError: There are not as many shapes or names as dtypes.
      NotImplementedError: `memory_limit` is not 0.

    Example:
      >>> area = tf.contrib.staging.StagingArea([tf.float32], shapes=[[2]])
      >>> put, get = area.put([tf.constant([1.0, 2.0])]), area.get()
      >>> with tf.Session() as sess:
      ...     sess.run(put)
      ...     print(sess.run(area.size()), sess.run(get))
      1 [array([1., 2.], dtype=float32)]
      >>> area.clear().type
      'NoOp'
      >>> area.name, area.dtypes, area.shapes, area.names, area.capacity, area.memory_limit
      ('StagingArea', [tf.float32], [TensorShape([Dimension(2)])], None, 0, 0)
    """

    def __init__(
        self,
        dtypes: Any,
        shapes: Any = None,
        names: Optional[List[str]] = None,
        shared_name: Optional[str] = None,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        self._dtypes = [_as_dtype(t) for t in dtypes]
        if shapes is not None and len(shapes) != len(self._dtypes):
            raise ValueError("StagingArea shapes must be the same length as dtypes")
        if names and len(names) != len(self._dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        if memory_limit:
            raise NotImplementedError(
                "`memory_limit` of a staging area is not part of Millstream yet: limit `capacity`, or the session by `tf.ConfigProto`"
            )
        self._shapes = [_as_shape(s) for s in ([None] * len(self._dtypes) if shapes is None else shapes)]
        self._names, self._capacity = names or None, max(capacity, 0)
        self._queue = FIFOQueue(self._capacity or _UNLIMITED, self._dtypes, shared_name=shared_name or None, name="StagingArea")

    @property
    def name(self) -> str:
        """The name of the area's operation."""
        return self._queue.name

    @property
    def dtypes(self) -> List[Any]:
        """The dtypes of the values."""
        return self._dtypes

    @property
    def shapes(self) -> List[Any]:
        """The shapes of the values."""
        return self._shapes

    @property
    def names(self) -> Optional[List[str]]:
        """The names of the values, or None."""
        return self._names

    @property
    def capacity(self) -> int:
        """The number of elements it holds, 0 for any."""
        return self._capacity

    @property
    def memory_limit(self) -> int:
        """Zero: there is no limit but that of the session."""
        return 0

    def put(self, values: Any, name: Optional[str] = None) -> Any:
        """Returns the operation that stages values; it waits while the area is full.

        Args:
          values: A list of tensors, or a dictionary if the area has names.
          name: A name for the operation.

        Returns:
          An operation.

        Raises:
          ValueError: The values are not as the area wants them.
        """
        if isinstance(values, dict):
            if self._names is None:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if sorted(values) != sorted(self._names):
                raise ValueError("the dictionary has the keys %s, and the area the names %s" % (sorted(values), sorted(self._names)))
            values = [values[key] for key in self._names]
        elif self._names is not None:
            raise ValueError("You must enqueue a dictionary in a staging area with names")
        values = list(values) if isinstance(values, (list, tuple)) else [values]
        if len(values) != len(self._dtypes):
            raise ValueError("Unexpected number of inputs %d, expected %d" % (len(values), len(self._dtypes)))
        for value, dtype, shape in zip(values, self._dtypes, self._shapes):
            if hasattr(value, "dtype") and value.dtype.base_dtype != dtype:
                raise ValueError("Datatypes do not match. Received %s, expected %s" % (value.dtype.name, dtype.name))
            if hasattr(value, "shape"):
                shape.assert_is_compatible_with(value.shape)
        return self._queue.enqueue(values, name=name)

    def get(self, name: Optional[str] = None) -> Any:
        """Returns the oldest values and removes them; waits until there are some.

        Args:
          name: A name for the operation.

        Returns:
          A list of tensors, or a dictionary if the area has names.
        """
        made = self._queue.dequeue(name=name)
        values = list(made) if isinstance(made, (list, tuple)) else [made]
        for value, shape in zip(values, self._shapes):
            value.set_shape(shape)
        return values if self._names is None else dict(zip(self._names, values))

    def __getattr__(self, name: str) -> Any:
        if name == "peek":
            raise AttributeError("`StagingArea.peek` is not part of Millstream yet: `get` the values, and keep them in a variable")
        raise AttributeError("'StagingArea' object has no attribute '%s'" % name)

    def size(self, name: Optional[str] = None) -> Any:
        """Returns the number of elements, a tensor."""
        return self._queue.size(name=name)

    def clear(self, name: Optional[str] = None) -> Any:
        """Returns the operation that removes all elements."""

        def drop(n: Any) -> Any:
            with control_dependencies([t.op for t in _listed(self._queue.dequeue())]):
                return n - 1

        return control_flow.group(control_flow.while_loop(lambda n: 0 < n, drop, [self._queue.size()], parallel_iterations=1), name=name)


def _listed(values: Any) -> List[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [values]


# The arguments of the constructor have the names of these modules.
_as_dtype, _as_shape = dtypes.as_dtype, shapes.TensorShape

__dir__ = namespaces.dir_of(globals())
