"""The gradient functions of operations, which TensorFlow's modules hold one by one: `NAMES`.

`tensorflow.python.ops.math_grad` and its like hold a function for the gradient of each op type, such as
`_MulGrad`. Here one function differentiates any operation: gradients are the engine's.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional

from millstream import _engine
from millstream._engine import Tensor
from millstream.framework import get_default_graph
from millstream.ops import array_ops, custom_gradients, gradients

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
}
