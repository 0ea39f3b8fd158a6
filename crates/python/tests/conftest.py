"""Fixtures: every test starts with a new default graph."""

import pytest

import millstream as tf


@pytest.fixture(autouse=True)
def _fresh_graph():
    tf.reset_default_graph()
    yield


def pytest_collection_modifyitems(items):
    """Tests of stalls look at all threads of the process, so they come before tests that leave some."""
    items.sort(key=lambda item: item.path.name != "test_pipelines.py")
