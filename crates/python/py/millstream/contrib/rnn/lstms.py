"""LSTM cells: layer normalization, coupled gates, groups and phases."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from millstream.contrib.rnn.cells import width
from millstream.framework import add_to_collection, dtypes, get_collection, logging
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.framework.shapes import dimension_value
from millstream.nn import functions, nn_ops
from millstream.ops import array_ops, clip_ops, math_ops, random_ops
from millstream.rnn.cells import LSTMStateTuple, RNNCell
from millstream.rnn.linear import linear
from millstream.variables.initializers import constant_initializer, random_uniform_initializer, zeros_initializer
from millstream.variables.scopes import get_variable, get_variable_scope, variable_scope

__all__ = [
    "CoupledInputForgetGateLSTMCell",
    "GLSTMCell",
    "LayerNormBasicLSTMCell",
    "PhasedLSTMCell",
]

_SLOWER = "%s: Using a concatenated state is slower and will soon be deprecated.  Use state_is_tuple=True."


class _Sized:
    """The sizes of an LSTM, whose output may be projected."""

    _num_units: int
    _num_proj: Optional[int] = None
    _state_is_tuple = True

    @property
    def output_size(self) -> int:
        """The size of the projection, or the number of units without one."""
        return self._num_proj or self._num_units

    @property
    def state_size(self) -> Any:
        """The sizes of `c` and `h`."""
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)


def _normalized(x: Any, scope: str, gain: float, shift: float, dtype: Any = None) -> Any:
    """Returns each row of a matrix with mean `shift` and deviation `gain`: variables of the scope."""
    shape = x.get_shape()[-1:]
    with variable_scope(scope):
        gamma = get_variable("gamma", shape=shape, initializer=constant_initializer(gain), dtype=dtype)
        beta = get_variable("beta", shape=shape, initializer=constant_initializer(shift), dtype=dtype)
    with variable_scope(scope, reuse=True):
        mean, variance = functions.moments(x, [1], keep_dims=True)
        epsilon = 1e-3 if x.dtype == dtypes.float16 else 1e-12
        out = nn_ops.batch_normalization(x, mean, variance, beta, gamma, epsilon)
        out.set_shape(x.get_shape())
        return out


def _sharded(name: str, shape: List[int], dtype: Any, n_shards: int) -> Any:
    """Returns a matrix made of `n_shards` variables, `name_0` and so on."""
    rows, columns = shape
    if n_shards > rows:
        raise ValueError(f"Too many shards: shape={shape}, num_shards={n_shards}")
    each, more = divmod(rows, n_shards)
    shards = [get_variable(f"{name}_{i}", [each + (i < more), columns], dtype=dtype) for i in range(n_shards)]
    if len(shards) == 1:
        return shards[0]
    full = get_variable_scope().name + "/" + name + "/concat:0"
    for value in get_collection(GraphKeys.CONCATENATED_VARIABLES):
        if value.name == full:
            return value
    joined = array_ops.concat(shards, 0, name=name + "/concat")
    add_to_collection(GraphKeys.CONCATENATED_VARIABLES, joined)
    return joined


def _clipped(x: Any, limit: Any) -> Any:
    return x if limit is None else clip_ops.clip_by_value(x, -limit, limit)


class LayerNormBasicLSTMCell(_Sized, RNNCell):
    """An LSTM with layer normalization (Ba and others, 2016).

    Its dropout drops candidates for the memory (Semeniuta and others, 2016).

    Args:
      num_units: The size of the state and the output.
      forget_bias: A value added to the forget gate's bias.
      input_size: Ignored.
      activation: The activation, a function of a tensor.
      layer_norm: If true, gates and memory are normalized; otherwise the cell has a bias.
      norm_gain: The first value of the gains.
      norm_shift: The first value of the shifts.
      dropout_keep_prob: The probability that a candidate for the memory is kept: a float or a scalar tensor.
      dropout_prob_seed: A seed; see `tf.set_random_seed`.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.

    Example:
      >>> cell = tf.contrib.rnn.LayerNormBasicLSTMCell(4)
      >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, cell.state_size, cell.output_size, [v.name for v in cell.variables][:2]
      (TensorShape([Dimension(2), Dimension(4)]), LSTMStateTuple(c=4, h=4), 4, ['layer_norm_basic_lstm_cell/kernel:0', 'layer_norm_basic_lstm_cell/input/gamma:0'])
      >>> same, _ = cell.call(tf.ones([2, 3]), state)
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: Any = None,
        activation: Any = math_ops.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: Optional[int] = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(reuse=reuse)
        if input_size is not None:
            logging.warn("%s: The input_size parameter is deprecated.", self)
        self._num_units, self._forget_bias, self._activation = num_units, forget_bias, activation
        self._layer_norm, self._gain, self._shift = layer_norm, norm_gain, norm_shift
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed

    def _norm(self, x: Any, scope: str) -> Any:
        return _normalized(x, scope, self._gain, self._shift, x.dtype) if self._layer_norm else x

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        c, h = state
        args = array_ops.concat([inputs, h], 1)
        kernel = get_variable("kernel", [args.get_shape()[-1], 4 * self._num_units], dtype=args.dtype)
        gates = math_ops.matmul(args, kernel)
        if not self._layer_norm:
            gates = functions.bias_add(gates, get_variable("bias", [4 * self._num_units], dtype=args.dtype))
        parts = array_ops.split(value=gates, num_or_size_splits=4, axis=1)
        i, j, f, o = (self._norm(x, scope) for x, scope in zip(parts, ("input", "transform", "forget", "output")))
        g = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            g = functions.dropout(g, self._keep_prob, seed=self._seed)
        new_c = c * math_ops.sigmoid(f + self._forget_bias) + math_ops.sigmoid(i) * g
        new_c = self._norm(new_c, "state")
        new_h = self._activation(new_c) * math_ops.sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


class CoupledInputForgetGateLSTMCell(_Sized, RNNCell):
    """An LSTM whose input gate is 1 minus its forget gate (Greff and others, 2015).

    Args:
      num_units: The size of the memory.
      use_peepholes: If true, gates see the memory.
      initializer: Ignored, as in TensorFlow: variables use the initializer of the variable scope.
      num_proj: The size of the projected output; None for no projection.
      proj_clip: The projected output is clipped to between `-proj_clip` and `proj_clip`.
      num_unit_shards: The number of variables that the kernel is made of.
      num_proj_shards: The same for the projection.
      forget_bias: A value added to the forget gate's bias.
      state_is_tuple: If true, the state is an `LSTMStateTuple`; otherwise one tensor.
      activation: The activation, a function of a tensor.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.
      layer_norm: If true, gates and memory are normalized.
      norm_gain: The first value of the gains.
      norm_shift: The first value of the shifts.

    Raises:
      ValueError: When called: the input's size is unknown, or there are more shards than rows.

    Example:
      >>> cell = tf.contrib.rnn.CoupledInputForgetGateLSTMCell(4)
      >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, cell.state_size, cell.output_size
      (TensorShape([Dimension(2), Dimension(4)]), LSTMStateTuple(c=4, h=4), 4)
      >>> same, _ = cell.call(tf.ones([2, 3]), state)
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: Any = None,
        num_proj: Optional[int] = None,
        proj_clip: Optional[float] = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = math_ops.tanh,
        reuse: Any = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ) -> None:
        super().__init__(reuse=reuse)
        if not state_is_tuple:
            logging.warn(_SLOWER, self)
        self._num_units, self._num_proj, self._proj_clip = num_units, num_proj, proj_clip
        self._unit_shards, self._proj_shards = num_unit_shards, num_proj_shards
        self._use_peepholes, self._forget_bias, self._activation = use_peepholes, forget_bias, activation
        self._state_is_tuple = state_is_tuple
        self._layer_norm, self._gain, self._shift = layer_norm, norm_gain, norm_shift

    def _norm(self, x: Any, scope: str) -> Any:
        return _normalized(x, scope, self._gain, self._shift) if self._layer_norm else x

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        n, dtype, sigmoid = self._num_units, inputs.dtype, math_ops.sigmoid
        if self._state_is_tuple:
            c_prev, h_prev = state
        else:
            c_prev = op("Slice")(state, [0, 0], [-1, n])
            h_prev = op("Slice")(state, [0, n], [-1, self.output_size])
        kernel = _sharded("W", [width(inputs) + self.output_size, 3 * n], dtype, self._unit_shards)
        bias = get_variable("B", shape=[3 * n], initializer=zeros_initializer(), dtype=dtype)
        gates = math_ops.matmul(array_ops.concat([inputs, h_prev], 1), kernel)
        if not self._layer_norm:
            gates = functions.bias_add(gates, bias)
        parts = array_ops.split(value=gates, num_or_size_splits=3, axis=1)
        j, f, o = (self._norm(x, scope) for x, scope in zip(parts, ("transform", "forget", "output")))
        if self._use_peepholes:
            w_f, w_o = (get_variable(f"W_{g}_diag", shape=[n], dtype=dtype) for g in "FO")
            f = sigmoid(f + self._forget_bias + w_f * c_prev)
        else:
            f = sigmoid(f + self._forget_bias)
        c = self._norm(f * c_prev + (1 - f) * self._activation(j), "state")
        h = sigmoid(o + w_o * c if self._use_peepholes else o) * self._activation(c)
        if self._num_proj is not None:
            h = math_ops.matmul(h, _sharded("W_P", [n, self._num_proj], dtype, self._proj_shards))
            h = _clipped(h, self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else array_ops.concat([c, h], 1)


class GLSTMCell(_Sized, RNNCell):
    """An LSTM whose kernel is made of independent groups (Kuchaiev and Ginsburg, 2017).

    Args:
      num_units: The size of the memory.
      initializer: The initializer of the kernels.
      num_proj: The size of the projected output; None for no projection.
      number_of_groups: The number of groups, which divides all sizes.
      forget_bias: A value added to the forget gate's bias.
      activation: The activation of the memory, a function of a tensor.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.

    Raises:
      ValueError: A size is not divisible by the number of groups. When called: the input's size is unknown.

    Example:
      >>> cell = tf.contrib.rnn.GLSTMCell(4, number_of_groups=2)
      >>> output, state = cell(tf.ones([2, 6]), cell.zero_state(2, tf.float32))
      >>> output.shape, cell.state_size, cell.output_size, [v.name for v in cell.variables][:2]
      (TensorShape([Dimension(2), Dimension(4)]), LSTMStateTuple(c=4, h=4), 4, ['glstm_cell/group0/kernel:0', 'glstm_cell/group1/kernel:0'])
      >>> same, _ = cell.call(tf.ones([2, 6]), state)
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        num_proj: Optional[int] = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: Any = math_ops.tanh,
        reuse: Any = None,
    ) -> None:
        super().__init__(reuse=reuse)
        self._num_units, self._initializer, self._num_proj = num_units, initializer, num_proj
        self._groups, self._forget_bias, self._activation = number_of_groups, forget_bias, activation
        if num_units % number_of_groups:
            raise ValueError("num_units must be divisible by number_of_groups")
        if num_proj and num_proj % number_of_groups:
            raise ValueError("num_proj must be divisible by number_of_groups")

    def _group(self, x: Any, i: int, size: int, rows: Any) -> Any:
        return op("Slice")(x, [0, i * size], [rows, size], name=f"GLSTM_group{i}_input_generation")

    def _gates(self, inputs: Any, h: Any) -> List[Any]:
        """Returns the gates, each joined from those of all groups, with its bias."""
        known = dimension_value(inputs.get_shape()[0])
        rows = array_ops.shape(inputs)[0] if not known else known
        size = dimension_value(inputs.get_shape()[1])
        if size is None:
            raise ValueError("input size must be statically known")
        if size % self._groups:
            raise ValueError(f"input size ({size}) must be divisible by number_of_groups ({self._groups})")
        parts = []
        for i in range(self._groups):
            with variable_scope(f"group{i}"):
                own = self._group(inputs, i, size // self._groups, rows), self._group(h, i, self.output_size // self._groups, rows)
                gates = linear(array_ops.concat(own, 1), 4 * (self._num_units // self._groups), False)
                parts.append(array_ops.split(gates, 4, 1))
        start = constant_initializer(0.0, dtype=inputs.dtype)
        biases = [get_variable("bias_" + g, [self._num_units], inputs.dtype, initializer=start) for g in "ijfo"]
        return [functions.bias_add(array_ops.concat(gate, 1), b) for gate, b in zip(zip(*parts), biases)]

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        c, h = state
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            i, j, f, o = self._gates(inputs, h)
        c = math_ops.sigmoid(f + self._forget_bias) * c + math_ops.sigmoid(i) * math_ops.tanh(j)
        h = math_ops.sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            with variable_scope("projection"):
                h = linear(h, self._num_proj, False)
        return h, LSTMStateTuple(c, h)


def _random_exponents(least: float, most: float) -> Any:
    """Returns an initializer whose logarithms are uniform."""

    def initializer(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Any:
        return op("Exp")(random_ops.random_uniform(shape, op("Log")(least), op("Log")(most), dtype))

    return initializer


class PhasedLSTMCell(_Sized, RNNCell):
    """An LSTM that is updated in a part of each period only (Neil and others, 2016).

    Its input is a pair: the times, of shape `[batch, 1]`, and the features, of shape `[batch, inputs]`.

    Args:
      num_units: The size of the state and the output.
      use_peepholes: If true, gates see the memory.
      leak: The rate of updates while the cell is closed.
      ratio_on: The part of a period in which the cell is open.
      trainable_ratio_on: If true, the part is trained.
      period_init_min: The least first period.
      period_init_max: The largest first period.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.

    Example:
      >>> cell = tf.contrib.rnn.PhasedLSTMCell(4)
      >>> inputs = tf.constant([[0.5], [1.5]]), tf.ones([2, 3])
      >>> output, state = cell(inputs, cell.zero_state(2, tf.float32))
      >>> output.shape, cell.state_size, cell.output_size
      (TensorShape([Dimension(2), Dimension(4)]), LSTMStateTuple(c=4, h=4), 4)
      >>> same, _ = cell.call(inputs, state)
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: Any = None,
    ) -> None:
        super().__init__(reuse=reuse)
        self._num_units, self._use_peepholes, self._leak = num_units, use_peepholes, leak
        self._ratio_on, self._trainable_ratio_on = ratio_on, trainable_ratio_on
        self._periods = period_init_min, period_init_max

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        (time, x), (c, h), n = inputs, state, self._num_units
        peep = lambda memory: [memory] if self._use_peepholes else []  # noqa: E731
        with variable_scope("mask_gates"):
            masks = math_ops.sigmoid(linear([x, h] + peep(c), 2 * n))
            input_gate, forget_gate = array_ops.split(axis=1, num_or_size_splits=2, value=masks)
        with variable_scope("new_input"):
            new_input = math_ops.tanh(linear([x, h], n))
        new_c = c * forget_gate + input_gate * new_input
        with variable_scope("output_gate"):
            output_gate = math_ops.sigmoid(linear([x, h] + peep(new_c), n))
        new_h = math_ops.tanh(new_c) * output_gate
        k = self._openness(time)
        new_c = k * new_c + (1 - k) * c
        new_h = k * new_h + (1 - k) * h
        return new_h, LSTMStateTuple(new_c, new_h)

    def _openness(self, time: Any) -> Any:
        """Returns how open the cell is: it rises and falls in the first part of a period, and then leaks."""
        n = [self._num_units]
        period = get_variable("period", n, initializer=_random_exponents(*self._periods))
        phase = get_variable("phase", n, initializer=random_uniform_initializer(0.0, period.initial_value))
        start = constant_initializer(self._ratio_on)
        ratio_on = get_variable("ratio_on", n, initializer=start, trainable=self._trainable_ratio_on)
        phase, period = math_ops.cast(phase, time.dtype), math_ops.cast(period, time.dtype)
        shifted = time - phase
        # The remainder, with the gradient of the dividend.
        rest = op("StopGradient")(op("FloorMod")(shifted, period) - shifted) + shifted
        cycle = math_ops.cast(rest / period, dtypes.float32)
        rising = 2 * cycle / ratio_on
        falling = 2 - rising
        leaking = self._leak * cycle
        k = array_ops.where(cycle < ratio_on, falling, leaking)
        return array_ops.where(cycle < 0.5 * ratio_on, rising, k)
