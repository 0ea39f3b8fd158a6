"""`tf.contrib.predictor`: exported models and estimators as functions from arrays to arrays."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional

from millstream.estimator.estimator import Estimator
from millstream.estimator.model_fn import ModeKeys
from millstream.framework import Graph, namespaces
from millstream.framework.session import Session
from millstream.saved_model import loader
from millstream.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from millstream.train.monitored_session import ChiefSessionCreator, MonitoredSession

__all__ = ["from_estimator", "from_saved_model"]

__dir__ = namespaces.dir_of(globals())


class Predictor:
    """A function from a dictionary of arrays to one of arrays, over a session of its own."""

    def __init__(self, graph: Any, session: Any, inputs: Dict[str, str], outputs: Dict[str, str]) -> None:
        self._graph = graph
        self._session = session
        self._feed_tensors = {key: graph.get_tensor_by_name(name) for key, name in inputs.items()}
        self._fetch_tensors = {key: graph.get_tensor_by_name(name) for key, name in outputs.items()}

    @property
    def graph(self) -> Any:
        """The graph of the model."""
        return self._graph

    @property
    def session(self) -> Any:
        """The session in which the model runs."""
        return self._session

    @property
    def feed_tensors(self) -> Dict[str, Any]:
        """The inputs, by the keys of the signature."""
        return self._feed_tensors

    @property
    def fetch_tensors(self) -> Dict[str, Any]:
        """The outputs, by the keys of the signature."""
        return self._fetch_tensors

    def __repr__(self) -> str:
        return "%s with feed tensors %s and fetch_tensors %s" % (type(self).__name__, self._feed_tensors, self._fetch_tensors)

    def __call__(self, input_dict: Dict[str, Any]) -> Dict[str, Any]:
        """Returns the outputs for arrays.

        Args:
          input_dict: The arrays, by the keys of `feed_tensors`. An input without an array is not fed.

        Raises:
          ValueError: A key is none of an input.
        """
        unexpected = set(input_dict) - set(self._feed_tensors)
        if unexpected:
            raise ValueError("Got unexpected keys in input_dict: %s\nexpected: %s" % (unexpected, set(self._feed_tensors)))
        feeds = {tensor: input_dict[key] for key, tensor in self._feed_tensors.items() if input_dict.get(key) is not None}
        return self._session.run(self._fetch_tensors, feeds)  # type: ignore[no-any-return]


class SavedModelPredictor(Predictor):
    """A predictor over an exported model."""


class CoreEstimatorPredictor(Predictor):
    """A predictor over an estimator's last checkpoint."""


def from_saved_model(
    export_dir: str,
    signature_def_key: Optional[str] = None,
    signature_def: Any = None,
    input_names: Optional[Dict[str, str]] = None,
    output_names: Optional[Dict[str, str]] = None,
    tags: Optional[str] = None,
    graph: Optional[Graph] = None,
    config: Any = None,
) -> Predictor:
    """Returns a predictor over an exported model.

    Args:
      export_dir: The folder of the model.
      signature_def_key: The key of its signature; by default `"serving_default"`.
      signature_def: A signature instead: a `SignatureDef`.
      input_names: The names of the inputs' tensors by key, instead of a signature.
      output_names: The names of the outputs' tensors by key; given with `input_names`.
      tags: The tags of the graph, with commas between; by default `"serve"`.
      graph: The graph to load it into; by default a new one.
      config: The session's `ConfigProto`.

    Raises:
      ValueError: More than one of signature, its key and names are given, or there is no such signature.
      OSError: There is no model in the folder.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp() + "/model"
      >>> x = tf.placeholder(tf.float32, [None])
      >>> with tf.Session() as sess:
      ...     tf.saved_model.simple_save(sess, folder, {"x": x}, {"y": 2.0 * x})
      >>> predict = tf.contrib.predictor.from_saved_model(folder)
      >>> predict({"x": [1.0, 2.0]})["y"].tolist()
      [2.0, 4.0]
    """
    if (input_names is None) != (output_names is None):
        raise ValueError("input_names and output_names must both be specified or both be unspecified.")
    if 1 < (signature_def_key is not None) + (signature_def is not None) + (input_names is not None):
        raise ValueError("You must specify at most one of signature_def_key OR signature_def OR(input_names AND output_names).")
    graph = graph or Graph()
    with graph.as_default():
        session = Session(config=config)
        meta = loader.load(session, (tags or "serve").split(","), export_dir)
    if input_names is None or output_names is None:
        signature = _signature(meta, signature_def_key) if signature_def is None else signature_def
        input_names, output_names = _names(signature)
    return SavedModelPredictor(graph, session, input_names, output_names)


def _signature(meta: Any, key: Optional[str]) -> Any:
    key = key or DEFAULT_SERVING_SIGNATURE_DEF_KEY
    for name in (key, "default_input_alternative:" + key):
        if name in meta.signature_def:
            return meta.signature_def[name]
    available = list(meta.signature_def)
    raise ValueError("Got signature_def_key \"%s\". Available signatures are %s. Original error:\n%r" % (key, available, key))


def _names(signature: Any) -> Any:
    sides = (signature.inputs, signature.outputs)
    return tuple({key: info.name for key, info in side.items()} for side in sides)


def from_estimator(
    estimator: Estimator,
    serving_input_receiver_fn: Callable[[], Any],
    output_key: Optional[str] = None,
    graph: Optional[Graph] = None,
    config: Any = None,
) -> Predictor:
    """Returns a predictor over an estimator's last checkpoint.

    Args:
      estimator: The estimator.
      serving_input_receiver_fn: A function that returns a `ServingInputReceiver`.
      output_key: The key of an export output; by default `"serving_default"`.
      graph: The graph to build the model in; by default a new one.
      config: The session's `ConfigProto`.

    Raises:
      KeyError: The model has no export output with this key.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     y = 2.0 * features["x"] + tf.get_variable("b", initializer=0.0)
      ...     if mode == tf.estimator.ModeKeys.PREDICT:
      ...         outputs = {"serving_default": tf.estimator.export.PredictOutput({"y": y})}
      ...         return tf.estimator.EstimatorSpec(mode, predictions=y, export_outputs=outputs)
      ...     step = tf.assign_add(tf.train.get_global_step(), 1)
      ...     return tf.estimator.EstimatorSpec(mode, loss=tf.reduce_sum(y), train_op=step)
      >>> def receive():
      ...     x = tf.placeholder(tf.float32, [None])
      ...     return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})
      >>> estimator = tf.estimator.Estimator(model_fn)
      >>> estimator = estimator.train(lambda: ({"x": tf.constant([1.0])}, None), steps=1)
      >>> tf.contrib.predictor.from_estimator(estimator, receive)({"x": [3.0]})["y"].tolist()
      [6.0]
    """
    graph = graph or Graph()
    with graph.as_default():
        receiver = serving_input_receiver_fn()
        spec = estimator.model_fn(receiver.features, None, ModeKeys.PREDICT, estimator.config)
        key = output_key or DEFAULT_SERVING_SIGNATURE_DEF_KEY
        output = (spec.export_outputs or {}).get(key)
        if output is None:
            raise KeyError("output_key must be one of %s; got %s" % ((spec.export_outputs or {}).keys(), key))
        inputs, outputs = _names(output.as_signature_def(receiver.receiver_tensors))
        session = MonitoredSession(ChiefSessionCreator(config=config, checkpoint_dir=estimator.model_dir))
    return CoreEstimatorPredictor(graph, session, inputs, outputs)
