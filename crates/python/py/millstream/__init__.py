"""Millstream: a dataflow engine for programs with real loops in them, with TensorFlow 1's names: `import millstream as tf`.

A graph is built once, loops and branches included, and run any number of times:

    import millstream as tf

    i = tf.while_loop(lambda i: i < 10, lambda i: i + 1, [tf.constant(0)])
    with tf.Session() as sess:
        print(sess.run(i))  # 10

The functions that are one op each are made when they are first asked for (`_namespaces.py`); the others stand in the modules here.
"""

import typing as _typing
from typing import Any as _Any

from millstream import _engine, _namespaces, compat, dtypes, errors, framework, graph_keys, indexing_ops, logging, math_ops, nest, raw_ops, session, shapes
from millstream._engine import Operation, Tensor
from millstream.array_ops import *  # noqa: F403
from millstream.check_ops import *  # noqa: F403
from millstream.clip_ops import *  # noqa: F403
from millstream.control_flow import Print, case, cond, group, no_op, switch_case, tuple, while_loop  # noqa: A004
from millstream.control_flow import assert_ as Assert  # noqa: N812
from millstream.counting_ops import *  # noqa: F403
from millstream.custom_gradients import *  # noqa: F403
from millstream.data_flow import FIFOQueue, PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue
from millstream.dtypes import *  # noqa: F403
from millstream.devices import DeviceSpec
from millstream.dtypes import DType, as_dtype
from millstream.framework import (
    Graph,
    IndexedSlices,
    IndexedSlicesValue,
    SparseTensor,
    SparseTensorValue,
    add_to_collection,
    add_to_collections,
    colocate_with,
    constant,
    container,
    control_dependencies,
    convert_to_tensor,
    convert_to_tensor_or_indexed_slices,
    convert_to_tensor_or_sparse_tensor,
    device,
    get_collection,
    get_collection_ref,
    get_default_graph,
    get_static_value,
    name_scope,
    placeholder,
    register_tensor_conversion_function,
    reset_default_graph,
    sparse_placeholder,
)
from millstream.functional import foldl, foldr, map_fn, scan
from millstream.gradients_impl import AggregationMethod, UnconnectedGradients, gradients, hessians
from millstream.graph_keys import GraphKeys
from millstream.host_functions import *  # noqa: F403
from millstream.inner_names import VariableAggregation, VariableSynchronization
from millstream.inner_names import install as _install_inner_names
from millstream.importer import import_graph_def, load_file_system_library, load_library, load_op_library
from millstream.indexing_ops import *  # noqa: F403
from millstream.init_ops import (
    constant_initializer,
    glorot_normal_initializer,
    glorot_uniform_initializer,
    ones_initializer,
    orthogonal_initializer,
    random_normal_initializer,
    random_uniform_initializer,
    truncated_normal_initializer,
    uniform_unit_scaling_initializer,
    variance_scaling_initializer,
    zeros_initializer,
)
from millstream.linalg_ops import *  # noqa: F403
from millstream.lookup_ops import initialize_all_tables, tables_initializer
from millstream.math_ops import *  # noqa: F403
from millstream.partitions import create_partitioned_variables, fixed_size_partitioner, min_max_variable_partitioner, variable_axis_size_partitioner
from millstream.parsing_ops import *  # noqa: F403
from millstream.printing import print  # noqa: A004
from millstream.random_ops import get_seed, multinomial, random_gamma, random_normal, random_poisson, random_shuffle, random_uniform, set_random_seed, truncated_normal
from millstream.readers import *  # noqa: F403
from millstream.reduction_ops import *  # noqa: F403
from millstream.session import InteractiveSession, Session, get_default_session
from millstream.shape_ops import *  # noqa: F403
from millstream.shapes import Dimension, TensorShape, TensorSpec, dimension_at_index, dimension_value
from millstream.sparse_ops import *  # noqa: F403
from millstream.state_ops import *  # noqa: F403
from millstream.string_ops import *  # noqa: F403
from millstream.switches import *  # noqa: F403
from millstream.templates import make_template
from millstream.tensor_array import TensorArray
from millstream.tensor_util import make_ndarray, make_tensor_proto
from millstream.variable_scopes import (
    AUTO_REUSE,
    VariableScope,
    get_local_variable,
    get_variable,
    get_variable_scope,
    no_regularizer,
    variable_op_scope,
    variable_scope,
)
from millstream.variable_collections import *  # noqa: F403
from millstream.variables import *  # noqa: F403
from millstream.version import COMPILER_VERSION, GIT_VERSION, GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER, VERSION

newaxis = None
OpError = errors.OpError
get_logger = logging._get_logger

_install_inner_names()
_engine.set_hooks(framework.Graph, framework.convert_for_engine, indexing_ops._getitem, session.expand, math_ops._operate)

__version__ = _engine.__version__
__git_version__, __compiler_version__ = GIT_VERSION, COMPILER_VERSION
_namespaces.install(__name__)


if _typing.TYPE_CHECKING:
    from millstream._endpoints import *  # noqa: F403
else:

    def __getattr__(name: str) -> _Any:
        return _namespaces.find(__name__, "", name)


def __dir__() -> list:
    return sorted(set(globals()) | set(_namespaces.names("")))
