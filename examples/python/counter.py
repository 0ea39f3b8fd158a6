"""A counter whose body returns a tuple or a single tensor."""

import millstream as tf

i = tf.constant(0)
c = lambda i: tf.less(i, 10)
b = lambda i: (tf.add(i, 1), )
r = tf.while_loop(c, b, [i])

i = tf.constant(0)
c = lambda i: tf.less(i, 10)
b = lambda i: tf.add(i, 1)
s = tf.while_loop(c, b, [i])

with tf.Session() as sess:
    print(sess.run([r, s]))  # [10, 10]
