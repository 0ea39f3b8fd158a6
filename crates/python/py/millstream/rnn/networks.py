"""Recurrent networks over whole sequences: `dynamic_rnn` and its relatives, which run a cell step by step."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple

from millstream.framework import constant, control_dependencies, convert_to_tensor, dtypes, nest
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape, dimension_value
from millstream.ops import array_ops, control_flow, math_ops, reduction_ops
from millstream.ops.tensor_array import TensorArray
from millstream.rnn.cells import assert_like_rnncell, batch_and_dims
from millstream.variables.scopes import variable_scope

__all__ = [
    "bidirectional_dynamic_rnn",
    "dynamic_rnn",
    "raw_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
    "static_state_saving_rnn",
    "transpose_batch_time",
]


def transpose_batch_time(x: Any) -> Any:
    """Exchanges the first two dimensions.

    Args:
      x: A tensor of rank 2 or more.

    Returns:
      A tensor of the same dtype.

    Raises:
      ValueError: The rank is known to be less than 2.

    Example:
      >>> tf.contrib.rnn.transpose_batch_time(tf.zeros([5, 2, 3])).shape
      TensorShape([Dimension(2), Dimension(5), Dimension(3)])
    """
    x = convert_to_tensor(x)
    known = x.get_shape()
    if known.ndims is not None and known.ndims < 2:
        raise ValueError(f"Expected input tensor {x} to have rank at least 2, but saw shape: {known}")
    turned = array_ops.transpose(x, array_ops.concat(([1, 0], math_ops.range(2, array_ops.rank(x))), axis=0))
    if known.ndims is not None:
        turned.set_shape([known[1].value, known[0].value] + known[2:].as_list())
    return turned


def _batch_size(inputs: Sequence[Any], axis: int) -> Any:
    """The number of sequences: an int if known, else a tensor."""
    for x in inputs:
        shape = x.get_shape()
        known = None if shape.ndims is None else dimension_value(shape[axis])
        if known is not None:
            return known
    return array_ops.shape(inputs[0])[axis]


def _lengths(sequence_length: Any) -> Any:
    sequence_length = math_ops.cast(sequence_length, dtypes.int32)
    if sequence_length.get_shape().ndims not in (None, 1):
        raise ValueError(
            f"sequence_length must be a vector of length batch_size, but saw shape: {sequence_length.get_shape()}"
        )
    return array_ops.identity(sequence_length, name="sequence_length")


def _checked_lengths(sequence_length: Any, batch_size: Any) -> Any:
    expected = array_ops.stack([batch_size])
    actual = array_ops.shape(sequence_length)
    check = control_flow.assert_(
        reduction_ops.reduce_all(math_ops.equal(actual, expected)),
        [f"Expected shape for Tensor {sequence_length.name} is ", expected, " but saw shape: ", actual],
    )
    with control_dependencies([check]):
        return array_ops.identity(sequence_length, name="CheckSeqLen")


def _initial(cell: Any, initial_state: Any, batch_size: Any, dtype: Any) -> Any:
    if initial_state is not None:
        return nest.map_structure(convert_to_tensor, initial_state)
    if not dtype:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    return cell.zero_state(batch_size, dtype)


def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    parallel_iterations: Optional[int] = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> Tuple[Any, Any]:
    """Runs a cell over sequences in a loop.

    Args:
      cell: An `RNNCell`.
      inputs: A tensor of shape `[batch, time, inputs]`, or a structure of such tensors.
      sequence_length: An integer vector: the length of each sequence. Beyond it outputs are zeros and the
        state stays.
      initial_state: The initial state; by default zeros.
      dtype: The dtype of the state, if `initial_state` is not given.
      parallel_iterations: An int: the largest number of steps that run at the same time; by default 32.
      swap_memory: Accepted, but values saved for the gradient stay in memory.
      time_major: If true, inputs and outputs have shape `[time, batch, ..]`.
      scope: The variable scope, or its name.

    Returns:
      A pair: the outputs, of shape `[batch, time, outputs]`, and the final state.

    Raises:
      ValueError: Neither state nor dtype is given, or shapes do not match.

    Example:
      >>> cell = tf.nn.rnn_cell.GRUCell(4)
      >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 3]), sequence_length=[5, 2],
      ...     dtype=tf.float32)
      >>> outputs.shape, state.shape
      (TensorShape([Dimension(2), Dimension(5), Dimension(4)]), TensorShape([Dimension(2), Dimension(4)]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(abs(sess.run(outputs)).sum(2).round(3)[1, 2:])  # The second sequence has ended.
      [0. 0. 0.]
    """
    assert_like_rnncell("cell", cell)
    with variable_scope(scope or "rnn"):
        flat = [convert_to_tensor(x) for x in nest.flatten(inputs)]
        if not time_major:
            flat = [transpose_batch_time(x) for x in flat]
        for x in flat:
            if x.get_shape().ndims is None or None in x.get_shape().as_list()[2:]:
                raise ValueError("Input size (depth of inputs) must be accessible via shape inference, but saw value None.")
        if sequence_length is not None:
            sequence_length = _lengths(sequence_length)
        batch_size = _batch_size(flat, axis=1)
        state = _initial(cell, initial_state, batch_size, dtype)
        if sequence_length is not None:
            sequence_length = _checked_lengths(sequence_length, batch_size)
        outputs, state = _loop(
            cell, inputs, flat, state, _output_dtype(dtype, state), sequence_length, batch_size, parallel_iterations or 32, swap_memory
        )
        return (outputs if time_major else nest.map_structure(transpose_batch_time, outputs)), state


def _output_dtype(dtype: Any, state: Any) -> Any:
    """Returns the dtype of outputs: the one given, or else that of the state, which then has only one."""
    if dtype is not None:
        return dtypes.as_dtype(dtype)
    found = [s.dtype for s in nest.flatten(state)]
    if not found:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(d != found[0] for d in found):
        raise ValueError(
            "State has tensors of different inferred_dtypes. Unable to infer a single representative dtype. "
            "Pass `dtype`, the dtype of the outputs."
        )
    return found[0]


def _zero_output(size: Any, batch_size: Any, dtype: Any) -> Any:
    return array_ops.zeros(array_ops.concat(batch_and_dims(batch_size, TensorShape(size).as_list()), 0), dtype)


def _loop(
    cell: Any,
    structure: Any,
    flat_inputs: List[Any],
    initial_state: Any,
    dtype: Any,
    lengths: Any,
    batch_size: Any,
    parallel_iterations: int,
    swap_memory: bool,
) -> Tuple[Any, Any]:
    static_steps = dimension_value(flat_inputs[0].get_shape()[0])
    n_steps = array_ops.shape(flat_inputs[0])[0]
    sizes = nest.flatten(cell.output_size)
    again = _batch_size(flat_inputs, axis=1)
    zeros = [_zero_output(s, again, dtype) for s in sizes]
    longest = n_steps
    if lengths is not None:
        reduction_ops.reduce_min(lengths)  # A node that TensorFlow makes: see `batch_and_dims`.
        longest = reduction_ops.reduce_max(lengths)
    time = constant(0, name="time")
    static_batch = batch_size if isinstance(batch_size, int) else None

    targets = tuple(
        TensorArray(
            dtype,
            n_steps,
            element_shape=TensorShape([static_batch]).concatenate(TensorShape(s)),
            tensor_array_name=f"dynamic_rnn/output_{i}",
        )
        for i, s in enumerate(sizes)
    )
    sources = [
        TensorArray(x.dtype, n_steps, element_shape=x.get_shape()[1:], tensor_array_name=f"dynamic_rnn/input_{i}").unstack(x)
        for i, x in enumerate(flat_inputs)
    ]

    def step(time: Any, targets: Any, state: Any) -> Any:
        parts = []
        for source, whole in zip(sources, flat_inputs):
            part = source.read(time)
            part.set_shape(whole.get_shape()[1:])
            parts.append(part)
        ended = None if lengths is None else time >= lengths
        output, new_state = cell(nest.pack_sequence_as(structure, parts), state)
        nest.assert_same_structure(state, new_state)
        flat_output = nest.flatten(output)
        if lengths is not None:
            flat_output = [array_ops.where(ended, zero, out) for zero, out in zip(zeros, flat_output)]
            new_state = nest.map_structure(lambda old, new: _keep(ended, old, new), state, new_state)
        for old, new in zip(nest.flatten(state), nest.flatten(new_state)):
            if not isinstance(new, TensorArray):
                new.set_shape(old.get_shape())
        return time + 1, tuple(t.write(time, out) for t, out in zip(targets, flat_output)), new_state

    # Steps after the longest sequence change nothing. Their outputs, never written, are zeros.
    bound = op("Minimum")(n_steps, op("Maximum")(1, longest))
    _, targets, state = control_flow.while_loop(
        lambda time, *_: time < bound,
        step,
        (time, targets, initial_state),
        parallel_iterations=parallel_iterations,
        swap_memory=swap_memory,
        maximum_iterations=n_steps,
    )
    outputs = []
    for target, size in zip(targets, sizes):
        output = target.stack()
        # Nodes that TensorFlow makes to look for the static shape: see `batch_and_dims`.
        for _ in range(2 if static_batch is not None and static_steps is not None else 1):
            constant(0)
        output.set_shape(TensorShape([static_steps, static_batch]).concatenate(TensorShape(size)))
        outputs.append(output)
    return nest.pack_sequence_as(cell.output_size, outputs), state


def _keep(ended: Any, old: Any, new: Any) -> Any:
    """Keeps the state of sequences that have ended; values that are not batches are always updated."""
    if isinstance(old, TensorArray) or new.get_shape().ndims == 0:
        return new
    return array_ops.where(ended, old, new)


def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    parallel_iterations: Optional[int] = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> Tuple[Any, Any]:
    """Runs a forward and a backward cell over sequences. The other arguments are those of `dynamic_rnn`.

    Args:
      cell_fw: The forward cell.
      cell_bw: The backward cell, which starts at the end of each sequence.
      inputs: A tensor of shape `[batch, time, inputs]`.
      initial_state_fw: The initial state of `cell_fw`.
      initial_state_bw: The initial state of `cell_bw`.

    Returns:
      Two pairs: the outputs of both cells, of shape `[batch, time, outputs]` each, and their final states.

    Example:
      >>> cells = tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(5)
      >>> (forwards, backwards), states = tf.nn.bidirectional_dynamic_rnn(*cells, inputs=tf.ones([2, 6, 3]),
      ...     dtype=tf.float32)
      >>> forwards.shape, backwards.shape
      (TensorShape([Dimension(2), Dimension(6), Dimension(4)]), TensorShape([Dimension(2), Dimension(6), Dimension(5)]))
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def reversed_in_time(x: Any) -> Any:
        if sequence_length is None:
            return op("ReverseV2")(x, axis=[time_axis])
        return array_ops.reverse_sequence(x, sequence_length, seq_axis=time_axis, batch_axis=batch_axis)

    common = dict(
        sequence_length=sequence_length,
        dtype=dtype,
        parallel_iterations=parallel_iterations,
        swap_memory=swap_memory,
        time_major=time_major,
    )
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw:
            out_fw, state_fw = dynamic_rnn(cell_fw, inputs, initial_state=initial_state_fw, scope=fw, **common)
        with variable_scope("bw") as bw:
            backwards = nest.map_structure(reversed_in_time, inputs)
            out_bw, state_bw = dynamic_rnn(cell_bw, backwards, initial_state=initial_state_bw, scope=bw, **common)
    out_bw = nest.map_structure(reversed_in_time, out_bw)
    return (out_fw, out_bw), (state_fw, state_bw)


def raw_rnn(
    cell: Any,
    loop_fn: Callable[[Any, Any, Any, Any], Tuple[Any, Any, Any, Any, Any]],
    parallel_iterations: Optional[int] = None,
    swap_memory: bool = False,
    scope: Any = None,
) -> Tuple[Any, Any, Any]:
    """Runs a cell in a loop that is controlled by a function.

    `loop_fn(time, output, state, loop_state)` returns, for the next step: a boolean vector of the sequences
    that have ended, the input, the state, the value to emit for this step, and the next `loop_state`. In the
    first call `output`, `state` and `loop_state` are None, and the emitted value shows the structure, shapes
    and dtypes of emitted values; None for those of the cell's output.

    Args:
      cell: An `RNNCell`.
      loop_fn: The function, which returns a tuple of five.
      parallel_iterations: An int: the largest number of steps that run at the same time; by default 32.
      swap_memory: Accepted, but values saved for the gradient stay in memory.
      scope: The variable scope, or its name.

    Returns:
      A triple: the emitted values as a `TensorArray`, the final state, and the final loop state.

    Raises:
      TypeError: `loop_fn` is not callable.

    Example:
      >>> cell = tf.nn.rnn_cell.BasicRNNCell(2)
      >>> def loop_fn(time, output, state, loop_state):
      ...     state = cell.zero_state(1, tf.float32) if output is None else state
      ...     return tf.fill([1], time >= 3), tf.ones([1, 2]), state, output, None
      >>> emitted, _, _ = tf.nn.raw_rnn(cell, loop_fn)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(emitted.stack()).shape)
      (3, 1, 2)
    """
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn"):
        time = constant(0, dtypes.int32)
        ended, inputs, state, emit_like, loop_state = loop_fn(time, None, None, None)
        flat = [convert_to_tensor(x) for x in nest.flatten(inputs)]
        batch_size = _batch_size(flat, axis=0)
        nest.assert_same_structure(state, cell.state_size)
        state = nest.map_structure(convert_to_tensor, state)
        dtype = nest.flatten(state)[0].dtype
        if emit_like is None:
            emit_like, kinds = cell.output_size, [(s, dtype) for s in nest.flatten(cell.output_size)]
        else:
            kinds = [(e.get_shape(), e.dtype) for e in map(convert_to_tensor, nest.flatten(emit_like))]
        emitted = tuple(
            TensorArray(k, 0, dynamic_size=True, tensor_array_name=f"rnn_output_{i}") for i, (_, k) in enumerate(kinds)
        )
        zeros = [_zero_output(s, batch_size, k) for s, k in kinds]
        has_loop_state = loop_state is not None
        carried = loop_state if has_loop_state else constant(0, dtypes.int32)

        def body(time: Any, ended: Any, inputs: Any, emitted: Any, state: Any, carried: Any) -> Any:
            output, cell_state = cell(inputs, state)
            nest.assert_same_structure(state, cell_state)
            following = time + 1
            told = carried if has_loop_state else None
            next_ended, next_inputs, next_state, emit, next_loop = loop_fn(following, output, cell_state, told)
            nest.assert_same_structure(state, next_state)
            nest.assert_same_structure(inputs, next_inputs)
            nest.assert_same_structure(emit_like, emit)
            flat_emit = [_keep(ended, zero, e) for zero, e in zip(zeros, nest.flatten(emit))]
            next_state = nest.map_structure(lambda old, new: _keep(ended, old, new), state, next_state)
            out = tuple(t.write(time, e) for t, e in zip(emitted, flat_emit))
            return (
                following,
                op("LogicalOr")(ended, next_ended),
                next_inputs,
                out,
                next_state,
                next_loop if has_loop_state and next_loop is not None else carried,
            )

        _, _, _, emitted, state, carried = control_flow.while_loop(
            lambda time, ended, *_: op("LogicalNot")(reduction_ops.reduce_all(ended)),
            body,
            (time, ended, inputs, emitted, state, carried),
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )
        return nest.pack_sequence_as(emit_like, list(emitted)), state, carried if has_loop_state else None


def static_rnn(
    cell: Any,
    inputs: Sequence[Any],
    initial_state: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> Tuple[List[Any], Any]:
    """Runs a cell over a list of inputs; each step has its own nodes in the graph.

    Args:
      cell: An `RNNCell`.
      inputs: A list of tensors of shape `[batch, inputs]`.
      initial_state: The initial state; by default zeros.
      dtype: The dtype of the state, if `initial_state` is not given.
      sequence_length: An integer vector: the length of each sequence.
      scope: The variable scope, or its name.

    Returns:
      A pair: a list of outputs of shape `[batch, outputs]`, and the final state.

    Raises:
      TypeError: `inputs` is not a list.
      ValueError: `inputs` is empty.

    Example:
      >>> outputs, state = tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(4), [tf.ones([2, 3])] * 5,
      ...     dtype=tf.float32)
      >>> len(outputs), outputs[0].shape, state.shape
      (5, TensorShape([Dimension(2), Dimension(4)]), TensorShape([Dimension(2), Dimension(4)]))
    """
    assert_like_rnncell("cell", cell)
    if not nest.is_sequence(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "rnn") as varscope:
        first = [convert_to_tensor(x) for x in nest.flatten(inputs[0])]
        batch_size = _batch_size(first, axis=0)
        state = _initial(cell, initial_state, batch_size, dtype)
        ends = None if sequence_length is None else _Ends(cell, sequence_length, batch_size, _output_dtype(dtype, state))
        outputs = []
        for time, x in enumerate(inputs):
            if time > 0:
                varscope.reuse_variables()
            output, state = cell(x, state) if ends is None else ends.step(time, x, state)
            outputs.append(output)
        return outputs, state


class _Ends:
    """The steps of sequences that end: a sequence that has ended keeps its state, and its outputs are zeros.

    The cell is not called once all sequences have ended.
    """

    def __init__(self, cell: Any, sequence_length: Any, batch_size: Any, dtype: Any) -> None:
        lengths = convert_to_tensor(sequence_length, name="sequence_length")
        if lengths.get_shape().ndims not in (None, 1):
            raise ValueError("sequence_length must be a vector of length batch_size")
        self._cell = cell
        self._zeros = [self._zero(size, batch_size, dtype) for size in nest.flatten(cell.output_size)]
        self._lengths = math_ops.cast(lengths, dtypes.int32)
        self._shortest = reduction_ops.reduce_min(self._lengths)
        self._longest = reduction_ops.reduce_max(self._lengths)

    @staticmethod
    def _zero(size: Any, batch_size: Any, dtype: Any) -> Any:
        zeros, dims = _zero_output(size, batch_size, dtype), TensorShape(size).as_list()
        # TensorFlow makes these constants to look for the static shape.
        if isinstance(batch_size, int):
            batch_and_dims(batch_size, dims)
        else:
            constant(dims, dtypes.int32)
        zeros.set_shape([batch_size if isinstance(batch_size, int) else None, *dims])
        return zeros

    def step(self, time: int, x: Any, state: Any) -> Tuple[Any, Any]:
        """Returns the output and the state of a step."""
        ended, n = time >= self._lengths, len(self._zeros)
        old, structure = nest.flatten(state), self._cell.output_size

        def computed() -> List[Any]:
            nonlocal structure
            output, new = self._cell(x, state)
            nest.assert_same_structure(state, new)
            structure = output
            outputs, states = nest.flatten(output), nest.flatten(new)

            def some() -> List[Any]:
                return [_keep(ended, o, n) for o, n in zip([*self._zeros, *old], [*outputs, *states])]

            return _listed(control_flow.cond(time < self._shortest, lambda: [*outputs, *states], some))

        found = _listed(control_flow.cond(time >= self._longest, lambda: [*self._zeros, *old], computed))
        for value, like in zip(found, [*self._zeros, *old]):
            if not isinstance(value, TensorArray):
                value.set_shape(like.get_shape())
        return nest.pack_sequence_as(structure, found[:n]), nest.pack_sequence_as(state, found[n:])


def _listed(found: Any) -> List[Any]:
    """Returns what a `tf.cond` of lists returns as a list: of one value it is the value."""
    return list(found) if isinstance(found, (list, tuple)) else [found]


def static_state_saving_rnn(
    cell: Any, inputs: Sequence[Any], state_saver: Any, state_name: Any, sequence_length: Any = None, scope: Any = None
) -> Tuple[List[Any], Any]:
    """Runs a cell over a list of inputs, from a state that a saver keeps between runs.

    The other arguments are those of `static_rnn`. The last output and the final state wait until the state is
    saved.

    Args:
      inputs: A list of tensors of shape `[batch, inputs]`.
      state_saver: An object with the methods `state(name)`, which returns a tensor, and
        `save_state(name, value)`, which returns an operation.
      state_name: The name of the state, or a structure of names in that of the state.

    Returns:
      A pair: a list of outputs, and the final state.

    Raises:
      ValueError: The structure of `state_name` is not that of the cell's state.

    Example:
      >>> class Saver:
      ...     kept = tf.get_variable("kept", [2, 4], trainable=False)
      ...     def state(self, name):
      ...         return self.kept.read_value()
      ...     def save_state(self, name, value):
      ...         return tf.assign(self.kept, value)
      >>> outputs, state = tf.nn.static_state_saving_rnn(tf.nn.rnn_cell.GRUCell(4), [tf.ones([2, 3])] * 5,
      ...     Saver(), "h")
      >>> len(outputs), state.shape
      (5, TensorShape([Dimension(2), Dimension(4)]))
    """
    size = cell.state_size
    if nest.is_sequence(size) != nest.is_sequence(state_name):
        raise ValueError(
            f"state_name should be the same type as cell.state_size.  state_name: {state_name}, cell.state_size: {size}"
        )
    names = nest.flatten(state_name)
    if len(names) != len(nest.flatten(size)):
        raise ValueError(f"#elems(state_name) != #elems(state_size): {len(names)} vs. {len(nest.flatten(size))}")
    kept = nest.pack_sequence_as(size, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(cell, inputs, initial_state=kept, sequence_length=sequence_length, scope=scope)
    saved = [state_saver.save_state(name, part) for name, part in zip(names, nest.flatten(state))]
    with control_dependencies(saved):
        outputs[-1] = nest.map_structure(array_ops.identity, outputs[-1])
        return outputs, nest.map_structure(array_ops.identity, state)


def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Sequence[Any],
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> Tuple[List[Any], Any, Any]:
    """Runs a forward and a backward cell over a list of inputs. Other arguments are those of `static_rnn`.

    Args:
      cell_fw: The forward cell.
      cell_bw: The backward cell.
      inputs: A list of tensors of shape `[batch, inputs]`.

    Returns:
      A triple: a list of the concatenated outputs of both cells, and the final state of each.

    Example:
      >>> cells = tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(5)
      >>> outputs, _, _ = tf.nn.static_bidirectional_rnn(*cells, inputs=[tf.ones([2, 3])] * 5,
      ...     dtype=tf.float32)
      >>> len(outputs), outputs[0].shape
      (5, TensorShape([Dimension(2), Dimension(9)]))
    """

    def backwards(items: Sequence[Any]) -> List[Any]:
        if sequence_length is None:
            return list(reversed(items))
        rows = array_ops.reverse_sequence(array_ops.stack(list(items)), sequence_length, seq_axis=0, batch_axis=1)
        return array_ops.unstack(rows)

    with variable_scope(scope or "bidirectional_rnn"):
        out_fw, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope="fw")
        turned = backwards(inputs)
        out_bw, state_bw = static_rnn(cell_bw, turned, initial_state_bw, dtype, sequence_length, scope="bw")
    return [array_ops.concat([a, b], 1) for a, b in zip(out_fw, backwards(out_bw))], state_fw, state_bw
