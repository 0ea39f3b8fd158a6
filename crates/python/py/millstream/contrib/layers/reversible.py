"""`rev_block`: reversible residual layers, whose inputs are computed again from their outputs."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, get_default_graph
from millstream.framework.op_functions import op
from millstream.layers.core import Layer
from millstream.ops import gradients
from millstream.ops.custom_gradients import custom_gradient
from millstream.ops.math_ops import add_n
from millstream.variables.scopes import get_variable_scope, variable_scope

__all__ = ["RevBlock", "rev_block"]


class RevBlock(Layer):
    """Reversible residual layers as one layer; see `rev_block`.

    Args:
      f: A function of a tensor, or of a tensor and a list, or a list of such functions.
      g: Another one.
      num_layers: The number of layers.
      f_side_input: A list of tensors for `f`.
      g_side_input: A list of tensors for `g`.
      use_efficient_backprop: Whether gradients compute the inputs of layers from their outputs. If not, they
        are kept.
      name: The name of the layer.
      **kwargs: More arguments of `tf.layers.Layer`.

    Raises:
      ValueError: The number of functions is not that of layers.

    Example:
      >>> block = tf.contrib.layers.RevBlock(tf.square, tf.negative, num_layers=2)
      >>> x = tf.constant([1.0]), tf.constant([2.0])
      >>> print(*tf.Session().run(block.forward(*x) + block.backward(*block.forward(*x))))
      [14.] [-17.] [1.] [2.]
    """

    def __init__(
        self,
        f: Any,
        g: Any,
        num_layers: int = 1,
        f_side_input: Optional[Sequence[Any]] = None,
        g_side_input: Optional[Sequence[Any]] = None,
        use_efficient_backprop: bool = True,
        name: str = "revblock",
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        functions = []
        for word, given in (("f", f), ("g", g)):
            listed = list(given) if isinstance(given, (list, tuple)) else [given] * num_layers
            if len(listed) != num_layers:
                raise ValueError("`%s` has %d functions, and there are %d layers: pass one for each, or one for all" % (word, len(listed), num_layers))
            functions.append(listed)
        self.f, self.g = functions
        self.num_layers = num_layers
        self.f_side_input = [convert_to_tensor(x) for x in f_side_input or ()]
        self.g_side_input = [convert_to_tensor(x) for x in g_side_input or ()]
        self._use_efficient_backprop = use_efficient_backprop

    def _f(self, i: int, x: Any, sides: Any, again: bool = False) -> Tensor:
        return self._called(self.f[i], "revlayer_%d/f" % i, x, sides, again)

    def _g(self, i: int, x: Any, sides: Any, again: bool = False) -> Tensor:
        return self._called(self.g[i], "revlayer_%d/g" % i, x, sides, again)

    def _called(self, function: Callable[..., Any], scope: str, x: Any, sides: Any, again: bool) -> Tensor:
        """Returns the result of a function in its scope; a second call finds the variables of the first."""
        with variable_scope(scope, use_resource=True, reuse=True if again else None, custom_getter=self._found):
            return function(x, sides) if sides else function(x)

    def _found(self, getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        variable = getter(*args, **kwargs)
        if all(v is not variable for v in self._variables):
            self._variables.append(variable)
        return variable

    def call(self, inputs: Any, forward: bool = True) -> Any:  # type: ignore[override]
        """Returns the outputs of a pair of inputs, or the inputs of a pair of outputs."""
        x1, x2 = (convert_to_tensor(x) for x in inputs)
        if not forward:
            return self._inputs_of(x1, x2)
        return self._kept(x1, x2) if not self._use_efficient_backprop else self._computed_again(x1, x2)

    def forward(self, x1: Any, x2: Any) -> Any:
        """Returns the outputs of the last layer."""
        return self([x1, x2])

    def backward(self, y1: Any, y2: Any) -> Any:
        """Returns the inputs of the first layer, from the outputs of the last one."""
        return self([y1, y2], forward=False)

    def _kept(self, x1: Any, x2: Any, f_sides: Any = None, g_sides: Any = None) -> Tuple[Any, Any]:
        for i in range(self.num_layers):
            x1 = x1 + self._f(i, x2, self.f_side_input if f_sides is None else f_sides)
            x2 = x2 + self._g(i, x1, self.g_side_input if g_sides is None else g_sides)
        return x1, x2

    def _inputs_of(self, y1: Any, y2: Any) -> Tuple[Any, Any]:
        for i in reversed(range(self.num_layers)):
            y2 = y2 - self._g(i, y1, self.g_side_input, again=bool(self._variables))
            y1 = y1 - self._f(i, y2, self.f_side_input, again=bool(self._variables))
        return y1, y2

    def _computed_again(self, x1: Any, x2: Any) -> Tuple[Any, Any]:
        n_f = len(self.f_side_input)

        @custom_gradient  # type: ignore[misc]
        def block(x1: Any, x2: Any, *sides: Any) -> Any:
            f_sides, g_sides = list(sides[:n_f]), list(sides[n_f:])
            y1, y2 = self._kept(x1, x2, f_sides, g_sides)

            def grad(d1: Any, d2: Any, variables: Sequence[Any] = ()) -> Any:
                return self._gradients([y1, y2], [d1, d2], f_sides, g_sides, list(variables))

            return (y1, y2), grad

        with variable_scope(get_variable_scope(), use_resource=True, auxiliary_name_scope=False):
            y1, y2 = block(x1, x2, *self.f_side_input, *self.g_side_input)
        return y1, y2

    def _gradients(self, ys: List[Any], ds: List[Any], f_sides: List[Any], g_sides: List[Any], variables: List[Any]) -> Any:
        """Returns the gradients of inputs and side inputs, and those of variables."""
        found: List[List[Any]] = [[] for _ in f_sides + g_sides + variables]
        n_f, n_sides = len(f_sides), len(f_sides) + len(g_sides)
        (y1, y2), (d1, d2) = ys, ds
        sides_of = {"f": (f_sides, range(n_f)), "g": (g_sides, range(n_f, n_sides))}

        def through(which: str, i: int, x: Any, d: Any) -> Tuple[Any, Any]:
            # Copies, so that their gradients are those of this call alone.
            fixed = [op("StopGradient")(t) for t in [x, *sides_of[which][0]]]
            made = (self._f if which == "f" else self._g)(i, fixed[0], fixed[1:], again=True)
            at = [None, *sides_of[which][1], *range(n_sides, len(found))]
            parts = gradients.gradients(made, fixed + variables, d)
            for j, part in zip(at[1:], parts[1:]):
                if part is not None:
                    found[j].append(part)  # type: ignore[index]
            return made, parts[0]

        with get_default_graph().control_dependencies([d for d in ds if isinstance(d, Tensor)]):
            y1, y2 = op("Identity")(y1), op("Identity")(y2)
        with variable_scope(self._scope, use_resource=True, reuse=True):
            for i in reversed(range(self.num_layers)):
                made, part = through("g", i, y1, d2)
                y2, d1 = y2 - made, d1 if part is None else d1 + part
                made, part = through("f", i, y2, d1)
                y1, d2 = y1 - made, d2 if part is None else d2 + part
        sums = [add_n([convert_to_tensor(p) for p in parts]) if parts else None for parts in found]
        flat = [d1, d2, *sums[:n_sides]]
        return (flat, sums[n_sides:]) if variables else flat


def rev_block(
    x1: Any,
    x2: Any,
    f: Any,
    g: Any,
    num_layers: int = 1,
    f_side_input: Optional[Sequence[Any]] = None,
    g_side_input: Optional[Sequence[Any]] = None,
    is_training: bool = True,
) -> Any:
    """Returns the outputs of reversible residual layers: of each, `y1 = x1 + f(x2)` and `y2 = x2 + g(y1)`.

    The gradient computes the inputs of each layer from its outputs, so that a deep block needs the memory of
    one layer.

    Args:
      x1: A tensor of floats.
      x2: Another one.
      f: A function of a tensor that keeps its shape; with `f_side_input`, of a tensor and that list. Or a
        list of such functions, one for each layer. It may create variables; tensors of the function around
        it get no gradient.
      g: Another one.
      num_layers: The number of layers, each with variables of its own.
      f_side_input: A list of tensors for `f`.
      g_side_input: A list of tensors for `g`.
      is_training: Whether gradients compute the inputs of layers from their outputs. If not, they are kept.

    Returns:
      A pair of tensors.

    Raises:
      ValueError: The number of functions is not that of layers.

    Example:
      >>> x1, x2 = tf.constant([1.0]), tf.constant([2.0])
      >>> y1, y2 = tf.contrib.layers.rev_block(x1, x2, tf.square, tf.negative, is_training=False)
      >>> print(*tf.Session().run([y1, y2, *tf.gradients(y1, [x1, x2])]))
      [5.] [-3.] [1.] [4.]
    """
    block = RevBlock(f, g, num_layers, f_side_input, g_side_input, use_efficient_backprop=is_training)
    return block.forward(x1, x2)
