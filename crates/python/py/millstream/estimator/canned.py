"""Estimators with a model of their own: dense networks, linear models, and both together."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Optional

from millstream.estimator.estimator import Estimator
from millstream.estimator.heads import Head, RegressionHead, all_variables, classifier_head, minimized
from millstream.estimator.model_fn import EstimatorSpec, ModeKeys
from millstream.feature_column.inputs import linear_model
from millstream.feature_column.owners import DenseFeatures
from millstream.framework import control_dependencies, convert_to_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.io import summaries
from millstream.layers.core import Dense, batch_normalization, dropout as drop_out
from millstream.losses import Reduction
from millstream.nn import functions
from millstream.ops import array_ops, control_flow, math_ops
from millstream.train import training_util
from millstream.train.optimizer import Optimizer
from millstream.train.optimizers import AdagradOptimizer, AdamOptimizer, FtrlOptimizer, GradientDescentOptimizer, RMSPropOptimizer
from millstream.variables import state_ops
from millstream.variables.initializers import glorot_uniform_initializer
from millstream.variables.partitions import min_max_variable_partitioner
from millstream.variables.scopes import variable_scope

__all__ = [
    "DNNClassifier",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "LinearClassifier",
    "LinearRegressor",
]

_relu = op("Relu")

# Variables are lists of one part, as in TensorFlow without parameter servers: their slots are named after it.
_WHOLE = min_max_variable_partitioner(max_partitions=1)
_OPTIMIZERS: Dict[str, Any] = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}


def _optimizer(given: Any, rate: float) -> Optimizer:
    if isinstance(given, str):
        if given not in _OPTIMIZERS:
            raise ValueError("Unsupported optimizer name: %s. Supported names are: %s" % (given, tuple(sorted(_OPTIMIZERS))))
        return _OPTIMIZERS[given](learning_rate=rate)  # type: ignore[no-any-return]
    given = given() if callable(given) else given
    if not isinstance(given, Optimizer):
        raise ValueError("The given object is not an Optimizer instance. Given: %s" % (given,))
    return given


def _summarized(layer: Any, name: str) -> Any:
    """Adds TensorFlow's summaries of a layer's output, and returns it."""
    summaries.scalar("%s/fraction_of_zero_values" % name, functions.zero_fraction(layer))
    summaries.histogram("%s/activation" % name, layer)
    return layer


def dnn_logits(
    features: Dict[str, Any], mode: str, units: int, hidden_units: Any, columns: Any, activation: Any, dropout: Any, partitioner: Any, normalizes: bool
) -> Any:
    """Returns the logits of a dense network."""
    trains = mode == ModeKeys.TRAIN
    initializer = glorot_uniform_initializer()
    with variable_scope("input_from_feature_columns", partitioner=partitioner or _WHOLE):
        net = DenseFeatures(columns, name="input_layer")(features)
    for i, n in enumerate(hidden_units):
        with variable_scope("hiddenlayer_%d" % i) as scope:
            net = Dense(n, activation, kernel_initializer=initializer, name="hiddenlayer_%d" % i, _scope=scope)(net)
            if dropout is not None and trains:
                net = drop_out(net, rate=dropout, training=True)
            if normalizes:
                net = batch_normalization(net, momentum=0.999, training=trains, name="batchnorm_%d" % i)
        _summarized(net, scope.name)
    with variable_scope("logits") as scope:
        logits = Dense(units, kernel_initializer=initializer, name="logits", _scope=scope)(net)
    return _summarized(logits, scope.name)


def linear_logits(features: Dict[str, Any], units: int, columns: Any, combiner: str) -> Any:
    """Returns the logits of a linear model."""
    found: Dict[Any, List[Any]] = {}
    logits = linear_model(features, columns, units, combiner, cols_to_vars=found)
    bias = convert_to_tensor(found.pop("bias")[0])
    if 1 < units:
        summaries.histogram("bias", bias)
    else:
        summaries.scalar("bias", bias[0])
    with name_scope("zero_fraction"):
        weights = [convert_to_tensor(w) for part in found.values() for w in part]
        sizes = math_ops.add_n([array_ops.size(w, out_type=dtypes.int64) for w in weights])
        zeros = [functions.zero_fraction(w) * math_ops.cast(array_ops.size(w), dtypes.float32) for w in weights]
        fraction = math_ops.add_n(zeros) / math_ops.cast(sizes, dtypes.float32)
    summaries.scalar("fraction_of_zero_weights", fraction)
    return logits


def _check_features(features: Any) -> Dict[str, Any]:
    if not isinstance(features, dict):
        raise ValueError("features should be a dictionary of `Tensor`s. Given type: %s" % type(features))
    return features


class _DNN(Estimator):
    """A dense network with a head."""

    def __init__(
        self,
        head: Head,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any,
        optimizer: Any,
        activation_fn: Any,
        dropout: Any,
        input_layer_partitioner: Any,
        config: Any,
        warm_start_from: Any,
        batch_norm: bool,
    ) -> None:
        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            made = _optimizer(optimizer, 0.05)
            features = _check_features(features)
            with variable_scope("dnn", values=list(features.values()), partitioner=_WHOLE, use_resource=True):
                logits = dnn_logits(
                    features, mode, head.logits_dimension, hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm
                )
                return head.spec(features, mode, logits, labels, minimized(made))

        super().__init__(model_fn, model_dir, config, None, warm_start_from)


class DNNClassifier(_DNN):
    """An estimator of classes: a dense network over feature columns.

    Args:
      hidden_units: A list of the sizes of the hidden layers.
      feature_columns: A list of dense columns of `tf.feature_column`.
      model_dir: The directory of checkpoints and summaries.
      n_classes: The number of classes.
      weight_column: The key, or the numeric column, of the weights of examples.
      label_vocabulary: A list of the classes, if labels are strings.
      optimizer: A `tf.train.Optimizer`, a function that returns one, or one of the names `"Adagrad"`,
        `"Adam"`, `"Ftrl"`, `"RMSProp"` and `"SGD"`.
      activation_fn: The activation of the hidden layers.
      dropout: The share of the outputs that is dropped in training.
      input_layer_partitioner: A partitioner of the variables of the columns.
      config: A `tf.estimator.RunConfig`.
      warm_start_from: A checkpoint, or a `tf.estimator.WarmStartSettings`.
      loss_reduction: How the losses of a batch are reduced: one of `tf.losses.Reduction`.
      batch_norm: If true, the hidden layers are normalized.

    Raises:
      ValueError: An argument is out of its range.

    Example:
      >>> x = np.array([[0.0], [1.0], [2.0], [3.0]], np.float32)
      >>> data = tf.estimator.inputs.numpy_input_fn({"x": x}, np.array([0, 0, 1, 1]), num_epochs=None, shuffle=False)
      >>> columns = [tf.feature_column.numeric_column("x")]
      >>> config = tf.estimator.RunConfig(tf_random_seed=1)
      >>> model = tf.estimator.DNNClassifier([8], columns, optimizer=tf.train.AdamOptimizer(0.1), config=config)
      >>> results = model.train(data, steps=50).evaluate(data, steps=1)
      >>> float(results["accuracy"])
      1.0
    """

    def __init__(
        self,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = _relu,
        dropout: Optional[float] = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(
            head, hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout, input_layer_partitioner, config, warm_start_from, batch_norm
        )


class DNNRegressor(_DNN):
    """An estimator of numbers: a dense network over feature columns.

    Args:
      hidden_units: A list of the sizes of the hidden layers. The other arguments are those of
        `tf.estimator.DNNClassifier`.
      label_dimension: The number of numbers of an example.

    Example:
      >>> columns = [tf.feature_column.numeric_column("x")]
      >>> model = tf.estimator.DNNRegressor([8, 4], columns)
    """

    def __init__(
        self,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = _relu,
        dropout: Optional[float] = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        super().__init__(
            head, hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout, input_layer_partitioner, config, warm_start_from, batch_norm
        )


class _Linear(Estimator):
    """A linear model with a head."""

    def __init__(
        self, head: Head, feature_columns: Any, model_dir: Any, optimizer: Any, config: Any, partitioner: Any, warm_start_from: Any, combiner: str
    ) -> None:
        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            features = _check_features(features)
            with variable_scope("linear", values=list(features.values()), partitioner=partitioner or _WHOLE):
                logits = linear_logits(features, head.logits_dimension, feature_columns, combiner)
                rate = min(0.2, 1.0 / math.sqrt(len(feature_columns)))
                made = _optimizer(optimizer, 0.2) if optimizer else FtrlOptimizer(learning_rate=rate)
                return head.spec(features, mode, logits, labels, minimized(made))

        super().__init__(model_fn, model_dir, config, None, warm_start_from)


class LinearClassifier(_Linear):
    """An estimator of classes: a linear model over feature columns.

    Args:
      feature_columns: A list of columns of `tf.feature_column`. The other arguments are those of
        `tf.estimator.DNNClassifier`.
      partitioner: A partitioner of the variables.
      sparse_combiner: How the weights of a categorical column are combined: `"sum"`, `"mean"` or `"sqrtn"`.

    Example:
      >>> kind = tf.feature_column.categorical_column_with_vocabulary_list("kind", ["a", "b"])
      >>> model = tf.estimator.LinearClassifier([kind], n_classes=3)
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, feature_columns, model_dir, optimizer, config, partitioner, warm_start_from, sparse_combiner)


class LinearRegressor(_Linear):
    """An estimator of numbers: a linear model over feature columns.

    Args:
      feature_columns: A list of columns of `tf.feature_column`. The other arguments are those of
        `tf.estimator.LinearClassifier`.
      label_dimension: The number of numbers of an example.

    Example:
      >>> model = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")])
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        super().__init__(head, feature_columns, model_dir, optimizer, config, partitioner, warm_start_from, sparse_combiner)


class _Combined(Estimator):
    """A linear model and a dense network, whose logits are added, with a head."""

    def __init__(self, head: Head, model_dir: Any, linear: Any, dnn: Any, partitioner: Any, config: Any, warm_start_from: Any) -> None:
        linear_columns, linear_optimizer, combiner = linear
        dnn_columns, dnn_optimizer, hidden_units, activation, dropout, normalizes = dnn
        if not list(linear_columns or []) + list(dnn_columns or []):
            raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            features, parts, steps = _check_features(features), [], []
            values = list(features.values())
            if dnn_columns:
                if not hidden_units:
                    raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
                steps.append(("dnn", _optimizer(dnn_optimizer, 0.001)))
                with variable_scope("dnn", values=values, partitioner=_WHOLE, use_resource=True):
                    parts.append(dnn_logits(features, mode, head.logits_dimension, hidden_units, dnn_columns, activation, dropout, partitioner, normalizes))
            if linear_columns:
                steps.append(("linear", _optimizer(linear_optimizer, min(0.005, 1.0 / math.sqrt(len(linear_columns))))))
                with variable_scope("linear", values=values, partitioner=partitioner or _WHOLE) as scope:
                    parts.append(linear_logits(features, head.logits_dimension, linear_columns, combiner))
                    _summarized(parts[-1], scope.name)

            def train(loss: Any) -> Any:
                made = control_flow.group(*[optimizer.minimize(loss, var_list=all_variables(name)) for name, optimizer in steps])
                with control_dependencies([made]):
                    return state_ops.assign_add(training_util.get_global_step(), 1).op

            return head.spec(features, mode, parts[0] if len(parts) == 1 else parts[0] + parts[1], labels, train)

        super().__init__(model_fn, model_dir, config, None, warm_start_from)


class DNNLinearCombinedClassifier(_Combined):
    """An estimator of classes: a linear model ("wide") and a dense network ("deep"), trained together.

    Args:
      model_dir: The directory of checkpoints and summaries.
      linear_feature_columns: The columns of the linear model.
      linear_optimizer: Its optimizer.
      dnn_feature_columns: The columns of the network.
      dnn_optimizer: Its optimizer.
      dnn_hidden_units: The sizes of its hidden layers.
      dnn_activation_fn: Their activation.
      dnn_dropout: The share of their outputs that is dropped in training.
      n_classes: The number of classes. The other arguments are those of `tf.estimator.DNNClassifier`.
      linear_sparse_combiner: How the weights of a categorical column are combined.

    Raises:
      ValueError: There are no columns, or an argument is out of its range.

    Example:
      >>> x = tf.feature_column.numeric_column("x")
      >>> model = tf.estimator.DNNLinearCombinedClassifier(
      ...     linear_feature_columns=[x], dnn_feature_columns=[x], dnn_hidden_units=[4])
    """

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Callable[[Any], Any] = _relu,
        dnn_dropout: Optional[float] = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        linear = (linear_feature_columns, linear_optimizer, linear_sparse_combiner)
        dnn = (dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout, batch_norm)
        super().__init__(head, model_dir, linear, dnn, input_layer_partitioner, config, warm_start_from)


class DNNLinearCombinedRegressor(_Combined):
    """An estimator of numbers: a linear model ("wide") and a dense network ("deep"), trained together.

    Args:
      model_dir: The directory of checkpoints and summaries. The other arguments are those of
        `tf.estimator.DNNLinearCombinedClassifier`.
      label_dimension: The number of numbers of an example.

    Raises:
      ValueError: There are no columns, or an argument is out of its range.

    Example:
      >>> x = tf.feature_column.numeric_column("x")
      >>> model = tf.estimator.DNNLinearCombinedRegressor(dnn_feature_columns=[x], dnn_hidden_units=[4])
    """

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Callable[[Any], Any] = _relu,
        dnn_dropout: Optional[float] = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        linear = (linear_feature_columns, linear_optimizer, linear_sparse_combiner)
        dnn = (dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout, batch_norm)
        super().__init__(head, model_dir, linear, dnn, input_layer_partitioner, config, warm_start_from)
