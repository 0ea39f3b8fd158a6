"""`warm_start`: variables begin with the values of a checkpoint, those of words by vocabularies."""

from __future__ import annotations

import os
import re
from typing import Any, Dict, List, NamedTuple

import numpy as np

from millstream.framework import device, get_collection
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.ops import array_ops, indexing_ops
from millstream.train.checkpoint_init import init_from_checkpoint
from millstream.train.checkpoints import latest_checkpoint, load_checkpoint
from millstream.train.saver import assign_saved
from millstream.variables.initializers import Zeros
from millstream.variables.variable import Variable

__all__ = ["VocabInfo", "warm_start"]


class _Vocabulary(NamedTuple):
    new_vocab: str
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: str
    old_vocab_size: int
    backup_initializer: Any
    axis: int


class VocabInfo(_Vocabulary):
    """The vocabularies of a variable, here and in a checkpoint, for `tf.train.warm_start`.

    Args:
      new_vocab: The file of the variable's words, one in each line.
      new_vocab_size: The number of words of `new_vocab` that the variable has.
      num_oov_buckets: The number of rows, after those of words, for words that are in no vocabulary.
      old_vocab: The file of the words of the variable in the checkpoint.
      old_vocab_size: The number of words of `old_vocab`; -1 for all.
      backup_initializer: The initializer of words that are not in `old_vocab`; by default zeros.
      axis: The axis of words: 0 or 1.

    Raises:
      ValueError: The axis is another.

    Example:
      >>> tf.train.VocabInfo("new.txt", 5, 1, "old.txt").old_vocab_size
      -1
    """

    def __new__(
        cls, new_vocab: str, new_vocab_size: int, num_oov_buckets: int, old_vocab: str, old_vocab_size: int = -1, backup_initializer: Any = None, axis: int = 0
    ) -> "VocabInfo":
        if axis not in (0, 1):
            raise ValueError("The only supported values for the axis argument are 0 and 1.  Provided axis: %s" % (axis,))
        return super().__new__(cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size, backup_initializer, axis)


def warm_start(
    ckpt_to_initialize_from: str, vars_to_warm_start: Any = ".*", var_name_to_vocab_info: Any = None, var_name_to_prev_var_name: Any = None
) -> None:
    """Makes the initializers of variables read a checkpoint.

    Args:
      ckpt_to_initialize_from: A checkpoint, or a directory: its latest one.
      vars_to_warm_start: A regular expression of the names of trainable variables; a list of expressions, for
        all variables; a list of variables; or None for those of `var_name_to_vocab_info` alone.
      var_name_to_vocab_info: A dict from names of variables to `tf.train.VocabInfo`s: their rows, or columns,
        are those of the same words in the checkpoint.
      var_name_to_prev_var_name: A dict from names of variables to their names in the checkpoint.

    Raises:
      ValueError: A name in a dict is not that of a variable, or the shape of a variable is not that of its
        vocabulary.
      tf.errors.NotFoundError: The checkpoint does not exist.

    Example:
      >>> import os, tempfile
      >>> v = tf.get_variable("dense/kernel", initializer=[1.0, 2.0])
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = tf.train.Saver().save(sess, os.path.join(tempfile.mkdtemp(), "model"))
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     w = tf.get_variable("dense/kernel", [2])
      ...     tf.train.warm_start(path)
      ...     _ = sess.run(w.initializer)
      ...     print(sess.run(w))
      [1. 2.]
    """
    load_checkpoint(ckpt_to_initialize_from)
    vocabularies, names = dict(var_name_to_vocab_info or {}), dict(var_name_to_prev_var_name or {})
    whole: Dict[str, List[Any]] = {}
    for variable in _chosen(vars_to_warm_start):
        part = getattr(variable, "_save_slice_info", None)
        whole.setdefault(variable.op.name if part is None else part.full_name, []).append(variable)
    for argument, given in (("var_name_to_prev_var_name", names), ("var_name_to_vocab_info", vocabularies)):
        if set(given) - set(whole):
            raise ValueError(
                "You provided the following variables in %s that were not used: %s.  Perhaps you misspelled them?  "
                "Here is the list of viable variable names: %s" % (argument, set(given) - set(whole), whole.keys())
            )
    for name, parts in whole.items():
        before = names.get(name, name)
        if name in vocabularies:
            _read_words(parts, ckpt_to_initialize_from, before, vocabularies[name])
        elif vars_to_warm_start is not None:
            value = parts[0] if getattr(parts[0], "_save_slice_info", None) is None else parts
            init_from_checkpoint(ckpt_to_initialize_from, {before: value})


def _read_words(parts: List[Any], where: str, key: str, info: VocabInfo) -> None:
    """Makes the parts of a variable read the rows, or columns, of their words."""
    old, new = _words(info.old_vocab, info.old_vocab_size), _words(info.new_vocab, info.new_vocab_size)
    place = {word: i for i, word in reversed(list(enumerate(old)))}
    found = np.array([place.get(word, -1) for word in new] + [-1] * info.num_oov_buckets)
    path = latest_checkpoint(where) if os.path.isdir(where) else where
    for variable in parts:
        shape = variable.shape.as_list()
        part = variable._save_slice_info
        starts, sizes = (part.var_offset, part.full_shape) if part is not None else ([0] * len(shape), shape)
        if sizes[info.axis] != len(found):
            words = "%s has %s on axis %d, but its vocabulary has %d words and buckets: they must be equal"
            raise ValueError(words % (variable.op.name, sizes[info.axis], info.axis, len(found)))
        mine = found[starts[info.axis] : starts[info.axis] + shape[info.axis]]
        kind = variable.dtype.base_dtype
        with device(variable.device), device("/cpu:0"):
            value = op("RestoreV2")(path, [key], [""], dtypes=[kind], name="checkpoint_initializer")[0]
            for axis, (start, size) in enumerate(zip(starts, shape)):
                if axis != info.axis:
                    value = indexing_ops.gather(value, np.arange(start, start + size), axis=axis)
            known = np.broadcast_to((mine >= 0).reshape([-1 if axis == info.axis else 1 for axis in range(len(shape))]), shape)
            other = (info.backup_initializer or Zeros())(shape, dtype=kind)
            value = array_ops.where(known, indexing_ops.gather(value, np.maximum(mine, 0), axis=info.axis), other)
        value.set_shape(variable.shape)
        done = assign_saved(variable, value, False)
        variable._initializer = getattr(done, "op", done)
        variable._initial_value = value


def _words(path: str, size: int) -> List[str]:
    """Returns the words of a vocabulary, one in each line; the first `size` of them unless it is -1."""
    with open(path, encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\n") for line in file]
    if size > len(lines):
        raise ValueError("the vocabulary %s has %d words, fewer than its size %d" % (path, len(lines), size))
    return lines if size < 0 else lines[:size]


def _chosen(which: Any) -> List[Any]:
    if which is None:
        return get_collection(GraphKeys.TRAINABLE_VARIABLES)
    if isinstance(which, str):
        return get_collection(GraphKeys.TRAINABLE_VARIABLES, which)
    if not isinstance(which, list):
        raise ValueError("`vars_to_warm_start must be a `list` or `str`.  Given type is %s" % type(which))
    if all(isinstance(one, str) for one in which):
        every = get_collection(GraphKeys.GLOBAL_VARIABLES)
        return [v for v in every if any(re.match(pattern, v.op.name) for pattern in which)]
    if all(isinstance(one, Variable) for one in which):
        return list(which)
    raise ValueError("If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types are %s" % [type(v) for v in which])
