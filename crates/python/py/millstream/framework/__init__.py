"""Graphs, scopes and conversion: the base of all other modules, with TensorFlow's names over the engine.

- `graph`: `Graph` with its `with` blocks and collections, and the default graph; `name_scopes`: `name_scope`;
- `conversion`: `convert_to_tensor`, `constant`, `placeholder`;
- `composites`: values made of several tensors, `IndexedSlices` and `SparseTensor`;
- `constant_values`: values that are known without running a graph.
"""

from millstream.framework.composites import (
    IndexedSlices,
    IndexedSlicesValue,
    SparseTensor,
    SparseTensorValue,
    convert_to_tensor_or_indexed_slices,
    convert_to_tensor_or_sparse_tensor,
    sparse_placeholder,
)
from millstream.framework.constant_values import (
    constant_value,
    constant_value_as_shape,
    get_static_value,
    value_to_check,
)
from millstream.framework.conversion import (
    constant,
    convert_argument,
    convert_to_tensor,
    placeholder,
    register_tensor_conversion_function,
)
from millstream.framework.graph import (
    Graph,
    add_to_collection,
    add_to_collections,
    colocate_with,
    container,
    control_dependencies,
    device,
    get_collection,
    get_collection_ref,
    get_default_graph,
    reset_default_graph,
)
from millstream.framework import handles  # noqa: F401  (sets what programs ask of tensors and operations)
from millstream.framework.name_scopes import check_scope_name, name_scope

__all__ = [
    "Graph",
    "IndexedSlices",
    "IndexedSlicesValue",
    "SparseTensor",
    "SparseTensorValue",
    "add_to_collection",
    "add_to_collections",
    "check_scope_name",
    "colocate_with",
    "constant",
    "constant_value",
    "constant_value_as_shape",
    "container",
    "control_dependencies",
    "convert_argument",
    "convert_to_tensor",
    "convert_to_tensor_or_indexed_slices",
    "convert_to_tensor_or_sparse_tensor",
    "device",
    "get_collection",
    "get_collection_ref",
    "get_default_graph",
    "get_static_value",
    "name_scope",
    "placeholder",
    "register_tensor_conversion_function",
    "reset_default_graph",
    "sparse_placeholder",
    "value_to_check",
]
