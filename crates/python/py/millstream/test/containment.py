"""Assertions about containment and order from `absl`, as methods of `tf.test.TestCase`."""

from __future__ import annotations

import re
import unittest
from typing import Any, Optional

__all__ = ["Assertions"]


class Assertions:
    """A mixin for `unittest.TestCase`.

    Example:
      >>> class MyTest(tf.test.TestCase):
      ...     def test_it(self):
      ...         self.assertNotStartsWith("abc", "b")
      ...         self.assertEndsWith("abc", "bc")
      ...         self.assertNotEndsWith("abc", "ab")
      ...         self.assertRegexMatch("abc", ["x", "b."])
      ...         self.assertContainsInOrder(["a", "b"], "xaxbx")
      ...         self.assertContainsSubset([1], [1, 2])
      ...         self.assertNoCommonElements([1], [2])
      ...         self.assertSameElements([1, 2], [2, 1, 1])
      ...         self.assertSequenceStartsWith([1], [1, 2])
      ...         self.assertContainsSubsequence([1, 2, 3], [1, 3])
      ...         self.assertContainsExactSubsequence([1, 2, 3], [2, 3])
      ...         self.assertSequenceAlmostEqual([1.0], [1.00000001])
      ...         self.assertTotallyOrdered([1], [2], [3])
      ...         self.assertSameStructure({"a": [1]}, {"a": [1]})
      ...         with self.assertRaisesWithLiteralMatch(ValueError, "that"):
      ...             raise ValueError("that")
      >>> import unittest
      >>> unittest.TestResult.wasSuccessful(
      ...     unittest.defaultTestLoader.loadTestsFromTestCase(MyTest).run(unittest.TestResult()))
      True
    """

    def _refuse(self, msg: Any, standard: str) -> Any:
        case: Any = self
        raise unittest.TestCase.failureException(case._formatMessage(msg, standard))

    # Sizes.

    def assertEmpty(self, container: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that a container is empty."""
        if len(container):
            self._refuse(msg, "%r has length of %d." % (container, len(container)))

    def assertNotEmpty(self, container: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that a container is not empty."""
        if not len(container):
            self._refuse(msg, "%r has length of 0." % (container,))

    def assertLen(self, container: Any, expected_len: int, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts the length of a container."""
        if len(container) != expected_len:
            self._refuse(msg, "%r has length of %d, expected %d." % (container, len(container), expected_len))

    def assertBetween(self, value: Any, minv: Any, maxv: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that `minv <= value <= maxv`."""
        if not minv <= value <= maxv:
            self._refuse(msg, '"%r" unexpectedly not between "%r" and "%r"' % (value, minv, maxv))

    # Strings.

    def assertStartsWith(self, actual: str, expected_start: str, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that a string has a prefix."""
        if not actual.startswith(expected_start):
            self._refuse(msg, "%r does not start with %r" % (actual, expected_start))

    def assertNotStartsWith(self, actual: str, unexpected_start: str, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that a string does not have a prefix."""
        if actual.startswith(unexpected_start):
            self._refuse(msg, "%r does start with %r" % (actual, unexpected_start))

    def assertEndsWith(self, actual: str, expected_end: str, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that a string has a suffix."""
        if not actual.endswith(expected_end):
            self._refuse(msg, "%r does not end with %r" % (actual, expected_end))

    def assertNotEndsWith(self, actual: str, unexpected_end: str, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that a string does not have a suffix."""
        if actual.endswith(unexpected_end):
            self._refuse(msg, "%r does end with %r" % (actual, unexpected_end))

    def assertRegexMatch(self, actual_str: Any, regexes: Any, message: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that one of the patterns matches within a string."""
        if isinstance(regexes, (str, bytes)):
            self._refuse(message, "regexes is string or bytes; use assertRegex instead.")
        if not any(re.search(pattern, actual_str) for pattern in regexes):
            self._refuse(message, "%r does not contain any of these patterns: %r." % (actual_str, regexes))

    def assertContainsInOrder(self, strings: Any, target: str, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that strings occur in the target, one after the other."""
        where = 0
        for text in [strings] if isinstance(strings, str) else strings:
            found = target.find(text, where)
            if found == -1:
                self._refuse(msg, "Did not find %r in order in %r" % (text, target))
            where = found

    # Sets.

    def assertContainsSubset(self, expected_subset: Any, actual_set: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that the second argument contains all elements of the first."""
        missing = set(expected_subset) - set(actual_set)
        if missing:
            self._refuse(msg, "Missing elements %s\nExpected: %s\nActual: %s" % (missing, expected_subset, actual_set))

    def assertNoCommonElements(self, expected_seq: Any, actual_seq: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that the arguments have no common elements."""
        common = set(expected_seq) & set(actual_seq)
        if common:
            self._refuse(msg, "Common elements %s\nExpected: %s\nActual: %s" % (common, expected_seq, actual_seq))

    def assertSameElements(self, expected_seq: Any, actual_seq: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that the arguments have the same elements, regardless of order and repetition."""
        missing = [e for e in expected_seq if e not in actual_seq]
        extra = [e for e in actual_seq if e not in expected_seq]
        if missing or extra:
            self._refuse(msg, "Expected, but missing:\n  %r\nUnexpected, but present:\n  %r\n" % (missing, extra))

    # Sequences.

    def assertSequenceStartsWith(self, prefix: Any, whole: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that a sequence has a prefix; a prefix that is not a sequence is one element."""
        prefix = list(prefix) if hasattr(prefix, "__len__") else [prefix]
        if list(whole[: len(prefix)]) != prefix:
            self._refuse(msg, "prefix: %s not found at start of whole: %s." % (prefix, whole))

    def assertContainsSubsequence(self, container: Any, subsequence: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that a container has a subsequence, possibly with other elements between."""
        rest = iter(container)
        if not all(item in rest for item in subsequence):
            self._refuse(msg, "%r not a subsequence of %r" % (subsequence, container))

    def assertContainsExactSubsequence(self, container: Any, subsequence: Any, msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that a container has a contiguous subsequence."""
        whole, part = list(container), list(subsequence)
        if not any(whole[i : i + len(part)] == part for i in range(len(whole) - len(part) + 1)):
            self._refuse(msg, "%r not an exact subsequence of %r" % (subsequence, container))

    def assertSequenceAlmostEqual(  # noqa: N802
        self, expected_seq: Any, actual_seq: Any, places: Any = None, msg: Optional[str] = None, delta: Any = None
    ) -> None:
        """Asserts that the elements of two sequences are pairwise almost equal; see `assertAlmostEqual`."""
        case: Any = self
        if len(expected_seq) != len(actual_seq):
            self._refuse(msg, "Sequence size mismatch: %d vs %d" % (len(expected_seq), len(actual_seq)))
        for i, (one, other) in enumerate(zip(expected_seq, actual_seq)):
            case.assertAlmostEqual(one, other, places=places, msg="%sat index %d" % (msg + ": " if msg else "", i), delta=delta)

    def assertTotallyOrdered(self, *groups: Any, **kwargs: Any) -> None:  # noqa: N802
        """Asserts that elements are equal within groups, and less than those of later groups."""
        case: Any = self
        msg = kwargs.get("msg")
        flat = [(i, item) for i, group in enumerate(groups) for item in group]
        for at, one in flat:
            for to, other in flat:
                if at < to:
                    case.assertTrue(one < other and other > one and one != other and one <= other and not other <= one, msg)
                elif at == to:
                    case.assertTrue(one == other and not one < other and one <= other and hash(one) == hash(other), msg)

    def assertSameStructure(self, a: Any, b: Any, aname: str = "a", bname: str = "b", msg: Optional[str] = None) -> None:  # noqa: N802
        """Asserts that nested lists and mappings have equal values in the same places."""
        problems: list = []
        _compare(a, b, aname, bname, problems)
        if problems:
            self._refuse(msg, "; ".join(problems[:20]))

    def assertRaisesWithLiteralMatch(  # noqa: N802
        self, expected_exception: Any, expected_exception_message: str, callable_obj: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        """Asserts that an exception has exactly this message; returns a context manager if no function is
        given.
        """
        block = _Literal(self, expected_exception, expected_exception_message)
        if callable_obj is None:
            return block
        with block:
            callable_obj(*args, **kwargs)
        return None


class _Literal:
    """A context manager that expects an exception with one message."""

    def __init__(self, case: Any, kind: Any, text: str) -> None:
        self._case, self._kind, self._text = case, kind, text

    def __enter__(self) -> "_Literal":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if kind is None:
            self._case.fail("%s not raised" % self._kind.__name__)
        if not issubclass(kind, self._kind):
            return False
        if str(error) != self._text:
            self._case.fail('Exception message does not match.\nExpected: "%s"\nActual: "%s"' % (self._text, error))
        return True


def _compare(a: Any, b: Any, aname: str, bname: str, problems: list) -> None:
    """Records the differences of two structures."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in [k for k in a if k not in b]:
            problems.append("%s has [%r] but %s does not" % (aname, key, bname))
        for key in [k for k in b if k not in a]:
            problems.append("%s lacks [%r] but %s has it" % (aname, key, bname))
        for key in [k for k in a if k in b]:
            _compare(a[key], b[key], "%s[%r]" % (aname, key), "%s[%r]" % (bname, key), problems)
    elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        for i, (one, other) in enumerate(zip(a, b)):
            _compare(one, other, "%s[%d]" % (aname, i), "%s[%d]" % (bname, i), problems)
        if len(a) != len(b):
            problems.append("%s has a length of %d but %s has one of %d" % (aname, len(a), bname, len(b)))
    elif a != b:
        problems.append("%s is %r but %s is %r" % (aname, a, bname, b))
