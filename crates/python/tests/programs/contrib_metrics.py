"""`tf.contrib.metrics`: values over several updates, and mistakes."""

import numpy as np

from programs.measures_more import CLASSES, GUESSES, LABELS, RANKED, SCORES, WEIGHTS, _fed, _streams
from programs.tools import mistakes, run


def means(tf):
    metrics = tf.contrib.metrics
    p, t, w = tf.constant(SCORES), tf.constant(LABELS, tf.float32), tf.constant(WEIGHTS)
    pairs = [
        metrics.streaming_mean(p, w),
        metrics.streaming_mean_tensor(p),
        metrics.streaming_percentage_less(p, 0.5, w),
        metrics.streaming_mean_absolute_error(p, t, w),
        metrics.streaming_mean_squared_error(p, t),
        metrics.streaming_root_mean_squared_error(p, t, weights=w),
        metrics.streaming_mean_relative_error(p, t, p),
        metrics.streaming_mean_cosine_distance(tf.reshape(p, [2, 4]), tf.reshape(t, [2, 4]), 1),
        metrics.count(p),
        metrics.count(p, w, ["m"], ["u"]),
    ]
    return [len(tf.get_collection(key)) for key in "mu"], _streams(tf, pairs)


def of_bools(tf):
    metrics = tf.contrib.metrics
    p, t, w = tf.constant(SCORES > 0.5), tf.constant(LABELS > 0), tf.constant(WEIGHTS)
    pairs = []
    for weights in (None, w):
        pairs += [
            metrics.streaming_accuracy(p, t, weights),
            metrics.streaming_precision(p, t, weights),
            metrics.streaming_recall(p, t, weights),
            metrics.streaming_true_positives(p, t, weights),
            metrics.streaming_true_negatives(p, t, weights),
            metrics.streaming_false_positives(p, t, weights),
            metrics.streaming_false_negatives(p, t, weights),
            metrics.streaming_false_positive_rate(p, t, weights),
            metrics.streaming_false_negative_rate(p, t, weights),
        ]
    return _streams(tf, pairs)


def at_thresholds(tf):
    labels, scores, feeds = _fed(tf)
    metrics = tf.contrib.metrics
    levels = [0.3, 0.5, 0.9]
    pairs = [
        metrics.streaming_precision_at_thresholds(scores, labels, levels),
        metrics.streaming_recall_at_thresholds(scores, labels, levels),
        metrics.streaming_false_positive_rate_at_thresholds(scores, labels, levels),
        metrics.streaming_false_negative_rate_at_thresholds(scores, labels, levels),
        metrics.streaming_sensitivity_at_specificity(scores, labels, 0.6),
        metrics.streaming_specificity_at_sensitivity(scores, labels, 0.6),
        metrics.streaming_auc(scores, labels),
        metrics.streaming_curve_points(labels, scores, num_thresholds=4),
        metrics.streaming_curve_points(labels, scores, num_thresholds=4, curve="PR"),
        metrics.recall_at_precision(labels, scores, 0.7),
        metrics.recall_at_precision(labels, scores, 0.7, strict_mode=True),
        metrics.f1_score(labels, scores),
    ]
    return _streams(tf, pairs, feeds)


def counts_at_thresholds(tf):
    labels, scores, feeds = _fed(tf)
    metrics = tf.contrib.metrics
    pairs = [
        metrics.streaming_true_positives_at_thresholds(scores, labels, [0.3, 0.6]),
        metrics.streaming_true_negatives_at_thresholds(scores, labels, [0.3, 0.6]),
        metrics.streaming_false_positives_at_thresholds(scores, labels, [0.3, 0.6]),
        metrics.streaming_false_negatives_at_thresholds(scores, labels, [0.3, 0.6]),
    ]
    return _streams(tf, pairs, feeds)


def precision_of_a_recall(tf):
    labels, scores, feeds = _fed(tf)
    _, update = tf.contrib.metrics.precision_at_recall(labels, scores, 0.6)
    value, _ = tf.contrib.metrics.precision_at_recall(labels, scores, 0.6)
    return _streams(tf, [(value, update)], feeds)


def at_k(tf):
    labels = tf.constant([[1, 3], [2, 0], [2, 2]], tf.int64)
    scores, best = tf.constant(RANKED), tf.constant([[1, 2], [0, 3], [2, 3]])
    metrics = tf.contrib.metrics
    pairs = [
        metrics.streaming_sparse_precision_at_k(scores, labels, 2),
        metrics.streaming_sparse_recall_at_k(scores, labels, 2, 1),
        metrics.streaming_sparse_average_precision_at_k(scores, labels, 2),
        metrics.streaming_sparse_precision_at_top_k(best, labels),
        metrics.sparse_recall_at_top_k(labels, best, class_id=2),
        metrics.streaming_sparse_average_precision_at_top_k(best, labels),
        metrics.streaming_recall_at_k(scores, tf.constant([1, 2, 2]), 2),
    ]
    return [v.op.name for v, _ in pairs], _streams(tf, pairs)


def by_class(tf):
    metrics = tf.contrib.metrics
    labels, guesses = tf.constant(CLASSES.ravel()), tf.constant(GUESSES.ravel())
    pairs = [
        metrics.streaming_mean_iou(guesses, labels, 4),
        metrics.cohen_kappa(labels, guesses, 4),
        metrics.cohen_kappa(labels, guesses, 5, tf.constant(WEIGHTS)),
        metrics.cohen_kappa(tf.reshape(labels, [-1, 1]), guesses, 4),
    ]
    matrix = metrics.confusion_matrix(labels, guesses)
    return _streams(tf, pairs), run(tf, matrix)


def correlations(tf):
    p, t = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    w = tf.placeholder_with_default(np.float32([1, 2, 1]), [None])
    rng = np.random.RandomState(0)
    feeds = [{p: rng.rand(3), t: rng.rand(3)} for _ in range(3)]
    metrics = tf.contrib.metrics
    pairs = [
        metrics.streaming_covariance(p, t),
        metrics.streaming_covariance(p, t, w, name="mine"),
        metrics.streaming_pearson_correlation(p, t),
        metrics.streaming_pearson_correlation(p, t, w),
    ]
    return _streams(tf, pairs, feeds)


def accuracies(tf):
    accuracy = tf.contrib.metrics.accuracy
    found = [
        accuracy(tf.constant([1, 2, 3]), tf.constant([1, 0, 3])),
        accuracy(tf.constant([True, False]), tf.constant([True, True]), [1.0, 3.0]),
        accuracy(tf.constant(["a", "b"]), tf.constant(["a", "c"])),
    ]
    return run(tf, found), found[0].op.type


def aggregated(tf):
    metrics = tf.contrib.metrics
    values, updates = metrics.aggregate_metric_map({"a": tf.metrics.mean([1.0]), "b": metrics.streaming_mean([2.0, 3.0])})
    first, second = metrics.aggregate_metrics(tf.metrics.mean([1.0]), tf.metrics.mean([4.0]))
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        return sess.run([updates, second]), sess.run([values, first])


def mistaken(tf):
    metrics = tf.contrib.metrics
    p = tf.constant(SCORES)
    return mistakes(
        tf,
        none=lambda: metrics.aggregate_metrics(),
        labels=lambda: metrics.accuracy(tf.constant([1]), tf.constant([1.0])),
        dtypes=lambda: metrics.accuracy(tf.constant([1]), tf.constant([True])),
        classes=lambda: list(metrics.cohen_kappa(tf.constant([1]), tf.constant([1]), 1)),
        curve=lambda: list(metrics.streaming_curve_points(LABELS, SCORES, curve="X")),
        precision=lambda: list(metrics.recall_at_precision(LABELS, SCORES, 2)),
        recall=lambda: list(metrics.precision_at_recall(LABELS, SCORES, -1)),
    ), p.shape


def sets(tf):
    metrics = tf.contrib.metrics
    a, b = tf.constant([[1, 2, 2]]), tf.constant([[2, 3, 4]])
    found = [metrics.set_intersection(a, b), metrics.set_difference(a, b), metrics.set_union(a, b)]
    return run(tf, [f.values for f in found] + [metrics.set_size(found[0])])
