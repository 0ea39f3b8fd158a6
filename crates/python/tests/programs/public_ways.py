"""What well-known programs do and shorter ones do not: see `../public`."""

import os
import tempfile

import numpy as np

from programs.raised import mistakes


def entropy_of_integer_labels(tf):
    """A graph network's labels are integers; the labels take the dtype of the logits."""
    labels, logits = tf.constant([[0, 1], [1, 0]]), tf.constant([[1.0, 2.0], [0.5, -1.0]])
    first = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    second = tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[0, 1], [1, 0]], logits=tf.cast(logits, tf.float64))
    third = tf.nn.softmax_cross_entropy_with_logits_v2(labels=np.eye(2), logits=logits)
    names = [op.name for op in tf.get_default_graph().get_operations() if "stop_gradient" in op.name]
    with tf.Session() as sess:
        return sess.run([first, second, third]), names


def seeds_after_sorts_and_bounded_loops(tf):
    """The seed of a random operation tells how many nodes there are before it."""
    tf.set_random_seed(3)
    seeds = []

    def note():
        seeds.append(tf.get_seed(None))

    tf.sort(tf.constant([[3.0, 1.0, 2.0]]), direction="DESCENDING")
    note()
    tf.argsort(tf.zeros([2, 3, 4]), axis=1, direction="DESCENDING")
    note()
    tf.while_loop(lambda *_: True, lambda i: i + 1, [0], maximum_iterations=5)
    note()
    tf.nn.softmax_cross_entropy_with_logits(labels=tf.constant([[0, 1]]), logits=tf.constant([[1.0, 2.0]]))
    note()
    return seeds


def sort_of_a_last_axis_of_unknown_rank(tf):
    """The last axis can be sorted whatever the rank."""
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        return sess.run([tf.sort(x), tf.argsort(x, direction="DESCENDING")], {x: [[3.0, 1.0, 2.0]]})


def save_to_a_new_folder(tf):
    """A checkpoint makes its folder, but not the folders above it."""
    tf.get_variable("v", initializer=1.0)
    folder = tempfile.mkdtemp()
    saver = tf.train.Saver()
    made, refused = os.path.join(folder, "new", "model"), os.path.join(folder, "no", "such", "model")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saver.save(sess, made, global_step=3)
        try:
            saver.save(sess, refused, global_step=3)
            said = "nothing"
        except ValueError as error:
            said = str(error).replace(folder, "")
    return sorted(os.listdir(os.path.dirname(made))), said, sorted(os.listdir(folder))


def a_template_calls_one_made_elsewhere(tf):
    """A module's parts are made with it, in scopes that are not those of its call."""
    with tf.variable_scope("elsewhere"):
        inner = tf.make_template("inner", lambda: tf.get_variable("w", []), create_scope_now_=True)
    outer = tf.make_template("outer", lambda: inner().name)
    return outer(), outer(), [v.name for v in tf.trainable_variables()]


def shuffled_by_an_iterator_of_a_structure(tf):
    """A transformer's batches: a dataset that is given to `make_initializer` is not optimized."""
    tf.set_random_seed(20)
    found = []
    for count in (None, 2):
        dataset = tf.data.Dataset.range(5).shuffle(50).repeat(count)
        iterator = tf.data.Iterator.from_structure(dataset.output_types, dataset.output_shapes)
        element, start = iterator.get_next(), iterator.make_initializer(dataset)
        optimized = dataset.make_initializable_iterator()
        other = optimized.get_next()
        with tf.Session() as sess:
            sess.run([start, optimized.initializer])
            found.append([[int(n) for n in sess.run([element, other])] for _ in range(10)])
    return found, [op.type for op in tf.get_default_graph().get_operations() if "Dataset" in op.type]


def nodes_of_batch_normalization(tf):
    """The input is scaled before the mean is."""
    x, other = tf.placeholder(tf.float32, [3, 4]), tf.constant([1.0, 2.0, 3.0, 4.0])
    for offset, scale in ((other, other), (None, other), (other, None), (None, None)):
        tf.nn.batch_normalization(x, other, other, offset, scale, 0.01)
    return [(op.name, [i.name for i in op.inputs]) for op in tf.get_default_graph().get_operations()]


def gradients_wait_for_control_dependencies(tf):
    """The CIFAR-10 tutorial averages its losses by operations that nothing but the gradients waits for."""
    found = []
    for resource in (False, True):
        count = tf.Variable(0, use_resource=resource)
        x = tf.Variable([1.0, 2.0], use_resource=resource)
        with tf.control_dependencies([tf.assign_add(count, 1)]):
            pairs = tf.train.GradientDescentOptimizer(0.5).compute_gradients(tf.reduce_sum(x * x), [x])
            given = tf.gradients(x * 3.0, x, grad_ys=[tf.constant([1.0, 2.0])])
            with tf.control_dependencies(None):
                free = tf.gradients(tf.reduce_sum(x * 4.0), x)
            step = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]
            looped = tf.gradients(step, x)
        after = tf.gradients(tf.reduce_sum(x), x)
        train = tf.train.GradientDescentOptimizer(0.5).apply_gradients(pairs)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for fetch in (pairs[0][0], given, free, looped, after, train):
                found.append([sess.run(fetch), sess.run(count)])
    return found


def seeds_after_cells_with_concatenated_states(tf):
    """Handwriting models keep an LSTM's state in one tensor."""
    tf.set_random_seed(3)
    seeds = []
    states = []
    for kind in (tf.nn.rnn_cell.BasicLSTMCell, tf.nn.rnn_cell.LSTMCell):
        for whole in (False, True):
            cell = tf.nn.rnn_cell.MultiRNNCell([kind(3, state_is_tuple=False) for _ in range(2)], state_is_tuple=whole)
            inputs = [tf.placeholder(tf.float32, [2, 4]) for _ in range(2)]
            zeros = cell.zero_state(2, tf.float32)
            with tf.variable_scope("%s_%s" % (kind.__name__, whole)):
                _, state = tf.contrib.legacy_seq2seq.rnn_decoder(inputs, zeros, cell)
            seeds.append(tf.get_seed(None)[1])
            states.append(state)
    feeds = {x: np.ones([2, 4], np.float32) for op in tf.get_default_graph().get_operations() if op.type == "Placeholder" for x in op.outputs}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return seeds, sess.run(states, feeds)


def initializers_refuse_other_dtypes(tf):
    """Sonnet's tests expect that a linear layer of integers needs an initializer of its own."""
    kinds = ("random_normal", "truncated_normal", "random_uniform", "uniform_unit_scaling", "variance_scaling", "orthogonal", "glorot_uniform")
    made = {kind: getattr(tf, kind + "_initializer") for kind in kinds}
    made["identity"] = tf.initializers.identity
    refused = {kind + str(at): (lambda f=f, dtype=dtype: f(dtype=dtype))
               for kind, f in made.items() for at, dtype in enumerate((tf.int32, tf.complex64, tf.string))}
    glorot = [f(dtype=tf.float64)([2, 2]).dtype.name for f in (tf.glorot_uniform_initializer, tf.glorot_normal_initializer)]
    return mistakes(tf, **refused), glorot


def errors_in_templates(tf):
    """An error in a template's function tells where the template was made; its other arguments stay."""

    def fails(x):
        raise ValueError("no such layer", x, 3)

    inner = tf.make_template("inner", fails)
    outer = tf.make_template("outer", lambda x: inner(x))
    found = []
    for template in (inner, outer):
        try:
            template(2)
        except ValueError as error:
            text = error.args[0]
            found.append([error.args[1:], text.split("\n")[0], text.count("originally defined at:"), "tf.make_template(\"inner\", fails)" in text,
                          "tf.make_template(\"outer\"" in text])
    return found


def one_hot_of_given_values(tf):
    """Glow seeds its noise after a one-hot row of given integers: the values are converted twice, no more."""
    values = [(1, 0), (1,), (1.0, 0.0), (True, False), ("a", "b"), (np.float64(2), np.float64(1)), (1j, 0j), (2**40,), (tf.constant(2.0), 0.0)]
    found = []
    for given in values:
        with tf.Graph().as_default():
            tf.set_random_seed(3)
            made = tf.one_hot([1], 3, *[tf.constant(2.0) if isinstance(v, tf.Tensor) else v for v in given])
            found.append((tf.get_seed(None), made.dtype.name))
    return found, mistakes(
        tf,
        of_bool=lambda: tf.one_hot([1], 3, dtype=tf.bool),
        half_of_bool=lambda: tf.one_hot([1], 3, True),
        other_half=lambda: tf.one_hot([1], 3, off_value=True),
        text=lambda: tf.one_hot([1], 3, "a"),
        unlike=lambda: tf.one_hot([1], 3, 1, 0.0),
        unlike_the_dtype=lambda: tf.one_hot([1], 3, 1, 0, dtype=tf.float32),
    )


def entropy_of_labels_in_a_list(tf):
    """A lab of DeepLearningZeroToAll has its labels, of unknown size, in a list: ranks need not agree."""
    logits, labels = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
    tf.set_random_seed(3)
    made, seeds = [], []
    for a, b in ((logits, [labels]), ([logits], labels), (logits, labels), ([logits], [labels])):
        made.append(tf.nn.softmax_cross_entropy_with_logits_v2(logits=a, labels=tf.stop_gradient(b)))
        seeds.append(tf.get_seed(None))
    feeds = {logits: [[1.0, 2.0, 0.5], [0.0, 1.0, 3.0]], labels: [[0.0, 1.0, 0.0], [0.5, 0.0, 0.5]]}
    with tf.Session() as sess:
        values = sess.run([made, tf.gradients(made, logits)], feeds)
    return values, seeds, [str(cost.shape) for cost in made], mistakes(
        tf, unlike=lambda: tf.nn.softmax_cross_entropy_with_logits_v2(logits=tf.zeros([4, 3]), labels=tf.zeros([1, 2, 6])))


def scopes_without_names_of_operations(tf):
    """Sonnet 1 opens its modules' scopes again by an internal function."""
    if tf.__name__ == "millstream":
        from millstream.variables import scopes as variable_scope
    else:
        from tensorflow.python.ops import variable_scope
    found = []
    with tf.variable_scope("outer") as outer:
        tf.get_variable("v", [])
    with tf.name_scope("somewhere"):
        for reuse in (False, True):
            with variable_scope._pure_variable_scope(outer, reuse=reuse or tf.AUTO_REUSE) as inner:
                found.append([inner.name, tf.get_variable("v", []).name, tf.constant(1).name, inner.reuse is True])
        with variable_scope._pure_variable_scope("new", initializer=tf.ones_initializer()) as inner:
            found.append([inner.name, tf.get_variable("v", []).name, tf.constant(1).name, tf.get_variable_scope().name])
    return found


def parts_of_variables_in_a_saver(tf):
    """Sonnet's `get_saver` names the parts of a partitioned variable together, as a list."""
    path = os.path.join(tempfile.mkdtemp(), "model")
    cut = tf.fixed_size_partitioner(2)
    a = tf.get_variable("a", initializer=tf.constant([[1.0, 2.0], [3.0, 4.0]]), partitioner=cut)
    b = tf.get_variable("b", [2, 2], initializer=tf.zeros_initializer(), partitioner=cut)
    c = tf.get_variable("c", [2, 2], initializer=tf.zeros_initializer())
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tf.train.Saver({"w": list(a)}).save(sess, path)
        tf.train.Saver({"w": tuple(b)}).restore(sess, path)
        tf.train.Saver({"w": c}).restore(sess, path)
        values = sess.run([tf.convert_to_tensor(b), c])
    return tf.train.list_variables(path), values, mistakes(
        tf,
        of_two=lambda: tf.train.Saver({"w": [list(a)[0], list(b)[0]]}),
        no_part=lambda: tf.train.Saver({"w": [c]}),
    )


def metrics_over_internal_counters(tf):
    """tf_metrics makes its precision and recall of an internal function's confusion matrix."""
    if tf.__name__ == "millstream":
        from millstream.metrics.classes import streaming_confusion_matrix
        from millstream.metrics.thresholds import counts_at_thresholds
    else:
        from tensorflow.python.ops.metrics_impl import _confusion_matrix_at_thresholds as counts_at_thresholds
        from tensorflow.python.ops.metrics_impl import _streaming_confusion_matrix as streaming_confusion_matrix
    labels, guesses = tf.placeholder(tf.int32, [None, 2]), tf.placeholder(tf.int32, [None, 2])
    made = [streaming_confusion_matrix(labels, guesses, 3), streaming_confusion_matrix(labels, guesses, 3, tf.to_float(labels))]
    counts = counts_at_thresholds(tf.greater(labels, 0), tf.to_float(guesses) / 2, [0.2, 0.7])
    some = counts_at_thresholds(tf.greater(labels, 0), tf.to_float(guesses) / 2, [0.2], includes=["fp", "tp"])
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        for shift in range(2):
            feeds = {labels: [[0, 1], [2, 2]], guesses: [[0, shift], [2, 1]]}
            updated = sess.run([made[0][1], made[1][1], counts[1], some[1]], feeds)
        values = sess.run([made[0][0], made[1][0], counts[0], some[0]])
    return updated, values, [v.name for v in tf.local_variables()], made[0][1].dtype.name, str(made[0][0].shape)


def seeds_that_are_removed(tf):
    """tf_ner's estimator has no seed: it removes the one that its graph had when it was made."""
    graph, found = tf.get_default_graph(), []
    for seed in (3, None, 5, None):
        tf.set_random_seed(seed)
        body = []
        tf.data.Dataset.range(2).map(lambda x: body.append(tf.get_default_graph().seed) or x)
        made = tf.random_uniform([]).op.inputs[0].op.inputs[0].op
        found.append([graph.seed, tf.get_seed(None)[0], tf.get_seed(7), made.get_attr("seed"), body])
    graph.seed = None
    return found, graph.seed


def checkpoints_in_relative_folders(tf):
    """tf_ner's estimators have relative folders: paths in their list of checkpoints are relative to them."""
    def listed(folder):
        with open(os.path.join(folder, "checkpoint")) as file:
            return file.read(), tf.train.latest_checkpoint(folder), list(tf.train.get_checkpoint_state(folder).all_model_checkpoint_paths)

    def model_fn(features, labels, mode):
        step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(tf.get_variable("w", initializer=2.0)), tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=tf.constant(1.0), train_op=step)

    before, home, found = os.getcwd(), tempfile.mkdtemp(), []
    os.chdir(home)
    try:
        os.makedirs("some/where")
        tf.get_variable("v", initializer=1.0)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for folder in ("", "some", "some/where", os.path.join(home, "whole")):
                for relative in (True, False):
                    saver = tf.train.Saver(save_relative_paths=relative)
                    for at in range(2):
                        saver.save(sess, os.path.join(folder, "model"), global_step=at)
                    found.append(listed(folder))
        found = [[part.replace(home, "HOME") if isinstance(part, str) else [p.replace(home, "HOME") for p in part] for part in row]
                 for row in found]
        model = tf.estimator.Estimator(model_fn, "results/model")
        model.train(lambda: tf.data.Dataset.from_tensors((1.0, 1.0)).repeat(), max_steps=2)
        model.train(lambda: tf.data.Dataset.from_tensors((1.0, 1.0)).repeat(), max_steps=3)
        return found, listed("results/model"), model.latest_checkpoint(), int(model.get_variable_value("global_step"))
    finally:
        os.chdir(before)
