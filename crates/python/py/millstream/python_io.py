"""`tf.python_io`: reading and writing TFRecord files from Python."""

from millstream.framework import namespaces
from millstream.io.tf_records import *  # noqa: F403

__dir__ = namespaces.dir_of(globals())
