"""Partitioned variables: `PartitionedVariable` and partitioners such as `fixed_size_partitioner`."""

from __future__ import annotations

import collections.abc
import math
from typing import Any, Dict, Iterator, List, Optional

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, dtypes, name_scope, protos, shapes
from millstream.framework.op_functions import op
from millstream.framework.scopes import prepend_name_scope, strip_name_scope
from millstream.variables.variable import Variable


class SaveSliceInfo:
    """The position of a variable in the partitioned variable it belongs to, as saved in checkpoints.

    Args:
      full_name: The name of the whole.
      full_shape: The shape of the whole.
      var_offset: Where the part begins in each dimension.
      var_shape: The shape of the part.
      save_slice_info_def: A `SaveSliceInfoDef`, instead of the other arguments.
      import_scope: The name scope that the graph of `save_slice_info_def` was imported into.

    Example:
      >>> part = tf.Variable.SaveSliceInfo("w", [4, 3], [2, 0], [2, 3])
      >>> part.spec, part.to_proto().full_name
      ('4 3 2,2:0,3', 'w')
    """

    def __init__(
        self,
        full_name: Optional[str] = None,
        full_shape: Any = None,
        var_offset: Any = None,
        var_shape: Any = None,
        save_slice_info_def: Any = None,
        import_scope: Optional[str] = None,
    ) -> None:
        self.full_name, self.full_shape, self.var_offset, self.var_shape = full_name, full_shape, var_offset, var_shape
        if save_slice_info_def is not None:
            self.full_name = prepend_name_scope(save_slice_info_def.full_name, import_scope)
            self.full_shape = list(save_slice_info_def.full_shape)
            self.var_offset = list(save_slice_info_def.var_offset)
            self.var_shape = list(save_slice_info_def.var_shape)

    @property
    def spec(self) -> str:
        """The position as text: the full shape, then offset and length in each dimension."""
        return " ".join(map(str, self.full_shape)) + " " + ":".join("%d,%d" % pair for pair in zip(self.var_offset, self.var_shape))

    def to_proto(self, export_scope: Optional[str] = None) -> Any:
        """Returns the position as a `SaveSliceInfoDef`; None if the variable is outside of a scope.

        Args:
          export_scope: A name scope to remove from the name.

        Returns:
          The message.

        Example:
          >>> tf.Variable.SaveSliceInfo("a/w", [4], [2], [2]).to_proto("a").full_name
          'w'
        """
        if export_scope is not None and not str(self.full_name).startswith(export_scope):
            return None
        return protos.SaveSliceInfoDef(
            full_name=strip_name_scope(self.full_name, export_scope),
            full_shape=self.full_shape,
            var_offset=self.var_offset,
            var_shape=self.var_shape,
        )


Variable.SaveSliceInfo = SaveSliceInfo


class PartitionInfo:
    """The part of a variable for which an initializer is called."""

    def __init__(self, full_shape: List[int], var_offset: List[int]) -> None:
        for offset, size in zip(var_offset, full_shape):
            if offset < 0 or offset >= size:
                raise ValueError(
                    "Expected 0 <= offset < shape but found offset=%s, shape=%s for var_offset=%s, full_shape=%s" % (offset, size, var_offset, full_shape)
                )
        self._full_shape, self._var_offset = full_shape, var_offset

    full_shape = property(lambda self: self._full_shape, doc="The shape of the whole.")
    var_offset = property(lambda self: self._var_offset, doc="Where the part begins in each dimension.")


class PartitionedVariable:
    """A variable partitioned along one dimension.

    Converted to a tensor, it is the concatenation of its parts.
    """

    def __init__(self, name: str, shape: Any, dtype: Any, variable_list: List[Any], partitions: List[int]) -> None:
        for what, given in (("variable_list", variable_list), ("partitions", partitions)):
            if not isinstance(given, (list, tuple)):
                raise TypeError("%s is not a list or tuple: %s" % (what, given))
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        if any(p < 1 for p in partitions):
            raise ValueError("partition values must be positive: %s" % (partitions,))
        if any(v._get_save_slice_info() is None for v in variable_list):
            raise ValueError("All variables must have a save_slice_info available: %s" % [v.name for v in variable_list])
        self._name, self._shape, self._dtype = name, shapes.TensorShape(shape), dtypes.as_dtype(dtype)
        self._variable_list, self._partitions = variable_list, partitions

    name = property(lambda self: self._name, doc="The name of the whole.")
    dtype = property(lambda self: self._dtype, doc="The element type.")
    shape = property(lambda self: self._shape, doc="The shape of the whole.")

    def get_shape(self) -> shapes.TensorShape:
        """Returns the full shape."""
        return self._shape

    def __iter__(self) -> Iterator[Any]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        return len(self._variable_list)

    def _get_variable_list(self) -> List[Any]:
        return self._variable_list

    def _get_partitions(self) -> List[int]:
        return self._partitions

    def _partition_axes(self) -> List[int]:
        axes = [i for i, p in enumerate(self._partitions) if p > 1]
        return axes or [0]

    def _concat(self) -> Tensor:
        if len(self._variable_list) == 1:
            with name_scope(None):
                return op("Identity")(self._variable_list[0], name=self._name)
        with name_scope(self._name + "/ConcatPartitions/"):
            whole = op("ConcatV2")([v.value() for v in self._variable_list], self._partition_axes()[0], name="concat")
        with name_scope(None):
            return op("Identity")(whole, name=self._name)

    def as_tensor(self) -> Tensor:
        """Returns the concatenation of the parts."""
        with name_scope(None):
            return self._concat()

    def _as_tensor(self, dtype: Any = None, name: Optional[str] = None, as_ref: bool = False) -> Tensor:
        if as_ref:
            raise NotImplementedError("PartitionedVariable doesn't support being used as a reference.")
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(self._dtype):
            raise ValueError("Incompatible type conversion requested to type '%s' for variable of type '%s'" % (dtypes.as_dtype(dtype).name, self._dtype.name))
        return self.as_tensor()

    def _each(self, function: Any, value: Any) -> List[Any]:
        """Returns `function(part, its share of the value)` for each part."""
        if not isinstance(value, (list, tuple)):
            axis, sizes = self._partition_axes()[0], [v.shape.as_list()[self._partition_axes()[0]] for v in self._variable_list]
            value = op("SplitV")(value, sizes, axis, num_split=len(sizes))
        return [function(v, share) for v, share in zip(self._variable_list, value)]

    def assign(self, value: Any, use_locking: bool = False, name: Optional[str] = None, read_value: bool = True) -> List[Any]:
        """Assigns a value; returns a list of the results for all parts."""
        done = self._each(lambda v, share: v.assign(share, use_locking=use_locking, name=name), value)
        return done if read_value else [d.op for d in done]

    def assign_add(self, value: Any, use_locking: bool = False, name: Optional[str] = None, read_value: bool = True) -> List[Any]:
        """Adds a value; returns a list of the results for all parts."""
        done = self._each(lambda v, share: v.assign_add(share, use_locking=use_locking, name=name), value)
        return done if read_value else [d.op for d in done]

    def assign_sub(self, value: Any, use_locking: bool = False, name: Optional[str] = None, read_value: bool = True) -> List[Any]:
        """Subtracts a value; returns a list of the results for all parts."""
        done = self._each(lambda v, share: v.assign_sub(share, use_locking=use_locking, name=name), value)
        return done if read_value else [d.op for d in done]


def make(get: Any, name: str, arguments: Dict[str, Any], found: Any = None) -> Any:
    """Creates the partitioned variable for `get_variable`; `get(name, **arguments)` creates each part.

    If there is one of this name, `found`, it is returned, provided that it fits.
    """
    partitioner, initializer = arguments.pop("partitioner"), arguments["initializer"]
    if not callable(partitioner):
        raise ValueError("Partitioner must be callable, but received: %s" % partitioner)
    value = None
    if initializer is not None and not callable(initializer):
        value = convert_to_tensor(initializer, arguments["dtype"])
    shape = shapes.TensorShape(arguments["shape"])
    if value is not None and shape.ndims is None:
        shape = value.shape
    dtype = dtypes.as_dtype(arguments["dtype"]).base_dtype
    if found is not None:
        if not shape.is_compatible_with(found.shape):
            raise ValueError("Trying to reuse partitioned variable %s, but specified shape %s and found shape %s." % (name, shape, found.shape))
        if not dtype.is_compatible_with(found.dtype):
            raise ValueError("Trying to reuse partitioned variable %s, but specified dtype %s and found dtype %s." % (name, dtype.name, found.dtype.name))
    if not shape.is_fully_defined():
        raise ValueError("Shape of a new partitioned variable must be fully defined, but instead was %s. The variable is `%s`." % (shape, name))
    if not shape.ndims:
        raise ValueError("A partitioned Variable must have rank at least 1: shape: %s" % shape)
    cuts = partitioner(shape=shape, dtype=dtype)
    if not isinstance(cuts, collections.abc.Sequence):
        raise ValueError("Partitioner must return a sequence, but saw: %s" % cuts)
    cuts = list(cuts)
    whole = shape.as_list()
    if len(cuts) != len(whole):
        raise ValueError("Partitioner returned a partition list that does not match the Variable's rank: %s vs. %s" % (cuts, shape))
    if any(p < 1 for p in cuts):
        raise ValueError("Partitioner returned zero partitions for some axes: %s" % cuts)
    if sum(p > 1 for p in cuts) > 1:
        raise ValueError("Can only slice a variable along one dimension: shape: %s, partitioning: %s" % (shape, cuts))
    if found is not None:
        if cuts != list(found._get_partitions()):
            raise ValueError(
                "Trying to reuse partitioned variable %s, but specified partitions %s and found partitions %s." % (name, cuts, list(found._get_partitions()))
            )
        return found
    axis = next((i for i, p in enumerate(cuts) if p > 1), 0)
    parts = []
    for i, (offset, size) in enumerate(_shares(whole[axis], cuts[axis])):
        begin, part = [0] * len(whole), list(whole)
        begin[axis], part[axis] = offset, size
        info = PartitionInfo(whole, begin)
        own = dict(arguments, shape=part, partition_info=info)
        if value is not None:
            own["initializer"], own["shape"] = op("Slice")(value, begin, part), None
        variable = get("%s/part_%d" % (name, i), **own)
        variable._save_slice_info = SaveSliceInfo(name, whole, begin, part)
        parts.append(variable)
    return PartitionedVariable(name, shape, dtype, parts, cuts)


def _shares(size: int, n: int) -> List[Any]:
    """Returns the offset and length of each of `n` parts, of which the first may be longer by one."""
    shares, at = [], 0
    for i in range(n):
        length = size // n + (i < size % n)
        shares.append((at, length))
        at += length
    return shares


def _check_axis(shape: Any, axis: int) -> None:
    if not isinstance(shape, shapes.TensorShape):
        raise ValueError("shape is not a TensorShape: %s" % (shape,))
    if not shape.is_fully_defined():
        raise ValueError("shape is not fully defined: %s" % shape)
    if len(shape) <= axis:
        raise ValueError("Can not partition variable along axis %d when shape is only %s" % (axis, shape))


def _size_of_element(dtype: Any, bytes_per_string_element: int) -> int:
    return bytes_per_string_element if dtype.base_dtype == dtypes.string else dtype.size


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Any:
    """Returns a partitioner that splits variables into `num_shards` parts along an axis.

    Args:
      num_shards: An int: the number of parts.
      axis: An int: the axis to split.

    Returns:
      A partitioner for `get_variable` and `variable_scope`.

    Example:
      >>> with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
      ...     w = tf.get_variable("w", [4, 3])
      >>> [v.name for v in w], w.as_tensor().shape
      (['s/w/part_0:0', 's/w/part_1:0'], TensorShape([Dimension(4), Dimension(3)]))
    """

    def partitioner(shape: Any, **_: Any) -> List[int]:
        parts = [1] * len(shape)
        size: Any = shapes.dimension_value(shape[axis])
        parts[axis] = min(num_shards, size)
        return parts

    return partitioner


def variable_axis_size_partitioner(max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16, max_shards: Optional[int] = None) -> Any:
    """Returns a partitioner that splits variables into parts of at most `max_shard_bytes` bytes.

    Args:
      max_shard_bytes: An int: the maximum size of a part in bytes.
      axis: An int: the axis to split.
      bytes_per_string_element: An int: the assumed size of a string in bytes.
      max_shards: An int: the maximum number of parts.

    Returns:
      A partitioner for `get_variable` and `variable_scope`.

    Raises:
      ValueError: A size or number is not positive.

    Example:
      >>> with tf.variable_scope("s", partitioner=tf.variable_axis_size_partitioner(16)):
      ...     w = tf.get_variable("w", [8])  # 32 bytes
      >>> len(list(w))
      2
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("Both max_shard_bytes and bytes_per_string_element must be positive.")
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape: Any, dtype: Any) -> List[int]:
        _check_axis(shape, axis)
        parts, dims = [1] * len(shape), shape.as_list()
        dtype = dtypes.as_dtype(dtype)
        slice_bytes = (shape.num_elements() // dims[axis]) * _size_of_element(dtype, bytes_per_string_element)
        slices = max(1, int(math.floor(max_shard_bytes / max(1, slice_bytes))))
        shards = int(math.ceil(dims[axis] / slices))
        parts[axis] = min(max_shards, shards) if max_shards else shards
        return parts

    return partitioner


def min_max_variable_partitioner(max_partitions: int = 1, axis: int = 0, min_slice_size: int = 256 << 10, bytes_per_string_element: int = 16) -> Any:
    """Returns a partitioner that splits variables into parts of at least `min_slice_size` bytes.

    Args:
      max_partitions: An int: the maximum number of parts.
      axis: An int: the axis to split.
      min_slice_size: An int: the minimum size of a part in bytes.
      bytes_per_string_element: An int: the assumed size of a string in bytes.

    Returns:
      A partitioner for `get_variable` and `variable_scope`.

    Example:
      >>> with tf.variable_scope("s", partitioner=tf.min_max_variable_partitioner(4, min_slice_size=16)):
      ...     w = tf.get_variable("w", [8])  # 32 bytes
      >>> len(list(w))
      2
    """

    def partitioner(shape: Any, dtype: Any) -> List[int]:
        _check_axis(shape, axis)
        parts, dims = [1] * len(shape), shape.as_list()
        total = shape.num_elements() * _size_of_element(dtypes.as_dtype(dtype), bytes_per_string_element)
        parts[axis] = max(1, min(dims[axis], max_partitions, int(math.ceil(total / min_slice_size))))
        return parts

    return partitioner
