"""`tf.contrib.learn`: estimators that take arrays, `Experiment`, monitors; MNIST; vocabularies of texts.

Heads, `DNNLinearCombinedClassifier` and exports are not part of it: see `tf.estimator` for these.
"""

from __future__ import annotations

from millstream.contrib.learn import (
    datasets as datasets,
    learn_runner as learn_runner,
    monitors as monitors,
    preprocessing as preprocessing,
)
from millstream.contrib.learn.actions import infer, run_feeds, run_n
from millstream.contrib.learn.canned import (
    DNNClassifier,
    DNNLinearCombinedClassifier,
    DNNLinearCombinedRegressor,
    DNNRegressor,
    LinearClassifier,
    LinearRegressor,
)
from millstream.contrib.learn.estimators import (
    Estimator,
    MetricSpec,
    ModelFnOps,
    NotFittedError,
    PredictionKey,
    ProblemType,
    SKCompat,
    infer_real_valued_columns_from_input,
    infer_real_valued_columns_from_input_fn,
)
from millstream.contrib.learn.experiments import Experiment, ModeKeys, RunConfig
from millstream.contrib.learn.reading import (
    read_batch_examples,
    read_batch_features,
    read_batch_record_features,
    read_keyed_batch_examples,
    read_keyed_batch_examples_shared_queue,
    read_keyed_batch_features,
    read_keyed_batch_features_shared_queue,
)
from millstream.framework import namespaces
from millstream.train.basic_session_run_hooks import NanLossDuringTrainingError

__all__ = [
    "DNNClassifier",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "Estimator",
    "Experiment",
    "LinearClassifier",
    "LinearRegressor",
    "MetricSpec",
    "ModeKeys",
    "ModelFnOps",
    "NanLossDuringTrainingError",
    "NotFittedError",
    "PredictionKey",
    "ProblemType",
    "RunConfig",
    "SKCompat",
    "datasets",
    "infer",
    "infer_real_valued_columns_from_input",
    "infer_real_valued_columns_from_input_fn",
    "learn_runner",
    "monitors",
    "preprocessing",
    "read_batch_examples",
    "read_batch_features",
    "read_batch_record_features",
    "read_keyed_batch_examples",
    "read_keyed_batch_examples_shared_queue",
    "read_keyed_batch_features",
    "read_keyed_batch_features_shared_queue",
    "run_feeds",
    "run_n",
]

__getattr__ = namespaces.getattr_of(__name__)


def __dir__() -> list:
    return list(__all__)
