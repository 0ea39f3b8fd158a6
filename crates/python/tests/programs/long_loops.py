"""Long programs: loops of the graph inside models that are trained, saved and summarized."""

import os
import tempfile

import numpy as np


def translation_with_attention(tf):
    """An encoder and an attentive decoder with teacher forcing, then greedy and beam decoding from
    a checkpoint.
    """
    seq2seq = tf.contrib.seq2seq
    width, vocabulary, start, end = 6, 7, 1, 2
    source = np.array([[3, 4, 5, 0], [5, 3, 0, 0]], np.int32)
    source_length = np.array([3, 2], np.int32)
    target_in = np.array([[1, 5, 4, 3], [1, 3, 5, 0]], np.int32)
    target_out = np.array([[5, 4, 3, 2], [3, 5, 2, 0]], np.int32)
    target_length = np.array([4, 3], np.int32)

    def build(mode):
        tf.set_random_seed(14)
        with tf.variable_scope("embeddings"):
            table = tf.get_variable("table", [vocabulary, width], initializer=tf.random_uniform_initializer(-0.4, 0.4))
        with tf.variable_scope("encoder"):
            forward, backward = tf.nn.rnn_cell.GRUCell(width // 2), tf.nn.rnn_cell.GRUCell(width // 2)
            outputs, states = tf.nn.bidirectional_dynamic_rnn(forward, backward, tf.nn.embedding_lookup(table, source), sequence_length=source_length, dtype=tf.float32)
            memory, state = tf.concat(outputs, 2), tf.concat(states, 1)
        beams = 2 if mode == "beam" else 1
        lengths = tf.constant(source_length)
        if beams > 1:
            memory, state, lengths = (seq2seq.tile_batch(x, beams) for x in (memory, state, lengths))
        with tf.variable_scope("decoder"):
            mechanism = seq2seq.BahdanauAttention(width, memory, memory_sequence_length=lengths)
            cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(width), mechanism, attention_layer_size=width)
            first = cell.zero_state(2 * beams, tf.float32).clone(cell_state=state)
            out = tf.layers.Dense(vocabulary, use_bias=False, name="out")
            starts = tf.fill([2], start)
            if mode == "beam":
                decoder = seq2seq.BeamSearchDecoder(cell, table, starts, end, first, beams, output_layer=out)
            else:
                if mode == "train":
                    helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(table, target_in), target_length)
                else:
                    helper = seq2seq.GreedyEmbeddingHelper(table, starts, end)
                decoder = seq2seq.BasicDecoder(cell, helper, first, output_layer=out)
            found, _, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=None if mode == "train" else 5)
            return found, lengths

    folder, losses = tempfile.mkdtemp(), []
    found, _ = build("train")
    mask = tf.sequence_mask(target_length, 4, dtype=tf.float32)
    loss = seq2seq.sequence_loss(found.rnn_output, tf.constant(target_out), mask)
    variables = tf.trainable_variables()
    gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
    step = tf.Variable(0, trainable=False, name="global_step")
    train = tf.train.AdamOptimizer(0.01).apply_gradients(zip(gradients, variables), global_step=step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(4):
            losses.append(sess.run([loss, norm, train])[:2])
        path = tf.train.Saver().save(sess, os.path.join(folder, "model"), step)
    decoded = []
    for mode in ("greedy", "beam"):
        with tf.Graph().as_default():
            found, lengths = build(mode)
            with tf.Session() as sess:
                tf.train.Saver(tf.trainable_variables()).restore(sess, path)
                decoded.append(sess.run([found.sample_id if mode == "greedy" else found.predicted_ids, lengths]))
    return losses, decoded, [v.name for v in variables]


def memory_that_is_written(tf):
    """A controller that writes to a matrix and reads from it by content, over steps of a `while_loop`."""
    tf.set_random_seed(19)
    slots, width, steps = 4, 3, 5
    rng = np.random.RandomState(2)
    x = tf.placeholder(tf.float32, [None, None, 2], name="x")
    length = tf.shape(x)[1]
    batch = tf.shape(x)[0]
    inputs = tf.TensorArray(tf.float32, size=length, clear_after_read=False).unstack(tf.transpose(x, [1, 0, 2]))
    reads = tf.TensorArray(tf.float32, size=length)
    init = tf.random_normal_initializer(stddev=0.3)
    with tf.variable_scope("controller", initializer=init):
        w = tf.get_variable("w", [2 + width, 8])
        keys = tf.get_variable("keys", [8, width])
        writes = tf.get_variable("writes", [8, width])
        erase = tf.get_variable("erase", [8, width])
        strength = tf.get_variable("strength", [8, 1])

    def address(memory, key, beta):
        norms = tf.sqrt(tf.reduce_sum(tf.square(memory), 2) + 1e-6) * tf.sqrt(tf.reduce_sum(tf.square(key), 1, keepdims=True) + 1e-6)
        similarity = tf.squeeze(tf.matmul(memory, tf.expand_dims(key, 2)), [2]) / norms
        return tf.nn.softmax(beta * similarity)

    def body(t, memory, read, reads):
        h = tf.tanh(tf.matmul(tf.concat([inputs.read(t), read], 1), w))
        weights = address(memory, tf.matmul(h, keys), tf.nn.softplus(tf.matmul(h, strength)))
        outer = tf.expand_dims(weights, 2)
        memory = memory * (1 - outer * tf.expand_dims(tf.sigmoid(tf.matmul(h, erase)), 1)) + outer * tf.expand_dims(tf.tanh(tf.matmul(h, writes)), 1)
        read = tf.reduce_sum(outer * memory, 1)
        read.set_shape([None, width])
        return t + 1, memory, read, reads.write(t, read)

    memory = tf.tile(tf.constant(np.linspace(-0.1, 0.1, slots * width).reshape(1, slots, width).astype(np.float32)), tf.stack([batch, 1, 1]))
    first = tf.zeros(tf.stack([batch, width]))
    first.set_shape([None, width])
    _, memory, last, reads = tf.while_loop(lambda t, *_: t < length, body, [0, memory, first, reads], parallel_iterations=1)
    outputs = tf.transpose(reads.stack(), [1, 0, 2])
    outputs.set_shape([None, None, width])
    prediction = tf.squeeze(tf.layers.dense(outputs, 1, name="prediction"), [2])
    loss = tf.reduce_mean(tf.square(prediction - tf.cumsum(x[:, :, 0], axis=1)))
    optimizer = tf.train.RMSPropOptimizer(0.01, momentum=0.5)
    pairs = optimizer.compute_gradients(loss)
    train = optimizer.apply_gradients([(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in pairs])
    for g, v in pairs:
        tf.summary.histogram(v.op.name + "/gradient", g)
    merged, found = tf.summary.merge_all(), []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for n in (steps, 3, steps):
            data = rng.uniform(-1, 1, size=(2, n, 2))
            found.append(sess.run(loss, {x: data}))
            sess.run(train, {x: data})
        summary = tf.Summary.FromString(sess.run(merged, {x: data}))
        final = sess.run([last, memory], {x: data})
    return found, final, sorted(v.tag for v in summary.value), [v.histo.num for v in summary.value]


def learner_that_learns(tf):
    """Inner gradient steps in a `map_fn` over tasks, and the gradient of what they reach, as in MAML."""
    tf.set_random_seed(29)
    rng = np.random.RandomState(4)
    n_tasks, n_points, n_inner, inner_rate = 3, 4, 2, 0.1
    names = ["w1", "b1", "w2", "b2"]
    shapes = {"w1": [1, 5], "b1": [5], "w2": [5, 1], "b2": [1]}
    with tf.variable_scope("model"):
        weights = {n: tf.get_variable(n, shapes[n], initializer=tf.truncated_normal_initializer(stddev=0.3) if n[0] == "w" else tf.zeros_initializer()) for n in names}

    def forward(x, w):
        return tf.matmul(tf.nn.tanh(tf.matmul(x, w["w1"]) + w["b1"]), w["w2"]) + w["b2"]

    def mean_squares(a, b):
        return tf.reduce_mean(tf.square(tf.reshape(a, [-1]) - tf.reshape(b, [-1])))

    xa, ya = tf.placeholder(tf.float32, [n_tasks, n_points, 1]), tf.placeholder(tf.float32, [n_tasks, n_points, 1])
    xb, yb = tf.placeholder(tf.float32, [n_tasks, n_points, 1]), tf.placeholder(tf.float32, [n_tasks, n_points, 1])

    def of_task(given):
        x_a, y_a, x_b, y_b = given
        fast, losses = dict(weights), []
        before = mean_squares(forward(x_a, fast), y_a)
        for _ in range(n_inner):
            loss = mean_squares(forward(x_a, fast), y_a)
            gradients = tf.gradients(loss, [fast[n] for n in names])
            fast = {n: fast[n] - inner_rate * g for n, g in zip(names, gradients)}
            losses.append(mean_squares(forward(x_b, fast), y_b))
        return [before, tf.stack(losses)]

    before, after = tf.map_fn(of_task, elems=(xa, ya, xb, yb), dtype=[tf.float32, tf.float32], parallel_iterations=n_tasks)
    total = [tf.reduce_sum(after[:, j]) / tf.to_float(n_tasks) for j in range(n_inner)]
    tf.summary.scalar("before", tf.reduce_mean(before))
    tf.summary.scalar("after", total[-1])
    optimizer = tf.train.AdamOptimizer(0.01)
    pairs = [(tf.clip_by_value(g, -10.0, 10.0), v) for g, v in optimizer.compute_gradients(total[-1])]
    train = optimizer.apply_gradients(pairs)
    saver, merged, folder = tf.train.Saver(tf.trainable_variables(), max_to_keep=2), tf.summary.merge_all(), tempfile.mkdtemp()
    found = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(3):
            amplitude, phase = rng.uniform(0.5, 2.0, [n_tasks, 1, 1]), rng.uniform(0, 3, [n_tasks, 1, 1])
            x = rng.uniform(-2, 2, [n_tasks, 2 * n_points, 1])
            y = amplitude * np.sin(x - phase)
            feed = {xa: x[:, :n_points], ya: y[:, :n_points], xb: x[:, n_points:], yb: y[:, n_points:]}
            found.append(sess.run([before, after, [g for g, _ in pairs][0]], feed))
            sess.run(train, feed)
            saver.save(sess, os.path.join(folder, "maml"), global_step=i)
        text = sess.run(merged, feed)
    kept = [os.path.basename(p) for p in tf.train.get_checkpoint_state(folder).all_model_checkpoint_paths]
    return found, kept, [(v.tag, np.float32(v.simple_value)) for v in tf.Summary.FromString(text).value]


def pondering(tf):
    """Steps until a probability to halt is spent, in a `while_loop` inside a cell of one's own,
    under `static_rnn`.
    """
    tf.set_random_seed(37)

    class Pondering(tf.nn.rnn_cell.RNNCell):
        def __init__(self, n, most, epsilon=0.05):
            self.n, self.most, self.epsilon = n, most, epsilon
            self.cell, self.counts = tf.nn.rnn_cell.GRUCell(n), []

        @property
        def state_size(self):
            return self.n

        @property
        def output_size(self):
            return self.n

        def __call__(self, inputs, state, scope=None):
            with tf.variable_scope(scope or type(self).__name__):
                rows = tf.shape(inputs)[0]
                zeros = tf.zeros([rows])
                start = (tf.fill([rows], True), zeros, zeros, zeros, state, tf.zeros_like(state), tf.zeros_like(state), tf.constant(0))

                def going(mask, used, compared, counts, h, outputs, states, step):
                    return tf.reduce_any(tf.logical_and(tf.less(compared, 1.0 - self.epsilon), tf.less(counts, float(self.most))))

                def ponder(mask, used, compared, counts, h, outputs, states, step):
                    flag = tf.fill([rows, 1], 1.0) * tf.cast(tf.equal(step, 0), tf.float32)
                    with tf.variable_scope("inner", reuse=tf.AUTO_REUSE):
                        output, new = self.cell(tf.concat([inputs, flag], 1), h)
                        p = tf.squeeze(tf.layers.dense(new, 1, tf.sigmoid, name="halt", reuse=tf.AUTO_REUSE), [1])
                    now = tf.logical_and(tf.less(compared + p, 1.0 - self.epsilon), mask)
                    on = tf.cast(now, tf.float32)
                    compared = compared + p * tf.cast(mask, tf.float32)
                    weight = tf.where(now, p, (1.0 - used) * tf.cast(mask, tf.float32))
                    used = used + p * on
                    counts = counts + tf.cast(mask, tf.float32)
                    column = tf.expand_dims(weight, 1)
                    return now, used, compared, counts, new, outputs + column * output, states + column * new, step + 1

                mask, used, _, counts, _, outputs, states, _ = tf.while_loop(going, ponder, start)
                outputs.set_shape([None, self.n])
                states.set_shape([None, self.n])
                self.counts.append(counts)
                return outputs, states

    x = tf.placeholder(tf.float32, [3, 4, 2])
    cell = Pondering(4, most=5)
    outputs, last = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32)
    logits = tf.layers.dense(last, 2, name="logits")
    labels = tf.cast(tf.reduce_sum(x, [1, 2]) > 0, tf.int32)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    steps = tf.reduce_mean(tf.add_n(cell.counts))
    train = tf.train.GradientDescentOptimizer(0.2).minimize(loss + 0.0 * steps)
    rng, found = np.random.RandomState(9), []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            feed = {x: rng.uniform(-1, 1, (3, 4, 2))}
            found.append(sess.run([loss, steps, outputs[-1]], feed))
            sess.run(train, feed)
    return found, [v.name for v in tf.trainable_variables()]


def tags_of_sentences(tf):
    """Characters and words to tags: two networks, a table of words, a chain of tags, and decoding."""
    tf.set_random_seed(41)
    words = ["the", "cat", "sat", "on", "mat"]
    table = tf.contrib.lookup.index_table_from_tensor(words, num_oov_buckets=1)
    sentences = tf.placeholder(tf.string, [None, None], name="sentences")
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    tags = tf.placeholder(tf.int32, [None, None], name="tags")
    letters = tf.placeholder(tf.int32, [None, None, None], name="letters")
    word_lengths = tf.placeholder(tf.int32, [None, None], name="word_lengths")
    with tf.variable_scope("chars"):
        rows = tf.nn.embedding_lookup(tf.get_variable("table", [9, 3]), letters)
        shape = tf.shape(rows)
        rows = tf.reshape(rows, [shape[0] * shape[1], shape[2], 3])
        forward, backward = tf.contrib.rnn.LSTMCell(2), tf.contrib.rnn.LSTMCell(2)
        _, ((_, h_f), (_, h_b)) = tf.nn.bidirectional_dynamic_rnn(forward, backward, rows, sequence_length=tf.reshape(word_lengths, [-1]), dtype=tf.float32)
        of_letters = tf.reshape(tf.concat([h_f, h_b], 1), [shape[0], shape[1], 4])
    with tf.variable_scope("words"):
        of_words = tf.nn.embedding_lookup(tf.get_variable("table", [len(words) + 1, 4]), table.lookup(sentences))
        inputs = tf.nn.dropout(tf.concat([of_words, of_letters], 2), 1.0)
        outputs, _ = tf.nn.bidirectional_dynamic_rnn(tf.contrib.rnn.LSTMCell(3), tf.contrib.rnn.LSTMCell(3), inputs, sequence_length=lengths, dtype=tf.float32)
        output = tf.concat(outputs, -1)
    with tf.variable_scope("proj"):
        w = tf.get_variable("w", [6, 3])
        b = tf.get_variable("b", [3], initializer=tf.zeros_initializer())
        n = tf.shape(output)[1]
        scores = tf.reshape(tf.matmul(tf.reshape(output, [-1, 6]), w) + b, [-1, n, 3])
    likelihood, transitions = tf.contrib.crf.crf_log_likelihood(scores, tags, lengths)
    loss = tf.reduce_mean(-likelihood)
    best, best_score = tf.contrib.crf.crf_decode(scores, transitions, lengths)
    train = tf.train.AdamOptimizer(0.05).minimize(loss)
    feed = {
        sentences: [["the", "cat", "sat"], ["dog", "on", ""]],
        lengths: [3, 2],
        tags: [[0, 1, 2], [1, 0, 0]],
        letters: np.arange(2 * 3 * 4).reshape(2, 3, 4) % 9,
        word_lengths: [[3, 3, 3], [3, 2, 0]],
    }
    found = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for _ in range(3):
            sess.run(train, feed)
            found.append(sess.run([loss, best, best_score], feed))
        values, chain = sess.run([scores, transitions], feed)
        path, _ = tf.contrib.crf.viterbi_decode(values[0][:3], chain)
    return found, path, [v.name for v in tf.trainable_variables()]
