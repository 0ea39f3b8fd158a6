"""`tf.contrib.seq2seq.sequence_loss`: averages and sums over steps and sequences."""

import itertools

import numpy as np

from programs.tools import mistakes, nodes, run


def _values(tf):
    logits = tf.constant(np.arange(24.0).reshape(2, 3, 4) % 5, tf.float32)
    return logits, tf.constant([[0, 1, 2], [3, 2, 1]]), tf.constant([[1.0, 1.0, 0.5], [1.0, 0.0, 0.0]])


def all_options(tf):
    found = []
    for steps, batch, sum_steps, sum_batch in itertools.product([True, False], repeat=4):
        if (steps and sum_steps) or (batch and sum_batch):
            continue
        found.append(tf.contrib.seq2seq.sequence_loss(*_values(tf), average_across_timesteps=steps, average_across_batch=batch,
                                                      sum_over_timesteps=sum_steps, sum_over_batch=sum_batch))
    return [str(x.shape) for x in found], run(tf, found)


def no_weights_at_all(tf):
    logits, targets, weights = _values(tf)
    return run(tf, [tf.contrib.seq2seq.sequence_loss(logits, targets, weights * 0.0), tf.constant(1)])


def another_loss(tf):
    def loss(labels, logits):
        return tf.cast(labels, tf.float32) + tf.reduce_sum(logits, 1)

    return run(tf, tf.contrib.seq2seq.sequence_loss(*_values(tf), softmax_loss_function=loss, name="mine"))


def gradient(tf):
    logits, targets, weights = _values(tf)
    return run(tf, tf.gradients(tf.contrib.seq2seq.sequence_loss(logits, targets, weights), logits))


def refusals(tf):
    loss = tf.contrib.seq2seq.sequence_loss
    logits, targets, weights = np.ones([2, 3, 4], np.float32), np.ones([2, 3], np.int32), np.ones([2, 3], np.float32)
    return mistakes(
        tf,
        logits=lambda: loss(tf.ones([2, 3]), tf.constant(targets), tf.constant(weights)),
        targets=lambda: loss(tf.constant(logits), tf.constant(logits), tf.constant(weights)),
        weights=lambda: loss(tf.constant(logits), tf.constant(targets), tf.constant(logits)),
        both_over_time=lambda: loss(tf.constant(logits), tf.constant(targets), tf.constant(weights), sum_over_timesteps=True),
        both_over_batch=lambda: loss(tf.constant(logits), tf.constant(targets), tf.constant(weights), sum_over_batch=True),
    )
