"""Signatures: the inputs and outputs of a graph, by name."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

from millstream._engine import Tensor
from millstream.framework import dtypes, protos
from millstream.saved_model import signature_constants as names
from millstream.saved_model.utils import build_tensor_info


def build_signature_def(
    inputs: Optional[Mapping[str, Any]] = None, outputs: Optional[Mapping[str, Any]] = None, method_name: Optional[str] = None
) -> Any:
    """Returns a `SignatureDef` of named `TensorInfo`s.

    Args:
      inputs: A dict from names to `TensorInfo`s to feed.
      outputs: A dict from names to `TensorInfo`s to fetch.
      method_name: The method that a server offers the signature as.

    Returns:
      A `SignatureDef`.

    Example:
      >>> x = tf.saved_model.build_tensor_info(tf.placeholder(tf.float32, [2], name="x"))
      >>> print(tf.saved_model.build_signature_def({"x": x}, method_name="mine").inputs["x"].name)
      x:0
    """
    signature = protos.SignatureDef()
    for given, field in ((inputs, signature.inputs), (outputs, signature.outputs)):
        for name, info in (given or {}).items():
            field[name].CopyFrom(protos.as_message("TensorInfo", info))
    if method_name is not None:
        signature.method_name = method_name
    return signature


def regression_signature_def(examples: Any, predictions: Any) -> Any:
    """Returns a signature that computes a number for each serialized example.

    Args:
      examples: A tensor of strings.
      predictions: A tensor of `float32`.

    Returns:
      A `SignatureDef`.

    Raises:
      ValueError: An argument is missing or has the wrong dtype.

    Example:
      >>> text = tf.placeholder(tf.string, [None], name="text")
      >>> scores = tf.placeholder(tf.float32, [None, 3], name="scores")
      >>> print(tf.saved_model.regression_signature_def(text, scores).method_name)
      tensorflow/serving/regress
    """
    if examples is None:
        raise ValueError("Regression examples cannot be None.")
    if not isinstance(examples, Tensor):
        raise ValueError("Regression examples must be a string Tensor.")
    if predictions is None:
        raise ValueError("Regression predictions cannot be None.")
    if examples.dtype.base_dtype != dtypes.string:
        raise ValueError("Regression examples must be a string Tensor.")
    if predictions.dtype.base_dtype != dtypes.float32:
        raise ValueError("Regression output must be a float Tensor.")
    return build_signature_def(
        {names.REGRESS_INPUTS: build_tensor_info(examples)},
        {names.REGRESS_OUTPUTS: build_tensor_info(predictions)},
        names.REGRESS_METHOD_NAME,
    )


def classification_signature_def(examples: Any, classes: Any, scores: Any) -> Any:
    """Returns a signature that computes the classes of each serialized example, or their scores, or both.

    Args:
      examples: A tensor of strings.
      classes: A tensor of strings, or None.
      scores: A tensor of `float32`, or None.

    Returns:
      A `SignatureDef`.

    Raises:
      ValueError: `examples` is missing, or both others are, or one has the wrong dtype.

    Example:
      >>> text = tf.placeholder(tf.string, [None], name="text")
      >>> scores = tf.placeholder(tf.float32, [None, 3], name="scores")
      >>> print(sorted(tf.saved_model.classification_signature_def(text, None, scores).outputs))
      ['scores']
    """
    if examples is None:
        raise ValueError("Classification examples cannot be None.")
    if not isinstance(examples, Tensor):
        raise ValueError("Classification examples must be a string Tensor.")
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    if examples.dtype.base_dtype != dtypes.string:
        raise ValueError("Classification examples must be a string Tensor.")
    outputs: Dict[str, Any] = {}
    if classes is not None:
        if classes.dtype.base_dtype != dtypes.string:
            raise ValueError("Classification classes must be a string Tensor.")
        outputs[names.CLASSIFY_OUTPUT_CLASSES] = build_tensor_info(classes)
    if scores is not None:
        if scores.dtype.base_dtype != dtypes.float32:
            raise ValueError("Classification scores must be a float Tensor.")
        outputs[names.CLASSIFY_OUTPUT_SCORES] = build_tensor_info(scores)
    return build_signature_def({names.CLASSIFY_INPUTS: build_tensor_info(examples)}, outputs, names.CLASSIFY_METHOD_NAME)


def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Any:
    """Returns a signature of named tensors.

    Args:
      inputs: A dict from names to tensors to feed.
      outputs: A dict from names to tensors to fetch.

    Returns:
      A `SignatureDef`.

    Raises:
      ValueError: `inputs` or `outputs` is empty.

    Example:
      >>> x = tf.placeholder(tf.float32, [2], name="x")
      >>> print(tf.saved_model.predict_signature_def({"x": x}, {"y": x}).method_name)
      tensorflow/serving/predict
    """
    if inputs is None or not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if outputs is None or not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    return build_signature_def(
        {key: build_tensor_info(tensor) for key, tensor in inputs.items()},
        {key: build_tensor_info(tensor) for key, tensor in outputs.items()},
        names.PREDICT_METHOD_NAME,
    )


def is_valid_signature(signature_def: Any) -> bool:
    """Returns whether a signature has a known method, and the inputs and outputs that it needs.

    Args:
      signature_def: A `SignatureDef`, or None.

    Returns:
      A bool.

    Example:
      >>> print(tf.saved_model.is_valid_signature(tf.saved_model.build_signature_def()))
      False
    """
    if signature_def is None:
        return False
    method, inputs, outputs = signature_def.method_name, signature_def.inputs, signature_def.outputs
    if method == names.CLASSIFY_METHOD_NAME:
        allowed = {names.CLASSIFY_OUTPUT_CLASSES: dtypes.string, names.CLASSIFY_OUTPUT_SCORES: dtypes.float32}
        return _takes_examples(inputs) and bool(outputs) and all(k in allowed and v.dtype == allowed[k].as_datatype_enum for k, v in outputs.items())
    if method == names.REGRESS_METHOD_NAME:
        return _takes_examples(inputs) and [(k, v.dtype) for k, v in outputs.items()] == [(names.REGRESS_OUTPUTS, dtypes.float32.as_datatype_enum)]
    return method == names.PREDICT_METHOD_NAME and bool(inputs) and bool(outputs)


def _takes_examples(inputs: Any) -> bool:
    return [(k, v.dtype) for k, v in inputs.items()] == [(names.REGRESS_INPUTS, dtypes.string.as_datatype_enum)]
