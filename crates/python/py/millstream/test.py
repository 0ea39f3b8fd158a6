"""`tf.test`: a `TestCase` that knows tensors and sessions, gradients compared with differences, and what a machine has."""

from __future__ import annotations

import contextlib
import random
import re
import shutil
import tempfile
import threading
import unittest
import warnings
from typing import Any, Callable, Iterator, List, Optional, Sequence, Tuple
from unittest import mock

import numpy as np

import millstream as tf
from millstream import errors

__all__ = [
    "TestCase",
    "assert_equal_graph_def",
    "compute_gradient",
    "compute_gradient_error",
    "get_temp_dir",
    "gpu_device_name",
    "is_built_with_cuda",
    "is_built_with_gpu_support",
    "is_built_with_rocm",
    "is_gpu_available",
    "main",
    "mock",
]

_SEED = 87654321


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """False: graphs run on processors.

    Args:
      cuda_only: Accepted.
      min_cuda_compute_capability: Accepted.

    Example:
      >>> tf.test.is_gpu_available()
      False
    """
    return False


def gpu_device_name() -> str:
    """The name of a device for graphics: there is none.

    Example:
      >>> tf.test.gpu_device_name()
      ''
    """
    return ""


def is_built_with_cuda() -> bool:
    """False: there is no CUDA here.

    Example:
      >>> tf.test.is_built_with_cuda()
      False
    """
    return False


is_built_with_rocm = is_built_with_gpu_support = is_built_with_cuda


def main(argv: Optional[List[str]] = None) -> None:
    """Runs the tests of the module that was started: `if __name__ == "__main__": tf.test.main()`.

    Args:
      argv: The command line; `sys.argv` by default.

    Example:
      >>> callable(tf.test.main)
      True
    """
    unittest.main(argv=argv)


_temp_dir: List[str] = []


def get_temp_dir() -> str:
    """A folder of this process, which is removed at its end.

    Returns:
      Its path.

    Example:
      >>> import os
      >>> os.path.isdir(tf.test.get_temp_dir())
      True
    """
    if not _temp_dir:
        import atexit

        _temp_dir.append(tempfile.mkdtemp(prefix="millstream_test_"))
        atexit.register(shutil.rmtree, _temp_dir[0], ignore_errors=True)
    return _temp_dir[0]


def assert_equal_graph_def(actual: Any, expected: Any, checkpoint_v2: bool = False) -> None:
    """Raises unless two `GraphDef`s have the same nodes, in any order.

    Args:
      actual: A `GraphDef`.
      expected: Another.
      checkpoint_v2: Accepted.

    Raises:
      AssertionError: They differ; it names a node.

    Example:
      >>> c = tf.constant(1)
      >>> d = tf.get_default_graph().as_graph_def()
      >>> tf.test.assert_equal_graph_def(d, d)
    """
    nodes = [{n.name: n for n in g.node} for g in (actual, expected)]
    for name in sorted(set(nodes[0]) | set(nodes[1])):
        if name not in nodes[0] or name not in nodes[1]:
            raise AssertionError("node %r is only in the %s graph" % (name, "expected" if name not in nodes[0] else "actual"))
        if nodes[0][name] != nodes[1][name]:
            raise AssertionError("node %r differs:\n%s\nis not\n%s" % (name, nodes[0][name], nodes[1][name]))


# Gradients.


def compute_gradient(
    x: Any,
    x_shape: Sequence[int],
    y: Any,
    y_shape: Sequence[int],
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Any = None,
) -> Any:
    """The Jacobian of `y` by `x` (rows: elements of `x`), as gradients and as differences give it.

    Args:
      x: A tensor of floats, or a list of them.
      x_shape: Its shape, or a list of shapes.
      y: A tensor of floats.
      y_shape: Its shape.
      x_init_value: Where it is taken; numbers from 0 to 1 if not given.
      delta: How far apart differences are taken.
      init_targets: What to run first.
      extra_feed_dict: What else to feed.

    Returns:
      A pair of arrays; of several `x` a list of pairs.

    Raises:
      ValueError: There is no default session.

    Example:
      >>> x = tf.constant([1.0, 2.0])
      >>> with tf.Session():
      ...     theory, numbers = tf.test.compute_gradient(x, [2], x * x, [2], x_init_value=np.array([1.0, 2.0], np.float32))
      >>> print(theory)
      [[2. 0.]
       [0. 4.]]
    """
    session = tf.get_default_session()
    if session is None:
        raise ValueError("compute_gradient needs a default session: call it in `with session:`")
    if init_targets is not None:
        for target in init_targets if isinstance(init_targets, (list, tuple)) else [init_targets]:
            session.run(target)
    if isinstance(x, (list, tuple)):
        values = x_init_value if x_init_value is not None else [None] * len(x)
        return [_jacobians(session, one, s, y, y_shape, v, delta, extra_feed_dict) for one, s, v in zip(x, x_shape, values)]
    return _jacobians(session, x, x_shape, y, y_shape, x_init_value, delta, extra_feed_dict)


def _jacobians(session: Any, x: Any, x_shape: Any, y: Any, y_shape: Any, start: Any, delta: float, feeds: Any) -> Tuple[np.ndarray, np.ndarray]:
    x_shape, y_shape = [list(map(int, tf.TensorShape(s).as_list())) for s in (x_shape, y_shape)]
    dtype = x.dtype.as_numpy_dtype
    if start is None:
        start = np.random.random_sample(x_shape).astype(dtype)
        if x.dtype.is_complex:
            start = start + 1j * np.random.random_sample(x_shape).astype(dtype)
    start = np.array(start, dtype)
    # Complex numbers are pairs of real ones.
    parts = 2 if x.dtype.is_complex else 1
    n, m = int(np.prod(x_shape)) * parts, int(np.prod(y_shape)) * (2 if y.dtype.is_complex else 1)
    dy = tf.placeholder(y.dtype.base_dtype, y_shape)
    found = tf.gradients(y, x, grad_ys=dy)[0]
    by_gradients, by_differences = np.zeros((n, m)), np.zeros((n, m))
    feeds = dict(feeds or {})

    def flat(array: Any) -> np.ndarray:
        array = np.ascontiguousarray(array)
        return (array.view(array.real.dtype) if np.iscomplexobj(array) else array).ravel()

    for j in range(m):
        seed = np.zeros(m)
        seed[j] = 1
        real = np.zeros(1, y.dtype.as_numpy_dtype).real.dtype
        grad = seed.astype(real)
        grad = grad.view(y.dtype.as_numpy_dtype) if y.dtype.is_complex else grad
        if found is None:
            continue
        value = session.run(found, {**feeds, x: start, dy: grad.reshape(y_shape)})
        if isinstance(value, tf.IndexedSlicesValue):
            dense = np.zeros(x_shape, dtype)
            np.add.at(dense, value.indices, value.values)
            value = dense
        by_gradients[:, j] = flat(value)
    for i in range(n):
        ends = []
        for step in (delta, -delta):
            moved = flat(start.copy()).copy()
            moved[i] += step
            moved = moved.view(dtype) if x.dtype.is_complex else moved
            ends.append(flat(session.run(y, {**feeds, x: moved.reshape(x_shape)})).astype(np.float64))
        by_differences[i] = (ends[0] - ends[1]) / (2 * delta)
    return by_gradients, by_differences


def compute_gradient_error(
    x: Any,
    x_shape: Any,
    y: Any,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Any = None,
) -> float:
    """The largest difference between the Jacobians that gradients and differences give. Arguments are those of
    `compute_gradient`.

    Returns:
      A float.

    Example:
      >>> x = tf.constant([1.0, 2.0])
      >>> with tf.Session():
      ...     tf.test.compute_gradient_error(x, [2], x * x, [2]) < 0.01
      True
    """
    found = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    pairs = found if isinstance(found, list) else [found]
    return max((float(np.max(np.fabs(a - b))) if a.size else 0.0 for a, b in pairs), default=0.0)


# Tests.


class TestCase(unittest.TestCase):
    """A test with sessions and assertions about tensors. Each test begins with an empty default graph and the same
    seeds.

    Assertions take tensors, arrays and numbers; tensors are evaluated in the default session. They raise
    `AssertionError`.

    Example:
      >>> class MyTest(tf.test.TestCase):
      ...     def test_it(self):
      ...         with self.session() as sess:
      ...             x = tf.constant([1.0, 2.0])
      ...             self.assertAllEqual(x, [1.0, 2.0])
      ...             self.assertNotAllEqual(x, [1.0, 3.0])
      ...             self.assertAllClose(self.evaluate(x), [1.0, 2.0 + 1e-9])
      ...             self.assertNotAllClose(x, [1.0, 2.5])
      ...             self.assertAllCloseAccordingToType(np.float16(1.0), np.float16(1.0))
      ...             self.assertNear(1.0, 1.1, 0.2)
      ...             self.assertArrayNear([1.0], [1.1], 0.2)
      ...             self.assertNDArrayNear(np.ones(2), np.ones(2), 0.1)
      ...             self.assertAllGreater(x, 0.0)
      ...             self.assertAllLess(x, 3.0)
      ...             self.assertAllGreaterEqual(x, 1.0)
      ...             self.assertAllLessEqual(x, 2.0)
      ...             self.assertAllInSet(x, [1.0, 2.0])
      ...             self.assertShapeEqual(np.ones([2]), x)
      ...             self.assertDTypeEqual(x, np.float32)
      ...             self.assertDeviceEqual("/cpu:0", "/device:CPU:0")
      ...             self.assertStartsWith("session", "sess")
      ...             self.assertProtoEquals("node { name: 'a' }", tf.GraphDef(node=[tf.NodeDef(name="a")]))
      ...             with self.assertRaisesOpError("is not in"):
      ...                 sess.run(tf.gather(x, tf.placeholder_with_default(5, [])))
      ...             with self.assertRaisesWithPredicateMatch(ValueError, "rank"):
      ...                 tf.matmul(x, x)
      ...     def test_more(self):
      ...         with self.cached_session() as sess, self.test_session() as same:
      ...             self.assertIs(sess, same)
      ...         thread = self.checkedThread(lambda: self.assertEmpty([]))
      ...         thread.start()
      ...         thread.join()
      ...         self.assertNotEmpty(self.get_temp_dir())
      ...         self.assertLen([1, 2], 2)
      ...         self.assertBetween(1, 0, 2)
      >>> import unittest
      >>> unittest.TestResult.wasSuccessful(unittest.defaultTestLoader.loadTestsFromTestCase(MyTest).run(unittest.TestResult()))
      True
    """

    def __init__(self, methodName: str = "runTest") -> None:  # noqa: N803
        super().__init__(methodName)
        self._cached: Any = None
        self._folder: Optional[str] = None
        self._threads: List["_CheckedThread"] = []

    def setUp(self) -> None:
        """Makes an empty default graph, and sets the seeds. A class of one's own that has it calls `super().setUp()`.

        Example:
          >>> class MyTest(tf.test.TestCase):
          ...     def setUp(self):
          ...         super().setUp()
          ...         self.x = tf.constant(1)
          ...     def tearDown(self):
          ...         super().tearDown()
        """
        self._clear()
        random.seed(_SEED)
        np.random.seed(_SEED)
        tf.reset_default_graph()
        tf.get_default_graph().seed = _SEED

    def tearDown(self) -> None:
        """Fails the test if it forgot to join threads. A class of one's own that has it calls `super().tearDown()`.

        Example:
          >>> class MyTest(tf.test.TestCase):
          ...     def tearDown(self):
          ...         super().tearDown()
        """
        for thread in self._threads:
            thread.check_termination()
        self._clear()

    def _clear(self) -> None:
        if self._cached is not None:
            self._cached.close()
            self._cached = None

    # Sessions.

    @contextlib.contextmanager
    def session(self, graph: Any = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False) -> Iterator[Any]:
        """A new session, which is the default in its block, as is its graph.

        Args:
          graph: The graph; the default graph by default.
          config: A `ConfigProto`.
          use_gpu: Accepted.
          force_gpu: Accepted.

        Returns:
          What a `with` statement takes; it gives the session.
        """
        with tf.Session(graph=graph, config=config) as session:
            yield session

    @contextlib.contextmanager
    def cached_session(self, graph: Any = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False) -> Iterator[Any]:
        """The test's own session: each block of one test has the same."""
        if self._cached is None:
            self._cached = tf.Session(graph=graph, config=config)
        with self._cached.graph.as_default(), self._cached.as_default():
            yield self._cached

    def test_session(self, graph: Any = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False) -> Any:
        """`cached_session`, or with a graph `session`, by an older name."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        if graph is None:
            return self.cached_session(graph, config, use_gpu, force_gpu)
        return self.session(graph, config, use_gpu, force_gpu)

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors in the default session."""
        session = tf.get_default_session()
        if session is None:
            with self.cached_session() as session:
                return session.run(tensors)
        return session.run(tensors)

    def get_temp_dir(self) -> str:
        """A folder of this test."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(dir=get_temp_dir())
        return self._folder

    def checkedThread(self, target: Callable[..., Any], args: Any = None, kwargs: Any = None) -> "_CheckedThread":  # noqa: N802
        """A thread whose exception is the test's when it is joined."""
        thread = _CheckedThread(self, target, args, kwargs)
        self._threads.append(thread)
        return thread

    # Values.

    def _value(self, value: Any) -> Any:
        if isinstance(value, tf.Tensor) or hasattr(value, "_as_graph_element"):
            value = self.evaluate(value)
        return value if isinstance(value, np.ndarray) else np.array(value)

    def assertAllEqual(self, a: Any, b: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Of one shape, and equal elements; NaNs are equal."""
        a, b = self._value(a), self._value(b)
        self.assertEqual(a.shape, b.shape, "Shape mismatch: expected %s, got %s. %s" % (a.shape, b.shape, msg or ""))
        same = _as_bytes(a) == _as_bytes(b)
        if a.dtype.kind in "fc" and b.dtype.kind in "fc":
            same = np.logical_or(same, np.logical_and(np.isnan(a), np.isnan(b)))
        if not np.all(same):
            self.fail("Not equal: %s\nnot equal where = %s\nleft = %s\nright = %s" % (msg or "", np.where(~np.asarray(same)), a, b))

    def assertNotAllEqual(self, a: Any, b: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Something differs.

        Raises:
          AssertionError: Nothing does.
        """
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError("The two values are equal at all elements. %s" % (msg or ""))

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Optional[str] = None) -> None:  # noqa: N802
        """Of one structure and shape, and `|a - b| <= atol + rtol * |b|`.

        Raises:
          AssertionError: Something is further apart.
          ValueError: Just one of them is a dict.
        """
        if hasattr(a, "_asdict"):
            a = a._asdict()
        if hasattr(b, "_asdict"):
            b = b._asdict()
        if isinstance(a, dict) or isinstance(b, dict):
            if not (isinstance(a, dict) and isinstance(b, dict)):
                raise ValueError("Can't compare dict to non-dict, %s vs %s. %s" % (a, b, msg or ""))
            self.assertCountEqual(a.keys(), b.keys(), msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, "%s of key %r" % (msg or "", key))
            return
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and not _is_plain(a) and len(a) == len(b):
            for i, (x, y) in enumerate(zip(a, b)):
                self.assertAllClose(x, y, rtol, atol, "%s of element %d" % (msg or "", i))
            return
        a, b = self._value(a), self._value(b)
        self.assertEqual(a.shape, b.shape, "Shape mismatch: expected %s, got %s. %s" % (a.shape, b.shape, msg or ""))
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=msg or "", equal_nan=True)

    def assertNotAllClose(self, a: Any, b: Any, **kwargs: Any) -> None:  # noqa: N802
        """Something is not close.

        Raises:
          AssertionError: Everything is.
        """
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        raise AssertionError("The two values are close at all elements")

    def assertAllCloseAccordingToType(  # noqa: N802
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: Optional[str] = None,
    ) -> None:
        """`assertAllClose` with what the less exact of the dtypes can tell."""
        a, b = self._value(a), self._value(b)
        kinds = {a.dtype.name, b.dtype.name}
        if kinds & {"float32", "complex64"}:
            rtol, atol = max(rtol, float_rtol), max(atol, float_atol)
        if "float16" in kinds:
            rtol, atol = max(rtol, half_rtol), max(atol, half_atol)
        if "bfloat16" in kinds:
            rtol, atol = max(rtol, bfloat16_rtol), max(atol, bfloat16_atol)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNear(self, f1: float, f2: float, err: float, msg: Optional[str] = None) -> None:  # noqa: N802
        """Two numbers, no further apart than `err`.

        Args:
          f1: A number.
          f2: Another.
          err: How far apart they may be.
          msg: What the message ends with.
        """
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, "%f != %f +/- %f%s" % (f1, f2, err, " (%s)" % msg if msg else ""))

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: Optional[str] = None) -> None:  # noqa: N802
        """Two rows of numbers, each no further apart than `err`."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for f1, f2 in zip(farray1, farray2):
            self.assertNear(float(f1), float(f2), err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: Optional[str] = None) -> None:  # noqa: N802
        """Two arrays whose difference has a norm of at most `err`."""
        size = np.linalg.norm(np.asarray(ndarray1) - np.asarray(ndarray2))
        self.assertTrue(size < err, msg or "the norm of the difference is %s, not below %s" % (size, err))

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:  # noqa: N802
        """Every element is greater."""
        self.assertGreater(np.min(self._value(a)), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:  # noqa: N802
        """Every element is less."""
        self.assertLess(np.max(self._value(a)), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:  # noqa: N802
        """Every element is as great or greater."""
        self.assertGreaterEqual(np.min(self._value(a)), comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:  # noqa: N802
        """Every element is as little or less."""
        self.assertLessEqual(np.max(self._value(a)), comparison_target)

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:  # noqa: N802
        """Every element is one of these.

        Raises:
          AssertionError: One is not.
        """
        left = set(self._value(target).ravel().tolist()) - set(expected_set)
        if left:
            raise AssertionError("%d unexpected element(s): %s" % (len(left), sorted(map(str, left))))

    # Shapes, types and messages.

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """A tensor is known to have an array's shape."""
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:  # noqa: N802
        """Of this dtype."""
        self.assertEqual(self._value(target).dtype, np.dtype(expected_dtype))

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Names of one device, however they are written."""
        first, second = (tf.DeviceSpec.from_string(d or "").to_string() for d in (device1, device2))
        self.assertEqual(first, second, "Devices %s and %s are not equal. %s" % (device1, device2, msg or ""))

    def assertStartsWith(self, actual: str, expected_start: str, msg: Optional[str] = None) -> None:  # noqa: N802
        """A text's beginning."""
        if not actual.startswith(expected_start):
            self.fail("%r does not start with %r%s" % (actual, expected_start, " : %s" % msg if msg else ""))

    def assertProtoEquals(self, expected_message_maybe_ascii: Any, message: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """A message equals another, or what a text says."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, (str, bytes)):
            from google.protobuf import text_format

            expected = text_format.Parse(expected, type(message)())
        self.assertEqual(expected, message, msg)

    assertProtoEqualsVersion = assertProtoEquals  # noqa: N815

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type: Any, expected_err_re_or_predicate: Any) -> Iterator[None]:  # noqa: N802
        """The block raises this, with a message that the pattern finds or of which the function holds.

        Raises:
          AssertionError: It does not.
        """
        try:
            yield
        except Exception as e:  # noqa: BLE001
            if not isinstance(e, exception_type):
                raise
            if callable(expected_err_re_or_predicate):
                fits = expected_err_re_or_predicate(e)
            else:
                text = e.message if isinstance(e, errors.OpError) else str(e)
                op = e.op if isinstance(e, errors.OpError) else None
                if op is not None:
                    text += "\nCaused by op: " + op.name
                fits = re.search(expected_err_re_or_predicate, text) is not None
            if not fits:
                raise AssertionError("Exception of type %s: %s" % (type(e), e)) from e
        else:
            self.fail("%s not raised" % getattr(exception_type, "__name__", exception_type))

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:  # noqa: N802
        """The block raises an `OpError` whose message the pattern finds."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    # Older names that Python has dropped.
    assertItemsEqual = unittest.TestCase.assertCountEqual  # noqa: N815
    assertRaisesRegexp = unittest.TestCase.assertRaisesRegex  # noqa: N815
    assertRegexpMatches = unittest.TestCase.assertRegex  # noqa: N815
    assertEquals = unittest.TestCase.assertEqual  # noqa: N815

    def assertEmpty(self, container: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Nothing is in it."""
        self.assertEqual(len(container), 0, msg)

    def assertNotEmpty(self, container: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Something is in it."""
        self.assertNotEqual(len(container), 0, msg)

    def assertLen(self, container: Any, expected_len: int, msg: Optional[str] = None) -> None:  # noqa: N802
        """So many are in it."""
        self.assertEqual(len(container), expected_len, msg)

    def assertBetween(self, value: Any, minv: Any, maxv: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """`minv <= value <= maxv`."""
        self.assertTrue(minv <= value <= maxv, msg or "%r is not from %r to %r" % (value, minv, maxv))


def _is_plain(values: Any) -> bool:
    """Whether a list is one array's worth of numbers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # What NumPy before 1.24 says of lists of different lengths.
            return np.array(values).dtype.kind in "biufcSU" and not any(isinstance(v, (np.ndarray, tf.Tensor)) for v in values)
    except (ValueError, Warning):
        return False


def _as_bytes(array: np.ndarray) -> np.ndarray:
    """Text and bytes compare as bytes."""
    if array.dtype.kind == "U" or array.dtype == object:
        flat = [v.encode() if isinstance(v, str) else v for v in array.ravel().tolist()]
        out = np.empty(len(flat), object)
        out[:] = flat
        return out.reshape(array.shape)
    return array.astype(object) if array.dtype.kind == "S" else array


class _CheckedThread:
    """A thread whose exception is raised where it is joined."""

    def __init__(self, test: TestCase, target: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self._test, self._target, self._args, self._kwargs = test, target, args or (), kwargs or {}
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._error: Optional[BaseException] = None
        self._joined = False

    def _work(self) -> None:
        try:
            self._target(*self._args, **self._kwargs)
        except Exception as e:  # noqa: BLE001
            self._error = e

    def start(self) -> None:
        """Starts it."""
        self._thread.start()

    def join(self) -> None:
        """Waits for its end; its exception fails the test."""
        self._joined = True
        self._thread.join()
        if self._error is not None:
            self._test.fail("Error in checkedThread: %s" % self._error)

    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self._thread.is_alive()

    def check_termination(self) -> None:
        """Fails unless it was joined."""
        if not self._joined:
            self._test.fail("A checked thread was not joined")


