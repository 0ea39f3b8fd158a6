"""A loop variable that grows, with a shape invariant."""

import millstream as tf

i0 = tf.constant(0)
m0 = tf.ones([2, 2])
c = lambda i, m: i < 10
b = lambda i, m: [i+1, tf.concat([m, m], axis=0)]
result = tf.while_loop(
    c, b, loop_vars=[i0, m0],
    shape_invariants=[i0.get_shape(), tf.TensorShape([None, 2])])

with tf.Session() as sess:
    print(sess.run(result)[1].shape)  # (2048, 2)
