"""What `control_flow_ops` has beside the operations of loops, and the gradient functions of operations:
`NAMES`.

`tensorflow.python.ops.math_grad` and its like hold a function for the gradient of each op type, such as
`_MulGrad`. Here one function differentiates any operation: gradients are the engine's.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

from millstream import _engine
from millstream._engine import Operation, Tensor
from millstream.framework import IndexedSlices, SparseTensor, convert_to_tensor, convert_to_tensor_or_indexed_slices, get_default_graph, shapes
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow, custom_gradients, gradients
from millstream.ops.tensor_array import TensorArray
from millstream.programs.inside import hand_loops
from millstream.programs.internals import shape_tensor

# Shapes and values of loops --------------------------------------------------------------------------------


def identity(data: Any, name: Optional[str] = None) -> Any:
    """Returns the value: a tensor, `IndexedSlices` or a `SparseTensor`."""
    data = _value(data)
    return op("Identity")(data, name=name) if isinstance(data, Tensor) else hand_loops.each(data, op("Identity"))


def _value(data: Any) -> Any:
    return data if isinstance(data, SparseTensor) else convert_to_tensor_or_indexed_slices(data)


def switch_ref_or_tensor(data: Any, pred: Any, name: str = "Switch") -> Any:
    """Passes a value to one of two outputs, near to the value."""
    data = convert_to_tensor_or_indexed_slices(data, name="data")
    return hand_loops.switch(data, pred, name=name)


def _as_tensor_list(x: Any, p: Any) -> List[Any]:
    """Returns values as tensors that wait for an operation."""
    found = []
    for value in x if isinstance(x, (list, tuple)) else [x]:
        if isinstance(value, Operation):
            found.append(control_flow.with_dependencies([value], p))
        else:
            found.append(identity(_value(value)))
    return found


def _unpack_if_singleton(results: Any) -> Any:
    return results[0] if isinstance(results, (list, tuple)) and len(results) == 1 else results


def _shape_at_most(shape1: Any, shape2: Any) -> bool:
    """Returns whether the second shape says no more than the first."""
    if shape2.dims is None:
        return True
    if shape1.ndims != shape2.ndims:
        return False
    return all(b.value is None or a.value == b.value for a, b in zip(shape1.dims, shape2.dims))


def _shape_invariant(value: Any, shape: Any = None) -> Any:
    """Returns the shape that a loop variable keeps, as `tf.while_loop` takes it."""
    if isinstance(value, TensorArray):
        raise TypeError("the shape invariant of a TensorArray is always a scalar's: give none")
    known = value.values.get_shape() if isinstance(value, IndexedSlices) else value.get_shape()
    if shape is None:
        return known
    shape = shapes.as_shape(shape)
    if not known.is_compatible_with(shape):
        raise ValueError("The shape invariant specified for %s is not compatible with its shape: the value has %s, the invariant is %s" % (value, known, shape))
    return shape


def _safe_shape(value: Any) -> Any:
    return shape_tensor(value.get_shape()) if value.get_shape().is_fully_defined() else op("Shape")(value)


# Gradients of operations ------------------------------------------------------------------------------------


def _has_gradient(tensor: Tensor) -> bool:
    kind = tensor.dtype.base_dtype
    return bool(kind.is_floating or kind.is_complex or kind.name in ("variant", "resource"))


def gradient_of(operation: Any, *grads: Any) -> Any:
    """Returns the gradients of an operation's inputs, given those of its outputs.

    It is what every gradient function of TensorFlow's modules, such as `math_grad._MulGrad`, returns: one
    tensor, `IndexedSlices` or None for an operation of one input, and a list for one of several.

    Args:
      operation: The operation.
      *grads: The gradients of its outputs; None for zeros.

    Raises:
      LookupError: The operation has no gradient.
      ValueError: It is a part of a loop, whose gradient is that of the whole loop.
    """
    if operation.type in ("Enter", "Exit", "NextIteration", "LoopCond"):
        raise ValueError("`%s` is a part of a loop, and has no gradient of its own: differentiate the result of the loop" % operation.name)
    inputs, outputs = list(operation.inputs), list(operation.outputs)
    if len({t._id for t in inputs}) < len(inputs):
        if operation._is_stateful:
            raise ValueError("the gradient function of `%s` would run the operation again, because an input is given twice: pass copies by `tf.identity`" % operation.name)
        # The gradient of each place, not their sum, is asked for: a copy of the operation has two inputs.
        inputs = [array_ops.identity(t) for t in inputs]
        attrs = {key: value for key, value in operation.node_def.attr.items() if not key.startswith("_")}
        outputs = get_default_graph().create_op(operation.type, inputs, name=operation.type, attrs=attrs).outputs
    ys = [(y, g) for y, g in zip(outputs, grads) if g is not None and _has_gradient(y)]
    xs = [t for t in inputs if _has_gradient(t)] if ys else []
    made = iter(gradients.gradients([y for y, _ in ys], xs, [g for _, g in ys], name=operation.name + "_grad", stop_gradients=xs) if xs else [])
    found = [next(made) if xs and _has_gradient(t) else None for t in inputs]
    return found[0] if len(found) == 1 else found


def get_gradient_function(op: Any) -> Optional[Callable[..., Any]]:
    """Returns the function that computes the gradient of an operation; None if no gradient flows back.

    Args:
      op: The operation.

    Raises:
      LookupError: The operation has no gradient.
    """
    if not list(op.inputs):
        return None
    kind = op.type
    if "_gradient_op_type" in op._attr_names():
        kind = op.get_attr("_gradient_op_type").decode()
    if kind in custom_gradients._registered:
        return custom_gradients._registered[kind]
    if kind != op.type or _engine.has_gradient(kind) is None:
        raise LookupError("gradient registry has no entry for: %s" % kind)
    return gradient_of if _engine.has_gradient(kind) else None


# A line: a module, and the op types by whose names its gradient functions are called; `x=_name` has another.
_GRADIENTS = """
array_grad BatchToSpace BatchToSpaceND BroadcastTo CheckNumerics Concat ConcatV2=_ConcatGradV2 ConjugateTranspose DepthToSpace Diag DiagPart ExpandDims ExtractImagePatches Fill Gather GatherNd GatherV2 Identity=_IdGrad IdentityN=_IdNGrad MatrixBandPart MatrixDiag MatrixDiagPart MatrixDiagPartV2 MatrixDiagV2 MatrixSetDiag MatrixSetDiagV2=_MatrixSetDiagGradV2 MirrorPad MirrorPadGrad Pack Pad PreventGradient Reshape ResourceGatherNd Reverse ReverseSequence ReverseV2 ScatterNd ScatterNdNonAliasingAdd Slice SpaceToBatch SpaceToBatchND SpaceToDepth Split SplitV Squeeze StridedSlice StridedSliceGrad TensorScatterAdd TensorScatterSub TensorScatterUpdate Tile Transpose Unpack
array_ops FakeQuantWithMinMaxArgs=_FakeQuantWithMinMaxArgsGradient FakeQuantWithMinMaxVars=_FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannel=_FakeQuantWithMinMaxVarsPerChannelGradient
check_ops EnsureShape=_ensure_shape_grad
clip_ops ClipByValue=_clip_by_value_grad
control_flow_grad Enter Exit LoopCond Merge NextIteration RefEnter RefMerge RefNextIteration Switch
ctc_ops CTCLoss
data_flow_grad DynamicPartition=_DynamicPartitionGrads DynamicStitch=_DynamicStitchGrads
image_grad CropAndResize RGBToHSV ResizeBicubic ResizeBilinear ResizeNearestNeighbor
linalg_grad Cholesky LogMatrixDeterminant MatrixDeterminant MatrixInverse MatrixSolve MatrixSolveLs MatrixSquareRoot MatrixTriangularSolve Qr SelfAdjointEigV2 Svd TridiagonalMatMul TridiagonalSolve
list_ops TensorListPopBack=_PopBackGrad TensorListPushBack=_PushBackGrad TensorListConcatV2=_TensorListConcatGrad TensorListFromTensor TensorListGather TensorListGetItem TensorListResize TensorListScatterV2=_TensorListScatterGrad TensorListScatterIntoExistingList TensorListSetItem TensorListSplit TensorListStack
logging_ops Print
manip_grad Roll
math_grad Abs Acos Acosh AddV2=_AddGrad AddN Angle ArgMax ArgMin Asin Asinh Atan2 Atan Atanh BatchMatMul=_BatchMatMul BatchMatMulV2=_BatchMatMulV2 BesselI0e BesselI1e Betainc Cast Ceil ComplexAbs Complex Conj Cos Cosh Cross Cumprod Cumsum CumulativeLogsumexp Digamma Div DivNoNan Erf Erfc Exp Expm1 FloorDiv Floor FloorMod Igamma Igammac Imag Inv InvGrad Lgamma Log1p Log MatMul Max Maximum Mean Min Minimum Mul MulNoNan Neg NextAfter Polygamma Pow Prod RealDiv Real Reciprocal ReciprocalGrad Rint Round Rsqrt RsqrtGrad SegmentMax SegmentMean SegmentMin SegmentSum Select SelectV2=_SelectGradV2 Sigmoid SigmoidGrad Sign Sin Sinh SparseMatMul SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments Sqrt SqrtGrad Square SquaredDifference Sub Sum Tan Tanh TanhGrad TruncateDiv UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum Xdivy=_XDivyGrad Xlogy=_XLogyGrad Zeta
math_ops AccumulateNV2=_accumulate_n_grad
nn_grad AvgPool3D AvgPool3DGrad AvgPool AvgPoolGrad BatchNormWithGlobalNormalization BiasAdd BiasAddGrad BiasAddV1=_BiasAddGradV1 Conv2DBackpropFilter Conv2DBackpropInput Conv2D Conv3DBackpropFilterV2=_Conv3DBackpropFilterGrad Conv3DBackpropInputV2=_Conv3DBackpropInputGrad Conv3D DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput DepthwiseConv2dNative Elu EluGrad FusedBatchNorm FusedBatchNormGrad FusedBatchNormGradV2=_FusedBatchNormGradGradV2 FusedBatchNormGradV3=_FusedBatchNormGradGradV3 FusedBatchNormV2 FusedBatchNormV3 L2Loss LRN LeakyRelu LeakyReluGrad LogSoftmax MaxPool3D MaxPool3DGrad MaxPool3DGradGrad MaxPool MaxPoolGrad MaxPoolGradGrad MaxPoolWithArgmax=_MaxPoolGradWithArgmax NthElement Relu6 Relu6Grad Relu ReluGrad Selu SeluGrad SoftmaxCrossEntropyWithLogits Softmax Softplus SoftplusGrad Softsign SparseSoftmaxCrossEntropyWithLogits TopKV2=_TopKGrad
random_grad RandomGamma
resource_variable_ops ResourceGather=_GatherGrad ReadVariableOp=_ReadGrad
rnn_grad BlockLSTM=_block_lstm_grad
signal.fft_ops FFT=_fft_grad FFT2D=_fft2d_grad FFT3D=_fft3d_grad IFFT=_ifft_grad IFFT2D=_ifft2d_grad IFFT3D=_ifft3d_grad
sparse_grad SparseAdd SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul SparseFillEmptyRows SparseReduceSum SparseReorder SparseSlice SparseSoftmax SparseSparseMaximum SparseSparseMinimum SparseTensorDenseAdd SparseTensorDenseMatMul SparseToDense
tensor_array_grad TensorArrayConcatV3=_TensorArrayConcatGrad TensorArrayGatherV3=_TensorArrayGatherGrad TensorArrayReadV3=_TensorArrayReadGrad TensorArrayScatterV3=_TensorArrayScatterGrad TensorArraySplitV3=_TensorArraySplitGrad TensorArrayWriteV3=_TensorArrayWriteGrad
"""


def _gradient_functions() -> Dict[str, Dict[str, Any]]:
    """Returns the gradient functions of the op types that are here, by module and name."""
    found: Dict[str, Dict[str, Any]] = {}
    for line in filter(None, _GRADIENTS.split("\n")):
        module, *kinds = line.split()
        for kind in kinds:
            kind, _, name = kind.partition("=")
            if _engine.has_gradient(kind) is not None:
                found.setdefault("python.ops." + module, {})[name or "_%sGrad" % kind] = gradient_of
    return found


NAMES: Dict[str, Dict[str, Any]] = {
    **_gradient_functions(),
    "python.framework.ops": {"get_gradient_function": get_gradient_function},
    "python.ops.control_flow_ops": {
        "_AsTensorList": _as_tensor_list,
        "_Identity": identity,
        "_ShapeLessThanOrEqual": _shape_at_most,
        "_SwitchRefOrTensor": switch_ref_or_tensor,
        "_UnpackIfSingleton": _unpack_if_singleton,
        "_get_shape_invariant": _shape_invariant,
        "_resource_safe_shape": _safe_shape,
    },
}
