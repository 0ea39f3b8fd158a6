"""Parts of `tf.contrib` that are methods of numerics: solvers, expectations, kernels, reversible layers."""

import numpy as np

from programs.inner_modules import module
from programs.raised import WHOLE, caught

MATRIX = np.random.RandomState(1).randn(5, 3)


def _run(tf, fetches):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches)


def conjugate_gradients(tf):
    solvers = tf.contrib.solvers
    square = tf.constant(MATRIX.T.dot(MATRIX))
    operator = solvers.util.create_operator(square)
    rhs = tf.constant([1.0, 2.0, 3.0], tf.float64)
    found = [solvers.linear_equations.conjugate_gradient(operator, rhs, tol=tol, max_iter=n) for tol, n in ((1e-4, 1), (1e-4, 2), (1e-12, 20))]
    near = solvers.util.create_operator(tf.matrix_diag(1 / tf.matrix_diag_part(square)))
    found.append(solvers.linear_equations.conjugate_gradient(operator, rhs, near, x=rhs))
    found.append(solvers.linear_equations.conjugate_gradient(operator, rhs, solvers.util.identity_operator(square), max_iter=2))
    return [[f.i, np.round(f.x, 6), np.round(f.r, 4)] for f in _run(tf, found)]


def least_squares(tf):
    solvers = tf.contrib.solvers
    operator = solvers.util.create_operator(tf.constant(MATRIX))
    found = [solvers.least_squares.cgls(operator, tf.range(5, dtype=tf.float64), tol=tol, max_iter=n) for tol, n in ((1e-4, 1), (1e-4, 2), (1e-9, 20))]
    return [[f.i, np.round(f.x, 5), np.round(f.r, 4)] for f in _run(tf, found)]


def bidiagonal_matrices(tf):
    lanczos, util = tf.contrib.solvers.lanczos, tf.contrib.solvers.util
    operator = util.create_operator(tf.constant(MATRIX))
    start = tf.range(5, dtype=tf.float64)
    found = [lanczos.lanczos_bidiag(operator, k, whole, start) for k, whole in ((3, True), (2, False), (tf.constant(2), True))]
    by = [lanczos.bidiag_matmul(tf.constant(MATRIX), np.array([1.0, 2.0]), np.array([3.0, 4.0])), lanczos.bidiag_matmul(tf.constant(MATRIX), np.array([1.0, 2.0, 3.0]), np.array([3.0, 4.0, 5.0]), True)]
    drawn = lanczos.lanczos_bidiag(util.create_operator(tf.constant(MATRIX.astype(np.float32))), 2)
    shapes = [(str(x.shape), x.dtype.name) for x in drawn]
    return [[np.round(x, 5) for x in f] for f in _run(tf, found)], _run(tf, by), shapes


def norms(tf):
    util = tf.contrib.solvers.util
    v = tf.range(5, dtype=tf.float64)
    made = [util.l2norm(v), util.l2norm_squared(tf.constant(MATRIX)), util.dot(v, v), *util.l2normalize(v)]
    return [str(x.shape) for x in made], _run(tf, made), util.create_operator(tf.constant(MATRIX)).shape


def expectations(tf):
    monte_carlo = tf.contrib.bayesflow.monte_carlo
    mean = tf.constant(0.5)
    q, p = tf.distributions.Normal(mean, 2.0), tf.distributions.Normal(0.0, 1.0)
    z = tf.constant([0.1, -2.0, 3.0, 0.5])
    ratios = [
        monte_carlo.expectation_importance_sampler(tf.square, p.log_prob, q, z=z),
        monte_carlo.expectation_importance_sampler(tf.identity, p.log_prob, q, z=z),
        monte_carlo.expectation_importance_sampler_logspace(lambda z: tf.log(tf.square(z)), p.log_prob, q, z=z),
    ]
    pairs = tf.reshape(z, [2, 2])
    means = [monte_carlo.expectation(tf.square, pairs, q.log_prob, use_reparametrization=way, axis=axis, keep_dims=keep) for way in (True, False) for axis in (0, [0, 1]) for keep in (True, False)]
    wrong = [
        caught(lambda: monte_carlo.expectation(1, 2.0), WHOLE),
        caught(lambda: monte_carlo.expectation(tf.square, 2.0, use_reparametrization=False), WHOLE),
        caught(lambda: monte_carlo.expectation_importance_sampler(tf.square, None, None), WHOLE),
        caught(lambda: monte_carlo.expectation_importance_sampler(tf.square, None, None, z=1, n=2), WHOLE),
    ]
    return _run(tf, ratios + means), _run(tf, [tf.gradients(x, mean)[0] for x in means[4:]]), wrong


def kernels(tf):
    mapper = tf.contrib.kernel_methods.RandomFourierFeatureMapper(2, 5, 2.0, seed=4, name="m")
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    wrong = [caught(lambda: mapper.map(tf.ones(shape)), WHOLE) for shape in ([3], [2, 3], [2, 2, 2])]
    return _run(tf, mapper.map(x)), mapper.name, mapper.input_dim, mapper.output_dim, wrong


def hinge_of_several_classes(tf):
    of = tf.contrib.kernel_methods.sparse_multiclass_hinge_loss
    labels, logits = tf.constant([0, 2, 1]), tf.constant([[1.0, 2.0, 0.0], [0.5, 0.25, 0.1], [3.0, 1.0, 2.0]])
    losses = [of(labels, logits, weights=w, reduction=r) for w in (1.0, [1.0, 0.0, 2.0], [[1.0], [0.0], [2.0]]) for r in tf.losses.Reduction.all()]
    wide = of(tf.expand_dims(tf.cast(labels, tf.int64), 1), tf.cast(logits, tf.float64))
    fed = of(tf.placeholder_with_default(labels, [None]), tf.placeholder_with_default(logits, [None, 3]), loss_collection="mine")
    by = tf.gradients(wide, logits)
    wrong = [caught(lambda: of(labels, logits[0]), WHOLE)]
    return _run(tf, losses + [wide, fed] + by), len(tf.get_collection("losses")), len(tf.get_collection("mine")), wrong


def periodic(tf):
    resample = module(tf, "contrib.periodic_resample").periodic_resample
    cases = (((2, 2, 4), [4, 4, None]), ((2, 2, 4), [2, None, 4]), ((2, 2, 4), [None, 4, 4]), ((2, 3, 8), [3, 5, None]), ((5,), [None]), ((3, 4, 5), [4, None, 6]))
    made = [resample(tf.reshape(tf.range(int(np.prod(shape))), shape), to) for shape, to in cases]
    x = tf.reshape(tf.range(16.0), [2, 2, 4])
    by = tf.gradients(resample(x, [4, 3, None]) * tf.reshape(tf.range(12.0), [4, 3, 1]), x)
    refused = (((2, 3, 8), [4, None, 4]), ((2, 2, 4), [None, None, 1]), ((2, 2, 4), [8, 8]), ((2, 2, 2), [3, 4, 5]))
    wrong = [caught(lambda: _run(tf, resample(tf.zeros(shape), to)), "periodic_resample expects") for shape, to in refused]
    return [str(m.shape) for m in made], _run(tf, made + by), wrong


def records_of_libsvm(tf):
    decode = module(tf, "contrib.libsvm").decode_libsvm
    first = decode(["1 1:3.5 2:0.5 4:0.25", "1 2:2.5 0:4.25", "-2"], 5)
    second = decode([["1  1:3.5  2:0.5"], ["0 2:2.5 "]], num_features=3, dtype=tf.float64, label_dtype=tf.int32)
    third = decode(["1.5 0:-1e3"], num_features=3, label_dtype=tf.float32)
    wrong = [caught(lambda: _run(tf, list(decode([text], 5)))) for text in ("x 7:3.4", "1 73.4", "1 1:a", "", "1 b:2")]
    return _run(tf, [first, second, third]), wrong


def reversible_layers(tf):
    def f(x):
        return tf.layers.dense(x, 3)

    def g(x, sides):
        return tf.layers.dense(x, 3) + sides[0]

    out = []
    for again in (True, False):
        with tf.Graph().as_default():
            x = tf.constant(np.random.RandomState(0).randn(4, 6).astype(np.float32))
            x1, x2 = tf.split(x, 2, 1)
            side = tf.ones([3])
            with tf.variable_scope("a", initializer=tf.constant_initializer(0.3)):
                y1, y2 = tf.contrib.layers.rev_block(x1, x2, f, g, num_layers=2, g_side_input=[side], is_training=again)
            by = tf.gradients(tf.reduce_mean(y1 + 10 * y2), [x1, x2, side] + tf.trainable_variables())
            names = [v.name for v in tf.trainable_variables()]
            out.append([names, [np.round(v, 3) for v in _run(tf, [y1, y2] + by)]])
    with tf.Graph().as_default():
        block = tf.contrib.layers.RevBlock([f, tf.square], tf.sin, num_layers=2, name="b")
        y = block.forward(tf.ones([2, 3]), tf.ones([2, 3]))
        x = block.backward(*y)
        out.append([[v.name for v in block.variables], isinstance(block, tf.layers.Layer), [np.round(v, 3) for v in _run(tf, x)]])
    return out
