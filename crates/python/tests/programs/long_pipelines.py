"""Long programs: files of examples, queues of readers, models, training sessions and what they
leave behind.
"""

import os
import tempfile

import numpy as np


def _write(tf, folder, n_files=2, n_each=6, width=4, classes=3):
    """Writes examples whose label is the position of their largest feature."""
    random = np.random.RandomState(5)
    for k in range(n_files):
        with tf.python_io.TFRecordWriter(os.path.join(folder, "data-%05d-of-%05d" % (k, n_files))) as writer:
            for i in range(n_each):
                x = random.normal(size=width).astype(np.float32)
                feature = {
                    "features": tf.train.Feature(float_list=tf.train.FloatList(value=x)),
                    "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(np.argmax(x[:classes]))])),
                    "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[("example-%d-%d" % (k, i)).encode()])),
                    "weights": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0] * (i % 3))),
                }
                writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def _read(tf, folder, num_epochs=None, width=4):
    names = sorted(tf.gfile.Glob(os.path.join(folder, "data-*")))
    queue = tf.train.string_input_producer(names, num_epochs=num_epochs, shuffle=False, name="filenames")
    reader = tf.TFRecordReader()
    _, serialized = reader.read(queue)
    parsed = tf.parse_single_example(
        serialized,
        features={
            "features": tf.FixedLenFeature([width], tf.float32),
            "label": tf.FixedLenFeature([], tf.int64),
            "name": tf.FixedLenFeature([], tf.string),
            "weights": tf.VarLenFeature(tf.float32),
        },
    )
    return parsed["features"], tf.cast(parsed["label"], tf.int32), parsed["name"], parsed["weights"]


def _perceptron(tf, x, classes, hidden=8, reuse=None):
    with tf.variable_scope("perceptron", reuse=reuse):
        with tf.variable_scope("hidden"):
            w = tf.get_variable("w", [x.shape[1], hidden], initializer=tf.truncated_normal_initializer(stddev=0.1))
            b = tf.get_variable("b", [hidden], initializer=tf.constant_initializer(0.1))
            h = tf.nn.relu(tf.matmul(x, w) + b)
        with tf.variable_scope("softmax"):
            w = tf.get_variable("w", [hidden, classes], initializer=tf.truncated_normal_initializer(stddev=0.1))
            b = tf.get_variable("b", [classes], initializer=tf.constant_initializer(0.0))
            return tf.matmul(h, w) + b


def records_with_a_coordinator(tf):
    """Reads records in batches until the input ends; trains, counts correct answers, writes
    summaries, saves.
    """
    folder, logs = tempfile.mkdtemp(), tempfile.mkdtemp()
    _write(tf, folder)
    tf.set_random_seed(2)
    x, label, name, _ = _read(tf, folder, num_epochs=3)
    x, label, name = tf.train.batch([x, label, name], batch_size=4, num_threads=1, capacity=20, allow_smaller_final_batch=True)
    x.set_shape([None, 4])
    logits = _perceptron(tf, x, 3)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits), name="xentropy_mean")
    correct = tf.reduce_sum(tf.cast(tf.nn.in_top_k(logits, label, 1), tf.int32))
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("logits", logits)
    step = tf.Variable(0, name="global_step", trainable=False)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss, global_step=step)
    merged, saver = tf.summary.merge_all(), tf.train.Saver(max_to_keep=2)
    init = tf.group(tf.global_variables_initializer(), tf.local_variables_initializer())
    losses, names, n_correct = [], [], 0
    with tf.Session() as sess:
        writer = tf.summary.FileWriter(logs, sess.graph)
        sess.run(init)
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        try:
            while not coord.should_stop():
                _, value, right, these, summary, at = sess.run([train, loss, correct, name, merged, step])
                losses.append(value)
                names.append(these[0])
                n_correct += right
                writer.add_summary(summary, len(losses))
                if len(losses) % 3 == 0:
                    saver.save(sess, os.path.join(logs, "model.ckpt"), global_step=len(losses))
        except tf.errors.OutOfRangeError as error:
            ended = type(error).__name__
        finally:
            coord.request_stop()
        coord.join(threads)
        writer.close()
        final = sess.run(tf.trainable_variables())
    state = tf.train.get_checkpoint_state(logs)
    kept = [os.path.basename(path) for path in state.all_model_checkpoint_paths]
    tags = set()
    for file in sorted(os.listdir(logs)):
        if "tfevents" in file:
            for event in tf.train.summary_iterator(os.path.join(logs, file)):
                tags.update((value.tag, event.step) for value in event.summary.value)
    return losses, names, int(n_correct), ended, kept, sorted(tags), final, [t.name for t in threads]


def records_shuffled_and_monitored(tf):
    """Shuffles with one thread, trains in a monitored session with hooks, and resumes from what it
    saved.
    """
    folder, logs = tempfile.mkdtemp(), tempfile.mkdtemp()
    _write(tf, folder)
    seen = []

    class Seen(tf.train.SessionRunHook):
        def begin(self):
            self._step = tf.train.get_global_step()

        def before_run(self, context):
            return tf.train.SessionRunArgs({"step": self._step, "loss": tf.get_collection("losses")[0]})

        def after_run(self, context, values):
            seen.append((int(values.results["step"]), values.results["loss"].shape))
            if values.results["step"] >= 100:
                context.request_stop()

    def build():
        tf.set_random_seed(9)
        x, label, _, _ = _read(tf, folder)
        x, label = tf.train.shuffle_batch([x, label], batch_size=3, capacity=12, min_after_dequeue=5, num_threads=1, seed=4)
        logits = _perceptron(tf, x, 3, hidden=5)
        tf.losses.sparse_softmax_cross_entropy(label, logits)
        loss = tf.losses.get_total_loss()
        step = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(0.1, step, 2, 0.5, staircase=True)
        tf.summary.scalar("rate", rate)
        return tf.train.MomentumOptimizer(rate, 0.9).minimize(loss, global_step=step), loss, rate

    runs = []
    for last in (3, 6):
        with tf.Graph().as_default():
            train, loss, rate = build()
            hooks = [tf.train.StopAtStepHook(last_step=last), tf.train.NanTensorHook(loss), Seen()]
            with tf.train.MonitoredTrainingSession(checkpoint_dir=logs, hooks=hooks, save_checkpoint_secs=None, save_checkpoint_steps=2, save_summaries_steps=1) as sess:
                rates = []
                while not sess.should_stop():
                    rates.append(sess.run([train, rate])[1])
            runs.append(rates)
    latest = tf.train.latest_checkpoint(logs)
    reader = tf.train.NewCheckpointReader(latest)
    shapes = sorted(reader.get_variable_to_shape_map().items())
    return seen, [np.float32(r) for r in runs], os.path.basename(latest), int(reader.get_tensor("global_step")), shapes


def lines_of_numbers(tf):
    """Reads lines of comma-separated values with defaults, joins two readers, and fits a line by
    batches.
    """
    folder = tempfile.mkdtemp()
    for k in range(2):
        with open(os.path.join(folder, "points%d.csv" % k), "w") as out:
            out.write("x,y,kind\n")
            for i in range(5):
                x = (k * 5 + i) / 10.0
                out.write("%g,%g,%s\n" % (x, 2 * x + 1, "" if i % 2 else "even"))
    tf.set_random_seed(1)
    files = tf.train.match_filenames_once(os.path.join(folder, "*.csv"))
    queue = tf.train.string_input_producer(files, shuffle=False, num_epochs=4)
    reader = tf.TextLineReader(skip_header_lines=1)
    key, line = reader.read(queue)
    x, y, kind = tf.decode_csv(line, record_defaults=[[0.0], [0.0], ["odd"]])
    features = tf.stack([x, tf.ones_like(x)])
    xs, ys, kinds, keys = tf.train.batch([features, y, kind, key], batch_size=5)
    w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
    prediction = tf.squeeze(tf.matmul(xs, w), axis=1)
    loss = tf.losses.mean_squared_error(ys, prediction)
    step = tf.train.create_global_step()
    optimizer = tf.train.AdagradOptimizer(0.5)
    gradients = optimizer.compute_gradients(loss)
    clipped = [(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in gradients]
    train = optimizer.apply_gradients(clipped, global_step=step)
    mean, update = tf.metrics.mean(loss)
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(coord=coord, sess=sess)
        found = []
        try:
            while True:
                _, _, some, where = sess.run([train, update, kinds, keys])
                found.append((some[0], os.path.basename(where[0].decode())))
        except tf.errors.OutOfRangeError:
            pass
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=5)
        return found, sess.run([w, mean, step]), reader.num_records_produced().dtype


def sequences_in_buckets(tf):
    """Sequences of several lengths in buckets, padded, through a dynamic network with masks."""
    tf.set_random_seed(6)
    lengths = tf.constant([2, 3, 5, 1, 4, 2, 5, 3, 1, 4, 2, 2])
    length = tf.train.slice_input_producer([lengths], shuffle=False, num_epochs=2)[0]
    tokens = tf.range(length) % 4
    labels = tf.cumsum(tokens) % 3
    bucket_lengths, (xs, ys) = tf.contrib.training.bucket_by_sequence_length(
        length, [tokens, labels], batch_size=2, bucket_boundaries=[3, 5], dynamic_pad=True, allow_smaller_final_batch=True, capacity=8
    )
    embedding = tf.get_variable("embedding", [4, 6], initializer=tf.random_uniform_initializer(-0.5, 0.5))
    inputs = tf.nn.embedding_lookup(embedding, xs)
    cell = tf.nn.rnn_cell.GRUCell(7)
    outputs, state = tf.nn.dynamic_rnn(cell, inputs, sequence_length=bucket_lengths, dtype=tf.float32)
    logits = tf.layers.dense(outputs, 3, name="logits")
    mask = tf.sequence_mask(bucket_lengths, tf.shape(xs)[1], dtype=tf.float32)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ys, logits=logits)
    loss = tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)
    right = tf.logical_and(tf.equal(tf.cast(tf.argmax(logits, 2), tf.int32), ys), tf.cast(mask, tf.bool))
    accuracy = tf.reduce_sum(tf.cast(right, tf.float32)) / tf.reduce_sum(mask)
    step = tf.train.get_or_create_global_step()
    train = tf.contrib.layers.optimize_loss(loss, step, 0.05, "Adam", clip_gradients=1.0, summaries=["loss"])
    values = []
    with tf.train.SingularMonitoredSession() as sess:
        while not sess.should_stop():
            try:
                values.append(sess.run([bucket_lengths, xs, mask]))
            except tf.errors.OutOfRangeError:
                break
    total = sum(int(v[0].sum()) for v in values)
    widths = sorted(v[1].shape[1] for v in values)
    names = [v.name for v in tf.trainable_variables()]
    return total, widths, names, accuracy.shape, [s.name for s in tf.get_collection("summaries")][-2:], train.dtype, state.shape
