"""`WarmStartSettings`: which variables of an estimator begin with the values of a checkpoint."""

from __future__ import annotations

import re
from typing import Any, Dict, List, NamedTuple

from millstream.framework import errors, get_collection
from millstream.framework.graph_keys import GraphKeys
from millstream.train.checkpoint_init import init_from_checkpoint
from millstream.variables.variable import Variable

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
      var_name_to_vocab_info: Must be None.
      var_name_to_prev_var_name: A dict from names of variables to their names in the checkpoint.

    Raises:
      ValueError: No checkpoint is given.
      UnimplementedError: `var_name_to_vocab_info` is given.

    Example:
      >>> tf.estimator.WarmStartSettings("/tmp/model", "dnn.*").vars_to_warm_start
      'dnn.*'
    """

    def __new__(
        cls, ckpt_to_initialize_from: str, vars_to_warm_start: Any = ".*", var_name_to_vocab_info: Any = None, var_name_to_prev_var_name: Any = None
    ) -> "WarmStartSettings":
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        if var_name_to_vocab_info:
            words = "WarmStartSettings(var_name_to_vocab_info=%r): vocabularies are not matched; leave it out"
            raise errors.UnimplementedError(None, None, words % (var_name_to_vocab_info,))
        return super().__new__(cls, ckpt_to_initialize_from, vars_to_warm_start, {}, var_name_to_prev_var_name or {})


def settings_of(given: Any) -> Any:
    """Returns the settings that `warm_start_from` describes: settings, or a checkpoint's path."""
    if given is None or isinstance(given, WarmStartSettings):
        return given
    if isinstance(given, str):
        return WarmStartSettings(given)
    raise ValueError("warm_start_from must be a string or a WarmStartSettings, instead got %s" % type(given))


def warm_start(settings: WarmStartSettings) -> None:
    """Makes the initializers of the variables read the checkpoint."""
    names = settings.var_name_to_prev_var_name
    whole: Dict[str, List[Any]] = {}
    for variable in _chosen(settings.vars_to_warm_start):
        part = getattr(variable, "_save_slice_info", None)
        whole.setdefault(variable.op.name if part is None else part.full_name, []).append(variable)
    for name, parts in whole.items():
        value = parts[0] if getattr(parts[0], "_save_slice_info", None) is None else parts
        init_from_checkpoint(settings.ckpt_to_initialize_from, {names.get(name, name): value})


def _chosen(which: Any) -> List[Any]:
    if which is None:
        return []
    if isinstance(which, str):
        return get_collection(GraphKeys.TRAINABLE_VARIABLES, which)
    if all(isinstance(one, str) for one in which):
        every = get_collection(GraphKeys.GLOBAL_VARIABLES)
        return [v for v in every if any(re.match(pattern, v.op.name) for pattern in which)]
    if all(isinstance(one, Variable) for one in which):
        return list(which)
    raise ValueError("If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types are %s" % [type(v) for v in which])
