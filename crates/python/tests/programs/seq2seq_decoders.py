"""`tf.contrib.seq2seq`: `dynamic_decode`, `BasicDecoder`, and the helpers that choose the next inputs.

Loops that draw numbers independent of their variables run one iteration at a time: the order of the draws of
several iterations is not defined in TensorFlow.
"""

import numpy as np

from programs.tools import WHOLE, caught, initialize, mistakes, run, static


def _inputs(tf):
    return tf.constant(np.arange(24.0).reshape(2, 4, 3) / 24, tf.float32)


def _embedding(tf):
    return tf.constant(np.arange(15.0).reshape(5, 3) / 5 - 1.2, tf.float32)


def _decoder(tf, helper, layer=True, kind="GRUCell"):
    cell = getattr(tf.nn.rnn_cell, kind)(4)
    seq2seq = tf.contrib.seq2seq
    return seq2seq.BasicDecoder(cell, helper, cell.zero_state(helper.batch_size, tf.float32), tf.layers.Dense(5) if layer else None)


def _seeded(tf):
    return tf.variable_scope("net", initializer=tf.random_uniform_initializer(-1.0, 1.0, seed=3))


def _losses(tf, loss, count=3):
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session() as sess:
        initialize(tf, sess)
        return [sess.run([loss, train])[0] for _ in range(count)]


def training(tf):
    with _seeded(tf):
        helper = tf.contrib.seq2seq.TrainingHelper(_inputs(tf), [4, 2])
        outputs, state, lengths = tf.contrib.seq2seq.dynamic_decode(_decoder(tf, helper))
    shapes = static(outputs.rnn_output, outputs.sample_id, state, lengths)
    return type(outputs).__name__, shapes, sorted(v.name for v in tf.global_variables()), run(tf, [outputs, state, lengths])


def training_time_major_without_a_layer(tf):
    with _seeded(tf):
        x = tf.placeholder(tf.float32, [None, None, 3])
        helper = tf.contrib.seq2seq.TrainingHelper(x, tf.placeholder_with_default([3, 1], [None]), time_major=True)
        decoder = _decoder(tf, helper, False, "LSTMCell")
        found = tf.contrib.seq2seq.dynamic_decode(decoder, output_time_major=True, impute_finished=True, swap_memory=True, scope="mine")
        outputs, state, lengths = found
    named = sorted(v.name for v in tf.global_variables())
    return static(outputs.rnn_output, outputs.sample_id, lengths), named, run(tf, found, {x: np.ones([3, 2, 3])})


def training_loss_and_gradient(tf):
    with _seeded(tf):
        helper = tf.contrib.seq2seq.TrainingHelper(_inputs(tf), [4, 2])
        outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(_decoder(tf, helper), impute_finished=True)
    weights = tf.sequence_mask([4, 2], 4, dtype=tf.float32)
    loss = tf.contrib.seq2seq.sequence_loss(outputs.rnn_output, tf.constant([[1, 2, 3, 4], [0, 1, 0, 0]]), weights)
    return _losses(tf, loss)


def greedy(tf):
    with _seeded(tf):
        helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(_embedding(tf), tf.constant([0, 1, 2]), 4)
        found = tf.contrib.seq2seq.dynamic_decode(_decoder(tf, helper), maximum_iterations=6)
    return static(found[0].rnn_output, found[0].sample_id, found[2]), run(tf, found)


def greedy_of_a_function_until_the_end(tf):
    table = _embedding(tf)
    with _seeded(tf):
        helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(lambda ids: tf.gather(table, ids), tf.constant([0, 1]), 3)
        limit = tf.placeholder_with_default(5, [])
        found = tf.contrib.seq2seq.dynamic_decode(_decoder(tf, helper), impute_finished=True, maximum_iterations=limit)
    return run(tf, [found, helper.sample_ids_shape.as_list(), tf.constant(0)]), helper.sample_ids_dtype


def sampled_embeddings(tf):
    tf.set_random_seed(4)
    with _seeded(tf):
        helper = tf.contrib.seq2seq.SampleEmbeddingHelper(_embedding(tf), tf.constant([0, 1, 2]), 4, softmax_temperature=0.5, seed=7)
        found = tf.contrib.seq2seq.dynamic_decode(_decoder(tf, helper), maximum_iterations=6)
    return run(tf, found)


def scheduled_embeddings(tf):
    tf.set_random_seed(4)
    with _seeded(tf):
        helper = tf.contrib.seq2seq.ScheduledEmbeddingTrainingHelper(
            _inputs(tf), [4, 2], _embedding(tf), sampling_probability=0.5, seed=1, scheduling_seed=2
        )
        found = tf.contrib.seq2seq.dynamic_decode(_decoder(tf, helper), parallel_iterations=1)
    return static(*tf.contrib.framework.nest.flatten(found)), run(tf, found)


def scheduled_embeddings_never(tf):
    with _seeded(tf):
        helper = tf.contrib.seq2seq.ScheduledEmbeddingTrainingHelper(_inputs(tf), [4, 2], _embedding(tf), sampling_probability=0.0)
        found = tf.contrib.seq2seq.dynamic_decode(_decoder(tf, helper))
    return run(tf, found)


def scheduled_outputs(tf):
    tf.set_random_seed(4)
    with _seeded(tf):
        helper = tf.contrib.seq2seq.ScheduledOutputTrainingHelper(_inputs(tf), [4, 2], sampling_probability=tf.constant(0.5), seed=1)
        cell = tf.nn.rnn_cell.GRUCell(3)
        decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
        found = tf.contrib.seq2seq.dynamic_decode(decoder, parallel_iterations=1)
    return run(tf, found)


def scheduled_outputs_with_a_layer_and_auxiliaries(tf):
    tf.set_random_seed(4)
    with _seeded(tf):
        helper = tf.contrib.seq2seq.ScheduledOutputTrainingHelper(
            _inputs(tf), [4, 2], sampling_probability=0.5, seed=1, next_inputs_fn=tf.layers.Dense(3), auxiliary_inputs=_inputs(tf) * 2.0
        )
        found = tf.contrib.seq2seq.dynamic_decode(_decoder(tf, helper, False), parallel_iterations=1)
    return sorted(v.name for v in tf.global_variables()), run(tf, found)


def inference(tf):
    with _seeded(tf):
        helper = tf.contrib.seq2seq.InferenceHelper(
            sample_fn=lambda outputs: outputs > 0.0,
            sample_shape=[5],
            sample_dtype=tf.bool,
            start_inputs=tf.zeros([2, 5]),
            end_fn=lambda ids: tf.reduce_all(ids, axis=1),
            next_inputs_fn=lambda ids: tf.cast(ids, tf.float32),
        )
        found = tf.contrib.seq2seq.dynamic_decode(_decoder(tf, helper), maximum_iterations=3)
    return static(found[0].sample_id), run(tf, found)


def custom(tf):
    table = _embedding(tf)

    def begin():
        return tf.tile([False], [2]), tf.zeros([2, 3])

    def choose(time, outputs, state):
        return tf.cast(tf.argmax(outputs, axis=-1), tf.int32)

    def following(time, outputs, state, sample_ids):
        return time + 1 >= tf.constant([3, 2]), tf.gather(table, sample_ids), state

    with _seeded(tf):
        helper = tf.contrib.seq2seq.CustomHelper(begin, choose, following)
        cell = tf.nn.rnn_cell.GRUCell(4)
        decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32), tf.layers.Dense(5))
        before = caught(lambda: helper.batch_size, WHOLE)
        found = tf.contrib.seq2seq.dynamic_decode(decoder)
    return before, static(helper.batch_size), run(tf, found)


def decoder_of_ones_own(tf):
    class Counts(tf.contrib.seq2seq.Decoder):
        @property
        def batch_size(self):
            return 2

        @property
        def output_size(self):
            return tf.TensorShape([3])

        @property
        def output_dtype(self):
            return tf.int32

        def initialize(self, name=None):
            return tf.constant([False, False]), tf.zeros([2, 3], tf.int32), tf.constant([[1], [5]])

        def step(self, time, inputs, state, name=None):
            out = inputs + state
            return out, state + 1, out, time >= tf.constant([2, 1])

        def finalize(self, outputs, final_state, sequence_lengths):
            return outputs * 10, final_state

    decoder = Counts()
    return decoder.tracks_own_finished, run(tf, tf.contrib.seq2seq.dynamic_decode(decoder, impute_finished=True))


def decoder_that_tracks_its_ends(tf):
    class Blinks(tf.contrib.seq2seq.Decoder):
        batch_size, output_size, output_dtype, tracks_own_finished = 2, tf.TensorShape([]), tf.int32, True

        def initialize(self, name=None):
            return tf.constant([True, False]), tf.constant([0, 0]), tf.constant(0)

        def step(self, time, inputs, state, name=None):
            return inputs, state + 1, inputs + 1, tf.stack([tf.equal(time % 2, 0), time > 3])

    return run(tf, tf.contrib.seq2seq.dynamic_decode(Blinks(), maximum_iterations=10))


def refusals(tf):
    seq2seq = tf.contrib.seq2seq
    cell = tf.nn.rnn_cell.GRUCell(4)
    x = np.ones([2, 4, 3], np.float32)

    def decoder():
        return _decoder(tf, seq2seq.TrainingHelper(x, [4, 2]))

    return mistakes(
        tf,
        no_decoder=lambda: seq2seq.dynamic_decode(3),
        iterations=lambda: seq2seq.dynamic_decode(decoder(), maximum_iterations=[1, 2]),
        no_cell=lambda: seq2seq.BasicDecoder(3, seq2seq.TrainingHelper(x, [4, 2]), None),
        no_helper=lambda: seq2seq.BasicDecoder(cell, 3, None),
        no_layer=lambda: seq2seq.BasicDecoder(cell, seq2seq.TrainingHelper(x, [4, 2]), None, output_layer=3),
        lengths=lambda: seq2seq.TrainingHelper(x, [[4, 2]]),
        starts=lambda: seq2seq.GreedyEmbeddingHelper(tf.ones([5, 3]), [[0]], 1),
        end=lambda: seq2seq.GreedyEmbeddingHelper(tf.ones([5, 3]), [0], [1]),
        probability=lambda: seq2seq.ScheduledEmbeddingTrainingHelper(x, [4, 2], tf.ones([5, 3]), [[0.5]]),
        probability_of_outputs=lambda: seq2seq.ScheduledOutputTrainingHelper(x, [4, 2], [[0.5]]),
        abstract=lambda: seq2seq.Decoder(),
        abstract_helper=lambda: seq2seq.Helper(),
    )


def equal_seeds(tf):
    tf.set_random_seed(7)
    helper = tf.contrib.seq2seq.TrainingHelper(_inputs(tf), [4, 2])
    outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(_decoder(tf, helper, kind="LSTMCell"), maximum_iterations=3)
    after = tf.random_uniform([2])
    return run(tf, [outputs, after])
