"""`Options`: the settings of datasets."""

from __future__ import annotations

from typing import Any, List, Optional

# What TensorFlow 1.15 does unless told otherwise.
_DEFAULTS = ("map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion")


class _Settings:
    """Attributes with a fixed set of names, None unless set."""

    _names: Any = ()

    def __init__(self) -> None:
        self.__dict__["_values"] = {name: None for name in self._names}

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name in values:
            return values[name]
        raise AttributeError("%s has no option %r; it has %s" % (type(self).__name__, name, ", ".join(self._names)))

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._names:
            raise AttributeError("Cannot set the property %s on %s." % (name, type(self).__name__))
        self._values[name] = value

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and self._values == other._values

    def __ne__(self, other: Any) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]


class OptimizationOptions(_Settings):
    """The settings of TensorFlow's optimizer of datasets: `Options.experimental_optimization`.

    Of these, `apply_default_optimizations` and `shuffle_and_repeat_fusion` decide the order of elements of a
    shuffled dataset that is repeated. The others change nothing here.

    Example:
      >>> options = tf.data.Options()
      >>> options.experimental_optimization.noop_elimination = True
      >>> isinstance(options.experimental_optimization, tf.data.experimental.OptimizationOptions)
      True
    """

    _names = (
        "apply_default_optimizations",
        "autotune",
        "autotune_algorithm",
        "autotune_buffers",
        "autotune_cpu_budget",
        "filter_fusion",
        "filter_with_random_uniform_fusion",
        "hoist_random_uniform",
        "map_and_batch_fusion",
        "map_and_filter_fusion",
        "map_fusion",
        "map_parallelization",
        "map_vectorization",
        "noop_elimination",
        "parallel_batch",
        "shuffle_and_repeat_fusion",
    )


class ThreadingOptions(_Settings):
    """The settings of threads: `Options.experimental_threading`. They change nothing here.

    Example:
      >>> isinstance(tf.data.Options().experimental_threading, tf.data.experimental.ThreadingOptions)
      True
    """

    _names = ("max_intra_op_parallelism", "private_threadpool_size")


class DistributeOptions(_Settings):
    """The settings of distributed datasets: `Options.experimental_distribute`. They change nothing here.

    Example:
      >>> isinstance(tf.data.Options().experimental_distribute, tf.data.experimental.DistributeOptions)
      True
    """

    _names = ("auto_shard", "auto_shard_policy", "num_devices")


class Options(_Settings):
    """The settings of a dataset, for `Dataset.with_options`.

    Example:
      >>> options = tf.data.Options()
      >>> options.experimental_optimization.shuffle_and_repeat_fusion = False
      >>> tf.data.Dataset.range(3).with_options(options).options() == options
      True
      >>> options.merge(tf.data.Options()) == options
      True
    """

    _names = (
        "experimental_deterministic",
        "experimental_distribute",
        "experimental_optimization",
        "experimental_slack",
        "experimental_stats",
        "experimental_threading",
        "experimental_stateful_whitelist",
        "experimental_external_state_policy",
    )

    def __init__(self) -> None:
        super().__init__()
        self.experimental_optimization = OptimizationOptions()
        self.experimental_threading = ThreadingOptions()
        self.experimental_distribute = DistributeOptions()

    def merge(self, options: Options) -> Options:
        """Returns the settings of both.

        Args:
          options: An `Options`.

        Returns:
          An `Options`.

        Raises:
          ValueError: Both have a setting, with different values.
        """
        return merge_options(self, options)

    def _static_optimizations(self) -> List[str]:
        own = self.experimental_optimization
        chosen = [n for n in _DEFAULTS if getattr(own, n) is not False] if own.apply_default_optimizations is not False else []
        more = [n for n in own._names if getattr(own, n) is True and n not in chosen and n not in ("apply_default_optimizations", "autotune", "autotune_buffers")]
        return chosen + more

    def _autotunes(self) -> bool:
        return self.experimental_optimization.autotune is not False


def merge_options(first: Any, second: Any) -> Any:
    """Returns the settings of both; raises if one has two values."""
    merged = type(first)()
    for name in first._names:
        a, b = getattr(first, name), getattr(second, name)
        if isinstance(a, _Settings):
            value: Optional[Any] = merge_options(a, b)
        elif a is None or b is None or a == b:
            value = b if a is None else a
        else:
            raise ValueError("Cannot merge incompatible values of option: %s" % name)
        setattr(merged, name, value)
    return merged
