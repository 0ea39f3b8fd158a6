"""`Estimator`: training, evaluation and prediction with a model that a function builds."""

from __future__ import annotations

import copy
import inspect
import os
import tempfile
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import numpy as np

from millstream._engine import Operation
from millstream.contrib.training.evaluation import StopAfterNEvalsHook, evaluate_once, get_or_create_eval_step
from millstream.estimator.export import signatures
from millstream.estimator.model_fn import EstimatorSpec, ModeKeys
from millstream.estimator.run_config import RunConfig
from millstream.estimator.warm_start import settings_of
from millstream.framework import (
    Graph,
    add_to_collection,
    constant,
    control_dependencies,
    device,
    errors,
    get_collection,
    logging,
    protos,
)
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.session import Session
from millstream.io import files, summaries
from millstream.metrics import mean
from millstream.ops import control_flow
from millstream.ops.random_ops import set_random_seed
from millstream.saved_model import tag_constants
from millstream.saved_model.builder import SavedModelBuilder
from millstream.train import basic_session_run_hooks as basic
from millstream.train import checkpoints, training_util, warm_starts
from millstream.train.monitored_session import ChiefSessionCreator, MonitoredSession, MonitoredTrainingSession, Scaffold
from millstream.train.saver import Saver
from millstream.train.session_run_hook import SessionRunHook

_MODEL_FN_ARGUMENTS = {"features", "labels", "mode", "params", "self", "config"}


def _arguments(function: Callable[..., Any]) -> List[str]:
    return list(inspect.signature(function).parameters)


class _StartInput(SessionRunHook):
    """Initializes the iterator of a data set that an input function returned."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def begin(self) -> None:
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._initializer)


class Estimator:
    """A model that is trained and evaluated, and predicts. Each of these builds a graph of its own.

    The model function is called with the features and the labels that an input function returns, and with
    those of `mode`, `params` and `config` that it takes. Variables are saved in, and restored from, the
    checkpoints of the model's directory.

    Args:
      model_fn: A function that builds the model and returns an `EstimatorSpec`.
      model_dir: The directory of checkpoints and summaries; by default that of `config`, or a temporary one.
      config: A `RunConfig`.
      params: What the model function gets as `params`.
      warm_start_from: A checkpoint whose values the trainable variables begin with, or a
        `tf.estimator.WarmStartSettings`.

    Raises:
      ValueError: `model_fn` takes other arguments, or `model_dir` is not that of `config`.
      TypeError: `config` is not a `RunConfig`.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     prediction = features["x"] * tf.get_variable("w", initializer=0.0)
      ...     if mode == tf.estimator.ModeKeys.PREDICT:
      ...         return tf.estimator.EstimatorSpec(mode, predictions={"y": prediction})
      ...     loss = tf.losses.mean_squared_error(labels, prediction)
      ...     step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
      ...     return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)
      >>> estimator = tf.estimator.Estimator(model_fn)
      >>> x = np.array([1.0, 2.0], np.float32)
      >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, 3 * x, num_epochs=None, shuffle=False)
      >>> estimator.train(input_fn, steps=20) is estimator
      True
      >>> once = tf.estimator.inputs.numpy_input_fn({"x": x}, 3 * x, shuffle=False)
      >>> [round(float(p["y"]), 3) for p in estimator.predict(once)]
      [3.0, 6.0]
      >>> sorted(estimator.evaluate(once)), estimator.get_variable_names()
      (['global_step', 'loss'], ['global_step', 'w'])
      >>> round(float(estimator.get_variable_value("w")), 3), estimator.latest_checkpoint() is None
      (3.0, False)
      >>> make = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.zeros([1])})
      >>> folder = estimator.export_saved_model(estimator.model_dir + "/export", make)
      >>> import os
      >>> sorted(os.listdir(folder)), estimator.eval_dir() == estimator.model_dir + "/eval"
      ([b'saved_model.pb', b'variables'], True)
      >>> estimator.params, estimator.config.is_chief, callable(estimator.model_fn)
      ({}, True, True)
      >>> type(estimator.export_savedmodel(estimator.model_dir + "/other", make)).__name__
      'bytes'
    """

    def __init__(self, model_fn: Any, model_dir: Any = None, config: Any = None, params: Any = None, warm_start_from: Any = None) -> None:
        _check_members(type(self))
        self._config = _config_of(config, model_dir)
        self._model_dir: str = self._config.model_dir
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        _check_model_fn(model_fn, params)
        self._model_fn, self._params = model_fn, copy.deepcopy(params or {})
        self._warm_start = settings_of(warm_start_from)

    @property
    def model_dir(self) -> str:
        """The directory of checkpoints and summaries."""
        return self._model_dir

    @property
    def config(self) -> RunConfig:
        """A copy of the configuration."""
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Any:
        """A copy of what the model function gets as `params`."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Callable[..., EstimatorSpec]:
        """The model function, with the arguments `features, labels, mode, config`."""
        return lambda features, labels, mode, config: self._call_model_fn(features, labels, mode, config)

    def get_variable_value(self, name: str) -> np.ndarray:
        """Returns the value of a variable in the latest checkpoint.

        Raises:
          ValueError: There is no checkpoint.
        """
        return checkpoints.load_variable(self._trained(), name)

    def get_variable_names(self) -> List[str]:
        """Returns the names of the variables in the latest checkpoint.

        Raises:
          ValueError: There is no checkpoint.
        """
        return [name for name, _ in checkpoints.list_variables(self._trained())]

    def _trained(self) -> str:
        if self.latest_checkpoint() is None:
            raise ValueError("Couldn't find trained model at %s." % self._model_dir)
        return self._model_dir

    def latest_checkpoint(self) -> Optional[str]:
        """Returns the path of the latest checkpoint, or None."""
        return checkpoints.latest_checkpoint(self._model_dir)

    def eval_dir(self, name: Optional[str] = None) -> str:
        """Returns the directory of the summaries of an evaluation."""
        return os.path.join(self._model_dir, "eval" if not name else "eval_" + name)

    # Training.

    def train(self, input_fn: Any, hooks: Any = None, steps: Optional[int] = None, max_steps: Optional[int] = None, saving_listeners: Any = None) -> "Estimator":
        """Trains the model, from the latest checkpoint on, until its input ends or the steps are done.

        Args:
          input_fn: A function that returns a pair of features and labels.
          hooks: A list of `SessionRunHook`s.
          steps: The number of steps to make.
          max_steps: The global step to stop at.
          saving_listeners: A list of `CheckpointSaverListener`s.

        Returns:
          The estimator.

        Raises:
          ValueError: Both of `steps` and `max_steps` are given, or one is not positive.
          TypeError: A hook or a listener is of another type.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        _check_positive("steps", steps)
        _check_positive("max_steps", max_steps)
        if max_steps is not None and max_steps <= self._saved_step():
            logging.info("Skipping training since max_steps has already saved.")
            return self
        all_hooks = _checked_hooks(hooks)
        if steps is not None or max_steps is not None:
            all_hooks.append(basic.StopAtStepHook(steps, max_steps))
        listeners = list(saving_listeners or [])
        for listener in listeners:
            if not isinstance(listener, basic.CheckpointSaverListener):
                raise TypeError("saving_listeners must be a list of CheckpointSaverListener, given: %s" % listener)
        with Graph().as_default(), device(self._config.device_fn):
            set_random_seed(self._config.tf_random_seed)
            step = training_util.create_global_step()
            training_util._get_or_create_global_step_read()
            features, labels, input_hooks = self._input(input_fn, ModeKeys.TRAIN)
            spec = self._call_model_fn(features, labels, ModeKeys.TRAIN, self.config)
            if self._warm_start is not None:
                logging.info("Warm-starting with WarmStartSettings: %s", self._warm_start)
                warm_starts.warm_start(*self._warm_start)
            loss = self._run_training(spec, input_hooks + all_hooks, step, listeners)
        logging.info("Loss for final step: %s.", loss)
        return self

    def _saved_step(self) -> int:
        try:
            return int(checkpoints.load_variable(self._model_dir, GraphKeys.GLOBAL_STEP))
        except (ValueError, errors.OpError):
            return 0  # There is no checkpoint yet.

    def _run_training(self, spec: EstimatorSpec, hooks: List[Any], step: Any, listeners: List[Any]) -> Any:
        config = self._config
        if not any(t.op.name == "loss" for t in get_collection(GraphKeys.SUMMARIES)):
            summaries.scalar("loss", spec.loss)
        add_to_collection(GraphKeys.LOSSES, spec.loss)
        hooks.append(basic.NanTensorHook(spec.loss))
        if config.log_step_count_steps is not None:
            hooks.append(basic.LoggingTensorHook({"loss": spec.loss, "step": step}, every_n_iter=config.log_step_count_steps))
        hooks.extend(spec.training_hooks)
        if not (spec.scaffold.saver or get_collection(GraphKeys.SAVERS)):
            kept = (config.keep_checkpoint_max, config.keep_checkpoint_every_n_hours)
            saver = Saver(
                sharded=True, max_to_keep=kept[0], keep_checkpoint_every_n_hours=kept[1], defer_build=True, save_relative_paths=True
            )
            add_to_collection(GraphKeys.SAVERS, saver)
        session = MonitoredTrainingSession(
            checkpoint_dir=self._model_dir,
            scaffold=spec.scaffold,
            hooks=hooks,
            chief_only_hooks=self._saving(spec, hooks, listeners) + list(spec.training_chief_hooks),
            save_checkpoint_secs=0,
            save_summaries_steps=config.save_summary_steps,
            config=config.session_config,
            log_step_count_steps=config.log_step_count_steps,
        )
        loss = None
        with session as sess:
            while not sess.should_stop():
                _, loss = sess.run([spec.train_op, spec.loss])
        if loss is None:
            logging.warning("Training with estimator made no steps. Perhaps input is empty or misspecified.")
        return loss

    def _saving(self, spec: EstimatorSpec, hooks: List[Any], listeners: List[Any]) -> List[Any]:
        """Returns a list of the hook that saves checkpoints, unless there is one; it gets the listeners."""
        config = self._config
        given = [h for h in [*hooks, *spec.training_chief_hooks] if isinstance(h, basic.CheckpointSaverHook)]
        made = []
        if not given and (config.save_checkpoints_secs or config.save_checkpoints_steps):
            secs, steps = config.save_checkpoints_secs, config.save_checkpoints_steps
            made = [basic.CheckpointSaverHook(self._model_dir, save_secs=secs, save_steps=steps, scaffold=spec.scaffold)]
        if listeners:
            if not given + made:
                raise ValueError(
                    "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
                    "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
                )
            present: Any = (given + made)[0]._listeners
            present.extend(listener for listener in listeners if listener not in present)
        return made

    # Evaluation.

    def evaluate(
        self, input_fn: Any, steps: Optional[int] = None, hooks: Any = None, checkpoint_path: Optional[str] = None, name: Optional[str] = None
    ) -> Dict[str, Any]:
        """Evaluates the model until its input ends or the steps are done. Writes the results as summaries.

        Args:
          input_fn: A function that returns a pair of features and labels.
          steps: The number of steps; None for the whole input.
          hooks: A list of `SessionRunHook`s.
          checkpoint_path: The checkpoint; by default the latest. Without any, variables are initialized.
          name: The name of the evaluation, for the directory of its summaries.

        Returns:
          A dict of the values of the metrics, of `loss`, their mean, and of `global_step`.

        Raises:
          ValueError: `steps` is not positive, or a metric has one of these two names.
          TypeError: A hook is of another type.
        """
        _check_positive("steps", steps)
        all_hooks = _checked_hooks(hooks) + ([] if steps is None else [StopAfterNEvalsHook(steps)])
        checkpoint_path = checkpoint_path or self.latest_checkpoint()
        if not checkpoint_path:
            logging.info("No trained model in %s: its variables are initialized to evaluate.", self._model_dir)
        with Graph().as_default():
            set_random_seed(self._config.tf_random_seed)
            step = training_util.create_global_step()
            features, labels, input_hooks = self._input(input_fn, ModeKeys.EVAL)
            spec = self._call_model_fn(features, labels, ModeKeys.EVAL, self.config)
            values, update = _metrics_of(spec, step)
            scaffold = spec.scaffold
            if scaffold.local_init_op:
                # The count of steps is initialized by the default, too.
                get_or_create_eval_step()
                both = control_flow.group(scaffold.local_init_op, Scaffold.default_local_init_op())
                scaffold = Scaffold(local_init_op=both, copy_from_scaffold=scaffold)
            results = evaluate_once(
                checkpoint_path,
                scaffold=scaffold,
                eval_ops=update,
                final_ops=values,
                hooks=input_hooks + all_hooks + list(spec.evaluation_hooks),
                config=self._config.session_config,
            )
        _write_results(self.eval_dir(name), results, checkpoint_path)
        return results

    # Prediction.

    def predict(
        self, input_fn: Any, predict_keys: Any = None, hooks: Any = None, checkpoint_path: Optional[str] = None, yield_single_examples: bool = True
    ) -> Iterator[Any]:
        """Yields predictions until the input ends.

        Args:
          input_fn: A function that returns features, or a pair whose second part is ignored.
          predict_keys: A list of the predictions to compute; None for all.
          hooks: A list of `SessionRunHook`s.
          checkpoint_path: The checkpoint; by default the latest. Without any, variables are initialized.
          yield_single_examples: If true, batches are taken apart.

        Yields:
          The predictions of an example, or of a batch.

        Raises:
          ValueError: No prediction is left, or the sizes of the batches differ.
          TypeError: A hook is of another type.
        """
        all_hooks = _checked_hooks(hooks)
        checkpoint_path = checkpoint_path or self.latest_checkpoint()
        if not checkpoint_path:
            logging.info("No trained model in %s: its variables are initialized to predict.", self._model_dir)
        with Graph().as_default() as graph:
            set_random_seed(self._config.tf_random_seed)
            training_util.create_global_step()
            features, _, input_hooks = self._input(input_fn, ModeKeys.PREDICT)
            if not input_hooks and not graph.get_collection(GraphKeys.QUEUE_RUNNERS):
                logging.warning("The input function makes no queue: `predict` yields for ever. This is probably a mistake.")
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            predictions = _chosen(spec.predictions, predict_keys)
            creator = ChiefSessionCreator(
                spec.scaffold, config=self._config.session_config, checkpoint_filename_with_path=checkpoint_path
            )
            with MonitoredSession(creator, input_hooks + all_hooks + list(spec.prediction_hooks)) as sess:
                while not sess.should_stop():
                    batch = sess.run(predictions)
                    if not yield_single_examples:
                        yield batch
                    elif isinstance(predictions, dict):
                        yield from _examples(batch)
                    else:
                        yield from batch

    # Exports.

    def export_saved_model(
        self,
        export_dir_base: str,
        serving_input_receiver_fn: Any,
        assets_extra: Optional[Dict[str, str]] = None,
        as_text: bool = False,
        checkpoint_path: Optional[str] = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Exports the model of the latest checkpoint as a SavedModel.

        Args:
          export_dir_base: The directory in which a new one is made, named by the time.
          serving_input_receiver_fn: A function that returns a `ServingInputReceiver`.
          assets_extra: A dict from names of files to copy into the export to their sources.
          as_text: If true, the graph is written as text.
          checkpoint_path: The checkpoint; by default the latest.
          experimental_mode: Must be `ModeKeys.PREDICT`.

        Returns:
          The path of the export, in bytes.

        Raises:
          ValueError: There is no checkpoint, or it lacks a variable.
          UnimplementedError: `experimental_mode` is another one.
        """
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        if experimental_mode != ModeKeys.PREDICT:
            words = "export_saved_model(experimental_mode=%r) is not part of Millstream yet: models are exported to predict"
            raise errors.UnimplementedError(None, None, words % experimental_mode)
        return self._export(export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path, True)

    def export_savedmodel(
        self,
        export_dir_base: str,
        serving_input_receiver_fn: Any,
        assets_extra: Optional[Dict[str, str]] = None,
        as_text: bool = False,
        checkpoint_path: Optional[str] = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Exports the model; see `export_saved_model`, its later name.

        Raises:
          ValueError: There is no checkpoint, or it lacks a variable.
        """
        if serving_input_receiver_fn is None:
            raise ValueError("serving_input_receiver_fn must be defined.")
        return self._export(export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path, strip_default_attrs)

    def _export(self, base: str, receiver_fn: Any, assets: Any, as_text: bool, checkpoint: Optional[str], strip: bool) -> bytes:
        checkpoint = checkpoint or self.latest_checkpoint()
        if not checkpoint:
            raise ValueError("Couldn't find trained model at %s." % self._model_dir)
        path = _new_folder(os.fsdecode(base))
        unfinished = os.path.join(os.path.dirname(path), "temp-" + os.path.basename(path))
        with Graph().as_default():
            training_util.create_global_step()
            set_random_seed(self._config.tf_random_seed)
            receiver = receiver_fn()
            spec = self._call_model_fn(receiver.features, None, ModeKeys.PREDICT, self.config)
            named = signatures(receiver, spec.export_outputs)
            with Session(config=self._config.session_config) as sess:
                first = spec.scaffold.local_init_op
                first = Scaffold.default_local_init_op() if first is None else first
                saver = spec.scaffold.saver or Saver(sharded=True)
                try:
                    saver.restore(sess, checkpoint)
                except errors.NotFoundError as error:
                    raise ValueError(
                        "Could not load all requested variables from checkpoint. Please make sure your model_fn does not "
                        "expect variables that were not saved in the checkpoint.\n\n"
                        "Encountered error with mode `%s` while restoring checkpoint from: `%s`. Full Traceback:\n\n%s"
                        % (ModeKeys.PREDICT, checkpoint, error)
                    ) from None
                builder = SavedModelBuilder(unfinished)
                builder.add_meta_graph_and_variables(
                    sess,
                    [tag_constants.SERVING],
                    signature_def_map=named,
                    assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
                    main_op=first,
                    saver=saver,
                    strip_default_attrs=strip,
                )
        builder.save(as_text)
        for name, source in (assets or {}).items():
            target = os.path.join(unfinished, "assets.extra", os.fsdecode(name))
            files.MakeDirs(os.path.dirname(target))
            files.Copy(source, target)
        os.rename(unfinished, path)
        return os.fsencode(path)

    # What input and model functions get.

    def _input(self, input_fn: Any, mode: str) -> Tuple[Any, Any, List[Any]]:
        """Returns the features and labels of an input function, and hooks that its data set needs."""
        given = {"mode": mode, "params": self.params, "config": self.config}
        with device("/cpu:0"):
            result = input_fn(**{name: value for name, value in given.items() if name in _arguments(input_fn)})
        hooks: List[Any] = []
        if hasattr(result, "make_initializable_iterator"):
            iterator = result.make_initializable_iterator()
            hooks.append(_StartInput(iterator))
            result = iterator.get_next()
        if not isinstance(result, (list, tuple)):
            return result, None, hooks
        if len(result) != 2:
            raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
        return result[0], result[1], hooks

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        names = _arguments(self._model_fn)
        given = {"labels": labels, "mode": mode, "params": self.params, "config": config}
        if "labels" not in names and labels is not None:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        spec = self._model_fn(features=features, **{name: value for name, value in given.items() if name in names})
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec


def _config_of(config: Any, model_dir: Any) -> RunConfig:
    """Returns the configuration with a directory, and a session's configuration."""
    if config is None:
        config = RunConfig()
    elif not isinstance(config, RunConfig):
        raise ValueError("config must be an instance of `RunConfig`, but provided %s." % config)
    model_dir = None if model_dir is None else os.fspath(model_dir)
    if config.model_dir is not None and model_dir is not None and config.model_dir != model_dir:
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. In constructor: '%s', in "
            "`RunConfig`: '%s' " % (model_dir, config.model_dir)
        )
    if config.model_dir is None:
        if model_dir is None:
            model_dir = tempfile.mkdtemp()
            logging.warning("Using temporary folder as model directory: %s", model_dir)
        config = config.replace(model_dir=model_dir)
    if config.session_config is None:
        config = config.replace(session_config=protos.ConfigProto(allow_soft_placement=True))
    return config


def _check_model_fn(model_fn: Any, params: Any) -> None:
    names = _arguments(model_fn)
    if "features" not in names:
        raise ValueError("model_fn (%s) must include features argument." % model_fn)
    if params is not None and "params" not in names:
        words = "model_fn (%s) does not include params argument, but params (%s) is passed to Estimator."
        raise ValueError(words % (model_fn, params))
    others = [name for name in names if name not in _MODEL_FN_ARGUMENTS]
    if others:
        raise ValueError("model_fn (%s) has following not expected args: %s" % (model_fn, others))


def _check_members(kind: Any) -> None:
    """Refuses a program's subclass that replaces a public method."""
    own = [name for name in vars(kind) if not name.startswith("_") and hasattr(Estimator, name)]
    if own and not kind.__module__.startswith("millstream."):
        raise ValueError(
            "Subclasses of Estimator cannot override members of Estimator. %s does override %s\n"
            "  help: give the model function what shall differ, or wrap the estimator in a class of its own" % (kind, own)
        )


def _check_positive(name: str, value: Optional[int]) -> None:
    if value is not None and value <= 0:
        raise ValueError("Must specify %s > 0, given: %s" % (name, value))


def _checked_hooks(hooks: Any) -> List[Any]:
    hooks = list(hooks or [])
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError("Hooks must be a SessionRunHook, given: %s" % hook)
    return hooks


def _metrics_of(spec: EstimatorSpec, step: Any) -> Tuple[Dict[str, Any], Any]:
    """Returns the values of the metrics, the mean loss and the step by name, and the operation of updates."""
    metrics = dict(spec.eval_metric_ops)
    if "loss" in metrics:
        raise ValueError(
            'Metric with name "loss" is not allowed, because Estimator already defines a default metric with the same name.'
        )
    metrics["loss"] = mean(spec.loss)
    values, updates = {}, []
    for name, (value, update) in sorted(metrics.items()):
        updates.append(update)
        if isinstance(value, Operation):
            with control_dependencies([value]):
                value = constant([], name="metric_op_wrapper")
        values[name] = value
    if GraphKeys.GLOBAL_STEP in values:
        raise ValueError(
            "Metric with name `global_step` is not allowed, because Estimator already defines a default metric with the same "
            "name."
        )
    values[GraphKeys.GLOBAL_STEP] = step
    return values, control_flow.group(*updates)


def _write_results(folder: str, results: Dict[str, Any], checkpoint_path: Optional[str]) -> None:
    """Writes the results of an evaluation as summaries."""
    step = results[GraphKeys.GLOBAL_STEP]
    shown = ", ".join("%s = %s" % item for item in sorted(results.items()))
    logging.info("Saving dict for global step %d: %s", step, shown)
    summary = protos.Summary()
    for name, value in sorted(results.items()):
        if value is None or name == GraphKeys.GLOBAL_STEP:
            continue
        if isinstance(value, (np.ndarray, np.generic, int, float)) and np.ndim(value) == 0 and np.asarray(value).dtype.kind in "fiu":
            summary.value.add(tag=name, simple_value=float(value))
        elif isinstance(value, bytes):
            summary.value.add(tag=name).MergeFrom(protos.Summary.FromString(value).value[0])
        else:
            logging.warning("Skipping summary for %s, must be a float, an int or a serialized string of Summary.", name)
    writer = summaries.FileWriterCache.get(folder)
    writer.add_summary(summary, step)
    if checkpoint_path:
        logging.info("Saving 'checkpoint_path' summary for global step %d: %s", step, checkpoint_path)
    writer.flush()


def _chosen(predictions: Any, keys: Any) -> Any:
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    found = {key: value for key, value in predictions.items() if key in keys}
    if not found:
        words = "Expected to run at least one output from %s, provided %s."
        raise ValueError(words % (predictions.keys(), keys))
    return found


def _examples(batch: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    """Yields the examples of a batch."""
    n: Optional[int] = None
    for key, value in batch.items():
        n = n or value.shape[0]
        if value.shape[0] != n:
            words = "Batch length of predictions should be same. %s has different batch length than others."
            raise ValueError(words % key)
    for i in range(n or 0):
        yield {key: value[i] for key, value in batch.items()}


def _new_folder(base: str) -> str:
    """Returns the path of a folder that does not exist, named by the time in seconds."""
    for _ in range(10):
        path = os.path.join(base, str(int(time.time())))
        if not os.path.exists(path):
            return path
        time.sleep(1.0)
    raise RuntimeError("Failed to obtain a unique export directory name after 10 attempts.")

