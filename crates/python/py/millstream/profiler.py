"""`tf.profiler`: parameters, float operations and times of graphs."""

from millstream.framework import namespaces
from millstream.train.profiles import GraphNodeProto, MultiGraphNodeProto, ProfileOptionBuilder, Profiler, profile

__all__ = ["GraphNodeProto", "MultiGraphNodeProto", "ProfileOptionBuilder", "Profiler", "profile"]

__dir__ = namespaces.dir_of(globals())
