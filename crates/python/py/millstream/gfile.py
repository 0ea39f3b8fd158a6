"""`tf.gfile`: files and directories."""

from millstream.framework import namespaces
from millstream.io.files import *  # noqa: F403

__dir__ = namespaces.dir_of(globals())
