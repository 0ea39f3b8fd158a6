"""`tf.estimator`: models in a function, trained, evaluated and exported in this process.

- `estimator`: `Estimator`; `model_fn`: what a model function returns; `run_config`: how it runs;
- `training`: `train_and_evaluate`; `exporter`, `export`: exports; `inputs`: input functions over arrays.

Estimators with a model of their own (`DNNClassifier`) need feature columns, which are not here yet.
"""

from millstream.estimator import export, inputs
from millstream.estimator.estimator import Estimator
from millstream.estimator.exporter import BestExporter, Exporter, FinalExporter, LatestExporter
from millstream.estimator.model_fn import EstimatorSpec, ModeKeys
from millstream.estimator.run_config import RunConfig
from millstream.estimator.training import EvalSpec, TrainSpec, train_and_evaluate
from millstream.framework import namespaces
from millstream.train.basic_session_run_hooks import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    FeedFnHook,
    FinalOpsHook,
    GlobalStepWaiterHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    ProfilerHook,
    SecondOrStepTimer,
    StepCounterHook,
    StopAtStepHook,
    SummarySaverHook,
)
from millstream.train.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

__all__ = [
    "BestExporter",
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "Estimator",
    "EstimatorSpec",
    "EvalSpec",
    "Exporter",
    "FeedFnHook",
    "FinalExporter",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "LatestExporter",
    "LoggingTensorHook",
    "ModeKeys",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "ProfilerHook",
    "RunConfig",
    "SecondOrStepTimer",
    "SessionRunArgs",
    "SessionRunContext",
    "SessionRunHook",
    "SessionRunValues",
    "StepCounterHook",
    "StopAtStepHook",
    "SummarySaverHook",
    "TrainSpec",
    "export",
    "inputs",
    "train_and_evaluate",
]

__dir__ = namespaces.dir_of(globals())
