"""Internal modules that import, and whose functions and classes are refused by name when they are called.

Files import such modules at their top and use them in a few of their functions. The names are classes, so
that programs can derive from them and ask `isinstance`.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from millstream.framework import left_out

# A line: a package, and its modules. The names in them are not known: any public name is refused.
_MODULES = """
compiler.tensorrt trt_convert
compiler.xla xla
data.experimental.ops distribute map_defun matching_files resampling sleep snapshot stats_aggregator stats_ops take_while_ops threadpool unique writers
data.ops multi_device_iterator_ops
debug cli examples lib wrappers
debug.cli analyzer_cli cli_config cli_shared cli_test_utils command_parser curses_ui curses_widgets debugger_cli_common evaluator profile_analyzer_cli readline_ui tensor_format ui_factory
debug.lib common debug_data debug_gradients debug_graphs debug_service_pb2_grpc debug_utils grpc_debug_server profiling session_debug_testlib source_remote source_utils
debug.wrappers disk_usage dumping_wrapper framework grpc_wrapper hooks local_cli_wrapper
framework op_callbacks
ops batch_ops boosted_trees_ops clustering_ops collective_ops cudnn_rnn_grad nccl_ops tensor_forest_ops while_v2_indexed_slices_rewriter
saved_model function_deserialization function_serialization load_v1_in_v2 revived_types signature_serialization
distribute all_reduce central_storage_strategy collective_all_reduce_strategy combinations cross_device_ops cross_device_utils device_util distribute_config distribute_coordinator distribute_coordinator_context distribute_lib distribution_strategy_context estimator_training input_lib input_ops mirrored_strategy multi_worker_util numpy_dataset one_device_strategy parameter_server_strategy reduce_util shared_variable_creator step_fn strategy_combinations summary_op_util tpu_strategy values
distribute.cluster_resolver cluster_resolver gce_cluster_resolver kubernetes_cluster_resolver slurm_cluster_resolver tfconfig_cluster_resolver tpu_cluster_resolver
grappler cluster item tf_optimizer
keras activations backend backend_config callbacks callbacks_v1 constraints engine estimator initializers keras_parameterized layers losses metrics mixed_precision models ops optimizer_v2 optimizers regularizers saving testing_utils utils wrappers
keras.distribute distributed_training_utils multi_worker_training_state
keras.engine base_layer base_layer_utils data_adapter input_layer input_spec network node partial_batch_padding_handler saving sequential training training_arrays training_distributed training_eager training_generator training_utils training_v2 training_v2_utils
keras.layers advanced_activations convolutional convolutional_recurrent core cudnn_recurrent dense_attention embeddings kernelized local merge noise normalization normalization_v2 pooling recurrent recurrent_v2 rnn_cell_wrapper_v2 serialization wrappers
keras.mixed_precision experimental
keras.mixed_precision.experimental autocast_variable loss_scale_optimizer policy test_util
keras.optimizer_v2 adadelta adagrad adam adamax ftrl gradient_descent learning_rate_schedule nadam optimizer_v2 rmsprop
keras.saving hdf5_format model_config save saved_model saved_model_experimental saving_utils
keras.saving.saved_model constants load save serialized_attributes utils
keras.utils conv_utils data_utils generic_utils io_utils kernelized_utils layer_utils losses_utils metrics_utils mode_keys multi_gpu_utils np_utils tf_utils vis_utils
keras.wrappers scikit_learn
"""

# A line: a module, and its names.
_NAMES = """
eager.backprop GradientTape aggregate_indexed_slices_gradients flatten_nested_indexed_slices gradients_function implicit_grad implicit_val_and_grad make_attr make_vjp op_attr_type val_and_grad_function
eager.cancellation CancellationManager
eager.context Context FunctionCallOptions add_function async_clear_error async_wait context context_safe eager_mode ensure_initialized execution_mode executor_scope export_run_metadata function_executor_type is_async list_devices mirroring_policy remove_function set_execution_mode set_server_def
eager.core _NotOkStatusException _FallbackException
eager.def_function Function run_functions_eagerly
eager.execute args_to_matching_eager args_to_mixed_eager_tensors convert_to_mixed_eager_tensors execute execute_with_callbacks execute_with_cancellation quick_execute
eager.execution_callbacks ExecutionCallback InfOrNanError add_execution_callback clear_execution_callbacks errstate inf_callback inf_nan_callback nan_callback seterr
eager.executor Executor new_executor
eager.forwardprop ForwardGradientAccumulator
eager.function ConcreteFunction Function FunctionCache FunctionSpec
eager.imperative_grad VSpace imperative_grad
eager.lift_to_graph lift_to_graph
eager.monitoring BoolGauge Buckets Counter ExponentialBuckets IntGauge Metric Sampler StringGauge
eager.profiler Profiler ProfilerAlreadyRunningError ProfilerNotRunningError maybe_create_event_file save start start_profiler_server stop
eager.profiler_client monitor start_tracing
eager.remote connect_to_cluster connect_to_remote_host
eager.tape Tape delete_trace pop_tape push_new_tape push_tape record_operation watch watch_variable
framework.c_api_util ApiDefMap ScopedTFFunction ScopedTFGraph ScopedTFImportGraphDefOptions ScopedTFImportGraphDefResults ScopedTFStatus new_tf_operations tf_buffer tf_operations tf_output
framework.convert_to_constants convert_variables_to_constants_v2 disable_lower_using_switch_merge
ops.control_flow_state MaybeCreateControlFlowState ZerosLikeOutsideLoop _ControlFlowState _GradLoopState
saved_model.load load load_internal
saved_model.save save
eager.wrap_function VariableHolder WrappedFunction WrappedGraph function_from_graph_def wrap_function
"""

NAMES: Dict[str, List[str]] = {"python." + line.split()[0]: line.split()[1:] for line in _NAMES.split("\n") if line}
MODULES = frozenset("python.%s.%s" % (line.split()[0], name) for line in _MODULES.split("\n") if line for name in line.split()[1:])

_found: Dict[str, Any] = {}


class _Refused(type):
    """The class of a name that is refused: calls of it raise."""

    _called: str

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(left_out.reason(cls._called)[1])


def find(path: str, name: str) -> Optional[Any]:
    """Returns the class of a refused name, or None if the module is not one of these or lacks it."""
    if name not in NAMES.get(path, ()) and (path not in MODULES or name.startswith("_") or path + "." + name in MODULES):
        return None
    full = path + "." + name
    if full not in _found:
        space = {"_called": full, "__module__": "tensorflow." + path, "__doc__": left_out.reason(full)[1]}
        _found.setdefault(full, _Refused(name, (), space))
    return _found[full]


def is_refused(value: Any) -> bool:
    """Returns whether a name's value is one that is refused when it is called, or derives from one."""
    return isinstance(value, _Refused)
