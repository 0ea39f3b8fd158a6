"""`tf.contrib.learn`: `Experiment` and what it needs, over `tf.estimator`; MNIST.

Its own estimators, feature columns, monitors and heads are not part of it: `tf.estimator.Estimator` takes a
function that builds the model.
"""

from __future__ import annotations

from millstream.contrib.learn import datasets as datasets, learn_runner as learn_runner
from millstream.contrib.learn.experiments import Experiment, ModeKeys, RunConfig
from millstream.framework import namespaces

__all__ = ["Experiment", "ModeKeys", "RunConfig", "datasets", "learn_runner"]

__getattr__ = namespaces.getattr_of(__name__)


def __dir__() -> list:
    return list(__all__)
