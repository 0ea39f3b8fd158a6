"""`tensorflow.python.util.deprecation`: what TensorFlow 1.15.5 writes into docstrings, and warns of."""

from unittest import mock

import pytest

from millstream.framework import logging
from millstream.programs.inside import deprecations


def documented(a, b=None):
    """Returns a.

    Args:
      a: Anything.
    """
    return a


def test_notices_follow_the_first_line():
    marked = deprecations.deprecated("2016-07-04", "Use it.")(documented)
    first, second = "Returns a. (deprecated)", "Warning: THIS FUNCTION IS DEPRECATED. It will be removed after 2016-07-04."
    assert marked.__doc__.startswith(f"{first}\n\n{second}\nInstructions for updating:\nUse it.\n\nArgs:\n  a:")
    assert deprecations.deprecated(None, "Use it.")(lambda: 1).__doc__.startswith("DEPRECATED FUNCTION\n")


def test_calls_are_warned_of_once():
    marked = deprecations.deprecated_args(None, "Use it.", "b")(documented)
    with mock.patch.object(logging, "warning", autospec=True) as warning:
        assert [marked(1), marked(2, 3), marked(3, b=4)] == [1, 2, 3]
    assert [call[0][4] for call in warning.call_args_list] == ["b"]


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="Date must be YYYY-MM-DD"):
        deprecations.deprecated("soon", "Use it.")
    with pytest.raises(ValueError, match="not present in the function signature"):
        deprecations.deprecated_args(None, "Use it.", "zz")(documented)
