"""More internal names of TensorFlow 1.15, each a few lines over what the package has: `NAMES`, by module."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import itertools
import os
import socket
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import numpy as np

from millstream import _engine, data, layers
from millstream.contrib import staging
from millstream.framework import (
    colocate_with,
    constant,
    convert_to_tensor,
    device,
    dtypes,
    get_collection,
    get_static_value,
    name_scope,
    nest,
    protos,
    shapes,
    switches,
)
from millstream.data import example_files, experimental
from millstream.framework.constant_values import constant_value_of_tensor_util
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.framework.session import Session
from millstream.framework.tensor_util import make_ndarray
from millstream.io import files as gfile
from millstream.io import records
from millstream.io.files import GFile
from millstream.io.summaries import FileWriter
from millstream.metrics.basic import metric_variable
from millstream.metrics.classes import streaming_confusion_matrix
from millstream.metrics.thresholds import counts_at_thresholds
from millstream.ops import array_ops, control_flow, indexing_ops
from millstream.rnn.networks import transpose_batch_time
from millstream.train import monitored_session, moving_averages, session_manager
from millstream.train.checkpoints import NewCheckpointReader
from millstream.train.optimizer import is_reference
from millstream.train.saver import Saver
from millstream.train.saver_builders import BaseSaverBuilder, BulkSaverBuilder
from millstream.variables import partitions, slots, state_ops, variable
from millstream.variables.initializers import zeros_initializer

# Loops and branches as functions ----------------------------------------------------------------------------


def _with_flow(on: bool, function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function, called with `tf.enable_control_flow_v2` on or off."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        before = switches.control_flow_v2_enabled()
        switches._set_control_flow_v2(on)
        try:
            return function(*args, **kwargs)
        finally:
            switches._set_control_flow_v2(before)

    return call


def enable_control_flow_v2(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator of a test, which runs with `tf.enable_control_flow_v2`."""
    return _with_flow(True, fn)


def disable_control_flow_v2(unused_msg: str) -> Callable[[Any], Any]:
    """Returns a decorator of a test that `with_control_flow_v2` does not repeat."""

    def decorated(fn: Any) -> Any:
        fn._disable_control_flow_v2 = True
        return fn

    return decorated


def with_control_flow_v2(cls: Any) -> Any:
    """A decorator of a class of tests: each test runs once more with `tf.enable_control_flow_v2`."""
    if switches.control_flow_v2_enabled():
        return cls
    for name, value in dict(vars(cls)).items():
        if callable(value) and name.startswith("test") and not getattr(value, "_disable_control_flow_v2", False):
            setattr(cls, name + "WithControlFlowV2", _with_flow(True, value))
    return cls


# Branches that are known ------------------------------------------------------------------------------------


def smart_constant_value(pred: Any) -> Any:
    """Returns the value of a predicate if it is known, else None.

    Raises:
      TypeError: It is neither a bool, 0, 1, nor a tensor.
    """
    if isinstance(pred, (bool, int)) and pred in (0, 1):
        return bool(pred)
    if not hasattr(pred, "op"):
        raise TypeError("`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: %s" % type(pred))
    return get_static_value(pred)


def smart_cond(pred: Any, true_fn: Optional[Callable[[], Any]] = None, false_fn: Optional[Callable[[], Any]] = None, name: Optional[str] = None) -> Any:
    """Returns the result of the branch that is taken; a `tf.cond` if that is not known.

    Raises:
      TypeError: A branch is not callable.
    """
    for word, branch in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(branch):
            raise TypeError("`%s` must be callable." % word)
    known = smart_constant_value(pred)
    if known is None:
        return control_flow.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return (true_fn if known else false_fn)()  # type: ignore[misc]


def _smart_cond_of_layers(pred: Any, fn1: Optional[Callable[[], Any]] = None, fn2: Optional[Callable[[], Any]] = None, name: Optional[str] = None) -> Any:
    return smart_cond(pred, fn1, fn2, name)


# Arguments of layers ----------------------------------------------------------------------------------------


def normalize_tuple(value: Any, n: int, name: str) -> Tuple[int, ...]:
    """Returns a tuple of `n` integers: the value, or `n` times an integer.

    Raises:
      ValueError: It is neither.
    """
    if isinstance(value, int):
        return (value,) * n
    words = "The `%s` argument must be a tuple of %d integers. Received: %s" % (name, n, value)
    try:
        found = tuple(value)
    except TypeError:
        raise ValueError(words) from None
    if len(found) != n:
        raise ValueError(words)
    for one in found:
        try:
            int(one)
        except (ValueError, TypeError):
            raise ValueError(words + " including element %s of type %s" % (one, type(one))) from None
    return found


def normalize_data_format(value: str) -> str:
    """Returns `"channels_first"` or `"channels_last"`.

    Raises:
      ValueError: It is another word.
    """
    if value.lower() not in ("channels_first", "channels_last"):
        raise ValueError('The `data_format` argument must be one of "channels_first", "channels_last". Received: %s' % value.lower())
    return value.lower()


def normalize_padding(value: str) -> str:
    """Returns `"valid"` or `"same"`.

    Raises:
      ValueError: It is another word.
    """
    if value.lower() not in ("valid", "same"):
        raise ValueError('The `padding` argument must be one of "valid", "same". Received: %s' % value.lower())
    return value.lower()


def convert_data_format(data_format: str, ndim: int) -> str:
    """Returns the data format of an op, such as `"NHWC"`, for inputs of a rank.

    Raises:
      ValueError: The rank is none of 3, 4 and 5, or the format is another word.
    """
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError("Invalid data_format: %s" % data_format)
    if ndim not in (3, 4, 5):
        raise ValueError("Input rank not supported: %s" % ndim)
    axes = "DHW"[5 - ndim :]
    return "NC" + axes if data_format == "channels_first" else "N" + axes + "C"


def conv_output_length(input_length: Optional[int], filter_size: int, padding: str, stride: int, dilation: int = 1) -> Optional[int]:
    """Returns the length of the output of a convolution."""
    if input_length is None:
        return None
    size = filter_size + (filter_size - 1) * (dilation - 1)
    length = {"same": input_length, "valid": input_length - size + 1, "full": input_length + size - 1}[padding]
    return (length + stride - 1) // stride


def conv_input_length(output_length: Optional[int], filter_size: int, padding: str, stride: int) -> Optional[int]:
    """Returns the least length of the input of a convolution."""
    if output_length is None:
        return None
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


def deconv_output_length(input_length: Optional[int], filter_size: int, padding: str, stride: int) -> Optional[int]:
    """Returns the length of the output of a transposed convolution."""
    if input_length is None:
        return None
    length = input_length * stride
    if padding == "valid":
        length += max(filter_size - stride, 0)
    return length - (stride + filter_size - 2) if padding == "full" else length


# Files ------------------------------------------------------------------------------------------------------


def read_file_to_string(filename: str, binary_mode: bool = False) -> Any:
    """Returns the contents of a file."""
    with GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: str, file_content: Any) -> None:
    """Writes a file."""
    with GFile(filename, "wb" if isinstance(file_content, bytes) else "w") as file:
        file.write(file_content)


def get_matching_files(filename: Any) -> List[str]:
    """Returns the files that match a pattern or one of several."""
    return list(gfile.Glob(filename))


def file_io(name: str, mode: str) -> Any:
    """Returns an open file."""
    return GFile(name, mode)


# Graphs and operations --------------------------------------------------------------------------------------


def internal_convert_to_tensor(
    value: Any, dtype: Any = None, name: Optional[str] = None, as_ref: bool = False, preferred_dtype: Any = None, ctx: Any = None, **kwargs: Any
) -> Any:
    """Converts a value to a tensor."""
    return convert_to_tensor(value, dtype, name, preferred_dtype)


def _saver_or_default() -> Any:
    """Returns the graph's saver, or makes one."""
    return monitored_session.Scaffold.get_or_default("saver", GraphKeys.SAVERS, lambda: Saver(sharded=True, allow_empty=True))


def _of_type(*kinds: str) -> Callable[[Any], bool]:
    return lambda operation: operation.type in kinds


def _is_cond_switch(operation: Any) -> bool:
    return operation.type in ("Switch", "RefSwitch") and not _is_loop_switch(operation)


def _is_loop_switch(operation: Any) -> bool:
    return operation.type in ("Switch", "RefSwitch") and operation.inputs[1].op.type == "LoopCond"


def _is_loop_merge(operation: Any) -> bool:
    return operation.type in ("Merge", "RefMerge") and any(x.op.type in ("Enter", "RefEnter") for x in operation.inputs)


def _is_loop_constant_enter(operation: Any) -> bool:
    return operation.type in ("Enter", "RefEnter") and operation.get_attr("is_constant")


def _loop_constant_enter(value: Any) -> Any:
    """Returns the `Enter` through which a constant of a loop comes in, or None."""
    operation = value.op
    while operation.type in ("Switch", "RefSwitch", "Identity", "RefIdentity"):
        operation = operation.inputs[0].op
    return operation if _is_loop_constant_enter(operation) else None


def _is_cond_merge(operation: Any) -> bool:
    return operation.type in ("Merge", "RefMerge") and all(c is not None and c.IsCondContext() for c in (x.op._get_control_flow_context() for x in operation.inputs))


def _context(operation: Any) -> Any:
    """Returns the loop or branch of an operation. TensorFlow puts an `Exit` in the loop that it leaves."""
    leaves = operation.type in ("Exit", "RefExit")
    return (operation.inputs[0].op if leaves else operation)._get_control_flow_context()


def _containing_while_context(ctxt: Any, stop_ctxt: Any = None) -> Any:
    """Returns the innermost loop around a context, or `stop_ctxt` if it comes first."""
    while ctxt is not None and not ctxt.IsWhileContext() and ctxt is not stop_ctxt:
        ctxt = ctxt.outer_context
    return ctxt


def _check_input_from_valid_context(operation: Any, input_op: Any) -> None:
    """Checks that an operation may use what another makes.

    Raises:
      ValueError: The other lies in a loop that the operation is not in.
    """
    here = _containing_while_context(_context(operation))
    there = _containing_while_context(input_op._get_control_flow_context())
    if there is None or _is_containing_context(here, there) or operation.type in ("Enter", "RefEnter", "Switch", "RefSwitch") and here is None:
        return
    why = "'%s' is in a while loop" % input_op.name if here is None else "they are in different while loops"
    raise ValueError("Cannot use '%s' as input to '%s' because %s. See info log for more details." % (input_op.name, operation.name, why))


def _containing_cond_context(ctxt: Any) -> Any:
    while ctxt is not None and not ctxt.IsCondContext():
        ctxt = ctxt.outer_context
    return ctxt


def _is_containing_context(ctxt: Any, maybe_containing_ctxt: Any) -> bool:
    """Returns whether a context is another or lies in it; None contains all."""
    while ctxt is not maybe_containing_ctxt:
        if ctxt is None:
            return False
        ctxt = ctxt.outer_context
    return True


def _in_context(operation: Any, ctxt: Any) -> bool:
    return _is_containing_context(_context(operation), ctxt)


def shape_tensor(shape: Any) -> Any:
    """Converts a shape to a tensor of integers."""
    dtype = None
    if isinstance(shape, (tuple, list)):
        shape = [dim.value if hasattr(dim, "value") and not hasattr(dim, "op") else dim for dim in shape]
        # Sizes are of int32, unless one is larger or no integer.
        fits = all(isinstance(dim, (int, np.integer)) and -(2**31) <= dim < 2**31 for dim in shape)
        dtype = dtypes.int32 if fits else None
    return convert_to_tensor(shape, dtype, name="shape")


def _is_resource(primary: Any) -> bool:
    return isinstance(primary, variable.Variable) and not is_reference(primary)


def create_slot(primary: Any, val: Any, name: str, colocate_with_primary: bool = True) -> Any:
    """Returns a slot of a variable or tensor that begins with a value."""
    known = val.get_shape().is_fully_defined()
    return slots.create_slot(primary, val, name, val.dtype.base_dtype, known, _is_resource(primary))


def create_slot_with_initializer(
    primary: Any, initializer: Any, shape: Any, dtype: Any, name: str, colocate_with_primary: bool = True
) -> Any:
    """Returns a slot of a variable or tensor that an initializer gives its value."""
    known = shape.is_fully_defined()
    return slots.create_slot(primary, initializer, name, dtype, known, _is_resource(primary), shape)


def create_zeros_slot(primary: Any, name: str, dtype: Any = None, colocate_with_primary: bool = True) -> Any:
    """Returns a variable of the shape of another, which begins with zeros."""
    dtype = (primary.dtype if dtype is None else dtype).base_dtype
    if primary.get_shape().is_fully_defined():
        return create_slot_with_initializer(primary, zeros_initializer(dtype), primary.get_shape(), dtype, name)
    initial = array_ops.zeros(array_ops.shape(primary.initialized_value() if isinstance(primary, variable.Variable) else primary), dtype)
    return create_slot(primary, initial, name)


def print_tensors_in_checkpoint_file(
    file_name: str, tensor_name: Optional[str], all_tensors: bool, all_tensor_names: bool = False, count_exclude_pattern: str = ""
) -> None:
    """Prints the names, and if asked for the values, of the tensors in a checkpoint."""
    reader = NewCheckpointReader(file_name)
    shapes = reader.get_variable_to_shape_map()
    if not (all_tensors or all_tensor_names) and tensor_name:
        print("tensor_name: ", tensor_name)
        print(reader.get_tensor(tensor_name))
        return
    if not (all_tensors or all_tensor_names):
        for name in sorted(shapes):
            print("%s (%s)" % (name, ",".join(str(n) for n in shapes[name])))
        return
    for name in sorted(shapes):
        print("tensor_name: ", name)
        if all_tensors:
            print(reader.get_tensor(name))


# Decorators and the like ------------------------------------------------------------------------------------


def should_use_result(fn: Any = None, warn_in_eager: bool = False, error_in_function: bool = False) -> Any:
    """Returns the function: nothing watches whether a result is used."""
    return (lambda inner: inner) if fn is None else fn


def remove_undocumented(module_name: str, allowed_exception_list: Any = None, doc_string_modules: Any = None) -> None:
    """Does nothing: it hides names of TensorFlow's modules."""


def make_all(module_name: str, doc_string_modules: Any = None) -> List[str]:
    """Returns the public names of a module."""
    return [name for name in dir(importlib.import_module(module_name)) if not name.startswith("_")]


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Returns whether programs of a day are understood: those of 1.15.5."""
    return (year, month, day) < (2019, 9, 30)


def get_func_name(func: Any) -> str:
    """Returns the name of a function."""
    return getattr(func, "__name__", type(func).__name__)


def has_kwargs(fn: Any) -> bool:
    """Returns whether a function takes any keyword argument."""
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(fn).parameters.values())


_ALIASES = {
    "Convolution": "Conv",
    "Deconvolution2D": "Conv2DTranspose",
    "Deconv2D": "Conv2DTranspose",
    "Deconvolution3D": "Conv3DTranspose",
    "Deconv3D": "Conv3DTranspose",
    "deconvolution2d": "conv2d_transpose",
    "deconv2d": "conv2d_transpose",
    "deconvolution3d": "conv3d_transpose",
    "deconv3d": "conv3d_transpose",
}


def _convolutions() -> Dict[str, Any]:
    """Returns the layers of convolutions by their long names."""
    found: Dict[str, Any] = {}
    for n in ("1d", "2d", "3d"):
        for old, new in (("convolution", "conv"), ("Convolution", "Conv")):
            end = n.upper() if old[0] == "C" else n
            found[old + end] = getattr(layers, new + end)
    found.update({old: getattr(layers, new) for old, new in _ALIASES.items() if hasattr(layers, new)})
    found.update({"convolution%dd_transpose" % n: getattr(layers, "conv%dd_transpose" % n) for n in (2, 3)})
    found.update({"Convolution%dDTranspose" % n: getattr(layers, "Conv%dDTranspose" % n) for n in (2, 3)})
    found.update({"SeparableConvolution2D": layers.SeparableConv2D, "separable_convolution2d": layers.separable_conv2d})
    return found


_FILES = {
    "FileIO": file_io,
    "copy": gfile.Copy,
    "create_dir": gfile.MkDir,
    "delete_file": gfile.Remove,
    "delete_recursively": gfile.DeleteRecursively,
    "file_exists": gfile.Exists,
    "get_matching_files": get_matching_files,
    "is_directory": gfile.IsDirectory,
    "list_directory": gfile.ListDirectory,
    "read_file_to_string": read_file_to_string,
    "recursive_create_dir": gfile.MakeDirs,
    "rename": gfile.Rename,
    "stat": gfile.Stat,
    "walk": gfile.Walk,
    "write_string_to_file": write_string_to_file,
}

# Shapes of ops ----------------------------------------------------------------------------------------------


def unknown_shape(op: Any) -> List[Any]:
    """Returns a shape for each output of an operation, of which nothing is known."""
    return [shapes.TensorShape(None) for _ in op.outputs]


def scalar_shape(unused_op: Any) -> List[Any]:
    """Returns the shape of a scalar."""
    return [shapes.TensorShape([])]


def unchanged_shape(op: Any) -> List[Any]:
    """Returns the shape of an operation's input."""
    return [op.inputs[0].get_shape()]


def rank(tensor: Any) -> Optional[int]:
    """Returns the rank of a tensor, or None if it is not known."""
    return convert_to_tensor(tensor).shape.ndims  # type: ignore[no-any-return]


def has_fully_defined_shape(tensor: Any) -> bool:
    """Returns whether the shape of a tensor is known."""
    return bool(convert_to_tensor(tensor).shape.is_fully_defined())


def get_registered_ops() -> Dict[str, Any]:
    """Returns the `OpDef`s of all ops, by name."""
    return {name: protos.OpDef.FromString(_engine.op_def(name)) for name in _engine.op_names()}


# Files of events -------------------------------------------------------------------------------------------


class EventsWriter:
    """Writes events to a file whose name begins with a prefix. The first event tells the version of the file.

    A `FileWriter` writes to a directory, under a name of its own.
    """

    def __init__(self, file_prefix: Any) -> None:
        now = time.time()
        self._path = f"{os.fsdecode(file_prefix)}.out.tfevents.{int(now):010d}.{socket.gethostname()}"
        self._out: Any = None
        self._began = now

    def _open(self) -> Any:
        if self._out is None:
            self._out = open(self._path, "wb")
            records.write_record(self._out, protos.Event(wall_time=self._began, file_version="brain.Event:2").SerializeToString())
        return self._out

    def Init(self) -> bool:  # noqa: N802
        """Opens the file."""
        self._open()
        return True

    def FileName(self) -> str:  # noqa: N802
        """Returns the name of the file, which is then opened."""
        self._open()
        return self._path

    def WriteEvent(self, event: Any) -> None:  # noqa: N802
        """Writes an `Event`."""
        records.write_record(self._open(), event.SerializeToString())

    def Flush(self) -> bool:  # noqa: N802
        """Writes what is buffered."""
        self._open().flush()
        return True

    def Close(self) -> bool:  # noqa: N802
        """Closes the file."""
        self._open().close()
        return True


# Resources --------------------------------------------------------------------------------------------------


def shared_resources() -> List[Any]:
    """Returns the registered resources that sessions share: none, since ops make them when they run."""
    return get_collection(GraphKeys.RESOURCES)


def local_resources() -> List[Any]:
    """Returns the registered resources of a session: none, since ops make them when they run."""
    return get_collection(GraphKeys.LOCAL_RESOURCES)


def initialize_resources(resource_list: List[Any], name: str = "init") -> Any:
    """Returns the operation that makes registered resources."""
    if not resource_list:
        return control_flow.no_op(name=name)
    return control_flow.group(*[resource.create for resource in resource_list], name=name)


def report_uninitialized_resources(resource_list: Optional[List[Any]] = None, name: str = "report_uninitialized_resources") -> Any:
    """Returns a vector of the names of registered resources that are not initialized."""
    resources = shared_resources() + local_resources() if resource_list is None else resource_list
    with name_scope(name), device("/cpu:0"):
        if not resources:
            return constant([], dtypes.string)
        there = op("LogicalNot")(array_ops.stack([resource.is_initialized for resource in resources]))
        return indexing_ops.boolean_mask(constant([resource.handle.name for resource in resources]), there)


# Slices -----------------------------------------------------------------------------------------------------


def deduplicate_indexed_slices(values: Any, indices: Any) -> Tuple[Any, Any]:
    """Returns slices of which those of equal indices are summed, and the indices without repetitions."""
    unique, positions = array_ops.unique(indices)
    return op("UnsortedSegmentSum")(values, positions, array_ops.shape(unique)[0]), unique


# Layers -----------------------------------------------------------------------------------------------------


def object_list_uid(object_list: Any) -> str:
    """Returns a text that tells lists of objects apart."""
    return ", ".join(str(abs(id(x))) for x in nest.flatten(object_list))


def static_shape(x: Any) -> Any:
    """Returns the static shape of a tensor as a tuple; None if its rank is not known, or for None."""
    if x is None or x.get_shape().ndims is None:
        return None
    return tuple(x.get_shape().as_list())


def get_reachable_from_inputs(inputs: List[Any], targets: Any = None) -> Any:
    """Returns the set of the inputs and of the tensors that are computed from them, up to the targets."""
    reachable, queue = set(inputs), list(inputs)
    while queue:
        x = queue.pop()
        for consumer in [x.op] if isinstance(x, variable.Variable) else x.consumers():
            for y in consumer.outputs:
                if y not in reachable:
                    reachable.add(y)
                    queue.insert(0, y)
        if targets and set(targets).issubset(reachable):
            return reachable
    return reachable


# Values ---------------------------------------------------------------------------------------------------


_numbers = itertools.count()


def uid() -> int:
    """Returns a number that this function has not returned before."""
    return next(_numbers)


_DENSE: List[Any] = [_engine.Tensor, variable.Variable]


def is_dense_tensor_like(t: Any) -> bool:
    """Returns whether a value is a tensor, a variable, or of a class that was registered as one."""
    return isinstance(t, tuple(_DENSE))


def init_variable(v: Any, init: Any, name: str = "init") -> Any:
    """Returns the operation that assigns a variable a tensor, or what an initializer makes."""
    with name_scope(None, v.op.name + "/", [v, init]), name_scope(name) as scope, colocate_with(v):
        if callable(init):
            if not v.get_shape().is_fully_defined():
                raise ValueError("init_variable: the shape of %s is %s; a function that makes its first value needs a known one" % (v.name, v.get_shape()))
            value = convert_to_tensor(init(v.get_shape().as_list(), v.dtype.base_dtype), name="value")
        else:
            value = convert_to_tensor(init, name="init")
        return state_ops.assign(v, value, name=scope)


NAMES: Dict[str, Dict[str, Any]] = {
    "python.ops.state_ops": {"init_variable": init_variable},
    "python.training.moving_averages": {"weighted_moving_average": moving_averages.weighted_moving_average},
    "python.training.optimizer": {"_deduplicate_indexed_slices": deduplicate_indexed_slices},
    "python.ops.resources": {
        "report_uninitialized_resources": report_uninitialized_resources,
        "initialize_resources": initialize_resources,
        "local_resources": local_resources,
        "shared_resources": shared_resources,
    },
    "python.pywrap_tensorflow": {"EventsWriter": EventsWriter},
    "python.pywrap_tensorflow_internal": {"EventsWriter": EventsWriter},
    "python.client.session": {"BaseSession": Session},
    "python.compat.compat": {"forward_compatible": forward_compatible},
    "python.framework.ops": {
        "convert_to_tensor_v2": convert_to_tensor,
        "internal_convert_to_tensor": internal_convert_to_tensor,
        "is_dense_tensor_like": is_dense_tensor_like,
        "uid": uid,
    },
    "python.framework.common_shapes": {
        "broadcast_shape": array_ops.broadcast_static_shape,
        "has_fully_defined_shape": has_fully_defined_shape,
        "rank": rank,
        "scalar_shape": scalar_shape,
        "unchanged_shape": unchanged_shape,
        "unknown_shape": unknown_shape,
    },
    "python.framework.op_def_registry": {"get_registered_ops": get_registered_ops},
    "python.framework.smart_cond": {"smart_cond": smart_cond, "smart_constant_value": smart_constant_value},
    "python.framework.tensor_util": {"MakeNdarray": make_ndarray, "constant_value": constant_value_of_tensor_util, "shape_tensor": shape_tensor},
    "python.layers.base": {"_Layer": layers.Layer},
    "python.layers.convolutional": _convolutions(),
    "python.layers.core": {"FullyConnected": layers.Dense, "fully_connected": layers.dense},
    "python.layers.normalization": {"BatchNorm": layers.BatchNormalization, "batch_norm": layers.batch_normalization},
    "python.layers.pooling": {
        "AvgPool2D": layers.AveragePooling2D,
        "MaxPool2D": layers.MaxPooling2D,
        "avg_pool2d": layers.average_pooling2d,
        "max_pool2d": layers.max_pooling2d,
    },
    "python.layers.utils": {
        "constant_value": smart_constant_value,
        "conv_input_length": conv_input_length,
        "conv_output_length": conv_output_length,
        "convert_data_format": convert_data_format,
        "deconv_output_length": deconv_output_length,
        "get_reachable_from_inputs": get_reachable_from_inputs,
        "normalize_data_format": normalize_data_format,
        "normalize_padding": normalize_padding,
        "normalize_tuple": normalize_tuple,
        "object_list_uid": object_list_uid,
        "smart_cond": _smart_cond_of_layers,
        "static_shape": static_shape,
    },
    "python.lib.io.file_io": _FILES,
    "python.framework.test_util": {
        "disable_control_flow_v2": disable_control_flow_v2,
        "enable_control_flow_v2": enable_control_flow_v2,
        "with_control_flow_v2": with_control_flow_v2,
    },
    "python.ops.control_flow_util": {
        "EnableControlFlowV2": lambda graph: switches.control_flow_v2_enabled(),
        "CheckInputFromValidContext": _check_input_from_valid_context,
        "GetContainingCondContext": _containing_cond_context,
        "GetContainingWhileContext": _containing_while_context,
        "GetContainingXLAContext": lambda ctxt: None,
        "GetLoopConstantEnter": _loop_constant_enter,
        "GetOutputContext": lambda op: op._get_control_flow_context(),
        "GetWhileContext": lambda op: _containing_while_context(_context(op)),
        "GraphOrParentsInXlaContext": lambda graph: False,
        "InXlaContext": lambda graph: False,
        "IsCondMerge": _is_cond_merge,
        "IsCondSwitch": _is_cond_switch,
        "IsContainingContext": _is_containing_context,
        "IsInCond": lambda op: _containing_cond_context(_context(op)) is not None,
        "IsInWhileLoop": lambda op: _containing_while_context(_context(op)) is not None,
        "IsInXLAContext": lambda op: False,
        "IsLoopConstantEnter": _is_loop_constant_enter,
        "IsLoopEnter": _of_type("Enter", "RefEnter"),
        "IsLoopExit": _of_type("Exit", "RefExit"),
        "IsLoopMerge": _is_loop_merge,
        "IsLoopSwitch": _is_loop_switch,
        "IsMerge": _of_type("Merge", "RefMerge"),
        "IsSwitch": _of_type("Switch", "RefSwitch"),
        "OpInContext": _in_context,
        "TensorInContext": lambda tensor, ctxt: _in_context(tensor.op, ctxt),
    },
    "python.data.ops.dataset_ops": {
        "DatasetSpec": data.DatasetSpec,
        "DatasetV1": data.Dataset,
        "DatasetV2": data.Dataset,
        "from_variant": experimental.from_variant,
        "get_legacy_output_classes": data.get_output_classes,
        "get_legacy_output_shapes": data.get_output_shapes,
        "get_legacy_output_types": data.get_output_types,
        "get_structure": experimental.get_structure,
        "to_variant": experimental.to_variant,
    },
    "python.data.ops.readers": {
        name + version: getattr(data, name)
        for name in ("FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset")
        for version in ("V1", "V2")
    },
    "python.data.experimental.ops.readers": {
        "CsvDatasetV1": experimental.CsvDataset,
        "CsvDatasetV2": experimental.CsvDataset,
        "make_batched_features_dataset_v1": experimental.make_batched_features_dataset,
        "make_batched_features_dataset_v2": experimental.make_batched_features_dataset,
        "make_csv_dataset_v1": experimental.make_csv_dataset,
        "make_csv_dataset_v2": experimental.make_csv_dataset,
        "make_tf_record_dataset": example_files.make_tf_record_dataset,
    },
    "python.ops.data_flow_ops": {"MapStagingArea": staging.MapStagingArea, "StagingArea": staging.StagingArea},
    "python.ops.rnn": {"_transpose_batch_time": transpose_batch_time},
    "python.ops.rnn_cell_impl": {"_BIAS_VARIABLE_NAME": "bias", "_WEIGHTS_VARIABLE_NAME": "kernel"},
    "python.ops.variables": {"PartitionedVariable": partitions.PartitionedVariable},
    "python.tf2": {"enabled": lambda: False},
    "python.tools.inspect_checkpoint": {"print_tensors_in_checkpoint_file": print_tensors_in_checkpoint_file},
    "python.saved_model.tag_constants": {"EVAL": "eval"},
    "python.training.saver": {
        "BaseSaverBuilder": BaseSaverBuilder,
        "BulkSaverBuilder": BulkSaverBuilder,
        "_get_saver_or_default": _saver_or_default,
    },
    "python.training.session_manager": {"_ready": session_manager._ready},
    "python.training.slot_creator": {
        "create_slot": create_slot,
        "create_slot_with_initializer": create_slot_with_initializer,
        "create_zeros_slot": create_zeros_slot,
    },
    "python.ops.metrics_impl": {
        "_confusion_matrix_at_thresholds": counts_at_thresholds,
        "_streaming_confusion_matrix": streaming_confusion_matrix,
        "metric_variable": metric_variable,
    },
    "python.training.summary_io": {"SummaryWriter": FileWriter},
    "python.util.all_util": {"make_all": make_all, "remove_undocumented": remove_undocumented},
    "python.util.function_utils": {"get_func_name": get_func_name, "has_kwargs": has_kwargs},
    "python.util.tf_should_use": {"should_use_result": should_use_result},
}
