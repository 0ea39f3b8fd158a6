"""`tf.contrib.layers`: layers as functions, regularizers, initializers, summaries and `optimize_loss`.

Its columns of features are `real_valued_column`, `sparse_column_with_hash_bucket` and others.
"""

from __future__ import annotations

from typing import List

from millstream.contrib.layers import (
    convolutional as _convolutional,
    divisive as _divisive,
    embeddings as _embeddings,
    feature_column_ops as _feature_column_ops,
    feature_columns as _feature_columns,
    initializers as _initializers,
    layers as _layers,
    normalization as _normalization,
    regularizers as _regularizers,
    summaries as summaries,
)
from millstream.contrib.layers.convolutional import *  # noqa: F403
from millstream.contrib.layers.divisive import *  # noqa: F403
from millstream.contrib.layers.embeddings import *  # noqa: F403
from millstream.contrib.layers.feature_column_ops import *  # noqa: F403
from millstream.contrib.layers.feature_columns import *  # noqa: F403
from millstream.contrib.layers.initializers import *  # noqa: F403
from millstream.contrib.layers.layers import *  # noqa: F403
from millstream.contrib.layers.normalization import *  # noqa: F403
from millstream.contrib.layers.optimizers import OPTIMIZER_CLS_NAMES, OPTIMIZER_SUMMARIES, optimize_loss
from millstream.contrib.layers.recomputing import recompute_grad
from millstream.contrib.layers.regularizers import *  # noqa: F403
from millstream.contrib.layers.reversible import RevBlock, rev_block
from millstream.contrib.layers.summaries import (
    summarize_activation,
    summarize_activations,
    summarize_collection,
    summarize_tensor,
    summarize_tensors,
)

__all__ = [
    *_convolutional.__all__,
    *_divisive.__all__,
    *_embeddings.__all__,
    *_feature_column_ops.__all__,
    *_feature_columns.__all__,
    *_initializers.__all__,
    *_layers.__all__,
    *_normalization.__all__,
    *_regularizers.__all__,
    "OPTIMIZER_CLS_NAMES",
    "OPTIMIZER_SUMMARIES",
    "RevBlock",
    "optimize_loss",
    "recompute_grad",
    "rev_block",
    "summarize_activation",
    "summarize_activations",
    "summarize_collection",
    "summarize_tensor",
    "summarize_tensors",
]


def __dir__() -> List[str]:
    return sorted([*__all__, "summaries"])
