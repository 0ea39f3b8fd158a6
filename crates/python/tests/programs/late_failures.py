"""What TensorFlow finds out while the graph is built, and what in the run; values behind static shapes."""

from programs.raised import WHOLE, caught


def _fed(tf, value, dtype=None):
    return tf.placeholder_with_default(tf.constant(value, dtype), None)


def assertions_with_messages(tf):
    """A message comes before the data, given or not."""
    answers = []
    for name in ("equal", "none_equal", "less", "less_equal", "greater", "greater_equal"):
        check = getattr(tf, "assert_" + name)
        for x, y in ((1, 2), (2, 1), (1, 1), ([1, 2], [1, 3]), ([], [])):
            for options in ({}, {"message": "told"}, {"message": "told", "data": [tf.constant("x")]}, {"data": [tf.constant("x")]}):
                made = check(_fed(tf, x, tf.int32), _fed(tf, y, tf.int32), **options)
                with tf.Session() as sess:
                    try:
                        answers.append(sess.run(made))
                    except tf.errors.InvalidArgumentError as error:
                        answers.append("Condition" in error.message and "told" in error.message or error.message.split("\n")[0])
    return answers


def assertions_of_shapes_that_differ(tf):
    """The comparison fails before the assertion looks at the values."""
    found = {}
    for name in ("equal", "less", "greater_equal"):
        check = getattr(tf, "assert_" + name)
        found[name] = caught(lambda check=check: check(tf.constant([1, 2]), tf.constant([1, 2, 3])), "Dimensions must be equal, but are 2 and 3")
    return found


def ranks_in_the_run(tf):
    """A rank of an input of unknown shape, or a rank that is fed, is found in the run."""
    x = _fed(tf, [1])
    checks = [
        tf.assert_rank(x, -1), tf.assert_rank(x, 1), tf.assert_rank_at_least(x, -1), tf.assert_rank_at_least(x, 2),
        tf.assert_rank(x, _fed(tf, 1)), tf.assert_rank(x, _fed(tf, [1])), tf.assert_rank_in(x, [0, 2]), tf.assert_rank_in(x, [1, 2]),
    ]
    answers = []
    with tf.Session() as sess:
        for check in checks:
            try:
                answers.append(sess.run(check))
            except tf.errors.InvalidArgumentError as error:
                answers.append(" ".join(error.message.split()[:2]))
    return answers


def weights_that_do_not_fit(tf):
    """Shapes that are known fail at once and say where; others fail in the run."""
    one, other = tf.constant([[1.0, 2.0]]), tf.placeholder_with_default([[1.0, 2.0]], [None, 2])
    loss = tf.losses.absolute_difference
    late = loss(other, other, weights=tf.placeholder_with_default([[1.0, 2.0, 3.0]], [None, None]))

    def run():
        with tf.Session() as sess:
            sess.run(late)

    return [
        caught(lambda: loss(one, one, weights=tf.constant([[1.0, 2.0, 3.0]])), WHOLE),
        caught(lambda: loss(one, one, weights=tf.constant([1.0, 2.0])), WHOLE),
        caught(run, "weights can not be broadcast to values."),
    ]


def branches_without_tensors(tf):
    """Branches that return structures without tensors."""
    p, found = tf.placeholder_with_default(True, []), []
    for make in (list, tuple, dict, lambda: [[]], lambda: ([], tf.constant(1))):
        for strict in (False, True):
            try:
                made = tf.cond(p, make, make, strict=strict)
                found.append(str(type(made).__name__) + str(len(made)))
            except ValueError as error:
                found.append(str(error))
    return found


def regularizers_that_are_none(tf):
    """A dict is no regularizer: `get_variable` ignores an empty one, a layer does not."""
    x = tf.ones([2, 3])
    found = [tf.get_variable("v", [2], regularizer={}).name]
    with tf.variable_scope("a", regularizer={}):
        found.append(tf.get_variable("v", [2]).name)
    for make in (
        lambda: tf.layers.dense(x, 2, kernel_regularizer={}),
        lambda: tf.layers.dense(x, 2, bias_regularizer={"a": 1}),
        lambda: tf.layers.conv1d(tf.ones([1, 4, 2]), 2, 2, kernel_regularizer="none"),
        lambda: tf.contrib.layers.fully_connected(x, 2, weights_regularizer={}),
    ):
        found.append(caught(make, WHOLE))
    return found, tf.losses.get_regularization_losses()


def shapes_of_tables(tf):
    """Static shapes of what mutable tables return."""
    int64, found = tf.int64, []
    for default in (0, [0], [0, 0]):
        for empty, deleted in ((100, 200), ([1, 2], [3, 4])):
            table = tf.contrib.lookup.MutableDenseHashTable(int64, int64, default_value=default, empty_key=empty, deleted_key=deleted)
            keys = tf.constant([11, 12] if empty == 100 else [[5, 6], [7, 8]], int64)
            found.append((table.lookup(keys).shape, table.export()[1].shape))
        table = tf.contrib.lookup.MutableHashTable(int64, int64, default)
        keys, values = table.export()
        found.append((table.lookup(tf.constant([1], int64)).shape, keys.shape, values.shape))
    return found


def gradients_given_in_the_run(tf):
    """A `grad_ys` of unknown shape for a scalar."""
    x = tf.constant([1.0, 2.0])
    y = tf.reduce_sum(x * x)
    given = [[1.0], [[1.0]], tf.ones([1]), tf.placeholder_with_default(tf.ones([1]), [None]), tf.placeholder_with_default(2.0, None)]
    made = [tf.gradients(y, x, grad_ys=g)[0] for g in given]
    with tf.Session() as sess:
        return [g.shape for g in made], sess.run(made)


def constants_of_no_elements(tf):
    """A shape without elements takes any value of Python's; an array must not be too large."""
    cases = [(1, [0], None), ([1, 2], [0], None), ([1, 2], [0, 3], tf.int32), ("a", [0], tf.string), (1, [2, 0], tf.int64), ([], [0, 2], tf.float64)]
    made = [tf.constant(value, dtype, shape=shape) for value, shape, dtype in cases]
    with tf.Session() as sess:
        return [(m.dtype, m.shape) for m in made], sess.run(made)


def variables_of_wrong_makings(tf):
    """A variable without a name, and an initializer without arguments for one with a shape."""
    return [
        caught(lambda: tf.get_variable("", [1]), WHOLE),
        caught(lambda: tf.get_variable("a", [2], initializer=lambda: tf.constant(1.0)), "got an unexpected keyword argument 'dtype'"),
        tf.get_variable("b", initializer=lambda: tf.constant(1.0)).shape,
        tf.get_variable("c", [2], initializer=lambda shape, dtype=None, partition_info=None: tf.zeros(shape, dtype)).shape,
    ]


def parts_under_names_of_the_program(tf):
    """A part of a variable that a saver names is a variable of its own; otherwise it is a slice."""
    import os
    import tempfile

    folder = tempfile.mkdtemp()
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
        tf.get_variable("w", [6, 4])
    found = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i, chosen in enumerate((None, tf.trainable_variables(), {"old/" + v.op.name: v for v in tf.trainable_variables()})):
            saver = tf.train.Saver(chosen)
            path = saver.save(sess, os.path.join(folder, "model"), global_step=i)
            before = sess.run(tf.trainable_variables())
            sess.run(tf.global_variables_initializer())
            saver.restore(sess, path)
            found.append((tf.train.list_variables(path), [bool((a == b).all()) for a, b in zip(before, sess.run(tf.trainable_variables()))]))
    return found
