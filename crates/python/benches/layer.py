"""Measures the Python layer: `layer.py MODULE CASE N REPS` prints seconds per iteration as a JSON list.

Each repetition runs N iterations. `cargo xtask bench --case python_run` (and `python_build`) calls it with
`millstream` and, on request, with an interpreter that has TensorFlow 1.
"""

import importlib
import json
import sys
import time

import numpy as np


def repeated(work, reps):
    """Returns the seconds of each repetition, after two or more for half a second of warm-up."""
    begin = time.perf_counter()
    warm = 0
    while warm < 2 or time.perf_counter() - begin < 0.5:
        work()
        warm += 1
    times = []
    for _ in range(reps):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return times


def one_node(tf):
    """Builds a graph with one node that negates eight floats, and a session."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [8], name="x")
        y = tf.negative(x, name="y")
    return x, y, tf.Session(graph=graph)


def run(tf, n, reps):
    """Measures `Session.run` of one node with a small array as feed and fetch."""
    x, y, session = one_node(tf)
    value = np.arange(8, dtype=np.float32)
    feeds = {x: value}

    def work():
        for _ in range(n):
            out = session.run(y, feeds)
        assert (out == -value).all()

    return repeated(work, reps)


def call(tf, n, reps):
    """Measures the same with `make_callable`."""
    x, y, session = one_node(tf)
    value = np.arange(8, dtype=np.float32)
    function = session.make_callable(y, [x])

    def work():
        for _ in range(n):
            out = function(value)
        assert (out == -value).all()

    return repeated(work, reps)


def build(tf, n, reps):
    """Measures building a graph of `n` nodes, half of them constants from Python numbers."""

    def work():
        graph = tf.Graph()
        with graph.as_default():
            x = tf.placeholder(tf.float32, [])
            for _ in range(n // 2):
                x = x + 1.0
        assert len(graph.get_operations()) > n // 2

    return repeated(work, reps)


def build_ops(tf, n, reps):
    """Measures building a graph of `n` nodes whose inputs are all tensors."""

    def work():
        graph = tf.Graph()
        with graph.as_default():
            x = y = tf.placeholder(tf.float32, [])
            for _ in range(n):
                y = tf.add(y, x)

    return repeated(work, reps)


def main():
    """Measures one case."""
    module, case, n, reps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    tf = importlib.import_module(module)
    if module == "tensorflow" and not tf.__version__.startswith("1."):
        tf = tf.compat.v1
        tf.disable_v2_behavior()
    times = {"run": run, "call": call, "build": build, "build_ops": build_ops}[case](tf, n, reps)
    print(json.dumps([t / n for t in times]))


main()
