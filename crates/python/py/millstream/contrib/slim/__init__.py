"""`tf.contrib.slim`: the names of `contrib.layers`, variables and scopes of `contrib.framework`, and loops.

`learning` trains, `evaluation` evaluates, `summaries`, `queues` and `model_analyzer` help. A
`dataset.Dataset` says what is in files; `dataset_data_provider`, `parallel_reader` and `tfexample_decoder`
read it, and `prefetch_queue` keeps batches. Nets are not part of it.
"""

from __future__ import annotations

from typing import List

from millstream.contrib import layers as _layers, losses as losses, metrics as metrics
from millstream.contrib.framework import arg_scopes as _arg_scopes, variables as _variables
from millstream.contrib.framework.arg_scopes import *  # noqa: F403
from millstream.contrib.framework.variables import *  # noqa: F403
from millstream.contrib.layers import *  # noqa: F403
from millstream.contrib.layers import initializers as initializers, regularizers as regularizers, utils as utils
from millstream.contrib.layers.optimizers import adaptive_clipping_fn as adaptive_clipping_fn
from millstream.contrib.layers.summaries import summarize_biases, summarize_variables, summarize_weights
from millstream.contrib.slim import (
    data_decoder as data_decoder,
    data_provider as data_provider,
    dataset as dataset,
    dataset_data_provider as dataset_data_provider,
    evaluation as evaluation,
    learning as learning,
    model_analyzer as model_analyzer,
    parallel_reader as parallel_reader,
    prefetch_queue as prefetch_queue,
    queues as queues,
    summaries as summaries,
    tfexample_decoder as tfexample_decoder,
)
from millstream.framework import namespaces

layers = _layers

# Names of other namespaces that are found here, too.
_PLACES = {
    "assert_global_step": "millstream.train.training_util:assert_global_step",
    "create_global_step": "millstream.train.training_util:create_global_step",
    "get_global_step": "millstream.train.training_util:get_global_step",
    "get_or_create_global_step": "millstream.train.training_util:get_or_create_global_step",
}
namespaces.place("contrib.slim", _PLACES)

__all__ = [
    *_arg_scopes.__all__,
    *_layers.__all__,
    *_variables.__all__,
    "adaptive_clipping_fn",
    "data_decoder",
    "data_provider",
    "dataset",
    "dataset_data_provider",
    "evaluation",
    "initializers",
    "layers",
    "learning",
    "losses",
    "metrics",
    "model_analyzer",
    "parallel_reader",
    "prefetch_queue",
    "queues",
    "regularizers",
    "summaries",
    "summarize_biases",
    "summarize_variables",
    "summarize_weights",
    "tfexample_decoder",
    "utils",
]

__getattr__ = namespaces.getattr_of(__name__)


def __dir__() -> List[str]:
    return sorted({*__all__, *_PLACES})
