"""Exporters: what `train_and_evaluate` does with the model after an evaluation."""

from __future__ import annotations

import abc
import inspect
import os
from typing import Any, Callable, Dict, Optional

from millstream.framework import logging
from millstream.io import files
from millstream.io.summaries import summary_iterator


class Exporter(abc.ABC):
    """The base class of exporters.

    Example:
      >>> class Mine(tf.estimator.Exporter):
      ...     name = "mine"
      ...     def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
      ...         print(export_path, is_the_final_export)
      >>> exporter = Mine()
      >>> exporter.export(None, "there", "ckpt", {}, True)
      there True
      >>> exporter.name
      'mine'
    """

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of the directory of the exports, below `export`."""

    @abc.abstractmethod
    def export(
        self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Dict[str, Any], is_the_final_export: bool
    ) -> Any:
        """Exports a model; returns the path of the export, or None."""


class _OfModels(Exporter):
    """The base class of exporters of SavedModels."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Any,
        assets_extra: Optional[Dict[str, str]] = None,
        as_text: bool = False,
        exports_to_keep: Optional[int] = None,
    ) -> None:
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError("`exports_to_keep`, if provided, must be a positive number. Got %s" % exports_to_keep)
        self._name, self._receiver_fn = name, serving_input_receiver_fn
        self._assets_extra, self._as_text, self._n_kept = assets_extra, as_text, exports_to_keep

    @property
    def name(self) -> str:
        """The name of the directory of the exports, below `export`."""
        return self._name

    def _is_wanted(self, estimator: Any, eval_result: Dict[str, Any], is_the_final_export: bool) -> bool:
        return True

    def export(
        self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Dict[str, Any], is_the_final_export: bool
    ) -> Any:
        """Exports a SavedModel if it is due; returns its path, or None."""
        if not self._is_wanted(estimator, eval_result, is_the_final_export):
            return None
        path = estimator.export_saved_model(export_path, self._receiver_fn, self._assets_extra, self._as_text, checkpoint_path)
        if self._n_kept is not None:
            made = sorted(d for d in files.ListDirectory(export_path) if len(d) == 10 and d.isdigit())
            for old in made[: -self._n_kept]:
                files.DeleteRecursively(os.path.join(export_path, old))
        return path


class FinalExporter(_OfModels):
    """Exports the model once, at the end of the training.

    Args:
      name: The name of the directory of the exports, below `export`.
      serving_input_receiver_fn: A function that returns a `ServingInputReceiver`.
      assets_extra: A dict from names of files to copy into the export to their sources.
      as_text: If true, the graph is written as text.

    Example:
      >>> tf.estimator.FinalExporter("last", lambda: None).name
      'last'
    """

    def __init__(self, name: str, serving_input_receiver_fn: Any, assets_extra: Any = None, as_text: bool = False) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)

    def _is_wanted(self, estimator: Any, eval_result: Dict[str, Any], is_the_final_export: bool) -> bool:
        return is_the_final_export


class LatestExporter(_OfModels):
    """Exports the model after every evaluation.

    Args:
      name: The name of the directory of the exports, below `export`.
      serving_input_receiver_fn: A function that returns a `ServingInputReceiver`.
      assets_extra: A dict from names of files to copy into the export to their sources.
      as_text: If true, the graph is written as text.
      exports_to_keep: The number of exports to keep; None for all.

    Raises:
      ValueError: `exports_to_keep` is not positive.

    Example:
      >>> tf.estimator.LatestExporter("latest", lambda: None, exports_to_keep=2).name
      'latest'
    """

    def __init__(
        self, name: str, serving_input_receiver_fn: Any, assets_extra: Any = None, as_text: bool = False, exports_to_keep: Optional[int] = 5
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)


def _is_smaller(best_eval_result: Dict[str, Any], current_eval_result: Dict[str, Any]) -> bool:
    """Returns whether the current loss is less than the best one."""
    for which, found in (("best", best_eval_result), ("current", current_eval_result)):
        if not found or "loss" not in found:
            raise ValueError("%s_eval_result cannot be empty or no loss is found in it." % which)
    return bool(best_eval_result["loss"] > current_eval_result["loss"])


class BestExporter(_OfModels):
    """Exports the model whenever an evaluation is better than all before.

    Args:
      name: The name of the directory of the exports, below `export`.
      serving_input_receiver_fn: A function that returns a `ServingInputReceiver`.
      event_file_pattern: The pattern of files, below the model's directory, with the results of evaluations
        before; None for none.
      compare_fn: A function of `best_eval_result` and `current_eval_result`, which are dicts: whether the
        current one is better. By default, whether its loss is less.
      assets_extra: A dict from names of files to copy into the export to their sources.
      as_text: If true, the graph is written as text.
      exports_to_keep: The number of exports to keep; None for all.

    Raises:
      ValueError: `exports_to_keep` is not positive, or `compare_fn` takes other arguments.

    Example:
      >>> tf.estimator.BestExporter(serving_input_receiver_fn=lambda: None).name
      'best_exporter'
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Any = None,
        event_file_pattern: Optional[str] = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = _is_smaller,
        assets_extra: Any = None,
        as_text: bool = False,
        exports_to_keep: Optional[int] = 5,
    ) -> None:
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        names = set(inspect.signature(compare_fn).parameters)
        for wanted in ("best_eval_result", "current_eval_result"):
            if wanted not in names:
                raise ValueError("compare_fn (%s) must include %s argument." % (compare_fn, wanted))
        others = list(names - {"best_eval_result", "current_eval_result"})
        if others:
            raise ValueError("compare_fn (%s) has following not expected args: %s" % (compare_fn, others))
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)
        self._is_better, self._pattern = compare_fn, event_file_pattern
        self._model_dir: Optional[str] = None
        self._best: Optional[Dict[str, Any]] = None

    def _is_wanted(self, estimator: Any, eval_result: Dict[str, Any], is_the_final_export: bool) -> bool:
        if self._model_dir != estimator.model_dir and self._pattern:
            self._model_dir = estimator.model_dir
            self._best = self._best_before(os.path.join(estimator.model_dir, self._pattern))
        wanted = self._best is None or self._is_better(best_eval_result=self._best, current_eval_result=eval_result)
        if wanted:
            logging.info("Performing best model export.")
            self._best = eval_result
        return wanted

    def _best_before(self, pattern: str) -> Optional[Dict[str, Any]]:
        best = None
        for path in files.Glob(pattern):
            for event in summary_iterator(path):
                found = {v.tag: v.simple_value for v in event.summary.value if v.WhichOneof("value") == "simple_value"}
                if found and (best is None or self._is_better(best_eval_result=best, current_eval_result=found)):
                    best = found
        return best
