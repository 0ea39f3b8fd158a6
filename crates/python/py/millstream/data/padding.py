"""`Dataset.padded_batch`: batches of elements that are padded to one shape."""

from __future__ import annotations

from typing import Any, List

from millstream._engine import Tensor
from millstream.data import structure
from millstream.data.arguments import batched, int64
from millstream.framework import constant, convert_to_tensor, dtypes, shapes
from millstream.framework.constant_values import constant_value
from millstream.framework.op_functions import op
from millstream.framework.type_specs import SparseTensorSpec


def padded_batch(dataset: Any, batch_size: Any, padded_shapes: Any, padding_values: Any, drop_remainder: Any) -> Any:
    """Returns a dataset of padded batches: see `Dataset.padded_batch`."""
    spec = dataset.element_spec
    size = int64(batch_size, "batch_size")
    specs = structure.flatten(spec)
    if any(isinstance(s, SparseTensorSpec) for s in specs):
        raise TypeError("Batching of padded sparse tensors is not currently supported")
    wanted = [_shape(s) for s in structure.flatten_up_to(spec, padded_shapes)]
    for own, (_, shape) in zip(specs, wanted):
        _check(own.shape, shape)
    if padding_values is None:
        values = [None] * len(specs)
    else:
        values = structure.flatten_up_to(spec, padding_values)
    fills = [_fill(value, own.dtype) for value, own in zip(values, specs)]
    drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
    known = constant_value(size) if constant_value(drop) else None
    rows = [shapes.TensorSpec(shape, own.dtype) for own, (_, shape) in zip(specs, wanted)]
    element_spec = structure.pack(spec, [batched(row, known) for row in rows])
    inputs = [tensor for tensor, _ in wanted]
    variant = op("PaddedBatchDatasetV2")(dataset._variant_tensor, size, inputs, fills, drop, structure.flat_shapes(element_spec))
    made = structure.made_of(variant, element_spec)
    made._inputs_list.append(dataset)
    return made


def _shape(value: Any) -> Any:
    """Returns a padded shape as a tensor, and as far as it is known."""
    if isinstance(value, Tensor):
        if value.shape.ndims is not None and value.shape.ndims != 1:
            raise ValueError("Padded shape %s must be a 1-D tensor of tf.int64 values, but its shape was %s." % (value, value.shape))
        if value.dtype != dtypes.int64:
            raise TypeError("Padded shape %s must be a 1-D tensor of tf.int64 values, but its element type was %s." % (value, value.dtype.name))
        known = constant_value(value)
        if known is not None:
            return value, shapes.TensorShape([None if d < 0 else int(d) for d in known])
        return value, shapes.TensorShape([None] * value.shape[0].value) if value.shape.ndims == 1 and value.shape[0].value is not None else shapes.TensorShape(None)
    shape = shapes.as_shape([None if d is None or (isinstance(d, int) and d < 0) else d for d in value] if isinstance(value, (list, tuple)) else value)
    if shape.ndims is None:
        raise ValueError("a padded shape must have a known rank, but is %s" % shape)
    dims: List[int] = [-1 if d is None else d for d in shape.as_list()]
    return constant(dims, dtypes.int64, shape=[len(dims)]), shape


def _check(own: Any, padded: Any) -> None:
    if own.ndims is None or padded.ndims is None:
        return
    if own.ndims != padded.ndims:
        raise ValueError("The padded shape %s is not compatible with the corresponding input component shape %s." % (padded, own))
    for a, b in zip(own.as_list(), padded.as_list()):
        if a is not None and b is not None and b < a:
            raise ValueError("The padded shape %s is not compatible with the corresponding input component shape %s." % (padded, own))


def _fill(value: Any, dtype: Any) -> Any:
    if value is None:
        if dtype == dtypes.string:
            value = ""
        elif dtype == dtypes.bool:
            value = False
        else:
            value = 0
        return constant(value, dtype, name="padding_value")
    fill = convert_to_tensor(value, name="padding_value")
    if fill.shape.ndims not in (0, None):
        raise ValueError("Padding value should be a scalar, but is not: %s" % value)
    if fill.dtype != dtype:
        raise TypeError("Padding value tensor (%s) does not match output type: %s" % (fill, dtype))
    return fill
