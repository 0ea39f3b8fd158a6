"""Assertions, checked at once where values are known and else when run; and properties of tensors."""

from __future__ import annotations

import collections.abc
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from millstream._engine import Operation, Tensor
from millstream.framework import (
    SparseTensor,
    constant_value,
    control_dependencies,
    convert_to_tensor,
    dtypes,
    errors,
    get_default_graph,
    name_scope,
    value_to_check,
)
from millstream.framework.deprecation import renamed
from millstream.framework.op_functions import op
from millstream.ops import array_ops, math_ops, reduction_ops
from millstream.ops.control_flow import assert_, cond, group, no_op, with_dependencies

__all__ = [
    "add_check_numerics_ops",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_integer",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_proper_iterable",
    "assert_rank",
    "assert_rank_at_least",
    "assert_rank_in",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_type",
    "is_non_decreasing",
    "is_numeric_tensor",
    "is_strictly_increasing",
    "verify_tensor_all_finite",
]


def _invalid(text: str) -> Exception:
    return errors.InvalidArgumentError(None, None, text)


# Values.

_NUMPY = {"Equal": "equal", "NotEqual": "not_equal", "Less": "less", "LessEqual": "less_equal", "Greater": "greater", "GreaterEqual": "greater_equal"}


def _known_to_fail(op_name: str, x: Tensor, y: Tensor) -> bool:
    a, b = value_to_check(x), value_to_check(y)
    return a is not None and b is not None and not np.all(getattr(np, _NUMPY[op_name])(a, b))


_COMPARED = """Asserts that `x {sign} y` for all elements.

Make operations depend on the assertion: `with tf.control_dependencies([..])`.

Args:
  x: A tensor of numbers.
  y: A tensor of the same dtype, whose shape broadcasts with that of `x`.
  data: A list of tensors to show in the message; by default both.
  summarize: The number of elements of each tensor to show; by default 3.
  message: The prefix of the error message.
  name: The name scope of the new operations.

Returns:
  An `Operation`.

Raises:
  tf.errors.InvalidArgumentError: The assertion fails: at once if that is known, otherwise when run.

Example:
  >>> check = tf.{name}([1, 2], {ok})
  >>> tf.{name}([1, 2], {bad})
  Traceback (most recent call last):
    ...
  millstream.errors.InvalidArgumentError: Condition x {sign} y did not hold element-wise:
  ...
"""


def _comparison(op_name: str, called: str, sign: str) -> Any:
    def function(x: Any, y: Any, data: Any = None, summarize: Optional[int] = None, message: Optional[str] = None, name: Optional[str] = None) -> Operation:
        if called == "assert_equal":
            # A scope of its own, as in TensorFlow: checks that are not trivial are in the next scope,
            # `assert_equal_1`.
            with name_scope(name, called, [x, y, data]):
                if x is y:
                    return no_op()
        with name_scope(name, called, [x, y, data]):
            x = convert_to_tensor(x, name="x")
            y = convert_to_tensor(y, x.dtype.base_dtype, "y")
            says = "Condition x %s y did not hold element-wise:" % sign
            holds = reduction_ops.reduce_all(op(op_name)(x, y))
            if data is None:
                data = ([message] if message else []) + [says, "x (%s) = " % x.name, x, "y (%s) = " % y.name, y]
                if _known_to_fail(op_name, x, y):
                    known = constant_value(x), constant_value(y)
                    raise _invalid("%s%s\nx (%s) = \n%s\ny (%s) = \n%s" % (message + "\n" if message else "", says, x.name, known[0], y.name, known[1]))
            else:
                data = ([] if message is None else [message]) + list(data)
                if _known_to_fail(op_name, x, y):
                    raise _invalid("\n".join(str(_shown(d)) for d in data))
            return assert_(holds, data, summarize)

    function.__name__ = function.__qualname__ = called
    ok, bad = {"==": ("[1, 2]", "[1, 3]"), "!=": ("[3, 3]", "[1, 3]"), "<": ("[2, 3]", "[1, 3]"), "<=": ("[1, 3]", "[0, 3]")}.get(sign, ("[1, 1]", "[1, 3]"))
    ok = "[0, 1]" if sign == ">" else ok
    function.__doc__ = _COMPARED.format(sign=sign, name=called, ok=ok, bad=bad)
    return function


def _shown(item: Any) -> Any:
    known = constant_value(item)
    return item if known is None else known


assert_equal = _comparison("Equal", "assert_equal", "==")
assert_none_equal = _comparison("NotEqual", "assert_none_equal", "!=")
assert_less = _comparison("Less", "assert_less", "<")
assert_less_equal = _comparison("LessEqual", "assert_less_equal", "<=")
assert_greater = _comparison("Greater", "assert_greater", ">")
assert_greater_equal = _comparison("GreaterEqual", "assert_greater_equal", ">=")


_SIGNED = """Asserts that `x {sign} 0` for all elements.

Args:
  x: A tensor of numbers.
  data: A list of tensors to show in the message; by default `x`.
  summarize: The number of elements of each tensor to show; by default 3.
  message: The prefix of the error message.
  name: The name scope of the new operations.

Returns:
  An `Operation`.

Raises:
  tf.errors.InvalidArgumentError: The assertion fails: at once if that is known, otherwise when run.

Example:
  >>> check = tf.{name}([{ok}])
  >>> try:
  ...     tf.{name}([{bad}])
  ... except tf.errors.InvalidArgumentError:
  ...     print("not so")
  not so
"""


def _signed(compare: Any, called: str, sign: str, zero_first: bool) -> Any:
    def function(x: Any, data: Any = None, summarize: Optional[int] = None, message: Optional[str] = None, name: Optional[str] = None) -> Operation:
        with name_scope(name, called, [x, data]):
            x = convert_to_tensor(x, name="x")
            if data is None:
                says, of = "Condition x %s 0 did not hold element-wise:" % sign, "x (%s) = " % x.name
                # TensorFlow's message lacks a comma here, and programs match its text.
                data = [message or "", says + of, x] if sign == "<=" else [message or "", says, of, x]
            zero = convert_to_tensor(0, x.dtype)
            return compare(zero, x, data, summarize) if zero_first else compare(x, zero, data, summarize)

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _SIGNED.format(sign=sign, name=called, ok={">": 1, "<": -1}.get(sign, 0), bad=-1 if ">" in sign else 1)
    return function


assert_positive = _signed(assert_less, "assert_positive", ">", True)
assert_non_negative = _signed(assert_less_equal, "assert_non_negative", ">=", True)
assert_negative = _signed(assert_less, "assert_negative", "<", False)
assert_non_positive = _signed(assert_less_equal, "assert_non_positive", "<=", False)


def assert_near(
    x: Any, y: Any, rtol: Any = None, atol: Any = None, data: Any = None, summarize: Optional[int] = None, message: Optional[str] = None, name: Optional[str] = None
) -> Operation:
    """Asserts that `|x - y| < atol + rtol * |y|` for all elements.

    Args:
      x: A tensor of numbers.
      y: A tensor of the same dtype, whose shape broadcasts with that of `x`.
      rtol: The relative tolerance; by default ten times the epsilon of the dtype.
      atol: The absolute tolerance; by default ten times the epsilon of the dtype.
      data: A list of tensors to show in the message.
      summarize: The number of elements of each tensor to show; by default 3.
      message: The prefix of the error message.
      name: The name scope of the new operations.

    Returns:
      An `Operation`.

    Raises:
      tf.errors.InvalidArgumentError: When run: the assertion fails.

    Example:
      >>> tf.Session().run(tf.debugging.assert_near([1.0], [1.0001], rtol=0.01))
    """
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, x.dtype.base_dtype, "y")
        eps = np.finfo(x.dtype.real_dtype.as_numpy_dtype).eps
        rtol = convert_to_tensor(10 * eps if rtol is None else rtol, x.dtype.real_dtype, "rtol")
        atol = convert_to_tensor(10 * eps if atol is None else atol, x.dtype.real_dtype, "atol")
        if data is None:
            said = "x and y not equal to tolerance rtol = %s, atol = %s" % (rtol, atol)
            data = [message or "", said, "x (%s) = " % x.name, x, "y (%s) = " % y.name, y]
        limit = atol + rtol * op("Abs")(y)
        return assert_(reduction_ops.reduce_all(op("Less")(math_ops.abs(x - y), limit)), data, summarize)


def verify_tensor_all_finite(t: Any = None, msg: Any = None, name: Optional[str] = None, x: Any = None, message: Any = None) -> Tensor:
    """Returns `t`, with a check that it holds neither NaN nor infinity.

    Args:
      t: A tensor of floats.
      msg: The prefix of the error message.
      name: A name for the operation.
      x: The later name of `t`.
      message: The later name of `msg`.

    Returns:
      A tensor of the same value.

    Raises:
      tf.errors.InvalidArgumentError: When run: `t` holds NaN or infinity.

    Example:
      >>> print(tf.Session().run(tf.verify_tensor_all_finite([1.0, 2.0], "x is bad")))
      [1. 2.]
    """
    t, msg = renamed(x, t, "x", "t"), renamed(message, msg, "message", "msg")
    with name_scope(name, "VerifyFinite", [t]):
        t = convert_to_tensor(t, name="t")
        return with_dependencies([op("CheckNumerics")(t, message=msg)], t)


def _steps(x: Tensor) -> Tensor:
    """Returns the differences of neighbouring elements in row-major order."""
    flat = array_ops.reshape(x, [-1])
    if not is_numeric_tensor(flat):
        raise TypeError("Expected x to be numeric, instead found: %s" % flat)
    return flat[1:] - flat[:-1]


def is_non_decreasing(x: Any, name: Optional[str] = None) -> Tensor:
    """Returns whether no element is less than the one before it in row-major order.

    Args:
      x: A tensor of numbers.
      name: The name scope of the new operations.

    Returns:
      A boolean scalar.

    Example:
      >>> print(*tf.Session().run([tf.is_non_decreasing([1, 1, 2]), tf.is_non_decreasing([2, 1])]))
      True False
    """
    with name_scope(name, "is_non_decreasing", [x]):
        steps = _steps(convert_to_tensor(x, name="x"))
        return reduction_ops.reduce_all(op("LessEqual")(convert_to_tensor(0, steps.dtype), steps))


def is_strictly_increasing(x: Any, name: Optional[str] = None) -> Tensor:
    """Returns whether each element is greater than the one before it in row-major order.

    Args:
      x: A tensor of numbers.
      name: The name scope of the new operations.

    Returns:
      A boolean scalar.

    Example:
      >>> print(*tf.Session().run([tf.is_strictly_increasing([1, 1, 2]), tf.is_strictly_increasing([1, 2])]))
      False True
    """
    with name_scope(name, "is_strictly_increasing", [x]):
        steps = _steps(convert_to_tensor(x, name="x"))
        return reduction_ops.reduce_all(op("Less")(convert_to_tensor(0, steps.dtype), steps))


# Ranks and shapes.


def _rank(rank: Any, what: str = "Rank must be a scalar.") -> Tensor:
    if isinstance(rank, (float, np.floating)):
        raise TypeError("  assert_rank/rank:0 must be of type <dtype: 'int32'>: the rank is %r" % rank)
    rank = convert_to_tensor(rank, name="rank")
    if rank.dtype != dtypes.int32:
        raise TypeError("  %s must be of type <dtype: 'int32'>, but is of type %s" % (rank.name, rank.dtype))
    if rank.shape.ndims not in (None, 0):
        raise ValueError(what)
    return rank


_RANKED = """Asserts that `x` has rank {words}`rank`.

Args:
  x: A tensor.
  rank: An int, or an `int32` scalar tensor.
  data: A list of tensors to show in the message.
  summarize: The number of elements of each tensor to show; by default 3.
  message: The prefix of the error message.
  name: The name scope of the new operations.

Returns:
  An `Operation`.

Raises:
  ValueError: The assertion is known to fail.
  tf.errors.InvalidArgumentError: When run: the assertion fails.

Example:
  >>> check = tf.{name}([[1, 2]], 2)
  >>> tf.{name}([[1, 2]], 3)
  Traceback (most recent call last):
    ...
  ValueError: .  Tensor ... must have rank {words}3.  Received rank 2, shape (1, 2)
"""


def _with_rank(called: str, op_name: str, words: str, holds: Any) -> Any:
    def function(x: Any, rank: Any, data: Any = None, summarize: Optional[int] = None, message: Optional[str] = None, name: Optional[str] = None) -> Operation:
        with name_scope(name, called, [x, rank] + list(data or [])):
            x = x if isinstance(x, SparseTensor) else convert_to_tensor(x, name="x")
            rank = _rank(rank)
            known = constant_value(rank)
            if known is not None:
                if x.get_shape().ndims is not None:
                    if not holds(x.get_shape().ndims, int(known)):
                        raise ValueError(
                            "%s.  Tensor %s must have rank %s%d.  Received rank %d, shape %s"
                            % (message or "", x.name, words, known, x.get_shape().ndims, x.get_shape())
                        )
                    return no_op(name="static_checks_determined_all_ok")
            if data is None:
                data = [message or "", "Tensor %s must have rank%s" % (x.name, words and " " + words.strip()), rank, "Received shape: ", array_ops.shape(x)]
            fits = op(op_name)(array_ops.rank(x), rank)
            if known is None:
                fits = with_dependencies([assert_rank(rank, 0, ["Rank must be a scalar. Received rank: ", rank])], fits)
            return assert_(fits, data, summarize)

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _RANKED.format(words=words, name=called)
    return function


assert_rank = _with_rank("assert_rank", "Equal", "", lambda a, b: a == b)
assert_rank_at_least = _with_rank("assert_rank_at_least", "GreaterEqual", "at least ", lambda a, b: b <= a)


def assert_rank_in(
    x: Any, ranks: Sequence[Any], data: Any = None, summarize: Optional[int] = None, message: Optional[str] = None, name: Optional[str] = None
) -> Operation:
    """Asserts that the rank of `x` is one of several.

    Args:
      x: A tensor.
      ranks: A list of ints, or of `int32` scalar tensors.
      data: A list of tensors to show in the message.
      summarize: The number of elements of each tensor to show; by default 3.
      message: The prefix of the error message.
      name: The name scope of the new operations.

    Returns:
      An `Operation`.

    Raises:
      ValueError: The rank is known to be none of these.
      tf.errors.InvalidArgumentError: When run: the rank is none of these.

    Example:
      >>> check = tf.assert_rank_in([[1, 2]], (1, 2))
    """
    with name_scope(name, "assert_rank_in", [x] + list(ranks) + list(data or [])):
        x = x if isinstance(x, SparseTensor) else convert_to_tensor(x, name="x")
        ranks = [_rank(r) for r in ranks]
        known = tuple(constant_value(r) for r in ranks)
        if x.get_shape().ndims is not None and all(k is not None for k in known):
            if x.get_shape().ndims not in [int(k) for k in known]:
                raise ValueError(
                    "%s.  Tensor %s must have rank in %s.  Received rank %d, shape %s" % (message or "", x.name, known, x.get_shape().ndims, x.get_shape())
                )
            return no_op(name="static_checks_determined_all_ok")
        rank = array_ops.rank(x)
        fits = op("Equal")(rank, ranks[0])
        for other in ranks[1:]:
            fits = op("LogicalOr")(fits, op("Equal")(rank, other))
        if data is None:
            data = [message or "", "Tensor %s must have rank in" % x.name, *ranks, "Received shape: ", array_ops.shape(x)]
        return assert_(fits, data, summarize)


def assert_scalar(tensor: Any, name: Optional[str] = None, message: Optional[str] = None) -> Tensor:
    """Converts a value to a tensor, which must be a scalar.

    Args:
      tensor: A value that converts to a tensor.
      name: The name scope of the new operations.
      message: The prefix of the error message.

    Returns:
      A tensor.

    Raises:
      ValueError: The tensor is not a scalar.

    Example:
      >>> tf.debugging.assert_scalar(3).shape
      TensorShape([])
    """
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        if tensor.shape.ndims != 0:
            raise ValueError("%sExpected scalar shape for %s, saw shape: %s." % (message or "", tensor.name, tensor.shape))
        return tensor


def _dims(x: Tensor) -> Any:
    """Returns the sizes of the dimensions, ints where known, as a list or a tensor; `[1]` for a scalar."""
    known = x._shape_as_list()
    if known is None:
        return cond(op("Equal")(array_ops.rank(x), 0), lambda: convert_to_tensor([1]), lambda: array_ops.shape(x))
    return [array_ops.shape(x)[i] if size is None else size for i, size in enumerate(known)] or [1]


def assert_shapes(
    shapes: Any, data: Any = None, summarize: Optional[int] = None, message: Optional[str] = None, name: Optional[str] = None
) -> Operation:
    """Asserts that each tensor has a shape of sizes, None (any size), and symbols (one size for each symbol).

    Args:
      shapes: A list of pairs of a tensor and its shape, or a dict.
      data: A list of tensors to show in the message.
      summarize: The number of elements of each tensor to show; by default 3.
      message: The prefix of the error message.
      name: The name scope of the new operations.

    Returns:
      An `Operation`.

    Raises:
      ValueError: The assertion is known to fail.
      tf.errors.InvalidArgumentError: When run: the assertion fails.

    Example:
      >>> x, y = tf.zeros([4, 3]), tf.zeros([4])
      >>> check = tf.debugging.assert_shapes([(x, ("N", 3)), (y, ("N",))])
    """
    pairs = list(shapes.items()) if isinstance(shapes, collections.abc.Mapping) else list(shapes)
    with name_scope(name, "assert_shapes", [x for x, _ in pairs]):
        # A scalar counts as a vector of length 1, on both sides.
        wanted = [(convert_to_tensor(x), (tuple(s) if isinstance(s, (list, tuple)) else (s,)) or (1,)) for x, s in pairs]
        checks: List[Operation] = []
        # For each symbol, its size, and a description of the dimension that determined it.
        sizes: Dict[Any, Tuple[Any, str]] = {}
        for x, shape in wanted:
            if len(shape) == 1:
                checks.append(assert_rank_in(x, [0, 1], data, summarize, message))
            else:
                checks.append(assert_rank(x, len(shape), data, summarize, message))
            dims = _dims(x)
            for i, symbol in enumerate(shape):
                if symbol is None or symbol == ".":
                    continue
                size = dims[i]
                if isinstance(symbol, int) or (isinstance(symbol, str) and symbol.isdigit()):
                    asked, by = int(symbol), "Specified explicitly"
                elif symbol not in sizes:
                    sizes[symbol] = size, "Specified by tensor %s dimension %d" % (x.name, i)
                    continue
                else:
                    asked, by = sizes[symbol]
                if isinstance(asked, int) and isinstance(size, int):
                    if asked != size:
                        raise ValueError(
                            "%s.  %s.  Tensor %s dimension %d must have size %d.  Received size %d, shape %s"
                            % (message or "", by, x.name, i, asked, size, x.shape)
                        )
                    continue
                said = data or [message or "", by, "Tensor %s dimension" % x.name, i, "must have size", asked, "Received shape: ", array_ops.shape(x)]
                checks.append(assert_(op("Equal")(convert_to_tensor(size), asked), said, summarize))
        return group(*checks)


# Dtypes.


def assert_integer(x: Any, message: Optional[str] = None, name: Optional[str] = None) -> Operation:
    """Raises unless `x` has an integer dtype.

    Args:
      x: A tensor.
      message: The prefix of the error message.
      name: A name for the operation.

    Returns:
      An `Operation` that does nothing.

    Raises:
      TypeError: The tensor has another dtype.

    Example:
      >>> check = tf.assert_integer([1, 2])
    """
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError('%s  Expected "x" to be integer type.  Found: %s of dtype %s' % (message or "", x.name, x.dtype))
        return no_op(name="statically_determined_was_integer")


def assert_type(tensor: Any, tf_type: Any, message: Optional[str] = None, name: Optional[str] = None) -> Operation:
    """Raises unless `tensor` has the given dtype.

    Args:
      tensor: A tensor.
      tf_type: The dtype.
      message: The prefix of the error message.
      name: A name for the operation.

    Returns:
      An `Operation` that does nothing.

    Raises:
      TypeError: The tensor has another dtype.

    Example:
      >>> check = tf.assert_type([1, 2], tf.int32)
    """
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype != tf_type:
            raise TypeError("%s  %s must be of type %s" % (message or "", tensor.name, dtypes.as_dtype(tf_type)))
        return no_op(name="statically_determined_correct_type")


def assert_same_float_dtype(tensors: Optional[Sequence[Any]] = None, dtype: Any = None) -> Any:
    """Returns the floating dtype that all tensors share.

    Args:
      tensors: A list of tensors.
      dtype: The required dtype, if any.

    Returns:
      A `DType`; `float32` if there are no tensors.

    Raises:
      ValueError: The dtypes differ, or differ from `dtype`, or are not floating.

    Example:
      >>> tf.debugging.assert_same_float_dtype([tf.constant(1.0), tf.constant([2.0])])
      tf.float32
    """
    expected = None if dtype is None else dtypes.as_dtype(dtype)
    first = None
    for tensor in tensors or ():
        own = tensor.dtype.base_dtype
        if expected is None:
            expected, first = own, tensor
        elif own != expected:
            by = " as %s" % first.name if first is not None else ""
            raise ValueError("%s, type=%s, must be of the same type (%s)%s." % (tensor.name, own, expected, by))
    if expected is None:
        return dtypes.float32
    if not expected.is_floating:
        raise ValueError("Expected floating point type, got %s." % expected)
    return expected


def assert_proper_iterable(values: Any) -> None:
    """Raises unless `values` is an iterable such as a list, but not a tensor, array or string.

    Args:
      values: The value to check.

    Raises:
      TypeError: `values` is not such an iterable.

    Example:
      >>> tf.assert_proper_iterable([1, 2])
      >>> tf.assert_proper_iterable("ab")
      Traceback (most recent call last):
        ...
      TypeError: Expected argument "values" to be a "proper" iterable.  Found: <class 'str'>
    """
    if isinstance(values, (Tensor, SparseTensor, np.ndarray, str, bytes)):
        raise TypeError('Expected argument "values" to be a "proper" iterable.  Found: %s' % type(values))
    if not hasattr(values, "__iter__"):
        raise TypeError('Expected argument "values" to be iterable.  Found: %s' % type(values))


# The dtypes that TensorFlow 1.15 takes for numeric here.
NUMERIC_TYPES = frozenset(
    [
        dtypes.float32,
        dtypes.float64,
        dtypes.int8,
        dtypes.int16,
        dtypes.int32,
        dtypes.int64,
        dtypes.uint8,
        dtypes.qint8,
        dtypes.qint32,
        dtypes.quint8,
        dtypes.complex64,
    ]
)


def is_numeric_tensor(tensor: Any) -> bool:
    """Returns whether `tensor` is a tensor of numbers.

    As in TensorFlow 1.15, variables are not tensors, and some dtypes of numbers are left out: `float16`,
    `bfloat16`, `complex128`, and integers without a sign of more than 8 bits.

    Example:
      >>> (tf.is_numeric_tensor(tf.constant(1)), tf.is_numeric_tensor(tf.constant("a")),
      ...  tf.is_numeric_tensor(1))
      (True, False, False)
    """
    return isinstance(tensor, Tensor) and tensor.dtype.base_dtype in NUMERIC_TYPES


def add_check_numerics_ops() -> Operation:
    """Returns an operation that fails if any floating tensor made so far holds NaN or infinity.

    Returns:
      An `Operation`.

    Raises:
      ValueError: The graph has loops or conds.
      tf.errors.InvalidArgumentError: When run: a tensor holds NaN or infinity.

    Example:
      >>> x = tf.placeholder(tf.float32, [])
      >>> y = 1.0 / x
      >>> check = tf.add_check_numerics_ops()
      >>> tf.Session().run([y, check], {x: 0.0})
      Traceback (most recent call last):
        ...
      millstream.errors.InvalidArgumentError: truediv:0 : Tensor had Inf values
      ...
    """
    checks: List[Any] = []
    operations = list(get_default_graph().get_operations())
    if any(o.type in ("Switch", "RefSwitch", "Enter", "RefEnter") for o in operations):
        # A check outside cannot depend on nodes inside of a loop or branch.
        raise ValueError("`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow operations such as `tf.cond()` or `tf.while_loop()`.")
    for operation in operations:
        for i, output in enumerate(operation.outputs):
            if output.dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
                continue
            with control_dependencies(checks[-1:]):
                checks.append(op("CheckNumerics")(output, message="%s:%d" % (operation.name, i)).op)
    return group(*checks)
