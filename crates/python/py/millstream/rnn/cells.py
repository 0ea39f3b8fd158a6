"""Cells of recurrent networks (`tf.nn.rnn_cell`): one step, from input and state to output and new state."""

from __future__ import annotations

import hashlib
import itertools
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from millstream import framework, nn
from millstream._engine import Tensor
from millstream.framework import constant, convert_to_tensor, dtypes, get_static_value, name_scope, namespaces, nest
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape, dimension_value
from millstream.layers import configs
from millstream.layers.core import Layer
from millstream.layers.input_spec import InputSpec
from millstream.nn import functions
from millstream.ops import array_ops, clip_ops, math_ops, random_ops
from millstream.ops.tensor_array import TensorArray
from millstream.variables.initializers import constant_initializer, zeros_initializer
from millstream.variables.partitions import fixed_size_partitioner
from millstream.variables.scopes import get_variable_scope, variable_scope

__all__ = [
    "BasicLSTMCell",
    "BasicRNNCell",
    "DeviceWrapper",
    "DropoutWrapper",
    "GRUCell",
    "LSTMCell",
    "LSTMStateTuple",
    "MultiRNNCell",
    "RNNCell",
    "ResidualWrapper",
]


def assert_like_rnncell(word: str, cell: Any) -> None:
    """Raises `TypeError` unless a value is a cell, by its attributes. `word` names the argument in the
    message."""
    # The class of a cell passes, too, as in TensorFlow. Properties are not read: some raise.
    members = {*dir(type(cell)), *dir(cell)}
    lacks = [f"'{needed}' property is missing" for needed in ("output_size", "state_size") if needed not in members]
    if not {"zero_state", "get_initial_state"} & members:
        lacks.append("either 'zero_state' or 'get_initial_state' method is required")
    if not callable(cell):
        lacks.append("is not callable")
    if lacks:
        raise TypeError(f"The argument {word!r} ({cell}) is not an RNNCell: {', '.join(lacks)}.")


class LSTMStateTuple(NamedTuple):
    """The state of an LSTM: `c`, the memory of the cell, and `h`, its last output.

    Example:
      >>> state = tf.nn.rnn_cell.LSTMStateTuple(c=tf.zeros([2, 4]), h=tf.ones([2, 4]))
      >>> state.dtype, state.h.shape
      (tf.float32, TensorShape([Dimension(2), Dimension(4)]))
    """

    c: Any
    h: Any

    @property
    def dtype(self) -> Any:
        """The dtype of `c` and `h`.

        Raises:
          TypeError: The dtypes differ.
        """
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


class RNNCell(Layer):
    """The base class of cells: one step of a recurrent network.

    A subclass defines `state_size`, `output_size` and `call(inputs, state)`, which returns output and new
    state. Calling a cell runs `call` within the variable scope `name`.

    Args:
      trainable: If true, its variables are trainable.
      name: The name, also of the variable scope.
      dtype: The dtype of its variables.
      reuse: If true, variables are reused instead of created.

    Example:
      >>> class Counter(tf.nn.rnn_cell.RNNCell):
      ...     @property
      ...     def state_size(self):
      ...         return 1
      ...     @property
      ...     def output_size(self):
      ...         return 1
      ...     def call(self, inputs, state):
      ...         state = state + tf.reduce_sum(inputs, 1, keepdims=True)
      ...         return state, state
      >>> cell = Counter()
      >>> outputs, last = tf.nn.dynamic_rnn(cell, tf.constant([[[1.0], [2.0], [3.0]]]), dtype=tf.float32)
      >>> print(*tf.Session().run([outputs[0, :, 0], last]))
      [1. 3. 6.] [[6.]]
      >>> cell.zero_state(2, tf.float32).shape, cell.get_initial_state(batch_size=2, dtype=tf.float32).shape
      (TensorShape([Dimension(2), Dimension(1)]), TensorShape([Dimension(2), Dimension(1)]))
    """

    def __init__(
        self, trainable: bool = True, name: Optional[str] = None, dtype: Any = None, reuse: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(trainable=trainable, name=name, dtype=dtype, _reuse=reuse, **kwargs)

    @property
    def state_size(self) -> Any:
        """The sizes of the state: an int, or a structure of ints.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size of the output.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError("Abstract method")

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:  # type: ignore[override]
        """Computes one step.

        Args:
          inputs: A tensor of shape `[batch, inputs]`.
          state: A tensor of shape `[batch, state_size]`, or a structure of them.

        Returns:
          A pair: the output, of shape `[batch, output_size]`, and the new state.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError("Abstract method")

    # The scope in which the first call was made.
    _enclosing: Any = None

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Tuple[Any, Any]:  # type: ignore[override]
        # As in TensorFlow, the scope around the cell is entered once more. This repeats its name in those
        # of nodes.
        if scope is not None:
            with variable_scope(scope, custom_getter=_noted_in(self._variables)) as given:
                return self._called(inputs, state, given)
        if self._enclosing is None:
            self._enclosing = variable_scope(get_variable_scope(), custom_getter=_noted_in(self._variables))
        with self._enclosing:
            return self._called(inputs, state, None)

    def _called(self, inputs: Any, state: Any, scope: Any) -> Tuple[Any, Any]:
        with self.opened(scope) as here:
            self._scope = self._scope or here
            inputs = nest.map_structure(lambda x: convert_to_tensor(x) if isinstance(x, _ARRAYS) else x, inputs)
            self._check_inputs(inputs)
            if not self.built:
                if self._dtype is None:
                    self._dtype = convert_to_tensor(nest.flatten(inputs)[0]).dtype.base_dtype.name
                if type(self).build is not Layer.build:
                    self.build(nest.map_structure(lambda x: x.get_shape(), inputs))
                self.built = True
            return self.call(inputs, state)

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a cell like this one, for `from_config`."""
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns a state of zeros."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return _zeros(self.state_size, batch_size, dtype)

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Returns a state of zeros, with the batch size and dtype of `inputs` or the given ones.

        Args:
          inputs: A tensor of shape `[batch, ..]`.
          batch_size: The number of rows.
          dtype: The dtype.

        Returns:
          A tensor of shape `[batch, state_size]`, or a structure of such tensors.

        Raises:
          ValueError: Neither `inputs` nor both of the others are given.
        """
        if inputs is not None:
            inputs = convert_to_tensor(inputs)
            known = dimension_value(inputs.get_shape()[0])
            given = batch_size if batch_size is None else get_static_value(batch_size)
            if given is not None and known is not None and int(given) != known:
                raise ValueError(
                    "batch size from input tensor is different from the input param. "
                    f"Input tensor batch: {known}, batch_size: {batch_size}"
                )
            if dtype is not None and dtypes.as_dtype(dtype) != inputs.dtype:
                raise ValueError(
                    "dtype from input tensor is different from the input param. "
                    f"Input tensor dtype: {inputs.dtype}, dtype: {dtype}"
                )
            batch_size = array_ops.shape(inputs)[0] if known is None else known
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)


# Values that a cell makes tensors of.
_ARRAYS = (np.ndarray, float, int)


def _noted_in(variables: List[Any]) -> Callable[..., Any]:
    """Returns a custom getter that adds to a list the variables that `get_variable` returns."""

    def getter(make: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        variable = make(*args, **kwargs)
        if all(v is not variable for v in variables):
            variables.append(variable)
        return variable

    return getter


def batch_and_dims(batch_size: Any, dims: Any) -> List[Any]:
    """Returns the batch size and the other dimensions, a list or a scalar tensor, as two vectors.

    Functions here make as many nodes as TensorFlow's, whose seeds depend on the number of nodes made before.
    """
    if isinstance(batch_size, Tensor):
        first = batch_size if batch_size.shape.ndims == 1 else array_ops.expand_dims(batch_size, 0)
    else:
        first = constant([int(batch_size)], dtypes.int32)
    if isinstance(dims, Tensor):
        return [first, array_ops.expand_dims(dims, 0) if dims.shape.ndims == 0 else dims]
    return [first, constant(dims, dtypes.int32)]


def zero_state_of_size(size: Any, batch_size: Any, dtype: Any) -> Any:
    """Returns zeros of shape `[batch_size, ..size]`. The size is an int, a shape, or a scalar tensor."""
    dims: Any = size if isinstance(size, Tensor) else TensorShape(size).as_list()
    if batch_size is None:
        raise ValueError(f"Provided a prefix or suffix of None: {batch_size} and {size}")
    known = batch_size if isinstance(batch_size, int) else get_static_value(batch_size)
    if np.ndim(known):
        return array_ops.zeros(array_ops.concat([known, dims], 0), dtype)
    out = array_ops.zeros(array_ops.concat(batch_and_dims(batch_size, dims), 0), dtype)
    # TensorFlow makes them again to look for the static shape.
    batch_and_dims(batch_size, dims)
    out.set_shape([None if known is None else int(known)] + ([None] if isinstance(size, Tensor) else dims))
    return out


def _zeros(sizes: Any, batch_size: Any, dtype: Any) -> Any:
    return nest.map_structure(lambda size: zero_state_of_size(size, batch_size, dtype), sizes)


def depth_of(inputs_shape: Any) -> int:
    """Returns the last dimension of inputs, which must be known.

    Raises:
      ValueError: It is not.
    """
    shape = TensorShape(inputs_shape)
    depth = dimension_value(shape[-1]) if shape.ndims else None
    if depth is None:
        told = shape if shape.ndims is None else tuple(shape.as_list())
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {told}")
    return depth


def check_floating(values: Any) -> None:
    """Raises `ValueError` if a dtype, or that of a tensor of a structure, is neither floating nor complex."""
    for value in nest.flatten(values):
        dtype = dtypes.as_dtype(value) if isinstance(value, str) else getattr(value, "dtype", None)
        if dtype is not None and not (dtype.is_floating or dtype.is_complex):
            raise ValueError(f"RNN cell only supports floating point inputs, but saw dtype: {dtype}")


def _activation(activation: Any) -> Callable[[Any], Any]:
    if activation is None:
        return math_ops.tanh
    # `"linear"` is None to the layers.
    return configs.activation_of(activation) or array_ops.identity


def _unpacked(state: Any) -> Tuple[Any, Any]:
    """Returns the two parts of the state of an LSTM."""
    c, h = state
    return c, h


class LayerRNNCell(RNNCell):
    """The base class of cells whose variables are those of a layer, in the scope `name`.

    Args:
      trainable: If true, its variables are trainable.
      name: The name, also of the variable scope.
      dtype: The dtype of its variables.
      **kwargs: Other arguments of a layer.

    Example:
      >>> issubclass(tf.nn.rnn_cell.GRUCell, tf.contrib.rnn.LayerRNNCell)
      True
    """

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Tuple[Any, Any]:
        return self._called(inputs, state, scope)


def _configured(cell: RNNCell, **arguments: Any) -> Dict[str, Any]:
    """Returns the config of a cell with these arguments besides those of every cell."""
    shown = {
        key: configs.shown(value) if key == "activation" or key.endswith("initializer") else value
        for key, value in arguments.items()
    }
    return {**RNNCell.get_config(cell), **shown, "reuse": cell._reuse}


class BasicRNNCell(LayerRNNCell):
    """The basic cell: `output = state = activation(W * [input, state] + b)`.

    Args:
      num_units: The size of the state and the output.
      activation: The activation, a function of a tensor; by default `tf.tanh`.
      reuse: As in `RNNCell`.
      name: As in `RNNCell`.
      dtype: As in `RNNCell`.

    Example:
      >>> cell = tf.nn.rnn_cell.BasicRNNCell(4)
      >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, cell.state_size, [v.name for v in cell.variables]
      (TensorShape([Dimension(2), Dimension(4)]), 4, ['basic_rnn_cell/kernel:0', 'basic_rnn_cell/bias:0'])
      >>> same, _ = cell.call(tf.zeros([2, 3]), state)
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: Optional[str] = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, reuse=reuse, **kwargs)
        check_floating(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = _activation(activation)

    @property
    def state_size(self) -> int:
        """The number of units."""
        return self._num_units

    output_size = state_size

    def build(self, inputs_shape: Any) -> None:
        """Creates `kernel` and `bias` for inputs of this shape."""
        depth = depth_of(inputs_shape)
        check_floating(self.dtype)
        self._kernel = self.add_weight("kernel", [depth + self._num_units, self._num_units])
        self._bias = self.add_weight("bias", [self._num_units], None, zeros_initializer(dtype=self.dtype or dtypes.float32))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        check_floating([inputs, state])
        gates = functions.bias_add(math_ops.matmul(array_ops.concat([inputs, state], 1), self._kernel), self._bias)
        output = self._activation(gates)
        return output, output

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a cell like this one."""
        return _configured(self, num_units=self._num_units, activation=self._activation)


class GRUCell(LayerRNNCell):
    """A gated recurrent unit (Cho and others, 2014).

    Args:
      num_units: The size of the state and the output.
      activation: The activation, a function of a tensor; by default `tf.tanh`.
      reuse: As in `RNNCell`.
      kernel_initializer: The initializer of the kernels.
      bias_initializer: The initializer of the biases; by default ones for the gates, zeros for the candidate.
      name: As in `RNNCell`.
      dtype: As in `RNNCell`.

    Example:
      >>> cell = tf.nn.rnn_cell.GRUCell(4)
      >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, cell.state_size, cell.output_size, len(cell.variables)
      (TensorShape([Dimension(2), Dimension(4)]), 4, 4, 4)
      >>> same, _ = cell.call(tf.zeros([2, 3]), state)
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: Optional[str] = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, reuse=reuse, **kwargs)
        check_floating(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = _activation(activation)
        self._kernel_initializer = configs.initializer_of(kernel_initializer)
        self._bias_initializer = configs.initializer_of(bias_initializer)

    @property
    def state_size(self) -> int:
        """The number of units."""
        return self._num_units

    output_size = state_size

    def build(self, inputs_shape: Any) -> None:
        """Creates the kernels and biases of the gates and the candidate for inputs of this shape."""
        depth = depth_of(inputs_shape)
        check_floating(self.dtype)
        n = self._num_units
        dtype = self.dtype or dtypes.float32
        ones = self._bias_initializer or constant_initializer(1.0, dtype=dtype)
        zeros = self._bias_initializer or zeros_initializer(dtype=dtype)
        self._gate_kernel = self.add_weight("gates/kernel", [depth + n, 2 * n], None, self._kernel_initializer)
        self._gate_bias = self.add_weight("gates/bias", [2 * n], None, ones)
        self._candidate_kernel = self.add_weight("candidate/kernel", [depth + n, n], None, self._kernel_initializer)
        self._candidate_bias = self.add_weight("candidate/bias", [n], None, zeros)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        check_floating([inputs, state])
        gates = functions.bias_add(math_ops.matmul(array_ops.concat([inputs, state], 1), self._gate_kernel), self._gate_bias)
        reset, update = array_ops.split(value=math_ops.sigmoid(gates), num_or_size_splits=2, axis=1)
        candidate = math_ops.matmul(array_ops.concat([inputs, reset * state], 1), self._candidate_kernel)
        candidate = functions.bias_add(candidate, self._candidate_bias)
        new = update * state + (1 - update) * self._activation(candidate)
        return new, new

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a cell like this one."""
        return _configured(
            self,
            num_units=self._num_units,
            kernel_initializer=self._kernel_initializer,
            bias_initializer=self._bias_initializer,
            activation=self._activation,
        )


class BasicLSTMCell(LayerRNNCell):
    """A plain LSTM: no clipping, no projection, no peepholes.

    Args:
      num_units: The size of the state and the output.
      forget_bias: A value added to the forget gate's bias.
      state_is_tuple: If true, the state is an `LSTMStateTuple`; otherwise one tensor with `c` and `h`
        concatenated.
      activation: The activation, a function of a tensor; by default `tf.tanh`.
      reuse: As in `RNNCell`.
      name: As in `RNNCell`.
      dtype: As in `RNNCell`.

    Example:
      >>> cell = tf.nn.rnn_cell.BasicLSTMCell(4)
      >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, state.c.shape, cell.state_size, cell.output_size
      (TensorShape([Dimension(2), Dimension(4)]), TensorShape([Dimension(2), Dimension(4)]), LSTMStateTuple(c=4, h=4), 4)
      >>> same, _ = cell.call(tf.zeros([2, 3]), state)
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: Optional[str] = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, reuse=reuse, **kwargs)
        check_floating(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._forget_bias, self._state_is_tuple = num_units, forget_bias, state_is_tuple
        self._activation = _activation(activation)

    @property
    def state_size(self) -> Any:
        """The sizes of `c` and `h`."""
        n = self._num_units
        return LSTMStateTuple(n, n) if self._state_is_tuple else 2 * n

    @property
    def output_size(self) -> int:
        """The number of units."""
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        """Creates `kernel` and `bias` for inputs of this shape."""
        depth, n = depth_of(inputs_shape), self._num_units
        check_floating(self.dtype)
        self._kernel = self.add_weight("kernel", [depth + n, 4 * n])
        self._bias = self.add_weight("bias", [4 * n], None, zeros_initializer(dtype=self.dtype or dtypes.float32))
        self.built = True

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a cell like this one."""
        return _configured(
            self,
            num_units=self._num_units,
            forget_bias=self._forget_bias,
            state_is_tuple=self._state_is_tuple,
            activation=self._activation,
        )

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        check_floating([inputs, state])
        one = constant(1, dtypes.int32)
        parts = state if self._state_is_tuple else array_ops.split(value=state, num_or_size_splits=2, axis=one)
        c, h = _unpacked(parts)
        gates = functions.bias_add(math_ops.matmul(array_ops.concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=one)
        forget = constant(self._forget_bias, dtype=f.dtype)
        new_c = op("Add")(math_ops.multiply(c, math_ops.sigmoid(op("Add")(f, forget))), math_ops.multiply(math_ops.sigmoid(i), self._activation(j)))
        new_h = math_ops.multiply(self._activation(new_c), math_ops.sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h) if self._state_is_tuple else array_ops.concat([new_c, new_h], 1)


class LSTMCell(LayerRNNCell):
    """An LSTM with optional peepholes, clipping, and projection of the output.

    Args:
      num_units: The size of the memory `c`.
      use_peepholes: If true, the gates see the memory.
      cell_clip: Clips the memory to between `-cell_clip` and `cell_clip`.
      initializer: The initializer of the kernels.
      num_proj: The size that the output is projected to.
      proj_clip: Clips the projection to between `-proj_clip` and `proj_clip`.
      num_unit_shards: The number of parts of the kernel, a partitioned variable; None for one variable.
      num_proj_shards: The number of parts of the projection.
      forget_bias: A value added to the forget gate's bias.
      state_is_tuple: If true, the state is an `LSTMStateTuple`; otherwise one tensor with `c` and `h`
        concatenated.
      activation: The activation, a function of a tensor; by default `tf.tanh`.
      reuse: As in `RNNCell`.
      name: As in `RNNCell`.
      dtype: As in `RNNCell`.

    Example:
      >>> cell = tf.nn.rnn_cell.LSTMCell(4, use_peepholes=True, num_proj=2)
      >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, cell.state_size, cell.output_size
      (TensorShape([Dimension(2), Dimension(2)]), LSTMStateTuple(c=4, h=2), 2)
      >>> same, _ = cell.call(tf.zeros([2, 3]), state)
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: Optional[float] = None,
        initializer: Any = None,
        num_proj: Optional[int] = None,
        proj_clip: Optional[float] = None,
        num_unit_shards: Any = None,
        num_proj_shards: Any = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: Optional[str] = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, reuse=reuse, **kwargs)
        check_floating(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards
        self._num_units, self._num_proj = num_units, num_proj
        self._use_peepholes, self._cell_clip, self._proj_clip = use_peepholes, cell_clip, proj_clip
        self._initializer = configs.initializer_of(initializer)
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple
        self._activation = _activation(activation)

    @property
    def output_size(self) -> int:
        """The size of the projection, or the number of units without one."""
        return self._num_proj or self._num_units

    @property
    def state_size(self) -> Any:
        """The sizes of `c` and `h`."""
        sizes = self._num_units, self.output_size
        return LSTMStateTuple(*sizes) if self._state_is_tuple else sum(sizes)

    def build(self, inputs_shape: Any) -> None:
        """Creates the kernel, the bias, and those of peepholes and projection for inputs of this shape."""
        depth, n = depth_of(inputs_shape), self._num_units
        check_floating(self.dtype)
        parts = None if self._num_unit_shards is None else fixed_size_partitioner(self._num_unit_shards)
        self._kernel = self.add_weight(
            "kernel", [depth + self.output_size, 4 * n], initializer=self._initializer, partitioner=parts
        )
        zeros = zeros_initializer(dtype=self.dtype or dtypes.float32)
        self._bias = self.add_weight("bias", [4 * n], initializer=zeros)
        if self._use_peepholes:
            self._w_f_diag, self._w_i_diag, self._w_o_diag = (
                self.add_weight(f"w_{gate}_diag", [n], initializer=self._initializer) for gate in "fio"
            )
        if self._num_proj is not None:
            parts = None if self._num_proj_shards is None else fixed_size_partitioner(self._num_proj_shards)
            self._proj_kernel = self.add_weight(
                "projection/kernel", [n, self._num_proj], initializer=self._initializer, partitioner=parts
            )
        self.built = True

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a cell like this one."""
        return _configured(
            self,
            num_units=self._num_units,
            use_peepholes=self._use_peepholes,
            cell_clip=self._cell_clip,
            initializer=self._initializer,
            num_proj=self._num_proj,
            proj_clip=self._proj_clip,
            num_unit_shards=self._num_unit_shards,
            num_proj_shards=self._num_proj_shards,
            forget_bias=self._forget_bias,
            state_is_tuple=self._state_is_tuple,
            activation=self._activation,
        )

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        check_floating([inputs, state])
        n, n_out = self._num_units, self.output_size
        if self._state_is_tuple:
            c_prev, h_prev = _unpacked(state)
        else:
            c_prev = op("Slice")(state, [0, 0], [-1, n])
            h_prev = op("Slice")(state, [0, n], [-1, n_out])
        gates = functions.bias_add(math_ops.matmul(array_ops.concat([inputs, h_prev], 1), self._kernel), self._bias)
        i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=1)
        if self._use_peepholes:
            f, i = f + self._forget_bias + self._w_f_diag * c_prev, i + self._w_i_diag * c_prev
        else:
            f = f + self._forget_bias
        c = math_ops.sigmoid(f) * c_prev + math_ops.sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            c = clip_ops.clip_by_value(c, -self._cell_clip, self._cell_clip)
        h = math_ops.sigmoid(o + self._w_o_diag * c if self._use_peepholes else o) * self._activation(c)
        if self._num_proj is not None:
            h = math_ops.matmul(h, self._proj_kernel)
            if self._proj_clip is not None:
                h = clip_ops.clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else array_ops.concat([c, h], 1)


class MultiRNNCell(RNNCell):
    """A stack of cells: the output of each is the input of the next.

    Args:
      cells: A list of cells.
      state_is_tuple: If true, the state is a tuple of the cells' states; otherwise one tensor of all,
        concatenated.

    Raises:
      ValueError: `cells` is empty, or a cell's state is a tuple and `state_is_tuple` is false.
      TypeError: `cells` is not a list.

    Example:
      >>> cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(n) for n in (4, 5)])
      >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, cell.state_size, cell.output_size, len(cell.variables)
      (TensorShape([Dimension(2), Dimension(5)]), (4, 5), 5, 8)
      >>> same, _ = cell.call(tf.zeros([2, 3]), state)
    """

    def __init__(self, cells: Sequence[RNNCell], state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_sequence(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        self._cells = list(cells)
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(nest.is_sequence(c.state_size) for c in self._cells):
            raise ValueError(
                f"Some cells return tuples of states, but the flag state_is_tuple is not set.  State sizes are: "
                f"{[c.state_size for c in self._cells]}"
            )

    @property
    def state_size(self) -> Any:
        """The state sizes of all cells."""
        sizes = tuple(c.state_size for c in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        """The output size of the last cell."""
        return self._cells[-1].output_size

    @property
    def variables(self) -> List[Any]:
        """The variables of all cells."""
        return [*self.trainable_variables, *self.non_trainable_variables]

    @property
    def trainable_variables(self) -> List[Any]:
        """The trainable variables of all cells; none if this cell is not trainable."""
        return [v for c in self._cells if isinstance(c, Layer) for v in c.trainable_variables] if self.trainable else []

    @property
    def non_trainable_variables(self) -> List[Any]:
        """The other variables of all cells."""
        cells = [c for c in self._cells if isinstance(c, Layer)]
        fixed = [v for c in cells for v in c.non_trainable_variables]
        return fixed if self.trainable else [v for c in cells for v in c.trainable_variables] + fixed

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns a state of zeros."""
        with name_scope("MultiRNNCellZeroState", values=[batch_size]):
            if self._state_is_tuple:
                return tuple(c.zero_state(batch_size, dtype) for c in self._cells)
            return super().zero_state(batch_size, dtype)

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step of each cell.

        Raises:
          ValueError: The state is not a tuple.
        """
        at = 0
        states = []
        for i, cell in enumerate(self._cells):
            with variable_scope(f"cell_{i}"):
                if self._state_is_tuple:
                    if not nest.is_sequence(state):
                        raise ValueError(f"Expected state to be a tuple of length {len(self.state_size)}, but received: {state}")
                    part = state[i]
                else:
                    part = op("Slice")(state, [0, at], [-1, cell.state_size])
                    at += cell.state_size
                inputs, new = cell(inputs, part)
                states.append(new)
        return inputs, tuple(states) if self._state_is_tuple else array_ops.concat(states, 1)


class _Wrapper(RNNCell):
    """A cell that wraps another. As in TensorFlow, it lists no variables: those are the wrapped cell's."""

    def __init__(self, cell: RNNCell, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        assert_like_rnncell("cell", cell)
        self._cell = cell

    @property
    def wrapped_cell(self) -> RNNCell:
        """The wrapped cell."""
        return self._cell

    @property
    def state_size(self) -> Any:
        """The state size of the wrapped cell."""
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        """The output size of the wrapped cell."""
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the zero state of the wrapped cell."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Tuple[Any, Any]:
        return self._around(lambda x, s: self._cell(x, s, scope), inputs, state)

    def _around(self, step: Callable[[Any, Any], Tuple[Any, Any]], inputs: Any, state: Any) -> Tuple[Any, Any]:
        raise NotImplementedError

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a cell like this one, with the wrapped cell's class and config."""
        return {**super().get_config(), "cell": {"class_name": type(self._cell).__name__, "config": self._cell.get_config()}}

    @classmethod
    def from_config(cls, config: Dict[str, Any]) -> Any:
        """Returns a new wrapper with these arguments.

        Args:
          config: What `get_config` returns, with a cell as `cell`.

        Raises:
          ValueError: `cell` is not a cell.
        """
        arguments = dict(config)
        cell = arguments.pop("cell")
        try:
            assert_like_rnncell("cell", cell)
        except TypeError:
            raise ValueError(
                "RNNCellWrapper cannot reconstruct the wrapped cell. "
                "Please overwrite the cell in the config with a RNNCell instance."
            ) from None
        return cls(cell, **arguments)


def _keep_prob(word: str, value: Any) -> Any:
    """Returns a probability: a float if it is known, else a tensor."""
    tensor = convert_to_tensor(value)
    known = get_static_value(tensor)
    if known is None:
        return value
    if known < 0 or known > 1:
        raise ValueError(f"Parameter {word}_keep_prob must be between 0 and 1: {int(known)} (given {float(known)})")
    return float(known)


class DropoutWrapper(_Wrapper):
    """Applies dropout to the input, output or state of a cell.

    Args:
      cell: A cell.
      input_keep_prob: The probability that an element of the input is kept: a float or a scalar tensor.
      output_keep_prob: The same for the output.
      state_keep_prob: The same for the state.
      variational_recurrent: If true, all steps of a run drop the same elements (Gal and Ghahramani, 2015).
      input_size: The size of the input, or a structure of sizes; needed for variational dropout of the input.
      dtype: The dtype of the masks of variational dropout.
      seed: A seed; see `tf.set_random_seed`.
      dropout_state_filter_visitor: A function that returns, for each part of the state, whether dropout
        applies to it; by default to all but `c`.

    Raises:
      TypeError: `cell` is not a cell, or the filter is not callable.
      ValueError: A probability is not between 0 and 1, or variational dropout lacks `dtype` or `input_size`.

    Example:
      >>> cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicRNNCell(4), output_keep_prob=0.5, seed=1)
      >>> output, _ = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape
      TensorShape([Dimension(2), Dimension(4)])
    """

    def __init__(
        self,
        cell: RNNCell,
        input_keep_prob: Any = 1.0,
        output_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: Optional[int] = None,
        dropout_state_filter_visitor: Optional[Callable[[Any], Any]] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._seed, self._input_size, self._given_filter = seed, input_size, dropout_state_filter_visitor
        with name_scope("DropoutWrapperInit"):
            self._keep = {
                "input": _keep_prob("input", input_keep_prob),
                "state": _keep_prob("state", state_keep_prob),
                "output": _keep_prob("output", output_keep_prob),
            }
            self._noise = self._masks(input_size, dtype) if variational_recurrent else None
        # By default the memory of an LSTM is not dropped.
        self._filter = dropout_state_filter_visitor or (
            lambda s: LSTMStateTuple(False, True) if isinstance(s, LSTMStateTuple) else not isinstance(s, TensorArray)
        )

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a cell like this one."""
        config = {f"{which}_keep_prob": keep for which, keep in self._keep.items()}
        config.update(variational_recurrent=self._noise is not None, input_size=self._input_size, seed=self._seed)
        if self._given_filter is not None:
            config["dropout_state_filter_visitor"] = self._given_filter
        return {**super().get_config(), **config}

    def _seed_of(self, which: str, i: int) -> Optional[int]:
        """Returns the seed of a part: one of its own, so that parts are dropped independently."""
        if self._seed is None:
            return None
        # TensorFlow's derivation: the same seed drops the same elements.
        digest = hashlib.md5(f"{self._seed}{which}_{i}".encode()).digest()
        return int.from_bytes(digest[:4], "big") & 0x7FFFFFFF

    def _masks(self, input_size: Any, dtype: Any) -> Any:
        """Returns the uniform numbers of variational dropout: one for each element of input, state and
        output."""
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")
        if self._drops("input") and input_size is None:
            raise ValueError(
                "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size must be provided"
            )
        sizes = {"input": input_size if self._drops("input") else [], "state": self._cell.state_size, "output": self._cell.output_size}
        return {which: self._masks_of(which, size, dtype) for which, size in sizes.items()}

    def _masks_of(self, which: str, sizes: Any, dtype: Any) -> Any:
        count = itertools.count()

        def mask(size: Any) -> Any:
            shape = array_ops.concat(([1], TensorShape(size).as_list()), 0)
            return random_ops.random_uniform(shape, seed=self._seed_of(which, next(count)), dtype=dtype)

        return nest.map_structure(mask, sizes)

    def _drops(self, which: str) -> bool:
        keep = self._keep[which]
        return not isinstance(keep, float) or keep < 1.0

    def _dropped(self, values: Any, which: str) -> Any:
        if not self._drops(which):
            return values
        keep, count = self._keep[which], itertools.count()

        def drop(chosen: Any, part: Any, noise: Any = None) -> Any:
            seed = self._seed_of(which, next(count))
            if isinstance(chosen, bool) and not chosen:
                return part
            if noise is None:
                return functions.dropout(part, rate=1 - keep, seed=seed)
            kept = op("Floor")(keep + noise)
            out = math_ops.div(part, keep) * kept
            out.set_shape(part.get_shape())
            return out

        chosen = nest.get_traverse_shallow_structure(self._filter, values) if which == "state" else values
        parts = (chosen, values) if self._noise is None else (chosen, values, self._noise[which])
        return nest.map_structure_up_to(chosen, drop, *parts)

    def _around(self, step: Callable[[Any, Any], Tuple[Any, Any]], inputs: Any, state: Any) -> Tuple[Any, Any]:
        output, new = step(self._dropped(inputs, "input"), state)
        new = self._dropped(new, "state")
        return self._dropped(output, "output"), new


class ResidualWrapper(_Wrapper):
    """Adds the input of a cell to its output, or returns `residual_fn(inputs, outputs)`.

    Args:
      cell: A cell whose output has the size of its input.
      residual_fn: A function of inputs and outputs.

    Example:
      >>> cell = tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.BasicRNNCell(3))
      >>> output, _ = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape
      TensorShape([Dimension(2), Dimension(3)])
    """

    def __init__(self, cell: RNNCell, residual_fn: Optional[Callable[[Any, Any], Any]] = None, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a cell like this one."""
        given = {} if self._residual_fn is None else {"residual_fn": self._residual_fn}
        return {**super().get_config(), **given}

    def _around(self, step: Callable[[Any, Any], Tuple[Any, Any]], inputs: Any, state: Any) -> Tuple[Any, Any]:
        outputs, new = step(inputs, state)
        if self._residual_fn is not None:
            return self._residual_fn(inputs, outputs), new
        nest.assert_same_structure(inputs, outputs)
        nest.map_structure(lambda a, b: a.get_shape().assert_is_compatible_with(b.get_shape()), inputs, outputs)
        return nest.map_structure(lambda a, b: a + b, inputs, outputs), new


class DeviceWrapper(_Wrapper):
    """Runs a cell on a device.

    Args:
      cell: A cell.
      device: The device, as in `tf.device`.

    Example:
      >>> cell = tf.nn.rnn_cell.DeviceWrapper(tf.nn.rnn_cell.BasicRNNCell(4), "/cpu:0")
      >>> output, _ = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.device, cell.state_size, cell.output_size, len(cell.wrapped_cell.variables)
      ('/device:CPU:0', 4, 4, 2)
    """

    def __init__(self, cell: RNNCell, device: Any, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the zero state of the wrapped cell, on the device."""
        with framework.device(self._device):
            return super().zero_state(batch_size, dtype)

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a cell like this one."""
        return {**super().get_config(), "device": self._device}

    def _around(self, step: Callable[[Any, Any], Tuple[Any, Any]], inputs: Any, state: Any) -> Tuple[Any, Any]:
        with framework.device(self._device):
            return step(inputs, state)


__dir__ = namespaces.dir_of(globals())
