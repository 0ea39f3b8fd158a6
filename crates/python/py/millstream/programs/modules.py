"""TensorFlow's modules, public and internal, and the modules of this package that hold their names.

A module is named by its path without `tensorflow.`; the package itself is the empty path. `is_module` says
whether a path is a module here, and `attribute` looks a name up in one.
"""

from __future__ import annotations

import functools
import importlib
import re
import types
from typing import Any, Dict, List, Optional, Set, Tuple

from millstream import _engine
from millstream.framework import left_out
from millstream.framework.op_functions import op, raw
from millstream.programs import extras
from millstream.programs.inside import absent, endpoints

# The places to look a name up in: modules of this package ("." is the package itself), modules of Python
# ("=inspect"), and the functions of all ops by TensorFlow's internal names ("gen") or the ops' own ("raw").
_PLACES = """
contrib.cluster_resolver.python.training.tpu_cluster_resolver .contrib.cluster_resolver
contrib.framework.python.ops.audio_ops gen
contrib.layers.python.layers.feature_column .contrib.layers.feature_columns
contrib.layers.python.layers.feature_column_ops .contrib.layers.feature_column_ops
contrib.layers.python.layers.layers .contrib.layers.layers .contrib.layers
contrib.layers.python.layers.optimizers .contrib.layers.optimizers
contrib.layers.python.layers.utils .contrib.layers.utils
contrib.learn.python.learn.monitored_session .train.monitored_session .train
contrib.learn.python.learn.graph_actions .contrib.learn.actions .contrib.learn
contrib.learn.python.learn.learn_io.graph_io .contrib.learn.reading .contrib.learn
contrib.nn.python.ops.alpha_dropout .contrib.nn
contrib.nn.python.ops.fwd_gradients .contrib.nn
contrib.nn.python.ops.scaled_softplus .contrib.nn
contrib.recurrent.python.ops.functional_rnn .contrib.recurrent
contrib.sparsemax.python.ops.sparsemax .contrib.sparsemax
contrib.sparsemax.python.ops.sparsemax_loss .contrib.sparsemax
contrib.summary.summary_ops .contrib.summary
contrib.tpu.python.tpu.bfloat16 .contrib.tpu
contrib.tpu.python.tpu.tpu .contrib.tpu
contrib.tpu.python.tpu.tpu_config .contrib.tpu
contrib.tpu.python.tpu.tpu_estimator .contrib.tpu
contrib.tpu.python.tpu.tpu_optimizer .contrib.tpu
contrib.losses.python.metric_learning .contrib.losses.metric_learning
contrib.losses.python.metric_learning.metric_loss_ops .contrib.losses.metric_learning
contrib.data.python.ops.get_single_element .contrib.data
contrib.data.python.ops.unique .contrib.data
contrib.estimator.python.estimator.multi_head .contrib.estimator
contrib.estimator.python.estimator.replicate_model_fn .contrib.estimator
contrib.framework.python.ops.arg_scope .contrib.framework.arg_scopes
contrib.image.python.ops.dense_image_warp .contrib.image
contrib.image.python.ops.interpolate_spline .contrib.image
contrib.image.python.ops.sparse_image_warp .contrib.image
contrib.learn.python.learn.learn_io.numpy_io .estimator.inputs
contrib.learn.python.learn.learn_io.pandas_io .estimator.inputs
contrib.learn.python.learn.datasets.base .contrib.learn.base
contrib.learn.python.learn.estimators.kmeans .contrib.factorization .contrib.learn
contrib.lookup.lookup_ops .contrib.lookup
contrib.predictor.core_estimator_predictor .contrib.predictor
contrib.predictor.predictor .contrib.predictor
contrib.predictor.predictor_factories .contrib.predictor
contrib.predictor.saved_model_predictor .contrib.predictor
contrib.summary.summary .contrib.summary
contrib.util.loader .framework.importer
python.client.client_lib .
python.client.session .
python.compat.v2_compat .
python.compiler.xla.jit .contrib.compiler.jit
python.data.experimental.ops.batching .data.experimental
python.data.experimental.ops.cardinality .data.experimental
python.data.experimental.ops.counter .data.experimental
python.data.experimental.ops.distribute_options .data.experimental
python.data.experimental.ops.enumerate_ops .data.experimental
python.data.experimental.ops.parsing_ops .data.experimental
python.data.experimental.ops.random_ops .data.experimental
python.data.experimental.ops.stats_options .data.experimental
python.data.experimental.ops.threading_options .data.experimental
python.data.experimental.ops.error_ops .data.experimental
python.data.experimental.ops.get_single_element .data.experimental
python.data.experimental.ops.grouping .data.experimental
python.data.experimental.ops.interleave_ops .data.experimental
python.data.experimental.ops.iterator_ops .data.experimental
python.data.experimental.ops.optimization .data.experimental
python.data.experimental.ops.optimization_options .data.options
python.data.experimental.ops.prefetching_ops .data.experimental
python.data.experimental.ops.readers .data.experimental
python.data.experimental.ops.scan_ops .data.experimental
python.data.experimental.ops.shuffle_ops .data.experimental
python.data.ops.dataset_ops .data.datasets .data
python.data.ops.iterator_ops .data.iterators .data .data.optional
python.data.ops.optional_ops .data.optional
python.data.ops.readers .data
python.data.util.nest .nest .framework.nest
python.eager.context .
python.estimator.canned.dnn .estimator
python.estimator.canned.dnn_linear_combined .estimator
python.estimator.canned.head .estimator.heads .estimator.more_heads .estimator
python.estimator.canned.linear .estimator
python.estimator.canned.parsing_utils .estimator.parsing
python.estimator.estimator .estimator.estimator .estimator
python.estimator.export.export .estimator.export
python.estimator.export.export_output .estimator.export
python.estimator.exporter .estimator
python.estimator.inputs.inputs .estimator.inputs
python.estimator.inputs.numpy_io .estimator.inputs
python.estimator.model_fn .estimator.model_fn .estimator
python.estimator.run_config .estimator.run_config
python.estimator.training .estimator
python.feature_column.dense_features .feature_column .feature_column.owners
python.feature_column.feature_column .feature_column .feature_column.inner
python.feature_column.feature_column_lib .feature_column
python.feature_column.serialization .feature_column.configs
python.feature_column.dense_features_v2 .feature_column.owners
python.feature_column.feature_column_v2 .feature_column .feature_column.inner
python.feature_column.sequence_feature_column .feature_column.sequences .feature_column.models
python.feature_column.utils .feature_column.inner
python.framework.constant_op .framework.constant_values .
python.framework.device .
python.framework.dtypes .framework.dtypes
python.framework.errors .errors
python.framework.errors_impl .errors
python.framework.framework_lib .
python.framework.graph_io .io
python.framework.graph_util .graph_util
python.framework.graph_util_impl .graph_util
python.framework.importer .
python.framework.indexed_slices .
python.framework.load_library .
python.framework.meta_graph .train
python.framework.ops .framework.graph .framework .
python.framework.random_seed .
python.framework.smart_cond
python.framework.sparse_tensor .
python.framework.tensor_conversion_registry .
python.framework.tensor_shape .framework.shapes
python.framework.tensor_spec .
python.framework.tensor_util .framework.constant_values .framework.tensor_util .framework
python.framework.test_util .test.case .test .
python.framework.versions .framework.version .
python.layers.base .layers.core .layers
python.layers.convolutional .layers.convolutional .layers
python.layers.core .layers.core .layers
python.layers.layers .layers
python.layers.normalization .layers.core .layers
python.layers.pooling .layers
python.layers.utils .layers.core .contrib.layers.utils
python.lib.io.file_io .io.files .gfile
python.lib.io.python_io .python_io
python.lib.io.tf_record .python_io
python.module.module .framework.module
python.ops.array_grad
python.ops.array_ops .ops.array_ops .ops.shape_ops .ops.indexing_ops . gen
python.ops.bitwise_ops .bitwise
python.ops.candidate_sampling_ops .nn gen
python.ops.check_ops .ops.check_ops .debugging .
python.ops.clip_ops .
python.ops.confusion_matrix .math .
python.ops.control_flow_grad
python.ops.control_flow_ops .ops.control_flow . gen
python.ops.control_flow_util .ops.control_flow .framework.switches
python.ops.control_flow_v2_toggles .
python.ops.critical_section_ops .
python.ops.ctc_ops .nn
python.ops.custom_gradient .
python.ops.data_flow_grad
python.ops.data_flow_ops .ops.data_flow .ops.barriers . gen
python.ops.distributions.bernoulli .distributions
python.ops.distributions.beta .distributions .contrib.distributions.transformed
python.ops.distributions.bijector .contrib.distributions.bijectors
python.ops.distributions.bijector_impl .contrib.distributions.bijectors
python.ops.distributions.categorical .distributions
python.ops.distributions.dirichlet .distributions
python.ops.distributions.dirichlet_multinomial .distributions
python.ops.distributions.distribution .distributions
python.ops.distributions.distributions .distributions
python.ops.distributions.exponential .distributions .contrib.distributions.transformed
python.ops.distributions.gamma .distributions .contrib.distributions.transformed
python.ops.distributions.identity_bijector .contrib.distributions.bijectors
python.ops.distributions.kullback_leibler .distributions .distributions.divergence
python.ops.distributions.laplace .distributions .contrib.distributions.transformed
python.ops.distributions.multinomial .distributions
python.ops.distributions.normal .distributions .contrib.distributions.transformed
python.ops.distributions.special_math .distributions.special
python.ops.distributions.student_t .distributions .contrib.distributions.transformed
python.ops.distributions.transformed_distribution .contrib.distributions.flowing
python.ops.distributions.uniform .distributions
python.ops.distributions.util .distributions.values
python.ops.embedding_ops .nn
python.ops.functional_ops .
python.ops.gradient_checker .test
python.ops.gradients .ops.gradients .
python.ops.gradients_impl .ops.gradients .
python.ops.gradients_util .ops.gradients
python.ops.histogram_ops .
python.ops.image_grad
python.ops.image_ops .image
python.ops.image_ops_impl .image
python.ops.init_ops .variables.initializers .initializers .
python.ops.init_ops_v2
python.ops.initializers_ns .initializers
python.ops.inplace_ops gen
python.ops.io_ops .io .train . gen
python.ops.linalg.linalg .linalg
python.ops.linalg.linalg_impl .linalg .
python.ops.linalg.linear_operator .linalg
python.ops.linalg.linear_operator_adjoint .linalg
python.ops.linalg.linear_operator_block_diag .linalg
python.ops.linalg.linear_operator_circulant .linalg
python.ops.linalg.linear_operator_composition .linalg
python.ops.linalg.linear_operator_householder .linalg
python.ops.linalg.linear_operator_inversion .linalg
python.ops.linalg.linear_operator_kronecker .linalg
python.ops.linalg.linear_operator_low_rank_update .linalg
python.ops.linalg.linear_operator_toeplitz .linalg
python.ops.linalg.linear_operator_zeros .linalg
python.ops.linalg.linear_operator_diag .linalg
python.ops.linalg.linear_operator_full_matrix .linalg
python.ops.linalg.linear_operator_identity .linalg
python.ops.linalg.linear_operator_lower_triangular .linalg
python.ops.linalg_grad
python.ops.linalg_ops .linalg . gen
python.ops.linalg_ops_impl .linalg .
python.ops.list_ops gen
python.ops.logging_ops .summary . gen
python.ops.lookup_ops .io.lookup_ops .io.vocabularies .lookup .contrib.lookup .
python.ops.losses.loss_reduction .losses
python.ops.losses.losses .losses
python.ops.losses.losses_impl .losses
python.ops.losses.util .losses
python.ops.manip_grad
python.ops.manip_ops .manip
python.ops.map_fn .
python.ops.math_grad
python.ops.math_ops .ops.math_ops .ops.reduction_ops .math . gen
python.ops.metrics .metrics
python.ops.metrics_impl .metrics
python.ops.nn .nn gen
python.ops.nn_grad
python.ops.nn_impl .nn gen
python.ops.nn_ops .nn gen
python.ops.op_selector .contrib.graph_editor.select .contrib.graph_editor.util
python.ops.parsing_ops .io .
python.ops.partitioned_variables .variables.partitions .
python.ops.ragged.ragged_factory_ops .ops.ragged_tensors
python.ops.ragged.ragged_string_ops .strings
python.ops.ragged.ragged_functional_ops .ops.ragged_tensors
python.ops.ragged.ragged_tensor .ops.ragged_tensors
python.ops.ragged.ragged_tensor_value .ops.ragged_tensors
python.ops.ragged.segment_id_ops .ops.ragged_tensors
python.ops.random_grad
python.ops.random_ops .random . gen
python.ops.resource_variable_ops .variables.variable . gen
python.ops.rnn .rnn.networks .nn
python.ops.rnn_cell .rnn.cells
python.ops.rnn_cell_impl .rnn.cells
python.ops.rnn_cell_wrapper_impl .rnn.cells
python.ops.rnn_grad
python.ops.script_ops .
python.ops.session_ops .
python.ops.sets .sets
python.ops.sets_impl .sets
python.ops.signal.dct_ops .signal
python.ops.signal.fft_ops .signal .spectral .
python.ops.signal.mel_ops .signal
python.ops.signal.mfcc_ops .signal
python.ops.signal.reconstruction_ops .signal
python.ops.signal.shape_ops .signal
python.ops.signal.signal .signal
python.ops.signal.spectral_ops .signal
python.ops.signal.window_ops .signal
python.ops.sort_ops .
python.ops.sparse_grad
python.ops.sparse_ops .sparse . gen
python.ops.special_math_ops .math .
python.ops.standard_ops .
python.ops.state_grad
python.ops.state_ops .variables.state_ops . gen
python.ops.stateful_random_ops .variables.generators gen
python.ops.stateless_random_ops .random .
python.ops.string_ops .strings . gen
python.ops.summary_op_util .io.summaries
python.ops.summary_ops .summary gen
python.ops.summary_ops_v2 .contrib.summary
python.ops.template .
python.ops.tensor_array_grad
python.ops.tensor_array_ops .
python.ops.unconnected_gradients .
python.ops.variable_scope .variables.scopes .
python.ops.variables .variables.variable .variables.collections .
python.ops.weights_broadcast_ops .ops.weights
python.platform.app .app
python.platform.benchmark .test
python.platform.flags .flags
python.platform.gfile .gfile
python.platform.googletest .test
python.platform.resource_loader .resource_loader
python.platform.test .test
python.platform.tf_logging .logging
python.profiler.model_analyzer .profiler
python.profiler.option_builder .profiler
python.pywrap_tensorflow .train
python.pywrap_tensorflow_internal .train
python.saved_model.builder .saved_model
python.saved_model.builder_impl .saved_model
python.saved_model.constants .saved_model.constants
python.saved_model.model_utils.export_output .estimator.export
python.saved_model.loader .saved_model.loader .saved_model
python.saved_model.loader_impl .saved_model.loader .saved_model
python.saved_model.main_op .saved_model.main_op
python.saved_model.main_op_impl .saved_model.main_op
python.saved_model.signature_constants .saved_model.signature_constants
python.saved_model.signature_def_utils .saved_model.signature_def_utils
python.saved_model.signature_def_utils_impl .saved_model.signature_def_utils
python.saved_model.simple_save .saved_model
python.saved_model.tag_constants .saved_model.tag_constants
python.saved_model.utils .saved_model.utils
python.saved_model.utils_impl .saved_model.utils
python.summary.summary .summary
python.summary.summary_iterator .train
python.summary.writer.event_file_writer .io.summaries .summary
python.summary.writer.writer .summary
python.summary.writer.writer_cache .summary
python.tpu.bfloat16 .contrib.tpu
python.tpu.tpu_config .contrib.tpu
python.tpu.tpu_estimator .contrib.tpu
python.tpu.tpu_optimizer .contrib.tpu
python.training.adadelta .train
python.training.adagrad .train
python.training.adagrad_da .train
python.training.adam .train
python.training.basic_loops .train
python.training.basic_session_run_hooks .train.basic_session_run_hooks .train
python.training.checkpoint_management .train.checkpoints .train
python.training.checkpoint_state_pb2 .protos
python.training.checkpoint_utils .train.checkpoints .train
python.training.coordinator .train
python.training.device_setter .train
python.training.evaluation .contrib.training.evaluation .contrib.training
python.training.experimental.loss_scale .train.experimental
python.training.experimental.loss_scale_optimizer .train.experimental
python.training.ftrl .train
python.training.gradient_descent .train
python.training.input .train.input .train
python.training.learning_rate_decay .train
python.training.momentum .train
python.training.monitored_session .train.monitored_session .train
python.training.moving_averages .train.moving_averages .train
python.training.optimizer .train.optimizer .train
python.training.proximal_adagrad .train
python.training.proximal_gradient_descent .train
python.training.queue_runner .train
python.training.queue_runner_impl .train
python.training.rmsprop .train
python.training.saver .train.saver .train.checkpoints .train
python.training.saving.saveable_object .io.saveables
python.training.server_lib .train
python.training.session_manager .train
python.training.session_run_hook .train.session_run_hook .train
python.training.slot_creator .variables.slots
python.training.summary_io .summary .train
python.training.supervisor .train
python.training.sync_replicas_optimizer .train
python.training.tracking.tracking .train
python.training.tracking.util .train
python.training.training .train
python.training.training_ops gen
python.training.training_util .train.training_util .train
python.training.warm_starting_util .train.warm_starts
python.util.compat .compat
python.util.nest .nest .framework.nest
python.util.tf_contextlib =contextlib
python.util.tf_inspect =inspect
"""

_TABLE: Dict[str, List[str]] = {line.split()[0]: line.split()[1:] for line in _PLACES.split("\n") if line}

# Settings in internal modules that programs change, and the modules of this package that hold them.
SETTINGS: Dict[Tuple[str, str], str] = {("python.ops.control_flow_util", "ENABLE_CONTROL_FLOW_V2"): "millstream.framework.switches"}

_MESSAGES_IN = ("example", "framework", "protobuf", "util")


def _packages() -> Set[str]:
    """Returns the modules that contain internal ones, without public ones."""
    public = importlib.import_module("millstream.contrib")._PARTS
    inner = [*_TABLE, *extras.NAMES, *absent.MODULES, *absent.NAMES, *("core.%s.x_pb2" % name for name in _MESSAGES_IN)]
    return {path[:i] for path in inner for i, c in enumerate(path) if c == "."} - {"contrib", *("contrib." + part for part in public)}


_PACKAGES = _packages()

# Modules of this package that are not modules of TensorFlow.
_OURS = ("_engine", "_generated", "framework", "ops", "programs", "protos", "rnn", "variables")

_GENERATED = re.compile(r"python(\.\w+)+\.gen_\w+_ops$")
_MESSAGES = re.compile(r"core\.(%s)\.\w+_pb2$" % "|".join(_MESSAGES_IN))
_PART_OF_CONTRIB = re.compile(r"(contrib\.\w+)\.python(\.\w+){0,3}$")

# Folders in the folders of parts of `contrib`, such as `ops`: what is in other modules there is no module.
_FOLDERS = re.compile(r"contrib\.(distributions\.python\.ops\.bijectors|learn\.python\.learn\.\w+|slim\.python\.slim\.(data|nets))$")


def public_module(path: str) -> Optional[types.ModuleType]:
    """Returns the module of this package that is TensorFlow's public module `path`, or None."""
    package: Any = importlib.import_module("millstream")
    value = package
    for part in path.split(".") if path else []:
        if part in _OURS and value is package or part.startswith("_"):
            return None
        try:
            value = getattr(value, part, None)
        except ImportError:  # The module needs a package that is not installed, as `tf.flags` needs absl-py.
            return None
        if not isinstance(value, types.ModuleType) or not value.__name__.startswith("millstream"):
            return None
    return value


def _places(path: str) -> Optional[List[str]]:
    """Returns the places of an internal module's names, or None if there is no such module."""
    if path in _TABLE:
        return _TABLE[path]
    if _GENERATED.match(path):
        return ["gen", "raw"]
    if _MESSAGES.match(path):
        return [".protos"]
    inner = _inside_contrib(path)
    if inner is not None:
        return inner
    return [] if any(path in paths for paths in (_PACKAGES, extras.NAMES, absent.MODULES, absent.NAMES)) else None


def _inside_contrib(path: str) -> Optional[List[str]]:
    """Returns the places of the names of a module inside a part of `contrib`, or None if there is none.

    The module of this package (that of `contrib.slim.python.slim.learning` is `contrib.slim.learning`) comes
    before the part as a whole. What is in a module, a function of the part, what is left out and names that
    begin with an underscore are not modules.
    """
    part = _PART_OF_CONTRIB.match(path)
    around = path.rpartition(".")[0]
    if around in _TABLE and around not in _PACKAGES:
        return None
    if around == "contrib.distributions.python.ops.bijectors":
        return [".contrib.distributions.bijectors"]
    if part is None or public_module(part.group(1)) is None:
        return None
    head, last = part.group(1), path.rpartition(".")[2]
    if last.startswith("_") or last[0].isupper() or path.count(".") > 4 and not _FOLDERS.match(around):
        return None
    own = public_module(head + "." + last)
    if own is not None:
        return ["." + head + "." + last, "." + head]
    above = public_module(head + "." + path.split(".")[-2])
    is_function = part.group(2) is not None and (hasattr(public_module(head), last) or hasattr(above, last))
    return None if is_function or left_out.reason(head + "." + last)[0] == "never" else ["." + head]


def is_module(path: str) -> bool:
    """Returns whether a path is a module: `nn.rnn_cell`, `python.ops.math_ops`."""
    return _places(path) is not None or public_module(_of_v1(path)) is not None


def _of_v1(path: str) -> str:
    """Returns the path without `compat.v1`, which is the whole package."""
    return path[len("compat.v1") :].lstrip(".") if path == "compat.v1" or path.startswith("compat.v1.") else path


def attribute(path: str, name: str) -> Any:
    """Returns the value of a name in a module.

    Raises:
      AttributeError: There is none. The message says why, and what to use.
    """
    places = _places(path)
    found = extras.NAMES.get(path, {}).get(name)
    if found is None:
        found = endpoints.find(path, name)
    if found is not None:
        return found
    public = public_module(_of_v1(path)) if places is None else None
    try:
        if public is not None and not (name in _OURS and public.__name__ == "millstream"):
            return getattr(public, name)
    except AttributeError:
        pass
    for place in places or []:
        try:
            return _look_up(place, name)
        except AttributeError:
            pass
    if path.startswith(("python.", "contrib.")) and name in _imported():
        # Not an import: what is `tensorflow` may be another's.
        return importlib.import_module("millstream.programs.hook")._Module("tensorflow." + _imported()[name])
    refused = absent.find(path, name)
    if refused is not None:
        return refused
    raise AttributeError(missing((path + "." + name).lstrip("."))[1])


@functools.lru_cache(maxsize=None)
def _imported() -> Dict[str, str]:
    """Returns the modules that TensorFlow's modules import, by their last names: programs take them there.

    `from tensorflow.python.ops.rnn import rnn_cell_impl` is such an import.
    """
    inner = [path for path in _TABLE if re.match(r"python\.(framework|ops|platform|training|util)\.\w+$", path)]
    lasts = [path.rpartition(".")[2] for path in inner]
    return {last: path for last, path in zip(lasts, inner) if lasts.count(last) == 1}


def _look_up(place: str, name: str) -> Any:
    if place == "gen":
        # TensorFlow hides functions whose names are taken: `gen_math_ops._range`.
        inner = name[1:] if name.startswith("_") else name
        if inner not in _ops_by_internal_name():
            raise AttributeError(name)
        return op(_ops_by_internal_name()[inner])
    if place == "raw":
        return raw(name)
    if place.startswith("="):
        return getattr(importlib.import_module(place[1:]), name)
    if place == "." and name in _OURS:
        raise AttributeError(name)
    return getattr(importlib.import_module(("millstream" + place).rstrip(".")), name)


@functools.lru_cache(maxsize=None)
def _ops_by_internal_name() -> Dict[str, str]:
    """Returns the ops by the names of their functions in TensorFlow's generated modules: `mat_mul`."""
    return {re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=.)(?=[A-Z][a-z])", "_", n.lstrip("_")).lower(): n for n in _engine.op_names()}


def missing(path: str) -> Tuple[str, str]:
    """Returns the kind and the text of the reason why a name does not exist; see `left_out.reason`."""
    kind, text = left_out.reason(_of_v1(path) or path)
    if kind == "unknown" and ".python." in path:
        # What is known about `contrib.slim.nets` holds for `contrib.slim.python.slim.nets`.
        found = left_out.reason(re.sub(r"^(contrib\.\w+)\.python\.\w+\.", r"\1.", path))
        kind, text = found if found[0] != "unknown" else (kind, text)
    return kind, text


def names(path: str) -> List[str]:
    """Returns the public names of a module: what `from module import *` imports.

    Those of the whole package are left out, where a module has others: they would hide `print` and its like.
    """
    found = {*extras.NAMES.get(path, {}), *endpoints.names(path), *absent.NAMES.get(path, ())}
    places = _places(path) or []
    for place in [p for p in places if p not in (".", "gen", "raw")] or places:
        if place == "gen":
            found.update(_ops_by_internal_name())
        elif place == "raw":
            found.update(_engine.op_names())
        elif place == ".":
            found.update(set(dir(importlib.import_module("millstream"))) - set(_OURS))
        else:
            module = importlib.import_module(place[1:] if place.startswith("=") else "millstream" + place)
            found.update(getattr(module, "__all__", None) or dir(module))
    return sorted(n for n in found if not n.startswith("_"))
