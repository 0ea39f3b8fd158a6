"""Partitioned variables: names of parts, reuse, and refusals."""

from programs.tools import WHOLE, caught, inside


def names(tf):
    made = [tf.create_partitioned_variables([4, 2], [2, 1], tf.zeros_initializer(), name=name) for name in ("w", None, None)]
    return [[v.op.name for v in parts] for parts in made], [v._get_save_slice_info().full_name for parts in made for v in parts]


def names_in_scopes(tf):
    with tf.variable_scope("s"):
        parts = tf.create_partitioned_variables([4, 2], [1, 2], tf.zeros_initializer(), name="w")
        with tf.name_scope("n"):
            more = tf.create_partitioned_variables([4, 2], [1, 2], tf.zeros_initializer())
    return [v.name for v in parts + more]


def nodes(tf):
    tf.create_partitioned_variables([4, 2], [2, 1], tf.zeros_initializer(), name="w")
    return [o.name for o in tf.get_default_graph().get_operations()]


def refusals_of_slices(tf):
    make = lambda *a, **k: caught(lambda: tf.create_partitioned_variables(*a, tf.zeros_initializer(), **k), WHOLE)  # noqa: E731
    return make([4, 2], [2]), make([4, 2], [2, 2]), make([4], [2], reuse=True)


def _scope(tf, function, **settings):
    with tf.variable_scope(tf.get_variable_scope(), **settings):
        return caught(function, WHOLE)


def reuse(tf):
    cut = tf.fixed_size_partitioner
    p = tf.get_variable("p", [4], partitioner=cut(2))
    tf.get_variable("q", [4])
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        same = tf.get_variable("p", [4], partitioner=cut(2)) is p
    again = lambda *a, **k: _scope(tf, lambda: tf.get_variable(*a, **k), reuse=True)  # noqa: E731
    return {
        "same": same,
        "partitions": again("p", [4], partitioner=cut(3)),
        "shape": again("p", [5], partitioner=cut(2)),
        "dtype": again("p", [4], tf.float64, partitioner=cut(2)),
        "whole": again("p", [4]),
        "new whole": caught(lambda: tf.get_variable("p", [4]), WHOLE),
        "not cut": again("q", [4], partitioner=cut(2)),
        "twice": caught(lambda: tf.get_variable("p", [4], partitioner=cut(2)), WHOLE),
    }


def refusals_of_partitioners(tf):
    results = [[3, 2], [0, 1], [1], 3, [], (2, 1), [1, 2]]
    return [caught(lambda: tf.get_variable("p%d" % i, [4, 2], partitioner=lambda shape, dtype: r), WHOLE) for i, r in enumerate(results)]


def shapes_to_cut(tf):
    cut = tf.fixed_size_partitioner(2)
    return [caught(lambda: tf.get_variable("p%d" % i, shape, partitioner=cut), WHOLE) for i, shape in enumerate(([], None, [None], [1]))]


def axes_of_partitioners(tf):
    shape = tf.TensorShape
    return [
        caught(lambda: tf.min_max_variable_partitioner(4, 7, 1)(shape=shape([4, 5]), dtype=tf.float32), WHOLE),
        caught(lambda: tf.variable_axis_size_partitioner(16)(shape=[4], dtype=tf.float32), WHOLE),
    ]


def made_by_hand(tf):
    variables = inside("python.ops.variables")

    make = lambda *a: caught(lambda: variables.PartitionedVariable("a", [2], tf.float32, *a), WHOLE)  # noqa: E731
    return make([], [1]), make(3, [1]), make([tf.Variable(1.0)], [1]), make([tf.Variable([1.0])], 3)
