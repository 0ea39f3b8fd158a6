"""`tf.train`: threads and queue runners, hooks and monitored sessions, and what trains: optimizers, `Saver`, batches.

Modules are imported when something of theirs is first asked for.
"""

from __future__ import annotations

import importlib
from typing import Any, Dict, List, Tuple

_MODULES: Dict[str, Tuple[str, ...]] = {
    "coordinator": ("Coordinator", "LooperThread"),
    "queue_runner": ("QueueRunner", "add_queue_runner", "start_queue_runners"),
    "session_run_hook": ("SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues"),
    "basic_session_run_hooks": (
        "CheckpointSaverHook",
        "CheckpointSaverListener",
        "FeedFnHook",
        "FinalOpsHook",
        "GlobalStepWaiterHook",
        "LoggingTensorHook",
        "NanLossDuringTrainingError",
        "NanTensorHook",
        "ProfilerHook",
        "SecondOrStepTimer",
        "StepCounterHook",
        "StopAtStepHook",
        "SummarySaverHook",
    ),
    "session_manager": ("SessionManager",),
    "monitored_session": (
        "ChiefSessionCreator",
        "MonitoredSession",
        "MonitoredTrainingSession",
        "Scaffold",
        "SessionCreator",
        "SingularMonitoredSession",
        "WorkerSessionCreator",
    ),
    "supervisor": ("Supervisor", "basic_train_loop", "checkpoints_iterator"),
    "input": (
        "batch",
        "batch_join",
        "input_producer",
        "limit_epochs",
        "match_filenames_once",
        "maybe_batch",
        "maybe_batch_join",
        "maybe_shuffle_batch",
        "maybe_shuffle_batch_join",
        "range_input_producer",
        "shuffle_batch",
        "shuffle_batch_join",
        "slice_input_producer",
        "string_input_producer",
    ),
    "optimizers": (
        "AdadeltaOptimizer",
        "AdagradDAOptimizer",
        "AdagradOptimizer",
        "AdamOptimizer",
        "ExponentialMovingAverage",
        "FtrlOptimizer",
        "GradientDescentOptimizer",
        "MomentumOptimizer",
        "Optimizer",
        "ProximalAdagradOptimizer",
        "ProximalGradientDescentOptimizer",
        "RMSPropOptimizer",
    ),
    "learning_rate_decay": (
        "cosine_decay",
        "cosine_decay_restarts",
        "exponential_decay",
        "inverse_time_decay",
        "linear_cosine_decay",
        "natural_exp_decay",
        "noisy_linear_cosine_decay",
        "piecewise_constant",
        "piecewise_constant_decay",
        "polynomial_decay",
    ),
    "saver": ("Saver",),
    "checkpoints": (
        "NewCheckpointReader",
        "checkpoint_exists",
        "generate_checkpoint_state_proto",
        "get_checkpoint_mtimes",
        "get_checkpoint_state",
        "latest_checkpoint",
        "list_variables",
        "load_checkpoint",
        "load_variable",
        "remove_checkpoint",
        "update_checkpoint_state",
    ),
    "meta_graph": ("export_meta_graph", "import_meta_graph", "write_graph"),
    "training_util": (
        "assert_global_step",
        "create_global_step",
        "get_global_step",
        "get_or_create_global_step",
        "global_step",
    ),
}

# Messages that TensorFlow has under `tf.train`.
_MESSAGES = (
    "BytesList",
    "ClusterDef",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "Int64List",
    "JobDef",
    "SaverDef",
    "SequenceExample",
)

_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        value = getattr(importlib.import_module("millstream.train." + _MODULE_OF[name]), name)
    elif name in _MODULES:
        value = importlib.import_module("millstream.train." + name)
    elif name == "replica_device_setter":
        from millstream.devices import replica_device_setter as value
    elif name == "summary_iterator":
        from millstream.summary import summary_iterator as value
    elif name in _MESSAGES:
        from millstream import protos

        value = getattr(protos, name)
    else:
        raise AttributeError(f"module 'millstream.train' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted({*globals(), *_MODULE_OF, *_MESSAGES})
