"""`train.batch` and related functions: nodes and names, static shapes, arguments, errors."""

import numpy as np

from programs.batching import _numbers, _pump
from programs.tools import WHOLE, caught, initialize, names, nodes, rows, run, static


def nodes_of_batch(tf):
    tf.train.batch([tf.constant(1), tf.constant("a")], 2)
    return nodes(tf)


def nodes_of_batch_named(tf):
    b = tf.train.batch({"x": tf.constant(1)}, 2, name="mine", num_threads=2, capacity=7, shared_name="s")
    return nodes(tf), b["x"].name


def nodes_with_padding(tf):
    tf.train.batch([tf.placeholder(tf.int32, [None])], 2, dynamic_pad=True, allow_smaller_final_batch=True)
    return nodes(tf)


def nodes_of_enqueue_many(tf):
    tf.train.batch([tf.constant([1, 2])], 2, enqueue_many=True)
    return nodes(tf)


def nodes_of_maybe_batch(tf):
    tf.train.maybe_batch([tf.constant(1)], tf.placeholder(tf.bool, []), 2)
    return names(tf)


def nodes_of_maybe_batch_with_a_vector(tf):
    tf.train.maybe_batch([tf.constant([1, 2]), tf.constant(["a", "b"])], tf.placeholder(tf.bool, [2]), 2, enqueue_many=True)
    return nodes(tf)


def nodes_of_maybe_batch_false(tf):
    tf.train.maybe_batch([tf.constant(1)], False, 2)
    return nodes(tf)


def nodes_of_batch_join(tf):
    tf.train.batch_join([[tf.constant(1)], [tf.constant(2)]], 2)
    return nodes(tf)


def nodes_of_maybe_batch_join(tf):
    tf.train.maybe_batch_join([[tf.constant(1)], [tf.constant(2)]], tf.placeholder(tf.bool, []), 2, name="j")
    return names(tf)


def nodes_of_shuffle_batch(tf):
    tf.train.shuffle_batch([tf.constant(1)], 2, capacity=32, min_after_dequeue=10, seed=3)
    return nodes(tf)


def nodes_of_shuffle_batch_join(tf):
    tf.train.shuffle_batch_join([[tf.constant(1)], [tf.constant(2)]], 2, 32, 10, name="sj")
    return nodes(tf)


def nodes_of_maybe_shuffle_batch(tf):
    tf.train.maybe_shuffle_batch([tf.constant([1])], 2, 32, 10, tf.placeholder(tf.bool, [1]), enqueue_many=True)
    return nodes(tf)


def nodes_of_sparse(tf):
    tf.train.batch([tf.SparseTensor([[0]], [1.0], [2]), tf.constant(1)], 2)
    return nodes(tf)


def nodes_of_sparse_enqueue_many(tf):
    tf.train.batch({"s": tf.SparseTensor([[0, 0]], [1.0], [2, 2])}, 2, enqueue_many=True)
    return nodes(tf)


def nodes_of_sparse_maybe(tf):
    tf.train.maybe_batch([tf.SparseTensor([[0]], [1.0], [2])], tf.placeholder(tf.bool, []), 2)
    return names(tf)


def nodes_of_sparse_join(tf):
    tf.train.batch_join([[tf.SparseTensor([[0]], [1.0], [2])], [tf.SparseTensor([[1]], [2.0], [2])]], 2)
    return nodes(tf)


def attributes_of_the_queue(tf):
    tf.train.batch([tf.constant([1.0, 2.0])], 2, capacity=9, shared_name="s")
    tf.train.shuffle_batch([tf.constant(1)], 2, 20, 5, seed=3, shared_name="t")
    tf.train.batch([tf.placeholder(tf.int32, [None, 3])], 2, dynamic_pad=True)
    found = [op for op in tf.get_default_graph().get_operations() if op.type.endswith("QueueV2")]
    return [(op.name, sorted((k, str(v)) for k, v in op.node_def.attr.items())) for op in found]


def runners_and_summaries(tf):
    tf.train.batch([tf.constant(1)], 2, num_threads=3, capacity=11)
    tf.train.shuffle_batch([tf.constant(1)], 2, 20, 5, num_threads=2)
    tf.train.batch_join([[tf.constant(1)], [tf.constant(2)]], 2, capacity=13)
    tf.train.shuffle_batch_join([[tf.constant(1)], [tf.constant(2)]], 2, 14, 3)
    return [(r.name, [o.name for o in r.enqueue_ops]) for r in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)], [t.name for t in tf.get_collection(tf.GraphKeys.SUMMARIES)]


def summary_of_a_queue(tf):
    tf.train.batch([_numbers(tf, 9)], 2, capacity=4)
    tag = [op for op in tf.get_default_graph().get_operations() if op.type == "ScalarSummary"]
    return [(op.name, run(tf, op.inputs[0])) for op in tag]


def shapes_of_batch(tf):
    x, y = tf.constant([1, 2]), tf.constant(1.0)
    return [
        static(*tf.train.batch([x, y], 4)),
        static(*tf.train.batch([x, y], 4, allow_smaller_final_batch=True)),
        static(*tf.train.batch([x, y], tf.constant(4), shapes=[[2], []])),
        static(*tf.train.batch([x, y], tf.placeholder(tf.int32, []))),
        static(tf.train.batch([x], 4, enqueue_many=True)),
        static(tf.train.batch([tf.placeholder(tf.int32, [None, 3])], 4, enqueue_many=True)),
    ]


def shapes_with_padding(tf):
    x = tf.placeholder(tf.int32, [None, 3])
    return [
        static(tf.train.batch([x], 4, dynamic_pad=True)),
        static(tf.train.batch([x], 4, dynamic_pad=True, allow_smaller_final_batch=True)),
        static(tf.train.batch([tf.placeholder(tf.int32, [None, None, 3])], 4, dynamic_pad=True, enqueue_many=True)),
        static(tf.train.batch([tf.placeholder(tf.int32)], 4, dynamic_pad=True, shapes=[[None, 2]])),
    ]


def shapes_of_joins(tf):
    a, b = tf.placeholder(tf.int32, [2, 3]), tf.placeholder(tf.int32, [4, 3])
    return [
        static(tf.train.batch_join([[a], [b]], 4, enqueue_many=True)),
        static(tf.train.batch_join([[a], [a + 1]], 4)),
        static(tf.train.shuffle_batch_join([[a], [a]], 4, 20, 2)),
        caught(lambda: tf.train.batch_join([[a], [b]], 4), WHOLE),
        caught(lambda: tf.train.batch_join([[a], [b]], 4, dynamic_pad=True), WHOLE),
    ]


def shapes_of_shuffle(tf):
    x = tf.constant([1, 2])
    return [
        static(tf.train.shuffle_batch([x], 4, 20, 2)),
        static(tf.train.shuffle_batch([x], 4, 20, 2, allow_smaller_final_batch=True)),
        static(tf.train.shuffle_batch([x], 4, 20, 2, enqueue_many=True)),
        static(tf.train.shuffle_batch([tf.placeholder(tf.int32)], 4, 20, 2, shapes=[[5]])),
    ]


def cannot_infer_rank(tf):
    x = tf.placeholder(tf.float32, name="x")
    return (
        caught(lambda: tf.train.batch([x], 2), WHOLE),
        caught(lambda: tf.train.batch([x], 2, dynamic_pad=True), WHOLE),
        caught(lambda: tf.train.batch([x], 2, enqueue_many=True), WHOLE),
        caught(lambda: tf.train.batch_join([[x]], 2), WHOLE),
        caught(lambda: tf.train.shuffle_batch([x], 2, 10, 1), WHOLE),
        caught(lambda: tf.train.shuffle_batch_join([[x]], 2, 10, 1), WHOLE),
    )


def not_fully_known(tf):
    x = tf.placeholder(tf.float32, [None], name="x")
    return (
        caught(lambda: tf.train.batch([x], 2), WHOLE),
        caught(lambda: tf.train.batch_join([[x]], 2), WHOLE),
        caught(lambda: tf.train.shuffle_batch([x], 2, 10, 1), WHOLE),
        caught(lambda: tf.train.batch([tf.placeholder(tf.int32, [])], 2, enqueue_many=True), WHOLE),
    )


def nothing_to_batch(tf):
    return (
        caught(lambda: tf.train.batch([], 2), WHOLE),
        caught(lambda: tf.train.batch({}, 2), WHOLE),
        caught(lambda: tf.train.batch_join([], 2), WHOLE),
        caught(lambda: tf.train.batch_join([[]], 2), WHOLE),
        caught(lambda: tf.train.shuffle_batch([], 2, 10, 1), WHOLE),
        caught(lambda: tf.train.shuffle_batch_join([], 2, 10, 1), WHOLE),
        caught(lambda: tf.train.shuffle_batch_join([{}], 2, 10, 1), WHOLE),
    )


def joins_that_do_not_fit(tf):
    a, f = tf.constant(1), tf.constant(1.0)
    s = tf.SparseTensor([[0]], [1], [2])
    return (
        caught(lambda: tf.train.batch_join([[a], [f]], 2), WHOLE),
        caught(lambda: tf.train.batch_join([[a, f], [f, a]], 2), WHOLE),
        caught(lambda: tf.train.batch_join([[a], [a, a]], 2), WHOLE),
        caught(lambda: tf.train.batch_join([{"x": a}, {"y": a}], 2), WHOLE),
        caught(lambda: tf.train.batch_join([{"x": a}, [a]], 2), WHOLE),
        caught(lambda: tf.train.batch_join([[s], [a]], 2), WHOLE),
        caught(lambda: tf.train.batch_join([[a], [s]], 2), WHOLE),
        caught(lambda: tf.train.shuffle_batch_join([[a], [f]], 2, 10, 1), WHOLE),
    )


def kinds_of_keep_input(tf):
    a, v = tf.constant(1), tf.constant([1, 2])
    some = tf.placeholder(tf.bool)
    return (
        caught(lambda: tf.train.maybe_batch([a], [True, False], 2), WHOLE),
        caught(lambda: tf.train.maybe_batch([a], some, 2), WHOLE),
        caught(lambda: tf.train.maybe_batch([v], [[True, False]], 2, enqueue_many=True), WHOLE),
        caught(lambda: tf.train.maybe_batch([v], [True, False], 2, enqueue_many=True), WHOLE),
        caught(lambda: tf.train.maybe_batch([v], np.array([True, False]), 2, enqueue_many=True), WHOLE),
        caught(lambda: tf.train.maybe_batch([v], True, 2, enqueue_many=True), WHOLE),
        caught(lambda: tf.train.maybe_batch([a], 1, 2), WHOLE),
        caught(lambda: tf.train.maybe_shuffle_batch([a], 2, 10, 1, [True]), WHOLE),
        caught(lambda: tf.train.maybe_batch_join([[a]], [True], 2), WHOLE),
        caught(lambda: tf.train.maybe_shuffle_batch_join([[a]], 2, 10, 1, [True]), WHOLE),
    )


def shuffle_needs_room(tf):
    a = tf.constant(1)
    return (
        caught(lambda: tf.train.shuffle_batch([a], 2, 10, 10), WHOLE),
        caught(lambda: tf.train.shuffle_batch([a], 2, 10, 20), WHOLE),
        caught(lambda: tf.train.shuffle_batch_join([[a]], 2, 5, 6), WHOLE),
    )


def shapes_given_do_not_fit(tf):
    a = tf.constant([1, 2])
    return (
        caught(lambda: tf.train.batch([a], 2, shapes=[[3]]), WHOLE),
        caught(lambda: tf.train.batch([a], 2, shapes=[[2], [2]]), WHOLE),
        caught(lambda: tf.train.batch([a], 2, shapes=[]), WHOLE),
        caught(lambda: tf.train.batch([a, a], 2, shapes=[[2]]), WHOLE),
        caught(lambda: tf.train.batch([a], 2, shapes=[2]), WHOLE),
        caught(lambda: tf.train.batch([a], 2, shapes=[[None]], dynamic_pad=True), WHOLE),
    )


def what_is_returned(tf):
    a = tf.constant(1)
    made = [
        tf.train.batch([a], 2),
        tf.train.batch((a, a), 2),
        tf.train.batch([a, a], 2),
        tf.train.batch({"x": a}, 2),
        tf.train.batch({"x": a, "y": a}, 2),
        tf.train.batch_join([(a,), (a,)], 2),
        tf.train.batch_join([{"x": a}, {"x": a}], 2),
        tf.train.shuffle_batch({"b": a, "a": a}, 2, 10, 1),
        tf.train.batch(a, 2) if False else None,
    ]
    return [sorted(m) if isinstance(m, dict) else type(m).__name__ for m in made]


def inputs_that_are_no_tensors(tf):
    b = tf.train.batch([1, "a", [1.0, 2.0], np.int64(3)], 2)
    return static(*b)


def sparse_static(tf):
    s = tf.SparseTensor(tf.placeholder(tf.int64, [None, 2]), tf.placeholder(tf.string, [None]), tf.placeholder(tf.int64, [2]))
    t = tf.sparse_placeholder(tf.float32)
    out = []
    for x, more in ((s, {}), (t, {}), (s, {"enqueue_many": True})):
        b = tf.train.batch([x], 3, **more)
        out.append(static(b.indices, b.values, b.dense_shape))
    return out
