"""A nested structure with a named tuple as loop variables."""

import collections

import millstream as tf

Pair = collections.namedtuple('Pair', 'j, k')
ijk_0 = (tf.constant(0), Pair(tf.constant(1), tf.constant(2)))
c = lambda i, p: i < 10
b = lambda i, p: (i + 1, Pair((p.j + p.k), (p.j - p.k)))
ijk_final = tf.while_loop(c, b, ijk_0)

with tf.Session() as sess:
    print(sess.run(ijk_final))  # (10, Pair(j=32, k=64))
