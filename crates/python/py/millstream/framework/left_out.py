"""Names of TensorFlow 1 that Millstream lacks: the reason, and what to use instead.

Three kinds: names that died before TensorFlow 1.15 and have a successor there (`RENAMED`), those that are to
come (`LATER`) and those that are not (`NEVER`). The longest prefix of a name decides.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Optional, Tuple

RENAMED: Dict[str, str] = {
    "audio_summary": "summary.audio",
    "batch_cholesky": "cholesky",
    "batch_matmul": "matmul",
    "batch_matrix_diag": "matrix_diag",
    "batch_matrix_inverse": "matrix_inverse",
    "batch_matrix_solve": "matrix_solve",
    "batch_matrix_transpose": "matrix_transpose",
    "batch_self_adjoint_eig": "self_adjoint_eig",
    "batch_svd": "svd",
    "complex_abs": "abs",
    "concat_v2": "concat",
    "histogram_summary": "summary.histogram",
    "image_summary": "summary.image",
    "inv": "reciprocal",
    "listdiff": "setdiff1d",
    "merge_all_summaries": "summary.merge_all",
    "merge_summary": "summary.merge",
    "mul": "multiply",
    "neg": "negative",
    "nn.bidirectional_rnn": "nn.static_bidirectional_rnn",
    "nn.deconv2d": "nn.conv2d_transpose",
    "nn.rnn": "nn.static_rnn",
    "nn.rnn_cell.linear": "layers.dense",
    "nn.seq2seq": "contrib.legacy_seq2seq",
    "nn.state_saving_rnn": "nn.static_state_saving_rnn",
    "pack": "stack",
    "scalar_summary": "summary.scalar",
    "select": "where",
    "split_v": "split",
    "sub": "subtract",
    "train.SummaryWriter": "summary.FileWriter",
    "unpack": "unstack",
    "python.ops.rnn_cell._linear": "layers.dense",
    "python.ops.rnn_cell._Linear": "layers.dense",
    "python.ops.gen_nn_ops._avg_pool_grad": "raw_ops.AvgPoolGrad",
    "python.ops.gen_nn_ops._max_pool_grad": "raw_ops.MaxPoolGrad",
    "python.ops.rnn.bidirectional_rnn": "nn.static_bidirectional_rnn",
    "python.ops.rnn.rnn": "nn.static_rnn",
    "python.ops.rnn.state_saving_rnn": "nn.static_state_saving_rnn",
    "python.ops.seq2seq": "contrib.legacy_seq2seq",
    "python.ops.constant_op": "constant",
}

_PICTURES = "`tf.image.non_max_suppression` and `tf.image.crop_and_resize` work on boxes; for others, use `tf.py_func`"
_MORE_DISTRIBUTIONS = "`tf.contrib.distributions` has the distributions that most programs use; subclass `tf.distributions.Distribution` for others"
_TRAINING = "`tf.train.MonitoredTrainingSession` runs a training loop"
_MODEL_FN = "`tf.estimator.Estimator` takes a function that builds the model, with `tf.layers` for instance"
_PROFILES = "`tf.profiler.profile` and `tf.profiler.Profiler` report on graphs and steps"
_QUANTIZED = "`tf.quantization.fake_quant_with_min_max_vars` and its relatives simulate quantized numbers with floats"
_GRAPHS = "a graph that a `tf.Session` runs"

_PASSES = "iterators are not saved: `Dataset.skip` begins a pass where another one ended"
_STATS = "`tf.data` counts nothing; a `tf.train.ProfilerHook` measures steps"

_DATASETS = "`tf.data.Dataset` and `tf.data.experimental` have the transformations that most programs use"

_COLUMNS = "`tf.feature_column` makes tensors of features"
_OF_COLUMNS = (
    "crossed_column",
    "feature_column",
    "parse_feature_columns_from_sequence_examples",
    "scattered_embedding_column",
)

LATER: Dict[str, str] = {
    "LMDBReader": "`tf.TFRecordReader` reads records, and `tf.py_func` calls a function that reads a database",
    "data.experimental.CheckpointInputPipelineHook": _PASSES,
    "data.experimental.RaggedTensorStructure": "`tf.data.experimental.dense_to_sparse_batch` makes batches of rows of different lengths",
    "data.experimental.SqlDataset": "`tf.data.Dataset.from_generator` takes rows that `sqlite3` reads",
    "data.experimental.StatsAggregator": _STATS,
    "data.experimental.TFRecordWriter": "a `tf.python_io.TFRecordWriter` writes what a session fetches",
    "data.experimental.TensorArrayStructure": "components of elements are tensors: `TensorArray.stack` returns one",
    "data.experimental.bytes_produced_stats": _STATS,
    "data.experimental.latency_stats": _STATS,
    "data.experimental.make_saveable_from_iterator": _PASSES,
    "ragged": "`tf.RaggedTensor` has rows of different lengths, and `to_tensor` makes a tensor of them",
    "contrib.checkpoint": "`tf.train.Checkpoint` saves objects, and `tf.train.Saver` variables",
    "contrib.constrained_optimization": "a multiplier is a `tf.Variable` that another optimizer moves up the gradient of its constraint",
    "contrib.factorization": "`tf.contrib.factorization.KMeans` clusters points; a model of two matrices trains with `tf.nn.embedding_lookup` and an optimizer",
    "contrib.ffmpeg": "`tf.audio.decode_wav` decodes WAV files",
    "contrib.kernel_methods": "`tf.estimator.LinearClassifier` learns from what a `RandomFourierFeatureMapper` maps",
    "contrib.labeled_tensor": "tensors have axes without names: `tf.transpose` and `tf.expand_dims` take their numbers",
    "contrib.linear_optimizer": "`tf.train.FtrlOptimizer` with `l1_regularization_strength` trains sparse linear models",
    "contrib.model_pruning": "multiply a weight by a variable that is not trainable, and assign zeros to it where the weight is small",
    "contrib.optimizer_v2": "the optimizers of `tf.train` have the same updates and slots",
    "contrib.proto": "`tf.py_func` calls the methods of a message",
    "contrib.quantization": _QUANTIZED,
    "contrib.receptive_field": "the gradient of an output by a placeholder of the input is not zero inside the receptive field",
    "contrib.specs": _MODEL_FN,
    "contrib.stat_summarizer": _PROFILES,
    "contrib.timeseries": "`tf.nn.dynamic_rnn` models sequences, with `tf.estimator.Estimator`",
    "contrib.image": _PICTURES,
    "quantization": _QUANTIZED,
    "contrib.tensor_forest": "build the model with `tf.layers`",
    "contrib.distributions": _MORE_DISTRIBUTIONS,
    "contrib.estimator": _TRAINING,
    "contrib.learn": _MODEL_FN,
    "contrib.losses.metric_learning": "`triplet_semihard_loss` and `lifted_struct_loss` learn distances",
    "contrib.rnn.Conv3DLSTMCell": "`Conv2DLSTMCell` and `Conv1DLSTMCell` convolve over two axes and one",
    "estimator": _MODEL_FN,
    "image": _PICTURES,
    "layers.experimental": "`tf.layers` reuse variables by scope; one layer, called twice, shares its variables as in Keras",
    "contrib.tfprof.ProfileContext": _PROFILES,
    "contrib.tfprof.tfprof_logger": _PROFILES,
    "profiler.advise": _PROFILES,
    "profiler.write_op_log": _PROFILES,
    "python.estimator": _MODEL_FN,
    "python.framework.function": "`tensorflow.python.framework.function.Defun` makes functions",
}

LATER.update({"contrib.layers." + name: _COLUMNS for name in _OF_COLUMNS})

_OF_DATASETS = (
    "CheckpointInputPipelineHook LMDBDataset SqlDataset TFRecordWriter make_saveable_from_iterator read_batch_features"
)
LATER.update({"contrib.data." + name: _DATASETS for name in _OF_DATASETS.split()})

_FLOATS = "graphs run on the CPU, in the dtypes that they have"
_SCALED = "`tf.train.experimental.MixedPrecisionLossScaleOptimizer`, which scales losses"

# The reason, and what to use.
NEVER: Dict[str, Tuple[str, str]] = {
    "GradientTape": ("there is no eager execution", "`tf.gradients`, or `tf.func.grad` of a function"),
    "autograph": ("Python's control flow is not translated", "`tf.while_loop` and `tf.cond`"),
    "compat.v2": ("it is TensorFlow 2", "`tf.compat.v1`"),
    "contrib.autograph": ("Python's control flow is not translated", "`tf.while_loop` and `tf.cond`"),
    "contrib.batching": ("graphs serve no requests of their own", "`tf.data.Dataset.batch` or a `tf.train.batch` queue"),
    "contrib.bigtable": ("there are no clients of clouds", "`tf.data.Dataset.from_generator`"),
    "contrib.cloud": ("there are no clients of clouds", "`tf.data.Dataset.from_generator`"),
    "contrib.quantize": ("graphs run on the CPU, in floats", "the graph as it is"),
    "contrib.distribute": ("a session runs in one process", "a `tf.Session`"),
    "contrib.eager": ("there is no eager execution", _GRAPHS),
    "contrib.keras": ("Keras is a library of its own", "`tf.layers` and `tf.nn.rnn_cell`"),
    "contrib.lite": ("a graph runs as it is", "`millstream run graph.pb`"),
    "contrib.remote_fused_graph": ("graphs run on the CPU", "the graph as it is"),
    "contrib.rpc": ("graphs call no servers", "`tf.py_func`, which calls a function of one's own"),
    "contrib.saved_model": ("Keras is a library of its own", "`tf.saved_model.simple_save`"),
    "contrib.nccl": ("graphs run on the CPU", "`tf.add_n`"),
    "contrib.slim.nets": ("networks are programs of their own", "a file that defines the network with `tf.contrib.slim`"),
    "contrib.tensorrt": ("graphs run on the CPU", "the graph as it is"),
    "contrib.tpu": ("graphs run on the CPU", "`tf.train` and its optimizers"),
    "distribute": ("a session runs in one process", "a `tf.Session`"),
    "enable_eager_execution": ("there is no eager execution", _GRAPHS + ", or `tf.func.function`"),
    "estimator.tpu": ("graphs run on the CPU", "`tf.estimator.Estimator`"),
    "function": ("Python's control flow is not translated", "`tf.func.function` with `tf.func.while_loop` and `tf.func.cond`, or " + _GRAPHS),
    "keras": ("Keras is a library of its own", "`tf.layers.dense` and the cells of `tf.nn.rnn_cell`"),
    "lite": ("a graph runs as it is", "`millstream run graph.pb`"),
    "models": ("they left TensorFlow before 1.0", "`tf.nn.rnn_cell` and `tf.contrib.legacy_seq2seq`"),
    "python.compiler": ("the engine compiles what it runs, on the CPU", "the graph as it is"),
    "python.debug": ("its debugger is a program of its own", "`Session.watch` and `tf.every`"),
    "python.framework.op_callbacks": ("there is no eager execution", "`Session.watch`"),
    "python.ops.collective_ops": ("a session runs in one process", "`millstream.horovod`, which trains on several"),
    "python.ops.control_flow_state": ("the engine makes the gradients of loops and branches", "`tf.gradients`"),
    "python.ops.cudnn_rnn_grad": ("graphs run on the CPU", "`tf.gradients`"),
    "python.ops.nccl_ops": ("graphs run on the CPU", "`tf.add_n`"),
    "python.saved_model.function_deserialization": ("it loads objects of TensorFlow 2", "`tf.saved_model.loader.load`"),
    "python.saved_model.function_serialization": ("it saves objects of TensorFlow 2", "`tf.saved_model.simple_save`"),
    "python.saved_model.load_v1_in_v2": ("it loads objects of TensorFlow 2", "`tf.saved_model.loader.load`"),
    "python.saved_model.revived_types": ("it loads objects of TensorFlow 2", "`tf.saved_model.loader.load`"),
    "python.saved_model.signature_serialization": ("it saves objects of TensorFlow 2", "`tf.saved_model.simple_save`"),
    "python.distribute": ("a session runs in one process", "a `tf.Session`"),
    "python.eager": ("there is no eager execution", _GRAPHS),
    "python.eager.backprop.GradientTape": ("there is no eager execution", "`tf.gradients`, or `tf.func.grad` of a function"),
    "python.framework.c_api_util": ("there is no library in C", "the methods of `tf.Graph`"),
    "python.framework.convert_to_constants": ("there is no eager execution", "`tf.graph_util.convert_variables_to_constants`"),
    "python.saved_model.load": ("it loads objects of TensorFlow 2", "`tf.saved_model.loader.load`"),
    "python.saved_model.save": ("it saves objects of TensorFlow 2", "`tf.saved_model.simple_save`"),
    "python.grappler": ("the engine plans graphs by itself", "the graph as it is"),
    "python.keras": ("Keras is a library of its own", "`tf.layers` and `tf.nn.rnn_cell`"),
    "python.tpu": ("graphs run on the CPU", "`tf.train` and its optimizers"),
    "saved_model.save": ("it saves objects of TensorFlow 2", "`tf.saved_model.simple_save`"),
    "sysconfig": ("there is no library in C++ to compile against", "`tf.py_func`, which calls a function of one's own"),
    "test.create_local_cluster": ("a session runs in one process", "a `tf.train.Server`"),
    "tpu": ("graphs run on the CPU", "`tf.train` and its optimizers"),
    "train.experimental.PythonState": ("there is no eager execution", "`tf.train.Saver`, which saves variables"),
    "train.experimental.disable_mixed_precision_graph_rewrite": (_FLOATS, _SCALED),
    "train.experimental.enable_mixed_precision_graph_rewrite": (_FLOATS, _SCALED),
    "wrap_function": ("there is no eager execution", "`tf.func.function`, or " + _GRAPHS),
    "xla": ("the engine compiles what it runs", "the graph as it is"),
    "contrib.cluster_resolver": ("a session runs in one process", "a `tf.Session`"),
    "contrib.compiler.xla": ("the engine compiles what it runs", "the graph as it is"),
}

_NODES = "it makes more nodes: initial values of variables created after it differ, with equal seeds"

# Names that are here and do less than in TensorFlow 1.15.
DIFFERENT: Dict[str, str] = {
    "contrib.estimator.replicate_model_fn": "`devices` has one at most: graphs run on the CPU",
    "contrib.factorization.KMEANS_PLUS_PLUS_INIT": "it draws other points, with equal seeds",
    "contrib.opt.AGNOptimizer": "it has one worker: sessions do not share variables",
    "contrib.opt.ElasticAverageOptimizer": "it has one worker: sessions do not share variables",
    "contrib.opt.ModelAverageOptimizer": "it has one worker: sessions do not share variables",
    "contrib.seq2seq.BeamSearchDecoder": _NODES,
    "enable_control_flow_v2": "graphs hold the `Switch`, `Merge` and related nodes that TensorFlow replaces an `If` or `While` by when it runs them",
    "enable_eager_execution": "it raises: there is no eager execution; use " + _GRAPHS,
    "enable_tensor_equality": "it raises: tensors are equal to themselves alone; use `tf.equal`",
    "enable_v2_behavior": "it raises: it is TensorFlow 2",
    "enable_v2_tensorshape": "it raises: a shape's elements are of type `Dimension`",
    "load_file_system_library": "it raises: there are no plugins",
    "load_library": "it raises: there are no plugins",
    "load_op_library": "it raises: there are no plugins; `tf.py_func` calls a function of one's own",
    "train.SyncReplicasOptimizer": "gradients are collected in queues, not in `ConditionalAccumulator`s: graphs have other nodes",
    "contrib.cluster_resolver.TPUClusterResolver": "it raises when it is called: a session runs in one process, on the CPU",
    "contrib.tpu.batch_parallel": "it raises when it is called: graphs run on the CPU",
    "contrib.tpu.initialize_system": "it raises when it is called: graphs run on the CPU",
    "contrib.tpu.rewrite": "it raises when it is called: graphs run on the CPU",
    "contrib.tpu.shard": "it raises when it is called: graphs run on the CPU",
    "contrib.tpu.shutdown_system": "it raises when it is called: graphs run on the CPU",
    "contrib.tpu.TPUEstimator": "`use_tpu` must be False: graphs run on the CPU",
    "estimator.tpu.TPUEstimator": "`use_tpu` must be False: graphs run on the CPU",
    "test.is_gpu_available": "it is always False: graphs run on the CPU",
}

_CONVOLUTIONS = re.compile(
    r"(nn|layers|contrib\.layers|contrib\.slim|python\.ops\.nn_ops|python\.ops\.nn)\.(\w*conv\w*|\w*pool\w*|Conv\w*|\w*Pooling\w*|\w*Conv\w*)$"
)


def reason(public: str) -> Tuple[str, str]:
    """Returns why a name (without `tf.`) does not exist: a kind and a text.

    The kinds are "renamed", "never", "not yet" and, for names about which nothing is known, "unknown".
    """
    for end in _prefixes(public):
        if end in RENAMED:
            rest = public[len(end) :]
            return "renamed", f"`{named(public)}` left TensorFlow before 1.15: use `tf.{RENAMED[end]}{rest}`"
        if end in NEVER:
            why, use = NEVER[end]
            return "never", f"`{named(public)}` is not part of Millstream, and never will be, because {why}: use {use}"
        if end in LATER:
            return "not yet", f"`{named(public)}` is not part of Millstream yet: {LATER[end]}"
    if _CONVOLUTIONS.match(public):
        return "not yet", f"`{named(public)}` is not part of Millstream yet: convolutions and pools are those of `tf.nn.conv2d`, `conv1d`, `max_pool` and their relatives"
    return "unknown", f"`{named(public)}` is not part of Millstream yet, if TensorFlow 1.15 has it"


def named(public: str) -> str:
    """Returns a name as programs write it: `tf.add`, `tensorflow.python.ops.math_ops`."""
    return ("tensorflow." if public.startswith(("python", "core.")) else "tf.") + public


def _prefixes(public: str) -> Any:
    parts = public.split(".")
    return (".".join(parts[:n]) for n in range(len(parts), 0, -1))


def different(public: str) -> Optional[str]:
    """Returns how a name that exists differs from TensorFlow's, or None."""
    return DIFFERENT.get(public)
