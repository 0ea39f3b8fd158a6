"""`tf.contrib`: the parts that concern loops, input and layers: `framework`, `layers`, `rnn` and others."""

from typing import TYPE_CHECKING, Any, List

from millstream.framework import namespaces

_PARTS = (
    "bayesflow",
    "cluster_resolver",
    "compiler",
    "copy_graph",
    "crf",
    "cudnn_rnn",
    "data",
    "deprecated",
    "distributions",
    "estimator",
    "factorization",
    "feature_column",
    "framework",
    "graph_editor",
    "grid_rnn",
    "image",
    "input_pipeline",
    "integrate",
    "kernel_methods",
    "layers",
    "learn",
    "legacy_seq2seq",
    "libsvm",
    "lookup",
    "losses",
    "memory_stats",
    "metrics",
    "mixed_precision",
    "nn",
    "opt",
    "periodic_resample",
    "predictor",
    "recurrent",
    "resampler",
    "rnn",
    "seq2seq",
    "signal",
    "slim",
    "solvers",
    "sparsemax",
    "staging",
    "stateless",
    "summary",
    "tensorboard",
    "testing",
    "tfprof",
    "tpu",
    "training",
    "util",
)


if TYPE_CHECKING:
    from millstream.contrib import bayesflow as bayesflow
    from millstream.contrib import cluster_resolver as cluster_resolver
    from millstream.contrib import compiler as compiler
    from millstream.contrib import copy_graph as copy_graph
    from millstream.contrib import crf as crf
    from millstream.contrib import cudnn_rnn as cudnn_rnn
    from millstream.contrib import data as data
    from millstream.contrib import deprecated as deprecated
    from millstream.contrib import distributions as distributions
    from millstream.contrib import estimator as estimator
    from millstream.contrib import factorization as factorization
    from millstream.contrib import feature_column as feature_column
    from millstream.contrib import framework as framework
    from millstream.contrib import graph_editor as graph_editor
    from millstream.contrib import grid_rnn as grid_rnn
    from millstream.contrib import image as image
    from millstream.contrib import input_pipeline as input_pipeline
    from millstream.contrib import integrate as integrate
    from millstream.contrib import kernel_methods as kernel_methods
    from millstream.contrib import layers as layers
    from millstream.contrib import learn as learn
    from millstream.contrib import legacy_seq2seq as legacy_seq2seq
    from millstream.contrib import libsvm as libsvm
    from millstream.contrib import lookup as lookup
    from millstream.contrib import losses as losses
    from millstream.contrib import memory_stats as memory_stats
    from millstream.contrib import metrics as metrics
    from millstream.contrib import mixed_precision as mixed_precision
    from millstream.contrib import nn as nn
    from millstream.contrib import opt as opt
    from millstream.contrib import periodic_resample as periodic_resample
    from millstream.contrib import predictor as predictor
    from millstream.contrib import recurrent as recurrent
    from millstream.contrib import resampler as resampler
    from millstream.contrib import rnn as rnn
    from millstream.contrib import seq2seq as seq2seq
    from millstream.contrib import signal as signal
    from millstream.contrib import slim as slim
    from millstream.contrib import solvers as solvers
    from millstream.contrib import sparsemax as sparsemax
    from millstream.contrib import staging as staging
    from millstream.contrib import stateless as stateless
    from millstream.contrib import summary as summary
    from millstream.contrib import tensorboard as tensorboard
    from millstream.contrib import testing as testing
    from millstream.contrib import tfprof as tfprof
    from millstream.contrib import tpu as tpu
    from millstream.contrib import training as training
    from millstream.contrib import util as util
else:

    def __getattr__(name: str) -> Any:
        if name in _PARTS:
            return namespaces.find(__name__, "contrib", name)
        why = namespaces.why_not("contrib." + name) or f": it has {', '.join(_PARTS)}"
        raise AttributeError(f"module 'millstream.contrib' has no attribute {name!r}{why}")


def __dir__() -> List[str]:
    return sorted(_PARTS)
