"""`Dataset.from_generator`: the elements that a Python generator yields."""

from __future__ import annotations

import threading
from typing import Any, Callable, Dict, List

import numpy as np

from millstream.data import structure
from millstream.data.functions import Function
from millstream.framework import convert_to_tensor, dtypes
from millstream.framework.op_functions import op
from millstream.ops.host_functions import py_func


class _Passes:
    """The generators of the passes that go on, by number."""

    def __init__(self, generator: Callable[..., Any]) -> None:
        self._generator = generator
        self._lock = threading.Lock()
        self._next = 0
        self._arguments: Dict[int, Any] = {}
        self._open: Dict[int, Any] = {}

    def begin(self, *args: Any) -> Any:
        with self._lock:
            self._next += 1
            self._arguments[self._next] = args
            return np.int64(self._next)

    def get(self, number: int) -> Any:
        if number not in self._open:
            self._open[number] = iter(self._generator(*self._arguments.pop(number)))
        return self._open[number]

    def end(self, number: int) -> None:
        self._arguments.pop(number, None)
        self._open.pop(number, None)


def from_generator(generator: Callable[..., Any], output_types: Any, output_shapes: Any, args: Any) -> Any:
    """Returns a dataset of what a generator yields: see `Dataset.from_generator`."""
    if not callable(generator):
        raise TypeError("`generator` must be callable.")
    element_spec = structure.spec(output_types, output_shapes)
    arguments: List[Any] = [] if args is None else [convert_to_tensor(a, name="args") for a in args]
    passes = _Passes(generator)
    types, shapes = structure.flat_types(element_spec), structure.flat_shapes(element_spec)

    def begin(_: Any) -> Any:
        number = py_func(passes.begin, arguments, dtypes.int64)
        number.set_shape([])
        return number

    def next_element(number: Any) -> Any:
        made = py_func(lambda n: _taken(passes, int(n), element_spec, types, shapes), [number], types)
        made = made if isinstance(made, list) else [made]
        for tensor, shape in zip(made, shapes):
            tensor.set_shape(shape)
        return structure.pack(element_spec, made)

    def finalize(number: Any) -> Any:
        def end(n: Any) -> Any:
            passes.end(int(n))
            return np.int64(0)

        return py_func(end, [number], dtypes.int64)

    def one_pass(dummy: Any) -> Any:
        init = Function(begin, "Dataset_from_generator", structure.spec_of(dummy))
        each = Function(next_element, "Dataset_from_generator", init.output_spec)
        last = Function(finalize, "Dataset_from_generator", init.output_spec)
        variant = op("GeneratorDataset")(
            [dummy, *init.captured], each.captured, last.captured, init.name, each.name, last.name, output_types=types, output_shapes=shapes
        )
        return structure.made_of(variant, element_spec)

    made = structure.dataset_class().from_tensors(0).flat_map(one_pass)
    return structure.made_of(made._variant_tensor, element_spec)


def _taken(passes: _Passes, number: int, element_spec: Any, types: Any, shapes: Any) -> List[Any]:
    """Returns the components of the next element as arrays."""
    value = next(passes.get(number))
    try:
        leaves = structure.flatten_up_to(element_spec, value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            "`generator` yielded an element that did not match the expected structure. The expected structure was %s, "
            "but the yielded element was %s." % (structure.types_of(element_spec), value)
        ) from error
    made = []
    for leaf, dtype in zip(leaves, types):
        try:
            made.append(_array(leaf, dtype))
        except (TypeError, ValueError) as error:
            raise TypeError(
                "`generator` yielded an element that could not be converted to the expected type. The expected type was %s, "
                "but the yielded element was %s." % (dtype.name, leaf)
            ) from error
    for array, shape in zip(made, shapes):
        if not shape.is_compatible_with(array.shape):
            raise ValueError("`generator` yielded an element of shape %s where an element of shape %s was expected." % (array.shape, shape))
    return made


def _array(value: Any, dtype: Any) -> Any:
    if dtype == dtypes.string:
        return np.asarray(value, dtype=object)
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        raise TypeError("not a number")
    return array.astype(structure.as_numpy_dtype(dtype), copy=False)
