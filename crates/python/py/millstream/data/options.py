"""`Options`: the settings of datasets."""

from __future__ import annotations

from typing import Any, Callable, List, Optional

# What TensorFlow 1.15 does unless told otherwise.
_DEFAULTS = ("map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion")


class _Option:
    """A setting, with the type of its values and a function that makes its value if it was not set."""

    def __init__(self, kind: Any, made: Callable[[], Any] = lambda: None) -> None:
        self._kind, self._made = kind, made

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, options: Any, owner: Optional[type] = None) -> Any:
        if options is None:
            return self
        if self.name not in options._values:
            options._values[self.name] = self._made()
        return options._values[self.name]

    def __set__(self, options: Any, value: Any) -> None:
        if not isinstance(value, self._kind):
            raise TypeError('Property "%s" must be of type %s, got: %r (type: %r)' % (self.name, self._kind, value, type(value)))
        options._values[self.name] = value


class _Settings:
    """Settings of a fixed set of names, each None unless it was set or has a value of its own."""

    def __init__(self) -> None:
        self.__dict__["_values"] = {}

    @classmethod
    def _names(cls) -> List[str]:
        return [name for name, value in vars(cls).items() if isinstance(value, _Option)]

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(getattr(type(self), name, None), _Option):
            raise AttributeError("Cannot set the property %s on %s." % (name, type(self).__name__))
        object.__setattr__(self, name, value)

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and all(getattr(self, name) == getattr(other, name) for name in self._names())

    def __ne__(self, other: Any) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]


class MapVectorizationOptions(_Settings):
    """The settings `OptimizationOptions.map_vectorization`. They change nothing here.

    Example:
      >>> isinstance(tf.data.Options().experimental_optimization.map_vectorization, tf.data.experimental.MapVectorizationOptions)
      True
    """

    enabled = _Option(bool)
    use_choose_fastest = _Option(bool)


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

    apply_default_optimizations = _Option(bool)
    autotune = _Option(bool)
    autotune_algorithm = _Option(int)
    autotune_buffers = _Option(bool)
    autotune_cpu_budget = _Option(int)
    filter_fusion = _Option(bool)
    filter_with_random_uniform_fusion = _Option(bool)
    hoist_random_uniform = _Option(bool)
    map_and_batch_fusion = _Option(bool)
    map_and_filter_fusion = _Option(bool)
    map_fusion = _Option(bool)
    map_parallelization = _Option(bool)
    map_vectorization = _Option(MapVectorizationOptions, MapVectorizationOptions)
    noop_elimination = _Option(bool)
    parallel_batch = _Option(bool)
    shuffle_and_repeat_fusion = _Option(bool)


class ThreadingOptions(_Settings):
    """The settings of threads: `Options.experimental_threading`. They change nothing here.

    Example:
      >>> isinstance(tf.data.Options().experimental_threading, tf.data.experimental.ThreadingOptions)
      True
    """

    max_intra_op_parallelism = _Option(int)
    private_threadpool_size = _Option(int)


class DistributeOptions(_Settings):
    """The settings of distributed datasets: `Options.experimental_distribute`. They change nothing here.

    Example:
      >>> isinstance(tf.data.Options().experimental_distribute, tf.data.experimental.DistributeOptions)
      True
    """

    auto_shard = _Option(bool)
    num_devices = _Option(int)
    _make_stateless = _Option(bool)


class StatsOptions(_Settings):
    """The settings of statistics: `Options.experimental_stats`. Nothing is counted: `aggregator` stays None.

    Example:
      >>> stats = tf.data.Options().experimental_stats
      >>> isinstance(stats, tf.data.experimental.StatsOptions), stats.prefix, stats.latency_all_edges
      (True, '', None)
    """

    aggregator = _Option(())
    prefix = _Option(str, str)
    counter_prefix = _Option(str, str)
    latency_all_edges = _Option(bool)


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

    experimental_deterministic = _Option(bool)
    experimental_distribute = _Option(DistributeOptions, DistributeOptions)
    experimental_optimization = _Option(OptimizationOptions, OptimizationOptions)
    experimental_slack = _Option(bool)
    experimental_stats = _Option(StatsOptions, StatsOptions)
    experimental_threading = _Option(ThreadingOptions, ThreadingOptions)
    experimental_stateful_whitelist = _Option(list)

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
        more = [n for n in own._names() if getattr(own, n) is True and n not in chosen and n not in ("apply_default_optimizations", "autotune", "autotune_buffers")]
        return chosen + more

    def _autotunes(self) -> bool:
        return self.experimental_optimization.autotune is not False


def merge_options(first: Any, second: Any) -> Any:
    """Returns the settings of both; raises if one has two values."""
    if type(first) is not type(second):
        raise TypeError("Incompatible options type: %r vs %r" % (type(second), type(first)))
    merged, default = type(first)(), type(first)()
    for name in merged._names():
        a, b, unset = getattr(first, name), getattr(second, name), getattr(default, name)
        if a == unset or b == unset or a == b:
            value: Any = b if a == unset else a
        elif isinstance(a, _Settings):
            value = merge_options(a, b)
        else:
            raise ValueError("Cannot merge incompatible values of option: %s" % name)
        if value != unset:
            setattr(merged, name, value)
    return merged
