"""`tf.contrib.grid_rnn`: a cell for each of several dimensions, which exchange their outputs within a
step."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Tuple

from millstream.contrib.layers import fully_connected, xavier_initializer
from millstream.framework import logging, namespaces
from millstream.framework.op_functions import op
from millstream.ops import array_ops, indexing_ops, math_ops
from millstream.rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell, RNNCell
from millstream.variables.scopes import get_variable, get_variable_scope, variable_scope

__all__ = [
    "Grid1BasicLSTMCell",
    "Grid1BasicRNNCell",
    "Grid1LSTMCell",
    "Grid2BasicLSTMCell",
    "Grid2BasicRNNCell",
    "Grid2GRUCell",
    "Grid2LSTMCell",
    "Grid3LSTMCell",
    "GridRNNCell",
]

__dir__ = namespaces.dir_of(globals())


def _dims(given: Any, n: int) -> List[int]:
    """Returns a list of dimensions, sorted."""
    dims = sorted(set(given if isinstance(given, (list, tuple)) else [] if given is None else [given]))
    if any(not 0 <= dim < n for dim in dims):
        raise ValueError("Invalid dims: {}. Must be in [0, {})".format(dims, n))
    return dims


class GridRNNCell(RNNCell):
    """A cell with a recurrent cell for each dimension of a grid.

    Args:
      num_units: The number of units of each dimension.
      num_dims: The number of dimensions.
      input_dims: The dimensions that take the input: an int or a list.
      output_dims: Those whose outputs are the output.
      priority_dims: Those that are computed after the others, from their outputs.
      non_recurrent_dims: Those that have a layer in place of a cell.
      tied: Whether the dimensions share their weights.
      cell_fn: A function from a number of units to a cell; by default an `LSTMCell`.
      non_recurrent_fn: The activation of layers; by default `tf.nn.relu`.
      state_is_tuple: Whether the state is a tuple of the cells' states, instead of one tensor.
      output_is_tuple: Whether the output is a tuple of the dimensions' outputs, instead of one tensor.

    Raises:
      ValueError: There is no dimension, or there is none of a given number.
      TypeError: `cell_fn` does not return a cell.

    Example:
      >>> cell = tf.contrib.grid_rnn.GridRNNCell(3, num_dims=2, input_dims=0, output_dims=1)
      >>> outputs, state = cell(tf.ones([4, 2]), cell.zero_state(4, tf.float32))
      >>> cell.output_size, outputs[0].shape.as_list(), len(state)
      ((3,), [4, 3], 2)
    """

    def __init__(
        self,
        num_units: int,
        num_dims: int = 1,
        input_dims: Any = None,
        output_dims: Any = None,
        priority_dims: Any = None,
        non_recurrent_dims: Any = None,
        tied: bool = False,
        cell_fn: Optional[Callable[[int], Any]] = None,
        non_recurrent_fn: Any = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        super().__init__()
        for given, word, arg in ((state_is_tuple, "state", "state_is_tuple"), (output_is_tuple, "output", "output_is_tuple")):
            if not given:
                logging.warning("%s: Using a concatenated %s is slower and will soon be deprecated.  Use %s=True.", self, word, arg)
        if num_dims < 1:
            raise ValueError("dims must be >= 1: {}".format(num_dims))
        self._num_units, self._num_dims, self._tied = num_units, num_dims, tied
        self._input_dims, self._output_dims = _dims(input_dims, num_dims), _dims(output_dims, num_dims)
        self._priority = _dims(priority_dims, num_dims)
        self._layered = _dims(non_recurrent_dims, num_dims)
        self._recurrent = [i for i in range(num_dims) if i not in self._layered]
        self._activation_of_layers = non_recurrent_fn or op("Relu")
        self._state_is_tuple, self._output_is_tuple = state_is_tuple, output_is_tuple
        make = cell_fn or (lambda n: LSTMCell(n, state_is_tuple=state_is_tuple))
        self._grid = [make(num_units)] * num_dims if tied else [make(num_units) for _ in range(num_dims)]
        first = self._grid[0]
        if not isinstance(first, RNNCell):
            raise TypeError("cell_fn must return an RNNCell instance, saw: %s" % type(first))
        self._of_a_cell = sum(first.state_size) if isinstance(first.state_size, tuple) else first.state_size
        n_outputs, n_states = len(self._output_dims), len(self._recurrent)
        self._output_size: Any = (first.output_size,) * n_outputs if output_is_tuple else first.output_size * n_outputs
        self._state_size: Any = (first.state_size,) * n_states if state_is_tuple else self._of_a_cell * n_states

    @property
    def output_size(self) -> Any:
        """The sizes of the outputs."""
        return self._output_size

    @property
    def state_size(self) -> Any:
        """The sizes of the state."""
        return self._state_size

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Tuple[Any, Any]:
        """Returns the output and the next state.

        Args:
          inputs: A tensor of shape `[batch, width]`, which is split among the dimensions that take it; or a
            tuple of a tensor for each.
          state: The state.
          scope: The variable scope; by default the name of the class.
        """
        c, m = self._parts(state)
        outputs: List[Any] = [None] * self._num_dims
        states: List[Any] = [None] * self._num_dims
        with variable_scope(scope or type(self).__name__):
            self._take(inputs, c, m)
            self._propagate([i for i in range(self._num_dims) if i not in self._priority], c, m, outputs, states, True)
            self._propagate(self._priority, c, m, outputs, states, False)
            dtype = (inputs[0] if isinstance(inputs, tuple) else inputs).dtype
            nothing = lambda: array_ops.fill([0, 0], math_ops.cast(0, dtype))  # noqa: E731
            output: Any = tuple(outputs[i] for i in self._output_dims)
            if not self._output_is_tuple:
                output = array_ops.concat(list(output), 1) if output else nothing()
            following: Any = tuple(states[i] for i in self._recurrent)
            if not self._state_is_tuple:
                flat = [x for s in following for x in (s if isinstance(s, (list, tuple)) else [s])]
                following = array_ops.concat(flat, 1) if flat else nothing()
        return output, following

    def _parts(self, state: Any) -> Tuple[List[Any], List[Any]]:
        """Returns the memories and the outputs of the last step, for each dimension."""
        c: List[Any] = [None] * self._num_dims
        m: List[Any] = [None] * self._num_dims
        rest = self._of_a_cell - self._num_units
        if self._state_is_tuple:
            if len(self._recurrent) != len(state):
                raise ValueError("Expected state as a tuple of {} element".format(len(self._recurrent)))
            for i, part in zip(self._recurrent, state):
                if 0 < rest:
                    c[i], m[i] = part
                else:
                    m[i] = part
            return c, m
        for n, i in enumerate(self._recurrent):
            start = n * self._of_a_cell
            if 0 < rest:
                c[i] = indexing_ops.slice(state, [0, start], [-1, self._num_units])
                m[i] = indexing_ops.slice(state, [0, start + self._num_units], [-1, rest])
            else:
                m[i] = indexing_ops.slice(state, [0, start], [-1, self._num_units])
        return c, m

    def _take(self, inputs: Any, c: List[Any], m: List[Any]) -> None:
        """Projects the input into the dimensions that take it."""
        if inputs is None or not self._input_dims:
            return
        parts = inputs
        if isinstance(inputs, tuple):
            if len(self._input_dims) != len(inputs):
                raise ValueError("Expect inputs as a tuple of {} tensors".format(len(self._input_dims)))
        elif not inputs.shape.with_rank(2)[1].value:
            return
        else:
            parts = array_ops.split(value=inputs, num_or_size_splits=len(self._input_dims), axis=1)
        size = parts[0].shape.with_rank(2)[1].value
        for part, i in zip(parts, self._input_dims):
            m[i] = math_ops.matmul(part, get_variable("project_m_{}".format(i), [size, self._num_units], dtype=part.dtype))
            if 0 < self._of_a_cell - self._num_units:
                c[i] = math_ops.matmul(part, get_variable("project_c_{}".format(i), [size, self._num_units], dtype=part.dtype))

    def _propagate(self, dims: List[int], c: List[Any], m: List[Any], outputs: List[Any], states: List[Any], is_first: bool) -> None:
        """Computes dimensions from the others' outputs, or from those of the last step."""
        if not dims:
            return
        if 1 < self._num_dims:
            others = [m[i] if outputs[i] is None else outputs[i] for i in range(self._num_dims - 1)]
            given = array_ops.concat(others, 1)
        else:
            given = array_ops.fill([m[0].get_shape().as_list()[0], 0], math_ops.cast(0, m[0].dtype))
        last = m[-1] if outputs[-1] is None else outputs[-1]
        for i in dims:
            is_layer = i in self._layered
            name = "non_recurrent" if is_layer else "recurrent"
            with variable_scope(name if self._tied else "{}/cell_{}".format(name, i)):
                scope = get_variable_scope()
                if self._tied and not (is_first and i == dims[0]):
                    scope.reuse_variables()
                if is_layer:
                    outputs[i] = fully_connected(
                        array_ops.concat([given, last], 1) if 1 < self._num_dims else last,
                        num_outputs=self._num_units,
                        activation_fn=self._activation_of_layers,
                        weights_initializer=scope.initializer or xavier_initializer(),
                        weights_regularizer=scope.regularizer,
                    )
                else:
                    outputs[i], states[i] = self._grid[i](given, last if c[i] is None else (c[i], last))


class Grid1BasicRNNCell(GridRNNCell):
    """A `BasicRNNCell` in a grid of one dimension. Arguments are those of `GridRNNCell`.

    Example:
      >>> tf.contrib.grid_rnn.Grid1BasicRNNCell(3).state_size
      (3,)
    """

    def __init__(self, num_units: int, state_is_tuple: bool = True, output_is_tuple: bool = True) -> None:
        super().__init__(num_units, 1, 0, 0, 0, cell_fn=BasicRNNCell, state_is_tuple=state_is_tuple, output_is_tuple=output_is_tuple)


def _layered(non_recurrent_fn: Any) -> Any:
    return None if non_recurrent_fn is None else 0


class Grid2BasicRNNCell(GridRNNCell):
    """`BasicRNNCell`s in a grid of two dimensions. Arguments are those of `GridRNNCell`.

    Example:
      >>> tf.contrib.grid_rnn.Grid2BasicRNNCell(3).state_size
      (3, 3)
    """

    def __init__(self, num_units: int, tied: bool = False, non_recurrent_fn: Any = None, state_is_tuple: bool = True, output_is_tuple: bool = True) -> None:
        super().__init__(num_units, 2, 0, 0, 0, _layered(non_recurrent_fn), tied, BasicRNNCell, non_recurrent_fn, state_is_tuple, output_is_tuple)


class Grid1BasicLSTMCell(GridRNNCell):
    """A `BasicLSTMCell` in a grid of one dimension. Arguments are those of `GridRNNCell`.

    Example:
      >>> len(tf.contrib.grid_rnn.Grid1BasicLSTMCell(3).state_size)
      1
    """

    def __init__(self, num_units: int, forget_bias: float = 1, state_is_tuple: bool = True, output_is_tuple: bool = True) -> None:
        make = lambda n: BasicLSTMCell(n, forget_bias=forget_bias)  # noqa: E731
        super().__init__(num_units, 1, 0, 0, 0, cell_fn=make, state_is_tuple=state_is_tuple, output_is_tuple=output_is_tuple)


class Grid2BasicLSTMCell(GridRNNCell):
    """`BasicLSTMCell`s in a grid of two dimensions. Arguments are those of `GridRNNCell`.

    Example:
      >>> len(tf.contrib.grid_rnn.Grid2BasicLSTMCell(3).state_size)
      2
    """

    def __init__(
        self, num_units: int, tied: bool = False, non_recurrent_fn: Any = None, forget_bias: float = 1, state_is_tuple: bool = True, output_is_tuple: bool = True
    ) -> None:
        make = lambda n: BasicLSTMCell(n, forget_bias=forget_bias)  # noqa: E731
        super().__init__(num_units, 2, 0, 0, 0, _layered(non_recurrent_fn), tied, make, non_recurrent_fn, state_is_tuple, output_is_tuple)


class Grid1LSTMCell(GridRNNCell):
    """An `LSTMCell` in a grid of one dimension. Arguments are those of `GridRNNCell`.

    Example:
      >>> len(tf.contrib.grid_rnn.Grid1LSTMCell(3).state_size)
      1
    """

    def __init__(self, num_units: int, use_peepholes: bool = False, forget_bias: float = 1.0, state_is_tuple: bool = True, output_is_tuple: bool = True) -> None:
        make = lambda n: LSTMCell(n, forget_bias=forget_bias, use_peepholes=use_peepholes)  # noqa: E731
        super().__init__(num_units, 1, 0, 0, 0, cell_fn=make, state_is_tuple=state_is_tuple, output_is_tuple=output_is_tuple)


class Grid2LSTMCell(GridRNNCell):
    """`LSTMCell`s in a grid of two dimensions. Arguments are those of `GridRNNCell`.

    Example:
      >>> len(tf.contrib.grid_rnn.Grid2LSTMCell(3).state_size)
      2
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Any = None,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        make = lambda n: LSTMCell(n, forget_bias=forget_bias, use_peepholes=use_peepholes)  # noqa: E731
        super().__init__(num_units, 2, 0, 0, 0, _layered(non_recurrent_fn), tied, make, non_recurrent_fn, state_is_tuple, output_is_tuple)


class Grid3LSTMCell(GridRNNCell):
    """`LSTMCell`s in a grid of three dimensions. Arguments are those of `GridRNNCell`.

    Example:
      >>> len(tf.contrib.grid_rnn.Grid3LSTMCell(3).state_size)
      3
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Any = None,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        make = lambda n: LSTMCell(n, forget_bias=forget_bias, use_peepholes=use_peepholes)  # noqa: E731
        super().__init__(num_units, 3, 0, 0, 0, _layered(non_recurrent_fn), tied, make, non_recurrent_fn, state_is_tuple, output_is_tuple)


class Grid2GRUCell(GridRNNCell):
    """`GRUCell`s in a grid of two dimensions. Arguments are those of `GridRNNCell`.

    Example:
      >>> tf.contrib.grid_rnn.Grid2GRUCell(3).state_size
      (3, 3)
    """

    def __init__(self, num_units: int, tied: bool = False, non_recurrent_fn: Any = None, state_is_tuple: bool = True, output_is_tuple: bool = True) -> None:
        super().__init__(num_units, 2, 0, 0, 0, _layered(non_recurrent_fn), tied, GRUCell, non_recurrent_fn, state_is_tuple, output_is_tuple)
