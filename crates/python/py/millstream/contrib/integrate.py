"""`tf.contrib.integrate`: solvers of ordinary differential equations, in loops of the graph."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from millstream._engine import Tensor
from millstream.framework import constant, control_dependencies, convert_to_tensor, dtypes, name_scope, namespaces
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow, math_ops
from millstream.ops.tensor_array import TensorArray

__all__ = ["odeint", "odeint_fixed"]

__dir__ = namespaces.dir_of(globals())

_Function = Callable[[Any, Any], Any]


class _Tableau(NamedTuple):
    """The coefficients of a Runge-Kutta method."""

    alpha: List[float]
    beta: List[List[float]]
    c_mid: List[float]
    c_error: List[float]


# The method of Dormand and Prince, whose last stage is the first of the next step, with the coefficients of
# Shampine for the middle of a step.
_DORMAND_PRINCE = _Tableau(
    alpha=[1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0],
    beta=[
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ],
    c_mid=[
        6025192743 / 30085553152 / 2,
        0,
        51252292925 / 65400821598 / 2,
        -2691868925 / 45128329728 / 2,
        187940372067 / 1594534317056 / 2,
        -1776094331 / 19743644256 / 2,
        11237099 / 235043384 / 2,
    ],
    c_error=[
        1951 / 21600 - 35 / 384,
        0,
        22642 / 50085 - 500 / 1113,
        451 / 720 - 125 / 192,
        -12231 / 42400 - -2187 / 6784,
        649 / 6300 - 11 / 84,
        1 / 60,
    ],
)


def _sum(factors: List[Any], values: List[Any], dt: Any = None) -> Any:
    """Returns the sum of products, times `dt`; terms with a factor of zero are left out."""
    pairs = [(f, v) for f, v in zip(factors, values) if isinstance(f, Tensor) or f != 0]
    return math_ops.add_n([(f if dt is None else dt * f) * v for f, v in pairs])


class _State(NamedTuple):
    """The state of the solver: the last step went from `t0` to `t1`, and the next has size `dt`."""

    y1: Any
    f1: Any
    t0: Any
    t1: Any
    dt: Any
    # The polynomial between the two, from the highest power down.
    coefficients: List[Any]


def _step(func: _Function, y0: Any, f0: Any, t0: Any, dt: Any) -> Tuple[Any, Any, Any, List[Any]]:
    """Returns the value, the derivative and the error after a step, and the derivatives within."""
    with name_scope(None, "runge_kutta_step", [y0, f0, t0, dt]):
        cast_dt = math_ops.cast(dt, y0.dtype)
        k, y1 = [f0], y0
        for alpha, beta in zip(_DORMAND_PRINCE.alpha, _DORMAND_PRINCE.beta):
            y1 = y0 + _sum(list(beta), k, cast_dt)
            k.append(func(y1, t0 + alpha * dt))
        return y1, k[-1], _sum(list(_DORMAND_PRINCE.c_error), k, cast_dt), k


def _polynomial(y0: Any, y1: Any, k: List[Any], dt: Any) -> List[Any]:
    """Returns the coefficients of a polynomial of degree 4 through a step."""
    with name_scope("interp_fit_rk"):
        dt = math_ops.cast(dt, y0.dtype)
        points = [k[0], k[-1], y0, y1, y0 + _sum(list(_DORMAND_PRINCE.c_mid), k, dt)]
        rows = [[-2 * dt, 2 * dt, -8, -8, 16], [5 * dt, -3 * dt, 18, 14, -32], [-4 * dt, dt, -11, -5, 16]]
        return [*(_sum(row, points) for row in rows), dt * k[0], y0]


def _between(coefficients: List[Any], t0: Any, t1: Any, t: Any) -> Any:
    """Returns the value of a polynomial between two times."""
    with name_scope("interp_evaluate"):
        inside = op("LogicalAnd")(t0 <= t, t <= t1)
        check = control_flow.assert_(inside, ["invalid interpolation, fails `t0 <= t <= t1`:", t0, t, t1])
        with control_dependencies([check]):
            x = math_ops.cast((t - t0) / (t1 - t0), coefficients[0].dtype)
        powers = [constant(1, coefficients[0].dtype), x]
        while len(powers) < len(coefficients):
            powers.append(powers[-1] * x)
        return _sum(coefficients, powers[::-1])


def _next_size(dt: Any, error_ratio: Any, safety: Any, ifactor: Any, dfactor: Any) -> Any:
    with name_scope("optimal_step_size"):
        root = math_ops.cast(error_ratio, dt.dtype) ** math_ops.cast(1 / 5, dt.dtype)
        return math_ops.div(dt, op("Maximum")(1 / ifactor, op("Minimum")(root / safety, 1 / dfactor)))


def _abs_square(x: Any) -> Any:
    return math_ops.square(math_ops.real(x)) + math_ops.square(math_ops.imag(x)) if x.dtype.is_complex else math_ops.square(x)


def _all(x: Any) -> Any:
    return op("All")(x, math_ops.range(array_ops.rank(x)))


def _increasing(t: Any) -> Any:
    """Returns a context whose operations wait for a check of the times."""
    return control_dependencies([control_flow.assert_(_all(t[1:] > t[:-1]), ["`t` must be monotonic increasing"])])


def _check_types(y0: Any, t: Any, dt: Any = None) -> None:
    if not (y0.dtype.is_floating or y0.dtype.is_complex):
        raise TypeError("`y0` must have a floating point or complex floating point dtype")
    if not t.dtype.is_floating:
        raise TypeError("`t` must have a floating point dtype")
    if dt is not None and not dt.dtype.is_floating:
        raise TypeError("`dt` must have a floating point dtype")


def _append(array: Any, value: Any) -> Any:
    return array.write(array.size(), value)


def _dopri5(
    func: _Function,
    y0: Any,
    t: Any,
    rtol: Any,
    atol: Any,
    full_output: bool,
    first_step: Any = None,
    safety: Any = 0.9,
    ifactor: Any = 10.0,
    dfactor: Any = 0.2,
    max_num_steps: Any = 1000,
    name: Optional[str] = None,
) -> Any:
    with name_scope(name, "dopri5", [y0, t, rtol, atol]) as scope:
        size = convert_to_tensor(1.0 if first_step is None else first_step, dtype=t.dtype, name="first_step")
        safety, ifactor, dfactor = (convert_to_tensor(x, dtype=t.dtype) for x in (safety, ifactor, dfactor))
        limit = convert_to_tensor(max_num_steps, dtype=dtypes.int32, name="max_num_steps")

        def step(state: Any, history: Any, n: Any) -> Any:
            y0, f0, _, t0, dt, coefficients = state
            checks = [
                control_flow.assert_(t0 + dt > t0, ["underflow in dt", dt]),
                control_flow.assert_(n < limit, ["max_num_steps exceeded"]),
                control_flow.assert_(_all(op("IsFinite")(abs(y0))), ["non-finite values in state `y`", y0]),
            ]
            with control_dependencies(checks):
                y1, f1, error, k = _step(func, array_ops.identity(y0), f0, t0, dt)
            tolerance = atol + rtol * op("Maximum")(abs(y0), abs(y1))
            squares = _abs_square(error) / _abs_square(tolerance)
            ratio = math_ops.sqrt(op("Mean")(squares, math_ops.range(array_ops.rank(squares))))
            accept = ratio <= 1
            polynomial = control_flow.cond(accept, lambda: _polynomial(y0, y1, k, dt), lambda: list(coefficients))
            y, f, t1 = control_flow.cond(accept, lambda: (y1, f1, t0 + dt), lambda: (y0, f0, t0))
            state = _State(y, f, t0, t1, _next_size(dt, ratio, safety, ifactor, dfactor), polynomial)
            return state, [_append(history[0], t0 + dt), _append(history[1], ratio)], n + 1

        def interpolate(solution: Any, history: Any, state: Any, i: Any) -> Any:
            # Another number of steps for each time.
            state, history, _ = control_flow.while_loop(lambda state, *_: t[i] > state.t1, step, (state, history, 0), name="integrate_loop")
            return solution.write(i, _between(state.coefficients, state.t0, state.t1, t[i])), history, state, i + 1

        with _increasing(t):
            n_times = array_ops.size(t)
        solution = TensorArray(y0.dtype, size=n_times).write(0, y0)
        history = [TensorArray(dtype, size=0, dynamic_size=True) for dtype in (t.dtype, rtol.dtype)]
        state = _State(y0, func(y0, t[0]), t[0], t[0], size, [y0] * 5)
        solution, history, _, _ = control_flow.while_loop(lambda _s, _h, _r, i: i < n_times, interpolate, (solution, history, state, 1), name="interpolate_loop")
        y = solution.stack(name=scope)
        y.set_shape(t.get_shape().concatenate(y0.get_shape()))
        if not full_output:
            return y
        points = history[0].stack()
        info: Dict[str, Any] = {"num_func_evals": 6 * array_ops.size(points) + 1, "integrate_points": points, "error_ratio": history[1].stack()}
        return y, info


def odeint(
    func: _Function,
    y0: Any,
    t: Any,
    rtol: Any = 1e-6,
    atol: Any = 1e-12,
    method: Optional[str] = None,
    options: Optional[Dict[str, Any]] = None,
    full_output: bool = False,
    name: Optional[str] = None,
) -> Any:
    """Returns the solution of `dy/dt = func(y, t)` at given times. Steps are as large as the tolerance
    allows.

    Args:
      func: A function of a value and a time that returns the derivative.
      y0: The value at `t[0]`: a tensor of floats or complex numbers, of any shape.
      t: A vector of increasing times; by default of `float64`.
      rtol: The largest relative error of a step.
      atol: The largest absolute error of a step.
      method: `"dopri5"` or None, which is the same.
      options: Options of the method, which must then be named: `first_step`, `safety`, `ifactor`, `dfactor`
        and `max_num_steps`.
      full_output: Whether a dict of facts is returned, too.
      name: A name for the operations.

    Returns:
      A tensor of shape `[len(t), ..]`; with `full_output` a pair of it and a dict with `num_func_evals`,
      `integrate_points` and `error_ratio`.

    Raises:
      ValueError: The method is another one, or there are options without a method.
      TypeError: A dtype is not of floats.

    Example:
      >>> y = tf.contrib.integrate.odeint(lambda y, t: -y, tf.constant(1.0, tf.float64), [0.0, 1.0])
      >>> print(tf.Session().run(y).round(5))
      [1.      0.36788]
    """
    if method is not None and method != "dopri5":
        raise ValueError("invalid method: %r" % method)
    if options is not None and method is None:
        raise ValueError("cannot supply `options` without specifying `method`")
    with name_scope(name, "odeint", [y0, t, rtol, atol]) as scope:
        y0 = convert_to_tensor(y0, name="y0")
        t = convert_to_tensor(t, preferred_dtype=dtypes.float64, name="t")
        _check_types(y0, t)
        dtype = abs(y0).dtype
        rtol, atol = convert_to_tensor(rtol, dtype=dtype, name="rtol"), convert_to_tensor(atol, dtype=dtype, name="atol")
        return _dopri5(func, y0, t, rtol, atol, full_output, name=scope, **(options or {}))


def _midpoint(func: _Function, t: Any, dt: Any, y: Any) -> Any:
    cast_dt = math_ops.cast(dt, y.dtype)
    return cast_dt * func(y + func(y, t) * cast_dt / 2, t + dt / 2)


def _rk4(func: _Function, t: Any, dt: Any, y: Any) -> Any:
    cast_dt = math_ops.cast(dt, y.dtype)
    k1 = func(y, t)
    k2 = func(y + cast_dt * k1 / 2, t + dt / 2)
    k3 = func(y + cast_dt * k2 / 2, t + dt / 2)
    k4 = func(y + cast_dt * k3, t + dt)
    return math_ops.add_n([k1, 2 * k2, 2 * k3, k4]) * (cast_dt / 6)


_METHODS = {"midpoint": _midpoint, "rk4": _rk4}


def odeint_fixed(func: _Function, y0: Any, t: Any, dt: Any = None, method: str = "rk4", name: Optional[str] = None) -> Any:
    """Returns the solution of `dy/dt = func(y, t)` at given times, with steps of given sizes.

    Args:
      func: A function of a value and a time that returns the derivative.
      y0: The value at `t[0]`: a tensor of floats or complex numbers, of any shape.
      t: A vector of increasing times; by default of `float64`.
      dt: The largest steps between times: a vector with one element less than `t`. By default there is one
        step between two times.
      method: `"rk4"` or `"midpoint"`.
      name: A name for the operations.

    Returns:
      A tensor of shape `[len(t), ..]`.

    Raises:
      ValueError: The method is another one, or `t` and `dt` are not vectors of such lengths.
      TypeError: A dtype is not of floats.

    Example:
      >>> y = tf.contrib.integrate.odeint_fixed(lambda y, t: -y, tf.constant(1.0, tf.float64), [0.0, 1.0], [0.1])
      >>> print(tf.Session().run(y).round(5))
      [1.      0.36788]
    """
    with name_scope(name, "odeint_fixed", [y0, t, dt]):
        t = convert_to_tensor(t, preferred_dtype=dtypes.float64, name="t")
        y0 = convert_to_tensor(y0, name="y0")
        intervals = t[1:] - t[:-1]
        dt = convert_to_tensor(intervals if dt is None else dt, preferred_dtype=dtypes.float64, name="dt")
        counts = op("Ceil")(intervals / dt)
        dt = intervals / counts
        counts = math_ops.cast(counts, dtypes.int32)
        _check_types(y0, t, dt)
        for vector in (t, dt):
            if 1 < len(vector.get_shape().as_list()):
                raise ValueError("t must be a 1D tensor")
        if t.get_shape()[0] != dt.get_shape()[0] + 1:
            raise ValueError("t and dt have incompatible lengths, must be N and N-1")
        with _increasing(t), name_scope(method):
            if method not in _METHODS:
                raise ValueError("method not supported: {!s}".format(method))
            return _fixed(func, _METHODS[method], y0, t, dt, counts)


def _fixed(func: _Function, method: Callable[..., Any], y0: Any, t: Any, dt: Any, counts: Any) -> Any:
    def step(y: Any, time: Any, n: Any, i: Any) -> Any:
        size = dt[i - 1]
        return y + math_ops.cast(method(func, time, size, y), y.dtype), time + size, n + 1, i

    def interval(solution: Any, y: Any, time: Any, i: Any) -> Any:
        y, time, _, _ = control_flow.while_loop(lambda _y, _t, n, i: n < counts[i - 1], step, (y, time, 0, i))
        return solution.write(i, y), y, time, i + 1

    n_times = array_ops.size(t)
    solution = TensorArray(y0.dtype, n_times).write(0, y0)
    solution, _, _, _ = control_flow.while_loop(lambda _s, _y, _t, i: i < n_times, interval, (solution, y0, t[0], 1))
    y = solution.stack()
    y.set_shape(t.get_shape().concatenate(y0.get_shape()))
    return y
