"""`tf.contrib.rnn`: the cells of `tf.nn.rnn_cell` and the functions over whole sequences."""

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
    "bidirectional_dynamic_rnn",
    "raw_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
]
