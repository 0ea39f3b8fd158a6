"""Loops and branches with optimizers, savers, saved graphs, summaries, sessions, feeds of inner results."""

import os
import tempfile

import numpy as np

from programs.tools import caught, initialize, names, run, static


def _loss(tf, w):
    return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.square(w * tf.cast(i, tf.float32) - 2.0)), (0, 0.0))[1]


def optimizers_through_a_loop(tf):
    out = []
    for make in (lambda: tf.train.GradientDescentOptimizer(0.01), lambda: tf.train.MomentumOptimizer(0.01, 0.9), lambda: tf.train.AdamOptimizer(0.1), lambda: tf.train.AdagradOptimizer(0.1), lambda: tf.train.RMSPropOptimizer(0.01)):
        with tf.Graph().as_default():
            w = tf.Variable(1.0)
            step = make().minimize(_loss(tf, w))
            with tf.Session() as sess:
                initialize(tf, sess)
                for _ in range(3):
                    sess.run(step)
                out.append(sess.run(w))
    return out


def optimizer_with_a_resource_through_a_loop(tf):
    w = tf.Variable(1.0, use_resource=True)
    step = tf.train.GradientDescentOptimizer(0.01).minimize(_loss(tf, w))
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(step)
        return sess.run(w)


def optimizer_of_one_branch(tf):
    p, w, u = tf.placeholder(tf.bool, []), tf.Variable(1.0), tf.Variable(5.0)
    loss = tf.cond(p, lambda: tf.square(w), lambda: tf.square(u))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(step, {p: True})
        one = sess.run([w, u])
        sess.run(step, {p: False})
        return one, sess.run([w, u])


def step_in_a_branch(tf):
    p, w = tf.placeholder(tf.bool, []), tf.Variable(1.0)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    grads = optimizer.compute_gradients(tf.square(w))
    step = tf.cond(p, lambda: optimizer.apply_gradients(grads), tf.no_op)
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(step, {p: False})
        before = sess.run(w)
        sess.run(step, {p: True})
        return before, sess.run(w)


def steps_in_a_loop(tf):
    w = tf.Variable(1.0)

    def body(i):
        value = w.read_value()
        with tf.control_dependencies([tf.assign_sub(w, 0.1 * 2.0 * value)]):
            return i + 1

    r = tf.while_loop(lambda i: i < 5, body, [0], parallel_iterations=1)
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(r)
        return sess.run(w)


def clipped_gradients_of_a_loop(tf):
    w = tf.Variable([1.0, 3.0])
    r = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * w), (0, tf.ones([2])))[1]
    grads, norm = tf.clip_by_global_norm(tf.gradients(r, [w]), 1.0)
    return run(tf, [grads, norm])


def slices_through_an_optimizer(tf):
    w = tf.Variable([[1.0], [2.0], [3.0]])
    loss = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s + tf.reduce_sum(tf.gather(w, [i]))), (0, 0.0))[1]
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(step)
        return sess.run(w)


def moving_average_in_a_branch(tf):
    p, v = tf.placeholder(tf.bool, []), tf.Variable(4.0)
    average = tf.train.ExponentialMovingAverage(0.5)
    update = average.apply([v])
    r = tf.cond(p, lambda: tf.identity(v), lambda: average.average(v).read_value())
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(v.assign(8.0))
        sess.run(update)
        return sess.run(r, {p: True}), sess.run(r, {p: False})


def global_step_in_a_condition(tf):
    step = tf.train.get_or_create_global_step()
    more = tf.assign_add(step, 1)
    rate = tf.cond(step < 2, lambda: 0.1, lambda: 0.01)
    with tf.Session() as sess:
        initialize(tf, sess)
        out = []
        for _ in range(4):
            out.append(sess.run(rate))
            sess.run(more)
        return out


def saved_and_restored_after_a_loop(tf):
    v = tf.Variable(0, name="v")

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, i)]):
            return i + 1

    r = tf.while_loop(lambda i: i < 5, body, [0])
    saver = tf.train.Saver()
    path = os.path.join(tempfile.mkdtemp(), "model")
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(r)
        saver.save(sess, path)
        sess.run(v.initializer)
        saver.restore(sess, path)
        return sess.run(v)


def parts_saved_and_restored(tf):
    v = tf.get_variable("v", initializer=tf.reshape(tf.range(6.0), [3, 2]), partitioner=tf.fixed_size_partitioner(2))
    saver = tf.train.Saver()
    path = os.path.join(tempfile.mkdtemp(), "model")
    with tf.Session() as sess:
        initialize(tf, sess)
        saver.save(sess, path)
        reader = tf.train.load_checkpoint(path)
        shapes = reader.get_variable_to_shape_map()
        sess.run([p.assign(tf.zeros_like(p)) for p in v])
        saver.restore(sess, path)
        return {k: list(s) for k, s in shapes.items()}, reader.get_tensor("v"), sess.run(tf.convert_to_tensor(v))


def parts_restored_as_a_whole(tf):
    v = tf.get_variable("v", initializer=tf.reshape(tf.range(6.0), [3, 2]), partitioner=tf.fixed_size_partitioner(2))
    path = os.path.join(tempfile.mkdtemp(), "model")
    with tf.Session() as sess:
        initialize(tf, sess)
        tf.train.Saver().save(sess, path)
    with tf.Graph().as_default():
        w = tf.get_variable("v", [3, 2])
        with tf.Session() as sess:
            tf.train.Saver().restore(sess, path)
            return len(v), sess.run(w)


def imported_loop(tf):
    with tf.Graph().as_default() as g:
        n = tf.placeholder(tf.int32, [], name="n")
        tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), (0, 0), name="sum")
    n2, s2 = tf.import_graph_def(g.as_graph_def(), return_elements=["n:0", "sum/Exit_1:0"], name="copy")
    return s2.name, run(tf, s2, {n2: 5})


def imported_loop_with_another_input(tf):
    with tf.Graph().as_default() as g:
        n = tf.placeholder(tf.int32, [], name="n")
        tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), (0, 0), name="sum")
    s, = tf.import_graph_def(g.as_graph_def(), input_map={"n:0": tf.constant(4)}, return_elements=["sum/Exit_1:0"], name="")
    return s.name, run(tf, s)


def imported_twice(tf):
    with tf.Graph().as_default() as g:
        p = tf.placeholder(tf.bool, [], name="p")
        tf.identity(tf.cond(p, lambda: 1, lambda: 2), name="r")
    a, = tf.import_graph_def(g.as_graph_def(), input_map={"p:0": tf.constant(True)}, return_elements=["r:0"])
    b, = tf.import_graph_def(g.as_graph_def(), input_map={"p:0": tf.constant(False)}, return_elements=["r:0"])
    return [a.name, b.name], run(tf, [a, b])


def imported_into_a_loop(tf):
    with tf.Graph().as_default() as g:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.identity(x * x + 1.0, name="y")
    step = lambda i, s: (i + 1, tf.import_graph_def(g.as_graph_def(), input_map={"x:0": s}, return_elements=["y:0"])[0])  # noqa: E731
    return run(tf, tf.while_loop(lambda i, s: i < 3, step, (0, 1.0), shape_invariants=(tf.TensorShape([]), tf.TensorShape(None))))


def meta_graph_of_a_loop(tf):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), (0, x), name="power")[1]
        tf.add_to_collection("y", y)
        meta = tf.train.export_meta_graph()
    tf.train.import_meta_graph(meta)
    y, x = tf.get_collection("y")[0], tf.get_default_graph().get_tensor_by_name("x:0")
    return y.name, run(tf, y, {x: 2.0})


def gradient_of_a_loop_of_a_meta_graph(tf):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [], name="x")
        tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), (0, x), name="power")
        tf.cond(x > 0.0, lambda: x * 2.0, lambda: x, name="side")
        meta = tf.train.export_meta_graph()
    tf.train.import_meta_graph(meta)
    g = tf.get_default_graph()
    x = g.get_tensor_by_name("x:0")
    grads = tf.gradients([g.get_tensor_by_name("power/Exit_1:0"), g.get_tensor_by_name("side/Merge:0")], x)
    return run(tf, grads, {x: 2.0})


def written_as_text(tf):
    r = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    folder = tempfile.mkdtemp()
    tf.train.write_graph(tf.get_default_graph(), folder, "g.pbtxt")
    with open(os.path.join(folder, "g.pbtxt")) as source:
        text = source.read()
    return r.name, 'op: "LoopCond"' in text, 'op: "NextIteration"' in text


def nodes_of_the_message(tf):
    tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0, name="i")])
    nodes = {n.name: n for n in tf.get_default_graph().as_graph_def().node}
    enter, merge, one = nodes["while/Enter"], nodes["while/Merge"], nodes["while/add/y"]
    return list(enter.input), list(merge.input), list(one.input), enter.attr["frame_name"].s, enter.attr["parallel_iterations"].i, enter.attr["is_constant"].b, list(nodes["while/Switch"].input), list(nodes["while/Exit"].input)


def summaries_of_a_loop(tf):
    r = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    s = tf.summary.scalar("iterations", r)
    message = tf.Summary.FromString(run(tf, s))
    return message.value[0].tag, message.value[0].simple_value


def prepared_calls(tf):
    n = tf.placeholder(tf.int32, [])
    r = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), (0, 0))[1]
    with tf.Session() as sess:
        call = sess.make_callable(r, [n])
        return [call(k) for k in range(5)]


def partial_runs_of_branches(tf):
    p, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])
    a = tf.cond(p, lambda: x * 2.0, lambda: x * 3.0)
    with tf.Session() as sess:
        return [sess.run(a, {p: k, x: 5.0}) for k in (True, False)]


def session_options_do_not_matter(tf):
    r = tf.while_loop(lambda i, s: i < 50, lambda i, s: (i + 1, s + tf.reduce_sum(tf.ones([3]) * tf.cast(i, tf.float32))), (0, 0.0))[1]
    out = []
    for threads in (1, 2, 4):
        with tf.Session(config=tf.ConfigProto(inter_op_parallelism_threads=threads, allow_soft_placement=True, log_device_placement=False)) as sess:
            out.append(sess.run(r))
    return out


def loss_of_pairs(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]])

    def body(i, total):
        row = tf.map_fn(lambda y: tf.reduce_sum(tf.square(x[i] - y)), x)
        return i + 1, total + tf.reduce_sum(row)

    total = tf.while_loop(lambda i, _: i < 3, body, (0, 0.0))[1]
    return run(tf, [total, tf.gradients(total, x)[0]])


def attention_over_a_memory(tf):
    memory, query = tf.constant([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), tf.constant([0.5, 0.25])

    def body(i, q):
        weights = tf.nn.softmax(tf.squeeze(tf.matmul(memory, tf.expand_dims(q, 1)), 1))
        return i + 1, q + tf.reduce_sum(tf.expand_dims(weights, 1) * memory, 0)

    q = tf.while_loop(lambda i, _: i < 3, body, (0, query))[1]
    return run(tf, [q] + tf.gradients(q, [memory, query]))


def runge_kutta(tf):
    w = tf.constant(-0.5)
    f = lambda y: w * y  # noqa: E731

    def body(i, y):
        k1 = f(y)
        k2 = f(y + 0.05 * k1)
        k3 = f(y + 0.05 * k2)
        k4 = f(y + 0.1 * k3)
        return i + 1, y + 0.1 / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    y = tf.while_loop(lambda i, _: i < 10, body, (0, tf.constant([1.0, 2.0])))[1]
    return run(tf, [y] + tf.gradients(y, [w]))


def power_iteration_and_its_gradient(tf):
    m = tf.constant([[2.0, 1.0], [1.0, 3.0]])

    def body(i, v):
        v = tf.matmul(m, v)
        return i + 1, v / tf.norm(v)

    v = tf.while_loop(lambda i, _: i < 8, body, (0, tf.ones([2, 1])))[1]
    value = tf.squeeze(tf.matmul(tf.matmul(v, m, transpose_a=True), v))
    return run(tf, [value] + tf.gradients(value, [m]))


def viterbi(tf):
    scores, transitions = tf.constant([[0.1, 0.9], [0.8, 0.3], [0.4, 0.5]]), tf.constant([[0.6, 0.1], [0.2, 0.7]])

    def body(i, best, back):
        all_ways = tf.expand_dims(best, 1) + transitions
        return i + 1, tf.reduce_max(all_ways, 0) + scores[i], back.write(i - 1, tf.argmax(all_ways, 0, output_type=tf.int32))

    start = (1, scores[0], tf.TensorArray(tf.int32, 2))
    _, best, back = tf.while_loop(lambda i, *_: i < 3, body, start)
    return run(tf, [best, back.stack()])


def sorted_by_a_network(tf):
    x = tf.constant([4, 2, 7, 1, 3])

    def body(i, x):
        even = tf.equal(i % 2, 0)
        shift = tf.cond(even, lambda: tf.constant([1, 0, 3, 2, 4]), lambda: tf.constant([0, 2, 1, 4, 3]))
        low = tf.cond(even, lambda: tf.constant([True, False, True, False, True]), lambda: tf.constant([True, True, False, True, False]))
        other = tf.gather(x, shift)
        return i + 1, tf.where(low, tf.minimum(x, other), tf.maximum(x, other))

    return run(tf, tf.while_loop(lambda i, _: i < 5, body, (0, x))[1])


def hash_of_bytes(tf):
    x = tf.decode_raw("millstream", tf.uint8)
    step = lambda i, h: (i + 1, (h * 31 + tf.cast(x[i], tf.int64)) % 1000003)  # noqa: E731
    return run(tf, tf.while_loop(lambda i, _: i < tf.size(x), step, (0, tf.constant(7, tf.int64)))[1])


def words_joined_by_a_loop(tf):
    words = tf.string_split(["one two three"], " ").values
    step = lambda i, s: (i + 1, tf.cond(tf.equal(i, 0), lambda: words[i], lambda: s + "-" + words[i]))  # noqa: E731
    return run(tf, tf.while_loop(lambda i, _: i < tf.size(words), step, (0, tf.constant("")), shape_invariants=(tf.TensorShape([]), tf.TensorShape(None)))[1])
