"""Convolutions and pools: the same bits on any number of threads, memory limits, NCHW as NHWC."""

import millstream as tf
import numpy as np
import pytest


def _numbers(*shape):
    return np.random.RandomState(1).normal(size=shape).astype(np.float32)


# Large enough for several tiles, several images and several threads.
CASES = {
    "conv2d": (lambda x, f: tf.nn.conv2d(x, f, 1, "SAME"), (5, 24, 25, 24), (3, 3, 24, 40)),
    "conv2d of one image": (lambda x, f: tf.nn.conv2d(x, f, 2, "VALID"), (1, 60, 61, 32), (3, 3, 32, 64)),
    "conv2d of cells": (lambda x, f: tf.nn.conv2d(x, f, 1, "VALID"), (4, 48, 48, 64), (1, 1, 64, 48)),
    "depthwise": (lambda x, f: tf.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME"), (6, 30, 31, 24), (3, 3, 24, 2)),
    "max_pool": (lambda x, f: tf.nn.max_pool(x, 3, 1, "SAME") * tf.reduce_sum(f), (6, 40, 41, 32), (1,)),
    "avg_pool": (lambda x, f: tf.nn.avg_pool(x, 3, 1, "SAME") * tf.reduce_sum(f), (6, 40, 41, 32), (1,)),
    "norm": (lambda x, f: tf.nn.fused_batch_norm(x, f, f)[0], (6, 40, 41, 32), (32,)),
}


@pytest.mark.parametrize("name", list(CASES))
def test_bits_do_not_depend_on_threads(name):
    make, *shapes = CASES[name]
    inputs = [tf.constant(_numbers(*shape)) for shape in shapes]
    y = make(*inputs)
    results = [y, *tf.gradients(y * y, inputs)]
    values = []
    for threads in (1, 2, 5):
        with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=threads)) as session:
            values.append(session.run(results))
    for other in values[1:]:
        for a, b in zip(values[0], other):
            np.testing.assert_array_equal(a.view(np.int32), b.view(np.int32))


def test_scratch_memory_is_bounded():
    # The windows as one matrix would take 25 times the input: 200 MB.
    x = tf.placeholder(tf.float32, [None, None, None, 8])
    y = tf.reduce_sum(tf.nn.conv2d(x, tf.ones([5, 5, 8, 4]), 1, "SAME"))
    config = tf.ConfigProto()
    config.memory_limit_in_bytes = 64 << 20
    with tf.Session(config=config) as session:
        assert session.run(y, {x: np.zeros([4, 256, 256, 8], np.float32)}) == 0


def _first(images):
    return tf.transpose(images, [0, 3, 1, 2])


def _last(images):
    return tf.transpose(images, [0, 2, 3, 1])


def test_channels_first_is_channels_last_transposed():
    x, f, g = (tf.constant(_numbers(*shape)) for shape in ((2, 6, 7, 4), (3, 2, 4, 6), (3, 2, 4, 2)))
    pairs = [
        (tf.nn.conv2d(x, f, [1, 2, 1, 1], "SAME"), tf.nn.conv2d(_first(x), f, [1, 1, 2, 1], "SAME", data_format="NCHW")),
        (tf.nn.depthwise_conv2d(x, g, [1, 1, 1, 1], "VALID"), tf.nn.depthwise_conv2d(_first(x), g, [1, 1, 1, 1], "VALID", data_format="NCHW")),
        (tf.nn.max_pool(x, [3, 2], [2, 1], "SAME"), tf.nn.max_pool(_first(x), [3, 2], [2, 1], "SAME", data_format="NCHW")),
        (tf.nn.avg_pool(x, [3, 2], [2, 1], "SAME"), tf.nn.avg_pool(_first(x), [3, 2], [2, 1], "SAME", data_format="NCHW")),
    ]
    with tf.Session() as session:
        for plain, turned in pairs:
            turned = _last(turned)
            want, got = session.run([[plain, *tf.gradients(plain * plain, [x])], [turned, *tf.gradients(turned * turned, [x])]])
            for a, b in zip(want, got):
                np.testing.assert_array_equal(a, b)
