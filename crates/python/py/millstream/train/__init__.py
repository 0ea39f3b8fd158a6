"""`tf.train`: threads and queue runners, hooks and monitored sessions, optimizers, `Saver` and batching.

A module is imported when one of its names is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Tuple

from millstream.framework import namespaces

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
    "sync_replicas": ("SyncReplicasOptimizer",),
    "server": ("ClusterSpec", "Server"),
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
    "moving_averages": ("ExponentialMovingAverage",),
    "object_checkpoints": ("Checkpoint", "CheckpointManager"),
    "optimizer": ("Optimizer",),
    "optimizers": (
        "AdadeltaOptimizer",
        "AdagradDAOptimizer",
        "AdagradOptimizer",
        "AdamOptimizer",
        "FtrlOptimizer",
        "GradientDescentOptimizer",
        "MomentumOptimizer",
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
    "checkpoint_init": ("init_from_checkpoint",),
    "meta_graph": ("export_meta_graph",),
    "meta_graph_import": ("import_meta_graph",),
    "warm_starts": ("VocabInfo", "warm_start"),
    "training_util": (
        "assert_global_step",
        "create_global_step",
        "get_global_step",
        "get_or_create_global_step",
        "global_step",
    ),
}

# Messages that TensorFlow exports from `tf.train`.
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
    "ServerDef",
)

_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

namespaces.place("train", {name: "millstream.train.%s:%s" % (module, name) for name, module in _MODULE_OF.items()})
namespaces.place("train", {name: "millstream.framework.protos:" + name for name in _MESSAGES})
namespaces.place(
    "train",
    {
        "experimental": "millstream.train.experimental",
        "match_filenames_once": "millstream.io.file_names:match_filenames_once",
        "replica_device_setter": "millstream.framework.devices:replica_device_setter",
        "summary_iterator": "millstream.io.summaries:summary_iterator",
        "write_graph": "millstream.io.graph_files:write_graph",
    },
)


if TYPE_CHECKING:
    from millstream.train import experimental as experimental
    from millstream.train.coordinator import Coordinator as Coordinator, LooperThread as LooperThread
    from millstream.train.queue_runner import QueueRunner as QueueRunner, add_queue_runner as add_queue_runner, start_queue_runners as start_queue_runners
    from millstream.train.session_run_hook import (
        SessionRunArgs as SessionRunArgs,
        SessionRunContext as SessionRunContext,
        SessionRunHook as SessionRunHook,
        SessionRunValues as SessionRunValues,
    )
    from millstream.train.basic_session_run_hooks import (
        CheckpointSaverHook as CheckpointSaverHook,
        CheckpointSaverListener as CheckpointSaverListener,
        FeedFnHook as FeedFnHook,
        FinalOpsHook as FinalOpsHook,
        GlobalStepWaiterHook as GlobalStepWaiterHook,
        LoggingTensorHook as LoggingTensorHook,
        NanLossDuringTrainingError as NanLossDuringTrainingError,
        NanTensorHook as NanTensorHook,
        ProfilerHook as ProfilerHook,
        SecondOrStepTimer as SecondOrStepTimer,
        StepCounterHook as StepCounterHook,
        StopAtStepHook as StopAtStepHook,
        SummarySaverHook as SummarySaverHook,
    )
    from millstream.train.sync_replicas import SyncReplicasOptimizer as SyncReplicasOptimizer
    from millstream.train.server import ClusterSpec as ClusterSpec, Server as Server
    from millstream.train.session_manager import SessionManager as SessionManager
    from millstream.train.monitored_session import (
        ChiefSessionCreator as ChiefSessionCreator,
        MonitoredSession as MonitoredSession,
        MonitoredTrainingSession as MonitoredTrainingSession,
        Scaffold as Scaffold,
        SessionCreator as SessionCreator,
        SingularMonitoredSession as SingularMonitoredSession,
        WorkerSessionCreator as WorkerSessionCreator,
    )
    from millstream.train.supervisor import Supervisor as Supervisor, basic_train_loop as basic_train_loop, checkpoints_iterator as checkpoints_iterator
    from millstream.train.input import (
        batch as batch,
        batch_join as batch_join,
        input_producer as input_producer,
        limit_epochs as limit_epochs,
        maybe_batch as maybe_batch,
        maybe_batch_join as maybe_batch_join,
        maybe_shuffle_batch as maybe_shuffle_batch,
        maybe_shuffle_batch_join as maybe_shuffle_batch_join,
        range_input_producer as range_input_producer,
        shuffle_batch as shuffle_batch,
        shuffle_batch_join as shuffle_batch_join,
        slice_input_producer as slice_input_producer,
        string_input_producer as string_input_producer,
    )
    from millstream.train.moving_averages import ExponentialMovingAverage as ExponentialMovingAverage
    from millstream.train.optimizer import Optimizer as Optimizer
    from millstream.train.optimizers import (
        AdadeltaOptimizer as AdadeltaOptimizer,
        AdagradDAOptimizer as AdagradDAOptimizer,
        AdagradOptimizer as AdagradOptimizer,
        AdamOptimizer as AdamOptimizer,
        FtrlOptimizer as FtrlOptimizer,
        GradientDescentOptimizer as GradientDescentOptimizer,
        MomentumOptimizer as MomentumOptimizer,
        ProximalAdagradOptimizer as ProximalAdagradOptimizer,
        ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer,
        RMSPropOptimizer as RMSPropOptimizer,
    )
    from millstream.train.learning_rate_decay import (
        cosine_decay as cosine_decay,
        cosine_decay_restarts as cosine_decay_restarts,
        exponential_decay as exponential_decay,
        inverse_time_decay as inverse_time_decay,
        linear_cosine_decay as linear_cosine_decay,
        natural_exp_decay as natural_exp_decay,
        noisy_linear_cosine_decay as noisy_linear_cosine_decay,
        piecewise_constant as piecewise_constant,
        piecewise_constant_decay as piecewise_constant_decay,
        polynomial_decay as polynomial_decay,
    )
    from millstream.train.object_checkpoints import Checkpoint as Checkpoint, CheckpointManager as CheckpointManager
    from millstream.train.saver import Saver as Saver
    from millstream.train.checkpoints import (
        NewCheckpointReader as NewCheckpointReader,
        checkpoint_exists as checkpoint_exists,
        generate_checkpoint_state_proto as generate_checkpoint_state_proto,
        get_checkpoint_mtimes as get_checkpoint_mtimes,
        get_checkpoint_state as get_checkpoint_state,
        latest_checkpoint as latest_checkpoint,
        list_variables as list_variables,
        load_checkpoint as load_checkpoint,
        load_variable as load_variable,
        remove_checkpoint as remove_checkpoint,
        update_checkpoint_state as update_checkpoint_state,
    )
    from millstream.io.file_names import match_filenames_once as match_filenames_once
    from millstream.io.graph_files import write_graph as write_graph
    from millstream.train.checkpoint_init import init_from_checkpoint as init_from_checkpoint
    from millstream.train.warm_starts import VocabInfo as VocabInfo, warm_start as warm_start
    from millstream.train.meta_graph import export_meta_graph as export_meta_graph
    from millstream.train.meta_graph_import import import_meta_graph as import_meta_graph
    from millstream.train.training_util import (
        assert_global_step as assert_global_step,
        create_global_step as create_global_step,
        get_global_step as get_global_step,
        get_or_create_global_step as get_or_create_global_step,
        global_step as global_step,
    )
    from millstream.framework.devices import replica_device_setter as replica_device_setter
    from millstream.framework.protos import (
        BytesList as BytesList,
        ClusterDef as ClusterDef,
        Example as Example,
        Feature as Feature,
        FeatureList as FeatureList,
        FeatureLists as FeatureLists,
        Features as Features,
        FloatList as FloatList,
        Int64List as Int64List,
        JobDef as JobDef,
        SaverDef as SaverDef,
        SequenceExample as SequenceExample,
        ServerDef as ServerDef,
    )
    from millstream.io.summaries import summary_iterator as summary_iterator
else:
    __getattr__ = namespaces.getattr_of(__name__)


def __dir__() -> List[str]:
    return namespaces.shown(globals(), "train", _MODULE_OF, _MESSAGES, ("match_filenames_once", "write_graph"))
