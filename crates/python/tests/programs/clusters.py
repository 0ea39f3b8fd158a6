"""`tf.contrib.factorization`: k-means clustering."""

import numpy as np

from programs.tools import WHOLE, caught


def _data(n=40):
    rng = np.random.RandomState(3)
    return (rng.randn(n, 3) + np.array([[4.0, 0.0, 1.0], [0.0, 5.0, 1.0], [-4.0, 1.0, 6.0], [3.0, 3.0, -5.0]])[rng.randint(4, size=n)]).astype(np.float32)


def _run(tf, steps=4, batch=None, shards=1, **kwargs):
    """Returns what a graph computes in each step, and the names and values of its variables."""
    data = _data()
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 3])
        inputs = tf.split(x, shards) if 1 < shards else x
        kmeans = tf.contrib.factorization.KMeans(inputs, 4, **kwargs)
        everything, index, scores, ready, init, step = kmeans.training_graph()
        sess.run(tf.global_variables_initializer())
        seen = []
        size = len(data) if batch is None else batch
        tries = 0
        while not sess.run(ready):
            sess.run(init, {x: data[tries * size : (tries + 1) * size]})
            tries += 1
        for i in range(steps):
            some = data[(i * size) % len(data) :][:size]
            seen.append([np.round(v, 2) for v in sess.run(list(scores) + list(everything), {x: some})] + sess.run(list(index), {x: some}))
            sess.run(step, {x: some})
        names = [v.name for v in tf.global_variables()]
        values = sess.run(tf.global_variables())
        return seen, names, [np.round(v, 3) if v.dtype == np.float32 else v for v in values], tries


def whole_batches(tf):
    return _run(tf), _run(tf, shards=2), _run(tf, random_seed=7), _run(tf, distance_metric="cosine"), _run(tf, initial_clusters=_data()[:4])


def mini_batches(tf):
    """TensorFlow may read counts before or after it updates them: centers after a step are not compared."""

    def first(batch, **kwargs):
        seen, names, values, tries = _run(tf, 1, batch, use_mini_batch=True, **kwargs)
        return seen, names, [v for v in values if v.dtype != np.float32], tries

    return (
        first(10),
        first(3),
        first(10, distance_metric="cosine"),
        first(8, initial_clusters=_data()[:4]),
        first(5, initial_clusters=lambda inputs, k: inputs[0][:2]),
        first(10, mini_batch_steps_per_iteration=3),
        first(10, mini_batch_steps_per_iteration=3, distance_metric="cosine"),
    )


def far_apart(tf):
    """The centers differ from TensorFlow's: what is the same is that each cluster has one."""
    data = np.concatenate([np.eye(3) * 100.0 + i * 0.01 for i in range(5)]).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        kmeans = tf.contrib.factorization.KMeans(tf.constant(data), 3, initial_clusters=tf.contrib.factorization.KMEANS_PLUS_PLUS_INIT)
        _, index, _, ready, init, step = kmeans.training_graph()
        sess.run(tf.global_variables_initializer())
        sess.run(init)
        sess.run(step)
        found = sess.run(index[0])
        return len(set(found[:3])), np.array_equal(found.reshape(5, 3), np.tile(found[:3], [5, 1])), sess.run(ready)


def estimator(tf):
    data = _data()
    seen = []
    for kwargs in ({"distance_metric": "cosine"}, {"relative_tolerance": 0.5}):
        kmeans = tf.contrib.factorization.KMeansClustering(4, random_seed=5, use_mini_batch=False, **kwargs)
        points = lambda: tf.train.limit_epochs(tf.convert_to_tensor(data), num_epochs=1)
        whole = lambda: tf.convert_to_tensor(data)
        kmeans.train(whole, steps=3)
        seen.append(
            (
                kmeans.get_variable_value("global_step"),
                np.round(kmeans.cluster_centers(), 3),
                np.round(kmeans.score(points), 1),
                list(kmeans.predict_cluster_index(points)),
                [np.round(d, 2) for d in kmeans.transform(points)][:3],
                sorted(kmeans.get_variable_names()),
            )
        )
    return seen


def features_of_estimator(tf):
    data = _data()
    points = lambda: {"b": tf.constant(data[:, :1]), "a": tf.constant(data[:, 1:])}
    columns = [tf.feature_column.numeric_column("b")]
    make = tf.contrib.factorization.KMeansClustering
    plain = make(2, use_mini_batch=False, initial_clusters=data[:2]).train(points, steps=2)
    chosen = make(2, use_mini_batch=False, initial_clusters=data[:2, :1], feature_columns=columns).train(points, steps=2)
    return np.round(plain.cluster_centers(), 4), np.round(chosen.cluster_centers(), 4)


def mistakes(tf):
    f = tf.contrib.factorization
    return (
        caught(lambda: f.KMeans(tf.zeros([2, 2]), 2, "best"), WHOLE),
        caught(lambda: f.KMeans(tf.zeros([2, 2]), 2, distance_metric="far"), WHOLE),
        caught(lambda: f.KMeansClustering(2, initial_clusters="best"), WHOLE),
        caught(lambda: f.KMeansClustering(2, distance_metric="far"), WHOLE),
    )
