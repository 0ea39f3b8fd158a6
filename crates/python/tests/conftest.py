"""Every test starts with a new default graph, and SIGINT interrupts. `--part 0/2` runs every second test."""

import logging
import signal

import pytest

import millstream as tf

# A shell starts its background jobs with SIGINT ignored, and tests of Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--part", default="0/1", help="K/N: every N-th test, from number K")


def pytest_collection_modifyitems(config, items):
    part, parts = map(int, config.getoption("--part").split("/"))
    config.hook.pytest_deselected(items=[item for i, item in enumerate(items) if i % parts != part])
    items[:] = items[part::parts]


@pytest.fixture(autouse=True)
def _fresh_graph():
    tf.reset_default_graph()
    yield


@pytest.fixture(autouse=True)
def _same_level():
    # `app.run` sets the level of the root logger, which the package's follows.
    root = logging.getLogger()
    level = root.level
    yield
    root.setLevel(level)
