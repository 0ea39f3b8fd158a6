"""`tf.contrib.staging`: a `StagingArea` keeps values ahead of a step, and a `MapStagingArea` has keys."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from millstream.framework import convert_to_tensor, dtypes, get_default_graph, name_scope, namespaces, shapes
from millstream.framework.op_functions import op
from millstream.ops.control_flow import no_op

__all__ = ["StagingArea"]


class _Area:
    """What both kinds of areas have."""

    def __init__(self, dtypes: Any, shapes: Any, names: Any, shared_name: Any, capacity: int, memory_limit: int) -> None:
        kind = type(self).__name__
        if shared_name is not None and not isinstance(shared_name, str):
            raise ValueError("shared_name must be a string")
        self._name = get_default_graph().unique_name(kind) if shared_name is None else shared_name
        self._dtypes = [_as_dtype(t) for t in dtypes]
        if shapes is not None and len(shapes) != len(self._dtypes):
            raise ValueError("StagingArea shapes must be the same length as dtypes")
        if names is not None and len(names) != len(self._dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        self._shapes = [_as_shape(s) for s in ([None] * len(self._dtypes) if shapes is None else shapes)]
        self._names, self._capacity, self._memory_limit = names or None, capacity, memory_limit
        with name_scope("%s_root" % self._name):
            self._root = no_op()

    @property
    def name(self) -> str:
        """The name of the area."""
        return self._name

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
        """The number of elements that the area holds, 0 for any."""
        return self._capacity

    @property
    def memory_limit(self) -> int:
        """The number of bytes that the area holds, 0 for any."""
        return self._memory_limit

    def _attrs(self, scope: Optional[str]) -> Any:
        return {"capacity": self._capacity, "memory_limit": self._memory_limit, "shared_name": self._name, "name": scope}

    def _made(self, kind: str, name: Optional[str], what: str, *inputs: Any, **attrs: Any) -> Any:
        """Returns a node beside the others of the area."""
        with name_scope(name, "%s_%s" % (self._name, what), []) as scope, get_default_graph().colocate_with(self._root):
            return op(kind)(*inputs, **attrs, **self._attrs(scope))

    def _converted(self, values: Any, indices: Any) -> Tuple[List[Any], List[int]]:
        """Returns the tensors to put, and the numbers of their components."""
        if isinstance(values, dict):
            if self._names is None:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if not set(values).issubset(self._names):
                raise ValueError("Keys in dictionary to put do not match names of staging area. Dictionary: (%s), Queue: (%s)" % (sorted(values), sorted(self._names)))
            places = [(self._names.index(key), key) for key in self._names if key in values]
            values, indices = [values[key] for _, key in places], [place for place, _ in places]
        else:
            if self._names is not None:
                raise ValueError("You must enqueue a dictionary in a staging area with names")
            if indices is None:
                raise ValueError("Indices must be supplied when inserting a list of tensors")
            values = list(values) if isinstance(values, (list, tuple)) else [values]
            indices = list(indices)
            if len(indices) != len(values):
                raise ValueError("Number of indices '%d' doesn't match number of values '%d'" % (len(indices), len(values)))
        tensors = []
        for value, place in zip(values, indices):
            dtype, shape = self._dtypes[place], self._shapes[place]
            if hasattr(value, "dtype") and hasattr(value, "op") and value.dtype.base_dtype != dtype:
                raise ValueError("Datatypes do not match. '%s' != '%s'" % (value.dtype, dtype))
            tensor = convert_to_tensor(value, dtype=dtype)
            shape.assert_is_compatible_with(tensor.shape)
            tensors.append(tensor)
        return tensors, indices

    def _named(self, made: Any, indices: List[int]) -> Any:
        """Returns values with their shapes, under their names if they have any."""
        values = list(made) if isinstance(made, (list, tuple)) else [made]
        for value, place in zip(values, indices):
            value.set_shape(self._shapes[place])
        return values if self._names is None else {self._names[place]: value for value, place in zip(values, indices)}


class StagingArea(_Area):
    """An area for values that a later step takes, in the order in which they were put.

    Args:
      dtypes: The dtypes of the values.
      shapes: Their shapes, or None.
      names: Their names, for values in dictionaries, or None.
      shared_name: The name under which sessions on the same resources share the area; None is a name of its
        own.
      capacity: How many elements `put` stages before it waits; 0 for no limit.
      memory_limit: How many bytes `put` stages before it waits; 0 for no limit.

    Raises:
      ValueError: There are not as many shapes or names as dtypes.

    Example:
      >>> area = tf.contrib.staging.StagingArea([tf.float32], shapes=[[2]])
      >>> put, get, first = area.put([tf.constant([1.0, 2.0])]), area.get(), area.peek(0)
      >>> with tf.Session() as sess:
      ...     sess.run(put)
      ...     print(sess.run(area.size()), sess.run(first), sess.run(get))
      1 [array([1., 2.], dtype=float32)] [array([1., 2.], dtype=float32)]
      >>> area.clear().type
      'StageClear'
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
        super().__init__(dtypes, shapes, names, shared_name, max(capacity, 0), max(memory_limit, 0))

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
        n = len(values) if isinstance(values, (list, tuple, dict)) else 1
        tensors, places = self._converted(values, range(n))
        if len(places) != len(self._dtypes):
            raise ValueError("Unexpected number of inputs %d, expected %d" % (len(places), len(self._dtypes)))
        return self._made("Stage", name, "put", tensors)

    def get(self, name: Optional[str] = None) -> Any:
        """Returns the oldest values and removes them; waits until there are some.

        Args:
          name: A name for the operation.

        Returns:
          A list of tensors, or a dictionary if the area has names.
        """
        return self._named(self._made("Unstage", name, "get", self._dtypes), list(range(len(self._dtypes))))

    def peek(self, index: Any, name: Optional[str] = None) -> Any:
        """Returns the values at a place, which stay in the area; waits until there are as many.

        Args:
          index: The place, from 0.
          name: A name for the operation.

        Returns:
          A list of tensors, or a dictionary if the area has names.
        """
        return self._named(self._made("StagePeek", name, "peek", index, self._dtypes), list(range(len(self._dtypes))))

    def size(self, name: Optional[str] = None) -> Any:
        """Returns the number of elements, a tensor."""
        return op("StageSize")(self._dtypes, **self._attrs(name or "%s_size" % self._name))

    def clear(self, name: Optional[str] = None) -> Any:
        """Returns the operation that removes all elements."""
        return op("StageClear")(self._dtypes, **self._attrs(name or "%s_clear" % self._name))


class MapStagingArea(_Area):
    """An area for values under keys, which can be put part by part.

    TensorFlow has the class in `tensorflow.python.ops.data_flow_ops`.

    Args:
      dtypes: The dtypes of the values.
      shapes: Their shapes, or None.
      names: Their names, for values in dictionaries, or None.
      shared_name: The name under which sessions on the same resources share the area; None is a name of its
        own.
      ordered: Whether `get` without a key takes the least one. Here it always does.
      capacity: How many elements `put` stages before it waits; 0 for no limit.
      memory_limit: How many bytes `put` stages before it waits; 0 for no limit.

    Raises:
      ValueError: There are not as many shapes or names as dtypes.

    Example:
      >>> from millstream.contrib.staging import MapStagingArea
      >>> area = MapStagingArea([tf.float32, tf.int32], shapes=[[], []], names=["x", "y"])
      >>> some = area.put(3, {"x": tf.constant(1.0)})
      >>> rest = area.put(3, {"y": tf.constant(2)})
      >>> key, values = area.get(3)
      >>> seen, whole, parts = area.peek(3), area.size(), area.incomplete_size()
      >>> with tf.Session() as sess:
      ...     _ = sess.run(some), print(*sess.run([whole, parts]))
      ...     _ = sess.run(rest), print(*sess.run([whole, parts]), sess.run(seen) == {"x": 1.0, "y": 2})
      ...     print(key, sorted(sess.run(values)), sess.run(whole))
      0 1
      1 0 True
      3 ['x', 'y'] 0
      >>> area.clear().type
      'MapClear'
    """

    def __init__(
        self,
        dtypes: Any,
        shapes: Any = None,
        names: Optional[List[str]] = None,
        shared_name: Optional[str] = None,
        ordered: bool = False,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        super().__init__(dtypes, shapes, names, shared_name, max(capacity, 0), max(memory_limit, 0))
        self._kind = "OrderedMap" if ordered else "Map"

    def put(self, key: Any, vals: Any, indices: Optional[List[int]] = None, name: Optional[str] = None) -> Any:
        """Returns the operation that stages values under a key; it waits while the area is full.

        Args:
          key: An int64 number.
          vals: Some of the values: a list of tensors, or a dictionary if the area has names.
          indices: The places of listed values among the dtypes.
          name: A name for the operation.

        Returns:
          An operation.

        Raises:
          ValueError: The values are not as the area wants them.
        """
        tensors, places = self._converted(vals, indices)
        with name_scope(name, "%s_put" % self._name, []) as scope, get_default_graph().colocate_with(self._root):
            number, at = convert_to_tensor(key, dtype=dtypes.int64, name="key"), convert_to_tensor(places, dtype=dtypes.int32, name="indices")
            return op(self._kind + "Stage")(number, at, tensors, self._dtypes, **self._attrs(scope))

    def get(self, key: Any = None, indices: Any = None, name: Optional[str] = None) -> Any:
        """Returns a key and its values, which are removed; waits until they are there.

        Args:
          key: An int64 number; None takes an element of any key.
          indices: The places, or names, of the values to take; None takes all.
          name: A name for the operation.

        Returns:
          The key, and a list of tensors, or a dictionary if the area has names.
        """
        if key is not None:
            return key, self._of_key("Unstage", "get", key, indices, name)
        places, types = self._places(indices)
        number, made = self._made(self._kind + "UnstageNoKey", name, "get_nokey", places, types)
        return number, self._named(made, places)

    def peek(self, key: Any, indices: Any = None, name: Optional[str] = None) -> Any:
        """Returns the values of a key, which stay in the area; waits until they are there.

        Args:
          key: An int64 number.
          indices: The places, or names, of the values; None is all.
          name: A name for the operation.

        Returns:
          A list of tensors, or a dictionary if the area has names.
        """
        return self._of_key("Peek", "pop", key, indices, name)

    def _of_key(self, kind: str, what: str, key: Any, indices: Any, name: Optional[str]) -> Any:
        places, types = self._places(indices)
        with name_scope(name, "%s_%s" % (self._name, what), []) as scope, get_default_graph().colocate_with(self._root):
            number = convert_to_tensor(key, dtype=dtypes.int64, name="key")
            return self._named(op(self._kind + kind)(number, places, types, **self._attrs(scope)), places)

    def _places(self, indices: Any) -> Tuple[List[int], List[Any]]:
        if indices is None:
            return list(range(len(self._dtypes))), self._dtypes
        if self._names is None and any(isinstance(i, str) for i in indices):
            raise ValueError("Staging areas must have names to take values by name")
        places = [self._names.index(i) if isinstance(i, str) and self._names is not None else i for i in indices]
        return places, [self._dtypes[place] for place in places]

    def size(self, name: Optional[str] = None) -> Any:
        """Returns the number of elements that have all values, a tensor."""
        return op(self._kind + "Size")(self._dtypes, **self._attrs(name or "%s_size" % self._name))

    def incomplete_size(self, name: Optional[str] = None) -> Any:
        """Returns the number of elements that lack values, a tensor."""
        return op(self._kind + "IncompleteSize")(self._dtypes, **self._attrs(name or "%s_incomplete_size" % self._name))

    def clear(self, name: Optional[str] = None) -> Any:
        """Returns the operation that removes all elements."""
        return op(self._kind + "Clear")(self._dtypes, **self._attrs(name or "%s_clear" % self._name))


# The arguments of the constructors have the names of these modules.
_as_dtype, _as_shape = dtypes.as_dtype, shapes.TensorShape

__dir__ = namespaces.dir_of(globals())
