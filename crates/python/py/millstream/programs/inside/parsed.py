"""Internal names of `tensorflow.python.ops.parsing_ops`: `NAMES`, by module.

These functions take the parts of features as lists of keys, dtypes and shapes.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from millstream.framework import dtypes, shapes
from millstream.io import parsing_ops
from millstream.io.parsing_ops import FixedLenSequenceFeature, _Wanted

_Raw = Tuple[List[str], List[Any], List[str], List[Any], Dict[str, Any], List[Any]]


def _features_to_raw_params(features: Any, types: Any) -> _Raw:
    """Returns the keys and dtypes of sparse features; keys, dtypes, defaults and shapes of dense ones."""
    wanted = _Wanted().add(features, tuple(types))
    given = {key: features[key] for key in wanted.dense}
    defaults = {
        key: feature.default_value
        for key, feature in given.items()
        if feature.default_value is not None or isinstance(feature, FixedLenSequenceFeature)
    }
    types_of_dense = [feature.dtype for feature in given.values()]
    return list(wanted.sparse), list(wanted.sparse.values()), list(given), types_of_dense, defaults, [feature.shape for feature in given.values()]


def _prepend_none_dimension(features: Any) -> Any:
    """Returns the features, with a first dimension of unknown size in the shapes of sequences."""
    if not features:
        return features
    out = dict(features)
    for key, feature in features.items():
        if isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
            shape = [None, *feature.shape]
            out[key] = FixedLenSequenceFeature(shape, feature.dtype, feature.allow_missing, feature.default_value)
    return out


def _wanted(words: str, sparse_keys: Any, sparse_types: Any, dense_keys: Any, dense_types: Any, dense_defaults: Any, dense_shapes: Any) -> _Wanted:
    """Returns the features of these parts. `words` comes before the names of the parts in messages."""
    sparse_keys, sparse_types, dense_keys, dense_types = (list(part or ()) for part in (sparse_keys, sparse_types, dense_keys, dense_types))
    dense_shapes = [[]] * len(dense_keys) if dense_shapes is None else list(dense_shapes)
    for count, part, keys in ((len(dense_types), "dense_types", "num_dense"), (len(dense_shapes), "dense_shapes", "num_dense")):
        if count != len(dense_keys):
            raise ValueError("len(%s%s) != len(%s): %d vs. %d" % (words, part, words + keys if words else keys, count, len(dense_keys)))
    if len(sparse_types) != len(sparse_keys):
        raise ValueError("len(%ssparse_types) != len(%ssparse_keys): %d vs. %d" % (words, words, len(sparse_types), len(sparse_keys)))
    wanted = _Wanted()
    for key, dtype in zip(sparse_keys, sparse_types):
        wanted._sparse(key, dtype)
    for key, dtype, shape in zip(dense_keys, dense_types, dense_shapes):
        wanted.dense[key] = dtypes.as_dtype(dtype), shapes.as_shape(shape), (dense_defaults or {}).get(key)
    wanted.check()
    return wanted


def _some(*wanted: _Wanted) -> bool:
    return any(one.sparse or one.dense for one in wanted)


def _parse_example_raw(
    serialized: Any,
    names: Any = None,
    sparse_keys: Any = None,
    sparse_types: Any = None,
    dense_keys: Any = None,
    dense_types: Any = None,
    dense_defaults: Any = None,
    dense_shapes: Any = None,
    name: Optional[str] = None,
) -> Dict[str, Any]:
    """Returns the tensors of the features of a vector of examples."""
    wanted = _wanted("", sparse_keys, sparse_types, dense_keys, dense_types, dense_defaults, dense_shapes)
    if not _some(wanted):
        raise ValueError("Must provide at least one sparse key or dense key")
    return parsing_ops._parse_batch(serialized, wanted, names, name)


def _parse_single_example_raw(
    serialized: Any,
    names: Any = None,
    sparse_keys: Any = None,
    sparse_types: Any = None,
    dense_keys: Any = None,
    dense_types: Any = None,
    dense_defaults: Any = None,
    dense_shapes: Any = None,
    name: Optional[str] = None,
) -> Dict[str, Any]:
    """Returns the tensors of the features of an example, parsed as a batch of one."""
    wanted = _wanted("", sparse_keys, sparse_types, dense_keys, dense_types, dense_defaults, dense_shapes)
    return parsing_ops._parse_one_with_a_name(serialized, wanted, names, name)


def _parse_single_example_v2_raw(
    serialized: Any, sparse_keys: Any, sparse_types: Any, dense_keys: Any, dense_types: Any, dense_defaults: Any, dense_shapes: Any, name: Optional[str]
) -> Dict[str, Any]:
    """Returns the tensors of the features of an example."""
    wanted = _wanted("", sparse_keys, sparse_types, dense_keys, dense_types, dense_defaults, dense_shapes)
    return parsing_ops._parse_one(serialized, wanted, name)


def _lists(
    sparse_keys: Any, sparse_types: Any, dense_keys: Any, dense_types: Any, dense_shapes: Any, dense_defaults: Any
) -> _Wanted:
    wanted = _wanted("feature_list_", sparse_keys, sparse_types, dense_keys, dense_types, None, dense_shapes)
    for key, default in (dense_defaults or {}).items():
        if default is not None:
            raise ValueError("Value feature_list_dense_defaults[%s] must be None" % key)
        wanted.missing_is_empty.append(key)
    return wanted


def _checked(context: _Wanted, lists: _Wanted) -> Tuple[_Wanted, _Wanted]:
    if not _some(context, lists):
        raise ValueError("Must provide at least one context_sparse key, context_dense key, , feature_list_sparse key, or feature_list_dense key")
    return context, lists


def _parse_single_sequence_example_raw(
    serialized: Any,
    context_sparse_keys: Any = None,
    context_sparse_types: Any = None,
    context_dense_keys: Any = None,
    context_dense_types: Any = None,
    context_dense_defaults: Any = None,
    context_dense_shapes: Any = None,
    feature_list_sparse_keys: Any = None,
    feature_list_sparse_types: Any = None,
    feature_list_dense_keys: Any = None,
    feature_list_dense_types: Any = None,
    feature_list_dense_shapes: Any = None,
    feature_list_dense_defaults: Any = None,
    debug_name: Any = None,
    name: Optional[str] = None,
) -> Any:
    """Returns the tensors of the context and of the feature lists of a sequence."""
    context = _wanted("context_", context_sparse_keys, context_sparse_types, context_dense_keys, context_dense_types, context_dense_defaults, context_dense_shapes)
    lists = _lists(
        feature_list_sparse_keys,
        feature_list_sparse_types,
        feature_list_dense_keys,
        feature_list_dense_types,
        feature_list_dense_shapes,
        feature_list_dense_defaults,
    )
    return parsing_ops._parse_sequence(serialized, *_checked(context, lists), debug_name, name)


def _parse_sequence_example_raw(
    serialized: Any,
    debug_name: Any = None,
    context_sparse_keys: Any = None,
    context_sparse_types: Any = None,
    context_dense_keys: Any = None,
    context_dense_types: Any = None,
    context_dense_defaults: Any = None,
    context_dense_shapes: Any = None,
    feature_list_sparse_keys: Any = None,
    feature_list_sparse_types: Any = None,
    feature_list_dense_keys: Any = None,
    feature_list_dense_types: Any = None,
    feature_list_dense_shapes: Any = None,
    feature_list_dense_defaults: Any = None,
    name: Optional[str] = None,
) -> Any:
    """Returns the tensors of the contexts and of the lists of sequences, and the lengths of the lists."""
    context = _wanted("context_", context_sparse_keys, context_sparse_types, context_dense_keys, context_dense_types, context_dense_defaults, context_dense_shapes)
    lists = _lists(
        feature_list_sparse_keys,
        feature_list_sparse_types,
        feature_list_dense_keys,
        feature_list_dense_types,
        feature_list_dense_shapes,
        feature_list_dense_defaults,
    )
    return parsing_ops._parse_sequences(serialized, *_checked(context, lists), debug_name, name)


NAMES: Dict[str, Dict[str, Any]] = {
    "python.ops.parsing_ops": {
        "_construct_sparse_tensors_for_sparse_features": parsing_ops._put_together,
        "_features_to_raw_params": _features_to_raw_params,
        "_parse_example_raw": _parse_example_raw,
        "_parse_sequence_example_raw": _parse_sequence_example_raw,
        "_parse_single_example_raw": _parse_single_example_raw,
        "_parse_single_example_v2_raw": _parse_single_example_v2_raw,
        "_parse_single_sequence_example_raw": _parse_single_sequence_example_raw,
        "_prepend_none_dimension": _prepend_none_dimension,
    },
}
