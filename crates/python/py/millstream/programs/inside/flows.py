"""Loops and branches under other names, independent iterations, and checks of gradients: `NAMES`."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple

import numpy as np

from millstream.framework import IndexedSlicesValue, convert_to_tensor, get_default_graph, nest, placeholder
from millstream.framework.session import get_default_session
from millstream.ops import check_ops, control_flow, functional, gradients, math_ops
from millstream.programs.internals import _with_flow

# `If` and `While` of TensorFlow 2 ---------------------------------------------------------------------------


def cond_v2(pred: Any, true_fn: Any, false_fn: Any, name: Optional[str] = "cond") -> Any:
    """Returns the result of the branch that is taken, as `tf.cond` does after `tf.enable_control_flow_v2`."""
    return _with_flow(True, control_flow.cond)(pred, true_fn, false_fn, name=name)


def while_loop(
    cond: Any,
    body: Any,
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    maximum_iterations: Any = None,
    name: Optional[str] = None,
    return_same_structure: bool = True,
    back_prop: bool = True,
) -> Any:
    """Returns the final variables of a loop, as `tf.while_loop` does after `tf.enable_control_flow_v2`."""
    return _with_flow(True, control_flow.while_loop)(
        cond,
        body,
        loop_vars,
        shape_invariants,
        parallel_iterations,
        back_prop,
        name=name,
        maximum_iterations=maximum_iterations,
        return_same_structure=return_same_structure,
    )


# Independent iterations -------------------------------------------------------------------------------------


def for_loop(loop_fn: Callable[..., Any], loop_fn_dtypes: Any, iters: Any, parallel_iterations: Optional[int] = None) -> Any:
    """Returns the results of a function of the number of an iteration, stacked.

    Args:
      loop_fn: A function of a scalar int32 that returns tensors in a structure.
      loop_fn_dtypes: The dtypes of the tensors, in the same structure.
      iters: The number of iterations.
      parallel_iterations: The largest number of iterations that run at the same time.
    """
    numbers = math_ops.range(convert_to_tensor(iters))
    return functional.map_fn(loop_fn, numbers, dtype=loop_fn_dtypes, parallel_iterations=parallel_iterations or 10)


def _dtypes(result: Any) -> Any:
    return nest.map_structure(lambda x: convert_to_tensor(x).dtype.base_dtype, result)


def pfor(loop_fn: Callable[..., Any], iters: Any, parallel_iterations: Optional[int] = None) -> Any:
    """Returns the results of a function of the number of an iteration, stacked; another call tells dtypes."""
    return for_loop(loop_fn, _dtypes(loop_fn(convert_to_tensor(0))), iters, parallel_iterations)


def vectorized_map(fn: Callable[..., Any], elems: Any) -> Any:
    """Returns the results of a function of the elements of tensors along their first axis, stacked.

    It is `tf.map_fn` of results of any dtype. The function is called twice while the graph is built: the
    first call tells the dtypes.

    Args:
      fn: A function of an element, of the structure of `elems`, that returns tensors in a structure.
      elems: A tensor, or a structure of tensors with the same size along the first axis.

    Returns:
      The results in the structure that `fn` returns.

    Raises:
      ValueError: A tensor of `elems` is a scalar.

    Example:
      >>> squares, texts = tf.vectorized_map(lambda x: (x * x, tf.as_string(x)), tf.constant([1, 2, 3]))
      >>> print(*tf.Session().run([squares, texts]))
      [1 4 9] [b'1' b'2' b'3']
    """
    elems = nest.map_structure(convert_to_tensor, elems)
    dtypes = _dtypes(fn(nest.map_structure(lambda x: x[0], elems)))
    return functional.map_fn(fn, elems, dtype=dtypes)


def _jacobian(output: Any, inputs: Any, use_pfor: bool = True, parallel_iterations: Optional[int] = None) -> Any:
    """Returns the jacobian of a tensor by each tensor of a structure."""
    return nest.map_structure(lambda x: gradients.jacobian(output, x), inputs)


def _batch_jacobian(output: Any, inp: Any, use_pfor: bool = True, parallel_iterations: Optional[int] = None) -> Any:
    """Returns the jacobian of each row of a tensor by the same row of another.

    Raises:
      ValueError: The numbers of rows differ.
    """
    if not output.shape[0].is_compatible_with(inp.shape[0]):
        raise ValueError("Need first dimension of output shape (%s) and inp shape (%s) to match." % (output.shape, inp.shape))
    return gradients.batch_jacobian(output, inp)


# Checks of gradients ----------------------------------------------------------------------------------------


def compute_gradient(f: Callable[..., Any], x: Any, delta: float = 1e-3) -> Tuple[Any, Any]:
    """Returns the jacobians of a function by each of its arguments: from gradients, and from differences.

    A row is an element of the argument, and a column an element of the result.

    Args:
      f: A function of tensors that returns one.
      x: A list of arrays: the arguments.
      delta: The distance of two arguments, divided by two.

    Raises:
      ValueError: `x` is not a list, or there is no default session.
    """
    if not isinstance(x, list):
        raise ValueError("`x` must be a list; got %s" % type(x))
    session = get_default_session()
    if session is None:
        raise ValueError("compute_gradient runs the function: make a default session with `with tf.Session():`")
    values = [np.asarray(v) for v in session.run([convert_to_tensor(v) for v in x])]
    with get_default_graph().as_default():
        inputs = [placeholder(v.dtype, v.shape) for v in values]
        y = convert_to_tensor(f(*inputs))
        dy = placeholder(y.dtype.base_dtype)
        grads = gradients.gradients(y, inputs, dy)
    feeds = dict(zip(inputs, values))
    result = np.asarray(session.run(y, feeds))
    exact = [_theoretical(session, g, dy, v, result, feeds) for g, v in zip(grads, values)]
    return tuple(exact), tuple(_numeric(session, y, one, v, result, feeds, delta) for one, v in zip(inputs, values))


def _parts(array: Any) -> Any:
    """Returns an array as a vector of real numbers."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype) if np.iscomplexobj(flat) else flat


def _theoretical(session: Any, grad: Any, dy: Any, x: Any, y: Any, feeds: Any) -> Any:
    jacobian = np.zeros((_parts(x).size, _parts(y).size), x.real.dtype)
    if grad is None:
        return jacobian
    direction = np.zeros_like(y)
    for column in range(jacobian.shape[1]):
        _parts_of(direction)[column] = 1
        found = session.run(grad, {**feeds, dy: direction})
        if isinstance(found, IndexedSlicesValue):
            whole = np.zeros_like(x)
            np.add.at(whole, found.indices, found.values)
            found = whole
        jacobian[:, column] = _parts(found.astype(x.dtype))
        _parts_of(direction)[column] = 0
    return jacobian


def _parts_of(array: Any) -> Any:
    """Returns a view of an array as a vector of real numbers."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype)


def _numeric(session: Any, y: Any, x: Any, value: Any, result: Any, feeds: Any, delta: float) -> Any:
    jacobian = np.zeros((_parts(value).size, _parts(result).size), value.real.dtype)
    moved = np.array(value, copy=True, order="C")
    for row in range(jacobian.shape[0]):
        ends = []
        for step in (delta, -delta):
            kept = _parts_of(moved)[row]
            _parts_of(moved)[row] = kept + value.real.dtype.type(step)
            ends.append(_parts(np.asarray(session.run(y, {**feeds, x: moved}))).copy())
            _parts_of(moved)[row] = kept
        jacobian[row] = (ends[0] - ends[1]) / (2 * delta)
    return jacobian


def max_error(grad1: Any, grad2: Any) -> float:
    """Returns the largest difference of elements of two lists of jacobians."""
    return max([float(np.fabs(a - b).max()) for a, b in zip(grad1, grad2) if a.size or b.size] or [0.0])


NAMES: Dict[str, Dict[str, Any]] = {
    "python.ops.cond_v2": {"cond_v2": cond_v2},
    "python.ops.control_flow_util_v2": {"in_defun": lambda: False, "output_all_intermediates": lambda: False},
    "python.ops.gradient_checker_v2": {"compute_gradient": compute_gradient, "max_error": max_error},
    "python.ops.numerics": {"add_check_numerics_ops": check_ops.add_check_numerics_ops, "verify_tensor_all_finite": check_ops.verify_tensor_all_finite},
    "python.ops.parallel_for.control_flow_ops": {"for_loop": for_loop, "pfor": pfor, "vectorized_map": vectorized_map},
    "python.ops.parallel_for.gradients": {"batch_jacobian": _batch_jacobian, "jacobian": _jacobian},
    "python.ops.while_v2": {"while_loop": while_loop},
}
