"""`tf.losses`: values, weights, reductions, collections, errors."""

from programs.tools import caught, run

LABELS = [[1.0, 2.0], [3.0, 4.0]]
PREDICTIONS = [[1.5, 2.0], [2.0, 6.0]]


def reductions(tf):
    out = []
    for reduction in tf.losses.Reduction.all():
        for weights in (1.0, [[1.0], [0.0]], [[1.0, 2.0], [0.0, 1.0]]):
            out.append(tf.losses.mean_squared_error(LABELS, PREDICTIONS, weights=weights, reduction=reduction))
    return [t.name for t in tf.losses.get_losses()], run(tf, out)


def of_every_kind(tf):
    l = tf.losses
    made = [
        l.absolute_difference(LABELS, PREDICTIONS),
        l.cosine_distance([[0.6, 0.8]], [[0.8, 0.6]], axis=1),
        l.hinge_loss([1.0, 0.0], [0.5, 0.5]),
        l.huber_loss(LABELS, PREDICTIONS, delta=0.7),
        l.log_loss([1.0, 0.0], [0.8, 0.3]),
        l.mean_pairwise_squared_error(LABELS, PREDICTIONS),
        l.mean_pairwise_squared_error(LABELS, PREDICTIONS, weights=[[1.0], [0.0]]),
        l.sigmoid_cross_entropy([[1, 0]], [[0.5, -0.5]]),
        l.sigmoid_cross_entropy([[1, 0]], [[0.5, -0.5]], label_smoothing=0.1),
        l.softmax_cross_entropy([[1, 0]], [[0.5, -0.5]], label_smoothing=0.1),
        l.softmax_cross_entropy([[1, 0], [0, 1]], [[0.5, -0.5], [1.0, 3.0]], weights=[1.0, 0.5]),
        l.sparse_softmax_cross_entropy([1, 0], [[0.5, -0.5], [1.0, 2.0]], weights=[1.0, 2.0]),
        l.sparse_softmax_cross_entropy([[1], [0]], [[0.5, -0.5], [1.0, 2.0]], weights=[[1.0], [2.0]]),
        l.compute_weighted_loss([1, 2], 2),
        l.mean_squared_error(LABELS, PREDICTIONS, scope="mine"),
    ]
    return len(l.get_losses()), made[-1].name, run(tf, made)


def totals(tf):
    l = tf.losses
    l.mean_squared_error(LABELS, PREDICTIONS)
    l.absolute_difference(LABELS, PREDICTIONS, loss_collection=None)
    l.add_loss(tf.constant(3.0))
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(2.0))
    return run(tf, [l.get_total_loss(), l.get_total_loss(add_regularization_losses=False), l.get_regularization_loss()]), len(l.get_regularization_losses())


def refused(tf):
    l = tf.losses
    return (
        caught(lambda: l.mean_squared_error(LABELS, PREDICTIONS, reduction="x"), "Invalid Reduction Key x."),
        caught(lambda: l.cosine_distance(LABELS, PREDICTIONS), "You must specify 'axis'."),
        caught(lambda: l.get_total_loss(), "inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape"),
        caught(lambda: l.mean_squared_error(LABELS, [1.0]), "Shapes (1,) and (2, 2) are incompatible"),
        caught(lambda: l.mean_squared_error(LABELS, PREDICTIONS, weights=[1.0, 2.0]), "weights can not be broadcast to values. values.rank=2. weights.rank=1. values.shape=(2, 2). weights.shape=(2,)."),
        caught(lambda: l.mean_squared_error(None, PREDICTIONS), "labels must not be None."),
        caught(lambda: l.log_loss(LABELS, None), "predictions must not be None."),
        caught(lambda: l.softmax_cross_entropy(None, PREDICTIONS), "onehot_labels must not be None."),
    )


def trained_with(tf):
    w = tf.Variable([[0.5, -0.5], [0.1, 0.2]])
    logits = tf.matmul([[1.0, 2.0], [3.0, -1.0]], w)
    loss = tf.losses.sparse_softmax_cross_entropy([0, 1], logits)
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        out = []
        for _ in range(3):
            sess.run(step)
            out.append(sess.run(loss))
        return out, sess.run(w)
