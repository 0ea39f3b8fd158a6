"""Recurrent cells as layers: configs, `build` without a call, shards, and what they refuse."""

import numpy as np

from programs.tools import initialize, mistakes, static


def _rows():
    return np.sin(np.arange(8.0)).reshape(2, 4).astype(np.float32)


def _step(tf, cell):
    with tf.variable_scope("net", initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=3)):
        output, state = cell(tf.constant(_rows()), cell.zero_state(2, tf.float32))
    with tf.Session() as sess:
        initialize(tf, sess)
        return [[v.name, str(v.shape)] for v in tf.global_variables()], sess.run([output, state])


def configs(tf):
    cells = tf.nn.rnn_cell
    made = [
        cells.BasicRNNCell(4, activation="relu", name="plain"),
        cells.GRUCell(4, kernel_initializer=tf.constant_initializer(0.25), dtype=tf.float64),
        cells.BasicLSTMCell(4, forget_bias=0.5, state_is_tuple=False),
        cells.LSTMCell(4, use_peepholes=True, cell_clip=1.0, num_proj=2, proj_clip=0.5, num_unit_shards=2, reuse=True),
        cells.ResidualWrapper(cells.GRUCell(4)),
        cells.DeviceWrapper(cells.GRUCell(4), "/cpu:0"),
        cells.DropoutWrapper(cells.GRUCell(4), 0.5, seed=3),
        cells.MultiRNNCell([cells.GRUCell(4)]),
    ]
    return [{k: str(v) if k == "cell" else v for k, v in cell.get_config().items()} for cell in made]


def made_from_a_config(tf):
    cell = tf.nn.rnn_cell.LSTMCell(4, num_proj=3, initializer=tf.constant_initializer(0.1))
    return _step(tf, tf.nn.rnn_cell.LSTMCell.from_config(cell.get_config()))


def wrappers_from_configs(tf):
    cells = tf.nn.rnn_cell
    config = cells.ResidualWrapper(cells.GRUCell(4)).get_config()
    config["cell"] = cells.GRUCell(4, name="mine")
    return _step(tf, cells.ResidualWrapper.from_config(config))


def shards(tf):
    cell = tf.nn.rnn_cell.LSTMCell(4, num_unit_shards=2, num_proj=4, num_proj_shards=2)
    return _step(tf, cell)


def built_before_a_call(tf):
    cells = [tf.nn.rnn_cell.LSTMCell(4), tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.BasicRNNCell(2), tf.nn.rnn_cell.BasicLSTMCell(2)]
    for cell in cells:
        cell.build([None, 5])
    output, _ = cells[0](tf.zeros([2, 5]), cells[0].zero_state(2, tf.float32))
    return [[cell.built, cell.count_params(), [v.name for v in cell.weights]] for cell in cells], output.name, static(output)


def layers_built_before_a_call(tf):
    dense, other, convolution, norm = tf.layers.Dense(2), tf.layers.Dense(2), tf.layers.Conv2D(2, 2), tf.layers.BatchNormalization()
    dense.build([None, 3])
    other.build((None, 3))
    convolution.build([None, 4, 4, 3])
    norm.build(tf.TensorShape([None, 3]))
    y = dense(tf.ones([1, 3]))
    return y.name, [v.name for v in tf.global_variables()], [layer.built for layer in (dense, other, convolution, norm)]


def losses_of_layers_and_scopes(tf):
    """The regularizer of a scope adds its term to the collection alone, also beside a layer's own."""
    l2 = tf.contrib.layers.l2_regularizer(0.1)
    plain, own, cell = tf.layers.Dense(2), tf.layers.Dense(2, kernel_regularizer=l2), tf.nn.rnn_cell.GRUCell(2)
    with tf.variable_scope("p", regularizer=l2):
        plain(tf.ones([2, 3]))
        own(tf.ones([2, 3]))
        cell(tf.ones([2, 3]), tf.zeros([2, 2]))
    return [len(x.losses) for x in (plain, own, cell)], len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))


def states_of_zeros(tf):
    cell = tf.nn.rnn_cell.GRUCell(4)
    states = [cell.zero_state(size, tf.float32) for size in (2, np.int64(2), tf.constant(2), [2, 3], tf.constant([2, 3]))]
    with tf.Session() as sess:
        return static(*states), [value.shape for value in sess.run(states)]


def variables_of_wrappers(tf):
    """Wrappers list no variables."""
    cells = tf.nn.rnn_cell
    wrapper = cells.DropoutWrapper(cells.GRUCell(4), 0.5)
    wrapper(tf.ones([2, 3]), tf.zeros([2, 4]))
    stack = cells.MultiRNNCell([cells.GRUCell(4, trainable=False), cells.GRUCell(3)])
    stack(tf.ones([2, 3]), stack.zero_state(2, tf.float32))
    return [[v.name for v in x] for x in (wrapper.weights, wrapper.wrapped_cell.weights, stack.weights, stack.trainable_weights, stack.non_trainable_weights)]


def refused(tf):
    cells = tf.nn.rnn_cell

    def state_of(**arguments):
        return lambda: cells.GRUCell(4).get_initial_state(**arguments)

    def called(cell, width=3, rank=2, dtype=tf.float32):
        return lambda: cell()(tf.zeros([2] * (rank - 1) + [width], dtype), tf.zeros([2, 4]))

    return mistakes(
        tf,
        unknown_width=lambda: cells.GRUCell(4)(tf.placeholder(tf.float32, [2, None]), tf.zeros([2, 4])),
        unknown_width_of_build=lambda: cells.LSTMCell(4).build([2, None]),
        rank_3=called(lambda: cells.GRUCell(4), rank=3),
        rank_1=called(lambda: cells.BasicRNNCell(4), rank=1),
        unknown_rank=lambda: cells.GRUCell(4)(tf.placeholder(tf.float32), tf.zeros([2, 4])),
        integers=called(lambda: cells.BasicRNNCell(4), dtype=tf.int32),
        an_unknown_activation=lambda: cells.GRUCell(4, activation="nosuch"),
        another_batch=state_of(inputs=tf.zeros([2, 3]), batch_size=5, dtype=tf.float32),
        another_dtype=state_of(inputs=tf.zeros([2, 3]), dtype=tf.float64),
        no_batch=lambda: cells.GRUCell(4).zero_state(None, tf.float32),
        a_number_as_cell=lambda: cells.DropoutWrapper(3),
        a_large_probability=lambda: cells.DropoutWrapper(cells.GRUCell(4), output_keep_prob=1.5),
        no_cell_in_a_config=lambda: cells.DropoutWrapper.from_config(cells.DropoutWrapper(cells.GRUCell(4)).get_config()),
        parameters_unbuilt=lambda: cells.GRUCell(4).count_params(),
        scope_unbuilt=lambda: cells.GRUCell(4).scope_name,
    )


def causal_convolutions(tf):
    x = tf.constant(np.sin(np.arange(10.0)).reshape(1, 5, 2), tf.float32)
    ones = tf.ones_initializer()
    y = tf.layers.conv1d(x, 3, 2, padding="causal", dilation_rate=2, kernel_initializer=ones)
    z = tf.layers.SeparableConv1D(2, 3, padding="causal", depthwise_initializer=ones, pointwise_initializer=ones)(x)
    with tf.Session() as sess:
        initialize(tf, sess)
        return static(y, z), sess.run([y, z])


def dense_of_other_inputs(tf):
    """Sparse inputs, and inputs of another dtype than the layer's."""
    layer = tf.layers.Dense(2, kernel_initializer=tf.ones_initializer(), dtype=tf.float64)
    found = [layer(tf.constant(_rows())), tf.layers.dense(tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [2, 3]), 2, kernel_initializer=tf.ones_initializer())]
    with tf.Session() as sess:
        initialize(tf, sess)
        return static(*found), sess.run(found)


def specs_of_inputs(tf):
    layers = [tf.layers.Flatten(), tf.layers.MaxPooling2D(2, 2), tf.layers.BatchNormalization(), tf.layers.Conv2DTranspose(3, 2), tf.layers.SeparableConv2D(3, 2)]
    before = [str(layer.input_spec) for layer in layers]
    for layer in layers:
        layer(tf.zeros([1, 4, 4, 2]))
    return before, [str(layer.input_spec) for layer in layers]


def a_layer_without_call(tf):
    layer = tf.layers.Layer()
    x = tf.zeros([2, 3])
    return layer(x) is x, layer.built


def refused_by_layers(tf):
    return mistakes(
        tf,
        causal_images=lambda: tf.layers.conv2d(tf.zeros([1, 4, 4, 2]), 3, 2, padding="causal"),
        images_in_sequences=lambda: tf.layers.MaxPooling1D(2, 2)(tf.zeros([1, 4, 4, 2])),
        a_scalar_to_flatten=lambda: tf.layers.flatten(tf.zeros([])),
        another_width=lambda: _twice(tf, tf.layers.BatchNormalization()),
    )


def _twice(tf, layer):
    layer(tf.zeros([2, 3]))
    return layer(tf.zeros([2, 4]))
