"""`tf.contrib.losses.metric_learning`: losses of embeddings, and their gradients."""

import numpy as np

from programs.tools import run


def _data():
    x = np.sin(np.arange(24, dtype=np.float32) * 1.7).reshape(6, 4)
    return x, np.array([0, 1, 0, 2, 1, 0], np.int32)


def _with_gradient(tf, loss, *at):
    return [loss] + [tf.convert_to_tensor(g) for g in tf.gradients(loss, list(at))]


def pairs(tf):
    losses = tf.contrib.losses.metric_learning
    x, _ = _data()
    a, b = tf.constant(x), tf.constant(x[::-1].copy())
    loss = losses.contrastive_loss([1, 0, 1, 0, 0, 1], a, b, margin=1.5)
    return loss.name, run(tf, _with_gradient(tf, loss, a, b))


def triplets(tf):
    losses = tf.contrib.losses.metric_learning
    x, y = _data()
    a = tf.constant(x)
    made = [losses.triplet_semihard_loss(y, a), losses.triplet_semihard_loss(tf.placeholder_with_default(y, [None]), a, margin=0.3)]
    return [loss.name for loss in made], [run(tf, _with_gradient(tf, loss, a)) for loss in made]


def lifted(tf):
    losses = tf.contrib.losses.metric_learning
    x, y = _data()
    a = tf.constant(x)
    loss = losses.lifted_struct_loss(y, a, margin=0.7)
    return loss.name, run(tf, _with_gradient(tf, loss, a))


def n_pairs(tf):
    losses = tf.contrib.losses.metric_learning
    x, y = _data()
    a, b = tf.constant(x), tf.constant(x[:, ::-1].copy())
    loss = losses.npairs_loss(y, a, b)
    other = losses.npairs_loss(y, a, b, reg_lambda=0.5)
    return run(tf, _with_gradient(tf, loss, a, b) + [other])
