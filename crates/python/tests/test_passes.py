"""`ConfigProto.passes`: plans without what makes them fast."""

import numpy as np
import pytest

import millstream as tf


def _folded(sess, fetch):
    return [name for name, _op, _where, fate in sess.explain(fetch).nodes if fate == "computed beforehand"]


def test_a_pass_is_left_out():
    x = tf.placeholder_with_default([3.0, 4.0], [2])
    two = tf.add(tf.constant(1.0), 1.0, name="two")
    _, y = tf.while_loop(lambda i, y: i < 5, lambda i, y: [i + 1, y * two + x], [0, x])
    slope = tf.gradients(tf.reduce_sum(tf.square(y)), x)[0]
    with tf.Session() as sess:
        want = sess.run([y, slope])
        assert "two" in _folded(sess, y)
    everything = "-fold,-forward,-absorb,-accumulate,-narrow,-fuse,-order,-bypass,-straight"
    for passes in everything.split(",") + [everything, "-fold, -order", ""]:
        with tf.Session(config=tf.ConfigProto(passes=passes)) as sess:
            for a, b in zip(want, sess.run([y, slope])):
                np.testing.assert_array_equal(a, b)
            assert ("two" in _folded(sess, y)) == ("-fold" not in passes), passes


def test_a_pass_that_is_none():
    for passes in ("-folding", "fold", "-fold;-order"):
        with pytest.raises(ValueError, match="is not a pass to leave out(.|\n)*-bypass"):
            tf.Session(config=tf.ConfigProto(passes=passes))
