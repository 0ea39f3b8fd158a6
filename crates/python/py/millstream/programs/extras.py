"""Internal names of TensorFlow 1.15 that programs import and that have no public name: `NAMES`, by module."""

from __future__ import annotations

import collections
import contextlib
import inspect
from typing import Any, Callable, Dict, Iterator, List, Optional

import numpy as np

from millstream.framework import add_to_collection, convert_to_tensor, name_scope, scopes
from millstream.framework.proto_functions import register_proto_function
from millstream.programs import freezing, internals, mnist, stripping
from millstream.programs.inside import attributes, board_logging, combinations, data_structures, deprecations, distribution_helpers, draws, eager, entries, estimator_keys, exported, fetch_mappers, flows, frameworks, functional, graph_modules, hand_loops, meta_graphs, op_building, op_gradients, operator_sums, operator_tests, operators, parsed, parts_of_variables, pictures, pieces, ragged_modules, reports, rows, second_initializers, small_helpers, tables, testing, tracked, utilities
from millstream.programs.timeline import Timeline
from millstream.rnn import cells
from millstream.test.case import TestCase
from millstream.variables.defined_functions import Defun


DeviceAttributes = collections.namedtuple("DeviceAttributes", "name device_type memory_limit physical_device_desc incarnation")


def list_local_devices(session_config: Any = None) -> List[Any]:
    """Returns a list of one device, the CPU, with the fields of a `DeviceAttributes`."""
    return [DeviceAttributes("/device:CPU:0", "CPU", 256 << 20, "", 1)]


def name_from_scope_name(name: str) -> str:
    """Returns the name of an operation from that of its scope."""
    return name[:-1] if name.endswith("/") else name


def convert_n_to_tensor(values: Any, dtype: Any = None, name: Optional[str] = None, preferred_dtype: Any = None) -> List[Any]:
    """Converts each of several values to a tensor."""
    names = [None if name is None else "%s_%d" % (name, i) for i in range(len(values))]
    return [convert_to_tensor(v, dtype, n, preferred_dtype) for v, n in zip(values, names)]


@contextlib.contextmanager
def summary_scope(name: str, family: Optional[str] = None, default_name: Optional[str] = None, values: Any = None) -> Iterator[Any]:
    """A name scope for a summary: yields its tag and its scope."""
    base = name if family is None else "%s/%s" % (family, name)
    with name_scope(base, default_name, values) as scope:
        yield (scope if family is None else "%s/%s" % (family, scope)).rstrip("/"), scope


def collect(val: Any, collections: Any, default_collections: Any) -> None:  # noqa: F811
    """Adds a value to collections, or to the default ones."""
    for key in default_collections if collections is None else collections:
        add_to_collection(key, val)


def _mark(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """A decorator with arguments that returns what it decorates."""
    return lambda target: target


def _mode(target: Any = None, **kwargs: Any) -> Any:
    """A decorator of tests, with or without arguments, that returns what it decorates."""
    return (lambda inner: inner) if target is None else target


ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")


def getargspec(target: Any) -> Any:
    """Returns the arguments of a function: names, `*` and `**`, defaults."""
    found = inspect.getfullargspec(target)
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def fn_args(fn: Any) -> Any:
    """Returns the names of a function's arguments, without that of a method's object."""
    return tuple(inspect.signature(fn).parameters)


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Returns whether an array holds a number that is not finite: a filter of the debugger."""
    try:
        return not bool(np.isfinite(np.asarray(tensor, dtype=np.complex128)).all())
    except (TypeError, ValueError):
        return False


def _no_debugger(name: str) -> Any:
    """Returns a function that says what to use instead of a class of the debugger."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("`tensorflow.python.debug.%s` is a program of its own, and not part of Millstream: use `Session.watch` and `tf.every`" % name)

    return refuse


_DEBUGGER = {name: _no_debugger(name) for name in ("DumpingDebugHook", "DumpingDebugWrapperSession", "LocalCLIDebugHook", "LocalCLIDebugWrapperSession", "TensorBoardDebugHook", "TensorBoardDebugWrapperSession")}

_MNIST = {"DataSet": mnist.DataSet, "read_data_sets": mnist.read_data_sets, "load_mnist": mnist.load_mnist}

NAMES: Dict[str, Dict[str, Any]] = {
    "contrib.learn.python.learn.datasets.mnist": _MNIST,
    "examples.tutorials.mnist.input_data": _MNIST,
    "python.client.timeline": {"Timeline": Timeline},
    "python.client.device_lib": {"list_local_devices": list_local_devices},
    "python.debug": {**_DEBUGGER, "has_inf_or_nan": has_inf_or_nan},
    "python.tools.freeze_graph": {"freeze_graph": freezing.freeze_graph, "freeze_graph_with_def_protos": freezing.freeze_graph_with_def_protos},
    "python.framework.function": {"Defun": Defun},
    "python.framework.ops": {
        "name_from_scope_name": name_from_scope_name,
        "convert_n_to_tensor": convert_n_to_tensor,
        "prepend_name_scope": scopes.prepend_name_scope,
        "register_proto_function": register_proto_function,
        "strip_name_scope": scopes.strip_name_scope,
    },
    "python.framework.test_util": {
        "TensorFlowTestCase": TestCase,
        "run_v1_only": _mark,
    },
    "python.ops.rnn_cell_impl": {"_zero_state_tensors": cells._zeros},
    "python.ops.summary_op_util": {"collect": collect, "skip_summary": lambda: False, "summary_scope": summary_scope},
    "python.estimator.util": {"fn_args": fn_args},
    "python.util.function_utils": {"fn_args": fn_args},
    "python.util.keyword_args": {"keyword_args_only": _mode},
    "python.util.tf_export": {"tf_export": _mark, "keras_export": _mark},
    "python.util.tf_inspect": {"ArgSpec": ArgSpec, "getargspec": getargspec},
}

for _table in (attributes.NAMES, board_logging.NAMES, combinations.NAMES, estimator_keys.NAMES, fetch_mappers.NAMES, draws.NAMES, entries.NAMES, parsed.NAMES, pictures.NAMES, tables.NAMES, reports.NAMES, internals.NAMES, utilities.NAMES, deprecations.NAMES, eager.NAMES, flows.NAMES, frameworks.NAMES, functional.NAMES, hand_loops.NAMES, meta_graphs.NAMES, operators.NAMES, parts_of_variables.NAMES, pieces.NAMES, rows.NAMES, second_initializers.NAMES, testing.NAMES, op_gradients.NAMES, data_structures.NAMES, graph_modules.NAMES, operator_sums.NAMES, operator_tests.NAMES, ragged_modules.NAMES, distribution_helpers.NAMES, exported.NAMES, op_building.NAMES, small_helpers.NAMES, stripping.NAMES, tracked.NAMES):
    for _module, _names in _table.items():
        NAMES.setdefault(_module, {}).update(_names)
