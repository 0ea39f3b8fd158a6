"""Operators as NumPy has them, in the code of functions that are traced.

Only the code of the user gets them: the package itself is written with the operators of TensorFlow 1.
"""

from __future__ import annotations

import os
from typing import Any, List, Tuple

import numpy as np

from millstream._engine import Tensor
from millstream.framework import dtypes, traced
from millstream.framework.op_functions import op
from millstream.func import numpy as fnp, tracing
from millstream.ops import array_ops, indexing_ops

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def _of_user(frame: Any) -> bool:
    return tracing.is_active() and not frame.f_code.co_filename.startswith(_PACKAGE)


def _operate(what: str, x: Tensor, y: Any, reverse: bool, frame: Any) -> Any:
    """Divides integers as `func.numpy` does, and multiplies matrices by vectors."""
    if not _of_user(frame):
        return NotImplemented
    if what == "truediv" and x.dtype.is_integer and not (isinstance(y, (float, complex)) or getattr(y, "dtype", None) is not None and not _integers(y)):
        return fnp.divide(y, x) if reverse else fnp.divide(x, y)
    if what == "matmul":
        ranks = (x.shape.ndims, y.shape.ndims if isinstance(y, Tensor) else np.ndim(y))
        if 1 in ranks and None not in ranks:
            return fnp.matmul(y, x) if reverse else fnp.matmul(x, y)
    return NotImplemented


def _integers(value: Any) -> bool:
    """Returns whether a tensor or an array holds integers."""
    return value.dtype.is_integer if isinstance(value, Tensor) else np.issubdtype(value.dtype, np.integer)


def _is_array(key: Any) -> bool:
    """Returns whether an index is an array of integers."""
    if isinstance(key, Tensor):
        return key.dtype.is_integer and bool(key.shape.ndims)
    if isinstance(key, list):
        return bool(key) and all(_is_number(k) or isinstance(k, list) and _is_array(k) for k in key)
    return isinstance(key, np.ndarray) and key.ndim > 0 and np.issubdtype(key.dtype, np.integer)


def _is_number(key: Any) -> bool:
    return isinstance(key, (int, np.integer)) and not isinstance(key, bool)


def _index(tensor: Tensor, key: Any, frame: Any) -> Any:
    """Takes elements at arrays of indices."""
    keys: Tuple[Any, ...] = key if isinstance(key, tuple) else (key,)
    places = [i for i, k in enumerate(keys) if _is_array(k)]
    if not places or not _of_user(frame):
        return NotImplemented
    if len(places) == 1 and all(isinstance(k, slice) or k is Ellipsis for i, k in enumerate(keys) if i != places[0]):
        at = places[0]
        if any(k is Ellipsis for k in keys[:at]):
            axis = at - len(keys)
            if axis != -1 and any(k is Ellipsis for k in keys[at:]):
                return NotImplemented
        else:
            axis = at
        rest = tuple(slice(None) if i == at else k for i, k in enumerate(keys))
        source = tensor if all(k == slice(None) for k in rest) else tensor[rest]
        return indexing_ops.gather(source, _positive(keys[at], array_ops.shape(source)[axis]), axis=axis)
    leading = len(keys)
    while leading and isinstance(keys[leading - 1], slice) and keys[leading - 1] == slice(None):
        leading -= 1
    if all(_is_array(k) or _is_number(k) or isinstance(k, Tensor) and k.dtype.is_integer for k in keys[:leading]):
        sizes = array_ops.shape(tensor)
        rows: List[Any] = [fnp.astype(_positive(k, sizes[i]), dtypes.int64) for i, k in enumerate(keys[:leading])]
        return op("GatherNd")(tensor, fnp.stack(fnp.broadcast_arrays(*rows), -1))
    raise TypeError("an index with arrays of integers beside slices or new axes is not supported: index in steps, or use `tf.gather` and `tf.gather_nd`")


def _positive(key: Any, size: Tensor) -> Tensor:
    """Returns indices of which negative ones are counted from the end."""
    if not isinstance(key, Tensor):
        array = np.asarray(key)
        if (0 <= array).all():
            return fnp.asarray(array.astype(np.int32))
        key = fnp.asarray(array.astype(np.int32))
    return fnp.where(key < 0, key + fnp.astype(size, key.dtype.base_dtype), key)


traced.operators.append(_operate)
traced.indexing.append(_index)
