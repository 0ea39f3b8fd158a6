"""A loop variable that the body passes through unchanged."""

import millstream as tf

i = tf.get_variable("i", dtype=tf.int32, shape=[], initializer=tf.ones_initializer())
n = tf.constant(10)

def cond(a, n):
    return  a< n
def body(a, n):
    a = a + 2
    return a, n

ii, nn = tf.while_loop(cond, body, [i, n])
v1=ii+3
v2=nn+4

with tf.Session() as sess:
    tf.global_variables_initializer().run()
    res = sess.run([v1, v2])
    print(res)
