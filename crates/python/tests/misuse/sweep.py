"""Calls every public function with invalid arguments: `python misuse/sweep.py PART`.

PART is `functions`, `ops` or `methods`. All exceptions must be subclasses of `Exception`; nothing may panic,
end the process or hang (a watchdog prints all stacks and exits). Each call is printed before it is made, so
that crashes can be attributed. Operations created with invalid arguments are also run, with a timeout.
"""

import faulthandler
import io
import os
import resource
import sys
import tempfile
import threading
import traceback
import types

import numpy as np

import millstream as tf

SPACES = (
    "bitwise compat contrib.framework.nest contrib.rnn contrib.training debugging dtypes errors graph_util initializers io linalg logging manip "
    "math nest nn nn.rnn_cell queue random saved_model sparse strings summary train"
).split()

# Functions that wait for other threads by design, or end the process.
LEFT_OUT = {"checkpoints_iterator", "wait_for_new_checkpoint", "evaluate_repeatedly", "train", "test.main", "app.run"}

HANG_S = 60


def recursive():
    """Returns a list that contains itself."""
    items = [1]
    items.append(items)
    return items


class Rude:
    """An object that raises on every access."""

    def __getattr__(self, name):
        raise ZeroDivisionError(name)

    def __iter__(self):
        raise ZeroDivisionError("iter")

    def __len__(self):
        raise ZeroDivisionError("len")

    def __bool__(self):
        raise ZeroDivisionError("bool")

    def __repr__(self):
        raise ZeroDivisionError("repr")

    __str__ = __hash__ = __eq__ = __int__ = __float__ = __index__ = __array__ = __repr__


def kinds():
    """Returns invalid arguments by name, created in the current default graph."""
    with tf.Graph().as_default():
        stranger = tf.constant(1.0)
        with tf.Session() as closed:
            pass
    return {
        "none": None,
        "object": object(),
        "minus one": -1,
        "huge": 2**70,
        "2**40": 2**40,
        "nan": float("nan"),
        "surrogate": "\ud800",
        "zero byte": b"\0\xff",
        "empty": [],
        "ragged": [[1.0], [2.0, 3.0]],
        "dict": {"a": object(), 1: None},
        "function": lambda *a, **k: None,
        "type": type,
        "objects": np.array([object(), None], dtype=object),
        "structured": np.zeros(3, dtype=[("a", "i4"), ("b", "f8")]),
        "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
        "stranger": stranger,
        "closed": closed,
        "rude": Rude(),
        "recursive": recursive(),
        "generator": (i for i in range(3)),
        "module": os,
    }


def resolve(path):
    """Returns the object with a dotted name."""
    value = tf
    for part in filter(None, path.split(".")):
        value = getattr(value, part)
    return value


def attempt(what, call):
    """Makes a call; reports exceptions that are not an `Exception`."""
    sys.stdout.write(what + "\n")
    sys.stdout.flush()
    faulthandler.dump_traceback_later(HANG_S, exit=True, file=sys.__stderr__)
    try:
        return call()
    except Exception:
        return None
    except BaseException as e:  # A panic, or an unexpected exit.
        sys.stdout.write("FAILED %s: %s: %s\n" % (what, type(e).__name__, str(e)[:300]))
        return None
    finally:
        faulthandler.cancel_dump_traceback_later()


def run(made):
    """Runs created operations with a short timeout."""
    graph = tf.get_default_graph()
    flat = [t for t in tf.nest.flatten(made) if isinstance(t, (tf.Tensor, tf.Operation)) and t.graph is graph]
    if flat:
        config = tf.ConfigProto(operation_timeout_in_ms=300, intra_op_parallelism_threads=1)
        with tf.Session(graph=graph, config=config) as sess:
            sess.run([t for t in flat if isinstance(t, tf.Operation) or not t.dtype._is_ref_dtype])


def functions():
    """Calls all functions and classes of the public modules."""
    for space in ["", *SPACES]:
        module = resolve(space)
        for name in sorted(dir(module)):
            if name.startswith("_") or name in LEFT_OUT:
                continue
            value = getattr(module, name)
            if not callable(value) or isinstance(value, types.ModuleType) or str(getattr(value, "__module__", "")).startswith("typing"):
                continue
            if not str(getattr(value, "__module__", "millstream")).startswith("millstream"):
                continue
            # Never popped: the called function may have pushed other graphs.
            tf._engine.push_graph(tf.Graph())
            for kind, nonsense in kinds().items():
                for n in range(0 if kind == "none" else 1, 5):
                    attempt("%s.%s(%s x %d)" % (space, name, kind, n), lambda: value(*[nonsense] * n))
                attempt("%s.%s(1.0, %s)" % (space, name, kind), lambda: value(tf.constant(1.0), nonsense))
                attempt("%s.%s(name=%s)" % (space, name, kind), lambda: value(1.0, name=nonsense))


def ops():
    """Calls all ops with keyword arguments; runs the results."""
    import inspect

    for name in tf._engine.op_names():
        op = getattr(tf.raw_ops, name)
        words = [p for p in inspect.signature(op).parameters if p != "name"]
        needed = [p.name for p in inspect.signature(op).parameters.values() if p.default is p.empty]
        for kind, nonsense in kinds().items():
            tf.reset_default_graph()
            attempt("%s(all %s)" % (name, kind), lambda: run(op(**{w: nonsense for w in needed})))
        for value in (0, 1.0, [1.0, -2.0], [[1, 2]], "text", True, [2**40, 2**40], np.zeros([0, 3], np.float32), np.int64(-(2**63)), tf.float32, [-1, -1], 1j):
            tf.reset_default_graph()
            attempt("%s(all %r)" % (name, value), lambda: run(op(**{w: value for w in needed})))
            attempt("%s(really all %r)" % (name, value), lambda: run(op(**{w: value for w in words})))


def objects():
    """Returns one instance of each class."""
    tf._engine.push_graph(tf.Graph())
    x = tf.placeholder(tf.float32, [2])
    v, r = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0], use_resource=True)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    return {
        "Tensor": x, "Operation": x.op, "Graph": x.graph, "Variable": v, "ResourceVariable": r, "Session": sess, "TensorShape": x.shape,
        "Dimension": tf.Dimension(2), "DType": tf.float32, "FIFOQueue": tf.FIFOQueue(3, [tf.float32]), "PaddingFIFOQueue": tf.PaddingFIFOQueue(3, [tf.float32], [[None]]),
        "RandomShuffleQueue": tf.RandomShuffleQueue(3, 1, [tf.float32]), "PriorityQueue": tf.PriorityQueue(3, [tf.float32], [[]]),
        "TensorArray": tf.TensorArray(tf.float32, 3), "SparseTensor": tf.SparseTensor([[0]], [1.0], [2]), "IndexedSlices": tf.IndexedSlices(x, x),
        "Coordinator": tf.train.Coordinator(), "Saver": tf.train.Saver(), "Optimizer": tf.train.AdamOptimizer(), "LSTMCell": tf.nn.rnn_cell.LSTMCell(2),
        "QueueRunner": tf.train.QueueRunner(tf.FIFOQueue(3, [tf.float32]), [tf.no_op()]), "callable": sess.make_callable(x, [x]),
        "VariableScope": tf.get_variable_scope(), "function": tf.add,
    }


# Methods that wait indefinitely by design, e.g. for a Coordinator's threads.
WAITS = {"wait_for_stop"}


def methods():
    """Calls all methods and operators of an instance of each class."""
    for what, thing in objects().items():
        for name in sorted(dir(thing)):
            if name in WAITS or name in ("__class__", "__init_subclass__", "__subclasshook__", "__dir__", "__getattribute__", "__reduce__", "__reduce_ex__"):
                continue
            held = [None]

            def look():
                held[0] = getattr(thing, name)

            attempt("%s.%s" % (what, name), look)
            if what == "DType" and name in ("__init__", "__setattr__", "__delattr__", "__setstate__"):
                continue  # DTypes are singletons, which must not be modified.
            if not callable(held[0]):
                for kind, nonsense in kinds().items():
                    if not name.startswith("_") and what != "DType":
                        attempt("%s.%s = %s" % (what, name, kind), lambda: setattr(objects()[what], name, nonsense))
                continue
            for kind, nonsense in kinds().items():
                for n in range(0 if kind == "none" else 1, 4):
                    attempt("%s.%s(%s x %d)" % (what, name, kind, n), lambda: held[0](*[nonsense] * n))
            if name in ("close", "__del__", "finalize", "__exit__", "__setattr__", "__delattr__", "__init__"):
                thing = objects()[what]


def main():
    os.chdir(tempfile.mkdtemp())
    tf.logging.set_verbosity(tf.logging.FATAL)
    # Output files of the calls are redirected.
    sys.stderr = io.StringIO()
    faulthandler.enable(sys.__stderr__)
    # Huge allocations fail at once, as in normal builds: the allocator of a free-threaded Python would
    # reserve any size and fill it.
    resource.setrlimit(resource.RLIMIT_AS, (64 << 30, resource.RLIM_INFINITY))
    try:
        for part in sys.argv[1:]:
            globals()[part]()
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
        raise SystemExit(1)
    left = [t.name for t in threading.enumerate() if t is not threading.main_thread() and not t.daemon]
    print("DONE", left)
    sys.stdout.flush()


main()
