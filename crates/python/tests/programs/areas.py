"""Areas under curves with all predictions kept, or with histograms (`tf.contrib.metrics`)."""

from programs.tools import mistakes

LABELS = [1, 0, 1, 0, 1, 1, 0]
SCORES = [0.9, 0.3, 0.4, 0.6, 0.8, 0.2, 0.3]
WEIGHTS = [1.0, 0.0, 2.0, 1.0, 0.5, 1.0, 3.0]


def _twice(tf, pair):
    value, update = pair
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        before = sess.run(value)
        sess.run(update), sess.run(update)
        return before, sess.run(value), [v.name for v in tf.local_variables()]


def _dynamic(tf, **options):
    return _twice(tf, tf.contrib.metrics.streaming_dynamic_auc(tf.constant(LABELS), tf.constant(SCORES), **options))


def _bounded(tf, labels=LABELS, scores=SCORES, **options):
    return _twice(tf, tf.contrib.metrics.auc_with_confidence_intervals(tf.constant(labels), tf.constant(scores), **options))


def dynamic(tf):
    return _dynamic(tf)


def dynamic_precision_and_recall(tf):
    return _dynamic(tf, curve="PR")


def dynamic_with_weights(tf):
    return _dynamic(tf, weights=WEIGHTS)


def dynamic_precision_and_recall_with_weights(tf):
    return _dynamic(tf, weights=WEIGHTS, curve="PR", name="area")


def dynamic_of_one_class(tf):
    return _twice(tf, tf.contrib.metrics.streaming_dynamic_auc(tf.constant([1, 1]), tf.constant([0.3, 0.5])))


def with_an_interval(tf):
    return _bounded(tf)


def with_an_interval_and_weights(tf):
    return _bounded(tf, weights=WEIGHTS)


def with_a_narrow_interval(tf):
    return _bounded(tf, alpha=0.8)


def with_an_interval_that_may_be_too_wide(tf):
    return _bounded(tf, logit_transformation=False)


def with_an_interval_around_one(tf):
    return _bounded(tf, [1, 0], [0.5, 0.3])


def with_an_interval_of_one_class(tf):
    return _bounded(tf, [1, 1], [0.5, 0.3])


def by_histograms(tf):
    labels, scores = tf.constant([bool(x) for x in LABELS]), tf.constant(SCORES)
    return _twice(tf, tf.contrib.metrics.auc_using_histogram(labels, scores, [0.0, 1.0]))


def by_coarse_histograms(tf):
    labels, scores = tf.constant([bool(x) for x in LABELS]), tf.constant(SCORES)
    return _twice(tf, tf.contrib.metrics.auc_using_histogram(labels, scores, [0.0, 1.0], nbins=3, name="h"))


def refused(tf):
    metrics = tf.contrib.metrics

    def pair(n=2):
        return tf.constant([1, 0]), tf.constant([0.5, 0.3, 0.2][:n])

    return mistakes(
        tf,
        a_curve=lambda: metrics.streaming_dynamic_auc(*pair(), curve="X"),
        a_level=lambda: metrics.auc_with_confidence_intervals(*pair(), alpha=1.5),
        other_shapes=lambda: metrics.streaming_dynamic_auc(*pair(3)),
        labels_of_ints=lambda: metrics.auc_using_histogram(*pair(), score_range=[0.0, 1.0]),
        scores_of_another_shape=lambda: metrics.auc_using_histogram(tf.constant([True, False, True]), tf.constant([0.9, 0.3]), [0.0, 1.0]),
    )
