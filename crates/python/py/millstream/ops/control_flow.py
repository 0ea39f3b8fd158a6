"""Loops and branches: structures are flattened here; the engine builds control flow over flat lists.

Exceptions of bodies, branches and conditions are passed on unchanged.
"""

from __future__ import annotations

import collections.abc
import contextlib
import inspect
import operator
from typing import Any, Callable, Iterator, List, Optional, Sequence

import numpy as np

from millstream import _engine
from millstream._engine import Operation, Tensor
from millstream.framework import (
    IndexedSlices,
    SparseTensor,
    check_scope_name,
    colocate_with,
    constant,
    constant_value,
    control_dependencies,
    convert_to_tensor,
    dtypes,
    get_default_graph,
    name_scope,
    nest,
    node_counts,
    shapes,
    switches,
)
from millstream.framework.op_functions import op


def no_op(name: Optional[str] = None) -> Operation:
    """Does nothing; a placeholder for control dependencies.

    Args:
      name: A name for the operation.

    Returns:
      The `Operation`. A session that runs it returns None.

    Example:
      >>> with tf.control_dependencies([tf.constant(1)]):
      ...     done = tf.no_op(name="done")
      >>> done.name, tf.Session().run(done)
      ('done', None)
    """
    return op("NoOp")(name=name)


def group(*inputs: Any, **kwargs: Any) -> Operation:
    """Groups operations: returns one that runs after all of them.

    Args:
      *inputs: Operations, tensors, variables, or structures of them. A tensor counts as the operation that
        makes it.
      name: A name for the operation (keyword only).

    Returns:
      An `Operation` without outputs. Inputs on several devices are gathered on each device first.

    Raises:
      ValueError: A keyword argument other than `name`.
      TypeError: An element of `inputs` is not part of a graph.

    Example:
      >>> a, b = tf.Variable(1), tf.Variable(2)
      >>> both = tf.group(a.assign_add(10), b.assign_add(20))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(both)
      ...     print(*sess.run([a, b]))
      11 22
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs.keys()))
    ops = []
    flat = nest.flatten(list(inputs))
    for item in [part for item in flat for part in (_Structure.parts(item) if isinstance(item, (IndexedSlices, SparseTensor)) else [item])]:
        if not hasattr(item, "graph") and not hasattr(item, "_as_graph_element"):
            raise TypeError("Expected tf.group() expected Tensor arguments not '%s' with type '%s'" % (item, type(item)))
        ops.append(item)
    graph = get_default_graph() if not ops else _graph(ops[0])
    with graph.as_default():
        devices: Any = {}
        for item in ops:
            device = (item if isinstance(item, (Operation, Tensor)) else graph.as_graph_element(item)).device
            devices.setdefault(device, []).append(item)
        if len(devices) < 2:
            with control_dependencies(ops):
                return no_op(name=name or "group_deps")
        # As in TensorFlow: operations on one device are gathered there first.
        with name_scope(name, "group_deps", []) as scope:
            gathered = []
            for device in sorted(devices):
                with graph.device(device or None), control_dependencies(devices[device]):
                    gathered.append(no_op())
            with control_dependencies(gathered):
                return no_op(name=scope)


def _graph(item: Any) -> Any:
    return item.graph if hasattr(item, "graph") else get_default_graph()


def tuple(tensors: Any, name: Optional[str] = None, control_inputs: Any = None) -> List[Any]:  # noqa: A001
    """Groups tensors: each result is available only after all of `tensors` have been computed.

    Args:
      tensors: A list of tensors, `IndexedSlices`, variables or None (which stays None).
      name: The name scope of the new operations.
      control_inputs: Operations and tensors to wait for as well.

    Returns:
      A list like `tensors`, with the same values, shapes and dtypes.

    Raises:
      ValueError: `tensors` holds no tensor.
      TypeError: An element of `control_inputs` is neither an operation nor a tensor.

    Example:
      >>> v = tf.Variable(1)
      >>> five, six = tf.tuple([tf.constant(5), tf.constant(6)], control_inputs=[v.initializer])
      >>> with tf.Session() as sess:
      ...     print(sess.run(five), sess.run(v))
      5 1
    """
    with name_scope(name, "tuple", []) as name:
        tensors = [t if t is None or isinstance(t, Operation) or hasattr(t, "op") else convert_to_tensor(t) for t in tensors]
        gates = [t if isinstance(t, Operation) else t.op for t in tensors if t is not None]
        if control_inputs:
            for item in control_inputs:
                if not isinstance(item, Operation) and not hasattr(item, "op"):
                    raise TypeError("Control input must be Operation or Tensor: %s" % (item,))
                gates.append(item if isinstance(item, Operation) else item.op)
        if not gates:
            raise ValueError("Must have at least one Tensor: %s" % tensors)
        gate = group(*gates)
        return [None if t is None else group(gate, t) if isinstance(t, Operation) else with_dependencies([gate], t) for t in tensors]


def with_dependencies(dependencies: Any, output: Any, name: Optional[str] = None) -> Any:
    """Returns `output`, available after the dependencies have run."""
    dependencies = list(dependencies)
    with name_scope(name, "control_dependency", [*dependencies, output]) as name:
        # As in TensorFlow, a number is a constant of its own here.
        beside = output.values if isinstance(output, (IndexedSlices, SparseTensor)) else output
        with colocate_with(beside), control_dependencies(dependencies):
            if isinstance(output, (IndexedSlices, SparseTensor)):
                # As in TensorFlow, a sparse tensor comes back as slices.
                return IndexedSlices(op("Identity")(output.values, name=name), output.indices, output.dense_shape)
            output = convert_to_tensor(output)
            return op("RefIdentity" if output.dtype._is_ref_dtype else "Identity")(output, name=name)


class _Structure:
    """A nest of loop variables or results, with composite values split into tensors."""

    def __init__(self, structure: Any) -> None:
        self._structure = structure
        self._flat = nest.flatten(structure)

    leaves = property(lambda self: self._flat, doc="The leaves of the nest.")

    @staticmethod
    def parts(value: Any) -> List[Any]:
        """The tensors that a leaf consists of."""
        if isinstance(value, SparseTensor):
            return [value.indices, value.values, value.dense_shape]
        if isinstance(value, IndexedSlices):
            return [value.values, value.indices] + ([] if value.dense_shape is None else [value.dense_shape])
        if hasattr(value, "_loop_value"):
            return [value._loop_value()]
        return [value]

    def flatten(self) -> List[Any]:
        """The parts of all leaves."""
        return [part for leaf in self._flat for part in self.parts(leaf)]

    def names(self) -> List[str]:
        """A name for each part: its path."""
        names = []
        for path, leaf in zip(_paths(self._structure), self._flat):
            n = len(self.parts(leaf))
            names.extend([path] if n == 1 else ["%s.%d" % (path, i) for i in range(n)])
        return names

    def pack(self, values: Any) -> Any:
        """The nest with these parts."""
        values = iter(values)
        leaves: List[Any] = []
        for leaf in self._flat:
            if isinstance(leaf, SparseTensor):
                leaves.append(SparseTensor(next(values), next(values), next(values)))
            elif isinstance(leaf, IndexedSlices):
                shape = leaf.dense_shape is not None
                leaves.append(IndexedSlices(next(values), next(values), next(values) if shape else None))
            elif hasattr(leaf, "_loop_value"):
                leaves.append(leaf._with_loop_value(next(values)))
            else:
                leaves.append(next(values))
        return nest.pack_sequence_as(self._structure, leaves)


def _paths(structure: Any, prefix: str = "") -> List[str]:
    if not nest.is_sequence(structure):
        return [prefix or "0"]
    if isinstance(structure, dict):
        items = [(str(k), structure[k]) for k in sorted(structure)]
    elif hasattr(structure, "_fields"):
        items = list(zip(structure._fields, structure))
    elif hasattr(type(structure), "__attrs_attrs__"):
        items = [(a.name, getattr(structure, a.name)) for a in type(structure).__attrs_attrs__]
    else:
        items = [(str(i), v) for i, v in enumerate(structure)]
    return [path for key, value in items for path in _paths(value, prefix + "." + key if prefix else key)]


def _shape_invariants(given_vars: Any, vars: Any, invariants: Any) -> List[Any]:  # noqa: A002
    """The invariant of each part of each loop variable. Errors refer to the variables as they were given."""
    flat: List[Any] = []
    leaves = nest.flatten(vars)
    alike = type(vars) is type(invariants)
    nest.assert_same_structure(given_vars if alike else _list(given_vars), invariants if alike else _list(invariants))
    given = nest.flatten_up_to(vars, invariants)
    for leaf, shape in zip(leaves, given):
        if isinstance(leaf, SparseTensor):
            shape = shapes.TensorShape(shape)
            if shape.ndims not in (None, 1):
                raise ValueError("Expected a shape with 1 dimension")
            rank = shape.as_list()[0] if shape.ndims is not None else None
            flat.extend([shapes.TensorShape([None, rank]), shapes.TensorShape([None]), shapes.TensorShape([rank])])
        elif isinstance(leaf, IndexedSlices):
            shape = shapes.TensorShape(shape)
            flat.extend([shape, shapes.TensorShape([shape[0]])])
            if leaf.dense_shape is not None:
                flat.append(shapes.TensorShape([shape.ndims]))
        elif hasattr(leaf, "_loop_value"):
            flat.append(None)
        else:
            if shape is None:
                flat.append(None)  # The variable's initial shape.
                continue
            if isinstance(shape, Tensor):
                raise TypeError("shape_invariants must be TensorShapes, not a Tensor")
            if isinstance(shape, shapes.TensorSpec):
                if shape.dtype != leaf.dtype.base_dtype:
                    raise TypeError("%r is not compatible with %r: the invariant has another dtype" % (shape, leaf))
                shape = shape.shape
            flat.append(shapes.TensorShape(shape))
    return flat


def _default_invariants(structure: Any) -> Optional[List[Any]]:
    """TensorFlow's default: the number of entries of a sparse tensor may change; all else keeps its shape."""
    if not any(isinstance(leaf, SparseTensor) for leaf in structure.leaves):
        return None
    flat: List[Any] = []
    for leaf in structure.leaves:
        if isinstance(leaf, SparseTensor):
            rank = shapes.dimension_value(leaf.dense_shape.shape.with_rank(1)[0])
            flat.extend([shapes.TensorShape([None, rank]), shapes.TensorShape([None]), shapes.TensorShape([rank])])
        else:
            flat.extend([None] * len(structure.parts(leaf)))
    return flat


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: Optional[str] = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
    *,
    checkpoint_every: Any = None,
) -> Any:
    """Repeats `body` while `cond` holds.

    The graph computes what these lines compute, so the number of iterations may depend on feeds:

        while cond(*loop_vars):
            loop_vars = body(*loop_vars)
        return loop_vars

    `cond` and `body` are called once each, while the graph is built, with tensors that represent the
    variables of any iteration. Iterations overlap as soon as their inputs are available, up to
    `parallel_iterations` of them. Gradients flow through the loop, nested loops included.

    Args:
      cond: A function of the loop variables that returns a boolean scalar.
      body: A function of the loop variables that returns their next values, with the same structure and
        dtypes and with shapes that the shape invariants allow.
      loop_vars: A tuple, named tuple, list or dict, possibly nested, of tensors, `TensorArray`s,
        `SparseTensor`s, `IndexedSlices` and values that convert to tensors.
      shape_invariants: A structure like `loop_vars` of `TensorShape`s or `TensorSpec`s: the shape that each
        variable has in every iteration, with unknown dimensions where it changes; by default the shape of the
        initial value.
      parallel_iterations: A positive int: the largest number of iterations that run at the same time.
      back_prop: If true, gradients may flow through the loop.
      swap_memory: Accepted, but values saved for the gradient stay in memory.
      name: The name scope of the loop's nodes.
      maximum_iterations: An integer scalar: the largest number of iterations.
      return_same_structure: If true, a single loop variable is returned in its list.
      checkpoint_every: Not in TensorFlow. A positive int k: for the gradient, the loop keeps the variables of
        every k-th iteration only and recomputes the iterations between. This takes memory for `n / k + k`
        iterations instead of `n` and one more forward pass, and gives the same bits. `"auto"` is for loops of
        unknown length and keeps about `sqrt(n) / 2` states. The body must be repeatable: no random numbers,
        no assignments.

    Returns:
      The final loop variables in their structure; for a single variable, the variable itself.

    Raises:
      TypeError: `cond` or `body` is not callable, `loop_vars` is no structure, `parallel_iterations` is not
        positive, or the condition is not boolean.
      ValueError: `loop_vars` is empty, the condition is not a scalar, or the body changes the structure, a
        dtype or a shape.

    Example:
      >>> n = tf.placeholder(tf.int32, [])
      >>> i, total = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), [0, 0])
      >>> print(tf.Session().run(total, {n: 10}))
      45
      >>> grown = tf.while_loop(lambda x: tf.size(x) < 5, lambda x: tf.concat([x, x], 0), [tf.constant([1])],
      ...     [tf.TensorShape([None])])
      >>> grown.shape, tf.Session().run(grown).tolist()
      (TensorShape([Dimension(None)]), [1, 1, 1, 1, 1, 1, 1, 1])
    """
    if not callable(cond):
        raise TypeError("cond must be callable.\n  help: pass functions of the loop variables, such as `lambda i: i < n` and `lambda i: i + 1`")
    if not callable(body):
        raise TypeError("body must be callable.")
    if parallel_iterations < 1:
        raise TypeError("parallel_iterations must be a positive integer.")
    if isinstance(parallel_iterations, float):
        raise ValueError("`parallel_iterations` must be a positive integer: %s" % parallel_iterations)
    checkpoint = _checkpoint(checkpoint_every)
    # As in TensorFlow, 0 counts as none, and a tensor outside of a list has no truth value.
    if not loop_vars or nest.is_sequence(loop_vars) and not nest.flatten(loop_vars):
        raise ValueError("No loop variables provided")
    if not nest.is_sequence(loop_vars):
        raise TypeError("'%s' object is not iterable: pass the loop variables in a list or tuple, as in `loop_vars=[x]`" % type(loop_vars).__name__)
    graph = get_default_graph()
    with graph.name_scope(name or "while") as scope:
        if maximum_iterations is not None:
            only = dtypes.int32 if switches.control_flow_v2_enabled() else None
            maximum_iterations = convert_to_tensor(maximum_iterations, only, name="maximum_iterations")
            if maximum_iterations.shape.ndims != 0:
                raise ValueError("maximum_iterations must be a scalar, saw shape: %s" % (maximum_iterations.shape,))
            if maximum_iterations.dtype.base_dtype.is_floating:
                # A counter is less than a fraction for as many iterations as it is less than the next number.
                maximum_iterations = op("Cast")(op("Ceil")(maximum_iterations), dtypes.int32)
        converted = nest.map_structure(_as_loop_var, loop_vars)
    structure = _Structure(converted)
    # TensorFlow makes a bound in any case, and a counter.
    function = _Functions(graph, scope, "loop", 1 + (maximum_iterations is None)) if switches.control_flow_v2_enabled() else None
    returned: List[Any] = []

    def call(function: Any, flat: Any) -> Any:
        packed = structure.pack(flat)
        args = [packed] if isinstance(packed, dict) else packed
        try:
            return function(*args)
        except TypeError as error:
            if not _takes(function, args):
                error.args = ("%s\n  help: `cond` and `body` are called with one argument for each of the %d items of `loop_vars`" % (error, len(args)),)
            raise

    def flat_cond(flat: Any) -> Tensor:
        if function is None:
            return _condition(call(cond, flat), scope, "cond" if maximum_iterations is None else "LogicalAnd/y")
        with function.body(2 + len(flat)):
            more = convert_to_tensor(call(cond, flat), name="cond")
            return _condition(more if more.shape.ndims == 0 else op("Reshape")(more, []), scope, "cond")

    def flat_body(flat: Any) -> List[Tensor]:
        with contextlib.nullcontext() if function is None else function.body(2 + len(flat) + function.n_captured(maximum_iterations)):
            result = call(body, flat)
        if not nest.is_sequence(result):
            result = [result]
        # The structure as it is inside of the loop, so that errors use the names that the body saw.
        wanted = structure.pack(flat)
        if isinstance(result, dict) and not isinstance(wanted, dict):
            result = list(result)
        if isinstance(result, Sequence) and len(result) == 1 and result[0] is None:
            raise ValueError("None values not supported.\n  help: loop `%s`: `body` returned None: does it lack a `return`?" % scope[:-1])
        try:
            nest.assert_same_structure(_list(wanted), _list(result))
        except (TypeError, ValueError) as error:
            error.args = ("%s\n  help: loop `%s`: `body` must return the next value of each loop variable, in the structure of `loop_vars`" % (error, scope[:-1]),)
            raise
        returned.append(result)
        flat_result = _next_values(result, converted)
        for start, now, after in zip(starts, flat, flat_result):
            if function is not None and start.dtype.base_dtype != after.dtype.base_dtype:
                raise TypeError("Loop var %s enters the loop with type %s but has type %s after 1 iteration." % (start.name, start.dtype.base_dtype, after.dtype.base_dtype))
            _check_next(start, now, after)
        return flat_result

    invariants = _default_invariants(structure) if shape_invariants is None else _shape_invariants(loop_vars, converted, shape_invariants)
    starts = structure.flatten()
    _check_invariants(starts, invariants or ())
    results = _engine.while_loop(
        graph,
        flat_cond,
        flat_body,
        starts,
        structure.names(),
        invariants,
        parallel_iterations,
        back_prop or function is not None,
        swap_memory,
        maximum_iterations,
        scope if function is None else function.scope,
        checkpoint,
    )
    if function is not None:
        packed = structure.pack(function.results(results, 2, 1 + function.n_captured(maximum_iterations)))
        leaves = nest.flatten(packed)
        return leaves[0] if not return_same_structure and len(leaves) == 1 else packed
    # As in TensorFlow: the structure that the body returned, which may be a tuple where the variables were a
    # list.
    packed = _Structure(returned[0]).pack(results)
    return packed[0] if not return_same_structure and len(results) == 1 and not isinstance(packed, dict) else packed


def _takes(function: Any, args: Any) -> bool:
    """Whether a function takes this number of arguments, as far as its signature tells."""
    try:
        signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*args)
    except TypeError:
        return False
    return True


def _next_values(result: Any, converted: Any) -> List[Tensor]:
    """Returns the tensors in the result of `body`, converted to the dtypes of the loop variables."""
    flat: List[Tensor] = []
    for value, start in zip(nest.flatten(result), nest.flatten(converted)):
        if isinstance(value, (SparseTensor, IndexedSlices)) or hasattr(value, "_loop_value"):
            flat.extend(_Structure.parts(value))
        else:
            flat.append(_next_value(value, getattr(start, "dtype", None)))
    return flat


def _checkpoint(checkpoint_every: Any) -> Optional[int]:
    """Returns the number of iterations between checkpoints: 0 for the engine's choice, None for none."""
    if checkpoint_every is None:
        return None
    if checkpoint_every == "auto":
        return 0
    distance = operator.index(checkpoint_every)
    if distance < 1:
        raise ValueError("checkpoint_every is %r: it must be a positive integer, or 'auto'" % (checkpoint_every,))
    return distance


def _condition(value: Any, scope: str, name: str) -> Tensor:
    """Converts the result of `cond` to a bool scalar, named `name` if it is a constant."""
    more = convert_to_tensor(value, name=name)
    if more.dtype.base_dtype != dtypes.bool:
        raise TypeError("Input 'input' of 'LoopCond' Op has type %s that does not match expected type of bool.\n  help: `cond` must return a bool: compare, as in `i < n`" % more.dtype.name)
    if more.shape.ndims not in (0, None):
        raise ValueError(
            "Shape must be rank 0 but is rank %s for '%sLoopCond' (op: 'LoopCond') with input shapes: [%s]. The condition of a loop is a single bool: reduce it, for instance by `tf.reduce_all`."
            % (more.shape.ndims, scope, ",".join("?" if d is None else str(d) for d in more.shape.as_list()))
        )
    return more


def _check_invariants(starts: List[Tensor], invariants: Any) -> None:
    """Checks that the initial shape of each loop variable is compatible with its invariant."""
    for start, shape in zip(starts, invariants):
        if shape is not None and not _is_within(start.shape, shape):
            raise ValueError(
                "The shape invariant specified for %s is not compatible with the initial shape of the loop variable. It enters the loop with shape %s, "
                "but the specified shape invariant is %s." % (start.name, start.shape, shape)
            )


def _is_within(shape: Any, wider: Any) -> bool:
    """Whether every tensor of shape `shape` also has shape `wider`."""
    if wider.ndims is None:
        return True
    if shape.ndims != wider.ndims:
        return False
    return all(w is None or d == w for d, w in zip(shape.as_list(), wider.as_list()))


def _check_next(start: Any, now: Any, after: Any) -> None:
    """Raises unless the variable's shape holds in the next iteration, too."""
    if now.dtype == after.dtype and not _is_within(after.shape, now.shape):
        what = "" if start.shape.ndims == now.shape.ndims and start.shape.as_list() == now.shape.as_list() else " (its shape invariant is %s)" % now.shape
        raise ValueError(
            "Input tensor '%s' enters the loop with shape %s, but has shape %s after one iteration. To allow the shape to vary across iterations, use the "
            "`shape_invariants` argument of tf.while_loop to specify a less-specific shape.%s\n  returned by: %s" % (start.name, start.shape, after.shape, what, after.name)
        )


def _as_loop_var(value: Any) -> Any:
    if isinstance(value, (Tensor, SparseTensor, IndexedSlices)) or hasattr(value, "_loop_value"):
        return value
    return convert_to_tensor(value)


def _next_value(value: Any, dtype: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if value is None:
        raise ValueError("None values not supported.")
    return convert_to_tensor(value, dtype_hint=None if dtype is None else dtype.base_dtype)


def _list(structure: Any) -> Any:
    return list(structure) if type(structure) in (list, builtin_tuple) else structure


builtin_tuple = type(())


_NO_FUNCTION = "\n  help: pass functions without arguments: `lambda: x` instead of `x`"
_CAST = "Outputs of true_fn and false_fn must have the same type: %s, %s\n  help: convert one of them by `tf.cast`"


def cond(
    pred: Any,
    true_fn: Optional[Callable[[], Any]] = None,
    false_fn: Optional[Callable[[], Any]] = None,
    strict: bool = False,
    name: Optional[str] = None,
    fn1: Any = None,
    fn2: Any = None,
) -> Any:
    """Returns `true_fn()` if `pred` is true, else `false_fn()`.

    Both functions are called once, while the graph is built. A run executes only the operations made in the
    branch that is taken. Operations made outside of the functions run in any case, even if only one branch
    uses them.

    Args:
      pred: A boolean scalar tensor. A Python bool is an error: use `if`.
      true_fn: A function without arguments that returns tensors or a structure of them.
      false_fn: As `true_fn`, with the same structure and dtypes; shapes may differ.
      strict: If true, lists of one tensor stay lists.
      name: The name scope of the new operations.
      fn1: The former name of `true_fn`.
      fn2: The former name of `false_fn`.

    Returns:
      A tensor or the structure that the functions return. Its static shapes hold for both branches.

    Raises:
      TypeError: A function is missing or not callable, or `pred` is a Python bool or not boolean.
      ValueError: `pred` is not a scalar, a function returns None, or the functions' structures or dtypes
        differ.

    Example:
      >>> x = tf.placeholder(tf.float32, [])
      >>> y = tf.cond(x < 0, lambda: -x, lambda: tf.sqrt(x))
      >>> sess = tf.Session()
      >>> print(sess.run(y, {x: -3.0}), sess.run(y, {x: 16.0}))
      3.0 4.0
    """
    if fn1 is not None:
        if true_fn is not None:
            raise TypeError("cond(): true_fn and fn1 may not be set simultaneously.")
        true_fn = fn1
    if fn2 is not None:
        if false_fn is not None:
            raise TypeError("cond(): false_fn and fn2 may not be set simultaneously.")
        false_fn = fn2
    if true_fn is None:
        raise TypeError("cond(): true_fn argument required")
    if false_fn is None:
        raise TypeError("cond(): false_fn argument required")
    if not callable(true_fn):
        raise TypeError("true_fn must be callable." + _NO_FUNCTION)
    if not callable(false_fn):
        raise TypeError("false_fn must be callable." + _NO_FUNCTION)
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool\n  help: use Python's `if` for what is known while the graph is built; `tf.constant(True)` is a tensor")
    graph = get_default_graph()
    if not isinstance(pred, Tensor):
        pred = convert_to_tensor(pred)
    if pred.dtype.base_dtype != dtypes.bool:
        raise TypeError(
            "Input 'pred' of 'Switch' Op has type %s that does not match expected type of bool. (pred must be a bool: compare)" % pred.dtype.name
        )
    check_scope_name(name)
    is_function = switches.control_flow_v2_enabled()
    if pred.shape.ndims not in (0, None) and not is_function:
        dims = ",".join("?" if d is None else str(d) for d in pred.shape.as_list())
        raise ValueError(
            "Shape must be rank 0 but is rank %d for '%s/Switch' (op: 'Switch') with input shapes: [%s], [%s]. A branch is taken by a single bool: reduce it, "
            "for instance by `tf.reduce_all`." % (pred.shape.ndims, graph.unique_name(name or "cond", mark_as_used=False), dims, dims)
        )
    if pred.graph is not graph:
        with pred.graph.as_default():
            return cond(pred, true_fn, false_fn, strict=strict, name=name)
    kept: List[Any] = []
    returned: List[Any] = []
    functions: Optional[_Functions] = None
    if is_function:
        with graph.name_scope(name or "cond") as scope:
            functions = _Functions(graph, scope, "branches")
            # An array of one element selects a branch, too.
            pred = pred if pred.shape.ndims == 0 else op("Reshape")(pred, [])
            strict = True

    def branch(function: Any) -> Any:
        def call() -> List[Any]:
            with contextlib.nullcontext() if functions is None else functions.body(0):
                result = function()
            if result is None:
                raise ValueError("%s must have a return value." % ("true_fn" if function is true_fn else "false_fn"))
            if isinstance(result, Operation):
                kept.append(result)
                returned.append(result)
                if len(kept) == 2:
                    same_branches()
                return [result]
            is_nothing = isinstance(result, (list, builtin_tuple)) and not len(result)
            if not strict:
                result = _unpacked(result)
            returned.append(result)
            result = nest.map_structure(lambda r: r if isinstance(r, Operation) else _as_loop_var(r), result)
            kept.append(result)
            if len(kept) == 2:
                same_branches()
                result = _with_row_dtypes(result, kept[0], True)
            parts = _Structure(result).flatten()
            if is_nothing and len(kept) == 2:
                raise ValueError("true_fn and false_fn must return at least one result.")
            return parts or [no_op()]  # The engine joins one value at least. An empty structure is returned as it is.

        return call

    def same_branches() -> None:
        try:
            _same_branches(kept, returned)
        except (TypeError, ValueError) as e:
            if not is_function:
                raise
            what = "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of return values."
            raise TypeError("%s\n\ntrue_fn output: %s\nfalse_fn output: %s\n\nError details:\n%s" % (what, *returned, e)) from None

    merged = _engine.cond(graph, pred, branch(true_fn), branch(false_fn), functions.scope if functions is not None else name or "cond")
    if functions is not None:
        merged = functions.results(merged, 0, 1)
    first = kept[0]
    if isinstance(first, Operation):
        return merged[0]
    if not isinstance(first, Tensor) and not nest.flatten(first):
        return first
    packed = _with_row_dtypes(_Structure(first).pack(merged), kept[1], False)
    return packed if strict else _unpacked(packed)


class _Functions:
    """What `tf.enable_control_flow_v2` changes for a loop or branches: names, results and counted nodes.

    TensorFlow makes one node here, which calls functions, and replaces it by `Switch`, `Merge` and related
    nodes when the graph is run, as this engine does with such nodes of a graph that it imports. The nodes
    that are run are made right away, in a name scope of their own, so that gradients are those of any loop.
    The results get the names that they have in TensorFlow.
    """

    def __init__(self, graph: Any, scope: str, inner: str, n_made: int = 0) -> None:
        self._graph, self._outer, self._start = graph, scope, len(graph)
        # TensorFlow has made `n_made` nodes more when it builds the functions.
        self._counted = node_counts.count(graph) + n_made
        self._outside: List[int] = []
        self.scope = scope + inner + "/"

    @contextlib.contextmanager
    def body(self, n_args: int) -> Iterator[None]:
        """A block that builds a function, which counts its own nodes. `n_args` of them are there before."""
        start = len(self._graph)
        with node_counts.counted_apart(self._graph, n_args, self._counted + sum(self._outside)) as outside:
            yield
        self._outside += outside
        self._check_references(start)

    def _check_references(self, start: int) -> None:
        """Raises if a node of the function changes a variable of which a function would get the value."""
        here = self._graph._get_control_flow_context()
        for node in self._graph._operations(start):
            # A variable gets into a branch or loop by a `RefSwitch` or `RefEnter`.
            if node.type.startswith("Ref") or node._get_control_flow_context() is not here or not any(t.dtype._is_ref_dtype for t in node.inputs):
                continue
            for arg, value in zip(node.op_def.input_arg, node.inputs):
                while value.op.type in ("RefSwitch", "RefEnter"):
                    value = value.op.inputs[0]
                if arg.is_ref and value.op.type in ("VariableV2", "Variable"):
                    types = [t.dtype.base_dtype for t in node.inputs]
                    raise TypeError(
                        "In op '%s', input types (%s) are not compatible with expected types (%s); with `tf.enable_control_flow_v2`, a loop or branch "
                        "can change the variable '%s' only if it is made with `use_resource=True`"
                        % (node.type, types, [t.dtype for t in node.inputs], value.op.name)
                    )

    def n_captured(self, bound: Any) -> int:
        """The number of tensors from outside that a loop uses so far; `bound` is its `maximum_iterations`."""

        def counts(enter: Operation) -> bool:
            value = enter.inputs[0]
            while value.op.type in ("Enter", "Switch"):
                value = value.op.inputs[0]
            if value is bound and len(enter.outputs[0].consumers()) < 2:
                return False
            # An array is a list in TensorFlow, which has no handle.
            return not (value.op.type == "TensorArrayV3" and value.dtype == dtypes.resource)

        frame = self.scope + "while_context"
        enters = (o for o in self._graph._operations(self._start) if o.type == "Enter" and o.get_attr("is_constant"))
        return sum(o.get_attr("frame_name").decode() == frame and counts(o) for o in enters)

    def results(self, values: Any, first: int, n_more: int) -> List[Any]:
        """Returns the results. They and `n_more` nodes count, and not what was made for them."""
        made = [
            v if isinstance(v, Operation) else op("Identity")(v, name="%sIdentity%s/" % (self._outer, "_%d" % i if i else ""))
            for i, v in enumerate(values, first)
        ]
        node_counts.count_more(self._graph, self._counted + sum(self._outside) + first + len(made) + n_more - node_counts.count(self._graph))
        return made


def _with_row_dtypes(value: Any, like: Any, narrowed: bool) -> Any:
    """Returns `value` with the dtypes that row numbers of slices have in `like`, a value like it.

    One branch of a `cond` may number rows by int32 and the other by int64; the result has int64.

    Args:
      narrowed: Whether int64 becomes int32, too.
    """
    flat = []
    for one, other in zip(nest.flatten(value), nest.flatten(like)):
        if isinstance(one, IndexedSlices) and isinstance(other, IndexedSlices):
            dtype = other.indices.dtype.base_dtype
            if dtype != one.indices.dtype.base_dtype and (narrowed or dtype == dtypes.int64):
                one = IndexedSlices(one.values, op("Cast")(one.indices, dtype), one.dense_shape)
        flat.append(one)
    return nest.pack_sequence_as(value, flat)


def _unpacked(value: Any) -> Any:
    return value[0] if type(value) in (list, builtin_tuple) and len(value) == 1 else value


def _same_branches(kept: List[Any], returned: List[Any]) -> None:
    first, second = kept
    for one, other in ((first, second), (second, first)):
        if isinstance(one, Operation):
            if isinstance(other, Tensor) and other.dtype.base_dtype != dtypes.bool:
                types = ["bool" if v is one else other.dtype.name for v in (first, second)]
                raise ValueError("Outputs of true_fn and false_fn must have the same type: %s, %s" % (types[0], types[1]))
            return
    try:
        nest.assert_same_structure(*returned)
    except (TypeError, ValueError) as e:
        raise type(e)("Incompatible return types of true_fn and false_fn: {}\n  help: return the same structure from both".format(e)) from None
    for a, b in zip(nest.flatten(first), nest.flatten(second)):
        if len(_Structure.parts(a)) != len(_Structure.parts(b)):
            raise ValueError(
                "Incompatible return values of true_fn and false_fn: The two structures don't have the same nested structure.\n\n"
                "First structure: type=%s str=%s\n\nSecond structure: type=%s str=%s" % (type(a).__name__, a, type(b).__name__, b)
            )
        a_type, b_type = getattr(a, "dtype", None), getattr(b, "dtype", None)
        if a_type is not None and b_type is not None and a_type.base_dtype != b_type.base_dtype:
            raise ValueError(_CAST % (a_type.name, b_type.name))


def smart_cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: Optional[str] = None) -> Any:
    """As `cond`, but builds only the branch taken if the predicate is known while the graph is built.

    Args:
      pred: A Python bool or int, or a boolean scalar tensor, known if it is a constant.
      true_fn: A function without arguments.
      false_fn: A function without arguments.
      name: The name scope, if a `cond` is built.

    Returns:
      The result of the function, or of `cond`.

    Example:
      >>> tf.contrib.framework.smart_cond(True, lambda: "taken", lambda: "left")
      'taken'
    """
    known = pred if isinstance(pred, (bool, int)) else constant_value(pred)
    if known is None:
        return cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if known else false_fn()


def case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False, name: str = "case") -> Any:
    """Returns the result of the first function whose predicate is true, else `default()`.

    Args:
      pred_fn_pairs: A list of pairs of a boolean scalar tensor and a function without arguments; or a dict of
        them, taken in the order of the predicates' names. All functions return the same structure and dtypes.
      default: The function to call if no predicate is true. Without it, such a run fails.
      exclusive: If true, a run in which two predicates are true fails.
      strict: If true, lists of one tensor stay lists.
      name: The name scope of the new operations.

    Returns:
      The functions' result: a tensor, or a structure of them.

    Raises:
      TypeError: `pred_fn_pairs` has another form, a predicate is not a boolean tensor, or a function is not
        callable.
      ValueError: `pred_fn_pairs` is empty.
      tf.errors.InvalidArgumentError: When run: no predicate is true and there is no `default`; or, if
        `exclusive`, more than one is true.

    Example:
      >>> x = tf.placeholder(tf.int32, [])
      >>> size = tf.case([(x < 10, lambda: tf.constant("few")), (x < 100, lambda: tf.constant("some"))],
      ...     default=lambda: tf.constant("many"))
      >>> sess = tf.Session()
      >>> [sess.run(size, {x: n}) for n in (5, 50, 500)]
      [b'few', b'some', b'many']
    """
    if isinstance(pred_fn_pairs, dict):
        if any(not isinstance(p, Tensor) for p in pred_fn_pairs):
            raise TypeError("Pred must be a Tensor, had: %s" % next(p for p in pred_fn_pairs if not isinstance(p, Tensor)))
        pairs = sorted(pred_fn_pairs.items(), key=lambda item: item[0].name) if not exclusive else list(pred_fn_pairs.items())
    elif isinstance(pred_fn_pairs, (list, builtin_tuple)):
        pairs = list(pred_fn_pairs)
    else:
        raise TypeError("fns must be a list, tuple, or dict")
    for pair in pairs:
        if not isinstance(pair, builtin_tuple) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        if not isinstance(pair[0], Tensor):
            raise TypeError("pred must be a Tensor, got: %s" % (pair[0],))
        if pair[0].dtype.base_dtype != dtypes.bool:
            raise TypeError("pred must be Tensor of type bool: %s" % pair[0].name)
        if not callable(pair[1]):
            raise TypeError("fn for pred %s must be callable." % pair[0].name)
    if not pairs:
        raise ValueError("case: pred_fn_pairs is empty; call `default` instead")
    if default is not None and not callable(default):
        raise TypeError("false_fn must be callable. (It is `default`.)")
    predicates = [p for p, _ in pairs]
    if switches.control_flow_v2_enabled():
        pass  # What TensorFlow counts is in functions.
    elif default is None:
        # TensorFlow counts the predicates that hold in a branch of its own.
        node_counts.also(19 if not exclusive else 38 if len(pairs) == 1 else 23 - 4 * len(pairs))
    elif exclusive and len(pairs) == 1:
        node_counts.also(19)
    with name_scope(name, "case", []):
        if default is None:
            predicate, last = pairs.pop()
            others = predicates[:-1]

            def default() -> Any:
                checks = [assert_(op("LogicalNot")(p), ["more than one predicate holds"]) for p in others] if exclusive else []
                checks.append(assert_(predicate, [
                    "Input error: None of conditions evaluated as True:",
                    op("Pack")(predicates, name="preds_c"),
                ]))
                with control_dependencies(checks):
                    return last()

        checks = []
        if exclusive and len(predicates) > 1:
            together = op("Pack")(predicates, name="preds_c")
            axes = constant(np.zeros([1], np.int32), name="Const")
            counted = op("Sum")(op("Cast")(together, dtypes.int32, name="Cast"), axes, name="num_true_conds")
            message = "Input error: exclusive=True: more than 1 conditions (%s) evaluated as True:" % ", ".join(p.name for p in predicates)
            checks.append(assert_(op("LessEqual")(counted, constant(1, name="n_true_conds")), [message, together]))

        def build(left: List[Any]) -> Any:
            if not left:
                return default()
            return cond(left[0][0], left[0][1], lambda: build(left[1:]), strict=strict)

        if not pairs:
            return default()
        with control_dependencies(checks) if checks else contextlib.nullcontext():
            return build(pairs)


def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case") -> Any:
    """Returns the result of the function with index `branch_index`.

    Args:
      branch_index: An `int32` scalar tensor.
      branch_fns: A list of functions without arguments; or a dict, or a list of pairs, from 0, 1, .. to
        functions. All return the same structure and dtypes.
      default: The function for any other index; by default the one with the largest index.
      name: The name scope of the new operations.

    Returns:
      The functions' result: a tensor, or a structure of them.

    Raises:
      TypeError: `branch_index` is not an `int32` tensor, `branch_fns` has another form, a key is not an int,
        or a function is not callable.
      ValueError: `branch_fns` is empty, or the keys are not 0, 1, ..

    Example:
      >>> i = tf.placeholder(tf.int32, [])
      >>> y = tf.switch_case(i, [lambda: tf.constant(10), lambda: tf.constant(20)],
      ...     default=lambda: tf.constant(-1))
      >>> sess = tf.Session()
      >>> print(*[sess.run(y, {i: n}) for n in (0, 1, 7)])
      10 20 -1
    """
    if isinstance(branch_fns, dict):
        branch_fns = list(branch_fns.items())
    if branch_fns is not None and not isinstance(branch_fns, (list, builtin_tuple)):
        raise TypeError("branch_fns must be a list, tuple, or dict")
    if not branch_fns:
        raise ValueError("Must provide at least one item in branch_fns")
    if all(callable(fn) for fn in branch_fns):
        branch_fns = list(enumerate(branch_fns))
    for pair in branch_fns:
        if not isinstance(pair, builtin_tuple) or len(pair) != 2:
            raise TypeError("Each entry in branch_fns must be a 2-tuple")
        if not isinstance(pair[0], int):
            raise TypeError("key must be a Python `int`, got {}".format(type(pair[0])))
        if not callable(pair[1]):
            raise TypeError("fn for key {} must be callable.".format(pair[0]))
    keys = [k for k, _ in branch_fns]
    if sorted(keys) != list(range(len(keys))):
        raise ValueError("branch indices (keys) must form contiguous range of [0 to %d) but found {%s}" % (len(keys), ",".join(map(str, sorted(keys)))))
    if default is not None and not callable(default):
        raise TypeError("default must be callable.")
    if not isinstance(branch_index, Tensor) and not hasattr(branch_index, "_as_tensor"):
        raise TypeError("branch_index must a Tensor, got {}".format(type(branch_index)))
    functions = dict(branch_fns)
    last = default if default is not None else functions[max(keys)]
    graph = get_default_graph()
    before = node_counts.count(graph) if switches.control_flow_v2_enabled() else None
    with name_scope(name, "switch_case", []), name_scope("indexed_case"):
        index = convert_to_tensor(branch_index, name="branch_index")
        if index.dtype.base_dtype != dtypes.int32:
            if not index.dtype.is_integer:
                raise TypeError("branch_index must an integer Tensor, got {}".format(index.dtype))
            raise TypeError("Input 'branch_index' of 'Case' Op has type %s that does not match expected type of int32." % index.dtype.name)

        def build(left: List[int]) -> Any:
            if not left:
                return last()
            key = left[0]
            return cond(op("Equal")(index, key), functions[key], lambda: build(left[1:]))

        order = sorted(keys) if default is not None else sorted(keys)[:-1]
        try:
            result = build(order)
        except (TypeError, ValueError) as e:
            if "true_fn and false_fn" not in str(e):
                raise
            message = "branches[0] and branches[%d] arguments to tf.switch_case must have the same number, type, and overall structure of return values." % (len(order) or 1)
            raise TypeError("%s\n\nError details:\n%s" % (message, e)) from None
        taken = nest.map_structure(_taken, result) if not isinstance(result, Operation) else result
        if before is not None:  # One node, and the results.
            node_counts.count_more(graph, before + 1 + len(_Structure(taken).flatten()) - node_counts.count(graph))
        return taken


def _taken(value: Any) -> Any:
    """The result under the name that `switch_case` gives it."""
    return op("Identity")(convert_to_tensor(value)) if not isinstance(value, (SparseTensor, IndexedSlices, Operation)) and not hasattr(value, "_loop_value") else value


def assert_(condition: Any, data: Any, summarize: Optional[int] = None, name: Optional[str] = None) -> Operation:
    """Asserts that the condition holds: otherwise the run fails with the data.

    The assertion takes effect only where it runs: make the operations that rely on it depend on it.

    Args:
      condition: A boolean tensor, all elements of which must be true, or a Python bool.
      data: A list of tensors to show in the message.
      summarize: The number of elements of each tensor to show; by default 3.
      name: The name scope of the new operations.

    Returns:
      The `Operation`.

    Raises:
      tf.errors.InvalidArgumentError: When run, if the condition is false.
      ValueError: `data` is empty.

    Example:
      >>> x = tf.placeholder(tf.float32, [])
      >>> with tf.control_dependencies([tf.Assert(x > 0, ["x must be positive:", x])]):
      ...     y = tf.log(x)
      >>> print(tf.Session().run(y, {x: 1.0}))
      0.0
      >>> tf.Session().run(y, {x: -1.0})
      Traceback (most recent call last):
        ...
      millstream.errors.InvalidArgumentError: assertion failed: [x must be positive:] [-1]
      ...
    """
    if isinstance(data, Tensor) or not isinstance(data, collections.abc.Iterable):
        raise TypeError("values must be a sequence. `data` is a list of tensors to show, not %r" % (data,))
    with name_scope(name, "Assert", []) as name:
        converted = [convert_to_tensor(d) for d in data]
        if not converted:
            raise ValueError("Attr 'T' of 'Assert' Op passed list of length 0 less than minimum 1.")
        function = op("Assert")
        # `data` rather than `converted`: the node makes its own constants, as in TensorFlow, so that graphs
        # are the same.
        guard = lambda: function(condition, list(data), summarize=3 if summarize is None else summarize, name="Assert")  # noqa: E731
        if all(d.dtype in (dtypes.string, dtypes.int32) for d in converted):
            # Strings and int32 are on the host already: checking them needs no branch.
            if condition is None:
                raise ValueError("Tried to convert 'condition' to a tensor and failed. Error: None values not supported.")
            return guard()
        condition = convert_to_tensor(condition, name="Condition")
        return cond(condition, no_op, guard, name="AssertGuard").op


def Print(input_: Any, data: Any, message: Optional[str] = None, first_n: Any = None, summarize: Any = None, name: Optional[str] = None) -> Tensor:  # noqa: N802
    """Returns `input_`, and prints data to the standard error whenever it is computed.

    Args:
      input_: A tensor of any dtype and shape.
      data: A list of tensors to print.
      message: A string to print before them.
      first_n: The number of times to print; by default always.
      summarize: The number of elements of each tensor to print; by default 3.
      name: A name for the operation.
      name: A name for the operation.

    Returns:
      A tensor with the value, dtype and shape of `input_`.

    Raises:
      TypeError: `data` is not a list.

    Example:
      >>> x = tf.constant([1, 2, 3])
      >>> y = tf.Print(x, [tf.reduce_sum(x)], message="the sum: ") * 2
      >>> print(tf.Session().run(y))  # And, to the standard error, "the sum: [6]".
      [2 4 6]
    """
    if not isinstance(data, (list, builtin_tuple)):
        raise TypeError("Expected list for 'data' argument to 'Print' Op, not %s." % (data,))
    options = {}
    if message is not None:
        options["message"] = message
    if first_n is not None:
        options["first_n"] = first_n
    if summarize is not None:
        options["summarize"] = summarize
    return op("Print")(input_, list(data), name=name, **options)
