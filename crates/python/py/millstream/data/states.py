"""Functions with a state: `Dataset.reduce` and `scan`."""

from __future__ import annotations

from typing import Any, Callable

from millstream.data import structure
from millstream.data.functions import Function
from millstream.framework import name_scope
from millstream.framework.op_functions import op


def traced(label: str, state: Any, element_spec: Any, func: Callable[..., Any], only_state: bool) -> Any:
    """Returns the function and the types of its state, whose shapes are widened until they are those of each
    next state."""
    state_spec = structure.transform(structure.spec_of, state)
    while True:
        f = Function(func, label, (state_spec, element_spec))
        made = f.output_spec
        if not only_state and not (isinstance(made, tuple) and len(made) == 2):
            raise TypeError("The scan function must return a pair comprising the new state and the output value.")
        new_spec = made if only_state else made[0]
        what = "reduce_func" if only_state else "scan_func"
        structure.assert_same(state_spec, new_spec)
        for old, new in zip(structure.flatten(state_spec), structure.flatten(new_spec)):
            if not structure.is_equal(old, new):
                raise TypeError(
                    "The element types for the new state must match the initial state. Expected %s; got %s. `%s` returns the latter."
                    % (structure.types_of(state_spec), structure.types_of(new_spec), what)
                )
        widened = structure.transform(_widened, state_spec, new_spec)
        if structure.flat_shapes(widened) == structure.flat_shapes(state_spec) or _texts(widened) == _texts(state_spec):
            return f, state_spec
        state_spec = widened


def _texts(spec: Any) -> Any:
    return [str(shape) for shape in structure.flat_shapes(spec)]


def _widened(old: Any, new: Any) -> Any:
    if isinstance(old, structure.DatasetSpec):
        return old
    return type(old)(structure._most_general_shape(old.shape, new.shape), old.dtype)


def reduce(dataset: Any, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
    """Returns the state after all elements: see `Dataset.reduce`."""
    with name_scope("initial_state"):
        state = structure.normalize(initial_state)
    f, state_spec = traced("reduce", state, dataset.element_spec, reduce_func, True)
    types = {"output_types": structure.flat_types(state_spec), "output_shapes": structure.flat_shapes(state_spec)}
    made = op("ReduceDataset")(dataset._variant_tensor, [structure.tensor_of(leaf) for leaf in structure.flatten(state)], f.captured, f=f.name, **types)
    return structure.pack(state_spec, [structure.value_of(t, s) for t, s in zip(made if isinstance(made, list) else [made], structure.flatten(state_spec))])


def scan(dataset: Any, initial_state: Any, scan_func: Callable[..., Any]) -> Any:
    """Returns a dataset of what a function with a state returns: see `tf.data.experimental.scan`."""
    state = structure.normalize(initial_state)
    f, _ = traced("tf_data_experimental_scan", state, dataset.element_spec, scan_func, False)
    return dataset._to("ScanDataset", f.output_spec[1], [structure.tensor_of(leaf) for leaf in structure.flatten(state)], f.captured, f=f.name, preserve_cardinality=True)
