"""The helpers of `python.ops.distributions.util`, which check and complete parameters: `NAMES`."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Dict, Optional, Tuple

import numpy as np

from millstream.distributions import special
from millstream.framework import constant, convert_to_tensor, dtypes, get_static_value, name_scope, shapes
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, control_flow, math_ops, reduction_ops, shape_ops

# Dtypes -----------------------------------------------------------------------------------------------------

_UNSIGNED = (dtypes.bool, dtypes.uint8, dtypes.uint16)
_SIGNED = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)


def _is_unsigned(dt: Any) -> bool:
    return dt.base_dtype in _UNSIGNED


def _is_signed(dt: Any) -> bool:
    return dt.base_dtype in _SIGNED


def _is_known(dt: Any) -> bool:
    return _is_unsigned(dt) or _is_signed(dt)


def _is_integer_like(dt: Any) -> bool:
    """Returns whether all values of a known dtype are integers, those of `bool` among them.

    Raises:
      TypeError: The dtype is not known.
    """
    if not _is_known(dt):
        raise TypeError("Unrecognized dtype: {}".format(dt.name))
    return bool(dt.is_integer or dt.base_dtype == dtypes.bool)


def _largest_integer(dt: Any) -> int:
    """Returns the largest integer below which a dtype holds every integer.

    Raises:
      TypeError: The dtype is not known.
    """
    if not _is_known(dt):
        raise TypeError("Unrecognized dtype: {}".format(dt.name))
    if dt.is_floating:
        return int(2 ** (np.finfo(dt.as_numpy_dtype).nmant + 1))
    return int(np.iinfo(dt.as_numpy_dtype).max) if dt.is_integer else 1


def _smallest_integer(dt: Any) -> int:
    """Returns the least integer above which a dtype holds every integer.

    Raises:
      TypeError: The dtype is not known.
    """
    if not _is_known(dt):
        raise TypeError("Unrecognized dtype: {}".format(dt.name))
    return 0 if _is_unsigned(dt) else -_largest_integer(dt)


# Checks -----------------------------------------------------------------------------------------------------


def assert_integer_form(
    x: Any, data: Any = None, summarize: Any = None, message: Optional[str] = None, int_dtype: Any = None, name: str = "assert_integer_form"
) -> Any:
    """Returns an operation that fails if a floating-point tensor holds a number that is not an integer.

    Raises:
      TypeError: The dtype has no integers of its size.
    """
    with name_scope(name, values=[x, data]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_integer:
            return control_flow.no_op()
        if int_dtype is None:
            sizes = {dtypes.float16: dtypes.int16, dtypes.float32: dtypes.int32, dtypes.float64: dtypes.int64}
            if x.dtype.base_dtype not in sizes:
                raise TypeError("Unrecognized type {}".format(x.dtype.name))
            int_dtype = sizes[x.dtype.base_dtype]
        message = message or "{} has non-integer components".format(x)
        rounded = math_ops.cast(math_ops.cast(x, int_dtype), x.dtype)
        return check_ops.assert_equal(x, rounded, data=data, summarize=summarize, message=message, name=name)


def assert_symmetric(matrix: Any) -> Any:
    """Returns a matrix that fails where it is not its transpose."""
    return control_flow.with_dependencies([check_ops.assert_equal(matrix, array_ops.matrix_transpose(matrix))], matrix)


def embed_check_nonnegative_integer_form(x: Any, name: str = "embed_check_nonnegative_integer_form") -> Any:
    """Returns a tensor that fails where it holds anything but integers from zero up."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        checks = [check_ops.assert_non_negative(x, message="'{}' must be non-negative.".format(x))]
        if not x.dtype.is_integer:
            checks.append(assert_integer_form(x, message="'{}' cannot contain fractional components.".format(x)))
        return control_flow.with_dependencies(checks, x)


_TOO_FLAT = "A categorical-distribution parameter must have at least 1 dimension."
_TOO_FEW = "A categorical-distribution parameter must have at least 2 events."


def embed_check_categorical_event_shape(categorical_param: Any, name: str = "embed_check_categorical_event_shape") -> Any:
    """Returns the parameter of a categorical distribution, which fails if its last axis has a wrong length.

    Raises:
      TypeError: The dtype is not a floating-point one.
      ValueError: The static shape shows that the axis is too short or too long.
    """
    with name_scope(name, values=[categorical_param]):
        x = convert_to_tensor(categorical_param, name="categorical_param")
        kind = x.dtype.base_dtype
        largest = _largest_integer(kind) if kind.is_floating else 0
        if largest == 0:
            raise TypeError("Unable to validate size of unrecognized dtype ({}).".format(kind.name))
        if x.get_shape().ndims == 0:
            raise ValueError(_TOO_FLAT)
        n: Any = shapes.dimension_value(x.get_shape()[-1]) if x.get_shape().ndims is not None else None
        if n is None:
            n = array_ops.shape(x, name="x_shape")[-1]
            too_long = "Number of classes exceeds `dtype` precision, i.e., {} dtype cannot exceed {} shape.".format(kind.name, largest)
            checks = [
                check_ops.assert_rank_at_least(x, 1, message=_TOO_FLAT),
                check_ops.assert_greater_equal(array_ops.shape(x)[-1], 2, message=_TOO_FEW),
                check_ops.assert_less_equal(n, constant(min(largest, 2**31 - 1)), message=too_long),
            ]
            return control_flow.with_dependencies(checks, x)
        if n < 2:
            raise ValueError(_TOO_FEW)
        if n > largest:
            raise ValueError(
                "Number of classes exceeds `dtype` precision, i.e., {} implies shape ({}) cannot exceed {}.".format(kind.name, n, largest)
            )
        return x


def embed_check_integer_casting_closed(
    x: Any, target_dtype: Any, assert_nonnegative: bool = True, name: str = "embed_check_casting_closed"
) -> Any:
    """Returns a tensor that fails where a cast to another dtype and back would change it.

    Raises:
      TypeError: A dtype is not one of numbers, or neither holds integers alone.
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if not _is_integer_like(x.dtype) and not x.dtype.is_floating:
            raise TypeError("{}.dtype must be floating- or integer-type.".format(x.dtype.name))
        if not _is_integer_like(target_dtype) and not target_dtype.is_floating:
            raise TypeError("Target dtype must be floating- or integer-type.")
        if not _is_integer_like(x.dtype) and not _is_integer_like(target_dtype):
            raise TypeError("At least one of {}.dtype ({}) and target_dtype ({}) must be integer-type.".format(x, x.dtype.name, target_dtype.name))
        checks = []
        if assert_nonnegative:
            checks.append(check_ops.assert_non_negative(x, message="Elements must be non-negative."))
        if x.dtype.is_floating:
            words = "Elements must be {}-equivalent.".format(target_dtype.name)
            checks.append(assert_integer_form(x, int_dtype=target_dtype, message=words))
        else:
            if _largest_integer(x.dtype) > _largest_integer(target_dtype):
                most = _largest_integer(target_dtype)
                checks.append(check_ops.assert_less_equal(x, most, message="Elements cannot exceed {}.".format(most)))
            if not assert_nonnegative and _smallest_integer(x.dtype) < _smallest_integer(target_dtype):
                least = _smallest_integer(target_dtype)
                words = "Elements cannot be smaller than {}.".format(least)
                checks.append(check_ops.assert_greater_equal(x, least, message=words))
        return control_flow.with_dependencies(checks, x)


# Values -----------------------------------------------------------------------------------------------------


def same_dynamic_shape(a: Any, b: Any) -> Any:
    """Returns a tensor that says whether two tensors have the same shape."""
    a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")

    def equal() -> Any:
        mine, other = array_ops.shape(a), array_ops.shape(b)
        return reduction_ops.reduce_all(math_ops.equal(array_ops.concat([mine, other], 0), array_ops.concat([other, mine], 0)))

    return control_flow.cond(math_ops.equal(array_ops.rank(a), array_ops.rank(b)), equal, lambda: constant(False))


def maybe_get_static_value(x: Any, dtype: Any = None) -> Any:
    """Returns the value of a tensor if it is known, else None; other values as they are, or as an array."""
    if x is None:
        return x
    known = get_static_value(x) if hasattr(x, "op") else x
    return known if known is None or dtype is None else np.array(known, dtype)


def prefer_static_value(x: Any) -> Any:
    """Returns the value of a tensor if it is known, else the tensor."""
    known = get_static_value(x)
    return x if known is None else known


def prefer_static_rank(x: Any) -> Any:
    """Returns the rank of a tensor as a number if it is known, else as a tensor."""
    return prefer_static_value(array_ops.rank(x))


def prefer_static_shape(x: Any) -> Any:
    """Returns the shape of a tensor as an array if it is known, else as a tensor."""
    return prefer_static_value(array_ops.shape(x))


def prefer_static_broadcast_shape(shape1: Any, shape2: Any, name: str = "prefer_static_broadcast_shape") -> Any:
    """Returns the shape to which two shapes broadcast: a `TensorShape` if both are known, else a tensor.

    Raises:
      ValueError: One is a `TensorShape` with unknown sizes, and the other is not known.
    """
    with name_scope(name, values=[shape1, shape2]):

        def known(s: Any) -> Any:
            if isinstance(s, shapes.TensorShape):
                return s
            value = get_static_value(convert_to_tensor(s, name="shape", dtype=dtypes.int32))
            return None if value is None else shapes.TensorShape(value)

        def dynamic(s: Any) -> Any:
            if isinstance(s, shapes.TensorShape):
                if not s.is_fully_defined():
                    raise ValueError("Cannot broadcast from partially defined `TensorShape`.")
                s = s.as_list()
            return convert_to_tensor(s, name="shape", dtype=dtypes.int32)

        a, b = known(shape1), known(shape2)
        if a is not None and b is not None:
            return array_ops.broadcast_static_shape(a, b)
        return shape_ops.broadcast_dynamic_shape(dynamic(shape1), dynamic(shape2))


def get_logits_and_probs(
    logits: Any = None,
    probs: Any = None,
    multidimensional: bool = False,
    validate_args: bool = False,
    name: str = "get_logits_and_probs",
    dtype: Any = None,
) -> Tuple[Any, Any]:
    """Returns logits and probabilities, of which one is given.

    Raises:
      ValueError: Both are given, or neither.
      TypeError: What is given has no floating-point dtype.
    """
    with name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            logits = convert_to_tensor(logits, name="logits", dtype=dtype)
            if not logits.dtype.is_floating:
                raise TypeError("logits must having floating type.")
            if not multidimensional:
                return logits, math_ops.sigmoid(logits, name="probs")
            if validate_args:
                logits = embed_check_categorical_event_shape(logits)
            return logits, op("Softmax")(logits, name="probs")
        probs = convert_to_tensor(probs, name="probs", dtype=dtype)
        if not probs.dtype.is_floating:
            raise TypeError("probs must having floating type.")
        if validate_args:
            with name_scope("validate_probs"):
                one = constant(1.0, probs.dtype)
                checks = [check_ops.assert_non_negative(probs)]
                if multidimensional:
                    probs = embed_check_categorical_event_shape(probs)
                    total = reduction_ops.reduce_sum(probs, -1)
                    checks.append(check_ops.assert_near(total, one, message="probs does not sum to 1."))
                else:
                    checks.append(check_ops.assert_less_equal(probs, one, message="probs has components greater than 1."))
                probs = control_flow.with_dependencies(checks, probs)
        with name_scope("logits"):
            if multidimensional:
                return op("Log")(probs), probs
            return op("Log")(probs) - op("Log1p")(-1.0 * probs), probs


def log_combinations(n: Any, counts: Any, name: str = "log_combinations") -> Any:
    """Returns the logarithm of the number of ways to divide `n` objects into groups of these counts."""
    with name_scope(name, values=[n, counts]):
        n, counts = convert_to_tensor(n, name="n"), convert_to_tensor(counts, name="counts")
        return op("Lgamma")(n + 1) - reduction_ops.reduce_sum(op("Lgamma")(counts + 1), axis=[-1])


def rotate_transpose(x: Any, shift: Any, name: str = "rotate_transpose") -> Any:
    """Returns a tensor with its axes moved `shift` places to the right, the last ones to the front."""
    with name_scope(name, values=[x, shift]):
        x, shift = convert_to_tensor(x, name="x"), convert_to_tensor(shift, name="shift")
        check_ops.assert_integer(shift)
        by, rank = get_static_value(shift), x.get_shape().ndims
        if by is not None and rank is not None:
            if rank < 2 or abs(int(by)) % rank == 0:
                return x
            return array_ops.transpose(x, perm=np.roll(np.arange(rank), int(np.sign(by) * (abs(by) % rank))))
        n = array_ops.rank(x)
        start = op("Select")(op("Less")(shift, 0), -shift % n, n - shift % n)
        return array_ops.transpose(x, perm=array_ops.concat([math_ops.range(start, n), math_ops.range(0, start)], 0))


def pick_vector(cond: Any, true_vector: Any, false_vector: Any, name: str = "pick_vector") -> Any:
    """Returns one of two vectors, which may differ in length.

    Raises:
      TypeError: The condition is not of `bool`, or the vectors have different dtypes.
    """
    with name_scope(name, values=(cond, true_vector, false_vector)):
        cond = convert_to_tensor(cond, name="cond")
        if cond.dtype != dtypes.bool:
            raise TypeError("%s.dtype=%s which is not %s" % (cond, cond.dtype, dtypes.bool))
        known = get_static_value(cond)
        if known is not None:
            return true_vector if known else false_vector
        yes, no = convert_to_tensor(true_vector, name="true_vector"), convert_to_tensor(false_vector, name="false_vector")
        if yes.dtype != no.dtype:
            raise TypeError("%s.dtype=%s does not match %s.dtype=%s" % (yes, yes.dtype, no, no.dtype))
        n = array_ops.shape(yes)[0]
        return op("Slice")(array_ops.concat([yes, no], 0), [op("Select")(cond, 0, n)], [op("Select")(cond, n, -1)])


def dimension_size(x: Any, axis: int) -> Any:
    """Returns the size of an axis as a number if it is known, else as a tensor."""
    known = shapes.dimension_value(x.shape.with_rank_at_least(abs(axis))[axis])
    return array_ops.shape(x)[axis] if known is None else known


def pad(x: Any, axis: Any, front: bool = False, back: bool = False, value: Any = 0, count: Any = 1, name: Optional[str] = None) -> Any:
    """Returns a tensor with `count` values added at the front or the back of an axis.

    Raises:
      ValueError: Neither end is asked for.
    """
    with name_scope(name, "pad", [x, value, count]):
        x = convert_to_tensor(x, name="x")
        value = convert_to_tensor(value, dtype=x.dtype, name="value")
        count = convert_to_tensor(count, name="count")
        if not front and not back:
            raise ValueError("At least one of `front`, `back` must be `True`.")
        rank = x.shape.ndims if x.shape.ndims is not None else array_ops.rank(x, name="ndims")
        axis = convert_to_tensor(axis, name="axis")
        known, times, shape = get_static_value(axis), get_static_value(count), None
        if known is None:
            axis = op("Select")(op("Less")(axis, 0), rank + axis, axis)
        else:
            axis = int(known) + (rank if known < 0 else 0)
            if known >= 0 or x.shape.ndims is not None:
                size = x.shape[axis].value if x.shape.ndims is not None else None
                size = None if times is None or size is None else size + int(times) * (front + back)
                shape = x.shape[:axis].concatenate([size]).concatenate(x.shape[axis + 1 :])
        ends = array_ops.stack([axis if front else -1, axis if back else -1])
        padded = array_ops.pad(x, array_ops.one_hot(ends, depth=rank, axis=0, on_value=count, dtype=dtypes.int32), constant_values=value)
        if shape is not None:
            padded.set_shape(shape)
        return padded


def process_quadrature_grid_and_probs(quadrature_grid_and_probs: Any, dtype: Any, validate_args: bool, name: Optional[str] = None) -> Tuple[Any, Any]:
    """Returns the points and weights of a quadrature; the weights sum to 1. By default: Gauss-Hermite, eight.

    Raises:
      ValueError: There is a weight for each of another number of points.
    """
    with name_scope(name, "process_quadrature_grid_and_probs", [quadrature_grid_and_probs]):
        if quadrature_grid_and_probs is None:
            points, weights = (a.astype(dtype.as_numpy_dtype) for a in np.polynomial.hermite.hermgauss(deg=8))
            weights = weights / np.abs(weights).sum()
            return convert_to_tensor(points, name="grid", dtype=dtype), convert_to_tensor(weights, name="probs", dtype=dtype)
        grid, probs = tuple(quadrature_grid_and_probs)
        grid = convert_to_tensor(grid, name="grid", dtype=dtype)
        probs = convert_to_tensor(probs, name="unnormalized_probs", dtype=dtype)
        probs = probs / reduction_ops.reduce_sum(op("Abs")(probs), axis=-1, keepdims=True)
        words = "`quadrature_grid_and_probs` must be a `tuple` of same-length zero-th-dimension `Tensor`s"
        m, n = (shapes.dimension_value(x.shape.with_rank_at_least(1)[-1]) for x in (probs, grid))
        if m is not None and n is not None and m != n:
            raise ValueError(words + " (saw lengths {}, {})".format(m, n))
        if validate_args:
            checks = [check_ops.assert_equal(dimension_size(probs, -1), dimension_size(grid, -1), message=words)]
            grid, probs = (control_flow.with_dependencies(checks, x) for x in (grid, probs))
        return grid, probs


def erfinv(x: Any, name: str = "erfinv") -> Any:
    """Returns the inverse of the error function.

    Raises:
      TypeError: The argument is neither of `float32` nor of `float64`.
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.as_numpy_dtype not in (np.float32, np.float64):
            raise TypeError("x.dtype=%s is not handled, see docstring for supported types." % x.dtype)
        return special.ndtri((x + 1.0) / 2.0) / np.sqrt(2)


# Functions and their texts ----------------------------------------------------------------------------------


def parent_frame_arguments() -> Dict[str, Any]:
    """Returns the arguments of the function that calls this one, by name."""
    names, rest, keywords, values = inspect.getargvalues(inspect.stack()[1][0])
    found = {name: values[name] for name in names}
    found.update(values[keywords] if keywords else {})
    return found


class AppendDocstring:
    """A decorator of a function that adds a note to its docstring.

    Args:
      additional_note: The note.
      kwargs_dict: The descriptions of further arguments, by name.

    Raises:
      ValueError: A name has a space, or a description has several lines.
    """

    def __init__(self, additional_note: str = "", kwargs_dict: Optional[Dict[str, str]] = None) -> None:
        self._additional_note = additional_note
        lines = []
        for key, value in sorted((kwargs_dict or {}).items()):
            if any(c.isspace() for c in key):
                raise ValueError('Parameter name "%s" contains whitespace.' % key)
            if "\n" in value.lstrip():
                raise ValueError('Parameter description for "%s" contains newlines.' % key)
            lines.append("*  `%s`: %s" % (key, value.lstrip()))
        if lines:
            self._additional_note += "\n\n##### `kwargs`:\n\n" + "\n".join(lines)

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the function, with the note."""

        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            return fn(*args, **kwargs)

        call.__doc__ = self._additional_note if call.__doc__ is None else call.__doc__ + "\n%s" % self._additional_note
        return call


NAMES: Dict[str, Dict[str, Any]] = {
    "python.ops.distributions.special_math": {"erfinv": erfinv},
    "python.ops.distributions.util": {
        "AppendDocstring": AppendDocstring,
        "_is_integer_like_by_dtype": _is_integer_like,
        "_is_known_dtype": _is_known,
        "_is_known_signed_by_dtype": _is_signed,
        "_is_known_unsigned_by_dtype": _is_unsigned,
        "_largest_integer_by_dtype": _largest_integer,
        "_smallest_integer_by_dtype": _smallest_integer,
        "assert_integer_form": assert_integer_form,
        "assert_symmetric": assert_symmetric,
        "dimension_size": dimension_size,
        "embed_check_categorical_event_shape": embed_check_categorical_event_shape,
        "embed_check_integer_casting_closed": embed_check_integer_casting_closed,
        "embed_check_nonnegative_integer_form": embed_check_nonnegative_integer_form,
        "gen_new_seed": special.salted,
        "get_logits_and_probs": get_logits_and_probs,
        "log_combinations": log_combinations,
        "maybe_get_static_value": maybe_get_static_value,
        "pad": pad,
        "parent_frame_arguments": parent_frame_arguments,
        "pick_vector": pick_vector,
        "prefer_static_broadcast_shape": prefer_static_broadcast_shape,
        "prefer_static_rank": prefer_static_rank,
        "prefer_static_shape": prefer_static_shape,
        "prefer_static_value": prefer_static_value,
        "process_quadrature_grid_and_probs": process_quadrature_grid_and_probs,
        "rotate_transpose": rotate_transpose,
        "same_dynamic_shape": same_dynamic_shape,
    },
}
