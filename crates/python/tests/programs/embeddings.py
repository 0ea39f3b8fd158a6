"""Embedding lookups: one table or partitions, sparse ids, weights."""

from programs.tools import caught, run, static


def _table(tf):
    return tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])


def _dealt(tf):
    return [tf.constant([[0.0, 1.0], [2.0, 3.0]]), tf.constant([[4.0, 5.0], [6.0, 7.0]]), tf.constant([[8.0, 9.0]])]


def _ids(tf):
    return tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, 3, 0], tf.int64), [4, 3])


def _weights(tf):
    return tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [0.5, 2.0, 3.0], [4, 3])


def of_several(tf):
    lookup = tf.nn.embedding_lookup
    ways = [lookup(_dealt(tf), [[4, 3], [1, 0]]), lookup(_dealt(tf), [4, 3, 1, 0], partition_strategy="div"), lookup(_table(tf), [3, 0]), lookup([_table(tf)], 2)]
    return static(*ways), run(tf, ways)


def of_variables(tf):
    parts = [tf.Variable(t, name="p%d" % i, use_resource=i == 1) for i, t in enumerate(_dealt(tf))]
    y = tf.nn.embedding_lookup(parts, [4, 3, 4])
    grads = tf.gradients(tf.reduce_sum(y * y), parts)
    return run(tf, [y] + [tf.convert_to_tensor(g) for g in grads])


def limited_norms(tf):
    lookup = tf.nn.embedding_lookup
    return run(tf, [lookup(_table(tf), [1, 0], max_norm=1.0), lookup(_dealt(tf), [1, 0], max_norm=2.0)])


def misused(tf):
    lookup = tf.nn.embedding_lookup
    return (
        caught(lambda: lookup(_dealt(tf), [4], partition_strategy="x"), "Unrecognized partition strategy: x"),
        caught(lambda: lookup([], [4]), "Need at least one param"),
        caught(lambda: lookup(None, [4]), "params must be specified"),
    )


def sparse_combined(tf):
    out = []
    for combiner in ("mean", "sum", "sqrtn"):
        for weights in (None, _weights(tf)):
            out.append(tf.nn.embedding_lookup_sparse(_table(tf), _ids(tf), weights, combiner=combiner))
    out.append(tf.nn.embedding_lookup_sparse(_table(tf), _ids(tf), _weights(tf), combiner="sum", max_norm=1.0))
    out.append(tf.nn.embedding_lookup_sparse(_dealt(tf), _ids(tf), None, combiner="sum", partition_strategy="div"))
    return static(*out), run(tf, out)


def sparse_misused(tf):
    lookup = tf.nn.embedding_lookup_sparse
    return (
        caught(lambda: lookup(_table(tf), _ids(tf), None, combiner="sums"), "combiner must be one of 'mean', 'sqrtn' or 'sum'"),
        caught(lambda: lookup(_table(tf), [1], None, combiner="sum"), "sp_ids must be SparseTensor"),
        caught(lambda: lookup(_table(tf), _ids(tf), [1], combiner="sum"), "sp_weights must be either None or SparseTensor"),
    )


def sparse_safely(tf):
    bad = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, -3, 0], tf.int64), [4, 3])
    lookup = tf.nn.safe_embedding_lookup_sparse
    return run(tf, [lookup([_table(tf)], bad, _weights(tf)), lookup([_table(tf)], bad, default_id=2), lookup([_table(tf)], bad, combiner="sum")])


def sparse_gradients(tf):
    table = tf.Variable(_table(tf))
    y = tf.nn.embedding_lookup_sparse(table, _ids(tf), _weights(tf), combiner="sum")
    return run(tf, tf.convert_to_tensor(tf.gradients(tf.reduce_sum(y * y), table)[0]))
