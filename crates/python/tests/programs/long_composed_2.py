"""Long programs, written by `../../tools/compose_long.py`."""

import glob
import os
import tempfile

import numpy as np


def image_convolutions_records_descent(tf):
    """Image by records, a convolutions model, likelihood, descent, served."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(32)
    tf.set_random_seed(33)
    starts = []
    rows = rng.uniform(size=(12, 8, 8, 3)).astype(np.float32)
    classes = (rows.mean((1, 2)).argmax(1)).astype(np.int32)
    path = os.path.join(folder, "data.tfrecord")
    with tf.python_io.TFRecordWriter(path) as writer:
        for row, one in zip(rows, classes):
            example = tf.train.Example()
            example.features.feature["row"].bytes_list.value.append(row.tobytes())
            example.features.feature["class"].int64_list.value.append(int(one))
            writer.write(example.SerializeToString())

    def parse(text):
        wanted = {"row": tf.FixedLenFeature([], tf.string), "class": tf.FixedLenFeature([], tf.int64)}
        found = tf.parse_single_example(text, wanted)
        return tf.reshape(tf.decode_raw(found["row"], tf.float32), [8, 8, 3]), tf.cast(found["class"], tf.int32)

    data = tf.data.TFRecordDataset([path]).apply(tf.data.experimental.map_and_batch(parse, 4)).cache().repeat()
    x, y = data.make_one_shot_iterator().get_next()
    feeds = [{}] * 3
    net = tf.layers.conv2d(x, 4, 3, padding="same", activation=tf.nn.relu, name="first")
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.conv2d(net, 6, (2, 2), strides=2, name="second")
    net = tf.layers.flatten(tf.nn.relu(net))
    mean = tf.layers.dense(net, 1, name="mean")[:, 0]
    spread = tf.layers.dense(net, 1, tf.nn.softplus, name="spread")[:, 0] + 0.1
    normal = tf.distributions.Normal(mean, spread)
    apart = tf.distributions.kl_divergence(normal, tf.distributions.Normal(0.0, 1.0))
    loss = -tf.reduce_mean(normal.log_prob(tf.cast(y, tf.float32))) + 0.01 * tf.reduce_mean(apart)
    found = tf.to_int32(tf.floor(mean + 0.5))
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.3, step, 2, 0.5, staircase=True)
    train = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
    named = {
        "right": tf.contrib.metrics.streaming_accuracy(found, y),
        "per_class": tf.metrics.mean_per_class_accuracy(y, tf.clip_by_value(found, 0, 2), 3),
    }
    values, updates = tf.contrib.metrics.aggregate_metric_map(named)
    measures = [updates]
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("net", net)
    merged = tf.summary.merge_all()
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(6):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        where = os.path.join(folder, "served")
        tf.saved_model.simple_save(sess, where, {"net": net}, {"found": found})
        loaded = tf.Graph()
        with loaded.as_default(), tf.Session(graph=loaded) as other:
            meta = tf.saved_model.loader.load(other, [tf.saved_model.tag_constants.SERVING], where)
            signature = meta.signature_def["serving_default"]
            kept = signature.outputs["found"].name, signature.method_name, len(loaded.get_collection("trainable_variables"))
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape, tf.get_seed(None)


def series_both_ways_placeholders_each_clipped(tf):
    """Series by placeholders, a both ways model, hinge, each clipped, served."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(33)
    tf.set_random_seed(34)
    starts = []
    rows = rng.normal(size=(12, 5, 4)).astype(np.float32)
    classes = rows[:, 0].argmax(1).astype(np.int32) % 3
    x = tf.placeholder(tf.float32, [None, 5, 4], name="x")
    y = tf.placeholder(tf.int32, [None], name="y")
    feeds = [{x: rows[4 * i:4 * i + 4], y: classes[4 * i:4 * i + 4]} for i in range(3)]
    forward, backward = tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.LSTMCell(3)
    lengths = tf.constant([5, 3, 4, 2])
    outputs, states = tf.nn.bidirectional_dynamic_rnn(forward, backward, x[:4], lengths, dtype=tf.float32)
    net = tf.concat([states[0], states[1].c, outputs[1][:, 0]], 1)
    large = 0.01 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    with tf.control_dependencies([large]):
        logits = tf.layers.dense(net, 3, name="logits", use_bias=False)
    loss = tf.losses.hinge_loss(tf.one_hot(y, 3), logits, reduction=tf.losses.Reduction.MEAN) + large
    found = tf.argmax(logits, 1, output_type=tf.int32)
    step = tf.Variable(0, trainable=False, name="step")
    optimizer = tf.train.AdagradOptimizer(0.1)
    pairs = optimizer.compute_gradients(loss, gate_gradients=tf.train.Optimizer.GATE_GRAPH)
    pairs = [(tf.clip_by_norm(g, 0.3), v) for g, v in pairs if g is not None]
    train = optimizer.apply_gradients(pairs, global_step=step, name="train")
    accuracy, update_accuracy = tf.metrics.accuracy(y, found, name="accuracy")
    measures = [update_accuracy]
    tf.summary.text("found", tf.as_string(found), collections=["mine"])
    tf.summary.scalar("most", tf.reduce_max(net), collections=["mine"], family="net")
    merged = tf.summary.merge_all("mine")
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(4):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        where = os.path.join(folder, "served")
        tf.saved_model.simple_save(sess, where, {"net": net}, {"found": found})
        loaded = tf.Graph()
        with loaded.as_default(), tf.Session(graph=loaded) as other:
            meta = tf.saved_model.loader.load(other, [tf.saved_model.tag_constants.SERVING], where)
            signature = meta.signature_def["serving_default"]
            kept = signature.outputs["found"].name, signature.method_name, len(loaded.get_collection("trainable_variables"))
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def vector_branching_handles_averaged(tf):
    """Vector by handles, a branching model, entropy, averaged, listed."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(34)
    tf.set_random_seed(35)
    starts = []
    rows = rng.normal(size=(12, 6)).astype(np.float32)
    classes = (rows.sum(1) > 0).astype(np.int32) + (rows[:, 0] > 1).astype(np.int32)
    full = tf.data.Dataset.from_tensor_slices((rows, classes))
    first = full.take(8).repeat().batch(4).make_one_shot_iterator()
    second = full.skip(8).repeat().batch(4).make_initializable_iterator()
    handle = tf.placeholder(tf.string, [])
    iterator = tf.data.Iterator.from_string_handle(handle, full.batch(4).output_types, full.batch(4).output_shapes)
    x, y = iterator.get_next()
    with_handles = [first.string_handle(), second.string_handle()]
    starts.append((second.initializer, {}))
    feeds = [{handle: with_handles[i % 2]} for i in range(3)]
    first = tf.layers.dense(x, 5, tf.nn.relu, name="first")
    second = tf.layers.dense(x, 5, tf.nn.sigmoid, name="second")
    wide = tf.reduce_mean(tf.abs(x)) > 0.8
    net = tf.cond(wide, lambda: first * 2.0, lambda: first + second)
    net = tf.case([(tf.reduce_max(x) > 5.0, lambda: net * 0.5)], default=lambda: net, exclusive=True)
    w = tf.get_variable("softmax_w", [net.shape[-1].value, 3])
    logits = tf.matmul(net, w) + tf.get_variable("softmax_b", [3], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.one_hot(y, 3), logits=logits))
    found = tf.cast(tf.argmax(tf.nn.softmax(logits), -1), tf.int32)
    step = tf.train.get_or_create_global_step()
    apply = tf.train.GradientDescentOptimizer(tf.train.inverse_time_decay(0.2, step, 2, 0.5)).minimize(loss, step)
    averages = tf.train.ExponentialMovingAverage(0.6, num_updates=step)
    with tf.control_dependencies([apply]):
        train = averages.apply(tf.trainable_variables())
    accuracy, update_accuracy = tf.metrics.accuracy(y, found, name="accuracy")
    measures = [update_accuracy]
    tf.summary.text("found", tf.as_string(found), collections=["mine"])
    tf.summary.scalar("most", tf.reduce_max(net), collections=["mine"], family="net")
    merged = tf.summary.merge_all("mine")
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(5):
            feed = dict(feeds[i % 3])
            feed = {key: sess.run(value) if hasattr(value, "op") else value for key, value in feed.items()}
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        saver = tf.train.Saver(tf.trainable_variables(), write_version=tf.train.SaverDef.V2)
        path = saver.save(sess, os.path.join(folder, "part"), write_meta_graph=False)
        reader = tf.train.NewCheckpointReader(path)
        kept = sorted(reader.get_variable_to_shape_map().items()), [v for v in tf.trainable_variables()[:1] if reader.has_tensor(v.op.name)] != []
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape, tf.get_seed(None)


def words_looked_up_placeholders_two_optimizers(tf):
    """Words by placeholders, a looked up model, regression, two optimizers, imported."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(35)
    tf.set_random_seed(36)
    starts = []
    rows = rng.randint(1, 11, size=(12, 5)).astype(np.int32)
    classes = (rows.sum(1) % 3).astype(np.int32)
    x = tf.placeholder(tf.int32, [None, 5], name="x")
    y = tf.placeholder(tf.int32, [None], name="y")
    feeds = [{x: rows[4 * i:4 * i + 4], y: classes[4 * i:4 * i + 4]} for i in range(3)]
    keys = tf.constant(list(range(12)), tf.int64)
    renamed = tf.contrib.lookup.HashTable(tf.contrib.lookup.KeyValueTensorInitializer(keys, (keys * 5) % 12), 0)
    ids = renamed.lookup(tf.cast(x, tf.int64))
    starts.append((tf.tables_initializer(), {}))
    net = tf.contrib.layers.embed_sequence(ids, 12, 4, scope="embed")
    net = tf.layers.flatten(net)
    guess = tf.squeeze(tf.layers.dense(net, 1, name="guess"), [-1])
    target = tf.cast(y, tf.float32)
    loss = tf.losses.huber_loss(target, guess, delta=0.7) + tf.sqrt(tf.reduce_mean(tf.squared_difference(target, guess)) + 1e-3)
    found = tf.cast(tf.round(tf.clip_by_value(guess, 0.0, 2.0)), tf.int32)
    step = tf.train.get_or_create_global_step()
    variables = tf.trainable_variables()
    optimizers = tf.train.AdadeltaOptimizer(1.0, epsilon=1e-3), tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.001)
    gradients = tf.tuple(tf.gradients(loss, variables))
    first = optimizers[0].apply_gradients(list(zip(gradients, variables))[:1])
    second = optimizers[1].apply_gradients(list(zip(gradients, variables))[1:], global_step=step)
    train = tf.group(first, second, name="train")
    matrix = tf.confusion_matrix(y, tf.clip_by_value(found, 0, 2), num_classes=3)
    right = tf.reduce_mean(tf.cast(tf.equal(found, y), tf.float32))
    measures = [matrix, right]
    tf.summary.text("found", tf.as_string(found), collections=["mine"])
    tf.summary.scalar("most", tf.reduce_max(net), collections=["mine"], family="net")
    merged = tf.summary.merge_all("mine")
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(6):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        tf.add_to_collection("found", found)
        path = tf.train.Saver().save(sess, os.path.join(folder, "whole"))
        with tf.Graph().as_default(), tf.Session() as other:
            again = tf.train.import_meta_graph(path + ".meta", clear_devices=True)
            again.restore(other, path)
            kept = [v.name for v in tf.trainable_variables()], [np.abs(v).sum() for v in other.run(tf.trainable_variables())], tf.get_collection("found")[0].name
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape, tf.get_seed(None)


def image_separable_queue_runner_averaged(tf):
    """Image by queue runner, a separable model, many sigmoids, averaged, supervised."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(36)
    tf.set_random_seed(37)
    starts = []
    rows = rng.uniform(size=(12, 8, 8, 3)).astype(np.float32)
    classes = (rows.mean((1, 2)).argmax(1)).astype(np.int32)
    queue = tf.PaddingFIFOQueue(24, [tf.float32, tf.int32], shapes=[[8, 8, 3], []])
    fill = queue.enqueue_many([tf.constant(rows), tf.constant(classes)])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [fill]))
    x, y = queue.dequeue_many(4)
    feeds = [{}] * 3
    net = tf.layers.separable_conv2d(x, 5, 3, depth_multiplier=2, activation=tf.nn.relu, name="separable")
    net = tf.nn.depthwise_conv2d(net, tf.get_variable("depthwise", [2, 2, 5, 1]), [1, 2, 2, 1], "SAME")
    net = tf.reduce_max(net, [1, 2])
    logits = tf.layers.dense(net, 3, name="logits")
    each = tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.one_hot(y, 3), logits=logits)
    loss = tf.reduce_mean(tf.reduce_sum(each, 1))
    found = tf.argmax(tf.sigmoid(logits), 1, output_type=tf.int32)
    step = tf.train.get_or_create_global_step()
    apply = tf.train.GradientDescentOptimizer(tf.train.inverse_time_decay(0.2, step, 2, 0.5)).minimize(loss, step)
    averages = tf.train.ExponentialMovingAverage(0.6, num_updates=step)
    with tf.control_dependencies([apply]):
        train = averages.apply(tf.trainable_variables())
    named = {
        "right": tf.contrib.metrics.streaming_accuracy(found, y),
        "per_class": tf.metrics.mean_per_class_accuracy(y, tf.clip_by_value(found, 0, 2), 3),
    }
    values, updates = tf.contrib.metrics.aggregate_metric_map(named)
    measures = [updates]
    with tf.name_scope("watch"):
        parts = [tf.summary.scalar("loss", loss), tf.summary.scalar("units", tf.shape(net)[1])]
        for variable in tf.trainable_variables()[:2]:
            parts.append(tf.summary.histogram(variable.op.name, variable))
    merged = tf.summary.merge(parts)
    losses, texts = [], []
    supervisor = tf.train.Supervisor(logdir=folder, global_step=step, summary_op=None, save_model_secs=0)
    with supervisor.managed_session() as sess:
        for op, feed in starts:
            sess.run(op, feed)
        for i in range(4):
            if supervisor.should_stop():
                break
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            losses.append(value)
            texts.append(text)
        path = supervisor.saver.save(sess, supervisor.save_path, global_step=step)
    tags = sorted({v.tag for text in texts for v in tf.Summary.FromString(text).value})
    kept = os.path.basename(path), len(tf.train.list_variables(path))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def series_blocks_initializable_optimize_loss(tf):
    """Series by initializable, a blocks model, entropy, optimize loss, renamed."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(37)
    tf.set_random_seed(38)
    starts = []
    rows = rng.normal(size=(12, 5, 4)).astype(np.float32)
    classes = rows[:, 0].argmax(1).astype(np.int32) % 3
    held_x = tf.placeholder(tf.float32, [None, 5, 4])
    held_y = tf.placeholder(tf.int32, [None])
    data = tf.data.Dataset.from_tensor_slices({"row": held_x, "class": held_y})
    data = data.map(lambda one: (one["row"] * 2, one["class"]), num_parallel_calls=2).apply(tf.data.experimental.shuffle_and_repeat(12, seed=5))
    iterator = data.batch(4, drop_remainder=True).make_initializable_iterator()
    x, y = iterator.get_next()
    starts.append((iterator.initializer, {held_x: rows, held_y: classes}))
    feeds = [{}] * 3
    cell = tf.contrib.rnn.LSTMBlockCell(4) if len(rows) % 2 else tf.contrib.rnn.LayerNormBasicLSTMCell(4)
    with tf.variable_scope("rnn", initializer=tf.random_uniform_initializer(-0.2, 0.2)):
        outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, time_major=False)
    net = tf.nn.l2_normalize(state[1], 1)
    w = tf.get_variable("softmax_w", [net.shape[-1].value, 3])
    logits = tf.matmul(net, w) + tf.get_variable("softmax_b", [3], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.one_hot(y, 3), logits=logits))
    found = tf.cast(tf.argmax(tf.nn.softmax(logits), -1), tf.int32)
    step = tf.train.get_or_create_global_step()
    decay = lambda rate, now: tf.train.polynomial_decay(rate, now, 4, 0.01, power=2.0)
    train = tf.contrib.layers.optimize_loss(loss, step, 0.1, "Adam", clip_gradients=1.0, learning_rate_decay_fn=decay, summaries=["loss"])
    with tf.variable_scope("measures"):
        mean, update_mean = tf.metrics.mean(loss)
        recall, update_recall = tf.metrics.recall(tf.equal(y, 1), tf.equal(found, 1))
        wrong, update_wrong = tf.metrics.mean_absolute_error(tf.cast(y, tf.float32), tf.cast(found, tf.float32))
    measures = [update_mean, update_recall, update_wrong]
    tf.summary.text("found", tf.as_string(found), collections=["mine"])
    tf.summary.scalar("most", tf.reduce_max(net), collections=["mine"], family="net")
    merged = tf.summary.merge_all("mine")
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(5):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        named = {"old/" + v.op.name: v for v in tf.trainable_variables()}
        path = tf.train.Saver(named).save(sess, os.path.join(folder, "old"), global_step=7)
        kept = tf.train.list_variables(path), tf.train.latest_checkpoint(folder) == path, tf.train.checkpoint_exists(path)
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def vector_by_hand_placeholders_clipped(tf):
    """Vector by placeholders, a by hand model, sampled, clipped, supervised."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(38)
    tf.set_random_seed(39)
    starts = []
    rows = rng.normal(size=(12, 6)).astype(np.float32)
    classes = (rows.sum(1) > 0).astype(np.int32) + (rows[:, 0] > 1).astype(np.int32)
    x = tf.placeholder(tf.float32, [None, 6], name="x")
    y = tf.placeholder(tf.int32, [None], name="y")
    feeds = [{x: rows[4 * i:4 * i + 4], y: classes[4 * i:4 * i + 4]} for i in range(3)]
    net = x
    for i, (width, out) in enumerate([(6, 7), (7, 5)]):
        with tf.name_scope("layer%d" % i):
            weights = tf.Variable(tf.truncated_normal([width, out], stddev=0.3), name="weights")
            biases = tf.Variable(tf.constant(0.1, shape=[out]), name="biases")
            net = tf.nn.elu(tf.nn.xw_plus_b(net, weights, biases))
    weights = tf.get_variable("out_w", [3, net.shape.as_list()[-1]])
    biases = tf.get_variable("out_b", [3], initializer=tf.zeros_initializer())
    labels = tf.expand_dims(tf.cast(y, tf.int64), 1)
    found = tf.argmax(tf.matmul(net, weights, transpose_b=True) + biases, 1, output_type=tf.int32)
    with tf.control_dependencies([found]):
        last_units = tf.identity(net)
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, labels, last_units, num_sampled=2, num_classes=3))
    step = tf.train.get_or_create_global_step()
    variables = tf.trainable_variables()
    grads, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 0.5)
    train = tf.train.RMSPropOptimizer(0.02, momentum=0.1, centered=True).apply_gradients(zip(grads, variables), global_step=step)
    tf.summary.scalar("norm", norm)
    accuracy, update_accuracy = tf.metrics.accuracy(y, found, name="accuracy")
    measures = [update_accuracy]
    with tf.name_scope("watch"):
        parts = [tf.summary.scalar("loss", loss), tf.summary.scalar("units", tf.shape(net)[1])]
        for variable in tf.trainable_variables()[:2]:
            parts.append(tf.summary.histogram(variable.op.name, variable))
    merged = tf.summary.merge(parts)
    losses, texts = [], []
    supervisor = tf.train.Supervisor(logdir=folder, global_step=step, summary_op=None, save_model_secs=0)
    with supervisor.managed_session() as sess:
        for op, feed in starts:
            sess.run(op, feed)
        for i in range(6):
            if supervisor.should_stop():
                break
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            losses.append(value)
            texts.append(text)
        path = supervisor.saver.save(sess, supervisor.save_path, global_step=step)
    tags = sorted({v.tag for text in texts for v in tf.Summary.FromString(text).value})
    kept = os.path.basename(path), len(tf.train.list_variables(path))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape, tf.get_seed(None)


def words_hot_queue_runner_accumulated(tf):
    """Words by queue runner, a hot model, by hand, accumulated, stated."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(39)
    tf.set_random_seed(40)
    starts = []
    rows = rng.randint(1, 11, size=(12, 5)).astype(np.int32)
    classes = (rows.sum(1) % 3).astype(np.int32)
    queue = tf.PaddingFIFOQueue(24, [tf.int32, tf.int32], shapes=[[5], []])
    fill = queue.enqueue_many([tf.constant(rows), tf.constant(classes)])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [fill]))
    x, y = queue.dequeue_many(4)
    feeds = [{}] * 3
    hot = tf.one_hot(x, 12, on_value=1.0, off_value=-0.1)
    net = tf.layers.dense(tf.reshape(hot, [-1, 5 * 12]), 6, tf.nn.tanh, name="dense")
    logits = tf.layers.dense(net, 3, name="logits", kernel_initializer=tf.random_normal_initializer(stddev=0.1))
    chance = tf.clip_by_value(tf.nn.softmax(logits), 1e-6, 1.0)
    taken = tf.gather_nd(chance, tf.stack([tf.range(tf.shape(y)[0]), y], 1))
    loss = -tf.reduce_mean(tf.pow(1.0 - taken, 2.0) * tf.log(taken))
    found = tf.cast(tf.argmax(chance, 1), tf.int32)
    step = tf.train.get_or_create_global_step()
    variables = tf.trainable_variables()
    sums = [tf.Variable(tf.zeros_like(v.initialized_value()), trainable=False) for v in variables]
    gradients = [tf.zeros_like(v) if g is None else tf.convert_to_tensor(g) for g, v in zip(tf.gradients(loss, variables), variables)]
    added = [tf.assign_add(s, g) for s, g in zip(sums, gradients)]
    with tf.control_dependencies(added):
        train = tf.train.ProximalGradientDescentOptimizer(0.05).apply_gradients([(s.read_value(), v) for s, v in zip(sums, variables)], step)
    matrix = tf.confusion_matrix(y, tf.clip_by_value(found, 0, 2), num_classes=3)
    right = tf.reduce_mean(tf.cast(tf.equal(found, y), tf.float32))
    measures = [matrix, right]
    with tf.name_scope("watch"):
        parts = [tf.summary.scalar("loss", loss), tf.summary.scalar("units", tf.shape(net)[1])]
        for variable in tf.trainable_variables()[:2]:
            parts.append(tf.summary.histogram(variable.op.name, variable))
    merged = tf.summary.merge(parts)
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(4):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        saver = tf.train.Saver(max_to_keep=2, keep_checkpoint_every_n_hours=1)
        paths = [saver.save(sess, os.path.join(folder, "many"), global_step=i) for i in range(4)]
        state = tf.train.get_checkpoint_state(folder)
        kept = [os.path.basename(p) for p in state.all_model_checkpoint_paths], [os.path.exists(p + ".index") for p in paths]
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=10)
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape, tf.get_seed(None)


def image_changed_py_func_optimize_loss(tf):
    """Image by py func, a changed model, hinge, optimize loss, restored."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(40)
    tf.set_random_seed(41)
    starts = []
    rows = rng.uniform(size=(12, 8, 8, 3)).astype(np.float32)
    classes = (rows.mean((1, 2)).argmax(1)).astype(np.int32)
    def take(i):
        return rows[4 * (i % 3):4 * (i % 3) + 4], classes[4 * (i % 3):4 * (i % 3) + 4]

    turn = tf.get_variable("turn", [], tf.int64, tf.zeros_initializer(), trainable=False)
    x, y = tf.py_func(take, [tf.assign_add(turn, 1)], [tf.float32, tf.int32])
    x.set_shape([4] + [8, 8, 3])
    y.set_shape([4])
    feeds = [{}] * 3
    net = tf.image.resize_bilinear(x, [6, 6])
    net = tf.map_fn(lambda one: tf.image.per_image_standardization(one), net)
    net = tf.image.adjust_contrast(tf.image.flip_left_right(net), 0.5)
    net = tf.layers.dense(tf.layers.flatten(tf.space_to_depth(net, 2)), 6, tf.nn.selu, name="dense")
    large = 0.01 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    with tf.control_dependencies([large]):
        logits = tf.layers.dense(net, 3, name="logits", use_bias=False)
    loss = tf.losses.hinge_loss(tf.one_hot(y, 3), logits, reduction=tf.losses.Reduction.MEAN) + large
    found = tf.argmax(logits, 1, output_type=tf.int32)
    step = tf.train.get_or_create_global_step()
    decay = lambda rate, now: tf.train.polynomial_decay(rate, now, 4, 0.01, power=2.0)
    train = tf.contrib.layers.optimize_loss(loss, step, 0.1, "Adam", clip_gradients=1.0, learning_rate_decay_fn=decay, summaries=["loss"])
    accuracy, update_accuracy = tf.metrics.accuracy(y, found, name="accuracy")
    measures = [update_accuracy]
    with tf.name_scope("watch"):
        parts = [tf.summary.scalar("loss", loss), tf.summary.scalar("units", tf.shape(net)[1])]
        for variable in tf.trainable_variables()[:2]:
            parts.append(tf.summary.histogram(variable.op.name, variable))
    merged = tf.summary.merge(parts)
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(5):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        saver = tf.train.Saver(max_to_keep=2)
        path = saver.save(sess, os.path.join(folder, "model"), global_step=step)
        before = sess.run(tf.trainable_variables())
        sess.run(tf.global_variables_initializer())
        saver.restore(sess, path)
        after = sess.run(tf.trainable_variables())
        kept = [bool((a == b).all()) for a, b in zip(before, after)], os.path.basename(path)
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def series_attended_initializable_descent(tf):
    """Series by initializable, a attended model, hinge, descent, listed."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(41)
    tf.set_random_seed(42)
    starts = []
    rows = rng.normal(size=(12, 5, 4)).astype(np.float32)
    classes = rows[:, 0].argmax(1).astype(np.int32) % 3
    held_x = tf.placeholder(tf.float32, [None, 5, 4])
    held_y = tf.placeholder(tf.int32, [None])
    data = tf.data.Dataset.from_tensor_slices({"row": held_x, "class": held_y})
    data = data.map(lambda one: (one["row"] * 2, one["class"]), num_parallel_calls=2).apply(tf.data.experimental.shuffle_and_repeat(12, seed=5))
    iterator = data.batch(4, drop_remainder=True).make_initializable_iterator()
    x, y = iterator.get_next()
    starts.append((iterator.initializer, {held_x: rows, held_y: classes}))
    feeds = [{}] * 3
    keys = tf.layers.dense(x, 4, use_bias=False, name="keys")
    query = tf.get_variable("query", [4], initializer=tf.random_normal_initializer())
    weights = tf.nn.softmax(tf.reduce_sum(keys * query, -1) / np.sqrt(4.0).astype(np.float32))
    net = tf.squeeze(tf.matmul(tf.expand_dims(weights, 1), x), [1])
    net = tf.contrib.layers.layer_norm(net)
    large = 0.01 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    with tf.control_dependencies([large]):
        logits = tf.layers.dense(net, 3, name="logits", use_bias=False)
    loss = tf.losses.hinge_loss(tf.one_hot(y, 3), logits, reduction=tf.losses.Reduction.MEAN) + large
    found = tf.argmax(logits, 1, output_type=tf.int32)
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.3, step, 2, 0.5, staircase=True)
    train = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
    accuracy, update_accuracy = tf.metrics.accuracy(y, found, name="accuracy")
    measures = [update_accuracy]
    with tf.name_scope("watch"):
        parts = [tf.summary.scalar("loss", loss), tf.summary.scalar("units", tf.shape(net)[1])]
        for variable in tf.trainable_variables()[:2]:
            parts.append(tf.summary.histogram(variable.op.name, variable))
    merged = tf.summary.merge(parts)
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(6):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        saver = tf.train.Saver(tf.trainable_variables(), write_version=tf.train.SaverDef.V2)
        path = saver.save(sess, os.path.join(folder, "part"), write_meta_graph=False)
        reader = tf.train.NewCheckpointReader(path)
        kept = sorted(reader.get_variable_to_shape_map().items()), [v for v in tf.trainable_variables()[:1] if reader.has_tensor(v.op.name)] != []
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape, tf.get_seed(None)


def vector_highway_record_reader_accumulated(tf):
    """Vector by record reader, a highway model, sampled, accumulated, imported."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(42)
    tf.set_random_seed(43)
    starts = []
    rows = rng.normal(size=(12, 6)).astype(np.float32)
    classes = (rows.sum(1) > 0).astype(np.int32) + (rows[:, 0] > 1).astype(np.int32)
    path = os.path.join(folder, "data.tfrecord")
    with tf.python_io.TFRecordWriter(path) as writer:
        for row, one in zip(rows, classes):
            features = {
                "row": tf.train.Feature(bytes_list=tf.train.BytesList(value=[row.tobytes()])),
                "class": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(one)])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    names = tf.train.string_input_producer([path], num_epochs=None, shuffle=False)
    _, text = tf.TFRecordReader().read(names)
    found = tf.parse_single_example(text, {"row": tf.FixedLenFeature([], tf.string), "class": tf.FixedLenFeature([1], tf.int64)})
    row = tf.reshape(tf.decode_raw(found["row"], tf.float32), [6])
    x, y = tf.train.batch([row, tf.cast(found["class"][0], tf.int32)], batch_size=4)
    feeds = [{}] * 3
    net = tf.layers.dense(x, 6, name="in")
    for i in range(2):
        with tf.variable_scope("highway_%d" % i, initializer=tf.random_uniform_initializer(-0.4, 0.4)):
            gate = tf.sigmoid(tf.layers.dense(net, 6, name="gate", bias_initializer=tf.constant_initializer(-1.0)))
            made = tf.nn.relu(tf.layers.dense(net, 6, name="made"))
            net = gate * made + (1.0 - gate) * net
    weights = tf.get_variable("out_w", [3, net.shape.as_list()[-1]])
    biases = tf.get_variable("out_b", [3], initializer=tf.zeros_initializer())
    labels = tf.expand_dims(tf.cast(y, tf.int64), 1)
    found = tf.argmax(tf.matmul(net, weights, transpose_b=True) + biases, 1, output_type=tf.int32)
    with tf.control_dependencies([found]):
        last_units = tf.identity(net)
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, labels, last_units, num_sampled=2, num_classes=3))
    step = tf.train.get_or_create_global_step()
    variables = tf.trainable_variables()
    sums = [tf.Variable(tf.zeros_like(v.initialized_value()), trainable=False) for v in variables]
    gradients = [tf.zeros_like(v) if g is None else tf.convert_to_tensor(g) for g, v in zip(tf.gradients(loss, variables), variables)]
    added = [tf.assign_add(s, g) for s, g in zip(sums, gradients)]
    with tf.control_dependencies(added):
        train = tf.train.ProximalGradientDescentOptimizer(0.05).apply_gradients([(s.read_value(), v) for s, v in zip(sums, variables)], step)
    with tf.variable_scope("measures"):
        mean, update_mean = tf.metrics.mean(loss)
        recall, update_recall = tf.metrics.recall(tf.equal(y, 1), tf.equal(found, 1))
        wrong, update_wrong = tf.metrics.mean_absolute_error(tf.cast(y, tf.float32), tf.cast(found, tf.float32))
    measures = [update_mean, update_recall, update_wrong]
    with tf.name_scope("watch"):
        parts = [tf.summary.scalar("loss", loss), tf.summary.scalar("units", tf.shape(net)[1])]
        for variable in tf.trainable_variables()[:2]:
            parts.append(tf.summary.histogram(variable.op.name, variable))
    merged = tf.summary.merge(parts)
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(4):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        tf.add_to_collection("found", found)
        path = tf.train.Saver().save(sess, os.path.join(folder, "whole"))
        with tf.Graph().as_default(), tf.Session() as other:
            again = tf.train.import_meta_graph(path + ".meta", clear_devices=True)
            again.restore(other, path)
            kept = [v.name for v in tf.trainable_variables()], [np.abs(v).sum() for v in other.run(tf.trainable_variables())], tf.get_collection("found")[0].name
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=10)
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape, tf.get_seed(None)


def words_sparse_slices_momentum(tf):
    """Words by slices, a sparse model, categorical, momentum, restored."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(43)
    tf.set_random_seed(44)
    starts = []
    rows = rng.randint(1, 11, size=(12, 5)).astype(np.int32)
    classes = (rows.sum(1) % 3).astype(np.int32)
    data = tf.data.Dataset.from_tensor_slices((rows, classes))
    data = data.shuffle(12, seed=3).repeat().batch(4).prefetch(1)
    x, y = data.make_one_shot_iterator().get_next()
    feeds = [{}] * 3
    places = tf.where(tf.greater(x, 0))
    ids = tf.SparseTensor(places, tf.gather_nd(x, places), tf.cast(tf.shape(x), tf.int64))
    table = tf.get_variable("table", [12, 5], initializer=tf.truncated_normal_initializer(stddev=0.5))
    net = tf.nn.embedding_lookup_sparse(table, ids, None, combiner="sqrtn")
    logits = tf.layers.dense(net, 3, name="logits")
    chosen = tf.distributions.Categorical(logits=logits)
    loss = -tf.reduce_mean(chosen.log_prob(y)) - 0.1 * tf.reduce_mean(chosen.entropy())
    found = tf.cast(tf.argmax(logits, 1), tf.int32)
    step = tf.Variable(0, trainable=False, name="global_step", dtype=tf.int64)
    rate = tf.train.piecewise_constant(step, [1, 3], [0.2, 0.1, 0.05])
    train = tf.train.MomentumOptimizer(rate, 0.9, use_nesterov=True).minimize(loss, step)
    matrix = tf.confusion_matrix(y, tf.clip_by_value(found, 0, 2), num_classes=3)
    right = tf.reduce_mean(tf.cast(tf.equal(found, y), tf.float32))
    measures = [matrix, right]
    with tf.name_scope("watch"):
        parts = [tf.summary.scalar("loss", loss), tf.summary.scalar("units", tf.shape(net)[1])]
        for variable in tf.trainable_variables()[:2]:
            parts.append(tf.summary.histogram(variable.op.name, variable))
    merged = tf.summary.merge(parts)
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(5):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        saver = tf.train.Saver(max_to_keep=2)
        path = saver.save(sess, os.path.join(folder, "model"), global_step=step)
        before = sess.run(tf.trainable_variables())
        sess.run(tf.global_variables_initializer())
        saver.restore(sess, path)
        after = sess.run(tf.trainable_variables())
        kept = [bool((a == b).all()) for a, b in zip(before, after)], os.path.basename(path)
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def image_by_hand_queue_fed_cosine(tf):
    """Image by queue fed, a by hand model, collected, cosine, renamed."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(44)
    tf.set_random_seed(45)
    starts = []
    rows = rng.uniform(size=(12, 8, 8, 3)).astype(np.float32)
    classes = (rows.mean((1, 2)).argmax(1)).astype(np.int32)
    queue = tf.FIFOQueue(36, [tf.float32, tf.int32], [[8, 8, 3], []], name="rows")
    into = [tf.placeholder(tf.float32, [None, 8, 8, 3]), tf.placeholder(tf.int32, [None])]
    fill = queue.enqueue_many(into)
    starts.extend([(fill, {into[0]: rows, into[1]: classes})] * 3)
    x, y = queue.dequeue_many(4)
    feeds = [{}] * 3
    kernel = tf.get_variable("kernel", [3, 3, 3, 4], initializer=tf.contrib.layers.xavier_initializer_conv2d())
    net = tf.nn.bias_add(tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME"), tf.get_variable("biases", [4]))
    net = tf.nn.avg_pool(tf.nn.relu(net), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    net = tf.reshape(net, [-1, int(np.prod(net.shape.as_list()[1:]))])
    logits = tf.contrib.layers.fully_connected(net, 3, activation_fn=None, scope="logits")
    tf.losses.sparse_softmax_cross_entropy(labels=y, logits=logits, weights=0.5 + tf.cast(y, tf.float32))
    loss = tf.losses.get_total_loss()
    found = tf.nn.top_k(logits, 1).indices[:, 0]
    step = tf.Variable(0, trainable=False)
    rate = tf.train.cosine_decay(0.2, step, 6, alpha=0.1)
    optimizer = tf.train.AdamOptimizer(rate, epsilon=1e-4)
    train = optimizer.minimize(loss, global_step=step, colocate_gradients_with_ops=True, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE)
    accuracy, update_accuracy = tf.metrics.accuracy(y, found, name="accuracy")
    measures = [update_accuracy]
    tf.summary.text("found", tf.as_string(found), collections=["mine"])
    tf.summary.scalar("most", tf.reduce_max(net), collections=["mine"], family="net")
    merged = tf.summary.merge_all("mine")
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(6):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        named = {"old/" + v.op.name: v for v in tf.trainable_variables()}
        path = tf.train.Saver(named).save(sess, os.path.join(folder, "old"), global_step=7)
        kept = tf.train.list_variables(path), tf.train.latest_checkpoint(folder) == path, tf.train.checkpoint_exists(path)
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def series_array_queue_runner_accumulated(tf):
    """Series by queue runner, a array model, by hand, accumulated, renamed."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(45)
    tf.set_random_seed(46)
    starts = []
    rows = rng.normal(size=(12, 5, 4)).astype(np.float32)
    classes = rows[:, 0].argmax(1).astype(np.int32) % 3
    queue = tf.PaddingFIFOQueue(24, [tf.float32, tf.int32], shapes=[[5, 4], []])
    fill = queue.enqueue_many([tf.constant(rows), tf.constant(classes)])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [fill]))
    x, y = queue.dequeue_many(4)
    feeds = [{}] * 3
    w = tf.get_variable("w", [4 + 3, 3])
    by_time = tf.TensorArray(tf.float32, 5).unstack(tf.transpose(x, [1, 0, 2]))

    def step(t, state, made):
        state = tf.tanh(tf.matmul(tf.concat([by_time.read(t), state], 1), w))
        return t + 1, state, made.write(t, state)

    first = tf.zeros([tf.shape(x)[0], 3])
    _, last, made = tf.while_loop(lambda t, *_: t < 5, step, [0, first, tf.TensorArray(tf.float32, 5)], parallel_iterations=1)
    net = last + tf.reduce_max(made.stack(), 0)
    net.set_shape([None, 3])
    logits = tf.layers.dense(net, 3, name="logits", kernel_initializer=tf.random_normal_initializer(stddev=0.1))
    chance = tf.clip_by_value(tf.nn.softmax(logits), 1e-6, 1.0)
    taken = tf.gather_nd(chance, tf.stack([tf.range(tf.shape(y)[0]), y], 1))
    loss = -tf.reduce_mean(tf.pow(1.0 - taken, 2.0) * tf.log(taken))
    found = tf.cast(tf.argmax(chance, 1), tf.int32)
    step = tf.train.get_or_create_global_step()
    variables = tf.trainable_variables()
    sums = [tf.Variable(tf.zeros_like(v.initialized_value()), trainable=False) for v in variables]
    gradients = [tf.zeros_like(v) if g is None else tf.convert_to_tensor(g) for g, v in zip(tf.gradients(loss, variables), variables)]
    added = [tf.assign_add(s, g) for s, g in zip(sums, gradients)]
    with tf.control_dependencies(added):
        train = tf.train.ProximalGradientDescentOptimizer(0.05).apply_gradients([(s.read_value(), v) for s, v in zip(sums, variables)], step)
    accuracy, update_accuracy = tf.metrics.accuracy(y, found, name="accuracy")
    measures = [update_accuracy]
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("net", net)
    merged = tf.summary.merge_all()
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(4):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        named = {"old/" + v.op.name: v for v in tf.trainable_variables()}
        path = tf.train.Saver(named).save(sess, os.path.join(folder, "old"), global_step=7)
        kept = tf.train.list_variables(path), tf.train.latest_checkpoint(folder) == path, tf.train.checkpoint_exists(path)
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=10)
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def vector_by_hand_record_reader_optimize_loss(tf):
    """Vector by record reader, a by hand model, regression, optimize loss, listed."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(46)
    tf.set_random_seed(47)
    starts = []
    rows = rng.normal(size=(12, 6)).astype(np.float32)
    classes = (rows.sum(1) > 0).astype(np.int32) + (rows[:, 0] > 1).astype(np.int32)
    path = os.path.join(folder, "data.tfrecord")
    with tf.python_io.TFRecordWriter(path) as writer:
        for row, one in zip(rows, classes):
            features = {
                "row": tf.train.Feature(bytes_list=tf.train.BytesList(value=[row.tobytes()])),
                "class": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(one)])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    names = tf.train.string_input_producer([path], num_epochs=None, shuffle=False)
    _, text = tf.TFRecordReader().read(names)
    found = tf.parse_single_example(text, {"row": tf.FixedLenFeature([], tf.string), "class": tf.FixedLenFeature([1], tf.int64)})
    row = tf.reshape(tf.decode_raw(found["row"], tf.float32), [6])
    x, y = tf.train.batch([row, tf.cast(found["class"][0], tf.int32)], batch_size=4)
    feeds = [{}] * 3
    net = x
    for i, (width, out) in enumerate([(6, 7), (7, 5)]):
        with tf.name_scope("layer%d" % i):
            weights = tf.Variable(tf.truncated_normal([width, out], stddev=0.3), name="weights")
            biases = tf.Variable(tf.constant(0.1, shape=[out]), name="biases")
            net = tf.nn.elu(tf.nn.xw_plus_b(net, weights, biases))
    guess = tf.squeeze(tf.layers.dense(net, 1, name="guess"), [-1])
    target = tf.cast(y, tf.float32)
    loss = tf.losses.huber_loss(target, guess, delta=0.7) + tf.sqrt(tf.reduce_mean(tf.squared_difference(target, guess)) + 1e-3)
    found = tf.cast(tf.round(tf.clip_by_value(guess, 0.0, 2.0)), tf.int32)
    step = tf.train.get_or_create_global_step()
    decay = lambda rate, now: tf.train.polynomial_decay(rate, now, 4, 0.01, power=2.0)
    train = tf.contrib.layers.optimize_loss(loss, step, 0.1, "Adam", clip_gradients=1.0, learning_rate_decay_fn=decay, summaries=["loss"])
    matrix = tf.confusion_matrix(y, tf.clip_by_value(found, 0, 2), num_classes=3)
    right = tf.reduce_mean(tf.cast(tf.equal(found, y), tf.float32))
    measures = [matrix, right]
    tf.summary.text("found", tf.as_string(found), collections=["mine"])
    tf.summary.scalar("most", tf.reduce_max(net), collections=["mine"], family="net")
    merged = tf.summary.merge_all("mine")
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(5):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        saver = tf.train.Saver(tf.trainable_variables(), write_version=tf.train.SaverDef.V2)
        path = saver.save(sess, os.path.join(folder, "part"), write_meta_graph=False)
        reader = tf.train.NewCheckpointReader(path)
        kept = sorted(reader.get_variable_to_shape_map().items()), [v for v in tf.trainable_variables()[:1] if reader.has_tensor(v.op.name)] != []
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=10)
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape, tf.get_seed(None)


def words_convolved_handles_each_clipped(tf):
    """Words by handles, a convolved model, entropy, each clipped, listed."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(47)
    tf.set_random_seed(48)
    starts = []
    rows = rng.randint(1, 11, size=(12, 5)).astype(np.int32)
    classes = (rows.sum(1) % 3).astype(np.int32)
    full = tf.data.Dataset.from_tensor_slices((rows, classes))
    first = full.take(8).repeat().batch(4).make_one_shot_iterator()
    second = full.skip(8).repeat().batch(4).make_initializable_iterator()
    handle = tf.placeholder(tf.string, [])
    iterator = tf.data.Iterator.from_string_handle(handle, full.batch(4).output_types, full.batch(4).output_shapes)
    x, y = iterator.get_next()
    with_handles = [first.string_handle(), second.string_handle()]
    starts.append((second.initializer, {}))
    feeds = [{handle: with_handles[i % 2]} for i in range(3)]
    table = tf.get_variable("table", [12, 4])
    wide = tf.expand_dims(tf.nn.embedding_lookup(table, x), -1)
    pooled = []
    for size in (2, 3):
        with tf.variable_scope("size%d" % size):
            made = tf.layers.conv2d(wide, 3, [size, 4], activation=tf.nn.relu, name="conv")
            pooled.append(tf.reduce_max(made, [1, 2]))
    net = tf.nn.dropout(tf.concat(pooled, 1), 0.7)
    w = tf.get_variable("softmax_w", [net.shape[-1].value, 3])
    logits = tf.matmul(net, w) + tf.get_variable("softmax_b", [3], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.one_hot(y, 3), logits=logits))
    found = tf.cast(tf.argmax(tf.nn.softmax(logits), -1), tf.int32)
    step = tf.Variable(0, trainable=False, name="step")
    optimizer = tf.train.AdagradOptimizer(0.1)
    pairs = optimizer.compute_gradients(loss, gate_gradients=tf.train.Optimizer.GATE_GRAPH)
    pairs = [(tf.clip_by_norm(g, 0.3), v) for g, v in pairs if g is not None]
    train = optimizer.apply_gradients(pairs, global_step=step, name="train")
    matrix = tf.confusion_matrix(y, tf.clip_by_value(found, 0, 2), num_classes=3)
    right = tf.reduce_mean(tf.cast(tf.equal(found, y), tf.float32))
    measures = [matrix, right]
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("net", net)
    merged = tf.summary.merge_all()
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(6):
            feed = dict(feeds[i % 3])
            feed = {key: sess.run(value) if hasattr(value, "op") else value for key, value in feed.items()}
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        saver = tf.train.Saver(tf.trainable_variables(), write_version=tf.train.SaverDef.V2)
        path = saver.save(sess, os.path.join(folder, "part"), write_meta_graph=False)
        reader = tf.train.NewCheckpointReader(path)
        kept = sorted(reader.get_variable_to_shape_map().items()), [v for v in tf.trainable_variables()[:1] if reader.has_tensor(v.op.name)] != []
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape, tf.get_seed(None)


def image_residual_generator_two_optimizers(tf):
    """Image by generator, a residual model, likelihood, two optimizers, supervised."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(48)
    tf.set_random_seed(49)
    starts = []
    rows = rng.uniform(size=(12, 8, 8, 3)).astype(np.float32)
    classes = (rows.mean((1, 2)).argmax(1)).astype(np.int32)
    def produce():
        for row, one in zip(rows, classes):
            yield row, one

    data = tf.data.Dataset.from_generator(produce, (tf.float32, tf.int32), ([8, 8, 3], []))
    data = data.repeat(3).filter(lambda row, one: one < 3).batch(4)
    x, y = data.make_one_shot_iterator().get_next()
    feeds = [{}] * 3
    net = tf.layers.conv2d(x, 4, 1, name="in")
    for i in range(2):
        with tf.variable_scope("block%d" % i):
            kept = net
            net = tf.nn.relu(tf.layers.batch_normalization(net, training=True, name="norm"))
            net = tf.layers.conv2d(net, 4, 3, padding="same", use_bias=False, name="conv") + kept
    net = tf.layers.flatten(tf.layers.average_pooling2d(net, 4, 4))
    mean = tf.layers.dense(net, 1, name="mean")[:, 0]
    spread = tf.layers.dense(net, 1, tf.nn.softplus, name="spread")[:, 0] + 0.1
    normal = tf.distributions.Normal(mean, spread)
    apart = tf.distributions.kl_divergence(normal, tf.distributions.Normal(0.0, 1.0))
    loss = -tf.reduce_mean(normal.log_prob(tf.cast(y, tf.float32))) + 0.01 * tf.reduce_mean(apart)
    found = tf.to_int32(tf.floor(mean + 0.5))
    step = tf.train.get_or_create_global_step()
    variables = tf.trainable_variables()
    optimizers = tf.train.AdadeltaOptimizer(1.0, epsilon=1e-3), tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.001)
    gradients = tf.tuple(tf.gradients(loss, variables))
    first = optimizers[0].apply_gradients(list(zip(gradients, variables))[:1])
    second = optimizers[1].apply_gradients(list(zip(gradients, variables))[1:], global_step=step)
    train = tf.group(first, second, name="train")
    matrix = tf.confusion_matrix(y, tf.clip_by_value(found, 0, 2), num_classes=3)
    right = tf.reduce_mean(tf.cast(tf.equal(found, y), tf.float32))
    measures = [matrix, right]
    with tf.name_scope("watch"):
        parts = [tf.summary.scalar("loss", loss), tf.summary.scalar("units", tf.shape(net)[1])]
        for variable in tf.trainable_variables()[:2]:
            parts.append(tf.summary.histogram(variable.op.name, variable))
    merged = tf.summary.merge(parts)
    losses, texts = [], []
    supervisor = tf.train.Supervisor(logdir=folder, global_step=step, summary_op=None, save_model_secs=0)
    with supervisor.managed_session() as sess:
        for op, feed in starts:
            sess.run(op, feed)
        for i in range(4):
            if supervisor.should_stop():
                break
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            losses.append(value)
            texts.append(text)
        path = supervisor.saver.save(sess, supervisor.save_path, global_step=step)
    tags = sorted({v.tag for text in texts for v in tf.Summary.FromString(text).value})
    kept = os.path.basename(path), len(tf.train.list_variables(path))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape, tf.get_seed(None)


def series_scanned_records_averaged(tf):
    """Series by records, a scanned model, many sigmoids, averaged, served."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(49)
    tf.set_random_seed(50)
    starts = []
    rows = rng.normal(size=(12, 5, 4)).astype(np.float32)
    classes = rows[:, 0].argmax(1).astype(np.int32) % 3
    path = os.path.join(folder, "data.tfrecord")
    with tf.python_io.TFRecordWriter(path) as writer:
        for row, one in zip(rows, classes):
            example = tf.train.Example()
            example.features.feature["row"].bytes_list.value.append(row.tobytes())
            example.features.feature["class"].int64_list.value.append(int(one))
            writer.write(example.SerializeToString())

    def parse(text):
        wanted = {"row": tf.FixedLenFeature([], tf.string), "class": tf.FixedLenFeature([], tf.int64)}
        found = tf.parse_single_example(text, wanted)
        return tf.reshape(tf.decode_raw(found["row"], tf.float32), [5, 4]), tf.cast(found["class"], tf.int32)

    data = tf.data.TFRecordDataset([path]).apply(tf.data.experimental.map_and_batch(parse, 4)).cache().repeat()
    x, y = data.make_one_shot_iterator().get_next()
    feeds = [{}] * 3
    decay = tf.sigmoid(tf.get_variable("decay", [4], initializer=tf.zeros_initializer()))
    smooth = tf.scan(lambda a, b: decay * a + (1.0 - decay) * b, tf.transpose(x, [1, 0, 2]), swap_memory=True)
    net = tf.layers.dense(smooth[-1], 5, tf.nn.relu, name="dense")
    logits = tf.layers.dense(net, 3, name="logits")
    each = tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.one_hot(y, 3), logits=logits)
    loss = tf.reduce_mean(tf.reduce_sum(each, 1))
    found = tf.argmax(tf.sigmoid(logits), 1, output_type=tf.int32)
    step = tf.train.get_or_create_global_step()
    apply = tf.train.GradientDescentOptimizer(tf.train.inverse_time_decay(0.2, step, 2, 0.5)).minimize(loss, step)
    averages = tf.train.ExponentialMovingAverage(0.6, num_updates=step)
    with tf.control_dependencies([apply]):
        train = averages.apply(tf.trainable_variables())
    with tf.variable_scope("measures"):
        mean, update_mean = tf.metrics.mean(loss)
        recall, update_recall = tf.metrics.recall(tf.equal(y, 1), tf.equal(found, 1))
        wrong, update_wrong = tf.metrics.mean_absolute_error(tf.cast(y, tf.float32), tf.cast(found, tf.float32))
    measures = [update_mean, update_recall, update_wrong]
    tf.summary.text("found", tf.as_string(found), collections=["mine"])
    tf.summary.scalar("most", tf.reduce_max(net), collections=["mine"], family="net")
    merged = tf.summary.merge_all("mine")
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(5):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        where = os.path.join(folder, "served")
        tf.saved_model.simple_save(sess, where, {"net": net}, {"found": found})
        loaded = tf.Graph()
        with loaded.as_default(), tf.Session(graph=loaded) as other:
            meta = tf.saved_model.loader.load(other, [tf.saved_model.tag_constants.SERVING], where)
            signature = meta.signature_def["serving_default"]
            kept = signature.outputs["found"].name, signature.method_name, len(loaded.get_collection("trainable_variables"))
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def vector_normalized_queue_fed_momentum(tf):
    """Vector by queue fed, a normalized model, many sigmoids, momentum, served."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(50)
    tf.set_random_seed(51)
    starts = []
    rows = rng.normal(size=(12, 6)).astype(np.float32)
    classes = (rows.sum(1) > 0).astype(np.int32) + (rows[:, 0] > 1).astype(np.int32)
    queue = tf.FIFOQueue(36, [tf.float32, tf.int32], [[6], []], name="rows")
    into = [tf.placeholder(tf.float32, [None, 6]), tf.placeholder(tf.int32, [None])]
    fill = queue.enqueue_many(into)
    starts.extend([(fill, {into[0]: rows, into[1]: classes})] * 3)
    x, y = queue.dequeue_many(4)
    feeds = [{}] * 3
    is_training = tf.placeholder_with_default(True, [], name="is_training")
    net = tf.layers.dense(x, 8, use_bias=False, name="hidden")
    net = tf.layers.batch_normalization(net, training=is_training, momentum=0.8)
    net = tf.layers.dropout(tf.nn.relu(net), 0.3, training=is_training)
    logits = tf.layers.dense(net, 3, name="logits")
    each = tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.one_hot(y, 3), logits=logits)
    loss = tf.reduce_mean(tf.reduce_sum(each, 1))
    found = tf.argmax(tf.sigmoid(logits), 1, output_type=tf.int32)
    step = tf.Variable(0, trainable=False, name="global_step", dtype=tf.int64)
    rate = tf.train.piecewise_constant(step, [1, 3], [0.2, 0.1, 0.05])
    train = tf.train.MomentumOptimizer(rate, 0.9, use_nesterov=True).minimize(loss, step)
    named = {
        "right": tf.contrib.metrics.streaming_accuracy(found, y),
        "per_class": tf.metrics.mean_per_class_accuracy(y, tf.clip_by_value(found, 0, 2), 3),
    }
    values, updates = tf.contrib.metrics.aggregate_metric_map(named)
    measures = [updates]
    tf.summary.text("found", tf.as_string(found), collections=["mine"])
    tf.summary.scalar("most", tf.reduce_max(net), collections=["mine"], family="net")
    merged = tf.summary.merge_all("mine")
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(6):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        where = os.path.join(folder, "served")
        tf.saved_model.simple_save(sess, where, {"net": net}, {"found": found})
        loaded = tf.Graph()
        with loaded.as_default(), tf.Session(graph=loaded) as other:
            meta = tf.saved_model.loader.load(other, [tf.saved_model.tag_constants.SERVING], where)
            signature = meta.signature_def["serving_default"]
            kept = signature.outputs["found"].name, signature.method_name, len(loaded.get_collection("trainable_variables"))
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def words_recurrent_defaults_clipped(tf):
    """Words by defaults, a recurrent model, collected, clipped, renamed."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(51)
    tf.set_random_seed(52)
    starts = []
    rows = rng.randint(1, 11, size=(12, 5)).astype(np.int32)
    classes = (rows.sum(1) % 3).astype(np.int32)
    x = tf.placeholder_with_default(rows[:4], [None, 5], name="x")
    y = tf.placeholder_with_default(classes[:4], [None], name="y")
    feeds = [{}, {x: rows[4:8], y: classes[4:8]}, {}]
    table = tf.Variable(tf.random_uniform([12, 4], -0.5, 0.5), name="table")
    cell = tf.nn.rnn_cell.GRUCell(5, kernel_initializer=tf.orthogonal_initializer())
    lengths = tf.reduce_sum(tf.cast(x > 2, tf.int32), 1)
    _, net = tf.nn.dynamic_rnn(cell, tf.nn.embedding_lookup(table, x), lengths, dtype=tf.float32)
    logits = tf.contrib.layers.fully_connected(net, 3, activation_fn=None, scope="logits")
    tf.losses.sparse_softmax_cross_entropy(labels=y, logits=logits, weights=0.5 + tf.cast(y, tf.float32))
    loss = tf.losses.get_total_loss()
    found = tf.nn.top_k(logits, 1).indices[:, 0]
    step = tf.train.get_or_create_global_step()
    variables = tf.trainable_variables()
    grads, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 0.5)
    train = tf.train.RMSPropOptimizer(0.02, momentum=0.1, centered=True).apply_gradients(zip(grads, variables), global_step=step)
    tf.summary.scalar("norm", norm)
    accuracy, update_accuracy = tf.metrics.accuracy(y, found, name="accuracy")
    measures = [update_accuracy]
    with tf.name_scope("watch"):
        parts = [tf.summary.scalar("loss", loss), tf.summary.scalar("units", tf.shape(net)[1])]
        for variable in tf.trainable_variables()[:2]:
            parts.append(tf.summary.histogram(variable.op.name, variable))
    merged = tf.summary.merge(parts)
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(4):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        named = {"old/" + v.op.name: v for v in tf.trainable_variables()}
        path = tf.train.Saver(named).save(sess, os.path.join(folder, "old"), global_step=7)
        kept = tf.train.list_variables(path), tf.train.latest_checkpoint(folder) == path, tf.train.checkpoint_exists(path)
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def image_coded_placeholders_accumulated(tf):
    """Image by placeholders, a coded model, likelihood, accumulated, monitored."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(52)
    tf.set_random_seed(53)
    starts = []
    rows = rng.uniform(size=(12, 8, 8, 3)).astype(np.float32)
    classes = (rows.mean((1, 2)).argmax(1)).astype(np.int32)
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    y = tf.placeholder(tf.int32, [None], name="y")
    feeds = [{x: rows[4 * i:4 * i + 4], y: classes[4 * i:4 * i + 4]} for i in range(3)]
    code = tf.layers.conv2d(x, 4, 3, strides=2, padding="same", activation=tf.nn.elu, name="encode")
    back = tf.layers.conv2d_transpose(code, 3, 3, strides=2, padding="same", name="decode")
    tf.losses.mean_squared_error(x, back, weights=0.1)
    net = tf.layers.flatten(code)
    mean = tf.layers.dense(net, 1, name="mean")[:, 0]
    spread = tf.layers.dense(net, 1, tf.nn.softplus, name="spread")[:, 0] + 0.1
    normal = tf.distributions.Normal(mean, spread)
    apart = tf.distributions.kl_divergence(normal, tf.distributions.Normal(0.0, 1.0))
    loss = -tf.reduce_mean(normal.log_prob(tf.cast(y, tf.float32))) + 0.01 * tf.reduce_mean(apart)
    found = tf.to_int32(tf.floor(mean + 0.5))
    step = tf.train.get_or_create_global_step()
    variables = tf.trainable_variables()
    sums = [tf.Variable(tf.zeros_like(v.initialized_value()), trainable=False) for v in variables]
    gradients = [tf.zeros_like(v) if g is None else tf.convert_to_tensor(g) for g, v in zip(tf.gradients(loss, variables), variables)]
    added = [tf.assign_add(s, g) for s, g in zip(sums, gradients)]
    with tf.control_dependencies(added):
        train = tf.train.ProximalGradientDescentOptimizer(0.05).apply_gradients([(s.read_value(), v) for s, v in zip(sums, variables)], step)
    accuracy, update_accuracy = tf.metrics.accuracy(y, found, name="accuracy")
    measures = [update_accuracy]
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("net", net)
    merged = tf.summary.merge_all()
    class Record(tf.train.SessionRunHook):
        def __init__(self):
            self.losses, self.texts = [], []

        def before_run(self, run_context):
            return tf.train.SessionRunArgs([loss, merged])

        def after_run(self, run_context, run_values):
            self.losses.append(run_values.results[0])
            self.texts.append(run_values.results[1])

    def start(step_context):
        for op, feed in starts:
            step_context.session.run(op, feed)

    record = Record()
    scaffold = tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=1))
    hooks = [record, tf.train.StopAtStepHook(num_steps=5), tf.train.NanTensorHook(loss)]
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, scaffold=scaffold, hooks=hooks, save_summaries_steps=None, save_checkpoint_steps=2) as sess:
        sess.run_step_fn(start)
        while not sess.should_stop():
            feed = dict(feeds[len(record.losses) % 3])
            last, now, _ = sess.run([measures, step, train], feed)
    losses = record.losses
    tags = sorted({v.tag for text in record.texts for v in tf.Summary.FromString(text).value})
    latest = tf.train.latest_checkpoint(folder)
    kept = os.path.basename(latest), tf.train.load_variable(latest, step.op.name)
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def series_blocks_handles_cosine(tf):
    """Series by handles, a blocks model, entropy, cosine, imported."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(53)
    tf.set_random_seed(54)
    starts = []
    rows = rng.normal(size=(12, 5, 4)).astype(np.float32)
    classes = rows[:, 0].argmax(1).astype(np.int32) % 3
    full = tf.data.Dataset.from_tensor_slices((rows, classes))
    first = full.take(8).repeat().batch(4).make_one_shot_iterator()
    second = full.skip(8).repeat().batch(4).make_initializable_iterator()
    handle = tf.placeholder(tf.string, [])
    iterator = tf.data.Iterator.from_string_handle(handle, full.batch(4).output_types, full.batch(4).output_shapes)
    x, y = iterator.get_next()
    with_handles = [first.string_handle(), second.string_handle()]
    starts.append((second.initializer, {}))
    feeds = [{handle: with_handles[i % 2]} for i in range(3)]
    cell = tf.contrib.rnn.LSTMBlockCell(4) if len(rows) % 2 else tf.contrib.rnn.LayerNormBasicLSTMCell(4)
    with tf.variable_scope("rnn", initializer=tf.random_uniform_initializer(-0.2, 0.2)):
        outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, time_major=False)
    net = tf.nn.l2_normalize(state[1], 1)
    w = tf.get_variable("softmax_w", [net.shape[-1].value, 3])
    logits = tf.matmul(net, w) + tf.get_variable("softmax_b", [3], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.one_hot(y, 3), logits=logits))
    found = tf.cast(tf.argmax(tf.nn.softmax(logits), -1), tf.int32)
    step = tf.Variable(0, trainable=False)
    rate = tf.train.cosine_decay(0.2, step, 6, alpha=0.1)
    optimizer = tf.train.AdamOptimizer(rate, epsilon=1e-4)
    train = optimizer.minimize(loss, global_step=step, colocate_gradients_with_ops=True, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE)
    matrix = tf.confusion_matrix(y, tf.clip_by_value(found, 0, 2), num_classes=3)
    right = tf.reduce_mean(tf.cast(tf.equal(found, y), tf.float32))
    measures = [matrix, right]
    with tf.name_scope("watch"):
        parts = [tf.summary.scalar("loss", loss), tf.summary.scalar("units", tf.shape(net)[1])]
        for variable in tf.trainable_variables()[:2]:
            parts.append(tf.summary.histogram(variable.op.name, variable))
    merged = tf.summary.merge(parts)
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(6):
            feed = dict(feeds[i % 3])
            feed = {key: sess.run(value) if hasattr(value, "op") else value for key, value in feed.items()}
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        tf.add_to_collection("found", found)
        path = tf.train.Saver().save(sess, os.path.join(folder, "whole"))
        with tf.Graph().as_default(), tf.Session() as other:
            again = tf.train.import_meta_graph(path + ".meta", clear_devices=True)
            again.restore(other, path)
            kept = [v.name for v in tf.trainable_variables()], [np.abs(v).sum() for v in other.run(tf.trainable_variables())], tf.get_collection("found")[0].name
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def vector_partitioned_defaults_accumulated(tf):
    """Vector by defaults, a partitioned model, sparse entropy, accumulated, monitored."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(54)
    tf.set_random_seed(55)
    starts = []
    rows = rng.normal(size=(12, 6)).astype(np.float32)
    classes = (rows.sum(1) > 0).astype(np.int32) + (rows[:, 0] > 1).astype(np.int32)
    x = tf.placeholder_with_default(rows[:4], [None, 6], name="x")
    y = tf.placeholder_with_default(classes[:4], [None], name="y")
    feeds = [{}, {x: rows[4:8], y: classes[4:8]}, {}]
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
        w = tf.get_variable("w", [6, 4], initializer=tf.random_normal_initializer(stddev=0.2))
    net = tf.nn.crelu(tf.matmul(x, tf.convert_to_tensor(w)))
    logits = tf.layers.dense(net, 3, name="logits")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits), name="loss")
    found = tf.argmax(logits, 1, output_type=tf.int32)
    step = tf.train.get_or_create_global_step()
    variables = tf.trainable_variables()
    sums = [tf.Variable(tf.zeros_like(v.initialized_value()), trainable=False) for v in variables]
    gradients = [tf.zeros_like(v) if g is None else tf.convert_to_tensor(g) for g, v in zip(tf.gradients(loss, variables), variables)]
    added = [tf.assign_add(s, g) for s, g in zip(sums, gradients)]
    with tf.control_dependencies(added):
        train = tf.train.ProximalGradientDescentOptimizer(0.05).apply_gradients([(s.read_value(), v) for s, v in zip(sums, variables)], step)
    with tf.variable_scope("measures"):
        mean, update_mean = tf.metrics.mean(loss)
        recall, update_recall = tf.metrics.recall(tf.equal(y, 1), tf.equal(found, 1))
        wrong, update_wrong = tf.metrics.mean_absolute_error(tf.cast(y, tf.float32), tf.cast(found, tf.float32))
    measures = [update_mean, update_recall, update_wrong]
    tf.summary.text("found", tf.as_string(found), collections=["mine"])
    tf.summary.scalar("most", tf.reduce_max(net), collections=["mine"], family="net")
    merged = tf.summary.merge_all("mine")
    class Record(tf.train.SessionRunHook):
        def __init__(self):
            self.losses, self.texts = [], []

        def before_run(self, run_context):
            return tf.train.SessionRunArgs([loss, merged])

        def after_run(self, run_context, run_values):
            self.losses.append(run_values.results[0])
            self.texts.append(run_values.results[1])

    def start(step_context):
        for op, feed in starts:
            step_context.session.run(op, feed)

    record = Record()
    scaffold = tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=1))
    hooks = [record, tf.train.StopAtStepHook(num_steps=4), tf.train.NanTensorHook(loss)]
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, scaffold=scaffold, hooks=hooks, save_summaries_steps=None, save_checkpoint_steps=2) as sess:
        sess.run_step_fn(start)
        while not sess.should_stop():
            feed = dict(feeds[len(record.losses) % 3])
            last, now, _ = sess.run([measures, step, train], feed)
    losses = record.losses
    tags = sorted({v.tag for text in record.texts for v in tf.Summary.FromString(text).value})
    latest = tf.train.latest_checkpoint(folder)
    kept = os.path.basename(latest), tf.train.load_variable(latest, step.op.name)
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def words_decoded_records_momentum(tf):
    """Words by records, a decoded model, by hand, momentum, supervised."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(55)
    tf.set_random_seed(56)
    starts = []
    rows = rng.randint(1, 11, size=(12, 5)).astype(np.int32)
    classes = (rows.sum(1) % 3).astype(np.int32)
    path = os.path.join(folder, "data.tfrecord")
    with tf.python_io.TFRecordWriter(path) as writer:
        for row, one in zip(rows, classes):
            example = tf.train.Example()
            example.features.feature["row"].bytes_list.value.append(row.tobytes())
            example.features.feature["class"].int64_list.value.append(int(one))
            writer.write(example.SerializeToString())

    def parse(text):
        wanted = {"row": tf.FixedLenFeature([], tf.string), "class": tf.FixedLenFeature([], tf.int64)}
        found = tf.parse_single_example(text, wanted)
        return tf.reshape(tf.decode_raw(found["row"], tf.int32), [5]), tf.cast(found["class"], tf.int32)

    data = tf.data.TFRecordDataset([path]).apply(tf.data.experimental.map_and_batch(parse, 4)).cache().repeat()
    x, y = data.make_one_shot_iterator().get_next()
    feeds = [{}] * 3
    table = tf.get_variable("table", [12, 4], initializer=tf.random_normal_initializer(stddev=0.3))
    helper = tf.contrib.seq2seq.TrainingHelper(tf.nn.embedding_lookup(table, x), tf.fill([tf.shape(x)[0]], 5))
    cell = tf.nn.rnn_cell.LSTMCell(4)
    decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(tf.shape(x)[0], tf.float32))
    made, last, _ = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=5)
    net = tf.reduce_sum(made.rnn_output, 1) + last.h
    logits = tf.layers.dense(net, 3, name="logits", kernel_initializer=tf.random_normal_initializer(stddev=0.1))
    chance = tf.clip_by_value(tf.nn.softmax(logits), 1e-6, 1.0)
    taken = tf.gather_nd(chance, tf.stack([tf.range(tf.shape(y)[0]), y], 1))
    loss = -tf.reduce_mean(tf.pow(1.0 - taken, 2.0) * tf.log(taken))
    found = tf.cast(tf.argmax(chance, 1), tf.int32)
    step = tf.Variable(0, trainable=False, name="global_step", dtype=tf.int64)
    rate = tf.train.piecewise_constant(step, [1, 3], [0.2, 0.1, 0.05])
    train = tf.train.MomentumOptimizer(rate, 0.9, use_nesterov=True).minimize(loss, step)
    accuracy, update_accuracy = tf.metrics.accuracy(y, found, name="accuracy")
    measures = [update_accuracy]
    tf.summary.text("found", tf.as_string(found), collections=["mine"])
    tf.summary.scalar("most", tf.reduce_max(net), collections=["mine"], family="net")
    merged = tf.summary.merge_all("mine")
    losses, texts = [], []
    supervisor = tf.train.Supervisor(logdir=folder, global_step=step, summary_op=None, save_model_secs=0)
    with supervisor.managed_session() as sess:
        for op, feed in starts:
            sess.run(op, feed)
        for i in range(5):
            if supervisor.should_stop():
                break
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            losses.append(value)
            texts.append(text)
        path = supervisor.saver.save(sess, supervisor.save_path, global_step=step)
    tags = sorted({v.tag for text in texts for v in tf.Summary.FromString(text).value})
    kept = os.path.basename(path), len(tf.train.list_variables(path))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def image_separable_queue_runner_two_optimizers(tf):
    """Image by queue runner, a separable model, sparse entropy, two optimizers, imported."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(56)
    tf.set_random_seed(57)
    starts = []
    rows = rng.uniform(size=(12, 8, 8, 3)).astype(np.float32)
    classes = (rows.mean((1, 2)).argmax(1)).astype(np.int32)
    queue = tf.PaddingFIFOQueue(24, [tf.float32, tf.int32], shapes=[[8, 8, 3], []])
    fill = queue.enqueue_many([tf.constant(rows), tf.constant(classes)])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [fill]))
    x, y = queue.dequeue_many(4)
    feeds = [{}] * 3
    net = tf.layers.separable_conv2d(x, 5, 3, depth_multiplier=2, activation=tf.nn.relu, name="separable")
    net = tf.nn.depthwise_conv2d(net, tf.get_variable("depthwise", [2, 2, 5, 1]), [1, 2, 2, 1], "SAME")
    net = tf.reduce_max(net, [1, 2])
    logits = tf.layers.dense(net, 3, name="logits")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits), name="loss")
    found = tf.argmax(logits, 1, output_type=tf.int32)
    step = tf.train.get_or_create_global_step()
    variables = tf.trainable_variables()
    optimizers = tf.train.AdadeltaOptimizer(1.0, epsilon=1e-3), tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.001)
    gradients = tf.tuple(tf.gradients(loss, variables))
    first = optimizers[0].apply_gradients(list(zip(gradients, variables))[:1])
    second = optimizers[1].apply_gradients(list(zip(gradients, variables))[1:], global_step=step)
    train = tf.group(first, second, name="train")
    with tf.variable_scope("measures"):
        mean, update_mean = tf.metrics.mean(loss)
        recall, update_recall = tf.metrics.recall(tf.equal(y, 1), tf.equal(found, 1))
        wrong, update_wrong = tf.metrics.mean_absolute_error(tf.cast(y, tf.float32), tf.cast(found, tf.float32))
    measures = [update_mean, update_recall, update_wrong]
    tf.summary.text("found", tf.as_string(found), collections=["mine"])
    tf.summary.scalar("most", tf.reduce_max(net), collections=["mine"], family="net")
    merged = tf.summary.merge_all("mine")
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(6):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        tf.add_to_collection("found", found)
        path = tf.train.Saver().save(sess, os.path.join(folder, "whole"))
        with tf.Graph().as_default(), tf.Session() as other:
            again = tf.train.import_meta_graph(path + ".meta", clear_devices=True)
            again.restore(other, path)
            kept = [v.name for v in tf.trainable_variables()], [np.abs(v).sum() for v in other.run(tf.trainable_variables())], tf.get_collection("found")[0].name
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=10)
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def series_stacked_queue_fed_averaged(tf):
    """Series by queue fed, a stacked model, sampled, averaged, imported."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(57)
    tf.set_random_seed(58)
    starts = []
    rows = rng.normal(size=(12, 5, 4)).astype(np.float32)
    classes = rows[:, 0].argmax(1).astype(np.int32) % 3
    queue = tf.FIFOQueue(36, [tf.float32, tf.int32], [[5, 4], []], name="rows")
    into = [tf.placeholder(tf.float32, [None, 5, 4]), tf.placeholder(tf.int32, [None])]
    fill = queue.enqueue_many(into)
    starts.extend([(fill, {into[0]: rows, into[1]: classes})] * 3)
    x, y = queue.dequeue_many(4)
    feeds = [{}] * 3
    cells = [tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.GRUCell(4)) for _ in range(2)]
    stack = tf.nn.rnn_cell.MultiRNNCell(cells)
    outputs, state = tf.nn.dynamic_rnn(stack, x, dtype=tf.float32, scope="stack")
    net = tf.reduce_mean(outputs, 1) + state[-1]
    weights = tf.get_variable("out_w", [3, net.shape.as_list()[-1]])
    biases = tf.get_variable("out_b", [3], initializer=tf.zeros_initializer())
    labels = tf.expand_dims(tf.cast(y, tf.int64), 1)
    found = tf.argmax(tf.matmul(net, weights, transpose_b=True) + biases, 1, output_type=tf.int32)
    with tf.control_dependencies([found]):
        last_units = tf.identity(net)
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, labels, last_units, num_sampled=2, num_classes=3))
    step = tf.train.get_or_create_global_step()
    apply = tf.train.GradientDescentOptimizer(tf.train.inverse_time_decay(0.2, step, 2, 0.5)).minimize(loss, step)
    averages = tf.train.ExponentialMovingAverage(0.6, num_updates=step)
    with tf.control_dependencies([apply]):
        train = averages.apply(tf.trainable_variables())
    accuracy, update_accuracy = tf.metrics.accuracy(y, found, name="accuracy")
    measures = [update_accuracy]
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("net", net)
    merged = tf.summary.merge_all()
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(4):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        tf.add_to_collection("found", found)
        path = tf.train.Saver().save(sess, os.path.join(folder, "whole"))
        with tf.Graph().as_default(), tf.Session() as other:
            again = tf.train.import_meta_graph(path + ".meta", clear_devices=True)
            again.restore(other, path)
            kept = [v.name for v in tf.trainable_variables()], [np.abs(v).sum() for v in other.run(tf.trainable_variables())], tf.get_collection("found")[0].name
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def vector_iterated_queue_runner_accumulated(tf):
    """Vector by queue runner, a iterated model, categorical, accumulated, monitored."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(58)
    tf.set_random_seed(59)
    starts = []
    rows = rng.normal(size=(12, 6)).astype(np.float32)
    classes = (rows.sum(1) > 0).astype(np.int32) + (rows[:, 0] > 1).astype(np.int32)
    queue = tf.PaddingFIFOQueue(24, [tf.float32, tf.int32], shapes=[[6], []])
    fill = queue.enqueue_many([tf.constant(rows), tf.constant(classes)])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [fill]))
    x, y = queue.dequeue_many(4)
    feeds = [{}] * 3
    with tf.variable_scope("core"):
        kernel = tf.get_variable("kernel", [6, 6], initializer=tf.orthogonal_initializer())

    def step(i, state):
        return i + 1, tf.tanh(tf.matmul(state, kernel) + x)

    _, net = tf.while_loop(lambda i, _: i < 3, step, [tf.constant(0), tf.zeros_like(x)])
    net.set_shape([None, 6])
    logits = tf.layers.dense(net, 3, name="logits")
    chosen = tf.distributions.Categorical(logits=logits)
    loss = -tf.reduce_mean(chosen.log_prob(y)) - 0.1 * tf.reduce_mean(chosen.entropy())
    found = tf.cast(tf.argmax(logits, 1), tf.int32)
    step = tf.train.get_or_create_global_step()
    variables = tf.trainable_variables()
    sums = [tf.Variable(tf.zeros_like(v.initialized_value()), trainable=False) for v in variables]
    gradients = [tf.zeros_like(v) if g is None else tf.convert_to_tensor(g) for g, v in zip(tf.gradients(loss, variables), variables)]
    added = [tf.assign_add(s, g) for s, g in zip(sums, gradients)]
    with tf.control_dependencies(added):
        train = tf.train.ProximalGradientDescentOptimizer(0.05).apply_gradients([(s.read_value(), v) for s, v in zip(sums, variables)], step)
    named = {
        "right": tf.contrib.metrics.streaming_accuracy(found, y),
        "per_class": tf.metrics.mean_per_class_accuracy(y, tf.clip_by_value(found, 0, 2), 3),
    }
    values, updates = tf.contrib.metrics.aggregate_metric_map(named)
    measures = [updates]
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("net", net)
    merged = tf.summary.merge_all()
    class Record(tf.train.SessionRunHook):
        def __init__(self):
            self.losses, self.texts = [], []

        def before_run(self, run_context):
            return tf.train.SessionRunArgs([loss, merged])

        def after_run(self, run_context, run_values):
            self.losses.append(run_values.results[0])
            self.texts.append(run_values.results[1])

    def start(step_context):
        for op, feed in starts:
            step_context.session.run(op, feed)

    record = Record()
    scaffold = tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=1))
    hooks = [record, tf.train.StopAtStepHook(num_steps=5), tf.train.NanTensorHook(loss)]
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, scaffold=scaffold, hooks=hooks, save_summaries_steps=None, save_checkpoint_steps=2) as sess:
        sess.run_step_fn(start)
        while not sess.should_stop():
            feed = dict(feeds[len(record.losses) % 3])
            last, now, _ = sess.run([measures, step, train], feed)
    losses = record.losses
    tags = sorted({v.tag for text in record.texts for v in tf.Summary.FromString(text).value})
    latest = tf.train.latest_checkpoint(folder)
    kept = os.path.basename(latest), tf.train.load_variable(latest, step.op.name)
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def words_decoded_py_func_cosine(tf):
    """Words by py func, a decoded model, hinge, cosine, listed."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(59)
    tf.set_random_seed(60)
    starts = []
    rows = rng.randint(1, 11, size=(12, 5)).astype(np.int32)
    classes = (rows.sum(1) % 3).astype(np.int32)
    def take(i):
        return rows[4 * (i % 3):4 * (i % 3) + 4], classes[4 * (i % 3):4 * (i % 3) + 4]

    turn = tf.get_variable("turn", [], tf.int64, tf.zeros_initializer(), trainable=False)
    x, y = tf.py_func(take, [tf.assign_add(turn, 1)], [tf.int32, tf.int32])
    x.set_shape([4] + [5])
    y.set_shape([4])
    feeds = [{}] * 3
    table = tf.get_variable("table", [12, 4], initializer=tf.random_normal_initializer(stddev=0.3))
    helper = tf.contrib.seq2seq.TrainingHelper(tf.nn.embedding_lookup(table, x), tf.fill([tf.shape(x)[0]], 5))
    cell = tf.nn.rnn_cell.LSTMCell(4)
    decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(tf.shape(x)[0], tf.float32))
    made, last, _ = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=5)
    net = tf.reduce_sum(made.rnn_output, 1) + last.h
    large = 0.01 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    with tf.control_dependencies([large]):
        logits = tf.layers.dense(net, 3, name="logits", use_bias=False)
    loss = tf.losses.hinge_loss(tf.one_hot(y, 3), logits, reduction=tf.losses.Reduction.MEAN) + large
    found = tf.argmax(logits, 1, output_type=tf.int32)
    step = tf.Variable(0, trainable=False)
    rate = tf.train.cosine_decay(0.2, step, 6, alpha=0.1)
    optimizer = tf.train.AdamOptimizer(rate, epsilon=1e-4)
    train = optimizer.minimize(loss, global_step=step, colocate_gradients_with_ops=True, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE)
    matrix = tf.confusion_matrix(y, tf.clip_by_value(found, 0, 2), num_classes=3)
    right = tf.reduce_mean(tf.cast(tf.equal(found, y), tf.float32))
    measures = [matrix, right]
    with tf.name_scope("watch"):
        parts = [tf.summary.scalar("loss", loss), tf.summary.scalar("units", tf.shape(net)[1])]
        for variable in tf.trainable_variables()[:2]:
            parts.append(tf.summary.histogram(variable.op.name, variable))
    merged = tf.summary.merge(parts)
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(6):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        saver = tf.train.Saver(tf.trainable_variables(), write_version=tf.train.SaverDef.V2)
        path = saver.save(sess, os.path.join(folder, "part"), write_meta_graph=False)
        reader = tf.train.NewCheckpointReader(path)
        kept = sorted(reader.get_variable_to_shape_map().items()), [v for v in tf.trainable_variables()[:1] if reader.has_tensor(v.op.name)] != []
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def image_slim_py_func_two_optimizers(tf):
    """Image by py func, a slim model, regression, two optimizers, supervised."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(60)
    tf.set_random_seed(61)
    starts = []
    rows = rng.uniform(size=(12, 8, 8, 3)).astype(np.float32)
    classes = (rows.mean((1, 2)).argmax(1)).astype(np.int32)
    def take(i):
        return rows[4 * (i % 3):4 * (i % 3) + 4], classes[4 * (i % 3):4 * (i % 3) + 4]

    turn = tf.get_variable("turn", [], tf.int64, tf.zeros_initializer(), trainable=False)
    x, y = tf.py_func(take, [tf.assign_add(turn, 1)], [tf.float32, tf.int32])
    x.set_shape([4] + [8, 8, 3])
    y.set_shape([4])
    feeds = [{}] * 3
    slim = tf.contrib.slim
    with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm, normalizer_params={"decay": 0.9, "is_training": True}):
        net = slim.repeat(x, 2, slim.conv2d, 4, [3, 3], scope="conv")
        net = slim.max_pool2d(net, [2, 2], scope="pool")
    net = slim.flatten(tf.reduce_mean(net, [1, 2], keepdims=True))
    guess = tf.squeeze(tf.layers.dense(net, 1, name="guess"), [-1])
    target = tf.cast(y, tf.float32)
    loss = tf.losses.huber_loss(target, guess, delta=0.7) + tf.sqrt(tf.reduce_mean(tf.squared_difference(target, guess)) + 1e-3)
    found = tf.cast(tf.round(tf.clip_by_value(guess, 0.0, 2.0)), tf.int32)
    step = tf.train.get_or_create_global_step()
    variables = tf.trainable_variables()
    optimizers = tf.train.AdadeltaOptimizer(1.0, epsilon=1e-3), tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.001)
    gradients = tf.tuple(tf.gradients(loss, variables))
    first = optimizers[0].apply_gradients(list(zip(gradients, variables))[:1])
    second = optimizers[1].apply_gradients(list(zip(gradients, variables))[1:], global_step=step)
    train = tf.group(first, second, name="train")
    with tf.variable_scope("measures"):
        mean, update_mean = tf.metrics.mean(loss)
        recall, update_recall = tf.metrics.recall(tf.equal(y, 1), tf.equal(found, 1))
        wrong, update_wrong = tf.metrics.mean_absolute_error(tf.cast(y, tf.float32), tf.cast(found, tf.float32))
    measures = [update_mean, update_recall, update_wrong]
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("net", net)
    merged = tf.summary.merge_all()
    losses, texts = [], []
    supervisor = tf.train.Supervisor(logdir=folder, global_step=step, summary_op=None, save_model_secs=0)
    with supervisor.managed_session() as sess:
        for op, feed in starts:
            sess.run(op, feed)
        for i in range(4):
            if supervisor.should_stop():
                break
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            losses.append(value)
            texts.append(text)
        path = supervisor.saver.save(sess, supervisor.save_path, global_step=step)
    tags = sorted({v.tag for text in texts for v in tf.Summary.FromString(text).value})
    kept = os.path.basename(path), len(tf.train.list_variables(path))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape, tf.get_seed(None)


def series_own_cell_slice_producer_cosine(tf):
    """Series by slice producer, a own cell model, hinge, cosine, supervised."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(61)
    tf.set_random_seed(62)
    starts = []
    rows = rng.normal(size=(12, 5, 4)).astype(np.float32)
    classes = rows[:, 0].argmax(1).astype(np.int32) % 3
    row, one = tf.train.slice_input_producer([tf.constant(rows), tf.constant(classes)], shuffle=False)
    x, y = tf.train.batch([row, one], 4, capacity=8)
    feeds = [{}] * 3
    class Cell(tf.nn.rnn_cell.RNNCell):
        @property
        def state_size(self):
            return 4

        @property
        def output_size(self):
            return 4

        def __call__(self, inputs, state, scope=None):
            with tf.variable_scope(scope or "own"):
                gate = tf.layers.dense(tf.concat([inputs, state], 1), 4, tf.sigmoid, name="gate")
            state = gate * state + (1.0 - gate) * inputs
            return state, state

    _, net = tf.nn.dynamic_rnn(Cell(), x, dtype=tf.float32)
    large = 0.01 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    with tf.control_dependencies([large]):
        logits = tf.layers.dense(net, 3, name="logits", use_bias=False)
    loss = tf.losses.hinge_loss(tf.one_hot(y, 3), logits, reduction=tf.losses.Reduction.MEAN) + large
    found = tf.argmax(logits, 1, output_type=tf.int32)
    step = tf.Variable(0, trainable=False)
    rate = tf.train.cosine_decay(0.2, step, 6, alpha=0.1)
    optimizer = tf.train.AdamOptimizer(rate, epsilon=1e-4)
    train = optimizer.minimize(loss, global_step=step, colocate_gradients_with_ops=True, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE)
    matrix = tf.confusion_matrix(y, tf.clip_by_value(found, 0, 2), num_classes=3)
    right = tf.reduce_mean(tf.cast(tf.equal(found, y), tf.float32))
    measures = [matrix, right]
    with tf.name_scope("watch"):
        parts = [tf.summary.scalar("loss", loss), tf.summary.scalar("units", tf.shape(net)[1])]
        for variable in tf.trainable_variables()[:2]:
            parts.append(tf.summary.histogram(variable.op.name, variable))
    merged = tf.summary.merge(parts)
    losses, texts = [], []
    supervisor = tf.train.Supervisor(logdir=folder, global_step=step, summary_op=None, save_model_secs=0)
    with supervisor.managed_session() as sess:
        for op, feed in starts:
            sess.run(op, feed)
        for i in range(5):
            if supervisor.should_stop():
                break
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            losses.append(value)
            texts.append(text)
        path = supervisor.saver.save(sess, supervisor.save_path, global_step=step)
    tags = sorted({v.tag for text in texts for v in tf.Summary.FromString(text).value})
    kept = os.path.basename(path), len(tf.train.list_variables(path))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape


def vector_template_initializable_slim(tf):
    """Vector by initializable, a template model, collected, slim, served."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(62)
    tf.set_random_seed(63)
    starts = []
    rows = rng.normal(size=(12, 6)).astype(np.float32)
    classes = (rows.sum(1) > 0).astype(np.int32) + (rows[:, 0] > 1).astype(np.int32)
    held_x = tf.placeholder(tf.float32, [None, 6])
    held_y = tf.placeholder(tf.int32, [None])
    data = tf.data.Dataset.from_tensor_slices({"row": held_x, "class": held_y})
    data = data.map(lambda one: (one["row"] * 2, one["class"]), num_parallel_calls=2).apply(tf.data.experimental.shuffle_and_repeat(12, seed=5))
    iterator = data.batch(4, drop_remainder=True).make_initializable_iterator()
    x, y = iterator.get_next()
    starts.append((iterator.initializer, {held_x: rows, held_y: classes}))
    feeds = [{}] * 3
    def block(inputs):
        w = tf.get_variable("w", [6, 6], initializer=tf.glorot_uniform_initializer())
        return tf.nn.softplus(tf.matmul(inputs, w) + tf.get_variable("b", [6], initializer=tf.zeros_initializer()))

    shared = tf.make_template("shared", block)
    net = shared(shared(x))
    logits = tf.contrib.layers.fully_connected(net, 3, activation_fn=None, scope="logits")
    tf.losses.sparse_softmax_cross_entropy(labels=y, logits=logits, weights=0.5 + tf.cast(y, tf.float32))
    loss = tf.losses.get_total_loss()
    found = tf.nn.top_k(logits, 1).indices[:, 0]
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.MomentumOptimizer(0.05, 0.5)
    train = tf.contrib.slim.learning.create_train_op(loss, optimizer, clip_gradient_norm=1.0, summarize_gradients=True)
    accuracy, update_accuracy = tf.metrics.accuracy(y, found, name="accuracy")
    measures = [update_accuracy]
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("net", net)
    merged = tf.summary.merge_all()
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for op, feed in starts:
            sess.run(op, feed)
        writer = tf.summary.FileWriter(os.path.join(folder, "events"), sess.graph)
        for i in range(6):
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            writer.add_summary(text, i)
            losses.append(value)
        writer.close()
        where = os.path.join(folder, "served")
        tf.saved_model.simple_save(sess, where, {"net": net}, {"found": found})
        loaded = tf.Graph()
        with loaded.as_default(), tf.Session(graph=loaded) as other:
            meta = tf.saved_model.loader.load(other, [tf.saved_model.tag_constants.SERVING], where)
            signature = meta.signature_def["serving_default"]
            kept = signature.outputs["found"].name, signature.method_name, len(loaded.get_collection("trainable_variables"))
    tags = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    tags = sorted(set(tags))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape, tf.get_seed(None)


def words_recurrent_record_reader_adam(tf):
    """Words by record reader, a recurrent model, many sigmoids, adam, supervised."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(63)
    tf.set_random_seed(64)
    starts = []
    rows = rng.randint(1, 11, size=(12, 5)).astype(np.int32)
    classes = (rows.sum(1) % 3).astype(np.int32)
    path = os.path.join(folder, "data.tfrecord")
    with tf.python_io.TFRecordWriter(path) as writer:
        for row, one in zip(rows, classes):
            features = {
                "row": tf.train.Feature(bytes_list=tf.train.BytesList(value=[row.tobytes()])),
                "class": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(one)])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    names = tf.train.string_input_producer([path], num_epochs=None, shuffle=False)
    _, text = tf.TFRecordReader().read(names)
    found = tf.parse_single_example(text, {"row": tf.FixedLenFeature([], tf.string), "class": tf.FixedLenFeature([1], tf.int64)})
    row = tf.reshape(tf.decode_raw(found["row"], tf.int32), [5])
    x, y = tf.train.batch([row, tf.cast(found["class"][0], tf.int32)], batch_size=4)
    feeds = [{}] * 3
    table = tf.Variable(tf.random_uniform([12, 4], -0.5, 0.5), name="table")
    cell = tf.nn.rnn_cell.GRUCell(5, kernel_initializer=tf.orthogonal_initializer())
    lengths = tf.reduce_sum(tf.cast(x > 2, tf.int32), 1)
    _, net = tf.nn.dynamic_rnn(cell, tf.nn.embedding_lookup(table, x), lengths, dtype=tf.float32)
    logits = tf.layers.dense(net, 3, name="logits")
    each = tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.one_hot(y, 3), logits=logits)
    loss = tf.reduce_mean(tf.reduce_sum(each, 1))
    found = tf.argmax(tf.sigmoid(logits), 1, output_type=tf.int32)
    step = tf.train.create_global_step()
    update = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(update):
        train = tf.train.AdamOptimizer(0.05, beta1=0.8).minimize(loss, global_step=step)
    accuracy, update_accuracy = tf.metrics.accuracy(y, found, name="accuracy")
    measures = [update_accuracy]
    with tf.name_scope("watch"):
        parts = [tf.summary.scalar("loss", loss), tf.summary.scalar("units", tf.shape(net)[1])]
        for variable in tf.trainable_variables()[:2]:
            parts.append(tf.summary.histogram(variable.op.name, variable))
    merged = tf.summary.merge(parts)
    losses, texts = [], []
    supervisor = tf.train.Supervisor(logdir=folder, global_step=step, summary_op=None, save_model_secs=0)
    with supervisor.managed_session() as sess:
        for op, feed in starts:
            sess.run(op, feed)
        for i in range(4):
            if supervisor.should_stop():
                break
            feed = dict(feeds[i % 3])
            text, value, last, now, _ = sess.run([merged, loss, measures, step, train], feed)
            losses.append(value)
            texts.append(text)
        path = supervisor.saver.save(sess, supervisor.save_path, global_step=step)
    tags = sorted({v.tag for text in texts for v in tf.Summary.FromString(text).value})
    kept = os.path.basename(path), len(tf.train.list_variables(path))
    names = [(v.name, v.shape) for v in tf.global_variables()]
    return losses, last, names, tags, kept, net.shape
