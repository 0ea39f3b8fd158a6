"""Shapes, slices, joining and splitting."""

from __future__ import annotations

import builtins
import functools
from typing import TYPE_CHECKING, Any, List, Optional

import numpy as np

from millstream import _engine, dtypes, shapes
from millstream._engine import Tensor
from millstream._ops import op
from millstream.framework import SparseTensor, constant, convert_to_tensor, name_scope
from millstream.math_ops import cast, deprecated

if TYPE_CHECKING:
    from millstream._typing import Filled

__all__ = [
    "boolean_mask",
    "broadcast_static_shape",
    "concat",
    "expand_dims",
    "eye",
    "fill",
    "gather",
    "gather_nd",
    "identity",
    "matrix_transpose",
    "meshgrid",
    "one_hot",
    "ones",
    "ones_like",
    "pad",
    "placeholder_with_default",
    "rank",
    "reshape",
    "reverse_sequence",
    "sequence_mask",
    "shape",
    "shape_n",
    "size",
    "slice",
    "split",
    "squeeze",
    "stack",
    "strided_slice",
    "transpose",
    "unique",
    "unique_with_counts",
    "unstack",
    "where",
    "zeros",
    "zeros_like",
]

def identity(input: Any, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """The value as it is."""
    return op("Identity")(input, name=name)


def placeholder_with_default(input: Any, shape: Any, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """A tensor that may be fed, and is `input` where it is not."""
    return op("PlaceholderWithDefault")(input, shape=shapes.TensorShape(shape), name=name)


def shape(input: Any, name: Optional[str] = None, out_type: Any = dtypes.int32) -> Tensor:  # noqa: A002
    """The shape, as a tensor."""
    with name_scope(name, "Shape", [input]) as name:
        if isinstance(input, SparseTensor):
            return cast(input.dense_shape, out_type)
        input = convert_to_tensor(input)
        known = input._shape_as_list()
        if known is not None and None not in known:
            return constant(np.array(known, dtypes.as_dtype(out_type).as_numpy_dtype), out_type, name=name)
        return op("Shape")(input, out_type=out_type, name=name)


def shape_n(input: Any, out_type: Any = dtypes.int32, name: Optional[str] = None) -> List[Tensor]:  # noqa: A002
    """The shapes of several tensors."""
    return op("ShapeN")(input, out_type=out_type, name=name)


def size(input: Any, name: Optional[str] = None, out_type: Any = dtypes.int32) -> Tensor:  # noqa: A002
    """How many elements there are, as a tensor."""
    with name_scope(name, "Size", [input]) as name:
        if isinstance(input, SparseTensor):
            return op("Prod")(cast(input.dense_shape, out_type), 0, name=name)
        input = convert_to_tensor(input)
        known = input._shape_as_list()
        if known is not None and None not in known:
            return constant(int(np.prod(known, dtype=np.int64)), out_type, name=name)
        return op("Size")(input, out_type=out_type, name=name)


def rank(input: Any, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """The number of dimensions, as a tensor."""
    with name_scope(name, "Rank", [input]) as name:
        if isinstance(input, SparseTensor):
            return op("Size")(input.dense_shape, name=name)
        input = convert_to_tensor(input)
        known = input._shape_as_list()
        return op("Rank")(input, name=name) if known is None else constant(len(known), dtypes.int32, name=name)


def _shape_tensor(shape: Any) -> Any:
    if isinstance(shape, shapes.TensorShape):
        return shape
    if isinstance(shape, (list, tuple)):
        return [d.value if isinstance(d, shapes.Dimension) else d for d in shape]
    return shape


def reshape(tensor: Any, shape: Any, name: Optional[str] = None) -> Tensor:
    """The same elements in another shape."""
    return op("Reshape")(tensor, _shape_tensor(shape), name=name)


def _index_type(dims: Any) -> dtypes.DType:
    """What holds these sizes: older NumPys would cut what int32 cannot hold."""
    return dtypes.int32 if all(d < 2**31 for d in dims) else dtypes.int64


def _filled(value: Any, called: str) -> Filled:
    def function(shape: Any, dtype: Any = dtypes.float32, name: Optional[str] = None) -> Tensor:
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype == dtypes.string and value:
            raise TypeError("Expected string, got 1 of type 'int' instead.")
        if isinstance(shape, (list, tuple)) and any(d is None for d in shape):
            raise TypeError("Expected int32, got None of type 'NoneType' instead.")
        with name_scope(name, called, [shape]) as name:
            if dtype == dtypes.bfloat16:
                # NumPy has none: no constant is made of it.
                return op("Fill")(convert_to_tensor(shape, dtypes.int32), cast(constant(value, dtypes.float32), dtype), name=name)
            one: Any = "" if dtype == dtypes.string and not value else bool(value) if dtype == dtypes.bool else value
            if not isinstance(shape, Tensor):
                try:
                    known = shapes.TensorShape(_shape_tensor(shape) if not isinstance(shape, np.ndarray) else shape.tolist())
                    if known.is_fully_defined() and (known.num_elements() or 0) < 1000:
                        return constant(one if known.num_elements() else np.full(known.as_list(), one, dtype.as_numpy_dtype), dtype, known, name)
                    if known.is_fully_defined():
                        shape = convert_to_tensor(known.as_list(), _index_type(known.as_list()), name="shape_as_tensor")
                except (TypeError, ValueError):
                    shape = convert_to_tensor(shape, dtypes.int32)
            if not isinstance(shape, Tensor):
                shape = convert_to_tensor(shape, dtypes.int32)
            if shape._shape_as_list() == []:
                shape = reshape(shape, [-1])
            return op("Fill")(shape, constant(one, dtype), name=name)

    function.__name__ = function.__qualname__ = called
    function.__doc__ = "A tensor of %s." % called
    return function


zeros = _filled(0, "zeros")
ones = _filled(1, "ones")


def fill(dims: Any, value: Any, name: Optional[str] = None) -> Tensor:
    """A tensor of equal elements."""
    return op("Fill")(_shape_tensor(dims), value, name=name)


def zeros_like(tensor: Any, dtype: Any = None, name: Optional[str] = None, optimize: bool = True) -> Tensor:
    """Zeros of the tensor's shape."""
    with name_scope(name, "zeros_like", [tensor]) as name:
        tensor = convert_to_tensor(tensor, name="tensor")
        to = tensor.dtype.base_dtype if dtype is None else dtypes.as_dtype(dtype).base_dtype
        if tensor.shape.is_fully_defined() and tensor.dtype != dtypes.variant:
            return zeros(tensor.shape, to, name)
        if to != tensor.dtype.base_dtype and to != dtypes.variant:
            return zeros(shape(tensor), to, name)
        return op("ZerosLike")(tensor, name=name)


def ones_like(tensor: Any, dtype: Any = None, name: Optional[str] = None, optimize: bool = True) -> Tensor:
    """Ones of the tensor's shape."""
    with name_scope(name, "ones_like", [tensor]) as name:
        tensor = convert_to_tensor(tensor, name="tensor")
        to = tensor.dtype.base_dtype if dtype is None else dtypes.as_dtype(dtype).base_dtype
        result = ones(shape(tensor), to, name)
        result.set_shape(tensor.shape)
        return result


def squeeze(input: Any, axis: Any = None, name: Optional[str] = None, squeeze_dims: Any = None) -> Tensor:  # noqa: A002
    """Without dimensions of size 1: those named, or all."""
    axis = deprecated(axis, squeeze_dims, "axis", "squeeze_dims")
    axis = [axis] if np.isscalar(axis) and axis is not None else axis
    return op("Squeeze")(input, [] if axis is None else axis, name=name)


def expand_dims(input: Any, axis: Any = None, name: Optional[str] = None, dim: Any = None) -> Tensor:  # noqa: A002
    """With a dimension of size 1 more."""
    axis = deprecated(axis, dim, "axis", "dim")
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return op("ExpandDims")(input, axis, name=name)


def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape along a new axis."""
    if axis == 0:
        try:
            # What is no tensor yet becomes a constant, as in TensorFlow.
            value = convert_to_tensor(values, name=name) if not any(isinstance(v, Tensor) or hasattr(v, "_as_tensor") for v in values) else None
            if value is not None:
                return value
        except (TypeError, ValueError):
            pass
    shape = convert_to_tensor(values[0])._shape_as_list() if len(values) else None
    if shape is not None and not -(len(shape) + 1) <= axis < len(shape) + 1:
        raise ValueError("axis = %d not in [%d, %d)" % (axis, -(len(shape) + 1), len(shape) + 1))
    return op("Pack")(list(values), axis=axis, name=name)


def unstack(value: Any, num: Optional[int] = None, axis: int = 0, name: str = "unstack") -> List[Tensor]:
    """The rows along an axis."""
    if num is None:
        value = convert_to_tensor(value)
        shape = value._shape_as_list()
        if shape is not None:
            if not -len(shape) <= axis < len(shape):
                raise ValueError("axis = %d not in [%d, %d)" % (axis, -len(shape), len(shape)))
            num = shape[axis]
    if num is None:
        raise ValueError("Cannot infer num from shape %s" % convert_to_tensor(value).shape)
    return op("Unpack")(value, num=num, axis=axis, name=name)


def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """Tensors one after the other along an axis."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with name_scope(name) as scope:
            convert_to_tensor(axis, name="concat_dim", dtype=dtypes.int32).shape.assert_has_rank(0)
            return identity(values[0], name=name)
    return op("ConcatV2")(list(values), axis, name=name)


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: str = "split") -> List[Tensor]:
    """The parts along an axis: so many equal ones, or of these sizes."""
    sizes = num_or_size_splits
    if isinstance(sizes, (int, np.integer)) or isinstance(sizes, shapes.Dimension):
        # A constant that nothing takes, as in TensorFlow: the names of those to come count it.
        constant(int(sizes))
        return op("Split")(axis, value, num_split=int(sizes), name=name)
    sizes = convert_to_tensor(sizes)
    if sizes._shape_as_list() == []:
        raise ValueError("Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument provided: %s" % (num_or_size_splits,))
    if num is None:
        num = (sizes._shape_as_list() or [None])[0]
    if num is None:
        raise ValueError("Cannot infer num from shape %s" % num_or_size_splits)
    return op("SplitV")(value, sizes, axis, num_split=num, name=name)


def transpose(a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False) -> Tensor:
    """The axes in another order, reversed if none is given."""
    with name_scope(name, "transpose", [a]) as name:
        a = convert_to_tensor(a, name="x")
        function = op("ConjugateTranspose") if conjugate and a.dtype.is_complex else op("Transpose")
        if perm is None:
            known = a._shape_as_list()
            if known is None:
                n = op("Rank")(a)
                return function(a, (n - 1) - op("Range")(0, n, 1), name=name)
            perm = np.arange(len(known) - 1, -1, -1, dtype=np.int32)
        return function(a, perm, name=name)


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: Optional[str] = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Tensor:
    """The slices of `params` at `indices`."""
    if axis is None:
        axis = batch_dims
    read = getattr(params, "sparse_read", None)
    if read is not None and isinstance(axis, int) and axis == 0 and not batch_dims:
        return read(indices, name=name)
    return op("GatherV2")(params, indices, axis, batch_dims=batch_dims, name=name) if batch_dims else op("GatherV2")(params, indices, axis, name=name)


def gather_nd(params: Any, indices: Any, name: Optional[str] = None, batch_dims: int = 0) -> Tensor:
    """The slices of `params` at rows of `indices`."""
    if batch_dims:
        raise NotImplementedError("gather_nd with batch_dims is not supported yet")
    return op("GatherNd")(params, indices, name=name)


def where(condition: Any, x: Any = None, y: Any = None, name: Optional[str] = None) -> Tensor:
    """Where `condition` holds; or, with `x` and `y`, `x` there and `y` elsewhere."""
    if x is None and y is None:
        with name_scope(name, "Where", [condition]) as name:
            return op("Where")(convert_to_tensor(condition, name="condition", dtype_hint=dtypes.bool), name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return op("Select")(condition, x, y, name=name)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: Optional[str] = None,
) -> Tensor:
    """Rows with one element that differs."""
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value, axis]) as name:
        to = None if dtype is None else dtypes.as_dtype(dtype)
        for value in (on_value, off_value):
            if value is not None and to is None:
                to = convert_to_tensor(value).dtype.base_dtype if not isinstance(value, float) else dtypes.float32
        to = to or dtypes.float32
        on = convert_to_tensor(1 if on_value is None and to != dtypes.bool else True if on_value is None else on_value, to, "on_value")
        off = convert_to_tensor(0 if off_value is None and to != dtypes.bool else False if off_value is None else off_value, to, "off_value")
        return op("OneHot")(indices, depth, on, off, axis=-1 if axis is None else axis, name=name)


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", name: Optional[str] = None, constant_values: Any = 0) -> Tensor:
    """The tensor with elements around it."""
    mode = mode.upper()
    if mode == "CONSTANT":
        if not isinstance(constant_values, Tensor) and np.isscalar(constant_values) and constant_values == 0:
            return op("Pad")(tensor, paddings, name=name)
        return op("PadV2")(tensor, paddings, constant_values, name=name)
    if mode in ("REFLECT", "SYMMETRIC"):
        return op("MirrorPad")(tensor, paddings, mode=mode, name=name)
    raise ValueError("Unknown padding mode: %s" % mode)


def slice(input_: Any, begin: Any, size: Any, name: Optional[str] = None) -> Tensor:  # noqa: A001
    """The part from `begin`, of this size."""
    return op("Slice")(input_, begin, size, name=name)


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: Optional[str] = None,
) -> Tensor:
    """The part from `begin` to `end` by `strides`, as Python's slices."""
    if strides is None:
        strides = op("OnesLike")(convert_to_tensor(begin)) if isinstance(begin, Tensor) else [1] * len(begin)
    masks = dict(
        begin_mask=begin_mask, end_mask=end_mask, ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask, shrink_axis_mask=shrink_axis_mask
    )
    return op("StridedSlice")(input_, begin, end, strides, name=name, **masks)


newaxis = None


def _index(value: Any) -> Any:
    if isinstance(value, (int, np.integer, Tensor)) and not isinstance(value, bool):
        if isinstance(value, Tensor) and not (value.dtype.is_integer):
            raise TypeError(
                "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid indices, got %r" % (value,)
            )
        return value
    if isinstance(value, shapes.Dimension):
        return value.value
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iu":
        return int(value)
    if hasattr(value, "_as_tensor"):
        return convert_to_tensor(value)
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid indices, got %r" % (value,)
    )


def _getitem(tensor: Tensor, key: Any, var: Any = None) -> Tensor:
    """`tensor[key]`: one strided slice."""
    if isinstance(key, Tensor) and key.dtype == dtypes.bool or isinstance(key, np.ndarray) and key.dtype == bool:
        return boolean_mask(tensor, key)
    keys = key if isinstance(key, tuple) else (list(key) if isinstance(key, list) else [key])
    begin: List[Any] = []
    end: List[Any] = []
    strides: List[Any] = []
    masks = dict(begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0)
    for i, k in enumerate(keys):
        if isinstance(k, builtins.slice):
            if k.start is not None:
                begin.append(_index(k.start))
            else:
                begin.append(0)
                masks["begin_mask"] |= 1 << i
            if k.stop is not None:
                end.append(_index(k.stop))
            else:
                end.append(0)
                masks["end_mask"] |= 1 << i
            strides.append(1 if k.step is None else _index(k.step))
        elif k is Ellipsis:
            if masks["ellipsis_mask"]:
                raise ValueError("Multiple ellipses in slice spec not allowed")
            begin, end, strides = [*begin, 0], [*end, 0], [*strides, 1]
            masks["ellipsis_mask"] |= 1 << i
        elif k is None:
            begin, end, strides = [*begin, 0], [*end, 0], [*strides, 1]
            masks["new_axis_mask"] |= 1 << i
        else:
            k = _index(k)
            begin, end, strides = [*begin, k], [*end, k + 1], [*strides, 1]
            masks["shrink_axis_mask"] |= 1 << i
    with name_scope(None, "strided_slice", [tensor]) as name:
        if not begin:
            begin = end = strides = np.zeros([0], np.int32)  # type: ignore[assignment]
        elif any(isinstance(v, Tensor) for v in begin + end + strides):
            # All of the widest type among them: an index of 64 bits makes the others so.
            wide = any(isinstance(v, Tensor) and v.dtype.base_dtype == dtypes.int64 for v in begin + end + strides)
            kind = dtypes.int64 if wide else dtypes.int32
            begin, end, strides = (_indices(part, kind) for part in (begin, end, strides))  # type: ignore[assignment]
        else:
            begin, end, strides = (_engine.constant(v, dtypes.int32, "stack") for v in (begin, end, strides))  # type: ignore[assignment]
        taken = op("StridedSlice")(tensor, begin, end, strides, name=name, **masks)
        taken.assign = functools.partial(assign_slice, taken.op, var)
        return taken


def sliced(variable: Any, key: Any) -> Tensor:
    """`variable[key]`, to which `assign` can be said."""
    return _getitem(variable.value(), key, variable)


def assign_slice(node: Any, variable: Any, value: Any, name: Optional[str] = None) -> Any:
    """Changes the slice of the variable that the node takes."""
    if variable is None:
        raise ValueError("Sliced assignment is only supported for variables")
    _, begin, end, strides = node.inputs
    masks = {mask: node.get_attr(mask) for mask in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")}
    return variable._assign_slice(begin, end, strides, value, node.name + "/_assign" if name is None else name, masks)


def _indices(part: List[Any], kind: Any) -> Any:
    if not any(isinstance(v, Tensor) for v in part):
        return _engine.constant(part, kind, "stack")
    return stack([_as_index(v, kind) for v in part])


def _as_index(value: Any, kind: Any) -> Any:
    return cast(value, kind) if isinstance(value, Tensor) and value.dtype.base_dtype != kind and value.dtype.is_integer else value


def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: Any = None) -> Tensor:
    """The slices for which `mask` holds."""
    with name_scope(name, values=[tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        shape_mask, shape_tensor = mask._shape_as_list(), tensor.shape
        if shape_mask is None:
            raise ValueError("Number of mask dimensions must be specified, even if some dimensions are None.  E.g. shape=[None] is ok, but shape=None is not.")
        if not shape_mask:
            raise ValueError("mask cannot be scalar.")
        axis, n = axis or 0, len(shape_mask)
        shape_tensor[axis : axis + n].assert_is_compatible_with(mask.shape)
        leading = op("Prod")(shape(tensor)[axis : axis + n], [0])
        sizes = concat([shape(tensor)[:axis], [leading], shape(tensor)[axis + n :]], 0)
        rows = shape_tensor[axis : axis + n].num_elements()
        known = shape_tensor[:axis].concatenate([rows]).concatenate(shape_tensor[axis + n :])
        tensor = reshape(tensor, sizes)
        tensor.set_shape(known)
        return op("GatherV2")(tensor, squeeze(op("Where")(reshape(mask, [-1])), axis=[1]), axis)


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: Optional[str] = None) -> Tensor:
    """For each length a row that holds as long."""
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            axes = np.arange(len(lengths._shape_as_list() or [0]), dtype=np.int32)
            maxlen = op("Maximum")(op("Max")(lengths, axes), convert_to_tensor(0, lengths.dtype))
        else:
            maxlen = convert_to_tensor(maxlen)
        row = op("Range")(convert_to_tensor(0, maxlen.dtype), maxlen, convert_to_tensor(1, maxlen.dtype))
        matrix = cast(op("ExpandDims")(lengths, -1), maxlen.dtype)
        result = op("Less")(row, matrix)
        return result if dtypes.as_dtype(dtype) == dtypes.bool else cast(result, dtype)


def reverse_sequence(
    input: Any,  # noqa: A002
    seq_lengths: Any,
    seq_axis: Any = None,
    batch_axis: Any = None,
    name: Optional[str] = None,
    seq_dim: Any = None,
    batch_dim: Any = None,
) -> Tensor:
    """Each row with its first `seq_lengths[i]` elements reversed."""
    seq_axis = deprecated(seq_axis, seq_dim, "seq_axis", "seq_dim")
    batch_axis = deprecated(batch_axis, batch_dim, "batch_axis", "batch_dim")
    return op("ReverseSequence")(input, seq_lengths, seq_dim=seq_axis, batch_dim=batch_axis or 0, name=name)


def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = dtypes.float32, name: Optional[str] = None) -> Tensor:
    """The identity matrix."""
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        columns = num_rows if num_columns is None else num_columns
        if isinstance(num_rows, int) and isinstance(columns, int):
            matrix = constant(np.eye(num_rows, columns, dtype=dtypes.as_dtype(dtype).as_numpy_dtype))
        else:
            square = op("Diag")(ones([op("Minimum")(num_rows, columns)], dtype))
            matrix = op("Pad")(square, [[0, num_rows - shape(square)[0]], [0, columns - shape(square)[0]]])
        if batch_shape is None:
            return matrix
        return op("BroadcastTo")(matrix, concat([batch_shape, shape(matrix)], 0))


def meshgrid(*args: Any, **kwargs: Any) -> List[Tensor]:
    """Coordinates of a grid over vectors."""
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError("'{}' is an invalid keyword argument for this function".format(next(iter(kwargs))))
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with name_scope(name, "meshgrid", args):
        n = len(args)
        outputs = []
        for i, x in enumerate(args):
            k = 1 - i if indexing == "xy" and n > 1 and i < 2 else i
            outputs.append(reshape(x, [1] * k + [-1] + [1] * (n - k - 1)))
        total = outputs[0]
        for x in outputs[1:]:
            total = total + x
        return [op("BroadcastTo")(x, op("Shape")(total)) for x in outputs]


def unique(x: Any, out_idx: Any = dtypes.int32, name: Optional[str] = None) -> Any:
    """The elements without repetition, and where each is."""
    return op("Unique")(x, out_idx=out_idx, name=name)


def unique_with_counts(x: Any, out_idx: Any = dtypes.int32, name: Optional[str] = None) -> Any:
    """The elements without repetition, where each is, and how often."""
    return op("UniqueWithCounts")(x, out_idx=out_idx, name=name)


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """The two innermost axes exchanged."""
    a = convert_to_tensor(a, name="a")
    n = len(a._shape_as_list() or [])
    return transpose(a, [*builtins.range(n - 2), n - 1, n - 2], name, conjugate)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> shapes.TensorShape:
    """The shape that both broadcast to."""
    x, y = shapes.TensorShape(shape_x), shapes.TensorShape(shape_y)
    if x.ndims is None or y.ndims is None:
        return shapes.TensorShape(None)
    a: List[Any] = x.as_list()
    b: List[Any] = y.as_list()
    n = max(len(a), len(b))
    a, b = [1] * (n - len(a)) + a, [1] * (n - len(b)) + b
    out = []
    for p, q in zip(a, b):
        if p == q or q == 1:
            out.append(p)
        elif p == 1:
            out.append(q)
        elif p is None or q is None:
            out.append(p or q)
        else:
            raise ValueError("Incompatible shapes for broadcasting: %s and %s" % (x, y))
    return shapes.TensorShape(out)


