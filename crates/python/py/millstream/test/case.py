"""`TestCase` for tensors and sessions, gradient checks, and queries of capabilities."""

from __future__ import annotations

import builtins
import collections.abc
import contextlib
import os
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

from millstream._engine import Tensor
from millstream.framework import (
    IndexedSlicesValue,
    errors,
    get_default_graph,
    placeholder,
    reset_default_graph,
    version,
)
from millstream.framework.devices import DeviceSpec
from millstream.framework.graph import _empty_stack
from millstream.framework.session import Session, get_default_session
from millstream.framework.shapes import TensorShape
from millstream.ops import gradients
from millstream.ops.ragged_tensors import RaggedTensor, RaggedTensorValue
from millstream.test import commands, containment

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
    """Returns False: graphs run on CPUs only.

    Args:
      cuda_only: Ignored.
      min_cuda_compute_capability: Ignored.

    Example:
      >>> tf.test.is_gpu_available()
      False
    """
    return False


def gpu_device_name() -> str:
    """Returns the empty string: there is no GPU.

    Example:
      >>> tf.test.gpu_device_name()
      ''
    """
    return ""


def is_built_with_cuda() -> bool:
    """Returns False: there is no support for CUDA.

    Example:
      >>> tf.test.is_built_with_cuda()
      False
    """
    return False


is_built_with_rocm = is_built_with_gpu_support = is_built_with_cuda


def main(argv: Optional[List[str]] = None) -> None:
    """Runs the tests of the main module: `if __name__ == "__main__": tf.test.main()`.

    Args:
      argv: The command line. Defaults to `sys.argv`.

    Example:
      >>> callable(tf.test.main)
      True
    """
    unittest.main(argv=argv)


_temp_dir: List[str] = []


def get_temp_dir() -> str:
    """Returns a temporary directory of this process; it is removed at exit.

    Returns:
      The path of the directory.

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


def assert_equal_graph_def(actual: Any, expected: Any, checkpoint_v2: bool = False, hash_table_shared_name: bool = False) -> None:
    """Asserts that two `GraphDef`s have the same nodes, in any order.

    Args:
      actual: A `GraphDef`.
      expected: The `GraphDef` to compare with.
      checkpoint_v2: Ignored.
      hash_table_shared_name: Ignored.

    Raises:
      AssertionError: They differ; the message names a node.

    Example:
      >>> c = tf.constant(1)
      >>> d = tf.get_default_graph().as_graph_def()
      >>> tf.test.assert_equal_graph_def(d, d)
    """
    for word, graph in (("actual", actual), ("expected", expected)):
        if type(graph).__name__ != "GraphDef":
            raise TypeError("Expected tf.GraphDef for %s, got %s" % (word, type(graph).__name__))
    nodes = [{n.name: n for n in g.node} for g in (actual, expected)]
    # Missing nodes are reported first, as in TensorFlow.
    for name in nodes[1]:
        if name not in nodes[0]:
            raise AssertionError("Did not find expected node '{{node %s}} = %s'" % (name, nodes[1][name].op))
    for name in nodes[0]:
        if name not in nodes[1]:
            raise AssertionError("Found unexpected node '{{node %s}} = %s'" % (name, nodes[0][name].op))
    for name in nodes[0]:
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
    """Returns the theoretical and the numerical Jacobian of `y` with respect to `x` (in rows).

    Args:
      x: A tensor of floats, or a list of them.
      x_shape: The shape of `x`, or a list of shapes.
      y: A tensor of floats.
      y_shape: The shape of `y`.
      x_init_value: The value of `x` to compute the Jacobians at. Defaults to random numbers from 0 to 1.
      delta: A float: the step of finite differences.
      init_targets: Operations to run first.
      extra_feed_dict: Additional feeds.

    Returns:
      A pair of arrays; if `x` is a list, a list of pairs.

    Raises:
      ValueError: There is no default session.

    Example:
      >>> x = tf.constant([1.0, 2.0])
      >>> with tf.Session():
      ...     theory, numbers = tf.test.compute_gradient(x, [2], x * x, [2],
      ...         x_init_value=np.array([1.0, 2.0], np.float32))
      >>> print(theory)
      [[2. 0.]
       [0. 4.]]
    """
    session = get_default_session()
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
    x_shape, y_shape = [list(map(int, TensorShape(s).as_list())) for s in (x_shape, y_shape)]
    dtype = x.dtype.as_numpy_dtype
    if start is None:
        start = np.random.random_sample(x_shape).astype(dtype)
        if x.dtype.is_complex:
            start = start + 1j * np.random.random_sample(x_shape).astype(dtype)
    start = np.array(start, dtype)
    if list(start.shape) != x_shape:
        raise AssertionError("x_shape = %s, init_data shape = %s: the initial value has another shape" % (x_shape, list(start.shape)))
    if not (y.dtype.is_floating or y.dtype.is_complex):
        raise TypeError("Expected %s, got 1.0 of type 'float' instead." % y.dtype.base_dtype.name)
    # Complex arrays are viewed as pairs of reals.
    parts = 2 if x.dtype.is_complex else 1
    n, m = int(np.prod(x_shape)) * parts, int(np.prod(y_shape)) * (2 if y.dtype.is_complex else 1)
    dy = placeholder(y.dtype.base_dtype, y_shape)
    found = gradients.gradients(y, x, grad_ys=dy)[0]
    if found is None:
        raise AssertionError("dx = None: there is no gradient of %s with respect to %s" % (y.name, x.name))
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
        value = session.run(found, {**feeds, x: start, dy: grad.reshape(y_shape)})
        if isinstance(value, IndexedSlicesValue):
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
    real = np.zeros(1, dtype).real.dtype
    return by_gradients.astype(real), by_differences.astype(real)


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
    """Returns the largest difference between the theoretical and the numerical Jacobian.

    Arguments are those of `compute_gradient`.

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


class TestCase(containment.Assertions, commands.Assertions, unittest.TestCase):
    """A test case with sessions and assertions about tensors.

    Each test starts with an empty default graph and the same random seeds.

    Assertions take tensors, arrays and numbers; tensors are evaluated in the default session. A failed
    assertion raises `AssertionError`.

    Example:
      >>> import sys
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
      ...             self.assertAllInRange(x, 1.0, 2.0)
      ...             self.assertShapeEqual(np.ones([2]), x)
      ...             self.assertDTypeEqual(x, np.float32)
      ...             self.assertDeviceEqual("/cpu:0", "/device:CPU:0")
      ...             self.assertStartsWith("session", "sess")
      ...             self.assertProtoEquals("node { name: 'a' }", tf.GraphDef(node=[tf.NodeDef(name="a")]))
      ...             self.assertProtoEqualsVersion("", tf.GraphDef(versions={"producer": 7}), producer=7)
      ...             with self.captureWritesToStream(sys.__stderr__) as written:
      ...                 sess.run(tf.Print(x, [x]))
      ...             self.assertIn("[1 2]", written.contents())
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
      >>> unittest.TestResult.wasSuccessful(
      ...     unittest.defaultTestLoader.loadTestsFromTestCase(MyTest).run(unittest.TestResult()))
      True
    """

    def __init__(self, methodName: str = "runTest") -> None:  # noqa: N803
        super().__init__(methodName)
        self._cached: Any = None
        self._cached_as: Tuple[Any, Any, bool] = (None, None, False)
        self._folder: Optional[str] = None
        self._threads: List["_CheckedThread"] = []

    def setUp(self) -> None:
        """Creates an empty default graph and sets random seeds.

        Subclasses that override it call `super().setUp()`.

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
        # Graphs entered by an earlier test or the surrounding program are left out.
        _empty_stack()
        reset_default_graph()
        get_default_graph().seed = _SEED

    def tearDown(self) -> None:
        """Fails the test if threads were not joined. Subclasses that override it call `super().tearDown()`.

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
        """Creates a session that is the default in a block. Nodes created there are placed on the CPU.

        Args:
          graph: A `Graph`. Defaults to the default graph.
          config: A `ConfigProto`.
          use_gpu: If true, nodes are not placed on the CPU.
          force_gpu: Same as `use_gpu`.

        Returns:
          A context manager that yields the session.
        """
        with Session(graph=graph, config=config) as session, _placed(session, use_gpu or force_gpu):
            yield session

    @contextlib.contextmanager
    def cached_session(self, graph: Any = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False) -> Iterator[Any]:
        """Returns a context manager for the session that all blocks of one test share.

        Raises:
          ValueError: The session was created with another graph or configuration.
        """
        wanted = (graph, config, force_gpu)
        if self._cached is None:
            self._cached, self._cached_as = Session(graph=graph, config=config), wanted
        for word, one, other in zip(("graph", "config", "force_gpu value"), self._cached_as, wanted):
            if one is not other and one != other:
                raise ValueError(
                    "The %s used to get the cached session is different than the one that was used to create the session. "
                    "Maybe create a new session with self.session()" % word
                )
        with self._cached.graph.as_default(), self._cached.as_default(), _placed(self._cached, use_gpu or force_gpu):
            yield self._cached

    def test_session(self, graph: Any = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False) -> Any:
        """The old name of `cached_session`; with a graph, of `session`."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        if graph is None:
            return self._any_cached_session(config, use_gpu, force_gpu)
        return self.session(graph, config, use_gpu, force_gpu)

    @contextlib.contextmanager
    def _any_cached_session(self, config: Any, use_gpu: bool, force_gpu: bool) -> Iterator[Any]:
        """Returns a context manager for the shared session, regardless of its arguments."""
        if self._cached is None:
            self._cached, self._cached_as = Session(config=config), (None, config, force_gpu)
        with self._cached.graph.as_default(), self._cached.as_default(), _placed(self._cached, use_gpu or force_gpu):
            yield self._cached

    def evaluate(self, tensors: Any) -> Any:
        """Returns the values of tensors in the default session."""
        session = get_default_session()
        if session is None:
            with self._any_cached_session(None, False, False) as session:
                return session.run(tensors)
        return session.run(tensors)

    def get_temp_dir(self) -> str:
        """Returns a temporary directory of this test."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(dir=get_temp_dir())
        return self._folder

    def checkedThread(self, target: Callable[..., Any], args: Any = None, kwargs: Any = None) -> "_CheckedThread":  # noqa: N802
        """Returns a thread whose exception fails the test when it is joined."""
        thread = _CheckedThread(self, target, args, kwargs)
        self._threads.append(thread)
        return thread

    @contextlib.contextmanager
    def captureWritesToStream(self, stream: Any) -> Iterator["_Captured"]:  # noqa: N802
        """Captures what Python and kernels write to a file descriptor (as of `sys.stderr`) in a block.

        The value of the context manager has a method `contents()`.
        """
        number = stream.fileno()
        kept = tempfile.NamedTemporaryFile(dir=self.get_temp_dir(), delete=False)
        stream.flush()
        before = os.dup(number)
        os.dup2(kept.fileno(), number)
        try:
            yield _Captured(kept.name)
        finally:
            stream.flush()
            os.dup2(before, number)
            os.close(before)
            kept.close()

    # Values.

    def _value(self, value: Any) -> Any:
        if isinstance(value, Tensor) or hasattr(value, "_as_graph_element"):
            value = self.evaluate(value)
        if isinstance(value, np.ndarray):
            return value
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # What NumPy before 1.24 says of lists of different lengths.
                return np.array(value)
        except (ValueError, Warning):
            return np.array(value, dtype=object)

    _GetNdArray = _value  # noqa: N815

    def _rows(self, value: Any) -> Any:
        """Returns a ragged tensor, or what is compared with one, as nested lists."""
        if isinstance(value, RaggedTensor):
            value = self.evaluate(value)
        elif isinstance(value, Tensor) or hasattr(value, "_as_graph_element"):
            value = self.evaluate(value)
        for name in ("to_list", "tolist"):
            if hasattr(value, name):
                return getattr(value, name)()
        return [self._rows(v) for v in value] if isinstance(value, (list, tuple)) else value

    def assertAllEqual(self, a: Any, b: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that two values have the same shape and equal elements; NaNs are equal.

        Raises:
          AssertionError: They differ; the message shows where.
        """
        if any(isinstance(x, (RaggedTensor, RaggedTensorValue)) for x in (a, b)):
            self.assertEqual(self._rows(a), self._rows(b), msg)
            return
        a, b = self._value(a), self._value(b)
        contents = " with contents %s" % (b,) if b.size <= 500 else ""
        self.assertEqual(a.shape, b.shape, "Shape mismatch: expected %s, got %s%s. %s" % (a.shape, b.shape, contents, msg or ""))
        # Bytes and text differ, whatever NumPy says of their comparison.
        is_mixed = {a.dtype.kind, b.dtype.kind} == {"S", "U"}
        same = np.zeros(a.shape, bool) if is_mixed else a == b
        if a.dtype.kind in "fc" and b.dtype.kind in "fc":
            same = np.logical_or(same, np.logical_and(np.isnan(a), np.isnan(b)))
        same = np.asarray(same)
        if not np.all(same):
            told = "\n".join([msg or ""] + _unequal("equal", ~same, a, b))
            if not is_mixed:
                np.testing.assert_array_equal(a, b, err_msg=told)
            raise AssertionError(told)

    def assertNotAllEqual(self, a: Any, b: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that two values differ.

        Raises:
          AssertionError: They are equal.
        """
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError("The two values are equal at all elements. %s" % (msg or ""))

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that two values have the same structure, and `|a - b| <= atol + rtol * |b|` elementwise.

        Raises:
          AssertionError: They differ by more.
          ValueError: Only one of them is a dict.
        """
        self._check_close(a, b, rtol, atol, "", msg or "")

    def _check_close(self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: str) -> None:
        if hasattr(a, "_asdict"):
            a = a._asdict()
        if hasattr(b, "_asdict"):
            b = b._asdict()
        if isinstance(a, collections.abc.Mapping) or isinstance(b, collections.abc.Mapping):
            if not (isinstance(a, collections.abc.Mapping) and isinstance(b, collections.abc.Mapping)):
                raise ValueError("Can't compare dict to non-dict, a%s vs b%s. %s" % (path, path, msg))
            self.assertCountEqual(
                a.keys(), b.keys(), "mismatched keys: a%s has keys %s, but b%s has keys %s. %s" % (path, a.keys(), path, b.keys(), msg)
            )
            for key in a:
                self._check_close(a[key], b[key], rtol, atol, "%s[%s]" % (path, key), msg)
            return
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and not (_is_plain(a) and _is_plain(b)):
            self.assertEqual(len(a), len(b), "Mismatched length: a%s has %d items, but b%s has %d items. %s" % (path, len(a), path, len(b), msg))
            for i, (x, y) in enumerate(zip(a, b)):
                self._check_close(x, y, rtol, atol, "%s[%d]" % (path, i), msg)
            return
        what = "Mismatched value: a%s is different from b%s. %s" % (path, path, msg)
        try:
            self._check_arrays_close(self._value(a), self._value(b), rtol, atol, what)
        except (TypeError, np.exceptions.DTypePromotionError if hasattr(np, "exceptions") else TypeError) as e:
            raise TypeError("%s : Error: a%s has %s, but b%s has %s. %s" % (e, path, type(a), path, type(b), msg)) from e

    def _check_arrays_close(self, a: Any, b: Any, rtol: float, atol: float, msg: str) -> None:
        contents = " with contents %s" % (b,) if b.size <= 500 else ""
        self.assertEqual(a.shape, b.shape, "Shape mismatch: expected %s, got %s%s. %s" % (a.shape, b.shape, contents, msg))
        close = np.asarray(np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True))
        if np.all(close):
            return
        lines = [msg] + _unequal("close", ~close, a, b)
        if a.dtype.kind in "biufc" and b.dtype.kind in "biufc":
            left, right = (a, b) if a.ndim == 0 else (a[~close], b[~close])
            far = np.abs(left - right)
            lines += ["not close dif = %s" % far, "not close tol = %s" % (atol + rtol * np.abs(right)), "dtype = %s, shape = %s" % (a.dtype, a.shape)]
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg="\n".join(lines), equal_nan=True)

    def assertNotAllClose(self, a: Any, b: Any, **kwargs: Any) -> None:  # noqa: N802
        """Asserts that two values are not close.

        Raises:
          AssertionError: They are close.
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
        """Asserts that two values are close, with tolerances for the less precise of the dtypes."""
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
        """Asserts that two numbers differ by at most `err`.

        Args:
          f1: A number.
          f2: The number to compare with.
          err: The largest difference allowed.
          msg: The end of the message.
        """
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, "%f != %f +/- %f%s" % (f1, f2, err, " (%s)" % msg if msg else ""))

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that corresponding elements of two sequences differ by at most `err`."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for f1, f2 in zip(farray1, farray2):
            self.assertNear(float(f1), float(f2), err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that the norm of the difference of two arrays is at most `err`."""
        size = np.linalg.norm(np.asarray(ndarray1) - np.asarray(ndarray2))
        self.assertTrue(size < err, msg or "the norm of the difference is %s, not below %s" % (size, err))

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:  # noqa: N802
        """Asserts that all elements are greater than a value."""
        self.assertGreater(np.min(self._value(a)), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:  # noqa: N802
        """Asserts that all elements are less than a value."""
        self.assertLess(np.max(self._value(a)), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:  # noqa: N802
        """Asserts that all elements are greater than or equal to a value."""
        self.assertGreaterEqual(np.min(self._value(a)), comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:  # noqa: N802
        """Asserts that all elements are less than or equal to a value."""
        self.assertLessEqual(np.max(self._value(a)), comparison_target)

    def assertAllInRange(  # noqa: N802
        self, target: Any, lower_bound: Any, upper_bound: Any, open_lower_bound: bool = False, open_upper_bound: bool = False
    ) -> None:
        """Asserts that all elements are between two bounds, which are included unless open.

        Raises:
          AssertionError: An element is out of range; the message gives the indices.
        """
        target = self._value(target)
        if target.dtype.kind not in "biuf":
            raise AssertionError("The value of %s does not have an ordered numeric type, instead it has type: %s" % (target, target.dtype))
        nans = np.isnan(target) if target.dtype.kind == "f" else np.zeros(target.shape, bool)
        if np.any(nans):
            raise AssertionError(
                "%d of the %d element(s) are NaN. Subscripts(s) and value(s) of the NaN element(s):\n%s"
                % (np.sum(nans), target.size, "\n".join(_places(nans, target)))
            )
        below = target <= lower_bound if open_lower_bound else target < lower_bound
        above = target >= upper_bound if open_upper_bound else target > upper_bound
        outside = np.logical_or(below, above)
        if np.any(outside):
            span = "%s%s, %s%s" % ("(" if open_lower_bound else "[", lower_bound, upper_bound, ")" if open_upper_bound else "]")
            raise AssertionError(
                "%d of the %d element(s) are outside the range %s. Subscript(s) and value(s) of the offending elements:\n%s"
                % (np.sum(outside), target.size, span, "\n".join(_places(outside, target)))
            )

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:  # noqa: N802
        """Asserts that all elements are in a set.

        Raises:
          AssertionError: An element is not in the set.
        """
        left = np.setdiff1d(self._value(target), list(expected_set))
        if left.size:
            raise AssertionError("%d unique element(s) are not in the set %s: %s" % (left.size, expected_set, left))

    # Shapes, types and messages.

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that the static shape of a tensor is the shape of an array.

        Raises:
          TypeError: The first argument is not an array, or the second is not a tensor.
        """
        if not isinstance(np_array, (np.ndarray, np.generic)):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:  # noqa: N802
        """Asserts that a tensor or an array has a dtype."""
        self.assertEqual(self._value(target).dtype, np.dtype(expected_dtype))

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that two strings name the same device, in any spelling."""
        first, second = (DeviceSpec.from_string(d or "").to_string() for d in (device1, device2))
        self.assertEqual(first, second, "Devices %s and %s are not equal. %s" % (first, second, msg or ""))

    def assertProtoEquals(self, expected_message_maybe_ascii: Any, message: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that a message equals another one, which can be in text format.

        Raises:
          AssertionError: They differ, or have different types.
        """
        expected = expected_message_maybe_ascii
        if isinstance(expected, (str, bytes)):
            from google.protobuf import text_format

            expected = text_format.Parse(expected, type(message)())
        elif type(expected) is not type(message):
            raise AssertionError("Can't compare protos of type %s and %s. %s" % (type(expected), type(message), msg or ""))
        if expected != message:
            self.assertMultiLineEqual(str(expected), str(message), msg)
            self.assertEqual(expected, message, msg)

    def assertProtoEqualsVersion(  # noqa: N802
        self, expected: str, actual: Any, producer: int = version.GRAPH_DEF_VERSION, min_consumer: int = 0, msg: Optional[str] = None
    ) -> None:
        """Asserts that a `GraphDef` equals one in text format, extended with versions."""
        self.assertProtoEquals("versions { producer: %d min_consumer: %d }\n%s" % (producer, min_consumer, expected), actual, msg)

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type: Any, expected_err_re_or_predicate: Any) -> Iterator[None]:  # noqa: N802
        """Asserts that the block raises an exception that matches a pattern or satisfies a predicate.

        Raises:
          AssertionError: It does not.
        """
        try:
            yield
            self.fail("%s not raised" % getattr(exception_type, "__name__", exception_type))
        except Exception as e:  # noqa: BLE001
            if not isinstance(e, exception_type) or not _fits(expected_err_re_or_predicate, e):
                raise AssertionError("Exception of type %s: %s" % (type(e), e)) from e

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:  # noqa: N802
        """Asserts that the block raises an `OpError` whose message matches a regular expression."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    # Old names, removed from newer versions of Python.
    assertItemsEqual = unittest.TestCase.assertCountEqual  # noqa: N815
    assertRaisesRegexp = unittest.TestCase.assertRaisesRegex  # noqa: N815
    assertRegexpMatches = unittest.TestCase.assertRegex  # noqa: N815
    assertNotRegexpMatches = unittest.TestCase.assertNotRegex  # noqa: N815
    assertEquals = unittest.TestCase.assertEqual  # noqa: N815
    assertNotEquals = unittest.TestCase.assertNotEqual  # noqa: N815
    assertAlmostEquals = unittest.TestCase.assertAlmostEqual  # noqa: N815
    assertNotAlmostEquals = unittest.TestCase.assertNotAlmostEqual  # noqa: N815
    assert_ = unittest.TestCase.assertTrue


def _fits(wanted: Any, error: Any) -> bool:
    """Whether an exception satisfies a predicate, or its message matches a regular expression."""
    if callable(wanted):
        return bool(wanted(error))
    text = error.message if isinstance(error, errors.OpError) else str(error)
    node = error.op if isinstance(error, errors.OpError) else None
    while node is not None:
        text += "\nCaused by: " + node.name
        node = getattr(node, "_original_op", None)
    return re.search(wanted, text) is not None


@contextlib.contextmanager
def _placed(session: Any, anywhere: bool) -> Iterator[None]:
    """Places nodes created in the block on the CPU, unless `anywhere` is true."""
    if anywhere:
        yield
        return
    with session.graph.device("/device:CPU:0"):
        yield


class _Captured:
    """The captured output of a block."""

    def __init__(self, path: str) -> None:
        self.capture_location = path

    def contents(self) -> str:
        """Returns the output so far."""
        with open(self.capture_location, errors="replace") as kept:
            return kept.read()


def _unequal(word: str, where: np.ndarray, a: np.ndarray, b: np.ndarray) -> List[str]:
    """Returns lines that describe where two arrays differ."""
    lines = []
    left, right = a, b
    if a.ndim:
        lines.append("not %s where = %s" % (word, np.where(where)))
        left, right = a[where], b[where]
    return lines + ["not %s lhs = %s" % (word, left), "not %s rhs = %s" % (word, right)]


def _places(where: np.ndarray, values: np.ndarray, limit: int = 10) -> List[str]:
    """Returns lines with the indices and values of the first elements selected by `where`."""
    if values.ndim == 0:
        return ["  [] : %s" % values]
    found = np.argwhere(where)
    lines = ["  [%s] : %s" % (" ".join(map(str, i)), values[builtins.tuple(i)]) for i in found[:limit]]
    return lines + (["  ...\n"] if limit < len(found) else [])


def _is_plain(values: Any) -> bool:
    """Whether a list can be converted to one array of numbers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # What NumPy before 1.24 says of lists of different lengths.
            return np.array(values).dtype.kind in "biufcSU" and not any(isinstance(v, (np.ndarray, Tensor)) for v in values)
    except (ValueError, Warning):
        return False


class _CheckedThread:
    """A thread whose exception is raised when it is joined."""

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
        """Starts the thread."""
        self._thread.start()

    def join(self) -> None:
        """Waits until the thread ends; fails the test if it raised an exception."""
        self._joined = True
        self._thread.join()
        if self._error is not None:
            self._test.fail("Error in checkedThread: %s" % self._error)

    def is_alive(self) -> bool:
        """Whether the thread is running."""
        return self._thread.is_alive()

    def check_termination(self) -> None:
        """Fails the test if the thread was not joined."""
        if not self._joined:
            self._test.fail("A checked thread was not joined.")
