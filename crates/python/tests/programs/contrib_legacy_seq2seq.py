"""`tf.contrib.legacy_seq2seq`: models over lists of steps, their variables, values, losses and seeds."""

import numpy as np

from programs.tools import WHOLE, caught, initialize, mistakes, run, static


def _features(tf, n=3, width=3):
    return [tf.constant(np.sin(np.arange(2.0 * width) + i).reshape(2, width), tf.float32) for i in range(n)]


def _symbols(tf, n=3, of=4):
    return [tf.constant([i % of, (2 * i + 1) % of]) for i in range(n)]


def _shown(tf, outputs, state, feed_dict=None):
    """Names of variables, outputs, losses of three steps, and a number that depends on the count of nodes."""
    drawn = tf.random_normal([2])
    size = outputs[0].get_shape()[1].value
    losses = [tf.nn.sparse_softmax_cross_entropy_with_logits(labels=s, logits=o) for s, o in zip(_symbols(tf, len(outputs), size), outputs)]
    loss = tf.add_n([tf.reduce_sum(x) for x in losses])
    train = tf.train.GradientDescentOptimizer(0.2).minimize(loss)
    named = [[v.name, str(v.shape)] for v in tf.global_variables()]
    with tf.Session() as sess:
        initialize(tf, sess)
        first = sess.run([outputs, state, drawn], feed_dict)
        return named, static(*outputs), first, [sess.run([loss, train], feed_dict)[0] for _ in range(3)]


def _model(name, *arguments, **kwargs):
    def program(tf):
        tf.set_random_seed(7)
        make = getattr(tf.contrib.legacy_seq2seq, name)
        inputs = _features(tf) if name in ("basic_rnn_seq2seq", "tied_rnn_seq2seq") else _symbols(tf)
        cell = getattr(tf.nn.rnn_cell, kwargs.get("cell", "GRUCell"))(3)
        options = {k: v for k, v in kwargs.items() if k != "cell"}
        return _shown(tf, *make(inputs, inputs[:2], cell, *arguments, **options))

    return program


def rnn_decoder(tf):
    tf.set_random_seed(7)
    cell = tf.nn.rnn_cell.GRUCell(3)
    return _shown(tf, *tf.contrib.legacy_seq2seq.rnn_decoder(_features(tf), tf.ones([2, 3]), cell))


def rnn_decoder_of_its_outputs(tf):
    tf.set_random_seed(7)
    cell = tf.nn.rnn_cell.LSTMCell(3)
    turn = lambda last, i: last * i
    return _shown(tf, *tf.contrib.legacy_seq2seq.rnn_decoder(_features(tf), cell.zero_state(2, tf.float32), cell, loop_function=turn, scope="mine"))


def basic(tf):
    return _model("basic_rnn_seq2seq")(tf)


def basic_lstm(tf):
    return _model("basic_rnn_seq2seq", cell="LSTMCell", scope="mine")(tf)


def tied(tf):
    return _model("tied_rnn_seq2seq")(tf)


def tied_of_its_outputs(tf):
    return _model("tied_rnn_seq2seq", loop_function=lambda last, i: last + 0.5, scope="mine")(tf)


def embedded(tf):
    return _model("embedding_rnn_seq2seq", 4, 5, 2)(tf)


def embedded_and_fed_back(tf):
    return _model("embedding_rnn_seq2seq", 4, 5, 2, feed_previous=True, cell="BasicLSTMCell")(tf)


def embedded_and_fed_back_at_times(tf):
    tf.set_random_seed(7)
    feeds = tf.placeholder(tf.bool, [])
    outputs, state = tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(
        _symbols(tf), _symbols(tf, 2), tf.nn.rnn_cell.LSTMCell(3), 4, 5, 2, feed_previous=feeds
    )
    named = [v.name for v in tf.global_variables()]
    return named, run(tf, [outputs, state], {feeds: True}), run(tf, [outputs, state], {feeds: False})


def embedded_with_a_projection(tf):
    tf.set_random_seed(7)
    w, b = tf.get_variable("w", [3, 5]), tf.get_variable("b", [5])
    found = tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(
        _symbols(tf), _symbols(tf, 2), tf.nn.rnn_cell.GRUCell(3), 4, 5, 2, output_projection=(w, b), feed_previous=True, dtype=tf.float32
    )
    return _shown(tf, *found)


def embedded_tied(tf):
    return _model("embedding_tied_rnn_seq2seq", 4, 2)(tf)


def embedded_tied_and_fed_back(tf):
    return _model("embedding_tied_rnn_seq2seq", 4, 2, num_decoder_symbols=4, feed_previous=True)(tf)


def embedded_tied_and_fed_back_at_times(tf):
    tf.set_random_seed(7)
    feeds = tf.placeholder(tf.bool, [])
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.GRUCell(2)])
    outputs, state = tf.contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq(_symbols(tf), _symbols(tf, 2), cell, 4, 2, feed_previous=feeds)
    return run(tf, [outputs, state], {feeds: True}), run(tf, [outputs, state], {feeds: False})


def attention(tf):
    return _model("embedding_attention_seq2seq", 4, 5, 2)(tf)


def attention_with_heads(tf):
    return _model("embedding_attention_seq2seq", 4, 5, 2, num_heads=2, initial_state_attention=True, cell="LSTMCell")(tf)


def attention_and_fed_back(tf):
    return _model("embedding_attention_seq2seq", 4, 5, 2, feed_previous=True)(tf)


def attention_and_fed_back_at_times(tf):
    tf.set_random_seed(7)
    feeds = tf.placeholder(tf.bool, [])
    w, b = tf.get_variable("w", [3, 5]), tf.get_variable("b", [5])
    outputs, state = tf.contrib.legacy_seq2seq.embedding_attention_seq2seq(
        _symbols(tf), _symbols(tf, 2), tf.nn.rnn_cell.GRUCell(3), 4, 5, 2, output_projection=(w, b), feed_previous=feeds
    )
    named = [v.name for v in tf.global_variables()]
    return named, run(tf, [outputs, state], {feeds: True}), run(tf, [outputs, state], {feeds: False})


def attention_alone(tf):
    tf.set_random_seed(7)
    states = tf.constant(np.cos(np.arange(24.0)).reshape(2, 3, 4), tf.float32)
    cell = tf.nn.rnn_cell.GRUCell(3)
    outputs, state = tf.contrib.legacy_seq2seq.attention_decoder(_features(tf), tf.ones([2, 3]), states, cell, output_size=5, num_heads=2)
    return _shown(tf, outputs, state)


def attention_over_states_of_unknown_length(tf):
    tf.set_random_seed(7)
    states = tf.placeholder_with_default(np.cos(np.arange(24.0, dtype=np.float32)).reshape(2, 3, 4), [None, None, 4])
    cell = tf.nn.rnn_cell.GRUCell(3)
    outputs, state = tf.contrib.legacy_seq2seq.attention_decoder(
        _features(tf), tf.ones([2, 3]), states, cell, loop_function=lambda last, i: last, initial_state_attention=True, scope="mine"
    )
    return _shown(tf, outputs, state)


def decoders_of_symbols(tf):
    tf.set_random_seed(7)
    legacy = tf.contrib.legacy_seq2seq
    cell = tf.nn.rnn_cell.GRUCell(4)
    first = legacy.embedding_rnn_decoder(_symbols(tf), tf.ones([2, 4]), cell, 4, 3, feed_previous=True, update_embedding_for_previous=False)
    states = tf.constant(np.cos(np.arange(24.0)).reshape(2, 3, 4), tf.float32)
    second = legacy.embedding_attention_decoder(_symbols(tf), tf.ones([2, 4]), states, tf.nn.rnn_cell.GRUCell(4), 4, 3, feed_previous=True)
    return [v.name for v in tf.global_variables()], run(tf, [first, second, tf.random_normal([2])])


def several_decoders(tf):
    found = []
    for feeds in (False, True, tf.placeholder_with_default(True, [])):
        with tf.Graph().as_default():
            tf.set_random_seed(7)
            feeds = feeds if isinstance(feeds, bool) else tf.placeholder_with_default(True, [])
            cells = {"a": tf.nn.rnn_cell.GRUCell(3)}
            outputs, states = tf.contrib.legacy_seq2seq.one2many_rnn_seq2seq(
                _symbols(tf), {"a": _symbols(tf, 2)}, tf.nn.rnn_cell.GRUCell(3), cells, 4, {"a": 5}, 2, feed_previous=feeds
            )
            found.append([[v.name for v in tf.global_variables()], run(tf, [outputs, states, tf.random_normal([2])])])
    return found


def losses(tf):
    legacy = tf.contrib.legacy_seq2seq
    logits = [tf.constant([[0.1, 0.5, 2.0], [1.0, 0.0, -1.0]]) * i for i in range(3)]
    targets = [tf.constant([0, 1]), tf.constant([2, 2]), tf.constant([[1], [0]])]
    weights = [tf.constant([1.0, 0.5]), tf.constant([0.0, 1.0]), tf.constant([0.5, 0.0])]
    own = lambda labels, logits: tf.reduce_sum(logits, 1) * 2.0
    found = [
        legacy.sequence_loss_by_example(logits, targets, weights),
        legacy.sequence_loss_by_example(logits, targets, weights, average_across_timesteps=False, name="mine"),
        legacy.sequence_loss_by_example(logits, targets, weights, softmax_loss_function=own),
        legacy.sequence_loss(logits, targets, weights),
        legacy.sequence_loss(logits, targets, weights, average_across_batch=False, average_across_timesteps=False),
        legacy.sequence_loss(logits, targets, [w * 0.0 for w in weights]),
    ]
    return static(*found), run(tf, found), [x.op.name for x in found]


def buckets(tf):
    tf.set_random_seed(7)
    legacy = tf.contrib.legacy_seq2seq
    symbols, weights = _symbols(tf, 4), [tf.constant([1.0, 0.5])] * 4

    def model(inputs, outputs):
        return legacy.embedding_attention_seq2seq(inputs, outputs, tf.nn.rnn_cell.GRUCell(3), 4, 4, 2)

    outputs, losses = legacy.model_with_buckets(symbols, symbols, symbols, weights, [(2, 2), (4, 3)], model)
    _, each = legacy.model_with_buckets(
        symbols, symbols, symbols, weights, [(2, 2)], lambda x, y: legacy.embedding_rnn_seq2seq(x, y, tf.nn.rnn_cell.GRUCell(3), 4, 4, 2), per_example_loss=True, name="mine"
    )
    train = tf.train.AdamOptimizer(0.1).minimize(losses[1])
    with tf.Session() as sess:
        initialize(tf, sess)
        first = sess.run([outputs, losses, each])
        return [v.name for v in tf.trainable_variables()], first, [sess.run([losses[1], train])[0] for _ in range(4)]


def unrolled_char_rnn(tf):
    """A model of characters as tutorials write it: its state is fed from run to run."""
    tf.set_random_seed(1)
    batch, steps, size, symbols = 2, 5, 6, 7
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(size) for _ in range(2)])
    data = tf.placeholder(tf.int32, [batch, steps])
    targets = tf.placeholder(tf.int32, [batch, steps])
    start = cell.zero_state(batch, tf.float32)
    with tf.variable_scope("rnnlm"):
        w = tf.get_variable("softmax_w", [size, symbols])
        b = tf.get_variable("softmax_b", [symbols])
        table = tf.get_variable("embedding", [symbols, size])
        inputs = [tf.squeeze(x, [1]) for x in tf.split(tf.nn.embedding_lookup(table, data), steps, 1)]

    def loop(last, _):
        symbol = tf.stop_gradient(tf.argmax(tf.matmul(last, w) + b, 1))
        return tf.nn.embedding_lookup(table, symbol)

    legacy = tf.contrib.legacy_seq2seq
    outputs, last_state = legacy.rnn_decoder(inputs, start, cell, loop_function=None, scope="rnnlm")
    sampled, _ = legacy.rnn_decoder(inputs, start, cell, loop_function=loop, scope="rnnlm_sampled")
    logits = tf.matmul(tf.reshape(tf.concat(outputs, 1), [-1, size]), w) + b
    loss = legacy.sequence_loss_by_example([logits], [tf.reshape(targets, [-1])], [tf.ones([batch * steps])])
    cost = tf.reduce_sum(loss) / batch / steps
    rate = tf.Variable(0.0, trainable=False)
    trained = tf.trainable_variables()
    grads, norm = tf.clip_by_global_norm(tf.gradients(cost, trained), 0.5)
    train = tf.train.AdamOptimizer(rate).apply_gradients(zip(grads, trained))
    text = np.arange(batch * steps * 4).reshape(4, batch, steps) % symbols
    costs = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(tf.assign(rate, 0.1))
        state = sess.run(start)
        for i in range(6):
            feed = {data: text[i % 4], targets: (text[i % 4] + 1) % symbols}
            for j, (c, h) in enumerate(start):
                feed[c], feed[h] = state[j].c, state[j].h
            cost_now, norm_now, state, _ = sess.run([cost, norm, last_state, train], feed)
            costs.append([cost_now, norm_now])
    return [v.name for v in tf.global_variables()], costs, len(sampled)


def refusals(tf):
    legacy = tf.contrib.legacy_seq2seq
    cell = tf.nn.rnn_cell.GRUCell(3)
    one = [tf.ones([2, 3])]
    symbols = _symbols(tf)
    weights = [tf.ones([2])] * 3
    model = lambda x, y: (one * 3, None)
    kinds = [
        caught(lambda: legacy.one2many_rnn_seq2seq(symbols, {"a": symbols}, 3, {"a": cell}, 4, {"a": 5}, 2), "enc_cell is not an RNNCell: "),
        caught(lambda: legacy.one2many_rnn_seq2seq(symbols, {"a": symbols}, cell, {"a": 3}, 4, {"a": 5}, 2), "dec_cell is not an RNNCell: "),
        caught(lambda: legacy.one2many_rnn_seq2seq(symbols, {"a": symbols}, cell, {"b": cell}, 4, {"a": 5}, 2), WHOLE),
    ]
    return kinds, mistakes(
        tf,
        no_inputs=lambda: legacy.attention_decoder([], one[0], tf.ones([2, 3, 4]), cell),
        no_heads=lambda: legacy.attention_decoder(one, one[0], tf.ones([2, 3, 4]), cell, num_heads=0),
        unknown_size=lambda: legacy.attention_decoder(one, one[0], tf.placeholder(tf.float32, [2, 3, None]), cell),
        unknown_input=lambda: legacy.attention_decoder([tf.placeholder(tf.float32, [2, None], name="x")], one[0], tf.ones([2, 3, 4]), cell)[0],
        lengths=lambda: legacy.sequence_loss_by_example(one, symbols, weights),
        short_inputs=lambda: legacy.model_with_buckets(symbols, symbols, symbols, weights, [(4, 3)], model),
        short_targets=lambda: legacy.model_with_buckets(symbols, symbols, symbols[:2], weights, [(3, 3)], model),
        short_weights=lambda: legacy.model_with_buckets(symbols, symbols, symbols, weights[:2], [(3, 3)], model),
        projection=lambda: legacy.embedding_rnn_decoder(symbols, one[0], cell, 4, 2, output_projection=(tf.ones([3, 5]), tf.ones([4])), feed_previous=True)[0],
        projection_biases=lambda: legacy.embedding_attention_decoder(symbols, one[0], tf.ones([2, 3, 4]), cell, 4, 2, output_projection=(tf.ones([3, 4]), tf.ones([5])))[0],
    )
