"""`tf.contrib.slim`: layers in argument scopes, training and evaluation in loops, summaries."""

import contextlib
import io
import os
import tempfile

import numpy as np

from programs.tools import caught, initialize, mistakes

X = np.array([[1, 2, 3], [4, 7, 5], [0, 5, 1], [3, 3, 3]], np.float32)
Y = np.array([[1], [0], [2], [1]], np.float32)


def _network(slim, x, training=True):
    with slim.arg_scope([slim.fully_connected], activation_fn=_relu, weights_regularizer=slim.l2_regularizer(0.001)):
        with slim.arg_scope([slim.batch_norm, slim.dropout], is_training=training) as scope:
            first = np.linspace(-1, 1, 12).reshape(3, 4)
            net = slim.fully_connected(x, 4, normalizer_fn=slim.batch_norm, weights_initializer=_constant(first), scope="fc1")
            net = slim.dropout(net, 1.0, scope="drop")
            net = slim.stack(net, slim.fully_connected, [3, 2], weights_initializer=_constant(0.25), scope="fc2")
            return slim.fully_connected(net, 1, activation_fn=None, weights_initializer=_constant(0.5), scope="out"), scope


def _constant(value):
    """Returns an initializer of either library."""
    return lambda shape, dtype=None, partition_info=None: np.broadcast_to(np.float32(value), [int(n) for n in shape]).copy()


def _relu(x):
    """Returns the positive part of a tensor of either library."""
    return (abs(x) + x) * 0.5


def _names(values):
    return [v.name for v in values]


def network(tf):
    slim = tf.contrib.slim
    y, scope = _network(slim, tf.constant(X))
    with slim.arg_scope(scope):
        with tf.variable_scope("", reuse=True):
            z = slim.fully_connected(tf.constant(X[:, :3]), 4, normalizer_fn=slim.batch_norm, scope="fc1")
    losses = [t.name for t in tf.get_collection("regularization_losses")]
    with tf.Session() as sess:
        initialize(tf, sess)
        values = sess.run([y, z])
    kinds = slim.get_model_variables(), slim.get_variables("fc2"), slim.get_variables_to_restore(exclude=["out"]), tf.trainable_variables()
    return values, losses, [_names(kind) for kind in kinds]


def training(tf):
    slim = tf.contrib.slim
    y, _ = _network(slim, tf.constant(X))
    tf.losses.mean_squared_error(tf.constant(Y), y)
    loss = tf.losses.get_total_loss()
    train_op = slim.learning.create_train_op(loss, tf.train.MomentumOptimizer(0.1, 0.9))
    seen = []

    def step(sess, train_op, global_step, kwargs):
        seen.append((sorted(kwargs), float(sess.run(global_step))))
        return slim.learning.train_step(sess, train_op, global_step, kwargs)

    last = slim.learning.train(train_op, None, train_step_fn=step, number_of_steps=6, summary_writer=None)
    return train_op.name, [t.name for t in tf.get_collection("train_op")], seen, np.float32(last)


def training_with_files(tf):
    slim = tf.contrib.slim
    folder = tempfile.mkdtemp()
    y, _ = _network(slim, tf.constant(X))
    loss = tf.reduce_mean(tf.square(y - Y))
    tf.summary.scalar("loss", loss)
    train_op = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.05), summarize_gradients=True)
    first = slim.learning.train(train_op, folder, number_of_steps=3, save_summaries_secs=0, log_every_n_steps=2)
    with tf.Graph().as_default():
        y, _ = _network(slim, tf.constant(X))
        loss = tf.reduce_mean(tf.square(y - Y))
        train_op = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.05))
        second = slim.learning.train(train_op, folder, number_of_steps=5, save_summaries_secs=0)
    with tf.Graph().as_default():
        y, _ = _network(slim, tf.constant(X))
        restore = slim.assign_from_checkpoint_fn(tf.train.latest_checkpoint(folder), slim.get_variables_to_restore(include=["fc1"]))
        train_op = slim.learning.create_train_op(tf.reduce_mean(tf.square(y - Y)), tf.train.GradientDescentOptimizer(0.05))
        other = slim.learning.train(train_op, None, init_fn=restore, number_of_steps=1)
    return np.float32([first, second, other]), os.path.basename(tf.train.latest_checkpoint(folder))


def training_steps(tf):
    slim = tf.contrib.slim
    w, v = tf.get_variable("w", initializer=[1.0, -2.0]), tf.get_variable("v", initializer=3.0)
    n = tf.get_variable("n", initializer=0.0, trainable=False)
    loss = tf.reduce_sum(w * w) * v
    update = tf.assign_add(n, 1.0)
    learning = slim.learning
    sgd = tf.train.GradientDescentOptimizer
    ops = [
        learning.create_train_op(loss, sgd(0.1), clip_gradient_norm=1.0),
        learning.create_train_op(loss, sgd(0.1), gradient_multipliers={"w": 0.5, v: 2.0}, global_step=None),
        learning.create_train_op(loss, sgd(0.1), variables_to_train=[v], update_ops=[update], check_numerics=False),
        learning.create_train_op(loss, sgd(0.1), summarize_gradients=True),
    ]
    found = []
    with tf.Session() as sess:
        initialize(tf, sess)
        for op in ops:
            sess.run(op)  # TensorFlow may read a variable for the loss before or after its update.
            found.append(sess.run([w, v, n, tf.train.get_global_step()]))
    names = [t.name for t in ops], [t.op.name for t in tf.get_collection("summaries")]
    grads = [(tf.constant([3.0, 4.0]), w), (None, v), (tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([0])), n)]
    clipped = learning.clip_gradient_norms(grads, 1.0)
    scaled = learning.multiply_gradients(grads, {w: 2.0, "n": 3.0})
    with tf.Session() as sess:
        found.append(sess.run([clipped[0][0], clipped[2][0].values, scaled[0][0], scaled[2][0].values]))
    return found, names, clipped[1][0], len(learning.add_gradients_summaries(grads))


def training_mistakes(tf):
    train = tf.contrib.slim.learning.train
    one = tf.constant(1.0)
    step = tf.contrib.slim.learning.train_step
    return (
        caught(lambda: train(None, None), "train_op cannot be None."),
        caught(lambda: train(one, None, summary_op=one), "Cannot provide summary_op because logdir=None"),
        caught(lambda: train(one, None, saver=one), "Cannot provide saver because logdir=None"),
        caught(lambda: train(one, None, trace_every_n_steps=1), "Cannot provide trace_every_n_steps because logdir=None"),
        caught(lambda: train(one, None, number_of_steps=0), "`number_of_steps` must be either None or a positive number."),
        caught(lambda: step(None, one, one, {"should_trace": one}), "logdir must be present in train_step_kwargs when should_trace is present"),
        mistakes(
            tf,
            multiply=lambda: tf.contrib.slim.learning.multiply_gradients([], {}),
            multiply_list=lambda: tf.contrib.slim.learning.multiply_gradients((), {1: 2}),
            multiply_dict=lambda: tf.contrib.slim.learning.multiply_gradients([], [2]),
        ),
    )


def training_ends_with_the_input(tf):
    slim = tf.contrib.slim
    x = tf.train.batch([tf.train.limit_epochs(tf.constant(1.5), 4)], 2)
    w = tf.get_variable("w", initializer=1.0)
    train_op = slim.learning.create_train_op(tf.reduce_mean(x) * w, tf.train.GradientDescentOptimizer(0.1))
    loss = slim.learning.train(train_op, None)
    return np.float32(loss)


def training_wrapped(tf):
    slim = tf.contrib.slim
    w = tf.get_variable("w", initializer=1.0)
    train_op = slim.learning.create_train_op(w * w, tf.train.GradientDescentOptimizer(0.1))
    runs = []

    class Counted(object):
        def __init__(self, sess):
            self.sess = sess

        def run(self, *args, **kwargs):
            runs.append(1)
            return self.sess.run(*args, **kwargs)

        def __getattr__(self, name):
            return getattr(self.sess, name)

    def step(sess, train_op, global_step, kwargs):
        loss = sess.run(train_op)
        return loss, sess.run(global_step) >= kwargs["stop"]

    loss = slim.learning.train(train_op, None, step, {"stop": 3}, session_wrapper=Counted, summary_writer=None)
    return loss is not None, len(runs)


def evaluation(tf):
    slim = tf.contrib.slim
    folder = tempfile.mkdtemp()
    v = tf.get_variable("v", initializer=2.0)
    step = tf.train.get_or_create_global_step()
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(tf.assign(v, 5.0))
        path = tf.train.Saver().save(sess, os.path.join(folder, "model"), global_step=step)
    mean, update = tf.metrics.mean(v)
    tf.summary.scalar("mean", mean)
    once = slim.evaluation.evaluate_once("", path, folder, num_evals=3, eval_op=update, final_op=[mean, v])
    again = slim.evaluation.evaluation_loop("", folder, folder, 2, eval_op=update, final_op=mean, max_number_of_evaluations=1, summary_op=None)
    none = slim.evaluation.evaluation_loop("", tempfile.mkdtemp(), folder, timeout=0.1)
    new = slim.evaluation.wait_for_new_checkpoint(folder, timeout=0.1)
    found = [os.path.basename(p) for p in slim.evaluation.checkpoints_iterator(folder, timeout=0.1)]
    tags = []
    for name in sorted(os.listdir(folder)):
        if "tfevents" in name:
            for event in tf.train.summary_iterator(os.path.join(folder, name)):
                tags += [(value.tag, value.simple_value) for value in event.summary.value]
    return once, again, none, os.path.basename(new), found, tags


def summaries(tf):
    summary = tf.contrib.slim.summaries
    c, v = tf.constant(1.5, name="c"), tf.get_variable("v", initializer=[0.0, 2.0])
    pictures = tf.zeros([1, 2, 2, 1], name="p")
    found = [
        summary.add_scalar_summary(c),
        summary.add_scalar_summary(c, "named", "pre", print_summary=True),
        summary.add_histogram_summary(v, prefix="pre"),
        summary.add_image_summary(pictures),
        summary.add_zero_fraction_summary(v),
    ]
    found += summary.add_scalar_summaries([c, c], "more") + summary.add_histogram_summaries([v]) + summary.add_image_summaries([pictures], "im")
    found += summary.add_zero_fraction_summaries([v, c])
    values = []
    with tf.Session() as sess:
        initialize(tf, sess)
        for s in found:
            value = tf.Summary.FromString(sess.run(s)).value[0]
            values.append((value.tag, value.simple_value))
    return [(s.op.name, s.op.type) for s in found], [s.op.name for s in tf.get_collection("summaries")], values


def sizes(tf):
    analyzer = tf.contrib.slim.model_analyzer
    a, b = tf.get_variable("a", [2, 3]), tf.get_variable("b", [], tf.int64)
    tf.placeholder(tf.float32, [None, 2], name="x")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        found = analyzer.analyze_vars([a, b], print_info=True), analyzer.analyze_vars([a])
    with tf.Graph().as_default() as graph:
        tf.zeros([2, 2], name="z")
        tf.placeholder(tf.float32, [None, 2], name="x")
        tf.no_op(name="n")
        with contextlib.redirect_stdout(out):
            total = analyzer.analyze_ops(graph, print_info=True)
    return found, total, out.getvalue(), analyzer.tensor_description(a)


def queue_block(tf):
    queues = tf.contrib.slim.queues
    x = tf.train.batch([tf.constant(2.0)], 3)
    with tf.Session() as sess:
        with queues.QueueRunners(sess):
            value = sess.run(x)

            def nested():
                with queues.QueueRunners(sess):
                    pass

            return value, caught(nested, "QueueRunners cannot be nested")


def names(tf):
    slim = tf.contrib.slim
    step = slim.get_or_create_global_step()
    every = [
        slim.create_global_step, slim.get_global_step, slim.assert_global_step, slim.model_variable, slim.variable, slim.local_variable, slim.flatten,
        slim.one_hot_encoding, slim.softmax, slim.repeat, slim.bias_add, slim.layer_norm, slim.unit_norm, slim.maxout, slim.l1_regularizer,
        slim.l1_l2_regularizer, slim.xavier_initializer, slim.variance_scaling_initializer, slim.xavier_initializer_conv2d, slim.add_arg_scope,
        slim.arg_scoped_arguments, slim.has_arg_scope, slim.current_arg_scope, slim.assign_from_checkpoint, slim.assign_from_values, slim.optimize_loss,
        slim.filter_variables, slim.get_unique_variable, slim.get_variables_by_name, slim.get_variables_by_suffix, slim.add_model_variable,
        slim.layers.fully_connected, slim.regularizers.l2_regularizer, slim.initializers.xavier_initializer, slim.utils.collect_named_outputs,
        slim.summarize_activation, slim.summarize_collection, slim.summarize_tensors, slim.embed_sequence, slim.dense_to_sparse, slim.linear,
    ]  # fmt: skip
    return len(every), step.name, slim.has_arg_scope(slim.fully_connected), slim.has_arg_scope(slim.repeat)


def end_points(tf):
    slim = tf.contrib.slim
    with tf.variable_scope("net") as scope:
        with slim.arg_scope([slim.fully_connected, slim.dropout, slim.flatten], outputs_collections=scope.name + "_end_points"):
            net = slim.fully_connected(X, 4, scope="a")
            net = slim.flatten(slim.dropout(net, scope="b"), scope="f")
            slim.fully_connected(net, 2)
        found = slim.utils.convert_collection_to_dict(scope.name + "_end_points", clear_collection=True)
    utils = slim.utils
    aliased = utils.append_tensor_alias(tf.constant(1.0), "one/")
    more = (
        utils.gather_tensors_aliases([aliased, tf.constant(2.0, name="two")]),
        utils.two_element_tuple(3),
        utils.two_element_tuple([1, 2]),
        utils.n_positive_integers(2, 4),
        utils.n_positive_integers(2, [1, 2]),
        utils.last_dimension(tf.TensorShape([2, 3])),
        utils.channel_dimension(tf.TensorShape([2, 3, 4]), "channels_first"),
        utils.constant_value(tf.constant(3)),
        utils.constant_value(tf.placeholder(tf.int32)),
        utils.smart_cond(True, lambda: 1, lambda: 2),
        utils.static_cond(False, lambda: 1, lambda: 2),
        utils.get_variable_collections({"a": ["b"]}, "a"),
    )
    wrong = mistakes(
        tf,
        pair=lambda: utils.two_element_tuple([1]),
        pair_kind=lambda: utils.two_element_tuple("a"),
        positive=lambda: utils.n_positive_integers(2, 0),
        many=lambda: utils.n_positive_integers(2, [1, 2, 3]),
        n=lambda: utils.n_positive_integers(0, 1),
        rank=lambda: utils.last_dimension(tf.TensorShape([]), 1),
        unknown=lambda: utils.last_dimension(tf.TensorShape([None]), 1),
        none=lambda: utils.constant_value(None),
        dtype=lambda: utils.constant_value(tf.constant(1), tf.float32),
        fn=lambda: utils.static_cond(True, 1, lambda: 2),
    )
    return list(found), [t.name for t in found.values()], tf.get_collection("net_end_points"), more, wrong
