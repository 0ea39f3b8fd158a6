"""`tf.contrib.cluster_resolver`: what programs with a flag for TPUs name. Calling it raises an error."""

from millstream.framework import namespaces
from millstream.framework.refusals import refused as _refused

TPUClusterResolver = _refused("contrib.cluster_resolver.TPUClusterResolver", "a session runs in one process, on the CPU", "a `tf.Session`")

__all__ = ["TPUClusterResolver"]

__getattr__ = namespaces.getattr_of(__name__)
__dir__ = namespaces.dir_of(globals())
