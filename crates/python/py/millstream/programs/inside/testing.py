"""What `python.framework.test_util` and other modules for tests hold beside the class of tests: `NAMES`."""

from __future__ import annotations

import collections
import functools
import gc
import itertools
from typing import Any, Callable, Dict, List

from millstream._engine import Tensor
from millstream.framework import Graph, device, get_default_graph, protos
from millstream.framework.session import Session
from millstream.ops import array_ops
from millstream.test import case


def _decorator(wrap: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a decorator of tests, with or without arguments; of a class, it decorates the methods."""

    def decorator(func: Any = None, **options: Any) -> Any:
        if func is None:
            return functools.partial(decorator, **options)
        if isinstance(func, type):
            return for_all_test_methods(lambda inner: decorator(inner, **options))(func)

        @functools.wraps(func)
        def decorated(self: Any, *args: Any, **kwargs: Any) -> Any:
            return wrap(functools.partial(func, self, *args, **kwargs), self, **options)

        return decorated

    return decorator


def for_all_test_methods(decorator: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns a decorator of a class that decorates each of its tests."""

    def all_test_methods(cls: Any) -> Any:
        for name in dir(cls):
            value = getattr(cls, name)
            if callable(value) and name.startswith("test") and name != "test_session":
                setattr(cls, name, decorator(value, *args, **kwargs))
        return cls

    return all_test_methods


def _in_a_session(call: Any, self: Any, config: Any = None, use_gpu: bool = True, **options: Any) -> None:
    with self.test_session(use_gpu=use_gpu, config=config):
        call()


def _skipped(words: str) -> Callable[..., Any]:
    def skip(call: Any, self: Any, **options: Any) -> None:
        self.skipTest(words)

    return _decorator(skip)


def _in_a_graph(call: Any, self: Any, **options: Any) -> None:
    with Graph().as_default():
        call()


def _as_it_is(target: Any = None, *args: Any, **kwargs: Any) -> Any:
    """A decorator, with or without arguments, that returns what it decorates."""
    return target if callable(target) else lambda inner: inner


def _described(description: str) -> Any:
    """Returns a decorator that returns what it decorates."""
    return lambda target: target


def skip_if(condition: Any) -> Any:
    """Returns a decorator of a test that does nothing if a condition, or what a function returns, holds."""

    def decorator(func: Any) -> Any:
        @functools.wraps(func)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            return None if (condition() if callable(condition) else condition) else func(*args, **kwargs)

        return decorated

    return decorator


def _no_new_tensors(call: Any, self: Any, **options: Any) -> None:
    gc.collect()
    # Not `isinstance`, which asks a weak proxy for the class of an object that may be gone.
    before = {id(one) for one in gc.get_objects() if issubclass(type(one), Tensor)}
    with get_default_graph().as_default():
        call()
    gc.collect()
    left = [one for one in gc.get_objects() if issubclass(type(one), Tensor) and id(one) not in before]
    if left:
        raise AssertionError("%d Tensors not deallocated after test: %s" % (len(left), left))


def _no_garbage(call: Any, self: Any, **options: Any) -> None:
    before = gc.get_debug()
    gc.collect()
    known = len(gc.garbage)
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        call()
        gc.collect()
        self.assertEqual(known, len(gc.garbage), "the test leaves objects that refer to each other")
    finally:
        gc.set_debug(before)
        del gc.garbage[known:]


# Graphs -----------------------------------------------------------------------------------------------------


def assert_equal_graph_def_v1(actual: Any, expected: Any, checkpoint_v2: bool = False, hash_table_shared_name: bool = False) -> None:
    """Asserts that two graphs have the same nodes, whatever their order."""
    case.assert_equal_graph_def(actual, expected, checkpoint_v2, hash_table_shared_name)


def assert_equal_graph_def_v2(expected: Any, actual: Any) -> None:
    """Asserts that two graphs have the same nodes, whatever their order and the temporary names of savers."""
    case.assert_equal_graph_def(actual, expected, True, True)


def assert_meta_graph_protos_equal(tester: Any, a: Any, b: Any) -> None:
    """Asserts that two `MetaGraphDef`s are equal; the values of their collections may be in any order."""
    tester.assertEqual(set(a.collection_def), set(b.collection_def))
    for key in a.collection_def:
        kinds = [one.collection_def[key].WhichOneof("kind") for one in (a, b)]
        tester.assertEqual(*kinds)
        lists = [list(getattr(one.collection_def[key], str(kinds[0])).value) for one in (a, b)]
        tester.assertEqual(*[sorted(values, key=repr) for values in lists])
    copies = [protos.MetaGraphDef.FromString(one.SerializeToString()) for one in (a, b)]
    graphs = [one.graph_def for one in copies]
    case.assert_equal_graph_def(*graphs)
    for one in copies:
        one.ClearField("collection_def")
        one.ClearField("graph_def")
    tester.assertEqual(*copies)


def assert_ops_in_graph(expected_ops: Dict[str, str], graph: Any) -> Dict[str, Any]:
    """Asserts that a graph has operations of given types; returns their nodes.

    Raises:
      ValueError: One is missing or of another type.
    """
    found: Dict[str, Any] = {}
    for node in graph.as_graph_def().node:
        if node.name in expected_ops:
            if expected_ops[node.name] != node.op:
                raise ValueError("Expected op for node %s is different. %s vs %s" % (node.name, expected_ops[node.name], node.op))
            found[node.name] = node
    if set(expected_ops) != set(found):
        raise ValueError("Not all expected ops are present. Expected %s, found %s" % (expected_ops.keys(), found.keys()))
    return found


def get_node_def_from_graph(node_name: str, graph_def: Any) -> Any:
    """Returns a node of a graph, or None."""
    return next((node for node in graph_def.node if node.name == node_name), None)


# Layouts of images ------------------------------------------------------------------------------------------


def _moved(input_tensor: Any, orders: Dict[Any, List[int]]) -> Any:
    if isinstance(input_tensor, Tensor):
        return array_ops.transpose(input_tensor, orders[input_tensor.shape.ndims])
    return [input_tensor[i] for i in orders[len(input_tensor)]]


def NHWCToNCHW(input_tensor: Any) -> Any:
    """Returns an array or a shape with channels moved behind the batch."""
    return _moved(input_tensor, {4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]})


def NCHWToNHWC(input_tensor: Any) -> Any:
    """Returns an array or a shape with channels moved to the end."""
    return _moved(input_tensor, {4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]})


def NHWCToNCHW_VECT_C(input_shape_or_tensor: Any) -> Any:
    """Returns an array or a shape with channels moved behind the batch, four of them at the end.

    Raises:
      ValueError: The number of channels is not divisible by four.
    """
    is_tensor = isinstance(input_shape_or_tensor, Tensor)
    shape = input_shape_or_tensor.shape.as_list() if is_tensor else list(input_shape_or_tensor)
    if shape[-1] % 4:
        raise ValueError("Last dimension of input must be evenly divisible by 4 to convert to NCHW_VECT_C.")
    split = [*shape[:-1], shape[-1] // 4, 4]
    order = [0, len(split) - 2, *range(1, len(split) - 2), len(split) - 1]
    if is_tensor:
        return array_ops.transpose(array_ops.reshape(input_shape_or_tensor, split), order)
    return [split[i] for i in order]


def NCHW_VECT_CToNHWC(input_shape_or_tensor: Any) -> Any:
    """Returns an array or a shape with all channels moved to the end.

    Raises:
      ValueError: The last dimension is not four.
    """
    is_tensor = isinstance(input_shape_or_tensor, Tensor)
    shape = input_shape_or_tensor.shape.as_list() if is_tensor else list(input_shape_or_tensor)
    if shape[-1] != 4:
        raise ValueError("Last dimension of NCHW_VECT_C must be 4.")
    order = [0, *range(2, len(shape) - 1), 1, len(shape) - 1]
    moved = [shape[i] for i in order]
    final = [*moved[:-2], moved[-2] * moved[-1]]
    return array_ops.reshape(array_ops.transpose(input_shape_or_tensor, order), final) if is_tensor else final


# Sessions and combinations ----------------------------------------------------------------------------------


class ErrorLoggingSession(Session):
    """A session: errors of its runs have the node and the line in their messages."""


def _on(name: str) -> Callable[[], Any]:
    return lambda: device(name)


def _combine(**kwargs: Any) -> List[Any]:
    """Returns the combinations of values of arguments, each an `OrderedDict`."""
    if not kwargs:
        return [collections.OrderedDict()]
    keys = sorted(kwargs)
    values = [kwargs[key] if isinstance(kwargs[key], list) else [kwargs[key]] for key in keys]
    return [collections.OrderedDict(zip(keys, one)) for one in itertools.product(*values)]


def _times(*combined: Any) -> List[Any]:
    """Returns the combinations of combinations.

    Raises:
      ValueError: Two of them have a key in common.
    """
    if not combined:
        raise ValueError("No combinations to multiply.")
    found: List[Any] = [collections.OrderedDict()]
    for ones in combined:
        made = []
        for a, b in itertools.product(found, ones):
            if set(a) & set(b):
                raise ValueError("Keys need to not overlap: {} vs {}".format(list(a), list(b)))
            made.append(collections.OrderedDict(sorted([*a.items(), *b.items()])))
        found = made
    return found


class NamedObject:
    """An object with a name that test names show."""

    def __init__(self, name: str, obj: Any) -> None:
        self._name, self._obj = name, obj

    def __getattr__(self, name: str) -> Any:
        return getattr(self._obj, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._obj(*args, **kwargs)

    def __repr__(self) -> str:
        return self._name

    def __iter__(self) -> Any:
        return iter(self._obj)


def generate_combinations_with_testcase_name(**kwargs: Any) -> List[Any]:
    """Returns the combinations of values of arguments, each with a `testcase_name` that shows them."""
    named = []
    for one in _combine(**kwargs):
        name = "".join("_%s_%s" % ("".join(filter(str.isalnum, key)), "".join(filter(str.isalnum, str(value)))) for key, value in one.items())
        named.append(collections.OrderedDict([*one.items(), ("testcase_name", "_test" + name)]))
    return named


_false = lambda *args, **kwargs: False  # noqa: E731

NAMES: Dict[str, Dict[str, Any]] = {
    "python.framework.test_combinations": {"NamedObject": NamedObject, "combine": _combine, "times": _times},
    "python.framework.test_util": {
        "ErrorLoggingSession": ErrorLoggingSession,
        "GpuSupportsHalfMatMulAndConv": _false,
        "InstallStackTraceHandler": lambda: None,
        "IsBuiltWithROCm": _false,
        "IsGoogleCudaEnabled": _false,
        "IsMklEnabled": _false,
        "NCHWToNHWC": NCHWToNHWC,
        "NCHW_VECT_CToNHWC": NCHW_VECT_CToNHWC,
        "NHWCToNCHW": NHWCToNCHW,
        "NHWCToNCHW_VECT_C": NHWCToNCHW_VECT_C,
        "also_run_as_tf_function": _as_it_is,
        "assert_equal_graph_def_v1": assert_equal_graph_def_v1,
        "assert_equal_graph_def_v2": assert_equal_graph_def_v2,
        "assert_meta_graph_protos_equal": assert_meta_graph_protos_equal,
        "assert_no_garbage_created": _decorator(_no_garbage),
        "assert_no_new_pyobjects_executing_eagerly": _skipped("Test is only compatible with eager execution"),
        "assert_no_new_tensors": _decorator(_no_new_tensors),
        "assert_ops_in_graph": assert_ops_in_graph,
        "build_as_function_and_v1_graph": _decorator(_in_a_graph),
        "deprecated_graph_mode_only": _as_it_is,
        "disable_xla": _described,
        "enable_c_shapes": _as_it_is,
        "enable_output_all_intermediates": _as_it_is,
        "enable_tf_xla_constant_folding": _described,
        "for_all_test_methods": for_all_test_methods,
        "device": lambda use_gpu: device("/device:CPU:0"),
        "force_cpu": _on("/device:CPU:0"),
        "force_gpu": _on("/device:GPU:0"),
        "generate_combinations_with_testcase_name": generate_combinations_with_testcase_name,
        "get_node_def_from_graph": get_node_def_from_graph,
        "is_xla_enabled": _false,
        "no_xla_auto_jit": _described,
        "py_func_if_in_function": _as_it_is,
        "run_all_in_graph_and_eager_modes": _decorator(_in_a_session),
        "run_cuda_only": _skipped("Test requires CUDA GPU"),
        "run_deprecated_v1": _as_it_is,
        "run_gpu_only": _skipped("Test requires GPU"),
        "run_in_graph_and_eager_modes": _decorator(_in_a_session),
        "run_v2_only": _skipped("Test is only compatible with v2"),
        "skip_if": skip_if,
        "use_deterministic_cudnn": _as_it_is,
        "use_gpu": _on("/device:CPU:0"),
        "with_c_shapes": _as_it_is,
        "xla_allow_fallback": _described,
    },
    "python.platform.googletest": {"GetTempDir": case.get_temp_dir, "StatefulSessionAvailable": _false},
}
