"""`tf.contrib.recurrent`: recurrences over the first axis, in loops that keep every state."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Tuple

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, dtypes, namespaces, nest
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow, math_ops
from millstream.ops.custom_gradients import custom_gradient
from millstream.ops.tensor_array import TensorArray
from millstream.variables.scopes import variable_scope

__all__ = ["Recurrent", "bidirectional_functional_rnn", "functional_rnn"]

__dir__ = namespaces.dir_of(globals())


def _tensors(structure: Any) -> Any:
    return nest.map_structure(convert_to_tensor, structure)


def _with_gradient(cell_fn: Callable[..., Any], cell_grad: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function of a cell whose gradient is another function."""

    def step(theta: Any, state: Any, inputs: Any) -> Any:
        given = [theta, state, inputs]
        kept: List[Any] = []

        @custom_gradient  # type: ignore[misc]
        def call(*flat: Any) -> Any:
            parts = nest.pack_sequence_as(given, list(flat))
            made, extras = cell_fn(*parts)
            kept.append(made)

            def grad(*d_state: Any) -> Any:
                found = nest.flatten(list(cell_grad(*parts, extras, nest.pack_sequence_as(made, list(d_state)))))
                return [array_ops.zeros_like(x) if d is None else d for x, d in zip(flat, found)]

            return nest.flatten(made), grad

        results = call(*nest.flatten(given))
        return nest.pack_sequence_as(kept[0], results if isinstance(results, (list, tuple)) else [results]), []

    return step


def _single(inputs: Any, max_input_length: Any) -> bool:
    """Returns whether there is one step, as far as is known."""
    if not isinstance(max_input_length, Tensor):
        return bool(max_input_length == 1)
    return all(x.shape.ndims is not None and x.shape.as_list()[0] == 1 for x in nest.flatten(inputs))


def Recurrent(  # noqa: N802
    theta: Any,
    state0: Any,
    inputs: Any,
    cell_fn: Callable[..., Any],
    cell_grad: Optional[Callable[..., Any]] = None,
    extras: Any = None,
    max_input_length: Any = None,
    use_tpu: bool = False,
    aligned_end: bool = False,
) -> Tuple[Any, Any]:
    """Returns all states of a recurrence, stacked along a new first axis, and the last state.

    The loop computes `state[i], extras[i] = cell_fn(theta, state[i - 1], inputs[i])`.

    Args:
      theta: Nested tensors: the weights.
      state0: Nested tensors: the state before the first step.
      inputs: Nested tensors, whose first axis is the steps.
      cell_fn: The function of a step. It returns the next state, and extras for the gradient.
      cell_grad: The gradient of a step, by default that of `cell_fn`: `cell_grad(theta, state0, inputs,
        extras, dstate1)` returns the gradients of the first three.
      extras: Nested tensors like the extras of a step, which are not needed here.
      max_input_length: The number of steps to run, by default all. Other states are zeros.
      use_tpu: False.
      aligned_end: Whether the last steps run, instead of the first.

    Raises:
      NotImplementedError: `use_tpu` is true.

    Example:
      >>> def cell(theta, state, inputs):
      ...     return theta["w"] * state + inputs, []
      >>> states, last = tf.contrib.recurrent.Recurrent({"w": tf.constant(0.5)}, tf.constant(0.0), tf.ones([3]), cell)
      >>> print(*tf.Session().run([states, last]))
      [1.   1.5  1.75] 1.75
    """
    if use_tpu:
        raise NotImplementedError("`use_tpu` must be False: graphs run on the CPU")
    theta, state0, inputs = _tensors(theta), _tensors(state0), _tensors(inputs)
    if cell_grad is None and _single(inputs, max_input_length):
        state1, _ = cell_fn(theta, state0, nest.map_structure(lambda x: array_ops.squeeze(x, axis=[0]), inputs))
        return nest.map_structure(lambda x: array_ops.expand_dims(x, 0), state1), state1
    step = cell_fn if cell_grad is None else _with_gradient(cell_fn, cell_grad)
    n = array_ops.shape(nest.flatten(inputs)[0])[0]
    length = n if max_input_length is None else math_ops.cast(convert_to_tensor(max_input_length), dtypes.int32)
    start, end = (n - length, n) if aligned_end else (0, length)
    flat0 = nest.flatten(state0)
    arrays = [TensorArray(x.dtype, size=n, element_shape=x.shape) for x in flat0]
    read_from = [TensorArray(x.dtype, size=n).unstack(x) for x in nest.flatten(inputs)]

    def body(t: Any, state: List[Any], arrays: List[Any]) -> Any:
        now = nest.pack_sequence_as(inputs, [array.read(t) for array in read_from])
        for x, whole in zip(nest.flatten(now), nest.flatten(inputs)):
            x.set_shape(whole.shape[1:])
        made = nest.flatten(step(theta, nest.pack_sequence_as(state0, state), now)[0])
        for x, before in zip(made, flat0):
            x.set_shape(before.shape)
        return t + 1, made, [array.write(t, x) for array, x in zip(arrays, made)]

    _, last, arrays = control_flow.while_loop(lambda t, *_: t < end, body, [convert_to_tensor(start), flat0, arrays])
    states = []
    for array, x in zip(arrays, flat0):
        whole = array.stack() if max_input_length is None else array.gather(math_ops.range(start, end))
        if max_input_length is not None:
            rest = array_ops.zeros_like(array_ops.shape(x))
            zeros = array_ops.stack([array_ops.concat([[convert_to_tensor(start)], rest], 0), array_ops.concat([[n - end], rest], 0)], axis=1)
            whole = array_ops.pad(whole, zeros)
        states.append(whole)
    return nest.pack_sequence_as(state0, states), nest.pack_sequence_as(state0, last)


def _at_lengths(states: Any, lengths: Any) -> Any:
    """Returns each example's state after its last step; zeros for no step."""

    def last(x: Any) -> Any:
        is_last = math_ops.equal(array_ops.expand_dims(math_ops.range(array_ops.shape(x)[0]), 1), array_ops.expand_dims(lengths - 1, 0))
        return op("Sum")(x * array_ops.expand_dims(math_ops.cast(is_last, x.dtype), -1), 0)

    return nest.map_structure(last, states)


def functional_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    time_major: bool = False,
    scope: Any = None,
    use_tpu: bool = False,
    reverse: bool = False,
) -> Tuple[Any, Any]:
    """Returns the outputs and the final state of a cell, as `tf.nn.dynamic_rnn` does.

    Args:
      cell: An `RNNCell`.
      inputs: Nested tensors of shape `[batch, time, width]`; `[time, batch, width]` if `time_major`.
      sequence_length: The number of steps of each example, or None for all.
      initial_state: The state before the first step; by default zeros.
      dtype: The dtype of that state, if it is not given.
      time_major: Whether the first axis is time.
      scope: The variable scope; by default `rnn`.
      use_tpu: False.
      reverse: Whether the steps run from the last to the first.

    Example:
      >>> cell = tf.nn.rnn_cell.BasicRNNCell(2)
      >>> outputs, state = tf.contrib.recurrent.functional_rnn(cell, tf.ones([3, 4, 5]), dtype=tf.float32)
      >>> outputs.shape.as_list(), state.shape.as_list(), tf.trainable_variables()[0].name
      ([3, 4, 2], [3, 2], 'rnn/basic_rnn_cell/kernel:0')
    """
    with variable_scope(scope or "rnn"):
        if not time_major:
            inputs = nest.map_structure(lambda x: array_ops.transpose(x, [1, 0, 2]), inputs)
        n_steps = nest.flatten(inputs)[0].shape[0]
        if initial_state is None:
            initial_state = cell.zero_state(array_ops.shape(nest.flatten(inputs)[0])[1], dtype)
        longest = None
        if sequence_length is not None:
            sequence_length = convert_to_tensor(sequence_length)
            longest = op("Max")(sequence_length, [0])
        if reverse:
            inputs = nest.map_structure(lambda x: op("ReverseV2")(x, [0]), inputs)

        def step(_theta: Any, state: Any, now: Any) -> Any:
            output, following = cell(now, state[1])
            return (output, following), []

        first = nest.flatten(initial_state)[0]
        batch = array_ops.shape(first)[:1]
        output0 = array_ops.fill(array_ops.concat([batch, [cell.output_size]], 0), math_ops.cast(0, first.dtype))
        output0.set_shape([first.shape[0], cell.output_size])
        acc, final = Recurrent([], (output0, initial_state), inputs, step, max_input_length=longest, use_tpu=use_tpu, aligned_end=reverse)
    outputs = op("ReverseV2")(acc[0], [0]) if reverse else acc[0]
    outputs = array_ops.transpose(outputs, [1, 0, 2])
    outputs.set_shape([output0.shape[0], n_steps, output0.shape[1]])
    state = final[1]
    if sequence_length is not None:
        mask = array_ops.sequence_mask(sequence_length, array_ops.shape(outputs)[1], dtype=outputs.dtype)
        outputs = outputs * array_ops.expand_dims(mask, -1)
        if not reverse:
            state = _at_lengths(acc[1], sequence_length)
    for x, like in zip(nest.flatten(state), nest.flatten(initial_state)):
        x.set_shape(like.shape)
    return array_ops.transpose(outputs, [1, 0, 2]) if time_major else outputs, state


def bidirectional_functional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    time_major: bool = False,
    use_tpu: bool = False,
    fast_reverse: bool = False,
    scope: Any = None,
) -> Tuple[Any, Any]:
    """Returns the outputs and the final states of two cells, one of which runs backwards, as pairs.

    Args:
      cell_fw: The `RNNCell` that runs forwards.
      cell_bw: The `RNNCell` that runs backwards.
      inputs: A tensor of shape `[batch, time, width]`; `[time, batch, width]` if `time_major`.
      initial_state_fw: The state before the first step forwards; by default zeros.
      initial_state_bw: The state before the first step backwards; by default zeros.
      dtype: The dtype of those states, if they are not given.
      sequence_length: The number of steps of each example, or None for all.
      time_major: Whether the first axis is time.
      use_tpu: False.
      fast_reverse: Whether the whole input is reversed, rather than the steps of each example.
      scope: The variable scope; by default `bidirectional_rnn`.

    Example:
      >>> cells = [tf.nn.rnn_cell.GRUCell(2) for _ in range(2)]
      >>> outputs, states = tf.contrib.recurrent.bidirectional_functional_rnn(*cells, tf.ones([3, 4, 5]), dtype=tf.float32)
      >>> [output.shape.as_list() for output in outputs]
      [[3, 4, 2], [3, 4, 2]]
    """
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def backwards(x: Any) -> Any:
        if fast_reverse:
            return x
        if sequence_length is None:
            return op("ReverseV2")(x, [time_axis])
        return array_ops.reverse_sequence(x, seq_lengths=sequence_length, seq_axis=time_axis, batch_axis=batch_axis)

    common = {"sequence_length": sequence_length, "dtype": dtype, "time_major": time_major, "use_tpu": use_tpu}
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw_scope:
            output_fw, state_fw = functional_rnn(cell_fw, inputs, initial_state=initial_state_fw, scope=fw_scope, **common)
        with variable_scope("bw") as bw_scope:
            output_bw, state_bw = functional_rnn(cell_bw, backwards(inputs), initial_state=initial_state_bw, scope=bw_scope, reverse=fast_reverse, **common)
    return (output_fw, backwards(output_bw)), (state_fw, state_bw)
