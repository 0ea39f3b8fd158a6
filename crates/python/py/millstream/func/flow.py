"""Loops and branches in functions, as JAX has them: the loop variables are one structure, the *carry*."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from millstream import _engine
from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, dtypes, get_default_graph, name_scope, nest
from millstream.framework.op_functions import op
from millstream.func import calls, nests, tracing
from millstream.func.functions import Function
from millstream.ops import array_ops, check_ops, control_flow


def while_loop(
    cond: Callable[[Any], Any],
    body: Callable[[Any], Any],
    init: Any,
    *,
    maximum_iterations: Any = None,
    parallel_iterations: int = 10,
    checkpoint_every: Any = None,
) -> Any:
    """Repeats `body` while `cond` holds; the number of iterations may depend on the data.

    It computes what these lines compute:

        carry = init
        while cond(carry):
            carry = body(carry)
        return carry

    Gradients of any order flow through the loop. Sizes may change from one iteration to the next; structure,
    dtypes and ranks may not.

    Args:
      cond: A function of the carry that returns a boolean scalar.
      body: A function of the carry that returns the next one.
      init: The first carry: a tensor, an array, a number, or a structure of them.
      maximum_iterations: The largest number of iterations, if there is one.
      parallel_iterations: The largest number of iterations that run at the same time.
      checkpoint_every: As in `tf.while_loop`: the gradient keeps every k-th carry and recomputes the rest, or
        chooses them itself if this is `"auto"`.

    Returns:
      The last carry.

    Raises:
      TypeError: `body` changes the structure or a dtype, or `cond` returns no boolean scalar.

    Example:
      >>> from millstream import func
      >>> gcd = func.function(lambda a, b: func.while_loop(lambda p: p[1] > 0, lambda p: (p[1], p[0] % p[1]), (a, b))[0])
      >>> print(gcd(48, 18))
      6
    """
    _check_functions("func.while_loop(cond, body, init)", cond=cond, body=body)
    leaves = nests.flatten(init)
    if not leaves:
        raise TypeError("func.while_loop: `init` is %r, which holds no value: a loop needs a carry" % (init,))
    if not (tracing.is_active() or any(isinstance(leaf, Tensor) for leaf in leaves)):
        options = {"maximum_iterations": maximum_iterations, "parallel_iterations": parallel_iterations, "checkpoint_every": checkpoint_every}
        return _outside("func.while_loop", lambda init: while_loop(cond, body, init, **options), init=init)
    starts = tracing.tensors(init, "init", "start with")
    flow = _Loop("func.while_loop", "carry", body, init, starts)

    def flat_cond(flat: List[Tensor]) -> Tensor:
        return _bool_scalar(flow.call(cond, [nests.pack(init, flat)], "the carry"), "func.while_loop: the condition", cond)

    def flat_body(flat: List[Tensor]) -> List[Tensor]:
        return flow.checked(flow.call(body, [nests.pack(init, flat)], "the carry"), flat)

    results = _run(flow, flat_cond, flat_body, maximum_iterations, parallel_iterations, checkpoint_every)
    return nests.pack(init, results)


def _check_functions(usage: str, **given: Any) -> None:
    """Raises an error unless these arguments of a loop or a branch are functions."""
    for name, f in given.items():
        if not callable(f):
            raise TypeError(
                "%s: `%s` is %.60r (of type %s), but must be a function: %s. Write `lambda: x`, or `lambda s: ..`, instead of `x`"
                % (usage.partition("(")[0], name, f, type(f).__name__, usage)
            )


def _outside(name: str, of: Callable[..., Any], **given: Any) -> Any:
    """Runs a loop or a branch that is not in a function, on arrays. Errors call it `name`."""
    try:
        for value in given.values():
            calls.Arguments().add(value)
    except calls.NoArray as error:
        raise TypeError("%s: %s" % (name, error.told((), given, may_be_static=False))) from None
    return Function(of, [], [])(**given)


class _Loop:
    """What the errors of a loop name."""

    def __init__(self, name: str, what: str, body: Any, init: Any, starts: List[Tensor]) -> None:
        self.name, self.what, self.body, self.init, self.starts = name, what, body, init, starts
        self.paths = nests.paths(init, what)

    def call(self, f: Any, given: List[Any], what: str) -> Any:
        """Calls a function of the user; `what` names the arguments."""
        return _called(self.name, f, given, what)

    def checked(self, result: Any, now: List[Tensor]) -> List[Tensor]:
        """Returns the leaves of what the body returned."""
        if result is None:
            raise TypeError("%s: %s returns None instead of the next %s: does it lack a `return`?" % (self.name, tracing.called(self.body), self.what))
        if not nests.alike(self.init, result):
            raise TypeError(
                "%s: the %s enters as %r, but %s returns %r: return the same structure" % (self.name, self.what, nests.form(self.init), tracing.called(self.body), nests.form(result))
            )
        after = []
        for value, before, path in zip(nests.flatten(result), now, self.paths):
            wanted = before.dtype.base_dtype
            weak = not isinstance(value, Tensor) and tracing.kinds().of(value) is not None
            value = convert_to_tensor(value, wanted) if weak and _fits(value, wanted) else tracing.tensor(value, path)
            if value.dtype.base_dtype != wanted:
                raise TypeError(
                    "%s: `%s` enters as %s, but %s returns %s: cast it (`tf.cast(.., tf.%s)`), or start with %s"
                    % (self.name, path, tracing.shown(before), tracing.called(self.body), tracing.shown(value), wanted.name, value.dtype.base_dtype.name)
                )
            if None not in (value.shape.ndims, before.shape.ndims) and value.shape.ndims != before.shape.ndims:
                raise TypeError(
                    "%s: `%s` enters as %s, but %s returns %s: the rank must stay the same. Start with a value of the rank that the body returns, such as an "
                    "array of zeros" % (self.name, path, tracing.shown(before), tracing.called(self.body), tracing.shown(value))
                )
            after.append(value)
        grown = [_joined(x, y) for x, y in zip(now, after)]
        if any(shape is not None for shape in grown):
            raise _Grows(grown)
        return after


def _called(name: str, f: Any, given: List[Any], what: str) -> Any:
    """Calls a function of the user in the loop or branch `name`; `what` names the arguments."""

    def refusal(parameters: str) -> str:
        text = "%s calls %s with %s, but its arguments are %s" % (name, tracing.called(f), what, parameters)
        if given and isinstance(given[-1], (tuple, list)) and 1 < len(given[-1]):
            text += ". The last of them is a %s of %d here: unpack it in the function (`a, b = ..`)" % (type(given[-1]).__name__, len(given[-1]))
        return text

    try:
        return tracing.call(f, given, refusal)
    except TypeError as error:
        # An operator between a structure and a number.
        if given and isinstance(given[-1], (tuple, list, dict)) and re.search(r"'%s'" % type(given[-1]).__name__, str(error)):
            kind, n = type(given[-1]).__name__, len(given[-1])
            text = "%s\n  help: %s calls %s with %s, which is a %s of %d here: unpack it in the function, or start with the value itself"
            raise TypeError(text % (error, name, tracing.called(f), what, kind, n)) from error
        raise


class _Grows(Exception):
    """A body that changes sizes: the shapes that hold for one more iteration, None where the old one does."""

    def __init__(self, shapes: List[Any]) -> None:
        super().__init__(shapes)
        self.shapes = shapes


def _joined(now: Tensor, after: Tensor) -> Any:
    """Returns the most specific shape of both tensors, or None if it is that of `now`."""
    if now.shape.ndims is None:
        return None
    if after.shape.ndims is None:
        return [None] * now.shape.ndims
    dims = [a if a == b else None for a, b in zip(now.shape.as_list(), after.shape.as_list())]
    return None if dims == now.shape.as_list() else dims


def _fits(value: Any, dtype: Any) -> bool:
    """Whether a Python number may take a dtype."""
    if isinstance(value, int):
        return dtype.is_integer or dtype.is_floating or dtype.is_complex
    return dtype.is_complex or isinstance(value, float) and dtype.is_floating


def _run(flow: _Loop, cond: Any, body: Any, maximum: Any, parallel: int, checkpoint: Any) -> List[Tensor]:
    graph, shapes = get_default_graph(), [None] * len(flow.starts)
    limit = None if maximum is None else convert_to_tensor(maximum, dtypes.int32)
    while True:
        with name_scope(None, "while") as scope:
            try:
                made = _engine.while_loop(
                    graph, cond, body, flow.starts, flow.paths, shapes, parallel, True, False, limit, scope, control_flow._checkpoint(checkpoint)
                )
            except _Grows as error:
                # Sizes are forgotten one by one, so this ends. The nodes of the attempt are in no run.
                shapes = [old if new is None else new for old, new in zip(shapes, error.shapes)]
                continue
        if len(made) == 1:
            return made
        # A variable that only the condition reads has no Exit in a run that does not fetch it, and a loop
        # without all its Exits is not compiled.
        with graph.control_dependencies(made):
            return [op("Identity")(value) for value in made]


def _bool_scalar(value: Any, what: str, f: Any = None) -> Tensor:
    if isinstance(value, bool) and not tracing.is_active():
        # In a function, `==` compares elements, so that True is meant.
        raise TypeError(
            "%s is a Python bool, which does not depend on the data: `==` compares tensors by identity, so write `tf.equal(x, y)`; use Python's `if` for what is known while tracing"
            % what
        )
    given = tracing.tensor(value, what)
    if given.dtype.base_dtype != dtypes.bool or given.shape.ndims not in (0, None):
        of = "it is" if f is None else "%s gives" % tracing.called(f)
        raise TypeError("%s must be a boolean scalar, but %s %s: compare, and reduce arrays by `tf.reduce_any` or `tf.reduce_all`" % (what, of, tracing.shown(given)))
    return given


def fori_loop(lower: Any, upper: Any, body: Callable[[Any, Any], Any], init: Any, **options: Any) -> Any:
    """Calls `body(i, carry)` for each i from `lower` up to, without, `upper`.

    Args:
      lower: The first index: an integer, or a tensor.
      upper: The end.
      body: A function of the index and the carry that returns the next carry.
      init: The first carry.
      **options: Those of `while_loop`.

    Returns:
      The last carry.

    Raises:
      TypeError: The bounds are not integers of one dtype, or `body` changes the structure or a dtype.

    Example:
      >>> from millstream import func
      >>> print(func.grad(lambda x: func.fori_loop(0, 5, lambda i, y: y * x, 1.0))(2.0))
      80.0
    """
    _check_functions("func.fori_loop(lower, upper, body, init)", body=body)
    if not (tracing.is_active() or any(isinstance(leaf, Tensor) for leaf in nests.flatten([lower, upper, init]))):
        given = {"lower": lower, "upper": upper, "init": init}
        return _outside("func.fori_loop", lambda lower, upper, init: fori_loop(lower, upper, body, init, **options), **given)
    first, last = tracing.tensor(lower, "lower"), tracing.tensor(upper, "upper")
    if first.dtype != last.dtype:
        wide = dtypes.int64 if dtypes.int64 in (first.dtype, last.dtype) else first.dtype
        first, last = (t if t.dtype == wide or not t.dtype.is_integer else op("Cast")(t, DstT=wide) for t in (first, last))
    if not first.dtype.is_integer or first.dtype != last.dtype:
        raise TypeError("func.fori_loop: the bounds are %s and %s: they must be integers of one dtype (`tf.cast`)" % (tracing.shown(first), tracing.shown(last)))

    starts = tracing.tensors(init, "init", "start with")
    flow = _Loop("func.fori_loop", "carry", body, init, starts)

    def flat_body(flat: List[Tensor]) -> List[Tensor]:
        result = flow.call(body, [flat[0], nests.pack(init, flat[1:])], "the index and the carry")
        try:
            return [flat[0] + 1, *flow.checked(result, flat[1:])]
        except _Grows as error:
            raise _Grows([None, *error.shapes]) from None

    whole = _Loop("func.fori_loop", "carry", body, init, [first, *starts])
    whole.paths = ["i", *flow.paths]
    results = _run(whole, lambda flat: flat[0] < last, flat_body, **{**_DEFAULTS, **_renamed("func.fori_loop", options)})
    return nests.pack(init, results[1:])


def _as_if(step: Any, f: Any) -> Any:
    """Returns `step`, which errors call by the name and place of `f`."""
    step.__wrapped__ = f
    return step


def scan(
    f: Callable[[Any, Any], Any],
    init: Any,
    xs: Any = None,
    length: Any = None,
    reverse: bool = False,
    **options: Any,
) -> Tuple[Any, Any]:
    """Carries a value along the first axis of arrays, and collects a result for each step.

    It computes what these lines compute:

        carry, ys = init, []
        for x in xs:
            carry, y = f(carry, x)
            ys.append(y)
        return carry, stack(ys)

    Args:
      f: A function of the carry and a step's slice of `xs` that returns a pair: the next carry, and a result
        (a structure, or None).
      init: The first carry.
      xs: An array, or a structure of arrays of the same length; None if `f` needs none.
      length: The number of steps; it may be left out if `xs` gives it.
      reverse: If true, the steps go from the last slice to the first; results stay at the place of their
        slice.
      **options: Those of `while_loop`.

    Returns:
      A pair: the last carry, and the results stacked along a new first axis.

    Raises:
      TypeError: `f` returns no pair, or the carry changes its structure or a dtype.
      ValueError: Neither `xs` nor `length` gives the number of steps, or they differ.

    Example:
      >>> from millstream import func
      >>> total, sums = func.scan(lambda s, x: (s + x, s + x), 0.0, np.float32([1, 2, 3]))
      >>> print(total, sums)
      6.0 [1. 3. 6.]
    """
    _check_functions("func.scan(f, init, xs)", f=f)
    return _scan("func.scan", f, init, xs, length, reverse, options)


def _scan(name: str, f: Any, init: Any, xs: Any, length: Any, reverse: bool, options: Dict[str, Any], what: str = "the carry and a slice") -> Any:
    """`scan` for a function that errors call `name`."""
    if not (tracing.is_active() or any(isinstance(leaf, Tensor) for leaf in nests.flatten([init, xs, length]))):
        given = {"init": init, "xs": xs, "length": length}
        return _outside(name, lambda init, xs, length: _scan(name, f, init, xs, length, reverse, options, what), **given)
    renamed = {**_DEFAULTS, **_renamed(name, options)}
    starts, slices = tracing.tensors(init, "init", "start with"), tracing.tensors(xs, "xs", "scan over")
    for x, path in zip(slices, nests.paths(xs, "xs")):
        if x.shape.ndims == 0:
            raise ValueError("%s: `%s` is %s, which has no axis to go along: pass an array of rank 1 or more" % (name, path, tracing.shown(x)))
    if length is None and not slices:
        raise ValueError("%s: neither `xs` nor `length` is there: one of them gives the number of steps" % name)
    n = _steps(name, slices, nests.paths(xs, "xs"), length) if slices else tracing.tensor(length, "length")
    if not n.dtype.is_integer or n.shape.ndims not in (0, None):
        raise TypeError("%s: `length` is %s: it must be an integer" % (name, tracing.shown(n)))
    # Lists that are popped and pushed are compiled with the loop; TensorArrays are not: a sum of 1,000
    # numbers takes 0.45 ms instead of 2.5, its gradient 0.5 instead of 4.1 (2026-11).
    shapes = [_element(x.shape[1:]) for x in slices]
    lists = [op("TensorListFromTensor")(x if reverse else _reversed(x), shape) for x, shape in zip(slices, shapes)]
    form, outline = _outline(name, what, f, init, starts, xs, slices)
    results = [(y.dtype.base_dtype, _element(y.shape)) for y in outline]
    made = [op("EmptyTensorList")(shape, convert_to_tensor(-1, dtypes.int32), element_dtype=dtype) for dtype, shape in results]
    flow, n_carry, n_lists = _Loop(name, "carry", f, init, starts), len(starts), len(lists)

    def flat_cond(flat: List[Tensor]) -> Tensor:
        return flat[0] < n

    def flat_body(flat: List[Tensor]) -> List[Tensor]:
        carry, left, out = flat[1 : 1 + n_carry], flat[1 + n_carry : 1 + n_carry + n_lists], flat[1 + n_carry + n_lists :]
        popped = [op("TensorListPopBack")(a, shape, element_dtype=x.dtype.base_dtype) for a, shape, x in zip(left, shapes, slices)]
        after, result = f(nests.pack(init, carry), nests.pack(xs, [value for _, value in popped]))
        pushed = [op("TensorListPushBack")(a, y) for a, y in zip(out, tracing.tensors(result, "y"))]
        try:
            return [flat[0] + 1, *flow.checked(after, carry), *[a for a, _ in popped], *pushed]
        except _Grows as error:
            raise _Grows([None, *error.shapes, *[None] * (n_lists + len(made))]) from None

    whole = _Loop(name, "carry", f, init, [convert_to_tensor(0, n.dtype), *starts, *lists, *made])
    whole.paths = ["i", *flow.paths, *["xs%d" % i for i in range(n_lists)], *["y%d" % i for i in range(len(made))]]
    last = _run(whole, flat_cond, flat_body, **renamed)
    ys = [op("TensorListStack")(a, shape, element_dtype=dtype) for a, (dtype, shape) in zip(last[1 + n_carry + n_lists :], results)]
    for y, inner in zip(ys, outline):
        if inner.shape.ndims is not None:
            y.set_shape([None, *inner.shape.as_list()])
    return nests.pack(init, last[1 : 1 + n_carry]), nests.pack(form, [_reversed(y) if reverse else y for y in ys])


def _steps(name: str, slices: List[Tensor], paths: List[str], length: Any) -> Tensor:
    """Returns the length of the arrays, which must be the same for all, and that which is given."""
    n = array_ops.shape(slices[0])[0]
    if length is not None:
        asked, size = tracing.tensor(length, "length"), slices[0].shape.as_list()[0]
        if isinstance(length, int) and size is not None and size != length:
            raise ValueError("%s: `length` is %d, but `%s` has %d entries" % (name, length, paths[0], size))
        message = "%s: `length` is not the number of entries of `%s`" % (name, paths[0])
        with get_default_graph().control_dependencies([check_ops.assert_equal(op("Cast")(asked, DstT=dtypes.int32), n, message=message)]):
            n = op("Identity")(n)
    known = [(x.shape.as_list()[0], path) for x, path in zip(slices, paths)]
    for size, path in known[1:]:
        if None not in (size, known[0][0]) and size != known[0][0]:
            raise ValueError("%s: `%s` has %d entries, but `%s` has %d: all need the same number" % (name, paths[0], known[0][0], path, size))
    checks = [
        check_ops.assert_equal(array_ops.shape(x)[0], n, message="%s: `%s` and `%s` have different numbers of entries" % (name, paths[0], path))
        for x, path in zip(slices[1:], paths[1:])
        if x.shape.as_list()[0] is None or known[0][0] is None
    ]
    if not checks:
        return n
    with get_default_graph().control_dependencies(checks):
        return op("Identity")(n)


def _element(shape: Any) -> Tensor:
    """Returns the shape of a list's elements as the list's operations take it."""
    return convert_to_tensor(-1 if shape.ndims is None else [-1 if d is None else d for d in shape.as_list()], dtypes.int32)


def _reversed(x: Tensor) -> Tensor:
    return op("ReverseV2")(x, convert_to_tensor([0], dtypes.int32))


# The options of `_run`.
_DEFAULTS: Dict[str, Any] = {"maximum": None, "parallel": 10, "checkpoint": None}
_OPTIONS = {"maximum_iterations": "maximum", "parallel_iterations": "parallel", "checkpoint_every": "checkpoint"}


def _renamed(name: str, options: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the options of `while_loop` by the names that `_run` has for them."""
    for option in options:
        if option not in _OPTIONS:
            why = {"unroll": ": steps are not unrolled, and a loop of few operations runs as compiled code", "batch_size": ": slices run side by side as they can"}
            raise TypeError("%s has no argument `%s`%s. It takes those of func.while_loop: `%s`" % (name, option, why.get(option, ""), "`, `".join(_OPTIONS)))
    return {_OPTIONS[option]: value for option, value in options.items()}


def _outline(name: str, what: str, f: Any, init: Any, starts: List[Tensor], xs: Any, slices: List[Tensor]) -> Tuple[Any, List[Tensor]]:
    """Returns the structure of a step's result and tensors of its dtypes and shapes.

    The lists of results need their dtypes before the loop, so `f` is called once more, in a branch that no
    run takes.
    """
    found: List[Any] = []

    def trial() -> Tensor:
        result = _called(name, f, [nests.pack(init, starts), nests.pack(xs, [x[0] for x in slices])], what)
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            missing = ": does it lack a `return`?" if result is None else ""
            raise TypeError("%s: %s must return a pair (carry, y), but returned %r%s" % (name, tracing.called(f), result, missing))
        found.extend([result[1], tracing.tensors(result[1], "y")])
        return convert_to_tensor(0)

    control_flow.cond(convert_to_tensor(False), trial, lambda: convert_to_tensor(0), name="outline")
    return found[0], found[1]


def map(f: Callable[[Any], Any], xs: Any, **options: Any) -> Any:  # noqa: A001
    """Applies `f` to each slice of arrays along their first axis, and stacks the results.

    The slices do not depend on each other, so they may run side by side.

    Args:
      f: A function of a slice of `xs`, in the structure of `xs`.
      xs: An array, or a structure of arrays of the same length.
      **options: Those of `while_loop`.

    Returns:
      The results of `f`, stacked along a new first axis.

    Example:
      >>> from millstream import func
      >>> def steps(n):
      ...     return func.while_loop(lambda s: s[0] > 1, lambda s: (s[0] // 2, s[1] + 1), (n, 0))[1]
      >>> print(func.map(steps, np.array([1, 10, 1000])))
      [0 3 9]
    """

    _check_functions("func.map(f, xs)", f=f)

    def step(_: Any, x: Any) -> Any:
        y = _called("func.map", f, [x], "a slice")
        if not nests.flatten(y):
            raise TypeError("func.map: %s returns %r, which holds no value: does it lack a `return`?" % (tracing.called(f), y))
        return 0, y

    return _scan("func.map", _as_if(step, f), 0, xs, None, False, options)[1]


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], *operands: Any) -> Any:
    """Returns `true_fn(*operands)` if `pred` is true, else `false_fn(*operands)`; only that one runs.

    Args:
      pred: A boolean scalar.
      true_fn: A function that returns a tensor or a structure of tensors.
      false_fn: A function that returns the same structure and dtypes; shapes may differ in their sizes.
      *operands: Arguments of the functions.

    Returns:
      The result of the function that runs.

    Raises:
      TypeError: `pred` is not a boolean scalar, or the functions return different structures or dtypes.

    Example:
      >>> from millstream import func
      >>> root = func.function(lambda x: func.cond(x < 0, lambda x: 0 * x, tf.sqrt, x))
      >>> print(root(-4.0), root(4.0))
      -0.0 2.0
    """
    _check_functions("func.cond(pred, true_fn, false_fn, *operands)", true_fn=true_fn, false_fn=false_fn)
    if not (tracing.is_active() or any(isinstance(leaf, Tensor) for leaf in nests.flatten([pred, list(operands)]))):
        return _outside("func.cond", lambda pred, operands: cond(pred, true_fn, false_fn, *operands), pred=pred, operands=list(operands))
    flag = _bool_scalar(pred, "func.cond: the predicate")
    given = [nests.pack(o, tracing.tensors(o, "operand %d" % i, "pass")) for i, o in enumerate(operands)]
    wanted: Dict[int, Any] = {}
    while True:
        sides = [_Side(f, given, wanted) for f in (true_fn, false_fn)]
        sides[0].other, sides[1].other = sides[1], sides[0]
        try:
            values = control_flow.cond(flag, sides[0], sides[1], strict=True)
        except _Weak as error:
            # The nodes of the attempt are in no run.
            wanted.update(error.dtypes)
            continue
        return nests.pack(sides[0].result, list(values))


class _Weak(Exception):
    """Python's numbers in a branch that take the dtype of the other branch, by the index of the value."""

    def __init__(self, dtypes: Dict[int, Any]) -> None:
        super().__init__(dtypes)
        self.dtypes = dtypes


class _Side:
    """A branch of `cond`, as a function without arguments that returns a list."""

    other: Any

    def __init__(self, f: Any, given: List[Any], wanted: Dict[int, Any]) -> None:
        self.f, self._given, self._wanted = f, given, wanted
        self.result: Any = None
        self.values: Optional[List[Tensor]] = None

    def __call__(self) -> List[Tensor]:
        n = len(self._given)
        self.result = _called("func.cond", self.f, self._given, "%d operand%s" % (n, "" if n == 1 else "s"))
        leaves = nests.flatten(self.result)
        if not leaves:
            raise TypeError("func.cond: %s returns %r, which holds no value: return what the branch computes" % (tracing.called(self.f), self.result))
        paths = nests.paths(self.result, "the result of %s" % tracing.called(self.f))
        self.values = [
            convert_to_tensor(leaf, self._wanted[i]) if i in self._wanted and not isinstance(leaf, Tensor) else tracing.tensor(leaf, path)
            for i, (leaf, path) in enumerate(zip(leaves, paths))
        ]
        if self.other.values is not None:
            _check_branches(self.other, self)
        return self.values


def _check_branches(one: _Side, other: _Side) -> None:
    f, a, g, b = one.f, one.result, other.f, other.result
    if not nests.alike(a, b):
        raise TypeError("func.cond: %s returns %r, but %s returns %r: return the same structure" % (tracing.called(f), nests.form(a), tracing.called(g), nests.form(b)))
    weak: Dict[int, Any] = {}
    xs: Any = one.values
    ys: Any = other.values
    for i, (x, y, p, q, path) in enumerate(zip(xs, ys, nests.flatten(a), nests.flatten(b), nests.paths(a, "result"))):
        mine, its = x.dtype.base_dtype, y.dtype.base_dtype
        if mine == its:
            continue
        if tracing.kinds().of(p) is not None and _fits(p, its):
            weak[i] = its
        elif tracing.kinds().of(q) is not None and _fits(q, mine):
            weak[i] = mine
        else:
            raise TypeError(
                "func.cond: `%s` is %s in %s, but %s in %s: cast one (`tf.cast`)" % (path, tracing.shown(x), tracing.called(f), tracing.shown(y), tracing.called(g))
            )
    if weak:
        raise _Weak(weak)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Returns `branches[index](*operands)`; only that branch runs. Beyond the range, the nearest one does.

    Args:
      index: An integer scalar.
      branches: Functions that return the same structure and dtypes, as for `cond`.
      *operands: Arguments of the functions.

    Returns:
      The result of the branch that runs.

    Raises:
      TypeError: `index` is not an integer scalar, or branches return different structures or dtypes.
      ValueError: There are no branches.

    Example:
      >>> from millstream import func
      >>> f = func.function(lambda i, x: func.switch(i, [lambda x: x, tf.sqrt, tf.square], x))
      >>> print(f(0, 9.0), f(1, 9.0), f(2, 9.0), f(7, 9.0))
      9.0 3.0 81.0 81.0
    """
    if callable(branches):
        raise TypeError("func.switch: `branches` is %.60r, but must be a list of functions: func.switch(index, [f, g, ..], *operands)" % (branches,))
    chosen = list(branches)
    if not chosen:
        raise ValueError("func.switch: there are no branches to choose from")
    if not (tracing.is_active() or any(isinstance(leaf, Tensor) for leaf in nests.flatten([index, list(operands)]))):
        return _outside("func.switch", lambda index, operands: switch(index, chosen, *operands), index=index, operands=list(operands))
    at = tracing.tensor(index, "index", "pass")
    if not at.dtype.is_integer or at.shape.ndims not in (0, None):
        raise TypeError("func.switch: the index is %s: it must be an integer scalar (`tf.cast`)" % tracing.shown(at))

    def among(low: int, high: int) -> Callable[..., Any]:
        if high - low == 1:
            return chosen[low]
        middle = (low + high) // 2
        return _as_if(lambda *given: cond(at < middle, among(low, middle), among(middle, high), *given), chosen[low])

    return among(0, len(chosen))(*operands)
