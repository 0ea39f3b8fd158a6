"""The boundary between Python and the engine, fuzzed with hypothesis: any object, wherever a value belongs.

Every call answers with NumPy's or TensorFlow's value, or raises a documented exception (`told`). It never
panics, crashes, hangs or raises an internal error. A short run is part of the tests; `MILLSTREAM_FUZZ=5000`
makes 5,000 examples of each test.
"""

import collections
import contextlib
import datetime
import decimal
import enum
import faulthandler
import fractions
import os
import sys

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import millstream as tf

LONG = int(os.environ.get("MILLSTREAM_FUZZ", "0"))
HANG_S = 60

fuzz = hypothesis.settings(
    max_examples=LONG or 60, derandomize=not LONG, database=None, deadline=None, print_blob=False,
    suppress_health_check=list(hypothesis.HealthCheck),
)  # fmt: skip


# Not documented, for they mean a fault of the engine.
FAULTS = (tf.errors.InternalError, tf.errors.UnknownError, tf.errors.DataLossError)


class Refused(Exception):
    """What the objects made here raise themselves. It passes through unchanged."""


@contextlib.contextmanager
def told(*also):
    """Lets documented exceptions end a call, and nothing else."""
    faulthandler.dump_traceback_later(HANG_S, exit=True, file=sys.__stderr__)
    try:
        yield
    except (TypeError, ValueError, Refused, *also):
        pass
    except OverflowError as e:  # NumPy's, for integers.
        assert "too large to convert" in str(e) or "out of bounds for" in str(e), repr(e)
    except tf.errors.OpError as e:
        text = e.message.partition("\n")[0]
        assert not isinstance(e, FAULTS) or text.startswith(("Unsupported object type", "Refused")), repr(e)
        assert "panic" not in text, repr(e)
    finally:
        faulthandler.cancel_dump_traceback_later()


# Objects.


class Colour(enum.IntEnum):
    RED = 3


class Floats:
    def __float__(self):
        return 2.5


class Indexes:
    def __index__(self):
        return 7


class Raises:
    def __getattr__(self, name):
        raise Refused(name)

    def __array__(self, *args, **kwargs):
        raise Refused("array")


class Lies:
    """An object whose `__array__` returns no array, or a list with a wrong length."""

    def __init__(self, answer):
        self.answer = answer

    def __array__(self, *args, **kwargs):
        return self.answer


class Endless(collections.abc.Sequence):
    """A sequence that claims a huge length and has nothing."""

    def __len__(self):
        return 2**62

    def __getitem__(self, at):
        raise IndexError(at)


class Shrinks(list):
    """A list that gets shorter while it is read."""

    def __getitem__(self, at):
        if len(self) > 1:
            self.pop()
        return super().__getitem__(at)


Pair = collections.namedtuple("Pair", "left right")

DTYPES = "? b h i q B H I Q e f d g F D G S3 U3 O M8[s] m8[s] V5 >i2 >i4 >f4 >f8 >c8 >u8".split()
NUMBERS = "? b h i q B H I Q e f d F D >i2 >i4 >f4 >f8 >c8 >u8".split()

texts = st.text(max_size=4) | st.sampled_from(["\0", "a\0b", "\ud800", "x\udfff\0", "\U0001f600"]) | st.binary(max_size=4)
integers = st.integers(-3, 3) | st.integers() | st.sampled_from([2**31, -(2**31) - 1, 2**32 - 1, 2**63 - 1, 2**63, 2**64, -(2**63), 10**400])
floats = st.floats() | st.sampled_from([1e39, -0.0, 5e-324, 1e308])
plain = st.none() | st.booleans() | integers | floats | st.complex_numbers() | texts
odd = st.builds(
    lambda make: make(),
    st.sampled_from(
        [
            object, Floats, Indexes, Raises, Endless, lambda: Lies(None), lambda: Lies([1, 2]), lambda: Lies(np.zeros((2, 0), "V3")),
            lambda: Colour.RED, lambda: decimal.Decimal("1.5"), lambda: fractions.Fraction(1, 3), lambda: datetime.datetime(2020, 1, 1),
            lambda: Ellipsis, lambda: slice(1, 2), lambda: range(3), lambda: iter([1]), lambda: {1, 2}, lambda: frozenset("a"), lambda: int,
            lambda: len, lambda: memoryview(b"abc"), lambda: bytearray(b"ab"), lambda: Shrinks([1, 2, 3, 4]), lambda: tf.float32,
            lambda: tf.TensorShape([None, 2]), lambda: tf.TensorShape([2**40]), lambda: tf.Dimension(3), lambda: tf.Dimension(None),
            lambda: np.ma.array([1, 2], mask=[0, 1]), lambda: np.matrix([[1, 2]]), lambda: np.str_("a\0"), lambda: np.bytes_(b"a\0"),
            lambda: np.float16("nan"), lambda: np.longdouble(1) / 3, lambda: np.datetime64("NaT"), lambda: np.void(b"abc"),
            lambda: tf.constant(1.5), lambda: tf.SparseTensor([[0]], [1.0], [2]), lambda: tf.constant(1).op, lambda: tf.Graph(),
        ]
    ),
)  # fmt: skip


@st.composite
def arrays(draw, kinds=tuple(DTYPES)):
    """An array of any dtype, byte order, layout and alignment."""
    kind = np.dtype(draw(st.sampled_from(kinds)))
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    n = int(np.prod(shape))
    if kind.kind == "O":
        array = np.empty(n, object)
        for at in range(n):
            array[at] = draw(plain | odd)
    elif kind.kind in "USVMm":
        array = np.array([b"a\0b", b"", b"c\0"] * n, "S3")[:n] if kind.kind in "US" else np.zeros(n, "u1")
        array = np.zeros(n, kind) if kind.kind in "VMm" else array.astype(kind)
    else:
        seed = draw(st.integers(0, 9))
        with np.errstate(all="ignore"):
            array = np.random.RandomState(seed).randint(-200, 200, n).astype("i8").astype(kind)
        if kind.kind in "fc" and n:
            array.flat[0] = draw(st.sampled_from([np.nan, np.inf, -0.0, 1.5]))
    array = array.reshape(shape)
    how = draw(st.sampled_from(["plain", "negative", "transposed", "strided", "broadcast", "read-only", "unaligned"]))
    if how == "negative" and array.ndim:
        array = array[::-1]
    elif how == "transposed":
        array = array.T
    elif how == "strided" and array.ndim:
        array = np.repeat(array, 2, axis=0)[::2]
    elif how == "broadcast":
        array = np.broadcast_to(array, (2, *array.shape))
    elif how == "read-only":
        array.flags.writeable = False
    elif how == "unaligned" and kind.kind not in "O":
        held = np.zeros(array.size, [("pad", "u1"), ("value", kind)])
        held["value"] = array.ravel()
        array = held["value"].reshape(array.shape)
    return array


leaves = plain | odd | arrays()


def nests(of):
    return st.recursive(
        of,
        lambda inner: st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(texts | st.integers(0, 3), inner, max_size=2)
        | st.builds(Pair, inner, inner),
        max_leaves=6,
    )


anything = nests(leaves)
kinds = st.none() | st.sampled_from([getattr(tf, n) for n in "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string complex64 complex128 qint8 quint8 qint32 resource variant".split()])
asked = kinds | st.sampled_from(["float32", "f4", np.int64, float, int, 1, 200, "no dtype", object])
shapes = st.none() | st.lists(st.none() | st.integers(-2, 3), max_size=3) | st.sampled_from([[2**40, 2**40], "x", 3, [[1]], [2**70]])


def same(got, wanted):
    """Compares a value with NumPy's array: dtype, shape and bits (NaN equals NaN)."""
    wanted = np.asarray(wanted)
    native = wanted.dtype.newbyteorder("=")
    got = np.asarray(got)
    assert (got.dtype, got.shape) == (native, wanted.shape)
    np.testing.assert_array_equal(got, wanted.astype(native))


# The tests.


@pytest.mark.parametrize("make", [tf.constant, tf.convert_to_tensor])
@fuzz
@hypothesis.given(value=anything, dtype=asked)
def test_values_become_tensors(make, value, dtype):
    with tf.Graph().as_default(), told():
        made = make(value, dtype)
        assert isinstance(made, tf.Tensor)
        with tf.Session(graph=made.graph) as sess:
            sess.run(made)


@fuzz
@hypothesis.given(value=leaves, dtype=asked, shape=shapes)
def test_constants_of_a_shape(value, dtype, shape):
    with tf.Graph().as_default() as graph, told():
        made = tf.constant(value, dtype, shape)
        with tf.Session(graph=graph) as sess:
            assert list(np.shape(sess.run(made))) == made.shape.as_list()


@fuzz
@hypothesis.given(array=arrays(tuple(NUMBERS)))
def test_arrays_keep_their_bits(array):
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess:
        x = tf.placeholder(tf.as_dtype(array.dtype.newbyteorder("=")))
        for got in sess.run([tf.constant(array), tf.convert_to_tensor(array), x], {x: array}):
            same(got, array)
        same(sess.make_callable(x, [x])(array), array)
        same(sess.run(tf.py_func(lambda: array, [], x.dtype)), array)
        queue = tf.FIFOQueue(1, [x.dtype])
        sess.run(queue.enqueue([array]))
        same(sess.run(queue.dequeue()), array)


@fuzz
@hypothesis.given(value=integers, dtype=st.sampled_from("b h i q B H I Q".split()))
def test_integers_of_any_size(value, dtype):
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess, told():
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        got = sess.run(tf.constant(value, np.dtype(dtype)))
        assert got == value or not low <= value <= high
        assert got.dtype == np.dtype(dtype)


@fuzz
@hypothesis.given(dtype=kinds, shape=shapes, value=anything)
def test_feeds(dtype, shape, value):
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess, told():
        x = tf.placeholder(dtype or tf.float32, shape)
        got = sess.run(tf.identity(x), {x: value})
        x.shape.assert_is_compatible_with(np.shape(got))


@fuzz
@hypothesis.given(key=anything, value=anything)
def test_keys_of_feeds(key, value):
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess, told():
        x = tf.placeholder(tf.float32, name="x")
        with contextlib.suppress(TypeError):  # A key that has no hash.
            sess.run(x, {key: value, x: 1.0})


@fuzz
@hypothesis.given(data=st.data())
def test_fetches(data):
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess:
        good = st.sampled_from([tf.constant(1), tf.constant([2.0]), tf.no_op(), tf.SparseTensor([[0]], [1.0], [2]), "Const:0", "Const"])
        fetches = data.draw(nests(good))
        with told():
            got = sess.run(fetches)
            assert type(got) is type(fetches) or not isinstance(fetches, (list, tuple, dict))
            assert not isinstance(fetches, (list, tuple, dict)) or len(got) == len(fetches)
        junk = data.draw(nests(good | leaves))
        with told():
            sess.run(junk)
        with told():
            sess.make_callable(junk)()


@fuzz
@hypothesis.given(feeds=anything, args=st.lists(leaves, max_size=2))
def test_callables(feeds, args):
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess:
        x = tf.placeholder(tf.float32, [None])
        with told():
            sess.make_callable(x, feeds)(*args)
        with told():
            sess.make_callable(x, [x])(*args)


@fuzz
@hypothesis.given(result=anything, kind=st.lists(kinds.filter(bool), max_size=2) | asked)
def test_results_of_host_functions(result, kind):
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess, told():
        sess.run(tf.py_func(lambda: result, [], kind))


@fuzz
@hypothesis.given(data=st.data(), types=st.lists(kinds.filter(bool), min_size=1, max_size=2))
def test_queues(data, types):
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess:
        fixed, value, queue = data.draw(st.none() | shapes), data.draw(anything), None
        with told():
            queue = tf.FIFOQueue(2, types, shapes=fixed and [fixed] * len(types))
        if queue is None:
            return
        with told():
            sess.run(queue.enqueue(value), options=tf.RunOptions(timeout_in_ms=2000))
            sess.run(queue.dequeue(), options=tf.RunOptions(timeout_in_ms=2000))
        with told():
            sess.run(queue.enqueue_many(value), options=tf.RunOptions(timeout_in_ms=2000))


@fuzz
@hypothesis.given(variables=anything, returned=anything, invariants=st.none() | anything)
def test_loops(variables, returned, invariants):
    def run(body, **keywords):
        with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess, told():
            out = tf.while_loop(lambda *a: True, body, variables, maximum_iterations=2, **keywords)
            sess.run(out, options=tf.RunOptions(timeout_in_ms=2000))

    run(lambda *a: returned)
    run(lambda *a: a[0] if len(a) == 1 else a, shape_invariants=invariants)


@fuzz
@hypothesis.given(predicate=leaves, one=anything, other=anything)
def test_branches(predicate, one, other):
    for p, a, b in [(True, one, other), (tf.bool, one, one), (predicate, one, other)]:
        with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess, told():
            feeds = {}
            if p is tf.bool:
                p = tf.placeholder_with_default(True, [])
            sess.run(tf.cond(p, lambda: a, lambda: b), feeds)


def _message():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = tf.while_loop(lambda i: tf.reduce_sum(i) < 9.0, lambda i: i + 1.0, [x])
        tf.identity(y, name="y")
    return graph.as_graph_def().SerializeToString()


@fuzz
@hypothesis.given(cuts=st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), max_size=4))
def test_messages_with_wrong_bytes(cuts):
    whole = bytearray(_message())
    for at, byte in cuts:
        whole[at % len(whole)] = byte
    message = tf.GraphDef()
    try:
        message.ParseFromString(bytes(whole))
    except Exception:  # The message classes' own error: no GraphDef.
        return
    with tf.Graph().as_default() as graph, told(NotImplementedError):  # An op type that is not there.
        (y,) = tf.import_graph_def(message, name="", return_elements=["y:0"])
        with tf.Session(graph=graph) as sess:
            sess.run(y, {"x:0": np.zeros([1, 2])}, options=tf.RunOptions(timeout_in_ms=2000))


@fuzz
@hypothesis.given(message=anything, inputs=anything, elements=anything, name=leaves)
def test_import_of_anything(message, inputs, elements, name):
    real = tf.GraphDef()
    real.ParseFromString(_message())
    for graph_def, keywords in [
        (message, {}),
        (real, {"input_map": inputs}),
        (real, {"input_map": {"x:0": inputs}}),
        (real, {"return_elements": elements}),
        (real, {"name": name}),
    ]:
        with tf.Graph().as_default(), told():
            tf.import_graph_def(graph_def, **keywords)
