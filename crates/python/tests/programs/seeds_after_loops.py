"""Seeds of random operations after gradients through loops: they tell how many nodes TensorFlow made."""

import numpy as np


def _seeds(tf, ys, xs):
    """Returns the seeds before and after a call of `tf.gradients`."""
    before = tf.get_seed(None)
    tf.gradients(ys, xs)
    return before, tf.get_seed(None)


def _loop(tf, body, shape=(2, 2), which="wbx"):
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, shape)
        w, b = tf.get_variable("w", [2, 2]), tf.get_variable("b", [2])
        y = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, body(x, w, b)), [0, x])[1]
        return _seeds(tf, tf.reduce_sum(y), [dict(w=w, b=b, x=x)[name] for name in which])


def _network(tf, cell, shape=(2, 3, 2), loss=lambda outputs, state: outputs, **options):
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, shape)
        outputs, state = tf.nn.dynamic_rnn(cell(), x, dtype=tf.float32, **options)
        return _seeds(tf, tf.reduce_sum(loss(outputs, state)), tf.trainable_variables())


def after_loops_of_known_shapes(tf):
    """A product with what comes from outside, functions of one value, a value that the next one ignores."""
    return [
        _loop(tf, lambda x, w, b: x + b),
        _loop(tf, lambda x, w, b: tf.tanh(tf.matmul(x, w) + b)),
        _loop(tf, lambda x, w, b: tf.square(x) * w),
        _loop(tf, lambda x, w, b: tf.nn.relu(tf.matmul(x, w))),
        _loop(tf, lambda x, w, b: x * 2.0 + 1.0),
        _loop(tf, lambda x, w, b: tf.matmul(w, w)),
        _loop(tf, lambda x, w, b: x / w),
        _loop(tf, lambda x, w, b: x * tf.reduce_sum(w)),
        _loop(tf, lambda x, w, b: tf.matmul(x, w) + tf.matmul(x, w) * x),
    ]


def after_loops_of_unknown_shapes(tf):
    """Shapes that are not known are kept on stacks as well."""
    return _loop(tf, lambda x, w, b: tf.tanh(tf.matmul(x, w) + b), (None, 2)), _loop(tf, lambda x, w, b: x * b, (None, 2))


def after_loops_for_some_variables(tf):
    """Gradients of the variable alone, and of the initial value alone."""
    return _loop(tf, lambda x, w, b: tf.matmul(x, w), which="w"), _loop(tf, lambda x, w, b: tf.matmul(x, w), which="x")


def after_recurrent_networks(tf):
    """Cells of all kinds, and those around others."""
    cells = tf.nn.rnn_cell
    return [
        _network(tf, lambda: cells.BasicRNNCell(3)),
        _network(tf, lambda: cells.GRUCell(3)),
        _network(tf, lambda: cells.LSTMCell(3)),
        _network(tf, lambda: cells.BasicLSTMCell(3)),
        _network(tf, lambda: cells.MultiRNNCell([cells.BasicLSTMCell(3), cells.GRUCell(3)])),
        _network(tf, lambda: cells.LSTMCell(3, use_peepholes=True, num_proj=2)),
        _network(tf, lambda: cells.DropoutWrapper(cells.GRUCell(3), output_keep_prob=0.5)),
        _network(tf, lambda: cells.DropoutWrapper(cells.BasicLSTMCell(3), input_keep_prob=tf.placeholder(tf.float32, []))),
        _network(tf, lambda: tf.contrib.rnn.LayerNormBasicLSTMCell(3)),
        _network(tf, lambda: tf.contrib.rnn.LSTMBlockCell(3)),
    ]


def after_networks_with_lengths(tf):
    """Lengths of sequences, and batches and times that are not known."""
    cells = tf.nn.rnn_cell
    return [
        _network(tf, lambda: cells.GRUCell(3), sequence_length=[2, 3]),
        _network(tf, lambda: cells.LSTMCell(3), (None, 3, 2), sequence_length=[2, 3]),
        _network(tf, lambda: cells.GRUCell(3), (None, None, 2)),
        _network(tf, lambda: cells.LSTMCell(3), (None, None, 2)),
    ]


def after_steps_one_by_one(tf):
    """Loops of one parallel iteration order their stacks otherwise; a second call makes all of it again."""
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [None, None])
        w = tf.get_variable("w", [2, 2])
        y = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.matmul(x, w)), [0, x], parallel_iterations=1)[1]
        return _seeds(tf, tf.reduce_sum(y), [w, x]), _seeds(tf, tf.reduce_sum(y), [w]), _seeds(tf, tf.reduce_mean(y), [x])


def after_training_through_normalization(tf):
    """Given moments have no gradients; trained moments have."""
    seeds = []
    for training in (False, True):
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            x = tf.placeholder(tf.float32, [2, 5, 5, 2])
            loss = tf.reduce_sum(tf.square(tf.layers.batch_normalization(x, training=training)))
            seeds.append(tf.get_seed(None))
            tf.train.AdagradOptimizer(0.1).minimize(loss)
            seeds.append(tf.get_seed(None))
    return seeds


def after_networks_of_which_a_part_is_used(tf):
    """The last state, a part of it, and the last output: zeros go into the loop for the rest."""
    cells = tf.nn.rnn_cell
    return [
        _network(tf, lambda: cells.GRUCell(3), loss=lambda outputs, state: state),
        _network(tf, lambda: cells.BasicLSTMCell(3), loss=lambda outputs, state: tf.square(state[1])),
        _network(tf, lambda: cells.BasicLSTMCell(3), loss=lambda outputs, state: outputs[:, -1]),
    ]


def after_a_language_model(tf):
    """Embeddings, a network, an entropy, clipped gradients, Adam, and then a sample and another network."""
    tf.set_random_seed(2)
    ids = tf.placeholder(tf.int32, [None, 3])
    table = tf.get_variable("table", [5, 2])
    outputs = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(3), tf.nn.embedding_lookup(table, ids), dtype=tf.float32)[0]
    logits = tf.layers.dense(tf.reshape(outputs, [-1, 3]), 5)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=tf.reshape(ids, [-1])))
    variables = tf.trainable_variables()
    gradients = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)[0]
    train = tf.train.AdamOptimizer(0.1).apply_gradients(zip(gradients, variables))
    second = tf.get_variable("second", [3])
    drawn = tf.random_normal([2])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        feed = {ids: [[1, 2, 3], [4, 0, 1]]}
        losses = [sess.run([loss, train], feed)[0] for _ in range(3)]
        return losses, sess.run([second, drawn]), np.shape(sess.run(table))


def after_two_directions_maps_and_scans(tf):
    """Two loops in one call, and loops that functions make."""

    def directions():
        x = tf.placeholder(tf.float32, [2, 3, 2])
        outputs = tf.nn.bidirectional_dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.GRUCell(3), x, dtype=tf.float32)[0]
        return _seeds(tf, tf.reduce_sum(tf.concat(outputs, -1)), tf.trainable_variables())

    def mapped():
        x, w = tf.placeholder(tf.float32, [4, 2]), tf.get_variable("w", [2])
        return _seeds(tf, tf.reduce_sum(tf.map_fn(lambda e: tf.tanh(e * w), x)), [w, x])

    def scanned():
        x, w = tf.placeholder(tf.float32, [4, 2]), tf.get_variable("w", [2])
        return _seeds(tf, tf.reduce_sum(tf.scan(lambda a, e: tf.tanh(a * w) + e, x)), [w])

    results = []
    for make in (directions, mapped, scanned):
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            results.append(make())
    return results
