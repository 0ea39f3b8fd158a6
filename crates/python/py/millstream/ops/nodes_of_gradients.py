"""The number of nodes that TensorFlow makes for gradients, from which later ops without a seed derive theirs.

`tf.gradients` makes fewer nodes here: nodes whose results no x needs are left out, and shapes that are known
cost none. `promise` records a call; `framework.node_counts` counts its nodes when a seed asks for them. Loops
are not followed: for a call that passes through one, the nodes made here count.
"""

from __future__ import annotations

import collections
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

import numpy as np

from millstream._engine import Tensor
from millstream.framework import constant_value, node_counts


class _Call(NamedTuple):
    """A call of `gradients`: where its nodes are, and names of tensors, which keep no graph alive."""

    ys: Sequence[str]
    given: Sequence[bool]
    xs: Sequence[str]
    stops: Sequence[str]
    is_gated: bool
    start: int
    end: int


def promise(graph: Any, ys: Sequence[Tensor], given: Sequence[bool], xs: Sequence[Tensor], stops: Any, is_gated: bool, start: int) -> None:
    """Records a call of `gradients` whose nodes begin with number `start`."""
    call = _Call([y.name for y in ys], list(given), [x.name for x in xs], [s.name for s in stops or ()], is_gated, start, len(graph))
    node_counts.later(graph, lambda graph: _nodes(graph, call) - (call.end - call.start))


# Nodes of an op's gradient, whatever the shapes.
_ALWAYS: Dict[str, int] = {}
for _count, _ops in (
    (0, "AddN Ceil Floor FloorDiv Identity OnesLike Print ReadVariableOp Rint Round StopGradient RefIdentity Snapshot ZerosLike"),
    (1, "BiasAdd BatchToSpaceND CheckNumerics Cumsum DepthToSpace Elu Exp L2Loss LRN LeakyRelu MatrixDiag MaxPool Merge Neg Pack Real"),
    (1, "Reciprocal Inv Relu Relu6 ResizeBilinear ReverseSequence ReverseV2 Rsqrt ScatterNd Selu Sigmoid Softsign SpaceToBatchND"),
    (1, "SpaceToDepth Split SplitV Sqrt Switch Tanh Unpack Imag"),
    (2, "Abs Acosh Asinh AvgPool BatchMatMul Cosh DynamicStitch ExpandDims Expm1 GatherNd Lgamma Log MatMul Reshape"),
    (2, "ResizeNearestNeighbor SegmentSum Sin Sinh Softplus Squeeze StridedSlice Transpose"),
    (3, "Conv2D Conv2DBackpropInput Cos Digamma MatrixInverse MatrixSolve Select SelectV2 Sign Square"),
    (1, "BlockLSTM"),
    (4, "BroadcastTo CTCLoss Conv3D DepthwiseConv2dNative Log1p SparseSoftmaxCrossEntropyWithLogits Tan"),
    (5, "Atan Atanh LogSoftmax Softmax"),
    (6, "Asin Erf Erfc SparseSegmentMean SparseSegmentSqrtN"),
    (7, "Acos Atan2"),
    (8, "MatrixDeterminant SparseSegmentSum"),
    (9, "Pad PadV2"),
    (10, "FloorMod GRUBlockCell"),
    (11, "DynamicPartition"),
    (10, "ResourceGather"),
    (12, "Div LSTMBlockCell RealDiv Slice Tile"),
    (13, "Maximum Minimum"),
    (14, "UnsortedSegmentSum"),
    (17, "BatchMatMulV2"),
    (19, "Max Min"),
    (33, "Cholesky"),
    (43, "TopKV2"),
    (49, "Prod"),
):
    _ALWAYS.update(dict.fromkeys(_ops.split(), _count))
_ALWAYS.update(FusedBatchNorm=1, FusedBatchNormV2=1, FusedBatchNormV3=1)

# Nodes of binary ops besides those that bring gradients to the shapes of the inputs.
_BINARY = {"Add": 0, "AddV2": 0, "Sub": 1, "Mul": 2, "SquaredDifference": 5, "Pow": 16}

_LOOPS = frozenset(["Enter", "Exit", "NextIteration", "LoopCond", "RefEnter", "RefExit"])
_NOTHING = frozenset(["Ceil", "Floor", "FloorDiv", "OnesLike", "Rint", "Round", "StopGradient", "ZerosLike"])
_PASSES_SLICES = frozenset(["Identity", "ReadVariableOp", "RefIdentity"])
_OF_SLICES = 5  # Nodes that make a tensor of an IndexedSlices.


def _dims(tensor: Tensor) -> Optional[Tuple[Optional[int], ...]]:
    dims = tensor._shape_as_list()
    return None if dims is None else tuple(dims)


def _is_full(dims: Optional[Tuple[Optional[int], ...]]) -> bool:
    return dims is not None and None not in dims


def _is_trainable(tensor: Tensor) -> bool:
    dtype = tensor.dtype.base_dtype
    return dtype.is_floating or dtype.is_complex or dtype.name in ("resource", "variant")


def _once(seen: Set[Any], key: Any, nodes: int) -> int:
    """Returns the number of nodes that are made for a key only the first time."""
    if key in seen:
        return 0
    seen.add(key)
    return nodes


def _of_binary(op: Any, seen: Set[Any]) -> int:
    x, y = (_dims(t) for t in op.inputs)
    grad, own = _dims(op.outputs[0]), _BINARY[op.type]
    if not (_is_full(x) and _is_full(y)):
        return own + 7
    if x == y and op.type != "Pow" and (op.type != "Mul" or op.outputs[0].dtype.base_dtype.name == "float32"):
        return own
    return own + _once(seen, (x, y), 3) + 4 * ((x != grad) + (y != grad))


def _of_sum(op: Any, seen: Set[Any]) -> int:
    dims, axes = _dims(op.inputs[0]), constant_value(op.inputs[1])
    if dims is None or axes is None:
        return 16
    if np.array_equal(axes, np.arange(len(dims))):
        return 4
    return 4 + _once(seen, (dims, tuple(np.ravel(axes).tolist()), "reduced"), 17) if _is_full(dims) else 16


def _of_concat(op: Any) -> int:
    values = list(op.inputs)[:-1]
    if len(values) == 1:
        return 0
    full = [_is_full(_dims(v)) for v in values]
    shapes = len(values) if all(full) else full.index(False) + 2
    return 3 + shapes + len(values)


def _nodes_of_op(op: Any, seen: Set[Any]) -> Optional[int]:
    """Returns the number of nodes of an op's gradient; None if it is not known here."""
    kind = op.type
    if kind in _BINARY:
        return _of_binary(op, seen)
    if kind == "Sum":
        return _of_sum(op, seen)
    if kind == "Mean":
        return _of_sum(op, seen) + (2 if _is_full(_dims(op.inputs[0])) and _is_full(_dims(op.outputs[0])) else 11)
    if kind == "ConcatV2":
        return _of_concat(op)
    if kind == "Cast":
        return 1 if _is_trainable(op.inputs[0]) else 0
    if kind == "MatrixDiagPart":
        return 1 if _is_full(_dims(op.inputs[0])) else 2
    if kind in ("Gather", "GatherV2"):
        return 13 if kind == "Gather" or constant_value(op.inputs[2]) == 0 else 55
    if kind == "DivNoNan":
        # TensorFlow sums the loss, a scalar, before it divides it.
        return 16 if op.name.rpartition("/")[2].startswith("value") else 12
    return _ALWAYS.get(kind)


def _differentiated_inputs(op: Any) -> List[Tensor]:
    inputs = [t for t in op.inputs if _is_trainable(t)]
    return inputs[:1] if op.type in ("Print", "Switch") else inputs


def _between(operations: Sequence[Any], call: _Call) -> List[Any]:
    """Returns the operations from the xs to the ys, in the order in which they were made."""
    reached, near = {name.rsplit(":", 1)[0] for name in call.xs}, {name.rsplit(":", 1)[0] for name in call.ys}
    for one in operations:
        if one.name not in reached and any(_is_trainable(t) and t.op.name in reached for t in one.inputs):
            reached.add(one.name)
    found = []
    for one in reversed(operations):
        if one.name in near and one.name in reached:
            found.append(one)
            near.update(t.op.name for t in one.inputs)
    return found[::-1]


def _joined(flows: List[str]) -> Tuple[int, str]:
    """Returns the number of nodes that sum the gradients of a tensor, and what the sum is."""
    if len(flows) == 1:
        return 0, flows[0]
    if "dense" not in flows:
        return 4, "slices"
    return 1 + _OF_SLICES * flows.count("slices"), "dense"


def _nodes(graph: Any, call: _Call) -> int:
    """Returns the number of nodes that TensorFlow makes for a call, or those made here if it has a loop."""
    seen = node_counts.remembered(graph)
    made = graph._operations(call.start)[: call.end - call.start]
    between = _between(graph._operations()[: call.start], call)
    if any(one.type in _LOOPS for one in between):
        return len(made)
    names = {one.name for one in between}
    xs, stops = {x.rsplit(":", 1)[0] for x in call.xs}, {s.rsplit(":", 1)[0] for s in call.stops}
    flows: Dict[str, List[str]] = collections.defaultdict(list)
    for y in call.ys:
        flows[y].append("dense")
    count = 3 * call.given.count(False) + call.given.count(True)
    for one in reversed(between):
        outputs = list(one.outputs)
        sums = {i: _joined(flows[t.name]) for i, t in enumerate(outputs) if flows.get(t.name)}
        count += sum(nodes for nodes, _ in sums.values())
        ends = one.name in stops or (one.name in xs and not any(t.op.name in names for t in one.inputs))
        if not sums or ends:
            continue
        grad = next(what for _, what in sums.values())
        into = _differentiated_inputs(one)
        nodes = _nodes_of_op(one, seen)
        if one.type == "SoftmaxCrossEntropyWithLogits":
            # TensorFlow reshapes what goes in and what comes out.
            nodes = 10 + 2 * sum(t.op.name in names for t in into)
        if nodes is None:
            nodes = sum("/" + one.name + "_grad/" in each.name for each in made)
            if not nodes:
                continue
        else:
            zeros = 5 if one.type == "Switch" else 1
            count += zeros * sum(i not in sums and _is_trainable(t) for i, t in enumerate(outputs))
        if grad == "slices" and one.type not in _PASSES_SLICES:
            nodes += _OF_SLICES
        count += nodes
        if one.type in _NOTHING:
            continue
        if call.is_gated and len(into) > 1:
            count += 1 + len(into)
        elif call.is_gated and one.type == "TopKV2":
            count += 3  # It has a gradient of `k`.
        what = "slices" if one.type in ("Gather", "GatherV2", "ResourceGather") and nodes != 55 else grad if one.type in _PASSES_SLICES else "dense"
        for t in into:
            flows[t.name].append(what)
    return count
