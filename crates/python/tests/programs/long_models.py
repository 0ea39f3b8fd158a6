"""Long programs: models of other kinds, with estimators, supervisors, exports and graphs that are
read again.
"""

import os
import tempfile

import numpy as np


def ratings_in_an_estimator(tf):
    """Factors of users and items in an estimator, with hooks, evaluation, prediction and an
    exported model.
    """
    rng = np.random.RandomState(8)
    users, items = rng.randint(0, 5, 24), rng.randint(0, 4, 24)
    ratings = (users * 0.5 - items * 0.25 + 1.0).astype(np.float32)
    folder = tempfile.mkdtemp()
    logged = []

    def model_fn(features, labels, mode, params):
        init = tf.random_normal_initializer(stddev=0.1, seed=3)
        with tf.variable_scope("factors"):
            of_users = tf.get_variable("users", [5, params["rank"]], initializer=init)
            of_items = tf.get_variable("items", [4, params["rank"]], initializer=init)
            bias_users = tf.get_variable("bias_users", [5], initializer=tf.zeros_initializer())
            bias_items = tf.get_variable("bias_items", [4], initializer=tf.zeros_initializer())
        u, i = features["user"], features["item"]
        product = tf.reduce_sum(tf.nn.embedding_lookup(of_users, u) * tf.nn.embedding_lookup(of_items, i), 1)
        prediction = product + tf.nn.embedding_lookup(bias_users, u) + tf.nn.embedding_lookup(bias_items, i)
        if mode == tf.estimator.ModeKeys.PREDICT:
            outputs = {"serving_default": tf.estimator.export.PredictOutput({"rating": prediction})}
            return tf.estimator.EstimatorSpec(mode, predictions={"rating": prediction}, export_outputs=outputs)
        penalty = params["penalty"] * (tf.nn.l2_loss(of_users) + tf.nn.l2_loss(of_items))
        loss = tf.losses.mean_squared_error(labels, prediction) + penalty
        if mode == tf.estimator.ModeKeys.EVAL:
            metrics = {"rmse": tf.metrics.root_mean_squared_error(labels, prediction), "mae": tf.metrics.mean_absolute_error(labels, prediction)}
            return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
        step = tf.train.get_global_step()
        train = tf.train.AdamOptimizer(params["rate"]).minimize(loss, global_step=step)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    class Log(tf.train.SessionRunHook):
        def before_run(self, context):
            return tf.train.SessionRunArgs(tf.train.get_global_step())

        def after_run(self, context, values):
            logged.append(int(values.results))

    def inputs(epochs, batch):
        return tf.estimator.inputs.numpy_input_fn({"user": users, "item": items}, ratings, batch_size=batch, num_epochs=epochs, shuffle=False)

    config = tf.estimator.RunConfig(model_dir=folder, tf_random_seed=5, save_checkpoints_steps=4, keep_checkpoint_max=2)
    estimator = tf.estimator.Estimator(model_fn, params={"rank": 2, "rate": 0.1, "penalty": 0.01}, config=config)
    estimator.train(inputs(None, 8), steps=6, hooks=[Log()])
    results = estimator.evaluate(inputs(1, 6))
    predictions = np.array([p["rating"] for p in estimator.predict(inputs(1, 24))])
    names = estimator.get_variable_names()
    kept = [os.path.basename(p) for p in tf.train.get_checkpoint_state(folder).all_model_checkpoint_paths]
    return logged, sorted(results.items()), predictions, sorted(names), kept, estimator.get_variable_value("factors/bias_items")


def sentences_in_convolutions(tf):
    """Convolutions of several widths over sentences, pooled over time, with summaries of gradients
    and two writers.
    """
    tf.set_random_seed(43)
    rng = np.random.RandomState(5)
    x_train, y_train = rng.randint(0, 12, (8, 9)), np.eye(2)[rng.randint(0, 2, 8)]
    x = tf.placeholder(tf.int32, [None, 9], name="input_x")
    y = tf.placeholder(tf.float32, [None, 2], name="input_y")
    keep = tf.placeholder(tf.float32, name="dropout_keep_prob")
    l2 = tf.constant(0.0)
    with tf.device("/cpu:0"), tf.name_scope("embedding"):
        table = tf.Variable(tf.random_uniform([12, 5], -1.0, 1.0), name="W")
        chars = tf.expand_dims(tf.nn.embedding_lookup(table, x), -1)
    pooled = []
    for size in (2, 3):
        with tf.name_scope("conv-maxpool-%s" % size):
            w = tf.Variable(tf.truncated_normal([size, 5, 1, 4], stddev=0.1), name="W")
            b = tf.Variable(tf.constant(0.1, shape=[4]), name="b")
            conv = tf.nn.conv2d(chars, w, strides=[1, 1, 1, 1], padding="VALID", name="conv")
            h = tf.nn.relu(tf.nn.bias_add(conv, b), name="relu")
            pooled.append(tf.nn.max_pool(h, ksize=[1, 9 - size + 1, 1, 1], strides=[1, 1, 1, 1], padding="VALID", name="pool"))
    flat = tf.reshape(tf.concat(pooled, 3), [-1, 8])
    with tf.name_scope("dropout"):
        dropped = tf.nn.dropout(flat, keep)
    with tf.name_scope("output"):
        w = tf.get_variable("W", shape=[8, 2], initializer=tf.contrib.layers.xavier_initializer())
        b = tf.Variable(tf.constant(0.1, shape=[2]), name="b")
        l2 += tf.nn.l2_loss(w)
        l2 += tf.nn.l2_loss(b)
        scores = tf.nn.xw_plus_b(dropped, w, b, name="scores")
        predictions = tf.argmax(scores, 1, name="predictions")
    with tf.name_scope("loss"):
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits=scores, labels=y)) + 0.1 * l2
    with tf.name_scope("accuracy"):
        accuracy = tf.reduce_mean(tf.cast(tf.equal(predictions, tf.argmax(y, 1)), "float"), name="accuracy")
    step = tf.Variable(0, name="global_step", trainable=False)
    optimizer = tf.train.AdamOptimizer(1e-2)
    pairs = optimizer.compute_gradients(loss)
    train = optimizer.apply_gradients(pairs, global_step=step)
    for g, v in pairs:
        if g is not None:
            tf.summary.scalar("%s/grad/sparsity" % v.name.replace(":", "_"), tf.nn.zero_fraction(g if not isinstance(g, tf.IndexedSlices) else g.values))
    merged = tf.summary.merge([tf.summary.scalar("loss", loss), tf.summary.scalar("accuracy", accuracy)])
    folder, found = tempfile.mkdtemp(), []
    saver = tf.train.Saver(tf.global_variables(), max_to_keep=1)
    with tf.Session() as sess:
        writer = tf.summary.FileWriter(os.path.join(folder, "train"), sess.graph)
        sess.run(tf.global_variables_initializer())
        for i in range(3):
            feed = {x: x_train[i : i + 5], y: y_train[i : i + 5], keep: 1.0}
            found.append(sess.run([loss, accuracy], feed))
            sess.run(train, feed)
            writer.add_summary(sess.run(merged, feed), tf.train.global_step(sess, step))
        path = saver.save(sess, os.path.join(folder, "model"), global_step=step)
    with tf.Graph().as_default() as graph:
        loader = tf.train.import_meta_graph(path + ".meta")
        with tf.Session() as sess:
            loader.restore(sess, path)
            inputs, kept = (graph.get_operation_by_name(n).outputs[0] for n in ("input_x", "dropout_keep_prob"))
            answer = graph.get_tensor_by_name("output/predictions:0")
            restored = sess.run([answer, graph.get_tensor_by_name("output/scores:0")], {inputs: x_train, kept: 1.0})
    return found, restored, sorted(t.name for t in tf.get_collection("summaries")), [v.name for v in tf.global_variables()]


def waves_in_dilated_convolutions(tf):
    """Causal convolutions of growing dilation with gates and skips, written by hand with
    `space_to_batch`.
    """
    tf.set_random_seed(47)
    width, dilations, levels = 3, (1, 2, 4), 8

    def variable(name, shape):
        return tf.get_variable(name, shape, initializer=tf.contrib.layers.xavier_initializer_conv2d())

    def causal(value, kernel, dilation):
        span = int(kernel.shape[0])
        if dilation > 1:
            steps = tf.shape(value)[1]
            pad = dilation - 1 - (steps + dilation - 1) % dilation
            padded = tf.pad(value, [[0, 0], [0, pad], [0, 0]])
            rows = tf.transpose(tf.reshape(padded, [-1, dilation, int(value.shape[2])]), perm=[1, 0, 2])
            rows = tf.reshape(rows, [tf.shape(value)[0] * dilation, -1, int(value.shape[2])])
            made = tf.nn.conv1d(rows, kernel, stride=1, padding="VALID")
            made = tf.transpose(tf.reshape(made, [dilation, -1, int(kernel.shape[2])]), perm=[1, 0, 2])
            made = tf.reshape(made, [tf.shape(value)[0], -1, int(kernel.shape[2])])
        else:
            made = tf.nn.conv1d(value, kernel, stride=1, padding="VALID")
        out_steps = tf.shape(value)[1] - (span - 1) * dilation
        return tf.slice(made, [0, 0, 0], [-1, out_steps, -1])

    audio = tf.placeholder(tf.float32, [1, None])
    mu = float(levels - 1)
    magnitude = tf.log1p(mu * tf.minimum(tf.abs(audio), 1.0)) / tf.log1p(mu)
    codes = tf.to_int32((tf.sign(audio) * magnitude + 1) / 2 * mu + 0.5)
    hot = tf.one_hot(codes, depth=levels, dtype=tf.float32)
    skips, current = [], hot
    with tf.variable_scope("wavenet"):
        current = causal(tf.pad(current, [[0, 0], [1, 0], [0, 0]])[:, :-1], variable("causal", [2, levels, width]), 1)
        total = tf.shape(current)[1] - sum(dilations)
        for i, dilation in enumerate(dilations):
            with tf.variable_scope("layer%d" % i):
                filtered = causal(current, variable("filter", [2, width, 4]), dilation)
                gate = causal(current, variable("gate", [2, width, 4]), dilation)
                out = tf.tanh(filtered) * tf.sigmoid(gate)
                transformed = tf.nn.conv1d(out, variable("dense", [1, 4, width]), stride=1, padding="SAME", name="dense")
                cut = tf.slice(out, [0, tf.shape(out)[1] - total, 0], [-1, -1, -1])
                skips.append(tf.nn.conv1d(cut, variable("skip", [1, 4, 5]), stride=1, padding="SAME", name="skip"))
                current = tf.slice(current, [0, tf.shape(current)[1] - tf.shape(transformed)[1], 0], [-1, -1, -1]) + transformed
        h = tf.nn.relu(sum(skips))
        logits = tf.nn.conv1d(tf.nn.relu(h), variable("post", [1, 5, levels]), stride=1, padding="SAME")
    target = tf.slice(tf.reshape(hot, [-1, levels]), [tf.shape(hot)[1] - total, 0], [-1, -1])
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits=tf.reshape(logits, [-1, levels]), labels=target))
    l2 = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if not "bias" in v.name])
    train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss + 0.01 * l2)
    wave = np.sin(np.arange(24) * 0.7)[None] * 0.8
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = []
        for _ in range(3):
            found.append(sess.run([loss, l2], {audio: wave}))
            sess.run(train, {audio: wave})
        return found, sess.run([codes, tf.shape(logits)], {audio: wave}), [v.name for v in tf.trainable_variables()]


def clusters_and_components(tf):
    """Clusters by assignments in a loop of the graph, and the first component by power iteration,
    then projected.
    """
    rng = np.random.RandomState(12)
    points = np.concatenate([rng.normal(m, 0.3, (6, 3)) for m in ((0, 0, 0), (2, 1, 0), (0, 3, 1))]).astype(np.float32)
    tf.set_random_seed(53)
    data = tf.placeholder_with_default(points, [None, 3], name="points")
    k = 3
    centers = tf.Variable(points[[0, 7, 13]] + 0.1, name="centers")
    counts = tf.Variable(tf.zeros([k], tf.int32), name="counts")

    def nearest(centers):
        distances = tf.reduce_sum(tf.squared_difference(tf.expand_dims(data, 1), tf.expand_dims(centers, 0)), 2)
        return tf.cast(tf.argmin(distances, 1), tf.int32), tf.reduce_sum(tf.reduce_min(distances, 1))

    def improve(i, centers, cost, before):
        which, now = nearest(centers)
        sums = tf.unsorted_segment_sum(data, which, k)
        sizes = tf.unsorted_segment_sum(tf.ones_like(data[:, 0]), which, k)
        moved = sums / tf.expand_dims(tf.maximum(sizes, 1.0), 1)
        moved.set_shape([k, 3])
        return i + 1, moved, now, cost

    n, found, cost, _ = tf.while_loop(
        lambda i, c, cost, before: tf.logical_and(i < 20, tf.abs(before - cost) > 1e-6), improve, [0, centers.value(), tf.constant(1e9), tf.constant(2e9)], back_prop=False
    )
    update = tf.group(centers.assign(found), counts.assign(tf.bincount(nearest(found)[0], minlength=k)))
    mean = tf.reduce_mean(data, 0, keepdims=True)
    covariance = tf.matmul(data - mean, data - mean, transpose_a=True) / tf.cast(tf.shape(data)[0], tf.float32)

    def power(v, _):
        w = tf.matmul(covariance, v)
        return w / tf.norm(w)

    directions = tf.scan(power, tf.range(30), initializer=tf.ones([3, 1]) / np.sqrt(3).astype(np.float32))
    direction = directions[-1]
    value = tf.squeeze(tf.matmul(direction, tf.matmul(covariance, direction), transpose_a=True))
    projected = tf.squeeze(tf.matmul(data - mean, direction), [1])
    order = tf.nn.top_k(projected, k=4).indices
    parts = tf.dynamic_partition(projected, nearest(centers)[0], k)
    sizes = tf.stack([tf.size(p) for p in parts])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        _, steps, total = sess.run([update, n, cost])
        return int(steps), total, sess.run([centers, counts, value, direction, order, sizes])


def equations_solved_by_training(tf):
    """An equation that a network is trained to satisfy: second derivatives in the loss, several
    optimizers in turn.
    """
    tf.set_random_seed(59)
    x = tf.placeholder(tf.float32, [None, 1], name="x")
    with tf.variable_scope("solution", initializer=tf.contrib.layers.xavier_initializer(seed=2)):
        h = x
        for i, n in enumerate((8, 8)):
            with tf.variable_scope("layer%d" % i):
                w = tf.get_variable("w", [h.shape[1].value, n])
                b = tf.get_variable("b", [n], initializer=tf.zeros_initializer())
                h = tf.tanh(tf.matmul(h, w) + b)
        out = tf.matmul(h, tf.get_variable("out", [8, 1]))
    y = x * (1.0 - x) * out + x
    slope = tf.gradients(y, x)[0]
    curve = tf.gradients(slope, x)[0]
    residual = curve + np.float32(np.pi) ** 2 * tf.sin(np.float32(np.pi) * x)
    loss = tf.reduce_mean(tf.square(residual))
    step = tf.train.get_or_create_global_step()
    rates = tf.train.piecewise_constant(step, [2, 4], [0.01, 0.005, 0.001])
    optimizers = {
        "sgd": tf.train.GradientDescentOptimizer(1e-4),
        "adam": tf.train.AdamOptimizer(rates),
        "rms": tf.train.RMSPropOptimizer(rates, centered=True),
        "adadelta": tf.train.AdadeltaOptimizer(1.0),
        "ftrl": tf.train.FtrlOptimizer(0.01, l1_regularization_strength=0.001),
    }
    trains = [(name, optimizers[name].minimize(loss, global_step=step)) for name in sorted(optimizers)]
    gradient = tf.concat([tf.reshape(g, [-1]) for g in tf.gradients(loss, tf.trainable_variables())], 0)
    points = np.linspace(0, 1, 9)[:, None]
    found = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for name, train in trains:
            sess.run(train, {x: points})
            found.append((name, sess.run([loss, tf.norm(gradient), rates], {x: points})))
        final = sess.run([y, slope, curve], {x: points[::4]})
    slots = sorted(v.name for v in tf.global_variables() if "solution" in v.name and v not in tf.trainable_variables())
    return found, final, slots[:8], len(slots)
