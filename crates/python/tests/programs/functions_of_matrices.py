"""Functions of matrices, least squares of any rank, sets of strings and other ops on rows."""

import numpy as np

from programs.tools import caught, run


def roots_and_logarithms(tf):
    a = tf.constant([[4.0, 1.0, 0.5], [0.25, 3.0, -1.0], [1.0, 0.5, 5.0]], tf.float64)
    root = tf.linalg.sqrtm(a)
    weights = tf.constant(np.arange(9.0).reshape(3, 3))
    slope = tf.gradients(tf.reduce_sum(root * weights), a)[0]
    log = tf.linalg.logm(tf.cast(a, tf.complex128))
    return run(tf, [root, tf.matmul(root, root), slope, tf.real(log), tf.imag(log)]), root.op.type, log.op.type, root.shape.as_list()


def least_squares_of_any_rank(tf):
    a = tf.constant([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]], tf.float64)
    b = tf.constant([[1.0], [2.0], [4.0]], tf.float64)
    x = tf.linalg.lstsq(a, b, fast=False)
    y = tf.matrix_solve_ls(tf.transpose(a), b[:2], l2_regularizer=0.5, fast=False)
    return run(tf, [x, y]), x.op.type, x.shape.as_list()


def tridiagonal_products(tf):
    rhs = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    compact = tf.constant([[1.0, 2.0, 9.0], [4.0, 5.0, 6.0], [9.0, 7.0, 8.0]])
    made = [
        tf.linalg.tridiagonal_matmul(compact, rhs),
        tf.linalg.tridiagonal_matmul([compact[0], compact[1], compact[2]], rhs, diagonals_format="sequence"),
    ]
    return run(tf, made + tf.gradients(made[0] * made[0], [compact, rhs])), [m.op.type for m in made]


def singular_tridiagonal_systems(tf):
    solve = tf.linalg.tridiagonal_solve
    nothing = tf.constant([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    pivots = tf.constant([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    return [
        caught(lambda: run(tf, solve(nothing, tf.constant([1.0, 2.0, 3.0]))), "The matrix is not invertible."),
        caught(lambda: run(tf, solve(pivots, tf.constant([1.0, 2.0]), partial_pivoting=False)), "The matrix is either not invertible"),
    ]


def products_with_hints(tf):
    a, b = tf.constant([[1.0, 0.0], [0.0, 2.0]]), tf.constant([[1.0, 2.0], [3.0, 4.0]])
    made = [tf.matmul(a, b, a_is_sparse=True), tf.matmul(a, b, transpose_b=True, b_is_sparse=True), tf.sparse_matmul(a, b, transpose_a=True)]
    return run(tf, made + tf.gradients(made[1] * made[1], [a, b])), [m.op.type for m in made]


def sets_of_strings(tf):
    a, b = tf.constant([["b", "a", ""], ["x", "x", "a"]]), tf.constant([["c", "a"], ["x", "y"]])
    made = [tf.sets.union(a, b), tf.sets.intersection(a, b), tf.sets.difference(a, b), tf.sets.difference(a, b, aminusb=False)]
    return run(tf, [[s.indices, s.values, s.dense_shape] for s in made])


def unsorted_sets(tf):
    bad = tf.SparseTensor([[0, 1], [0, 0]], [1, 2], [1, 2])
    return [caught(lambda: run(tf, tf.sets.size(bad)), "is out of order"), caught(lambda: run(tf, tf.sets.union(tf.constant([[1]]), bad).values), "is out of order")]


def fingerprints(tf):
    made = [tf.fingerprint(tf.constant([[1.0, 2.0], [3.0, 4.0]])), tf.fingerprint(["abc", ""])]
    return run(tf, made), [m.shape.as_list() for m in made]


def stacks_in_parallel(tf):
    made = tf.parallel_stack([tf.constant([1, 2]), tf.constant([3, 4])])
    return run(tf, made), made.op.type, made.shape.as_list()
