"""Export, import and copies of a scope of a graph (`python.framework.meta_graph`): `NAMES`."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from millstream.framework import get_default_graph, protos
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.scopes import strip_name_scope
from millstream.io.graph_files import read_meta_graph_file
from millstream.train import meta_graph, meta_graph_import


def _variables(graph: Any, scope: Optional[str]) -> Dict[str, Any]:
    """Returns the variables in a scope by their names within it."""
    inside = None if not scope else scope.rstrip("/") + "/"
    found = [v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES) if inside is None or v.name.startswith(inside)]
    return {strip_name_scope(v.name, scope): v for v in found}


def export_scoped_meta_graph(
    filename: Optional[str] = None,
    graph_def: Any = None,
    graph: Any = None,
    export_scope: Optional[str] = None,
    as_text: bool = False,
    unbound_inputs_col_name: str = "unbound_inputs",
    clear_devices: bool = False,
    saver_def: Any = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> Tuple[Any, Dict[str, Any]]:
    """Returns the `MetaGraphDef` of a scope of a graph, and its variables by their names in the scope.

    An input from outside of the scope has the prefix `$unbound_inputs_`, and its name is in the collection
    `unbound_inputs`: an import binds it with `input_map`.
    """
    graph = get_default_graph() if graph is None else graph
    meta = meta_graph.export_meta_graph(
        None,
        graph_def=graph_def,
        saver_def=saver_def,
        graph=graph,
        export_scope=export_scope or None,
        clear_devices=clear_devices,
        clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs,
        **{key: value for key, value in kwargs.items() if key in ("meta_info_def", "collection_list")},
    )
    if unbound_inputs_col_name != "unbound_inputs" and "unbound_inputs" in meta.collection_def:
        if unbound_inputs_col_name:
            meta.collection_def[unbound_inputs_col_name].CopyFrom(meta.collection_def["unbound_inputs"])
        del meta.collection_def["unbound_inputs"]
    if filename:
        meta_graph.write_message(meta, filename, as_text)
    return meta, _variables(graph, export_scope)


def import_scoped_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Any = None,
    import_scope: Optional[str] = None,
    input_map: Any = None,
    unbound_inputs_col_name: Optional[str] = "unbound_inputs",
    restore_collections_predicate: Any = lambda key: True,
) -> Dict[str, Any]:
    """Imports a `MetaGraphDef` into a scope; returns its variables by their names in the scope."""
    return import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file, clear_devices, graph, import_scope, input_map, unbound_inputs_col_name, restore_collections_predicate
    )[0]


def import_scoped_meta_graph_with_return_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Any = None,
    import_scope: Optional[str] = None,
    input_map: Any = None,
    unbound_inputs_col_name: Optional[str] = "unbound_inputs",
    restore_collections_predicate: Any = lambda key: True,
    return_elements: Any = None,
) -> Tuple[Dict[str, Any], Any]:
    """Imports a `MetaGraphDef` into a scope; returns its variables and what `return_elements` names.

    Raises:
      ValueError: An input from outside of the exported scope is not in `input_map`.
    """
    given = read_meta_graph_file(meta_graph_or_file) if isinstance(meta_graph_or_file, str) else meta_graph_or_file
    meta = protos.MetaGraphDef()
    meta.CopyFrom(protos.as_message("MetaGraphDef", given))
    for key in [key for key in meta.collection_def if key != unbound_inputs_col_name and not restore_collections_predicate(key)]:
        del meta.collection_def[key]
    if unbound_inputs_col_name and unbound_inputs_col_name in meta.collection_def:
        wanted = list(meta.collection_def[unbound_inputs_col_name].node_list.value)
        if not input_map or not set(wanted) <= {str(key) for key in input_map}:
            missing = ",".join(name for name in wanted if not input_map or name not in input_map)
            raise ValueError("Graph contains unbound inputs: %s. Must provide these inputs through input_map." % missing)
        del meta.collection_def[unbound_inputs_col_name]
    meta.ClearField("saver_def")
    graph = get_default_graph() if graph is None else graph
    with graph.as_default():
        elements = meta_graph_import.import_into(meta, clear_devices, import_scope, input_map=input_map, return_elements=return_elements)
    return _variables(graph, import_scope), elements


def copy_scoped_meta_graph(from_scope: str, to_scope: str, from_graph: Any = None, to_graph: Any = None) -> Dict[str, Any]:
    """Copies a scope of a graph to another scope; returns the new variables by their names in the scope.

    Raises:
      ValueError: The scopes and the graphs are the same.
    """
    from_graph = get_default_graph() if from_graph is None else from_graph
    to_graph = get_default_graph() if to_graph is None else to_graph
    if from_graph is to_graph and from_scope == to_scope:
        raise ValueError("'from_scope' and 'to_scope' need to be different when performing copy in the same graph.")
    meta, variables = export_scoped_meta_graph(export_scope=from_scope, graph=from_graph)
    made = import_scoped_meta_graph(meta, graph=to_graph, import_scope=to_scope)
    return {name: made[name] for name in variables if name in made}


def _ops_used(graph_def: Any) -> Any:
    """Returns the types of a graph's operations."""
    return {node.op for node in graph_def.node}


def _stripped_op_list(graph_def: Any) -> Any:
    """Returns the `OpList` of the types of a graph's operations."""
    definitions = meta_graph._definitions(graph_def)
    info = protos.MetaGraphDef.MetaInfoDef()
    info.stripped_op_list.op.extend(definitions[name] for name in sorted(definitions))
    return info.stripped_op_list


def _strip_default_attrs(meta_graph_def: Any) -> None:
    """Removes attributes that have their defaults from the nodes of a `MetaGraphDef`."""
    meta_graph._strip_defaults(meta_graph_def.graph_def, meta_graph._definitions(meta_graph_def.graph_def))
    meta_graph_def.meta_info_def.stripped_default_attrs = True


NAMES: Dict[str, Dict[str, Any]] = {
    "python.framework.meta_graph": {
        "copy_scoped_meta_graph": copy_scoped_meta_graph,
        "export_scoped_meta_graph": export_scoped_meta_graph,
        "import_scoped_meta_graph": import_scoped_meta_graph,
        "import_scoped_meta_graph_with_return_elements": import_scoped_meta_graph_with_return_elements,
        "ops_used_by_graph_def": _ops_used,
        "read_meta_graph_file": read_meta_graph_file,
        "strip_graph_default_valued_attrs": _strip_default_attrs,
        "stripped_op_list_for_graph": _stripped_op_list,
    },
}
