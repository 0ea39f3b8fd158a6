"""Connectionist temporal classification: `ctc_loss`, `ctc_loss_v2`, `ctc_greedy_decoder`, helpers."""

import itertools

import numpy as np

from programs.tools import caught, initialize, run, static


def _logits(tf, steps=5, batch=2, classes=4):
    return tf.constant(np.sin(np.arange(1.0 * steps * batch * classes)).reshape(steps, batch, classes) * 2, tf.float32)


def _labels(tf, rows, batch=None):
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    return tf.SparseTensor(np.array(indices, np.int64).reshape(-1, 2), np.array(sum(rows, []), np.int32), [batch or len(rows), max(map(len, rows))])


def _both(tf, rows, lengths, logits=None, **kwargs):
    logits = _logits(tf) if logits is None else logits
    loss = tf.nn.ctc_loss(_labels(tf, rows), logits, lengths, **kwargs)
    return static(loss), run(tf, [loss, tf.gradients(loss, logits)[0]])


def losses(tf):
    return _both(tf, [[0, 1], [2]], [5, 4])


def losses_of_repeated_labels(tf):
    return _both(tf, [[1, 1], [2, 2, 0]], [5, 5])


def losses_of_impossible_labels(tf):
    """Three equal labels need five steps: the loss is infinity, the gradient the softmax."""
    return _both(tf, [[1, 1, 1], [2]], [4, 4])


def losses_collapsed(tf):
    return _both(tf, [[1, 1, 1, 0], [2, 2]], [4, 4], preprocess_collapse_repeated=True)


def losses_without_merging(tf):
    return _both(tf, [[1, 1, 1], [2, 0]], [3, 4], ctc_merge_repeated=False)


def losses_with_ignored_rows(tf):
    return _both(tf, [[1, 1, 1], [2]], [2, 4], ignore_longer_outputs_than_inputs=True), _both(tf, [[1, 1], [2]], [4, 0], ignore_longer_outputs_than_inputs=True)


def losses_with_null_labels(tf):
    return _both(tf, [[0, 3], [2, 3, 3]], [5, 4])


def losses_of_batch_major_logits(tf):
    x = tf.transpose(_logits(tf), [1, 0, 2])
    loss = tf.nn.ctc_loss(labels=_labels(tf, [[0, 1], [2]]), logits=x, sequence_length=tf.constant([5, 4]), time_major=False)
    return run(tf, [loss, tf.gradients(loss, x)[0]])


def losses_of_unknown_shape(tf):
    x = tf.placeholder(tf.float32, [None, None, 4])
    labels, lengths = tf.sparse_placeholder(tf.int32), tf.placeholder(tf.int32, [None])
    loss = tf.nn.ctc_loss(labels, x, lengths)
    cost = tf.reduce_mean(loss)
    gradient = tf.gradients(cost, x)[0]
    feed = {x: np.sin(np.arange(84.0)).reshape(7, 3, 4), labels: ([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [2, 2]], [0, 1, 1, 2, 0, 2], [3, 3]), lengths: [7, 1, 6]}
    return static(loss, gradient), run(tf, [loss, cost, gradient], feed)


def losses_are_those_of_all_paths(tf):
    logits = np.sin(np.arange(12.0)).reshape(4, 1, 3)
    loss = run(tf, tf.nn.ctc_loss(_labels(tf, [[0, 1]]), tf.constant(logits, tf.float32), [4]))
    p = np.exp(logits[:, 0]) / np.exp(logits[:, 0]).sum(1, keepdims=True)
    total = 0.0
    for path in itertools.product(range(3), repeat=4):
        if [k for k, _ in itertools.groupby(path) if k != 2] == [0, 1]:
            total += np.prod([p[t, c] for t, c in enumerate(path)])
    return bool(abs(-np.log(total) - loss[0]) < 1e-5), loss


def losses_of_dense_labels(tf):
    labels = tf.constant([[1, 2, 0], [3, 3, 1]])
    found = []
    for blank in (None, 0, -1, 1, 2):
        values = labels if blank in (None, 0) else tf.constant([[0, 2 if blank == 1 else 1 if blank == -1 else 3, 0], [0, 0, 3 if blank != -1 else 2]])
        x = _logits(tf, 6)
        loss = tf.nn.ctc_loss_v2(values, x, [2, 3], [6, 5], blank_index=blank)
        found.append([loss, tf.gradients(loss, x)[0]])
    x = tf.transpose(_logits(tf, 6), [1, 0, 2])
    found.append(tf.nn.ctc_loss_v2(labels, x, tf.constant([2, 3]), tf.constant([6, 5]), logits_time_major=False, unique=tf.nn.ctc_unique_labels(labels)))
    return run(tf, found)


def losses_of_sparse_labels(tf):
    found = []
    for blank in (0, -1, 2):
        rows = [[1, 3], [1]] if blank == 0 else [[0, 1], [1]]
        found.append(tf.nn.ctc_loss_v2(_labels(tf, rows), _logits(tf), None, [5, 4], blank_index=blank))
    return run(tf, found)


def decoded(tf):
    found = [tf.nn.ctc_greedy_decoder(_logits(tf, 9) * np.array([1, 1, 1, 2]), lengths, merge_repeated=merges) for lengths in ([9, 4], [0, 7]) for merges in (True, False)]
    path = tf.one_hot([[0, 3], [0, 3], [3, 3], [0, 1], [1, 1], [1, 2]], 4)
    found += [tf.nn.ctc_greedy_decoder(path, tf.constant([6, 2])), tf.nn.ctc_greedy_decoder(path, [6, 6])]
    return [len(d) for d, _ in found], static(found[0][1], found[0][0][0].values, found[0][0][0].indices), run(tf, found)


def collapsed(tf):
    labels = tf.constant([[1, 3, 3, 3, 0], [1, 4, 4, 4, 0], [4, 2, 2, 9, 4]])
    late = tf.placeholder_with_default(labels, [None, None])
    found = [tf.nn.collapse_repeated(labels, [4, 5, 5]), tf.nn.collapse_repeated(late, tf.constant([0, 2, 3], tf.int64), name="mine")]
    return [x.dtype.name for pair in found for x in pair], run(tf, found)


def unique(tf):
    return run(tf, list(tf.nn.ctc_unique_labels(tf.constant([[3, 4, 4, 3], [1, 1, 1, 1], [0, 2, 3, 4]]))))


def trained(tf):
    """A recogniser as tutorials write it: an LSTM, a dense layer, the loss, and greedy decoding."""
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, None, 3])
    labels, lengths = tf.sparse_placeholder(tf.int32), tf.placeholder(tf.int32, [None])
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(6), x, lengths, dtype=tf.float32)
    logits = tf.transpose(tf.layers.dense(outputs, 4), [1, 0, 2])
    cost = tf.reduce_mean(tf.nn.ctc_loss(labels, logits, lengths))
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(cost)
    [found], _ = tf.nn.ctc_greedy_decoder(logits, lengths)
    rate = tf.reduce_mean(tf.edit_distance(tf.cast(found, tf.int32), labels))
    feed = {x: np.sin(np.arange(48.0)).reshape(2, 8, 3), labels: ([[0, 0], [0, 1], [1, 0]], [0, 2, 1], [2, 2]), lengths: [8, 6]}
    with tf.Session() as sess:
        initialize(tf, sess)
        costs = [sess.run([cost, train], feed)[0] for _ in range(25)]
        return costs, sess.run([found, rate], feed)


def refusals(tf):
    def said(phrase, rows, lengths, batch=None):
        return caught(lambda: run(tf, tf.nn.ctc_loss(_labels(tf, rows, batch), _logits(tf), lengths)), phrase)

    return [
        caught(lambda: tf.nn.ctc_loss(tf.constant([[1]]), _logits(tf), [5, 5]), "Expected labels (first argument) to be a SparseTensor"),
        said("Labels length is zero in batch", [[1], []], [5, 4]),
        said("Not enough time for target transition sequence", [[1], [1, 2, 0]], [5, 2]),
        said("You can turn this error into a warning by using the flag ignore_longer_outputs_than_inputs", [[1], [1, 2, 0]], [5, 2]),
        said("Saw a non-null label (index >= num_classes - 1) following a null label", [[3, 0], [1]], [5, 4]),
        said("All labels must be nonnegative integers", [[-1, 0], [1]], [5, 4]),
        said("label SparseTensor is not valid: ", [[1], [0], [1]], [5, 4]),
        said("sequence_length(", [[1], [0]], [5, 6]),
        caught(lambda: tf.nn.ctc_loss_v2(_labels(tf, [[1]]), _logits(tf), None, [5, 5]), "blank_index must be given when using SparseTensor labels."),
    ]
