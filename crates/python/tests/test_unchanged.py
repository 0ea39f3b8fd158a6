"""Behaviour that programs written for TensorFlow 1.15 rely on; expected values are TensorFlow 1.15.5's."""

import threading

import numpy as np
import pytest

import millstream as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(fetches, feeds=None):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return sess.run(fetches, feeds)


def test_optimizers_take_a_function_for_the_loss():
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    w = tf.get_variable("w", initializer=5.0, use_resource=True)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    pairs = optimizer.compute_gradients(lambda: v * v)
    assert [p[1] for p in pairs] == [v], "the loss does not depend on w"
    (g, _), (none, _) = optimizer.compute_gradients(lambda: v * v, [v, w])
    assert none is None and run(g) == 2.0
    step = optimizer.minimize(lambda: v * v, var_list=[v])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(step)
        assert sess.run(v) == np.float32(0.8)


def test_a_scalar_has_the_shape_of_one_element():
    one = tf.constant(1.0)
    tf.debugging.assert_shapes([(one, ()), (one, (1,)), (tf.constant([1.0]), ()), (one, ("N",)), (tf.constant([2.0]), ("N",))])
    with pytest.raises(ValueError, match="must have size 1"):
        tf.debugging.assert_shapes([(tf.constant([1.0, 2.0]), ())])
    with pytest.raises(ValueError, match="must have size 2"):
        tf.debugging.assert_shapes([(one, (2,))])
    x = tf.placeholder(tf.float32)
    check = tf.debugging.assert_shapes([(x, (1,))])
    run(check, {x: 3.0})
    run(check, {x: [3.0]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have size"):
        run(check, {x: [3.0, 4.0]})


def test_an_axis_may_be_named_twice():
    x = tf.constant([[1, 2, 3], [4, 5, 6]])
    assert run(tf.reduce_sum(x, axis=(0, -2))).tolist() == [5, 7, 9]
    assert run(tf.reduce_max(x, axis=[1, 1], keepdims=True)).tolist() == [[3], [6]]
    assert run(tf.reduce_sum(x, axis=[-1, 0, 1])) == 21
    with pytest.raises(ValueError):
        tf.reduce_sum(x, axis=[0, 2])


def test_a_template_without_a_name_has_the_variables_of_its_enclosing_scope():
    template = tf.make_template("", lambda: tf.get_variable("dummy", [1]))
    with tf.variable_scope("outer"):
        tf.get_variable("x", [])
        template()
    assert [v.name for v in template.variables] == ["outer/x:0", "outer//dummy:0"]
    named = tf.make_template("named", lambda: tf.get_variable("v", [1]))
    assert named.variable_scope_name is None
    named()
    assert named.variable_scope_name == "named/"


def test_a_constant_initializer_may_be_partitioned():
    parts = tf.create_partitioned_variables([4, 2], [2, 1], tf.constant(np.arange(8.0).reshape(4, 2), tf.float32))
    assert run(parts)[1].tolist() == [[4.0, 5.0], [6.0, 7.0]]
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        assert len(list(tf.get_variable("v", [4], initializer=np.ones(4, np.float32)))) == 2
    with pytest.raises(ValueError, match="If initializer is a constant, do not specify shape."):
        tf.get_variable("x", [4], initializer=np.ones(4, np.float32))


def test_the_shape_of_noise_may_be_partly_known():
    y = tf.nn.dropout(tf.ones([20, 3]), keep_prob=0.5, noise_shape=[None, 1])
    assert y.shape.as_list() == [20, 3]
    assert all(len(set(row)) == 1 for row in run(y).tolist())


def test_one_number_is_a_gradient_of_a_scalar():
    x = tf.constant([1.0, 2.0], tf.float64)
    assert run(tf.gradients(tf.nn.l2_loss(x), x, grad_ys=tf.constant([3.0], tf.float64))[0]).tolist() == [3.0, 6.0]
    assert run(tf.gradients(tf.square(x), x, grad_ys=tf.constant(1.0, tf.float64))[0]).tolist() == [2.0, 4.0]
    with tf.Session():
        error = tf.test.compute_gradient_error(x, [2], tf.nn.l2_loss(x), [1], x_init_value=np.array([1.0, 2.0]))
    assert error < 1e-6
    with pytest.raises(ValueError):
        tf.gradients(tf.nn.l2_loss(x), x, grad_ys=tf.constant([3.0, 4.0], tf.float64))


def test_tables_made_in_loops_are_filled_outside():
    def body(x):
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([0, 1], [10, 11], tf.int32, tf.int32), -1)
        return table.lookup(x)

    a, b = (tf.map_fn(body, tf.constant(x)) for x in ([0, 1], [1, 2]))
    assert [v.tolist() for v in run([a, b])] == [[10, 11], [11, -1]]


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_are_read_on_their_caching_device(use_resource):
    v = tf.Variable(2.0, caching_device="/job:ps", use_resource=use_resource)
    assert (v.value().device, v.device) == ("/job:ps", "")
    with tf.Graph().as_default():
        _run_with_caching_device(use_resource)


def _run_with_caching_device(use_resource):
    v = tf.Variable(2.0, caching_device="/cpu:0", use_resource=use_resource)
    with tf.variable_scope("s", caching_device=lambda op: "/device:CPU:0", use_resource=use_resource):
        w = tf.get_variable("w", initializer=3.0)
    assert w.value().device == "/device:CPU:0"
    after = v.assign_add(1.0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(v * w) == 6.0
        assert sess.run(after + 0.0) == 3.0, "an update is read after it, not from the copy"


def test_gradients_are_placed_beside_what_they_differentiate():
    a = tf.constant(1.0, shape=[1, 2])
    with tf.name_scope("scope"), tf.device("/cpu:1"):
        m = tf.matmul(a, tf.constant(1.0, shape=[2, 1]), name="m")
    first = tf.gradients(m, a, colocate_gradients_with_ops=True)[0]
    assert (first.op.colocation_groups(), first.device) == ([b"loc:@scope/m"], "/device:CPU:1")
    second = tf.gradients(tf.tanh(a, name="t"), a)[0]
    assert second.op.colocation_groups() == [b"loc:@" + second.op.name.encode()]
    third = tf.gradients(second * second, a, colocate_gradients_with_ops=True)[0]
    made = [op for op in tf.get_default_graph().get_operations() if "t_grad/" in op.name and "TanhGrad_grad" in op.name]
    assert made and all(op.colocation_groups() == [b"loc:@" + second.op.name.encode()] for op in made), third


def test_partly_known_paddings_give_a_partly_known_shape():
    n = tf.placeholder(tf.int32, [])
    paddings = tf.stack([[2, 1], [n, 2]])
    for mode in ("CONSTANT", "REFLECT"):
        assert tf.pad(tf.placeholder(tf.float32, [4, 3]), paddings, mode).shape.as_list() == [7, None]
    assert tf.pad(tf.placeholder(tf.float32, [None, 3]), [[n, 0], [1, 1]], constant_values=5).shape.as_list() == [None, 5]
    assert tf.get_static_value(tf.stack([1, n]), partial=True).tolist() == [1, None]
    assert tf.get_static_value(tf.stack([1, n])) is None
    assert run(tf.shape(tf.pad(tf.ones([4, 3]), paddings)), {n: 1}).tolist() == [7, 6]


def test_scopes_are_left_in_the_order_in_which_they_nest():
    a, b = tf.variable_scope("a"), tf.variable_scope("b")
    a.__enter__()
    b.__enter__()
    with pytest.raises(RuntimeError, match="Improper nesting of variable_scope"):
        a.__exit__(None, None, None)
    b.__exit__(None, None, None)
    a.__exit__(None, None, None)
    assert tf.get_variable_scope().name == ""


def test_weights_that_fit_only_by_broadcasting_are_refused_in_the_run():
    w, values = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    of_scalar = tf.losses.compute_weighted_loss(tf.constant(5.5), w)
    assert run(of_scalar, {w: 2.0}) == 11.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast to values"):
        run(of_scalar, {w: [1.5, 2.5]})
    loss = tf.losses.compute_weighted_loss(values, w, reduction=tf.losses.Reduction.SUM)
    assert run(loss, {values: [[1, 2], [3, 4]], w: [[1], [0]]}) == 3.0
    for weights in ([1.0, 0.0], [[1.0, 0.0, 1.0]]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast to values"):
            run(loss, {values: [[1], [3]], w: weights})
    pairwise = tf.losses.mean_pairwise_squared_error(values, values, w)
    with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast to values"):
        run(pairwise, {values: [[1, 2], [3, 4]], w: [1.0, 2.0]})
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        tf.losses.compute_weighted_loss([1.0, 2.0], [[1.0, 2.0]])


def test_savers_in_one_folder_do_not_share_a_temporary_file(tmp_path):
    errors, folder = [], str(tmp_path)

    def save(k):
        for i in range(100):
            try:
                tf.train.update_checkpoint_state(folder, "%s/m%d-%d" % (folder, k, i))
            except OSError as error:
                errors.append(error)

    threads = [threading.Thread(target=save, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert [p.name for p in tmp_path.iterdir()] == ["checkpoint"]


def nodes(build):
    """Returns the number of nodes that a function adds, and a number drawn after it with the graph's seed."""
    with tf.Graph().as_default() as g, tf.Session() as sess:
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [4, 5, 3])
        n = len(g.get_operations())
        build(x)
        n = len(g.get_operations()) - n
        return n, float(sess.run(tf.random_uniform([])))


CELLS = tf.nn.rnn_cell


@pytest.mark.parametrize(
    ("build", "n", "drawn"),
    [
        (lambda x: tf.get_variable("a", [3, 3]), 10, 0.8601692),
        (lambda x: tf.layers.dense(x[:, 0], 4), 20, 0.09626174),
        (lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0] * 4, logits=x[:, 0]), 7, 0.08621907),
        (lambda x: tf.clip_by_global_norm([x, x], 1.0), 23, 0.681908),
        (lambda x: CELLS.BasicLSTMCell(3).zero_state(4, tf.float32), 16, 0.54865),
        (lambda x: tf.nn.static_rnn(CELLS.GRUCell(3), tf.unstack(x, axis=1), dtype=tf.float32), 132, 0.49561763),
        (lambda x: tf.nn.dynamic_rnn(CELLS.GRUCell(3), x, dtype=tf.float32), 148, 0.19673908),
        (lambda x: tf.nn.dynamic_rnn(CELLS.BasicLSTMCell(3), x, [1, 2, 3, 4], dtype=tf.float32), 168, 0.88454056),
        (lambda x: tf.nn.bidirectional_dynamic_rnn(CELLS.GRUCell(3), CELLS.GRUCell(3), x, dtype=tf.float32), 300, 0.83295333),
    ],
    ids="get_variable dense cross_entropy clip zero_state static_rnn dynamic_rnn lengths bidirectional".split(),
)
def test_graphs_have_as_many_nodes_so_that_seeds_are_the_same(build, n, drawn):
    assert nodes(build) == (n, pytest.approx(drawn, abs=1e-7))


def test_sequences_that_end_before_the_last_step():
    with tf.variable_scope("s", initializer=tf.ones_initializer()):
        outputs, state = tf.nn.dynamic_rnn(CELLS.BasicRNNCell(2), tf.ones([2, 5, 1]), [3, 1], dtype=tf.float32)
    grads = tf.gradients(tf.reduce_sum(outputs), tf.trainable_variables())
    found, last, grads = run([outputs, state, grads])
    assert (found[0, 3:] == 0).all() and (found[1, 1:] == 0).all() and (found[0, 2] == last[0]).all() and (found[1, 0] == last[1]).all()
    assert all(np.isfinite(g).all() for g in grads)
    empty, _ = tf.nn.dynamic_rnn(CELLS.BasicRNNCell(2), tf.ones([2, 0, 1]), dtype=tf.float32, scope="empty")
    assert run(empty).shape == (2, 0, 2)
