"""Scoped meta graphs, loops over independent iterations, and checks of gradients, of internal modules."""

import importlib

import numpy as np

from programs.raised import WHOLE, caught
from programs.tools import run, static


def _module(tf, path):
    """Returns the internal module `tensorflow.PATH` of the library under test."""
    if tf.__name__ == "tensorflow":
        return importlib.import_module("tensorflow." + path)
    modules = importlib.import_module("millstream.programs.modules")

    class Module:
        def __getattr__(self, name):
            return modules.attribute(path, name)

    return Module()


def scopes_of_graphs(tf):
    of = _module(tf, "python.framework.meta_graph")
    with tf.name_scope("out"):
        y = tf.constant(2.0, name="y")
    with tf.variable_scope("a"):
        w = tf.get_variable("w", initializer=3.0)
        tf.multiply(w, y, name="z")
    meta, variables = of.export_scoped_meta_graph(export_scope="a")
    inputs = [[n.name, list(n.input)] for n in meta.graph_def.node]
    made = of.import_scoped_meta_graph(meta, import_scope="c", input_map={"$unbound_inputs_out/y": y * 5.0})
    z = tf.get_default_graph().get_tensor_by_name("c/z:0")
    wrong = [
        caught(lambda: of.import_scoped_meta_graph(meta, import_scope="d"), WHOLE),
        caught(lambda: of.copy_scoped_meta_graph("a", "a"), WHOLE),
        caught(lambda: of.read_meta_graph_file("/nowhere/meta"), WHOLE),
    ]
    return inputs, sorted(meta.collection_def), {k: v.name for k, v in variables.items()}, {k: v.name for k, v in made.items()}, run(tf, z), wrong


def copies_of_scopes(tf):
    of = _module(tf, "python.framework.meta_graph")
    with tf.variable_scope("p"):
        u = tf.get_variable("u", initializer=[1.0, 2.0])
        tf.identity(u, name="i")
    made = of.copy_scoped_meta_graph("p", "q")
    graph = tf.get_default_graph()
    graph_def = graph.as_graph_def()
    return (
        {k: v.name for k, v in made.items()}, [v.name for v in tf.trainable_variables()], run(tf, graph.get_tensor_by_name("q/i:0")),
        sorted(of.ops_used_by_graph_def(graph_def)), [op.name for op in of.stripped_op_list_for_graph(graph_def).op],
    )  # fmt: skip


def independent_iterations(tf):
    of = _module(tf, "python.ops.parallel_for.control_flow_ops")
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    made = [
        of.for_loop(lambda i: tf.gather(x, i) * 2.0, tf.float32, 3),
        of.pfor(lambda i: tf.reduce_sum(tf.gather(x, i)), 3),
        of.vectorized_map(lambda row: tf.reduce_sum(row), x),
        tf.vectorized_map(lambda pair: (pair[0] + pair[1], tf.cast(pair[0], tf.int32)), (x, x)),
    ]
    return run(tf, made)


def jacobians(tf):
    of = _module(tf, "python.ops.parallel_for.gradients")
    x, y = tf.constant([1.0, 2.0]), tf.constant([[1.0], [2.0]])
    z = x * x * tf.reduce_sum(y)
    rows = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    wrong = caught(lambda: of.batch_jacobian(rows, tf.zeros([3, 2])), "Need first dimension of output")
    return run(tf, [of.jacobian(z, [x, y], use_pfor=False), of.batch_jacobian(rows * rows, rows, use_pfor=False)]), wrong


def checks_of_gradients(tf):
    of = _module(tf, "python.ops.gradient_checker_v2")
    a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, -1.0])
    with tf.Session():
        exact, near = of.compute_gradient(lambda x, y: tf.tensordot(x, y, 1) ** 2, [a, b])
        rows, near_rows = of.compute_gradient(lambda x: tf.gather(x, [1, 1, 0]), [a])
        complex_, _ = of.compute_gradient(lambda x: x * x, [np.array([1 + 2j])])
    wrong = caught(lambda: of.compute_gradient(lambda x: x, a))
    shapes = [e.shape for e in exact + near]
    return exact, shapes, bool(of.max_error(exact, near) < 1e-6), rows, bool(of.max_error(rows, near_rows) < 1e-6), complex_, float(of.max_error([a], [a + 0.5])), float(of.max_error([], [])), wrong


def second_flows(tf):
    cond, loop = _module(tf, "python.ops.cond_v2").cond_v2, _module(tf, "python.ops.while_v2").while_loop
    c = cond(tf.constant(True), lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    w = loop(lambda i: i < 5, lambda i: i + 2, [tf.constant(0)])
    return c.name, [x.name for x in w], static(c, *w), run(tf, [c, w])
