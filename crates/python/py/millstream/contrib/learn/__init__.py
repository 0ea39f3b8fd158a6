"""`tf.contrib.learn`: `Experiment` and what it needs, over `tf.estimator`; MNIST; vocabularies of texts.

Its own estimators, feature columns, monitors and heads are not part of it: `tf.estimator.Estimator` takes a
function that builds the model.
"""

from __future__ import annotations

from millstream.contrib.learn import datasets as datasets, learn_runner as learn_runner, preprocessing as preprocessing
from millstream.contrib.learn.experiments import Experiment, ModeKeys, RunConfig
from millstream.framework import namespaces

__all__ = ["Experiment", "ModeKeys", "RunConfig", "datasets", "learn_runner", "preprocessing"]

__getattr__ = namespaces.getattr_of(__name__)


def __dir__() -> list:
    return list(__all__)
