"""Every test starts with a default graph of its own."""

import pytest

import millstream as tf


@pytest.fixture(autouse=True)
def _fresh_graph():
    tf.reset_default_graph()
    yield
