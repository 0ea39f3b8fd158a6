"""Functions of datasets: Python functions that build the body of a function of the graph."""

from __future__ import annotations

from typing import Any, Callable, List, Optional

from millstream.data import structure
from millstream.framework import Graph, SparseTensor, SparseTensorValue, convert_to_tensor, dtypes, get_default_graph, placeholder, shapes
from millstream.ops.array_ops import identity

_EXTRA = "functions"


def root_of(graph: Any) -> Any:
    """Returns the graph that is not the body of a function."""
    while True:
        outer = graph._extras.get("around")
        if outer is None:
            return graph
        graph = outer


class Function:
    """A function of the graph, built by calling `func` with structures of tensors.

    Attributes:
      name: Its name in the library.
      captured: The tensors of the graph around it that the body uses, in the order of the arguments for them.
      output: What `func` returned, with tensors of the body.
      output_spec: The types of that.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        label: str,
        input_spec: Any,
        unpacks: bool = True,
        copies: bool = False,
        returns: Optional[Callable[[Any], Any]] = None,
    ) -> None:
        if not callable(func):
            raise ValueError("Argument must be callable: %r" % (func,))
        around = get_default_graph()
        root = root_of(around)
        body = Graph()
        body._surround(around, copies)
        body._extras["around"] = around
        if around.seed is None:
            body.seed = None
        specs = structure.flatten(input_spec)
        with body.as_default():
            inputs = [_argument(s, "args_%d" % i) for i, s in enumerate(specs)]
            leaves = [structure.value_of(t, s) for t, s in zip(inputs, specs)]
            element = structure.pack(input_spec, leaves)
            # A tuple is unpacked into arguments, as in TensorFlow; every other structure is one argument.
            made = func(*element) if unpacks and isinstance(element, tuple) and not hasattr(element, "_fields") else func(element)
            if returns is not None:
                made = returns(made)
            self.output = _converted(made)
            if not structure.flatten(self.output):
                raise ValueError("Attr 'output_types' of the dataset's op passed list of length 0 less than minimum 1: the function returns no tensor.")
            self.output_spec = structure.transform(structure.spec_of, self.output)
            outputs = [identity(body._captured(structure.tensor_of(leaf))) for leaf in structure.flatten(self.output)]
        number = root._extras["n_functions"] = root._extras.get("n_functions", 0) + 1
        self.name = "__inference_%s_%s_%d" % (label, getattr(func, "__name__", type(func).__name__), number)
        self.captured: List[Any] = body._define(root, around, self.name, inputs, outputs)
        # The body owns the Python functions that its nodes call.
        root._extras.setdefault(_EXTRA, []).append(body)
        self._body = body

    @property
    def output_types(self) -> Any:
        """The dtypes of the output."""
        return structure.types_of(self.output_spec)


def _argument(leaf: Any, name: str) -> Any:
    if isinstance(leaf, structure.DatasetSpec):
        return placeholder(dtypes.variant, [], name=name)
    if not isinstance(leaf, shapes.TensorSpec):
        return placeholder(dtypes.variant, name=name)
    return placeholder(leaf.dtype, leaf.shape, name=name)


def _converted(made: Any) -> Any:
    """Returns the result of a function as a structure of tensors."""
    if isinstance(made, list):
        # As in TensorFlow, such a list came from an operation with several results, and is a tuple.
        made = tuple(made)

    def one(leaf: Any) -> Any:
        if hasattr(leaf, "_variant_tensor"):
            return leaf
        if isinstance(leaf, (SparseTensor, SparseTensorValue)):
            return SparseTensor.from_value(leaf)
        if leaf is None:
            raise TypeError("Unsupported return value from function passed to Dataset.map(): None.")
        try:
            return convert_to_tensor(leaf)
        except (TypeError, ValueError) as error:
            raise TypeError("Unsupported return value from function passed to Dataset.map(): %s." % (leaf,)) from error

    return structure.transform(one, made)
