"""Repeats operations many times and measures memory: `python soak.py [CASE..] [--short | --count N] [--all]`.

The package must be importable. Resident memory is measured after a tenth, a half and all of the rounds; after
the first tenth it must not grow by more than the allocator's noise. Each case prints its name, the number of
rounds, seconds, and the memory in MiB at those times; the exit status is 1 if one of them grew. Without
arguments all cases run.
"""

import argparse
import gc
import os
import sys
import sysconfig
import threading
import time

import numpy as np

import millstream as tf
from soak_cases import SOAK

# Allowed growth of resident memory between a tenth of the rounds and all of them, in MiB: arenas fill up
# late, those of a free-threaded Python even later.
SLACK = {"short": 24 if sysconfig.get_config_var("Py_GIL_DISABLED") else 12, "long": 8}


def resident():
    """Returns the resident memory in MiB."""
    with open("/proc/self/statm") as source:
        return int(source.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def runs():
    """Runs a small graph with a loop, with feeds and fetches."""
    x = tf.placeholder(tf.float32, [2])
    y = {"y": x * 2, "i": tf.while_loop(lambda i: i < 2, lambda i: i + 1, [tf.constant(0)])}
    sess = tf.Session()
    return lambda: sess.run(y, {x: [1.0, 2.0]})


def callables():
    """Creates and calls callables."""
    x = tf.placeholder(tf.float32, [2])
    y = x * 2
    sess = tf.Session()
    return lambda: sess.make_callable([y], [x])([1.0, 2.0])


def feeds():
    """Feeds and fetches arrays that are shared, copied or strided, and strings."""
    x, s = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.string, [None])
    f = tf.Session().make_callable([tf.identity(x), tf.identity(s)], [x, s])
    base, text = np.arange(10000, dtype=np.float32), np.array([b"a", b"long" * 50], dtype=object)
    i = [0]

    def once():
        i[0] += 1
        a = base[: 5 + i[0] % 5000 : 1 + i[0] % 3]
        got, _ = f(a, text)
        assert got.shape == a.shape

    return once


def graphs():
    """Builds graphs with a loop, a variable and gradients, and a session that is closed."""

    def once():
        with tf.Graph().as_default():
            v = tf.Variable(1.0)
            x = tf.while_loop(lambda i: i < 3.0, lambda i: i * v + 1.0, [tf.constant(0.0)])
            g = tf.gradients(x, v._variable if hasattr(v, "handle") else v)
            with tf.Session() as sess:
                sess.run(v.initializer)
                sess.run([x, g])

    return once


def refused(what, *kinds):
    """Asserts that a call raises."""

    def once():
        try:
            what()
        except kinds:
            return
        raise AssertionError("was not refused")

    return once


def build_errors():
    """Makes errors of graph construction, in a new graph every 100 rounds, since earlier nodes stay."""
    held = []

    def once():
        if not held or len(held[0]) > 200:
            held[:] = [tf.Graph()]
        with held[0].as_default():
            refused(lambda: tf.add(tf.ones([2]), tf.ones([3])), ValueError)()
            refused(lambda: tf.constant("a", tf.float32), TypeError)()
            refused(lambda: tf.get_default_graph().get_tensor_by_name("no:0"), KeyError)()

    return once


def run_errors():
    """Makes errors that are detected only in runs."""
    x = tf.placeholder(tf.int32, [])
    y = tf.gather([1, 2, 3], x)
    sess = tf.Session()
    return refused(lambda: sess.run(y, {x: 7}), tf.errors.InvalidArgumentError)


def feed_errors():
    """Feeds arrays of the wrong shape or type."""
    x = tf.placeholder(tf.float32, [2])
    sess = tf.Session()
    wrong = [np.zeros(3, np.float32), "text", object(), [[1.0], [2.0, 3.0]]]
    i = [0]

    def once():
        i[0] += 1
        refused(lambda: sess.run(x, {x: wrong[i[0] % 4]}), ValueError, TypeError)()

    return once


def threads():
    """Starts threads that run their own default graphs and end."""
    x = tf.constant(1) + 1
    sess = tf.Session()

    def work():
        sess.run(x)
        with tf.Graph().as_default(), tf.Session() as own:
            own.run(tf.constant(2.0) * 2.0)

    def once():
        some = [threading.Thread(target=work) for _ in range(2)]
        for t in some:
            t.start()
        for t in some:
            t.join()

    return once


def soak(name, count, slack):
    """Runs a case; returns whether memory is stable."""
    tf.reset_default_graph()
    once = globals()[name]()
    seen, began = [], time.perf_counter()
    marks = {max(count // 10, 1), max(count // 2, 1), count}
    for i in range(1, count + 1):
        once()
        if i in marks:
            gc.collect()
            seen.append(resident())
    flat = seen[-1] - seen[0] <= slack
    memory = " ".join("%.1f" % m for m in seen)
    print("%-13s %8d rounds %7.1f s  MiB %s  %s" % (name, count, time.perf_counter() - began, memory, "flat" if flat else "GROWS"), flush=True)
    return flat


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", help="all of them, if none is named: %s" % ", ".join(SOAK))
    parser.add_argument("--short", action="store_true", help="as often as the tests do it")
    parser.add_argument("--count", type=int, help="this often")
    options = parser.parse_args()
    flat = True
    for name in options.cases or SOAK:
        count = options.count or SOAK[name][options.short]
        flat &= soak(name, count, SLACK["short" if options.short else "long"])
    sys.exit(not flat)


if __name__ == "__main__":
    main()
