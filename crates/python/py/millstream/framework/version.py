"""Versions: of this package, and of the TensorFlow graph files that it reads and writes."""

VERSION = "1.15.5"
GIT_VERSION = "millstream"
COMPILER_VERSION = "rustc"
GRAPH_DEF_VERSION = 134
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
