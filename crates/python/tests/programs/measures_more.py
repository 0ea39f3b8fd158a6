"""`tf.metrics` at thresholds, by class and at k; `tf.sets`: values over several updates, and names."""

import numpy as np

from programs.tools import caught, initialize, mistakes, static

LABELS = np.array([1, 0, 1, 1, 0, 0, 1, 0], np.int64)
SCORES = np.array([0.9, 0.8, 0.35, 0.6, 0.1, 0.4, 0.55, 0.55], np.float32)
WEIGHTS = np.array([1, 2, 0, 1, 0.5, 1, 1, 3], np.float32)
CLASSES = np.array([[0, 1, 2, 2], [1, 1, 3, 0]])
GUESSES = np.array([[0, 2, 2, 2], [1, 0, 3, 0]])
RANKED = np.array([[0.1, 0.5, 0.3, 0.1], [0.4, 0.1, 0.2, 0.3], [0.2, 0.2, 0.35, 0.25]], np.float32)


def _streams(tf, pairs, feeds=({}, {}), names=True):
    """Returns names, and the values and updates of pairs over several runs."""
    found = []
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(tf.local_variables_initializer())
        found.append(sess.run([value for value, _ in pairs]))
        for feed in feeds:
            updates = [sess.run(update, feed) for _, update in pairs]
            found.append((updates, sess.run([value for value, _ in pairs])))
    variables = [v.name for v in tf.local_variables()] if names else None
    return found, variables, [v.name for v in tf.get_collection("metric_variables")] == [v.name for v in tf.local_variables()]


def _fed(tf):
    labels, scores = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [None])
    halves = [{labels: LABELS[:5], scores: SCORES[:5]}, {labels: LABELS[5:], scores: SCORES[5:]}]
    return labels, scores, halves


def areas(tf):
    labels, scores, feeds = _fed(tf)
    auc = tf.metrics.auc
    pairs = [
        auc(labels, scores),
        auc(labels, scores, curve="PR", name="pr", summation_method="careful_interpolation"),
        auc(labels, scores, curve="PR"),
        auc(labels, scores, num_thresholds=5, summation_method="minoring"),
        auc(labels, scores, num_thresholds=5, summation_method="majoring"),
        auc(labels, scores, thresholds=[0.7, 0.3, 0.5]),
        auc(labels, scores, curve="PR", thresholds=[0.5], summation_method="majoring"),
    ]
    return [v.op.name for v, _ in pairs], [u.op.name for _, u in pairs], _streams(tf, pairs, feeds)


def areas_weighted(tf):
    auc = tf.metrics.auc
    pairs = [
        auc(LABELS, SCORES, WEIGHTS, metrics_collections=["m"], updates_collections=["u"]),
        auc(LABELS.reshape(2, 4), SCORES.reshape(2, 4), [[1.0], [2.0]]),
        auc(LABELS[:, None], SCORES, 2.0),
    ]
    return [len(tf.get_collection(key)) for key in "mu"], _streams(tf, pairs)


def areas_wrong(tf):
    auc = tf.metrics.auc

    def run(pair):
        with tf.Session() as sess:
            sess.run(tf.local_variables_initializer())
            sess.run(pair[1])

    return (
        mistakes(
            tf,
            curve=lambda: list(auc(LABELS, SCORES, curve="R")),
            method=lambda: list(auc(LABELS, SCORES, summation_method="some")),
            sensitivity=lambda: list(tf.metrics.sensitivity_at_specificity(LABELS, SCORES, 1.5)),
            specificity=lambda: list(tf.metrics.specificity_at_sensitivity(LABELS, SCORES, -0.5)),
            k=lambda: list(tf.metrics.average_precision_at_k(LABELS, SCORES, 0)),
        ),
        caught(lambda: run(auc(LABELS, SCORES * 2)), "predictions must be in [0, 1]"),
    )


def rates(tf):
    labels, scores, feeds = _fed(tf)
    metrics = tf.metrics
    levels = [0.0, 0.35, 0.5, 0.95]
    pairs = [
        metrics.true_positives_at_thresholds(labels, scores, levels),
        metrics.true_negatives_at_thresholds(labels, scores, levels),
        metrics.false_positives_at_thresholds(labels, scores, levels),
        metrics.false_negatives_at_thresholds(labels, scores, levels),
        metrics.precision_at_thresholds(labels, scores, levels),
        metrics.recall_at_thresholds(labels, scores, levels, name="mine"),
        metrics.sensitivity_at_specificity(labels, scores, 0.7),
        metrics.specificity_at_sensitivity(labels, scores, 0.7),
        metrics.sensitivity_at_specificity(labels, scores, 1.0, num_thresholds=7),
        metrics.specificity_at_sensitivity(labels, scores, 1.0, num_thresholds=7),
    ]
    return [static(v) for v, _ in pairs], _streams(tf, pairs, feeds)


def rates_weighted(tf):
    metrics = tf.metrics
    levels = [0.3, 0.6]
    pairs = [
        function(LABELS, SCORES, levels, WEIGHTS, ["m"], "u")
        for function in (
            metrics.true_positives_at_thresholds,
            metrics.true_negatives_at_thresholds,
            metrics.false_positives_at_thresholds,
            metrics.false_negatives_at_thresholds,
            metrics.precision_at_thresholds,
            metrics.recall_at_thresholds,
        )
    ]
    pairs += [metrics.sensitivity_at_specificity(LABELS, SCORES, 0.5, WEIGHTS), metrics.specificity_at_sensitivity(LABELS, SCORES, 0.5, WEIGHTS)]
    return [len(tf.get_collection(key)) for key in "mu"], _streams(tf, pairs)


def by_class(tf):
    labels, guesses = tf.constant(CLASSES), tf.constant(GUESSES, tf.int32)
    weights = tf.constant([[1.0, 2.0, 0.0, 1.0], [0.5, 1.0, 1.0, 1.0]])
    metrics = tf.metrics
    pairs = [
        metrics.mean_iou(labels, guesses, 4),
        metrics.mean_iou(labels, guesses, 6, weights, ["m"], ["u"], "mine"),
        metrics.mean_per_class_accuracy(labels, guesses, 4),
        metrics.mean_per_class_accuracy(labels, tf.constant(GUESSES), 5, weights),
    ]
    return [v.op.name for v, _ in pairs][2:], [len(tf.get_collection(key)) for key in "mu"], _streams(tf, pairs)


def at_k(tf):
    labels = tf.constant([[1, 3], [2, 0], [2, 2]], tf.int64)
    sparse = tf.SparseTensor([[0, 0], [1, 0], [1, 1], [2, 0]], tf.constant([1, 2, 0, 9], tf.int64), [3, 2])
    metrics = tf.metrics
    scores = tf.constant(RANKED)
    pairs = []
    for given in (labels, sparse):
        pairs += [
            metrics.precision_at_k(given, scores, 2),
            metrics.recall_at_k(given, scores, 2),
            metrics.precision_at_k(given, scores, 3, class_id=2),
            metrics.recall_at_k(given, scores, 1, class_id=1, weights=[1.0, 0.5, 2.0]),
            metrics.average_precision_at_k(given, scores, 3),
            metrics.average_precision_at_k(given, scores, 2, weights=tf.constant([1.0, 0.5, 2.0])),
            metrics.sparse_precision_at_k(given, scores, 1),
            metrics.sparse_average_precision_at_k(given, scores, 1),
        ]
    return [v.op.name for v, _ in pairs], _streams(tf, pairs)


def at_top_k(tf):
    labels = tf.constant([[1, 3], [2, 0], [2, 2]], tf.int64)
    best = tf.constant([[1, 2], [0, 3], [2, 3]])
    metrics = tf.metrics
    pairs = [
        metrics.precision_at_top_k(labels, best, metrics_collections=["m"], updates_collections=["u"]),
        metrics.recall_at_top_k(labels, best, 2, name="mine"),
        metrics.precision_at_top_k(tf.constant([1, 2, 3], tf.int64), best, 2),
        metrics.recall_at_top_k(tf.constant([1, 2, 3], tf.int64), best, class_id=3, weights=0.5),
    ]
    wrong = caught(lambda: metrics.recall_at_top_k(tf.constant(1, tf.int64), best), "Unexpected labels shape () for predictions shape (3, 2).")
    return [len(tf.get_collection(key)) for key in "mu"], _streams(tf, pairs), wrong


def at_k_of_three_dimensions(tf):
    rng = np.random.RandomState(0)
    labels = tf.constant(rng.randint(0, 5, [2, 3, 2]), tf.int64)
    scores = tf.constant(rng.rand(2, 3, 5), tf.float32)
    metrics = tf.metrics
    weights = tf.constant(rng.rand(2, 3), tf.float32)
    pairs = [metrics.precision_at_k(labels, scores, 2, weights=weights), metrics.recall_at_k(labels, scores, 3, class_id=4)]
    pairs += [metrics.average_precision_at_k(labels, scores, 4, weights)]
    return _streams(tf, pairs)


def _sets(tf, found):
    with tf.Session() as sess:
        return [(list(f.indices.tolist()), f.values, f.dense_shape) if hasattr(f, "indices") else f for f in sess.run(found)]


def sets_of_tensors(tf):
    a = tf.constant([[[1, 2, 2, 9], [5, 5, 5, 5]], [[0, 3, 1, 7], [4, 4, 2, 1]]])
    b = tf.constant([[[2, 2, 3], [6, 7, 8]], [[1, 0, 7], [1, 1, 1]]])
    sets = tf.sets
    found = [sets.intersection(a, b), sets.difference(a, b), sets.difference(a, b, aminusb=False), sets.union(a, b)]
    return [static(f.indices, f.values) for f in found], _sets(tf, found)


def sets_of_sparse_tensors(tf):
    a = tf.SparseTensor([[0, 0], [0, 2], [2, 1], [2, 3]], tf.constant([5, -3, 7, 7], tf.int64), [4, 4])
    b = tf.SparseTensor([[0, 1], [1, 0], [2, 0]], tf.constant([-3, 1, 8], tf.int64), [4, 2])
    dense = tf.constant([[5, 1], [1, 2], [7, 9], [3, 3]], tf.int64)
    none = tf.SparseTensor(np.zeros([0, 2]), tf.constant([], tf.int64), [4, 2])
    sets = tf.sets
    found = [sets.set_size(a), sets.size(b), sets.set_size(none)]
    for x, y in ((a, b), (dense, a), (a, dense), (a, none), (none, none)):
        found += [sets.set_intersection(x, y), sets.set_union(x, y)]
        found += [sets.set_difference(x, y), sets.set_difference(x, y, False)]
    return _sets(tf, found)


def sets_of_other_integers(tf):
    found = []
    for dtype in (tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16):
        found.append(tf.sets.union(tf.constant([[3, 1]], dtype), tf.constant([[2, 3]], dtype)))
    return [f.dtype for f in found], _sets(tf, found)


def sets_wrong(tf):
    sets = tf.sets
    return mistakes(
        tf,
        dense=lambda: sets.size([[1, 2]]),
        dtype=lambda: sets.size(tf.SparseTensor([[0]], [1.5], [1])),
        floats=lambda: sets.union([[1.5]], [[1.5]]),
        types=lambda: sets.union(tf.constant([[1]]), tf.constant([[1]], tf.int64)),
    )
