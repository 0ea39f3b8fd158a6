"""`tf.metrics`: values accumulated over several runs."""

from programs.tools import caught


def _gathered(tf, metric, feeds):
    """Returns the result of the update for each feed, and the final value."""
    value, update = metric
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        out = [sess.run(value)]
        for feed in feeds:
            out.append(sess.run(update, feed))
        out.append(sess.run(value))
        return out


def means(tf):
    x = tf.placeholder(tf.float32, [None])
    w = tf.placeholder_with_default(tf.ones([2]), [2])
    m = tf.metrics
    feeds = [{x: [1.0, 2.0]}, {x: [5.0, 7.0], w: [0.0, 3.0]}]
    made = [m.mean(x), m.mean(x, weights=w), m.percentage_below(x, 4.0), m.mean_tensor(tf.reshape(x, [2]))]
    return [_gathered(tf, metric, feeds) for metric in made], sorted(v.name for v in tf.local_variables())


def errors(tf):
    l, p = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 2])
    feeds = [{l: [[1.0, 2.0]], p: [[1.5, 2.0]]}, {l: [[0.0, 1.0], [4.0, 2.0]], p: [[1.0, 1.0], [2.0, 2.5]]}]
    m = tf.metrics
    made = [
        m.mean_absolute_error(l, p),
        m.mean_squared_error(l, p),
        m.root_mean_squared_error(l, p),
        m.mean_relative_error(l, p, normalizer=l),
        m.mean_cosine_distance(l, p, 1),
        m.mean_squared_error(l, p, weights=2.0),
    ]
    return [_gathered(tf, metric, feeds) for metric in made]


def right_and_wrong(tf):
    l, p = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.int64, [None])
    feeds = [{l: [1, 0, 1], p: [1, 1, 0]}, {l: [0, 0, 1, 1], p: [0, 1, 1, 1]}]
    m = tf.metrics
    made = [m.accuracy(l, p), m.precision(l, p), m.recall(l, p), m.true_positives(l, p), m.true_negatives(l, p), m.false_positives(l, p), m.false_negatives(l, p)]
    return [_gathered(tf, metric, feeds) for metric in made], sorted(v.name for v in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES))


def collected(tf):
    value, update = tf.metrics.accuracy([1, 2], [1, 3], weights=[1.0, 3.0], metrics_collections=["m"], updates_collections=["u"], name="mine")
    return tf.get_collection("m") == [value], tf.get_collection("u") == [update], value.name, update.name, _gathered(tf, (value, update), [{}])


def refused(tf):
    m = tf.metrics
    return (
        caught(lambda: m.mean([1.0, 2.0], weights=[1.0, 2.0, 3.0]), "weights can not be broadcast to values."),
        caught(lambda: m.accuracy([1, 2], [1, 2, 3]), "Shapes (3,) and (2,) are incompatible"),
    )
