"""`tf.contrib.learn.learn_runner`: runs an `Experiment` that a function makes."""

from __future__ import annotations

from typing import Any, Callable, Optional

from millstream.contrib.learn.experiments import Experiment

__all__ = ["run"]


def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: Optional[str] = None,
    schedule: Optional[str] = None,
    run_config: Any = None,
    hparams: Any = None,
) -> Any:
    """Makes an experiment, and calls one of its methods.

    Args:
      experiment_fn: A function of `run_config` and `hparams`, or of `output_dir`, that returns an
        `Experiment`.
      output_dir: The folder of the model; not together with `run_config`.
      schedule: The name of the method; by default `train_and_evaluate`.
      run_config: A `RunConfig` with a `model_dir`.
      hparams: Hyperparameters, for `run_config`.

    Returns:
      The result of the method.

    Raises:
      TypeError: `experiment_fn` is no function, or returns something else.
      ValueError: Not exactly one of `output_dir` and `run_config` is given, or there is no such method.

    Example:
      >>> def make(output_dir):
      ...     raise KeyError(output_dir)
      >>> tf.contrib.learn.learn_runner.run(make, output_dir="/tmp/model")
      Traceback (most recent call last):
        ...
      KeyError: '/tmp/model'
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if not output_dir and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if not callable(experiment_fn):
        raise TypeError('Experiment builder "%s" is not callable.' % (experiment_fn,))
    if run_config is None:
        experiment = experiment_fn(output_dir=output_dir)
    else:
        if not run_config.model_dir:
            raise ValueError("Must specify a model directory in `run_config`.")
        experiment = experiment_fn(run_config=run_config, hparams=hparams)
    if not isinstance(experiment, Experiment):
        raise TypeError("Experiment builder did not return an Experiment instance, got %s instead." % type(experiment))
    method = schedule or "train_and_evaluate"
    if not callable(getattr(experiment, method, None)):
        raise ValueError("Schedule references non-existent task %s: an Experiment has train, evaluate, train_and_evaluate and others" % method)
    return getattr(experiment, method)()
