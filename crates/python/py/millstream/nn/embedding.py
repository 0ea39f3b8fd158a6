"""Embeddings: `tf.nn.embedding_lookup` and its sparse variants.

A table may be partitioned over several tensors.
"""

from __future__ import annotations

from typing import Any, List, Optional

from millstream._engine import Tensor
from millstream.framework import (
    SparseTensor,
    colocate_with,
    constant_value,
    convert_to_tensor,
    dtypes,
    logging,
    name_scope,
    node_counts,
)
from millstream.framework.op_functions import op
from millstream.ops import array_ops, clip_ops, indexing_ops, math_ops, reduction_ops, sparse_ops

__all__ = ["embedding_lookup", "embedding_lookup_sparse", "safe_embedding_lookup_sparse"]


def _tables(params: Any) -> List[Any]:
    if params is None:
        raise ValueError("params must be specified")
    if hasattr(params, "_get_variable_list"):
        params = params._get_variable_list()
    tables = list(params) if isinstance(params, (list, tuple)) else [params]
    if not tables:
        raise ValueError("Need at least one param")
    return tables


def embedding_lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: Optional[str] = None,
    validate_indices: bool = True,
    max_norm: Optional[float] = None,
) -> Tensor:
    """Returns the rows of `params` at `ids`, of shape `shape(ids) + shape(params)[1:]`.

    Args:
      params: A tensor, a partitioned variable, or a list of tensors that hold the rows.
      ids: A tensor of ints.
      partition_strategy: With several tensors, `"mod"` if row `i` is in tensor `i % n`, or `"div"` if they
        hold consecutive rows.
      name: A name for the operation.
      validate_indices: Ignored: ids are always checked.
      max_norm: The largest norm of a row; longer ones are scaled down. None for any.

    Returns:
      A tensor of the dtype of `params`.

    Example:
      >>> print(tf.Session().run(tf.nn.embedding_lookup(tf.constant([[1.0], [2.0], [3.0]]), [2, 0])).ravel())
      [3. 1.]
    """
    tables = _tables(params)
    with name_scope(name, "embedding_lookup", tables + [ids]) as scope:
        tables = [t if hasattr(t, "handle") else convert_to_tensor(t) for t in tables]
        ids = convert_to_tensor(ids, name="ids")
        if len(tables) == 1:
            with colocate_with(tables[0]):
                return op("Identity")(_shortened(indexing_ops.gather(tables[0], ids, axis=0, name=scope), ids, max_norm))
        return _from_several(tables, ids, partition_strategy, max_norm, scope)


def _from_several(tables: List[Any], ids: Any, strategy: str, max_norm: Optional[float], scope: Optional[str]) -> Tensor:
    flat = array_ops.reshape(ids, [-1])
    n = len(tables)
    if strategy == "mod":
        which, inside = op("FloorMod")(flat, n), op("FloorDiv")(flat, n)
    elif strategy == "div":
        which, inside = _divided(tables, flat)
    else:
        raise ValueError("Unrecognized partition strategy: " + strategy)
    which = math_ops.cast(which, dtypes.int32)
    gathers = op("DynamicPartition")(inside, which, num_partitions=n)
    places = op("DynamicPartition")(math_ops.range(array_ops.size(flat)), which, num_partitions=n)
    rows = []
    for table, own in zip(tables, gathers):
        with colocate_with(table):
            rows.append(indexing_ops.gather(table, own, axis=0))
    stitched = op("ParallelDynamicStitch")(places, rows, name=scope)
    row_shape = tables[0].get_shape()[1:]
    for table in tables[1:]:
        row_shape = row_shape.merge_with(table.get_shape()[1:])
    tail = row_shape.as_list() if row_shape.is_fully_defined() else array_ops.shape(tables[0])[1:]
    result = array_ops.reshape(stitched, array_ops.concat([array_ops.shape(ids), tail], 0))
    result.set_shape(ids.shape.concatenate(row_shape))
    return _shortened(result, ids, max_norm)


def _divided(tables: List[Any], flat: Tensor) -> Any:
    """Finds tensor and position of consecutive rows: the first `total % n` tensors hold one row more."""
    n = len(tables)
    sizes = [t.get_shape()[0].value if t.get_shape().ndims else None for t in tables]
    if all(s is not None for s in sizes):
        total: Any = convert_to_tensor(sum(sizes), flat.dtype)
    else:
        total = math_ops.cast(op("AddN")([array_ops.shape(t)[0] for t in tables]), flat.dtype)
    each, extra = op("FloorDiv")(total, n), op("FloorMod")(total, n)
    which = op("Maximum")(op("FloorDiv")(flat, each + 1), op("FloorDiv")(flat - extra, each))
    first = which < extra
    inside = array_ops.where(first, op("FloorMod")(flat, each + 1), op("FloorMod")(flat - extra, each))
    return which, inside


def _shortened(rows: Tensor, ids: Any, max_norm: Optional[float]) -> Tensor:
    if max_norm is None:
        return rows
    first = convert_to_tensor(ids).shape.ndims
    if first is None or rows.shape.ndims is None:
        raise ValueError("embedding_lookup with max_norm: the ranks of the ids and of the tables must be known")
    return clip_ops.clip_by_norm(rows, max_norm, axes=list(range(first, rows.shape.ndims)))


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: Optional[str] = None,
    combiner: Optional[str] = None,
    max_norm: Optional[float] = None,
) -> Tensor:
    """Combines, for each row of `sp_ids`, the rows of the table at its ids, multiplied by their weights.

    Args:
      params: The table: a matrix, a variable, or a list of its parts.
      sp_ids: A `SparseTensor` of int64 ids.
      sp_weights: A `SparseTensor` of weights with the same indices, or None for ones.
      partition_strategy: `"mod"` or `"div"`: how ids are divided among several parts.
      name: The name of the operation.
      combiner: `"sum"`; `"mean"`, the sum over the sum of weights; or `"sqrtn"`, over the root of the sum of
        their squares. None is `"mean"`, with a warning.
      max_norm: If set, rows of a larger norm are scaled to it.

    Returns:
      A matrix with a row for each row of `sp_ids`.

    Raises:
      TypeError: `sp_ids` or `sp_weights` is not a `SparseTensor`.
      ValueError: `combiner` is none of these, or the shapes differ.

    Example:
      >>> ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([0, 2, 1], tf.int64), [2, 2])
      >>> table = tf.constant([[1.0], [2.0], [3.0]])
      >>> print(*tf.Session().run(tf.nn.embedding_lookup_sparse(table, ids, None, combiner="sum")))
      [4.] [2.]
    """
    if combiner is None:
        logging.warning('The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.')
        combiner = "mean"
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    tables = _tables(params)
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if sp_weights is not None:
        if not isinstance(sp_weights, SparseTensor):
            raise TypeError("sp_weights must be either None or SparseTensor")
        sp_ids.values.get_shape().assert_is_compatible_with(sp_weights.values.get_shape())
        sp_ids.indices.get_shape().assert_is_compatible_with(sp_weights.indices.get_shape())
        sp_ids.dense_shape.get_shape().assert_is_compatible_with(sp_weights.dense_shape.get_shape())
    with name_scope(name, "embedding_lookup_sparse", tables + [sp_ids]) as name:
        segments = math_ops.cast(sp_ids.indices[:, 0], dtypes.int32)
        ids, places = array_ops.unique(sp_ids.values)
        rows = embedding_lookup(tables, ids, partition_strategy=partition_strategy, max_norm=max_norm)
        if rows.dtype in (dtypes.float16, dtypes.bfloat16):
            rows = math_ops.cast(rows, dtypes.float32)
        if sp_weights is None:
            kind = {"sum": "SparseSegmentSum", "mean": "SparseSegmentMean", "sqrtn": "SparseSegmentSqrtN"}[combiner]
            return op(kind)(rows, places, segments, name=name)
        return _weighted(rows, places, segments, sp_weights.values, combiner, name)


def _weighted(rows: Tensor, places: Tensor, segments: Tensor, weights: Tensor, combiner: str, name: Optional[str]) -> Tensor:
    if weights.dtype != rows.dtype:
        weights = math_ops.cast(weights, rows.dtype)
    rows = indexing_ops.gather(rows, places)
    ones = array_ops.fill(array_ops.expand_dims(array_ops.rank(rows) - 1, 0), 1)
    known = rows.shape
    rows = rows * array_ops.reshape(weights, array_ops.concat([array_ops.shape(weights), ones], 0))
    rows.set_shape(known)
    if combiner == "sum":
        return op("SegmentSum")(rows, segments, name=name)
    total = op("SegmentSum")(rows, segments)
    node_counts.also(-4 if combiner == "mean" else -3)  # TensorFlow broadcasts by another op.
    if combiner == "mean":
        over = op("SegmentSum")(weights, segments)
    else:
        over = op("Sqrt")(op("SegmentSum")(op("Square")(weights), segments))
    wide = array_ops.reshape(over, array_ops.concat([array_ops.shape(over), ones], 0))
    return op("RealDiv")(total, wide, name=name)


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: Any = None,
    name: Optional[str] = None,
    partition_strategy: str = "div",
    max_norm: Optional[float] = None,
) -> Tensor:
    """As `embedding_lookup_sparse`, without negative ids and nonpositive weights.

    Args:
      embedding_weights: The table: a matrix, a variable, or a list of its parts.
      sparse_ids: A `SparseTensor` of int64 ids, of rank 2 or more.
      sparse_weights: A `SparseTensor` of weights with the same indices, or None for ones.
      combiner: `"sum"`, `"mean"` or `"sqrtn"`.
      default_id: The id for rows without ids; None for zeros in their place.
      name: The name of the scope.
      partition_strategy: `"mod"` or `"div"`: how ids are divided among several parts.
      max_norm: If set, rows of a larger norm are scaled to it.

    Returns:
      A tensor with the leading dimensions of `sparse_ids`, and the columns of the table.

    Raises:
      ValueError: If there is no table.

    Example:
      >>> ids = tf.SparseTensor([[0, 0], [0, 1]], tf.constant([1, -1], tf.int64), [2, 2])
      >>> table = tf.constant([[1.0], [2.0]])
      >>> print(*tf.Session().run(tf.nn.safe_embedding_lookup_sparse(table, ids)))
      [2.] [0.]
    """
    if embedding_weights is None:
        raise ValueError("Missing embedding_weights %s.\n  help: pass the table: a matrix, a variable, or a list of its parts" % embedding_weights)
    tables = _tables(embedding_weights)
    with name_scope(name, "embedding_lookup", tables + [sparse_ids, sparse_weights]) as scope:
        # Ids of more than two dimensions: all dimensions but the last are flattened to rows.
        shape = sparse_ids.dense_shape
        rank = shape.shape.as_list()[0]
        rank = array_ops.size(shape) if rank is None else rank
        lead = op("Slice")(shape, [0], array_ops.reshape(convert_to_tensor(rank) - 1, [1]))
        flat = array_ops.stack([reduction_ops.reduce_prod(lead), indexing_ops.gather(shape, convert_to_tensor(rank) - 1)])
        sparse_ids = sparse_ops.sparse_reshape(sparse_ids, flat)
        # TensorFlow has other constants and slices of shapes, and does not fold the shape that is known here.
        node_counts.also(-5 if sparse_ids.dense_shape.op.type == "Const" else -4)
        if sparse_weights is not None:
            sparse_weights = SparseTensor(sparse_ids.indices, sparse_weights.values, sparse_ids.dense_shape)
        sparse_ids, sparse_weights = _pruned(sparse_ids, sparse_weights, combiner)
        sparse_ids, is_empty = sparse_ops.sparse_fill_empty_rows(sparse_ids, default_id or 0)
        if sparse_weights is not None:
            sparse_weights, _ = sparse_ops.sparse_fill_empty_rows(sparse_weights, 1.0)
        result = embedding_lookup_sparse(
            tables, sparse_ids, sparse_weights, combiner=combiner, partition_strategy=partition_strategy, name=None if default_id is None else scope, max_norm=max_norm
        )
        if default_id is None:
            wide = op("Tile")(array_ops.reshape(is_empty, [-1, 1]), array_ops.stack([convert_to_tensor(1), array_ops.shape(result)[1]]))
            result = array_ops.where(wide, array_ops.zeros_like(result), result, name=scope)
        final = array_ops.reshape(result, array_ops.concat([math_ops.cast(lead, dtypes.int32), array_ops.shape(result)[1:]], 0))
        known = constant_value(lead)
        if known is not None:
            final.set_shape([int(d) for d in known] + result.shape.as_list()[1:])
        return final


def _pruned(ids: SparseTensor, weights: Any, combiner: str) -> Any:
    """Drops ids that are negative, and those whose weights are not positive unless the combiner is `sum`."""
    valid = op("GreaterEqual")(ids.values, convert_to_tensor(0, ids.values.dtype))
    if weights is not None:
        valid = op("LogicalAnd")(valid, array_ops.ones_like(weights.values, dtype=dtypes.bool))
    ids = sparse_ops.sparse_retain(ids, valid)
    if weights is None:
        return ids, None
    weights = sparse_ops.sparse_retain(weights, valid)
    if combiner != "sum":
        positive = op("Greater")(weights.values, convert_to_tensor(0, weights.values.dtype))
        ids, weights = sparse_ops.sparse_retain(ids, positive), sparse_ops.sparse_retain(weights, positive)
    return ids, weights
