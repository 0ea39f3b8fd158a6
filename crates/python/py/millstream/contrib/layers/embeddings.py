"""Layers that look rows up in a table: `embed_sequence`, `bow_encoder` and their lookups."""

from __future__ import annotations

from typing import Any, Optional

from millstream.contrib.framework.variables import model_variable
from millstream.framework import SparseTensor, convert_to_tensor, logging, name_scope
from millstream.framework.op_functions import op
from millstream.nn import embedding
from millstream.ops import array_ops, indexing_ops, reduction_ops
from millstream.variables.scopes import variable_scope

__all__ = ["bow_encoder", "embed_sequence", "embedding_lookup_unique", "safe_embedding_lookup_sparse"]


def embed_sequence(
    ids: Any,
    vocab_size: Optional[int] = None,
    embed_dim: Optional[int] = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """Looks ids up in a table of rows, the variable `embeddings`.

    Args:
      ids: A tensor of integers.
      vocab_size: The number of rows; may be left out if the table is reused.
      embed_dim: The length of a row; the same.
      unique: If true, equal ids are looked up once.
      initializer: The initializer of the table.
      regularizer: A function from the table to a term of the loss.
      trainable: If true, the table is trainable.
      scope: The variable scope.
      reuse: As in `tf.variable_scope`.

    Returns:
      A tensor of the shape `ids.shape + [embed_dim]`.

    Raises:
      ValueError: A new table has no size.

    Example:
      >>> tf.contrib.layers.embed_sequence([[1, 2, 0]], vocab_size=10, embed_dim=4).shape
      TensorShape([Dimension(1), Dimension(3), Dimension(4)])
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            "Must specify vocab size and embedding dimension when not reusing. Got vocab_size=%s and embed_dim=%s" % (vocab_size, embed_dim)
        )
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = None if (reuse and vocab_size is None) or embed_dim is None else [vocab_size, embed_dim]
        table = model_variable("embeddings", shape=shape, initializer=initializer, regularizer=regularizer, trainable=trainable)
        return embedding_lookup_unique(table, ids) if unique else embedding.embedding_lookup(table, ids)


def bow_encoder(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """Returns the mean of the rows of a document's ids in a table, the variable `embeddings`.

    The other arguments are those of `embed_sequence`.

    Args:
      ids: A tensor of integers, or a `SparseTensor`, of shape `[batch, length]`.
      vocab_size: The number of rows.
      embed_dim: The length of a row.
      sparse_lookup: If true, zeros are padding, and a document without ids gets row 0.

    Returns:
      A tensor of shape `[batch, embed_dim]`.

    Raises:
      ValueError: The table has no size.
      TypeError: `ids` is sparse, and `sparse_lookup` is false.

    Example:
      >>> y = tf.contrib.layers.bow_encoder([[1, 2, 0]], 10, 4, initializer=tf.ones_initializer())
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y))
      [[1. 1. 1. 1.]]
    """
    if not vocab_size or not embed_dim:
        raise ValueError("Must specify vocab size and embedding dimension")
    with variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        table = model_variable(
            "embeddings", shape=[vocab_size, embed_dim], initializer=initializer, regularizer=regularizer, trainable=trainable
        )
        if sparse_lookup:
            return safe_embedding_lookup_sparse([table], _sparse(ids), combiner="mean", default_id=0)
        if isinstance(ids, SparseTensor):
            raise TypeError("ids are expected to be dense Tensor, got: %s" % (ids,))
        return reduction_ops.reduce_mean(embedding.embedding_lookup(table, ids), axis=1)


def _sparse(ids: Any) -> SparseTensor:
    """Returns the elements of a matrix that are not 0."""
    if isinstance(ids, SparseTensor):
        return ids
    with name_scope(None, "DenseToSparseTensor"):
        ids = convert_to_tensor(ids)
        places = array_ops.where(op("NotEqual")(ids, array_ops.zeros_like(ids)), name="indices")
        values = indexing_ops.gather_nd(ids, places, name="values")
        return SparseTensor(places, values, op("Shape")(ids, out_type="int64", name="dense_shape"))


def embedding_lookup_unique(params: Any, ids: Any, partition_strategy: str = "mod", name: Optional[str] = None) -> Any:
    """As `tf.nn.embedding_lookup`, but looks equal ids up once.

    Args:
      params: A table, or a list of its parts.
      ids: A tensor of integers.
      partition_strategy: As in `tf.nn.embedding_lookup`.
      name: The name scope of the new operations.

    Returns:
      A tensor of the shape `ids.shape + params.shape[1:]`.

    Example:
      >>> table = tf.constant([[1.0], [2.0]])
      >>> print(tf.Session().run(tf.contrib.layers.embedding_lookup_unique(table, [1, 1])).ravel())
      [2. 2.]
    """
    with name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = convert_to_tensor(ids)
        shape = array_ops.shape(ids)
        flat = array_ops.reshape(ids, reduction_ops.reduce_prod(shape, keepdims=True))
        distinct, places = op("Unique")(flat)
        rows = embedding.embedding_lookup(params, distinct, partition_strategy)
        found = indexing_ops.gather(rows, places)
        found = array_ops.reshape(found, array_ops.concat([shape, array_ops.shape(rows)[1:]], 0))
        found.set_shape(ids.get_shape().concatenate(rows.get_shape()[1:]))
        return found


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: Optional[str] = None,
    default_id: Optional[int] = None,
    name: Optional[str] = None,
    partition_strategy: str = "div",
    max_norm: Optional[float] = None,
) -> Any:
    """As `tf.nn.safe_embedding_lookup_sparse`; the `combiner` may be left out: "mean".

    Args:
      embedding_weights: A table, or a list of its parts.
      sparse_ids: A `SparseTensor` of ids; negative ones are left out.
      sparse_weights: A `SparseTensor` of weights; ids with weights that are not positive are left out.
      combiner: How rows are combined: "mean", "sqrtn" or "sum".
      default_id: The id for rows without ids; by default they are zeros.
      name: The name scope of the new operations.
      partition_strategy: As in `tf.nn.embedding_lookup`.
      max_norm: The largest norm of a row; by default there is none.

    Returns:
      A tensor.

    Example:
      >>> ids = tf.SparseTensor([[0, 0], [0, 1]], [0, 1], [2, 2])
      >>> lookup = tf.contrib.layers.safe_embedding_lookup_sparse
      >>> rows = lookup(tf.constant([[1.0], [3.0]]), ids, combiner="mean")
      >>> print(tf.Session().run(rows).ravel())
      [2. 0.]
    """
    if combiner is None:
        logging.warn('The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.')
        combiner = "mean"
    return embedding.safe_embedding_lookup_sparse(
        embedding_weights, sparse_ids, sparse_weights, combiner, default_id, name, partition_strategy, max_norm
    )
