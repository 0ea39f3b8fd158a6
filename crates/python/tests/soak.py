"""Does one thing very often and looks at the memory: `python soak.py [CASE..] [--short | --count N] [--all]`, with the package importable.

After a tenth, a half and all of the rounds the resident memory is looked at: from a tenth on it may not grow by more than an allocator's noise. Each
case prints its name, how many rounds, seconds, and the memory in MiB at those times; the exit status is 1 if one grew. Without names: all of them.
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

# What the resident memory may grow by between a tenth of the rounds and all of them, in MiB: arenas fill up late, those of a free-threaded Python later.
SLACK = {"short": 24 if sysconfig.get_config_var("Py_GIL_DISABLED") else 12, "long": 8}


def resident():
    """The resident memory, in MiB."""
    with open("/proc/self/statm") as source:
        return int(source.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def runs():
    """Runs of a small graph with a loop, fed and fetched."""
    x = tf.placeholder(tf.float32, [2])
    y = {"y": x * 2, "i": tf.while_loop(lambda i: i < 2, lambda i: i + 1, [tf.constant(0)])}
    sess = tf.Session()
    return lambda: sess.run(y, {x: [1.0, 2.0]})


def callables():
    """Callables, made and called."""
    x = tf.placeholder(tf.float32, [2])
    y = x * 2
    sess = tf.Session()
    return lambda: sess.make_callable([y], [x])([1.0, 2.0])


def feeds():
    """Feeds and fetches of arrays that are shared, copied, strided, and of text."""
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
    """Graphs with a loop, a variable and gradients; a session; closed."""

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
    """Something that must be refused."""

    def once():
        try:
            what()
        except kinds:
            return
        raise AssertionError("was not refused")

    return once


def build_errors():
    """Mistakes that are told while the graph is built. The nodes that were made before them stay: a graph for each hundred."""
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
    """Mistakes that only a run can tell."""
    x = tf.placeholder(tf.int32, [])
    y = tf.gather([1, 2, 3], x)
    sess = tf.Session()
    return refused(lambda: sess.run(y, {x: 7}), tf.errors.InvalidArgumentError)


def feed_errors():
    """Feeds of another shape or kind."""
    x = tf.placeholder(tf.float32, [2])
    sess = tf.Session()
    wrong = [np.zeros(3, np.float32), "text", object(), [[1.0], [2.0, 3.0]]]
    i = [0]

    def once():
        i[0] += 1
        refused(lambda: sess.run(x, {x: wrong[i[0] % 4]}), ValueError, TypeError)()

    return once


def threads():
    """Threads that run, each with its own default graph, and end."""
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
    """Runs a case; whether it is flat."""
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
