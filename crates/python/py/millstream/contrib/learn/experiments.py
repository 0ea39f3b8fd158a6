"""`Experiment`: an `Estimator` with its inputs, and how often it is evaluated."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from millstream.contrib.learn import estimators
from millstream.estimator import run_config as _run_config
from millstream.estimator.estimator import Estimator
from millstream.estimator.training import EvalSpec, TrainSpec, train_and_evaluate

__all__ = ["Experiment", "ModeKeys", "RunConfig"]


class ModeKeys:
    """What a model is built for.

    Example:
      >>> keys = tf.contrib.learn.ModeKeys
      >>> keys.TRAIN, keys.EVAL, keys.INFER
      ('train', 'eval', 'infer')
    """

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"


class RunConfig(_run_config.RunConfig):
    """`tf.estimator.RunConfig` with the arguments of `tf.contrib.learn`.

    Args:
      master: Empty: estimators run in this process.
      num_cores: Ignored: sessions choose their threads.
      log_device_placement: Ignored.
      gpu_memory_fraction: Ignored.
      tf_random_seed: As in `tf.estimator.RunConfig`, as are those below.
      save_summary_steps: The interval of summaries in steps.
      save_checkpoints_secs: The interval of checkpoints in seconds; 600 if no interval is given.
      save_checkpoints_steps: The interval of checkpoints in steps.
      keep_checkpoint_max: The number of checkpoints to keep.
      keep_checkpoint_every_n_hours: The interval of checkpoints that are kept for ever, in hours.
      log_step_count_steps: The interval of logs in steps.
      protocol: Ignored.
      evaluation_master: Empty.
      model_dir: The folder of checkpoints.
      session_config: A `ConfigProto`.
      session_creation_timeout_secs: The time to wait for a session, in seconds.

    Raises:
      ValueError: A master is given.

    Example:
      >>> config = tf.contrib.learn.RunConfig(save_checkpoints_secs=30, tf_random_seed=1)
      >>> config.save_checkpoints_secs, config.tf_random_seed, config.is_chief
      (30, 1, True)
    """

    def __init__(
        self,
        master: Optional[str] = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: Optional[int] = None,
        save_summary_steps: int = 100,
        save_checkpoints_secs: Any = _run_config._DEFAULT,
        save_checkpoints_steps: Any = None,
        keep_checkpoint_max: int = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int = 100,
        protocol: Optional[str] = None,
        evaluation_master: str = "",
        model_dir: Optional[str] = None,
        session_config: Any = None,
        session_creation_timeout_secs: int = 7200,
    ) -> None:
        if master or evaluation_master:
            raise ValueError("RunConfig: estimators run in this process: leave `master` %r out" % (master or evaluation_master))
        if save_checkpoints_secs is _run_config._DEFAULT:
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        super().__init__(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=save_checkpoints_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            protocol=protocol,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )


class Experiment:
    """An `Estimator` with its inputs: trains it, evaluates it, or both.

    Args:
      estimator: A `tf.estimator.Estimator`, or one of `tf.contrib.learn`.
      train_input_fn: A function that returns features and labels for training.
      eval_input_fn: A function that returns features and labels for evaluation.
      eval_metrics: With an estimator of `tf.contrib.learn`, a dict of `MetricSpec`s; else None: the model's
        function returns metrics.
      train_steps: The number of steps; None for as long as there is input.
      eval_steps: The number of batches of an evaluation; None for as long as there is input.
      train_monitors: Hooks of the training.
      eval_hooks: Hooks of the evaluation.
      local_eval_frequency: The former name of `min_eval_frequency`.
      eval_delay_secs: The delay before the first evaluation, in seconds; `train_and_evaluate` ignores it.
      continuous_eval_throttle_secs: The least time between evaluations, in seconds.
      min_eval_frequency: Ignored: evaluations follow checkpoints.
      delay_workers_by_global_step: Ignored.
      export_strategies: None; see `tf.estimator.EvalSpec` for exporters.
      train_steps_per_iteration: The steps between evaluations of `continuous_train_and_eval`.
      checkpoint_and_export: Ignored.
      saving_listeners: A list of `CheckpointSaverListener`s; None with an estimator of `tf.contrib.learn`.
      check_interval_secs: Ignored.

    Raises:
      ValueError: The estimator is another kind, or is given what its kind does not take; or export strategies
        are given.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
      ...     loss = tf.square(w - 1.0)
      ...     optimizer = tf.train.GradientDescentOptimizer(0.25)
      ...     step = optimizer.minimize(loss, tf.train.get_global_step())
      ...     return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)
      >>> def inputs():
      ...     return {"x": tf.zeros([1])}, tf.zeros([1])
      >>> estimator = tf.estimator.Estimator(model_fn)
      >>> experiment = tf.contrib.learn.Experiment(estimator, inputs, inputs, train_steps=2, eval_steps=1)
      >>> _ = experiment.train()
      >>> results = experiment.evaluate()
      >>> print(results["loss"], results["global_step"])
      0.0625 2
    """

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Any,
        eval_input_fn: Any,
        eval_metrics: Any = None,
        train_steps: Optional[int] = None,
        eval_steps: Optional[int] = 100,
        train_monitors: Any = None,
        eval_hooks: Any = None,
        local_eval_frequency: Optional[int] = None,
        eval_delay_secs: int = 120,
        continuous_eval_throttle_secs: int = 60,
        min_eval_frequency: Optional[int] = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: Any = None,
        train_steps_per_iteration: Optional[int] = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Any = None,
        check_interval_secs: int = 5,
    ) -> None:
        self._is_core = isinstance(estimator, Estimator)
        if not self._is_core and not isinstance(estimator, estimators.Estimator):
            raise ValueError("`estimator` must implement `tf.contrib.learn.Evaluable` or `tf.estimator.Estimator`.")
        if not self._is_core and saving_listeners:
            raise ValueError("`saving_listeners` must be `None` with `tf.contrib.learn.Estimator`: pass a hook in `train_monitors`")
        if self._is_core and eval_metrics is not None:
            raise ValueError("`eval_metrics` must be `None` with `tf.estimator.Estimator`: return `eval_metric_ops` from its function")
        if export_strategies:
            raise ValueError("Experiment: `export_strategies` are not part of Millstream: use the exporters of `tf.estimator.EvalSpec`")
        self._estimator, self._train_input_fn, self._eval_input_fn = estimator, train_input_fn, eval_input_fn
        self._train_steps, self._eval_steps, self._eval_metrics = train_steps, eval_steps, eval_metrics
        self._train_monitors: List[Any] = list(train_monitors or [])
        self._eval_hooks: List[Any] = list(eval_hooks or [])
        self._throttle_secs, self._listeners = continuous_eval_throttle_secs, saving_listeners
        self._steps_per_iteration = train_steps_per_iteration

    @property
    def estimator(self) -> Any:
        """The estimator."""
        return self._estimator

    @property
    def train_steps(self) -> Optional[int]:
        """The number of steps."""
        return self._train_steps

    @property
    def eval_steps(self) -> Optional[int]:
        """The number of batches of an evaluation."""
        return self._eval_steps

    def extend_train_hooks(self, additional_hooks: Any) -> None:
        """Adds hooks of the training."""
        self._train_monitors.extend(additional_hooks)

    def _fit(self, **limits: Any) -> Any:
        if self._is_core:
            return self._estimator.train(self._train_input_fn, hooks=self._train_monitors, saving_listeners=self._listeners, **limits)
        return self._estimator.fit(input_fn=self._train_input_fn, monitors=self._train_monitors, **limits)

    def _measure(self, steps: Optional[int], name: Optional[str]) -> Dict[str, Any]:
        given: Dict[str, Any] = {"input_fn": self._eval_input_fn, "steps": steps, "name": name, "hooks": self._eval_hooks}
        if not self._is_core:
            given["metrics"] = self._eval_metrics
        return self._estimator.evaluate(**given)  # type: ignore[no-any-return]

    def train(self, delay_secs: Any = None) -> Any:
        """Trains up to `train_steps`, and returns the estimator."""
        return self._fit(max_steps=self._train_steps)

    def evaluate(self, delay_secs: Any = None, name: Optional[str] = None) -> Dict[str, Any]:
        """Evaluates the last checkpoint, and returns the metrics."""
        return self._measure(self._eval_steps, name)

    local_run = property(lambda self: self.train_and_evaluate, doc="The former name of `train_and_evaluate`.")

    def train_and_evaluate(self) -> Any:
        """Trains, evaluates at the end, and returns the metrics and exports.

        A `tf.estimator.Estimator` is evaluated on the way, too.
        """
        if not self._is_core:
            self._fit(max_steps=self._train_steps)
            return self._measure(self._eval_steps, None), []
        train = TrainSpec(self._train_input_fn, max_steps=self._train_steps, hooks=self._train_monitors)
        evaluation = EvalSpec(self._eval_input_fn, steps=self._eval_steps, hooks=self._eval_hooks, start_delay_secs=0, throttle_secs=self._throttle_secs)
        found = train_and_evaluate(self._estimator, train, evaluation)
        return found if found is not None else (self.evaluate(), [])

    def continuous_train_and_eval(self, continuous_eval_predicate_fn: Any = None) -> Any:
        """Trains some steps and evaluates, in turn, until `train_steps`; returns the last metrics.

        Args:
          continuous_eval_predicate_fn: A function of the last metrics that says whether to go on.
        """
        results: Any = None
        done = 0
        while self._train_steps is None or done < self._train_steps:
            if continuous_eval_predicate_fn is not None and not continuous_eval_predicate_fn(results):
                break
            more = self._steps_per_iteration or self._train_steps or 1000
            limit = done + more if self._train_steps is None else min(done + more, self._train_steps)
            self._fit(max_steps=limit)
            results = self.evaluate()
            if results["global_step"] <= done:
                break  # The input ended.
            done = int(results["global_step"])
        return results, []

    def test(self) -> Dict[str, Any]:
        """Trains one step and evaluates one batch, to see that both work; returns the metrics."""
        self._fit(steps=1)
        return self._measure(1, "one_pass")
