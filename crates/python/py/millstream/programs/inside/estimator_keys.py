"""`python.estimator.canned`: the names of metrics and predictions, and optimizers by name. `NAMES`."""

from __future__ import annotations

from typing import Any, Dict

from millstream.train import optimizers
from millstream.train.optimizer import Optimizer


class MetricKeys:
    """The names of what estimators measure."""

    LOSS = "loss"
    LOSS_MEAN = "average_loss"
    LOSS_REGULARIZATION = "regularization_loss"
    ACCURACY = "accuracy"
    PRECISION = "precision"
    RECALL = "recall"
    ACCURACY_BASELINE = "accuracy_baseline"
    AUC = "auc"
    AUC_PR = "auc_precision_recall"
    LABEL_MEAN = "label/mean"
    PREDICTION_MEAN = "prediction/mean"
    ACCURACY_AT_THRESHOLD = "accuracy/positive_threshold_%g"
    PRECISION_AT_THRESHOLD = "precision/positive_threshold_%g"
    RECALL_AT_THRESHOLD = "recall/positive_threshold_%g"
    PROBABILITY_MEAN_AT_CLASS = "probability_mean/class%d"
    AUC_AT_CLASS = "auc/class%d"
    AUC_PR_AT_CLASS = "auc_precision_recall/class%d"
    PROBABILITY_MEAN_AT_NAME = "probability_mean/%s"
    AUC_AT_NAME = "auc/%s"
    AUC_PR_AT_NAME = "auc_precision_recall/%s"


class PredictionKeys:
    """The names of what estimators predict."""

    CLASSES = "classes"
    CLASS_IDS = "class_ids"
    ALL_CLASSES = "all_classes"
    ALL_CLASS_IDS = "all_class_ids"
    LOGISTIC = "logistic"
    LOGITS = "logits"
    PREDICTIONS = "predictions"
    PROBABILITIES = "probabilities"
    TOP_K = "top_k"


_OPTIMIZERS = {name: getattr(optimizers, name + "Optimizer") for name in ("Adagrad", "Adam", "Ftrl", "RMSProp")}
_OPTIMIZERS["SGD"] = optimizers.GradientDescentOptimizer


def get_optimizer_instance(opt: Any, learning_rate: Any = None) -> Any:
    """Returns an optimizer by its name, from a function, or as it is.

    Raises:
      ValueError: There is no optimizer of this name, it needs a learning rate, or `opt` is no optimizer.
    """
    if isinstance(opt, str):
        if opt not in _OPTIMIZERS:
            raise ValueError("Unsupported optimizer name: {}. Supported names are: {}".format(opt, tuple(sorted(_OPTIMIZERS))))
        if learning_rate is None:
            raise ValueError("learning_rate must be specified when opt is string. Pass it, or an optimizer")
        return _OPTIMIZERS[opt](learning_rate=learning_rate)
    if callable(opt):
        opt = opt()
    if not isinstance(opt, Optimizer):
        raise ValueError("The given object is not an Optimizer instance. Given: {}".format(opt))
    return opt


NAMES: Dict[str, Dict[str, Any]] = {
    "python.estimator.canned.metric_keys": {"MetricKeys": MetricKeys},
    "python.estimator.canned.optimizers": {"get_optimizer_instance": get_optimizer_instance},
    "python.estimator.canned.prediction_keys": {"PredictionKeys": PredictionKeys},
}
