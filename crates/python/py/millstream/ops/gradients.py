"""Gradients of graphs: `gradients`, `hessians`, and beyond TensorFlow 1 `jacobian`, `batch_jacobian`, `jvp`.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, List, Optional

from millstream import _engine
from millstream._engine import Tensor
from millstream.framework import (
    IndexedSlices,
    check_scope_name,
    convert_to_tensor,
    get_default_graph,
    logging,
    name_scope,
    nest,
    protos,
)
from millstream.framework.op_functions import is_made as _is_made, op
from millstream.ops.array_ops import concat, reshape, shape, size
from millstream.ops.control_flow import while_loop
from millstream.ops.custom_gradients import _op_types, custom_gradient
from millstream.ops.nodes_of_gradients import promise
from millstream.ops.tensor_array import TensorArray


class UnconnectedGradients:
    """The gradient of unconnected tensors: `NONE` for None, `ZERO` for zeros.

    Example:
      >>> x = tf.constant([1.0, 2.0])
      >>> dx, = tf.gradients(tf.constant(5.0), [x], unconnected_gradients=tf.UnconnectedGradients.ZERO)
      >>> print(tf.Session().run(dx))
      [0. 0.]
    """

    NONE = "none"
    ZERO = "zero"


class AggregationMethod:
    """The ways to sum gradients. All are accepted, with the same effect: gradients are summed as by `AddN`.

    Example:
      >>> x = tf.constant(3.0)
      >>> dx, = tf.gradients(x * x + x, [x], aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE)
      >>> print(tf.Session().run(dx))
      7.0
    """

    ADD_N = 0
    DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def _list(values: Any) -> List[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [values]


def _source(x: Any) -> Tensor:
    """Returns the tensor to differentiate by: for a variable, its handle or reference."""
    handle = getattr(x, "_handle", None)
    if handle is not None:
        return handle()
    return x.values if isinstance(x, IndexedSlices) else convert_to_tensor(x)


def _after(given: Optional[Tensor], y: Tensor, i: int) -> Any:
    """Returns the gradient of a y, by default ones, computed after the control dependencies around."""
    if given is not None:
        return op("Identity")(given, name=f"grad_ys_{i}") if isinstance(given, Tensor) else given
    if not (y.dtype.is_floating or y.dtype.is_complex):
        return None
    one = convert_to_tensor(1, y.dtype.base_dtype, name=f"grad_ys_{i}")
    return one if y.shape.rank == 0 else op("Fill")(op("Shape")(y), one)


def _has_gradient(x: Any) -> bool:
    """Returns whether gradients flow through tensors of this dtype."""
    dtype = x.dtype.base_dtype
    return bool(dtype.is_floating or dtype.is_complex or dtype.name in ("resource", "variant"))


def _of_whole_numbers(ys: List[Tensor], xs: List[Any], grad_ys: Any) -> List[Any]:
    """Returns the gradients of integer ys by themselves, where they are xs: those of the caller, or ones."""
    found: List[List[Any]] = [[] for _ in xs]
    for i, y in enumerate(ys):
        if _has_gradient(y):
            continue
        grad = None if grad_ys is None else grad_ys[i]
        if grad is None and y.dtype.base_dtype.name in ("bool", "string"):
            kind = y.dtype.base_dtype.name
            raise TypeError(
                "Expected %s, got 1 of type 'int' instead. (the gradient of the y `%s`, which is %s, begins with ones: pass `grad_ys`, or leave"
                " the y out)" % (kind, y.name, kind)
            )
        for j, x in enumerate(xs):
            if x is y:
                if grad is None:
                    one = convert_to_tensor(1, y.dtype.base_dtype, name=f"grad_ys_{i}")
                    grad = op("Fill")(op("Shape")(y), one)
                found[j].append(grad)
    return [(op("AddN")(g) if len(g) > 1 else g[0]) if g else None for g in found]


def _grad_y(grad: Any, y: Tensor, index: int) -> Tensor:
    """Converts the gradient of a y to its dtype."""
    grad = convert_to_tensor(grad, None if isinstance(grad, Tensor) else y.dtype.base_dtype, "grad_ys_%d" % index)
    kinds = [(t.dtype.is_complex, t.dtype.is_floating, t.dtype.is_integer) for t in (grad, y)]
    if kinds[0] != kinds[1]:
        what = "complex" if kinds[1][0] else "real" if kinds[1][1] else "integer"
        raise TypeError(
            "Gradient type %s generated for %s tensor %s with type %s must be %s" % (grad.dtype.name, what, y, y.dtype.name, what)
        )
    return _of_shape(grad, y._shape_as_list())


def _of_shape(grad: Tensor, wanted: Any) -> Tensor:
    """Returns a gradient in the shape of its y: TensorFlow does not compare them, and one number fits all."""
    found = grad._shape_as_list()
    if wanted is None or None in wanted or found == wanted:
        return grad
    if found is None or None in found:
        return reshape(grad, wanted)  # The run finds out.
    if grad.shape.num_elements() != 1:
        return grad
    return op("BroadcastTo")(reshape(grad, []), wanted) if wanted else reshape(grad, [])


def _warn_of_none(text: str, tensor: Tensor) -> None:
    """Logs why a gradient is None. TensorFlow says nothing, and raises nothing, which programs rely on."""
    logging.warning("tf.gradients: " + text + ", and only floating-point numbers have gradients. tf.cast converts.", tensor.name, tensor.dtype.name)


def _beside(graph: Any, before: int) -> None:
    """Colocates the operations of a gradient, made since `before`, with those that they differentiate.

    The operations of the gradient of `a/b` are named `../a/b_grad/..`.
    """
    names = {one.name: one for one in graph._operations()[:before]}
    for one in graph._operations(before):
        of = _differentiated(one.name.split("/"), names)
        if of is not None and "_class" not in one._attr_names():
            one._set_attr("_class", protos.AttrValue(list=protos.AttrValue.ListValue(s=of.colocation_groups())))
            if of.device:
                one._set_device(of.device)


def _differentiated(parts: List[str], names: Dict[str, Any]) -> Any:
    """Returns the operation whose gradient an operation belongs to, or None."""
    for end in range(len(parts) - 2, -1, -1):
        if parts[end].endswith("_grad"):
            last = parts[end][: -len("_grad")]
            for start in range(end + 1):
                found = names.get("/".join([*parts[start:end], last]))
                if found is not None:
                    return found
    return None


def _refuse_copied_loops(graph: Any, ys: List[Any], ends: List[Any]) -> None:
    """Raises an error if a loop that the graph editor copied is between tensors: its copy has no context."""
    copied = getattr(graph, "_loops_without_gradients", ())
    left, seen = [y.op for y in ys] if copied else [], set()
    while left:
        op = left.pop()
        if op in copied and op.outputs[0].dtype.is_floating:
            raise ValueError("the loop that ends at `%s` was copied by `tf.contrib.graph_editor` and has no gradient: build it again with `tf.while_loop`" % op.name)
        if op not in seen:
            seen.add(op)
            left += [t.op for t in op.inputs if not any(t is end or t == end for end in ends)]


def _refuse_open_loops(ys: List[Any], xs: List[Any], ends: List[Any]) -> None:
    """Raises an error if a loop that was made of single operations is between tensors.

    The engine knows the loops of `tf.while_loop`, and imported ones of its form. Others would give None.
    """
    if not _is_made("Enter"):
        return
    stops, froms = set(ends), set(xs)
    for one in _operations_before(ys, stops):
        given = list(one.inputs)
        if one.type in ("Enter", "NextIteration") and one._get_control_flow_context() is None and given[0].dtype.is_floating:
            if any(t in froms for t in given) or any(t in froms for before in _operations_before(given, stops) for t in before.inputs):
                raise ValueError("the loop of `%s` was made of single operations and has no gradient: make it with `tf.while_loop`" % one.name)


def _operations_before(tensors: List[Any], ends: Any) -> List[Any]:
    """Returns the operations that compute tensors, up to those that compute the ends."""
    left, seen = [t.op for t in tensors if t not in ends], set()
    while left:
        one = left.pop()
        if one not in seen:
            seen.add(one)
            left += [t.op for t in one.inputs if t not in ends]
    return list(seen)


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> List[Any]:
    """Returns the gradients of the sum of `ys` with respect to `xs`.

    Args:
      ys: A tensor, or a list of tensors of floating or complex dtype.
      xs: A tensor or variable, or a list of them.
      grad_ys: The gradients of `ys`, each of the shape and dtype of its y; by default ones.
      name: The name scope of the new operations.
      colocate_gradients_with_ops: If true, gradients are on the devices of the operations they differentiate.
      gate_gradients: If true, all gradients of an operation are computed before any is used.
      aggregation_method: A value of `tf.AggregationMethod`.
      stop_gradients: Tensors to treat as constants.
      unconnected_gradients: The gradient of an x that no y depends on: None for
        `tf.UnconnectedGradients.NONE`, zeros for `ZERO`.

    Returns:
      A list: for each x a tensor of its shape and dtype, an `IndexedSlices` (for gathers), or None. If an x
        or y is not of floating or complex dtype, or if all gradients are None, a warning says why.

    Raises:
      ValueError: An argument has an invalid value, `grad_ys` has another length or shape, or `xs` belong to
        another graph.
      TypeError: `xs` holds lists, or `grad_ys` is missing for a complex y.
      LookupError: An operation between `ys` and `xs` has no gradient.

    Example:
      >>> x = tf.constant([1.0, 2.0, 3.0])
      >>> y = tf.constant(2.0)
      >>> by_x, by_y, by_none = tf.gradients(x * x * y, [x, y, tf.constant(0.0)])
      >>> print(*tf.Session().run([by_x, by_y]), by_none)
      [ 4.  8. 12.] 14.0 None
    """
    if unconnected_gradients not in (UnconnectedGradients.NONE, UnconnectedGradients.ZERO):
        raise ValueError("Unknown value for unconnected_gradients: %r: it must be 'none' or 'zero'" % (unconnected_gradients,))
    methods = (None, AggregationMethod.ADD_N, AggregationMethod.EXPERIMENTAL_TREE, AggregationMethod.EXPERIMENTAL_ACCUMULATE_N)
    if aggregation_method not in methods:
        raise ValueError("Invalid aggregation_method specified %s." % aggregation_method)
    check_scope_name(name)
    ys, xs = _list(ys), _list(xs)
    for x in xs:
        if isinstance(x, (list, tuple)):
            raise TypeError("`xs` contains a list: pass a flat list, as in `xs + more`")
    ys = [convert_to_tensor(y, name="y") for y in ys]
    sources = [_source(x) for x in xs]
    if not ys:
        return [None] * len(xs)
    for item in [*sources, *ys]:
        if item.graph is not ys[0].graph:
            raise ValueError("%s must be from the same graph as %s." % (item, ys[0]))
    if grad_ys is not None:
        grad_ys = _list(grad_ys)
        if len(grad_ys) != len(ys):
            raise ValueError("Passed %d grad_ys for %d ys" % (len(grad_ys), len(ys)))
        grad_ys = [None if g is None else _grad_y(g, y, i) for i, (g, y) in enumerate(zip(grad_ys, ys))]
    for i, y in enumerate(ys):
        if y.dtype.is_complex and (grad_ys is None or grad_ys[i] is None):
            raise TypeError("Gradients of complex tensors must set grad_ys (y.dtype = %r)" % y.dtype.base_dtype)
    whole = _of_whole_numbers(ys, sources, grad_ys)
    kept = [i for i, y in enumerate(ys) if _has_gradient(y)]
    if not kept:
        if unconnected_gradients == UnconnectedGradients.NONE and all(grad is None for grad in whole):
            _warn_of_none("all gradients are None, because the y `%s` is %s", ys[0])
        if unconnected_gradients == UnconnectedGradients.ZERO:
            whole = [op("ZerosLike")(convert_to_tensor(x)) if grad is None else grad for grad, x in zip(whole, xs)]
        return whole
    if len(kept) < len(ys):
        # As in TensorFlow: the other ys have a gradient, though none flows from integers.
        grad_ys = None if grad_ys is None else [grad_ys[i] for i in kept]
        ys = [ys[i] for i in kept]
    usable = [_has_gradient(x) for x in sources]
    stop = None if stop_gradients is None else [_source(s) for s in _list(stop_gradients)]
    asked = [x for x, use in zip(sources, usable) if use]
    graph = ys[0].graph
    _refuse_copied_loops(graph, ys, [*asked, *(stop or [])])
    _refuse_open_loops(ys, asked, [*asked, *(stop or [])])
    before = len(graph)
    given = [grad_ys is not None and g is not None for g in grad_ys or ys]
    if getattr(graph, "_waits", False) and asked:
        # The gradients of an engine's call have no control inputs: what they begin with has.
        grad_ys = [_after(g, y, i) for i, (g, y) in enumerate(zip(grad_ys or [None] * len(ys), ys))]
    try:
        made = _engine.gradients(graph, ys, asked, grad_ys, stop, name or "gradients", _op_types()) if asked else []
    except NotImplementedError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise  # An exception of a gradient function.
        # As in TensorFlow: a missing gradient is a LookupError.
        said = str(error)
        raise LookupError(said if said.startswith("No gradient defined") else "No gradient defined for operation: " + said) from None
    if colocate_gradients_with_ops:
        _beside(graph, before)
    promise(graph, ys, given, asked, stop, bool(gate_gradients), before)
    found = iter(made)
    grads: List[Any] = [next(found) if use else own for use, own in zip(usable, whole)]
    if unconnected_gradients == UnconnectedGradients.NONE:
        for x, use, own in zip(sources, usable, whole):
            if not use and own is None:
                _warn_of_none("the gradient of the x `%s` is None, because it is %s", x)
        if asked and all(grad is None for grad in grads):
            logging.warning(
                "tf.gradients: all gradients are None: no path of floating-point operations leads from `%s` to `%s`. Comparisons, indices, "
                "casts to integers and tf.stop_gradient end a path.",
                asked[0].name,
                ys[0].name,
            )
    result = []
    for grad, x in zip(grads, xs):
        if isinstance(grad, tuple):
            grad = IndexedSlices(*grad)
        if grad is None and unconnected_gradients == UnconnectedGradients.ZERO:
            grad = op("ZerosLike")(convert_to_tensor(x))
        result.append(grad)
    return result


def hessians(
    ys: Any,
    xs: Any,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
) -> List[Tensor]:
    """Returns the second derivatives of the sum of `ys` with respect to each of `xs`.

    Args:
      ys: A tensor, or a list of tensors.
      xs: A tensor of known rank, or a list of such tensors.
      name: The name scope of the new operations.
      colocate_gradients_with_ops: As in `gradients`.
      gate_gradients: As in `gradients`.
      aggregation_method: As in `gradients`.

    Returns:
      A list: for each x a tensor of its dtype, of shape `x.shape + x.shape`.

    Example:
      >>> x = tf.constant([1.0, 2.0])
      >>> print(tf.Session().run(tf.hessians(x[0] * x[0] * x[1], x)[0]))
      [[4. 2.]
       [2. 0.]]
    """
    xs, results = _list(xs), []
    for i, (grad, x) in enumerate(zip(gradients(ys, xs), xs)):
        with name_scope(name):
            flat = reshape(grad, [-1])
            n = size(x)

            def body(j: Any, array: Any, flat: Any = flat, x: Any = x) -> Any:
                return j + 1, array.write(j, gradients(flat[j], x)[0])

            _, rows = while_loop(lambda j, _, n=n: j < n, body, [0, TensorArray(x.dtype.base_dtype, size=n)])
            results.append(reshape(rows.stack(), concat([shape(x), shape(x)], 0)))
    return results


def _one_graph(*tensors: Tensor) -> Any:
    """Returns the graph that all tensors belong to."""
    for tensor in tensors:
        if tensor.graph is not tensors[0].graph:
            raise ValueError("%s must be from the same graph as %s." % (tensor, tensors[0]))
    return tensors[0].graph


def jacobian(y: Any, x: Any, name: Optional[str] = None) -> Tensor:
    """Returns the derivatives of every element of `y` with respect to every element of `x`.

    The graph loops over the elements of `y`; iterations may overlap. TensorFlow 1 has no such function.

    Args:
      y: A tensor of floating dtype.
      x: A tensor or variable of floating dtype.
      name: The name scope of the new operations.

    Returns:
      A tensor of the dtype of `x`, of shape `y.shape + x.shape`: zeros if `y` does not depend on `x`.

    Raises:
      ValueError: `y` and `x` belong to different graphs, or have a dtype without gradients.
      NotImplementedError: An operation between them has no gradient.

    Example:
      >>> x = tf.constant([1.0, 2.0])
      >>> print(tf.Session().run(tf.jacobian(tf.stack([x[0] * x[1], x[1] * x[1], x[0]]), x)))
      [[2. 1.]
       [0. 4.]
       [1. 0.]]
    """
    y, x = convert_to_tensor(y), _source(x)
    with name_scope(name):
        return _engine.jacobian(_one_graph(y, x), y, x, False, _op_types())


def batch_jacobian(y: Any, x: Any, name: Optional[str] = None) -> Tensor:
    """Returns the Jacobian of each entry of a batch.

    Entry `i` of `y` may depend only on entry `i` of `x`. The loop is over the elements of one entry, not over
    the batch. TensorFlow 1 has no such function.

    Args:
      y: A tensor of floating dtype, of shape `[b, ..]`.
      x: A tensor or variable of floating dtype, of shape `[b, ..]`.
      name: The name scope of the new operations.

    Returns:
      A tensor of the dtype of `x`, of shape `[b] + y.shape[1:] + x.shape[1:]`.

    Raises:
      ValueError: `y` and `x` belong to different graphs, have a dtype without gradients, or are scalars.
      NotImplementedError: An operation between them has no gradient.

    Example:
      >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
      >>> tf.Session().run(tf.batch_jacobian(x * x, x)).tolist()
      [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
    """
    y, x = convert_to_tensor(y), _source(x)
    with name_scope(name):
        return _engine.jacobian(_one_graph(y, x), y, x, True, _op_types())


def jvp(ys: Any, xs: Any, tangents: Any, name: Optional[str] = None) -> List[Tensor]:
    """Returns the derivatives of `ys` along `tangents` of `xs` (forward mode).

    It differentiates the gradient, which is linear in the gradients of `ys`. TensorFlow 1 has no such
    function.

    Args:
      ys: A tensor of floating dtype, or a list of tensors.
      xs: A tensor or variable, or a list of them.
      tangents: The direction of `xs`, of the same shape and dtype; a list if `xs` is a list.
      name: The name scope of the new operations.

    Returns:
      A list: for each y a tensor of its shape and dtype.

    Raises:
      ValueError: The number of tangents differs from that of `xs`, tensors belong to different graphs, or a
        dtype has no gradients.
      NotImplementedError: An operation between them has no second derivative.

    Example:
      >>> x = tf.constant([1.0, 2.0])
      >>> along, = tf.jvp(x * x, x, [1.0, 0.5])
      >>> print(tf.Session().run(along))
      [2. 2.]
    """
    if not isinstance(xs, (list, tuple)):
        xs, tangents = [xs], [tangents]
    if len(tangents) != len(xs):
        raise ValueError("%d tangents for %d xs: there must be one for each x" % (len(tangents), len(xs)))
    ys, sources = [convert_to_tensor(y) for y in _list(ys)], [_source(x) for x in xs]
    directions = [t if isinstance(t, Tensor) else convert_to_tensor(t, x.dtype.base_dtype) for t, x in zip(tangents, xs)]
    graph = _one_graph(*ys, *sources, *directions) if ys else get_default_graph()
    with name_scope(name):
        return _engine.jvp(graph, ys, sources, directions, _op_types())


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Makes the gradient of `f` recompute its values instead of saving them.

    Use it within a variable scope with `use_resource=True`, and create its variables before.

    Args:
      f: A function of tensors.

    Returns:
      A function with the same arguments that returns the results of `f`.

    Example:
      >>> x = tf.constant([1.0, 2.0])
      >>> with tf.variable_scope("s", use_resource=True):
      ...     y = tf.recompute_grad(lambda x: tf.square(tf.square(x)))(x)
      >>> print(*tf.Session().run([y, tf.gradients(y, x)[0]]))
      [ 1. 16.] [ 4. 32.]
    """

    @custom_gradient
    def again(*args: Any) -> Any:
        def grad(*grads: Any, **kwargs: Any) -> Any:
            variables = kwargs.get("variables") or []
            with get_default_graph().control_dependencies([g for g in grads if isinstance(g, Tensor)]):
                # Copies of the arguments, so that recomputed values are not merged with those computed
                # before.
                inputs = [op("Identity")(x) for x in args]
                results = nest.flatten(f(*inputs))
            found = gradients(results, inputs + list(variables), list(grads))
            return (found[: len(args)], found[len(args) :]) if variables else found

        return f(*args), grad

    return functools.wraps(f)(again)
