"""`WarmStartSettings`: which variables of an estimator begin with the values of a checkpoint."""

from __future__ import annotations

from typing import Any, Dict, NamedTuple

__all__ = ["WarmStartSettings"]


class _Fields(NamedTuple):
    ckpt_to_initialize_from: str
    vars_to_warm_start: Any
    var_name_to_vocab_info: Dict[str, Any]
    var_name_to_prev_var_name: Dict[str, str]


class WarmStartSettings(_Fields):
    """Which variables of an estimator begin with the values of a checkpoint.

    Args:
      ckpt_to_initialize_from: A checkpoint, or a directory: its latest one.
      vars_to_warm_start: A regular expression of the names of trainable variables; a list of expressions, for
        all variables; or a list of variables.
      var_name_to_vocab_info: A dict from names of variables to `tf.train.VocabInfo`s.
      var_name_to_prev_var_name: A dict from names of variables to their names in the checkpoint.

    Raises:
      ValueError: No checkpoint is given.

    Example:
      >>> tf.estimator.WarmStartSettings("/tmp/model", "dnn.*").vars_to_warm_start
      'dnn.*'
    """

    def __new__(
        cls, ckpt_to_initialize_from: str, vars_to_warm_start: Any = ".*", var_name_to_vocab_info: Any = None, var_name_to_prev_var_name: Any = None
    ) -> "WarmStartSettings":
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(cls, ckpt_to_initialize_from, vars_to_warm_start, var_name_to_vocab_info or {}, var_name_to_prev_var_name or {})


def settings_of(given: Any) -> Any:
    """Returns the settings that `warm_start_from` describes: settings, or a checkpoint's path."""
    if given is None or isinstance(given, WarmStartSettings):
        return given
    if isinstance(given, str):
        return WarmStartSettings(given)
    raise ValueError("warm_start_from must be a string or a WarmStartSettings, instead got %s" % type(given))
