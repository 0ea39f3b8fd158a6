"""`tf.contrib.seq2seq`: attention mechanisms, `AttentionWrapper` and its state, `hardmax` and their
functions."""

import numpy as np

from programs.tools import WHOLE, caught, initialize, mistakes, run, static


def _memory(tf):
    return tf.constant(np.cos(np.arange(40.0)).reshape(2, 4, 5), tf.float32)


def _seeded(tf):
    return tf.variable_scope("net", initializer=tf.random_uniform_initializer(-1.0, 1.0, seed=3))


def _once(tf, make, unit=3, **kwargs):
    """The alignments and the next state of one query."""
    seq2seq = tf.contrib.seq2seq
    with _seeded(tf):
        mechanism = getattr(seq2seq, make)(unit, _memory(tf), [4, 2], **kwargs)
        state = mechanism.initial_state(2, tf.float32)
        query = tf.constant(np.sin(np.arange(6.0)).reshape(2, 3), tf.float32)
        alignments, next_state = mechanism(query, state)
        again, _ = mechanism(query, next_state)
    sizes = mechanism.alignments_size, mechanism.state_size, mechanism.batch_size
    named = [[v.name, str(v.shape)] for v in tf.global_variables()]
    return sizes, named, static(mechanism.keys, mechanism.values), run(tf, [state, alignments, next_state, again, mechanism.keys])


def bahdanau(tf):
    return _once(tf, "BahdanauAttention")


def bahdanau_normalized(tf):
    return _once(tf, "BahdanauAttention", normalize=True, score_mask_value=-1.0)


def bahdanau_with_functions(tf):
    return _once(tf, "BahdanauAttention", probability_fn=tf.contrib.seq2seq.hardmax, custom_key_value_fn=lambda k, v: (k * 2.0, v + 1.0), name="mine")


def luong(tf):
    return _once(tf, "LuongAttention")


def luong_scaled(tf):
    return _once(tf, "LuongAttention", scale=True, dtype=tf.float32)


def bahdanau_monotonic(tf):
    return _once(tf, "BahdanauMonotonicAttention", score_bias_init=0.5)


def bahdanau_monotonic_recursive(tf):
    return _once(tf, "BahdanauMonotonicAttention", normalize=True, mode="recursive")


def luong_monotonic_hard(tf):
    return _once(tf, "LuongMonotonicAttention", scale=True, mode="hard")


def luong_monotonic_with_noise(tf):
    tf.set_random_seed(3)
    return _once(tf, "LuongMonotonicAttention", sigmoid_noise=0.7, sigmoid_noise_seed=4)


def monotonic_attention(tf):
    p = tf.constant([[0.2, 0.9, 0.5], [0.1, 0.4, 1.0]])
    before = tf.constant([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
    found = [tf.contrib.seq2seq.monotonic_attention(p, before, mode) for mode in ("recursive", "parallel")]
    return run(tf, found + [tf.contrib.seq2seq.monotonic_attention(tf.round(p), tf.constant([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]), "hard")])


def products(tf):
    x = tf.constant([[0.5, 2.0, 0.0], [0.25, 1.0, 0.5]])
    safe = tf.contrib.seq2seq.safe_cumprod
    return run(tf, [safe(x), safe(x, axis=1), safe(x, axis=1, exclusive=True), safe(x, axis=1, reverse=True)])


def hardmax(tf):
    x = tf.constant([[0.5, 2.0, 0.0], [0.25, 1.0, 5.0]])
    late = tf.placeholder_with_default(x, None)
    return run(tf, [tf.contrib.seq2seq.hardmax(x), tf.contrib.seq2seq.hardmax(late, name="h")])


def _decoded(tf, mechanisms, steps=3, cell=None, **kwargs):
    seq2seq = tf.contrib.seq2seq
    cell = seq2seq.AttentionWrapper(cell or tf.nn.rnn_cell.GRUCell(3), mechanisms, **kwargs)
    x = tf.constant(np.sin(np.arange(18.0)).reshape(2, 3, 3), tf.float32)
    decoder = seq2seq.BasicDecoder(cell, seq2seq.TrainingHelper(x, [3, 2]), cell.zero_state(2, tf.float32), tf.layers.Dense(4))
    return cell, seq2seq.dynamic_decode(decoder, impute_finished=False)


def wrapped(tf):
    with _seeded(tf):
        mechanism = tf.contrib.seq2seq.LuongAttention(3, _memory(tf), [4, 2])
        cell, (outputs, state, lengths) = _decoded(tf, mechanism, attention_layer_size=6, alignment_history=True)
    history = state.alignment_history.stack()
    flat = [outputs, state.cell_state, state.attention, state.time, state.alignments, state.attention_state, history, lengths]
    named = [[v.name, str(v.shape)] for v in tf.global_variables()]
    return cell.output_size, str(cell.state_size), named, type(state).__name__, static(state.attention, state.alignments), run(tf, flat)


def wrapped_by_two(tf):
    with _seeded(tf):
        first = tf.contrib.seq2seq.LuongAttention(3, _memory(tf))
        second = tf.contrib.seq2seq.BahdanauAttention(4, _memory(tf)[:, :2], [2, 1])
        kwargs = dict(attention_layer_size=[2, 3], alignment_history=True, output_attention=False)
        cell, (outputs, state, _) = _decoded(tf, [first, second], **kwargs)
    named = [[v.name, str(v.shape)] for v in tf.global_variables()]
    return cell.output_size, named, run(tf, [outputs, state.alignments, [h.stack() for h in state.alignment_history]])


def wrapped_without_a_layer(tf):
    with _seeded(tf):
        mechanism = tf.contrib.seq2seq.BahdanauAttention(3, _memory(tf), [4, 2])
        cell, (outputs, state, _) = _decoded(tf, mechanism, cell_input_fn=lambda x, attention: x + attention[:, :3], name="mine")
    return cell.output_size, [v.name for v in tf.global_variables()], run(tf, [outputs, state])


def wrapped_with_given_layers(tf):
    with _seeded(tf):
        mechanism = tf.contrib.seq2seq.LuongAttention(3, _memory(tf), [4, 2])
        start = tf.ones([2, 3])

        def attend(mechanism, cell_output, attention_state, attention_layer):
            alignments, state = mechanism(cell_output, state=attention_state)
            context = tf.reduce_sum(mechanism.values * tf.expand_dims(alignments, -1), 1)
            return attention_layer(context), alignments, state

        cell, (outputs, state, _) = _decoded(tf, mechanism, attention_layer=tf.layers.Dense(6, name="own"), initial_cell_state=start, attention_fn=attend)
    return cell.output_size, [v.name for v in tf.global_variables()], run(tf, [outputs, state])


def wrapped_lstms_of_unknown_batch(tf):
    with _seeded(tf):
        memory = tf.placeholder(tf.float32, [None, None, 5])
        lengths = tf.placeholder(tf.int32, [None])
        outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(3), memory, lengths, dtype=tf.float32)
        mechanism = tf.contrib.seq2seq.LuongAttention(3, outputs, lengths, scale=True)
        cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.LSTMCell(3), mechanism, attention_layer_size=3)
        start = cell.zero_state(tf.shape(memory)[0], tf.float32).clone(cell_state=state)
        helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(tf.ones([4, 2]), tf.fill([tf.shape(memory)[0]], 1), 0)
        decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, start, tf.layers.Dense(4))
        found, last, _ = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=4)
    feed = {memory: np.cos(np.arange(30.0)).reshape(2, 3, 5), lengths: [3, 1]}
    return static(found.rnn_output, last.attention, last.alignments), run(tf, [found, last], feed)


def trained(tf):
    with _seeded(tf):
        mechanism = tf.contrib.seq2seq.BahdanauMonotonicAttention(3, _memory(tf), [4, 2], normalize=True)
        _, (outputs, _, _) = _decoded(tf, mechanism, attention_layer_size=3)
    loss = tf.contrib.seq2seq.sequence_loss(outputs.rnn_output, tf.constant([[1, 2, 3], [0, 1, 0]]), tf.ones([2, 3]))
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        initialize(tf, sess)
        return [sess.run([loss, train])[0] for _ in range(4)]


def equal_seeds(tf):
    tf.set_random_seed(5)
    mechanism = tf.contrib.seq2seq.BahdanauAttention(3, _memory(tf), [4, 2], normalize=True)
    _, (outputs, _, _) = _decoded(tf, mechanism, attention_layer_size=3, alignment_history=True)
    return run(tf, [outputs, tf.random_normal([2])])


def states(tf):
    state = tf.contrib.seq2seq.AttentionWrapperState(1, 2, 3, 4, 5, 6)
    mechanism = tf.contrib.seq2seq.LuongAttention(3, _memory(tf))
    cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), mechanism)
    zero = cell.zero_state(2, tf.float32)
    new = zero.clone(cell_state=tf.ones([2, 3]), time=tf.constant(4))
    return state._fields, run(tf, [new.cell_state, new.time, new.attention]), caught(lambda: zero.clone(cell_state=tf.ones([2, 4])), WHOLE)


def refusals(tf):
    seq2seq = tf.contrib.seq2seq
    cell = tf.nn.rnn_cell.GRUCell(3)

    def wrapper(**kwargs):
        mechanism = kwargs.pop("mechanism", None) or seq2seq.LuongAttention(3, _memory(tf))
        return seq2seq.AttentionWrapper(kwargs.pop("cell", cell), mechanism, **kwargs)

    def unit(query, unit=3, **kwargs):
        mechanism = seq2seq.LuongAttention(unit, _memory(tf), **kwargs)
        return mechanism(query, mechanism.initial_state(2, tf.float32))[0]

    of_a_state = caught(lambda: wrapper()(tf.ones([2, 3]), tf.ones([2, 3])), "Expected state to be instance of AttentionWrapperState. Received type")
    return of_a_state, mistakes(
        tf,
        cell=lambda: wrapper(cell=3),
        mechanism=lambda: wrapper(mechanism=3),
        mechanisms=lambda: wrapper(mechanism=[3]),
        input_fn=lambda: wrapper(cell_input_fn=3),
        two_layers=lambda: wrapper(attention_layer_size=3, attention_layer=tf.layers.Dense(2)),
        sizes=lambda: wrapper(attention_layer_size=[3, 4]),
        layers=lambda: wrapper(attention_layer=[tf.layers.Dense(3)] * 2),
        batch_of_the_state=lambda: wrapper(initial_cell_state=tf.ones([3, 3])).zero_state(2, tf.float32).cell_state,
        batch_of_zeros=lambda: wrapper().zero_state(3, tf.float32).cell_state,
        units=lambda: unit(tf.ones([2, 4])),
        unknown_memory=lambda: seq2seq.LuongAttention(3, tf.placeholder(tf.float32, [2, 3, None])),
        probability=lambda: unit(tf.ones([2, 3]), probability_fn=3),
        lengths=lambda: unit(tf.ones([2, 3]), memory_sequence_length=[0, 3]),
        mode=lambda: seq2seq.monotonic_attention(tf.ones([2, 3]), tf.ones([2, 3]), "soft"),
    )
