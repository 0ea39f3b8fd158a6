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
    "python.ops.seq2seq": "contrib.legacy_seq2seq",
    "python.ops.constant_op": "constant",
}

_PICTURES = "`tf.image.non_max_suppression` and `tf.image.crop_and_resize` work on boxes; for others, use `tf.py_func`"
_MORE_DISTRIBUTIONS = "`tf.contrib.distributions` has the distributions that most programs use; subclass `tf.distributions.Distribution` for others"
_SIGNAL = "feed the results of `numpy.fft`, or use `tf.py_func`"
_TRAINING = "`tf.train.MonitoredTrainingSession` runs a training loop"
_MODEL_FN = "`tf.estimator.Estimator` takes a function that builds the model, with `tf.layers` for instance"
_PROFILES = "`tf.profiler.profile` and `tf.profiler.Profiler` report on graphs and steps"
_AREAS = "`tf.metrics.auc` computes areas under curves"
_GRAPHS = "build a graph and run it with a `tf.Session`"

_COLUMNS = "`tf.parse_example` and `tf.nn.embedding_lookup` make tensors of features"
_OF_COLUMNS = (
    "bucketized_column",
    "check_feature_columns",
    "create_feature_spec_for_parsing",
    "crossed_column",
    "embedding_column",
    "feature_column",
    "infer_real_valued_columns",
    "input_from_feature_columns",
    "joint_weighted_sum_from_feature_columns",
    "make_place_holder_tensors_for_base_features",
    "one_hot_column",
    "parse_feature_columns_from_examples",
    "parse_feature_columns_from_sequence_examples",
    "real_valued_column",
    "scattered_embedding_column",
    "sequence_input_from_feature_columns",
    "shared_embedding_columns",
    "sparse_column_with_hash_bucket",
    "sparse_column_with_integerized_feature",
    "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file",
    "transform_features",
    "weighted_sparse_column",
    "weighted_sum_from_feature_columns",
)

LATER: Dict[str, str] = {
    "LMDBReader": "`tf.TFRecordReader` reads records, and `tf.py_func` calls a function that reads a database",
    "audio": "decode sound with NumPy or `wave`, and feed the arrays",
    "contrib.factorization": "a `tf.while_loop` with `tf.unsorted_segment_sum` moves centers of clusters",
    "contrib.image": _PICTURES,
    "contrib.predictor": "`tf.saved_model.loader.load` loads a model into a session, which runs it",
    "contrib.staging": "`slim.prefetch_queue` and `tf.FIFOQueue` keep batches ahead",
    "contrib.summary": "`tf.summary` and a `tf.summary.FileWriter`",
    "contrib.tensor_forest": "build the model with `tf.layers`",
    "linalg.LinearOperator": "matrices are tensors: `tf.matmul`, `tf.linalg.solve` and `tf.matrix_diag`",
    "linalg.LinearOperatorDiag": "`tf.matrix_diag` makes the matrix, and a product with a vector its effect",
    "linalg.LinearOperatorIdentity": "`tf.eye` makes the matrix",
    "linalg.LinearOperatorLowerTriangular": "`tf.matrix_band_part` and `tf.linalg.triangular_solve`",
    "linalg.LinearOperatorScaledIdentity": "`tf.eye` makes the matrix, and a product with a number its effect",
    "self_adjoint_eig": "feed the result of `numpy.linalg.eigh`, or use `tf.py_func`",
    "test.Benchmark": "`Session.run` with a `tf.RunMetadata` measures a run",
    "train.Checkpoint": "`tf.train.Saver` saves the variables of a graph",
    "contrib.distributions": _MORE_DISTRIBUTIONS,
    "contrib.estimator": _TRAINING,
    "contrib.learn": _MODEL_FN,
    "contrib.losses.metric_learning": "`tf.losses` has losses with weights",
    "contrib.metrics.auc_using_histogram": _AREAS,
    "contrib.metrics.auc_with_confidence_intervals": _AREAS,
    "contrib.metrics.precision_recall_at_equal_thresholds": "`tf.metrics.precision_at_thresholds` has rates at thresholds",
    "contrib.metrics.streaming_concat": "fetch the values of each run, and concatenate them",
    "contrib.metrics.streaming_dynamic_auc": _AREAS,
    "contrib.rnn.Conv3DLSTMCell": "`Conv2DLSTMCell` and `Conv1DLSTMCell` convolve over two axes and one",
    "contrib.signal": _SIGNAL,
    "distributions.DirichletMultinomial": _MORE_DISTRIBUTIONS,
    "estimator": _MODEL_FN,
    "feature_column": _COLUMNS,
    "image": _PICTURES,
    "nn.ctc_beam_search_decoder": "`tf.nn.ctc_greedy_decoder` decodes by the largest logit of each step",
    "nn.ctc_beam_search_decoder_v2": "`tf.nn.ctc_greedy_decoder` decodes by the largest logit of each step",
    "nn.learned_unigram_candidate_sampler": "`tf.nn.fixed_unigram_candidate_sampler` takes the counts of the classes",
    "contrib.tfprof.ProfileContext": _PROFILES,
    "contrib.tfprof.tfprof_logger": _PROFILES,
    "profiler.advise": _PROFILES,
    "profiler.write_op_log": _PROFILES,
    "python.estimator": _MODEL_FN,
    "python.framework.function": "call a Python function where the graph needs it",
    "py_function": "`tf.py_func` calls a Python function",
    "signal": _SIGNAL,
    "svd": "feed the result of `numpy.linalg.svd`, or use `tf.py_func`",
}

LATER.update({"contrib.layers." + name: _COLUMNS for name in _OF_COLUMNS})

# The reason, and what to use.
NEVER: Dict[str, Tuple[str, str]] = {
    "GradientTape": ("there is no eager execution", "`tf.gradients`"),
    "autograph": ("Python's control flow is not translated", "`tf.while_loop` and `tf.cond`"),
    "compat.v2": ("it is TensorFlow 2", "`tf.compat.v1`"),
    "contrib.cudnn_rnn": ("graphs run on the CPU", "`tf.nn.rnn_cell` and `tf.nn.dynamic_rnn`"),
    "contrib.quantize": ("graphs run on the CPU, in floats", "the graph as it is"),
    "contrib.distribute": ("a session runs in one process", "a `tf.Session`"),
    "contrib.eager": ("there is no eager execution", _GRAPHS),
    "contrib.keras": ("Keras is a library of its own", "`tf.layers` and `tf.nn.rnn_cell`"),
    "contrib.lite": ("a graph runs as it is", "`millstream run graph.pb`"),
    "contrib.nccl": ("graphs run on the CPU", "`tf.add_n`"),
    "contrib.slim.nets": ("networks are programs of their own", "a file that defines the network with `tf.contrib.slim`"),
    "contrib.tensorrt": ("graphs run on the CPU", "the graph as it is"),
    "contrib.tpu": ("graphs run on the CPU", "`tf.train` and its optimizers"),
    "distribute": ("a session runs in one process", "a `tf.Session`"),
    "enable_eager_execution": ("there is no eager execution", _GRAPHS),
    "estimator.tpu": ("graphs run on the CPU", "`tf.estimator.Estimator`"),
    "function": ("Python's control flow is not translated", _GRAPHS),
    "keras": ("Keras is a library of its own", "`tf.layers.dense` and the cells of `tf.nn.rnn_cell`"),
    "lite": ("a graph runs as it is", "`millstream run graph.pb`"),
    "models": ("they left TensorFlow before 1.0", "`tf.nn.rnn_cell` and `tf.contrib.legacy_seq2seq`"),
    "python.distribute": ("a session runs in one process", "a `tf.Session`"),
    "python.keras": ("Keras is a library of its own", "`tf.layers` and `tf.nn.rnn_cell`"),
    "python.tpu": ("graphs run on the CPU", "`tf.train` and its optimizers"),
    "saved_model.save": ("it saves objects of TensorFlow 2", "`tf.saved_model.simple_save`"),
    "test.create_local_cluster": ("a session runs in one process", "a `tf.train.Server`"),
    "tpu": ("graphs run on the CPU", "`tf.train` and its optimizers"),
    "train.experimental": ("graphs run on the CPU, in the dtypes that they have", "the optimizer as it is"),
    "wrap_function": ("there is no eager execution", _GRAPHS),
    "xla": ("the engine compiles what it runs", "the graph as it is"),
    "contrib.cluster_resolver": ("a session runs in one process", "a `tf.Session`"),
    "contrib.compiler": ("the engine compiles what it runs", "the graph as it is"),
}

_NODES = "it makes more nodes: initial values of variables created after it differ, with equal seeds"

# Names that are here and do less than in TensorFlow 1.15.
DIFFERENT: Dict[str, str] = {
    "contrib.rnn.LSTMBlockFusedCell": _NODES,
    "contrib.seq2seq.BeamSearchDecoder": _NODES,
    "enable_control_flow_v2": "it raises: loops and branches are made of `Switch`, `Merge` and related ops",
    "enable_eager_execution": "it raises: there is no eager execution; " + _GRAPHS,
    "enable_tensor_equality": "it raises: tensors are equal to themselves alone; use `tf.equal`",
    "enable_v2_behavior": "it raises: it is TensorFlow 2",
    "enable_v2_tensorshape": "it raises: a shape's elements are of type `Dimension`",
    "load_file_system_library": "it raises: there are no plugins",
    "load_library": "it raises: there are no plugins",
    "load_op_library": "it raises: there are no plugins; `tf.py_func` calls a function of one's own",
    "train.SyncReplicasOptimizer": "gradients are collected in queues, not in `ConditionalAccumulator`s: graphs have other nodes",
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
