"""Adaptive computation time: a recurrent net that decides how often it thinks about each input.

The net reads bits and says at each place whether the number of ones so far is odd. An inner loop repeats the
cell for an input until its halting scores add up to one, for every row of the batch by itself; the outer loop
reads the inputs. The cost of thinking is part of the loss, so gradients flow through both loops.
"""

import numpy as np

import millstream as tf

UNITS, LENGTH, BATCH, MOST = 24, 6, 64, 8

bits = tf.placeholder(tf.float32, [BATCH, LENGTH])
parity = tf.placeholder(tf.float32, [BATCH, LENGTH])
init = tf.random_uniform_initializer(-0.4, 0.4, seed=3)
w_in = tf.get_variable("w_in", [3, UNITS], initializer=init)
w = tf.get_variable("w", [UNITS, UNITS], initializer=init)
w_halt = tf.get_variable("w_halt", [UNITS, 1], initializer=init)
w_out = tf.get_variable("w_out", [UNITS, 1], initializer=init)


def think(x, state):
    """Repeats the cell for one input. Returns the mean of the states by their scores, and the thoughts."""

    def unsure(n, state, mean, left, thoughts):
        return tf.logical_and(n < MOST, tf.reduce_any(left > 0.0))

    def cell(n, state, mean, left, thoughts):
        first = tf.fill([BATCH, 1], tf.cast(tf.equal(n, 0), tf.float32))
        fed = tf.concat([x, first, tf.ones([BATCH, 1])], 1)
        new = tf.tanh(tf.matmul(fed, w_in) + tf.matmul(state, w))
        score = tf.sigmoid(tf.matmul(new, w_halt) + 1.0)
        # The last thought gets what is left.
        last = tf.logical_or(score >= left - 0.01, tf.fill([BATCH, 1], n >= MOST - 1))
        share = tf.where(last, left, score)
        return n + 1, new, mean + share * new, left - share, thoughts + tf.cast(left > 0.0, tf.float32)

    ones = tf.ones([BATCH, 1])
    _, _, mean, _, thoughts = tf.while_loop(unsure, cell, [0, state, tf.zeros_like(state), ones, tf.zeros_like(ones)])
    return mean, thoughts


def read(i, state, logits, thoughts):
    state, more = think(bits[:, i, None], state)
    return i + 1, state, logits.write(i, tf.matmul(state, w_out)[:, 0]), thoughts + more


start = [0, tf.zeros([BATCH, UNITS]), tf.TensorArray(tf.float32, LENGTH), tf.zeros([BATCH, 1])]
_, _, logits, thoughts = tf.while_loop(lambda i, *_: i < LENGTH, read, start)
logits = tf.transpose(logits.stack())

loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=parity, logits=logits))
thoughts = tf.reduce_mean(thoughts) / LENGTH
right = tf.reduce_mean(tf.cast(tf.equal(logits > 0.0, parity > 0.5), tf.float32))
train = tf.train.AdamOptimizer(0.01).minimize(loss + 0.001 * thoughts)

random = np.random.RandomState(1)


def examples():
    values = random.randint(0, 2, [BATCH, LENGTH])
    return {bits: values, parity: np.cumsum(values, 1) % 2}


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    step = sess.make_callable([train, loss, right, thoughts], [bits, parity])
    for i in range(601):
        values = examples()
        _, cost, share, n = step(values[bits], values[parity])
        if i % 200 == 0:
            print("step %d: loss %.2f, %.0f %% right, %.1f thoughts an input" % (i, cost, 100 * share, n))
