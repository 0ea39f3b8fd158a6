"""Recording of what sessions give, and ways to run programs and their tests."""

import gzip
import importlib
import json
import os
import runpy
import struct
import subprocess
import sys
import unittest

import absl.app  # noqa: F401, whose flags are there before those of a program, as in TensorFlow
import numpy as np
import tensorflow as tf

SEED = 20
MOST = 2000
SMALL = 32
FRAMEWORKS = ("tensorflow", "tensorflow_core", "tensorflow_estimator", "millstream")


class Enough(BaseException):
    """Ends a program that would train for longer than is compared."""


class Records:
    """A list of [label, numbers], filled by every run of a session that the program asks for."""

    def __init__(self, path, shake=0.0):
        self.path = path
        self.shake = shake
        self.kept = []
        self.inside = 0
        self.left = None
        seed_graphs()
        classes = [tf.Session, tf.InteractiveSession, tf.train.MonitoredSession, tf.train.SingularMonitoredSession]
        for owner in classes:
            self.watch(owner)

    def watch(self, owner):
        """Records the results of `owner.run`, for calls by the program itself."""
        run = owner.run

        def watched(session, fetches, *args, **kwargs):
            caller = sys._getframe(1)
            library = caller.f_globals.get("__name__", "").split(".")[0] in FRAMEWORKS
            if self.shake and not self.inside and initializes(fetches):
                result = run(session, fetches, *args, **kwargs)
                shaken(session, run, self.shake)
                return result
            if self.inside or library and caller.f_code.co_name not in ("_eval_using_default_session", "_run_using_default_session", "eval"):
                return run(session, fetches, *args, **kwargs)
            if self.left is not None:
                if self.left == 0:
                    raise Enough()
                self.left -= 1
            self.inside += 1
            try:
                result = run(session, fetches, *args, **kwargs)
            finally:
                self.inside -= 1
            self.add("run", result)
            return result

        owner.run = watched

    def add(self, label, value):
        """Keeps the numbers of `value`, an array or a structure of arrays; text and None are left out."""
        if len(self.kept) >= MOST:
            return
        for leaf in leaves(value):
            numbers = summarized(leaf)
            if numbers is not None:
                self.kept.append([label, numbers])

    def add_checkpoint(self, folder):
        """Keeps the numbers of all variables of the newest checkpoint of a folder."""
        path = tf.train.latest_checkpoint(folder)
        assert path, "no checkpoint in %s" % folder
        reader = tf.train.NewCheckpointReader(path)
        for name in sorted(reader.get_variable_to_shape_map()):
            self.add("checkpoint:" + name, reader.get_tensor(name))

    def write(self):
        """Writes the records as JSON."""
        with open(self.path, "w") as file:
            json.dump(self.kept, file)


def initializes(fetches):
    """Whether a run initializes all variables."""
    return any(getattr(leaf, "type", "") == "NoOp" and leaf.name.split("/")[-1].startswith("init") for leaf in leaves(fetches))


def shaken(session, run, size):
    """Changes each number of each trainable variable of a session by a random part of it, of about `size`."""
    generator = np.random.RandomState(9)
    for variable in session.graph.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES):
        if variable.dtype.base_dtype.is_floating:
            initializer = variable.initializer
            value = run(session, variable)
            run(session, initializer, {initializer.inputs[1]: value * (1 + size * generator.standard_normal(value.shape))})


def seed_graphs():
    """Gives every graph the seed SEED, which a program may change."""
    make = tf.Graph.__init__

    def seeded(graph, *args, **kwargs):
        make(graph, *args, **kwargs)
        graph.seed = SEED

    tf.Graph.__init__ = seeded
    tf.reset_default_graph()
    tf.set_random_seed(SEED)


def seed_by_order():
    """Seeds the random operations of a graph by their order, not by the number of nodes before them.

    For programs in which Millstream infers more of a shape than TensorFlow, so that the program makes fewer
    nodes, and for those that draw random numbers after gradients, which have other nodes here.
    """
    home = sys.modules[tf.get_seed.__module__]
    given, made = home.get_seed, {}

    def get_seed(op_seed):
        graph = tf.get_default_graph()
        if op_seed is None and graph.seed is not None:
            made[id(graph)] = op_seed = made.get(id(graph), 0) + 1
        return given(op_seed)

    home.get_seed = get_seed


def leaves(value):
    """The arrays and numbers in a structure, in a fixed order."""
    if isinstance(value, dict):
        return [leaf for key in sorted(value, key=str) for leaf in leaves(value[key])]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def summarized(leaf):
    """A small array's numbers; a large one's mean, mean magnitude, root mean square and some elements."""
    if leaf is None or isinstance(leaf, (str, bytes)):
        return None
    array = np.asarray(leaf)
    if array.dtype.kind not in "fiub":
        return None
    flat = array.astype(np.float64).ravel()
    if flat.size <= SMALL:
        return flat.tolist()
    some = flat[:: max(1, flat.size // 16)][:16]
    with np.errstate(all="ignore"):
        moments = [flat.mean(), np.abs(flat).mean(), np.sqrt(np.square(flat).mean())]
    return [float(number) for number in moments + some.tolist()]


def run_some(records, most, path, *arguments):
    """Runs a program's file as `run_script` does, until it asks for the run after the `most`-th."""
    records.left = most
    try:
        run_script(path, *arguments)
    except Enough:
        pass
    finally:
        records.left = None


def run_script(path, *arguments):
    """Runs a program's file as `python path arguments..` does, or a module as `python -m`."""
    flags = tf.app.flags.FLAGS
    before = set(flags)
    flags.unparse_flags()
    sys.argv = [path] + [str(argument) for argument in arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        if path.endswith(".py"):
            runpy.run_path(path, run_name="__main__")
        else:
            runpy.run_module(path, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code not in (None, 0, False):
            raise
    finally:
        del sys.path[0]
        for name in set(flags) - before:
            delattr(flags, name)


def run_tests(records, modules, leave_out=()):
    """Runs the unit tests of modules, and keeps for each test whether it passes."""
    for module in modules:
        importlib.import_module(module)
        suite = unittest.defaultTestLoader.loadTestsFromName(module)
        for test in flat(suite):
            name = test.id()
            if any(part in name for part in leave_out) or name.endswith(".test_session"):
                continue
            tf.reset_default_graph()
            tf.set_random_seed(SEED)
            kept = len(records.kept)
            result = unittest.TestResult()
            test.run(result)
            del records.kept[kept:]
            for _, text in result.errors + result.failures:
                print("=== %s\n%s" % (name, text), flush=True)
            word = "passes" if result.wasSuccessful() else "fails"
            records.kept.append(["test", "skipped" if result.skipped else word, name])


def flat(suite):
    """The single tests of a suite."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            for inner in flat(test):
                yield inner
        else:
            yield test


def to_python_3(folder):
    """Rewrites programs for Python 2 with Python's own `lib2to3`."""
    command = [sys.executable, "-m", "lib2to3", "-x", "import", "-w", "-n", "--no-diffs", folder]
    subprocess.check_call(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def lines(count, seed=0):
    """Lines of made words, with the same letters' statistics in every call."""
    generator = np.random.RandomState(seed)
    words = ["".join(generator.choice(list("abcdefgh"), size=generator.randint(1, 6))) for _ in range(40)]
    return [" ".join(generator.choice(words, size=generator.randint(4, 12))) + "." for _ in range(count)]


def make_digits(folder, count=6000, tests=500):
    """Writes files in the format of the handwritten digits, with random blocks for pictures."""
    generator = np.random.RandomState(4)
    shapes = np.kron(generator.randint(0, 2, size=(10, 7, 7)), np.ones((4, 4), int)).astype(np.uint8) * 200
    os.mkdir(folder)
    for prefix, n in (("train", count), ("t10k", tests)):
        labels = generator.randint(0, 10, size=n).astype(np.uint8)
        pictures = shapes[labels] + generator.randint(0, 50, size=(n, 28, 28), dtype=np.uint8)
        header = [("images-idx3", struct.pack(">4i", 2051, n, 28, 28), pictures)]
        header.append(("labels-idx1", struct.pack(">2i", 2049, n), labels))
        for name, head, array in header:
            with gzip.open(os.path.join(folder, "%s-%s-ubyte.gz" % (prefix, name)), "wb", 1) as file:
                file.write(head + array.tobytes())


def make_citations(folder, nodes=600, words=30, classes=4, tests=60):
    """Writes a random graph of papers in the format of the Cora data."""
    import collections
    import pickle
    import scipy.sparse
    generator = np.random.RandomState(6)
    features = scipy.sparse.csr_matrix((generator.rand(nodes, words) < 0.2).astype(np.float32))
    labels = np.eye(classes, dtype=np.int32)[generator.randint(0, classes, size=nodes)]
    graph = collections.defaultdict(list)
    for a, b in generator.randint(0, nodes, size=(3 * nodes, 2)).tolist() + [(n, (n + 1) % nodes) for n in range(nodes)]:
        graph[a].append(b)
        graph[b].append(a)
    rest = nodes - tests
    parts = dict(x=features[:20], y=labels[:20], tx=features[rest:], ty=labels[rest:], allx=features[:rest],
                 ally=labels[:rest], graph=graph)
    for name, value in parts.items():
        with open(os.path.join(folder, "ind.cora." + name), "wb") as file:
            pickle.dump(value, file, 2)
    with open(os.path.join(folder, "ind.cora.test.index"), "w") as file:
        file.write("\n".join(str(at) for at in range(rest, nodes)))
