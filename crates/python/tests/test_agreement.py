"""Values, names and keys of checkpoints as TensorFlow 1.15.5 gives them, where a difference is silent."""

import threading

import numpy as np
import pytest

import millstream as tf


def run(fetches, feeds=None):
    """Returns the values of `fetches` in a new session, with all variables initialized."""
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return sess.run(fetches, feeds)


# Variables.


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize(
    "optimizer",
    [
        lambda: tf.train.GradientDescentOptimizer(3.0),
        lambda: tf.train.MomentumOptimizer(3.0, 0.9),
        lambda: tf.train.AdamOptimizer(3.0),
        lambda: tf.train.AdagradOptimizer(3.0),
    ],
)
def test_optimizers_apply_constraints(optimizer, resource):
    clip = lambda x: tf.clip_by_value(x, -0.1, 0.0)  # noqa: E731
    v = tf.get_variable("v", initializer=[1.0, 2.0], constraint=clip, use_resource=resource)
    w = tf.Variable([1.0, 2.0], use_resource=resource)
    step = optimizer().minimize(tf.reduce_sum(v * 5.0) + tf.reduce_sum(w * 5.0))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(step)
        np.testing.assert_array_equal(sess.run(v), np.float32([-0.1, -0.1]))
        assert (sess.run(w) < -0.1).any()


@pytest.mark.parametrize("resource", [False, True])
def test_a_constraint_needs_a_dense_gradient(resource):
    v = tf.get_variable("v", [3, 2], constraint=tf.abs, use_resource=resource)
    loss = tf.reduce_sum(tf.gather(v, [1]))
    with pytest.raises(RuntimeError, match="Cannot use a constraint function on a sparse variable"):
        tf.train.GradientDescentOptimizer(1.0).minimize(loss)


def test_variables_synchronized_on_read_are_not_trainable():
    on_read = tf.VariableSynchronization.ON_READ
    v = tf.get_variable("v", [], synchronization=on_read)
    w = tf.Variable(1.0, synchronization=on_read, aggregation=tf.VariableAggregation.SUM)
    assert tf.trainable_variables() == [] and not v.trainable and not w.trainable
    assert (v.synchronization, w.synchronization, w.aggregation) == (on_read, on_read, tf.VariableAggregation.SUM)
    with pytest.raises(ValueError, match="You have specified trainable=True and synchronization"):
        tf.get_variable("u", [], synchronization=on_read, trainable=True)
    with pytest.raises(ValueError, match="Invalid variable synchronization mode: often for variable: u"):
        tf.Variable(1.0, synchronization="often", name="u")
    with pytest.raises(ValueError, match="Invalid variable aggregation mode: most for variable: u"):
        tf.Variable(1.0, aggregation="most", name="u")


def test_a_variable_scope_belongs_to_a_thread():
    graph, names = tf.get_default_graph(), []

    def body():
        with graph.as_default():
            with tf.variable_scope("inside", reuse=tf.AUTO_REUSE):
                names.append(tf.get_variable("v", []).name)
            with tf.variable_scope(None, default_name="layer"):
                names.append(tf.get_variable("v", []).name)

    with tf.variable_scope("main", initializer=tf.ones_initializer()):
        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
        names.append(tf.get_variable_scope().name)
    assert names == ["inside/v:0", "layer/v:0", "main"]
    # Variables belong to the graph.
    with tf.variable_scope("inside", reuse=True):
        assert tf.get_variable("v", []).name == "inside/v:0"


def test_a_variable_has_the_dtype_of_its_initial_value_in_any_scope():
    with tf.variable_scope("s", dtype=tf.float64):
        values = [1.0, np.float32(1.0), np.float64(1.0), tf.constant(1)]
        made = [tf.get_variable("v%d" % i, initializer=value) for i, value in enumerate(values)]
        made.append(tf.get_variable("w", []))
    assert [v.dtype.base_dtype.name for v in made] == ["float32", "float32", "float64", "int32", "float64"]


def test_a_variable_creator_belongs_to_a_thread():
    graph, trainable = tf.get_default_graph(), []

    def body():
        with graph.as_default():
            trainable.append(tf.Variable(1.0).trainable)

    with tf.variable_creator_scope(lambda make, **given: make(**dict(given, trainable=False))):
        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
        trainable.append(tf.Variable(1.0).trainable)
    assert trainable + [tf.Variable(1.0).trainable] == [True, False, True]


def test_an_empty_regularizer_is_none():
    with tf.variable_scope("s", regularizer={}):
        tf.get_variable("v", [2])
    tf.get_variable("w", [2], regularizer={})
    assert tf.losses.get_regularization_losses() == []


def test_slots_are_in_the_current_variable_scope():
    with tf.variable_scope("model"):
        v = tf.get_variable("v", [2])
    loss = tf.reduce_sum(v * v)
    with tf.variable_scope("train"):
        for _ in range(2):
            tf.train.AdamOptimizer().minimize(loss)
    with tf.name_scope("names"):
        tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    expected = ["model/v"] + ["train/" + n for n in ("beta1_power", "beta2_power", "model/v/Adam", "model/v/Adam_1")]
    expected += ["train/" + n for n in ("beta1_power_1", "beta2_power_1", "model/v/Adam_2", "model/v/Adam_3")]
    assert [x.op.name for x in tf.global_variables()] == expected + ["model/v/Momentum"]


def test_slots_are_on_the_device_of_their_variable():
    with tf.device("/cpu:0"):
        v = tf.get_variable("v", [2])
    tf.train.AdamOptimizer().minimize(tf.reduce_sum(v * v))
    assert {x.device for x in tf.global_variables()} == {"/device:CPU:0"}


def test_slots_are_not_made_in_a_scope_that_reuses():
    v = tf.get_variable("v", [2])
    with tf.variable_scope("s", reuse=True), pytest.raises(ValueError, match="Variable s/v/Momentum/ does not exist"):
        tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(v * v))


def test_averages_are_in_the_current_variable_scope():
    with tf.variable_scope("first"):
        v = tf.Variable(1.0, name="v")
    value = tf.identity(3.0, name="x")
    with tf.variable_scope("second"):
        average = tf.train.ExponentialMovingAverage(0.5, name="mean", zero_debias=True)
        update = average.apply([v, value])
    assert average.average(v).op.name == average.average_name(v) == "second/first/v/mean"
    names = [x.op.name for x in tf.global_variables()]
    x = "second/x/mean"
    assert names == ["first/v", "second/first/v/mean", x, "second/%s/biased" % x, "second/%s/local_step" % x]
    run(update)  # The variables of the correction are initialized as well.
    with pytest.raises(TypeError, match="The variables must be half, float, or double: n:0"):
        average.apply([tf.Variable(1, name="n")])


def test_a_cell_of_cells_has_their_weights():
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicRNNCell(2), tf.nn.rnn_cell.BasicRNNCell(2)])
    wrapped = tf.nn.rnn_cell.ResidualWrapper(cell)
    wrapped(tf.ones([1, 2]), wrapped.zero_state(1, tf.float32))
    assert cell.weights == cell.variables and len(cell.trainable_weights) == 4
    assert cell.non_trainable_weights == []
    assert wrapped.weights == wrapped.variables == wrapped.trainable_weights == []


# Weights of losses and metrics.


def test_accuracy_squeezes_weights_of_unknown_shape():
    w = tf.placeholder(tf.int32)
    _, update = tf.metrics.accuracy(tf.constant([[1], [0], [0]]), tf.constant([1, 1, 1]), w)
    for fed, expected in (([[100], [1], [1]], 100 / 102), ([100, 1, 1], 100 / 102), (7, 1 / 3)):
        assert run(update, {w: fed}) == pytest.approx(expected)


def test_metrics_squeeze_predictions_and_labels_of_unknown_shape():
    labels, predictions = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    _, update = tf.metrics.mean_squared_error(labels, predictions)
    assert run(update, {labels: [[1.0], [2.0]], predictions: [1.0, 4.0]}) == 2.0
    assert run(update, {labels: [1.0, 2.0], predictions: [[1.0], [4.0]]}) == 2.0


@pytest.mark.parametrize("wrong", [[[1.0, 2.0]], [1.0, 2.0], [[1.0], [2.0]], [[[1.0], [2.0], [3.0]]]])
def test_weights_of_a_wrong_shape_are_refused_in_the_run(wrong):
    values = tf.placeholder_with_default(np.ones([3, 4], np.float32), None)
    weights = tf.placeholder(tf.float32)
    refused = [
        tf.losses.compute_weighted_loss(values, weights),
        tf.losses.mean_squared_error(values, tf.zeros_like(values), weights),
        tf.losses.mean_pairwise_squared_error(values, tf.zeros_like(values), weights),
        tf.metrics.mean(values, weights)[1],
        tf.metrics.true_positives(values, values, weights)[1],
    ]
    for fetch in refused:
        # Counts of right and wrong predictions have no check but that of the product.
        said = "Incompatible shapes" if fetch is refused[-1] else "weights can not be broadcast to values"
        with pytest.raises(tf.errors.InvalidArgumentError, match=said):
            run(fetch, {weights: wrong})
        run(fetch, {weights: [[1.0], [2.0], [3.0]]})
        run(fetch, {weights: 2.0})


def test_weights_of_a_wrong_shape_are_refused_at_once_if_it_is_known():
    values = tf.ones([3, 4])
    for wrong in ([1.0, 2.0], [[1.0, 2.0]], [[1.0], [2.0]]):
        with pytest.raises(ValueError, match="weights can not be broadcast to values"):
            tf.losses.compute_weighted_loss(values, wrong)
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        tf.metrics.mean(values, [1.0, 2.0])


def test_absent_elements_are_counted_in_the_shape_of_the_losses():
    weights = tf.placeholder(tf.float32)
    loss = tf.losses.compute_weighted_loss(tf.constant([[1.0, 3.0], [5.0, 9.0]]), weights)
    assert run(loss, {weights: [[1.0], [0.0]]}) == 2.0


# Values.


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_takes_the_shape_of_the_constant():
    x = tf.constant(np.matrix("1 2 3; 4 5 6; 7 8 9"), shape=(3, 1, 3))
    assert x.shape == (3, 1, 3) and run(x).tolist() == [[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]]]


def test_constants_of_a_shape_have_the_dtype_of_constants_without():
    cases = [2**40, [1, 2**40], 1, 1.5, True, 1j, "text", b"text", np.float64(1.5), np.int64(1), [np.float64(1.5)]]
    for value in cases:
        assert tf.constant(value, shape=[3]).dtype == tf.constant(value).dtype
    assert run(tf.constant(2**40, shape=[2])).tolist() == [2**40] * 2
    assert run(tf.constant([1, 2**40], shape=[3])).tolist() == [1, 2**40, 2**40]
    for value, dtype in ((1, tf.string), (1, tf.bool), ("a", tf.int32), (1.5, tf.int32)):
        with pytest.raises(TypeError, match="Expected %s, got %r of type" % (dtype.name, value)):
            tf.constant(value, dtype, shape=[1])


@pytest.mark.parametrize("given, quotient", [(np.int8, np.float32), (np.int32, np.float64), (np.float32, np.float32)])
def test_sparse_division_is_true_division(given, quotient):
    x = tf.SparseTensor([[0], [1]], tf.constant(np.array([1, 3], given)), [2])
    value = run(x / tf.constant(np.array([2, 2], given))).values
    assert value.dtype == quotient and value.tolist() == [0.5, 1.5]


def test_clipped_slices_stay_slices():
    g = tf.IndexedSlices(tf.constant([[3.0, 4.0], [-3.0, 0.0]]), tf.constant([0, 2]), tf.constant([3, 2]))
    by_value, by_norm = tf.clip_by_value(g, -1.0, 1.0), tf.clip_by_norm(g, 1.0, axes=[1])
    values = run([by_value, by_norm])
    assert [v.indices.tolist() for v in values] == [[0, 2]] * 2
    assert [v.dense_shape.tolist() for v in values] == [[3, 2]] * 2
    np.testing.assert_allclose(values[0].values, [[1, 1], [-1, 0]])
    np.testing.assert_allclose(values[1].values, [[0.6, 0.8], [-1, 0]], rtol=1e-6)


def test_a_large_shape_is_int64():
    x = tf.convert_to_tensor(tf.TensorShape([2**31, 2]))
    assert x.dtype == tf.int64 and run(x).tolist() == [2**31, 2]
    assert tf.convert_to_tensor(tf.TensorShape([2**31 - 1])).dtype == tf.int32
    with pytest.raises(ValueError, match=r"Cannot convert a TensorShape to dtype int32; a dimension is too large \(2147483648\)"):
        tf.convert_to_tensor(tf.TensorShape([2**31, 2]), tf.int32)


def test_stateless_functions_without_inputs_are_constants():
    calls = iter(range(9))
    x = tf.py_func(lambda: np.int64(next(calls)), [], tf.int64, stateful=False)
    y = tf.py_func(lambda: np.int64(next(calls)), [], tf.int64)
    with tf.Session() as sess:
        assert [sess.run(x), sess.run(x)] == [0, 0]
        assert [sess.run(y), sess.run(y)] == [1, 2]


def test_a_stateless_function_of_nothing_that_returns_nothing_is_an_empty_list():
    assert run(tf.py_func(lambda: None, [], [], stateful=False)) == []
    assert run(tf.py_func(lambda: None, [], [])) is None


# Tables and savers.


def _saved_and_restored(tmp_path, build, sharded=False):
    """Saves what `build` makes and its first result fills; returns keys, and its second result, restored."""
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(1.0, name="v")
        fill, _ = build()
        saver = tf.train.Saver(sharded=sharded)
        sess.run(v.initializer)
        sess.run(fill)
        path = saver.save(sess, str(tmp_path / "model"))
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.Variable(2.0, name="v")
        _, out = build()
        tf.train.Saver(sharded=sharded).restore(sess, path)
        return [name for name, _ in tf.train.list_variables(path)], sess.run(out)


@pytest.mark.parametrize("sharded", [False, True])
def test_mutable_tables_are_in_checkpoints(tmp_path, sharded):
    def build():
        tables = tf.contrib.lookup
        a = tables.MutableHashTable(tf.string, tf.int64, -1, name="a")
        rows = tables.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0], name="rows")
        dense = tables.MutableDenseHashTable(tf.int64, tf.int64, -1, empty_key=100, deleted_key=101, name="dense")
        tables.MutableHashTable(tf.string, tf.int64, -1, name="not_saved", checkpoint=False)
        two = tf.constant([2], tf.int64)
        fill = [a.insert(tf.constant(["x"]), [7]), rows.insert(two, [[1.0, 2.0]]), dense.insert(two, [8])]
        return fill, [a.lookup(tf.constant(["x", "y"])), rows.lookup(two), dense.lookup(two)]

    keys, values = _saved_and_restored(tmp_path, build, sharded)
    assert keys == ["a-keys", "a-values", "dense-keys", "dense-values", "rows-keys", "rows-values", "v"]
    assert [v.tolist() for v in values] == [[7, -1], [[1.0, 2.0]], [8]]


def test_restoring_a_table_replaces_its_contents(tmp_path):
    def build():
        table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="t")
        return table.insert(tf.constant(["x"]), [7]), table.size()

    v = tf.Variable(1.0)
    fill, size = build()
    more = tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)[0].op.insert(tf.constant(["y"]), [8])
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run([v.initializer, fill])
        path = saver.save(sess, str(tmp_path / "model"))
        sess.run(more)
        assert sess.run(size) == 2
        saver.restore(sess, path)
        assert sess.run(size) == 1


def test_one_of_two_tables_of_a_name_is_saved_and_the_log_says_so(tmp_path, caplog):
    def build():
        tables = [tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1) for _ in range(2)]
        return [t.insert(tf.constant(["x"]), [i]) for i, t in enumerate(tables)], [t.size() for t in tables]

    _, sizes = _saved_and_restored(tmp_path, build)
    assert sizes == [0, 1] and "only the later one is saved" in caplog.text


def test_export_without_other_savers():
    tf.Variable(1.0)
    one, two = tf.train.Saver(), tf.train.Saver()
    for saver in (one, two):
        tf.add_to_collection(tf.GraphKeys.SAVERS, saver)

    def exported(**options):
        meta = two.export_meta_graph(**options)
        scopes = sorted({n.name.split("/")[0] for n in meta.graph_def.node if n.name.startswith("save")})
        savers = [tf.train.SaverDef.FromString(s) for s in meta.collection_def["savers"].bytes_list.value]
        return scopes, [s.restore_op_name for s in savers]

    assert exported() == (["save", "save_1"], ["save/restore_all", "save_1/restore_all"])
    assert exported(clear_extraneous_savers=True) == (["save_1"], ["save_1/restore_all"])


# Loops, branches, networks, checks.


class _Count(tf.nn.rnn_cell.RNNCell):
    """A cell that counts its steps in an integer."""

    state_size = output_size = 1

    def call(self, inputs, state):
        return tf.cast(state, tf.float32) + inputs, state + 1


@pytest.mark.parametrize("lengths", [None, [2, 3]])
def test_outputs_have_the_given_dtype_whatever_the_state(lengths):
    start = tf.zeros([2, 1], tf.int32)
    options = dict(sequence_length=lengths, initial_state=start, dtype=tf.float32)
    whole, last = tf.nn.dynamic_rnn(_Count(), tf.ones([2, 3, 1]), **options)
    steps, last_of_steps = tf.nn.static_rnn(_Count(), [tf.ones([2, 1])] * 3, **options)
    expected = [[1, 2, 3 if lengths is None else 0], [1, 2, 3]]
    for out, state in (run([whole, last]), run([tf.stack(steps, 1), last_of_steps])):
        assert out.dtype == np.float32 and out[:, :, 0].tolist() == expected
        assert state.ravel().tolist() == (lengths or [3, 3])


def test_dropout_of_a_cell_has_a_seed_for_each_part():
    class Same(tf.nn.rnn_cell.RNNCell):
        state_size = output_size = 100

        def call(self, inputs, state):
            return inputs, state

    def cell(**options):
        return tf.nn.rnn_cell.DropoutWrapper(Same(), seed=7, **options)

    x = tf.ones([1, 100])
    both = cell(input_keep_prob=0.5, output_keep_prob=0.5)(x, x)[0]
    parts = [cell(input_keep_prob=0.5)(x, x)[0], cell(output_keep_prob=0.5)(x, x)[0], cell(state_keep_prob=0.5)(x, x)[1]]
    # TensorFlow's seeds: the first eight digits of the MD5 of "7input_0" and so on, without the sign.
    seeds = (1933561695, 992545650, 1658466891)
    expected = [tf.nn.dropout(x, keep_prob=0.5, seed=seed) for seed in seeds]
    both, parts, expected = run([both, parts, expected])
    np.testing.assert_array_equal(parts, expected)
    np.testing.assert_array_equal(both, expected[0] * expected[1])


def test_a_state_of_several_dtypes_needs_a_dtype():
    class Two(tf.nn.rnn_cell.RNNCell):
        state_size, output_size = (1, 1), 1

        def call(self, inputs, state):
            return inputs, state

    start = tf.zeros([2, 1]), tf.zeros([2, 1], tf.int32)
    with pytest.raises(ValueError, match="State has tensors of different inferred_dtypes"):
        tf.nn.dynamic_rnn(Two(), tf.ones([2, 3, 1]), initial_state=start)
    tf.nn.dynamic_rnn(Two(), tf.ones([2, 3, 1]), initial_state=start, dtype=tf.float32)


def test_static_rnn_reuses_variables_after_the_first_step():
    class Cell(tf.nn.rnn_cell.RNNCell):
        state_size = output_size = 3

        def __call__(self, inputs, state, scope=None):
            with tf.variable_scope(scope or "Cell"):
                out = tf.tanh(tf.matmul(inputs + state, tf.get_variable("w", [3, 3])))
            return out, out

    out, _ = tf.nn.static_rnn(Cell(), [tf.ones([2, 3])] * 3, dtype=tf.float32)
    assert len(out) == 3 and [v.name for v in tf.global_variables()] == ["rnn/Cell/w:0"]


def test_shape_invariants_may_be_specs():
    start = [0, tf.ones([1])]
    specs = [tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.float32)]
    _, x = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.concat([x, x], 0)), start, specs)
    assert x.shape.as_list() == [None] and run(x).tolist() == [1.0] * 8
    with pytest.raises(TypeError, match="is not compatible with"):
        wrong = [specs[0], tf.TensorSpec([None], tf.int32)]
        tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.concat([x, x], 0)), start, wrong)


def test_a_sparse_placeholder_of_known_shape_takes_two_parts():
    x = tf.sparse_placeholder(tf.float32, [3, 2])
    total = tf.sparse_reduce_sum(x, axis=1)
    for fed in (([[0, 1]], [2.0]), ([[0, 1]], [2.0], [3, 2])):
        assert run(total, {x: fed}).tolist() == [2.0, 0.0, 0.0]
    unknown = tf.sparse_placeholder(tf.float32)
    with pytest.raises(ValueError, match="a feed of 3 components"):
        run(tf.sparse_reduce_sum(unknown), {unknown: ([[0, 1]], [2.0])})


def test_assertions_about_computed_values_fail_in_the_run():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x < y did not hold"):
        tf.assert_less(tf.constant(2), tf.cast(tf.constant(1), tf.int32))
    check = tf.assert_less(tf.constant(2) + 1, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x < y did not hold"):
        run(check)


def test_versions():
    assert tf.__version__ == tf.compat.v1.__version__ == tf.VERSION == "1.15.5"
    assert tf.__millstream_version__ == tf.compat.v1.__millstream_version__ != tf.__version__


def test_an_element_at_an_unknown_place_is_not_known():
    x = tf.constant([3, 6, 9])[tf.placeholder(tf.int32, [])]
    assert tf.get_static_value(x) is None
    assert tf.fill([x], 1).shape.as_list() == [None]


# Numbers.


@pytest.mark.parametrize(
    "value, dtype, wrapped",
    [
        (-123, tf.uint8, 133),
        (2**31, tf.int32, -(2**31)),
        ([2**40, 1], tf.int32, [0, 1]),
        ([np.int64(300), -1], tf.uint8, [44, 255]),
        (-1, tf.uint64, 2**64 - 1),
        ([2**64 - 1, 5], tf.uint64, [2**64 - 1, 5]),
    ],
)
def test_integers_out_of_range_wrap(value, dtype, wrapped):
    found = run(tf.constant(value, dtype))
    assert found.dtype == dtype.as_numpy_dtype and found.tolist() == wrapped


def test_sizes_out_of_range_wrap_where_tensorflow_takes_int32():
    assert tf.fill([2**33 + 2], 1.0).shape == [2] and tf.reshape([1.0, 2.0], [2**32 + 2]).shape == [2]
    assert tf.zeros([2**40]).shape == [2**40] and tf.range(2**50).dtype == tf.int64


def test_a_number_of_more_than_64_bits_is_an_error():
    for dtype in (tf.int8, tf.int64, tf.uint64):
        with pytest.raises(OverflowError, match="too large to convert to C long"):
            tf.constant([2**64], dtype)


def test_feeds_wrap_and_take_any_type_that_numpy_casts():
    x, y = tf.placeholder(tf.int8, [None]), tf.placeholder(tf.float32, [2])
    found = run([x + 0, y * 1], {x: [128, -1], y: np.array([1, 2], np.longdouble)})
    assert found[0].tolist() == [-128, -1] and found[1].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("quantized, plain", [(tf.qint8, np.int8), (tf.quint8, np.uint8), (tf.qint32, np.int32)])
def test_quantized_values_come_out_as_plain_integers(quantized, plain):
    found = run(tf.cast(tf.constant([1, 2, 3]), quantized))
    assert found.dtype == plain and found.tolist() == [1, 2, 3]


def test_a_dimension_of_more_than_64_bits_is_a_value_error():
    with pytest.raises(ValueError, match="Value out of range: 1180591620717411303424"):
        tf.placeholder(tf.int32, [2**70])


def test_the_norm_of_complex_numbers_takes_conjugates():
    x = tf.constant([[3 + 4j, 12j], [3 + 4j, 0]], tf.complex64)
    assert run(tf.math.reduce_euclidean_norm(x, axis=1)).tolist() == [13, 5]


def test_rows_draw_the_numbers_of_one_thread():
    logits = tf.constant(np.random.RandomState(0).normal(size=(64, 5000)), tf.float32)
    drawn = run(tf.multinomial(logits, 1, seed=9)).ravel()
    assert drawn[:10].tolist() == [3262, 1805, 4861, 852, 241, 3012, 2797, 1721, 742, 4935]


# Tables and loops.


def test_a_dense_table_is_exported_with_its_free_buckets():
    t = tf.contrib.lookup.MutableDenseHashTable(
        tf.int64, tf.int64, default_value=-1, empty_key=100, deleted_key=200, initial_num_buckets=8
    )
    keys, values = t.export()
    i64 = lambda *numbers: tf.constant(numbers, tf.int64)  # noqa: E731
    few, more = t.insert(i64(11, 12), i64(1, 2)), t.insert(i64(*range(20, 25)), i64(*range(5)))
    with tf.Session() as sess:
        sess.run(few)
        # A table of scalars has columns, as in TensorFlow.
        assert sess.run(keys).tolist() == [[100], [100], [100], [11], [12], [100], [100], [100]]
        assert sess.run(values)[3:5].tolist() == [[1], [2]]
        sess.run(more)  # 7 keys are more than 0.8 of 8.
        found = sess.run(keys)[:, 0].tolist()
        assert len(found) == 16 and sorted(found) == [11, 12, 20, 21, 22, 23, 24] + [100] * 9


def test_a_vocabulary_of_numbers(tmp_path):
    path = tmp_path / "numbers.txt"
    path.write_text("42\n1\n-1000\n")
    t = tf.contrib.lookup.index_table_from_file(str(path), num_oov_buckets=1, key_dtype=tf.int64)
    ids = t.lookup(tf.constant([1, 42, 11], tf.int64))
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        assert sess.run(ids).tolist() == [1, 0, 3]
        path.write_text("1.5\n")
        u = tf.contrib.lookup.index_table_from_file(str(path), num_oov_buckets=1, key_dtype=tf.int64)
        with pytest.raises(tf.errors.InvalidArgumentError, match='"1.5", which is not a valid i64'):
            sess.run(u.init)


def test_a_captured_gradient_of_a_less_known_shape():
    x = tf.placeholder(tf.float32)
    w = tf.get_variable("w", [1, 4], initializer=tf.ones_initializer())
    out = tf.map_fn(lambda a: tf.reduce_sum(tf.square(tf.matmul(a, w))), x, dtype=tf.float32)
    g = tf.gradients(tf.reduce_sum(out), w)[0]
    assert run(g, {x: np.ones([3, 2, 1])}).tolist() == [[12, 12, 12, 12]]


def test_softmax_cross_entropy_v2_takes_labels_and_logits_by_position():
    loss = tf.nn.softmax_cross_entropy_with_logits_v2([[0.5, 0.5], [1.0, 0.0]], [[1.0, 1.0], [2.0, 2.0]], -1, "loss")
    np.testing.assert_allclose(run(loss), np.log([2.0, 2.0]), rtol=1e-6)
