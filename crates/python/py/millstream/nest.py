"""`tf.nest`: structures of values."""

from millstream.framework import namespaces
from millstream.framework.nest import (
    assert_same_structure,
    assert_shallow_structure,
    flatten,
    flatten_dict_items,
    flatten_up_to,
    flatten_with_joined_string_paths,
    flatten_with_tuple_paths,
    flatten_with_tuple_paths_up_to,
    get_traverse_shallow_structure,
    is_nested,
    is_sequence,
    is_sequence_or_composite,
    map_structure,
    map_structure_up_to,
    map_structure_with_paths,
    map_structure_with_tuple_paths,
    map_structure_with_tuple_paths_up_to,
    pack_sequence_as,
    yield_flat_paths,
)

__dir__ = namespaces.dir_of(globals())
