"""Assertions about commands, texts of JSON and addresses from `absl`, stubs, and settings of tests."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import unittest
from typing import Any, ContextManager, List, Optional, Tuple
from urllib import parse

from millstream.framework import protos

__all__ = ["Assertions", "StubOutForTesting", "benchmark_config", "test_src_dir_path"]


class Assertions:
    """A mixin for `unittest.TestCase`.

    Example:
      >>> import tempfile
      >>> class MyTest(tf.test.TestCase):
      ...     def test_it(self):
      ...         self.assertJsonEqual('{"a": [1, 2]}', '{ "a" : [1,2] }')
      ...         self.assertUrlEqual("http://a/b?x=1&y=2", "http://a/b?y=2&x=1")
      ...         self.assertCommandSucceeds("echo word", ["wor"])
      ...         self.assertCommandFails("ls /no/such", ["No such"])
      ...         folder = self.enter_context(tempfile.TemporaryDirectory())
      >>> import unittest
      >>> unittest.TestResult.wasSuccessful(
      ...     unittest.defaultTestLoader.loadTestsFromTestCase(MyTest).run(unittest.TestResult()))
      True
    """

    def enter_context(self, manager: ContextManager[Any]) -> Any:
        """Enters a context that ends after the test, and returns its value."""
        case: Any = self
        value = manager.__enter__()
        case.addCleanup(manager.__exit__, None, None, None)
        return value

    def assertJsonEqual(self, first: str, second: str, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that two texts of JSON hold equal values.

        Raises:
          ValueError: A text is not JSON.
        """
        case: Any = self
        values = []
        for which, text in (("first", first), ("second", second)):
            try:
                values.append(json.loads(text))
            except ValueError as error:
                raise ValueError(case._formatMessage(msg, "could not decode %s JSON value %s: %s" % (which, text, error))) from None
        case.assertEqual(values[0], values[1], msg)

    def assertUrlEqual(self, a: str, b: str, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that two addresses are equal, whatever the order of their parameters."""
        case: Any = self
        one, other = parse.urlparse(a), parse.urlparse(b)
        for part in ("scheme", "netloc", "path", "fragment"):
            case.assertEqual(getattr(one, part), getattr(other, part), msg)
        case.assertEqual(sorted(one.params.split(";")), sorted(other.params.split(";")), msg)
        case.assertDictEqual(parse.parse_qs(one.query, True), parse.parse_qs(other.query, True), msg)

    def assertCommandSucceeds(  # noqa: N802
        self, command: Any, regexes: Any = (b"",), env: Any = None, close_fds: bool = True, msg: Optional[str] = None
    ) -> None:
        """Asserts that a command exits with 0, and that its output matches one of the patterns."""
        self._check_command(command, regexes, env, close_fds, msg, True)

    def assertCommandFails(  # noqa: N802
        self, command: Any, regexes: Any, env: Any = None, close_fds: bool = True, msg: Optional[str] = None
    ) -> None:
        """Asserts that a command does not exit with 0, and that its output matches one of the patterns."""
        self._check_command(command, regexes, env, close_fds, msg, False)

    def _check_command(self, command: Any, regexes: Any, env: Any, close_fds: bool, msg: Any, succeeds: bool) -> None:
        case: Any = self
        shell = isinstance(command, str)
        done = subprocess.run(command, shell=shell, env=env, close_fds=close_fds, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        shown = command if shell else " ".join(map(str, command))
        output = done.stdout
        if succeeds != (done.returncode == 0):
            words = "command %s exits with %d, and prints %r" % (shown, done.returncode, output)
            raise unittest.TestCase.failureException(case._formatMessage(msg, words))
        patterns: List[bytes] = [r.encode() if isinstance(r, str) else r for r in regexes]
        if not any(re.search(pattern, output) for pattern in patterns):
            words = "command %s prints %r, which matches none of %s" % (shown, output, patterns)
            raise unittest.TestCase.failureException(case._formatMessage(msg, words))


class StubOutForTesting:
    """Attributes that are replaced for the time of a test.

    `CleanUp` gives all of them back; a `with` statement calls it.

    Example:
      >>> import os
      >>> with tf.test.StubOutForTesting() as stubs:
      ...     stubs.Set(os, "getcwd", lambda: "/here")
      ...     print(os.getcwd())
      /here
      >>> os.getcwd() == "/here"
      False
      >>> stubs.SmartSet(os, "sep", "|")
      >>> os.sep
      '|'
      >>> stubs.SmartUnsetAll()
      >>> stubs.UnsetAll()
      >>> stubs.CleanUp()
      >>> os.sep
      '/'
    """

    def __init__(self) -> None:
        self._set: List[Tuple[Any, str, Any]] = []
        self._smart: List[Tuple[Any, str, Any]] = []

    def __enter__(self) -> "StubOutForTesting":
        return self

    def __exit__(self, *raised: Any) -> None:
        self.CleanUp()

    def __del__(self) -> None:
        self.CleanUp()

    def Set(self, parent: Any, child_name: str, new_child: Any) -> None:  # noqa: N802
        """Replaces an attribute of an object, a class or a module.

        Raises:
          AttributeError: There is none.
        """
        old = getattr(parent, child_name)
        mine = getattr(parent, "__dict__", {}).get(child_name)
        self._set.append((parent, child_name, mine if isinstance(mine, (staticmethod, classmethod)) else old))
        setattr(parent, child_name, new_child)

    def UnsetAll(self) -> None:  # noqa: N802
        """Gives back what `Set` replaced, the last first."""
        while self._set:
            setattr(*self._set.pop())

    def SmartSet(self, obj: Any, attr_name: str, new_attr: Any) -> None:  # noqa: N802
        """Replaces an attribute where it is defined: in an object, or in the class that it has it from.

        Raises:
          AttributeError: There is none.
        """
        if inspect.ismodule(obj) or not inspect.isclass(obj) and attr_name in getattr(obj, "__dict__", {}):
            places = [obj]
        else:
            places = list(inspect.getmro(obj if inspect.isclass(obj) else type(obj)))
        # A class that replaces an attribute of its bases leaves theirs as they are.
        found = next((place for place in places if attr_name in getattr(place, "__dict__", {})), None)
        if found is None:
            raise AttributeError("Attribute not found.")
        owner = obj if inspect.isclass(obj) else found
        self._smart.append((owner, attr_name, found.__dict__[attr_name]))
        setattr(owner, attr_name, new_attr)

    def SmartUnsetAll(self) -> None:  # noqa: N802
        """Gives back what `SmartSet` replaced, the last first."""
        while self._smart:
            setattr(*self._smart.pop())

    def CleanUp(self) -> None:  # noqa: N802
        """Gives back all that was replaced."""
        self.SmartUnsetAll()
        self.UnsetAll()


def test_src_dir_path(relative_path: str) -> str:
    """Returns the path of a file of TensorFlow's sources in a test that Bazel runs.

    Raises:
      KeyError: The variable `TEST_SRCDIR` is not set: Bazel does not run the test.

    Example:
      >>> import os
      >>> os.environ["TEST_SRCDIR"] = "/tmp/a"
      >>> tf.test.test_src_dir_path("b")
      '/tmp/a/org_tensorflow/tensorflow/b'
    """
    return os.path.join(os.environ["TEST_SRCDIR"], "org_tensorflow/tensorflow", relative_path)


def benchmark_config() -> Any:
    """Returns a `ConfigProto` for measures of single operations, without the optimization of dependencies.

    Example:
      >>> tf.test.benchmark_config().graph_options.rewrite_options.dependency_optimization
      2
    """
    config = protos.ConfigProto()
    options = config.graph_options.rewrite_options
    options.dependency_optimization = options.OFF
    return config
