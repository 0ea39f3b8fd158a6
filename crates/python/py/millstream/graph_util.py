"""`tf.graph_util`: functions of `GraphDef` messages."""

from typing import TYPE_CHECKING

from millstream.framework import namespaces
from millstream.framework.graph_util import (
    convert_variables_to_constants,
    extract_sub_graph,
    must_run_on_cpu,
    remove_training_nodes,
    tensor_shape_from_node_def_name,
)

if TYPE_CHECKING:
    from millstream._generated.endpoints_graph_util import *  # noqa: F403
else:
    __getattr__ = namespaces.getattr_of(__name__)

__dir__ = namespaces.dir_of(globals())
