"""Parts of `contrib` by use: staging areas, the cells of cudnn's networks, placement, deprecations."""

import numpy as np

from programs.raised import WHOLE, caught


def staging(tf):
    area = tf.contrib.staging.StagingArea([tf.float32, tf.int32], shapes=[[2], []])
    put = area.put([tf.constant([1.0, 2.0]), tf.constant(3)])
    got = area.get()
    with tf.Session() as sess:
        sess.run(put)
        sess.run(put)
        before, values = sess.run(area.size()), sess.run(got)
        sess.run(area.clear())
        after = sess.run(area.size())
    return before, values, after, [t.shape for t in got], area.names, area.dtypes, area.shapes, area.capacity, area.memory_limit


def staging_by_name(tf):
    area = tf.contrib.staging.StagingArea([tf.float32, tf.int32], names=["a", "b"])
    put, got = area.put({"a": tf.constant(1.0), "b": tf.constant(2)}), area.get()
    with tf.Session() as sess:
        sess.run(put)
        return sess.run(got), area.names


def staging_a_step_ahead(tf):
    """Input is staged by the step before the one that uses it."""
    data = tf.train.range_input_producer(5, shuffle=False, num_epochs=1).dequeue()
    area = tf.contrib.staging.StagingArea([tf.int32], shapes=[[]])
    put = area.put([data])
    double = area.get()[0] * 2
    seen = []
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        sess.run(put)
        try:
            while True:
                seen.append(sess.run([double, put])[0])
        except tf.errors.OutOfRangeError:
            seen.append("end")
        coord.request_stop()
        coord.join(threads)
    return seen


def staging_refusals(tf):
    make = tf.contrib.staging.StagingArea
    plain, named = make([tf.float32]), make([tf.float32], names=["a"])
    return [
        caught(lambda: plain.put({"a": tf.constant(1.0)}), WHOLE),
        caught(lambda: named.put([tf.constant(1.0)]), WHOLE),
        caught(lambda: make([tf.float32], shapes=[[1], [2]]), WHOLE),
        caught(lambda: make([tf.float32], names=["a", "b"]), WHOLE),
    ]


def _cells(tf, make, state):
    rng = np.random.RandomState(0)
    x = tf.constant(rng.normal(size=(2, 4)), tf.float32)
    cell = make(3)
    output, after = cell(x, state(tf.constant(rng.normal(size=(2, 3)), tf.float32)))
    variables = tf.trainable_variables()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for v in variables:
            v.load(rng.normal(size=v.shape.as_list()), sess)
        return [(v.name, v.shape) for v in variables], sess.run([output, after, tf.gradients(output, variables)])


def a_cell_of_cudnn_lstm(tf):
    return _cells(tf, tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell, lambda s: tf.nn.rnn_cell.LSTMStateTuple(s, s * 0.5))


def a_cell_of_cudnn_gru(tf):
    return _cells(tf, tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell, lambda s: s)


def cudnn_layers(tf):
    """Static facts alone: TensorFlow runs them on a GPU."""
    parts = tf.contrib.cudnn_rnn
    x = tf.ones([5, 2, 4])
    found = []
    for make in (parts.CudnnLSTM, parts.CudnnGRU, parts.CudnnRNNTanh, parts.CudnnRNNRelu):
        for direction in ("unidirectional", "bidirectional"):
            layer = make(2, 3, direction=direction)
            outputs, states = layer(x)
            found.append((outputs.shape, [s.shape for s in states], layer.num_layers, layer.num_units, layer.num_dirs, layer.direction))
    return found, caught(lambda: parts.CudnnLSTM(1, 2, direction="sideways"), "Invalid direction: sideways")


def placement(tf):
    training = tf.contrib.training
    place = training.GreedyLoadBalancingStrategy(3, training.byte_size_load_fn)
    sizes = [10, 2, 2, 1, 1, 7]
    variables = [tf.get_variable("v%d" % i, [n]) for i, n in enumerate(sizes)]
    setter = tf.train.replica_device_setter(ps_tasks=2, ps_strategy=training.GreedyLoadBalancingStrategy(2, training.byte_size_load_fn))
    with tf.device(setter):
        devices = [tf.get_variable("w%d" % i, [n]).device for i, n in enumerate(sizes)]
    return [place(v.op) for v in variables], devices, [training.byte_size_load_fn(v.op) for v in variables]


def deprecations(tf):
    framework = tf.contrib.framework

    @framework.deprecated(None, "Use another.")
    def old(x):
        return x + 1

    @framework.deprecated_args("2020-01-01", "Use axis.", "dim")
    def reduced(x, axis=None, dim=None):
        return axis, dim

    @framework.deprecated_arg_values(None, "Leave it out.", fast=False)
    def run(fast=True):
        return fast

    return (
        old(1), reduced(0, dim=2), reduced(0, axis=1), run(), run(fast=False), old.__name__,
        caught(lambda: framework.deprecated("soon", "x")), caught(lambda: framework.deprecated(None, "")),
        caught(lambda: framework.deprecated_args(None, "x", "y")(lambda z: z)),
    )  # fmt: skip
