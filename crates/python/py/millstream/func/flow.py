"""Loops and branches in functions, as JAX has them: the loop variables are one structure, the *carry*."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Tuple

from millstream import _engine
from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, dtypes, get_default_graph, name_scope, nest
from millstream.framework.op_functions import op
from millstream.func import nests, tracing
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
    starts = tracing.tensors(init, "init", "start with")
    if not starts:
        raise TypeError("func.while_loop: `init` is %r, which holds no value: a loop needs a carry" % (init,))
    if not (tracing.is_active() or any(isinstance(leaf, Tensor) for leaf in nests.flatten(init))):
        return _outside(lambda init: while_loop(cond, body, init, maximum_iterations=maximum_iterations, parallel_iterations=parallel_iterations, checkpoint_every=checkpoint_every), init)
    flow = _Loop("func.while_loop", "carry", body, init, starts)

    def flat_cond(flat: List[Tensor]) -> Tensor:
        return _bool_scalar(cond(nests.pack(init, flat)), "func.while_loop: the condition", cond)

    def flat_body(flat: List[Tensor]) -> List[Tensor]:
        return flow.checked(body(nests.pack(init, flat)), flat)

    results = _run(flow, flat_cond, flat_body, maximum_iterations, parallel_iterations, checkpoint_every)
    return nests.pack(init, results)


def _outside(of: Callable[[Any], Any], init: Any) -> Any:
    """Runs a loop that is not in a function, on arrays."""
    return Function(of, [], [])(init)


class _Loop:
    """What the errors of a loop name."""

    def __init__(self, name: str, what: str, body: Any, init: Any, starts: List[Tensor]) -> None:
        self.name, self.what, self.body, self.init, self.starts = name, what, body, init, starts
        self.paths = nests.paths(init, what)

    def checked(self, result: Any, now: List[Tensor]) -> List[Tensor]:
        """Returns the leaves of what the body returned."""
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
                    "%s: `%s` enters as %s, but %s returns %s: the rank must stay the same" % (self.name, path, tracing.shown(before), tracing.called(self.body), tracing.shown(value))
                )
            after.append(value)
        grown = [_joined(x, y) for x, y in zip(now, after)]
        if any(shape is not None for shape in grown):
            raise _Grows(grown)
        return after


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


def _bool_scalar(value: Any, what: str, f: Any) -> Tensor:
    if isinstance(value, bool):
        raise TypeError(
            "%s is a Python bool, which does not depend on the data: `==` compares tensors by identity, so write `tf.equal(x, y)`; use Python's `if` for what is known while tracing"
            % what
        )
    given = tracing.tensor(value, what)
    if given.dtype.base_dtype != dtypes.bool or given.shape.ndims not in (0, None):
        raise TypeError("%s must be a boolean scalar, but %s gives %s: compare, and reduce arrays by `tf.reduce_any` or `tf.reduce_all`" % (what, tracing.called(f), tracing.shown(given)))
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
    if not (tracing.is_active() or any(isinstance(leaf, Tensor) for leaf in nests.flatten([lower, upper, init]))):
        return _outside(lambda given: fori_loop(given[0], given[1], body, given[2], **options), (lower, upper, init))
    first, last = tracing.tensor(lower, "lower"), tracing.tensor(upper, "upper")
    if first.dtype != last.dtype:
        wide = dtypes.int64 if dtypes.int64 in (first.dtype, last.dtype) else first.dtype
        first, last = (t if t.dtype == wide or not t.dtype.is_integer else op("Cast")(t, DstT=wide) for t in (first, last))
    if not first.dtype.is_integer or first.dtype != last.dtype:
        raise TypeError("func.fori_loop: the bounds are %s and %s: they must be integers of one dtype" % (tracing.shown(first), tracing.shown(last)))

    def step(state: Any) -> Any:
        return state[0] + 1, body(state[0], state[1])

    return while_loop(lambda state: state[0] < last, _as_if(step, body), (first, init), **options)[1]


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
      length: The number of steps, if `xs` is None.
      reverse: If true, the steps go from the last slice to the first; results stay at the place of their
        slice.
      **options: Those of `while_loop`.

    Returns:
      A pair: the last carry, and the results stacked along a new first axis.

    Raises:
      TypeError: `f` returns no pair, or the carry changes its structure or a dtype.
      ValueError: Neither `xs` nor `length` gives the number of steps, or both do, or arrays differ in length.

    Example:
      >>> from millstream import func
      >>> total, sums = func.scan(lambda s, x: (s + x, s + x), 0.0, np.float32([1, 2, 3]))
      >>> print(total, sums)
      6.0 [1. 3. 6.]
    """
    if not (tracing.is_active() or any(isinstance(leaf, Tensor) for leaf in nests.flatten([init, xs, length]))):
        return _outside(lambda given: scan(f, given[0], given[1], given[2], reverse, **options), (init, xs, length))
    starts, slices = tracing.tensors(init, "init", "start with"), tracing.tensors(xs, "xs", "scan over")
    for x, path in zip(slices, nests.paths(xs, "xs")):
        if x.shape.ndims == 0:
            raise ValueError("func.scan: `%s` is %s, which has no axis to scan along" % (path, tracing.shown(x)))
    if (length is None) == (not slices):
        raise ValueError("func.scan: %s: one of them gives the number of steps" % ("neither `xs` nor `length` is there" if length is None else "both `xs` and `length` are there"))
    n = _steps(slices, nests.paths(xs, "xs")) if slices else tracing.tensor(length, "length")
    # Lists that are popped and pushed are compiled with the loop; TensorArrays are not: a sum of 1,000
    # numbers takes 0.45 ms instead of 2.5, its gradient 0.5 instead of 4.1 (2026-11).
    shapes = [_element(x.shape[1:]) for x in slices]
    lists = [op("TensorListFromTensor")(x if reverse else _reversed(x), shape) for x, shape in zip(slices, shapes)]
    form, outline = _outline(f, init, starts, xs, slices)
    results = [(y.dtype.base_dtype, _element(y.shape)) for y in outline]
    made = [op("EmptyTensorList")(shape, convert_to_tensor(-1, dtypes.int32), element_dtype=dtype) for dtype, shape in results]
    flow, n_carry, n_lists = _Loop("func.scan", "carry", f, init, starts), len(starts), len(lists)

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

    whole = _Loop("func.scan", "carry", f, init, [convert_to_tensor(0, n.dtype), *starts, *lists, *made])
    whole.paths = ["i", *flow.paths, *["xs%d" % i for i in range(n_lists)], *["y%d" % i for i in range(len(made))]]
    last = _run(whole, flat_cond, flat_body, **{"maximum": None, "parallel": 10, "checkpoint": None, **_renamed(options)})
    ys = [op("TensorListStack")(a, shape, element_dtype=dtype) for a, (dtype, shape) in zip(last[1 + n_carry + n_lists :], results)]
    for y, inner in zip(ys, outline):
        if inner.shape.ndims is not None:
            y.set_shape([None, *inner.shape.as_list()])
    return nests.pack(init, last[1 : 1 + n_carry]), nests.pack(form, [_reversed(y) if reverse else y for y in ys])


def _steps(slices: List[Tensor], paths: List[str]) -> Tensor:
    """Returns the length of the arrays, which must be the same for all."""
    n = array_ops.shape(slices[0])[0]
    known = [(x.shape.as_list()[0], path) for x, path in zip(slices, paths)]
    for size, path in known[1:]:
        if None not in (size, known[0][0]) and size != known[0][0]:
            raise ValueError("func.scan: `%s` has %d entries, but `%s` has %d: all need the same number" % (paths[0], known[0][0], path, size))
    checks = [
        check_ops.assert_equal(array_ops.shape(x)[0], n, message="func.scan: `%s` and `%s` have different numbers of entries" % (paths[0], path))
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


def _renamed(options: Any) -> Any:
    """Returns the options of `while_loop` by the names that `_run` has for them."""
    names = {"maximum_iterations": "maximum", "parallel_iterations": "parallel", "checkpoint_every": "checkpoint"}
    for name in options:
        if name not in names:
            raise TypeError("func.scan has no argument `%s`: it takes those of func.while_loop, `%s`" % (name, "`, `".join(names)))
    return {names[name]: value for name, value in options.items()}


def _outline(f: Any, init: Any, starts: List[Tensor], xs: Any, slices: List[Tensor]) -> Tuple[Any, List[Tensor]]:
    """Returns the structure of a step's result and tensors of its dtypes and shapes.

    The lists of results need their dtypes before the loop, so `f` is called once more, in a branch that no
    run takes.
    """
    found: List[Any] = []

    def trial() -> Tensor:
        result = f(nests.pack(init, starts), nests.pack(xs, [x[0] for x in slices]))
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise TypeError("func.scan: %s must return a pair (carry, y), but returned %r" % (tracing.called(f), result))
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
    return scan(lambda _, x: (0, f(x)), 0, xs, **options)[1]


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
    if not (tracing.is_active() or any(isinstance(leaf, Tensor) for leaf in nests.flatten([pred, list(operands)]))):
        return _outside(lambda given: cond(given[0], true_fn, false_fn, *given[1]), (pred, list(operands)))
    flag = _bool_scalar(pred, "func.cond: the predicate", true_fn)
    given = [nests.pack(o, tracing.tensors(o, "operand %d" % i, "pass")) for i, o in enumerate(operands)]
    returned: List[Any] = []

    def branch(f: Any) -> Callable[[], Any]:
        def flat() -> List[Tensor]:
            result = f(*given)
            values = tracing.tensors(result, "the result of %s" % tracing.called(f))
            returned.append((f, result, values))
            if len(returned) == 2:
                _check_branches(*returned)
            return values

        return flat

    values = control_flow.cond(flag, branch(true_fn), branch(false_fn), strict=True)
    return nests.pack(returned[0][1], list(values))


def _check_branches(one: Any, other: Any) -> None:
    (f, a, xs), (g, b, ys) = one, other
    if not nests.alike(a, b):
        raise TypeError("func.cond: %s returns %r, but %s returns %r: return the same structure" % (tracing.called(f), nests.form(a), tracing.called(g), nests.form(b)))
    for x, y, path in zip(xs, ys, nests.paths(a, "result")):
        if x.dtype.base_dtype != y.dtype.base_dtype:
            raise TypeError(
                "func.cond: `%s` is %s in %s, but %s in %s: cast one (`tf.cast`)" % (path, tracing.shown(x), tracing.called(f), tracing.shown(y), tracing.called(g))
            )
