"""Makes the golden values of single ops: op types, attributes and inputs, with the results of TensorFlow's
CPU kernels.

    tf1/bin/python tests/golden/make_ops.py [FAMILY ...]     # TensorFlow 1.15: every family but new_*
    tf2/bin/python tests/golden/make_ops.py [FAMILY ...]     # TensorFlow 2.x: the new_* families
    tf2/bin/python tests/golden/make_ops.py --check          # runs the stored entries, lists differences
    tf2/bin/python tests/golden/make_ops.py --check --also   # and stores them as second answers

The tables of cases are in `op_cases/`. README.md documents `ops/FAMILY.json` and `ops/FAMILY.npz`.
"""
import collections
import json
import os
import sys

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('TF_ENABLE_ONEDNN_OPTS', '0')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')

import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402
from tensorflow.python.framework import op_def_registry  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)
IS_TF2 = not tf.version.VERSION.startswith('1.')
if IS_TF2:
    tf.disable_v2_behavior()

import golden  # noqa: E402
import op_cases  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))

# Ops whose float results are determined bit for bit: they move values, or round once.
EXACT = set('''Abs Add AddV2 Sub Mul Div RealDiv Neg Sign Floor Ceil Rint Round Maximum Minimum Square Relu Relu6 FloorDiv
    FloorMod Mod TruncateDiv TruncateMod DivNoNan MulNoNan SquaredDifference Cast Bitcast Select SelectV2 Max Min ArgMax ArgMin
    Concat ConcatV2 Pack Unpack Split SplitV Tile Pad PadV2 MirrorPad Reverse ReverseV2 ReverseSequence Gather GatherV2 GatherNd
    ScatterNd TensorScatterUpdate TensorScatterAdd TensorScatterSub StridedSlice StridedSliceGrad Slice Reshape Squeeze ExpandDims
    Transpose Fill ZerosLike OnesLike Identity IdentityN Snapshot StopGradient PreventGradient OneHot TopK TopKV2
    InTopK InTopKV2 Unique UniqueWithCounts DynamicPartition DynamicStitch ParallelDynamicStitch Diag DiagPart MatrixDiag
    MatrixDiagPart MatrixSetDiag MatrixBandPart BroadcastTo Roll Where InvertPermutation SpaceToDepth DepthToSpace
    SpaceToBatchND BatchToSpaceND SegmentMax SegmentMin UnsortedSegmentMax UnsortedSegmentMin Real Imag Conj Complex
    ClipByValue NextAfter BiasAdd SpaceToBatch BatchToSpace InplaceUpdate BatchMatrixDiag BatchMatrixDiagPart BatchMatrixSetDiag BatchMatrixBandPart
    DecodePaddedRaw ReluGrad Relu6Grad RandomShuffle StringToNumber DecodeRaw SparseToDense Empty
    EnsureShape CheckNumerics Switch Merge RefSwitch Const StatelessRandomUniform RandomUniform
    Bucketize LeakyRelu
    LeakyReluGrad Assign PlaceholderWithDefault Copy AddN'''.split())

LOOSE = {'float16': (4e-3, 2e-3), 'float32': (2e-5, 2e-6), 'float64': (1e-11, 1e-13), 'complex64': (2e-5, 2e-6),
         'complex128': (1e-11, 1e-13)}


def op_def_of(name):
    """The OpDef of a registered op, or None."""
    if hasattr(op_def_registry, 'get'):
        return op_def_registry.get(name)
    return op_def_registry.get_registered_ops().get(name)


def tf_type(value):
    """The TensorFlow dtype of an array."""
    return tf.string if value.dtype.kind in 'SUO' else tf.as_dtype(value.dtype)


def set_attr(attr, kind, value):
    """Fills an AttrValue of the kind the op declares; returns its JSON form."""
    if kind.startswith('list('):
        inner = kind[5:-1]
        field = {'int': 'i', 'float': 'f', 'bool': 'b', 'string': 's', 'type': 'type', 'shape': 'shape'}[inner]
        attr.list.SetInParent()
        shown = []
        for item in value:
            if field == 'type':
                attr.list.type.append(tf.as_dtype(item).as_datatype_enum)
                shown.append(tf.as_dtype(item).name)
            elif field == 'shape':
                attr.list.shape.add().CopyFrom(tf.TensorShape(item).as_proto())
                shown.append(item)
            elif field == 's':
                attr.list.s.append(item.encode())
                shown.append(item)
            else:
                getattr(attr.list, field).append(item)
                shown.append(item)
        return {'list(%s)' % inner: shown}
    if kind == 'type':
        attr.type = tf.as_dtype(value).as_datatype_enum
        return {'type': tf.as_dtype(value).name}
    if kind == 'shape':
        attr.shape.CopyFrom(tf.TensorShape(value).as_proto())
        return {'shape': value}
    if kind == 'int':
        attr.i = value
        return {'int': value}
    if kind == 'float':
        attr.f = value
        return {'float': value}
    if kind == 'bool':
        attr.b = value
        return {'bool': value}
    if kind == 'string':
        attr.s = value.encode()
        return {'string': value}
    raise golden.GoldenError('attribute kind %s' % kind)


def default_of(attr_def):
    """The default of an attribute as a Python value, or None when it has none or is empty."""
    if not attr_def.HasField('default_value'):
        return None
    value = attr_def.default_value
    which = value.WhichOneof('value')
    if which == 'type':
        return tf.as_dtype(value.type).name
    if which == 's':
        return value.s.decode('latin1')
    if which == 'list':
        return [] if not value.list.ByteSize() else None
    return getattr(value, which) if which in ('i', 'f', 'b') else None


def node_of(entry):
    """The NodeDef of an entry, its attributes as JSON, and the flat list of inputs."""
    op_def = op_def_of(entry.op)
    if op_def is None:
        raise golden.GoldenError('no op %s in TensorFlow %s' % (entry.op, tf.version.VERSION))
    node = tf.NodeDef(name='node', op=entry.op)
    attrs, flat = dict(entry.attrs), []
    if len(op_def.input_arg) != len(entry.inputs):
        raise golden.GoldenError('%s takes %d inputs' % (entry.op, len(op_def.input_arg)))
    for arg, value in zip(op_def.input_arg, entry.inputs):
        many = isinstance(value, list)
        values = value if many else [value]
        if arg.type_attr:
            attrs.setdefault(arg.type_attr, tf_type(values[0]).name)
        if arg.number_attr:
            attrs.setdefault(arg.number_attr, len(values))
        if arg.type_list_attr:
            attrs.setdefault(arg.type_list_attr, [tf_type(v).name for v in values])
        flat.extend(values)
    shown = collections.OrderedDict()
    for attr_def in op_def.attr:
        value = attrs.pop(attr_def.name, None)
        if value is None:
            value = default_of(attr_def)
        if value is None or attr_def.type == 'func':
            continue
        shown[attr_def.name] = set_attr(node.attr[attr_def.name], attr_def.type, value)
    if attrs:
        raise golden.GoldenError('%s has no attributes %s' % (entry.op, sorted(attrs)))
    return node, shown, flat


def run(entry):
    """(JSON attributes, flat inputs, list of runs' outputs, error code)."""
    node, shown, flat = node_of(entry)
    graph_def = tf.GraphDef()
    # A deprecated op runs in graphs of versions before its end.
    op_def = op_def_of(entry.op)
    ended = op_def.deprecation.version if op_def.HasField('deprecation') else tf.version.GRAPH_DEF_VERSION + 1
    graph_def.versions.producer = min(tf.version.GRAPH_DEF_VERSION, ended - 1)
    feeds = {}
    for k, value in enumerate(flat):
        holder = graph_def.node.add(name='in%d' % k, op='Placeholder')
        holder.attr['dtype'].type = tf_type(value).as_datatype_enum
        holder.attr['shape'].shape.unknown_rank = True
        node.input.append(holder.name)
        # Some kernels write into what is fed.
        feeds['in%d:0' % k] = np.array(value)
    graph_def.node.add().CopyFrom(node)
    try:
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(graph_def, name='')
        outputs = graph.get_operation_by_name('node').outputs
        with tf.Session(graph=graph, config=golden.without_rewriting()) as session:
            runs = [[golden.to_stored(v) for v in session.run(list(outputs) or [graph.get_operation_by_name('node')], feeds)[:len(outputs)]] for _ in range(entry.runs)]
        return shown, flat, runs, None
    except tf.errors.OpError as error:
        if 'No OpKernel' in error.message or 'UnimplementedError' == type(error).__name__:
            raise golden.GoldenError('no kernel: ' + golden.short_message(error))
        return shown, flat, [], golden.code_of(error)


def comparison(entry, runs):
    """How to compare the floats of an entry."""
    kinds = [v.dtype for r in runs for v in r if v.dtype.kind in 'fc']
    if entry.compare:
        return entry.compare
    if not kinds or entry.op in EXACT:
        return 'exact'
    rtol, atol = LOOSE[kinds[0].name]
    finite = [np.abs(v[np.isfinite(v)]).max() for r in runs for v in r if v.dtype.kind in 'fc' and np.isfinite(v).any()]
    # Sums cancel, so their error is relative to the largest terms. A table that spans the whole range of
    # floats cannot bound it.
    scale = max([1e-30] + [float(f) for f in finite])
    return collections.OrderedDict([('rtol', rtol), ('atol', float('%.3g' % (atol * (scale if scale < 1e3 else 1.0))))])


class Store(object):
    """Arrays of a family, each stored once."""

    def __init__(self, arrays=()):
        self.arrays = collections.OrderedDict(arrays)
        self.known = {self.mark(v): k for k, v in self.arrays.items()}

    @staticmethod
    def mark(value):
        """The identity of an array: equal marks are the same entry."""
        return (value.dtype.str, value.shape, value.tobytes())

    def key(self, value):
        """The key under which an array is stored."""
        value = golden.to_stored(value)
        mark = self.mark(value)
        if mark not in self.known:
            self.known[mark] = 'a%d' % len(self.known)
            self.arrays[self.known[mark]] = value
        return self.known[mark]


def make(family):
    """Makes one family. Returns (entries made, entries that could not be made)."""
    store, records, bad = Store(), [], 0
    for entry in op_cases.FAMILIES[family]():
        try:
            shown, flat, runs, error = run(entry)
        except (golden.GoldenError, ValueError, TypeError) as problem:
            bad += 1
            print('SKIPPED %s: %s' % (entry.op, str(problem).splitlines()[0]))
            continue
        if (error is not None) != (entry.error is not None) or entry.error not in (None, True, error):
            print('NOTE %s %s ends with %s' % (entry.op, [brief(v) for v in flat], error))
        record = collections.OrderedDict([('op', entry.op), ('attrs', shown), ('inputs', [store.key(v) for v in flat])])
        if error:
            record['error'] = error
        else:
            record['outputs'] = [store.key(v) for r in runs for v in r]
            record['compare'] = comparison(entry, runs)
        record['runs'] = entry.runs
        records.append(record)
    write(family, records, store)
    return len(records), bad


def write(family, records, store):
    """Writes the two files of a family."""
    folder = os.path.join(HERE, 'ops')
    if not os.path.isdir(folder):
        os.makedirs(folder)
    golden.write_npz(os.path.join(folder, family + '.npz'), store.arrays)
    with open(os.path.join(folder, family + '.json'), 'w') as out:
        out.write('[\n' + ',\n'.join(json.dumps(r) for r in records) + '\n]\n')


def brief(value):
    """A short print of an array."""
    value = np.asarray(value)
    return '%s%s' % (value.dtype, list(value.shape)) + (str(value.tolist())[:40])


def check(family):
    """Runs the stored entries in this TensorFlow. Returns how many agree and how many do not."""
    with open(os.path.join(HERE, 'ops', family + '.json')) as text:
        records = json.load(text, object_pairs_hook=collections.OrderedDict)
    arrays = collections.OrderedDict(np.load(os.path.join(HERE, 'ops', family + '.npz')).items())
    store = Store(arrays)
    agree = disagree = 0
    for record in records:
        op_def, inputs, at = op_def_of(record['op']), [], 0
        if op_def is None:
            continue
        values = [arrays[k] for k in record['inputs']]
        for arg in op_def.input_arg:
            count = 1
            if arg.number_attr:
                count = record['attrs'][arg.number_attr]['int']
            elif arg.type_list_attr:
                count = len(record['attrs'][arg.type_list_attr]['list(type)'])
            many = arg.number_attr or arg.type_list_attr
            inputs.append(values[at:at + count] if many else values[at])
            at += count
        entry = op_cases.Entry(record['op'], inputs, {k: list(v.values())[0] for k, v in record['attrs'].items()},
                               record['runs'], None, None)
        try:
            _, _, runs, error = run(entry)
        except Exception as problem:  # pylint: disable=broad-except
            error, runs = 'import: %s' % str(problem).splitlines()[0], []
        problem = None
        if error != record.get('error'):
            problem = 'ends with %s, stored %s' % (error, record.get('error'))
        elif not error:
            how = record['compare']
            how = dict(how, compare='close') if isinstance(how, dict) else {'compare': how}
            for got, key in zip([v for r in runs for v in r], record['outputs']):
                if not golden.agrees(got, arrays[key], how):
                    problem = '%s, stored %s' % (brief(got), brief(arrays[key]))
        record.pop('also', None)
        if problem and 'no kernel' not in problem:
            record['also'] = {'error': error} if error else {'outputs': [store.key(v) for r in runs for v in r]}
        if problem:
            disagree += 1
            print('DISAGREES %s %s %s: %s' % (record['op'], {k: v for k, v in record['attrs'].items() if 'type' not in v},
                                              [brief(v) for v in values], problem))
        else:
            agree += 1
    if '--also' in sys.argv:
        write(family, records, store)
    return agree, disagree


def main():
    """Makes or checks the families named, or all that belong to this TensorFlow."""
    names = [a for a in sys.argv[1:] if not a.startswith('-')]
    if '--check' in sys.argv:
        names = names or sorted(n[:-5] for n in os.listdir(os.path.join(HERE, 'ops')) if n.endswith('.json'))
        totals = [check(n) for n in names]
        print('%d agree, %d disagree' % (sum(t[0] for t in totals), sum(t[1] for t in totals)))
        return 0
    names = names or [n for n in op_cases.FAMILIES if n.startswith('new_') == IS_TF2]
    total = 0
    for name in names:
        made, bad = make(name)
        total += made
        print('%-20s %4d made, %d skipped' % (name, made, bad))
    print('%d entries' % total)
    return 0


if __name__ == '__main__':
    sys.exit(main())
