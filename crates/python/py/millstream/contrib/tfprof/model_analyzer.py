"""`tf.contrib.tfprof.model_analyzer`: profiles with options as dicts."""

from __future__ import annotations

from typing import Any

from millstream.train.profiles import ProfileOptionBuilder, Profiler, profile

__all__ = [
    "FLOAT_OPS_OPTIONS",
    "PRINT_ALL_TIMING_MEMORY",
    "TRAINABLE_VARS_PARAMS_STAT_OPTIONS",
    "Profiler",
    "print_model_analysis",
]

TRAINABLE_VARS_PARAMS_STAT_OPTIONS = {**ProfileOptionBuilder.trainable_variables_parameter(), "dump_to_file": ""}
FLOAT_OPS_OPTIONS = {**ProfileOptionBuilder.float_operation(), "dump_to_file": ""}
PRINT_ALL_TIMING_MEMORY = {**ProfileOptionBuilder.time_and_memory(), "order_by": "name", "dump_to_file": ""}


def print_model_analysis(
    graph: Any, run_meta: Any = None, op_log: Any = None, tfprof_cmd: str = "scope", tfprof_options: Any = TRAINABLE_VARS_PARAMS_STAT_OPTIONS
) -> Any:
    """Prints and returns `tf.profiler.profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options)`.

    Args:
      graph: The graph.
      run_meta: A `RunMetadata`, or None.
      op_log: None.
      tfprof_cmd: `"scope"`, `"graph"` or `"op"`.
      tfprof_options: Options. The report goes to the file `dump_to_file` instead, if that is given.

    Returns:
      A `GraphNodeProto`, or a `MultiGraphNodeProto` for `"op"`.

    Example:
      >>> w = tf.get_variable("w", [2, 3])
      >>> analyzer = tf.contrib.tfprof.model_analyzer
      >>> options = dict(analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS, output="none")
      >>> analyzer.print_model_analysis(tf.get_default_graph(), tfprof_options=options).total_parameters
      6
    """
    options = dict(tfprof_options)
    if options.pop("dump_to_file", ""):
        options["output"] = "file:outfile=" + tfprof_options["dump_to_file"]
    return profile(graph, run_meta, op_log, tfprof_cmd, options)
