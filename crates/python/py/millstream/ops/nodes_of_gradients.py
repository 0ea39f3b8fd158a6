"""The number of nodes that TensorFlow makes for gradients, from which later ops without a seed derive theirs.

`tf.gradients` makes fewer nodes here: nodes whose results no x needs are left out, and shapes that are known
cost none. `promise` records a call; `framework.node_counts` counts its nodes when a seed asks for them.

TensorFlow counts the steps of a loop forwards (8 nodes) and backwards (10 nodes), makes five nodes for a loop
variable and seven that sum the gradient of a tensor from outside, and keeps each value that the gradient
needs on a stack of its own (6 nodes). For loops in loops, branches in loops, and ops of which the values that
their gradients need are not listed here, the nodes made here count.
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

# The values that an op's gradient needs, which loops keep: digits are inputs, letters outputs.
_NEEDS: Dict[str, str] = {}
for _what, _ops in (
    ("", "Add AddV2 Sub AddN BiasAdd Cast Identity Neg Pack Unpack StopGradient OnesLike ZerosLike Mean Sum"),
    ("0", "Abs Cos LeakyRelu Log Log1p Sin Softplus Softsign Square"),
    ("a", "Elu Exp Inv LogSoftmax Reciprocal Relu Relu6 Rsqrt Selu Sigmoid Softmax Sqrt Tanh"),
    ("01", "BatchMatMul MatMul Maximum Minimum Mul RealDiv SquaredDifference TensorArrayWriteV3"),
    ("01a", "Pow"),
    ("01234567abcdef", "LSTMBlockCell"),
    ("012", "TensorArrayReadV3"),
    ("123", "StridedSlice"),
    ("1", "Transpose"),
    ("0", "Split"),
    ("", "ConcatV2 ExpandDims Reshape Select Squeeze"),
):
    _NEEDS.update(dict.fromkeys(_ops.split(), _what))
_ALWAYS.update(dict.fromkeys(["TensorArrayReadV3", "TensorArrayWriteV3", "TensorArrayGatherV3", "TensorArrayScatterV3"], 3))
_STACK = 6  # Nodes that keep a value of each step.
_SMALL = 1000  # Zeros of fewer elements are one constant.

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


class _Loop:
    """A loop that gradients pass through: its operations, and what the gradient keeps of its steps."""

    def __init__(self, enters: Sequence[Any], operations: Sequence[Any]) -> None:
        names = {one.name for one in enters}
        for one in operations:
            if one.type not in ("Enter", "Exit") and any(t.op.name in names for t in one.inputs):
                names.add(one.name)
        self.names = names
        self.merges = [one for one in operations if one.type == "Merge" and one.name in names]
        self.nexts = {t.name for merge in self.merges for t in list(merge.inputs)[1:]}
        self.exits = [one for one in operations if one.type == "Exit" and list(one.inputs)[0].op.name in names]
        self.kept: Set[str] = set()
        self.is_synchronized = all(one.get_attr("parallel_iterations") == 1 for one in enters)

    def is_followed(self, operations: Sequence[Any]) -> bool:
        """Returns whether the loop has no loops and branches within it."""
        inner = [one for one in operations if one.name in self.names]
        merges = all(t.op.type == "NextIteration" for merge in self.merges for t in list(merge.inputs)[1:])
        switches = all(list(one.inputs)[1].op.type == "LoopCond" for one in inner if one.type == "Switch")
        entered = all(list(one.inputs)[0].op.name not in self.names for one in inner if one.type == "Enter")
        return merges and switches and entered and sum(one.type == "LoopCond" for one in inner) == 1

    def keep(self, tensor: Tensor) -> int:
        """Returns the number of nodes that bring a value of a step to the gradient of that step."""
        name, kind = tensor.name, tensor.op.type
        if kind == "Enter":
            name = list(tensor.op.inputs)[0].name
        if name in self.kept:
            return 0
        self.kept.add(name)
        return 1 if kind in ("Enter", "Const") else self.stack()

    def stack(self) -> int:
        """Returns the number of nodes of a stack, with the node that orders all of them for the first."""
        first, self.is_synchronized = not self.is_synchronized, True
        return _STACK + first

    def shapes(self, tensors: Sequence[Tensor], always: bool = False) -> int:
        """Returns the number of nodes that keep the shapes of tensors which are not known."""
        return sum(self.stack() for t in tensors if always or not _is_full(_dims(t)))

    def of(self, op: Any) -> Optional[int]:
        """Returns the number of nodes that keep what an op's gradient needs; None if that is not known."""
        needs, inputs, outputs = _NEEDS.get(op.type), list(op.inputs), list(op.outputs)
        if needs is None or (op.type in ("Sum", "Mean") and not _is_full(_dims(inputs[0]))):
            return None
        count = 0
        if op.type in _BINARY and not all(_is_full(_dims(t)) for t in inputs):
            count += self.shapes(inputs, True)
        elif op.type in ("RealDiv", "Maximum", "Minimum"):
            count += self.shapes(inputs)
        elif op.type in ("Reshape", "ExpandDims", "Squeeze", "StridedSlice"):
            count += self.shapes(inputs[:1])
        elif op.type == "ConcatV2":
            count += 1
            if not all(_is_full(_dims(t)) for t in inputs[:-1]):
                count += sum(self.keep(t) for t in inputs[:-1])
        elif op.type == "Select":
            count += self.keep(inputs[0])
            if not _is_full(_dims(inputs[1])):
                count += self.keep(inputs[1])
        for which in needs:
            count += self.keep(inputs[int(which)] if which.isdigit() else outputs[ord(which) - ord("a")])
        return count


def _loops_of(operations: Sequence[Any], touched: Sequence[Any]) -> Optional[List[_Loop]]:
    """Returns the loops that gradients pass through; None if one has an inner loop or a branch."""
    frames: Dict[bytes, List[Any]] = collections.OrderedDict()
    for one in operations:
        if one.type == "Enter":
            frames.setdefault(one.get_attr("frame_name"), []).append(one)
    exits = {one.name for one in touched if one.type == "Exit"}
    loops = [loop for loop in (_Loop(enters, operations) for enters in frames.values()) if any(one.name in exits for one in loop.exits)]
    return loops if all(loop.is_followed(operations) for loop in loops) else None


def _through_loops(operations: Sequence[Any], call: _Call) -> List[Any]:
    """Returns the operations from the xs to the ys, also those that are reached by a loop's next step."""
    readers: Dict[str, List[Any]] = collections.defaultdict(list)
    by_name = {one.name: one for one in operations}
    for one in operations:
        for t in one.inputs:
            if _is_trainable(t):
                readers[t.op.name].append(one)
    reached: Set[str] = set()
    todo = [x.rsplit(":", 1)[0] for x in call.xs]
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo.extend(one.name for one in readers[name])
    near: Set[str] = set()
    todo = [y.rsplit(":", 1)[0] for y in call.ys]
    while todo:
        name = todo.pop()
        if name in near or name not in reached or name not in by_name:
            continue
        near.add(name)
        one = by_name[name]
        todo.extend(t.op.name for t in one.inputs)
    return [one for one in operations if one.name in near]


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
    operations = graph._operations()[: call.start]
    loops: Optional[List[_Loop]] = []
    if any(one.type == "Exit" for one in operations):
        between = _through_loops(operations, call)
        loops = _loops_of(operations, between)
        if loops is None:
            return len(made)
    else:
        between = _between(operations, call)
    inside = {name: loop for loop in loops or () for name in loop.names}
    names = {one.name for one in between}
    xs, stops = {x.rsplit(":", 1)[0] for x in call.xs}, {s.rsplit(":", 1)[0] for s in call.stops}
    flows: Dict[str, List[str]] = collections.defaultdict(list)
    for y in call.ys:
        flows[y].append("dense")
    count = 3 * call.given.count(False) + call.given.count(True) + 18 * len(loops or ())
    for loop in loops or ():
        for one in loop.exits:
            value, switch = list(one.outputs)[0], list(one.inputs)[0].op
            if one.name not in names and _is_trainable(value) and value.dtype.base_dtype.name != "variant":
                # Zeros enter the loop, and go round if its other variables depend on this one.
                count += 3 if value.shape.is_fully_defined() and _SMALL <= value.shape.num_elements() else 1
                flows[value.name].append("dense")
                count += _of_loop(one, flows) if switch.name in names else 1
    for one in reversed(between):
        outputs = list(one.outputs)
        sums = {i: _joined(flows[t.name]) for i, t in enumerate(outputs) if flows.get(t.name)}
        count += sum(nodes for nodes, _ in sums.values())
        ends = one.name in stops or (one.name in xs and not any(t.op.name in names for t in one.inputs))
        if one.type in _LOOPS or one.name in inside and one.type in ("Switch", "Merge"):
            count += _of_loop(one, flows)
            continue
        if not sums or ends:
            continue
        grad = next(what for _, what in sums.values())
        into = _differentiated_inputs(one)
        if one.name in inside:
            kept = inside[one.name].of(one)
            if kept is None:
                return len(made)
            count += kept
        nodes = _nodes_of_op(one, seen)
        if one.type == "SoftmaxCrossEntropyWithLogits":
            # The function of TensorFlow reshapes matrices that go in, too.
            flat = one.name + "/Reshape_2" in names and one.name + "/Reshape" not in names
            nodes = 8 + 2 * sum(t.op.name in names for t in into if flat)
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
            without = one.type.startswith("FusedBatchNorm") and not one.get_attr("is_training")
            count += 1 + (3 if without else len(into))  # Given moments have no gradients.
        elif call.is_gated and one.type == "TopKV2":
            count += 3  # It has a gradient of `k`.
        what = "slices" if one.type in ("Gather", "GatherV2", "ResourceGather") and nodes != 55 else grad if one.type in _PASSES_SLICES else "dense"
        for t in into:
            flows[t.name].append(what)
    return count


def _of_loop(one: Any, flows: Dict[str, List[str]]) -> int:
    """Returns the number of nodes of the gradient of an op that makes a loop, and passes the gradient on."""
    source, value = list(one.inputs)[0], list(one.outputs)[0]
    if one.type == "Enter":
        if not flows.get(value.name) or not one.get_attr("is_constant"):
            return 0
        flows[source.name].append("dense")
        return 7 if _is_full(_dims(value)) else 9
    if one.type == "Exit" and flows.get(value.name):
        # A loop variable: its gradient enters the loop, goes round, and leaves it.
        switch = source.op
        merge = list(switch.inputs)[0].op
        flows[switch.name + ":0"].append("dense")
        start, after = list(merge.inputs)
        flows[list(start.op.inputs)[0].name].append("dense")
        flows[list(after.op.inputs)[0].name].append("dense")
        return 5
    if one.type == "Switch" and flows.get(one.name + ":0") and not flows.get(one.name + ":1"):
        return 1 if _is_full(_dims(value)) else 4  # The next value does not depend on this one: zeros.
    return 0
