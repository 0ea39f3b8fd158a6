"""`RaggedTensor`: rows of different lengths, as splitting strings makes them."""

from __future__ import annotations

from typing import Any, Callable, List, Optional

import numpy as np

from millstream._engine import Tensor
from millstream.framework import SparseTensor, constant as _constant, control_dependencies, convert_to_tensor, dtypes, name_scope, placeholder as _placeholder, shapes
from millstream.framework.constant_values import constant_value as _known
from millstream.framework.op_functions import op
from millstream.framework.session import register_session_run_conversion_functions
from millstream.ops import array_ops, check_ops, indexing_ops, math_ops, reduction_ops

__all__ = ["RaggedTensor", "RaggedTensorSpec"]


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
            values.shape.with_rank_at_least(1)
            if splits.shape.ndims not in (None, 1):
                raise ValueError("Shape %s must have rank 1" % splits.shape)
            if splits.shape.ndims == 1 and splits.shape[0].value == 0:
                raise ValueError("row_splits tensor may not be empty.")
            if isinstance(values, RaggedTensor) and values.row_splits.dtype != splits.dtype:
                raise ValueError("row_splits and values.row_splits must have the same dtype: found %s and %s" % (splits.dtype.name, values.row_splits.dtype.name))
            if validate:
                words = _INVALID % "from_row_splits"
                checks = [
                    check_ops.assert_equal(splits[0], array_ops.zeros([], splits.dtype), message=words + ": the first row must begin at 0"),
                    _ascending(splits, words + ": rows must not end before they begin"),
                    check_ops.assert_equal(splits[-1], _length(values, splits.dtype), message=words + ": the last row must end at the last value"),
                ]
                with control_dependencies(checks):
                    splits = array_ops.identity(splits)
            return cls(values, splits, internal=True)

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: Optional[str] = None, validate: bool = True) -> RaggedTensor:
        """Returns rows of the lengths `row_lengths`."""
        with name_scope(name, "RaggedFromRowLengths", [values, row_lengths]):
            values, lengths = _as_values(values), _as_index(row_lengths, "row_lengths")
            lengths.shape.assert_has_rank(1)
            if validate:
                words = _INVALID % "from_row_lengths"
                checks = [
                    check_ops.assert_non_negative(lengths, message=words + ": a row has a negative length"),
                    check_ops.assert_equal(reduction_ops.reduce_sum(lengths), _length(values, lengths.dtype), message=words + ": the lengths must add up to the number of values"),
                ]
                with control_dependencies(checks):
                    lengths = array_ops.identity(lengths)
            zero = _constant([0], lengths.dtype)
            return cls(values, array_ops.concat([zero, op("Cumsum")(lengths, 0)], 0), internal=True)

    @classmethod
    def from_row_starts(cls, values: Any, row_starts: Any, name: Optional[str] = None, validate: bool = True) -> RaggedTensor:
        """Returns rows that begin at the places `row_starts`."""
        with name_scope(name, "RaggedFromRowStarts", [values, row_starts]):
            values, starts = _as_values(values), _as_index(row_starts, "row_starts")
            starts.shape.assert_has_rank(1)
            if validate:
                words = _INVALID % "from_row_starts"
                checks = [
                    check_ops.assert_equal(starts[:1], array_ops.zeros_like(starts[:1]), message=words + ": the first row must begin at 0"),
                    _ascending(starts, words + ": rows must not begin before the one before"),
                    check_ops.assert_less_equal(starts[-1:], _length(values, starts.dtype), message=words + ": a row begins after the last value"),
                ]
                with control_dependencies(checks):
                    starts = array_ops.identity(starts)
            return cls(values, array_ops.concat([starts, array_ops.reshape(_length(values, starts.dtype), [1])], 0), internal=True)

    @classmethod
    def from_row_limits(cls, values: Any, row_limits: Any, name: Optional[str] = None, validate: bool = True) -> RaggedTensor:
        """Returns rows that end at the places `row_limits`."""
        with name_scope(name, "RaggedFromRowLimits", [values, row_limits]):
            values, limits = _as_values(values), _as_index(row_limits, "row_limits")
            limits.shape.assert_has_rank(1)
            if validate:
                words = _INVALID % "from_row_limits"
                checks = [
                    check_ops.assert_non_negative(limits[:1], message=words + ": a row ends before the first value"),
                    _ascending(limits, words + ": rows must not end before the one before"),
                    check_ops.assert_equal(limits[-1:], _length(values, limits.dtype), message=words + ": the last row must end at the last value"),
                ]
                with control_dependencies(checks):
                    limits = array_ops.identity(limits)
            return cls(values, array_ops.concat([_constant([0], limits.dtype), limits], 0), internal=True)

    @classmethod
    def from_value_rowids(cls, values: Any, value_rowids: Any, nrows: Any = None, name: Optional[str] = None, validate: bool = True) -> RaggedTensor:
        """Returns rows whose numbers `value_rowids` tells for each value, ascending.

        `nrows` is the number of rows; by default the last row has a value.

        Raises:
          ValueError: `nrows` is known to be too small, or the shapes do not fit.
        """
        with name_scope(name, "RaggedFromValueRowIds", [values, value_rowids, nrows]):
            values, ids = _as_values(values), _as_index(value_rowids, "value_rowids")
            ids.shape.assert_has_rank(1)
            values.shape[:1].assert_is_compatible_with(ids.shape)
            if nrows is not None:
                known = _known(convert_to_tensor(nrows))
                if known is not None and known.ndim:
                    raise ValueError("Shape %s must have rank 0" % (known.shape,))
                if known is not None and known < 0:
                    raise ValueError("Expected nrows >= 0; got %d" % known)
                last = _known(ids)
                if known is not None and last is not None and last.size and last[-1] >= known:
                    raise ValueError("Expected nrows >= value_rowids[-1] + 1; got nrows=%d, value_rowids[-1]=%d" % (known, last[-1]))
            if validate:
                words = _INVALID % "from_value_rowids"
                checks = [
                    check_ops.assert_non_negative(ids[:1], message=words + ": a row has a negative number"),
                    _ascending(ids, words + ": the numbers of rows must ascend"),
                    check_ops.assert_equal(array_ops.shape(ids, out_type=dtypes.int64)[0], _length(values, dtypes.int64), message=words + ": there must be a number for each value"),
                ]
                if nrows is not None:
                    checks.append(check_ops.assert_less(ids[-1:], math_ops.cast(nrows, ids.dtype), message=words + ": a row has a number that is too great"))
                with control_dependencies(checks):
                    ids = array_ops.identity(ids)
            return cls(values, segment_ids_to_row_splits(ids, nrows), internal=True)

    @classmethod
    def from_nested_row_splits(cls, flat_values: Any, nested_row_splits: Any, name: Optional[str] = None, validate: bool = True) -> RaggedTensor:
        """Returns rows of rows, whose places are the vectors `nested_row_splits`, the outermost first."""
        with name_scope(name, "RaggedFromNestedRowSplits", [flat_values, *nested_row_splits]):
            made = _as_values(flat_values)
            for splits in reversed(list(nested_row_splits)):
                made = cls.from_row_splits(made, splits, validate=validate)
            return made

    @classmethod
    def from_tensor(
        cls, tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: int = 1, name: Optional[str] = None, row_splits_dtype: Any = dtypes.int64
    ) -> RaggedTensor:
        """Returns the rows of a tensor, up to `lengths` or without their ends that equal `padding`.

        Raises:
          ValueError: Both `lengths` and `padding` are given, or `ragged_rank` is not positive.
        """
        if lengths is not None and padding is not None:
            raise ValueError("Specify lengths or padding, but not both")
        if not isinstance(ragged_rank, int):
            raise TypeError("ragged_rank expected int, got %r" % (ragged_rank,))
        if ragged_rank <= 0:
            raise ValueError("ragged_rank must be greater than 0; got %s" % ragged_rank)
        kind = dtypes.as_dtype(row_splits_dtype)
        if ragged_rank > 1 or lengths is not None and _is_nested(lengths):
            return cls._from_tensor_of_rows(tensor, lengths, padding, ragged_rank, name, kind)
        with name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
            tensor = convert_to_tensor(tensor, name="tensor")
            tensor.shape.with_rank_at_least(2)
            shape = array_ops.shape(tensor, out_type=kind)
            columns = math_ops.range(shape[1])
            if padding is not None:
                end = convert_to_tensor(padding, dtype=tensor.dtype, name="padding")
                end.shape.assert_is_compatible_with(tensor.shape[2:])
                kept = math_ops.not_equal(tensor, end)
                if (tensor.shape.ndims or 2) > 2:
                    kept = reduction_ops.reduce_any(kept, axis=list(range(2, tensor.shape.ndims)))  # type: ignore[arg-type]
                places = array_ops.expand_dims(columns + 1, 0) * math_ops.cast(kept, kind)
                lengths = reduction_ops.reduce_max(array_ops.concat([places, array_ops.zeros_like(places[:, :1])], 1), axis=1)
            elif lengths is None:
                lengths = op("Fill")(shape[:1], shape[1])
            lengths = op("Minimum")(math_ops.cast(lengths, kind), shape[1])
            inside = array_ops.expand_dims(columns, 0) < array_ops.expand_dims(lengths, 1)
            return cls.from_row_lengths(indexing_ops.boolean_mask(tensor, inside), lengths)

    @classmethod
    def _from_tensor_of_rows(cls, tensor: Any, lengths: Any, padding: Any, ragged_rank: int, name: Optional[str], kind: Any) -> RaggedTensor:
        """Returns `from_tensor` with several ragged dimensions."""
        with name_scope(name, "RaggedFromTensor", [tensor]):
            tensor = convert_to_tensor(tensor, name="tensor")
            if lengths is not None:
                # Lengths of each ragged dimension, the outermost first.
                nested = list(lengths)
                rows = cls.from_tensor(tensor, lengths=nested[0], row_splits_dtype=kind)
                if len(nested) == 1:
                    return rows
                inner = nested[1] if len(nested) == 2 else nested[1:]
                return rows.with_values(cls.from_tensor(rows.values, lengths=inner, row_splits_dtype=kind))
            tensor.shape.with_rank_at_least(ragged_rank + 1)
            shape = array_ops.shape(tensor, out_type=kind)
            flat = array_ops.reshape(tensor, array_ops.concat([[-1], shape[ragged_rank:]], 0))
            flat.set_shape(shapes.TensorShape([None]).concatenate(tensor.shape[ragged_rank:]))
            made: Any = cls.from_tensor(flat, padding=padding, row_splits_dtype=kind)
            for axis in range(ragged_rank - 1, 0, -1):
                n = op("Prod")(shape[:axis], 0)
                made = cls(made, math_ops.range(n + 1) * shape[axis], internal=True)
            return made  # type: ignore[no-any-return]

    @classmethod
    def from_sparse(cls, st_input: Any, name: Optional[str] = None, row_splits_dtype: Any = dtypes.int64) -> RaggedTensor:
        """Returns the rows of a sparse matrix whose values stand at the beginnings of rows.

        It is an error of the run if there are gaps before or between the values of a row.

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
            # Values follow each other in their rows, from column 0 on: else they would move to other columns.
            rows, columns = st_input.indices[:, 0], st_input.indices[:, 1]
            same = math_ops.cast(math_ops.equal(rows[1:], rows[:-1]), columns.dtype)
            wanted = array_ops.concat([array_ops.zeros_like(columns[:1]), (columns[:-1] + 1) * same], 0)
            words = ["SparseTensor is not right-ragged", "SparseTensor.indices =", st_input.indices]
            check = op("Assert")(reduction_ops.reduce_all(math_ops.equal(columns, wanted)), words)
            with control_dependencies([check]):
                ids, n = math_ops.cast(rows, kind), math_ops.cast(st_input.dense_shape[0], kind)
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
        """Returns the lengths of the rows along an axis: a tensor, or a `RaggedTensor` if it is not 1.

        Raises:
          ValueError: The axis is out of range, or negative if the rank is not known.
        """
        if axis == 0:
            return self.nrows()
        rank = self.shape.ndims
        if rank is not None and not -rank <= axis < rank:
            raise ValueError("axis=%d out of bounds: expected %d<=axis<%d" % (axis, -rank, rank))
        if axis < 0:
            if rank is None:
                raise ValueError("axis may only be negative if ndims is statically known.")
            axis += rank
            if axis == 0:
                return self.nrows()
        if axis > 1:
            inner = self._values
            return self.with_values(inner.row_lengths(axis - 1) if isinstance(inner, RaggedTensor) else op("Fill")(array_ops.shape(inner, out_type=self._row_splits.dtype)[: axis - 1], array_ops.shape(inner, out_type=self._row_splits.dtype)[axis - 1]))
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
        """Returns rows of the same lengths with other values.

        Raises:
          ValueError: The number of the values is known to be another.
        """
        values = _as_values(new_values)
        values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(values.shape[:1])
        if isinstance(values, RaggedTensor) and values.row_splits.dtype != self._row_splits.dtype:
            raise ValueError("values and self must have the same row_splits dtypes: found %s and %s" % (values.row_splits.dtype.name, self._row_splits.dtype.name))
        return RaggedTensor(values, self._row_splits, internal=True)

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
        """Returns a tensor of the rows, filled up with `default_value`: by default 0 or the empty string.

        Raises:
          ValueError: The default has more dimensions than an innermost value.
        """
        with name_scope(name, "RaggedToTensor", [self.flat_values, default_value, *self.nested_row_splits]):
            if default_value is not None:
                fill_shape = convert_to_tensor(default_value, dtype=self.dtype).shape
                inner_shape = self.flat_values.shape[1:]
                if fill_shape.ndims is not None and inner_shape.ndims is not None and fill_shape.ndims > inner_shape.ndims:
                    raise ValueError("default_value.shape=%s and rt_input.flat_values.shape[1:]=%s are incompatible" % (fill_shape, inner_shape))
            else:
                default_value = "" if self.dtype == dtypes.string else False if self.dtype == dtypes.bool else 0
            fill = convert_to_tensor(default_value, dtype=self.dtype, name="default_value")
            shape = self.bounding_shape(out_type=dtypes.int64)
            made = op("TensorScatterUpdate")(op("BroadcastTo")(fill, shape), self._places(), self.flat_values)
            made.set_shape([self.shape[0], *[None] * self.ragged_rank, *self.flat_values.shape[1:]])
            return made

    def to_sparse(self, name: Optional[str] = None) -> SparseTensor:
        """Returns the rows as a sparse tensor.

        Raises:
          ValueError: The rank of the innermost values is not known.
        """
        with name_scope(name, "RaggedToSparse", [self.flat_values, *self.nested_row_splits]):
            inner = self.flat_values.shape.ndims
            if inner is None:
                raise ValueError("RaggedTensor.to_sparse: expected innermost values of a known rank, found %s" % self.flat_values)
            if inner == 1:
                return SparseTensor(self._places(), self.flat_values, self.bounding_shape(out_type=dtypes.int64))
            # Each innermost value has a place of its own within its element.
            sizes = array_ops.shape(self.flat_values, out_type=dtypes.int64)
            at = array_ops.where(array_ops.ones(sizes, dtypes.bool))
            places = array_ops.concat([op("GatherV2")(self._places(), at[:, 0], 0), at[:, 1:]], 1)
            return SparseTensor(places, array_ops.reshape(self.flat_values, [-1]), self.bounding_shape(out_type=dtypes.int64))

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
        # Slices are those of lists: `rows[:, ::-1]` reverses each row, where TensorFlow returns empty rows.
        keys = list(key) if isinstance(key, (list, tuple)) else [key]
        with name_scope(None, "RaggedGetItem", [self._row_splits]):
            return _item(self, keys)

    # More forms of the same rows.

    @classmethod
    def from_nested_row_lengths(cls, flat_values: Any, nested_row_lengths: Any, name: Optional[str] = None, validate: bool = True) -> RaggedTensor:
        """Returns rows of rows, whose lengths are the vectors `nested_row_lengths`, the outermost first.

        Raises:
          TypeError: `nested_row_lengths` is a tensor.

        Example:
          >>> rows = tf.RaggedTensor.from_nested_row_lengths([1, 2, 3], [[1, 1], [2, 1]])
          >>> tf.Session().run(rows).to_list()
          [[[1, 2]], [[3]]]
        """
        if isinstance(nested_row_lengths, Tensor):
            raise TypeError("nested_row_lengths must be a list of Tensors")
        with name_scope(name, "RaggedFromNestedRowlengths", [flat_values, *nested_row_lengths]):
            made = _as_values(flat_values)
            for lengths in reversed(list(nested_row_lengths)):
                made = cls.from_row_lengths(made, lengths, validate=validate)
            return made

    @classmethod
    def from_nested_value_rowids(
        cls, flat_values: Any, nested_value_rowids: Any, nested_nrows: Any = None, name: Optional[str] = None, validate: bool = True
    ) -> RaggedTensor:
        """Returns rows of rows, where the vectors `nested_value_rowids` tell the row of each value, the
        outermost first.

        Raises:
          ValueError: `nested_nrows` has another length.
          TypeError: An argument is a tensor, not a list of them.

        Example:
          >>> rows = tf.RaggedTensor.from_nested_value_rowids([1, 2, 3], [[0, 1], [0, 0, 1]])
          >>> tf.Session().run(rows).to_list()
          [[[1, 2]], [[3]]]
        """
        if isinstance(nested_value_rowids, Tensor):
            raise TypeError("nested_value_rowids must be a list of Tensors")
        if nested_nrows is None:
            nested_nrows = [None] * len(nested_value_rowids)
        elif isinstance(nested_nrows, Tensor):
            raise TypeError("nested_nrows must be a list of Tensors")
        elif len(nested_nrows) != len(nested_value_rowids):
            raise ValueError("nested_nrows must have the same length as nested_value_rowids")
        with name_scope(name, "RaggedFromNestedValueRowIds", [flat_values, *nested_value_rowids]):
            made = _as_values(flat_values)
            for ids, n in reversed(list(zip(nested_value_rowids, nested_nrows))):
                made = cls.from_value_rowids(made, ids, n, validate=validate)
            return made

    def nested_value_rowids(self, name: Optional[str] = None) -> Any:
        """Returns, for each ragged dimension, the row of each value, the outermost first.

        Example:
          >>> rows = tf.ragged.constant([[[1], [2, 3]], [], [[4]]])
          >>> print(*tf.Session().run(rows.nested_value_rowids()))
          [0 0 2] [0 1 1 2]
        """
        with name_scope(name, "RaggedNestedValueRowIds", [self._row_splits]):
            found, rows = [], self
            while isinstance(rows, RaggedTensor):
                found.append(rows.value_rowids())
                rows = rows.values
            return tuple(found)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """Returns the same rows with splits of a dtype, int64 or int32.

        Raises:
          ValueError: It is another dtype.

        Example:
          >>> tf.ragged.constant([[1], [2]]).with_row_splits_dtype(tf.int32).row_splits.dtype
          tf.int32
        """
        kind = dtypes.as_dtype(dtype)
        if kind not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be int32 or int64")
        if self._row_splits.dtype == kind:
            return self
        inner = self._values.with_row_splits_dtype(kind) if isinstance(self._values, RaggedTensor) else self._values
        return RaggedTensor(inner, math_ops.cast(self._row_splits, kind), internal=True)

    @property
    def _type_spec(self) -> Any:
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self._row_splits.dtype)

    def __repr__(self) -> str:
        return "tf.RaggedTensor(values=%s, row_splits=%s)" % (self._values, self._row_splits)


def _is_nested(lengths: Any) -> bool:
    """Returns whether lengths are those of several ragged dimensions: a list of vectors."""
    return isinstance(lengths, (list, tuple)) and any(not isinstance(one, (int, np.integer)) and (isinstance(one, (list, tuple)) or getattr(one, "shape", None) is not None and len(one.shape) == 1) for one in lengths)


def _as_index(value: Any, name: str) -> Tensor:
    if isinstance(value, RaggedTensor):
        raise TypeError("%s must be a tensor, found %s" % (name, value))
    tensor = convert_to_tensor(value, name=name, preferred_dtype=dtypes.int64)
    if tensor.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError("%s must have dtype int32 or int64: found %s" % (name, tensor.dtype.name))
    return tensor


# Checks -----------------------------------------------------------------------------------------------------

_INVALID = "Arguments to %s do not form a valid RaggedTensor"


def _ascending(numbers: Any, words: str) -> Any:
    return check_ops.assert_non_negative(numbers[1:] - numbers[:-1], message=words)


def match_row_splits_dtypes(*values: Any, return_dtype: bool = False) -> Any:
    """Returns the values with splits of one dtype: all must have it.

    Raises:
      ValueError: Some have int32, and some int64.
    """
    kinds = {value.row_splits.dtype for value in values if isinstance(value, RaggedTensor)}
    if len(kinds) > 1:
        raise ValueError("Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes.")
    kind = next(iter(kinds), dtypes.int64)
    return (kind, values) if return_dtype else values


# Parts of rows ----------------------------------------------------------------------------------------------


def repeated_ranges(starts: Any, limits: Any, step: int = 1) -> Any:
    """Returns the numbers of several ranges, one after the other, and the places where each begins and
    ends.
    """
    away = limits - starts if step > 0 else starts - limits
    lengths = op("Maximum")((away + (abs(step) - 1)) // abs(step), array_ops.zeros_like(away))
    splits = array_ops.concat([array_ops.zeros([1], lengths.dtype), op("Cumsum")(lengths, 0)], 0)
    ids = row_splits_to_segment_ids(splits)
    within = math_ops.range(splits[-1]) - op("GatherV2")(splits, ids, 0)
    return op("GatherV2")(starts, ids, 0) + within * step, splits


def from_value_ranges(starts: Any, limits: Any, values: Any, step: int = 1) -> RaggedTensor:
    """Returns rows that are ranges of values."""
    numbers, splits = repeated_ranges(starts, limits, step)
    if isinstance(values, RaggedTensor):
        outer = values.row_splits
        inner: Any = from_value_ranges(op("GatherV2")(outer[:-1], numbers, 0), op("GatherV2")(outer[1:], numbers, 0), values.values)
    else:
        inner = op("GatherV2")(values, numbers, 0)
    return RaggedTensor(inner, splits, internal=True)


def _item(rows: Any, keys: List[Any]) -> Any:
    """Returns `rows[keys]`."""
    if not keys:
        return rows
    if not isinstance(rows, RaggedTensor):
        return rows[tuple(keys)]
    first, rest = keys[0], keys[1:]
    if first is Ellipsis:
        return _item(rows, _expanded(keys, rows.shape.ndims))
    if first is None:
        inner = _item(rows, rest)
        n = array_ops.shape(inner.row_splits if isinstance(inner, RaggedTensor) else inner, out_type=rows.row_splits.dtype)[0]
        n = n - 1 if isinstance(inner, RaggedTensor) else n
        return RaggedTensor(inner, array_ops.stack([array_ops.zeros([], n.dtype), n]), internal=True)
    if isinstance(first, slice):
        return _inside(_sliced(rows, first), rest)
    if isinstance(first, (str, bytes, float)) or isinstance(first, Tensor) and not first.dtype.is_integer:
        words = "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid indices, got %r"
        raise TypeError(words % (first,))
    starts, limits = rows.row_splits[:-1], rows.row_splits[1:]
    return _item(rows.values[starts[first] : limits[first]], rest)


def _expanded(keys: List[Any], rank: Optional[int]) -> List[Any]:
    """Returns the keys with the slices that a leading `...` means."""
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    used = sum(1 for key in keys if key is not Ellipsis and key is not None)
    if used > rank:
        raise IndexError("Too many indices for RaggedTensor")
    return keys[1:] if used == rank else [slice(None)] + keys


def _whole(key: slice) -> bool:
    return key.start is None and key.stop is None and key.step is None


def _sliced(rows: Any, key: slice) -> Any:
    """Returns some of the rows."""
    if _whole(key):
        return rows
    starts, limits = rows.row_splits[:-1][key], rows.row_splits[1:][key]
    if key.step not in (None, 1):
        return from_value_ranges(starts, limits, rows.values)
    # Without rows there is one split, 0.
    zero = array_ops.zeros([1], limits.dtype)
    splits = array_ops.concat([zero[array_ops.size(starts) :], starts[:1], limits], 0)
    return RaggedTensor(rows.values[splits[0] : splits[-1]], splits - splits[0], internal=True)


def _inside(rows: Any, keys: List[Any]) -> Any:
    """Returns `rows[:, keys]`."""
    if not keys:
        return rows
    if not isinstance(rows, RaggedTensor):
        return rows[(slice(None), *keys)]
    first, rest = keys[0], keys[1:]
    if first is Ellipsis:
        rank = rows.shape.ndims
        return _inside(rows, _expanded(keys, None if rank is None else rank - 1))
    if first is None:
        inner = _inside(rows, rest)
        n = array_ops.shape(inner.row_splits, out_type=inner.row_splits.dtype)[0] if isinstance(inner, RaggedTensor) else array_ops.shape(inner, out_type=rows.row_splits.dtype)[0] + 1
        return RaggedTensor(inner, math_ops.range(n), internal=True)
    if not isinstance(first, slice):
        raise ValueError("Cannot index into an inner ragged dimension.")
    if not _whole(first):
        starts, limits = rows.row_splits[:-1], rows.row_splits[1:]
        step = 1 if first.step is None else first.step
        begin, end = _ends_of(first, starts, limits, step)
        rows = from_value_ranges(begin, end, rows.values, step)
    return rows.with_values(_inside(rows.values, rest))


def _ends_of(key: slice, starts: Any, limits: Any, step: int) -> Any:
    """Returns where slices of ranges begin and end."""
    low, high = (starts, limits) if step > 0 else (starts - 1, limits - 1)

    def place(offset: Any) -> Any:
        offset = math_ops.cast(convert_to_tensor(offset), starts.dtype)
        at = op("SelectV2")(offset < 0, limits + offset, starts + offset)
        return op("Minimum")(op("Maximum")(at, low), high)

    begin = (low if step > 0 else high) if key.start is None else place(key.start)
    end = (high if step > 0 else low) if key.stop is None else place(key.stop)
    return begin, end


# Types ------------------------------------------------------------------------------------------------------


class RaggedTensorSpec(shapes.BatchableTypeSpec):
    """The type of a `RaggedTensor`.

    Args:
      shape: The shape, in which ragged dimensions are None; or None for any, if `ragged_rank` is given.
      dtype: The dtype of the values.
      ragged_rank: The number of ragged dimensions; by default all but the first.
      row_splits_dtype: The dtype of the splits.

    Raises:
      ValueError: `ragged_rank` does not fit the shape.

    Example:
      >>> spec = tf.RaggedTensorSpec([None, None], tf.int32)
      >>> spec, spec.value_type is tf.RaggedTensor, spec.is_compatible_with(tf.ragged.constant([[1], [2, 3]]))
      (RaggedTensorSpec(TensorShape([Dimension(None), Dimension(None)]), tf.int32, 1, tf.int64), True, True)
    """

    __slots__ = ("_shape", "_dtype", "_ragged_rank", "_row_splits_dtype")

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32, ragged_rank: Optional[int] = None, row_splits_dtype: Any = dtypes.int64) -> None:
        self._shape, self._dtype, self._row_splits_dtype = shapes.as_shape(shape), dtypes.as_dtype(dtype), dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.ndims
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError("ragged_rank must be an int")
        if rank is not None and ragged_rank >= rank:
            raise ValueError("ragged_rank must be less than rank.")
        self._ragged_rank = ragged_rank

    @property
    def value_type(self) -> Any:
        """The class of values of this type."""
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    def _serialize(self) -> Any:
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    @property
    def _component_specs(self) -> Any:
        if self._ragged_rank == 0:
            return [shapes.TensorSpec(self._shape, self._dtype)]
        flat = shapes.TensorShape([None]).concatenate(self._shape[self._ragged_rank + 1 :])
        n = shapes.dimension_value(self._shape[0]) if self._shape.ndims is not None else None
        outer = shapes.TensorSpec([None if n is None else n + 1], self._row_splits_dtype)
        inner = [shapes.TensorSpec([None], self._row_splits_dtype) for _ in range(self._ragged_rank - 1)]
        return [shapes.TensorSpec(flat, self._dtype), outer, *inner]

    def _to_components(self, value: Any) -> Any:
        return [value.flat_values, *value.nested_row_splits] if isinstance(value, (RaggedTensor, RaggedTensorValue)) else [value]

    def _from_components(self, components: Any) -> Any:
        made = components[0]
        concrete = all(isinstance(part, np.ndarray) for part in components)
        for splits in reversed(components[1:]):
            made = RaggedTensorValue(made, splits) if concrete else RaggedTensor(made, splits, internal=True)
        return made

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """Returns the type of a `RaggedTensor`.

        Example:
          >>> tf.RaggedTensorSpec.from_value(tf.ragged.constant([["a"], []]))
          RaggedTensorSpec(TensorShape([Dimension(2), Dimension(None)]), tf.string, 1, tf.int64)
        """
        return cls(value.shape, value.values.dtype, value.ragged_rank, value.row_splits.dtype)

    def _batch(self, batch_size: Any) -> RaggedTensorSpec:
        return RaggedTensorSpec(shapes.TensorShape([batch_size]).concatenate(self._shape), self._dtype, self._ragged_rank + 1)

    def _unbatch(self) -> RaggedTensorSpec:
        # The type of a row: its own dimension is ragged no more.
        return RaggedTensorSpec(self._shape[1:], self._dtype, self._ragged_rank - 1)


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


def constant_value(
    pylist: Any, dtype: Any = None, ragged_rank: Optional[int] = None, inner_shape: Any = None, row_splits_dtype: Any = "int64"
) -> Any:
    """Returns the rows of nested lists, as a `RaggedTensorValue`, which can be fed.

    Args:
      pylist: A list of lists, nested to one depth.
      dtype: The NumPy dtype of the values.
      ragged_rank: The number of ragged dimensions; by default all but the first.
      inner_shape: The shape of the innermost values.
      row_splits_dtype: The dtype of the splits, "int64" or "int32".

    Returns:
      A `RaggedTensorValue`, or an array if `ragged_rank` is 0 or there are no inner lists.

    Raises:
      ValueError: The lists are nested to different depths, or `ragged_rank` does not fit.

    Example:
      >>> tf.ragged.constant_value([[1, 2], [3]])
      <tf.RaggedTensorValue [[1, 2], [3]]>
    """
    kind = np.dtype(dtypes.as_dtype(dtype).as_numpy_dtype if isinstance(dtype, dtypes.DType) else dtype) if dtype is not None else None
    nested, flat = _nested(pylist, ragged_rank, inner_shape)
    if inner_shape is not None:
        flat = np.reshape(np.array(flat, kind), [len(flat), *np.atleast_1d(inner_shape).astype(int)])
    made: Any = np.array(flat, np.float64 if kind is None and isinstance(flat, list) and not flat else kind)
    for splits in reversed(nested):
        made = RaggedTensorValue(made, np.array(splits, dtypes.as_dtype(row_splits_dtype).as_numpy_dtype))
    return made


def placeholder(dtype: Any, ragged_rank: int, value_shape: Any = None, name: Optional[str] = None) -> Any:
    """Returns a placeholder of rows, which a run feeds with a `RaggedTensorValue`.

    Args:
      dtype: The dtype of the values.
      ragged_rank: The number of ragged dimensions.
      value_shape: The shape of the innermost values.
      name: The name scope of the operations.

    Returns:
      A `RaggedTensor`, or a tensor if `ragged_rank` is 0.

    Example:
      >>> rows = tf.ragged.placeholder(tf.int32, 1)
      >>> tf.Session().run(rows + 1, {rows: tf.ragged.constant_value([[1, 2], [3]], dtype="int32")})
      <tf.RaggedTensorValue [[2, 3], [4]]>
    """
    if ragged_rank == 0:
        return _placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder", []):
        made: Any = _placeholder(dtype, shapes.TensorShape([None]).concatenate(shapes.as_shape(value_shape)), "flat_values")
        for i in reversed(range(ragged_rank)):
            made = RaggedTensor(made, _placeholder(dtypes.int64, [None], "row_splits_%d" % i), internal=True)
        return made


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
    nested, flat = _nested(pylist, ragged_rank, inner_shape)
    with name_scope(name, "RaggedConstant"):
        kind = dtypes.float32 if dtype is None and isinstance(flat, list) and not flat else dtype
        made: Any = _constant(flat, kind, None if inner_shape is None else [len(flat), *np.atleast_1d(inner_shape)], name="values")
        for splits in reversed(nested):
            made = RaggedTensor(made, _constant(splits, row_splits_dtype), internal=True)
        return made


def _nested(pylist: Any, ragged_rank: Optional[int], inner_shape: Any) -> Any:
    """Returns the splits of nested lists, the outermost first, and the innermost values."""
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
    nested, flat = [], list(pylist) if isinstance(pylist, (list, tuple, np.ndarray)) else pylist
    for _ in range(rank):
        splits = [0]
        for row in flat:
            splits.append(splits[-1] + len(row))
        nested.append(splits)
        flat = [value for row in flat for value in row]
    return nested, flat


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
    ragged: List[RaggedTensor] = []

    def inner(value: Any) -> Any:
        if isinstance(value, RaggedTensor):
            ragged.append(value)
            return value.flat_values
        if isinstance(value, (list, tuple)):
            return [inner(one) for one in value]
        return {key: inner(one) for key, one in value.items()} if isinstance(value, dict) else value

    flat_args, flat_kwargs = [inner(a) for a in args], {k: inner(a) for k, a in kwargs.items()}
    if not ragged:
        return f(*args, **kwargs)
    if len({a.ragged_rank for a in ragged}) > 1:
        raise ValueError("The row_splits of all RaggedTensor arguments must match: found ragged ranks %s" % sorted({a.ragged_rank for a in ragged}))

    words = "Inputs must have identical ragged splits"
    checks = [check_ops.assert_equal(a, b, message=words) for one in ragged[1:] for a, b in zip(ragged[0].nested_row_splits, one.nested_row_splits) if a is not b]
    with name_scope(None, "MapFlatValues"):
        if checks:
            result = f(*flat_args, **flat_kwargs)
            with control_dependencies(checks):
                splits = [array_ops.identity(one) for one in ragged[0].nested_row_splits]
                result = array_ops.identity(result)
            for one in reversed(splits):
                result = RaggedTensor(result, one, internal=True)
            return result
        return ragged[0].with_flat_values(f(*flat_args, **flat_kwargs))


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
