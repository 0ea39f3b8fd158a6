"""`tf.estimator`: models in a function, trained, evaluated and exported in this process.

- `estimator`: `Estimator`; `model_fn`: what a model function returns; `run_config`: how it runs;
- `tpu`: estimators written for TPUs;
- `canned`: estimators with a model of their own, whose losses and metrics are in `heads`;
- `warm_start`: variables that begin with a checkpoint's values;
- `training`: `train_and_evaluate`; `early_stopping`: hooks that end training, for `experimental`;
- `parsing`: how examples are parsed; `exporter`, `export`: exports; `inputs`: input functions over arrays.
"""

from millstream.estimator import experimental, export, inputs, tpu
from millstream.estimator.canned import (
    DNNClassifier,
    DNNLinearCombinedClassifier,
    DNNLinearCombinedRegressor,
    DNNRegressor,
    LinearClassifier,
    LinearRegressor,
)
from millstream.estimator.estimator import Estimator
from millstream.estimator.exporter import BestExporter, Exporter, FinalExporter, LatestExporter
from millstream.estimator.model_fn import EstimatorSpec, ModeKeys
from millstream.estimator.parsing import classifier_parse_example_spec, regressor_parse_example_spec
from millstream.estimator.run_config import RunConfig
from millstream.estimator.warm_start import WarmStartSettings
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
    "DNNClassifier",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "Estimator",
    "EstimatorSpec",
    "EvalSpec",
    "Exporter",
    "FeedFnHook",
    "FinalExporter",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "LatestExporter",
    "LinearClassifier",
    "LinearRegressor",
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
    "WarmStartSettings",
    "classifier_parse_example_spec",
    "experimental",
    "export",
    "inputs",
    "regressor_parse_example_spec",
    "tpu",
    "train_and_evaluate",
]

__dir__ = namespaces.dir_of(globals())
