"""`tf.audio`: functions that are one op each, which are created when they are first requested."""

from typing import TYPE_CHECKING

from millstream.framework import namespaces

if TYPE_CHECKING:
    from millstream._generated.endpoints_audio import *  # noqa: F403
else:
    __getattr__ = namespaces.getattr_of(__name__)

__dir__ = namespaces.dir_of(globals())
