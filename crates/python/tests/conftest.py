"""Fixtures: every test starts with a new default graph, and SIGINT interrupts."""

import signal

import pytest

import millstream as tf

# A shell starts its background jobs with SIGINT ignored, and tests of Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _fresh_graph():
    tf.reset_default_graph()
    yield
