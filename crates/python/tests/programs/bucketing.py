"""`contrib.training.bucket` and `bucket_by_sequence_length`, with all arguments."""

import numpy as np

from programs.batching import _numbers, _pump
from programs.tools import caught, initialize, nodes, rows, run, static


def two_buckets(tf):
    n = _numbers(tf, 12)
    which, b = tf.contrib.training.bucket([n], tf.cast(n % 2, tf.int32), batch_size=3, num_buckets=2)
    got = _pump(tf, [which, b])
    return static(which, b), sorted([int(w), v.tolist()] for w, v in got)


def of_a_dict(tf):
    n = _numbers(tf, 6)
    which, d = tf.contrib.training.bucket({"n": n, "m": -n}, tf.cast(n % 2, tf.int32), 3, 2)
    return sorted(d), sorted([int(w), v["n"].tolist(), v["m"].tolist()] for w, v in _pump(tf, [which, d]))


def with_padding(tf):
    n = _numbers(tf, 8)
    x = tf.range(n)
    which, b = tf.contrib.training.bucket([x], tf.cast(n >= 4, tf.int32), 4, 2, dynamic_pad=True)
    return static(b), sorted([int(w), v.tolist()] for w, v in _pump(tf, [which, b]))


def with_a_smaller_final(tf):
    n = _numbers(tf, 7)
    which, b = tf.contrib.training.bucket([n], tf.cast(n % 2, tf.int32), 3, 2, allow_smaller_final_batch=True)
    return static(b), sorted([int(w), v.tolist()] for w, v in _pump(tf, [which, b]))


def batch_sizes_differ(tf):
    n = _numbers(tf, 10)
    which, b = tf.contrib.training.bucket([n], tf.cast(n % 2, tf.int32), [1, 5], 2)
    return static(b), sorted([int(w), v.tolist()] for w, v in _pump(tf, [which, b]))


def keep_input(tf):
    n = _numbers(tf, 12)
    which, b = tf.contrib.training.bucket([n], tf.cast(n % 2, tf.int32), 2, 2, keep_input=tf.less(n, 8))
    return sorted([int(w), v.tolist()] for w, v in _pump(tf, [which, b]))


def refusals(tf):
    bucket = tf.contrib.training.bucket
    x, w = tf.constant(1), tf.constant(0)
    return (
        caught(lambda: bucket([x], w, [1, 2, 3], 2), "num_buckets"),
        caught(lambda: bucket([], w, 1, 2)),
        caught(lambda: bucket([x], w, 1, 2, bucket_capacities=[5])),
        caught(lambda: bucket([tf.placeholder(tf.float32)], w, 1, 2)),
    )


def capacities(tf):
    n = _numbers(tf, 12)
    which, b = tf.contrib.training.bucket([n], tf.cast(n % 2, tf.int32), 3, 2, num_threads=2, capacity=4, bucket_capacities=[7, 9], shared_name=None, name="mine")
    got = _pump(tf, [which, b])
    return which.name.split("/")[0], sorted(int(x) for _, v in got for x in v)


def collections(tf):
    tf.contrib.training.bucket([tf.constant(1)], tf.constant(0), 2, 3)
    return len(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)), sum(op.type.startswith("FIFOQueue") or op.type.startswith("PaddingFIFOQueue") for op in tf.get_default_graph().get_operations())


def by_sequence_length(tf):
    n = _numbers(tf, 9) + 1
    x = tf.range(n)
    length, (b,) = tf.contrib.training.bucket_by_sequence_length(n, [x], 3, [4, 7], dynamic_pad=True, allow_smaller_final_batch=True)
    got = _pump(tf, [length, b])
    return static(length, b), sorted([l.tolist(), v.tolist()] for l, v in got)


def by_sequence_length_drops_the_longest(tf):
    n = _numbers(tf, 9) + 1
    x = tf.range(n)
    length, (b,) = tf.contrib.training.bucket_by_sequence_length(n, [x], 2, [3, 5], dynamic_pad=True, keep_input=n < 5)
    return sorted(l.tolist() for l, v in _pump(tf, [length, b]))


def by_sequence_length_refusals(tf):
    f = tf.contrib.training.bucket_by_sequence_length
    n, x = tf.constant(3), tf.constant([1, 2, 3])
    return (
        caught(lambda: f(n, [x], 2, [])),
        caught(lambda: f(n, [x], 2, [5, 3])),
        caught(lambda: f(n, [x], 2, ["a"])),
        caught(lambda: f(n, [x], 2, 5)),
        caught(lambda: f(n, [x], [1, 2], [5, 7])),
    )


def trained_on_lengths(tf):
    """Variable-length rows in a loop: `while_loop` sums each batch."""
    n = _numbers(tf, 8) + 1
    x = tf.cast(tf.range(n), tf.float32)
    length, (b,) = tf.contrib.training.bucket_by_sequence_length(n, [x], 2, [3, 6], dynamic_pad=True)
    steps = tf.shape(b)[1]
    total = tf.while_loop(lambda t, s: t < steps, lambda t, s: (t + 1, s + b[:, t]), [0, tf.zeros([2])], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])[1]
    return sorted([l.tolist(), s.tolist()] for l, s in _pump(tf, [length, total]))
