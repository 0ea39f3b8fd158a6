"""`TPUEstimator` and `TPUEstimatorSpec`, as they run on the CPU, with `use_tpu=False`."""

from __future__ import annotations

import copy
import inspect
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from millstream.estimator.estimator import Estimator, _arguments, _check_model_fn
from millstream.estimator.model_fn import EstimatorSpec, ModeKeys
from millstream.estimator.tpu_config import InputPipelineConfig, RunConfig, check_positive_integer
from millstream.framework import errors, logging, protos
from millstream.train.basic_session_run_hooks import StepCounterHook
from millstream.train.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook

__all__ = ["TPUEstimator", "TPUEstimatorSpec"]

_RESERVED = ["batch_size", "context"]


class _Fields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metrics: Any
    export_outputs: Any
    scaffold_fn: Any
    host_call: Any
    training_hooks: Tuple[Any, ...]
    evaluation_hooks: Tuple[Any, ...]
    prediction_hooks: Tuple[Any, ...]


class TPUEstimatorSpec(_Fields):
    """What the model function of a `TPUEstimator` returns.

    Args:
      mode: A `tf.estimator.ModeKeys`. It, `predictions`, `loss`, `train_op`, `export_outputs` and the hooks
        are those of a `tf.estimator.EstimatorSpec`.
      eval_metrics: A function that returns metrics by name, and its arguments: a list or a dict of tensors.
      scaffold_fn: A function that returns a `tf.train.Scaffold`.
      host_call: A function that returns tensors to compute in each run, and its arguments.

    Raises:
      ValueError: A function does not come with its arguments.
      TypeError: It is no function, or a hook is no hook.
      RuntimeError: The function takes another number of arguments.

    Example:
      >>> loss = tf.constant([1.0])
      >>> spec = tf.contrib.tpu.TPUEstimatorSpec(
      ...     "eval", loss=tf.reduce_sum(loss), eval_metrics=(lambda x: {"mean": tf.metrics.mean(x)}, [loss]))
      >>> sorted(spec.as_estimator_spec().eval_metric_ops)
      ['mean']
    """

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metrics: Any = None,
        export_outputs: Any = None,
        scaffold_fn: Any = None,
        host_call: Any = None,
        training_hooks: Any = None,
        evaluation_hooks: Any = None,
        prediction_hooks: Any = None,
    ) -> "TPUEstimatorSpec":
        for name, call in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            if call is not None:
                _check_call(name, call)
        hooks = [tuple(given or []) for given in (training_hooks, evaluation_hooks, prediction_hooks)]
        for hook in sum(hooks, ()):
            if not isinstance(hook, SessionRunHook):
                raise TypeError("All hooks must be SessionRunHook instances, given: %s" % hook)
        return super().__new__(cls, mode, predictions, loss, train_op, eval_metrics, export_outputs, scaffold_fn, host_call, *hooks)

    def as_estimator_spec(self) -> EstimatorSpec:
        """Returns the `tf.estimator.EstimatorSpec` that is trained and evaluated on the CPU."""
        metrics = None if self.eval_metrics is None else _called("eval_metrics", self.eval_metrics)
        hooks = () if self.host_call is None else (_HostCallHook(_called("host_call", self.host_call)),)
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=self.training_hooks + hooks,
            evaluation_hooks=self.evaluation_hooks + hooks,
            prediction_hooks=self.prediction_hooks + hooks,
        )


def _check_call(name: str, call: Any) -> None:
    if not isinstance(call, (tuple, list)):
        raise ValueError("%s should be tuple or list" % name)
    if len(call) != 2:
        raise ValueError("%s should have two elements." % name)
    if not callable(call[0]):
        raise TypeError("%s[0] should be callable." % name)
    if not isinstance(call[1], (tuple, list, dict)):
        raise ValueError("%s[1] should be tuple or list, or dict." % name)
    if isinstance(call[1], dict):
        return
    parameters = inspect.signature(call[0]).parameters
    if any(p.kind is p.VAR_POSITIONAL for p in parameters.values()):
        return
    if len(parameters) != len(call[1]):
        words = "In TPUEstimatorSpec.%s, length of tensors %d does not match method args of the function, which takes %d."
        raise RuntimeError(words % (name, len(call[1]), len(parameters)))


def _called(name: str, call: Any) -> Any:
    function, tensors = call
    if isinstance(tensors, (tuple, list)):
        return function(*tensors)
    try:
        return function(**tensors)
    except TypeError as error:
        words = "Exception while calling %s: %s. It is likely the tensors (%s[1]) do not match the function's arguments"
        logging.warning(words, name, error, name)
        raise


class _HostCallHook(SessionRunHook):
    """Computes the tensors of a host call in each run."""

    def __init__(self, tensors: Any) -> None:
        self._tensors = tensors

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._tensors)


class _ExamplesPerSecondHook(StepCounterHook):
    """Tells the number of steps and of examples per second."""

    def __init__(self, batch_size: int, every_n_steps: int, output_dir: Optional[str]) -> None:
        super().__init__(every_n_steps=every_n_steps, output_dir=output_dir)
        self._batch_size = batch_size

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        steps = elapsed_steps / elapsed_time if elapsed_time else float("inf")
        rates = (("global_step/sec", steps), ("examples/sec", self._batch_size * steps))
        for tag, rate in rates:
            if self._summary_writer is not None:
                value = protos.Summary.Value(tag=tag, simple_value=rate)
                self._summary_writer.add_summary(protos.Summary(value=[value]), global_step)
            logging.info("%s: %g", tag, rate)


def _with_param(params: Any, name: str, value: Any) -> None:
    """Adds a parameter to a dict or to an `HParams`."""
    if hasattr(params, "set_hparam"):
        (params.set_hparam if name in params else params.add_hparam)(name, value)
    else:
        params[name] = value


class TPUEstimator(Estimator):
    """An `Estimator` whose input and model functions get the batch size as `params["batch_size"]`.

    It runs on the CPU: `use_tpu` must be False, as programs set it where there is no TPU. The model function
    returns a `TPUEstimatorSpec` or an `EstimatorSpec`, and gets `params["use_tpu"]`, which is False.

    Args:
      model_fn: A function that builds the model; see `tf.estimator.Estimator`.
      model_dir: The directory of checkpoints and summaries.
      config: A `tf.contrib.tpu.RunConfig`.
      params: What the functions get as `params`, with the batch size.
      use_tpu: Must be False.
      train_batch_size: The batch size in training. `eval_batch_size` and `predict_batch_size` are those of
        evaluation and prediction.
      batch_axis: Ignored, as are `eval_on_tpu`, `export_to_tpu`, `export_to_cpu` and
        `export_saved_model_api_version`.
      warm_start_from: Must be None.
      embedding_config_spec: Must be None.

    Raises:
      ValueError: `config` is no `tf.contrib.tpu.RunConfig`, or `params` has one of the reserved keys.
      UnimplementedError: `use_tpu` is true.

    Example:
      >>> def model_fn(features, labels, mode, params):
      ...     prediction = features * tf.get_variable("w", initializer=0.0)
      ...     loss = tf.losses.mean_squared_error(labels, prediction)
      ...     optimizer = tf.train.GradientDescentOptimizer(0.05)
      ...     if params["use_tpu"]:
      ...         optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
      ...     step = optimizer.minimize(loss, tf.train.get_global_step())
      ...     return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=step)
      >>> def input_fn(params):
      ...     x = tf.range(1.0, 5.0)
      ...     return tf.data.Dataset.from_tensor_slices((x, 3.0 * x)).repeat().batch(params["batch_size"])
      >>> config = tf.contrib.tpu.RunConfig()
      >>> estimator = tf.contrib.tpu.TPUEstimator(model_fn, config=config, use_tpu=False, train_batch_size=2)
      >>> round(float(estimator.train(input_fn, steps=100).get_variable_value("w")), 3)
      3.0
    """

    def __init__(
        self,
        model_fn: Any = None,
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: Optional[int] = None,
        eval_batch_size: Optional[int] = None,
        predict_batch_size: Optional[int] = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        embedding_config_spec: Any = None,
        export_saved_model_api_version: Any = None,
    ) -> None:
        if config is None or not isinstance(config, RunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError("%s are reserved keys but existed in params %s." % (_RESERVED, params))
        if use_tpu or embedding_config_spec is not None:
            what = "use_tpu=True" if use_tpu else "embedding_config_spec=%r" % (embedding_config_spec,)
            raise errors.UnimplementedError(None, None, "TPUEstimator(%s): graphs run on the CPU; give use_tpu=False" % what)
        _check_model_fn(model_fn, params)
        self._batch_sizes: Dict[str, Optional[int]] = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        self._log_every = config.log_step_count_steps
        self._has_input = False
        config = config.replace(log_step_count_steps=None)
        super().__init__(self._augmented(model_fn), model_dir, config, params or {}, warm_start_from)

    def _augmented(self, model_fn: Any) -> Any:
        names = _arguments(model_fn)

        def call(features: Any, labels: Any, mode: str, config: Any, params: Any) -> EstimatorSpec:
            exports, self._has_input = not self._has_input, False
            if "labels" not in names and labels is not None:
                raise ValueError("model_fn does not take labels, but input_fn returns labels.")
            if "params" not in names:
                words = "model_fn (%s) does not include params argument, required by TPUEstimator to pass batch size as params['batch_size']"
                raise ValueError(words % model_fn)
            params = copy.deepcopy(params)
            size = self._batch_sizes[mode]
            if not exports and size is not None:
                _with_param(params, "batch_size", size)
            _with_param(params, "use_tpu", False)
            logging.info("Running %s on CPU", mode)
            given = {"labels": labels, "mode": mode, "config": config, "params": params}
            spec = model_fn(features=features, **{name: value for name, value in given.items() if name in names})
            spec = spec.as_estimator_spec() if isinstance(spec, TPUEstimatorSpec) else spec
            if self._log_every is None or size is None:
                return spec  # type: ignore[no-any-return]
            loop = self._config.tpu_config.iterations_per_loop  # type: ignore[attr-defined]
            every = -(-self._log_every // loop) if isinstance(loop, int) else self._log_every
            folder = self.model_dir if config.save_summary_steps else None
            hook = _ExamplesPerSecondHook(size, every, folder)
            return spec._replace(training_hooks=spec.training_hooks + (hook,))  # type: ignore[no-any-return]

        return call

    def _input(self, input_fn: Any, mode: str) -> Tuple[Any, Any, List[Any]]:
        if "params" not in _arguments(input_fn):
            raise ValueError('input_fn (%s) does not include params argument, required by TPUEstimator to pass batch size as params["batch_size"]' % input_fn)
        if self._config.tpu_config.eval_training_input_configuration is InputPipelineConfig.SLICED:  # type: ignore[attr-defined]
            raise ValueError("Invalid TPUConfig `eval_training_input_configuration` value. SLICED mode only works on use_tpu = True.")
        self._has_input = True
        params, size = self.params, self._batch_sizes[mode]
        if size is not None:
            _with_param(params, "batch_size", size)
        given = {"mode": mode, "params": params, "config": self.config}
        names = _arguments(input_fn)
        return super()._input(lambda: input_fn(**{name: value for name, value in given.items() if name in names}), mode)
