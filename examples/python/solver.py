"""A solver inside a model: learns the constant of an equation from the equation's solutions.

Kepler's equation `E - e sin E = M` gives the place `E` of a planet at the time `M`, if the orbit's
eccentricity is `e`. No formula solves it, so Newton's method does, in a loop that runs until all places are
exact. Training goes through the solver: `e` is learned from places that were observed.
"""

import numpy as np

import millstream as tf

TRUE = 0.6


def solve(e, m):
    """Returns the places at the times `m`, and the number of steps that this took."""

    def inaccurate(step, place, change):
        return tf.reduce_max(tf.abs(change)) > 1e-12

    def newton(step, place, _):
        change = (place - e * tf.sin(place) - m) / (1.0 - e * tf.cos(place))
        return step + 1, place - change, change

    step, place, _ = tf.while_loop(inaccurate, newton, [0, m, tf.ones_like(m)])
    return place, step


times = np.linspace(0.3, 6.0, 20)
m = tf.placeholder(tf.float64, [None])
observed = tf.placeholder(tf.float64, [None])

e = tf.get_variable("e", [], tf.float64, tf.constant_initializer(0.1))
place, steps = solve(e, m)
loss = tf.reduce_mean(tf.square(place - observed))
train = tf.train.AdamOptimizer(0.05).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    e.load(TRUE, sess)
    feeds = {m: times, observed: sess.run(place, {m: times})}
    sess.run(e.initializer)
    print("eccentricity %.4f, loss %.1e, Newton steps %d" % tuple(sess.run([e, loss, steps], feeds)))
    for _ in range(200):
        sess.run(train, feeds)
    print("eccentricity %.4f, loss %.1e, Newton steps %d" % tuple(sess.run([e, loss, steps], feeds)))
