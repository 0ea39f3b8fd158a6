"""Long programs that compose families: input, model, loop, training, saving, summaries, and import."""

import glob
import os
import tempfile

import numpy as np

from programs.raised import caught


def _defun(*args, **kwargs):
    import sys

    if "millstream" in sys.modules:
        from millstream.variables.defined_functions import Defun
    else:
        from tensorflow.python.framework.function import Defun

    return Defun(*args, **kwargs)


def averages_saved_and_imported(tf):
    """A model of slim: decayed rates, moving averages, summaries, checkpoints, import of its meta graph."""
    slim = tf.contrib.slim
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(2)
    data_x = rng.normal(size=(20, 5)).astype(np.float32)
    data_y = (data_x.sum(1) > 0).astype(np.int32)
    x = tf.placeholder(tf.float32, [None, 5], name="x")
    y = tf.placeholder(tf.int32, [None], name="y")
    start = tf.constant_initializer(np.linspace(-0.6, 0.7, 30))
    with slim.arg_scope([slim.fully_connected], weights_regularizer=slim.l2_regularizer(0.01)):
        net = slim.fully_connected(x, 6, scope="hidden", activation_fn=tf.nn.elu, weights_initializer=start)
        net = slim.dropout(net, 1.0, scope="drop")
        logits = slim.fully_connected(net, 2, None, scope="out", weights_initializer=tf.constant_initializer(0.1))
    predicted = tf.argmax(logits, 1, name="predicted")
    tf.losses.sparse_softmax_cross_entropy(y, logits)
    total = tf.losses.get_total_loss()
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.5, step, 4, 0.5, staircase=True)
    train = tf.train.MomentumOptimizer(rate, 0.8, use_nesterov=True).minimize(total, global_step=step)
    average = tf.train.ExponentialMovingAverage(0.7, step)
    with tf.control_dependencies([train]):
        both = average.apply(tf.trainable_variables())
    tf.summary.scalar("loss", total)
    tf.summary.histogram("weights", tf.trainable_variables()[0])
    merged = tf.summary.merge_all()
    saver = tf.train.Saver(max_to_keep=2)
    tf.add_to_collection("predicted", predicted)
    losses, tags = [], []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        writer = tf.summary.FileWriter(folder, sess.graph)
        for i in range(10):
            text, value, _ = sess.run([merged, total, both], {x: data_x, y: data_y})
            losses.append(value)
            writer.add_summary(text, i)
            if i % 4 == 3:
                saver.save(sess, os.path.join(folder, "model"), global_step=step)
        writer.close()
        last = sess.run(predicted, {x: data_x})
    for path in glob.glob(os.path.join(folder, "events*")):
        for event in tf.train.summary_iterator(path):
            tags.extend(v.tag for v in event.summary.value)
    latest = tf.train.latest_checkpoint(folder)
    shapes = tf.train.list_variables(latest)
    with tf.Graph().as_default(), tf.Session() as sess:
        again = tf.train.import_meta_graph(latest + ".meta")
        again.restore(sess, latest)
        (out,) = tf.get_collection("predicted")
        first = sess.run(out, {"x:0": data_x})
        count = sess.run("global_step:0")
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("hidden/weights", [5, 6])
        shadow = tf.train.ExponentialMovingAverage(0.7)
        names = shadow.variables_to_restore([w])
        tf.train.Saver(names).restore(sess, latest)
        averaged = sess.run(w)
    return losses, last, first, count, shapes, sorted(set(tags)), len(tags), sorted(names), averaged


def a_translator_with_attention(tf):
    """An encoder in both directions, attention, a decoder that is trained, then greedy and beam search."""
    seq2seq = tf.contrib.seq2seq
    start_id, end_id, words, units = 1, 2, 9, 4
    rng = np.random.RandomState(4)
    lengths = [3, 5, 2, 4]
    source = np.zeros((4, 5), np.int32)
    target = np.zeros((4, 6), np.int32)
    for row, n in enumerate(lengths):
        source[row, :n] = rng.randint(3, words, n)
        target[row, :n] = source[row, :n][::-1]
        target[row, n] = end_id
    going_in = np.concatenate([np.full((4, 1), start_id, np.int32), target[:, :-1]], 1)
    uniform = tf.random_uniform_initializer(-0.3, 0.3, seed=5)
    with tf.variable_scope("model", initializer=uniform):
        table = tf.get_variable("embedding", [words, units])
        cells = [tf.nn.rnn_cell.GRUCell(units, name=n) for n in ("forward", "backward")]
        outputs, states = tf.nn.bidirectional_dynamic_rnn(cells[0], cells[1], tf.nn.embedding_lookup(table, source), lengths, dtype=tf.float32)
        memory = tf.concat(outputs, 2)
        state = tf.layers.dense(tf.concat(states, 1), units, tf.tanh, name="bridge")
        project = tf.layers.Dense(words, use_bias=False, name="project")

        def decoder_cell(memory, lengths):
            mechanism = seq2seq.LuongAttention(units, memory, lengths, scale=True)
            cell = tf.nn.rnn_cell.GRUCell(units, name="decoder_cell")
            return seq2seq.AttentionWrapper(cell, mechanism, attention_layer_size=units, name="attend")

        with tf.variable_scope("decode"):
            cell = decoder_cell(memory, lengths)
            helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(table, going_in), [n + 1 for n in lengths])
            begin = cell.zero_state(4, tf.float32).clone(cell_state=state)
            made, _, sizes = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, begin, project))
        mask = tf.sequence_mask(sizes, dtype=tf.float32)
        loss = seq2seq.sequence_loss(made.rnn_output, tf.constant(target), mask)
        variables = tf.trainable_variables()
        grads, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 0.5)
        train = tf.train.GradientDescentOptimizer(0.5).apply_gradients(list(zip(grads, variables)))
        with tf.variable_scope("decode", reuse=True):
            greedy = seq2seq.GreedyEmbeddingHelper(table, tf.fill([4], start_id), end_id)
            cell = decoder_cell(memory, lengths)
            begin = cell.zero_state(4, tf.float32).clone(cell_state=state)
            found, _, n_found = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, greedy, begin, project), maximum_iterations=7)
        with tf.variable_scope("decode", reuse=True):
            wide = [seq2seq.tile_batch(t, 2) for t in (memory, tf.constant(lengths), state)]
            cell = decoder_cell(wide[0], wide[1])
            begin = cell.zero_state(8, tf.float32).clone(cell_state=wide[2])
            search = seq2seq.BeamSearchDecoder(cell, table, tf.fill([4], start_id), end_id, begin, 2, project)
            beams, _, _ = seq2seq.dynamic_decode(search, maximum_iterations=7)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        steps = [[np.round(v, 4) for v in sess.run([loss, norm, train])[:2]] for _ in range(8)]
        return steps, sess.run([found.sample_id, n_found]), np.shape(sess.run(beams.predicted_ids)), [v.name for v in variables], made.rnn_output.shape


def a_monitored_run_that_resumes(tf):
    """tf.data, a model, hooks, a session that is interrupted and resumes, and an evaluation."""
    folder = tempfile.mkdtemp()
    seen = []

    class Notes(tf.train.SessionRunHook):
        def begin(self):
            seen.append("begin")

        def after_create_session(self, session, coord):
            seen.append("session")

        def before_run(self, context):
            return tf.train.SessionRunArgs(tf.train.get_global_step())

        def after_run(self, context, values):
            if values.results == self.stop_at:
                context.request_stop()

        def end(self, session):
            seen.append(int(session.run(tf.train.get_global_step())))

    def build():
        numbers = np.arange(12, dtype=np.float32)
        dataset = tf.data.Dataset.from_tensor_slices((numbers, numbers * 2 + 1))
        dataset = dataset.filter(lambda a, b: tf.not_equal(a, 5.0)).map(lambda a, b: (a / 10, b / 10)).repeat().batch(4)
        x, y = dataset.make_one_shot_iterator().get_next()
        w = tf.get_variable("w", initializer=0.0)
        b = tf.get_variable("b", initializer=0.0)
        loss = tf.reduce_mean(tf.square(w * x + b - y))
        step = tf.train.get_or_create_global_step()
        tf.summary.scalar("loss", loss)
        return loss, tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step), w, b

    losses = []
    for stop_at in (4, 9):
        with tf.Graph().as_default():
            loss, train, w, b = build()
            notes = Notes()
            notes.stop_at = stop_at
            hooks = [notes, tf.train.NanTensorHook(loss), tf.train.StopAtStepHook(last_step=50)]
            scaffold = tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=9))
            options = dict(checkpoint_dir=folder, hooks=hooks, scaffold=scaffold, save_checkpoint_steps=3, save_summaries_steps=2, log_step_count_steps=None)
            with tf.train.MonitoredTrainingSession(**options) as sess:
                while not sess.should_stop():
                    losses.append(sess.run([loss, train])[0])
    kept = tf.train.get_checkpoint_state(folder)
    names = [os.path.basename(p) for p in kept.all_model_checkpoint_paths]
    values = [tf.train.load_variable(p, "w") for p in kept.all_model_checkpoint_paths]
    with tf.Graph().as_default():
        loss, _, w, b = build()
        mean, update = tf.metrics.mean(loss)
        result = tf.contrib.training.evaluate_once(kept.model_checkpoint_path, eval_ops=update, final_ops=mean, hooks=[tf.contrib.training.StopAfterNEvalsHook(3)])
    return seen, losses, names, values, np.float32(result)


def a_solver_in_the_graph(tf):
    """Newton's method in a loop with branches and arrays, differentiated and fitted."""

    @_defun(tf.float32, python_grad_func=lambda op, g: g * 2.0 * op.inputs[0])
    def square(x):
        return x * x

    def root(a, n):
        """The square root of `a` by Newton's method, with its path."""

        def body(i, x, path):
            squared = square(x)
            squared.set_shape([])
            error = squared - a
            move = tf.cond(tf.abs(error) > 1e-6, lambda: error / (2.0 * x), lambda: tf.zeros([]))
            after = x - move
            return i + 1, after, path.write(i, after)

        path = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False, element_shape=[])
        _, x, path = tf.while_loop(lambda i, x, p: i < n, body, (0, a, path), parallel_iterations=4)
        return x, path.stack()

    target = tf.constant([1.5, 2.5, 3.0])
    guess = tf.get_variable("guess", initializer=tf.constant([2.0, 5.0, 7.0]))
    roots = tf.map_fn(lambda a: root(a, 12)[0], guess)
    loss = tf.reduce_sum(tf.square(roots - target))
    gradient = tf.gradients(loss, guess)[0]
    train = tf.train.GradientDescentOptimizer(1.0).apply_gradients([(gradient, guess)])
    single, path = root(tf.constant(9.0), 6)
    fed = tf.placeholder_with_default(3, [])
    powers = tf.scan(lambda acc, i: tf.case([(tf.equal(i % 3, 0), lambda: acc * 2.0), (tf.equal(i % 3, 1), lambda: acc + 1.0)], default=lambda: acc - 0.5), tf.range(fed * 2), 1.0)
    table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.float32, -1.0)
    noted = table.insert(tf.range(3, dtype=tf.int64), roots)
    known = table.lookup(tf.constant([2, 9], tf.int64))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run([roots, loss, gradient])
        values = []
        for i in range(25):
            value, _ = sess.run([loss, train])
            values.append(np.round(value, 4))
        sess.run(noted)
        after = [np.round(v, 3) for v in sess.run([guess, known])]
        walk = sess.run([single, path])
        return before, values, after, walk, sess.run(powers), sess.run(powers, {fed: 1}), path.shape


def records_of_sequences(tf):
    """Sequence examples: written, read by queues, bucketed by length, learned by a CRF over an RNN."""
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(6)
    paths = []
    for part in range(2):
        paths.append(os.path.join(folder, "part%d" % part))
        with tf.python_io.TFRecordWriter(paths[-1], tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)) as writer:
            for i in range(6):
                n = 2 + (i * 2 + part) % 5
                values = rng.normal(size=n)
                tags = [int(v > 0) + int(v > 1) for v in values]
                lists = {
                    "value": tf.train.FeatureList(feature=[tf.train.Feature(float_list=tf.train.FloatList(value=[v])) for v in values]),
                    "tag": tf.train.FeatureList(feature=[tf.train.Feature(int64_list=tf.train.Int64List(value=[t])) for t in tags]),
                }
                context = tf.train.Features(feature={"id": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"%d-%d" % (part, i)]))})
                writer.write(tf.train.SequenceExample(context=context, feature_lists=tf.train.FeatureLists(feature_list=lists)).SerializeToString())
    queue = tf.train.string_input_producer(paths, shuffle=False, num_epochs=3)
    reader = tf.TFRecordReader(options=tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP))
    key, text = reader.read(queue)
    context, parts = tf.parse_single_sequence_example(
        text, {"id": tf.FixedLenFeature([], tf.string)}, {"value": tf.FixedLenSequenceFeature([], tf.float32), "tag": tf.FixedLenSequenceFeature([], tf.int64)}
    )
    length = tf.shape(parts["value"])[0]
    lengths, (values, tags, ids) = tf.contrib.training.bucket_by_sequence_length(
        length, [parts["value"], tf.cast(parts["tag"], tf.int32), context["id"]], 3, [4], dynamic_pad=True, allow_smaller_final_batch=True, capacity=16
    )
    inputs = tf.stack([values, tf.square(values)], 2)
    cell = tf.nn.rnn_cell.BasicRNNCell(3)
    with tf.variable_scope("tagger", initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=8)):
        outputs, _ = tf.nn.dynamic_rnn(cell, inputs, lengths, dtype=tf.float32)
        scores = tf.layers.dense(outputs, 3, name="scores")
        likelihood, transitions = tf.contrib.crf.crf_log_likelihood(scores, tags, lengths)
    best, _ = tf.contrib.crf.crf_decode(scores, transitions, lengths)
    loss = tf.reduce_mean(-likelihood)
    optimizer = tf.train.AdagradOptimizer(0.5)
    train = optimizer.minimize(loss)
    correct = tf.reduce_sum(tf.cast(tf.equal(best, tags), tf.float32) * tf.sequence_mask(lengths, tf.shape(tags)[1], tf.float32))
    batches = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        try:
            while not coord.should_stop():
                n, names, value, right, _ = sess.run([lengths, ids, loss, correct, train])
                batches.append((n.tolist(), sorted(names.tolist()), np.round(value, 3), right))
        except tf.errors.OutOfRangeError:
            batches.append("end")
        finally:
            coord.request_stop()
            coord.join(threads)
        closed = caught(lambda: sess.run(ids))
    return len(batches), sum(len(b[0]) for b in batches[:-1]), sorted(name for b in batches[:-1] for name in b[1]), batches[-1], closed[:2], transitions.shape


def an_estimator_with_columns(tf):
    """An Estimator of feature columns: trained from arrays, evaluated, exported, loaded, asked."""
    c = tf.feature_column
    folder = tempfile.mkdtemp()
    rng = np.random.RandomState(9)
    price = rng.uniform(0, 4, size=32).astype(np.float32)
    kind = np.array(["a", "b", "c", "d"])[rng.randint(4, size=32)]
    label = (price + 2.0 * (kind == "b")).astype(np.float32)[:, None]
    columns = [
        c.numeric_column("price"),
        c.bucketized_column(c.numeric_column("price"), [1.0, 2.0, 3.0]),
        c.embedding_column(c.categorical_column_with_vocabulary_list("kind", ["a", "b", "c"], num_oov_buckets=1), 2, initializer=tf.constant_initializer(0.2)),
    ]

    def model(features, labels, mode, params):
        x = c.input_layer(features, params["columns"])
        hidden = tf.layers.dense(x, 5, tf.nn.tanh, kernel_initializer=tf.constant_initializer(np.linspace(-0.5, 0.5, 35).reshape(7, 5)))
        out = tf.layers.dense(hidden, 1, kernel_initializer=tf.constant_initializer(0.2))
        if mode == tf.estimator.ModeKeys.PREDICT:
            outputs = {"serving_default": tf.estimator.export.PredictOutput({"value": out})}
            return tf.estimator.EstimatorSpec(mode, predictions={"value": out}, export_outputs=outputs)
        loss = tf.losses.mean_squared_error(labels, out)
        if mode == tf.estimator.ModeKeys.EVAL:
            return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"off": tf.metrics.mean_absolute_error(labels, out)})
        train = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    config = tf.estimator.RunConfig(model_dir=folder, save_checkpoints_steps=20, keep_checkpoint_max=2, log_step_count_steps=1000)
    estimator = tf.estimator.Estimator(model, config=config, params={"columns": columns})
    make = tf.estimator.inputs.numpy_input_fn
    arrays = {"price": price, "kind": kind}
    estimator.train(make(arrays, label, batch_size=8, num_epochs=10, shuffle=False))
    first = estimator.evaluate(make(arrays, label, batch_size=8, num_epochs=1, shuffle=False))
    estimator.train(make(arrays, label, batch_size=8, num_epochs=None, shuffle=False), steps=10)
    second = estimator.evaluate(make(arrays, label, batch_size=8, num_epochs=1, shuffle=False))
    asked = make({"price": price[:3], "kind": kind[:3]}, num_epochs=1, shuffle=False)
    told = [p["value"] for p in estimator.predict(asked)]
    spec = c.make_parse_example_spec(columns)
    export = estimator.export_savedmodel(tempfile.mkdtemp(), tf.estimator.export.build_parsing_serving_input_receiver_fn(spec))
    feature = {
        "price": tf.train.Feature(float_list=tf.train.FloatList(value=[float(price[0])])),
        "kind": tf.train.Feature(bytes_list=tf.train.BytesList(value=[kind[0].encode()])),
    }
    text = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
    with tf.Graph().as_default(), tf.Session() as sess:
        loaded = tf.saved_model.loader.load(sess, [tf.saved_model.tag_constants.SERVING], export)
        signature = loaded.signature_def["serving_default"]
        served = sess.run(signature.outputs["value"].name, {signature.inputs["examples"].name: [text]})
    kept = sorted(os.path.basename(p) for p in tf.train.get_checkpoint_state(folder).all_model_checkpoint_paths)
    rounded = [{k: np.round(v, 4) for k, v in e.items()} for e in (first, second)]
    return rounded, np.round(told, 4), np.round(served, 4), kept, sorted(estimator.get_variable_names())
