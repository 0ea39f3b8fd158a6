"""Values made of several tensors: `IndexedSlices` and `SparseTensor`, and their run-time values."""

from __future__ import annotations

import collections
from typing import Any, List, Optional

from millstream import _engine
from millstream._engine import Operation, Tensor
from millstream.framework import dtypes, shapes
from millstream.framework.constant_values import constant_value_as_shape
from millstream.framework.conversion import constant, convert_to_tensor, placeholder
from millstream.framework.graph import register_composite
from millstream.framework.name_scopes import name_scope
from millstream.framework.op_functions import op


class IndexedSlices:
    """Slices of a larger tensor: `values[i]` is at `indices[i]`. Gradients of gathers have this form.

    Args:
      values: A tensor of slices.
      indices: An `int32` or `int64` vector: the index of each slice.
      dense_shape: The shape of the whole, or None.

    Example:
      >>> s = tf.IndexedSlices(tf.constant([[1.0, 2.0]], name="rows"), tf.constant([3]), tf.constant([5, 2]))
      >>> s.dtype, s.name, s.device, s.op.type, s.graph is tf.get_default_graph(), s.consumers()
      (tf.float32, 'rows:0', '', 'Const', True, [])
      >>> s.shape, s.values.shape, s.indices.dtype, s.dense_shape.dtype
      (TensorShape([Dimension(5), Dimension(2)]), TensorShape([Dimension(1), Dimension(2)]), tf.int32, tf.int32)
      >>> print(tf.Session().run(s).indices, tf.Session().run(tf.convert_to_tensor(s))[3])
      [3] [1. 2.]
    """

    __millstream_operand__ = True

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Optional[Tensor] = None) -> None:
        self._values, self._indices, self._dense_shape = values, indices, dense_shape

    values = property(lambda self: self._values, doc="The slices.")
    indices = property(lambda self: self._indices, doc="The index of each slice.")
    dense_shape = property(lambda self: self._dense_shape, doc="The shape of the whole tensor, or None.")
    name = property(lambda self: self._values.name, doc="The name of the slices.")
    device = property(lambda self: self._values.device, doc="The device of the slices.")
    op = property(lambda self: self._values.op, doc="The operation that produces the slices.")
    dtype = property(lambda self: self._values.dtype, doc="The dtype of the elements.")
    graph = property(lambda self: self._values.graph, doc="The graph.")

    @property
    def shape(self) -> shapes.TensorShape:
        """The static shape of the whole."""
        if self._dense_shape is None:
            return shapes.TensorShape(None)
        return constant_value_as_shape(self._dense_shape)

    def consumers(self) -> List[Operation]:
        """Returns the operations that take the slices as input."""
        return self._values.consumers()

    def _as_tensor(self, dtype: Any = None, name: Optional[str] = None, as_ref: bool = False) -> Tensor:
        if self._dense_shape is None:
            raise ValueError("Tensor conversion requested for IndexedSlices without dense_shape: %s" % str(self))
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(self.dtype):
            raise ValueError("Tensor conversion requested dtype %s for IndexedSlices with dtype %s" % (dtypes.as_dtype(dtype).name, self.dtype.name))
        rows = op("StridedSlice")(self._dense_shape, [0], [1], [1], shrink_axis_mask=1)
        return op("UnsortedSegmentSum")(self._values, self._indices, rows, name=name)

    # Support for `nest`.

    def _to_components(self) -> List[Tensor]:
        return [self.values, self.indices] + ([] if self.dense_shape is None else [self.dense_shape])

    def _from_components(self, components: Any) -> "IndexedSlices":
        return IndexedSlices(*components)

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else ", dense_shape=%s" % self._dense_shape
        return "IndexedSlices(indices=%s, values=%s%s)" % (self._indices, self._values, shape)

    def __neg__(self) -> "IndexedSlices":
        return IndexedSlices(-self.values, self.indices, self.dense_shape)


IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])
IndexedSlicesValue.__doc__ = """The value of an `IndexedSlices`: arrays of slices (`values`) and of `indices`;
`dense_shape` may be None.

Example:
  >>> slices = tf.IndexedSlices(tf.constant([1.5]), tf.constant([3]))
  >>> value = tf.Session().run(slices)
  >>> print(value.values, value.indices, value.dense_shape)
  [1.5] [3] None
"""
_SparseTensorValue = collections.namedtuple("_SparseTensorValue", ["indices", "values", "dense_shape"])


class SparseTensorValue(_SparseTensorValue):
    """The value of a `SparseTensor`: three arrays, `indices`, `values` and `dense_shape`.

    Sessions return it, and accept it as a feed.

    Example:
      >>> x = tf.sparse_placeholder(tf.int32)
      >>> value = tf.Session().run(x, {x: tf.SparseTensorValue([[0], [2]], [5, 6], [3])})
      >>> print(value.indices.tolist(), value.values, value.dense_shape)
      [[0], [2]] [5 6] [3]
    """

    __slots__ = ()


class SparseTensor:
    """A tensor given by its nonzero entries.

    Args:
      indices: An `int64` matrix: a row of indices for each entry, in row-major order.
      values: A vector with the entries.
      dense_shape: An `int64` vector: the shape of the whole.

    Raises:
      ValueError: The static shapes of the three do not match.

    Example:
      >>> s = tf.SparseTensor(indices=[[0, 1], [2, 0]], values=[5, 6], dense_shape=[3, 2])
      >>> s.dtype, s.shape, s.get_shape(), s.op.type, s.graph is tf.get_default_graph()
      (tf.int32, TensorShape([Dimension(3), Dimension(2)]), TensorShape([Dimension(3), Dimension(2)]), 'Const', True)
      >>> with tf.Session() as sess:
      ...     print(*sess.run([s.indices, s.values, s.dense_shape]))
      ...     print(sess.run(tf.sparse_tensor_to_dense(s)), s.eval().values)
      [[0 1]
       [2 0]] [5 6] [3 2]
      [[0 5]
       [0 0]
       [6 0]] [5 6]
    """

    __millstream_operand__ = True

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, dtypes.int64, "indices")
            self._values = values if isinstance(values, Tensor) else convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(dense_shape, dtypes.int64, "dense_shape")
        indices_shape = self._indices.shape.with_rank(2)
        values_shape = self._values.shape.with_rank(1)
        dense_shape_shape = self._dense_shape.shape.with_rank(1)
        shapes.Dimension(indices_shape[0]).merge_with(values_shape[0])
        shapes.Dimension(indices_shape[1]).merge_with(dense_shape_shape[0])

    indices = property(lambda self: self._indices, doc="The indices of the entries.")
    values = property(lambda self: self._values, doc="The entries.")
    dense_shape = property(lambda self: self._dense_shape, doc="The shape of the whole.")
    op = property(lambda self: self._values.op, doc="The operation that produces the entries.")
    dtype = property(lambda self: self._values.dtype, doc="The dtype of the entries.")
    graph = property(lambda self: self._values.graph, doc="The graph.")

    @property
    def shape(self) -> shapes.TensorShape:
        """The static shape of the whole."""
        return constant_value_as_shape(self._dense_shape)

    def get_shape(self) -> shapes.TensorShape:
        """Returns the static shape of the whole."""
        return self.shape

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> "SparseTensor":
        """Returns the `SparseTensor` of a `SparseTensorValue`.

        Args:
          sparse_tensor_value: A `SparseTensorValue`; a `SparseTensor` is returned unchanged.

        Returns:
          A `SparseTensor`.

        Raises:
          TypeError: `sparse_tensor_value` is neither.

        Example:
          >>> print(tf.SparseTensor.from_value(tf.SparseTensorValue([[0]], [5], [3])).shape)
          (3,)
        """
        value = sparse_tensor_value
        if not isinstance(value, (SparseTensorValue, SparseTensor)):
            raise TypeError("Neither a SparseTensor nor SparseTensorValue: %s." % value)
        return cls(value.indices, value.values, value.dense_shape)

    def eval(self, feed_dict: Any = None, session: Any = None) -> SparseTensorValue:
        """Runs the tensor in this session, or the default one, and returns its value.

        Args:
          feed_dict: As in `Session.run`.
          session: The session.

        Returns:
          A `SparseTensorValue`.
        """
        indices, values, shape = (session or _session()).run([self.indices, self.values, self.dense_shape], feed_dict)
        return SparseTensorValue(indices, values, shape)

    def __mul__(self, dense: Any) -> "SparseTensor":
        return self._with(op("SparseDenseCwiseMul")(self.indices, self.values, self.dense_shape, dense, name="mul"))

    __rmul__ = __mul__

    def __truediv__(self, dense: Any) -> "SparseTensor":
        with name_scope(None, "truediv", [self, dense]) as scope:
            values, dense = self.values, convert_to_tensor(dense, self.dtype.base_dtype, "y")
            if values.dtype.is_integer:
                wide = dtypes.float32 if values.dtype.size < 4 else dtypes.float64
                values, dense = (op("Cast")(x, DstT=wide) for x in (values, dense))
            return self._with(op("SparseDenseCwiseDiv")(self.indices, values, self.dense_shape, dense, name=scope))

    def _with(self, values: Tensor) -> "SparseTensor":
        return SparseTensor(self.indices, values, self.dense_shape)

    # Support for `nest`.

    def _to_components(self) -> List[Tensor]:
        return [self.indices, self.values, self.dense_shape]

    def _from_components(self, components: Any) -> "SparseTensor":
        return SparseTensor(*components)

    def __str__(self) -> str:
        return "SparseTensor(indices=%s, values=%s, dense_shape=%s)" % (self._indices, self._values, self._dense_shape)


def _session() -> Any:
    session = _engine.default_session()
    if session is None:
        raise ValueError("Cannot evaluate tensor using `eval()`: No default session is registered. Use `with sess.as_default()` or pass an explicit session to `eval(session=sess)`")
    return session


def sparse_placeholder(dtype: Any, shape: Any = None, name: Optional[str] = None) -> SparseTensor:
    """A sparse placeholder: it must be fed with a `SparseTensorValue`, or a tuple of its three arrays.

    Args:
      dtype: The dtype of the entries.
      shape: The shape of the whole, as far as known.
      name: A name for the operations.

    Returns:
      A `SparseTensor`.

    Example:
      >>> x = tf.sparse_placeholder(tf.float32, [None, 3])
      >>> total = tf.sparse_reduce_sum(x)
      >>> print(tf.Session().run(total, {x: ([[0, 1], [4, 2]], [1.5, 2.0], [5, 3])}))
      3.5
    """
    dims = None if shape is None or isinstance(shape, Tensor) else shapes.TensorShape(shape).as_list()
    rank = None if dims is None else len(dims)
    if isinstance(shape, Tensor):
        rank = shapes.dimension_value(shape.shape.with_rank(1)[0])

    def part(kind: Any, size: List[Any], word: str) -> Tensor:
        return placeholder(kind, size, None if name is None else f"{name}/{word}")

    # A shape that is not fully known is fed as well.
    if shape is None or dims is not None and None in dims:
        shape = part(dtypes.int64, [rank], "shape")
    elif dims is not None:
        shape = constant(dims, dtypes.int64)
    values = part(dtype, [None], "values")
    return SparseTensor(part(dtypes.int64, [None, rank], "indices"), values, shape)


def convert_to_tensor_or_indexed_slices(value: Any, dtype: Any = None, name: Optional[str] = None) -> Any:
    """As `convert_to_tensor`, but leaves `IndexedSlices` unchanged.

    Args:
      value: An `IndexedSlices`, or a value that converts to a tensor.
      dtype: The dtype of the tensor.
      name: A name for the tensor.

    Returns:
      `IndexedSlices`, or a tensor.

    Example:
      >>> tf.convert_to_tensor_or_indexed_slices([1, 2]).dtype
      tf.int32
    """
    return value if isinstance(value, (IndexedSlices, SparseTensor)) else convert_to_tensor(value, dtype, name)


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: Optional[str] = None) -> Any:
    """As `convert_to_tensor`, but converts sparse tensors and their values to `SparseTensor`s.

    Args:
      value: A `SparseTensor`, a `SparseTensorValue`, or a value that converts to a tensor.
      dtype: The dtype.
      name: A name for the tensor.

    Returns:
      A `SparseTensor`, or a tensor.

    Raises:
      RuntimeError: A sparse tensor has a different dtype.

    Example:
      >>> type(tf.convert_to_tensor_or_sparse_tensor(tf.SparseTensorValue([[0]], [5], [3]))).__name__
      'SparseTensor'
    """
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise RuntimeError("Sparse dtype: requested = %s, actual = %s" % (dtypes.as_dtype(dtype).name, value.dtype.name))
        return value
    return convert_to_tensor(value, dtype, name)


register_composite(IndexedSlices)
