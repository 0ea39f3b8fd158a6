"""Internal modules about graphs and their operations: subscriptions, messages of errors, control
dependencies.

`NAMES` holds their names by module.
"""

from __future__ import annotations

import collections
import functools
import inspect
import linecache
import os
import re
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from millstream._engine import Tensor
from millstream.framework import control_dependencies, convert_to_tensor, device, dtypes, get_default_graph, name_scope, nest, protos
from millstream.framework.op_functions import op
from millstream.framework.session import get_default_session
from millstream.ops import array_ops, control_flow, random_ops, reduction_ops
from millstream.test.case import TestCase

# Subscriptions (`python.framework.subscribe`) ---------------------------------------------------------------

_AGAIN = "subscription"


def _is_subscribed(tensor: Any) -> bool:
    """Returns whether a tensor is one that `subscribe` has put in the place of another."""
    return tensor.op.type == "Identity" and bool(re.search(r"(^|/)%s/Identity(_\d+)?$" % _AGAIN, tensor.op.name) or tensor.op.name.endswith("_subscribed"))


def _watchers(tensor: Any, side_effects: Any) -> List[Any]:
    found: List[Any] = []
    for effect in side_effects:
        made = effect(tensor)
        if made is None:
            continue
        found += list(made) if isinstance(made, (list, tuple)) else [made]
    return [one.op if isinstance(one, Tensor) else one for one in found]


def _subscribed(tensor: Any, side_effects: Any) -> Any:
    if _is_subscribed(tensor):
        tensor.op._add_control_inputs(_watchers(tensor.op.inputs[0], side_effects))
        return tensor
    done = [c.outputs[0] for c in tensor.consumers() if c.type == "Identity" and c.name.startswith(tensor.op.name + "/") and _is_subscribed(c.outputs[0])]
    if done:
        return _subscribed(done[0], side_effects)
    graph = tensor.graph
    consumers = [(c, i) for c in tensor.consumers() for i, x in enumerate(c.inputs) if x is tensor]
    after = [c for c in tensor.op._control_outputs if c not in tensor.consumers()]
    context = tensor.op._get_control_flow_context()
    before = graph._get_control_flow_context()
    with graph.as_default(), control_dependencies(None), device(tensor.device):
        # The side effects run where the tensor is computed: within its loop or branch.
        graph._set_control_flow_context(context)
        try:
            with name_scope(tensor.op.name + "/%s/" % _AGAIN):
                effects = _watchers(tensor, side_effects)
                with control_dependencies(effects):
                    made = array_ops.identity(tensor)
        finally:
            graph._set_control_flow_context(before)
    for consumer, index in set(consumers):
        consumer._update_input(index, made)
    for operation in after:
        operation._add_control_inputs([made.op])
    return made


def subscribe(tensors: Any, side_effects: Any) -> Any:
    """Adds side effects to tensors: they run whenever a reader of the tensor does.

    Args:
      tensors: A tensor, or a structure of tensors.
      side_effects: A function of a tensor that returns an operation, or a list of such functions.

    Returns:
      The tensors that take the place of the given ones, in their structure. Operations that read one of the
      given tensors read these.

    Raises:
      TypeError: A leaf of the structure is no tensor.
    """
    effects = side_effects if isinstance(side_effects, (list, tuple)) else [side_effects]

    def each(value: Any) -> Any:
        if isinstance(value, dict):
            return type(value)((key, each(one)) for key, one in value.items())
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*[each(one) for one in value])
        if isinstance(value, (list, tuple)):
            return type(value)([each(one) for one in value])
        if not isinstance(value, Tensor):
            raise TypeError("subscribe: Expected a Tensor or a structure of tensors, found %s of type %s" % (value, type(value)))
        return _subscribed(value, effects)

    return each(tensors)


# Messages of errors (`python.framework.error_interpolation`) ------------------------------------------------

_ParseTag = collections.namedtuple("_ParseTag", ["type", "name"])
_TAG = re.compile(r"\{\{(\w+) ([A-Za-z0-9._][A-Za-z0-9_.\-/]*)\}\}")


def parse_message(message: str) -> Tuple[List[str], List[Any]]:
    """Returns the texts around the tags `{{node name}}` of a message, and the tags.

    There is one text more than there are tags.
    """
    texts, tags, at = [], [], 0
    for match in _TAG.finditer(message):
        texts.append(message[at : match.start()])
        tags.append(_ParseTag(match.group(1), match.group(2)))
        at = match.end()
    return [*texts, message[at:]], tags


def traceback_files_common_prefix(all_ops: Any) -> str:
    """Returns the folder that all files of the operations' tracebacks are in, with a separator at its end."""
    files = {frame[0] for ops in all_ops if ops is not None for one in ops for frame in one.traceback or [] if "<embedded" not in frame[0]}
    return os.path.join(os.path.split(os.path.commonprefix(sorted(files)))[0], "") if files else ""


_OURS = os.sep + "millstream" + os.sep


def _find_index_of_defining_frame_for_op(operation: Any) -> int:
    """Returns the place in an operation's traceback of the frame that a user wrote: the last one outside
    the package.
    """
    frames = list(operation.traceback)
    for i in range(len(frames) - 1, -1, -1):
        if _OURS not in os.path.abspath(frames[i][0]) and "tensorflow" + os.sep not in frames[i][0]:
            return i
    return 0


def _get_defining_frame_from_op(operation: Any) -> Any:
    """Returns the frame of an operation's traceback that a user wrote."""
    return operation.traceback[_find_index_of_defining_frame_for_op(operation)]


def _compute_useful_frames(operation: Any, num: int) -> List[Any]:
    """Returns `num` frames around the one that a user wrote."""
    at = _find_index_of_defining_frame_for_op(operation)
    begin = max(at - num + 1, 0)
    return list(operation.traceback)[begin : begin + num] if begin else list(operation.traceback)[: max(num, at + 1)][-num:]


def compute_field_dict(operation: Any, strip_file_prefix: str = "") -> Dict[str, str]:
    """Returns what is told about an operation, by field: where it was defined, its device and its
    colocations.
    """
    frame = _get_defining_frame_from_op(operation)
    file = frame[0]
    if strip_file_prefix and file.startswith(strip_file_prefix):
        file = file[len(strip_file_prefix) :]
    placed = "No device assignments were active during op '%s' creation." % operation.name
    if operation.device:
        placed = "Device assignments active during op '%s' creation:\n%s" % (operation.name, operation.device)
    groups = [name.decode().replace("loc:@", "") for name in operation.colocation_groups() if name.decode() != "loc:@" + operation.name]
    together = "No node-device colocations were active during op '%s' creation." % operation.name
    if groups:
        together = "Node-device colocations active during op '%s' creation:\n%s" % (operation.name, "\n".join("  with tf.colocate_with(%s)" % name for name in groups))
    return {
        "file": file,
        "line": str(frame[1]),
        "defined_at": " (defined at %s:%d)" % (file, frame[1]),
        "devs_and_colocs": "%s\n%s" % (together, placed),
        "devices": placed,
        "colocations": together,
    }


def _sources_for_node(name: str, graph: Any) -> Any:
    """Returns the placeholders, constants and variables that a node reads directly."""
    try:
        node = graph.get_operation_by_name(name)
    except (KeyError, ValueError):
        return set()
    return {x.op for x in node.inputs} | set(node.control_inputs)


def _build_error_message(operation: Any, input_ops: Any, common_prefix: str) -> str:
    """Returns where an operation and those that it reads were defined."""
    text = "node %s%s" % (operation.name, compute_field_dict(operation, common_prefix)["defined_at"])
    if not input_ops:
        return text
    lines = ["  %s%s" % (one.name, compute_field_dict(one, common_prefix)["defined_at"]) for one in sorted(input_ops, key=lambda one: one.name)]
    return "%s, with input source operations:\n%s" % (text, "\n".join(lines))


def interpolate(error_message: str, graph: Any) -> str:
    """Returns a message in which tags, such as `{{node Add}}`, are replaced by where the node was defined.

    A tag of a node that the graph lacks, or that is none of a node, stays.
    """
    texts, tags = parse_message(error_message)
    made = texts[0]
    told: List[str] = []
    for tag, text in zip(tags, texts[1:]):
        node = None
        if tag.type in ("node", "colocation_node", "function_node"):
            try:
                node = graph.get_operation_by_name(tag.name)
            except (KeyError, ValueError):
                node = None
        if node is None or not node.traceback:
            made += "{{%s %s}}%s" % (tag.type, tag.name, text)
            continue
        fields = compute_field_dict(node)
        if tag.type == "colocation_node":
            made += "node %s%s placed on device %s %s" % (node.name, fields["defined_at"], fields["devices"], text)
            told.append("%s\n%s" % (fields["colocations"], fields["devices"]))
        else:
            made += "node %s%s %s" % (node.name, fields["defined_at"], text)
    return made + "".join("Additional information about colocations:" + one for one in told)


def create_graph_debug_info_def(operations: Any) -> Any:
    """Returns a `GraphDebugInfo` with the tracebacks of operations, given as pairs of a function's name
    and an operation.
    """
    found = protos.GraphDebugInfo()
    files: Dict[str, int] = {}
    for function, operation in operations:
        trace = found.traces["%s@%s" % (operation.name, function)]
        for frame in operation.traceback or []:
            number = files.setdefault(frame[0], len(files))
            trace.file_line_cols.add(file_index=number, line=frame[1], func=frame[2], code=frame[3] or "")
    found.files.extend(files)
    return found


# Arrays as messages (`python.framework.fast_tensor_util`) ---------------------------------------------------

# The dtype of the elements, and the field of a `TensorProto` that holds them.
_FIELDS = {
    "Bool": "bool_val",
    "Complex128": "dcomplex_val",
    "Complex64": "scomplex_val",
    "Float32": "float_val",
    "Float64": "double_val",
    "Int16": "int_val",
    "Int32": "int_val",
    "Int64": "int64_val",
    "Int8": "int_val",
    "UInt16": "int_val",
    "UInt32": "uint32_val",
    "UInt64": "uint64_val",
    "UInt8": "int_val",
}


def _appender(field: str) -> Callable[[Any, Any], None]:
    def append(tensor_proto: Any, nparray: Any) -> None:
        array = np.asarray(nparray).reshape(-1)
        if np.iscomplexobj(array):
            array = np.ascontiguousarray(array).view(array.real.dtype)
        getattr(tensor_proto, field).extend(array.tolist())

    append.__doc__ = "Appends the elements of an array to `%s` of a `TensorProto`." % field
    return append


def append_object_array(tensor_proto: Any, nparray: Any) -> None:
    """Appends the strings of an array to a `TensorProto`."""
    tensor_proto.string_val.extend(x.encode() if isinstance(x, str) else bytes(x) for x in np.asarray(nparray, dtype=object).reshape(-1))


def append_half_array(tensor_proto: Any, nparray: Any) -> None:
    """Appends 16-bit numbers of an array, as their bits, to a `TensorProto`."""
    tensor_proto.half_val.extend(np.asarray(nparray).reshape(-1).view(np.uint16).tolist())


_APPENDERS: Dict[str, Any] = {"Append%sArrayToTensorProto" % kind: _appender(field) for kind, field in _FIELDS.items()}
_APPENDERS.update(
    {
        "AppendBFloat16ArrayToTensorProto": append_half_array,
        "AppendFloat16ArrayToTensorProto": append_half_array,
        "AppendObjectArrayToTensorProto": append_object_array,
    }
)

# Control dependencies (`python.framework.auto_control_deps`) ------------------------------------------------

# Stateful ops that nothing else observes: they need not run if nothing reads their results.
_UNOBSERVED = frozenset(
    "Placeholder VarHandleOp VariableV2 Variable TemporaryVariable HashTable HashTableV2 MutableHashTable MutableHashTableV2 RandomUniform RandomUniformInt "
    "RandomStandardNormal TruncatedNormal ParameterizedTruncatedNormal RandomShuffle RandomGamma RandomPoisson RandomPoissonV2 Multinomial FIFOQueueV2 "
    "IteratorV2 Iterator OneShotIterator AnonymousIterator".split()
)


def op_is_stateful(op_or_def: Any) -> bool:
    """Returns whether an operation, or the op of an `OpDef`, has effects or a state."""
    of = getattr(op_or_def, "_is_stateful", None)
    return bool(of if isinstance(of, bool) else getattr(op_or_def, "is_stateful", False))


class AutomaticControlDependencies:
    """A block whose operations with effects all run, those on one resource in the order of the program.

    A tensor that `mark_as_return` returns waits for them.

    Raises:
      RuntimeError: The block is left in another graph than it was entered in.
    """

    def __init__(self) -> None:
        self._returned: List[Any] = []

    def __enter__(self) -> AutomaticControlDependencies:
        self._graph = get_default_graph()
        self._before = len(self._graph.get_operations())
        return self

    def mark_as_return(self, tensor: Any) -> Any:
        """Returns a tensor, or what consists of tensors, that waits for the operations of the block."""

        def marked(value: Any) -> Any:
            found = array_ops.identity(convert_to_tensor(value))
            self._returned.append(found)
            return found

        spec = getattr(tensor, "_fields", None)
        if spec is None and isinstance(tensor, Tensor):
            return marked(tensor)
        from_parts = [name for name in ("values", "indices", "dense_shape") if isinstance(getattr(tensor, name, None), Tensor)]
        if "values" in from_parts and "indices" in from_parts:
            return type(tensor)(**{name: marked(getattr(tensor, name)) for name in from_parts})
        return marked(tensor)

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is not None:
            return
        if self._graph is not get_default_graph():
            raise RuntimeError("Graph changed while trying to add control dependencies.")
        last: Dict[Any, Any] = {}
        must: List[Any] = []
        for operation in self._graph.get_operations()[self._before :]:
            if operation.type in _UNOBSERVED:
                continue
            waits = []
            if operation._is_stateful:
                must.append(operation)
            for x in operation.inputs:
                if x.dtype == dtypes.resource:
                    if x in last and last[x]._get_control_flow_context() is operation._get_control_flow_context():
                        waits.append(last[x])
                    last[x] = operation
            known = set(operation.control_inputs)
            waits = [one for one in waits if one not in known and one is not operation]
            if waits:
                operation._add_control_inputs(waits)
        for one in self._returned:
            context = one.op._get_control_flow_context()
            one.op._add_control_inputs([o for o in must if o._get_control_flow_context() is context and o is not one.op])


def automatic_control_dependencies(f: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator of a function, whose results wait for the operations with effects that it makes."""

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with AutomaticControlDependencies() as block:
            return nest.map_structure(block.mark_as_return, f(*args, **kwargs))

    return wrapper


# Tracebacks (`python.util.tf_stack`) ------------------------------------------------------------------------


def extract_stack(limit: int = -1) -> List[Any]:
    """Returns the frames of the caller, the outermost first: file, line number, function, line and
    globals.
    """
    frames = inspect.stack(0)[1:]
    found = [(f.filename, f.lineno, f.function, f.frame.f_globals, f.frame.f_code.co_firstlineno) for f in reversed(frames)]
    return found if limit < 0 else found[-limit:]


def convert_stack(stack: Any, include_func_start_lineno: bool = False) -> Any:
    """Returns the frames of `extract_stack` with their lines of source."""
    made = []
    for file, number, function, space, first in stack:
        linecache.checkcache(file)
        line = (linecache.getline(file, number, space) or "").strip() or None
        made.append((file, number, function, line, first) if include_func_start_lineno else (file, number, function, line))
    return tuple(made)


# Tests of transforms, bijectors and loops -------------------------------------------------------------------


def fft_kernel_label_map() -> Any:
    """Returns a context that changes nothing: there is one kernel of each Fourier transform."""
    return get_default_graph()._kernel_label_map({})


def assert_finite(array: Any) -> None:
    """Asserts that all elements of an array are finite."""
    if not np.isfinite(array).all():
        raise AssertionError("array was not all finite. %s" % (np.asarray(array),))


def assert_strictly_increasing(array: Any) -> None:
    """Asserts that each element of a vector is greater than the one before."""
    np.testing.assert_array_less(0.0, np.diff(array))


def assert_strictly_decreasing(array: Any) -> None:
    """Asserts that each element of a vector is less than the one before."""
    np.testing.assert_array_less(np.diff(array), 0.0)


def assert_strictly_monotonic(array: Any) -> None:
    """Asserts that a vector increases or decreases."""
    if array[0] < array[-1]:
        assert_strictly_increasing(array)
    else:
        assert_strictly_decreasing(array)


def assert_scalar_congruency(bijector: Any, lower_x: float, upper_x: float, n: int = 10000, rtol: float = 0.01, sess: Any = None) -> None:
    """Asserts that a bijector of scalars, its inverse and its Jacobians fit each other.

    Args:
      bijector: The bijector.
      lower_x: The least value.
      upper_x: The greatest value.
      n: The number of values.
      rtol: The tolerance of the two integrals.
      sess: The session; by default the default one.
    """
    session: Any = sess or get_default_session()
    run = session.run
    grid = op("LinSpace")(lower_x, upper_x, n)
    values = run(bijector.forward(grid))
    assert_strictly_monotonic(values)
    low, high = sorted(run(bijector.forward([lower_x, upper_x])))
    drawn = run(random_ops.random_uniform([n], low, high, seed=0))
    back = run(bijector.inverse(drawn))
    np.testing.assert_allclose(run(bijector.forward(back)), drawn, rtol=1e-5, atol=1e-3)
    # The mean of |dx/dy| over the range of y is the length of that of x, and the other way round.
    slopes = op("Exp")(bijector.inverse_log_det_jacobian(convert_to_tensor(drawn), event_ndims=0))
    np.testing.assert_allclose(run(reduction_ops.reduce_mean(slopes)) * (high - low), upper_x - lower_x, rtol=rtol)
    x = run(random_ops.random_uniform([n], lower_x, upper_x, seed=0))
    np.testing.assert_allclose(
        run(bijector.inverse_log_det_jacobian(bijector.forward(x), event_ndims=0)), run(-bijector.forward_log_det_jacobian(x, event_ndims=0)), rtol=1e-5, atol=1e-3
    )


def assert_bijective_and_finite(bijector: Any, x: Any, y: Any, event_ndims: int, inverse_event_ndims: Any = None, atol: float = 0, rtol: float = 1e-5, sess: Any = None) -> None:
    """Asserts that a bijector and its inverse undo each other, with finite values.

    Args:
      bijector: The bijector.
      x: Values.
      y: Values that it returns.
      event_ndims: The number of axes of an event of `x`.
      inverse_event_ndims: Those of an event of `y`; by default as many.
      atol: The absolute tolerance.
      rtol: The relative tolerance.
      sess: The session; by default the default one.
    """
    inverse = event_ndims if inverse_event_ndims is None else inverse_event_ndims
    session: Any = sess or get_default_session()
    run = session.run
    forward, backward = run(bijector.forward(x)), run(bijector.inverse(y))
    ildj, fldj = run(bijector.inverse_log_det_jacobian(y, event_ndims=inverse)), run(bijector.forward_log_det_jacobian(x, event_ndims=event_ndims))
    for found in (backward, forward, ildj, fldj):
        assert_finite(found)
    np.testing.assert_allclose(run(bijector.inverse(forward)), x, atol=atol, rtol=rtol)
    np.testing.assert_allclose(run(bijector.forward(backward)), y, atol=atol, rtol=rtol)
    back = run(bijector.inverse_log_det_jacobian(bijector.forward(x), event_ndims=inverse))
    np.testing.assert_allclose(back, -fldj, atol=atol, rtol=rtol)


class PForTestCase(TestCase):
    """The base of tests that compare results with those of a loop."""

    def run_and_assert_equal(self, targets1: Any, targets2: Any, rtol: float = 1e-4, atol: float = 1e-5) -> None:
        """Asserts that the tensors of two structures have equal values."""
        flat1, flat2 = nest.flatten(targets1), nest.flatten(targets2)
        self.assertEqual(len(flat1), len(flat2))
        found = self.evaluate([*flat1, *flat2]) if flat1 else []
        for a, b in zip(found[: len(flat1)], found[len(flat1) :]):
            self.assertAllClose(a, b, rtol=rtol, atol=atol)


def gcd(a: Any, b: Any, name: Optional[str] = None) -> Any:
    """Returns the greatest common divisor of two scalars.

    Raises:
      ValueError: An argument is known to be no scalar, or no integer.
    """
    with name_scope(name, "gcd", [a, b]):
        a, b = convert_to_tensor(a), convert_to_tensor(b)
        a.shape.assert_has_rank(0)
        b.shape.assert_has_rank(0)
        for one, word in ((a, "a"), (b, "b")):
            if not one.dtype.is_integer:
                raise ValueError("%s must be an integer type. Got: %s" % (word, one.dtype))
        return control_flow.while_loop(lambda _, y: op("Greater")(y, op("ZerosLike")(y)), lambda x, y: [y, op("FloorMod")(x, y)], [a, b], back_prop=False)[0]


NAMES: Dict[str, Dict[str, Any]] = {
    "python.framework.auto_control_deps": {
        "AutomaticControlDependencies": AutomaticControlDependencies,
        "automatic_control_dependencies": automatic_control_dependencies,
        "op_is_stateful": op_is_stateful,
    },
    "python.framework.error_interpolation": {
        "_ParseTag": _ParseTag,
        "_build_error_message": _build_error_message,
        "_compute_useful_frames": _compute_useful_frames,
        "_find_index_of_defining_frame_for_op": _find_index_of_defining_frame_for_op,
        "_get_defining_frame_from_op": _get_defining_frame_from_op,
        "_sources_for_node": _sources_for_node,
        "compute_field_dict": compute_field_dict,
        "create_graph_debug_info_def": create_graph_debug_info_def,
        "interpolate": interpolate,
        "parse_message": parse_message,
        "traceback_files_common_prefix": traceback_files_common_prefix,
    },
    "python.framework.fast_tensor_util": _APPENDERS,
    "python.framework.subscribe": {"_is_subscribed_identity": _is_subscribed, "subscribe": subscribe},
    "python.ops.distributions.bijector_test_util": {
        function.__name__: function
        for function in (
            assert_bijective_and_finite,
            assert_finite,
            assert_scalar_congruency,
            assert_strictly_decreasing,
            assert_strictly_increasing,
            assert_strictly_monotonic,
        )
    },
    "python.ops.parallel_for.test_util": {"PForTestCase": PForTestCase},
    "python.ops.signal.util_ops": {"gcd": gcd},
    "python.ops.spectral_ops_test_util": {"fft_kernel_label_map": fft_kernel_label_map},
    "python.util.tf_stack": {"convert_stack": convert_stack, "extract_stack": extract_stack},
}
