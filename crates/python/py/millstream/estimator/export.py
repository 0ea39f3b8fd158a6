"""`tf.estimator.export`: what an exported model takes, and what it returns."""

from __future__ import annotations

import abc
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from millstream._engine import Tensor
from millstream.framework import SparseTensor, convert_to_tensor, dtypes, logging, namespaces, placeholder, shapes
from millstream.io.parsing_ops import parse_example
from millstream.saved_model import signature_constants, signature_def_utils

__all__ = [
    "ClassificationOutput",
    "ExportOutput",
    "PredictOutput",
    "RegressionOutput",
    "ServingInputReceiver",
    "TensorServingInputReceiver",
    "build_parsing_serving_input_receiver_fn",
    "build_raw_serving_input_receiver_fn",
]

_DEFAULT = signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY


class ExportOutput(abc.ABC):
    """The base class of what an exported model returns.

    Example:
      >>> output = tf.estimator.export.PredictOutput(tf.constant([1.0], name="y"))
      >>> output.as_signature_def({"x": tf.placeholder(tf.float32, name="x")}).outputs["output"].name
      'y:0'
    """

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors: Dict[str, Any]) -> Any:
        """Returns the signature of the output for a dict of inputs, a `SignatureDef`."""


def _one_string(what: str, tensors: Dict[str, Any]) -> Any:
    """Returns the only input, which must be of strings: serialized examples."""
    if len(tensors) != 1 or next(iter(tensors.values())).dtype != dtypes.string:
        raise ValueError("%s input must be a single string Tensor; got %s" % (what, tensors))
    return next(iter(tensors.values()))


class ClassificationOutput(ExportOutput):
    """The output of a classification: scores, the names of classes, or both.

    Args:
      scores: A tensor of floats.
      classes: A tensor of strings.

    Raises:
      ValueError: Neither is given, or one is of another type.

    Example:
      >>> output = tf.estimator.export.ClassificationOutput(scores=tf.constant([[0.5]]))
      >>> output.scores.dtype, output.classes
      (tf.float32, None)
    """

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        if scores is not None and not (isinstance(scores, Tensor) and scores.dtype.is_floating):
            raise ValueError("Classification scores must be a float32 Tensor; got %s" % scores)
        if classes is not None and not (isinstance(classes, Tensor) and classes.dtype == dtypes.string):
            raise ValueError("Classification classes must be a string Tensor; got %s" % classes)
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        self._scores, self._classes = scores, classes

    @property
    def scores(self) -> Any:
        """The scores, or None."""
        return self._scores

    @property
    def classes(self) -> Any:
        """The names of the classes, or None."""
        return self._classes

    def as_signature_def(self, receiver_tensors: Dict[str, Any]) -> Any:
        """Returns the signature of the output for a dict of inputs, a `SignatureDef`."""
        examples = _one_string("Classification", receiver_tensors)
        return signature_def_utils.classification_signature_def(examples, self.classes, self.scores)


class RegressionOutput(ExportOutput):
    """The output of a regression.

    Args:
      value: A tensor of floats.

    Raises:
      ValueError: It is something else.

    Example:
      >>> tf.estimator.export.RegressionOutput(tf.constant([0.5])).value.dtype
      tf.float32
    """

    def __init__(self, value: Any) -> None:
        if not (isinstance(value, Tensor) and value.dtype.is_floating):
            raise ValueError("Regression output value must be a float32 Tensor; got %s" % value)
        self._value = value

    @property
    def value(self) -> Any:
        """The tensor."""
        return self._value

    def as_signature_def(self, receiver_tensors: Dict[str, Any]) -> Any:
        """Returns the signature of the output for a dict of inputs, a `SignatureDef`."""
        return signature_def_utils.regression_signature_def(_one_string("Regression", receiver_tensors), self.value)


class PredictOutput(ExportOutput):
    """The output of a prediction: any tensors.

    Args:
      outputs: A tensor, or a dict from names to tensors.

    Raises:
      ValueError: It is something else.

    Example:
      >>> sorted(tf.estimator.export.PredictOutput({"y": tf.constant([0.5])}).outputs)
      ['y']
    """

    def __init__(self, outputs: Any) -> None:
        self._outputs: Dict[str, Any] = {}
        for key, value in (outputs if isinstance(outputs, dict) else {"output": outputs}).items():
            name = "/".join(key) if isinstance(key, tuple) else key
            if not isinstance(name, str):
                raise ValueError("Prediction output key must be a string; got %s." % name)
            if not isinstance(value, Tensor):
                raise ValueError("Prediction output value must be a Tensor; got %s." % value)
            self._outputs[name] = value

    @property
    def outputs(self) -> Dict[str, Any]:
        """A dict from names to tensors."""
        return self._outputs

    def as_signature_def(self, receiver_tensors: Dict[str, Any]) -> Any:
        """Returns the signature of the output for a dict of inputs, a `SignatureDef`."""
        return signature_def_utils.predict_signature_def(receiver_tensors, self.outputs)


def export_outputs_of(outputs: Any, predictions: Any) -> Dict[str, ExportOutput]:
    """Returns the outputs of an `EstimatorSpec`, with one that is the default."""
    if outputs is None:
        outputs = {_DEFAULT: PredictOutput(predictions)}
    if not isinstance(outputs, dict):
        raise TypeError("export_outputs must be dict, given: %s" % outputs)
    if not all(isinstance(v, ExportOutput) for v in outputs.values()):
        raise TypeError("Values in export_outputs must be ExportOutput objects. Given: %s" % outputs)
    if len(outputs) == 1:
        outputs.setdefault(_DEFAULT, next(iter(outputs.values())))
    elif outputs and _DEFAULT not in outputs:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as the default.  Do this by naming "
            "one of them with signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY."
        )
    return outputs


def signatures(receiver: Any, outputs: Dict[str, ExportOutput]) -> Dict[str, Any]:
    """Returns the signatures of outputs by name; those that do not fit the input are left out."""
    inputs = {None: receiver.receiver_tensors, **(getattr(receiver, "receiver_tensors_alternatives", None) or {})}
    found, excluded = {}, []
    for alternative, tensors in inputs.items():
        for key, output in outputs.items():
            name = key if alternative is None else "%s:%s" % (alternative, key)
            try:
                found[name] = output.as_signature_def(tensors)
            except ValueError as error:
                excluded.append("%r: %s" % (name, error))
    for text in excluded:
        logging.info("Signature not exported: %s", text)
    if _DEFAULT not in found:
        logging.warning("Export includes no default signature!" if found else "Export includes no signatures!")
    return {name: s for name, s in found.items() if signature_def_utils.is_valid_signature(s)}


_SINGLE = {"feature": "feature", "receiver_tensor": "input", "receiver_tensors_alternative": "input"}


def _checked(tensors: Any, what: str, ints: bool = False) -> Dict[Any, Any]:
    """Returns tensors as a dict, after checks of their names and types."""
    if tensors is None:
        raise ValueError("%ss must be defined." % what)
    if not isinstance(tensors, dict):
        tensors = {_SINGLE[what]: tensors}
    for name, tensor in tensors.items():
        if not isinstance(name, (str, int) if ints else str):
            raise ValueError("%s keys must be strings%s: %s." % (what, " or ints" if ints else "", name))
        _check_tensor(tensor, "%s %s" % (what, name))
    return tensors


def _check_tensor(tensor: Any, what: str) -> None:
    if not isinstance(tensor, (Tensor, SparseTensor)):
        raise ValueError("%s must be a Tensor or SparseTensor." % what)


class _Receiver(NamedTuple):
    features: Any
    receiver_tensors: Dict[str, Any]
    receiver_tensors_alternatives: Optional[Dict[str, Any]]


class ServingInputReceiver(_Receiver):
    """What an exported model takes: placeholders, and the features made of them.

    Args:
      features: A tensor or a dict of tensors: the features of the model function.
      receiver_tensors: A tensor or a dict of tensors: the placeholders.
      receiver_tensors_alternatives: A dict from names to other placeholders that are fed instead.

    Raises:
      ValueError: One of them is of another type.

    Example:
      >>> x = tf.placeholder(tf.float32, [None])
      >>> tf.estimator.export.ServingInputReceiver({"x": x}, x).receiver_tensors["input"] is x
      True
    """

    def __new__(cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None) -> Any:
        features, tensors = _checked(features, "feature", True), _checked(receiver_tensors, "receiver_tensor")
        return super().__new__(cls, features, tensors, _alternatives(receiver_tensors_alternatives))


def _alternatives(given: Any) -> Any:
    if given is None:
        return None
    if not isinstance(given, dict):
        raise ValueError("receiver_tensors_alternatives must be a dict: %s." % given)
    return {name: _checked(tensors, "receiver_tensors_alternative") for name, tensors in given.items()}


class TensorServingInputReceiver(_Receiver):
    """A `ServingInputReceiver` whose features are one tensor, not a dict.

    Args:
      features: A tensor: the features of the model function.
      receiver_tensors: A tensor or a dict of tensors: the placeholders.
      receiver_tensors_alternatives: A dict from names to other placeholders that are fed instead.

    Raises:
      ValueError: One of them is of another type.

    Example:
      >>> x = tf.placeholder(tf.float32, [None])
      >>> tf.estimator.export.TensorServingInputReceiver(x, {"x": x}).features is x
      True
    """

    def __new__(cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None) -> Any:
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor(features, "feature")
        tensors = _checked(receiver_tensors, "receiver_tensor")
        return super().__new__(cls, features, tensors, _alternatives(receiver_tensors_alternatives))


def build_parsing_serving_input_receiver_fn(
    feature_spec: Dict[str, Any], default_batch_size: Optional[int] = None
) -> Callable[[], ServingInputReceiver]:
    """Returns a function for exports whose input is serialized `tf.train.Example`s.

    Args:
      feature_spec: A dict from names to features, as `tf.parse_example` takes it.
      default_batch_size: The number of examples; None for any.

    Returns:
      A function without arguments that returns a `ServingInputReceiver`.

    Example:
      >>> spec = {"x": tf.FixedLenFeature([2], tf.float32)}
      >>> receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)()
      >>> receiver.features["x"].shape, sorted(receiver.receiver_tensors)
      (TensorShape([Dimension(None), Dimension(2)]), ['examples'])
    """

    def receiver() -> ServingInputReceiver:
        examples = placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(parse_example(examples, feature_spec), {"examples": examples})

    return receiver


def build_raw_serving_input_receiver_fn(
    features: Dict[str, Any], default_batch_size: Optional[int] = None
) -> Callable[[], ServingInputReceiver]:
    """Returns a function for exports whose input is the features themselves.

    Args:
      features: A dict from names to tensors, which tell the dtypes and shapes; their first dimension is the
        batch.
      default_batch_size: The size of the batch; None for any.

    Returns:
      A function without arguments that returns a `ServingInputReceiver`.

    Example:
      >>> make = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.zeros([4, 2])})
      >>> make().features["x"].shape
      TensorShape([Dimension(None), Dimension(2)])
    """
    tensors = {name: convert_to_tensor(t) for name, t in features.items()}
    kinds: List[Any] = [(name, t.dtype, t.shape[1:], t.op.name) for name, t in tensors.items()]

    def receiver() -> ServingInputReceiver:
        batch = shapes.TensorShape([default_batch_size])
        made = {name: placeholder(dtype, batch.concatenate(rest), node) for name, dtype, rest, node in kinds}
        return ServingInputReceiver(made, made)

    return receiver


__dir__ = namespaces.dir_of(globals())
