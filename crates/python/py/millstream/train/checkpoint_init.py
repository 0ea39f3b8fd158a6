"""`init_from_checkpoint`: initial values of variables from a checkpoint."""

from __future__ import annotations

import os
from typing import Any, Dict, List

from millstream.framework import device
from millstream.framework.op_functions import op
from millstream.train.checkpoints import latest_checkpoint, load_checkpoint
from millstream.train.optimizer import is_reference
from millstream.train.saver import assign_saved, slice_of
from millstream.variables.partitions import PartitionedVariable
from millstream.variables.scopes import variables_by_name
from millstream.variables.variable import Variable


def init_from_checkpoint(ckpt_dir_or_file: str, assignment_map: Dict[str, Any]) -> None:
    """Makes the initializers of variables read a checkpoint, instead of their initial values.

    Variables must be made before. Their initializers are run as before, by
    `tf.global_variables_initializer()` for instance.

    Args:
      ckpt_dir_or_file: A checkpoint, or a directory: its latest one.
      assignment_map: A dict from names in the checkpoint to variables, lists of the parts of one variable, or
        names of variables of `tf.get_variable`. Names that end in `/` are scopes: all variables in the second
        are read from the first. `"/"` is the scope of all.

    Raises:
      ValueError: The checkpoint lacks a tensor, a shape differs, or a scope is paired with a variable's name.
      tf.errors.NotFoundError: The checkpoint does not exist.

    Example:
      >>> import os, tempfile
      >>> v = tf.get_variable("old/v", initializer=[1.0, 2.0])
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = tf.train.Saver().save(sess, os.path.join(tempfile.mkdtemp(), "model"))
      >>> w = tf.get_variable("new/v", [2])
      >>> tf.train.init_from_checkpoint(path, {"old/": "new/"})
      >>> with tf.Session() as sess:
      ...     _ = sess.run(w.initializer)
      ...     print(sess.run(w))
      [1. 2.]
    """
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    path = latest_checkpoint(ckpt_dir_or_file) if os.path.isdir(ckpt_dir_or_file) else ckpt_dir_or_file
    known = variables_by_name()
    for key, target in sorted(assignment_map.items()):
        parts = _variables(target, known)
        if parts:
            if key not in shapes:
                raise ValueError("Tensor %s is not found in %s checkpoint %s" % (key, ckpt_dir_or_file, shapes))
            if len(parts) == 1 and not isinstance(target, list) and not parts[0].shape.is_compatible_with(shapes[key]):
                words = "Shape of variable %s (%s) doesn't match with shape of tensor %s (%s) from checkpoint reader."
                raise ValueError(words % (parts[0].name, parts[0].shape, key, shapes[key]))
            _read(parts, path, key)
        else:
            _read_scope(target, key, path, shapes, ckpt_dir_or_file, known)


def _variables(target: Any, known: Dict[str, Any]) -> List[Any]:
    """Returns the variable or its parts that a target names; an empty list for a scope."""
    if isinstance(target, Variable):
        return [target]
    if isinstance(target, PartitionedVariable):
        return list(target._get_variable_list())
    if isinstance(target, list) and all(isinstance(v, Variable) for v in target):
        return target
    if target in known:
        return [known[target]]
    parts: List[Any] = []
    while "%s/part_%d" % (target, len(parts)) in known:
        parts.append(known["%s/part_%d" % (target, len(parts))])
    return parts


def _read_scope(target: str, key: str, path: Any, shapes: Any, where: str, known: Dict[str, Any]) -> None:
    """Makes all variables in a scope read those of a scope in the checkpoint."""
    scope = target.rpartition("/")[0]
    if not key.endswith("/"):
        raise ValueError(
            "Assignment map with scope only name %s should map to scope only %s. Should be 'scope/': 'other_scope/'." % (scope, key)
        )
    inside = {name.partition("/part_")[0] for name in known if not scope or name.startswith(scope + "/")}
    for name in sorted(inside):
        rest = name[len(scope) + 1 :] if scope else name
        tensor = (rest if key == "/" else key + rest).rstrip("/")
        if tensor not in shapes:
            raise ValueError("Tensor %s (%s in %s) is not found in %s checkpoint" % (tensor, rest, key, where))
        _read(_variables(name, known), path, tensor)


def _read(parts: List[Any], path: Any, key: str) -> None:
    """Makes a variable, or the parts of one, read a tensor of a checkpoint."""
    names = {v._save_slice_info.full_name for v in parts if v._save_slice_info is not None}
    if 1 < len(names):
        raise ValueError("Slices must all be from the same tensor: %s != %s" % tuple(sorted(names)[:2]))
    for variable in parts:
        with device(variable.device), device("/cpu:0"):
            kind = variable.dtype.base_dtype
            value = op("RestoreV2")(path, [key], [slice_of(variable)], dtypes=[kind], name="checkpoint_initializer")[0]
        value.set_shape(variable.shape)
        done = assign_saved(variable, value, False)
        if is_reference(variable):  # as there, the tensor of the assignment, whose name ends in ":0"
            done = done.outputs[0]
        variable._initializer = done
        variable._initial_value = value
