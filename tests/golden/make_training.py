"""Writes training.json: the nodes and results of TensorFlow 1.15's variables, optimizers, clipping and
schedules.

Run with TensorFlow 1.15: `python make_training.py`. The test `training` of crates/millstream builds the same
programs. Graphs are lists of `name op input,input ^control`, in the order of making. Numbers are float32.
"""

import json
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402
from tensorflow.contrib.opt import AdamWOptimizer  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)
HERE = os.path.dirname(os.path.abspath(__file__))


def numbers(value):
    return [float(v) for v in np.asarray(value).reshape(-1)]


def nodes(graph):
    lines = []
    for op in graph.get_operations():
        line = [op.name, op.type, ",".join(t.name for t in op.inputs) or "-"]
        line += sorted("^" + c.name for c in op.control_inputs)
        lines.append(" ".join(line))
    return lines


OPTIMIZERS = {
    "gradient_descent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "rms_prop": lambda: tf.train.RMSPropOptimizer(0.1, 0.9, 0.5, 1e-8),
    "centered_rms_prop": lambda: tf.train.RMSPropOptimizer(0.1, 0.9, 0.5, 1e-8, centered=True),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "adam_w": lambda: AdamWOptimizer(0.01, 0.1),
}


def optimizers():
    """Five steps with fed gradients, dense and as rows (one of them twice)."""
    out = {}
    for name, make in OPTIMIZERS.items():
        for kind in ("ref", "resource"):
            for sparse in (False, True):
                case = "%s_%s_%s" % (name, kind, "sparse" if sparse else "dense")
                rng = np.random.RandomState(len(case))
                with tf.Graph().as_default() as graph, tf.Session() as sess:
                    first = rng.randn(4, 2).astype(np.float32)
                    w = tf.get_variable("layer/w", initializer=tf.constant(first), use_resource=kind == "resource")
                    grad = tf.placeholder(tf.float32, [3, 2] if sparse else [4, 2], name="grad")
                    given = tf.IndexedSlices(grad, tf.constant([2, 0, 2]), tf.constant([4, 2])) if sparse else grad
                    step = tf.train.create_global_step()
                    train = make().apply_gradients([(given, w)], global_step=step)
                    listed = nodes(graph)
                    sess.run(tf.global_variables_initializer())
                    names = [v.op.name for v in tf.global_variables()]
                    fed, seen = [], []
                    for _ in range(5):
                        value = rng.randn(*grad.shape.as_list()).astype(np.float32)
                        sess.run(train, {grad: value})
                        fed.append(numbers(value))
                        seen.append([numbers(v) for v in sess.run(tf.global_variables())])
                    out[case] = {"first": numbers(first), "nodes": listed, "variables": names, "grads": fed, "values": seen}
    return out


def regression():
    """A line fitted by `minimize`, with all its nodes."""
    out = {}
    x = np.float32([[1, 2], [3, -1], [0.5, 0], [-2, 1]])
    y = np.float32([[1], [2], [0], [-1]])
    for name, make in OPTIMIZERS.items():
        for kind in ("ref", "resource"):
            # The decay may run before or after the gradient is computed.
            if name == "adam_w":
                continue
            with tf.Graph().as_default(), tf.Session() as sess:
                with tf.variable_scope("net", use_resource=kind == "resource"):
                    w = tf.get_variable("w", [2, 1], initializer=tf.constant_initializer(0.5))
                    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
                loss = tf.reduce_sum(tf.square(tf.matmul(tf.constant(x), w) + b - tf.constant(y))) * 0.25
                step = tf.train.get_or_create_global_step()
                train = make().minimize(loss, global_step=step)
                sess.run(tf.global_variables_initializer())
                losses = []
                for _ in range(5):
                    sess.run(train)
                    losses.append(float(sess.run(loss)))
                variables = tf.global_variables()
                out["%s_%s" % (name, kind)] = {
                    "variables": [v.op.name for v in variables], "losses": losses,
                    "values": [numbers(v) for v in sess.run(variables)],
                }
    return out


INITIALIZERS = {
    "zeros": (tf.zeros_initializer(), [2, 3]),
    "many_zeros": (tf.zeros_initializer(), [50, 30]),
    "ones": (tf.ones_initializer(), [3]),
    "constant": (tf.constant_initializer(2.5), [2, 2]),
    "constants": (tf.constant_initializer([1.0, 2.0, 3.0, 4.0]), [2, 2]),
    "random_uniform": (tf.random_uniform_initializer(-2.0, 3.0, seed=5), [2, 3]),
    "random_normal": (tf.random_normal_initializer(1.0, 2.0, seed=5), [2, 3]),
    "truncated_normal": (tf.truncated_normal_initializer(1.0, 2.0, seed=5), [2, 3]),
    "glorot_uniform": (tf.glorot_uniform_initializer(seed=3), [4, 5]),
    "glorot_normal": (tf.glorot_normal_initializer(seed=3), [4, 5]),
    "he_uniform": (tf.initializers.he_uniform(seed=3), [3, 3, 2, 4]),
    "he_normal": (tf.initializers.he_normal(seed=3), [4, 5]),
    "lecun_uniform": (tf.initializers.lecun_uniform(seed=3), [7]),
    "lecun_normal": (tf.initializers.lecun_normal(seed=3), [4, 5]),
    "scaled_normal": (tf.variance_scaling_initializer(1.5, "fan_out", "untruncated_normal", seed=3), [4, 5]),
    "identity": (tf.initializers.identity(2.0), [3, 3]),
    "wide_identity": (tf.initializers.identity(2.0), [2, 3]),
    "default": (None, [4, 5]),
}


def initializers():
    out = {}
    for name, (initializer, shape) in INITIALIZERS.items():
        for kind in ("ref", "resource"):
            with tf.Graph().as_default() as graph, tf.Session() as sess:
                tf.set_random_seed(11)
                v = tf.get_variable("v", shape, initializer=initializer, use_resource=kind == "resource")
                listed = nodes(graph)
                sess.run(v.initializer)
                out["%s_%s" % (name, kind)] = {"nodes": listed, "value": numbers(sess.run(v))}
    return out


def scopes():
    """The names of variables and nodes, for every way to enter a scope."""
    with tf.Graph().as_default() as graph:
        def var(name="v"):
            return tf.get_variable(name, [2], initializer=tf.zeros_initializer(), use_resource=False)

        def node():
            return tf.constant(1.0, name="c")

        var(), node()
        with tf.variable_scope("a") as a:
            var(), node()
            with tf.variable_scope("b"):
                var(), node()
            with tf.variable_scope(None, default_name="d"):
                var(), node()
            with tf.variable_scope(None, default_name="d"):
                var(), node()
        with tf.name_scope("n"):
            var("in_name_scope")
            with tf.variable_scope("a", reuse=True):
                var(), node()
            with tf.variable_scope(a, reuse=tf.AUTO_REUSE):
                var(), var("new"), node()
                with tf.variable_scope(None, default_name="d"):
                    var(), node()
        with tf.variable_scope("a/x/y"):
            var(), node()
        with tf.variable_scope(a, auxiliary_name_scope=False):
            var("plain"), node()
        with tf.variable_scope("r", regularizer=lambda w: tf.reduce_sum(w * w)):
            var()
        with tf.variable_scope("r", reuse=True, regularizer=lambda w: tf.reduce_sum(w * w)):
            var()
        losses = [loss.name for loss in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)]
        result = {"nodes": nodes(graph), "losses": losses}

        def refused(build):
            try:
                build()
            except ValueError as e:
                return str(e).split(" Originally defined")[0]
        with tf.variable_scope("a") as scope:
            errors = [refused(var)]
        with tf.variable_scope("a", reuse=True):
            errors.append(refused(lambda: var("missing")))
            errors.append(refused(lambda: tf.get_variable("v", [3])))
            errors.append(refused(lambda: tf.get_variable("v", [2], tf.float64)))
        errors.append(refused(lambda: tf.get_variable("c", [2], tf.complex64)))
        result["errors"] = errors
        return result


def schedules():
    steps = list(range(0, 31, 3))
    cases = {
        "exponential": lambda s: tf.train.exponential_decay(0.1, s, 10, 0.9),
        "staircase": lambda s: tf.train.exponential_decay(0.1, s, 10, 0.9, staircase=True),
        "natural_exp": lambda s: tf.train.natural_exp_decay(0.1, s, 10, 0.5),
        "inverse_time": lambda s: tf.train.inverse_time_decay(0.1, s, 10, 0.5),
        "polynomial": lambda s: tf.train.polynomial_decay(0.1, s, 20, 0.01, power=2.0),
        "cycle": lambda s: tf.train.polynomial_decay(0.1, s, 10, 0.01, power=0.5, cycle=True),
        "cosine": lambda s: tf.train.cosine_decay(0.1, s, 20, alpha=0.1),
        "piecewise": lambda s: tf.train.piecewise_constant(s, [6, 15], [0.1, 0.05, 0.01]),
    }
    out = {}
    for name, make in cases.items():
        with tf.Graph().as_default(), tf.Session() as sess:
            step = tf.placeholder(tf.int32, [])
            rate = make(step)
            out[name] = [float(sess.run(rate, {step: s})) for s in steps]
    return {"steps": steps, "rates": out}


def clips():
    out = {}
    rng = np.random.RandomState(1)
    a, b = (rng.randn(3, 2) * 3).astype(np.float32), rng.randn(4).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        pa, pb = tf.placeholder(tf.float32, [3, 2]), tf.placeholder(tf.float32, [4])
        ops = {
            "value": tf.clip_by_value(pa, -1.0, 2.0), "norm": tf.clip_by_norm(pa, 1.5), "norm_small": tf.clip_by_norm(pa, 100.0),
            "average": tf.clip_by_average_norm(pa, 0.1), "global_norm": tf.global_norm([pa, None, pb]),
        }
        clipped, own = tf.clip_by_global_norm([pa, None, pb], 2.0)
        ops.update(global_a=clipped[0], global_b=clipped[2], own=own)
        inputs = {"plain": (a, b), "zeros": (a * 0, b * 0), "inf": (a, b * np.inf), "nan": (a * np.nan, b)}
        for case, (va, vb) in inputs.items():
            got = sess.run(ops, {pa: va, pb: vb})
            out[case] = {"a": text(va), "b": text(vb), "values": {k: text(v) for k, v in got.items()}}
    return out


def text(value):
    """A number as text, since JSON has no NaN."""
    return [str(v) for v in numbers(value)]


def main():
    result = {
        "optimizers": optimizers(), "regression": regression(), "initializers": initializers(), "scopes": scopes(),
        "schedules": schedules(), "clips": clips(),
    }
    with open(os.path.join(HERE, "training.json"), "w") as f:
        json.dump(result, f, indent=0, sort_keys=True)
        f.write("\n")


if __name__ == "__main__":
    main()
