"""Candidate samplers and losses over sampled classes: the same draws, in each run, as TensorFlow's ops."""

import os
import tempfile

import numpy as np

from programs.tools import caught, initialize, run

TRUE = [[1, 2], [3, 9]]


def _twice(tf, *fetches):
    with tf.Session() as sess:
        return [[tuple(part) if hasattr(part, "_fields") else part for part in sess.run(list(fetches))] for _ in range(3)]


def uniform(tf):
    true = tf.constant(TRUE, tf.int64)
    some = tf.nn.uniform_candidate_sampler(true, 2, 8, False, 1000, seed=5)
    unique = tf.nn.uniform_candidate_sampler(true, 2, 6, True, 40, seed=6)
    all_of_them = tf.nn.uniform_candidate_sampler(true, 2, 10, True, 10, seed=7)
    one = tf.nn.uniform_candidate_sampler(true, 2, 1, True, 2**31 - 1, seed=8)
    return _twice(tf, some, unique, all_of_them, one), [t.shape for t in unique], type(some).__name__, some._fields


def log_uniform(tf):
    tf.set_random_seed(12)
    true = tf.constant(TRUE, tf.int64)
    some = tf.nn.log_uniform_candidate_sampler(true, 2, 8, False, 50000, seed=5)
    unique = tf.nn.log_uniform_candidate_sampler(true, 2, 16, True, 1000)
    all_of_them = tf.nn.log_uniform_candidate_sampler(true, 2, 30, True, 30, seed=7)
    after = tf.random_uniform([2])
    return _twice(tf, some, unique, all_of_them, after)


def fixed_unigram(tf):
    true = tf.constant(TRUE, tf.int64)
    counts = [1.0, 5.0, 2.0, 0.5, 9.0, 3.0, 3.0, 0.1, 7.0, 2.0]
    some = tf.nn.fixed_unigram_candidate_sampler(true, 2, 12, False, 10, unigrams=counts, seed=5)
    unique = tf.nn.fixed_unigram_candidate_sampler(true, 2, 7, True, 10, unigrams=counts, distortion=0.75, seed=6)
    reserved = tf.nn.fixed_unigram_candidate_sampler(true, 2, 4, True, 10, unigrams=counts[2:], num_reserved_ids=2, seed=7)
    path = os.path.join(tempfile.mkdtemp(), "vocabulary.csv")
    with open(path, "w") as out:
        out.write("".join("word%d,%g\n" % (i, c) for i, c in enumerate(counts)))
    read = tf.nn.fixed_unigram_candidate_sampler(true, 2, 5, False, 10, vocab_file=path, seed=8)
    return _twice(tf, some, unique, reserved, read)


def learned_unigram(tf):
    """Each run draws in proportion to the true classes of the runs before."""
    true = tf.constant([[3], [3], [1]], tf.int64)
    some = tf.nn.learned_unigram_candidate_sampler(true, 1, 8, False, 5, seed=5)
    unique = tf.nn.learned_unigram_candidate_sampler(true, 1, 4, True, 7, seed=6)
    other = tf.raw_ops.ThreadUnsafeUnigramCandidateSampler(
        true_classes=true, num_true=1, num_sampled=3, unique=False, range_max=40, seed=1, seed2=2
    )
    return _twice(tf, some, unique, tuple(other)), [t.shape for t in unique], type(some).__name__, some._fields


def everything(tf):
    true = tf.constant(TRUE, tf.int64)
    return _twice(tf, tf.nn.all_candidate_sampler(true, 2, 5, True))


def accidental_hits(tf):
    true = tf.constant([[1, 2], [3, 1], [7, 7]], tf.int64)
    some = tf.nn.compute_accidental_hits(true, tf.constant([5, 1, 3, 2], tf.int64), 2)
    none = tf.nn.compute_accidental_hits(true, tf.constant([50], tf.int64), 2)
    return _twice(tf, *some) + _twice(tf, *none), [t.shape for t in some]


def _model(tf, classes=20, width=3):
    tf.set_random_seed(1)
    table = np.sin(np.arange(classes * width)).reshape(classes, width).astype(np.float32)
    weights = tf.get_variable("w", initializer=table)
    biases = tf.get_variable("b", initializer=np.cos(np.arange(classes)).astype(np.float32))
    inputs = tf.constant([[1.0, 0.5, -1.0], [0.25, 2.0, 0.75]])
    return weights, biases, inputs


def _steps(tf, loss, steps=3):
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(loss))
    with tf.Session() as sess:
        initialize(tf, sess)
        values = [sess.run([loss, train])[0] for _ in range(steps)]
        return values, [sess.run(v) for v in tf.trainable_variables()]


def softmax(tf):
    weights, biases, inputs = _model(tf)
    labels = tf.constant([[3], [7]], tf.int64)
    return _steps(tf, tf.nn.sampled_softmax_loss(weights, biases, labels, inputs, 8, 20))


def softmax_of_several(tf):
    weights, biases, inputs = _model(tf)
    labels = tf.constant([[3, 1], [7, 2]])
    loss = tf.nn.sampled_softmax_loss(weights, biases, labels, inputs, 6, 20, num_true=2, remove_accidental_hits=False, seed=4, name="loss")
    return _steps(tf, loss)


def softmax_partitioned(tf):
    _, biases, inputs = _model(tf)
    parts = [tf.get_variable("p%d" % i, initializer=np.full([10, 3], 0.1 * (i + 1), np.float32)) for i in range(2)]
    loss = tf.nn.sampled_softmax_loss(parts, biases, tf.constant([[3], [7]]), inputs, 5, 20, partition_strategy="div", seed=4)
    return _steps(tf, loss)


def noise_contrastive(tf):
    weights, biases, inputs = _model(tf)
    labels = tf.placeholder_with_default(np.array([[3], [7]], np.int64), [None, 1])
    return _steps(tf, tf.nn.nce_loss(weights=weights, biases=biases, labels=labels, inputs=inputs, num_sampled=8, num_classes=20))


def noise_contrastive_given(tf):
    weights, biases, inputs = _model(tf)
    labels = tf.constant([[3], [7]], tf.int64)
    drawn = tf.nn.uniform_candidate_sampler(labels, 1, 9, True, 20, seed=3)
    loss = tf.nn.nce_loss(weights, biases, labels, inputs, 9, 20, sampled_values=drawn, remove_accidental_hits=True, name="n")
    return _steps(tf, loss)


def wrong(tf):
    true = tf.constant([[1, 2]], tf.int64)
    return (
        caught(lambda: tf.nn.log_uniform_candidate_sampler([1, 2], 2, 3, True, 10), "Shape must be rank 2 but is rank 1"),
        caught(lambda: run(tf, tf.nn.uniform_candidate_sampler(true, 1, 3, True, 10)[0]), "true_classes must have num_true columns, expected: 2 was: 1")[-1:],
        caught(lambda: run(tf, tf.nn.uniform_candidate_sampler(true, 2, 11, True, 10)[0]))[:0],
    )
