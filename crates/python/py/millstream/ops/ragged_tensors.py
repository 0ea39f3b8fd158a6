"""`RaggedTensor`: rows of different lengths, as splitting strings makes them."""

from __future__ import annotations

from typing import Any, Callable, List, Optional

import numpy as np

from millstream._engine import Tensor
from millstream.framework import SparseTensor, constant as _constant, convert_to_tensor, dtypes, name_scope, shapes
from millstream.framework.constant_values import constant_value as _known
from millstream.framework.op_functions import op
from millstream.framework.session import register_session_run_conversion_functions
from millstream.ops import array_ops, indexing_ops, math_ops, reduction_ops

__all__ = ["RaggedTensor"]


class RaggedTensorValue:
    """The value of a `RaggedTensor` in a run.

    Args:
      values: The values of all rows: an array, or another `RaggedTensorValue`.
      row_splits: An array of the places where rows begin and end.

    Example:
      >>> value = tf.Session().run(tf.ragged.constant([[1, 2], [], [3]]))
      >>> value, value.to_list(), value.shape, value.ragged_rank
      (<tf.RaggedTensorValue [[1, 2], [], [3]]>, [[1, 2], [], [3]], (3, None), 1)
      >>> print(value.values, value.flat_values, value.row_splits, value.nested_row_splits[0], value.dtype)
      [1 2 3] [1 2 3] [0 2 2 3] [0 2 2 3] int32
    """

    def __init__(self, values: Any, row_splits: Any) -> None:
        self._values, self._row_splits = values, np.asarray(row_splits)

    values = property(lambda self: self._values, doc="The values of all rows.")
    row_splits = property(lambda self: self._row_splits, doc="The places where rows begin and end.")

    @property
    def flat_values(self) -> Any:
        """The innermost values."""
        return self._values.flat_values if isinstance(self._values, RaggedTensorValue) else self._values

    @property
    def nested_row_splits(self) -> Any:
        """The splits of all ragged dimensions, the outermost first."""
        return (self._row_splits, *(self._values.nested_row_splits if isinstance(self._values, RaggedTensorValue) else ()))

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self.flat_values.dtype

    @property
    def shape(self) -> Any:
        """The shape, in which ragged dimensions are None."""
        return (len(self._row_splits) - 1, None, *self._values.shape[1:])

    def to_list(self) -> List[Any]:
        """Returns the rows as lists."""
        values = self._values.to_list() if isinstance(self._values, RaggedTensorValue) else self._values.tolist()
        return [values[a:b] for a, b in zip(self._row_splits[:-1], self._row_splits[1:])]

    def __str__(self) -> str:
        return "<tf.RaggedTensorValue %s>" % self.to_list()

    __repr__ = __str__


class RaggedTensor:
    """Rows of different lengths: the values of all rows, and the places where rows begin and end.

    Made by `tf.ragged.constant`, by `tf.strings.split` and its relatives, and by the functions below. A
    session returns it as a `RaggedTensorValue`.

    Raises:
      ValueError: The class is called itself.

    Example:
      >>> rows = tf.ragged.constant([[1, 2], [], [3]])
      >>> sess = tf.Session()
      >>> print(sess.run(rows.to_tensor(default_value=-1)).tolist(), sess.run(rows.to_sparse()).indices.tolist())
      [[1, 2], [-1, -1], [3, -1]] [[0, 0], [0, 1], [2, 0]]
      >>> print(*sess.run([rows.nrows(), rows.row_lengths(), rows.row_starts(), rows.row_limits(), rows.value_rowids()]))
      3 [2 0 1] [0 2 2] [2 2 3] [0 0 2]
      >>> print(*sess.run([rows.bounding_shape(), rows.values, rows.flat_values, rows.row_splits, rows[0]]))
      [3 2] [1 2 3] [1 2 3] [0 2 2 3] [1 2]
      >>> rows.shape, rows.dtype, rows.ragged_rank, len(rows.nested_row_splits), len(rows.nested_row_lengths())
      (TensorShape([Dimension(3), Dimension(None)]), tf.int32, 1, 1, 1)
      >>> len(rows.consumers()) > 0
      True
      >>> doubled = rows.with_flat_values(rows.flat_values * 2)
      >>> sess.run(doubled).to_list(), sess.run(rows.with_values(rows.values + 1)).to_list()
      ([[2, 4], [], [6]], [[2, 3], [], [4]])
      >>> T = tf.RaggedTensor
      >>> made = [T.from_row_splits([1, 2, 3], [0, 2, 2, 3]), T.from_row_lengths([1, 2, 3], [2, 0, 1]),
      ...         T.from_row_starts([1, 2, 3], [0, 2, 2]), T.from_row_limits([1, 2, 3], [2, 2, 3]),
      ...         T.from_value_rowids([1, 2, 3], [0, 0, 2]), T.from_nested_row_splits([1, 2, 3], [[0, 2, 2, 3]]),
      ...         T.from_sparse(rows.to_sparse()), T.from_tensor([[1, 2], [0, 0], [3, 0]], lengths=[2, 0, 1])]
      >>> [value.to_list() for value in sess.run(made)] == [[[1, 2], [], [3]]] * 8
      True
    """

    def __init__(self, values: Any, row_splits: Any, internal: bool = False) -> None:
        if not internal:
            raise ValueError("RaggedTensor constructor is private; please use one of the factory methods instead (e.g., RaggedTensor.from_row_lengths())")
        self._values, self._row_splits = values, row_splits

    # Makers.

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any, name: Optional[str] = None, validate: bool = True) -> RaggedTensor:
        """Returns rows that begin and end at the places `row_splits`, from 0 to the number of values.

        Raises:
          ValueError: `row_splits` is no vector, or empty.
        """
        with name_scope(name, "RaggedFromRowSplits", [values, row_splits]):
            values, splits = _as_values(values), _as_index(row_splits, "row_splits")
            if splits.shape.ndims not in (None, 1):
                raise ValueError("Shape %s must have rank 1" % splits.shape)
            if splits.shape.ndims == 1 and splits.shape[0].value == 0:
                raise ValueError("row_splits tensor may not be empty.")
            return cls(values, splits, internal=True)

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: Optional[str] = None, validate: bool = True) -> RaggedTensor:
        """Returns rows of the lengths `row_lengths`."""
        with name_scope(name, "RaggedFromRowLengths", [values, row_lengths]):
            lengths = _as_index(row_lengths, "row_lengths")
            zero = _constant([0], lengths.dtype)
            return cls(_as_values(values), array_ops.concat([zero, op("Cumsum")(lengths, 0)], 0), internal=True)

    @classmethod
    def from_row_starts(cls, values: Any, row_starts: Any, name: Optional[str] = None, validate: bool = True) -> RaggedTensor:
        """Returns rows that begin at the places `row_starts`."""
        with name_scope(name, "RaggedFromRowStarts", [values, row_starts]):
            values, starts = _as_values(values), _as_index(row_starts, "row_starts")
            return cls(values, array_ops.concat([starts, array_ops.reshape(_length(values, starts.dtype), [1])], 0), internal=True)

    @classmethod
    def from_row_limits(cls, values: Any, row_limits: Any, name: Optional[str] = None, validate: bool = True) -> RaggedTensor:
        """Returns rows that end at the places `row_limits`."""
        with name_scope(name, "RaggedFromRowLimits", [values, row_limits]):
            limits = _as_index(row_limits, "row_limits")
            return cls(_as_values(values), array_ops.concat([_constant([0], limits.dtype), limits], 0), internal=True)

    @classmethod
    def from_value_rowids(cls, values: Any, value_rowids: Any, nrows: Any = None, name: Optional[str] = None, validate: bool = True) -> RaggedTensor:
        """Returns rows whose numbers `value_rowids` tells for each value, ascending.

        `nrows` is the number of rows; by default the last row has a value.
        """
        with name_scope(name, "RaggedFromValueRowIds", [values, value_rowids, nrows]):
            ids = _as_index(value_rowids, "value_rowids")
            return cls(_as_values(values), segment_ids_to_row_splits(ids, nrows), internal=True)

    @classmethod
    def from_nested_row_splits(cls, flat_values: Any, nested_row_splits: Any, name: Optional[str] = None, validate: bool = True) -> RaggedTensor:
        """Returns rows of rows, whose places are the vectors `nested_row_splits`, the outermost first."""
        with name_scope(name, "RaggedFromNestedRowSplits", [flat_values, *nested_row_splits]):
            made = _as_values(flat_values)
            for splits in reversed(list(nested_row_splits)):
                made = cls.from_row_splits(made, splits)
            return made

    @classmethod
    def from_tensor(
        cls, tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: int = 1, name: Optional[str] = None, row_splits_dtype: Any = dtypes.int64
    ) -> RaggedTensor:
        """Returns the rows of a tensor, up to `lengths` or without their ends that equal `padding`.

        Raises:
          NotImplementedError: `ragged_rank` is not 1.
          ValueError: Both `lengths` and `padding` are given.
        """
        if lengths is not None and padding is not None:
            raise ValueError("Specify lengths or padding, but not both")
        if ragged_rank != 1:
            raise NotImplementedError("RaggedTensor.from_tensor: `ragged_rank` must be 1, found %s" % ragged_rank)
        kind = dtypes.as_dtype(row_splits_dtype)
        with name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
            tensor = convert_to_tensor(tensor, name="tensor")
            shape = array_ops.shape(tensor, out_type=kind)
            columns = math_ops.range(shape[1])
            if padding is not None:
                kept = math_ops.not_equal(tensor, convert_to_tensor(padding, dtype=tensor.dtype, name="padding"))
                places = array_ops.expand_dims(columns + 1, 0) * math_ops.cast(kept, kind)
                lengths = reduction_ops.reduce_max(array_ops.concat([places, array_ops.zeros_like(places[:, :1])], 1), axis=1)
            elif lengths is None:
                lengths = op("Fill")(shape[:1], shape[1])
            lengths = op("Minimum")(math_ops.cast(lengths, kind), shape[1])
            inside = array_ops.expand_dims(columns, 0) < array_ops.expand_dims(lengths, 1)
            return cls.from_row_lengths(indexing_ops.boolean_mask(tensor, inside), lengths)

    @classmethod
    def from_sparse(cls, st_input: Any, name: Optional[str] = None, row_splits_dtype: Any = dtypes.int64) -> RaggedTensor:
        """Returns the rows of a sparse matrix whose values stand at the beginnings of rows.

        Raises:
          TypeError: `st_input` is no `SparseTensor`.
          ValueError: It is known to have another rank than 2.
        """
        if not isinstance(st_input, SparseTensor):
            raise TypeError("Expected SparseTensor, got %s" % type(st_input).__name__)
        with name_scope(name, "RaggedFromSparse", [st_input]):
            rank = st_input.dense_shape.shape.dims
            if rank is not None and rank[0].value not in (None, 2):
                raise ValueError("rank(st_input) must be 2")
            kind = dtypes.as_dtype(row_splits_dtype)
            ids, n = math_ops.cast(st_input.indices[:, 0], kind), math_ops.cast(st_input.dense_shape[0], kind)
            return cls.from_value_rowids(st_input.values, ids, n)

    # Parts.

    @property
    def values(self) -> Any:
        """The values of all rows: a tensor, or a `RaggedTensor`."""
        return self._values

    @property
    def row_splits(self) -> Tensor:
        """The places where rows begin and end."""
        return self._row_splits

    @property
    def flat_values(self) -> Tensor:
        """The innermost values."""
        return self._values.flat_values if isinstance(self._values, RaggedTensor) else self._values

    @property
    def nested_row_splits(self) -> Any:
        """The splits of all ragged dimensions, the outermost first."""
        return (self._row_splits, *(self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()))

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self.flat_values.dtype

    @property
    def shape(self) -> shapes.TensorShape:
        """The static shape, in which ragged dimensions are None."""
        n = shapes.dimension_value(self._row_splits.shape[0]) if self._row_splits.shape.ndims else None
        return shapes.TensorShape([None if n is None else n - 1, None]).concatenate(self._values.shape[1:])

    def nrows(self, out_type: Any = None, name: Optional[str] = None) -> Tensor:
        """Returns the number of rows."""
        with name_scope(name, "RaggedNRows", [self._row_splits]):
            return array_ops.shape(self._row_splits, out_type=out_type or self._row_splits.dtype)[0] - 1

    def row_starts(self, name: Optional[str] = None) -> Tensor:
        """Returns the places where rows begin."""
        with name_scope(name, "RaggedRowStarts", [self._row_splits]):
            return self._row_splits[:-1]

    def row_limits(self, name: Optional[str] = None) -> Tensor:
        """Returns the places where rows end."""
        with name_scope(name, "RaggedRowLimits", [self._row_splits]):
            return self._row_splits[1:]

    def row_lengths(self, axis: int = 1, name: Optional[str] = None) -> Any:
        """Returns the lengths of the rows along an axis: a tensor, or a `RaggedTensor` if it is not 1."""
        if axis > 1:
            return self.with_values(self._values.row_lengths(axis - 1))
        with name_scope(name, "RaggedRowLengths", [self._row_splits]):
            return self._row_splits[1:] - self._row_splits[:-1]

    def nested_row_lengths(self, name: Optional[str] = None) -> Any:
        """Returns the lengths of the rows of all ragged dimensions, the outermost first."""
        return tuple(splits[1:] - splits[:-1] for splits in self.nested_row_splits)

    def value_rowids(self, name: Optional[str] = None) -> Tensor:
        """Returns, for each value, the number of its row."""
        with name_scope(name, "RaggedValueRowIds", [self._row_splits]):
            return row_splits_to_segment_ids(self._row_splits)

    def bounding_shape(self, axis: Any = None, name: Optional[str] = None, out_type: Any = None) -> Tensor:
        """Returns the shape of the smallest tensor that holds all rows, or its size along an axis."""
        with name_scope(name, "RaggedBoundingBox", [self._row_splits]):
            kind = dtypes.as_dtype(out_type or self._row_splits.dtype)
            sizes = [self.nrows(kind)]
            for splits in self.nested_row_splits:
                lengths = array_ops.concat([[0], math_ops.cast(splits[1:] - splits[:-1], kind)], 0)
                sizes.append(reduction_ops.reduce_max(lengths))
            shape = array_ops.concat([array_ops.stack(sizes), array_ops.shape(self.flat_values, out_type=kind)[1:]], 0)
            return shape if axis is None else op("GatherV2")(shape, axis, 0)

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Returns rows of the same lengths with other values."""
        return RaggedTensor(_as_values(new_values), self._row_splits, internal=True)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Returns rows of the same lengths with other innermost values."""
        inner = self._values.with_flat_values(new_values) if isinstance(self._values, RaggedTensor) else new_values
        return self.with_values(inner)

    def consumers(self) -> List[Any]:
        """Returns the operations that use a part."""
        return [c for part in (self.flat_values, *self.nested_row_splits) for c in part.consumers()]

    # Other forms.

    def _places(self) -> Any:
        """Returns the indices of all innermost values, as an int64 matrix."""
        at: Any = None
        columns: List[Any] = []
        for splits in reversed(self.nested_row_splits):
            ids = row_splits_to_segment_ids(splits)
            within = math_ops.cast(math_ops.range(array_ops.shape(ids, out_type=splits.dtype)[0]) - op("GatherV2")(splits, ids, 0), dtypes.int64)
            columns = [within if at is None else op("GatherV2")(within, at, 0), *columns]
            at = ids if at is None else op("GatherV2")(ids, at, 0)
        return array_ops.stack([math_ops.cast(at, dtypes.int64), *columns], 1)

    def to_tensor(self, default_value: Any = None, name: Optional[str] = None) -> Tensor:
        """Returns a tensor of the rows, filled up with `default_value`: by default 0 or the empty string."""
        with name_scope(name, "RaggedToTensor", [self.flat_values, default_value, *self.nested_row_splits]):
            if default_value is None:
                default_value = "" if self.dtype == dtypes.string else False if self.dtype == dtypes.bool else 0
            fill = convert_to_tensor(default_value, dtype=self.dtype, name="default_value")
            shape = self.bounding_shape(out_type=dtypes.int64)
            made = op("TensorScatterUpdate")(op("BroadcastTo")(fill, shape), self._places(), self.flat_values)
            made.set_shape([self.shape[0], *[None] * self.ragged_rank, *self.flat_values.shape[1:]])
            return made

    def to_sparse(self, name: Optional[str] = None) -> SparseTensor:
        """Returns the rows as a sparse tensor.

        Raises:
          NotImplementedError: The innermost values are no vector.
        """
        if self.flat_values.shape.ndims != 1:
            raise NotImplementedError("RaggedTensor.to_sparse: the innermost values must be a vector, found shape %s" % self.flat_values.shape)
        with name_scope(name, "RaggedToSparse", [self.flat_values, *self.nested_row_splits]):
            return SparseTensor(self._places(), self.flat_values, self.bounding_shape(out_type=dtypes.int64))

    def to_list(self) -> Any:
        """Raises an error: `Session.run` returns a `RaggedTensorValue`, whose `to_list()` returns the rows.

        Raises:
          ValueError: Always.

        Example:
          >>> tf.ragged.constant([[1]]).to_list()
          Traceback (most recent call last):
            ...
          ValueError: RaggedTensor.to_list() is only supported in eager mode; in graph mode, evaluate the RaggedTensor ...
        """
        raise ValueError("RaggedTensor.to_list() is only supported in eager mode; in graph mode, evaluate the RaggedTensor first and then use RaggedTensorValue.to_list().")

    def __getitem__(self, key: Any) -> Any:
        first, *rest = key if isinstance(key, tuple) else (key,)
        simple = isinstance(first, slice) and first.step in (None, 1) and not rest
        if first is None or first is Ellipsis or isinstance(first, slice) and not simple:
            raise NotImplementedError("RaggedTensor[%r]: the first index must be the number of a row, or `begin:end` alone; `to_tensor()` has slices" % (key,))
        with name_scope(None, "RaggedGetItem", [self._row_splits]):
            if isinstance(first, slice):
                starts, limits = self._row_splits[:-1][first], self._row_splits[1:][first]
                # No row begins where none is left.
                splits = array_ops.concat([starts[:1], limits], 0)
                splits = array_ops.concat([splits, array_ops.zeros_like(self._row_splits[:1])], 0)[: array_ops.shape(limits)[0] + 1]
                return RaggedTensor(self._values[splits[0] : splits[-1]], splits - splits[0], internal=True)
            # The place where the last row ends is -1, and that where it begins -2.
            last = isinstance(first, int) and first < 0
            begin, end = (first - 1, first) if last else (first, first + 1)
            row = self._values[self._row_splits[begin] : self._row_splits[end]]
            return row[tuple(rest)] if rest else row

    def __repr__(self) -> str:
        return "tf.RaggedTensor(values=%s, row_splits=%s)" % (self._values, self._row_splits)


def _as_index(value: Any, name: str) -> Tensor:
    tensor = convert_to_tensor(value, name=name, preferred_dtype=dtypes.int64)
    return tensor if tensor.dtype in (dtypes.int32, dtypes.int64) else math_ops.cast(tensor, dtypes.int64)


def _as_values(value: Any) -> Any:
    return value if isinstance(value, RaggedTensor) else convert_to_tensor(value, name="values")


def _length(values: Any, dtype: Any) -> Tensor:
    return values.nrows(dtype) if isinstance(values, RaggedTensor) else array_ops.shape(values, out_type=dtype)[0]


def row_splits_to_segment_ids(splits: Any, name: Optional[str] = None, out_type: Any = None) -> Tensor:
    """Returns, for each value, the number of its row.

    Args:
      splits: A vector of the places where rows begin and end.
      name: The name scope of the operations.
      out_type: The dtype of the result; by default that of `splits`.

    Example:
      >>> print(tf.Session().run(tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3])))
      [0 0 2]
    """
    with name_scope(name, "RaggedSplitsToSegmentIds", [splits]):
        splits = _as_index(splits, "splits")
        n = splits[-1]
        # A row begins after each place but the last: the places up to a value number its row.
        ends = op("UnsortedSegmentSum")(array_ops.ones_like(splits[1:-1]), splits[1:-1], n + 1)
        found = op("Cumsum")(ends, 0)[:-1]
        return found if out_type is None else math_ops.cast(found, out_type)


def segment_ids_to_row_splits(segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: Optional[str] = None) -> Tensor:
    """Returns the places where rows begin and end, for values with these numbers of rows.

    Args:
      segment_ids: A vector of integers, ascending.
      num_segments: The number of rows; by default one more than the last number.
      out_type: The dtype of the result; by default that of `segment_ids`.
      name: The name scope of the operations.

    Example:
      >>> print(tf.Session().run(tf.ragged.segment_ids_to_row_splits([0, 0, 2], 4)))
      [0 2 2 3 3]
    """
    with name_scope(name, "SegmentIdsToRowSplits", [segment_ids]):
        ids = _as_index(segment_ids, "segment_ids")
        if num_segments is None:
            num_segments = reduction_ops.reduce_max(array_ops.concat([ids + 1, _constant([0], ids.dtype)], 0))
        known = _known(convert_to_tensor(num_segments))
        counts = op("UnsortedSegmentSum")(array_ops.ones_like(ids), ids, num_segments)
        made = array_ops.concat([_constant([0], ids.dtype), op("Cumsum")(counts, 0)], 0)
        if known is not None:
            made.set_shape([int(known) + 1])
        return made if out_type is None else math_ops.cast(made, out_type)


def constant(
    pylist: Any, dtype: Any = None, ragged_rank: Optional[int] = None, inner_shape: Any = None, name: Optional[str] = None, row_splits_dtype: Any = dtypes.int64
) -> Any:
    """Returns the rows of nested lists, as a `RaggedTensor`.

    Args:
      pylist: A list of lists, nested to one depth.
      dtype: The dtype of the values.
      ragged_rank: The number of ragged dimensions; by default all but the first.
      inner_shape: The shape of the innermost values.
      name: The name scope of the operations.
      row_splits_dtype: The dtype of the splits, int64 or int32.

    Returns:
      A `RaggedTensor`, or a tensor if `ragged_rank` is 0 or there are no inner lists.

    Raises:
      ValueError: The lists are nested to different depths, or `ragged_rank` does not fit.

    Example:
      >>> tf.Session().run(tf.ragged.constant([["a"], [], ["b", "c"]]))
      <tf.RaggedTensorValue [[b'a'], [], [b'b', b'c']]>
    """
    depths = _depths(pylist)
    if len(depths - {None}) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    depth = max([d for d in depths if d is not None], default=None)
    most = _most(pylist)
    if depth is not None and most > depth:
        raise ValueError("Invalid pylist=%r: empty list nesting is greater than scalar value nesting" % (pylist,))
    rank = max(0, (most if depth is None else depth) - 1)
    if inner_shape is not None:
        rank -= len(tuple(inner_shape)) if hasattr(inner_shape, "__len__") else 1
    if ragged_rank is not None:
        if ragged_rank > max(rank, 0):
            words = "pylist has scalar values depth %d, but ragged_rank=%d requires scalar value depth greater than %d"
            raise ValueError(words % (rank + 1, ragged_rank, ragged_rank))
        rank = ragged_rank
    with name_scope(name, "RaggedConstant"):
        nested, flat = [], list(pylist) if isinstance(pylist, (list, tuple, np.ndarray)) else pylist
        for _ in range(rank):
            splits = [0]
            for row in flat:
                splits.append(splits[-1] + len(row))
            nested.append(splits)
            flat = [value for row in flat for value in row]
        kind = dtypes.float32 if dtype is None and isinstance(flat, list) and not flat else dtype
        made: Any = _constant(flat, kind, None if inner_shape is None else [len(flat), *np.atleast_1d(inner_shape)], name="values")
        for splits in reversed(nested):
            made = RaggedTensor(made, _constant(splits, row_splits_dtype), internal=True)
        return made


def _depths(value: Any) -> Any:
    """Returns the depths at which there are scalars, 0 for a scalar; None for lists without any."""
    if not isinstance(value, (list, tuple, np.ndarray)) or isinstance(value, np.ndarray) and value.ndim == 0:
        return {0}
    found = {d for part in value for d in _depths(part)}
    return {None if d is None else d + 1 for d in found} or {None}


def _most(value: Any) -> int:
    """Returns the depth of the lists."""
    return 1 + max([_most(part) for part in value], default=0) if isinstance(value, (list, tuple, np.ndarray)) and not (isinstance(value, np.ndarray) and value.ndim == 0) else 0


def map_flat_values(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Returns what a function returns for the innermost values of its ragged arguments, in the same rows.

    Args:
      f: A function of tensors that keeps the number of values.
      *args: Its arguments, of which some are `RaggedTensor`s with equal rows.
      **kwargs: Its named arguments.

    Returns:
      A `RaggedTensor`, or what `f` returns if no argument is one.

    Raises:
      ValueError: The ragged arguments have different numbers of ragged dimensions.

    Example:
      >>> tf.Session().run(tf.ragged.map_flat_values(tf.square, tf.ragged.constant([[1, 2], [3]])))
      <tf.RaggedTensorValue [[1, 4], [9]]>
    """
    ragged = [a for a in (*args, *kwargs.values()) if isinstance(a, RaggedTensor)]
    if not ragged:
        return f(*args, **kwargs)
    if len({a.ragged_rank for a in ragged}) > 1:
        raise ValueError("The row_splits of all RaggedTensor arguments must match: found ragged ranks %s" % sorted({a.ragged_rank for a in ragged}))

    def inner(a: Any) -> Any:
        return a.flat_values if isinstance(a, RaggedTensor) else a

    with name_scope(None, "MapFlatValues"):
        return ragged[0].with_flat_values(f(*map(inner, args), **{k: inner(a) for k, a in kwargs.items()}))


def _fetched(ragged: RaggedTensor) -> Any:
    def made(parts: List[Any]) -> Any:
        value = parts[0]
        for splits in reversed(parts[1:]):
            value = RaggedTensorValue(value, splits)
        return value

    return [ragged.flat_values, *ragged.nested_row_splits], made


def _fed(ragged: RaggedTensor, value: Any) -> Any:
    return list(zip(_parts(ragged), [value.flat_values, *value.nested_row_splits]))


def _parts(ragged: RaggedTensor) -> List[Any]:
    return [ragged.flat_values, *ragged.nested_row_splits]


register_session_run_conversion_functions(RaggedTensor, _fetched, _fed, _parts)
