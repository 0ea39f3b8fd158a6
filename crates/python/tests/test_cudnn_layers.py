"""`tf.contrib.cudnn_rnn`'s layers, which TensorFlow runs on a GPU alone: compared with cells, and trained."""

import numpy as np
import pytest

import millstream as tf

X = np.random.RandomState(0).normal(size=(5, 2, 4)).astype(np.float32)
LAYERS = ["CudnnLSTM", "CudnnGRU", "CudnnRNNTanh", "CudnnRNNRelu"]


def values(*fetches):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(list(fetches))


@pytest.mark.parametrize("make", LAYERS)
@pytest.mark.parametrize("direction", ["unidirectional", "bidirectional"])
def test_a_sequence_in_two_parts(make, direction):
    layer = getattr(tf.contrib.cudnn_rnn, make)(2, 3, direction=direction)
    whole, last = layer(tf.constant(X))
    _, middle = layer(tf.constant(X[:3]))
    rest, end = layer(tf.constant(X[3:]), initial_state=middle)
    whole, rest, last, end = values(whole, rest, last, end)
    if direction == "unidirectional":
        np.testing.assert_allclose(whole[3:], rest, rtol=1e-6)
        np.testing.assert_allclose(last, end, rtol=1e-6)
    assert whole.shape == (5, 2, 3 * layer.num_dirs)
    assert [list(s.shape) for s in last] == [list(s) for s in layer.state_shape(2)]


def test_the_variables_are_those_of_checkpoints():
    one = tf.contrib.cudnn_rnn.CudnnLSTM(2, 3)
    both = tf.contrib.cudnn_rnn.CudnnLSTM(1, 3, direction="bidirectional")
    one(tf.constant(X)), both(tf.constant(X))
    cell = "cudnn_compatible_lstm_cell"
    assert [v.op.name for v in one.variables] == [f"cudnn_lstm/rnn/multi_rnn_cell/cell_{i}/{cell}/{part}" for i in (0, 1) for part in ("kernel", "bias")]
    inside = "cudnn_lstm_1/stack_bidirectional_rnn/cell_0/bidirectional_rnn"
    assert [v.op.name for v in both.variables] == [f"{inside}/{way}/{cell}/{part}" for way in ("fw", "bw") for part in ("kernel", "bias")]


def test_a_batch_may_come_first():
    layer = tf.contrib.cudnn_rnn.CudnnGRU(1, 3)
    across = layer(tf.constant(X))[0]
    along = layer(tf.constant(X.transpose(1, 0, 2)), time_major=False)[0]
    across, along = values(across, along)
    np.testing.assert_array_equal(across.transpose(1, 0, 2), along)


def test_inputs_are_dropped_in_training_alone():
    layer = tf.contrib.cudnn_rnn.CudnnLSTM(2, 8, dropout=0.5)
    trained, tested, again = layer(tf.constant(X))[0], layer(tf.constant(X), training=False)[0], layer(tf.constant(X), training=tf.constant(False))[0]
    trained, tested, again = values(trained, tested, again)
    np.testing.assert_allclose(tested, again, rtol=1e-6)
    assert not np.allclose(trained, tested)


@pytest.mark.parametrize("make", LAYERS)
def test_a_layer_learns(make):
    tf.set_random_seed(1)
    outputs, _ = getattr(tf.contrib.cudnn_rnn, make)(1, 4)(tf.constant(X))
    loss = tf.reduce_mean(tf.square(outputs[-1] - 0.3))
    train = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, train])[0] for _ in range(60)]
    assert losses[-1] < losses[0] / 4


def test_refusals():
    make = tf.contrib.cudnn_rnn.CudnnLSTM
    with pytest.raises(ValueError, match="Invalid direction"):
        make(1, 2, direction="sideways")
    with pytest.raises(NotImplementedError, match="input_mode"):
        make(1, 2, input_mode="skip_input")
    with pytest.raises(ValueError, match="tuple of 2 tensors"):
        make(1, 4)(tf.constant(X), initial_state=(tf.zeros([1, 2, 4]),))
