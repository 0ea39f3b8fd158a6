"""Structures of values: tuples, namedtuples, lists, mappings and `attrs` objects, nested in each other.

Everything else is a leaf: tensors, NumPy arrays, strings. Mappings are traversed in the order of their sorted
keys. `tf.nest` and `tf.contrib.framework.nest` are this module.

With `expand_composites`, a value made of tensors (`SparseTensor`, `IndexedSlices`) counts as a structure,
too. Such a value has two methods: `_to_components()` returns its tensors, `_from_components(tensors)` a value
like it.
"""

from __future__ import annotations

import collections
import collections.abc
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple, Type


Path = Tuple[Any, ...]

_SHALLOW_TREE_HAS_INVALID_KEYS = (
    "The shallow_tree's keys are not a subset of the input_tree's keys. The "
    "shallow_tree has the following keys that are not in the input_tree: {}."
)
_STRUCTURES_HAVE_MISMATCHING_TYPES = (
    "The two structures don't have the same sequence type. Input structure has "
    "type {input_type}, while shallow structure has type {shallow_type}."
)
_STRUCTURES_HAVE_MISMATCHING_LENGTHS = (
    "The two structures don't have the same sequence length. Input "
    "structure has length {input_length}, while shallow structure has length "
    "{shallow_length}."
)
_INPUT_TREE_SMALLER_THAN_SHALLOW_TREE = (
    "The input_tree has fewer elements than the shallow_tree. Input structure "
    "has length {input_size}, while shallow structure has length "
    "{shallow_size}."
)
_IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ = (
    "If shallow structure is a sequence, input must also be a sequence. Input has type: {}."
)


# Kinds of structures.

def _is_mapping(value: Any) -> bool:
    return isinstance(value, collections.abc.Mapping)


def _is_mapping_view(value: Any) -> bool:
    return isinstance(value, collections.abc.MappingView)


def _is_attrs(value: Any) -> bool:
    return hasattr(type(value), "__attrs_attrs__")


def _is_namedtuple(instance: Any, strict: bool = False) -> bool:
    """Returns whether it is a namedtuple; if `strict`, not of a class derived from one."""
    if not isinstance(instance, tuple):
        return False
    if strict and type(instance).__base__ is not tuple:
        return False
    fields = getattr(instance, "_fields", None)
    return isinstance(fields, collections.abc.Sequence) and all(isinstance(f, str) for f in fields)


def _is_composite_tensor(value: Any) -> bool:
    return hasattr(type(value), "_to_components") and hasattr(type(value), "_from_components")


def _same_namedtuples(a: Any, b: Any) -> bool:
    """Returns whether two namedtuples are of classes with the same name and fields."""
    return type(a).__name__ == type(b).__name__ and tuple(a._fields) == tuple(b._fields)


def is_sequence(o: Any) -> bool:
    """Returns whether it is a structure: a sequence (not a string), a mapping or its view, or an `attrs`
    object.

    Example:
      >>> tf.nest.is_sequence((1, 2)), tf.nest.is_sequence({"a": 1}.values()), tf.nest.is_sequence(1)
      (True, True, False)
    """
    kind = type(o)
    if kind is list or kind is tuple or kind is dict:
        return True
    if isinstance(o, (str, bytes)):
        return False
    return _is_mapping(o) or _is_mapping_view(o) or isinstance(o, collections.abc.Sequence) or _is_attrs(o)


def is_nested(seq: Any) -> bool:
    """Returns whether it is a structure and not a leaf; strings and arrays are leaves.

    Example:
      >>> (tf.nest.is_nested([]), tf.nest.is_nested({"a": 1}), tf.nest.is_nested("abc"),
      ...  tf.nest.is_nested(np.zeros(3)))
      (True, True, False, False)
    """
    return is_sequence(seq)


def is_sequence_or_composite(o: Any) -> bool:
    """Returns whether it is a structure, or a value made of tensors.

    Example:
      >>> slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
      >>> tf.nest.is_sequence_or_composite(slices), tf.nest.is_sequence(slices)
      (True, False)
    """
    return _is_composite_tensor(o) or is_sequence(o)


def _test(expand_composites: bool) -> Callable[[Any], bool]:
    return is_sequence_or_composite if expand_composites else is_sequence


# Flattening and packing.


def _sorted(mapping: Any) -> List[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def _get_attrs_items(obj: Any) -> List[Tuple[str, Any]]:
    """Returns the names and values of an `attrs` object's fields."""
    return [(a.name, getattr(obj, a.name)) for a in type(obj).__attrs_attrs__]


def _yield_sorted_items(structure: Any) -> Iterator[Tuple[Any, Any]]:
    """Yields the parts of a structure, each with its key: an index, a mapping's key, or a field's name."""
    if isinstance(structure, (list, tuple)) and not hasattr(structure, "_fields"):
        return iter(enumerate(structure))
    if _is_mapping(structure):
        return iter([(key, structure[key]) for key in _sorted(structure)])
    if _is_attrs(structure):
        return iter(_get_attrs_items(structure))
    if _is_namedtuple(structure):
        return iter([(field, getattr(structure, field)) for field in structure._fields])
    if _is_composite_tensor(structure):
        return iter([(type(structure).__name__, structure._to_components())])
    return iter(enumerate(structure))


def _yield_value(structure: Any) -> Iterator[Any]:
    for _, value in _yield_sorted_items(structure):
        yield value


def _sequence_like(instance: Any, args: Any) -> Any:
    """Returns a structure of the type of `instance` with the parts `args`."""
    kind = type(instance)
    if kind is list or kind is tuple:
        return kind(args)
    if _is_mapping(instance):
        by_key = dict(zip(_sorted(instance), args))
        if kind is collections.defaultdict:
            return collections.defaultdict(instance.default_factory, ((key, by_key[key]) for key in instance))
        return kind((key, by_key[key]) for key in instance)
    if _is_mapping_view(instance) or isinstance(instance, range):
        return list(args)
    if _is_namedtuple(instance) or _is_attrs(instance):
        return kind(*args)
    if _is_composite_tensor(instance):
        (components,) = args
        return instance._from_components(components)
    return kind(args)


def _flatten_into(structure: Any, is_seq: Callable[[Any], bool], out: List[Any]) -> None:
    for value in _yield_value(structure):
        if is_seq(value):
            _flatten_into(value, is_seq, out)
        else:
            out.append(value)


def flatten(structure: Any, expand_composites: bool = False) -> List[Any]:
    """Returns the leaves of a structure as a list.

    Args:
      structure: A structure, or a leaf. The values of dicts are in the order of their keys.
      expand_composites: If true, values made of tensors count as structures.

    Returns:
      A list of leaves.

    Example:
      >>> tf.nest.flatten({"b": (1, 2), "a": 3})
      [3, 1, 2]
    """
    is_seq = _test(expand_composites)
    if not is_seq(structure):
        return [structure]
    out: List[Any] = []
    _flatten_into(structure, is_seq, out)
    return out


def _packed_nest_with_indices(
    structure: Any, flat: Any, index: int, is_seq: Callable[[Any], bool]
) -> Tuple[int, List[Any]]:
    """Returns parts like those of `structure`, filled from `flat[index:]`, and the next unused index."""
    packed = []
    for part in _yield_value(structure):
        if is_seq(part):
            index, child = _packed_nest_with_indices(part, flat, index, is_seq)
            packed.append(_sequence_like(part, child))
        else:
            packed.append(flat[index])
            index += 1
    return index, packed


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Packs leaves into a structure: the inverse of `flatten`.

    Args:
      structure: The structure to imitate, or a leaf.
      flat_sequence: A list of leaves.
      expand_composites: If true, values made of tensors count as structures.

    Returns:
      A structure of these leaves.

    Raises:
      TypeError: `flat_sequence` is not a sequence.
      ValueError: The number of leaves is not that of `structure`.

    Example:
      >>> tf.nest.pack_sequence_as({"a": 0, "b": (0, 0)}, [1, 2, 3])
      {'a': 1, 'b': (2, 3)}
    """
    is_seq = _test(expand_composites)
    if not is_seq(flat_sequence):
        raise TypeError("flat_sequence must be a sequence")
    if not is_seq(structure):
        if len(flat_sequence) != 1:
            raise ValueError(f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1")
        return flat_sequence[0]
    try:
        used, packed = _packed_nest_with_indices(structure, flat_sequence, 0, is_seq)
    except IndexError:
        used, packed = -1, []
    if used != len(flat_sequence):
        n_leaves = len(flatten(structure, expand_composites))
        raise ValueError(
            f"Could not pack sequence. Structure had {n_leaves} elements, but flat_sequence had "
            f"{len(flat_sequence)} elements.  Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return _sequence_like(structure, packed)


def flatten_dict_items(dictionary: Any) -> Dict[Any, Any]:
    """Flattens keys and values of a dict that are structures with the same number of leaves.

    Args:
      dictionary: A dict.

    Returns:
      A dict from leaves of keys to leaves of values, in the same order.

    Raises:
      TypeError: `dictionary` is not a dict.
      ValueError: A key and its value differ in their number of leaves, or a leaf of keys is repeated.

    Example:
      >>> tf.nest.flatten_dict_items({(4, (5, 6)): ("a", ("b", "c"))})
      {4: 'a', 5: 'b', 6: 'c'}
    """
    if not _is_mapping(dictionary):
        raise TypeError("input must be a dictionary")
    out: Dict[Any, Any] = {}
    for key, value in dictionary.items():
        keys, values = (flatten(key), flatten(value)) if is_sequence(key) else ([key], [value])
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but value had "
                f"{len(values)} elements. Key: {keys}, value: {values}."
            )
        for k, v in zip(keys, values):
            if k in out:
                raise ValueError(f"Could not flatten dictionary: key {k} is not unique.")
            out[k] = v
    return out


# Comparison.


class _DotString:
    def __str__(self) -> str:
        return "."

    __repr__ = __str__


_DOT = _DotString()


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raises unless two structures are nested in the same way.

    Args:
      nest1: A structure, or a leaf.
      nest2: A structure, or a leaf.
      check_types: If true, the types of the structures must agree as well. Namedtuples with the same name and
        fields count as one type, and so do all mappings.
      expand_composites: If true, values made of tensors count as structures.

    Raises:
      ValueError: The structures differ.
      TypeError: Their types differ.

    Example:
      >>> tf.nest.assert_same_structure([1, (2, 3)], ["a", ("b", "c")])
      >>> tf.nest.assert_same_structure([1, 2], [1])
      Traceback (most recent call last):
        ...
      ValueError: The two structures don't have the same nested structure.
      ...
    """
    try:
        _assert_same(nest1, nest2, check_types, _test(expand_composites))
    except (ValueError, TypeError) as error:
        first, second = (map_structure(lambda _: _DOT, n) for n in (nest1, nest2))
        raise type(error)(
            f"{error}\nEntire first structure:\n{first}\nEntire second structure:\n{second}"
        ) from None


def _assert_same(a: Any, b: Any, check_types: bool, is_seq: Callable[[Any], bool]) -> None:
    error, why = _difference(a, b, check_types, is_seq)
    if error is not None:
        raise error(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_described(a)}\n\nSecond structure: {_described(b)}\n\n"
            f"More specifically: {why}"
        )


def _described(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


Difference = Tuple[Optional[Type[Exception]], str]
_SAME: Difference = (None, "")


def _difference(a: Any, b: Any, check_types: bool, is_seq: Callable[[Any], bool]) -> Difference:
    """Returns the first difference of two structures: the exception's class and its message."""
    a_is, b_is = is_seq(a), is_seq(b)
    if not a_is and not b_is:
        return _SAME
    if a_is != b_is:
        branch, leaf = (a, b) if a_is else (b, a)
        return ValueError, (
            f'Substructure "{_described(branch)}" is a sequence, while substructure "{_described(leaf)}" is not'
        )
    if check_types:
        found = _types_differ(a, b)
        if found[0] is not None:
            return found
    a_parts, b_parts = list(_yield_value(a)), list(_yield_value(b))
    if len(a_parts) != len(b_parts):
        return ValueError, (
            "The two structures don't have the same number of elements. "
            f"First structure: {_described(a)}. Second structure: {_described(b)}"
        )
    for x, y in zip(a_parts, b_parts):
        found = _difference(x, y, check_types, is_seq)
        if found[0] is not None:
            return found
    return _SAME


def _types_differ(a: Any, b: Any) -> Difference:
    if _is_mapping(a) and _is_mapping(b):
        if set(a) == set(b):
            return _SAME
        return ValueError, (
            "The two dictionaries don't have the same set of keys. "
            f"First structure has keys {_described(list(a))}, while second structure has keys {_described(list(b))}"
        )
    both_lists = isinstance(a, list) and isinstance(b, list)
    alike = _is_namedtuple(a) and _is_namedtuple(b) and _same_namedtuples(a, b)
    if type(a) is type(b) or both_lists or alike:
        return _SAME
    # TensorFlow says "namedtuples" for any two types.
    return TypeError, (
        "The two namedtuples don't have the same sequence type. "
        f"First structure {_described(a)} has type {type(a).__name__}, "
        f"while second structure {_described(b)} has type {type(b).__name__}"
    )


def assert_shallow_structure(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> None:
    """Raises unless `input_tree` is `shallow_tree` with leaves replaced by structures.

    Args:
      shallow_tree: The common upper structure.
      input_tree: A structure that may extend below the leaves of `shallow_tree`.
      check_types: If true, the types of the structures must agree as well.
      expand_composites: If true, values made of tensors count as structures.
      check_subtrees_length: If false, `input_tree` may have parts that `shallow_tree` lacks.

    Raises:
      TypeError: A structure is missing or has another type.
      ValueError: Lengths or keys differ.

    Example:
      >>> tf.nest.assert_shallow_structure(["a", "b"], [[1, 2], 3])
      >>> tf.nest.assert_shallow_structure(["a", ["b"]], [1, 2])
      Traceback (most recent call last):
        ...
      TypeError: If shallow structure is a sequence, input must also be a sequence. Input has type: <class 'int'>.
    """
    is_seq = _test(expand_composites)
    if not is_seq(shallow_tree):
        return
    if not is_seq(input_tree):
        raise TypeError(_IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ.format(type(input_tree)))
    if check_types and not _same_kind(shallow_tree, input_tree):
        raise TypeError(
            _STRUCTURES_HAVE_MISMATCHING_TYPES.format(input_type=type(input_tree), shallow_type=type(shallow_tree))
        )
    shallow, given = list(_yield_sorted_items(shallow_tree)), list(_yield_sorted_items(input_tree))
    if check_subtrees_length and len(shallow) != len(given):
        raise ValueError(
            _STRUCTURES_HAVE_MISMATCHING_LENGTHS.format(input_length=len(given), shallow_length=len(shallow))
        )
    if len(given) < len(shallow):
        raise ValueError(
            _INPUT_TREE_SMALLER_THAN_SHALLOW_TREE.format(input_size=len(given), shallow_size=len(shallow))
        )
    if _is_mapping(shallow_tree):
        missing = set(shallow_tree) - set(input_tree)
        if missing:
            raise ValueError(_SHALLOW_TREE_HAS_INVALID_KEYS.format(sorted(missing)))
    # Without type checks, sequences may differ in their keys (a list for a namedtuple), and match by
    # position.
    if _is_mapping(shallow_tree) and _is_mapping(input_tree):
        pairs = [(part, input_tree[key]) for key, part in shallow]
    else:
        pairs = [(part, other) for (_, part), (_, other) in zip(shallow, given)]
    for part, other in pairs:
        assert_shallow_structure(part, other, check_types, expand_composites, check_subtrees_length)


def _same_kind(shallow: Any, given: Any) -> bool:
    if isinstance(given, type(shallow)):
        return True
    if _is_namedtuple(shallow) and _is_namedtuple(given):
        return _same_namedtuples(shallow, given)
    return _is_mapping(shallow) and _is_mapping(given)


# Mapping.


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Applies a function to the corresponding leaves of structures.

    Args:
      func: A function with an argument for each structure.
      *structure: Structures nested in the same way, or leaves.
      check_types: If true (the default), their types must agree as well (keyword only).
      expand_composites: If true, values made of tensors count as structures (keyword only).

    Returns:
      A structure like the first, of the results.

    Raises:
      TypeError: `func` is not callable, or types differ.
      ValueError: There is no structure, a keyword is unknown, or the structures differ.

    Example:
      >>> tf.nest.map_structure(lambda x, y: x + y, {"a": 1, "b": (2, 3)}, {"a": 10, "b": (20, 30)})
      {'a': 11, 'b': (22, 33)}
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, not: `{}`".format(
                "`, `".join(kwargs)
            )
        )
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types=check_types, expand_composites=expand)
    leaves = zip(*(flatten(s, expand) for s in structure))
    return pack_sequence_as(structure[0], [func(*x) for x in leaves], expand_composites=expand)


def map_structure_with_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """As `map_structure`, with the path of the leaves as the first argument of `func`.

    Args:
      func: A function of the path, such as `"b/0"`, and of a leaf of each structure.
      *structure: Structures nested in the same way, or leaves.
      **kwargs: `check_types`, as in `map_structure`; others are passed to `func`.

    Returns:
      A structure like the first, of the results.

    Example:
      >>> tf.nest.map_structure_with_paths(lambda path, x: "%s is %d" % (path, x), {"a": 1, "b": (2, 3)})
      {'a': 'a is 1', 'b': ('b/0 is 2', 'b/1 is 3')}
    """

    def with_joined(path: Path, *values: Any, **kwargs: Any) -> Any:
        return func("/".join(map(str, path)), *values, **kwargs)

    return map_structure_with_tuple_paths_up_to(structure[0], with_joined, *structure, **kwargs)


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """As `map_structure_with_paths`, with paths as tuples of keys. The other arguments are the same.

    Example:
      >>> tf.nest.map_structure_with_tuple_paths(lambda path, x: (len(path), x), {"a": 1, "b": (2, 3)})
      {'a': (1, 1), 'b': ((2, 2), (2, 3))}
    """
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any) -> Any:
    """Applies a function to the parts of the inputs at the leaves of `shallow_tree`.

    Args:
      shallow_tree: The upper structure of the inputs.
      func: A function with an argument for each input.
      *inputs: Structures whose upper part is like `shallow_tree`.
      **kwargs: `check_types`, `expand_composites` and `check_subtrees_length`, as in `flatten_up_to`.

    Returns:
      A structure like `shallow_tree`.

    Example:
      >>> tf.nest.map_structure_up_to([0, 0], sum, [[1, 2], [3, 4]])
      [3, 7]
    """
    return map_structure_with_tuple_paths_up_to(
        shallow_tree, lambda _, *values, **rest: func(*values, **rest), *inputs, **kwargs
    )


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """As `map_structure_up_to`, with the path as the first argument of `func`.

    The other arguments are the same.

    Keywords other than `check_types`, `expand_composites` and `check_subtrees_length` are passed to `func`.

    Raises:
      ValueError: There are no inputs.

    Example:
      >>> tf.nest.map_structure_with_tuple_paths_up_to([0, 0], lambda path, part: (path, len(part)),
      ...     [[1, 2], [3]])
      [((0,), 2), ((1,), 1)]
    """
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    options = {
        "check_types": kwargs.pop("check_types", True),
        "expand_composites": kwargs.pop("expand_composites", False),
        "check_subtrees_length": kwargs.pop("check_subtrees_length", True),
    }
    values = [flatten_up_to(shallow_tree, tree, **options) for tree in inputs]
    is_seq = _test(options["expand_composites"])
    paths = [path for path, _ in _yield_flat_up_to(shallow_tree, inputs[0], is_seq)]
    results = [func(path, *leaves, **kwargs) for path, *leaves in zip(paths, *values)]
    return pack_sequence_as(shallow_tree, results, expand_composites=options["expand_composites"])


# Partial flattening.


def _yield_flat_up_to(
    shallow_tree: Any, input_tree: Any, is_seq: Callable[[Any], bool], path: Path = ()
) -> Iterator[Tuple[Path, Any]]:
    if not is_seq(shallow_tree):
        yield path, input_tree
        return
    parts = dict(_yield_sorted_items(input_tree))
    for key, shallow_part in _yield_sorted_items(shallow_tree):
        yield from _yield_flat_up_to(shallow_part, parts[key], is_seq, path + (key,))


def flatten_up_to(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> List[Any]:
    """Returns the parts of `input_tree` at the leaves of `shallow_tree`, as a list.

    Args:
      shallow_tree: The upper structure of `input_tree`.
      input_tree: A structure whose upper part is like `shallow_tree`.
      check_types: If true, the types of the structures must agree as well.
      expand_composites: If true, values made of tensors count as structures.
      check_subtrees_length: If false, `input_tree` may have parts that `shallow_tree` lacks.

    Returns:
      A list of leaves and structures.

    Raises:
      TypeError, ValueError: As `assert_shallow_structure`.

    Example:
      >>> tf.nest.flatten_up_to([True, False], [[1, 2], [3, [4]]])
      [[1, 2], [3, [4]]]
    """
    pairs = flatten_with_tuple_paths_up_to(
        shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length
    )
    return [value for _, value in pairs]


def flatten_with_tuple_paths_up_to(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> List[Tuple[Path, Any]]:
    """As `flatten_up_to`, with each part's path as a tuple of keys. Arguments and errors are the same.

    Returns:
      A list of pairs of a tuple and a leaf or structure.

    Example:
      >>> tf.nest.flatten_with_tuple_paths_up_to([0, 0], [[1, 2], 3])
      [((0,), [1, 2]), ((1,), 3)]
    """
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length)
    return list(_yield_flat_up_to(shallow_tree, input_tree, _test(expand_composites)))


def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Iterator[Path]:
    """Yields the paths of the leaves as tuples of keys, in the order of `flatten`.

    Args:
      nest: A structure, or a leaf.
      expand_composites: If true, values made of tensors count as structures.

    Returns:
      An iterator of tuples.

    Example:
      >>> list(tf.nest.yield_flat_paths({"a": 1, "b": (2, 3)}))
      [('a',), ('b', 0), ('b', 1)]
    """
    for path, _ in _yield_flat_up_to(nest, nest, _test(expand_composites)):
        yield path


def flatten_with_tuple_paths(structure: Any, expand_composites: bool = False) -> List[Tuple[Path, Any]]:
    """Returns each leaf with its path as a tuple of keys.

    Args:
      structure: A structure, or a leaf.
      expand_composites: If true, values made of tensors count as structures.

    Returns:
      A list of pairs of a tuple and a leaf, in the order of `flatten`.

    Example:
      >>> tf.nest.flatten_with_tuple_paths({"a": 1, "b": (2, 3)})
      [(('a',), 1), (('b', 0), 2), (('b', 1), 3)]
    """
    return list(_yield_flat_up_to(structure, structure, _test(expand_composites)))


def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> List[Tuple[str, Any]]:
    """Returns each leaf with its path as a string.

    Args:
      structure: A structure, or a leaf.
      separator: The separator between keys.
      expand_composites: If true, values made of tensors count as structures.

    Returns:
      A list of pairs of a string and a leaf, in the order of `flatten`.

    Example:
      >>> tf.nest.flatten_with_joined_string_paths({"a": 1, "b": (2, 3)})
      [('a', 1), ('b/0', 2), ('b/1', 3)]
    """
    pairs: Iterable[Tuple[Path, Any]] = flatten_with_tuple_paths(structure, expand_composites)
    return [(separator.join(map(str, path)), value) for path, value in pairs]


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """Returns the upper part of `structure` that `traverse_fn` allows to enter, with bools as leaves.

    Args:
      traverse_fn: A function of a structure or leaf that returns a bool for all its parts, or a structure of
        depth one with a bool for each.
      structure: A structure.
      expand_composites: If true, values made of tensors count as structures.

    Returns:
      A structure of bools.

    Raises:
      TypeError: `traverse_fn` returns something else.

    Example:
      >>> tf.nest.get_traverse_shallow_structure(lambda part: isinstance(part, list), [1, (2, 3), [4, 5]])
      [False, False, [False, False]]
    """
    is_seq = _test(expand_composites)
    answer = traverse_fn(structure)
    if not is_seq(structure):
        if not isinstance(answer, bool):
            raise TypeError(f"traverse_fn returned structure: {answer} for non-structure: {structure}")
        return answer
    if isinstance(answer, bool):
        if not answer:
            return False
        allowed: List[Any] = [True] * len(list(_yield_value(structure)))
    elif not is_seq(answer):
        raise TypeError(f"traverse_fn returned a non-bool scalar: {answer} for input: {structure}")
    else:
        assert_shallow_structure(answer, structure, expand_composites=expand_composites)
        allowed = list(_yield_value(answer))
    level = []
    for may, part in zip(allowed, _yield_value(structure)):
        if not isinstance(may, bool):
            raise TypeError(
                f"traverse_fn didn't return a depth=1 structure of bools.  saw: {answer}  for structure: {structure}"
            )
        level.append(get_traverse_shallow_structure(traverse_fn, part, expand_composites) if may else False)
    return _sequence_like(structure, level)
