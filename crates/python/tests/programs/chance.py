"""Random ops: with seeds, the same numbers as TensorFlow; without, different numbers in each run."""

import numpy as np

from programs.tools import caught, initialize, nodes, run, static


def seeded(tf):
    tf.set_random_seed(42)
    ops = [
        tf.random_uniform([3], seed=1),
        tf.random_normal([3], seed=2),
        tf.truncated_normal([3], seed=3),
        tf.random_uniform([3], 0, 10, tf.int32, seed=4),
        tf.random_shuffle(tf.range(5), seed=5),
        tf.multinomial([[1.0, 2.0, 3.0]], 4, seed=6),
    ]
    with tf.Session() as sess:
        return sess.run(ops), sess.run(ops)


def by_the_graphs_seed(tf):
    tf.set_random_seed(42)
    a, b = tf.random_uniform([2]), tf.random_uniform([2])
    return run(tf, [a, b])


def by_the_ops_seed(tf):
    return run(tf, tf.random_normal([2], mean=5.0, stddev=2.0, seed=9))


def again_in_a_new_session(tf):
    x = tf.random_uniform([2], seed=1)
    return np.array_equal(run(tf, x), run(tf, x))


def unseeded(tf):
    x = tf.random_uniform([4])
    return np.array_equal(run(tf, x), run(tf, x))


def in_a_loop(tf):
    r = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.random_uniform([], seed=1)), [0, 0.0])
    return run(tf, r)


def shapes_and_dtypes(tf):
    n = tf.placeholder(tf.int32, [2])
    return static(tf.random_uniform([2, 3]), tf.random_normal(n), tf.random_uniform([2], maxval=5, dtype=tf.int64), tf.random_normal([1], dtype=tf.float64))


def dropout(tf):
    x = tf.ones([1000])
    y = run(tf, tf.nn.dropout(x, keep_prob=0.5, seed=1))
    return sorted(set(y.tolist())), 400 < int((y > 0).sum()) < 600


def integers_need_a_limit(tf):
    return caught(lambda: tf.random_uniform([2], dtype=tf.int32), "Must specify maxval for integer dtype")


def random_namespace(tf):
    tf.random.set_random_seed(1)
    return run(tf, [tf.random.uniform([2], seed=1), tf.random.normal([2], seed=1), tf.random.stateless_uniform([2], seed=[1, 2])])


def node_names(tf):
    tf.random_normal([2], 1.0, 2.0)
    tf.random_uniform([2], -1.0, 1.0)
    return nodes(tf)
