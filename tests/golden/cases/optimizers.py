"""Training steps of the optimizers, on both kinds of variables, dense and sparse."""
import numpy as np
import tensorflow.compat.v1 as tf

from golden import case

OPTIMIZERS = [
    ('gradient_descent', lambda: tf.train.GradientDescentOptimizer(0.1)),
    ('momentum', lambda: tf.train.MomentumOptimizer(0.1, 0.9)),
    ('nesterov', lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True)),
    ('adagrad', lambda: tf.train.AdagradOptimizer(0.5)),
    ('rmsprop', lambda: tf.train.RMSPropOptimizer(0.05, momentum=0.5)),
    ('rmsprop_centered', lambda: tf.train.RMSPropOptimizer(0.05, momentum=0.5, centered=True)),
    ('adam', lambda: tf.train.AdamOptimizer(0.1)),
]


def steps(name, make, kind, resource):
    """Four steps of a small regression with one optimizer."""
    @case('train_%s_%s' % (name, kind), 'training', 'Four %s steps on a small regression (%s variables).' % (name, kind))
    def build(c):
        x = c.feed('x', np.array([[1, 2], [-1, 0.5], [0.3, -2]], np.float32))
        y = c.feed('y', np.array([[1], [0], [-1]], np.float32))
        w = tf.Variable([[0.5], [-0.5]], name='w', use_resource=resource)
        b = tf.Variable(0.25, name='b', use_resource=resource)
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        train = make().minimize(loss)
        c.init()
        c.target(train, train, train, train)
        c.fetch(loss, w.read_value(), b.read_value())


def sparse_steps(name, make, kind, resource):
    """Three steps whose gradient is IndexedSlices with a repeated index."""
    @case('train_sparse_%s_%s' % (name, kind), 'training',
          'Three %s steps with a gathered variable: the sparse apply op (%s variables).' % (name, kind))
    def build(c):
        i = c.feed('i', np.array([2, 0, 2], np.int32))
        w = tf.Variable([[0.5, 1], [-0.5, 2], [1, 1], [3, 3]], name='w', use_resource=resource)
        loss = tf.reduce_sum(tf.square(tf.gather(w, i) - 0.25))
        train = make().minimize(loss)
        c.init()
        c.target(train, train, train)
        c.fetch(loss, w.read_value())


for _name, _make in OPTIMIZERS:
    for _kind, _resource in (('ref', False), ('resource', True)):
        steps(_name, _make, _kind, _resource)
for _name, _make in OPTIMIZERS[:2]:
    for _kind, _resource in (('ref', False), ('resource', True)):
        sparse_steps(_name, _make, _kind, _resource)


@case('train_in_loop', 'training', 'Gradient descent written as a loop over the weights, with the gradient taken by hand.')
def train_in_loop(c):
    x = c.feed('x', np.array([[1, 2], [-1, 0.5], [0.3, -2]], np.float32))
    y = c.feed('y', np.array([[1], [0], [-1]], np.float32))

    def body(k, w):
        return k + 1, w - 0.1 * tf.matmul(x, tf.matmul(x, w) - y, transpose_a=True)
    c.fetch(tf.while_loop(lambda k, w: k < 30, body, [0, tf.zeros([2, 1])]), rtol=1e-4, atol=1e-5)


@case('train_apply_in_loop', 'training', 'ResourceApplyGradientDescent in a loop body, one iteration at a time.')
def train_apply_in_loop(c):
    w = tf.Variable([4.0, -2.0], name='w', use_resource=True)

    def body(k):
        with tf.control_dependencies([tf.raw_ops.ResourceApplyGradientDescent(var=w.handle, alpha=0.25, delta=w.read_value())]):
            return k + 1
    k = tf.while_loop(lambda k: k < 5, body, [0], parallel_iterations=1)
    with tf.control_dependencies([k]):
        after = w.read_value()
    c.init()
    c.fetch(after, exact=True)
