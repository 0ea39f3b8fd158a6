"""`tf.contrib.rnn`: the cells of `tf.nn.rnn_cell` and the functions over whole sequences."""

from typing import Any, List, Optional, Sequence, Tuple

import millstream as tf
from millstream.rnn import bidirectional_dynamic_rnn, raw_rnn, static_bidirectional_rnn, static_rnn
from millstream.rnn_cell import (
    BasicLSTMCell,
    BasicRNNCell,
    DeviceWrapper,
    DropoutWrapper,
    GRUCell,
    LSTMCell,
    LSTMStateTuple,
    MultiRNNCell,
    ResidualWrapper,
    RNNCell,
)

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
    "best_effort_input_batch_size",
    "bidirectional_dynamic_rnn",
    "raw_rnn",
    "stack_bidirectional_dynamic_rnn",
    "stack_bidirectional_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
    "transpose_batch_time",
]


def transpose_batch_time(x: Any) -> Any:
    """The first two dimensions in the other order."""
    x = tf.convert_to_tensor(x)
    known = x.get_shape()
    if known.ndims is not None and known.ndims < 2:
        raise ValueError(f"Expected input tensor {x} to have rank at least 2, but saw shape: {known}")
    turned = tf.transpose(x, tf.concat(([1, 0], tf.range(2, tf.rank(x))), axis=0))
    if known.ndims is not None:
        turned.set_shape([known[1].value, known[0].value] + known[2:].as_list())
    return turned


def best_effort_input_batch_size(flat_input: Sequence[Any]) -> Any:
    """The size of the batch, the second dimension: a number where it is known of any input, else a tensor."""
    for item in flat_input:
        shape = item.get_shape()
        if shape.ndims is None:
            continue
        if shape.ndims < 2:
            raise ValueError(f"Expected input tensor {item.name} to have rank at least 2")
        if shape[1].value is not None:
            return shape[1].value
    return tf.shape(flat_input[0])[1]


def _stacked(cells_fw: Any, cells_bw: Any, fw: Any, bw: Any) -> Tuple[List[Any], List[Any]]:
    if cells_fw is None or cells_bw is None:
        raise ValueError("Must specify at least one fw cell and one bw cell for BidirectionalRNN.")
    for cells, which in ((cells_fw, "cells_fw"), (cells_bw, "cells_bw")):
        if not isinstance(cells, list):
            raise ValueError(f"{which} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for states, which in ((fw, "initial_states_fw"), (bw, "initial_states_bw")):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ValueError(f"{which} must be a list of state tensors (one per layer).")
    none = [None] * len(cells_fw)
    return fw or none, bw or none


def stack_bidirectional_dynamic_rnn(
    cells_fw: List[Any],
    cells_bw: List[Any],
    inputs: Any,
    initial_states_fw: Optional[List[Any]] = None,
    initial_states_bw: Optional[List[Any]] = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: Optional[int] = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> Tuple[Any, Tuple[Any, ...], Tuple[Any, ...]]:
    """Layers in both directions, each over both outputs of the one below: the last outputs side by side, and all last states of each direction."""
    starts_fw, starts_bw = _stacked(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw, layer = [], [], inputs
    with tf.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (fw, bw) in enumerate(zip(cells_fw, cells_bw)):
            with tf.variable_scope(f"cell_{i}"):
                outputs, (state_fw, state_bw) = bidirectional_dynamic_rnn(
                    fw,
                    bw,
                    layer,
                    initial_state_fw=starts_fw[i],
                    initial_state_bw=starts_bw[i],
                    sequence_length=sequence_length,
                    parallel_iterations=parallel_iterations,
                    dtype=dtype,
                    swap_memory=swap_memory,
                    time_major=time_major,
                )
                layer = tf.concat(outputs, 2)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return layer, tuple(states_fw), tuple(states_bw)


def stack_bidirectional_rnn(
    cells_fw: List[Any],
    cells_bw: List[Any],
    inputs: Sequence[Any],
    initial_states_fw: Optional[List[Any]] = None,
    initial_states_bw: Optional[List[Any]] = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> Tuple[Any, Tuple[Any, ...], Tuple[Any, ...]]:
    """The same over a list of steps."""
    starts_fw, starts_bw = _stacked(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw, layer = [], [], inputs
    with tf.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (fw, bw) in enumerate(zip(cells_fw, cells_bw)):
            with tf.variable_scope(f"cell_{i}") as cell_scope:
                layer, state_fw, state_bw = static_bidirectional_rnn(
                    fw,
                    bw,
                    layer,
                    initial_state_fw=starts_fw[i],
                    initial_state_bw=starts_bw[i],
                    sequence_length=sequence_length,
                    dtype=dtype,
                    scope=cell_scope,
                )
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return layer, tuple(states_fw), tuple(states_bw)
