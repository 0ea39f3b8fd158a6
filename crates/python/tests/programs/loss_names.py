"""Names of the results of losses, by which programs fetch them, and how many nodes gradients count as."""

import numpy as np

from programs.tools import initialize, late, run, static

LOGITS = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]], np.float32)
LABELS = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]], np.float32)
_LOSSES = "softmax_cross_entropy sigmoid_cross_entropy mean_squared_error absolute_difference hinge_loss huber_loss log_loss"


def _of_both(tf):
    return tf.constant(LABELS), tf.constant(LOGITS)


def names_of_losses(tf):
    labels, logits = _of_both(tf)
    found = []
    for name in _LOSSES.split():
        loss = getattr(tf.losses, name)
        found += [loss(labels, logits).name, loss(labels, logits, reduction="none", loss_collection=None).name, loss(labels, logits, scope="mine").name]
        found.append(loss(labels, logits, weights=0.5, reduction=tf.losses.Reduction.MEAN).name)
    found.append(tf.losses.cosine_distance(labels, logits, axis=1).name)
    found.append(tf.losses.mean_pairwise_squared_error(labels, logits).name)
    found.append(tf.losses.sparse_softmax_cross_entropy(tf.constant([1, 2]), logits).name)
    return found + [tf.losses.compute_weighted_loss(tf.reduce_sum(logits)).name, tf.losses.get_total_loss().name]


def names_of_cross_entropies(tf):
    labels, logits = _of_both(tf)
    nn = tf.nn
    return [
        nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits).name,
        nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="a").name,
        nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits).name,
        nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="b").name,
        nn.softmax_cross_entropy_with_logits_v2(labels=tf.stack([labels] * 2), logits=tf.stack([logits] * 2), name="c").name,
        nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, axis=0, name="d").name,
        nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits).name,
        nn.weighted_cross_entropy_with_logits(labels, logits, 2.0).name,
        nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2], logits=logits).name,
    ]


def cross_entropies_found_by_name(tf):
    labels, logits = _of_both(tf)
    tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="loss")
    graph = tf.get_default_graph()
    return run(tf, ["loss/Reshape_2:0", graph.get_tensor_by_name("loss:0")])


def cross_entropies_of_any_rank(tf):
    ranks = [(LABELS[0], LOGITS[0]), (LABELS, LOGITS), (np.stack([LABELS] * 2), np.stack([LOGITS] * 2))]
    found = [tf.nn.softmax_cross_entropy_with_logits_v2(labels=late(tf, a), logits=late(tf, b)) for a, b in ranks]
    some = tf.placeholder(tf.float32, [None, 3])
    known = [tf.nn.softmax_cross_entropy_with_logits_v2(labels=a, logits=b) for a, b in [*ranks, (some, some)]]
    return run(tf, found), run(tf, known[:3]), static(*found), static(*known)


def _draws(tf, of_labels, rank):
    labels, logits = _of_both(tf)
    w = tf.get_variable("w", initializer=tf.constant(0.5))
    labels, logits = (labels * w if of_labels else labels), logits * w
    if rank == 3:
        labels, logits = tf.stack([labels] * 2), tf.stack([logits] * 2)
    return tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits), w


def seeds_after_gradients(tf):
    """Operations are seeded by the number of nodes before them, so this counts the nodes of gradients."""
    found = []
    for of_labels in (False, True):
        for rank in (2, 3):
            with tf.Graph().as_default():
                tf.set_random_seed(5)
                loss, w = _draws(tf, of_labels, rank)
                before = tf.random_uniform([])
                step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
                after = tf.random_uniform([])
                with tf.Session() as sess:
                    initialize(tf, sess)
                    found.append(sess.run([before, after]))
                    sess.run(step)
                    found.append(sess.run(w))
    return found
