"""`contrib.training.bucket`: nodes and names, static shapes, sparse tensors, dicts, capacities, errors."""

import numpy as np

from programs.batching import _numbers, _pump
from programs.tools import WHOLE, caught, initialize, nodes, rows, run, static


def _queues(tf):
    """Returns name, type, capacity, shared name and shapes of each queue in the graph."""
    found = [op for op in tf.get_default_graph().get_operations() if op.type.endswith("QueueV2")]
    return [(op.name, op.type, op.get_attr("capacity"), op.get_attr("shared_name"), [str(tf.TensorShape(s)) for s in op.get_attr("shapes")]) for op in found]


def queues_of_a_bucket(tf):
    tf.contrib.training.bucket([tf.constant(1), tf.constant([1.0, 2.0])], tf.constant(0), 4, 2)
    return _queues(tf)


def queues_named(tf):
    tf.contrib.training.bucket([tf.constant(1)], tf.constant(0), 4, 2, shared_name="s", name="mine", capacity=7)
    return _queues(tf)


def queues_with_capacities(tf):
    tf.contrib.training.bucket([tf.constant(1)], tf.constant(0), [3, 4, 5], 3, bucket_capacities=[30, 40, 50], capacity=6)
    return _queues(tf)


def queues_with_padding(tf):
    tf.contrib.training.bucket([tf.placeholder(tf.int32, [None, 2])], tf.constant(0), 4, 2, dynamic_pad=True, allow_smaller_final_batch=True)
    return _queues(tf)


def queues_with_shapes(tf):
    tf.contrib.training.bucket([tf.placeholder(tf.int32)], tf.constant(0), 4, 2, shapes=[[3]])
    tf.contrib.training.bucket([tf.placeholder(tf.int32)], tf.constant(0), 4, 2, shapes=[[None, 3]], dynamic_pad=True)
    return _queues(tf)


def queues_with_a_size_unknown(tf):
    tf.contrib.training.bucket([tf.constant(1)], tf.constant(0), tf.placeholder(tf.int32, []), 2)
    return _queues(tf)


def runners_of_a_bucket(tf):
    tf.contrib.training.bucket([tf.constant(1)], tf.constant(0), 4, 2, num_threads=3)
    return [
        (r.name, [o.name for o in r.enqueue_ops], r.close_op.name, r.cancel_op.name, [t.__name__ for t in r.queue_closed_exception_types])
        for r in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
    ]


def summaries_of_a_bucket(tf):
    tf.contrib.training.bucket([tf.constant(1)], tf.constant(0), 4, 2, capacity=9)
    return [t.name for t in tf.get_collection(tf.GraphKeys.SUMMARIES)]


def names_of_the_results(tf):
    which, (a, b) = tf.contrib.training.bucket([tf.constant(1), tf.constant(2)], tf.constant(0), 4, 2, name="mine")
    return which.name, a.name, b.name, which.op.type


def what_is_returned(tf):
    a = tf.constant(1)
    made = [tf.contrib.training.bucket(t, 0, 2, 2)[1] for t in ([a], (a,), [a, a], {"x": a}, {"x": a, "y": a})]
    return [sorted(m) if isinstance(m, dict) else type(m).__name__ for m in made]


def static_shapes(tf):
    def of(tensors, size, **more):
        which, out = tf.contrib.training.bucket(tensors, 0, size, 2, **more)
        return static(which, *(out if isinstance(out, list) else [out]))

    x, y = tf.constant([1, 2]), tf.placeholder(tf.float32, [None, 3])
    return [
        of([x], 4),
        of([x], [4, 4]),
        of([x], [4, 5]),
        of([x], 4, allow_smaller_final_batch=True),
        of([x, y], 4, dynamic_pad=True),
        of([y], 4, shapes=[[5, 3]]),
        of([x], tf.constant(4)),
    ]


def refusals(tf):
    bucket = tf.contrib.training.bucket
    x, w = tf.constant(1), tf.constant(0)
    return (
        caught(lambda: bucket([x], w, [1, 2, 3], 2), WHOLE),
        caught(lambda: bucket([x], w, (1,), 2), WHOLE),
        caught(lambda: bucket([], w, 1, 2), WHOLE),
        caught(lambda: bucket({}, w, 1, 2), WHOLE),
        caught(lambda: bucket([x], w, 1, 2, bucket_capacities=[5]), WHOLE),
        caught(lambda: bucket([x], w, 1, 2, bucket_capacities=[5, 5, 5]), WHOLE),
        caught(lambda: bucket([tf.placeholder(tf.float32, name="p")], w, 1, 2), WHOLE),
        caught(lambda: bucket([tf.placeholder(tf.float32, [None], name="p")], w, 1, 2), WHOLE),
        caught(lambda: bucket([x], w, 1, 2, keep_input=[True]), WHOLE),
        caught(lambda: bucket([x], w, 1, 2, keep_input=tf.placeholder(tf.bool)), WHOLE),
        caught(lambda: bucket([x], 1.5, 1, 2), WHOLE),
        caught(lambda: bucket([x], w, 1, 2, shapes=[[2], [3]]), WHOLE),
    )


def kinds_of_which_bucket(tf):
    n = _numbers(tf, 6)
    out = []
    for which in (tf.cast(n % 2, tf.int32),):
        w, b = tf.contrib.training.bucket([n], which, 3, 2)
        out.append(sorted([int(k), v.tolist()] for k, v in _pump(tf, [w, b])))
    return out, caught(lambda: tf.contrib.training.bucket([n], tf.constant(0, tf.int64), 3, 2), WHOLE)


def one_bucket(tf):
    n = _numbers(tf, 6)
    w, b = tf.contrib.training.bucket([n], tf.constant(0), 2, 1)
    return _pump(tf, [w, b])


def many_buckets(tf):
    n = _numbers(tf, 40)
    w, b = tf.contrib.training.bucket([n], n % 10, 2, 10, num_threads=1)
    return sorted([int(k), v.tolist()] for k, v in _pump(tf, [w, b]))


def several_threads(tf):
    n = _numbers(tf, 40)
    w, b = tf.contrib.training.bucket([n], n % 2, 5, 2, num_threads=4)
    got = _pump(tf, [w, b])
    return sorted(int(k) for k, _ in got), sorted(int(x) for _, v in got for x in v), all(int(x) % 2 == int(k) for k, v in got for x in v)


def keep_never(tf):
    n = _numbers(tf, 6)
    w, b = tf.contrib.training.bucket([n], n % 2, 2, 2, keep_input=tf.constant(False))
    return _pump(tf, [w, b], times=0)


def keep_some(tf):
    n = _numbers(tf, 12)
    w, b = tf.contrib.training.bucket([n, tf.as_string(n)], n % 2, 2, 2, keep_input=n > 3)
    return sorted([int(k), v.tolist(), s.tolist()] for k, (v, s) in _pump(tf, [w, b]))


def sparse(tf):
    n = _numbers(tf, 8)
    sp = tf.SparseTensor(tf.cast(tf.reshape(n, [1, 1]), tf.int64), [n * 10], [8])
    w, (s, m) = tf.contrib.training.bucket([sp, n], n % 2, 2, 2)
    got = _pump(tf, [w, s, m])
    return static(s.indices, s.values, s.dense_shape), sorted([int(k), a.indices.tolist(), a.values.tolist(), a.dense_shape.tolist(), b.tolist()] for k, a, b in got)


def sparse_in_a_dict(tf):
    n = _numbers(tf, 4)
    sp = tf.SparseTensor([[0]], [tf.as_string(n)], [1])
    w, d = tf.contrib.training.bucket({"s": sp}, n % 2, 2, 2)
    return sorted(d), sorted([int(k), v["s"].values.tolist()] for k, v in _pump(tf, [w, d]))


def padded_in_each_batch_only(tf):
    n = _numbers(tf, 8)
    w, b = tf.contrib.training.bucket([tf.range(n), tf.fill([n, 2], n)], tf.cast(n >= 4, tf.int32), 4, 2, dynamic_pad=True)
    return sorted([int(k), x.tolist(), y.tolist()] for k, (x, y) in _pump(tf, [w, b]))


def rests_of_all_buckets(tf):
    n = _numbers(tf, 8)
    w, b = tf.contrib.training.bucket([n], n % 3, 2, 3, allow_smaller_final_batch=True)
    return sorted([int(k), v.tolist()] for k, v in _pump(tf, [w, b]))


def lengths_queues(tf):
    tf.contrib.training.bucket_by_sequence_length(tf.constant(3), [tf.placeholder(tf.int32, [None])], 4, [5, 10], dynamic_pad=True, name="b", shared_name="s", bucket_capacities=[7, 8, 9])
    return _queues(tf)


def lengths_at_the_boundaries(tf):
    n = _numbers(tf, 7)
    length, (b,) = tf.contrib.training.bucket_by_sequence_length(n, [n * 10], 1, [2, 4])
    return sorted([l.tolist(), v.tolist()] for l, v in _pump(tf, [length, b]))


def lengths_of_a_dict(tf):
    n = _numbers(tf, 6)
    length, d = tf.contrib.training.bucket_by_sequence_length(n, {"n": n, "s": tf.as_string(n)}, 3, [3])
    return sorted(d), sorted([l.tolist(), v["n"].tolist(), v["s"].tolist()] for l, v in _pump(tf, [length, d]))


def lengths_of_a_dict_of_one(tf):
    n = _numbers(tf, 6)
    length, d = tf.contrib.training.bucket_by_sequence_length(n, {"n": n}, 3, [3])
    return sorted(d), type(d["n"]).__name__, sorted([l.tolist(), np.ravel(v["n"]).tolist()] for l, v in _pump(tf, [length, d]))


def lengths_static(tf):
    n = tf.placeholder(tf.int32, [])
    x = tf.placeholder(tf.float32, [None, 3])
    out = []
    for size, more in ((4, {}), ([4, 5], {}), (4, {"allow_smaller_final_batch": True})):
        length, (b,) = tf.contrib.training.bucket_by_sequence_length(n, [x], size, [5], dynamic_pad=True, **more)
        out.append(static(length, b))
    return out


def lengths_with_shapes(tf):
    n, x = tf.constant(3), tf.placeholder(tf.float32)
    length, (b,) = tf.contrib.training.bucket_by_sequence_length(n, [x], 4, [5], shapes=[[7]])
    return static(length, b)


def lengths_sizes_differ(tf):
    n = _numbers(tf, 9) + 1
    length, (b,) = tf.contrib.training.bucket_by_sequence_length(n, [tf.range(n)], [3, 2, 1], [4, 7], dynamic_pad=True)
    return sorted([l.tolist(), v.tolist()] for l, v in _pump(tf, [length, b]))


def lengths_keep(tf):
    n = _numbers(tf, 9)
    length, (b,) = tf.contrib.training.bucket_by_sequence_length(n, [n], 2, [3, 6], keep_input=n % 2 > 0, allow_smaller_final_batch=True)
    return sorted([l.tolist(), v.tolist()] for l, v in _pump(tf, [length, b]))


def lengths_refusals(tf):
    f = tf.contrib.training.bucket_by_sequence_length
    n, x = tf.constant(3), tf.constant([1, 2, 3])
    return (
        caught(lambda: f(n, [x], 2, []), WHOLE),
        caught(lambda: f(n, [x], 2, ()), WHOLE),
        caught(lambda: f(n, [x], 2, [5, 3]), WHOLE),
        caught(lambda: f(n, [x], 2, [5, 5]), WHOLE),
        caught(lambda: f(n, [x], 2, [1.5, 3]), WHOLE),
        caught(lambda: f(n, [x], 2, 5), WHOLE),
        caught(lambda: f(n, [x], 2, None), WHOLE),
        caught(lambda: f(n, [x], [1, 2], [5, 7]), WHOLE),
        caught(lambda: f(n, [x], 2, [5], bucket_capacities=[1]), WHOLE),
        caught(lambda: f(n, [], 2, [5]), WHOLE),
        caught(lambda: f(tf.constant(1.0), [x], 2, [5]), WHOLE),
        caught(lambda: f(n, [tf.placeholder(tf.float32, [None], name="p")], 2, [5]), WHOLE),
    )
