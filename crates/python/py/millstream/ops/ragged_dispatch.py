"""What TensorFlow's functions do with `RaggedTensor`s: `tf.add(rows, 1)`, `tf.concat`, `rows + 1`.

`install` gives functions of this layer their forms for rows, so that the modules that define them know
nothing of rows: each is called as before, and if it raises since an argument is a `RaggedTensor`, its other
form is called. Elementwise functions compute with the innermost values. Rows of two arguments must have the
same lengths; a tensor is broadcast to rows.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import inspect
from typing import Any, Callable, Dict, List, Optional, Tuple

from millstream.framework import constant as _constant, control_dependencies, convert_to_tensor, dtypes, op_functions
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, math_ops, ragged_math, ragged_rows, reduction_ops
from millstream.ops.ragged_rows import converted, gather_rows, is_ragged
from millstream.ops.ragged_tensors import RaggedTensor, match_row_splits_dtypes

# Broadcasting -----------------------------------------------------------------------------------------------


def _rank(value: Any) -> int:
    rank = value.shape.ndims
    if rank is None:
        raise ValueError("Unable to broadcast: unknown rank of %s" % (value,))
    return int(rank)


def _raised(value: Any, rank: int) -> Any:
    """Returns a value with leading dimensions of size one, up to a rank."""
    while _rank(value) < rank:
        value = ragged_rows.expand_dims(value, 0)
    return value


def _outer(x: Any, y: Any) -> Tuple[Any, Any]:
    """Returns two values with equal numbers of rows: one row is repeated."""
    known = [value.shape[0].value for value in (x, y)]
    if known[0] is not None and known[0] == known[1]:
        return x, y
    if 1 in known and None not in known:
        both = []
        for value, size in zip((x, y), known):
            both.append(value if size != 1 else gather_rows(value, _constant([0] * (known[0] * known[1]), dtypes.int64)))  # type: ignore[operator]
        return both[0], both[1]
    m, n = ragged_rows._nrows(x), ragged_rows._nrows(y)
    check = check_ops.assert_equal(op("LogicalOr")(op("LogicalOr")(op("Equal")(m, n), op("Equal")(m, _constant(1, m.dtype))), op("Equal")(n, _constant(1, n.dtype))), True, message="Unable to broadcast: dimension size mismatch in dimension 0")
    with control_dependencies([check]):
        most = op("Select")(op("Equal")(m, _constant(1, m.dtype)), n, m)
    numbers = math_ops.range(most)
    made = []
    for value, size in ((x, m), (y, n)):
        made.append(value if size is most else gather_rows(value, op("Minimum")(numbers, size - 1)))
    return made[0], made[1]


def _spread(rows: Any, tensor: Any) -> Any:
    """Returns, for each value of some rows, the element of a tensor in its place; an only column is
    repeated.
    """
    ids = rows.value_rowids()
    sizes = array_ops.shape(tensor, out_type=ids.dtype)
    within = math_ops.range(array_ops.shape(ids, out_type=ids.dtype)[0]) - op("GatherV2")(rows.row_splits, ids, 0)
    single = op("Equal")(sizes[1], _constant(1, ids.dtype))
    fits = reduction_ops.reduce_all(op("Equal")(rows.row_lengths(), sizes[1]))
    check = check_ops.assert_equal(op("LogicalOr")(single, fits), True, message="Unable to broadcast: dimension size mismatch in a ragged dimension")
    with control_dependencies([check]):
        column = op("Select")(op("Fill")(array_ops.shape(within), single), array_ops.zeros_like(within), within)
    return op("GatherNd")(tensor, array_ops.stack([ids, column], 1))


def _aligned(x: Any, y: Any) -> Tuple[Any, Any, List[Any]]:
    """Returns the innermost values of two values of one rank and number of rows, and the splits of the
    result.
    """
    if not is_ragged(x) and not is_ragged(y):
        return x, y, []
    if is_ragged(x) and is_ragged(y):
        if x.row_splits is not y.row_splits:
            check = check_ops.assert_equal(x.row_splits, y.row_splits, message="Unable to broadcast: dimension size mismatch in a ragged dimension")
            with control_dependencies([check]):
                x = RaggedTensor(x.values, array_ops.identity(x.row_splits), internal=True)
                inner = x.values
                x_values = inner.with_flat_values(array_ops.identity(inner.flat_values)) if is_ragged(inner) else array_ops.identity(inner)
        else:
            x_values = x.values
        a, b, splits = _aligned(x_values, y.values)
        return a, b, [x.row_splits, *splits]
    if is_ragged(x):
        a, b, splits = _aligned(x.values, _spread(x, y))
        return a, b, [x.row_splits, *splits]
    a, b, splits = _aligned(_spread(y, x), y.values)
    return a, b, [y.row_splits, *splits]


def _binary(function: Callable[..., Any], x: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns what a function of two tensors makes of values of which one is ragged."""
    kind = next(value.dtype for value in (x, y) if is_ragged(value))
    x, y = (value if is_ragged(value) else _like(value, kind) for value in (x, y))
    x, y = match_row_splits_dtypes(x, y)
    ragged = x if is_ragged(x) else y
    other = y if ragged is x else x
    if not is_ragged(other) and other.shape.ndims is not None and other.shape.ndims < (ragged.flat_values.shape.ndims or 1):
        # It is broadcast to each innermost value.
        made = function(*(value.flat_values if is_ragged(value) else value for value in (x, y)), *args, **kwargs)
        return ragged.with_flat_values(made)
    rank = max(_rank(x), _rank(y))
    x, y = _outer(_raised(x, rank), _raised(y, rank))
    a, b, splits = _aligned(x, y)
    made = function(a, b, *args, **kwargs)
    for one in reversed(splits):
        made = RaggedTensor(made, one, internal=True)
    return made


def _like(value: Any, kind: Any) -> Any:
    """Returns a value as a tensor: a number of Python, of a dtype."""
    return convert_to_tensor(value, kind) if isinstance(value, (int, float, bool, str, bytes)) else convert_to_tensor(value, preferred_dtype=kind)


# Forms for rows ---------------------------------------------------------------------------------------------


def _of_one(place: int) -> Callable[..., Any]:
    """Returns the form of a function whose argument of this place is elementwise."""

    def form(function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        names = _arguments(function)
        rows: Any
        if len(args) > place:
            rows = args[place]
            made = function(*args[:place], rows.flat_values, *args[place + 1 :], **kwargs) if is_ragged(rows) else NotImplemented
        else:
            name = names[place] if len(names) > place else ""
            rows = kwargs.get(name)
            made = function(*args, **{**kwargs, name: rows.flat_values}) if is_ragged(rows) else NotImplemented
        return made if made is NotImplemented else rows.with_flat_values(made)

    return form


def _of_two(function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    names = _arguments(function)[:2]
    given, more = list(args[:2]), dict(kwargs)
    for name in names[len(given) :]:
        if name not in more:
            return NotImplemented
        given.append(more.pop(name))
    if len(given) < 2 or not any(is_ragged(one) for one in given):
        return NotImplemented
    return _binary(function, given[0], given[1], *args[2:], **more)


def _of_list(function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """The form of an elementwise function of a list."""
    name = (_arguments(function) or [""])[0]
    values = args[0] if args else kwargs.get(name)
    if not isinstance(values, (list, tuple)) or not any(is_ragged(one) for one in values):
        return NotImplemented
    parts = list(match_row_splits_dtypes(*[converted(one) for one in values]))
    first = next(one for one in parts if is_ragged(one))
    checks = [check_ops.assert_equal(a, b, message="the rows of the arguments have different lengths") for one in parts if is_ragged(one) and one is not first for a, b in zip(first.nested_row_splits, one.nested_row_splits)]
    with control_dependencies(checks):
        flat = [one.flat_values if is_ragged(one) else one for one in parts]
        made = function(flat, *args[1:], **kwargs) if args else function(**{**kwargs, name: flat})
    return first.with_flat_values(made)


def _replaced(other: Callable[..., Any], *renamed: str) -> Callable[..., Any]:
    """Returns the form that another function is; arguments of the names after `->` are renamed, those of
    `-` dropped.
    """
    names = dict(pair.split("->") for pair in renamed if "->" in pair)
    dropped = {name[1:] for name in renamed if name.startswith("-")}

    def form(function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        if not _any_ragged((*args, *kwargs.values())):
            return NotImplemented
        order = _arguments(function)
        given = {**dict(zip(order, args)), **kwargs}
        wanted = _arguments(other)
        call = {names.get(key, key): value for key, value in given.items() if key not in dropped}
        return other(**{key: value for key, value in call.items() if key in wanted and not (value is None and key != "name")})

    return form


def _any_ragged(values: Any) -> bool:
    return any(is_ragged(one) or isinstance(one, (list, tuple)) and _any_ragged(one) for one in values)


@functools.lru_cache(maxsize=None)
def _arguments(function: Any) -> List[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def _partitioned(data: Any, partitions: Any, num_partitions: int, name: Optional[str] = None) -> List[Any]:
    """Returns the rows of each part; see `tf.dynamic_partition`."""
    rows = ragged_rows.stack_dynamic_partitions(data, partitions, num_partitions, name)
    return [rows[i] for i in builtins.range(num_partitions)]


# Elementwise functions of one tensor, and the place of it among the arguments.
_UNARY = """
abs acos acosh angle as_string asin asinh atan atanh bitwise.invert cast ceil check_numerics clip_by_value conj cos cosh debugging.check_numerics decode_base64 digamma
encode_base64 erf erfc exp expm1 floor identity imag is_finite is_inf is_nan lgamma log log1p log_sigmoid logical_not math.ceil math.is_finite math.is_inf math.is_nan
math.softplus negative ones_like real reciprocal regex_replace rint round rsqrt saturate_cast sigmoid sign sin sinh sqrt square string_strip string_to_hash_bucket
string_to_hash_bucket_fast string_to_hash_bucket_strong string_to_number strings.format strings.length strings.lower strings.regex_full_match strings.substr
strings.to_hash_bucket strings.unicode_script strings.unicode_transcode strings.upper substr tan tanh to_bfloat16 to_complex128 to_complex64 to_double to_float to_int32
to_int64 zeros_like
"""
_BINARY = """
add atan2 bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor bitwise.left_shift bitwise.right_shift complex div div_no_nan divide equal floor_div floordiv floormod
greater greater_equal less less_equal logical_and logical_or logical_xor math.divide_no_nan maximum minimum mod multiply not_equal pow realdiv squared_difference subtract
truediv truncatediv truncatemod
"""


def _forms() -> Dict[str, Callable[..., Any]]:
    """Returns the forms by the functions' public names."""
    found: Dict[str, Callable[..., Any]] = {name: _of_one(0) for name in _UNARY.split()}
    found.update({name: _of_two for name in _BINARY.split()})
    found.update({"add_n": _of_list, "string_join": _of_list, "strings.join": _of_list})
    for name in ("sum", "prod", "min", "max", "mean", "all", "any"):
        found["reduce_" + name] = _replaced(getattr(ragged_math, "reduce_" + name), "keep_dims->keepdims", "reduction_indices->axis")
    for name in ("sum", "prod", "min", "max", "mean", "sqrt_n"):
        found["unsorted_segment_" + name] = _replaced(getattr(ragged_math, "segment_" + name))
    rows = ragged_rows
    found.update(
        {
            "batch_gather": _replaced(rows.batch_gather),
            "concat": _replaced(rows.concat),
            "dynamic_partition": _replaced(_partitioned),
            "expand_dims": _replaced(rows.expand_dims, "dim->axis"),
            "gather": _replaced(rows.gather),
            "gather_nd": _replaced(rows.gather_nd),
            "one_hot": _replaced(rows.one_hot),
            "rank": _replaced(rows.rank),
            "size": _replaced(rows.size),
            "squeeze": _replaced(rows.squeeze, "squeeze_dims->axis"),
            "stack": _replaced(rows.stack),
            "tile": _replaced(rows.tile),
            "where": _replaced(rows.where),
            "where_v2": _replaced(rows.where),
        }
    )
    return found


FORMS = _forms()


def with_form(function: Any, form: Callable[..., Any]) -> Any:
    """Returns a function that calls another form of itself if it raises because an argument is ragged."""

    @functools.wraps(function)
    def dispatching(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            if not _any_ragged((*args, *kwargs.values())):
                raise
            made = form(function, args, kwargs)
            if made is NotImplemented:
                raise
            return made

    return dispatching


def install(space: Dict[str, Any], prefix: str = "") -> None:
    """Gives the functions of a module their forms for rows.

    Args:
      space: The names of the module.
      prefix: The namespace of its functions, with a dot.
    """
    for name, form in FORMS.items():
        short = name[len(prefix) :] if prefix and name.startswith(prefix) else name
        function = space.get(short)
        if "." not in short and callable(function) and getattr(function, "__module__", None) == space["__name__"]:
            space[short] = with_form(function, form)


def _install() -> None:
    for name in ("array_ops", "check_ops", "clip_ops", "complex_ops", "indexing_ops", "math_ops", "reduction_ops", "shape_ops", "string_ops"):
        install(vars(importlib.import_module("millstream.ops." + name)))
    op_functions.forms.update({name: functools.partial(_formed, form) for name, form in FORMS.items()})


def _formed(form: Callable[..., Any], function: Any) -> Any:
    return with_form(function, form)


_install()

# Operators --------------------------------------------------------------------------------------------------


def _right(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda y, x: function(x, y)


def _no_bool(_: Any) -> bool:
    raise TypeError("RaggedTensor may not be used as a boolean.")


def _operators() -> None:
    both = {
        "add": op_functions.op("Add", "add"),
        "sub": math_ops.subtract,
        "mul": math_ops.multiply,
        "div": math_ops.div,
        "truediv": math_ops.truediv,
        "floordiv": math_ops.floordiv,
        "mod": op_functions.op("FloorMod", "floormod"),
        "pow": math_ops.pow,
        "and": op_functions.op("LogicalAnd", "logical_and"),
        "or": op_functions.op("LogicalOr", "logical_or"),
        "xor": math_ops.logical_xor,
    }
    for name, function in both.items():
        setattr(RaggedTensor, "__%s__" % name, lambda x, y, function=function: function(x, y))
        setattr(RaggedTensor, "__r%s__" % name, _right(function))
    for name, kind, public in (("ge", "GreaterEqual", "greater_equal"), ("gt", "Greater", "greater"), ("le", "LessEqual", "less_equal"), ("lt", "Less", "less")):
        function = op_functions.op(kind, public)
        setattr(RaggedTensor, "__%s__" % name, lambda x, y, function=function: function(x, y))
    ones = {"abs": math_ops.abs, "neg": math_ops.negative, "invert": op_functions.op("LogicalNot", "logical_not")}
    for name, function in ones.items():
        setattr(RaggedTensor, "__%s__" % name, lambda x, function=function: function(x))
    setattr(RaggedTensor, "__bool__", _no_bool)
    # A tensor on the left leaves an operator to these.
    setattr(RaggedTensor, "__millstream_operand__", True)


_operators()
