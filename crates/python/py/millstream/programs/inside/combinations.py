"""Parametrized tests of `test_combinations`, and the table of `saver_test_utils`: `NAMES`, by module."""

from __future__ import annotations

import collections
import contextlib
import functools
import inspect
import re
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from millstream.contrib.framework import kernels
from millstream.framework import Graph, add_to_collection, dtypes
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.io.saveables import SaveableObject, SaveSpec
from millstream.ops import math_ops, reduction_ops
from millstream.programs.inside import testing
from millstream.programs.inside.parts_of_variables import remove_squeezable_dimensions

# Combinations -----------------------------------------------------------------------------------------------


class ParameterModifier:
    """What changes the arguments of a test before it is called.

    Args:
      parameter_name: The name of the argument.
    """

    DO_NOT_PASS_TO_THE_TEST = object()

    def __init__(self, parameter_name: Optional[str] = None) -> None:
        self._parameter_name = parameter_name

    def modified_arguments(self, kwargs: Dict[str, Any], requested_parameters: List[str]) -> Dict[str, Any]:
        """Returns the arguments that change: none, unless a class says others."""
        return {}

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and self._parameter_name == other._parameter_name

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._parameter_name)


class OptionalParameter(ParameterModifier):
    """An argument that tests get only if they have it."""

    def modified_arguments(self, kwargs: Dict[str, Any], requested_parameters: List[str]) -> Dict[str, Any]:
        """Returns that the argument is not passed, if the test has none of its name."""
        name = str(self._parameter_name)
        return {} if name in requested_parameters else {name: self.DO_NOT_PASS_TO_THE_TEST}


class TestCombination:
    """What a class of combinations does for each test: skip it, change its arguments, open contexts."""

    __test__ = False

    def should_execute_combination(self, kwargs: Dict[str, Any]) -> Tuple[bool, Optional[str]]:
        """Returns whether a combination runs, and why not."""
        return True, None

    def parameter_modifiers(self) -> List[ParameterModifier]:
        """Returns what changes the arguments."""
        return []

    def context_managers(self, kwargs: Dict[str, Any]) -> List[Any]:
        """Returns contexts in which the test runs."""
        return []


class EagerGraphCombination(TestCombination):
    """The argument `mode`, `"graph"` or `"eager"`: tests of the second are skipped."""

    def should_execute_combination(self, kwargs: Dict[str, Any]) -> Tuple[bool, Optional[str]]:
        """Returns whether the mode is one of graphs."""
        if kwargs.get("mode") == "eager":
            return False, "there is no eager execution."
        return True, None

    def context_managers(self, kwargs: Dict[str, Any]) -> List[Any]:
        """Returns a graph.

        Raises:
          ValueError: The mode is unknown.
        """
        mode = kwargs.get("mode")
        if mode not in (None, "graph", "eager"):
            raise ValueError("'mode' has to be either 'eager' or 'graph' and not {}".format(mode))
        return [] if mode == "eager" else [Graph().as_default()]

    def parameter_modifiers(self) -> List[ParameterModifier]:
        """Returns that `mode` is optional."""
        return [OptionalParameter("mode")]


class TFVersionCombination(TestCombination):
    """The argument `tf_api_version`: tests of version 2 are skipped."""

    def should_execute_combination(self, kwargs: Dict[str, Any]) -> Tuple[bool, Optional[str]]:
        """Returns whether the version is not 2."""
        if kwargs.get("tf_api_version") == 2:
            return False, "Skipping a TF2 test when TF2 is not enabled."
        return True, None

    def parameter_modifiers(self) -> List[ParameterModifier]:
        """Returns that `tf_api_version` is optional."""
        return [OptionalParameter("tf_api_version")]


def _get_name(value: Any, index: int) -> str:
    """Returns the part of a test's name for a value, without addresses."""
    text = re.sub(r"0x[0-9a-f]+", str(index), str(value), count=1)
    return "".join(c for c in text if c.isalnum())


def _augment_with_special_arguments(test_method: Callable[..., Any], test_combinations: Iterable[Any]) -> Callable[..., None]:
    """Returns a test that is skipped or gets its arguments as combinations say."""

    @functools.wraps(test_method)
    def decorated(self: Any, **kwargs: Any) -> None:
        wanted = [name for name in inspect.getfullargspec(test_method).args if name != "self"]
        for combination in test_combinations:
            runs, why = combination.should_execute_combination(dict(kwargs))
            if not runs:
                self.skipTest(" - %s" % why)
        changes: Dict[str, Any] = {}
        for combination in test_combinations:
            for modifier in combination.parameter_modifiers():
                changes.update(modifier.modified_arguments(dict(kwargs), wanted))
        given = {name: value for name, value in {**kwargs, **changes}.items() if value is not ParameterModifier.DO_NOT_PASS_TO_THE_TEST}
        unknown, missing = set(given) - set(wanted), set(wanted) - set(given)
        if unknown:
            raise ValueError("The test does not take parameters that were passed : {} .".format(unknown))
        if missing:
            raise ValueError("The test requires parameters that were not passed : {} .".format(missing))
        with contextlib.ExitStack() as stack:
            for combination in test_combinations:
                for context in combination.context_managers(dict(kwargs)):
                    stack.enter_context(context)
            test_method(self, **given)

    decorated.__dict__.pop("__wrapped__", None)
    return decorated


def generate(combinations: Any, test_combinations: Any = ()) -> Callable[[Any], Any]:
    """Returns a decorator that makes a test of each combination, in a `parameterized.TestCase` of Abseil.

    Args:
      combinations: A list of dicts of arguments: `combine` makes it.
      test_combinations: `TestCombination`s, which skip tests, change their arguments or open contexts.
    """

    def decorator(test_method: Any) -> Any:
        # Abseil is loaded by tests alone.
        from absl.testing import parameterized

        named = []
        for one in combinations:
            if "testcase_name" in one:
                raise AssertionError("`testcase_name` is the name that a combination is given: call the argument otherwise")
            ordered = collections.OrderedDict(sorted(one.items()))
            parts = ("_%s_%s" % ("".join(filter(str.isalnum, key)), _get_name(value, i)) for i, (key, value) in enumerate(ordered.items()))
            named.append({**ordered, "testcase_name": "_test" + "".join(parts)})
        return parameterized.named_parameters(*named)(_augment_with_special_arguments(test_method, test_combinations))

    return decorator


# A table that a saver saves ---------------------------------------------------------------------------------


class CheckpointedOp:
    """A table from words to float32 numbers that a `Saver` saves.

    Args:
      name: The name of the table.
      table_ref: The table, if there is one already.
    """

    class CustomSaveable(SaveableObject):
        """The keys and values of a table."""

        def __init__(self, table: Any, name: str) -> None:
            keys, values = table._export()
            super().__init__(table, [SaveSpec(keys, "", name + "-keys"), SaveSpec(values, "", name + "-values")], name)

        def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
            """Returns an operation that replaces the contents of the table."""
            return op("LookupTableImportV2")(self.op.table_ref, restored_tensors[0], restored_tensors[1])

    def __init__(self, name: str, table_ref: Any = None) -> None:
        self.table_ref = table_ref
        if table_ref is None:
            self.table_ref = op("MutableHashTableV2")(key_dtype=dtypes.string, value_dtype=dtypes.float32, name=name)
        self._name = self.table_ref.op.name
        self._saveable = CheckpointedOp.CustomSaveable(self, name)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    @property
    def name(self) -> str:
        """The name of the table."""
        return self._name

    @property
    def saveable(self) -> Any:
        """The object that a saver saves."""
        return self._saveable

    def _export(self) -> Any:
        return op("LookupTableExportV2")(self.table_ref, Tkeys=dtypes.string, Tvalues=dtypes.float32)

    def insert(self, keys: Any, values: Any) -> Any:
        """Returns an operation that adds numbers of words."""
        return op("LookupTableInsertV2")(self.table_ref, keys, values)

    def lookup(self, keys: Any, default: Any) -> Any:
        """Returns the numbers of words."""
        return op("LookupTableFindV2")(self.table_ref, keys, default)

    def keys(self) -> Any:
        """Returns the words."""
        return self._export()[0]

    def values(self) -> Any:
        """Returns the numbers."""
        return self._export()[1]


# Losses -----------------------------------------------------------------------------------------------------


class ReductionV2:
    """TensorFlow 2's ways to reduce losses."""

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls) -> Tuple[str, ...]:
        """Returns all ways."""
        return (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)

    @classmethod
    def validate(cls, key: Any) -> None:
        """Checks a way.

        Raises:
          ValueError: It is none.
        """
        if key not in cls.all():
            raise ValueError("Invalid Reduction Key %s." % key)


def _safe_mean(losses: Any, num_present: Any) -> Any:
    """Returns the sum of losses divided by a number, or 0 if that is 0."""
    return math_ops.div_no_nan(reduction_ops.reduce_sum(losses), num_present, name="value")


_EVERY = (EagerGraphCombination(), TFVersionCombination())
_SHARED = {"NamedObject": testing.NamedObject, "combine": testing._combine, "times": testing._times}

NAMES: Dict[str, Dict[str, Any]] = {
    "python.framework.combinations": {
        "EagerGraphCombination": EagerGraphCombination,
        "TFVersionCombination": TFVersionCombination,
        "generate": functools.partial(generate, test_combinations=_EVERY),
        **_SHARED,
    },
    "python.framework.test_combinations": {
        "OptionalParameter": OptionalParameter,
        "ParameterModifier": ParameterModifier,
        "TestCombination": TestCombination,
        "generate": generate,
        **_SHARED,
    },
    "python.ops.init_ops": {
        "ConvolutionDeltaOrthogonal": kernels.convolutional_delta_orthogonal,
        "ConvolutionOrthogonal": kernels._Orthogonal,
        "ConvolutionOrthogonal1D": kernels.convolutional_orthogonal_1d,
        "ConvolutionOrthogonal2D": kernels.convolutional_orthogonal_2d,
        "ConvolutionOrthogonal3D": kernels.convolutional_orthogonal_3d,
        "convolutional_delta_orthogonal": kernels.convolutional_delta_orthogonal,
        "convolutional_orthogonal_1d": kernels.convolutional_orthogonal_1d,
        "convolutional_orthogonal_2d": kernels.convolutional_orthogonal_2d,
        "convolutional_orthogonal_3d": kernels.convolutional_orthogonal_3d,
    },
    "python.ops.losses.loss_reduction": {"ReductionV2": ReductionV2},
    "python.ops.losses.losses_impl": {"_remove_squeezable_dimensions": remove_squeezable_dimensions, "_safe_mean": _safe_mean},
    "python.training.saver_test_utils": {"CheckpointedOp": CheckpointedOp},
}
