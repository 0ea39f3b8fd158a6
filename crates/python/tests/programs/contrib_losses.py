"""`tf.contrib.losses`: values, names, collections and mistakes."""

import numpy as np

from programs.tools import mistakes, run

P = np.array([[0.2, 0.7, 0.1], [0.5, 0.25, 0.25]], np.float32)
L = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], np.float32)


def values(tf):
    losses = tf.contrib.losses
    p, t = tf.constant(P), tf.constant(L)
    found = []
    for weights in (1.0, 0.0, [2.0, 0.0], [[1.0], [0.5]]):
        for function in (losses.absolute_difference, losses.mean_squared_error, losses.log_loss, losses.sigmoid_cross_entropy):
            found.append(function(p, t, weights=weights))
    for weights in (1.0, [2.0, 0.0]):
        found += [losses.softmax_cross_entropy(p, t, weights), losses.sparse_softmax_cross_entropy(p, tf.constant([1, 2]), weights)]
        found += [losses.mean_pairwise_squared_error(p, t, weights), losses.cosine_distance(p, t, 1, weights)]
    found += [losses.softmax_cross_entropy(p, t, label_smoothing=0.1), losses.sigmoid_cross_entropy(p, t, label_smoothing=0.2)]
    found += [losses.hinge_loss(p, t), losses.cosine_distance(p, t, dim=0), losses.sparse_softmax_cross_entropy(p, tf.constant([[1], [2]]))]
    return [f.name for f in found[:4]], len(tf.get_collection("losses")), run(tf, found)


def elements_weighted(tf):
    losses = tf.contrib.losses
    p, t, w = tf.constant(P), tf.constant(L), tf.constant([[1.0, 0.0, 2.0], [0.5, 0.5, 0.0]])
    found = [losses.mean_squared_error(p, t, w), losses.compute_weighted_loss(p, w), losses.compute_weighted_loss(tf.constant(P, tf.float64), 2)]
    return [f.dtype for f in found], run(tf, found)


def totals(tf):
    losses = tf.contrib.losses
    losses.add_loss(tf.constant(1.5, name="a"))
    losses.add_loss(tf.constant(2.0, name="b"), "mine")
    tf.add_to_collection("regularization_losses", tf.constant(0.25, name="r"))
    total, plain = losses.get_total_loss(), losses.get_total_loss(False, "plain")
    found = losses.get_losses(), losses.get_losses("b"), losses.get_losses(loss_collection="mine"), losses.get_regularization_losses()
    return [[t.name for t in kind] for kind in found], total.name, plain.name, run(tf, [total, plain])


def mistaken(tf):
    losses = tf.contrib.losses
    p = tf.placeholder(tf.float32)
    return mistakes(
        tf,
        shapes=lambda: losses.mean_squared_error(tf.constant(P), tf.constant([1.0])),
        rank=lambda: losses.compute_weighted_loss(tf.placeholder(tf.float32)),
        weights=lambda: losses.compute_weighted_loss(tf.constant(P), tf.placeholder(tf.float32)),
        axis=lambda: losses.cosine_distance(tf.constant(P), tf.constant(L)),
        pairs=lambda: losses.mean_pairwise_squared_error(tf.placeholder(tf.float32), tf.placeholder(tf.float32)),
    ), p.dtype
