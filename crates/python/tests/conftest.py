"""Fixtures: every test starts with a new default graph."""

import pytest

import millstream as tf


@pytest.fixture(autouse=True)
def _fresh_graph():
    tf.reset_default_graph()
    yield
