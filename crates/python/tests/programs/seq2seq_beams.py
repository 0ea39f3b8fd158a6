"""`tf.contrib.seq2seq.BeamSearchDecoder`, `tile_batch` and `gather_tree`."""

import itertools

import numpy as np

from programs.tools import WHOLE, caught, mistakes, run, static

SYMBOLS, WIDTH = 5, 3


def _seeded(tf):
    return tf.variable_scope("net", initializer=tf.random_uniform_initializer(-2.0, 2.0, seed=3))


def _searched(tf, cell, state, width=WIDTH, batch=2, steps=6, start=None, **kwargs):
    table = tf.constant(np.sin(np.arange(SYMBOLS * 2.0)).reshape(SYMBOLS, 2), tf.float32)
    start = tf.fill([batch], 0) if start is None else start
    layer = kwargs.pop("output_layer", None) or tf.layers.Dense(SYMBOLS, name="out")
    decoder = tf.contrib.seq2seq.BeamSearchDecoder(cell, kwargs.pop("embedding", table), start, 1, state, width, output_layer=layer, **kwargs)
    return decoder, tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=steps)


def _shown(tf, decoder, found, feed=None):
    outputs, state, lengths = found
    names = type(outputs).__name__, type(state).__name__, type(outputs.beam_search_decoder_output).__name__
    sizes = str(decoder.output_size), str(decoder.output_dtype), decoder.tracks_own_finished
    return names, sizes, static(outputs.predicted_ids, state.log_probs, lengths), run(tf, [outputs, state.log_probs, state.finished, state.lengths, lengths], feed)


def gru(tf):
    with _seeded(tf):
        cell = tf.nn.rnn_cell.GRUCell(3)
        return _shown(tf, *_searched(tf, cell, tf.ones([2 * WIDTH, 3])))


def lstm_with_a_length_penalty(tf):
    with _seeded(tf):
        cell = tf.nn.rnn_cell.LSTMCell(3)
        state = tf.contrib.seq2seq.tile_batch(tf.nn.rnn_cell.LSTMStateTuple(tf.ones([2, 3]), tf.zeros([2, 3])), WIDTH)
        return _shown(tf, *_searched(tf, cell, state, length_penalty_weight=1.5))


def time_major(tf):
    with _seeded(tf):
        cell = tf.nn.rnn_cell.GRUCell(3)
        decoder = tf.contrib.seq2seq.BeamSearchDecoder(
            cell, lambda ids: tf.one_hot(ids, 4), tf.constant([0, 2, 3]), 1, tf.ones([6, 3]), 2, output_layer=tf.layers.Dense(SYMBOLS)
        )
        outputs, state, lengths = tf.contrib.seq2seq.dynamic_decode(decoder, output_time_major=True, maximum_iterations=4, scope="mine")
    return static(outputs.predicted_ids), [v.name for v in tf.global_variables()], run(tf, [outputs, lengths])


def one_beam_is_greedy(tf):
    with _seeded(tf):
        cell = tf.nn.rnn_cell.GRUCell(3)
        _, (outputs, state, _) = _searched(tf, cell, tf.ones([2, 3]), width=1)
    with tf.variable_scope("net", reuse=True):
        table = tf.constant(np.sin(np.arange(SYMBOLS * 2.0)).reshape(SYMBOLS, 2), tf.float32)
        helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(table, tf.fill([2], 0), 1)
        layer = tf.layers.Dense(SYMBOLS, name="out", _reuse=True)
        decoder = tf.contrib.seq2seq.BasicDecoder(tf.nn.rnn_cell.GRUCell(3), helper, tf.ones([2, 3]), layer)
        greedy, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=6)
    return run(tf, [outputs.predicted_ids, greedy.sample_id, state.log_probs])


def a_wide_beam_finds_the_best(tf):
    """Beams for all sequences of three symbols: the best is that of an exhaustive search."""
    logits = np.log([[0.1, 0.1, 0.5, 0.2, 0.1], [0.2, 0.3, 0.1, 0.1, 0.3], [0.3, 0.2, 0.1, 0.3, 0.1], [0.1, 0.2, 0.1, 0.2, 0.4], [0.2, 0.2, 0.2, 0.3, 0.1]])

    class Table(tf.nn.rnn_cell.RNNCell):
        state_size = property(lambda self: 1)
        output_size = property(lambda self: SYMBOLS)

        def call(self, inputs, state):
            return tf.matmul(inputs, tf.constant(logits, tf.float32)), state

    decoder = tf.contrib.seq2seq.BeamSearchDecoder(Table(), lambda ids: tf.one_hot(ids, SYMBOLS), tf.constant([0]), 1, tf.zeros([60, 1]), 60)
    outputs, state, _ = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=3)
    ids, scores = run(tf, [outputs.predicted_ids, state.log_probs])
    best = {}
    for sequence in itertools.product(range(SYMBOLS), repeat=3):
        total, last = 0.0, 0
        for symbol in sequence:
            total, last = total + logits[last][symbol] - np.log(np.exp(logits[last]).sum()), symbol
            if symbol == 1:
                break
        kept = sequence[: sequence.index(1) + 1] if 1 in sequence else sequence
        best[kept] = total
    found = ids[0, :, 0].tolist()
    return found, ids[0, :, :5], bool(abs(max(best.values()) - scores[0, 0]) < 1e-4), len(best)


def _attended(tf, memory, lengths, width=WIDTH, history=False, batch=2, **kwargs):
    seq2seq = tf.contrib.seq2seq
    tiled, tiled_lengths = seq2seq.tile_batch(memory, width), seq2seq.tile_batch(lengths, width)
    mechanism = seq2seq.LuongAttention(3, tiled, tiled_lengths)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), mechanism, attention_layer_size=4, alignment_history=history)
    state = cell.zero_state(batch * width, tf.float32)
    return _searched(tf, cell, state, width=width, batch=batch, **kwargs)


def _memory():
    return np.cos(np.arange(40.0)).reshape(2, 4, 5).astype(np.float32)


def attention(tf):
    with _seeded(tf):
        decoder, found = _attended(tf, tf.constant(_memory()), tf.constant([4, 2]))
        return _shown(tf, decoder, found), run(tf, found[1].cell_state)


def attention_with_a_coverage_penalty(tf):
    with _seeded(tf):
        decoder, found = _attended(tf, tf.constant(_memory()), tf.constant([4, 2]), coverage_penalty_weight=0.7, length_penalty_weight=0.3)
        return _shown(tf, decoder, found), run(tf, found[1].accumulated_attention_probs)


def attention_of_unknown_batch(tf):
    """The alignment history is ordered by the final beams if its shape is not known."""
    with _seeded(tf):
        memory = tf.placeholder(tf.float32, [None, None, 5])
        lengths, n = tf.placeholder(tf.int32, [None]), tf.shape(memory)[0]
        decoder, found = _attended(tf, memory, lengths, batch=n, history=True, start=tf.fill([n], 0))
        history = found[1].cell_state.alignment_history
        kind = type(history).__name__
        feed = {memory: _memory(), lengths: [4, 2]}
        return kind, _shown(tf, decoder, found, feed), run(tf, history, feed)


def attention_history_as_it_was(tf):
    with _seeded(tf):
        memory = tf.placeholder(tf.float32, [None, None, 5])
        lengths, n = tf.placeholder(tf.int32, [None]), tf.shape(memory)[0]
        _, found = _attended(tf, memory, lengths, batch=n, history=True, start=tf.fill([n], 0), reorder_tensor_arrays=False)
        return run(tf, found[1].cell_state.alignment_history.stack(), {memory: _memory(), lengths: [4, 2]})


def stacked_cells(tf):
    with _seeded(tf):
        cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(3), tf.nn.rnn_cell.GRUCell(4)])
        state = tf.contrib.seq2seq.tile_batch(cell.zero_state(2, tf.float32), WIDTH)
        decoder, found = _searched(tf, cell, state)
        return _shown(tf, decoder, found), run(tf, found[1].cell_state)


def steps(tf):
    with _seeded(tf):
        cell = tf.nn.rnn_cell.GRUCell(3)
        decoder, _ = _searched(tf, cell, tf.ones([2 * WIDTH, 3]))
        finished, inputs, state = decoder.initialize()
        outputs, after, next_inputs, ended = decoder.step(tf.constant(0), inputs, state)
    return state._fields, outputs._fields, static(finished, inputs, next_inputs, ended), run(tf, [finished, inputs, state, outputs, after, ended])


def tiled(tf):
    late = tf.placeholder_with_default(tf.ones([2, 3]), [None, 3])
    found = tf.contrib.seq2seq.tile_batch([tf.constant([1, 2, 3]), (tf.constant([[1.0, 2.0], [3.0, 4.0]]), late)], 2, name="mine")
    return static(found[0], *found[1]), run(tf, found)


def trees(tf):
    gather = tf.contrib.seq2seq.gather_tree
    steps = tf.constant([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]], [[-1, -1, -1]]])
    parents = tf.constant([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]], [[-1, -1, -1]]])
    two = tf.transpose(tf.constant([[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [10, 3]]]), [1, 0, 2])
    two_parents = tf.transpose(tf.constant([[[0, 0], [1, 0], [0, 1]], [[0, 0], [1, 1], [1, 0]]]), [1, 0, 2])
    found = [
        gather(steps, parents, [3], 10),
        gather(steps, parents, [2], 10),
        gather(steps, parents, [0], 10),
        gather(two, two_parents, [3, 2], 10),
        gather(two, two_parents, [9, 9], 10),
    ]
    return static(*found), run(tf, found)


def trees_of_unknown_parents(tf):
    steps = tf.constant([[[1, 2]], [[3, 4]], [[5, 6]]])
    parents = tf.constant([[[9, 9]], [[0, -3]], [[1, 1]]])
    tree = tf.contrib.seq2seq.gather_tree(steps, parents, [3], 10)
    fine = tf.contrib.seq2seq.gather_tree(steps, tf.constant([[[9, 9]], [[0, 1]], [[1, 1]]]), [3], 10)
    return caught(lambda: run(tf, tree), "Saw invalid parent id "), run(tf, fine)


def refusals(tf):
    seq2seq = tf.contrib.seq2seq
    cell, table, state = tf.nn.rnn_cell.GRUCell(3), np.ones([5, 2], np.float32), np.ones([6, 3], np.float32)

    def decoder(**kwargs):
        given = dict(cell=cell, embedding=tf.constant(table), start_tokens=[0, 0], end_token=1, initial_state=tf.constant(state), beam_width=3)
        given.update(kwargs)
        return seq2seq.BeamSearchDecoder(**given)

    kinds = [
        caught(lambda: decoder(output_layer=3), "output_layer must be a Layer, received: "),
        caught(lambda: decoder(cell=3), "is not an RNNCell"),
        caught(lambda: decoder(initial_state=tf.placeholder(tf.float32, None)), "to have known rank, but ndims == None."),
    ]
    return kinds, mistakes(
        tf,
        start=lambda: decoder(start_tokens=tf.constant([[0]])),
        end=lambda: decoder(end_token=tf.constant([0])),
        untiled=lambda: decoder(initial_state=tf.ones([3, 4])),
        coverage=lambda: decoder(coverage_penalty_weight=0.5).initialize(),
        scalar=lambda: seq2seq.tile_batch(tf.constant(1), 2),
        unknown=lambda: seq2seq.tile_batch(tf.placeholder(tf.float32), 2),
    )
