"""Layers, averages and internal functions that public programs use here and there."""

import importlib
import types

import numpy as np


def _internal(tf, name):
    """Returns the internal module `tensorflow.python.NAME` of the library under test."""
    if tf.__name__ != "millstream":
        return importlib.import_module("tensorflow.python." + name)
    from millstream.programs import internals

    return types.SimpleNamespace(**internals.NAMES["python." + name])


def convolutions_in_plane(tf):
    """One kernel for all channels, with biases, a normalizer or neither."""
    x = tf.placeholder(tf.float32, [2, 5, 6, 3])
    layers, ones = tf.contrib.layers, tf.ones_initializer()
    results = [
        layers.conv2d_in_plane(x, [2, 3], weights_initializer=ones),
        layers.convolution2d_in_plane(x, 3, 2, "VALID", activation_fn=None, weights_initializer=ones, biases_initializer=ones,
                                      weights_regularizer=layers.l2_regularizer(0.5), scope="strided", outputs_collections="outs"),
        layers.conv2d_in_plane(x, [1, 2], normalizer_fn=layers.layer_norm, weights_initializer=ones, scope="normal"),
        tf.contrib.slim.conv2d_in_plane(x, [2, 3], biases_initializer=None, scope="ConvInPlane", reuse=True),
    ]
    names = [v.name for v in tf.global_variables()], [t.name for t in results], [t.name for t in tf.get_collection("outs")]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return names, sess.run(results + tf.losses.get_regularization_losses(), {x: np.arange(180).reshape(2, 5, 6, 3) % 7 - 3.0})


def layers_of_slim(tf):
    """The module `slim.layers` has all layers."""
    names = "avg_pool2d batch_norm bias_add conv2d conv2d_transpose dropout flatten fully_connected layer_norm max_pool2d separable_conv2d unit_norm"
    return [getattr(tf.contrib.slim.layers, name) is getattr(tf.contrib.layers, name) for name in names.split()]


def weighted_averages(tf):
    """A moving average of values that have weights."""
    moving_averages = _internal(tf, "training.moving_averages")
    value, weight = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [])
    average = moving_averages.weighted_moving_average(value, 0.5, weight)
    other = moving_averages.weighted_moving_average(value, 0.25, weight, truediv=False, collections=["kept"], name="other")
    found = [average.name, other.name, [v.name for v in tf.global_variables()], [v.name for v in tf.get_collection("kept")]]
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.variables_initializer(tf.get_collection("kept"))])
        feeds = [{value: [1.0, 2.0], weight: 1.0}, {value: [4.0, -2.0], weight: 3.0}, {value: [0.5, 0.0], weight: 0.25}]
        return found, [sess.run([average, other], feed) for feed in feeds]


def summed_slices(tf):
    """Slices of equal indices, as optimizers sum them."""
    optimizer = _internal(tf, "training.optimizer")
    values, indices = optimizer._deduplicate_indexed_slices(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), tf.constant([4, 1, 4]))
    with tf.Session() as sess:
        return sess.run([values, indices])


def first_values(tf):
    """`init_variable` with a tensor and with an initializer."""
    state_ops = _internal(tf, "ops.state_ops")
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.get_variable("w", [2, 2])
    first = state_ops.init_variable(v, np.array([3.0, 4.0], np.float32))
    second = state_ops.init_variable(w, tf.constant_initializer(2.5), name="again")
    with tf.Session() as sess:
        return [first.op.name, second.op.name], sess.run([first, second]), sess.run([v, w])


def small_questions(tf):
    """What is a tensor, and which resources are not initialized."""
    ops = _internal(tf, "framework.ops")
    resources = _internal(tf, "ops.resources")
    values = [tf.constant(1), tf.Variable(1), np.ones(2), 3, tf.SparseTensor([[0]], [1], [2]), tf.get_variable("r", [], use_resource=True)]
    with tf.Session() as sess:
        return [ops.is_dense_tensor_like(value) for value in values], ops.uid() < ops.uid(), sess.run(resources.report_uninitialized_resources())
