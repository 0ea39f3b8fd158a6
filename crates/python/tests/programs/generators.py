"""Generators of random numbers whose state is a variable."""

import numpy as np

from programs.tools import caught, run


def _of_seed(tf, seed=5):
    return tf.random.experimental.Generator.from_seed(seed)


def draws(tf):
    g = _of_seed(tf)
    made = [
        g.uniform([3]),
        g.uniform([2, 2], -1.0, 3.0, tf.float64),
        g.uniform([], 2, 100, tf.int32),
        g.normal([5], 1.0, 2.0),
        g.normal([2], dtype=tf.float16, name="mine"),
        g.truncated_normal([3], mean=-1.0),
        g.uniform_full_int([3]),
        g.uniform_full_int([2], tf.int32),
        g.make_seeds(2),
    ]
    found = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for y in made + made[:2]:
            found.append([sess.run(y), sess.run(g.state)])
        found.append(sess.run(g.key))
    return found, [y.op.name for y in made], [y.op.type for y in made], [y.shape.as_list() for y in made]


def states(tf):
    e = tf.random.experimental
    made = [
        e.Generator.from_state([1, 2, 3], 1),
        e.Generator.from_key_counter(5, [7, 2**64 - 1], 1),
        e.Generator.from_seed([2**63, 4], alg=1),
        e.Generator.from_seed(2**64 * 3 + 7),
    ]
    copy = e.Generator(copy_from=made[0])
    made_at_random = e.Generator.from_non_deterministic_state()
    e.set_global_generator(made[1])
    same = e.get_global_generator() is made[1]
    # A run that reads a state and draws does either first.
    values = run(tf, [g.state for g in made]), run(tf, [g.uniform([2]) for g in made])
    return values, [g.algorithm for g in made], same, made_at_random.state.shape.as_list(), copy.state.dtype.name, e.create_rng_state([1], 1), e.create_rng_state([1, 2, 3, 4], 1), e.create_rng_state(9, 2)


def raw(tf):
    state = tf.Variable(np.array([-1, 3, -5]), use_resource=True)
    h, r = state.handle, tf.raw_ops
    made = [
        r.StatefulUniform(resource=h, algorithm=1, shape=[5], dtype=tf.float16),
        r.StatefulUniform(resource=h, algorithm=1, shape=[2], dtype=tf.float64),
        r.StatefulStandardNormalV2(resource=h, algorithm=1, shape=[3], dtype=tf.float64),
        r.StatefulTruncatedNormal(resource=h, algorithm=1, shape=[30]),
        r.StatefulUniformInt(resource=h, algorithm=1, shape=[3], minval=np.int64(-7), maxval=np.int64(2**40)),
        r.StatefulUniformFullInt(resource=h, algorithm=1, shape=[3], dtype=tf.uint32),
        r.RngSkip(resource=h, algorithm=1, delta=7),
        r.RngSkip(resource=h, algorithm=1, delta=-1000),
        r.StatefulUniform(resource=h, algorithm=1, shape=[0]),
    ]
    found = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for y in made:
            found.append([sess.run(y), sess.run(state)])
    return found, r.NonDeterministicInts(shape=[2, 3]).shape.as_list(), made[3].dtype.name


def mistakes(tf):
    def at(state, algorithm=1, shape=(2,), dtype=np.int64):
        return run(tf, tf.raw_ops.StatefulUniform(resource=tf.Variable(np.array(state, dtype), use_resource=True).handle, algorithm=algorithm, shape=list(shape)))

    e = tf.random.experimental
    g = _of_seed(tf)
    return [
        caught(lambda: at([1, 2]), "For the Philox algorithm, the size of state must be at least 3; got 2"),
        caught(lambda: at([[1, 2, 3]]), "RNG state must have one and only one dimension, not 2"),
        caught(lambda: at([1, 2, 3], 2), "Unsupported algorithm id: 2"),
        caught(lambda: at([1, 2, 3], dtype=np.float32), "dtype of RNG state variable must be int64, not float"),
        caught(lambda: e.Generator.from_state([1, 2], 1)),
        caught(lambda: e.Generator.from_seed(1, alg=7), "Unsupported algorithm id: 7"),
        caught(lambda: g.uniform([2], dtype=tf.int32), "Must specify maxval for integer dtype tf.int32"),
        caught(lambda: run(tf, g.uniform([2], 5, 5, tf.int32)), "Need minval < maxval, got 5 >= 5"),
    ]
