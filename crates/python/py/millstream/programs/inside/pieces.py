"""Small internal names of many modules, each a few lines over what the package has: `NAMES`, by module."""

from __future__ import annotations

import functools
import importlib
import itertools
import os
import types
import zlib
from typing import Any, Dict, List, Optional

from millstream.estimator import estimator, model_fn, tpu_estimator
from millstream.framework import constant, devices, errors, left_out, namespaces
from millstream.framework.dtypes import int32, int64
from millstream.io import files as gfile
from millstream.programs import internals
from millstream.train import server
from millstream.variables import defined_functions
from millstream.variables.variable import Variable

# Constants --------------------------------------------------------------------------------------------------


def shape_to_tensor(s: Any, dtype: Any = None, name: Optional[str] = None, as_ref: bool = False) -> Any:
    """Returns a shape that is known as a vector: of int32, or of int64 if a dimension needs it.

    Raises:
      ValueError: The shape is not known.
      TypeError: `dtype` is another one.
    """
    if not s.is_fully_defined():
        raise ValueError("Cannot convert a partially known TensorShape to a Tensor: %s" % s)
    return _sizes(s.as_list(), dtype, name)


def dimension_to_tensor(d: Any, dtype: Any = None, name: Optional[str] = None, as_ref: bool = False) -> Any:
    """Returns a dimension that is known as a scalar; see `shape_to_tensor`."""
    if d.value is None:
        raise ValueError("Cannot convert an unknown Dimension to a Tensor: %s" % d)
    return _sizes(d.value, dtype, name)


def _sizes(value: Any, dtype: Any, name: Optional[str]) -> Any:
    if dtype is not None and dtype not in (int32, int64):
        raise TypeError("Cannot convert a TensorShape to dtype: %s" % dtype)
    large = [x for x in (value if isinstance(value, list) else [value]) if x > 2**31 - 1]
    if large and dtype == int32:
        raise ValueError("Cannot convert a TensorShape to dtype int32; a dimension is too large (%d)" % large[0])
    return constant(value, dtype=dtype or (int64 if large else int32), name=name or "shape_as_tensor")


def constant_to_tensor(v: Any, dtype: Any = None, name: Optional[str] = None, as_ref: bool = False) -> Any:
    """Returns a value as a constant."""
    return constant(v, dtype=dtype, name=name or "Const")


# Variables as messages --------------------------------------------------------------------------------------


def to_proto(v: Any, export_scope: Optional[str] = None) -> Any:
    """Returns a variable as a `VariableDef`."""
    return v.to_proto(export_scope=export_scope)


def from_proto(v: Any, import_scope: Optional[str] = None) -> Any:
    """Returns the variable that a `VariableDef` describes."""
    return Variable.from_proto(v, import_scope=import_scope)


# Files ------------------------------------------------------------------------------------------------------

_temporary = itertools.count()


def atomic_write_string_to_file(filename: str, contents: Any, overwrite: bool = True) -> None:
    """Writes a file as a whole: others see the old contents or the new ones.

    Raises:
      tf.errors.AlreadyExistsError: There is a file, and `overwrite` is false.
    """
    part = "%s.tmp%d.%d" % (filename, os.getpid(), next(_temporary))
    internals.write_string_to_file(part, contents)
    try:
        gfile.Rename(part, filename, overwrite)
    except errors.OpError:
        gfile.Remove(part)
        raise


def file_crc32(filename: str, block_size: int = 1 << 20) -> str:
    """Returns the CRC-32 of a file as a hexadecimal number."""
    crc = 0
    with gfile.GFile(filename, "rb") as file:
        for block in iter(lambda: file.read(block_size), b""):
            crc = zlib.crc32(block, crc)
    return hex(crc & 0xFFFFFFFF)


def filecmp(filename_a: str, filename_b: str) -> bool:
    """Returns whether two files have the same size and contents."""
    return bool(gfile.Stat(filename_a).length == gfile.Stat(filename_b).length and file_crc32(filename_a) == file_crc32(filename_b))


_FILES = {
    "atomic_write_string_to_file": atomic_write_string_to_file,
    "copy_v2": gfile.Copy,
    "create_dir_v2": gfile.MkDir,
    "delete_file_v2": gfile.Remove,
    "delete_recursively_v2": gfile.DeleteRecursively,
    "file_crc32": file_crc32,
    "file_exists_v2": gfile.Exists,
    "filecmp": filecmp,
    "get_matching_files_v2": internals.get_matching_files,
    "is_directory_v2": gfile.IsDirectory,
    "list_directory_v2": gfile.ListDirectory,
    "recursive_create_dir_v2": gfile.MakeDirs,
    "rename_v2": gfile.Rename,
    "stat_v2": gfile.Stat,
    "walk_v2": lambda top, topdown=True, onerror=None: gfile.Walk(top, topdown),
}

# Devices ----------------------------------------------------------------------------------------------------


def _replica_device_chooser(ps_tasks: int, ps_device: str, worker_device: str, merge_devices: bool, ps_ops: Any, ps_strategy: Any) -> Any:
    chooser = devices._ReplicaDeviceChooser(ps_device, worker_device, merge_devices, ps_ops, ps_strategy)
    chooser.device_function = chooser.__call__  # type: ignore[attr-defined]
    return chooser


# Public names -----------------------------------------------------------------------------------------------


# Modules of public names, beside those whose names are ops.
_MODULES = "data distributions estimator feature_column initializers layers losses lookup metrics nn saved_model summary test train".split()


@functools.lru_cache(maxsize=None)
def _endpoints() -> Dict[int, List[str]]:
    """Returns the public names of functions and classes, by their ids: those in a module come first."""
    package = importlib.import_module("millstream")
    found: Dict[int, List[str]] = {}
    modules = {space.partition(".")[0] for space in namespaces._table()} - {""}
    for name in sorted({*dir(package), *modules, *_MODULES}):
        value = getattr(package, name, None)
        if isinstance(value, types.ModuleType) and value.__name__ == "millstream." + name:
            for inner in sorted(dir(value)):
                one = getattr(value, inner, None)
                if callable(one):
                    found.setdefault(id(one), []).insert(0, name + "." + inner)
        elif callable(value):
            found.setdefault(id(value), []).append(name)
    return found


def get_v1_names(symbol: Any) -> List[str]:
    """Returns the public names of a function or class: those in a module of `tf` come first."""
    return list(_endpoints().get(id(symbol), ()))


def get_canonical_name_for_symbol(symbol: Any, api_name: str = "tensorflow", add_prefix_to_v1_names: bool = False) -> Optional[str]:
    """Returns the first public name of a function or class; None if it has none."""
    names = get_v1_names(symbol)
    return None if not names else "compat.v1." + names[0] if add_prefix_to_v1_names else names[0]


# Names that make no sense here ------------------------------------------------------------------------------


def enable_eager_execution_internal(config: Any = None, device_policy: Any = None, execution_mode: Any = None, server_def: Any = None) -> None:
    """Refuses to run without graphs.

    Raises:
      NotImplementedError: Always.
    """
    raise NotImplementedError(left_out.reason("enable_eager_execution")[1])


NAMES: Dict[str, Dict[str, Any]] = {
    "python.estimator.estimator": {"_verify_model_fn_args": estimator._check_model_fn},
    "python.estimator.model_fn": {
        "AVERAGE_LOSS_METRIC_KEY": "average_loss",
        "LOSS_METRIC_KEY": "loss",
        "_TPUEstimatorSpec": tpu_estimator.TPUEstimatorSpec,
        "_check_is_tensor": lambda x, tensor_name: model_fn._tensor(x, tensor_name),
    },
    "python.estimator.util": {"_DatasetInitializerHook": estimator._StartInput},
    "python.framework.constant_op": {
        "_constant_tensor_conversion_function": constant_to_tensor,
        "_dimension_tensor_conversion_function": dimension_to_tensor,
        "_tensor_shape_tensor_conversion_function": shape_to_tensor,
        "constant_v1": constant,
    },
    "python.framework.function": {
        "get_extra_args": defined_functions.get_extra_args,
        "get_extra_inputs": defined_functions.get_extra_inputs,
        "get_extra_vars": defined_functions.get_extra_vars,
    },
    "python.framework.ops": {"enable_eager_execution_internal": enable_eager_execution_internal},
    "python.lib.io.file_io": _FILES,
    "python.ops.resource_variable_ops": {"_from_proto_fn": from_proto, "_to_proto_fn": to_proto},
    "python.training.device_setter": {"_ReplicaDeviceChooser": _replica_device_chooser, "_RoundRobinStrategy": devices._RoundRobin},
    "python.training.server_lib": {"_make_server_def": server._make_server_def},
    "python.util.deprecation": {"_PRINT_DEPRECATION_WARNINGS": True},
    "python.util.tf_export": {"get_canonical_name_for_symbol": get_canonical_name_for_symbol, "get_v1_names": get_v1_names},
}
