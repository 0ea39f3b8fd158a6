"""`tf.contrib.crf`: scores, likelihoods, decoding, and a tagger that is trained."""

import itertools

import numpy as np

from programs.tools import caught, initialize, run, static


def _scores(tf, batch=3, steps=4, tags=3):
    return tf.constant(np.sin(np.arange(1.0 * batch * steps * tags) * 1.7).reshape(batch, steps, tags), tf.float32)


def _transitions(tf, tags=3):
    return tf.constant(np.cos(np.arange(1.0 * tags * tags)).reshape(tags, tags), tf.float32)


def _tags(tf, batch=3, steps=4, tags=3, dtype=None):
    return tf.constant(np.arange(batch * steps).reshape(batch, steps) * 2 % tags, dtype or tf.int32)


def _lengths(tf, dtype=None):
    return tf.constant([4, 2, 0], dtype or tf.int32)


def scores(tf):
    crf = tf.contrib.crf
    found = [
        crf.crf_sequence_score(_scores(tf), _tags(tf), _lengths(tf), _transitions(tf)),
        crf.crf_unary_score(_tags(tf), _lengths(tf), _scores(tf)),
        crf.crf_binary_score(_tags(tf), _lengths(tf), _transitions(tf)),
        crf.crf_log_norm(_scores(tf), _lengths(tf), _transitions(tf)),
    ]
    return static(*found), run(tf, found)


def scores_of_long_indices(tf):
    crf = tf.contrib.crf
    tags, lengths = _tags(tf, dtype=tf.int64), _lengths(tf, tf.int64)
    found = [
        crf.crf_sequence_score(_scores(tf), tags, lengths, _transitions(tf)),
        crf.crf_sequence_score(_scores(tf, steps=1), tags[:, :1], lengths, _transitions(tf)),
        crf.crf_log_likelihood(_scores(tf), tags, lengths, _transitions(tf))[0],
    ]
    return static(*found), run(tf, found)


def scores_of_one_step(tf):
    crf = tf.contrib.crf
    tags = _tags(tf, steps=1)
    found = [
        crf.crf_sequence_score(_scores(tf, steps=1), tags, tf.constant([1, 0, 1]), _transitions(tf)),
        crf.crf_log_norm(_scores(tf, steps=1), tf.constant([1, 0, 1]), _transitions(tf)),
        crf.crf_multitag_sequence_score(_scores(tf, steps=1), tf.equal(_scores(tf, steps=1), 0.0), tf.constant([1, 1, 1]), _transitions(tf)),
        crf.crf_decode(_scores(tf, steps=1), _transitions(tf), tf.constant([1, 0, 1])),
    ]
    return run(tf, found)


def scores_of_unknown_length(tf):
    crf = tf.contrib.crf
    x = tf.placeholder(tf.float32, [None, None, 3])
    tags, lengths = tf.placeholder(tf.int32, [None, None]), tf.placeholder(tf.int32, [None])
    found = [
        crf.crf_sequence_score(x, tags, lengths, _transitions(tf)),
        crf.crf_log_norm(x, lengths, _transitions(tf)),
        crf.crf_multitag_sequence_score(x, x > 0.0, lengths, _transitions(tf)),
        crf.crf_decode(x, _transitions(tf), lengths),
    ]
    answers = []
    for steps in (1, 4):
        feed = {x: np.sin(np.arange(6.0 * steps)).reshape(2, steps, 3), tags: np.ones([2, steps]), lengths: [steps, 1]}
        answers.append(run(tf, found, feed))
    return static(*found[:3]), static(*found[3]), answers


def multitag(tf):
    crf = tf.contrib.crf
    allowed = tf.constant(np.arange(36).reshape(3, 4, 3) % 4 > 0)
    lengths = tf.constant([4, 2, 1])
    return run(tf, crf.crf_multitag_sequence_score(_scores(tf), allowed, lengths, _transitions(tf)))


def sums_over_all_sequences(tf):
    """The log norm is the log sum over all sequences, and decoding finds the best of them."""
    crf = tf.contrib.crf
    steps, n = 3, 3
    x, t = _scores(tf, 1, steps, n), _transitions(tf, n)
    every = np.array(list(itertools.product(range(n), repeat=steps)))
    each = crf.crf_sequence_score(tf.tile(x, [len(every), 1, 1]), tf.constant(every, tf.int32), [steps] * len(every), t)
    norm = crf.crf_log_norm(x, tf.constant([steps]), t)
    tags, best = crf.crf_decode(x, t, tf.constant([steps]))
    each, norm, tags, best = run(tf, [each, norm, tags, best])
    viterbi = crf.viterbi_decode(np.sin(np.arange(1.0 * steps * n) * 1.7).reshape(steps, n), np.cos(np.arange(1.0 * n * n)).reshape(n, n))
    close = bool(abs(np.log(np.exp(each).sum()) - norm[0]) < 1e-5), bool(abs(each.max() - best[0]) < 1e-5)
    return close, every[each.argmax()].tolist(), tags, [int(v) for v in viterbi[0]], float(viterbi[1])


def decoded(tf):
    tags, best = tf.contrib.crf.crf_decode(_scores(tf), _transitions(tf), _lengths(tf))
    return static(tags, best), run(tf, [tags, best])


def viterbi(tf):
    decode = tf.contrib.crf.viterbi_decode
    score = np.array([[1.0, 0.5, 0.0], [0.0, 2.0, 0.1], [0.2, 0.0, 1.0]], np.float32)
    tags, best = decode(score, np.array([[0.0, 1.0, -2.0], [0.5, 0.0, 0.0], [0.0, 0.0, 3.0]], np.float32))
    one, best_of_one = decode(score[:1], np.zeros([3, 3], np.float32))
    return [int(t) for t in tags], best, [int(t) for t in one], best_of_one


def cells(tf):
    crf = tf.contrib.crf
    forward, best = crf.CrfForwardRnnCell(_transitions(tf)), crf.CrfDecodeForwardRnnCell(_transitions(tf))
    back = crf.CrfDecodeBackwardRnnCell(3)
    x, state = _scores(tf)[:, 0], _scores(tf)[:, 1]
    found = [forward(x, state), best(x, state), back(tf.constant([[4, 5, 6], [7, 8, 9]]), tf.constant([[2], [0]]))]
    return [[c.state_size, c.output_size] for c in (forward, best, back)], run(tf, found)


def gradient(tf):
    x, t = _scores(tf), _transitions(tf)
    likelihood, _ = tf.contrib.crf.crf_log_likelihood(x, _tags(tf), tf.constant([4, 2, 1]), t)
    return run(tf, tf.gradients(likelihood, [x, t]))


def equal_seeds(tf):
    tf.set_random_seed(3)
    found = [tf.contrib.crf.crf_log_likelihood(_scores(tf), _tags(tf), _lengths(tf)), tf.random_normal([2])]
    found += [tf.contrib.crf.crf_decode(_scores(tf), found[0][1], _lengths(tf)), tf.random_normal([2])]
    x = tf.placeholder_with_default(tf.ones([2, 4, 3]), [None, None, 3])
    found += [tf.contrib.crf.crf_log_norm(x, tf.constant([4, 3]), found[0][1]), tf.random_normal([2])]
    allowed = tf.constant(np.arange(36).reshape(3, 4, 3) % 4 > 0)
    found += [tf.contrib.crf.crf_multitag_sequence_score(_scores(tf), allowed, tf.constant([4, 2, 1]), found[0][1]), tf.random_normal([2])]
    return [v.name for v in tf.global_variables()], run(tf, found)


def tagger(tf):
    """A tagger as tutorials write it: a bidirectional LSTM below a random field."""
    tf.set_random_seed(1)
    words = tf.placeholder(tf.int32, [None, None])
    tags, lengths = tf.placeholder(tf.int32, [None, None]), tf.placeholder(tf.int32, [None])
    table = tf.get_variable("words", [10, 4])
    with tf.variable_scope("lstm"):
        cells = tf.contrib.rnn.LSTMCell(5), tf.contrib.rnn.LSTMCell(5)
        (fw, bw), _ = tf.nn.bidirectional_dynamic_rnn(cells[0], cells[1], tf.nn.embedding_lookup(table, words), sequence_length=lengths, dtype=tf.float32)
        out = tf.nn.dropout(tf.concat([fw, bw], axis=-1), 1.0)
    steps = tf.shape(out)[1]
    logits = tf.reshape(tf.layers.dense(tf.reshape(out, [-1, 10]), 3, name="tags"), [-1, steps, 3])
    likelihood, transitions = tf.contrib.crf.crf_log_likelihood(logits, tags, lengths)
    loss = tf.reduce_mean(-likelihood)
    found, _ = tf.contrib.crf.crf_decode(logits, transitions, lengths)
    optimizer = tf.train.AdamOptimizer(0.05)
    train = optimizer.apply_gradients([[tf.clip_by_value(g, -5.0, 5.0), v] for g, v in optimizer.compute_gradients(loss)])
    text = np.arange(24).reshape(3, 8) % 10
    feed = {words: text, tags: text % 3, lengths: [8, 5, 6]}
    with tf.Session() as sess:
        initialize(tf, sess)
        losses = [sess.run([loss, train], feed)[0] for _ in range(20)]
        best = sess.run(found, feed)
        scores, learnt = sess.run([logits, transitions], feed)
        outside = [[int(v) for v in tf.contrib.crf.viterbi_decode(s[:n], learnt)[0]] for s, n in zip(scores, [8, 5, 6])]
    return [v.name for v in tf.trainable_variables()], losses, best, outside


def refusals(tf):
    return caught(lambda: tf.contrib.crf.crf_log_norm(tf.ones([2, 3, 4]), tf.constant([3, 3]), tf.ones([3, 3])))
