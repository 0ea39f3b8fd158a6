"""Millstream: a dataflow engine for programs with loops, with TensorFlow 1's API: `import millstream as tf`.

A graph is built once, loops and branches included, and run any number of times:

    import millstream as tf

    i = tf.while_loop(lambda i: i < 10, lambda i: i + 1, [tf.constant(0)])
    with tf.Session() as sess:
        print(sess.run(i))  # 10

The package is layered, and modules import only from layers below (checked by `tests/test_floors.py`):
`framework`, then `ops`, `variables`, `nn` (with `rnn`, `layers`, `losses`, `metrics`, `image` and
`distributions`), `io`, `train`, and
`contrib` (with `estimator`, `saved_model`, `test`, `programs` and `func`). If a module needs functions of a
layer above, that layer registers them with it. `_generated` is written by tools.

A namespace `tf.x` is the module `millstream.x`: a file in the top directory or, if a layer has this name, the
`__init__` of its directory.

- It imports its names from the modules that define them; those modules never import a namespace. Functions
  that only one namespace has may be defined in its file (`math.py`).
- Functions that are one op each have no definition: `namespaces.getattr_of` creates them when they are first
  requested; mypy reads their types from `_generated`.
- Names from layers above, and those of modules that are slow to import, are registered in tables
  (`namespaces.place`) and imported when they are first requested.
- Its `dir` is created by `namespaces.dir_of` and lists public names only.
"""

import typing as _typing
from typing import Any as _Any

from millstream import _engine
from millstream._engine import Operation, Tensor
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
    convert_argument as _convert_argument,
    convert_to_tensor,
    convert_to_tensor_or_indexed_slices,
    convert_to_tensor_or_sparse_tensor,
    device,
    get_collection,
    get_collection_ref,
    get_default_graph,
    get_static_value,
    inner_names as _inner_names,
    name_scope,
    namespaces as _namespaces,
    placeholder,
    register_tensor_conversion_function,
    reset_default_graph,
    sparse_placeholder,
)
from millstream.framework.devices import DeviceSpec
from millstream.framework.dtypes import *  # noqa: F403
from millstream.framework.dtypes import DType, as_dtype
from millstream.framework.errors import OpError
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.importer import (
    import_graph_def,
    load_file_system_library,
    load_library,
    load_op_library,
)
from millstream.framework.logging import _get_logger as get_logger
from millstream.framework.module import Module
from millstream.framework.session import InteractiveSession, Session, expand as _expand, get_default_session
from millstream.framework.shapes import (
    Dimension,
    TensorShape,
    TensorSpec,
    TypeSpec,
    dimension_at_index,
    dimension_value,
)
from millstream.framework.switches import *  # noqa: F403
from millstream.framework.tensor_util import make_ndarray, make_tensor_proto
from millstream.framework.type_specs import *  # noqa: F403
from millstream.framework.version import (
    COMPILER_VERSION,
    GIT_VERSION,
    GRAPH_DEF_VERSION,
    GRAPH_DEF_VERSION_MIN_CONSUMER,
    GRAPH_DEF_VERSION_MIN_PRODUCER,
    VERSION,
)
from millstream.framework.watching import every
from millstream.ops import ragged_dispatch as _ragged_dispatch
from millstream.ops.array_ops import *  # noqa: F403
from millstream.ops.check_ops import *  # noqa: F403
from millstream.ops.clip_ops import *  # noqa: F403
from millstream.ops.complex_ops import *  # noqa: F403
from millstream.ops.control_flow import case, cond, group, no_op, Print, switch_case, tuple, while_loop  # noqa: A004
from millstream.ops.control_flow import assert_ as Assert  # noqa: N812
from millstream.ops.counting_ops import *  # noqa: F403
from millstream.ops.custom_gradients import *  # noqa: F403
from millstream.ops.accumulators import ConditionalAccumulator, ConditionalAccumulatorBase, SparseConditionalAccumulator
from millstream.ops.critical_sections import CriticalSection
from millstream.ops.data_flow import FIFOQueue, PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue
from millstream.ops.functional import foldl, foldr, map_fn, scan
from millstream.ops.gradients import (
    AggregationMethod,
    UnconnectedGradients,
    batch_jacobian,
    gradients,
    hessians,
    jacobian,
    jvp,
    recompute_grad,
)
from millstream.ops.host_functions import *  # noqa: F403
from millstream.ops.indexing_ops import *  # noqa: F403
from millstream.ops.indexing_ops import _getitem
from millstream.ops.linalg_ops import *  # noqa: F403
from millstream.ops.math_ops import *  # noqa: F403
from millstream.ops.math_ops import _operate
from millstream.ops.printing import print  # noqa: A004
from millstream.ops.random_ops import (
    get_seed,
    multinomial,
    random_gamma,
    random_normal,
    random_poisson,
    random_shuffle,
    random_uniform,
    set_random_seed,
    truncated_normal,
)
from millstream.ops.reduction_ops import *  # noqa: F403
from millstream.ops.session_ops import *  # noqa: F403
from millstream.ops.ragged_tensors import *  # noqa: F403
from millstream.ops.shape_ops import *  # noqa: F403
from millstream.ops.sparse_ops import *  # noqa: F403
from millstream.ops.string_ops import *  # noqa: F403
from millstream.ops.tensor_array import TensorArray
from millstream.variables import inner_names as _inner_names_of_variables
from millstream.variables.aggregation import VariableAggregation, VariableSynchronization
from millstream.variables.collections import *  # noqa: F403
from millstream.variables.cut import create_partitioned_variables
from millstream.variables.initializers import (
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
from millstream.variables.partitions import (
    fixed_size_partitioner,
    min_max_variable_partitioner,
    variable_axis_size_partitioner,
)
from millstream.variables.scopes import (
    AUTO_REUSE,
    VariableScope,
    get_local_variable,
    get_variable,
    get_variable_scope,
    no_regularizer,
    variable_op_scope,
    variable_scope,
)
from millstream.variables.state_ops import *  # noqa: F403
from millstream.variables.templates import make_template
from millstream.variables.variable import *  # noqa: F403
from millstream.io.lookup_ops import initialize_all_tables, tables_initializer
from millstream.io.parsing_ops import *  # noqa: F403
from millstream.io.readers import *  # noqa: F403

newaxis = None

_inner_names.install()
_inner_names_of_variables.install()
_engine.set_hooks(Graph, _convert_argument, _getitem, _expand, _operate)

# Programs compare it with the versions of TensorFlow.
__version__ = VERSION
__millstream_version__ = _engine.__version__
__git_version__, __compiler_version__ = GIT_VERSION, COMPILER_VERSION

# Names of namespaces that are defined in a layer above that of the namespace.
_namespaces.place("", {"rnn_cell": "millstream.rnn.cells"})
_namespaces.place("nn", {"rnn_cell": "millstream.rnn.cells"})
_namespaces.place(
    "nn",
    {
        name: "millstream.rnn.networks:" + name
        for name in ("bidirectional_dynamic_rnn", "dynamic_rnn", "raw_rnn", "static_bidirectional_rnn", "static_rnn", "static_state_saving_rnn")
    },
)
_namespaces.place("", {name: "millstream.quantization:" + name for name in ("quantize", "quantize_v2")})
_namespaces.place("random", {"experimental": "millstream.variables.generators"})
_namespaces.place("", {"OptionalSpec": "millstream.data.optional:OptionalSpec"})
_namespaces.place("", {"vectorized_map": "millstream.programs.inside.flows:vectorized_map"})
_namespaces.place(
    "random",
    {
        name + "_candidate_sampler": "millstream.nn:" + name + "_candidate_sampler"
        for name in ("all", "fixed_unigram", "log_uniform", "uniform")
    },
)
_namespaces.place("", {"as_tensorflow": "millstream.programs.hook:as_tensorflow"})
_namespaces.place("", {"extract_image_patches": "millstream.image.boxes:extract_image_patches"})
_namespaces.install()


if _typing.TYPE_CHECKING:
    from millstream._generated.endpoints import *  # noqa: F403
    from millstream.data.optional import OptionalSpec as OptionalSpec
    from millstream.image.boxes import extract_image_patches as extract_image_patches
    from millstream.programs.inside.flows import vectorized_map as vectorized_map
    from millstream.quantization import quantize as quantize, quantize_v2 as quantize_v2
else:

    def __getattr__(name: str) -> _Any:
        return _namespaces.find(__name__, "", name)


def __dir__() -> list:
    return sorted(set(globals()) | set(_namespaces.names("")))
