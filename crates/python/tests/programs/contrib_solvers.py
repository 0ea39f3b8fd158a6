"""`tf.contrib.integrate`, `recurrent`, `grid_rnn`, `mixed_precision`, `nn`, and other small parts."""

import numpy as np

from programs.tools import WHOLE, caught, initialize, mistakes, run


def equations(tf):
    odes = tf.contrib.integrate
    y0 = tf.constant([1.0, 2.0], tf.float64)
    a = tf.constant(0.5, tf.float64)
    t = [0.0, 0.5, 2.0]
    y, info = odes.odeint(lambda y, t: -a * y + t, y0, t, full_output=True, rtol=1e-4, atol=1e-6)
    values = run(tf, [y, info])
    return np.round(values[0], 5), int(values[1]["num_func_evals"]), np.round(values[1]["integrate_points"], 4), str(y.shape)


def equations_of_other_dtypes(tf):
    odes, t = tf.contrib.integrate, [0.0, 0.5, 2.0]
    half = odes.odeint(lambda y, t: y * tf.cast(t, tf.float32), tf.constant(1.0), t, method="dopri5", options={"first_step": 0.1, "safety": 0.8})
    turning = odes.odeint(lambda y, t: 1j * y, tf.constant(1.0 + 0j, tf.complex128), t)
    return [np.round(v, 3) for v in run(tf, [half, turning])]


def equations_of_fixed_steps(tf):
    y0, a, t = tf.constant([1.0, 2.0], tf.float64), tf.constant(0.5, tf.float64), [0.0, 0.5, 2.0]
    made = [tf.contrib.integrate.odeint_fixed(lambda y, t: -a * y + t, y0, t, dt, method=m) for dt in (None, [0.1, 0.4]) for m in ("rk4", "midpoint")]
    return [np.round(v, 6) for v in run(tf, made + [tf.gradients(made[0], a)[0]])]


def equations_refused(tf):
    odes = tf.contrib.integrate
    f, one = (lambda y, t: y), tf.constant(1.0)
    return mistakes(
        tf,
        method=lambda: odes.odeint(f, 1.0, [0.0, 1.0], method="euler"),
        options=lambda: odes.odeint(f, 1.0, [0.0, 1.0], options={}),
        ints=lambda: odes.odeint(f, 1, [0.0, 1.0]),
        int_times=lambda: odes.odeint(f, 1.0, [0, 1]),
        decreasing=lambda: odes.odeint(f, 1.0, [1.0, 0.0]),
        lengths=lambda: odes.odeint_fixed(f, 1.0, [0.0, 1.0, 2.0], [0.1]),
        fixed_method=lambda: odes.odeint_fixed(f, 1.0, [0.0, 1.0], method="euler"),
        steps=lambda: odes.odeint(f, tf.constant(1.0), [0.0, 10.0], method="dopri5", options={"max_num_steps": 2}),
    )


def _filled(tf, fetches):
    """Returns values for variables of 0.3: in TensorFlow a function ignores the scope's initializer."""
    fill = [tf.assign(v, tf.fill(v.shape, 0.3)) for v in tf.trainable_variables()]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(fill)
        return [np.round(v, 4) for v in sess.run(fetches)]


def recurrences(tf):
    x = np.sin(np.arange(24, dtype=np.float32)).reshape(2, 4, 3)
    out = []
    for make in (lambda: tf.nn.rnn_cell.BasicLSTMCell(2), lambda: tf.nn.rnn_cell.GRUCell(2)):
        for lengths, reverse in ((None, True), ([4, 2], False)):
            with tf.Graph().as_default():
                inputs = tf.constant(x)
                outputs, state = tf.contrib.recurrent.functional_rnn(make(), inputs, sequence_length=lengths, dtype=tf.float32, reverse=reverse)
                names = [v.name for v in tf.trainable_variables()]
                by_input = tf.gradients(outputs, [inputs, tf.trainable_variables()[0]])
                made = [outputs] + tf.contrib.framework.nest.flatten(state) + by_input
                out.append([names, str(outputs.shape), _filled(tf, made)])
    return out


def both_directions(tf):
    x = np.sin(np.arange(24, dtype=np.float32)).reshape(2, 4, 3)
    out = []
    for more in ({"sequence_length": [4, 2]}, {"fast_reverse": True, "time_major": True}):
        with tf.Graph().as_default():
            cells = [tf.nn.rnn_cell.BasicLSTMCell(2) for _ in range(2)]
            outputs, states = tf.contrib.recurrent.bidirectional_functional_rnn(cells[0], cells[1], tf.constant(x), dtype=tf.float32, **more)
            out.append([[v.name for v in tf.trainable_variables()], _filled(tf, list(outputs) + tf.contrib.framework.nest.flatten(states))])
    return out


def recurrences_by_hand(tf):
    recurrent = tf.contrib.recurrent.Recurrent
    x = tf.constant(np.arange(6, dtype=np.float32).reshape(3, 2))
    w = tf.constant(0.5)

    def cell(theta, state, inputs):
        return {"s": theta["w"] * state["s"] + inputs["x"]}, {"e": state["s"]}

    def grad(theta, state, inputs, extras, d):
        return {"w": tf.reduce_sum(d["s"] * extras["e"]) * 10.0}, {"s": theta["w"] * d["s"]}, {"x": d["s"]}

    out = []
    for more in ({}, {"cell_grad": grad}, {"max_input_length": tf.constant(2)}, {"max_input_length": tf.constant(2), "aligned_end": True}):
        states, last = recurrent({"w": w}, {"s": tf.ones([2])}, {"x": x}, cell, **more)
        by_w, by_x = tf.gradients(tf.reduce_sum(states["s"] ** 2) + tf.reduce_sum(last["s"]), [w, x])
        # From the state before the first of the last steps TensorFlow's gradient of `w` has nothing.
        out.append(run(tf, [states["s"], last["s"], by_x] + ([] if "aligned_end" in more else [by_w])))
    one, _ = recurrent({"w": w}, {"s": tf.ones([2])}, {"x": x[:1]}, cell)
    return out, run(tf, one["s"])


def grids(tf):
    grid = tf.contrib.grid_rnn
    x = np.sin(np.arange(6, dtype=np.float32)).reshape(2, 3)
    makes = {
        "one": lambda: grid.Grid1BasicRNNCell(2),
        "one_lstm": lambda: grid.Grid1BasicLSTMCell(2, forget_bias=0.5),
        "one_peeped": lambda: grid.Grid1LSTMCell(2, use_peepholes=True),
        "two": lambda: grid.Grid2BasicRNNCell(2),
        "two_tied": lambda: grid.Grid2LSTMCell(2, tied=True, use_peepholes=True),
        "two_lstm": lambda: grid.Grid2BasicLSTMCell(2),
        "two_gru": lambda: grid.Grid2GRUCell(2),
        "three": lambda: grid.Grid3LSTMCell(2),
        "layered": lambda: grid.Grid2BasicRNNCell(2, non_recurrent_fn=tf.nn.relu),
        "flat": lambda: grid.Grid2LSTMCell(2, state_is_tuple=False, output_is_tuple=False),
        "own": lambda: grid.GridRNNCell(2, num_dims=3, input_dims=[0, 1], output_dims=[1, 2], priority_dims=1, cell_fn=lambda n: tf.nn.rnn_cell.GRUCell(n)),
    }
    out = {}
    for name in sorted(makes):
        with tf.Graph().as_default(), tf.variable_scope("root", initializer=tf.constant_initializer(0.3)):
            cell = makes[name]()
            inputs = tf.constant(x if name != "own" else np.concatenate([x, x[:, :1]], 1))
            outputs, state = cell(inputs, cell.zero_state(2, tf.float32))
            again = None
            if name != "flat":
                tf.get_variable_scope().reuse_variables()
                outputs, state = cell(inputs, state)
            flat = tf.contrib.framework.nest.flatten([outputs, state])
            out[name] = [[[v.name, str(v.shape)] for v in tf.trainable_variables()], str(cell.output_size), [np.round(v, 5) for v in run(tf, flat)]]
    return out


def grids_refused(tf):
    grid = tf.contrib.grid_rnn
    return mistakes(
        tf,
        dims=lambda: grid.GridRNNCell(2, num_dims=0),
        outside=lambda: grid.GridRNNCell(2, num_dims=2, input_dims=2),
        cell=lambda: grid.GridRNNCell(2, cell_fn=lambda n: n),
        state=lambda: grid.Grid2BasicRNNCell(2)(tf.ones([1, 2]), (tf.ones([1, 2]),)),
    )


def scaled_losses(tf):
    precision = tf.contrib.mixed_precision
    out = []
    for make in (lambda: precision.FixedLossScaleManager(16.0), lambda: precision.ExponentialUpdateLossScaleManager(16.0, 2, 1, 2, 0.5)):
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.Variable(1.0, name="x")
            factor = tf.placeholder(tf.float32, [])
            manager = make()
            optimizer = precision.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), manager)
            step = tf.train.get_or_create_global_step()
            update = optimizer.minimize(x * x * factor, global_step=step)
            sess.run(tf.global_variables_initializer())
            for f in (1.0, 1.0, np.inf, 1.0, np.inf, 1.0, 1.0):
                sess.run(update, {factor: f})
                out.append(sess.run([x, manager.get_loss_scale(), step]))
            out.append(sorted(v.name for v in tf.global_variables()))
    return out, caught(lambda: precision.FixedLossScaleManager(0.5), WHOLE)


def sparse_softmax(tf):
    sparse = tf.contrib.sparsemax
    z = tf.constant([[0.0, 0.5, 2.0], [1.0, 1.2, 1.1], [-np.inf, 0.0, 0.3], [np.nan, 0.0, 1.0]], tf.float32)
    p = sparse.sparsemax(z)
    q = tf.constant([[0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], tf.float32)
    loss = sparse.sparsemax_loss(z, p, q)
    y = z[:2]
    p2 = sparse.sparsemax(y)
    return p.name, loss.name, run(tf, [p, loss, tf.gradients(p2[:, 1], y)[0], tf.gradients(sparse.sparsemax_loss(y, p2, q[:2]), y)[0]])


def more_of_nn(tf):
    nn = tf.contrib.nn
    x = tf.constant([-2.0, -0.1, 0.0, 3.0, 9.0])
    alpha, clip = tf.constant(0.7), tf.constant(6.0)
    soft, clipped = nn.scaled_softplus(x, alpha), nn.scaled_softplus(x, [0.5], clip=clip)
    made = [soft, clipped] + tf.gradients(soft, [x, alpha]) + tf.gradients(clipped, [x, clip])
    made += [nn.nth_element([[3.0, 1.0, 2.0], [5.0, 4.0, 6.0]], 1), nn.nth_element([[3, 1, 2]], 0, reverse=True)]
    made += [nn.alpha_dropout(x, 0.8, seed=3), nn.alpha_dropout(x, 1), nn.conv1d_transpose(tf.ones([1, 2, 1]), tf.ones([3, 2, 1]), [1, 4, 2], 2)]
    return [np.round(v, 5) for v in run(tf, made)], caught(lambda: nn.alpha_dropout(x, 0.0), WHOLE), caught(lambda: nn.alpha_dropout(x, 1.5), WHOLE)


def sampled(tf):
    nn = tf.contrib.nn
    rng = np.random.RandomState(1)
    w, b, x = (tf.constant(rng.randn(*s).astype(np.float32)) for s in ([6, 3], [6], [2, 3]))
    labels = tf.constant([[1], [4]], tf.int64)
    values = (tf.constant([0, 2, 4, 5], tf.int64), tf.constant([[0.5], [0.25]]), tf.constant([0.1, 0.2, 0.3, 0.4]))
    ranked = nn.rank_sampled_softmax_loss(w, b, labels, x, 4, 2, 6, 1, values, 2.0, True, "mod")
    sparse = nn.sampled_sparse_softmax_loss(w, b, labels, x, 4, 6, values)
    return [np.round(v, 4) for v in run(tf, [ranked, sparse] + [tf.convert_to_tensor(g) for g in tf.gradients(sparse, [w, x])])], mistakes(
        tf,
        many=lambda: nn.rank_sampled_softmax_loss(w, b, labels, x, 7, 2, 6, 1, values, 2.0, True, "mod"),
        few=lambda: nn.rank_sampled_softmax_loss(w, b, labels, x, 4, 4, 6, 1, values, 2.0, True, "mod"),
        strategy=lambda: nn.rank_sampled_softmax_loss(w, b, labels, x, 4, 2, 6, 1, values, 2.0, True, "x"),
    )


def next_strings(tf):
    counter = tf.Variable(-1, dtype=tf.int64)
    following = tf.contrib.input_pipeline.obtain_next(tf.constant(["a", "b"]), counter)
    with tf.Session() as sess:
        initialize(tf, sess)
        return [sess.run(following) for _ in range(3)], sess.run(counter)


def resampled(tf):
    data = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2))
    warp = tf.constant([[[0.5, 0.25], [-0.5, 1.0]], [[1.75, 2.5], [-3.0, 0.0]]], tf.float32)
    made = tf.contrib.resampler.resampler(data, warp)
    return str(made.shape), run(tf, [made] + tf.gradients(made * made, [data, warp]))


def copied_graphs(tf):
    copy = tf.contrib.copy_graph
    v = tf.Variable([1.0, 2.0], name="v")
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.nn.relu(tf.add(v * 2.0, x, name="sum"), name="y")
    tf.add_to_collection("mine", y)
    other = tf.Graph()
    kept = copy.copy_variable_to_graph(v, other, "c")
    made = copy.copy_op_to_graph(y, other, [kept], "c")
    again = copy.copy_op_to_graph(y, other, [kept], "c")
    with tf.Session(graph=other) as sess:
        sess.run(kept.initializer)
        value = sess.run(made, {"c/x:0": [-9.0, 1.0]})
    keys = {k: [item.name for item in other.get_collection(k)] for k in other.get_all_collection_keys()}
    return made.name, again is made, copy.get_copied_op(y, other, "c").name, value, keys, sorted(op.name + " " + op.type for op in other.get_operations()), caught(
        lambda: copy.copy_variable_to_graph(x, other)
    )


def checks_of_summaries(tf):
    testing = tf.contrib.testing
    summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5), tf.Summary.Value(tag="words")])
    events = [tf.Event(step=s, summary=tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=v)])) for s, v in ((1, 0.5), (3, 0.25), (2, 4.0))]
    testing.assert_summary(["loss", "words"], {"loss": 0.5}, summary)
    return testing.simple_values_from_events(events, ["loss"]), caught(lambda: testing.assert_summary(["loss"], {}, summary)), caught(
        lambda: testing.simple_values_from_events([tf.Event(summary=summary)], ["words"]), WHOLE
    )


def fed_queues(tf):
    x = tf.placeholder(tf.int32, [])
    queue = tf.FIFOQueue(10, tf.int32, shapes=[[]])
    left = list(range(4))

    def feed():
        if not left:
            raise tf.errors.OutOfRangeError(None, None, "no more")
        return {x: left.pop(0)}

    runner = tf.contrib.training.FeedingQueueRunner(queue, [queue.enqueue(x)], feed_fns=[feed])
    tf.train.add_queue_runner(runner)
    get = queue.dequeue()
    out = []
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        try:
            while True:
                out.append(sess.run(get))
        except tf.errors.OutOfRangeError:
            pass
        coord.request_stop()
        coord.join(threads)
    return out, [e.__name__ for e in runner.queue_closed_exception_types], caught(lambda: runner.to_proto()), caught(
        lambda: tf.contrib.training.FeedingQueueRunner(queue, [queue.enqueue(x)], feed_fns=[]), WHOLE
    )
