"""Nodes of loops and branches that are set by hand, of tensors and of what consists of tensors: `NAMES`."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

from millstream._engine import Operation, Tensor
from millstream.framework import IndexedSlices, SparseTensor, convert_to_tensor, convert_to_tensor_or_indexed_slices, dtypes, get_default_graph, name_scope, shapes
from millstream.framework.op_functions import op
from millstream.framework.session import register_session_run_conversion_functions
from millstream.ops import control_flow
from millstream.ops.tensor_array import TensorArray
from millstream.programs.internals import shape_tensor


def _whole(data: Any, dtype: Any = None) -> Any:
    """Returns `data` as a tensor, unless it consists of tensors."""
    return data if isinstance(data, (SparseTensor, IndexedSlices)) else convert_to_tensor(data, dtype=dtype, name="data")


def _parts(value: Any) -> List[Tensor]:
    """Returns the tensors that a value consists of, in the order of the nodes that TensorFlow makes."""
    if isinstance(value, SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    return [value.values, value.indices] + ([] if value.dense_shape is None else [value.dense_shape])


def _like(value: Any, parts: Sequence[Tensor]) -> Any:
    """Returns a value like `value` that consists of these tensors."""
    return type(value)(*parts)


def each(value: Any, wire: Any) -> Any:
    """Returns `value` with `wire(part)` for each of its tensors."""
    return _like(value, [wire(part) for part in _parts(value)])


def switch(data: Any, pred: Any, dtype: Any = None, name: Optional[str] = None) -> Tuple[Any, Any]:
    """Returns `data` for a false and for a true predicate; only one of them is available.

    Args:
      data: A tensor, a `SparseTensor` or `IndexedSlices`.
      pred: A bool scalar.
      dtype: The dtype of a tensor that is made of `data`.
      name: A name for the operation, or a scope for those of the parts.
    """
    data = _whole(data, dtype)
    if isinstance(data, Tensor):
        return op("Switch")(data, pred, name=name)
    with name_scope(name, "Switch", [*_parts(data), pred]):
        pairs = [op("Switch")(part, pred) for part in _parts(data)]
        return _like(data, [pair[0] for pair in pairs]), _like(data, [pair[1] for pair in pairs])


def merge(inputs: Sequence[Any], name: Optional[str] = None) -> Tuple[Any, Any]:
    """Returns the input that is available, and its number.

    Args:
      inputs: Tensors, or values of one kind that consist of tensors.
      name: A name for the operation, or a scope for those of the parts.

    Raises:
      TypeError: The inputs are of several kinds, other than tensors and `IndexedSlices`, which become slices.
      ValueError: An input is None.
    """
    if any(value is None for value in inputs):
        raise ValueError("At least one of the merge inputs is None: %s" % inputs)
    inputs = [_whole(value) for value in inputs]
    if all(isinstance(value, Tensor) for value in inputs):
        kind = "RefMerge" if all(value.dtype._is_ref_dtype for value in inputs) else "Merge"
        return op(kind)(inputs, name=name)
    if all(isinstance(value, (Tensor, IndexedSlices)) for value in inputs):
        inputs = _as_slices(inputs)
    for value in inputs:
        if type(value) is not type(inputs[0]) or isinstance(value, Tensor):
            raise TypeError("Type %s not supported" % type(value))
    with name_scope(name, "Merge", [part for value in inputs for part in _parts(value)]):
        merged = [op("Merge")(list(parts)) for parts in zip(*map(_parts, inputs))]
        return _like(inputs[0], [pair[0] for pair in merged]), merged[0][1]


def _as_slices(values: Sequence[Any]) -> List[IndexedSlices]:
    """Returns tensors as slices of all their rows, and slices with row numbers of one dtype."""
    slices = []
    for value in values:
        if isinstance(value, Tensor):
            shape = op("Shape")(value)
            value = IndexedSlices(value, op("Range")(0, shape[0], 1), shape)
        slices.append(value)
    if len({value.indices.dtype.base_dtype for value in slices}) < 2:
        return slices
    return [IndexedSlices(value.values, op("Cast")(value.indices, dtypes.int64), value.dense_shape) for value in slices]


def _Enter(  # noqa: N802
    data: Any,
    frame_name: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    use_ref: bool = True,
    use_input_shape: bool = True,
    name: Optional[str] = None,
) -> Any:
    """Returns `data` in the frame of a loop.

    Args:
      data: A tensor, a `SparseTensor` or `IndexedSlices`.
      frame_name: The name of the loop's frame.
      is_constant: Whether the value is the same in all iterations.
      parallel_iterations: The largest number of iterations that run at the same time.
      use_ref: Whether a reference to a variable stays one.
      use_input_shape: Whether the static shape is kept; it always is.
      name: A name for the operation of a tensor.
    """
    data = _whole(data)
    if not isinstance(data, Tensor):
        return each(data, lambda part: _Enter(part, frame_name, is_constant, parallel_iterations, use_ref, use_input_shape))
    kind = "RefEnter" if use_ref and data.dtype._is_ref_dtype else "Enter"
    return op(kind)(data, frame_name=frame_name, is_constant=is_constant, parallel_iterations=parallel_iterations, name=name)


def _NextIteration(data: Any, name: Optional[str] = None) -> Any:  # noqa: N802
    """Returns `data` in the next iteration of its loop."""
    data = _whole(data)
    if not isinstance(data, Tensor):
        return each(data, _NextIteration)
    return op("RefNextIteration" if data.dtype._is_ref_dtype else "NextIteration")(data, name=name)


def exit(data: Any, name: Optional[str] = None) -> Any:  # noqa: A001
    """Returns `data` outside of its loop."""
    data = _whole(data)
    if not isinstance(data, Tensor):
        return each(data, exit)
    return op("RefExit" if data.dtype._is_ref_dtype else "Exit")(data, name=name)


def _get_graph_from_inputs(op_input_list: Sequence[Any], graph: Any = None) -> Any:
    """Returns the graph of the inputs, or the default graph if they are in none.

    Raises:
      ValueError: Two inputs are in different graphs, or one is not in `graph`.
    """
    first = None
    for item in op_input_list:
        own = getattr(item, "graph", None)
        if own is None:
            continue
        if graph is not None and own is not graph:
            raise ValueError("%s is not from the passed-in graph." % item if first is None else "%s must be from the same graph as %s." % (item, first))
        first, graph = item if first is None else first, own
    return graph or get_default_graph()


# Shapes and values of loops --------------------------------------------------------------------------------


def identity(data: Any, name: Optional[str] = None) -> Any:
    """Returns the value: a tensor, `IndexedSlices` or a `SparseTensor`."""
    data = _value(data)
    return op("Identity")(data, name=name) if isinstance(data, Tensor) else each(data, op("Identity"))


def _value(data: Any) -> Any:
    return data if isinstance(data, SparseTensor) else convert_to_tensor_or_indexed_slices(data)


def switch_ref_or_tensor(data: Any, pred: Any, name: str = "Switch") -> Any:
    """Passes a value to one of two outputs, near to the value."""
    data = convert_to_tensor_or_indexed_slices(data, name="data")
    if isinstance(data, Tensor) and data.dtype._is_ref_dtype:
        with data.graph.colocate_with(data.op, ignore_existing=True):
            return op("RefSwitch")(data, pred, name=name)
    return switch(data, pred, name=name)


def build_ta_with_new_flow(old_ta: TensorArray, flow: Any) -> TensorArray:
    """Returns an array like `old_ta` whose later operations wait for `flow`."""
    return old_ta._with_loop_value(convert_to_tensor(flow))


def _as_tensor_list(x: Any, p: Any) -> List[Any]:
    """Returns values as tensors that wait for an operation."""
    found = []
    for value in x if isinstance(x, (list, tuple)) else [x]:
        if isinstance(value, Operation):
            found.append(control_flow.with_dependencies([value], p))
        else:
            found.append(identity(_value(value)))
    return found


def _unpack_if_singleton(results: Any) -> Any:
    return results[0] if isinstance(results, (list, tuple)) and len(results) == 1 else results


def _shape_at_most(shape1: Any, shape2: Any) -> bool:
    """Returns whether the second shape says no more than the first."""
    if shape2.dims is None:
        return True
    if shape1.ndims != shape2.ndims:
        return False
    return all(b.value is None or a.value == b.value for a, b in zip(shape1.dims, shape2.dims))


def _shape_invariant(value: Any, shape: Any = None) -> Any:
    """Returns the shape that a loop variable keeps, as `tf.while_loop` takes it."""
    if isinstance(value, TensorArray):
        raise TypeError("the shape invariant of a TensorArray is always a scalar's: give none")
    known = value.values.get_shape() if isinstance(value, IndexedSlices) else value.get_shape()
    if shape is None:
        return known
    shape = shapes.as_shape(shape)
    if not known.is_compatible_with(shape):
        raise ValueError("The shape invariant specified for %s is not compatible with its shape: the value has %s, the invariant is %s" % (value, known, shape))
    return shape


def _safe_shape(value: Any) -> Any:
    return shape_tensor(value.get_shape()) if value.get_shape().is_fully_defined() else op("Shape")(value)


NAMES: Dict[str, Dict[str, Any]] = {
    "python.client.session": {"register_session_run_conversion_functions": register_session_run_conversion_functions},
    "python.framework.ops": {
        "_get_graph_from_inputs": _get_graph_from_inputs,
    },
    "python.ops.control_flow_ops": {
        "_AsTensorList": _as_tensor_list,
        "_Enter": _Enter,
        "_Identity": identity,
        "_NextIteration": _NextIteration,
        "_ShapeLessThanOrEqual": _shape_at_most,
        "_SwitchRefOrTensor": switch_ref_or_tensor,
        "_UnpackIfSingleton": _unpack_if_singleton,
        "_get_shape_invariant": _shape_invariant,
        "_resource_safe_shape": _safe_shape,
        "exit": exit,
        "merge": merge,
        "switch": switch,
    },
    "python.ops.tensor_array_ops": {"build_ta_with_new_flow": build_ta_with_new_flow},
}
